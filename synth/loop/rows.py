"""Rows without end, drawn and checked as they are asked for; nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from synth.dataset.files import read_parquet
from synth.dataset.positions import Task, key_at
from synth.dataset.settings import STRUCTURE_CAP, Settings, Versions
from synth.errors import SettingsError
from synth.run.unit import ROWS_AT_ONCE, make_task

Row = dict[str, Any]

_FEWEST_NEW = 4
_IDLE_KEYS = 2000
"""After so many draws in a row that repeat what was given, there is nothing more to give."""


def endless_rows(settings: Settings) -> Iterator[Row]:
    """The rows of ``settings``, one category after the other, index by index.

    Equal settings give equal rows in equal order. As in a dataset no row equals another up to
    names, and at most two share a structure; unlike there, a row that would is left out and not
    drawn again, so that nothing waits for later rows. Raises :class:`SettingsError` when the
    categories have no more distinct kernels at these levels.
    """
    versions = Versions.installed(settings.verify)
    names: set[str] = set()
    structures: Counter[str] = Counter()
    idle = start = 0
    for count in _counts(len(settings.categories)):
        keys = [key_at(at, settings.categories) for at in range(start, start + count)]
        start += count
        task = Task("stream", tuple((key, 0) for key in keys))
        for row in read_parquet(make_task(settings, versions, task)).to_pylist():
            rename = row.pop("rename")
            del row["tally"]
            idle += 1
            if rename in names or structures[row["structure"]] == STRUCTURE_CAP:
                continue
            names.add(rename)
            structures[row["structure"]] += 1
            idle = 0
            yield row
        if idle > _IDLE_KEYS:
            raise SettingsError(
                f"no new kernel in {idle} draws of {', '.join(settings.categories)}; ask for more "
                "categories or levels, or for another seed"
            )


def _counts(categories: int) -> Iterator[int]:
    """How many rows are made at once: few at first, so that the first comes soon."""
    count = max(categories, _FEWEST_NEW)
    while True:
        yield count
        count = min(2 * count, max(ROWS_AT_ONCE, categories))
