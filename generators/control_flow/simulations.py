"""Simulations by small steps: balances, heating, falls, epidemics; stocks, queues and tanks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    STOP,
    Also,
    Case,
    Step,
    counter,
    rows_of,
    same,
    take,
    turns_of,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most
from generators.kit.naming import BY_LEVEL, held, routine
from generators.kit.sites import Site, launch
from generators.kit.sources import given, setting
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

Number = tuple[str, float, float]
"""Names and range of a number that someone sets."""


@dataclass(frozen=True)
class Model:
    """What is simulated, the numbers a, b and c that it has, and one step."""

    text: str
    numbers: tuple[Number, ...]
    step: Callable[..., Sequence[Step]]
    """Of the state x, its second state y, the numbers, an event, and the change."""
    event: str = ""
    """What is counted."""
    second: str = ""
    """Names of the second state."""
    change: Callable[..., Expr] | None = None
    """A formula of x and the numbers."""
    state: str = "x state"
    shaken: bool = False
    """Whether noise is added now and then."""
    low: float = 0.2
    """The least first state."""


_MODELS = {
    "savings": Model(
        "a balance that earns {a} of itself per period and then takes a deposit of {b}, until it "
        "reaches {c}",
        (("rate yield", 0.05, 0.2), ("deposit saved", 0.06, 0.15), ("goal target", 1.4, 1.7)),
        lambda x, y, a, b, c, n, f: [[(x >= c, STOP)], (n, 1), (x, f(x, a, b))],
        "the number of deposits",
        change=lambda _, x, a, b: x + a * x + b,
        state="balance amount",
    ),
    "loan": Model(
        "a debt that grows by {a} of itself per period before a payment of {b}, until it is paid",
        (("rate interest", 0.01, 0.04), ("payment installment", 0.06, 0.1)),
        lambda x, y, a, b, n, f: [
            (x, x + a * x),
            [(x <= b, (x, 0.0), STOP)],
            (x, x - b),
            (n, 1),
        ],
        "the number of full payments",
        state="debt balance",
    ),
    "thermostat": Model(
        "a room, as a share of the outside gap, that loses {a} of its temperature per step and "
        "gains {b} while heated; the heater goes on below {c} and off above {c} + 0.2",
        (("loss cooling", 0.1, 0.2), ("heat power", 0.15, 0.3), ("set_point low_temp", 0.35, 0.5)),
        lambda x, y, a, b, c, n, f: [
            (x, x - a * x),
            [(x < c, (y, 1.0), (n, 1)), (x > c + 0.2, (y, 0.0))],
            (x, x + b * y),
        ],
        "the number of steps below the lower bound",
        "on heater",
        state="temp temperature",
        shaken=True,
    ),
    "population": Model(
        "a population x that changes by {a} * x * (1 - x) - {b} * x per step, until it is below "
        "{c}",
        (
            ("growth rate", 0.05, 0.2),
            ("harvest mortality", 0.11, 0.3),
            ("extinct least", 0.2, 0.35),
        ),
        lambda x, y, a, b, c, n, f: [(x, f(x, a, b)), [(x < c, STOP)]],
        change=lambda _, x, a, b: x + a * x * (1.0 - x) - b * x,
        state="x pop",
        shaken=True,
    ),
    "dose": Model(
        "a drug level that loses {a} of itself per hour and is raised by {b} whenever it is below "
        "{c}",
        (
            ("elimination decay", 0.1, 0.25),
            ("dose portion", 0.15, 0.3),
            ("trough lowest", 0.4, 0.6),
        ),
        lambda x, y, a, b, c, n, f: [(x, x - a * x), [(x < c, (x, x + b), (n, 1))]],
        "the number of doses",
        state="level concentration",
    ),
    "bounce": Model(
        "a ball dropped from rest: each step lowers its velocity v by {a}, then adds v to its "
        "height h; where h is then negative, h = -h and v = -{b} * v",
        (("gravity g_dt", 0.05, 0.12), ("restitution elasticity", 0.3, 0.8)),
        lambda x, y, a, b, n, f: [
            (y, y - a),
            (x, x + y),
            [(x < 0.0, (x, -x), (y, -b * y), (n, 1))],
        ],
        "the number of bounces",
        "v speed",
        state="h height",
    ),
    "charge": Model(
        "a battery charged by {a} of what is missing per step below {c}, by {b} of it above",
        (
            ("fast_rate bulk", 0.15, 0.3),
            ("slow_rate trickle", 0.02, 0.06),
            ("knee full", 0.7, 0.85),
        ),
        lambda x, y, a, b, c, n, f: [
            [(x < c, (x, x + a * (1.0 - x))), (None, (x, x + b * (1.0 - x)), (n, 1))]
        ],
        "the number of slow steps",
        state="soc charge",
    ),
    "epidemic": Model(
        "an SIR model by Euler steps of one day: s and i, the susceptible and infected shares, s "
        "being 1 - i at first; with n = {a} * s * i, s loses n, and i gains n less {b} * i",
        (("beta contact_rate", 0.3, 0.8), ("gamma recovery", 0.1, 0.25)),
        lambda x, y, a, b, n, f: [(n, 1)],
        "the number of days on which the infected share grew",
        "s susceptible",
        state="i infected",
        low=0.02,
    ),
    "predator": Model(
        "predators y, 0.3 at first, and prey x by Euler steps (Lotka and Volterra): x changes by "
        "{a} * x * (1 - y), then y by {b} * y * (x - 1)",
        (("growth alpha", 0.05, 0.2), ("conversion delta", 0.1, 0.3)),
        lambda x, y, a, b, n, f: [
            (x, x + a * x * (1.0 - y)),
            (y, y + b * y * (x - 1.0)),
        ],
        "",
        "y predators",
        state="x prey",
    ),
}
_FIRST = {"predator": 0.3}
"""The second state at first, where it is not zero."""


def _epidemic(k: KernelBuilder, x: Var, y: Var, a: Expr, b: Expr, count: Also) -> Sequence[Step]:
    """A day of an epidemic, whose new cases both shares share."""
    new, healed = k.let("new_cases", a * y * x), k.let("healed recoveries", b * x)
    grew: list[Case] = [(new > healed, (count, 1))]
    return [(y, y - new), (x, x + new - healed), *[grew] * bool(count)]


def _states(k: KernelBuilder, model: Model, form: str, start: Expr) -> tuple[Var, Var | None]:
    """The state and the second one, where there is one."""
    x = k.let(model.state, start)
    if not model.second:
        return x, None
    if form == "epidemic":
        return x, k.let(model.second, 1.0 - x)
    return x, k.let(model.second, k.lift(_FIRST.get(form, 0.0), start.type))


@idiom(depth=3)
@with_struct
def time_stepping(k: KernelBuilder, level: int) -> Title:
    """A state moved on step by step, with switches, stops and events."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_MODELS))
    model = _MODELS[form]
    s = launch(k, {"list": 1}, "i run")
    start = s.read("start initial x0", type_, model.low, 1.0 if form != "epidemic" else 0.3)
    (names, low, high), *others = model.numbers
    numbers = [given(s, names, type_, low, high, each=3, shared=5)]
    numbers += [setting(k, *number[:1], type_, *number[1:], 0.9) for number in others]
    noisy = model.shaken and level >= 3 and shape.chance(0.5)
    noise = s.array("noise shock", type_, -0.03, 0.03, more="12") if noisy else None
    few, few_given = k.draw.value.integer(5, 9), 0.0 if noisy or "until" in model.text else 0.6
    limit = turns_of(k, "num_steps max_steps", few, few_given, 3)
    out = s.out("final final_state state_out", type_)
    events = Also(s, 0.25 + 0.05 * level if model.event else 0.0, "num_events event_count")
    peak = Also(s, 0.5 if level >= 3 and form in _SWINGS else 0.0, "peak highest", type_)
    said = dict(zip("abc", (say(k, number) for number in numbers), strict=False))
    numbers = [held(k, "r k", numbers[0]), *numbers[1:]]
    x, second = _states(k, model, form, start)
    events.start("count_events hits")
    peak.start("top best", x)
    params = {"x": type_, "rate": type_, "amount": type_}
    names = f"next_state {form}_update advance"
    change = model.change and routine(k, BY_LEVEL[level], names, params, model.change)

    def step() -> Sequence[Step]:
        if form == "epidemic" and second is not None:
            return _epidemic(k, x, second, numbers[0], numbers[1], events)
        return model.step(x, second, *numbers, events, change)

    _run(s, limit, x, noise, peak, step)
    k.store(out, s.at, x)
    done = f"Simulate {model.text.format(**said)}. It starts from {say(k, start)} and takes "
    done += f"{say(k, limit)} steps{' at most' * ('until' in model.text)}; {out.name} gets the "
    done += f"last {_OF.get(form, 'state')}."
    done += f" After step t {noise.name}[{s.where}, t] is added." if noise else ""
    done += events.told(model.event) + peak.told("the largest of these, the start included")
    return Title(k.name(f"simulate_{form} {form}_steps step_{form}"), done)


