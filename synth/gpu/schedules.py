"""The configuration `schedules`: the timed schedules of rows with their texts, by split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from generators.program import ir
from generators.program.serialise import from_json
from synth.dataset.files import write_parquet
from synth.dataset.manifest import SPLITS
from synth.dataset.schedules import FOLDER, SCHEDULES_SCHEMA, schedules_path
from synth.errors import SettingsError
from synth.render.cuda.module import render
from synth.render.cuda.schedule import Schedule


def write_schedules(
    out: Path,
    rows: Mapping[str, Mapping[str, Any]],
    records: Sequence[Mapping[str, Any]],
    device_slug: str,
) -> list[Path]:
    """Write `schedules/<split>-<device>.parquet` for each split that has timed schedules, in place
    of earlier ones of that device; `rows` are by id, with their programs. Their paths.

    Raises SettingsError where they cannot be written.
    """
    paths = []
    for split in SPLITS:
        path = schedules_path(out, split, device_slug)
        entries = _entries(rows, [r for r in records if r["split"] == split])
        try:
            if not entries:
                path.unlink(missing_ok=True)
                continue
            (out / FOLDER).mkdir(exist_ok=True)
            write_parquet(path, pa.Table.from_pylist(entries, schema=SCHEDULES_SCHEMA))
        except OSError as error:
            raise SettingsError(f"cannot write {path}: {error.strerror}") from None
        paths.append(path)
    return paths


def _entries(
    rows: Mapping[str, Mapping[str, Any]], records: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    timed = [record for record in records if record["time_us"] is not None]
    of_warp = {(r["id"], r["sizes"]): r["time_us"] for r in timed if r["contender"] == "warp"}
    texts = _Texts(rows)
    return [
        {
            **{name: record[name] for name in SCHEDULES_SCHEMA.names if name in record},
            "text": texts.of(record["id"], record["schedule"]),
            "warp_time_us": of_warp.get((record["id"], record["sizes"])),
        }
        for record in timed
        if record["contender"] == "plain"
    ]


class _Texts:
    """Texts of rows under schedules, each printed once."""

    def __init__(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        self._rows = rows
        self._programs: dict[str, ir.Program] = {}
        self._found: dict[tuple[str, str], str] = {}

    def of(self, row_id: str, schedule: str) -> str:
        if (row_id, schedule) not in self._found:
            if row_id not in self._programs:
                self._programs[row_id] = from_json(self._rows[row_id]["program"])
            chosen = Schedule.from_json(schedule)
            self._found[row_id, schedule] = render(self._programs[row_id], chosen).text
        return self._found[row_id, schedule]
