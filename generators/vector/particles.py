"""Particles: one step of their motion, from separate arrays or an array of structs."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import constant, float_vec, helper
from generators.program.dtypes import Struct, Vec
from generators.program.expr import Expr, Var
from generators.program.ir import FieldInit
from generators.vector.kit import Site, over_points, said
from generators.vector.motion import Motion, sub_stepped

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
        push = k.scalar(("gravity", "g", "wind"), vec, -3.0, 3.0)
        return (push,), push.name
    if form == "charge":
        e_field = k.scalar(("e_field", "field"), vec, -3.0, 3.0)
        charges = k.array(("charges", "q"), vec.scalar, n, low=-1.0, high=1.0)
        return (charges, e_field), f"{charges.name} * {e_field.name}"
    push = k.array(("forces", "loads"), vec, n, low=-3.0, high=3.0)
    if form == "force":
        return (push,), push.name
    if form == "over mass":
        masses = k.array(("masses", "mass"), vec.scalar, n, low=0.5, high=2.0)
        return (push, masses), f"{push.name} / {masses.name}"
    inverse = k.array(("inv_mass", "inv_masses"), vec.scalar, n, low=0.5, high=2.0)
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
    site = over_points(k, level)
    n, i = site.dims, site.at
    xs = k.array(("positions", "pos", "points"), vec, n, low=-2.0, high=2.0)
    vs = k.array(("velocities", "vel", "speeds"), vec, n, low=-2.0, high=2.0)
    source, text = _source(k, vec, n)
    step = _time_step(k, vec)
    dt: Expr = k.lift(step, vec.scalar) if step else k.scalar(_DT, vec.scalar, 0.05, 0.2)
    x_out = k.out(("new_positions", "pos_out", "x_next"), vec, n)
    v_out = k.out(("new_velocities", "vel_out", "v_next"), vec, n)
    if step:
        dt = k.let(_DT, dt)
    x, v = k.let(("x", "xi", "here"), xs[i]), k.let(("v", "vi", "velocity"), vs[i])
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
    struct = k.struct(k.name("Particle", "Body", "Droplet"), *((f.name, f.type) for f in fields))
    return struct, fields


@idiom
def particle_structs(k: KernelBuilder, level: int) -> Title:
    """The same for an array of structs, which the kernel reads and writes whole."""
    vec = float_vec(k, {3: 3, 2: 2})
    site = over_points(k, level)
    n, i = site.dims, site.at
    third = k.draw.shape.choice(sorted(_THIRD))
    struct, fields = _particle(k, vec, third)
    bodies = k.array(("particles", "bodies", "state"), struct, n, fields=fields)
    shared = k.draw.shape.chance(0.3)
    names = _PUSH_NAMES[third == "charge", shared]
    forces = (
        k.scalar(names, vec, -3.0, 3.0) if shared else k.array(names, vec, n, low=-3.0, high=3.0)
    )
    step = _time_step(k, vec)
    dt: Expr = k.lift(step, vec.scalar) if step else k.scalar(_DT, vec.scalar, 0.05, 0.2)
    moved = k.array(("moved", "next_state", "advanced"), struct, n, role="out", fields=fields)
    if step:
        dt = k.let(_DT, dt)
    body = k.let(("body", "particle", "item"), bodies[i])
    x = k.let(("x", "here", "place"), field(body, fields[0].name))
    v = k.let(("v", "vi", "u"), field(body, fields[1].name))
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
    return k.call(helper(k, ("acceleration_of", "response_to"), params, build), body, force)


def _balance(k: KernelBuilder, level: int, site: Site, x: Var, v: Var, third: Expr | None) -> str:
    """What a simulation records beside the state, of the new position and velocity."""
    assert isinstance(v.type, Vec)
    forms = ["kinetic", "distance", "flux"] + (["angular"] if v.type.size == 3 else [])
    forms += ["momentum"] if third is not None else []
    done = ""
    for form in k.draw.shape.sample(forms, 2 if level >= 5 else 1):
        if form == "kinetic":
            value: Expr = 0.5 * fn("dot", v, v)
            text = "half the squared new speed"
            if third is not None:
                value, text = third * value, f"{said(k, third)} times {text}"
        elif form == "momentum" and third is not None:
            value, text = third * v, f"{said(k, third)} times the new velocity"
        elif form == "angular":
            value, text = fn("cross", x, v), "the cross product of new position and velocity"
        elif form == "distance":
            home = k.scalar(("home", "reference", "sensor"), v.type, -1.0, 1.0)
            value, text = fn("length_sq", x - home), f"the squared new distance from {home.name}"
        else:
            axis = k.scalar(("axis_dir", "probe_dir", "outward"), v.type, init="unit")
            value, text = fn("dot", v, axis), f"the new velocity along {axis.name}"
        out = k.out((f"{form}_out", f"{form}_log"), value.type, site.dims)
        k.store(out, site.at, value)
        done += f" {out.name} gets {text}."
    return done
