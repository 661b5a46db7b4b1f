"""What became of the texts of a row on a GPU."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from validate.gpu.launch import LaunchFailed, NotInBinary, WrongParameters
from validate.gpu.nvrtc import Refused
from validate.oracle.reference import ReferenceFailed
from validate.statuses import GpuStatus

COLUMN_OF = {
    "forward": "cuda_forward",
    "backward": "cuda_backward",
    "plain": "cuda_plain",
    "gradient": "cuda_plain_backward",
}
"""The texts of a row that are run, Warp's forward and backward, ours forward and backward, each
with its column."""
TEXTS = tuple(COLUMN_OF)


@dataclass
class TextResult:
    """What became of one text of a row.

    `status` is a `validate.statuses.GpuStatus`. `shapes` are those it was launched at;
    `tolerance_used` is the largest error as a share of its tolerance; `time_us` is the time on the
    device of the launch at the row's own sizes, `large_time_us` that at `large_sizes`.
    """

    text: str
    status: str = GpuStatus.PASSED
    reason: str = ""
    shapes: list[str] = field(default_factory=list)
    tolerance_used: float = 0.0
    time_us: float | None = None
    large_sizes: str | None = None
    large_time_us: float | None = None

    def fail(self, status: str, reason: str) -> None:
        """Note the first thing that is wrong."""
        if self.status == GpuStatus.PASSED:
            self.status, self.reason = status, reason


@dataclass
class Spent:
    """Seconds that a row took: compiling, loading machine code, the device (copies to and from it,
    and waiting for it), kernels as events timed them, and all; of all, what the process's cores
    worked in its own code and in the system's, and how often memory was touched for the first time.
    """

    nvrtc_s: float = 0.0
    load_s: float = 0.0
    device_s: float = 0.0
    gpu_s: float = 0.0
    total_s: float = 0.0
    user_s: float = 0.0
    system_s: float = 0.0
    page_faults: int = 0
    compiled: int = 0


@contextmanager
def counted(spent: Spent) -> Iterator[None]:
    """Add to `spent` what this process takes meanwhile."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    try:
        yield
    finally:
        after = resource.getrusage(resource.RUSAGE_SELF)
        spent.total_s += time.perf_counter() - began
        spent.user_s += after.ru_utime - before.ru_utime
        spent.system_s += after.ru_stime - before.ru_stime
        spent.page_faults += after.ru_minflt - before.ru_minflt


@contextmanager
def told(*results: TextResult, where: str = "") -> Iterator[None]:
    """Turn what texts may do wrong into their status. A sticky failure goes on to the caller."""

    def fail(status: str, reason: str) -> None:
        for result in results:
            result.fail(status, f"{reason}{where}")

    try:
        yield
    except Refused as failed:
        fail(GpuStatus.COMPILE_ERROR, str(failed))
    except NotInBinary as failed:
        fail(GpuStatus.COMPILE_ERROR, f"not in the compiled program: {failed}")
    except WrongParameters as failed:
        fail(GpuStatus.WRONG_SHAPE, str(failed))
    except ReferenceFailed as failed:
        fail(GpuStatus.WRONG_VALUE, f"the reference fails: {failed}")
    except LaunchFailed as failed:
        fail(GpuStatus.LAUNCH_ERROR, str(failed))
        if failed.sticky:
            raise
