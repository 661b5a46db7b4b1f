"""Rows of a two-dimensional array, one a thread: sums, norms, extremes, logs of sums."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Const, Expr, Var
from generators.pieces import constant, stored, thread, zero
from generators.registry import Title
from generators.stages import refine
from generators.touches import touch

VALUES = ("value", "v", "y")


def grid(k: KernelBuilder) -> tuple[str, str]:
    """Sizes of an array that has one row for each thread."""
    return k.size("rows", 48, 64), k.size("cols", 4, 7)


Term = Callable[[KernelBuilder, Expr], tuple[Expr, str]]


def _plain(k: KernelBuilder, v: Expr) -> tuple[Expr, str]:
    return touch(k, v)


def _square(k: KernelBuilder, v: Expr) -> tuple[Expr, str]:
    center = constant(k, 0.1, 0.98)
    if k.draw.shape.chance(0.4):
        gain = constant(k, 0.3, 0.98)
        return gain * v * v + center * v, f"{gain} v^2 + {center} v"
    return (v - center) * (v - center), f"(v - {center})^2"


def _magnitude(k: KernelBuilder, v: Expr) -> tuple[Expr, str]:
    c = constant(k, 0.1, 0.98)
    form = k.draw.shape.choice(("distance", "saturated", "smooth"))
    if form == "distance":
        return fn("abs", v - c), f"|v - {c}|"
    if form == "saturated":
        return fn("abs", v) / (c + fn("abs", v)), f"|v| / ({c} + |v|)"
    return fn("sqrt", v * v + c), f"sqrt(v^2 + {c})"


def _exponential(k: KernelBuilder, v: Expr) -> tuple[Expr, str]:
    heat = constant(k, 0.3, 1.2)
    if k.draw.shape.chance(0.3):
        shift = constant(k, 0.1, 0.9)
        return fn("exp", heat * (v - shift)), f"exp({heat} (v - {shift}))"
    return fn("exp", heat * v), f"exp({heat} v)"


def _hinge(k: KernelBuilder, v: Expr) -> tuple[Expr, str]:
    margin = constant(k, 0.1, 0.9)
    if k.draw.shape.chance(0.5):
        return fn("max", v - margin, 0.0), f"max(v - {margin}, 0)"
    return fn("max", margin - v, 0.0), f"max({margin} - v, 0)"


_TERMS: dict[str, Term] = {
    "sum": _plain,
    "squares": _square,
    "magnitudes": _magnitude,
    "logsumexp": _exponential,
    "hinge": _hinge,
}


def _ended(k: KernelBuilder, form: str, total: Var, width: Expr) -> str:
    """What is done with a row's sum."""
    assert isinstance(total.type, Scalar)
    if form == "logsumexp":
        floor = k.draw.value.choice((0.05, 0.1, 0.2))
        k.assign(total, fn("log", total + floor))
        return f" Take the logarithm of the sum plus {floor}."
    if form == "sum":
        return ""
    k.augment(total, "div", cast(width, total.type))
    if form == "squares" or k.draw.shape.chance(0.6):
        return " Divide by the row's length."
    k.assign(total, fn("sqrt", total + 0.01))
    return " Divide by the row's length, add 0.01 and take the square root."


def _summed(
    k: KernelBuilder, level: int, form: str, x: Var, row: Var, width: Expr, weights: Var | None
) -> tuple[Var, str]:
    total = k.let(("total", "acc", "s"), zero(x[row, 0].type))
    where = ""
    with k.for_(("j", "c"), width) as j:
        value = k.let(("value", "v", "xj"), x[row, j])
        if level >= 3 and k.draw.shape.chance(0.6):
            floor = constant(k, 0.4, 1.2)
            with k.if_(value < -floor):
                k.continue_()
            where = f" not below -{floor}"
        term, text = _TERMS[form](k, value)
        k.augment(total, "add", term if weights is None else weights[j] * term)
    done = f"For each row of {x.name}, sum {text} over the entries v{where}"
    done += f", weighted by {weights.name} of the column." if weights is not None else "."
    return total, done + _ended(k, form, total, width)


def _extreme(k: KernelBuilder, x: Var, row: Var, width: Expr, rows: str) -> tuple[Var, str]:
    """The largest or smallest of a row, measured from a constant or with a cost by column."""
    biggest, far = k.draw.shape.chance(0.5), k.draw.shape.chance(0.5)
    # A cast of the variable of an unrolled loop changes the variable's own type in Warp.
    far = far or isinstance(width, Const)
    c = constant(k, 0.1, 0.9) if far else constant(k, 0.02, 0.3)
    first = x[row, 0]
    scalar = first.type
    assert isinstance(scalar, Scalar)
    total = k.let(("best", "peak"), fn("abs", first - c) if far else first)
    place = k.let(("where_best", "best_col"), k.lift(0, INT32))
    with k.for_(("j", "c"), width, start=1) as j:
        entry: Expr = x[row, j]
        entry = fn("abs", entry - c) if far else entry - c * cast(j, scalar)
        value = k.let(("value", "v", "xj"), entry)
        with k.if_(value > total if biggest else value < total):
            k.assign(total, value)
            k.assign(place, j)
    k.store(k.out(("positions", "argbest"), INT32, rows), row, place)
    side = "largest" if biggest else "smallest"
    text = f"|v - {c}|" if far else f"v - {c} j"
    return total, (
        f"For each row of {x.name}, find the {side} {text} over its entries v in columns j, "
        "and its column (the first one)."
    )


def row_reduce(k: KernelBuilder, level: int) -> Title:
    """One number a row: a sum, a norm, an extreme, a log of summed exponentials."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    rows, cols = grid(k)
    x = k.array(("x", "table", "samples", "logits"), scalar, (rows, cols), low=-1.5, high=1.5)
    form = shape.choice((*sorted(_TERMS), "extreme"))
    out = k.out(("out", "row_stats", "reduced"), scalar, rows)
    width = k.trip_count(("width", "cols", "row_length"), cols)
    row = thread(k, rows, "row", "i", "r")
    if form == "extreme":
        total, done = _extreme(k, x, row, width, rows)
    else:
        weights = None
        if level >= 2 and shape.chance(0.6):
            weights = k.array(("weights", "mask_weights", "w"), scalar, cols, low=0.2, high=1.0)
        total, done = _summed(k, level, form, x, row, width, weights)
    if level >= 2:
        low, high = _LEVELS.get(form, (0.0, 1.0))
        base = k.array(("baseline", "targets", "reference"), scalar, rows, low=low, high=high)
        k.augment(total, "sub", base[row])
        done += f" {base.name} of the row is subtracted."
    signal = refine(k, total, level, VALUES, scale=_SCALES[form])
    k.store(out, row, signal.value)
    names = (f"row_{form}", "reduce_rows", f"{form}_per_row")
    return Title(k.name(*names), done + stored(signal))


_LEVELS = {"sum": (-2.0, 3.0), "extreme": (-1.5, 1.5), "logsumexp": (1.0, 3.0)}
_SCALES = {
    "sum": 2.0,
    "squares": 0.7,
    "magnitudes": 0.4,
    "hinge": 0.4,
    "extreme": 1.2,
    "logsumexp": 0.8,
}
