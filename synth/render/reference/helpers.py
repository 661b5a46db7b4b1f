"""Functions that the reference texts define when they need them, written from the mathematics."""

from __future__ import annotations

import re
from collections.abc import Set

from synth.render.reference.random import RANDOM_HELPERS, RANDOM_NEEDS
from synth.render.reference.rigid import RIGID_HELPERS, RIGID_NEEDS

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
    "inverse": (
        ("np",),
        """\
def inverse(m):
    return np.linalg.inv(m) if np.linalg.det(m) != 0.0 else np.zeros_like(m)
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
    "round_half_away": (
        ("math",),
        """\
def round_half_away(x):
    whole = math.trunc(x)
    return float(whole + math.copysign(1, x) if abs(x - whole) >= 0.5 else whole)
""",
    ),
    "frac": (
        ("math",),
        """\
def frac(x):
    return math.modf(x)[0]
""",
    ),
    "erfinv": (
        ("math",),
        """\
def erfinv(y):
    a, log_term = 0.147, math.log((1.0 - y) * (1.0 + y))
    half = 2.0 / (math.pi * a) + 0.5 * log_term
    x = math.copysign(math.sqrt(math.sqrt(half * half - log_term / a) - half), y)
    for _ in range(6):
        x -= (math.erf(x) - y) * 0.5 * math.sqrt(math.pi) * math.exp(x * x)
    return x
""",
    ),
    "erfcinv": (
        ("math",),
        """\
def erfcinv(y):
    x = erfinv(1.0 - y)
    for _ in range(4):
        x += (math.erfc(x) - y) * 0.5 * math.sqrt(math.pi) * math.exp(x * x)
    return x
""",
    ),
    "norm_huber": (
        ("np",),
        """\
def norm_huber(v, delta):
    size = float(np.linalg.norm(v))
    return 0.5 * size * size if size <= delta else delta * (size - 0.5 * delta)
""",
    ),
    "norm_pseudo_huber": (
        ("math", "np"),
        """\
def norm_pseudo_huber(v, delta):
    return delta * math.sqrt(1.0 + float(np.dot(v, v)) / (delta * delta))
""",
    ),
    "smooth_normalize": (
        (),
        """\
def smooth_normalize(v, delta):
    return v / norm_pseudo_huber(v, delta)
""",
    ),
    "lower_bound": (
        (),
        """\
def lower_bound(keys, value):
    low, high = 0, len(keys) - 1
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
""",
    ),
    **RIGID_HELPERS,
    **RANDOM_HELPERS,
}
"""By name: the modules that the text uses, and the text."""

NEEDS: dict[str, tuple[str, ...]] = {
    "erfcinv": ("erfinv",),
    "smooth_normalize": ("norm_pseudo_huber",),
    **RIGID_NEEDS,
    **RANDOM_NEEDS,
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
