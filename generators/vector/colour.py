"""Colours as vectors: grading of images in steps, tone curves, compositing, packed pixels."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula
from generators.kit.functions import dot, least, most
from generators.kit.naming import routine
from generators.kit.outputs import deliver
from generators.kit.records import Part
from generators.kit.sites import Site, launch
from generators.kit.sources import filled, given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Var, literal
from generators.vector.shelf import VectorShelf, settings, worked_out

_LUMA = ((0.2126, 0.7152, 0.0722), (0.299, 0.587, 0.114))

_STEPS = VectorShelf(scalars="y gain sat slope blend white power edge boost")
"""Steps that replace a colour c; y is its luma."""

_MORE_COLOUR = "y + {sat} * ({c} - y)"
_STEPS.add("exposure", "c", lambda c, gain: gain * c)
_STEPS.add("balance", "c", lambda c, tint: fn("cw_mul", tint, c), "{c} times {tint} by channel")
_STEPS.add("lift", "c", lambda c, lift: c + lift)
_STEPS.add("invert", "c", lambda c: filled(c.type, 1.0) - c, "1 - {c}")
_STEPS.add("saturation", "c", lambda c, y, sat: fn("lerp", _grey(c, y), c, sat), _MORE_COLOUR)
_STEPS.add("desaturate", "c", lambda c, y, sat: _grey(c, y) + sat * (c - _grey(c, y)), _MORE_COLOUR)
_STEPS.add("reinhard", "c", lambda c, y: c / (1.0 + y))
_STEPS.add(
    "extended_reinhard", "c", lambda c, y, white: (1.0 + y / (white * white)) / (1.0 + y) * c
)
_STEPS.add("mix", "c", lambda c, layer, blend: fn("lerp", c, layer, blend))
_STEPS.add("darken", "c", lambda c, layer, blend: fn("lerp", c, least(c, layer), blend))
_STEPS.add("lighten", "c", lambda c, layer, blend: fn("lerp", c, most(c, layer), blend))
_STEPS.add("multiply", "c", lambda c, layer, blend: fn("lerp", c, fn("cw_mul", c, layer), blend))


@_STEPS.formula("c", "{slope} * ({c} - 0.5) + 0.5")
def contrast(c: Expr, slope: Expr) -> Expr:
    mid = filled(c.type, 0.5)
    return slope * (c - mid) + mid


@_STEPS.formula("c", "{c} + {blend} * (o - {c} * o) by channel, o = {layer}")
def screen(body: BodyBuilder, c: Expr, layer: Expr, blend: Expr) -> Expr:
    over = body.let("layer over", layer)
    return fn("lerp", c, c + over - fn("cw_mul", c, over), blend)


@_STEPS.formula("c", "max({c}, 0.0001)^{power} by channel")
def gamma(c: Expr, power: Expr) -> Expr:
    """A gamma curve of each channel."""
    return make(c.type, *(most(c[n], 1.0e-4) ** power for n in range(3)))


@_STEPS.formula("c", "({c} + y) / 2 where y > {edge}, else {c}")
def bright(body: BodyBuilder, c: Expr, y: Expr, edge: Expr) -> Expr:
    toned = body.let("toned kept", c)
    with body.if_(y > edge):
        body.assign(toned, 0.5 * (c + _grey(c, y)))
    return toned


@_STEPS.formula(
    "c", "y + (1 + {boost} * (1 - s)) * ({c} - y), s the largest less the least channel"
)
def vibrance(body: BodyBuilder, c: Expr, y: Expr, boost: Expr) -> Expr:
    """More saturation for dull colours than for vivid ones."""
    spread = body.let("chroma channel_range", fn("max_element", c) - fn("min_element", c))
    return _grey(c, y) + (1.0 + boost * (1.0 - spread)) * (c - _grey(c, y))


def _grey(c: Expr, y: Expr) -> Expr:
    return make(c.type, y)


_LAYERS = "overlay second_layer background"
_SOURCES = {"shared": 1}
_SETTINGS = {
    "gain": ("exposure gain", 0.6, 1.6),
    "sat": ("saturation sat_factor", 0.4, 1.6),
    "slope": ("contrast slope", 0.6, 1.5),
    "blend": ("blend opacity", 0.2, 0.8),
    "white": ("white_point white_level", 2.0, 4.0),
    "edge": ("threshold knee", 0.3, 0.4),
    "boost": ("vibrance vibrance_amount", 0.2, 0.9),
    "power": ("inv_gamma gamma_exponent", 0.4, 0.8),
}
_TASKS = {
    "exposure": ("Change the exposure of an image.", "adjust_exposure apply_gain"),
    "balance": ("White-balance an image.", "white_balance apply_tint"),
    "invert": ("Invert the colours of an image.", "invert_colors negative_image"),
    "saturation": ("Change the saturation of an image.", "adjust_saturation saturate_image"),
    "desaturate": ("Change the saturation of an image.", "adjust_saturation saturate_image"),
    "vibrance": ("Raise the saturation of dull colours.", "adjust_vibrance vibrance_filter"),
    "reinhard": ("Tone-map an image by Reinhard's operator.", "reinhard_tonemap tone_map"),
    "extended_reinhard": (
        "Tone-map an image by Reinhard's operator with a white point.",
        "reinhard_extended tone_map_white",
    ),
    "mix": ("Blend a layer over an image.", "blend_layers alpha_blend"),
    "darken": ("Blend a layer over an image in darken mode.", "blend_darken darken_layer"),
    "lighten": ("Blend a layer over an image in lighten mode.", "blend_lighten lighten_layer"),
    "multiply": ("Blend a layer over an image in multiply mode.", "blend_multiply multiply_layer"),
    "screen": ("Blend a layer over an image in screen mode.", "blend_screen screen_layer"),
    "contrast": ("Change the contrast of an image about mid grey.", "adjust_contrast contrast"),
    "gamma": ("Apply a gamma curve to an image.", "gamma_correct apply_gamma"),
}


class Grading:
    """A pixel on its way through the steps of a grading."""

    def __init__(self, k: KernelBuilder, site: Site, vec: Vec, level: int, hdr: bool) -> None:
        self.k, self.site, self.vec = k, site, vec
        # Linear light has Rec. 709's weights; those of Rec. 601 are for what is gamma-coded.
        weights = _LUMA[0] if hdr else k.draw.value.choice(_LUMA)
        row = make(vec, *(literal(w, vec.scalar) for w in weights))
        chance = 0.6 if level >= 3 else 0.0
        self.luma = routine(k, chance, "luma luminance", {"c": vec}, lambda b, c: dot(c, row))
        self.parts = settings(vec.scalar, _SOURCES, _SETTINGS) | {
            "tint": Part("white_balance tint filter_color", vec, 0.6, 1.4, forms={"shared": 1}),
            "lift": Part("lift black_level offset", vec, 0.02, 0.2, forms={"shared": 1}),
            "layer": Part(_LAYERS, vec, 0.0, 1.0, many=_LAYERS, forms={"each": 1}),
        }
        self.luma_text = f"dot(c, {weights})"

    def step(self, formula: Formula, c: Expr) -> tuple[Expr, str]:
        """The colour after a step, and the formula of it."""
        known = {"c": c}
        if "y" in formula.keys:
            known["y"] = self.k.let("y lum grey", self.luma(c))
        value, text = worked_out(self.site, 0.0, formula, known, self.parts, {"c": "c", "y": "y"})
        return value, f"{text}, y = {self.luma_text}" if "y" in formula.keys else text


_HDR = ("reinhard", "extended_reinhard", "exposure")
"""Steps that light of any strength goes through, which bytes do not hold."""


def _source(k: KernelBuilder, site: Site, vec: Vec, hdr: bool) -> tuple[Expr, str]:
    """The pixel: from an image of vectors or of bytes."""
    if hdr:
        image = site.read("hdr_image radiance_map hdr_frame", vec, 0.0, 4.0)
        return image, say(k, image)
    if k.draw.shape.chance(0.7):
        image = site.read("image pixels colors frame", vec, 0.0, 1.0)
        return image, say(k, image)
    raw = site.read("bytes_rgb pixels8 raw", Vec(3, Scalar("uint8")), 0, 255)
    value = k.let("px b8", raw)
    parts_of = (cast(value[n], vec.scalar) / 255.0 for n in range(3))
    return make(vec, *parts_of), f"{say(k, raw)} / 255"


def _extra(site: Site, g: Grading, c: Var) -> str:
    """One more output: packed bytes, the leading channel, or luma."""
    k = site.k
    form = k.draw.shape.choice(("packed", "channel", "luma"))
    if form == "packed":
        top = given(site, "white headroom", g.vec.scalar, 1.0, 1.6, forms=_SOURCES)
        scale = k.let("scale to_byte", 254.0 / (top + fn("length", c)))
        red, green, blue = (cast(scale * abs(c[n]), Scalar("uint32")) for n in range(3))
        out = site.put("packed rgb8", red << 16 | green << 8 | blue)
        rule = f"254 / ({say(k, top)} + |c|)"
        return f" {out.name} gets r << 16 | g << 8 | b, these being {rule} * |c| as whole numbers."
    if form == "channel":
        out = site.put("channels dominant", cast(fn("argmax", c), INT32))
        return f" {out.name} gets the index of the largest channel of c."
    return f" {site.put('luma_out brightness', g.luma(c)).name} gets {g.luma_text}."


@idiom(depth=1)
def colour_grading(k: KernelBuilder, level: int) -> Title:
    """Colours of images: exposure, balance, saturation, curves and blends, one after another."""
    shape = k.draw.shape
    site = launch(k, grid=1)
    vec = Vec(3, FLOAT32)
    usable = [step for step in _STEPS.cards if level > 1 or step.name not in ("bright", "lift")]
    picked = shape.sample(usable, {1: 1, 2: 2, 3: 3, 4: 4, 5: 5}[level])
    picked.sort(key=lambda step: step.name != "bright")
    hdr = any(step.name in _HDR for step in picked)
    source, name = _source(k, site, vec, hdr)
    g = Grading(k, site, vec, level, hdr)
    c = k.let("c rgb col", source)
    texts: list[str] = []
    value: Expr = c
    for n, step in enumerate(picked):
        value, text = g.step(step, c)
        texts.append(text)
        if n + 1 < len(picked) or level > 2:
            k.assign(c, value)
            value = c
    task, title = "Grade the colours of an image.", "grade_colors color_correct"
    if len(picked) == 1:
        task, title = _TASKS[picked[0].name]
    done = f"{task} With c = {name}, take {'; then with that as c take '.join(texts)}."
    done += deliver(site, level, "graded image_out colors_out", value)
    if level >= 4:
        done += _extra(site, g, c)
    return Title(k.name(title), done)
