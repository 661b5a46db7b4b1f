"""Programs drawn for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from generators import categories
from generators.build.draw import Draw, Reject

if TYPE_CHECKING:
    from synth.rows.maker import Accepted

TRIES = 40


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
