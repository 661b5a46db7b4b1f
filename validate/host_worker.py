"""The child process that compiles and runs batches of rows: `python -m validate.host_worker FD`.

It reads batches (JSON) from the socket FD and answers each with one message for the compilation
and, when that went well, one per row in order. A kernel that crashes or hangs takes this process
with it, and `validate.host` starts the next.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from validate import clang
from validate.errors import HostRunUnavailable
from validate.host_launch import MEMORY_BYTES
from validate.host_texts import Cases, Kept, PlainCases, ScoreCases, WarpCases

_LOG_CHARACTERS = 4000
_FILE_BYTES = 1 << 28


class Worker:
    """Answers batches until the other end of the connection closes."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self.connection = connection
        self.folder = folder
        self.batches = 0
        kept = Kept()
        self.texts: dict[str, Cases] = {
            "warp": WarpCases(folder, kept),
            "plain": PlainCases(kept),
            "score": ScoreCases(kept),
        }
        # What compilers and kernels print goes to a file: neither may reach the caller's streams.
        self.log = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - open for the process's life
        os.dup2(self.log.fileno(), 1)
        os.dup2(self.log.fileno(), 2)

    def serve(self) -> None:
        """Answer batches. An error of ours is sent with its traceback, and ends the process."""
        try:
            clang.start()
            _limit_memory()
            self._send(event="ready")
            while (batch := self._receive()) is not None:
                self._answer(batch)
        except HostRunUnavailable as error:
            self._send(event="unavailable", reason=str(error))
        except Exception:
            self._send(event="error", trace=traceback.format_exc())
            raise

    def _receive(self) -> dict[str, Any] | None:
        try:
            batch: dict[str, Any] = json.loads(self.connection.recv_bytes())
        except (EOFError, ConnectionResetError):
            return None
        return batch

    def _send(self, **message: Any) -> None:
        self.connection.send_bytes(json.dumps(message).encode())

    def _answer(self, batch: Mapping[str, Any]) -> None:
        rows = batch["rows"]
        include_dir = Path(batch["include_dir"] or clang.default_include_dir())
        self.batches += 1
        handle = f"pairsmith_{self.batches}"
        obj_path = self.folder / f"{handle}.o"
        self.log.truncate(0)
        cases = self.texts[batch["text"]]
        try:
            cases.build(rows, obj_path, include_dir)
            entries = _load(obj_path, handle, rows, cases)
        except (clang.CompileError, clang.LoadError) as error:
            self._send(event="compile_error", log=f"{self._log_text(include_dir)}{error}")
            return
        finally:
            obj_path.unlink(missing_ok=True)
        self._send(event="compiled")
        for row, entry in zip(rows, entries, strict=True):
            self._send(event="result", **asdict(cases.run(row, entry)))
        clang.unload(handle)

    def _log_text(self, include_dir: Path) -> str:
        self.log.seek(0)
        text = self.log.read(1 << 20).decode(errors="replace").replace("\0", "")
        return text.replace(str(include_dir), "include")[:_LOG_CHARACTERS]


def _load(
    obj_path: Path, handle: str, rows: Sequence[Mapping[str, Any]], cases: Cases
) -> list[Any]:
    """Load an object file; what `cases` calls for every row."""
    clang.load(obj_path, handle)
    try:
        return [cases.entry(handle, position, row) for position, row in enumerate(rows)]
    except clang.LoadError:
        clang.unload(handle)
        raise


def _limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))


def _limit_memory() -> None:
    """Allow MEMORY_BYTES on top of what Warp has mapped; only Linux says how much that is."""
    if sys.platform != "linux":
        return
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main() -> None:
    """Serve the socket named on the command line; the second argument is a folder to work in."""
    _limit_files()
    Worker(Connection(int(sys.argv[1])), Path(sys.argv[2])).serve()


if __name__ == "__main__":
    main()
