"""Where a program may come to an edge of an op: a value at which Warp answers what a bare formula
does not.

A walk over the tree carries what is known of each variable, from the inputs' contract on. Branches
are taken apart, conditions narrow what they compare, and what a loop assigns is unknown inside and
behind it. Values are taken to be finite, which the gates see to.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from generators.program import expr, ir
from generators.program.dtypes import Array, Struct, Type, scalar_of
from generators.program.walk import bodies, expressions
from synth.render.ranges.known import (
    Interval,
    Known,
    Value,
    count_of,
    cut,
    joined,
    made,
    unknown,
    widened,
)
from synth.render.ranges.rules import constructed, result_of
from synth.render.ranges.scopes import (
    MEASURES,
    ORDERED,
    TESTS,
    Env,
    Meanings,
    assigned,
    hull_of,
    merged,
    names,
    of_literal,
    sizes,
    unknown_like,
)
from synth.render.ranges.sources import of_param, of_sample
from synth.render.ranges.table import EDGES, FUNCTIONS, NO_EDGES, Edges

_Op = expr.Op


def edges_of(program: ir.Program) -> Edges:
    """The edges of a program's ops; cheap for one that has no such op."""
    nodes = (e for body in bodies(program) for e in expressions(body))
    if not any(isinstance(e, _Op) and e.op in EDGES for e in nodes):
        return NO_EDGES
    walk = Walk(program)
    walk.kernel()
    walk.found.safe -= walk.found.at
    return walk.found


