"""How many mutants of plain CUDA the host run notices: tables, and survivors.

Run: PYTHONPATH=. python scripts/audit/kill_plain.py [OUT] [--rows N] [--seed S]
[--mutants-per-row K] [--per-style M] [--workers W] [--timeout SECONDS]
[--backward [--remade] [--drawn SEED]] [--json FILE]. Takes N
rows of the dataset OUT, at least M of each style where the dataset has so many (a row without
`cuda_plain` gets it from its program), and tries K mutants of each, every one as likely as any
other, and besides all of those that remove a barrier, leave out a guard or make an atomic plain. A
mutant is killed when the status of the host run is not `agrees`; one that does not compile does not
count, nor does a survivor whose optimised PTX equals its row's, nor a fast function whose
documented error the row's tolerance covers. With --backward the texts are our own backward kernels
of rows that have one, and killed is what does not give the derivatives; with --remade they are made
anew from the rows' programs, and with --drawn, which takes no OUT and no Warp, the rows are drawn:
the first of each category that have one.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from generators import categories
from generators.program.serialise import from_json
from scripts.audit.kill_table import run_jobs
from scripts.audit.kill_table import take_rows as take_turns
from scripts.measure.rows.gradients import CATEGORIES, accepted_draws, row_of, settings_of
from synth.dataset.stored import stored_rows
from synth.render.cuda.choose import schedule_for, schedules_of
from synth.render.cuda.module import render
from synth.render.cuda.style import styles
from synth.rows.gradients import checked_gradients, gradient_columns
from synth.rows.runners import TextRunners
from validate.host.runner import HostRunner, RunResult
from validate.mutants.kill import (
    Find,
    Trial,
    sample_naturally,
    try_mutants,
    with_equivalents,
)
from validate.mutants.plain.documented import with_promised
from validate.mutants.plain.draw import BARRIER, OPERATORS, plain_mutants
from validate.mutants.warp.draw import RACE, Mutant
from validate.nvrtc.compiler import CompileRunner
from validate.row.gradient import backward_row
from validate.statuses import AdjointStatus, GradientStatus, RunStatus

ROWS_AT_ONCE = 12
DRAWN_AT_ONCE = 8
DRAWS_PER_ROW = 4
"""A third of the draws of `control_flow` has a backward kernel, and more of the others."""
ARCH = "sm_90"
ALL_OF = (
    BARRIER,
    "shuffle_offset_halved",
    "shuffle_mask_wrong",
    "half_off_by_one",
    "identity_wrong",
    "tile_guard_dropped",
    "lane_guard_removed",
    RACE,
)
_MOST_OF_EACH = 4

Row = dict[str, Any]
_Job = tuple[list[Row], list[list[int]], float, bool]


class Tried(NamedTuple):
    """What became of a mutant, its row's style, and whether the natural sample has it."""

    trial: Trial
    style: str
    natural: bool


def backward_mutants(row: Row) -> list[Mutant]:
    """Every mutant of a row's own backward kernel."""
    found = plain_mutants(backward_row(row))
    return [replace(mutant, column="cuda_plain_backward") for mutant in found]


def run_backward(host: HostRunner, rows: Sequence[Row]) -> list[RunResult]:
    """What runs of the backward kernels of rows show; other derivatives are a wrong value."""
    return [
        result
        if result.status != RunStatus.AGREES or result.adjoint == AdjointStatus.AGREES
        else replace(result, status=RunStatus.WRONG_VALUE, reason=result.adjoint_reason)
        for result in host.run_gradient(rows)
    ]


def backward_rows(data: Path, count: int, remade: bool = False) -> list[Row]:
    """The first rows that have a backward kernel of ours, categories in turn; ``remade``: with the
    kernel that their program has now."""
    rows = take_turns(data, 10**9, 0)
    rows = [row for row in rows if row["cuda_plain_backward"] is not None][:count]
    if not remade:
        return rows
    return [{**row, **gradient_columns(from_json(row["program"]))} for row in rows]


def drawn_rows(seed: int, count: int, workers: int) -> list[Row]:
    """Of each category the first draws of a seed that have a backward kernel, `count` in all."""
    each = count // len(CATEGORIES)
    units = [
        (seed, category, range(first, first + DRAWN_AT_ONCE))
        for first in range(0, DRAWS_PER_ROW * each, DRAWN_AT_ONCE)
        for category in CATEGORIES
    ]
    found = sorted(run_jobs(_drawn, units, workers), key=lambda place: place[:2])
    return [
        row
        for category in CATEGORIES
        for _, _, row in [place for place in found if place[0] == category][:each]
    ]


