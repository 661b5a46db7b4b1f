"""Sorted tables: ranks and cells of queries, entries, and what lies between two of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import Also, branch, counter, leave, same, some, some_type
from generators.control_flow.params import with_struct
from generators.kit.functions import clamp, least, most
from generators.kit.masks import flag
from generators.kit.naming import BY_LEVEL, applied
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var


@dataclass
class Search:
    """Sorted knots, in one table or one for each row, and what is looked up in them."""

    s: Site
    type: Scalar
    row: tuple[Expr, ...]
    knots: Var
    size: Expr
    queries: Expr
    q: Var
    query: str = ""
    called: str = "q"
    """What the query's local is called."""

    @property
    def where(self) -> str:
        """The knots, as a description calls them."""
        row = f"{say(self.s.k, self.row[0])}-th row of " if self.row else ""
        return f"sorted {row}{self.knots.name}"

    def entry(self, table: Var, j: Operand) -> Expr:
        """An entry of the thread's table."""
        place = (*self.row, j)
        return table[place]

    def knot(self, j: Operand) -> Expr:
        return self.entry(self.knots, j)

    def ask(self) -> None:
        """Name the query."""
        k, q = self.s.k, self.queries
        self.query, self.q = say(k, q), k.let("q query key", q)
        self.called = self.q.name


_KNOTS = {
    "rank": ("edges breakpoints thresholds", "values queries keys"),
    "member": ("known_ids id_table dictionary", "query_ids wanted_ids lookups"),
    "table": ("knots breakpoints grid_x", "queries x"),
}
"""Names of sorted entries and of what is looked up, where ranks are counted, an entry is sought, or
a table is interpolated."""


def _search(k: KernelBuilder, level: int, type_: Scalar, kind: str) -> Search:
    s = launch(k, list=5, grid=2 if level == 1 else 5)
    rows = s.dims[:1] if s.rank > 1 and k.draw.shape.chance(0.55) else ()
    m = k.size("m", 9, 15, minimum=2)
    top = 40 if type_.is_int else 100
    names, queries = _KNOTS[kind]
    knots = k.array(names, type_, (*rows, m), init="sorted", low=0, high=top)
    low, high = (0 if type_.is_unsigned else -3, 44) if type_.is_int else (-10, 112)
    x = s.read(queries, type_, low, high)
    if k.draw.shape.chance(0.35):
        size: Expr = extent(knots, len(rows))
    else:
        size = k.size_param("num_entries table_size", m)
    return Search(s, type_, s.at[: len(rows)], knots, size, x, knots)


def _skipped(r: Search, share: float, *marks: tuple[Var | Also, Operand]) -> str:
    """Now and then queries that a mask leaves out get marks."""
    if not r.s.k.draw.shape.chance(share):
        return ""
    test = flag(r.s, "valid mask active")
    leave(r.s, test.unless, *marks)
    what = " and ".join(f"{mark} to {out.name}" for out, mark in marks if out)
    return f" Where {test.off} the search is left out: {what}."


def bisection_ends(k: KernelBuilder, size: Expr) -> tuple[Var, Var]:
    """Locals for the two ends of a bisection."""
    names = k.draw.word.choice((("lo", "hi"), ("left", "right"), ("first", "last")))
    return counter(k, names[0]), k.let(names[1], size)


