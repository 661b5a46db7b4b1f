"""Inputs at the edges of types: zeros, the least and largest, ties, infinite and NaN, by type."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from generators.program.dtypes import Mat, Quat, Scalar, Transform, Type, scalar_of

Array = np.ndarray[Any, np.dtype[Any]]

MOST_CASES = {1: 64, 2: 14, 3: 8, 4: 4}
"""Values of an argument of an op by how many it has: all their combinations are cases."""


def columns(types: Sequence[Type]) -> list[Array]:
    """An array for each argument: all combinations of edge values, one a row."""
    most = MOST_CASES[len(types)]
    choices = [edges(t, most) for t in types]
    picked = list(itertools.product(*[range(len(c)) for c in choices]))
    return [c[[p[k] for p in picked]] for k, c in enumerate(choices)]


def edges(type_: Type, most: int) -> Array:
    """At most so many values of a type, as Warp stores them, the most telling first."""
    found = _scalar_edges(type_) if isinstance(type_, Scalar) else _composite_edges(type_)
    if len(found) <= most:
        return found
    # The first are kept; of the rest, values evenly over the list.
    first = most // 2
    rest = np.linspace(first, len(found) - 1, most - first).astype(int)
    return np.concatenate([found[:first], found[rest]])


def _scalar_edges(scalar: Scalar) -> Array:
    if scalar.name == "bool":
        return np.array([False, True])
    if scalar.is_int:
        low, high = scalar.int_range
        wanted = [0, 1, high, low, -1, 2, 3, scalar.bits, scalar.bits - 1, scalar.bits + 1]
        wanted += [-2, -3, 7, -7, low + 1, high - 1, high // 2, high // 2 + 1, low // 2, 10]
        kept = [w for w in dict.fromkeys(wanted) if low <= w <= high]
        return np.array(kept, scalar.name)
    info = np.finfo(scalar.name)
    tiny, above = float(info.smallest_subnormal), 1.0 + float(info.eps)
    wanted = [0.0, 1.0, -0.0, -1.0, np.nan, np.inf, 2.0, above]
    wanted += [0.5, -0.5, 1.5, 2.5, -2.5, 0.3, -0.7, 3.7, -3.7, float(info.max), -float(info.max)]
    wanted += [-np.inf, tiny, -tiny, float(info.tiny), 1.0 / 3.0, -above, 100.0, -100.0, 10.0]
    wanted += [128.0, 255.5, -129.0, 40000.0, 2.0**31, 2.0**53, -(2.0**63), 2.0**64, np.pi]
    with np.errstate(over="ignore"):
        return np.array(wanted).astype(scalar.name)


def _composite_edges(type_: Type) -> Array:
    scalar = scalar_of(type_)
    if isinstance(type_, Transform):
        turns = _composite_edges(Quat(scalar))
        places = np.resize(edges(scalar, 12), (len(turns), 3))
        places[: len(turns) // 2] = np.array([1.0, -2.0, 3.0], scalar.name)
        return np.concatenate([places, turns], axis=1)
    shape = (4,) if isinstance(type_, Quat) else type_.shape  # type: ignore[union-attr]
    rows = [_filled(kind, shape, scalar) for kind in _patterns(type_)]
    return np.array(rows).astype(scalar.name)


def _patterns(type_: Type) -> list[object]:
    """Names of patterns, and numbers that fill a composite."""
    scalar = scalar_of(type_)
    found: list[object] = [0, "ramp", "one", "last", 1]
    if isinstance(type_, Quat):
        found = [0, "last", "one", "minus_last", "turned", "ramp", 1]
    if isinstance(type_, Mat):
        found = [0, "identity", "ramp", "mixed", "turned", 1, "half_turn", "mirror"]
    if not scalar.is_float:
        low, high = scalar.int_range
        return [*found, "mixed", low, high, high // 2]
    info = np.finfo(scalar.name)
    square = float(info.smallest_subnormal) ** 0.5
    wide = [float(info.max), float(info.smallest_subnormal), square * 64, square / 64]
    return [*found, "mixed", "nan", "inf", -0.0, *wide, float(info.max) ** 0.5 * 2.0, 0.5]


def _filled(kind: object, shape: tuple[int, ...], scalar: Scalar) -> Array:
    count = int(np.prod(shape))
    dtype = np.float64 if scalar.is_float else object
    values: Array = np.zeros(count, dtype)
    if not isinstance(kind, str):
        values[:] = kind
        return values.reshape(shape)
    if kind in ("ramp", "nan", "inf"):
        values[:] = np.arange(1, count + 1)
        values[0] = {"nan": np.nan, "inf": np.inf}.get(kind, 1)
    elif kind == "mixed":
        values[:] = [(3 + 7 * k) % 11 for k in range(count)]
        if scalar.name[0] != "u":
            values[::2] = -values[::2]
    elif kind in ("one", "last", "minus_last"):
        values[0 if kind == "one" else -1] = -1 if kind[0] == "m" else 1
    else:
        return _square(kind, shape, values)
    return values.reshape(shape)


def _square(kind: str, shape: tuple[int, ...], values: Array) -> Array:
    """Matrices near the identity, and a quaternion of length 1 that is not axis-aligned."""
    if len(shape) == 1:
        values[:] = [0.5, -0.5, 0.5, 0.5]
        return values
    found = np.zeros(shape, values.dtype)
    signs = {"half_turn": (1, -1, -1), "mirror": (-1, 1, 1)}.get(kind, (1, 1, 1))
    for k in range(min(shape)):
        found[k, k] = signs[k] if k < len(signs) else 1
    if kind == "turned":
        found[:2, :2] = [[0, -1], [1, 0]]
    return found
