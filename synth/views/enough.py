"""Whether a description alone says what a kernel computes: all that it names, all its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isclose, pi, sqrt
from typing import Any

from generators.program import ir
from generators.program.dtypes import Array
from generators.program.expr import Const, Load, Op, Var
from generators.program.serialise import from_json
from generators.program.walk import expressions

Row = Mapping[str, Any]

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAMED = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "half": 0.5, "pi": pi, "twice": 2}
_SMALL = 2.0
"""Whole numbers up to this are in formulas of all kinds: in halves, squares, first and last."""
_MIDDLE = 0.5
_ENDLESS = 1e9
"""From here on a number stands for one that no value reaches."""
_LIMITS = frozenset({"min", "max", "clamp"})
_SAYS_LIMITS = re.compile(
    r"\b(?:clamp|most|least|min|max|smaller|larger|smallest|largest|limit|capped|edge|border|"
    r"nearest|inside|within|from 0|saturat|relu|range|between|bound|stop)",
    re.IGNORECASE,
)


def lacking(row: Row) -> list[str]:
    """What a kernel has and its description does not: parameters, numbers, and limits of what is
    looked up. Empty where the description can do alone."""
    program = from_json(row["program"])
    told = row["description"]
    words = set(_WORD.findall(told))
    found = [p.name for p in program.kernel.params if p.name not in words and not _is_size(p)]
    shapes = " ".join(extent for arg in row["args"] for extent in arg["shape"])
    numbers = set(_numbers(f"{told} {shapes}"))
    bodies = [program.kernel.body, *(f.body for f in program.functions)]
    for value in sorted({c for body in bodies for c in _constants(body)}):
        if not any(_same(value, number) for number in numbers):
            found.append(f"{value:g}")
    if not _SAYS_LIMITS.search(told) and any(_is_limited(body, program) for body in bodies):
        found.append("limits")
    return found


def _is_size(p: ir.Param) -> bool:
    return not isinstance(p.type, Array) and p.init.startswith("size:")


def _numbers(text: str) -> Iterator[float]:
    for match in _NUMBER.finditer(text):
        yield float(match[0].replace(",", "").rstrip("."))
    yield from (float(value) for word, value in _NAMED.items() if re.search(rf"\b{word}\b", text))


def _constants(body: ir.Body) -> Iterator[float]:
    """Numbers of a body that a reader cannot guess."""
    for e in expressions(body):
        if isinstance(e, Const) and not isinstance(e.value, bool):
            value = abs(float(e.value))
            if (value != int(value) or _SMALL < value < _ENDLESS) and value != _MIDDLE:
                yield value


def _same(value: float, number: float) -> bool:
    """Whether a number of the text is one of the kernel, or leads to it in one step."""
    forms = [number, number**2, sqrt(number), number * pi, number + 1, number - 1]
    forms += [1.0 / number] if number else []
    return any(isclose(value, form, rel_tol=1e-4) for form in forms)


def _is_limited(body: ir.Body, program: ir.Program) -> bool:
    """Whether an index is held within limits."""
    limited = {
        s.name
        for s in body
        if isinstance(s, ir.Assign) and isinstance(s.value, Op) and s.value.op in _LIMITS
    }
    for e in expressions(body):
        if isinstance(e, Load):
            for index in e.indices:
                if isinstance(index, Op) and index.op in _LIMITS:
                    return True
                if isinstance(index, Var) and index.name in limited:
                    return True
    return False
