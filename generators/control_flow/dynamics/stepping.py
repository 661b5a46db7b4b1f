"""Simulations by small steps with switches, stops and events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace as Values

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.kit import STOP, Also, Step, same, take
from generators.control_flow.params import with_struct
from generators.kit.functions import most
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say, words
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Load, Var, literal

Span = tuple[str, float, float]
"""Names of a quantity and the range of its values."""


@dataclass(frozen=True)
class Model:
    """What is simulated: its state, its numbers, one step, and what may be stored."""

    text: str
    """In words; numbers stand in it by their keys, the state as ``{x}``."""
    state: Span
    numbers: dict[str, Span]
    step: Callable[[KernelBuilder, Values], Sequence[Step]]
    """Of what stands in ``v``: the state x, further states, the numbers, the count and turn t."""
    result: str
    """What the state is in the end, in words."""
    steps: str = "num_steps max_steps"
    more: tuple[tuple[str, str, float], ...] = ()
    """Further states: key, names, and the number that they begin at."""
    count: tuple[str, str, str] | None = None
    """Of what is counted: names of the output and of the local, and that in words."""
    whole: tuple[str, ...] = ()
    """Numbers that are whole."""
    turns: tuple[int, int] = (30, 60)
    """How many steps are tried."""
    series: str = ""
    """The number that may change from step to step, read from a row."""
    ends: bool = False
    """Whether it may end early."""
    peak: str = ""
    """The largest state, in words, where it is of interest."""


_MODELS: dict[str, Model] = {
    "savings": Model(
        "a savings account: each month the balance earns {rate} of itself and {deposit} is paid "
        "in, until it has reached {goal}",
        ("balance savings", 100.0, 3500.0),
        {
            "rate": ("monthly_rate rate", 0.002, 0.006),
            "deposit": ("deposit payment", 80.0, 120.0),
            "goal": ("goal target_balance", 4000.0, 5500.0),
        },
        lambda k, v: [[(v.x >= v.goal, STOP)], (v.x, v.x + (v.rate * v.x + v.deposit)), (v.n, 1)],
        "the last balance",
        "num_months max_months",
        count=("months_needed num_deposits", "months paid", "the number of deposits"),
        ends=True,
    ),
    "loan": Model(
        "the repayment of a loan: each month the debt grows by {rate} of itself, then {payment} is "
        "paid, or what is left if that is less",
        ("debt balance", 1500.0, 6000.0),
        {
            "rate": ("monthly_rate rate", 0.003, 0.01),
            "payment": ("payment installment", 60.0, 110.0),
        },
        lambda k, v: [
            (v.x, v.x + v.rate * v.x),
            (v.n, 1),
            [(v.x <= v.payment, (v.x, 0.0), STOP)],
            (v.x, v.x - v.payment),
        ],
        "the debt that is left",
        "num_months max_months",
        count=("months_paid num_payments", "months paid", "the number of payments"),
        ends=True,
    ),
    "thermostat": Model(
        "a room with a thermostat: its temperature moves towards {outside} by {loss} of the gap "
        "in each step and rises by {heating} while the heater is on; the heater goes on below "
        "{low} and off above {high}, and is off at first",
        ("temp temperature", 14.0, 24.0),
        {
            "outside": ("outdoor_temp outside", -5.0, 8.0),
            "loss": ("loss_rate loss", 0.02, 0.05),
            "heating": ("heat_rate heating", 1.0, 1.6),
            "low": ("on_below", 18.0, 19.5),
            "high": ("off_above", 20.5, 22.0),
        },
        lambda k, v: [
            [(v.x < v.low, (v.on, 1)), (v.x > v.high, (v.on, 0))],
            (v.x, v.x + v.loss * (v.outside - v.x)),
            [(same(v.on, 1), (v.x, v.x + v.heating), (v.n, 1))],
        ],
        "the last temperature",
        more=(("on", "heater_on heating_on", 0),),
        count=("heating_steps steps_on", "ticks_on heated", "the number of heated steps"),
        series="outside",
    ),
    "fishery": Model(
        "a fish stock that is caught down to a limit: each year it grows by {growth} * {x} * (1 - "
        "{x} / {capacity}), then, where it is above {limit}, {share} of what is above is caught",
        ("stock biomass", 10.0, 90.0),
        {
            "growth": ("growth_rate growth", 0.05, 0.3),
            "capacity": ("capacity max_stock", 90.0, 110.0),
            "limit": ("limit min_stock", 30.0, 55.0),
            "share": ("catch_share harvest_rate", 0.2, 0.6),
        },
        lambda k, v: [
            (v.x, v.x + v.growth * v.x * (1.0 - v.x / v.capacity)),
            [(v.x > v.limit, (v.x, v.x - v.share * (v.x - v.limit)), (v.n, 1))],
        ],
        "the last stock",
        "num_years n_years",
        count=("open_years fished_years", "fished open", "the number of years with a catch"),
        turns=(8, 16),
    ),
    "dosing": Model(
        "a drug's concentration: every {interval} steps, from the first on, a dose raises it by "
        "{dose}; in each step it then loses {elimination} of itself",
        ("conc level", 0.0, 2.0),
        {
            "dose": ("dose bolus", 1.0, 3.0),
            "elimination": ("elimination loss_rate", 0.05, 0.2),
            "interval": ("interval dose_interval", 4, 12),
        },
        lambda k, v: [
            [(same(v.t % v.interval, 0), (v.x, v.x + v.dose))],
            (v.peak, most(v.peak, v.x) if v.peak is not None else 0.0),
            (v.x, v.x - v.elimination * v.x),
        ],
        "the last concentration",
        "num_steps num_hours",
        whole=("interval",),
        peak="the largest concentration, right after a dose or at the start",
    ),
    "bouncing_ball": Model(
        "a ball dropped from rest: each step lowers its velocity by {gravity} * {dt}, then moves "
        "it by the velocity times {dt}; below the ground, at 0, its height is mirrored and its "
        "velocity becomes {restitution} times as large upward",
        ("height h", 0.5, 3.0),
        {
            "gravity": ("gravity g", 9.7, 9.9),
            "restitution": ("restitution bounce", 0.5, 0.9),
            "dt": ("dt step_size", 0.01, 0.03),
        },
        lambda k, v: [
            (v.v, v.v - v.gravity * v.dt),
            (v.x, v.x + v.v * v.dt),
            [(v.x < 0.0, (v.x, -v.x), (v.v, -v.restitution * v.v), (v.n, 1))],
        ],
        "the last height",
        more=(("v", "velocity v_y", 0.0),),
        count=("num_bounces bounce_count", "bounces hits", "the number of bounces"),
    ),
    "battery": Model(
        "the charging of a battery: its state of charge rises by {current} per step up to {knee} "
        "(constant current), from there on by {taper} of what is missing (constant voltage)",
        ("soc charge", 0.05, 0.7),
        {
            "current": ("charge_rate bulk_rate", 0.01, 0.03),
            "knee": ("knee cv_start", 0.75, 0.9),
            "taper": ("taper absorption", 0.04, 0.1),
        },
        lambda k, v: [
            [
                (v.x < v.knee, (v.x, v.x + v.current)),
                (None, (v.x, v.x + v.taper * (1.0 - v.x)), (v.n, 1)),
            ]
        ],
        "the last state of charge",
        count=("taper_steps cv_steps", "tapered slow", "the number of steps at constant voltage"),
    ),
    "spiking_neuron": Model(
        "a leaky integrate-and-fire neuron: in each step its potential moves by {dt} / {tau} of "
        "the way from itself to {drive}; when it reaches {threshold} the neuron spikes and it is "
        "reset to {reset}",
        ("potential v", 0.0, 0.9),
        {
            "drive": ("drive input_level", 1.1, 2.0),
            "tau": ("tau time_constant", 8.0, 20.0),
            "threshold": ("threshold v_threshold", 0.9, 1.0),
            "reset": ("reset v_reset", -0.2, 0.1),
            "dt": ("dt step_size", 0.5, 1.0),
        },
        lambda k, v: [
            (v.x, v.x + v.dt / v.tau * (v.drive - v.x)),
            [(v.x >= v.threshold, (v.x, v.reset), (v.n, 1))],
        ],
        "the last potential",
        count=("spike_counts num_spikes", "spikes fired", "the number of spikes"),
        series="drive",
    ),
    "refractory_neuron": Model(
        "a leaky integrate-and-fire neuron with a refractory time: its potential moves by {dt} / "
        "{tau} of the way to {drive} in each step, except in the {pause} steps after a spike; "
        "when it reaches 1 the neuron spikes and the potential is reset to 0",
        ("potential v", 0.0, 0.9),
        {
            "drive": ("drive input_level", 1.2, 2.5),
            "tau": ("tau time_constant", 6.0, 15.0),
            "pause": ("dead_time pause", 2, 6),
            "dt": ("dt step_size", 0.5, 1.0),
        },
        lambda k, v: [
            [
                (v.wait > 0, (v.wait, v.wait - 1)),
                (None, (v.x, v.x + v.dt / v.tau * (v.drive - v.x))),
            ],
            [(v.x >= 1.0, (v.x, 0.0), (v.wait, v.pause), (v.n, 1))],
        ],
        "the last potential",
        more=(("wait", "wait refractory", 0),),
        count=("spike_counts num_spikes", "spikes fired", "the number of spikes"),
        series="drive",
        whole=("pause",),
    ),
    "reservoir": Model(
        "a reservoir: in each step {inflow} flows in and {outlet} of the volume leaves through the "
        "outlet; what is above {crest} is spilled",
        ("volume storage", 20.0, 95.0),
        {
            "inflow": ("inflow supply", 0.0, 10.0),
            "outlet": ("outlet_share drain_share", 0.03, 0.09),
            "crest": ("crest max_volume", 70.0, 85.0),
        },
        lambda k, v: [
            (v.x, v.x + (v.inflow - v.outlet * v.x)),
            [(v.x > v.crest, (v.x, v.crest), (v.n, 1))],
        ],
        "the last volume",
        count=(
            "spill_steps days_spilling",
            "spills over_crest",
            "the number of steps with a spill",
        ),
    ),
}


def _numbers(s: Site, model: Model, type_: Scalar, series: str) -> dict[str, Expr]:
    """The numbers that do not change, of which one may be each run's own."""
    found: dict[str, Expr] = {}
    several = [key for key in model.numbers if key not in ("dt", "gravity", series)]
    varied = s.k.draw.shape.choice(several)
    for key, (names, low, high) in model.numbers.items():
        kind = INT32 if key in model.whole else type_
        if key == varied:
            found[key] = given(s, names, kind, low, high, each=2, shared=1)
        elif key != series:
            found[key] = s.k.scalar(names, kind, low, high)
    return found


