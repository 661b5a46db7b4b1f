"""Balanced braces in masked text."""

import re

from extract.errors import ExtractError, line_of

_BRACE = re.compile(r"[{}]")


def closing_brace(masked: str, opening: int, what: str) -> int:
    """Return the offset just behind the brace that closes the one at ``opening``.

    Args:
        masked: text in which comments and literals are blanked out.
        opening: offset of an opening brace.
        what: name of the thing it opens, for the message.

    Raises:
        ExtractError: the text ends first.
    """
    depth = 0
    for match in _BRACE.finditer(masked, opening):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.end()
    line = line_of(masked, opening)
    raise ExtractError(f"line {line}: the braces of {what} do not balance ({depth} left open)")


def check_balance(masked: str) -> None:
    """Check that every brace of ``masked`` has its partner.

    Raises:
        ExtractError: naming the line of the brace that has none.
    """
    opened: list[int] = []
    for match in _BRACE.finditer(masked):
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            opened.pop()
        else:
            line = line_of(masked, match.start())
            raise ExtractError(f"line {line}: a closing brace without an opening one")
    if opened:
        raise ExtractError(f"line {line_of(masked, opened[-1])}: this brace is never closed")
