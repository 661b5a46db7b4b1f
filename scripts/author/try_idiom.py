"""What an idiom yields: rejects, distinct structures, length and time at each level; examples.

Run: PYTHONPATH=. python scripts/author/try_idiom.py CATEGORY [IDIOM ...] [--draws N] [--level L]
[--show K] [--plain] [--run]. Draws N programs for each idiom and level, judges them and translates
them. Then it tells for each idiom which share of the accepted rows has what nobody would write and
how deep they are, by the rules of `scripts/measure/rows/believable.py` (what the gates of habits
found is among the rejects), and which styles of plain CUDA they got and what limits these by
prediction. `--show` prints K rows of each idiom and level, `--plain` their plain CUDA as well, with
the predicted time of each style; `--run` also runs the CUDA text of the accepted rows on the host.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from statistics import median

from generators import every_category
from generators.build.draw import Draw, Reject
from generators.build.registry import LEVELS
from generators.program import ir
from scripts.measure.rows.believable import DEPTH, RULES, Facts, shares
from synth.dataset.settings import Versions, make_settings
from synth.render.cuda.choose import Candidate, candidates_of
from synth.render.cuda.regime import upper_sizes
from synth.rows.maker import Accepted, PairMaker, Row, accept_drawn
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
            accepted.append(accept_drawn(program, index, 0))
        except Reject as reject:
            rejects[f"{reject.reason} ({reject.detail})"] += 1
    return accepted, rejects


def body_lines(python: str) -> int:
    """Lines of the kernel from the one after its signature, blank ones left out."""
    lines = python.split("@wp.kernel", 1)[1].splitlines()
    start = next(k for k, line in enumerate(lines) if line.endswith("):"))
    return sum(bool(line.strip()) for line in lines[start + 1 :])


def predictions(program: ir.Program) -> list[str]:
    """The quickest schedule of each style by prediction, the quickest style first."""
    sizes = upper_sizes(program)
    said = ", ".join(f"{symbol}={value}" for symbol, value in sizes.items())
    best: dict[str, Candidate] = {}
    for c in candidates_of(program, sizes):
        best.setdefault(c.schedule.style, c)
    return [f"predicted at {said}:"] + [
        f"  {style}, block {c.schedule.block}: {c.prediction.time_us:.1f} us, {c.prediction.limits}"
        for style, c in best.items()
    ]


def show(accepted: Accepted, row: Row, plain: bool) -> None:
    """Print a row to read."""
    print(f"\n{row['description']}\n{row['python']}\n")
    if plain:
        print(f"{row['cuda_plain']}\n{row['schedule']}")
        print(*predictions(accepted.program), sep="\n")


def tell_facts(made: Sequence[tuple[Accepted, Row]]) -> None:
    """Print a line for each idiom: the shares of believability and depth, in per cent."""
    rules = {**RULES, **DEPTH}
    print(f"\n| % of rows | rows | {' | '.join(rules)} |\n|---|{'--:|' * (1 + len(rules))}")
    for idiom in dict.fromkeys(a.program.idiom for a, _ in made):
        facts = [Facts(a.program) for a, _ in made if a.program.idiom == idiom]
        told = " | ".join(f"{100 * share:.0f}" for share in shares(rules, facts).values())
        print(f"| {idiom} | {len(facts)} | {told} |")


def tell_plain(made: Sequence[tuple[Accepted, Row]]) -> None:
    """Print a line for each idiom: styles of plain CUDA, and what limits them by prediction."""
    print("\n| plain CUDA | styles | limits |\n|---|---|---|")
    for idiom in dict.fromkeys(row["idiom"] for _, row in made):
        schedules = [json.loads(row["schedule"]) for _, row in made if row["idiom"] == idiom]
        cells = (Counter(schedule[key] for schedule in schedules) for key in ("style", "limits"))
        told = (", ".join(f"{name} {n}" for name, n in c.most_common()) for c in cells)
        print(f"| {idiom} | {' | '.join(told)} |")


def run(rows: Sequence[Row]) -> None:
    """Run the CUDA texts on the host, and print what became of them."""
    with HostRunner(batch_size=64) as host:
        results = host.run(rows)
    print("run:", dict(Counter(r.status for r in results)))
    print("adjoint:", dict(Counter(str(r.adjoint) for r in results)))
    for row, result in zip(rows, results, strict=True):
        if result.status != "agrees":
            print(f"\n{result.status}: {result.reason}\n{row['python']}\n{row['reference']}")


def main(args: argparse.Namespace) -> None:
    maker = PairMaker(make_settings(verify="text"), Versions.installed())
    names = args.idioms or sorted(every_category()[args.category].idioms)
    made: list[tuple[Accepted, Row]] = []
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
                f"{dict(rejects.most_common()) or ''}",
                flush=True,
            )
            cell = list(zip(accepted, rows, strict=True))
            made += cell
            for one, row in cell[: args.show]:
                show(one, row, args.plain)
    if made:
        tell_facts(made)
        tell_plain(made)
    if args.run:
        run([row for _, row in made])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("category", choices=every_category())
    parser.add_argument("idioms", nargs="*")
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--level", type=int)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="with --show: plain CUDA as well")
    parser.add_argument("--run", action="store_true")
    asked = parser.parse_args()
    if unknown := set(asked.idioms) - set(every_category()[asked.category].idioms):
        parser.error(f"{asked.category} has no idiom {min(unknown)!r}")
    main(asked)
