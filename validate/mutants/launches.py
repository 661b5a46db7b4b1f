"""Wrong launches of a right text: grids, blocks and shared memory as people get them wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Launch = Mapping[str, Any]

_ROUNDED_UP = re.compile(r"\((.+) \+ (\d+)\) / (\d+)")
_MOST_THREADS = 1024


def launch_mutants(row: Mapping[str, Any]) -> list[tuple[str, list[Launch]]]:
    """Each wrong version of a row's launches with the name of its rule, in the rules' order; in
    each version one launch is another."""
    launches: Sequence[Launch] = row["plain_launch"] or ()
    return [
        (name, [*launches[:at], changed, *launches[at + 1 :]])
        for name, rule in _RULES.items()
        for at, launch in enumerate(launches)
        for changed in rule(launch)
    ]


def _grid_rounded_down(launch: Launch) -> Iterator[Launch]:
    """The last elements get no block."""
    for axis, extent in enumerate(launch["grid"]):
        match = _ROUNDED_UP.fullmatch(extent)
        if match and int(match[2]) + 1 == int(match[3]):
            inner = match[1] if re.fullmatch(r"\w+", match[1]) else f"({match[1]})"
            yield _with(launch, "grid", axis, f"{inner} / {match[3]}")


def _block_halved(launch: Launch) -> Iterator[Launch]:
    """Half of the threads that the grid counts on."""
    for axis, extent in enumerate(launch["block"]):
        if extent > 1 and extent % 2 == 0:
            yield _with(launch, "block", axis, extent // 2)


def _block_doubled(launch: Launch) -> Iterator[Launch]:
    """Twice the threads that the text has room for."""
    total = 1
    for extent in launch["block"]:
        total *= extent
    if 2 * total <= _MOST_THREADS:
        yield _with(launch, "block", 0, 2 * launch["block"][0])


def _grid_axes_swapped(launch: Launch) -> Iterator[Launch]:
    if len(launch["grid"]) > 1 and launch["grid"][0] != launch["grid"][1]:
        first, second, *rest = launch["grid"]
        yield {**launch, "grid": [second, first, *rest]}


def _shared_bytes_left_out(launch: Launch) -> Iterator[Launch]:
    if launch.get("shared_bytes"):
        yield {**launch, "shared_bytes": 0}


def _with(launch: Launch, key: str, axis: int, value: Any) -> Launch:
    listed = list(launch[key])
    listed[axis] = value
    return {**launch, key: listed}


_RULES: dict[str, Callable[[Launch], Iterator[Launch]]] = {
    "grid_rounded_down": _grid_rounded_down,
    "block_halved": _block_halved,
    "block_doubled": _block_doubled,
    "grid_axes_swapped": _grid_axes_swapped,
    "shared_bytes_left_out": _shared_bytes_left_out,
}
LAUNCH_OPERATORS: tuple[str, ...] = tuple(_RULES)
