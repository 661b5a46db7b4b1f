"""Money: interest, fees by bracket, rounding to ticks and cents, discounted payments."""

from __future__ import annotations

from generators.arithmetic.common import DATA, stored
from generators.arithmetic.types import FLOAT64, INT64
from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, formulas
from generators.kit.functions import clamp, most
from generators.kit.naming import held, maybe, routine
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar, scalar_of
from generators.program.expr import Expr, literal

_NAMES = {
    "simple": "simple_interest accrued_interest accrue",
    "compound": "compound_interest grow_balance future_value",
    "present": "discount_payments present_value npv_rows",
    "loan": "amortize_loan loan_balance repay_loan",
    "pnl": "trade_pnl mark_to_market position_value",
    "cents": "split_cents apply_fee_cents integer_fee",
}
_SIMPLE = formulas(interest=lambda p, r, y: p * r * y, balance=lambda p, r, y: p * (1.0 + r * y))
_TRADES = formulas(
    relative=lambda p, r, a, b: p * (b - a) / a - r,
    after_costs=lambda p, r, a, b: p * (b - a) - r * p,
)
_CHARGES = formulas(
    share=lambda v, share: share * v,
    fee=lambda v, rate, flat: v - most(rate * abs(v), flat),
    tax=lambda v, rate, free: v - rate * most(v - free, 0.0),
)


@idiom(depth=1)
def interest(k: KernelBuilder, level: int) -> Title:
    """Interest, discounting, repayment, profit and fees, in reals or in whole cents."""
    shape = k.draw.shape
    f = shape.choice((FLOAT32, FLOAT64))
    s = launch(k, list=4, grid=3)
    forms = ("simple", "pnl", "cents") if level == 1 else ("simple", "pnl", "cents", "compound")
    form = shape.choice(forms if level < 3 else ("compound", "present", "loan", "pnl", "cents"))
    if form == "cents":
        return Title(k.name(_NAMES[form]), _cents(s, level))
    balance = s.read("principal balance notional", f, 1.0, 10.0)
    rate = given(s, "rate annual_rate yield_rate", f, 0.02, 0.15, forms=DATA)
    if form == "present":
        value, text = _discounted(s, balance, rate)
    elif form in ("simple", "pnl"):
        value, text = _valued(s, level, form, balance, rate)
    else:
        value, text = _grown(s, level, form, balance, rate)
    if level >= 2 and shape.chance(0.6):
        value, text = _charged(s, value, text)
    done = f"Compute {text}."
    if level >= 4:
        value = held(k, "worth final_value", value)
        done += _gain(s, level, value, balance)
    done += stored(s, "amount value_out result", value, balance, 0.06 if level >= 3 else 0.0)
    return Title(k.name(_NAMES[form]), done)


def _valued(s: Site, level: int, form: str, balance: Expr, rate: Expr) -> tuple[Expr, str]:
    """Interest for some days, or the profit of a trade."""
    k, f = s.k, scalar_of(balance.type)
    values = {"p": balance, "r": rate}
    if form == "simple":
        days = s.read("days days_held", INT32, 1, 360)
        values["y"] = cast(days, f) / k.draw.value.choice((360.0, 365.0))
    else:
        parts = {"a": Part("entry bid", f, 1.0, 5.0), "b": Part("mark ask", f, 1.0, 5.0)}
        values |= record(s, "Quote Trade", parts, 0.15 + 0.08 * level).values
    formula = k.draw.shape.choice(_SIMPLE if form == "simple" else _TRADES)
    text = formula.said({key: say(k, value) for key, value in values.items()})
    names = {"p": "p start", "y": "years year_fraction", "a": "before cost_basis"}
    for key in [key for key in names if key in values]:
        if formula.reads(key) > 1:
            values[key] = held(k, names[key], values[key])
        else:
            values[key] = maybe(k, names[key], values[key])
    return formula.of(k, values), text


def _grown(s: Site, level: int, form: str, balance: Expr, rate: Expr) -> tuple[Expr, str]:
    """A balance over several periods, with payments in or out."""
    k = s.k
    periods = k.draw.value.integer(2, 5)
    loan = form == "loan"
    rate_text, first = say(k, rate), say(k, balance)
    rate = held(k, "r period_rate", rate)
    total = k.let("total owed running", balance)
    pay = None
    if loan or k.draw.shape.chance(0.5):
        pay = given(s, "payment deposit instalment", balance.type, 0.1, 0.3, forms=DATA)
    params = {"before": balance.type, "period_rate": balance.type}
    chance = 0.5 if level >= 3 else 0.0
    accrue = routine(k, chance, "accrue_period add_interest", params, lambda b, v, r: v * (1.0 + r))
    more = f" {'-' if loan else '+'} {say(k, pay)}" if pay is not None else ""
    with k.for_("period month year", periods):
        grown = accrue(total, rate)
        if pay is not None:
            grown = grown - pay if loan else grown + pay
        k.assign(total, grown)
    text = f"b after {periods} times b = b * (1 + {rate_text}){more}, starting at b = {first}"
    return total, text