_SWINGS = frozenset({"thermostat", "dose", "epidemic", "predator"})
"""Models whose largest state is not the first or the last."""
_OF = {
    "savings": "balance",
    "loan": "debt",
    "thermostat": "temperature",
    "bounce": "height",
    "charge": "charge",
    "epidemic": "infected share",
    "predator": "number of prey",
}
"""What the state is called at the end."""


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
        "serves the demand as far as it can (the rest is lost), then takes in {q} more if fewer "
        "than {r} are left",
        lambda x, lost, d, q, r: [
            [(d > x, (lost, lost + (d - x)), (x, 0)), (None, (x, x - d))],
            [(x < r, (x, x + q))],
        ],
    ),
    "queue": (
        "takes in the arrivals, of whom those beyond {q} waiting leave, then serves up to {r}",
        lambda x, lost, d, q, r: [
            (x, x + d),
            [(x > q, (lost, lost + (x - q)), (x, q))],
            (x, most(x - r, 0)),
        ],
    ),
    "tank": (
        "takes the inflow and, where the level is then above {q}, lets {r} out",
        lambda x, lost, d, q, r: [(x, x + d), [(x > q, (x, x - r), (lost, lost + 1))]],
    ),
    "parking_lot": (
        "lets cars in up to {q} inside (the others are turned away), then up to {r} leave",
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


_ARTICLES = {
    "inventory": "an inventory",
    "queue": "a queue",
    "tank": "a tank",
    "parking_lot": "a parking lot",
}
_LOST = {
    "inventory": "what was lost",
    "queue": "how many left",
    "tank": "how often it opened",
    "parking_lot": "how many were turned away",
}
"""What a stock is called, and what is counted beside it."""


def _first_stock(s: Site, form: str, type_: Scalar) -> Expr:
    """What is there at first: of an inventory a number, else nothing."""
    if form != "inventory":
        return s.k.lift(0, type_)
    if s.k.draw.shape.chance(0.6):
        return s.read("stock initial", type_, 4, 18)
    return s.k.scalar("initial_level", type_, 7, 11)


@idiom(depth=3)
@with_struct
def stock_keeping(k: KernelBuilder, level: int) -> Title:
    """Whole-number stocks, queues and tanks over the steps of a row of demands."""
    shape = k.draw.shape
    form = shape.choice(sorted(_STOCKS))
    text, steps = _STOCKS[form]
    type_ = Scalar(shape.weighted({"int32": 5, "int64": 2, "int16": 1}))
    s, demand, count = rows_of(k, _FLOWS[form], type_, 0, 12, "num_steps num_days")
    start = _first_stock(s, form, type_)
    most_in = (10, 15) if form == "parking_lot" else (14, 20)
    q = setting(k, _LIMITS[form], type_, *most_in, 0.85)
    r = setting(k, _RATES[form], type_, 4, 7, 0.85)
    out = s.out("final left_over", type_)
    lost = Also(s, 0.7, "lost turned_away events", type_)
    trace = Also(s, 0.0 if level < 3 else 0.5, "history levels", type_, "cols")
    closes = level >= 3 and shape.chance(0.5)
    holiday = s.read("closed_on holiday", INT32, 0, 9) if closes else None
    done = f"Simulate {_ARTICLES[form]} along each row of {demand.name}: it begins "
    first = f"with {say(k, start)}" if form == "inventory" else "empty"
    done += f"{first} and, at each step, {text.format(q=say(k, q), r=say(k, r))}; "
    done += f"{out.name} gets what is there at the end."
    x, gone = k.let("level stock_now held", start), counter(k, "gone missed", type_)
    with k.for_("t day j", count) as t:
        if holiday is not None:
            with k.if_(same(t, holiday)):
                trace.put(x, t)
                k.continue_()
        d = k.let("d wanted", demand[s.index(t)])
        if form == "parking_lot":
            room = k.let("entering admitted", least(d, q - x))
            take(k, (gone, gone + (d - room)), (x, x + room))
        take(k, *steps(x, gone, d, q, r))
        trace.put(x, t)
    k.store(out, s.at, x)
    done += lost.told(_LOST[form], gone)
    done += trace.said("the level after each step")
    done += f" Nothing happens at step {say(k, holiday)}." if holiday is not None else ""
    return Title(k.name(f"simulate_{form} run_{form} {form}_policy"), done)
