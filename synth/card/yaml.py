"""The YAML of a card: what the Hub and ``load_dataset`` read of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.lowered import LOWERED_SCHEMA, lowered_files, stale_files
from synth.dataset.lowered import PATTERN as LOWERED_PATTERN
from synth.dataset.manifest import SPLITS, Manifest
from synth.dataset.schedules import PATTERN, SCHEDULES_SCHEMA, schedule_files
from synth.dataset.views_index import Views
from validate.row.columns import ROW_SCHEMA, huggingface_feature

_SIZE_CATEGORIES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
)
_TAGS = ("cuda", "gpu", "warp", "code", "code-generation")


@dataclass(frozen=True)
class Config:
    """A configuration of the dataset: its schema, and its files by split."""

    name: str
    schema: pa.Schema
    files: Mapping[str, Sequence[Path]]
    pattern: str
    """Where a split's files lie, with the split's name for ``{split}``."""


def size_category(rows: int) -> str:
    """The Hub's name for a dataset of that many rows."""
    return next((name for limit, name in _SIZE_CATEGORIES if rows < limit), "1M<n<10M")


def configs_of(out: Path, manifest: Manifest, views: Views | None) -> list[Config]:
    """The rows as they are, their timed schedules where there are some, their machine code where
    none of it is of other shards, then each training view."""
    shards = {
        split: [out / shard["path"] for shard in manifest.shards if shard["split"] == split]
        for split in SPLITS
    }
    found = [Config("default", ROW_SCHEMA, shards, "{split}/shard-*.parquet")]
    if timed := schedule_files(out):
        found.append(Config("schedules", SCHEDULES_SCHEMA, timed, PATTERN))
    if (machine := lowered_files(out)) and not stale_files(out, manifest):
        found.append(Config("lowered", LOWERED_SCHEMA, machine, LOWERED_PATTERN))
    if views is None:
        return found
    for name, view in views.views.items():
        if not view.files:
            continue
        files = {
            split: [out / file.path for file in view.files if file.split == split]
            for split in SPLITS
        }
        found.append(Config(name, views.schema(name), files, f"views/{name}/{{split}}-*.parquet"))
    return found


def yaml_head(configs: Sequence[Config], licence: str, name: str, rows: int, *tags: str) -> str:
    """The YAML between its marks; ``licence`` is the line or lines that state it."""
    tag_lines = "\n".join(f"  - {tag}" for tag in (*_TAGS, *tags))
    return f"""---
{licence}
pretty_name: {name}
task_categories:
  - text-generation
language:
  - code
tags:
{tag_lines}
size_categories:
  - {size_category(rows)}
{_configs(configs)}---
"""


def with_configs(card: str, configs: Sequence[Config]) -> str:
    """A card with its list of configurations made anew; one that has none is left alone."""
    begin, end = card.find("\nconfigs:\n"), card.find("\n---\n")
    if not 0 <= begin < end:
        return card
    return card[: begin + 1] + _configs(configs) + card[end + 1 :]


def _configs(configs: Sequence[Config]) -> str:
    files = [line for config in configs for line in _data_files(config)]
    infos = [line for config in configs for line in _info(config)]
    return "\n".join(["configs:", *files, "dataset_info:", *infos]) + "\n"


def _data_files(config: Config) -> Iterator[str]:
    yield f"  - config_name: {config.name}"
    if config.name == "default":
        yield "    default: true"
    yield "    data_files:"
    for split, files in config.files.items():
        if files:
            yield f"      - split: {split}"
            yield f"        path: {config.pattern.format(split=split)}"


def _info(config: Config) -> Iterator[str]:
    """Features, and rows and sizes of the splits; a loader that counts other rows refuses."""
    yield f"  - config_name: {config.name}"
    yield "    features:"
    for field in config.schema:
        yield from _feature(field.name, huggingface_feature(field.type), "      ")
    yield "    splits:"
    stored = whole = 0
    for split, files in config.files.items():
        if not files:
            continue
        metadata = [pq.read_metadata(path) for path in files]
        groups = [one.row_group(at) for one in metadata for at in range(one.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        yield f"      - name: {split}"
        yield f"        num_bytes: {size}"
        yield f"        num_examples: {sum(one.num_rows for one in metadata)}"
        stored += sum(path.stat().st_size for path in files)
        whole += size
    yield f"    download_size: {stored}"
    yield f"    dataset_size: {whole}"


def _feature(name: str, feature: object, indent: str) -> Iterator[str]:
    """A feature as the Hub writes it; ``list`` is what all versions of `datasets` read."""
    yield f"{indent}- name: {name}"
    inner, kind = feature, "struct"
    if isinstance(feature, list):
        inner, kind = feature[0], "list"
    assert isinstance(inner, dict)
    if "_type" in inner:
        yield f"{indent}  {'list' if kind == 'list' else 'dtype'}: {inner['dtype']}"
        return
    yield f"{indent}  {kind}:"
    for field, deeper in inner.items():
        yield from _feature(field, deeper, f"{indent}    ")
