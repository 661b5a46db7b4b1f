"""How many rename keys (equal up to names) two seeds share.

Run: PYTHONPATH=. python scripts/measure/rows/compare_seeds.py [ROWS] [SEED] [SEED]. Draws both
datasets at --verify text.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from generators.program.keys import program_keys
from generators.program.serialise import from_json
from synth.dataset.settings import make_settings
from synth.dataset.stored import stored_rows
from synth.run import generate as run


def rename_keys(rows: int, seed: int, folder: Path) -> dict[str, str]:
    """Rename key to category/idiom/level of every row of a fresh dataset."""
    out = folder / str(seed)
    run.generate(make_settings(seed=seed, verify="text"), rows, out)
    return {
        program_keys(from_json(row["program"])).rename: (
            f"{row['category']}/{row['idiom']} level {row['level']}"
        )
        for _, row in stored_rows(out)
    }


def main(rows: int, first: int, second: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        a, b = (rename_keys(rows, seed, Path(folder)) for seed in (first, second))
    shared = sorted(a[key] for key in a.keys() & b.keys())
    print(f"seeds {first} and {second}: {len(shared)} of {rows} rename keys shared")
    for where in shared:
        print(f"  {where}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="?", type=int, default=600)
    parser.add_argument("first", nargs="?", type=int, default=42)
    parser.add_argument("second", nargs="?", type=int, default=43)
    asked = parser.parse_args()
    main(asked.rows, asked.first, asked.second)
