"""Matrices that take a tensor to another frame."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn, make
from generators.kit.naming import held
from generators.kit.sites import Site
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import Mat, Quat, Scalar, Vec
from generators.program.expr import Expr

Frame = tuple[Expr, str]


def _by_quaternion(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    source = g.array("rotations orientations", Quat(scalar), init="unit")
    r = k.let("r rot", fn("quat_to_matrix", source[g.at]))
    return r, f"R the rotation {source.name}"


def _by_scales(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    scales = given(g, "scale extent", Vec(3, scalar), 0.3, 1.6, many="scales extents")
    turns = g.array("rotations orientations", Quat(scalar), init="unit")
    rot = k.let("rot q_mat", fn("quat_to_matrix", turns[g.at]))
    r = k.let("r rs", rot * fn("diag", scales))
    return r, f"R the rotation {turns.name} times diag({say(k, scales)})"


def _by_matrix(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    source = given(g, "transition jac", Mat(3, 3, scalar), -1.0, 1.0, many="transitions jacobians")
    return held(k, "r f", source), f"R = {say(k, source)}"


def _by_projection(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    """The derivative of a perspective projection, as splatting uses it."""
    points = g.array("centers view_points", Vec(3, scalar), 0.5, 1.5)
    p = k.let("p view", points[g.at])
    focal = given(g, "focal f_len", scalar, 0.8, 1.6, many="focals")
    inv = k.let("inv_z iz", 1.0 / p[2])
    nil = k.lift(0.0, scalar)
    entries = (
        focal * inv,
        nil,
        -focal * p[0] * inv * inv,
        nil,
        focal * inv,
        -focal * p[1] * inv * inv,
    )
    r = k.let("r proj", make(Mat(2, 3, scalar), *entries))
    text = f"R = ((f / z, 0, -f x / z^2), (0, f / z, -f y / z^2)), f = {say(k, focal)}"
    return r, f"{text}, (x, y, z) = {points.name}"


def _by_rows(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    source = g.array("observation h_mats", Mat(2, 3, scalar), -1.0, 1.0)
    return k.let("r h", source[g.at]), f"R = {source.name}"


def _by_basis(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    axes = g.array("tangents axes", Vec(3, scalar), init="unit")
    other = g.array("helpers hints", Vec(3, scalar), -1.0, 1.0)
    u, v = k.let("u tangent", axes[g.at]), k.let("v hint", other[g.at])
    w = k.let("w bitangent", fn("cross", u, v))
    order = k.draw.shape.choice(("matrix_from_rows", "matrix_from_cols"))
    r = k.let("r basis", fn(order, u, v, w))
    what = "rows" if order.endswith("rows") else "columns"
    return r, f"R with the {what} u, v, cross(u, v), u = {axes.name}, v = {other.name}"


FRAMES: dict[str, Callable[[KernelBuilder, Site, Scalar], Frame]] = {
    "quaternion": _by_quaternion,
    "scales": _by_scales,
    "matrix": _by_matrix,
    "projection": _by_projection,
    "rows": _by_rows,
    "basis": _by_basis,
}
