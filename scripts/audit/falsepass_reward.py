"""Audit the reward by falsepass (PyPI), a prober of verifiers: what is known to be wrong is to earn
nothing, what is known to be right everything.

Run: pip install falsepass && PYTHONPATH=. python scripts/audit/falsepass_reward.py OUT
     [--path data/samples] [--size 10] [--search 60]

Its wrong answers are kernels that were seen to fail, so lists of answers hold several programs.
Writes OUT/adapter.py, falsepass's own files and its summary; prints what did not come out as it
expects. Exit code 1 when a reply is paid whose last program is wrong.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pairsmith
from synth.dataset.stored import stored_rows
from synth.views.plain import plain_answer
from synth.views.repair import Faults

_ADAPTER = """
import json
from pathlib import Path

from falsepass.adapter import Adapter
from falsepass.model import Example, Score

import pairsmith

ROWS = [json.loads(line) for line in (Path(__file__).parent / "tasks.jsonl").open()]


def text_of(completion):
    if isinstance(completion, str):
        return completion
    said = [m.get("content") for m in completion if m.get("role") == "assistant"]
    return said[-1] or "" if said else ""


class Rewards:
    async def score(self, example, completion):
        said, row = text_of(completion), example.raw["row"]
        (paid,) = pairsmith.reward([example.prompt], [said], row=[row])
        return Score(0.0 if paid is None else paid)

    async def close(self):
        pass


class Kernels(Adapter):
    name = "pairsmith.reward"

    def load(self, n, seed):
        found = [Example(str(k), r["question"], r["answer"], r) for k, r in enumerate(ROWS[:n])]
        return Rewards(), found

    def render(self, answer, example):
        return answer

    def wrong_answer(self, example):
        return example.raw["wrong"]


ADAPTER = Kernels()
"""


def write_tasks(folder: Path, path: Path, size: int) -> None:
    """Tasks of the first rows of which a wrong kernel is at hand, and the adapter that scores."""
    rows = [row for _, row in stored_rows(path) if row["cuda_plain"] is not None][: 2 * size]
    with Faults() as faults:
        wrong = dict(zip((row["id"] for row in rows), faults.wrong_kernels(rows), strict=True))
    by_id = {row["id"]: row for row in rows}
    lines = []
    for entry in pairsmith.tasks(path=path, size=2 * size):
        fault = wrong.get(entry["metadata"]["id"])
        if fault is None or fault.failure == "compile_error":
            continue
        text = plain_answer(fault.columns(by_id[entry["metadata"]["id"]]))
        told = {name: entry[name] for name in ("question", "answer")}
        lines.append(json.dumps({**told, "wrong": text, "row": entry["metadata"]["row"]}))
    (folder / "tasks.jsonl").write_text("\n".join(lines[:size]) + "\n")
    (folder / "adapter.py").write_text(_ADAPTER)
    (folder / "env.toml").write_text('[env]\nid = "local/pairsmith"\nframework = "reward"\n')


def surprises(folder: Path) -> Counter[tuple[str, str]]:
    """By what was expected and the probe with its variant, how often it came out otherwise."""
    found: dict[str, Any] = json.loads((folder / "probe-results.json").read_text())
    return Counter(
        (r["expected"], f"{r['probe']} {r['name']}/{r['variant']}")
        for r in found["results"]
        if not r["passed"]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--path", type=Path, default=Path("data/samples"))
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--search", type=int, default=60)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    write_tasks(asked.out, asked.path, asked.size)
    command = [sys.executable, "-m", "falsepass.runner", str(asked.out), "-n", str(asked.size)]
    subprocess.run([*command, "--search", str(asked.search)], check=True, capture_output=True)
    for (expected, probe), count in sorted(surprises(asked.out).items()):
        print(f"{count:4}  {probe}: {expected} was expected")
    ends_wrong = ("P5 ", "P6 ", "P7 ", "P9 ", "A1 ", "X1 ")
    return int(any(probe.startswith(ends_wrong) for _, probe in surprises(asked.out)))


if __name__ == "__main__":
    sys.exit(main())
