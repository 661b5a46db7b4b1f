"""Probability: densities and distribution functions, alone or summed over components."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, formulas
from generators.kit.functions import HALF_PI, ROOT_HALF, atan, cosh, erf, exp, log
from generators.kit.naming import held, maybe
from generators.kit.outputs import deliver
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.math.cards import quantity
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr

_DISTRIBUTIONS = formulas(
    normal_pdf=lambda z, scale: 0.39894228 / scale * exp(-0.5 * z * z),
    normal_logpdf=lambda z, scale: -0.5 * z * z - log(2.5066283 * scale),
    normal_cdf=lambda z: 0.5 * (1.0 + erf(z * ROOT_HALF)),
    normal_tail=lambda z: 0.5 * fn("erfc", z * ROOT_HALF),
    logistic_cdf=lambda z: 1.0 / (1.0 + exp(-z)),
    laplace_logpdf=lambda z, scale: -abs(z) - log(2.0 * scale),
    cauchy_pdf=lambda z, scale: 0.31830989 / (scale * (1.0 + z * z)),
    cauchy_cdf=lambda z: 0.5 + 0.31830989 * atan(z),
    gumbel_cdf=lambda z: exp(-exp(-z)),
    sech_pdf=lambda z, scale: 0.5 / (scale * cosh(HALF_PI * z)),
)
_MEAN = quantity("mu mean center", "means centers locations", -1.0, 1.0, 0.5, -0.5, 0.25)
_SIGMA = quantity("sigma width spread", "sigmas widths spreads", 0.5, 1.5, 0.5, 0.75, 1.5, 1.25)
_Z = "z standardized u"
_OUT = "out values likelihood result"


@idiom
def distribution(k: KernelBuilder, level: int) -> Title:
    """A density or distribution function, at higher levels summed over mixture components."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    if level < 3:
        s = launch(k, list=5, grid=4, cube=1)
        card = shape.choice(_DISTRIBUTIONS)
        value, done = _single(s, card, s.read("x samples observations points", type_, -2.0, 2.0))
        done += deliver(s, level, _OUT, value, blends=False)
        return Title(k.name(f"eval_{card.name}", f"{card.name}_at_points"), done)
    k.size("m", 3, 6)
    s = launch(k, list=6, grid=3, inner="m")
    card = shape.choice([card for card in _DISTRIBUTIONS if "log" not in card.name[-6:]])
    value, done = _mixture(s, level, card, type_)
    if shape.chance(0.4):
        value = log(value + 1.0e-6)
        done += " Take the logarithm of that sum plus 1e-6."
    done += deliver(s, level, _OUT, value, blends=False)
    return Title(k.name(f"mixture_{card.name}", f"{card.name}_mixture"), done)


def _told(card: Formula, scale: str) -> str:
    """What is evaluated, in words and as a formula of z."""
    return f"{card.name.replace('_', ' ')}, {card.said({'z': 'z', 'scale': scale})},"


def _single(s: Site, card: Formula, sample: Expr) -> tuple[Expr, str]:
    """One density for each sample; location and scale are by sample, parameters or literals."""
    k, type_ = s.k, sample.type
    assert isinstance(type_, Scalar)
    point = maybe(k, "xi sample point obs", sample, 0.4)
    mean = _MEAN.given(s, type_, each=3, shared=3, last=2, literal=2)
    scale = _SIGMA.given(s, type_, each=2, shared=4, last=2, literal=2)
    done = f"Evaluate the {_told(card, say(k, scale))} "
    done += f"at z = ({say(k, sample - mean)}) / {say(k, scale)}."
    if "scale" in card.keys:
        scale = held(k, "sigma width spread s", scale)
    z = k.let(_Z, (point - mean) / scale)
    return card.of(k, {"z": z, "scale": scale}), done


def _mixture(s: Site, level: int, card: Formula, type_: Scalar) -> tuple[Expr, str]:
    """The sum of a density over components, with their weights; perhaps the likeliest of them."""
    k, last = s.k, (s.rank,)
    sample = s.read("x samples observations points", type_, -2.0, 2.0)
    scale = None if k.draw.shape.chance(0.5) else k.scalar(_SIGMA.names, type_, 0.5, 1.5)
    point = k.let("here xi sample", sample)
    total = k.let("total acc mixture", k.lift(0.0, type_))
    best = None
    if level >= 4 and k.draw.shape.chance(0.5):
        top = k.let("best_part top", k.lift(-1.0, type_))
        best = k.let("best likeliest", k.lift(0, INT32))
    with s.loop("c comp j", "components num_components") as one:
        mean = one.read(_MEAN.arrays, type_, -1.0, 1.0, axes=last)
        weight = one.read("priors mix", type_, 0.2, 1.0, axes=last)
        component = say(k, one.at[-1])
        width = scale or k.let("s width_c", one.read(_SIGMA.arrays, type_, 0.5, 1.5, axes=last))
        done = f"Sum over all components {component} the {_told(card, say(k, width))} at z = "
        done += f"({say(k, sample - mean)}) / {say(k, width)}, each times {say(k, weight)}."
        z = k.let(_Z, (point - mean) / width)
        part: Expr = weight * card.of(k, {"z": z, "scale": width})
        if best is not None:
            part = k.let("part term", part)
            with k.if_(part > top):
                k.assign(top, part)
                k.assign(best, one.at[-1])
        k.augment(total, "add", part)
    if best is not None:
        labels = s.put("labels assigned component", best).name
        done += f" {labels} gets the {component} of the largest term (the first one)."
    return total, done
