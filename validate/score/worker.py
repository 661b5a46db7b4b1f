"""The child process that runs answers: it forks one process for each and keeps nothing of them."""

from __future__ import annotations

import gc
import hashlib
import json
import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from validate.host import clang
from validate.host.launch import MEMORY_BYTES
from validate.host.plain_link import Linker
from validate.host.stranger_case import Case, Ran, Trial, run_apart
from validate.process.child import WorkerChild, limit_files, limit_memory
from validate.row.edges import with_edges
from validate.row.inputs import draw_trial_inputs
from validate.statuses import ScoreStatus

_MOST_KEPT, _MOST_KEPT_BYTES = 48, 256 << 20
"""Rows whose inputs are kept, and bytes of these: what a text may take comes on top."""
_LOG_CHARACTERS = 4000
_FILE_BYTES = 1 << 26
_WARM_UP = {
    "cuda_plain": 'extern "C" __global__ void warm_up(float* out) { out[threadIdx.x] = 1.0f; }',
    "plain_launch": {"grid": ["1"], "block": [1], "shared_bytes": 0},
}


class Worker(WorkerChild):
    """Runs one answer a message."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        super().__init__(connection, folder)
        self._trials: OrderedDict[str, list[Trial]] = OrderedDict()

    def start(self) -> None:
        clang.start()
        self._linker = Linker(self.folder)
        # What a first compilation sets up is inherited by those that are forked.
        warm = self.folder / "warm_up.o"
        self._linker.build([_WARM_UP], warm)
        warm.unlink()
        limit_files(_FILE_BYTES)
        limit_memory(MEMORY_BYTES)
        gc.freeze()

    def answer(self, message: Mapping[str, Any]) -> None:
        self.log.seek(0)
        self.log.truncate(0)
        case = Case(message["row"], self._trials_of(message), message["own"])
        try:
            ran = run_apart(case, self._linker, self.folder)
        except clang.CompileError as error:
            self.log.seek(0)
            log = self.log.read(1 << 20).decode(errors="replace").replace("\0", "")
            ran = Ran(ScoreStatus.COMPILE_ERROR, f"{log[:_LOG_CHARACTERS]}{error}")
        self.send(event="result", number=message["number"], status=ran.status, reason=ran.reason)
        self.connection.send_bytes(ran.answer)

    def _trials_of(self, message: Mapping[str, Any]) -> list[Trial]:
        """The trials of a message with their inputs; kept, since answers to a row share them."""
        row = message["row"]
        about = json.dumps([row["id"], row["args"], message["trials"]], sort_keys=True)
        key = hashlib.sha256(about.encode()).hexdigest()
        if key not in self._trials:
            self._trials[key] = [_trial(row["args"], trial) for trial in message["trials"]]
        self._trials.move_to_end(key)
        self._forget()
        return self._trials[key]

    def _forget(self) -> None:
        """Let go of the inputs that were used longest ago; those of the last row stay."""
        held = sum(map(_bytes_of, self._trials.values()))
        while len(self._trials) > 1 and (len(self._trials) > _MOST_KEPT or held > _MOST_KEPT_BYTES):
            _, trials = self._trials.popitem(last=False)
            held -= _bytes_of(trials)


def _bytes_of(trials: Sequence[Trial]) -> int:
    """Bytes of the inputs of trials."""
    return sum(getattr(value, "nbytes", 0) for trial in trials for value in trial.inputs.values())


def _trial(args: Sequence[Mapping[str, Any]], said: Mapping[str, Any]) -> Trial:
    inputs = {}
    if not said["skipped"]:
        drawn = with_edges(args, said["edge"]) if said["edge"] else args
        inputs = draw_trial_inputs(drawn, said["sizes"], said["input_seed"], said["starts"])
    limits = {key: said[key] for key in ("watched", "most_steps", "optional", "skipped", "turns")}
    return Trial(said["sizes"], inputs, **limits)


def main() -> None:
    """Serve the socket named on the command line; the second argument is a folder to work in."""
    Worker(Connection(int(sys.argv[1])), Path(sys.argv[2])).serve()
