"""Colours as vectors: grading of images in steps, tone curves, compositing, packed pixels."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot
from generators.kit.naming import routine
from generators.kit.outputs import deliver
from generators.kit.records import Part
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var, literal, op

_SOURCES = {"shared": 5, "literal": 3, "each": 1}
Step = Callable[["Grading", Expr], tuple[Expr, str]]
_LUMA = ((0.2126, 0.7152, 0.0722), (0.299, 0.587, 0.114))


class Grading:
    """A pixel on its way through the steps of a grading."""

    def __init__(self, k: KernelBuilder, site: Site, vec: Vec, level: int) -> None:
        self.k, self.site, self.vec, self.level = k, site, vec, level
        self.weights = k.draw.value.choice(_LUMA)
        self.helper = routine(
            k,
            level >= 3 and k.draw.shape.chance(0.6),
            "luma luminance",
            {"c": vec},
            lambda b, c: self._luma(c),
        )

    def _luma(self, c: Expr) -> Expr:
        return dot(c, make(self.vec, *(literal(w, self.vec.scalar) for w in self.weights)))

    def luma(self, c: Expr) -> Var:
        return self.k.let("y lum grey", self.helper(c))

    @property
    def luma_text(self) -> str:
        return f"y = dot(c, {self.weights})"

    def amount(self, names: tuple[str, ...], low: float, high: float) -> Expr:
        return given(self.site, names, self.vec.scalar, low, high, forms=_SOURCES)

    def filled(self, value: Expr) -> Expr:
        return make(self.vec, value)

    def named(self, value: Expr) -> Var:
        return self.k.let("c rgb col graded", value)


def _exposure(g: Grading, c: Expr) -> tuple[Expr, str]:
    gain = g.amount("exposure gain", 0.6, 1.6)
    return gain * c, f"{say(g.k, gain)} * c"


def _balance(g: Grading, c: Expr) -> tuple[Expr, str]:
    tint = g.k.scalar("white_balance tint filter_color", g.vec, 0.6, 1.4)
    return fn("cw_mul", tint, c), f"c times {tint.name} by channel"


def _saturation(g: Grading, c: Expr) -> tuple[Expr, str]:
    sat = g.amount("saturation vibrance", 0.4, 1.6)
    y = g.filled(g.luma(c))
    value = fn("lerp", y, c, sat) if g.k.draw.shape.chance(0.5) else y + sat * (c - y)
    return value, f"y + {say(g.k, sat)} * (c - y), {g.luma_text}"


def _contrast(g: Grading, c: Expr) -> tuple[Expr, str]:
    slope = g.amount("contrast slope", 0.6, 1.5)
    mid = g.filled(g.k.lift(0.5, g.vec.scalar))
    return slope * (c - mid) + mid, f"{say(g.k, slope)} * (c - 0.5) + 0.5"


def _invert(g: Grading, c: Expr) -> tuple[Expr, str]:
    return g.filled(g.k.lift(1.0, g.vec.scalar)) - c, "1 - c"


def _lift(g: Grading, c: Expr) -> tuple[Expr, str]:
    lift = g.k.scalar("lift black_level offset", g.vec, 0.02, 0.2)
    return c + lift, f"c + {lift.name}"


def _mix(g: Grading, c: Expr) -> tuple[Expr, str]:
    blend = g.amount("blend opacity", 0.2, 0.8)
    names = ("overlay", "second_layer", "background")
    other = g.k.array(names, g.vec, g.site.dims, low=0.0, high=1.0)
    value = other[g.site.at]
    name = say(g.k, blend)
    form = g.k.draw.shape.choice(("lerp", "multiply", "screen", "darken", "lighten"))
    if form == "lerp":
        return fn("lerp", c, value, blend), f"c + {name} * ({other.name} - c)"
    held = g.k.let("layer over", value)
    if form == "multiply":
        mixed: Expr = fn("cw_mul", c, held)
        return fn("lerp", c, mixed, blend), f"c + {name} * (c * o - c), o = {other.name}"
    if form in ("darken", "lighten"):
        pick = "min" if form == "darken" else "max"
        text = f"c + {name} * ({pick}(c, {other.name}) - c) by channel"
        return fn("lerp", c, fn(pick, c, held), blend), text
    mixed = c + held - fn("cw_mul", c, held)
    return fn("lerp", c, mixed, blend), f"c + {name} * (o - c * o), o = {other.name}"


def _reinhard(g: Grading, c: Expr) -> tuple[Expr, str]:
    white = g.amount("white_point key", 0.8, 2.0)
    y = g.luma(c)
    return c / (1.0 + abs(y) / white), f"c / (1 + |y| / {say(g.k, white)}), {g.luma_text}"


def _curve(g: Grading, c: Expr) -> tuple[Expr, str]:
    """A gamma curve of each channel."""
    gamma = g.k.draw.value.choice((2.2, 1.8, 2.4))
    if g.k.draw.shape.chance(0.5):
        power: Expr = g.k.lift(round(1.0 / gamma, 4), g.vec.scalar)
    else:
        power = g.k.scalar("inv_gamma power", g.vec.scalar, 0.4, 0.8)
    parts = [fn("pow", abs(c[n]) + 0.01, power) for n in range(g.vec.size)]
    return make(g.vec, *parts), f"(|c| + 0.01) ^ {say(g.k, power)} by channel"


def _desaturate_bright(g: Grading, c: Expr) -> tuple[Expr, str]:
    edge = g.amount("threshold knee", 0.3, 0.4)
    y = g.luma(c)
    with g.k.if_(y > edge):
        kept: Expr = g.filled(y)
        g.k.assign(_var(c), 0.5 * (c + kept))
    return c, f"(c + y) / 2 where y > {say(g.k, edge)}, {g.luma_text}"


def _chroma(g: Grading, c: Expr) -> tuple[Expr, str]:
    boost = g.amount("chroma_boost spread", 0.2, 0.9)
    chroma = g.k.let("chroma range_rgb", fn("max_element", c) - fn("min_element", c))
    return (1.0 + boost * chroma) * c, f"(1 + {say(g.k, boost)} * (max - min channel of c)) * c"


def _var(c: Expr) -> Var:
    assert isinstance(c, Var)
    return c


STEPS: dict[str, Step] = {
    "exposure": _exposure,
    "balance": _balance,
    "saturation": _saturation,
    "contrast": _contrast,
    "invert": _invert,
    "lift": _lift,
    "mix": _mix,
    "reinhard": _reinhard,
    "curve": _curve,
    "bright": _desaturate_bright,
    "chroma": _chroma,
}


def _source(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[Expr, str]:
    """The pixel: from an image of vectors, of structs with alpha, or of bytes."""
    form = k.draw.shape.weighted({"image": 5, "struct": 4, "bytes": 2 if level > 1 else 1})
    if form == "image":
        image = site.array("image pixels colors frame", vec, 0.0, 1.0)
        return image[site.at], image.name
    if form == "struct":
        parts = [
            Part("color rgb_in radiance", vec, 0.0, 1.0),
            Part("alpha coverage weight", vec.scalar, 0.1, 1.0),
        ]
        struct, fields = struct_of(k, k.draw.word.choice(("Pixel", "Texel", "Splat")), parts)
        pixels = site.array("pixels texels layer", struct, fields=fields)
        pixel = k.let("px pixel texel", pixels[site.at])
        color, alpha = (field(pixel, f.name) for f in fields)
        return alpha * color, f"{fields[1].name} * {fields[0].name}"
    byte = Vec(3, Scalar("uint8"))
    raw = site.array("bytes_rgb pixels8 raw", byte, 0, 255)
    value = k.let("px b8", raw[site.at])
    parts_of = [cast(value[n], vec.scalar) / 255.0 for n in range(3)]
    return make(vec, *parts_of), f"{raw.name} / 255"


def _extra(k: KernelBuilder, site: Site, g: Grading, c: Var) -> str:
    """One more output: packed bytes, the leading channel, luma, or a flag."""
    form = k.draw.shape.choice(("packed", "channel", "luma"))
    if form == "packed":
        unsigned = Scalar("uint32")
        top = g.amount("white headroom", 1.0, 1.6)
        scale = k.let("scale to_byte", 254.0 / (top + fn("length", c)))
        whole = [cast(scale * abs(c[n]), unsigned) for n in range(3)]
        packed = op("bit_or", op("bit_or", whole[0] << 16, whole[1] << 8), whole[2])
        out = site.put("packed rgb8", packed)
        rule = f"254 / ({say(k, top)} + |c|)"
        return f" {out.name} gets r << 16 | g << 8 | b, these being {rule} * |c| as whole numbers."
    if form == "channel":
        out = site.put("channels dominant", cast(fn("argmax", c), INT32))
        return f" {out.name} gets the index of the largest channel of c."
    out = site.put("luma_out brightness", g.helper(c))
    return f" {out.name} gets {g.luma_text[4:]}."


@idiom
def colour_grading(k: KernelBuilder, level: int) -> Title:
    """Colours of images: exposure, balance, saturation, curves and blends, one after another."""
    shape = k.draw.shape
    site = launch(k, grid=5, cube=1)
    vec = Vec(3, Scalar(shape.weighted({"float32": 8, "float64": 2})))
    source, name = _source(k, level, site, vec)
    g = Grading(k, site, vec, level)
    c = g.named(source)
    names = (
        sorted(STEPS) if level > 1 else [s for s in sorted(STEPS) if s not in ("bright", "lift")]
    )
    picked = shape.sample(names, {1: 1, 2: 2, 3: 3, 4: 4, 5: 5}[level])
    picked.sort(key=lambda step: step != "bright")
    texts = []
    for n, step in enumerate(picked):
        value, text = STEPS[step](g, c)
        texts.append(text)
        if value is not c:
            if n + 1 == len(picked) and level <= 2:
                break
            k.assign(c, value)
            value = c
    done = f"Start with c = {name}. Replace c by {'; then c by '.join(texts)}."
    done += deliver(site, level, "graded out image_out", value)
    if level >= 4:
        done += _extra(k, site, g, c)
    return Title(k.name("grade_colors color_correct process_pixels"), done)
