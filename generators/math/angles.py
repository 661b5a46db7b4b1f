"""Angles and directions: wrapping, differences, sectors, spherical coordinates."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _wrap(b: BodyBuilder, a: Expr) -> Expr:
    if b.draw.shape.chance(0.3):
        return fn("atan2", fn("sin", a), fn("cos", a))
    return a - 6.2831853 * fn("floor", a / 6.2831853 + 0.5)


def _difference(b: BodyBuilder, a: Expr, c: Expr) -> Expr:
    gap = b.let(("gap", "diff"), c - a)
    if b.draw.shape.chance(0.4):
        return fn("atan2", fn("sin", gap), fn("cos", gap))
    return gap - 6.2831853 * fn(b.draw.shape.choice(("rint", "round")), gap / 6.2831853)


def _compass(b: BodyBuilder, a: Expr) -> Expr:
    turns = b.let(("turns", "part"), a / 6.2831853)
    return fn("floor", 8.0 * (turns - fn("floor", turns)))


def _bisector(b: BodyBuilder, a: Expr, c: Expr) -> Expr:
    east = b.let(("cx", "sum_cos"), fn("cos", a) + fn("cos", c))
    north = b.let(("sy", "sum_sin"), fn("sin", a) + fn("sin", c))
    return fn("atan2", north, east)


def _separation(b: BodyBuilder, a: Expr, c: Expr) -> Expr:
    return fn("degrees", fn("acos", 0.999 * fn("cos", a - c)))


def _degrees_part(b: BodyBuilder, a: Expr) -> Expr:
    deg = b.let(("deg", "angle_deg"), fn("degrees", a))
    return 60.0 * fn("frac", deg) if b.draw.shape.chance(0.5) else 60.0 * (deg - fn("trunc", deg))


def _elevation(b: BodyBuilder, a: Expr, c: Expr) -> Expr:
    s = b.let(("sin_el", "s"), 0.7 * fn("sin", a) + 0.25 * fn("cos", c))
    return fn("degrees", fn("asin", s))


def _half(b: BodyBuilder, a: Expr) -> Expr:
    half = b.let(("half", "h"), 0.25 * a)
    t = b.let(("t", "tan_half"), fn("tan", half))
    return 2.0 * t / (1.0 + t * t)


def _versine(b: BodyBuilder, a: Expr) -> Expr:
    s = b.let(("s", "half_sin"), fn("sin", 0.5 * a))
    return 2.0 * s * s


def _limited(b: BodyBuilder, a: Expr, c: Expr, m: Expr) -> Expr:
    gap = b.let(("gap", "err"), c - a)
    short = b.let(("short", "turn"), gap - 6.2831853 * fn("rint", gap / 6.2831853))
    return a + fn("clamp", short, -m, m)


def _cone(b: BodyBuilder, a: Expr, c: Expr, m: Expr) -> Expr:
    b.note("a soft-edged cone around the second direction")
    cosine = b.let(("cosine", "align"), fn("cos", a - c))
    return fn("smoothstep", fn("cos", 1.5 * m), fn("cos", 0.5 * m), cosine)


def _radial(b: BodyBuilder, a: Expr, m: Expr) -> Expr:
    return m * (1.0 + 0.5 * fn("cos", 3.0 * a))


def _swing(b: BodyBuilder, a: Expr, c: Expr) -> Expr:
    s = b.let(("s", "sine"), fn("sin", a - c))
    return fn("copysign", fn("sqrt", fn("abs", s)), s)


_ANGLE = Family(
    item="direction",
    inputs={
        "a": quantity("theta a heading", "thetas headings angles", -6.0, 6.0),
        "c": quantity("phi goal ref", "phis goals bearings", -6.0, 6.0),
    },
    params={"m": quantity("limit max_turn width", "limits widths", 0.4, 1.2, 0.5, 0.8, 1.0)},
    titles="angle_by_kind angle_features steer",
    kinds="op kinds measure",
    struct="Steering",
    records="Pose Direction",
    grids=("i|tid|ray", "row col|robot step_idx|i j", "batch robot t|b i j"),
    masks="mask valid locked",
    smooth=False,
    reductions=("sum", "mean", "largest", "smallest"),
    cards=(
        by_hand("wrap_angle", "wrapped angle_out", "{a} wrapped to [-pi, pi)", "a", _wrap),
        by_hand(
            "angle_difference",
            "turn error_out",
            "{c} - {a} wrapped to [-pi, pi]",
            "a c",
            _difference,
        ),
        by_hand(
            "compass_sector",
            "sector octant",
            "floor(8 * f) with f = u - floor(u), u = {a} / (2 * pi)",
            "a",
            _compass,
        ),
        by_hand(
            "mean_direction",
            "mean_angle bisector",
            "atan2(sin({a}) + sin({c}), cos({a}) + cos({c}))",
            "a c",
            _bisector,
        ),
        by_hand(
            "separation_deg",
            "separation apart",
            "acos(0.999 * cos({a} - {c})) in degrees",
            "a c",
            _separation,
        ),
        by_hand(
            "arc_minutes",
            "minutes arcmin",
            "60 times the fraction (toward zero) of {a} in degrees",
            "a",
            _degrees_part,
        ),
        by_hand(
            "sun_elevation",
            "elevation altitude",
            "asin(0.7 * sin({a}) + 0.25 * cos({c})) in degrees",
            "a c",
            _elevation,
        ),
        by_hand(
            "half_angle_sine",
            "sine half_sine",
            "2 * t / (1 + t^2) with t = tan({a} / 4)",
            "a",
            _half,
        ),
        by_hand("versine", "versine_out chord", "2 * sin({a} / 2)^2", "a", _versine),
        by_hand(
            "limited_turn",
            "steered heading_out",
            "{a} plus ({c} - {a} wrapped to [-pi, pi]) clamped to [-{m}, {m}]",
            "a c m",
            _limited,
        ),
        by_hand(
            "soft_cone",
            "falloff spot",
            "smoothstep(cos(1.5 * {m}), cos({m} / 2), cos({a} - {c}))",
            "a c m",
            _cone,
        ),
        by_hand(
            "clover_radius",
            "radius_out rho",
            "{m} * (1 + cos(3 * {a}) / 2)",
            "a m",
            _radial,
        ),
        by_hand(
            "signed_swing",
            "swing gain_out",
            "sqrt(|sin({a} - {c})|) with the sign of the sine",
            "a c",
            lambda b, a, c: fn(
                "copysign", fn("sqrt", fn("abs", s := b.let(("s", "sine"), fn("sin", a - c)))), s
            ),
        ),
    ),
)


@idiom
def angle_arithmetic(k: KernelBuilder, level: int) -> Title:
    """Angles wrapped, compared, averaged, limited and turned to sectors."""
    return compose(k, level, _ANGLE)
