"""What compiling rows showed, and how it is summed up over architectures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from validate.process.parent import WorkerGone

LOG_CHARACTERS = 4000


@dataclass(frozen=True)
class CompileResult:
    """What compiling one row showed.

    `status` is one of STATUSES. `archs` are those that PTX was made for with every kernel of the
    row in it. `log` is the compiler's, for the first architecture that failed: it names columns,
    as in `cuda_forward(12): error: …`, and has at most 4,000 characters.
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
    status: str = "compiles"
    log: str = ""


def of_the_dead(gone: WorkerGone, memory_bytes: int) -> Outcome:
    """The outcome of a row whose compiler ended, or was ended."""
    log = f"compiler: {gone.reason}"
    # Of the address space some 2 GiB are reserved and never held.
    if gone.peak_bytes is not None and gone.peak_bytes >= memory_bytes // 2:
        return Outcome(status="out_of_memory", log=f"{log}, at {gone.peak_bytes} bytes of memory")
    return Outcome(status=gone.status, log=log)


def results_of(
    rows: Sequence[Mapping[str, Any]], by_arch: Mapping[str, Sequence[Outcome]]
) -> list[CompileResult]:
    """What is said of each row, of its outcomes by architecture."""
    return [
        _result(str(row["id"]), {arch: outcomes[at] for arch, outcomes in by_arch.items()})
        for at, row in enumerate(rows)
    ]


def _result(row_id: str, outcomes: Mapping[str, Outcome]) -> CompileResult:
    archs = [arch for arch, outcome in outcomes.items() if outcome.status == "compiles"]
    failed = [outcome for outcome in outcomes.values() if outcome.status != "compiles"]
    if not failed:
        return CompileResult(row_id, "compiles", archs)
    return CompileResult(row_id, failed[0].status, archs, failed[0].log[:LOG_CHARACTERS])
