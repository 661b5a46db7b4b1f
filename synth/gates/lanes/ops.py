"""The ops over lanes: one entry an op. Composite values have their components first, lanes last.

Signed overflow, bad shifts and domain errors are rejected; the interpreter rounds afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erf, erfc, pi
from typing import Any

import numpy as np

from generators.build.draw import Reject
from generators.program.dtypes import FLOATS, Mat, Quat, Scalar, Transform, Type, Vec, scalar_of
from generators.program.expr import Op
from synth.gates.lanes.rigid import (
    RIGID_RULES,
    not_rotation,
    not_unit,
    quat_multiply,
    transform_multiply,
)
from synth.gates.lanes.samplers import rand_init
from synth.gates.lanes.values import Mask, Values, any_active
from synth.reasons import GateReason

Rule = Callable[..., Values]

_erf = np.vectorize(erf, otypes=[np.float64])
_erfc = np.vectorize(erfc, otypes=[np.float64])


def _matmul(a: Values, b: Values) -> Values:
    if b.ndim == 2:
        return np.einsum("ijl,jl->il", a, b)
    return np.einsum("ijl,jkl->ikl", a, b)


def _multiply(node: Op, a: Values, b: Values) -> Values:
    kinds = tuple(type(arg.type) for arg in node.args)
    if kinds[0] is Mat and kinds[1] in (Vec, Mat):
        return _matmul(a, b)
    if kinds == (Quat, Quat):
        return quat_multiply(a, b)
    if kinds == (Transform, Transform):
        return transform_multiply(a, b)
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


def _round_half_away(x: Values) -> Values:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x), whole)


def _bit_count(node: Op, x: Values) -> Values:
    bits = scalar_of(node.args[0].type).bits
    count = np.zeros(x.shape, np.int64)
    for k in range(bits):
        count += ((x >> x.dtype.type(k)) & x.dtype.type(1)).astype(np.int64)
    return count


def _newton(start: Values, excess: Callable[[Values], Values]) -> Values:
    """Newton's method on a function whose slope is 2 / sqrt(pi) * exp(-x^2)."""
    x = start
    for _ in range(6):
        x = x - excess(x) / (2.0 / np.sqrt(pi) * np.exp(-x * x))
    return x


def _erf_guess(y: Values) -> Values:
    """Winitzki's approximation of the inverse error function, good to three digits."""
    a = 0.147
    logarithm = np.log((1.0 - y) * (1.0 + y))
    half = 2.0 / (pi * a) + 0.5 * logarithm
    return np.copysign(np.sqrt(np.sqrt(half * half - logarithm / a) - half), y)


def _erfinv(y: Values) -> Values:
    return _newton(_erf_guess(y), lambda x: _erf(x) - y)


def _erfcinv(y: Values) -> Values:
    return _newton(_erf_guess(1.0 - y), lambda x: y - _erfc(x))


def _huber(v: Values, delta: Values) -> Values:
    size = _length(v)
    return np.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta))


def _pseudo_huber(v: Values, delta: Values) -> Values:
    return delta * np.sqrt(1.0 + (v * v).sum(0) / (delta * delta))


def _diag(v: Values) -> Values:
    return np.eye(v.shape[0], dtype=v.dtype)[..., None] * v[:, None, :]


def _skew(v: Values) -> Values:
    zero = np.zeros_like(v[0])
    x, y, z = v
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


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
    "round": _round_half_away,
    "frac": lambda x: x - np.trunc(x),
    "step": lambda x: np.where(x < 0, 1.0, 0.0),
    "nonzero": lambda x: (x != 0).astype(x.dtype),
    "copysign": np.copysign,
    "erfinv": _erfinv,
    "erfcinv": _erfcinv,
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
    "argmin": lambda v: np.argmin(v, axis=0),
    "argmax": lambda v: np.argmax(v, axis=0),
    "min_element": lambda v: v.min(0),
    "max_element": lambda v: v.max(0),
    "norm_l1": lambda v: np.abs(v).sum(0),
    "norm_l2": _length,
    "norm_huber": _huber,
    "norm_pseudo_huber": _pseudo_huber,
    "smooth_normalize": lambda v, delta: v / _pseudo_huber(v, delta),
    "get_diag": lambda m: np.einsum("iil->il", m).copy(),
    "matrix_from_rows": lambda *rows: np.stack(rows),
    "matrix_from_cols": lambda *cols: np.stack(cols, axis=1),
    "rand_init": rand_init,
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
    **RIGID_RULES,
}


