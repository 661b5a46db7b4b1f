"""Several schedules of one row on a GPU: proven against Warp's text, then timed side by side.

Rows are prepared by several processes at a time; the device belongs to one of them at a time.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from validate.gpu.bench import Turn, device_times
from validate.gpu.cubins import CubinStore
from validate.gpu.large import disagreement, scaled_sizes
from validate.gpu.launch import NotInBinary, WrongParameters, load_kernel
from validate.gpu.nvrtc import Refused
from validate.gpu.text import (
    PlainText,
    Prepared,
    Ran,
    Row,
    Shape,
    WarpText,
    plain_text_of,
    run_text,
    shape_of,
)
from validate.row.sizes import awkward_sizes, describe
from validate.statuses import GpuStatus

WARP = -1
"""Warp's text among contenders."""

REPEATS = 7
_PROVEN_AT = 1 << 16
_LONG_US = 30_000.0


@dataclass(frozen=True)
class Trial:
    """One contender at one size: a number of `contenders`, or `WARP`.

    `sizes` and the times, in microseconds, are empty and None where it was not timed: `status` and
    `reason` say why. `spread_us` is the distance between the quartiles.
    """

    contender: int
    sizes: str
    status: str
    reason: str = ""
    repeats: int = 0
    time_us: float | None = None
    min_us: float | None = None
    spread_us: float | None = None


def tune_row(row: Row, store: CubinStore, lock: Path) -> list[Trial]:
    """Prove and time the contenders of a row: `row["tune"]` has `contenders`, columns of plain
    CUDA each, and `sizes`, by symbol. `lock` is a file that stands for the device.

    Raises Refused, NotInBinary and WrongParameters for Warp's text, LaunchFailed for any.
    """
    return _Tuning(row, store, lock).trials()


class _Tuning:
    def __init__(self, row: Row, store: CubinStore, lock: Path) -> None:
        self.row, self.store, self.lock = row, store, lock
        self.symbol = f"{row['kernel_name']}_cuda_kernel_forward"
        self.warp = WarpText(load_kernel(store.warp(row)[0], self.symbol))
        self.plain: dict[int, tuple[Row, PlainText]] = {}
        self.found: list[Trial] = []

    def trials(self) -> list[Trial]:
        self._load(self.row["tune"]["contenders"])
        for sizes in [*awkward_sizes(self.row["sizes"]), scaled_sizes(self.row, _PROVEN_AT)]:
            shape = shape_of(self.row, sizes)
            with alone(self.lock):
                self._prove(shape)
        for sizes in self.row["tune"]["sizes"]:
            self._time(shape_of(self.row, sizes))
        return self.found

    def _load(self, contenders: Sequence[Mapping[str, Any]]) -> None:
        for number, columns in enumerate(contenders):
            row = {**self.row, **columns}
            try:
                binary, _ = self.store.plain(row)
                text = plain_text_of(row, partial(load_kernel, binary))
            except (Refused, NotInBinary) as failed:
                self._fail(number, GpuStatus.COMPILE_ERROR, str(failed))
            else:
                self.plain[number] = (row, text)

    def _fail(self, number: int, status: str, reason: str) -> None:
        self.found.append(Trial(number, "", status, reason[:1000]))
        self.plain.pop(number, None)

    def _prove(self, shape: Shape) -> None:
        """Compare what each contender writes with what Warp's text does."""
        first = run_text(self.warp, self.row, shape)
        for number, (row, text) in list(self.plain.items()):
            try:
                ran = run_text(text, row, shape)
            except WrongParameters as failed:
                self._fail(number, GpuStatus.WRONG_SHAPE, str(failed))
                continue
            trouble = ran.trouble or self._difference(shape, first, ran)
            if trouble is not None:
                self._fail(number, *trouble)

    def _difference(self, shape: Shape, first: Ran, ran: Ran) -> tuple[str, str] | None:
        found = disagreement(self.row, self._variants, shape, first, ran)
        if found is None:
            return None
        mismatch, name = found
        return GpuStatus.WRONG_VALUE, f"{name}{mismatch} at {describe(shape.sizes)}"

    def _variants(self) -> list[WarpText]:
        binary = self.store.warp_uncontracted(self.row)
        return [self.warp, WarpText(load_kernel(binary, self.symbol))]

    def _time(self, shape: Shape) -> None:
        """Time all that are left; a contender that takes long is not tried at further sizes."""
        if not self.plain:
            return
        by_warp = self.warp.prepare(self.row, shape)
        first_row, first = next(iter(self.plain.values()))
        # All plain texts have the same arrays: they go to the device once.
        arrays = first.prepare(first_row, shape)
        with alone(self.lock):
            self._timed(WARP, by_warp, shape)
            for number, (row, text) in list(self.plain.items()):
                if self._timed(number, text.like(arrays, row, shape), shape) > _LONG_US:
                    del self.plain[number]

    def _timed(self, number: int, ready: Prepared, shape: Shape) -> float:
        times = device_times([Turn.of(ready)], REPEATS)
        low, _, high = quantiles(times, n=4)
        self.found.append(
            Trial(
                number,
                describe(shape.sizes),
                GpuStatus.PASSED,
                repeats=len(times),
                time_us=median(times),
                min_us=min(times),
                spread_us=high - low,
            )
        )
        return median(times)


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Have the device to oneself among the processes that know the file."""
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
