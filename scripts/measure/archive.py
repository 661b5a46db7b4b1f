"""Measure an archive of many attempts: writing, queries, exports.

Run: PYTHONPATH=. python scripts/measure/archive.py [--attempts 10000] [--folder FOLDER]

Attempts have the texts of data/samples, so that their sizes are those of real ones; nothing is
asked or judged.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pairsmith
from synth.loop.archive import Archive, Attempt, Judgement, best_of
from synth.loop.export import export
from synth.loop.prompts import first_messages
from synth.loop.solve import archived_tasks

ROOT = Path(__file__).resolve().parents[2]
MODELS = ("small", "large")
STATUSES = ("passed", "wrong_value", "compile_error", "no_kernel")


def fill(archive: Archive, attempts: int) -> float:
    """Add attempts and their verdicts; seconds for one."""
    entries = list(pairsmith.tasks("sft", path=ROOT / "data" / "samples"))
    tasks = archived_tasks(entries, "sft")
    archive.add_tasks(tasks)
    began_s = time.perf_counter()
    for number in range(attempts):
        task = tasks[number % len(tasks)]
        answer = entries[number % len(tasks)]["answer"]
        name = f"{number:024x}"
        prompt = first_messages(task.question)
        model = MODELS[number // len(tasks) % len(MODELS)]
        archive.add_attempt(
            Attempt(name, None, task.id, model, number, 0, prompt, answer, "", "stop", 900, 700)
        )
        status = STATUSES[number // 7 % len(STATUSES)]
        passed = status == "passed"
        metrics = {"credit": float(passed), "share": 0.5, "compiled": True, "launched": True}
        archive.add_judgement(
            Judgement(name, status, "", [], {"detail": ""}, metrics, passed, True, 0.1)
        )
    return (time.perf_counter() - began_s) / attempts


def timed(work: Callable[[], object], times: int = 9) -> tuple[float, float]:
    """Median and most seconds."""
    taken = []
    for _ in range(times):
        began_s = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began_s)
    return statistics.median(taken), max(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        path = Path(folder) / "a.sqlite"
        with Archive(path, create=True) as archive:
            each_s = fill(archive, asked.attempts)
            print(f"written: {1000 * each_s:.2f} ms for an attempt and its verdict")
            print(f"file: {path.stat().st_size / 1e6:.1f} MB")
            task = archive.query(columns=("task",), limit=1)[0]["task"]
            line = ("id", "task", "model", "sample", "turn", "verdict", "error")
            for name, work in {
                "query, 50 lines": lambda: archive.query(columns=line, limit=50),
                "query --task": lambda: archive.query(columns=line, task=task),
                "query --model --verdict": lambda: archive.query(
                    columns=line, model="small", verdict="wrong_value"
                ),
                "query --not-passed, all lines": lambda: archive.query(columns=line, passed=False),
                "query --json, all": lambda: archive.query(),
                "show TASK": lambda: best_of(archive.query(task=task)),
                "list": archive.summary,
                "export attempts": lambda: export(archive, path.with_suffix(".pq"), "attempts"),
            }.items():
                median_s, most_s = timed(work, 3 if name.startswith("export") else 9)
                print(f"{name:32} {1000 * median_s:8.1f} ms, most {1000 * most_s:8.1f} ms")


if __name__ == "__main__":
    main()
