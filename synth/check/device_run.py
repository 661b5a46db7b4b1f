"""Run the ``python`` of rows on Warp's own CPU device and compare with their references.

For rows that another version of Warp made: their CUDA cannot be made again to the letter, but what
``python`` computes can be compared all the same.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from synth.rows.maker import Row
from validate.process.parent import WorkerGone, WorkerProcess

TIMEOUT_S = 120.0
"""Limit of one row: Warp compiles its module first."""

_NEEDED = (
    "id",
    "python",
    "reference",
    "kernel_name",
    "cuda_forward",
    "args",
    "sizes",
    "launch",
    "input_seed",
    "edge_inputs",
)


class DeviceRunner:
    """Keeps one child process for launches; use it as a context manager."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pairsmith-device-")
        self._worker: WorkerProcess | None = None

    def __enter__(self) -> DeviceRunner:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child process and remove its files."""
        self._stop()
        self._folder.cleanup()

    def problems(self, rows: Sequence[Row]) -> list[str]:
        """Why each row's ``python`` does not compute what its reference does; empty if it does.

        Executes ``python``: call it for rows whose ``python`` the program makes again. Raises
        RuntimeError when the machinery itself fails.
        """
        return [self._problem(row) for row in rows]

    def _problem(self, row: Row) -> str:
        if self._worker is None:
            self._worker = WorkerProcess(Path(self._folder.name), "synth.check.device_worker")
        try:
            self._worker.send({key: row[key] for key in _NEEDED})
            message = self._worker.receive(TIMEOUT_S)
        except WorkerGone as gone:
            self._stop()
            return f"python on Warp's CPU device: {gone.status}: {gone.reason}"
        if message["event"] == "error":
            raise RuntimeError(f"the run on Warp's CPU device failed:\n{message['trace']}")
        return f"python on Warp's CPU device: {message['reason']}" if message["reason"] else ""

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
