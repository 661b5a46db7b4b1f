"""Tone curves of grey images: exposure, curves, blends with another image."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, Shelf
from generators.kit.functions import exp, where
from generators.kit.outputs import deliver
from generators.kit.sites import Site, over
from generators.kit.words import say
from generators.math.cards import quantity
from generators.program.dtypes import scalar_of
from generators.program.expr import Var

_COEFFICIENTS = {
    "exposure": quantity("exposure gain", "", 0.6, 1.8, 1.5, 0.8),
    "knee": quantity("knee white_level", "", 0.5, 1.5, 1.0, 0.5),
    "rolloff": quantity("exposure rolloff", "", 1.2, 3.0, 2.0, 1.5),
    "gamma": quantity("gamma power", "", 0.5, 2.2, 2.2, 0.4545, 1.8),
    "slope": quantity("contrast slope", "", 4.0, 8.0, 6.0, 8.0),
    "spread": quantity("contrast spread", "", 0.6, 1.0, 0.8, 0.9),
    "limit": quantity("threshold level", "", 0.4, 0.6, 0.5, 0.6),
    "black": quantity("lift black", "", 0.05, 0.3, 0.05, 0.1),
    "amount": quantity("amount strength", "", 0.3, 1.0, 0.5, 0.75),
    "steps": quantity("steps", "", 8.0, 32.0, 8.0, 16.0, 32.0),
}
_PLACES = {
    "n": ("i", "tid", "px"),
    "height width": ("y x", "row col", "i j"),
    "images height width": ("n y x", "b row col"),
}
"""Names of the thread's indices, by the sizes that it counts."""
_SIZES: dict[str, tuple[tuple[int, int], ...]] = {
    "n": ((48, 96),),
    "height width": ((7, 10), (7, 11)),
    "images height width": ((3, 4), (4, 6), (4, 6)),
}
_CURVE = Shelf()
_CURVE.add("exposure", "", lambda c, exposure: exposure * c)
_CURVE.add("reinhard", "", lambda c, knee: c / (knee + c))
_CURVE.add("shoulder", "", lambda c, rolloff: 1.0 - exp(-rolloff * c))
_CURVE.add("gamma", "", lambda c, gamma: c**gamma)
_CURVE.add("sigmoid", "", lambda c, slope: 1.0 / (1.0 + exp(-slope * (c - 0.5))))
_CURVE.add("contrast", "", lambda c, spread: 0.5 + spread * (c - 0.5))
_CURVE.add("solarize", "", lambda c, limit: where(c > limit, 1.0 - c, c))
_CURVE.add("posterize", "", lambda c, steps: fn("rint", c * steps) / steps)
_CURVE.add("lift", "", lambda c, black: black + (1.0 - black) * c)
_CURVE.add("s_curve", "", lambda c, amount: c + amount * (c * c * (3.0 - 2.0 * c) - c))


@idiom(depth=2)
def tone_curve(k: KernelBuilder, level: int) -> Title:
    """A chain of tone curves on a grey image, at higher levels blended with another one."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    symbols = shape.weighted({"n": 1, "height width": 4, "images height width": 2})
    s = over(k, symbols, k.draw.word.choice(_PLACES[symbols]), _SIZES[symbols])
    image = s.read("image luma pixels gray", type_, 0.01, 1.0)
    c = k.let("c tone", image)
    count = 1 if level < 3 else shape.integer(1, 2)
    # The threshold of solarize lies in the middle of what an image holds before other curves.
    chosen = sorted(shape.sample(_CURVE.cards, count), key=lambda card: card.name != "solarize")
    steps = [_step(s, card, c) for card in chosen]
    kind = f"Tone curve ({chosen[0].name.replace('_', ' ')})" if len(chosen) == 1 else "Tone curves"
    done = f"{kind} of an image: each pixel c of {say(k, image)} becomes "
    done += f"{', then '.join(steps)}."
    if level >= 2 and shape.chance(0.2):
        other = s.read("overlay base backdrop", type_, 0.0, 1.0)
        opacity = k.scalar("opacity strength mix", type_, 0.3, 0.8)
        k.assign(c, fn("lerp", c, other, opacity))
        done += f" Move c toward {say(k, other)} by the share {opacity.name}."
    done += deliver(s, level, "out graded toned dst", c)
    alone = chosen[0].name if len(chosen) == 1 else ""
    names = (
        f"{alone} {alone}_kernel apply_{alone}" if alone else "tone_curve grade_pixels apply_curve"
    )
    return Title(k.name(names), done)


def _step(s: Site, card: Formula, c: Var) -> str:
    """Send a pixel through one curve; says which."""
    key = card.keys[1]
    ways = {"literal": 1, "shared": 6 if key != "steps" else 1}
    given = _COEFFICIENTS[key].given(s, scalar_of(c.type), **ways)
    s.k.assign(c, card.of(s.k, {"c": c, key: given}))
    return card.said({"c": "c", key: say(s.k, given)})
