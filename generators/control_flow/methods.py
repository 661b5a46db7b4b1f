"""Functions by their power series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.control_flow.kit import STOP, Also, branch
from generators.control_flow.params import with_struct
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import launch
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Const, Expr, literal


@dataclass(frozen=True)
class Series:
    """A series, the range of x, the factor from term to term, and what is added of a term."""

    text: str
    span: tuple[float, float]
    factor: Callable[[Expr, Expr], Expr]
    added: Callable[[Expr, Expr], Expr] = lambda term, m: term
    odd: bool = False
    """Whether it begins with x, else with 1."""
    by_order: bool = True
    """Whether the factor depends on the order."""
    routine: bool = True
    """Whether the factor is so much that people write a function for it."""
    whole: bool = True
    """Whether the products of the factors are what is added."""
    scale: float = 1.0
    """What the sum is multiplied by in the end."""


_SERIES = {
    "log1p": Series(
        "log(1 + x) = sum of (-1)^m x^(m+1) / (m+1)",
        (-0.5, 0.5),
        lambda x, m: -x,
        lambda term, m: term / (m + 1.0),
        odd=True,
        whole=False,
        by_order=False,
        routine=False,
    ),
    "expm1": Series(
        "exp(x) - 1 = sum of x^(m+1) / (m+1)!",
        (-0.5, 0.5),
        lambda x, m: x / (m + 1.0),
        odd=True,
        routine=False,
    ),
    "sinc": Series(
        "sin(x) / x = sum of (-1)^m x^(2m) / (2m+1)!, 1 at 0",
        (-2.0, 2.0),
        lambda x, m: -(x * x) / ((2.0 * m) * (2.0 * m + 1.0)),
    ),
    "dawson": Series(
        "Dawson's integral F(x) = sum of (-2)^m x^(2m+1) / (2m+1)!!",
        (-1.5, 1.5),
        lambda x, m: -2.0 * x * x / (2.0 * m + 1.0),
        odd=True,
        routine=False,
    ),
    "exponential_integral": Series(
        "Ein(x) = sum of (-1)^m x^(m+1) / ((m+1)! (m+1)), the entire exponential integral",
        (0.1, 2.5),
        lambda x, m: -x / (m + 1.0),
        lambda term, m: term / (m + 1.0),
        odd=True,
        whole=False,
        routine=False,
    ),
    "elliptic_k": Series(
        "K(x) = pi / 2 * sum of ((2m-1)!! / (2m)!!)^2 x^(2m), the complete elliptic integral of "
        "the first kind of modulus x",
        (0.1, 0.7),
        lambda x, m: x * x * (2.0 * m - 1.0) * (2.0 * m - 1.0) / (4.0 * m * m),
        scale=1.5707963267948966,
    ),
    "erf": Series(
        "erf(x) = 2 / sqrt(pi) * sum of (-1)^m x^(2m+1) / (m! (2m+1))",
        (-1.5, 1.5),
        lambda x, m: -(x * x) / m,
        lambda term, m: term / (2.0 * m + 1.0),
        odd=True,
        whole=False,
        scale=1.1283791670955126,
        routine=False,
    ),
    "sine_integral": Series(
        "Si(x) = sum of (-1)^m x^(2m+1) / ((2m+1)! (2m+1))",
        (-3.0, 3.0),
        lambda x, m: -(x * x) / ((2.0 * m) * (2.0 * m + 1.0)),
        lambda term, m: term / (2.0 * m + 1.0),
        odd=True,
        whole=False,
    ),
    "dilogarithm": Series(
        "Li2(x) = sum of x^(m+1) / (m+1)^2",
        (-0.7, 0.7),
        lambda x, m: x,
        lambda term, m: term / ((m + 1.0) * (m + 1.0)),
        odd=True,
        whole=False,
        by_order=False,
        routine=False,
    ),
    "modified_bessel_i0": Series(
        "I0(x) = sum of (x/2)^(2m) / (m!)^2, the modified Bessel function of order 0",
        (0.2, 3.0),
        lambda x, m: x * x / (4.0 * m * m),
    ),
    "bessel_j0": Series(
        "J0(x) = sum of (-1)^m (x/2)^(2m) / (m!)^2, the Bessel function of order 0",
        (0.2, 3.0),
        lambda x, m: -x * x / (4.0 * m * m),
    ),
    "bessel_j1": Series(
        "J1(x) = sum of (-1)^m (x/2)^(2m+1) / (m! (m+1)!), the Bessel function of order 1",
        (0.2, 3.0),
        lambda x, m: -x * x / (4.0 * m * (m + 1.0)),
        odd=True,
        scale=0.5,
    ),
    "modified_bessel_i1": Series(
        "I1(x) = sum of (x/2)^(2m+1) / (m! (m+1)!), the modified Bessel function of order 1",
        (0.2, 3.0),
        lambda x, m: x * x / (4.0 * m * (m + 1.0)),
        odd=True,
        scale=0.5,
    ),
}

_SMALL = {"float32": (1e-5, 1e-6), "float64": (1e-8, 1e-10)}
"""Sizes of terms that end a sum, by its type."""


@idiom(depth=3)
@with_struct
def power_series(k: KernelBuilder, level: int) -> Title:
    """A function by its power series, with a fixed number of terms or until they are small."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_SERIES))
    series = _SERIES[form]
    stops = level >= 2 and shape.chance(0.5)
    s = launch(k, list=7, grid=3 if level >= 2 else 0)
    given = s.read("xs values args", type_, *series.span)
    terms: Expr = k.lift(k.draw.value.choice((20, 24, 32, 50)), INT32)
    if not stops:
        terms = k.scalar("max_order last_m", INT32, 3, 7)
    tol = k.lift(k.draw.value.choice(_SMALL[str(type_)]), type_) if stops else None
    out = s.out(f"{form}_out", type_)
    used = Also(s, 0.4 if stops else 0.0, "terms_used num_used")
    x = k.let("x t", given)
    total, last = _summed(k, level, form, x, type_, terms, tol)
    k.store(out, s.at, series.scale * total if series.scale != 1.0 else total)
    more = used.told("the number of terms added", last)
    done = f"Evaluate {series.text}, m = 0, 1, 2 and so on, for each x of "
    done += f"{say(k, given)}; {out.name} gets it, the sum being cut off after m = {say(k, terms)}"
    if tol is not None:
        done += f" or after the first term past m = 0 whose size is below {say(k, tol)}"
    name = k.name(f"{form}_series taylor_{form} power_series")
    return Title(name, f"{done}.{more}")


