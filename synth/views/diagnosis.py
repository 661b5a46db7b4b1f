"""What is wrong with a text, from the lines in which it differs from the right one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from synth.views.sizes import said

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


def launch_diagnosis(
    wrong: Sequence[Mapping[str, Any]],
    right: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
) -> str:
    """The same of launches, in the names that parameters have for sizes."""
    told = [
        f"{_of_kernel(theirs, len(right))}`{key}` should be `{_value(theirs[key], names)}` and not "
        f"`{_value(ours[key], names)}`."
        for ours, theirs in zip(wrong, right, strict=True)
        for key in theirs
        if ours[key] != theirs[key]
    ]
    return " ".join(told)


def _of_kernel(launch: Mapping[str, Any], launches: int) -> str:
    return f"In the launch of `{launch['kernel']}`, " if launches > 1 else "In the launch, "


def _value(value: Any, names: Mapping[str, str]) -> str:
    if isinstance(value, list):
        return json.dumps([said(one, names) if isinstance(one, str) else one for one in value])
    return said(str(value), names)


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
