"""The child process that builds and runs OpenCL C: a text that crashes ends it, and no more."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from validate.opencl.case import run_row
from validate.opencl.device import Cpu
from validate.process.child import WorkerChild, limit_files

_FILE_BYTES = 1 << 28


class Worker(WorkerChild):
    """Runs one row a message; of an empty one it says what runs."""

    def start(self) -> None:
        self.cpu = Cpu(self.folder)

    def answer(self, message: Mapping[str, Any]) -> None:
        if not message:
            self.send(event="runtime", runtime=self.cpu.name)
            return
        finding = run_row(message["row"], self.cpu)
        self.require_room()
        self.send(event="result", **asdict(finding))


def main() -> None:
    """Serve the socket named on the command line; the second argument is a folder to work in."""
    limit_files(_FILE_BYTES)
    Worker(Connection(int(sys.argv[1])), Path(sys.argv[2])).serve()
