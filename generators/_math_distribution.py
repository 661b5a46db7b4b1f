"""Probability: densities and distribution functions, alone or summed over components."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.expr import Expr, Var
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
_Z = ("z", "standardized", "u")


def distribution(k: KernelBuilder, level: int) -> Title:
    """A density or distribution function, at higher levels summed over mixture components."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(DISTRIBUTIONS))
    phrase, density = DISTRIBUTIONS[form]
    n = k.size("n", 48, 96)
    x = k.array(("x", "samples", "observations", "points"), type_, n, low=-2.0, high=2.0)
    dim = k.size("m", 3, 6) if level >= 3 else n
    means = k.array(("means", "centers", "locations"), type_, dim, low=-1.0, high=1.0)
    weighted = level >= 3 and shape.chance(0.6)
    weights = k.array(("weights", "priors"), type_, dim, low=0.2, high=1.0) if weighted else None
    sigma = k.scalar(("sigma", "width", "spread"), type_, 0.5, 1.5)
    out = k.out(("out", "values", "likelihood", "result"), type_, n)
    (i,) = k.thread(n)
    done = f"Evaluate the {phrase} with location {means.name} and scale {sigma.name} at each of "
    done += x.name
    signal = refine(k, x[i], level, ("xi", "sample", "point", "obs"), scale=1.2)
    if level < 3:
        z = k.let(_Z, (signal.value - means[i]) / sigma)
        value = density(z, sigma)
    else:
        count = k.size_param(("components", "num_components"), dim)
        value = _summed(k, density, signal.value, (means, weights, sigma), count)
        done += f", summed over all {count.name}"
        done += f", each times its entry of {weights.name}" if weights else ""
    k.store(out, i, value)
    done += f". Each sample is first {signal.phrase}" if signal.phrase else ""
    mixed = weighted and "log" not in form
    start = "mixture" if mixed else "eval" if level < 3 else "sum"
    return Title(
        k.name(f"{start}_{form}", f"{form}_{'at_points' if level < 3 else start}"), f"{done}."
    )


def _summed(
    k: KernelBuilder,
    density: _Density,
    at: Expr,
    arrays: tuple[Var, Var | None, Var],
    count: Var,
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
