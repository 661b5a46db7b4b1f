"""Spatial inertia seen from other frames: momentum, energy and forces through adjoints."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32, Vec
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    EACH,
    MOSTLY_ARRAY,
    PROPERTY,
    SETTING,
    Rig,
    inlined,
    is_set,
    mask,
    rig,
    told,
)
from generators.vector.rigid.record import Record, Slot
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


def _matrix(b: BodyBuilder, pose: Expr) -> Expr:
    rot = b.let(("rot", "rm", "basis"), fn("quat_to_matrix", fn("transform_get_rotation", pose)))
    p = fn("skew", fn("transform_get_translation", pose))
    return fn("spatial_adjoint", rot, p * rot)


def _inertia(r: Rig, link: Record, twist: Expr) -> tuple[Expr, str]:
    """Momentum of a body about its centre, from a mass and principal moments."""
    k = r.k

    def build(b: BodyBuilder, moments: Expr, mass: Expr, twist: Expr) -> Expr:
        top = b.let(("spin", "upper"), fn("cw_mul", moments, fn("spatial_top", twist)))
        bottom = b.let(("push", "lower"), mass * fn("spatial_bottom", twist))
        return six(r, top, bottom, b)

    args = [("moments", link["moments"]), ("mass", link["mass"]), ("twist", twist)]
    value = inlined(k, 0.4, ("momentum_of", "apply_inertia"), args, build)
    return value, f"({link.told('moments')} * w by components, {link.told('mass')} * v)"


@idiom
def adjoint_inertia(k: KernelBuilder, level: int) -> Title:
    """Twists through the adjoint of a pose, and the momentum that comes back through it."""
    if level == 1:
        return moved_by_adjoint(k)
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "link"), ("env", "robot"),
            scalar=FLOAT32 if shape.chance(0.7) else None)  # fmt: skip
    vec6 = Vec(6, r.scalar)
    slots = {
        "pose": Slot(("pose", "frame"), ("poses", "frames", "xforms"), r.pose, -1.0, 1.0, "unit"),
        "moments": Slot(("moments", "inertia"), ("moments", "inertias"), r.vec, 0.5, 2.0,
                        forms={"each": 2, "last": 1, "shared": 1}),
        "mass": Slot(("mass", "m"), ("masses",), r.scalar, 0.5, 2.0, forms=PROPERTY),
    }  # fmt: skip
    link = Record(
        r, slots, as_struct=shape.chance(0.5), struct=("Link", "Segment"),
        arrays=("links", "segments"), local=("link_data", "seg", "item"),
    )  # fmt: skip
    twists = r.given(("twists", "body_qd", "motions"), (), vec6, -1.5, 1.5,
                     forms={"each": 4, "last": 1})  # fmt: skip
    pose: Expr = k.let(("x", "xf", "frame"), link["pose"])
    inward = shape.chance(0.5)
    into = pose
    if inward:
        into = k.let(("inv_x", "into", "inv_pose"), fn("transform_inverse", pose))
    matrix = inlined(k, 0.5, ("adjoint_of", "motion_matrix"), [("pose", into)],
                     _matrix, "The matrix that moves twists by a pose.")  # fmt: skip
    ad = k.let(("ad", "adj", "motion_m"), matrix)
    twist = k.let(("twist", "moved", "u"), ad * twists)
    of = f"{'the inverse of ' if inward else ''}{link.told('pose')}"
    done = f"With rotation R and position p of {of}, A = (R, 0; skew(p) * R, R) and "
    done += f"u = A * {told(twists)}"
    if shape.chance(0.6):
        add = r.given(("joint_v", "drifts"), ("drift",), vec6, -0.5, 0.5, forms=MOSTLY_ARRAY)
        k.augment(twist, "add", add)
        done += f" + {told(add)}"
    done += "."
    momentum, text = _inertia(r, link, twist)
    h = k.let(("h", "momentum"), momentum)
    done += f" With u = (w, v), h = {text}."
    if level >= 3:
        done += _changed(r, level, h)
    out = r.store(("momenta", "base_momenta", "loads"), fn("transpose", ad) * h)
    done += f" {out.name} gets transpose(A) * h."
    if level >= 3 or shape.chance(0.5):
        energy = fn("spatial_dot", twist, h)
        half = " / 2" if shape.chance(0.6) else ""
        out = r.store(("energies", "works"), 0.5 * energy if half else energy)
        done += f" {out.name} gets dot(u, h){half}."
    if level >= 4:
        done += _carried(r, level, pose, inward, twist, h)
    names = ("adjoint_inertia", "carry_momentum", "move_inertia", "articulated_terms")
    return Title(k.name(*names), done)


def _changed(r: Rig, level: int, h: Var) -> str:
    """An impulse that the momentum takes up, everywhere or where a flag is set."""
    k, shape = r.k, r.k.draw.shape
    hit = r.given(("impulses", "hits"), (), Vec(6, r.scalar), -1.0, 1.0, forms={"each": 1})
    keep = r.given(("keeps",), ("keep", "share"), r.scalar, 0.3, 0.9, forms=PROPERTY)
    if shape.chance(0.4):
        k.augment(h, "add", keep * hit)
        return f" {told(keep)} * {told(hit)} is added to h."
    flag = mask(r, ("struck", "loaded", "touched"), ("struck",))
    with k.if_(flag):
        k.augment(h, "add", hit)
    if shape.chance(0.5):
        with k.else_():
            k.augment(h, "mul", keep)
        return f" Where {is_set(flag)} {told(hit)} is added to h, else h is multiplied by " \
            f"{told(keep)}."  # fmt: skip
    k.augment(h, "mul", keep)
    return f" Where {is_set(flag)} {told(hit)} is added to h; then it is multiplied by " \
        f"{told(keep)}."  # fmt: skip


def _carried(r: Rig, level: int, pose: Expr, inward: bool, twist: Var, h: Var) -> str:
    """The bias force, here and in the frame that the twists came from."""
    k = r.k
    bias = k.let(("bias", "gyro"), fn("spatial_cross_dual", twist, h))
    done = f" {r.store(('biases', 'bias_forces'), bias).name} gets crossdual(u, h) = (w x a + v x "
    done += "b, w x b) for h = (a, b)."
    if r.scalar == FLOAT32:
        back, of = pose, "the pose"
        if not inward:
            back = k.let(("back", "inv_pose"), fn("transform_inverse", pose))
            of = "the inverse of the pose"
        out = r.store(("returned", "world_forces"), fn("transform_wrench", back, bias))
        done += f" {out.name} gets (S t + cross(q, S f), S f) for that force (t, f), with rotation "
        done += f"S and position q of {of}."
    if level >= 5:
        limit = r.given((), ("f_max", "limit"), r.scalar, 1.0, 2.0, forms=SETTING)
        push = k.let(("pull", "linear_f"), fn("spatial_bottom", bias))
        size = k.let(("f_len", "strength"), fn("length", push))
        with k.if_(size > limit):
            k.augment(push, "mul", limit / size)
        out = r.store(("safe_forces", "limited"), push)
        done += f" {out.name} gets the last three components of that force, shortened to length "
        done += f"{told(limit)} where longer."
    return done
