"""Enums that have more than members: methods, properties and Warp functions of their own.

A row has the members alone, so what the rest of the class gives is written out where it is used.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from typing import Any

from synth.harvest.names import Source, Surroundings


def function_uses(source: Source, around: Surroundings) -> Iterator[tuple[ast.Attribute, Any]]:
    """Each ``Kind.name`` with what it is, where ``Kind`` is an enum and ``name`` no member."""
    own = source.own_names()
    for node in source.attributes():
        if not isinstance(node.value, ast.Name) or node.value.id in own:
            continue
        kind: Any = around.get(node.value.id)
        if _is_enum(kind) and node.attr not in kind.__members__ and hasattr(kind, node.attr):
            yield node, getattr(kind, node.attr)


def static_uses(source: Source, around: Surroundings) -> Iterator[tuple[ast.Call, Any]]:
    """Each ``wp.static(…)`` with its value, where an enum stands in it that has more than members
    and the value takes nothing from the function."""
    own = source.own_names()
    for statement in source.node.body:
        for node in ast.walk(statement):
            if not _is_static(node) or not isinstance(node, ast.Call):
                continue
            names = {n.id for n in ast.walk(node.args[0]) if isinstance(n, ast.Name)}
            if names & own or not any(_has_more(around.get(name)) for name in names):
                continue
            if around.evaluates(node.args[0]):
                yield node, around.evaluate(node.args[0])


def _is_static(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "static"
        and len(node.args) == 1
    )


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def _has_more(kind: Any) -> bool:
    if not _is_enum(kind):
        return False
    own = (n for n in vars(kind) if not n.startswith("_") and n not in kind.__members__)
    return any(own)
