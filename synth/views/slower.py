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
from synth.reasons import ViewReason
from synth.render.cuda.module import render
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from synth.views.layout import choice_of
from synth.views.measured import Timed, timed_of
from synth.views.plain import pick
from validate.score.scorer import Answer, Scorer

Row = Mapping[str, Any]

PREDICTED, MEASURED = "predicted", "measured"
"""What times are: of the cost model, or of a device."""
LEAST_RATIO = 1.5
"""Of the times. Measured on devices that it was not fitted to, the model's times were within
1.25 for most rows (``notes/measurements/cost.md``), so more than that has to lie between."""


LEAST_GAIN_US = 2.0
"""Of the times' difference: less is within what a launch varies by."""


_GRID_STRIDE, _ONE_IN = "grid_stride", 3
"""Of rows to which a loop over the grid would be the slower layout so many are taken."""


@dataclass(frozen=True)
class Slower:
    """``columns`` are the row's with the plain CUDA of the other layout, which is ``schedule``;
    ``ratio`` is of its time to that of the row's own. Where a device measured both, ``timed`` is
    that, and ``slow_us`` the other layout's time."""

    columns: Row
    schedule: Schedule
    ratio: float
    timed: Timed | None = None
    slow_us: float = 0.0

    def times(self) -> dict[str, Any]:
        """What a view says of the times, by column."""
        how = MEASURED if self.timed else PREDICTED
        return {"ratio": self.ratio, "time": how, "device": self.timed and self.timed.device}


def slower_layouts(
    scorer: Scorer, rows: Sequence[Row], timings: Mapping[str, Timed]
) -> list[Slower | ViewReason]:
    """One for each row, or why there is none: no layout of the same parameters is that much slower,
    or it or the row's own does not pass; or all that are save little. ``timings`` are by row: a row
    that was timed has one that was measured to be slower, or none."""
    found = [_slower(row, timings) for row in rows]
    slow = {at: one for at, one in enumerate(found) if isinstance(one, Slower)}
    answers = [Answer(one.columns["cuda_plain"], one.columns) for one in slow.values()]
    answers += [Answer(rows[at]["cuda_plain"], rows[at]) for at in slow]
    passed = [verdict.passed for verdict in scorer.score_batch(answers)]
    for at, *both in zip(slow, passed[: len(slow)], passed[len(slow) :], strict=True):
        if not all(both):
            found[at] = ViewReason.NOTHING_SLOWER
    return found


def _slower(row: Row, timings: Mapping[str, Timed]) -> Slower | ViewReason:
    if row["cuda_plain"] is None:
        return ViewReason.NO_PLAIN_CUDA
    timed = timed_of(row, timings)
    if timed is not None:
        program, own_us, others = from_json(row["program"]), timed.own_us, timed.others
    elif (choice := choice_of(row)) is not None:
        if choice.is_poor:
            return ViewReason.POOR_ANSWER
        program, own_us = choice.program, choice.own.prediction.time_us
        every = [(c.schedule, c.prediction.time_us) for c in choice.all]
        pairs = zip(choice.all, every, strict=True)
        others = [one for c, one in pairs if not choice.is_doubtful(c)]
        if _candidates(own_us, every) and not _candidates(own_us, others):
            return ViewReason.UNMEASURED
    else:
        return ViewReason.NOTHING_SLOWER
    slow = _candidates(own_us, others)
    if timed is None and pick(row, "slower/stride", _ONE_IN):
        # What is learnt of these would else be that grids are to have more threads.
        kept = [one for one in slow if one[0].style != _GRID_STRIDE]
        if slow and not kept:
            return ViewReason.MANY_ALIKE
        slow = kept
    listed = [one for one in slow if one[1] - own_us >= LEAST_GAIN_US]
    if not listed:
        return ViewReason.LITTLE_GAIN if slow else ViewReason.NOTHING_SLOWER
    schedule, slow_us = listed[pick(row, "slower", len(listed))]
    columns = _columns(row, program, schedule)
    if columns is None:
        return ViewReason.NOTHING_SLOWER
    return Slower(columns, schedule, slow_us / own_us, timed, slow_us)


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
