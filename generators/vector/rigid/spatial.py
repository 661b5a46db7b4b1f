"""Spatial vectors: twists and wrenches in other frames, and the dynamics of joints."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.program.dtypes import FLOAT32, Vec
from generators.program.expr import Construct, Expr, Op, Var
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    SETTING,
    Rig,
    inlined,
    is_set,
    mask,
    maybe_named,
    rig,
    told,
)


def _frame(r: Rig, level: int) -> tuple[Expr, str]:
    """The transform that vectors go through: a pose, its inverse, or one pose in another."""
    shape = r.k.draw.shape
    pose = r.given(("poses", "frames", "xforms"), ("pose", "xform"), r.pose, -1.0, 1.0,
                   init="unit", forms={"each": 3, "last": 1, "shared": 1})  # fmt: skip
    kinds = ("plain", "inverse") if level == 1 else ("plain", "inverse", "chain", "relative")
    form = shape.choice(kinds)
    if form == "plain":
        return pose, told(pose)
    if form == "inverse":
        return fn("transform_inverse", pose), f"inverse({told(pose)})"
    base = r.given(("bases", "parents"), ("base", "parent"), r.pose, -1.0, 1.0,
                   init="unit", forms=MOSTLY_ARRAY)  # fmt: skip
    left = fn("transform_inverse", base) if form == "relative" else base
    product = fn("transform_multiply", left, pose) if shape.chance(0.7) else left * pose
    shown = f"inverse({told(base)})" if form == "relative" else told(base)
    return product, f"{shown} * {told(pose)}"


def six(r: Rig, top: Expr, bottom: Expr, b: BodyBuilder | None = None) -> Expr:
    """The spatial vector of two halves."""
    if r.scalar == FLOAT32:
        return fn("spatial_vector", top, bottom)
    parts: list[Expr] = []
    for half, names in ((top, ("upper", "first")), (bottom, ("lower", "last"))):
        if isinstance(half, Construct):
            parts += [half.args[0]] * 3
            continue
        whole = (b or r.k).let(names, half) if isinstance(half, Op) else half
        parts += [whole[c] for c in range(3)]
    return make(Vec(6, r.scalar), *parts)


def moved(r: Rig, kind: str, level: int, x: Var, value: Expr) -> Expr:
    """A twist or wrench in the frame that the transform x leads to."""
    k, shape = r.k, r.k.draw.shape
    if r.scalar == FLOAT32 and shape.chance(0.6):
        return fn(f"transform_{kind}", x, value)
    if kind == "twist" and shape.chance(0.6):
        rot = k.let(("rot_mat", "rm"), fn("quat_to_matrix", fn("transform_get_rotation", x)))
        shift = fn("skew", fn("transform_get_translation", x)) * rot
        return fn("spatial_adjoint", rot, maybe_named(k, ("coupling", "lower_left"), shift)) * value

    def by_hand(b: BodyBuilder, x: Expr, s: Expr) -> Expr:
        p = maybe_named(b, ("p", "shift"), fn("transform_get_translation", x), 0.5)
        top = b.let(("top", "upper"), fn("transform_vector", x, fn("spatial_top", s)))
        bottom = b.let(("bottom", "below"), fn("transform_vector", x, fn("spatial_bottom", s)))
        if kind == "twist":
            return six(r, top, bottom + fn("cross", p, top), b)
        return six(r, top + fn("cross", p, bottom), bottom, b)

    args = [("x", x), ("s", value)]
    doc = f"A {kind} seen from the frame outside."
    return inlined(k, 0.7 * (level > 1), (f"move_{kind}", f"{kind}_outside"), args, by_hand, doc)


_WHOLE = {
    "twist": ("twists_out", "moved_twists", "world_twists"),
    "wrench": ("wrenches_out", "moved_wrenches", "world_wrenches"),
}
_MOVED_TEXT = {
    "twist": "(R w, R v + cross(p, R w)) for (w, v)",
    "wrench": "(R t + cross(p, R f), R f) for (t, f)",
}


@idiom
def move_spatial(k: KernelBuilder, level: int) -> Title:
    """Twists and wrenches seen from another frame, joint motion added, and their power."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "link"), ("env", "row", "robot"),
            scalar=FLOAT32 if shape.chance(0.75) else None)  # fmt: skip
    vec6 = Vec(6, r.scalar)
    frame, shown = _frame(r, level)
    x = k.let(("x", "xform", "to_world"), frame)
    kinds = shape.sample(("twist", "wrench"), 2 if level >= 4 else 1)
    done = f"With the transform x = {shown} of rotation R and position p"
    results: dict[str, Var] = {}
    for kind in kinds:
        names = {"twist": ("twists", "body_qd", "velocities"),
                 "wrench": ("wrenches", "body_f", "loads")}[kind]  # fmt: skip
        source = r.given(names, (), vec6, -1.5, 1.5, forms={"each": 1})
        value: Expr = k.let((kind, f"local_{kind}"), source) if level > 1 else source
        done += f", take the {kind} in {told(source)}"
        if level >= 2:
            assert isinstance(value, Var)
            done += _prepared(r, kind, level, value)
        done += f", as {_MOVED_TEXT[kind]}"
        result = moved(r, kind, level, x, value)
        results[kind] = k.let((f"{kind}_out", f"world_{kind}", f"moved_{kind}"), result)
    done += "."
    for kind, result in results.items():
        done += _stored(r, kind, level, result)
    if len(results) == 2:
        power = fn("spatial_dot", results["twist"], results["wrench"])
        done += f" {r.store(('powers', 'power_out'), power).name} gets the dot product of both."
    if level >= 5:
        done += _chained(r, results["twist"])
    own = "move_twists" if kinds[0] == "twist" else "move_wrenches"
    return Title(k.name(own, "change_frame", "spatial_transport"), done)


