"""Money: interest, fees by bracket, rounding to ticks and cents, discounted payments."""

from __future__ import annotations

from generators.arithmetic.parts import (
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    Given,
    Grid,
    coefficient,
    condition,
    elements,
    grid,
    local,
    named,
    parameters,
    step,
    store_where,
)
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, literal

_FORMS = {
    "simple": ("simple_interest", "accrued_interest", "accrue"),
    "compound": ("compound_interest", "grow_balance", "future_value"),
    "present": ("discount_payments", "present_value", "npv_rows"),
    "loan": ("amortize_loan", "loan_balance", "repay_loan"),
    "pnl": ("trade_pnl", "mark_to_market", "position_value"),
    "cents": ("split_cents", "apply_fee_cents", "integer_fee"),
}


@idiom
def interest(k: KernelBuilder, level: int) -> Title:
    """Interest, discounting, repayment, profit and fees, in reals or in whole cents."""
    shape = k.draw.shape
    type_ = shape.choice((FLOAT32, FLOAT64))
    g = grid(k, {1: 4, 2: 3})
    forms = ("simple", "pnl", "cents") if level == 1 else ("simple", "pnl", "cents", "compound")
    form = shape.choice(forms if level < 3 else ("compound", "present", "loan", "pnl", "cents"))
    if form == "cents":
        return Title(k.name(*_FORMS[form]), _cents(k, level, g))
    (balance,) = elements(
        k, [(("principal", "balance", "notional"), type_, 1.0, 10.0)], g, ("Account",), 0.0
    )
    kinds = "sea" if g.ndim > 1 else "se"
    rate = coefficient(k, ("rate", "annual_rate", "yield_rate"), type_, 0.02, 0.15, g, kinds)
    out = k.out(("amount", "value_out", "result"), type_, g.sizes)
    value, text = _valued(k, level, form, balance, rate, g, type_)
    if level >= 2 and shape.chance(0.6):
        value, text = _charged(k, level, value, text, g, type_)
    done = f"{out.name} gets {text}."
    if level >= 4:
        value = local(k, ("worth", "final_value"), value)
        done += _gain(k, level, value, balance, g, type_)
    if level >= 3 and shape.chance(0.5):
        test = condition(k, g)
        value = local(k, ("worth", "final_value"), value)
        store_where(k, out, g, test.value, value, balance.value)
        done += f" Where not {test.text}, it gets {balance.text}."
    else:
        k.store(out, g.at, value)
    return Title(k.name(*_FORMS[form]), done)


def _valued(
    k: KernelBuilder, level: int, form: str, balance: Given, rate: Given, g: Grid, type_: Scalar
) -> tuple[Expr, str]:
    p = named(k, ("p", "start"), balance.value, 0.5)
    if form == "simple":
        days = k.array(("days", "days_held"), INT32, g.sizes, low=1, high=360)
        basis = k.draw.value.choice((360.0, 365.0))
        years = named(k, ("years", "year_fraction"), cast(days[g.at], type_) / basis, 0.6)
        text = f"{balance.text} * {rate.text} * {days.name} / {basis}"
        growth = p * rate.value * years
        if k.draw.shape.chance(0.5):
            return p * (1.0 + rate.value * years), f"{balance.text} + {text}"
        return growth, text
    if form == "pnl":
        entry, exit_ = elements(
            k,
            [(("entry", "bid"), type_, 1.0, 5.0), (("mark", "ask"), type_, 1.0, 5.0)],
            g,
            ("Quote", "Trade"),
            0.15 + 0.08 * level,
        )
        text = f"{balance.text} * ({exit_.text} - {entry.text})"
        value = p * (exit_.value - entry.value)
        if k.draw.shape.chance(0.5):
            return value / entry.value - rate.value, f"{text} / {entry.text} - {rate.text}"
        return value - rate.value * p, f"{text} - {rate.text} * {balance.text}"
    if form == "present":
        return _discounted(k, level, balance, rate, g, type_)
    return _grown(k, level, form, balance, rate, g, type_)


