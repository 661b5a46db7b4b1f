"""Elements that a thread writes more than once, as a variable that is stored once at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from generators.program import ir
from generators.program.expr import Load, Var
from generators.program.walk import changed, expressions, names_read, statements
from synth.gradient.sweep import assigned

Fresh = Callable[[str], str]


def stored_once(body: ir.Body, fresh: Fresh) -> ir.Body:
    """A body in which what a block writes to an element and then writes or reads again is a
    variable until the block ends.

    Reverse mode could not tell the cotangent of what stays from that of what is overwritten.
    """
    found: list[ir.Statement] = []
    for place, s in enumerate(body):
        rest = body[place + 1 :]
        if isinstance(s, ir.Store) and not s.op and _comes_again(s, rest):
            kept = Var(fresh(f"{s.array.name}_value"), s.value.type)
            again = tuple(_kept(o, s, kept) for o in rest)
            last = ir.Store(s.array, s.indices, "", kept)
            return (*found, *stored_once((ir.Assign(kept.name, s.value), *again), fresh), last)
        found.append(_within(s, fresh))
    return tuple(found)


def _within(s: ir.Statement, fresh: Fresh) -> ir.Statement:
    if isinstance(s, ir.If):
        branches = tuple((test, stored_once(b, fresh)) for test, b in s.branches)
        return ir.If(branches, stored_once(s.orelse, fresh))
    if isinstance(s, ir.For):
        return replace(s, body=stored_once(s.body, fresh))
    return s


def _comes_again(s: ir.Store, rest: Sequence[ir.Statement]) -> bool:
    """Whether the same element, and no other of its array, is written or read in what follows."""
    later = tuple(rest)
    places = [o.indices for o in statements(later) if isinstance(o, ir.Store) and _same(o, s)]
    places += [e.indices for e in expressions(later) if isinstance(e, Load) and _same(e, s)]
    if not places or any(indices != s.indices for indices in places):
        return False
    if any(isinstance(o, ir.Atomic) and o.array.name == s.array.name for o in statements(later)):
        return False
    counters = {o.name for o in statements(later) if isinstance(o, ir.For)}
    return not set(names_read(s.indices)) & {*assigned(later), *counters}


def _same(node: ir.Store | Load, s: ir.Store) -> bool:
    return node.array.name == s.array.name


def _kept(node: Any, s: ir.Store, kept: Var) -> Any:
    """A statement with the variable in place of the element."""

    def change(part: Any) -> Any:
        if isinstance(part, ir.Store) and _same(part, s):
            if part.op:
                return ir.AugAssign(kept.name, part.op, part.value)
            return ir.Assign(kept.name, part.value)
        return kept if isinstance(part, Load) and _same(part, s) else part

    return changed(node, change)
