"""Random numbers over lanes: the integer hash in every lane, floats rounded step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from generators.build.draw import Reject
from generators.program.dtypes import FLOAT32
from synth.gates.lanes.values import Lanes, Mask, Values, any_active
from synth.reasons import GateReason

_MASK = np.uint64(0xFFFFFFFF)
_TINY = 5.96e-8


def pcg(state: Values) -> Values:
    """The PCG output function on 32-bit states (Jarzynski and Olano, JCGT 9(3), 2020)."""
    wide = state.astype(np.uint64)
    mixed = (wide * np.uint64(747796405) + np.uint64(2891336453)) & _MASK
    shift = (mixed >> np.uint64(28)) + np.uint64(4)
    word = (((mixed >> shift) ^ mixed) * np.uint64(277803737)) & _MASK
    return ((word >> np.uint64(22)) ^ word).astype(np.int64)


def rand_init(seed: Values, offset: Values) -> Values:
    low = np.int64(0xFFFFFFFF)
    return pcg(((seed & low) + pcg(offset & low)) & low)


class _Stream:
    """A state that moves on with every number."""

    def __init__(self, lanes: Lanes, state: Values) -> None:
        self.lanes = lanes
        self.state = state

    def bits(self) -> Values:
        self.state = pcg(self.state)
        return self.state

    def rounded(self, values: Values, ulp: float = 0.5) -> Values:
        return self.lanes.round(values, FLOAT32, ulp)

    def uniform(self) -> Values:
        """In [0, 1), a multiple of 2**-24."""
        return (self.bits() >> 8) * 2.0**-24

    def between(self, low: Values, high: Values) -> Values:
        span = self.rounded(high - low)
        return self.rounded(self.rounded(span * self.uniform()) + low)

    def angle(self) -> Values:
        return self.rounded(self.uniform() * (2.0 * np.pi), 1.0)

    def point(self, *parts: Values) -> Values:
        return np.array([self.rounded(part, 3.0) for part in parts])


def _randn(s: _Stream) -> Values:
    """Box and Muller's method."""
    shifted = s.rounded(s.uniform() + _TINY)
    radius = s.rounded(np.sqrt(-2.0 * s.rounded(np.log(shifted), 1.0)))
    return s.rounded(radius * s.rounded(np.cos(s.angle()), 2.0))


def _triangle(s: _Stream) -> Values:
    root = s.rounded(np.sqrt(s.uniform()))
    return s.point(1.0 - root, s.uniform() * root)


def _ring(s: _Stream) -> Values:
    angle = s.angle()
    return s.point(np.cos(angle), np.sin(angle))


def _disk(s: _Stream) -> Values:
    radius, angle = s.rounded(np.sqrt(s.uniform())), s.angle()
    return s.point(radius * np.cos(angle), radius * np.sin(angle))


def _box(sides: int) -> Callable[[_Stream], Values]:
    return lambda s: np.array([s.uniform() - 0.5 for _ in range(sides)])


def _ball(*, whole: bool, surface: bool) -> Callable[[_Stream], Values]:
    def draw(s: _Stream) -> Values:
        polar = s.rounded(np.arccos(1.0 - (2.0 if whole else 1.0) * s.uniform()), 2.0)
        angle = s.angle()
        radius = 1.0 if surface else s.rounded(s.uniform() ** (1.0 / 3.0), 4.0)
        across = radius * np.sin(polar)
        return s.point(across * np.cos(angle), across * np.sin(angle), radius * np.cos(polar))

    return draw


def _remainder(s: _Stream, low: Values, high: Values) -> Values:
    return s.bits() % (high - low) + low


_SAMPLERS: dict[str, Callable[..., Values]] = {
    "randf": lambda s, *bounds: s.between(*bounds) if bounds else s.uniform(),
    "randi": _remainder,
    "randu": lambda s, *bounds: _remainder(s, *bounds) if bounds else s.bits(),
    "randn": _randn,
    "sample_triangle": _triangle,
    "sample_unit_ring": _ring,
    "sample_unit_disk": _disk,
    "sample_unit_square": _box(2),
    "sample_unit_cube": _box(3),
    "sample_unit_sphere": _ball(whole=True, surface=False),
    "sample_unit_sphere_surface": _ball(whole=True, surface=True),
    "sample_unit_hemisphere": _ball(whole=False, surface=False),
    "sample_unit_hemisphere_surface": _ball(whole=False, surface=True),
}


def draw_sample(
    lanes: Lanes, sampler: str, state: Values, args: Sequence[Values], mask: Mask
) -> tuple[Values, Values]:
    """What a sampler draws in every lane, and the states after it; rejects an empty range."""
    if sampler in ("randi", "randu") and args and any_active(args[1] <= args[0], mask):
        raise Reject(GateReason.DOMAIN_ERROR, f"{sampler}: range")
    stream = _Stream(lanes, state)
    return _SAMPLERS[sampler](stream, *args), stream.state
