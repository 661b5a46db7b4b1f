"""Compile and run one kernel of a stranger in a process of its own, forked for it alone.

The process holds the inputs and the kernel, no reference, no answer and no other's text; it hands
its outputs back as they are, and who asked compares them. What it says is read as data of known
size and names.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validate.errors import HostRunUnavailable
from validate.host import clang
from validate.host.answered import Answered, is_whole
from validate.host.ends import ENDS, status_of
from validate.host.launch import MEMORY_BYTES, BadRow
from validate.host.memory import Arena, damage, written_arrays
from validate.host.placed import PlacedArena
from validate.host.plain_launch import ORDERS, Effort, PlainEntry, load_all
from validate.host.plain_link import Layout, Linker
from validate.host.plain_memory import plain_outputs
from validate.host.plain_steps import grids_of, memory_of, run_steps, steps_of, watch_of
from validate.process.confine import confine, die_with_parent
from validate.row.inputs import Array
from validate.statuses import ScoreStatus

MOST_ANSWER_BYTES = 1 << 26
COMPILE_CPU_S = 4
RUN_CPU_S = 4
"""Of computing, whatever else the machine does meanwhile; kernels of rows take some hundredths."""

WALL_S = 30.0
"""For a machine with more to do than it can: its clock is no measure of an answer."""

_ENDED_EARLY = "ended before it answered"
_NOT_CONFINED = 97

# Whether a process has been confined and has answered: from then on only a text's doing can look
# as if that failed.
_proven = False


@dataclass(frozen=True)
class Trial:
    """One launch: sizes, the inputs by name, whether accesses are watched, the most steps.

    One that is `skipped` has no inputs and is answered with null. With `turns`, threads of a block
    take turns at atomics.
    """

    sizes: Mapping[str, int]
    inputs: Mapping[str, Array]
    watched: bool
    most_steps: int
    optional: bool
    skipped: bool = False
    turns: bool = False


@dataclass(frozen=True)
class Case:
    """A text and how it is launched: a row's columns, `cuda_plain`, `plain_launch` and
    `plain_scratch` being the answer's, `kernels` the names in C++ of those that are launched, and
    the trials in the order in which they are run.

    `own`: optional trials that fail are left out, where otherwise the first that fails ends it.
    """

    row: Mapping[str, Any]
    trials: Sequence[Trial]
    own: bool = False


@dataclass(frozen=True)
class Ran:
    """`status` is "ran", or the `ScoreStatus` of a process that did not answer; `answer` is for
    `Answered.from_bytes`."""

    status: str
    reason: str
    answer: bytes = b""


def run_apart(case: Case, linker: Linker, folder: Path) -> Ran:
    """Compile here, then fork, run every trial there, and wait for what comes of it.

    A compilation that takes over COMPILE_CPU_S of computing ends this process with SIGPROF.
    Raises clang.CompileError, and HostRunUnavailable when this system does not let a process give
    up its rights.
    """
    obj_path = folder / "answer.o"
    signal.setitimer(signal.ITIMER_PROF, COMPILE_CPU_S)
    try:
        (layout,) = linker.build([case.row], obj_path)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    read_fd, write_fd = os.pipe()
    child = os.fork()
    if child == 0:
        _in_the_child(case, obj_path, layout, write_fd)
    os.close(write_fd)
    try:
        answer = _read(read_fd, time.monotonic() + WALL_S)
    finally:
        os.close(read_fd)
        os.kill(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
        obj_path.unlink(missing_ok=True)
    return _ended(answer, os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)


def _in_the_child(case: Case, obj_path: Path, layout: Layout, write_fd: int) -> None:
    """Load, run and answer, and end, whatever happens: nothing may return into the copy of our
    parent."""
    try:
        die_with_parent()
        gc.disable()
        clang.load(obj_path, "answer")
        entries = load_all("answer", 0, case.row, layout)
        try:
            confine(write_fd, int(time.process_time()) + 1 + RUN_CPU_S)
        except (OSError, ValueError):
            os._exit(_NOT_CONFINED)
        answer = memoryview(_answer(case, entries).to_bytes())
        while answer:
            answer = answer[os.write(write_fd, answer) :]
    finally:
        os._exit(0)


def _answer(case: Case, entries: Sequence[PlainEntry]) -> Answered:
    outputs: list[dict[str, bytes] | None] = []
    branches: list[list[tuple[int, ...]]] = []
    status, reason = "ran", ""
    # Before a launch: it may spoil what they are read from.
    checks = entries[0].layout.checks
    for number, trial in enumerate(case.trials):
        effort = Effort()
        if trial.skipped:
            outputs.append(None)
            branches.append([])
            continue
        status, reason, written = _guarded(case.row, trial, entries, number, effort)
        if status != "ran" and case.own and trial.optional:
            status, written = "ran", None
        if status != "ran":
            break
        outputs.append(written)
        branches.append(_own_branches(entries[0].call, checks, effort))
    return Answered(status, reason, outputs, branches)


def _own_branches(
    start: int, checks: frozenset[int] | None, effort: Effort
) -> list[tuple[int, ...]]:
    """What the text's own comparisons compared, in all launches: those of checks of indexes are
    none of its. Places count from `start`, the first kernel's."""
    if effort.branches is None or checks is None:
        return []
    found: dict[int, tuple[int, ...]] = {}
    for record in effort.branches.tolist():
        if record[0] - start not in checks:
            found[record[0]] = _joined(found.get(record[0]), record)
    return list(found.values())


