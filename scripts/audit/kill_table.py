"""How many mutants of rows the host run notices: a table by operator and category, and survivors.

Run: PYTHONPATH=. python scripts/audit/kill_table.py [--rows N] [--mutants-per-row K] [--seed S]
[--data OUT] [--natural] [--workers W] [--timeout SECONDS] [--no-ptx] [--json FILE]. Draws N rows of
all categories, or takes N of the dataset OUT, and tries K mutants of each. A mutant is killed when
the status of the host run is not `agrees`. One that does not compile does not count, nor does a
survivor whose optimised PTX equals its row's. Race mutants are counted apart.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from generators import categories
from synth.dataset.settings import make_settings
from synth.dataset.stored import stored_rows
from synth.run import generate as run
from validate.host.runner import HostRunner
from validate.mutants.kill import (
    Trial,
    sample_evenly,
    sample_naturally,
    try_mutants,
    with_equivalents,
)
from validate.mutants.warp.draw import OPERATORS, RACE
from validate.nvrtc.compiler import CompileRunner
from validate.statuses import RunStatus

ROWS_AT_ONCE = 60
ARCH = "sm_90"
TIE = "float_tie_moved"

Job = TypeVar("Job")
Found = TypeVar("Found")
_Job = tuple[list[dict[str, Any]], list[list[int]], float, bool]


def take_rows(data: Path | None, count: int, seed: int) -> list[dict[str, Any]]:
    """`count` rows, categories in turn: of a dataset, or freshly drawn."""
    if data is None:
        with tempfile.TemporaryDirectory() as folder:
            fresh = Path(folder) / "rows"
            run.generate(make_settings(seed=seed, verify="text"), count, fresh)
            return take_rows(fresh, count, seed)
    by_category: dict[str, list[dict[str, Any]]] = {}
    for _, row in stored_rows(data):
        by_category.setdefault(row["category"], []).append(row)
    turns = chain.from_iterable(zip_longest(*by_category.values()))
    return [row for row in turns if row is not None][:count]


def try_chunk(job: _Job) -> list[Trial]:
    """What became of the chosen mutants of a few rows; runs in a process of its own."""
    rows, chosen, timeout_s, with_ptx = job
    with HostRunner(timeout_s=timeout_s, batch_size=64) as host:
        trials = try_mutants(rows, chosen, host.run)
    if not with_ptx:
        return trials
    with CompileRunner() as compiler:
        return with_equivalents(trials, rows, lambda texts: compiler.optimised_ptx(texts, ARCH))


def print_table(trials: Sequence[Trial]) -> None:
    """Killed of those that count, by operator and category."""
    names = [name for name in categories() if any(t.category == name for t in trials)]
    print(f"{'killed/counted':22}", *(f"{name:>13}" for name in [*names, "all"]))
    for operator in OPERATORS:
        ours = [t for t in trials if t.operator == operator]
        cells = [_cell([t for t in ours if t.category == name]) for name in names]
        print(f"{operator:22}", *(f"{cell:>13}" for cell in [*cells, _cell(ours)]))
    plain = [t for t in trials if t.operator != RACE]
    print(
        f"{'all but races':22}",
        *(f"{_cell([t for t in plain if t.category == name]):>13}" for name in names),
    )
    print_totals(plain)
    races = [t for t in trials if t.operator == RACE]
    print("race mutants by status:", dict(Counter(t.status for t in races)))


def print_totals(trials: Sequence[Trial]) -> None:
    """The figures over everything but races."""
    counted = [t for t in trials if t.counts]
    print(f"\ntried {len(trials)}; by status {dict(Counter(t.status for t in trials))}")
    print("not compiling:", sum(t.status == RunStatus.COMPILE_ERROR for t in trials))
    print("equivalent (identical optimised PTX):", sum(bool(t.equivalent) for t in trials))
    print("killed:", _share(counted))
    print("killed, without ties of floats:", _share([t for t in counted if t.operator != TIE]))


def print_survivors(trials: Sequence[Trial]) -> None:
    """The mutants that the host run took for right."""
    for t in survivors(trials):
        place = f"{t.row_id} {t.kernel_name} {t.column}:{t.line}"
        print(f"{t.operator} {t.category} {place}: {t.before} -> {t.after}")


def survivors(trials: Sequence[Trial]) -> list[Trial]:
    """Those that count and agree, races left out, in the order of OPERATORS."""
    alive = [t for t in trials if t.counts and not t.killed and t.operator != RACE]
    return sorted(alive, key=lambda t: (OPERATORS.index(t.operator), t.category))


def _cell(trials: Sequence[Trial]) -> str:
    counted = [t for t in trials if t.counts]
    return f"{sum(t.killed for t in counted)}/{len(counted)}" if counted else "-"


def _share(trials: Sequence[Trial]) -> str:
    killed = sum(t.killed for t in trials)
    return f"{killed} of {len(trials)}, {100 * killed / max(1, len(trials)):.2f} %"


def run_jobs(
    try_chunk: Callable[[Job], list[Found]], jobs: Sequence[Job], workers: int
) -> list[Found]:
    """All jobs, `workers` at a time, each in a process; what is found in the order of the jobs."""
    found: dict[int, list[Found]] = {}
    with ProcessPoolExecutor(max_workers=workers) as pool:
        futures = {pool.submit(try_chunk, job): at for at, job in enumerate(jobs)}
        for future in tqdm(as_completed(futures), total=len(jobs), unit="chunk"):
            found[futures[future]] = future.result()
    return [one for at in sorted(found) for one in found[at]]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=480)
    parser.add_argument("--mutants-per-row", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, help="a dataset; rows are drawn without it")
    parser.add_argument(
        "--natural", action="store_true", help="every mutant as likely, not operators evenly"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=2.0, help="seconds a mutant may take")
    parser.add_argument("--no-ptx", action="store_true", help="do not look for equivalents")
    parser.add_argument("--json", type=Path, help="write the survivors here")
    return parser.parse_args()


def main() -> None:
    """Try the mutants, print the figures."""
    asked = arguments()
    rows = take_rows(asked.data, asked.rows, asked.seed)
    pick = sample_naturally if asked.natural else sample_evenly
    chosen = pick(rows, asked.mutants_per_row, asked.seed)
    jobs: list[_Job] = [
        (
            rows[at : at + ROWS_AT_ONCE],
            chosen[at : at + ROWS_AT_ONCE],
            asked.timeout,
            not asked.no_ptx,
        )
        for at in range(0, len(rows), ROWS_AT_ONCE)
    ]
    start = time.perf_counter()
    trials = run_jobs(try_chunk, jobs, asked.workers)
    took = time.perf_counter() - start
    print_survivors(trials)
    print_table(trials)
    print(
        f"{len(rows)} rows, {len(trials)} mutants, {took:.0f} s, {len(trials) / took:.0f} a second"
    )
    if asked.json:
        asked.json.write_text(json.dumps([asdict(t) for t in survivors(trials)], indent=1) + "\n")


if __name__ == "__main__":
    main()
