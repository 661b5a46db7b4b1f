"""Pictures: transfer curves of a channel, what is measured of a pixel, and painted patterns."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import (
    PI,
    TWO_PI,
    cos,
    least,
    log,
    log2,
    log10,
    most,
    sin,
    sqrt,
    where,
)
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr

_TRANSFER = Family(
    inputs={"c": quantity("c value tone", "image channel pixels plane", 0.001, 0.5)},
    params={
        "e": quantity("exposure gain stop", "exposures gains", 0.8, 3.0, 2.0, 1.5, 0.6),
        "g": quantity("gamma power contrast", "gammas powers", 0.5, 2.2, 2.2, 1.8, 0.7),
        "w": quantity("white white_point peak", "whites peaks", 1.5, 4.0, 2.0, 4.0, 3.0),
    },
    titles="transfer_by_kind encode_pixels tone_map_image",
    kinds="transfer curve_type kinds",
    struct="Grade Display Look",
    grids=("i|tid|p", "y x|row col|py px", "frame y x|b y x|plane row col"),
    masks="mask matte covered",
    groups="view_ids shot_ids",
)


def _two_pieces(body: BodyBuilder, test: Expr, low: Expr, high: Expr) -> Expr:
    """``low`` where the test holds and ``high`` elsewhere, by ``where`` or by a branch."""
    if body.draw.shape.chance(0.5):
        return where(test, low, high)
    value = body.let("coded value curve", high)
    with body.if_(test):
        body.assign(value, low)
    return value


def _light(body: BodyBuilder, c: Expr) -> Expr:
    return body.let("light lin", c * c)


def _exposed(body: BodyBuilder, c: Expr, e: Expr) -> Expr:
    return body.let("v hdr", e * c)


@_TRANSFER.formula("linear_out decoded")
def srgb_decode(body: BodyBuilder, c: Expr) -> Expr:
    return _two_pieces(body, c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


@_TRANSFER.formula("coded video")
def hlg(body: BodyBuilder, c: Expr) -> Expr:
    high = 0.17883277 * log(12.0 * most(c, 0.08) - 0.28466892) + 0.55991073
    return _two_pieces(body, c <= 0.083333333, sqrt(3.0 * c), high)


@_TRANSFER.formula("mapped toned")
def hable(body: BodyBuilder, c: Expr, e: Expr) -> Expr:
    v = _exposed(body, c, e)
    top = body.let("top num", v * (0.15 * v + 0.05) + 0.004)
    return top / (v * (0.15 * v + 0.5) + 0.06) - 0.066666667


@_TRANSFER.formula("mapped toned")
def aces(body: BodyBuilder, c: Expr, e: Expr) -> Expr:
    v = _exposed(body, c, e)
    return v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14)


@_TRANSFER.formula("mapped toned")
def reinhard_extended(body: BodyBuilder, c: Expr, e: Expr, w: Expr) -> Expr:
    v = _exposed(body, c, e)
    return v * (1.0 + v / (w * w)) / (1.0 + v)


_TRANSFER.add("gamma_curve", "coded toned", lambda c, e, g: (e * c) ** (1.0 / g))
_TRANSFER.add("log_film", "coded density", lambda c, w: log2(1.0 + w * c) / log2(1.0 + w))
_TRANSFER.add("cineon", "coded density", lambda c, e: 0.67 + 0.28 * log10(e * c + 0.01))


@_TRANSFER.formula("graded toned")
def contrast(body: BodyBuilder, c: Expr, g: Expr) -> Expr:
    side = body.let("side offset", c / 0.18 - 1.0)
    return 0.18 + 0.18 * fn("copysign", (abs(side) + 1.0e-6) ** g, side)


@idiom(depth=DEPTH)
def colour_transfer(k: KernelBuilder, level: int) -> Title:
    """Transfer functions and tone maps of one channel."""
    return compose(k, level, _TRANSFER)


_PIXEL = Family(
    inputs={
        "r": quantity("r red", "red r_plane reds", 0.02, 1.0),
        "g": quantity("g green", "green g_plane greens", 0.02, 1.0),
        "b": quantity("b blue", "blue b_plane blues", 0.02, 1.0),
    },
    params={"s": quantity("strength amount knee", "strengths amounts", 0.2, 0.8, 0.25, 0.5, 0.6)},
    titles="pixel_measure measure_by_kind colour_features",
    kinds="measure kinds feature",
    struct="Settings",
    records="Pixel Rgb Texel",
    grids=("i|p|tid", "y x|row col|py px", "frame y x|view y x|batch row col"),
    masks="mask matte covered",
    reductions=("mean",),
    reduced="luminance luma_lightness rms_intensity",
    spatial=True,
    paired=True,
)


def _luma(body: BodyBuilder, r: Expr, g: Expr, b: Expr) -> Expr:
    return body.let("luma lum", 0.2126 * r + 0.7152 * g + 0.0722 * b)


def _extremes(body: BodyBuilder, r: Expr, g: Expr, b: Expr) -> tuple[Expr, Expr]:
    high = body.let("high cmax brightest", most(r, most(g, b)))
    return high, body.let("low cmin darkest", least(r, least(g, b)))


@_PIXEL.formula("luma gray")
def luminance(body: BodyBuilder, r: Expr, g: Expr, b: Expr) -> Expr:
    inline = body.draw.shape.chance(0.5)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b if inline else _luma(body, r, g, b)


@_PIXEL.formula("hue hues")
def circular_hue(body: BodyBuilder, r: Expr, g: Expr, b: Expr) -> Expr:
    alpha = body.let("alpha warm", r - 0.5 * (g + b))
    beta = body.let("beta cool", 0.8660254 * (g - b))
    return fn("degrees", fn("atan2", beta, alpha)) / 360.0


@_PIXEL.formula(
    "hue hues",
    "the HSV hue over 6 (unwrapped; span max - min + 1e-6): ({g} - {b}) / span where {r} is "
    "largest, 2 + ({b} - {r}) / span where {g} is, else 4 + ({r} - {g}) / span",
)
def hexagonal_hue(body: BodyBuilder, r: Expr, g: Expr, b: Expr) -> Expr:
    high, low = _extremes(body, r, g, b)
    span = body.let("span chroma", high - low + 1.0e-6)
    hue = body.let("hue sector", 4.0 + (r - g) / span)
    with body.if_(fn("and", r >= g, r >= b)):
        body.assign(hue, (g - b) / span)
    with body.elif_(g >= b):
        body.assign(hue, 2.0 + (b - r) / span)
    return hue / 6.0


@_PIXEL.formula("saturation sat")
def hsv_saturation(body: BodyBuilder, r: Expr, g: Expr, b: Expr) -> Expr:
    high, low = _extremes(body, r, g, b)
    return (high - low) / (high + 0.001)


@_PIXEL.formula("saturation sat")
def hsl_saturation(body: BodyBuilder, r: Expr, g: Expr, b: Expr) -> Expr:
    high, low = _extremes(body, r, g, b)
    return (high - low) / (1.001 - abs(high + low - 1.0))


@_PIXEL.formula("a_star opponent")
def red_green_axis(body: BodyBuilder, r: Expr, g: Expr, b: Expr) -> Expr:
    x = body.let("x_rel xn", (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505)
    return 5.0 * (fn("cbrt", x) - fn("cbrt", _luma(body, r, g, b)))


_PIXEL.add(
    "luma_lightness",
    "lightness l_star",
    lambda body, r, g, b: 1.16 * fn("cbrt", _luma(body, r, g, b)) - 0.16,
)
_PIXEL.add(
    "blue_chroma", "cb chroma", lambda body, r, g, b: 0.5 + (b - _luma(body, r, g, b)) / 1.8556
)
_PIXEL.add(
    "desaturate_red",
    "muted red_out",
    lambda body, r, g, b, s: fn("lerp", _luma(body, r, g, b), r, s),
)
_PIXEL.add("rms_intensity", "intensity energy", lambda r, g, b: sqrt((r * r + g * g + b * b) / 3.0))


@_PIXEL.formula("alpha matte_out", "1 - smoothstep(0, {s}, {g} - max({r}, {b}))")
def green_key(body: BodyBuilder, r: Expr, g: Expr, b: Expr, s: Expr) -> Expr:
    spill = body.let("spill green_over", g - most(r, b))
    return 1.0 - fn("smoothstep", body.lift(0.0, r.type), s, spill)


@_PIXEL.formula("bloom glow")
def bloom_weight(body: BodyBuilder, r: Expr, g: Expr, b: Expr, s: Expr) -> Expr:
    over = body.let("over excess", most(_luma(body, r, g, b) - s, 0.0))
    return over * over / (over + 0.1)


@idiom(depth=DEPTH)
def pixel_measure(k: KernelBuilder, level: int) -> Title:
    """Luma, hue, saturation and such of the three channels of a pixel."""
    return compose(k, level, _PIXEL)


_TEXTURE = Family(
    inputs={
        "u": quantity("u s_coord tex_u", "us u_coords tex_us", 0.01, 0.99),
        "v": quantity("v t_coord tex_v", "vs v_coords tex_vs", 0.01, 0.99),
    },
    params={
        "s": quantity("scale repeat freq", "scales repeats", 2.2, 6.4, 3.0, 4.0, 5.0, 6.0),
        "w": quantity("width soft line", "widths softs", 0.2, 0.45, 0.25, 0.3, 0.4),
    },
    titles="texture_by_kind procedural_texture paint_pattern",
    kinds="pattern kinds material",
    struct="Pattern Tiling",
    records="Texel Coord",
    grids=("i|tid|texel", "y x|row col|py px", "layer y x|face row col"),
    masks="mask painted visible",
    groups="material_ids layer_ids",
)


def _part(body: BodyBuilder, x: Expr) -> Expr:
    """The fraction of a positive number."""
    return fn("frac", x) if body.draw.shape.chance(0.35) else x - fn("floor", x)


def _parity(whole: Expr) -> Expr:
    """0 or 1; the half keeps rounding away from the jump."""
    return whole - 2.0 * fn("floor", 0.5 * (whole + 0.5))


def _off_whole(x: Expr) -> Expr:
    return x - fn("round", x)


@_TEXTURE.formula("pattern_out tone")
def checker(body: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    cells = body.let("cells tile", fn("floor", s * u) + fn("floor", s * v))
    body.note("the half keeps rounding away from the jump")
    return _parity(cells)


@_TEXTURE.formula("pattern_out bars")
def stripes(body: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    part = body.let("part pos", _part(body, s * (u + 0.5 * v)))
    chosen = where(part < w, body.lift(1.0, u.type), body.lift(0.0, u.type))
    return either(body, chosen, fn("step", part - w))


@_TEXTURE.formula(
    "pattern_out bars", "smoothstep({w} / 2, {w}, |f - 0.5|) with f the fraction of {s} * {u} + {v}"
)
def soft_stripes(body: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    part = body.let("part pos", _part(body, s * u + v))
    return fn("smoothstep", 0.5 * w, w, abs(part - 0.5))


@_TEXTURE.formula(
    "wall pattern_out",
    "(0.6 + 0.4 * o) where the fraction of {s} * {u} + o / 2 exceeds 0.2 * {w}, else 0, "
    "o = 1 for odd floor(2 * {s} * {v}), else 0",
)
def bricks(body: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    row = body.let("course layer", fn("floor", 2.0 * s * v))
    body.note("every second course is moved by half a brick")
    odd = body.let("odd parity", _parity(row))
    along = body.let("along bu", _part(body, s * u + 0.5 * odd))
    return fn("step", 0.2 * w - along) * (0.6 + 0.4 * odd)


@_TEXTURE.formula(
    "dots pattern_out",
    "1 - smoothstep({w} / 2, 1.2 * {w}, d), d the distance of ({s} * {u}, {s} * {v}) from its "
    "nearest whole point (by round)",
)
def polka_dots(body: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    du = body.let("du ox", _off_whole(s * u))
    dv = body.let("dv oy", _off_whole(s * v))
    dist = body.let("dist rad", sqrt(du * du + dv * dv))
    return 1.0 - fn("smoothstep", 0.5 * w, 1.2 * w, dist)


@_TEXTURE.formula("ring_out pattern_out")
def rings(body: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    radius = body.let("radius_uv rad", sqrt(u * u + v * v))
    return _part(body, 2.0 * s * radius)


@_TEXTURE.formula("grain wood")
def wood_grain(body: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    radius = body.let("radius_uv rad", sqrt(u * u + v * v) + 0.1 * w * sin(9.0 * u))
    ring = body.let("ring year", _part(body, s * radius))
    return ring * ring * (3.0 - 2.0 * ring)


@_TEXTURE.formula("veins marble_out")
def marble(body: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    bent = body.let("bent vein", u + w * sin(TWO_PI * v))
    return 0.5 + 0.5 * cos(PI * s * bent)


@_TEXTURE.formula("ramp pattern_out")
def pixelated_ramp(body: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    cut = body.draw.shape.choice(("trunc", "floor"))
    gu, gv = (body.let(names, fn(cut, s * x) / s) for names, x in (("gu qu", u), ("gv qv", v)))
    return gu * (1.0 - gv)


@_TEXTURE.formula("terrain heights")
def terraces(body: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    height = body.let("height field_h", 0.5 * (u * u + v))
    return fn("ceil", s * height) / s


@_TEXTURE.formula(
    "contours lines_out",
    "1 where h = 2 * {s} * {u} * {v} is nearer than {w} / 2 to a whole number, else 0",
)
def contour_lines(body: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    height = body.let("height field_h", 2.0 * s * u * v)
    near = body.let("near_line off", abs(height - fn("rint", height)))
    return fn("step", near - 0.5 * w)


@_TEXTURE.formula(
    "zigzag_out pattern_out", "the fraction of {s} * {v} + |{s} * {u} - round({s} * {u})|"
)
def zigzag(body: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    wave = body.let("wave zig", abs(_off_whole(s * u)))
    return _part(body, s * v + wave)


@idiom(depth=DEPTH)
def procedural_texture(k: KernelBuilder, level: int) -> Title:
    """Patterns of two coordinates: checks, bricks, dots, rings, contours."""
    return compose(k, level, _TEXTURE)
