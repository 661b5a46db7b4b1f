"""Guesses at the inputs of a hand-written kernel, each better informed than the one before.

Nothing says what the integers of a kernel mean: indices into another array, offsets, counts, flags
or strides. So several readings are tried, and arrays grow where the kernel reaches beyond them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from synth.harvest.args import SIZE_SYMBOL, Arg
from validate.statuses import RunStatus

Init = dict[str, str | None]

_INDEX: Init = {"init": f"index_of:{SIZE_SYMBOL}", "low": None, "high": None}
_ALL: Init = {"init": f"size:{SIZE_SYMBOL}", "low": None, "high": None}
_DISTINCT: Init = {"init": "permutation", "low": None, "high": None}
_OFFSETS: Init = {"init": "sorted", "low": "0", "high": "7"}
_ZERO: Init = {"init": "integers", "low": "0", "high": "0"}
_ONE: Init = {"init": "integers", "low": "1", "high": "1"}


@dataclass(frozen=True)
class Reading:
    """What integers may mean: how those of arrays are drawn, those by value, and whether there is
    more than one thread."""

    arrays: Init
    values: Init
    many: bool = True


READINGS = (
    Reading(_INDEX, _INDEX),
    Reading(_DISTINCT, _ALL),
    Reading(_INDEX, _ALL),
    Reading(_OFFSETS, _ALL),
    Reading(_ZERO, _ONE),
    Reading(_ONE, _ALL),
    # where every launch of several threads races or leaves its arrays
    Reading(_DISTINCT, _ALL, many=False),
    Reading(_INDEX, _INDEX, many=False),
    Reading(_ZERO, _ONE, many=False),
)

# By how much each dimension grows at a time, by how many an array has.
_GROWTH = {1: 8, 2: 4}
_SMALL_GROWTH = 2
_MOST_GROWTHS = 3
_MOST_TRIES = 8
_MOST_ENDLESS = 2

Answer = dict[str, Any]
"""Of one try: ``reason``, "" when both ways agree, and ``trouble``: a status and a place, or []."""


@dataclass(frozen=True)
class Guess:
    """Arguments with shapes and inits, and the dimensions of the launch."""

    args: list[Arg]
    dim: list[str]


def search(
    args: list[Arg], dim: list[str], attempt: Callable[[Guess], Answer]
) -> tuple[str, Guess]:
    """Try guesses until the kernel runs as it should: the reason why none does, or "", and the
    guess that does, or the first.

    ``attempt`` runs one. What is tried depends on its answers alone, never on time.
    """
    first, guessed = "", Guess(args, dim)
    endless = 0
    for reading in READINGS:
        reason, guess = _with_growth(args, dim, reading, attempt)
        if not reason:
            return "", guess
        first = first or reason
        if _is_final(reason):
            break
        endless += "without end" in reason
        if endless == _MOST_ENDLESS:
            break
    return first, guessed


def _is_final(reason: str) -> bool:
    """Whether no other guess is to be tried: one that differs must not be outvoted."""
    return "differs" in reason


def _with_growth(
    args: list[Arg], dim: list[str], reading: Reading, attempt: Callable[[Guess], Answer]
) -> tuple[str, Guess]:
    grown: dict[str, int] = {}
    guess = _read_as(args, dim, reading, grown)
    answer = attempt(guess)
    for _ in range(_MOST_TRIES):
        short = _too_short(answer, args)
        if short is None or grown.get(short, 0) == _MOST_GROWTHS:
            break
        grown[short] = grown.get(short, 0) + 1
        guess = _read_as(args, dim, reading, grown)
        answer = attempt(guess)
    return answer["reason"], guess


def _read_as(args: list[Arg], dim: list[str], reading: Reading, grown: dict[str, int]) -> Guess:
    return Guess(
        [_one_read_as(arg, reading, grown.get(arg["name"], 0)) for arg in args],
        dim if reading.many else ["1"] * len(dim),
    )


def _one_read_as(arg: Arg, reading: Reading, growths: int) -> Arg:
    init = reading.arrays if arg["kind"] == "array" else reading.values
    factor = _GROWTH.get(len(arg["shape"]), _SMALL_GROWTH) ** growths
    shape = [f"{factor}*{SIZE_SYMBOL}" if factor > 1 else SIZE_SYMBOL for _ in arg["shape"]]
    fields = [{**field, **_read(field, init)} for field in arg["fields"]]
    return {**arg, **_read(arg, init), "shape": shape, "fields": fields}


def _read(entry: Arg, init: Init) -> Init:
    """The new init of an entry of integers; that of any other stays."""
    return init if entry["init"] == _INDEX["init"] else {}


def _too_short(answer: Answer, args: Sequence[Arg]) -> str | None:
    """The array that a try reached beyond the end of, as far as can be said.

    An access in the guard between two arrays may be nearer to the second.
    """
    if not answer["trouble"]:
        return None
    status, place = answer["trouble"]
    if status not in (RunStatus.READ_OUT_OF_BOUNDS, RunStatus.WROTE_OUT_OF_BOUNDS):
        return None
    found = re.search(r"(after the end|before the start) of (\w+)$", place)
    if found is None:
        return None
    names = [arg["name"] for arg in args if arg["kind"] == "array"]
    at = names.index(found[2])
    if found[1] == "after the end":
        return names[at]
    return names[at - 1] if at else None
