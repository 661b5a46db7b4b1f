"""Option values on binomial and trinomial lattices: payoffs, steps back, early exercise, barriers.

J. Cox, S. Ross, M. Rubinstein, J. Financ. Econ. 7 (1979); P. Boyle, J. Financ. Quant. Anal. 23
(1988).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title
from generators.kit.functions import exp, most, sqrt, where
from generators.kit.masks import flag
from generators.kit.naming import maybe
from generators.kit.sites import Site
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Operand, Var

_ORDERS = {
    2: ("j + 1", "j"),
    3: ("j + 2", "j + 1", "j"),
}
"""Where the children of node j are, up first, where j counts moves up."""


@dataclass
class Deal:
    """The contracts of a launch: a thread for each node of a level, or for each contract."""

    k: KernelBuilder
    s: Site
    call: bool
    """Of calls, j counts moves up; of puts, moves down, so that values rise with j in both."""

    @property
    def contract(self) -> tuple[Expr, ...]:
        return self.s.at[:1]

    def own(self, names: str, low: float, high: float, shared: int = 2) -> Expr:
        """A number of each contract, or the same for all."""
        forms = {"shared": shared, "first": 3} if self.s.rank > 1 else {"shared": shared, "each": 3}
        found = given(self.s, names, FLOAT32, low, high, forms=forms)
        return found if isinstance(found, Var) else self.k.let(names, found)

    def say(self, value: Operand) -> str:
        return say(self.k, value)


@dataclass
class Moves:
    """A step of a lattice: discounted probabilities, up first, and the moves of the log price."""

    weights: list[Expr]
    said: str
    step: Expr | None = None
    """By how much the log price moves."""
    drift: Expr | None = None
    """What it gains in each step besides."""


def _given(d: Deal, ways: int) -> Moves:
    """Probabilities and a discount factor that someone worked out before."""
    k = d.k
    if ways == 2:
        if k.draw.shape.chance(0.3):
            p, q = d.own("disc_up w_up", 0.46, 0.5), d.own("disc_down w_down", 0.45, 0.49)
            return Moves([p, q], f"{d.say(p)} and {d.say(q)}, which hold the discount factor")
        p = d.own("prob_up p_up", 0.46, 0.54)
        disc = d.own("discount disc df", 0.985, 0.999, 5)
        told = f"{d.say(p)} and 1 - {d.say(p)}, times the discount factor {d.say(disc)}"
        if k.draw.shape.chance(0.5):
            return Moves([disc * p, disc * (1.0 - p)], told)
        pair: list[Expr] = [k.let("w_up pu", disc * p), k.let("w_down pd", disc * (1.0 - p))]
        return Moves(pair, told)
    up, down = d.own("prob_up p_up", 0.15, 0.25), d.own("prob_down p_down", 0.14, 0.24)
    disc = d.own("discount disc df", 0.985, 0.999, 5)
    middle = k.let("prob_mid pm", 1.0 - up - down)
    told = f"{d.say(up)}, 1 - {d.say(up)} - {d.say(down)} and {d.say(down)}, times the discount "
    return Moves([disc * up, disc * middle, disc * down], f"{told}factor {d.say(disc)}")


def _market(d: Deal) -> tuple[Expr, Expr, Expr, Expr, str]:
    """Volatility, rate, net growth rate and time step, and words for the net growth."""
    vol, rate = d.own("vol sigma", 0.2, 0.4), d.own("rate risk_free", 0.01, 0.06, 4)
    grow, said = rate, d.say(rate)
    if d.k.draw.shape.chance(0.4):
        dividend = d.own("dividend div_yield", 0.005, 0.04)
        said = f"({d.say(rate)} - {d.say(dividend)})"
        grow = d.k.let("carry drift_rate", rate - dividend)
    return vol, rate, grow, d.own("dt time_step", 0.02, 0.05, 6), said


def _crr(d: Deal) -> Moves:
    """Cox, Ross and Rubinstein: the moves are each other's inverse."""
    k = d.k
    vol, rate, grow, dt, net = _market(d)
    dx = k.let("log_step dx", vol * sqrt(dt))
    up = k.let("up u", exp(dx))
    down = k.let("down dn", 1.0 / up if k.draw.shape.chance(0.6) else exp(-dx))
    p = k.let("p prob", (exp(grow * dt) - down) / (up - down))
    disc = k.let("disc df", exp(-rate * dt))
    said = f"with u = exp(dx), dx = {d.say(vol)} * sqrt({d.say(dt)}) and d = 1 / u, the "
    said += f"probability up is p = (exp({net} * {d.say(dt)}) - d) / (u - d), and "
    said += f"the discount factor exp(-{d.say(rate)} * {d.say(dt)})"
    return Moves([disc * p, disc * (1.0 - p)], said, dx)


