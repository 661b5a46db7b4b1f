"""A dataset is written beside its place first, and moved there when all of it is there.

A run that is killed while it moves files finds the new manifest in the staging folder, and goes on
moving: it needs nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth import card
from synth.base import EVIDENCE, REJECTED
from synth.failpoints import failpoint
from synth.files import (
    parquet_bytes,
    remove_folder,
    remove_leftovers,
    sha256_of,
    write_bytes,
    write_text,
)
from synth.gpu_summary import card_section
from synth.headers import copy_headers
from synth.manifest import SPLITS, Manifest, read_manifest

_FOLDER = "staged"
_EXTRAS = (EVIDENCE, REJECTED)


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

    def close(self, manifest: Manifest) -> None:
        """Write the manifest: from here on the dataset is the new one."""
        manifest.write(self.folder)

    def manifest(self) -> Manifest | None:
        """The manifest of a dataset that is staged in full, None while it is not."""
        return read_manifest(self.folder)

    def commit(self, out: Path, manifest: Manifest, versions: Mapping[str, object]) -> None:
        """Move everything into place, the manifest last. Safe to repeat after a kill."""
        remove_leftovers(out)
        for name in [*(entry["path"] for entry in manifest.shards), *map(str, _EXTRAS)]:
            self._move(out, name)
        _remove_stale(out, [entry["path"] for entry in manifest.shards])
        copy_headers(out / "include")
        write_text(out / "README.md", card.render(manifest, versions, card_section(out)))
        manifest.write(out)

    def _move(self, out: Path, name: str) -> None:
        staged, target = self.folder / name, out / name
        if not staged.is_file():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        failpoint(f"before moving {name}")
        staged.replace(target)
        failpoint(f"after moving {name}")


def _remove_stale(out: Path, names: Sequence[str]) -> None:
    """Shards of an earlier dataset in the same folder that the new one does not have."""
    for split in SPLITS:
        for path in sorted((out / split).glob("shard-*.parquet")):
            if f"{split}/{path.name}" not in names:
                failpoint(f"before removing {path.name}")
                path.unlink()
