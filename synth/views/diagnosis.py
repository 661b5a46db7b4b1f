"""What is wrong with a text, from the lines in which it differs from the right one, and why."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from synth.views.sizes import said

_MOST_CHARACTERS = 160
"""Of the lines that are quoted from each text; longer ones are told by their place alone."""


WHY: dict[str, str] = {
    "barrier_removed": "without the barrier threads reach shared memory in no fixed order",
    "shuffle_offset_halved": "the first exchange between lanes is left out",
    "shuffle_mask_wrong": "the mask names half of the lanes that take part",
    "half_off_by_one": "the reduction starts with another part of the threads than half",
    "identity_wrong": "a thread's own part has to start with what changes nothing",
    "tile_guard_dropped": "the tile is filled from past the end",
    "lane_guard_removed": "one thread alone is to go on there, not all",
    "atomic_made_plain": "other threads get between the load and the store, and an update is lost",
    "fma_operand": "the first two arguments are multiplied, the third is added",
    "float_tie_moved": "equal values are to be decided the other way",
    "loop_bound_moved": "the loop has a turn too many or too few",
    "comparison_flipped": "the test holds for the wrong values",
    "operator_swapped": "that is another operation",
    "operand_swapped": "the order of the operands matters",
    "function_swapped": "that is another function",
    "min_for_max": "of smaller and larger the wrong one is kept",
    "index_shifted": "that is a neighbour of the element or component meant",
    "constant_nudged": "that is another constant",
    "cast_narrowed": "the value goes through a type too narrow for it",
    "branch_removed": "the condition decides nothing then",
    "term_dropped": "a part of what is computed is missing",
    "fast_function": "the fast version is less accurate than the tolerance asks for",
    "float_for_double": "a float in between keeps half of the digits of a double",
    "grid_rounded_down": "where the blocks do not divide the size, the last elements get none",
    "block_halved": "the grid counts on twice as many threads a block",
    "block_doubled": "the kernel has room for half as many threads a block",
    "grid_axes_swapped": "the kernel takes its axes in the other order",
    "shared_bytes_left_out": "the kernel needs that shared memory",
    "semicolon_left_out": "the statement has no end",
    "bracket_left_out": "a bracket is not closed",
    "name_misspelled": "nothing of that name is declared",
    "declaration_left_out": "the name has no type",
    "made_const": "it is changed later",
    "vector_for_scalar": "the value is a scalar",
    "argument_left_out": "the call lacks an argument",
    "function_misspelled": "there is no function of that name",
}
"""By operator of :mod:`validate.mutants`; all that a repair may have."""


_PLACE = re.compile(r"\b(blockIdx|blockDim|threadIdx|gridDim)\.([xyz])\b")
_OTHER_OF: dict[str, str] = {
    "blockIdx": "the block's number along {right} counts there, and not that along {wrong}: other "
    "blocks take the same elements, or none does",
    "blockDim": "blocks start as many threads apart as they have along {right}, and not along "
    "{wrong}: they overlap, or leave elements out between them",
    "threadIdx": "the thread's number along {right} counts there, and not that along {wrong}: "
    "threads of a block take the same elements, and others are left out",
    "gridDim": "the blocks along {right} count there, and not those along {wrong}: turns overlap, "
    "or leave elements out",
}
"""Why another axis of what CUDA says of a thread's place is wrong."""
_ANOTHER = "the index then is that of another element"
_WITHOUT: dict[str, str] = {
    "threadIdx": "all threads of a block take the same elements then",
    "blockDim": "blocks then start one element apart, and not as many as they have threads",
    "blockIdx": "every block takes what the first one does",
}
"""What an index is without a part of a thread's place."""
_LEAVES = re.compile(r"\bif \(.*?\) \{?\s*(return|continue|break);", re.DOTALL)
_GOES_ON: dict[str, str] = {
    "return": "threads that are to leave there go on",
    "continue": "turns that are to be skipped are done as well",
    "break": "the loop goes on where it is to end",
}
"""Why a test that makes threads leave has to be there, by how they do."""
_FOR = re.compile(r"\bfor \(([^;]*);[^;]*;\s*([^{]*)")
_IN_INDEX = re.compile(r"\[[^\]]*$|\bint (\w+) = [^;?]*$")


