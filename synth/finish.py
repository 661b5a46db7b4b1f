"""The finishing pass: tasks that are done become a dataset."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from synth.base import EVIDENCE, REJECTED, Base, evidence_rows, positions_of, rejected_rows
from synth.candidates import Candidates, Units
from synth.counts import counted
from synth.files import remove_folder
from synth.layout import Layout, OldRows, shard_name, split_of
from synth.manifest import SPLITS, Manifest
from synth.plan import key_at
from synth.resolve import Outcome
from synth.settings import Settings, Versions, fingerprint, shape_of
from synth.shard_tables import ShardTables
from synth.stage import Stage
from synth.tally import Tally
from synth.work import Work
from validate.columns import ROW_SCHEMA

EVIDENCE_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("max_ulp", pa.float64()),
        ("tolerance_used", pa.float64()),
        ("adjoint_reason", pa.string()),
        ("adjoint_tolerance_used", pa.float64()),
        ("plain_max_ulp", pa.float64()),
        ("plain_tolerance_used", pa.float64()),
    ]
)


@dataclass
class Finish:
    """All that the finishing pass works on. ``tally`` is what was counted before this run."""

    settings: Settings
    versions: Versions
    out: Path
    work: Work
    base: Base
    before: Manifest | None
    tally: Tally
    evidence: list[pa.Table] = field(default_factory=list)

    def write(self, candidates: Candidates, outcome: Outcome) -> Manifest:
        """Write the dataset, and remove the working folder. Safe to run again after a kill."""
        stage = Stage(self.work.folder)
        stage.clear()
        layout = Layout.of(candidates.chosen_structures(outcome), self.work.shard_size)
        kept = layout.kept(self.base)
        shards = ShardTables(stage, layout, kept)
        leaving = [shard for shard in self.base.shards if shard.entry["path"] not in kept]
        old, categories = OldRows(leaving, self.settings.categories), self.settings.categories
        # A few old shards at a time, where no unit comes between them.
        ends = sorted(int(shard.positions[-1]) + 1 for shard in leaving)
        for (span, wanted), path in self._units():
            rows, tally = candidates.rows_of(path, wanted, outcome)
            self._count(tally)
            while ends and ends[0] <= wanted[0]:
                _add(shards, pa.table({}), categories, old, ends.pop(0))
            _add(shards, rows, categories, old, span[1] * len(categories))
        for end in ends:
            _add(shards, pa.table({}), categories, old, end)
        self._extras(stage)
        entries = {name: shard.entry for name, shard in kept.items()} | shards.entries
        manifest = self._manifest(layout, entries, stage, outcome)
        stage.close(manifest, self.out)
        return commit(stage, self.out, manifest, self.work.folder)

    def _count(self, tally: Tally) -> None:
        if tally.evidence:
            # As a table, because a million dicts would not fit.
            self.evidence.append(pa.Table.from_pylist(tally.evidence, schema=EVIDENCE_SCHEMA))
            tally.evidence = []
        self.tally.add(tally)

    def _units(self) -> Iterator[tuple[tuple[tuple[int, int], Any], Path]]:
        units = Units(self.settings, self.work, self.base)
        for span_wanted, (task, _) in zip(units.spans(), units.tasks(), strict=True):
            yield span_wanted, self.work.done[task.name]

    def _extras(self, stage: Stage) -> None:
        """Raw measurements of this host (they depend on its maths library, so no shard holds them)
        and rows that failed a check."""
        if self.work.n <= self.base.rows:
            return
        earlier = evidence_rows(self.out, EVIDENCE_SCHEMA) if self.base.rows else []
        if earlier or self.evidence:
            stage.extra(EVIDENCE, _parquet(pa.concat_tables([*earlier, *self.evidence])))
        rejected = (rejected_rows(self.out) if self.base.rows else []) + self.tally.rejected_rows
        lines = [json.dumps(row, sort_keys=True) for row in rejected]
        stage.extra(REJECTED, "".join(f"{line}\n" for line in lines).encode())

    def _manifest(
        self, layout: Layout, entries: Mapping[str, dict[str, Any]], stage: Stage, outcome: Outcome
    ) -> Manifest:
        names = [shard_name(split, number) for split, number, _ in layout.shards()]
        paths = [
            stage.folder / name if (stage.folder / name).is_file() else self.out / name
            for name in names
        ]
        shape = shape_of(self.settings, self.versions)
        return Manifest(
            fingerprint=fingerprint(shape),
            rows=self.work.n,
            shard_size=self.work.shard_size,
            shape=shape,
            shards=[entries[name] for name in names],
            counts=counted(paths),
            draws=self._draws(outcome),
        )

    def _draws(self, outcome: Outcome) -> dict[str, Any]:
        earlier = self.before.draws if self.before is not None and self.base.rows else None
        if earlier is not None and self.work.n <= self.base.rows:
            return earlier
        displaced = [
            key_at(position, self.settings.categories)
            for position in outcome.links
            if position >= self.base.rows
        ]
        return draws(self.tally, [list(key) for key in displaced], earlier)


def commit(stage: Stage, out: Path, manifest: Manifest, work: Path) -> Manifest:
    """Put a staged dataset in its place and remove the working folder."""
    stage.commit(out, manifest)
    remove_folder(work)
    return manifest


def draws(
    tally: Tally, displaced: list[list[Any]], earlier: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The manifest's ``draws``; ``earlier`` is that of the dataset that was grown."""
    rejects = tally.rejects.copy()
    rejects.update((earlier or {}).get("rejects", {}))
    by_reason: dict[str, int] = {}
    for name, count in rejects.items():
        reason = name.rpartition("/")[2]
        by_reason[reason] = by_reason.get(reason, 0) + count
    return {
        "draws": tally.draws + (earlier or {}).get("draws", 0),
        "rejects": dict(sorted(rejects.items())),
        "rejects_by_reason": dict(sorted(by_reason.items())),
        "failed_checks": len(tally.rejected_rows) + (earlier or {}).get("failed_checks", 0),
        "displaced": sorted([*displaced, *(earlier or {}).get("displaced", [])]),
    }


def _parquet(table: pa.Table) -> bytes:
    sink = BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _add(
    shards: ShardTables, rows: pa.Table, categories: tuple[str, ...], old: OldRows, end: int
) -> None:
    """Add the rows of a unit, and those of old shards that stand before its ``end``."""
    splits: list[str] = []
    if rows.num_rows:
        rows = rows.select(ROW_SCHEMA.names)
        splits = [split_of(structure) for structure in rows["structure"].to_pylist()]
    for split in SPLITS:
        mine = [at for at, name in enumerate(splits) if name == split]
        pieces = [rows.take(mine)] if mine else []
        pieces += [table.select(ROW_SCHEMA.names) for table in old.before(split, end)]
        if pieces:
            joined = pa.concat_tables(pieces)
            positions = positions_of(joined, categories)
            order = np.argsort(positions)
            shards.add(split, joined.take(order), positions[order])
