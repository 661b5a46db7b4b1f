"""`solve --device --faster` on a GPU: are answers timed, told their time, and the best one kept?

    python scripts/measure/judge/kit.py KIT.tar.xz       # where that machine has no Warp
    mkdir site && tar -xf KIT.tar.xz -C site
    PYTHONPATH=site:. python scripts/measure/loop/device.py [OUT] [--rows 60] [--minutes 8]

In a model's place stands one that answers a row of OUT (data/samples) first with a layout that the
cost model says to be slower, then with the row's own text, then with a text that is right on few
elements alone. Each is judged on the host and timed on the device. A line for each row has the
times, what was predicted, and the share of the roofline; the last line counts. Exit code 1 where
an answer that passes has no time, where feedback lacks it, or the best is not the quickest.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from synth.dataset.stored import stored_rows
from synth.loop.archive import Archive, ArchivedTask, best_of
from synth.loop.budget import Budget, Price
from synth.loop.client import Endpoint, Messages, Reply
from synth.loop.rewards import processors
from synth.loop.solve import Judge, Plan, Solver
from synth.loop.sources.find import tasks_of
from synth.loop.stopwatch import Stopwatch, timer_here
from synth.render.cuda.choose import Candidate
from synth.render.cuda.module import render
from synth.views.plain import plain_answer
from synth.views.reasons import Choice, choice_of

ROOT = Path(__file__).resolve().parents[3]
_TURNS = 3
Row = dict[str, Any]


class Speaker:
    """Answers in an endpoint's place: slower, own, wrong."""

    def __init__(self, answers: dict[str, list[str]]) -> None:
        self.endpoint = Endpoint("http://in-process", "layouts", "none", 4096)
        self.answers = answers

    async def ask(self, messages: Messages, _attempt: str) -> Reply:
        """The answer of the turn that messages have come to."""
        turn = sum(message["role"] == "assistant" for message in messages)
        return Reply(self.answers[messages[1]["content"]][turn], "", "stop", 0, 0)


def slower_of(row: Row, choice: Choice) -> tuple[Candidate, str] | None:
    """The slowest layout by the model that takes the same parameters, and its answer."""
    for one in reversed(choice.all):
        plain = render(choice.program, one.schedule)
        if plain.args == row["plain_args"] and plain.text != row["cuda_plain"]:
            return one, plain_answer({**row, **plain.columns()})
    return None


def chosen(out: Path, most: int) -> list[tuple[ArchivedTask, Row, Choice, Candidate, list[str]]]:
    """Tasks with the answers that are to be given, by turn."""
    rows = {row["id"]: row for _, row in stored_rows(out)}
    found = []
    for task in tasks_of(str(out), "sft"):
        row = rows[task.row_id]
        choice = choice_of(row)
        slow = slower_of(row, choice) if choice else None
        if choice is None or slow is None or "blockIdx.x" not in row["cuda_plain"]:
            continue
        own = plain_answer(row)
        wrong = own.replace("blockIdx.x", "7 + blockIdx.x")
        found.append((task, row, choice, slow[0], [slow[1], own, wrong]))
    # First those of which the model says most.
    return sorted(found, key=lambda one: -one[2].ratio(one[3]))[:most]


def solved(path: Path, told: argparse.Namespace, tasks: Sequence[Any], timer: Stopwatch) -> None:
    """Put the tasks through `solve`."""
    speaker = Speaker({task.question: answers for task, *_, answers in tasks})
    plan = Plan(turns=_TURNS, at_once=told.workers, faster=True)

    async def run() -> None:
        with (
            Archive(path, create=True) as archive,
            Judge(archive.hidden_seed, told.workers, timer=timer) as judge,
        ):
            budget = Budget(seconds=60.0 * told.minutes)
            solver = Solver(archive, speaker, judge, plan, budget=budget, price=Price())  # type: ignore[arg-type]
            await solver.run([task for task, *_ in tasks])

    asyncio.run(run())


def report(path: Path, tasks: Sequence[Any]) -> int:
    """Print what the archive has; how much is not as it should be."""
    wrong, ratios, shares = 0, [], []
    with Archive(path) as archive:
        for task, row, choice, slow, _ in tasks:
            attempts = archive.query(task=task.id)
            times = [json.loads(a["metrics"]).get("time") for a in attempts if a["metrics"]]
            passed = [a["passed"] for a in attempts]
            us = [one and one["us"] for one in times]
            line = {"row": row["id"], "passed": passed, "us": us}
            line["why"] = [one["why"] for one in times if one and one["us"] is None]
            wrong += sum(bool(p) and t is None for p, t in zip(passed, us, strict=False))
            if passed[:2] == [1, 1] and all(us[:2]):
                ratio, share = us[0] / us[1], (times[1]["roof_us"] or 0.0) / us[1]
                predicted = choice.ratio(slow)
                line |= {"ratio": ratio, "predicted": predicted, "roof": share}
                ratios.append((ratio, predicted))
                shares.append(share)
                said = [m["content"] for m in json.loads(attempts[1]["prompt"])][-1]
                wrong += f"it takes {us[0]:.3g} µs on one " not in said
                best = best_of(attempts)["id"]
                wrong += best != attempts[0 if us[0] <= us[1] else 1]["id"]
            print(json.dumps(line))
    off = [max(a / b, b / a) for a, b in ratios]
    print(f"{len(tasks)} rows, {len(ratios)} timed twice, {wrong} not as they should be")
    if ratios:
        print(f"own text quicker: {sum(a > 1 for a, _ in ratios)} of {len(ratios)}")
        print(f"ratio measured over predicted, either way: median {median(off):.2f}")
        print(f"share of the roof, median: {median(shares):.0%}")
    return wrong + (not ratios)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, nargs="?", default=ROOT / "data" / "samples")
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--workers", type=int, default=processors())
    told = parser.parse_args()
    timer, lacking = timer_here()
    if not isinstance(timer, Stopwatch):
        print(f"solve_device: {lacking}", file=sys.stderr)
        return 2
    began_s = time.monotonic()
    tasks = chosen(told.out, told.rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.sqlite"
        solved(path, told, tasks, timer)
        wrong = report(path, tasks)
    print(f"{time.monotonic() - began_s:.0f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
