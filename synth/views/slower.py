"""The row's kernel in a layout that is slower: right, and seen to be.

Slower by times that a GPU has measured, where ``gpu tune`` has timed the row; else by those that
the cost model predicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generators.program import ir
from generators.program.serialise import from_json
from synth.render.cuda.module import render
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from synth.views.measured import Timed, timed_of
from synth.views.plain import pick
from synth.views.reasons import choice_of
from validate.score.scorer import Answer, Scorer

Row = Mapping[str, Any]

PREDICTED, MEASURED = "predicted", "measured"
"""What times are: of the cost model, or of a device."""
LEAST_RATIO = 1.5
"""Of the times. Measured on devices that it was not fitted to, the model's times were within
1.25 for most rows (``notes/measurements/cost.md``), so more than that has to lie between."""


@dataclass(frozen=True)
class Slower:
    """``columns`` are the row's with the plain CUDA of the other layout; ``ratio`` is of its time
    to that of the row's own. Where a device measured both, ``timed`` is that, and ``slow_us`` the
    other layout's time."""

    columns: Row
    ratio: float
    timed: Timed | None = None
    slow_us: float = 0.0

    def times(self) -> dict[str, Any]:
        """What a view says of the times, by column."""
        how = MEASURED if self.timed else PREDICTED
        return {"ratio": self.ratio, "time": how, "device": self.timed and self.timed.device}


def slower_layouts(
    scorer: Scorer, rows: Sequence[Row], timings: Mapping[str, Timed]
) -> list[Slower | None]:
    """One for each row; None where no layout of the same parameters is that much slower, or where
    it or the row's own does not pass. ``timings`` are by row: a row that was timed has one that was
    measured to be slower, or none."""
    found = {at: slower for at, row in enumerate(rows) if (slower := _slower(row, timings))}
    answers = [Answer(s.columns["cuda_plain"], s.columns) for s in found.values()]
    answers += [Answer(rows[at]["cuda_plain"], rows[at]) for at in found]
    verdicts = scorer.score_batch(answers)
    passed = [v.passed for v in verdicts]
    both = dict(
        zip(found, zip(passed[: len(found)], passed[len(found) :], strict=True), strict=True)
    )
    return [found[at] if all(both.get(at, (False,))) else None for at in range(len(rows))]


def _slower(row: Row, timings: Mapping[str, Timed]) -> Slower | None:
    if row["cuda_plain"] is None:
        return None
    timed = timed_of(row, timings)
    if timed is not None:
        program, own_us, others = from_json(row["program"]), timed.own_us, timed.others
    elif (choice := choice_of(row)) is not None:
        program, own_us = choice.program, choice.own.prediction.time_us
        others = [(c.schedule, c.prediction.time_us) for c in choice.all]
    else:
        return None
    listed = _candidates(own_us, others)
    if not listed:
        return None
    schedule, slow_us = listed[pick(row, "slower", len(listed))]
    columns = _columns(row, program, schedule)
    return None if columns is None else Slower(columns, slow_us / own_us, timed, slow_us)


def _columns(row: Row, program: ir.Program, schedule: Schedule) -> dict[str, Any] | None:
    plain = render(program, schedule)
    # Who calls the kernel goes on as before; some layouts need a size that the row's does not.
    return {**row, **plain.columns()} if plain.args == row["plain_args"] else None


def _candidates(
    own_us: float, others: Sequence[tuple[Schedule, float]]
) -> list[tuple[Schedule, float]]:
    """The plain layout where it is slower enough, as people write that first; else the best of each
    other style."""
    best: dict[str, tuple[Schedule, float]] = {}
    for schedule, us in sorted(others, key=lambda one: one[1]):
        best.setdefault(schedule.style, (schedule, us))
    slow = [(schedule, us) for schedule, us in best.values() if us >= LEAST_RATIO * own_us]
    return [one for one in slow if one[0].style == ONE_THREAD_A_POINT] or slow
