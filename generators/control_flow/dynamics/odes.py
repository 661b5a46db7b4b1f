"""Ensembles of ordinary differential equations, a thread integrating each member."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature

from generators.build import KernelBuilder, make
from generators.build.registry import Title, idiom
from generators.control_flow.dynamics.systems import SYSTEMS, System
from generators.control_flow.params import with_struct
from generators.kit.formulas import Formula
from generators.kit.functions import most
from generators.kit.naming import routine
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import listed, plural, say
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Load, Var

_METHODS = {
    1: {"euler": 1},
    2: {"euler": 2, "semi_implicit": 2, "midpoint": 1},
    3: {"midpoint": 2, "heun": 2, "semi_implicit": 1},
    4: {"heun": 1, "ralston": 1, "rk4": 2},
    5: {"rk4": 3, "three_eighths": 1},
}
_CALLED = {
    "euler": "the explicit Euler method",
    "semi_implicit": "the semi-implicit Euler method (the velocity first, then the position with "
    "the new velocity)",
    "midpoint": "the explicit midpoint method",
    "heun": "Heun's method",
    "ralston": "Ralston's second-order method",
    "rk4": "the classical fourth-order Runge-Kutta method",
    "three_eighths": "Kutta's 3/8 rule of fourth order",
}
_SLOPES_HELPED = {1: 0.0, 2: 0.4, 3: 0.6, 4: 0.8, 5: 0.9}

_Share = tuple[int, int]
"""A fraction."""

_NONE, _ALL, _HALF, _THIRD = (0, 1), (1, 1), (1, 2), (1, 3)
_TABLEAUS: dict[str, tuple[tuple[tuple[_Share, ...], ...], tuple[_Share, ...], float]] = {
    "midpoint": (((_HALF,),), (_NONE, _ALL), 1.0),
    "heun": (((_ALL,),), (_ALL, _ALL), 2.0),
    "ralston": ((((2, 3),),), (_ALL, (3, 1)), 4.0),
    "rk4": (((_HALF,), (_NONE, _HALF), (_NONE, _NONE, _ALL)), (_ALL, (2, 1), (2, 1), _ALL), 6.0),
    "three_eighths": (
        ((_THIRD,), ((-1, 3), _ALL), (_ALL, (-1, 1), _ALL)),
        (_ALL, (3, 1), (3, 1), _ALL),
        8.0,
    ),
}
"""Of each method: how far a stage goes along the slopes so far, and the weights of the slopes with
what they are divided by."""


@dataclass(frozen=True)
class _Member:
    """The states of this thread's member as locals, and the numbers of its system."""

    k: KernelBuilder
    system: System
    states: Mapping[str, Var]
    numbers: Mapping[str, Expr]
    slopes: Mapping[str, Callable[..., Expr]]
    dt: Expr
    helped: bool

    def slope(self, key: str, states: Mapping[str, Expr]) -> Expr:
        """The rate of change of a state at these states."""
        values = {**self.numbers, **states}
        return self.slopes[key](*(values[n] for n in signature(self.system.rates[key]).parameters))

    def step(self, method: str) -> None:
        """One step of a method."""
        if method in _TABLEAUS:
            self.staged(method)
        elif method == "semi_implicit":
            self.semi_implicit()
        else:
            self.euler()

    def semi_implicit(self) -> None:
        for key in reversed(list(self.states)):
            self.k.augment(self.states[key], "add", self.dt * self.slope(key, self.states))

    def euler(self) -> None:
        found = {key: self.slope(key, self.states) for key in self.states}
        if len(found) > 1:
            names = {key: var.name for key, var in self.states.items()}
            found = {key: self.k.let(f"d{names[key]}", value) for key, value in found.items()}
        for key, x in self.states.items():
            self.k.augment(x, "add", self.dt * found[key])

    def staged(self, method: str) -> None:
        """A step of a method of several stages."""
        stages, weights, divisor = _TABLEAUS[method]
        k, found = self.k, [self._slopes(1, self.states)]
        named = not self.helped or self.shared or k.draw.shape.chance(0.4)
        for number, shares in enumerate(stages, 2):
            at: dict[str, Expr] = {}
            for key, x in self.states.items():
                at[key] = x + _moved(self.dt, shares, [f[key] for f in found])
            if named:
                at = {key: k.let(self.called(key, "", number), e) for key, e in at.items()}
            found.append(self._slopes(number, at))
        for key, x in self.states.items():
            total = _combined(weights, [f[key] for f in found])
            step = self.dt if divisor == 1.0 else self.dt / divisor
            k.augment(x, "add", step * total)

    def _slopes(self, number: int, states: Mapping[str, Expr]) -> dict[str, Expr]:
        alone = len(self.states) == 1
        names = {key: self.called("" if alone else key, f"k{number}") for key in self.states}
        return {key: self.k.let(names[key], self.slope(key, states)) for key in self.states}

    def called(self, key: str, before: str = "", number: int | str = "") -> str:
        """A name made of that of a state: ``k2x`` and ``x2``, ``k2_prey`` and ``prey_2``."""
        name = self.states[key].name if key else ""
        parts = [part for part in (before, name, str(number)) if part]
        return ("" if len(name) == 1 else "_").join(parts)

    @property
    def shared(self) -> bool:
        """Whether several rates read a state, so that a stage has a name for it."""
        read = [n for rate in self.system.rates.values() for n in signature(rate).parameters]
        return any(read.count(key) > 1 for key in self.states)


