"""What the text pipeline costs beside stock Warp codegen on the same sources, in one process.

Run: python tests/bench/bench_text.py [rows]. Prints milliseconds a row for each step and the
ratios that the project promises: (draw + render + codegen + extraction + Parquet) / stock codegen,
(gates + schema) / stock codegen, and what plain CUDA adds to a row. Rows are drawn once and every
step is timed over all of them; stock and own codegen alternate in blocks, so that both see the same
machine.
"""

from __future__ import annotations

import platform
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from generators import categories
from generators.build.draw import Draw, Reject
from generators.program.keys import program_keys
from synth.codegen.translator import Translator
from synth.dataset.files import write_parquet
from synth.dataset.settings import Versions, make_settings
from synth.gates.edges import choose_edges
from synth.gates.judge import judge
from synth.render import warp as render_warp
from synth.render.cuda import module as render_cuda
from synth.rows.maker import Accepted, PairMaker, Row
from validate.row.columns import ROW_SCHEMA
from validate.row.schema import check_row

T = TypeVar("T")
BLOCK = 32
PLAIN = "plain CUDA (part of the render line)"


class Clock:
    """Seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def time(self, step: str, work: Callable[..., T], *args: object) -> T:
        began = time.perf_counter()
        result = work(*args)
        self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - began
        return result


def main(rows: int) -> None:
    settings = make_settings(verify="text")
    clock = Clock()
    maker = PairMaker(settings, Versions.installed())
    stock = Translator(backward=True, memoise=False)
    names = list(categories())
    accepted: list[Accepted] = []
    index = rejected = 0
    while len(accepted) < rows:
        category = names[index % len(names)]
        draw = Draw(settings.seed, category, index, 0)
        level = settings.level_of(index // len(names))
        index += 1
        try:
            program = clock.time("draw", categories()[category].draw, draw, level)
            tolerances = clock.time("gates", judge, program)
            edges = clock.time("edges", choose_edges, program, tolerances)
        except Reject:
            rejected += 1
            continue
        keys = clock.time("keys", program_keys, program)
        accepted.append(Accepted(program, tolerances, edges, keys, index, 0))

    warm = accepted[:BLOCK]
    with tempfile.TemporaryDirectory() as folder:
        _write([maker.rows(warm)], Path(folder))
    stock.translate_batch([(render_warp.render(a.program), a.program.kernel.name) for a in warm])
    tables = []
    for start in range(0, rows, BLOCK):
        block = accepted[start : start + BLOCK]
        sources = [(render_warp.render(a.program), a.program.kernel.name) for a in block]
        if start // BLOCK % 2:
            clock.time("stock codegen", stock.translate_batch, sources)
        made = clock.time("render, codegen, extraction, row", maker.rows, block)
        if not start // BLOCK % 2:
            clock.time("stock codegen", stock.translate_batch, sources)
        clock.time(
            "own codegen (part of the line above)",
            maker.translator.translate_batch,
            sources,
        )
        clock.time(PLAIN, _plain, block)
        problems = clock.time("schema", _check, made)
        assert not problems, problems
        tables.append(made)
    with tempfile.TemporaryDirectory() as folder:
        clock.time("Parquet", _write, tables, Path(folder))

    _print(clock.seconds, rows, rejected)


def _plain(accepted: list[Accepted]) -> None:
    for a in accepted:
        render_cuda.render(a.program)


def _check(rows: list[Row]) -> list[str]:
    return [problem for row in rows for problem in check_row(row)]


def _write(tables: list[list[Row]], folder: Path) -> None:
    rows = [row for table in tables for row in table]
    write_parquet(folder / "rows.parquet", pa.Table.from_pylist(rows, schema=ROW_SCHEMA))


def _print(seconds: dict[str, float], rows: int, rejected: int) -> None:
    print(f"{rows} rows ({rejected} draws rejected), forward and backward")
    print(
        f"Python {platform.python_version()}, warp-lang {version('warp-lang')}, "
        f"numpy {version('numpy')}, pyarrow {version('pyarrow')}, {platform.machine()}"
    )
    for step, spent in seconds.items():
        print(f"{step:40s} {spent / rows * 1e3:8.3f} ms/row")
    stock = seconds["stock codegen"]
    text = sum(seconds[s] for s in ("draw", "keys", "render, codegen, extraction, row", "Parquet"))
    print(f"draw + render + codegen + extraction + Parquet: {text / stock:.2f} x stock codegen")
    whole = text + sum(seconds[step] for step in ("gates", "edges", "schema"))
    print(f"plain CUDA is {seconds[PLAIN] / whole:.1%} of what a row costs at --verify text")
    print(f"gates + schema: {(seconds['gates'] + seconds['schema']) / stock:.2f} x stock codegen")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
