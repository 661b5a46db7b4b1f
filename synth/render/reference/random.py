"""Reference helpers for random numbers: each gives what it drew, and the state after it.

The hash is the PCG output function on 32 bits (Jarzynski and Olano, "Hash Functions for GPU
Rendering", JCGT 9(3), 2020); floats are its upper 24 bits.
"""

from __future__ import annotations

_BOX = """\
def {name}(state):
    parts = []
    for _axis in range({sides}):
        part, state = randf(state)
        parts.append(part - 0.5)
    return np.array(parts), state
"""

_BALL = """\
def {name}(state):
    polar, state = randf(state)
    polar = math.acos(1.0 - {height}polar)
    angle, state = randf(state, 0.0, 2.0 * math.pi)
{radius}    across = {size}math.sin(polar)
    point = [across * math.cos(angle), across * math.sin(angle), {size}math.cos(polar)]
    return np.array(point), state
"""

_RADIUS = """\
    radius, state = randf(state)
    radius = radius ** (1.0 / 3.0)
"""


def _ball(name: str, height: str, solid: bool) -> tuple[tuple[str, ...], str]:
    radius, size = (_RADIUS, "radius * ") if solid else ("", "")
    return ("math", "np"), _BALL.format(name=name, height=height, radius=radius, size=size)


def _box(name: str, sides: int) -> tuple[tuple[str, ...], str]:
    return ("np",), _BOX.format(name=name, sides=sides).replace("_axis", "axis")


RANDOM_HELPERS: dict[str, tuple[tuple[str, ...], str]] = {
    "rand_pcg": (
        (),
        """\
def rand_pcg(state):
    mixed = (state * 747796405 + 2891336453) & 0xFFFFFFFF
    word = (((mixed >> ((mixed >> 28) + 4)) ^ mixed) * 277803737) & 0xFFFFFFFF
    return (word >> 22) ^ word
""",
    ),
    "rand_init": (
        (),
        """\
def rand_init(seed, offset):
    return rand_pcg((seed + rand_pcg(offset & 0xFFFFFFFF)) & 0xFFFFFFFF)
""",
    ),
    "randf": (
        (),
        """\
def randf(state, low=0.0, high=1.0):
    state = rand_pcg(state)
    return low + (high - low) * ((state >> 8) / 16777216.0), state
""",
    ),
    "randi": (
        (),
        """\
def randi(state, low, high):
    state = rand_pcg(state)
    return low + state % (high - low), state
""",
    ),
    "randu": (
        (),
        """\
def randu(state, low=0, high=0x100000000):
    state = rand_pcg(state)
    return low + state % (high - low), state
""",
    ),
    "randn": (
        ("math",),
        """\
def randn(state):
    radius, state = randf(state)
    angle, state = randf(state)
    return math.sqrt(-2.0 * math.log(radius + 5.96e-8)) * math.cos(2.0 * math.pi * angle), state
""",
    ),
    "sample_triangle": (
        ("math", "np"),
        """\
def sample_triangle(state):
    first, state = randf(state)
    second, state = randf(state)
    root = math.sqrt(first)
    return np.array([1.0 - root, second * root]), state
""",
    ),
    "sample_unit_ring": (
        ("math", "np"),
        """\
def sample_unit_ring(state):
    angle, state = randf(state, 0.0, 2.0 * math.pi)
    return np.array([math.cos(angle), math.sin(angle)]), state
""",
    ),
    "sample_unit_disk": (
        ("math", "np"),
        """\
def sample_unit_disk(state):
    area, state = randf(state)
    direction, state = sample_unit_ring(state)
    return math.sqrt(area) * direction, state
""",
    ),
    "sample_unit_square": _box("sample_unit_square", 2),
    "sample_unit_cube": _box("sample_unit_cube", 3),
    "sample_unit_sphere": _ball("sample_unit_sphere", "2.0 * ", True),
    "sample_unit_sphere_surface": _ball("sample_unit_sphere_surface", "2.0 * ", False),
    "sample_unit_hemisphere": _ball("sample_unit_hemisphere", "", True),
    "sample_unit_hemisphere_surface": _ball("sample_unit_hemisphere_surface", "", False),
}
"""By name: the modules that the text uses, and the text."""

_DIRECT = ("rand_init", "randf", "randi", "randu")

RANDOM_NEEDS: dict[str, tuple[str, ...]] = {
    **{name: ("randf",) for name in RANDOM_HELPERS if name not in (*_DIRECT, "rand_pcg")},
    **dict.fromkeys(_DIRECT, ("rand_pcg",)),
    "sample_unit_disk": ("randf", "sample_unit_ring"),
}
"""By name: the helpers that a helper calls."""
