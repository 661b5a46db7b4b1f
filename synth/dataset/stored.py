"""A dataset on disk, read as it is stored: neither Warp nor `datasets` is needed for it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.manifest import SPLITS, read_manifest
from synth.errors import SettingsError

ROWS_AT_ONCE = 64

Row = dict[str, Any]


def shard_paths(out: Path) -> list[Path]:
    """The shards of a dataset folder, in order; :class:`SettingsError` when there are none, or when
    the folder has a manifest that is damaged."""
    read_manifest(out)
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
    """Every row with its split; :class:`SettingsError` for a shard that cannot be read, or that
    holds no rows of ours.

    ``columns`` names those to read, by default all.
    """
    names = None if columns is None else list(columns)
    for path in shard_paths(out):
        for batch in _batches(path, names):
            for row in batch.to_pylist():
                yield path.parent.name, row


def _batches(path: Path, names: list[str] | None) -> Iterator[pa.RecordBatch]:
    """Nothing is held open between two: who stops midway may be the end of the interpreter."""
    with readable(path):
        file = pq.ParquetFile(path)
        require_columns(file.schema_arrow.names, ("id",), path)
        batches = file.iter_batches(ROWS_AT_ONCE, columns=names)
    while True:
        with readable(path):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def require_columns(there: Collection[str], names: Collection[str], out: Path) -> None:
    """:class:`SettingsError` for ``out`` when its rows have not each of these columns."""
    missing = [name for name in names if name not in there]
    if missing:
        raise SettingsError(
            f"{out} is no dataset of this version: its rows have no {', '.join(missing)}"
        )


def rows_at(out: Path, places: Sequence[int], columns: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """The rows at those places (counted from 0 over all shards, ascending) with their splits.

    Row groups that hold none of them are not read. :class:`SettingsError` for a shard that cannot
    be read.
    """
    first = 0
    for path in shard_paths(out):
        with readable(path):
            file = pq.ParquetFile(path)
            for group in range(file.num_row_groups):
                count = file.metadata.row_group(group).num_rows
                inside = [place - first for place in _between(places, first, first + count)]
                for row in _rows_of_group(file, group, inside, columns):
                    yield path.parent.name, row
                first += count


def _between(places: Sequence[int], low: int, high: int) -> Sequence[int]:
    return places[bisect_left(places, low) : bisect_left(places, high)]


def _rows_of_group(
    file: pq.ParquetFile, group: int, places: Sequence[int], columns: Sequence[str]
) -> Iterator[Row]:
    if not places:
        return
    first = 0
    for batch in file.iter_batches(ROWS_AT_ONCE, row_groups=[group], columns=list(columns)):
        here = _between(places, first, first + batch.num_rows)
        yield from batch.take(pa.array([place - first for place in here], pa.int64())).to_pylist()
        first += batch.num_rows


def read_columns(path: Path, columns: Sequence[str]) -> list[Row]:
    """Some columns of a shard; :class:`SettingsError` when it cannot be read or has not all."""
    with readable(path):
        require_columns(pq.read_schema(path).names, columns, path)
        rows: list[Row] = pq.read_table(path, columns=list(columns)).to_pylist()
    return rows


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn a file that cannot be read into :class:`SettingsError`."""
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
