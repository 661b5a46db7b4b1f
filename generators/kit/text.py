"""Expressions as a description writes them: ``x^2``, ``|x|``, ``2 * pi``, ``a where c, else b``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from generators.program.dtypes import Scalar
from generators.program.expr import (
    Call,
    Cast,
    Component,
    Const,
    Construct,
    Expr,
    Extent,
    Field,
    Load,
    Op,
    Var,
)

LOOSE, OR, AND, COMPARE, BITS, SHIFT, ADD, MUL, UNARY, POWER, TIGHT = range(11)
"""How tightly a text binds, loosest first."""

Piece = tuple[str, int]
Leaf = Callable[[Expr], "str | Expr | None"]
"""What an expression is called, another to write in its place, or None: it is written out."""

_INFIX = {
    "add": ("+", ADD),
    "sub": ("-", ADD),
    "div": ("/", MUL),
    "floordiv": ("//", MUL),
    "mod": ("%", MUL),
    "bit_and": ("&", BITS),
    "bit_or": ("|", BITS),
    "bit_xor": ("^^", BITS),
    "lshift": ("<<", SHIFT),
    "rshift": (">>", SHIFT),
    "lt": ("<", COMPARE),
    "le": ("<=", COMPARE),
    "gt": (">", COMPARE),
    "ge": (">=", COMPARE),
    "eq": ("==", COMPARE),
    "ne": ("!=", COMPARE),
    "and": ("and", AND),
    "or": ("or", OR),
}
_SAID = {
    "length_sq": "the squared length of {0}",
    "cw_mul": "the componentwise product of {0} and {1}",
    "cw_div": "the componentwise quotient of {0} and {1}",
    "get_diag": "the diagonal of {0}",
    "max_element": "the largest component of {0}",
    "min_element": "the smallest component of {0}",
    "norm_l1": "the sum of the sizes of the components of {0}",
    "norm_l2": "the length of {0}",
    "norm_huber": "the Huber norm of {0} at threshold {1}",
    "norm_pseudo_huber": "the pseudo-Huber norm of {0} at threshold {1}",
    "quat_to_matrix": "the rotation matrix of {0}",
    "bit_count": "the number of set bits of {0}",
}
"""Ops whose names nobody says."""
_KNOWN = (
    (math.pi, "pi", TIGHT),
    (2.0 * math.pi, "2 * pi", MUL),
    (4.0 * math.pi, "4 * pi", MUL),
    (math.pi / 2.0, "pi / 2", MUL),
    (math.pi / 180.0, "pi / 180", MUL),
    (1.0 / math.pi, "1 / pi", MUL),
    (0.5 / math.pi, "1 / (2 * pi)", MUL),
    (math.sqrt(2.0), "sqrt(2)", TIGHT),
    (math.sqrt(0.5), "sqrt(0.5)", TIGHT),
    (math.sqrt(2.0 * math.pi), "sqrt(2 * pi)", TIGHT),
    (math.sqrt(math.pi), "sqrt(pi)", TIGHT),
    (math.log(2.0), "log(2)", TIGHT),
    (math.log(10.0), "log(10)", TIGHT),
    (math.e, "e", TIGHT),
)
_ATOM = re.compile(r"[\w.]+(\[[^\[\]]*\])?(\.\w+)?|\([^()]*\)|\w+\([^()]*\)")


def number(value: bool | int | float | str) -> Piece:
    """A literal: whole floats without a point, known constants by name."""
    if isinstance(value, bool | int):
        return str(value).lower() if isinstance(value, bool) else str(value), _sign(value)
    exact = float(value)
    for known, text, prec in _KNOWN:
        if abs(abs(exact) - known) < 2e-7 * known and len(str(value)) > 5:
            return (text, prec) if exact > 0 else (f"-{text}", min(prec, UNARY))
    whole = exact == int(exact) if math.isfinite(exact) else False
    text = str(int(exact)) if whole and abs(exact) < 1e6 else str(value)
    return text, _sign(exact)


def _sign(value: float) -> int:
    return UNARY if value < 0 else TIGHT


def written(value: Expr, leaf: Leaf = lambda e: None) -> str:
    """An expression in words and signs; ``leaf`` may name any part of it."""
    return _piece(value, leaf)[0]


def bracketed(text: str) -> str:
    """A text as an operand: in brackets unless it is one word."""
    return _at(_called(text), TIGHT)


def _at(piece: Piece, least: int) -> str:
    return piece[0] if piece[1] >= least else f"({piece[0]})"


def _called(text: str) -> Piece:
    """A name from outside, bracketed by whoever uses it unless it is one word."""
    return text, TIGHT if _ATOM.fullmatch(text) else LOOSE if " " in text else UNARY


def _piece(e: Expr, leaf: Leaf) -> Piece:
    named = leaf(e)
    if named is not None:
        return _piece(named, leaf) if isinstance(named, Expr) else _called(named)
    match e:
        case Const():
            return number(e.value)
        case Var():
            return e.name, TIGHT
        case Load():
            inside = ", ".join(_piece(i, leaf)[0] for i in e.indices)
            return f"{_piece(e.array, leaf)[0]}[{inside}]", TIGHT
        case Component():
            inside = ", ".join(_piece(i, leaf)[0] for i in e.indices)
            return f"{_at(_piece(e.value, leaf), TIGHT)}[{inside}]", TIGHT
        case Field():
            return f"{_at(_piece(e.value, leaf), TIGHT)}.{e.name}", TIGHT
        case Extent():
            return f"the length of {e.array.name}", LOOSE
        case Cast():
            return _cast(e, leaf)
        case Construct():
            return f"({_listed(e.args, leaf)})", TIGHT
        case Call():
            return f"{e.function}({_listed(e.args, leaf)})", TIGHT
        case Op():
            return _op(e, leaf)
    raise TypeError(f"{type(e).__name__} has no text")


def _cast(e: Cast, leaf: Leaf) -> Piece:
    shown = _piece(e.value, leaf)
    cut = e.type.is_int and str(e.value.type).startswith("float")
    return (f"int({shown[0]})", TIGHT) if cut else shown


def _listed(args: tuple[Expr, ...], leaf: Leaf) -> str:
    return ", ".join(_entry(_piece(a, leaf)) for a in args)


def _op(e: Op, leaf: Leaf) -> Piece:
    if e.op == "mul":
        return _product(e, leaf)
    if e.op in _INFIX:
        return _infix(e, leaf)
    parts = [_piece(a, leaf) for a in e.args]
    if e.op == "neg":
        # A negated product reads the same with or without brackets.
        return f"-{_at(parts[0], MUL)}", UNARY if parts[0][1] > MUL else MUL
    if e.op == "not":
        return f"not {_at(parts[0], COMPARE)}", AND
    if e.op == "pow":
        return f"{_at(parts[0], TIGHT)}^{_at(parts[1], TIGHT)}", POWER
    if e.op in ("abs", "length_sq") and "|" not in parts[0][0]:
        return (f"|{parts[0][0]}|", TIGHT) if e.op == "abs" else (f"|{parts[0][0]}|^2", POWER)
    if e.op == "where":
        test, first, other = parts
        return f"{_at(first, OR)} where {test[0]}, else {other[0]}", LOOSE
    if e.op == "invert":
        return f"~{_at(parts[0], TIGHT)}", UNARY
    if e.op == "cw_mul" and parts[0] == parts[1]:
        return f"the componentwise square of {parts[0][0]}", LOOSE
    if e.op in _SAID:
        return _SAID[e.op].format(*(text for text, _ in parts)), LOOSE
    if e.op in ("min", "max"):
        parts = [_piece(a, leaf) for a in _chain(e, e.op)]
    inside = parts[0][0] if len(parts) == 1 else ", ".join(map(_entry, parts))
    return f"{e.op}({inside})", TIGHT


def _entry(piece: Piece) -> str:
    """One of several operands with commas between."""
    return _at(piece, OR) if ", else " in piece[0] else piece[0]


def _bracketed(piece: Piece) -> Piece:
    """The operand in brackets, where it is not one word or call."""
    return _at(piece, TIGHT), TIGHT


def _infix(e: Op, leaf: Leaf) -> Piece:
    sign, prec = _INFIX[e.op]
    left, right = (_piece(a, leaf) for a in e.args)
    strict = e.op not in ("add", "and", "or")
    minus = right[0].startswith("-")
    if prec in (BITS, SHIFT):
        # Few know how these bind: any operand that is itself an operation has brackets.
        return f"{_at(left, UNARY)} {sign} {_at(right, UNARY)}", prec
    if e.op == "or":
        # Read aloud, "a or b and c" is two things.
        left, right = (
            _bracketed(piece) if " and " in piece[0] else piece for piece in (left, right)
        )
    shown = _at(right, TIGHT if minus else prec + strict)
    return f"{_at(left, prec + (prec == COMPARE))} {sign} {shown}", prec


def _chain(e: Expr, op: str) -> list[Expr]:
    """The operands of nested applications of one op."""
    if isinstance(e, Op) and e.op == op:
        return [part for a in e.args for part in _chain(a, op)]
    return [e]


def _product(e: Op, leaf: Leaf) -> Piece:
    """Factors in order, equal scalar ones as a power, signs in front."""
    factors: list[tuple[Piece, int]] = []
    minus = False
    for part in _chain(e, "mul"):
        if isinstance(part, Op) and part.op == "neg":
            minus, part = not minus, part.args[0]
        piece = _piece(part, leaf)
        known = [p for p, _ in factors]
        if piece in known and isinstance(part.type, Scalar) and not isinstance(part, Const):
            at = known.index(piece)
            factors[at] = piece, factors[at][1] + 1
        else:
            factors.append((piece, 1))
    shown = [_power(piece, count, first=not n) for n, (piece, count) in enumerate(factors)]
    prec = POWER if len(shown) == 1 else MUL
    return (f"-{' * '.join(shown)}", MUL) if minus else (" * ".join(shown), prec)


def _power(piece: Piece, count: int, first: bool) -> str:
    if count == 1:
        return _at(piece, MUL if first else MUL + 1)
    return f"{_at(piece, TIGHT)}^{count}"
