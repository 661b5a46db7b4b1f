"""Make ``data/samples``: one pair for each category and level, as published.

Run: PYTHONPATH=. python scripts/author/make_samples.py FOLDER. A dataset there is replaced,
anything else is refused. Headers (``include/``) and raw measurements (``evidence/``) are left out
of git, so they are removed here as well.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from generators import categories
from generators.build.registry import LEVELS
from synth.dataset.settings import make_settings
from synth.run import generate as run


def make_samples(folder: Path) -> int:
    """Write the samples into ``folder``; gives the number of rows."""
    if folder.exists() and not (folder / "manifest.json").is_file():
        sys.exit(f"{folder} is no dataset; choose another folder")
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    rows = len(categories()) * len(LEVELS)
    run.generate(make_settings(seed=0, verify="run"), rows, fresh)
    for name in ("include", "evidence"):
        shutil.rmtree(fresh / name)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    print(f"{make_samples(asked.folder)} rows in {asked.folder}")
