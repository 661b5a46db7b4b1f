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
        "e": quantity("exposure gain", "exposures gains", 0.8, 3.0, 2.0, 1.5, 0.6),
        "g": quantity("gamma", "gammas", 0.5, 2.2, 2.2, 1.8, 0.7),
        "w": quantity("white white_point", "whites white_points", 1.5, 4.0, 2.0, 4.0, 3.0),
    },
    titles="transfer_by_kind encode_pixels tone_map_image",
    kinds="transfer curve_type kinds",
    struct="Grade Display Look",
    grids=("i|tid|p", "y x|row col|py px", "frame y x|b y x|plane row col"),
    masks="mask matte covered",
    groups="shot_ids clip_ids",
    varying="e",
    grouped_only=True,
    coded=True,
    forms={1: 3, 2: 6, 3: 1},
    sizes={2: "height width", 3: "images height width"},
    replaces=True,
    about={
        "srgb_decode": "linear light of a channel that is coded as sRGB",
        "hlg": "hybrid log-gamma signal of linear light",
        "hable": "Hable's filmic tone map",
        "aces": "Narkowicz's fit of the ACES tone map",
        "reinhard_extended": "Reinhard's tone map with a white point",
        "gamma_curve": "exposure, then gamma encoding",
        "log_film": "logarithmic tone curve from 0 to 1",
        "cineon": "Cineon log code of an exposed channel, over 1023",
        "contrast": "contrast as a power about middle grey (0.18)",
    },
)


def _two_pieces(body: BodyBuilder, test: Expr, low: Expr, high: Expr) -> Expr:
    """``low`` where the test holds and ``high`` elsewhere, by ``where`` or by a branch."""
    if body.draw.shape.chance(0.5):
        return where(test, low, high)
    value = body.let("coded value curve", high)
    with body.if_(test):
        body.assign(value, low)
    return value


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
_TRANSFER.add(
    "log_film",
    "coded toned",
    lambda c, w: log2(1.0 + w * c) / log2(1.0 + w),
    w="strength strengths",
)
_TRANSFER.add(
    "cineon",
    "coded code_value",
    lambda c, e: (685.0 + 300.0 * log10(0.9892 * e * c + 0.0108)) / 1023.0,
)


_TRANSFER.add(
    "contrast", "graded toned", lambda c, g: 0.18 * (c / 0.18) ** g, g="contrast contrasts"
)


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
    weights="",
    reductions=("mean",),
    reduced="luminance luma_lightness rms_intensity",
    coded=True,
    forms={1: 3, 2: 6, 3: 1},
    sizes={2: "height width", 3: "images height width"},
    about={
        "luminance": "relative luminance (BT.709) of each pixel",
        "circular_hue": "hue of each pixel as a share of the circle, from opponent axes",
        "hexagonal_hue": "HSV hue of each pixel, from 0 to 1",
        "hsv_saturation": "HSV saturation of each pixel (0.001 keeps black from dividing by 0)",
        "hsl_saturation": "HSL saturation of each pixel (0.001 more keeps the divisor above 0)",
        "red_green_axis": "CIELAB a* of linear RGB, without its linear part near black",
        "luma_lightness": "CIELAB L* of linear RGB",
        "blue_chroma": "blue difference Cb (BT.709) of each pixel, centred at 0.5",
        "red_chroma": "red difference Cr (BT.709) of each pixel, centred at 0.5",
        "rms_intensity": "root mean square of the three channels",
        "green_key": "matte of a green screen: 0 where green exceeds the other channels",
        "bright_pass": "luminance above a threshold, as a bloom filter starts with",
    },
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
    return fn("frac", 1.0 + fn("atan2", beta, alpha) / TWO_PI)


@_PIXEL.formula(
    "hue hues",
    "the fraction of 1 + h / 6, with h = ({g} - {b}) / span where {r} is largest, "
    "2 + ({b} - {r}) / span where {g} is, else 4 + ({r} - {g}) / span, span = max - min + 1e-6",
)
def hexagonal_hue(body: BodyBuilder, r: Expr, g: Expr, b: Expr) -> Expr:
    high, low = _extremes(body, r, g, b)
    span = body.let("span chroma", high - low + 1.0e-6)
    hue = body.let("hue sector", 4.0 + (r - g) / span)
    with body.if_(fn("and", r >= g, r >= b)):
        body.assign(hue, (g - b) / span)
    with body.elif_(g >= b):
        body.assign(hue, 2.0 + (b - r) / span)
    return fn("frac", 1.0 + hue / 6.0)


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
    return 500.0 * (fn("cbrt", x) - fn("cbrt", _luma(body, r, g, b)))


def _lightness(body: BodyBuilder, r: Expr, g: Expr, b: Expr) -> Expr:
    """CIE 1976 lightness of a luminance relative to white, linear near black."""
    y = body.let("lum rel_lum", _luma(body, r, g, b))
    return where(y > 0.008856, 116.0 * fn("cbrt", y) - 16.0, 903.3 * y)


