"""Particles: one step of their motion, from separate arrays or an array of structs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators._vector_parts import constant, extra_output, float_vec, helper, listed, thread
from generators.build import KernelBuilder, field, fn, make
from generators.dtypes import Vec
from generators.expr import Expr, Operand, Var
from generators.ir import FieldInit
from generators.registry import Title

_STEP_NAMES = ("integrate_particles", "euler_step", "advance_particles", "move_particles")


@dataclass(frozen=True)
class Motion:
    """A particle on its way through one step: its locals, and the step's length with its name."""

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
        return f"is multiplied by 1 - {shown(rate)} * {m.step}"
    k.augment(m.velocity, "mul", fn("exp", -rate * m.dt))
    return f"is multiplied by exp(-{shown(rate)} * {m.step})"


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
    return f"gains {m.step} * {shown(stiffness)} * ({anchor.name} - position)"


def swirl(k: KernelBuilder, m: Motion) -> str:
    v = m.velocity
    if m.vec.size == 3:
        field = k.scalar(("b_field", "omega", "axis"), m.vec, -1.0, 1.0)
        k.augment(v, "add", fn("cross", v, field) * m.dt)
        return f"gains {m.step} * cross(velocity, {field.name})"
    spin = k.scalar(("spin", "omega", "vorticity"), m.vec.scalar, 0.4, 1.5)
    k.augment(v, "add", spin * m.dt * make(m.vec, -v[1], v[0]))
    return f"gains {spin.name} * {m.step} times its perpendicular (-vy, vx)"


def floor_bounce(k: KernelBuilder, m: Motion) -> str:
    x, v, up = m.position, m.velocity, 1
    bounce = _tuned(k, m, ("restitution", "bounce", "elasticity"), 0.3, 0.9)
    mirrored = k.draw.shape.chance(0.5)
    with k.if_(x[up] < 0.0):
        k.set(x, up, -x[up] if mirrored else 0.0)
        k.set(v, up, -bounce * v[up])
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
    text = f"the velocity gains {m.step} times the acceleration"
    if speed_text:
        text += f", then {listed(speed_text)}"
    text += f"; then the position gains {m.step} times the velocity"
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
        text = advance(k, level, Motion(m.position, m.velocity, short, "s"), acceleration)
    return f"Advance each particle by {steps} sub-steps of s = {m.step} / {steps}: in each, {text}"


def particle_step(k: KernelBuilder, level: int) -> Title:
    """Semi-implicit Euler for positions and velocities, with drag, springs, limits and walls."""
    vec = float_vec(k, {3: 3, 2: 2})
    n = k.size("n", 48, 72)
    xs = k.array(("positions", "pos", "points"), vec, n, low=-2.0, high=2.0)
    vs = k.array(("velocities", "vel", "speeds"), vec, n, low=-2.0, high=2.0)
    source = k.draw.shape.choice(("gravity", "force", "force over mass"))
    if source == "gravity":
        push = k.scalar(("gravity", "g", "wind"), vec, -3.0, 3.0)
    else:
        push = k.array(("forces", "loads"), vec, n, low=-3.0, high=3.0)
    masses = push
    if source == "force over mass":
        masses = k.array(("masses", "mass"), vec.scalar, n, low=0.5, high=2.0)
    dt = k.scalar(("dt", "time_step", "h"), vec.scalar, 0.05, 0.2)
    x_out = k.out(("new_positions", "pos_out", "x_next"), vec, n)
    v_out = k.out(("new_velocities", "vel_out", "v_next"), vec, n)
    i = thread(k, n, "i", "tid", "p")
    x, v = k.let(("x", "xi", "here"), xs[i]), k.let(("v", "vi", "velocity"), vs[i])
    acceleration: Expr = push if source == "gravity" else push[i]
    if source == "force over mass":
        acceleration = acceleration / masses[i]
    done = sub_stepped(k, level, Motion(x, v, dt, dt.name), acceleration)
    done += f". The acceleration is {push.name}{f' / {masses.name}' if masses is not push else ''}."
    k.store(x_out, i, x)
    k.store(v_out, i, v)
    if level >= 3 and k.draw.shape.chance(0.7):
        names = ("energies", "kinetic", "energy_out")
        energy = 0.5 * fn("dot", v, v)
        done += extra_output(k, level - 1, names, (n, i), energy, "half the new squared speed")
    return Title(k.name(*_STEP_NAMES), done)


def particle_structs(k: KernelBuilder, level: int) -> Title:
    """The same for an array of structs, which the kernel reads and writes whole."""
    vec = float_vec(k, {3: 3, 2: 1})
    n = k.size("n", 48, 72)
    names = k.draw.word.choice((("position", "velocity", "mass"), ("pos", "vel", "mass")))
    fields = (
        FieldInit(names[0], vec, "uniform", "-2.0", "2.0"),
        FieldInit(names[1], vec, "uniform", "-2.0", "2.0"),
        FieldInit(names[2], vec.scalar, "uniform", "0.5", "2.0"),
    )
    struct = k.struct(k.name("Particle", "Body", "Droplet"), *((f.name, f.type) for f in fields))
    bodies = k.array(("particles", "bodies", "state"), struct, n, fields=fields)
    forces = k.array(("forces", "loads", "pushes"), vec, n, low=-3.0, high=3.0)
    dt = k.scalar(("dt", "time_step", "h"), vec.scalar, 0.05, 0.2)
    moved = k.array(("moved", "next_state", "advanced"), struct, n, role="out", fields=fields)
    i = thread(k, n, "i", "tid", "p")
    body = k.let(("body", "particle", "item"), bodies[i])
    x = k.let(("x", "here", "place"), field(body, names[0]))
    v = k.let(("v", "vi", "u"), field(body, names[1]))
    acceleration: Expr = forces[i] / field(body, "mass")
    if level >= 3 and k.draw.shape.chance(0.5):
        push = helper(
            k,
            ("acceleration_of", "response_to"),
            (("particle", struct), ("force", vec)),
            lambda _, particle, force: force / field(particle, "mass"),
        )
        acceleration = k.call(push, body, forces[i])
    done = sub_stepped(k, level, Motion(x, v, dt, dt.name), acceleration)
    done += ". The acceleration is force over mass; masses are copied."
    if k.draw.shape.chance(0.5):
        k.store(moved, i, make(struct, x, v, field(body, "mass")))
    else:
        k.set_field(body, names[0], x)
        k.set_field(body, names[1], v)
        k.store(moved, i, body)
    if level >= 4:
        momentum = field(body, "mass") * fn("length", v)
        outs = ("momenta", "momentum_out", "momentum_norms")
        done += extra_output(k, level - 2, outs, (n, i), momentum, "mass times the new speed")
    return Title(k.name(*_STEP_NAMES, "step_bodies"), done)
