"""Sums and extremes by row, group and index: reductions, groups, scatters along edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from generators.atomic.tally import GROUPS, INT64, Tally, amount, any_of, number_type, threads
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, square
from generators.kit.sites import launch
from generators.program.dtypes import INT32, scalar_of
from generators.program.expr import Expr

Term = Callable[[Tally, Expr, Expr], Expr]
_TERMS: dict[str, Term] = {
    "sum_products dot_reduce": lambda t, p, q: p * q,
    "sum_squared_errors squared_distance": lambda t, p, q: square(t.let("gap diff error", p - q)),
    "sum_absolute_errors absolute_distance": lambda t, p, q: abs(p - q),
    "sum_overlap histogram_intersection": lambda t, p, q: least(p, q),
    "sum_relative_errors relative_error": lambda t, p, q: abs(p - q) / (1.0 + abs(q)),
    "weighted_squares weighted_energy": lambda t, p, q: q * q * p,
}
_FLOAT_TERMS = frozenset({"sum_relative_errors relative_error"})
_INPUTS = {
    "sum_products dot_reduce": ("x a left", "y b right"),
    "sum_overlap histogram_intersection": ("hist_a bins_a", "hist_b bins_b"),
    "weighted_squares weighted_energy": ("weights w", "amplitude values"),
}
"""Names of both arrays, where they are not a prediction and a target."""
"""What is summed of two arrays, by the names of the kernel."""


@idiom(depth=2)
def reduction(k: KernelBuilder, level: int) -> Title:
    """Sums over all threads, rows or columns of a term of two arrays."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    if shape.chance(0.3):
        type_ = shape.choice((INT32, INT64))
    s = launch(k, grid=3, list=2)
    t = Tally(level, s)
    names = t.pick(*(n for n in _TERMS if type_.is_float or n not in _FLOAT_TERMS))
    inputs = _INPUTS.get(names, ("predicted pred x", "expected target y"))
    first = amount(s, inputs[0], type_)
    value = _TERMS[names](t, first, amount(s, inputs[1], type_))
    if level >= 2:
        t.mask()
    if t.chance(0.4, 3):
        value = t.let("term here", value)
        t.into("peak largest", "1", 0, value, "max")
    places = {
        "total": ("1", k.lift(0, INT32)),
        "row": (s.dims[0], s.at[0]),
        "column": (s.dims[-1], s.at[-1]),
    }
    goals = shape.sample(sorted(places), min(1 + level // 2, 3)) if s.rank > 1 else ["total"]
    value = t.changed(value, len(goals))
    for goal in goals:
        sums = "total_sum total_acc" if goal == "total" else f"{goal}_sums per_{goal}"
        t.into(sums, *places[goal], value)
    return t.title(names, f"For each entry {s.where}: ")


@idiom(depth=2)
def group_extremes(k: KernelBuilder, level: int) -> Title:
    """Smallest and largest value of each group, at higher levels with sums and counts."""
    type_ = number_type(k)
    k.size("m", 5, 8)
    t = Tally(level, threads(k, "n", 72, 96, "i e"))
    if t.chance(0.2 * level, 2):
        t.mask()
    value: Expr = amount(t.s, "values heights scores times", type_)
    if t.chance(0.4, 2) and not type_.is_unsigned:
        value = value - amount(t.s, "reference baseline expected", type_)
    kinds = t.pick("min", "max", "min max") if level < 3 else "min max"
    extra = t.pick("sum", "count") if level >= 3 else ""
    count = len(kinds.split()) + bool(extra)
    value = t.changed(value, count - (extra == "count"), extremes=True)
    group: Expr = t.s.read(GROUPS, INT32, init="index_of:m")
    group = t.let("g group label", group, 1.0 if count > 1 else 0.0)
    for kind in kinds.split():
        outs = "lowest minima lows" if kind == "min" else "highest maxima highs"
        t.into(outs, "m", group, value, kind)
    if extra:
        t.into(f"{extra}s group_{extra}s", "m", group, value if extra == "sum" else 1)
    return t.title("group_extremes segment_range" if " " in kinds else f"group_{kinds}")


_FEATURES = {1: (0, 1), 2: (1, 1), 3: (1, 2), 4: (2, 3), 5: (3, 3)}
"""How many of these a kernel of a level has."""


@idiom(depth=2)
def scatter(k: KernelBuilder, level: int) -> Title:
    """Add values where an index array says, at higher levels along edges, by rows and tiles."""
    shape, type_ = k.draw.shape, number_type(k)
    fitting = ["factors", "bounds", "rows"]
    if level > 1:
        fitting += ["joined", "degree", "mask"]
    has = frozenset(shape.sample(fitting, shape.integer(*_FEATURES[level])))
    k.size("m", 6, 12)
    s = threads(k, "n", 64, 96, "i e")
    t = Tally(level, s)
    if "mask" in has:
        t.mask()
    ends = _ends(t, has)
    if "degree" in has:
        t.into("degree touched", "m", ends[0])
    factor = None
    if "factors" in has:
        weight = amount(s, "factors coefficients gains", type_)
        factor = t.let("factor g", weight, 1.0 if "rows" in has else 0.0)
    values = "values flow amounts load"
    if "rows" in has:
        k.size("width", 3, 5)
        with t.loop("c j", k.trip_count("num_components row_width", "width")) as c:
            row = replace(s, dims=(*s.dims, "width"), at=(*s.at, c))
            _give(t, has, amount(row, values, type_), factor, ends, (c,))
    else:
        _give(t, has, amount(s, values, type_), factor, ends, ())
    names = "accumulate_edges edge_flux" if "joined" in has else "scatter_values scatter_sum"
    return t.title(names, f"For each entry {s.where}: ")


def _ends(t: Tally, has: frozenset[str]) -> list[Expr]:
    """Where an entry goes, and comes from; out of range or with equal ends it does nothing."""
    loops = "joined" in has and t.chance(0.5)
    names = {"targets dst indices": "t node end"}
    if "joined" in has:
        names = {"heads targets dst": "t node end", "sources src tails": "s origin start"}
    low, high = (-2, 11) if "bounds" in has else (None, None)
    init = "uniform" if "bounds" in has else "index_of:m"
    ends: list[Expr] = [t.s.read(array, INT32, low, high, init=init) for array in names]
    often = loops or has & {"bounds", "degree", "rows"}
    ends = [t.let(n, e, 1.0 if often else 0.0) for n, e in zip(names.values(), ends, strict=True)]
    tests: list[Expr] = []
    if "bounds" in has:
        count = t.k.size_param("num_targets num_nodes", "m")
        tests = [test for end in ends for test in (end < 0, end >= count)]
    if loops:
        tests.append(fn("eq", ends[1], ends[0]))
    if tests:
        t.skip(any_of(tests))
    return ends


def _give(
    t: Tally,
    has: frozenset[str],
    value: Expr,
    factor: Expr | None,
    ends: list[Expr],
    last: tuple[Expr, ...],
) -> None:
    """The atomics of one amount."""
    type_ = scalar_of(value.type)
    value = t.changed(value if factor is None else value * factor)
    if len(ends) > 1:
        value = t.let("amount share term", value)
    dims = ("m", *["width"] * len(last))
    signed = not type_.is_unsigned
    how = "sub" if len(ends) == 1 and signed and t.chance(0.1) else "add"
    sums = t.into("sums nodes totals balance", dims, (ends[0], *last), value, how)
    if len(ends) > 1:
        t.update("add", sums, (ends[1], *last), -value if signed else value)