def _of_values(rule: Rule) -> Rule:
    return lambda _node, *args: rule(*args)


LANE_OPS: dict[str, Rule] = {
    "mul": _multiply,
    "bit_count": _bit_count,
    **{name: _of_values(rule) for name, rule in _SIMPLE.items()},
}
"""Each rule takes the node and the values of its arguments and returns fresh results."""


_SHORTEST_SQUARED = {"float16": 1e-3, "float32": 1e-12, "float64": 1e-12}
"""Of 16 bits, because the squares of a shorter vector underflow there."""

_DOMAINS: dict[str, Callable[[Values, Type], Values]] = {
    "nonzero": lambda x, _: x == 0,
    "positive": lambda x, _: x <= 0,
    "nonnegative": lambda x, _: x < 0,
    "unit": lambda x, _: np.abs(x) > 1,
    "inside_one": lambda x, _: np.abs(x) > 0.9999,
    "inside_two": lambda x, _: np.abs(x - 1.0) > 0.9999,
    "rotation": not_rotation,
    "shift": lambda x, t: (x < 0) | (x >= t.bits if isinstance(t, Scalar) else False),
    "length": lambda v, t: (v * v).sum(0) < _SHORTEST_SQUARED[scalar_of(t).name],
    "unit_length": not_unit,
    "rigid": lambda transform, t: not_unit(transform[3:], t),
}


_DOMAINS_BY_TYPE: dict[tuple[str, type[Type]], tuple[str, ...]] = {
    ("mul", Transform): ("rigid", "rigid"),
}


BETWEEN: dict[str, Callable[..., Values]] = {
    "smoothstep": lambda edge0, edge1, _: edge0 == edge1,
    "atan2": lambda y, x: (y == 0) & (x <= 0),
}
"""Ops that are not defined where arguments stand in this relation. Of `atan2` the sign of a zero
would decide between 0, pi and -pi, and compilers may choose that."""


def domain_of(node: Op, domain: tuple[str, ...]) -> tuple[str, ...]:
    """What an op asks of its arguments; an operator asks it of some types alone."""
    return domain or _DOMAINS_BY_TYPE.get((node.op, type(node.type)), ())


def check_domain(node: Op, domain: tuple[str, ...], args: list[Any], mask: Mask) -> None:
    """Reject an argument outside the op's domain in an active lane."""
    for name, value, arg in zip(domain or ("",) * len(args), args, node.args, strict=True):
        if name and any_active(_DOMAINS[name](value, arg.type), mask):
            raise Reject(GateReason.DOMAIN_ERROR, f"{node.op}: {name}")
    if node.op in BETWEEN and any_active(BETWEEN[node.op](*args), mask):
        raise Reject(GateReason.DOMAIN_ERROR, f"{node.op}: arguments")


_PRODUCTS_OF = {"determinant": 4, "inverse": 4}
_MOST = {
    (name, count): 0.05 * float(np.finfo(name).max) ** (1.0 / count)
    for name in FLOATS
    for count in (2, 4)
}
"""Largest component by type and factors of a product, so that no intermediate sum overflows."""


def check_size(node: Op, args: list[Any], mask: Mask) -> None:
    """Reject components whose products overflow on the way to a result that may not."""
    count = _PRODUCTS_OF.get(node.op, 2)
    for value, arg in zip(args, node.args, strict=True):
        scalar = scalar_of(arg.type)
        if scalar.is_float and any_active(np.abs(value) > _MOST[scalar.name, count], mask):
            raise Reject(GateReason.NOT_FINITE, f"{node.op}: overflow on the way")
