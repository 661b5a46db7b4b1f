"""Roll, pitch and yaw: quaternions from angles, angles from quaternions, gimbals."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, identity, make
from generators.build.registry import Title, idiom
from generators.program.dtypes import Quat, Scalar
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    SETTING,
    Rig,
    inlined,
    is_set,
    mask,
    minus,
    rig,
    told,
    unit,
)
from generators.vector.rigid.record import Record, Slot
from generators.vector.rigid.reports import reported

ANGLES = ("roll", "pitch", "yaw")
PLURAL = {"roll": "rolls", "pitch": "pitches", "yaw": "yaws"}
_ORDERS = {
    "xyz": ("z", "y", "x"),
    "zyx": ("x", "y", "z"),
    "zxy": ("y", "x", "z"),
    "yxz": ("z", "x", "y"),
}


def _half_angles(b: BodyBuilder, roll: Expr, pitch: Expr, yaw: Expr) -> Expr:
    """The product of the three half turns, written out."""
    parts: dict[str, Var] = {}
    for letter, angle in zip("rpy", (roll, pitch, yaw), strict=True):
        parts[f"c{letter}"] = b.let(f"c{letter}", fn("cos", 0.5 * angle))
        parts[f"s{letter}"] = b.let(f"s{letter}", fn("sin", 0.5 * angle))
    cr, sr, cp, sp, cy, sy = (parts[name] for name in ("cr", "sr", "cp", "sp", "cy", "sy"))
    assert isinstance(roll.type, Scalar)
    return make(
        Quat(roll.type),
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def _composed(r: Rig, angles: dict[str, Expr], order: str) -> Expr:
    """A product of turns about the three axes."""
    about = {
        letter: fn(
            "quat_from_axis_angle",
            make(r.vec, *(r.real(float(letter == other)) for other in "xyz")),
            angles[name],
        )
        for letter, name in zip("xyz", ANGLES, strict=True)
    }
    if r.k.draw.shape.chance(0.5):
        about = {c: r.k.let((f"q{c}", f"about_{c}"), q) for c, q in about.items()}
    first, second, third = _ORDERS[order]
    return about[first] * about[second] * about[third]


def from_angles(r: Rig, angles: dict[str, Expr], level: int) -> tuple[Expr, str]:
    """The rotation of roll, pitch and yaw, by Warp's builtin or by a formula; and its text."""
    form = r.k.draw.shape.weighted({"rpy": 5, "product": 2, "formula": 2})
    values = [angles[name] for name in ANGLES]
    if form == "rpy":
        return fn("quat_rpy", *values), "z(yaw) * y(pitch) * x(roll)"
    if form == "product":
        order = r.k.draw.shape.choice(sorted(_ORDERS))
        letters = dict(zip("xyz", ANGLES, strict=True))
        text = " * ".join(f"{c}({letters[c]})" for c in _ORDERS[order])
        return _composed(r, angles, order), text
    names = ("quat_from_rpy", "from_euler", "euler_to_quat")
    args = list(zip(ANGLES, values, strict=True))
    chance = 0.0 if level < 2 else 0.7
    return inlined(r.k, chance, names, args, _half_angles), "z(yaw) * y(pitch) * x(roll)"


def _slots(r: Rig) -> dict[str, Slot]:
    high = {"roll": 1.5, "pitch": 1.2, "yaw": 2.5}
    return {
        name: Slot((name, f"{name}_angle"), (PLURAL[name], f"{name}_angles"), r.scalar,
                   -high[name], high[name], forms=MOSTLY_ARRAY if name != "yaw" else {"each": 1})
        for name in ANGLES
    }  # fmt: skip


def _angle_inputs(r: Rig, level: int) -> tuple[dict[str, Expr], str]:
    """Roll, pitch and yaw from three arrays, a vector or a struct."""
    k, shape = r.k, r.k.draw.shape
    if shape.chance(0.35):
        vector = r.given(("eulers", "rpy", "attitude_angles"), (), r.vec, -1.4, 1.4,
                         forms={"each": 1})  # fmt: skip
        local = k.let(("e", "euler", "ang"), vector)
        return {n: local[c] for c, n in enumerate(ANGLES)}, told(vector)
    angles = Record(
        r, _slots(r), as_struct=shape.chance(0.5), struct=("EulerAngles", "Gimbal", "Attitude"),
        arrays=("gimbals", "attitudes"), local=("ang", "gimbal"),
    )  # fmt: skip
    values: dict[str, Expr] = {name: angles[name] for name in ANGLES}
    source = ", ".join(angles.told(name) for name in ANGLES)
    if shape.chance(0.4):
        values = {name: k.let(name, value) for name, value in values.items()}
    return values, source


