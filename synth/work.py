"""``OUT/work``: the units of a run that is not finished, and what they were made for."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.files import write_json
from synth.manifest import MANIFEST, require_same_shape
from synth.settings import Settings

PLAN = "plan.json"


@dataclass(frozen=True)
class Work:
    """A run's working folder and its plan."""

    folder: Path
    shape: dict[str, Any]
    n: int
    shard_size: int

    @staticmethod
    def read(out: Path) -> Work | None:
        """The unfinished run in ``out``, None when there is none."""
        path = out / "work" / PLAN
        if not path.is_file():
            return None
        try:
            found = json.loads(path.read_text())
            return Work(path.parent, dict(found["shape"]), found["n"], found["shard_size"])
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


def open_work(out: Path, shape: dict[str, Any], n: int, shard_size: int) -> Work:
    """The working folder for a run, with leftovers of killed writers removed.

    :class:`SettingsError` when ``out`` cannot be written, holds something else, or holds a run
    of other settings.
    """
    before = Work.read(out)
    if before is not None:
        require_same_shape(out, shape, before.shape)
    elif out.is_dir() and any(out.iterdir()) and not (out / MANIFEST).is_file():
        raise SettingsError(f"{out} is not empty and holds no dataset; choose another folder")
    work = Work(out / "work", shape, n, shard_size)
    try:
        work.folder.mkdir(parents=True, exist_ok=True)
        if not os.access(work.folder, os.W_OK):
            raise PermissionError(13, "Permission denied")
        for leftover in work.folder.glob(".*.tmp"):
            leftover.unlink()
        write_json(work.folder / PLAN, {"shape": shape, "n": n, "shard_size": shard_size})
    except OSError as error:
        raise SettingsError(f"cannot write to {out}: {error.strerror}") from None
    return work
