"""GPU architectures that rows can be compiled for, and rows in batches for a compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

ARCHS: tuple[str, ...] = (
    "sm_75",
    "sm_80",
    "sm_86",
    "sm_87",
    "sm_88",
    "sm_89",
    "sm_90",
    "sm_100",
    "sm_103",
    "sm_110",
    "sm_120",
    "sm_121",
)
DEFAULT_ARCH = "sm_90"
WARPGROUP_ARCH = "sm_90a"
"""sm_90 with what no later one has: products of warpgroups."""
OWN_ARCHS = {WARPGROUP_ARCH: "sm_90"}
"""Architectures with features of their own, which rows are not compiled for; and the plain ones
that their devices are."""

MOST_SHARED_BYTES = 49152
"""Shared memory of a block, static and dynamic, on every architecture without opting in."""

MOST_OPT_IN_SHARED_BYTES = 166912
"""Dynamic shared memory that a launch can opt into on sm_80, sm_87, sm_90 and sm_100: 163 KiB."""

MOST_SM_90_SHARED_BYTES = 232448
"""The same on sm_90 and sm_100 alone: 227 KiB."""

ALWAYS_FIT_THREADS = 256
"""Threads of a block for which there are always registers: 65,536 of a block, 255 of a thread at
most, on every architecture."""


def most_shared_bytes(opt_in: object) -> int:
    """Dynamic shared memory of a launch by its `opt_in`: True, "sm_90", or anything else: none."""
    if opt_in == "sm_90":
        return MOST_SM_90_SHARED_BYTES
    return MOST_OPT_IN_SHARED_BYTES if opt_in is True else MOST_SHARED_BYTES


def check_archs(names: Sequence[str], own: bool = False) -> tuple[str, ...]:
    """The names in numerical order, without repeats; with `own` those of OWN_ARCHS may be among
    them, and come last.

    Raises ValueError, in one line that lists the known ones, for an unknown name or none at all.
    """
    archs = (*ARCHS, *OWN_ARCHS) if own else ARCHS
    known = f"known are {' '.join(archs)}"
    if not names:
        raise ValueError(f"no architecture named; {known}")
    for name in names:
        if name not in archs:
            raise ValueError(f"unknown architecture {name!r}; {known}")
    return tuple(arch for arch in archs if arch in names)


def batches(
    rows: Sequence[Mapping[str, Any]],
    size: int,
    kind: Callable[[Mapping[str, Any]], object] = lambda _row: None,
) -> Iterator[list[int]]:
    """Positions in batches of at most `size`; rows of one batch share their `cuda_prologue` and
    are of one kind."""
    groups: dict[tuple[str, object], list[int]] = {}
    for position, row in enumerate(rows):
        groups.setdefault((row["cuda_prologue"], kind(row)), []).append(position)
    for positions in groups.values():
        for start in range(0, len(positions), size):
            yield positions[start : start + size]
