"""How varied each idiom is at each level: the chance that two draws are equal up to names.

Run: PYTHONPATH=. python scripts/measure/rows/variety.py [DRAWS] [CATEGORY ...]. Draws that many
programs for each idiom and level, without gates, and prints the share of pairs with equal rename
keys and with equal structure keys, worst first. Two seeds share about (rows in a cell) x (that
share) of a cell's rows.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable

from generators import categories
from generators.build.draw import Draw, Reject
from generators.build.registry import LEVELS
from generators.program.keys import program_keys


def equal_pairs(keys: Iterable[str]) -> float:
    """Share of all pairs that are equal."""
    counts = Counter(keys)
    total = sum(counts.values())
    return sum(c * (c - 1) for c in counts.values()) / (total * (total - 1))


def main(draws: int, names: list[str]) -> None:
    found = []
    for name in names:
        category = categories()[name]
        for idiom in sorted(category.idioms):
            for level in LEVELS:
                keys = []
                for index in range(draws):
                    try:
                        program = category.draw_idiom(idiom, Draw(0, name, index, level), level)
                    except Reject:
                        continue
                    keys.append(program_keys(program))
                renames = equal_pairs(k.rename for k in keys)
                structures = equal_pairs(k.structure for k in keys)
                found.append((renames, structures, f"{name}/{idiom} level {level}"))
    mean = sum(renames for renames, _, _ in found) / len(found)
    print(f"equal pairs over {len(found)} cells: {mean:.5f} up to names")
    for renames, structures, cell in sorted(found, reverse=True):
        if renames > 0.0005:
            print(f"{renames:8.5f} up to names {structures:8.5f} up to literals  {cell}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("draws", nargs="?", type=int, default=200)
    parser.add_argument("categories", nargs="*")
    asked = parser.parse_args()
    main(asked.draws, asked.categories or list(categories()))
