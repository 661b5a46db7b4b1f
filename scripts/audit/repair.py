"""Of random rows of the repair view: does the wrong kernel fail, and does the right one pass?

Run: python scripts/audit/repair.py OUT [--rows 1000] [--seed S]. Each wrong kernel meets the check
that the row names again (NVRTC, or a run on hidden inputs), and, as a second opinion, the host run
of the row's own inputs and shapes, which `validate --verify run` makes. Prints counts; exit code 1
when a wrong one passes the first, or a right one fails anywhere.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import pyarrow.parquet as pq

from synth.dataset.stored import stored_rows
from synth.views.repair import HIDDEN_SEED
from validate.host.runner import HostRunner
from validate.nvrtc.compiler import CompileRunner
from validate.score.scorer import Answer, Scorer

AT_ONCE = 48
Row = dict[str, Any]


def repairs_of(out: Path, count: int, seed: int) -> list[Row]:
    """Random rows of the view, with the right kernel out of the answer as `right`."""
    files = sorted((out / "views" / "repair").glob("*.parquet"))
    rows = [row for path in files for row in pq.read_table(path).to_pylist()]
    chosen = random.Random(seed).sample(rows, min(count, len(rows)))
    for row in chosen:
        answer = re.match(r"```cuda\n(.*?)\n```", row["messages"][1]["content"], re.DOTALL)
        assert answer is not None
        row["right"] = answer[1]
    return chosen


def refused(rows: Sequence[Row], texts: Sequence[str]) -> list[bool]:
    """Whether NVRTC refuses each text."""
    with CompileRunner() as compiler:
        found = compiler.compile_plain(
            [{**row, "cuda_plain": text} for row, text in zip(rows, texts, strict=True)]
        )
    return [result.status == "compile_error" for result in found]


def statuses(rows: Sequence[Row], texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """What a run on hidden inputs and one on the row's own say of each text."""
    hidden: list[str] = []
    own: list[str] = []
    with Scorer(hidden_seed=HIDDEN_SEED) as scorer, HostRunner(timeout_s=20) as host:
        for start in range(0, len(rows), AT_ONCE):
            some = list(zip(rows, texts, strict=True))[start : start + AT_ONCE]
            hidden += [v.status for v in scorer.score_batch([Answer(t, r) for r, t in some])]
            changed = [{**row, "cuda_plain": text} for row, text in some]
            own += [result.status for result in host.run_plain(changed, relaunch=True)]
    return hidden, own


def main() -> int:
    """Check and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chosen = repairs_of(asked.out, asked.rows, asked.seed)
    wanted = {row["id"] for row in chosen}
    stored = {row["id"]: row for _, row in stored_rows(asked.out) if row["id"] in wanted}
    rows = [stored[row["id"]] for row in chosen]
    wrong, right = [row["wrong"] for row in chosen], [row["right"] for row in chosen]
    told = [row["failure"] for row in chosen]
    print(f"{len(rows)} rows; failures: {dict(Counter(told).most_common())}")
    print(f"faults: {dict(Counter(row['fault'] for row in chosen).most_common())}")

    print(f"right ones that NVRTC refuses: {sum(refused(rows, right))}")
    hidden, own = statuses(rows, right)
    bad = sum(status != "passed" for status in hidden) + sum(status != "agrees" for status in own)
    print(
        f"right ones on hidden inputs: {dict(Counter(hidden))}; on their own: {dict(Counter(own))}"
    )

    broken = [at for at, failure in enumerate(told) if failure == "compile_error"]
    no = refused([rows[at] for at in broken], [wrong[at] for at in broken])
    print(f"wrong ones that NVRTC is to refuse: {sum(no)} of {len(broken)} refused")
    caught = [at for at, failure in enumerate(told) if failure != "compile_error"]
    hidden, own = statuses([rows[at] for at in caught], [wrong[at] for at in caught])
    same = sum(status == told[at] for status, at in zip(hidden, caught, strict=True))
    print(f"wrong ones on hidden inputs: {same} of {len(caught)} with the verdict that the row has")
    for status, at in zip(hidden, caught, strict=True):
        if status != told[at]:
            print(f"  {rows[at]['id']}: {status}, was {told[at]} ({chosen[at]['fault']})")
    print(f"wrong ones on the row's own inputs: {dict(Counter(own).most_common())}")
    bad += len(broken) - sum(no) + hidden.count("passed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
