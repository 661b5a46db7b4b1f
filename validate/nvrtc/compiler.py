"""Compile the CUDA text of rows with NVRTC: no GPU, no driver, no CUDA toolkit.

Many rows share a program and a child process; a row that does not compile, or makes the compiler
crash, hang or eat memory, costs itself, not its neighbours. Needs Linux or macOS, as the host run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validate.nvrtc.program import is_long
from validate.nvrtc.result import Child, Outcome, Resources, of_the_dead, results_of
from validate.nvrtc.result import CompileResult as CompileResult
from validate.process.parent import WorkerGone
from validate.row.archs import DEFAULT_ARCH, batches, check_archs
from validate.statuses import CompileStatus, ProcessEnd
from validate.text import plain as plain_unit
from validate.text.headers import warp_include_dir
from validate.text.warp_program import COLUMNS, fault, is_plain, rows_named, words_of

MEMORY_BYTES = 6 << 30


class CompileRunner:
    """Keeps one child process for compilations; use it as a context manager.

    `include_dir` holds Warp's headers (the installed Warp's own by default), `archs` are those to
    compile for where a call names no others, `batch_size` is the rows in a program, `timeout_s` the
    wall-clock limit of one program, `memory_bytes` that of the child's address space (Linux; an
    idle child reserves 2 GiB).

    Raises ValueError for an unknown architecture, FileNotFoundError for a folder without headers;
    the methods raise CompileUnavailable when NVRTC is missing and RuntimeError when the machinery
    itself fails: that is a bug, never a row's fault.
    """

    def __init__(
        self,
        *,
        include_dir: str | os.PathLike[str] | None = None,
        archs: Sequence[str] = (DEFAULT_ARCH,),
        batch_size: int = 64,
        timeout_s: float = 60.0,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        if batch_size < 1:
            raise ValueError("batch_size must be at least 1")
        self.archs = check_archs(archs, own=True)
        folder = Path(include_dir or warp_include_dir()).resolve()
        if not (folder / "builtin.h").is_file():
            raise FileNotFoundError(f"{folder} does not hold Warp's headers")
        self.batch_size = batch_size
        self._header_words = words_of(folder)
        self._child = Child(folder, timeout_s, memory_bytes)

    def __enter__(self) -> CompileRunner:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child process and remove its files."""
        self._child.close()

    def compile(
        self, rows: Sequence[Mapping[str, Any]], archs: Sequence[str] | None = None
    ) -> list[CompileResult]:
        """Compile every row for every architecture; results in the order of the rows."""
        wanted = self.archs if archs is None else check_archs(archs)
        return results_of(rows, {arch: self._outcomes(rows, arch, "check") for arch in wanted})

    def compile_plain(
        self, rows: Sequence[Mapping[str, Any]], archs: Sequence[str] | None = None
    ) -> list[CompileResult]:
        """The same for the plain CUDA of rows, which sees no header of Warp."""
        wanted = self.archs if archs is None else check_archs(archs, own=True)
        by_arch = {arch: self._plain_outcomes(rows, arch, "plain") for arch in wanted}
        return results_of(rows, by_arch)

    def resources(self, rows: Sequence[Mapping[str, Any]], arch: str) -> list[Resources | None]:
        """What each forward kernel needs on `arch` at default optimisation; None: no such build."""
        (arch,) = check_archs([arch])
        forward = [{**row, "cuda_backward": None} for row in rows]
        outcomes = self._outcomes(forward, arch, "machine")
        return [None if o.found is None else Resources(*o.found) for o in outcomes]

    def optimised_ptx(
        self, rows: Sequence[Mapping[str, Any]], arch: str = DEFAULT_ARCH
    ) -> list[str | None]:
        """PTX of each forward kernel at default optimisation, None where it does not compile.

        Names, labels and comments are normalised: two rows of the same meaning to the optimiser
        have equal texts, whatever batches they were in. It is for comparison, not for assembly.
        """
        (arch,) = check_archs([arch])
        forward = [{**row, "cuda_backward": None} for row in rows]
        return [outcome.found for outcome in self._outcomes(forward, arch, "ptx")]

    def optimised_plain_ptx(
        self, rows: Sequence[Mapping[str, Any]], arch: str = DEFAULT_ARCH
    ) -> list[str | None]:
        """The same for the kernels of rows' plain CUDA."""
        (arch,) = check_archs([arch])
        return [outcome.found for outcome in self._plain_outcomes(rows, arch, "plain_ptx")]

    def _outcomes(self, rows: Sequence[Mapping[str, Any]], arch: str, goal: str) -> list[Outcome]:
        sent = [{key: row[key] for key in ("kernel_name", *COLUMNS)} for row in rows]
        job, sound = _started(sent, arch, goal, fault)
        plain = [position for position in sound if is_plain(sent[position], self._header_words)]
        together = batches([sent[position] for position in plain], self.batch_size, is_long)
        return self._solved(job, sound, [[plain[index] for index in batch] for batch in together])

    def _plain_outcomes(
        self, rows: Sequence[Mapping[str, Any]], arch: str, goal: str
    ) -> list[Outcome]:
        sent = [{"cuda_plain": row["cuda_plain"]} for row in rows]
        refused = plain_unit.fault_or_no_kernel
        job, sound = _started(sent, arch, goal, lambda row: refused(row["cuda_plain"]))
        return self._solved(job, sound, plain_unit.batches(sent, sound, self.batch_size))

    def _solved(self, job: _Job, sound: list[int], together: list[list[int]]) -> list[Outcome]:
        for batch in together:
            self._solve(job, batch)
        for position in sorted({*sound}.difference(*together)):
            self._solve(job, [position])
        return [job.outcomes[position] for position in range(len(job.rows))]

    def _solve(self, job: _Job, batch: list[int]) -> None:
        """Fill in the outcomes of `batch`; only what happens to a row alone counts against it."""
        if not batch:
            return
        fresh = self._child.fresh
        try:
            answer = self._child.build(
                [job.rows[position] for position in batch], job.arch, job.goal
            )
        except WorkerGone as gone:
            if gone.status == ProcessEnd.CRASHED and not fresh:
                # What ran before may have damaged the process.
                self._solve(job, batch)
            elif len(batch) == 1:
                job.outcomes[batch[0]] = of_the_dead(gone, self._child.memory_bytes)
            else:
                self._solve_parts(
                    job, batch, 1 if gone.status == ProcessEnd.TIMEOUT else len(batch) // 2
                )
            return
        if answer["event"] == "built":
            self._take(job, batch, answer["rows"])
        elif len(batch) == 1:
            job.outcomes[batch[0]] = Outcome(status=answer["event"], log=answer["log"])
        elif suspects := rows_named(answer["log"]):
            self._solve_parts(job, [batch[index] for index in suspects], 1)
            self._solve(job, [p for index, p in enumerate(batch) if index not in suspects])
        else:
            self._solve_parts(job, batch, len(batch) // 2)

    def _solve_parts(self, job: _Job, batch: list[int], size: int) -> None:
        for start in range(0, len(batch), size):
            self._solve(job, batch[start : start + size])

    def _take(self, job: _Job, batch: list[int], found: Sequence[Any]) -> None:
        for position, share in zip(batch, found, strict=True):
            missing = share if job.goal in ("check", "plain") else []
            if share is not None and not missing:
                job.outcomes[position] = Outcome(found=share)
            elif len(batch) > 1:
                self._solve(job, [position])
            else:
                names = " and ".join(missing) or "the forward kernel"
                log = f"error: not in the compiled program: {names}"
                job.outcomes[position] = Outcome(status=CompileStatus.COMPILE_ERROR, log=log)


@dataclass(frozen=True)
class _Job:
    rows: Sequence[Mapping[str, Any]]
    arch: str
    goal: str
    outcomes: dict[int, Outcome]


def _started(
    rows: Sequence[Mapping[str, Any]],
    arch: str,
    goal: str,
    refused: Callable[[Mapping[str, Any]], str],
) -> tuple[_Job, list[int]]:
    """A job with the outcomes of the rows that must not be compiled, and the others' positions."""
    logs = [refused(row) for row in rows]
    outcomes = {
        p: Outcome(status=CompileStatus.COMPILE_ERROR, log=log) for p, log in enumerate(logs) if log
    }
    return _Job(rows, arch, goal, outcomes), [p for p in range(len(rows)) if p not in outcomes]


def compile_rows(
    rows: Sequence[Mapping[str, Any]],
    *,
    include_dir: str | os.PathLike[str] | None = None,
    archs: Sequence[str] = (DEFAULT_ARCH,),
    batch_size: int = 64,
    timeout_s: float = 60.0,
) -> list[CompileResult]:
    """Compile every row in a child process of its own; see CompileRunner."""
    with CompileRunner(
        include_dir=include_dir, archs=archs, batch_size=batch_size, timeout_s=timeout_s
    ) as runner:
        return runner.compile(rows)
