"""The plain kernels of rows in another dialect than CUDA, and rows built and run in OpenCL C."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generators.program.serialise import from_json
from synth.dataset.stored import require_columns, stored_rows
from synth.errors import SettingsError
from synth.render.cuda import module as render_cuda
from synth.render.cuda.dialect.table import NoForm
from synth.render.cuda.dialect.words import DIALECTS
from synth.render.cuda.schedule import Schedule
from synth.rows.maker import Row
from validate.opencl.case import NEEDED
from validate.opencl.runner import OpenclRunner
from validate.statuses import OpenclStatus

_STORED = tuple(name for name in NEEDED if name != "cuda_plain")


def translated(row: Row, target: str) -> dict[str, Any]:
    """The row with its plain columns in a dialect, under its own schedule.

    :class:`NoForm` where there is no such text of it.
    """
    if row["program"] is None or row["schedule"] is None:
        raise NoForm("it was harvested, or has no plain CUDA: there is no program to print")
    schedule = Schedule.from_json(row["schedule"])
    program = from_json(row["program"])
    return {**row, **render_cuda.render(program, schedule, DIALECTS[target]).columns()}


@dataclass
class TargetReport:
    """What became of each row: its id, category, style, status and reason."""

    target: str
    runtime: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Rows that have a text which does not do what it should."""
        fine = (OpenclStatus.AGREES, OpenclStatus.NO_FORM)
        return [row for row in self.rows if row["status"] not in fine]

    def counts(self) -> Counter[str]:
        """Rows by status."""
        return Counter(str(row["status"]) for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        reasons = Counter(r["reason"] for r in self.rows if r["status"] == OpenclStatus.NO_FORM)
        by_category: dict[str, Counter[str]] = {}
        for row in self.rows:
            by_category.setdefault(row["category"], Counter())[str(row["status"])] += 1
        return {
            "target": self.target,
            "runtime": self.runtime,
            "checked": len(self.rows),
            "statuses": dict(sorted(self.counts().items())),
            "by_category": {name: dict(found) for name, found in sorted(by_category.items())},
            "no_form": dict(reasons.most_common()),
            "failed": self.failed,
            "rows": self.rows,
        }


def check_opencl(out: Path, progress: Callable[[int], None] = lambda _n: None) -> TargetReport:
    """Print every row of ``out`` as OpenCL C, build it, run it at its shapes and edges on the CPU
    and compare with the reference.

    :class:`SettingsError` for a folder without plain columns, OpenclUnavailable without a runtime.
    """
    report = TargetReport("opencl")
    with OpenclRunner() as runner:
        for _, row in stored_rows(out):
            require_columns(row, ("program", "schedule", "category", *_STORED), out)
            report.rows.append(_checked(row, runner))
            progress(1)
        report.runtime = runner.runtime
    if not report.rows:
        raise SettingsError(f"{out} has no rows")
    return report


def _checked(row: Row, runner: OpenclRunner) -> dict[str, Any]:
    known: dict[str, Any] = {
        "id": row["id"],
        "category": row["category"],
        "style": _style(row),
    }
    try:
        text = translated(row, "opencl")
    except NoForm as why:
        return {**known, "status": OpenclStatus.NO_FORM, "reason": str(why)}
    found = runner.run(text)
    return {
        **known,
        "status": found.status,
        "reason": found.reason,
        "shapes": found.shapes,
        "max_ulp": found.max_ulp,
        "tolerance_used": found.tolerance_used,
    }


def _style(row: Mapping[str, Any]) -> str | None:
    return None if row["schedule"] is None else str(json.loads(row["schedule"])["style"])
