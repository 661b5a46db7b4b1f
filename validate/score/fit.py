"""Which draw of a row its answers are judged on: the first on which the row's own text passes."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from validate.host.answered import Answered
from validate.host.plain_launch import Grid
from validate.host.plain_steps import grids_of
from validate.oracle.reference import ReferenceFailed
from validate.score.hidden import KINDS, LARGEST, OWN, Draw, draws
from validate.score.judge import Judge, has_nan
from validate.score.lane import Lane
from validate.score.shapes import elements
from validate.score.task import Row, own_task, trial_messages
from validate.score.wanted import is_of_warp
from validate.statuses import ScoreStatus

# Above this share of its tolerance the row's own text is too near the edge for texts that round
# otherwise.
MOST_TOLERANCE = 0.5
# Of all arrays of a row without a text, at a shape beyond its own: its reference is asked there.
_MOST_ELEMENTS = 1 << 20


class RowUnfit(RuntimeError):  # noqa: N818
    """A row cannot be used to score: it has no plain CUDA, or its own does not pass."""


@dataclass(frozen=True)
class Fit:
    """What answers to a row are run on (`trials`, as messages) and judged by; `own_grids` are those
    of the row's own launches, `skipped` the trials that nobody runs."""

    draw: Draw
    judge: Judge
    trials: list[dict[str, Any]]
    own_grids: list[list[Grid]]
    skipped: frozenset[int]


def find_fit(row: Row, hidden_seed: int, lane: Lane) -> Fit:
    """Try the draws of a row with its own text. Raises RowUnfit when it passes on none.

    A row that tells a signature (``plain_args``) and has no text is judged by its reference alone.
    """
    own = _own(row)
    why = ""
    for draw in draws(row, hidden_seed):
        try:
            found = _without_own(row, draw) if own is None else _tried(row, own, draw, lane)
        except (ReferenceFailed, ValueError) as failed:
            found = str(failed)
        if isinstance(found, Fit):
            return found
        why = f"{draw.kind}: {found}"
    what = "its reference fails" if own is None else "its own plain CUDA does not pass"
    raise RowUnfit(f"{row['id']}: {what}: {why}")


def _own(row: Row) -> dict[str, Any] | None:
    """The task that a row's own text is; None where it has none. Raises RowUnfit."""
    if row.get("reference") is None and not is_of_warp(row):
        raise RowUnfit(f"{row['id']} has no reference")
    if row.get("cuda_plain") is None:
        if not row.get("plain_args"):
            raise RowUnfit(f"{row['id']} has no plain CUDA")
        return None
    own = own_task(row)
    if isinstance(own, str):
        raise RowUnfit(f"{row['id']}: its own plain CUDA is refused: {own}")
    return own


def _without_own(row: Row, draw: Draw) -> Fit | str:
    """The fit of a row without a text: where the row's own would decide its reference does, with
    the same wide tolerance, at shapes that it can be asked about."""
    judge = Judge(row, draw)
    if any(has_nan(array) for wanted in judge.wanted.values() for array in wanted.values()):
        return "the reference gives nan"
    skipped: set[int] = set()
    for number, trial in enumerate(draw.trials):
        if trial.oracle != OWN:
            continue
        if elements(row, trial.sizes) > _MOST_ELEMENTS or not judge.take_reference(row, number):
            skipped.add(number)
    skipped.update(_all_but_the_first_large(draw, skipped))
    own_grids = [grids_of(row, trial.sizes) for trial in draw.trials]
    return Fit(draw, judge, trial_messages(draw, skipped), own_grids, frozenset(skipped))


def _all_but_the_first_large(draw: Draw, skipped: Set[int]) -> list[int]:
    largest = [n for n, t in enumerate(draw.trials) if t.what in LARGEST and n not in skipped]
    return largest[1:]


def _tried(row: Row, own: Mapping[str, Any], draw: Draw, lane: Lane) -> Fit | str:
    """The fit on one draw, or why it is none."""
    judge = Judge(row, draw)
    skipped: set[int] = set()
    ran = lane.run(own, trial_messages(draw, skipped), own=True)
    if ran.status != "ran":
        # An optional trial may have ended the process; those that are not stand for themselves.
        skipped = {n for n, trial in enumerate(draw.trials) if trial.optional}
        ran = lane.run(own, trial_messages(draw, skipped), own=True) if skipped else ran
        if ran.status != "ran":
            return f"{ran.status}: {ran.reason}"
    said = Answered.from_bytes(ran.answer)
    written = said.outputs
    for number, trial in enumerate(draw.trials):
        if trial.oracle != OWN or number in skipped:
            continue
        if (
            number >= len(written)
            or written[number] is None
            or not judge.take_own(number, written[number])
        ):
            skipped.add(number)
    skipped.update(_all_but_the_first_large(draw, skipped))
    found = judge.judge(said, skipped)
    most = 1.0 if draw.kind == KINDS[-1] else MOST_TOLERANCE
    if found.status != ScoreStatus.PASSED:
        return f"{found.status}: {found.detail or found.reason}"
    if found.tolerance_used > most:
        return f"{found.tolerance_used:.3g} of its tolerance used"
    own_grids = [grids_of(row, trial.sizes) for trial in draw.trials]
    return Fit(draw, judge, trial_messages(draw, skipped), own_grids, frozenset(skipped))
