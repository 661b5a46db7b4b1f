"""What the verify levels cost, end to end and by step.

Run: python tests/bench/bench_verify.py [ROWS [STEP_ROWS]]; ROWS 0 leaves the first part out. The
same rows are made at each level by two workers, start of the workers included, in one run; then the
CPU time of each step is taken, by column, in one process at a time: the child's work as it does it,
compilers included.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from synth.codegen.translator import Translator
from synth.dataset.settings import Versions, make_settings
from synth.rows.gradients import WITHOUT_GRADIENT, unrun
from synth.rows.maker import PairMaker, Row
from synth.run import generate as run
from synth.run.tally import Tally
from synth.run.unit import ROWS_AT_ONCE, first_accepted
from validate.host import clang
from validate.host.texts import Cases, GradientCases, Kept, PlainCases, WarpCases
from validate.nvrtc.compiler import CompileRunner
from validate.oracle.compare import Finding
from validate.row.archs import batches
from validate.row.gradient import backward_row
from validate.text import plain as plain_unit
from validate.text.headers import warp_include_dir

T = TypeVar("T")

ROUNDS = 2
STEP_ROWS = 192


def end_to_end(rows: int) -> None:
    """Print seconds and rates of whole runs, each level once in every round."""
    seconds: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    levels: dict[str, dict[str, Any]] = {
        "text": {"verify": "text"},
        "compile": {"verify": "compile"},
        "run": {"verify": "run"},
        "run, three archs": {
            "verify": "run",
            "archs_asked": ("sm_80", "sm_90", "sm_120"),
        },
    }
    for _ in range(ROUNDS):
        for name, asked in levels.items():
            with tempfile.TemporaryDirectory() as folder:
                began, spent = time.perf_counter(), _cpu_s()
                run.generate(make_settings(**asked), rows, Path(folder) / "out", workers=2)
                seconds.setdefault(name, []).append(time.perf_counter() - began)
                cpu.setdefault(name, []).append(_cpu_s() - spent)
    base = min(seconds["text"])
    for name, found in seconds.items():
        best = min(found)
        print(
            f"{name:17} {best:6.1f} s  {rows / best:6.1f} rows/s  {best / base:5.1f} x text  "
            f"{min(cpu[name]) / rows * 1e3:6.1f} CPU ms a row"
            f"  (rounds: {', '.join(f'{s:.1f}' for s in found)})"
        )


class Clock:
    """CPU time of this process and of its children by step; a busy machine stretches it less than
    the time on the wall."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.total_ms = 0.0

    def time(self, label: str, work: Callable[[], T], *, counts: bool = True) -> T:
        """Do the work and print what it took; the sum is of the steps that `counts`."""
        began = _cpu_s()
        done = work()
        self.add(label, _cpu_s() - began, counts=counts)
        return done

    def add(self, label: str, spent_s: float, *, counts: bool = True) -> None:
        """Print what a step took."""
        spent_ms = spent_s / self.rows * 1e3
        self.total_ms += spent_ms if counts else 0.0
        print(f"{label:56} {spent_ms:7.2f} CPU ms a row" + ("" if counts else "  (not in the sum)"))


def _cpu_s() -> float:
    """CPU seconds of this process, of its children that have ended, and of those at work (Linux
    only: elsewhere these are left out)."""
    ticks = 0
    for listed in Path("/proc/self/task").glob("*/children"):
        for child in listed.read_text().split():
            # The name, in brackets, may hold spaces.
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    hertz = os.sysconf("SC_CLK_TCK")
    return time.process_time() + ended.ru_utime + ended.ru_stime + ticks / hertz


class Texts:
    """Compiles and runs one kind of text in this process, as the child of a host run does."""

    def __init__(self, kind: str, cases: Cases, folder: Path) -> None:
        self.kind, self.cases, self.folder = kind, cases, folder
        self.loads = 0

    def batches(self, rows: list[Row]) -> list[list[int]]:
        if self.kind == "warp":
            return list(batches(rows, ROWS_AT_ONCE))
        texts = [backward_row(row) for row in rows] if self.kind == "gradient" else rows
        return plain_unit.batches(texts, range(len(rows)), ROWS_AT_ONCE)

    def all(self, clock: Clock, label: str, rows: list[Row], *, counts: bool) -> list[Finding]:
        """Findings of rows, the compiler and the runs timed apart."""
        compile_s = run_s = 0.0
        found: dict[int, Finding] = {}
        for batch in self.batches(rows):
            mine = [rows[position] for position in batch]
            self.loads += 1
            handle = f"{self.kind}_{self.loads}"
            began = time.process_time()
            path = self.folder / f"{handle}.o"
            self.cases.build(mine, path, warp_include_dir())
            clang.load(path, handle)
            self.cases.loaded(handle)
            entries = [self.cases.entry(handle, at, row) for at, row in enumerate(mine)]
            built = time.process_time()
            found.update(zip(batch, map(self.cases.run, mine, entries), strict=True))
            run_s += time.process_time() - built
            compile_s += built - began
            clang.unload(handle)
        for what, spent_s in (("Clang", compile_s), ("runs and references", run_s)):
            clock.add(f"{label}: {what}", spent_s, counts=counts)
        return [found[position] for position in range(len(rows))]


