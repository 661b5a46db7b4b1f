"""Control flow: tariffs, searches in sorted tables, integer loops, escape times, row machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators._control_flow_automata import cellular_automaton
from generators._control_flow_calendar import calendar_rules
from generators._control_flow_cases import geometry_cases
from generators._control_flow_filters import row_filter
from generators._control_flow_integers import integer_walk
from generators._control_flow_marching import random_walks, sphere_tracing
from generators._control_flow_numbers import number_theory
from generators._control_flow_orbits import escape_time
from generators._control_flow_parsers import token_parser
from generators._control_flow_polygons import polygon_tests
from generators._control_flow_robots import grid_walk
from generators._control_flow_rows import row_machine
from generators._control_flow_rules import (
    classify_levels,
    logic_gates,
)
from generators._control_flow_scans import event_scan
from generators._control_flow_searches import (
    pattern_search,
    table_lookup,
)
from generators._control_flow_series import power_series
from generators._control_flow_simulations import (
    time_stepping,
)
from generators._control_flow_solvers import root_finding
from generators._control_flow_sorts import small_sorts
from generators._control_flow_stocks import stock_keeping
from generators._control_flow_tariff import tariff
from generators.build import KernelBuilder, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Load, Var, op
from generators.pieces import stored
from generators.registry import Category, Title
from generators.stages import refine

CATEGORY = Category("control_flow", "loops, searches, state machines and branching rules")

_LOOKUPS = {
    "step": "take the entry of {0} at the last of {1} that is not above it",
    "linear": "interpolate linearly in {0}",
    "smooth": "interpolate in {0} with the weight t * t * (3 - 2 * t) for the fraction t",
}


@CATEGORY.idiom
def sorted_search(k: KernelBuilder, level: int) -> Title:
    """Binary search in a sorted table; at higher levels it ends early or interpolates."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    n, m = k.size("n", 48, 64), k.size("m", 9, 15)
    knots = k.array(("knots", "edges", "breaks"), type_, m, init="sorted", low=0, high=100)
    probe = _probe(k, type_, level)
    if level == 1:
        return _counted(k, knots, probe)
    table = k.array(("heights", "table", "y"), type_, m, low=-2, high=2)
    size = k.size_param(("num_knots", "table_size"), m)
    out = k.out(("out", "result", "found"), type_, n)
    (i,) = k.thread(n)
    q = k.let(("q", "query"), probe.value(i))
    early = shape.chance(0.5)
    fill = float(k.draw.value.constant(3.0, 9.0)) if early and shape.chance(0.5) else None
    below, above = q < knots[0], q >= knots[size - 1]
    if fill is not None:
        _stop(k, op("or", below, above), out[i], k.lift(fill, type_))
    elif early:
        _stop(k, below, out[i], table[0])
        _stop(k, above, out[i], table[size - 1])
    lo = _bisect(k, knots, size, q, strict=False)
    form = shape.choice(sorted(_LOOKUPS))
    y = _between(form, knots, table, lo, q)
    signal = refine(k, y if early else _extended(k, table, size, lo, y), level, _LOCALS)
    k.store(out, i, signal.value)
    done = f"Look {probe.text} up in the sorted {knots.name} by binary search and "
    done += f"{_LOOKUPS[form].format(table.name, knots.name)}. Outside of {knots.name} "
    ends = f"the first or last of {table.name}" if fill is None else f"{fill}"
    done += f"{ends} is {'stored as it is' if early else 'taken'}."
    if early and signal.phrase:
        done += f" Inside, the stored value is {signal.phrase}."
    else:
        done += stored(signal)
    return Title(k.name(f"{form}_lookup", f"table_{form}"), done)


def _stop(k: KernelBuilder, outside: Expr, out: Expr, end: Expr) -> None:
    assert isinstance(out, Load)
    with k.if_(outside):
        k.store(out.array, out.indices, end)
        k.return_()


_LOCALS = ("v", "level", "response")


class Probe(NamedTuple):
    """What is looked up: an array, what each of its entries is mapped to, and that in words."""

    array: Var
    mapped: Callable[[Expr], Expr]
    text: str

    def value(self, i: Var) -> Expr:
        return self.mapped(self.array[i])


