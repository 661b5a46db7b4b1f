"""Datasets of different seeds become one, in which no two rows are equal up to names.

In order of the datasets, and of rows in each, a row enters whose rename key no earlier row holds,
and whose structure has room. The split of a row follows from its structure: it stays what it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synth.codegen.translator import check_warp_version
from synth.dataset.existing import ExistingRows, Keys64, read_existing
from synth.dataset.files import read_parquet
from synth.dataset.manifest import SPLITS, Manifest, require_whole
from synth.dataset.names import REJECTED
from synth.dataset.placement import Placement
from synth.dataset.positions import Positions
from synth.dataset.settings import STRUCTURE_CAP, differences
from synth.dataset.shards import ShardTables
from synth.dataset.stage import Stage
from synth.derive.sources import carry_evidence, close, finished, held_for
from synth.errors import SettingsError
from synth.reasons import RuleReason
from synth.run.finish import draws
from synth.run.limits import require_numbers
from synth.run.tally import Tally

_MAY_DIFFER = ("seed", "categories", "levels")


@dataclass(frozen=True)
class _Source:
    """A dataset to merge; ``first`` is how many rows stand before its own."""

    out: Path
    manifest: Manifest
    existing: ExistingRows
    first: int


def merge(folders: Sequence[Path], out: Path, *, shard_size: int = 1000) -> Manifest:
    """Merge finished datasets into a new folder; they stay as they are.

    Raises :class:`SettingsError` when they cannot be one dataset, are not whole, or ``out`` is
    taken.
    """
    if len(folders) < 2:
        raise SettingsError("name at least two datasets to merge")
    require_numbers(1, shard_size)
    check_warp_version()
    manifests = [_manifest(folder) for folder in folders]
    shape = _shape(folders, manifests)
    with held_for(out, shape) as there:
        return there or _write(_sources(folders, manifests), shape, out, shard_size)


def _manifest(folder: Path) -> Manifest:
    manifest = finished(folder, "merge")
    if "decontaminated" in manifest.shape:
        raise SettingsError(f"{folder} was decontaminated: merge first, decontaminate the whole")
    if "seed" not in manifest.shape:
        raise SettingsError(f"{folder} was harvested or merged: only generated datasets merge")
    require_whole(folder, manifest)
    return manifest


def _shape(folders: Sequence[Path], manifests: Sequence[Manifest]) -> dict[str, Any]:
    """What the merged dataset was made with; ``merged`` says it for each of its parts."""
    first = {k: v for k, v in manifests[0].shape.items() if k not in _MAY_DIFFER}
    seeds = Counter((m.shape["seed"], tuple(m.shape["categories"])) for m in manifests)
    for folder, manifest in zip(folders, manifests, strict=True):
        theirs = {k: v for k, v in manifest.shape.items() if k not in _MAY_DIFFER}
        if what := "; ".join(differences(first, theirs)):
            raise SettingsError(f"{folder} cannot be merged with {folders[0]}: {what}")
        if seeds[manifest.shape["seed"], tuple(manifest.shape["categories"])] > 1:
            raise SettingsError(f"{folder} has the seed of another; let one of them grow instead")
    parts = [
        {**{k: m.shape[k] for k in _MAY_DIFFER}, "rows": m.rows, "fingerprint": m.fingerprint}
        for m in manifests
    ]
    levels = sorted({level for m in manifests for level in m.shape["levels"]})
    return {**first, "levels": levels, "merged": parts}


def _sources(folders: Sequence[Path], manifests: Sequence[Manifest]) -> list[_Source]:
    sources, first = [], 0
    for folder, manifest in zip(folders, manifests, strict=True):
        existing = read_existing(folder, manifest, manifest.shape["categories"])
        sources.append(_Source(folder, manifest, existing, first))
        first += manifest.rows
    return sources


def _write(
    sources: Sequence[_Source], shape: dict[str, Any], out: Path, shard_size: int
) -> Manifest:
    structures = np.concatenate([source.existing.structures for source in sources])
    duplicate, crowded = refused(
        structures, np.concatenate([source.existing.renames() for source in sources])
    )
    stays = ~(duplicate | crowded)
    kept = np.flatnonzero(stays)
    stage = Stage(out / "work")
    stage.clear()
    placement = Placement.of(structures[kept], shard_size)
    shards = ShardTables(stage, placement)
    ids: set[str] = set()
    for source in sources:
        for split in SPLITS:
            _add(shards, split, source, stays, kept, ids)
    folders = [source.out for source in sources]
    carry_evidence(stage, folders, ids)
    failed = [folder / REJECTED for folder in folders if (folder / REJECTED).is_file()]
    stage.extra(REJECTED, b"".join(path.read_bytes() for path in failed))
    refusals: dict[str, int] = {
        RuleReason.DUPLICATE: duplicate.sum(),
        RuleReason.STRUCTURE_CAP: crowded.sum(),
    }
    return close(shards, out, shape, _draws(sources, refusals))


def refused(structures: Keys64, renames: Keys64) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Rows that an earlier one is equal to up to names, and of the others those for whose structure
    there is no room; both arrays hold the keys of rows in order."""
    duplicate = np.ones(renames.size, np.bool_)
    duplicate[np.unique(renames, return_index=True)[1]] = False
    rest = np.flatnonzero(~duplicate)
    order = rest[np.argsort(structures[rest], kind="stable")]
    keys = structures[order]
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    rank = np.arange(keys.size) - np.repeat(starts, np.diff(np.r_[starts, keys.size]))
    crowded = np.zeros(renames.size, np.bool_)
    crowded[order] = rank >= STRUCTURE_CAP
    return duplicate, crowded


def _add(
    shards: ShardTables,
    split: str,
    source: _Source,
    stays: NDArray[np.bool_],
    kept: Positions,
    ids: set[str],
) -> None:
    """Add the rows of a split of one dataset, a shard at a time."""
    for shard in source.existing.shards:
        if shard.entry["split"] != split:
            continue
        places = source.first + np.searchsorted(source.existing.positions, shard.positions)
        here = stays[places]
        if here.any():
            rows = read_parquet(shard.path).filter(pa.array(here))
            ids.update(rows["id"].to_pylist())
            shards.add(split, rows, np.searchsorted(kept, places[here]))


def _draws(sources: Sequence[_Source], refusals: Mapping[str, int]) -> dict[str, Any]:
    parts = [source.manifest.draws for source in sources]
    tally = Tally(sum(part["draws"] for part in parts))
    for part in parts:
        tally.rejects.update(part["rejects"])
    tally.rejects.update({f"merged/any/{name}": int(n) for name, n in refusals.items() if n})
    return draws(tally, [], {"failed_checks": sum(part["failed_checks"] for part in parts)})
