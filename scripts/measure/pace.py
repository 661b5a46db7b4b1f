"""CPU time of `pairsmith generate --verify run` by two trees of sources, in turn, and their files.

Run: python scripts/measure/pace.py BEFORE AFTER [ROWS [WORKERS [ROUNDS]]]; both are folders of
this repository's sources, as `git archive` or `git worktree` make them. Each makes the same rows in
every round; a warm-up of six rows comes first and is not counted. Prints user and system time of
all processes, which other work on the machine stretches less than the clock, and whether the
Parquet files of both are the same to the byte.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from synth.dataset.files import sha256_of

SEED = 7


def _cpu_s() -> float:
    """User and system seconds of all children that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _generate(tree: Path, rows: int, workers: int, out: Path) -> None:
    asked = f"generate -n {rows} --seed {SEED} --verify run --workers {workers} --quiet -o {out}"
    subprocess.run(
        [sys.executable, "-m", "synth", *asked.split()],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _digests(out: Path) -> dict[str, str]:
    return {str(p.relative_to(out)): sha256_of(p) for p in sorted(out.rglob("*.parquet"))}


def main(trees: list[Path], rows: int, workers: int, rounds: int) -> None:
    """Print a line for each run and one about the files."""
    digests = []
    with tempfile.TemporaryDirectory() as folder:
        for number, tree in enumerate(trees):
            _generate(tree, 6, 1, Path(folder) / f"warm-{number}")
        for turn in range(rounds):
            for number, tree in enumerate(trees):
                out = Path(folder) / f"{turn}-{number}"
                began, spent = time.perf_counter(), _cpu_s()
                _generate(tree, rows, workers, out)
                cpu_s, wall_s = _cpu_s() - spent, time.perf_counter() - began
                print(
                    f"{tree}: {cpu_s:6.1f} CPU s, {cpu_s / rows * 1e3:5.1f} CPU ms a row, "
                    f"{wall_s:6.1f} s, {rows / wall_s:4.1f} rows/s",
                    flush=True,
                )
                digests.append(_digests(out))
    same = all(found == digests[0] for found in digests)
    print(f"{len(digests[0])} Parquet files, {'the same' if same else 'NOT the same'} in all runs")


if __name__ == "__main__":
    given = sys.argv[1:]
    if len(given) < 2:
        raise SystemExit(__doc__)
    numbers = [int(text) for text in given[2:]]
    main([Path(text).resolve() for text in given[:2]], *(numbers + [300, 2, 2][len(numbers) :]))
