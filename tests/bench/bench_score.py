"""How many answers a second `Scorer` judges, what they cost, and what memory it holds over many.

Run: python tests/bench/bench_score.py [rows] [answers]. Answers are the plain CUDA of drawn rows of
every category, of each eighth the blocks taken for one. With one worker and with two: each row once
when it is new and its hidden inputs are to be decided, then again when it is known; NVRTC is asked
of what passes, as always. Beside answers a second stands what they took of a core, which other work
on the machine changes less. Then as many answers as are said go through two workers, in rounds over
the rows, and resident memory of this process and of its children is printed ten times.
"""

from __future__ import annotations

import os
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
    """Own texts in rounds over the rows, no two the same: nothing can be kept of one for others."""
    found = []
    for number in range(start, start + count):
        row = rows[number % len(rows)]
        text = row["cuda_plain"]
        if number % WRONG_ONE_IN == 0:
            text = text.replace("blockIdx.x", "0")
        found.append(Answer(f"{text}\n__device__ int answer_{number};\n", row))
    return found


def speed(rows: list[Row], workers: int) -> None:
    """Answers a second to new and to known rows; children have started before."""
    statuses: Counter[str] = Counter()
    first = 8 * workers
    with Scorer(hidden_seed=HIDDEN_SEED, workers=workers) as scorer:
        scorer.score_batch(answers_to(rows, 0, first))
        for what in ("new", "known"):
            began_s, before_s = time.perf_counter(), processor_s()
            answers = answers_to(rows, first, len(rows) - first)
            statuses.update(verdict.status for verdict in scorer.score_batch(answers))
            spent_s = time.perf_counter() - began_s
            core_ms = 1000 * (processor_s() - before_s) / len(answers)
            rate = len(answers) / spent_s
            rates = f"{rate:5.1f} answers/s, {core_ms:5.1f} ms of a core"
            print(f"{workers} workers, {what:5} rows: {rates}", flush=True)
    print(f"   verdicts: {dict(statuses.most_common())}")


def family() -> dict[str, list[str]]:
    """What /proc says of this process and of all below it: the words behind the name, by number."""
    said = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            said[path.parent.name] = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
    ours = {str(os.getpid())}
    while more := {process for process, words in said.items() if words[1] in ours} - ours:
        ours |= more
    return {process: said[process] for process in ours}


def processor_s() -> float:
    """Seconds of a core that this process, its children, and theirs that have ended took."""
    ticks = sum(int(tick) for words in family().values() for tick in words[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(rows: list[Row], count: int) -> None:
    """Score many answers and print the MB (10**6 bytes) that are held meanwhile."""
    done = told = 0
    page_mb = os.sysconf("SC_PAGESIZE") / 1e6
    with Scorer(hidden_seed=HIDDEN_SEED, workers=2) as scorer:
        while done < count:
            some = min(BATCH, count - done)
            scorer.score_batch(answers_to(rows, done, some))
            done += some
            if done * 10 // count > told:
                told = done * 10 // count
                held = {process: int(words[21]) * page_mb for process, words in family().items()}
                own = held.pop(str(os.getpid()))
                print(
                    f"{done:6} answers: {own:6.1f} MB, children {sum(held.values()):7.1f} MB",
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
