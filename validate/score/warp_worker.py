"""The child process that runs Warp's texts, for what is wanted of kernels without a reference."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from validate.host import clang
from validate.host.alone import build, prepare
from validate.host.launch import BadRow, Endless, Entry, launch
from validate.host.memory import Arena, Watch, arrays_of, damage, written_arrays
from validate.process.child import WorkerChild, limit_files
from validate.row.inputs import Array
from validate.score.wanted import from_bytes, to_bytes

_FILE_BYTES = 1 << 26
_MOST_KEPT = 64


class Worker(WorkerChild):
    """Runs one text a message, on the inputs of the message after it."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        super().__init__(connection, folder)
        self._entries: dict[str, Entry] = {}
        self._prepared: set[int] = set()

    def start(self) -> None:
        clang.start()
        limit_files(_FILE_BYTES)

    def answer(self, message: Mapping[str, Any]) -> None:
        inputs = from_bytes(self.connection.recv_bytes())
        try:
            outputs = self._outputs(message["row"], message["dim"], inputs)
        except (clang.CompileError, clang.LoadError, BadRow, Endless, _Damaged) as error:
            self.send(event="result", reason=str(error) or type(error).__name__)
            return
        self.send(event="result", reason="")
        self.connection.send_bytes(to_bytes(outputs))

    def _outputs(
        self, row: Mapping[str, Any], dim: list[int], inputs: Mapping[str, Array]
    ) -> dict[str, Array]:
        entry, args = self._entry(row), row["args"]
        arena = Arena(arrays_of(args, inputs))
        watch = Watch(arena)
        launch(entry, dim, arena.parameters(args, inputs), watch)
        if (trouble := damage(args, arena, watch)) is not None:
            raise _Damaged(": ".join(map(str, trouble)))
        return written_arrays(args, arena)

    def _entry(self, row: Mapping[str, Any]) -> Entry:
        """The compiled text; kept, for a row is run at many shapes."""
        key = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()
        if key not in self._entries:
            block = row["launch"]["block_dim"]
            if block not in self._prepared:
                prepare(self.folder, block)
                self._prepared.add(block)
            if len(self._entries) == _MOST_KEPT:
                oldest = next(iter(self._entries))
                del self._entries[oldest]
                clang.unload(oldest)
            self._entries[key] = build(row, self.folder, key)
        return self._entries[key]


class _Damaged(Exception):  # noqa: N818 - what a kernel did, and no bug
    """The text touched what it must not."""


def main() -> None:
    """Serve the socket named on the command line; the second argument is a folder to work in."""
    Worker(Connection(int(sys.argv[1])), Path(sys.argv[2])).serve()
