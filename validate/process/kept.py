"""A child process in a folder of its own, started when it is first needed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from validate.process.parent import WorkerProcess


class KeptWorker:
    """The process of a module; after `stop` the next use starts another."""

    def __init__(self, module: str, prefix: str) -> None:
        self._module, self._prefix = module, prefix
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._worker: WorkerProcess | None = None

    def started(self) -> WorkerProcess:
        """The process. Raises as `WorkerProcess` does."""
        if self._worker is None:
            self._folder = tempfile.TemporaryDirectory(prefix=self._prefix)
            self._worker = WorkerProcess(Path(self._folder.name), self._module)
        return self._worker

    def kill(self) -> None:
        """Kill the process, if there is one, from another thread; see `WorkerProcess.kill`."""
        if (worker := self._worker) is not None:
            worker.kill()

    def stop(self) -> None:
        """End the process and remove its files."""
        worker, self._worker = self._worker, None
        folder, self._folder = self._folder, None
        if worker is not None:
            worker.stop()
        if folder is not None:
            folder.cleanup()
