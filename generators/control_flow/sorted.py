"""Binary search in sorted tables: ranks, membership and cells of queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title
from generators.control_flow.kit import either, shown
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var

_LAUNCHES = {"flat": 5, "grid": 2, "rows": 3}
"""One table for a list or a grid of queries, or a table for each row of a grid."""


@dataclass
class Search:
    """Sorted knots, what is looked up in them, and where the thread's results go."""

    k: KernelBuilder
    type: Scalar
    launch: str
    dims: tuple[str, ...]
    knots: Var
    x: Var
    size: Expr
    at: tuple[Var, ...] = ()
    q: Expr | None = None
    query: str = ""

    @property
    def row(self) -> tuple[Var, ...]:
        """The table's row, where each row has a table."""
        return self.at[:1] if self.launch == "rows" else ()

    @property
    def where(self) -> str:
        """The knots, as a description calls them."""
        return (
            f"sorted {self.row[0].name}-th row of {self.knots.name}"
            if self.row
            else f"sorted {self.knots.name}"
        )

    def knot(self, j: Operand) -> Expr:
        return self.entry(self.knots, j)

    def entry(self, table: Var, j: Operand) -> Expr:
        """An entry of the thread's table."""
        place = (*self.row, j)
        return table[place]

    def table(self, names: tuple[str, ...]) -> Var:
        """Entries that belong to the knots."""
        dims = (*self.dims[:1], "m") if self.launch == "rows" else ("m",)
        return self.k.array(names, self.type, dims, low=-2.0, high=2.0)

    def start(self) -> None:
        """One thread for each query."""
        self.at = self.k.thread(*self.dims, names=_indices(self.k, self.launch))

    def ask(self) -> None:
        """Name the query."""
        k = self.k
        q: Expr = self.x[self.at]
        self.query = self.x.name
        if self.type.is_float and k.draw.shape.chance(0.3):
            unit = either(k, ("unit", "scale", "gain"), self.type, 0.7, 0.95)
            q, self.query = unit * q, f"{shown(unit)} * {self.x.name}"
        elif k.draw.shape.chance(0.3):
            low, high = (-4.0, 4.0) if self.type.is_float else (1, 9)
            shift = k.scalar(("origin", "shift", "offset"), self.type, low, high)
            q, self.query = q - shift, f"{self.x.name} - {shift.name}"
        self.q = k.let(("q", "query", "key"), q)


def _indices(k: KernelBuilder, launch: str) -> tuple[str, ...]:
    if launch == "flat":
        return (k.name("i", "tid", "idx"),)
    return tuple(k.name(n) for n in k.draw.word.choice((("row", "col"), ("i", "j"), ("b", "s"))))


def search(k: KernelBuilder, level: int, whole: bool) -> Search:
    launch = k.draw.shape.weighted(_LAUNCHES if level > 1 else {"flat": 3, "grid": 2, "rows": 2})
    sizes = {"flat": (("n", 48, 64),)}.get(launch, (("rows", 6, 9), ("cols", 6, 9)))
    dims = tuple(k.size(*size) for size in sizes)
    m = k.size("m", 9, 15, minimum=2)
    type_ = k.draw.shape.choice((INT32, Scalar("int64"))) if whole else k.draw.wide_float_type()
    spread = (0, 40) if whole else (0, 100)
    knots = k.array(
        ("knots", "edges", "breaks", "thresholds"),
        type_,
        (dims[0], m) if launch == "rows" else m,
        init="sorted",
        low=spread[0],
        high=spread[1],
    )
    beyond = (-3, 44) if whole else (-10, 112)
    x = k.array(("queries", "x", "keys"), type_, dims, low=beyond[0], high=beyond[1])
    if k.draw.shape.chance(0.35):
        size: Expr = extent(knots, 1 if launch == "rows" else 0)
    else:
        size = k.size_param(("num_knots", "table_size"), m)
    return Search(k, type_, launch, dims, knots, x, size)


