"""Orientations that turn: one step by an angular velocity, with torques and damping."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    PROPERTY,
    SETTING,
    Rig,
    inlined,
    is_unset,
    mask,
    maybe_named,
    rig,
    told,
    unit,
    unless,
)
from generators.vector.rigid.record import Record, Slot
from generators.vector.rigid.reports import reported

Turned = Callable[[BodyBuilder, Expr, Expr, Expr], Expr]


def turned(r: Rig, form: str, frame: str) -> tuple[Turned, str]:
    """How an orientation q turns with angular velocity w in a step dt; and the formula."""
    body = frame == "body"

    def product(q: Expr, step: Expr) -> Expr:
        return q * step if body else step * q

    def derivative(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        spin = b.let(("spin", "omega_q", "wq"), r.with_real(w, 0.0))
        if r.k.draw.shape.chance(0.5):
            rate = b.let(("q_dot", "dq", "rate"), 0.5 * product(q, spin))
            return unit(q + dt * rate)
        return unit(q + product(q, spin) * (0.5 * dt))

    def small_angle(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        half = b.let(("half", "h", "half_turn"), 0.5 * dt * w)
        step = maybe_named(b, ("dq", "delta", "step_rot"), unit(r.with_real(half, 1.0)))
        return unit(product(q, step))

    def axis_angle(b: BodyBuilder, q: Expr, w: Expr, dt: Expr) -> Expr:
        speed = b.let(("speed", "w_norm", "rate"), fn("length", w))
        step = fn("quat_from_axis_angle", w / speed, speed * dt)
        return unit(product(q, maybe_named(b, ("dq", "delta", "turn"), step)))

    wq = "q * (wx, wy, wz, 0)" if body else "(wx, wy, wz, 0) * q"
    order = "q * d" if body else "d * q"
    ways: dict[str, tuple[Turned, str]] = {
        "derivative": (derivative, f"q becomes normalize(q + dt / 2 * {wq})"),
        "small_angle": (
            small_angle,
            f"q becomes normalize({order}) with d = normalize(dt / 2 * w, 1)",
        ),
        "axis_angle": (
            axis_angle,
            f"q becomes normalize({order}), d being the rotation about w by the angle |w| * dt",
        ),
    }
    return ways[form]


def damped(r: Rig, w: Var, dt: Expr) -> str:
    k = r.k
    rate = r.given(("drags", "dampings"), ("damping", "drag"), r.scalar, 0.1, 0.9, forms=PROPERTY)
    form = k.draw.shape.choice(("linear", "exp", "implicit"))
    if form == "linear":
        k.augment(w, "mul", 1.0 - rate * dt)
        return f"w is multiplied by 1 - {told(rate)} * dt"
    if form == "exp":
        k.augment(w, "mul", fn("exp", -rate * dt))
        return f"w is multiplied by exp(-{told(rate)} * dt)"
    k.assign(w, w / (1.0 + rate * dt))
    return f"w is divided by 1 + {told(rate)} * dt"


def capped(r: Rig, w: Var, dt: Expr) -> str:
    k = r.k
    limit = r.given(("limits", "max_rates"), ("max_rate", "w_max"), r.scalar, 1.4, 2.2,
                    forms=SETTING)  # fmt: skip
    size = k.let(("size", "w_len", "magnitude"), fn("length", w))
    if k.draw.shape.chance(0.5):
        with k.if_(size > limit):
            k.augment(w, "mul", limit / size)
    else:
        k.augment(w, "mul", fn("min", 1.0, limit / size))
    return f"w is shortened to length {told(limit)} where it is longer"


def torqued(r: Rig, w: Var, dt: Expr) -> str:
    """Euler's equations in principal axes: a torque, and the gyroscopic term or not."""
    k = r.k
    torque = r.given(("torques", "moments"), ("torque", "moment"), r.vec, -1.0, 1.0)
    inertia = r.given(("inertias", "inertia_diag"), ("inertia", "moments_of_inertia"), r.vec,
                      0.5, 2.0, forms={"each": 2, "last": 1, "shared": 3})  # fmt: skip
    text = f"w gains dt * ({told(torque)} / I), divided by components"
    push: Expr = torque
    if k.draw.shape.chance(0.6):
        momentum = maybe_named(k, ("ang_mom", "momentum", "h"), fn("cw_mul", inertia, w), 0.7)
        push = torque - fn("cross", w, momentum)
        text = f"w gains dt * ({told(torque)} - cross(w, I * w)) / I, by components"
    push = maybe_named(k, ("net", "total_torque", "push"), push)
    k.augment(w, "add", dt * fn("cw_div", push, inertia))
    return f"{text}, with the principal moments I in {told(inertia)}"


def drifting(r: Rig, w: Var, dt: Expr) -> str:
    bias = r.given(("biases", "gyro_bias"), ("bias", "drift"), r.vec, -0.3, 0.3)
    r.k.augment(w, "sub", bias)
    return f"{told(bias)} is subtracted from w"


