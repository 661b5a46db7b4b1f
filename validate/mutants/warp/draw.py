"""Wrong versions of a row's CUDA text, which a check of the row must notice.

Each differs from the row in one statement. The order is that of the text, then of OPERATORS, so a
mutant's position names it for good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from validate.mutants.warp.flow import FLOW_RULES
from validate.mutants.warp.text import Function, functions
from validate.mutants.warp.values import VALUE_RULES

RACE = "atomic_made_plain"
"""An atomic update made a load, an operation and a store: wrong on a GPU, equal on one thread."""

_RULES = VALUE_RULES | FLOW_RULES

OPERATORS: tuple[str, ...] = tuple(_RULES)

_COLUMNS = ("cuda_helpers", "cuda_forward")


@dataclass(frozen=True)
class Mutant:
    """One wrong version of a row.

    `line` is the 1-based line of `column` that changed from `before` to `after` (both stripped);
    `text` is the whole new text of that column.
    """

    operator: str
    line: int
    column: str
    before: str
    after: str
    text: str


def mutants(row: Mapping[str, Any]) -> list[Mutant]:
    """Every mutant of the forward kernel and its helper functions, each text once.

    The row needs `cuda_helpers` and `cuda_forward`. Adjoint functions are left as they are.
    """
    found: dict[tuple[str, str], Mutant] = {}
    for column in _COLUMNS:
        for function in functions(row[column] or ""):
            for mutant in _of_function(function, column):
                found.setdefault((column, mutant.text), mutant)
    return list(found.values())


def mutated(row: Mapping[str, Any], mutant: Mutant, position: int) -> dict[str, Any]:
    """A copy of the row with the mutant's text and `<id>.<position>` as its id."""
    return dict(row) | {mutant.column: mutant.text, "id": f"{row['id']}.{position}"}


def _of_function(function: Function, column: str) -> Iterator[Mutant]:
    for index in range(function.first, function.end):
        line = function.lines[index]
        before = line.strip()
        indent = line[: len(line) - len(line.lstrip())]
        for operator, rule in _RULES.items():
            for after in rule(before, function):
                if after == before:
                    continue
                changed = [*function.lines]
                changed[index] = indent + after
                yield Mutant(operator, index + 1, column, before, after, "\n".join(changed))
