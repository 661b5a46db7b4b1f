"""Visits every node of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from operator import attrgetter, is_
from typing import Any

from generators.program import ir
from generators.program.dtypes import Type
from generators.program.expr import (
    Call,
    Cast,
    Component,
    Construct,
    Expr,
    Extent,
    Field,
    Load,
    Op,
    Var,
)
from generators.program.tiles import TileExpr, TileLoad


def statements(body: ir.Body) -> Iterator[ir.Statement]:
    """Every statement of a body, nested ones too, in order."""
    for s in body:
        yield s
        if isinstance(s, ir.If):
            for _, inner in s.branches:
                yield from statements(inner)
            yield from statements(s.orelse)
        elif isinstance(s, (ir.For, ir.While)):
            yield from statements(s.body)


def operands(s: ir.Statement) -> tuple[Expr, ...]:
    """The expressions that stand directly in a statement."""
    match s:
        case ir.Assign() | ir.AugAssign() | ir.SetField():
            return (s.value,)
        case ir.SetComponent() | ir.Store():
            return (*s.indices, s.value)
        case ir.Atomic():
            return (*s.indices, s.value, *((s.compare,) if s.compare else ()))
        case ir.Sample():
            return (s.state, *s.args)
        case ir.TileMatmul():
            return (s.a, s.b)
        case ir.TileStore():
            return (*s.offset, s.value)
        case ir.If():
            return tuple(condition for condition, _ in s.branches)
        case ir.For():
            return (s.start, s.stop)
        case ir.While():
            return (s.condition,)
        case ir.Return():
            return () if s.value is None else (s.value,)
        case _:
            return ()


def parts(e: Expr) -> tuple[Expr, ...]:
    """The expressions that an expression is made of."""
    of = _PARTS.get(type(e))
    if of is None:
        return e.parts if isinstance(e, TileExpr) else ()
    return of(e)


_PARTS: dict[type[Expr], Callable[[Any], tuple[Expr, ...]]] = {
    **dict.fromkeys((Op, Call, Construct), attrgetter("args")),
    **dict.fromkeys((Cast, Field), lambda e: (e.value,)),
    Load: attrgetter("indices"),
    Component: lambda e: (e.value, *e.indices),
}


def expressions(body: ir.Body) -> Iterator[Expr]:
    """Every expression of a body with all its parts."""
    return nodes(e for s in statements(body) for e in operands(s))


def nodes(trees: Iterable[Expr]) -> Iterator[Expr]:
    """Expressions with all their parts."""
    stack = list(trees)
    while stack:
        e = stack.pop()
        yield e
        stack.extend(parts(e))


def names_read(trees: Iterable[Expr]) -> Iterator[str]:
    """The name of each variable and array that expressions read, as often as they do."""
    stack = list(trees)
    while stack:
        e = stack.pop()
        if isinstance(e, Var):
            yield e.name
            continue
        if isinstance(e, (Load, TileLoad)):
            yield e.array.name
        stack.extend(parts(e))


def mentions(e: Expr, name: str, left_out: Callable[[Load], bool]) -> bool:
    """Whether a variable stands in an expression, the indices of some loads left out."""
    if isinstance(e, Load) and left_out(e):
        return False
    if isinstance(e, Var):
        return e.name == name
    return any(mentions(part, name, left_out) for part in parts(e))


def uses(e: Expr, part: Expr) -> int:
    """How often a part occurs among the operands of ops in an expression."""
    if e == part:
        return 1
    return sum(uses(a, part) for a in e.args) if isinstance(e, Op) else 0


def replaced(e: Expr, part: Expr, new: Expr) -> Expr:
    """An expression with a part of the same type replaced wherever :func:`uses` counts it."""
    if e == part:
        return new
    if isinstance(e, Op):
        return replace(e, args=tuple(replaced(a, part, new) for a in e.args))
    return e


def changed(node: Any, change: Callable[[Any], Any]) -> Any:
    """A tree with each node, from the leaves up, put through ``change``."""
    if isinstance(node, tuple):
        found = tuple([changed(part, change) for part in node])
        return node if all(map(is_, found, node)) else found
    kind = type(node)
    if kind not in _FIELDS:
        _FIELDS[kind] = _fields_of(kind)
    names = _FIELDS[kind]
    if names is None:
        return node
    parts = [getattr(node, name) for name in names]
    new = [changed(part, change) for part in parts]
    same = all(map(is_, new, parts))
    return change(node if same else kind(**dict(zip(names, new, strict=True))))


_FIELDS: dict[type, tuple[str, ...] | None] = {}


def _fields_of(kind: type) -> tuple[str, ...] | None:
    """The fields of a kind of node; None: it is a leaf."""
    if not is_dataclass(kind) or issubclass(kind, Type):
        return None
    return tuple(f.name for f in fields(kind))


def bodies(program: ir.Program) -> tuple[ir.Body, ...]:
    return (*(f.body for f in program.functions), program.kernel.body)


def used_ops(program: ir.Program) -> list[str]:
    """Names of the operators, builtins, casts and atomics in a program, sorted."""
    found: set[str] = set()
    for body in bodies(program):
        for s in statements(body):
            found.add(_statement_op(s))
        for e in expressions(body):
            if isinstance(e, Op):
                found.add(e.op)
            elif isinstance(e, TileExpr):
                found.add(e.builtin)
            elif isinstance(e, Cast):
                found.add("cast")
            elif isinstance(e, Extent):
                found.add("len")
    return sorted(found - {""})


def _statement_op(s: ir.Statement) -> str:
    """The op that a statement is by itself; empty where it is none."""
    match s:
        case ir.Atomic():
            return f"atomic_{s.op}"
        case ir.Sample():
            return s.sampler
        case ir.AugAssign() | ir.Store() | ir.SetComponent():
            return s.op
        case ir.TileMatmul():
            return "tile_matmul"
        case ir.TileStore():
            return f"tile_atomic_{s.op}" if s.op else "tile_store"
    return ""
