"""Where in an answer the code is that decides whether it is right, by character offset.

Kernels go wrong at few places: a guard, an index, a barrier, an atomic update, a reduction over
lanes. Trainers may weigh the loss of these characters more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

Span = dict[str, Any]

KINDS = ("bounds", "index", "barrier", "atomic", "reduction")
_BLOCK = re.compile(r"```cuda\n(.*?)\n```", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_GUARD = re.compile(r"\b(?:if|while|for)\s*\(")
_COMPARES = re.compile(r"(?<![<>\-])(?:<=|>=|<|>)(?![<>])")
_INDEX = re.compile(r"(?<=[\w\])])\[")
_DECLARED = re.compile(
    r"\s*(?:__shared__ |extern |const )*(?!(?:return|else|case)\b)"
    r"[A-Za-z_][\w:]* \w+(?:\[[^\]]*\])*"
)
_CALLS = {
    "barrier": re.compile(r"\b__sync(?:threads|warp)\w*\s*\("),
    "atomic": re.compile(r"\batomic[A-Z]\w*\s*\("),
    "reduction": re.compile(r"\b__(?:shfl|reduce|ballot|all|any)_\w+\s*\("),
}


def spans_of(answer: str, sizes: Sequence[str]) -> list[Span]:
    """The spans of the CUDA in an answer, by their starts; ``sizes`` are the names that hold sizes,
    with which guards compare. They may lie within each other, an index within a guard."""
    found: set[tuple[int, int, str]] = set()
    for block in _BLOCK.finditer(answer):
        text = _COMMENT.sub(lambda match: " " * len(match[0]), block[1])
        for start, end, kind in _in_code(text, sizes):
            found.add((block.start(1) + start, block.start(1) + end, kind))
    return [{"kind": kind, "start": start, "end": end} for start, end, kind in sorted(found)]


def _in_code(text: str, sizes: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    for kind, pattern in _CALLS.items():
        for match in pattern.finditer(text):
            yield match.start(), _closed(text, match.end() - 1), kind
    for match in _INDEX.finditer(text):
        if not _declares(text, match.start()):
            yield match.start() + 1, _closed(text, match.start()) - 1, "index"
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, sizes))})\b") if sizes else None
    for match in _GUARD.finditer(text):
        start, end = match.end(), _closed(text, match.end() - 1) - 1
        if match[0].startswith("for"):
            start, end = _middle(text, start, end)
        condition = text[start:end]
        if named and named.search(condition) and _COMPARES.search(condition):
            yield start + len(condition) - len(condition.lstrip()), end, "bounds"


def _middle(text: str, start: int, end: int) -> tuple[int, int]:
    """The condition of a loop, between its semicolons; nothing where there are not two."""
    first = text.find(";", start, end)
    second = text.find(";", first + 1, end)
    return (first + 1, second) if 0 <= first < second else (start, start)


def _declares(text: str, at: int) -> bool:
    """Whether brackets are those of a declaration, such as ``float tile[32][33]``."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return bool(_DECLARED.fullmatch(line))


def _closed(text: str, at: int) -> int:
    """The place behind the bracket that closes the one at a place."""
    closing = {"(": ")", "[": "]"}[text[at]]
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == text[at]) - (text[place] == closing)
        if not depth:
            return place + 1
    return len(text)