def _series(s: Site, model: Model, type_: Scalar, series: str) -> Var:
    """A row for each run of a number that changes from step to step."""
    if not series:
        return Var("", type_)
    names, low, high = model.numbers[series]
    called = " ".join(f"{name}_series" for name in words(names))
    return s.array(called, type_, low, high, more="steps")


def _limit(k: KernelBuilder, model: Model, sized: bool) -> Var:
    """How many steps there are: as many as rows have places, or a number."""
    name = model.steps.split()[0]
    if not sized:
        return k.scalar(name, INT32, *model.turns)
    k.size("steps", model.turns[0], model.turns[1] - 6)
    return k.size_param(name, "steps")


def _said(s: Site, row: Var, numbers: dict[str, Expr], series: str) -> dict[str, str]:
    """The numbers in words."""
    said = {
        key: f"{say(s.k, value)}[{s.where}]" if isinstance(value, Load) else say(s.k, value)
        for key, value in numbers.items()
    }
    if series:
        said[series] = f"the entry of {row.name} for that step"
    return said


def _begin(
    k: KernelBuilder, model: Model, v: Values, numbers: dict[str, Expr], type_: Scalar
) -> None:
    """The numbers and the further states, which have values of their own."""
    for key, value in numbers.items():
        own = isinstance(value, Load)
        setattr(v, key, k.let(words(model.numbers[key][0]), value) if own else value)
    for key, names, first in model.more:
        whole = isinstance(first, int)
        setattr(v, key, k.let(names, literal(first, INT32 if whole else type_)))


