"""Rows run for a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from validate.gpu.device import Device
from validate.gpu.runner import GpuOptions, RowVerdict, run_rows

ROOT = Path(__file__).resolve().parents[2]


def run(
    rows: list[dict[str, Any]], devices: list[Device], include: Path, **options: Any
) -> dict[str, RowVerdict]:
    """Verdicts by row id, on the first GPU."""
    chosen = GpuOptions(include_dir=include, **options)
    return {v.row["id"]: v for v in run_rows(rows, devices[:1], chosen)}


def statuses(verdict: RowVerdict) -> dict[str, str]:
    return {result.text: result.status for result in verdict.results}
