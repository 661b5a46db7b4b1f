"""``gpu bench``: device times of a choice of rows over sizes, and what is written of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.dataset.files import write_text
from synth.dataset.names import GPU
from synth.gpu.output import ROW_KEYS, device_slug, write_run
from synth.gpu.report import markdown
from synth.gpu.run import versions
from synth.gpu.work import work_of
from validate.gpu.ceilings import Peaks, measure_peaks
from validate.gpu.cubins import compile_rows
from validate.gpu.device import Device
from validate.gpu.large import sizes_in_use
from validate.gpu.peers import NoPeer, peer_source
from validate.gpu.runner import GpuOptions, RowVerdict, run_rows

BENCH_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("category", pa.string()),
        ("idiom", pa.string()),
        ("level", pa.int32()),
        ("contender", pa.string()),
        ("elements", pa.int64()),
        ("sizes", pa.string()),
        ("repeats", pa.int32()),
        ("median_us", pa.float64()),
        ("min_us", pa.float64()),
        ("spread_us", pa.float64()),
        ("bytes_moved", pa.int64()),
        ("operations", pa.int64()),
        ("scalar", pa.string()),
        ("gb_per_s", pa.float64()),
        ("gflop_per_s", pa.float64()),
        ("share_of_copy", pa.float64()),
        ("share_of_peak", pa.float64()),
        ("device", pa.string()),
        ("device_uuid", pa.string()),
    ]
)

Row = dict[str, Any]


@dataclass
class Bench:
    """A benchmark on one kind of device."""

    devices: Sequence[Device]
    peaks: Peaks
    verdicts: list[RowVerdict]

    @property
    def good(self) -> bool:
        return bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)


def choose_rows(rows: Iterable[Row], count: int) -> list[Row]:
    """About so many rows, even over categories and levels; those with array code of their own
    (for NumPy and CuPy to run) come first."""
    cells: dict[tuple[str, Any], list[Row]] = {}
    for row in rows:
        cells.setdefault((row["category"], row["level"]), []).append(row)
    for cell in cells.values():
        cell.sort(key=lambda row: not _has_peer(row))
    turns = zip_longest(*(cells[key] for key in sorted(cells, key=_by_level)))
    return [row for turn in turns for row in turn if row is not None][:count]


def _by_level(cell: tuple[str, Any]) -> tuple[str, str]:
    """Categories take turns, level by level."""
    category, level = cell
    return str(level), category


def _has_peer(row: Row) -> bool:
    try:
        peer_source(row)
    except NoPeer:
        return False
    return True


def bench_rows(
    rows: Sequence[Row],
    devices: Sequence[Device],
    options: GpuOptions,
    compilers: int,
    progress: Callable[[RowVerdict], None] = lambda _v: None,
) -> Bench:
    """Compile rows beforehand, measure the device, then time each row with the device to itself."""
    assert options.cubins is not None
    for arch in {device.arch for device in devices}:
        for _ in compile_rows(rows, arch, options.include_dir, options.cubins, compilers):
            pass
    bench = Bench(devices, measure_peaks(devices[0]), [])
    for verdict in run_rows(rows, devices, options):
        bench.verdicts.append(verdict)
        progress(verdict)
    return bench


def bench_records(bench: Bench) -> list[dict[str, Any]]:
    """One record for each row, contender and size, with achieved rates; ordered by id."""
    names = {device.uuid: device.name for device in bench.devices}
    records = []
    for verdict in sorted(bench.verdicts, key=lambda verdict: str(verdict.row["id"])):
        for timing in verdict.timings:
            work = work_of(verdict.row, sizes_in_use(verdict.row, timing.elements))
            seconds = timing.median_us * 1e-6
            bytes_per_s = work.bytes_moved / seconds
            operations_per_s = work.operations / seconds
            peak = bench.peaks.operations_per_s[work.scalar]
            records.append(
                {
                    **{key: verdict.row[key] for key in ROW_KEYS},
                    **asdict(timing),
                    **asdict(work),
                    "gb_per_s": bytes_per_s / 1e9,
                    "gflop_per_s": operations_per_s / 1e9,
                    "share_of_copy": bytes_per_s / bench.peaks.copy_bytes_per_s,
                    "share_of_peak": operations_per_s / peak,
                    "device": names[verdict.device],
                    "device_uuid": verdict.device,
                }
            )
    return records


def write_bench(out: Path, bench: Bench) -> list[Path]:
    """Write the Parquet, the Markdown table and, where matplotlib is there, the roofline."""
    records = bench_records(bench)
    about = {
        "devices": [asdict(device) for device in bench.devices],
        "peaks": asdict(bench.peaks),
        "versions": versions(),
    }
    parquet = write_run(out, "bench", records, BENCH_SCHEMA, about)
    slug = device_slug(bench.devices[0].name)
    table = out / GPU / f"bench-{slug}.md"
    write_text(table, markdown(records, about))
    return [parquet, table, *draw_roofline(out / GPU / f"roofline-{slug}.png", records, about)]


def draw_roofline(
    path: Path, records: Sequence[dict[str, Any]], about: dict[str, Any]
) -> list[Path]:
    """The picture of `synth.gpu.roofline`; nothing where matplotlib is missing."""
    if find_spec("matplotlib") is None:
        return []
    from synth.gpu.roofline import draw

    draw(path, records, about)
    return [path]
