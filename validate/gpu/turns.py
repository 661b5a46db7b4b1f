"""How often the loops of a thread turn at given sizes, as far as its reference's text tells."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from validate.row.sizes import evaluate_all

_STEPS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def longest_loops(row: Mapping[str, Any], sizes: Mapping[str, int]) -> int:
    """The turns of the longest nest of loops over sizes in a row's reference, at least 1.

    Loops over the launch itself do not count, nor do loops whose ends depend on values.
    """
    shapes = {
        a["name"]: evaluate_all(a["shape"], sizes) for a in row["args"] if a["kind"] == "array"
    }
    known = {
        a["name"]: sizes[a["init"].partition(":")[2]]
        for a in row["args"]
        if a["kind"] == "scalar" and a["init"].partition(":")[2] in sizes
    }
    return _turns(ast.iter_child_nodes(ast.parse(row["reference"])), known, shapes)


def _turns(
    nodes: Iterable[ast.AST], known: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]
) -> int:
    longest = 1
    for node in nodes:
        inside = _turns(ast.iter_child_nodes(node), known, shapes)
        if isinstance(node, ast.For):
            inside *= max(_length(node.iter, known, shapes), 1)
        longest = max(longest, inside)
    return longest


def _length(over: ast.expr, known: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]) -> int:
    """How many numbers a range has; 1 of what is no range of sizes."""
    match over:
        case ast.Call(func=ast.Name(id="range"), args=[*_, _] as ends):
            found = [_value(end, known, shapes) for end in ends]
            if None not in found:
                return len(range(*found))  # type: ignore[arg-type]
    return 1


def _value(
    e: ast.expr, known: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]
) -> int | None:
    """What an expression of sizes comes to; None of any other."""
    match e:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return known.get(name)
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
            slice=ast.Constant(value=int(axis)),
        ) if name in shapes:
            return shapes[name][axis]
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in shapes:
            return shapes[name][0]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _STEPS:
            a, b = _value(left, known, shapes), _value(right, known, shapes)
            return None if a is None or b is None else _STEPS[type(op)](a, b)
    return None
