"""A bound on the statements that a reference runs, the same on every machine: no clock is read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

BUDGET = "__budget__"
"""What instrumented code calls: a name that no reference may use, nor a class mangles."""

_BLOCKS = ("body", "orelse", "finalbody")


class TooLong(Exception):  # noqa: N818 - it is a result, not an error of ours
    """More statements would be run than were allowed."""


class Budget:
    """Counts down, and raises TooLong below zero."""

    def __init__(self, statements: int) -> None:
        self.allowed = self.left = statements

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

    def turns(self, over: Iterable[Any], statements: int) -> Iterator[Any]:
        """The same turns, each paid for."""
        for turn in over:
            self.spend(statements)
            yield turn


def instrumented(tree: ast.Module) -> ast.Module:
    """The tree with every call of its functions and every turn of its loops paid for from the
    :class:`Budget` that its namespace has as ``BUDGET``; the tree given is changed."""
    return ast.fix_missing_locations(_Instrument().visit(tree))


class _Instrument(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(_call("spend", _statements(node.body))))
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = _call("turns", _statements(node.body), node.iter)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = ast.BoolOp(ast.And(), [_call("spend", _statements(node.body)), node.test])
        return node


def _call(name: str, statements: int, *arguments: ast.expr) -> ast.Call:
    called = ast.Attribute(ast.Name(BUDGET, ast.Load()), name, ast.Load())
    return ast.Call(called, [*arguments, ast.Constant(statements)], [])


def _statements(body: list[ast.stmt]) -> int:
    """How many statements a block has, at least one, those of its branches with them and those of
    loops and functions in it without, which pay for themselves."""
    count = 1
    for node in body:
        count += 1
        if not isinstance(node, (ast.For, ast.While, ast.FunctionDef)):
            for block in _BLOCKS:
                inner = getattr(node, block, [])
                count += _statements(inner) - 1 if inner else 0
    return count
