"""How many programs have a backward of ours, and how many of those agree with differences.

    PYTHONPATH=. python scripts/measure/rows/gradients.py [-n 2000] [--seed 0] [--category C …]
        [--workers 2] [--adjoint] [--failed FILE]

Draws ``n`` programs of each category that pass the gates, makes the backward program and its plain
CUDA, and runs it on the host as ``generate --verify run`` does; nothing else of a row is made, and
nothing is compiled for a GPU. A table by category, then the reasons why there is none. With
``--adjoint`` Warp's own adjoint is run beside it, which takes Warp and several times as long: then
the table tells as well of how many rows it differs, and how many of those have one of ours.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from generators.build.draw import Reject
from generators.program.serialise import to_json
from synth.dataset.settings import Settings, Versions
from synth.gates.contract import args_with_tolerances, launch_of, sizes_of
from synth.render.reference import module as render_reference
from synth.rows.gradients import checked_gradients
from synth.rows.maker import Accepted, attempt_draw, pair_maker
from synth.rows.runners import TextRunners
from validate.statuses import AdjointStatus, GradientStatus

CATEGORIES = ("arithmetic", "atomic", "control_flow", "math", "matrix", "vector")
ATTEMPTS = 12
AT_ONCE = 40
WITHOUT_FLOATS = (GradientStatus.NO_FLOAT_INPUT, GradientStatus.NO_FLOAT_OUTPUT)


class Outcome(NamedTuple):
    """What became of one draw: a status of ours, why, and whether Warp's adjoint differs."""

    category: str
    index: int
    status: str
    reason: str
    warp_differs: bool


def settings_of(seed: int) -> Settings:
    """The settings of a usual draw."""
    return Settings(
        seed=seed, categories=CATEGORIES, levels=(1, 2, 3, 4, 5), backward=False, verify="text"
    )


def row_of(accepted: Accepted, name: str) -> dict[str, Any]:
    """What the host run of a backward kernel needs of a row, made of a program without Warp."""
    program = accepted.program
    return {
        "id": name,
        "kernel_name": program.kernel.name,
        "program": to_json(program),
        "reference": render_reference.render(program),
        "args": args_with_tolerances(program, accepted.tolerances),
        "sizes": sizes_of(program),
        "launch": launch_of(program),
        "input_seed": program.input_seed,
    }


def drawn(settings: Settings, category: str, index: int) -> Accepted | None:
    """The first attempt that the gates let pass."""
    for attempt in range(ATTEMPTS):
        try:
            return attempt_draw(settings, category, index, attempt)
        except Reject:
            continue
    return None


def accepted_draws(
    settings: Settings, category: str, indices: Sequence[int]
) -> dict[int, Accepted]:
    """By index, draws that come to something."""
    return {i: one for i in indices if (one := drawn(settings, category, i)) is not None}


@lru_cache(maxsize=1)
def _runners() -> TextRunners:
    """The process's own, whose child goes on from unit to unit."""
    return TextRunners()


def outcomes(seed: int, category: str, indices: Sequence[int], adjoint: bool) -> list[Outcome]:
    """What becomes of some draws of a category; runs in a process of its own."""
    settings = settings_of(seed)
    accepted = accepted_draws(settings, category, indices)
    if adjoint:
        maker = pair_maker(replace(settings, backward=True, array=False), Versions.installed())
        rows = maker.rows(list(accepted.values()))
    else:
        rows = [row_of(one, f"{category}_{index}") for index, one in accepted.items()]
    differs = _warp_differs(rows) if adjoint else [False] * len(rows)
    found = zip(accepted, checked_gradients(_runners(), rows), differs, strict=True)
    done = {i: Outcome(category, i, str(g.status), g.reason, wrong) for i, g, wrong in found}
    return [done.get(i, Outcome(category, i, "not_drawn", "", False)) for i in indices]


def _warp_differs(rows: Sequence[dict[str, Any]]) -> list[bool]:
    shown = _runners().run([{**row, "cuda_plain": None} for row in rows])
    return [one.warp.adjoint == AdjointStatus.WARP_DIFFERS for one in shown]


def print_tables(found: Sequence[Outcome], adjoint: bool) -> None:
    """Statuses by category, then the reasons for `no_form`."""
    statuses = sorted({one.status for one in found})
    more = ["Warp's differs", "of these ours agrees"] if adjoint else []
    print("|", " | ".join(["category", "with floats", "agrees", *statuses, *more]), "|")
    for category in [*CATEGORIES, ""]:
        ours = [one for one in found if category in (one.category, "")]
        if not ours:
            continue
        counts = Counter(one.status for one in ours)
        floats = len(ours) - sum(counts[s] for s in (*WITHOUT_FLOATS, "not_drawn"))
        share = f"{100 * counts[GradientStatus.AGREES] / max(1, floats):.1f} %"
        cells = [category or "all", floats, share, *(counts[s] for s in statuses)]
        if adjoint:
            wrong = [one for one in ours if one.warp_differs]
            cells += [len(wrong), sum(one.status == GradientStatus.AGREES for one in wrong)]
        print("|", " | ".join(map(str, cells)), "|")
    reasons = Counter(one.reason for one in found if one.status == GradientStatus.NO_FORM)
    for why, times in reasons.most_common():
        print(f"{times:5d} {why}")


def main() -> None:
    """Draw, check, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=100, help="of each category")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--category", nargs="*", default=CATEGORIES)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--adjoint", action="store_true", help="run Warp's as well")
    parser.add_argument("--failed", type=Path)
    options = parser.parse_args()
    units = [
        (category, range(first, min(first + AT_ONCE, options.n)))
        for first in range(0, options.n, AT_ONCE)
        for category in options.category
    ]
    found: list[Outcome] = []
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(outcomes, options.seed, *unit, options.adjoint) for unit in units]
        for number, job in enumerate(as_completed(jobs)):
            found += job.result()
            print(f"\r{number + 1}/{len(jobs)}", end="", file=sys.stderr, flush=True)
    found.sort()
    print_tables(found, options.adjoint)
    good = (GradientStatus.AGREES, GradientStatus.NO_FORM, *WITHOUT_FLOATS, "not_drawn")
    if options.failed:
        lines = [f"{o.category} {o.index} {o.status}: {o.reason}\n" for o in found]
        kept = [line for o, line in zip(found, lines, strict=True) if o.status not in good]
        options.failed.write_text("".join(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
