"""Expressions that PyTorch has a function for, as people who use it write them."""

from __future__ import annotations

from collections.abc import Callable

from generators.program import expr
from synth.render.array.dialects.dialect import Uses
from synth.render.doc import Doc, call

_NEAR_ONE = ("1.0", "1")


def _is_one(e: expr.Expr) -> bool:
    return isinstance(e, expr.Const) and str(e.value) in _NEAR_ONE


def _args(e: expr.Expr, op: str) -> tuple[expr.Expr, ...]:
    """The arguments of that op, none of another expression."""
    return e.args if isinstance(e, expr.Op) and e.op == op else ()


def _one_plus(e: expr.Expr) -> expr.Expr | None:
    """What is added to one."""
    args = _args(e, "add")
    for one, rest in (args, args[::-1]) if args else ():
        if _is_one(one):
            return rest
    return None


def _one_plus_exp(e: expr.Expr) -> expr.Expr | None:
    """``x`` of ``1 + exp(x)``."""
    rest = _one_plus(e)
    found = _args(rest, "exp") if rest is not None else ()
    return found[0] if found else None


def _sigmoid(node: expr.Expr) -> expr.Expr | None:
    """``x`` of ``1 / (1 + exp(-x))``."""
    args = _args(node, "div")
    power = _one_plus_exp(args[1]) if args and _is_one(args[0]) else None
    negated = _args(power, "neg") if power is not None else ()
    return negated[0] if negated else None


def _silu(node: expr.Expr) -> expr.Expr | None:
    """``x`` of ``x * sigmoid(x)`` or ``x / (1 + exp(-x))``."""
    args = _args(node, "mul")
    for value, factor in (args, args[::-1]) if args else ():
        if _sigmoid(factor) == value:
            return value
    args = _args(node, "div")
    power = _one_plus_exp(args[1]) if args else None
    if power is not None and _args(power, "neg") == (args[0],):
        return args[0]
    return None


def _softplus(node: expr.Expr) -> expr.Expr | None:
    """``x`` of ``log(1 + exp(x))``."""
    args = _args(node, "log")
    return _one_plus_exp(args[0]) if args else None


def _half_of(node: expr.Expr) -> tuple[expr.Expr, expr.Expr] | None:
    """``x`` and ``y`` of ``0.5 * x * y``, in the orders in which it is written."""
    factors = _factors(node)
    halves = [f for f in factors if isinstance(f, expr.Const) and str(f.value) == "0.5"]
    left = [f for f in factors if f not in halves]
    return (left[0], left[1]) if len(halves) == 1 and len(left) == 2 else None


def _factors(node: expr.Expr) -> list[expr.Expr]:
    args = _args(node, "mul")
    return [f for a in args for f in _factors(a)] if args else [node]


def _times(node: expr.Expr, factor: float) -> expr.Expr | None:
    """``x`` of ``factor * x``, the factor written to six places or more."""
    args = _args(node, "mul")
    for number, rest in (args, args[::-1]) if args else ():
        if isinstance(number, expr.Const) and abs(float(number.value) - factor) < 1e-6:
            return rest
    return None


def _gelu(node: expr.Expr) -> expr.Expr | None:
    """``x`` of ``0.5 * x * (1 + erf(x / sqrt(2)))``."""
    parts = _half_of(node)
    for x, other in (parts, parts[::-1]) if parts else ():
        rest = _one_plus(other)
        inner = _args(rest, "erf") if rest is not None else ()
        if inner and _times(inner[0], 0.7071067811865476) == x:
            return x
    return None


_FORMS: dict[str, Callable[[expr.Expr], expr.Expr | None]] = {
    "torch.sigmoid": _sigmoid,
    "torch.nn.functional.silu": _silu,
    "torch.nn.functional.gelu": _gelu,
    "torch.nn.functional.softplus": _softplus,
}


def activation(uses: Uses, node: expr.Op) -> Doc | None:
    """The function of PyTorch that an expression is; None where it is none of a tensor."""
    for name, form in _FORMS.items():
        found = form(node)
        if found is not None:
            before = uses.operands
            value = uses.value(found)
            uses.operands = before
            return None if value.number else call(name, [value.doc])
    return None