_STAGES = {"damped": damped, "capped": capped, "torqued": torqued, "drifting": drifting}
_STAGE_COUNT = {1: (0, 0), 2: (1, 1), 3: (1, 2), 4: (2, 3), 5: (3, 4)}
_STRUCT_CHANCE = {1: 0.25, 2: 0.3, 3: 0.35, 4: 0.45, 5: 0.6}


def _state(r: Rig, level: int, changed: tuple[str, ...]) -> Record:
    shape = r.k.draw.shape
    slots = {
        "orientation": Slot(("q", "rot", "orientation"), ("orientations", "rotations", "attitudes"),
                            r.quat, init="unit"),
        "angular velocity": Slot(("w", "omega", "ang_vel"), ("rates", "omegas", "spins"), r.vec,
                                 -2.0, 2.0, forms={"each": 4, "last": 1, "first": 1}),
    }  # fmt: skip
    return Record(
        r, slots, as_struct=shape.chance(_STRUCT_CHANCE[level]),
        struct=("Body", "Spinner", "RigidState"), arrays=("bodies", "states", "spinners"),
        local=("body", "state", "spinner"), changed=changed, in_place=shape.chance(0.2),
    )  # fmt: skip


def _time_step(r: Rig, level: int) -> tuple[Expr, int, str]:
    """The step's length, into how many short ones it is divided, and a sentence on that."""
    k = r.k
    given = r.given(("steps",), ("dt", "time_step", "h"), r.scalar, 0.02, 0.1, forms=SETTING)
    count = k.draw.value.integer(2, 4) if level >= 4 and k.draw.shape.chance(0.5) else 0
    if count:
        short = k.let(("sub_dt", "short_dt", "h_sub"), given / float(count))
        return short, count, f" This is done {count} times, with dt = {told(given)} / {count}."
    if isinstance(given, Var):
        return given, 0, f" The step dt is {given.name}." if given.name != "dt" else ""
    return k.let(("dt", "h", "step"), given), 0, f" The step dt is {told(given)}."


@idiom
def orientation_step(k: KernelBuilder, level: int) -> Title:
    """Turn orientations by angular velocities for one step, or several short ones."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "body"), ("env", "row", "world"))
    names = shape.sample(sorted(_STAGES), shape.integer(*_STAGE_COUNT[level]))
    with_rate = "torqued" in names and shape.chance(0.7)
    changed = ("orientation", "angular velocity") if with_rate else ("orientation",)
    state = _state(r, level, changed)
    q = state.local_of("orientation", "q", "rot", "quat")
    w = state["angular velocity"]
    if names or shape.chance(0.6):
        w = k.let(("w", "omega", "spin_rate"), w)
    dt, count, after = _time_step(r, level)
    frame = "body" if "torqued" in names else shape.choice(("world", "body"))
    turn, text = turned(r, shape.choice(("derivative", "small_angle", "axis_angle")), frame)
    told_stages: list[str] = []

    def advance() -> None:
        if isinstance(w, Var):
            told_stages.extend(_STAGES[name](r, w, dt) for name in names)
        args = [("q", q), ("w", w), ("dt", dt)]
        doc = "Orientation after a step at this angular velocity."
        new = inlined(k, 0.15 if level < 3 else 0.5, _TURN_NAMES, args, turn, doc)
        k.assign(q, new)

    if count:
        with k.for_(("sub", "step", "s"), count):
            advance()
    else:
        advance()
    done = f"For each body with orientation q in {state.told('orientation')} and angular velocity "
    done += f"w in {state.told('angular velocity')} ({frame} frame): "
    done += "; then ".join([*told_stages, text]) + "." + after
    done += _kept(r, state, q) if level >= 2 and shape.chance(0.3) else ""
    new = {"orientation": q, **({"angular velocity": w} if with_rate else {})}
    done += state.write(new, _OUTS, ("next_states", "bodies_out", "advanced"))
    if level >= 4:
        done += reported(r, q, level - 4, level - 2)
    title = k.name("integrate_rotation", "step_orientations", "spin_bodies", "advance_attitude")
    return Title(title, done)


_TURN_NAMES = ("turned", "advance_rotation", "integrate_quat")
_OUTS = {
    "orientation": ("new_orientations", "rotations_out", "q_next"),
    "angular velocity": ("new_rates", "omegas_out", "w_next"),
}


def _kept(r: Rig, state: Record, q: Var) -> str:
    awake = mask(r, ("awake", "active", "is_dynamic"), ("awake",))
    if r.k.draw.shape.chance(0.5):
        r.k.assign(q, fn("where", awake, q, state["orientation"]))
    else:
        with r.k.if_(unless(awake)):
            r.k.assign(q, state["orientation"])
    return f" Where {is_unset(awake)} q stays as it was."
