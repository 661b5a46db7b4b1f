"""Simulations by small steps: balances, heating, falls, epidemics; stocks, queues and tanks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.control_flow.kit import STOP, Also, Step, counter, rows_of, same, take
from generators.control_flow.params import with_struct
from generators.kit.functions import most
from generators.kit.naming import BY_LEVEL, held, routine
from generators.kit.sites import Site, launch
from generators.kit.sources import given, setting, zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, literal


@dataclass(frozen=True)
class Model:
    """What is simulated, names and range of its number b, and one step."""

    text: str
    number: tuple[str, float, float]
    step: Callable[..., Sequence[Step]]
    """Of the state x, its second state y, the numbers a and b, an event, and the change."""
    event: str = ""
    """What is counted."""
    second: str = ""
    """Names of the second state."""
    change: Callable[..., Expr] | None = None
    """A formula of x, a and b."""


_MODELS = {
    "savings": Model(
        "a balance that earns {a} per period and takes a deposit of {b}, until it reaches 1.5",
        ("deposit saved", 0.06, 0.15),
        lambda x, y, a, b, n, f: [[(x >= 1.5, STOP)], (n, 1), (x, f(x, a, b))],
        "the number of deposits",
        change=lambda _, x, a, b: x + a * x + b,
    ),
    "loan": Model(
        "a debt that grows by 0.2 * {a} per period before a payment of {b}, until it is paid",
        ("payment installment", 0.05, 0.09),
        lambda x, y, a, b, n, f: [
            (x, x + 0.2 * (a * x)),
            [(x <= b, (x, 0.0), STOP)],
            (x, x - b),
            (n, 1),
        ],
        "the number of full payments",
    ),
    "thermostat": Model(
        "a room that cools by {a} of its temperature, heated by {b} while a switch is on (on below "
        "0.4, off above 0.7)",
        ("heat power", 0.11, 0.3),
        lambda x, y, a, b, n, f: [
            (x, x - a * x),
            [(x < 0.4, (y, 1.0), (n, 1)), (x > 0.7, (y, 0.0))],
            (x, x + b * y),
        ],
        "the number of steps below 0.4",
        "on switch",
    ),
    "population": Model(
        "a population x that becomes x + {a} * x * (1 - x) - {b} * x, until it is below 0.3",
        ("harvest mortality", 0.11, 0.3),
        lambda x, y, a, b, n, f: [(x, f(x, a, b)), [(x < 0.3, STOP)]],
        change=lambda _, x, a, b: x + a * x * (1.0 - x) - b * x,
    ),
    "dose": Model(
        "a level that loses {a} of itself per hour and is raised by {b} whenever it is below 0.5",
        ("dose portion", 0.11, 0.3),
        lambda x, y, a, b, n, f: [(x, x - a * x), [(x < 0.5, (x, x + b), (n, 1))]],
        "the number of doses",
    ),
    "bounce": Model(
        "a ball at height x and speed v = 0: each step lowers v by {a}, then adds 0.5 * v to x; "
        "where x is then negative, x = -x and v = -{b} * v",
        ("restitution elasticity", 0.11, 0.3),
        lambda x, y, a, b, n, f: [
            (y, y - a),
            (x, x + 0.5 * y),
            [(x < 0.0, (x, -x), (y, -b * y), (n, 1))],
        ],
        "the number of bounces",
        "v speed",
    ),
    "charge": Model(
        "a battery that takes {a} of what is missing while below 0.8, then {b} times 0.1",
        ("amount gain", 0.11, 0.3),
        lambda x, y, a, b, n, f: [
            [(x < 0.8, (x, x + a * (1.0 - x))), (None, (x, x + 0.1 * (b * (1.0 - x))), (n, 1))]
        ],
        "the number of steps that begin at 0.8 or more",
    ),
    "epidemic": Model(
        "an infected share x changing by 4 * {a} * x * (1 - x) - {b} * x, halved where it falls",
        ("recovery gamma", 0.11, 0.3),
        lambda x, y, a, b, n, f: [
            (y, f(x, a, b)),
            [(y < 0.0, (x, x + 0.5 * y), (n, 1)), (None, (x, x + y))],
        ],
        "the number of steps in which it falls",
        "grown dx",
        change=lambda _, x, a, b: 4.0 * a * x * (1.0 - x) - b * x,
    ),
}


@idiom
@with_struct
def time_stepping(k: KernelBuilder, level: int) -> Title:
    """A state moved on step by step, with switches, stops and events."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_MODELS))
    model, swings = _MODELS[form], form in ("thermostat", "dose", "bounce")
    s = launch(k, {"list": 1}, "i tid run")
    start = s.read("start initial x0", type_, 0.2, 1.0)
    rate = given(s, "rate growth", type_, 0.05, 0.2, each=3, shared=4, literal=3)
    b = setting(k, model.number[0], type_, *model.number[1:])
    noisy = level >= 4 and shape.chance(0.5)
    noise = s.array("noise shock", type_, -0.03, 0.03, more="12") if noisy else None
    steps = k.draw.value.integer(6, 12)
    limit: Expr = literal(steps, INT32)
    if swings and not noisy and shape.chance(0.4):
        limit = k.scalar("num_steps max_steps", INT32, steps, steps + 3)
    out = s.out("final out state_out", type_)
    events = Also(s, 0.3 + 0.12 * level if model.event else 0.0, "events periods count")
    peak = Also(s, 0.6 if level >= 3 and swings else 0.0, "peak highest", type_)
    text = model.text.format(a=say(k, rate), b=say(k, b))
    done = f"Simulate {text}: {say(k, limit)} steps from {say(k, start)}; the state goes to "
    done += f"{out.name}." + (f" After step t {noise.name}[i, t] is added." if noise else "")
    x, a = k.let("x state level", start), held(k, "r k", rate)
    events.start("count_events hits")
    peak.start("top best", x)
    second = k.let(model.second, zero(type_)) if model.second else None
    change = model.change and routine(
        k,
        BY_LEVEL[level],
        f"next_state {form}_update advance",
        {"x": type_, "rate": type_, "amount": type_},
        model.change,
    )
    _run(s, limit, x, noise, peak, lambda: model.step(x, second, a, b, events, change))
    k.store(out, s.at, x)
    done += events.told(model.event) + peak.told("the largest state, the start included")
    return Title(k.name(f"simulate_{form} {form}_steps step_{form}"), done)


