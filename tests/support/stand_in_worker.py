"""Stands in for `validate.gpu.worker` where there is no GPU: a row says what becomes of it.

`behaves` is well, lost (its context breaks), crash, hang, bug, or missing (no GPU). A row in whose
`spoils` a text is named misbehaves for that text alone. An answer takes 12.5 microseconds, is wrong
where its text has the word WRONG, and crashes with CRASH.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from validate.errors import GpuUnavailable
from validate.process.child import WorkerChild

HANGS = "hangs"
"""A file in its folder, by which a process says that it hangs: no clock tells of it soon enough on
one machine and late enough on another."""


class StandIn(WorkerChild):
    def start(self) -> None:
        pass

    def answer(self, message: Mapping[str, Any]) -> None:
        for row in message["rows"]:
            if message["answers"]:
                self._time(row)
                continue
            if row["spoils"] in message["texts"]:
                self._misbehave(row["behaves"])
            self.send(event="loaded")
            results = [{"text": text, "status": "passed"} for text in message["texts"]]
            self.send(event="row", device="GPU-0", results=results, timings=[], spent={})

    def _time(self, row: Mapping[str, Any]) -> None:
        if "CRASH" in row["program"]:
            os._exit(3)
        result, timings = {"text": "answer", "status": "passed"}, []
        if "WRONG" in row["program"]:
            result |= {"status": "wrong_value", "reason": "y[0] is wrong"}
        else:
            sizes = ",".join(f"{name}={size}" for name, size in row["timed_sizes"].items())
            times = {"repeats": 1, "median_us": 12.5, "min_us": 12.5, "spread_us": 0.0}
            timings = [{"contender": "answer", "elements": 1, "sizes": sizes, **times}]
        self.send(event="row", device="GPU-0", results=[result], timings=timings, spent={})

    def _misbehave(self, how: str) -> None:
        if how == "missing":
            raise GpuUnavailable("no GPU to run on")
        if how == "bug":
            raise ZeroDivisionError("a bug of ours")
        if how == "hang":
            (self.folder / HANGS).touch()
            time.sleep(600)
        if how == "crash":
            os._exit(3)
        self.send(event="lost", reason="an illegal memory access")
        raise SystemExit(1)


def main() -> None:
    StandIn(Connection(int(sys.argv[1])), Path(sys.argv[2])).serve()
