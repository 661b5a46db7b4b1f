"""Judge plain CUDA that others wrote for a row: on hidden inputs and shapes, behind limits.

    with Scorer() as scorer:
        verdict = scorer.score(cuda_text, row)
        reward = float(verdict.passed)

A row's own plain CUDA is run first, once: a draw on which it does not pass is unfit for every
answer to that row, and the next is taken (`hidden.draws`). When it passes on none, the row
is wrong and RowUnfit is raised: what is wrong with a row never counts against an answer.

The texts are hostile until shown otherwise. They are read by `validate.text.stranger`, compiled in
a child process, and each kernel runs in a process forked from that, behind `confine`, without the
reference; what it hands back is compared here. Not defended against: a text that finds, in its own
process, the notes on races and bounds and erases them (its values must be right all the same); one
that breaks the compiler or the kernel of the system; one that tells apart this run on a CPU from a
GPU. Run the whole in a container when answers come from people who would try.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from validate.host.runner import RunResult
from validate.oracle.reference import ReferenceFailed
from validate.score.hidden import KINDS, Draw, draws
from validate.score.judge import CounterExample, Judge
from validate.score.run import (
    RUN_TIMEOUT_S,
    Row,
    RowUnfit,
    Runner,
    check_columns,
    judged,
    launch_problem,
    own_task,
    task,
)
from validate.statuses import ScoreStatus
from validate.text import plain as plain_unit
from validate.text.stranger import prepared

# Above this share of its tolerance the row's own text is too near the edge for texts that round
# otherwise.
MOST_TOLERANCE = 0.5
_MOST_KEPT = 1024


@dataclass(frozen=True)
class Answer:
    """A text for a row, and how it wants to be launched (None: as the row's `plain_launch`)."""

    cuda: Any
    row: Row
    launch: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Verdict:
    """`status` is a `validate.statuses.ScoreStatus`; `reason` says where and how, for
    `compile_error` it is the log.

    `inputs` is one of `hidden.KINDS`: what the answer was run on; empty when it was not.
    """

    id: str
    status: str
    reason: str = ""
    counter_example: CounterExample | None = None
    inputs: str = ""

    @property
    def passed(self) -> bool:
        return self.status == ScoreStatus.PASSED


class Scorer:
    """Keeps the child process and what each row wants; use it as a context manager.

    `hidden_seed` is to be kept from those who answer; equal seeds give equal verdicts.
    """

    def __init__(self, *, hidden_seed: int = 0, batch_size: int = 8) -> None:
        self.hidden_seed = hidden_seed
        self._runner = Runner(batch_size=batch_size, timeout_s=RUN_TIMEOUT_S)
        self._fit: dict[str, tuple[Draw, Judge]] = {}

    def __enter__(self) -> Scorer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child process."""
        self._runner.close()

    def score(
        self, cuda_text: Any, row: Row, *, launch: Mapping[str, Any] | None = None
    ) -> Verdict:
        """Judge one text; see `score_batch`."""
        return self.score_batch([Answer(cuda_text, row, launch)])[0]

    def score_batch(self, answers: Sequence[Answer]) -> list[Verdict]:
        """Judge texts, in their order; many together are quicker than one by one.

        Raises RowUnfit for a row that cannot be used, RuntimeError when the machinery fails and
        HostRunUnavailable when Warp's Clang is not there: nothing of that is an answer's fault.
        """
        self._find_draws({answer.row["id"]: answer.row for answer in answers})
        verdicts: dict[int, Verdict] = {}
        trials: dict[int, dict[str, Any]] = {}
        for position, answer in enumerate(answers):
            trial = self._trial(answer)
            if isinstance(trial, Verdict):
                verdicts[position] = trial
            else:
                trials[position] = trial
        raw = self._runner.run_raw(list(trials.values()))
        for position, result in zip(trials, raw, strict=True):
            draw, judge = self._fit[result.id]
            verdicts[position] = _verdict(result, judge, draw)
        while len(self._fit) > _MOST_KEPT:
            del self._fit[next(iter(self._fit))]
        return [verdicts[position] for position in range(len(answers))]

    def _trial(self, answer: Answer) -> Verdict | dict[str, Any]:
        row_id = answer.row["id"]
        text, log = prepared(answer.cuda)
        if log:
            return Verdict(row_id, ScoreStatus.COMPILE_ERROR, log)
        names = set(plain_unit.kernel_names(text))
        if not names:
            return Verdict(row_id, ScoreStatus.NO_KERNEL, "there is no __global__ void kernel")
        if len(names) > 1:
            return Verdict(
                row_id, ScoreStatus.NO_KERNEL, f"one kernel is launched, there are {len(names)}"
            )
        if log := plain_unit.fault(text):
            return Verdict(row_id, ScoreStatus.COMPILE_ERROR, log)
        launch = answer.row["plain_launch"] if answer.launch is None else answer.launch
        if bad := launch_problem(launch):
            return Verdict(row_id, ScoreStatus.BAD_LAUNCH, bad)
        return task(answer.row, text, launch, self._fit[row_id][0])

    def _find_draws(self, rows: Mapping[str, Row]) -> None:
        """Decide for rows that are new on what their answers are run."""
        left = {}
        for key in rows.keys() - self._fit.keys():
            check_columns(rows[key])
            left[key] = draws(rows[key], self.hidden_seed)
        why: dict[str, str] = {}
        while left:
            tried: dict[str, tuple[Draw, Judge]] = {}
            for key, trials in left.items():
                trial = _next_judge(rows[key], trials, why)
                if trial is None:
                    raise RowUnfit(f"{key}: its own plain CUDA does not pass: {why.get(key)}")
                tried[key] = trial
            tasks = [own_task(rows[key], tried[key][0]) for key in sorted(tried)]
            for result in self._runner.run_raw(tasks):
                draw, judge = tried[result.id]
                found = judged(result, judge)
                if found.status == ScoreStatus.PASSED and found.tolerance_used <= _most(draw):
                    self._fit[result.id] = tried[result.id]
                    del left[result.id]
                else:
                    used = f"{found.tolerance_used:.3g} of its tolerance used"
                    why[result.id] = f"{draw.kind}: {found.status}: {found.reason or used}"


def score(
    cuda_text: Any, row: Row, *, launch: Mapping[str, Any] | None = None, hidden_seed: int = 0
) -> Verdict:
    """Judge one text in a child process of its own; see `Scorer.score_batch`."""
    with Scorer(hidden_seed=hidden_seed) as scorer:
        return scorer.score(cuda_text, row, launch=launch)


def score_batch(answers: Sequence[Answer], *, hidden_seed: int = 0) -> list[Verdict]:
    """Judge several texts in a child process of their own; see `Scorer.score_batch`."""
    with Scorer(hidden_seed=hidden_seed) as scorer:
        return scorer.score_batch(answers)


def _next_judge(row: Row, trials: Any, why: dict[str, str]) -> tuple[Draw, Judge] | None:
    for draw in trials:
        try:
            return draw, Judge(row, draw)
        except (ReferenceFailed, ValueError) as failed:
            why[row["id"]] = f"{draw.kind}: {failed}"
    return None


def _most(draw: Draw) -> float:
    return 1.0 if draw.kind == KINDS[-1] else MOST_TOLERANCE


def _verdict(result: RunResult, judge: Judge, draw: Draw) -> Verdict:
    found = judged(result, judge)
    return Verdict(result.id, found.status, found.reason, found.counter_example, draw.kind)
