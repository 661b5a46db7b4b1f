"""What a dataset that is there already brings into a run: its whole shards and their keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from generators.program.keys import program_keys
from generators.program.serialise import from_json
from synth.dataset.files import parquet_bytes, read_parquet, sha256_of
from synth.dataset.manifest import Manifest
from synth.dataset.names import EVIDENCE, KEYS, REJECTED
from synth.dataset.positions import Positions

Keys64 = NDArray[np.uint64]
"""Keys as numbers: they are 16 hex digits."""

_MARK = b"pairsmith keys"


@dataclass
class Shard:
    """A whole shard: its entry in the manifest, and the positions of its rows, ascending."""

    entry: dict[str, Any]
    path: Path
    positions: Positions


@dataclass
class ExistingRows:
    """The rows of a dataset that need not be made again, sorted by position.

    ``rows`` is how many the dataset counts, with those of shards that are not whole; ``kept`` are
    the rename keys of all of them, None where the dataset does not keep them.
    """

    rows: int = 0
    shards: list[Shard] = field(default_factory=list)
    positions: Positions = field(default_factory=lambda: np.empty(0, np.int64))
    structures: Keys64 = field(default_factory=lambda: np.empty(0, np.uint64))
    kept: Keys64 | None = None

    def renames(self) -> Keys64:
        """The rename keys of the rows: those kept, or from programs, a third of a millisecond
        each."""
        if not self.shards:
            return np.empty(0, np.uint64)
        if self.kept is not None:
            return self.kept[self.positions]
        found = []
        for shard in self.shards:
            programs = read_parquet(shard.path, ["program"])["program"].to_pylist()
            found.append(as_numbers([program_keys(from_json(p)).rename for p in programs]))
        order = np.argsort(np.concatenate([shard.positions for shard in self.shards]))
        keys: Keys64 = np.concatenate(found)[order]
        return keys


def read_existing(out: Path, manifest: Manifest | None, categories: Sequence[str]) -> ExistingRows:
    """The whole shards of a finished dataset; nothing when there is none."""
    if manifest is None:
        return ExistingRows()
    existing = ExistingRows(manifest.rows, kept=kept_renames(out, manifest))
    structures = []
    for entry in manifest.shards:
        path = out / entry["path"]
        if not path.is_file() or sha256_of(path) != entry["sha256"]:
            continue
        table = read_parquet(path, columns=["category", "structure", "provenance"])
        existing.shards.append(Shard(entry, path, positions_of(table, categories)))
        structures.append(as_numbers(table["structure"]))
    if existing.shards:
        positions = np.concatenate([shard.positions for shard in existing.shards])
        order = np.argsort(positions)
        existing.positions = positions[order]
        existing.structures = np.concatenate(structures)[order]
    return existing


def positions_of(table: pa.Table, categories: Sequence[str]) -> Positions:
    """Positions of a table's rows."""
    indices = pc.struct_field(table["provenance"], "index").to_numpy().astype(np.int64)
    places = pc.index_in(table["category"], pa.array(categories)).to_numpy().astype(np.int64)
    found: Positions = indices * len(categories) + places
    return found


def as_numbers(keys: pa.ChunkedArray | Sequence[str]) -> Keys64:
    """Keys of 16 hex digits as numbers."""
    texts = keys.to_pylist() if isinstance(keys, pa.ChunkedArray) else keys
    return np.fromiter((int(key, 16) for key in texts), np.uint64, len(texts))


def as_text(key: int) -> str:
    """A key as the row has it."""
    return f"{key:016x}"


def renames_file(renames: Keys64, manifest: Manifest) -> bytes:
    """Parquet of the rename keys of all rows of a dataset, by position; it says whose they are."""
    schema = pa.schema([("rename", pa.uint64())], metadata={_MARK: _mark(renames, manifest)})
    return parquet_bytes(pa.table([renames], schema=schema))


def kept_renames(out: Path, manifest: Manifest) -> Keys64 | None:
    """The rename keys that a dataset keeps, None unless they are whole and of these very rows."""
    try:
        table = read_parquet(out / KEYS)
        renames: Keys64 = table["rename"].to_numpy()
    except (OSError, KeyError, pa.ArrowException):
        return None
    said = (table.schema.metadata or {}).get(_MARK, b"").decode("ascii", "replace")
    return renames if said == _mark(renames, manifest) else None


def _mark(renames: Keys64, manifest: Manifest) -> str:
    """A digest of the keys and of the shards that they belong to."""
    return hashlib.sha256(manifest.rows_digest().encode() + renames.tobytes()).hexdigest()


def evidence_rows(out: Path, schema: pa.Schema) -> list[pa.Table]:
    """What a dataset keeps of raw measurements; nothing when it has none."""
    path = out / EVIDENCE
    return [read_parquet(path).select(schema.names).cast(schema)] if path.is_file() else []


def rejected_rows(out: Path) -> list[dict[str, Any]]:
    """Rows of a dataset that failed a check."""
    path = out / REJECTED
    return (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        if path.is_file()
        else []
    )
