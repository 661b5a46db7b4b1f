"""All pairs: one pivot of Floyd and Warshall, for whole matrices or blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_TOLD = {
    "short": "the lesser of {x}[i, j] and {x}[i, {pivot}] + {far} (shortest paths)",
    "wide": "the larger of {x}[i, j] and the smaller of {x}[i, {pivot}] and {far} (widest paths)",
    "minimax": "the smaller of {x}[i, j] and the larger of {x}[i, {pivot}] and {far} "
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
    pivot: Var
    onward: Var | None
    hops: tuple[Var, Var] | None

    def to_pivot(self) -> Expr:
        return self.x[self.row + (self.pivot,)]

    def through(self, head: Expr, j: Var) -> Expr:
        if self.onward is not None:
            rest = self.onward[self.row[:-1] + (j,)]
        else:
            rest = self.x[self.row[:-1] + (self.pivot, j)]
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
    pivot = k.scalar("pivot via mid", INT32, 0, 4)
    onward = None
    if "block_rows" in table:
        top = high if goal == "wide" else (20 if type_ == INT32 else 2.0)
        onward = k.array("pivot_row row_of_pivot", type_, (*table[:-2], "nodes"), low=low, high=top)
    out = k.out(f"next_{x.name} {x.name}_out", type_, table)
    hops = None
    if shape.chance(0.3 + 0.06 * level):
        known = k.array("next_hop successors", INT32, table, init="index_of:nodes")
        hops = known, k.out(f"{known.name}_out new_{known.name}", INT32, table)
    return _Pairs(k, goal, row, x, out, pivot, onward, hops)


@idiom
def pivot_relaxation(k: KernelBuilder, level: int) -> Title:
    """One pivot of Floyd and Warshall (1962): ways between all pairs that go through a vertex."""
    shape = k.draw.shape
    form = shape.weighted({"block": 6, "graphs": 3, "whole": 2})
    block = form == "block"
    dims: tuple[str, ...] = (k.size("graphs", 3, 4),) if form == "graphs" else ()
    k.size("nodes", 10, 14, minimum=8)
    rows = k.size("block_rows", 6, 9, minimum=5) if block else "nodes"
    alone = block and shape.chance(0.7)
    names = [k.name("g graph")] if dims else []
    ends = k.draw.word.choice((("i", "j"), ("src", "dst")))
    names += [k.name(end) for end in ends[: 1 + alone]]
    at = k.thread(*dims, rows, *(("nodes",) if alone else ()), names=names)
    p = _pairs(k, level, at[: len(dims) + 1], (*dims, rows, "nodes"))
    head = p.to_pivot()
    if not alone or shape.chance(0.5):
        head = k.let("to_pivot", head)
    if alone:
        p.cell(head, at[-1])
    else:
        count: Expr = extent(p.x, len(at))
        if shape.chance(0.5):
            count = k.size_param("num_nodes n", "nodes")
        with k.for_(ends[1], count) as j:
            p.cell(head, j)
    text = f"One pivot of Floyd and Warshall: for each pair of vertices i and j, {p.out.name} gets "
    far = f"{p.x.name}[{p.pivot.name}, j]" if p.onward is None else f"{p.onward.name}[j]"
    text += _TOLD[p.goal].format(x=p.x.name, pivot=p.pivot.name, far=far) + "."
    if p.onward is not None:
        text += f" {p.x.name} holds a block of rows of the table, and {p.onward.name} the table's "
        text += f"row {p.pivot.name}."
    if p.hops is not None:
        text += f" {p.hops[1].name} gets {p.hops[0].name}, where the way through {p.pivot.name} is"
        text += " better that of its first part."
    return Title(k.name("floyd_warshall_pivot relax_through all_pairs_step"), text)
