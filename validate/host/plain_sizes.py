"""Shapes at which plain CUDA is tried beyond the usual ones: past a block, a warp and a tile.

A row's own shapes are smaller than most blocks, so that a launch of them shows nothing of what
several blocks, or several turns of a loop that threads share out, do to one another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from validate.host.plain_steps import grids_of
from validate.row.sizes import symbols
from validate.text.launches import launches_of

_WARP = 32
# Threads that meet take a microsecond each, and some.
_MOST_THREADS = 30_000
_SMALL = (3, 2, 5, 4, 7, 6)
_QUOTIENT = re.compile(r".*\) / (\d+)", re.DOTALL)


def wide_sizes(row: Mapping[str, Any]) -> list[dict[str, int]]:
    """Shapes of more than one block and, one symbol at a time, of more turns than are shared out.

    None for a text whose threads do not meet: what one does is no other's business. The row needs
    `sizes`, `launch`, `plain_launch` and `cuda_plain`. Every shape respects `min` and
    `multiple_of`.
    """
    turns = _turns_at_once(row)
    if not turns:
        return []
    dims = [sorted(symbols(extent)) for extent in row["launch"]["dim"]]
    over = _over_blocks(dims, launches_of(row)[0].grid)
    # Threads that share out the elements of the launch share out no loop over them.
    launched = {name for names in dims for name in names} if _by_grid(row) else set()
    loops = [e["symbol"] for e in row["sizes"] if e["symbol"] not in launched]
    wanted = [over, *({s: turns + turns // 2 + 3} for s in loops if over.get(s, 0) <= turns)]
    shapes = [_shape(row["sizes"], large) for large in wanted if large]
    return [*shapes[:1], *(shape for shape in shapes[1:] if _threads(row, shape) <= _MOST_THREADS)]


def _over_blocks(dims: Sequence[Sequence[str]], grid: Sequence[str | int]) -> dict[str, int]:
    """Sizes that need two blocks along each axis of the grid."""
    found: dict[str, int] = {}
    for axis, (names, formula) in enumerate(zip(dims[::-1], grid, strict=False)):
        quotient = _QUOTIENT.fullmatch(str(formula))
        elements = int(quotient[1]) if quotient else 1
        for name in names[:1]:
            found.setdefault(name, elements + elements // 4 + 3 + 2 * axis)
    return found


def _turns_at_once(row: Mapping[str, Any]) -> int:
    """How many turns of a loop the threads of a warp or of a block take at once; 0: one."""
    if "__shared__" in row["cuda_plain"]:
        return int(launches_of(row)[0].block[0])
    return _WARP if "__shfl" in row["cuda_plain"] else 0


def _threads(row: Mapping[str, Any], shape: Mapping[str, int]) -> int:
    try:
        grids = grids_of(row, shape)
    except ValueError:
        return _MOST_THREADS + 1
    return sum(prod(grid.grid) * prod(grid.block) for grid in grids)


def _by_grid(row: Mapping[str, Any]) -> bool:
    return "gridDim" in row["cuda_plain"]


def _shape(entries: Sequence[Mapping[str, Any]], large: Mapping[str, int]) -> dict[str, int]:
    shape = {}
    for position, entry in enumerate(entries):
        size = large.get(entry["symbol"], _SMALL[position % len(_SMALL)])
        multiple = max(1, entry["multiple_of"])
        shape[entry["symbol"]] = -(-max(size, entry["min"]) // multiple) * multiple
    return shape
