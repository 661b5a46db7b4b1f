"""Small parts of the walk over a program: names that statements assign, where branches meet."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from generators.program import expr, ir
from generators.program.walk import parts, statements
from synth.render.ranges.known import Interval, Known, Value, joined, written

MEASURES = ("length", "length_sq", "norm_l2", "dot")
"""Ops that measure a vector: what narrows them narrows its length."""
ORDERED = ("lt", "le", "gt", "ge")
TESTS = (*ORDERED, "and", "or", "not")
Env = dict[str, Value]
"""What is known of each variable."""
Meanings = dict[str, expr.Expr]
"""Measures and tests that variables stand for."""


def of_literal(e: expr.Const) -> Value:
    only = written(float(e.value), e.type)
    return Known((only,), sizes(only))


def sizes(only: Interval) -> Interval:
    low, high = abs(only[0]), abs(only[1])
    return (0.0 if only[0] <= 0 <= only[1] else min(low, high), max(low, high))


def hull_of(value: Known) -> Interval:
    return min(p[0] for p in value.parts), max(p[1] for p in value.parts)


def names(e: expr.Expr) -> set[str]:
    found = {e.name} if isinstance(e, expr.Var) else set()
    for part in parts(e):
        found |= names(part)
    return found


def assigned(body: ir.Body) -> Iterator[str]:
    for s in statements(body):
        if isinstance(s, ir.Assign | ir.AugAssign | ir.SetComponent | ir.SetField | ir.For):
            yield s.name
        elif isinstance(s, ir.Sample):
            yield s.name
            yield s.state.name


def unknown_like(value: Value) -> Value:
    if isinstance(value, dict):
        return {name: unknown_like(v) for name, v in value.items()}
    return Known(((-inf, inf),) * len(value.parts))


def merged(
    ends: list[tuple[Env, Meanings]],
) -> tuple[Env | None, Meanings]:
    """What is known where branches come together."""
    if not ends:
        return None, {}
    env, meanings = ends[0]
    for other, meant in ends[1:]:
        env = {n: joined(v, other[n]) for n, v in env.items() if n in other}
        meanings = {n: m for n, m in meanings.items() if meant.get(n) == m}
    return env, meanings
