"""Rotations, rigid transforms and spatial vectors over lanes: components first, lanes last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from generators.program.dtypes import Mat, Quat, Type, scalar_of
from synth.gates.lanes.values import VIRTUAL_ROUNDOFF, Values


def quat_multiply(a: Values, b: Values) -> Values:
    """Hamilton product of quaternions x, y, z, w."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3], axis=0)
    return np.concatenate([vector, (a[3] * b[3] - (a[:3] * b[:3]).sum(0))[None]])


def rotate(q: Values, v: Values) -> Values:
    """v + 2 w (u x v) + 2 u x (u x v) for a unit quaternion (u, w)."""
    u_cross_v = np.cross(q[:3], v, axis=0)
    return v + 2.0 * (q[3] * u_cross_v + np.cross(q[:3], u_cross_v, axis=0))


def conjugate(q: Values) -> Values:
    return np.concatenate([-q[:3], q[3:]])


def transform_multiply(a: Values, b: Values) -> Values:
    position = a[:3] + rotate(a[3:], b[:3])
    return np.concatenate([position, quat_multiply(a[3:], b[3:])])


def _transform_inverse(t: Values) -> Values:
    inverse = conjugate(t[3:])
    return np.concatenate([-rotate(inverse, t[:3]), inverse])


def _axis_angle(axis: Values, angle: Values) -> Values:
    half = 0.5 * angle
    return np.concatenate([axis * np.sin(half), np.cos(half)[None]])


def _quat_matrix(q: Values) -> Values:
    basis = np.eye(3)
    columns = [rotate(q, np.broadcast_to(basis[:, k : k + 1], q[:3].shape)) for k in range(3)]
    return np.stack(columns, axis=1)


def _quat_from_matrix(m: Values) -> Values:
    """The quaternion whose largest part is found from the diagonal (Shepperd's method).

    Its sign is that of Warp: w is positive where the trace is not negative, else the part that
    belongs to the largest diagonal entry.
    """
    diagonal = np.array([m[0, 0], m[1, 1], m[2, 2]])
    trace = diagonal.sum(0)
    skew = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    root = np.sqrt(np.maximum(trace + 1.0, 1e-300))
    found = np.concatenate([skew * (0.5 / root), (0.5 * root)[None]])
    for axis in range(3):
        i, j, k = axis, (axis + 1) % 3, (axis + 2) % 3
        root = np.sqrt(np.maximum(diagonal[i] - diagonal[j] - diagonal[k] + 1.0, 1e-300))
        other = np.empty_like(found)
        other[i] = 0.5 * root
        other[j] = (m[i, j] + m[j, i]) * (0.5 / root)
        other[k] = (m[k, i] + m[i, k]) * (0.5 / root)
        other[3] = skew[i] * (0.5 / root)
        chosen = (trace < 0) & (np.argmax(diagonal, axis=0) == axis)
        found = np.where(chosen, other, found)
    return found


def _rpy(roll: Values, pitch: Values, yaw: Values) -> Values:
    """Turns about the fixed x, y and z axes, in that order."""
    zero, one = np.zeros_like(roll), np.ones_like(roll)
    about_x = _axis_angle(np.array([one, zero, zero]), roll)
    about_y = _axis_angle(np.array([zero, one, zero]), pitch)
    about_z = _axis_angle(np.array([zero, zero, one]), yaw)
    return quat_multiply(about_z, quat_multiply(about_y, about_x))


def _to_rpy(q: Values) -> Values:
    m = _quat_matrix(q)
    roll = np.arctan2(m[2, 1], 1.0 - 2.0 * (q[0] * q[0] + q[1] * q[1]))
    yaw = np.arctan2(m[1, 0], 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]))
    return np.array([roll, np.arcsin(np.clip(-m[2, 0], -1.0, 1.0)), yaw])


def _slerp(a: Values, b: Values, t: Values) -> Values:
    """The short way along the great circle: a, turned by t times the angle to b about its axis."""
    between = quat_multiply(conjugate(a), b)
    between = np.where(between[3] < 0, -between, between)
    size = np.sqrt((between[:3] ** 2).sum(0))
    axis = between[:3] / np.where(size > 0, size, 1.0)
    return quat_multiply(a, _axis_angle(axis, 2.0 * t * np.arctan2(size, between[3])))


def _twist(axis: Values, q: Values) -> Values:
    part = np.concatenate([(q[:3] * axis).sum(0) * axis, q[3:]])
    return part / np.sqrt((part * part).sum(0))


def _twist_angle(axis: Values, q: Values) -> Values:
    return 2.0 * np.arctan2((q[:3] * axis).sum(0), q[3])