def _summed(
    k: KernelBuilder, level: int, form: str, x: Expr, type_: Scalar, terms: Expr, tol: Expr | None
) -> tuple[Expr, Expr]:
    """The loop; the sum, and how many terms it has where it stops."""
    series, shape = _SERIES[form], k.draw.shape
    params, chance = {"x": type_, "m": type_}, BY_LEVEL[level] if series.routine else 0.0
    names = "next_factor term_ratio"
    factor = routine(k, chance, names, params, lambda _, u, m: series.factor(u, m))
    first = x if series.odd else k.lift(1.0, type_)
    term = k.let("term" if series.whole else "power", first)
    total = k.let("total acc series_sum", term if shape.chance(0.5) else first)

    def advance(order: Expr) -> Expr:
        m = cast(order, type_)
        if series.by_order:
            m = k.let("fm mf", m)
        k.augment(term, "mul", factor(x, m))
        if series.whole:
            k.augment(total, "add", term)
            return term
        added = series.added(term, m)
        added = k.let("term", added) if tol is not None else added
        k.augment(total, "add", added)
        return added

    last = k.let("terms used", k.lift(1, INT32)) if tol is not None else None
    with k.for_("m order", _above(terms), start=1) as m:
        added = advance(m)
        if last is not None and tol is not None:
            k.augment(last, "add", 1)
            branch(k, (abs(added) < tol, STOP))
    return total, last if last is not None else total


def _above(terms: Expr) -> Expr:
    """One more than a number, a literal where that is one."""
    if isinstance(terms, Const):
        return literal(int(terms.value) + 1, INT32)
    return terms + 1
