"""A dataset without the rows that repeat benchmark texts.

The rows that stay keep their split and their order; only where shards begin may change.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.codegen.translator import check_warp_version
from synth.dataset.files import read_parquet
from synth.dataset.manifest import SPLITS, Manifest, require_whole
from synth.dataset.names import HARVEST_REJECTED, OVERLAP, REJECTED
from synth.dataset.placement import Placement
from synth.dataset.shards import ShardTables
from synth.dataset.stage import Stage
from synth.derive.overlap_report import Against, Report, compare
from synth.derive.sources import carry_evidence, close, finished, held_for
from synth.errors import SettingsError
from synth.reasons import RuleReason

_REJECT = f"decontaminate/any/{RuleReason.OVERLAP}"


def decontaminate(
    source: Path, out: Path, against: Against, progress: Callable[[int], None] = lambda _n: None
) -> tuple[Report, Manifest]:
    """Write ``source`` without the rows that reach the threshold to a new folder, ``out``.

    Gives what was found and the manifest of the new dataset. Raises :class:`SettingsError` when
    ``source`` is no whole dataset, ``out`` is taken, or no row would be left.
    """
    check_warp_version()
    manifest = finished(source, "decontaminate")
    require_whole(source, manifest)
    shape = _shape(manifest, against)
    with held_for(out, shape) as there:
        report = compare(source, against, progress)
        return report, there or _write(source, manifest, shape, report, out)


def _shape(manifest: Manifest, against: Against) -> dict[str, Any]:
    """What the new dataset is made with: as before, and what was taken out of which rows."""
    source = {"fingerprint": manifest.fingerprint, "rows": manifest.rows}
    done = {**against.as_dict(), **source, "rows_digest": manifest.rows_digest()}
    earlier = manifest.shape.get("decontaminated", [])
    return {**manifest.shape, "decontaminated": [*earlier, done]}


def _write(
    source: Path, manifest: Manifest, shape: dict[str, Any], report: Report, out: Path
) -> Manifest:
    dropped = {scored.id for scored in report.over}
    stays = Counter(manifest.counts["split"]) - Counter(scored.split for scored in report.over)
    if not stays:
        raise SettingsError(f"no row of {source} would be left; raise --threshold")
    stage = Stage(out / "work")
    stage.clear()
    placement = Placement(manifest.shard_size, {split: np.arange(stays[split]) for split in SPLITS})
    shards = ShardTables(stage, placement)
    ids = _filter(shards, source, manifest, dropped)
    carry_evidence(stage, [source], ids)
    for name in (REJECTED, HARVEST_REJECTED):
        stage.extra(name, _bytes_of(source / name))
    stage.extra(OVERLAP, _bytes_of(source / OVERLAP) + _lines(report))
    return close(shards, out, shape, _draws(manifest.draws, len(dropped)))


def _filter(shards: ShardTables, source: Path, manifest: Manifest, dropped: set[str]) -> set[str]:
    """Add the rows that stay, a shard at a time; gives their ids."""
    unwanted = pa.array(sorted(dropped), pa.string())
    places: Counter[str] = Counter()
    ids: set[str] = set()
    for entry in manifest.shards:
        table, split = read_parquet(source / entry["path"]), entry["split"]
        rows = table.filter(pc.invert(pc.is_in(table["id"], unwanted)))
        if rows.num_rows:
            first = places[split]
            shards.add(split, rows, np.arange(first, first + rows.num_rows))
            places[split] += rows.num_rows
            ids.update(rows["id"].to_pylist())
    return ids


def _bytes_of(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _lines(report: Report) -> bytes:
    """The rows that go, each with how much it shares with which benchmark.

    What it shares is not quoted: the file is published, and would carry the benchmark along.
    """
    entries = ({**scored.as_dict(), "reason": RuleReason.OVERLAP} for scored in report.over)
    lines = [
        json.dumps({k: v for k, v in entry.items() if k != "run"}, sort_keys=True)
        for entry in entries
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _draws(before: Mapping[str, Any], dropped: int) -> dict[str, Any]:
    """The draws of the source, with the rows that went among those not taken."""
    more = {_REJECT: dropped} if dropped else {}
    reasons: dict[str, int] = {RuleReason.OVERLAP: dropped} if dropped else {}
    return {
        **before,
        "rejects": _sum(before["rejects"], more),
        "rejects_by_reason": _sum(before["rejects_by_reason"], reasons),
    }


def _sum(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted((Counter(first) + Counter(second)).items()))
