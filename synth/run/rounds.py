"""The rounds of a run: its units, then redraws until the rule is met, then the finishing pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from synth.dataset.files import read_parquet
from synth.dataset.manifest import Manifest
from synth.dataset.positions import Task
from synth.run.candidates import Candidates
from synth.run.finish import Finish
from synth.run.limits import Part
from synth.run.raise_level import given_rows
from synth.run.resolve import Outcome
from synth.run.state import Run
from synth.run.tally import Tally

Progress = Callable[[int, int, bool], None]
"""Called after each unit with its rows, the draws that were not taken, and whether this run made
it."""


def ignore_progress(_rows: int, _rejects: int, _fresh: bool) -> None:
    """Progress that nobody watches."""


def make_units(run: Run, progress: Progress, part: Part | None = None) -> None:
    """Make the units that are not there yet, or those of a part."""
    _make(run, _todo(run, progress, part), progress)


def finish_run(run: Run) -> Manifest:
    """Replay the rule until every position has its row, then write the dataset."""
    candidates = Candidates(run)
    outcome = _settled(run, candidates)
    run.phase("writing shards")
    return Finish(run).write(candidates, outcome)


def _todo(run: Run, progress: Progress, part: Part | None) -> Iterator[Task]:
    """One at a time: the keys of all would not fit."""
    for number, (task, wanted) in enumerate(run.units()):
        if part is not None and number % part.count != part.number - 1:
            continue
        if task.name in run.work.done:
            progress(int((wanted < run.work.n).sum()), 0, False)
        else:
            yield task


def _make(run: Run, tasks: Iterable[Task], progress: Progress) -> None:
    given = (replace(t, given=given_rows(run.work.folder, t)) for t in tasks)
    for task, data in run.engine.run(run.settings, run.versions, given):
        run.stop_if_asked()
        run.work.keep(task.name, data)
        progress(len(task.starts), _rejects(data), True)


def _settled(run: Run, candidates: Candidates) -> Outcome:
    while True:
        outcome = candidates.outcome()
        tasks = candidates.redraws(outcome)
        if not tasks:
            return outcome
        run.phase(f"drawing {len(outcome.pending)} rows again")
        _make(run, [t for t in tasks if t.name not in run.work.done], ignore_progress)
        for task in tasks:
            candidates.add(task)


def _rejects(data: bytes) -> int:
    tallies = read_parquet(data, columns=["tally"])["tally"].to_pylist()
    return sum(sum(Tally.from_json(text).rejects.values()) for text in tallies)
