"""Which row stands in which shard, and which shards of a dataset can stay as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.existing import ExistingRows, Keys64, Shard, as_text, positions_of
from synth.dataset.files import read_parquet
from synth.dataset.manifest import SPLITS
from synth.dataset.positions import Positions


def split_of(structure: str) -> str:
    """train for 90 % of all structures, validation and test for 5 % each; never two for one."""
    ticket = int(hashlib.sha256(f"split/{structure}".encode()).hexdigest()[:8], 16) / 2**32
    return "train" if ticket < 0.90 else "validation" if ticket < 0.95 else "test"


def shard_name(split: str, number: int) -> str:
    return f"{split}/shard-{number:05d}.parquet"


@dataclass(frozen=True)
class Placement:
    """The positions of each split, ascending; the shard of a row is its place there by size."""

    shard_size: int
    positions: dict[str, Positions]

    @staticmethod
    def of(structures: Keys64, shard_size: int) -> Placement:
        """The placement of a dataset whose rows have these structures, by position."""
        numbers = (SPLITS.index(split_of(as_text(int(key)))) for key in structures)
        splits = np.fromiter(numbers, np.int8, structures.size)
        found = {split: np.flatnonzero(splits == at) for at, split in enumerate(SPLITS)}
        return Placement(shard_size, found)

    def shards(self) -> Iterator[tuple[str, int, Positions]]:
        """Split, number and positions of each shard. A split without rows has none."""
        for split, positions in self.positions.items():
            for number in range(-(-positions.size // self.shard_size)):
                first = number * self.shard_size
                yield split, number, positions[first : first + self.shard_size]

    def kept(self, existing: ExistingRows) -> dict[str, Shard]:
        """Shards of a dataset that hold just what they are to hold, by name."""
        before = {shard.entry["path"]: shard for shard in existing.shards}
        wanted = {shard_name(split, number): rows for split, number, rows in self.shards()}
        return {
            name: before[name]
            for name, rows in wanted.items()
            if name in before and np.array_equal(before[name].positions, rows)
        }


class OldRows:
    """Rows of shards that do not stay, in order of position within each split."""

    def __init__(self, shards: Sequence[Shard], categories: Sequence[str]) -> None:
        self._categories = categories
        self._left = {
            split: sorted(
                (shard for shard in shards if shard.entry["split"] == split),
                key=lambda shard: int(shard.positions[0]),
            )
            for split in SPLITS
        }
        self._open: dict[str, pa.Table] = {}

    def before(self, split: str, position: int) -> list[pa.Table]:
        """The rows of a split, not given yet, that stand before a position; no piece is empty."""
        pieces: list[pa.Table] = []
        while True:
            table = self._open.pop(split, None)
            if table is None:
                if not self._left[split] or self._left[split][0].positions[0] >= position:
                    return pieces
                table = read_parquet(self._left[split].pop(0).path)
            earlier = positions_of(table, self._categories) < position
            if earlier.any():
                pieces.append(table.filter(pa.array(earlier)))
            if not earlier.all():
                self._open[split] = table.filter(pc.invert(pa.array(earlier)))
                return pieces
