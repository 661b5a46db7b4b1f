"""How many answers a second `Scorer` judges, and what memory it holds over many.

Run: python tests/bench/bench_score.py [rows] [answers]. Answers are the plain CUDA of drawn rows of
every category, one of eight made wrong. With one worker and with two: each row once, when it is new
and its hidden inputs are to be decided, then again, when it is known; NVRTC is asked of what passes,
as always. Then as many answers as are said go through two workers, in rounds over the rows, and the
resident memory of this process and of its children is printed ten times.
"""

from __future__ import annotations

import platform
import sys
import time
from collections import Counter
from pathlib import Path

from generators import categories
from generators.program.serialise import from_json
from synth.dataset.settings import Versions, make_settings
from synth.render.cuda.module import render
from synth.rows.maker import PairMaker, Row
from synth.run.tally import Tally
from synth.run.unit import first_accepted
from validate.score.scorer import Answer, Scorer

HIDDEN_SEED = 4711
WRONG_ONE_IN = 8
BATCH = 64


def make_rows(count: int) -> list[Row]:
    """Rows of every category, drawn and not run, with plain CUDA."""
    settings = make_settings(verify="text")
    names = list(categories())
    tally = Tally()
    accepted = [
        first_accepted(settings, (index // len(names), names[index % len(names)]), 0, tally)
        for index in range(count)
    ]
    rows = PairMaker(settings, Versions.installed()).rows(accepted)
    for row in rows:
        row.update(render(from_json(row["program"])).columns())
    return rows


def answers_to(rows: list[Row], start: int, count: int) -> list[Answer]:
    """Own texts in rounds over the rows; of every eighth no thread beyond the first block works."""
    found = []
    for number in range(start, start + count):
        row = rows[number % len(rows)]
        text = row["cuda_plain"]
        if number % WRONG_ONE_IN == 0:
            text = text.replace("blockIdx", "(blockIdx)")
            text = f"#define blockIdx_x 0\n{text.replace('(blockIdx).x', 'blockIdx_x')}"
        # No two texts are the same: nothing can be kept of one for another.
        found.append(Answer(f"{text}\n__device__ int answer_{number};\n", row))
    return found


def speed(rows: list[Row], workers: int) -> None:
    """Answers a second to new and to known rows, children started before."""
    statuses: Counter[str] = Counter()
    with Scorer(hidden_seed=HIDDEN_SEED, workers=workers) as scorer:
        scorer.score_batch(answers_to(rows, 0, 8 * workers))
        for what, start in (("new", 8 * workers), ("known", 8 * workers)):
            began_s = time.perf_counter()
            answers = answers_to(rows, start, len(rows) - start)
            statuses.update(verdict.status for verdict in scorer.score_batch(answers))
            spent_s = time.perf_counter() - began_s
            print(f"{workers} workers, {what:5} rows: {len(answers) / spent_s:6.1f} answers/s")
    print(f"   verdicts: {dict(statuses.most_common())}")


def resident_mb() -> tuple[float, float]:
    """Resident memory in MB (10**6 bytes) of this process, and of its children, from /proc."""
    own = "self"
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[path.parent.name] = path.read_text().rpartition(")")[2].split()[1]
        except (FileNotFoundError, ProcessLookupError):
            continue
    me = Path("/proc/self").readlink().name
    family = {me}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return _resident_mb(own), sum(_resident_mb(child) for child in family - {me})


def _resident_mb(process: str) -> float:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return pages * 4096 / 1e6


def memory(rows: list[Row], count: int) -> None:
    """Score many answers and print what is held meanwhile."""
    done = 0
    told = 0
    with Scorer(hidden_seed=HIDDEN_SEED, workers=2) as scorer:
        while done < count:
            scorer.score_batch(answers_to(rows, done, min(BATCH, count - done)))
            done += min(BATCH, count - done)
            if done * 10 // count > told:
                told = done * 10 // count
                own, children = resident_mb()
                print(
                    f"after {done:6} answers: {own:7.1f} MB, children {children:7.1f} MB",
                    flush=True,
                )


def main(count: int, answers: int) -> None:
    rows = make_rows(count)
    print(f"{count} rows, Python {platform.python_version()}, {platform.machine()}")
    for workers in (1, 2):
        speed(rows, workers)
    memory(rows, answers)


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [120, 2000][len(given) :]))
