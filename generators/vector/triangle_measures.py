"""Areas, centres, angles and barycentric coordinates of triangles."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, fn, make
from generators.kit.functions import atan2, dot
from generators.program.dtypes import Vec
from generators.program.expr import Expr

Corners = tuple[Expr, Expr, Expr]
Measure = Callable[[BodyBuilder, Expr, Expr, Expr], Expr]


def _cross(b: BodyBuilder, u: Expr, v: Expr) -> Expr:
    """The cross product; in the plane its one component."""
    assert isinstance(u.type, Vec)
    if u.type.size == 3:
        return fn("cross", u, v)
    return u[0] * v[1] - u[1] * v[0]


def area(b: BodyBuilder, p: Expr, q: Expr, r: Expr) -> Expr:
    assert isinstance(p.type, Vec)
    e1, e2 = b.let("e1 ab edge1", q - p), b.let("e2 ac edge2", r - p)
    twice = _cross(b, e1, e2)
    return 0.5 * (fn("length", twice) if p.type.size == 3 else abs(twice))


def lengths(b: BodyBuilder, p: Expr, q: Expr, r: Expr) -> Corners:
    """Lengths of the sides opposite to each corner."""
    names = (("la", "len_a"), ("lb", "len_b"), ("lc", "len_c"))
    sides = zip(names, ((q, r), (r, p), (p, q)), strict=True)
    first, second, third = (b.let(n, fn("length", v - u)) for n, (u, v) in sides)
    return first, second, third


def _incentre(b: BodyBuilder, p: Expr, q: Expr, r: Expr) -> Expr:
    x, y, z = lengths(b, p, q, r)
    return (x * p + y * q + z * r) / (x + y + z)


def _circumcentre(b: BodyBuilder, p: Expr, q: Expr, r: Expr) -> Expr:
    u, v = b.let("u ab", q - p), b.let("v ac", r - p)
    n = b.let("n axb", _cross(b, u, v))
    assert isinstance(p.type, Vec)
    if p.type.size == 3:
        top = fn("length_sq", v) * fn("cross", n, u) + fn("length_sq", u) * fn("cross", v, n)
        return p + top / (2.0 * dot(n, n))
    uu, vv = b.let("uu ab_sq", dot(u, u)), b.let("vv ac_sq", dot(v, v))
    return p + make(p.type, v[1] * uu - u[1] * vv, u[0] * vv - v[0] * uu) / (2.0 * n)


def _angle(b: BodyBuilder, p: Expr, q: Expr, r: Expr) -> Expr:
    u, v = b.let("u ab", q - p), b.let("v ac", r - p)
    turn = _cross(b, u, v)
    assert isinstance(p.type, Vec)
    return atan2(fn("length", turn) if p.type.size == 3 else turn, dot(u, v))


def _perimeter(b: BodyBuilder, p: Expr, q: Expr, r: Expr) -> Expr:
    return fn("length", q - p) + fn("length", r - q) + fn("length", p - r)


MEASURES: dict[str, tuple[Measure, str]] = {
    "area": (area, "the area |cross(b - a, c - a)| / 2"),
    "perimeter": (_perimeter, "the perimeter"),
    "centroid": (lambda b, p, q, r: (p + q + r) / 3.0, "the centroid"),
    "incentre": (_incentre, "the incentre (corners weighted by the lengths of opposite sides)"),
    "circumcentre": (_circumcentre, "the circumcentre"),
    "angle": (_angle, "the angle at a in radians, by atan2 (signed in the plane)"),
    "normal": (
        lambda b, p, q, r: fn("normalize", fn("cross", q - p, r - p)),
        "the unit normal along cross(b - a, c - a)",
    ),
}


def weights(b: BodyBuilder, p: Expr, x: Expr, y: Expr, z: Expr) -> Expr:
    """Barycentric coordinates of ``p``, by Cramer's rule on its projection."""
    v0, v1 = b.let("v0 e0", y - x), b.let("v1 e1", z - x)
    v2 = b.let("v2 ep", p - x)
    d00, d01 = b.let("d00", dot(v0, v0)), b.let("d01", dot(v0, v1))
    d11 = b.let("d11", dot(v1, v1))
    d20, d21 = b.let("d20", dot(v2, v0)), b.let("d21", dot(v2, v1))
    denom = b.let("denom det", d00 * d11 - d01 * d01)
    v = b.let("bv lam1", (d11 * d20 - d01 * d21) / denom)
    w = b.let("bw lam2", (d00 * d21 - d01 * d20) / denom)
    assert isinstance(p.type, Vec)
    return make(Vec(3, p.type.scalar), 1.0 - v - w, v, w)
