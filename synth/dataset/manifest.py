"""``manifest.json``: what a dataset was made with, and which files it consists of."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from synth.dataset.files import read_parquet, sha256_of, write_json
from synth.dataset.settings import differences, fingerprint
from synth.errors import SettingsError

SPLITS = ("train", "validation", "test")
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """Contents of the manifest.

    ``shape`` holds settings and versions that shape rows, ``shards`` an entry (path, split, rows,
    sha256) for each file, ``counts`` rows by split, category and level, ``draws`` how many draws
    were made, why some were not taken, and which (index, category) the finishing pass drew anew.
    """

    fingerprint: str
    rows: int
    shard_size: int
    shape: dict[str, Any]
    shards: list[dict[str, Any]]
    counts: dict[str, dict[str, int]]
    draws: dict[str, Any]

    def rows_digest(self) -> str:
        """First 16 hex digits of the sha256 over names and digests of all shards."""
        digest = hashlib.sha256()
        for shard in self.shards:
            digest.update(f"{shard['path']} {shard['sha256']}\n".encode())
        return digest.hexdigest()[:16]

    @property
    def is_harvested(self) -> bool:
        """Whether people wrote the kernels: such rows have no structure, no reference, no plain
        CUDA."""
        return "structure_cap" not in self.shape

    def write(self, out: Path) -> None:
        write_json(out / MANIFEST, asdict(self))


def read_manifest(out: Path) -> Manifest | None:
    """The manifest of a dataset, None when there is none.

    :class:`SettingsError` when the file is there but is no manifest.
    """
    path = out / MANIFEST
    if not path.is_file():
        return None
    try:
        manifest = Manifest(**json.loads(path.read_text("utf-8")))
        for shard in manifest.shards:
            _ = shard["path"], shard["rows"], shard["sha256"]
        if "seed" in manifest.shape:
            _ = manifest.shape["verify"], manifest.draws["displaced"]
        return manifest
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SettingsError(
            f"{path} is damaged ({error}); delete {out} and generate again"
        ) from None


def finished_manifest(out: Path) -> Manifest:
    """The manifest of a dataset that is to be worked on; :class:`SettingsError` without one."""
    manifest = read_manifest(out)
    if manifest is None:
        raise SettingsError(f"{out} holds no finished dataset")
    return manifest


def require_whole(out: Path, manifest: Manifest) -> None:
    """:class:`SettingsError` for a dataset with shards that are missing or altered."""
    if damaged := damaged_shards(out, manifest):
        raise SettingsError(
            f"{out} is not whole: {damaged[0]}; run the command that made it again first"
        )


def require_same_shape(where: Path, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Refuse to mix rows of different settings or versions in one folder."""
    if "decontaminated" in theirs:
        raise SettingsError(f"{where} was decontaminated and cannot grow; choose another with -o")
    if fingerprint(ours) != fingerprint(theirs):
        what = "; ".join(differences(ours, theirs))
        raise SettingsError(
            f"{where} holds a dataset of other settings: {what}. Choose another folder with -o"
        )


def damaged_shards(out: Path, manifest: Manifest) -> list[str]:
    """One line for each shard that is missing or does not have the bytes of the manifest."""
    problems = []
    for shard in manifest.shards:
        path = out / shard["path"]
        if not path.is_file():
            problems.append(f"{shard['path']} is missing")
        elif sha256_of(path) != shard["sha256"]:
            problems.append(f"{shard['path']} does not have the sha256 of the manifest")
    return problems


def contradictions(out: Path, manifest: Manifest, found: set[str], rows: int) -> list[str]:
    """Where a manifest and the folder disagree, one line each; ``found`` are the shards there."""
    problems = damaged_shards(out, manifest)
    listed = {shard["path"] for shard in manifest.shards}
    problems += [f"{path} is not in the manifest" for path in sorted(found - listed)]
    if manifest.rows != rows or sum(shard["rows"] for shard in manifest.shards) != rows:
        problems.append(f"the manifest counts {manifest.rows} rows, the shards hold {rows}")
    if manifest.fingerprint != fingerprint(manifest.shape):
        problems.append("the fingerprint of the manifest is not that of its settings")
    return problems


_STATUSES = ("adjoint", "gradient")
_COLUMNS = ["category", "level", "idiom", *(f"checks.{name}" for name in _STATUSES)]


def counted(shards: Sequence[Path]) -> dict[str, dict[str, int]]:
    """Rows by split, category, level, idiom (``category/idiom``), and by status of adjoint and
    gradient (``category/status``).

    The split of a shard is the name of its folder.
    """
    found: dict[str, Counter[str]] = {
        name: Counter() for name in ("split", "category", "level", "idiom", *_STATUSES)
    }
    for path in shards:
        for row in read_parquet(path, columns=_COLUMNS).to_pylist():
            category = row["category"]
            found["split"][path.parent.name] += 1
            found["category"][category] += 1
            if row["level"] is not None:
                found["level"][str(row["level"])] += 1
            if row["idiom"] is not None:
                found["idiom"][f"{category}/{row['idiom']}"] += 1
            for name in _STATUSES:
                if (status := row["checks"].get(name)) is not None:
                    found[name][f"{category}/{status}"] += 1
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}