def _equal(d: Deal) -> Moves:
    """Jarrow and Rudd: both moves are as likely, the drift is in the prices."""
    k = d.k
    vol, rate, grow, dt, net = _market(d)
    dx = k.let("log_step dx", vol * sqrt(dt))
    drift = k.let("nu_dt log_drift", (grow - 0.5 * vol * vol) * dt)
    half = k.let("half_disc w", 0.5 * exp(-rate * dt))
    said = f"both moves have the probability 0.5, and the discount factor is exp(-{d.say(rate)} * "
    said += f"{d.say(dt)}); with dx = {d.say(vol)} * sqrt({d.say(dt)}) the log price also gains "
    said += f"nu = ({net} - {d.say(vol)}^2 / 2) * {d.say(dt)} in each step"
    return Moves([half, half], said, dx, drift)


def _three(d: Deal) -> Moves:
    """Moves up, none and down of the log price that match its mean and variance."""
    k = d.k
    vol, rate, grow, dt, net = _market(d)
    dx = k.let("log_step dx", vol * sqrt(3.0 * dt))
    variance = k.let("var_dt v2", vol * vol * dt)
    nu = k.let("nu_dt mean_dt", (grow - 0.5 * vol * vol) * dt)
    ratio = k.let("ratio m2", (variance + nu * nu) / (dx * dx))
    tilt = k.let("tilt skew", nu / dx)
    disc = k.let("disc df", exp(-rate * dt))
    weights: list[Expr] = [
        disc * 0.5 * (ratio + tilt),
        disc * (1.0 - ratio),
        disc * 0.5 * (ratio - tilt),
    ]
    said = f"with dx = {d.say(vol)} * sqrt(3 * {d.say(dt)}), nu = ({net} - "
    said += (
        f"{d.say(vol)}^2 / 2) * {d.say(dt)}, a = ({d.say(vol)}^2 * {d.say(dt)} + nu^2) / dx^2 and "
    )
    said += "b = nu / dx the probabilities up, middle and down are (a + b) / 2, 1 - a and "
    said += f"(a - b) / 2, and the discount factor is exp(-{d.say(rate)} * {d.say(dt)})"
    return Moves(weights, said, dx)


