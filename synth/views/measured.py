"""Times of a row's schedules that a GPU has measured: what ``gpu tune`` left beside the dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.files import sha256_of
from synth.dataset.names import GPU
from synth.errors import SettingsError
from synth.render.cuda.schedule import Schedule
from validate.row.sizes import described

Row = Mapping[str, Any]
Record = Mapping[str, Any]

_COLUMNS = ["id", "contender", "own", "schedule", "sizes", "elements", "time_us", "device"]


@dataclass(frozen=True)
class Timed:
    """Of one row on one device at ``sizes``: microseconds of its own schedule, and of others."""

    device: str
    sizes: Mapping[str, int]
    own: Schedule
    own_us: float
    others: Sequence[tuple[Schedule, float]]


def tune_files(out: Path) -> list[Path]:
    """The tables of tunings beside a dataset."""
    return sorted((out / GPU).glob("tune-*.parquet"))


def tune_digests(out: Path) -> dict[str, str]:
    """Which tables there are, by name, and their sha256."""
    return {path.name: sha256_of(path) for path in tune_files(out)}


def timings_of(paths: Iterable[Path]) -> dict[str, Timed]:
    """The timings of each row, of the first table that has them, in the middle of the sizes that it
    was timed at. Raises SettingsError for a table that cannot be read."""
    found: dict[str, Timed] = {}
    for path in paths:
        try:
            records = pq.read_table(path, columns=_COLUMNS).to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise SettingsError(f"{path} cannot be read: {error}; delete it") from None
        by_row: dict[str, list[Record]] = {}
        for record in records:
            if record["contender"] == "plain" and record["time_us"] is not None:
                by_row.setdefault(record["id"], []).append(record)
        for row_id, listed in by_row.items():
            timed = _timed(listed)
            if timed is not None:
                found.setdefault(row_id, timed)
    return found


def timed_of(row: Row, timings: Mapping[str, Timed]) -> Timed | None:
    """The timings of a row, if the schedule that it has now is the one that was timed as its
    own."""
    found = timings.get(row["id"])
    own = replace(Schedule.from_json(row["schedule"]), limits="") if found else None
    return found if found is not None and found.own == own else None


def _timed(records: Sequence[Record]) -> Timed | None:
    by_sizes: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda one: (one["elements"], one["sizes"])):
        by_sizes.setdefault(record["sizes"], []).append(record)
    middle = list(by_sizes.values())[len(by_sizes) // 2]
    own = [record for record in middle if record["own"]]
    if not own:
        return None
    others = [(_schedule(r), r["time_us"]) for r in middle if not r["own"]]
    first = own[0]
    return Timed(
        first["device"], described(first["sizes"]), _schedule(first), first["time_us"], others
    )


def _schedule(record: Record) -> Schedule:
    return replace(Schedule.from_json(record["schedule"]), limits="")
