"""Seeded choice: streams of random numbers keyed by what they are for.

A row's streams come from sha256 of ``seed/category/index/attempt/purpose``, so neighbouring seeds
share nothing and a change in how one purpose is used leaves the others alone. Within a stream,
numbers come from SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014), which no library version can change.

What a row computes is not drawn independently of other rows: see :class:`Spread`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

from generators.program.dtypes import Scalar

T = TypeVar("T")

_MASK = 2**64 - 1


class Reason(Protocol):
    """Why a draw is no good: a member of an enumeration of such reasons, which is the word that is
    counted, with the sentence that a user reads of it."""

    @property
    def value(self) -> str: ...

    @property
    def sentence(self) -> str: ...


class Reject(Exception):  # noqa: N818 - not an error: the draw is counted and drawn again
    """This draw is no good; ``reason`` is of a fixed kind, ``detail`` says where.

    ``idiom`` is filled in where the draw is known to be one of an idiom.
    """

    idiom = ""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason.value}: {detail}" if detail else reason.value)
        self.reason = reason.value
        self.detail = detail


class Stream:
    """A stream of random choices."""

    def __init__(self, key: str) -> None:
        self._state = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")

    def bits64(self) -> int:
        """A whole number in [0, 2**64)."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def integer(self, low: int, high: int) -> int:
        """A whole number in [low, high]."""
        return low + ((self.bits64() * (high - low + 1)) >> 64)

    def chance(self, probability: float) -> bool:
        return self.bits64() < probability * 2**64

    def choice(self, items: Sequence[T]) -> T:
        return items[self.integer(0, len(items) - 1)]

    def weighted(self, weights: Mapping[T, int]) -> T:
        """A key, as often as its whole-number weight says."""
        ticket = self.integer(1, sum(weights.values()))
        for item, weight in weights.items():
            ticket -= weight
            if ticket <= 0:
                return item
        raise AssertionError("weights changed while drawing")

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """``count`` different items, in drawn order."""
        pool = list(items)
        return [pool.pop(self.integer(0, len(pool) - 1)) for _ in range(count)]

    def constant(self, low: float, high: float, digits: int = 2) -> str:
        """A decimal in [low, high] as a person writes it: a round one where the range holds three,
        else ``digits`` significant digits, and more only where it is too narrow for those.
        """
        if digits == ROUND_DIGITS and len(found := round_numbers(low, high)) > 2:
            return repr(self.choice(found))
        value = low + (self.bits64() >> 11) * 2.0**-53 * (high - low)
        while not low <= (rounded := float(f"{value:.{digits}g}")) <= high:
            digits += 1
        return repr(rounded)


class Spread(Stream):
    """A stream whose choices follow from a point of the unit interval, as an arithmetic decoder's.

    Each choice splits what is left of the interval by its odds, so that a run of choices of
    probability p is an interval of length p. Points that are spread evenly over the unit interval
    then come to each run as often as its odds say, to within two or three: independent draws repeat
    a run long before they have seen all. Points are a Weyl sequence with the golden ratio (the most
    even of its kind at any number of points: Knuth, The Art of Computer Programming, volume 3,
    section 6.4), turned by a hash of ``key``. Once a point is used up, choices are those of a
    stream of ``key`` and ``index``.
    """

    def __init__(self, key: str, index: int) -> None:
        super().__init__(f"{key}/{index}")
        start = int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], "big")
        self._point = (start + index * _GOLDEN) & _POINT_MASK
        self._left = 1.0

    def integer(self, low: int, high: int) -> int:
        count = high - low + 1
        if self._left < _FINEST:
            return super().integer(low, high)
        self._left /= count
        scaled = self._point * count
        self._point = scaled & _POINT_MASK
        return low + (scaled >> _POINT_BITS)

    def chance(self, probability: float) -> bool:
        if self._left < _FINEST or not 0.0 < probability < 1.0:
            return super().chance(probability)
        return self._split(probability)

    def weighted(self, weights: Mapping[T, int]) -> T:
        items = [item for item, weight in weights.items() if weight > 0]
        left = sum(weights.values())
        for item in items[:-1]:
            if self.chance(weights[item] / left):
                return item
            left -= weights[item]
        return items[-1]

    def _split(self, probability: float) -> bool:
        """Whether the point lies in the first part of the interval, which then is all of it."""
        edge = int(probability * 2.0**53) << (_POINT_BITS - 53)
        inside = self._point < edge
        self._left *= probability if inside else 1.0 - probability
        if inside:
            self._point = (self._point << _POINT_BITS) // edge
        else:
            self._point = ((self._point - edge) << _POINT_BITS) // ((1 << _POINT_BITS) - edge)
        return inside


_POINT_BITS = 128
_POINT_MASK = 2**_POINT_BITS - 1
_GOLDEN = 0x9E3779B97F4A7C15F39CC0605CEDC835
"""2**128 over the golden ratio."""

_FINEST = 2.0**-50
"""An interval that no dataset has a second point in."""

ROUND_DIGITS = 2
_ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.5, 8.0, 9.0)


def round_numbers(low: float, high: float) -> list[float]:
    """The numbers in [low, high], both of one sign, that people write: 0.05, 0.75, 1.5, 200."""
    if low < 0.0 < high or low == high == 0.0:
        return []
    if high <= 0.0:
        return [-x for x in reversed(round_numbers(-high, -low))]
    least = low or high / 100.0
    tens = range(math.floor(math.log10(least)), math.floor(math.log10(high)) + 1)
    found = [float(f"{m}e{ten}") for ten in tens for m in _ROUND]
    return [x for x in found if least <= x <= high]


FLOAT_TYPES = {Scalar("float32"): 30, Scalar("float64"): 1, Scalar("float16"): 1}


@dataclass(frozen=True)
class Draw:
    """The streams of one attempt at one row."""

    seed: int
    category: str
    index: int
    attempt: int

    def stream(self, purpose: str) -> Stream:
        return Stream(f"{self.seed}/{self.category}/{self.index}/{self.attempt}/{purpose}")

    def spread(self, purpose: str) -> Stream:
        """A stream whose first choices are spread evenly over the indices."""
        return Spread(f"{self.seed}/{self.category}/{self.attempt}/{purpose}", self.index)

    @cached_property
    def shape(self) -> Stream:
        """What is computed: which idiom, types, ops, number of terms, which steps there are."""
        return self.spread("shape")

    @cached_property
    def value(self) -> Stream:
        """Literals and value ranges."""
        return self.stream("value")

    @cached_property
    def word(self) -> Stream:
        """Names and phrases."""
        return self.stream("word")

    @cached_property
    def layout(self) -> Stream:
        """How the Python is laid out."""
        return self.stream("layout")

    @cached_property
    def input_seed(self) -> int:
        """Seed of the row's inputs, in [0, 2**63)."""
        return self.stream("input").bits64() >> 1

    def float_type(self) -> Scalar:
        return self.shape.weighted(FLOAT_TYPES)

    def wide_float_type(self) -> Scalar:
        """float32 or float64, for what float16 is too coarse for."""
        return self.shape.weighted({Scalar("float32"): 30, Scalar("float64"): 1})
