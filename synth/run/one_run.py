"""The work of one run: units that are not made yet, the rule, and the finishing pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from synth.dataset.files import read_parquet
from synth.dataset.manifest import Manifest
from synth.dataset.positions import Task
from synth.run.candidates import Candidates
from synth.run.engine import Engine, InProcess
from synth.run.finish import Finish
from synth.run.opened import Opened
from synth.run.raise_level import given_rows
from synth.run.resolve import Outcome
from synth.run.tally import Tally

Progress = Callable[[int, int, bool], None]
"""Called after each unit with its rows, the draws that were not taken, and whether this run made
it."""


@dataclass(frozen=True)
class Part:
    """One of several runs that share the units of a dataset among them: ``number`` from 1 on."""

    number: int
    count: int


Phase = Callable[[str], None]
"""Called with what the run does from now on."""


def unsaid(_what: str) -> None:
    """Phases that nobody watches."""


def unseen(_rows: int, _rejects: int, _fresh: bool) -> None:
    """Progress that nobody watches."""


@dataclass
class Run(Opened):
    """A run that holds its folder."""

    engine: Engine = field(default_factory=InProcess)
    stop_if_asked: Callable[[], None] = lambda: None
    phase: Phase = unsaid

    def make_units(self, progress: Progress, part: Part | None = None) -> None:
        """Make the units that are not there yet, or those of a part."""
        self._make(self._todo(progress, part), progress)

    def _todo(self, progress: Progress, part: Part | None) -> Iterator[Task]:
        """One at a time: the keys of all would not fit."""
        for number, (task, wanted) in enumerate(self.units()):
            if part is not None and number % part.count != part.number - 1:
                continue
            if task.name in self.work.done:
                progress(int((wanted < self.work.n).sum()), 0, False)
            else:
                yield task

    def _make(self, tasks: Iterable[Task], progress: Progress) -> None:
        given = (replace(t, given=given_rows(self.work.folder, t)) for t in tasks)
        for task, data in self.engine.run(self.settings, self.versions, given):
            self.stop_if_asked()
            self.work.keep(task.name, data)
            progress(len(task.starts), _rejects(data), True)

    def finish(self) -> Manifest:
        """Replay the rule until every position has its row, then write the dataset."""
        candidates = Candidates(self)
        outcome = self._settled(candidates)
        self.phase("writing shards")
        return Finish(self).write(candidates, outcome)

    def _settled(self, candidates: Candidates) -> Outcome:
        while True:
            outcome = candidates.outcome()
            tasks = candidates.redraws(outcome)
            if not tasks:
                return outcome
            self.phase(f"drawing {len(outcome.pending)} rows again")
            self._make([t for t in tasks if t.name not in self.work.done], unseen)
            for task in tasks:
                candidates.add(task)


def _rejects(data: bytes) -> int:
    tallies = read_parquet(data, columns=["tally"])["tally"].to_pylist()
    return sum(sum(Tally.from_json(text).rejects.values()) for text in tallies)
