"""Run the CUDA text of rows on the CPU and compare what it writes with the reference.

Many rows share a translation unit and a child process; a row that does not compile, crashes,
hangs or lies costs itself, not its neighbours. Needs Linux or macOS: the child inherits a socket.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from validate.host.launch import MEMORY_BYTES
from validate.host.texts import NEEDED, OPTIONAL
from validate.process.parent import WorkerGone, WorkerProcess
from validate.row.adjoint import has_adjoint
from validate.row.archs import batches
from validate.row.gradient import backward_row
from validate.statuses import AdjointStatus, ProcessEnd, RunStatus
from validate.text import plain as plain_unit
from validate.text.launches import launches_problem

# The first batch pays for the precompiled header: over a second alone on a core, many more on a
# crowded machine.
COMPILE_TIMEOUT_S = 180.0

_FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGABRT")


@dataclass(frozen=True)
class RunResult:
    """What the host run of one row showed.

    `status` is a `validate.statuses.RunStatus`; `reason` says where and how it failed (empty when
    it agrees), for `compile_error` it is the compiler's log. `shapes` are those tried, the failing
    one last. `max_ulp` and `tolerance_used` (largest error as a share of its tolerance) are raw
    measurements of this CPU: round them up before they go into a row. `adjoint` is an
    `AdjointStatus` ("off" when the row has no `cuda_backward`, or disagrees before its adjoint is
    run), `adjoint_tolerance_used` a raw measurement as well. `array` is the status of
    `array_python`, empty where there is none or the text disagrees.
    """

    id: str
    status: str
    reason: str = ""
    shapes: list[str] = field(default_factory=list)
    max_ulp: float = 0.0
    tolerance_used: float = 0.0
    adjoint: str = AdjointStatus.OFF
    adjoint_reason: str = ""
    adjoint_tolerance_used: float = 0.0
    array: str = ""
    array_reason: str = ""


class HostRunner:
    """Keeps one child process for host runs; use it as a context manager.

    `include_dir` holds Warp's headers (the installed Warp's own by default), `batch_size` is the
    rows in a translation unit, `timeout_s` the wall-clock limit of one row over all its shapes.
    """

    compile_timeout_s = COMPILE_TIMEOUT_S
    result_type: type[RunResult] = RunResult

    def __init__(
        self,
        *,
        include_dir: str | os.PathLike[str] | None = None,
        batch_size: int = 32,
        timeout_s: float = 20.0,
    ) -> None:
        if batch_size < 1:
            raise ValueError("batch_size must be at least 1")
        if include_dir is not None and not (Path(include_dir) / "builtin.h").is_file():
            raise FileNotFoundError(f"{include_dir} does not hold Warp's headers")
        self.include_dir = str(Path(include_dir).resolve()) if include_dir is not None else None
        self.batch_size = batch_size
        self.timeout_s = timeout_s
        self._folder = tempfile.TemporaryDirectory(prefix="pairsmith-host-")
        self._worker: WorkerProcess | None = None
        self._text = "warp"

    def __enter__(self) -> HostRunner:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child process and remove its files."""
        self._stop_worker()
        self._folder.cleanup()

    def run(self, rows: Sequence[Mapping[str, Any]]) -> list[RunResult]:
        """Run Warp's kernels of every row; results in the order of the rows.

        Raises RuntimeError when the machinery itself fails: that is a bug, never a row's fault.
        """
        self._text = "warp"
        results: dict[int, RunResult] = {}
        for batch in batches(rows, self.batch_size):
            self._run_batch(rows, batch, results)
        return [results[position] for position in range(len(rows))]

    def run_plain(
        self, rows: Sequence[Mapping[str, Any]], *, relaunch: bool = False
    ) -> list[RunResult]:
        """The same for the plain CUDA of rows that have it; there is no adjoint.

        `relaunch`: texts of ours ask for the size of their block, and run in smaller ones as well.

        Compared with the reference and, for rows just `run`, with what Warp's text wrote.
        """
        rows = [{**row, "relaunch": relaunch} for row in rows]
        return self._run_texts("plain", rows, rows)

    def run_gradient(self, rows: Sequence[Mapping[str, Any]]) -> list[RunResult]:
        """The same for our own backward kernels of rows, all of which have one.

        `adjoint` is the status of the backward kernel where `status` is `agrees`; any other status
        says how its run ended.
        """
        return self._run_texts("gradient", rows, [backward_row(row) for row in rows])

    def _run_texts(
        self, text: str, rows: Sequence[Mapping[str, Any]], texts: Sequence[Mapping[str, Any]]
    ) -> list[RunResult]:
        """Run rows whose plain CUDA is that of `texts`."""
        self._text = text
        results: dict[int, RunResult] = {}
        for position, row in enumerate(texts):
            if log := plain_unit.fault_or_no_kernel(row["cuda_plain"]):
                results[position] = RunResult(row["id"], RunStatus.COMPILE_ERROR, log)
            elif problem := launches_problem(row):
                results[position] = RunResult(row["id"], RunStatus.BAD_ROW, problem)
        sound = [position for position in range(len(rows)) if position not in results]
        for batch in plain_unit.batches(texts, sound, self.batch_size):
            self._run_batch(rows, batch, results)
        return [results[position] for position in range(len(rows))]

    def _run_batch(
        self,
        rows: Sequence[Mapping[str, Any]],
        batch: list[int],
        results: dict[int, RunResult],
    ) -> None:
        """Fill in the results of `batch`, positions in `rows`, splitting it until all are known."""
        fresh = self._worker is None
        try:
            log = self._compile([rows[position] for position in batch])
        except WorkerGone as gone:
            if not fresh and gone.status == ProcessEnd.CRASHED:
                # What ran before may have damaged the process.
                self._run_batch(rows, batch, results)
            else:
                self._split(
                    rows, batch, results, RunStatus(gone.status), f"compiler: {gone.reason}"
                )
            return
        if log is not None:
            self._split(rows, batch, results, RunStatus.COMPILE_ERROR, log)
            return
        for done, position in enumerate(batch):
            try:
                message = self._receive(self.timeout_s)
            except WorkerGone as gone:
                alone = fresh and len(batch) == 1
                if gone.status == ProcessEnd.CRASHED and not alone:
                    # An earlier row may have damaged the process: only alone is it guilty.
                    self._run_batch(rows, [position], results)
                else:
                    results[position] = self._without_adjoint(rows[position], gone)
                if batch[done + 1 :]:
                    self._run_batch(rows, batch[done + 1 :], results)
                return
            message.pop("event")
            results[position] = self.result_type(rows[position]["id"], **message)

    def _without_adjoint(self, row: Mapping[str, Any], gone: WorkerGone) -> RunResult:
        """The result of a row that ended the child: without its adjoint it may be sound.

        Only a fault of the kernel itself counts against the adjoint; a clock or a killer may have
        been someone else's.
        """
        if self._text != "warp" or not has_adjoint(row) or gone.reason not in _FAULTS:
            return RunResult(row["id"], *_of_the_dead(gone))
        (result,) = self.run([{**row, "cuda_backward": None}])
        return replace(
            result, adjoint=AdjointStatus.WARP_DIFFERS, adjoint_reason=f"backward: {gone.reason}"
        )

    def _split(
        self,
        rows: Sequence[Mapping[str, Any]],
        batch: list[int],
        results: dict[int, RunResult],
        status: RunStatus,
        reason: str,
    ) -> None:
        if len(batch) == 1:
            results[batch[0]] = RunResult(rows[batch[0]]["id"], status, reason)
            return
        middle = len(batch) // 2
        self._run_batch(rows, batch[:middle], results)
        self._run_batch(rows, batch[middle:], results)

    def _compile(self, rows: Sequence[Mapping[str, Any]]) -> str | None:
        """Hand a batch to the child; the compiler's log when it does not compile, else None."""
        if self._worker is None:
            self._worker = WorkerProcess(Path(self._folder.name), "validate.host.worker")
        sent = [
            {
                **{key: row[key] for key in NEEDED[self._text]},
                **{key: row.get(key) for key in OPTIONAL},
            }
            for row in rows
        ]
        message = {"rows": sent, "include_dir": self.include_dir, "text": self._text}
        try:
            self._worker.send(message)
        except WorkerGone:
            self._stop_worker()
            raise
        message = self._receive(self.compile_timeout_s)
        return str(message["log"]) if message["event"] == RunStatus.COMPILE_ERROR else None

    def _receive(self, timeout_s: float) -> dict[str, Any]:
        assert self._worker is not None
        try:
            return self._worker.result(timeout_s, "the host runner")
        except WorkerGone:
            self._stop_worker()
            raise

    def _stop_worker(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._worker = None


def _of_the_dead(gone: WorkerGone) -> tuple[RunStatus, str]:
    """Status and reason of a row that ended the child."""
    if gone.status == ProcessEnd.CRASHED and (gone.peak_bytes or 0) >= MEMORY_BYTES // 2:
        return RunStatus.OUT_OF_MEMORY, f"{gone.reason} at {gone.peak_bytes} bytes of memory"
    return RunStatus(gone.status), gone.reason


def run_rows(
    rows: Sequence[Mapping[str, Any]],
    *,
    include_dir: str | os.PathLike[str] | None = None,
    batch_size: int = 32,
    timeout_s: float = 20.0,
) -> list[RunResult]:
    """Run the kernels of every row in a child process of its own; see HostRunner."""
    with HostRunner(include_dir=include_dir, batch_size=batch_size, timeout_s=timeout_s) as runner:
        return runner.run(rows)


def run_plain_rows(
    rows: Sequence[Mapping[str, Any]], *, timeout_s: float = 20.0
) -> list[RunResult]:
    """Run the plain CUDA of every row in a child process of its own; see HostRunner."""
    with HostRunner(timeout_s=timeout_s) as runner:
        return runner.run_plain(rows)
