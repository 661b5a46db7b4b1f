"""Judge plain CUDA that others wrote for a row: on hidden inputs and shapes, behind limits.

    with Scorer() as scorer:
        verdict = scorer.score(cuda_text, row)
        reward = float(verdict.passed)

A row's own plain CUDA is run first, once: a draw on which it does not pass is unfit for every
answer to that row, and the next is taken (`score_hidden.draws`). When it passes on none, the row
is wrong and RowUnfit is raised: what is wrong with a row never counts against an answer.

The texts are hostile until shown otherwise. They are read by `score_text`, compiled in a child
process, and each kernel runs in a process forked from that, behind `confine`, without the
reference; what it hands back is compared here. Not defended against: a text that finds, in its
own process, the notes on races and bounds and erases them (its values must be right all the
same); one that breaks the compiler or the kernel of the system; one that tells apart this run on
a CPU from a GPU. Run the whole in a container when answers come from people who would try.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from validate import plain_unit
from validate.host import HostRunner, RunResult
from validate.reference import ReferenceFailed
from validate.score_hidden import KINDS, Draw, draws
from validate.score_judge import CounterExample, Judge, Judged
from validate.score_text import prepared

STATUSES = (
    *("passed", "no_kernel", "bad_signature", "bad_launch", "compile_error", "crashed", "timeout"),
    *("out_of_memory", "wrong_value", "wrote_out_of_bounds", "read_out_of_bounds", "data_race"),
    *("bad_sync", "input_changed"),
)

# Above this share of its tolerance the row's own text is too near the edge for texts that round
# otherwise.
MOST_TOLERANCE = 0.5
COMPILE_TIMEOUT_S = 30.0
_RUN_TIMEOUT_S = 30.0
_MOST_DYNAMIC_BYTES = 49152

Row = Mapping[str, Any]


class RowUnfit(RuntimeError):  # noqa: N818
    """A row cannot be used to score: it has no plain CUDA, or its own does not pass."""


@dataclass(frozen=True)
class Answer:
    """A text for a row, and how it wants to be launched (None: as the row's `plain_launch`)."""

    cuda: Any
    row: Row
    launch: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Verdict:
    """`status` is one of STATUSES; `reason` says where and how, for `compile_error` it is the log.

    `inputs` is one of `score_hidden.KINDS`: what the answer was run on; empty when it was not.
    """

    id: str
    status: str
    reason: str = ""
    counter_example: CounterExample | None = None
    inputs: str = ""

    @property
    def passed(self) -> bool:
        return self.status == "passed"


@dataclass(frozen=True)
class _Raw(RunResult):
    """What the child says of one text: "ran" with an answer, or how it failed."""

    answer: str = ""


class _Runner(HostRunner):
    compile_timeout_s = COMPILE_TIMEOUT_S

    def run_raw(self, rows: Sequence[Row]) -> list[_Raw]:
        """Compile and run prepared texts; those that may share a translation unit do."""
        self._text = "score"
        results: dict[int, Any] = {}
        sharing = [p for p in range(len(rows)) if plain_unit.shares(rows[p]["cuda_plain"])]
        for start in range(0, len(sharing), self.batch_size):
            self._run_batch(rows, sharing[start : start + self.batch_size], results)
        for position in sorted({*range(len(rows))} - {*sharing}):
            self._run_batch(rows, [position], results)
        return [results[position] for position in range(len(rows))]

    def _result(self, row_id: str, message: Mapping[str, Any]) -> RunResult:
        return _Raw(row_id, **message)


class Scorer:
    """Keeps the child process and what each row wants; use it as a context manager.

    `hidden_seed` is to be kept from those who answer; equal seeds give equal verdicts.
    """

    def __init__(self, *, hidden_seed: int = 0, batch_size: int = 8) -> None:
        self.hidden_seed = hidden_seed
        self._runner = _Runner(batch_size=batch_size, timeout_s=_RUN_TIMEOUT_S)
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
        return [verdicts[position] for position in range(len(answers))]

    def _trial(self, answer: Answer) -> Verdict | dict[str, Any]:
        row_id = answer.row["id"]
        text, log = prepared(answer.cuda)
        if log:
            return Verdict(row_id, "compile_error", log)
        names = plain_unit.kernel_names(text)
        if not names:
            return Verdict(row_id, "no_kernel", "there is no __global__ void kernel")
        if len(names) > 1:
            return Verdict(row_id, "no_kernel", f"one kernel is launched, there are {len(names)}")
        if log := plain_unit.fault(text):
            return Verdict(row_id, "compile_error", log)
        launch = answer.row["plain_launch"] if answer.launch is None else answer.launch
        if bad := launch_problem(launch):
            return Verdict(row_id, "bad_launch", bad)
        return _task(answer.row, text, launch, self._fit[row_id][0])

    def _find_draws(self, rows: Mapping[str, Row]) -> None:
        """Decide for rows that are new on what their answers are run."""
        left = {key: draws(row, self.hidden_seed) for key, row in rows.items()}
        left = {key: trials for key, trials in left.items() if key not in self._fit}
        why: dict[str, str] = {}
        while left:
            tried: dict[str, tuple[Draw, Judge]] = {}
            for key, trials in left.items():
                if (found := _next_judge(rows[key], trials, why)) is None:
                    raise RowUnfit(f"{key}: its own plain CUDA does not pass: {why.get(key)}")
                tried[key] = found
            tasks = [_own_task(rows[key], draw) for key, (draw, _) in tried.items()]
            for result in self._runner.run_raw(tasks):
                draw, judge = tried[result.id]
                judged = _judged(result, judge)
                if judged.status == "passed" and judged.tolerance_used <= _most(draw):
                    self._fit[result.id] = tried[result.id]
                    del left[result.id]
                else:
                    used = f"{judged.tolerance_used:.3g} of its tolerance used"
                    why[result.id] = f"{judged.status}: {judged.reason or used}"


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


def launch_problem(launch: Any) -> str:
    """Why a launch is not of the form `{"grid": [...], "block": [...], "shared_bytes": n}`."""
    if not isinstance(launch, Mapping):
        return "launch is no object"
    grid, block, shared = (launch.get(key) for key in ("grid", "block", "shared_bytes"))
    for what, found, kind in (("grid", grid, str), ("block", block, int)):
        right = isinstance(found, list) and 1 <= len(found) <= 3
        if not right or not all(type(entry) is kind for entry in found or ()):
            return f"launch.{what} is no list of one to three {kind.__name__}"
    if any(len(formula) > 200 for formula in grid or ()):
        return "launch.grid has a formula of over 200 characters"
    if shared is not None and (type(shared) is not int or not 0 <= shared <= _MOST_DYNAMIC_BYTES):
        return f"launch.shared_bytes is not between 0 and {_MOST_DYNAMIC_BYTES}"
    return ""


def _task(row: Row, text: str, launch: Mapping[str, Any], draw: Draw) -> dict[str, Any]:
    task = {key: row[key] for key in ("id", "args", "launch", "plain_args")}
    task |= {"cuda_plain": text, "plain_launch": dict(launch)}
    return task | {"input_seed": draw.input_seed, "shapes": list(draw.shapes)}


def _own_task(row: Row, draw: Draw) -> dict[str, Any]:
    if row.get("cuda_plain") is None or row.get("plain_launch") is None:
        raise RowUnfit(f"{row['id']} has no plain CUDA")
    if row["reference"] is None:
        raise RowUnfit(f"{row['id']} has no reference")
    text, log = prepared(row["cuda_plain"])
    if log:
        raise RowUnfit(f"{row['id']}: its own plain CUDA is refused: {log}")
    return _task(row, text, row["plain_launch"], draw)


def _next_judge(row: Row, trials: Any, why: dict[str, str]) -> tuple[Draw, Judge] | None:
    for draw in trials:
        try:
            return draw, Judge(row, draw)
        except (ReferenceFailed, ValueError) as failed:
            why[row["id"]] = f"{draw.kind}: {failed}"
    return None


def _most(draw: Draw) -> float:
    return 1.0 if draw.kind == KINDS[-1] else MOST_TOLERANCE


def _judged(result: _Raw | RunResult, judge: Judge) -> Judged:
    if result.status != "ran":
        return Judged(result.status, result.reason)
    assert isinstance(result, _Raw)
    return judge.judge(result.answer)


def _verdict(result: _Raw | RunResult, judge: Judge, draw: Draw) -> Verdict:
    judged = _judged(result, judge)
    return Verdict(
        result.id, judged.status, judged.reason, judged.counter_example, draw.kind
    )
