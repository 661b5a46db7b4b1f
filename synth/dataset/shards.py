"""Splits and shards: rows go to their split by the hash of their structure, in row order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.files import sha256_of, write_parquet
from synth.dataset.manifest import SPLITS
from synth.dataset.placement import Placement, shard_name, split_of
from synth.dataset.positions import Positions
from synth.dataset.stage import Stage
from validate.row.columns import ROW_SCHEMA


class ShardWriter:
    """Collects rows by split and writes a shard whenever one is full; memory stays bounded."""

    def __init__(self, out: Path, shard_size: int) -> None:
        self.out = out
        self.shard_size = shard_size
        self.shards: list[dict[str, Any]] = []
        self._waiting: dict[str, list[dict[str, Any]]] = {split: [] for split in SPLITS}
        self._numbers: Counter[str] = Counter()

    def add(self, row: dict[str, Any], key: str | None = None) -> None:
        """Take a row; ``key`` decides its split when it has no structure."""
        split = split_of(row["structure"] if key is None else key)
        self._waiting[split].append(row)
        if len(self._waiting[split]) >= self.shard_size:
            self._flush(split)

    def close(self) -> None:
        """Write what is left. A split without rows gets no shard: readers refuse empty ones."""
        for split in SPLITS:
            if self._waiting[split]:
                self._flush(split)
        self._remove_stale()

    def _flush(self, split: str) -> None:
        rows = self._waiting[split]
        name = shard_name(split, self._numbers[split])
        path = self.out / name
        write_parquet(path, pa.Table.from_pylist(rows, schema=ROW_SCHEMA))
        self.shards.append(
            {"path": name, "split": split, "rows": len(rows), "sha256": sha256_of(path)}
        )
        self._numbers[split] += 1
        self._waiting[split] = []

    def _remove_stale(self) -> None:
        """Shards of an earlier, larger dataset in the same folder."""
        written = {shard["path"] for shard in self.shards}
        for split in SPLITS:
            for path in (self.out / split).glob("shard-*.parquet"):
                if f"{split}/{path.name}" not in written:
                    path.unlink()


@dataclass
class ShardTables:
    """Writes a shard when it has all of its rows: memory is bounded by one open shard a split.

    ``kept`` are names of shards that stay as they are; ``entries`` are those written, for the
    manifest.
    """

    stage: Stage
    placement: Placement
    kept: Collection[str] = ()
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    _waiting: dict[str, list[pa.Table]] = field(default_factory=dict)

    def add(self, split: str, rows: pa.Table, positions: Positions) -> None:
        """Take rows of a split, at their positions in ascending order."""
        places = np.searchsorted(self.placement.positions[split], positions)
        numbers = places // self.placement.shard_size
        ends = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
        for first, stop in pairwise(ends):
            self._append(split, int(numbers[first]), rows.slice(first, stop - first))

    def _append(self, split: str, number: int, rows: pa.Table) -> None:
        name, size = shard_name(split, number), self.placement.shard_size
        assert name not in self.kept, f"{name} was to stay as it is"
        waiting = self._waiting.setdefault(name, [])
        waiting.append(rows)
        wanted = min(size, self.placement.positions[split].size - number * size)
        if sum(piece.num_rows for piece in waiting) < wanted:
            return
        table = pa.concat_tables(self._waiting.pop(name)).select(ROW_SCHEMA.names)
        assert len(pc.unique(table["id"])) == wanted, f"{name} holds an id twice"
        self.entries[name] = self.stage.shard(name, split, table.cast(ROW_SCHEMA))