def _moved(dt: Expr, shares: tuple[_Share, ...], values: list[Expr]) -> Expr:
    """How far a stage moves on."""
    used = [(share, value) for share, value in zip(shares, values, strict=True) if share[0]]
    ((top, bottom), value), *others = used
    if others or bottom == 1:
        return dt * _combined(shares, values)
    if (top, bottom) == _HALF:
        return 0.5 * dt * value
    return (dt if top == 1 else float(top) * dt) / float(bottom) * value


def _combined(weights: tuple[_Share, ...], values: list[Expr]) -> Expr:
    """The weighted sum of slopes, as people write it: no zeros, no factors of one."""
    total: Expr | None = None
    for (top, bottom), value in zip(weights, values, strict=True):
        if top == 0:
            continue
        part = value if abs(top) == 1 else float(abs(top)) * value
        part = part if bottom == 1 else part / float(bottom)
        if total is None:
            total = part if top > 0 else -part
        else:
            total = total + part if top > 0 else total - part
    assert total is not None
    return total


def _word(k: KernelBuilder, names: str, pick: int) -> str:
    """One of the names of a quantity: all of a system are letters, or all are words."""
    found = names.split()
    return found[min(pick, len(found) - 1)]


def _starts(s: Site, system: System, type_: Scalar, pick: int) -> tuple[dict[str, Var], str, bool]:
    """The states as locals that begin at this member's first states; those in words."""
    k, states = s.k, {}
    names = {key: _word(k, span[0], pick) for key, span in system.states.items()}
    low = min(span[1] for span in system.states.values())
    high = max(span[2] for span in system.states.values())
    alike = all(span[2] - span[1] > 0.4 * (high - low) for span in system.states.values())
    if len(names) > 1 and alike and k.draw.shape.chance(0.5):
        first = s.read("initial_states states0", Vec(len(names), type_), low, high)
        state = k.let("state y0", first)
        for n, (key, name) in enumerate(names.items()):
            states[key] = k.let(name, state[n])
        return states, say(k, first), True
    called = k.draw.word.choice(("{}0", "initial_{}", "{}_init"))
    loads = {
        key: s.read(called.format(names[key]), type_, *span[1:])
        for key, span in system.states.items()
    }
    states = {key: k.let(names[key], load) for key, load in loads.items()}
    texts = [say(k, load) for load in loads.values()]
    return states, f"({', '.join(texts)})" if texts[1:] else texts[0], False


def _numbers(s: Site, system: System, type_: Scalar, pick: int) -> dict[str, Expr]:
    """The numbers of a system: the first may be each member's own."""
    found: dict[str, Expr] = {}
    for n, (key, (names, low, high)) in enumerate(system.numbers.items()):
        name = _word(s.k, names, pick)
        if n:
            found[key] = s.k.scalar(name, type_, low, high)
        else:
            many = f"{name}_values" if len(name) < 4 or plural(name).endswith("_field") else ()
            found[key] = given(s, name, type_, low, high, many=many, each=3, shared=4)
    return found


def _slopes(
    k: KernelBuilder, system: System, names: Mapping[str, str], type_: Scalar, helped: bool
) -> dict[str, Callable[..., Expr]]:
    """The rates of change, as helper functions or written out; a rate of one state is no helper."""
    called = k.draw.word.choice(("{}_rate", "d{}_dt", "d{}"))
    return {
        key: routine(
            k,
            float(helped and len(signature(rate).parameters) > 1),
            called.format(names[key]),
            dict.fromkeys(signature(rate).parameters, type_),
            lambda _, *args, rate=rate: rate(*args),
        )
        for key, rate in system.rates.items()
    }


