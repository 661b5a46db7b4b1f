"""Prints random rows of a dataset for a reader: description and Python, over categories and levels.

Run: PYTHONPATH=. python scripts/author/print_rows.py OUT [--rows N] [--seed S] [--cuda]. Rows are
taken in turn from the categories, levels in turn from 1 to 5.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

from synth.dataset.stored import stored_rows


def chosen(out: Path, count: int, seed: int) -> list[dict[str, Any]]:
    """``count`` rows, categories and levels in turn."""
    cells: defaultdict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for _, row in stored_rows(out):
        cells[row["category"], row["level"]].append(row)
    draw = random.Random(seed)
    order = sorted(cells, key=lambda cell: (cell[1], cell[0]))
    return [draw.choice(cells[order[k % len(order)]]) for k in range(count)]


def main(args: argparse.Namespace) -> None:
    for number, row in enumerate(chosen(args.out, args.rows, args.seed), 1):
        print(f"### {number}. {row['category']}/{row['idiom']} level {row['level']} {row['id']}\n")
        print(f"{row['description']}\n\n{row['python']}")
        if args.cuda:
            print(row["cuda_forward"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cuda", action="store_true")
    main(parser.parse_args())
