"""The walk over a program that all renderers of Python share."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from generators.program import expr, ir
from generators.program.dtypes import Array, Type
from synth.render.breaks import TAB, WIDTH, lines_of
from synth.render.doc import Doc, attribute, binary, call, prefix, subscript
from synth.render.text import number

Printer = Callable[[Any, Sequence[Doc], expr.Op], Doc]
"""Prints one op: the renderer, the printed arguments, and the node for its types."""

AUGMENTED = {"add": "+=", "sub": "-=", "mul": "*=", "div": "/="}


def infix(symbol: str, prec: int) -> Printer:
    """An op printed between its two operands."""
    return lambda _, args, node: binary(symbol, prec, args[0], args[1])


def bitwise(symbol: str, prec: int) -> Printer:
    """An op of bits between its two operands, whose literals are masks."""

    def show(renderer: PythonRenderer, args: Sequence[Doc], node: expr.Op) -> Doc:
        left, right = (
            renderer.const(e, bits=True) if isinstance(e, expr.Const) else doc
            for e, doc in zip(node.args, args, strict=True)
        )
        return binary(symbol, prec, left, right)

    return show


def unary(symbol: str, prec: int) -> Printer:
    """An op printed before its operand."""
    return lambda _, args, node: prefix(symbol, prec, args[0])


class PythonRenderer:
    """Prints bodies and expressions; a subclass adds its ops, types and modules."""

    ops: Mapping[str, Printer]

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.printers: dict[type, Callable[[Any], Doc]] = {
            cls: getattr(self, name) for cls, name in _EXPRESSIONS.items()
        }
        self.walkers: dict[type, Callable[[Any, int], None]] = {
            cls: getattr(self, name) for cls, name in _STATEMENTS.items()
        }

    def put(
        self, depth: int, start: str, value: Doc, end: str = "", target: Doc | None = None
    ) -> None:
        """Add one statement, split where it is too long."""
        line = f"{' ' * (depth * TAB)}{start}{value.text}{end}"
        if len(line) > WIDTH:
            line = lines_of(start, value, end, depth * TAB, target)
        self.lines.append(line)

    def body(self, body: ir.Body, depth: int) -> None:
        """Add the statements of a body."""
        for statement in body:
            self.walkers[type(statement)](statement, depth)
        if all(isinstance(s, ir.Comment) for s in body):
            self.lines.append(f"{' ' * (depth * TAB)}pass")

    def show(self, e: expr.Expr) -> Doc:
        """Print an expression."""
        return self.printers[type(e)](e)

    def show_all(self, expressions: Sequence[expr.Expr]) -> list[Doc]:
        return [self.printers[type(e)](e) for e in expressions]

    # Expressions

    def const(self, e: expr.Const, bits: bool = False) -> Doc:
        """``bits``: as an operand of a bitwise op."""
        raise NotImplementedError

    def cast(self, e: expr.Cast) -> Doc:
        raise NotImplementedError

    def construct(self, e: expr.Construct) -> Doc:
        raise NotImplementedError

    def var(self, e: expr.Var) -> Doc:
        return Doc(e.name)

    def op(self, e: expr.Op) -> Doc:
        return self.ops[e.op](self, self.show_all(e.args), e)

    def load(self, e: expr.Load) -> Doc:
        return subscript(Doc(e.array.name), self.show_all(e.indices))

    def extent(self, e: expr.Extent) -> Doc:
        array: expr.Var = e.array
        if self.program.layout.len_calls and isinstance(array.type, Array) and array.type.ndim == 1:
            return call("len", [Doc(array.name)])
        return subscript(attribute(Doc(array.name), "shape"), [Doc(str(e.axis))])

    def component(self, e: expr.Component) -> Doc:
        return subscript(self.show(e.value), self.show_all(e.indices))

    def field(self, e: expr.Field) -> Doc:
        return attribute(self.show(e.value), e.name)

    def call(self, e: expr.Call) -> Doc:
        return call(e.function, self.show_all(e.args))

    # Statements

    def assign(self, s: ir.Assign, depth: int) -> None:
        self.put(depth, f"{s.name} = ", self.show(s.value))

    def augmented(self, target: Doc, type_: Type, op: str, value: expr.Expr, depth: int) -> None:
        """``target op= value``, or ``target = value`` for an empty op."""
        operator = AUGMENTED[op] if op else "="
        self.put(depth, f"{target.text} {operator} ", self.show(value), "", target)

    def aug_assign(self, s: ir.AugAssign, depth: int) -> None:
        self.augmented(Doc(s.name), s.value.type, s.op, s.value, depth)

    def set_component(self, s: ir.SetComponent, depth: int) -> None:
        target = subscript(Doc(s.name), self.show_all(s.indices))
        self.augmented(target, s.value.type, s.op, s.value, depth)

    def set_field(self, s: ir.SetField, depth: int) -> None:
        self.put(depth, f"{s.name}.{s.field} = ", self.show(s.value))

    def store(self, s: ir.Store, depth: int) -> None:
        target = subscript(Doc(s.array.name), self.show_all(s.indices))
        self.augmented(target, s.value.type, s.op, s.value, depth)

    def atomic(self, s: ir.Atomic, depth: int) -> None:
        raise NotImplementedError

    def sample(self, s: ir.Sample, depth: int) -> None:
        raise NotImplementedError

    def if_(self, s: ir.If, depth: int) -> None:
        word = "if "
        for condition, branch in s.branches:
            self.put(depth, word, self.show(condition), ":")
            self.body(branch, depth + 1)
            word = "elif "
        if s.orelse:
            self.lines.append(f"{' ' * (depth * TAB)}else:")
            self.body(s.orelse, depth + 1)

    def for_(self, s: ir.For, depth: int) -> None:
        bounds = [self.show(s.start), self.show(s.stop)]
        if s.step != 1:
            bounds.append(number(str(s.step)))
        elif isinstance(s.start, expr.Const) and s.start.value == 0:
            del bounds[0]
        self.put(depth, f"for {s.name} in ", call("range", bounds), ":")
        self.body(s.body, depth + 1)

    def while_(self, s: ir.While, depth: int) -> None:
        self.put(depth, "while ", self.show(s.condition), ":")
        self.body(s.body, depth + 1)

    def word(self, s: ir.Break | ir.Continue, depth: int) -> None:
        self.lines.append(f"{' ' * (depth * TAB)}{type(s).__name__.lower()}")

    def return_(self, s: ir.Return, depth: int) -> None:
        if s.value is None:
            self.lines.append(f"{' ' * (depth * TAB)}return")
        else:
            self.put(depth, "return ", self.show(s.value))

    def comment(self, s: ir.Comment, depth: int) -> None:
        pad = f"{' ' * (depth * TAB)}# "
        self.lines += [pad + line for line in textwrap.wrap(s.text, WIDTH - len(pad))]


_EXPRESSIONS: dict[type, str] = {
    expr.Const: "const",
    expr.Var: "var",
    expr.Op: "op",
    expr.Cast: "cast",
    expr.Load: "load",
    expr.Extent: "extent",
    expr.Component: "component",
    expr.Field: "field",
    expr.Call: "call",
    expr.Construct: "construct",
}
_STATEMENTS: dict[type, str] = {
    ir.Assign: "assign",
    ir.AugAssign: "aug_assign",
    ir.SetComponent: "set_component",
    ir.SetField: "set_field",
    ir.Store: "store",
    ir.Atomic: "atomic",
    ir.Sample: "sample",
    ir.If: "if_",
    ir.For: "for_",
    ir.While: "while_",
    ir.Break: "word",
    ir.Continue: "word",
    ir.Return: "return_",
    ir.Comment: "comment",
}
