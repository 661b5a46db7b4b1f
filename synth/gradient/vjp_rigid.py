"""Adjoints of rotations and of spatial vectors, as :mod:`synth.gradient.vjp` has those of numbers.

Quaternions are those of rotations, of length 1: by one, the derivative is told along the sphere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.program.dtypes import Mat, Vec, scalar_of
from generators.program.expr import Construct, Expr, literal, op
from synth.gradient.terms import applied, minus, plus, times, zero

Terms = Sequence[Expr | None]
Vjp = Callable[[Sequence[Expr], Expr, Expr], Terms]


def _rotated(inverse: str) -> Vjp:
    def vjp(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
        q, v = args
        return [_by_rotation(q, v, g, inverse), applied(inverse, q, g)]

    return vjp


def _by_rotation(q: Expr, v: Expr, g: Expr, inverse: str) -> Expr:
    """The derivative by q of v (2 w^2 - 1) + 2 w (u x v) + 2 u (u . v), u and w the parts of q; of
    the inverse rotation with -u for u."""
    kind = scalar_of(q.type)
    sign = 1.0 if inverse == "quat_rotate_inv" else -1.0
    u = Construct((q[0], q[1], q[2]), Vec(3, kind))
    w, two = q[3], literal(2.0, kind)
    turn = op("cross", v, g)
    along = op("add", times(op("dot", u, v), g), times(op("dot", u, g), v))
    by_u = times(two, op("add", times(literal(sign, kind) * w, turn), along))
    turned = times(literal(sign, kind), op("dot", u, turn))
    by_w = times(two, plus(times(two * w, op("dot", g, v)), turned))
    return Construct((by_u[0], by_u[1], by_u[2], by_w), q.type)


def _to_matrix(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    """The entries of a rotation's matrix are products of two parts of the quaternion."""
    (q,) = args
    assert isinstance(g.type, Mat)
    x, y, z, w = q[0], q[1], q[2], q[3]
    kind = scalar_of(q.type)

    def twice(e: Expr) -> Expr:
        return literal(2.0, kind) * e

    def both(i: int, j: int) -> Expr:
        return g[i, j] + g[j, i]

    turns = g[2, 1] - g[1, 2], g[0, 2] - g[2, 0], g[1, 0] - g[0, 1]
    by_x = both(0, 1) * y + both(0, 2) * z + turns[0] * w - twice(x) * (g[1, 1] + g[2, 2])
    by_y = both(0, 1) * x + both(1, 2) * z + turns[1] * w - twice(y) * (g[0, 0] + g[2, 2])
    by_z = both(0, 2) * x + both(1, 2) * y + turns[2] * w - twice(z) * (g[0, 0] + g[1, 1])
    by_w = turns[0] * x + turns[1] * y + turns[2] * z
    return [Construct(tuple(twice(part) for part in (by_x, by_y, by_z, by_w)), q.type)]


def _from_axis_angle(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    axis, angle = args
    half = literal(0.5, angle.type) * angle
    by_vector = Construct((g[0], g[1], g[2]), axis.type)
    sine, cosine = op("sin", half), op("cos", half)
    by_half = minus(times(cosine, op("dot", by_vector, axis)), times(sine, g[3]))
    return [times(sine, by_vector), times(literal(0.5, angle.type), by_half)]


def _half_of_spatial(first: int) -> Vjp:
    def vjp(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
        nothing = zero(scalar_of(g.type))
        parts = [g[k - first] if first <= k < first + 3 else nothing for k in range(6)]
        return [Construct(tuple(parts), args[0].type)]

    return vjp


def _spatial_dot(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    return [times(g, args[1]), times(g, args[0])]


def _velocity_at_point(args: Sequence[Expr], _: Expr, g: Expr) -> Terms:
    """Of v + w x r, where w is the first half of the spatial vector and v the second."""
    s, r = args
    w = Construct((s[0], s[1], s[2]), r.type)
    by_w = op("cross", r, g)
    parts = (by_w[0], by_w[1], by_w[2], g[0], g[1], g[2])
    return [Construct(parts, s.type), op("cross", g, w)]


RIGID_VJPS: dict[str, Vjp] = {
    "quat_inverse": lambda args, out, g: [op("quat_inverse", g)],
    "quat_rotate": _rotated("quat_rotate_inv"),
    "quat_rotate_inv": _rotated("quat_rotate"),
    "quat_to_matrix": _to_matrix,
    "quat_from_axis_angle": _from_axis_angle,
    "spatial_top": _half_of_spatial(0),
    "spatial_bottom": _half_of_spatial(3),
    "spatial_dot": _spatial_dot,
    "velocity_at_point": _velocity_at_point,
}
"""The adjoints of those ops of rotations and spatial vectors that have one."""
