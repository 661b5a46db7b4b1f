"""Run texts that the scorer passes, and texts that it fails, on a GPU: where do the two part?

1. On a machine with the whole project: PYTHONPATH=.:tests/support python
   scripts/measure/judge/on_gpu.py --make FOLDER [--count N] [--data OUT] …: judges texts of the
   suites, own texts, rewrites and mutants, and writes N that pass and N that fail.
2. On a machine with a GPU, NumPy, CuPy and this repository: PYTHONPATH=. python
   scripts/measure/judge/on_gpu.py --run FOLDER [--to FILE] [--workers N]: compiles each with NVRTC,
   launches it at every trial, and once more at the first, in one of N processes that are started
   anew when they end, compares what it wrote as the judge does, and writes one JSON line a text to
   FILE (gpu.jsonl of the folder). Texts of which FILE has a line are left out: a run goes on.
3. Anywhere: PYTHONPATH=. python scripts/measure/judge/on_gpu.py --compare FOLDER [--to FILE]: the
   host's verdicts against the GPU's, and every text on which they part. Exit code 1 when a text
   that the scorer passes does not pass on the GPU.

A GPU notices no race, no read outside an array and nothing undefined: texts that fail for these may
pass there. What they have in common with other disagreements is for a person to judge.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

# Of these a GPU tells nothing: "unseen" in the table.
_UNSEEN = (
    *("data_race", "bad_sync", "read_out_of_bounds", "undefined"),
    *("unseen_branch", "timeout", "bad_launch"),
)
_DEVICE = "scripts.measure.judge.gpu.device"


def compare(folder: Path, results: Path) -> int:
    """Print where host and GPU part; how many texts the scorer passes and the GPU does not."""
    from scripts.measure.judge.gpu.folder import read_jobs

    found = {line["number"]: line for line in map(json.loads, results.read_text().splitlines())}
    jobs = read_jobs(folder)
    crossed: Counter[tuple[str, str]] = Counter()
    wrongly = 0
    for job in jobs:
        result = found.get(job.number, {"status": "not run", "reason": ""})
        crossed[job.status, result["status"]] += 1
        passes = result["status"] == "passed"
        if result["status"] == "not run" or (job.status == "passed") == passes:
            continue
        wrongly += job.status == "passed"
        told = " (a GPU has no watch for it)" if passes and job.status in _UNSEEN else ""
        print(f"{job.number} {job.name} of {job.row}{told}")
        print(f"    host: {job.status}: {job.reason[:200]}")
        print(f"    GPU: {result['status']}: {result['reason'][:200]}")
    columns = sorted({gpu for _, gpu in crossed})
    print(f"\n{'host / GPU':22}", *(f"{name:>20}" for name in columns))
    for host in sorted({host for host, _ in crossed}):
        print(f"{host:22}", *(f"{crossed[host, gpu]:>20}" for gpu in columns))
    print(f"{wrongly} texts pass on the host and not on the GPU")
    return wrongly


def run(folder: Path, results: Path, told: argparse.Namespace) -> None:
    """Run what has no result yet."""
    from scripts.measure.judge.gpu.pool import run_all

    statuses: Counter[str] = Counter()

    def take(result: dict[str, Any]) -> None:
        with results.open("a") as lines:
            lines.write(json.dumps(result) + "\n")
        statuses[result["status"]] += 1
        if sum(statuses.values()) % 50 == 0:
            print(dict(statuses), flush=True)

    done = set()
    if results.exists():
        done = {json.loads(line)["number"] for line in results.read_text().splitlines()}
    took_s = run_all(folder, done, told, take)
    print(f"{sum(statuses.values())} texts in {took_s:.0f} s: {dict(statuses)}")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--make", type=Path, metavar="FOLDER")
    what.add_argument("--run", type=Path, metavar="FOLDER")
    what.add_argument("--compare", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--to", type=Path, metavar="FILE", help="the results, of --run and --compare"
    )
    parser.add_argument("--workers", type=int, default=0, help="1 for --make, 12 for --run")
    making = parser.add_argument_group("--make")
    making.add_argument("--count", type=int, default=40, help="texts that pass, and that fail")
    making.add_argument("--data", type=Path, metavar="OUT", help="rows besides data/samples")
    making.add_argument("--rows", type=int, default=20, help="of OUT")
    making.add_argument("--mutants-per-row", type=int, default=2)
    making.add_argument("--seed", type=int, default=0, help="of the choice of mutants")
    making.add_argument("--hidden-seed", type=int, default=1)
    running = parser.add_argument_group("--run")
    running.add_argument("--compile-s", type=float, default=60.0, help="for NVRTC, a text")
    running.add_argument("--launch-s", type=float, default=15.0, help="for all launches of a text")
    running.add_argument("--device", default=_DEVICE, help="the module that compiles and launches")
    return parser.parse_args()


def main() -> int:
    """Do what was asked."""
    told = arguments()
    folder = told.make or told.run or told.compare
    results = told.to or folder / "gpu.jsonl"
    if told.make:
        from scripts.measure.judge.gpu.texts import make

        told.workers = told.workers or 1
        make(folder, told)
        return 0
    if told.compare:
        return 1 if compare(folder, results) else 0
    told.workers = told.workers or 12
    run(folder, results, told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
