"""The child process that compiles and runs batches of rows: `python -m validate.host.worker FD`.

It reads batches (JSON) from the socket FD and answers each with one message for the compilation
and, when that went well, one per row in order. A kernel that crashes or hangs takes this process
with it, and `validate.host.runner` starts the next.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from validate.host import clang
from validate.host.launch import MEMORY_BYTES
from validate.host.texts import Cases, GradientCases, Kept, PlainCases, WarpCases
from validate.process.child import WorkerChild, limit_files, limit_memory
from validate.statuses import RunStatus
from validate.text.headers import warp_include_dir

_LOG_CHARACTERS = 4000
_FILE_BYTES = 1 << 28


class Worker(WorkerChild):
    """Compiles a batch of rows, loads it and runs it."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        super().__init__(connection, folder)
        self.batches = 0
        kept = Kept()
        self.texts: dict[str, Cases] = {
            "warp": WarpCases(folder, kept),
            "plain": PlainCases(folder, kept),
            "gradient": GradientCases(folder, kept),
        }

    def start(self) -> None:
        clang.start()
        limit_memory(MEMORY_BYTES)

    def answer(self, batch: Mapping[str, Any]) -> None:
        rows = batch["rows"]
        include_dir = Path(batch["include_dir"] or warp_include_dir())
        self.batches += 1
        handle = f"pairsmith_{self.batches}"
        obj_path = self.folder / f"{handle}.o"
        self.log.truncate(0)
        cases = self.texts[batch["text"]]
        try:
            cases.build(rows, obj_path, include_dir)
            entries = _load(obj_path, handle, rows, cases)
        except (clang.CompileError, clang.LoadError) as error:
            self.require_room()
            self.send(event=RunStatus.COMPILE_ERROR, log=f"{self._log_text(include_dir)}{error}")
            return
        finally:
            obj_path.unlink(missing_ok=True)
        self.send(event="compiled")
        for row, entry in zip(rows, entries, strict=True):
            self.send(event="result", **asdict(cases.run(row, entry)))
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
        cases.loaded(handle)
        return [cases.entry(handle, position, row) for position, row in enumerate(rows)]
    except clang.LoadError:
        clang.unload(handle)
        raise


def main() -> None:
    """Serve the socket named on the command line; the second argument is a folder to work in."""
    limit_files(_FILE_BYTES)
    Worker(Connection(int(sys.argv[1])), Path(sys.argv[2])).serve()


if __name__ == "__main__":
    main()
