"""Programs drawn for tests: of an idiom, of all, those with a form in a style of plain CUDA."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sweeps import is_whole

from generators import categories
from generators.build.draw import Draw, Reject
from generators.build.registry import LEVELS
from generators.program.ir import Program

if TYPE_CHECKING:
    from synth.render.cuda.schedule import Schedule
    from synth.rows.maker import Accepted
    from synth.views.layout import Choice

TRIES = 40
MOST, FEWEST = 10 if is_whole() else 5, 5
SEEDS = range(7, 20)
"""How many of a style, and at least; seeds of further draws, where too few have a form."""


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


def schedules_in(style: str, program: Program) -> list[Schedule]:
    """The schedules of a style that a program has; of those that have none no other style is
    asked."""
    from generators.program.joins import named
    from synth.render.cuda.choose import schedules_of
    from synth.render.cuda.find.owned import settled
    from synth.render.cuda.style import fitting

    prepared = named(settled(program))
    asked = fitting(prepared).get(style)
    if asked is None or not asked.schedules(prepared):
        return []
    return schedules_of(program).get(style, [])


def fitting_in(style: str, all_accepted: list[Accepted]) -> list[Accepted]:
    """Programs that have a form in a style, evenly over all; where that makes too few, draws of all
    idioms and levels that have had one."""
    fitting = [a for a in all_accepted if schedules_in(style, a.program)]
    if len(fitting) >= FEWEST:
        return fitting[:: max(1, len(fitting) // MOST)][:MOST]
    places = [
        (p.category, p.idiom, p.level) for p in programs_of_all_levels() if schedules_in(style, p)
    ]
    for seed in SEEDS:
        if len(fitting) >= FEWEST:
            break
        again = [accepted_draw(*place, seed=seed) for place in places]
        fitting += [a for a in again if schedules_in(style, a.program)]
    return fitting[:: max(1, len(fitting) // MOST)][:MOST]
