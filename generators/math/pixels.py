"""What is measured of a pixel's three channels."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _luma(b: BodyBuilder, r: Expr, g: Expr, blue: Expr) -> Expr:
    return b.let(("luma", "lum"), 0.2126 * r + 0.7152 * g + 0.0722 * blue)


def _extremes(b: BodyBuilder, r: Expr, g: Expr, blue: Expr) -> tuple[Expr, Expr]:
    high = b.let(("high", "cmax", "brightest"), fn("max", r, fn("max", g, blue)))
    low = b.let(("low", "cmin", "darkest"), fn("min", r, fn("min", g, blue)))
    return high, low


def _hue(b: BodyBuilder, r: Expr, g: Expr, blue: Expr) -> Expr:
    alpha = b.let(("alpha", "warm"), r - 0.5 * (g + blue))
    beta = b.let(("beta", "cool"), 0.8660254 * (g - blue))
    angle = fn("atan2", beta, alpha)
    return fn("degrees", angle) / 360.0


def _hexagonal_hue(b: BodyBuilder, r: Expr, g: Expr, blue: Expr) -> Expr:
    high, low = _extremes(b, r, g, blue)
    span = b.let(("span", "chroma"), high - low + 1.0e-6)
    hue = b.let(("hue", "sector"), 4.0 + (r - g) / span)
    with b.if_(fn("and", r >= g, r >= blue)):
        b.assign(hue, (g - blue) / span)
    with b.elif_(g >= blue):
        b.assign(hue, 2.0 + (blue - r) / span)
    return hue / 6.0


def _saturation(b: BodyBuilder, r: Expr, g: Expr, blue: Expr) -> Expr:
    high, low = _extremes(b, r, g, blue)
    return (high - low) / (high + 0.001)


def _hsl_saturation(b: BodyBuilder, r: Expr, g: Expr, blue: Expr) -> Expr:
    high, low = _extremes(b, r, g, blue)
    return (high - low) / (1.001 - fn("abs", high + low - 1.0))


def _mean_lightness(b: BodyBuilder, r: Expr, g: Expr, blue: Expr) -> Expr:
    y = _luma(b, r, g, blue)
    return 1.16 * fn("cbrt", y) - 0.16


def _a_star(b: BodyBuilder, r: Expr, g: Expr, blue: Expr) -> Expr:
    x = b.let(("x_rel", "xn"), (0.4124 * r + 0.3576 * g + 0.1805 * blue) / 0.9505)
    y = _luma(b, r, g, blue)
    return 5.0 * (fn("cbrt", x) - fn("cbrt", y))


def _vibrance(b: BodyBuilder, r: Expr, g: Expr, blue: Expr, s: Expr) -> Expr:
    y = _luma(b, r, g, blue)
    return fn("lerp", y, r, s)


def _key(b: BodyBuilder, r: Expr, g: Expr, blue: Expr, s: Expr) -> Expr:
    spill = b.let(("spill", "green_over"), g - fn("max", r, blue))
    return 1.0 - fn("smoothstep", b.lift(0.0, r.type), s, spill)


def _highlight(b: BodyBuilder, r: Expr, g: Expr, blue: Expr, s: Expr) -> Expr:
    over = b.let(("over", "excess"), fn("max", _luma(b, r, g, blue) - s, 0.0))
    return over * over / (over + 0.1)


_FLOOR = (0.02, 1.0)
_PIXEL = Family(
    item="pixel",
    inputs={
        "r": quantity("r red", "red r_plane reds", *_FLOOR),
        "g": quantity("g green", "green g_plane greens", *_FLOOR),
        "b": quantity("b blue", "blue b_plane blues", *_FLOOR),
    },
    params={"s": quantity("strength amount knee", "strengths amounts", 0.2, 0.8, 0.25, 0.5, 0.6)},
    titles="pixel_measure measure_by_kind colour_features",
    kinds="measure kinds feature",
    struct="Settings",
    records="Pixel Rgb Texel",
    grids=("i|p|tid", "y x|row col|py px", "frame y x|view y x|batch row col"),
    masks="mask matte covered",
    reductions=("mean", "largest", "rms", "sum"),
    cards=(
        by_hand(
            "luminance",
            "luma gray",
            "0.2126 * {r} + 0.7152 * {g} + 0.0722 * {b}",
            "r g b",
            lambda k, r, g, b: (
                _luma(k, r, g, b)
                if k.draw.shape.chance(0.5)
                else 0.2126 * r + 0.7152 * g + 0.0722 * b
            ),
        ),
        by_hand(
            "circular_hue",
            "hue hues",
            "atan2(sqrt(3) / 2 * ({g} - {b}), {r} - ({g} + {b}) / 2) in degrees, over 360",
            "r g b",
            _hue,
        ),
        by_hand(
            "hexagonal_hue",
            "hue hues",
            "the HSV hue over 6 (unwrapped; span max - min + 1e-6): ({g} - {b}) / span where {r} "
            "is largest, 2 + ({b} - {r}) / span where {g} is, else 4 + ({r} - {g}) / span",
            "r g b",
            _hexagonal_hue,
        ),
        by_hand(
            "hsv_saturation",
            "saturation sat",
            "(max - min) / (max + 0.001) over {r}, {g}, {b}",
            "r g b",
            _saturation,
        ),
        by_hand(
            "hsl_saturation",
            "saturation sat",
            "(max - min) / (1.001 - |max + min - 1|) over {r}, {g}, {b}",
            "r g b",
            _hsl_saturation,
        ),
        by_hand(
            "luma_lightness",
            "lightness l_star",
            "1.16 * cbrt(y) - 0.16 with y = 0.2126 * {r} + 0.7152 * {g} + 0.0722 * {b}",
            "r g b",
            _mean_lightness,
        ),
        by_hand(
            "red_green_axis",
            "a_star opponent",
            "5 * (cbrt(x) - cbrt(y)) with x = (0.4124 * {r} + 0.3576 * {g} + 0.1805 * {b}) / "
            "0.9505 and y = 0.2126 * {r} + 0.7152 * {g} + 0.0722 * {b}",
            "r g b",
            _a_star,
        ),
        by_hand(
            "blue_chroma",
            "cb chroma",
            "0.5 + ({b} - y) / 1.8556 with y = 0.2126 * {r} + 0.7152 * {g} + 0.0722 * {b}",
            "r g b",
            lambda k, r, g, b: 0.5 + (b - _luma(k, r, g, b)) / 1.8556,
        ),
        by_hand(
            "desaturate_red",
            "muted red_out",
            "{r} moved from the luma 0.2126 * {r} + 0.7152 * {g} + 0.0722 * {b} by lerp(luma, "
            "{r}, {s})",
            "r g b s",
            _vibrance,
        ),
        by_hand(
            "green_key",
            "alpha matte_out",
            "1 - smoothstep(0, {s}, {g} - max({r}, {b}))",
            "r g b s",
            _key,
        ),
        by_hand(
            "bloom_weight",
            "bloom glow",
            "v^2 / (v + 0.1), v the excess of 0.2126 * {r} + 0.7152 * {g} + 0.0722 * {b} over {s}, "
            "or 0",
            "r g b s",
            _highlight,
        ),
        by_hand(
            "rms_intensity",
            "intensity energy",
            "sqrt(({r}^2 + {g}^2 + {b}^2) / 3)",
            "r g b",
            lambda k, r, g, b: fn("sqrt", (r * r + g * g + b * b) / 3.0),
        ),
    ),
)


@idiom
def pixel_measure(k: KernelBuilder, level: int) -> Title:
    """Luma, hue, saturation and such of the three channels of a pixel."""
    return compose(k, level, _PIXEL)