class Walk:
    """What is known at each place of a program, from the contract of its inputs on."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.functions = {f.name: f for f in program.functions}
        self.found = Edges()
        self.params = {p.name: of_param(p) for p in program.kernel.params}
        self.env: Env | None = {}
        self.types: dict[str, Type] = {}
        self.meanings: Meanings = {}
        self.results: list[Value] = []
        self._statements: dict[type, Callable[[Any], None]] = {
            ir.Assign: self._assign,
            ir.AugAssign: self._augment,
            ir.SetComponent: self._set_component,
            ir.SetField: self._set_field,
            ir.Sample: self._sample,
            ir.If: self._if,
            ir.Return: self._return,
            **dict.fromkeys((ir.For, ir.While), self._loop),
            **dict.fromkeys((ir.Store, ir.Atomic), self._stored),
            **dict.fromkeys((ir.Break, ir.Continue), self._leave),
        }
        self._rules: dict[type, Callable[[Any], Value]] = {
            expr.Const: of_literal,
            expr.Var: self._var,
            expr.Op: self._op,
            expr.Cast: self._cast,
            expr.Load: self._load,
            expr.Extent: lambda e: Known(((1.0, 2.0**31 - 1),)),
            expr.Component: self._component,
            expr.Field: self._field,
            expr.Call: self._call,
            expr.Construct: self._construct,
        }

    def kernel(self) -> None:
        kernel = self.program.kernel
        values = [p for p in kernel.params if not isinstance(p.type, Array)]
        self.env = {p.name: self.params[p.name] for p in values}
        self.types = {p.name: p.type for p in values}
        self.env.update({name: Known(((0.0, 2.0**31 - 1),)) for name in kernel.threads})
        self.body(kernel.body)

    # Statements; an environment of None stands for a place that nothing gets to

    def body(self, body: ir.Body) -> None:
        for s in body:
            if self.env is None:
                return
            self._statement(s)

    def _statement(self, s: ir.Statement) -> None:
        rule = self._statements.get(type(s))
        if rule is not None:
            rule(s)

    def _assign(self, s: ir.Assign) -> None:
        value = self.value(s.value)
        self.types[s.name] = s.value.type
        self._bind(s.name, value, s.value)

    def _stored(self, s: ir.Store | ir.Atomic) -> None:
        for index in s.indices:
            self.value(index)
        self.value(s.value)

    def _return(self, s: ir.Return) -> None:
        if s.value is not None:
            self.results.append(self.value(s.value))
        self.env = None

    def _leave(self, s: ir.Break | ir.Continue) -> None:
        self.env = None

    def _bind(self, name: str, value: Value, meaning: expr.Expr | None = None) -> None:
        assert self.env is not None
        self.env[name] = value
        self._forget({name})
        measures = isinstance(meaning, _Op) and meaning.op in (*MEASURES, *TESTS)
        if meaning is not None and measures and name not in names(meaning):
            self.meanings[name] = meaning

    def _forget(self, gone: set[str]) -> None:
        """Drop what other variables meant in terms of these."""
        self.meanings = {
            n: m for n, m in self.meanings.items() if n not in gone and not gone & names(m)
        }

    def _augment(self, s: ir.AugAssign) -> None:
        assert self.env is not None
        old = self.env.get(s.name)
        if not isinstance(old, Known):
            self.value(s.value)
            return
        type_ = self.types[s.name]
        node = _Op(s.op, (expr.Var(s.name, type_), s.value), type_)
        value = self.value(s.value)
        self._bind(s.name, result_of(node, [old, value]))

    def _set_component(self, s: ir.SetComponent) -> None:
        assert self.env is not None
        for index in s.indices:
            self.value(index)
        value, old = self.value(s.value), self.env.get(s.name)
        if not isinstance(old, Known) or not isinstance(value, Known):
            return
        whole = unknown(scalar_of(s.value.type))
        assert isinstance(whole, Known)
        new = whole.only if s.op else value.only
        place = s.indices[0]
        if len(s.indices) == 1 and isinstance(place, expr.Const):
            changed = [new if k == place.value else p for k, p in enumerate(old.parts)]
        else:
            changed = [whole.only] * len(old.parts)
        self._bind(s.name, Known(tuple(changed)))

    def _set_field(self, s: ir.SetField) -> None:
        assert self.env is not None
        value, old = self.value(s.value), self.env.get(s.name)
        if isinstance(old, dict):
            self._bind(s.name, {**old, s.field: value})

    def _sample(self, s: ir.Sample) -> None:
        args = [self.value(a) for a in s.args]
        self._bind(s.state.name, unknown(s.state.type))
        self.types[s.name] = s.type
        self._bind(s.name, of_sample(s, args))

    def _if(self, s: ir.If) -> None:
        ends: list[tuple[Env, Meanings]] = []

        def run(body: ir.Body) -> None:
            self.body(body)
            if self.env is not None:
                ends.append((self.env, self.meanings))

        for condition, body in s.branches:
            assert self.env is not None
            self.value(condition)
            before, meant = dict(self.env), dict(self.meanings)
            self._given(condition, True)
            run(body)
            self.env, self.meanings = before, meant
            self._given(condition, False)
        run(s.orelse)
        self.env, self.meanings = merged(ends)

    def _loop(self, s: ir.For | ir.While) -> None:
        assert self.env is not None
        if isinstance(s, ir.For):
            start, stop = self.value(s.start), self.value(s.stop)
        changed = set(assigned(s.body))
        self._forget(changed)
        for name in changed & set(self.env):
            self.env[name] = unknown_like(self.env[name])
        before, meant = dict(self.env), dict(self.meanings)
        if isinstance(s, ir.For):
            assert isinstance(start, Known)
            assert isinstance(stop, Known)
            low = start.only[0] if s.step > 0 else stop.only[0] + 1
            high = stop.only[1] - 1 if s.step > 0 else start.only[1]
            self._bind(s.name, Known(((low, max(low, high)),)))
        else:
            self.value(s.condition)
            self._given(s.condition, True)
        self.body(s.body)
        self.env, self.meanings = before, meant

    # Conditions

    def _given(self, condition: expr.Expr, holds: bool) -> None:
        """Narrow what a condition that holds, or does not, compares."""
        if isinstance(condition, expr.Var):
            condition = self.meanings.get(condition.name, condition)
        if not isinstance(condition, _Op):
            return
        if condition.op == "not":
            self._given(condition.args[0], not holds)
        elif condition.op in ("and", "or"):
            if holds == (condition.op == "and"):
                for part in condition.args:
                    self._given(part, holds)
        elif condition.op in ORDERED:
            self._compared(condition, holds)

    def _compared(self, condition: expr.Op, holds: bool) -> None:
        left, right = condition.args
        below = (condition.op in ("lt", "le")) == holds
        for e, other, smaller in ((left, right, below), (right, left, not below)):
            bound = self.value(other)
            if isinstance(bound, Known) and len(bound.parts) == 1:
                low, high = bound.only
                # NaN makes every comparison false; values are finite.
                self._narrow(e, (-inf, high) if smaller else (low, inf))

    def _narrow(self, e: expr.Expr, to: Interval) -> None:
        assert self.env is not None
        if isinstance(e, expr.Var):
            old = self.env.get(e.name)
            if isinstance(old, Known) and len(old.parts) == 1:
                only = cut(old.only, to)
                self.env[e.name] = Known((only,), cut(old.norm, sizes(only)))
            if e.name in self.meanings:
                self._narrow(self.meanings[e.name], to)
        elif isinstance(e, _Op) and e.op in MEASURES and isinstance(e.args[0], expr.Var):
            vector = e.args[0]
            old = self.env.get(vector.name)
            if not isinstance(old, Known) or (e.op == "dot" and e.args[0] != e.args[1]):
                return
            low, high = max(0.0, to[0]), max(0.0, to[1])
            if e.op not in ("length", "norm_l2"):
                low, high = low**0.5, high**0.5
            norm = cut(old.norm, (low * (1 - 1e-5), high * (1 + 1e-5)))
            self.env[vector.name] = Known(old.parts, norm, old.dominated)

    # Expressions

    def value(self, e: expr.Expr) -> Value:
        """What is known of an expression here; notes the edges that it may come to."""
        return self._rules[type(e)](e)

    def _var(self, e: expr.Var) -> Value:
        assert self.env is not None
        found = self.env.get(e.name)
        return unknown(e.type) if found is None else found

    def _op(self, e: expr.Op) -> Value:
        if e.op == "lower_bound":
            self.value(e.args[1])
            return unknown(e.type)
        if e.op == "where":
            return self._where(e)
        args = [self.value(a) for a in e.args]
        edge = EDGES.get(e.op)
        if edge is not None:
            self._note(e, args[0], edge(e, args[0]))
        return result_of(e, args)

    def _where(self, e: expr.Op) -> Value:
        condition, *choices = e.args
        self.value(condition)
        assert self.env is not None
        before, found = dict(self.env), []
        for choice, holds in zip(choices, (True, False), strict=True):
            self._given(condition, holds)
            found.append(self.value(choice))
            self.env = dict(before)
        return joined(*found)

    def _note(self, e: expr.Op, value: Value, reached: bool) -> None:
        if reached:
            if isinstance(value, Known) and len(value.parts) == 1:
                self.found.low |= {id(e)} if value.only[0] < -1 else set()
                self.found.high |= {id(e)} if value.only[1] > 1 else set()
            self.found.at.add(id(e))
            self.found.functions.add((FUNCTIONS.get(e.op, e.op), e.type))
        else:
            self.found.safe.add(id(e))

    def _cast(self, e: expr.Cast) -> Value:
        value = self.value(e.value)
        if not isinstance(value, Known):
            return unknown(e.type)
        return made([widened(value.only, e.type)], e.type) if e.type.is_float else unknown(e.type)

    def _load(self, e: expr.Load) -> Value:
        for index in e.indices:
            self.value(index)
        return self.params[e.array.name]

    def _component(self, e: expr.Component) -> Value:
        value = self.value(e.value)
        for index in e.indices:
            self.value(index)
        if not isinstance(value, Known):
            return unknown(e.type)
        place = e.indices[0]
        if len(e.indices) == 1 and isinstance(place, expr.Const):
            part = value.parts[int(place.value)]
            return Known((part,), sizes(part))
        return Known((hull_of(value),), (0.0, inf))

    def _field(self, e: expr.Field) -> Value:
        value = self.value(e.value)
        return value[e.name] if isinstance(value, dict) else unknown(e.type)

    def _construct(self, e: expr.Construct) -> Value:
        args = [self.value(a) for a in e.args]
        if isinstance(e.type, Struct):
            return {name: a for (name, _), a in zip(e.type.fields, args, strict=True)}
        return constructed(e.type, [a for a in args if isinstance(a, Known)], count_of(e.type))

    def _call(self, e: expr.Call) -> Value:
        function = self.functions[e.function]
        args = [self.value(a) for a in e.args]
        outer = self.env, self.meanings, self.results, self.types
        self.env = {p.name: a for p, a in zip(function.params, args, strict=True)}
        self.types = {p.name: p.type for p in function.params}
        self.meanings, self.results = {}, []
        self.body(function.body)
        results = self.results
        self.env, self.meanings, self.results, self.types = outer
        found = results[0] if results else unknown(e.type)
        for result in results[1:]:
            found = joined(found, result)
        return found
