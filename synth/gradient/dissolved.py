"""A body without struct variables: each of their fields is a variable of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from generators.program import ir
from generators.program.dtypes import Struct
from generators.program.expr import Construct, Expr, Field, Load, Var
from generators.program.walk import changed, expressions, names_read
from synth.gradient.terms import Undifferentiable, zero

Fresh = Callable[[str], str]


def dissolved(body: ir.Body, fresh: Fresh) -> ir.Body:
    """A body whose struct values are elements of arrays, parameters, or made where they are
    stored. Raises :class:`Undifferentiable` for structs that are chosen or come from helpers."""
    dissolve = _Dissolve(fresh)
    return dissolve.body(body)


class _Dissolve:
    def __init__(self, fresh: Fresh) -> None:
        self.fresh = fresh
        self.parts: dict[str, dict[str, Var]] = {}

    def body(self, body: ir.Body) -> ir.Body:
        found: list[ir.Statement] = []
        for s in body:
            found += self.statement(s)
        return tuple(found)

    def statement(self, s: ir.Statement) -> list[ir.Statement]:
        if isinstance(s, ir.Assign) and isinstance(s.value.type, Struct):
            return self._made(s)
        if isinstance(s, ir.SetField):
            part = self._variables(s.name, s.type)[s.field]
            return [ir.Assign(part.name, self.value(s.value))]
        if isinstance(s, ir.Store) and isinstance(s.value.type, Struct):
            parts = tuple(self._parts(s.value).values())
            indices = tuple(self.value(i) for i in s.indices)
            return [replace(s, indices=indices, value=Construct(parts, s.value.type))]
        if isinstance(s, ir.If):
            branches = tuple((self.value(test), self.body(b)) for test, b in s.branches)
            return [ir.If(branches, self.body(s.orelse))]
        if isinstance(s, ir.For):
            bounds = self.value(s.start), self.value(s.stop)
            return [ir.For(s.name, *bounds, s.step, self.body(s.body))]
        found: ir.Statement = changed(s, self._part)
        if any(isinstance(e, Var) and e.name in self.parts for e in expressions((found,))):
            raise Undifferentiable("a struct that a helper takes")
        return [found]

    def value(self, e: Expr) -> Expr:
        found: Expr = changed(e, self._part)
        return found

    def _part(self, node: Any) -> Any:
        if isinstance(node, Field) and isinstance(node.value, Var):
            return self.parts.get(node.value.name, {}).get(node.name, node)
        return node

    def _made(self, s: ir.Assign) -> list[ir.Statement]:
        """A variable for each field."""
        assert isinstance(s.value.type, Struct)
        values = self._parts(s.value)
        parts = self._variables(s.name, s.value.type)
        if set(names_read(values.values())) & {part.name for part in parts.values()}:
            raise Undifferentiable("a struct that is made of itself")
        return [ir.Assign(parts[name].name, value) for name, value in values.items()]

    def _variables(self, name: str, type_: Struct) -> dict[str, Var]:
        if name not in self.parts:
            self.parts[name] = {
                field: Var(self.fresh(f"{name}_{field}"), kind) for field, kind in type_.fields
            }
        return self.parts[name]

    def _parts(self, e: Expr) -> dict[str, Expr]:
        """The fields of a struct value."""
        assert isinstance(e.type, Struct)
        if any(isinstance(kind, Struct) for _, kind in e.type.fields):
            raise Undifferentiable("a struct in a struct")
        if isinstance(e, Construct):
            values = [self.value(a) for a in e.args] or [zero(kind) for _, kind in e.type.fields]
            return dict(zip((name for name, _ in e.type.fields), values, strict=True))
        if isinstance(e, Var) and e.name in self.parts:
            return dict(self.parts[e.name])
        if isinstance(e, Var | Load):
            whole = self.value(e)
            return {name: Field(whole, name, kind) for name, kind in e.type.fields}
        raise Undifferentiable("a struct that is chosen")
