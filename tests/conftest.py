"""Shared by all tests: programs of every idiom and level, drawn once a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from generators import categories
from generators.draw import Draw, Reject
from generators.keys import program_keys
from generators.registry import LEVELS

if TYPE_CHECKING:
    from synth.pair import Accepted, Row

TRIES = 40


def accepted_draw(category: str, idiom: str, level: int, seed: int = 7) -> Accepted:
    """The first draw of an idiom at a level that passes the gates."""
    from synth.gates import judge
    from synth.pair import Accepted

    reasons = []
    for attempt in range(TRIES):
        draw = Draw(seed, category, level, attempt)
        try:
            program = categories()[category].draw_idiom(idiom, draw, level)
            tolerances = judge(program)
        except Reject as reject:
            reasons.append(str(reject))
            continue
        return Accepted(program, tolerances, program_keys(program), level, attempt)
    raise AssertionError(f"{category}/{idiom} level {level} never passes: {reasons}")


@pytest.fixture(scope="session")
def all_accepted() -> list[Accepted]:
    """One program for each idiom and level."""
    return [
        accepted_draw(name, idiom, level)
        for name, category in categories().items()
        for idiom in sorted(category.idioms)
        for level in LEVELS
    ]


@pytest.fixture(scope="session")
def all_rows(all_accepted: list[Accepted]) -> list[Row]:
    """One row for each idiom and level."""
    # Not above: the GPU tests share this file, and their machines lack what rows are made with.
    from synth.pair import PairMaker
    from synth.settings import Versions, make_settings

    maker = PairMaker(make_settings(verify="text"), Versions.installed())
    return maker.rows(all_accepted)
