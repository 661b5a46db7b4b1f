"""Memory of a worker over many rows: resident size after the first 1,000 and at the end.

Run: python tests/bench/bench_memory.py [rows]. Makes units as a worker does, at --verify text.
"""

from __future__ import annotations

import gc
import platform
import sys
import tempfile
from pathlib import Path

from synth.plan import INDICES_PER_UNIT, Unit
from synth.settings import Versions, make_settings
from synth.unit import make_unit


def resident_mb() -> float:
    """Resident memory of this process in MB (10**6 bytes), from /proc."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def main(rows: int) -> None:
    settings, versions = make_settings(verify="text"), Versions.installed()
    made = start = 0
    first_mb = 0.0
    with tempfile.TemporaryDirectory() as folder:
        while made < rows:
            unit = Unit(start, start + INDICES_PER_UNIT)
            made += make_unit(settings, versions, unit, Path(folder))
            (Path(folder) / unit.file_name).unlink()
            start = unit.stop
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
