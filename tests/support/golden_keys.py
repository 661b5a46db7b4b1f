"""Rename keys of the first draws of every idiom at every level, as `tests/data` pins them.

Run: python tests/support/golden_keys.py  rewrites the pinned file, for a change of programs that is
meant; a refactoring must leave it as it is.
"""

from __future__ import annotations

import json
from pathlib import Path

from generators import every_category
from generators.build.draw import Draw, Reject
from generators.build.registry import LEVELS
from generators.program.keys import program_keys

FILE = Path(__file__).resolve().parent.parent / "data" / "golden_keys.json"
DRAWS = 2


def drawn_keys(category: str, idiom: str, level: int) -> str:
    """The keys of the first draws, or why one was rejected, separated by blanks."""
    keys = []
    for index in range(DRAWS):
        draw = Draw(0, f"{category}/{idiom}/{level}", index, 0)
        try:
            program = every_category()[category].draw_idiom(idiom, draw, level)
        except Reject as reject:
            keys.append(f"reject:{reject.reason}")
        else:
            keys.append(program_keys(program).rename)
    return " ".join(keys)


def all_keys() -> dict[str, str]:
    """Keys by ``category/idiom/level``."""
    return {
        f"{name}/{idiom}/{level}": drawn_keys(name, idiom, level)
        for name, category in every_category().items()
        for idiom in sorted(category.idioms)
        for level in LEVELS
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(all_keys(), indent=0) + "\n")
