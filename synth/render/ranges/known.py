"""What is known of a value: an interval for each of its scalars, and one for its length.

Intervals hold every finite value that the arithmetic of the type can give, rounding included: a
bound moves outwards by some units in the last place with every rounded op, a positive bound that
could underflow becomes zero, and one that could overflow is given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isnan, sqrt

import numpy as np

from generators.program.dtypes import Array, Quat, Scalar, Struct, Transform, Type, scalar_of

Interval = tuple[float, float]
ANY: Interval = (-inf, inf)
LENGTH: Interval = (0.0, inf)


@dataclass(frozen=True)
class Limits:
    """Of a float type: how far a rounded op moves a bound, and the least and largest values whose
    squares still are normal numbers."""

    slack: float
    least: float
    most: float


_LIMITS = {
    "float16": Limits(2.0**-8, 0.02, 200.0),
    "float32": Limits(2.0**-20, 1e-15, 1e18),
    "float64": Limits(2.0**-49, 1e-150, 1e150),
}


def limits_of(type_: Type) -> Limits:
    """Of a type made of floats."""
    return _LIMITS[scalar_of(type_).name]


@dataclass(frozen=True)
class Known:
    """``parts`` in the order of memory; ``norm`` is the Euclidean length of a vector or quaternion,
    of a transform that of its rotation. ``dominated``: a matrix whose positive diagonal outweighs
    the rest of each row and of each column, so that it has an inverse."""

    parts: tuple[Interval, ...]
    norm: Interval = LENGTH
    dominated: bool = False

    @property
    def only(self) -> Interval:
        """Of a scalar."""
        return self.parts[0]


Value = Known | dict[str, "Value"]


@lru_cache(maxsize=512)
def unknown(type_: Type) -> Value:
    """What is known of any value of a type."""
    if isinstance(type_, Struct):
        return {name: unknown(t) for name, t in type_.fields}
    if isinstance(type_, Array):
        return unknown(type_.element)
    return Known((whole(scalar_of(type_)),) * count_of(type_))


def whole(scalar: Scalar) -> Interval:
    """All values of a scalar type."""
    if scalar.is_float:
        return ANY
    if not scalar.is_int:
        return 0.0, 1.0
    low, high = scalar.int_range
    return float(low), float(high)


def count_of(type_: Type) -> int:
    """Scalars of a type that is no struct."""
    if isinstance(type_, Scalar):
        return 1
    if isinstance(type_, Quat | Transform):
        return 4 if isinstance(type_, Quat) else 7
    found = 1
    for extent in type_.shape:  # type: ignore[union-attr]
        found *= extent
    return found


def made(parts: Iterable[Interval], type_: Type, norm: Interval = LENGTH) -> Known:
    """A value of a float type, with what its parts say of its length."""
    found = tuple(parts)
    scale = found[3:] if isinstance(type_, Transform) else found
    low = sqrt(sum(least_size(p) ** 2 for p in scale))
    high = sqrt(sum(min(largest_size(p), 1e154) ** 2 for p in scale))
    if any(largest_size(p) == inf for p in scale):
        high = inf
    slack = limits_of(type_).slack
    return Known(found, (max(norm[0], low * (1 - slack)), min(norm[1], high * (1 + slack))))


def unit(type_: Type, exact: bool = False) -> Known:
    """A vector, quaternion or rotation of length 1; ``exact``: with no part beyond 1."""
    slack = limits_of(type_).slack
    most = 1.0 if exact else 1.0 + slack
    rest = ((-most, most),) * (4 if isinstance(type_, Transform) else count_of(type_))
    parts = (ANY,) * 3 + rest if isinstance(type_, Transform) else rest
    return Known(parts, (1.0 - slack, 1.0 + slack))


def largest_size(interval: Interval) -> float:
    """The largest magnitude."""
    return max(abs(interval[0]), abs(interval[1]))


def least_size(interval: Interval) -> float:
    """The least magnitude."""
    low, high = interval
    return low if low > 0 else -high if high < 0 else 0.0


def written(number: float, scalar: Scalar) -> Interval:
    """A number of a program's text, and what its type makes of it."""
    if not scalar.is_float:
        return number, number
    held = (number, *(float(np.dtype(name).type(number)) for name in (scalar.name, "float32")))
    return (number, number) if scalar.name == "float64" else (min(held), max(held))


def widened(interval: Interval, type_: Type, extra: float = 0.0) -> Interval:
    """Bounds of exact results, moved outwards as far as rounding may; ``extra`` in addition."""
    scalar = scalar_of(type_)
    if not scalar.is_float:
        low, high = whole(scalar)
        return interval if low <= interval[0] and interval[1] <= high else (low, high)
    limits, (low, high) = limits_of(type_), interval
    if isnan(low) or isnan(high):
        return ANY
    low -= abs(low) * limits.slack + extra
    high += abs(high) * limits.slack + extra
    square = limits.least * limits.least
    if 0 < low < square:
        low = 0.0
    if -square < high < 0:
        high = 0.0
    most = limits.most * limits.most
    return (low if low > -most else -inf, high if high < most else inf)


def scaled(norm: Interval, type_: Type) -> Interval:
    """A length whose parts were rounded relative to it."""
    low, high = widened(norm, type_)
    return max(0.0, low), high


def joined(a: Value, b: Value) -> Value:
    """What is known of a value that is one of two."""
    if isinstance(a, dict) or isinstance(b, dict):
        assert isinstance(a, dict)
        assert isinstance(b, dict)
        return {name: joined(a[name], b[name]) for name in a}
    parts = tuple(_hull(p, q) for p, q in zip(a.parts, b.parts, strict=True))
    return Known(parts, _hull(a.norm, b.norm), a.dominated and b.dominated)


def _hull(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), max(a[1], b[1])


def cut(a: Interval, b: Interval) -> Interval:
    """The values in both; of two that exclude each other, where nothing can get to, the first."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else a


def product(a: Interval, b: Interval) -> Interval:
    """Of exact numbers; an unbounded value times zero is zero."""
    ends = [0.0 if x == 0 or y == 0 else x * y for x in a for y in b]
    return min(ends), max(ends)


def square(a: Interval) -> Interval:
    """A number times itself."""
    return least_size(a) ** 2, _bounded_square(largest_size(a))


def _bounded_square(x: float) -> float:
    return x * x if x < 1e154 else inf


def quotient(a: Interval, b: Interval) -> Interval:
    """Of exact numbers; anything where the divisor may be zero."""
    if b[0] <= 0 <= b[1]:
        return ANY
    low, high = (0.0 if b[1] == inf else 1 / b[1]), (0.0 if b[0] == -inf else 1 / b[0])
    return product(a, (min(low, high), max(low, high)))


def total(intervals: Sequence[Interval]) -> Interval:
    """A sum."""
    return sum(i[0] for i in intervals), sum(i[1] for i in intervals)


def monotone(function: Callable[[float], float], a: Interval) -> Interval:
    """A growing function of bounds; beyond what it can compute, unbounded."""
    ends = []
    for x, beyond in zip(a, (-inf, inf), strict=True):
        try:
            ends.append(function(x))
        except (OverflowError, ValueError):
            ends.append(beyond)
    return ends[0], ends[1]
