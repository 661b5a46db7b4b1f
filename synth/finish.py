"""The finishing pass: units become a dataset."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth import card
from synth.errors import SettingsError
from synth.files import write_parquet, write_text
from synth.gpu_summary import card_section
from synth.headers import copy_headers
from synth.manifest import Manifest
from synth.pair import Row
from synth.plan import plan_units
from synth.raise_level import tally_before
from synth.resolve import Candidate, resolve
from synth.settings import Settings, Versions, fingerprint, shape_of
from synth.shards import ShardWriter
from synth.unit import Key, Tally, finished_unit, read_tally
from validate.columns import ROW_SCHEMA

_KEY_COLUMNS = ["idiom", "category", "structure", "rename", "provenance"]

EVIDENCE_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("max_ulp", pa.float64()),
        ("tolerance_used", pa.float64()),
        ("adjoint_reason", pa.string()),
        ("adjoint_tolerance_used", pa.float64()),
    ]
)


def finish_dataset(
    settings: Settings, versions: Versions, n: int, shard_size: int, out: Path, work: Path
) -> Manifest:
    """Make the dataset of the first ``n`` rows from the units in ``work``; removes them at the end.

    :class:`SettingsError` when a unit is missing. Safe to run again after a kill.
    """
    paths = [work / unit.file_name for unit in plan_units(n, len(settings.categories))]
    missing = [path.name for path in paths if finished_unit(path) is None]
    if missing:
        raise SettingsError(
            f"{len(missing)} of {len(paths)} units are not made yet (first: {missing[0]}); "
            "run the same generate command again"
        )
    tally = tally_before(work)
    candidates = list(islice(_candidates(paths, tally), n))
    replaced = resolve(settings, versions, candidates, tally)
    writer = ShardWriter(out, shard_size)
    ids = set()
    for row in islice(_rows(paths, replaced), n):
        assert row["id"] not in ids, f"two rows have the id {row['id']}"
        ids.add(row["id"])
        writer.add(row)
    writer.close()
    _write_evidence(out, tally, ids)
    _write_rejected(out, tally)
    copy_headers(out / "include")
    shape = shape_of(settings, versions)
    manifest = Manifest(
        fingerprint=fingerprint(shape),
        rows=n,
        shard_size=shard_size,
        shape=shape,
        shards=writer.shards,
        counts={name: dict(sorted(c.items())) for name, c in writer.counts.items()},
        draws=_draws(tally, replaced),
    )
    write_text(out / "README.md", card.render(manifest, asdict(versions), card_section(out)))
    manifest.write(out)
    shutil.rmtree(work)
    return manifest


def _candidates(paths: list[Path], tally: Tally) -> Iterator[Candidate]:
    for path in paths:
        table = pq.read_table(path, columns=_KEY_COLUMNS)
        tally.add(read_tally(path))
        for row in table.to_pylist():
            origin = row["provenance"]
            key = (origin["index"], row["category"])
            yield Candidate(key, row["idiom"], row["structure"], row["rename"], origin["attempt"])


def _rows(paths: list[Path], replaced: dict[Key, Row]) -> Iterator[Row]:
    columns = ROW_SCHEMA.names
    for path in paths:
        for row in pq.read_table(path, columns=columns).to_pylist():
            yield replaced.get((row["provenance"]["index"], row["category"]), row)


def _write_evidence(out: Path, tally: Tally, ids: set[str]) -> None:
    """Raw measurements of this host: they depend on its maths library, so no shard holds them."""
    rows = [found for found in tally.evidence if found["id"] in ids]
    path = out / "evidence" / "run.parquet"
    path.unlink(missing_ok=True)
    if rows:
        write_parquet(path, pa.Table.from_pylist(rows, schema=EVIDENCE_SCHEMA))


def _write_rejected(out: Path, tally: Tally) -> None:
    path = out / "rejected" / "rejected.jsonl"
    path.unlink(missing_ok=True)
    if tally.rejected_rows:
        lines = [json.dumps(row, sort_keys=True) for row in tally.rejected_rows]
        write_text(path, "\n".join(lines) + "\n")


def _draws(tally: Tally, replaced: Mapping[Key, Row]) -> dict[str, Any]:
    by_reason: Counter[str] = Counter()
    for name, count in tally.rejects.items():
        by_reason[name.rpartition("/")[2]] += count
    return {
        "draws": tally.draws,
        "rejects": dict(sorted(tally.rejects.items())),
        "rejects_by_reason": dict(sorted(by_reason.items())),
        "failed_checks": len(tally.rejected_rows),
        "displaced": sorted([index, category] for index, category in replaced),
    }
