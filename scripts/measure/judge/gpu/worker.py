"""The child process that runs judged texts on a GPU: one text a message, compared as it ends."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from scripts.measure.judge.gpu.folder import Job, Row, Rows, read_jobs
from validate.gpu.launch import LaunchFailed
from validate.gpu.result import TextResult, told
from validate.gpu.text import Ran, Shape
from validate.process.child import WorkerChild, work_where_nothing_lies
from validate.row.inputs import Array
from validate.row.sizes import describe, evaluate_all
from validate.score.hidden import trial_inputs
from validate.score.judge import Judge
from validate.statuses import GpuStatus


class Worker(WorkerChild):
    """Runs texts of one folder; the device is a module with `load` and `run` (device.py)."""

    def start(self) -> None:
        work_where_nothing_lies(self.folder)
        self.data: Path | None = None

    def answer(self, message: Mapping[str, Any]) -> None:
        if self.data is None:
            self.data = Path(message["folder"])
            self.jobs = {job.number: job for job in read_jobs(self.data)}
            self.rows = Rows(self.data)
            self.device = import_module(message["device"])
        job = self.jobs[message["number"]]
        result = TextResult("plain")
        try:
            with told(result):
                loaded = self.device.load(job)
                self.send(event="loaded")
                self._run(job, loaded, result)
        except LaunchFailed:
            # The context is broken: whatever ran next in it would fail as well.
            self._tell(job, result)
            raise SystemExit(1) from None
        self._tell(job, result)

    def _run(self, job: Job, loaded: Any, result: TextResult) -> None:
        """All trials in order, then the first once more: a text may keep what it was given."""
        judge = self.rows.judge(job.row)
        row = {**self.rows.row(job.row), "plain_launch": job.launch}
        for number in [*range(len(judge.trials)), 0]:
            sizes = judge.trials[number].sizes
            result.shapes.append(f"{judge.trials[number].what} {describe(sizes)}")
            ran = self.device.run(loaded, row, _shape(row, judge, number))
            if ran.trouble is not None:
                result.fail(*ran.trouble)
            elif judge.differs(number, _bytes(judge, ran.outputs)):
                result.fail(GpuStatus.WRONG_VALUE, _worst(judge, number, ran))
            if result.status != GpuStatus.PASSED:
                return

    def _tell(self, job: Job, result: TextResult) -> None:
        where = f" at {result.shapes[-1]}" if result.shapes and result.reason else ""
        self.send(
            event="row",
            number=job.number,
            status=str(result.status),
            reason=f"{result.reason}{where}",
            launches=len(result.shapes),
        )


def _shape(row: Row, judge: Judge, number: int) -> Shape:
    trial = judge.trials[number]
    inputs = trial_inputs(row, trial, judge.draw)
    return Shape(trial.sizes, evaluate_all(row["launch"]["dim"], trial.sizes), inputs)


def _bytes(judge: Judge, outputs: Mapping[str, Array]) -> dict[str, bytes]:
    names = [arg["name"] for arg in judge.args if arg["name"] in outputs]
    return {name: outputs[name].tobytes() for name in names}


def _worst(judge: Judge, number: int, ran: Ran) -> str:
    """Where the outputs of a trial are wrong."""
    counts = []
    for name, want in judge.wanted[number].items():
        got = ran.outputs[name]
        if got.dtype.names is None:
            off = abs(got.astype(float) - want.astype(float))
            at = tuple(int(i) for i in _index_of_most(off))
            counts.append(f"{name}[{', '.join(map(str, at))}] is {got[at]!r}, not {want[at]!r}")
    return "; ".join(counts) or "a struct differs"


def _index_of_most(off: Array) -> tuple[Any, ...]:
    import numpy as np

    flat = int(np.argmax(np.nan_to_num(off, nan=np.inf)))
    return tuple(np.unravel_index(flat, off.shape))


def main() -> None:
    """Serve the socket named on the command line; the second argument is a folder to work in."""
    Worker(Connection(int(sys.argv[1])), Path(sys.argv[2])).serve()
