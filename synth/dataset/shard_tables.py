"""Rows, in order of position within each split, become staged shards."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.placement import Layout, shard_name
from synth.dataset.positions import Positions
from synth.dataset.stage import Stage
from validate.row.columns import ROW_SCHEMA


@dataclass
class ShardTables:
    """Writes a shard when it has all of its rows: memory is bounded by one open shard a split.

    ``kept`` are names of shards that stay as they are; ``entries`` are those written, for the
    manifest.
    """

    stage: Stage
    layout: Layout
    kept: Collection[str] = ()
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    _waiting: dict[str, list[pa.Table]] = field(default_factory=dict)

    def add(self, split: str, rows: pa.Table, positions: Positions) -> None:
        """Take rows of a split, at their positions in ascending order."""
        places = np.searchsorted(self.layout.positions[split], positions)
        numbers = places // self.layout.shard_size
        ends = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
        for first, stop in pairwise(ends):
            self._append(split, int(numbers[first]), rows.slice(first, stop - first))

    def _append(self, split: str, number: int, rows: pa.Table) -> None:
        name, size = shard_name(split, number), self.layout.shard_size
        assert name not in self.kept, f"{name} was to stay as it is"
        waiting = self._waiting.setdefault(name, [])
        waiting.append(rows)
        wanted = min(size, self.layout.positions[split].size - number * size)
        if sum(piece.num_rows for piece in waiting) < wanted:
            return
        table = pa.concat_tables(self._waiting.pop(name)).select(ROW_SCHEMA.names)
        assert len(pc.unique(table["id"])) == wanted, f"{name} holds an id twice"
        self.entries[name] = self.stage.shard(name, split, table.cast(ROW_SCHEMA))
