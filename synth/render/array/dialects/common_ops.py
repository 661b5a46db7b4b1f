"""Ops that all dialects write alike: operators, parts, helpers that each defines in its own way."""

from __future__ import annotations

from collections.abc import Sequence

from generators.program import expr
from synth.render.array.dialects.dialect import ArrayPrinter, Uses
from synth.render.doc import Doc, Prec, binary, call, power, prefix, subscript


def infix(symbol: str, prec: int) -> ArrayPrinter:
    return lambda _, args, node: binary(symbol, prec, args[0], args[1])


def helper(name: str) -> ArrayPrinter:
    return lambda uses, args, node: call(uses.helper(name), args)


def part_of(text: str) -> ArrayPrinter:
    return lambda _, args, node: subscript(args[0], [Doc("..."), Doc(text)])


def power_of(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return power(args[0], args[1])


def lerp(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    a, b, t = args
    rest = binary("-", Prec.ADD, Doc("1.0"), t)
    return binary("+", Prec.ADD, binary("*", Prec.MUL, a, rest), binary("*", Prec.MUL, b, t))


def outer(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    left = subscript(args[0], [Doc("..."), Doc(":"), Doc("None")])
    right = subscript(args[1], [Doc("..."), Doc("None"), Doc(":")])
    return binary("*", Prec.MUL, left, right)


def as_number(uses: Uses, doc: Doc, node: expr.Op) -> Doc:
    return uses.dialect.converted(doc, node.type, is_array=True)


def step(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return as_number(uses, binary("<", Prec.COMPARE, args[0], Doc("0.0")), node)


def nonzero(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return as_number(uses, binary("!=", Prec.COMPARE, args[0], Doc("0")), node)


def rotate_inverse(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    turned = call(uses.helper("quat_inverse"), args[:1])
    return call(uses.helper("quat_rotate"), [turned, args[1]])


def transform_vector(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    rotation = subscript(args[0], [Doc("..."), Doc("3:")])
    return call(uses.helper("quat_rotate"), [rotation, args[1]])


COMMON_OPS: dict[str, ArrayPrinter] = {
    "add": infix("+", Prec.ADD),
    "sub": infix("-", Prec.ADD),
    "floordiv": infix("//", Prec.MUL),
    "mod": infix("%", Prec.MUL),
    "neg": lambda _, args, node: prefix("-", Prec.UNARY, args[0]),
    "bit_and": infix("&", Prec.BIT_AND),
    "bit_or": infix("|", Prec.BIT_OR),
    "bit_xor": infix("^", Prec.BIT_XOR),
    "lt": infix("<", Prec.COMPARE),
    "le": infix("<=", Prec.COMPARE),
    "gt": infix(">", Prec.COMPARE),
    "ge": infix(">=", Prec.COMPARE),
    "eq": infix("==", Prec.COMPARE),
    "ne": infix("!=", Prec.COMPARE),
    "and": infix("&", Prec.BIT_AND),
    "or": infix("|", Prec.BIT_OR),
    "round": helper("round_half_away"),
    "step": step,
    "nonzero": nonzero,
    "pow": power_of,
    "lerp": lerp,
    "smoothstep": helper("smoothstep"),
    "cw_mul": infix("*", Prec.MUL),
    "cw_div": infix("/", Prec.MUL),
    "outer": outer,
    "skew": helper("skew"),
    "spatial_top": part_of(":3"),
    "spatial_bottom": part_of("3:"),
    "transform_get_translation": part_of(":3"),
    "transform_get_rotation": part_of("3:"),
    "transform_vector": transform_vector,
    "quat_rotate_inv": rotate_inverse,
    **{
        name: helper(name)
        for name in (
            "quat_rotate",
            "quat_inverse",
            "quat_from_axis_angle",
            "quat_to_matrix",
            "transform_point",
            "transform_inverse",
        )
    },
}
"""Entries of every dialect's table."""
