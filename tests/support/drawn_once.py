"""Rows drawn once: a test that makes one dataset many times is about its files, and what a key
draws is the same each time (`tests/synth/dataset/test_dataset.py` proves that)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from generators.build.draw import Reject
from synth.dataset.settings import Settings
from synth.rows.maker import Accepted, PairMaker, Row, attempt_draw
from synth.run import unit


class DrawnOnce:
    """What the runs of this process, and of the children that it forks, drew in its blocks. Units
    are still made, written, killed and read as they are."""

    def __init__(self) -> None:
        self._draws: dict[tuple[Settings, str, int, int], Accepted | Reject] = {}
        self._rows: dict[tuple[Any, ...], Row] = {}

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Draws in the block are kept, or taken from what was kept."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(unit, "attempt_draw", self._attempt)
            patch.setattr(PairMaker, "rows", self._kept(PairMaker.rows))
            yield

    def _attempt(self, settings: Settings, category: str, index: int, attempt: int) -> Accepted:
        key = (settings, category, index, attempt)
        if key not in self._draws:
            try:
                self._draws[key] = attempt_draw(settings, category, index, attempt)
            except Reject as reject:
                self._draws[key] = reject
        found = self._draws[key]
        if isinstance(found, Reject):
            raise found.with_traceback(None)
        return found

    def _kept(
        self, make: Callable[[PairMaker, Sequence[Accepted]], list[Row]]
    ) -> Callable[[PairMaker, Sequence[Accepted]], list[Row]]:
        def rows(maker: PairMaker, accepted: Sequence[Accepted]) -> list[Row]:
            made_by = (maker.settings, maker.versions)
            keys = [(*made_by, a.program.category, a.index, a.attempt) for a in accepted]
            both = zip(keys, accepted, strict=True)
            new = {key: a for key, a in both if key not in self._rows}
            if new:
                self._rows.update(zip(new, make(maker, list(new.values())), strict=True))
            return [copy.deepcopy(self._rows[key]) for key in keys]

        return rows
