"""Indices with the locals that they are made of put in, and bodies without those locals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from generators.program import ir
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Load, Op, Var
from generators.program.walk import operands, parts, statements


def values_of(body: ir.Body) -> dict[str, Expr]:
    """Integer locals that are given a value once, with what they are made of put in."""
    changing = (ir.Assign, ir.AugAssign)
    times = Counter(s.name for s in statements(body) if isinstance(s, changing))
    found: dict[str, Expr] = {}
    for s in statements(body):
        if isinstance(s, ir.Assign) and times[s.name] == 1 and s.value.type == INT32:
            found[s.name] = put_in(s.value, found)
    return found


def put_in(e: Expr, values: Mapping[str, Expr]) -> Expr:
    """An expression of integers with locals replaced by their values."""
    if isinstance(e, Var):
        return values.get(e.name, e)
    if isinstance(e, Op):
        return replace(e, args=tuple(put_in(a, values) for a in e.args))
    return e


def without_unasked(body: ir.Body, loads: Collection[int]) -> ir.Body:
    """A body without the integer locals that nothing asks for, but the indices of some loads, which
    are given by id."""
    while True:
        asked = Counter(name for s in statements(body) for name in _asked(s, loads))
        kept = _kept(body, asked)
        if kept == body:
            return body
        body = kept


def _kept(body: ir.Body, asked: Mapping[str, int]) -> ir.Body:
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.Assign) and s.value.type == INT32 and not asked[s.name]:
            continue
        if isinstance(s, ir.If):
            branches = tuple((test, _kept(inner, asked)) for test, inner in s.branches)
            orelse = _kept(s.orelse, asked)
            changed = any(
                new is not old for (_, new), (_, old) in zip(branches, s.branches, strict=True)
            )
            if changed or orelse is not s.orelse:
                s = replace(s, branches=branches, orelse=orelse)
        elif isinstance(s, ir.For | ir.While):
            inner = _kept(s.body, asked)
            s = s if inner is s.body else replace(s, body=inner)
        found.append(s)
    same = len(found) == len(body) and all(a is b for a, b in zip(found, body, strict=True))
    return body if same else tuple(found)


def _asked(s: ir.Statement, loads: Collection[int]) -> Iterator[str]:
    """Variables that a statement asks for, the indices of some loads left out."""
    stack = list(operands(s))
    while stack:
        e = stack.pop()
        if isinstance(e, Var):
            yield e.name
        elif not (isinstance(e, Load) and id(e) in loads):
            stack += parts(e)
    if isinstance(s, ir.AugAssign | ir.SetComponent | ir.SetField):
        yield s.name