def bisect(s: Search, strict: bool) -> Var:
    """Number of knots below the query (or not above it), by binary search."""
    k = s.k
    assert s.q is not None
    lo, hi = (
        k.let(("lo", "left", "first"), k.lift(0, INT32)),
        k.let(("hi", "right", "last"), s.size),
    )
    middle = k.draw.shape.choice(("half", "half", "safe", "shift"))
    with k.while_(lo < hi):
        half = {"half": (lo + hi) // 2, "safe": lo + (hi - lo) // 2, "shift": (lo + hi) >> 1}
        mid = k.let(("mid", "middle"), half[middle])
        with k.if_(s.knot(mid) < s.q if strict else s.knot(mid) <= s.q):
            k.assign(lo, mid + 1)
        with k.else_():
            k.assign(hi, mid)
    return lo


def ranked(k: KernelBuilder, level: int) -> Title:
    """How many knots are below or above each query, its cell, or where it is found."""
    shape = k.draw.shape
    goal = shape.choice(("rank", "cell", "member", "count"))
    s = search(k, level, whole=goal == "member" or shape.chance(0.3))
    names = {"member": ("found", "position"), "cell": ("cell", "bin_index")}
    out = k.out(names.get(goal, ("rank", "counts", "out")), INT32, s.dims)
    valid = valid_mask(s) if level > 1 else None
    s.start()
    left_out = skipped(s, valid, {out: -1})
    s.ask()
    strict = goal == "member" or shape.chance(0.5)
    lo = bisect(s, strict)
    value, text = _RANKS[goal](s, lo, strict)
    if goal == "member":
        with k.if_(value):
            k.store(out, s.at, lo)
        with k.else_():
            k.store(out, s.at, -1)
    else:
        k.store(out, s.at, value)
    done = f"Search the {s.where} for q = {s.query} by bisection; {out.name} gets {text}."
    title = {"member": "find_keys", "cell": "find_cell", "rank": "rank_queries"}
    return Title(
        k.name(title.get(goal, f"count_{s.knots.name}"), f"{goal}_search"), done + left_out
    )


def _rank(s: Search, lo: Var, strict: bool) -> tuple[Expr, str]:
    return lo, f"how many are {'below q' if strict else 'not above q'}"


def _count(s: Search, lo: Var, strict: bool) -> tuple[Expr, str]:
    return s.size - lo, f"how many are {'not below q' if strict else 'above q'}"


def _cell(s: Search, lo: Var, strict: bool) -> tuple[Expr, str]:
    last = f"the last {'below' if strict else 'not above'} q"
    return fn("clamp", lo - 1, 0, s.size - 2), f"the index of {last}, from 0 to the last but one"


def _member(s: Search, lo: Var, strict: bool) -> tuple[Expr, str]:
    assert s.q is not None
    last = fn("min", lo, s.size - 1)
    return fn("eq", s.knot(last), s.q), "the index of the first that equals q, -1 if none does"


_RANKS: dict[str, Callable[[Search, Var, bool], tuple[Expr, str]]] = {
    "rank": _rank,
    "count": _count,
    "cell": _cell,
    "member": _member,
}


def valid_mask(s: Search) -> Var | None:
    if not s.k.draw.shape.chance(0.5):
        return None
    return s.k.array(("valid", "mask", "active"), INT32, s.dims, low=0, high=2)


def skipped(s: Search, valid: Var | None, marks: dict[Var, Operand]) -> str:
    """Queries that a mask leaves out get a mark."""
    if valid is None:
        return ""
    with s.k.if_(fn("eq", valid[s.at], 0)):
        for out, mark in marks.items():
            s.k.store(out, s.at, mark)
        s.k.return_()
    what = " and ".join(f"{mark} to {out.name}" for out, mark in marks.items())
    return f" Where {valid.name} is 0, nothing is searched: {what}."
