"""Prints an expression as a formula for a description: ``0.5 * (x + y)``, without indices."""

from __future__ import annotations

from generators.expr import Cast, Component, Const, Expr, Load, Op, Var

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def formula(e: Expr) -> str:
    """The formula of an expression of scalars; array elements print as the array's name."""
    match e:
        case Var():
            return e.name
        case Load():
            return e.array.name
        case Const():
            return str(e.value)
        case Cast():
            return formula(e.value)
        case Component():
            return f"{formula(e.value)}[{', '.join(map(formula, e.indices))}]"
        case Op() if e.op in _INFIX:
            left, right = (_operand(a) for a in e.args)
            return f"{left} {_INFIX[e.op]} {right}"
        case Op():
            return f"{e.op}({', '.join(map(formula, e.args))})"
    raise TypeError(f"no formula for {type(e).__name__}")


def _operand(e: Expr) -> str:
    text = formula(e)
    return f"({text})" if isinstance(e, Op) and e.op in _INFIX else text
