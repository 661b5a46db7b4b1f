"""Fresh rows are checked as far as the run asks, and carry the evidence home."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from synth.pair import Row
from validate.host import HostRunner, RunResult
from validate.schema import check_row

ROW_TIMEOUT_S = 60.0
"""Far above what a row that passed the gates takes (milliseconds), so that a busy machine does not
decide which rows enter."""


@dataclass(frozen=True)
class Failure:
    """Why a row that passed the gates does not enter the dataset."""

    reason: str
    detail: str


Evidence = dict[str, Any]
"""What this host measured of one row: ``id``, ``max_ulp``, ``tolerance_used`` (share of it)."""


@lru_cache(maxsize=1)
def _runner() -> HostRunner:
    """The process's own child for host runs: starting one costs seconds."""
    runner = HostRunner(timeout_s=ROW_TIMEOUT_S)
    atexit.register(runner.close)
    return runner


def verify_rows(rows: Sequence[Row], level: str, evidence: list[Evidence]) -> list[Failure | None]:
    """Check rows at ``text`` or ``run`` level.

    Rows that pass are told what was shown of them; figures that depend on this CPU's maths
    library are added to ``evidence`` and stay out of the rows. A row that breaks its own schema
    is a bug of ours: ``AssertionError``.
    """
    for row in rows:
        problems = check_row(row)
        assert not problems, f"{row['kernel_name']}: {problems}\n{row['python']}"
    if level == "text":
        return [None] * len(rows)
    results = _runner().run(rows)
    return [_record(row, result, evidence) for row, result in zip(rows, results, strict=True)]


def _record(row: Row, result: RunResult, evidence: list[Evidence]) -> Failure | None:
    if result.status != "agrees":
        return Failure(result.status, result.reason)
    row["checks"]["run_forward"] = "agrees"
    row["checks"]["shapes"] = list(result.shapes)
    evidence.append(
        {"id": row["id"], "max_ulp": result.max_ulp, "tolerance_used": result.tolerance_used}
    )
    return None
