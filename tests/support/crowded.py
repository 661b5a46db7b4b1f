"""Settings so narrow that the rule of distinct rows displaces some: found and not written down, as
each new idiom changes what a seed draws."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from synth.dataset.settings import make_settings
from synth.run.tally import Tally
from synth.run.unit import first_accepted

CATEGORY, LEVEL = "matrix", 1
"""One category, as simple as it gets: some of its idioms have few forms there."""


@lru_cache
def crowded(rows: int) -> dict[str, Any]:
    """What to ask for, its seed the first of which two among ``rows`` draws are equal up to
    names."""
    asked = {"categories_asked": (CATEGORY,), "levels_asked": (LEVEL,)}
    for seed in range(2000):
        settings = make_settings(verify="text", seed=seed, **asked)
        seen: set[str] = set()
        for index in range(rows):
            drawn = first_accepted(settings, (index, CATEGORY), 0, Tally()).keys.rename
            if drawn in seen:
                return {**asked, "seed": seed}
            seen.add(drawn)
    raise AssertionError("no seed of 2,000 draws a kernel twice")
