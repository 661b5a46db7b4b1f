"""The child process that runs rows on one GPU: `python -m validate.gpu.worker FD FOLDER`.

It answers each row of a batch as soon as it is done. A kernel that crashes, hangs or breaks the
device's context takes this process with it, and `validate.gpu.runner` starts the next.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from validate.gpu.answer import time_answer
from validate.gpu.bench import bench_row
from validate.gpu.case import Case
from validate.gpu.cubins import CubinStore
from validate.gpu.device import devices, load_cupy
from validate.gpu.launch import LaunchFailed
from validate.gpu.result import Spent, TextResult, told
from validate.gpu.tune import tune_row
from validate.process.child import WorkerChild, work_where_nothing_lies

Row = Mapping[str, Any]


class Worker(WorkerChild):
    """Runs a batch of rows; each is answered as soon as it is done."""

    def start(self) -> None:
        work_where_nothing_lies(self.folder)
        (self.device,) = devices()

    def answer(self, batch: Mapping[str, Any]) -> None:
        store = self._store(batch, self.device.arch)
        for row in batch["rows"]:
            try:
                answer = self._answer(row, store, batch)
            except LaunchFailed as failed:
                # The context is broken: whatever ran next in it would fail as well.
                self.send(event="lost", reason=str(failed))
                raise SystemExit(1) from None
            self.send(event="row", device=self.device.uuid, **answer)

    def _answer(self, row: Row, store: CubinStore, batch: Mapping[str, Any]) -> dict[str, Any]:
        if batch["answers"]:
            return _answered(row, self.device.arch)
        if batch["tune"]:
            return _tuned(row, store, Path(batch["tune"]))
        return _timed(row, store) if batch["bench"] else self._run(row, store, batch)

    def _run(self, row: Row, store: CubinStore, batch: Mapping[str, Any]) -> dict[str, Any]:
        case = Case(row, store, batch["large_elements"], batch["texts"])
        results = case.run(lambda: self.send(event="loaded"))
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


def _answered(row: Row, arch: str) -> dict[str, Any]:
    result, timings = TextResult("answer"), []
    with told(result):
        timing = time_answer(row, arch, result)
        timings = [] if timing is None else [asdict(timing)]
    load_cupy().get_default_memory_pool().free_all_blocks()
    return {"results": [asdict(result)], "timings": timings, "spent": asdict(Spent())}


def _tuned(row: Row, store: CubinStore, lock: Path) -> dict[str, Any]:
    result, trials = TextResult("tune"), []
    with told(result):
        trials = [asdict(trial) for trial in tune_row(row, store, lock)]
    # Other processes hold arrays as large.
    load_cupy().get_default_memory_pool().free_all_blocks()
    answer = {"results": [asdict(result)], "timings": [], "spent": asdict(Spent())}
    return {**answer, "trials": trials}


def main() -> None:
    """Serve the socket named on the command line; the second argument is a folder to work in."""
    Worker(Connection(int(sys.argv[1])), Path(sys.argv[2])).serve()


if __name__ == "__main__":
    main()
