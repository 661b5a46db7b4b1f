"""A child process that works for its parent: the other side of `validate.process.parent`."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import traceback
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from validate.errors import (
    CompileUnavailable,
    GpuUnavailable,
    HostRunUnavailable,
    MachineFault,
    OpenclUnavailable,
)
from validate.process.machine import LAST_ROOM_BYTES, fault_line, require_room

_MISSING = (
    HostRunUnavailable,
    CompileUnavailable,
    GpuUnavailable,
    OpenclUnavailable,
    MachineFault,
)


class WorkerChild:
    """Answers messages until the other end of the connection closes.

    What compilers and kernels print goes to `log`, a file: neither may reach the caller's streams.
    """

    def __init__(self, connection: Connection, folder: Path) -> None:
        self.connection, self.folder = connection, folder
        self.log = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - open for the process's life
        os.dup2(self.log.fileno(), 1)
        os.dup2(self.log.fileno(), 2)

    def start(self) -> None:
        """Find what the work needs; raise one of `validate.errors` when it is missing."""
        raise NotImplementedError

    def answer(self, message: Mapping[str, Any]) -> None:
        """Work on a message and `send` what comes of it."""
        raise NotImplementedError

    def serve(self) -> None:
        """Answer messages. An error of ours is sent with its traceback, and ends the process."""
        try:
            self.start()
            self.send(event="ready")
            while (message := self._receive()) is not None:
                self.answer(message)
        except _MISSING as error:
            self.send(event="unavailable", error=type(error).__name__, reason=str(error))
        except Exception as error:
            if (line := fault_line(error)) is None:
                self.send(event="error", trace=traceback.format_exc())
                raise
            self.send(event="unavailable", error=MachineFault.__name__, reason=line)

    def require_room(self) -> None:
        """To be called before a text is blamed: `MachineFault` where the disk is full."""
        require_room(self.folder, LAST_ROOM_BYTES)

    def send(self, **message: Any) -> None:
        """Send a message to the parent."""
        self.connection.send_bytes(json.dumps(message).encode())

    def _receive(self) -> dict[str, Any] | None:
        try:
            message: dict[str, Any] = json.loads(self.connection.recv_bytes())
        except (EOFError, ConnectionResetError):
            return None
        return message


def work_where_nothing_lies(folder: Path) -> None:
    """Change into an empty folder: quoted includes look in the working directory first."""
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    os.chdir(empty)


def limit_files(most_bytes: int) -> None:
    """Bound the files that this process and those that it forks may write; no core dumps."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))


def limit_memory(more_bytes: int) -> None:
    """Allow so much memory on top of what is mapped now; only Linux says how much that is."""
    if sys.platform != "linux":
        return
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + more_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
