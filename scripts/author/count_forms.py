"""Count how many forms each idiom has at each level, which decides how often it is drawn.

Run: PYTHONPATH=. python scripts/author/count_forms.py [--processes 2]. Draws
`generators.build.registry.FORMS_DRAWN` programs of each cell (an idiom at a level), without gates,
and writes to `generators/build/forms.json` how many of them a dataset would take: those that are
equal to no earlier one of their idiom up to names, with at most so many of one structure. Run it
after idioms were added or changed; an idiom that is not in the file counts as one without repeats.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from generators import every_category
from generators.build.draw import Draw, Reject
from generators.build.registry import FORMS, FORMS_DRAWN, LEVELS
from generators.program.keys import program_keys
from synth.dataset.settings import STRUCTURE_CAP

SEED = 77


def idiom_forms(place: tuple[str, str]) -> list[int]:
    """At each level: draws of an idiom that a dataset would take, in which levels come in turn; one
    that the idiom itself rejects counts so."""
    category, idiom = place
    seen: set[str] = set()
    held: Counter[str] = Counter()
    taken = [0] * len(LEVELS)
    for index in range(FORMS_DRAWN):
        for at, level in enumerate(LEVELS):
            draw = Draw(SEED, f"{category}/{idiom}/{level}", index, 0)
            try:
                program = every_category()[category].draw_idiom(idiom, draw, level)
            except Reject:
                taken[at] += 1
                continue
            keys = program_keys(program)
            if keys.rename not in seen and held[keys.structure] < STRUCTURE_CAP:
                seen.add(keys.rename)
                held[keys.structure] += 1
                taken[at] += 1
    return taken


def main(processes: int) -> None:
    places = [(name, idiom) for name, c in every_category().items() for idiom in sorted(c.idioms)]
    with ProcessPoolExecutor(processes) as pool:
        found = list(pool.map(idiom_forms, places, chunksize=4))
    lines = [
        f"{json.dumps('/'.join(place))}: {json.dumps(counts)}"
        for place, counts in zip(places, found, strict=True)
    ]
    FORMS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    drawn = FORMS_DRAWN * len(LEVELS) * len(places)
    print(
        f"{len(places)} idioms: {sum(map(sum, found)) / drawn:.1%} of {drawn} draws are new forms"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=2)
    main(parser.parse_args().processes)
