"""The rule of which rows enter a dataset.

In order of (index, category), each index takes its first attempt that passes the gates and the
checks, whose rename key no earlier row holds, and whose structure has room below the cap. Units
bring the first good attempt of each index; the ones that lose here are drawn on from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from synth.pair import Accepted, Row
from synth.settings import STRUCTURE_CAP, Settings, Versions
from synth.unit import Key, Tally, checked_rows


@dataclass(frozen=True)
class Candidate:
    """A unit's row as the rule sees it."""

    key: Key
    idiom: str
    structure: str
    rename: str
    attempt: int


@dataclass
class Taken:
    """What earlier rows hold."""

    renames: set[str]
    structures: Counter[str]

    @staticmethod
    def nothing() -> Taken:
        return Taken(set(), Counter())

    def refusal(self, structure: str, rename: str) -> str:
        """Why a row may not enter, or an empty string."""
        if rename in self.renames:
            return "duplicate"
        return "structure_cap" if self.structures[structure] >= STRUCTURE_CAP else ""

    def add(self, structure: str, rename: str) -> None:
        self.renames.add(rename)
        self.structures[structure] += 1


def resolve(
    settings: Settings, versions: Versions, candidates: Sequence[Candidate], tally: Tally
) -> dict[Key, Row]:
    """Replay the rule over the units' rows, in order; gives the rows that replace losers.

    A loser is drawn and checked at its turn, so that what it takes is taken for all that follow.
    """
    taken = Taken.nothing()
    replaced: dict[Key, Row] = {}
    for candidate in candidates:
        refusal = taken.refusal(candidate.structure, candidate.rename)
        if refusal:
            tally.rejects[f"{candidate.key[1]}/{candidate.idiom}/{refusal}"] += 1
            row, rename = _redraw(settings, versions, candidate, taken, tally)
            replaced[candidate.key] = row
            taken.add(row["structure"], rename)
        else:
            taken.add(candidate.structure, candidate.rename)
    return replaced


def _redraw(
    settings: Settings, versions: Versions, loser: Candidate, taken: Taken, tally: Tally
) -> tuple[Row, str]:
    def admit(accepted: Accepted) -> str:
        return taken.refusal(accepted.keys.structure, accepted.keys.rename)

    start = {loser.key: loser.attempt + 1}
    found = checked_rows(settings, versions, [loser.key], start, admit, tally)
    return found[loser.key]
