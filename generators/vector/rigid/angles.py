"""Angles of rotations: roll, pitch and yaw, and the twist about an axis."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import TWO_PI, acos, atan2, clamp, dot, most, sqrt
from generators.kit.masks import flag
from generators.kit.naming import applied, maybe
from generators.kit.records import Part, record
from generators.kit.sources import given, unit_vector
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, Quat, Scalar
from generators.program.expr import Construct, Expr, Var
from generators.vector.rigid.parts import MOSTLY, TUNED, Rig, minus, rig, unit
from generators.vector.rigid.reports import reported

ANGLES = ("roll", "pitch", "yaw")
PLURAL = {"roll": "rolls", "pitch": "pitches", "yaw": "yaws"}
_ORDERS = ("zyx", "xyz", "yxz", "zxy")
_LIMITS = {"roll": 1.5, "pitch": 1.2, "yaw": 2.5}


def _half_angles(b: BodyBuilder, roll: Expr, pitch: Expr, yaw: Expr) -> Expr:
    """The product of the three half turns, written out."""
    halves = zip("rpy", (roll, pitch, yaw), strict=True)
    parts = [b.let(f"{f}{c}", fn(n, 0.5 * a)) for c, a in halves for f, n in _HALVES]
    cr, sr, cp, sp, cy, sy = parts
    assert isinstance(roll.type, Scalar)
    return make(
        Quat(roll.type),
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


_HALVES = (("c", "cos"), ("s", "sin"))


def _composed(r: Rig, angles: dict[str, Expr], order: str) -> Expr:
    """A product of turns about the three axes."""
    about: dict[str, Expr] = {}
    for axis, (letter, name) in enumerate(zip("xyz", ANGLES, strict=True)):
        about[letter] = fn("quat_from_axis_angle", unit_vector(r.vec, axis), angles[name])
    if r.k.draw.shape.chance(0.5):
        about = {c: r.k.let(f"q{c} about_{c}", q) for c, q in about.items()}
    first, second, third = (about[letter] for letter in order)
    return first * second * third


def _from_angles(r: Rig, angles: dict[str, Expr], level: int) -> tuple[Expr, str]:
    """The rotation of roll, pitch and yaw, by Warp's builtin or by a formula; and its text."""
    form = r.k.draw.shape.weighted({"rpy": 5, "product": 2, "formula": 2})
    if form == "rpy":
        return fn("quat_rpy", *angles.values()), "z(yaw) * y(pitch) * x(roll)"
    if form == "product":
        order = r.k.draw.shape.choice(_ORDERS)
        letters = dict(zip("xyz", ANGLES, strict=True))
        return _composed(r, angles, order), " * ".join(f"{c}({letters[c]})" for c in order)
    names = "quat_from_rpy from_euler euler_to_quat"
    value = applied(r.k, 0.0 if level < 2 else 0.7, names, angles, _half_angles)
    return value, "z(yaw) * y(pitch) * x(roll)"


def _angle_inputs(r: Rig) -> tuple[dict[str, Expr], str]:
    """Roll, pitch and yaw from three arrays, a vector or a struct."""
    k, shape = r.k, r.k.draw.shape
    if shape.chance(0.35):
        vector = r.read("eulers rpy attitude_angles", r.vec, -1.4, 1.4)
        whole = k.let("e euler ang", vector)
        return {n: whole[c] for c, n in enumerate(ANGLES)}, say(k, vector)
    parts = {}
    for name, high in _LIMITS.items():
        names = f"{name} {name}_angle"
        many = f"{PLURAL[name]} {name}_angles"
        parts[name] = Part(names, r.scalar, -high, high, many=many, forms={"each": 1})
    angles = record(r, "EulerAngles Gimbal Attitude", parts, 0.5)
    values, source = dict(angles.values), ", ".join(map(angles.say, ANGLES))
    if shape.chance(0.4):
        values = {name: k.let(name, value) for name, value in values.items()}
    return values, source