def _prepared(r: Rig, kind: str, level: int, value: Var) -> str:
    """What is added before the move: a joint's own motion, or a load."""
    k, shape = r.k, r.k.draw.shape
    form = shape.choice(("joint", "scaled", "masked") if level >= 3 else ("joint", "scaled"))
    if form == "joint":
        axis = r.given(("axes", "joint_axes"), ("axis",), r.vec, init="unit")
        rate = r.given(("joint_qd", "rates"), ("rate",), r.scalar, -1.5, 1.5, forms={"each": 1})
        half = shape.choice(("top", "bottom"))
        parts = (rate * axis, zero(r.vec)) if half == "top" else (zero(r.vec), rate * axis)
        k.augment(value, "add", six(r, *parts))
        return f" plus {told(rate)} * {told(axis)} in its {'first' if half == 'top' else 'last'} " \
            "three components"  # fmt: skip
    gain = r.given(("gains", "scales"), ("gain",), r.scalar, 0.3, 1.5)
    if form == "scaled":
        k.augment(value, "mul", gain)
        return f" times {told(gain)}"
    flag = mask(r, ("braked", "held", "faulty"), ("braked",))
    with k.if_(flag):
        k.augment(value, "mul", gain)
    return f", times {told(gain)} where {is_set(flag)}"


def _stored(r: Rig, kind: str, level: int, result: Var) -> str:
    k, shape = r.k, r.k.draw.shape
    form = shape.choice(("whole", "whole", "parts", "point") if kind == "twist" else
                        ("whole", "whole", "parts"))  # fmt: skip
    if form == "whole":
        return f" {r.store(_WHOLE[kind], result).name} gets the {kind}."
    if form == "parts":
        top = r.store((f"{kind}_top", "turning"), fn("spatial_top", result))
        bottom = r.store((f"{kind}_bottom", "pushing"), fn("spatial_bottom", result))
        return f" {top.name} gets the first three components of the {kind}, {bottom.name} the rest."
    point = r.given(("points", "probes"), ("probe", "point"), r.vec, -1.0, 1.0)
    if r.scalar == FLOAT32:
        speed = fn("velocity_at_point", result, point)
    else:
        w = k.let(("w", "omega"), fn("spatial_top", result))
        speed = fn("spatial_bottom", result) + fn("cross", w, point)
    out = r.store(("point_vels", "probe_vels"), speed)
    return f" {out.name} gets v + cross(w, {told(point)}) of the moved {kind}."


def _chained(r: Rig, twist: Var) -> str:
    """A linear velocity limit at the end."""
    k = r.k
    limit = r.given((), ("v_max", "speed_limit"), r.scalar, 1.0, 2.0, forms=SETTING)
    v = k.let(("v_lin", "linear"), fn("spatial_bottom", twist))
    speed = k.let(("speed", "v_len"), fn("length", v))
    with k.if_(speed > limit):
        k.augment(v, "mul", limit / speed)
    out = r.store(("safe_vels", "limited_vels"), v)
    return f" {out.name} gets the last three components of the twist, shortened to length " \
        f"{told(limit)} where longer."  # fmt: skip
