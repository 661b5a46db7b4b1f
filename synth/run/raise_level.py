"""A finished dataset is checked further without being made again.

Its rows go back into ``work/`` as given rows: units check them at the new level instead of drawing
them. Rows that the finishing pass had drawn as replacements are left out, and their units draw as
if fresh, so that the shards get the bytes of a run that asked for the new level at once.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from generators.program.keys import program_keys
from generators.program.serialise import from_json
from synth.dataset.existing import as_text, kept_renames, rejected_rows
from synth.dataset.files import write_parquet, write_text
from synth.dataset.manifest import SPLITS, Manifest, damaged_shards
from synth.dataset.positions import Key, Task, position_of
from synth.dataset.settings import Settings, differences
from synth.dataset.verify_levels import VERIFY_LEVELS
from synth.errors import SettingsError
from synth.rows.maker import NOT_MEASURED, Row
from synth.run.tally import Tally
from synth.run.unit import UNIT_SCHEMA
from synth.run.work import Work

BEFORE = "before.json"
"""In ``work/``: what the lower level's draws came to. Written when all given rows are there."""

_LEVEL_KEYS = ("verify", "archs", "resources", "nvrtc version")
_ROWS_AT_ONCE = 256


def is_raise(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Whether two shapes differ in how far rows were checked alone, and ours is the higher level.

    Rows that were run have lost the adjoints that did not agree: they are at the top already.
    """
    alike = {**theirs, **{key: ours.get(key) for key in _LEVEL_KEYS}}
    if differences(ours, alike):
        return False
    return VERIFY_LEVELS.index(ours["verify"]) > VERIFY_LEVELS.index(theirs["verify"])


def give_rows(out: Path, manifest: Manifest, settings: Settings, work: Work) -> None:
    """Write the rows of a finished dataset into ``work`` as given rows, once.

    :class:`SettingsError` when its shards are not those of its manifest.
    """
    if (work.folder / BEFORE).is_file():
        return
    damaged = damaged_shards(out, manifest)
    if damaged:
        raise SettingsError(
            f"{out} cannot be checked further: {damaged[0]}; generate it again at --verify "
            f"{manifest.shape['verify']} first"
        )
    kept, categories = kept_renames(out, manifest), settings.categories
    displaced = {(index, category) for index, category in manifest.draws["displaced"]}
    rows = _rows_in_order(out, manifest, categories)
    for unit, group in groupby(rows, key=lambda row: _key(row)[0] // work.per_unit):
        given = [
            _as_drawn(row, None if kept is None else int(kept[position_of(_key(row), categories)]))
            for row in group
            if _key(row) not in displaced
        ]
        path = work.folder / _given_name(unit * work.per_unit)
        write_parquet(path, pa.Table.from_pylist(given, schema=UNIT_SCHEMA))
    write_text(work.folder / BEFORE, _tally(out, manifest).to_json())


def given_rows(work: Path, task: Task) -> bytes | None:
    """Parquet of the rows of a unit that are drawn already, None when there are none."""
    path = work / _given_name(task.starts[0][0][0])
    is_unit = task.name.startswith("unit-")
    return path.read_bytes() if is_unit and path.is_file() else None


def _given_name(start: int) -> str:
    return f"given-{start:08d}.parquet"


def tally_before(work: Path) -> Tally:
    """What the lower level's draws came to; nothing when no level was raised."""
    path = work / BEFORE
    return Tally.from_json(path.read_text("utf-8")) if path.is_file() else Tally()


def _key(row: Row) -> Key:
    return row["provenance"]["index"], row["category"]


def _rows_in_order(out: Path, manifest: Manifest, categories: tuple[str, ...]) -> Iterator[Row]:
    """All rows in order of (index, category), with one batch of each split in memory."""

    def rows_of(split: str) -> Iterator[Row]:
        for shard in manifest.shards:
            if shard["split"] == split:
                file = pq.ParquetFile(out / shard["path"])
                for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                    yield from batch.to_pylist()

    def place(row: Row) -> tuple[int, int]:
        index, category = _key(row)
        return index, categories.index(category)

    return heapq.merge(*(rows_of(split) for split in SPLITS), key=place)


def _as_drawn(row: Row, rename: int | None) -> Row:
    """A row as its unit's maker gave it, before any check, with its rename key; where the dataset
    keeps none, that comes from the program."""
    found = program_keys(from_json(row["program"])).rename if rename is None else as_text(rename)
    return {
        **row,
        "checks": dict(NOT_MEASURED),
        "provenance": {**row["provenance"], "nvrtc": None},
        "rename": found,
        "tally": "",
    }


def _tally(out: Path, manifest: Manifest) -> Tally:
    rejects = Counter(manifest.draws["rejects"])
    return Tally(manifest.draws["draws"], rejects, rejected_rows(out))
