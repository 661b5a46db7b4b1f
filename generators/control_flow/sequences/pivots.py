"""All pairs: one pivot of Floyd and Warshall, for whole matrices or blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_TOLD = {
    "short": "the lesser of {x}[i, j] and {near} + {far} (shortest paths)",
    "wide": "the larger of {x}[i, j] and the smaller of {near} and {far} (widest paths)",
    "minimax": "the smaller of {x}[i, j] and the larger of {near} and {far} "
    "(paths whose largest edge is least)",
}


@dataclass(frozen=True)
class _Pairs:
    """A table of ways between vertices, and the one through which they may now go."""

    k: KernelBuilder
    goal: str
    row: tuple[Var, ...]
    x: Var
    out: Var
    pivot: Var | None
    before: Var | None
    onward: Var
    hops: tuple[Var, Var] | None

    def to_pivot(self) -> Expr:
        if self.before is not None:
            return self.before[self.row]
        assert self.pivot is not None
        return self.x[self.row + (self.pivot,)]

    def through(self, head: Expr, j: Var) -> Expr:
        rest = self.onward[j]
        if self.goal == "short":
            return head + rest
        return (least if self.goal == "wide" else most)(head, rest)

    def cell(self, head: Expr, j: Var) -> None:
        """Write the better of the known way and that through the pivot."""
        k, at, wide = self.k, (*self.row, j), self.goal == "wide"
        through = self.through(head, j)
        own: Expr = self.x[at]
        if self.hops is None:
            if k.draw.shape.chance(0.6):
                through = k.let("through", through)
            k.store(self.out, at, (most if wide else least)(own, through))
            return
        through, own = k.let("through", through), k.let("direct", own)
        test = through > own if wide else through < own
        assert self.pivot is not None
        before, after = self.hops
        there, turned = before[at], before[self.row + (self.pivot,)]
        if k.draw.shape.chance(0.5):
            k.store(self.out, at, fn("where", test, through, own))
            k.store(after, at, fn("where", test, turned, there))
            return
        with k.if_(test):
            k.store(self.out, at, through)
            k.store(after, at, turned)
        with k.else_():
            k.store(self.out, at, own)
            k.store(after, at, there)


def _pairs(k: KernelBuilder, level: int, row: tuple[Var, ...], table: tuple[str, ...]) -> _Pairs:
    shape = k.draw.shape
    type_ = Scalar(shape.weighted({"float32": 6, "int32": 4, "float64": 1}))
    goal = shape.choice(("short", "short", "wide", "minimax"))
    low, high = (1, 50) if type_ == INT32 else (0.1, 5.0)
    names = {
        "short": "dist path_lengths",
        "wide": "capacity bottleneck",
        "minimax": "climb max_edge",
    }[goal]
    x = k.array(names, type_, table, low=low, high=high)
    tile = "block_cols" in table
    pivot = None if tile else k.scalar("pivot via mid", INT32, 0, 4)
    top = high if goal == "wide" else (20 if type_ == INT32 else 2.0)
    parts = k.draw.word.choice((("pivot_col", "pivot_row"), ("col_of_pivot", "row_of_pivot")))
    column = k.array(parts[0], type_, table[:1], low=low, high=top) if tile else None
    onward = k.array(parts[1], type_, table[1:], low=low, high=top)
    out = k.out(f"next_{x.name} {x.name}_out", type_, table)
    hops = None
    if not tile and shape.chance(0.3 + 0.06 * level):
        known = k.array("next_hop successors", INT32, table, init="index_of:nodes")
        hops = known, k.out(f"{known.name}_out new_{known.name}", INT32, table)
    return _Pairs(k, goal, row, x, out, pivot, column, onward, hops)


@idiom
def pivot_relaxation(k: KernelBuilder, level: int) -> Title:
    """One pivot of Floyd and Warshall (1962): ways between all pairs that go through a vertex."""
    shape = k.draw.shape
    tile = shape.chance(0.35)
    rows = k.size("block_rows", 6, 9, minimum=5)
    cols = k.size("block_cols", 10, 14) if tile else k.size("nodes", 10, 14, minimum=8)
    at = k.thread(rows, cols, names=k.draw.word.choice((("i", "j"), ("src", "dst"))))
    p = _pairs(k, level, at[:1], (rows, cols))
    head = p.to_pivot()
    if shape.chance(0.5):
        head = k.let("to_pivot", head)
    p.cell(head, at[1])
    text = f"One pivot of Floyd and Warshall: for each pair of vertices i and j, {p.out.name} gets "
    near = f"{p.x.name}[i, {p.pivot.name}]" if p.pivot is not None else ""
    near = f"{p.before.name}[i]" if p.before is not None else near
    text += _TOLD[p.goal].format(x=p.x.name, near=near, far=f"{p.onward.name}[j]") + "."
    if p.before is not None:
        text += f" {p.x.name} holds a tile of the table, {p.before.name} its rows' entries in the "
        text += f"pivot's column and {p.onward.name} its columns' entries in the pivot's row."
    elif p.pivot is not None:
        text += f" {p.x.name} holds a block of rows of the table, and {p.onward.name} the table's "
        text += f"row {p.pivot.name}."
        if p.hops is not None:
            known, after = (hop.name for hop in p.hops)
            text += f" {after} gets {known}[i, {p.pivot.name}] where the way through "
            text += f"{p.pivot.name} is strictly better, else {known}[i, j]."
    return Title(k.name("floyd_warshall_pivot relax_through all_pairs_step"), text)
