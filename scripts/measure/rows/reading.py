"""A sheet of rows for a reader who has not written them, and what the reader said of them.

    PYTHONPATH=. python scripts/measure/rows/reading.py sheet OUT SHEET [--salt S]
        [--beside HARVESTED]
    PYTHONPATH=. python scripts/measure/rows/reading.py table SHEET VERDICTS

`sheet` takes two rows of each category and level of the dataset OUT, of idioms that differ, by the
hash of SALT and id: description, sizes in use, Python. With `--beside`, half as many kernels that
people wrote, rows of `pairsmith harvest`, are mixed in, and then the sheet holds Python alone, all
in one layout, without docstrings and comments: so that a reader's strictness is known. Which row is
what goes to SHEET.json. VERDICTS has a line for each row, its number and `believable`, `doubtful`
or `bad` first.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from scripts.measure.training.table import wilson
from synth.dataset.stored import stored_rows

VERDICTS = ("believable", "doubtful", "bad")
PER_CELL = 2
PEOPLE = "people"
LONGEST = 80
"""Lines of a kernel that people wrote, at most: about as long as ours get."""
_VERDICT = re.compile(rf"^\W*(\d+)\W+({'|'.join(VERDICTS)})\b", re.IGNORECASE)

Row = dict[str, Any]


def _order(salt: str, row: Row) -> str:
    return sha256(f"{salt}/{row['id']}".encode()).hexdigest()


def picked(rows: Iterable[Row], salt: str) -> list[Row]:
    """Two rows a category and level, no idiom twice in a category where that can be."""
    cells: defaultdict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: _order(salt, row)):
        cells[row["category"], row["level"]].append(row)
    found: list[Row] = []
    for (category, _), members in sorted(cells.items()):
        used = {row["idiom"] for row in found if row["category"] == category}
        fresh = {row["idiom"]: row for row in reversed(members) if row["idiom"] not in used}
        first = [row for row in members if fresh.get(row["idiom"]) is row]
        found += (first + [row for row in members if row not in first])[:PER_CELL]
    return found


def of_people(rows: Iterable[Row], salt: str, count: int) -> list[Row]:
    """Kernels that people wrote, not longer than ours get, no two of one name."""
    named = {
        row["kernel_name"]: row
        for row in rows
        if 4 <= len(plain_layout(row["python"]).splitlines()) <= LONGEST
    }
    return sorted(named.values(), key=lambda row: _order(salt, row))[:count]


def plain_layout(python: str) -> str:
    """A text without docstrings and comments, as `ast.unparse` lays it out."""
    tree = ast.parse(python)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _in_use(row: Row) -> str:
    ranges = (
        f"{r['symbol']} {r['low']}" + (f" to {r['high']}" if r["high"] != r["low"] else "")
        for r in row["regime"] or ()
    )
    return ", ".join(ranges)


def sheet(rows: Sequence[Row], bare: bool) -> Iterator[str]:
    """The pieces of a sheet, one a row."""
    for number, row in enumerate(rows, 1):
        if bare:
            yield f"## {number}\n\n```python\n{plain_layout(row['python'])}\n```\n"
            continue
        dim = ", ".join(map(str, row["launch"]["dim"]))
        said = f"{row['description']}\n\nSizes in use: {_in_use(row)}. Launch dim: {dim}."
        yield f"## {number}\n\n{said}\n\n```python\n{row['python']}\n```\n"


def write_sheet(options: argparse.Namespace) -> None:
    ours = picked((row for _, row in stored_rows(options.out)), options.salt)
    rows = [row | {"of": "pairsmith"} for row in ours]
    if options.beside:
        written = (row for _, row in stored_rows(options.beside))
        others = of_people(written, options.salt, len(ours) // 2)
        rows += [row | {"of": PEOPLE} for row in others]
        rows.sort(key=lambda row: _order("mixed" + options.salt, row))
    options.sheet.write_text("\n".join(sheet(rows, bare=options.beside is not None)))
    names = ("id", "category", "idiom", "level", "kernel_name", "of")
    key = [{name: row[name] for name in names} for row in rows]
    Path(f"{options.sheet}.json").write_text(json.dumps(key, indent=1) + "\n")
    print(f"{len(rows)} rows, {len(ours)} of them ours")


def verdicts_in(text: str) -> dict[int, str]:
    """The verdict of each number; the last one where a number comes twice."""
    found = (_VERDICT.match(line) for line in text.splitlines())
    return {int(m[1]): m[2].lower() for m in found if m}


def table(key: Sequence[Row], said: dict[int, str]) -> Iterator[str]:
    """Lines of a table: all, by category and by level; those of people apart."""
    groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for number, row in enumerate(key, 1):
        if row["of"] == PEOPLE:
            groups[PEOPLE][said[number]] += 1
            continue
        for group in ("all ours", row["category"], f"level {row['level']}"):
            groups[group][said[number]] += 1
    yield f"| rows | {' | '.join(VERDICTS)} | share believable | 95 % interval |"
    yield "|---|--:|--:|--:|--:|--:|"
    for group, counts in groups.items():
        good, total = counts["believable"], counts.total()
        low, high = (f"{100 * end:.0f}" for end in wilson(good, total))
        cells = " | ".join(str(counts[verdict]) for verdict in VERDICTS)
        yield f"| {group} | {cells} | {100 * good / total:.0f} % | {low} to {high} % |"


def write_table(options: argparse.Namespace) -> None:
    key = json.loads(Path(f"{options.sheet}.json").read_text())
    said = verdicts_in(options.verdicts.read_text())
    missing = [number for number in range(1, len(key) + 1) if number not in said]
    if missing:
        raise SystemExit(f"no verdict of {', '.join(map(str, missing))} in {options.verdicts}")
    print("\n".join(table(key, said)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("sheet")
    making.add_argument("out", type=Path)
    making.add_argument("sheet", type=Path)
    making.add_argument("--salt", default="0")
    making.add_argument("--beside", type=Path)
    making.set_defaults(run=write_sheet)
    telling = commands.add_parser("table")
    telling.add_argument("sheet", type=Path)
    telling.add_argument("verdicts", type=Path)
    telling.set_defaults(run=write_table)
    given = parser.parse_args()
    given.run(given)