def _scaled_matrix(position: Values, q: Values, scale: Values) -> Values:
    matrix = np.zeros((4, 4, position.shape[-1]))
    matrix[:3, :3] = _quat_matrix(q) * scale[None, :, :]
    matrix[:3, 3] = position
    matrix[3, 3] = 1.0
    return matrix


def _spatial_cross(a: Values, b: Values) -> Values:
    lower = np.cross(a[3:], b[:3], axis=0) + np.cross(a[:3], b[3:], axis=0)
    return np.concatenate([np.cross(a[:3], b[:3], axis=0), lower])


def _spatial_cross_dual(a: Values, b: Values) -> Values:
    upper = np.cross(a[:3], b[:3], axis=0) + np.cross(a[3:], b[3:], axis=0)
    return np.concatenate([upper, np.cross(a[:3], b[3:], axis=0)])


def _spatial_adjoint(r: Values, s: Values) -> Values:
    matrix = np.zeros((6, 6, r.shape[-1]))
    matrix[:3, :3], matrix[3:, :3], matrix[3:, 3:] = r, s, r
    return matrix


def _moved_twist(t: Values, x: Values) -> Values:
    w = rotate(t[3:], x[:3])
    return np.concatenate([w, rotate(t[3:], x[3:]) + np.cross(t[:3], w, axis=0)])


def _moved_wrench(t: Values, x: Values) -> Values:
    v = rotate(t[3:], x[3:])
    return np.concatenate([rotate(t[3:], x[:3]) + np.cross(t[:3], v, axis=0), v])


RIGID_RULES: dict[str, Callable[..., Values]] = {
    "quat_from_axis_angle": _axis_angle,
    "quat_inverse": conjugate,
    "quat_rotate": rotate,
    "quat_rotate_inv": lambda q, v: rotate(conjugate(q), v),
    "quat_to_matrix": _quat_matrix,
    "quat_from_matrix": _quat_from_matrix,
    "quat_rpy": _rpy,
    "quat_to_rpy": _to_rpy,
    "quat_slerp": _slerp,
    "quat_twist": _twist,
    "quat_twist_angle": lambda axis, q: _twist_angle(
        axis, np.where((q[:3] * axis).sum(0) < 0, conjugate(q), q)
    ),
    "quat_twist_angle_signed": _twist_angle,
    "transform_point": lambda t, v: t[:3] + rotate(t[3:], v),
    "transform_vector": lambda t, v: rotate(t[3:], v),
    "transform_inverse": _transform_inverse,
    "transform_multiply": transform_multiply,
    "transform_get_translation": lambda t: t[:3].copy(),
    "transform_get_rotation": lambda t: t[3:].copy(),
    "transform_to_matrix": lambda t: _scaled_matrix(t[:3], t[3:], np.ones_like(t[:3])),
    "transform_compose": _scaled_matrix,
    "spatial_vector": lambda w, v: np.concatenate([w, v]),
    "spatial_dot": lambda a, b: (a * b).sum(0),
    "spatial_cross": _spatial_cross,
    "spatial_cross_dual": _spatial_cross_dual,
    "spatial_top": lambda s: s[:3].copy(),
    "spatial_bottom": lambda s: s[3:].copy(),
    "spatial_adjoint": _spatial_adjoint,
    "transform_twist": _moved_twist,
    "transform_wrench": _moved_wrench,
    "velocity_at_point": lambda s, r: s[3:] + np.cross(s[:3], r, axis=0),
}


def lanes_of_identity(type_: Type, count: int) -> Values:
    """The identity matrix, rotation or transform in every lane."""
    if isinstance(type_, Mat):
        one: Any = np.eye(type_.rows)
    else:
        one = np.zeros(4 if isinstance(type_, Quat) else 7)
        one[-1] = 1.0
    return np.repeat(one[..., None], count, axis=-1)


def not_unit(q: Values, type_: Type) -> Values:
    """Formulas for rotations differ between libraries unless the length is 1 up to rounding."""
    return np.abs((q * q).sum(0) - 1.0) > 128.0 * _roundoff(type_)


def not_rotation(m: Values, type_: Type) -> Values:
    product = np.einsum("jil,jkl->ikl", m, m)
    off = np.abs(product - np.eye(3)[..., None]).max((0, 1))
    handed = (np.cross(m[0], m[1], axis=0) * m[2]).sum(0)
    return (off > 64.0 * _roundoff(type_)) | (handed < 0)


def _roundoff(type_: Type) -> float:
    return max(scalar_of(type_).unit_roundoff, VIRTUAL_ROUNDOFF)
