"""Rows in batches for a compiler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def batches(rows: Sequence[Mapping[str, Any]], size: int) -> Iterator[list[int]]:
    """Positions in batches of at most `size`; rows of one batch share their `cuda_prologue`."""
    groups: dict[str, list[int]] = {}
    for position, row in enumerate(rows):
        groups.setdefault(row["cuda_prologue"], []).append(position)
    for positions in groups.values():
        for start in range(0, len(positions), size):
            yield positions[start : start + size]
