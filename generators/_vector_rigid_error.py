"""Attitudes compared and held: the rotation between two, its angle, and control torques."""

from __future__ import annotations

from generators._vector_rigid_parts import (
    MOSTLY_ARRAY,
    PROPERTY,
    SETTING,
    Record,
    Rig,
    Slot,
    inlined,
    mask,
    maybe_named,
    rig,
    told,
)
from generators._vector_rigid_reports import reported
from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.expr import Expr, Var, op
from generators.registry import Title

_SHARED_TARGET = {"each": 3, "first": 2, "last": 2, "shared": 3}


def _relative(r: Rig, q: Expr, goal: Expr, frame: str) -> Expr:
    """The rotation from q to the goal, seen from the body or from the world."""
    if frame == "body":
        return fn("quat_inverse", q) * goal
    return goal * fn("quat_inverse", q)


_RELATIVE_TEXT = {"body": "inverse(q) * target", "world": "target * inverse(q)"}


def _shorter(r: Rig, error: Var) -> str:
    """Of the two quaternions of one rotation, the one with the smaller angle."""
    k, form = r.k, r.k.draw.shape.choice(("if", "where", "sign"))
    if form == "if":
        with k.if_(error[3] < 0.0):
            k.assign(error, -error)
    elif form == "where":
        k.assign(error, fn("where", error[3] < 0.0, -error, error))
    else:
        k.assign(error, fn("sign", error[3]) * error)
    return ", negated where its w is negative"


def _angle(r: Rig, error: Var, short: bool) -> tuple[Expr, str]:
    """How far apart the two are: the angle, its cosine or a chord."""
    k = r.k
    form = k.draw.shape.choice(("acos", "atan2", "chord", "cosine", "short_chord"))
    real, real_text = (error[3], "ew") if short else (fn("abs", error[3]), "|ew|")
    if form == "acos":
        c = maybe_named(k, ("cos_half", "c"), real)
        return 2.0 * fn("acos", c), f"2 * acos({real_text})"
    if form == "cosine":
        return 2.0 * error[3] * error[3] - 1.0, "2 * ew^2 - 1 (its cosine)"
    if form == "short_chord":
        return 1.0 - real, f"1 - {real_text}"
    v = k.let(("v", "imag", "ev"), r.imaginary(error))
    if form == "atan2":
        return 2.0 * fn("atan2", fn("length", v), real), f"2 * atan2(|ev|, {real_text})"
    return 4.0 * fn("dot", v, v), "4 * |ev|^2"


def _vector(r: Rig, error: Var, short: bool) -> tuple[Expr, str]:
    """The rotation as a vector: its axis times the angle, or something near it."""
    k = r.k
    form = k.draw.shape.choice(("log", "small") if short else ("log", "small", "signed"))
    v = k.let(("axis_part", "xyz", "im"), r.imaginary(error))
    if form == "small":
        return 2.0 * v, "2 * ev"
    if form == "signed":
        return fn("sign", error[3]) * v, "sign(ew) * ev (1 for the sign of 0)"
    size = k.let(("size", "sin_half", "s"), fn("length", v))
    angle = k.let(("full_angle", "rot_angle"), 2.0 * fn("atan2", size, error[3]))
    return (angle / size) * v, "2 * atan2(|ev|, ew) / |ev| * ev"


