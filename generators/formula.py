"""Prints an expression as a formula for a description: ``0.5 * (x + y)``, without indices."""

from __future__ import annotations

from generators.expr import Cast, Component, Const, Expr, Extent, Load, Op, Var

_INFIX = {"add": ("+", 1), "sub": ("-", 1), "mul": ("*", 2), "div": ("/", 2)}
_STRICT = {"add": 0, "sub": 1, "mul": 0, "div": 1}
"""Whether the right operand needs parentheses at the operator's own level."""


def formula(e: Expr) -> str:
    """The formula of an expression of scalars; array elements print as the array's name."""
    match e:
        case Var():
            return e.name
        case Load():
            return e.array.name
        case Extent():
            return f"the length of {e.array.name}"
        case Const():
            return str(e.value)
        case Cast():
            return formula(e.value)
        case Component():
            return f"{formula(e.value)}[{', '.join(map(formula, e.indices))}]"
        case Op() if e.op in _INFIX:
            sign, level = _INFIX[e.op]
            left, right = e.args
            return f"{_operand(left, level)} {sign} {_operand(right, level + _STRICT[e.op])}"
        case Op():
            return f"{e.op}({', '.join(map(formula, e.args))})"
    raise TypeError(f"no formula for {type(e).__name__}")


def _operand(e: Expr, level: int) -> str:
    text = formula(e)
    weaker = isinstance(e, Op) and e.op in _INFIX and _INFIX[e.op][1] < level
    return f"({text})" if weaker or text.startswith("-") else text
