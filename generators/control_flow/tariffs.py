"""Tariffs: charges by brackets whose limits and rates are tables."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, extent
from generators.build.registry import Title, idiom
from generators.control_flow.kit import STOP, branch
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most
from generators.kit.sites import launch
from generators.kit.words import plurals, say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class Subject:
    """What is charged for, and what the quantities of that are called."""

    aim: str
    amount: str
    local: str
    limits: str
    rates: str
    out: str
    kernel: str
    charged: str = "charged"
    """What is done with an amount, in words."""
    steps: str = "price_steps"
    """Names of the rises of the rate."""
    noun: str = "charge"
    """What is due, in the names of what bounds it."""
    bounds: tuple[str, ...] = ("fee", "floor")
    """What may stand beside the brackets: a fixed fee, a least or a greatest amount."""


_SUBJECTS = {
    "income": Subject(
        "Income tax by brackets",
        "income taxable_income",
        "income taxable",
        "bracket_starts bracket_from",
        "tax_rates marginal_rates",
        "tax_due tax",
        "income_tax bracket_tax",
        "taxed",
        "rate_steps",
        "tax",
        (),
    ),
    "energy": Subject(
        "Electricity bills by tiers of consumption",
        "usage_kwh consumption",
        "usage kwh",
        "tier_starts tier_from",
        "tier_prices unit_prices",
        "energy_charge bill_out",
        "tiered_bill electricity_bill",
    ),
    "water": Subject(
        "Water bills by blocks of consumption",
        "volumes water_used",
        "volume used",
        "block_starts block_from",
        "block_prices block_rates",
        "water_charge charges",
        "block_tariff water_bill",
    ),
    "commission": Subject(
        "Sales commissions by tiers",
        "sales revenue",
        "amount sold",
        "tier_starts tier_from",
        "commission_rates tier_rates",
        "commission commissions",
        "tiered_commission sales_commission",
        "rewarded",
        "rate_steps",
        "commission",
        ("floor", "cap"),
    ),
    "shipping": Subject(
        "Freight charges by weight breaks",
        "weights_kg shipment_weight",
        "weight kg",
        "weight_breaks break_from",
        "rates_per_kg freight_rates",
        "freight shipping_cost",
        "freight_charge shipping_charge",
    ),
}


@dataclass
class _Bill:
    """A thread's amount, the brackets, and the charge so far."""

    k: KernelBuilder
    amount: Var
    limits: Var
    rates: Var
    count: Expr
    total: Expr | None
    charged: str

    def pay(self, due: Expr) -> None:
        """What is due beside the fixed fee."""
        if isinstance(self.total, Var):
            self.k.augment(self.total, "add", due)
        else:
            self.total = self.k.let("total due", due)

    def made(self, way: str, style: str, base: Var | None) -> str:
        """What is due, by one of the ways; in words."""
        if base is not None:
            return self.cumulative(base)
        return self.marginal(style) if way == "marginal" else self.whole()

    def marginal(self, style: str) -> str:
        """What lies in each bracket costs the bracket's rate."""
        k, u = self.k, self.amount
        above: Expr
        with k.for_("b tier", self.count) as b:
            if style == "ends":
                end = k.let("upper end", u)
                with k.if_(b + 1 < self.count):
                    k.assign(end, least(u, self.limits[b + 1]))
                above = most(end - self.limits[b], 0.0)
            else:
                if style == "stop":
                    branch(k, (u <= self.limits[b], STOP))
                excess = u - self.limits[b]
                above = excess if style == "stop" else most(excess, 0.0)
            self.pay(self.rates[b] * above)
        if style == "ends":
            return (
                f"what lies between an entry of {self.limits.name} and the next (without end after "
                f"the last) is {self.charged} at the entry of {self.rates.name} there"
            )
        return (
            f"the sum over tiers b of {self.rates.name}[b] times what exceeds "
            f"{self.limits.name}[b] is due, {self.rates.name}[b] being the rise of the rate at "
            "that tier"
        )

    def cumulative(self, base: Var) -> str:
        """The last bracket that is reached gives a base charge and a rate."""
        k, u = self.k, self.amount
        tier = k.let("tier bracket", k.lift(0, INT32))
        with k.for_("b level", self.count, start=1) as b:
            if k.draw.shape.chance(0.5):
                branch(k, (u < self.limits[b], STOP))
                k.assign(tier, b)
            else:
                branch(k, (u >= self.limits[b], (tier, b)))
        due = base[tier] + self.rates[tier] * (u - self.limits[tier])
        self.pay(due)
        return (
            f"with b the last bracket whose {self.limits.name} is not above the amount (0 if there "
            f"is none), {base.name}[b] is due, plus {self.rates.name}[b] * (amount - "
            f"{self.limits.name}[b])"
        )

    def whole(self) -> str:
        """The whole amount costs the rate of the bracket that it reaches."""
        k, u = self.k, self.amount
        rate = k.let("rate", self.rates[0])
        with k.for_("b tier", self.count, start=1) as b:
            if k.draw.shape.chance(0.5):
                branch(k, (u < self.limits[b], STOP))
                k.assign(rate, self.rates[b])
            else:
                branch(k, (u >= self.limits[b], (rate, self.rates[b])))
        self.pay(rate * u)
        return (
            f"the whole amount is {self.charged} at the {self.rates.name} of the last bracket "
            f"whose "
            f"{self.limits.name} is not above it (the first if none is)"
        )


