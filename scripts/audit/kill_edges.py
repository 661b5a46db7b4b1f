"""How many mutants of rows the host run notices on drawn inputs alone, and at edges besides.

Run: PYTHONPATH=. python scripts/audit/kill_edges.py OUT [--rows N] [--mutants-per-row K] [--seed S]
[--workers W] [--timeout SECONDS] [--chosen-anew] [--json FILE]. Takes N rows of the dataset OUT,
categories in turn, and tries K mutants of each row's Warp text and of its plain text, each one as
likely as any other, and up to K that compute less precisely. Each runs on what the row draws; what
lives on runs at the row's `edge_inputs`, too. A mutant that does not compile does not count, nor
does a survivor whose optimised PTX equals its row's. A fast function that lives, and whose text is
right with that call off by all of its documented error, too, keeps the promise and is counted
apart. With --chosen-anew the present code chooses tolerances and edge inputs; a row that its gates
refuse is left out and counted.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from generators.build.draw import Reject
from generators.program.serialise import from_json
from scripts.audit.kill_table import ARCH, TIE, run_jobs, take_rows
from synth.gates.contract import args_with_tolerances
from synth.gates.edges import choose_edges
from synth.gates.judge import judge
from validate.host.runner import HostRunner
from validate.mutants.kill import Find, Trial, sample_naturally, try_mutants, with_equivalents
from validate.mutants.plain.documented import with_promised
from validate.mutants.plain.draw import PRECISION, plain_mutants
from validate.mutants.warp.draw import RACE, Mutant, mutants
from validate.nvrtc.compiler import CompileRunner
from validate.row.edges import EDGES

ROWS_AT_ONCE = 12
WARP, PLAIN, PRECISE = "Warp's text", "plain text", "plain text, precision"

Row = dict[str, Any]
_Job = tuple[list[Row], int, int, float]


class Tried(NamedTuple):
    """What became of a mutant of one of the texts; `bare`: on drawn inputs alone."""

    text: str
    bare: bool
    trial: Trial


def chosen_anew(row: Row) -> Row | None:
    """The row with tolerances and edge inputs that the gates give it now; None: they refuse it."""
    program = from_json(row["program"])
    try:
        tolerances = judge(program)
    except Reject:
        return None
    edges = choose_edges(program, tolerances)
    return row | {"args": args_with_tolerances(program, tolerances), EDGES: edges}


def of_precision(row: Mapping[str, Any]) -> list[Mutant]:
    """The plain text's mutants that compute less precisely."""
    return [m for m in plain_mutants(row) if m.operator in PRECISION]


def of_meaning(row: Mapping[str, Any]) -> list[Mutant]:
    """The plain text's other mutants, without races."""
    return [m for m in plain_mutants(row) if m.operator not in (*PRECISION, RACE)]


def of_warp(row: Mapping[str, Any]) -> list[Mutant]:
    """Mutants of Warp's text, without races."""
    return [m for m in mutants(row) if m.operator != RACE]


def try_rows(job: _Job) -> list[Tried]:
    """What became of the mutants of a few rows; runs in a process of its own."""
    rows, per_row, seed, timeout_s = job
    found = []
    with HostRunner(timeout_s=timeout_s, batch_size=16) as host, CompileRunner() as compiler:
        plain = partial(host.run_plain, relaunch=True)
        for text, find, run, ptx in (
            (WARP, of_warp, host.run, compiler.optimised_ptx),
            (PLAIN, of_meaning, plain, compiler.optimised_plain_ptx),
            (PRECISE, of_precision, plain, compiler.optimised_plain_ptx),
        ):
            kept = [row for row in rows if text == WARP or row["cuda_plain"]]
            for bare, trial in _try_twice(
                kept,
                sample_naturally(kept, per_row, seed, find),
                find,
                run,
                lambda texts, ptx=ptx: ptx(texts, ARCH),
            ):
                found.append(Tried(text, bare, trial))
    return found


def _try_twice(
    rows: Sequence[Row],
    chosen: Sequence[Sequence[int]],
    find: Find,
    run: Callable[..., Any],
    ptx: Callable[..., Any],
) -> list[tuple[bool, Trial]]:
    """Each mutant on drawn inputs, and with the row's edges what lives on there."""
    bare = try_mutants([row | {EDGES: []} for row in rows], chosen, run, find)
    bare = with_equivalents(bare, rows, ptx, find)
    alive = {(t.row_id, t.position) for t in bare if t.counts and not t.killed}
    again = [
        [at for at in own if (row["id"], at) in alive]
        for row, own in zip(rows, chosen, strict=True)
    ]
    edged = with_promised(try_mutants(rows, again, run, find), rows, run, find)
    return [(True, t) for t in bare] + [(False, replace(t, equivalent=False)) for t in edged]


def print_text(text: str, tried: Sequence[Tried]) -> None:
    """Figures of one text, by operator, and what lives on."""
    there = [t for t in tried if t.text == text]
    kept = {(t.trial.row_id, t.trial.position) for t in there if t.trial.promised}
    ours = [t for t in there if t.trial.counts and (t.trial.row_id, t.trial.position) not in kept]
    if kept:
        print(f"{text}, fast functions that keep the promise, not counted below: {len(kept)}")
    operators = sorted({t.trial.operator for t in ours})
    for name, kinds in [
        ("all", operators),
        ("without float ties", [*{*operators} - {TIE}]),
        *((operator, [operator]) for operator in operators),
    ]:
        bare = [t for t in ours if t.bare and t.trial.operator in kinds]
        edged = [t for t in ours if not t.bare and t.trial.operator in kinds]
        without = sum(t.trial.killed for t in bare)
        killed = without + sum(t.trial.killed for t in edged)
        print(
            f"{text}, {name}: {without} and with edges {killed} of {len(bare)}, "
            f"{100 * without / max(1, len(bare)):.2f} and {100 * killed / max(1, len(bare)):.2f} %"
        )


def print_survivors(tried: Sequence[Tried]) -> None:
    """The mutants that live on at the edges, too."""
    for text, bare, t in tried:
        if not bare and t.counts and not t.killed:
            print(
                f"{text}, {t.operator} {t.row_id} {t.kernel_name}:{t.line}: {t.before} -> {t.after}"
            )


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, metavar="OUT", help="a dataset made at run")
    parser.add_argument("--rows", type=int, default=240)
    parser.add_argument("--mutants-per-row", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=5.0, help="seconds a mutant may take")
    parser.add_argument("--chosen-anew", action="store_true", help="edges of the present code")
    parser.add_argument("--json", type=Path, help="write the trials here")
    return parser.parse_args()


def main() -> None:
    """Try the mutants, print the figures."""
    asked = arguments()
    rows = take_rows(asked.data, asked.rows, asked.seed)
    if asked.chosen_anew:
        rows = [found for row in rows if (found := chosen_anew(row))]
    print(f"{len(rows)} rows, {sum(bool(row[EDGES]) for row in rows)} with edge inputs")
    jobs: list[_Job] = [
        (rows[at : at + ROWS_AT_ONCE], asked.mutants_per_row, asked.seed, asked.timeout)
        for at in range(0, len(rows), ROWS_AT_ONCE)
    ]
    tried: list[Tried] = run_jobs(try_rows, jobs, asked.workers)
    print_survivors(tried)
    for text in (WARP, PLAIN, PRECISE):
        print_text(text, tried)
    if asked.json:
        records = [{"text": t.text, "bare": t.bare, **asdict(t.trial)} for t in tried]
        asked.json.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
