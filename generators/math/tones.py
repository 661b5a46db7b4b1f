"""Tone curves of grey images: exposure, curves, blends with another image."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.endings import elements, write
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Operand, Var


class Curve(NamedTuple):
    """What becomes of a pixel c: the text, the coefficient's names, usual values and range, and
    the formula."""

    text: str
    names: str
    usual: tuple[float, ...]
    bounds: tuple[float, float]
    build: Callable[[Expr, Operand], Expr]


_CURVES: dict[str, Curve] = {
    "exposure": Curve("{0} * c", "exposure gain", (1.5, 0.8), (0.6, 1.8), lambda c, a: a * c),
    "reinhard": Curve("c / ({0} + c)", "knee", (1.0, 0.5), (0.5, 1.5), lambda c, a: c / (a + c)),
    "shoulder": Curve(
        "1 - exp(-{0} * c)",
        "exposure rolloff",
        (2.0, 1.5),
        (1.2, 3.0),
        lambda c, a: 1.0 - fn("exp", -a * c),
    ),
    "gamma": Curve(
        "(c + 0.01) to the power {0}",
        "gamma power",
        (2.2, 0.4545, 1.8),
        (0.5, 2.2),
        lambda c, a: fn("pow", c + 0.01, a),
    ),
    "sigmoid": Curve(
        "1 / (1 + exp(-{0} * (c - 0.5)))",
        "contrast slope",
        (6.0, 8.0),
        (4.0, 8.0),
        lambda c, a: 1.0 / (1.0 + fn("exp", -a * (c - 0.5))),
    ),
    "contrast": Curve(
        "0.5 + {0} * (c - 0.5)",
        "contrast",
        (0.8, 0.9),
        (0.6, 1.0),
        lambda c, a: 0.5 + a * (c - 0.5),
    ),
    "solarize": Curve(
        "1 - c where c > {0}",
        "threshold level",
        (0.5, 0.6),
        (0.4, 0.6),
        lambda c, a: fn("where", c > a, 1.0 - c, c),
    ),
    "posterize": Curve(
        "c rounded to the nearest 1 / {0}",
        "",
        (8.0, 16.0, 32.0),
        (8.0, 32.0),
        lambda c, a: fn("rint", c * a) / a,
    ),
    "lift": Curve(
        "{0} + (1 - {0}) * c",
        "lift black",
        (0.05, 0.1),
        (0.05, 0.3),
        lambda c, a: a + (1.0 - a) * c,
    ),
    "s_curve": Curve(
        "c + {0} * (c * c * (3 - 2 * c) - c)",
        "amount strength",
        (0.5, 1.0),
        (0.3, 1.0),
        lambda c, a: c + a * (c * c * (3.0 - 2.0 * c) - c),
    ),
}


@idiom
def tone_curve(k: KernelBuilder, level: int) -> Title:
    """A chain of tone curves on a grey image, at higher levels blended with another one."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    site = elements(k, {1: 2, 2: 4, 3: 2})
    names = ("image", "luma", "pixels", "gray")
    image = k.array(names, type_, site.dims, low=0.0, high=1.0)
    c = k.let(("c", "tone", "luminance"), image[site.at])
    count = shape.integer(1, 2) if level < 3 else (level + 2) // 2
    # The threshold of solarize lies in the middle of what an image holds before other curves.
    forms = sorted(shape.sample(sorted(_CURVES), count), key=lambda form: form != "solarize")
    steps = [_step(k, form, c, type_) for form in forms]
    done = f"Replace each pixel c of {image.name} by {', then c by '.join(steps)}."
    if level >= 2 and shape.chance(0.5):
        other = k.array(("overlay", "base", "backdrop"), type_, site.dims, low=0.0, high=1.0)
        opacity = k.scalar(("opacity", "strength", "mix"), type_, 0.3, 0.8)
        k.assign(c, fn("lerp", c, other[site.at], opacity))
        done += f" Move c toward {other.name} by the share {opacity.name}."
    done += write(k, level, site, ("out", "graded", "toned", "dst"), c)
    name = k.name("tone_curve", "grade_pixels", "apply_curve", "tone_map")
    return Title(name, done)


def _step(k: KernelBuilder, form: str, c: Var, type_: Scalar) -> str:
    """Send a pixel through one curve; says which."""
    curve = _CURVES[form]
    if not curve.names or k.draw.shape.chance(0.4):
        usual = k.draw.value.choice(curve.usual)
        k.assign(c, curve.build(c, usual if form != "lift" else k.lift(usual, type_)))
        return curve.text.format(f"{usual:g}")
    names = [name for name in curve.names.split() if name not in k.used] or [f"{form}_amount"]
    given = k.scalar(names, type_, *curve.bounds)
    k.assign(c, curve.build(c, given))
    return curve.text.format(given.name)
