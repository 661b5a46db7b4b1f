"""Which units a run consists of.

A unit is a span of indices over all categories of the settings. Its rows are a pure function of
the settings, so units can be made anywhere, in any order, and a finished one is never made again.
"""

from __future__ import annotations

from dataclasses import dataclass

INDICES_PER_UNIT = 8


@dataclass(frozen=True)
class Unit:
    """Indices ``start`` to ``stop - 1`` of every category."""

    start: int
    stop: int

    @property
    def file_name(self) -> str:
        return f"unit-{self.start:08d}-{self.stop:08d}.parquet"

    @property
    def given_name(self) -> str:
        """The file of rows that need not be drawn, when there are any."""
        return f"given-{self.start:08d}.parquet"


def plan_units(n: int, category_count: int) -> list[Unit]:
    """Units that hold the first ``n`` rows in order of (index, category).

    Every unit but the last spans ``INDICES_PER_UNIT`` indices, so runs that differ in ``n`` alone
    share all units but one.
    """
    indices = -(-n // category_count)
    return [
        Unit(start, min(start + INDICES_PER_UNIT, indices))
        for start in range(0, indices, INDICES_PER_UNIT)
    ]
