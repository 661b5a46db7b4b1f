"""A worker process and the connection to it.

One connection for each, and no thread: a worker that is killed in the middle of an answer breaks
its own connection alone. (The pool of the standard library reads all answers from one pipe, whose
other end it holds itself: what is cut off there is awaited for ever.)
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from validate.process.parent import kill_children

_PR_SET_PDEATHSIG = 1

_GRACE_S = 20.0
"""A worker answers a signal when the machine code that it runs has returned to Python."""


class WorkerLost(Exception):  # noqa: N818
    """A worker ended before it answered."""


class _Trace(Exception):  # noqa: N818
    """Where an error was raised in a worker; the cause of the same error here."""

    def __str__(self) -> str:
        return f"\n\n{self.args[0]}"


class Worker:
    """A process that does one task after the other."""

    def __init__(self, folder: str) -> None:
        """One that keeps its temporary files in ``folder``, and begins with ``start``."""
        context = get_context("spawn")
        self.connection, self._far = context.Pipe()
        self.process = context.Process(target=_serve, args=(self._far, folder))

    def start(self) -> None:
        """Start the process."""
        # It unblocks Ctrl-C when it starts, which the first process here would have it do.
        resource_tracker.ensure_running()
        with _one_thread_each(), _interrupt_put_off():
            self.process.start()
        # Only the worker's own end may be open: so it is closed when the worker is gone.
        self._far.close()

    def give(self, do: Callable[[Any], bytes], task: Any) -> None:
        """Have a worker without a task do one. Raises WorkerLost."""
        try:
            self.connection.send((do, task))
        except OSError:
            raise WorkerLost from None

    def hear(self) -> bytes | int:
        """The next message of a worker at work: what the task gave, or how many keys of it are
        done more. Raises WorkerLost, or what ``do`` raised."""
        try:
            what, given = self.connection.recv()
        except (EOFError, OSError):
            raise WorkerLost from None
        if what == "failed":
            error, trace = given
            raise error from _Trace(trace)
        return given

    def end(self, deadline_s: float) -> None:
        """Wait for the process until a time of the monotonic clock, and kill it then."""
        self.process.join(max(0.0, deadline_s - time.monotonic()))
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        self.process.close()


def end_all(workers: Sequence[Worker], *, at_once: bool) -> None:
    """End workers: when their task is done, or ``at_once`` with their children."""
    started = [worker for worker in workers if worker.process.pid is not None]
    for worker in started:
        if at_once:
            worker.process.terminate()
    for worker in workers:
        worker.connection.close()
    deadline_s = time.monotonic() + _GRACE_S
    for worker in started:
        worker.end(deadline_s)


def say_made(keys: int) -> None:
    """In a worker: say that so many keys of its task are done more."""
    (connection,) = _to_parent
    connection.send(("made", keys))


_to_parent: list[Connection] = []


def _serve(connection: Connection, folder: str) -> None:
    """Do tasks until the other end of the connection is closed.

    Temporary files go into ``folder``, which the parent removes: a worker that is ended removes
    nothing, but it takes its own children with it.
    """
    signal.signal(signal.SIGTERM, _end_at_once)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _to_parent[:] = [connection]
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    while True:
        try:
            do, task = connection.recv()
        except (EOFError, OSError):
            return
        answer = _done(do, task)
        try:
            connection.send(answer)
        except OSError:
            return


def _done(do: Callable[[Any], bytes], task: Any) -> tuple[str, Any]:
    try:
        return "done", do(task)
    except Exception as error:  # noqa: BLE001 - raised again by the parent
        trace = traceback.format_exc()
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001 - whatever an error's own pickling does
            return "failed", (RuntimeError(f"{type(error).__name__}: {error}"), trace)
        return "failed", (error, trace)


def _end_at_once(number: int, _frame: object) -> None:
    kill_children()
    os._exit(128 + number)


@contextmanager
def _interrupt_put_off() -> Iterator[None]:
    """Ctrl-C reaches neither this thread in the block nor ever a process that it starts there,
    which would die of it while it imports, with a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
