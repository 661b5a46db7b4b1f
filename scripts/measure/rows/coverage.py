"""Which ideas a dataset covers: a table of its idioms, from its rows.

Run: PYTHONPATH=. python scripts/measure/rows/coverage.py OUT. For each idiom: its category and
family (the file or folder of `generators/` that it is written in), rows, the share of them with a
structure of their own (names and literals abstracted), rows of each level, and the share of its
rows in each style of plain CUDA. Then the same of families, and which idioms have no row.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from generators import categories
from generators.build.registry import LEVELS
from synth.dataset.stored import stored_rows
from synth.errors import SettingsError

UNKNOWN = "?"
"""The family of an idiom that this version has not."""


@dataclass
class Idea:
    """Rows of one idiom or one family, counted."""

    rows: int = 0
    structures: set[str] = field(default_factory=set)
    levels: Counter[int] = field(default_factory=Counter)
    styles: Counter[str] = field(default_factory=Counter)

    def add(self, other: Idea) -> None:
        self.rows += other.rows
        self.structures |= other.structures
        self.levels += other.levels
        self.styles += other.styles

    def cells(self) -> list[str]:
        styles = (f"{name} {100 * n / self.rows:.0f} %" for name, n in self.styles.most_common())
        levels = ", ".join(str(self.levels[level]) for level in LEVELS)
        distinct = 100 * len(self.structures) / self.rows
        return [str(self.rows), f"{distinct:.1f} %", levels, ", ".join(styles)]


HEADS = ("rows", "distinct", f"of levels {LEVELS[0]} to {LEVELS[-1]}", "plain CUDA")

Name = tuple[str, str]
"""A category and an idiom's name."""


def families() -> dict[Name, str]:
    """The family of each idiom of this version: the file below its category's folder."""
    return {
        (category, name): idiom.__module__.removeprefix(f"generators.{category}.")
        for category, found in categories().items()
        for name, idiom in found.idioms.items()
    }


def ideas_of(out: Path) -> dict[Name, Idea]:
    """Each idiom of a dataset, in order of category and name; harvested rows are of none.

    :class:`SettingsError` where there is no dataset.
    """
    found: dict[Name, Idea] = {}
    columns = ["category", "idiom", "level", "structure", "schedule"]
    for _, row in stored_rows(out, columns):
        if row["idiom"] is None:
            continue
        style = [json.loads(row["schedule"])["style"]] if row["schedule"] else []
        one = Idea(1, {row["structure"]}, Counter([row["level"]]), Counter(style))
        found.setdefault((row["category"], row["idiom"]), Idea()).add(one)
    return dict(sorted(found.items()))


def table(ideas: Mapping[Name, Idea]) -> Iterator[str]:
    """The page, line by line."""
    family = families()
    known = {name: family.get(name, UNKNOWN) for name in ideas}
    yield from _heads("category", "family", "idiom")
    for name in sorted(ideas, key=lambda name: (name[0], known[name], name[1])):
        yield _line(name[0], known[name], name[1], *ideas[name].cells())
    yield ""
    groups: dict[Name, list[Idea]] = {}
    for name, idea in ideas.items():
        groups.setdefault((name[0], known[name]), []).append(idea)
    yield from _heads("category", "family", "idioms")
    for (category, group), found in sorted(groups.items()):
        whole = Idea()
        for idea in found:
            whole.add(idea)
        yield _line(category, group, str(len(found)), *whole.cells())
    if missing := sorted("/".join(name) for name in set(family) - set(ideas)):
        yield f"\nNo row: {', '.join(missing)}"


def _heads(*first: str) -> Iterator[str]:
    yield _line(*first, *HEADS)
    yield f"|{'---|' * len(first)}{'--:|' * (len(HEADS) - 1)}---|"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    try:
        print(*table(ideas_of(parser.parse_args().out)), sep="\n")
    except SettingsError as error:
        print(f"coverage: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
