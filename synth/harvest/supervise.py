"""The process between a harvest and the one that executes a user's code.

It ends all that this one started, also what left its session or lost its parent: on Linux orphans
become children of the nearest ancestor that asks for them (``PR_SET_CHILD_SUBREAPER``).
Started by ``synth.harvest.process``.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from synth.harvest.wire import Writer

LOST_WIRE = 97
"""Exit code of a child whose code closed the descriptor that it answers through."""

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SIGNALS = (signal.SIGCHLD, signal.SIGTERM)


def main() -> None:
    """Arguments: number of a pipe's writing end, the file that says what is to be done."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    _process_control(_PR_SET_CHILD_SUBREAPER, 1)
    _process_control(_PR_SET_PDEATHSIG, signal.SIGTERM)
    wire = Writer(int(sys.argv[1]))
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _work(wire, parent)
    how = _wait(child)
    _end_all()
    if how:
        with suppress(BrokenPipeError):
            wire.send(event="ended", how=how)
    os._exit(0)


def _work(wire: Writer, parent: int) -> None:
    """Runs in the child and never returns."""
    os.setsid()  # a signal that the module sends to its group does not reach the supervisor
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    _process_control(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before it could be watched
        os._exit(0)
    wire.close_in_forks()
    from synth.harvest.worker import work

    work(wire, Path(sys.argv[2]))


def _process_control(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)


def _wait(child: int) -> str:
    """How the child ended; "" when the harvest does not want it any more."""
    while True:
        if signal.sigwait(_SIGNALS) == signal.SIGTERM:
            return ""
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == child:
                    return _said(os.waitstatus_to_exitcode(found[1]))


def _said(code: int) -> str:
    if code == LOST_WIRE:
        return "it closed the descriptors of its process"
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return f"its process ended with {how}"


def _end_all() -> None:
    """Kill every descendant: those of one that is killed become children of this process."""
    while True:
        for child in _children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    """The children of this process, of those that can be seen."""
    mine = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # the name in brackets may hold anything; state and parent follow it
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                mine.append(int(folder.name))
    return mine
