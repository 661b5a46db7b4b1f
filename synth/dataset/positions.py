"""Which tasks a run consists of, and where a row stands.

Rows come in order of (index, category); the place of a row in that order is its position. A task
is some keys with the attempt to start from. Its rows are a pure function of the settings, so tasks
can be done anywhere, in any order, and a finished one is never done again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

INDICES_PER_UNIT = 8
MOST_UNITS = 16_384
"""A larger run has larger units: folders of more files are slow on shared disks."""

Key = tuple[int, str]
"""(index, category)."""

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """Keys, each with the attempt to start from, and how many good attempts are wanted of each.

    ``name`` says what is asked, without its suffix a file's name; ``given`` is Parquet of rows that
    are drawn already and only need their check.
    """

    name: str
    starts: tuple[tuple[Key, int], ...]
    count: int = 1
    given: bytes | None = None


def indices_per_unit(n: int, category_count: int) -> int:
    """Indices of a unit, for a run of ``n`` rows."""
    indices = -(-n // category_count)
    least = -(-indices // MOST_UNITS)
    return -(-max(least, 1) // INDICES_PER_UNIT) * INDICES_PER_UNIT


def unit_spans(n: int, category_count: int, per_unit: int) -> Iterator[tuple[int, int]]:
    """Start and end of the indices of each unit of the first ``n`` rows, as of a ``range``.

    Every unit but the last spans ``per_unit`` indices, so runs that differ in ``n`` alone share all
    units but one.
    """
    indices = -(-n // category_count)
    for start in range(0, indices, per_unit):
        yield start, min(start + per_unit, indices)


def unit_task(
    span: tuple[int, int], categories: Sequence[str], wanted: Positions, given: bytes | None = None
) -> Task:
    """The first good attempt at each of the ``wanted`` positions, all of which lie in the span."""
    start, stop = span
    keys = [key_at(int(position), categories) for position in wanted]
    name = f"unit-{start:08d}-{stop:08d}"
    if len(keys) < (stop - start) * len(categories):
        name += f"-{_digest(keys)}"
    return Task(name, tuple((key, 0) for key in keys), given=given)


def redraw_task(starts: Sequence[tuple[Key, int]], count: int) -> Task:
    """The next good attempts at some keys."""
    return Task(f"redraw-{_digest([*starts, count])}", tuple(starts), count)


def key_at(position: int, categories: Sequence[str]) -> Key:
    index, category = divmod(position, len(categories))
    return index, categories[category]


def position_of(key: Key, categories: Sequence[str]) -> int:
    index, category = key
    return index * len(categories) + categories.index(category)


def _digest(things: Sequence[object]) -> str:
    return hashlib.sha256(repr(things).encode()).hexdigest()[:16]
