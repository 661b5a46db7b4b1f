"""How a large run goes: its rate from tenth to tenth, memory, bytes, what the rule displaced.

Run: PYTHONPATH=. python scripts/measure/scale.py OUT [-n 100000] [--workers 2] [--verify text]. It
makes a fresh dataset in OUT; memory is the proportional set size of each process, from /proc.
"""

from __future__ import annotations

import argparse
import os
import platform
import threading
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from synth.dataset.files import read_parquet
from synth.dataset.manifest import Manifest
from synth.dataset.settings import make_settings
from synth.dataset.verify_levels import VERIFY_LEVELS
from synth.run import generate as run


class Memory(threading.Thread):
    """Peak memory of this process and of its children, in MB (10**6 bytes)."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak_mb: dict[int, float] = defaultdict(float)

    def run(self) -> None:
        while True:
            for pid in [os.getpid(), *_children(os.getpid())]:
                self.peak_mb[pid] = max(self.peak_mb[pid], _resident_mb(pid))
            time.sleep(1.0)

    def lines(self) -> list[str]:
        workers = [mb for pid, mb in self.peak_mb.items() if pid != os.getpid() and mb > 50]
        return [
            f"peak memory: parent {self.peak_mb[os.getpid()]:.0f} MB, workers "
            + ", ".join(f"{mb:.0f}" for mb in workers)
        ]


def _children(pid: int) -> list[int]:
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _resident_mb(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0.0
    (line,) = (line for line in text.splitlines() if line.startswith("Pss:"))
    return int(line.split()[1]) * 1024 / 1e6


def measure(out: Path, n: int, workers: int, verify: str) -> None:
    """Make the dataset and print what was seen."""
    memory, began = Memory(), time.monotonic()
    memory.start()
    marks = [(0.0, 0)]

    def progress(rows: int, _rejects: int, _fresh: bool) -> None:
        marks.append((time.monotonic() - began, marks[-1][1] + rows))

    manifest = run.generate(
        make_settings(verify=verify), n, out, workers=workers, progress=progress
    )
    ended = time.monotonic() - began
    print(f"{n} rows at --verify {verify}, {workers} workers, Python {platform.python_version()}")
    made = marks[-1][0]
    print(
        f"units {made:.0f} s, rule and shards {ended - made:.0f} s, {n / ended:.0f} rows/s in all"
    )
    rates = [f"{rate:.0f}" for rate in _tenths(marks, n)]
    print(f"rows/s from tenth to tenth: {', '.join(rates)}")
    print(*memory.lines(), sep="\n")
    _describe(out, manifest)


def _tenths(marks: list[tuple[float, int]], n: int) -> list[float]:
    ends = [next(mark for mark in marks if mark[1] >= n * k // 10) for k in range(11)]
    return [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(ends)]


def _describe(out: Path, manifest: Manifest) -> None:
    paths = [out / shard["path"] for shard in manifest.shards]
    size = sum(path.stat().st_size for path in paths)
    print(f"{manifest.rows} rows, {len(paths)} shards, {size / manifest.rows:.0f} bytes a row")
    reasons = manifest.draws["rejects_by_reason"]
    print(
        f"displaced {len(manifest.draws['displaced'])}: refused as duplicates "
        f"{reasons.get('duplicate', 0)}, for their structure {reasons.get('structure_cap', 0)}"
    )
    columns = ["structure", "category", "level"]
    table = pa.concat_tables(
        [
            read_parquet(p, columns).append_column(
                "split", pa.array([p.parent.name] * read_parquet(p, ["id"]).num_rows)
            )
            for p in paths
        ]
    )
    rows = table.to_pylist()
    for name in ("split", "category", "level"):
        groups: dict[str, Counter[str]] = defaultdict(Counter)
        for row in rows:
            groups[row[name]][row["structure"]] += 1
        shares = (
            f"{key} {len(c)} of {sum(c.values())} ({len(c) / sum(c.values()):.1%})"
            for key, c in sorted(groups.items())
        )
        print(f"structures by {name}: " + ", ".join(shares))
    print(f"structures in all: {len({row['structure'] for row in rows})}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("-n", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--verify", choices=VERIFY_LEVELS, default="text")
    asked = parser.parse_args()
    measure(asked.out, asked.n, asked.workers, asked.verify)
