"""Run one kernel of a stranger in a process of its own, forked from the one that compiled it.

The process holds the inputs and the kernel, no reference and no answer; it hands its outputs back
as they are, and who asked compares them. What it says is read as data of known size and names.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import select
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from validate.errors import HostRunUnavailable
from validate.host.launch import MEMORY_BYTES, BadRow, Endless
from validate.host.memory import damage
from validate.host.plain_case import PlainLaunched
from validate.host.plain_launch import ORDERS, BadMeeting, PlainEntry, grid_of
from validate.process.confine import confine, die_with_parent
from validate.statuses import ScoreStatus

MOST_ANSWER_BYTES = 1 << 25
RUN_TIMEOUT_S = 20.0
CPU_SECONDS = 4
"""Of computing, whatever else the machine does meanwhile; kernels of rows take some hundredths."""

_ENDED_EARLY = "ended before it answered"
_NOT_CONFINED = 97
# Whether a process has been confined and has answered: from then on only a text's doing can look
# as if that failed.
_proven = False


@dataclass(frozen=True)
class Ran:
    """`status` is "ran", or how the process ended when it did not answer; `answer` is its JSON:
    `status`, `reason` and, for each shape that went well, the bytes of the outputs by name."""

    status: str
    reason: str
    answer: str = ""


def run_apart(row: Mapping[str, Any], entry: PlainEntry) -> Ran:
    """Fork, run the kernel at every one of the row's `shapes`, and wait for what it says.

    Raises HostRunUnavailable when this system does not let a process give up its rights.
    """
    global _proven
    read_fd, write_fd = os.pipe()
    child = os.fork()
    if child == 0:
        _in_the_child(row, entry, write_fd)
    os.close(write_fd)
    try:
        answer = _read(read_fd, time.monotonic() + RUN_TIMEOUT_S)
    finally:
        os.close(read_fd)
        os.kill(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
    if answer is None:
        return Ran(ScoreStatus.TIMEOUT, f"no result within {RUN_TIMEOUT_S:g} s")
    code = os.waitstatus_to_exitcode(status)
    if answer.endswith(b"}\n"):
        _proven = True
        return Ran("ran", "", answer.decode("ascii", "replace"))
    if code == _NOT_CONFINED and not _proven:
        raise HostRunUnavailable("this system does not let a process give up system calls")
    return _of_the_dead(code, usage.ru_maxrss * 1024)


def _in_the_child(row: Mapping[str, Any], entry: PlainEntry, write_fd: int) -> None:
    """Answer and end, whatever happens: nothing may return into the copy of our parent."""
    try:
        die_with_parent()
        gc.disable()
        try:
            confine(write_fd, CPU_SECONDS)
        except (OSError, ValueError):
            os._exit(_NOT_CONFINED)
        answer = json.dumps(_answer(row, entry)).encode() + b"\n"
        while answer:
            answer = answer[os.write(write_fd, answer) :]
    finally:
        os._exit(0)


def _answer(row: Mapping[str, Any], entry: PlainEntry) -> dict[str, Any]:
    outputs: list[dict[str, str]] = []
    status, reason = "ran", ""
    try:
        for number, sizes in enumerate(row["shapes"]):
            status, reason, written = _at(row, sizes, entry, number % len(ORDERS))
            if status != "ran":
                break
            outputs.append(written)
    except MemoryError:
        status = ScoreStatus.OUT_OF_MEMORY
    except Endless as failed:
        status, reason = ScoreStatus.TIMEOUT, str(failed)
    except BadMeeting as failed:
        status, reason = ScoreStatus.BAD_SYNC, str(failed)
    except BadRow as failed:
        status, reason = ScoreStatus.BAD_SIGNATURE, str(failed)
    except Exception as error:  # noqa: BLE001 - memory of ours that the kernel spoilt
        status, reason = ScoreStatus.CRASHED, f"{type(error).__name__}: {error}"
    return {"status": status, "reason": reason, "outputs": outputs}


def _at(
    row: Mapping[str, Any], sizes: Mapping[str, int], entry: PlainEntry, order: int
) -> tuple[str, str, dict[str, str]]:
    try:
        grid_of(row["plain_launch"], sizes)
    except ValueError as error:
        return ScoreStatus.BAD_LAUNCH, str(error), {}
    launched = PlainLaunched(row, sizes, entry, order)
    trouble = damage(launched.args, launched.arena, launched.watch)
    if trouble is not None:
        return *trouble, {}
    found = launched.outputs()
    return "ran", "", {n: base64.b64encode(v.tobytes()).decode() for n, v in found.items()}


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


def _of_the_dead(code: int, peak_bytes: int) -> Ran:
    if code >= 0:
        return Ran(ScoreStatus.CRASHED, _ENDED_EARLY)
    name = signal.Signals(-code).name
    if code == -signal.SIGXCPU:
        return Ran(ScoreStatus.TIMEOUT, f"no end after {CPU_SECONDS} s of computing")
    if peak_bytes >= MEMORY_BYTES // 2:
        return Ran(ScoreStatus.OUT_OF_MEMORY, f"{name} at {peak_bytes} bytes of memory")
    if code == -signal.SIGSYS:
        return Ran(ScoreStatus.CRASHED, f"{name}: asked the system for more than a kernel may")
    return Ran(ScoreStatus.CRASHED, name)
