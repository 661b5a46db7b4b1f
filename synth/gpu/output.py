"""Files of GPU runs: `gpu/` beside the shards, a Parquet for each device, never a shard."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.dataset.files import write_parquet, write_text
from synth.dataset.names import GPU
from synth.errors import SettingsError
from validate.gpu.device import Device
from validate.gpu.nvml import Sample
from validate.gpu.runner import RowVerdict

ROW_KEYS = ("id", "category", "idiom", "level")
"""What a result repeats of its row."""

RUN_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("category", pa.string()),
        ("idiom", pa.string()),
        ("level", pa.int32()),
        ("text", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("shapes", pa.list_(pa.string())),
        ("tolerance_used", pa.float64()),
        ("time_us", pa.float64()),
        ("large_sizes", pa.string()),
        ("large_time_us", pa.float64()),
        ("device", pa.string()),
        ("device_uuid", pa.string()),
        ("driver", pa.string()),
        ("cuda", pa.string()),
        ("nvrtc", pa.string()),
        ("cupy", pa.string()),
        ("pairsmith", pa.string()),
        ("arch", pa.string()),
        ("batch", pa.int32()),
        ("alone", pa.bool_()),
    ]
)

SAMPLE_SCHEMA = pa.schema(
    [
        ("uuid", pa.string()),
        ("at_s", pa.float64()),
        ("busy_percent", pa.int32()),
        ("memory_bytes", pa.int64()),
        ("power_w", pa.float64()),
        ("clock_mhz", pa.int32()),
    ]
)


def ready_folder(out: Path) -> None:
    """Make `gpu/` and see that it can be written, before hours are spent. Raises SettingsError."""
    folder = out / GPU
    try:
        folder.mkdir(exist_ok=True)
        write_text(folder / ".writable", "")
        (folder / ".writable").unlink()
    except OSError as error:
        raise SettingsError(f"cannot write to {folder}: {error.strerror}") from None


def run_records(
    verdicts: Iterable[RowVerdict], devices: Sequence[Device], versions: Mapping[str, str]
) -> list[dict[str, Any]]:
    """One record for each text of each row, in the order of the rows' ids."""
    by_uuid = {device.uuid: device for device in devices}
    records = []
    for verdict in verdicts:
        device = by_uuid[verdict.device]
        common = {
            **{key: verdict.row[key] for key in ROW_KEYS},
            "device": device.name,
            "device_uuid": device.uuid,
            "driver": device.driver,
            "cuda": device.cuda,
            "cupy": device.cupy,
            "arch": device.arch,
            "batch": verdict.batch,
            "alone": verdict.alone,
            **versions,
        }
        records += [{**common, **asdict(result)} for result in verdict.results]
    return sorted(records, key=lambda record: (record["id"], record["text"]))


def write_run(
    out: Path,
    kind: str,
    records: Sequence[Mapping[str, Any]],
    schema: pa.Schema,
    about: Mapping[str, Any],
) -> Path:
    """Write `gpu/<kind>-<device>.parquet`, in place of an earlier one of that device; its path.

    `about` (settings and figures of the whole run) goes to the file's metadata under `pairsmith`.
    """
    path = out / GPU / f"{kind}-{device_slug(about['devices'][0]['name'])}.parquet"
    table = pa.Table.from_pylist([dict(record) for record in records], schema=schema)
    table = table.replace_schema_metadata({"pairsmith": json.dumps(about, sort_keys=True)})
    try:
        write_parquet(path, table)
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}") from None
    return path


def write_samples(out: Path, device: str, samples: Sequence[Sample]) -> Path:
    """Write `gpu/use-<device>.parquet`: what NVML said during the run."""
    path = out / GPU / f"use-{device_slug(device)}.parquet"
    records = [asdict(sample) for sample in samples]
    write_parquet(path, pa.Table.from_pylist(records, schema=SAMPLE_SCHEMA))
    return path


def device_slug(name: str) -> str:
    """A device's name as part of a file's: `nvidia-h200`."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
