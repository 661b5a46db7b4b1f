"""Particles: one step of their motion, from separate arrays or an array of structs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, least, most
from generators.kit.naming import helper
from generators.kit.pieces import float_vec
from generators.kit.sites import Site, launch
from generators.kit.sources import constant
from generators.kit.words import listed, say
from generators.program.dtypes import Struct, Vec
from generators.program.expr import Expr, Operand, Var
from generators.program.ir import FieldInit


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
    rate = _tuned(k, m, "drag damping friction", 0.2, 0.9)
    if k.draw.shape.chance(0.5):
        k.augment(m.velocity, "mul", 1.0 - rate * m.dt)
        return f"is multiplied by 1 - {shown(rate)} * {m.step}"
    k.augment(m.velocity, "mul", exp(-rate * m.dt))
    return f"is multiplied by exp(-{shown(rate)} * {m.step})"


def speed_limit(k: KernelBuilder, m: Motion) -> str:
    limit = _tuned(k, m, "max_speed speed_limit v_max", 1.0, 1.6)
    speed = k.let("speed v_norm", fn("length", m.velocity))
    with k.if_(speed > limit):
        k.augment(m.velocity, "mul", limit / speed)
    return f"is shortened to length {shown(limit)} where it is longer"


def anchor_pull(k: KernelBuilder, m: Motion) -> str:
    stiffness = _tuned(k, m, "stiffness spring pull", 0.5, 2.0)
    anchor = k.scalar("anchor target origin center", m.vec, -1.0, 1.0)
    pull = stiffness * (anchor - m.position)
    k.augment(m.velocity, "add", pull * m.dt)
    return f"gains {m.step} * {shown(stiffness)} * ({anchor.name} - x)"


def swirl(k: KernelBuilder, m: Motion) -> str:
    v = m.velocity
    if m.vec.size == 3:
        field = k.scalar("b_field omega axis", m.vec, -1.0, 1.0)
        k.augment(v, "add", fn("cross", v, field) * m.dt)
        return f"gains {m.step} * cross(v, {field.name})"
    spin = k.scalar("spin omega vorticity", m.vec.scalar, 0.4, 1.5)
    k.augment(v, "add", spin * m.dt * make(m.vec, -v[1], v[0]))
    return f"gains {spin.name} * {m.step} times its perpendicular (-vy, vx)"


def floor_bounce(k: KernelBuilder, m: Motion) -> str:
    x, v = m.position, m.velocity
    bounce = _tuned(k, m, "restitution bounce elasticity", 0.3, 0.9)
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
    half = _tuned(k, m, "half_width box extent", 1.0, 1.5)
    x, v = m.position, m.velocity
    parts = []
    for c in range(m.vec.size):
        outside = abs(x[c]) > half
        parts.append(fn("where", outside, -v[c], v[c]))
    k.assign(v, make(m.vec, *parts))
    corner = k.let("corner wall", make(m.vec, k.lift(half, m.vec)))
    k.assign(x, least(most(x, -corner), corner))
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
        acceleration = k.let("accel acc", acceleration)
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
    short = k.let("sub_dt h_sub dt_small", m.dt / float(steps))
    with k.for_("sub step s", steps):
        text = advance(k, level, Motion(m.position, m.velocity, short, "s"), acceleration)
    return (
        f"Advance position x and velocity v of each particle by {steps} sub-steps of "
        f"s = {m.step} / {steps}: in each, {text}"
    )


_STEP_NAMES = ("integrate_particles", "euler_step", "advance_particles", "move_particles")
_DT = ("dt", "time_step", "h")


def _time_step(k: KernelBuilder, vec: Vec) -> float:
    """The step's length as a literal, or zero for a parameter."""
    return constant(k, 0.02, 0.2) if k.draw.shape.chance(0.5) else 0.0


def _dt_text(dt: Expr, literal: float) -> str:
    assert isinstance(dt, Var)
    return f", {dt.name} = {literal}" if literal else ""


