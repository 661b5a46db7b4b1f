"""Measure `pairsmith solve` against a model on this machine that learns from feedback.

Run: PYTHONPATH=.:tests/support python scripts/measure/loop/solve.py [--path data/samples] [--kills
20]

The model is wrong at first and right when it is told so; four of nine requests meet a fault. The
command runs as users run it; it is killed (SIGKILL) some times at any instant, then left to end.
Exit code 1 when an attempt is missing, or was paid for twice.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from loopback_chat import KEY, Model, served

import pairsmith
from synth.loop.archive import Archive

ROOT = Path(__file__).resolve().parents[3]
FAULTS = ("500", "429", "cut", "", "", "", "malformed", "", "")


def solving(model: Model, path: Path, archive: Path, more: Sequence[str]) -> list[str]:
    """The command."""
    words = [sys.executable, "-m", "synth", "solve", str(path), "--base-url", model.url]
    words += ["--model", "toy", "--archive", str(archive), "--turns", "2", "--quiet"]
    return [*words, *more]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--path", type=Path, default=ROOT / "data" / "samples")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("-k", default="2")
    parser.add_argument("--workers", default="2")
    asked = parser.parse_args()
    right = {entry["question"]: entry["answer"] for entry in pairsmith.tasks(path=asked.path)}

    def answer(messages: Sequence[dict[str, str]]) -> str:
        text = right[messages[1]["content"]]
        return text if len(messages) > 2 else text.replace("blockIdx.x", "7 + blockIdx.x")

    chance = random.Random(0)
    environment = {**os.environ, "OPENAI_API_KEY": KEY}
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Model(answer, faults=list(FAULTS) * 1000)) as model,
    ):
        archive = Path(folder) / "a.sqlite"
        words = solving(model, asked.path, archive, ["-k", asked.k, "--workers", asked.workers])
        kills = 0
        for _ in range(asked.kills):
            process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
            time.sleep(chance.uniform(0.5, 4.0))
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.wait()
        began_s = time.monotonic()
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        print(f"killed {kills} times; the last run took {time.monotonic() - began_s:.1f} s\n")
        print(done.stdout, done.stderr)
        with Archive(archive) as opened:
            found = opened.query(columns=("id", "passed", "seconds", "judge_seconds"))
        ids = {row["id"] for row in found}
        again = sum(times - 1 for times in model.times.values())
        print(f"{len(found)} attempts, {sum(row['passed'] for row in found)} passed")
        print(f"{len(model.requests)} requests; {len(model.billed)} billed, {again} sent again")
        judging = sorted(row["judge_seconds"] for row in found)
        print(f"judging: median {judging[len(judging) // 2]:.2f} s, waiting included")
        whole = len(found) == 2 * int(asked.k) * len(right) and ids == set(model.billed)
    return 0 if whole and done.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
