"""Careful numerics: the forms of everyday formulas that neither overflow nor cancel."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Const, Expr, literal


def _hypot(b: BodyBuilder, x: Expr, y: Expr) -> Expr:
    ax, ay = b.let(("ax", "abs_x"), fn("abs", x)), b.let(("ay", "abs_y"), fn("abs", y))
    big, small = b.let(("big", "hi"), fn("max", ax, ay)), b.let(("small", "lo"), fn("min", ax, ay))
    b.note("the larger side is factored out, so that no square overflows")
    ratio = b.let(("ratio", "t"), small / big)
    return big * fn("sqrt", 1.0 + ratio * ratio)


def _logaddexp(b: BodyBuilder, x: Expr, y: Expr) -> Expr:
    top = b.let(("top", "hi", "m"), fn("max", x, y))
    if b.draw.shape.chance(0.5):
        return top + fn("log", 1.0 + fn("exp", -fn("abs", x - y)))
    return top + fn("log", fn("exp", x - top) + fn("exp", y - top))


def _sinc(b: BodyBuilder, x: Expr) -> Expr:
    phase = b.let(("phase", "px", "arg"), 3.1415927 * x)
    value = b.let(("sinc", "value"), 1.0 - phase * phase / 6.0)
    with b.if_(fn("abs", phase) > 0.4):
        b.assign(value, fn("sin", phase) / phase)
    return value


def _expm1(b: BodyBuilder, x: Expr) -> Expr:
    b.note("series near zero, where exp(x) - 1 cancels")
    series = b.let(("series", "taylor"), x * (1.0 + x * (0.5 + x * (0.16666667 + x * 0.041666667))))
    if b.draw.shape.chance(0.5):
        return fn("where", fn("abs", x) < 0.1, series, fn("exp", x) - 1.0)
    value = b.let(("value", "em1"), series)
    with b.if_(fn("abs", x) >= 0.1):
        b.assign(value, fn("exp", x) - 1.0)
    return value


def _root(b: BodyBuilder, x: Expr, y: Expr) -> Expr:
    """The larger root of t^2 + 2 x t - y^2 = 0 with no cancellation."""
    b.note("q has the sign of the linear term: nothing cancels")
    root = b.let(("root", "disc"), fn("sqrt", x * x + y * y + 0.5))
    return -(x + either(b, fn("copysign", root, x), fn("sign", x) * root))


def _sigmoid(b: BodyBuilder, x: Expr) -> Expr:
    e = b.let(("e", "decay"), fn("exp", -fn("abs", x)))
    if b.draw.shape.chance(0.5):
        return fn("where", x >= 0.0, 1.0 / (1.0 + e), e / (1.0 + e))
    value = b.let(("value", "s"), 1.0 / (1.0 + e))
    with b.if_(x < 0.0):
        b.assign(value, e * value)
    return value


def _log1p(b: BodyBuilder, x: Expr) -> Expr:
    u = b.let(("u", "half"), x / (2.0 + x))
    square = b.let(("square", "u2"), u * u)
    return 2.0 * u * (1.0 + square * (0.33333333 + square * (0.2 + square * 0.14285714)))


def _cube_root_difference(b: BodyBuilder, x: Expr, y: Expr) -> Expr:
    p, q = b.let(("p", "cx"), fn("cbrt", x)), b.let(("q", "cy"), fn("cbrt", y))
    return (p - q) * fn("copysign", b.lift(1.0, x.type), x)


def _atanh(b: BodyBuilder, x: Expr) -> Expr:
    t = b.let(("t", "inner"), 0.3 * x)
    return 0.5 * fn("log", (1.0 + t) / (1.0 - t))


def _asinh(b: BodyBuilder, x: Expr) -> Expr:
    size = b.let(("size", "a"), fn("abs", x))
    return fn("copysign", fn("log", size + fn("sqrt", size * size + 1.0)), x)


def _ratio(b: BodyBuilder, x: Expr, y: Expr, eps: Expr) -> Expr:
    floor = b.let(("denom", "safe"), fn("max", fn("abs", y), eps))
    return x / fn("copysign", floor, y)


def _smooth_max(b: BodyBuilder, x: Expr, y: Expr, eps: Expr) -> Expr:
    gap = b.let(("gap", "d"), x - y)
    squared: Expr = eps * eps
    if isinstance(eps, Const):
        squared = literal(float(f"{float(eps.value) ** 2:.6g}"), eps.type)
    return 0.5 * (x + y + fn("sqrt", gap * gap + squared))


_STABLE = Family(
    item="pair",
    inputs={
        "x": quantity("x a u", "x a_vals xs", -2.4, 2.4),
        "y": quantity("y b_val v", "y b_vals ys", -2.4, 2.4),
    },
    params={"eps": quantity("eps tol floor", "eps_values tols", 0.1, 0.4, 0.1, 0.25, 0.05)},
    titles="stable_function careful_numerics safe_math",
    kinds="kinds ops modes",
    struct="Tolerance",
    records="Pair Operands",
    reductions=("sum", "mean", "largest", "smallest"),
    cards=(
        by_hand(
            "scaled_hypot",
            "norms hyp",
            "m * sqrt(1 + (s / m)^2), m the larger and s the smaller of |{x}| and |{y}|",
            "x y",
            _hypot,
        ),
        by_hand("logaddexp", "lse log_sum", "log(exp({x}) + exp({y})), stably", "x y", _logaddexp),
        by_hand(
            "sinc_series",
            "sinc_out sincs",
            "sin(p) / p with p = pi * {x}, or 1 - p^2 / 6 where |p| <= 0.4",
            "x",
            _sinc,
        ),
        by_hand(
            "expm1_series",
            "em1 growth",
            "exp({x}) - 1, by its Taylor series up to {x}^4 where |{x}| < 0.1",
            "x",
            _expm1,
        ),
        by_hand(
            "stable_root",
            "roots root_out",
            "-({x} + sign({x}) * sqrt({x}^2 + {y}^2 + 0.5)), a root that does not cancel",
            "x y",
            _root,
        ),
        by_hand(
            "stable_sigmoid",
            "probs sigmoids",
            "the sigmoid of {x}: 1 / (1 + e) for {x} >= 0, else e / (1 + e), with e = exp(-|{x}|)",
            "x",
            _sigmoid,
        ),
        by_hand(
            "log1p_series",
            "log1p_out logs",
            "2 * u * (1 + s / 3 + s^2 / 5 + s^3 / 7) with s = u^2, u = h / (2 + h), h = 0.2 * {x}",
            "x",
            lambda b, x: _log1p(b, b.let(("small", "h"), 0.2 * x)),
        ),
        by_hand(
            "root_difference",
            "differences gaps",
            "(cbrt({x}) - cbrt({y})) * sign({x})",
            "x y",
            _cube_root_difference,
        ),
        by_hand(
            "atanh_by_log",
            "atanh_out values",
            "log((1 + t) / (1 - t)) / 2 with t = 0.3 * {x}",
            "x",
            _atanh,
        ),
        by_hand(
            "asinh_by_log",
            "asinh_out values",
            "log(a + sqrt(a^2 + 1)) with a = |{x}|, with the sign of {x}",
            "x",
            _asinh,
        ),
        by_hand(
            "safe_ratio",
            "ratios quotients",
            "{x} divided by max(|{y}|, {eps}) with the sign of {y}",
            "x y eps",
            _ratio,
        ),
        by_hand(
            "smooth_max",
            "maxima upper",
            "({x} + {y} + sqrt(({x} - {y})^2 + {eps}^2)) / 2",
            "x y eps",
            _smooth_max,
        ),
    ),
)


@idiom
def stable_numerics(k: KernelBuilder, level: int) -> Title:
    """Forms of everyday functions that neither overflow nor cancel."""
    return compose(k, level, _STABLE)
