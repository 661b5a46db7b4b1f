"""How many distinct structures the draws of each idiom have at each level, also against a file.

Run: PYTHONPATH=. python scripts/measure/rows/distinct_structures.py FILE [--draws 100] [--against
OLD]. Draws that many programs a cell (an idiom at a level), before any gate, counts distinct
structure keys and writes the counts as JSON. OLD is such a file of other code: cells that lost more
than `--noise` are listed, and means by category are printed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import mean

from generators import categories
from generators.build.draw import Draw, Reject
from generators.build.registry import LEVELS
from generators.program.keys import program_keys


def distinct(category: str, idiom: str, level: int, draws: int) -> int:
    """Distinct structure keys among the first draws of a cell."""
    found, stream = set(), f"{category}/{idiom}/{level}"
    for index in range(draws):
        try:
            program = categories()[category].draw_idiom(idiom, Draw(1, stream, index, 0), level)
        except Reject:
            continue
        found.add(program_keys(program).structure)
    return len(found)


def compare(now: dict[str, int], old: dict[str, int], noise: int) -> None:
    """Print means by category and the cells that lost more than the noise."""
    for name in categories():
        cells = [cell for cell in now if cell.startswith(f"{name}/") and cell in old]
        before, after = mean(old[c] for c in cells), mean(now[c] for c in cells)
        more = sum(now[c] - old[c] > noise for c in cells)
        fewer = [c for c in cells if now[c] - old[c] < -noise]
        print(f"{name}: {len(cells)} cells, {before:.1f} before, {after:.1f} now, more in {more}")
        for cell in fewer:
            print(f"  {cell}: {old[cell]} before, {now[cell]} now")
    print("not there any more:", sorted(set(old) - set(now)) or "none")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--noise", type=int, default=4)
    asked = parser.parse_args()
    counts = {
        f"{name}/{idiom}/{level}": distinct(name, idiom, level, asked.draws)
        for name, category in categories().items()
        for idiom in sorted(category.idioms)
        for level in LEVELS
    }
    asked.file.write_text(json.dumps(counts, indent=0) + "\n")
    if asked.against:
        compare(counts, json.loads(asked.against.read_text()), asked.noise)
