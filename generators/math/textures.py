"""Procedural textures: stripes, checks, bricks, rings and contours over a plane."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _part(b: BodyBuilder, x: Expr) -> Expr:
    """The fraction of a positive number."""
    return fn("frac", x) if b.draw.shape.chance(0.35) else x - fn("floor", x)


def _checker(b: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    cells = b.let(("cells", "tile"), fn("floor", s * u) + fn("floor", s * v))
    b.note("the half keeps rounding away from the jump")
    return cells - 2.0 * fn("floor", 0.5 * (cells + 0.5))


def _stripes(b: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    part = b.let(("part", "pos"), _part(b, s * (u + 0.5 * v)))
    one, none = b.lift(1.0, u.type), b.lift(0.0, u.type)
    return either(b, fn("step", part - w), fn("where", part < w, one, none))


def _soft_stripes(b: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    part = b.let(("part", "pos"), _part(b, s * u + v))
    return fn("smoothstep", 0.5 * w, w, fn("abs", part - 0.5))


def _bricks(b: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    row = b.let(("course", "layer"), fn("floor", 2.0 * s * v))
    b.note("every second course is moved by half a brick")
    odd = b.let(("odd", "parity"), row - 2.0 * fn("floor", 0.5 * (row + 0.5)))
    along = b.let(("along", "bu"), _part(b, s * u + 0.5 * odd))
    return fn("step", 0.2 * w - along) * (0.6 + 0.4 * odd)


def _dots(b: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    du = b.let(("du", "ox"), s * u - fn("round", s * u))
    dv = b.let(("dv", "oy"), s * v - fn("round", s * v))
    dist = b.let(("dist", "rad"), fn("sqrt", du * du + dv * dv))
    return 1.0 - fn("smoothstep", 0.5 * w, 1.2 * w, dist)


def _rings(b: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    radius = b.let(("radius_uv", "rad"), fn("sqrt", u * u + v * v))
    return _part(b, 2.0 * s * radius)


def _wood(b: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    radius = b.let(("radius_uv", "rad"), fn("sqrt", u * u + v * v) + 0.1 * w * fn("sin", 9.0 * u))
    ring = b.let(("ring", "year"), _part(b, s * radius))
    return ring * ring * (3.0 - 2.0 * ring)


def _marble(b: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    bent = b.let(("bent", "vein"), u + w * fn("sin", 6.2831853 * v))
    return 0.5 + 0.5 * fn("cos", 3.1415927 * s * bent)


def _pixelated(b: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    cut = b.draw.shape.choice(("trunc", "floor"))
    gu = b.let(("gu", "qu"), fn(cut, s * u) / s)
    gv = b.let(("gv", "qv"), fn(cut, s * v) / s)
    return gu * (1.0 - gv)


def _terraces(b: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    height = b.let(("height", "field_h"), 0.5 * (u * u + v))
    return fn("ceil", s * height) / s


def _contours(b: BodyBuilder, u: Expr, v: Expr, s: Expr, w: Expr) -> Expr:
    height = b.let(("height", "field_h"), 2.0 * s * u * v)
    near = b.let(("near_line", "off"), fn("abs", height - fn("rint", height)))
    return fn("step", near - 0.5 * w)


def _zigzag(b: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    wave = b.let(("wave", "zig"), fn("abs", s * u - fn("round", s * u)))
    return _part(b, s * v + wave)


def _star(b: BodyBuilder, u: Expr, v: Expr, s: Expr) -> Expr:
    angle = b.let(("angle", "phi"), fn("atan2", v - 0.5, u - 0.5))
    ray = b.let(("ray", "sector"), fn("ceil", s * angle))
    return fn("copysign", fn("abs", fn("sin", ray)), angle)


_TEXTURE = Family(
    item="texel",
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
    reductions=("sum", "mean", "largest"),
    smooth=False,
    cards=(
        by_hand(
            "checker",
            "pattern_out tone",
            "the parity c - 2 * floor((c + 0.5) / 2) of c = floor({s} * {u}) + floor({s} * {v})",
            "u v s",
            _checker,
        ),
        by_hand(
            "stripes",
            "pattern_out bars",
            "1 where the fraction of {s} * ({u} + {v} / 2) is below {w}, else 0",
            "u v s w",
            _stripes,
        ),
        by_hand(
            "soft_stripes",
            "pattern_out bars",
            "smoothstep({w} / 2, {w}, |f - 0.5|) with f the fraction of {s} * {u} + {v}",
            "u v s w",
            _soft_stripes,
        ),
        by_hand(
            "bricks",
            "wall pattern_out",
            "(0.6 + 0.4 * o) where the fraction of {s} * {u} + o / 2 exceeds 0.2 * {w}, else 0, "
            "o = 1 for odd floor(2 * {s} * {v}), else 0",
            "u v s w",
            _bricks,
        ),
        by_hand(
            "polka_dots",
            "dots pattern_out",
            "1 - smoothstep({w} / 2, 1.2 * {w}, d), d the distance of ({s} * {u}, {s} * {v}) "
            "from its nearest whole point (by round)",
            "u v s w",
            _dots,
        ),
        by_hand(
            "rings",
            "ring_out pattern_out",
            "the fraction of 2 * {s} * sqrt({u}^2 + {v}^2)",
            "u v s",
            _rings,
        ),
        by_hand(
            "wood_grain",
            "grain wood",
            "f^2 * (3 - 2 * f), f the fraction of {s} * (sqrt({u}^2 + {v}^2) + 0.1 * {w} * sin(9 "
            "* {u}))",
            "u v s w",
            _wood,
        ),
        by_hand(
            "marble",
            "veins marble_out",
            "(1 + cos(pi * {s} * ({u} + {w} * sin(2 * pi * {v})))) / 2",
            "u v s w",
            _marble,
        ),
        by_hand(
            "pixelated_ramp",
            "ramp pattern_out",
            "g({u}) * (1 - g({v})) with g(c) = trunc({s} * c) / {s}",
            "u v s",
            _pixelated,
        ),
        by_hand(
            "terraces",
            "terrain heights",
            "ceil({s} * h) / {s} with h = ({u}^2 + {v}) / 2",
            "u v s",
            _terraces,
        ),
        by_hand(
            "contour_lines",
            "contours lines_out",
            "1 where h = 2 * {s} * {u} * {v} is nearer than {w} / 2 to a whole number, else 0",
            "u v s w",
            _contours,
        ),
        by_hand(
            "zigzag",
            "zigzag_out pattern_out",
            "the fraction of {s} * {v} + |{s} * {u} - round({s} * {u})|",
            "u v s",
            _zigzag,
        ),
        by_hand(
            "star_rays",
            "rays star",
            "|sin(ceil({s} * a))| with the sign of a = atan2({v} - 0.5, {u} - 0.5)",
            "u v s",
            _star,
        ),
    ),
)


@idiom
def procedural_texture(k: KernelBuilder, level: int) -> Title:
    """Patterns of two coordinates: checks, bricks, dots, rings, contours."""
    return compose(k, level, _TEXTURE)
