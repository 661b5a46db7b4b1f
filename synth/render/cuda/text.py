"""C++ expressions as texts that know how tightly they bind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from synth.render.cuda.breaks import TAB as TAB
from synth.render.cuda.breaks import WIDTH as WIDTH
from synth.render.cuda.lines import wrapped as wrapped


class Prec:
    """How tightly C++ binds, loosest first."""

    TERNARY = 1
    OR = 2
    AND = 3
    BIT_OR = 4
    BIT_XOR = 5
    BIT_AND = 6
    EQUAL = 7
    COMPARE = 8
    SHIFT = 9
    ADD = 10
    MUL = 11
    UNARY = 12
    POSTFIX = 13


class Text(NamedTuple):
    """An expression and how tightly it binds."""

    text: str
    prec: int = Prec.POSTFIX
    wide: str = ""
    """Of a cast to a narrow type: the same expression, in brackets, before the cast."""


def at_least(e: Text, prec: int) -> str:
    """The expression, in parentheses when it binds less tightly than ``prec``."""
    return e.text if e.prec >= prec else f"({e.text})"


def _clearer(e: Text, prec: int) -> bool:
    """Whether people put parentheses that C++ does not need: compilers warn without them."""
    if prec == Prec.OR:
        return e.prec == Prec.AND
    if prec in (Prec.EQUAL, Prec.COMPARE):
        return e.prec in (Prec.EQUAL, Prec.COMPARE)
    bits = Prec.BIT_OR <= prec <= Prec.BIT_AND or prec == Prec.SHIFT
    return bits and e.prec != prec and e.prec < Prec.UNARY


_ASSOCIATIVE = ("&&", "||", "&", "|", "^")


def binary(symbol: str, prec: int, left: Text, right: Text) -> Text:
    """``left symbol right``, grouped to the left."""
    first = f"({left.text})" if left.prec < prec or _clearer(left, prec) else left.text
    chained = right.prec == prec and symbol in _ASSOCIATIVE
    grouped = (right.prec <= prec and not chained) or _clearer(right, prec)
    second = f"({right.text})" if grouped else right.text
    return Text(f"{first} {symbol} {second}", prec)


def prefix(symbol: str, e: Text) -> Text:
    inner = at_least(e, Prec.UNARY)
    if inner.startswith(symbol):
        inner = f"({inner})"
    return Text(f"{symbol}{inner}", Prec.UNARY)


def call(name: str, args: Sequence[Text]) -> Text:
    return Text(f"{name}({', '.join(a.text for a in args)})")


def choice(condition: Text, yes: Text, no: Text) -> Text:
    """``condition ? yes : no``."""
    asked, first = at_least(condition, Prec.OR), at_least(yes, Prec.OR)
    return Text(f"{asked} ? {first} : {at_least(no, Prec.OR)}", Prec.TERNARY)


def member(e: Text, name: str) -> Text:
    return Text(f"{at_least(e, Prec.POSTFIX)}.{name}")


def item(e: Text, indices: Sequence[Text]) -> Text:
    return Text(at_least(e, Prec.POSTFIX) + "".join(f"[{i.text}]" for i in indices))
