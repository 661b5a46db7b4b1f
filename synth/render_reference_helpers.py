"""Functions that the reference texts define when they need them, written from the mathematics.

A quaternion is an array x, y, z, w; a transform is its position followed by its rotation.
"""

from __future__ import annotations

import re
from collections.abc import Set

HELPERS: dict[str, tuple[tuple[str, ...], str]] = {
    "cbrt": (
        ("math",),
        """\
def cbrt(x):
    return math.copysign(abs(x) ** (1.0 / 3.0), x)
""",
    ),
    "lerp": (
        (),
        """\
def lerp(a, b, t):
    return a * (1.0 - t) + b * t
""",
    ),
    "smoothstep": (
        (),
        """\
def smoothstep(edge0, edge1, x):
    t = min(max((x - edge0) / (edge1 - edge0), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)
""",
    ),
    "normalize": (
        ("np",),
        """\
def normalize(v):
    length = np.linalg.norm(v)
    return v / length if length > 0.0 else np.zeros_like(v)
""",
    ),
    "skew": (
        ("np",),
        """\
def skew(v):
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=v.dtype)
""",
    ),
    "quat_from_axis_angle": (
        ("math", "np"),
        """\
def quat_from_axis_angle(axis, angle):
    return np.append(axis * math.sin(0.5 * angle), math.cos(0.5 * angle))
""",
    ),
    "quat_inverse": (
        ("np",),
        """\
def quat_inverse(q):
    return np.append(-q[:3], q[3])
""",
    ),
    "quat_multiply": (
        ("np",),
        """\
def quat_multiply(a, b):
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - np.dot(a[:3], b[:3]))
""",
    ),
    "quat_rotate": (
        ("np",),
        """\
def quat_rotate(q, v):
    t = 2.0 * np.cross(q[:3], v)
    return v + q[3] * t + np.cross(q[:3], t)
""",
    ),
    "quat_to_matrix": (
        ("np",),
        """\
def quat_to_matrix(q):
    return np.column_stack([quat_rotate(q, axis) for axis in np.eye(3)])
""",
    ),
    "transform_point": (
        (),
        """\
def transform_point(t, v):
    return t[:3] + quat_rotate(t[3:], v)
""",
    ),
    "transform_inverse": (
        ("np",),
        """\
def transform_inverse(t):
    rotation = quat_inverse(t[3:])
    return np.concatenate([-quat_rotate(rotation, t[:3]), rotation])
""",
    ),
    "transform_multiply": (
        ("np",),
        """\
def transform_multiply(a, b):
    return np.concatenate([transform_point(a, b[:3]), quat_multiply(a[3:], b[3:])])
""",
    ),
}
"""By name: the modules that the text uses, and the text."""

NEEDS: dict[str, tuple[str, ...]] = {
    "quat_to_matrix": ("quat_rotate",),
    "transform_point": ("quat_rotate",),
    "transform_inverse": ("quat_inverse", "quat_rotate"),
    "transform_multiply": ("transform_point", "quat_multiply"),
}
"""By name: the helpers that a helper calls."""


def _closure(names: Set[str]) -> list[str]:
    """The helpers with all that they call, in the order of the table."""
    found, todo = set(names), list(names)
    while todo:
        for name in NEEDS.get(todo.pop(), ()):
            if name not in found:
                found.add(name)
                todo.append(name)
    return [name for name in HELPERS if name in found]


def spelled(name: str, taken: Set[str]) -> str:
    """The helper's name in a program that has taken some names for itself."""
    while name in taken:
        name += "_"
    return name


def helper_texts(names: Set[str], taken: Set[str]) -> tuple[set[str], list[str]]:
    """The modules and the texts of helpers with all that they call."""
    modules: set[str] = set()
    texts = []
    wanted = _closure(names)
    clashes = [name for name in wanted if name in taken]
    for name in wanted:
        needed, text = HELPERS[name]
        modules.update(needed)
        for clash in clashes:
            text = re.sub(rf"\b{clash}\b", spelled(clash, taken), text)
        texts.append(text.rstrip())
    return modules, texts
