"""Kernels of tiles: a block of threads for each place of the launch, not a thread."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

_BOUNDS = re.compile(r"\bwp::launch_bounds_t<(\d+)>")
_BLOCK = re.compile(r"^(#define WP_TILE_BLOCK_DIM) \d+$", re.MULTILINE)

Extent = TypeVar("Extent")


def is_tiled(row: Mapping[str, Any]) -> bool:
    """Whether the last extent of a row's launch is its block, so that the kernel asks for a place
    of one dimension less, the same for all threads of a block."""
    dim, found = row["launch"]["dim"], _BOUNDS.search(row["cuda_forward"])
    inner = found is not None and int(found[1]) == len(dim) - 1
    return inner and dim[-1] == str(row["launch"]["block_dim"])


def places(row: Mapping[str, Any], dim: Sequence[Extent]) -> Sequence[Extent]:
    """A launch's dim without the threads of a block, where the row is one of tiles."""
    return dim[:-1] if is_tiled(row) else dim


def with_blocks_of_one(prologue: str) -> str:
    """A prologue for which one thread does what a block does: as Warp has it on CPUs."""
    return _BLOCK.sub(r"\1 1", prologue)
