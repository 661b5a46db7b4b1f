"""What is read off an orientation besides its own value: directions, angles, matrices."""

from __future__ import annotations

import re

from generators.build import fn
from generators.kit.functions import atan2, dot
from generators.kit.naming import maybe
from generators.kit.sources import SETTING, given
from generators.kit.words import say
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import Rig


def heading(r: Rig, q: Var) -> str:
    axis = given(r, "forward axis nose", r.vec, init="unit", forms=SETTING)
    form = r.k.draw.shape.choice(("quat_rotate", "quat_rotate", "quat_rotate_inv"))
    text = f"{say(r.k, axis)} rotated by {'q' if form == 'quat_rotate' else 'the inverse of q'}"
    return r.gets("headings directions pointing", fn(form, q, axis), text)


def upright(r: Rig, q: Var) -> str:
    up = given(r, "up world_up vertical", r.vec, init="unit", forms=SETTING)
    turned = maybe(r.k, "body_up tilted top", fn("quat_rotate", q, up))
    text = f"the dot product of {say(r.k, up)} with itself rotated by q"
    return r.gets("uprightness tilt_cos level_cos", dot(turned, up), text)


def yaw(r: Rig, q: Var) -> str:
    siny = r.k.let("sin_yaw sy siny", 2.0 * (q[3] * q[2] + q[0] * q[1]))
    cosy = r.k.let("cos_yaw cy cosy", 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]))
    text = "atan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy^2 + qz^2))"
    return r.gets("yaws yaw_out compass", atan2(siny, cosy), text)


def matrix(r: Rig, q: Var) -> str:
    flipped = r.k.draw.shape.chance(0.4)
    rot = fn("transpose", fn("quat_to_matrix", q)) if flipped else fn("quat_to_matrix", q)
    text = f"the {'transposed ' if flipped else ''}rotation matrix of q"
    return r.gets("rotation_mats matrices dcm", rot, text)


def turn_angle(r: Rig, q: Var) -> str:
    v = r.k.let("qv imag vec_part", r.imaginary(q))
    angle = 2.0 * atan2(fn("length", v), abs(q[3]))
    text = "the angle of q, 2 * atan2(|(qx, qy, qz)|, |qw|)"
    return r.gets("angles turn_angles rotation_angles", angle, text)


def rpy(r: Rig, q: Var) -> str:
    if r.scalar != FLOAT32:
        return turn_angle(r, q)
    angles = fn("quat_to_rpy", q)
    if r.k.draw.shape.chance(0.5):
        text = "roll, pitch and yaw of q (Warp's quat_to_rpy)"
        return r.gets("rpy_out eulers attitude_angles", angles, text)
    part = r.k.draw.shape.integer(0, 2)
    value = fn("degrees", r.k.let("rpy euler", angles)[part])
    name = ("roll", "pitch", "yaw")[part]
    text = f"the {name} of q (as by Warp's quat_to_rpy) in degrees"
    return r.gets(f"{name}_out {name}_deg", value, text)


def about(r: Rig, q: Var) -> str:
    """The angle about an axis."""
    axis = given(r, "axis hinge", r.vec, init="unit", forms=SETTING)
    inner = f"dot({say(r.k, axis)}, (qx, qy, qz))"
    if r.scalar != FLOAT32:
        along = r.k.let("along proj", dot(axis, r.imaginary(q)))
        angle: Expr = 2.0 * atan2(along, q[3])
    elif r.k.draw.shape.chance(0.35):
        angle = fn("quat_twist_angle_signed", axis, q)
    else:
        angle, inner = fn("quat_twist_angle", axis, q), f"|{inner}|"
    return r.gets("twists turns_about axis_angles", angle, f"2 * atan2({inner}, qw)")


REPORTS = (about, heading, matrix, rpy, turn_angle, upright, yaw)


def reported(r: Rig, q: Var, low: int, high: int, called: str = "q") -> str:
    """One or more further outputs read off the orientation ``q``; the sentences that say so."""
    chosen = r.k.draw.shape.sample(REPORTS, r.k.draw.shape.integer(low, high))
    return renamed("".join(report(r, q) for report in chosen), called)


def renamed(text: str, called: str) -> str:
    """A text on a rotation q, for one of another name."""
    parts = called if len(called) == 1 else f"{called}."
    return re.sub(r"\bq\b", called, re.sub(r"\bq(?=[xyzw]\b)", parts, text))
