"""Draw and check the rows of a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from generators.build.draw import Reject
from synth.dataset.files import parquet_bytes, read_parquet
from synth.dataset.positions import Key, Task
from synth.dataset.settings import Settings, Versions
from synth.errors import SettingsError
from synth.rows.garbage import fewer_collections
from synth.rows.maker import Accepted, Row, attempt_draw, pair_maker
from synth.rows.verify import Failure, verifier
from synth.run.tally import Tally
from validate.row.columns import ROW_SCHEMA

MAX_ATTEMPTS = 600
"""Most attempts at an index."""

ROWS_AT_ONCE = 48
"""Rows that are drawn and checked together: they share a translation unit."""

UNIT_SCHEMA = pa.schema(
    [*ROW_SCHEMA, pa.field("rename", pa.string()), pa.field("tally", pa.string())]
)


@dataclass
class Made:
    """A row with its rename key, and what happened to draws on the way to it."""

    row: Row
    rename: str
    tally: Tally = field(default_factory=Tally)


class OutOfAttempts(Exception):  # noqa: N818
    """There is no further good attempt at an index."""


def first_accepted(settings: Settings, key: Key, start_attempt: int, tally: Tally) -> Accepted:
    """The first attempt from ``start_attempt`` on that passes the gates.

    Raises OutOfAttempts.
    """
    index, category = key
    for attempt in range(start_attempt, MAX_ATTEMPTS):
        tally.draws += 1
        try:
            return attempt_draw(settings, category, index, attempt)
        except Reject as reject:
            tally.rejects[f"{category}/{reject.idiom}/{reject.reason}"] += 1
    raise OutOfAttempts


def saturated(settings: Settings, key: Key) -> SettingsError:
    """What is said when a key has no further good attempt."""
    index, category = key
    return SettingsError(
        f"category {category} has no more distinct kernels at level {settings.level_of(index)} "
        f"(index {index}); ask for fewer rows or more levels"
    )


def make_task(
    settings: Settings,
    versions: Versions,
    task: Task,
    made: Callable[[int], object] = lambda _n: None,
) -> bytes:
    """Parquet of a task's rows: in the order of its keys, and of attempts at each.

    ``made`` is called with how many keys are done more, whenever some are.
    A key that runs out of attempts has fewer rows; :class:`SettingsError` when it has none.
    """
    maker = _Maker(settings, versions)
    given = _given(task.given)
    rows: list[dict[str, Any]] = []
    for first in range(0, len(task.starts), ROWS_AT_ONCE):
        starts = dict(task.starts[first : first + ROWS_AT_ONCE])
        for one in maker.attempts(starts, task.count, given):
            rows.append({**one.row, "rename": one.rename, "tally": one.tally.to_json()})
        made(len(starts))
    return parquet_bytes(pa.Table.from_pylist(rows, schema=UNIT_SCHEMA))


class _Maker:
    def __init__(self, settings: Settings, versions: Versions) -> None:
        self.settings = settings
        self.pairs = pair_maker(settings, versions)
        self.checks = verifier(settings, versions)

    def attempts(
        self, starts: Mapping[Key, int], count: int, given: Mapping[Key, Made]
    ) -> Sequence[Made]:
        """The next ``count`` good attempts at each key."""
        found: dict[Key, list[Made]] = {key: [] for key in starts}
        left = dict(starts)
        for _ in range(count):
            made = self.good(left, {key: given[key] for key in left if key in given})
            for key, one in made.items():
                found[key].append(one)
            left = {key: one.row["provenance"]["attempt"] + 1 for key, one in made.items()}
        for key, several in found.items():
            if not several:
                raise saturated(self.settings, key)
        return [one for several in found.values() for one in several]

    def good(self, starts: Mapping[Key, int], given: Mapping[Key, Made]) -> dict[Key, Made]:
        """The next good attempt at each key that has one: drawn until it passes its check."""
        found: dict[Key, Made] = {}
        tallies = {key: Tally() for key in starts}
        left = dict(starts)
        self._check(dict(given), tallies, found, left)
        while left:
            self._check(self._drawn(left, tallies), tallies, found, left)
        return {key: found[key] for key in starts if key in found}

    def _drawn(self, left: dict[Key, int], tallies: Mapping[Key, Tally]) -> dict[Key, Made]:
        """A draw for each key; one that runs out of attempts leaves ``left``."""
        drawn: dict[Key, Accepted] = {}
        with fewer_collections():
            for key, attempt in list(left.items()):
                try:
                    drawn[key] = first_accepted(self.settings, key, attempt, tallies[key])
                except OutOfAttempts:
                    del left[key]
        rows = self.pairs.rows(list(drawn.values())) if drawn else []
        return {
            key: Made(row, accepted.keys.rename)
            for (key, accepted), row in zip(drawn.items(), rows, strict=True)
        }

    def _check(
        self,
        made: Mapping[Key, Made],
        tallies: Mapping[Key, Tally],
        found: dict[Key, Made],
        left: dict[Key, int],
    ) -> None:
        if not made:
            return
        evidence: list[dict[str, Any]] = []
        with fewer_collections():
            failures = self.checks.verify([one.row for one in made.values()], evidence)
        measured = {entry["id"]: entry for entry in evidence}
        for (key, one), failure in zip(made.items(), failures, strict=True):
            tally, row = tallies[key], one.row
            if failure is None:
                tally.evidence += [measured[row["id"]]] if row["id"] in measured else []
                found[key] = replace(one, tally=tally)
                del left[key]
            else:
                tally.rejects[f"{key[1]}/{row['idiom']}/{failure.reason}"] += 1
                tally.rejected_rows.append(_rejected(row, failure))
                left[key] = row["provenance"]["attempt"] + 1


def _rejected(row: Row, failure: Failure) -> dict[str, Any]:
    texts = ("id", "category", "idiom", "level", "kernel_name", "python", "reference", "program")
    kept = {name: row[name] for name in texts}
    cuda = "".join(
        row[name] for name in ("cuda_prologue", "cuda_helpers", "cuda_forward") if row[name]
    )
    return {
        **kept,
        "reason": failure.reason,
        "detail": failure.detail,
        "cuda": cuda,
        "args": row["args"],
        "sizes": row["sizes"],
        "input_seed": row["input_seed"],
        "provenance": row["provenance"],
    }


def _given(data: bytes | None) -> dict[Key, Made]:
    """Rows that were drawn before."""
    if data is None:
        return {}
    rows = read_parquet(data).to_pylist()
    found = {}
    for row in rows:
        rename = row.pop("rename")
        del row["tally"]
        found[(row["provenance"]["index"], row["category"])] = Made(row, rename)
    return found
