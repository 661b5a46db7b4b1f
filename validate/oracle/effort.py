"""A bound on the statements that a reference runs, the same on every machine: no clock is read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

BUDGET = "__budget__"
"""What instrumented code calls: a name that no reference may use, nor a class mangles."""

_BLOCKS = ("body", "orelse", "finalbody")
_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
_PAYS = (ast.FunctionDef, ast.For, ast.While)
_NOT_PLAIN = (*_PAYS, ast.Break, ast.Return, ast.Raise)


class TooLong(Exception):  # noqa: N818 - it is a result, not an error of ours
    """More statements would be run than were allowed."""


class Budget:
    """Counts down, and raises TooLong below zero.

    `foreseen`: a run that is sure to come there, unless it fails, is not begun.
    """

    def __init__(self, statements: int, *, foreseen: bool = False) -> None:
        self.allowed = self.left = statements
        self.foreseen = foreseen

    @property
    def spent(self) -> int:
        """Statements run so far."""
        return self.allowed - self.left

    def spend(self, statements: int) -> bool:
        """One turn of a loop, or one call, of that many statements."""
        self.left -= statements
        if self.left < 0:
            raise TooLong
        return True

    def added(self, numbers: Iterable[int]) -> int:
        """The sum of what is to be paid for, none of it negative; none of it is paid for."""
        total = 0
        for number in numbers:
            total += number
            if total > self.left:
                raise TooLong
        return total

    def turns(self, over: Iterable[Any], statements: int) -> Iterator[Any]:
        """The same turns, each paid for."""
        for turn in over:
            self.left -= statements
            if self.left < 0:
                raise TooLong
            yield turn

    def whole(self, over: Iterable[Any], statements: int) -> Iterable[Any]:
        """The same turns, none of which pays for anything else or is the last before its time:
        paid for together, where there is enough for all."""
        if type(over) is range and len(over) * statements <= self.left:
            self.left -= len(over) * statements
            return over
        return self.turns(over, statements)


def instrumented(tree: ast.Module) -> ast.Module:
    """The tree with every call of its functions and every turn of its loops paid for from the
    :class:`Budget` that its namespace has as ``BUDGET``; the tree given is changed."""
    own: set[str] = set()
    _name_own(tree.body, own)
    _pay(tree.body, own)
    return tree


def _blocks_of(node: ast.AST) -> Iterator[list[Any]]:
    """The lists of statements, handlers and cases that stand in a statement."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list) and value and isinstance(value[0], _STATEMENTS):
            yield value


def _name_own(body: list[Any], own: set[str]) -> None:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            own.add(node.name)
        for inner in _blocks_of(node):
            _name_own(inner, own)


def _pay(body: list[Any], own: set[str]) -> bool:
    """Put payments into a block; whether it is left at its end alone and has no loop in it."""
    plain = True
    for node in body:
        # Counted before payments stand in it.
        cost = statements_of(node.body) if isinstance(node, _PAYS) else 0
        # All of them, plain or not.
        found = [_pay(inner, own) for inner in _blocks_of(node)]
        inside = all(found)
        if isinstance(node, ast.FunctionDef):
            node.body.insert(0, ast.Expr(_call("spend", node, cost), **_at(node)))
        elif isinstance(node, ast.For):
            whole = inside and not _calls(node.body, own)
            node.iter = _call("whole" if whole else "turns", node, cost, node.iter)
        elif isinstance(node, ast.While):
            paid = _call("spend", node, cost)
            node.test = ast.BoolOp(ast.And(), [paid, node.test], **_at(node))
        plain = plain and inside and not isinstance(node, _NOT_PLAIN)
    return plain


def _calls(body: list[ast.stmt], own: set[str]) -> bool:
    """Whether a block names functions that pay."""
    nodes = (node for statement in body for node in ast.walk(statement))
    return any(isinstance(node, ast.Name) and node.id in own for node in nodes)


def _call(name: str, where: ast.stmt, statements: int, *arguments: ast.expr) -> ast.Call:
    at = _at(where)
    called = ast.Attribute(ast.Name(BUDGET, ast.Load(), **at), name, ast.Load(), **at)
    return ast.Call(called, [*arguments, ast.Constant(statements, **at)], [], **at)


def _at(node: ast.stmt) -> dict[str, Any]:
    return {"lineno": node.lineno, "col_offset": node.col_offset}


def statements_of(body: list[ast.stmt]) -> int:
    """How many statements a block has, at least one, those of its branches with them and those of
    loops and functions in it without, which pay for themselves."""
    count = 1
    for node in body:
        count += 1
        if not isinstance(node, (ast.For, ast.While, ast.FunctionDef)):
            for block in _BLOCKS:
                inner = getattr(node, block, [])
                count += statements_of(inner) - 1 if inner else 0
    return count