@idiom(depth=1)
def euler_rotation(k: KernelBuilder, level: int) -> Title:
    """Rotations of roll, pitch and yaw, applied to a vector, chained with a mount or stored."""
    shape = k.draw.shape
    r = rig(k, "i tid idx")
    values, source = _angle_inputs(r)
    done = f"Convert Euler angles to quaternions: with roll, pitch and yaw in radians from {source}"
    rotation, text = _from_angles(r, values, level)
    q = k.let("q rot attitude", unit(rotation) if level >= 2 else rotation)
    text = f"normalize({text})" if level >= 2 else text
    done += f", the rotation is q = {text}, the letters being turns about those axes."
    if level >= 2 and shape.chance(0.6):
        mount = given(r, "mount base", r.quat, init="unit", forms=MOSTLY)
        left = shape.chance(0.6)
        k.assign(q, unit(mount * q if left else q * mount))
        side = "left" if left else "right"
        done += f" q is multiplied by {say(k, mount)} from the {side} and normalized."
    if level == 1 or shape.chance(0.4):
        done += r.gets("rotations quats attitudes_out", q, "q")
    if level >= 2:
        v = given(r, "vector ray boresight", r.vec, -2.0, 2.0)
        form = shape.choice(("quat_rotate", "quat_rotate", "quat_rotate_inv"))
        text = f"{say(k, v)} rotated by {'q' if form == 'quat_rotate' else 'the inverse of q'}"
        done += r.gets("turned aimed rotated", fn(form, q, v), text)
    if level >= 4:
        done += reported(r, q, level - 3, level - 2)
    return Title(k.name("euler_to_quat quat_from_euler rpy_to_quat euler_to_rotation"), done)


def _formulas(b: BodyBuilder, q: Expr) -> tuple[Expr, Expr, Expr]:
    x, y, z, w = (q[c] for c in range(4))
    sine = maybe(b, "sin_pitch sp", 2.0 * (w * y - z * x))
    up, level = b.let("r32", 2.0 * (w * x + y * z)), b.let("r33", 1.0 - 2.0 * (x * x + y * y))
    # Rounded, the sine may exceed 1, of which asin is not a number.
    return (
        atan2(up, level),
        atan2(sine, sqrt(up * up + level * level)),
        atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
    )


_ROLL = ": roll is atan2(2 * (w * x + y * z), 1 - 2 * (x^2 + y^2))"
_ROLL_PITCH = f"{_ROLL} and pitch asin(2 * (w * y - z * x))"
_RPY_TEXT = (
    f"{_ROLL}, pitch asin(2 * (w * y - z * x)) and yaw atan2(2 * (w * z + x * y), 1 - 2 * (y^2 + "
    "z^2))"
)


def _roll_pitch_yaw(r: Rig, q: Var, level: int) -> dict[str, Expr]:
    """The three angles of a rotation, by Warp's builtin, in a helper or from their formulas."""
    k = r.k
    if r.scalar == FLOAT32 and k.draw.shape.chance(0.6):
        whole = fn("quat_to_rpy", q)
    elif level >= 3 and k.draw.shape.chance(0.8):
        doc = "Roll, pitch and yaw of a rotation, in radians."

        def build(b: BodyBuilder, q: Expr) -> Expr:
            return make(r.vec, *_formulas(b, q))

        whole = applied(k, 1.0, "euler_angles to_rpy", {"q": q}, build, doc)
    else:
        values = zip(ANGLES, _formulas(k, q), strict=True)
        return {n: k.let(f"{n} {n}_angle", v) for n, v in values}
    rpy = k.let("rpy angles euler", whole)
    return {name: rpy[c] for c, name in enumerate(ANGLES)}


@idiom(depth=1)
def read_euler(k: KernelBuilder, level: int) -> Title:
    """Roll, pitch and yaw of rotations: stored, compared with limits or commands."""
    shape = k.draw.shape
    r = rig(k, "i tid sample", single=0.75)
    q: Expr = r.read("rotations attitudes quats", r.quat, init="unit")
    done = f"Read the Euler angles of the unit quaternion q = (x, y, z, w) in {say(k, q)}"
    if level >= 2 and shape.chance(0.7):
        base = given(r, "reference mount", r.quat, init="unit", forms=MOSTLY)
        done = f"Of the rotation q = inverse({say(k, base)}) * p, p being that in {say(k, q)}"
        q = fn("quat_inverse", base) * q
    q = k.let("q rot", q)
    told = shape.weighted({"plain": 4, "commanded": 1, "tilted": 1, "from_level": 1})
    build, names = _TOLD["tilted" if told == "from_level" else told]
    if told == "from_level":
        source = done.removeprefix("Read the Euler angles of ")
        return Title(k.name(names), _from_level(r, q, source))
    angles = _roll_pitch_yaw(r, q, level)
    if told != "plain":
        task = "Measure how far orientations tilt from level"
        task = task if told == "tilted" else "Compare orientations with commanded Euler angles"
        done = done.replace("Read the Euler angles of the", f"{task}, by the Euler angles of the")
    done += (_ROLL_PITCH if told == "tilted" else _RPY_TEXT) + build(r, level, angles)
    if level >= 4:
        done += reported(r, q, level - 4, level - 3)
    return Title(k.name(names), done)


