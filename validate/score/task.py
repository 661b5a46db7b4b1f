"""What is sent to the process that runs an answer, and what it says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from validate.host.plain_launch import Grid, grid_of
from validate.host.plain_steps import grids_of
from validate.row.archs import MOST_SHARED_BYTES
from validate.score.hidden import LARGEST, Draw
from validate.score.wanted import WARP_COLUMNS, is_of_warp
from validate.statuses import ScoreStatus
from validate.text.answer import Reading, read_answer, read_kernels
from validate.text.formula import evaluate
from validate.text.launches import (
    Launch,
    given_launches,
    kernels_of,
    launches_of,
    launches_problem,
    listed,
    said_launches,
    scratch_of,
)
from validate.text.plain import kernel_names

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
    *("cuda_plain", "plain_args", "plain_scratch", "plain_launch"),
)
_NO_LAUNCH = "the launch comes to none that a device can make, at a size that was tried"
_SAY_HOW = (
    "the row's own text is launched as several kernels: say how this one is launched, as JSON "
    'with "launches" and "scratch" where it has several'
)
_SENT = ("id", "args", "launch", "plain_args")


@dataclass(frozen=True)
class Task:
    """An answer that was read: `sent` goes to the worker; the rest is judged here."""

    reading: Reading
    launches: Sequence[Launch]
    sent: dict[str, Any]


@dataclass(frozen=True)
class Refused:
    """An answer that is not run, and why; `detail` may tell hidden sizes."""

    status: str
    reason: str
    detail: str = ""


def row_key(row: Row) -> str:
    """A digest of all that decides how answers to a row are judged: an id alone may lie."""
    deciding = (*_DECIDING, *WARP_COLUMNS) if is_of_warp(row) else _DECIDING
    about = json.dumps([row.get(column) for column in deciding], sort_keys=True, default=str)
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
    """Read an answer. `launch` is what was given with it, one launch or all of them as
    `launches.given_launches` takes them; None: what it says, or the row's own."""
    several = given_launches(launch) if launch is not None else _said(answer, row)
    if isinstance(several, str):
        return Refused(ScoreStatus.BAD_LAUNCH, several)
    if several is None or isinstance(several[0], Mapping):
        return _task_of_one(answer, row, None if several is None else several[0])
    told = {**row, "plain_launch": several[0], "plain_scratch": several[1]}
    if problem := launches_problem(told):
        return Refused(ScoreStatus.BAD_LAUNCH, problem)
    launches = launches_of(told)
    if kernels_of(launches) == [""]:
        return _task_of_one(answer, row, several[0][0])
    reading = read_kernels(answer, row, kernels_of(launches))
    if reading.status:
        return Refused(reading.status, reading.problem)
    return _task(reading, told, list(reading.bounds), launches)


def _said(answer: Any, row: Row) -> tuple[Any, Any] | str | None:
    """The several launches that an answer says, or the row's own of the kernels that it has."""
    if not isinstance(answer, str):
        return None
    found = said_launches(answer, row)
    if found is not None or len(listed(row["plain_launch"])) == 1:
        return found
    own = kernels_of(launches_of(row))
    return (row["plain_launch"], scratch_of(row)) if set(own) <= {*kernel_names(answer)} else None


def _task_of_one(answer: Any, row: Row, launch: Any) -> Task | Refused:
    """As `task_of`, of an answer that is launched once."""
    reading = read_answer(answer, row)
    if reading.status:
        return Refused(reading.status, reading.problem)
    wanted = launch if launch is not None else reading.launch
    if wanted is None:
        own = listed(row["plain_launch"])
        if len(own) > 1:
            return Refused(ScoreStatus.BAD_LAUNCH, _SAY_HOW)
        wanted = {key: own[0].get(key) for key in ("grid", "block", "shared_bytes")}
    told = {**row, "plain_launch": wanted, "plain_scratch": None}
    if problem := launches_problem(told):
        return Refused(ScoreStatus.BAD_LAUNCH, problem)
    return _task(reading, told, [reading.kernel], launches_of(told))


def _task(
    reading: Reading, told: Row, kernels: list[str], launches: list[Launch]
) -> Task | Refused:
    sent = {key: told[key] for key in _SENT}
    if any(launch.opt_in for launch in launches):
        # A harness that launches answers does not ask the device for it.
        return Refused(ScoreStatus.BAD_LAUNCH, "an answer's launch may not have opt_in")
    text = {"cuda_plain": reading.code, "kernels": kernels}
    launched = {"plain_launch": told["plain_launch"], "plain_scratch": told["plain_scratch"]}
    return Task(reading, launches, sent | text | launched)


def own_task(row: Row) -> dict[str, Any] | str:
    """The same for a row's own text; why it is refused."""
    found = task_of(row["cuda_plain"], row, None)
    return found.reason if isinstance(found, Refused) else found.sent


def grids(task: Task, draw: Draw) -> list[list[Grid]] | Refused:
    """The grids of an answer's launches at every trial, of as many threads as its text promises at
    most."""
    found = []
    for trial in draw.trials:
        try:
            found.append(grids_of(task.sent, trial.sizes))
        except ValueError as error:
            return Refused(ScoreStatus.BAD_LAUNCH, _NO_LAUNCH, str(error))
    for number, launch in enumerate(task.launches):
        promised = task.reading.bounds.get(launch.kernel, task.reading.most_threads)
        most = max(block_threads(at[number]) for at in found)
        if promised is not None and most > promised:
            reason = f"blocks of more threads than the {promised} of __launch_bounds__"
            return Refused(ScoreStatus.BAD_LAUNCH, reason, f"blocks of {most} threads")
    return found


def limit_problem(task: Task, row: Row) -> str:
    """Why a launch of an answer cannot be made at large sizes, where the row's own can; empty
    when all can.

    Only launches that leave the first axis to nothing are looked at: of others an axis that takes
    65,535 blocks at most is the shorter one in use, as shared memory holds rows that are short.
    """
    return next(filter(None, (_limit_problem(one, row) for one in task.launches)), "")


def _limit_problem(launch: Launch, row: Row) -> str:
    least = {entry["symbol"]: max(2, entry["min"]) for entry in row["sizes"]}
    everywhere = dict.fromkeys(least, _HUGE)
    try:
        if evaluate(launch.grid[0], everywhere) > 1:
            return ""
    except ValueError as error:
        return str(error)
    own = [replace(one, shared_bytes=0) for one in launches_of(row)]
    for symbol in least:
        sizes = {**least, symbol: _HUGE}
        try:
            for one in own:
                grid_of(one, sizes, _ANY_THREADS)
        except ValueError:
            continue
        try:
            grid_of(replace(launch, shared_bytes=0), sizes, _ANY_THREADS)
        except ValueError as error:
            return f"at {symbol}={_HUGE}: {error}"
    return ""


def threads_of(grids_at: Sequence[Grid]) -> int:
    """Threads of all launches at one shape."""
    return sum(prod(grid.grid) * block_threads(grid) for grid in grids_at)


def block_threads(grid: Grid) -> int:
    """Threads of a block."""
    return grid.block[0] * grid.block[1] * grid.block[2]


def shared_problem(task: Task, draw: Draw, static_bytes: int) -> str:
    """Why static and dynamic shared memory are too much together; empty when they are not."""
    formulas = [launch.shared_bytes for launch in task.launches]
    dynamic = max(evaluate(formula, t.sizes) for formula in formulas for t in draw.trials)
    if dynamic + static_bytes <= MOST_SHARED_BYTES:
        return ""
    return f"{static_bytes} bytes of static and {dynamic} of dynamic shared memory"