def _with_extra(k: KernelBuilder, a: Expr, text: str, x: Var, v: Var) -> tuple[Expr, str]:
    """An acceleration with one more term or a factor, whose constant is a literal."""
    assert isinstance(v.type, Vec)
    form = k.draw.shape.choice(("drag", "spring", "gain", "gravity", "quadratic"))
    if form == "drag":
        rate = constant(k, 0.1, 0.99)
        return a - rate * v, f"{text} - {rate} * v"
    if form == "spring":
        stiffness = constant(k, 0.2, 2.5)
        return a - stiffness * x, f"{text} - {stiffness} * x"
    if form == "quadratic":
        rate = constant(k, 0.05, 0.5)
        return a - rate * fn("length", v) * v, f"{text} - {rate} * |v| * v"
    if form == "gravity":
        parts = [0.0, -constant(k, 1.5, 9.9)] + [0.0] * (v.type.size - 2)
        down = make(v.type, *(k.lift(part, v.type.scalar) for part in parts))
        return a + down, f"{text} + ({', '.join(map(str, parts))})"
    gain = constant(k, 0.3, 1.9)
    return gain * a, f"{gain} * {text}"


def _source(k: KernelBuilder, vec: Vec, n: tuple[str, ...]) -> tuple[tuple[Var, ...], str]:
    """The arrays or the vector that the acceleration comes from; and its formula."""
    form = k.draw.shape.choice(("gravity", "force", "over mass", "inverse mass", "charge"))
    if form == "gravity":
        push = k.scalar("gravity g wind", vec, -3.0, 3.0)
        return (push,), push.name
    if form == "charge":
        e_field = k.scalar("e_field field", vec, -3.0, 3.0)
        charges = k.array("charges q", vec.scalar, n, low=-1.0, high=1.0)
        return (charges, e_field), f"{charges.name} * {e_field.name}"
    push = k.array("forces loads", vec, n, low=-3.0, high=3.0)
    if form == "force":
        return (push,), push.name
    if form == "over mass":
        masses = k.array("masses mass", vec.scalar, n, low=0.5, high=2.0)
        return (push, masses), f"{push.name} / {masses.name}"
    inverse = k.array("inv_mass inv_masses", vec.scalar, n, low=0.5, high=2.0)
    return (inverse, push), f"{inverse.name} * {push.name}"


def _acceleration(source: tuple[Var, ...], i: tuple[Var, ...]) -> Expr:
    values = [v if isinstance(v.type, Vec) else v[i] for v in source]
    if len(values) == 1:
        return values[0]
    a, b = values
    return a / b if isinstance(a.type, Vec) else a * b


