"""What an idiom yields: rejects, distinct structures, length and time at each level; examples.

Run: PYTHONPATH=. python scripts/author/try_idiom.py CATEGORY [IDIOM ...] [--draws N] [--level L]
[--show K] [--run]. Draws N programs for each idiom and level, judges them and translates them.
`--run` also runs the CUDA text of the accepted rows on the host; `--show` prints K of them.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from statistics import median

from generators import every_category
from generators.build.draw import Draw, Reject
from generators.build.registry import LEVELS
from synth.dataset.settings import Versions, make_settings
from synth.rows.maker import Accepted, PairMaker, accept
from validate.host.runner import HostRunner

FIRST_INDEX = 1_000_000


def draw_cell(
    category: str, idiom: str, level: int, draws: int
) -> tuple[list[Accepted], Counter[str]]:
    """The draws of one idiom and level that pass the gates, and the reasons of the others."""
    accepted: list[Accepted] = []
    rejects: Counter[str] = Counter()
    for index in range(FIRST_INDEX, FIRST_INDEX + draws):
        try:
            program = every_category()[category].draw_idiom(
                idiom, Draw(0, f"{category}/{idiom}/{level}", index, 0), level
            )
            accepted.append(accept(program, index, 0))
        except Reject as reject:
            rejects[f"{reject.reason} ({reject.detail})"] += 1
    return accepted, rejects


def body_lines(python: str) -> int:
    """Lines of the kernel from the one after its signature, blank ones left out."""
    lines = python.split("@wp.kernel", 1)[1].splitlines()
    start = next(k for k, line in enumerate(lines) if line.endswith("):"))
    return sum(bool(line.strip()) for line in lines[start + 1 :])


def main(args: argparse.Namespace) -> None:
    maker = PairMaker(make_settings(verify="text"), Versions.installed())
    names = args.idioms or sorted(every_category()[args.category].idioms)
    made = []
    print(
        "idiom/level: passed/draws  distinct structures  lines min-median-max   ms a draw; rejects"
    )
    for idiom in names:
        for level in [args.level] if args.level else LEVELS:
            start = time.perf_counter()
            accepted, rejects = draw_cell(args.category, idiom, level, args.draws)
            cost_ms = 1e3 * (time.perf_counter() - start) / args.draws
            structures = len({a.keys.structure for a in accepted})
            rows = maker.rows(accepted) if accepted else []
            lines = sorted(body_lines(row["python"]) for row in rows) or [0]
            print(
                f"{idiom}/{level}: {len(accepted)}/{args.draws}  {structures}/{len(accepted)}  "
                f"{lines[0]}-{median(lines):.0f}-{lines[-1]}  {cost_ms:.1f}  "
                f"{dict(rejects.most_common(3)) or ''}",
                flush=True,
            )
            made += rows
            for row in rows[: args.show]:
                print(f"\n{row['description']}\n{row['python']}\n")
    if args.run:
        with HostRunner(batch_size=64) as host:
            results = host.run(made)
        print("run:", dict(Counter(r.status for r in results)))
        print("adjoint:", dict(Counter(str(r.adjoint) for r in results)))
        for row, result in zip(made, results, strict=True):
            if result.status != "agrees":
                print(f"\n{result.status}: {result.reason}\n{row['python']}\n{row['reference']}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("category")
    parser.add_argument("idioms", nargs="*")
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--level", type=int)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--run", action="store_true")
    main(parser.parse_args())
