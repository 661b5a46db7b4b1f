"""Runs that are killed: forked from this process, so that Warp need not be loaded again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

from synth.dataset import failpoints
from synth.dataset.files import sha256_of

_FAILED = 4


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


def worker_processes(parent: int) -> list[int]:
    """The worker processes of a run."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [
        int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
