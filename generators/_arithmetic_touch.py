"""A light change of a result by drawn constants, and the search in expressions that it needs."""

from __future__ import annotations

from dataclasses import replace

from generators.build import KernelBuilder
from generators.expr import Const, Expr, Op, Var
from generators.touches import Touched, touch


def uses(e: Expr, part: Expr) -> int:
    """How often a part occurs in an expression."""
    if e == part:
        return 1
    return sum(uses(a, part) for a in e.args) if isinstance(e, Op) else 0


def replaced(e: Expr, part: Expr, new: Expr) -> Expr:
    if e == part:
        return new
    if isinstance(e, Op):
        return replace(e, args=tuple(replaced(a, part, new) for a in e.args))
    return e


def has_constant(e: Expr) -> bool:
    """Whether a literal that was drawn occurs in an expression; 1 and 0.5 are part of forms."""
    if isinstance(e, Op):
        return any(map(has_constant, e.args))
    return isinstance(e, Const) and float(e.value) not in (0.5, 1.0)


def finished(k: KernelBuilder, value: Expr, names: tuple[str, ...], scale: float = 1.0) -> Touched:
    """A touch of a value, which becomes a local where the touch reads it more than once."""
    touched = touch(k, value, scale)
    if isinstance(value, Var) or uses(touched.value, value) < 2:
        return touched
    return Touched(replaced(touched.value, value, k.let(names, value)), touched.phrase)
