"""``gpu run``: a dataset's rows on every visible GPU, and what is written and said of it."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from synth.card.gpu_summary import update_card
from synth.errors import RunError
from synth.gpu.output import (
    ROW_KEYS,
    RUN_SCHEMA,
    ready_folder,
    run_records,
    write_run,
    write_samples,
)
from synth.gpu.rows import read_rows
from validate.gpu.device import Device
from validate.gpu.nvml import Sampler
from validate.gpu.nvrtc import version_for_gpus
from validate.gpu.result import TEXTS, TextResult
from validate.gpu.runner import GpuOptions, RowVerdict, run_rows
from validate.statuses import GpuStatus

Runner = Callable[[Iterator[dict[str, Any]], GpuOptions], Iterator[RowVerdict]]


@dataclass
class GpuRun:
    """A run and its verdicts. ``broken_off`` when the user ended it: what was done is kept."""

    devices: Sequence[Device]
    options: GpuOptions
    verdicts: list[RowVerdict] = field(default_factory=list)
    wall_s: float = 0.0
    busy_percent: float | None = None
    sampling_problem: str = ""
    broken_off: bool = False

    @property
    def good(self) -> bool:
        return bool(self.verdicts) and not self.broken_off and not self.failures()

    def failures(self) -> list[tuple[RowVerdict, TextResult]]:
        """Texts that did not pass, with their rows."""
        return [(v, r) for v in self.verdicts for r in v.results if r.status != GpuStatus.PASSED]


def run_dataset(
    out: Path,
    devices: Sequence[Device],
    options: GpuOptions,
    *,
    limit: int | None = None,
    progress: Callable[[RowVerdict], None] = lambda _v: None,
    elsewhere: Runner | None = None,
) -> tuple[GpuRun, Path]:
    """Run a dataset's rows and write ``gpu/``; gives the run and the file of its results.

    With ``elsewhere`` that runs the rows, and adds devices to ``devices`` as they answer; the use
    of those is not sampled.
    """
    ready_folder(out)
    made_by = versions()
    run = GpuRun(devices, options)
    began = time.monotonic()
    with Sampler([device.uuid for device in devices]) as sampler:
        verdicts = (elsewhere or _here(devices))(read_rows(out, limit), options)
        _collect(run, verdicts, progress)
    run.wall_s = time.monotonic() - began
    run.busy_percent, run.sampling_problem = sampler.mean_busy_percent(), sampler.problem
    if not devices:
        raise RunError("broken off before a GPU had answered; nothing was written")
    records = run_records(run.verdicts, devices, made_by)
    path = write_run(out, "run", records, RUN_SCHEMA, about(run))
    if sampler.samples:
        write_samples(out, devices[0].name, sampler.samples)
    update_card(out)
    return run, path


def _here(devices: Sequence[Device]) -> Runner:
    return lambda rows, options: run_rows(rows, devices, options)


def _collect(
    run: GpuRun, verdicts: Iterator[RowVerdict], progress: Callable[[RowVerdict], None]
) -> None:
    try:
        with _ended_as_by_hand():
            for verdict in verdicts:
                # The texts of a million rows need not be held.
                kept = {key: verdict.row[key] for key in ROW_KEYS}
                run.verdicts.append(replace(verdict, row=kept))
                progress(verdict)
    except KeyboardInterrupt:
        run.broken_off = True


@contextmanager
def _ended_as_by_hand() -> Iterator[None]:
    """SIGTERM, as `timeout` and batch systems send it, ends a run as Ctrl-C does: what is done is
    written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def versions() -> dict[str, str]:
    """Versions that a result depends on besides those of the device."""
    try:
        ours = version("pairsmith")
    except PackageNotFoundError:
        ours = "not installed"
    return {"nvrtc": version_for_gpus(), "pairsmith": ours}


