"""``OUT/work``: the tasks of a run that are done, and what they were done for.

A finished task is a file whose name ends with a digest of its bytes, so that one which was cut
short or altered is known, and done again.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.files import remove_leftovers, write_bytes, write_json
from synth.manifest import MANIFEST, require_same_shape
from synth.plan import indices_per_unit
from synth.settings import Settings

PLAN = "plan.json"
_LOCK = ".lock"
_DIGITS = 16


@dataclass
class Work:
    """A run's working folder, its plan, and its finished tasks by name."""

    folder: Path
    shape: dict[str, Any]
    n: int
    shard_size: int
    per_unit: int
    done: dict[str, Path] = field(default_factory=dict)

    @staticmethod
    def read(out: Path) -> Work | None:
        """The unfinished run in ``out``, None when there is none; its tasks are not looked at."""
        path = out / "work" / PLAN
        if not path.is_file():
            return None
        try:
            found = json.loads(path.read_text())
            numbers = (found["n"], found["shard_size"], found["indices_per_unit"])
            return Work(path.parent, dict(found["shape"]), *numbers)
        except (ValueError, KeyError, TypeError) as error:
            raise SettingsError(
                f"{path} is damaged ({error}); delete {path.parent} and generate again"
            ) from None

    def settings(self) -> Settings:
        shape = self.shape
        return Settings(
            seed=shape["seed"],
            categories=tuple(shape["categories"]),
            levels=tuple(shape["levels"]),
            backward=shape["backward"],
            verify=shape["verify"],
            archs=tuple(shape["archs"]),
            resources=shape["resources"],
        )

    def keep(self, name: str, data: bytes) -> Path:
        """Keep what a task gave."""
        path = self.folder / f"{name}.{_digest(data)}.parquet"
        write_bytes(path, data)
        self.done[name] = path
        return path

    def look(self) -> None:
        """Find the tasks that are done; a file that is not whole is removed."""
        self.done = {}
        for path in sorted(self.folder.glob("*.*.parquet")):
            name, digest, _ = path.name.rsplit(".", 2)
            if _digest(path.read_bytes()) == digest:
                self.done[name] = path
            else:
                path.unlink()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def require_ours(out: Path, shape: dict[str, Any]) -> None:
    """:class:`SettingsError` when a folder holds something else, or a run of other settings."""
    before = Work.read(out)
    if before is not None:
        require_same_shape(out, shape, before.shape)
    elif out.is_dir() and _strangers(out) and not (out / MANIFEST).is_file():
        raise SettingsError(f"{out} is not empty and holds no dataset; choose another folder")


def open_work(out: Path, shape: dict[str, Any], n: int, shard_size: int) -> Work:
    """The working folder for a run, with leftovers of killed writers removed.

    :class:`SettingsError` when ``out`` cannot be written.
    """
    before = Work.read(out)
    per_unit = before.per_unit if before else indices_per_unit(n, len(shape["categories"]))
    work = Work(out / "work", shape, n, shard_size, per_unit)
    plan = {"shape": shape, "n": n, "shard_size": shard_size, "indices_per_unit": per_unit}
    try:
        work.folder.mkdir(parents=True, exist_ok=True)
        if not os.access(work.folder, os.W_OK):
            raise PermissionError(13, "Permission denied")
        remove_leftovers(work.folder)
        if before is None or (before.n, before.shard_size) != (n, shard_size):
            write_json(work.folder / PLAN, plan)
        work.look()
    except OSError as error:
        raise SettingsError(f"cannot write to {out}: {error.strerror}") from None
    return work


def _strangers(out: Path) -> list[Path]:
    """What lies in a folder besides an empty ``work``: a killed start leaves one."""
    return [p for p in out.iterdir() if p.name != "work" or any(_others(p))]


def _others(work: Path) -> Iterator[Path]:
    return (p for p in work.iterdir() if p.name != _LOCK and not p.name.endswith(".tmp"))


@contextmanager
def locked(out: Path, *, shared: bool) -> Iterator[None]:
    """Hold ``out`` against other runs; parts of one run share it.

    :class:`SettingsError` when another run holds it. The system lets go of it when a run dies.
    """
    path = out / "work" / _LOCK
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise SettingsError(f"cannot write to {out}: {error.strerror}") from None
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise SettingsError(
            f"another run is at work in {out}; wait until it has ended, or choose another folder"
        ) from None
    except OSError as error:
        # Some shared disks know no locks: then there is none, as there was none before.
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise
    try:
        yield
    finally:
        os.close(handle)