def steps(count: int) -> None:
    """Print what each step of a row at run level takes, in one process at a time."""
    settings = make_settings(verify="text")
    indices = range(-(-count // len(settings.categories)))
    keys = [(index, c) for index in indices for c in settings.categories][:count]
    clock, tally = Clock(count), Tally()
    maker = PairMaker(settings, Versions.installed())
    accepted = clock.time(
        "draw, gates", lambda: [first_accepted(settings, key, 0, tally) for key in keys]
    )
    rows = clock.time("texts", lambda: maker.rows(accepted))
    with tempfile.TemporaryDirectory() as name:
        published = _host_steps(clock, rows, Path(name))
    _nvrtc_steps(clock, rows, published)
    print(f"{'all steps, one architecture':56} {clock.total_ms:7.2f} CPU ms a row")


def _host_steps(clock: Clock, rows: list[Row], folder: Path) -> list[Row]:
    """The rows as they would be published."""
    kept = Kept()
    warp = Texts("warp", WarpCases(folder, kept), folder)
    plain = Texts("plain", PlainCases(folder, kept), folder)
    forward = [{**row, "cuda_backward": None} for row in rows]
    # Each needs its precompiled header.
    warp.all(Clock(1), "starts", rows[:1], counts=False)
    again = [{**row, "relaunch": True} for row in rows]
    plain.all(Clock(1), "starts", again[:1], counts=False)
    warp.all(clock, "cuda_forward", forward, counts=False)
    found = warp.all(clock, "cuda_forward and cuda_backward", rows, counts=True)
    plain.all(clock, "cuda_plain", again, counts=True)
    _gradient_steps(clock, rows, kept, folder)
    wrong = [
        (row["python"], row["kernel_name"])
        for row, finding in zip(rows, found, strict=True)
        if finding.adjoint != "agrees"
    ]
    translator = Translator(backward=False)
    clock.time("texts of rows that lose their adjoint", lambda: translator.translate_batch(wrong))
    return [
        row if finding.adjoint == "agrees" else {**row, "cuda_backward": None}
        for row, finding in zip(rows, found, strict=True)
    ]


def _gradient_steps(clock: Clock, rows: list[Row], kept: Kept, folder: Path) -> None:
    """Our own backward kernels: made, compiled and run."""
    found = clock.time("texts of backward kernels of our own", partial(list, map(unrun, rows)))
    given = [
        {**row, **gradient.columns}
        for row, gradient in zip(rows, found, strict=True)
        if gradient.columns is not WITHOUT_GRADIENT
    ]
    texts = Texts("gradient", GradientCases(folder, kept), folder)
    texts.all(Clock(1), "starts", given[:1], counts=False)
    texts.all(clock, "cuda_plain_backward", given, counts=True)
    with CompileRunner(
        include_dir=warp_include_dir(), archs=("sm_90",), batch_size=ROWS_AT_ONCE
    ) as compiler:
        kernels = [backward_row(row) for row in given]
        compiler.compile_plain(kernels[:1])
        label = "cuda_plain_backward: NVRTC, sm_90"
        clock.time(label, partial(compiler.compile_plain, kernels))


def _nvrtc_steps(clock: Clock, rows: list[Row], published: list[Row]) -> None:
    for archs, counts in ((("sm_90",), True), (("sm_80", "sm_90", "sm_120"), False)):
        with CompileRunner(
            include_dir=warp_include_dir(), archs=archs, batch_size=ROWS_AT_ONCE
        ) as compiler:
            compiler.compile(rows[:1])
            label = f"NVRTC, {' '.join(archs)}"
            clock.time(
                f"cuda_forward and cuda_backward: {label}",
                partial(compiler.compile, published),
                counts=counts,
            )
            clock.time(f"cuda_plain: {label}", partial(compiler.compile_plain, rows), counts=counts)


if __name__ == "__main__":
    asked = [int(argument) for argument in sys.argv[1:]]
    if not asked or asked[0]:
        end_to_end(asked[0] if asked else 600)
    steps(asked[1] if len(asked) > 1 else STEP_ROWS)
