"""Distances of points from shapes at the origin, negative inside."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, fn, make
from generators.program.dtypes import Vec
from generators.program.expr import Expr

Distance = Callable[[BodyBuilder, Expr, Expr, Expr], Expr]


def _ball(b: BodyBuilder, p: Expr, s: Expr, t: Expr) -> Expr:
    return fn("length", p) - s


def _box(b: BodyBuilder, p: Expr, s: Expr, t: Expr) -> Expr:
    """A rounded box: half width s, rounded by t."""
    assert isinstance(p.type, Vec)
    q: list[Expr] = [
        b.let(f"e{c}", fn("abs", p[n]) - s) for n, c in enumerate("xyz"[: p.type.size])
    ]
    outside = make(p.type, *(fn("max", part, 0.0) for part in q))
    deepest = q[0]
    for part in q[1:]:
        deepest = fn("max", deepest, part)
    reach = b.let(("outer", "out_part"), outside)
    return fn("sqrt", fn("dot", reach, reach)) + fn("min", deepest, 0.0) - t


def _capsule(b: BodyBuilder, p: Expr, s: Expr, t: Expr) -> Expr:
    """Along the y axis from -s to s, of radius t."""
    assert isinstance(p.type, Vec)
    y = p[1] - fn("clamp", p[1], -s, s)
    parts = [y if c == 1 else p[c] for c in range(p.type.size)]
    return fn("length", make(p.type, *parts)) - t


def _torus(b: BodyBuilder, p: Expr, s: Expr, t: Expr) -> Expr:
    """Around the y axis; in the plane a ring."""
    assert isinstance(p.type, Vec)
    if p.type.size == 2:
        return fn("abs", fn("length", p) - s) - t
    ring = b.let(("ring", "across"), fn("sqrt", p[0] * p[0] + p[2] * p[2]) - s)
    return fn("sqrt", ring * ring + p[1] * p[1]) - t


def _diamond(b: BodyBuilder, p: Expr, s: Expr, t: Expr) -> Expr:
    """An octahedron's bound, in the plane a diamond's."""
    assert isinstance(p.type, Vec)
    total: Expr = fn("abs", p[0])
    for c in range(1, p.type.size):
        total = total + fn("abs", p[c])
    return 0.577 * (total - s) if p.type.size == 3 else 0.7071 * (total - s)


SHAPES: dict[str, tuple[Distance, str, bool]] = {
    "ball": (_ball, "|q| - s", False),
    "rounded_box": (
        _box,
        "|max(e, 0)| + min(max component of e, 0) - t, e = |q| - s by component",
        True,
    ),
    "capsule": (_capsule, "|q with qy replaced by qy - clamp(qy, -s, s)| - t", True),
    "torus": (_torus, "sqrt((sqrt(qx^2 + qz^2) - s)^2 + qy^2) - t", True),
    "diamond": (_diamond, "0.577 * (|qx| + |qy| + |qz| - s)", False),
}
_FLAT = {"torus": "||q| - s| - t", "diamond": "0.7071 * (|qx| + |qy| - s)"}


def wording(name: str, vec: Vec) -> str:
    """The formula of a shape for points q."""
    flat = _FLAT.get(name, "") if vec.size == 2 else ""
    return flat or SHAPES[name][1]


def smooth_min(b: BodyBuilder, x: Expr, y: Expr, r: Expr) -> Expr:
    h = b.let(("h", "mix"), fn("clamp", 0.5 + 0.5 * (y - x) / r, 0.0, 1.0))
    return fn("lerp", y, x, h) - r * h * (1.0 - h)
