"""Takes out assignments to locals that nothing reads."""

from __future__ import annotations

from dataclasses import replace

from generators.program import ir
from generators.program.walk import names_read, operands, statements


def read_names(body: ir.Body) -> set[str]:
    """Variables and arrays that a body reads."""
    return set(names_read(e for s in statements(body) for e in operands(s)))


def pruned(body: ir.Body) -> ir.Body:
    """The body without what only feeds unread locals, as far as no block becomes empty."""
    while True:
        shorter = _without_unread(body, read_names(body))
        if shorter is None or shorter == body:
            return body
        body = shorter


def _without_unread(body: ir.Body, read: set[str]) -> ir.Body | None:
    """None where a block would be left without a statement."""
    kept: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.Assign | ir.AugAssign | ir.SetComponent) and s.name not in read:
            continue
        if isinstance(s, ir.If):
            branches = [(test, _without_unread(inner, read)) for test, inner in s.branches]
            orelse = _without_unread(s.orelse, read) if s.orelse else ()
            if orelse is None or any(inner is None for _, inner in branches):
                return None
            s = replace(s, branches=tuple((t, b) for t, b in branches if b), orelse=orelse)
        elif isinstance(s, ir.For | ir.While):
            inner = _without_unread(s.body, read)
            if inner is None:
                return None
            s = replace(s, body=inner)
        kept.append(s)
    return tuple(kept) if any(not isinstance(s, ir.Comment) for s in kept) else None