def _bounds(
    k: KernelBuilder, type_: Scalar, noun: str, bounds: tuple[str, ...]
) -> tuple[Var | None, Var | None]:
    """The least and the most that is due, where there are such bounds."""
    shape = k.draw.shape
    floor, cap = "floor" in bounds and shape.chance(0.6), "cap" in bounds and shape.chance(0.6)
    least_due = k.scalar(f"minimum_{noun} min_{noun}", type_, 8.0, 16.0) if floor else None
    return least_due, k.scalar(f"max_{noun} {noun}_cap", type_, 20.0, 32.0) if cap else None


@idiom(depth=2)
@with_struct
def tariff(k: KernelBuilder, level: int) -> Title:
    """Charges by brackets: at marginal rates, from base charges, or for the whole amount."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    kind, s = shape.choice(sorted(_SUBJECTS)), launch(k, list=1)
    subject = _SUBJECTS[kind]
    amount = s.read(subject.amount, type_, 0, 100)
    m = k.size("brackets", 5, 8)
    limits = k.array(subject.limits, type_, m, init="sorted", low=0.0, high=80.0)
    way = shape.choice(("marginal", "cumulative", "whole")[: 2 if kind == "income" else 3])
    style = shape.choice(("stop", "clamped", "ends", "ends"))
    rising = way == "marginal" and style != "ends"
    names = subject.steps if rising else subject.rates
    rates = k.array(names, type_, m, low=0.05, high=0.6)
    bases = plurals((f"base_{subject.noun}", f"lower_{subject.noun}"))
    base = k.array(bases, type_, m, low=0.5, high=20.0) if way[0] == "c" else None
    out = s.out(subject.out, type_)
    count: Expr = extent(limits)
    if shape.chance(0.6):
        count = k.size_param("num_brackets num_tiers", m)
    has_fee = "fee" in subject.bounds and shape.chance(0.4)
    fee = k.scalar("fixed_fee standing_charge", type_, 1.0, 5.0) if has_fee else None
    bounds = subject.bounds if level > 1 and way != "cumulative" else ()
    least_due, most_due = _bounds(k, type_, subject.noun, bounds)
    u = k.let(subject.local, amount)
    total = None
    if fee is not None or way == "marginal":
        total = k.let("total due", k.lift(0.0, type_) if fee is None else fee)
    bill = _Bill(k, u, limits, rates, count, total, subject.charged)
    how = bill.made(way, style, base)
    assert bill.total is not None
    due = bill.total
    done = f"{subject.aim}: for each of {say(k, amount)}, {how}"
    done += f", beside a fixed {fee.name}. " if fee is not None else ". "
    done += f"{out.name} gets what is due"
    if least_due is not None:
        due, done = most(due, least_due), f"{done}, at least {least_due.name}"
    if most_due is not None:
        due, done = least(due, most_due), f"{done}, at most {most_due.name}"
    k.store(out, s.at, due)
    return Title(k.name(*subject.kernel.split()), f"{done}.")