def _plain(r: Rig, level: int, angles: dict[str, Expr]) -> str:
    """The three angles, in arrays of their own or one of vectors."""
    shape = r.k.draw.shape
    degrees = shape.chance(0.3)
    unit_text = "degrees" if degrees else "radians"
    values = {n: fn("degrees", a) if degrees else a for n, a in angles.items()}
    if shape.chance(0.4):
        out = r.put("eulers rpy_out euler_angles", make(r.vec, *values.values()))
        return f". Store roll, pitch and yaw in {unit_text} as a vector in {out.name}."
    out_of_each = shape.chance(0.5)
    names = {n: f"{n}_out" if out_of_each else PLURAL[n] for n in ANGLES}
    outs = [r.put(names[n], value).name for n, value in values.items()]
    return f". Store roll, pitch and yaw in {unit_text} in {', '.join(outs)}."


def _commanded(r: Rig, level: int, angles: dict[str, Expr]) -> str:
    k = r.k
    aim = given(r, "command aim", r.vec, -1.0, 1.0, forms=MOSTLY)
    miss = k.let("miss angle_error diff", aim - make(r.vec, *angles.values()))
    turns = k.let("turns", miss / TWO_PI)
    k.augment(miss, "sub", TWO_PI * make(r.vec, *(fn("rint", turns[c]) for c in range(3))))
    done = f"; e = {say(k, aim)} - (roll, pitch, yaw), less the multiple of 2 * pi nearest to each"
    if level >= 2:
        gains = given(r, "gain gains", r.vec, 0.4, 2.0, many="gains", forms=MOSTLY)
        k.assign(miss, fn("cw_mul", gains, miss))
        done += f", multiplied by {say(k, gains)} by components"
    if level >= 3:
        limit = k.scalar("limit max_command", r.scalar, 0.8, 1.4)
        with k.for_("c axis", 3) as c:
            k.set(miss, c, clamp(miss[c], minus(limit), limit))
        done += f", each component clamped to +-{say(k, limit)}"
    return f"{done}.{r.gets('errors commands_out corrections', miss, 'e')}"


def _from_level(r: Rig, q: Var, source: str) -> str:
    """The angle between the body's z axis and the world's, whose cosine is an entry of the matrix
    of q."""
    k = r.k
    upright = k.let("cos_tilt z_up", 1.0 - 2.0 * (q[0] * q[0] + q[1] * q[1]))
    # Rounded, the cosine may exceed 1, of which acos is not a number.
    tilt: Expr = acos(clamp(upright, -1.0, 1.0))
    text = f"Measure the tilt of orientations, the angle between the z axis as turned by {source} "
    text += "and z itself: acos(1 - 2 * (x^2 + y^2)), the cosine clamped to [-1, 1]"
    if k.draw.shape.chance(0.4):
        tilt, text = fn("degrees", tilt), f"{text}, in degrees"
    return f"{text}.{r.gets('tilts tilt_out', tilt, 'the angle')}"


def _tilted(r: Rig, level: int, angles: dict[str, Expr]) -> str:
    """How far from level: the larger of roll and pitch."""
    k = r.k
    roll, pitch, _ = angles.values()
    tilt = k.let("tilt lean", most(abs(roll), abs(pitch)))
    done = "; tilt = max(|roll|, |pitch|)"
    if level >= 2:
        weight = given(r, "weight sensitivity", r.scalar, 0.3, 1.5, forms=TUNED)
        k.augment(tilt, "mul", weight)
        done += f" * {say(k, weight)}"
    if level >= 3:
        limit = given(r, "alarm limit", r.scalar, 0.3, 0.7, forms=TUNED)
        with k.if_(tilt > limit):
            k.assign(tilt, limit + 0.5 * (tilt - limit))
        done += f", what exceeds {say(k, limit)} halved"
    return f"{done}.{r.gets('tilts tilt_out', tilt, 'tilt')}"


