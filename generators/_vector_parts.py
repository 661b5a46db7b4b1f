"""Pieces that the vector and matrix idioms share: zeros, phrases, and steps of a moving particle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.dtypes import Mat, Scalar, Type, Vec, scalar_of
from generators.expr import Construct, Expr, Operand, Var, literal
from generators.stages import refine


def zero(type_: Type) -> Expr:
    """Zero of a scalar, or a vector or matrix of zeros."""
    nought = literal(0, scalar_of(type_))
    return nought if isinstance(type_, Scalar) else make(type_, nought)


def ones(type_: Vec | Mat) -> Construct:
    return make(type_, literal(1, type_.scalar))


def constant(k: KernelBuilder, low: float, high: float, digits: int = 2) -> float:
    return float(k.draw.value.constant(low, high, digits))


def listed(phrases: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(phrases) < 2:
        return "".join(phrases)
    return f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def extra_output(
    k: KernelBuilder,
    level: int,
    names: tuple[str, ...],
    place: tuple[str, Var],
    value: Expr,
    what: str,
    scale: float = 2.0,
) -> str:
    """One more float output for each thread, sent through stages; the sentence that says so."""
    size, i = place
    out = k.out(names, value.type, size)
    signal = refine(k, value, level, ("amount", "value", "measure"), scale)
    k.store(out, i, signal.value)
    return f" {out.name} gets {what}{', then ' if signal.phrase else ''}{signal.phrase}."


def helper(
    k: KernelBuilder,
    names: tuple[str, ...],
    params: Sequence[tuple[str, Type]],
    build: Callable[..., Expr],
    doc: str = "",
) -> str:
    """A helper function: ``build(body, *params)`` writes its statements and gives the result."""
    body = BodyBuilder(k.draw)
    variables = tuple(Var(body.name(name), type_) for name, type_ in params)
    result = build(body, *variables)
    body.return_(result)
    return k.function(k.name(*names), variables, body, result.type, doc)


@dataclass(frozen=True)
class Motion:
    """A particle on its way through one step: locals of one vector type, and the step's length."""

    position: Var
    velocity: Var
    dt: Expr

    @property
    def vec(self) -> Vec:
        assert isinstance(self.velocity.type, Vec)
        return self.velocity.type


Change = Callable[[KernelBuilder, Motion], str]


def _tuned(k: KernelBuilder, m: Motion, names: tuple[str, ...], low: float, high: float) -> Operand:
    """A number of the step: a parameter or a literal."""
    if k.draw.shape.chance(0.5):
        return k.scalar(names, m.vec.scalar, low, high)
    return constant(k, low, high)


def shown(value: Operand) -> str:
    return value.name if isinstance(value, Var) else str(value)


def drag(k: KernelBuilder, m: Motion) -> str:
    rate = _tuned(k, m, ("drag", "damping", "friction"), 0.2, 0.9)
    if k.draw.shape.chance(0.5):
        k.augment(m.velocity, "mul", 1.0 - rate * m.dt)
        return f"is multiplied by 1 - {shown(rate)} * dt"
    k.augment(m.velocity, "mul", fn("exp", -(rate * m.dt)))
    return f"decays by exp(-{shown(rate)} * dt)"


def speed_limit(k: KernelBuilder, m: Motion) -> str:
    limit = _tuned(k, m, ("max_speed", "speed_limit", "v_max"), 1.6, 2.4)
    speed = k.let(("speed", "v_norm"), fn("length", m.velocity))
    with k.if_(speed > limit):
        k.augment(m.velocity, "mul", limit / speed)
    return f"is shortened to length {shown(limit)} where it is longer"


def anchor_pull(k: KernelBuilder, m: Motion) -> str:
    stiffness = _tuned(k, m, ("stiffness", "spring", "pull"), 0.5, 2.0)
    anchor = k.scalar(("anchor", "target", "origin", "center"), m.vec, -1.0, 1.0)
    pull = stiffness * (anchor - m.position)
    k.augment(m.velocity, "add", pull * m.dt)
    return f"is pulled toward {anchor.name} with stiffness {shown(stiffness)}"


