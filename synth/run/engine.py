"""Where tasks are done: in this process, or in worker processes of this machine."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import struct
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar

from synth.dataset.positions import Task
from synth.dataset.settings import Settings, Versions
from synth.errors import RunError
from synth.run.unit import make_task
from validate.process.parent import kill_children

_PR_SET_PDEATHSIG = 1

_LOOK_EVERY_S = 0.5
_COUNT = struct.Struct("=I")
"""So short a message goes through a pipe whole, whoever else writes to it."""

_Job = TypeVar("_Job")

Made = Callable[[int], object]
"""Called with how many keys of tasks under way are done more."""


def ignore_made(_keys: int) -> None:
    """Keys that nobody counts."""


class Engine(Protocol):
    """Does tasks, in any order; nothing but what they give comes back, and nothing is written."""

    def run(
        self, settings: Settings, versions: Versions, tasks: Iterable[Task]
    ) -> Iterator[tuple[Task, bytes]]:
        """Each task with its Parquet as it is done. Raises RunError when a worker is lost."""

    def close(self) -> None:
        """Let go of the workers."""


class InProcess:
    """One task after the other, here."""

    def __init__(self, made: Made = ignore_made) -> None:
        self.made = made

    def run(
        self, settings: Settings, versions: Versions, tasks: Iterable[Task]
    ) -> Iterator[tuple[Task, bytes]]:
        for task in tasks:
            yield task, make_task(settings, versions, task, self.made)

    def close(self) -> None:
        pass


class Processes:
    """Worker processes that live as long as the run; each starts Warp and its compilers once."""

    def __init__(self, workers: int, made: Made = ignore_made) -> None:
        self.workers, self.made = workers, made
        self._counts: tuple[Connection, Connection] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._pool: ProcessPoolExecutor | None = None
        self._others: list[BaseProcess] = []
        self._waiting: dict[Future[bytes], Any] = {}

    def run(
        self, settings: Settings, versions: Versions, tasks: Iterable[Task]
    ) -> Iterator[tuple[Task, bytes]]:
        yield from self.each(partial(_make_counted, settings, versions), tasks)

    def each(
        self, do: Callable[[_Job], bytes], tasks: Iterable[_Job]
    ) -> Iterator[tuple[_Job, bytes]]:
        """Each task with what ``do`` gives for it, as it is done. Raises RunError when a worker is
        lost."""
        left, waiting = iter(tasks), self._waiting
        try:
            while True:
                # Few are handed out at a time: what they give waits in memory.
                for task in islice(left, 2 * self.workers - len(waiting)):
                    with _one_thread_each():
                        done = self._ready().submit(do, task)
                    waiting[done] = task
                if not waiting:
                    return
                done_now = wait(waiting, _LOOK_EVERY_S, return_when=FIRST_COMPLETED).done
                self._count()
                for future in done_now:
                    data = future.result()
                    yield waiting.pop(future), data
        except BrokenProcessPool:
            raise RunError(
                "a worker process died (killed, or out of memory); finished units are kept: "
                "run the same command again to go on, with fewer --workers if memory was short"
            ) from None

    def close(self) -> None:
        if self._pool is None:
            return
        if self._waiting:
            # Broken off: a task may take minutes, and nobody wants what it would give.
            for child in multiprocessing.active_children():
                if child not in self._others:
                    child.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None
        self._waiting.clear()
        for end in self._counts or ():
            end.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._counts = self._folder = None

    def _count(self) -> None:
        """Hear what workers have done of tasks that are not done yet."""
        assert self._counts is not None
        keys = 0
        while self._counts[0].poll():
            keys += _COUNT.unpack(os.read(self._counts[0].fileno(), _COUNT.size))[0]
        if keys:
            self.made(keys)

    def _ready(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._others = multiprocessing.active_children()
            self._counts = multiprocessing.Pipe(duplex=False)
            # What children of workers that were ended still write must not hinder its removal.
            self._folder = tempfile.TemporaryDirectory(
                prefix="pairsmith-workers-", ignore_cleanup_errors=True
            )
            self._pool = ProcessPoolExecutor(
                self.workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_start_worker,
                initargs=(self._counts[1], self._folder.name),
            )
        return self._pool


_counted: list[Connection] = []
"""In a worker: where it says what it has done."""


def _make_counted(settings: Settings, versions: Versions, task: Task) -> bytes:
    (end,) = _counted

    def made(keys: int) -> None:
        os.write(end.fileno(), _COUNT.pack(keys))

    return make_task(settings, versions, task, made)


def _start_worker(counts: Connection, folder: str) -> None:
    """Leave Ctrl-C to the parent, and on Linux end when it is killed.

    Temporary files go into ``folder``, which the parent removes: a worker that is ended removes
    nothing, but it takes its own children with it.
    """
    signal.signal(signal.SIGTERM, _end_at_once)
    _counted[:] = [counts]
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_at_once(number: int, _frame: object) -> None:
    kill_children()
    os._exit(128 + number)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Workers are the parallelism: maths libraries in them get one thread."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
