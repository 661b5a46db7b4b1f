"""The adjoint of each op: one entry an op, from a cotangent to a term for each argument.

An entry takes the arguments, the result and the cotangent of the result and gives, in the order of
the arguments, the terms to be added to their adjoints, None for one that carries none. Derivatives
are those of calculus; where one is not defined they are those of PyTorch (0 for ``abs``, ``sign``
and a ReLU at 0, the cotangent for ``clamp`` and other bounds that are numbers), but where both
operands of ``min`` or ``max`` are variable and equal the first one takes all (PyTorch halves it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, pi, sqrt

from generators.program.dtypes import Mat, Quat, Scalar, Type, Vec, scalar_of
from generators.program.expr import Component, Const, Construct, Expr, literal, op
from generators.program.ops import OPS
from synth.gradient.terms import (
    Undifferentiable,
    chosen,
    minus,
    negated,
    over,
    plus,
    times,
    transposed,
    zero,
)
from synth.gradient.vjp_rigid import RIGID_VJPS, Terms, Vjp


def _mul(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    a, b = args
    if a == b and isinstance(a.type, Scalar):
        return [times(times(literal(2.0, a.type), g), a), None]
    if isinstance(a.type, Quat) and isinstance(b.type, Quat):
        # Of the inner product of four numbers: that of g with a b is that of g conj(b) with a.
        return [op("mul", g, op("quat_inverse", b)), op("mul", op("quat_inverse", a), g)]
    if isinstance(a.type, Scalar):
        return (
            [_inner(g, b), times(g, a)]
            if not isinstance(b.type, Scalar)
            else [
                times(g, b),
                times(g, a),
            ]
        )
    if isinstance(b.type, Scalar):
        return [times(g, b), _inner(g, a)]
    if isinstance(b.type, Vec):
        return [op("outer", g, b), op("mul", transposed(a), g)]
    return [op("mul", g, transposed(b)), op("mul", transposed(a), g)]


def _inner(g: Expr, a: Expr) -> Expr:
    """The inner product of two composites of one type, or of two scalars."""
    if isinstance(a.type, Vec):
        return op("dot", g, a)
    if isinstance(a.type, Mat):
        return op("ddot", g, a)
    if isinstance(a.type, Scalar):
        return times(g, a)
    products = [times(_part(g, k), _part(a, k)) for k in range(4)]
    return plus(plus(plus(products[0], products[1]), products[2]), products[3])


def _part(v: Expr, *indices: int) -> Expr:
    if isinstance(v, Construct) and len(v.args) > 1 and not isinstance(v.type, Mat):
        return v.args[indices[0]]
    return v[indices if len(indices) > 1 else indices[0]]


def _div(args: Sequence[Expr], out: Expr, g: Expr) -> Terms:
    a, b = args
    by_b = over(times(negated(g), out), b) if isinstance(a.type, Scalar) else None
    if by_b is None:
        by_b = negated(over(_inner(g, out), b))
    return [over(g, b), by_b]


def _first_of(name: str, a: Expr, b: Expr) -> str:
    """The test by which the first of two is the result: a number is none where it is met, as in
    ``clamp``, but for the 0 of a ReLU, whose derivative there is 0."""
    numbers = [isinstance(one, Const) for one in (a, b)]
    is_relu = name == "max" and any(
        isinstance(one, Const) and float(one.value) == 0.0 for one in (a, b)
    )
    is_strict = numbers == [False, True] if is_relu else numbers == [True, False]
    return {"min": "lt", "max": "gt"}[name] if is_strict else {"min": "le", "max": "ge"}[name]


def _smallest(name: str) -> Vjp:
    def vjp(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
        a, b = args
        if not isinstance(a.type, Scalar):
            raise Undifferentiable(f"{name} of vectors")
        first = op(_first_of(name, a, b), a, b)
        nothing = zero(a.type)
        return [chosen(first, g, nothing), chosen(first, nothing, g)]

    return vjp


def _clamp(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    x, low, high = args
    nothing = zero(g.type)
    inside = op("and", op("ge", x, low), op("le", x, high))
    below, above = op("lt", x, low), op("gt", x, high)
    return [chosen(inside, g, nothing), chosen(below, g, nothing), chosen(above, g, nothing)]


def _unary(derivative: Callable[[Expr, Expr], Expr]) -> Vjp:
    """Of a scalar function, by its derivative as a function of argument and result."""

    def vjp(args: Sequence[Expr], out: Expr, g: Expr) -> Terms:
        if not isinstance(args[0].type, Scalar):
            raise Undifferentiable("a scalar function of a vector")
        return [times(g, derivative(args[0], out))]

    return vjp


def _divided(denominator: Callable[[Expr, Expr], Expr]) -> Vjp:
    """Of a scalar function whose derivative is one over something."""
    return lambda args, out, g: [over(g, denominator(args[0], out))]


def _pow(args: Sequence[Expr], out: Expr, g: Expr) -> Terms:
    a, b = args
    slope = times(b, op("pow", a, minus(b, literal(1.0, b.type))))
    return [times(g, slope), times(times(g, out), op("log", a))]


def _atan2(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    y, x = args
    square = x * x + y * y
    return [over(times(g, x), square), over(negated(times(g, y)), square)]


def _lerp(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    a, b, t = args
    return [times(g, 1.0 - t), times(g, t), _inner(g, op("sub", b, a))]


def _smoothstep(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    low, high, x = args
    span = high - low
    t = op("clamp", over(x - low, span), literal(0.0, x.type), literal(1.0, x.type))
    slope = over(times(g, 6.0 * t * (1.0 - t)), span)
    return [times(negated(slope), 1.0 - t), times(negated(slope), t), slope]


def _length(args: Sequence[Expr], out: Expr, g: Expr) -> Terms:
    # As PyTorch's norm: nothing at zero, where two points that are compared are one.
    inverse = chosen(op("gt", out, zero(out.type)), over(g, out), zero(out.type))
    return [times(inverse, args[0])]


def _length_sq(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    return [times(times(literal(2.0, g.type), g), args[0])]


def _normalize(args: Sequence[Expr], out: Expr, g: Expr) -> Terms:
    return [over(op("sub", g, times(_inner(g, out), out)), op("length", args[0]))]


def _determinant(args: Sequence[Expr], out: Expr, g: Expr) -> Terms:
    return [times(times(g, out), transposed(op("inverse", args[0])))]


def _inverse(args: Sequence[Expr], out: Expr, g: Expr) -> Terms:
    turned = transposed(out)
    return [op("neg", op("mul", op("mul", turned, g), turned))]


def _trace(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    (m,) = args
    assert isinstance(m.type, Mat)
    return [op("diag", Construct((g,), Vec(m.type.rows, m.type.scalar)))]


def _skew(_: Sequence[Expr], __: Expr, g: Expr) -> Terms:
    pairs = (((2, 1), (1, 2)), ((0, 2), (2, 0)), ((1, 0), (0, 1)))
    parts = tuple(minus(g[a], g[b]) for a, b in pairs)
    return [Construct(parts, Vec(3, scalar_of(g.type)))]


def _of_vecs(*, rows: bool) -> Vjp:
    def vjp(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
        found = []
        for k, v in enumerate(args):
            assert isinstance(v.type, Vec)
            places = [(k, j) if rows else (j, k) for j in range(v.type.size)]
            found.append(Construct(tuple(g[p] for p in places), v.type))
        return found

    return vjp


def _outer(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    a, b = args
    return [op("mul", g, b), op("mul", transposed(g), a)]


def _where(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    condition, a, _b = args
    nothing = zero(a.type)
    return [None, chosen(condition, g, nothing), chosen(condition, nothing, g)]


def _nothing(args: Sequence[Expr], _: Expr, __: Expr) -> Terms:
    """Of a function that is constant between its jumps."""
    return [None] * len(args)


def _dot(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    a, b = args
    if a == b:
        return [times(times(literal(2.0, g.type), g), a), None]
    return [times(g, b), times(g, a)]


def _cross(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    return [op("cross", args[1], g), op("cross", g, args[0])]


def _extreme(reaches: str, below: str) -> Vjp:
    """Of the extreme component of a vector, which the first that ``reaches`` it takes all of."""

    def vjp(args: Sequence[Expr], out: Expr, g: Expr) -> Terms:
        (v,) = args
        assert isinstance(v.type, Vec)
        parts, nothing = [], zero(g.type)
        for k in range(v.type.size):
            is_it = op(reaches, v[k], out)
            for before in range(k):
                is_it = op("and", op(below, v[before], out), is_it)
            parts.append(chosen(is_it, g, nothing))
        return [Construct(tuple(parts), v.type)]

    return vjp


def _norm_l1(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    (v,) = args
    assert isinstance(v.type, Vec)
    signs = tuple(times(g, op("sign", v[k])) for k in range(v.type.size))
    return [Construct(signs, v.type)]


def _c(value: float, like: Type) -> Expr:
    return literal(value, like)


VJPS: dict[str, Vjp] = {
    "add": lambda args, out, g: [g, g],
    "sub": lambda args, out, g: [g, negated(g)],
    "neg": lambda args, out, g: [negated(g)],
    "mul": _mul,
    "div": _div,
    "min": _smallest("min"),
    "max": _smallest("max"),
    "clamp": _clamp,
    "where": _where,
    "abs": _unary(lambda x, out: op("sign", x)),
    "frac": lambda args, out, g: [g],
    "copysign": lambda args, out, g: [times(g, op("sign", args[0]) * op("sign", out)), None],
    **dict.fromkeys(("sign", "floor", "ceil", "rint", "round", "trunc"), _nothing),
    **dict.fromkeys(("step", "nonzero"), _nothing),
    "sqrt": _divided(lambda x, out: 2.0 * out),
    "cbrt": _divided(lambda x, out: 3.0 * out * out),
    "exp": _unary(lambda x, out: out),
    "log": _divided(lambda x, out: x),
    "log2": _divided(lambda x, out: _c(log(2.0), x.type) * x),
    "log10": _divided(lambda x, out: _c(log(10.0), x.type) * x),
    "pow": _pow,
    "sin": _unary(lambda x, out: op("cos", x)),
    "cos": _unary(lambda x, out: negated(op("sin", x))),
    "tan": _unary(lambda x, out: 1.0 + out * out),
    "asin": _divided(lambda x, out: op("sqrt", 1.0 - x * x)),
    "acos": lambda args, out, g: [negated(over(g, op("sqrt", 1.0 - args[0] * args[0])))],
    "atan": _divided(lambda x, out: 1.0 + x * x),
    "atan2": _atan2,
    "sinh": _unary(lambda x, out: op("cosh", x)),
    "cosh": _unary(lambda x, out: op("sinh", x)),
    "tanh": _unary(lambda x, out: 1.0 - out * out),
    "erf": _unary(lambda x, out: _c(2.0 / sqrt(pi), x.type) * op("exp", negated(x * x))),
    "erfc": _unary(lambda x, out: _c(-2.0 / sqrt(pi), x.type) * op("exp", negated(x * x))),
    "erfinv": _unary(lambda x, out: _c(sqrt(pi) / 2.0, x.type) * op("exp", out * out)),
    "erfcinv": _unary(lambda x, out: _c(-sqrt(pi) / 2.0, x.type) * op("exp", out * out)),
    "degrees": _unary(lambda x, out: _c(180.0 / pi, x.type)),
    "radians": _unary(lambda x, out: _c(pi / 180.0, x.type)),
    "lerp": _lerp,
    "smoothstep": _smoothstep,
    "dot": _dot,
    "cross": _cross,
    "length": _length,
    "norm_l1": _norm_l1,
    "norm_l2": _length,
    "length_sq": _length_sq,
    "normalize": _normalize,
    "cw_mul": lambda args, out, g: [op("cw_mul", g, args[1]), op("cw_mul", g, args[0])],
    "cw_div": lambda args, out, g: [
        op("cw_div", g, args[1]),
        op("neg", op("cw_div", op("cw_mul", g, out), args[1])),
    ],
    "outer": _outer,
    "skew": _skew,
    "diag": lambda args, out, g: [op("get_diag", g)],
    "get_diag": lambda args, out, g: [op("diag", g)],
    "matrix_from_rows": _of_vecs(rows=True),
    "matrix_from_cols": _of_vecs(rows=False),
    "transpose": lambda args, out, g: [transposed(g)],
    "trace": _trace,
    "ddot": _dot,
    "determinant": _determinant,
    "inverse": _inverse,
    "min_element": _extreme("le", "gt"),
    "max_element": _extreme("ge", "lt"),
    **RIGID_VJPS,
}
"""The adjoint of each op that has one; an op that is missing has no backward here."""


def vjp_of(name: str) -> Vjp:
    """The adjoint of an op. Raises :class:`Undifferentiable` where there is none."""
    assert name in OPS, name
    if name not in VJPS:
        raise Undifferentiable(f"no adjoint of {name}")
    return VJPS[name]


def of_component(value: Expr, part: Component, g: Expr) -> Expr | None:
    """The cotangent of a composite one component of which has ``g``; None where the index is not
    a literal."""
    shape = value.type.shape if isinstance(value.type, Vec | Mat) else (4,)
    places = [i.value for i in part.indices if isinstance(i, Const) and type(i.value) is int]
    if len(places) != len(shape):
        return None
    flat = int(places[0]) if len(shape) == 1 else int(places[0]) * shape[1] + int(places[1])
    count = shape[0] if len(shape) == 1 else shape[0] * shape[1]
    parts = tuple(g if k == flat else zero(g.type) for k in range(count))
    return Construct(parts, value.type)