def _joined(known: tuple[int, ...] | None, record: tuple[int, ...]) -> tuple[int, ...]:
    """What one comparison compared in several launches."""
    if known is None:
        return record
    place, least, most, other_least, other_most, total, count = record
    return (
        place,
        min(known[1], least),
        max(known[2], most),
        min(known[3], other_least),
        max(known[4], other_most),
        (known[5] + total) % (1 << 64),
        known[6] + count,
    )


def _guarded(
    row: Mapping[str, Any],
    trial: Trial,
    entries: Sequence[PlainEntry],
    number: int,
    effort: Effort,
) -> tuple[str, str, dict[str, bytes] | None]:
    try:
        memory = memory_of(row, trial.sizes, trial.inputs)
    except ValueError as error:
        return ScoreStatus.BAD_LAUNCH, str(error), None
    try:
        with PlacedArena(memory, number) as arena:
            return _at(row, trial, entries, arena, number % len(ORDERS), effort)
    except BadRow as failed:
        return ScoreStatus.BAD_SIGNATURE, str(failed), None
    except ENDS as ended:
        return status_of(ended), str(ended), None
    except Exception as error:  # noqa: BLE001 - memory of ours that the kernel spoilt
        return ScoreStatus.CRASHED, f"{type(error).__name__}: {error}", None


def _at(
    row: Mapping[str, Any],
    trial: Trial,
    entries: Sequence[PlainEntry],
    arena: Arena,
    order: int,
    effort: Effort,
) -> tuple[str, str, dict[str, bytes]]:
    args = row["args"]
    try:
        grids = grids_of(row, trial.sizes)
        steps = steps_of(row, trial.sizes, trial.inputs, arena.address, grids)
    except ValueError as error:
        return ScoreStatus.BAD_LAUNCH, str(error), {}
    watch = watch_of(row, arena) if trial.watched else None
    turns = trial.turns and "atomic" in row["cuda_plain"]
    run_steps(entries, steps, order, watch, effort, trial.most_steps, turns)
    trouble = damage(args, arena, watch)
    if trouble is not None:
        return *trouble, {}
    found = plain_outputs(args, trial.inputs, written_arrays(args, arena))
    return "ran", "", {name: value.tobytes() for name, value in found.items()}


def _read(read_fd: int, deadline: float) -> bytes | None:
    """All that comes until the other end closes; None when that is not in time."""
    parts: list[bytes] = []
    size = 0
    while (left := deadline - time.monotonic()) > 0 and size <= MOST_ANSWER_BYTES:
        if not select.select([read_fd], [], [], left)[0]:
            break
        part = os.read(read_fd, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    return None


def _ended(answer: bytes | None, code: int, peak_bytes: int) -> Ran:
    global _proven
    if answer is None:
        return Ran(ScoreStatus.TIMEOUT, f"no result within {WALL_S:g} s")
    if is_whole(answer):
        _proven = True
        return Ran("ran", "", answer)
    if code == _NOT_CONFINED and not _proven:
        raise HostRunUnavailable("this system does not let a process give up system calls")
    return Ran(*_of_the_dead(code, peak_bytes))


def _of_the_dead(code: int, peak_bytes: int) -> tuple[str, str]:
    if code >= 0:
        return ScoreStatus.CRASHED, _ENDED_EARLY
    name = signal.Signals(-code).name
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return ScoreStatus.TIMEOUT, f"no end after {RUN_CPU_S} s of computing"
    if peak_bytes >= MEMORY_BYTES // 2:
        return ScoreStatus.OUT_OF_MEMORY, f"{name} at {peak_bytes} bytes of memory"
    if code == -signal.SIGSYS:
        return ScoreStatus.CRASHED, f"{name}: asked the system for more than a kernel may"
    return ScoreStatus.CRASHED, name