def _run(
    s: Site, limit: Expr, x: Var, noise: Var | None, peak: Also, step: Callable[[], Sequence[Step]]
) -> None:
    """All steps, after each of which noise is added and the largest state kept."""
    k = s.k
    counted = k.draw.shape.chance(0.5)
    t = counter(k, "t step") if counted else x
    with k.while_(t < limit) if counted else k.for_("t step", limit) as turn:
        take(k, *step())
        if noise is not None:
            k.augment(x, "add", noise[s.index(t if turn is None else turn)])
        if (top := peak.value) is not None:
            larger = [(x > top, (top, x))]
            take(k, (top, most(top, x)) if k.draw.shape.chance(0.5) else larger)
        if counted:
            k.augment(t, "add", 1)


_STOCKS: dict[str, tuple[str, Callable[[Var, Var, Expr, Expr, Expr], list[Step]]]] = {
    "inventory": (
        "orders {q} more whenever fewer than {r} are left; what cannot be served is lost",
        lambda x, lost, d, q, r: [
            [(d > x, (lost, lost + (d - x)), (x, 0)), (None, (x, x - d))],
            [(x < r, (x, x + q))],
        ],
    ),
    "queue": (
        "serves up to {r} waiting customers per slot; those above {q} waiting leave",
        lambda x, lost, d, q, r: [
            (x, x + d),
            [(x > q, (lost, lost + (x - q)), (x, q))],
            (x, most(x - r, 0)),
        ],
    ),
    "tank": (
        "opens a valve of {r} per step whenever the level is above {q}",
        lambda x, lost, d, q, r: [(x, x + d), [(x > q, (x, x - r), (lost, lost + 1))]],
    ),
    "parking_lot": (
        "lets cars in while fewer than {q} are inside (others are lost), then lets up to {r} leave",
        lambda x, lost, d, q, r: [(x, most(x - r, 0))],
    ),
}


_FLOWS = {
    "inventory": "demand orders",
    "queue": "arrivals",
    "tank": "inflow",
    "parking_lot": "cars",
}
_LIMITS = {
    "inventory": "order_size",
    "queue": "capacity max_waiting",
    "tank": "limit max_level",
    "parking_lot": "capacity num_places",
}
_RATES = {
    "inventory": "reorder_point",
    "queue": "served per_slot",
    "tank": "outflow drained",
    "parking_lot": "leaving max_exits",
}
"""What comes in, what bounds the stock, and what goes out or is tested, by what they are there."""


@idiom
@with_struct
def stock_keeping(k: KernelBuilder, level: int) -> Title:
    """Whole-number stocks, queues and tanks over the steps of a row of demands."""
    shape = k.draw.shape
    form = shape.choice(sorted(_STOCKS))
    text, steps = _STOCKS[form]
    type_ = Scalar(shape.weighted({"int32": 5, "int64": 2, "int16": 1}))
    s, demand, count = rows_of(k, _FLOWS[form], type_, 0, 12, "num_steps num_days")
    start = s.read("stock initial", type_, 4, 18) if shape.chance(0.6) else k.lift(9, type_)
    q = setting(k, _LIMITS[form], type_, 14, 20)
    r = setting(k, _RATES[form], type_, 4, 7)
    out = s.out("final left_over", type_)
    lost = Also(s, 0.7, "lost turned_away events", type_)
    trace = Also(s, 0.0 if level < 3 else 0.5, "history levels", type_, "cols")
    holiday = None
    if level >= 3 and shape.chance(0.5):
        holiday = s.read("closed_on holiday", INT32, 0, 9)
    article = "an" if form == "inventory" else "a"
    done = f"Each row of {demand.name} drives {article} {form.replace('_', ' ')} that begins with "
    done += f"{say(k, start)} and {text.format(q=say(k, q), r=say(k, r))}; what is left goes to "
    done += f"{out.name}."
    x, gone = k.let("x on_hand level", start), counter(k, "gone missed", type_)
    with k.for_("t day j", count) as t:
        if holiday is not None:
            with k.if_(same(t, holiday)):
                trace.put(x, t)
                k.continue_()
        d = k.let("d wanted", demand[s.index(t)])
        if form == "parking_lot":
            with k.for_("c car", cast(d, INT32)):
                with k.if_(x >= q):
                    k.augment(gone, "add", 1)
                    k.continue_()
                k.augment(x, "add", 1)
        take(k, *steps(x, gone, d, q, r))
        trace.put(x, t)
    k.store(out, s.at, x)
    done += lost.told("how often it opened" if form == "tank" else "what was lost", gone)
    done += trace.said("the level after each step")
    done += f" The step {say(k, holiday)} is left out." if holiday is not None else ""
    return Title(k.name(f"simulate_{form} run_{form} {form}_policy"), done)
