"""``gpu tune``: the schedules of rows timed side by side at their regime, and what is written.

What is done is kept in a journal as it comes, so that a tuning that was broken off goes on.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from math import prod
from pathlib import Path
from typing import Any

import pyarrow as pa

from generators.program import ir
from generators.program.serialise import from_json
from synth.card.gpu_summary import update_card
from synth.card.tunings import own_over_best, shares_within
from synth.dataset.names import GPU
from synth.errors import SettingsError
from synth.gpu.output import ROW_KEYS, device_slug, ready_folder, write_run
from synth.gpu.run import versions
from synth.gpu.schedules import write_schedules
from synth.gpu.work import work_of
from synth.render.cuda.choose import candidates_of
from synth.render.cuda.module import render
from synth.render.cuda.regime import MOST_BYTES, middle_sizes, regime_of, upper_sizes
from synth.render.cuda.schedule import Schedule
from validate.gpu.ceilings import Peaks, measure_peaks
from validate.gpu.device import Device
from validate.gpu.large import bytes_moved
from validate.gpu.runner import GpuOptions, RowVerdict, default_workers, run_rows
from validate.gpu.tune import WARP, Trial
from validate.row.sizes import described, evaluate_all
from validate.statuses import GpuStatus

Row = dict[str, Any]

TUNE_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("category", pa.string()),
        ("idiom", pa.string()),
        ("level", pa.int32()),
        ("split", pa.string()),
        ("contender", pa.string()),
        ("own", pa.bool_()),
        ("style", pa.string()),
        ("schedule", pa.string()),
        ("sizes", pa.string()),
        ("elements", pa.int64()),
        ("bytes_moved", pa.int64()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("repeats", pa.int32()),
        ("time_us", pa.float64()),
        ("min_us", pa.float64()),
        ("spread_us", pa.float64()),
        ("share_of_copy", pa.float64()),
        ("share_of_peak", pa.float64()),
        ("rank", pa.int32()),
        ("device", pa.string()),
        ("device_uuid", pa.string()),
    ]
)
"""One row of the table for each contender and size; ``rank`` counts from 1, the quickest, among the
plain texts of a row at a size; ``own`` marks the schedule that the row is published with."""


_BYTES_OF_A_PROCESS = 8 * MOST_BYTES
"""Arrays of the largest regime for Warp's text and for plain texts, a copy of each, and as much
that the device's allocator keeps."""


@dataclass(frozen=True)
class Job:
    """A row with its contenders: what travels to the GPU's processes, and the schedules."""

    row: Row
    schedules: list[Schedule]


def schedules_to_try(program: ir.Program, own: Schedule, most: int) -> list[Schedule]:
    """The row's own schedule, then the best predicted of each style in turn."""
    by_style: dict[str, list[Schedule]] = {}
    for candidate in candidates_of(program, upper_sizes(program)):
        if candidate.schedule != own:
            by_style.setdefault(candidate.schedule.style, []).append(candidate.schedule)
    turns = zip_longest(*by_style.values())
    return [own, *(s for turn in turns for s in turn if s is not None)][:most]


def regime_sizes(program: ir.Program) -> list[dict[str, int]]:
    """The low ends, the middles and the high ends of the spans of a regime."""
    spans = regime_of(program)
    found = [
        {s.symbol: s.low for s in spans},
        middle_sizes(program),
        {s.symbol: s.high for s in spans},
    ]
    return [sizes for k, sizes in enumerate(found) if sizes not in found[:k]]


def job_of(row: Row, most: int) -> Job:
    """The job of a row that has a program."""
    program = from_json(row["program"])
    schedules = schedules_to_try(program, Schedule.from_json(row["schedule"]), most)
    contenders = [render(program, schedule).columns() for schedule in schedules]
    tune = {"contenders": contenders, "sizes": regime_sizes(program)}
    return Job({**row, "tune": tune}, schedules)


@dataclass(frozen=True)
class Tuning:
    """How rows are tuned: `schedules` a row, its own among them; processes, and seconds a row."""

    include_dir: Path
    schedules: int = 8
    workers: int | None = None
    timeout_s: float = 300.0


def tune_dataset(
    out: Path,
    rows: Sequence[Row],
    device: Device,
    wanted: Tuning,
    progress: Callable[[RowVerdict], None] = lambda _v: None,
) -> tuple[list[str], bool]:
    """Tune rows, each with its `split`, and write what was found; lines to print, and whether all
    passed."""
    ready_folder(out)
    peaks = measure_peaks(device)
    journal = Journal(out, device, {"rows": len(rows), "schedules": wanted.schedules})
    with tempfile.TemporaryDirectory(prefix="pairsmith-tune-") as folder:
        options = GpuOptions(
            include_dir=wanted.include_dir,
            timeout_s=wanted.timeout_s,
            workers=wanted.workers or min(default_workers([device]), _workers(device)),
            batch_size=1,
            tune=Path(folder) / "device",
        )
        records = list(_records(rows, device, options, wanted.schedules, journal, progress))
    paths = write_tune(out, rows, records, device, peaks)
    update_card(out)
    journal.remove()
    good = all(record["status"] == GpuStatus.PASSED for record in records)
    return [*summary(records), *(f"written: {path}" for path in paths)], good