def _grown(
    k: KernelBuilder, level: int, form: str, balance: Given, rate: Given, g: Grid, type_: Scalar
) -> tuple[Expr, str]:
    """A balance over several periods, with payments in or out."""
    periods = k.draw.value.integer(2, 5)
    r = local(k, ("r", "period_rate"), rate.value)
    total = k.let(("total", "owed", "running"), balance.value)
    pay = None
    if form == "loan" or k.draw.shape.chance(0.5):
        pay = coefficient(k, ("payment", "deposit", "instalment"), type_, 0.1, 0.3, g, "se")

    def build(b: BodyBuilder, before: Expr, rate_: Expr) -> Expr:
        return before * (1.0 + rate_)

    with k.for_(("period", "month", "year"), periods):
        grown = (
            step(
                k, ("accrue_period", "add_interest"), (("before", total), ("rate_", r)), build, 1.0
            )
            if level >= 3 and k.draw.shape.chance(0.5)
            else total * (1.0 + r)
        )
        if pay is not None and form == "loan":
            k.assign(total, grown - pay.value)
        elif pay is not None:
            k.assign(total, grown + pay.value)
        else:
            k.assign(total, grown)
    sign = "-" if form == "loan" else "+"
    more = f" {sign} {pay.text}" if pay is not None else ""
    return total, f"{balance.text} after {periods} times b = b * (1 + {rate.text}){more}"


def _discounted(
    k: KernelBuilder, level: int, balance: Given, rate: Given, g: Grid, type_: Scalar
) -> tuple[Expr, str]:
    m = k.size("m", 2, 5)
    flows = k.array(("cash_flows", "coupons", "payments"), type_, (*g.sizes, m), low=0.1, high=1.0)
    count = k.trip_count(("m", "num_periods"), m)
    factor = k.let(("factor", "discount"), literal(1.0, type_))
    growth = k.let(("per_period", "growth"), 1.0 / (1.0 + rate.value))
    total = k.let(("total", "pv"), literal(0.0, type_))
    late = k.draw.shape.chance(0.6)
    with k.for_(("t", "period"), count) as t:
        place = (*g.at, t)
        if late:
            k.augment(factor, "mul", growth)
        k.augment(total, "add", factor * flows[place])
        if not late:
            k.augment(factor, "mul", growth)
    first = "t + 1" if late else "t"
    text = f"the sum over t of {flows.name}[t] / (1 + {rate.text})^({first})"
    if k.draw.shape.chance(0.5):
        return total + factor * balance.value, (
            f"{text}, plus {balance.text} over (1 + {rate.text})^m"
        )
    return total - balance.value, f"{text}, minus {balance.text}"


def _charged(
    k: KernelBuilder, level: int, value: Expr, text: str, g: Grid, type_: Scalar
) -> tuple[Expr, str]:
    form = k.draw.shape.choice(("tax", "fee", "share"))
    value = k.let(("gross", "before_fees"), value)
    if form == "share":
        share = coefficient(k, ("share", "fx_rate"), type_, 0.5, 1.5, g, "se")
        return share.value * value, f"{share.text} * ({text})"
    if form == "fee":
        fee = k.scalar(("fee_rate", "commission"), type_, 0.01, 0.05)
        flat = k.array(("min_fee", "flat_fee"), type_, g.sizes, low=0.002, high=0.3)
        cost = fn("max", fee * fn("abs", value), flat[g.at])
        return value - cost, f"v - max({fee.name} * |v|, {flat.name}) with v = {text}"
    tax = k.scalar(("tax_rate", "levy"), type_, 0.1, 0.3)
    free = k.array(("allowance", "exempt"), type_, g.sizes, low=0.05, high=8.0)
    rest = value - tax * fn("max", value - free[g.at], 0.0)
    return rest, f"v - {tax.name} * max(v - {free.name}, 0) with v = {text}"


