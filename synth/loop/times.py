"""The time of an answer that passes: measured on a GPU, or predicted where a prediction is honest.

The cost model knows programs under schedules of ours, not free text. So a time is predicted for an
answer that is, token by token and launch by launch, a text that a schedule of the row's program
prints, or a candidate of `lower` for the row's spec; of another text nothing is said, and why.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from generators.program.serialise import from_json
from synth.loop.timed import MEMORY, PREDICTED, Time
from synth.lower.choose.choice import candidates
from synth.lower.choose.devices import DEFAULT_DEVICE, figures_of
from synth.lower.choose.request import read_request
from synth.lower.text import lower
from synth.render.cuda.choose import candidates_of
from synth.render.cuda.cost.device import H200
from synth.render.cuda.module import render
from validate.gpu.large import bytes_moved
from validate.gpu.text import MOST_THREADS
from validate.host.plain_steps import grids_of
from validate.row.sizes import middle, own_sizes
from validate.score.task import Refused, Task, row_key, task_of
from validate.text.launches import listed as all_of
from validate.text.lexer import LINE, SPACE, lex

Row = Mapping[str, Any]
Sizes = dict[str, int]

TIMED = ("program", "regime", "schedule", "cuda_forward")
"""Columns of a dataset's row that its times and its work follow from (Warp's text tells whether it
is of tiles), beside what a judge needs; a task of a spec has ``spec`` in their place."""

NOT_OURS = (
    "the cost model knows no free text, and this is none of those that schedules of the task print"
)
NO_MODEL = "no cost model knows the task"


class Predictor:
    """Tells predicted times; a context manager, as what measures is. For one thread at a time."""

    def __init__(self) -> None:
        self._known: dict[str, Known | None] = {}

    def __enter__(self) -> Predictor:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def of(self, text: str, row: Row) -> Time:
        """The time of an answer that passes."""
        read = task_of(text, row, None)
        if isinstance(read, Refused):
            return Time(why=read.reason)
        key = row_key(row)
        if key not in self._known:
            self._known[key] = _known(row)
        known, sizes = self._known[key], timed_sizes(row)
        if known is None:
            return Time(why=NO_MODEL)
        us = known.times_us.get(fingerprint(read, sizes))
        if us is None:
            return Time(why=NOT_OURS)
        roof_us = bytes_moved(row, sizes) / known.bytes_a_us
        return Time(us, PREDICTED, "", known.device, sizes, roof_us, MEMORY)


def timed_sizes(row: Row) -> Sizes:
    """The sizes that answers to a row are timed at: the middle of its regime, else its own."""
    if row.get("regime"):
        return {span["symbol"]: middle(span["low"], span["high"]) for span in row["regime"]}
    return own_sizes(row["sizes"])


def fingerprint(read: Task, sizes: Mapping[str, int]) -> str:
    """A digest of a text and its launches at sizes, the same for texts that differ in blanks and
    comments alone."""
    tokens = [t.text for t in lex(read.reading.code) if t.kind not in (SPACE, LINE)]
    grids = [[g.grid, g.block, g.shared_bytes] for g in grids_of(read.sent, sizes, MOST_THREADS)]
    passed = [[one.kernel, list(one.args)] for one in read.launches] if len(grids) > 1 else []
    about = json.dumps([read.reading.headers, tokens, grids, passed])
    return hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Known:
    """What a model says of a task's texts on a device, by their fingerprints."""

    device: str
    bytes_a_us: float
    times_us: Mapping[str, float]


def _known(row: Row) -> Known | None:
    """None where no model knows the task."""
    if row.get("program") and row.get("regime"):
        listed = _of_program(row)
        device, bytes_a_us = H200.name, H200.memory_bytes
    elif row.get("spec"):
        listed = _of_spec(row)
        device, bytes_a_us = DEFAULT_DEVICE, 1e3 * figures_of(DEFAULT_DEVICE).gbytes_s
    else:
        return None
    times_us: dict[str, float] = {}
    for columns, us in listed:
        read = task_of(columns["cuda_plain"], {**row, **columns}, None)
        if isinstance(read, Task):
            # Schedules that differ may print the same: the better of what is said of it.
            key = fingerprint(read, timed_sizes(row))
            times_us[key] = min(us, times_us.get(key, us))
    return Known(device, bytes_a_us, times_us) if times_us else None


def _of_program(row: Row) -> Iterator[tuple[Row, float]]:
    """Columns of each schedule's text, and its time."""
    program = from_json(row["program"])
    for candidate in candidates_of(program, timed_sizes(row)):
        yield render(program, candidate.schedule).columns(), candidate.prediction.time_us


def _of_spec(row: Row) -> Iterator[tuple[Row, float]]:
    """The same of the candidates of a spec."""
    given = {name: value for name, value in json.loads(row["spec"]).items() if name != "schedule"}
    request = read_request({**given, "shape": timed_sizes(row)})
    if not request.costed:
        return
    for candidate in candidates(request):
        lowered = lower(candidate.spec)
        columns = {
            "cuda_plain": lowered.text,
            "plain_args": lowered.args,
            "plain_launch": list(all_of(lowered.launch)),
            "plain_scratch": list(lowered.scratch),
        }
        yield columns, candidate.predicted_us
