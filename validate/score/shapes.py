"""Shapes that tell right answers from wrong ones, by the sizes and the launch of a row.

All sizes of a shape are different from each other and, but for the smallest shape, at least 2, as
far as `min` and `multiple_of` allow: an index of the wrong axis shows. Sizes are drawn from a
`Stream`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from validate.row.sizes import awkward_sizes, evaluate, symbols
from validate.text.formula import evaluate as evaluate_formula
from validate.text.launches import launches_of

Sizes = dict[str, int]
Row = Mapping[str, Any]
Fits = Callable[[Sizes], bool]

# More than two turns of any block of up to 512 threads and one and a half of the largest, or more
# where a block of the row's own launch takes several elements a thread. The smaller are for rows
# whose work grows faster than a size.
_TWO_BLOCKS = (1537, 2561, 4609)
_WIDE = (1537, 1031, 517, 263, 135, 71, 35)
_WIDE_SPREAD = 96
_WARP = 32
# Two blocks and a tail, of blocks as texts have them, from the last axis of a launch to the first.
_BLOCKS = {2: ((66, 95), (66, 95)), 3: ((66, 95), (17, 23), (9, 13))}
# As many elements along each axis as blocks have, from the last axis to the first.
_WHOLE = {1: (1024,), 2: (64, 32), 3: (32, 16, 8)}
_MANY_BLOCKS = ((34, 47), (17, 23), (5, 7), (3, 4))
# Beyond 16 bits, or 15, and an axis beyond 8; beyond 13.
_BIG = ((66_000, 72_000), (33_000, 36_000))
_LONG = (9_000, 12_000)
# Of all arrays: one of a long size along two axes would have a hundred million.
_MOST_ELEMENTS = 1 << 24
_BIG_AXES = {2: ((257, 300),), 3: ((257, 280), (17, 23)), 4: ((257, 280), (17, 23), (3, 4))}


class Stream:
    """Whole numbers out of SHA-256 of a text."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.count = 0

    def below(self, end: int) -> int:
        """The next number, from 0 to `end` - 1."""
        self.count += 1
        digest = hashlib.sha256(f"{self.key}/{self.count}".encode()).digest()
        return int.from_bytes(digest[:16], "little") % end

    def between(self, low: int, high: int) -> int:
        """The next number, from `low` to `high`."""
        return low + self.below(max(1, high - low + 1))