def _gain(k: KernelBuilder, level: int, value: Expr, balance: Given, g: Grid, type_: Scalar) -> str:
    ratio = k.out(("returns", "growth_out"), type_, g.sizes)
    change = k.let(("change", "gain"), (value - balance.value) / balance.value)
    if level == 4:
        k.store(ratio, g.at, change)
        return f" {ratio.name} gets (v - {balance.text}) / {balance.text} with that value v."
    market = k.array(("benchmark", "market_return"), type_, g.sizes, low=-0.5, high=0.8)
    beta = k.array(("beta", "exposure"), type_, g.sizes[-1], low=0.5, high=1.5)
    k.store(ratio, g.at, change - beta[g.at[-1]] * market[g.at])
    return (
        f" {ratio.name} gets (v - {balance.text}) / {balance.text} - {beta.name} * {market.name} "
        f"with that value v; {beta.name} is indexed by {g.at[-1].name}."
    )


def _cents(k: KernelBuilder, level: int, g: Grid) -> str:
    """Whole cents: fees in basis points with rounding, shares with the rest to the last."""
    type_ = k.draw.shape.choice((INT64, INT32))
    amounts = k.array(("cents", "amount_cents"), type_, g.sizes, low=100, high=90000)
    points = _basis_points(k, g, type_)
    amount = k.let(("amount", "price"), amounts[g.at])
    form = k.draw.shape.choice(("floor", "half", "ceil"))
    plus = {"floor": 0, "half": 5000, "ceil": 9999}[form]
    raw = amount * points.value
    fee: Expr = k.let(("fee", "charge"), (raw + plus if plus else raw) // 10000)
    words = {"floor": "rounded down", "half": "rounded half up", "ceil": "rounded up"}[form]
    done = f"The fee is {amounts.name} * {points.text} / 10000 {words}"
    if level >= 2 and k.draw.shape.chance(0.6):
        low, high = parameters(
            k,
            [(("min_fee", "floor_fee"), type_, 60, 90), (("max_fee", "cap"), type_, 300, 500)],
            ("FeeLimits",),
            0.4,
        )
        fee = k.let(("limited", "due"), fn("clamp", fee, low.value, high.value))
        done += f", kept in [{low.text}, {high.text}]"
    net = k.out(("net", "after_fee"), type_, g.sizes)
    rest = local(k, ("remaining", "paid_out"), amount - fee)
    if level >= 3:
        tick = k.draw.value.choice((5, 25, 50))
        ticks = k.out(("ticks", "lots"), type_, g.sizes)
        k.store(ticks, g.at, rest // tick)
        done += f". {ticks.name} gets what remains over {tick}, rounded down"
    if level >= 4:
        parties = k.scalar(("parties", "num_shares"), type_, 2, 7)
        share = k.out(("share", "each"), type_, g.sizes)
        odd = k.out(("odd_cents", "leftover"), type_, g.sizes)
        each = k.let(("part", "equal_part"), rest // parties)
        k.store(share, g.at, each)
        k.store(odd, g.at, rest - each * parties)
        done += f". {share.name} gets what remains over {parties.name} in whole cents, {odd.name} "
        done += "what is left of it"
    if level >= 3 and k.draw.shape.chance(0.6):
        test = condition(k, g)
        store_where(k, net, g, test.value, rest, amount)
        return f"{done}. {net.name} gets {amounts.name} minus the fee where {test.text}, else all."
    k.store(net, g.at, rest)
    return f"{done}. {net.name} gets {amounts.name} minus the fee."


def _basis_points(k: KernelBuilder, g: Grid, type_: Scalar) -> Given:
    """A rate in basis points."""
    form = k.draw.shape.choice(("scalar", "array", "row", "literal"))
    if form == "literal":
        number = k.draw.value.choice((75, 90, 120))
        return Given(literal(number, type_), str(number))
    names = ("fee_bps", "basis_points", "rate_bps")
    if form == "scalar":
        var = k.scalar(names, type_, 60, 150)
        return Given(var, var.name)
    sizes = g.sizes if form == "array" else g.sizes[-1]
    var = k.array(names, type_, sizes, low=60, high=150)
    return Given(var[g.at if form == "array" else g.at[-1]], var.name)
