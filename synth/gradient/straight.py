"""A kernel's body in the form that reverse mode takes: no calls, no returns, no ``break`` or
``continue``, one branch an if.

What comes after a return goes into the else of its condition; helper functions with floats are
written out where they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from generators.program import ir
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Call, Component, Expr, Load, Var, literal, op
from generators.program.walk import changed, statements
from synth.gradient.sweep import LOCAL, renamed
from synth.gradient.terms import Undifferentiable, differentiable, has_floats, zero

Fresh = Callable[[str], str]


def straightened(program: ir.Program, fresh: Fresh) -> ir.Body:
    """The body of a program's kernel in that form. Raises :class:`Undifferentiable`."""
    functions = {f.name: f for f in program.functions}
    return _Straight(functions, fresh).body(_returned(program.kernel.body, None))


def _returned(body: ir.Body, result: Var | None) -> ir.Body:
    """A body without returns, that leaves its value in ``result`` where it has one."""
    found: list[ir.Statement] = []
    for position, s in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(s, ir.Return):
            if result is not None and s.value is not None:
                found.append(ir.Assign(result.name, s.value))
            return tuple(found)
        if isinstance(s, ir.For | ir.While) and _leaves(s.body):
            raise Undifferentiable("return within a loop")
        if isinstance(s, ir.If) and _leaves((s,)):
            branches = tuple((test, _returned((*b, *rest), result)) for test, b in s.branches)
            found.append(ir.If(branches, _returned((*s.orelse, *rest), result)))
            return tuple(found)
        found.append(s)
    return tuple(found)


def _continued(body: ir.Body) -> ir.Body:
    """The body of a loop without ``continue``: what comes after one goes into the other branch."""
    found: list[ir.Statement] = []
    for position, s in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(s, ir.Continue):
            return tuple(found)
        if isinstance(s, ir.If) and _skips((s,)):
            branches = tuple((test, _continued((*b, *rest))) for test, b in s.branches)
            found.append(ir.If(branches, _continued((*s.orelse, *rest))))
            return tuple(found)
        found.append(s)
    return tuple(found)


def _unbroken(body: ir.Body, running: Var) -> ir.Body:
    """The body of a loop without ``break``, which clears a flag: what comes after one goes into the
    other branch."""
    found: list[ir.Statement] = []
    for position, s in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(s, ir.Break):
            return (*found, ir.Assign(running.name, literal(0, INT32)))
        if isinstance(s, ir.If) and _breaks((s,)):
            branches = tuple((test, _unbroken((*b, *rest), running)) for test, b in s.branches)
            return (*found, ir.If(branches, _unbroken((*s.orelse, *rest), running)))
        found.append(s)
    return tuple(found)


def _breaks(body: ir.Body) -> bool:
    """Whether a body has a ``break`` of its own loop."""
    return any(
        isinstance(s, ir.Break)
        or (isinstance(s, ir.If) and any(map(_breaks, (*(b for _, b in s.branches), s.orelse))))
        for s in body
    )


def _skips(body: ir.Body) -> bool:
    """Whether a body has a ``continue`` of its own loop."""
    return any(
        isinstance(s, ir.Continue)
        or (
            isinstance(s, ir.If) and any(_skips(b) for b in (*(b for _, b in s.branches), s.orelse))
        )
        for s in body
    )


def _leaves(body: ir.Body) -> bool:
    return any(isinstance(s, ir.Return) for s in statements(body))


class _Straight:
    def __init__(self, functions: dict[str, ir.Function], fresh: Fresh) -> None:
        self.functions, self.fresh = functions, fresh

    def body(self, body: Sequence[ir.Statement]) -> ir.Body:
        found: list[ir.Statement] = []
        for s in body:
            found += self.statement(s)
        return tuple(found)

    def statement(self, s: ir.Statement) -> list[ir.Statement]:
        before: list[ir.Statement] = []
        if isinstance(s, ir.Comment):
            return []
        if isinstance(s, ir.If):
            (test, first), *others = s.branches
            orelse = (ir.If(tuple(others), s.orelse),) if others else s.orelse
            condition = self.value(test, before)
            return [*before, ir.If(((condition, self.body(first)),), self.body(orelse))]
        if isinstance(s, ir.For):
            bounds = self.value(s.start, before), self.value(s.stop, before)
            inner = _continued(s.body)
            if _breaks(inner):
                running = Var(self.fresh("running"), INT32)
                before.append(ir.Assign(running.name, literal(1, INT32)))
                goes_on = op("eq", running, literal(1, INT32))
                inner = (ir.If(((goes_on, _unbroken(inner, running)),), ()),)
            return [*before, ir.For(s.name, *bounds, s.step, self.body(inner))]
        if isinstance(s, ir.While):
            raise Undifferentiable("while")
        if isinstance(s, ir.Break | ir.Continue):
            raise Undifferentiable(type(s).__name__.lower())
        if isinstance(s, ir.Sample | ir.TileMatmul | ir.TileStore):
            raise Undifferentiable(type(s).__name__)
        if isinstance(s, ir.Assign | ir.AugAssign | ir.SetField):
            own = self.value(s.value, before)
            return [*before, replace(s, value=own)]
        assert isinstance(s, ir.Store | ir.Atomic | ir.SetComponent), s
        value = self.value(s.value, before)
        indices = tuple(self.value(i, before) for i in s.indices)
        return [*before, replace(s, value=value, indices=indices)]

    def value(self, e: Expr, before: list[ir.Statement]) -> Expr:
        """An expression without calls, and with names for what parts are taken of."""

        def change(node: Any) -> Any:
            if isinstance(node, Call):
                return self._called(node, before)
            if isinstance(node, Component) and not isinstance(node.value, Var):
                if not differentiable(node.value.type):
                    return node
                name = self.fresh(_name_of(node.value))
                before.append(ir.Assign(name, node.value))
                return replace(node, value=Var(name, node.value.type))
            return node

        found = changed(e, change)
        assert isinstance(found, Expr)
        return found

    def _called(self, call: Call, before: list[ir.Statement]) -> Expr:
        floats = any(has_floats(a.type) for a in call.args)
        if not differentiable(call.type) or not floats:
            if floats and not isinstance(call.type, Scalar):
                raise Undifferentiable(f"a helper that gives a {type(call.type).__name__}")
            return call
        function = self.functions[call.function]
        names: dict[str, Var] = {}
        for p, given in zip(function.params, call.args, strict=True):
            names[p.name] = Var(self.fresh(p.name), p.type)
            before.append(ir.Assign(names[p.name].name, given))
        result = Var(self.fresh(function.name.split("_")[-1] + "_value"), call.type)
        inner = _renamed(function.body, names, self.fresh)
        last = inner[-1]
        if isinstance(last, ir.Return) and not _leaves(inner[:-1]) and last.value is not None:
            before += self.body(inner[:-1])
            return self.value(last.value, before)
        before.append(ir.Assign(result.name, zero(call.type)))
        before += self.body(_returned(inner, result))
        return result


def _name_of(e: Expr) -> str:
    return f"{e.array.name}_item" if isinstance(e, Load) else "whole"


def _renamed(body: ir.Body, names: dict[str, Var], fresh: Fresh) -> ir.Body:
    """A body with each of its variables under a name that nothing else has."""
    written = {s.name for s in statements(body) if isinstance(s, (*LOCAL, ir.For))}
    new = {**{n: v.name for n, v in names.items()}}
    new |= {n: fresh(n) for n in sorted(written - set(new))}
    return renamed(body, new)
