"""What a text of CUDA tells of its own cost, line by line, without being run.

These are facts of how it is written: a branch that depends on the thread around a barrier, an index
in which neighbouring threads are far apart, shared memory of which a warp asks one bank. Names are
followed through declarations; what cannot be told is not said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from validate.text.lexer import Unreadable, lex

_BANKS = 32
_DECLARED = re.compile(r"\b(?:int|unsigned|size_t|long)\s+(\w+)\s*=\s*([^;]+);")
_SHARED = re.compile(r"__shared__\s+[\w\s]*?(\w+)\s+(\w+)\s*((?:\[[^\]]+\])+)\s*;")
_BARRIER = re.compile(r"\b(__syncthreads|__syncwarp|bar\.sync)\b")
_CONDITION = re.compile(r"\b(if|for|while)\s*\(")
_ACCESS = re.compile(r"\b(\w+)((?:\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\])+)")
_WORDS_OF_BANKS = frozenset({"float", "int", "unsigned"})
_MOST_FACTS = 6


@dataclass(frozen=True)
class Fact:
    """``kind`` is what a fact is of, ``line`` of the text it is told of."""

    kind: str
    line: int
    said: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.said}"


def text_facts(text: str) -> list[Fact]:
    """The facts of a text, in its order, each said once and few of a kind; none of a text that
    cannot be read."""
    try:
        plain = _without_comments(text)
    except Unreadable:
        return []
    found = sorted(
        {*_barriers(plain), *_accesses(plain)}, key=lambda fact: (fact.line, fact.kind, fact.said)
    )
    return found[:_MOST_FACTS]


def _without_comments(text: str) -> str:
    """The text with blanks for its comments, so that places stay what they are."""
    parts = [
        re.sub(r"[^\n]", " ", token.text) if token.text.startswith(("//", "/*")) else token.text
        for token in lex(text)
    ]
    return "".join(parts)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _closing(text: str, start: int, pair: str) -> int:
    """The place behind the bracket that closes the one at ``start``."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == pair[0]) - (text[at] == pair[1])
        if not depth:
            return at + 1
    return len(text)


def _of_the_thread(text: str) -> set[str]:
    """Names whose values differ from thread to thread of a block."""
    names = {"threadIdx"}
    for name, value in _DECLARED.findall(text):
        if names & set(re.findall(r"\w+", value)):
            names.add(name)
    return names


def _barriers(text: str) -> Iterator[Fact]:
    names = _of_the_thread(text)
    for match in _CONDITION.finditer(text):
        end = _closing(text, match.end() - 1, "()")
        if not names & set(re.findall(r"\w+", text[match.end() : end])):
            continue
        body = text[end:].lstrip()
        start = len(text) - len(body)
        stop = _closing(text, start, "{}") if body[:1] == "{" else text.find(";", start) + 1
        what = "branch" if match[1] == "if" else "loop"
        for barrier in _BARRIER.finditer(text, start, stop):
            said = f"{barrier[1]}() in a {what} that depends on the thread"
            yield Fact("barrier", _line(text, barrier.start()), said)


def _neighbours(text: str) -> set[str]:
    """Names that grow by one from a thread to its neighbour."""
    names = {"threadIdx.x"}
    for name, value in _DECLARED.findall(text):
        words = [re.escape(unit) for unit in names]
        unit = rf"(?<![\w.])(?:{'|'.join(words)})(?!\w)"
        if re.search(unit, value) and not re.search(rf"{unit}\s*[*/%&]|[*/%]\s*{unit}", value):
            names.add(name)
    return names


def _accesses(text: str) -> Iterator[Fact]:
    words = [re.escape(name) for name in sorted(_neighbours(text), key=len, reverse=True)]
    unit = rf"(?<![\w.])(?:{'|'.join(words)})(?!\w)"
    far = re.compile(rf"{unit}\s*\*\s*(\w+)|(?<![\w./])(\w+)\s*\*\s*{unit}")
    differ = _of_the_thread(text)
    shared = {name: (type_, dims) for type_, name, dims in _SHARED.findall(text)}
    for match in _ACCESS.finditer(text):
        name = match[1]
        if "__shared__" in text[text.rfind("\n", 0, match.start()) + 1 : match.start()]:
            continue
        indices = [one.strip() for one in _split(match[2])]
        shown = f"`{name}{''.join(f'[{one}]' for one in indices)}`"
        line = _line(text, match.start())
        if name in shared:
            if stride := _bank_stride(indices, shared[name], unit, far, differ):
                said = f"{shown}: neighbouring threads are {stride} words of shared memory apart"
                yield Fact("banks", line, f"{said}, so that they wait for the same banks")
        elif stride := _stride(indices[-1], far, differ):
            said = f"{shown}: neighbouring threads are {stride} elements apart, not side by side"
            yield Fact("stride", line, said)


def _split(indices: str) -> list[str]:
    found, at = [], indices.find("[")
    while at >= 0:
        end = _closing(indices, at, "[]")
        found.append(indices[at + 1 : end - 1])
        at = indices.find("[", end)
    return found


def _stride(index: str, far: re.Pattern[str], differ: set[str]) -> str:
    """By what a thread's place is multiplied; empty where it is not, and where the rest of the
    index differs from thread to thread too."""
    match = far.search(index)
    if match is None:
        return ""
    rest = f"{index[: match.start()]} {index[match.end() :]}"
    if differ & set(re.findall(r"\w+", rest)):
        return ""
    stride = match[1] or match[2]
    return "" if stride in ("1", "threadIdx", "blockIdx", "blockDim", "gridDim") else stride


def _bank_stride(
    indices: list[str],
    declared: tuple[str, str],
    unit: str,
    far: re.Pattern[str],
    differ: set[str],
) -> str:
    """How many words apart neighbours are, where that is a multiple of the banks."""
    type_, dims = declared
    extents = [one.strip() for one in _split(dims)]
    if type_ not in _WORDS_OF_BANKS:
        return ""
    if len(indices) == len(extents) == 2:
        row = re.search(unit, indices[0]) and not differ & set(re.findall(r"\w+", indices[1]))
        return extents[1] if row and _is_multiple(extents[1]) else ""
    stride = _stride(indices[-1], far, differ)
    return stride if _is_multiple(stride) else ""


def _is_multiple(count: str) -> bool:
    return count.isdecimal() and int(count) % _BANKS == 0
