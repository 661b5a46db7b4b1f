"""A unit: the first good attempt at each of its indices, checked, in one file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from generators.draw import Reject
from synth.collector import fewer_collections
from synth.errors import SettingsError
from synth.files import write_parquet
from synth.pair import Accepted, Row, attempt_draw, pair_maker
from synth.plan import Unit
from synth.settings import Settings, Versions
from synth.verify import Evidence, Failure, verifier
from validate.columns import ROW_SCHEMA

MAX_ATTEMPTS = 300

UNIT_SCHEMA = pa.schema([*ROW_SCHEMA, pa.field("rename", pa.string())])

Key = tuple[int, str]
"""(index, category): the order of rows."""


@dataclass
class Tally:
    """What happened to draws: rejects by ``category/idiom/reason``, and rows that failed checks."""

    draws: int = 0
    rejects: Counter[str] = field(default_factory=Counter)
    rejected_rows: list[dict[str, Any]] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.draws += other.draws
        self.rejects.update(other.rejects)
        self.rejected_rows += other.rejected_rows
        self.evidence += other.evidence

    def as_dict(self) -> dict[str, Any]:
        return {
            "draws": self.draws,
            "rejects": dict(sorted(self.rejects.items())),
            "rejected_rows": self.rejected_rows,
            "evidence": self.evidence,
        }

    @staticmethod
    def from_dict(found: dict[str, Any]) -> Tally:
        return Tally(
            found["draws"], Counter(found["rejects"]), found["rejected_rows"], found["evidence"]
        )


def first_accepted(
    settings: Settings,
    key: Key,
    start_attempt: int,
    admit: Callable[[Accepted], str],
    tally: Tally,
) -> Accepted:
    """The first attempt from ``start_attempt`` on that passes the gates and is admitted.

    ``admit`` gives "" or the reason to go on. :class:`SettingsError` when the attempts run out.
    """
    index, category = key
    for attempt in range(start_attempt, start_attempt + MAX_ATTEMPTS):
        tally.draws += 1
        try:
            accepted = attempt_draw(settings, category, index, attempt)
        except Reject as reject:
            tally.rejects[f"{category}/{reject.idiom}/{reject.reason}"] += 1
            continue
        reason = admit(accepted)
        if not reason:
            return accepted
        tally.rejects[f"{category}/{accepted.program.idiom}/{reason}"] += 1
    level = settings.level_of(index)
    raise SettingsError(
        f"category {category} has no more distinct kernels at level {level} (index {index}); "
        "ask for fewer rows or more levels"
    )


def checked_rows(
    settings: Settings,
    versions: Versions,
    keys: Iterable[Key],
    start_attempts: dict[Key, int],
    admit: Callable[[Accepted], str],
    tally: Tally,
    given: Mapping[Key, tuple[Row, str]] = MappingProxyType({}),
) -> dict[Key, tuple[Row, str]]:
    """Rows for ``keys`` with their rename keys; an attempt that fails its check is drawn again.

    ``given`` holds rows that are drawn already and only need their check.
    """
    maker = pair_maker(settings, versions)
    checks = verifier(settings, versions)
    todo = dict.fromkeys(keys)
    attempts = dict(start_attempts)
    found: dict[Key, tuple[Row, str]] = {}

    def check(made: Mapping[Key, tuple[Row, str]]) -> None:
        failures = checks.verify([row for row, _ in made.values()], tally.evidence)
        for (key, (row, rename)), failure in zip(made.items(), failures, strict=True):
            if failure is None:
                found[key] = (row, rename)
                del todo[key]
            else:
                tally.rejects[f"{key[1]}/{row['idiom']}/{failure.reason}"] += 1
                tally.rejected_rows.append(_rejected(row, failure))
                attempts[key] = row["provenance"]["attempt"] + 1

    check(given)
    while todo:
        with fewer_collections():
            drawn = {
                key: first_accepted(settings, key, attempts.get(key, 0), admit, tally)
                for key in todo
            }
        rows = maker.rows(list(drawn.values()))
        renames = [accepted.keys.rename for accepted in drawn.values()]
        check(dict(zip(drawn, zip(rows, renames, strict=True), strict=True)))
    return found


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


def make_unit(settings: Settings, versions: Versions, unit: Unit, folder: Path) -> int:
    """Make one unit and write its file; gives the number of its rows."""
    tally = Tally()
    keys = [(index, c) for index in range(unit.start, unit.stop) for c in settings.categories]
    given = _given(folder / unit.given_name)
    found = checked_rows(settings, versions, keys, {}, lambda _a: "", tally, given)
    rows = [{**found[key][0], "rename": found[key][1]} for key in keys]
    table = pa.Table.from_pylist(rows, schema=UNIT_SCHEMA)
    note = {"tally": tally.as_dict()}
    table = table.replace_schema_metadata({"pairsmith": json.dumps(note, sort_keys=True)})
    write_parquet(folder / unit.file_name, table)
    return len(rows)


def _given(path: Path) -> dict[Key, tuple[Row, str]]:
    """Rows that were drawn for a unit before, with their rename keys."""
    if not path.is_file():
        return {}
    rows = pq.read_table(path).to_pylist()
    return {(row["provenance"]["index"], row["category"]): (row, row.pop("rename")) for row in rows}


def read_tally(path: Path) -> Tally:
    """The tally that a unit's file carries."""
    note = json.loads(pq.read_schema(path).metadata[b"pairsmith"])
    return Tally.from_dict(note["tally"])


def finished_unit(path: Path) -> Tally | None:
    """The tally of a unit that is there and whole, else None: then it is made again."""
    if not path.is_file():
        return None
    try:
        pq.read_table(path, columns=["id"])
        return read_tally(path)
    except (pa.ArrowException, OSError, KeyError, ValueError):
        return None
