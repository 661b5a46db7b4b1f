"""The state machines of ``row_machine``: what they keep, one step, and what they count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Const, Expr, Var, literal


@dataclass(frozen=True)
class Scale:
    """How readings come from raw entries, and the range in which they then lie."""

    k: KernelBuilder
    type: Scalar
    applied: Callable[[Expr], Expr] = lambda e: e
    low: float = 0
    high: float = 99
    phrase: str = ""

    @property
    def span(self) -> float:
        return self.high - self.low

    def at(self, start: float, stop: float) -> float:
        """A literal between two parts of the range."""
        return self.number(self.low + start * self.span, self.low + stop * self.span)

    def width(self, start: float, stop: float) -> float:
        """A literal of the size of a part of the range."""
        return self.number(start * self.span, stop * self.span)

    def number(self, low: float, high: float) -> float:
        if self.type.is_float:
            return float(self.k.draw.value.constant(low, high))
        return self.k.draw.value.integer(round(low), round(high))


@dataclass(frozen=True)
class Machine:
    """One step, the count, what it counts, and a condition on the state, in words too."""

    step: Callable[[Var], None]
    count: Var
    text: str
    state: tuple[Expr, str]


def _integers(k: KernelBuilder, *names: str) -> tuple[Var, Var]:
    """The state, 0 at first, and the count."""
    return k.let(names, k.lift(0, INT32)), k.let(("count", "tally"), k.lift(0, INT32))


def _name(limit: Expr, name: str) -> str:
    return str(limit.value) if isinstance(limit, Const) else name


def _longest_streak(k: KernelBuilder, scale: Scale, limit: Expr, name: str) -> Machine:
    run, count = _integers(k, "streak", "run")
    above = k.draw.shape.chance(0.6)

    def step(v: Var) -> None:
        with k.if_(v > limit if above else v < limit):
            k.augment(run, "add", 1)
            k.assign(count, fn("max", count, run))
        with k.else_():
            k.assign(run, 0)

    side = "above" if above else "below"
    text = f"the length of the longest run of v {side} {_name(limit, name)}"
    return Machine(step, count, text, (run > 1, "that continue a run"))


def _upward_crossings(k: KernelBuilder, scale: Scale, limit: Expr, name: str) -> Machine:
    run, count = _integers(k, "above", "inside")

    def step(v: Var) -> None:
        with k.if_(v > limit):
            with k.if_(fn("eq", run, 0)):
                k.augment(count, "add", 1)
            k.assign(run, 1)
        with k.else_():
            k.assign(run, 0)

    text = f"how many runs of v above {_name(limit, name)} begin"
    return Machine(step, count, text, (count > 0, "that come from the first run on"))


def _switched_on(k: KernelBuilder, scale: Scale, limit: Expr, name: str) -> Machine:
    run, count = _integers(k, "state", "on")
    shown = _name(limit, name)
    lower, off = _lower(scale, limit, shown)

    def step(v: Var) -> None:
        with k.if_(v > limit):
            k.assign(run, 1)
        with k.elif_(v < lower):
            k.assign(run, 0)
        k.augment(count, "add", run)

    text = f"how many v leave a switch on that is off at first, goes on above {shown} and "
    text += f"off below {off}"
    return Machine(step, count, text, (run > 0, "that leave the switch on"))


def _lower(scale: Scale, limit: Expr, shown: str) -> tuple[Expr, str]:
    """A second threshold under the first, as an expression and in words."""
    gap = scale.width(0.05, 0.2)
    if not isinstance(limit, Const):
        return limit - gap, f"{shown} - {gap}"
    low = scale.number(float(limit.value) - 2 * gap, float(limit.value) - gap)
    return literal(low, scale.type), f"{low}"


def _cooldown(k: KernelBuilder, scale: Scale, limit: Expr, name: str) -> Machine:
    wait, count = _integers(k, "wait", "pause")
    length = k.draw.value.integer(1, 3)

    def step(v: Var) -> None:
        with k.if_(wait > 0):
            k.augment(wait, "sub", 1)
        with k.elif_(v > limit):
            k.augment(count, "add", 1)
            k.assign(wait, length)

    after = "one is" if length == 1 else f"{length} are"
    text = f"how many v above {_name(limit, name)} there are when after each one that counts the "
    text += f"next {after} passed over"
    return Machine(step, count, text, (count > 0, "that come from the first one counted on"))


def _bucket(k: KernelBuilder, scale: Scale, limit: Expr, name: str) -> Machine:
    start, leak = scale.width(0.05, 0.3), scale.at(0.3, 0.5)
    filled = k.let(("filled", "stock"), k.lift(start, scale.type))
    count = k.let(("count", "tally"), k.lift(0, INT32))

    def step(v: Var) -> None:
        k.assign(filled, fn("max", filled + v - leak, 0))
        with k.if_(filled > limit):
            k.augment(count, "add", 1)
            k.assign(filled, start)

    text = f"how often a bucket overflows: it holds {start} at first and max(held + v - {leak}, 0) "
    text += (
        f"after each v; where that is above {_name(limit, name)}, it overflows and holds {start}"
    )
    return Machine(step, count, text, (count > 0, "that come from the first overflow on"))


MACHINES: dict[str, Callable[[KernelBuilder, Scale, Expr, str], Machine]] = {
    "longest_streak": _longest_streak,
    "upward_crossings": _upward_crossings,
    "switched_on": _switched_on,
    "cooldown": _cooldown,
    "leaky_bucket": _bucket,
}
