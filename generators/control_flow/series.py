"""Functions by their power series, with a fixed number of terms or until they are small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.control_flow.kit import STOP, Also, both, branch, counter
from generators.control_flow.params import with_struct
from generators.kit.functions import clamp
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import launch
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr


@dataclass(frozen=True)
class Series:
    """A series, the range of x, the factor from term to term, and what is added of a term."""

    text: str
    low: float
    high: float
    factor: Callable[[Expr, Expr], Expr]
    added: Callable[[Expr, Expr], Expr] = lambda term, m: term
    odd: bool = False
    """Whether it begins with x, else with 1."""
    by_order: bool = True
    """Whether the factor depends on the order."""


_SERIES = {
    "exp": Series("exp(x) = sum of x^m / m!", -1.5, 1.5, lambda x, m: x / m),
    "sin": Series(
        "sin(x) = sum of (-1)^m x^(2m+1) / (2m+1)!",
        -2.0,
        2.0,
        lambda x, m: -(x * x) / ((2.0 * m) * (2.0 * m + 1.0)),
        odd=True,
    ),
    "cos": Series(
        "cos(x) = sum of (-1)^m x^(2m) / (2m)!",
        -2.0,
        2.0,
        lambda x, m: -(x * x) / ((2.0 * m - 1.0) * (2.0 * m)),
    ),
    "log1p": Series(
        "log(1 + x) = sum of (-1)^(m+1) x^m / m",
        -0.5,
        0.5,
        lambda x, m: -x,
        lambda term, m: term / (m + 1.0),
        odd=True,
        by_order=False,
    ),
    "atan": Series(
        "atan(x) = sum of (-1)^m x^(2m+1) / (2m+1)",
        -0.6,
        0.6,
        lambda x, m: -(x * x),
        lambda term, m: term / (2.0 * m + 1.0),
        odd=True,
        by_order=False,
    ),
    "geometric": Series("1 / (1 - x) = sum of x^m", -0.7, 0.7, lambda x, m: x, by_order=False),
    "bessel": Series(
        "J0(x) = sum of (-1)^m (x/2)^(2m) / (m!)^2", 0.2, 3.0, lambda x, m: -(x * x) / (4.0 * m * m)
    ),
}


@idiom
@with_struct
def power_series(k: KernelBuilder, level: int) -> Title:
    """A function by its power series, with a fixed number of terms or until they are small."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_SERIES))
    series, stops = _SERIES[form], level >= 3 and shape.chance(0.7)
    s = launch(k, list=7, grid=3 if level >= 2 else 0)
    given = s.read("x angles values", type_, series.low, series.high)
    done = f"Evaluate {series.text} for x = {say(k, given)}"
    gain = None
    if shape.chance(0.4):
        gain = k.scalar("gain scale", type_, *((1.2, 1.8) if level >= 2 else (0.4, 0.9)))
        done += f" times {gain.name}"
        done += f", clamped to [{series.low}, {series.high}]" if level >= 2 else ""
    terms = k.draw.value.integer(5, 9)
    how = f"until a term is below 0.001, {terms} after the first at most"
    done += f", {how if stops else f'with {terms} terms after the first'}; "
    out = s.out("out series result", type_)
    used = Also(s, 0.0 if level < 3 else 0.6, "terms_used" if stops else "far_out is_large")
    x = k.let("x t", given)
    if gain is not None:
        k.assign(x, clamp(gain * x, series.low, series.high) if level >= 2 else gain * x)
    total, last = _summed(k, level, form, x, type_, terms, stops)
    k.store(out, s.at, total)
    if stops:
        more = used.told("the number of the last term", last)
    else:
        half = 0.5 * series.high
        more = used.told(f"1 where |x| is above {half}, else 0", cast(abs(x) > half, INT32))
    name = k.name(f"{form}_series taylor_{form} power_series")
    return Title(name, f"{done}the sum goes to {out.name}.{more}")


def _summed(
    k: KernelBuilder, level: int, form: str, x: Expr, type_: Scalar, terms: int, stops: bool
) -> tuple[Expr, Expr]:
    """The loop; the sum, and the number of its last term where it stops."""
    series, shape = _SERIES[form], k.draw.shape
    params, chance = {"x": type_, "m": type_}, BY_LEVEL[level] if series.by_order else 0.0
    names = f"next_factor term_ratio {form}_factor"
    factor = routine(k, chance, names, params, lambda _, u, m: series.factor(u, m))
    first = x if series.odd else k.lift(1.0, type_)
    term = k.let("term power", first)
    total = k.let("total acc series_sum", term if shape.chance(0.5) else first)

    def advance(order: Expr) -> None:
        m = cast(order, type_)
        k.augment(term, "mul", factor(x, m))
        k.augment(total, "add", series.added(term, m))

    if shape.chance(0.5):
        order = k.let("m order", k.lift(1, INT32))
        going = both(order <= terms, abs(term) > 0.001) if stops else order <= terms
        with k.while_(going):
            advance(order)
            k.augment(order, "add", 1)
        return total, order - 1
    last = counter(k, "last order_used") if stops else None
    with k.for_("m order", terms + 1, start=1) as m:
        advance(m)
        if last is not None:
            k.assign(last, m)
            branch(k, (abs(term) < 0.001, STOP))
    return total, last if last is not None else total
