"""Wrong versions of a row's plain CUDA, which the host run of it must notice.

Each differs from the row in one edit of the kernel or of one of its device functions. The order is
that of OPERATORS, then of the text, so a mutant's position names it for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from validate.mutants.plain import block, flow, precision, values
from validate.mutants.plain.choice import only_narrows
from validate.mutants.plain.text import codes
from validate.mutants.plain.values import Edit, Rule
from validate.mutants.warp.draw import RACE, Mutant

BARRIER = "barrier_removed"
"""A barrier left out, which only a check of who reads what when can notice for sure."""

_PRECISION: dict[str, Rule] = {
    "accumulator_narrowed": precision.accumulator_narrowed,
    "fast_function": precision.fast_function,
    "float_for_double": precision.float_for_double,
}
PRECISION: tuple[str, ...] = tuple(_PRECISION)
"""Operators that compute less precisely."""

_RULES: dict[str, Rule] = {
    BARRIER: block.barrier_removed,
    "shuffle_offset_halved": block.shuffle_offset_halved,
    "shuffle_mask_wrong": block.shuffle_mask_wrong,
    "half_off_by_one": block.half_off_by_one,
    "identity_wrong": block.identity_wrong,
    "tile_guard_dropped": block.tile_guard_dropped,
    "lane_guard_removed": block.lane_guard_removed,
    RACE: flow.atomic_made_plain,
    "fma_operand": values.fma_operand,
    "float_tie_moved": values.float_tie_moved,
    "loop_bound_moved": flow.loop_bound_moved,
    "comparison_flipped": values.comparison_flipped,
    "operator_swapped": values.operator_swapped,
    "operand_swapped": values.operand_swapped,
    "function_swapped": values.function_swapped,
    "min_for_max": values.min_for_max,
    "index_shifted": values.index_shifted,
    "constant_nudged": values.constant_nudged,
    "cast_narrowed": values.cast_narrowed,
    "branch_removed": flow.branch_removed,
    "term_dropped": values.term_dropped,
    **_PRECISION,
    "last_store_skipped": flow.last_store_skipped,
}

OPERATORS: tuple[str, ...] = tuple(_RULES)


def plain_mutants(row: Mapping[str, Any]) -> list[Mutant]:
    """Every mutant of a row's `cuda_plain`, each text once: the first operator has it.

    Those that a look at the text shows to be right are none (`validate.mutants.plain.choice`).
    """
    text = row["cuda_plain"] or ""
    bodies = list(codes(text))
    found: dict[str, Mutant] = {}
    for operator, rule in _RULES.items():
        for code in bodies:
            for edit in rule(code):
                mutant = _mutant(operator, text, edit)
                if mutant.text != text and not only_narrows(mutant):
                    found.setdefault(mutant.text, mutant)
    return list(found.values())


def _mutant(operator: str, text: str, edit: Edit) -> Mutant:
    changed = f"{text[: edit.start]}{edit.text}{text[edit.end :]}"
    first = text.rfind("\n", 0, edit.start) + 1
    after = edit.start + len(edit.text)
    return Mutant(
        operator=operator,
        line=text.count("\n", 0, edit.start) + 1,
        column="cuda_plain",
        before=_lines(text, first, edit.end),
        after=_lines(changed, first, after),
        text=changed,
    )


def _lines(text: str, first: int, last: int) -> str:
    end = text.find("\n", last)
    return " ".join(text[first : end if end >= 0 else len(text)].split())