@idiom(depth=3)
@with_struct
def time_stepping(k: KernelBuilder, level: int) -> Title:
    """A state moved on step by step, with switches, stops and events."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_MODELS))
    model = _MODELS[form]
    s = launch(k, {"list": 1}, "i run idx")
    own = k.draw.word.choice(words(model.state[0]))
    start = s.read(f"initial_{own} {own}0 start_{own}", type_, *model.state[1:])
    traced = level >= 2 and not model.ends and shape.chance(0.3)
    series = model.series if form == "reservoir" or shape.chance(0.75) else ""
    limit = _limit(k, model, bool(traced or series))
    v, numbers = Values(), _numbers(s, model, type_, series)
    row = _series(s, model, type_, series)
    said = _said(s, row, numbers, series)
    names = f"{own}_trace {own}_history" if traced else f"final_{own} {own}_out"
    out = s.array(names, type_, more="steps" if traced else (), role="out")
    counted = Also(s, 0.2 + 0.15 * level if model.count else 0.0, (model.count or ("",))[0])
    peak = Also(s, 0.5 if model.peak else 0.0, f"peak_{own} max_{own}", type_)
    _begin(k, model, v, numbers, type_)
    v.x = k.let(own, start)
    counted.start((model.count or ("", "n"))[1])
    v.n = counted
    peak.start("top highest", v.x)
    v.peak = peak.value
    with k.for_("t step", limit) as t:
        v.t = t
        if series:
            setattr(v, series, k.let(words(model.numbers[series][0]), row[s.index(t)]))
        take(k, *model.step(k, v))
        if traced:
            k.store(out, s.index(t), v.x)
    if not traced:
        k.store(out, s.at, v.x)
    rows = f" ({row.name} holds a row for each run)" if series else ""
    done = f"Simulate {model.text.format(x=v.x.name, **said)}{rows}. "
    done += f"From {say(k, start)}, {'at most ' if model.ends else ''}{limit.name} steps are made; "
    what = f"the {own} after each step" if traced else model.result
    done += f"{out.name} gets {what}."
    done += counted.told((model.count or ("", "", ""))[2]) + peak.told(model.peak)
    return Title(k.name(f"simulate_{form} {form}_steps step_{form}"), done)