def _choose(k: KernelBuilder, system: System, level: int) -> str:
    """The method; one for positions and velocities only where there are these."""
    method = k.draw.shape.weighted(_METHODS[level])
    if method == "semi_implicit" and not system.swings:
        return "euler" if level < 3 else "heun"
    return method


def _count(k: KernelBuilder, shown: str) -> Expr:
    """How many steps there are: as many as a trace has places, or a number."""
    if shown != "trace":
        return k.scalar("num_steps n_steps", INT32, 30, 60)
    k.size("steps", 24, 40)
    return k.size_param("num_steps", "steps")


@idiom
@with_struct
def ode_integration(k: KernelBuilder, level: int) -> Title:
    """Explicit methods, from Euler's to Runge and Kutta's, for an ensemble of small systems."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(SYSTEMS))
    system = SYSTEMS[form]
    method = _choose(k, system, level)
    s = launch(k, {"list": 1}, "member tid idx")
    shown = shape.weighted({"final": 4, "trace": 2, "peak": 2 * bool(system.peak)})
    pick = k.draw.word.integer(0, 1)
    numbers = _numbers(s, system, type_, pick)
    dt = k.scalar("dt step_size", type_, *system.dt)
    count = _count(k, shown)
    traced = system.peak if shown == "peak" else shape.choice(sorted(system.states))
    shown_as = _word(k, system.states[traced][0], pick)
    trace = None
    if shown == "trace":
        trace_names = f"{shown_as}_history {shown_as}_trajectory"
        trace = s.array(trace_names, type_, more="steps", role="out")
    states, begun, vector = _starts(s, system, type_, pick)
    held = {
        key: value if isinstance(value, Var) else k.let(key, value)
        for key, value in numbers.items()
    }
    names = {key: var.name for key, var in {**states, **held}.items()}
    helped = shape.chance(_SLOPES_HELPED[level])
    m = _Member(k, system, states, held, _slopes(k, system, names, type_, helped), dt, helped)
    peak = k.let(f"peak max_{shown_as}", states[traced]) if shown == "peak" else None
    with k.for_("t step", count) as t:
        m.step(method)
        if trace is not None:
            k.store(trace, s.index(t), states[traced])
        if peak is not None:
            k.assign(peak, most(peak, states[traced]))
    arrays = [key for key, value in numbers.items() if isinstance(value, Load)]
    own = [f"{names[key]} from {say(k, numbers[key])}" for key in arrays]
    done = _told(system, method, states, names, (begun, own), count, dt)
    done += _results(s, system, m, (vector, trace, traced), peak)
    return Title(k.name(f"integrate_{form} {form}_{method} simulate_{form}"), done)


def _told(
    system: System,
    method: str,
    states: Mapping[str, Var],
    names: Mapping[str, str],
    began: tuple[str, Sequence[str]],
    count: Expr,
    dt: Expr,
) -> str:
    """The equations, where they begin and where numbers are from, and the method, in words."""
    begun, own = began
    equations = []
    for key, rate in system.rates.items():
        formula = Formula("f", "f", rate)
        text = formula.said({n: names[n] for n in formula.keys})
        equations.append(f"d{names[key]}/dt = {text}")
    called = [var.name for var in states.values()]
    begin = f"({', '.join(called)})" if len(called) > 1 else called[0]
    tail = f", with {listed(own)}" if own else ""
    done = f"Integrate {system.title}: {', '.join(equations)}{tail}. From {begin} = {begun}, take "
    assert isinstance(count, Var)
    assert isinstance(dt, Var)
    return f"{done}{count.name} steps of {dt.name} by {_CALLED[method]}"


def _results(
    s: Site,
    system: System,
    m: _Member,
    how: tuple[bool, Var | None, str],
    peak: Var | None,
) -> str:
    """What is stored in the end, in words."""
    vector, trace, traced = how
    if trace is not None:
        return f"; {trace.name} gets {m.states[traced].name} after each step."
    if peak is not None:
        out = s.put(f"peak_{m.states[traced].name}", peak)
        return f"; {out.name} gets {system.peak_said} on the way, the start included."
    if vector:
        whole = make(Vec(len(m.states), peak_type(m)), *m.states.values())
        out = s.put("final_states states_out", whole)
        return f"; {out.name} gets the states in the end."
    called = s.k.draw.word.choice(("{}_out", "final_{}"))
    outs = [s.put(called.format(var.name), var).name for var in m.states.values()]
    return (
        f"; {listed(outs)} get the states in the end."
        if outs[1:]
        else (f"; {outs[0]} gets the state in the end.")
    )


def peak_type(m: _Member) -> Scalar:
    """The type of the states."""
    type_ = next(iter(m.states.values())).type
    assert isinstance(type_, Scalar)
    return type_
