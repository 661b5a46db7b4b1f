"""Probability: densities and distribution functions, alone or summed over components."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.dtypes import Type
from generators.expr import Expr, Var
from generators.pieces import constant
from generators.registry import Title
from generators.stages import refine

_Density = Callable[[Expr, Expr], Expr]
DISTRIBUTIONS: dict[str, tuple[str, _Density]] = {
    "normal_pdf": ("normal density", lambda z, s: 0.39894228 / s * fn("exp", -0.5 * z * z)),
    "normal_logpdf": ("normal log-density", lambda z, s: -0.5 * z * z - fn("log", 2.5066283 * s)),
    "normal_cdf": ("normal CDF (by erf)", lambda z, _: 0.5 * (1.0 + fn("erf", z * 0.70710678))),
    "normal_tail": ("upper normal tail (erfc)", lambda z, _: 0.5 * fn("erfc", z * 0.70710678)),
    "logistic_cdf": ("logistic CDF", lambda z, _: 1.0 / (1.0 + fn("exp", -z))),
    "laplace_logpdf": ("Laplace log-density", lambda z, s: -fn("abs", z) - fn("log", 2.0 * s)),
    "cauchy_pdf": ("Cauchy density", lambda z, s: 0.31830989 / (s * (1.0 + z * z))),
    "cauchy_cdf": ("Cauchy CDF", lambda z, _: 0.5 + 0.31830989 * fn("atan", z)),
    "gumbel_cdf": ("Gumbel CDF", lambda z, _: fn("exp", -fn("exp", -z))),
    "sech_pdf": (
        "hyperbolic secant density, 0.5 / (scale * cosh(pi / 2 * z)),",
        lambda z, s: 0.5 / (s * fn("cosh", 1.5707963 * z)),
    ),
}
_SCALED = frozenset({"normal_pdf", "normal_logpdf", "laplace_logpdf", "cauchy_pdf", "sech_pdf"})
"""The functions that read the scale itself, not only the standardized sample."""
_Z = ("z", "standardized", "u")
_POINT = ("xi", "sample", "point", "obs")
_MEANS, _MEAN = ("means", "centers", "locations"), ("mu", "mean", "center")
_SIGMAS, _SIGMA = ("sigmas", "widths", "spreads"), ("sigma", "width", "spread")
_OUT = ("out", "values", "likelihood", "result")


def distribution(k: KernelBuilder, level: int) -> Title:
    """A density or distribution function, at higher levels summed over mixture components."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(DISTRIBUTIONS))
    n = k.size("n", 48, 96)
    x = k.array(("x", "samples", "observations", "points"), type_, n, low=-2.0, high=2.0)
    if level < 3:
        done = _single(k, level, form, x, n)
        return Title(k.name(f"eval_{form}", f"{form}_at_points"), done)
    phrase, density = DISTRIBUTIONS[form]
    dim = k.size("m", 3, 6)
    means = k.array(_MEANS, type_, dim, low=-1.0, high=1.0)
    weighted = shape.chance(0.6)
    weights = k.array(("weights", "priors"), type_, dim, low=0.2, high=1.0) if weighted else None
    sigma = k.scalar(_SIGMA, type_, 0.5, 1.5)
    out = k.out(_OUT, type_, n)
    (i,) = k.thread(n)
    signal = refine(k, x[i], level, _POINT, scale=1.2)
    count = k.trip_count(("components", "num_components"), dim)
    value = _summed(k, density, signal.value, (means, weights, sigma), count)
    k.store(out, i, value)
    done = f"Evaluate the {phrase} with location {means.name} and scale {sigma.name} at each of "
    done += f"{x.name}, summed over all components"
    done += f", each times its entry of {weights.name}" if weights else ""
    done += f". Each sample is first {signal.phrase}" if signal.phrase else ""
    start = "mixture" if weighted and "log" not in form else "sum"
    return Title(k.name(f"{start}_{form}", f"{form}_{start}"), f"{done}.")


def _single(k: KernelBuilder, level: int, form: str, x: Var, n: str) -> str:
    """One density for each sample; location, scale and factor are parameters or literals."""
    shape, (phrase, density) = k.draw.shape, DISTRIBUTIONS[form]
    location = shape.weighted({"array": 3, "scalar": 3, "literal": 4})
    spread = shape.weighted({"array": 2, "scalar": 4, "literal": 4})
    (i,) = k.thread(n)
    point = x[i]
    mean, mean_text = _given(k, location, (_MEANS, _MEAN), point.type, i, -1.0, 1.0)
    sigma, sigma_text = _given(k, spread, (_SIGMAS, _SIGMA), point.type, i, 0.5, 1.5)
    out = k.out(_OUT, point.type, n)
    signal = refine(k, point, level, _POINT, scale=1.2)
    if not isinstance(sigma, Var) and form in _SCALED:
        sigma = k.let((*_SIGMA, "s"), sigma)
    z = k.let(_Z, (signal.value - mean) / sigma)
    value, done = density(z, sigma), "Evaluate the "
    if "literal" not in (location, spread) or shape.chance(0.2):
        factor = constant(k, 0.3, 2.5)
        value, done = factor * value, f"Evaluate {factor} times the "
    k.store(out, i, value)
    done += f"{phrase} with location {mean_text} and scale {sigma_text} at each of {x.name}"
    return done + (f". Each sample is first {signal.phrase}." if signal.phrase else ".")


def _given(
    k: KernelBuilder,
    how: str,
    names: tuple[tuple[str, ...], tuple[str, ...]],
    type_: Type,
    i: Var,
    low: float,
    high: float,
) -> tuple[Expr, str]:
    """A quantity as an array element, a parameter or a positive literal, and what it is."""
    if how == "literal":
        value = constant(k, max(low, 0.1), high)
        return k.lift(value, type_), str(value)
    if how == "array":
        array = k.array(names[0], type_, "n", low=low, high=high)
        return array[i], f"{array.name} (by sample)"
    scalar = k.scalar(names[1], type_, low, high)
    return scalar, scalar.name


def _summed(
    k: KernelBuilder,
    density: _Density,
    at: Expr,
    arrays: tuple[Var, Var | None, Var],
    count: Expr,
) -> Var:
    """The sum of a density over components, with weights if there are any."""
    means, weights, sigma = arrays
    point = at if isinstance(at, Var) else k.let(("here", "xi"), at)
    total = k.let(("total", "acc", "mixture"), k.lift(0.0, point.type))
    with k.for_(("c", "comp", "j"), count) as c:
        z = k.let(_Z, (point - means[c]) / sigma)
        part = density(z, sigma)
        k.augment(total, "add", part if weights is None else weights[c] * part)
    return total
