"""Judge several answers one after the other: read, run on the host, compiled for a device."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from validate.host.answered import Answered
from validate.host.plain_launch import Grid
from validate.host.stranger_case import Ran
from validate.nvrtc.answers import TOO_MUCH, DeviceResult, DeviceText
from validate.score.branches import unseen_branch
from validate.score.fit import Fit, RowUnfit
from validate.score.judge import Judged
from validate.score.lane import Lane
from validate.score.task import (
    Refused,
    Task,
    block_threads,
    for_answer,
    grids,
    limit_problem,
    shared_problem,
    task_of,
    threads_of,
)
from validate.score.verdict import Answer, Verdict
from validate.statuses import CompileStatus, ScoreStatus

FindFit = Callable[[Mapping[str, Any], Lane], Fit]

_MANY_THREADS, _MORE_THREADS = 1 << 18, 4
_NOT_RUN = (ScoreStatus.COMPILE_ERROR, ScoreStatus.BAD_SIGNATURE)
_DEVICE_ENDS = {
    str(CompileStatus.TIMEOUT): ScoreStatus.TIMEOUT,
    str(CompileStatus.OUT_OF_MEMORY): ScoreStatus.OUT_OF_MEMORY,
    TOO_MUCH: ScoreStatus.BAD_LAUNCH,
}


def judge_answers(
    answers: Sequence[Answer], lane: Lane, find_fit: FindFit, deadline: float | None
) -> list[Verdict]:
    """A verdict for each answer, in order. `deadline` is by `time.monotonic`."""
    verdicts: dict[int, Verdict] = {}
    passed: dict[int, tuple[Verdict, Task, Fit, DeviceText]] = {}
    for position, answer in enumerate(answers):
        found = _judge_on_host(answer, lane, find_fit, deadline)
        if isinstance(found, Verdict):
            verdicts[position] = found
        else:
            passed[position] = found
    compiled = lane.compile([text for *_, text in passed.values()])
    for (position, (verdict, task, fit, _)), result in zip(passed.items(), compiled, strict=True):
        verdicts[position] = _on_a_device(verdict, task, fit, result)
    return [verdicts[position] for position in range(len(answers))]


def _judge_on_host(
    answer: Answer, lane: Lane, find_fit: FindFit, deadline: float | None
) -> Verdict | tuple[Verdict, Task, Fit, DeviceText]:
    """The verdict on an answer that does not pass; else what is compiled for a device."""
    row_id = str(answer.row["id"])
    if deadline is not None and time.monotonic() > deadline:
        return Verdict(row_id, ScoreStatus.NOT_JUDGED, "the time of the batch was up")
    try:
        fit = find_fit(answer.row, lane)
    except RowUnfit as unfit:
        reason = "the row's own plain CUDA does not pass"
        return Verdict(row_id, ScoreStatus.ROW_UNFIT, reason, detail=str(unfit))
    task = task_of(answer.cuda, answer.row, answer.launch)
    if isinstance(task, Refused):
        return Verdict(row_id, task.status, task.reason, inputs="")
    at = grids(task, fit.draw)
    if isinstance(at, Refused):
        return Verdict(row_id, at.status, at.reason, detail=at.detail)
    if problem := limit_problem(task, answer.row):
        return Verdict(row_id, ScoreStatus.BAD_LAUNCH, problem)
    skipped = fit.skipped | too_many_threads(at, fit)
    ran = lane.run(task.sent, for_answer(fit.trials, skipped), own=False)
    verdict = _verdict(row_id, ran, fit, skipped)
    if not verdict.passed:
        return verdict
    reading = task.reading
    most = max(block_threads(grid) for grids_at in at for grid in grids_at)
    return verdict, task, fit, DeviceText(reading.code, reading.headers, reading.kernel, most)


def too_many_threads(at: Sequence[Sequence[Grid]], fit: Fit) -> set[int]:
    """Optional trials for which an answer launches far more threads than the row's own text does:
    right all the same, and more than this machine can run."""
    return {
        number
        for number, (grid, own) in enumerate(zip(at, fit.own_grids, strict=True))
        if fit.draw.trials[number].optional
        and threads_of(grid) > max(_MANY_THREADS, _MORE_THREADS * threads_of(own))
    }


def _verdict(row_id: str, ran: Ran, fit: Fit, skipped: Collection[int]) -> Verdict:
    said = Answered.from_bytes(ran.answer)
    if ran.status != "ran":
        found = Judged(ran.status, ran.reason)
    else:
        found = fit.judge.judge(said, skipped)
    compiled = found.status not in _NOT_RUN and not found.reason.startswith("compiler")
    if found.status == ScoreStatus.PASSED:
        limit = unseen_branch(said.branches, again=1)
        if limit is not None:
            reason = f"a branch waits for {limit}, which no size that was tried comes to"
            found = Judged(ScoreStatus.UNSEEN_BRANCH, reason, share=found.share)
    return Verdict(
        row_id,
        found.status,
        found.reason,
        found.counter_example,
        fit.draw.kind,
        found.detail,
        compiled=compiled,
        launched=compiled and ran.status == "ran",
        share=found.share,
    )


def _on_a_device(verdict: Verdict, task: Task, fit: Fit, found: DeviceResult) -> Verdict:
    if found.status == CompileStatus.COMPILES:
        problem = shared_problem(task, fit.draw, found.shared_bytes)
        if not problem:
            return verdict
        reason = "static and dynamic shared memory are too much together"
        return Verdict(verdict.id, ScoreStatus.BAD_LAUNCH, reason, detail=problem, compiled=True)
    status = _DEVICE_ENDS.get(found.status, ScoreStatus.COMPILE_ERROR)
    return Verdict(verdict.id, status, found.reason)
