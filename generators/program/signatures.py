"""Type rules of the ops: each takes the argument types and returns the result's, or raises.

They are small and few, so that an entry in the table of ops reads as one line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.program.dtypes import (
    BOOL,
    FLOAT32,
    INT32,
    Array,
    Mat,
    Quat,
    Scalar,
    Transform,
    Type,
    Vec,
)

Signature = Callable[[Sequence[Type]], Type]


class OpTypeError(TypeError):
    """An op was given arguments of types that it does not take: a mistake in an idiom."""


def is_float(t: Type) -> bool:
    return isinstance(t, Scalar) and t.is_float


def is_int(t: Type) -> bool:
    return isinstance(t, Scalar) and t.is_int


def is_number(t: Type) -> bool:
    return isinstance(t, Scalar) and t.name != "bool"


def is_vec(t: Type) -> bool:
    return isinstance(t, Vec)


def is_float32_vec(t: Type) -> bool:
    return isinstance(t, Vec) and t.scalar == FLOAT32


def is_mat(t: Type) -> bool:
    return isinstance(t, Mat)


def is_square(t: Type) -> bool:
    return isinstance(t, Mat) and t.rows == t.cols


def is_float_vec_or_quat(t: Type) -> bool:
    return isinstance(t, Vec | Quat) and t.scalar.is_float


def is_linear(t: Type) -> bool:
    return is_number(t) or isinstance(t, Vec | Mat | Quat)


def same(*allowed: Callable[[Type], bool]) -> Signature:
    def signature(types: Sequence[Type]) -> Type:
        first = types[0]
        if any(t != first for t in types) or not any(test(first) for test in allowed):
            raise OpTypeError("needs arguments of one fitting type")
        return first

    return signature


def compare(types: Sequence[Type]) -> Type:
    same(is_number)(types)
    return BOOL


def equal(types: Sequence[Type]) -> Type:
    same(is_int, lambda t: t == BOOL)(types)
    return BOOL


def logic(types: Sequence[Type]) -> Type:
    if any(t != BOOL for t in types):
        raise OpTypeError("needs bools")
    return BOOL


def scalar_result(*allowed: Callable[[Type], bool]) -> Signature:
    def signature(types: Sequence[Type]) -> Type:
        composite = same(*allowed)(types)
        if not isinstance(composite, Vec | Mat | Quat):
            raise OpTypeError("needs a composite type")
        return composite.scalar

    return signature


def mul(types: Sequence[Type]) -> Type:
    a, b = types
    if is_number(a) and a == b:
        return a
    if isinstance(a, Scalar) and isinstance(b, Vec | Mat | Quat) and b.scalar == a:
        return b
    if isinstance(b, Scalar) and isinstance(a, Vec | Mat | Quat) and a.scalar == b:
        return a
    if isinstance(a, Mat) and isinstance(b, Vec) and (a.cols, a.scalar) == (b.size, b.scalar):
        return Vec(a.rows, a.scalar)
    if isinstance(a, Mat) and isinstance(b, Mat) and (a.cols, a.scalar) == (b.rows, b.scalar):
        return Mat(a.rows, b.cols, a.scalar)
    if isinstance(a, Quat | Transform) and a == b:
        return a
    raise OpTypeError("no such product")


def div(types: Sequence[Type]) -> Type:
    a, b = types
    if is_float(b) and (a == b or (isinstance(a, Vec | Mat) and a.scalar == b)):
        return a
    raise OpTypeError("needs floats, or a float vector or matrix by its scalar")


def where(types: Sequence[Type]) -> Type:
    condition, a, b = types
    if condition != BOOL or a != b:
        raise OpTypeError("needs a bool and two values of one type")
    return a


def lerp(types: Sequence[Type]) -> Type:
    a, b, t = types
    if a == b and is_float(t) and (a == t or (isinstance(a, Vec) and a.scalar == t)):
        return a
    raise OpTypeError("needs two values of one type and their scalar")


def shift(types: Sequence[Type]) -> Type:
    return same(is_int)(types)


def cross(types: Sequence[Type]) -> Type:
    vec = same(is_vec)(types)
    if not isinstance(vec, Vec) or vec.size != 3 or not vec.scalar.is_float:
        raise OpTypeError("needs two float vectors of 3")
    return vec


def transpose(types: Sequence[Type]) -> Type:
    (m,) = types
    if not isinstance(m, Mat):
        raise OpTypeError("needs a matrix")
    return Mat(m.cols, m.rows, m.scalar)


def outer(types: Sequence[Type]) -> Type:
    a, b = types
    if isinstance(a, Vec) and isinstance(b, Vec) and a.scalar == b.scalar:
        return Mat(a.size, b.size, a.scalar)
    raise OpTypeError("needs two vectors of one scalar type")


def skew(types: Sequence[Type]) -> Type:
    (v,) = types
    if isinstance(v, Vec) and v.size == 3:
        return Mat(3, 3, v.scalar)
    raise OpTypeError("needs a vector of 3")


def diag(types: Sequence[Type]) -> Type:
    (v,) = types
    if isinstance(v, Vec):
        return Mat(v.size, v.size, v.scalar)
    raise OpTypeError("needs a vector")


def float_square(types: Sequence[Type]) -> Type:
    (m,) = types
    if isinstance(m, Mat) and m.rows == m.cols and 2 <= m.rows <= 4 and m.scalar.is_float:
        return m
    raise OpTypeError("needs a square float matrix of 2 to 4 rows")


def determinant(types: Sequence[Type]) -> Type:
    m = float_square(types)
    assert isinstance(m, Mat)
    return m.scalar


def norm_with_delta(types: Sequence[Type]) -> Type:
    v, delta = types
    if is_float32_vec(v) and delta == FLOAT32:
        return FLOAT32
    raise OpTypeError("needs a float32 vector and a float32")


def vec_with_delta(types: Sequence[Type]) -> Type:
    norm_with_delta(types)
    return types[0]


def get_diag(types: Sequence[Type]) -> Type:
    (m,) = types
    if isinstance(m, Mat) and m.rows == m.cols:
        return Vec(m.rows, m.scalar)
    raise OpTypeError("needs a square matrix")


def from_vecs(*, rows: bool) -> Signature:
    def signature(types: Sequence[Type]) -> Type:
        vec = types[0]
        if len(types) < 2 or not isinstance(vec, Vec) or any(t != vec for t in types):
            raise OpTypeError("needs two or more vectors of one type")
        shape = (len(types), vec.size) if rows else (vec.size, len(types))
        return Mat(*shape, vec.scalar)

    return signature


def to_int32(*allowed: Callable[[Type], bool]) -> Signature:
    def signature(types: Sequence[Type]) -> Type:
        same(*allowed)(types)
        return INT32

    return signature


def to_uint32(*allowed: Callable[[Type], bool]) -> Signature:
    def signature(types: Sequence[Type]) -> Type:
        same(*allowed)(types)
        return Scalar("uint32")

    return signature


def lower_bound(types: Sequence[Type]) -> Type:
    keys, value = types
    if isinstance(keys, Array) and keys.ndim == 1 and is_number(value) and keys.element == value:
        return INT32
    raise OpTypeError("needs a one-dimensional array and a value of its element type")


def rand_init(types: Sequence[Type]) -> Type:
    if any(t != INT32 for t in types):
        raise OpTypeError("needs a seed and an offset, both int32")
    return Scalar("uint32")


def given(types: Sequence[Type]) -> Type:
    raise OpTypeError("has no arguments to tell its type by: build the node with its type")


float_args = same(is_float)
number = same(is_number)
number_or_vec = same(is_number, is_vec)
int_args = same(is_int)
linear = same(is_linear)
float_vec = same(lambda t: isinstance(t, Vec) and t.scalar.is_float)
unit = same(is_float_vec_or_quat)