_PIXEL.add(
    "luma_lightness",
    "lightness l_star",
    _lightness,
)
_PIXEL.add(
    "blue_chroma", "cb chroma", lambda body, r, g, b: 0.5 + (b - _luma(body, r, g, b)) / 1.8556
)
_PIXEL.add(
    "red_chroma", "cr chroma", lambda body, r, g, b: 0.5 + (r - _luma(body, r, g, b)) / 1.5748
)
_PIXEL.add("rms_intensity", "intensity energy", lambda r, g, b: sqrt((r * r + g * g + b * b) / 3.0))


@_PIXEL.formula(
    "alpha matte_out",
    "1 - smoothstep(0, {s}, {g} - max({r}, {b}))",
    s="softness softnesses",
)
def green_key(body: BodyBuilder, r: Expr, g: Expr, b: Expr, s: Expr) -> Expr:
    spill = body.let("spill green_over", g - most(r, b))
    return 1.0 - fn("smoothstep", body.lift(0.0, r.type), s, spill)


_PIXEL.add(
    "bright_pass",
    "bloom glow",
    lambda body, r, g, b, s: most(_luma(body, r, g, b) - s, 0.0),
    s="threshold thresholds",
)


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
        "s": quantity("scale repeat", "scales repeats", 2.2, 6.4, 3.0, 4.0, 5.0, 6.0),
        "w": quantity("width line_width", "widths line_widths", 0.2, 0.45, 0.25, 0.3, 0.4),
    },
    titles="texture_by_kind procedural_texture paint_pattern",
    kinds="pattern kinds material",
    struct="Pattern Tiling",
    records="Texel Coord",
    grids=("i|tid|texel", "y x|row col|py px", "layer y x|face row col"),
    masks="mask painted visible",
    groups="material_ids layer_ids",
    varying="s w",
    grouped_only=True,
    forms={1: 3, 2: 6, 3: 1},
    sizes={2: "height width", 3: "images height width"},
    about={
        "checker": "checkerboard, 0 and 1",
        "stripes": "slanted stripes, 1 inside",
        "soft_stripes": "stripes with soft edges",
        "bricks": "brick wall in running bond: 1 on a brick, 0 in the mortar",
        "polka_dots": "dots on a square lattice with soft edges",
        "rings": "rings about the origin, each a ramp from 0 to 1",
        "wood_grain": "wood grain: smooth rings about the origin, bent along u",
        "marble": "veins of marble: a cosine along u, bent by v",
        "zigzag": "zigzag bands, each a ramp from 0 to 1",
    },
)


def _part(body: BodyBuilder, x: Expr) -> Expr:
    """The fraction of a positive number."""
    if body.draw.shape.chance(0.35):
        return fn("frac", x)
    x = body.let("cycles turns", x)
    return x - fn("floor", x)


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
    "1 where the fractions of {s} * {u} + o / 2 and of 2 * {s} * {v} both exceed {w}, else 0, "
    "o = 1 for odd floor(2 * {s} * {v}), else 0",
    w="mortar mortars",
)
def bricks(body: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    row = body.let("course layer", fn("floor", 2.0 * s * v))
    body.note("every second course is moved by half a brick")
    odd = body.let("odd parity", _parity(row))
    along = body.let("along bu", _part(body, s * u + 0.5 * odd))
    up = body.let("up bv", 2.0 * s * v - row)
    return where(fn("and", along > w, up > w), body.lift(1.0, u.type), body.lift(0.0, u.type))


@_TEXTURE.formula(
    "dots pattern_out",
    "1 - smoothstep(0.9 * {w}, 1.1 * {w}, d), d the distance of ({s} * {u}, {s} * {v}) from its "
    "nearest whole point (by round)",
    w="dot_radius dot_radii",
)
def polka_dots(body: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    du = body.let("du ox", _off_whole(s * u))
    dv = body.let("dv oy", _off_whole(s * v))
    dist = body.let("dist rad", sqrt(du * du + dv * dv))
    return 1.0 - fn("smoothstep", 0.9 * w, 1.1 * w, dist)


@_TEXTURE.formula("ring_out pattern_out")
def rings(body: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    radius = body.let("radius_uv dist", sqrt(u * u + v * v))
    return _part(body, s * radius)


@_TEXTURE.formula("grain wood", w="wobble wobbles")
def wood_grain(body: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    radius = body.let("radius_uv dist", sqrt(u * u + v * v) + w * sin(TWO_PI * u))
    ring = body.let("ring", _part(body, s * radius))
    return ring * ring * (3.0 - 2.0 * ring)


@_TEXTURE.formula("veins marble_out", w="bend bends")
def marble(body: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    bent = body.let("bent vein", u + w * sin(TWO_PI * v))
    return 0.5 + 0.5 * cos(PI * s * bent)


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
