"""Twists and wrenches from one frame to another: by the 6x6 adjoint matrix or by halves."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title
from generators.program.dtypes import FLOAT32, Vec
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import EACH, Rig, rig, told
from generators.vector.rigid.spatial import six

_POSE = {"each": 5, "last": 2, "shared": 2}


def _pose(r: Rig) -> tuple[Var, Var, str]:
    """Rotation and position that move the vectors: of a pose, its inverse, or two arrays."""
    k, shape = r.k, r.k.draw.shape
    if shape.chance(0.3):
        rot = r.given(("rots", "quats"), ("rot",), r.quat, init="unit", forms=_POSE)
        place = r.given(("positions", "origins"), ("origin",), r.vec, -1.0, 1.0, forms=_POSE)
        text = f"rotation R of {told(rot)} and p = {told(place)}"
        return k.let(("q", "turn"), rot), k.let(("p", "arm"), place), text
    many, one = ("poses", "frames", "xforms"), ("pose", "frame", "xform")
    pose = r.given(many, one, r.pose, -1.0, 1.0, init="unit", forms=_POSE)
    text = f"rotation R and position p of {told(pose)}"
    if shape.chance(0.4):
        pose = k.let(("inv_pose", "into"), fn("transform_inverse", pose))
        text = text.replace(" of ", " of the inverse of ")
    elif not isinstance(pose, Var):
        pose = k.let(("x", "xf"), pose)
    rot = k.let(("q", "turn"), fn("transform_get_rotation", pose))
    return rot, k.let(("p", "arm"), fn("transform_get_translation", pose)), text


def _by_matrix(r: Rig, q: Var, p: Var, moved: Expr, force: bool) -> tuple[Expr, str]:
    """The product with the adjoint matrix, or for wrenches with its transpose."""
    k = r.k
    rot = k.let(("rot", "basis"), fn("quat_to_matrix", q))
    ad = k.let(("ad", "adj", "motion_m"), fn("spatial_adjoint", rot, fn("skew", p) * rot))
    text = "A = (R, 0; skew(p) * R, R), take u = "
    if force:
        return fn("transpose", ad) * moved, f"{text}transpose(A) * {told(moved)}"
    return ad * moved, f"{text}A * {told(moved)}"


def _by_halves(r: Rig, q: Var, p: Var, moved: Expr, force: bool) -> tuple[Expr, str]:
    """The rotated halves, the one that belongs to the origin shifted by the arm."""
    k = r.k
    item = k.let(("wrench", "load") if force else ("twist", "motion"), moved)
    top, bottom = ("torque", "push") if force else ("spin", "drift")
    first = k.let(top, fn("quat_rotate", q, fn("spatial_top", item)))
    second = k.let(bottom, fn("quat_rotate", q, fn("spatial_bottom", item)))
    if force:
        value = six(r, first + fn("cross", p, second), second, k)
        return value, f"(t, f) = {told(moved)}, take u = (R t + cross(p, R f), R f)"
    value = six(r, first, second + fn("cross", p, first), k)
    return value, f"(w, v) = {told(moved)}, take u = (R w, R v + cross(p, R w))"


def moved_by_adjoint(k: KernelBuilder) -> Title:
    """Level 1 of ``adjoint_inertia``: one twist or wrench of each thread, seen from elsewhere."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "link"), ("env", "robot"),
            scalar=FLOAT32 if shape.chance(0.7) else None)  # fmt: skip
    force = shape.chance(0.4)
    names = ("wrenches", "loads", "body_f") if force else ("twists", "body_qd", "motions")
    moved = r.given(names, (), Vec(6, r.scalar), -1.5, 1.5, forms={"each": 4, "last": 1})
    q, p, text = _pose(r)
    way = _by_halves if shape.chance(0.4) else _by_matrix
    value, rule = way(r, q, p, moved, force)
    done = f"With {text} and {rule}." + _delivered(r, value, force)
    title = ("move_wrenches", "shift_loads") if force else ("move_twists", "twist_to_frame")
    return Title(k.name(*title), done)


def _delivered(r: Rig, value: Expr, force: bool) -> str:
    """The moved vector: whole, in halves, added up, or its product with its counterpart."""
    k = r.k
    form = k.draw.shape.choice(("whole", "halves", "added", "power"))
    wholes = ("moved_wrenches", "loads_out") if force else ("moved_twists", "twists_out")
    if form == "whole":
        return f" {r.store(wholes, value).name} gets u."
    if form == "added":
        out = k.array(wholes, value.type, r.dims, role="inout", low=-1.0, high=1.0)
        k.store(out, r.at, value, op="add")
        return f" It is added to {out.name}."
    held = k.let(("moved", "seen", "u"), value)
    if form == "power":
        names = ("body_qd", "motions") if force else ("body_f", "applied")
        other = r.given(tuple(n for n in names if n not in k.used), (), held.type, -1.0, 1.0,
                        forms=EACH)  # fmt: skip
        out = r.store(("powers", "work_rates"), fn("spatial_dot", other, held))
        return f" {out.name} gets dot({told(other)}, u)."
    first, second = ("torques", "forces") if force else ("angular_out", "linear_out")
    top = r.store((first,), fn("spatial_top", held))
    bottom = r.store((second,), fn("spatial_bottom", held))
    return f" {top.name} gets its first three components, {bottom.name} the rest."
