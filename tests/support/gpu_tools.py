"""Rows run for a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from generators.program.serialise import from_json
from synth.gpu.rows import read_rows_and_programs
from synth.render.cuda.module import render
from synth.render.cuda.schedule import Schedule
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


def guarded_row(dataset: Path) -> dict[str, Any]:
    """A row of the dataset whose threads each write one float of a one-dimensional output, printed
    anew with one thread an element, since the dataset's own schedules are drawn."""
    for row in read_rows_and_programs(dataset):
        arrays = [a for a in row["args"] if a["kind"] == "array"]
        dim = row["launch"]["dim"]
        if (
            len(dim) == 1
            and {a["role"] for a in arrays} == {"in", "out"}
            and all((a["shape"], a["dtype"]) == (dim, "float32") for a in arrays)
        ):
            plain = render(from_json(row["program"]), Schedule("guarded", (128,)))
            return {**row, **plain.columns()}
    raise AssertionError(f"no row of {dataset} suits these tests")
