"""Lanes: one program run for many threads and several variants of its inputs at once.

All values are NumPy arrays whose last axis is the lane. Lanes come in blocks of one variant each:

====  =========  ===============================================================================
0     base       float64 arithmetic on the row's inputs
1     native     every result rounded to its own dtype
2     nudged     float inputs moved by one unit in the last place, up and down in turn
3, 4  noise      every result moved at random within the error a device may make
5 …   redrawn    one input argument drawn again with another seed, for each input argument
====  =========  ===============================================================================

Blocks 0 to 4 are the *precision group*: they must take the same branches and make the same
integers. The noise blocks are Monte Carlo arithmetic (Parker, "Monte Carlo arithmetic: exploiting
randomness in floating-point arithmetic", UCLA CSD-970002, 1997). Because base values are float64,
the bits of the CPU's maths library move a deviation by about 1e-9 of itself and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from generators.program.dtypes import Scalar, Struct, Type, scalar_of

Values = np.ndarray[Any, np.dtype[Any]]
Mask = Values | None  # None: every lane is active

NATIVE, NUDGED, NOISE, REDRAWN = 1, 2, 3, 5
PRECISION_GROUP = 5

VIRTUAL_ROUNDOFF = 2.0**-30
"""Noise in float64 results of programs without narrower floats: well above what the bits of the
CPU's maths library can move; deviations are scaled back, error being linear in it."""

_NOISE_LENGTH = 1 << 13
_NARROW = {name: np.dtype(name) for name in ("float16", "float32")}


@lru_cache(maxsize=1)
def noise() -> Values:
    """Fixed numbers in [-1, 1), hashed so that no library version changes them."""
    z = np.arange(1, _NOISE_LENGTH + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0


@lru_cache(maxsize=128)
def _factors(amplitude: float) -> Values:
    """What noise of an amplitude multiplies by; amplitudes are few."""
    return 1.0 + amplitude * noise()


class Lanes:
    """Where the lanes of each variant lie, and rounding of results in them."""

    def __init__(self, threads: int, redrawn: int, has_narrow_floats: bool) -> None:
        self.threads = threads
        self.variants = REDRAWN + redrawn
        self.count = threads * self.variants
        self.variant_of_lane = np.repeat(np.arange(self.variants), threads)
        self._native = slice(threads, 2 * threads)
        self._noisy = slice(NOISE * threads, REDRAWN * threads)
        self._roundoff = {
            "float16": 2.0**-11,
            "float32": 2.0**-24,
            "float64": 2.0**-53 if has_narrow_floats else VIRTUAL_ROUNDOFF,
        }
        self.deviation_scale = 1.0 if has_narrow_floats else 2.0**-53 / VIRTUAL_ROUNDOFF
        self._cursor = 0

    def base(self, values: Values) -> Values:
        """The lanes of the base variant."""
        return values[..., : self.threads]

    def round(self, values: Values, scalar: Scalar, ulp: float) -> Values:
        """Round fresh float results in place as their variants ask; gives them back."""
        if scalar.name != "float64":
            native = values[..., self._native]
            native[...] = native.astype(_NARROW[scalar.name])
        if ulp:
            self._shake(values, 2.0 * ulp * self._roundoff[scalar.name])
        return values

    def blur(self, values: Values, scalar: Scalar) -> Values:
        """A copy of operands, moved at random in the noise lanes: for results that mix them."""
        copy = values.copy()
        self._shake(copy, self._roundoff[scalar.name])
        return copy

    def move(self, values: Values, scalar: Scalar, terms: Values) -> None:
        """Move results in place in the noise lanes by what rounding does to sums whose terms have
        these sizes together, however small the sums are."""
        noisy = values[..., self._noisy]
        noisy += (
            2.0
            * self._roundoff[scalar.name]
            * terms[..., self._noisy]
            * self._drawn(noisy, noise())
        )

    def round_sums(self, data: Values, scalar: Scalar, elements: int, terms: int) -> None:
        """Round array memory that took ``terms`` atomic additions an element, in any order."""
        native = data[..., elements : 2 * elements]
        data[..., elements : 2 * elements] = native.astype(scalar.name)
        noisy = data[..., NOISE * elements : REDRAWN * elements]
        self._multiply(noisy, 2.0 * self._roundoff[scalar.name] * terms**0.5)

    def _shake(self, values: Values, amplitude: float) -> None:
        self._multiply(values[..., self._noisy], amplitude)

    def _multiply(self, noisy: Values, amplitude: float) -> None:
        noisy *= self._drawn(noisy, _factors(amplitude))

    def _drawn(self, like: Values, of: Values) -> Values:
        """As many numbers as values, of fixed ones."""
        size = like.size
        start = self._cursor % (_NOISE_LENGTH - size) if size < _NOISE_LENGTH else 0
        self._cursor += 997
        found = of[start : start + size]
        if found.size != size:
            return np.resize(found, like.shape)
        return found if like.ndim == 1 else found.reshape(like.shape)

    def group(self, values: Values) -> Values:
        """The lanes of the precision group as (..., variant, thread)."""
        stop = PRECISION_GROUP * self.threads
        return values[..., :stop].reshape(*values.shape[:-1], PRECISION_GROUP, self.threads)

    def differs(self, values: Values, mask: Mask) -> bool:
        """Whether the precision group disagrees on a value in any active lane."""
        grouped = self.group(values)
        unequal = grouped != grouped[..., :1, :]
        if mask is not None:
            unequal &= self.group(mask)
        return any_true(unequal)


def storage(scalar: Scalar) -> type:
    """How lanes hold a scalar: floats as float64, integers as int64, uint64 as itself."""
    if scalar.is_float:
        return np.float64
    if scalar.name == "bool":
        return np.bool_
    return np.uint64 if scalar.name == "uint64" else np.int64


def any_true(found: Values) -> bool:
    """As ``found.any()`` of truth values, which takes ten times as long for so few of them."""
    return bool(np.count_nonzero(found))


def any_active(bad: Values, mask: Mask) -> bool:
    """Whether ``bad`` holds in an active lane; leading axes are components."""
    return any_true(bad if mask is None else bad & mask)


def select(mask: Mask, new: Any, old: Any) -> Any:
    """``new`` in active lanes and ``old`` in the rest, through structs too."""
    if mask is None or old is None:
        return new
    if isinstance(new, dict):
        return {name: select(mask, new[name], old[name]) for name in new}
    return np.where(mask, new, old)


def zeros(type_: Type, count: int) -> Any:
    """A value of that type, zero in ``count`` lanes."""
    if isinstance(type_, Struct):
        return {name: zeros(t, count) for name, t in type_.fields}
    shape: Sequence[int] = () if isinstance(type_, Scalar) else getattr(type_, "shape", ())
    return np.zeros((*shape, count), storage(scalar_of(type_)))
