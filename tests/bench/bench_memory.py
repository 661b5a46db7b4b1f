"""Memory of a worker over many rows: resident size after the first 1,000 and at the end.

Run: python tests/bench/bench_memory.py [rows]. Makes units as a worker does, at --verify text.
"""

from __future__ import annotations

import gc
import platform
import sys
from pathlib import Path

import numpy as np

from synth.dataset.positions import INDICES_PER_UNIT, unit_task
from synth.dataset.settings import Versions, make_settings
from synth.run.unit import make_task


def resident_mb() -> float:
    """Resident memory of this process in MB (10**6 bytes), from /proc."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def main(rows: int) -> None:
    settings, versions = make_settings(verify="text"), Versions.installed()
    made = start = 0
    first_mb = 0.0
    count = len(settings.categories)
    while made < rows:
        stop = start + INDICES_PER_UNIT
        wanted = np.arange(start * count, stop * count)
        task = unit_task((start, stop), settings.categories, wanted)
        make_task(settings, versions, task)
        made, start = made + len(task.starts), stop
        if not first_mb and made >= 1000:
            gc.collect()
            first_mb = resident_mb()
            print(f"after {made} rows: {first_mb:.1f} MB", flush=True)
    gc.collect()
    last_mb = resident_mb()
    print(f"after {made} rows: {last_mb:.1f} MB; growth {last_mb - first_mb:.1f} MB")
    print(f"Python {platform.python_version()}, {versions}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
