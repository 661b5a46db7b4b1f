"""A child process that works for this one, seen from its parent."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from validate import errors
from validate.errors import MachineFault
from validate.process.machine import (
    LAST_ROOM_BYTES,
    LEAST_ROOM_BYTES,
    fault_in_text,
    require_limits,
    require_room,
)
from validate.statuses import ProcessEnd

# Importing Warp takes under a second alone, many on a crowded machine.
START_TIMEOUT_S = 120.0


# Not `-m`: that would import modules of these names from the user's working directory. Ctrl-C is
# for the parent to answer: a terminal sends it to children too, and one that ends of it would look
# as if a text had crashed it.
_START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path.remove(''); "
    "from {module} import main; main()"
)
# NumPy's threads would wait for work by computing; a child has a core of its own at most.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


_living: weakref.WeakSet[WorkerProcess] = weakref.WeakSet()


def kill_children() -> None:
    """Kill every child of this process that works for it: for one that is about to end at once."""
    for worker in list(_living):
        worker.kill()


class WorkerGone(Exception):  # noqa: N818
    """The child died ("crashed") or stayed silent ("timeout") before it answered.

    `peak_bytes` is the most memory that a child which died ever held; None for a silent one, and
    for one that never held more than this process: the system counts from there.
    """

    def __init__(self, status: ProcessEnd, reason: str, peak_bytes: int | None = None) -> None:
        super().__init__(reason)
        self.status, self.reason, self.peak_bytes = status, reason, peak_bytes


class WorkerProcess:
    """One child process and the connection to it."""

    def __init__(
        self, folder: Path, module: str, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start `module`'s `main`, which takes the number of a socket and a folder as arguments.

        The child keeps its files in `folder`, which no other may use meanwhile; `environment` is
        added to this process's. Its first message is the event "ready", "unavailable" (with
        `reason` and, as `error`, the name of a class of `validate.errors`, which is then raised
        here) or "error" (with `trace`). Raises MachineFault when limits, room or a killer keep it
        from coming up, and RuntimeError with what it said when it is our fault.
        """
        require_limits()
        require_room(folder, LEAST_ROOM_BYTES)
        self.folder = folder
        self._own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.connection, child = Pipe(duplex=True)
        command = [sys.executable, "-c", _START.format(module=module)]
        with child:
            self.process = subprocess.Popen(
                [*command, str(child.fileno()), str(folder)],
                pass_fds=[child.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # Until it has a log of its own: what it says then is ours to tell.
                stderr=subprocess.PIPE,
                env={
                    **_ENVIRONMENT,
                    **os.environ,
                    **(environment or {}),
                    # Libraries take what is there for a folder, and Python only one that can be
                    # written.
                    "TMPDIR": tempfile.gettempdir(),
                    "PYTHONPATH": os.pathsep.join(str(Path(p).resolve()) for p in sys.path),
                },
            )
        _living.add(self)
        self._await_start(module)

    def _await_start(self, module: str) -> None:
        """Wait for the child's first message. Raises what a message other than "ready" says."""
        assert self.process.stderr is not None
        with self.process.stderr as said:
            try:
                message = self.receive(START_TIMEOUT_S)
            except WorkerGone as gone:
                self.stop()
                raise _not_started(module, gone, said.read().decode(errors="replace")) from None
            except BaseException:
                self.stop()
                raise
        if message["event"] == "unavailable":
            self.stop()
            raise unavailable(message)
        if message["event"] == "error":
            self.stop()
            raise RuntimeError(f"{module} did not start:\n{message['trace']}")

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a batch. Raises WorkerGone when the child has died since its last answer."""
        try:
            self.connection.send_bytes(json.dumps(message).encode())
        except OSError:
            raise self._ended() from None

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """The next message. Raises WorkerGone when the child dies or stays silent too long."""
        message: dict[str, Any] = json.loads(self.receive_bytes(timeout_s))
        return message

    def receive_bytes(self, timeout_s: float) -> bytes:
        """The same for a message that is no JSON."""
        if not self.connection.poll(timeout_s):
            raise WorkerGone(ProcessEnd.TIMEOUT, f"no result within {timeout_s:g} s")
        try:
            return self.connection.recv_bytes()
        except (EOFError, ConnectionResetError):
            raise self._ended() from None

    def result(self, timeout_s: float, what: str) -> dict[str, Any]:
        """As `receive`, for a child at work at `what`.

        Raises the error that an event "unavailable" names, and RuntimeError with the child's
        traceback for an event "error".
        """
        message = self.receive(timeout_s)
        if message["event"] == "unavailable":
            raise unavailable(message)
        if message["event"] == "error":
            raise RuntimeError(f"{what} failed:\n{message['trace']}")
        return message

    def _ended(self) -> WorkerGone:
        # A full disk ends a process that writes to it through memory.
        require_room(self.folder, LAST_ROOM_BYTES)
        if self.process.returncode is not None:
            return WorkerGone(ProcessEnd.CRASHED, _in_words(self.process.returncode))
        try:
            _, status, usage = os.wait4(self.process.pid, 0)
        except ChildProcessError:
            return WorkerGone(ProcessEnd.CRASHED, "killed by this process")
        # Popen would otherwise wait for a process that is gone.
        self.process.returncode = os.waitstatus_to_exitcode(status)
        peak = usage.ru_maxrss if usage.ru_maxrss > self._own_peak else None
        return WorkerGone(
            ProcessEnd.CRASHED,
            _in_words(self.process.returncode),
            peak * _MAXRSS_UNIT if peak is not None else None,
        )

    def kill(self) -> None:
        """Kill the child from another thread than the one that works with it, which hears of it as
        WorkerGone and is the one to `stop` it: a connection closed under a waiting thread may leave
        it waiting for ever."""
        self.process.kill()

    def stop(self) -> None:
        """Kill the child and close the connection."""
        self.connection.close()
        self.process.kill()
        self.process.wait()


def _not_started(module: str, gone: WorkerGone, said: str) -> RuntimeError:
    """Why a child is not there: the machine's doing where its last words, or its end, say so."""
    last = said.strip().rpartition("\n")[2]
    kind, _, reason = last.removeprefix(f"{errors.__name__}.").partition(": ")
    known = getattr(errors, kind, None)
    if known is not None:
        return unavailable({"error": kind, "reason": reason})
    fault = fault_in_text(last)
    if fault is None and not said.strip():
        fault = f"{gone}; is there too little memory, or too much to do?"
    if fault is not None:
        return MachineFault(f"a child process ({module}) did not start: {fault}")
    return RuntimeError(f"{module} did not start: {gone}\n{said}")


def unavailable(message: Mapping[str, Any]) -> RuntimeError:
    """The error that a child's message "unavailable" stands for."""
    known: type[RuntimeError] = getattr(errors, message.get("error", "HostRunUnavailable"))
    return known(message["reason"])


def _in_words(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