def _probe(k: KernelBuilder, type_: Scalar, level: int) -> Probe:
    """Queries a little beyond [0, 100], most often after a change of units."""
    names = ("queries", "x", "keys")
    if level > 1 and k.draw.shape.chance(0.2):
        queries = k.array(names, type_, "n", low=-10, high=110)
        return Probe(queries, lambda x: x, f"each of {queries.name}")
    c = float(k.draw.value.constant(0.2, 6.0))
    d = float(k.draw.value.constant(1.0, 60.0))
    forms: dict[str, tuple[Callable[[Expr], Expr], str, float, float]] = {
        "affine": (lambda x: c * x + d, f"{c} * {{0}} + {d}", c, d),
        "down": (lambda x: c * x - d, f"{c} * {{0}} - {d}", c, -d),
        "grouped": (lambda x: c * (x - d), f"{c} * ({{0}} - {d})", c, -c * d),
        "normal": (lambda x: (x - d) / c, f"({{0}} - {d}) / {c}", 1 / c, -d / c),
        "mirrored": (lambda x: d - c * x, f"{d} - {c} * {{0}}", -c, d),
    }
    mapped, text, slope, start = forms[k.draw.shape.choice(sorted(forms))]
    low, high = sorted(((-10 - start) / slope, (110 - start) / slope))
    queries = k.array(names, type_, "n", low=round(low, 1), high=round(high, 1))
    return Probe(queries, mapped, f"each q = {text.format(queries.name)}")


def _counted(k: KernelBuilder, knots: Var, probe: Probe) -> Title:
    """How many knots are below or above each query."""
    shape = k.draw.shape
    size = k.size_param(("num_knots", "table_size"), "m")
    out = k.out(("out", "counts", "found"), INT32, "n")
    (i,) = k.thread("n")
    q = k.let(("q", "query"), probe.value(i))
    strict, above = shape.chance(0.5), shape.chance(0.5)
    lo = _bisect(k, knots, size, q, strict)
    k.store(out, i, size - lo if above else lo)
    where = {(0, 0): "not above", (1, 0): "below", (0, 1): "above", (1, 1): "not below"}
    done = f"Count by binary search how many of the sorted {knots.name} are "
    done += f"{where[strict, above]} {probe.text}."
    return Title(k.name(f"count_{knots.name}", "bin_index", "rank_queries"), done)


def _bisect(k: KernelBuilder, knots: Var, size: Var, q: Expr, strict: bool) -> Var:
    """Number of knots below ``q`` (or not above it), by binary search."""
    lo, hi = k.let(("lo", "left"), k.lift(0, INT32)), k.let(("hi", "right"), size)
    with k.while_(lo < hi):
        mid = k.let(("mid", "middle"), (lo + hi) // 2)
        with k.if_(knots[mid] < q if strict else knots[mid] <= q):
            k.assign(lo, mid + 1)
        with k.else_():
            k.assign(hi, mid)
    return lo


def _between(form: str, knots: Var, table: Var, lo: Var, q: Expr) -> Expr:
    """The table at a query between the knots ``lo - 1`` and ``lo``."""
    y = table[lo - 1]
    if form == "step":
        return y
    t: Expr = (q - knots[lo - 1]) / (knots[lo] - knots[lo - 1])
    return fn("lerp", y, table[lo], t * t * (3.0 - 2.0 * t) if form == "smooth" else t)


def _extended(k: KernelBuilder, table: Var, size: Var, lo: Var, inside: Expr) -> Var:
    """The value inside, or the table's first or last entry outside."""
    value = k.let(("value", "height"), table[0])
    with k.if_(fn("eq", lo, size)):
        k.assign(value, table[size - 1])
    with k.elif_(lo > 0):
        k.assign(value, inside)
    return value


_IDIOMS = (
    integer_walk,
    escape_time,
    row_machine,
    tariff,
    root_finding,
    power_series,
    number_theory,
    event_scan,
    row_filter,
    token_parser,
    classify_levels,
    logic_gates,
    calendar_rules,
    geometry_cases,
    time_stepping,
    stock_keeping,
    grid_walk,
    cellular_automaton,
    table_lookup,
    pattern_search,
    polygon_tests,
    small_sorts,
    sphere_tracing,
    random_walks,
)
for _idiom in _IDIOMS:
    CATEGORY.idiom(_idiom)
