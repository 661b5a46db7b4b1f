"""The row's kernel in a layout that the cost model says to be slower: right, and seen to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.render.cuda.choose import Candidate
from synth.render.cuda.module import render
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from synth.views.plain import pick
from synth.views.reasons import Choice, choice_of
from validate.score.scorer import Answer, Scorer

Row = Mapping[str, Any]

PREDICTED = "predicted"
"""What times are, where no device has measured them."""
LEAST_RATIO = 1.5
"""Of predicted times. Measured on devices that it was not fitted to, the model's times were within
1.25 for most rows (``notes/measurements/cost.md``), so more than that has to lie between."""


@dataclass(frozen=True)
class Slower:
    """``columns`` are the row's with the plain CUDA of the other layout; ``ratio`` is of its
    predicted time to that of the row's own."""

    columns: Row
    ratio: float


def slower_layouts(scorer: Scorer, rows: Sequence[Row]) -> list[Slower | None]:
    """One for each row; None where no layout of the same parameters is that much slower, or where
    it or the row's own does not pass."""
    found = {at: slower for at, row in enumerate(rows) if (slower := _slower(row))}
    answers = [Answer(s.columns["cuda_plain"], s.columns) for s in found.values()]
    answers += [Answer(rows[at]["cuda_plain"], rows[at]) for at in found]
    verdicts = scorer.score_batch(answers)
    passed = [v.passed for v in verdicts]
    both = dict(
        zip(found, zip(passed[: len(found)], passed[len(found) :], strict=True), strict=True)
    )
    return [found[at] if all(both.get(at, (False,))) else None for at in range(len(rows))]


def _slower(row: Row) -> Slower | None:
    choice = choice_of(row) if row["cuda_plain"] is not None else None
    if choice is None or not (others := _candidates(choice)):
        return None
    chosen = others[pick(row, "slower", len(others))]
    plain = render(choice.program, chosen.schedule)
    if plain.args != row["plain_args"]:
        # Who calls the kernel goes on as before; some layouts need a size that the row's does not.
        return None
    return Slower({**row, **plain.columns()}, choice.ratio(chosen))


def _candidates(choice: Choice) -> list[Candidate]:
    """The plain layout where it is slower enough, as people write that first; else the best of each
    other style."""
    best: dict[str, Candidate] = {}
    for c in choice.all:
        best.setdefault(c.schedule.style, c)
    slow = [c for c in best.values() if choice.ratio(c) >= LEAST_RATIO]
    return [c for c in slow if c.schedule.style == ONE_THREAD_A_POINT] or slow
