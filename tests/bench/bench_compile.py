"""What the compile check costs beside one NVRTC program a row, in one process each.

Run: python tests/bench/bench_compile.py [rows]. Rows of every category with their adjoint are drawn
once. (a) A sample of them is compiled as one would without thinking: a program a row, NVRTC's
default optimisation, no precompiled header. (b) All go through CompileRunner for one architecture,
(c) for three. Then batch sizes, and other options on batches, over the first rows. Blocks of (a)
stand before and after the others, so that both see the same machine.
"""

from __future__ import annotations

import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from generators import categories
from synth.dataset.settings import Versions, make_settings
from synth.rows.maker import PairMaker, Row
from synth.run.tally import Tally
from synth.run.unit import first_accepted
from validate.nvrtc import program as nvrtc_program
from validate.nvrtc.compiler import CompileRunner
from validate.nvrtc.program import nvrtc_version
from validate.text.headers import warp_include_dir
from validate.text.warp_program import program

SAMPLE = 32
TUNING_ROWS = 256
THREE = ("sm_80", "sm_90", "sm_120")
NAIVE_OPTIONS = [
    "--std=c++17",
    "-DNDEBUG",
    "-DWP_ENABLE_MATHDX=0",
    "--device-as-default-execution-space",
    "--extra-device-vectorization",
    "--restrict",
    "--gpu-architecture=compute_90",
]
TUNED = (
    ("(default)", "PTX"),
    ("--Ofast-compile=min", "PTX"),
    ("--Ofast-compile=mid", "PTX"),
    ("--Ofast-compile=max", "PTX"),
    ("--Ofast-compile=max --split-compile=0", "PTX"),
    ("--Ofast-compile=max -dlto", "LTOIR"),
)


def make_rows(count: int) -> list[Row]:
    settings = make_settings(verify="text")
    names = list(categories())
    tally = Tally()
    accepted = [
        first_accepted(
            settings,
            (index // len(names), names[index % len(names)]),
            0,
            tally,
        )
        for index in range(count)
    ]
    return PairMaker(settings, Versions.installed()).rows(accepted)


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def compile_text(text: str, options: list[str], kind: str) -> None:
    nvrtc: Any = nvrtc_program.load()
    options = [*options, f"-I{warp_include_dir()}"]
    _, handle = nvrtc.nvrtcCreateProgram(text.encode(), b"cuda_prologue", 0, None, None)
    (error,) = nvrtc.nvrtcCompileProgram(handle, len(options), [o.encode() for o in options])
    assert error == nvrtc.nvrtcResult.NVRTC_SUCCESS, options
    _, size = getattr(nvrtc, f"nvrtcGet{kind}Size")(handle)
    getattr(nvrtc, f"nvrtcGet{kind}")(handle, bytearray(size))
    nvrtc.nvrtcDestroyProgram(handle)


def naive(rows: list[Row]) -> None:
    for row in rows:
        compile_text(program([row]), NAIVE_OPTIONS, "PTX")


def checked(runner: CompileRunner, rows: list[Row]) -> None:
    assert {result.status for result in runner.compile(rows)} == {"compiles"}


def batch_path(rows: list[Row], archs: tuple[str, ...], size: int) -> tuple[float, float]:
    """Seconds of the first row (child and headers) and of all rows afterwards."""
    with CompileRunner(archs=archs, batch_size=size) as runner:
        start = timed(lambda: checked(runner, rows[:1]))
        return start, timed(lambda: checked(runner, rows))


def main(count: int) -> None:
    rows = make_rows(count)
    step = max(1, count // SAMPLE)
    sample = rows[::step][:SAMPLE]
    print(f"{count} rows, forward and backward; (a) over {len(sample)} of them, twice")
    print(f"Python {platform.python_version()}, NVRTC {nvrtc_version()}, {platform.machine()}")
    before = timed(lambda: naive(sample))
    start, one = batch_path(rows, ("sm_90",), 64)
    start_three, three = batch_path(rows, THREE, 64)
    alone = (before + timed(lambda: naive(sample))) / 2 / len(sample)
    print(f"(a) a program a row, default, no header  {alone * 1e3:8.1f} ms/row")
    for name, first, spent in (("(b) sm_90", start, one), ("(c) three", start_three, three)):
        a_row = spent / count
        print(
            f"{name:40s} {a_row * 1e3:8.1f} ms/row, 1/{alone / a_row:.1f} of (a); "
            f"child, headers and first row {first:.1f} s; "
            f"with these {(spent + first) / count * 1e3:.1f} ms/row"
        )
    some = rows[:TUNING_ROWS]
    for size in (16, 32, 64, 128, 256):
        spent = batch_path(some, ("sm_90",), size)[1]
        print(f"batches of {size:<29d} {spent / len(some) * 1e3:8.1f} ms/row")
    tune(some[:64])


def tune(rows: list[Row]) -> None:
    """Options on programs of 32 rows, each after a program that makes its header."""
    for text, kind in TUNED:
        with tempfile.TemporaryDirectory() as folder:
            more = text.split() if text.startswith("-") else []
            options = [*NAIVE_OPTIONS, *more, "--pch", f"--pch-dir={Path(folder)}"]
            compile_text(program(rows[:1]), options, kind)
            spent = timed(
                lambda o=options, k=kind: [  # type: ignore[misc]
                    compile_text(program(rows[at : at + 32]), o, k)
                    for at in range(0, len(rows), 32)
                ]
            )
        print(f"32 rows, {text:32s} {spent / len(rows) * 1e3:8.1f} ms/row")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
