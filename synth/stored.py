"""A dataset on disk, read as it is stored: neither Warp nor `datasets` is needed for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.errors import SettingsError
from synth.manifest import SPLITS

ROWS_AT_ONCE = 64

Row = dict[str, Any]


def shard_paths(out: Path) -> list[Path]:
    """The shards of a dataset folder, in order; :class:`SettingsError` when there are none."""
    paths = [p for split in SPLITS for p in sorted((out / split).glob("*.parquet"))]
    if not paths:
        raise SettingsError(f"no dataset at {out}: it has no shard in {', '.join(SPLITS)}")
    return paths


def count_rows(out: Path) -> int:
    """Rows of all shards; :class:`SettingsError` when one cannot be read."""
    total = 0
    for path in shard_paths(out):
        with readable(path):
            total += pq.ParquetFile(path).metadata.num_rows
    return total


def stored_rows(out: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[str, Row]]:
    """Every row with its split; :class:`SettingsError` for a shard that cannot be read.

    ``columns`` names those to read, by default all.
    """
    names = None if columns is None else list(columns)
    for path in shard_paths(out):
        with readable(path):
            for batch in pq.ParquetFile(path).iter_batches(ROWS_AT_ONCE, columns=names):
                for row in batch.to_pylist():
                    yield path.parent.name, row


def read_columns(path: Path, columns: Sequence[str]) -> list[Row]:
    """Some columns of a shard; :class:`SettingsError` when it cannot be read."""
    with readable(path):
        rows: list[Row] = pq.read_table(path, columns=list(columns)).to_pylist()
    return rows


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn a file that cannot be read into :class:`SettingsError`."""
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
