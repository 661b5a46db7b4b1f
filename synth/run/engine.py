"""Where tasks are done: in this process, or in worker processes of this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from multiprocessing.connection import wait
from typing import Any, Protocol, TypeVar

from synth.dataset.positions import Task
from synth.dataset.settings import Settings, Versions
from synth.errors import RunError
from synth.run.unit import make_task
from synth.run.worker import Worker, WorkerLost, end_all, say_made

_LOOK_EVERY_S = 0.5
"""Another thread may take the signal of Ctrl-C, and then nothing wakes a wait without an end."""

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
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._workers: list[Worker] = []
        self._at_work: dict[Worker, Any] = {}

    def run(
        self, settings: Settings, versions: Versions, tasks: Iterable[Task]
    ) -> Iterator[tuple[Task, bytes]]:
        yield from self.each(partial(_make_counted, settings, versions), tasks)

    def each(
        self, do: Callable[[_Job], bytes], tasks: Iterable[_Job]
    ) -> Iterator[tuple[_Job, bytes]]:
        """Each task with what ``do`` gives for it, as it is done; an error of ``do`` is raised
        here. Raises RunError when a worker is lost."""
        left = iter(tasks)
        try:
            self._hand_out(do, left)
            while self._at_work:
                for worker in self._heard():
                    data = self._answer(worker)
                    if data is not None:
                        task = self._at_work.pop(worker)
                        # Before the caller writes the data, so that no worker waits for a disk.
                        self._hand_out(do, left)
                        yield task, data
        except WorkerLost:
            raise RunError(
                "a worker process died (killed, or out of memory); finished units are kept: "
                "run the same command again to go on, with fewer --workers if memory was short"
            ) from None

    def close(self) -> None:
        """Let the workers end, at once where one is still at work: a task may take minutes, and
        nobody wants what it would give."""
        end_all(self._workers, at_once=bool(self._at_work))
        self._workers.clear()
        self._at_work.clear()
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None

    def _hand_out(self, do: Callable[[_Job], bytes], left: Iterator[_Job]) -> None:
        """Give each worker that has none a task, if there is one."""
        while len(self._at_work) < self.workers:
            try:
                task = next(left)
            except StopIteration:
                return
            worker = self._idle()
            self._at_work[worker] = task
            worker.give(do, task)

    def _idle(self) -> Worker:
        for worker in self._workers:
            if worker not in self._at_work:
                return worker
        if self._folder is None:
            # What children of workers that were ended still write must not hinder its removal.
            self._folder = tempfile.TemporaryDirectory(
                prefix="pairsmith-workers-", ignore_cleanup_errors=True
            )
        worker = Worker(self._folder.name)
        self._workers.append(worker)
        worker.start()
        return worker

    def _heard(self) -> list[Worker]:
        """Workers at work that have something to say, or are gone."""
        ready = wait([worker.connection for worker in self._at_work], _LOOK_EVERY_S)
        return [worker for worker in self._at_work if worker.connection in ready]

    def _answer(self, worker: Worker) -> bytes | None:
        """What a worker's task gave; None when it only says how far it is."""
        heard = worker.hear()
        if isinstance(heard, int):
            self.made(heard)
            return None
        return heard


def _make_counted(settings: Settings, versions: Versions, task: Task) -> bytes:
    return make_task(settings, versions, task, say_made)
