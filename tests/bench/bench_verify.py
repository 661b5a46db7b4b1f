"""What the verify levels cost, end to end and by step.

Run: python tests/bench/bench_verify.py [ROWS]. The same rows are made at each level by two workers,
start of the workers included, in one run; then the steps of one process are timed one by one.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from synth.codegen.translator import Translator
from synth.dataset.settings import Versions, make_settings
from synth.rows.maker import Accepted, PairMaker
from synth.rows.runners import BATCH_SIZE
from synth.run import generate as run
from synth.run.tally import Tally
from synth.run.unit import first_accepted
from validate.host.runner import HostRunner
from validate.nvrtc.compiler import CompileRunner
from validate.text.headers import warp_include_dir

ROUNDS = 2
STEP_ROWS = 192


def end_to_end(rows: int) -> None:
    """Print seconds and rates of whole runs, each level once in every round."""
    seconds: dict[str, list[float]] = {}
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
                began = time.perf_counter()
                run.generate(make_settings(**asked), rows, Path(folder) / "out", workers=2)
                seconds.setdefault(name, []).append(time.perf_counter() - began)
    base = min(seconds["text"])
    for name, found in seconds.items():
        best = min(found)
        print(
            f"{name:17} {best:6.1f} s  {rows / best:6.1f} rows/s  {best / base:5.1f} x text"
            f"  (rounds: {', '.join(f'{s:.1f}' for s in found)})"
        )


def _timed(label: str, rows: int, work: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    done = work()
    print(f"{label:42} {(time.perf_counter() - began) / rows * 1e3:6.2f} ms a row")
    return done


def steps(count: int) -> None:
    """Print what each step of a row at run level takes, in one process at a time."""
    settings = make_settings(verify="text")
    indices = range(-(-count // len(settings.categories)))
    keys = [(index, c) for index in indices for c in settings.categories][:count]
    tally = Tally()

    def draw() -> list[Accepted]:
        return [first_accepted(settings, key, 0, tally) for key in keys]

    maker = PairMaker(settings, Versions.installed())
    accepted = _timed("draw, gates", count, draw)
    rows = _timed("texts", count, lambda: maker.rows(accepted))
    forward = [{**row, "cuda_backward": None} for row in rows]
    with HostRunner(batch_size=BATCH_SIZE) as host:
        host.run(rows[:1])
        _timed("host, forward alone", count, lambda: host.run(forward))
        results = _timed("host, forward and adjoint", count, lambda: host.run(rows))
        _timed("host, plain CUDA", count, lambda: host.run_plain(rows))
    wrong = [
        (row["python"], row["kernel_name"])
        for row, result in zip(rows, results, strict=True)
        if result.adjoint != "agrees"
    ]
    plain = Translator(backward=False)
    _timed("texts of rows that lose their adjoint", count, lambda: plain.translate_batch(wrong))
    published = [
        row if result.adjoint == "agrees" else {**row, "cuda_backward": None}
        for row, result in zip(rows, results, strict=True)
    ]
    for archs in (("sm_90",), ("sm_80", "sm_90", "sm_120")):
        with CompileRunner(
            include_dir=warp_include_dir(), archs=archs, batch_size=BATCH_SIZE
        ) as compiler:
            compiler.compile(rows[:1])
            label = f"NVRTC, {' '.join(archs)}"
            _timed(label, count, lambda compiler=compiler: compiler.compile(published))
            plain_label = f"NVRTC, plain CUDA, {' '.join(archs)}"
            _timed(plain_label, count, lambda compiler=compiler: compiler.compile_plain(rows))


if __name__ == "__main__":
    end_to_end(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
    steps(STEP_ROWS)
