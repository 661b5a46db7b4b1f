"""Plain CUDA that a compiler refuses: slips that people make, one in a text.

Whether a text is refused, and with what words, only a compiler says: these are candidates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from validate.mutants.warp.draw import Mutant

_LOCAL = re.compile(
    r"^ +(const )?(int|unsigned int|long long|float|double|bool|half) (\w+) = ([^;]*);$"
)
_CALL = re.compile(r"\b([a-z]\w*[a-z]f?)\(([^()]*), ([^(),]*)\)")
_FUNCTION = re.compile(r"\b(f?[a-z]{3,}f?)\(")
_WORDS = frozenset(("if", "for", "while", "switch", "return", "sizeof", "else"))

_Lines = list[str]
_Change = tuple[int, str]


def plain_breaks(row: Mapping[str, Any]) -> list[Mutant]:
    """Candidates from a row's `cuda_plain`, in the order of their kinds and of the text."""
    lines = str(row["cuda_plain"] or "").split("\n")
    return [
        _mutant(kind, lines, at, changed)
        for kind, rule in _RULES.items()
        for at, changed in rule(lines)
        if changed != lines[at]
    ]


def _mutant(kind: str, lines: _Lines, at: int, changed: str) -> Mutant:
    text = "\n".join([*lines[:at], changed, *lines[at + 1 :]])
    return Mutant(kind, at + 1, "cuda_plain", lines[at].strip(), changed.strip(), text)


def _semicolon_left_out(lines: _Lines) -> Iterator[_Change]:
    for at, line in enumerate(lines):
        if line.startswith("    ") and line.endswith(";"):
            yield at, line[:-1]


def _bracket_left_out(lines: _Lines) -> Iterator[_Change]:
    for at, line in enumerate(lines):
        if line.startswith("    ") and line.endswith(";") and ")" in line:
            last = line.rindex(")")
            yield at, line[:last] + line[last + 1 :]


def _locals(lines: _Lines) -> Iterator[tuple[int, re.Match[str]]]:
    for at, line in enumerate(lines):
        if match := _LOCAL.match(line):
            yield at, match


def _name_misspelled(lines: _Lines) -> Iterator[_Change]:
    """A use of a local that nobody declared under this name."""
    text = "\n".join(lines)
    for declared, match in _locals(lines):
        name = match[3]
        wrong = f"{name}_" if len(name) < 4 else f"{name[:-2]}{name[-1]}{name[-2]}"
        if wrong == name or re.search(rf"\b{wrong}\b", text):
            continue
        for at in range(declared + 1, len(lines)):
            if lines[at].startswith("}"):
                break
            if used := re.search(rf"\b{name}\b", lines[at]):
                yield at, f"{lines[at][: used.start()]}{wrong}{lines[at][used.end() :]}"
                break


def _declaration_left_out(lines: _Lines) -> Iterator[_Change]:
    for at, match in _locals(lines):
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        yield at, f"{indent}{match[3]} = {match[4]};"


def _made_const(lines: _Lines) -> Iterator[_Change]:
    """A local that is changed later becomes a constant."""
    for declared, match in _locals(lines):
        if match[1]:
            continue
        changes = re.compile(rf"(?<![\w.]){match[3]}(?: [-+*/&|^]?= |\+\+|--)")
        if any(changes.search(line) for line in lines[declared + 1 :]):
            start = match.start(2)
            yield declared, f"{lines[declared][:start]}const {lines[declared][start:]}"


def _vector_for_scalar(lines: _Lines) -> Iterator[_Change]:
    for at, match in _locals(lines):
        if match[2] in ("float", "double"):
            vector = f"{match[2]}3"
            yield at, f"{lines[at][: match.start(2)]}{vector}{lines[at][match.end(2) :]}"


def _argument_left_out(lines: _Lines) -> Iterator[_Change]:
    for at, line in enumerate(lines):
        match = _CALL.search(line)
        if match and line.startswith("    ") and match[1] not in _WORDS:
            yield at, f"{line[: match.end(2)]}){line[match.end() :]}"


def _function_misspelled(lines: _Lines) -> Iterator[_Change]:
    text = "\n".join(lines)
    for at, line in enumerate(lines):
        for match in _FUNCTION.finditer(line) if line.startswith("    ") else ():
            wrong = f"{match[1][:-1]}_{match[1][-1]}"
            if match[1] not in _WORDS and not re.search(rf"\b{wrong}\b", text):
                yield at, f"{line[: match.start(1)]}{wrong}{line[match.end(1) :]}"


_RULES: dict[str, Callable[[_Lines], Iterator[_Change]]] = {
    "semicolon_left_out": _semicolon_left_out,
    "bracket_left_out": _bracket_left_out,
    "name_misspelled": _name_misspelled,
    "declaration_left_out": _declaration_left_out,
    "made_const": _made_const,
    "vector_for_scalar": _vector_for_scalar,
    "argument_left_out": _argument_left_out,
    "function_misspelled": _function_misspelled,
}

BREAKS: tuple[str, ...] = tuple(_RULES)
