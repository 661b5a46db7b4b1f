"""Runs that are killed: forked from this process, so that Warp need not be loaded again."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from synth.dataset import failpoints
from synth.dataset.files import sha256_of

_FAILED = 4

State = frozenset[tuple[str, int, int, int]]
"""The files and folders below a folder: name, inode, bytes and time of the last write in ns."""


def shards(out: Path) -> dict[str, str]:
    """The digest of every shard of a dataset, by name."""
    return {
        p.relative_to(out).as_posix(): sha256_of(p) for p in sorted(out.glob("*/shard-*.parquet"))
    }


def contents(out: Path) -> dict[str, str]:
    """The digest of every file of a dataset but Warp's headers."""
    return {
        p.relative_to(out).as_posix(): sha256_of(p)
        for p in sorted(out.rglob("*"))
        if p.is_file() and "include" not in p.relative_to(out).parts
    }


def killed_at(number: int, work: Callable[[], object]) -> bool:
    """Whether ``work`` was killed at its failpoint of that number; False when it has fewer."""
    child = os.fork()
    if not child:
        os.environ[failpoints.VARIABLE] = str(number)
        failpoints.reset()
        code = _FAILED
        try:
            work()
            code = 0
        finally:
            # Whatever happens, the child must not go on as a second run of the tests.
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.waitstatus_to_exitcode(status) == 0
    return False


def points(work: Callable[[], object]) -> list[str]:
    """The failpoints that ``work`` passes, in order."""
    os.environ[failpoints.VARIABLE] = "0"
    failpoints.reset()
    try:
        work()
        return failpoints.passed()
    finally:
        del os.environ[failpoints.VARIABLE]
        failpoints.reset()


def worth_killing_at(work: Callable[[], object], folder: Path) -> list[int]:
    """The numbers of failpoints at which a kill of ``work`` leaves ``folder`` as no kill before it
    does: the first and the last of those that differ in digits alone, as names of shards do.

    ``work`` is done for it once, in a child, and leaves what it makes in ``folder``.
    """
    numbers, child = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(numbers)
        code = _FAILED
        try:
            with pytest.MonkeyPatch.context() as patch, os.fdopen(child, "w") as out:
                passed = _Watching(folder)
                patch.setattr(failpoints, "_passed", passed)
                patch.setenv(failpoints.VARIABLE, "0")
                work()
                json.dump(passed.ends(), out)
            code = 0
        finally:
            os._exit(code)
    os.close(child)
    with os.fdopen(numbers) as said:
        found: list[int] = json.loads(said.read())
    os.waitpid(pid, 0)
    return found


class _Watching(list[str]):
    """Names of failpoints, with the state of a folder at each."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.seen: set[State] = set()
        self.kinds: dict[str, list[int]] = {}

    def append(self, name: str) -> None:
        """Note the state as this failpoint is passed."""
        super().append(name)
        state = _state(self.folder)
        if state not in self.seen:
            self.seen.add(state)
            kind = re.sub(r"[0-9a-f]{8,}|\d+", "#", name)
            self.kinds.setdefault(kind, []).append(len(self))

    def ends(self) -> list[int]:
        """The numbers of the first and the last of each kind."""
        return sorted({number for found in self.kinds.values() for number in (found[0], found[-1])})


def _state(folder: Path) -> State:
    found = []
    for path in folder.rglob("*"):
        at = path.lstat()
        found.append((str(path), at.st_ino, at.st_size, at.st_mtime_ns))
    return frozenset(found)


def worker_processes(parent: int) -> list[int]:
    """The worker processes of a run."""
    return [
        pid
        for pid in children(parent)
        if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def children(of: int) -> list[int]:
    """Process ids of the children of a process that have not ended, in their order: those that
    name it as their parent, as the kernel's own list of children may leave some out (Linux)."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = status.read_text()
        except OSError:
            continue
        # The name, in brackets, may hold spaces and brackets.
        state, parent, *_ = text.rpartition(")")[2].split()
        if int(parent) == of and state != "Z":
            found.append(int(text.split()[0]))
    return sorted(found)


def descendants(of: int) -> set[int]:
    """The same of children, their children and so on."""
    own = children(of)
    return {*own}.union(*map(descendants, own))
