"""Matrices that take a tensor to another frame."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn, make
from generators.matrix.small.grid import Grid, held, say
from generators.program.dtypes import Mat, Quat, Scalar, Vec
from generators.program.expr import Expr

Frame = tuple[Expr, str]


def _by_quaternion(k: KernelBuilder, g: Grid, scalar: Scalar) -> Frame:
    source = g.array(("rotations", "orientations"), Quat(scalar), init="unit")
    r = k.let(("r", "rot"), fn("quat_to_matrix", source[g.index]))
    return r, f"R the rotation {source.name}"


def _by_scales(k: KernelBuilder, g: Grid, scalar: Scalar) -> Frame:
    scales = g.supply(("scale", "extent"), ("scales", "extents"), Vec(3, scalar), 0.3, 1.6)
    turns = g.array(("rotations", "orientations"), Quat(scalar), init="unit")
    rot = k.let(("rot", "q_mat"), fn("quat_to_matrix", turns[g.index]))
    r = k.let(("r", "rs"), rot * fn("diag", scales))
    return r, f"R the rotation {turns.name} times diag({say(scales)})"


def _by_matrix(k: KernelBuilder, g: Grid, scalar: Scalar) -> Frame:
    source = g.supply(
        ("transition", "jac"), ("transitions", "jacobians"), Mat(3, 3, scalar), -1.0, 1.0
    )
    return held(k, ("r", "f"), source), f"R = {say(source)}"


def _by_projection(k: KernelBuilder, g: Grid, scalar: Scalar) -> Frame:
    """The derivative of a perspective projection, as splatting uses it."""
    points = g.array(("centers", "view_points"), Vec(3, scalar), 0.5, 1.5)
    p = k.let(("p", "view"), points[g.index])
    focal = g.supply(("focal", "f_len"), ("focals",), scalar, 0.8, 1.6)
    inv = k.let(("inv_z", "iz"), 1.0 / p[2])
    nil = k.lift(0.0, scalar)
    entries = (
        focal * inv,
        nil,
        -focal * p[0] * inv * inv,
        nil,
        focal * inv,
        -focal * p[1] * inv * inv,
    )
    r = k.let(("r", "proj"), make(Mat(2, 3, scalar), *entries))
    text = f"R = ((f / z, 0, -f x / z^2), (0, f / z, -f y / z^2)), f = {say(focal)}"
    return r, f"{text}, (x, y, z) = {points.name}"


def _by_rows(k: KernelBuilder, g: Grid, scalar: Scalar) -> Frame:
    source = g.array(("observation", "h_mats"), Mat(2, 3, scalar), -1.0, 1.0)
    return k.let(("r", "h"), source[g.index]), f"R = {source.name}"


def _by_basis(k: KernelBuilder, g: Grid, scalar: Scalar) -> Frame:
    axes = g.array(("tangents", "axes"), Vec(3, scalar), init="unit")
    other = g.array(("helpers", "hints"), Vec(3, scalar), -1.0, 1.0)
    u, v = k.let(("u", "tangent"), axes[g.index]), k.let(("v", "hint"), other[g.index])
    w = k.let(("w", "bitangent"), fn("cross", u, v))
    order = k.draw.shape.choice(("matrix_from_rows", "matrix_from_cols"))
    r = k.let(("r", "basis"), fn(order, u, v, w))
    what = "rows" if order.endswith("rows") else "columns"
    return r, f"R with the {what} u, v, cross(u, v), u = {axes.name}, v = {other.name}"


FRAMES: dict[str, Callable[[KernelBuilder, Grid, Scalar], Frame]] = {
    "quaternion": _by_quaternion,
    "scales": _by_scales,
    "matrix": _by_matrix,
    "projection": _by_projection,
    "rows": _by_rows,
    "basis": _by_basis,
}
