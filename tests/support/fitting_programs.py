"""Programs that have a form in a style of plain CUDA."""

from __future__ import annotations

from drawn_programs import accepted_draw, programs_of_all_levels
from sweeps import is_whole

from synth.render.cuda.choose import schedules_of
from synth.rows.maker import Accepted

MOST, FEWEST = 10 if is_whole() else 6, 5
SEEDS = range(7, 20)
"""Of further draws, where too few of the first have a form."""


def fitting_in(style: str, all_accepted: list[Accepted]) -> list[Accepted]:
    """Programs that have a form in a style, evenly over all; where that makes too few, draws of all
    idioms and levels that have had one."""
    fitting = [a for a in all_accepted if style in schedules_of(a.program)]
    if len(fitting) >= FEWEST:
        return fitting[:: max(1, len(fitting) // MOST)][:MOST]
    places = [
        (p.category, p.idiom, p.level) for p in programs_of_all_levels() if style in schedules_of(p)
    ]
    for seed in SEEDS:
        if len(fitting) >= FEWEST:
            break
        again = [accepted_draw(*place, seed=seed) for place in places]
        fitting += [a for a in again if style in schedules_of(a.program)]
    return fitting[:: max(1, len(fitting) // MOST)][:MOST]