def _drawn(unit: tuple[int, str, range]) -> list[tuple[str, int, Row]]:
    """Draws that have a backward kernel, each with its place; runs in a process of its own."""
    seed, category, indices = unit
    accepted = accepted_draws(settings_of(seed), category, indices)
    rows = [row_of(one, f"{category}_{at}") for at, one in accepted.items()]
    with closing(TextRunners()) as runners:
        gradients = checked_gradients(runners, rows)
    return [
        (category, at, {**row, "category": category, **gradient.columns})
        for at, row, gradient in zip(accepted, rows, gradients, strict=True)
        if gradient.status == GradientStatus.AGREES
    ]


def take_rows(data: Path, count: int, per_style: int) -> list[Row]:
    """`count` rows: `per_style` of each style, rare styles first, the others as they come."""
    stored = [row for _, row in stored_rows(data) if row["program"] or row["cuda_plain"]]
    programs = [from_json(row["program"]) if row["program"] else None for row in stored]
    found: dict[int, str] = {}
    offers = [schedules_of(program) if program else {} for program in programs]
    by_rarity = sorted(styles(), key=lambda style: sum(style in offer for offer in offers))
    for style in by_rarity:
        able = [at for at, offer in enumerate(offers) if style in offer and at not in found]
        step = max(1, len(able) // per_style)
        found |= dict.fromkeys(able[::step][:per_style], style)
    for at in range(len(stored)):
        if len(found) >= count:
            break
        found.setdefault(at, "")
    return [_in_style(stored[at], programs[at], found[at]) for at in sorted(found)][:count]


def _in_style(row: Row, program: Any, style: str) -> Row:
    if program is not None and (style or not row["cuda_plain"]):
        return row | render(program, schedule_for(program, style)).columns()
    return row


def style_of(row: Row, column: str = "schedule") -> str:
    """The style of a row's plain text."""
    return str(json.loads(row[column])["style"])


def positions(
    rows: Sequence[Row], per_row: int, seed: int, find: Find
) -> Iterator[tuple[list[int], set[int]]]:
    """Of each row the mutants to try, and those of them that the natural sample has."""
    for row, natural in zip(rows, sample_naturally(rows, per_row, seed, find), strict=True):
        operators = [mutant.operator for mutant in find(row)]
        chosen = set(natural)
        for name in ALL_OF:
            ours = [at for at, operator in enumerate(operators) if operator == name]
            chosen |= set(ours if name == BARRIER else ours[:_MOST_OF_EACH])
        yield sorted(chosen), set(natural)


def try_chunk(job: _Job) -> list[Trial]:
    """What became of the chosen mutants of a few rows; runs in a process of its own."""
    rows, chosen, timeout_s, backward = job
    find: Find = backward_mutants if backward else plain_mutants
    with HostRunner(timeout_s=timeout_s, batch_size=16) as host:
        run = partial(run_backward, host) if backward else partial(host.run_plain, relaunch=True)
        own = run(rows)
        for result in own:
            if result.status != RunStatus.AGREES:
                print(f"left out {result.id}: {result.status}: {result.reason[:200]}")
        kept = [at for at, result in enumerate(own) if result.status == RunStatus.AGREES]
        rows, chosen = [rows[at] for at in kept], [chosen[at] for at in kept]
        trials = with_promised(try_mutants(rows, chosen, run, find), rows, run, find)
    with CompileRunner(batch_size=16) as compiler:

        def ptx(texts: Sequence[Row]) -> list[str | None]:
            texts = [backward_row(text) for text in texts] if backward else texts
            return compiler.optimised_plain_ptx(texts, ARCH)

        return with_equivalents(trials, rows, ptx, find)


def print_table(tried: Sequence[Tried], columns: Sequence[str], of: Callable[[Tried], str]) -> None:
    """Killed of those that count, by operator and by what `of` tells of a mutant."""
    there = [name for name in columns if any(of(t) == name for t in tried)]
    print(f"\n{'killed/counted':22}", *(f"{name:>13}" for name in [*there, "all"]))
    for operator in [*OPERATORS, ""]:
        ours = [t for t in tried if operator in (t.trial.operator, "")]
        if not operator:
            ours = [t for t in ours if t.trial.operator != RACE]
        cells = [_cell([t for t in ours if of(t) == name]) for name in there]
        name = operator or "all but races"
        print(f"{name:22}", *(f"{cell:>13}" for cell in [*cells, _cell(ours)]))


def _cell(tried: Sequence[Tried]) -> str:
    counted = [t.trial for t in tried if t.trial.counts]
    return f"{sum(t.killed for t in counted)}/{len(counted)}" if counted else "-"


def print_totals(title: str, tried: Sequence[Tried]) -> None:
    """The figures over everything but races."""
    trials = [t.trial for t in tried if t.trial.operator != RACE]
    counted = [t for t in trials if t.counts]
    killed = sum(t.killed for t in counted)
    print(f"\n{title}: tried {len(trials)}; {dict(Counter(t.status for t in trials))}")
    print("not compiling:", sum(t.status == RunStatus.COMPILE_ERROR for t in trials))
    print("equivalent (identical optimised PTX):", sum(bool(t.equivalent) for t in trials))
    print("fast functions that keep the promise:", sum(t.promised for t in trials))
    print(f"killed: {killed} of {len(counted)}, {100 * killed / max(1, len(counted)):.2f} %")


def print_survivors(tried: Sequence[Tried]) -> None:
    """The mutants that the host run took for right, with the edited line."""
    for t in sorted(tried, key=lambda t: (OPERATORS.index(t.trial.operator), t.style)):
        own = t.trial
        if own.counts and not own.killed:
            place = f"{own.row_id} {own.kernel_name}:{own.line}"
            print(f"{own.operator} {t.style} {place}: {own.before} -> {own.after}")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", metavar="OUT", help="a dataset")
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--per-style", type=int, default=45)
    parser.add_argument("--mutants-per-row", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=5.0, help="seconds a mutant may take")
    parser.add_argument("--backward", action="store_true", help="of our own backward kernels")
    parser.add_argument("--remade", action="store_true", help="make these from the programs anew")
    parser.add_argument("--drawn", type=int, metavar="SEED", help="rows of this seed, without OUT")
    parser.add_argument("--json", type=Path, help="write the trials here")
    asked = parser.parse_args()
    drawn = asked.drawn is not None
    if drawn == (asked.data is not None) or (drawn and not asked.backward):
        parser.error("give OUT, or --backward and --drawn")
    return asked


def main() -> None:
    """Try the mutants, print the figures."""
    asked = arguments()
    if asked.drawn is not None:
        rows = drawn_rows(asked.drawn, asked.rows, asked.workers)
    elif asked.backward:
        rows = backward_rows(asked.data, asked.rows, asked.remade)
    else:
        rows = take_rows(asked.data, asked.rows, asked.per_style)
    schedule = "backward_schedule" if asked.backward else "schedule"
    style_by_row = {row["id"]: style_of(row, schedule) for row in rows}
    print("rows by style:", dict(Counter(style_by_row.values())))
    find: Find = backward_mutants if asked.backward else plain_mutants
    chosen = list(positions(rows, asked.mutants_per_row, asked.seed, find))
    jobs: list[_Job] = [
        (
            rows[at : at + ROWS_AT_ONCE],
            [picked for picked, _ in chosen[at : at + ROWS_AT_ONCE]],
            asked.timeout,
            asked.backward,
        )
        for at in range(0, len(rows), ROWS_AT_ONCE)
    ]
    start = time.perf_counter()
    trials = run_jobs(try_chunk, jobs, asked.workers)
    took = time.perf_counter() - start
    natural = {row["id"]: own for row, (_, own) in zip(rows, chosen, strict=True)}
    tried = [Tried(t, style_by_row[t.row_id], t.position in natural[t.row_id]) for t in trials]
    print_survivors(tried)
    print_table(tried, list(categories()), lambda t: t.trial.category)
    print_table(tried, list(styles()), lambda t: t.style)
    print_totals("natural", [t for t in tried if t.natural])
    print_totals("all", tried)
    print(f"{len(rows)} rows, {len(trials)} mutants, {took:.0f} s")
    if asked.json:
        records = [{**asdict(t.trial), "style": t.style, "natural": t.natural} for t in tried]
        asked.json.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
