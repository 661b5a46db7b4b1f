"""Wrong texts as people write them: an edit leaves brackets that give away where it was."""

from __future__ import annotations

import re
from collections.abc import Iterator

from validate.mutants.warp.draw import Mutant

_PLACE = re.compile(r"\(\*\(&(\w+\[.*?\])\)\)(?= [+\-*&|^=;]|$)")
_UPDATE = re.compile(r"^(\s*)(\w+\[.*\]) = \2 ([+\-&|^]) (.*);$")
_PRIMARY = re.compile(r"[\w.]+(\[[^\[\]]*\])*|\w+\([^()]*\)")
_TYPE = re.compile(r"(const )?(unsigned |signed |long )*(bool|char|short|int|long|float|double)\d?")
_LEAST = re.compile(r"-(2147483647|9223372036854775807l*) - 1")
"""The least whole number, which stands in brackets everywhere, as in ``<climits>``."""
_GUARD = re.compile(
    r"^[^\S\n]*if \(false\) \{\n\s*(?:return|continue|break);\n\s*\}\n", re.MULTILINE
)
_STARTS_AT_ONE = re.compile(r"= 0 \+ 1;")
_STARTS_LATE = re.compile(r"= \(([^()]*)\) \+ 1;")
_LEFT_OVER = re.compile(r"^[^\S\n]*;\n", re.MULTILINE)
_DECIDED = re.compile(r"if \((true|false)\)")


def tidied(mutant: Mutant) -> str | None:
    """The mutant's text with its line written anew: plain places, no brackets for nothing, a guard
    that never holds left out, as what is left of a call that is gone. None for a branch that is
    decided and no guard: nobody writes that.
    """
    lines = mutant.text.split("\n")
    at = mutant.line - 1
    lines[at] = _UPDATE.sub(r"\1\2 \3= \4;", _unbracketed(_PLACE.sub(r"\1", lines[at])))
    lines[at] = _STARTS_LATE.sub(r"= \1 + 1;", _STARTS_AT_ONE.sub("= 1;", lines[at]))
    lines[at] = _unbracketed(lines[at])
    text = _LEFT_OVER.sub("", _GUARD.sub("", "\n".join(lines), count=1), count=1)
    return None if _DECIDED.search(text) else text


def _unbracketed(line: str) -> str:
    """A line without brackets around what is one thing, or all of what is assigned or passed."""
    while True:
        for start, end in _pairs(line):
            if _is_for_nothing(line, start, end):
                line = f"{line[:start]}{line[start + 1 : end]}{line[end + 1 :]}"
                break
        else:
            return line


def _pairs(line: str) -> Iterator[tuple[int, int]]:
    """Brackets of a line with the places of their ends; none where they do not pair."""
    begun: list[int] = []
    for at, letter in enumerate(line):
        if letter == "(":
            begun.append(at)
        elif letter == ")" and begun:
            yield begun.pop(), at


def _is_for_nothing(line: str, start: int, end: int) -> bool:
    inner, before, after = line[start + 1 : end], line[:start].rstrip(), line[end + 1 :].lstrip()
    is_called = before[-1:].isalnum() or before[-1:] in tuple("_)]>")
    if is_called or _TYPE.fullmatch(inner) or re.match(r"\w|\(", line[end + 1 :]):
        return False
    if _LEAST.fullmatch(inner):
        return False
    if _PRIMARY.fullmatch(inner) or (inner.startswith("(") and _closes(inner)):
        return True
    is_whole = re.search(r"(^|[(,\[]|(?<![=<>!])=)$", before) and re.match(r"[;),\]]", after)
    return bool(is_whole) and "," not in inner


def _closes(text: str) -> bool:
    """Whether a text's first bracket ends with it."""
    return (0, len(text) - 1) in _pairs(text)
