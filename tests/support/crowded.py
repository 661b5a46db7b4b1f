"""Settings so narrow that the rule of distinct rows displaces some: found and not written down, as
each new idiom changes what a seed draws."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from synth.dataset.settings import make_settings
from synth.run.generate import generate

CATEGORY, LEVEL = "atomic", 1
"""One category at the level that saturates first."""


@lru_cache
def crowded(rows: int) -> dict[str, Any]:
    """What to ask for, its seed the first of which ``rows`` rows have a position displaced."""
    asked = {"categories_asked": (CATEGORY,), "levels_asked": (LEVEL,)}
    for seed in range(500):
        settings = make_settings(verify="text", seed=seed, **asked)
        with TemporaryDirectory() as folder:
            if generate(settings, rows, Path(folder) / "out").draws["displaced"]:
                return {**asked, "seed": seed}
    raise AssertionError("no seed of 500 draws a kernel twice")
