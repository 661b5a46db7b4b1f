"""Whole lattices, a thread for each contract: options from their leaves on, bonds that are called.

J. Cox, S. Ross, M. Rubinstein, J. Financ. Econ. 7 (1979); F. Black, E. Derman, W. Toy, Financial
Analysts Journal 46 (1990).
"""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least, most, sqrt, where
from generators.math.markets.lattices import (
    KINDS,
    LATTICE,
    MAKERS,
    STYLE_SAID,
    Deal,
    Moves,
    children,
    continued,
    deal,
    exercise,
    placed,
    prices_of,
    step_back,
)
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var, literal

_PAYOFFS: dict[str, tuple[Callable[[Deal, Expr, Expr], Expr], str]] = {
    "call": (lambda d, s, x: most(s - x, 0.0), "max(S - {x}, 0)"),
    "put": (lambda d, s, x: most(x - s, 0.0), "max({x} - S, 0)"),
    "straddle": (lambda d, s, x: abs(s - x), "|S - {x}|"),
    "digital": (
        lambda d, s, x: where(s > x, d.k.scalar("payout cash", FLOAT32, 5.0, 20.0), 0.0),
        "{payout} where S exceeds {x}, else 0",
    ),
    "asset_or_nothing": (lambda d, s, x: where(s > x, s, 0.0), "S where it exceeds {x}, else 0"),
    "capped_call": (
        lambda d, s, x: most(least(s, d.k.scalar("cap_price cap", FLOAT32, 110.0, 120.0)) - x, 0.0),
        "max(min(S, {cap}) - {x}, 0)",
    ),
}


def leaves(k: KernelBuilder, level: int) -> Title:
    """What options are worth at expiry, at each leaf."""
    ways = k.draw.shape.choice((2, 2, 3))
    kind = k.draw.shape.choice(sorted(_PAYOFFS))
    d = deal(
        k, "lattice_steps", "2*lattice_steps+1" if ways == 3 else "lattice_steps+1", kind != "put"
    )
    steps = k.size_param("num_steps n_steps", "lattice_steps")
    m = Moves([literal(0.0, FLOAT32)] * ways, "")
    if level > 1 and k.draw.shape.chance(0.5):
        vol, dt = d.own("vol sigma", 0.2, 0.4), d.own("dt time_step", 0.02, 0.05, 6)
        m.step = k.let("log_step dx", vol * sqrt(3.0 * dt if ways == 3 else dt))
        m.said = f" with dx = {d.say(vol)} * sqrt({'3 * ' if ways == 3 else ''}{d.say(dt)})"
    prices = prices_of(d, m)
    strike = d.own("strike k_strike", 95.0, 105.0)
    names = {p.name for p in k.params}
    pay, told = _PAYOFFS[kind]
    value = pay(d, prices.at(d.s.at[1], steps), strike)
    extra = next((p.name for p in k.params if p.name not in names), "")
    out = d.s.out("payoffs leaf_values terminal", FLOAT32)
    k.store(out, d.s.at, value)
    told = told.format(x=d.say(strike), payout=extra, cap=extra)
    which = "after j moves up" if d.call else "after j moves down"
    if ways == 3:
        which = "being j above the lowest" if d.call else "being j below the highest"
    text = f"Payoffs of options at the leaves of a {LATTICE[ways]} lattice of {steps.name} steps, "
    text += f"leaf j {which}: "
    text += f"{out.name} gets {told}, S = {prices.said(steps.name)}{m.said}."
    return Title(k.name(f"{kind}_payoffs lattice_payoffs lattice_leaves"), text)


def _scratch(
    k: KernelBuilder, nodes: str, c: Expr
) -> tuple[Var, Callable[[Expr], tuple[Expr, ...]]]:
    """Room for a level of each contract, contracts first or last."""
    if k.draw.shape.chance(0.5):
        room = k.out("scratch work tree_values", FLOAT32, (nodes, "contracts"))
        return room, lambda j: (j, c)
    room = k.out("scratch work tree_values", FLOAT32, ("contracts", nodes))
    return room, lambda j: (c, j)


