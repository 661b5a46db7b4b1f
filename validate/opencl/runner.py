"""Run the OpenCL C of rows on the CPU and compare what it writes with the reference."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from validate.opencl.case import NEEDED
from validate.process.parent import WorkerGone, WorkerProcess
from validate.statuses import OpenclStatus

Row = Mapping[str, Any]


@dataclass(frozen=True)
class OpenclResult:
    """What the run of one row showed: `status` is an `OpenclStatus`, `reason` says where and how
    it failed, `shapes` are those tried. `max_ulp` and `tolerance_used` (the largest error as a
    share of its tolerance) are raw measurements of this CPU."""

    id: str
    status: str
    reason: str = ""
    shapes: list[str] = field(default_factory=list)
    max_ulp: float = 0.0
    tolerance_used: float = 0.0


class OpenclRunner:
    """Keeps one child process for runs; use it as a context manager.

    `timeout_s` is the wall-clock limit of one row over its build and all of its shapes; `runtime`
    is what runs, known once the child process was started.
    """

    def __init__(self, *, timeout_s: float = 120.0) -> None:
        self.timeout_s = timeout_s
        self.runtime = ""
        self._folder = tempfile.TemporaryDirectory(prefix="pairsmith-opencl-")
        self._worker: WorkerProcess | None = None

    def __enter__(self) -> OpenclRunner:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child process and remove its files."""
        self._stop()
        self._folder.cleanup()

    def start(self) -> str:
        """Start the child process where there is none; what runs there, in words.

        Raises OpenclUnavailable where there is no runtime.
        """
        if self._worker is None:
            self._worker = WorkerProcess(Path(self._folder.name), "validate.opencl.worker")
            self._worker.send({})
            self.runtime = self._worker.result(self.timeout_s, "OpenCL")["runtime"]
        return self.runtime

    def run(self, row: Row) -> OpenclResult:
        """Run one row, whose plain columns hold OpenCL C.

        Raises OpenclUnavailable where there is no runtime, and RuntimeError when the machinery
        itself fails: that is a bug, never a row's fault.
        """
        try:
            self.start()
            assert self._worker is not None
            self._worker.send(
                {"row": {key: row[key] for key in (*NEEDED, *({"options"} & set(row)))}}
            )
            message = self._worker.result(self.timeout_s, "the run of OpenCL C")
        except WorkerGone as gone:
            self._stop()
            return OpenclResult(row["id"], OpenclStatus(gone.status), gone.reason)
        return OpenclResult(
            row["id"],
            message["status"],
            message["reason"],
            message["shapes"],
            message["max_ulp"],
            message["tolerance_used"],
        )

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
