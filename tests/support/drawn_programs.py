"""Programs drawn for tests."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from generators import categories
from generators.build.draw import Draw, Reject
from generators.build.registry import LEVELS
from generators.program.ir import Program

if TYPE_CHECKING:
    from synth.rows.maker import Accepted
    from synth.views.layout import Choice

TRIES = 40


@cache
def programs_of_all_levels() -> tuple[Program, ...]:
    """One program for each idiom and level, as they are drawn: gates have not seen them."""
    found = []
    for name, category in categories().items():
        for idiom in sorted(category.idioms):
            for level in LEVELS:
                for attempt in range(TRIES):
                    try:
                        draw = Draw(7, name, level, attempt)
                        found.append(category.draw_idiom(idiom, draw, level))
                    except Reject:
                        continue
                    break
    return tuple(found)


def accepted_draw(category: str, idiom: str, level: int, seed: int = 7) -> Accepted:
    """The first draw of an idiom at a level that passes the gates."""
    from synth.rows.maker import accept

    reasons = []
    for attempt in range(TRIES):
        draw = Draw(seed, category, level, attempt)
        try:
            program = categories()[category].draw_idiom(idiom, draw, level)
            return accept(program, level, attempt)
        except Reject as reject:
            reasons.append(str(reject))
    raise AssertionError(f"{category}/{idiom} level {level} never passes: {reasons}")


def drawn_choice(category: str, idiom: str, level: int, size: int = 0) -> Choice:
    """The layouts of a drawn program at the middle of its sizes in use, or with ``size`` for all
    of them."""
    from synth.render.cuda.choose import candidates_of
    from synth.render.cuda.regime import middle_sizes
    from synth.views.layout import Choice

    program = accepted_draw(category, idiom, level).program
    sizes = middle_sizes(program)
    if size:
        sizes = dict.fromkeys(sizes, size)
    listed = candidates_of(program, sizes)
    return Choice(program, listed[0], listed, sizes)
