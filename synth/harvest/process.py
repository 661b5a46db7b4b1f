"""One child process for files of a user's, seen from its parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from synth.harvest.places import ModuleFile, homes
from synth.harvest.wire import Garbled, Reader

# Importing Warp takes under a second alone, many on a crowded machine.
_START_S = 60.0
_LOOK_S = 0.5
_RUN_S = 20.0
_END_S = 10.0
# Not `-m`: that would import modules of these names from the working directory.
_START = "from synth.harvest.supervise import main; main()"
_NO_DISPLAY = ("DISPLAY", "WAYLAND_DISPLAY", "PYTHONSTARTUP")


@dataclass
class Harvest:
    """What one file gave.

    Attributes:
        module: its dotted name.
        failed: why the file could not be harvested to its end; "" when it could.
        missing: the first name of the module that its import lacked; "" when it lacked none.
        kernels: (name, line) of each concrete kernel found.
        answers: of the first of these, how far each came; fewer when the child did not last.
        left: (name, reason) of what is no concrete kernel.
    """

    module: str
    failed: str = ""
    missing: str = ""
    kernels: list[tuple[str, int]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Terms:
    """How children are to work: ``headers`` keeps precompiled headers between them, ``run`` asks
    for runs, ``timeout_s`` is how long one may give no sign, ``stop`` ends the harvest early."""

    headers: Path
    run: bool
    timeout_s: float
    stop: Event = field(default_factory=Event)

    @property
    def run_s(self) -> float:
        """How long a run of one kernel may take: the child must answer for it in time."""
        return min(_RUN_S, self.timeout_s / 2) if self.run else 0.0


def harvest_files(
    files: Sequence[ModuleFile],
    terms: Terms,
    progress: Callable[[str], None] = lambda _module: None,
) -> list[Harvest]:
    """Import files of one package in a child process and collect the kernels of those wanted.

    The files' code is executed. The child has no display, works in a folder of its own, and is
    killed with all that it started when it gives no sign in time. When it ends before its work, the
    module that it was at has failed, and another child goes on without it. RuntimeError for a bug
    of ours.
    """
    done: dict[str, Harvest] = {}
    rest = list(files)
    while any(file.wanted for file in rest) and not terms.stop.is_set():
        attempt = _Attempt(terms.timeout_s, done, progress)
        attempt.run(rest, terms)
        rest = [
            ModuleFile(f.module, f.path, f.root, f.wanted and f.module not in done)
            for f in rest
            if f.module != attempt.fatal
        ]
    return [done[file.module] for file in files if file.wanted and file.module in done]


class _Attempt:
    """One child's work. ``fatal`` is the module that it did not survive, "" when it did."""

    def __init__(
        self, timeout_s: float, done: dict[str, Harvest], progress: Callable[[str], None]
    ) -> None:
        self._timeout_s, self._done, self._progress = timeout_s, done, progress
        self._at = Harvest("")
        self._wanted: set[str] = set()
        self.fatal = ""

    def run(self, files: Sequence[ModuleFile], terms: Terms) -> None:
        self._wanted = {file.module for file in files if file.wanted}
        self._at = Harvest(files[0].module)
        with tempfile.TemporaryDirectory(prefix="pairsmith-harvest-") as folder:
            number, process = _start(files, Path(folder), terms)
            try:
                reason = self._listen(Reader(number), terms.stop)
            finally:
                os.close(number)
                _end(process)
        if reason:
            self._at.failed, self.fatal = reason, self._at.module
            self._finish()

    def _listen(self, reader: Reader, stop: Event) -> str:
        """Take in messages to the end; why that came before the work was done, else ""."""
        limit_s = self._timeout_s + _START_S
        while True:
            try:
                message = _next(reader, limit_s, stop)
            except Garbled:
                return "it wrote to descriptors that are not its own"
            except EOFError:
                return "its process was killed with the one that watches it"
            if stop.is_set():
                return "the harvest was stopped"
            if message is None:
                return f"no sign of life for {self._timeout_s:g} s"
            limit_s = self._timeout_s
            if message["event"] == "ended":
                return str(message["how"])
            if message["event"] == "finished":
                return ""
            self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        event = message["event"]
        if event == "bug":
            raise RuntimeError(f"the harvest worker failed:\n{message['trace']}")
        if event in ("importing", "finding"):
            self._at = Harvest(message["module"])
        elif event == "found":
            self._at.kernels = [(name, line) for name, line in message["kernels"]]
            self._at.left = [(name, reason) for name, reason in message["left"]]
        elif event == "kernel":
            self._at.answers.append(message)
        elif event == "failed":
            self._at.failed, self._at.missing = message["reason"], message["missing"]
            self._finish()
        elif event == "done":
            self._finish()

    def _finish(self) -> None:
        if self._at.module in self._wanted:
            self._done[self._at.module] = self._at
            self._progress(self._at.module)


def _next(reader: Reader, limit_s: float, stop: Event) -> dict[str, Any] | None:
    """The next message; None when none comes in time, or the harvest is to stop."""
    end_s = time.monotonic() + limit_s
    while not stop.is_set() and time.monotonic() < end_s:
        message = reader.receive(min(_LOOK_S, limit_s))
        if message is not None:
            return message
    return None


def _start(
    files: Sequence[ModuleFile], folder: Path, terms: Terms
) -> tuple[int, subprocess.Popen[bytes]]:
    order = folder / "order.json"
    order.write_text(
        json.dumps(
            {
                "files": [{**asdict(f), "path": str(f.path), "root": str(f.root)} for f in files],
                "homes": [str(home) for home in homes(files)],
                "headers": str(terms.headers),
                "run_s": terms.run_s,
            }
        )
    )
    work = folder / "work"
    work.mkdir()
    reader, writer = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _START, str(writer), str(order)],
            pass_fds=[writer],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=work,
            env=_environment(work),
            start_new_session=True,
        )
    finally:
        os.close(writer)
    return reader, process


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


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let the supervisor kill all that its child started, and end."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_S)
        return
    with suppress(ProcessLookupError):  # a module has stopped its supervisor
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
