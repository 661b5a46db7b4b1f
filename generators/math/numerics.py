"""Numerics: forms that neither overflow nor cancel, and special functions."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import PI, exp, least, log, most, sin, sqrt, where
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Const, Expr, literal

_STABLE = Family(
    inputs={
        "x": quantity("x", "xs", -2.4, 2.4),
        "y": quantity("y", "ys", -2.4, 2.4),
    },
    params={"eps": quantity("eps smoothing", "eps_values smoothings", 0.1, 0.4, 0.1, 0.25, 0.05)},
    titles="stable_function careful_numerics safe_math",
    kinds="kinds ops modes",
    struct="Tolerance",
    records="Pair Operands",
    about={
        "scaled_hypot": "length of (x, y), not both 0, without overflow of the squares",
        "logaddexp": "log of a sum of two exponentials without overflow",
        "sinc_series": "normalised sinc, by its series near zero",
        "expm1_series": "exp minus 1 without cancellation near zero",
        "stable_sigmoid": "logistic sigmoid without overflow",
        "asinh_by_log": "inverse hyperbolic sine by a logarithm, odd in its argument",
        "safe_ratio": "quotient whose divisor keeps away from zero",
        "smooth_max": "smooth maximum of two values",
    },
)


def _signed(size: Expr, x: Expr) -> Expr:
    return fn("copysign", size, x)


@_STABLE.formula("hypot_out lengths")
def scaled_hypot(body: BodyBuilder, x: Expr, y: Expr) -> Expr:
    ax, ay = body.let("ax abs_x", abs(x)), body.let("ay abs_y", abs(y))
    big, small = body.let("big hi", most(ax, ay)), body.let("small lo", least(ax, ay))
    body.note("the larger side is factored out, so that no square overflows")
    ratio = body.let("ratio t", small / big)
    return big * sqrt(1.0 + ratio * ratio)


@_STABLE.formula("lse log_sum", "log(exp({x}) + exp({y})) for finite numbers, stably")
def logaddexp(body: BodyBuilder, x: Expr, y: Expr) -> Expr:
    top = body.let("top hi m", most(x, y))
    both = exp(x - top) + exp(y - top)
    return top + log(either(body, 1.0 + exp(-abs(x - y)), both))


@_STABLE.formula(
    "sinc_out sincs", "sin(p) / p with p = pi * {x}, or 1 - p^2 / 6 + p^4 / 120 where |p| <= 0.3"
)
def sinc_series(body: BodyBuilder, x: Expr) -> Expr:
    phase = body.let("phase px arg", PI * x)
    square = body.let("sq p2", phase * phase)
    value = body.let("sinc value", 1.0 - square / 6.0 * (1.0 - square / 20.0))
    with body.if_(abs(phase) > 0.3):
        body.assign(value, sin(phase) / phase)
    return value


@_STABLE.formula(
    "expm1_out em1", "exp({x}) - 1, by its Taylor series up to {x}^4 where |{x}| < 0.1"
)
def expm1_series(body: BodyBuilder, x: Expr) -> Expr:
    body.note("series near zero, where exp(x) - 1 cancels")
    terms = x * (1.0 + x * (0.5 + x * (0.16666667 + x * 0.041666667)))
    series = body.let("series taylor", terms)
    if body.draw.shape.chance(0.5):
        return where(abs(x) < 0.1, series, exp(x) - 1.0)
    value = body.let("value em1", series)
    with body.if_(abs(x) >= 0.1):
        body.assign(value, exp(x) - 1.0)
    return value


@_STABLE.formula(
    "probs sigmoids",
    "the sigmoid of {x}: 1 / (1 + e) for {x} >= 0, else e / (1 + e), with e = exp(-|{x}|)",
)
def stable_sigmoid(body: BodyBuilder, x: Expr) -> Expr:
    e = body.let("e decay", exp(-abs(x)))
    if body.draw.shape.chance(0.5):
        return where(x >= 0.0, 1.0 / (1.0 + e), e / (1.0 + e))
    value = body.let("value s", 1.0 / (1.0 + e))
    with body.if_(x < 0.0):
        body.assign(value, e * value)
    return value


@_STABLE.formula("asinh_out values")
def asinh_by_log(body: BodyBuilder, x: Expr) -> Expr:
    size = body.let("size a", abs(x))
    return _signed(log(size + sqrt(size * size + 1.0)), x)


_STABLE.add(
    "safe_ratio",
    "ratios quotients",
    lambda body, x, y, eps: x / _signed(body.let("denom safe", most(abs(y), eps)), y),
)


@_STABLE.formula("maxima smooth_max_out")
def smooth_max(body: BodyBuilder, x: Expr, y: Expr, eps: Expr) -> Expr:
    gap = body.let("gap d", x - y)
    squared: Expr = eps * eps
    if isinstance(eps, Const):
        squared = literal(float(f"{float(eps.value) ** 2:.6g}"), eps.type)
    return 0.5 * (x + y + sqrt(gap * gap + squared))


@idiom(depth=DEPTH)
def stable_numerics(k: KernelBuilder, level: int) -> Title:
    """Forms of everyday functions that neither overflow nor cancel."""
    return compose(k, level, _STABLE)


_SPECIAL = Family(
    inputs={"x": quantity("x arg", "x args", 0.3, 2.2)},
    params={},
    titles="special_function evaluate_special special_by_kind",
    kinds="which_fn kinds function_id",
    grids=("i|tid|p", "row col|i j", "batch row col|b i j"),
    about={
        "bessel_j0": "Bessel function J0 of small arguments by five terms of its series",
        "bessel_j1": "Bessel function J1 of small arguments by four terms of its series",
        "bessel_i0": "modified Bessel function I0 of small arguments by its series",
        "stirling_lgamma": "log of the gamma function by Stirling's series",
        "lanczos_lgamma": "log of the gamma function by Lanczos' approximation",
        "digamma": "digamma function by its asymptotic series, three steps up",
        "erf_fit": "error function by Abramowitz and Stegun 7.1.25",
        "lambert_w": "Lambert's W",
        "sine_integral": "sine integral by its series",
        "exp_integral": "exponential integral E1 by Abramowitz and Stegun 5.1.53 and 5.1.54",
        "dawson_fit": "Dawson's integral by a rational fit",
        "airy_decay": "leading asymptotic term of the Airy function Ai",
    },
    weights="weights quad_weights",
    masks="mask wanted valid",
)


def _horner(body: BodyBuilder, t: Expr, *coefficients: float) -> Expr:
    """A polynomial, nested in one expression or step by step."""
    last, *rest = reversed(coefficients)
    value = body.lift(last, t.type)
    if body.draw.shape.chance(0.5):
        for c in rest:
            value = c + t * value
        return value
    total = body.let("poly series horner", value)
    for c in rest:
        body.assign(total, total * t + c)
    return total


def _nested(t: Expr, *coefficients: float) -> Expr:
    """A polynomial, nested in one expression."""
    *others, before, last = coefficients
    value = before + last * t
    for c in reversed(others):
        value = c + t * value
    return value


def _one(body: BodyBuilder, x: Expr) -> Expr:
    return body.lift(1.0, x.type)


@_SPECIAL.formula("bessel j0_out")
def bessel_j0(body: BodyBuilder, x: Expr) -> Expr:
    q = body.let("q quarter", -0.25 * x * x)
    return _horner(body, q, 1.0, 1.0, 0.25, 0.027777778, 0.0017361111)


@_SPECIAL.formula("bessel j1_out")
def bessel_j1(body: BodyBuilder, x: Expr) -> Expr:
    q = body.let("q quarter", -0.25 * x * x)
    return 0.5 * x * _horner(body, q, 1.0, 0.5, 0.083333333, 0.0069444444)


@_SPECIAL.formula(
    "bessel i0_out", "I0 of {x} by five terms of its series, each {x}^2 / (4 * n^2) times the last"
)
def bessel_i0(body: BodyBuilder, x: Expr) -> Expr:
    q = body.let("q quarter", 0.25 * x * x)
    term, total = body.let("term t", _one(body, x)), body.let("total i0", _one(body, x))
    divisor = body.let("order n", _one(body, x))
    with body.for_(("step_idx", "it"), 4):
        body.assign(term, term * q / (divisor * divisor))
        body.augment(total, "add", term)
        body.augment(divisor, "add", 1.0)
    return total


@_SPECIAL.formula("lgamma log_gamma")
def stirling_lgamma(body: BodyBuilder, x: Expr) -> Expr:
    z = body.let("z shifted", x + 2.0)
    inv = body.let("inv w", 1.0 / z)
    body.note("Stirling's series at x + 2, then back by the recurrence")
    series = (z - 0.5) * log(z) - z + 0.91893853 + inv / 12.0 - inv * inv * inv / 360.0
    return series - log(x * (x + 1.0))


@_SPECIAL.formula(
    "lgamma log_gamma",
    "({x} - 1/2) * log(t) - t + log(sqrt(2 * pi) * s), t = {x} + 4.5, s = 1 + 76.18009173 / {x} - "
    "86.50532033 / ({x} + 1) + 24.01409822 / ({x} + 2) - 1.231739516 / ({x} + 3) + "
    "0.00120858003 / ({x} + 4) - 0.00000536382 / ({x} + 5)",
)
def lanczos_lgamma(body: BodyBuilder, x: Expr) -> Expr:
    base = body.let("base tmp", x + 4.5)
    ser = body.let("ser coeff_sum", 1.0 + 76.18009173 / x)
    rest = (-86.50532033, 24.01409822, -1.231739516, 1.20858003e-3, -5.36382e-6)
    for number, c in enumerate(rest, 1):
        body.augment(ser, "add", c / (x + float(number)))
    return (x - 0.5) * log(base) - base + log(2.5066283 * ser)


@_SPECIAL.formula("psi digamma_out")
def digamma(body: BodyBuilder, x: Expr) -> Expr:
    z = body.let("z shifted", x + 3.0)
    inv = body.let("inv2 w", 1.0 / (z * z))
    tail = body.let("tail back", 1.0 / x + 1.0 / (x + 1.0) + 1.0 / (x + 2.0))
    return log(z) - 0.5 / z - inv * (0.083333333 - inv * 0.0083333333) - tail


@_SPECIAL.formula("erf_out errors")
def erf_fit(body: BodyBuilder, x: Expr) -> Expr:
    """Abramowitz and Stegun, 7.1.25."""
    t = body.let("t u", 1.0 / (1.0 + 0.47047 * x))
    return 1.0 - t * _horner(body, t, 0.3480242, -0.0958798, 0.7478556) * exp(-x * x)


@_SPECIAL.formula(
    "w_out lambert",
    "Lambert's W of {x} by three Newton steps w - (w * e - {x}) / (e * (w + 1)), e = exp(w), "
    "from w = log(1 + {x})",
)
def lambert_w(body: BodyBuilder, x: Expr) -> Expr:
    w = body.let("w guess", log(1.0 + x))
    with body.for_(("it", "step_idx"), 3):
        e = body.let("e grown", exp(w))
        body.assign(w, w - (w * e - x) / (e * (w + 1.0)))
    return w


@_SPECIAL.formula("si_out sine_int")
def sine_integral(body: BodyBuilder, x: Expr) -> Expr:
    s = body.let("sq x2", x * x)
    return x * _horner(body, s, 1.0, -0.055555556, 0.0016666667, -2.8344671e-05)


@_SPECIAL.formula("e1_out exp_int")
def exp_integral(body: BodyBuilder, x: Expr) -> Expr:
    """Abramowitz and Stegun, 5.1.53 below one and 5.1.54 above."""
    fit = (-0.57721566, 0.99999193, -0.24991055, 0.05519968, -0.00976004, 0.00107857)
    low = _horner(body, x, *fit) - log(x)
    top = body.let("top num", x * x + 2.334733 * x + 0.250621)
    below = body.let("below den", x * x + 3.330657 * x + 1.681534)
    return where(x < 1.0, low, exp(-x) * top / (below * x))


@_SPECIAL.formula("dawson dawson_out")
def dawson_fit(body: BodyBuilder, x: Expr) -> Expr:
    s = body.let("sq x2", x * x)
    above = (1.0, 0.1049934947, 0.0424060604, 0.0072644182, 0.0005064034, 0.0001789971)
    below = (1.0, 0.7715471019, 0.2909738639, 0.0694555761, 0.0140005442, 0.0008327945)
    top, bottom = _nested(s, *above), _nested(s, *below, 0.0003579942)
    return x * body.let("top num", top) / body.let("below den", bottom)


@_SPECIAL.formula("airy ai_out")
def airy_decay(body: BodyBuilder, x: Expr) -> Expr:
    z = body.let("zeta arg", 0.66666667 * x * sqrt(x))
    return 0.28209479 * exp(-z) / sqrt(sqrt(x))


@idiom(depth=DEPTH)
def special_function(k: KernelBuilder, level: int) -> Title:
    """Special functions as numerical libraries evaluate them."""
    return compose(k, level, _SPECIAL)
