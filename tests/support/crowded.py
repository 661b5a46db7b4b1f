"""Settings so narrow that the rule of distinct rows displaces some: found and not written down, as
each new idiom changes what a seed draws."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from generators.build.draw import Draw, Reject
from generators.program.keys import program_keys
from synth.dataset.settings import Settings, make_settings
from synth.rows.maker import drawn_program
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
        # Gates take ten times as long as draws: only draws that repeat are judged.
        if _repeats(_key_unjudged(settings, index) for index in range(rows)) and _repeats(
            first_accepted(settings, (index, CATEGORY), 0, Tally()).keys.rename
            for index in range(rows)
        ):
            return {**asked, "seed": seed}
    raise AssertionError("no seed of 2,000 draws a kernel twice")


def _key_unjudged(settings: Settings, index: int) -> str:
    """The rename key of a first attempt; a key of its own where the idiom rejects it."""
    try:
        return program_keys(drawn_program(Draw(settings.seed, CATEGORY, index, 0), LEVEL)).rename
    except Reject:
        return f"none at {index}"


def _repeats(keys: Iterable[str]) -> bool:
    found = list(keys)
    return len(set(found)) < len(found)
