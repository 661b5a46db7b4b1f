"""Money: interest, instalments, fees and taxes, profit of trades, in reals or in whole cents."""

from __future__ import annotations

from generators.arithmetic.tasks import EITHER, ONE, Input, Task, perform
from generators.arithmetic.types import FLOAT64, INT64
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, exp, least, most
from generators.kit.sites import launch
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr

_PRINCIPAL = Input("principals balances", 100.0, 900.0)
_RATE = Input("annual_rate rate", 0.02, 0.15, EITHER, many="annual_rates rates")
_DAYS = Input("days days_held", 1, 720, type=INT32, local="num_days")
_YEARS = Input("num_years maturities", 0.5, 8.0, local="t term")


def _payment(body: BodyBuilder, p: Expr, r: Expr, n: Expr) -> Expr:
    assert isinstance(p.type, Scalar)
    monthly = body.let("monthly_rate r_month", r / 12.0)
    growth = body.let("growth compounded", fn("pow", 1.0 + monthly, cast(n, p.type)))
    return p * monthly * growth / (growth - 1.0)


def _brackets(
    body: BodyBuilder, income: Expr, b1: Expr, b2: Expr, r0: Expr, r1: Expr, r2: Expr
) -> Expr:
    low = body.let("first_part low_part", least(income, b1))
    middle = body.let("middle_part second_part", clamp(income, b1, b2) - b1)
    return r0 * low + r1 * middle + r2 * most(income - b2, 0.0)


def _drawdown_stop(price: Expr, peak: Expr, limit: Expr) -> Expr:
    return (peak - price) / peak > limit


def _interest_task(year: float) -> Task:
    """Simple interest for some days of a year of so many."""
    return Task(
        "simple_interest accrued_interest",
        {"p": _PRINCIPAL, "r": _RATE, "d": _DAYS},
        {"interest accrued": lambda p, r, d: p * r * (cast(d, p.type) / year)},
        f"Simple interest on {{p}} at the annual rate {{r}} for {{d}} days, a year having "
        f"{year:g}. Store it in {{out0}}.",
    )


