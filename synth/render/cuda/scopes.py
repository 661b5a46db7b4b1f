"""Where a C++ text declares the variables of a body: Python has functions, C++ has blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from generators.program import ir
from generators.program.expr import Expr, Var
from generators.program.walk import operands, parts, statements


def names_in(e: Expr) -> Iterator[str]:
    stack = [e]
    while stack:
        node = stack.pop()
        if isinstance(node, Var):
            yield node.name
        stack.extend(parts(node))


def direct_names(s: ir.Statement) -> set[str]:
    """Variables that a statement itself reads or writes, its blocks left out."""
    found = {name for e in operands(s) for name in names_in(e)}
    if isinstance(s, ir.Assign | ir.AugAssign | ir.SetComponent | ir.SetField | ir.Sample):
        found.add(s.name)
    return found


def _blocks(s: ir.Statement) -> list[ir.Body]:
    if isinstance(s, ir.If):
        return [*(body for _, body in s.branches), *([s.orelse] if s.orelse else [])]
    return [s.body] if isinstance(s, ir.For | ir.While) else []


def all_names(s: ir.Statement) -> set[str]:
    return direct_names(s).union(*(all_names(inner) for b in _blocks(s) for inner in b))


class _Names:
    """What statements mention, each looked at once."""

    def __init__(self) -> None:
        self._direct: dict[int, set[str]] = {}
        self._all: dict[int, set[str]] = {}

    def direct(self, s: ir.Statement) -> set[str]:
        found = self._direct.get(id(s))
        if found is None:
            found = self._direct[id(s)] = direct_names(s)
        return found

    def all(self, s: ir.Statement) -> set[str]:
        found = self._all.get(id(s))
        if found is None:
            inner = (self.all(part) for block in _blocks(s) for part in block)
            found = self._all[id(s)] = self.direct(s).union(*inner)
        return found


@dataclass
class Declarations:
    """``at``: assignments, by id, that declare. ``before``: names to declare before a statement."""

    at: set[int] = field(default_factory=set)
    before: dict[int, list[str]] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)


def plan(body: ir.Body, given: set[str]) -> Declarations:
    """Where each local of a body is declared; ``given`` are its parameters."""
    found = Declarations()
    locals_: dict[str, None] = {}
    times: dict[str, int] = {}
    for s in statements(body):
        if isinstance(s, ir.Assign | ir.Sample):
            locals_[s.name] = None
        if isinstance(s, ir.Assign | ir.Sample | ir.AugAssign | ir.SetComponent | ir.SetField):
            times[s.name] = times.get(s.name, 0) + 1
        if isinstance(s, ir.Sample):
            times[s.state.name] = times.get(s.state.name, 0) + 1
    names = _Names()
    for name in locals_:
        if name not in given:
            _place(body, name, found, names)
    found.changed = {name for name, count in times.items() if count > 1 or name in given}
    return found


def _place(body: ir.Body, name: str, found: Declarations, names: _Names) -> None:
    uses = [s for s in body if name in names.all(s)]
    if not uses:
        return
    direct = [s for s in uses if name in names.direct(s)]
    if not direct and all(_defines(b, name, names) for s in uses for b in _blocks(s)):
        for s in uses:
            for block in _blocks(s):
                _place(block, name, found, names)
        return
    first = uses[0]
    if _is_definition(first, name):
        found.at.add(id(first))
    else:
        found.before.setdefault(id(first), []).append(name)


def _is_definition(s: ir.Statement, name: str) -> bool:
    if isinstance(s, ir.Sample):
        return s.name == name
    return isinstance(s, ir.Assign) and s.name == name and name not in set(names_in(s.value))


def defines(block: ir.Body, name: str) -> bool:
    """Whether a block does not know the variable, or gives it a value before it reads it."""
    return _defines(block, name, _Names())


def _defines(block: ir.Body, name: str, names: _Names) -> bool:
    uses = [s for s in block if name in names.all(s)]
    if not uses or _is_definition(uses[0], name):
        return True
    inner = [s for s in uses if name in names.direct(s)]
    return not inner and all(_defines(b, name, names) for s in uses for b in _blocks(s))
