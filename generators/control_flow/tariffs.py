"""Tariffs: charges by brackets, written out or in a table, exemptions, surcharges, rebates."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import branch, leave, same
from generators.control_flow.params import with_struct
from generators.kit.functions import most
from generators.kit.naming import applied
from generators.kit.sites import Site, launch
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op

_TESTS = {"eq": "", "ge": "at least ", "ne": "not "}


@idiom(depth=1)
@with_struct
def tariff(k: KernelBuilder, level: int) -> Title:
    """A charge by brackets, written out or in a table; exemptions, surcharges and rebates."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    s = launch(k, list=2, grid=1)
    metered = k.draw.shape.chance(0.35)
    names = "reading meter" if metered else "usage income parcel_weight distance"
    usage = s.array(names, type_, 20 if metered else 0, 120 if metered else 100)
    before = s.array("last_reading meter_before", type_, 0, 20) if metered else None
    zones = level == 2 or (level > 2 and shape.chance(0.7))
    zone = s.array("zone tier category", INT32, 0, 3) if zones else usage
    out = s.out("charge cost fee due", type_)
    i = s.at
    used = usage[i] if before is None else usage[i] - before[i]
    u = k.let("u amount quantity", used)
    free = _exempt(s, zone, u, out) if zones and level >= 3 and shape.chance(0.5) else ""
    bill, done = _by_rates(k, u) if shape.chance(0.6) else _brackets(k, u)
    what = f"u of {usage.name}" if before is None else f"u = {usage.name} - {before.name}"
    done = f"Charge by brackets: each {what} costs {done}.{free}"
    then = _surcharge(k, zone, u, bill, i) if zones and (level < 4 or shape.chance(0.5)) else ""
    if zones and level >= 4 and shape.chance(0.5):
        then += f"{'; then s' if then else 'S'}{_rebate(k, zone, u, bill, i)}"
    k.store(out, i, bill)
    done += f" {then}." if then else ""
    done += f" {out.name} gets the result."
    return Title(k.name("bracket_tariff", "apply_tariff", "tiered_price"), done)


def _exempt(s: Site, zone: Var, u: Var, out: Var) -> str:
    joint = s.k.draw.shape.choice(("and", "or"))
    bound = s.k.draw.value.integer(*((2, 6) if joint == "or" else (30, 60)))
    leave(s, op(joint, same(zone[s.at], 0), u < bound), (out, 0))
    return f" Nothing is due if {zone.name} is 0 {joint} u < {bound}."


def _brackets(k: KernelBuilder, u: Var) -> tuple[Var, str]:
    """The charge by brackets, each of which continues the last."""
    shape, value = k.draw.shape, k.draw.value
    edges = [value.integer(22 * j + 10, 22 * j + 25) for j in range(shape.integer(1, 3))]
    rates = [rate / 100 for rate in value.sample(range(5, 60), 4)]
    base = 0.0
    bill = k.let("bill total price", rates[0] * u)
    charges: list[Expr] = []
    prices = [f"{rates[0]} * u"]
    for j, edge in enumerate(edges):
        base = round(base + rates[j] * (edge - (edges[j - 1] if j else 0)), 2)
        rate = rates[j + 1]
        charges.append(base + rate * (u - edge))
        prices[-1] += f" up to {edge}"
        prices.append(f"{base} + {rate} * (u - {edge})")
    ladder = reversed(list(zip(edges, charges, strict=True)))
    branch(k, *((u > edge, (bill, charge)) for edge, charge in ladder))
    return bill, f"{', '.join(prices)} above that"


def _surcharge(k: KernelBuilder, zone: Var, u: Var, bill: Var, i: tuple[Expr, ...]) -> str:
    peak, factor = k.draw.value.integer(30, 70), k.draw.value.integer(11, 18) / 10
    joint, test = k.draw.shape.choice(("and", "or")), k.draw.shape.choice(sorted(_TESTS))
    with k.if_(op(joint, fn(test, zone[i], 2), u > peak)):
        k.augment(bill, "mul", factor)
    where = f"{zone.name} is {_TESTS[test]}2 {joint} u > {peak}"
    return f"Multiply the charge by {factor} if {where}"


def _rebate(k: KernelBuilder, zone: Var, u: Var, bill: Var, i: tuple[Expr, ...]) -> str:
    """Subtract what a helper function grants."""
    value, type_ = k.draw.value, u.type
    assert isinstance(type_, Scalar)
    cut, share, most = value.integer(30, 60), value.integer(2, 9) / 100, value.integer(2, 6)
    second = k.draw.shape.chance(0.6)

    def grant(body: BodyBuilder, quantity: Expr, kind: Expr) -> Expr:
        with body.if_(fn("eq", kind, 1)):
            body.return_(share * quantity)
        if second:
            with body.if_(quantity > cut):
                body.return_(k.lift(most, type_))
        return k.lift(0.5, type_)

    granted = applied(k, 1.0, "rebate discount", {"quantity": u, "kind": zone[i]}, grant)
    k.augment(bill, "sub", granted)
    more = f"else {most} if u > {cut}, " if second else ""
    return f"ubtract a rebate of {share} * u if {zone.name} is 1, {more}else 0.5"


def _by_rates(k: KernelBuilder, u: Var) -> tuple[Var, str]:
    """The charge by brackets whose edges and rates are tables; each bracket continues the last."""
    type_ = u.type
    assert isinstance(type_, Scalar)
    m = k.size("brackets", 5, 8)
    edges = k.array("edges bracket_from", type_, m, init="sorted", low=5.0, high=80.0)
    rates = k.array("rates unit_price", type_, m, low=0.05, high=0.6)
    first = k.scalar("base_rate first_rate", type_, 0.1, 0.4)
    count = k.size_param("num_brackets count", m)
    bill = k.let("bill total price", first * u)
    rate = k.let("rate paid", first)
    with k.for_("e b", count) as e:
        if k.draw.shape.chance(0.5):
            with k.if_(u <= edges[e]):
                k.break_()
            k.augment(bill, "add", (rates[e] - rate) * (u - edges[e]))
        else:
            k.augment(bill, "add", (rates[e] - rate) * most(u - edges[e], 0.0))
        k.assign(rate, rates[e])
    text = (
        f"{first.name} for each unit up to the first of the rising {edges.name} and, from each of "
    )
    return bill, f"{text}these to the next (after the last without end), the {rates.name} there"
