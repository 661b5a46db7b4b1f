"""Colour: transfer curves of a channel, and what is measured of a whole pixel."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _two_pieces(b: BodyBuilder, test: Expr, low: Expr, high: Expr) -> Expr:
    """``low`` where the test holds and ``high`` elsewhere, by ``where`` or by a branch."""
    if b.draw.shape.chance(0.5):
        return fn("where", test, low, high)
    value = b.let(("coded", "value", "curve"), high)
    with b.if_(test):
        b.assign(value, low)
    return value


def _decode(b: BodyBuilder, c: Expr) -> Expr:
    high = fn("pow", (c + 0.055) / 1.055, b.lift(2.4, c.type))
    return _two_pieces(b, c <= 0.04045, c / 12.92, high)


def _encode(b: BodyBuilder, c: Expr) -> Expr:
    high = 1.055 * fn("pow", c, b.lift(0.41666667, c.type)) - 0.055
    return _two_pieces(b, c <= 0.0031308, 12.92 * c, high)


def _rec709(b: BodyBuilder, c: Expr) -> Expr:
    high = 1.099 * fn("pow", c, b.lift(0.45, c.type)) - 0.099
    return _two_pieces(b, c < 0.018, 4.5 * c, high)


def _hable(b: BodyBuilder, c: Expr, e: Expr) -> Expr:
    v = b.let(("v", "hdr"), e * c)
    top = b.let(("top", "num"), v * (0.15 * v + 0.05) + 0.004)
    return top / (v * (0.15 * v + 0.5) + 0.06) - 0.066666667


def _aces(b: BodyBuilder, c: Expr, e: Expr) -> Expr:
    v = b.let(("v", "hdr"), e * c)
    return v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14)


def _reinhard(b: BodyBuilder, c: Expr, e: Expr, w: Expr) -> Expr:
    v = b.let(("v", "hdr"), e * c)
    return v * (1.0 + v / (w * w)) / (1.0 + v)


def _lightness(b: BodyBuilder, c: Expr) -> Expr:
    return _two_pieces(b, c > 0.008856, 1.16 * fn("cbrt", c) - 0.16, 9.033 * c)


def _hlg(b: BodyBuilder, c: Expr) -> Expr:
    high = 0.17883277 * fn("log", 12.0 * fn("max", c, 0.08) - 0.28466892) + 0.55991073
    return _two_pieces(b, c <= 0.083333333, fn("sqrt", 3.0 * c), high)


def _contrast(b: BodyBuilder, c: Expr, g: Expr) -> Expr:
    side = b.let(("side", "offset"), c / 0.18 - 1.0)
    return 0.18 + 0.18 * fn("copysign", fn("pow", fn("abs", side) + 1.0e-6, g), side)


def _levels(b: BodyBuilder, c: Expr, g: Expr, w: Expr) -> Expr:
    black = b.let(("black", "floor_level"), 0.05 * w)
    v = b.let(("v", "scaled"), fn("clamp", (c - black) / (0.4 - black), 0.001, 1.0))
    return fn("pow", v, 1.0 / g)


_TRANSFER = Family(
    item="channel",
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
    reductions=("mean", "largest", "smallest", "rms"),
    cards=(
        by_hand(
            "srgb_decode",
            "linear_out decoded",
            "{c} / 12.92 where {c} <= 0.04045, else (({c} + 0.055) / 1.055)^2.4",
            "c",
            _decode,
        ),
        by_hand(
            "srgb_encode",
            "srgb encoded",
            "12.92 * l where l <= 0.0031308, else 1.055 * l^(1/2.4) - 0.055, with l = {c}^2",
            "c",
            lambda b, c: _encode(b, b.let(("light", "lin"), c * c)),
        ),
        by_hand(
            "rec709_encode",
            "coded video",
            "4.5 * l where l < 0.018, else 1.099 * l^0.45 - 0.099, with l = {c}^2",
            "c",
            lambda b, c: _rec709(b, b.let(("light", "lin"), c * c)),
        ),
        by_hand(
            "hable",
            "mapped toned",
            "(v * (0.15 * v + 0.05) + 0.004) / (v * (0.15 * v + 0.5) + 0.06) - 1/15, v = {e} * {c}",
            "c e",
            _hable,
        ),
        by_hand(
            "aces",
            "mapped toned",
            "v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14) with v = {e} * {c}",
            "c e",
            _aces,
        ),
        by_hand(
            "reinhard_extended",
            "mapped toned",
            "v * (1 + v / {w}^2) / (1 + v) with v = {e} * {c}",
            "c e w",
            _reinhard,
        ),
        by_hand(
            "cie_lightness",
            "lightness l_star",
            "the CIE lightness over 100 of l = {c}^2: 1.16 * cbrt(l) - 0.16 above 0.008856, else "
            "9.033 * l",
            "c",
            lambda b, c: _lightness(b, b.let(("light", "lin"), c * c)),
        ),
        by_hand(
            "hlg",
            "coded video",
            "sqrt(3 * {c}) where {c} <= 1/12, else 0.17883277 * log(12 * max({c}, 0.08) - "
            "0.28466892) + 0.55991073",
            "c",
            _hlg,
        ),
        by_hand(
            "gamma_curve",
            "coded toned",
            "({e} * {c})^(1 / {g})",
            "c e g",
            lambda b, c, e, g: fn("pow", e * c, 1.0 / g),
        ),
        by_hand(
            "log_film",
            "coded density",
            "log2(1 + {w} * {c}) / log2(1 + {w})",
            "c w",
            lambda b, c, w: fn("log2", 1.0 + w * c) / fn("log2", 1.0 + w),
        ),
        by_hand(
            "cineon",
            "coded density",
            "0.67 + 0.28 * log10({e} * {c} + 0.01)",
            "c e",
            lambda b, c, e: 0.67 + 0.28 * fn("log10", e * c + 0.01),
        ),
        by_hand(
            "contrast",
            "graded toned",
            "0.18 + 0.18 * (|s| + 1e-6)^{g}, the power with the sign of s = {c} / 0.18 - 1",
            "c g",
            _contrast,
        ),
        by_hand(
            "levels",
            "graded toned",
            "v^(1 / {g}), v = ({c} - k) / (0.4 - k) clamped to [0.001, 1], k = 0.05 * {w}",
            "c g w",
            _levels,
        ),
        by_hand(
            "posterize",
            "graded bands",
            "{c} rounded to the nearest multiple of 1 / n with n = 6 * {w}",
            "c w",
            lambda b, c, w: fn("round", c * (n := b.let(("bands", "steps"), 6.0 * w))) / n,
        ),
    ),
)


@idiom
def colour_transfer(k: KernelBuilder, level: int) -> Title:
    """Transfer functions and tone maps of one channel."""
    return compose(k, level, _TRANSFER)
