"""Which literals Warp must be told are variables."""

from __future__ import annotations

from generators.program import ir
from synth.render.text import changed, is_literal, nested


def loop_variables(body: ir.Body) -> set[int]:
    """Assignments of a literal, by id, to variables that a loop changes later.

    Warp takes a plain literal for a constant and refuses to change it in a loop, so these must be
    written ``float(0.0)``.
    """
    found: set[int] = set()
    _scan(body, {}, found)
    return found


def _scan(body: ir.Body, literals: dict[str, int], found: set[int]) -> None:
    """Walk a body with the variables that hold a literal at each point."""
    for statement in body:
        if isinstance(statement, ir.Assign):
            literals.pop(statement.name, None)
            if is_literal(statement.value):
                literals[statement.name] = id(statement)
        elif isinstance(statement, ir.AugAssign):
            literals.pop(statement.name, None)
        elif isinstance(statement, ir.For | ir.While):
            for name in changed(statement.body) & literals.keys():
                found.add(literals.pop(name))
            _scan(statement.body, literals, found)
        elif isinstance(statement, ir.If):
            for branch in nested((statement,)):
                _scan(branch, dict(literals), found)
            for name in changed((statement,)) & literals.keys():
                del literals[name]
