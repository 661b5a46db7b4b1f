"""Tell C++ code from comments and literals, which is all that braces and headers need."""

import re
from bisect import bisect_left
from typing import Literal

from extract.errors import ExtractError, line_of

Kind = Literal["comment", "string", "raw"]

# A comment or literal: what it is, where it starts, where it ends. All else is code.
Token = tuple[Kind, int, int]

# Every branch starts with a plain character: so the search runs over code at full speed. The
# branches at the end (a group each) are openings whose end was not found.
# No pattern has a repeat inside a repeat over the same characters: time stays linear when it fails.
_TOKEN = re.compile(
    r"//[^\n\\]*(?:\\\n?[^\n\\]*)*"
    r"|/\*.*?\*/"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"
    r"|/\*()|\"()|'()",
    re.DOTALL,
)
_RAW = re.compile(r'"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)"', re.DOTALL)
_UNCLOSED = {"/": "block comment", '"': "string literal", "'": "character literal"}
_RAW_PREFIX = re.compile(r"(?:^|\W)(?:u8|[uUL])?R$")
_NUMBER_BEFORE = re.compile(r"(?:^|[^\w.])\.?\d[\w.']*$")
_NOT_NEWLINE = re.compile(r"[^\n]")


def tokens(text: str) -> list[Token]:
    """Return the comments and literals of ``text`` in order, raw strings without their prefix.

    Raises:
        ExtractError: a comment or literal that is opened is never closed.
    """
    found: list[Token] = []
    at: int | None = 0
    while at is not None:
        at = _collect(text, at, found)
    return found


def mask(text: str, found: list[Token]) -> str:
    """Return ``text`` with its tokens blanked out, every offset and line kept.

    The literal ``"C"`` stays: kernel headers are known by it.
    """
    parts: list[str] = []
    done = 0
    for _, start, end in found:
        token = text[start:end]
        if token == '"C"':
            continue
        blank = _NOT_NEWLINE.sub(" ", token) if "\n" in token else " " * len(token)
        parts += text[done:start], blank
        done = end
    parts.append(text[done:])
    return "".join(parts)


def tokens_within(found: list[Token], start: int, end: int) -> list[Token]:
    """Return the tokens from ``start`` up to ``end`` with offsets counted from ``start``."""
    first = bisect_left(found, start, key=_start)
    last = bisect_left(found, end, key=_start)
    return [(kind, begin - start, stop - start) for kind, begin, stop in found[first:last]]


def _start(token: Token) -> int:
    return token[1]


def _collect(text: str, at: int, found: list[Token]) -> int | None:
    """Add the tokens from ``at`` on to ``found``.

    Returns:
        Where to go on behind a quote that ``_TOKEN`` took for something else, None at the end.
    """
    for match in _TOKEN.finditer(text, at):
        start, end = match.span()
        mark = text[start]
        if mark == "'" and _is_separator(text, start):
            return start + 1
        if mark == '"' and _RAW_PREFIX.search(text[max(0, start - 4) : start]):
            end = _raw_end(text, start)
            found.append(("raw", start, end))
            return end
        if match.lastindex:
            raise _unclosed(text, start, _UNCLOSED[mark])
        found.append(("comment" if mark == "/" else "string", start, end))
    return None


def _raw_end(text: str, start: int) -> int:
    match = _RAW.match(text, start)
    if not match:
        raise _unclosed(text, start, "raw string literal")
    return match.end()


def _unclosed(text: str, start: int, what: str) -> ExtractError:
    line = line_of(text, start)
    return ExtractError(f"line {line}: the {what} that opens here is never closed")


def _is_separator(text: str, at: int) -> bool:
    """Tell the quote in ``1'000`` from one that opens a character literal."""
    if not text[at - 1 : at].isalnum() or not text[at + 1 : at + 2].isalnum():
        return False
    return _NUMBER_BEFORE.search(text[max(0, at - 64) : at]) is not None
