"""Finance: growth, annuities and bonds; option prices, their greeks and risk figures."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import ROOT_HALF, erf, exp, least, log, log2, most, sqrt
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr, Var

_INTEREST = Family(
    inputs={
        "a": quantity("principal amount", "principals amounts", 500.0, 2000.0),
        "t": quantity("years term", "terms horizons", 1.0, 10.0),
    },
    params={
        "r": quantity("rate apr", "rates aprs", 0.02, 0.09),
        "c": quantity("coupon inflation", "coupons inflations", 0.01, 0.07),
        "cap": quantity("tier_limit first_tier", "tier_limits first_tiers", 900.0, 1500.0),
        "upper": quantity("upper_rate rate_above", "upper_rates rates_above", 0.005, 0.015),
    },
    titles="value_by_kind cash_flows account_report",
    kinds="product kinds contract",
    struct="Terms Loan",
    records="Account Deposit",
    grids=("i|acct|tid", "book acct|row col|i j", "scenario book acct|b i j"),
    masks="open_flag active mask",
    reductions=("sum",),
    reduced="present_value annuity_value bond_price",
    weights="",
    slopes="r",
    groups="product_ids account_types",
    varying="r",
    about={
        "compound_growth": "balance after years of yearly compounding",
        "continuous_growth": "balance after years of continuous compounding",
        "present_value": "present value of a payment some years ahead",
        "annuity_value": "present value of a yearly annuity",
        "bond_price": "price of a bond with a yearly coupon",
        "real_growth": "purchasing power of a deposit that grows while prices rise",
        "doublings": "how often a deposit doubles over its term",
        "annuity_duration": "Macaulay duration of a level annuity, in years",
        "loan_payment": "monthly instalment of a loan",
        "tiered_interest": "a year's interest of which the part above a limit earns another rate",
        "simple_interest": "simple interest over a term",
        "stub_growth": "balance with compound interest for whole years, simple in the last part",
    },
)


def _factor(body: BodyBuilder, r: Expr, t: Expr) -> Expr:
    return body.let("df disc factor", (1.0 + r) ** -t)


_INTEREST.add("compound_growth", "balance grown_value", lambda a, r, t: a * (1.0 + r) ** t)
_INTEREST.add("continuous_growth", "balance grown_value", lambda a, r, t: a * exp(r * t))
_INTEREST.add(
    "present_value",
    "pv present_value_out",
    lambda body, a, r, t: a * _factor(body, r, t),
    a="amount amounts",
)
_INTEREST.add(
    "annuity_value",
    "pv annuity",
    lambda body, a, r, t: a * (1.0 - _factor(body, r, t)) / r,
    a="payment payments",
)
_INTEREST.add(
    "bond_price",
    "bond_value price_out",
    lambda body, a, r, t, c: a * (c * (1.0 - (df := _factor(body, r, t))) / r + df),
    a="face_value face_values",
    r="yield_rate yields",
    c="coupon coupons",
)
_INTEREST.add(
    "real_growth",
    "real_value purchasing_power",
    lambda a, r, t, c: a * ((1.0 + r) / (1.0 + c)) ** t,
    c="inflation inflations",
)
_INTEREST.add("doublings", "doublings num_doublings", lambda t, r: t * log2(1.0 + r))
_INTEREST.add("simple_interest", "interest earned", lambda a, r, t: a * r * t)


@_INTEREST.formula("duration macaulay")
def annuity_duration(body: BodyBuilder, r: Expr, t: Expr) -> Expr:
    df = _factor(body, r, t)
    return ((1.0 - df) * (1.0 + r) / r - t * df) / (1.0 - df)


@_INTEREST.formula("payment instalment")
def loan_payment(body: BodyBuilder, a: Expr, r: Expr, t: Expr) -> Expr:
    m = body.let("monthly monthly_rate", r / 12.0)
    grown = body.let("grown compound", (1.0 + m) ** (12.0 * t))
    return a * m * grown / (grown - 1.0)


@_INTEREST.formula("interest earned")
def tiered_interest(body: BodyBuilder, a: Expr, r: Expr, cap: Expr, upper: Expr) -> Expr:
    base = body.let("base first_part", least(a, cap))
    return r * base + upper * (a - base)


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
        "s": quantity("spot underlying", "spots underlyings", 80.0, 120.0),
        "x": quantity("strike strike_price", "strikes strike_prices", 85.0, 115.0),
    },
    params={
        "v": quantity("vol sigma", "vols sigmas", 0.15, 0.45, 0.2, 0.3, 0.25),
        "r": quantity("rate r", "rates rates", 0.01, 0.06, 0.02, 0.05, 0.03),
        "t": quantity("expiry maturity", "expiries maturities", 0.25, 2.0, 0.5, 1.5, 0.25),
        "q": quantity("delta", "deltas", 0.05, 0.45, 0.25, 0.1, 0.05),
    },
    titles="price_by_kind option_book greeks",
    kinds="payoff option_type kinds",
    struct="Market Contract Model",
    records="Quote Position",
    grids=("i|tid|trade", "scenario trade|row col|i j", "scenario book trade|b i j"),
    weights="position_sizes quantities",
    masks="alive live mask",
    reductions=("sum",),
    reduced="call_price put_price black76_call forward_value",
    slopes="s v r t",
    sloped="call_price put_price digital_call bachelier_call black76_call",
    groups="expiry_ids",
    flat=True,
    varying="v t",
    per_entry=True,
    tabled=True,
    about={
        "call_price": "Black-Scholes price of a European call",
        "put_price": "Black-Scholes price of a European put",
        "call_delta": "Black-Scholes delta of a European call",
        "option_gamma": "Black-Scholes gamma of a European option",
        "option_vega": "Black-Scholes vega of a European option",
        "call_theta": "Black-Scholes theta of a European call, per year",
        "digital_call": "price of a cash-or-nothing call that pays 1",
        "bachelier_call": "Bachelier price of a call, without interest and with the normal "
        "volatility vol * strike",
        "black76_call": "Black's 1976 price of a call on a forward",
        "forward_value": "value today of a forward contract",
        "intrinsic_value": "value of exercising a call against its discounted strike",
        "touch_probability": "probability that a driftless log price touches a barrier by expiry",
        "strike_from_delta": "strike of the call with a given forward delta",
        "value_at_risk": "lognormal value at risk of a position, without drift",
    },
)
_D1 = "d1 = (log({s} / {x}) + ({r} + {v}^2 / 2) * {t}) / ({v} * sqrt({t}))"
_D2 = f"{_D1} and d2 = d1 - {{v}} * sqrt({{t}})"


def _cdf(z: Expr) -> Expr:
    return 0.5 * (1.0 + erf(ROOT_HALF * z))


def _tail(z: Expr) -> Expr:
    """N(-z)."""
    return 0.5 * fn("erfc", ROOT_HALF * z)


def _normal(body: BodyBuilder, z: Expr) -> Expr:
    return either(body, _cdf(z), 0.5 * fn("erfc", -ROOT_HALF * z))


def _pdf(z: Expr) -> Expr:
    return 0.39894228 * exp(-0.5 * z * z)


def _second(body: BodyBuilder, d1: Expr, root: Expr) -> Expr:
    """d2, named as d1 is."""
    plain = isinstance(d1, Var) and d1.name == "d1"
    return body.let("d2" if plain else "d_minus", d1 - root)


def _ds(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> tuple[Expr, Expr]:
    root = body.let("vol_t sd vst", v * sqrt(t))
    return body.let("d1 d_plus", (log(s / x) + (r + 0.5 * v * v) * t) / root), root


@_OPTION.formula(
    "call price_out",
    f"{{s}} * N(d1) - {{x}} * exp(-{{r}} * {{t}}) * N(d2), N the normal CDF by erf, {_D2}",
)
def call_price(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(body, s, x, v, r, t)
    d2 = _second(body, d1, root)
    return s * _normal(body, d1) - x * exp(-r * t) * _normal(body, d2)


@_OPTION.formula(
    "put price_out",
    f"{{x}} * exp(-{{r}} * {{t}}) * N(-d2) - {{s}} * N(-d1), N the normal CDF, {_D2}",
)
def put_price(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(body, s, x, v, r, t)
    d2 = _second(body, d1, root)
    df = body.let("df disc", exp(-r * t))
    if body.draw.shape.chance(0.5):
        return x * df * (1.0 - _cdf(d2)) - s * (1.0 - _cdf(d1))
    return x * df * _tail(d2) - s * _tail(d1)


_OPTION.add(
    "call_delta",
    "delta_out hedge",
    lambda body, s, x, v, r, t: _normal(body, _ds(body, s, x, v, r, t)[0]),
    f"N(d1), the normal CDF at {_D1}",
)


@_OPTION.formula(
    "gamma_out gammas", f"n(d1) / ({{s}} * {{v}} * sqrt({{t}})), n the normal density, {_D1}"
)
def option_gamma(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    d1, root = _ds(body, s, x, v, r, t)
    return _pdf(d1) / (s * root)


_OPTION.add(
    "option_vega",
    "vega_out vegas",
    lambda body, s, x, v, r, t: s * _pdf(_ds(body, s, x, v, r, t)[0]) * sqrt(t),
    f"{{s}} * n(d1) * sqrt({{t}}), n the normal density, {_D1}",
)


@_OPTION.formula(
    "theta_out thetas",
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
    s="forward forwards",
)
def black76_call(body: BodyBuilder, s: Expr, x: Expr, v: Expr, r: Expr, t: Expr) -> Expr:
    root = body.let("vol_t sd", v * sqrt(t))
    d1 = body.let("d1 d_plus", log(s / x) / root + 0.5 * root)
    return exp(-r * t) * (s * _cdf(d1) - x * _cdf(d1 - root))


_OPTION.add("forward_value", "contract_value forward_pv", lambda s, x, r, t: s - x * exp(-r * t))
_OPTION.add(
    "intrinsic_value", "intrinsic payoff_out", lambda s, x, r, t: most(s - x * exp(-r * t), 0.0)
)


@_OPTION.formula("touch_prob hit_prob", x="barrier barriers")
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
    "value_at_risk_out risk",
    "{s} * (1 - exp(-z * {v} * sqrt({t}))) with z = sqrt(2) * erfinv(1 - 2 * {q})",
    q="alpha",
    s="position position_values",
)
def value_at_risk(body: BodyBuilder, s: Expr, v: Expr, t: Expr, q: Expr) -> Expr:
    z = body.let("z quantile", 1.4142136 * fn("erfinv", 1.0 - 2.0 * q))
    return s * (1.0 - exp(-z * v * sqrt(t)))


@idiom(depth=DEPTH)
def option_price(k: KernelBuilder, level: int) -> Title:
    """Prices and greeks of European options, and risk figures of the same model."""
    return compose(k, level, _OPTION)
