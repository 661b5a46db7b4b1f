"""All that was ever measured of lowered ops: SQLite beside the texts of an index, only added to."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from synth.dataset.appended import AppendedFile, Layout, as_json, now
from synth.errors import SettingsError
from synth.lower.choose.request import Request, shape_class
from synth.lower.choose.table import Found
from synth.lower.op import Lowered, OpSpec
from synth.lower.spec import canonical_json
from synth.lower.tune.bench import Bench, Outcome

FILE = "tuned.sqlite"
_TABLES = """
CREATE TABLE measurements (
    id TEXT PRIMARY KEY, problem TEXT NOT NULL, key TEXT NOT NULL, spec TEXT NOT NULL,
    sizes TEXT NOT NULL, class TEXT NOT NULL, device TEXT NOT NULL, arch TEXT NOT NULL,
    compiler TEXT NOT NULL, clock TEXT NOT NULL, text_sha256 TEXT NOT NULL, verdict TEXT NOT NULL,
    reason TEXT NOT NULL, error REAL, error_share REAL, times_us TEXT NOT NULL, time_us REAL,
    predicted_us REAL, resources TEXT NOT NULL, measured_at TEXT NOT NULL
);
CREATE TABLE claims (measurement TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX measurements_by_problem ON measurements (problem, device, class);
CREATE INDEX measurements_by_key ON measurements (key);
"""


@dataclass(frozen=True)
class Measurement:
    """One candidate at sizes on a device; `notes/formats/tuned.md` says what the fields mean."""

    id: str
    problem: str
    key: str
    spec: Mapping[str, Any]
    sizes: Mapping[str, int]
    shape_class: str
    device: str
    arch: str
    compiler: str
    clock: str
    text_sha256: str
    verdict: str
    reason: str
    error: float | None
    error_share: float | None
    times_us: Sequence[float]
    time_us: float | None
    predicted_us: float | None
    resources: Mapping[str, Any]
    measured_at: str = ""


class Measured(AppendedFile):
    """The measurements of an index; use it as a context manager, in one thread."""

    layout = Layout(
        *("an index of tuned schedules", 0x50534D4C, 1, _TABLES, ("measurements",)),
        claimed="measurement",
    )

    def __init__(self, folder: Path) -> None:
        """Raises :class:`SettingsError` for a folder that cannot be written, and for a file that is
        something else."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            line = f"--cache: cannot write {folder}: {error.strerror}"
            raise SettingsError(line) from None
        super().__init__(folder / FILE)

    def __enter__(self) -> Measured:
        return self

    def claim(self, measurement: str) -> bool:
        """Whether this process may measure it: it is not measured yet, and nobody is at it."""
        return self._claim(measurement, "measurements")

    def add(self, one: Measurement) -> None:
        """Keep a measurement, and end the claim on it."""
        values = {name: value for name, value in asdict(one).items() if name != "shape_class"}
        values |= {name: as_json(values[name]) for name in ("spec", "sizes", "times_us")}
        values |= {"resources": as_json(one.resources), "class": one.shape_class}
        with self._transaction():
            self._insert("measurements", {**values, "measured_at": now()}, "OR IGNORE")
            self._unclaim(one.id)

    def get(self, measurement: str) -> Measurement | None:
        """The measurement of that id."""
        found = self.of(id=measurement)
        return found[0] if found else None

    def of(self, **wanted: str) -> list[Measurement]:
        """Those whose columns are as wanted (`problem`, `key`, `device`, `class`, `id`), in the
        order in which they came."""
        where = " AND ".join(f"{name}=?" for name in wanted)
        text = f"SELECT * FROM measurements{' WHERE ' + where if where else ''}"
        rows = self._db.execute(f"{text} ORDER BY measured_at, id", tuple(wanted.values()))
        return [_measurement(row) for row in rows]

    def found(self, request: Request, device: str) -> list[Found]:
        """The best of each shape that was tuned of a request's problem on a device, of which a part
        of the name is enough."""
        shapes: dict[tuple[str, str], list[Measurement]] = {}
        for one in self.of(problem=request.key):
            if device in one.device:
                place = (one.device, canonical_json(one.sizes))
                shapes.setdefault(place, []).append(one)
        best = ((best_of(listed), len(listed)) for listed in shapes.values())
        return [
            Found(one.device, one.sizes, one.spec["schedule"], one.time_us, count)
            for one, count in best
            if one is not None and one.time_us is not None
        ]


def best_of(listed: Sequence[Measurement]) -> Measurement | None:
    """The quickest of those that passed; of the same schedule the last measurement counts."""
    last = {one.key: one for one in listed}
    timed = [(one.time_us, one.key) for one in last.values() if one.time_us is not None]
    return last[min(timed)[1]] if timed else None


def measurement_id(spec: OpSpec, lowered: Lowered, sizes: Mapping[str, int], bench: Bench) -> str:
    """What must be the same for a measurement to be the same."""
    of = {
        "key": spec.key(),
        "sizes": dict(sizes),
        "device": bench.device,
        "compiler": bench.compiler,
        "text": _sha256(lowered.text),
    }
    return _sha256(canonical_json(of))


def measurement(
    request: Request,
    spec: OpSpec,
    lowered: Lowered,
    bench: Bench,
    outcome: Outcome,
    predicted_us: float | None,
) -> Measurement:
    """What is kept of a candidate's outcome."""
    sizes = request.chosen_for
    times = [round(time, 3) for time in outcome.times_us]
    return Measurement(
        id=measurement_id(spec, lowered, sizes, bench),
        problem=request.key,
        key=spec.key(),
        spec=spec.as_dict(),
        sizes=sizes,
        shape_class=shape_class(sizes),
        device=bench.device,
        arch=bench.arch,
        compiler=bench.compiler,
        clock=bench.clock,
        text_sha256=_sha256(lowered.text),
        verdict=str(outcome.verdict),
        reason=outcome.reason,
        error=outcome.error,
        error_share=outcome.error_share,
        times_us=times,
        time_us=sorted(times)[len(times) // 2] if times else None,
        predicted_us=predicted_us,
        resources=outcome.resources,
    )


def _measurement(row: sqlite3.Row) -> Measurement:
    values = dict(row)
    values["shape_class"] = values.pop("class")
    values |= {n: json.loads(values[n]) for n in ("spec", "sizes", "times_us", "resources")}
    return Measurement(**values)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
