"""Hinges between two bodies: the joint angle, and what springs, dampers and limits do."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32, Vec
from generators.program.expr import Construct, Expr, Var
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    PROPERTY,
    STATE,
    Rig,
    inlined,
    is_unset,
    mask,
    maybe_named,
    minus,
    rig,
    told,
    unless,
)
from generators.vector.rigid.record import Record, Slot
from generators.vector.rigid.spatial import six

_SPINS = {"each": 4, "last": 1}


def _joint(r: Rig, level: int) -> Record:
    slots = {
        "parent": Slot(("parent_rot", "rot_a"), ("parent_rots", "rots_a"), r.quat, init="unit",
                       forms={"each": 2, "first": 2, "last": 1}),
        "child": Slot(("child_rot", "rot_b"), ("child_rots", "rots_b"), r.quat, init="unit"),
        "axis": Slot(("axis", "hinge"), ("axes", "hinges"), r.vec, init="unit",
                     forms={"each": 1, "last": 3, "shared": 2, "fixed": 1}),
    }  # fmt: skip
    return Record(
        r, slots, as_struct=r.k.draw.shape.chance(0.3 + 0.07 * level),
        struct=("Hinge", "Joint", "HingeJoint"), arrays=("hinge_joints", "joints"),
        local=("hinge_data", "item", "joint_data"),
    )  # fmt: skip


def _angle(r: Rig, level: int, axis: Expr, rel: Var) -> tuple[Expr, str]:
    """The angle of the twist about the axis."""
    shape = r.k.draw.shape
    text = "2 * atan2(dot(axis, ev), ew)"
    if r.scalar == FLOAT32 and shape.chance(0.75):
        if level > 2 or shape.chance(0.5):
            return fn("quat_twist_angle_signed", axis, rel), text
        return fn("quat_twist_angle", axis, rel), "2 * atan2(|dot(axis, ev)|, ew)"

    def build(b: BodyBuilder, axis: Expr, q: Expr) -> Expr:
        along = maybe_named(b, ("along", "proj"), fn("dot", axis, r.imaginary(q)))
        return 2.0 * fn("atan2", along, q[3])

    args = [("axis", axis), ("q", rel)]
    return inlined(r.k, 0.7 * (level >= 3), ("hinge_angle", "joint_angle"), args, build), text


@idiom
def joint_drive(k: KernelBuilder, level: int) -> Title:
    """Torques of driven hinges: toward an angle, against motion, at limits."""
    shape = k.draw.shape
    r = rig(k, ("j", "tid", "joint"), ("env", "robot", "row"),
            scalar=FLOAT32 if shape.chance(0.75) else None)  # fmt: skip
    joint = _joint(r, level)
    axis = joint["axis"]
    if isinstance(axis, Construct) or shape.chance(0.5):
        axis = k.let(("axis", "a", "hinge_axis"), axis)
    parent = joint["parent"]
    if level >= 2:
        parent = joint.local_of("parent", "qa", "q_parent", "base_rot")
    relative = fn("quat_inverse", parent) * joint["child"]
    rel = k.let(("rel", "q_rel", "e"), relative)
    value, text = _angle(r, level, axis, rel)
    angle = k.let(("angle", "theta", "joint_q"), value)
    done = f"With e = inverse({joint.told('parent')}) * {joint.told('child')} and axis in "
    done += f"{joint.told('axis')} the joint angle is q = {text}"
    target = r.given(("targets", "setpoints"), ("target", "setpoint"), r.scalar, -1.0, 1.0,
                     forms=MOSTLY_ARRAY)  # fmt: skip
    ke = r.given(("stiffness", "kes"), ("ke", "spring"), r.scalar, 0.5, 3.0, forms=PROPERTY)
    tau = k.let(("tau", "torque", "drive"), ke * (target - angle))
    done += f"; tau = {told(ke)} * ({told(target)} - q)"
    world: Expr | None = None
    if level >= 2:
        world = k.let(("world_axis", "axis_w", "dir"), fn("quat_rotate", parent, axis))
        done += _damped(r, world, tau)
    for name in shape.sample(sorted(_EXTRAS), {1: 0, 2: 0, 3: 1, 4: 2, 5: 3}[level]):
        done += _EXTRAS[name](r, angle, tau)
    done += "."
    if level == 1 and shape.chance(0.5):
        done += f" {r.store(('angles', 'joint_q_out'), angle).name} gets q."
    if world is None:
        done += f" {r.store(('torques', 'taus', 'drives'), tau).name} gets tau."
    else:
        done += _output(r, level, world, tau)
    if level >= 4:
        done += _straightened(r, level, axis, rel)
    names = ("joint_drive", "hinge_torques", "drive_joints", "actuate_hinges")
    return Title(k.name(*names), done)


def _damped(r: Rig, world: Expr, tau: Var) -> str:
    """Less a damping torque from the relative angular velocity along the axis."""
    k = r.k
    wb = r.given(("child_w", "omegas_b"), (), r.vec, -1.5, 1.5, forms=_SPINS)
    spin, text = wb, told(wb)
    if k.draw.shape.chance(0.6):
        wa = r.given(("parent_w", "omegas_a"), ("parent_spin",), r.vec, -1.5, 1.5)
        spin, text = wb - wa, f"{told(wb)} - {told(wa)}"
    rate = k.let(("rate", "qd", "joint_qd"), fn("dot", world, spin))
    kd = r.given(("dampings", "kds"), ("kd", "damping"), r.scalar, 0.1, 1.0)
    k.augment(tau, "sub", kd * rate)
    return f" - {told(kd)} * dot(w, {text}), w being the axis rotated by the first rotation"


def _limited(r: Rig, angle: Var, tau: Var) -> str:
    k = r.k
    low = r.given(("lowers",), ("lower", "min_angle"), r.scalar, -1.2, -0.4)
    high = r.given(("uppers",), ("upper", "max_angle"), r.scalar, 0.4, 1.0)
    stiff = r.given(("limit_kes",), ("limit_ke", "stop_ke"), r.scalar, 1.0, 4.0)
    if k.draw.shape.chance(0.5):
        with k.if_(angle < low):
            k.augment(tau, "add", stiff * (low - angle))
        with k.elif_(angle > high):
            k.augment(tau, "add", stiff * (high - angle))
    else:
        stop = k.let(("stop", "inside"), fn("min", fn("max", angle, low), high))
        k.augment(tau, "add", stiff * (stop - angle))
    return f", plus {told(stiff)} times the distance back to [{told(low)}, {told(high)}]"


def _saturated(r: Rig, angle: Var, tau: Var) -> str:
    limit = r.given(("max_torques", "efforts"), ("max_torque", "effort"), r.scalar, 2.5, 5.0,
                    forms=PROPERTY)  # fmt: skip
    r.k.assign(tau, fn("clamp", tau, minus(limit), limit))
    return f", clamped to +-{told(limit)}"


def _switched(r: Rig, angle: Var, tau: Var) -> str:
    flag = mask(r, ("enabled", "driven", "powered"), ("enabled",))
    idle = r.given(("frictions",), ("idle_gain", "friction"), r.scalar, 0.1, 0.5)
    with r.k.if_(unless(flag)):
        r.k.assign(tau, minus(idle) * angle)
    return f"; where {is_unset(flag)} tau is -{told(idle)} * q instead"


_EXTRAS = {"limited": _limited, "saturated": _saturated, "switched": _switched}


def _output(r: Rig, level: int, world: Expr, tau: Var) -> str:
    k, shape = r.k, r.k.draw.shape
    form = shape.choice(("scalar", "vector") if level < 4 else ("vector", "wrench", "wrench"))
    if level == 3 and shape.chance(0.5):
        form = "wrench"
    if form == "scalar":
        return f" {r.store(('torques', 'taus', 'drives'), tau).name} gets tau."
    turning = k.let(("turning", "torque_w", "moment"), tau * world)
    if form == "vector":
        out = r.store(("torques", "child_torques"), turning)
        done = f" {out.name} gets tau * w"
        if level >= 3:
            done += f", {r.store(('reactions', 'parent_torques'), -turning).name} its negative"
        return f"{done}."
    at = r.given(("anchors", "pivots"), ("anchor",), r.vec, -1.0, 1.0, forms=MOSTLY_ARRAY)
    com = r.given(("child_com", "centers"), ("com",), r.vec, -1.0, 1.0, forms=MOSTLY_ARRAY)
    pull = r.given(("pulls", "forces"), ("pull", "force"), r.vec, -2.0, 2.0, forms=STATE)
    arm = maybe_named(k, ("arm", "lever"), at - com)
    wrench = k.let(("wrench", "body_f", "load"), six(r, turning + fn("cross", arm, pull), pull))
    done = f" {r.store(('wrenches', 'child_f'), wrench).name} gets (t, f) of six components with f "
    done += f"= {told(pull)} and t = tau * w + cross({told(at)} - {told(com)}, f)."
    if level >= 5 or shape.chance(0.4):
        twist = k.array(("twists", "child_qd"), Vec(6, r.scalar), r.dims, low=-1.0, high=1.0)
        out = r.store(("powers", "work_rate"), fn("spatial_dot", wrench, twist[r.at]))
        done += f" {out.name} gets its dot product with {twist.name}."
    return done


def _straightened(r: Rig, level: int, axis: Expr, rel: Var) -> str:
    """A torque that turns the swing away, all but the twist about the axis."""
    k, shape = r.k, r.k.draw.shape
    if shape.chance(0.35):
        return ""
    gain = r.given(("align_gains",), ("align_ke", "straighten"), r.scalar, 0.5, 2.0)
    if r.scalar == FLOAT32:
        twist = k.let(("twist", "turn"), fn("quat_twist", axis, rel))
        swing = k.let(("swing", "tilt"), rel * fn("quat_inverse", twist))
        text = "swing = e * inverse(twist) with twist = normalize(dot(axis, ev) * axis, ew)"
    else:
        swing, text = rel, "swing = e"
    real = maybe_named(k, ("side", "sgn"), fn("sign", swing[3]))
    factor = 2.0 * gain if shape.chance(0.4) else gain
    shown = told(gain) if factor is gain else f"2 * {told(gain)}"
    push = minus(factor) * real * r.imaginary(swing)
    out = r.store(("align_torques", "straighteners"), push)
    return f" {out.name} gets -{shown} * sign(sw) * sv, {text} = (sv, sw)."
