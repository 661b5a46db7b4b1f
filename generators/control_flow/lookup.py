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
from generators.kit.sources import setting
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


def _search(k: KernelBuilder, level: int, type_: Scalar, member: bool = False) -> Search:
    s = launch(k, list=5, grid=2 if level == 1 else 5)
    rows = s.dims[:1] if s.rank > 1 and k.draw.shape.chance(0.55) else ()
    m = k.size("m", 9, 15, minimum=2)
    top = 40 if type_.is_int else 100
    names = ["knots", "edges", "breakpoints", "thresholds"]
    if member:
        names = ["sorted_ids", "sorted_keys", "known_ids", "dictionary"]
    knots = k.array(names, type_, (*rows, m), init="sorted", low=0, high=top)
    low, high = (0 if type_.is_unsigned else -3, 44) if type_.is_int else (-10, 112)
    x = s.read("queries x keys", type_, low, high)
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


def _whole(k: KernelBuilder, size: Expr) -> tuple[Var, Var]:
    """Locals for the two ends of a bisection."""
    names = k.draw.word.choice((("lo", "hi"), ("left", "right"), ("first", "last")))
    return counter(k, names[0]), k.let(names[1], size)


def _bisect(r: Search, strict: bool) -> Var:
    """Number of knots below the query (or not above it), by binary search."""
    k = r.s.k
    lo, hi = _whole(k, r.size)
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


def _ranked(k: KernelBuilder, level: int) -> Title:
    """How many knots are below or above each query, its cell, or where it is found."""
    goal = k.draw.shape.choice(sorted(_RANKS))
    names, text, value = _RANKS[goal]
    member = goal == "member"
    r = _search(k, level, some_type(k, 1.0 if member else 0.3, "int32 int64"), member)
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
    return Title(k.name(f"{goal}_queries {goal}_search count_{r.knots.name}"), done)


@idiom(depth=3)
@with_struct
def sorted_search(k: KernelBuilder, level: int) -> Title:
    """Binary search in a sorted table; at higher levels entries of a table, interpolated."""
    shape = k.draw.shape
    if level == 1 or (level == 2 and shape.chance(0.4)):
        return _ranked(k, level)
    type_ = k.draw.wide_float_type()
    r = _search(k, level, type_)
    s, rows = r.s, r.s.dims[: len(r.row)]
    table = k.array(["heights", "table", "y"], type_, (*rows, "m"), low=-2.0, high=2.0)
    form = shape.choice(("step", "nearest", "linear", "linear", "smooth"))
    beyond = shape.weighted({"ends": 4, "fill": 3, "early": 3, "line": 3 * (form == "linear")})
    fill = setting(k, "fill_value default_value", type_, 3.0, 9.0) if beyond == "fill" else None
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


_TABLES: dict[str, tuple[str, str, str, str, str]] = {
    "interval": ("edges breaks", "values x", "bins bin_ids", "find_bin bin_values", ""),
    "price": (
        "min_quantities price_breaks",
        "quantities order_sizes",
        "unit_costs prices_out",
        "look_up_price quantity_price",
        "unit_prices prices",
    ),
    "grade": (
        "cutoffs grade_limits",
        "scores points",
        "grades grade_ids",
        "assign_grades grade_scores",
        "",
    ),
    "rate": (
        "thresholds band_limits",
        "incomes amounts",
        "marginal_rates rates_out",
        "marginal_rate rate_of_band",
        "band_rates rates",
    ),
    "timestamp": (
        "frame_times keyframes",
        "query_times times",
        "frame_ids frames",
        "frame_at_time last_frame_before",
        "",
    ),
    "symbol": (
        "cumulative cum_freqs",
        "offsets code_values",
        "symbols decoded",
        "decode_symbol find_symbol",
        "",
    ),
    "nearest": (
        "levels_table codebook",
        "samples inputs",
        "quantized nearest_values",
        "quantize_nearest snap_to_levels",
        "",
    ),
    "bracket": (
        "grid_points knots",
        "queries positions",
        "fractions weights",
        "bracket_fraction interval_fraction",
        "",
    ),
}
"""By what is looked up: names of the sorted table, of the queries, of the output, of the kernel,
and of the values beside the table."""


_AIMS = {
    "interval": "Bins between given edges",
    "price": "Unit prices by quantity",
    "grade": "Grades by the limits that a score exceeds",
    "rate": "Rates of the bands that amounts fall into",
    "timestamp": "The last frame before each time",
    "symbol": "Symbols by their cumulative frequencies",
    "nearest": "Quantization to the nearest of given levels",
    "bracket": "Where positions lie within the cells of a grid",
}