def _tree(k: KernelBuilder, level: int) -> Title:
    """A lattice from its leaves to its root, level by level in one row of scratch memory."""
    shape = k.draw.shape
    kind = shape.choice(KINDS[5])
    style = shape.choice(("european", "american", "american", "bermudan", "out", "out american"))
    ways, make = MAKERS[kind]
    call = shape.chance(0.5)
    nodes = "lattice_steps+1" if ways == 2 else "2*lattice_steps+1"
    d = deal(k, "lattice_steps", nodes, call, True)
    (c,) = d.contract
    steps = k.size_param("num_steps n_steps", "lattice_steps")
    m = make(d)
    rule = exercise(d, m, style, "n", True)
    assert rule.prices is not None
    assert rule.strike is not None
    room, cell = _scratch(k, nodes, c)
    wide = steps + 1 if ways == 2 else 2 * steps + 1
    with k.for_("j leaf", wide) as j:
        s = rule.prices.at(j, steps)
        payoff = most(s - rule.strike if call else rule.strike - s, 0.0)
        k.store(room, cell(j), rule.at_end(payoff, s))
    with k.for_("back t", steps) as back:
        n = k.let("n lvl", steps - 1 - back)
        with k.for_("j node", n + 1 if ways == 2 else 2 * n + 1) as j:
            cont = k.let("cont hold", continued(d, m, lambda at: room[cell(at)], j))
            k.store(room, cell(j), rule.apply(cont, j, n))
    out = k.out("prices premiums", FLOAT32, "contracts")
    k.store(out, c, room[cell(k.lift(0, INT32))])
    worth = f"S - {d.say(rule.strike)}" if call else f"{d.say(rule.strike)} - S"
    style_said = STYLE_SAID[rule.name] + (" calls" if call else " puts")
    text = f"{style_said[0].upper()}{style_said[1:]} on {LATTICE[ways]} lattices of {steps.name} "
    text += f"steps, a thread for each contract, each level in place in {room.name}: leaves have "
    text += f"the value max({worth}, 0){rule.end_said}, S being {rule.prices.said('n')} "
    text += f"at node j of level n, where j counts moves {'up' if call else 'down'}. A node of "
    text += f"a level before gets the values at {children(d, ways)} by their probabilities: "
    text += f"{m.said}{rule.said}, so that node 0 ends with the value of the root, and "
    text += f"{out.name} gets it."
    name = f"{rule.name}_{LATTICE[ways]}_price {LATTICE[ways]}_tree price_lattice_options"
    return Title(k.name(name), text)


def _short_rates(
    k: KernelBuilder, d: Deal, base: Var, at: Callable[[Expr], tuple[Expr, ...]]
) -> tuple[Callable[[Expr, Expr], Expr], str]:
    """The discount factor of node j of level n by its short rate, and words for it."""
    dt = d.own("dt time_step", 0.25, 0.5, 6)
    normal, simple = k.draw.shape.chance(0.5), k.draw.shape.chance(0.4)
    names, low, high = (
        ("rate_step dr", 0.001, 0.004) if normal else ("log_width b_width", 0.05, 0.15)
    )
    width = d.own(names, low, high)

    def discount(n: Expr, j: Expr) -> Expr:
        shift = cast(n - j, FLOAT32) * width
        rate = base[at(n)] + shift if normal else base[at(n)] * exp(shift)
        r = k.let("r short_rate", rate)
        return k.let("df disc", 1.0 / (1.0 + r * dt) if simple else exp(-r * dt))

    here = ", ".join(e.name for e in at(Var("n", INT32)) if isinstance(e, Var))
    told = f"{base.name}[{here}]"
    told += f" + (n - j) * {d.say(width)}" if normal else f" * exp((n - j) * {d.say(width)})"
    factor = f"1 / (1 + r * {d.say(dt)})" if simple else f"exp(-r * {d.say(dt)})"
    return discount, f"{factor} with r = {told}"


def _clause(d: Deal) -> tuple[Callable[[Expr], Expr], str]:
    """What the issuer or the holder may do with a bond."""
    way = d.k.draw.shape.choice(("called", "put", "both", "plain"))
    coupon = d.own("coupon", 1.0, 3.0)
    plus = f", plus the coupon {d.say(coupon)}"
    if way == "plain":
        return (lambda v: v + coupon), plus
    call = d.own("call_price", 100.0, 103.0) if way != "put" else None
    put = d.own("put_price", 96.0, 99.0) if way != "called" else None

    def apply(v: Expr) -> Expr:
        value = v if call is None else least(v, call)
        return (value if put is None else most(value, put)) + coupon

    told = "" if call is None else f", at most the call price {d.say(call)}"
    return apply, told + ("" if put is None else f", at least the put price {d.say(put)}") + plus


