"""Kinds of curves: points and derivatives by control points and a parameter."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from generators.build import BodyBuilder, fn
from generators.program.expr import Expr

Curve = Callable[[BodyBuilder, list[Expr], Expr], Expr]


def casteljau(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    """Repeated blends of neighbours."""
    level, stem = list(points), b.draw.word.choice(("q", "mix", "ab"))
    used = 0
    while len(level) > 1:
        blended: list[Expr] = []
        for p, q in pairwise(level):
            value: Expr = fn("lerp", p, q, t)
            blended.append(b.let(f"{stem}{used}", value) if len(level) > 2 else value)
            used += 1
        level = blended
    return level[0]


def _bernstein(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    s = b.let(("s", "omt"), 1.0 - t)
    if len(points) == 3:
        return s * s * points[0] + 2.0 * s * t * points[1] + t * t * points[2]
    head = s * s * s * points[0] + 3.0 * s * s * t * points[1]
    return head + 3.0 * s * t * t * points[2] + t * t * t * points[3]


def _bezier_slope(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    s = b.let(("s1", "one_minus_t"), 1.0 - t)
    p = points
    if len(p) == 3:
        return 2.0 * (s * (p[1] - p[0]) + t * (p[2] - p[1]))
    middle = 2.0 * s * t * (p[2] - p[1])
    return 3.0 * (s * s * (p[1] - p[0]) + middle + t * t * (p[3] - p[2]))


def _hermite(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    t2 = b.let(("t2", "tt"), t * t)
    t3 = b.let(("t3", "ttt"), t2 * t)
    start = (2.0 * t3 - 3.0 * t2 + 1.0) * points[0] + (t3 - 2.0 * t2 + t) * points[1]
    return start + (3.0 * t2 - 2.0 * t3) * points[2] + (t3 - t2) * points[3]


def _hermite_slope(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    u = b.let(("u2", "tsq"), t * t)
    start = 6.0 * (u - t) * (points[0] - points[2])
    return start + (3.0 * u - 4.0 * t + 1.0) * points[1] + (3.0 * u - 2.0 * t) * points[3]


def _catmull(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    p = points
    c1 = b.let(("c1", "lin"), p[2] - p[0])
    c2 = b.let(("c2", "quad"), 2.0 * p[0] - 5.0 * p[1] + 4.0 * p[2] - p[3])
    c3 = b.let(("c3", "cub"), 3.0 * (p[1] - p[2]) + p[3] - p[0])
    return 0.5 * (2.0 * p[1] + t * (c1 + t * (c2 + t * c3)))


def _bspline(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    s = b.let(("s", "omt"), 1.0 - t)
    t2, t3 = b.let(("t2", "tt"), t * t), b.let(("t3", "ttt"), t * t * t)
    first = s * s * s * points[0] + (3.0 * t3 - 6.0 * t2 + 4.0) * points[1]
    return (first + (3.0 * (t2 + t - t3) + 1.0) * points[2] + t3 * points[3]) / 6.0


KINDS: dict[str, tuple[int, tuple[Curve, ...], Curve | None, str]] = {
    "quadratic": (
        3,
        (casteljau, _bernstein),
        _bezier_slope,
        "the quadratic Bezier curve (1-t)^2 {0} + 2 (1-t) t {1} + t^2 {2}",
    ),
    "cubic": (
        4,
        (casteljau, _bernstein),
        _bezier_slope,
        "the cubic Bezier curve (1-t)^3 {0} + 3 (1-t)^2 t {1} + 3 (1-t) t^2 {2} + t^3 {3}",
    ),
    "hermite": (
        4,
        (_hermite,),
        _hermite_slope,
        "the cubic Hermite curve from {0} (tangent {1}) to {2} (tangent {3})",
    ),
    "catmull_rom": (
        4,
        (_catmull,),
        None,
        "the Catmull-Rom segment from {1} to {2} (before it {0}, after it {3})",
    ),
    "bspline": (4, (_bspline,), None, "the uniform cubic B-spline segment of {0}, {1}, {2}, {3}"),
}
