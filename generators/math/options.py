"""Option prices and their greeks, by the normal distribution."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _cdf(z: Expr) -> Expr:
    return 0.5 * (1.0 + fn("erf", 0.70710678 * z))


def _tail(z: Expr) -> Expr:
    return 0.5 * fn("erfc", -0.70710678 * z)


def _normal(b: BodyBuilder, z: Expr) -> Expr:
    return either(b, _cdf(z), _tail(z))


def _pdf(z: Expr) -> Expr:
    return 0.39894228 * fn("exp", -0.5 * z * z)


def _ds(b: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> tuple[Expr, Expr]:
    root = b.let(("vol_t", "sd", "vst"), v * fn("sqrt", t))
    d1 = b.let(("d1", "d_plus"), (fn("log", s / x) + (r + 0.5 * v * v) * t) / root)
    return d1, root


def _call(b: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(b, s, x, v, r, t)
    d2 = b.let(("d2", "d_minus"), d1 - root)
    return s * _normal(b, d1) - x * fn("exp", -r * t) * _normal(b, d2)


def _put(b: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(b, s, x, v, r, t)
    df = b.let(("df", "disc"), fn("exp", -r * t))
    return x * df * _cdf(root - d1) - s * _cdf(-d1)


def _gamma(b: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(b, s, x, v, r, t)
    return _pdf(d1) / (s * root)


def _vega(b: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, _ = _ds(b, s, x, v, r, t)
    return s * _pdf(d1) * fn("sqrt", t)


def _theta(b: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(b, s, x, v, r, t)
    carry = b.let(("carry", "interest"), r * x * fn("exp", -r * t) * _cdf(d1 - root))
    return -0.5 * s * v * _pdf(d1) / fn("sqrt", t) - carry


def _digital(b: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(b, s, x, v, r, t)
    return fn("exp", -r * t) * _normal(b, d1 - root)


def _bachelier(b: BodyBuilder, s: Expr, x: Expr, v: Expr, t: Expr) -> Expr:
    sd = b.let(("sd", "width"), v * x * fn("sqrt", t))
    d = b.let(("d", "moneyness"), (s - x) / sd)
    return (s - x) * _normal(b, d) + sd * _pdf(d)


def _black76(b: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    root = b.let(("vol_t", "sd"), v * fn("sqrt", t))
    d1 = b.let(("d1", "d_plus"), fn("log", s / x) / root + 0.5 * root)
    return fn("exp", -r * t) * (s * _cdf(d1) - x * _cdf(d1 - root))


def _parity(b: BodyBuilder, s: Expr, x: Expr, r: Expr, t: Expr) -> Expr:
    return s - x * fn("exp", -r * t)


def _intrinsic(b: BodyBuilder, s: Expr, x: Expr, r: Expr, t: Expr) -> Expr:
    return fn("max", s - x * fn("exp", -r * t), 0.0)


def _touch(b: BodyBuilder, s: Expr, x: Expr, v: Expr, t: Expr) -> Expr:
    reach = b.let(("reach", "dist"), fn("abs", fn("log", x / s)))
    return fn("erfc", reach / (v * fn("sqrt", 2.0 * t)))


def _strike_of_delta(b: BodyBuilder, s: Expr, v: Expr, t: Expr, q: Expr) -> Expr:
    z = b.let(("z", "quantile"), 1.4142136 * fn("erfcinv", 2.0 * q))
    root = b.let(("vol_t", "sd"), v * fn("sqrt", t))
    return s * fn("exp", z * root + 0.5 * root * root)


def _value_at_risk(b: BodyBuilder, s: Expr, v: Expr, t: Expr, q: Expr) -> Expr:
    z = b.let(("z", "quantile"), 1.4142136 * fn("erfinv", 1.0 - 2.0 * q))
    return s * (1.0 - fn("exp", -z * v * fn("sqrt", t)))


_D1 = "d1 = (log({s} / {x}) + ({r} + {v}^2 / 2) * {t}) / ({v} * sqrt({t}))"
_D2 = f"{_D1} and d2 = d1 - {{v}} * sqrt({{t}})"
_OPTION = Family(
    item="contract",
    inputs={
        "s": quantity("spot s0 price", "spots prices underlyings", 80.0, 120.0),
        "x": quantity("strike k_strike x", "strikes strike_prices", 85.0, 115.0),
    },
    params={
        "v": quantity("vol sigma volatility", "vols sigmas", 0.15, 0.45, 0.2, 0.3, 0.25),
        "r": quantity("rate r yield_rate", "rates yields", 0.01, 0.06, 0.02, 0.05, 0.03),
        "t": quantity("tau years expiry", "taus expiries maturities", 0.25, 2.0, 0.5, 1.0, 0.25),
        "q": quantity("delta level alpha", "deltas levels alphas", 0.05, 0.45, 0.25, 0.1, 0.05),
    },
    titles="price_by_kind option_book greeks",
    kinds="payoff option_type kinds",
    struct="Market Contract Model",
    records="Quote Position",
    grids=("i|tid|trade", "book trade|row col|i j", "scenario book trade|b i j"),
    weights="positions notionals weights",
    masks="alive live mask",
    reductions=("sum", "mean", "largest"),
    spatial=False,
    cards=(
        by_hand(
            "call_price",
            "call price_out",
            f"{{s}} * N(d1) - {{x}} * exp(-{{r}} * {{t}}) * N(d2), N the normal CDF by erf, {_D2}",
            "s x v r t",
            _call,
        ),
        by_hand(
            "put_price",
            "put price_out",
            f"{{x}} * exp(-{{r}} * {{t}}) * N(-d2) - {{s}} * N(-d1), N the normal CDF, {_D2}",
            "s x v r t",
            _put,
        ),
        by_hand(
            "call_delta",
            "delta_out hedge",
            f"N(d1), the normal CDF at {_D1}",
            "s x v r t",
            lambda b, s, x, v, r, t: _normal(b, _ds(b, s, x, v, r, t)[0]),
        ),
        by_hand(
            "option_gamma",
            "gamma gammas",
            f"n(d1) / ({{s}} * {{v}} * sqrt({{t}})), n the normal density, {_D1}",
            "s x v r t",
            _gamma,
        ),
        by_hand(
            "option_vega",
            "vega vegas",
            f"{{s}} * n(d1) * sqrt({{t}}), n the normal density, {_D1}",
            "s x v r t",
            _vega,
        ),
        by_hand(
            "call_theta",
            "theta thetas",
            f"-{{s}} * {{v}} * n(d1) / (2 * sqrt({{t}})) - {{r}} * {{x}} * exp(-{{r}} * {{t}}) * "
            f"N(d2), n and N the normal density and CDF, {_D2}",
            "s x v r t",
            _theta,
        ),
        by_hand(
            "digital_call",
            "digital payout",
            f"exp(-{{r}} * {{t}}) * N(d2), N the normal CDF, {_D2}",
            "s x v r t",
            _digital,
        ),
        by_hand(
            "bachelier_call",
            "call price_out",
            "({s} - {x}) * N(d) + w * n(d), n and N the normal density and CDF, "
            "w = {v} * {x} * sqrt({t}), d = ({s} - {x}) / w",
            "s x v t",
            _bachelier,
        ),
        by_hand(
            "black76_call",
            "call price_out",
            "exp(-{r} * {t}) * ({s} * N(d1) - {x} * N(d1 - w)), N the normal CDF, "
            "w = {v} * sqrt({t}), d1 = log({s} / {x}) / w + w / 2",
            "s x v r t",
            _black76,
        ),
        by_hand(
            "forward_value",
            "forward fwd",
            "{s} - {x} * exp(-{r} * {t})",
            "s x r t",
            _parity,
        ),
        by_hand(
            "intrinsic_value",
            "intrinsic payoff_out",
            "max({s} - {x} * exp(-{r} * {t}), 0)",
            "s x r t",
            _intrinsic,
        ),
        by_hand(
            "touch_probability",
            "touch_prob hit_prob",
            "erfc(|log({x} / {s})| / ({v} * sqrt(2 * {t})))",
            "s x v t",
            _touch,
        ),
        by_hand(
            "strike_from_delta",
            "strike_out strikes_out",
            "{s} * exp(z * w + w^2 / 2) with z = sqrt(2) * erfcinv(2 * {q}), w = {v} * sqrt({t})",
            "s v t q",
            _strike_of_delta,
        ),
        by_hand(
            "value_at_risk",
            "var_out risk",
            "{s} * (1 - exp(-z * {v} * sqrt({t}))) with z = sqrt(2) * erfinv(1 - 2 * {q})",
            "s v t q",
            _value_at_risk,
        ),
    ),
)


@idiom
def option_price(k: KernelBuilder, level: int) -> Title:
    """Prices and greeks of European options, and risk figures of the same model."""
    return compose(k, level, _OPTION)
