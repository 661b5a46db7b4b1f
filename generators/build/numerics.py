"""How numbers are stored: half precision in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from generators.program import ir
from generators.program.dtypes import FLOAT16, FLOAT32, Array
from generators.program.expr import Cast, Extent, Load, Var
from generators.program.walk import changed

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