def _why(fault: str, wrong: str, right: str) -> str:
    """Why a fault is one, of the texts in which it stands."""
    ours, theirs = (_PLACE.findall(_lines_of(a, b)) for a, b in ((wrong, right), (right, wrong)))
    others = [(a, b) for a, b in zip(ours, theirs, strict=False) if a != b]
    if fault == "index_shifted" and len(ours) == len(theirs) and len(others) == 1:
        ((name, axis), (meant, wanted)) = others[0]
        if name == meant:
            return _OTHER_OF[name].format(right=wanted, wrong=axis)
        return f"`{meant}.{wanted}` counts there, and not `{name}.{axis}`"
    if fault == "operator_swapped":
        signs = [a + b for a, b in _changed(wrong, right)]
        if any(set(sign) <= set("+-*/% ") for sign in signs) and _is_in_index(wrong, right):
            return _ANOTHER
    if fault == "term_dropped" and _is_in_index(wrong, right):
        lacking = Counter(name for name, _ in theirs) - Counter(name for name, _ in ours)
        return next((_WITHOUT[name] for name in _WITHOUT if name in lacking), _ANOTHER)
    if fault == "branch_removed" and (leaves := _LEAVES.search(_lines_of(right, wrong))):
        return _GOES_ON[leaves[1]]
    if fault == "loop_bound_moved":
        return _begun(_lines_of(wrong, right), _lines_of(right, wrong)) or WHY[fault]
    return WHY[fault]


def _lines_of(text: str, other: str) -> str:
    """The lines of a text that stand otherwise in another, or not at all."""
    ours, theirs = text.split("\n"), other.split("\n")
    codes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    return "\n".join("\n".join(ours[a:b]) for tag, a, b, _, _ in codes if tag != "equal")


def _begun(wrong: str, right: str) -> str:
    """What is wrong with a loop that begins one further; empty where that is not it."""
    ours, theirs = (_FOR.search(text) for text in (wrong, right))
    if ours is None or theirs is None or ours[1] == theirs[1]:
        return ""
    if "--" in theirs[2] or "-=" in theirs[2]:
        return "the loop has a turn before its first"
    return "the loop begins one late, and what its first turn is for is left out"


def _changed(wrong: str, right: str) -> list[tuple[str, str]]:
    """The characters in which two texts differ."""
    codes = SequenceMatcher(None, wrong, right, autojunk=False).get_opcodes()
    return [(wrong[a:b], right[c:d]) for tag, a, b, c, d in codes if tag != "equal"]


def _is_in_index(wrong: str, right: str) -> bool:
    """Whether the first place in which two texts differ is within an index, or within a number that
    is one later."""
    same = next((k for k, (a, b) in enumerate(zip(wrong, right, strict=False)) if a != b), 0)
    found = _IN_INDEX.search(right[:same].rpartition("\n")[2])
    if found is None or found[1] is None:
        return found is not None
    return bool(_PLACE.search(_lines_of(right, wrong)) or _indexes_with(found[1], right))


def _indexes_with(name: str, text: str) -> bool:
    return re.search(rf"\[[^\]]*\b{name}\b", text) is not None


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


def explained(told: str, fault: str, wrong: str = "", right: str = "") -> str:
    """A diagnosis with why what it names is wrong: of one sentence a clause of it, of several a
    sentence of its own. ``wrong`` and ``right`` are the whole texts."""
    why = _why(fault, wrong, right)
    body = told.removesuffix(".")
    if not told:
        return ""
    if ". " not in body:
        return f"{body}: {why}."
    return f"{told} {why[0].upper()}{why[1:]}."


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
