"""Networks of spiking neurons: a step, refractory time, synapses by rows, delays, whole rasters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.dynamics.neurons import (
    Cells,
    Model,
    adaptive,
    advance,
    cells,
    exponential,
    fire,
    izhikevich,
    leaky,
    spikes,
    title,
    told,
    unitless,
)
from generators.control_flow.dynamics.synapses import network, pushed, run
from generators.control_flow.kit import both
from generators.control_flow.params import with_struct
from generators.kit.functions import where
from generators.program.dtypes import BOOL, FLOAT32, INT32
from generators.program.expr import Expr, Operand, Var, element_of


def _plain(k: KernelBuilder, level: int) -> Title:
    """A step of each neuron by a current."""
    model = k.draw.shape.choice(
        {1: (leaky, unitless), 2: (leaky, izhikevich)}.get(level, (exponential, adaptive))
    )
    c = cells(k)
    m = model(c)
    current = c.s.read("i_ext currents i_in", FLOAT32, *m.drive)
    out = spikes(c)
    fire(c, m, out, *advance(c, m, current))
    return title(c, model, f"with I from {c.say(current)}, {told(m, out)}")


@dataclass
class _Rest:
    """Refractory time: whether a neuron rests, what it then does, what a spike sets."""

    rests: Expr
    said: str
    begin: Callable[[Expr | None], None]
    begin_said: str
    wait: Callable[[], None]


def _rest(c: Cells) -> _Rest:
    """Steps that are left, or the time of the last spike."""
    k = c.k
    if k.draw.shape.chance(0.6):
        left = c.state("steps left", "refractory refr_count", 0, 1, "refr left")
        steps = k.scalar("refr_steps t_ref_steps", INT32, 2, 5)

        def begin(fired: Expr | None) -> None:
            value: Operand = steps if fired is None else where(fired, steps, k.lift(0, INT32))
            c.put("steps left", value)

        said = f"the steps left become {steps.name}"
        wait: Callable[[], None] = lambda: c.put("steps left", left - 1)  # noqa: E731
        return _Rest(left > 0, "has steps left uses up one,", begin, said, wait)
    last = c.state("last spike", "last_spike t_last", 0.0, 20.0, "t_spike last")
    now = k.scalar("t t_now", FLOAT32, 20.0, 21.0)
    span = c.own("t_ref refractory_period", 4.0, 8.0)

    def start(fired: Expr | None) -> None:
        c.put("last spike", now if fired is None else where(fired, now, last))

    told = f"the last spike becomes {now.name}"
    said = f"had its last spike less than {c.say(span)} before {now.name}"
    hold: Callable[[], None] = lambda: None if c.placed else c.put("last spike", last)  # noqa: E731
    return _Rest(now - last < span, said, start, told, hold)


def _refractory(k: KernelBuilder, level: int) -> Title:
    """A step with refractory time, during which a neuron is held, or deaf, or silent."""
    model = k.draw.shape.choice((leaky, unitless) if level < 3 else (adaptive, exponential, leaky))
    c = cells(k)
    m, r = model(c), _rest(c)
    current = c.s.read("i_ext currents i_in", FLOAT32, *m.drive)
    out = spikes(c)
    way = k.draw.shape.choice(("held", "deaf", "silent"))
    text = f"with I from {c.say(current)}, {told(m, out)}, and {r.begin_said}"
    if way == "held":
        with k.if_(r.rests):
            r.wait()
            _stay(c, m)
            _mark_none(k, out, c.s.at)
            k.return_()
        state = advance(c, m, current)
        r.begin(state[2])
        fire(c, m, out, *state)
        return title(c, model, f"{text}. A neuron that {r.said} keeps its state and does not fire")
    rests = k.let("resting in_refr", r.rests)
    deaf = way == "deaf"
    heard = k.let("i_total drive", where(rests, k.lift(0.0, FLOAT32), current)) if deaf else current
    new, second, above = advance(c, m, heard)
    fired = k.let("fires spike_now", both(fn("not", rests), above))
    with k.if_(rests):
        r.wait()
    with k.else_():
        r.begin(fired)
    fire(c, m, out, new, second, fired)
    done = "gets no current and does not fire" if deaf else "goes on but does not fire"
    return title(c, model, f"{text}. A neuron that {r.said} {done}")


def _stay(c: Cells, m: Model) -> None:
    """A state that stays is written where it has another place."""
    if c.placed:
        return
    c.put("v", m.v)
    if m.also is not None:
        c.put(m.also.key, m.also.value)


def _mark_none(k: KernelBuilder, out: Var, at: tuple[Operand, ...]) -> None:
    kind = element_of(out)
    k.store(out, at, k.lift(False if kind == BOOL else 0, kind))


@dataclass
class _Input:
    """What a synapse adds to: the new value of a state, and how it is told."""

    key: str
    value: Expr
    said: str


def _decaying(c: Cells, key: str, names: str, high: float, span: tuple[float, float]) -> _Input:
    """A conductance or current that decays and takes what comes in."""
    word, letter = names.split()
    old = c.state(key, names, 0.0, high)
    decay = c.own(f"{letter}_decay decay_{letter}", *span)
    add = c.s.read(f"{word}_in input_{letter}", FLOAT32, 0.0, 0.7 * high)
    new = c.k.let(f"{key}_new", decay * old + add)
    c.put(key, new)
    return _Input(key, new, f"{key} becomes {c.say(decay)} * {key} + {c.say(add)}")


def _conducting(k: KernelBuilder, level: int) -> Title:
    """Conductances of excitation and inhibition, or a current, that decay."""
    model = k.draw.shape.choice((leaky, exponential))
    c = cells(k)
    m = model(c)
    top = m.drive[1]
    if k.draw.shape.chance(0.6):
        exc = _decaying(c, "g_e", "g_exc ge", top / 60.0, (0.7, 0.85))
        inh = _decaying(c, "g_i", "g_inh gi", top / 120.0, (0.85, 0.95))
        up, low = c.own("e_exc rev_e", -5.0, 5.0), c.own("e_inh rev_i", -85.0, -75.0)
        current: Expr = k.let("i_syn i_in", exc.value * (up - m.v) + inh.value * (low - m.v))
        said = f"{exc.said} and {inh.said}, and I is g_e * ({c.say(up)} - v) + g_i * "
        said += f"({c.say(low)} - v)"
    else:
        syn = _decaying(c, "i_s", "i_syn syn", 0.7 * top, (0.7, 0.9))
        current, said = syn.value, f"{syn.said}, and I is the new i_s"
        if k.draw.shape.chance(0.5):
            bias = c.own("i_bias i_dc", 0.1 * top, 0.2 * top)
            current, said = current + bias, f"{said} + {c.say(bias)}"
    out = spikes(c)
    fire(c, m, out, *advance(c, m, current))
    return title(c, model, f"first {said}; then {told(m, out)}", "synapse_step")


Form = Callable[[KernelBuilder, int], Title]
_FORMS: dict[int, tuple[Form, ...]] = {
    1: (_plain,),
    2: (_plain, _refractory),
    3: (_plain, _refractory, _conducting, _conducting, pushed),
    4: (network, network, network, pushed),
    5: (run,),
}


@idiom
@with_struct
def spiking_neurons(k: KernelBuilder, level: int) -> Title:
    """Spiking neurons: membranes and spikes, refractory time, synapses, delays, whole rasters."""
    return k.draw.shape.choice(_FORMS[level])(k, level)
