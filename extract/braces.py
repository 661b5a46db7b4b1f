"""Balanced braces in masked text."""

from extract.errors import ExtractError, line_of


def brace_ends(masked: str) -> dict[int, int]:
    """Map the offset of each opening brace to the offset just behind its partner.

    Args:
        masked: text in which comments and literals are blanked out.

    Raises:
        ExtractError: naming the line of a brace that has no partner.
    """
    ends: dict[int, int] = {}
    opened: list[int] = []
    opening, closing = masked.find("{"), masked.find("}")
    while closing >= 0:
        if 0 <= opening < closing:
            opened.append(opening)
            opening = masked.find("{", opening + 1)
            continue
        if not opened:
            line = line_of(masked, closing)
            raise ExtractError(f"line {line}: a closing brace without an opening one")
        ends[opened.pop()] = closing + 1
        closing = masked.find("}", closing + 1)
    if opening >= 0:
        opened.append(masked.rfind("{"))
    if opened:
        raise ExtractError(f"line {line_of(masked, opened[-1])}: this brace is never closed")
    return ends
