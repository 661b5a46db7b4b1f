"""How often the loops of a thread turn at given sizes, as far as its reference's text tells."""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from validate.row.sizes import evaluate_all

_STEPS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


Known = Mapping[str, int | ast.expr]
"""What names stand for: numbers, or what the reference assigns to them once."""


def longest_loops(row: Mapping[str, Any], sizes: Mapping[str, int]) -> int:
    """The turns of the longest nest of loops over sizes in a row's reference, at least 1.

    Of ends that depend on the thread (`range(n - i)`) the greatest counts. Loops over the launch
    itself do not count, nor do loops whose ends depend on values.
    """
    shapes = {
        a["name"]: evaluate_all(a["shape"], sizes) for a in row["args"] if a["kind"] == "array"
    }
    known = {
        a["name"]: sizes[a["init"].partition(":")[2]]
        for a in row["args"]
        if a["kind"] == "scalar" and a["init"].partition(":")[2] in sizes
    }
    tree = ast.parse(row["reference"])
    return _turns(ast.iter_child_nodes(tree), {**_assigned_once(tree), **known}, shapes)


def _assigned_once(tree: ast.AST) -> dict[str, ast.expr]:
    """What stands on the right of names that are written once."""
    nodes = list(ast.walk(tree))
    written = Counter(
        n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )
    found = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if written[name] == 1:
                found[name] = value
    return found


def _turns(nodes: Iterable[ast.AST], known: Known, shapes: Mapping[str, tuple[int, ...]]) -> int:
    longest = 1
    for node in nodes:
        inside = _turns(ast.iter_child_nodes(node), known, shapes)
        if isinstance(node, ast.For):
            inside *= max(_length(node.iter, known, shapes), 1)
        longest = max(longest, inside)
    return longest


def _length(over: ast.expr, known: Known, shapes: Mapping[str, tuple[int, ...]]) -> int:
    """How many numbers a range has at most; 1 of what is no range of sizes."""
    match over:
        case ast.Call(func=ast.Name(id="range"), args=[*_, _] as ends):
            found = [_value(end, known, shapes) for end in ends]
            if None not in found:
                return len(range(*found))  # type: ignore[arg-type]
            if len(ends) < 3:
                return _most(ends[-1], known, shapes) or 1
    return 1


def _most(e: ast.expr, known: Known, shapes: Mapping[str, tuple[int, ...]]) -> int | None:
    """What an expression comes to at most, where only what is taken away depends on the thread."""
    if (value := _value(e, known, shapes)) is not None:
        return value
    match e:
        case ast.Name(id=name) if isinstance(meant := known.get(name), ast.expr):
            others = {other: what for other, what in known.items() if other != name}
            return _most(meant, others, shapes)
        case ast.BinOp(left=left, op=ast.Sub()):
            return _most(left, known, shapes)
    return None


def _value(e: ast.expr, known: Known, shapes: Mapping[str, tuple[int, ...]]) -> int | None:
    """What an expression of sizes comes to; None of any other."""
    match e:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            number = known.get(name)
            return number if isinstance(number, int) else None
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