_TOLD = {
    "plain": (_plain, "quat_to_euler quat_to_rpy euler_angles"),
    "commanded": (_commanded, "euler_error attitude_command_error"),
    "tilted": (_tilted, "tilt_angles measure_tilt lean_angles"),
}


def _twist_by_hand(b: BodyBuilder, axis: Expr, q: Expr) -> Expr:
    """The twist from the projection of the vector part on the axis."""
    along = b.let("along proj d", axis[0] * q[0] + axis[1] * q[1] + axis[2] * q[2])
    v = b.let("pv kept", along * axis)
    return unit(make(q.type, v[0], v[1], v[2], q[3]))


def _twist_of(r: Rig, q: Var, axis: Expr, level: int) -> Var:
    k = r.k
    if r.scalar == FLOAT32 and k.draw.shape.chance(0.65):
        twist = fn("quat_twist", axis, q)
    else:
        if not isinstance(axis, Var) and k.draw.shape.chance(0.5):
            axis = k.let("a unit_axis hinge", axis)
        args, names = {"axis": axis, "q": q}, "twist_about twist_part"
        doc = "Rotation about the axis that a rotation contains."
        twist = applied(k, 0.0 if level < 3 else 0.8, names, args, _twist_by_hand, doc)
    return k.let("twist twist_rot about_axis", twist)


_AXES = {"each": 3, "last": 1, "shared": 3, "literal": 1}


@idiom(depth=1)
def swing_twist(k: KernelBuilder, level: int) -> Title:
    """Split rotations into a turn about an axis and the rest, and limit either."""
    shape = k.draw.shape
    r = rig(k, "j tid joint", single=0.8)
    parts = {
        "rotation": Part("rotation q local_rot", r.quat, init="unit"),
        "axis": Part("axis twist_dir", r.vec, init="unit", forms=_AXES),
    }
    joint = record(r, "Joint Bone BallJoint", parts, 0.2 + 0.08 * level)
    q, axis = k.let("q rot quat", joint["rotation"]), joint["axis"]
    if isinstance(axis, Construct) or shape.chance(0.5):
        axis = k.let("axis a twist_dir", axis)
    names = f"the rotation q = (qv, qw) in {joint.say('rotation')}", joint.say("axis")
    if level <= 2 and shape.chance(0.5):
        done = f"Measure the twist angle of {names[0]} about the unit axis a in {names[1]}: "
        done += _angle_only(r, level, q, axis)
        return Title(k.name("twist_angles axis_turns hinge_angles"), done)
    done = f"Split {names[0]} into a twist about the unit axis a in {names[1]} and a swing: "
    twist = _twist_of(r, q, axis, level)
    after, inverse = shape.chance(0.5), fn("quat_inverse", twist)
    swing = k.let("swing swing_rot", q * inverse if after else inverse * q)
    swung = "q * inverse(twist)" if after else "inverse(twist) * q"
    done += f"twist = normalize(dot(qv, a) * a, qw) and swing = {swung}."
    if level >= 2:
        done += _changed(r, level, (q, axis, twist, swing), after)
    else:
        out = r.put("swings swing_out", swing).name
        done += f" Store swing in {out} and twist in {r.put('twists twist_out', twist).name}."
    if level >= 4:
        done += reported(r, swing, level - 4, level - 3, "swing")
    title = "swing_twist split_rotation decompose_swing_twist"
    return Title(k.name(title if level < 2 else "limit_joints limit_twist"), done)


