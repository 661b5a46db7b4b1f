"""Expressions of adjoints with what is zero, one or twice negated folded away."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from generators.program.dtypes import INT32, Mat, Quat, Scalar, Struct, Type, Vec, scalar_of
from generators.program.expr import Const, Construct, Expr, Op, Var, literal, op
from generators.program.signatures import OpTypeError


@dataclass
class Undifferentiable(Exception):  # noqa: N818
    """A program of which no honest backward kernel can be made, and why in a word or two."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def differentiable(type_: Type) -> bool:
    """Whether a value of this type carries a gradient."""
    if isinstance(type_, Scalar):
        return type_.is_float
    return isinstance(type_, Vec | Mat | Quat) and type_.scalar.is_float


def has_floats(type_: Type) -> bool:
    """Whether a value of this type is or holds a float."""
    if isinstance(type_, Struct):
        return any(has_floats(kind) for _, kind in type_.fields)
    return scalar_of(type_).is_float


def zero(type_: Type) -> Expr:
    """The zero of a float scalar, vector, matrix or quaternion."""
    nothing = literal(0.0, type_)
    if isinstance(type_, Scalar):
        return nothing
    parts = prod(type_.shape) if isinstance(type_, Quat) else 1
    return Construct((nothing,) * parts, type_)


def number(e: Expr) -> float | None:
    """The value of a float literal, or None."""
    if isinstance(e, Const) and isinstance(e.value, str):
        return float(e.value)
    return None


def is_zero(e: Expr) -> bool:
    """Whether an expression is a literal zero or a composite of such."""
    if isinstance(e, Construct):
        return all(is_zero(a) for a in e.args)
    return number(e) == 0.0


def plus(a: Expr, b: Expr) -> Expr:
    """The sum of two terms of one type."""
    if is_zero(a):
        return b
    if is_zero(b):
        return a
    if isinstance(b, Op) and b.op == "neg":
        return minus(a, b.args[0])
    return op("add", a, b)


def minus(a: Expr, b: Expr) -> Expr:
    """The difference of two terms of one type."""
    if is_zero(b):
        return a
    return negated(b) if is_zero(a) else op("sub", a, b)


def negated(a: Expr) -> Expr:
    """A term with its sign changed."""
    if isinstance(a, Op) and a.op == "neg":
        return a.args[0]
    if isinstance(a, Op) and a.op in ("mul", "div") and isinstance(a.args[0].type, Scalar):
        first = a.args[0]
        if isinstance(first, Op) and first.op == "neg":
            return op(a.op, first.args[0], a.args[1])
    known = number(a)
    return literal(-known, a.type) if known is not None and known else op("neg", a)


def part_of(whole: Expr, place: tuple[int, ...]) -> Expr:
    """A component of a composite; the sign of the whole goes before it."""
    if isinstance(whole, Op) and whole.op == "neg":
        return negated(part_of(whole.args[0], place))
    return whole[tuple(literal(k, INT32) for k in place)]


def times(a: Expr, b: Expr) -> Expr:
    """The product of two scalars, or of a scalar and a composite; signs go to the front."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one.type, Scalar):
            if number(one) == 1.0:
                return other
            if number(one) == -1.0:
                return negated(other)
    if is_zero(a) or is_zero(b):
        return zero(a.type if not isinstance(a.type, Scalar) else b.type)
    if isinstance(a, Op) and a.op == "neg":
        return negated(times(a.args[0], b))
    if isinstance(b, Op) and b.op == "neg":
        return negated(times(a, b.args[0]))
    return op("mul", a, b)


def over(a: Expr, b: Expr) -> Expr:
    """A term divided by a scalar."""
    if is_zero(a):
        return a
    if isinstance(a, Op) and a.op == "neg":
        return negated(over(a.args[0], b))
    if isinstance(a.type, Quat):
        return op("mul", a, op("div", literal(1.0, b.type), b))
    return a if number(b) == 1.0 else op("div", a, b)


_ROWS_AND_COLUMNS = {
    "matrix_from_rows": "matrix_from_cols",
    "matrix_from_cols": "matrix_from_rows",
}


def transposed(m: Expr) -> Expr:
    """The transpose of a matrix."""
    if isinstance(m, Op) and m.op == "transpose":
        return m.args[0]
    if isinstance(m, Op) and m.op == "inverse":
        return op("inverse", transposed(m.args[0]))
    if isinstance(m, Op) and m.op == "diag":
        return m
    if isinstance(m, Op) and m.op in _ROWS_AND_COLUMNS:
        return op(_ROWS_AND_COLUMNS[m.op], *m.args)
    if isinstance(m, Op) and m.op == "outer":
        return op("outer", m.args[1], m.args[0])
    return op("transpose", m)


def chosen(condition: Expr, a: Expr, b: Expr) -> Expr:
    """``a`` where the condition holds, otherwise ``b``."""
    return a if a == b else op("where", condition, a, b)


def is_short(e: Expr) -> bool:
    """Whether an expression may be written twice without a name of its own."""
    if isinstance(e, Var | Const):
        return True
    return isinstance(e, Op) and e.op == "neg" and is_short(e.args[0])


def applied(name: str, *args: Expr) -> Expr:
    """An op applied; :class:`Undifferentiable` where the op does not take these types."""
    try:
        return op(name, *args)
    except OpTypeError:
        raise Undifferentiable(f"no form of {name} for its adjoint") from None
