"""Driven hinges: their angle, and what springs, dampers, limits and motors do."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import atan2, clamp, dot, least, most
from generators.kit.naming import applied, local, maybe
from generators.kit.records import Part, record
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32
from generators.program.expr import Construct, Expr, Var
from generators.vector.rigid.parts import TUNED, Rig, minus, rig, six


def _hinge_angle(r: Rig, level: int, axis: Expr, rel: Var) -> tuple[Expr, str]:
    """The angle of the twist about the axis, from -pi to pi: q and -q are the same rotation."""
    k, text = r.k, "2 * atan2(dot(axis, ev), ew), e being negated before where ew < 0"
    if k.draw.shape.chance(0.5):
        with k.if_(rel[3] < 0.0):
            k.assign(rel, -rel)
        if r.scalar == FLOAT32 and k.draw.shape.chance(0.75):
            return fn("quat_twist_angle_signed", axis, rel), text

        def build(b: BodyBuilder, axis: Expr, q: Expr) -> Expr:
            return 2.0 * atan2(maybe(b, "along proj", dot(axis, r.imaginary(q)), 0.6), q[3])
    else:
        text = "2 * atan2(s * dot(axis, ev), s * ew), s the sign of ew (1 for that of 0)"

        def build(b: BodyBuilder, axis: Expr, q: Expr) -> Expr:
            side = b.let("side sgn", fn("sign", q[3]))
            along = maybe(b, "along proj", dot(axis, r.imaginary(q)), 0.6)
            return 2.0 * atan2(side * along, side * q[3])

    args = {"axis": axis, "q": rel}
    return applied(k, 0.7 * (level >= 3), "hinge_angle joint_angle", args, build), text


@idiom(depth=3)
def joint_drive(k: KernelBuilder, level: int) -> Title:
    """Torques of driven hinges: toward an angle, against motion, at limits."""
    shape = k.draw.shape
    r = rig(k, "j tid joint", single=0.75)
    base, link = k.draw.word.choice((("parent", "child"), ("base", "link")))
    parts = {
        "parent": Part(f"{base}_rot", r.quat, init="unit"),
        "child": Part(f"{link}_rot", r.quat, init="unit"),
        "axis": Part("joint_axis hinge_axis", r.vec, init="unit", forms={"each": 3, "shared": 2}),
    }
    joint = record(r, "Hinge Joint HingeJoint", parts, 0.3 + 0.07 * level)
    axis, parent = joint["axis"], joint["parent"]
    if isinstance(axis, Construct) or shape.chance(0.5):
        axis = local(k, "axis a hinge_axis", axis)
    if level >= 2:
        parent = k.let("qa q_parent base_rot", parent)
    rel = k.let("rel q_rel e", fn("quat_inverse", parent) * joint["child"])
    value, text = _hinge_angle(r, level, axis, rel)
    angle = k.let("angle theta joint_q", value)
    done = "Drive hinges to their target angles by a spring"
    done += " and a damper" if level >= 2 else ""
    done += f". With e = (ev, ew) = inverse({joint.say('parent')}) * {joint.say('child')} and the "
    done += f"unit axis {joint.say('axis')} the joint angle is q = {text}"
    target = given(r, "target setpoint", r.scalar, -1.0, 1.0, forms={"each": 1})
    ke = given(r, "ke spring", r.scalar, 0.5, 3.0, many="ke springs", forms=TUNED)
    tau = k.let("tau torque drive", ke * (target - angle))
    done += f"; tau = {say(k, ke)} * ({say(k, target)} - q)"
    if level >= 2:
        world = k.let("world_axis axis_w dir", fn("quat_rotate", parent, axis))
        done += _damped(r, world, tau, (base, link), joint.say("parent"))
    for more in shape.sample((_limited, _saturated), min(max(0, level - 2), 2)):
        done += more(r, angle, tau)
    done += "."
    if level == 1:
        done += r.gets("angles joint_q_out", angle, "q") if shape.chance(0.5) else ""
        done += r.gets("torques taus drives", tau, "tau")
    else:
        done += _driven(r, level, world, tau)
    done += _straightened(r, axis, rel) if level >= 4 and shape.chance(0.3) else ""
    return Title(k.name("joint_drive hinge_torques drive_joints actuate_hinges"), done)


def _damped(r: Rig, world: Expr, tau: Var, ends: tuple[str, str], turned: str) -> str:
    """Less a damping torque from the relative angular velocity along the axis."""
    k = r.k
    noun = k.draw.word.choice(("spin", "omega"))
    spin = given(r, f"{ends[1]}_{noun}", r.vec, -1.5, 1.5, each=1)
    base = given(r, f"{ends[0]}_{noun}", r.vec, -1.5, 1.5, each=1)
    text = f"{say(k, spin)} - {say(k, base)}"
    rate = k.let("rate qd joint_qd", dot(world, spin - base))
    kd = given(r, "kd damping", r.scalar, 0.1, 1.0, forms=TUNED)
    k.augment(tau, "sub", kd * rate)
    return f" - {say(k, kd)} * dot(w, {text}), w being the axis turned by {turned}"


def _limited(r: Rig, angle: Var, tau: Var) -> str:
    k = r.k
    low = given(
        r,
        "lower min_angle",
        r.scalar,
        -1.2,
        -0.4,
        many="lower min_angles",
        forms=TUNED,
    )
    high = given(r, "upper max_angle", r.scalar, 0.4, 1.0, many="upper max_angles", forms=TUNED)
    stiff = given(r, "limit_ke stop_ke", r.scalar, 1.0, 4.0, many="limit_ke stop_ke", forms=TUNED)
    if k.draw.shape.chance(0.5):
        with k.if_(angle < low):
            k.augment(tau, "add", stiff * (low - angle))
        with k.elif_(angle > high):
            k.augment(tau, "add", stiff * (high - angle))
    else:
        stop = k.let("stop inside", least(most(angle, low), high))
        k.augment(tau, "add", stiff * (stop - angle))
    return f", plus {say(k, stiff)} times the distance back to [{say(k, low)}, {say(k, high)}]"


def _saturated(r: Rig, angle: Var, tau: Var) -> str:
    limit = given(r, "max_torque effort", r.scalar, 2.5, 5.0, forms=TUNED)
    r.k.assign(tau, clamp(tau, minus(limit), limit))
    return f", clamped to +-{say(r.k, limit)}"


def _driven(r: Rig, level: int, world: Expr, tau: Var) -> str:
    """The torque about the hinge: as a number, a vector, or with the force there a wrench."""
    k, shape = r.k, r.k.draw.shape
    form = shape.choice(("scalar", "vector") if level < 4 else ("vector", "wrench", "wrench"))
    if level == 3 and shape.chance(0.5):
        form = "wrench"
    if form == "scalar":
        return r.gets("torques taus drives", tau, "tau")
    turning = k.let("turning torque_w moment", tau * world)
    if form == "vector":
        done = r.gets("torques child_torques", turning, "tau * w")
        if level >= 3:
            done += r.gets("reactions parent_torques", -turning, "-tau * w")
        return done
    at = r.read("anchors joint_anchors", r.vec, -1.0, 1.0)
    com = r.read("child_com centers", r.vec, -1.0, 1.0)
    pull = given(r, "joint_force reaction", r.vec, -2.0, 2.0, each=1)
    arm = maybe(k, "arm lever", at - com, 0.6)
    wrench = k.let("wrench body_f load", six(r, turning + fn("cross", arm, pull), pull))
    text = f"(t, f) of six components with f = {say(k, pull)} and t = tau * w + "
    done = r.gets("wrenches child_f", wrench, f"{text}cross({say(k, at)} - {say(k, com)}, f)")
    if level >= 5 or shape.chance(0.4):
        twist = r.read("twists child_qd", r.six, -1.0, 1.0)
        text = f"its dot product with {say(k, twist)}"
        done += r.gets("powers work_rate", fn("spatial_dot", wrench, twist), text)
    return done


def _straightened(r: Rig, axis: Expr, rel: Var) -> str:
    """A torque that turns the swing away, all but the twist about the axis."""
    k, swing, text = r.k, rel, "swing = e"
    gain = given(r, "align_gain straighten_gain", r.scalar, 0.5, 2.0, forms=TUNED)
    if r.scalar == FLOAT32:
        twist = k.let("twist turn", fn("quat_twist", axis, rel))
        swing = k.let("swing tilt", rel * fn("quat_inverse", twist))
        text = "swing = e * inverse(twist) with twist = normalize(dot(axis, ev) * axis, ew)"
    real = maybe(k, "side sgn", fn("sign", swing[3]), 0.6)
    factor, shown = gain, say(k, gain)
    if k.draw.shape.chance(0.4):
        factor, shown = 2.0 * gain, f"2 * {shown}"
    push = minus(factor) * real * r.imaginary(swing)
    text = f"-{shown} * sign(sw) * sv, {text} = (sv, sw)"
    return r.gets("align_torques straighteners", push, text)