@idiom
def euler_rotation(k: KernelBuilder, level: int) -> Title:
    """Rotations of roll, pitch and yaw, applied to a vector, chained with a mount or stored."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "cam"), ("rig", "row", "ship"))
    values, source = _angle_inputs(r, level)
    done = f"With roll, pitch and yaw (radians) from {source}"
    if level >= 3:
        for name in shape.sample(ANGLES, level - 2 if level < 5 else 2):
            local = values[name]
            if not isinstance(local, Var):
                local = k.let((name, f"{name}_now"), local)
            values[name] = local
            done += _angle_change(r, name, local)
    rotation, text = from_angles(r, values, level)
    q = k.let(("q", "rot", "attitude"), unit(rotation) if level >= 2 else rotation)
    text = f"normalize({text})" if level >= 2 else text
    done += f", the rotation is q = {text}, the letters being turns about those axes."
    if level >= 2 and shape.chance(0.6):
        mount = r.given(("mounts", "base_rots"), ("mount", "base"), r.quat, init="unit",
                        forms=MOSTLY_ARRAY)  # fmt: skip
        left = shape.chance(0.6)
        k.assign(q, unit(mount * q if left else q * mount))
        done += f" q is multiplied by {told(mount)} from the {'left' if left else 'right'} and "
        done += "normalized."
    if level >= 3 and shape.chance(0.5):
        flip = mask(r, ("flipped", "stowed", "parked"), ("flipped",))
        inverse = shape.chance(0.4)
        other = fn("quat_inverse", q) if inverse else identity(r.quat)
        if shape.chance(0.5):
            k.assign(q, fn("where", flip, other, q))
        else:
            with k.if_(flip):
                k.assign(q, other)
        what = "is inverted" if inverse else "is the identity instead"
        done += f" Where {is_set(flip)} q {what}."
    if level == 1 or shape.chance(0.4):
        done += f" {r.store(('rotations', 'quats', 'attitudes_out'), q).name} gets q."
    if level >= 2 or shape.chance(0.2):
        done += _applied(r, q)
    if level >= 4:
        done += reported(r, q, level - 3, level - 2)
    names = ("euler_to_rotation", "apply_gimbal", "aim_cameras", "rotate_by_rpy")
    return Title(k.name(*names), done)


def _angle_change(r: Rig, name: str, angle: Var) -> str:
    k = r.k
    form = k.draw.shape.choice(("clamp", "trim", "gain"))
    if form == "clamp":
        limit = r.given(("limits",), (f"max_{name}", f"{name}_limit"), r.scalar, 0.6, 1.0,
                        forms=SETTING)  # fmt: skip
        k.assign(angle, fn("clamp", angle, minus(limit), limit))
        return f", {name} clamped to +-{told(limit)}"
    if form == "trim":
        trim = r.given((f"{name}_trims",), (f"{name}_trim", f"{name}_bias"), r.scalar, -0.4, 0.4,
                       forms=MOSTLY_ARRAY)  # fmt: skip
        k.augment(angle, "add", trim)
        return f", {told(trim)} added to {name}"
    gain = r.given((f"{name}_gains",), (f"{name}_gain", f"{name}_scale"), r.scalar, 0.4, 0.9)
    k.augment(angle, "mul", gain)
    return f", {name} multiplied by {told(gain)}"


def _applied(r: Rig, q: Var) -> str:
    v = r.given(("vectors", "rays", "thrusts"), ("vector", "ray", "boresight"), r.vec, -2.0, 2.0)
    form = r.k.draw.shape.choice(("quat_rotate", "quat_rotate", "quat_rotate_inv"))
    out = r.store(("turned", "aimed", "rotated"), fn(form, q, v))
    by = "q" if form == "quat_rotate" else "the inverse of q"
    return f" {out.name} gets {told(v)} rotated by {by}."
