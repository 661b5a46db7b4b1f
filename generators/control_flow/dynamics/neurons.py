"""Membranes of spiking neurons: leaky, Izhikevich's, exponential, with an adaptive threshold.

W. Gerstner and others, Neuronal Dynamics, 2014; E. Izhikevich, IEEE Trans. Neural Netw. 14 (2003);
R. Brette, W. Gerstner, J. Neurophysiol. 94 (2005).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from generators.build import KernelBuilder
from generators.build.registry import Title
from generators.control_flow.kit import move
from generators.kit.functions import exp, where
from generators.kit.masks import as_flag, flag_type
from generators.kit.sites import Site, over
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Operand, Var, element_of

Step = Callable[[Expr], Expr]
Rule = tuple[Step, str]
Span = tuple[float, float]


@dataclass
class Cells:
    """The neurons of a launch: their state, which is changed in place or written elsewhere."""

    k: KernelBuilder
    s: Site
    placed: bool
    arrays: dict[str, tuple[Var, str]] = field(default_factory=dict)
    outs: dict[str, Var] = field(default_factory=dict)

    def state(self, key: str, names: str, low: float, high: float, local: str = "") -> Var:
        """A local with a neuron's state at first."""
        kind = INT32 if isinstance(low, int) else FLOAT32
        array = self.s.array(names, kind, low, high, role="inout" if self.placed else "in")
        self.arrays[key] = (array, names)
        return self.k.let(local or key, array[self.s.at])

    def own(self, names: str, low: float, high: float) -> Expr:
        """A number of the model: one for all neurons, seldom one for each."""
        forms = {"shared": 8, "each": 1} if self.s.rank == 1 else {"shared": 8, "last": 1}
        return given(self.s, names, FLOAT32, low, high, forms=forms, many=names)

    def say(self, value: Operand) -> str:
        return say(self.k, value)

    def put(self, key: str, value: Operand) -> None:
        """Store the new state of a neuron."""
        array, names = self.arrays[key]
        if not self.placed and key not in self.outs:
            self.outs[key] = self.s.out([f"new_{n}" for n in names.split()], element_of(array))
        self.k.store(self.outs.get(key, array), self.s.at, value)

    def kept(self) -> str:
        """Where the state is."""
        if self.placed:
            named = {key: array.name for key, (array, _) in self.arrays.items()}
            parts = [key if key == name else f"{key} in {name}" for key, name in named.items()]
            return (
                f"{', '.join(parts)}, all in place" if len(parts) > 1 else f"{parts[0]}, in place"
            )
        parts = [
            f"{key} from {array.name} to {self.outs[key].name}"
            for key, (array, _) in self.arrays.items()
        ]
        return ", ".join(parts)


