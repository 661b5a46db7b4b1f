"""Datasets that are made from finished ones: whole sources, a free folder, nothing half written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.files import parquet_bytes, read_parquet, remove_folder, remove_trash
from synth.dataset.lock import held_alone
from synth.dataset.manifest import (
    SPLITS,
    Manifest,
    counted,
    damaged_shards,
    finished_manifest,
    read_manifest,
)
from synth.dataset.names import EVIDENCE
from synth.dataset.settings import Versions, fingerprint
from synth.dataset.shards import ShardTables
from synth.dataset.stage import Stage
from synth.errors import SettingsError
from synth.run.finish import EVIDENCE_SCHEMA, commit
from synth.run.prepare import disk_troubles


def finished(folder: Path, do: str) -> Manifest:
    """The manifest of a finished dataset, that the installed Warp's headers fit.

    ``do`` is the verb of what is to be done with it, for :class:`SettingsError`.
    """
    manifest = finished_manifest(folder)
    installed = Versions.installed().warp
    if manifest.shape.get("warp version") not in (installed, None):
        raise SettingsError(
            f"{folder} was made with Warp {manifest.shape['warp version']}: {do} with that and "
            f"not {installed}, so that the headers fit"
        )
    return manifest


@contextmanager
def held_for(out: Path, shape: Mapping[str, Any]) -> Iterator[Manifest | None]:
    """Hold the folder of a new dataset of that shape.

    Gives the manifest of one that is there already, also of one that was killed while it was put in
    its place; None when it is to be written. :class:`SettingsError` for a folder that is taken.
    """
    if out.exists() and not out.is_dir():
        raise SettingsError(f"{out} is no folder; choose another with -o")
    with held_alone(out), disk_troubles(out):
        remove_trash(out)
        yield _there(out, fingerprint(shape))


def _there(out: Path, wanted: str) -> Manifest | None:
    there = read_manifest(out)
    if there is not None and there.fingerprint == wanted:
        # Killed when all was in its place.
        if damaged := damaged_shards(out, there):
            raise SettingsError(f"{out} is not whole: {damaged[0]}; delete it and make it again")
        remove_folder(out / "work")
        return there
    staged = Stage(out / "work").manifest()
    if staged is not None and staged.fingerprint == wanted:
        # Killed while it put things in their places.
        return commit(Stage(out / "work"), out, staged, out / "work")
    if any(path != out / "work" / "staged" for path in _files(out)):
        raise SettingsError(f"{out} is there already; choose another with -o")
    return None


def _files(out: Path) -> list[Path]:
    """What lies in a folder, and in ``work`` there."""
    found = [path for path in out.iterdir() if path.name != "work"]
    return [*found, *(out / "work").glob("*")]


def carry_evidence(stage: Stage, folders: Sequence[Path], ids: set[str]) -> None:
    """Stage what datasets keep of raw measurements of these rows."""
    wanted = pa.array(sorted(ids), pa.string())
    tables = [
        read_parquet(folder / EVIDENCE).select(EVIDENCE_SCHEMA.names)
        for folder in folders
        if (folder / EVIDENCE).is_file()
    ]
    if tables:
        kept = [table.filter(pc.is_in(table["id"], wanted)) for table in tables]
        stage.extra(EVIDENCE, parquet_bytes(pa.concat_tables(kept)))


def close(shards: ShardTables, out: Path, shape: dict[str, Any], draws: dict[str, Any]) -> Manifest:
    """Write the manifest of staged shards, and put all in its place."""
    stage = shards.stage
    names = sorted(shards.entries, key=lambda name: (SPLITS.index(name.partition("/")[0]), name))
    entries = [shards.entries[name] for name in names]
    manifest = Manifest(
        fingerprint=fingerprint(shape),
        rows=sum(entry["rows"] for entry in entries),
        shard_size=shards.placement.shard_size,
        shape=shape,
        shards=entries,
        counts=counted([stage.folder / name for name in names]),
        draws=draws,
    )
    stage.close(manifest, out)
    return commit(stage, out, manifest, out / "work")
