"""Python's garbage collector, told what this work is like.

Making rows allocates many small objects that live for one row, beside the many that Warp's import
made and that never die. With Python's own thresholds the collector walks the latter over and over:
measured, 15 % of the time of a row.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (20_000, 20, 20)


def keep_what_is_there() -> None:
    """Take all objects that live now out of later collections; call it after heavy imports."""
    gc.collect()
    gc.freeze()


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Collect less often inside the block; the thresholds of before come back after it."""
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
