"""Control flow: tariffs, searches in sorted tables, integer loops, escape times, row machines."""

from __future__ import annotations

from generators._control_flow_integers import integer_walk
from generators._control_flow_orbits import escape_time
from generators._control_flow_rows import row_machine
from generators._control_flow_tariff import tariff
from generators._vector_parts import stored
from generators.build import KernelBuilder, fn
from generators.dtypes import INT32
from generators.expr import Expr, Var
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
    queries = k.array(("queries", "x", "keys"), type_, n, low=-10, high=110)
    if level == 1:
        return _counted(k, knots, queries)
    table = k.array(("heights", "table", "y"), type_, m, low=-2, high=2)
    size = k.size_param(("num_knots", "table_size"), m)
    out = k.out(("out", "result", "found"), type_, n)
    (i,) = k.thread(n)
    q = k.let(("q", "query"), queries[i])
    early = shape.chance(0.5)
    if early:
        for outside, end in ((q < knots[0], 0), (q >= knots[size - 1], size - 1)):
            with k.if_(outside):
                k.store(out, i, table[end])
                k.return_()
    lo = _bisect(k, knots, size, q, strict=False)
    form = shape.choice(sorted(_LOOKUPS))
    y = _between(form, knots, table, lo, q)
    signal = refine(k, y if early else _extended(k, table, size, lo, y), level, _LOCALS)
    k.store(out, i, signal.value)
    done = f"Look each of {queries.name} up in the sorted {knots.name} by binary search and "
    done += f"{_LOOKUPS[form].format(table.name, knots.name)}. Outside of {knots.name} the first "
    done += f"or last of {table.name} is {'stored as it is' if early else 'taken'}."
    if early and signal.phrase:
        done += f" Inside, the stored value is {signal.phrase}."
    else:
        done += stored(signal)
    return Title(k.name(f"{form}_lookup", f"table_{form}"), done)


_LOCALS = ("v", "level", "response")


def _counted(k: KernelBuilder, knots: Var, queries: Var) -> Title:
    """How many knots are below or above each query."""
    shape = k.draw.shape
    size = k.size_param(("num_knots", "table_size"), "m")
    out = k.out(("out", "counts", "found"), INT32, "n")
    (i,) = k.thread("n")
    q = k.let(("q", "query"), queries[i])
    strict, above = shape.chance(0.5), shape.chance(0.5)
    lo = _bisect(k, knots, size, q, strict)
    k.store(out, i, size - lo if above else lo)
    where = {(0, 0): "not above", (1, 0): "below", (0, 1): "above", (1, 1): "not below"}
    done = f"Count by binary search how many of the sorted {knots.name} are "
    done += f"{where[strict, above]} each of {queries.name}."
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


for _idiom in (integer_walk, escape_time, row_machine, tariff):
    CATEGORY.idiom(_idiom)
