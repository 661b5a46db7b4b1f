"""Rows of a dataset with what lowering them has shown, which no shard holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synth.dataset.lowered import lowered_records, measured_resources

Row = Mapping[str, Any]


def with_resources(out: Path, rows: Sequence[Row]) -> list[Row]:
    """The rows of ``out``; ``checks`` that lack registers, spills and shared memory of Warp's
    kernel have those that were measured on the first of their architectures."""
    archs = {row["id"]: row["checks"]["compile_archs"] or () for row in rows}
    found = measured_resources(out, archs)
    return [
        {**row, "checks": {**row["checks"], **found[row["id"]]}}
        if row["id"] in found and row["checks"]["registers"] is None
        else row
        for row in rows
    ]


def with_lowered(out: Path, rows: Sequence[Row]) -> list[Row]:
    """The rows of ``out``, each with the list of its records as ``lowered``."""
    by_id: dict[str, list[dict[str, Any]]] = {}
    for record in lowered_records(out):
        by_id.setdefault(record["id"], []).append(record)
    return [{**row, "lowered": by_id.get(row["id"], [])} for row in rows]
