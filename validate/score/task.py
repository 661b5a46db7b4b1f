"""What is sent to the process that runs an answer, and what it says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from validate.host.plain_launch import Grid, grid_of, launch_problem
from validate.row.archs import MOST_SHARED_BYTES
from validate.score.hidden import LARGEST, Draw
from validate.statuses import ScoreStatus
from validate.text.answer import Reading, read_answer
from validate.text.formula import evaluate

Row = Mapping[str, Any]

# At a trial without a limit of its own; a launch takes some hundred thousand.
_MOST_STEPS = 60_000_000
# Of an answer, over what the row's own text may take: people write slower texts too.
_SLOWER = 24
_AGAIN = "again"
_HUGE = 400_000
_ANY_THREADS = 1 << 62
_DECIDING = (
    *("id", "kernel_name", "reference", "args", "sizes", "launch", "input_seed", "edge_inputs"),
    *("cuda_plain", "plain_args", "plain_launch"),
)
_NO_LAUNCH = "the launch comes to none that a device can make, at a size that was tried"
_SENT = ("id", "args", "launch", "plain_args")


@dataclass(frozen=True)
class Task:
    """An answer that was read: `sent` goes to the worker; the rest is judged here."""

    reading: Reading
    launch: Mapping[str, Any]
    sent: dict[str, Any]


@dataclass(frozen=True)
class Refused:
    """An answer that is not run, and why; `detail` may tell hidden sizes."""

    status: str
    reason: str
    detail: str = ""


def row_key(row: Row) -> str:
    """A digest of all that decides how answers to a row are judged: an id alone may lie."""
    about = json.dumps([row.get(column) for column in _DECIDING], sort_keys=True, default=str)
    return hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()


def trial_messages(draw: Draw, skipped: Collection[int]) -> list[dict[str, Any]]:
    """The trials of a draw for the worker. At the largest shape accesses are not watched."""
    return [
        {
            "sizes": trial.sizes,
            "input_seed": trial.input_seed,
            "edge": trial.edge,
            "starts": draw.starts_of(trial),
            "watched": trial.what not in LARGEST,
            "most_steps": trial.most_steps or _MOST_STEPS,
            "optional": trial.optional,
            "skipped": number in skipped,
            "turns": trial.what == _AGAIN,
        }
        for number, trial in enumerate(draw.trials)
    ]


def for_answer(
    trials: Sequence[Mapping[str, Any]], skipped: Collection[int]
) -> list[dict[str, Any]]:
    """The same trials with the steps that an answer may take, without those that are skipped."""
    return [
        {
            **trial,
            "most_steps": min(_MOST_STEPS, _SLOWER * trial["most_steps"]),
            "skipped": trial["skipped"] or number in skipped,
        }
        for number, trial in enumerate(trials)
    ]


def task_of(answer: Any, row: Row, launch: Any) -> Task | Refused:
    """Read an answer. `launch` is what was given with it; None: what it says, or the row's own."""
    reading = read_answer(answer, row)
    if reading.status:
        return Refused(reading.status, reading.problem)
    wanted = launch if launch is not None else reading.launch or row["plain_launch"]
    if problem := launch_problem(wanted):
        return Refused(ScoreStatus.BAD_LAUNCH, problem)
    sent = {key: row[key] for key in _SENT}
    text = {"cuda_plain": reading.code, "kernel": reading.kernel, "plain_launch": dict(wanted)}
    return Task(reading, wanted, sent | text)


def own_task(row: Row) -> dict[str, Any] | str:
    """The same for a row's own text; why it is refused."""
    found = task_of(row["cuda_plain"], row, None)
    return found.reason if isinstance(found, Refused) else found.sent


def grids(task: Task, draw: Draw) -> list[Grid] | Refused:
    """The grids of an answer at every trial, of as many threads as its text promises at most."""
    found = []
    for trial in draw.trials:
        try:
            found.append(grid_of(task.launch, trial.sizes))
        except ValueError as error:
            return Refused(ScoreStatus.BAD_LAUNCH, _NO_LAUNCH, str(error))
    promised = task.reading.most_threads
    most = max(block_threads(grid) for grid in found)
    if promised is not None and most > promised:
        reason = f"blocks of more threads than the {promised} of __launch_bounds__"
        return Refused(ScoreStatus.BAD_LAUNCH, reason, f"blocks of {most} threads")
    return found


def limit_problem(task: Task, row: Row) -> str:
    """Why the launch of an answer cannot be made at large sizes, where the row's own can; empty
    when it can.

    Only launches that leave the first axis to nothing are looked at: of others an axis that takes
    65,535 blocks at most is the shorter one in use, as shared memory holds rows that are short.
    """
    answers = {key: task.launch[key] for key in ("grid", "block")}
    least = {entry["symbol"]: max(2, entry["min"]) for entry in row["sizes"]}
    everywhere = dict.fromkeys(least, _HUGE)
    try:
        if evaluate(answers["grid"][0], everywhere) > 1:
            return ""
    except ValueError as error:
        return str(error)
    for symbol in least:
        sizes = {**least, symbol: _HUGE}
        try:
            grid_of({**row["plain_launch"], "shared_bytes": 0}, sizes, _ANY_THREADS)
        except ValueError:
            continue
        try:
            grid_of(answers, sizes, _ANY_THREADS)
        except ValueError as error:
            return f"at {symbol}={_HUGE}: {error}"
    return ""


def threads_of(grid: Grid) -> int:
    """Threads of a launch."""
    return prod(grid.grid) * block_threads(grid)


def block_threads(grid: Grid) -> int:
    """Threads of a block."""
    return grid.block[0] * grid.block[1] * grid.block[2]


def shared_problem(task: Task, draw: Draw, static_bytes: int) -> str:
    """Why static and dynamic shared memory are too much together; empty when they are not."""
    formula = task.launch.get("shared_bytes") or 0
    dynamic = max(evaluate(formula, trial.sizes) for trial in draw.trials)
    if dynamic + static_bytes <= MOST_SHARED_BYTES:
        return ""
    return f"{static_bytes} bytes of static and {dynamic} of dynamic shared memory"
