"""Tables looked up by binary search: the entry before, the nearest, a line or a smooth step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import either, shown
from generators.control_flow.params import with_struct
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Array, Scalar
from generators.program.expr import Expr, Operand, Var, op

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


_BEYOND = {"ends": 4, "fill": 3, "early": 3}
"""Beyond the knots: the query is clamped, a number is stored, or the table's end is."""


@idiom
@with_struct
def sorted_search(k: KernelBuilder, level: int) -> Title:
    """Binary search in a sorted table; at higher levels entries of a table, interpolated."""
    if level == 1 or (level == 2 and k.draw.shape.chance(0.4)):
        return ranked(k, level)
    shape = k.draw.shape
    s = search(k, level, whole=False)
    table = s.table(("heights", "table", "y"))
    form = shape.choice(("step", "nearest", "linear", "linear", "smooth"))
    beyond = shape.weighted(_BEYOND | ({"line": 3} if form == "linear" else {}))
    outs: dict[Var, Operand] = {k.out(("out", "found", "response"), s.type, s.dims): 0.0}
    more = () if beyond == "early" else _more(k, s, level, form)
    outs.update(more)
    valid = valid_mask(s) if level >= 3 else None
    fill: Operand = 0.0
    if beyond == "fill":
        fill = either(k, ("fill_value", "default_value"), s.type, 3.0, 9.0)
    s.start()
    last = skipped(s, valid, outs)
    s.ask()
    said = _ends(s, beyond, fill, table, outs)
    left = _left(s, form, beyond)
    out, *others = outs
    value, text = _value(s, level, form, table, left)
    for var in others:
        said += _other(s, var, table, left)
    k.store(out, s.at, value)
    done = f"Search the {s.where} for q = {s.query} by bisection; {out.name} gets {text}."
    return Title(k.name(f"{form}_lookup", f"table_{form}"), done + said + last)


def _more(k: KernelBuilder, s: Search, level: int, form: str) -> dict[Var, Operand]:
    """Further outputs, with what they get where nothing is found."""
    if level < 3:
        return {}
    more: dict[Var, Operand] = {}
    if k.draw.shape.chance(0.2 * level - 0.2):
        more[k.out(("cell", "interval"), INT32, s.dims)] = -1
    if form == "linear" and k.draw.shape.chance(0.5):
        more[k.out(("slope", "derivative"), s.type, s.dims)] = 0.0
    return more


def _other(s: Search, var: Var, table: Var, left: Var) -> str:
    assert isinstance(var.type, Array)
    if var.type.element == INT32:
        s.k.store(var, s.at, left)
        return f" {var.name} gets the index of the last knot that is not above q."
    rise = s.entry(table, left + 1) - s.entry(table, left)
    s.k.store(var, s.at, rise / (s.knot(left + 1) - s.knot(left)))
    return f" {var.name} gets the slope of that line."


def _ends(s: Search, beyond: str, fill: Operand, table: Var, outs: dict[Var, Operand]) -> str:
    """What happens to queries beyond the knots."""
    k, (out, *others) = s.k, outs
    assert s.q is not None
    first, last = s.knot(0), s.knot(s.size - 1)
    if beyond == "line":
        return " Beyond the ends the first and last line go on."
    if beyond == "ends":
        s.q = k.let(("clamped", "qc", "inside"), fn("clamp", s.q, first, last))
        return " Before that, q is clamped to the range of the knots."
    if beyond == "early":
        for outside, end in ((s.q < first, 0), (s.q >= last, s.size - 1)):
            with k.if_(outside):
                k.store(out, s.at, s.entry(table, end))
                k.return_()
        ends = f"the first or last of {table.name} is stored"
        return f" Below the first knot and from the last on, {ends}."
    with k.if_(op("or", s.q < first, s.q >= last)):
        k.store(out, s.at, fill)
        for var in others:
            k.store(var, s.at, outs[var])
        k.return_()
    marks = "".join(f", {outs[var]} in {var.name}" for var in others)
    return f" Below the first knot and from the last on, {shown(fill)} is stored{marks}."


def _left(s: Search, form: str, beyond: str) -> Var:
    """Index of the last knot that is not above the query."""
    lo = bisect(s, strict=False)
    names = ("left_knot", "c", "cell_index", "at")
    if beyond in ("fill", "early"):
        return s.k.let(names, lo - 1)
    if form == "step":
        return s.k.let(names, fn("max", lo - 1, 0) if s.k.draw.shape.chance(0.5) else lo - 1)
    return s.k.let(names, fn("clamp", lo - 1, 0, s.size - 2))


def _value(s: Search, level: int, form: str, table: Var, left: Var) -> tuple[Expr, str]:
    """The table at the query between the knots ``left`` and ``left + 1``."""
    k, q = s.k, s.q
    assert q is not None
    y0, y1 = s.entry(table, left), s.entry(table, left + 1)
    before = "the last knot that is not above q"
    if form == "step":
        return y0, f"the entry of {table.name} at {before}"
    if form == "nearest":
        nearer = s.knot(left + 1) - q < q - s.knot(left)
        at = k.let(("nearest", "pick"), left)
        with k.if_(nearer):
            k.assign(at, left + 1)
        text = f"the entry of {table.name} at the nearer of {before} and the next one (the first "
        return s.entry(table, at), text + "of equals)"
    line = f"lerp({table.name}[c], {table.name}[c + 1], "
    fraction = f"t = (q - {s.knots.name}[c]) / ({s.knots.name}[c + 1] - {s.knots.name}[c])"
    text = f"{line}{'t' if form == 'linear' else 't * t * (3 - 2 * t)'}) with {fraction}"
    text += f", where c is {before}"
    if level >= 3 and k.draw.shape.chance(0.6):
        return _by_helper(s, form, left, (y0, y1)), text
    t = k.let(("t", "fraction", "u"), (q - s.knot(left)) / (s.knot(left + 1) - s.knot(left)))
    return fn("lerp", y0, y1, _eased(form, t)), text


def _eased(form: str, t: Expr) -> Expr:
    return t * t * (3.0 - 2.0 * t) if form == "smooth" else t


def _by_helper(s: Search, form: str, left: Var, ends: tuple[Expr, Expr]) -> Expr:
    """The line or smooth step between two points, in a function."""
    k = s.k
    assert s.q is not None

    def between(b: BodyBuilder, x: Expr, x0: Expr, x1: Expr, y0: Expr, y1: Expr) -> Expr:
        t = b.let(("t", "u"), (x - x0) / (x1 - x0))
        return fn("lerp", y0, y1, _eased(form, t))

    names = ("interpolate", "line_between") if form == "linear" else ("smooth_between", "ease")
    params = [(name, s.type) for name in ("x", "x0", "x1", "y0", "y1")]
    called = helper(k, names, params, between)
    return k.call(called, s.q, s.knot(left), s.knot(left + 1), *ends)
