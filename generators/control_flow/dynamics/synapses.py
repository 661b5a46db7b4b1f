"""Synapses of spiking neurons: currents gathered by rows, spikes sent, delays, whole rasters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title
from generators.control_flow.dynamics.neurons import (
    CALLED,
    Cells,
    Model,
    adaptive,
    advance,
    cells,
    exponential,
    fire,
    izhikevich,
    leaky,
    mark,
    spikes,
    title,
    told,
    unitless,
)
from generators.control_flow.kit import both, move, same
from generators.kit.masks import flag_type, is_set
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Operand, Var

UINT8, UINT32 = Scalar("uint8"), Scalar("uint32")
_SYNAPSES = 300
"""How many synapses offsets may reach to."""


@dataclass
class Fan:
    """The synapses of a neuron: places in arrays, by offsets or as many for each."""

    first: Expr
    stop: Expr
    dims: str
    said: str


def fan(k: KernelBuilder, neuron: Var, side: str = "in") -> Fan:
    if k.draw.shape.chance(0.3):
        k.size("fan", 4, 6)
        count = k.size_param(f"fan_{side} num_syn", "fan")
        first = k.let("base first", neuron * count)
        what = f"the {count.name} synapses from {neuron.name} * {count.name} on"
        return Fan(first, first + count, "neurons*fan", what)
    names = "row_ptr in_start syn_start" if side == "in" else "row_ptr out_start syn_start"
    starts = k.array(names, INT32, "neurons+1", init="sorted", low=0, high=_SYNAPSES)
    k.size("synapses", _SYNAPSES, _SYNAPSES + 30, minimum=_SYNAPSES)
    first, stop = k.let("begin first", starts[neuron]), k.let("end last", starts[neuron + 1])
    name = neuron.name
    what = f"the synapses from {starts.name}[{name}] up to {starts.name}[{name} + 1] (exclusive)"
    return Fan(first, stop, "synapses", what)


@dataclass
class _Delays:
    """Delays of synapses, and the ring of slots that they count in."""

    delays: Var
    slots: Var
    head: Var

    def ago(self, at: Expr) -> Expr:
        return (self.head + self.slots - cast(self.delays[at], INT32)) % self.slots

    def ahead(self, at: Expr) -> Expr:
        return (self.head + cast(self.delays[at], INT32)) % self.slots

    def ahead_said(self) -> str:
        return f"({self.head.name} + {self.delays.name}) % {self.slots.name}"


def _delays(k: KernelBuilder, chance: float, dims: str) -> _Delays | None:
    if not k.draw.shape.chance(chance):
        return None
    k.size("slots", 5, 7)
    slots = k.size_param("num_slots max_delay", "slots")
    head = k.scalar("head cursor", INT32, init="index_of:slots")
    return _Delays(k.array("delays syn_delay", UINT8, dims, init="index_of:slots"), slots, head)


def _gathered(c: Cells, m: Model) -> tuple[Var, str]:
    """The current of all synapses of a neuron whose source fired, with delays or at once."""
    k, s, top = c.k, c.s, 0.5 * m.drive[1]
    neuron = s.at[-1]
    assert isinstance(neuron, Var)
    syn = fan(k, neuron)
    ring = _delays(k, 0.4, syn.dims)
    lead = (*s.dims[:-1], *(("slots",) if ring else ()))
    bits = k.draw.shape.chance(0.25)
    if bits:
        k.size("words", 3, 4)
        flags = k.array("spike_words fired_bits", UINT32, (*lead, "words"), low=0, high=2**32 - 1)
    else:
        kind = k.draw.shape.choice((UINT8, INT32))
        flags = k.array("pre_spikes prev_spikes", kind, (*lead, "neurons"), low=0, high=1)
    of = "32*words" if bits else "neurons"
    ids = k.array("pre_idx pre_ids", INT32, syn.dims, init=f"index_of:{of}")
    weights = k.array("weights w_syn", FLOAT32, syn.dims, low=-0.3 * top, high=top)
    total = k.let("i_syn syn_in", k.lift(0.0, FLOAT32))
    with k.for_("e syn", syn.stop, start=syn.first) as e:
        pre = k.let("pre src", ids[e])
        at: tuple[Operand, ...] = s.at[:-1]
        if ring is not None:
            at = (*at, k.let("slot then", ring.ago(e)))
        heard = is_set(flags[at + (pre,)])
        if bits:
            heard = fn("ne", (flags[at + (pre >> 5,)] >> cast(pre & 31, UINT32)) & 1, 0)
        with k.if_(heard):
            k.augment(total, "add", weights[e])
    said = f"the sum of {weights.name} over those of {syn.said} whose source in {ids.name} fired"
    said += f" by {flags.name}" + (" (neuron j is bit j % 32 of word j / 32)" if bits else "")
    if ring is not None:
        said += f" {ring.delays.name} steps ago, the present step being in slot {ring.head.name} "
        said += f"of the {ring.slots.name} of a ring"
    return total, said


def network(k: KernelBuilder, level: int) -> Title:
    """A step of each neuron with the synapses that end at it."""
    model = k.draw.shape.choice((leaky, izhikevich, exponential, adaptive, unitless))
    c = cells(k, 0.25, (100, 140))
    m = model(c)
    total, said = _gathered(c, m)
    current: Expr = total
    text = f"I is {said}"
    if k.draw.shape.chance(0.5):
        bias = c.s.read("i_ext background", FLOAT32, *m.drive)
        current, text = total + bias, f"I is {c.say(bias)} plus {said}"
    out = spikes(c)
    fire(c, m, out, *advance(c, m, current))
    return title(c, model, f"{text}; {told(m, out)}", "network_step")


def pushed(k: KernelBuilder, level: int) -> Title:
    """A thread for each neuron that fires, or for each synapse: weights go to the targets."""
    by_synapse = k.draw.shape.chance(0.3)
    k.size("neurons", 60, 80)
    if by_synapse:
        k.size("synapses", _SYNAPSES, _SYNAPSES + 30)
    name = k.draw.word.choice(("e", "syn") if by_synapse else ("i", "pre", "n"))
    (at,) = k.thread("synapses" if by_synapse else "neurons", names=(name,))
    syn = None if by_synapse else fan(k, at, side="out")
    dims = "synapses" if syn is None else syn.dims
    flags = k.array("spikes fired", k.draw.shape.choice((UINT8, INT32)), "neurons", low=0, high=1)
    ids = k.array("post_idx post_ids", INT32, dims, init="index_of:neurons")
    learns = level > 3
    role, low, high = ("inout", 0.0, 0.95) if learns else ("in", -0.3, 1.0)
    weights = k.array("weights w_syn", FLOAT32, dims, role=role, low=low, high=high)
    ring = _delays(k, 0.6, dims)
    shape = ("slots", "neurons") if ring is not None else ("neurons",)
    names = "i_ring input_ring" if ring is not None else "i_syn post_input"
    sums = k.array(names, FLOAT32, shape, role="inout", low=0.0, high=1.0)
    learning = _Learning(k, weights) if learns else None

    def send(e: Var) -> None:
        post: Expr = ids[e] if learning is None else k.let("post dst", ids[e])
        place: tuple[Operand, ...] = (post,)
        if ring is not None:
            place = (k.let("slot due", ring.ahead(e)), post)
        weight = weights[e] if learning is None else k.let("w w_old", weights[e])
        k.atomic("add", sums, place, weight)
        if learning is not None:
            learning.depress(e, post, weight)

    goes = f"{weights.name} is added to {sums.name} of its target in {ids.name}"
    if ring is not None:
        goes += f", in the row of the step at which it arrives, {ring.ahead_said()}"
    text = f"Synapses of spiking neurons: for each {_sender(k, at, syn, flags, send)}, {goes}."
    called = "deliver_spikes scatter_spikes propagate_spikes add_synaptic_input"
    if learning is not None:
        text += f" Then {learning.said(ids)}."
        called = "deliver_and_depress stdp_pre_spikes plastic_synapses_pre"
    return Title(k.name(called), text)


class _Learning:
    """Plasticity by the times of spikes: a spike that comes after those of its target weakens."""

    def __init__(self, k: KernelBuilder, weights: Var) -> None:
        self.k, self.weights = k, weights
        self.trace = k.array("post_trace y_post", FLOAT32, "neurons", low=0.0, high=1.5)
        self.rate = k.scalar("a_minus depression", FLOAT32, 0.1, 0.3)
        self.way = k.draw.shape.choice(("hard", "soft", "offset"))
        self.level = None
        if self.way == "offset":
            self.level = k.scalar("trace_target x_tar", FLOAT32, 0.3, 0.7)
            self.most = k.scalar("w_max", FLOAT32, 0.95, 1.0)

    def depress(self, e: Var, post: Expr, weight: Expr) -> None:
        seen = self.trace[post]
        if self.level is not None:
            new = fn("clamp", weight - self.rate * (seen - self.level), 0.0, self.most)
        elif self.way == "soft":
            new = weight - self.rate * seen * weight
        else:
            new = fn("max", weight - self.rate * seen, 0.0)
        self.k.store(self.weights, (e,), new)

    def said(self, ids: Var) -> str:
        w, seen = self.weights.name, f"{self.trace.name} of the target"
        if self.level is not None:
            less = f"{self.rate.name} * ({seen} less {self.level.name})"
            return f"the synapse's {w} falls by {less}, within [0, {self.most.name}]"
        if self.way == "soft":
            return f"the synapse's {w} falls by {self.rate.name} * {seen} times itself"
        return f"the synapse's {w} falls by {self.rate.name} * {seen}, to 0 at the least"


def _sender(
    k: KernelBuilder, at: Var, syn: Fan | None, flags: Var, send: Callable[[Var], None]
) -> str:
    """What a thread sends: its own synapse, or all of its neuron."""
    if syn is None:
        sources = k.array("pre_idx pre_ids", INT32, "synapses", init="index_of:neurons")
        with k.if_(is_set(flags[sources[at]])):
            send(at)
        return f"synapse whose source in {sources.name} fired by {flags.name}"
    with k.if_(is_set(flags[at])), k.for_("e syn", syn.stop, start=syn.first) as e:
        send(e)
    return f"neuron that fired by {flags.name}, and each of {syn.said}"


@dataclass
class _Rests:
    """Steps of refractory time that are left, within a run."""

    left: Var
    limit: Var


def run(k: KernelBuilder, level: int) -> Title:
    """A thread for each neuron, which goes through all steps and writes its raster."""
    model = k.draw.shape.choice((leaky, leaky, unitless, izhikevich, adaptive))
    c = cells(k, 0.0, (60, 80))
    k.size("steps", 9, 13)
    m = model(c)
    (n,) = c.s.at
    assert isinstance(n, Var)
    steps = k.size_param("num_steps n_steps", "steps")
    source = _Drive(c, m, n)
    rests = None
    # The recovery of Izhikevich's neurons is their refractory time.
    if model is not izhikevich and k.draw.shape.chance(0.6):
        limit = k.scalar("refr_steps t_ref_steps", INT32, 2, 3)
        rests = _Rests(k.let("refr left", k.lift(0, INT32)), limit)
    out = k.out("raster spike_train", flag_type(k), ("steps", "neurons"))
    with k.for_("t step", steps) as t:
        _turn(c, m, source.at(t), rests, (out, (t, n)))
    c.put("v", m.v)
    if m.also is not None:
        c.put(m.also.key, m.also.value)
    source.close()
    called, short = CALLED[model]
    text = f"{steps.name} steps of {called}, a thread for each neuron. In step t {source.said}; "
    text += f"{told(m, out)} at [t, {n.name}]"
    if rests is not None:
        text += f". After a spike a neuron does not fire in the next {rests.limit.name} steps"
    name = k.name(f"{short}_run simulate_{short} {short}_raster")
    return Title(name, f"{text}. The state is {c.kept()}.")


def _turn(
    c: Cells, m: Model, current: Expr, rests: _Rests | None, out: tuple[Var, tuple[Var, Var]]
) -> None:
    """One step of a run, whose state is in locals."""
    k = c.k
    new, second, fired = advance(c, m, current)
    if rests is not None:
        fired = k.let("fires spike_now", both(fired, same(rests.left, 0)))
        with k.if_(rests.left > 0):
            k.augment(rests.left, "sub", 1)
    with k.if_(fired):
        move(k, new, m.reset(new))
        if m.also is not None and second is not None:
            move(k, second, m.also.spike(second))
        if rests is not None:
            k.assign(rests.left, rests.limit)
    k.assign(m.v, new)
    if m.also is not None and second is not None:
        k.assign(m.also.value, second)
    mark(k, out[0], out[1], fired)


class _Drive:
    """The current of each step: recorded, or of the spikes of an input layer by synapses."""

    def __init__(self, c: Cells, m: Model, n: Var) -> None:
        self.c, self.n, k, top = c, n, c.k, m.drive[1]
        self.way = k.draw.shape.choice(("given", "synapses", "decaying"))
        dims, names = ("steps", "neurons"), "i_ext currents"
        if self.way == "given":
            self.data = k.array(names, FLOAT32, dims, low=m.drive[0], high=2.0 * top)
            self.said = f"I is {self.data.name}[t, {n.name}]"
            return
        k.size("inputs", 30, 40)
        self.fan = fan(k, n)
        self.ids = k.array("pre_idx in_ids", INT32, self.fan.dims, init="index_of:inputs")
        high = 1.4 * top if self.way == "synapses" else 0.6 * top
        self.weights = k.array("weights w_in", FLOAT32, self.fan.dims, low=-0.2 * high, high=high)
        self.data = k.array("in_spikes input_raster", UINT8, ("steps", "inputs"), low=0, high=1)
        rises = "is"
        if self.way == "decaying":
            self.total = c.state("i_syn", "i_syn syn_current", 0.0, 0.5 * top, "current i_now")
            self.decay = c.own("syn_decay", 0.7, 0.9)
            rises = f"begins at i_syn, decays by the factor {c.say(self.decay)} and rises by"
        self.said = f"I {rises} the sum of {self.weights.name} over those of {self.fan.said} whose "
        self.said += f"input in {self.ids.name} fires by {self.data.name}[t]"

    def at(self, t: Var) -> Expr:
        k = self.c.k
        if self.way == "given":
            return self.data[t, self.n]
        if self.way == "decaying":
            move(k, self.total, self.total * self.decay)
        else:
            self.total = k.let("i_syn current", k.lift(0.0, FLOAT32))
        with k.for_("e syn", self.fan.stop, start=self.fan.first) as e:
            heard = is_set(self.data[t, self.ids[e]])
            with k.if_(heard):
                k.augment(self.total, "add", self.weights[e])
        return self.total

    def close(self) -> None:
        if self.way == "decaying":
            self.c.put("i_syn", self.total)
