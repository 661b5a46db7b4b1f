"""Reductions of two arrays: totals, and sums of rows and columns."""

from __future__ import annotations

from generators.atomic.parts import amounts, contribution
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import listed
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_TERMS: dict[str, str] = {
    "product": "{0} * {1}",
    "square": "({0} - {1}) squared",
    "distance": "|{0} - {1}|",
    "larger": "max({0}, {1})",
}
_NAMES = {
    "product": ("sum_products", "dot_reduce"),
    "square": ("sum_squared_errors", "squared_distance"),
    "distance": ("sum_absolute_errors", "absolute_distance"),
    "larger": ("sum_larger", "sum_maxima"),
}


@idiom
def reduction(k: KernelBuilder, level: int) -> Title:
    """Sums over all threads, rows or columns of a term of two arrays."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    if shape.chance(0.3):
        type_ = shape.choice((INT32, Scalar("int64")))
    plane = shape.chance(0.6)
    dims = (k.size("rows", 7, 10), k.size("cols", 7, 10)) if plane else (k.size("n", 72, 96),)
    form = shape.choice(sorted(_TERMS))
    a = amounts(k, ("x", "a", "left", "predicted"), type_, *dims)
    b = amounts(k, ("y", "b", "right", "expected"), type_, *dims)
    at = k.thread(*dims)
    sums = _accumulators(k, type_, dims, at, 1 + level // 2 if plane else 0)
    peak = None
    if level >= 3:
        start = -1000.0 if type_.is_float else -100000
        peak = k.accumulator(("peak", "largest"), type_, "1", start=start)
    value, text = _term(k, form, a, b, at), _TERMS[form].format(a.name, b.name)
    if type_.is_float and level >= 2:
        less = k.draw.value.integer(5, 9) / 10
        value, text = value - less, f"{text} - {less}"
    over = listed([what for _, _, what in sums])
    done = f"Sum {text} {over}."
    if peak is not None:
        value = value if isinstance(value, Var) else k.let(("raw", "gained"), value)
        k.atomic("max", peak, 0, value)
    amount, phrase = contribution(k, value, level, len(sums), "What is summed")
    for array, place, _ in sums:
        k.atomic("add", array, place, amount)
    if peak is not None:
        done = f"{done[:-1]}, and keep the largest in {peak.name}."
        phrase = phrase.replace("is first", "(not what is compared) is first")
    return Title(k.name(*_NAMES[form]), done + phrase)


def _accumulators(
    k: KernelBuilder, type_: Scalar, dims: tuple[str, ...], at: tuple[Var, ...], count: int
) -> list[tuple[Var, Expr, str]]:
    """Sums by row, by column, of everything: array, index, and what it sums over."""
    places: dict[str, tuple[str, Expr, str]] = {
        "total": ("1", k.lift(0, INT32), "over everything"),
        "row": (dims[0], at[0], "along each row"),
        "column": (dims[-1], at[-1], "along each column"),
    }
    goals = k.draw.shape.sample(sorted(places), min(count, 3)) if count else ["total"]
    sums = []
    for goal in sorted(goals):
        size, place, text = places[goal]
        names = (
            (f"{goal}_sum", f"{goal}_acc") if goal == "total" else (f"{goal}_sums", f"per_{goal}")
        )
        array = k.accumulator(names, type_, size)
        sums.append((array, place, f"{text} into {array.name}"))
    return sums


def _term(k: KernelBuilder, form: str, a: Var, b: Var, at: tuple[Var, ...]) -> Expr:
    p, q = a[at], b[at]
    if form == "product":
        return p * q
    if form == "larger":
        return fn("max", p, q)
    if form == "distance":
        return fn("abs", p - q)
    gap = k.let(("gap", "diff", "error"), p - q)
    return gap * gap
