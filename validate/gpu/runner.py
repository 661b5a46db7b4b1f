"""Run rows on every visible GPU: their own texts, compiled with NVRTC and launched through CuPy.

Each GPU has several child processes that compile, launch and judge, so that the compilers keep all
cores busy while the GPU runs what is ready. There is no other place to run: without a GPU nothing
does. Needs NumPy and CuPy, never Warp: its headers come as files.
"""

from __future__ import annotations

import os
import queue
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from validate.gpu.bench import Timing
from validate.gpu.device import Device, alone_visible
from validate.gpu.result import TEXTS, Spent, TextResult
from validate.gpu.tune import Trial
from validate.process.parent import WorkerGone, WorkerProcess
from validate.statuses import GpuStatus, ProcessEnd

Row = Mapping[str, Any]

WORKER = "validate.gpu.worker"
_MOST_WORKERS = 16
_WORKER_BYTES = 4 << 30
# Cores are shared out already; and memory of large arrays is used again, not given back and faulted
# in anew for each row.
_ENVIRONMENT = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(4 << 30),
}
# The first row of a process pays for its context and its precompiled header.
_START_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class GpuOptions:
    """How rows are run.

    `include_dir` holds Warp's headers; `cubins` is a folder of machine code to take and to add to,
    None for none; `large_elements` is about how many threads the large launch has, 0 for none;
    `timeout_s` is the wall-clock limit of a row's compilation, and of its launches; `workers` are
    the processes of one GPU; `bench` times rows in place of judging them, `tune` the contenders of
    each: a file by which the processes take turns on the device. `answers`: rows are answers of
    others, as `validate.gpu.answer` takes them.
    """

    include_dir: Path
    cubins: Path | None = None
    large_elements: int = 1 << 18
    timeout_s: float = 60.0
    workers: int = 1
    batch_size: int = 32
    bench: bool = False
    tune: Path | None = None
    answers: bool = False


