"""C++ in tokens, in time linear in its length, without comments and with its lines kept.

Joined lines and comments leave their newlines at the end of the line that they make longer, so
that what follows keeps its number. A directive is one token: what stands between its lines is not
its business. The first thing that is no token ends the reading: nothing is looked at twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

WORD, NUMBER, STRING, CHAR, MARK = "word", "number", "string", "char", "mark"
SPACE, LINE, DIRECTIVE = "space", "line", "directive"
BLANK = frozenset({SPACE, LINE, DIRECTIVE})
"""Kinds that are no part of a declaration."""

MOST_DEPTH = 256

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t]+)
  | (?P<line>\n)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<open_comment>/\*)
  | (?P<raw>(?:u8|[uUL])?R")
  | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\[^\n])*")
  | (?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\[^\n])+')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[0-9A-Za-z_.])*)
  | (?P<digraph><%|%>|<:(?!:[^:>])|:>|%:)
  | (?P<mark><<<|>>>|<<=|>>=|<<|>>|\.\.\.|::|->|\#\#|&&|\|\||\+\+|--
      |[-+*/%&|^!=<>]=|[-+*/%&|^!=<>(){}\[\];:,.?~\#])
  | (?P<bad>.)
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_TRIGRAPH = re.compile(r"\?\?[=/'()!<>-]")
_WRONG = {
    "open_comment": "a comment without its end",
    "raw": "a raw string",
    "digraph": "a digraph",
}
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class Unreadable(ValueError):  # noqa: N818 - what is wrong with a text, not with us
    """A text is no sequence of tokens, or its brackets do not fit."""


class Token(NamedTuple):
    """A piece of text; all of them one after the other are the text."""

    kind: str
    text: str


def lex(text: str) -> list[Token]:
    """The tokens of a text. Raises Unreadable at the first thing that is none."""
    text = _spliced(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    tokens: list[Token] = []
    owed, start = 0, 0  # `start`: where the line begins; below 0 when it is no directive
    for match in _TOKEN.finditer(text):
        kind, piece = match.lastgroup or "", match[0]
        if kind == "comment":
            owed += piece.count("\n")
            kind, piece = SPACE, " "
        elif kind == LINE:
            if start < 0:
                _fold(tokens, ~start)
            tokens.append(Token(LINE, "\n" * (1 + owed)))
            owed, start = 0, len(tokens)
            continue
        elif kind in _WRONG:
            raise Unreadable(_WRONG[kind])
        elif kind == "bad":
            raise Unreadable(_name_of(piece))
        elif piece == "#" and start == len(tokens):
            start = ~start
        elif kind != SPACE and start >= 0:
            start = len(text) + 1
        if kind == SPACE and start == len(tokens):
            start += 1
        tokens.append(Token(kind, piece))
    if start < 0:
        _fold(tokens, ~start)
    if "??" in text and _TRIGRAPH.search("".join(token.text for token in tokens)):
        raise Unreadable("a trigraph")
    return tokens


def _fold(tokens: list[Token], start: int) -> None:
    """Make the tokens of a directive one."""
    line = "".join(token.text for token in tokens[start:])
    tokens[start:] = [Token(DIRECTIVE, line)]


def _spliced(text: str) -> str:
    if "\\" not in text:
        return text
    parts: list[str] = []
    owed = 0
    for line in text.split("\n"):
        bare = line.rstrip(" \t")
        if bare.endswith("\\"):
            parts.append(bare[:-1])
            owed += 1
        else:
            parts.append(f"{line}{chr(10) * (1 + owed)}")
            owed = 0
    joined = "".join(parts)
    return joined if owed else joined[:-1]


def _name_of(character: str) -> str:
    names = {'"': "a string without its end", "'": "a ' without its other", "\\": "a backslash"}
    if character in names:
        return names[character]
    if character < " " or character == "\x7f":
        return "a control character"
    return f"the character {ascii(character)[1:-1]}"


def brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """The place of its other for each bracket. Raises Unreadable when one has none."""
    partner: dict[int, int] = {}
    stack: list[int] = []
    for place, (kind, text) in enumerate(tokens):
        if kind != MARK:
            continue
        if text in _CLOSING:
            stack.append(place)
            if len(stack) > MOST_DEPTH:
                raise Unreadable(f"brackets nested more than {MOST_DEPTH} deep")
        elif text in ")]}":
            if not stack or _CLOSING[tokens[stack[-1]].text] != text:
                raise Unreadable(f"a {_bracket(text)} without its other")
            partner[place] = stack.pop()
            partner[partner[place]] = place
    if stack:
        raise Unreadable(f"a {_bracket(tokens[stack[-1]].text)} without its other")
    return partner


def _bracket(text: str) -> str:
    return "brace" if text in "{}" else f"bracket {text}"


def significant(tokens: Iterable[Token]) -> list[Token]:
    """The tokens that are no space and no directive."""
    return [token for token in tokens if token.kind not in BLANK]


def written(tokens: Iterable[Token]) -> str:
    """The text of tokens."""
    return "".join(token.text for token in tokens)
