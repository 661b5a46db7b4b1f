"""Launch a loaded plain kernel on the host, over the grid that `plain_launch` asks for."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from validate.host import clang
from validate.host.launch import BadRow, Endless
from validate.host.plain_link import Layout
from validate.host.plain_memory import PlainWatch
from validate.row.archs import most_shared_bytes
from validate.row.inputs import Array
from validate.text import plain as plain_unit
from validate.text.formula import evaluate
from validate.text.launches import Launch, launches_of, listed

ORDERS = ("in order", "backwards", "mixed")
"""Orders in which threads and blocks take turns."""

MOST_THREADS = 1024
_WARP = 32
_MOST_BLOCK = (1024, 1024, 64)
_MOST_GRID = ((1 << 31) - 1, 65535, 65535)
MOST_LAUNCHED = 1 << 24
# By `stop_t` of place.h.
_MEETINGS = {
    2: "threads of a block meet at different places",
    3: "a thread has left while others wait for it",
    4: "a lane that does not take part is asked for its value",
    5: "threads wait for each other for ever",
    6: "threads meet where the text does not show it",
}
_UNDEFINED = {
    8: "an access at an address that is no multiple of its alignment",
    9: "an index past the end of an array",
    10: "a shift by as many bits as the type has, or more",
    11: "a float that the integer type cannot hold is converted to it",
    12: "a whole number is divided by zero",
    13: "a function that must return a value comes to its end",
}
SMALL_BLOCK, SMALL_GRID = (2, 3, 4), 3
"""Threads of small blocks along each axis; blocks along an axis that a loop strides along."""
_OF_BLOCK = re.compile(r"__shared__|__syncthreads|__launch_bounds__\(32\)")
_ENDLESS, _TRAPPED, _TOO_COSTLY = 1, 7, 14
_RANGE = np.dtype(
    [(n, np.uint64) for n in ("first", "size", "inside", "written", "words", "parts", "count")]
)
_LAUNCH = np.dtype(
    [
        ("grid", np.uint32, (3,)),
        ("block", np.uint32, (3,)),
        ("order", np.int32),
        ("meets", np.int32),
        ("asked", np.uint64),
        ("shared", _RANGE),
        ("variables", _RANGE, (3,)),
        *[(name, np.uint64) for name in ("unasked", "unasked_end", "object", "object_end")],
        *[(name, np.uint64) for name in ("most_steps", "steps")],
        ("stopped", np.uint32),
        ("stopped_thread", np.uint32),
        ("stopped_site", np.int32),
        ("branch_count", np.uint32),
        ("branches", np.uint64),
    ],
    align=True,
)
MOST_BRANCHES = 1024
BRANCH = np.dtype(
    [
        ("place", np.uint64),
        *[(name, np.int64) for name in ("least", "most", "other_least", "other_most")],
        *[(name, np.uint64) for name in ("sum", "count")],
    ]
)
"""`branch_t` of branches.h: what a comparison of whole numbers compared in a launch."""
_CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class BadMeeting(Exception):  # noqa: N818 - a result of a check, not an error of ours
    """Threads of a block do not come together at a barrier or a shuffle."""


class Undefined(Exception):  # noqa: N818 - as above
    """A thread does what C++ leaves open: a device may do something else than this machine."""


class Trapped(Exception):  # noqa: N818 - as above
    """A thread ended the kernel: `__trap`, or a failed `assert`."""


class TooCostly(Exception):  # noqa: N818 - as above
    """A launch took more steps than its `most_steps`."""


@dataclass(frozen=True)
class PlainEntry:
    """Addresses of what `validate.text.plain_host` makes for one kernel: the function that launches
    it, and what it takes (`signature_t` of call.h).

    `meets`: whether its threads may wait for each other; `span` is the memory of its object.
    """

    call: int
    signature: int
    meets: bool
    layout: Layout
    span: tuple[int, int]


@dataclass(frozen=True)
class Grid:
    """Blocks, and threads of a block, along x, y and z, and bytes of dynamic shared memory."""

    grid: list[int]
    block: list[int]
    shared_bytes: int = 0


def load_plain(
    handle: str, position: int, meets: bool, layout: Layout, kernel: int = 0
) -> PlainEntry:
    """A kernel of a loaded object, by the place of its row and its own among those launched.

    Raises clang.LoadError when it is not there.
    """
    call = clang.lookup(handle, f"pairsmith_plain_{position}_{kernel}")
    signature = clang.lookup(handle, f"pairsmith_plain_signature_{position}_{kernel}")
    return PlainEntry(call, signature, meets, layout, _span(call))


def load_all(
    handle: str, position: int, row: Mapping[str, Any], layout: Layout
) -> list[PlainEntry]:
    """All kernels of a row that are launched. Raises clang.LoadError when one is not there."""
    meets, count = plain_unit.meets(row["cuda_plain"]), len(plain_unit.launched(row))
    return [load_plain(handle, position, meets, layout, number) for number in range(count)]


def _span(address: int) -> tuple[int, int]:
    """The mappings of memory around an address that follow one another without a hole."""
    found, last = (address, address), (0, 0)
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, end = (int(number, 16) for number in line.split(" ", 1)[0].split("-"))
        last = (last[0], end) if first == last[1] else (first, end)
        if last[0] <= address < last[1]:
            found = last
    return found


def grid_of(launch: Launch, sizes: Mapping[str, int], most_threads: int = MOST_LAUNCHED) -> Grid:
    """The grid, block and shared memory of a launch at given sizes, of at most so many threads.

    Its entries are whole numbers or C formulas over the sizes. Raises ValueError for one that has
    no value, and for what no device can launch.
    """
    grid = [evaluate(formula, sizes) for formula in launch.grid]
    block = [evaluate(formula, sizes) for formula in launch.block]
    shared = evaluate(launch.shared_bytes, sizes)
    threads = prod(block)
    if not 1 <= threads <= MOST_THREADS or min([*grid, *block]) < 1:
        raise ValueError(f"grid {grid} of blocks {block} cannot be launched")
    for what, found, most in (("grid", grid, _MOST_GRID), ("block", block, _MOST_BLOCK)):
        if any(size > limit for size, limit in zip(found, most, strict=False)):
            raise ValueError(f"{what} {found}: a device takes {list(most)} at most")
    allowed = most_shared_bytes(launch.opt_in)
    if not 0 <= shared <= allowed:
        raise ValueError(f"shared_bytes is not between 0 and {allowed}: {shared}")
    if threads * prod(grid) > most_threads:
        raise ValueError(f"grid {grid} of blocks {block} has more than {most_threads} threads")
    return Grid([*grid, 1, 1][:3], [*block, 1, 1][:3], shared)


def fits_small_blocks(row: Mapping[str, Any]) -> bool:
    """Whether a text of ours means the same in smaller blocks: it asks for the size of its block,
    no threads meet, and no other launch counts on the number of blocks."""
    alone = len(listed(row["plain_launch"])) == 1 and not plain_unit.meets(row["cuda_plain"])
    return alone and "blockDim" in row["cuda_plain"]


def shuffles_in_small_blocks(row: Mapping[str, Any]) -> bool:
    """As `fits_small_blocks`, for texts too whose threads meet within a warp and not beyond."""
    (launch, *more) = launches_of(row)
    within = not _OF_BLOCK.search(row["cuda_plain"]) and sum(int(b) > 1 for b in launch.block) == 1
    meets = plain_unit.meets(row["cuda_plain"])
    return not more and "blockDim" in row["cuda_plain"] and (within or not meets)


def in_small_blocks(grid: Grid, text: str) -> Grid:
    """The same threads in blocks of two along x, three along y and four along z; three of them
    along an axis that a loop over the grid strides along.

    For texts that ask for the size of their block, along the axes of which they ask: several
    blocks, and several turns, at shapes that are smaller than a usual block. Blocks whose threads
    meet keep a warp along x.
    """
    small_block = (_WARP, 1, 1) if plain_unit.meets(text) else SMALL_BLOCK
    block = [
        small if f"blockDim.{axis}" in text else size
        for axis, size, small in zip("xyz", grid.block, small_block, strict=True)
    ]
    pairs = zip("xyz", grid.grid, grid.block, block, strict=True)
    blocks = [
        SMALL_GRID
        if f"gridDim.{axis}" in text
        else -(-number * size // small)
        if f"blockDim.{axis}" in text and f"= blockIdx.{axis};" not in text
        else number
        for axis, number, size, small in pairs
    ]
    return Grid(blocks, block, grid.shared_bytes)


@dataclass
class Effort:
    """What a launch took: steps (basic blocks run by all threads), and what its comparisons of
    whole numbers compared (records of BRANCH; empty when they were not asked for)."""

    steps: int = 0
    branches: Array | None = None

    def add(self, other: Effort) -> None:
        """Count what another launch of the same text took as well."""
        self.steps += other.steps
        parts = [part for part in (self.branches, other.branches) if part is not None]
        self.branches = np.concatenate(parts) if parts else None


def launch_plain(
    entry: PlainEntry,
    grid: Grid,
    values: Sequence[Array],
    order: int,
    watch: PlainWatch | None,
    effort: Effort | None = None,
    most_steps: int = 0,
    turns: bool = False,
) -> None:
    """Call a kernel for every thread of a grid, in this process: it may crash it.

    `watch` None: accesses are not looked at. `most_steps` 0: no limit over all threads.
    `turns`: threads of a block take turns before each atomic access too.
    Raises Endless, BadMeeting, Undefined, Trapped and TooCostly when it does not come to its end.
    """
    record = np.zeros((), _LAUNCH)
    record["grid"], record["block"] = grid.grid, grid.block
    record["order"], record["meets"] = order, 2 if turns else entry.meets
    record["asked"] = grid.shared_bytes
    record["object"], record["object_end"] = entry.span
    record["most_steps"] = most_steps
    insides = [inside.ctypes.data for inside in entry.layout.inside]
    record["shared"]["inside"], record["variables"]["inside"] = insides[0], insides[1:]
    branches = np.zeros(MOST_BRANCHES, BRANCH)
    if effort is not None:
        record["branches"] = branches.ctypes.data
    addresses = (ctypes.c_void_p * max(1, len(values)))(*[v.ctypes.data for v in values])
    watched = None if watch is None else watch.record.ctypes.data
    _CALL(entry.call)(ctypes.addressof(addresses), record.ctypes.data, watched)
    if effort is not None:
        effort.steps = int(record["steps"])
        effort.branches = branches[branches["place"] != 0]
    _raise_stop(record)


def _raise_stop(record: Array) -> None:
    stopped, thread = int(record["stopped"]), f"(thread {record['stopped_thread']})"
    if stopped == _ENDLESS:
        raise Endless("a thread runs without end")
    if stopped == _TOO_COSTLY:
        raise TooCostly(f"{record['steps']} steps")
    if stopped == _TRAPPED:
        raise Trapped(f"a thread ends the kernel, as by a failed assert {thread}")
    if stopped in _MEETINGS:
        raise BadMeeting(f"{_MEETINGS[stopped]} {thread}")
    if stopped:
        raise Undefined(f"{_UNDEFINED[stopped]} {thread}")


def check_signature(entry: PlainEntry, values: Sequence[Array], pointed: Sequence[int]) -> None:
    """Compare what a kernel takes with what it is about to be given. Raises BadRow.

    `pointed` has the bytes of an element for each pointer and 0 for values.
    """
    count = ctypes.c_uint32.from_address(entry.signature).value
    if count != len(values):
        raise BadRow(f"the kernel takes {count} parameters, the row has {len(values)}")
    signature = (ctypes.c_uint32 * (1 + 3 * count)).from_address(entry.signature)
    for position, (value, element) in enumerate(zip(values, pointed, strict=True)):
        size, to, _ = signature[1 + 3 * position : 4 + 3 * position]
        if size != value.nbytes or to != element:
            raise BadRow(
                f"parameter {position}: {size} bytes to elements of {to} in the kernel, "
                f"{value.nbytes} to {element} in the row"
            )