@dataclass(frozen=True)
class RowVerdict:
    """What became of one row.

    `device` is the UUID that the child process read where it ran; `alone` says that the row was
    run again in processes of its own, because its batch had broken off there.
    """

    row: Row
    device: str
    batch: int
    alone: bool
    results: list[TextResult] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    timings: list[Timing] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every text passed."""
        return all(result.status == GpuStatus.PASSED for result in self.results)


def default_workers(devices: Sequence[Device]) -> int:
    """Processes for each GPU: the cores shared out, as far as its memory allows."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    by_memory = min(device.memory_bytes for device in devices) // _WORKER_BYTES
    return max(1, min((cores or 1) // len(devices), by_memory, _MOST_WORKERS))


def run_rows(
    rows: Iterable[Row], devices: Sequence[Device], options: GpuOptions
) -> Iterator[RowVerdict]:
    """Run rows on the devices; verdicts come as rows are done, in no order.

    Raises GpuUnavailable and CompileUnavailable when a child cannot work, RuntimeError when the
    machinery itself fails: that is a bug, never a row's fault.
    """
    source = _Source(iter(rows), options.batch_size)
    found: queue.Queue[Any] = queue.Queue()
    slots = [_Slot(device, options) for _ in range(options.workers) for device in devices]
    threads = [
        threading.Thread(target=_drive, args=(slot, source, found), daemon=True) for slot in slots
    ]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            item = found.get()
            if item is None:
                running -= 1
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item
    finally:
        source.stop()
        for slot in slots:
            slot.stop()


class Standing:
    """One GPU with its process, kept from row to row; a context manager, for one thread."""

    def __init__(self, device: Device, options: GpuOptions) -> None:
        self._slot = _Slot(device, options)

    def __enter__(self) -> Standing:
        return self

    def __exit__(self, *exc: object) -> None:
        self._slot.stop()

    def run(self, row: Row) -> RowVerdict:
        """What becomes of a row. Raises GpuUnavailable when the child cannot work."""
        (verdict,) = self._slot.run(0, [row])
        return verdict


def _verdict(row: Row, number: int, answer: Mapping[str, Any]) -> RowVerdict:
    return RowVerdict(
        row,
        answer["device"],
        number,
        alone=False,
        results=[TextResult(**result) for result in answer["results"]],
        spent=Spent(**answer["spent"]),
        timings=[Timing(**timing) for timing in answer["timings"]],
        trials=[Trial(**trial) for trial in answer.get("trials", ())],
    )


class _Source:
    """Batches of rows for several threads, each with a number."""

    def __init__(self, rows: Iterator[Row], size: int) -> None:
        self._rows, self._size, self._number = rows, size, -1
        self._lock = threading.Lock()

    def take(self) -> tuple[int, list[Row]]:
        with self._lock:
            self._number += 1
            return self._number, list(islice(self._rows, self._size))

    def stop(self) -> None:
        with self._lock:
            self._rows = iter(())


def _drive(slot: _Slot, source: _Source, found: queue.Queue[Any]) -> None:
    """Give a slot batches until there are none; what happens goes to the queue."""
    try:
        while True:
            number, batch = source.take()
            if not batch:
                break
            for verdict in slot.run(number, batch):
                found.put(verdict)
    except Exception as error:  # noqa: BLE001 - raised again by whoever reads the queue
        found.put(error)
    finally:
        slot.close()
        found.put(None)


class _Slot:
    """At most one child process for one GPU; a broken one is replaced."""

    def __init__(self, device: Device, options: GpuOptions) -> None:
        self.device, self.options = device, options
        self._worker: WorkerProcess | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._stopped = False

    def stop(self) -> None:
        """End the process for good: another thread may still be waiting for it."""
        self._stopped = True
        self.close()

    def close(self) -> None:
        """End the process and remove its files."""
        worker, folder, self._worker, self._folder = self._worker, self._folder, None, None
        if worker is not None:
            worker.stop()
        if folder is not None:
            folder.cleanup()

    def run(self, number: int, batch: Sequence[Row]) -> Iterator[RowVerdict]:
        """Run a batch in one process; a row at which that breaks off runs alone, then the rest."""
        while batch:
            done = 0
            try:
                for answer in self._answers(batch, TEXTS):
                    row = batch[done]
                    done += 1
                    yield _verdict(row, number, answer)
                return
            except WorkerGone as gone:
                yield self._alone(number, batch[done], str(gone))
                batch = batch[done + 1 :]

    def _alone(self, number: int, row: Row, reason: str) -> RowVerdict:
        """Each text of a row in a process of its own: what breaks off here is its own fault.

        Contenders and answers are not tried again: `reason` says why they broke off.
        """
        verdict = RowVerdict(row, self.device.uuid, number, True)
        if self.options.tune or self.options.answers:
            text = "tune" if self.options.tune else "answer"
            verdict.results.append(TextResult(text, GpuStatus.LAUNCH_ERROR, reason))
            return verdict
        for text in TEXTS:
            self.close()
            try:
                for answer in self._answers([row], [text]):
                    verdict.results.extend(TextResult(**result) for result in answer["results"])
            except WorkerGone as gone:
                status = (
                    GpuStatus.TIMEOUT
                    if gone.status == ProcessEnd.TIMEOUT
                    else GpuStatus.LAUNCH_ERROR
                )
                verdict.results.append(TextResult(text, status, str(gone)))
        self.close()
        return verdict

    def _answers(self, rows: Sequence[Row], texts: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The child's answer for each row. Raises WorkerGone when it dies, hangs or is lost."""
        fresh = self._worker is None
        worker = self._ready_worker()
        options = self.options
        try:
            worker.send(
                {
                    "include_dir": str(options.include_dir),
                    "cubins": str(options.cubins) if options.cubins else "",
                    "large_elements": options.large_elements,
                    "texts": list(texts),
                    "bench": options.bench,
                    "tune": str(options.tune) if options.tune else "",
                    "answers": options.answers,
                    "rows": list(rows),
                }
            )
            left = len(rows)
            while left:
                timeout_s = options.timeout_s + (_START_TIMEOUT_S if fresh else 0.0)
                answer = worker.result(timeout_s, "the GPU run")
                fresh = False
                if answer["event"] == "loaded":
                    continue
                if answer["event"] == "lost":
                    raise WorkerGone(ProcessEnd.CRASHED, answer["reason"])
                left -= 1
                yield answer
        except WorkerGone:
            self.close()
            raise

    def _ready_worker(self) -> WorkerProcess:
        if self._stopped:
            raise RuntimeError("the run was stopped")
        if self._worker is None:
            self._folder = tempfile.TemporaryDirectory(prefix="pairsmith-gpu-")
            folder = Path(self._folder.name)
            self._worker = WorkerProcess(folder, WORKER, _ENVIRONMENT | alone_visible(self.device))
        return self._worker
