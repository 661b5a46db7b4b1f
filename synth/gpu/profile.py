"""``gpu profile``: what Nsight Compute measures of rows' texts, and what is written of it."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from synth.errors import SettingsError
from synth.gpu.output import ROW_KEYS, ready_folder, write_run
from synth.gpu.run import versions
from validate.gpu.device import Device, alone_visible
from validate.row.occupancy import occupancy
from validate.statuses import GpuStatus

Row = Mapping[str, Any]
Record = dict[str, Any]

STALLS = (
    "barrier",
    "branch_resolving",
    "dispatch_stall",
    "drain",
    "imc_miss",
    "lg_throttle",
    "long_scoreboard",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "misc",
    "no_instruction",
    "not_selected",
    "selected",
    "short_scoreboard",
    "sleeping",
    "tex_throttle",
    "wait",
)
"""Nsight Compute's reasons for which a warp does not issue (Profiling Guide, "Warp Stall
Reasons"); ``selected`` is the issue itself."""
_STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
_L1 = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_METRICS = {
    "time_us": "gpu__time_duration.sum",
    "registers": "launch__registers_per_thread",
    "static_shared_bytes": "launch__shared_mem_per_block_static",
    "dynamic_shared_bytes": "launch__shared_mem_per_block_dynamic",
    "occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "achieved_occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "load_sectors": _L1.format("sectors", "ld"),
    "load_requests": _L1.format("requests", "ld"),
    "store_sectors": _L1.format("sectors", "st"),
    "store_requests": _L1.format("requests", "st"),
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "dram_bytes": "dram__bytes.sum",
    "dram_share": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
}
_SHARES = ("occupancy", "achieved_occupancy", "dram_share")
_SCALES = {"time_us": 1e-3, **dict.fromkeys(_SHARES, 1e-2)}
"""Nsight Compute's base units are nanoseconds and per cent."""
_WHOLE = (
    "registers",
    "static_shared_bytes",
    "dynamic_shared_bytes",
    "load_sectors",
    "load_requests",
    "store_sectors",
    "store_requests",
    "bank_conflicts",
    "dram_bytes",
)

PROFILE_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("category", pa.string()),
        ("idiom", pa.string()),
        ("level", pa.int32()),
        ("text", pa.string()),
        ("kernel", pa.string()),
        ("sizes", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("block_threads", pa.int32()),
        ("time_us", pa.float64()),
        *((name, pa.int64()) for name in _WHOLE),
        *((name, pa.float64()) for name in _SHARES),
        ("rules_occupancy", pa.float64()),
        ("sectors_per_load", pa.float64()),
        ("sectors_per_store", pa.float64()),
        ("stalls", pa.map_(pa.string(), pa.float64())),
        ("device", pa.string()),
        ("device_uuid", pa.string()),
    ]
)
"""A record for each launch, and one for each text that could not be launched. Shares are of 1;
``occupancy`` is what Nsight Compute finds possible, ``rules_occupancy`` what
`validate.row.occupancy` does of the same registers and shared memory. ``stalls`` has, by reason,
the warps that wait for each instruction issued."""


@dataclass(frozen=True)
class Profiling:
    """How rows are profiled: headers, threads of a launch, the program, and a limit in seconds."""

    include_dir: Path
    elements: int
    ncu: str
    timeout_s: float


def find_ncu(named: str | None) -> str:
    """The program of Nsight Compute: the one named, on PATH, or in CUDA's own folder.

    Raises SettingsError when there is none.
    """
    folders = [os.environ["CUDA_PATH"]] if "CUDA_PATH" in os.environ else []
    candidates = [named] if named else ["ncu", *(f"{f}/bin/ncu" for f in folders)]
    candidates += [] if named else ["/usr/local/cuda/bin/ncu"]
    for candidate in candidates:
        if found := shutil.which(str(candidate)):
            return found
    raise SettingsError(
        f"{named or 'ncu'} is not there: install Nsight Compute, or name its program with --ncu"
    )


def profile_dataset(
    out: Path, rows: Sequence[Row], device: Device, wanted: Profiling
) -> tuple[list[str], bool]:
    """Profile rows and write `gpu/profile-<device>.parquet`; lines to print, and whether every
    text could be launched. Raises SettingsError where Nsight Compute measures nothing."""
    ready_folder(out)
    with tempfile.TemporaryDirectory(prefix="pairsmith-profile-") as folder:
        launched, measured = _profiled(rows, device, wanted, Path(folder))
    records = records_of(rows, launched, measured, device)
    about = {"devices": [asdict(device)], "versions": versions(), "elements": wanted.elements}
    path = write_run(out, "profile", records, PROFILE_SCHEMA, about)
    good = all(record["status"] == GpuStatus.PASSED for record in records)
    return [*summary(records), f"written: {path}"], good


def command(wanted: Profiling, folder: Path) -> list[str]:
    """What Nsight Compute is called with: counters are read with the clocks as they are."""
    metrics = [*_METRICS.values(), *(_STALL.format(reason) for reason in STALLS)]
    told = ["--csv", "--page", "raw", "--print-units", "base", "--log-file", f"{folder}/log.csv"]
    return [
        wanted.ncu,
        *("--profile-from-start", "off", "--clock-control", "none"),
        *("--metrics", ",".join(metrics)),
        *told,
        *(sys.executable, "-m", "validate.gpu.profiled", f"{folder}/rows.jsonl"),
        *(str(wanted.include_dir), str(wanted.elements), f"{folder}/launched.jsonl"),
    ]