def _discounted(s: Site, balance: Expr, rate: Expr) -> tuple[Expr, str]:
    """Payments of several periods as they are worth today."""
    k, shape = s.k, s.k.draw.shape
    m = k.size("m", 2, 5)
    flows = s.array("cash_flows coupons payments", balance.type, 0.1, 1.0, more=m)
    count = k.trip_count("m num_periods", m)
    factor = k.let("factor discount", literal(1.0, balance.type))
    growth = k.let("per_period growth", 1.0 / (1.0 + rate))
    total = k.let("total pv", literal(0.0, balance.type))
    late = shape.chance(0.6)
    with k.for_("t period", count) as t:
        if late:
            k.augment(factor, "mul", growth)
        k.augment(total, "add", factor * flows[s.index(t)])
        if not late:
            k.augment(factor, "mul", growth)
    one = f"(1 + {say(k, rate)})"
    text = f"the sum over t of {flows.name}[t] / {one}^{'(t + 1)' if late else 't'}"
    if shape.chance(0.5):
        return total + factor * balance, f"{text}, plus {say(k, balance)} over {one}^m"
    return total - balance, f"{text}, minus {say(k, balance)}"


def _charged(s: Site, value: Expr, text: str) -> tuple[Expr, str]:
    """The value after a fee, a tax, or as a share of it."""
    k, f = s.k, value.type
    assert isinstance(f, Scalar)
    formula: Formula = k.draw.shape.choice(_CHARGES)
    gross = maybe if formula.name == "share" else held
    values: dict[str, Expr] = {"v": gross(k, "gross before_fees", value)}
    if formula.name == "share":
        values["share"] = given(s, "share fx_rate", f, 0.5, 1.5, forms=DATA)
    elif formula.name == "fee":
        values["rate"] = k.scalar("fee_rate commission", f, 0.01, 0.05)
        values["flat"] = s.read("min_fee flat_fee", f, 0.002, 0.3)
    else:
        values["rate"] = k.scalar("tax_rate levy", f, 0.1, 0.3)
        values["free"] = s.read("allowance exempt", f, 0.05, 8.0)
    texts = {key: say(k, part) for key, part in values.items()} | {"v": "v"}
    return formula.of(k, values), f"{formula.said(texts)} where v is {text}"


def _gain(s: Site, level: int, value: Expr, balance: Expr) -> str:
    """A second output: the relative change, at level 5 beside that of a market."""
    k, f = s.k, scalar_of(value.type)
    change = k.let("change gain", (value - balance) / balance)
    text = f"(v - {say(k, balance)}) / {say(k, balance)} of that value v"
    if level == 5:
        market = s.read("benchmark market_return", f, -0.5, 0.8)
        beta = given(s, "beta exposure", f, 0.5, 1.5, last=1)
        text += f", minus {say(k, beta * market)}"
        change = k.let("excess alpha", change - beta * market)
    return f" {s.put('returns growth_out', change).name} gets {text}."


def _cents(s: Site, level: int) -> str:
    """Whole cents: fees in basis points with rounding, shares with the rest to the last."""
    k, shape = s.k, s.k.draw.shape
    type_ = shape.choice((INT64, INT32))
    cents = s.read("cents amount_cents", type_, 100, 90000)
    points = given(
        s, "fee_rate bps_rate charge_rate", type_, 60, 150, shared=1, each=1, last=1, literal=1
    )
    amount = k.let("amount price", cents)
    words, plus = shape.choice((("down", 0), ("half up", 5000), ("up", 9999)))
    raw = amount * points
    fee: Expr = k.let("fee charge", (raw + plus if plus else raw) // 10000)
    done = f"The fee is {say(k, cents)} * {say(k, points)} / 10000 rounded {words}"
    if level >= 2 and shape.chance(0.6):
        parts = {
            "low": Part("min_fee floor_fee", type_, 60, 90),
            "high": Part("max_fee cap", type_, 300, 500),
        }
        r = record(s, "FeeLimits", parts, 0.4, shared=True)
        fee = k.let("limited due", clamp(fee, r["low"], r["high"]))
        done += f", kept in [{r.say('low')}, {r.say('high')}]"
    rest = held(k, "remaining paid_out", amount - fee)
    done += f". The rest is {say(k, cents)} minus the fee."
    if level >= 3:
        tick = k.draw.value.choice((5, 25, 50))
        out = s.put("ticks lots", rest // tick)
        done += f" {out.name} gets the rest over {tick}, rounded down."
    if level >= 4:
        parties = k.scalar("parties num_shares", type_, 2, 7)
        each = k.let("part equal_part", rest // parties)
        share, odd = s.put("share each", each), s.put("odd_cents leftover", rest - each * parties)
        done += f" {share.name} gets the rest over {parties.name} in whole cents, {odd.name} what "
        done += "is left of it."
    net = stored(s, "net after_fee", rest, cents, 0.08 if level >= 3 else 0.0)
    return done + net.replace("gets it", "gets the rest", 1)
