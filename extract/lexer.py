"""Tell C++ code from comments and literals, which is all that braces and headers need."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from extract.errors import ExtractError, line_of

Kind = Literal["code", "comment", "string", "raw"]

# One search over few first characters is several times faster than one pattern for all tokens.
# No pattern has a repeat inside a repeat over the same characters: time stays linear when it fails.
_OPENING = re.compile(r"//|/\*|\"|'")
_TOKENS: dict[str, tuple[Kind, re.Pattern[str], str]] = {
    "//": ("comment", re.compile(r"//[^\n\\]*(?:\\\n?[^\n\\]*)*"), "comment"),
    "/*": ("comment", re.compile(r"/\*.*?\*/", re.DOTALL), "block comment"),
    '"': ("string", re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"', re.DOTALL), "string literal"),
    "'": ("string", re.compile(r"'[^'\\\n]*(?:\\.[^'\\\n]*)*'", re.DOTALL), "character literal"),
    'R"': (
        "raw",
        re.compile(r'"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)"', re.DOTALL),
        "raw string literal",
    ),
}
_RAW_PREFIX = re.compile(r"(?:^|\W)(?:u8|[uUL])?R$")
_NUMBER_BEFORE = re.compile(r"(?:^|[^\w.])\.?\d[\w.']*$")
_NOT_NEWLINE = re.compile(r"[^\n]")


@dataclass(frozen=True)
class Piece:
    """A run of one kind of text; the pieces of a text follow each other without a gap."""

    kind: Kind
    start: int
    text: str


def pieces(text: str) -> Iterator[Piece]:
    """Yield the pieces of ``text`` in order. The prefix of a raw string counts as code.

    Raises:
        ExtractError: a comment or literal that is opened is never closed.
    """
    done = at = 0
    while opening := _OPENING.search(text, at):
        start = opening.start()
        if opening.group() == "'" and _is_separator(text, start):
            at = start + 1
            continue
        kind, at = _token(text, opening)
        if start > done:
            yield Piece("code", done, text[done:start])
        yield Piece(kind, start, text[start:at])
        done = at
    if done < len(text):
        yield Piece("code", done, text[done:])


def mask(text: str) -> str:
    """Return ``text`` with comments and literals blanked out, every offset and line kept.

    The literal ``"C"`` stays: kernel headers are known by it.

    Raises:
        ExtractError: see ``pieces``.
    """
    return "".join(
        piece.text if piece.kind == "code" or piece.text == '"C"' else _blank(piece.text)
        for piece in pieces(text)
    )


def _token(text: str, opening: re.Match[str]) -> tuple[Kind, int]:
    """Return the kind of the token that ``opening`` starts, and the offset behind it."""
    mark, start = opening.group(), opening.start()
    if mark == '"' and _RAW_PREFIX.search(text[max(0, start - 4) : start]):
        mark = 'R"'
    kind, pattern, what = _TOKENS[mark]
    match = pattern.match(text, start)
    if match:
        return kind, match.end()
    raise ExtractError(f"line {line_of(text, start)}: the {what} that opens here is never closed")


def _is_separator(text: str, at: int) -> bool:
    """Tell the quote in ``1'000`` from one that opens a character literal."""
    if not text[at - 1 : at].isalnum() or not text[at + 1 : at + 2].isalnum():
        return False
    return _NUMBER_BEFORE.search(text[max(0, at - 64) : at]) is not None


def _blank(text: str) -> str:
    return " " * len(text) if "\n" not in text else _NOT_NEWLINE.sub(" ", text)
