"""Printers of builtins whose plain Python is neither a call of one name nor a helper."""

from __future__ import annotations

from collections.abc import Sequence

from generators.program import expr
from generators.program.dtypes import Mat, Quat, Scalar, scalar_of
from synth.render.doc import Doc, Prec, attribute, binary, call, choice, listing
from synth.render.reference.printers import ReferencePrinter, Uses, mask_text, summed


def least_or_most(name: str) -> ReferencePrinter:
    """Of two numbers, or of two vectors component by component."""

    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        if isinstance(node.type, Scalar):
            return call(name, args)
        uses.modules.add("np")
        return call(f"np.{name}imum", args)

    return show


def step(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return choice(binary("<", Prec.COMPARE, args[0], Doc("0.0")), Doc("1.0"), Doc("0.0"))


def nonzero(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    is_float = isinstance(node.type, Scalar) and node.type.is_float
    zero, result = ("0.0", "float") if is_float else ("0", "int")
    return call(result, [binary("!=", Prec.COMPARE, args[0], Doc(zero))])


def bit_count(_: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    scalar = scalar_of(node.args[0].type)
    word = args[0]
    if not scalar.is_unsigned:
        mask = Doc(mask_text(Scalar(f"u{scalar.name}")))
        word = binary("&", Prec.BIT_AND, word, mask)
    return attribute(word, "bit_count()")


def argument_of(name: str) -> ReferencePrinter:
    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        uses.modules.add("np")
        return call("int", [call(f"np.{name}", args)])

    return show


def norm_l1(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    return summed(uses, call("abs", args), node)


def get_diag(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    # np.diag gives a view that cannot be written to.
    uses.modules.add("np")
    return call("np.copy", [call("np.diag", args)])


def identity(uses: Uses, _: Sequence[Doc], node: expr.Op) -> Doc:
    """The identity matrix, rotation or transform."""
    uses.modules.add("np")
    if isinstance(node.type, Mat):
        return call("np.eye", [Doc(str(node.type.rows))])
    zeros = 3 if isinstance(node.type, Quat) else 6
    return call("np.array", [listing([*[Doc("0.0")] * zeros, Doc("1.0")])])


def stacked(name: str) -> ReferencePrinter:
    def show(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
        uses.modules.add("np")
        return call(f"np.{name}", [listing(args)])

    return show


def rand_init(uses: Uses, args: Sequence[Doc], node: expr.Op) -> Doc:
    """A state that the helper has cut to 32 bits already."""
    return call(uses.helper("rand_init"), args)
