"""What can be asked of a run at all: known before anything else is imported or made."""

from __future__ import annotations

import re
from dataclasses import dataclass

from synth.errors import SettingsError

MOST_ROWS = 100_000_000
MOST_WORKERS = 4096
MOST_ROWS_A_SHARD = 100_000
"""Larger shards could exceed what one column of an Arrow table holds, and are no use."""

_PART = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True)
class Part:
    """One of several runs that share the units of a dataset among them: ``number`` from 1 on."""

    number: int
    count: int

    @staticmethod
    def of(text: str) -> Part:
        """The part that ``k/n`` names; :class:`SettingsError` where it names none."""
        found = _PART.fullmatch(text)
        if found is None:
            raise SettingsError(f"--part {text[:40]} is no k/n, as 3/16")
        part = Part(int(found[1]), int(found[2]))
        part.require()
        return part

    def require(self) -> None:
        """:class:`SettingsError` for a part that does not exist."""
        if not 1 <= self.number <= self.count:
            raise SettingsError(
                f"part {self.number}/{self.count} does not exist; give k/n with k to n"
            )


def require_sane(workers: int, n: int = 0) -> None:
    """:class:`SettingsError` for numbers of processes or rows that nobody can mean."""
    if workers <= 0:
        raise SettingsError(f"workers is {workers}; give at least one")
    if workers > MOST_WORKERS:
        raise SettingsError(f"workers is {workers}; give {MOST_WORKERS} at most")
    if n > MOST_ROWS:
        raise SettingsError(f"{n} rows are too many for one dataset; ask for {MOST_ROWS} at most")


def require_numbers(n: int, shard_size: int) -> None:
    """:class:`SettingsError` for numbers that no dataset can have."""
    if n <= 0:
        raise SettingsError(f"n is {n}; ask for at least one row")
    if shard_size <= 0:
        raise SettingsError(f"shard size is {shard_size}; give at least one row")
    if shard_size > MOST_ROWS_A_SHARD:
        raise SettingsError(f"shard size is {shard_size}; give at most {MOST_ROWS_A_SHARD}")