def _bisect(r: Search, strict: bool) -> Var:
    """Number of knots below the query (or not above it), by binary search."""
    k = r.s.k
    lo, hi = bisection_ends(k, r.size)
    middle = k.draw.shape.choice(((lo + hi) // 2, lo + (hi - lo) // 2, (lo + hi) >> 1))
    with k.while_(lo < hi):
        mid = k.let("mid middle", middle)
        below = r.knot(mid) < r.q if strict else r.knot(mid) <= r.q
        branch(k, (below, (lo, mid + 1)), (None, (hi, mid)))
    return lo


_RANKS: dict[str, tuple[str, str, Callable[[Search, Var], Expr]]] = {
    "rank": ("rank counts", "how many of its entries are {below} {q}", lambda r, lo: lo),
    "count": (
        "counts how_many",
        "how many of its entries are not {below} {q}",
        lambda r, lo: r.size - lo,
    ),
    "cell": (
        "cell bin_index",
        "the index of the last entry {below} {q}, at least 0 and at most that of the last but one",
        lambda r, lo: clamp(lo - 1, 0, r.size - 2),
    ),
    "member": (
        "found position",
        "the index of the first entry that equals {q}, -1 if none does",
        lambda r, lo: lo,
    ),
}


_TITLES = {
    "rank": "rank_queries rank_search",
    "count": "count_above count_not_below",
    "cell": "cell_of_query find_cells",
    "member": "find_ids member_search",
}


def _ranked(k: KernelBuilder, level: int) -> Title:
    """How many knots are below or above each query, its cell, or where it is found."""
    goal = k.draw.shape.choice(sorted(_RANKS))
    names, text, value = _RANKS[goal]
    member = goal == "member"
    r = _search(
        k, level, some_type(k, 1.0 if member else 0.3, "int32 int64"), goal if member else "rank"
    )
    s, out = r.s, r.s.out(names, INT32)
    last = _skipped(r, 0.08 if level > 1 else 0.0, (out, -1))
    r.ask()
    strict = member or k.draw.shape.chance(0.5)
    lo = _bisect(r, strict)
    if member:
        with k.if_(same(r.knot(least(lo, r.size - 1)), r.q)):
            k.store(out, s.at, lo)
        with k.else_():
            k.store(out, s.at, -1)
    else:
        k.store(out, s.at, value(r, lo))
    text = text.format(below="below" if strict else "not above", q=r.called)
    text = text.replace("not not ", "")
    done = f"Search the {r.where} for each {r.called} of {r.query} by bisection: "
    done += f"{out.name} gets {text}.{last}"
    return Title(k.name(_TITLES[goal]), done)


@idiom(depth=3)
@with_struct
def sorted_search(k: KernelBuilder, level: int) -> Title:
    """Binary search in a sorted table; at higher levels entries of a table, interpolated."""
    shape = k.draw.shape
    if level == 1 or (level == 2 and shape.chance(0.4)):
        return _ranked(k, level)
    type_ = k.draw.wide_float_type()
    r = _search(k, level, type_, "table")
    s, rows = r.s, r.s.dims[: len(r.row)]
    table = k.array(["knot_values", "table", "heights"], type_, (*rows, "m"), low=-2.0, high=2.0)
    form = shape.choice(("step", "nearest", "linear", "linear", "smooth"))
    beyond = shape.weighted({"ends": 4, "fill": 3, "early": 3, "line": 3 * (form == "linear")})
    fill = k.scalar("fill_value default_value", type_, 3.0, 9.0) if beyond == "fill" else None
    out = s.out("interpolated values_out response", type_)
    share = 0.0 if level < 3 or beyond == "early" else 1.0
    cell = Also(s, share * (0.2 * level - 0.2), "cell interval")
    slope = Also(s, 0.5 * share if form == "linear" else 0.0, "slope derivative", type_)
    last = _skipped(r, 0.08 if level >= 3 else 0.0, (out, 0.0), (cell, -1), (slope, 0.0))
    r.ask()
    said = _ends(r, beyond, table, (out, fill), cell, slope)
    left = _left(r, form, beyond)
    value, text = _value(r, level, form, table, left)
    k.store(out, s.at, value)
    said += cell.told(f"the index of the last entry that is not above {r.called}", left)
    rise = r.entry(table, left + 1) - r.entry(table, left)
    said += slope.told("the slope of that line", rise / (r.knot(left + 1) - r.knot(left)))
    done = f"Look each {r.called} of {r.query} up in the {r.where} by bisection; "
    done += f"{out.name} gets {text}."
    return Title(k.name(f"{form}_lookup table_{form}"), done + said + last)


def _ends(
    r: Search, beyond: str, table: Var, filled: tuple[Var, Expr | None], cell: Also, slope: Also
) -> str:
    """What happens to queries beyond the knots."""
    k, first, last, (out, fill) = r.s.k, r.knot(0), r.knot(r.size - 1), filled
    if beyond == "line":
        return " Beyond the ends the first and last line go on."
    if beyond == "ends":
        r.q = k.let("clamped qc inside", clamp(r.q, first, last))
        return f" Before that, {r.called} is clamped to the range of the entries."
    outside = " Below the first entry and from the last on,"
    if fill is not None:
        leave(r.s, some(r.q < first, r.q >= last), (out, fill), (cell, -1), (slope, 0.0))
        marks = [f", {mark} in {more.name}" for more, mark in ((cell, -1), (slope, 0.0)) if more]
        return f"{outside} {say(k, fill)} is stored{''.join(marks)}."
    leave(r.s, r.q < first, (out, r.entry(table, 0)))
    leave(r.s, r.q >= last, (out, r.entry(table, r.size - 1)))
    return f"{outside} the first or last of {table.name} is stored."


def _left(r: Search, form: str, beyond: str) -> Var:
    """Index of the last knot that is not above the query."""
    lo = _bisect(r, strict=False)
    left: Expr = lo - 1
    if beyond not in ("fill", "early"):
        if form != "step":
            left = clamp(lo - 1, 0, r.size - 2)
        elif r.s.k.draw.shape.chance(0.5):
            left = most(lo - 1, 0)
    return r.s.k.let("left_knot c cell_index at", left)


def _value(r: Search, level: int, form: str, table: Var, left: Var) -> tuple[Expr, str]:
    """The table at the query between the knots ``left`` and ``left + 1``."""
    k, y0, y1 = r.s.k, r.entry(table, left), r.entry(table, left + 1)
    before = f"the last entry that is not above {r.called}"
    if form == "step":
        return y0, f"the entry of {table.name} at {before}"
    if form == "nearest":
        at = k.let("nearest pick", left)
        branch(k, (r.knot(left + 1) - r.q < r.q - r.knot(left), (at, left + 1)))
        text = f"the entry of {table.name} at the nearer of {before} and the next one (the first "
        return r.entry(table, at), f"{text}of equals)"

    def between(b: BodyBuilder, x: Expr, x0: Expr, x1: Expr, y0: Expr, y1: Expr) -> Expr:
        t = b.let("t fraction u", (x - x0) / (x1 - x0))
        return fn("lerp", y0, y1, t * t * (3.0 - 2.0 * t) if form == "smooth" else t)

    ends = {"x": r.q, "x0": r.knot(left), "x1": r.knot(left + 1), "y0": y0, "y1": y1}
    value = applied(k, BY_LEVEL[level], f"{form}_between interpolate", ends, between)
    knots, share = r.knots.name, "t" if form == "linear" else "t * t * (3 - 2 * t)"
    text = (
        f"lerp({table.name}[c], {table.name}[c + 1], {share}) with t = ({r.called} - {knots}[c]) / "
    )
    return value, f"{text}({knots}[c + 1] - {knots}[c]), where c is {before}"
