"""How many programs have a backward of ours, and how many of those agree with differences.

``python scripts/measure/gradients.py [-n 100] [--seed 0] [--category C …] [--failed FILE]``: draws
``n`` programs of each category that pass the gates, makes the backward program and its plain CUDA,
runs it on the host and compares it with central differences of the reference. A table by category,
then the reasons why there is none.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from generators.build.draw import Reject
from generators.program.ir import Program
from synth.dataset.settings import Settings
from synth.gates.contract import args_with_tolerances, launch_of, sizes_of
from synth.gradient.terms import Undifferentiable
from synth.render.reference import module as render_reference
from synth.rows.gradients import gradient_columns
from synth.rows.maker import Accepted, attempt_draw
from validate.host import clang
from validate.host.ends import ENDS
from validate.host.gradient import check_gradient
from validate.host.launch import MEMORY_BYTES
from validate.host.texts import GradientCases, Kept
from validate.process.child import limit_memory
from validate.row.adjoint import status_without_run

CATEGORIES = ("arithmetic", "atomic", "control_flow", "math", "matrix", "vector")
ATTEMPTS = 12
AT_ONCE = 10
LONGEST_S = 120


def settings_of(seed: int) -> Settings:
    """The settings of a usual draw."""
    return Settings(
        seed=seed, categories=CATEGORIES, levels=(1, 2, 3, 4, 5), backward=False, verify="text"
    )


def row_of(program: Program, tolerances: Any) -> dict[str, Any]:
    """What the host run needs of a row, made of a program without Warp."""
    return {
        "id": program.kernel.name,
        "kernel_name": program.kernel.name,
        "reference": render_reference.render(program),
        "args": args_with_tolerances(program, tolerances),
        "sizes": sizes_of(program),
        "launch": launch_of(program),
        "input_seed": program.input_seed,
        "relaunch": False,
    }


def drawn(settings: Settings, category: str, index: int) -> Accepted | None:
    """The first attempt that the gates let pass."""
    for attempt in range(ATTEMPTS):
        try:
            return attempt_draw(settings, category, index, attempt)
        except Reject:
            continue
    return None


def outcome(settings: Settings, category: str, index: int, folder: Path) -> tuple[str, str]:
    """A status, and why."""
    accepted = drawn(settings, category, index)
    if accepted is None:
        return "not_drawn", ""
    program = accepted.program
    row = row_of(program, accepted.tolerances)
    if without := status_without_run({**row, "cuda_backward": ""}):
        return "none", without
    try:
        row |= gradient_columns(program)
    except Undifferentiable as none:
        return "none", none.reason
    cases = GradientCases(folder, Kept())
    handle = f"gradient_{category}_{index}"
    cases.build([row], folder / f"{handle}.o", folder)
    clang.load(folder / f"{handle}.o", handle)
    try:
        found = check_gradient(row, cases.entry(handle, 0, row))
    except ENDS as ended:
        return "failed", f"{type(ended).__name__}: {ended}"
    return str(found.status).replace("warp_", ""), found.reason


def _work(seed: int, category: str, indices: list[int], results: Any) -> None:
    settings = settings_of(seed)
    clang.start()
    limit_memory(MEMORY_BYTES)
    with tempfile.TemporaryDirectory() as folder:
        for index in indices:
            results.put((index, None))
            try:
                found = outcome(settings, category, index, Path(folder))
            except clang.CompileError as error:
                found = ("failed", f"does not compile: {error}"[:300])
            results.put((index, found))
    results.put((-1, None))


def measure(seed: int, category: str, count: int) -> dict[int, tuple[str, str]]:
    """The outcome of each index; a kernel that ends its process is one that failed."""
    found: dict[int, tuple[str, str]] = {}
    left = list(range(count))
    while left:
        results: Any = multiprocessing.get_context("spawn").Queue()
        part = left[:AT_ONCE]
        child = multiprocessing.get_context("spawn").Process(
            target=_work, args=(seed, category, part, results)
        )
        child.start()
        _collect(child, results, found)
        left = [index for index in left if index not in found]
        print(f"{category} {count - len(left)}/{count}", file=sys.stderr)
    return found


def _collect(child: Any, results: Any, found: dict[int, tuple[str, str]]) -> None:
    current = -1
    while True:
        try:
            index, outcome_found = results.get(timeout=LONGEST_S)
        except multiprocessing.queues.Empty:  # type: ignore[attr-defined]
            assert current >= 0, "the child did not start"
            found[current] = ("failed", "ended its process or took too long")
            break
        if index == -1:
            break
        current = index
        if outcome_found is not None:
            found[index] = outcome_found
    child.kill()
    child.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--category", nargs="*", default=CATEGORIES)
    parser.add_argument("--failed", type=Path)
    options = parser.parse_args()
    reasons: Counter[str] = Counter()
    failed = []
    statuses: Counter[tuple[str, str]] = Counter()
    for category in options.category:
        for index, (status, why) in measure(options.seed, category, options.n).items():
            statuses[category, status] += 1
            if status == "none":
                reasons[why] += 1
            elif status != "agrees":
                failed.append(f"{category} {index} {status}: {why}")
    columns = sorted({status for _, status in statuses})
    print("| category |", " | ".join(columns), "|")
    for category in options.category:
        print("|", category, "|", " | ".join(str(statuses[category, c]) for c in columns), "|")
    for why, times in reasons.most_common():
        print(f"{times:5d} {why}")
    if options.failed:
        options.failed.write_text("\n".join(failed) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
