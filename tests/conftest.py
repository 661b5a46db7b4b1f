"""Shared by all tests: programs of every idiom and level, drawn once a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from drawn_programs import accepted_draw

from generators import categories
from generators.build.registry import LEVELS

if TYPE_CHECKING:
    from synth.rows.maker import Accepted, Row


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
    from synth.dataset.settings import Versions, make_settings
    from synth.rows.maker import PairMaker

    maker = PairMaker(make_settings(verify="text"), Versions.installed())
    return maker.rows(all_accepted)
