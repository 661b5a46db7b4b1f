"""Finance: growth, annuities and bonds; option prices, their greeks and risk figures."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import ROOT_HALF, erf, exp, least, log, log2, most, sqrt
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr

_INTEREST = Family(
    inputs={
        "a": quantity("principal amount face", "principals amounts notionals", 500.0, 2000.0),
        "t": quantity("years term t", "terms horizons tenors", 1.0, 10.0),
    },
    params={
        "r": quantity("rate r apr", "rates yields aprs", 0.02, 0.09, 0.05, 0.03, 0.04),
        "c": quantity("coupon growth inflation", "coupons growths", 0.01, 0.07, 0.02, 0.04, 0.06),
    },
    titles="value_by_kind cash_flows account_report",
    kinds="product kinds contract",
    struct="Terms Loan Curve",
    records="Account Deposit",
    grids=("i|acct|tid", "book acct|row col|i j", "scenario book acct|b i j"),
    weights="weights shares",
    masks="open_flag active mask",
    reductions=("sum",),
    reduced="present_value annuity_value bond_price",
    slopes="r",
    groups="product_ids account_types",
)


def _factor(body: BodyBuilder, r: Expr, t: Expr) -> Expr:
    return body.let("df disc factor", (1.0 + r) ** -t)


_INTEREST.add("compound_growth", "balance grown_value", lambda a, r, t: a * (1.0 + r) ** t)
_INTEREST.add("continuous_growth", "balance grown_value", lambda a, r, t: a * exp(r * t))
_INTEREST.add("present_value", "pv present", lambda body, a, r, t: a * _factor(body, r, t))
_INTEREST.add(
    "annuity_value", "pv annuity", lambda body, a, r, t: a * (1.0 - _factor(body, r, t)) / r
)
_INTEREST.add(
    "bond_price",
    "bond clean_price",
    lambda body, a, r, t, c: a * (c * (1.0 - (df := _factor(body, r, t))) / r + df),
)
_INTEREST.add("growing_perpetuity", "pv present", lambda a, r, c: a / (r + 0.1 - c))
_INTEREST.add(
    "real_growth", "real_value purchasing", lambda a, r, t, c: a * ((1.0 + r) / (1.0 + c)) ** t
)
_INTEREST.add("doublings", "doublings growth_steps", lambda t, r, c: t * log2(1.0 + r + c))


@_INTEREST.formula("duration macaulay")
def annuity_duration(body: BodyBuilder, r: Expr, t: Expr) -> Expr:
    df = _factor(body, r, t)
    return ((1.0 - df) * (1.0 + r) / r - t * df) / (1.0 - df)


@_INTEREST.formula("payment instalment")
def loan_payment(body: BodyBuilder, a: Expr, r: Expr, t: Expr) -> Expr:
    m = body.let("monthly m_rate", r / 12.0)
    grown = body.let("grown compound", (1.0 + m) ** (12.0 * t))
    return a * m * grown / (grown - 1.0)


@_INTEREST.formula("interest earned")
def tiered_interest(body: BodyBuilder, a: Expr, r: Expr) -> Expr:
    body.note("the part above 1200 earns half the rate")
    base = body.let("base lower", least(a, 1200.0))
    return r * base + 0.5 * r * (a - base)


@_INTEREST.formula("interest earned", "{a} * {r} * {t} rounded to the nearest whole number")
def rounded_interest(body: BodyBuilder, a: Expr, r: Expr, t: Expr) -> Expr:
    raw = body.let("raw exact", a * r * t)
    return either(body, fn("round", raw), fn("rint", raw))


@_INTEREST.formula("balance grown_value")
def stub_growth(body: BodyBuilder, a: Expr, r: Expr, t: Expr) -> Expr:
    whole = body.let("whole full_years", fn("trunc", t))
    part = body.let("stub part", fn("frac", t))
    return a * (1.0 + r) ** whole * (1.0 + r * part)


@idiom(depth=DEPTH)
def time_value(k: KernelBuilder, level: int) -> Title:
    """Values of deposits, loans, annuities and bonds."""
    return compose(k, level, _INTEREST)


_OPTION = Family(
    inputs={
        "s": quantity("spot s0 price", "spots prices underlyings", 80.0, 120.0),
        "x": quantity("strike k_strike x", "strikes strike_prices", 85.0, 115.0),
    },
    params={
        "v": quantity("vol sigma volatility", "vols sigmas", 0.15, 0.45, 0.2, 0.3, 0.25),
        "r": quantity("rate r yield_rate", "rates yields", 0.01, 0.06, 0.02, 0.05, 0.03),
        "t": quantity("tau years expiry", "taus expiries maturities", 0.25, 2.0, 0.5, 1.5, 0.25),
        "q": quantity("delta level alpha", "deltas levels alphas", 0.05, 0.45, 0.25, 0.1, 0.05),
    },
    titles="price_by_kind option_book greeks",
    kinds="payoff option_type kinds",
    struct="Market Contract Model",
    records="Quote Position",
    grids=("i|tid|trade", "book trade|row col|i j", "scenario book trade|b i j"),
    weights="positions notionals weights",
    masks="alive live mask",
    reductions=("sum",),
    reduced="call_price put_price digital_call black76_call forward_value",
    slopes="s v r t",
    paired=True,
    groups="model_ids surface_ids",
)
_D1 = "d1 = (log({s} / {x}) + ({r} + {v}^2 / 2) * {t}) / ({v} * sqrt({t}))"
_D2 = f"{_D1} and d2 = d1 - {{v}} * sqrt({{t}})"


def _cdf(z: Expr) -> Expr:
    return 0.5 * (1.0 + erf(ROOT_HALF * z))


def _normal(body: BodyBuilder, z: Expr) -> Expr:
    return either(body, _cdf(z), 0.5 * fn("erfc", -ROOT_HALF * z))


def _pdf(z: Expr) -> Expr:
    return 0.39894228 * exp(-0.5 * z * z)


def _ds(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> tuple[Expr, Expr]:
    root = body.let("vol_t sd vst", v * sqrt(t))
    return body.let("d1 d_plus", (log(s / x) + (r + 0.5 * v * v) * t) / root), root


@_OPTION.formula(
    "call price_out",
    f"{{s}} * N(d1) - {{x}} * exp(-{{r}} * {{t}}) * N(d2), N the normal CDF by erf, {_D2}",
)
def call_price(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(body, s, x, v, r, t)
    d2 = body.let("d2 d_minus", d1 - root)
    return s * _normal(body, d1) - x * exp(-r * t) * _normal(body, d2)


@_OPTION.formula(
    "put price_out",
    f"{{x}} * exp(-{{r}} * {{t}}) * N(-d2) - {{s}} * N(-d1), N the normal CDF, {_D2}",
)
def put_price(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(body, s, x, v, r, t)
    df = body.let("df disc", exp(-r * t))
    return x * df * _cdf(root - d1) - s * _cdf(-d1)


_OPTION.add(
    "call_delta",
    "delta_out hedge",
    lambda body, s, x, v, r, t: _normal(body, _ds(body, s, x, v, r, t)[0]),
    f"N(d1), the normal CDF at {_D1}",
)


@_OPTION.formula(
    "gamma gammas", f"n(d1) / ({{s}} * {{v}} * sqrt({{t}})), n the normal density, {_D1}"
)
def option_gamma(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(body, s, x, v, r, t)
    return _pdf(d1) / (s * root)


_OPTION.add(
    "option_vega",
    "vega vegas",
    lambda body, s, x, v, r, t: s * _pdf(_ds(body, s, x, v, r, t)[0]) * sqrt(t),
    f"{{s}} * n(d1) * sqrt({{t}}), n the normal density, {_D1}",
)


@_OPTION.formula(
    "theta thetas",
    f"-{{s}} * {{v}} * n(d1) / (2 * sqrt({{t}})) - {{r}} * {{x}} * exp(-{{r}} * {{t}}) * N(d2), "
    f"n and N the normal density and CDF, {_D2}",
)
def call_theta(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(body, s, x, v, r, t)
    carry = body.let("carry interest", r * x * exp(-r * t) * _cdf(d1 - root))
    return -0.5 * s * v * _pdf(d1) / sqrt(t) - carry


@_OPTION.formula("digital payout", f"exp(-{{r}} * {{t}}) * N(d2), N the normal CDF, {_D2}")
def digital_call(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(body, s, x, v, r, t)
    return exp(-r * t) * _normal(body, d1 - root)


@_OPTION.formula(
    "call price_out",
    "({s} - {x}) * N(d) + w * n(d), n and N the normal density and CDF, w = {v} * {x} * sqrt({t}), "
    "d = ({s} - {x}) / w",
)
def bachelier_call(body: BodyBuilder, s: Expr, x: Expr, v: Expr, t: Expr) -> Expr:
    sd = body.let("sd width", v * x * sqrt(t))
    d = body.let("d moneyness", (s - x) / sd)
    return (s - x) * _normal(body, d) + sd * _pdf(d)


@_OPTION.formula(
    "call price_out",
    "exp(-{r} * {t}) * ({s} * N(d1) - {x} * N(d1 - w)), N the normal CDF, w = {v} * sqrt({t}), "
    "d1 = log({s} / {x}) / w + w / 2",
)
def black76_call(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    root = body.let("vol_t sd", v * sqrt(t))
    d1 = body.let("d1 d_plus", log(s / x) / root + 0.5 * root)
    return exp(-r * t) * (s * _cdf(d1) - x * _cdf(d1 - root))


_OPTION.add("forward_value", "forward fwd", lambda s, x, r, t: s - x * exp(-r * t))
_OPTION.add(
    "intrinsic_value", "intrinsic payoff_out", lambda s, x, r, t: most(s - x * exp(-r * t), 0.0)
)


@_OPTION.formula("touch_prob hit_prob")
def touch_probability(body: BodyBuilder, s: Expr, x: Expr, v: Expr, t: Expr) -> Expr:
    reach = body.let("reach dist", abs(log(x / s)))
    return fn("erfc", reach / (v * sqrt(2.0 * t)))


@_OPTION.formula(
    "strike_out strikes_out",
    "{s} * exp(z * w + w^2 / 2) with z = sqrt(2) * erfcinv(2 * {q}), w = {v} * sqrt({t})",
    q="delta",
)
def strike_from_delta(body: BodyBuilder, s: Expr, v: Expr, t: Expr, q: Expr) -> Expr:
    z = body.let("z quantile", 1.4142136 * fn("erfcinv", 2.0 * q))
    root = body.let("vol_t sd", v * sqrt(t))
    return s * exp(z * root + 0.5 * root * root)


@_OPTION.formula(
    "var_out risk",
    "{s} * (1 - exp(-z * {v} * sqrt({t}))) with z = sqrt(2) * erfinv(1 - 2 * {q})",
    q="alpha",
)
def value_at_risk(body: BodyBuilder, s: Expr, v: Expr, t: Expr, q: Expr) -> Expr:
    z = body.let("z quantile", 1.4142136 * fn("erfinv", 1.0 - 2.0 * q))
    return s * (1.0 - exp(-z * v * sqrt(t)))


@idiom(depth=DEPTH)
def option_price(k: KernelBuilder, level: int) -> Title:
    """Prices and greeks of European options, and risk figures of the same model."""
    return compose(k, level, _OPTION)
