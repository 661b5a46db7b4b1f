"""Words: plurals of names."""

from __future__ import annotations

from collections.abc import Sequence

_IRREGULAR = {
    "axis": "axes",
    "bounds": "bounds_list",
    "radius": "radii",
    "vertex": "vertices",
    "body": "bodies",
    "mass": "masses",
    "index": "indices",
    "vortex": "vortices",
    "pos": "positions",
    "vel": "velocities",
}
_UNCOUNTED = ("ness", "ing", "gravity", "drag", "albedo", "density", "radiance")


def plural(name: str) -> str:
    if name in _IRREGULAR:
        return _IRREGULAR[name]
    if len(name) == 2:
        return name
    if name.endswith(_UNCOUNTED):
        return f"{name}_field"
    if name.endswith("y") and not name.endswith(("ay", "ey", "oy")):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"


def plurals(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(plural, names))
