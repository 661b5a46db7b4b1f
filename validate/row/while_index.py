"""Floats that a `while` loop reads at an index which ends the loop.

Warp's adjoint of a `while` reads such an index as the loop left it, not as it was in each turn:
`while node < n` leaves n, one past the last element, and there the adjoint adds to the gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from validate.row.adjoint import has_gradient


def read_past_while(row: Mapping[str, Any]) -> str | None:
    """An array with a gradient that a row's reference reads so; None where there is none."""
    floats = {arg["name"] for arg in row["args"] if has_gradient(arg)}
    for node in ast.walk(ast.parse(row["reference"])):
        if isinstance(node, ast.While):
            ends = _names(node.test) & _assigned(node.body)
            for array, index in _read(node.body):
                if array in floats and _names(index) & ends:
                    return array
    return None


def _names(e: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(e) if isinstance(node, ast.Name)}


def _assigned(body: list[ast.stmt]) -> set[str]:
    nodes = (node for statement in body for node in ast.walk(statement))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _read(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Names of arrays and the indices at which statements read them."""
    for statement in body:
        for node in ast.walk(statement):
            match node:
                case ast.Subscript(value=ast.Name(id=array), slice=index, ctx=ast.Load()):
                    yield array, index
