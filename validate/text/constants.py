"""`constexpr` functions of a host, which a device may use where a constant is wanted."""

from __future__ import annotations

from collections.abc import Sequence

from validate.text import toplevel
from validate.text.lexer import MARK, Token
from validate.text.macros import words_of
from validate.text.toplevel import Declaration

# A statement that begins with one of these, or has it among its first words, wants a constant.
_CONSTANT = frozenset({"constexpr", "__shared__", "static_assert", "using", "enum", "typedef"})


def needed_constants(
    tokens: Sequence[Token], kept: Sequence[Declaration], functions: Sequence[Declaration]
) -> list[Declaration]:
    """Those functions that the declarations that stay use, and only in constants.

    One that a device would call when it runs is none of them: nvcc refuses such a call.
    """
    names = {one.name for one in functions}
    if not names:
        return []
    used: set[str] = set()
    called: set[str] = set()
    for one in kept:
        first = one.body if one.kind == toplevel.FUNCTION else one.end
        used |= words_of(tokens[one.first : first]) & names
        _look(tokens, one, names, used, called)
    by_name: dict[str, list[Declaration]] = {}
    for one in functions:
        by_name.setdefault(one.name, []).append(one)
    left, found = sorted(used - called), set()
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        for one in by_name[name]:
            left += words_of(tokens[one.first : one.end]) & names - called
    return [one for one in functions if one.name in found]


def _look(
    tokens: Sequence[Token], one: Declaration, names: set[str], used: set[str], called: set[str]
) -> None:
    """Sort the names in a body by whether their statement wants a constant."""
    constant = False
    for place in range(max(one.body, 0), one.end if one.body >= 0 else 0):
        kind, text = tokens[place]
        if kind == MARK and text in (";", "{", "}"):
            constant = False
        elif text in _CONSTANT:
            constant = True
        elif text in names:
            (used if constant else called).add(text)
