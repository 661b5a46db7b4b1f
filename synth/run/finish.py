"""The finishing pass: tasks that are done become a dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from synth.card.page import write_card
from synth.dataset.existing import evidence_rows, positions_of, rejected_rows, renames_file
from synth.dataset.files import parquet_bytes, remove_folder
from synth.dataset.headers import copy_headers
from synth.dataset.manifest import SPLITS, Manifest, counted
from synth.dataset.names import EVIDENCE, KEYS, REJECTED
from synth.dataset.placement import OldRows, Placement, shard_name, split_of
from synth.dataset.positions import key_at
from synth.dataset.settings import fingerprint
from synth.dataset.shards import ShardTables
from synth.dataset.stage import Stage
from synth.dataset.views_index import views_of
from synth.run.candidates import Candidates
from synth.run.resolve import Outcome
from synth.run.state import Run
from synth.run.tally import Tally
from validate.row.columns import ROW_SCHEMA

EVIDENCE_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("max_ulp", pa.float64()),
        ("tolerance_used", pa.float64()),
        ("adjoint_reason", pa.string()),
        ("array_reason", pa.string()),
        ("adjoint_tolerance_used", pa.float64()),
        ("gradient_reason", pa.string()),
        ("gradient_tolerance_used", pa.float64()),
        ("plain_max_ulp", pa.float64()),
        ("plain_tolerance_used", pa.float64()),
    ]
)


@dataclass
class Finish:
    """The finishing pass of a run."""

    run: Run
    evidence: list[pa.Table] = field(default_factory=list)

    def write(self, candidates: Candidates, outcome: Outcome) -> Manifest:
        """Write the dataset, and remove the working folder. Safe to run again after a kill."""
        stage = Stage(self.run.work.folder)
        stage.clear()
        structures, renames = candidates.chosen_keys(outcome)
        placement = Placement.of(structures, self.run.work.shard_size)
        kept = placement.kept(self.run.existing)
        shards = ShardTables(stage, placement, kept)
        leaving = [shard for shard in self.run.existing.shards if shard.entry["path"] not in kept]
        categories = self.run.settings.categories
        old = OldRows(leaving, categories)
        # A few old shards at a time, where no unit comes between them.
        ends = sorted(int(shard.positions[-1]) + 1 for shard in leaving)
        for task, wanted in self.run.units():
            rows, tally = candidates.rows_of(self.run.work.done[task.name], wanted, outcome)
            self._count(tally)
            while ends and ends[0] <= wanted[0]:
                _add(shards, pa.table({}), categories, old, ends.pop(0))
            _add(shards, rows, categories, old, int(wanted[-1]) + 1)
        for end in ends:
            _add(shards, pa.table({}), categories, old, end)
        self._extras(stage)
        entries = {name: shard.entry for name, shard in kept.items()} | shards.entries
        manifest = self._manifest(placement, entries, stage, outcome)
        stage.extra(KEYS, renames_file(renames, manifest))
        stage.close(manifest, self.run.out)
        return commit(stage, self.run.out, manifest, self.run.work.folder)

    def _count(self, tally: Tally) -> None:
        if tally.evidence:
            # As a table, because a million dicts would not fit.
            self.evidence.append(pa.Table.from_pylist(tally.evidence, schema=EVIDENCE_SCHEMA))
            tally.evidence = []
        self.run.tally.add(tally)

    def _extras(self, stage: Stage) -> None:
        """Raw measurements of this host (they depend on its maths library, so no shard holds them)
        and rows that failed a check."""
        if self.run.work.n <= self.run.existing.rows:
            return
        earlier = evidence_rows(self.run.out, EVIDENCE_SCHEMA) if self.run.existing.rows else []
        if earlier or self.evidence:
            stage.extra(EVIDENCE, parquet_bytes(pa.concat_tables([*earlier, *self.evidence])))
        rejected = rejected_rows(self.run.out) if self.run.existing.rows else []
        rejected += self.run.tally.rejected_rows
        lines = [json.dumps(row, sort_keys=True) for row in rejected]
        stage.extra(REJECTED, "".join(f"{line}\n" for line in lines).encode())

    def _manifest(
        self,
        placement: Placement,
        entries: Mapping[str, dict[str, Any]],
        stage: Stage,
        outcome: Outcome,
    ) -> Manifest:
        names = [shard_name(split, number) for split, number, _ in placement.shards()]
        paths = [
            stage.folder / name if (stage.folder / name).is_file() else self.run.out / name
            for name in names
        ]
        return Manifest(
            fingerprint=fingerprint(self.run.work.shape),
            rows=self.run.work.n,
            shard_size=self.run.work.shard_size,
            shape=self.run.work.shape,
            shards=[entries[name] for name in names],
            counts=counted(paths),
            draws=self._draws(outcome),
        )

    def _draws(self, outcome: Outcome) -> dict[str, Any]:
        before, rows = self.run.before, self.run.existing.rows
        earlier = before.draws if before is not None and rows else None
        if earlier is not None and self.run.work.n <= rows:
            return earlier
        displaced = [
            key_at(position, self.run.settings.categories)
            for position in outcome.links
            if position >= self.run.existing.rows
        ]
        return draws(self.run.tally, [list(key) for key in displaced], earlier)


def commit(stage: Stage, out: Path, manifest: Manifest, work: Path) -> Manifest:
    """Put a staged dataset in its place, the manifest last, and remove the working folder.

    Safe to repeat after a kill.
    """
    stage.put(out, manifest)
    copy_headers(out / "include")
    write_card(out, manifest, views_of(out, manifest))
    manifest.write(out)
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
