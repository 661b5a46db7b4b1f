"""The configuration `schedules`: the timed schedules of rows with their texts, files by split."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from synth.dataset.manifest import SPLITS
from validate.row.columns import schema_of

FOLDER = "schedules"
PATTERN = f"{FOLDER}/{{split}}-*.parquet"

SCHEDULES_SCHEMA = schema_of(
    [
        ("id", pa.string()),
        ("category", pa.string()),
        ("idiom", pa.string()),
        ("level", pa.int32()),
        ("own", pa.bool_()),
        ("style", pa.string()),
        ("schedule", pa.string()),
        ("text", pa.string()),
        ("sizes", pa.string()),
        ("elements", pa.int64()),
        ("time_us", pa.float64()),
        ("warp_time_us", pa.float64()),
        ("share_of_copy", pa.float64()),
        ("share_of_peak", pa.float64()),
        ("rank", pa.int32()),
        ("device", pa.string()),
    ]
)
"""One row for each schedule and size that was timed; `warp_time_us` is Warp's text at that size,
null where it was not timed. Other columns as in `gpu/tune-<device>.parquet`."""


def schedules_path(out: Path, split: str, device_slug: str) -> Path:
    """Where a device's schedules of a split lie."""
    return out / FOLDER / f"{split}-{device_slug}.parquet"


def schedule_files(out: Path) -> dict[str, list[Path]]:
    """The files of each split that has some, all devices together."""
    found = {split: sorted((out / FOLDER).glob(f"{split}-*.parquet")) for split in SPLITS}
    return {split: paths for split, paths in found.items() if paths}
