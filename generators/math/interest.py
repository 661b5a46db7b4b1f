"""Interest: growth, discounting, annuities, bonds and returns."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _factor(b: BodyBuilder, r: Expr, t: Expr) -> Expr:
    return b.let(("df", "disc", "factor"), fn("pow", 1.0 + r, -t))


def _annuity(b: BodyBuilder, a: Expr, r: Expr, t: Expr) -> Expr:
    return a * (1.0 - _factor(b, r, t)) / r


def _payment(b: BodyBuilder, a: Expr, r: Expr, t: Expr) -> Expr:
    m = b.let(("monthly", "m_rate"), r / 12.0)
    grown = b.let(("grown", "compound"), fn("pow", 1.0 + m, 12.0 * t))
    return a * m * grown / (grown - 1.0)


def _bond(b: BodyBuilder, a: Expr, r: Expr, t: Expr, c: Expr) -> Expr:
    df = _factor(b, r, t)
    return a * (c * (1.0 - df) / r + df)


def _tiered(b: BodyBuilder, a: Expr, r: Expr) -> Expr:
    b.note("the part above 1200 earns half the rate")
    base = b.let(("base", "lower"), fn("min", a, 1200.0))
    return r * base + 0.5 * r * (a - base)


def _rounded(b: BodyBuilder, a: Expr, r: Expr, t: Expr) -> Expr:
    raw = b.let(("raw", "exact"), a * r * t)
    return either(b, fn("round", raw), fn("rint", raw))


def _floored(b: BodyBuilder, a: Expr, r: Expr, t: Expr) -> Expr:
    whole = b.let(("whole", "full_years"), fn("trunc", t))
    part = b.let(("stub", "part"), fn("frac", t))
    return a * fn("pow", 1.0 + r, whole) * (1.0 + r * part)


_INTEREST = Family(
    item="account",
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
    parts="scenarios s scen",
    weights="weights shares",
    masks="open_flag active mask",
    reductions=("sum", "mean", "largest", "smallest"),
    spatial=False,
    cards=(
        by_hand(
            "compound_growth",
            "balance grown_value",
            "{a} * (1 + {r})^{t}",
            "a r t",
            lambda b, a, r, t: a * fn("pow", 1.0 + r, t),
        ),
        by_hand(
            "continuous_growth",
            "balance grown_value",
            "{a} * exp({r} * {t})",
            "a r t",
            lambda b, a, r, t: a * fn("exp", r * t),
        ),
        by_hand(
            "present_value",
            "pv present",
            "{a} * (1 + {r})^(-{t})",
            "a r t",
            lambda b, a, r, t: a * _factor(b, r, t),
        ),
        by_hand(
            "annuity_value", "pv annuity", "{a} * (1 - (1 + {r})^(-{t})) / {r}", "a r t", _annuity
        ),
        by_hand(
            "loan_payment",
            "payment instalment",
            "{a} * m * g / (g - 1) with m = {r} / 12 and g = (1 + m)^(12 * {t})",
            "a r t",
            _payment,
        ),
        by_hand(
            "bond_price",
            "bond clean_price",
            "{a} * ({c} * (1 - d) / {r} + d) with d = (1 + {r})^(-{t})",
            "a r t c",
            _bond,
        ),
        by_hand(
            "growing_perpetuity",
            "pv present",
            "{a} / ({r} + 0.1 - {c})",
            "a r c",
            lambda b, a, r, c: a / (r + 0.1 - c),
        ),
        by_hand(
            "tiered_interest",
            "interest earned",
            "{r} * q + {r} / 2 * ({a} - q) with q = min({a}, 1200)",
            "a r",
            _tiered,
        ),
        by_hand(
            "real_growth",
            "real_value purchasing",
            "{a} * ((1 + {r}) / (1 + {c}))^{t}",
            "a r t c",
            lambda b, a, r, t, c: a * fn("pow", (1.0 + r) / (1.0 + c), t),
        ),
        by_hand(
            "rounded_interest",
            "interest earned",
            "{a} * {r} * {t} rounded to the nearest whole number",
            "a r t",
            _rounded,
        ),
        by_hand(
            "stub_growth",
            "balance grown_value",
            "{a} * (1 + {r})^w * (1 + {r} * f), w the whole part and f the fraction of {t}",
            "a r t",
            _floored,
        ),
        by_hand(
            "doublings",
            "doublings growth_steps",
            "{t} * log2(1 + {r} + {c})",
            "t r c",
            lambda b, t, r, c: t * fn("log2", 1.0 + r + c),
        ),
        by_hand(
            "annuity_duration",
            "duration macaulay",
            "((1 - d) * (1 + {r}) / {r} - {t} * d) / (1 - d) with d = (1 + {r})^(-{t})",
            "r t",
            lambda b, r, t: ((1.0 - (d := _factor(b, r, t))) * (1.0 + r) / r - t * d) / (1.0 - d),
        ),
    ),
)


@idiom
def interest(k: KernelBuilder, level: int) -> Title:
    """Values of deposits, loans, annuities and bonds."""
    return compose(k, level, _INTEREST)
