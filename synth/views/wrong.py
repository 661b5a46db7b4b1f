"""A wrong version of a row's plain CUDA, and the candidates for one in the order of a row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.views.plain import pick
from synth.views.tidy import tidied
from validate.mutants.launches import LAUNCH_OPERATORS, launch_mutants
from validate.mutants.plain.draw import BARRIER, PRECISION, plain_mutants
from validate.mutants.warp.draw import RACE, Mutant

Row = Mapping[str, Any]
Launches = Sequence[Mapping[str, Any]]

NOBODY_WRITES = ("accumulator_narrowed", "last_store_skipped")
"""Faults of which the text could not be anybody's: bits of a sum masked out, a store
under a guard of its own."""

FAMILIES: dict[str, frozenset[str]] = {
    "barrier": frozenset({BARRIER}),
    "race": frozenset({RACE}),
    "launch": frozenset(LAUNCH_OPERATORS),
    "precision": frozenset(PRECISION) - frozenset(NOBODY_WRITES),
    "index": frozenset({"index_shifted", "tile_guard_dropped", "lane_guard_removed"}),
    "lanes": frozenset(
        {"shuffle_offset_halved", "shuffle_mask_wrong", "half_off_by_one", "identity_wrong"}
    ),
}
"""Faults that only parallel code has, by kind."""
_COMMON = ("launch", "index")
_ONE_IN = 3
"""Of so many rows one is to have such a fault, so that they come to about a quarter."""


@dataclass(frozen=True)
class Candidate:
    """What may be wrong: a text of the operator's, or a right text with other launches."""

    operator: str
    text: str
    launches: Launches | None = None

    def columns(self, row: Row) -> dict[str, Any]:
        """The row's columns with what is wrong in place of its own."""
        launches = row["plain_launch"] if self.launches is None else list(self.launches)
        return {**row, "cuda_plain": self.text, "plain_launch": launches}

    def answer_launch(self, row: Row) -> dict[str, Any] | None:
        """The launches as the scorer takes them with an answer; None: the row's own."""
        if self.launches is None:
            return None
        return {"launches": list(self.launches), "scratch": row["plain_scratch"] or []}


@dataclass(frozen=True)
class Wrong:
    """A wrong version of a row's plain CUDA.

    ``fault`` names the edit, ``failure`` is the verdict (`compile_error` or another
    `validate.statuses.ScoreStatus`), ``evidence`` what was said of it. ``launches`` are wrong ones
    of a right text. ``worse`` is the same with a second fault, and what was said of that.
    """

    text: str
    fault: str
    failure: str
    evidence: str
    launches: Launches | None = None
    worse: Wrong | None = None

    def columns(self, row: Row) -> dict[str, Any]:
        """The row's columns with what is wrong in place of its own."""
        return Candidate(self.fault, self.text, self.launches).columns(row)

    def launch_json(self) -> str | None:
        """The wrong launches as JSON."""
        return None if self.launches is None else json.dumps(list(self.launches))


def faults_in_turn(row: Row) -> list[Candidate]:
    """One candidate of each operator, operators and candidates in an order of the row's own; of
    every third row those of parallel code first, kinds that few kernels can have before others."""
    ours = _tidy(row, plain_mutants(row))
    if pick(row, "repair/gpu", _ONE_IN):
        return _sorted(row, ours.values())
    for name, launches in sorted(launch_mutants(row), key=lambda m: _order(row, *map(str, m))):
        ours.setdefault(name, Candidate(name, row["cuda_plain"], launches))
    kinds = {name: kind for kind, names in FAMILIES.items() for name in names}

    def place(candidate: Candidate) -> tuple[bool, bool, str, str]:
        kind = kinds.get(candidate.operator, "")
        return not kind, kind in _COMMON, _order(row, kind), _order(row, candidate.operator)

    return sorted(ours.values(), key=place)


def slips_in_turn(row: Row, mutants: Sequence[Mutant]) -> list[Candidate]:
    """The same of given mutants, no kind before another."""
    return _sorted(row, _tidy(row, mutants).values())


def _sorted(row: Row, candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: _order(row, candidate.operator))


def _tidy(row: Row, mutants: Sequence[Mutant]) -> dict[str, Candidate]:
    ours: dict[str, Candidate] = {}
    for mutant in sorted(mutants, key=lambda m: _order(row, m.operator, m.text)):
        is_new = mutant.operator not in ours and mutant.operator not in NOBODY_WRITES
        text = tidied(mutant) if is_new else None
        if text is not None and text != row["cuda_plain"]:
            ours[mutant.operator] = Candidate(mutant.operator, text)
    return ours


def _order(row: Row, *what: str) -> str:
    return hashlib.sha256("/".join((row["id"], *what)).encode()).hexdigest()
