"""One lane of a scorer: a child process that runs answers and one that compiles them for a device.

A lane works on one thing at a time and belongs to one thread meanwhile. Whatever interrupts it, an
exception or a signal, ends its processes: no message of one answer can be taken for another's.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from validate.host.launch import MEMORY_BYTES
from validate.host.stranger_case import COMPILE_CPU_S, Ran
from validate.nvrtc.answers import AnswerCompiler, DeviceResult, DeviceText
from validate.process.kept import KeptWorker
from validate.process.parent import WorkerGone, WorkerProcess
from validate.statuses import ScoreStatus

_CLOSE_AGAIN_S = 0.02
# More than the worker allows one answer.
_TIMEOUT_S = 60.0
_KILLED = "compiler: SIGKILL"


class Lane:
    """Its processes start when they are first needed."""

    def __init__(self) -> None:
        self._worker = KeptWorker("validate.score.worker", "pairsmith-score-")
        self._compiler = AnswerCompiler()
        self._number = 0
        self._closed = False
        self._working = threading.Lock()

    def run(self, row: Mapping[str, Any], trials: Sequence[Mapping[str, Any]], own: bool) -> Ran:
        """Run one text on the host; see `validate.score.worker`.

        Raises HostRunUnavailable without Warp's Clang, RuntimeError when the machinery fails.
        """
        with self._working:
            found = self._run_once(row, trials, own)
            # A process that someone else killed says nothing of the text.
            return self._run_once(row, trials, own) if found.reason.endswith(_KILLED) else found

    def _run_once(
        self, row: Mapping[str, Any], trials: Sequence[Mapping[str, Any]], own: bool
    ) -> Ran:
        self._number += 1
        message = {"row": row, "trials": trials, "own": own, "number": self._number}
        try:
            worker = self._started()
            worker.send(message)
            found = worker.result(_TIMEOUT_S, "the scorer's worker")
            if found["number"] != self._number:
                raise RuntimeError(f"answer {found['number']} came for {self._number}")
            answer = worker.receive_bytes(_TIMEOUT_S)
        except WorkerGone as gone:
            # The kernel runs in a process of its own: it is the compiler that ended.
            self._worker.stop()
            self._require_open()
            return Ran(*_of_the_compiler(gone))
        except BaseException:
            self._worker.stop()
            raise
        return Ran(found["status"], found["reason"], answer)

    def compile(self, texts: Sequence[DeviceText]) -> list[DeviceResult]:
        """Compile texts for a device; see `AnswerCompiler.compile`."""
        with self._working:
            try:
                self._require_open()
                return self._compiler.compile(texts)
            except BaseException:
                self._compiler.close()
                self._require_open()
                raise

    def close(self) -> None:
        """End both processes and remove their files, for good: what runs meanwhile fails.

        Returns when no thread works with them any more.
        """
        self._closed = True
        # A process that another thread is just starting is not there for the first time.
        while not self._working.acquire(timeout=_CLOSE_AGAIN_S):
            self._compiler.kill()
            self._worker.kill()
        try:
            self._worker.stop()
            self._compiler.close()
        finally:
            self._working.release()

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError("the scorer was closed")

    def _started(self) -> WorkerProcess:
        self._require_open()
        return self._worker.started()


def _of_the_compiler(gone: WorkerGone) -> tuple[str, str]:
    if gone.reason == "SIGPROF":
        return ScoreStatus.TIMEOUT, f"compiler: no end after {COMPILE_CPU_S} s of computing"
    if (gone.peak_bytes or 0) >= MEMORY_BYTES // 2:
        return ScoreStatus.OUT_OF_MEMORY, f"compiler: {gone.reason}"
    return ScoreStatus(gone.status), f"compiler: {gone.reason}"