def _workers(device: Device) -> int:
    """Processes whose arrays the device can hold at a time."""
    return max(1, device.memory_bytes // _BYTES_OF_A_PROCESS)


def _records(
    rows: Sequence[Row],
    device: Device,
    options: GpuOptions,
    most: int,
    journal: Journal,
    progress: Callable[[RowVerdict], None],
) -> Iterator[dict[str, Any]]:
    """Records of all rows, those of an earlier tuning first; the others as they are done."""
    yield from journal.records
    left = [row for row in rows if row["id"] not in journal.done]
    jobs = {row["id"]: job_of(row, most) for row in left}
    for verdict in run_rows([job.row for job in jobs.values()], [device], options):
        job = jobs.pop(verdict.row["id"])
        records = records_of(job, verdict, device)
        journal.add(verdict.row["id"], records)
        progress(verdict)
        yield from records


def records_of(job: Job, verdict: RowVerdict, device: Device) -> list[dict[str, Any]]:
    """One record for each trial; a row whose Warp text fails has one that says so."""
    row = job.row
    common = {
        **{key: row[key] for key in (*ROW_KEYS, "split")},
        "device": device.name,
        "device_uuid": device.uuid,
    }
    trials = list(verdict.trials)
    trials += [
        Trial(WARP, "", result.status, result.reason)
        for result in verdict.results
        if result.status != GpuStatus.PASSED
    ]
    records = [{**common, **_contender(job, trial), **_timing(row, trial)} for trial in trials]
    for sizes in {record["sizes"] for record in records if record["time_us"] is not None}:
        timed = [r for r in records if r["sizes"] == sizes and r["contender"] == "plain"]
        for rank, record in enumerate(sorted(timed, key=lambda r: r["time_us"]), start=1):
            record["rank"] = rank
    return records


def _contender(job: Job, trial: Trial) -> dict[str, Any]:
    if trial.contender == WARP:
        return {"contender": "warp", "own": False, "style": None, "schedule": None}
    return {
        "contender": "plain",
        "own": trial.contender == 0,
        "style": job.schedules[trial.contender].style,
        "schedule": job.row["tune"]["contenders"][trial.contender]["schedule"],
    }


def _timing(row: Row, trial: Trial) -> dict[str, Any]:
    found = {**asdict(trial), "elements": None, "bytes_moved": None, "rank": None}
    found.pop("contender")
    if trial.sizes:
        sizes = described(trial.sizes)
        found["elements"] = prod(evaluate_all(row["launch"]["dim"], sizes))
        found["bytes_moved"] = bytes_moved(row, sizes)
    return found


class Journal:
    """Records of rows that are done, a line of JSON each, in a file beside the table to come.

    One of other settings is refused: :class:`synth.errors.SettingsError`.
    """

    def __init__(self, out: Path, device: Device, settings: Mapping[str, Any]) -> None:
        self.path = out / GPU / f"tune-{device_slug(device.name)}.jsonl"
        self.head = json.dumps({**settings, **versions()}, sort_keys=True)
        self.done: set[str] = set()
        self.records: list[dict[str, Any]] = []
        if self.path.is_file():
            self._read()
        else:
            self.path.write_text(f"{self.head}\n", "utf-8")

    def _read(self) -> None:
        """What is whole of it; a last line that broke off is cut away."""
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        head, *lines = whole.decode().splitlines() or [""]
        if head != self.head:
            raise SettingsError(
                f"{self.path} holds a tuning of other settings or versions: remove it to start anew"
            )
        if whole != data:
            self.path.write_bytes(whole)
        for line in lines:
            row_id, records = json.loads(line)
            self.done.add(row_id)
            self.records += records

    def add(self, row_id: str, records: list[dict[str, Any]]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps([row_id, records])}\n")

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def write_tune(
    out: Path,
    rows: Sequence[Row],
    records: Sequence[dict[str, Any]],
    device: Device,
    peaks: Peaks,
) -> list[Path]:
    """Write `gpu/tune-<device>.parquet`, ordered by row, size and time, and the files of the
    configuration `schedules`; their paths."""
    by_id = {row["id"]: row for row in rows}
    for record in records:
        if record["time_us"] is not None:
            work = work_of(by_id[record["id"]], described(record["sizes"]))
            seconds = record["time_us"] * 1e-6
            peak = peaks.operations_per_s[work.scalar]
            record["share_of_copy"] = work.bytes_moved / seconds / peaks.copy_bytes_per_s
            record["share_of_peak"] = work.operations / seconds / peak
    ordered = sorted(records, key=_order)
    about = {"devices": [asdict(device)], "peaks": asdict(peaks), "versions": versions()}
    table = write_run(out, "tune", ordered, TUNE_SCHEMA, about)
    return [table, *write_schedules(out, by_id, ordered, device_slug(device.name))]


def _order(record: Mapping[str, Any]) -> tuple[Any, ...]:
    time_us, schedule = record["time_us"] or 0.0, record["schedule"] or ""
    return record["id"], record["elements"] or 0, record["sizes"], time_us, schedule


def summary(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines to print: how many trials passed, and how good the published schedules are."""
    tried = [r for r in records if r["contender"] == "plain"]
    failed = [r for r in tried if r["status"] != GpuStatus.PASSED]
    lines = [f"{len(tried)} trials of schedules, {len(failed)} failed"]
    for record in failed[:20]:
        reason = " ".join(record["reason"].split())[:200]
        lines.append(f"{record['id']} {record['schedule']}: {record['status']}: {reason}")
    ratios = own_over_best(records)
    if ratios:
        close, near = shares_within(ratios).values()
        lines.append(
            f"the published schedule is within 1.1 of the best found for {close:.1%}, within "
            f"1.25 for {near:.1%} of {len(ratios)} rows in the middle of their regime"
        )
    return lines
