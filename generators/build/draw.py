"""Seeded choice: streams of random numbers keyed by what they are for.

A row's streams come from sha256 of ``seed/category/index/attempt/purpose``, so neighbouring seeds
share nothing and a change in how one purpose is used leaves the others alone. Within a stream,
numbers come from SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014), which no library version can change.
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

    @cached_property
    def idiom(self) -> Stream:
        """Which idiom."""
        return self.stream("idiom")

    @cached_property
    def shape(self) -> Stream:
        """What is computed: types, ops, number of terms, which steps there are."""
        return self.stream("shape")

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
