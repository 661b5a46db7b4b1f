"""Make ``data/samples``: one pair for each category and level, as published, of all splits.

Run: PYTHONPATH=. python scripts/author/make_samples.py FOLDER. A dataset there is replaced,
anything else is refused. Headers (``include/``) and raw measurements (``evidence/``) are left out
of git, so they are removed here as well.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from itertools import count
from pathlib import Path

from generators import categories
from generators.build.registry import LEVELS
from synth.dataset.manifest import SPLITS
from synth.dataset.settings import make_settings
from synth.run import generate as run


def make_samples(folder: Path) -> int:
    """Write the samples into ``folder``; gives the number of rows."""
    if folder.exists() and not (folder / "manifest.json").is_file():
        sys.exit(f"{folder} is no dataset; choose another folder")
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    rows = len(categories()) * len(LEVELS)
    run.generate(make_settings(seed=_seed(rows), verify="run"), rows, fresh)
    for name in ("include", "evidence"):
        shutil.rmtree(fresh / name)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return rows


def _seed(rows: int) -> int:
    """The first seed whose rows fall into every split, and of which a draw was rejected."""
    for seed in count():
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            manifest = run.generate(make_settings(seed=seed, verify="text"), rows, out)
            whole = len(manifest.counts["split"]) == len(SPLITS)
            if whole and manifest.draws["rejects_by_reason"]:
                return seed
    raise AssertionError("seeds do not end")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    print(f"{make_samples(asked.folder)} rows in {asked.folder}")
