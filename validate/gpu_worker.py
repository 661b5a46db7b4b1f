"""The child process that runs rows on one GPU: `python -m validate.gpu_worker FD FOLDER`.

It answers each row of a batch as soon as it is done. A kernel that crashes, hangs or breaks the
device's context takes this process with it, and `validate.gpu` starts the next.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from validate.bench import bench_row
from validate.cubins import CubinStore
from validate.errors import CompileUnavailable, GpuUnavailable
from validate.gpu_case import Case
from validate.gpu_device import Device, devices, load_cupy
from validate.gpu_launch import LaunchFailed
from validate.gpu_result import Spent, TextResult, told

Row = Mapping[str, Any]


class Worker:
    """Answers batches until the other end of the connection closes."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self.connection, self.folder = connection, folder
        self.devices: list[Device] = []
        # Quoted includes look in the working directory first; here they find nothing.
        empty = folder / "empty"
        empty.mkdir(exist_ok=True)
        os.chdir(empty)
        log = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - open for the process's life
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)

    def serve(self) -> None:
        """Answer batches. An error of ours is sent with its traceback, and ends the process."""
        try:
            self.devices = devices()
            self._send(event="ready")
            while (batch := self._receive()) is not None:
                self._answer(batch)
        except (GpuUnavailable, CompileUnavailable) as error:
            self._send(event="unavailable", error=type(error).__name__, reason=str(error))
        except LaunchFailed as failed:
            # The context is broken: whatever ran next in it would fail as well.
            self._send(event="lost", reason=str(failed))
        except Exception:
            self._send(event="error", trace=traceback.format_exc())
            raise

    def _receive(self) -> dict[str, Any] | None:
        try:
            message: dict[str, Any] = json.loads(self.connection.recv_bytes())
        except (EOFError, ConnectionResetError):
            return None
        return message

    def _send(self, **message: Any) -> None:
        self.connection.send_bytes(json.dumps(message).encode())

    def _answer(self, batch: Mapping[str, Any]) -> None:
        device = self.devices[batch["device"]]
        store = self._store(batch, device.arch)
        # No context manager: leaving one asks a device whose context broke, and hides why.
        load_cupy().cuda.Device(device.index).use()
        for row in batch["rows"]:
            answer = _timed(row, store) if batch["bench"] else self._run(row, store, batch)
            self._send(event="row", device=device.uuid, **answer)

    def _run(self, row: Row, store: CubinStore, batch: Mapping[str, Any]) -> dict[str, Any]:
        case = Case(row, store, batch["large_elements"], batch["texts"])
        results = case.run(lambda: self._send(event="loaded"))
        return {
            "results": [asdict(result) for result in results],
            "timings": [],
            "spent": asdict(case.spent),
        }

    def _store(self, batch: Mapping[str, Any], arch: str) -> CubinStore:
        headers = self.folder / "pch"
        headers.mkdir(exist_ok=True)
        kept = Path(batch["cubins"]) if batch["cubins"] else None
        return CubinStore(arch, Path(batch["include_dir"]), kept, headers)


def _timed(row: Row, store: CubinStore) -> dict[str, Any]:
    result, timings = TextResult("bench"), []
    with told(result):
        timings = [asdict(timing) for timing in bench_row(row, store)]
    return {"results": [asdict(result)], "timings": timings, "spent": asdict(Spent())}


def main() -> None:
    """Serve the socket named on the command line; the second argument is a folder to work in."""
    Worker(Connection(int(sys.argv[1])), Path(sys.argv[2])).serve()


if __name__ == "__main__":
    main()