def _bond_step(k: KernelBuilder, level: int) -> Title:
    """A step back through lattices of short rates, for bonds that may be called."""
    rows = k.draw.shape.chance(0.35)
    d = deal(k, "tree_level", "tree_level+1", False, rows)
    n = k.size_param("level depth", "tree_level")
    base = k.array("base_rates short_base", FLOAT32, "contracts", low=0.01, high=0.05)
    discount, told = _short_rates(k, d, base, lambda level: d.contract)
    p = d.own("prob_up p_up", 0.45, 0.55)
    clause, then = _clause(d)
    names, dims = "bond_values next_values", ("contracts", "tree_level+2")
    role = "inout" if rows else "in"
    data = k.array(names, FLOAT32, dims, role=role, init="sorted", low=94.0, high=106.0)

    def value(j: Expr) -> Expr:
        up, down = data[d.contract + (j,)], data[d.contract + (j + 1,)]
        df = discount(n, j)
        return clause(k.let("cont hold", df * (p * up + (1.0 - p) * down)))

    if rows:
        with k.for_("j node", n + 1) as j:
            k.store(data, (*d.contract, j), value(j))
    else:
        out = d.s.out("values bond_now", FLOAT32)
        k.store(out, d.s.at, value(d.s.at[1]))
    text = "A step back through lattices of short rates of bonds, "
    text += placed(rows, n) + ": node j, j "
    text += f"counting moves down of the rate, gets {d.say(p)} * {data.name}[j] + (1 - {d.say(p)}) "
    text += f"* {data.name}[j + 1], discounted by {told}, n being {n.name}{then}."
    return Title(k.name("short_rate_step callable_bond_step rate_lattice_step"), text)


def _bond_tree(k: KernelBuilder, level: int) -> Title:
    """Bonds from their maturity to today on a lattice of short rates."""
    d = deal(k, "lattice_steps", "lattice_steps+1", False, True)
    (c,) = d.contract
    steps = k.size_param("num_steps n_steps", "lattice_steps")
    own = k.draw.shape.chance(0.4)
    base = k.array(
        "base_rates short_base",
        FLOAT32,
        ("contracts", "lattice_steps") if own else ("lattice_steps",),
        low=0.01,
        high=0.05,
    )
    discount, told = _short_rates(k, d, base, lambda n: (c, n) if own else (n,))
    p = d.own("prob_up p_up", 0.45, 0.55)
    face = d.own("face_value redemption", 99.0, 101.0)
    clause, then = _clause(d)
    room, cell = _scratch(k, "lattice_steps+1", c)
    with k.for_("j leaf", steps + 1) as j:
        k.store(room, cell(j), face)
    with k.for_("back t", steps) as back:
        n = k.let("n lvl", steps - 1 - back)
        with k.for_("j node", n + 1) as j:
            df = discount(n, j)
            going = df * (p * room[cell(j)] + (1.0 - p) * room[cell(j + 1)])
            k.store(room, cell(j), clause(k.let("cont hold", going)))
    out = k.out("prices bond_prices", FLOAT32, "contracts")
    k.store(out, c, room[cell(k.lift(0, INT32))])
    text = f"Bonds on lattices of short rates of {steps.name} steps, a thread for each contract, "
    text += f"each level in place in {room.name}: all leaves are worth {d.say(face)}; node j of "
    text += (
        f"level n, j counting moves down of the rate, gets {d.say(p)} times the value at j plus "
    )
    text += f"1 - {d.say(p)} times that at j + 1, discounted by {told}{then}, so "
    text += f"that node 0 ends with the value of the root, and {out.name} gets it."
    return Title(k.name("bond_lattice_price callable_bond_tree short_rate_tree"), text)


_FORMS: dict[int, tuple[Callable[[KernelBuilder, int], Title], ...]] = {
    1: (step_back, leaves),
    2: (step_back, step_back, leaves),
    3: (step_back, step_back, _bond_step),
    4: (step_back, step_back, step_back, _bond_step),
    5: (_tree, _tree, _tree, _bond_tree),
}


@idiom
def lattice_option_step(k: KernelBuilder, level: int) -> Title:
    """Options on binomial and trinomial lattices: leaves, steps back, exercise, barriers, trees."""
    return k.draw.shape.choice(_FORMS[level])(k, level)
