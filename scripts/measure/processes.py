"""What processes below this one and files of it are there: Linux alone."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_MIB = 1 << 20


@dataclass(frozen=True)
class Usage:
    """Resident memory in MiB: of this process, of all below it, and the largest of those."""

    own_mib: float
    below_mib: float
    largest_mib: float
    processes: int
    files: int


def keep_orphans() -> None:
    """From now on, processes below this one whose parents end become its own children.

    Raises OSError when the system refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def processes_below(root: int | None = None) -> dict[int, str]:
    """Processes below `root`, by default this one, by number, each with its name and state."""
    parents: dict[int, tuple[int, str]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                head, _, rest = (folder / "stat").read_text().rpartition(")")
            except (FileNotFoundError, ProcessLookupError):
                continue
            state, parent = rest.split()[:2]
            parents[int(folder.name)] = (int(parent), f"{head.partition('(')[2]} ({state})")
    found: dict[int, str] = {}
    fresh = {os.getpid() if root is None else root}
    while fresh:
        fresh = {pid for pid, (parent, _) in parents.items() if parent in fresh} - set(found)
        found |= {pid: parents[pid][1] for pid in fresh}
    return found


def usage() -> Usage:
    """What is used now."""
    below = [_resident(pid) for pid in processes_below()]
    files = len(list(Path("/proc/self/fd").iterdir()))
    return Usage(_resident(os.getpid()), sum(below), max(below, default=0.0), len(below), files)


def reaped() -> Iterator[int]:
    """Ended processes that nobody waited for; they are gone afterwards."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        yield pid


def _resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / _MIB
