"""``OUT/work``: the tasks of a run that are done, and what they were done for.

A finished task is a file whose name ends with a digest of its bytes, so that one which was cut
short or altered is known, and done again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synth.dataset.files import remove_folder, remove_leftovers, write_bytes, write_json
from synth.dataset.manifest import MANIFEST, require_same_shape
from synth.dataset.positions import indices_per_unit
from synth.errors import SettingsError

PLAN = "plan.json"
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
            found = json.loads(path.read_text("utf-8"))
            numbers = (found["n"], found["shard_size"], found["indices_per_unit"])
            return Work(path.parent, dict(found["shape"]), *numbers)
        except (ValueError, KeyError, TypeError) as error:
            raise SettingsError(
                f"{path} is damaged ({error}); delete {path.parent} and generate again"
            ) from None

    def keep(self, name: str, data: bytes) -> Path:
        """Keep what a task gave. FileNotFoundError when the folder was removed meanwhile."""
        if not (self.folder / PLAN).is_file():
            raise FileNotFoundError(
                errno.ENOENT, os.strerror(errno.ENOENT), str(self.folder / PLAN)
            )
        path = self.folder / f"{name}.{_digest(data)}.parquet"
        write_bytes(path, data)
        self.done[name] = path
        return path

    def look(self, *, closely: bool = True) -> None:
        """Find the tasks that are done; closely, a file that is not whole is removed."""
        self.done = {}
        for path in sorted(self.folder.glob("*.*.parquet")):
            name, digest, _ = path.name.rsplit(".", 2)
            if not closely or _digest(path.read_bytes()) == digest:
                self.done[name] = path
            else:
                path.unlink()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def require_ours(out: Path, shape: dict[str, Any], n: int) -> None:
    """:class:`SettingsError` when a folder holds something else, or a run that ours would lose."""
    before = Work.read(out)
    if before is None:
        if _strangers(out) and not (out / MANIFEST).is_file():
            raise SettingsError(f"{out} is not empty and holds no dataset; choose another folder")
        return
    require_same_shape(out, shape, before.shape)
    if before.n > n:
        raise SettingsError(
            f"{out} holds an unfinished run of {before.n} rows; ask for as many, or delete "
            f"{before.folder} to give them up"
        )


def require_same_plan(out: Path, n: int, shard_size: int) -> None:
    """:class:`SettingsError` when the parts before were asked for another dataset."""
    before = Work.read(out)
    if before is not None and (before.n, before.shard_size) != (n, shard_size):
        raise SettingsError(
            f"other parts in {out} are of {before.n} rows in shards of {before.shard_size}; give "
            "each part the same numbers"
        )


def open_work(
    out: Path, shape: dict[str, Any], n: int, shard_size: int, *, closely: bool = True
) -> Work:
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
        work.look(closely=closely)
    except OSError as error:
        raise SettingsError(f"cannot write to {out}: {error.strerror}") from None
    return work


def remove_empty(out: Path) -> None:
    """Remove a working folder that a run left when it was killed before it had a plan."""
    work = out / "work"
    if work.is_dir() and not any(_others(work)):
        remove_folder(work)


def _strangers(out: Path) -> list[Path]:
    """What lies in a folder besides an empty ``work``: a killed start leaves one."""
    return [p for p in out.iterdir() if p.name != "work" or any(_others(p))]


def _others(work: Path) -> Iterator[Path]:
    return (path for path in work.iterdir() if not path.name.endswith(".tmp"))
