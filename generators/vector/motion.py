"""What one step of a particle does: how it integrates, and what changes it on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, fn, make
from generators.kit.pieces import listed, shown, tuned
from generators.program.dtypes import Vec
from generators.program.expr import Expr, Operand, Var


@dataclass(frozen=True)
class Motion:
    """A particle on its way through one step: its locals, and the step's length with its name.

    Descriptions call the position x, the velocity v and the acceleration a.
    """

    position: Var
    velocity: Var
    dt: Expr
    step: str

    @property
    def vec(self) -> Vec:
        assert isinstance(self.velocity.type, Vec)
        return self.velocity.type


Change = Callable[[KernelBuilder, Motion], str]


def _tuned(k: KernelBuilder, m: Motion, names: tuple[str, ...], low: float, high: float) -> Operand:
    return tuned(k, names, m.vec.scalar, low, high)


def drag(k: KernelBuilder, m: Motion) -> str:
    rate = _tuned(k, m, ("drag", "damping", "friction"), 0.2, 0.9)
    if k.draw.shape.chance(0.5):
        k.augment(m.velocity, "mul", 1.0 - rate * m.dt)
        return f"is multiplied by 1 - {shown(rate)} * {m.step}"
    k.augment(m.velocity, "mul", fn("exp", -rate * m.dt))
    return f"is multiplied by exp(-{shown(rate)} * {m.step})"


def speed_limit(k: KernelBuilder, m: Motion) -> str:
    limit = _tuned(k, m, ("max_speed", "speed_limit", "v_max"), 1.0, 1.6)
    speed = k.let(("speed", "v_norm"), fn("length", m.velocity))
    with k.if_(speed > limit):
        k.augment(m.velocity, "mul", limit / speed)
    return f"is shortened to length {shown(limit)} where it is longer"


def anchor_pull(k: KernelBuilder, m: Motion) -> str:
    stiffness = _tuned(k, m, ("stiffness", "spring", "pull"), 0.5, 2.0)
    anchor = k.scalar(("anchor", "target", "origin", "center"), m.vec, -1.0, 1.0)
    pull = stiffness * (anchor - m.position)
    k.augment(m.velocity, "add", pull * m.dt)
    return f"gains {m.step} * {shown(stiffness)} * ({anchor.name} - x)"


def swirl(k: KernelBuilder, m: Motion) -> str:
    v = m.velocity
    if m.vec.size == 3:
        field = k.scalar(("b_field", "omega", "axis"), m.vec, -1.0, 1.0)
        k.augment(v, "add", fn("cross", v, field) * m.dt)
        return f"gains {m.step} * cross(v, {field.name})"
    spin = k.scalar(("spin", "omega", "vorticity"), m.vec.scalar, 0.4, 1.5)
    k.augment(v, "add", spin * m.dt * make(m.vec, -v[1], v[0]))
    return f"gains {spin.name} * {m.step} times its perpendicular (-vy, vx)"


def floor_bounce(k: KernelBuilder, m: Motion) -> str:
    x, v = m.position, m.velocity
    bounce = _tuned(k, m, ("restitution", "bounce", "elasticity"), 0.3, 0.9)
    mirrored = k.draw.shape.chance(0.5)
    axes = range(m.vec.size)
    with k.if_(x[1] < 0.0):
        up: Operand = -x[1] if mirrored else 0.0
        k.assign(x, make(m.vec, *(k.lift(up, m.vec) if c == 1 else x[c] for c in axes)))
        k.assign(v, make(m.vec, *(-bounce * v[c] if c == 1 else v[c] for c in axes)))
    where = "is mirrored at" if mirrored else "is put back on"
    return f"{where} the floor y = 0 (vy becomes -{shown(bounce)} * vy)"


def box_walls(k: KernelBuilder, m: Motion) -> str:
    """Componentwise walls of a cube around the origin."""
    half = _tuned(k, m, ("half_width", "box", "extent"), 1.0, 1.5)
    x, v = m.position, m.velocity
    parts = []
    for c in range(m.vec.size):
        outside = fn("abs", x[c]) > half
        parts.append(fn("where", outside, -v[c], v[c]))
    k.assign(v, make(m.vec, *parts))
    corner = k.let(("corner", "wall"), make(m.vec, k.lift(half, m.vec)))
    k.assign(x, fn("min", fn("max", x, -corner), corner))
    return f"is clamped to +-{shown(half)} along each axis (negating v's component where it acts)"


VELOCITY_CHANGES: dict[str, Change] = {
    "drag": drag,
    "speed_limit": speed_limit,
    "anchor_pull": anchor_pull,
    "swirl": swirl,
}
POSITION_CHANGES: dict[str, Change] = {"floor_bounce": floor_bounce, "box_walls": box_walls}
_CHANGES_AT = {1: (0, 0), 2: (1, 1), 3: (1, 2), 4: (2, 3), 5: (3, 4)}


def _integrate(
    k: KernelBuilder, m: Motion, acceleration: Expr, level: int, early: list[str]
) -> str:
    """The new velocity and position; says how, and what else changed the velocity."""
    form = k.draw.shape.weighted({"velocity first": 2 if level == 1 else 3, "position first": 1})
    if level <= 2 and k.draw.shape.chance(0.25):
        form = "half"
    h = m.step
    if form == "velocity first":
        k.augment(m.velocity, "add", acceleration * m.dt)
        changes = [VELOCITY_CHANGES[name](k, m) for name in early]
        k.augment(m.position, "add", m.velocity * m.dt)
        gains = f"v gains {h} * a"
        gains += f", then {listed(changes)}" if changes else ""
        return f"{gains}; then x gains {h} * v"
    if form == "half":
        acceleration = k.let(("accel", "acc"), acceleration)
        step = m.velocity * m.dt + 0.5 * m.dt * m.dt * acceleration
        text = f"x gains {h} * v + {h}^2 / 2 * a"
    else:
        step = m.velocity * m.dt
        text = f"x gains {h} * v"
    k.augment(m.position, "add", step)
    k.augment(m.velocity, "add", acceleration * m.dt)
    changes = [VELOCITY_CHANGES[name](k, m) for name in early]
    text += f"; then v gains {h} * a"
    return text + (f", then {listed(changes)}" if changes else "")


def advance(k: KernelBuilder, level: int, m: Motion, acceleration: Expr) -> str:
    """Statements of one Euler step with extras; says what they do."""
    shape = k.draw.shape
    count = shape.integer(*_CHANGES_AT[level])
    after = 1 if level >= 2 and count and shape.chance(0.5) else 0
    early = shape.sample(sorted(VELOCITY_CHANGES), count - after)
    text = _integrate(k, m, acceleration, level, early)
    late = shape.sample(sorted(POSITION_CHANGES), after)
    place_text = [POSITION_CHANGES[name](k, m) for name in late]
    return f"{text}; then x {listed(place_text)}" if place_text else text


def sub_stepped(k: KernelBuilder, level: int, m: Motion, acceleration: Expr) -> str:
    """:func:`advance`, at high levels sometimes in a loop over shorter steps."""
    if level < 4 or k.draw.shape.chance(0.5):
        text = advance(k, level, m, acceleration)
        return f"Advance position x and velocity v of each particle: {text}"
    steps = k.draw.value.integer(2, 4)
    short = k.let(("sub_dt", "h_sub", "dt_small"), m.dt / float(steps))
    with k.for_(("sub", "step", "s"), steps):
        text = advance(k, level, Motion(m.position, m.velocity, short, "s"), acceleration)
    return (
        f"Advance position x and velocity v of each particle by {steps} sub-steps of "
        f"s = {m.step} / {steps}: in each, {text}"
    )
