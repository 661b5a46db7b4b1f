"""Simulations by small steps: balances, heating, populations, stock, queues, falls, walks."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import also, either, function_of, shown
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Operand, Var

_MODELS = {
    "savings": (
        "a balance that earns {a} per period and takes a deposit of {b}, until it reaches 1.5"
    ),
    "loan": "a debt that grows by 0.2 * {a} per period before a payment of {b}, until it is paid",
    "thermostat": (
        "a room that cools by {a} of its temperature, heated by "
        "{b} while a switch is on (on below 0.4, off above 0.7)"
    ),
    "population": (
        "a population x that becomes x + {a} * x * (1 - x) - {b} * x, until it is below 0.3"
    ),
    "dose": (
        "a level that loses {a} of itself per hour and is raised by {b} whenever it is below 0.5"
    ),
    "bounce": (
        "a ball at height x and speed v = 0: each step lowers v by {a}, then adds 0.5 * v to x; "
        "where x is then negative, x = -x and v = -{b} * v"
    ),
    "charge": "a battery that takes {a} of what is missing while below 0.8, then {b} times 0.1",
    "epidemic": (
        "an infected share x changing by 4 * {a} * x * (1 - x) - {b} * x, halved where it falls"
    ),
}


_EVENTS = {
    "savings": "the number of deposits",
    "loan": "the number of full payments",
    "thermostat": "the number of steps below 0.4",
    "dose": "the number of doses",
    "bounce": "the number of bounces",
}
_AMOUNTS = {
    "savings": (("deposit", "saved"), (0.06, 0.15)),
    "loan": (("payment", "installment"), (0.05, 0.09)),
    "thermostat": (("heat", "power"), (0.11, 0.3)),
    "population": (("harvest", "mortality"), (0.11, 0.3)),
    "dose": (("dose", "portion"), (0.11, 0.3)),
    "bounce": (("restitution", "elasticity"), (0.11, 0.3)),
    "epidemic": (("recovery", "gamma"), (0.11, 0.3)),
}
"""What the second number is called, and its range."""


@idiom
@with_struct
def time_stepping(k: KernelBuilder, level: int) -> Title:
    """A state moved on step by step, with switches, stops and events."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_MODELS))
    n = k.size("n", 56, 80)
    x0 = k.array(("start", "initial", "x0"), s, n, low=0.2, high=1.0)
    own = shape.chance(0.35)
    a: Operand = 0.1
    rate = k.array(("rate", "rates"), s, n, low=0.05, high=0.2) if own else None
    if rate is None:
        a = either(k, ("rate", "growth"), s, 0.05, 0.2)
    names, most = _AMOUNTS.get(form, (("amount", "gain"), (0.11, 0.3)))
    b = either(k, names, s, *most)
    steps = k.draw.value.integer(6, 12)
    limit: Operand = steps
    if form in ("thermostat", "dose", "bounce") and shape.chance(0.4):
        limit = k.scalar(("num_steps", "max_steps"), INT32, steps, steps + 3)
    out = k.out(("final", "out", "state_out"), s, n)
    events = (
        k.out(("events", "periods", "count"), INT32, n)
        if form not in ("charge", "population", "epidemic") and shape.chance(0.3 + 0.12 * level)
        else None
    )
    swings = level >= 3 and form in ("thermostat", "dose", "bounce")
    peak = also(k, 0.6 if swings else 0.0, ("peak", "highest"), s, n)
    noise = (
        k.array(("noise", "shock"), s, (n, "12"), low=-0.03, high=0.03)
        if level >= 4 and shape.chance(0.5)
        else None
    )
    if noise is not None:
        limit = k.draw.value.integer(6, 12)
    (i,) = k.thread(n, names=(k.name("i", "tid", "run"),))
    x = k.let(("x", "state", "level"), x0[i])
    r: Operand = k.let(("r", "k"), rate[i]) if rate is not None else a
    count = k.let(("count_events", "hits"), k.lift(0, INT32)) if events is not None else None
    top = k.let(("top", "best"), x) if peak is not None else None
    extra = (
        k.let(("v", "speed") if form == "bounce" else ("on", "switch"), k.lift(0.0, s))
        if form in ("bounce", "thermostat")
        else None
    )
    change = function_of(
        k,
        level,
        ("next_state", f"{form}_update", "advance"),
        [("x", s), ("rate", s), ("amount", s)],
        _CHANGES.get(form, _unchanged),
        0.65 if form in _CHANGES else 0.0,
    )
    loop = shape.choice(("for", "while"))
    if loop == "while":
        t = k.let(("t", "step"), k.lift(0, INT32))
        with k.while_(t < limit):
            k.augment(t, "add", 1)
            _one_step(k, form, (x, extra, count), (r, b), change)
            _watch(k, x, top, noise, (i, t - 1))
    else:
        with k.for_(("t", "step"), limit) as t:
            _one_step(k, form, (x, extra, count), (r, b), change)
            _watch(k, x, top, noise, (i, t))
    k.store(out, i, x)
    first = f"{rate.name}[i]" if rate is not None else shown(a)
    done = (
        f"Simulate {_MODELS[form].format(a=first, b=shown(b))}: "
        f"{shown(limit)} steps from {x0.name}; the state goes to {out.name}."
    )
    if noise is not None:
        done += f" After step t {noise.name}[i, t] is added."
    if events is not None and count is not None:
        k.store(events, i, count)
        done += f" {events.name} gets {_EVENTS[form]}."
    if peak is not None and top is not None:
        k.store(peak, i, top)
        done += f" {peak.name} gets the largest state, the start included."
    return Title(k.name(f"simulate_{form}", f"{form}_steps", f"step_{form}"), done)


