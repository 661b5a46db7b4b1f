"""What is read off an orientation besides its own value: directions, angles, matrices."""

from __future__ import annotations

import re
from collections.abc import Callable

from generators.build import fn
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import SETTING, Rig, told

_AXIS = ("forward", "axis", "nose", "local_axis")


def heading(r: Rig, q: Var) -> str:
    axis = r.given(("axes", "local_axes"), _AXIS, r.vec, init="unit", forms=SETTING)
    form = r.k.draw.shape.choice(("quat_rotate", "quat_rotate", "quat_rotate_inv"))
    out = r.store(("headings", "directions", "pointing"), fn(form, q, axis))
    by = "q" if form == "quat_rotate" else "the inverse of q"
    return f" {out.name} gets {told(axis)} rotated by {by}."


def upright(r: Rig, q: Var) -> str:
    up = r.given(("ups",), ("up", "world_up", "vertical"), r.vec, init="unit", forms=SETTING)
    turned = fn("quat_rotate", q, up)
    if r.k.draw.shape.chance(0.5):
        turned = r.k.let(("body_up", "tilted", "top"), turned)
    out = r.store(("uprightness", "tilt_cos", "level_cos"), fn("dot", turned, up))
    return f" {out.name} gets the dot product of {told(up)} with itself rotated by q."


def yaw(r: Rig, q: Var) -> str:
    siny = r.k.let(("sin_yaw", "sy", "siny"), 2.0 * (q[3] * q[2] + q[0] * q[1]))
    cosy = r.k.let(("cos_yaw", "cy", "cosy"), 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]))
    out = r.store(("yaws", "yaw_out", "compass"), fn("atan2", siny, cosy))
    return f" {out.name} gets atan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy^2 + qz^2))."


def matrix(r: Rig, q: Var) -> str:
    rot: Expr = fn("quat_to_matrix", q)
    flipped = r.k.draw.shape.chance(0.4)
    if flipped:
        rot = fn("transpose", rot)
    out = r.store(("rotation_mats", "matrices", "dcm"), rot)
    return f" {out.name} gets the {'transposed ' if flipped else ''}rotation matrix of q."


def turn_angle(r: Rig, q: Var) -> str:
    v = r.k.let(("qv", "imag", "vec_part"), r.imaginary(q))
    angle = 2.0 * fn("atan2", fn("length", v), fn("abs", q[3]))
    out = r.store(("angles", "turn_angles", "rotation_angles"), angle)
    return f" {out.name} gets the angle of q, 2 * atan2(|(qx, qy, qz)|, |qw|)."


def rpy(r: Rig, q: Var) -> str:
    if r.scalar != FLOAT32:
        return turn_angle(r, q)
    angles = fn("quat_to_rpy", q)
    if r.k.draw.shape.chance(0.5):
        out = r.store(("rpy_out", "eulers", "attitude_angles"), angles)
        return f" {out.name} gets roll, pitch and yaw of q (Warp's quat_to_rpy)."
    local = r.k.let(("rpy", "euler"), angles)
    part = r.k.draw.shape.integer(0, 2)
    name = ("roll", "pitch", "yaw")[part]
    out = r.store((f"{name}_out", f"{name}_deg"), fn("degrees", local[part]))
    return f" {out.name} gets the {name} of q (as by Warp's quat_to_rpy) in degrees."


def about(r: Rig, q: Var) -> str:
    """The angle about an axis."""
    axis = r.given(("axes", "local_axes"), ("axis", "hinge_axis"), r.vec, init="unit",
                   forms=SETTING)  # fmt: skip
    if r.scalar != FLOAT32:
        along = r.k.let(("along", "proj"), fn("dot", axis, r.imaginary(q)))
        angle: Expr = 2.0 * fn("atan2", along, q[3])
        inner = "dot({0}, (qx, qy, qz))"
    elif r.k.draw.shape.chance(0.35):
        angle, inner = fn("quat_twist_angle_signed", axis, q), "dot({0}, (qx, qy, qz))"
    else:
        angle, inner = fn("quat_twist_angle", axis, q), "|dot({0}, (qx, qy, qz))|"
    out = r.store(("twists", "turns_about", "axis_angles"), angle)
    return f" {out.name} gets 2 * atan2({inner.format(told(axis))}, qw)."


REPORTS: dict[str, Callable[[Rig, Var], str]] = {
    "heading": heading,
    "upright": upright,
    "yaw": yaw,
    "matrix": matrix,
    "turn_angle": turn_angle,
    "rpy": rpy,
    "about": about,
}


def reported(r: Rig, q: Var, low: int, high: int, called: str = "q") -> str:
    """One or more further outputs read off the orientation ``q``; the sentences that say so."""
    shape = r.k.draw.shape
    chosen = shape.sample(sorted(REPORTS), shape.integer(low, high))
    text = "".join(REPORTS[name](r, q) for name in chosen)
    return renamed(text, called)


def renamed(text: str, called: str) -> str:
    """A text on a rotation q, for one of another name."""
    parts = called if len(called) == 1 else f"{called}."
    text = re.sub(r"\bq(?=[xyzw]\b)", parts, text)
    return re.sub(r"\bq\b", called, text)
