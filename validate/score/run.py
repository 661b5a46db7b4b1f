"""Compile and run answers in the child process: what is sent, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from validate.host.plain_launch import launch_problem as launch_problem
from validate.host.runner import HostRunner, RunResult
from validate.score.hidden import Draw
from validate.score.judge import Judge, Judged
from validate.text import plain as plain_unit
from validate.text.stranger import prepared

COMPILE_TIMEOUT_S = 30.0
# More than the child allows a kernel.
RUN_TIMEOUT_S = 60.0
_KERNEL_NAME = "kernel_of_the_answer"

Row = Mapping[str, Any]


class RowUnfit(RuntimeError):  # noqa: N818
    """A row cannot be used to score: it has no plain CUDA, or its own does not pass."""


@dataclass(frozen=True)
class Raw(RunResult):
    """What the child says of one text: "ran" with an answer, or how it failed."""

    answer: str = ""


class Runner(HostRunner):
    """The child process of a `Scorer`."""

    compile_timeout_s = COMPILE_TIMEOUT_S
    result_type = Raw

    def run_raw(self, rows: Sequence[Row]) -> list[Raw]:
        """Compile and run prepared texts; those that may share a translation unit do."""
        self._text = "score"
        results: dict[int, Any] = {}
        for batch in plain_unit.batches(rows, range(len(rows)), self.batch_size):
            self._run_batch(rows, batch, results)
        return [results[position] for position in range(len(rows))]


def task(row: Row, text: str, launch: Mapping[str, Any], draw: Draw) -> dict[str, Any]:
    """What the child needs to run a prepared text; nothing of the reference."""
    sent = {key: row[key] for key in ("id", "args", "launch", "plain_args")}
    # A kernel may be called `x`, which is a component of `threadIdx`: its name is a macro there.
    named = plain_unit.with_kernel_name(text, _KERNEL_NAME)
    sent |= {"cuda_plain": named, "plain_launch": dict(launch)}
    return sent | {"input_seed": draw.input_seed, "shapes": list(draw.shapes)}


def check_columns(row: Row) -> None:
    """Raise RowUnfit for a row without plain CUDA or without a reference."""
    for column, what in (("cuda_plain", "plain CUDA"), ("reference", "reference")):
        if row.get(column) is None:
            raise RowUnfit(f"{row['id']} has no {what}")


def own_task(row: Row, draw: Draw) -> dict[str, Any]:
    """The same for a row's own text. Raises RowUnfit when it is one that answers may not be."""
    text, log = prepared(row["cuda_plain"])
    if log := log or plain_unit.fault_or_no_kernel(text):
        raise RowUnfit(f"{row['id']}: its own plain CUDA is refused: {log}")
    return task(row, text, row["plain_launch"], draw)


def judged(result: RunResult, judge: Judge) -> Judged:
    """What a result comes to: its answer compared, or how it failed."""
    if result.status != "ran":
        return Judged(result.status, result.reason)
    assert isinstance(result, Raw)
    return judge.judge(result.answer)
