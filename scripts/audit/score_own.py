"""Score every row's own plain CUDA, as if it were an answer: all must pass.

Run: python scripts/audit/score_own.py OUT [--rows 1000] [--step K] [--hidden-seed S] [--workers W].
Rows without plain columns get them from their program. Prints what passed and what failed, on which
inputs, and how many answers a second were scored to rows that are new and known; exit code 1 when
one failed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from generators.program.serialise import from_json
from synth.dataset.stored import stored_rows
from synth.render.cuda.module import render
from validate.score.scorer import Answer, Scorer, Verdict

BATCH = 64


def rows_of(out: Path, count: int, step: int) -> list[dict[str, Any]]:
    """Every `step`-th row that has a program, up to `count`, with plain columns."""
    found = (row for _, row in stored_rows(out) if row["program"] is not None)
    rows = list(islice(found, 0, count * step, step))
    for row in rows:
        if row["cuda_plain"] is None:
            row.update(render(from_json(row["program"])).columns())
    return rows


def scored(scorer: Scorer, rows: list[dict[str, Any]]) -> list[Verdict]:
    """Verdicts on own texts; `row_unfit` for a row that no draw fits."""
    return scorer.score_batch([Answer(row["cuda_plain"], row) for row in rows])


def main() -> int:
    """Score and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--hidden-seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    rows = rows_of(asked.out, asked.rows, asked.step)
    verdicts: list[Verdict] = []
    again_s = 0.0
    with Scorer(hidden_seed=asked.hidden_seed, workers=asked.workers) as scorer:
        began_s = time.monotonic()
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            verdicts += scored(scorer, batch)
            before_s = time.monotonic()
            scored(scorer, batch)
            again_s += time.monotonic() - before_s
        whole_s = time.monotonic() - began_s
    for verdict in verdicts:
        if not verdict.passed:
            print(f"{verdict.id}: {verdict.status}: {verdict.detail or verdict.reason}")
    passed = sum(verdict.passed for verdict in verdicts)
    print(f"{passed} of {len(rows)} rows pass; inputs: {dict(Counter(v.inputs for v in verdicts))}")
    print(f"rows/s: {len(rows) / (whole_s - again_s):.1f} new, {len(rows) / again_s:.1f} known")
    return 0 if passed == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
