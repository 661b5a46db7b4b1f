"""How many programs have a whole-array version, and how many of those agree with the reference.

``python scripts/measure/rows/array_texts.py [-n 600] [--seed 0] [--category C …] [--torch]
[--processes 2] [--failed FILE]``: draws ``n`` programs in all that pass the gates, as many of each
category, makes the NumPy text (the PyTorch text with ``--torch``) and compares what it gives with
the reference at all shapes and edges of the row. A table by category, then the reasons for which
there is none, by category, and what differs. Neither Warp nor a compiler is called.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from generators import every_category
from generators.build.draw import Reject
from synth.dataset.settings import Settings, make_settings
from synth.gates.contract import args_with_tolerances, sizes_of
from synth.render.array.module import render, render_torch
from synth.render.array.values import NoForm
from synth.render.reference import module as render_reference
from synth.rows.garbage import keep_what_is_there
from synth.rows.maker import Accepted, attempt_draw
from validate.oracle.arrays import ArraysFailed, run_arrays
from validate.oracle.compare import Finding, compare_outputs
from validate.oracle.reference import run_reference
from validate.oracle.tensors import run_tensors
from validate.row.edges import settings
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all

ATTEMPTS = 12
AT_ONCE = 8


class Job(NamedTuple):
    """One index of a category."""

    category: str
    index: int


class Outcome(NamedTuple):
    """What was found: a status, its reason, the idiom and the text."""

    job: Job
    status: str
    why: str = ""
    idiom: str = ""
    text: str = ""


def drawn(of: Settings, job: Job) -> Accepted | None:
    """The first attempt that the gates let pass."""
    for attempt in range(ATTEMPTS):
        try:
            return attempt_draw(of, job.category, job.index, attempt)
        except Reject:
            continue
    return None


def row_of(accepted: Accepted) -> dict[str, Any]:
    """What inputs, the reference and the comparison need of a row."""
    program = accepted.program
    return {
        "kernel_name": program.kernel.name,
        "reference": render_reference.render(program),
        "args": args_with_tolerances(program, accepted.tolerances),
        "sizes": sizes_of(program),
        "places": program.kernel.launch_dim,
        "input_seed": program.input_seed,
        "edge_inputs": accepted.edges,
    }


def judged(row: dict[str, Any], text: str, torch: bool) -> str:
    """What differs from the reference, and where; empty where nothing does."""
    run = run_tensors if torch else run_arrays
    for setting in settings(row):
        inputs = draw_inputs(setting.args, setting.sizes, row["input_seed"])
        dim = evaluate_all(row["places"], setting.sizes)
        wanted = run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
        finding = Finding()
        try:
            found = run(text, row["kernel_name"], row["args"], setting.sizes, inputs)
        except ArraysFailed as failed:
            return f"{failed} at {setting.name}"
        if not compare_outputs(row["args"], found, wanted, finding):
            return f"{finding.reason} at {setting.name}"
    return ""


def outcome(of: Settings, torch: bool, job: Job) -> Outcome:
    """What becomes of one index."""
    accepted = drawn(of, job)
    if accepted is None:
        return Outcome(job, "not_drawn")
    idiom = accepted.program.idiom
    try:
        text = (render_torch if torch else render)(accepted.program)
    except NoForm as none:
        return Outcome(job, "none", str(none), idiom)
    trouble = judged(row_of(accepted), text, torch)
    return Outcome(job, "differs" if trouble else "agrees", trouble, idiom, text)


def _start(torch: bool) -> None:
    if torch:
        import torch as library

        library.set_num_threads(1)
    every_category()
    keep_what_is_there()


def measure(of: Settings, torch: bool, jobs: Sequence[Job], processes: int) -> list[Outcome]:
    """The outcomes of all jobs, in order."""
    found = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, _start, (torch,), maxtasksperchild=100) as pool:
        for one in pool.imap(partial(outcome, of, torch), jobs, chunksize=AT_ONCE):
            found.append(one)
            if len(found) % 200 == 0:
                print(f"{len(found)}/{len(jobs)}", file=sys.stderr)
    return found


def table(found: Sequence[Outcome], categories: Sequence[str]) -> list[str]:
    """Rows, texts and agreement by category."""
    lines = ["| category | rows | with a text | agree | differ |", "|---|--:|--:|--:|--:|"]
    for name in (*categories, "all"):
        mine = [one for one in found if name in (one.job.category, "all")]
        counts = Counter(one.status for one in mine if one.status != "not_drawn")
        rows, agree, differ = counts.total(), counts["agrees"], counts["differs"]
        share = f"{100 * agree / rows:.1f} %" if rows else "-"
        lines.append(f"| {name} | {rows} | {agree + differ} | {agree} ({share}) | {differ} |")
    return lines


def reasons(found: Sequence[Outcome], categories: Sequence[str]) -> list[str]:
    """Why there is none, most common first, by category."""
    none = [one for one in found if one.status == "none"]
    why = Counter(one.why for one in none)
    lines = [f"| reason for none | {' | '.join(categories)} | all |"]
    lines.append(f"|---{'|--:' * (len(categories) + 1)}|")
    for reason, times in sorted(why.items(), key=lambda entry: (-entry[1], entry[0])):
        by = Counter(one.job.category for one in none if one.why == reason)
        lines.append(f"| {reason} | {' | '.join(str(by[c]) for c in categories)} | {times} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--category", nargs="*", default=[])
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--failed", type=Path, help="where texts that differ are written")
    options = parser.parse_args()
    of = make_settings(seed=options.seed, categories_asked=tuple(options.category), verify="text")
    each = -(-options.n // len(of.categories))
    jobs = [Job(category, index) for index in range(each) for category in of.categories]
    found = measure(of, options.torch, jobs[: options.n], options.processes)
    print("\n".join([*table(found, of.categories), "", *reasons(found, of.categories), ""]))
    for one in found:
        if one.status == "differs":
            print(f"{one.job.category} {one.job.index} {one.idiom}: {one.why}")
    if options.failed:
        wrong = [f"# {o.job} {o.idiom}: {o.why}\n{o.text}" for o in found if o.status == "differs"]
        options.failed.write_text("\n\n".join(wrong), encoding="utf-8")


if __name__ == "__main__":
    main()
