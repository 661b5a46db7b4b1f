"""Special functions by series, asymptotic forms, rational fits and Newton steps."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula
from generators.math.cards import Family, by_hand, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _horner(b: BodyBuilder, t: Expr, coefficients: tuple[float, ...]) -> Expr:
    """A polynomial, nested in one expression or step by step."""
    if b.draw.shape.chance(0.5):
        value: Expr = b.lift(coefficients[-1], t.type)
        for c in reversed(coefficients[:-1]):
            value = c + t * value
        return value
    total = b.let(("poly", "series", "horner"), b.lift(coefficients[-1], t.type))
    for c in reversed(coefficients[:-1]):
        b.assign(total, total * t + c)
    return total


def _bessel_j0(b: BodyBuilder, x: Expr) -> Expr:
    q = b.let(("q", "quarter"), -0.25 * x * x)
    return _horner(b, q, (1.0, 1.0, 0.25, 0.027777778, 0.0017361111))


def _bessel_j1(b: BodyBuilder, x: Expr) -> Expr:
    q = b.let(("q", "quarter"), -0.25 * x * x)
    return 0.5 * x * _horner(b, q, (1.0, 0.5, 0.083333333, 0.0069444444))


def _bessel_i0(b: BodyBuilder, x: Expr) -> Expr:
    """The series of I0, its terms by a recurrence in a loop."""
    q = b.let(("q", "quarter"), 0.25 * x * x)
    term = b.let(("term", "t"), b.lift(1.0, x.type))
    total = b.let(("total", "i0"), b.lift(1.0, x.type))
    divisor = b.let(("order", "n"), b.lift(1.0, x.type))
    with b.for_(("step_idx", "it"), 4):
        b.assign(term, term * q / (divisor * divisor))
        b.augment(total, "add", term)
        b.augment(divisor, "add", 1.0)
    return total


def _stirling(b: BodyBuilder, x: Expr) -> Expr:
    z = b.let(("z", "shifted"), x + 2.0)
    inv = b.let(("inv", "w"), 1.0 / z)
    b.note("Stirling's series at x + 2, then back by the recurrence")
    series = (z - 0.5) * fn("log", z) - z + 0.91893853 + inv / 12.0 - inv * inv * inv / 360.0
    return series - fn("log", x * (x + 1.0))


def _lanczos(b: BodyBuilder, x: Expr) -> Expr:
    base = b.let(("base", "tmp"), x + 4.5)
    ser = b.let(("ser", "coeff_sum"), 1.0 + 76.18009173 / x)
    parts = ((-86.50532033, 1.0), (24.01409822, 2.0), (-1.231739516, 3.0))
    for c, k in parts:
        b.augment(ser, "add", c / (x + k))
    return (x - 0.5) * fn("log", base) - base + fn("log", 2.5066283 * ser)


def _digamma(b: BodyBuilder, x: Expr) -> Expr:
    z = b.let(("z", "shifted"), x + 3.0)
    inv = b.let(("inv2", "w"), 1.0 / (z * z))
    tail = b.let(("tail", "back"), 1.0 / x + 1.0 / (x + 1.0) + 1.0 / (x + 2.0))
    return fn("log", z) - 0.5 / z - inv * (0.083333333 - inv * 0.0083333333) - tail


def _erf_fit(b: BodyBuilder, x: Expr) -> Expr:
    """Abramowitz and Stegun, 7.1.25."""
    t = b.let(("t", "u"), 1.0 / (1.0 + 0.47047 * x))
    fit = _horner(b, t, (0.3480242, -0.0958798, 0.7478556))
    return 1.0 - t * fit * fn("exp", -x * x)


def _lambert(b: BodyBuilder, x: Expr) -> Expr:
    w = b.let(("w", "guess"), fn("log", 1.0 + x))
    with b.for_(("it", "step_idx"), 3):
        e = b.let(("e", "grown"), fn("exp", w))
        b.assign(w, w - (w * e - x) / (e * (w + 1.0)))
    return w


def _agm(b: BodyBuilder, x: Expr) -> Expr:
    a = b.let(("a", "arith"), b.lift(1.0, x.type))
    g = b.let(("g", "geo"), 0.3 * x)
    with b.for_(("it", "step_idx"), 3):
        mean = b.let(("mean", "half"), 0.5 * (a + g))
        b.assign(g, fn("sqrt", a * g))
        b.assign(a, mean)
    return 1.5707963 / a


def _zeta(b: BodyBuilder, x: Expr) -> Expr:
    s = b.let(("s", "power"), 1.5 + x)
    total = b.let(("total", "partial"), b.lift(1.0, x.type))
    for n in (2.0, 3.0, 4.0):
        b.augment(total, "add", fn("pow", b.lift(n, x.type), -s))
    return total + fn("pow", b.lift(4.5, x.type), 1.0 - s) / (s - 1.0)


def _sine_integral(b: BodyBuilder, x: Expr) -> Expr:
    s = b.let(("sq", "x2"), x * x)
    return x * _horner(b, s, (1.0, -0.055555556, 0.0016666667, -2.8344671e-05))


def _exp_integral(b: BodyBuilder, x: Expr) -> Expr:
    """Abramowitz and Stegun, 5.1.53 below one and 5.1.54 above."""
    low = _horner(b, x, (-0.57721566, 0.99999193, -0.24991055, 0.05519968)) - fn("log", x)
    top = b.let(("top", "num"), x * x + 2.334733 * x + 0.250621)
    below = b.let(("below", "den"), x * x + 3.330657 * x + 1.681534)
    return fn("where", x < 1.0, low, fn("exp", -x) * top / (below * x))


def _dawson(b: BodyBuilder, x: Expr) -> Expr:
    s = b.let(("sq", "x2"), x * x)
    top = b.let(("top", "num"), 1.0 + 0.1049934 * s + 0.0424061 * s * s)
    return x * top / (1.0 + 0.7715471 * s + 0.2909739 * s * s + 0.0848122 * s * s * s)


def _airy_like(b: BodyBuilder, x: Expr) -> Expr:
    z = b.let(("zeta", "arg"), 0.66666667 * x * fn("sqrt", x))
    return 0.28209479 * fn("exp", -z) / fn("sqrt", fn("sqrt", x))


def _card(name: str, outs: str, text: str, build: object) -> Formula:
    assert callable(build)
    return by_hand(name, outs, text, "x", build)


_SPECIAL = Family(
    item="argument",
    inputs={"x": quantity("x z_in arg_in", "x args points radii", 0.3, 2.2)},
    params={},
    titles="special_function evaluate_special special_by_kind",
    kinds="which_fn kinds function_id",
    grids=("i|tid|p", "row col|i j|order p", "batch row col|b i j"),
    weights="weights quad_weights",
    masks="mask wanted valid",
    reductions=("sum", "mean", "largest", "smallest"),
    spatial=False,
    cards=(
        _card(
            "bessel_j0",
            "bessel j0_out",
            "J0 of {x} by its series in q = -{x}^2 / 4: 1 + q + q^2/4 + q^3/36 + q^4/576",
            _bessel_j0,
        ),
        _card(
            "bessel_j1",
            "bessel j1_out",
            "J1 of {x}: {x} / 2 * (1 + q/2 + q^2/12 + q^3/144) with q = -{x}^2 / 4",
            _bessel_j1,
        ),
        _card(
            "bessel_i0",
            "bessel i0_out",
            "I0 of {x} by five terms of its series, each {x}^2 / (4 * n^2) times the last",
            _bessel_i0,
        ),
        _card(
            "stirling_lgamma",
            "lgamma log_gamma",
            "log gamma of {x} by Stirling: with z = {x} + 2, (z - 1/2) * log(z) - z + "
            "log(2 * pi) / 2 + 1 / (12 * z) - 1 / (360 * z^3) - log({x} * ({x} + 1))",
            _stirling,
        ),
        _card(
            "lanczos_lgamma",
            "lgamma log_gamma",
            "({x} - 1/2) * log(t) - t + log(sqrt(2 * pi) * s), t = {x} + 4.5, s = 1 + 76.18009173 "
            "/ {x} - 86.50532033 / ({x} + 1) + 24.01409822 / ({x} + 2) - 1.231739516 / ({x} + 3)",
            _lanczos,
        ),
        _card(
            "digamma",
            "psi digamma_out",
            "log(z) - 1 / (2 * z) - w * (1/12 - w / 120) - 1/{x} - 1/({x} + 1) - 1/({x} + 2) with "
            "z = {x} + 3 and w = 1 / z^2",
            _digamma,
        ),
        _card(
            "erf_fit",
            "erf_out errors",
            "1 - t * (0.3480242 - 0.0958798 * t + 0.7478556 * t^2) * exp(-{x}^2) with "
            "t = 1 / (1 + 0.47047 * {x})",
            _erf_fit,
        ),
        _card(
            "lambert_w",
            "w_out lambert",
            "Lambert's W of {x} by three Newton steps w - (w * e - {x}) / (e * (w + 1)), "
            "e = exp(w), from w = log(1 + {x})",
            _lambert,
        ),
        _card(
            "elliptic_k",
            "elliptic period",
            "pi / 2 over the arithmetic-geometric mean of 1 and 0.3 * {x} after three steps",
            _agm,
        ),
        _card(
            "zeta_partial",
            "zeta zetas",
            "1 + 2^(-s) + 3^(-s) + 4^(-s) + 4.5^(1 - s) / (s - 1) with s = 1.5 + {x}",
            _zeta,
        ),
        _card(
            "sine_integral",
            "si_out integral",
            "{x} * (1 - q/18 + q^2/600 - q^3/35280) with q = {x}^2",
            _sine_integral,
        ),
        _card(
            "exp_integral",
            "e1_out integral",
            "E1 of {x}: -log({x}) - 0.57721566 + 0.99999193 * {x} - 0.24991055 * {x}^2 + "
            "0.05519968 * {x}^3 below 1, else exp(-{x}) / {x} * ({x}^2 + 2.334733 * {x} + 0.250621)"
            " / ({x}^2 + 3.330657 * {x} + 1.681534)",
            _exp_integral,
        ),
        _card(
            "dawson_fit",
            "dawson dawson_out",
            "{x} * (1 + 0.1049934 * q + 0.0424061 * q^2) / (1 + 0.7715471 * q + 0.2909739 * q^2 + "
            "0.0848122 * q^3) with q = {x}^2",
            _dawson,
        ),
        _card(
            "airy_decay",
            "airy ai_out",
            "exp(-z) / (2 * sqrt(pi) * {x}^(1/4)) with z = 2/3 * {x}^1.5",
            _airy_like,
        ),
    ),
)


@idiom
def special_function(k: KernelBuilder, level: int) -> Title:
    """Special functions as numerical libraries evaluate them."""
    return compose(k, level, _SPECIAL)
