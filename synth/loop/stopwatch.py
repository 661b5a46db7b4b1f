"""Times of answers measured on a GPU of this machine, beside what the device can do at most."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from synth.gpu.work import Work, work_of
from synth.loop.timed import MEASURED, MEMORY, OPERATIONS, Time
from synth.loop.times import Predictor, timed_sizes
from validate.errors import GpuUnavailable
from validate.gpu.ceilings import Peaks, measure_peaks
from validate.gpu.device import Device, devices
from validate.gpu.large import bytes_moved
from validate.gpu.runner import GpuOptions, Standing
from validate.score.task import Refused, Task, task_of
from validate.statuses import GpuStatus

Row = Mapping[str, Any]

_TIMEOUT_S = 120.0
_SENT = ("id", "args", "sizes", "launch", "input_seed", "plain_args", "kernel_name", "reference")


class Stopwatch:
    """Measures on one device, of which nobody else should make use meanwhile; a context manager,
    for one thread at a time. What the device can do at most is measured as it is entered."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._open = ExitStack()

    def __enter__(self) -> Stopwatch:
        self._peaks = measure_peaks(self._device)
        # Headers of Warp are of no use here: answers are plain CUDA.
        options = GpuOptions(Path(), timeout_s=_TIMEOUT_S, answers=True)
        self._standing = self._open.enter_context(Standing(self._device, options))
        return self

    def __exit__(self, *exc: object) -> None:
        self._open.close()

    def of(self, text: str, row: Row) -> Time:
        """The time of an answer that passes; without one, why."""
        read = task_of(text, row, None)
        if isinstance(read, Refused):
            return Time(why=read.reason)
        sizes = timed_sizes(row)
        verdict = self._standing.run(_sent(read, row, sizes))
        (result,) = verdict.results
        if result.status != GpuStatus.PASSED:
            why = f"on the device: {result.status}: {' '.join(result.reason.split())[:300]}"
            return Time(why=why, device=self._device.name, sizes=sizes)
        (timing,) = verdict.timings
        roof_us, roof = _roof(row, sizes, self._peaks)
        return Time(timing.median_us, MEASURED, "", self._device.name, sizes, roof_us, roof)


def timer_here() -> tuple[Stopwatch | Predictor, str]:
    """What measures on the first GPU of this machine; without one what predicts, and a line that
    says so."""
    try:
        found = devices()
    except GpuUnavailable as error:
        return Predictor(), f"times are predicted, not measured: {error}"
    return Stopwatch(found[0]), ""


def _sent(read: Task, row: Row, sizes: Mapping[str, int]) -> dict[str, Any]:
    """An answer as `validate.gpu.answer` takes it."""
    included = "".join(f"#include <{header}>\n" for header in read.reading.headers)
    return {
        **{name: row.get(name) for name in _SENT},
        "cuda_plain": read.reading.code,
        "program": included + read.reading.code,
        "kernels": read.sent["kernels"],
        "plain_launch": read.sent["plain_launch"],
        "plain_scratch": read.sent["plain_scratch"],
        "timed_sizes": dict(sizes),
    }


def _roof(row: Row, sizes: Mapping[str, int], peaks: Peaks) -> tuple[float, str]:
    """What a row's work takes at least at the measured rates, in microseconds, and what bounds it;
    of tasks without a program the bytes alone are known."""
    work = Work(bytes_moved(row, sizes), 0, "float32")
    if row.get("program"):
        work = work_of(row, sizes)
    moved_us = 1e6 * work.bytes_moved / peaks.copy_bytes_per_s
    done_us = 1e6 * work.operations / peaks.operations_per_s[work.scalar]
    return (moved_us, MEMORY) if moved_us >= done_us else (done_us, OPERATIONS)
