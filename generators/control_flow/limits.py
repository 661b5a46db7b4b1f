"""Sorted limits: what a value reaches among them, and what stands beside it."""

from __future__ import annotations

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import branch
from generators.control_flow.lookup import bisection_ends
from generators.control_flow.params import with_struct
from generators.kit.functions import clamp, least, most
from generators.kit.sites import launch
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

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


_FEW = {"price": "brackets", "grade": "brackets", "rate": "brackets", "nearest": "levels"}
"""Sizes of sorted tables that are short enough for a scan."""
_AIMS = {
    "interval": "Bins between given edges",
    "price": "Unit prices by quantity",
    "grade": "Grades by the limits that a score reaches",
    "rate": "Rates of the bands that amounts fall into",
    "timestamp": "The last frame at or before each time",
    "symbol": "Symbols by where the share of each begins among cumulative frequencies",
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
    few = form in _FEW
    whole_steps = form not in ("interval", "bracket", "nearest")
    s = launch(k, list=5, grid=1 if level > 1 else 0)
    m = k.size("labels" if form == "symbol" else _FEW.get(form, "m"), 9, 15, minimum=2)
    table = k.array(sorted_names, type_, m, init="sorted", low=0, high=40 if whole else 100)
    x = s.read(queries, type_, 0 if type_.is_unsigned else -3, 44 if whole else 112)
    values = None
    if beside:
        values = k.array(beside, k.draw.wide_float_type(), m, low=0.1, high=9.0)
    size: Expr = extent(table, 0)
    if shape.chance(0.5):
        size = k.size_param(f"num_{m if few else 'entries'} table_size", m)
    q = k.let("q query value", x)
    j = _slot(k, table, size, q, few, whole_steps)
    last = j
    if form == "nearest":
        last = k.let("upper above", least(j, size - 1))
    elif form == "bracket":
        last = k.let("cell upper", clamp(j, 1, size - 1))
    made, text = _found(k, form, table, size, q, last, values)
    out = s.out(outs, made.type if isinstance(made.type, Scalar) else INT32)
    k.store(out, s.at, made)
    done = f"{_AIMS[form]}: look up each {q.name} of {say(k, x)} in the sorted {table.name}; "
    which = "not above" if whole_steps else "below"
    done += f"with j the number of entries {which} {q.name}, {out.name} gets {text}."
    return Title(k.name(*names.split()), done)


def _slot(k: KernelBuilder, table: Var, size: Expr, q: Var, few: bool, equal: bool) -> Var:
    """The number of entries below the query, or up to it where ``equal``: built in, by bisection,
    or, among few, by a scan."""

    def before(at: Expr) -> Expr:
        return table[at] <= q if equal else table[at] < q

    names = "j slot reached" if equal else "j slot below"
    style = k.draw.shape.choice(("scan", "count", "backwards") if few else ("bound", "bisect"))
    if style == "bound":
        return k.let(names, fn("lower_bound", table, q + 1 if equal else q))
    if style == "bisect":
        lo, hi = bisection_ends(k, size)
        with k.while_(lo < hi):
            mid = k.let("mid middle", (lo + hi) // 2)
            branch(k, (before(mid), (lo, mid + 1)), (None, (hi, mid)))
        return lo
    slot = k.let(names, size if style == "backwards" else k.lift(0, INT32))
    if style == "count":
        with k.for_("e c", size) as e, k.if_(before(e)):
            k.augment(slot, "add", 1)
        return slot
    with k.while_(slot > 0 if style == "backwards" else slot < size):
        beyond = table[slot] > q if equal else table[slot] >= q
        done = before(slot - 1) if style == "backwards" else beyond
        with k.if_(done):
            k.break_()
        k.augment(slot, "sub" if style == "backwards" else "add", 1)
    return slot


def _found(
    k: KernelBuilder, form: str, table: Var, size: Expr, q: Var, j: Var, values: Var | None
) -> tuple[Expr, str]:
    """What a query gets, and that in words."""
    if values is not None:
        at = k.let("band bracket", most(j - 1, 0))
        return values[at], f"{values.name}[max(j - 1, 0)]"
    if form in ("interval", "grade"):
        return j, "j"
    if form in ("timestamp", "symbol"):
        return most(j - 1, 0), "max(j - 1, 0), the index of the last of these"
    if form == "bracket":
        low, high = table[j - 1], table[j]
        text = f"({q.name} - a) / (b - a), a and b being the entries at c - 1 and c, with c = j "
        text += "clamped to [1, n - 1] and n the number of entries"
        return (q - low) / (high - low), text
    before = k.let("before prev", most(j - 1, 0))
    low, high = table[before], table[j]
    nearer = fn("where", q - low < high - q, low, high)
    return nearer, (
        f"{table.name} at max(j - 1, 0) or min(j, n - 1), n being its length: what is nearer, "
        "the upper one where both are as far"
    )
