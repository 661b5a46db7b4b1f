"""A folder of judged texts for a GPU machine: what is in it, written and read.

`texts.jsonl` has one text a line: `number`, `name`, `row` (a key of `rows.jsonl`), `code`,
`prelude` (a position in `preludes.json`), `kernel` (its name in C++), `launch`, and what the host
says, `status` and `reason`. `rows.jsonl` has the columns of a row that are needed to launch, its
`starts`, and its `trials`: `sizes`, `input_seed`, `oracle`, `what`, `row_starts`, `edge`.
`wanted.npz` has what the reference wants, as KEY/TRIAL/OUTPUT. Of validate, reading needs NumPy
alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from validate.row.inputs import Array
from validate.score.hidden import Draw, Trial
from validate.score.judge import Judge

TEXTS, ROWS, PRELUDES, WANTED, GPU = (
    *("texts.jsonl", "rows.jsonl", "preludes.json"),
    *("wanted.npz", "gpu.jsonl"),
)
_COLUMNS = ("id", "kernel_name", "args", "sizes", "launch", "plain_args", "plain_launch")

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Job:
    """One text, as `texts.jsonl` has it, with the prelude's own text."""

    number: int
    name: str
    row: str
    code: str
    prelude: str
    kernel: str
    launch: Mapping[str, Any]
    status: str
    reason: str

    @property
    def program(self) -> str:
        """What a device's compiler is given."""
        return f'{self.prelude}\n#line 1 "answer"\n{self.code}\n'


def write_folder(
    folder: Path,
    jobs: Sequence[Job],
    rows: Mapping[str, tuple[Row, Draw]],
) -> None:
    """Write texts, and the rows that they are for with draws whose `wanted` is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    preludes = sorted({job.prelude for job in jobs})
    lines = [asdict(job) | {"prelude": preludes.index(job.prelude)} for job in jobs]
    (folder / PRELUDES).write_text(json.dumps(preludes))
    (folder / TEXTS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    described = [_described(key, row, draw) for key, (row, draw) in rows.items()]
    (folder / ROWS).write_text("".join(json.dumps(line) + "\n" for line in described))
    arrays: dict[str, Any] = {
        f"{key}/{number}/{name}": array
        for key, (_, draw) in rows.items()
        for number, outputs in draw.wanted.items()
        for name, array in outputs.items()
    }
    np.savez_compressed(folder / WANTED, **arrays)


def _described(key: str, row: Row, draw: Draw) -> dict[str, Any]:
    trials = [
        {
            "sizes": trial.sizes,
            "input_seed": trial.input_seed,
            "oracle": trial.oracle,
            "what": trial.what,
            "row_starts": trial.row_starts,
            "edge": trial.edge,
        }
        for trial in draw.trials
    ]
    own = {column: row[column] for column in _COLUMNS}
    return {"key": key, "row": own, "kind": draw.kind, "starts": draw.starts, "trials": trials}


def read_jobs(folder: Path) -> list[Job]:
    """Every text. Raises FileNotFoundError where there is no such folder."""
    preludes = json.loads((folder / PRELUDES).read_text())
    lines = map(json.loads, (folder / TEXTS).read_text().splitlines())
    return [Job(**{**line, "prelude": preludes[line["prelude"]]}) for line in lines]


class Rows:
    """The rows of a folder with their judges."""

    def __init__(self, folder: Path) -> None:
        lines = map(json.loads, (folder / ROWS).read_text().splitlines())
        self._rows = {line["key"]: line for line in lines}
        self._arrays = np.load(folder / WANTED)
        self._judges: dict[str, Judge] = {}

    def row(self, key: str) -> Row:
        """The columns of a row."""
        found: Row = self._rows[key]["row"]
        return found

    def judge(self, key: str) -> Judge:
        """What knows the trials of a row and what they want; made once."""
        if key not in self._judges:
            line = self._rows[key]
            trials = tuple(Trial(**trial) for trial in line["trials"])
            wanted = {n: self._wanted(key, n) for n in range(len(trials))}
            draw = Draw(line["kind"], trials, line["starts"], wanted=wanted)
            self._judges[key] = Judge(self.row(key), draw)
        return self._judges[key]

    def _wanted(self, key: str, number: int) -> dict[str, Array]:
        names = [
            arg["name"]
            for arg in self.row(key)["args"]
            if arg["kind"] == "array" and arg["role"] != "in"
        ]
        return {name: self._arrays[f"{key}/{number}/{name}"] for name in names}