_TASKS: tuple[Task, ...] = (
    *(_interest_task(days) for days in (360.0, 365.0)),
    Task(
        "compound_interest future_value grow_balance",
        {
            "p": _PRINCIPAL,
            "r": _RATE,
            "n": Input("periods_per_year compoundings", 1, 12, ONE, type=INT32),
            "t": _YEARS,
        },
        {
            "future_values grown": lambda p, r, n, t: (
                p * fn("pow", 1.0 + r / cast(n, p.type), cast(n, p.type) * t)
            )
        },
        "Compound interest: set {out0} to what {p} grow to in {t} years at the annual rate {r}, "
        "compounded {n} times a year.",
    ),
    Task(
        "continuous_compounding grow_continuously",
        {"p": _PRINCIPAL, "r": _RATE, "t": _YEARS},
        {"future_values grown": lambda p, r, t: p * exp(r * t)},
        "Continuous compounding: set {out0} to {p} * exp({r} * {t}), the rate being annual and the "
        "times in years.",
    ),
    Task(
        "present_value discount_payments zero_coupon_price",
        {"p": Input("payments face_values", 100.0, 900.0), "r": _RATE, "t": _YEARS},
        {"present_values prices": lambda p, r, t: p * fn("pow", 1.0 + r, -t)},
        "Present value of {p} that are due in {t} years, at the annual rate {r}: {p} times (1 + "
        "{r}) to the power -{t}. Store it in {out0}.",
    ),
    Task(
        "monthly_payment loan_payment amortized_payment",
        {
            "p": Input("loans principals", 100.0, 900.0),
            "r": _RATE,
            "n": Input("num_months terms", 12, 120, type=INT32, local="months"),
        },
        {"payments installments": _payment},
        "Monthly payment that repays each of {p} in {n} months at the annual rate {r}: with m = "
        "{r} / 12, it is {p} * m * (1 + m)^{n} / ((1 + m)^{n} - 1). Store it in {out0}.",
    ),
    Task(
        "trade_pnl profit_and_loss",
        {
            "q": Input("positions quantities", -50.0, 50.0, local="qty"),
            "a": Input("entry_prices buy_prices", 10.0, 50.0, local="entry"),
            "b": Input("marks last_prices", 10.0, 50.0, local="mark"),
        },
        {"pnl profit": lambda q, a, b: q * (b - a)},
        "Profit of open positions, negative quantities being short: set {out0} to {q} * ({b} - "
        "{a}).",
    ),
    Task(
        "net_pnl pnl_after_fees",
        {
            "q": Input("quantities positions", -50.0, 50.0, local="qty"),
            "a": Input("entry_prices buy_prices", 10.0, 50.0, local="entry"),
            "b": Input("exit_prices sell_prices", 10.0, 50.0, local="exit_price"),
            "fee": Input("fee_rate commission", 0.0005, 0.005, ONE),
        },
        {"pnl net_profit": lambda q, a, b, fee: q * (b - a) - fee * abs(q) * (a + b)},
        "Profit of closed trades, {q} * ({b} - {a}), less the fee {fee} on the money that changed "
        "hands, {fee} * |{q}| * ({a} + {b}). Store it in {out0}.",
    ),
    Task(
        "trade_fee broker_fee",
        {
            "v": Input("notionals trade_values", 100.0, 900.0),
            "rate": Input("fee_rate commission", 0.002, 0.01, ONE),
            "low": Input("min_fee", 1.5, 3.0, ONE),
        },
        {"fees charges": lambda v, rate, low: most(rate * v, low)},
        "Fee on each of {v}: {rate} times it, and at least {low}. Store it in {out0}.",
    ),
    Task(
        "net_salary after_tax",
        {
            "v": Input("gross salaries", 10.0, 90.0, local="earned"),
            "rate": Input("tax_rate", 0.1, 0.4, ONE),
            "free": Input("allowance tax_free", 15.0, 40.0, ONE),
        },
        {"net take_home": lambda v, rate, free: v - rate * most(v - free, 0.0)},
        "Net pay: {v} less the tax {rate} on what exceeds {free}. Store it in {out0}.",
    ),
    Task(
        "bracket_tax progressive_tax income_tax",
        {
            "income": Input("incomes taxable", 5.0, 90.0),
            "b1": Input("bracket1", 10.0, 25.0, ONE),
            "b2": Input("bracket2", 40.0, 60.0, ONE),
            "r0": Input("rate1", 0.05, 0.15, ONE),
            "r1": Input("rate2", 0.2, 0.3, ONE),
            "r2": Input("rate3", 0.35, 0.5, ONE),
        },
        {"tax due": _brackets},
        "Income tax by brackets: {r0} on the part of {income} up to {b1}, {r1} on that between "
        "{b1} and {b2}, and {r2} on what exceeds {b2}. Store it in {out0}.",
    ),
    Task(
        "simple_returns period_returns",
        {
            "now": Input("prices closes", 10.0, 50.0),
            "before": Input("prev_prices prev_closes", 10.0, 50.0, local="before last"),
        },
        {"returns": lambda now, before: now / before - 1.0},
        "Returns of assets over a period: set {out0} to {now} / {before} - 1.",
    ),
    Task(
        "excess_return jensen_alpha",
        {
            "r": Input("returns asset_returns", -0.3, 0.4),
            "beta": Input("betas", 0.5, 1.5),
            "m": Input("market_return benchmark", -0.2, 0.3, ONE),
            "free": Input("risk_free_rate cash_rate", 0.01, 0.05, ONE),
        },
        {"alphas abnormal": lambda r, beta, m, free: r - (free + beta * (m - free))},
        "Jensen's alpha of assets: set {out0} to {r} less the return {free} + {beta} * ({m} - "
        "{free}) that the capital asset pricing model expects.",
    ),
    Task(
        "call_payoff option_payoff",
        {
            "s": Input("spots final_prices", 50.0, 150.0, local="spot"),
            "k": Input("strike", 80.0, 120.0, EITHER, many="strikes"),
        },
        {"payoffs": lambda s, k: most(s - k, 0.0)},
        "Payoff of European calls at expiry: the part of {s} above {k}, else 0. Store it in "
        "{out0}.",
    ),
    Task(
        "spread_payoff bull_spread",
        {
            "s": Input("spots final_prices", 50.0, 150.0, local="spot"),
            "low": Input("low_strike", 70.0, 90.0, ONE),
            "high": Input("high_strike", 110.0, 130.0, ONE),
        },
        {"payoffs": lambda s, low, high: clamp(s, low, high) - low},
        "Payoff of a bull spread at expiry: how far {s} exceeds {low}, at most {high} - {low}. "
        "Store it in {out0}.",
    ),
    Task(
        "stop_loss drawdown_stop",
        {
            "price": Input("prices", 50.0, 100.0),
            "peak": Input("peaks highs", 100.0, 110.0),
            "limit": Input("max_drawdown limit", 0.1, 0.3, ONE),
        },
        {"stopped exit_flags": _drawdown_stop},
        "Whether a position is to be closed: its price in {price} has fallen from {peak} by a "
        "share of more than {limit}. Store it in {out0}.",
    ),
    Task(
        "convert_currency fx_convert",
        {
            "v": Input("amounts balances", 100.0, 900.0),
            "r": Input("fx_rate exchange_rate", 0.7, 1.4, EITHER, many="fx_rates"),
            "spread": Input("spread markup", 0.002, 0.02, ONE),
        },
        {"converted": lambda v, r, spread: v * r * (1.0 - spread)},
        "Convert {v} at the exchange rate {r} less the bank's share {spread}. Store it in {out0}.",
    ),
)