def attitude_error(k: KernelBuilder, level: int) -> Title:
    """The rotation between two orientations: its quaternion, angle or rotation vector."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "frame"), ("run", "track", "row"))
    pair = Record(
        r,
        {
            "estimate": Slot(("estimate", "current", "q"), ("estimates", "current", "attitudes"),
                             r.quat, init="unit"),
            "target": Slot(("target", "reference", "desired"), ("targets", "references", "goals"),
                           r.quat, init="unit", forms=_SHARED_TARGET),
        },
        as_struct=shape.chance(0.2 if level < 4 else 0.45), struct=("AttitudePair", "Tracking"),
        arrays=("pairs", "records"), local=("pair", "record"),
    )  # fmt: skip
    frame = shape.choice(("body", "world"))
    args = [("q", pair["estimate"]), ("goal", pair["target"])]
    if shape.chance(0.5):
        args = [(n, k.let(n, v)) for n, v in args]

    def relative(b: BodyBuilder, q: Expr, goal: Expr) -> Expr:
        return _relative(r, q, goal, frame)

    names = ("relative_rotation", "rotation_between", "attitude_delta")
    doc = "Rotation that takes the first orientation to the second."
    error = k.let(("err", "q_err", "delta"), inlined(k, 0.4 * (level > 2), names, args, relative,
                                                     doc))  # fmt: skip
    done = f"With q in {pair.told('estimate')} and target in {pair.told('target')}, the error e = "
    done += f"(ev, ew) is {_RELATIVE_TEXT[frame]}"
    short = level >= 3 or (level == 2 and shape.chance(0.4))
    if short:
        done += _shorter(r, error)
    done += "."
    forms = shape.sample(("angle", "vector", "quaternion"), {1: 1, 2: 1, 3: 2}.get(level, 3))
    for form in forms:
        done += _stored(r, form, error, level, short)
    if level >= 5:
        done += reported(r, error, 1, 2, "e")
    names = ("attitude_error", "orientation_error", "relative_rotations", "compare_attitudes")
    return Title(k.name(*names), done)


def _stored(r: Rig, form: str, error: Var, level: int, short: bool) -> str:
    if form == "quaternion":
        return f" {r.store(('errors', 'relative', 'deltas'), error).name} gets e."
    if form == "vector":
        value, text = _vector(r, error, short)
        if level >= 2 and r.k.draw.shape.chance(0.5):
            gain = r.given(("gains",), ("gain", "rate"), r.scalar, 0.5, 2.0)
            value, text = gain * value, f"{told(gain)} * {text}"
        out = r.store(("rotation_vectors", "error_vectors", "corrections"), value)
        return f" {out.name} gets {text}."
    value, text = _angle(r, error, short)
    if "atan2" in text and r.k.draw.shape.chance(0.4):
        value, text = fn("degrees", value), f"{text} in degrees"
    angle = r.k.let(("angle", "theta", "misalignment"), value)
    done = ""
    if level >= 2:
        done = _scored(r, angle)
    out = r.store(("error_angles", "angles", "misalignments"), angle)
    return f" {out.name} gets the angle {text}{done}."


def _scored(r: Rig, angle: Var) -> str:
    """The angle with a dead band, a weight or a mask."""
    k, form = r.k, r.k.draw.shape.choice(("weight", "deadband", "masked", "plain"))
    if form == "weight":
        weight = r.given(("weights", "confidences"), ("weight",), r.scalar, 0.2, 1.5)
        k.augment(angle, "mul", weight)
        return f", multiplied by {told(weight)}"
    if form == "deadband":
        band = r.given(("bands",), ("deadband", "tolerance"), r.scalar, 0.3, 1.2)
        k.assign(angle, fn("max", angle - band, 0.0))
        return f", less {told(band)} but at least 0"
    if form == "masked":
        valid = mask(r, ("valid", "visible", "tracked"), ("valid",))
        with k.if_(fn("not", valid)):
            k.assign(angle, 0.0)
        return f", 0 where {told(valid)} is false"
    return ""


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
                     init="unit", forms=_SHARED_TARGET)  # fmt: skip
    w = craft.local_of("rate", "w", "omega", "rate")
    error = k.let(("err", "q_err", "qe"), _relative(r, craft["attitude"], target, "body"))
    done = f"With attitude q in {craft.told('attitude')} and body rate w in {craft.told('rate')}, "
    done += f"e = inverse(q) * {told(target)}"
    if level >= 3:
        done += _shorter(r, error)
    value, text = _vector(r, error, level >= 3)
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
    with k.if_(op("or", fn("not", armed), fn("length", w) < still)):
        k.augment(torque, "mul", 0.5)
    return f", halved where {told(armed)} is false or |w| < {told(still)}"


_TORQUES = {
    "gyroscopic": _gyroscopic,
    "saturated": _saturated,
    "fed_forward": _fed_forward,
    "armed": _armed,
}
