"""The compiling child process as its parent keeps it, and what compiling rows showed."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from validate.process.parent import WorkerGone, WorkerProcess
from validate.statuses import CompileStatus

LOG_CHARACTERS = 4000


@dataclass(frozen=True)
class CompileResult:
    """What compiling one row showed.

    `status` is a `validate.statuses.CompileStatus`. `archs` are those that PTX was made for with
    every kernel of the row in it. `log` is the compiler's, for the first architecture that failed:
    it names columns, as in `cuda_forward(12): error: …`, and has at most 4,000 characters.
    """

    id: str
    status: str
    archs: list[str] = field(default_factory=list)
    log: str = ""


@dataclass(frozen=True)
class Resources:
    """What a forward kernel needs: registers a thread, bytes spilled to local memory (stores and
    loads that the machine code holds, added) and bytes of static shared memory a block."""

    registers: int
    spill_bytes: int
    shared_bytes: int


@dataclass(frozen=True)
class Outcome:
    """Of one row, architecture and goal: what was found, or the status and log of a failure."""

    found: Any = None
    status: str = CompileStatus.COMPILES
    log: str = ""


def of_the_dead(gone: WorkerGone, memory_bytes: int) -> Outcome:
    """The outcome of a row whose compiler ended, or was ended."""
    log = f"compiler: {gone.reason}"
    # Of the address space some 2 GiB are reserved and never held.
    if gone.peak_bytes is not None and gone.peak_bytes >= memory_bytes // 2:
        return Outcome(
            status=CompileStatus.OUT_OF_MEMORY, log=f"{log}, at {gone.peak_bytes} bytes of memory"
        )
    return Outcome(status=CompileStatus(gone.status), log=log)


def results_of(
    rows: Sequence[Mapping[str, Any]], by_arch: Mapping[str, Sequence[Outcome]]
) -> list[CompileResult]:
    """What is said of each row, of its outcomes by architecture."""
    return [
        _result(str(row["id"]), {arch: outcomes[at] for arch, outcomes in by_arch.items()})
        for at, row in enumerate(rows)
    ]


def _result(row_id: str, outcomes: Mapping[str, Outcome]) -> CompileResult:
    archs = [arch for arch, outcome in outcomes.items() if outcome.status == CompileStatus.COMPILES]
    failed = [outcome for outcome in outcomes.values() if outcome.status != CompileStatus.COMPILES]
    if not failed:
        return CompileResult(row_id, CompileStatus.COMPILES, archs)
    return CompileResult(row_id, failed[0].status, archs, failed[0].log[:LOG_CHARACTERS])


# The first program of an architecture pays for its precompiled header.
_HEADER_TIMEOUT_S = 180.0
# A precompiled header takes 80 MB of disk.
_HEADERS_A_CHILD = 24
# Memory grows by less than 0.1 MB a program.
_PROGRAMS_A_CHILD = 2000


class Child:
    """At most one child process, with a folder of its own.

    NVRTC processes that share a folder of precompiled headers have crashed each other.
    """

    def __init__(
        self,
        include_dir: Path,
        timeout_s: float,
        memory_bytes: int,
        header_timeout_s: float = _HEADER_TIMEOUT_S,
    ) -> None:
        self.header_timeout_s = header_timeout_s
        self.include_dir = include_dir
        self.timeout_s = timeout_s
        self.memory_bytes = memory_bytes
        self._worker: WorkerProcess | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._programs = 0
        self._headers: set[tuple[str, str, str]] = set()

    @property
    def fresh(self) -> bool:
        """Whether the next program is the first of its process."""
        return self._worker is None

    def close(self) -> None:
        """End the process and remove its files."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def kill(self) -> None:
        """End the process from another thread than the one that builds, which hears of it as
        WorkerGone."""
        if (worker := self._worker) is not None:
            worker.kill()

    def build(self, rows: Sequence[Mapping[str, Any]], arch: str, goal: str) -> dict[str, Any]:
        """The child's answer for one program: event "built" or the
        `CompileStatus` of a program that was not.

        Raises WorkerGone when the child dies or hangs (the next call starts another),
        CompileUnavailable when NVRTC is missing, RuntimeError with a traceback for its own errors.
        """
        worker = self._ready_worker()
        header = (goal, arch, rows[0].get("cuda_prologue", ""))
        timeout_s = self.timeout_s + (0.0 if header in self._headers else self.header_timeout_s)
        self._programs += 1
        self._headers.add(header)
        message = {
            "rows": rows,
            "arch": arch,
            "goal": goal,
            "include_dir": str(self.include_dir),
            "memory_bytes": self.memory_bytes,
        }
        try:
            worker.send(message)
            answer = worker.result(timeout_s, "the compile check")
        except BaseException:
            # An interrupted call must not leave its answer to the next.
            self.close()
            raise
        if answer["event"] == CompileStatus.OUT_OF_MEMORY:
            # What is left of its memory is no measure for the next program.
            self.close()
        return answer

    def _ready_worker(self) -> WorkerProcess:
        if self._programs >= _PROGRAMS_A_CHILD or len(self._headers) >= _HEADERS_A_CHILD:
            self.close()
        if self._worker is None:
            self._folder = tempfile.TemporaryDirectory(prefix="pairsmith-nvrtc-")
            self._programs, self._headers = 0, set()
            self._worker = WorkerProcess(Path(self._folder.name), "validate.nvrtc.worker")
        return self._worker
