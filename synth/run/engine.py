"""Where tasks are done: in this process, or in worker processes of this machine."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar

from synth.dataset.positions import Task
from synth.dataset.settings import Settings, Versions
from synth.errors import RunError
from synth.run.unit import make_task

_PR_SET_PDEATHSIG = 1

_Job = TypeVar("_Job")


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

    def run(
        self, settings: Settings, versions: Versions, tasks: Iterable[Task]
    ) -> Iterator[tuple[Task, bytes]]:
        for task in tasks:
            yield task, make_task(settings, versions, task)

    def close(self) -> None:
        pass


class Processes:
    """Worker processes that live as long as the run; each starts Warp and its compilers once."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._others: list[BaseProcess] = []
        self._waiting: dict[Future[bytes], Any] = {}

    def run(
        self, settings: Settings, versions: Versions, tasks: Iterable[Task]
    ) -> Iterator[tuple[Task, bytes]]:
        yield from self.each(partial(make_task, settings, versions), tasks)

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
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
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

    def _ready(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._others = multiprocessing.active_children()
            self._pool = ProcessPoolExecutor(
                self.workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_live_with_the_parent,
            )
        return self._pool


def _live_with_the_parent() -> None:
    """Leave Ctrl-C to the parent, and on Linux end when it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


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
