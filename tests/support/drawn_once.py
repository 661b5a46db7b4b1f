"""Rows drawn once: a test that makes one dataset many times is about its files, and what a key
draws is the same each time (`tests/synth/dataset/test_dataset.py` proves that)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest

from generators.build.draw import Reject
from synth.dataset.settings import Settings
from synth.rows.maker import Accepted, PairMaker, Row, attempt_draw
from synth.run import unit


def draw_once(patch: pytest.MonkeyPatch) -> None:
    """Let the runs of this process, and the children that it forks, keep what they draw. Units are
    still made, written, killed and read as they are."""
    draws: dict[tuple[Settings, str, int, int], Accepted | Reject] = {}
    rows: dict[tuple[Any, ...], Row] = {}
    made = PairMaker.rows

    def drawn(settings: Settings, category: str, index: int, attempt: int) -> Accepted:
        key = (settings, category, index, attempt)
        if key not in draws:
            try:
                draws[key] = attempt_draw(settings, category, index, attempt)
            except Reject as reject:
                draws[key] = reject
        found = draws[key]
        if isinstance(found, Reject):
            raise found.with_traceback(None)
        return found

    def rows_of(self: PairMaker, accepted: Sequence[Accepted]) -> list[Row]:
        made_by = (self.settings, self.versions)
        keys = [(*made_by, a.program.category, a.index, a.attempt) for a in accepted]
        new = [(key, a) for key, a in zip(keys, accepted, strict=True) if key not in rows]
        if new:
            rows.update(zip([key for key, _ in new], made(self, [a for _, a in new]), strict=True))
        return [copy.deepcopy(rows[key]) for key in keys]

    patch.setattr(unit, "attempt_draw", drawn)
    patch.setattr(PairMaker, "rows", rows_of)
