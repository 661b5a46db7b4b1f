"""A dataset is written beside its place first, and moved there when all of it is there.

A run that is killed while it moves files finds the new manifest in the staging folder, and goes on
moving: it needs nothing else.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.dataset.failpoints import failpoint
from synth.dataset.files import (
    parquet_bytes,
    remove_folder,
    remove_leftovers,
    sha256_of,
    write_bytes,
    write_text,
)
from synth.dataset.manifest import SPLITS, Manifest, read_manifest
from synth.dataset.names import EVIDENCE, HARVEST_REJECTED, KEYS, OVERLAP, REJECTED

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def swap(new: Path, old: Path) -> None:
    """What ``new`` holds stands at ``old`` afterwards, and the other way round.

    No reader sees anything between, on Linux and its file systems; elsewhere ``old`` is missing for
    a moment, and what it held lies beside ``new``.
    """
    if not old.exists():
        new.rename(old)
    elif not _exchanged(new, old):
        aside = new.with_name(f"{new.name}.old")
        shutil.rmtree(aside, ignore_errors=True)
        old.rename(aside)
        new.rename(old)


def _exchanged(first: Path, second: Path) -> bool:
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    names = (os.fsencode(first), os.fsencode(second))
    if rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), str(second))


def link(source: Path, target: Path) -> None:
    """The same file under another name; a copy where the disk knows no links."""
    try:
        os.link(source, target)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EXDEV):
            raise
        shutil.copy2(source, target)


_FOLDER = "staged"
_NEXT = ".next"
"""In a folder that is to take the place of the split's present one."""

_EXTRAS = (EVIDENCE, KEYS, REJECTED, OVERLAP, HARVEST_REJECTED)


class Stage:
    """The staging folder of a run."""

    def __init__(self, work: Path) -> None:
        self.folder = work / _FOLDER

    def clear(self) -> None:
        """Remove what a run that was killed before its manifest was written left here."""
        remove_folder(self.folder)

    def shard(self, name: str, split: str, table: pa.Table) -> dict[str, Any]:
        """Write a shard; gives its entry for the manifest."""
        path = self.folder / name
        write_bytes(path, parquet_bytes(table))
        return {"path": name, "split": split, "rows": table.num_rows, "sha256": sha256_of(path)}

    def extra(self, name: Path, data: bytes) -> None:
        """Write a file that the manifest does not list; nothing when it would be empty."""
        if data:
            write_bytes(self.folder / name, data)

    def close(self, manifest: Manifest, out: Path) -> None:
        """Write the manifest: from here on the dataset is the new one.

        A split of which anything changes is staged whole, with links to the shards that stay.
        """
        for split in SPLITS:
            names = [s["path"] for s in manifest.shards if s["split"] == split]
            if self._changes(out, split, names):
                self._complete(out, split, names)
        manifest.write(self.folder)

    def _changes(self, out: Path, split: str, names: Sequence[str]) -> bool:
        there = [f"{split}/{path.name}" for path in (out / split).glob("shard-*.parquet")]
        return (self.folder / split).is_dir() or sorted(there) != sorted(names)

    def _complete(self, out: Path, split: str, names: Sequence[str]) -> None:
        folder = self.folder / split
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            if not (self.folder / name).is_file():
                link(out / name, self.folder / name)
        for path in (out / split).glob("*"):
            if not path.match("shard-*.parquet") and path.is_file():
                link(path, folder / path.name)
        write_text(folder / _NEXT, "")

    def manifest(self) -> Manifest | None:
        """The manifest of a dataset that is staged in full, None while it is not."""
        return read_manifest(self.folder)

    def put(self, out: Path, manifest: Manifest) -> None:
        """Move everything but the manifest to its place, each split at once.

        Safe to repeat after a kill.
        """
        remove_leftovers(out)
        for split in SPLITS:
            self._put(out, split, any(s["split"] == split for s in manifest.shards))
        for name in _EXTRAS:
            self._move(out, str(name))

    def _put(self, out: Path, split: str, wanted: bool) -> None:
        """A split that is staged changes places with the one there; its mark goes with it."""
        staged, target = self.folder / split, out / split
        if (staged / _NEXT).is_file():
            failpoint(f"before putting {split} in its place")
            swap(staged, target)
            failpoint(f"after putting {split} in its place")
        (target / _NEXT).unlink(missing_ok=True)
        if not wanted:
            remove_folder(target)

    def _move(self, out: Path, name: str) -> None:
        staged, target = self.folder / name, out / name
        if not staged.is_file():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        failpoint(f"before moving {name}")
        staged.replace(target)
        failpoint(f"after moving {name}")