def _angle_only(r: Rig, level: int, q: Var, axis: Expr) -> str:
    k, shape = r.k, r.k.draw.shape
    builtin = ("signed", "plain") if r.scalar == FLOAT32 else ()
    form, text = shape.choice((*builtin, "formula")), "2 * atan2(dot(a, qv), qw)"
    if form == "formula":
        value: Expr = 2.0 * atan2(maybe(k, "along proj", dot(axis, r.imaginary(q))), q[3])
    elif form == "signed":
        value = fn("quat_twist_angle_signed", axis, q)
    else:
        value, text = fn("quat_twist_angle", axis, q), "2 * atan2(|dot(a, qv)|, qw)"
    if level == 1:
        zeroed = form != "plain" and shape.chance(0.4)
        if not zeroed and shape.chance(0.4):
            value, text = fn("degrees", value), f"{text} in degrees"
        if zeroed:
            rest = given(r, "rest_angle offset", r.scalar, 0.2, 1.2, forms=TUNED)
            value, text = value - rest, f"{text} - {say(k, rest)}"
    else:
        value = angle = k.let("angle twist_angle phi", value)
        changes = (_scale, _shift) if form == "plain" else (_clamp, _scale, _shift)
        text += "".join(change(r, angle) for change in shape.sample(changes, 2))
    text = f"the angle of the twist, {text}"
    return r.gets("angles_out turns joint_angles", value, text).lstrip()


def _twist_angle(r: Rig, axis: Expr, q: Var, twist: Var) -> tuple[Var, str]:
    names = "angle twist_angle phi"
    if r.scalar == FLOAT32 and r.k.draw.shape.chance(0.5):
        value = fn("quat_twist_angle_signed", axis, q)
        return r.k.let(names, value), "2 * atan2(dot(a, qv), qw)"
    angle = 2.0 * atan2(dot(axis, r.imaginary(twist)), twist[3])
    return r.k.let(names, angle), "2 * atan2(dot(a, tv), tw) with twist = (tv, tw)"


def _changed(r: Rig, level: int, of: tuple[Var, Expr, Var, Var], after: bool) -> str:
    """The angle kept in a range or scaled, the swing weakened, and both put together again."""
    k, shape, (q, axis, twist, swing) = r.k, r.k.draw.shape, of
    angle, text = _twist_angle(r, axis, q, twist)
    done = f" The angle of the twist is {text}"
    chosen = shape.sample((0, 1, 2), 1 if level == 2 else 2)
    done += "".join((_clamp, _scale, _shift)[c](r, angle) for c in sorted(chosen))
    if level >= 3 and shape.chance(0.1):
        locked = flag(r, "locked is_hinge rigid")
        with k.if_(locked.value):
            k.assign(angle, 0.0)
        done += f", and 0 where {locked.on}"
    done += "."
    if shape.chance(0.3):
        done += r.gets("angles_out turns joint_angles", angle, "it")
    if level >= 4 and shape.chance(0.6):
        share = given(r, "swing_share blend", r.scalar, 0.2, 0.8, each=1, last=1, shared=3)
        real = 1.0 - share + share * swing[3]
        v: list[Expr] = [share * swing[c] for c in range(3)]
        if shape.chance(0.5):
            part = k.let("sv swing_vec", share * r.imaginary(swing))
            v = [part[c] for c in range(3)]
        k.assign(swing, unit(make(r.quat, *v, real)))
        name = say(k, share)
        done += f" swing becomes normalize({name} * sv, 1 - {name} + {name} * sw)."
    turned = k.let("new_twist turn hinge_rot", fn("quat_from_axis_angle", axis, angle))
    whole: Expr = swing * turned if after else turned * swing
    text = "swing * t" if after else "t * swing"
    if level >= 4:
        whole, text = unit(whole), f"normalize({text})"
    text += ", t being the rotation about a by that angle"
    return done + r.gets("limited_rots rotations_out corrected", whole, text)


def _clamp(r: Rig, angle: Var) -> str:
    low = given(r, "lower min_angle", r.scalar, -1.5, -0.5, many="lower min_angles", forms=TUNED)
    high = given(r, "upper max_angle", r.scalar, 0.5, 1.5, many="upper max_angles", forms=TUNED)
    r.k.assign(angle, clamp(angle, low, high))
    return f", clamped to [{say(r.k, low)}, {say(r.k, high)}]"


def _scale(r: Rig, angle: Var) -> str:
    gain = given(r, "gain ratio share", r.scalar, 0.3, 0.9, forms=TUNED)
    r.k.augment(angle, "mul", gain)
    return f", then multiplied by {say(r.k, gain)}"


def _shift(r: Rig, angle: Var) -> str:
    rest = given(r, "rest_angle offset", r.scalar, -0.6, 0.6, each=3, last=2, shared=2)
    r.k.augment(angle, "sub", rest)
    return f", then less {say(r.k, rest)}"
