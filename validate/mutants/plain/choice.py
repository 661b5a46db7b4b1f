"""Mutants that take a loop's vectors less often, which change how fast a text is and nothing else.

`step = first % 4 == 0 && c + 4 <= n ? 4 : 1;` picks, element by element, between a part that takes
four and one that takes one. Which elements start a vector depends on where their row starts, so
the part of one has to be right for any element: a text that takes it wherever the row's does and
elsewhere too is right as well. A text that takes vectors where the row's does not is no such one.
"""

from __future__ import annotations

import re

from validate.mutants.warp.draw import Mutant

_CHOICE = re.compile(r"(\w+) = (\w+) % (\d+) == 0 && (\w+) \+ \3 <= ([\w.]+) \? \3 : 1;")


def only_narrows(mutant: Mutant) -> bool:
    """Whether a mutant of such a choice takes a vector only where the row's text does."""
    found = _CHOICE.fullmatch(mutant.before)
    if found is None:
        return False
    step, first, width, at, end = found.groups()
    never = f"{step} = 1;"
    # A width is no multiple of nothing: `4 == 0` never holds.
    left_out = f"{step} = {width} == 0 && {at} + {width} <= {end} ? {width} : 1;"
    tests = (
        rf"{step} = {first} % {width} == 0 && {at} \+ (\d+) (<=?) {re.escape(end)} \? {width} : 1;"
    )
    later = re.fullmatch(tests, mutant.after)
    return mutant.after in (never, left_out) or (later is not None and int(later[1]) >= int(width))
