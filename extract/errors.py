"""The one error of this package."""


class ExtractError(ValueError):
    """The text can not be taken apart without loss; the message names the line."""


def line_of(text: str, offset: int) -> int:
    """Return the 1-based line of ``offset`` in ``text``."""
    return text.count("\n", 0, offset) + 1
