"""Probability: densities and distribution functions, alone or summed over components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.endings import Site, elements, write
from generators.program.dtypes import INT32, Type
from generators.program.expr import Expr, Var

Names = tuple[str, ...]
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


@idiom
def distribution(k: KernelBuilder, level: int) -> Title:
    """A density or distribution function, at higher levels summed over mixture components."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    site = elements(k, {1: 5, 2: 4, 3: 1} if level < 3 else {1: 6, 2: 3})
    names = ("x", "samples", "observations", "points")
    x = k.array(names, type_, site.dims, low=-2.0, high=2.0)
    if level < 3:
        form = shape.choice(sorted(DISTRIBUTIONS))
        value, done = _single(k, form, x, site)
        done += write(k, level, site, _OUT, value, blends=False)
        return Title(k.name(f"eval_{form}", f"{form}_at_points"), done)
    form = shape.choice([form for form in sorted(DISTRIBUTIONS) if "log" not in form[-6:]])
    value, done = _mixture(k, level, form, x, site)
    if shape.chance(0.4):
        value = fn("log", value + 1.0e-6)
        done += " Take the logarithm of that sum plus 1e-6."
    done += write(k, level, site, _OUT, value, blends=False)
    return Title(k.name(f"mixture_{form}", f"{form}_mixture"), done)


def _single(k: KernelBuilder, form: str, x: Var, site: Site) -> tuple[Expr, str]:
    """One density for each sample; location and scale are by sample, parameters or literals."""
    shape, (phrase, density) = k.draw.shape, DISTRIBUTIONS[form]
    location = shape.weighted({"array": 3, "scalar": 3, "last": 2, "literal": 2})
    spread = shape.weighted({"array": 2, "scalar": 4, "last": 2, "literal": 2})
    point = k.let(_POINT, x[site.at]) if shape.chance(0.4) else x[site.at]
    mean, mean_text = _given(k, location, (_MEANS, _MEAN), site, point.type)
    sigma, sigma_text = _given(k, spread, (_SIGMAS, _SIGMA), site, point.type)
    if not isinstance(sigma, Var) and form in _SCALED:
        sigma = k.let((*_SIGMA, "s"), sigma)
    z = k.let(_Z, (point - mean) / sigma)
    done = f"Evaluate the {phrase} with location {mean_text} and scale {sigma_text} at {x.name}."
    return density(z, sigma), done


def _given(
    k: KernelBuilder, how: str, names: tuple[Names, Names], site: Site, type_: Type
) -> tuple[Expr, str]:
    """A quantity of each sample or of its last index, a parameter or a literal; what it is."""
    low, high = (0.5, 1.5) if names[0] is _SIGMAS else (-1.0, 1.0)
    if how == "literal":
        value = k.draw.value.choice((0.5, 0.75, 1.5, 1.25) if low > 0.0 else (0.5, -0.5, 0.25))
        return k.lift(value, type_), str(value)
    if how == "scalar":
        scalar = k.scalar(names[1], type_, low, high)
        return scalar, scalar.name
    whole = how == "array"
    dims, at = (site.dims, site.at) if whole else (site.dims[-1:], site.at[-1:])
    array = k.array(names[0], type_, dims, low=low, high=high)
    return array[at], f"{array.name}[{', '.join(index.name for index in at)}]"


def _mixture(k: KernelBuilder, level: int, form: str, x: Var, site: Site) -> tuple[Expr, str]:
    """The sum of a density over components, with their weights; perhaps the likeliest of them."""
    shape, (phrase, density) = k.draw.shape, DISTRIBUTIONS[form]
    type_ = x[site.at].type
    k.size("m", 3, 6)
    means = k.array(_MEANS, type_, "m", low=-1.0, high=1.0)
    weights = k.array(("priors", "mix"), type_, "m", low=0.2, high=1.0)
    each = shape.chance(0.5)
    scales = k.array(_SIGMAS, type_, "m", low=0.5, high=1.5) if each else None
    scale = k.scalar(_SIGMA, type_, 0.5, 1.5) if scales is None else None
    count = k.trip_count(("components", "num_components"), "m")
    point = k.let(("here", "xi", "sample"), x[site.at])
    total = k.let(("total", "acc", "mixture"), k.lift(0.0, type_))
    best = _Best.start(k, type_) if level >= 4 and shape.chance(0.5) else None
    with k.for_(("c", "comp", "j"), count) as c:
        s = scale if scales is None else k.let(("s", "width_c"), scales[c])
        assert s is not None
        z = k.let(_Z, (point - means[c]) / s)
        part: Expr = weights[c] * density(z, s)
        if best is not None:
            part = k.let(("part", "term"), part)
            best.update(k, c, part)
        k.augment(total, "add", part)
    said = scale.name if scale is not None else f"{scales.name}[c]" if scales is not None else ""
    done = f"Sum over all components c the {phrase} with location {means.name}[c] and scale {said} "
    done += f"at {x.name}, each times {weights.name}[c]."
    if best is not None:
        done += best.write(k, site)
    return total, done


@dataclass(frozen=True)
class _Best:
    """The component with the largest term so far."""

    part: Var
    index: Var

    @classmethod
    def start(cls, k: KernelBuilder, type_: Type) -> _Best:
        part = k.let(("best_part", "top"), k.lift(-1.0, type_))
        return cls(part, k.let(("best", "likeliest"), k.lift(0, INT32)))

    def update(self, k: KernelBuilder, c: Var, part: Expr) -> None:
        with k.if_(part > self.part):
            k.assign(self.part, part)
            k.assign(self.index, c)

    def write(self, k: KernelBuilder, site: Site) -> str:
        labels = k.out(("labels", "assigned", "component"), INT32, site.dims)
        k.store(labels, site.at, self.index)
        return f" {labels.name} gets the c of the largest term (the first one)."
