"""Good attempts at the positions of a run: where they lie, and which of them enter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synth.dataset.existing import Keys64, as_numbers, positions_of
from synth.dataset.files import read_parquet
from synth.dataset.positions import Key, Positions, Task, key_at, redraw_task
from synth.run.resolve import Candidate, Outcome, replay
from synth.run.state import Run
from synth.run.tally import Tally
from synth.run.unit import ROWS_AT_ONCE

_KEY_COLUMNS = ["structure", "rename", "provenance.attempt"]

MOST_AT_ONCE = 16
"""Attempts that are asked for at once of a position that has lost several already."""


@dataclass(frozen=True)
class Further:
    """A later candidate of a position: its keys, and its row in the file of a redraw."""

    keys: Candidate
    path: Path
    row: int
    attempt: int


@dataclass
class Candidates:
    """All that is known of a run's positions."""

    run: Run
    further: dict[int, list[Further]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.settings, self.work = self.run.settings, self.run.work
        self.existing = self.run.existing
        n = self.work.n
        self.structures, self.renames = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
        self.attempts = np.zeros(n, np.int32)
        self.fixed = np.zeros(n, np.bool_)
        inside = self.existing.positions < n
        at = self.existing.positions[inside]
        self.structures[at] = self.existing.structures[inside]
        self.renames[at] = self.existing.renames()[inside]
        self.fixed[at] = True
        for task, wanted in self.run.units():
            table = read_parquet(self.work.done[task.name], columns=_KEY_COLUMNS)
            here = wanted < n
            self.structures[wanted[here]] = as_numbers(table["structure"])[here]
            self.renames[wanted[here]] = as_numbers(table["rename"])[here]
            self.attempts[wanted[here]] = _attempts(table)[here]

    def outcome(self) -> Outcome:
        further = {at: [one.keys for one in several] for at, several in self.further.items()}
        return replay(self.structures, self.renames, self.fixed, further)

    def redraws(self, outcome: Outcome) -> list[Task]:
        """Tasks that bring the next candidates of the positions that have none to take."""
        asked: dict[int, list[tuple[Key, int]]] = {}
        for position in outcome.pending:
            several = self.further.get(position, [])
            start = (several[-1].attempt if several else int(self.attempts[position])) + 1
            count = min(max(1, len(several)), MOST_AT_ONCE)
            key = key_at(position, self.settings.categories)
            asked.setdefault(count, []).append((key, start))
        return [
            redraw_task(starts[first : first + ROWS_AT_ONCE // count], count)
            for count, starts in sorted(asked.items())
            for first in range(0, len(starts), ROWS_AT_ONCE // count)
        ]

    def add(self, task: Task) -> None:
        """Take in what a redraw gave."""
        path = self.work.done[task.name]
        table = read_parquet(path, columns=[*_KEY_COLUMNS, "category", "provenance.index"])
        positions = positions_of(table, self.settings.categories)
        keys = zip(as_numbers(table["structure"]), as_numbers(table["rename"]), strict=True)
        attempts = _attempts(table)
        for row, (at, (structure, rename)) in enumerate(zip(positions, keys, strict=True)):
            found = Further(Candidate(int(structure), int(rename)), path, row, int(attempts[row]))
            self.further.setdefault(int(at), []).append(found)

    def chosen_keys(self, outcome: Outcome) -> tuple[Keys64, Keys64]:
        """The structure and the rename key of every position's row."""
        structures, renames = self.structures.copy(), self.renames.copy()
        for position, link in outcome.links.items():
            keys = self.further[position][link - 1].keys
            structures[position], renames[position] = keys.structure, keys.rename
        return structures, renames

    def rows_of(self, path: Path, wanted: Positions, outcome: Outcome) -> tuple[pa.Table, Tally]:
        """The rows that enter from a unit and from what replaces some of it, by position.

        And what became of the draws behind those that the dataset did not count before.
        """
        table, places, tally = read_parquet(path), [], Tally()
        extra: list[pa.Table] = []
        for row, position in enumerate(wanted.tolist()):
            if position >= self.work.n:
                continue
            link = outcome.links.get(position, 0)
            counted = tally if position >= self.existing.rows else Tally()
            if link:
                self._count_losers(table, row, position, outcome.refusals[position], counted)
                one = self.further[position][link - 1]
                replacement = _redrawn(one.path).slice(one.row, 1)
                counted.add(_tally_of(replacement, 0))
                places.append(table.num_rows + len(extra))
                extra.append(replacement)
            else:
                counted.add(_tally_of(table, row))
                places.append(row)
        return pa.concat_tables([table, *extra]).take(places), tally

    def _count_losers(
        self, table: pa.Table, row: int, position: int, refusals: Sequence[str], tally: Tally
    ) -> None:
        """Count the candidates before the one that enters; what they measured is of no row."""
        before = self.further[position][: len(refusals) - 1]
        losers = [(table, row), *((_redrawn(one.path), one.row) for one in before)]
        for (where, at), reason in zip(losers, refusals, strict=True):
            lost = _tally_of(where, at)
            tally.add(Tally(lost.draws, lost.rejects, lost.rejected_rows))
            category, idiom = where["category"][at].as_py(), where["idiom"][at].as_py()
            tally.rejects[f"{category}/{idiom}/{reason}"] += 1


@lru_cache(maxsize=8)
def _redrawn(path: Path) -> pa.Table:
    return read_parquet(path)


def _tally_of(table: pa.Table, row: int) -> Tally:
    return Tally.from_json(table["tally"][row].as_py())


def _attempts(table: pa.Table) -> NDArray[np.int32]:
    found: NDArray[np.int32] = pc.struct_field(table["provenance"], "attempt").to_numpy()
    return found.astype(np.int32)
