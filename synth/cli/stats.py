"""``stats``: what a dataset consists of, counted from its rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from synth.card.gpu_summary import gpu_runs
from synth.card.lowered import lowered, lowered_cells, lowered_heads, lowered_title, stale_line
from synth.card.tunings import tuning_line, tunings
from synth.dataset.manifest import read_manifest
from synth.dataset.stored import read_columns, shard_paths
from synth.reasons import reject_sentence
from validate.statuses import AdjointStatus, GradientStatus

_COLUMNS = ["id", "structure", "category", "idiom", "level", "checks", "ops", "schedule"]
_COLUMNS += ["array_reason"]
_STATUSES = {"adjoint": AdjointStatus, "gradient": GradientStatus}
_COUNTED = (
    "split",
    "category",
    "level",
    "archs",
    "run_forward",
    "run_plain",
    "plain_style",
    "array",
)


def collect(out: Path) -> dict[str, Any]:
    """Counts of the dataset at ``out``; :class:`synth.errors.SettingsError` when there is none."""
    counts: dict[str, Counter[str]] = {
        name: Counter() for name in (*_COUNTED, "idiom", "op", *_STATUSES)
    }
    structures: set[str] = set()
    rows = 0
    for path in shard_paths(out):
        for row in read_columns(path, _COLUMNS):
            rows += 1
            if row["structure"] is not None:
                structures.add(row["structure"])
                counts["level"][str(row["level"])] += 1
                counts["idiom"][f"{row['category']}/{row['idiom']}"] += 1
            counts["split"][path.parent.name] += 1
            counts["category"][row["category"]] += 1
            checks = row["checks"]
            counts["archs"][" ".join(checks["compile_archs"] or ("not measured",))] += 1
            counts["run_forward"][checks["run_forward"] or "not measured"] += 1
            counts["run_plain"][checks["run_plain"] or "not measured"] += 1
            if row["schedule"] is not None:
                counts["plain_style"][json.loads(row["schedule"])["style"]] += 1
            counts["array"][row["array_reason"] or checks["run_array"] or "not measured"] += 1
            for name in _STATUSES:
                status = checks.get(name) or "not measured"
                counts[name][f"{row['category']}/{status}"] += 1
            counts["op"].update(row["ops"])
    manifest = read_manifest(out)
    return {
        "rows": rows,
        "distinct_structures": len(structures),
        "counts": {name: dict(sorted(c.items())) for name, c in counts.items()},
        "draws": manifest.draws if manifest else None,
        "gpu": gpu_runs(out),
        "tunings": tunings(out),
        "lowered": lowered(out),
        "stale": stale_line(out),
        "shape": manifest.shape if manifest else None,
    }


def print_tables(found: dict[str, Any]) -> None:
    """Print what :func:`collect` found, to stdout."""
    console = Console()
    console.print(f"{found['rows']} rows, {found['distinct_structures']} distinct structures")
    for name in _COUNTED:
        console.print(_table(name, found["counts"][name]))
    for name in _STATUSES:
        console.print(_crossed(name, found["counts"][name]))
        legend = _legend(name, found["counts"][name])
        if legend.row_count:
            console.print(legend)
    console.print(_table("idiom", found["counts"]["idiom"]))
    for run in found["gpu"]:
        console.print(_table(f"{run['rows']} rows on {run['device']}", run["texts"]))
    for tuned in found["tunings"]:
        console.print(tuning_line(tuned))
    for one in found["lowered"]:
        console.print(lowered_title(one), highlight=False, markup=False)
        console.print(_folded(lowered_heads(), lowered_cells(one)))
    if found["stale"]:
        console.print(found["stale"], markup=False)
    if found["draws"]:
        draws = found["draws"]
        console.print(f"{draws['draws']} draws, {draws['failed_checks']} rows failed a check")
        if draws["rejects_by_reason"]:
            console.print(_explained("reject reason", draws["rejects_by_reason"]))


def _table(head: str, counts: dict[str, int]) -> Table:
    table = Table(head, "count")
    for name, count in counts.items():
        table.add_row(name, str(count))
    return table


def _folded(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    """A table of which a narrow terminal shows every letter."""
    table = Table()
    for head in heads:
        table.add_column(head, overflow="fold")
    for cells in lines:
        table.add_row(*cells)
    return table


def _explained(head: str, counts: dict[str, int]) -> Table:
    """The same for reasons, each with its sentence."""
    table = Table(head, "count", "meaning")
    for reason, count in counts.items():
        table.add_row(escape(reason), str(count), reject_sentence(reason))
    return table


def _legend(head: str, counts: dict[str, int]) -> Table:
    """The sentences of the statuses that are counted by "category/status" names."""
    table = Table(head, "meaning")
    counted = {name.split("/")[1] for name in counts}
    for status in _STATUSES[head]:
        if status in counted:
            table.add_row(status, status.sentence)
    return table


def _crossed(head: str, counts: dict[str, int]) -> Table:
    """A table of counts by "row/column" names."""
    columns = sorted({name.split("/")[1] for name in counts})
    table = Table(head)
    for column in columns:
        table.add_column(column, overflow="fold")
    for line in sorted({name.split("/")[0] for name in counts}):
        table.add_row(line, *(str(counts.get(f"{line}/{column}", 0)) for column in columns))
    totals = (sum(c for n, c in counts.items() if n.endswith(f"/{col}")) for col in columns)
    table.add_row("all", *map(str, totals))
    return table
