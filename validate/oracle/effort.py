"""A bound on the statements that a reference runs, the same on every machine: no clock is read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

BUDGET = "__budget__"
"""What instrumented code calls: a name that no reference may use, nor a class mangles."""

_BLOCKS = ("body", "orelse", "finalbody")
_NO_PLAIN_TURNS = (ast.For, ast.While, ast.Break, ast.Return, ast.FunctionDef, ast.Raise)


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
    own = frozenset(
        n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))
    )
    return ast.fix_missing_locations(_Instrument(own).visit(tree))


class _Instrument(ast.NodeTransformer):
    def __init__(self, own: frozenset[str]) -> None:
        self.own = own

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(_call("spend", statements_of(node.body))))
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        pay = "whole" if self._is_plain(node.body) else "turns"
        self.generic_visit(node)
        node.iter = _call(pay, statements_of(node.body), node.iter)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = ast.BoolOp(ast.And(), [_call("spend", statements_of(node.body)), node.test])
        return node

    def _is_plain(self, body: list[ast.stmt]) -> bool:
        """Whether turns with this body all take place and call nothing that pays."""
        nodes = [node for statement in body for node in ast.walk(statement)]
        return not any(
            isinstance(node, _NO_PLAIN_TURNS)
            or (isinstance(node, ast.Name) and node.id in self.own)
            for node in nodes
        )


def _call(name: str, statements: int, *arguments: ast.expr) -> ast.Call:
    called = ast.Attribute(ast.Name(BUDGET, ast.Load()), name, ast.Load())
    return ast.Call(called, [*arguments, ast.Constant(statements)], [])


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
