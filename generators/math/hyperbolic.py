"""Hyperbolic functions: cables, waves, magnets, grids, heat."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _catenary(b: BodyBuilder, x: Expr, a: Expr) -> Expr:
    return a * (fn("cosh", x / a) - 1.0)


def _langevin(b: BodyBuilder, x: Expr, a: Expr) -> Expr:
    y = b.let(("y", "field_ratio"), x / a + 0.2)
    return fn("cosh", y) / fn("sinh", y) - 1.0 / y


def _brillouin(b: BodyBuilder, x: Expr, a: Expr) -> Expr:
    return 2.0 * fn("tanh", 2.0 * a * x) - fn("tanh", a * x)


def _acosh(b: BodyBuilder, x: Expr) -> Expr:
    t = b.let(("t", "ratio"), 1.1 + x)
    return fn("log", t + fn("sqrt", t * t - 1.0))


def _soliton(b: BodyBuilder, x: Expr, a: Expr) -> Expr:
    c = b.let(("c", "wall"), fn("cosh", fn("sqrt", a) * (x - 1.0)))
    return a / (c * c)


def _stretched(b: BodyBuilder, x: Expr, a: Expr) -> Expr:
    return either(
        b,
        fn("sinh", a * x) / fn("sinh", 2.0 * a),
        0.5 * (fn("exp", a * x) - fn("exp", -a * x)) / fn("sinh", 2.0 * a),
    )


def _fin(b: BodyBuilder, x: Expr, a: Expr) -> Expr:
    m = b.let(("ml", "m_len"), a * (x + 0.1))
    return fn("tanh", m) / m


def _tip(b: BodyBuilder, x: Expr, a: Expr, h: Expr) -> Expr:
    return fn("cosh", a * (2.0 - x)) / fn("cosh", 2.0 * a) + h * fn("sinh", a * x)


_HYPERBOLIC = Family(
    item="station",
    inputs={"x": quantity("x pos s", "x positions stations", 0.05, 1.95)},
    params={
        "a": quantity("a stiff scale", "a_values scales stiffs", 0.6, 1.6, 0.75, 1.0, 1.5),
        "h": quantity("depth h bias", "depths biases", 0.2, 1.2, 0.25, 0.5, 1.0),
    },
    titles="hyperbolic_profile profile_by_kind shape_profile",
    kinds="profile kinds shape_id",
    struct="Cable Medium Fin",
    grids=("i|tid|node", "line node|row col|i j", "case line node|b i j"),
    parts="modes mode q",
    weights="weights loads",
    masks="mask wet active",
    reductions=("sum", "mean", "largest", "smallest"),
    cards=(
        by_hand("catenary", "height sag", "{a} * (cosh({x} / {a}) - 1)", "x a", _catenary),
        by_hand(
            "cable_length",
            "arc length_out",
            "{a} * sinh({x} / {a})",
            "x a",
            lambda b, x, a: a * fn("sinh", x / a),
        ),
        by_hand(
            "langevin",
            "moment magnet",
            "cosh(y) / sinh(y) - 1 / y, y = {x} / {a} + 0.2",
            "x a",
            _langevin,
        ),
        by_hand(
            "spin_one",
            "moment magnet",
            "2 * tanh(2 * {a} * {x}) - tanh({a} * {x})",
            "x a",
            _brillouin,
        ),
        by_hand(
            "gudermannian",
            "latitude angle_out",
            "2 * atan(tanh({a} * {x} / 2))",
            "x a",
            lambda b, x, a: either(
                b, 2.0 * fn("atan", fn("tanh", 0.5 * a * x)), fn("atan", fn("sinh", a * x))
            ),
        ),
        by_hand(
            "wave_speed",
            "speed celerity",
            "sqrt(9.81 * tanh({x} * {h}) / {x})",
            "x h",
            lambda b, x, h: fn("sqrt", 9.81 * fn("tanh", x * h) / x),
        ),
        by_hand(
            "wave_frequency",
            "omega frequency",
            "sqrt(9.81 * {x} * tanh({x} * {h}))",
            "x h",
            lambda b, x, h: fn("sqrt", 9.81 * x * fn("tanh", x * h)),
        ),
        by_hand(
            "soliton", "elevation pulse", "{a} / cosh(sqrt({a}) * ({x} - 1))^2", "x a", _soliton
        ),
        by_hand(
            "stretched_grid",
            "grid_pos node_pos",
            "sinh({a} * {x}) / sinh(2 * {a})",
            "x a",
            _stretched,
        ),
        by_hand(
            "fin_efficiency",
            "efficiency eta",
            "tanh(m) / m with m = {a} * ({x} + 0.1)",
            "x a",
            _fin,
        ),
        by_hand(
            "fin_temperature",
            "temp_ratio theta",
            "cosh({a} * (2 - {x})) / cosh(2 * {a}) + {h} * sinh({a} * {x})",
            "x a h",
            _tip,
        ),
        by_hand(
            "acosh_by_log",
            "acosh_out rapidity",
            "log(t + sqrt(t^2 - 1)) with t = 1.1 + {x}",
            "x",
            _acosh,
        ),
        by_hand(
            "kink",
            "field_out kink_out",
            "{h} * tanh({a} * ({x} - 1))",
            "x a h",
            lambda b, x, a, h: h * fn("tanh", a * (x - 1.0)),
        ),
        by_hand(
            "butler_volmer",
            "current density",
            "2 * {h} * sinh({x} / (2 * {a}))",
            "x a h",
            lambda b, x, a, h: 2.0 * h * fn("sinh", 0.5 * x / a),
        ),
    ),
)


@idiom
def hyperbolic_profile(k: KernelBuilder, level: int) -> Title:
    """Cables, water waves, magnets and fins: profiles by hyperbolic functions."""
    return compose(k, level, _HYPERBOLIC)