def cells(k: KernelBuilder, grids: float = 0.45, number: Span = (140, 180)) -> Cells:
    """A thread for each neuron, of one network or of several trials of it."""
    low, high = int(number[0]), int(number[1])
    if k.draw.shape.chance(grids):
        lead, name = k.draw.word.choice((("trials", "t"), ("batch", "b"), ("populations", "p")))
        s = over(
            k,
            (lead, "neurons"),
            (name, k.draw.word.choice(("i", "n"))),
            ((4, 6), (low // 5, high // 5)),
        )
    else:
        s = over(k, "neurons", (k.draw.word.choice(("i", "n", "neuron", "tid")),), ((low, high),))
    return Cells(k, s, k.draw.shape.chance(0.6))


@dataclass
class Second:
    """A second state of a neuron: its step, from the new potential; what a spike makes of it."""

    key: str
    value: Var
    step: Step
    said: str
    spike: Step
    spike_said: str


@dataclass
class Model:
    """A membrane: its potential, a step of it by a current, the threshold, what a spike does."""

    v: Var
    step: Step
    said: str
    limit: Expr
    limit_said: str
    reset: Step
    reset_said: str
    drive: Span = (10.0, 70.0)
    """Between which currents it fires now and then."""
    also: Second | None = None


def leaky(c: Cells) -> Model:
    """Leaky integrate-and-fire in millivolts, in one of the ways that people write its step."""
    v = c.state("v", "membrane v_m potentials voltage", -62.0, -51.0)
    rest = c.own("v_rest e_leak", -70.0, -65.0)
    step, said, drive = _decay(c, v, rest)
    limit = c.own("v_thresh v_th", -56.0, -52.0)
    return Model(v, step, said, limit, c.say(limit), *_reset(c), drive)


def _decay(c: Cells, v: Var, rest: Expr) -> tuple[Step, str, Span]:
    way = c.k.draw.shape.choice(("euler", "leak", "exact", "factor"))
    if way == "leak":
        leak, cap = c.own("g_leak g_l", 9.0, 12.0), c.own("c_m capacitance", 150.0, 250.0)
        dt = c.own("dt", 1.0, 2.0)
        said = f"dv = {c.say(dt)} * ({c.say(leak)} * ({c.say(rest)} - v) + I) / {c.say(cap)}"
        return (lambda i: v + dt * (leak * (rest - v) + i) / cap), said, (100.0, 1000.0)
    if way == "factor":
        decay = c.own("leak_factor v_decay", 0.85, 0.95)
        said = f"v decays towards {c.say(rest)} + I by the factor {c.say(decay)}"
        return (lambda i: _towards(c.k, rest + i, v, decay)), said, (10.0, 70.0)
    tau, res, dt = c.own("tau_m tau", 8.0, 15.0), c.own("r_m", 0.8, 1.2), c.own("dt", 1.0, 2.0)
    goal = f"{c.say(rest)} + {c.say(res)} * I"
    if way == "euler":
        said = f"dv = {c.say(dt)} / {c.say(tau)} * ({goal} - v)"
        return (lambda i: v + dt / tau * (rest - v + res * i)), said, (10.0, 70.0)
    said = f"v decays towards {goal} by the factor exp(-{c.say(dt)} / {c.say(tau)})"
    kept = c.k.let("alpha p22", exp(-dt / tau))
    return (lambda i: _towards(c.k, rest + res * i, v, kept)), said, (10.0, 70.0)


def _towards(k: KernelBuilder, goal: Expr, v: Var, decay: Expr) -> Expr:
    held = k.let("v_inf v_target", goal)
    return held + (v - held) * decay


def _reset(c: Cells) -> Rule:
    if c.k.draw.shape.chance(0.7):
        low = c.own("v_reset", -72.0, -66.0)
        return (lambda v: low), f"v becomes {c.say(low)}"
    jump = c.own("reset_drop v_jump", 12.0, 18.0)
    return (lambda v: v - jump), f"v falls by {c.say(jump)}"


def unitless(c: Cells) -> Model:
    """The leaky neuron of learning: potentials without a unit."""
    v = c.state("v", "membrane mem", 0.0, 1.0, "v u mem_old")
    beta, limit = c.own("beta mem_decay", 0.8, 0.95), c.own("threshold v_th", 0.9, 1.1)
    rule: Rule = (lambda u: c.k.lift(0.0, FLOAT32)), "v becomes 0"
    if c.k.draw.shape.chance(0.5):
        rule = (lambda u: u - limit), f"{c.say(limit)} is taken from v"
    said, told = f"v becomes {c.say(beta)} * v + ", c.say(limit)
    if c.k.draw.shape.chance(0.6):
        return Model(v, lambda i: beta * v + i, f"{said}I", limit, told, *rule, (0.0, 0.8))
    said += f"(1 - {c.say(beta)}) * I"
    return Model(v, lambda i: beta * v + (1.0 - beta) * i, said, limit, told, *rule, (0.5, 6.0))


def izhikevich(c: Cells) -> Model:
    """Izhikevich's neuron, its potential in one step or in two halves."""
    v = c.state("v", "membrane v_m potentials", -70.0, 29.5)
    u = c.state("u", "recovery u_rec", -16.0, 8.0)
    a, b = c.own("a", 0.02, 0.1), c.own("b", 0.2, 0.26)
    low, up = c.own("c v_reset", -65.0, -50.0), c.own("d u_jump", 2.0, 8.0)
    dt = c.own("dt", 0.1, 0.5) if c.k.draw.shape.chance(0.5) else None
    slope = "0.04 * v^2 + 5 * v + 140 - u + I"
    pace = c.say(a) if dt is None else f"{c.say(dt)} * {c.say(a)}"
    rate = a if dt is None else dt * a
    said = f"v takes two steps of half a millisecond, each dv = 0.5 * ({slope})"
    if dt is not None:
        said = f"dv = {c.say(dt)} * ({slope})"

    def step(current: Expr) -> Expr:
        if dt is None:
            return _halves(c.k, v, u, current)
        return v + dt * (0.04 * v * v + 5.0 * v + 140.0 - u + current)

    rule = f"du = {pace} * ({c.say(b)} * v - u) with the new v"
    also = Second("u", u, lambda new: u + rate * (b * new - u), rule, lambda x: x + up, "")
    also.spike_said = f"u rises by {c.say(up)}"
    peak, told = c.k.lift(30.0, FLOAT32), f"v becomes {c.say(low)}"
    return Model(v, step, said, peak, "30", lambda x: low, told, (-5.0, 15.0), also)


def _halves(k: KernelBuilder, v: Var, u: Var, current: Expr) -> Expr:
    mid = k.let("v_half v_mid", v + 0.5 * (0.04 * v * v + 5.0 * v + 140.0 - u + current))
    return mid + 0.5 * (0.04 * mid * mid + 5.0 * mid + 140.0 - u + current)


def exponential(c: Cells) -> Model:
    """The exponential neuron, with adaptation (AdEx) or without."""
    v = c.state("v", "membrane v_m potentials", -60.0, -40.0)
    leak, cap = c.own("g_leak g_l", 9.0, 12.0), c.own("c_m capacitance", 150.0, 220.0)
    rest, soft = c.own("e_leak v_rest", -70.0, -65.0), c.own("v_t v_rheobase", -52.0, -48.0)
    sharp, peak = c.own("delta_t slope_factor", 1.8, 2.5), c.own("v_peak v_cut", -45.0, -41.0)
    dt = c.own("dt", 0.1, 0.3)
    w = None
    if c.k.draw.shape.chance(0.7):
        w = c.state("w", "adaptation w_adapt", 0.0, 120.0)
    told = f"{c.say(leak)} * ({c.say(rest)} - v) + {c.say(leak)} * {c.say(sharp)} * "
    told += f"exp((v - {c.say(soft)}) / {c.say(sharp)}) + I{' - w' if w is not None else ''}"

    def step(current: Expr) -> Expr:
        rise = c.k.let("i_exp i_spike", leak * sharp * exp((v - soft) / sharp))
        total = leak * (rest - v) + rise + current
        return v + dt * (total - w if w is not None else total) / cap

    said = f"dv = {c.say(dt)} * ({told}) / {c.say(cap)}"
    also = None if w is None else _adaptation(c, v, w, rest, dt)
    return Model(v, step, said, peak, c.say(peak), *_reset(c), (0.0, 1200.0), also)


def _adaptation(c: Cells, v: Var, w: Var, rest: Expr, dt: Expr) -> Second:
    a, tau = c.own("a_w coupling", 2.0, 4.0), c.own("tau_w", 100.0, 150.0)
    jump = c.own("b_w spike_adapt", 40.0, 80.0)
    rule = f"dw = {c.say(dt)} * ({c.say(a)} * (v - {c.say(rest)}) - w) / {c.say(tau)} with the v "
    told = f"w rises by {c.say(jump)}"
    step: Step = lambda new: w + dt * (a * (v - rest) - w) / tau  # noqa: E731
    return Second("w", w, step, f"{rule}before", lambda x: x + jump, told)


def adaptive(c: Cells) -> Model:
    """A leaky neuron whose threshold rises with each spike."""
    model = leaky(c)
    rise = c.state("theta", "adapt_thresh thresh_shift", 0.0, 4.0)
    decay, jump = c.own("theta_decay", 0.9, 0.98), c.own("theta_plus theta_jump", 0.5, 2.0)
    model.limit, model.limit_said = model.limit + rise, f"{model.limit_said} + theta"
    rule = f"theta, once it was compared, decays by the factor {c.say(decay)}"
    told = f"theta rises by {c.say(jump)}"
    model.also = Second("theta", rise, lambda new: decay * rise, rule, lambda x: x + jump, told)
    return model


CALLED: dict[Callable[[Cells], Model], tuple[str, str]] = {
    leaky: ("leaky integrate-and-fire neurons", "lif"),
    unitless: ("leaky integrate-and-fire neurons", "snn"),
    izhikevich: ("Izhikevich neurons", "izhikevich"),
    exponential: ("exponential integrate-and-fire neurons", "exp_if"),
    adaptive: ("leaky integrate-and-fire neurons with an adaptive threshold", "alif"),
}


def mark(k: KernelBuilder, out: Var, at: tuple[Operand, ...], fired: Expr) -> None:
    """Store whether a neuron fired, as a flag or as a float."""
    kind = element_of(out)
    if kind == FLOAT32:
        k.store(out, at, where(fired, k.lift(1.0, kind), k.lift(0.0, kind)))
    else:
        k.store(out, at, as_flag(fired, kind))


def told(m: Model, out: Var) -> str:
    """What a step does, in words."""
    second = "" if m.also is None else f"; {m.also.said}"
    jump = "" if m.also is None else f" and {m.also.spike_said}"
    text = f"{m.said}{second}. Where the new v is at least {m.limit_said} a neuron fires: "
    return f"{text}{m.reset_said}{jump}, and {out.name} gets 1, else 0"


def spikes(c: Cells, more: str = "") -> Var:
    kind = FLOAT32 if c.k.draw.shape.chance(0.25) else flag_type(c.k)
    return c.k.out("spikes fired_now spiked", kind, (*more.split(), *c.s.dims))


def advance(c: Cells, m: Model, current: Expr) -> tuple[Var, Var | None, Var]:
    """The new state before a spike, and whether there is one."""
    k = c.k
    new = k.let("v_new v_next", m.step(current))
    second = None if m.also is None else k.let(f"{m.also.key}_new", m.also.step(new))
    return new, second, k.let("fire is_spike", new >= m.limit)


def fire(c: Cells, m: Model, out: Var, new: Var, second: Var | None, fired: Var) -> None:
    """Store spikes and state: by a branch, or by selections."""
    k = c.k
    branches = k.draw.shape.chance(0.5)
    if branches:
        with k.if_(fired):
            move(k, new, m.reset(new))
            if m.also is not None and second is not None:
                move(k, second, m.also.spike(second))
    c.put("v", new if branches else where(fired, m.reset(new), new))
    if m.also is not None and second is not None:
        c.put(m.also.key, second if branches else where(fired, m.also.spike(second), second))
    mark(k, out, c.s.at, fired)


def title(c: Cells, model: Callable[[Cells], Model], text: str, name: str = "step") -> Title:
    called, short = CALLED[model]
    about = f"A step of {called}: {text}. The state is {c.kept()}."
    return Title(c.k.name(f"{short}_{name} {short}_neuron_{name}"), about)
