"""What is known of an op's result from what is known of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import atan, ceil, exp, floor, inf, pi, sqrt, tanh, trunc

from generators.program.dtypes import Mat, Quat, Scalar, Transform, Type, scalar_of
from generators.program.expr import Op
from synth.render.ranges.known import (
    ANY,
    Interval,
    Known,
    Value,
    joined,
    largest_size,
    least_size,
    limits_of,
    made,
    monotone,
    product,
    quotient,
    scaled,
    square,
    total,
    unit,
    unknown,
    widened,
)
from synth.render.ranges.rigid import RIGID_RULES

Rule = Callable[[Op, Sequence[Known]], Value]


def result_of(node: Op, args: Sequence[Value]) -> Value:
    """Of an op applied to such arguments; nothing is known of what has no rule."""
    if node.op == "where":
        return joined(args[1], args[2])
    rule = _RULES.get(node.op)
    if rule is None or any(isinstance(a, dict) for a in args):
        return unknown(node.type)
    return rule(node, args)  # type: ignore[arg-type]


def _each(parts: Sequence[Interval], type_: Type, norm: Interval = (0.0, inf)) -> Known:
    """A result part by part, each rounded."""
    found = [widened(p, type_) for p in parts]
    return made(found, type_, norm) if scalar_of(type_).is_float else Known(tuple(found))


def _sum(node: Op, args: Sequence[Known]) -> Value:
    a, b = args
    sign = -1.0 if node.op == "sub" else 1.0
    parts = [_plus(p, q, sign) for p, q in zip(a.parts, b.parts, strict=True)]
    if isinstance(node.type, Mat):
        dominated = node.op == "add" and a.dominated and b.dominated
        return Known(tuple(widened(p, node.type) for p in parts), dominated=dominated)
    low = max(0.0, a.norm[0] - b.norm[1], b.norm[0] - a.norm[1])
    if not scalar_of(node.type).is_float or isinstance(node.type, Transform):
        return _each(parts, node.type)
    return _each(parts, node.type, _loose((low, a.norm[1] + b.norm[1]), node.type, args))


def _plus(p: Interval, q: Interval, sign: float) -> Interval:
    return (p[0] + q[0], p[1] + q[1]) if sign > 0 else (p[0] - q[1], p[1] - q[0])


def _loose(norm: Interval, type_: Type, args: Sequence[Known]) -> Interval:
    """A length whose parts were rounded relative to those of the arguments."""
    size = sum(a.norm[1] for a in args)
    if size == inf:
        return 0.0, norm[1]
    low, high = widened(norm, type_, extra=size * limits_of(type_).slack)
    return max(0.0, low), high


def _product(node: Op, args: Sequence[Known]) -> Value:
    a, b = args
    left, right = (x.type for x in node.args)
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        same = node.args[0] == node.args[1]
        return _each([square(a.only) if same else product(a.only, b.only)], node.type)
    if isinstance(left, Scalar) or isinstance(right, Scalar):
        factor, whole = (a, b) if isinstance(left, Scalar) else (b, a)
        parts = [product(factor.only, p) for p in whole.parts]
        if isinstance(node.type, Mat):
            dominated = whole.dominated and factor.only[0] > 0
            return Known(tuple(widened(p, node.type) for p in parts), dominated=dominated)
        if not scalar_of(node.type).is_float:
            return _each(parts, node.type)
        size = (least_size(factor.only), largest_size(factor.only))
        return _each(parts, node.type, scaled(product(size, whole.norm), node.type))
    return _algebra(node, a, b)


def _algebra(node: Op, a: Known, b: Known) -> Value:
    """Products of quaternions and of transforms multiply the lengths of rotations."""
    if isinstance(node.type, Quat | Transform):
        norm = scaled(product(a.norm, b.norm), node.type)
        found = unknown(node.type)
        assert isinstance(found, Known)
        parts = list(found.parts)
        parts[-4:] = [(-norm[1], norm[1])] * 4
        return Known(tuple(parts), norm)
    return unknown(node.type)


def _quotient(node: Op, args: Sequence[Known]) -> Value:
    a, b = args
    if len(b.parts) > 1 or len(a.parts) == 1:
        return _each([quotient(p, q) for p, q in zip(a.parts, b.parts, strict=True)], node.type)
    size = (least_size(b.only), largest_size(b.only))
    norm = quotient(a.norm, size)
    norm = scaled(norm, node.type) if norm != ANY else (0.0, inf)
    return _each([quotient(p, b.only) for p in a.parts], node.type, norm)


def _negated(node: Op, args: Sequence[Known]) -> Value:
    (a,) = args
    if scalar_of(node.type).is_unsigned:
        return unknown(node.type)
    return Known(tuple((-high, -low) for low, high in a.parts), a.norm)


def _size(node: Op, args: Sequence[Known]) -> Value:
    (a,) = args
    return Known(tuple((least_size(p), largest_size(p)) for p in a.parts), a.norm)


def _extreme(choose: Callable[[float, float], float]) -> Rule:
    def rule(node: Op, args: Sequence[Known]) -> Value:
        pairs = zip(args[0].parts, args[1].parts, strict=True)
        return _each_exact([(choose(p[0], q[0]), choose(p[1], q[1])) for p, q in pairs], node.type)

    return rule


def _each_exact(parts: Sequence[Interval], type_: Type) -> Known:
    return made(parts, type_) if scalar_of(type_).is_float else Known(tuple(parts))


def _clamp(node: Op, args: Sequence[Known]) -> Value:
    x, low, high = (a.only for a in args)
    ends = tuple(min(max(x[k], low[k]), high[k]) for k in (0, 1))
    return _each_exact([(ends[0], ends[1])], node.type)


def _bounded(low: float, high: float) -> Rule:
    """A function of one number that stays between two values, up to its error."""

    def rule(node: Op, args: Sequence[Known]) -> Value:
        if largest_size(args[0].only) == inf:
            return unknown(node.type)
        return _each([(low, high)], node.type)

    return rule


def _growing(function: Callable[[float], float], floor_: float = -inf, exact: bool = False) -> Rule:
    """A growing function of one number, defined from ``floor_`` on."""

    def rule(node: Op, args: Sequence[Known]) -> Value:
        low, high = args[0].only
        if high < floor_:
            return unknown(node.type)
        ends = monotone(function, (max(low, floor_), high))
        return _each_exact([ends], node.type) if exact else _each([ends], node.type)

    return rule


def _exp(x: float) -> float:
    return 0.0 if x == -inf else exp(x)


def _sign(node: Op, args: Sequence[Known]) -> Value:
    low, high = args[0].only
    return made([(-1.0 if low < 0 else 1.0, 1.0 if high >= 0 else -1.0)], node.type)


def _dot(node: Op, args: Sequence[Known]) -> Value:
    a, b = args
    if node.args[0] == node.args[1]:
        return _squares(node, args[:1])
    terms = [product(p, q) for p, q in zip(a.parts, b.parts, strict=True)]
    if not scalar_of(node.type).is_float:
        return _each([total(terms)], node.type)
    extra = sum(largest_size(t) for t in terms) * limits_of(node.type).slack
    return Known((widened(total(terms), node.type, extra),), (0.0, inf))


def _squares(node: Op, args: Sequence[Known]) -> Value:
    (a,) = args
    if not scalar_of(node.type).is_float:
        return _each([total([square(p) for p in a.parts])], node.type)
    return _each([square(a.norm)], node.type)


def _length(node: Op, args: Sequence[Known]) -> Value:
    low, high = args[0].norm
    low = low if low > limits_of(node.type).least else 0.0
    return _each([(low, high)], node.type)


def is_never_zero(value: Value, type_: Type) -> bool:
    """Whether a vector's or quaternion's length, as computed, is more than zero."""
    return isinstance(value, Known) and value.norm[0] > limits_of(type_).least


def _normalize(node: Op, args: Sequence[Known]) -> Value:
    found = unit(node.type)
    # The identity stands for a quaternion of length zero.
    if is_never_zero(args[0], node.type) or isinstance(node.type, Quat):
        return found
    return Known(found.parts, (0.0, found.norm[1]))


def _slice(start: int, stop: int) -> Rule:
    def rule(node: Op, args: Sequence[Known]) -> Value:
        norm = args[0].norm if isinstance(node.type, Quat) else (0.0, inf)
        return made(args[0].parts[start:stop], node.type, norm)

    return rule


def _of_parts(choose: Callable[..., float]) -> Rule:
    def rule(node: Op, args: Sequence[Known]) -> Value:
        parts = args[0].parts
        return _each_exact([(choose(p[0] for p in parts), choose(p[1] for p in parts))], node.type)

    return rule


def _cross(node: Op, args: Sequence[Known]) -> Value:
    high = args[0].norm[1] * args[1].norm[1] * (1 + 8 * limits_of(node.type).slack)
    if high != high or high == inf:
        return unknown(node.type)
    return Known(((-high, high),) * 3, (0.0, high))


def _by_parts(rule: Callable[[Interval, Interval], Interval]) -> Rule:
    def found(node: Op, args: Sequence[Known]) -> Value:
        pairs = zip(args[0].parts, args[1].parts, strict=True)
        return _each([rule(p, q) for p, q in pairs], node.type)

    return found


def _identity(node: Op, args: Sequence[Known]) -> Value:
    if isinstance(node.type, Mat):
        ends = [float(i == j) for i in range(node.type.rows) for j in range(node.type.cols)]
        return Known(tuple((x, x) for x in ends), dominated=True)
    zeros = 3 if isinstance(node.type, Quat) else 6
    return Known(((0.0, 0.0),) * zeros + ((1.0, 1.0),), (1.0, 1.0))


def _diagonal(node: Op, args: Sequence[Known]) -> Value:
    assert isinstance(node.type, Mat)
    size = range(node.type.rows)
    parts = tuple(args[0].parts[i] if i == j else (0.0, 0.0) for i in size for j in size)
    return Known(parts, dominated=all(p[0] > 0 for p in args[0].parts))


def _transposed(node: Op, args: Sequence[Known]) -> Value:
    assert isinstance(node.type, Mat)
    rows, cols = node.type.rows, node.type.cols
    parts = [args[0].parts[j * rows + i] for i in range(rows) for j in range(cols)]
    return Known(tuple(parts), dominated=args[0].dominated)


def _stacked(node: Op, args: Sequence[Known]) -> Value:
    return Known(tuple(p for a in args for p in a.parts))


def _remainder(node: Op, args: Sequence[Known]) -> Value:
    """Of a whole number that is not negative by a positive one."""
    (low, high), (_, most) = args[0].only, args[1].only
    if low < 0 or most < 1:
        return unknown(node.type)
    return Known(((0.0, min(high, most - 1)),))


def _divided(node: Op, args: Sequence[Known]) -> Value:
    a, b = args[0].only, args[1].only
    if a[0] < 0 or b[0] < 1:
        return unknown(node.type)
    down = _whole_number(floor)
    low, high = quotient(a, b)
    return Known(((down(low), down(high)),))


def _masked(node: Op, args: Sequence[Known]) -> Value:
    """Bits of two numbers that are not negative: no more than the smaller."""
    a, b = args[0].only, args[1].only
    if a[0] < 0 or b[0] < 0:
        return unknown(node.type)
    return Known(((0.0, min(a[1], b[1])),))


def _whole_number(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: x if abs(x) == inf else float(function(x))


_RULES: dict[str, Rule] = {
    **dict.fromkeys(("add", "sub"), _sum),
    "mul": _product,
    "div": _quotient,
    "neg": _negated,
    "abs": _size,
    "min": _extreme(min),
    "max": _extreme(max),
    "clamp": _clamp,
    "mod": _remainder,
    "floordiv": _divided,
    "bit_and": _masked,
    "sqrt": _growing(lambda x: sqrt(x) if x < inf else inf, 0.0),
    "exp": _growing(_exp),
    "atan": _growing(lambda x: atan(x)),
    "tanh": _growing(tanh),
    **{
        name: _growing(_whole_number(f), exact=True)
        for name, f in (("floor", floor), ("ceil", ceil), ("rint", round), ("trunc", trunc))
    },
    **dict.fromkeys(("sin", "cos"), _bounded(-1.0, 1.0)),
    "atan2": _bounded(-pi, pi),
    "asin": _bounded(-pi / 2, pi / 2),
    "acos": _bounded(0.0, pi),
    "frac": _bounded(-1.0, 1.0),
    "sign": _sign,
    "step": _bounded(0.0, 1.0),
    "nonzero": _bounded(0.0, 1.0),
    **dict.fromkeys(("dot", "spatial_dot"), _dot),
    "length_sq": _squares,
    **dict.fromkeys(("length", "norm_l2"), _length),
    "normalize": _normalize,
    "cross": _cross,
    "cw_mul": _by_parts(product),
    "cw_div": _by_parts(quotient),
    "min_element": _of_parts(min),
    "max_element": _of_parts(max),
    **dict.fromkeys(("identity", "quat_identity", "transform_identity"), _identity),
    "matrix_from_rows": _stacked,
    "diag": _diagonal,
    "transpose": _transposed,
    "spatial_vector": _stacked,
    "spatial_top": _slice(0, 3),
    "spatial_bottom": _slice(3, 6),
    "transform_get_translation": _slice(0, 3),
    "transform_get_rotation": _slice(3, 7),
    "transform_multiply": lambda node, args: _algebra(node, *args),
    **RIGID_RULES,
}


def constructed(type_: Type, args: Sequence[Known], count: int) -> Known:
    """A vector, matrix, quaternion or transform of ``count`` scalars from its parts."""
    parts = tuple(p for a in args for p in a.parts)
    parts = parts * count if len(parts) == 1 and count > 1 else parts
    if not scalar_of(type_).is_float:
        return Known(parts)
    norm = args[1].norm if isinstance(type_, Transform) else (0.0, inf)
    return made(parts, type_, norm)