@idiom(depth=2)
@with_struct
def table_lookup(k: KernelBuilder, level: int) -> Title:
    """Where a value falls among sorted limits, by lower_bound or a scan, and what stands there."""
    shape = k.draw.shape
    easy = ("interval", "price", "grade", "rate", "timestamp", "symbol")
    form = shape.choice(easy if level < 2 else sorted(_TABLES))
    sorted_names, queries, outs, names, beside = _TABLES[form]
    whole = form in ("symbol", "grade", "timestamp") or (form == "price" and shape.chance(0.5))
    type_ = (
        Scalar(shape.choice(("int32", "int32", "uint32"))) if whole else (k.draw.wide_float_type())
    )
    few = form in ("price", "grade", "rate", "nearest") or shape.chance(0.2)
    s = launch(k, list=5, grid=1 if level > 1 else 0)
    m = k.size("levels" if few else "m", 9, 15, minimum=2)
    table = k.array(sorted_names, type_, m, init="sorted", low=0, high=40 if whole else 100)
    x = s.read(queries, type_, 0 if type_.is_unsigned else -3, 44 if whole else 112)
    values = None
    if beside:
        values = k.array(beside, k.draw.wide_float_type(), m, low=0.1, high=9.0)
    size: Expr = extent(table, 0)
    if shape.chance(0.5):
        size = k.size_param(f"num_{'levels' if few else 'entries'} table_size", m)
    q = k.let("q query value", x)
    j = _slot(k, table, size, q, few)
    last = k.let("slot cell", least(j, size - 1)) if form in ("nearest", "bracket") else j
    made, text = _found(k, form, table, size, q, last, values)
    out = s.out(outs, made.type if isinstance(made.type, Scalar) else INT32)
    k.store(out, s.at, made)
    done = f"{_AIMS[form]}: look up each {q.name} of {say(k, x)} in the sorted {table.name}; "
    done += f"with j the number of entries below {q.name}, {out.name} gets {text}."
    return Title(k.name(*names.split()), done)


def _slot(k: KernelBuilder, table: Var, size: Expr, q: Var, few: bool) -> Var:
    """The number of entries below the query: built in, by bisection, or, among few, by a scan."""
    names = "j slot below"
    style = k.draw.shape.choice(("scan", "count", "backwards") if few else ("bound", "bisect"))
    if style == "bound":
        return k.let(names, fn("lower_bound", table, q))
    if style == "bisect":
        lo, hi = _whole(k, size)
        with k.while_(lo < hi):
            mid = k.let("mid middle", (lo + hi) // 2)
            branch(k, (table[mid] < q, (lo, mid + 1)), (None, (hi, mid)))
        return lo
    slot = k.let(names, size if style == "backwards" else k.lift(0, INT32))
    if style == "count":
        with k.for_("e c", size) as e, k.if_(table[e] < q):
            k.augment(slot, "add", 1)
        return slot
    with k.while_(slot > 0 if style == "backwards" else slot < size):
        done = table[slot - 1] < q if style == "backwards" else table[slot] >= q
        with k.if_(done):
            k.break_()
        k.augment(slot, "sub" if style == "backwards" else "add", 1)
    return slot


def _found(
    k: KernelBuilder, form: str, table: Var, size: Expr, q: Var, j: Var, values: Var | None
) -> tuple[Expr, str]:
    """What a query gets, and that in words."""
    if values is not None:
        at = k.let("band row", most(j - 1, 0))
        return values[at], f"{values.name}[max(j - 1, 0)]"
    if form in ("interval", "grade"):
        return j, "j"
    if form in ("timestamp", "symbol"):
        return most(j - 1, 0), "max(j - 1, 0), the last entry below it"
    before = k.let("before prev", most(j - 1, 0))
    low, high = table[before], table[j]
    if form == "nearest":
        nearer = fn("where", q - low < high - q, low, high)
        return nearer, (
            f"{table.name} at max(j - 1, 0) or min(j, n - 1), n being its length: what is nearer, "
            "the upper one where both are as far"
        )
    span = most(high - low, 1e-3)
    text = f"({q.name} - a) / max(b - a, 0.001), a and b being the entries at max(j - 1, 0) and "
    return (q - low) / span, f"{text}min(j, n - 1), n their number"
