"""Expressions as texts that know how tightly they bind and where they may break.

A :class:`Doc` holds the text of an expression on one line and just enough structure to split it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Prec:
    """How tightly Python binds, loosest first."""

    TERNARY = 1
    OR = 2
    AND = 3
    NOT = 4
    COMPARE = 5
    BIT_OR = 6
    BIT_XOR = 7
    BIT_AND = 8
    SHIFT = 9
    ADD = 10
    MUL = 11
    UNARY = 12
    POW = 13
    TIGHT = 14


# What a doc is made of, and so where it may break.
ATOM, BINARY, PREFIX, SUFFIX, BRACKET, PAREN = range(6)


class Doc(NamedTuple):
    """An expression: its text, how tightly it binds, and its parts.

    ``parts`` are the operands of a ``BINARY`` (with ``marks`` between them), the operand of a
    ``PREFIX`` or ``SUFFIX``, the head and the items of a ``BRACKET``, or what a ``PAREN`` holds.
    """

    text: str
    prec: int = Prec.TIGHT
    kind: int = ATOM
    parts: tuple[Doc, ...] = ()
    marks: tuple[str, ...] = ()


def paren(doc: Doc) -> Doc:
    """The expression in parentheses."""
    return Doc(f"({doc.text})", Prec.TIGHT, PAREN, (doc,), ("(", ")"))


def at_least(doc: Doc, prec: int) -> Doc:
    """The expression, in parentheses when it binds less tightly than ``prec``."""
    return doc if doc.prec >= prec else paren(doc)


def _mixes(operand: Doc, prec: int) -> bool:
    """Whether people put parentheses Python does not need: among bits, and ``and`` in ``or``."""
    if prec == Prec.OR:
        return operand.prec == Prec.AND
    if prec == Prec.COMPARE:
        return Prec.BIT_OR <= operand.prec <= Prec.BIT_AND
    bits = Prec.BIT_OR <= prec <= Prec.SHIFT
    return bits and operand.kind == BINARY and operand.prec != prec


def binary(symbol: str, prec: int, left: Doc, right: Doc) -> Doc:
    """``left symbol right``, grouped to the left as Python groups."""
    # Comparisons chain in Python: neither side may be one.
    chains = prec == Prec.COMPARE == left.prec
    if left.prec < prec or chains or _mixes(left, prec):
        left = paren(left)
    if right.prec <= prec or _mixes(right, prec):
        right = paren(right)
    mark = f" {symbol} "
    return Doc(f"{left.text}{mark}{right.text}", prec, BINARY, (left, right), (mark,))


def power(base: Doc, exponent: Doc) -> Doc:
    """``base**exponent``, spaced as formatters do."""
    base = at_least(base, Prec.TIGHT)
    if exponent.prec != Prec.UNARY:
        exponent = at_least(exponent, Prec.TIGHT)
    bare = exponent.parts[0] if exponent.kind == PREFIX else exponent
    simple = base.kind == ATOM and bare.kind == ATOM
    mark = "**" if simple else " ** "
    return Doc(f"{base.text}{mark}{exponent.text}", Prec.POW, BINARY, (base, exponent), (mark,))


def prefix(symbol: str, prec: int, operand: Doc) -> Doc:
    """``-x``, ``~x`` or ``not x``."""
    operand = at_least(operand, prec if symbol == "not " else Prec.TIGHT)
    return Doc(f"{symbol}{operand.text}", prec, PREFIX, (operand,), (symbol,))


def choice(condition: Doc, yes: Doc, no: Doc) -> Doc:
    """``yes if condition else no``."""
    yes, condition = at_least(yes, Prec.OR), at_least(condition, Prec.OR)
    text = f"{yes.text} if {condition.text} else {no.text}"
    return Doc(text, Prec.TERNARY, BINARY, (yes, condition, no), (" if ", " else "))


def call(head: str, args: Sequence[Doc]) -> Doc:
    """``head(args)``."""
    if len(args) == 1:
        text = f"{head}({args[0].text})"
    else:
        text = f"{head}({', '.join([a.text for a in args])})"
    return Doc(text, Prec.TIGHT, BRACKET, (Doc(head), *args), ("(", ")"))


def subscript(head: Doc, indices: Sequence[Doc]) -> Doc:
    """``head[indices]``."""
    head = at_least(head, Prec.TIGHT)
    if len(indices) == 1:
        text = f"{head.text}[{indices[0].text}]"
    else:
        text = f"{head.text}[{', '.join([i.text for i in indices])}]"
    return Doc(text, Prec.TIGHT, BRACKET, (head, *indices), ("[", "]"))


def listing(items: Sequence[Doc]) -> Doc:
    """``[items]``."""
    text = f"[{', '.join([i.text for i in items])}]"
    return Doc(text, Prec.TIGHT, BRACKET, (Doc(""), *items), ("[", "]"))


def attribute(owner: Doc, name: str) -> Doc:
    """``owner.name``."""
    owner = at_least(owner, Prec.TIGHT)
    text = f"{owner.text}.{name}"
    if owner.kind == ATOM:
        return Doc(text)
    return Doc(text, Prec.TIGHT, SUFFIX, (owner,), (f".{name}",))