def _cents_task(words: str, plus: int) -> Task:
    """Fees in basis points of whole cents."""

    def net(body: BodyBuilder, cents: Expr, bps: Expr) -> Expr:
        raw = cents * bps
        fee = body.let("fee charge", (raw + plus if plus else raw) // 10_000)
        return cents - fee

    return Task(
        "integer_fee apply_fee_cents net_of_fee",
        {
            "cents": Input("amount_cents cents", 100, 90_000, local="amount"),
            "bps": Input("fee_bps bps", 60, 150, EITHER, many="fee_bps"),
        },
        {"net_cents after_fee": net},
        f"Take a fee of {{bps}} basis points, rounded {words} to whole cents, off {{cents}}: set "
        "{out0} to what is left.",
    )


_CENTS = (
    _cents_task("down", 0),
    _cents_task("half up", 5_000),
    _cents_task("up", 9_999),
    Task(
        "split_bill divide_cents",
        {
            "cents": Input("totals amount_cents", 100, 90_000, local="amount"),
            "n": Input("parties num_people", 2, 9, local="people"),
        },
        {
            "shares each": lambda cents, n: cents // n,
            "leftover odd_cents": lambda cents, n: cents % n,
        },
        "Split {cents} evenly among {n} people in whole cents: set {out0} to the share of each and "
        "{out1} to the cents that are left.",
    ),
    Task(
        "round_to_tick price_to_tick",
        {
            "cents": Input("price_cents cents", 100, 90_000, local="price"),
            "tick": Input("tick tick_size", 5, 50, ONE),
        },
        {"rounded ticked": lambda cents, tick: (cents + tick // 2) // tick * tick},
        "Round {cents} to the nearest multiple of {tick}, halves up. Store it in {out0}.",
    ),
    Task(
        "add_vat gross_price",
        {
            "cents": Input("net_cents prices", 100, 90_000, local="net_price"),
            "percent": Input("vat_percent tax_percent", 5, 25, ONE),
        },
        {"gross_cents gross": lambda cents, percent: (cents * (percent + 100) + 50) // 100},
        "Add {percent} percent of tax to {cents}, rounded half up to whole cents. Store it in "
        "{out0}.",
    ),
    Task(
        "discount_price apply_discount",
        {
            "cents": Input("prices price_cents", 100, 90_000),
            "percent": Input("percent_off discount", 5, 60, EITHER, many="discounts"),
            "least_": Input("min_price floor_price", 500, 5_000, ONE),
        },
        {
            "reduced sale_prices": lambda cents, percent, least_: most(
                cents * (100 - percent) // 100, least_
            )
        },
        "Take {percent} percent off {cents}, rounded down to whole cents, but do not go below "
        "{least_}. Store it in {out0}.",
    ),
)


@idiom(depth=1)
def interest(k: KernelBuilder, level: int) -> Title:
    """Interest, discounting, repayment, profit and fees, in reals or in whole cents."""
    shape = k.draw.shape
    s = launch(k, list=1)
    if shape.chance(0.3):
        task = shape.choice(_CENTS)
        # What is multiplied by basis points or percent leaves 32 bits at sums that occur.
        scaled = {"bps", "percent"} & task.inputs.keys()
        return perform(s, task, INT64 if scaled else shape.choice((INT64, INT32)))
    f: Scalar = shape.choice((FLOAT32, FLOAT64))
    return perform(s, shape.choice(_TASKS), f)
