"""The child process that compiles: one program a message, one answer each.

A compiler that crashes, hangs or eats memory takes this process with it, and
`validate.nvrtc.compiler` starts the next.
"""

from __future__ import annotations

import base64
import hashlib
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from validate.nvrtc import program as nvrtc_program
from validate.process.child import WorkerChild, work_where_nothing_lies
from validate.statuses import CompileStatus
from validate.text import plain as plain_unit
from validate.text import ptx
from validate.text.headers import warp_include_dir
from validate.text.warp_program import entry_names, program

_FILE_BYTES = 1 << 30

PLAIN_GOALS = {"plain": "check", "plain_ptx": "ptx", "plain_lowered": "lowered"}
"""Goals for plain CUDA, and what each asks of the compiler."""

LOWERED_GOALS = ("lowered", "plain_lowered")
"""Goals of which PTX, log and machine code (in base64) of a row alone are the answer."""

ANSWER_GOALS = {"answers": "check", "answer_machine": "machine"}
"""Goals for texts of strangers: each row of the message is one whole program."""


class Worker(WorkerChild):
    """Compiles one program a message."""

    def start(self) -> None:
        work_where_nothing_lies(self.folder)
        nvrtc_program.load()

    def answer(self, message: Mapping[str, Any]) -> None:
        self.send(**self._answer(message))

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        _limit_memory(message["memory_bytes"])
        rows, goal, arch = message["rows"], message["goal"], message["arch"]
        if goal in ANSWER_GOALS:
            return _answers_built(rows, arch, ANSWER_GOALS[goal])
        if goal in PLAIN_GOALS:
            text = plain_unit.cuda_program(rows)
            built = nvrtc_program.build_plain(text, arch, PLAIN_GOALS[goal])
        else:
            built = self._build(message)
        if built.text is None:
            status = (
                CompileStatus.OUT_OF_MEMORY if built.out_of_memory else CompileStatus.COMPILE_ERROR
            )
            return {"event": status, "log": built.log}
        if goal in LOWERED_GOALS:
            image = base64.b64encode(built.image).decode()
            return {"event": "built", "rows": [[built.text, built.log, image]]}
        return {"event": "built", "rows": _shares(rows, goal, built)}

    def _build(self, message: Mapping[str, Any]) -> nvrtc_program.Built:
        rows, goal, arch = message["rows"], message["goal"], message["arch"]
        if goal == "check" and any(map(nvrtc_program.is_long, rows)):
            goal = "check_long"
        include_dir = Path(message["include_dir"] or warp_include_dir())
        pch_dir = self._pch_dir(goal, arch, rows[0]["cuda_prologue"])
        return nvrtc_program.build(program(rows), arch, goal, include_dir, pch_dir)

    def _pch_dir(self, goal: str, arch: str, prologue: str) -> Path:
        key = hashlib.sha256(f"{goal} {arch} {prologue}".encode()).hexdigest()[:16]
        folder = self.folder / f"pch_{key}"
        folder.mkdir(exist_ok=True)
        return folder


def _answers_built(rows: Sequence[Mapping[str, Any]], arch: str, goal: str) -> dict[str, Any]:
    """What comes of one program: PTX, or what ptxas said."""
    (row,) = rows
    built = nvrtc_program.build_answers(
        row["program"], arch, goal, row["name_expressions"], row["small"]
    )
    if built.text is None:
        status = CompileStatus.OUT_OF_MEMORY if built.out_of_memory else CompileStatus.COMPILE_ERROR
        return {"event": status, "log": built.log}
    return {"event": "built", "rows": [built.log if goal == "machine" else built.text]}


def _shares(rows: Sequence[Mapping[str, Any]], goal: str, built: nvrtc_program.Built) -> list[Any]:
    """What the build says of each row; None where a kernel of the row is not in it."""
    assert built.text is not None
    if goal in PLAIN_GOALS:
        return _plain_shares(rows, goal, built.text)
    names = [entry_names(rows, position) for position in range(len(rows))]
    if goal == "machine":
        used = ptx.resources(built.log)
        return [used.get(own[0]) for own in names]
    if goal == "check":
        there = ptx.entries(built.text)
        return [[name for name in own if name not in there] for own in names]
    module = ptx.Module(built.text)
    return [module.normalised(own[0]) for own in names]


def _plain_shares(rows: Sequence[Mapping[str, Any]], goal: str, text: str) -> list[Any]:
    entries = [plain_unit.cuda_entries(rows, position) for position in range(len(rows))]
    if goal == "plain_ptx":
        module = ptx.Module(text)
        parts = [[module.normalised(name) for name in names] for names in entries]
        return ["\n".join(map(str, own)) if all(own) else None for own in parts]
    there = ptx.entries(text)
    return [[name for name in names if name not in there] for names in entries]


def _limit() -> None:
    """Bound the files of this process."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))


def _limit_memory(memory_bytes: int) -> None:
    import resource

    # macOS has this limit but does not keep it.
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard != resource.RLIM_INFINITY:
            memory_bytes = min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, hard))


def main() -> None:
    """Serve the socket named on the command line; the second argument is a folder to work in."""
    _limit()
    Worker(Connection(int(sys.argv[1])), Path(sys.argv[2])).serve()


if __name__ == "__main__":
    main()
