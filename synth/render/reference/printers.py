"""Printers of the ops that plain Python writes in a way of its own, and what they ask of types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol

from generators.program import expr, ir
from generators.program.dtypes import Mat, Quat, Scalar, Transform, Type, Vec
from synth.render.doc import (
    ATOM,
    BINARY,
    PAREN,
    Doc,
    Prec,
    attribute,
    binary,
    call,
    choice,
    power,
    prefix,
    subscript,
)
from synth.render.ranges.table import Edges
from synth.render.text import statements


class Uses(Protocol):
    """What a printer tells the renderer: the modules and helpers that its text needs."""

    modules: set[str]
    edges: Edges

    def helper(self, name: str) -> str: ...


ReferencePrinter = Callable[[Uses, Sequence[Doc], expr.Op], Doc]


def scalar_or_none(type_: Type) -> Scalar | None:
    if isinstance(type_, Scalar):
        return type_
    return type_.scalar if isinstance(type_, Vec | Mat) else None


def is_product(op: str, type_: Type) -> bool:
    """Whether ``op=`` with a value of this type is a product that Python has no ``*=`` for."""
    return op == "mul" and not isinstance(type_, Scalar | Vec)


def mutated(body: ir.Body) -> set[str]:
    """Variables of composite or struct type that a body may change in place."""
    return {
        s.name
        for s in statements(body)
        if isinstance(s, ir.SetComponent | ir.SetField)
        or (isinstance(s, ir.AugAssign) and not is_product(s.op, s.value.type))
    }


@lru_cache(maxsize=256)
def holds(target: Scalar, source: Scalar, from_zero: bool) -> bool:
    """Whether an integer type holds every value (from 0 on) of another."""
    (low, high), (least, most) = target.int_range, source.int_range
    return (from_zero or low <= least) and most <= high


@lru_cache(maxsize=16)
def mask_text(scalar: Scalar) -> str:
    """All bits of an unsigned type."""
    return f"0x{scalar.int_range[1]:X}"


def wrapped(doc: Doc, type_: Type) -> Doc:
    """The value as its type stores it: unsigned integers wrap."""
    scalar = scalar_or_none(type_)
    if scalar is None or not scalar.is_unsigned:
        return doc
    return binary("&", Prec.BIT_AND, doc, Doc(mask_text(scalar)))


def unwrapped(doc: Doc, type_: Type) -> Doc:
    """An operand of an op that wraps, without a mask of its own: one mask at the end is enough."""
    scalar = scalar_or_none(type_)
    if scalar is None or not scalar.is_unsigned:
        return doc
    if doc.kind == BINARY and doc.marks == (" & ",) and doc.parts[1].text == mask_text(scalar):
        inner = doc.parts[0]
        return inner.parts[0] if inner.kind == PAREN else inner
    return doc


def ring(symbol: str, prec: int) -> ReferencePrinter:
    def show(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        left, right = (unwrapped(a, node.type) for a in args)
        return wrapped(binary(symbol, prec, left, right), node.type)

    return show


def ring_unary(symbol: str) -> ReferencePrinter:
    def show(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        return wrapped(prefix(symbol, Prec.UNARY, unwrapped(args[0], node.type)), node.type)

    return show


def lshift(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return wrapped(binary("<<", Prec.SHIFT, unwrapped(args[0], node.type), args[1]), node.type)


def product_helper(left: Type, right: Type) -> str:
    """The helper that multiplies these types, or ``""``."""
    if left == right and isinstance(left, Quat):
        return "quat_multiply"
    return "transform_multiply" if isinstance(left, Transform) else ""


def mul(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    left, right = (a.type for a in node.args)
    if helper := product_helper(left, right):
        return call(uses.helper(helper), args)
    matrix = isinstance(left, Mat) and not isinstance(right, Scalar)
    return ring("@" if matrix else "*", Prec.MUL)(uses, args, node)


def math_call(name: str, result: str = "") -> ReferencePrinter:
    head = f"math.{name}"

    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        uses.modules.add("math")
        doc = call(head, args)
        return call(result, [doc]) if result else doc

    return show


def arc(name: str) -> ReferencePrinter:
    """``asin`` and ``acos``, of what rounding may have brought beyond 1 clamped."""
    bare = math_call(name)

    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        low, high = uses.edges.beyond_one(node)
        argument = call("max", [args[0], Doc("-1.0", Prec.UNARY)]) if low else args[0]
        return bare(uses, [call("min", [argument, Doc("1.0")]) if high else argument], node)

    return show


def normalize(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    """A quaternion of length zero becomes the identity, a vector stays zero."""
    turned = isinstance(node.type, Quat) and uses.edges.guards(node)
    return helper_call("quat_normalize" if turned else "normalize")(uses, args, node)


def inverse(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    """Zero of a singular matrix."""
    guarded = uses.edges.guards(node)
    return (helper_call("inverse") if guarded else numpy_call("linalg.inv"))(uses, args, node)


def builtin_call(name: str, result: str = "") -> ReferencePrinter:
    def show(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        doc = call(name, args)
        return call(result, [doc]) if result else doc

    return show


def numpy_call(name: str) -> ReferencePrinter:
    head = f"np.{name}"

    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        uses.modules.add("np")
        doc = call(head, args)
        if isinstance(node.type, Scalar) and node.type.is_float:
            return call("float", [doc])
        return wrapped(doc, node.type)

    return show


def helper_call(name: str) -> ReferencePrinter:
    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        return wrapped(call(uses.helper(name), args), node.type)

    return show


def where(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return choice(*args)


def clamp(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    x, low, high = args
    return call("min", [call("max", [x, low]), high])


def sign(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    negative = binary("<", Prec.COMPARE, args[0], Doc("0.0"))
    return choice(negative, Doc("-1.0", Prec.UNARY), Doc("1.0"))


def pow(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return power(args[0], args[1])


def lerp(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    a, b, t = args
    if t.kind != ATOM:
        return helper_call("lerp")(uses, args, node)
    rest = binary("-", Prec.ADD, Doc("1.0"), t)
    return binary("+", Prec.ADD, binary("*", Prec.MUL, a, rest), binary("*", Prec.MUL, b, t))


def length_sq(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    uses.modules.add("np")
    return summed(uses, call("np.square", args), node)


def ddot(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return summed(uses, binary("*", Prec.MUL, args[0], args[1]), node)


def summed(uses: Uses, items: Doc, node: expr.Op) -> Doc:
    return numpy_call("sum")(uses, [items], node)


def transpose(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return attribute(args[0], "T")


def rotate_inverse(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    inverse = call(uses.helper("quat_inverse"), args[:1])
    return call(uses.helper("quat_rotate"), [inverse, args[1]])


def part(text: str) -> ReferencePrinter:
    return lambda _, args, node: subscript(args[0], [Doc(text)])


def transform_vector(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return call(uses.helper("quat_rotate"), [subscript(args[0], [Doc("3:")]), args[1]])