def continued(d: Deal, m: Moves, value: Callable[[Expr], Expr], j: Expr) -> Expr:
    """The value of going on: that of the children by their weights."""
    ways = len(m.weights)
    places = [j + n if n else j for n in range(ways)]
    order = list(reversed(places)) if d.call else places
    parts = [w * value(at) for w, at in zip(m.weights, order, strict=True)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def children(d: Deal, ways: int) -> str:
    order = _ORDERS[ways] if d.call else _ORDERS[ways][::-1]
    return ", ".join(order[:-1]) + f" and {order[-1]}"


@dataclass
class Prices:
    """Prices of the underlying at the nodes of a level."""

    d: Deal
    m: Moves
    spot: Expr
    step: Expr
    factor: bool
    """Whether the step is given as the factor of a move up."""

    def at(self, j: Expr, level: Expr) -> Expr:
        """The price at node j of a level."""
        k = self.d.k
        if len(self.m.weights) == 3:
            moves: Expr = j - level if self.d.call else level - j
        else:
            moves = 2 * j - level if self.d.call else level - 2 * j
        count = cast(moves, FLOAT32)
        if self.factor:
            return k.let("s_node price", self.spot * fn("pow", self.step, count))
        exponent = count * self.step
        if self.m.drift is not None:
            exponent = exponent + cast(level, FLOAT32) * self.m.drift
        return k.let("s_node price", self.spot * exp(exponent))

    def said(self, level: str) -> str:
        three = len(self.m.weights) == 3
        up, down = ("j", level) if self.d.call else (level, "j")
        twice = up if three or up != "j" else "2 * j"
        less = down if three or down != "j" else "2 * j"
        told = f"{twice} - {less}"
        if self.factor:
            return f"{self.d.say(self.spot)} * {self.d.say(self.step)}^({told})"
        name = "dx" if self.m.step is not None else self.d.say(self.step)
        more = f" + {level} * nu" if self.m.drift is not None else ""
        return f"{self.d.say(self.spot)} * exp(({told}) * {name}{more})"


def prices_of(d: Deal, m: Moves) -> Prices:
    spot = d.own("spot s0", 90.0, 110.0)
    if m.step is not None:
        return Prices(d, m, spot, m.step, False)
    if d.k.draw.shape.chance(0.5):
        return Prices(d, m, spot, d.own("up_factor u", 1.03, 1.07, 5), True)
    return Prices(d, m, spot, d.own("log_step dx", 0.03, 0.07, 5), False)


@dataclass
class Exercise:
    """What becomes of the value of going on at a node, and how that is told."""

    apply: Callable[[Expr, Expr, Expr], Expr]
    said: str
    name: str
    prices: Prices | None = None
    strike: Expr | None = None
    at_end: Callable[[Expr, Expr], Expr] = lambda value, s: value
    """What is left of the payoff at the price of a leaf."""
    end_said: str = ""


def exercise(d: Deal, m: Moves, style: str, level: str, whole: bool = False) -> Exercise:
    """European options, early exercise, always or where it is allowed, and barriers.

    ``whole`` lattices need prices and a strike in any case, for their leaves.
    """
    prices = prices_of(d, m) if whole or style != "european" else None
    strike = (
        d.own("strike k_strike", 95.0, 105.0) if whole or style not in ("european", "out") else None
    )
    if prices is None or style == "european":
        return Exercise(lambda cont, j, n: cont, "", "european", prices, strike)
    there = "" if whole else f", S = {prices.said(level)}"
    if "out" in style:
        return _knocked(d, prices, strike, there, "american" in style)
    assert strike is not None
    told = f"S - {d.say(strike)}" if d.call else f"{d.say(strike)} - S"
    worth = _worth(d, prices, strike)
    if style == "bermudan":
        allowed = flag(d.s, "can_exercise exercise_flag", axes=(0,))
        text = f"; where {allowed.on} it is {told} if that is more{there}"
        may = lambda cont, j, n: where(allowed.value, most(cont, worth(j, n)), cont)  # noqa: E731
        return Exercise(may, text, "bermudan", prices, strike)
    text = f", or {told} of exercise at once if that is more{there}"
    both = lambda cont, j, n: most(cont, worth(j, n))  # noqa: E731
    return Exercise(both, text, "american", prices, strike)


def _worth(d: Deal, prices: Prices, strike: Expr) -> Callable[[Expr, Expr], Expr]:
    """What exercise gives at a node."""

    def worth(j: Expr, n: Expr) -> Expr:
        s = prices.at(j, n)
        return s - strike if d.call else strike - s

    return worth


def _knocked(d: Deal, prices: Prices, strike: Expr | None, there: str, american: bool) -> Exercise:
    """Options that end at a barrier, with a rebate or with nothing."""
    k = d.k
    up = k.draw.shape.chance(0.5)
    barrier = d.own("barrier h_barrier", 115.0, 135.0) if up else d.own("barrier", 70.0, 88.0)
    rebate = d.own("rebate", 1.0, 5.0) if k.draw.shape.chance(0.4) else None
    gone = k.lift(0.0, FLOAT32) if rebate is None else rebate

    def left(value: Expr, s: Expr) -> Expr:
        return where(s >= barrier if up else s <= barrier, gone, value)

    def apply(cont: Expr, j: Expr, n: Expr) -> Expr:
        s = prices.at(j, n)
        value = cont
        if american and strike is not None:
            value = most(cont, s - strike if d.call else strike - s)
        return left(value, s)

    text = ""
    if american and strike is not None:
        told = f"S - {d.say(strike)}" if d.call else f"{d.say(strike)} - S"
        text = f", or {told} of exercise at once if that is more"
    side = "at least" if up else "at most"
    beyond = f"{d.say(gone)} where S is {side} {d.say(barrier)}"
    text += f"; it is {beyond}{there}"
    name = f"{'up' if up else 'down'}_and_out"
    return Exercise(apply, text, name, prices, strike, left, f", or {beyond}")


STYLE_SAID = {
    "european": "European",
    "american": "American",
    "bermudan": "Bermudan",
    "up_and_out": "up-and-out",
    "down_and_out": "down-and-out",
}
LATTICE = {2: "binomial", 3: "trinomial"}


def deal(k: KernelBuilder, size: str, nodes: str, call: bool, rows: bool = False) -> Deal:
    """A thread for each node of each contract, or for each contract."""
    k.size("contracts", *((60, 80) if rows else (8, 12)))
    k.size(size, 9, 13)
    name = k.draw.word.choice(("c", "opt", "i"))
    if rows:
        at: tuple[Expr, ...] = k.thread("contracts", names=(name,))
        return Deal(k, Site(k, "list", ("contracts",), at), call)
    at = k.thread("contracts", nodes, names=(name, "j"))
    return Deal(k, Site(k, "grid", ("contracts", nodes), at), call)


MAKERS: dict[str, tuple[int, Callable[[Deal], Moves]]] = {
    "given2": (2, lambda d: _given(d, 2)),
    "given3": (3, lambda d: _given(d, 3)),
    "crr": (2, _crr),
    "equal": (2, _equal),
    "three": (3, _three),
}
STYLES: dict[int, tuple[str, ...]] = {
    1: ("european",),
    2: ("european", "american"),
    3: ("american", "bermudan", "out"),
    4: ("american", "bermudan", "out", "out american"),
}
KINDS: dict[int, tuple[str, ...]] = {
    1: ("given2", "given3"),
    2: ("given2", "given3"),
    3: ("given2", "given3", "crr"),
    4: ("crr", "equal", "three"),
    5: ("given2", "crr", "equal", "three"),
}


def placed(rows: bool, level: Var) -> str:
    """Where the values of a step go."""
    if rows:
        return "in place, a thread for each contract"
    return f"to the level whose number is {level.name}"


def step_back(k: KernelBuilder, level: int) -> Title:
    """One step back: from the values of a level those of the level before."""
    kind = k.draw.shape.choice(KINDS[level])
    style = k.draw.shape.choice(STYLES[level])
    ways, make = MAKERS[kind]
    rows = k.draw.shape.chance(0.35)
    call = k.draw.shape.chance(0.5)
    nodes, later = (
        ("tree_level+1", "tree_level+2") if ways == 2 else ("2*tree_level+1", "2*tree_level+3")
    )
    d = deal(k, "tree_level", nodes, call, rows)
    n = k.size_param("level depth", "tree_level")
    m = make(d)
    rule = exercise(d, m, style, n.name)
    role = "inout" if rows else "in"
    names = "values option_values" if rows else "next_values v_next"
    data = k.array(
        names, FLOAT32, ("contracts", later), role=role, init="sorted", low=0.0, high=40.0
    )
    value = lambda at: data[d.contract + (at,)]  # noqa: E731
    out = data if rows else d.s.out("values v_now", FLOAT32)
    if rows:
        count = n + 1 if ways == 2 else 2 * n + 1
        with k.for_("j node", count) as j:
            cont = k.let("cont hold", continued(d, m, value, j))
            k.store(out, (*d.contract, j), rule.apply(cont, j, n))
    else:
        going = maybe(k, "cont hold", continued(d, m, value, d.s.at[1]), float(style != "european"))
        k.store(out, d.s.at, rule.apply(going, d.s.at[1], n))
    kind_said = f"{STYLE_SAID[rule.name]} {'calls' if call else 'puts'}"
    text = f"A step back through {LATTICE[ways]} lattices of {kind_said}, "
    text += placed(rows, n) + ": node j, "
    text += f"j counting moves {'up' if call else 'down'}, gets the sum of {data.name} at "
    text += f"{children(d, ways)} by their probabilities: {m.said}{rule.said}."
    name = f"{rule.name}_{LATTICE[ways]}_step lattice_step_back {LATTICE[ways]}_backward_step"
    return Title(k.name(name), text)
