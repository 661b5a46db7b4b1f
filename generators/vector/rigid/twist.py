"""Rotations taken apart: swing and twist about an axis, and roll, pitch and yaw."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32
from generators.program.expr import Construct, Expr, Var
from generators.vector.rigid.parts import (
    PROPERTY,
    Rig,
    inlined,
    is_set,
    mask,
    maybe_named,
    rig,
    told,
    unit,
)
from generators.vector.rigid.record import Record, Slot
from generators.vector.rigid.reports import reported

_AXES = {"each": 2, "first": 1, "last": 3, "shared": 3, "fixed": 2}


def _by_hand(b: BodyBuilder, axis: Expr, q: Expr) -> Expr:
    """The twist from the projection of the vector part on the axis."""
    along = b.let(("along", "proj", "d"), axis[0] * q[0] + axis[1] * q[1] + axis[2] * q[2])
    v = b.let(("pv", "kept"), along * axis)
    return fn("normalize", make(q.type, v[0], v[1], v[2], q[3]))


def _twist_of(r: Rig, q: Var, axis: Expr, level: int) -> tuple[Var, str]:
    k = r.k
    if r.scalar == FLOAT32 and k.draw.shape.chance(0.65):
        twist = fn("quat_twist", axis, q)
    else:
        args = [("axis", axis), ("q", q)]
        names = ("twist_about", "twist_part")
        doc = "Rotation about the axis that a rotation contains."
        if not isinstance(axis, Var) and not k.draw.shape.chance(0.5):
            args[0] = ("axis", k.let(("a", "unit_axis", "hinge"), axis))
        twist = inlined(k, 0.0 if level < 3 else 0.8, names, args, _by_hand, doc)
    return k.let(("twist", "twist_rot", "about_axis"), twist), "normalize(dot(qv, a) * a, qw)"


@idiom
def swing_twist(k: KernelBuilder, level: int) -> Title:
    """Split rotations into a turn about an axis and the rest, and limit either."""
    shape = k.draw.shape
    r = rig(k, ("j", "tid", "joint"), ("env", "skeleton", "row"),
            scalar=FLOAT32 if shape.chance(0.8) else None)  # fmt: skip
    slots = {
        "rotation": Slot(("rotation", "q", "local_rot"), ("rotations", "joint_rots", "bone_rots"),
                         r.quat, init="unit"),
        "axis": Slot(("axis", "twist_axis"), ("axes", "twist_axes"), r.vec, init="unit",
                     forms=_AXES),
    }  # fmt: skip
    joint = Record(
        r, slots, as_struct=shape.chance(0.2 + 0.08 * level), struct=("Joint", "Bone", "BallJoint"),
        arrays=("joints", "bones"), local=("item", "bone", "data"),
    )  # fmt: skip
    q = joint.local_of("rotation", "q", "rot", "quat")
    axis = joint["axis"]
    if isinstance(axis, Construct) or shape.chance(0.5):
        axis = k.let(("axis", "a", "twist_dir"), axis)
    done = f"Split the rotation q in {joint.told('rotation')} about the axis a in "
    done += f"{joint.told('axis')}: "
    if level <= 2 and shape.chance(0.5):
        names = ("twist_angles", "axis_turns", "hinge_angles")
        return Title(k.name(*names), done + _angle_only(r, level, q, axis))
    twist, text = _twist_of(r, q, axis, level)
    order = shape.choice(("after", "before"))
    inverse = fn("quat_inverse", twist)
    if order == "after":
        swing = k.let(("swing", "swing_rot"), q * inverse)
    else:
        swing = k.let(("swing", "swing_rot"), inverse * q)
    swung = "q * inverse(twist)" if order == "after" else "inverse(twist) * q"
    done += f"twist = {text} and swing = {swung}."
    if level >= 2:
        done += _changed(r, level, q, axis, twist, swing, order)
    else:
        done += f" {r.store(('swings', 'swing_out'), swing).name} gets swing."
        if shape.chance(0.5):
            done += f" {r.store(('twists', 'twist_out'), twist).name} gets twist."
    if level >= 4:
        done += reported(r, swing, level - 4, level - 3, "swing")
    titles = ("swing_twist", "split_rotation", "decompose_swing_twist", "limit_joints")
    return Title(k.name(*titles), done)


def _angle_only(r: Rig, level: int, q: Var, axis: Expr) -> str:
    k = r.k
    value: Expr
    form = k.draw.shape.choice(("signed", "plain", "formula") if r.scalar == FLOAT32 else
                               ("formula",))  # fmt: skip
    if form == "formula":
        along = maybe_named(k, ("along", "proj"), fn("dot", axis, r.imaginary(q)))
        value, text = 2.0 * fn("atan2", along, q[3]), "2 * atan2(dot(a, qv), qw)"
    elif form == "signed":
        value, text = fn("quat_twist_angle_signed", axis, q), "2 * atan2(dot(a, qv), qw)"
    else:
        value, text = fn("quat_twist_angle", axis, q), "2 * atan2(|dot(a, qv)|, qw)"
    if level == 1:
        if k.draw.shape.chance(0.4):
            value, text = fn("degrees", value), f"{text} in degrees"
        if k.draw.shape.chance(0.4):
            rest = r.given(("rest_angles", "offsets"), ("rest_angle", "offset"), r.scalar, 0.2, 1.2)
            value, text = value - rest, f"{text} - {told(rest)}"
    else:
        angle = k.let(("angle", "twist_angle", "phi"), value)
        kinds = ("scale", "shift") if form == "plain" else sorted(_ANGLE_CHANGES)
        text += "".join(_ANGLE_CHANGES[c](r, angle) for c in k.draw.shape.sample(kinds, 2))
        value = angle
    out = r.store(("angles_out", "turns", "joint_angles"), value)
    return f"{out.name} gets the angle of the twist, {text}."


def _twist_angle(r: Rig, axis: Expr, q: Var, twist: Var) -> tuple[Var, str]:
    k = r.k
    form = k.draw.shape.choice(("builtin", "of_twist") if r.scalar == FLOAT32 else ("of_twist",))
    names = ("angle", "twist_angle", "phi")
    if form == "builtin":
        return k.let(names, fn("quat_twist_angle_signed", axis, q)), "2 * atan2(dot(a, qv), qw)"
    along = fn("dot", axis, r.imaginary(twist))
    text = "2 * atan2(dot(a, tv), tw) with twist = (tv, tw)"
    return k.let(names, 2.0 * fn("atan2", along, twist[3])), text


def _changed(
    r: Rig, level: int, q: Var, axis: Expr, twist: Var, swing: Var, order: str
) -> str:  # fmt: skip
    """The angle kept in a range or scaled, the swing weakened, and both put together again."""
    k, shape = r.k, r.k.draw.shape
    angle, text = _twist_angle(r, axis, q, twist)
    done = f" The angle of the twist is {text}"
    forms = shape.sample(("clamp", "scale", "shift"), 1 if level == 2 else 2)
    for form in sorted(forms):
        done += _ANGLE_CHANGES[form](r, angle)
    if level >= 3 and shape.chance(0.5):
        locked = mask(r, ("locked", "is_hinge", "rigid"), ("locked",))
        with k.if_(locked):
            k.assign(angle, 0.0)
        done += f", and 0 where {is_set(locked)}"
    done += "."
    if shape.chance(0.3):
        done += f" {r.store(('angles_out', 'turns', 'joint_angles'), angle).name} gets it."
    if level >= 4 and shape.chance(0.6):
        share = r.given(("swing_shares",), ("swing_share", "blend"), r.scalar, 0.2, 0.8,
                        forms={"each": 1, "last": 1, "shared": 3})  # fmt: skip
        real = 1.0 - share + share * swing[3]
        if shape.chance(0.5):
            v = k.let(("sv", "swing_vec"), share * r.imaginary(swing))
            k.assign(swing, unit(make(r.quat, v[0], v[1], v[2], real)))
        else:
            mixed = make(r.quat, share * swing[0], share * swing[1], share * swing[2], real)
            k.assign(swing, unit(mixed))
        done += f" swing becomes normalize({told(share)} * sv, 1 - {told(share)} + "
        done += f"{told(share)} * sw)."
    turned = k.let(("new_twist", "turn", "hinge_rot"), fn("quat_from_axis_angle", axis, angle))
    whole: Expr = swing * turned if order == "after" else turned * swing
    product = "swing * t" if order == "after" else "t * swing"
    if level >= 4:
        whole = unit(whole)
        product = f"normalize({product})"
    out = r.store(("limited_rots", "rotations_out", "corrected"), whole)
    return f"{done} {out.name} gets {product}, t being the rotation about a by that angle."


def _clamp(r: Rig, angle: Var) -> str:
    low = r.given(("lower", "min_angles"), ("lower", "min_angle"), r.scalar, -1.5, -0.5)
    high = r.given(("upper", "max_angles"), ("upper", "max_angle"), r.scalar, 0.5, 1.5)
    r.k.assign(angle, fn("clamp", angle, low, high))
    return f", clamped to [{told(low)}, {told(high)}]"


def _scale(r: Rig, angle: Var) -> str:
    gain = r.given(("gains", "ratios"), ("gain", "ratio", "share"), r.scalar, 0.3, 0.9,
                   forms=PROPERTY)  # fmt: skip
    r.k.augment(angle, "mul", gain)
    return f", then multiplied by {told(gain)}"


def _shift(r: Rig, angle: Var) -> str:
    rest = r.given(("rest_angles", "offsets"), ("rest_angle", "offset"), r.scalar, -0.6, 0.6,
                   forms={"each": 3, "last": 2, "shared": 2})  # fmt: skip
    r.k.augment(angle, "sub", rest)
    return f", then less {told(rest)}"


_ANGLE_CHANGES = {"clamp": _clamp, "scale": _scale, "shift": _shift}
