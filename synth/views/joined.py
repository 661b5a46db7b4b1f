"""How many barriers and shuffles a text has, counted in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import log2

BARRIER, SHUFFLE = r"__syncthreads\(", r"__shfl\w*\("
_FUNCTION = re.compile(r"^[^\n;#/]*?\b(\w+)\([^;{}]*\)\s*\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_BOUNDS = re.compile(r"__launch_bounds__\(\d+\)\s*")
_HALVES = re.compile(r"for \(int \w+ = (\d+); \w+ > 0; \w+ /= 2\)")
_DOUBLES = re.compile(r"for \(int \w+ = 1; \w+ < (\d+); \w+ \*= 2\)")
_TURNS = re.compile(r"\b(?:for|while) \(")


def counted(text: str, kernel: str, what: str) -> int | None:
    """How many of ``what``, a pattern of calls, a thread of a kernel does, with those of functions
    that it calls; None where loops do them that turn as often as sizes or data say."""
    every: dict[str, list[str]] = {}
    for found in _FUNCTION.finditer(_BOUNDS.sub("", text)):
        every.setdefault(found[1], []).append(found[2])
    if kernel not in every:
        return None
    return _in_body(every[kernel][0], {n: b for n, b in every.items() if n != kernel}, what)


def _in_body(body: str, functions: Mapping[str, list[str]], what: str) -> int | None:
    total = 0
    loops: list[tuple[int, int | None]] = []
    for line in body.split("\n"):
        depth = len(line) - len(line.lstrip())
        loops = [one for one in loops if one[0] < depth or not line.strip()]
        here = _of_line(line, functions, what)
        if here is None or (here and any(turns is None for _, turns in loops)):
            return None
        for _, turns in loops:
            here *= turns or 0
        total += here
        if _TURNS.search(line):
            loops.append((depth, _turns(line)))
    return total


def _of_line(line: str, functions: Mapping[str, list[str]], what: str) -> int | None:
    total = len(re.findall(what, line))
    for name, bodies in functions.items():
        calls = len(re.findall(rf"\b{name}\(", line))
        if not calls:
            continue
        # Of overloads that do as much it is no matter which is called.
        rest = {n: b for n, b in functions.items() if n != name}
        each = {_in_body(body, rest, what) for body in bodies}
        if len(each) > 1 or None in each:
            return None
        total += calls * (each.pop() or 0)
    return total


def _turns(line: str) -> int | None:
    if halves := _HALVES.search(line):
        return int(log2(int(halves[1]))) + 1
    doubles = _DOUBLES.search(line)
    return int(log2(int(doubles[1]))) if doubles else None
