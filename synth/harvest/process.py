"""One child process for one file of a user's, seen from its parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event
from typing import Any

# Importing Warp takes under a second alone, many on a crowded machine.
_START_S = 60.0
_LOOK_S = 0.5
_RUN_S = 20.0
# Not `-m`: that would import modules of these names from the working directory.
_START = "from synth.harvest.worker import main; main()"
_NO_DISPLAY = ("DISPLAY", "WAYLAND_DISPLAY", "PYTHONSTARTUP")


@dataclass
class Harvest:
    """What one file gave.

    Attributes:
        module: its dotted name.
        failed: why the file could not be harvested to its end; "" when it could.
        kernels: (name, line) of each concrete kernel found.
        answers: of the first of these, how far each came; fewer when the child did not last.
        left: (name, reason) of what is no concrete kernel.
    """

    module: str
    failed: str = ""
    kernels: list[tuple[str, int]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)


def harvest_file(
    path: Path,
    module: str,
    headers: Path,
    *,
    run: bool,
    timeout_s: float,
    stop: Event | None = None,
) -> Harvest:
    """Import a file in a child process and collect its kernels.

    The module's code is executed. The child has no display, works in a folder of its own, and is
    killed with all that it started when it gives no sign for ``timeout_s`` seconds.
    ``headers`` keeps precompiled headers between children; ``stop`` ends the harvest early.
    RuntimeError for a bug of ours.
    """
    harvest = Harvest(module)
    with tempfile.TemporaryDirectory(prefix="pairsmith-harvest-") as folder:
        connection, process = _start(path, Path(folder), headers, _run_s(timeout_s) if run else 0)
        try:
            for message in _messages(connection, process, timeout_s, stop or Event()):
                _take(harvest, message)
        finally:
            _end(process)
            connection.close()
    return harvest


def _start(
    path: Path, folder: Path, headers: Path, run_s: float
) -> tuple[Connection, subprocess.Popen[bytes]]:
    connection, child = Pipe(duplex=True)
    with child:
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", _START),
                *(str(child.fileno()), str(headers), str(path), str(run_s)),
            ],
            pass_fds=[child.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
        )
    return connection, process


def _run_s(timeout_s: float) -> float:
    """How long a run of one kernel may take: the child must answer for it in time."""
    return min(_RUN_S, timeout_s / 2)


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _NO_DISPLAY}
    paths = [str(Path(p).resolve()) for p in sys.path if p]
    return kept | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "Agg",
        "WARP_CACHE_PATH": str(folder / "cache"),
        "TMPDIR": str(folder),
    }


def _messages(
    connection: Connection, process: subprocess.Popen[bytes], timeout_s: float, stop: Event
) -> Iterator[dict[str, Any]]:
    """The child's messages; the last is ``done`` or ``failed``, if need be one of ours."""
    limit_s = timeout_s + _START_S
    while True:
        if not _arrives(connection, limit_s, stop):
            yield {"event": "failed", "reason": f"no sign of life for {timeout_s:g} s"}
            return
        try:
            message: dict[str, Any] = json.loads(connection.recv_bytes())
        except (EOFError, ConnectionResetError):
            yield {"event": "failed", "reason": f"its process ended with {_how(process)}"}
            return
        limit_s = timeout_s
        if message["event"] == "bug":
            raise RuntimeError(f"the harvest worker failed:\n{message['trace']}")
        if message["event"] == "started":
            continue
        yield message
        if message["event"] in ("done", "failed"):
            return


def _arrives(connection: Connection, limit_s: float, stop: Event) -> bool:
    """Whether the next message comes in time; not when the harvest is to stop."""
    end_s = time.monotonic() + limit_s
    while not stop.is_set() and time.monotonic() < end_s:
        if connection.poll(min(_LOOK_S, limit_s)):
            return True
    return False


def _take(harvest: Harvest, message: dict[str, Any]) -> None:
    event = message["event"]
    if event == "found":
        harvest.kernels = [(name, line) for name, line in message["kernels"]]
        harvest.left = [(name, reason) for name, reason in message["left"]]
    elif event == "kernel":
        harvest.answers.append(message)
    elif event == "failed":
        harvest.failed = message["reason"]


def _how(process: subprocess.Popen[bytes]) -> str:
    code = process.wait()
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the child and what it started: all of its session."""
    with suppress(ProcessLookupError):  # when it has ended, and all that it started
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
