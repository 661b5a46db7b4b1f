"""Type rules of the ops on quaternions, transforms and spatial vectors (six components)."""

from __future__ import annotations

from collections.abc import Sequence

from generators.program.dtypes import FLOAT32, Mat, Quat, Scalar, Transform, Type, Vec
from generators.program.signatures import OpTypeError, Signature, is_float


def rotate(types: Sequence[Type]) -> Type:
    q, v = types
    if isinstance(q, Quat) and v == Vec(3, q.scalar):
        return v
    raise OpTypeError("needs a quaternion and a vector of 3")


def axis_angle(types: Sequence[Type]) -> Type:
    axis, angle = types
    if isinstance(angle, Scalar) and angle.is_float and axis == Vec(3, angle):
        return Quat(angle)
    raise OpTypeError("needs a vector of 3 and an angle in radians")


def quat_to_matrix(types: Sequence[Type]) -> Type:
    (q,) = types
    if isinstance(q, Quat):
        return Mat(3, 3, q.scalar)
    raise OpTypeError("needs a quaternion")


def transform_apply(types: Sequence[Type]) -> Type:
    tf, v = types
    if isinstance(tf, Transform) and v == Vec(3, tf.scalar):
        return v
    raise OpTypeError("needs a transform and a vector of 3")


def transform_part(position: bool) -> Signature:
    def signature(types: Sequence[Type]) -> Type:
        (tf,) = types
        if not isinstance(tf, Transform):
            raise OpTypeError("needs a transform")
        return Vec(3, tf.scalar) if position else Quat(tf.scalar)

    return signature


def is_spatial(t: Type) -> bool:
    return isinstance(t, Vec) and t.size == 6 and t.scalar.is_float


def quat_from_matrix(types: Sequence[Type]) -> Type:
    (m,) = types
    if isinstance(m, Mat) and m.shape == (3, 3) and m.scalar.is_float:
        return Quat(m.scalar)
    raise OpTypeError("needs a float matrix of 3 by 3")


def quat_rpy(types: Sequence[Type]) -> Type:
    roll = types[0]
    if isinstance(roll, Scalar) and is_float(roll) and all(t == roll for t in types):
        return Quat(roll)
    raise OpTypeError("needs three angles of one float type")


def quat_to_rpy(types: Sequence[Type]) -> Type:
    if types[0] == Quat(FLOAT32):
        return Vec(3, FLOAT32)
    raise OpTypeError("needs a float32 quaternion")


def quat_slerp(types: Sequence[Type]) -> Type:
    a, b, t = types
    if isinstance(a, Quat) and a == b and a.scalar == t:
        return a
    raise OpTypeError("needs two quaternions of one type and their scalar")


def twist(types: Sequence[Type]) -> Type:
    if tuple(types) == (Vec(3, FLOAT32), Quat(FLOAT32)):
        return types[1]
    raise OpTypeError("needs a float32 axis and quaternion")


def twist_angle(types: Sequence[Type]) -> Type:
    twist(types)
    return FLOAT32


def to_matrix44(types: Sequence[Type]) -> Type:
    (tf,) = types
    if isinstance(tf, Transform):
        return Mat(4, 4, tf.scalar)
    raise OpTypeError("needs a transform")


def transform_compose(types: Sequence[Type]) -> Type:
    position, rotation, scale = types
    if isinstance(rotation, Quat) and position == scale == Vec(3, rotation.scalar):
        return Mat(4, 4, rotation.scalar)
    raise OpTypeError("needs a position, a rotation and a scale of one scalar type")


def spatial_vector(types: Sequence[Type]) -> Type:
    if tuple(types) == (Vec(3, FLOAT32), Vec(3, FLOAT32)):
        return Vec(6, FLOAT32)
    raise OpTypeError("needs two float32 vectors of 3")


def half_of_spatial(types: Sequence[Type]) -> Type:
    (s,) = types
    if isinstance(s, Vec) and is_spatial(s):
        return Vec(3, s.scalar)
    raise OpTypeError("needs a float vector of 6")


def spatial_adjoint(types: Sequence[Type]) -> Type:
    r, s = types
    if isinstance(r, Mat) and r == s and r.shape == (3, 3) and r.scalar.is_float:
        return Mat(6, 6, r.scalar)
    raise OpTypeError("needs two float matrices of 3 by 3")


def moved_spatial(types: Sequence[Type]) -> Type:
    if tuple(types) == (Transform(FLOAT32), Vec(6, FLOAT32)):
        return types[1]
    raise OpTypeError("needs a float32 transform and vector of 6")


def velocity_at_point(types: Sequence[Type]) -> Type:
    if tuple(types) == (Vec(6, FLOAT32), Vec(3, FLOAT32)):
        return types[1]
    raise OpTypeError("needs a float32 vector of 6 and one of 3")
