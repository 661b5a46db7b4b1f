"""Random numbers: what each sampler takes and draws, and how it changes the state.

A state is a uint32 that ``rand_init(seed, offset)`` makes. Every sampler hashes the state anew for
each number it needs (the PCG output function of Jarzynski and Olano, "Hash Functions for GPU
Rendering", JCGT 9(3), 2020), so that outputs depend on seed and offset alone.
"""

from __future__ import annotations

from generators.program.dtypes import FLOAT32, INT32, Scalar, Type, Vec

STATE = Scalar("uint32")

_VEC2, _VEC3 = Vec(2, FLOAT32), Vec(3, FLOAT32)

SAMPLERS: dict[str, tuple[tuple[tuple[Type, ...], ...], Type]] = {
    "randf": (((), (FLOAT32, FLOAT32)), FLOAT32),
    "randi": (((INT32, INT32),), INT32),
    "randu": (((), (STATE, STATE)), STATE),
    "randn": (((),), FLOAT32),
    "sample_triangle": (((),), _VEC2),
    "sample_unit_ring": (((),), _VEC2),
    "sample_unit_disk": (((),), _VEC2),
    "sample_unit_square": (((),), _VEC2),
    "sample_unit_cube": (((),), _VEC3),
    "sample_unit_sphere": (((),), _VEC3),
    "sample_unit_sphere_surface": (((),), _VEC3),
    "sample_unit_hemisphere": (((),), _VEC3),
    "sample_unit_hemisphere_surface": (((),), _VEC3),
}
"""By name: the argument types that it takes beside the state (a range, where there is one), and the
type of what it draws."""
