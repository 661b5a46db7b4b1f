"""The ops over lanes: one entry an op. Composite values have their components first, lanes last.

Signed overflow, bad shifts and domain errors are rejected; the interpreter rounds afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erf, erfc, pi
from typing import Any

import numpy as np

from generators.draw import Reject
from generators.dtypes import Mat, Quat, Scalar, Transform, Type, Vec, scalar_of
from generators.expr import Op
from synth.lanes import VIRTUAL_ROUNDOFF, Mask, Values, any_active

Rule = Callable[..., Values]

_erf = np.vectorize(erf, otypes=[np.float64])
_erfc = np.vectorize(erfc, otypes=[np.float64])


def _matmul(a: Values, b: Values) -> Values:
    if b.ndim == 2:
        return np.einsum("ijl,jl->il", a, b)
    return np.einsum("ijl,jkl->ikl", a, b)


def _quat_multiply(a: Values, b: Values) -> Values:
    """Hamilton product of quaternions x, y, z, w."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3], axis=0)
    return np.concatenate([vector, (a[3] * b[3] - (a[:3] * b[:3]).sum(0))[None]])


def _rotate(q: Values, v: Values) -> Values:
    """v + 2 w (u x v) + 2 u x (u x v) for a unit quaternion (u, w)."""
    u_cross_v = np.cross(q[:3], v, axis=0)
    return v + 2.0 * (q[3] * u_cross_v + np.cross(q[:3], u_cross_v, axis=0))


def _conjugate(q: Values) -> Values:
    return np.concatenate([-q[:3], q[3:]])


def _transform_multiply(a: Values, b: Values) -> Values:
    position = a[:3] + _rotate(a[3:], b[:3])
    return np.concatenate([position, _quat_multiply(a[3:], b[3:])])


def _transform_inverse(t: Values) -> Values:
    inverse = _conjugate(t[3:])
    return np.concatenate([-_rotate(inverse, t[:3]), inverse])


def _multiply(node: Op, a: Values, b: Values) -> Values:
    kinds = tuple(type(arg.type) for arg in node.args)
    if kinds[0] is Mat and kinds[1] in (Vec, Mat):
        return _matmul(a, b)
    if kinds == (Quat, Quat):
        return _quat_multiply(a, b)
    if kinds == (Transform, Transform):
        return _transform_multiply(a, b)
    return a * b


def mixes_components(node: Op) -> bool:
    """Whether this product sums over components."""
    return not any(isinstance(a.type, Scalar) for a in node.args)


def _length(v: Values) -> Values:
    return np.sqrt((v * v).sum(0))


def _lanes_first(m: Values) -> Values:
    return np.moveaxis(m, -1, 0)


def _inverse(m: Values) -> Values:
    first = _lanes_first(m)
    singular = np.abs(np.linalg.det(first)) < 1e-9
    if singular.any():
        first = np.where(singular[:, None, None], np.eye(m.shape[0]), first)
    inverse = np.moveaxis(np.linalg.inv(first), 0, -1)
    inverse[..., singular] = np.nan
    return inverse


def _diag(v: Values) -> Values:
    return np.eye(v.shape[0])[..., None] * v[:, None, :]


def _skew(v: Values) -> Values:
    zero = np.zeros_like(v[0])
    x, y, z = v
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def _axis_angle(axis: Values, angle: Values) -> Values:
    half = 0.5 * angle
    return np.concatenate([axis * np.sin(half), np.cos(half)[None]])


def _quat_matrix(q: Values) -> Values:
    basis = np.eye(3)
    columns = [_rotate(q, np.broadcast_to(basis[:, k : k + 1], q[:3].shape)) for k in range(3)]
    return np.stack(columns, axis=1)


def _smoothstep(edge0: Values, edge1: Values, x: Values) -> Values:
    t = np.clip((x - edge0) / (edge1 - edge0), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


_SIMPLE: dict[str, Rule] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "neg": lambda a: -a,
    "bit_and": lambda a, b: a & b,
    "bit_or": lambda a, b: a | b,
    "bit_xor": lambda a, b: a ^ b,
    "invert": lambda a: ~a,
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "not": lambda a: ~a,
    "where": np.where,
    "min": np.minimum,
    "max": np.maximum,
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "abs": np.abs,
    "sign": lambda x: np.where(x < 0, -1.0, 1.0),
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "trunc": np.trunc,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "exp": np.exp,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "pow": np.power,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": _erf,
    "erfc": _erfc,
    "degrees": lambda x: x * (180.0 / pi),
    "radians": lambda x: x * (pi / 180.0),
    "lerp": lambda a, b, t: a * (1.0 - t) + b * t,
    "smoothstep": _smoothstep,
    "dot": lambda a, b: (a * b).sum(0),
    "cross": lambda a, b: np.cross(a, b, axis=0),
    "length": _length,
    "length_sq": lambda v: (v * v).sum(0),
    "normalize": lambda v: v / _length(v),
    "cw_mul": lambda a, b: a * b,
    "cw_div": lambda a, b: a / b,
    "outer": lambda a, b: a[:, None, :] * b[None, :, :],
    "skew": _skew,
    "diag": _diag,
    "transpose": lambda m: np.swapaxes(m, 0, 1).copy(),
    "trace": lambda m: np.einsum("iil->l", m),
    "ddot": lambda a, b: (a * b).sum((0, 1)),
    "determinant": lambda m: np.linalg.det(_lanes_first(m)),
    "inverse": _inverse,
    "quat_from_axis_angle": _axis_angle,
    "quat_inverse": _conjugate,
    "quat_rotate": _rotate,
    "quat_rotate_inv": lambda q, v: _rotate(_conjugate(q), v),
    "quat_to_matrix": _quat_matrix,
    "transform_point": lambda t, v: t[:3] + _rotate(t[3:], v),
    "transform_vector": lambda t, v: _rotate(t[3:], v),
    "transform_inverse": _transform_inverse,
    "transform_get_translation": lambda t: t[:3].copy(),
    "transform_get_rotation": lambda t: t[3:].copy(),
}


def _of_values(rule: Rule) -> Rule:
    return lambda _node, *args: rule(*args)


LANE_OPS: dict[str, Rule] = {
    "mul": _multiply,
    **{name: _of_values(rule) for name, rule in _SIMPLE.items()},
}
"""Each rule takes the node and the values of its arguments and returns fresh results."""


def _not_unit(q: Values, type_: Type) -> Values:
    """Formulas for rotations differ between libraries unless the length is 1 up to rounding."""
    roundoff = max(scalar_of(type_).unit_roundoff, VIRTUAL_ROUNDOFF)
    return np.abs((q * q).sum(0) - 1.0) > 32.0 * roundoff


_DOMAINS: dict[str, Callable[[Values, Type], Values]] = {
    "nonzero": lambda x, _: x == 0,
    "positive": lambda x, _: x <= 0,
    "nonnegative": lambda x, _: x < 0,
    "unit": lambda x, _: np.abs(x) > 1,
    "shift": lambda x, t: (x < 0) | (x >= t.bits if isinstance(t, Scalar) else False),
    "length": lambda v, _: (v * v).sum(0) < 1e-12,
    "unit_length": _not_unit,
    "rigid": lambda transform, t: _not_unit(transform[3:], t),
}


def check_domain(node: Op, domain: tuple[str, ...], args: list[Any], mask: Mask) -> None:
    """Reject an argument outside the op's domain in an active lane."""
    for name, value, arg in zip(domain, args, node.args, strict=True):
        if name and any_active(_DOMAINS[name](value, arg.type), mask):
            raise Reject("domain_error", f"{node.op}: {name}")
