"""Attitudes held: control torques from an attitude error and body rates."""

from __future__ import annotations

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.program.expr import Expr, Var, op
from generators.vector.rigid.error import (
    SHARED_TARGET,
    relative_rotation,
    rotation_vector,
    shorter,
)
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    PROPERTY,
    SETTING,
    Rig,
    is_unset,
    mask,
    maybe_named,
    rig,
    told,
    unless,
)
from generators.vector.rigid.record import Record, Slot
from generators.vector.rigid.reports import reported


@idiom
def attitude_control(k: KernelBuilder, level: int) -> Title:
    """Torques that turn a craft toward a target attitude: proportional, derivative, gyroscopic."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "craft"), ("fleet", "env", "row"))
    slots = {
        "attitude": Slot(("attitude", "q", "rot"), ("attitudes", "orientations"), r.quat,
                         init="unit"),
        "rate": Slot(("rate", "omega", "body_rate"), ("rates", "omegas", "body_rates"), r.vec,
                     -1.5, 1.5, forms={"each": 4, "last": 1}),
    }  # fmt: skip
    craft = Record(
        r, slots, as_struct=shape.chance(0.3 + 0.08 * level),
        struct=("Craft", "Satellite", "Vehicle", "Drone"), arrays=("crafts", "vehicles", "units"),
        local=("craft", "vehicle", "sat"),
    )  # fmt: skip
    target = r.given(("targets", "setpoints"), ("target", "setpoint", "desired"), r.quat,
                     init="unit", forms=SHARED_TARGET)  # fmt: skip
    w = craft.local_of("rate", "w", "omega", "rate")
    error = k.let(("err", "q_err", "qe"), relative_rotation(r, craft["attitude"], target, "body"))
    done = f"With attitude q in {craft.told('attitude')} and body rate w in {craft.told('rate')}, "
    done += f"e = inverse(q) * {told(target)}"
    if level >= 3:
        done += shorter(r, error)
    value, text = rotation_vector(r, error, level >= 3)
    lean = maybe_named(k, ("lean", "tilt", "attitude_err"), value)
    kp = r.given(("kps", "stiffness"), ("kp", "gain_p", "k_att"), r.scalar, 1.0, 4.0)
    wide = shape.chance(0.3)
    kd = r.given(("kds", "gains_d"), ("kd", "gain_d", "k_rate"), r.vec if wide else r.scalar, 0.2,
                 1.5, forms={"each": 2, "last": 1, "shared": 3} if wide else PROPERTY)  # fmt: skip
    aim: Expr = w
    if level >= 2 and shape.chance(0.5):
        wanted = r.given(("rate_targets", "w_refs"), ("rate_ref", "w_ref"), r.vec, -0.5, 0.5,
                         forms=MOSTLY_ARRAY)  # fmt: skip
        aim, rate_text = w - wanted, f"(w - {told(wanted)})"
    else:
        rate_text = "w"
    brake = fn("cw_mul", kd, aim) if wide else kd * aim
    torque = k.let(("torque", "tau", "command"), kp * lean - brake)
    done += f". The torque is {told(kp)} * {text} - {told(kd)} * {rate_text}"
    done += " (by components)" if wide else ""
    extras = {1: 0, 2: 1, 3: 1, 4: 2, 5: 3}[level]
    for name in shape.sample(sorted(_TORQUES), extras):
        done += _TORQUES[name](r, torque, w)
    done += f". {r.store(('torques', 'commands', 'control_out'), torque).name} gets the torque."
    if level >= 5 or (level == 4 and shape.chance(0.5)):
        done += reported(r, error, 1, 1, "e")
    names = ("attitude_control", "pd_attitude", "hold_attitude", "point_spacecraft")
    return Title(k.name(*names), done)


def _gyroscopic(r: Rig, torque: Var, w: Var) -> str:
    inertia = r.given(("inertias",), ("inertia", "inertia_diag"), r.vec, 0.5, 2.0,
                      forms={"each": 2, "last": 1, "shared": 3})  # fmt: skip
    momentum = maybe_named(r.k, ("h", "ang_mom"), fn("cw_mul", inertia, w))
    r.k.augment(torque, "add", fn("cross", w, momentum))
    return f", plus cross(w, {told(inertia)} * w by components)"


def _saturated(r: Rig, torque: Var, w: Var) -> str:
    k = r.k
    limit = r.given(("limits", "max_torques"), ("max_torque", "limit"), r.scalar, 1.0, 2.5,
                    forms={"each": 1, "shared": 3, "fixed": 2})  # fmt: skip
    if k.draw.shape.chance(0.5):
        size = k.let(("demand", "torque_norm"), fn("length", torque))
        with k.if_(size > limit):
            k.augment(torque, "mul", limit / size)
        return f", shortened to length {told(limit)} where it is longer"
    parts = [fn("clamp", torque[c], -limit, limit) for c in range(3)]
    k.assign(torque, make(r.vec, *parts))
    return f", each component clamped to +-{told(limit)}"


def _fed_forward(r: Rig, torque: Var, w: Var) -> str:
    extra = r.given(("feedforwards", "disturbances"), ("feedforward", "trim"), r.vec, -0.5, 0.5)
    r.k.augment(torque, "add", extra)
    return f", plus {told(extra)}"


def _armed(r: Rig, torque: Var, w: Var) -> str:
    armed = mask(r, ("armed", "enabled", "healthy"), ("armed",))
    still = r.given(("quiet_rates",), ("min_rate", "rate_floor"), r.scalar, 1.0, 1.5,
                    forms=SETTING)  # fmt: skip
    k = r.k
    with k.if_(op("or", unless(armed), fn("length", w) < still)):
        k.augment(torque, "mul", 0.5)
    return f", halved where {is_unset(armed)} or |w| < {told(still)}"


_TORQUES = {
    "gyroscopic": _gyroscopic,
    "saturated": _saturated,
    "fed_forward": _fed_forward,
    "armed": _armed,
}
