"""How two worker processes compare with one, and that their bytes are the same.

Run: python tests/bench/bench_workers.py [rows]. Alternates one and two workers over fresh folders,
twice each, at --verify text; prints seconds, rows a second, and the ratio of the medians.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

from synth.dataset.files import sha256_of
from synth.dataset.settings import make_settings
from synth.run import generate as run


def main(rows: int) -> None:
    seconds: dict[int, list[float]] = {1: [], 2: []}
    digests = set()
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(2):
            for workers in seconds:
                out = Path(folder) / f"{repeat}-{workers}"
                began = time.perf_counter()
                run.generate(make_settings(verify="text"), rows, out, workers=workers)
                seconds[workers].append(time.perf_counter() - began)
                digests.add(tuple(sha256_of(p) for p in sorted(out.glob("*/*.parquet"))))
    print(f"{rows} rows, {os.cpu_count()} cores, Python {platform.python_version()}")
    for workers, spent in seconds.items():
        rates = ", ".join(f"{s:.1f} s ({rows / s:.0f} rows/s)" for s in spent)
        print(f"{workers} workers: {rates}")
    ratio = statistics.median(seconds[1]) / statistics.median(seconds[2])
    print(
        f"2 workers against 1: {ratio:.2f} x; shards {'equal' if len(digests) == 1 else 'DIFFER'}"
    )


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit("usage: bench_workers.py [rows]")
    main(int(sys.argv[1]) if len(sys.argv) == 2 else 2400)
