"""What a shape costs to run, foretold from the reference: shapes that take too long are not drawn.

The steps are counted, not timed, so that every machine draws the same shapes for a row.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from types import FrameType
from typing import Any

import numpy as np

from validate.oracle.reference import run_reference
from validate.row.dtypes import storage
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all
from validate.score.wanted import is_of_warp
from validate.text.formula import evaluate as evaluate_formula
from validate.text.launches import launches_of
from validate.text.plain import meets

Sizes = Mapping[str, int]
Row = Mapping[str, Any]

# What the row's own text takes on the host for each line of the reference, byte of an array and
# thread (of a text whose threads meet), in microseconds and with all that watches it.
_LINE_US = 0.045
_BYTE_US = 0.03
_THREAD_US = 0.1
_MEETING_THREAD_US = 1.7
_REFERENCE = "<reference>"
_LINES_A_THREAD = 20
"""Of a Warp kernel without a reference, whose lines nobody counts."""


def threads(row: Row, sizes: Sizes) -> int:
    """Threads of Warp's launch. Raises ValueError for a bad formula."""
    return prod(evaluate_all(row["launch"]["dim"], sizes))


def array_bytes(row: Row, sizes: Sizes) -> int:
    """Bytes of all arrays together. Raises ValueError for a bad shape."""
    total = 0
    for arg in row["args"]:
        if arg["kind"] == "array":
            dtype = np.dtype(storage(arg["dtype"], arg["fields"]))
            total += prod(evaluate_all(arg["shape"], sizes)) * dtype.itemsize
    return total


class Effort:
    """How long the row's own text takes at shapes that are `base` with some sizes enlarged."""

    def __init__(self, row: Row, base: Sizes) -> None:
        """`base` is a small shape, at which the reference is cheap."""
        self.row, self.base = row, dict(base)
        text = row["cuda_plain"] or ""
        self.thread_us = _MEETING_THREAD_US if meets(text) else _THREAD_US
        # Tiles, in which threads beyond an edge take part: shared memory and a thread an element.
        large = dict.fromkeys(base, 1 << 8)
        self.tiled = "__shared__" in text and self._launched(large) < 2 * threads(row, large)
        self._counted: dict[tuple[int, ...], int] = {}

    def milliseconds(self, sizes: Sizes) -> float:
        """An estimate from the growth of the reference between small shapes.

        Raises ReferenceFailed and ValueError when these cannot be run.
        """
        launched, size = self._launched(sizes), array_bytes(self.row, sizes)
        lines = self.lines(sizes)
        if self.tiled:
            lines *= max(1.0, launched / max(1, threads(self.row, sizes)))
        microseconds = self.thread_us * launched + _LINE_US * lines
        microseconds += _BYTE_US * size
        return microseconds / 1000

    def _launched(self, sizes: Sizes) -> int:
        return sum(
            prod(evaluate_formula(formula, sizes) for formula in (*launch.grid, *launch.block))
            for launch in launches_of(self.row)
        )

    def lines(self, sizes: Sizes) -> float:
        """Lines that the reference would execute, by a power law through small shapes."""
        larger = [name for name, size in sizes.items() if size > self.base[name]]
        if not larger:
            return self._count(self.base)
        once, twice = (self._count(self._enlarged(larger, times)) for times in (1, 2))
        ratio = prod(sizes[name] / self.base[name] for name in larger)
        if len(larger) > 1:
            degree = max(0.0, math.log2(max(1, twice) / max(1, once))) / len(larger)
            return float(once * max(1.0, ratio) ** degree)
        # Of one size few lines are enough to leave out what does not grow with it.
        grown = self._count(self._enlarged(larger, 4)) - twice
        if twice <= once or grown <= 0:
            return float(max(once, twice))
        power = (grown / (twice - once)) ** math.log2(ratio)
        step = (twice - once) ** 2 / max(1, grown - (twice - once))
        if grown <= twice - once:
            return float(once + (twice - once) * max(1.0, math.log2(ratio)))
        return float(once + step * (power - 1))

    def _enlarged(self, larger: Sequence[str], times: int) -> dict[str, int]:
        return {n: size * (times if n in larger else 1) for n, size in self.base.items()}

    def _count(self, sizes: Sizes) -> int:
        key = tuple(sizes.values())
        if key not in self._counted:
            self._counted[key] = count_lines(self.row, sizes)
        return self._counted[key]


def count_lines(row: Row, sizes: Sizes) -> int:
    """Lines of the reference executed at a shape, on the row's own inputs.

    Raises ReferenceFailed, and ValueError when no inputs can be drawn.
    """
    if is_of_warp(row):
        return _LINES_A_THREAD * threads(row, sizes)
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    dim = evaluate_all(row["launch"]["dim"], sizes)
    with _counting() as count:
        run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
    return count[0]


@contextmanager
def _counting() -> Iterator[list[int]]:
    """Count lines of the reference; whoever traces us already goes on afterwards."""
    count, before = [0], sys.gettrace()

    def local(frame: FrameType, event: str, arg: Any) -> Any:
        count[0] += event == "line"
        return local

    def start(frame: FrameType, event: str, arg: Any) -> Any:
        return local if frame.f_code.co_filename == _REFERENCE else None

    sys.settrace(start)
    try:
        yield count
    finally:
        sys.settrace(before)