def _profiled(
    rows: Sequence[Row], device: Device, wanted: Profiling, folder: Path
) -> tuple[list[Record], list[dict[str, str]]]:
    """What was launched, and the figures of each launch."""
    lines = (f"{json.dumps(row)}\n" for row in rows)
    (folder / "rows.jsonl").write_text("".join(lines), "utf-8")
    environment = {**os.environ, **alone_visible(device)}
    try:
        done = subprocess.run(
            command(wanted, folder),
            env=environment,
            timeout=wanted.timeout_s,
            capture_output=True,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SettingsError(
            f"Nsight Compute did not end within {wanted.timeout_s:g} s: take fewer --rows or a "
            "longer --timeout"
        ) from None
    log = folder / "log.csv"
    text = log.read_text("utf-8") if log.is_file() else ""
    measured = list(parse_log(text))
    listed = folder / "launched.jsonl"
    launched = (
        [json.loads(line) for line in listed.read_text("utf-8").splitlines()]
        if listed.is_file()
        else []
    )
    if done.returncode or not launched:
        said = [line for line in (text + done.stdout + done.stderr).splitlines() if line.strip()]
        raise SettingsError(f"Nsight Compute measured nothing: {' '.join(said[-3:])[:500]}")
    return launched, measured


def parse_log(text: str) -> Iterator[dict[str, str]]:
    """The figures of each launch in what Nsight Compute writes as CSV, by column."""
    lines = text.splitlines()
    heads = [k for k, line in enumerate(lines) if line.startswith('"ID",')]
    if heads:
        table = [line for line in lines[heads[0] :] if line.startswith('"')]
        # The line below the head says units, and has no number of a launch.
        yield from (row for row in csv.DictReader(table) if row["ID"])


def records_of(
    rows: Sequence[Row],
    launched: Sequence[Record],
    measured: Sequence[Mapping[str, str]],
    device: Device,
) -> list[Record]:
    """Records by row and launch; both lists are in the order of launches."""
    by_id = {row["id"]: row for row in rows}
    left = iter(measured)
    found = []
    for entry in launched:
        row = by_id[entry["id"]]
        record = {**{key: row[key] for key in ROW_KEYS}, **entry}
        record |= {"device": device.name, "device_uuid": device.uuid}
        if entry["status"] == GpuStatus.PASSED:
            figures = next(left, None)
            if figures is None:
                raise SettingsError("Nsight Compute measured fewer launches than were made")
            record |= _figures(figures, int(entry["block_threads"]), device.arch)
        found.append(record)
    return found


def _figures(measured: Mapping[str, str], threads: int, arch: str) -> Record:
    record: Record = {"kernel": measured["Kernel Name"].split("(")[0]}
    for name, metric in _METRICS.items():
        if (value := _number(measured.get(metric))) is not None:
            record[name] = int(value) if name in _WHOLE else value * _SCALES.get(name, 1.0)
    for kind in ("load", "store"):
        if requests := record.get(f"{kind}_requests"):
            record[f"sectors_per_{kind}"] = record[f"{kind}_sectors"] / requests
    stalls = {reason: _number(measured.get(_STALL.format(reason))) for reason in STALLS}
    record["stalls"] = {reason: value for reason, value in stalls.items() if value is not None}
    if "registers" in record:
        shared = record.get("static_shared_bytes", 0) + record.get("dynamic_shared_bytes", 0)
        record["rules_occupancy"] = occupancy(
            arch, threads=threads, registers=record["registers"], shared_bytes=shared
        ).share
    return record


def _number(text: str | None) -> float | None:
    """A figure as the CSV has it; None where there is none, as ``n/a``."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def summary(records: Sequence[Record]) -> list[str]:
    """Lines to print: a table by text, and how often the rules of occupancy give the same."""
    lines = [
        f"{record['id']} {record['text']}: {record['status']}: {record['reason'][:300]}"
        for record in records
        if record["status"] != GpuStatus.PASSED
    ]
    passed = [record for record in records if record["status"] == GpuStatus.PASSED]
    for text in dict.fromkeys(record["text"] for record in passed):
        some = [record for record in passed if record["text"] == text]
        figures = ", ".join(
            f"{name} {_middle(some, key, form)}" for name, key, form in _SHOWN if _has(some, key)
        )
        lines.append(f"{text}: {len(some)} launches; medians: {figures}; {_stall_of(some)}")
    compared = [r for r in passed if {"occupancy", "rules_occupancy"} <= r.keys()]
    equal = sum(abs(r["occupancy"] - r["rules_occupancy"]) < 1e-4 for r in compared)
    lines.append(f"occupancy by the rules is Nsight Compute's for {equal} of {len(compared)}")
    return lines


_SHOWN = (
    ("time", "time_us", "{:.1f} us"),
    ("registers", "registers", "{:.0f}"),
    ("occupancy possible", "occupancy", "{:.0%}"),
    ("reached", "achieved_occupancy", "{:.0%}"),
    ("sectors a load", "sectors_per_load", "{:.1f}"),
    ("a store", "sectors_per_store", "{:.1f}"),
    ("of the memory's rate", "dram_share", "{:.0%}"),
)


def _has(records: Sequence[Record], key: str) -> bool:
    return any(record.get(key) is not None for record in records)


def _middle(records: Sequence[Record], key: str, form: str) -> str:
    return form.format(median(r[key] for r in records if r.get(key) is not None))


def _stall_of(records: Sequence[Record]) -> str:
    """What the launches wait for most: the reason with the largest share, in how many of them."""
    most: dict[str, int] = {}
    for record in records:
        waits = {k: v for k, v in record["stalls"].items() if k not in ("selected", "not_selected")}
        if waits:
            reason = max(waits, key=lambda k: waits[k])
            most[reason] = most.get(reason, 0) + 1
    said = sorted(most.items(), key=lambda pair: (-pair[1], pair[0]))
    return "waits mostly for " + ", ".join(f"{reason} ({count})" for reason, count in said[:4])
