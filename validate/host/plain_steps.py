"""The launches of a row at one shape, in order: grids, and what each kernel is passed.

Between two launches all threads of the first have come to their end: whatever it wrote is there for
the second. Accesses of different launches are no race.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from validate.host.memory import Arena
from validate.host.plain_launch import (
    MOST_LAUNCHED,
    Effort,
    Grid,
    PlainEntry,
    TooCostly,
    check_signature,
    grid_of,
    launch_plain,
)
from validate.host.plain_memory import PlainWatch, plain_arrays, plain_parameters, struct_layout
from validate.row.dtypes import parse
from validate.row.inputs import Array, poison
from validate.text.formula import evaluate
from validate.text.launches import (
    FORMULA,
    kernels_of,
    launches_of,
    scratch_bytes,
    scratch_count,
    scratch_of,
)

Row = Mapping[str, Any]
Sizes = Mapping[str, int]
Address = Callable[[str], int]


@dataclass(frozen=True)
class Step:
    """One launch at a shape. `kernel` is a place in `kernels_of`, `values` are the parameters and
    `pointed` the bytes of an element for each pointer, 0 for values."""

    kernel: int
    grid: Grid
    values: list[Array]
    pointed: list[int]


def grids_of(row: Row, sizes: Sizes, most_threads: int = MOST_LAUNCHED) -> list[Grid]:
    """The grid of each launch. Raises ValueError for one that no device can make."""
    return [grid_of(launch, sizes, most_threads) for launch in launches_of(row)]


def steps_of(
    row: Row,
    sizes: Sizes,
    inputs: Mapping[str, Array],
    address: Address,
    grids: Sequence[Grid],
) -> list[Step]:
    """The launches of a row, whose arrays `address` finds by name.

    Raises ValueError for a size that the row does not have and a formula without a value.
    """
    given = plain_parameters(row, sizes, inputs, address)
    pointed = [element_bytes(arg) if arg["kind"] == "array" else 0 for arg in row["args"]]
    pointed += [0] * (len(given) - len(pointed))
    names = [arg["name"] for arg in row["plain_args"]]
    known = dict(zip(names, zip(given, pointed, strict=True), strict=True))
    for entry in scratch_of(row):
        value = np.array(address(_held(entry)), np.uint64)
        known[entry["name"]] = (value, scratch_bytes(entry))
    launches = launches_of(row)
    kernels = kernels_of(launches)
    steps = []
    for launch, grid in zip(launches, grids, strict=True):
        passed = [known[n] if n in known else (_whole(n, sizes), 0) for n in launch.args]
        values = [value for value, _ in passed]
        steps.append(Step(kernels.index(launch.kernel), grid, values, [of for _, of in passed]))
    return steps


def _whole(argument: str, sizes: Sizes) -> Array:
    value = evaluate(argument.removeprefix(FORMULA), sizes)
    if not -(1 << 31) <= value < 1 << 31:
        raise ValueError(f"{argument}: {value} is no int")
    return np.array(value, np.int32)


def _held(entry: Mapping[str, Any]) -> str:
    """What a scratch array is called beside the arguments, whose names it cannot have so."""
    return f"scratch {entry['name']}"


def memory_of(row: Row, sizes: Sizes, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """All arrays of a row as its plain text has them in memory, scratch ones behind the others.

    Raises ValueError for a count of scratch elements that cannot be.
    """
    found = plain_arrays(row["args"], inputs)
    for entry in scratch_of(row):
        dtype = parse(entry["dtype"])
        shape = (scratch_count(entry, sizes), *dtype.shape)
        scalar = np.dtype(dtype.scalar)
        zero = entry.get("init") == "zero"
        found[_held(entry)] = np.zeros(shape, scalar) if zero else poison(scalar, shape)
    return found


def watch_of(row: Row, arena: Arena) -> PlainWatch:
    """A watch over an arena of `memory_of`, which knows what nobody has written yet."""
    unwritten = [_held(entry) for entry in scratch_of(row) if entry.get("init") != "zero"]
    return PlainWatch(arena, unwritten)


def run_steps(
    entries: Sequence[PlainEntry],
    steps: Sequence[Step],
    order: int,
    watch: PlainWatch | None,
    effort: Effort | None = None,
    most_steps: int = 0,
    turns: bool = False,
) -> None:
    """Launch one after the other; see `launch_plain`, of which the limits are for all together.

    Raises BadRow before the first launch when a kernel takes other parameters.
    """
    for step in steps:
        check_signature(entries[step.kernel], step.values, step.pointed)
    taken = 0
    for step in steps:
        if most_steps and taken >= most_steps:
            raise TooCostly(f"{taken} steps")
        own = Effort()
        left = most_steps - taken if most_steps else 0
        launch_plain(
            entries[step.kernel],
            step.grid,
            step.values,
            order,
            watch,
            None if effort is None else own,
            left,
            turns,
        )
        if effort is not None:
            taken += own.steps
            effort.add(own)


def element_bytes(arg: Mapping[str, Any]) -> int:
    """Bytes of an element of an array argument, as plain CUDA has it in memory."""
    dtype = parse(arg["dtype"])
    if dtype.kind == "struct":
        return struct_layout(arg["fields"]).itemsize
    return np.dtype(dtype.scalar).itemsize * int(np.prod(dtype.shape, dtype=int))