def near(row: Row, stream: Stream) -> Sizes:
    """About the row's own sizes: half to one and a half of each, never equal to it."""
    found: Sizes = {}
    for entry in row["sizes"]:
        own, multiple = entry["value"], max(1, entry["multiple_of"])
        low = max(2, entry["min"], own // 2)
        high = max(low, own + 2 * multiple, own * 3 // 2)
        used = {own, *found.values()}
        found[entry["symbol"]] = _unused(stream.between(low, high), low, high, multiple, used)
    return found


def small(row: Row, stream: Stream) -> Sizes:
    """The smallest sizes that are different from each other, in a drawn order, from 2 up."""
    entries = row["sizes"]
    left = list(range(2, 2 + len(entries)))
    found: Sizes = {}
    for entry in entries:
        multiple = max(1, entry["multiple_of"])
        start = max(left.pop(stream.below(len(left))), entry["min"])
        used = set(found.values())
        found[entry["symbol"]] = _unused(start, start, start, multiple, used)
    return found


def minimum(row: Row) -> Sizes:
    """The smallest shape that the row allows."""
    return awkward_sizes([{**e, "value": _least(e)} for e in row["sizes"]])[0]


def launched_like(row: Row, others: Sizes, like: Sizes) -> Sizes:
    """`others` with the sizes that the launch is made of as in `like`."""
    names = {name for formula in row["launch"]["dim"] for name in symbols(formula)}
    return {**others, **{name: like[name] for name in names}}


def wide(
    row: Row, symbol: str, others: Sizes, stream: Stream, fits: Fits, fits_barely: Fits
) -> Sizes | None:
    """`others` with one size beyond two turns of a block, or less where that does not fit.

    A size that the row's own launch shares out among blocks takes two of them, if that barely fits.
    None when nothing of at least 32 fits.
    """
    entry = next(e for e in row["sizes"] if e["symbol"] == symbol)
    multiple = max(1, entry["multiple_of"])
    tail = 2 * stream.below(_WIDE_SPREAD // 2)

    def shape_from(start: int) -> Sizes:
        size = -(-max(entry["min"], start + tail % start) // multiple) * multiple
        while size % _WARP == 0 and multiple % _WARP:
            size += multiple
        return {**others, symbol: size}

    if _blocks_of(row, {**others, symbol: 1 << 16}) > _blocks_of(row, others):
        for shape in map(shape_from, _TWO_BLOCKS):
            if _blocks_of(row, shape) > _blocks_of(row, others):
                if fits_barely(shape):
                    return shape
                break
    return next((shape for shape in map(shape_from, _WIDE) if fits(shape)), None)


def _blocks_of(row: Row, sizes: Sizes) -> int:
    return prod(evaluate_formula(formula, sizes) for formula in launches_of(row)[0].grid)


def blocks(row: Row, others: Sizes, stream: Stream, fits: Fits) -> Sizes | None:
    """Two blocks and a tail along every axis of a launch of several; None where that is too much.

    Of a launch along one axis a wide shape shows as much.
    """
    dims = row["launch"]["dim"]
    if len(dims) < 2:
        return None
    spans = _BLOCKS.get(len(dims), _MANY_BLOCKS)
    extents = [stream.between(*span) for span in spans]
    for divisor in (1, 2):
        shape = _launched(row, others, [max(3, e // divisor) | 1 for e in extents])
        if shape != others and fits(shape):
            return shape
    return None


def whole_blocks(row: Row, others: Sizes, fits: Fits) -> Sizes | None:
    """A launch that blocks of any usual size fill to the last thread; None where it is too much."""
    spans = _WHOLE.get(len(row["launch"]["dim"]), (1024, 1, 1, 1))
    shape = _launched(row, others, spans)
    return shape if shape != others and fits(shape) else None


def big(row: Row, others: Sizes, stream: Stream, fits: Fits) -> Sizes | None:
    """More than 65,536 threads, or 32,768; None where that is too much."""
    axes = [stream.between(*span) for span in _BIG_AXES.get(len(row["launch"]["dim"]), ())]
    for span in _BIG:
        threads = stream.between(*span)
        shape = _launched(row, others, [*axes, threads // prod(axes) + 1])
        if fits(shape):
            return shape
    return None


def long(row: Row, others: Sizes, stream: Stream) -> Sizes | None:
    """More than 8,192 threads; None where the arrays would hold more than a machine shall draw."""
    axes = [stream.between(*span) for span in _BLOCKS.get(len(row["launch"]["dim"]), ())[1:]]
    shape = _launched(row, others, [*axes, stream.between(*_LONG) // prod(axes) + 1])
    return shape if shape != others and elements(row, shape) <= _MOST_ELEMENTS else None


def elements(row: Row, sizes: Sizes) -> int:
    """How many elements the arrays of a row hold together."""
    shapes = (arg["shape"] for arg in row["args"] if arg["kind"] == "array")
    return sum(prod(evaluate(extent, sizes) for extent in shape) for shape in shapes)


def _launched(row: Row, others: Sizes, extents: Sequence[int]) -> Sizes:
    """A shape whose launch has about these extents, from the last axis of it to the first."""
    shape, done = dict(others), set[str]()
    for formula, extent in zip(reversed(row["launch"]["dim"]), extents, strict=False):
        for symbol in sorted(symbols(formula) - done):
            entry = next(e for e in row["sizes"] if e["symbol"] == symbol)
            each = evaluate(formula, {**shape, symbol: 2}) - evaluate(formula, {**shape, symbol: 1})
            size = -(-extent // max(1, each))
            used = {shape[name] for name in shape if name != symbol}
            multiple = max(1, entry["multiple_of"])
            start = max(2, entry["min"], size)
            shape[symbol] = _unused(start, start, start, multiple, used)
            done |= {symbol}
            break
    return shape


def _least(entry: Mapping[str, Any]) -> int:
    multiple = max(1, entry["multiple_of"])
    return max(1, -(-entry["min"] // multiple)) * multiple


def _unused(start: int, low: int, high: int, multiple: int, used: set[int]) -> int:
    """The first multiple from `start` on that is not used, going round from `high` to `low`."""
    first, last = -(-low // multiple), max(-(-low // multiple), high // multiple)
    units = min(max(first, -(-start // multiple)), last)
    for _ in range(first, last + 1):
        if units * multiple not in used:
            return units * multiple
        units = units + 1 if units < last else first
    while last * multiple in used:
        last += 1
    return last * multiple
