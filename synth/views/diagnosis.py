"""What is wrong with a text, from the lines in which it differs from the right one."""

from __future__ import annotations

from difflib import SequenceMatcher

_MOST_CHARACTERS = 160
"""Of the lines that are quoted from each text; longer ones are told by their place alone."""


def diagnosis(wrong: str, right: str) -> str:
    """A sentence for each place in which the wrong text differs; empty where none does."""
    ours, theirs = ([line.strip() for line in text.split("\n")] for text in (wrong, right))
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    told = [
        _sentence(ours[a:b], theirs[c:d], a + 1)
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]
    return " ".join(text for text in told if text)


def _sentence(wrong: list[str], right: list[str], line: int) -> str:
    was, wants = (" ".join(part for part in lines if part) for lines in (wrong, right))
    if max(len(was), len(wants)) > _MOST_CHARACTERS:
        return f"What begins with line {line} is wrong."
    if not was and not wants:
        return ""
    if not was:
        return f"`{wants}` is missing before line {line}."
    if not wants:
        return f"`{was}` in line {line} does not belong there."
    return f"In line {line}, `{was}` should be `{wants}`."
