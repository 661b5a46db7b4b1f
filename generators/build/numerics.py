"""How numbers are stored and summed: half precision in memory, sums with the lost bits kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from generators.program import ir
from generators.program.dtypes import FLOAT16, FLOAT32, Array, Scalar
from generators.program.expr import Cast, Const, Expr, Extent, Load, Op, Var, literal
from generators.program.walk import changed, statements

LARGEST_HALF = 2048.0
"""Inputs of which some may be larger keep float32: halves are whole numbers there."""


def halves(params: Sequence[ir.Param]) -> list[str]:
    """The float32 input arrays that may be stored in half precision."""
    found = []
    for p in params:
        narrow = isinstance(p.type, Array) and p.type.element == FLOAT32 and p.role == "in"
        if narrow and p.init == "uniform" and _in_range(p):
            found.append(p.name)
    return found


def _in_range(p: ir.Param) -> bool:
    """Whether the values of an input are neither large nor all tiny."""
    try:
        low, high = float(p.low or 0.0), float(p.high or 1.0)
    except ValueError:
        return False
    return 1e-2 <= max(abs(low), abs(high)) <= LARGEST_HALF


def stored_half(params: Sequence[ir.Param], names: Sequence[str]) -> list[ir.Param]:
    """The parameters with these arrays in half precision."""
    return [
        replace(p, type=Array(FLOAT16, p.type.ndim))
        if isinstance(p.type, Array) and p.name in names
        else p
        for p in params
    ]


def widened(body: ir.Body, names: Sequence[str]) -> ir.Body:
    """A body that converts each element of these arrays to float32 as it reads it."""

    def load(node: Any) -> Any:
        if isinstance(node, Load | Extent) and node.array.name in names:
            assert isinstance(node.array.type, Array)
            array = Var(node.array.name, Array(FLOAT16, node.array.type.ndim))
            if isinstance(node, Extent):
                return replace(node, array=array)
            return Cast(Load(array, node.indices, FLOAT16), FLOAT32)
        return node

    found: ir.Body = changed(body, load)
    return found


def sums_of(body: ir.Body) -> list[tuple[ir.For, ir.AugAssign]]:
    """Float sums over loops whose length is not known before: each with its loop."""
    start = {s.name: s.value for s in body if isinstance(s, ir.Assign)}
    found = []
    for loop in (s for s in body if isinstance(s, ir.For) and not isinstance(s.stop, Const)):
        for s in loop.body:
            once = (
                sum(
                    getattr(t, "name", "") == getattr(s, "name", "?") for t in statements(loop.body)
                )
                == 1
            )
            is_sum = isinstance(s, ir.AugAssign) and s.op == "add" and _is_sum(start.get(s.name))
            if isinstance(s, ir.AugAssign) and is_sum and once:
                found.append((loop, s))
    return found


def _is_sum(start: Expr | None) -> bool:
    zero = isinstance(start, Const) and isinstance(start.type, Scalar) and start.type.is_float
    return zero and isinstance(start, Const) and float(start.value) == 0.0


def compensated(body: ir.Body, of: ir.AugAssign, names: tuple[str, str, str]) -> ir.Body:
    """A body in which one sum keeps what rounding takes from it.

    W. Kahan, "Further remarks on reducing truncation errors", CACM 8 (1965): with ``names`` of
    what was lost, of the corrected term and of the raised sum.
    """
    type_ = of.value.type
    assert isinstance(type_, Scalar)
    lost, term, raised = (Var(name, type_) for name in names)
    total = Var(of.name, type_)
    steps = (
        ir.Assign(term.name, of.value - lost),
        ir.Assign(raised.name, total + term),
        ir.Assign(lost.name, Op("sub", (raised - total, term), type_)),
        ir.Assign(total.name, raised),
    )
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.For) and of in s.body:
            at = s.body.index(of)
            s = replace(s, body=(*s.body[:at], *steps, *s.body[at + 1 :]))
        found.append(s)
        if isinstance(s, ir.Assign) and s.name == of.name and _is_sum(s.value):
            found.append(ir.Assign(lost.name, literal(0.0, type_)))
    return tuple(found)