def swirl(k: KernelBuilder, m: Motion) -> str:
    v = m.velocity
    if m.vec.size == 3:
        field = k.scalar(("b_field", "omega", "axis"), m.vec, -1.0, 1.0)
        k.augment(v, "add", fn("cross", v, field) * m.dt)
        return f"gains dt * cross(velocity, {field.name})"
    spin = k.scalar(("spin", "omega", "vorticity"), m.vec.scalar, 0.4, 1.5)
    k.augment(v, "add", spin * m.dt * make(m.vec, -v[1], v[0]))
    return f"gains {spin.name} * dt times its perpendicular (-vy, vx)"


def floor_bounce(k: KernelBuilder, m: Motion) -> str:
    x, v, up = m.position, m.velocity, 1
    bounce = _tuned(k, m, ("restitution", "bounce", "elasticity"), 0.3, 0.9)
    mirrored = k.draw.shape.chance(0.5)
    with k.if_(x[up] < 0.0):
        k.set(x, up, -x[up] if mirrored else 0.0)
        k.set(v, up, -(bounce * v[up]))
    where = "is mirrored at" if mirrored else "is put back on"
    return f"{where} the floor y = 0 (velocity y reversed, times {shown(bounce)})"


def box_walls(k: KernelBuilder, m: Motion) -> str:
    half = _tuned(k, m, ("half_width", "box", "extent"), 1.0, 1.5)
    x = m.position
    with k.for_(("axis", "d", "c"), m.vec.size) as axis, k.if_(fn("abs", x[axis]) > half):
        k.set(x, axis, half * fn("sign", x[axis]))
        k.set(m.velocity, axis, -m.velocity[axis])
    return (
        f"is kept within {shown(half)} of the origin along each axis (reversing that component "
        "of the velocity)"
    )


VELOCITY_CHANGES: dict[str, Change] = {
    "drag": drag,
    "speed_limit": speed_limit,
    "anchor_pull": anchor_pull,
    "swirl": swirl,
}
POSITION_CHANGES: dict[str, Change] = {"floor_bounce": floor_bounce, "box_walls": box_walls}
_CHANGES_AT = {1: (0, 0), 2: (1, 1), 3: (1, 2), 4: (2, 3), 5: (3, 4)}


def advance(k: KernelBuilder, level: int, m: Motion, acceleration: Expr) -> str:
    """Statements of a semi-implicit Euler step with extras; says what they do."""
    shape = k.draw.shape
    count = shape.integer(*_CHANGES_AT[level])
    after = 1 if level >= 2 and count and shape.chance(0.5) else 0
    early = shape.sample(sorted(VELOCITY_CHANGES), count - after)
    k.augment(m.velocity, "add", acceleration * m.dt)
    speed_text = [VELOCITY_CHANGES[name](k, m) for name in early]
    k.augment(m.position, "add", m.velocity * m.dt)
    late = shape.sample(sorted(POSITION_CHANGES), after)
    place_text = [POSITION_CHANGES[name](k, m) for name in late]
    text = "the velocity gains dt times the acceleration"
    if speed_text:
        text += f", then {listed(speed_text)}"
    text += "; then the position gains dt times the velocity"
    if place_text:
        text += f" and {listed(place_text)}"
    return text


def sub_stepped(k: KernelBuilder, level: int, m: Motion, acceleration: Expr) -> str:
    """:func:`advance`, at high levels sometimes in a loop over shorter steps."""
    if level < 4 or k.draw.shape.chance(0.5):
        return f"Advance each particle by one step: {advance(k, level, m, acceleration)}"
    steps = k.draw.value.integer(2, 4)
    short = k.let(("sub_dt", "h_sub", "dt_small"), m.dt / float(steps))
    with k.for_(("sub", "step", "s"), steps):
        text = advance(k, level, Motion(m.position, m.velocity, short), acceleration)
    return f"Advance each particle by {steps} sub-steps of dt / {steps}: in each, {text}"