def _watch(
    k: KernelBuilder, x: Var, top: Var | None, noise: Var | None, at: tuple[Expr, Expr]
) -> None:
    if noise is not None:
        k.augment(x, "add", noise[at])
    if top is not None:
        if k.draw.shape.chance(0.5):
            k.assign(top, fn("max", top, x))
        else:
            with k.if_(x > top):
                k.assign(top, x)


def _unchanged(_: BodyBuilder, x: Expr, a: Operand, b: Operand) -> Expr:
    return x


def _saved(_: BodyBuilder, x: Expr, a: Operand, b: Operand) -> Expr:
    return x + a * x + b


def _grown(_: BodyBuilder, x: Expr, a: Operand, b: Operand) -> Expr:
    return x + a * x * (1.0 - x) - b * x


def _infected(_: BodyBuilder, x: Expr, a: Operand, b: Operand) -> Expr:
    return 4.0 * a * x * (1.0 - x) - b * x


_CHANGES = {"savings": _saved, "population": _grown, "epidemic": _infected}
"""Models whose step is a formula of the state and two numbers."""


def _one_step(
    k: KernelBuilder,
    form: str,
    state: tuple[Var, Var | None, Var | None],
    by: tuple[Operand, Operand],
    change: Callable[..., Expr],
) -> None:
    x, extra, count = state
    a, b = by

    def event() -> None:
        if count is not None:
            k.augment(count, "add", 1)

    if form == "savings":
        with k.if_(x >= 1.5):
            k.break_()
        event()
        k.assign(x, change(x, a, b))
    elif form == "loan":
        k.augment(x, "add", 0.2 * (a * x))
        with k.if_(x <= b):
            k.assign(x, 0.0)
            k.break_()
        k.augment(x, "sub", b)
        event()
    elif form == "thermostat":
        assert extra is not None
        k.augment(x, "sub", a * x)
        with k.if_(x < 0.4):
            k.assign(extra, 1.0)
            event()
        with k.elif_(x > 0.7):
            k.assign(extra, 0.0)
        k.augment(x, "add", b * extra)
    elif form == "population":
        k.assign(x, change(x, a, b))
        with k.if_(x < 0.3):
            event()
            k.break_()
    elif form == "dose":
        k.augment(x, "sub", a * x)
        with k.if_(x < 0.5):
            k.augment(x, "add", b)
            event()
    elif form == "bounce":
        assert extra is not None
        k.augment(extra, "sub", a)
        k.augment(x, "add", 0.5 * extra)
        with k.if_(x < 0.0):
            k.assign(x, -x)
            k.assign(extra, -b * extra)
            event()
    elif form == "charge":
        with k.if_(x < 0.8):
            k.augment(x, "add", a * (1.0 - x))
        with k.else_():
            k.augment(x, "add", 0.1 * (b * (1.0 - x)))
            event()
    else:
        grown = k.let(("grown", "dx"), change(x, a, b))
        with k.if_(grown < 0.0):
            event()
            k.augment(x, "add", 0.5 * grown)
        with k.else_():
            k.augment(x, "add", grown)
