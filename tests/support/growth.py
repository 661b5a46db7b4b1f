"""Whether work takes as much longer as its input is longer: time is linear."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_LEAST_S = 0.02
"""Shorter work is taken to last as long: clocks and caches say more of it than its input."""
_MORE_THAN_LINEAR = 5.0


def grows_with_its_input(work: Callable[[int], object], few: int, many: int) -> bool:
    """Whether ``work`` of a length spends no more processor time on ``many`` than a few times what
    it does on ``few``, for each of them: where lengths differ by a large factor, a square does."""
    assert many / few > 2.0 * _MORE_THAN_LINEAR, "a square would pass"
    spent_s = []
    was_collecting = gc.isenabled()
    # Other tests may have left much to look through.
    gc.disable()
    try:
        for length in (few, many):
            start_s = time.process_time()
            work(length)
            spent_s.append(time.process_time() - start_s)
    finally:
        if was_collecting:
            gc.enable()
    return spent_s[1] < _MORE_THAN_LINEAR * many / few * max(spent_s[0], _LEAST_S)
