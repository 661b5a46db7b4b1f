"""The configuration `lowered`: texts of rows down to machine code, a file for each shard, text and
architecture."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.files import write_parquet
from synth.dataset.manifest import SPLITS, Manifest, read_manifest
from synth.dataset.stored import readable
from synth.errors import SettingsError
from validate.row.columns import schema_of

FOLDER = "lowered"
PATTERN = f"{FOLDER}/{{split}}-*.parquet"
RESOURCES = ("registers", "spill_bytes", "shared_bytes")
"""What `checks` of a row has too, of Warp's forward kernel."""

LOWERED_SCHEMA = schema_of(
    [
        ("id", pa.string()),
        ("category", pa.string()),
        ("idiom", pa.string()),
        ("level", pa.int32()),
        ("arch", pa.string()),
        ("column", pa.string()),
        ("style", pa.string()),
        ("kernel", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("ptx", pa.string()),
        ("sass", pa.string()),
        ("lines", pa.list_(pa.struct([("offset", pa.int32()), ("line", pa.int32())]))),
        ("instructions", pa.int32()),
        ("registers", pa.int32()),
        ("spill_stores", pa.int64()),
        ("spill_loads", pa.int64()),
        ("spill_bytes", pa.int64()),
        ("shared_bytes", pa.int64()),
        ("stack_bytes", pa.int64()),
        ("constant_bytes", pa.int64()),
        ("barriers", pa.int32()),
        ("block_threads", pa.int32()),
        ("dynamic_shared_bytes", pa.int64()),
        ("blocks_per_sm", pa.int32()),
        ("occupancy", pa.float64()),
        ("limited_by", pa.string()),
        ("nvrtc", pa.string()),
        ("nvdisasm", pa.string()),
    ]
)
"""One row for each kernel of a text; one without a kernel's figures for a text that failed."""

_ABOUT = b"pairsmith"


def lowered_path(out: Path, shard: str, arch: str, column: str) -> Path:
    """Where what became of a column of a shard (`train/shard-00000.parquet`) lies."""
    split, name = shard.split("/")
    number = name.removeprefix("shard-").removesuffix(".parquet")
    return out / FOLDER / f"{split}-{arch}-{column}-{number}.parquet"


def write_lowered(
    path: Path, records: Sequence[Mapping[str, Any]], about: Mapping[str, Any]
) -> None:
    """Write records with what they were made of and by."""
    told = {**LOWERED_SCHEMA.metadata, _ABOUT: json.dumps(about, sort_keys=True).encode()}
    schema = LOWERED_SCHEMA.with_metadata(told)
    write_parquet(path, pa.Table.from_pylist(list(records), schema=schema))


def about_lowered(path: Path) -> dict[str, Any]:
    """What a file's records were made of and by. :class:`SettingsError` for one that is damaged."""
    with readable(path):
        try:
            found: dict[str, Any] = json.loads(pq.read_schema(path).metadata[_ABOUT])
        except (KeyError, TypeError, ValueError) as error:
            raise SettingsError(f"{path} cannot be read: {error}; delete it") from None
    return found


def lowered_files(out: Path) -> dict[str, list[Path]]:
    """The files of each split that has some."""
    found = {split: sorted((out / FOLDER).glob(f"{split}-*.parquet")) for split in SPLITS}
    return {split: paths for split, paths in found.items() if paths}


def stale_files(out: Path, manifest: Manifest | None = None) -> list[Path]:
    """Files whose shard is not, or is no longer, the one that the manifest names: the one that is
    given, else that of the folder. None are where there is no manifest."""
    manifest = manifest or read_manifest(out)
    if manifest is None:
        return []
    digests = {shard["path"]: shard["sha256"] for shard in manifest.shards}
    return [
        path
        for paths in lowered_files(out).values()
        for path in paths
        if digests.get((about := about_lowered(path))["shard"]) != about["shard_sha256"]
    ]


def lowered_records(
    out: Path, columns: Sequence[str] | None = None, manifest: Manifest | None = None
) -> Iterator[dict[str, Any]]:
    """Records of all files that are not stale, in order. :class:`SettingsError` for one that cannot
    be read."""
    for path in _current(out, manifest):
        with readable(path):
            names = None if columns is None else list(columns)
            yield from pq.read_table(path, columns=names).to_pylist()


def records_with_id(out: Path, row_id: str) -> Iterator[dict[str, Any]]:
    """The same of one row."""
    for path in _current(out):
        with readable(path):
            yield from pq.read_table(path, filters=[("id", "=", row_id)]).to_pylist()


def _current(out: Path, manifest: Manifest | None = None) -> list[Path]:
    stale = set(stale_files(out, manifest))
    return [path for paths in lowered_files(out).values() for path in paths if path not in stale]


def measured_resources(out: Path, archs: Mapping[str, Sequence[str]]) -> dict[str, dict[str, int]]:
    """By id, the `RESOURCES` of Warp's forward kernel, as `checks` of a row has them: on the first
    of the row's architectures (`archs`, by id) that it was lowered for, else on the first at
    all."""
    best: dict[str, tuple[int, dict[str, int]]] = {}
    names = ["id", "arch", "column", "status", *RESOURCES]
    for record in lowered_records(out, names):
        if record["column"] != "cuda_forward" or record["registers"] is None:
            continue
        wanted = list(archs.get(record["id"], ()))
        rank = wanted.index(record["arch"]) if record["arch"] in wanted else len(wanted)
        if record["id"] not in best or rank < best[record["id"]][0]:
            best[record["id"]] = rank, {name: record[name] for name in RESOURCES}
    return {row_id: found for row_id, (_, found) in best.items()}
