"""Attitudes: found from two directions, compared with others, and held by torques."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import atan2, clamp, dot, most, where
from generators.kit.masks import flag, opposite
from generators.kit.naming import applied, local, maybe, routine
from generators.kit.records import Part, record
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var, op
from generators.vector.rigid.parts import MOSTLY, TUNED, Rig, minus, rig, shortened, unit
from generators.vector.rigid.reports import about, renamed, reported

SHARED_TARGET = {"each": 5, "shared": 2}


def _frame(r: Rig) -> Callable[..., Expr]:
    """Three unit axes: along the first, across both, and the one that is left."""
    as_rows = r.k.draw.shape.chance(0.3)

    def build(b: BodyBuilder, first: Expr, second: Expr) -> Expr:
        t1 = b.let("t1 e1", unit(first))
        t2 = b.let("t2 e2", unit(fn("cross", t1, second)))
        if as_rows:
            rows = b.let("rows stacked", fn("matrix_from_rows", t1, t2, fn("cross", t1, t2)))
            return fn("transpose", rows)
        return fn("matrix_from_cols", t1, t2, fn("cross", t1, t2))

    return build


@idiom(depth=1)
def triad_attitude(k: KernelBuilder, level: int) -> Title:
    """The attitude in which two measured directions match two known ones."""
    shape = k.draw.shape
    r = rig(k, "i tid epoch", single=0.75)
    first, second = shape.choice((("sun", "mag"), ("sun", "star"), ("accel", "mag")))
    known = "gravity" if first == "accel" else first
    parts = {"sun": Part(first, r.vec, -2.0, 2.0), "mag": Part(second, r.vec, -2.0, 2.0)}
    seen = record(r, "Sighting Reading Measurement", parts, 0.3 + 0.06 * level)
    direct = level == 1 and shape.chance(0.5)
    s1, s2 = seen["sun"], seen["mag"]
    done = f"Find attitudes from two measured directions (TRIAD). Of a = {seen.say('sun')} and b = "
    done += seen.say("mag")
    if second == "mag" and shape.chance(0.5):
        bias = given(r, "mag_bias", r.vec, -0.3, 0.3, many="mag_biases", each=2, shared=2)
        s2 = k.let("corrected mag_c", s2 - bias)
        done += f" - {say(k, bias)}"
    chance, types = (0.0 if direct or level < 2 else 0.75), {"first": r.vec, "second": r.vec}
    frame = routine(k, chance, "triad frame_of", types, _frame(r), "Frame of two directions.")
    rotation: Expr = k.let("body m_body seen_frame", frame(s1, s2))
    done += ", the frame has the columns t = normalize(a), u = normalize(cross(t, b)) and "
    done += "cross(t, u); q is the quaternion of "
    if direct:
        done += "this frame."
    else:
        rotation, text = _matched(r, frame, rotation, (known, second))
        done += text
    q = k.let("q attitude rot", rotation if not direct else fn("quat_from_matrix", rotation))
    done += _settled(r, level, q)
    done += r.gets("attitudes rotations q_out", q, "q")
    if level >= 3:
        done += reported(r, q, 1, level - 2)
    done += _checked(r, level, q, s1) if level >= 4 else ""
    return Title(k.name("triad_attitude two_vector_attitude fix_attitude triad"), done)


def _matched(
    r: Rig, frame: Callable[..., Expr], seen: Expr, names: tuple[str, str]
) -> tuple[Expr, str]:
    """The rotation from the measured frame to that of the known directions, and its text.

    A frame that all threads share is given as a rotation and not built in each of them.
    """
    k, shape, back = r.k, r.k.draw.shape, fn("transpose", seen)
    style = shape.choice(("ref", "known"))
    if names[0] == "gravity" or shape.chance(0.5):
        known = k.scalar(f"{style}_rot {style}_frame_rot", r.quat, init="unit")
        text = f"{known.name}, that of the same frame of the known directions, times the quaternion"
        return known * fn("quat_from_matrix", back), f"{text} of the transpose of this one."
    # Where the sun and the field are, as seen from a craft on its way, changes with the epoch.
    first, second = (
        given(r, f"{style}_{n}", r.vec, -2.0, 2.0, many=f"{style}_{n}s", each=1) for n in names
    )
    whole = k.let("ref m_ref known_frame", frame(first, second)) * back
    text = (
        f"the same frame of {say(k, first)} and {say(k, second)} times the transpose of this one."
    )
    return fn("quat_from_matrix", whole), text


def _settled(r: Rig, level: int, q: Var) -> str:
    """The rotation of the frame, with that of a mount or blended with what was predicted."""
    k = r.k
    if level >= 2:
        k.assign(q, unit(q))
        return f" q is normalized.{_fused(r, q)}"
    if k.draw.shape.chance(0.5):
        return ""
    mount = given(r, "mount sensor_rot", r.quat, init="unit", shared=3, each=1)
    k.assign(q, q * mount)
    return f" q is multiplied by the sensor's mounting {say(k, mount)} from the right."


def _fused(r: Rig, q: Var) -> str:
    """Blend with what was predicted, or take up only the turn about one axis."""
    k, shape = r.k, r.k.draw.shape
    form = shape.choice(["slerp", "delta"] + ["heading"] * (r.scalar == FLOAT32))
    before = r.read("predicted last_attitudes q_prior", r.quat, init="unit")
    name = say(k, before)
    share = (
        given(r, "trust gain", r.scalar, 0.1, 0.8, forms=TUNED)
        if form != "heading"
        else r.real(1.0)
    )
    if form == "slerp":
        k.assign(q, fn("quat_slerp", before, q, share))
        return f" q becomes the slerp from {name} to q by {say(k, share)} (the short way)."
    error = k.let("delta err", fn("quat_inverse", before) * q)
    done = f" With d = inverse({name}) * q, q becomes normalize({name} * "
    if form == "heading":
        axis = given(r, "up spin_dir", r.vec, init="unit", forms=MOSTLY)
        turn = k.let("turn heading_err", fn("quat_twist", axis, error))
        k.assign(q, unit(before * turn))
        done += f"t), t being the twist of d about {say(k, axis)}: "
        return f"{done}normalize(dot(dv, a) * a, dw)."
    v = k.let("dv small", share * r.imaginary(error))
    if shape.chance(0.5):
        with k.if_(error[3] < 0.0):
            k.assign(v, -v)
    else:
        k.augment(v, "mul", fn("sign", error[3]))
    k.assign(q, unit(before * r.with_real(v, 1.0)))
    return f"{done}(s * {say(k, share)} * dv, 1)), s being the sign of dw."


def _checked(r: Rig, level: int, q: Var, measured: Expr) -> str:
    """How well a known direction, seen from the attitude, fits the measured one."""
    k = r.k
    known = given(r, "expected", r.vec, many="catalog expected_dirs", init="unit", forms=MOSTLY)
    local = k.let("local predicted_dir", fn("quat_rotate_inv", q, known))
    fit = k.let("fit cosine", dot(local, unit(measured)))
    text = f"the dot product of normalize(a) with {say(k, known)} rotated by the inverse of q"
    good, shown = fit > 0.0, f"{text} is positive"
    if level >= 5 and k.draw.shape.chance(0.1):
        test = flag(r, "usable lit")
        good, shown = op("and", test.value, good), f"{test.on} and {shown}"
    if k.draw.shape.chance(0.5):
        return r.gets("accepted good", good, f"whether {shown}")
    with k.if_(opposite(good)):
        k.assign(fit, 0.0)
    return r.gets("fits qualities", fit, f"{text} where {shown}, else 0")


def _relative(q: Expr, goal: Expr, frame: str) -> Expr:
    """The rotation from q to the goal, seen from the body or from the world."""
    return fn("quat_inverse", q) * goal if frame == "body" else goal * fn("quat_inverse", q)


_RELATIVE_TEXT = {"body": "inverse(q) * target", "world": "target * inverse(q)"}


def _shorter(k: KernelBuilder, error: Var) -> str:
    """Of the two quaternions of one rotation, the one with the smaller angle."""
    form = k.draw.shape.choice(("if", "where", "sign"))
    if form == "if":
        with k.if_(error[3] < 0.0):
            k.assign(error, -error)
    elif form == "where":
        k.assign(error, where(error[3] < 0.0, -error, error))
    else:
        k.assign(error, fn("sign", error[3]) * error)
    return ", negated where its w is negative"


def _angle(r: Rig, error: Var, short: bool) -> tuple[Expr, str]:
    """The angle between the two."""
    k = r.k
    real, real_text = (error[3], "ew") if short else (abs(error[3]), "|ew|")
    # Rounded, |ew| may exceed 1, of which acos is not a number.
    v = k.let("v imag ev", r.imaginary(error))
    return 2.0 * atan2(fn("length", v), real), f"2 * atan2(|ev|, {real_text})"


def _rotation_vector(r: Rig, error: Var, short: bool) -> tuple[Expr, str]:
    """The rotation as a vector: its axis times the angle, or something near it."""
    k = r.k
    form = k.draw.shape.choice(("log", "small") if short else ("signed",))
    v = k.let("axis_part xyz im", r.imaginary(error))
    if form == "small":
        return 2.0 * v, "2 * ev"
    if form == "signed":
        return fn("sign", error[3]) * v, "sign(ew) * ev (1 for the sign of 0)"
    size = k.let("size sin_half s", fn("length", v))
    angle = k.let("full_angle rot_angle", 2.0 * atan2(size, error[3]))
    # No rotation has no axis: normalize gives zero there, a division would not.
    return angle * unit(v), "2 * atan2(|ev|, ew) * normalize(ev)"


@idiom(depth=1)
def attitude_error(k: KernelBuilder, level: int) -> Title:
    """The rotation between two orientations: its quaternion, angle or rotation vector."""
    shape = k.draw.shape
    r = rig(k, "i tid frame")
    parts = {
        "q": Part("estimate attitude q", r.quat, init="unit"),
        "goal": Part("target reference goal", r.quat, init="unit", forms=SHARED_TARGET),
    }
    pair = record(r, "AttitudePair Tracking", parts, 0.2 if level < 4 else 0.45)
    frame = shape.choice(("body", "world"))
    args = dict(pair.values)
    if shape.chance(0.5):
        args = {name: local(k, name, value) for name, value in args.items()}

    def relative(b: BodyBuilder, q: Expr, goal: Expr) -> Expr:
        return _relative(q, goal, frame)

    names = "relative_rotation rotation_between attitude_delta"
    doc = "Rotation that takes the first orientation to the second."
    error = k.let("err q_err delta", applied(k, 0.4 * (level > 2), names, args, relative, doc))
    done = (
        f"Compare orientations q of {pair.say('q')} with their target in {pair.say('goal')}: the "
    )
    done += f"error is the rotation e = (ev, ew) = {_RELATIVE_TEXT[frame]}"
    forms = ["angle", "vector", "quaternion", "about"]
    if level <= 2:
        forms = ["angle", "angle", "vector", "vector", "quaternion", "about"]
    chosen = shape.sample(forms, {1: 1, 2: 1, 3: 2}.get(level, 3))
    # The angle about an axis is from -pi to pi for the shorter rotation alone.
    short = level >= 3 or "about" in chosen or shape.chance(0.6)
    done += f"{_shorter(k, error) if short else ''}."
    for form in chosen:
        done += _error_stored(r, form, error, level, short)
    done += reported(r, error, 1, 2, "e") if level >= 5 else ""
    names = "attitude_error orientation_error compare_attitudes"
    names = {"angle": f"{names} attitude_angles", "quaternion": "relative_rotations"}.get(
        chosen[0], names
    )
    return Title(k.name(names), done)


def _error_stored(r: Rig, form: str, error: Var, level: int, short: bool) -> str:
    if form == "about":
        return renamed(about(r, error), "e")
    if form == "quaternion":
        return r.gets("errors relative deltas", error, "e")
    if form == "vector":
        value, text = _rotation_vector(r, error, short)
        if level >= 2 and r.k.draw.shape.chance(0.5):
            gain = given(r, "gain rate", r.scalar, 0.5, 2.0, forms=TUNED)
            value, text = gain * value, f"{say(r.k, gain)} * {text}"
        return r.gets("rotation_vectors error_vectors corrections", value, text)
    value, text = _angle(r, error, short)
    if "atan2" in text and r.k.draw.shape.chance(0.4):
        value, text = fn("degrees", value), f"{text} in degrees"
    angle = r.k.let("angle theta misalignment", value)
    text += _scored(r, angle) if level >= 2 else ""
    return r.gets("error_angles angles misalignments", angle, f"the angle {text}")


def _scored(r: Rig, angle: Var) -> str:
    """The angle with a dead band or a weight."""
    k, form = r.k, r.k.draw.shape.choice(("weight", "deadband", "plain"))
    if form == "weight":
        weight = given(r, "weight confidence", r.scalar, 0.2, 1.5, forms=TUNED)
        k.augment(angle, "mul", weight)
        return f", multiplied by {say(k, weight)}"
    if form == "deadband":
        band = given(r, "deadband tolerance", r.scalar, 0.3, 1.2, forms=TUNED)
        k.assign(angle, most(angle - band, 0.0))
        return f", less {say(k, band)} but at least 0"
    return ""


@idiom(depth=3)
def attitude_control(k: KernelBuilder, level: int) -> Title:
    """Torques that turn a craft toward a target attitude: proportional, derivative, gyroscopic."""
    shape = k.draw.shape
    r = rig(k, "i tid craft")
    parts = {
        "attitude": Part("attitude q rot", r.quat, init="unit"),
        "rate": Part("rate omega body_rate", r.vec, -1.5, 1.5, forms={"each": 1}),
    }
    craft = record(r, "Craft Satellite Vehicle Drone", parts, 0.3 + 0.08 * level)
    target = given(r, "target setpoint goal", r.quat, init="unit", forms=SHARED_TARGET)
    w = k.let("w omega rate", craft["rate"])
    error = k.let("err q_err qe", _relative(craft["attitude"], target, "body"))
    done = "Turn craft toward target attitudes by a proportional-derivative controller. With "
    done += f"attitude q in {craft.say('attitude')} and body rate w in {craft.say('rate')}, the "
    done += f"error is e = (ev, ew) = inverse(q) * {say(k, target)}"
    short = shape.chance(0.8)
    done += _shorter(k, error) if short else ""
    value, text = _rotation_vector(r, error, short)
    lean = maybe(k, "lean tilt attitude_err", value)
    kp = given(r, "kp p_gain attitude_gain", r.scalar, 1.0, 4.0, forms=TUNED)
    wide = shape.chance(0.3)
    kd = given(r, "kd d_gain rate_gain", r.vec if wide else r.scalar, 0.2, 1.5, forms=TUNED)
    aim: Expr = w
    rate_text = "w"
    if level >= 2 and shape.chance(0.5):
        wanted = given(r, "rate_ref wanted_rate", r.vec, -0.5, 0.5, forms=MOSTLY)
        aim, rate_text = w - wanted, f"(w - {say(k, wanted)})"
    brake = fn("cw_mul", kd, aim) if wide else kd * aim
    torque = k.let("torque tau command", kp * lean - brake)
    done += f". The torque is {say(k, kp)} * {text} - {say(k, kd)} * {rate_text}"
    done += " (by components)" if wide else ""
    for more in shape.sample(_TORQUES, {1: 0, 2: 1, 3: 1, 4: 2, 5: 3}[level]):
        done += more(r, torque, w)
    done += f".{r.gets('torques commands control_out', torque, 'the torque')}"
    if level >= 5 or (level == 4 and shape.chance(0.5)):
        done += reported(r, error, 1, 1, "e")
    return Title(k.name("attitude_control pd_attitude hold_attitude attitude_pd"), done)


def _fed_forward(r: Rig, torque: Var, w: Var) -> str:
    extra = r.read("feedforward torque_ff", r.vec, -0.5, 0.5)
    r.k.augment(torque, "add", extra)
    return f", plus {say(r.k, extra)}"


def _gyroscopic(r: Rig, torque: Var, w: Var) -> str:
    inertia = given(r, "inertia inertia_diag", r.vec, 0.5, 2.0, each=1, shared=3)
    momentum = maybe(r.k, "h ang_mom", fn("cw_mul", inertia, w))
    r.k.augment(torque, "add", fn("cross", w, momentum))
    return f", plus cross(w, {say(r.k, inertia)} * w by components)"


def _saturated(r: Rig, torque: Var, w: Var) -> str:
    limit = given(r, "max_torque limit", r.scalar, 1.0, 2.5, shared=1)
    if r.k.draw.shape.chance(0.5):
        return f", {shortened(r.k, torque, limit, 'demand torque_norm')}"
    r.k.assign(torque, make(r.vec, *(clamp(torque[c], minus(limit), limit) for c in range(3))))
    return f", each component clamped to +-{say(r.k, limit)}"


_TORQUES = (_fed_forward, _gyroscopic, _saturated)