@idiom
def particle_step(k: KernelBuilder, level: int) -> Title:
    """Euler's method for positions and velocities, with drag, springs, limits and walls."""
    vec = float_vec(k, {3: 3, 2: 2})
    site = launch(k, list=5, batch=3 + level // 3)
    n, i = site.dims, site.at
    xs = k.array("positions pos points", vec, n, low=-2.0, high=2.0)
    vs = k.array("velocities vel speeds", vec, n, low=-2.0, high=2.0)
    source, text = _source(k, vec, n)
    step = _time_step(k, vec)
    dt: Expr = k.lift(step, vec.scalar) if step else k.scalar(_DT, vec.scalar, 0.05, 0.2)
    x_out = k.out("new_positions pos_out x_next", vec, n)
    v_out = k.out("new_velocities vel_out v_next", vec, n)
    if step:
        dt = k.let(_DT, dt)
    x, v = k.let("x xi here", xs[i]), k.let("v vi velocity", vs[i])
    acceleration = _acceleration(source, i)
    if level < 3 or not step:
        acceleration, text = _with_extra(k, acceleration, text, x, v)
    assert isinstance(dt, Var)
    done = sub_stepped(k, level, Motion(x, v, dt, dt.name), acceleration)
    done += f". Here a = {text}{_dt_text(dt, step)}."
    k.store(x_out, i, x)
    k.store(v_out, i, v)
    if level >= 3 and k.draw.shape.chance(0.7):
        done += _balance(k, level, site, x, v, None)
    return Title(k.name(*_STEP_NAMES), done)


_THIRD = {
    "mass": ("/ mass", lambda f, c: f / c),
    "inv_mass": ("* inv_mass", lambda f, c: c * f),
    "charge": ("* charge", lambda f, c: c * f),
}


_PUSH_NAMES = {
    (False, False): ("forces", "loads", "pushes"),
    (False, True): ("force", "load", "push"),
    (True, False): ("fields", "e_fields"),
    (True, True): ("field", "e_field"),
}


def _particle(k: KernelBuilder, vec: Vec, third: str) -> tuple[Struct, tuple[FieldInit, ...]]:
    """The struct of a particle: place, velocity and what its acceleration depends on."""
    names = k.draw.word.choice((("position", "velocity"), ("pos", "vel")))
    low = "-1.0" if third == "charge" else "0.5"
    fields = (
        FieldInit(names[0], vec, "uniform", "-2.0", "2.0"),
        FieldInit(names[1], vec, "uniform", "-2.0", "2.0"),
        FieldInit(third, vec.scalar, "uniform", low, "2.0"),
    )
    struct = k.struct(k.name("Particle Body Droplet"), *((f.name, f.type) for f in fields))
    return struct, fields


@idiom
def particle_structs(k: KernelBuilder, level: int) -> Title:
    """The same for an array of structs, which the kernel reads and writes whole."""
    vec = float_vec(k, {3: 3, 2: 2})
    site = launch(k, list=5, batch=3 + level // 3)
    n, i = site.dims, site.at
    third = k.draw.shape.choice(sorted(_THIRD))
    struct, fields = _particle(k, vec, third)
    bodies = k.array("particles bodies state", struct, n, fields=fields)
    shared = k.draw.shape.chance(0.3)
    names = _PUSH_NAMES[third == "charge", shared]
    forces = (
        k.scalar(names, vec, -3.0, 3.0) if shared else k.array(names, vec, n, low=-3.0, high=3.0)
    )
    step = _time_step(k, vec)
    dt: Expr = k.lift(step, vec.scalar) if step else k.scalar(_DT, vec.scalar, 0.05, 0.2)
    moved = k.array("moved next_state advanced", struct, n, role="out", fields=fields)
    if step:
        dt = k.let(_DT, dt)
    body = k.let("body particle item", bodies[i])
    x = k.let("x here place", field(body, fields[0].name))
    v = k.let("v vi u", field(body, fields[1].name))
    acceleration = _pushed(k, level, body, forces if shared else forces[i], third)
    text = f"{forces.name} {_THIRD[third][0]}"
    if level < 3 or not step:
        acceleration, text = _with_extra(k, acceleration, text, x, v)
    assert isinstance(dt, Var)
    done = sub_stepped(k, level, Motion(x, v, dt, dt.name), acceleration)
    done += f". Here a = {text}{_dt_text(dt, step)}; {third} is copied."
    if k.draw.shape.chance(0.5):
        k.store(moved, i, make(struct, x, v, field(body, third)))
    else:
        k.set_field(body, fields[0].name, x)
        k.set_field(body, fields[1].name, v)
        k.store(moved, i, body)
    if level >= 4:
        done += _balance(k, level, site, x, v, field(body, third))
    return Title(k.name(*_STEP_NAMES, "step_bodies"), done)


def _pushed(k: KernelBuilder, level: int, body: Var, force: Expr, third: str) -> Expr:
    """The acceleration of a particle by a force, in a helper at some higher levels."""
    assert isinstance(body.type, Struct)
    apply = _THIRD[third][1]
    if level < 3 or k.draw.shape.chance(0.5):
        return apply(force, field(body, third))

    def build(_: BodyBuilder, particle: Expr, push: Expr) -> Expr:
        return apply(push, field(particle, third))

    params = (("particle", body.type), ("force", force.type))
    return k.call(helper(k, "acceleration_of response_to", params, build), body, force)


def _balance(k: KernelBuilder, level: int, site: Site, x: Var, v: Var, third: Expr | None) -> str:
    """What a simulation records beside the state, of the new position and velocity."""
    assert isinstance(v.type, Vec)
    forms = ["kinetic", "distance", "flux"] + (["angular"] if v.type.size == 3 else [])
    forms += ["momentum"] if third is not None else []
    done = ""
    for form in k.draw.shape.sample(forms, 2 if level >= 5 else 1):
        if form == "kinetic":
            value: Expr = 0.5 * dot(v, v)
            text = "half the squared new speed"
            if third is not None:
                value, text = third * value, f"{say(k, third)} times {text}"
        elif form == "momentum" and third is not None:
            value, text = third * v, f"{say(k, third)} times the new velocity"
        elif form == "angular":
            value, text = fn("cross", x, v), "the cross product of new position and velocity"
        elif form == "distance":
            home = k.scalar("home reference sensor", v.type, -1.0, 1.0)
            value, text = fn("length_sq", x - home), f"the squared new distance from {home.name}"
        else:
            axis = k.scalar("axis_dir probe_dir outward", v.type, init="unit")
            value, text = dot(v, axis), f"the new velocity along {axis.name}"
        out = site.out(f"{form}_out {form}_log", value.type)
        k.store(out, site.at, value)
        done += f" {out.name} gets {text}."
    return done
