"""Stages: small named steps that an idiom nests into its kernel at higher levels.

A stage takes a float scalar and returns a new one, with a phrase for the description. ``scale`` is
the size that the value typically has; thresholds and constants are drawn relative to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.dtypes import Scalar
from generators.expr import Expr, Op, Var


@dataclass(frozen=True)
class Signal:
    """A float scalar on its way through stages."""

    value: Expr
    scale: float
    phrase: str = ""
    owned: bool = False
    """Whether a stage made the variable that holds the value, so that the next may change it."""
    signed: bool = True
    """Whether the value takes both signs."""

    def then(self, value: Expr, scale: float, phrase: str, signed: bool | None = None) -> Signal:
        phrases = f"{self.phrase}, then {phrase}" if self.phrase else phrase
        stays = self.signed if signed is None else signed
        return Signal(value, scale, phrases, owned=True, signed=stays)


Stage = Callable[[KernelBuilder, Signal, tuple[str, ...]], Signal]
STAGES: dict[str, Stage] = {}


def stage(function: Stage) -> Stage:
    name = function.__name__
    if name in STAGES:
        raise ValueError(f"two stages are called {name}")
    STAGES[name] = function
    return function


def refine(
    k: KernelBuilder,
    value: Expr,
    level: int,
    names: tuple[str, ...] = ("value", "result"),
    scale: float = 1.0,
    signed: bool = True,
) -> Signal:
    """Send a float scalar through as many different stages as the level asks for.

    ``names`` are candidates for intermediate variables. Pass ``signed=False`` for a value that is
    never negative: stages that treat the two signs differently are left out.
    """
    signal = Signal(value, scale, signed=signed)
    left = sorted(STAGES)
    for _ in range(k.draw.shape.integer(*_COUNTS[level])):
        fitting = [n for n in left if signal.signed or n not in _FOR_BOTH_SIGNS]
        name = k.draw.shape.choice(fitting)
        left.remove(name)
        signal = STAGES[name](k, signal, names)
    return signal


_FOR_BOTH_SIGNS = frozenset({"clamp_range", "dead_zone", "leaky_side"})


_COUNTS = {1: (0, 0), 2: (0, 1), 3: (0, 1), 4: (1, 2), 5: (1, 2)}


def _named(k: KernelBuilder, signal: Signal, names: tuple[str, ...]) -> Var:
    """The value as a local that is read more than once."""
    return signal.value if isinstance(signal.value, Var) else k.let(names, signal.value)


def _variable(k: KernelBuilder, signal: Signal, names: tuple[str, ...]) -> Var:
    """The value as a local that may be assigned again."""
    if signal.owned and isinstance(signal.value, Var):
        return signal.value
    return k.let(names, signal.value)


def _float(signal: Signal) -> Scalar:
    assert isinstance(signal.value.type, Scalar)
    return signal.value.type


@stage
def gain_and_offset(k: KernelBuilder, s: Signal, names: tuple[str, ...]) -> Signal:
    gain = k.draw.value.constant(*k.draw.shape.choice(((0.4, 0.9), (1.1, 1.8))))
    offset = k.draw.value.constant(0.1 * s.scale, 0.9 * s.scale)
    scaled = float(gain) * s.value
    sign = k.draw.shape.choice(("+", "-"))
    shifted = scaled + float(offset) if sign == "+" else scaled - float(offset)
    return s.then(k.let(names, shifted), s.scale * 1.5, f"mapped to {gain} v {sign} {offset}")


@stage
def tunable_gain(k: KernelBuilder, s: Signal, names: tuple[str, ...]) -> Signal:
    gain = k.scalar(("gain", "weight", "strength"), _float(s), 0.5, 1.5)
    return s.then(k.let(names, s.value * gain), s.scale, f"multiplied by {gain.name}")


@stage
def soft_limit(k: KernelBuilder, s: Signal, names: tuple[str, ...]) -> Signal:
    x = _named(k, s, names)
    limited = x / (1.0 + fn("abs", x))
    return s.then(k.let(names, limited), min(s.scale, 0.5), "compressed to v / (1 + |v|)")


@stage
def clamp_range(k: KernelBuilder, s: Signal, names: tuple[str, ...]) -> Signal:
    high = float(k.draw.value.constant(0.3 * s.scale, 0.7 * s.scale))
    limited = fn("clamp", s.value, -high, high)
    return s.then(k.let(names, limited), high, f"clamped to [-{high}, {high}]")


@stage
def dead_zone(k: KernelBuilder, s: Signal, names: tuple[str, ...]) -> Signal:
    width = float(k.draw.value.constant(0.1 * s.scale, 0.4 * s.scale))
    x = _variable(k, s, names)
    with k.if_(fn("abs", x) < width):
        k.assign(x, 0.0)
    with k.else_():
        k.assign(x, x - fn("sign", x) * width)
    return s.then(x, s.scale, f"moved toward zero by {width} (zero where |v| < {width})")


@stage
def leaky_side(k: KernelBuilder, s: Signal, names: tuple[str, ...]) -> Signal:
    slope = float(k.draw.value.constant(0.05, 0.4))
    x = _named(k, s, names)
    bent = Op("where", (x > 0.0, x, x * slope), x.type)
    return s.then(k.let(names, bent), s.scale, f"multiplied by {slope} where it is not positive")


@stage
def helper_smooth_step(k: KernelBuilder, s: Signal, names: tuple[str, ...]) -> Signal:
    body = BodyBuilder(k.draw)
    type_ = _float(s)
    x, edge = (Var(body.name(name), type_) for name in ("x", "edge"))
    t = body.let("t", fn("clamp", x / edge, 0.0, 1.0))
    body.return_(t * t * (3.0 - 2.0 * t))
    name = k.name("ease", "smooth_ramp", "fade")
    k.function(name, (x, edge), body, type_)
    width = float(k.draw.value.constant(0.5 * s.scale, s.scale))
    called = k.let(names, k.call(name, fn("abs", s.value), k.lift(width, type_)))
    return s.then(
        called, 1.0, f"replaced by the smooth step of |v| from 0 to {width}", signed=False
    )
