"""Texts of a folder, run by several processes that are started anew when they end."""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from scripts.measure.judge.gpu.folder import read_jobs
from validate.errors import CompileUnavailable, GpuUnavailable
from validate.process.parent import WorkerGone, WorkerProcess
from validate.statuses import GpuStatus, ProcessEnd

WORKER = "scripts.measure.judge.gpu.worker"

_MOST_FAILURES = 3

Take = Callable[[dict[str, Any]], None]


class _Lane:
    """One process at a time."""

    def __init__(self, folder: Path, told: argparse.Namespace) -> None:
        self.folder, self.told = folder.resolve(), told
        self.failures = 0
        self._worker: WorkerProcess | None = None
        self._files: tempfile.TemporaryDirectory[str] | None = None

    def result(self, number: int) -> dict[str, Any]:
        """What becomes of a text: "error" where the machinery fails.

        Raises RuntimeError when it does so for the fourth time, GpuUnavailable without a GPU, and
        CompileUnavailable without CUDA's headers.
        """
        try:
            return self._result(number)
        except (GpuUnavailable, CompileUnavailable):
            raise
        except RuntimeError as error:
            self.close()
            self.failures += 1
            if self.failures > _MOST_FAILURES:
                raise
            return {"number": number, "status": "error", "reason": str(error)}

    def _result(self, number: int) -> dict[str, Any]:
        limit_s, what = self.told.compile_s, "compiler: "
        try:
            worker = self._ready()
            worker.send({"folder": str(self.folder), "number": number, "device": self.told.device})
            answer = worker.result(limit_s, "the run")
            if answer["event"] == "loaded":
                limit_s, what = self.told.launch_s, ""
                answer = worker.result(limit_s, "the run")
        except WorkerGone as gone:
            self.close()
            ends = {ProcessEnd.TIMEOUT: GpuStatus.TIMEOUT}
            status = ends.get(gone.status, GpuStatus.LAUNCH_ERROR)
            return {"number": number, "status": str(status), "reason": f"{what}{gone}"}
        answer.pop("event")
        if answer["status"] == GpuStatus.LAUNCH_ERROR:
            # A broken context ends the process; others lose a second by it.
            self.close()
        return answer

    def close(self) -> None:
        """End the process and remove its files."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
        if self._files is not None:
            self._files.cleanup()
            self._files = None

    def _ready(self) -> WorkerProcess:
        if self._worker is None:
            self._files = tempfile.TemporaryDirectory(prefix="score-gpu-")
            self._worker = WorkerProcess(Path(self._files.name), WORKER)
        return self._worker


def run_all(folder: Path, done: Collection[int], told: argparse.Namespace, take: Take) -> float:
    """Give `take` a result for every text but those done, as they come; the seconds it took.

    Raises what ends the work: of several threads, the first.
    """
    left: SimpleQueue[int] = SimpleQueue()
    for job in read_jobs(folder):
        if job.number not in done:
            left.put(job.number)
    lock = threading.Lock()
    failures: list[Exception] = []

    def work() -> None:
        lane = _Lane(folder, told)
        try:
            while not failures:
                result = lane.result(left.get_nowait())
                with lock:
                    take(result)
        except Empty:
            return
        except Exception as error:  # noqa: BLE001 - raised by the thread that waits
            failures.append(error)
        finally:
            lane.close()

    began = time.monotonic()
    threads = [threading.Thread(target=work) for _ in range(told.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return time.monotonic() - began