def about(run: GpuRun) -> dict[str, Any]:
    """Settings and figures of a run, as its file keeps them."""
    options = {key: value for key, value in asdict(run.options).items() if key != "include_dir"}
    return {
        "devices": [asdict(device) for device in run.devices],
        "options": {**options, "cubins": run.options.cubins is not None},
        "figures": figures(run),
        "broken_off": run.broken_off,
    }


def figures(run: GpuRun) -> dict[str, Any]:
    """Rate, and shares of the workers' time; NVML's mean use of the GPUs, None if not sampled."""
    spent = [verdict.spent for verdict in run.verdicts]
    total_s = sum(s.total_s for s in spent) or 1.0
    return {
        "rows": len(run.verdicts),
        "wall_s": run.wall_s,
        "rows_per_s": len(run.verdicts) / run.wall_s if run.wall_s else 0.0,
        "compiled": sum(s.compiled for s in spent),
        "nvrtc_share": sum(s.nvrtc_s for s in spent) / total_s,
        "load_share": sum(s.load_s for s in spent) / total_s,
        "device_share": sum(s.device_s for s in spent) / total_s,
        "gpu_share": sum(s.gpu_s for s in spent) / total_s,
        "user_share": sum(s.user_s for s in spent) / total_s,
        "system_share": sum(s.system_s for s in spent) / total_s,
        "page_faults_per_row": sum(s.page_faults for s in spent) / max(1, len(spent)),
        "seconds_per_row": total_s / max(1, len(spent)),
        "gpu_time_s": sum(s.gpu_s for s in spent),
        "gpu_busy_percent": run.busy_percent,
        "gpus": len(run.devices),
        "workers": run.options.workers,
    }


def summary(run: GpuRun) -> list[str]:
    """Lines to print: where it ran, a table of statuses by text, figures, what failed."""
    lines = [
        f"GPU {d.index}: {d.name}, {d.uuid}, {d.arch}, driver for CUDA {d.driver}, "
        f"CUDA runtime {d.cuda}, CuPy {d.cupy}"
        for d in run.devices
    ]
    rows_by_device = Counter(verdict.device for verdict in run.verdicts)
    lines += [f"{count} rows ran on {uuid}" for uuid, count in sorted(rows_by_device.items())]
    lines += _table(run)
    found = figures(run)
    lines.append(
        f"{found['rows']} rows in {found['wall_s']:.1f} s, {found['rows_per_s']:.1f} rows/s with "
        f"{found['workers']} processes for each of {found['gpus']} GPUs; of their time NVRTC took "
        f"{found['nvrtc_share']:.1%} ({found['compiled']} texts), "
        f"loading {found['load_share']:.1%}, "
        f"launches with their copies {found['device_share']:.1%}, kernels {found['gpu_share']:.1%}"
    )
    lines.append(
        f"a row took its process {found['seconds_per_row'] * 1e3:.0f} ms, of which cores worked "
        f"{found['user_share']:.1%} for it and {found['system_share']:.1%} in the system; "
        f"{found['page_faults_per_row']:,.0f} page faults"
    )
    if found["gpu_busy_percent"] is not None:
        lines.append(f"a kernel ran in {found['gpu_busy_percent']:.0f} % of the time (NVML)")
    if run.sampling_problem:
        lines.append(run.sampling_problem)
    if run.broken_off:
        lines.append("broken off: only the rows above were run")
    return lines


def failure_lines(run: GpuRun) -> list[str]:
    """One line for each text that did not pass."""
    return [
        f"{verdict.row['id']} {verdict.row['category']}/{verdict.row['idiom']} {result.text}: "
        f"{result.status}: {' '.join(result.reason.split())[:300]}"
        for verdict, result in run.failures()
    ]


def _table(run: GpuRun) -> list[str]:
    counts = Counter((r.text, r.status) for v in run.verdicts for r in v.results)
    there = [status for status in GpuStatus if any(counts[text, status] for text in TEXTS)]
    lines = [f"{'text':<10}" + "".join(f"{status:>21}" for status in there)]
    for text in TEXTS:
        lines.append(f"{text:<10}" + "".join(f"{counts[text, status]:>21}" for status in there))
    return lines
