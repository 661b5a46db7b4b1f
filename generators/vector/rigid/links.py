"""Chains of links in spatial vectors: twists outward, wrenches inward."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.program.dtypes import FLOAT32, Type, Vec
from generators.program.expr import Expr, Var
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    PROPERTY,
    SETTING,
    Rig,
    inlined,
    rig,
    told,
)

_VEC6 = Vec(6, FLOAT32)


class Links:
    """Links of one robot: frames at their joints, axes, subspaces."""

    def __init__(self, r: Rig, as_struct: bool) -> None:
        k = r.k
        self.as_struct, self.r = as_struct, r
        self.turning = r.k.draw.shape.chance(0.6)
        kinds: list[tuple[str, tuple[str, ...], Type, str]] = [
            ("subspace", ("subspaces", "joint_s", "screws"), _VEC6, "uniform")
        ]
        if self.turning:
            kinds.append(("offset", ("offsets", "link_pos"), r.vec, "uniform"))
            kinds.append(("axis", ("axes", "hinges"), r.vec, "unit"))
        else:
            kinds.append(("frame", ("frames", "link_poses"), r.pose, "unit"))
        if as_struct:
            fields = [FieldInit(n, t, i, "-1.0", "1.0") for n, _, t, i in kinds]
            struct = k.struct(k.name("Link", "LinkInfo"), *((f.name, f.type) for f in fields))
            self.items = k.array(("links", "robot", "chain"), struct, "q", fields=fields)
            self.told = {f.name: f"{f.name} of {self.items.name}" for f in fields}
        else:
            self.arrays = {n: k.array(m, t, "q", init=i, low=-1.0, high=1.0)
                           for n, m, t, i in kinds}  # fmt: skip
            self.told = {n: array.name for n, array in self.arrays.items()}

    def at(self, s: Expr) -> dict[str, Expr]:
        if not self.as_struct:
            return {n: array[s] for n, array in self.arrays.items()}
        link = self.r.k.let(("link", "info"), self.items[s])
        return {n: field(link, n) for n in self.told}


def _adjoint(b: BodyBuilder, x: Expr) -> Expr:
    rot = b.let(("rot", "rm"), fn("quat_to_matrix", fn("transform_get_rotation", x)))
    shift = fn("skew", fn("transform_get_translation", x))
    return fn("spatial_adjoint", rot, shift * rot)


@idiom
def link_chain(k: KernelBuilder, level: int) -> Title:
    """Twists carried along a chain of links, or wrenches back to its base."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "arm"), ("env", "trial"), grids={1: 4, 2: 3}, scalar=FLOAT32)
    outward = shape.chance(0.65)
    k.size("q", 2, 4)
    links = Links(r, shape.chance(0.2 + 0.08 * level))
    angles = None
    if links.turning:
        angles = k.array(("angles", "joint_q"), r.scalar, (*r.dims, "q"), low=-1.5, high=1.5)
    rates = k.array(("rates", "joint_qd"), r.scalar, (*r.dims, "q"), low=-1.5, high=1.5)
    count = k.trip_count(("num_links", "link_count"), "q")
    names = ("twist", "v", "link_v") if outward else ("wrench", "f", "load")
    based = level >= 2 and shape.chance(0.6)
    start: Expr = fn("spatial_vector", zero(r.vec), zero(r.vec))
    if based:
        many = ("base_twists", "root_qd") if outward else ("tip_wrenches", "tip_f")
        one = ("base_twist",) if outward else ("tip_wrench",)
        start = r.given(many, one, _VEC6, -1.0, 1.0, forms=MOSTLY_ARRAY)
    value = k.let(names, start)
    accel = None
    if outward and level >= 3:
        accel = k.let(("accel", "a", "link_a"), fn("spatial_vector", zero(r.vec), zero(r.vec)))
    inverse = outward and not links.turning and shape.chance(0.6)
    by_adjoint = outward and shape.chance(0.45)
    power = k.let(("power", "work"), r.real(0.0)) if level >= 4 or not outward else None
    builder = {"twist": "transform_twist", "wrench": "transform_wrench"}
    with k.for_(("s", "j", "link_id"), count) as s:
        parts = links.at(s)
        spot = (*r.at, s)
        frame = _frame(r, parts, angles, spot)
        x = k.let(("x", "xf", "joint_x"), fn("transform_inverse", frame) if inverse else frame)
        if by_adjoint:
            matrix = inlined(k, 0.5 * (level >= 3), ("adjoint_of", "motion_matrix"), [("x", x)],
                             _adjoint)  # fmt: skip
            if accel is not None:
                matrix = k.let(("ad", "adj"), matrix)
                k.assign(accel, matrix * accel)
            k.assign(value, matrix * value)
        else:
            op = builder["twist" if outward else "wrench"]
            if accel is not None:
                k.assign(accel, fn(op, x, accel))
            k.assign(value, fn(op, x, value))
        joint = k.let(("joint_v", "vj") if outward else ("joint_f", "fj"),
                      rates[spot] * parts["subspace"])  # fmt: skip
        if accel is not None:
            k.augment(accel, "add", fn("spatial_cross", value, joint))
        if power is not None:
            k.augment(power, "add", fn("spatial_dot", value, joint))
        k.augment(value, "add", joint)
    done = _described(links, angles, rates, count, outward, inverse, start if based else None)
    done += _finished(r, level, outward, value, accel, power)
    titles = ("propagate_twists", "link_velocities") if outward else ("base_wrench", "carry_loads")
    return Title(k.name(*titles, "link_chain", "chain_recursion"), done)


def _frame(r: Rig, parts: dict[str, Expr], angles: Var | None, spot: tuple[Expr, ...]) -> Expr:
    """The transform from a link to the one before it."""
    if angles is None:
        return parts["frame"]
    turn = fn("quat_from_axis_angle", parts["axis"], angles[spot])
    if r.k.draw.shape.chance(0.5):
        turn = r.k.let(("turn", "dq"), turn)
    return make(r.pose, parts["offset"], turn)


def _described(
    links: Links,
    angles: Var | None,
    rates: Var,
    count: Expr,
    outward: bool,
    inverse: bool,
    start: Expr | None,
) -> str:
    """How the recursion runs."""
    shown = getattr(count, "value", "") or told(count)
    what = "twist (w, v)" if outward else "wrench (t, f)"
    done = f"Start with {told(start) if start is not None else 'zero'} as the {what}. For each of "
    done += f"the {shown} links let x be "
    if angles is None:
        frame = f"{links.told['frame']}"
    else:
        frame = f"the transform of position {links.told['offset']} and rotation about "
        frame += f"{links.told['axis']} by {angles.name}"
    done += f"the inverse of {frame}" if inverse else frame
    rule = "(R w, R v + cross(p, R w))" if outward else "(R t + cross(p, R f), R f)"
    done += f", with rotation R and position p: it becomes {rule}, and then gains j = {rates.name} "
    return done + f"* {links.told['subspace']}."


def _finished(
    r: Rig,
    level: int,
    outward: bool,
    value: Var,
    accel: Var | None,
    power: Var | None,
) -> str:
    """What is read off at the end of the chain."""
    k, shape = r.k, r.k.draw.shape
    done = ""
    if level >= 2 and shape.chance(0.5):
        keep = r.given(("losses", "keeps"), ("keep", "efficiency"), r.scalar, 0.5, 0.95,
                       forms=PROPERTY)  # fmt: skip
        k.augment(value, "mul", keep)
        done += f" In the end it is multiplied by {told(keep)}."
    if outward and shape.chance(0.5):
        point = r.given(("tool_points", "tips"), ("tool", "tip"), r.vec, -1.0, 1.0)
        speed: Expr = fn("velocity_at_point", value, point)
        text = f"v + cross(w, {told(point)})"
        if level >= 3 and shape.chance(0.6):
            limit = r.given((), ("v_max", "speed_limit"), r.scalar, 1.5, 3.0, forms=SETTING)
            u = k.let(("u", "tip_vel"), speed)
            size = k.let(("u_len", "speed"), fn("length", u))
            with k.if_(size > limit):
                k.augment(u, "mul", limit / size)
            speed, text = u, f"{text}, shortened to length {told(limit)} where longer"
        done += f" {r.store(('tip_vels', 'tool_vels'), speed).name} gets {text}."
    elif shape.chance(0.5):
        names = ("tip_twists", "end_qd") if outward else ("base_loads", "root_f")
        done += f" {r.store(names, value).name} gets it."
    else:
        top = r.store(("tops", "turning"), fn("spatial_top", value))
        bottom = r.store(("bottoms", "moving"), fn("spatial_bottom", value))
        done += f" {top.name} and {bottom.name} get its halves."
    if accel is not None:
        out = r.store(("accels", "bias_accels", "link_accels"), accel)
        done += f" {out.name} gets an acceleration that starts as zero, is moved in the same way "
        done += "and gains cross(u, j) at each link, u being the moved twist before it gains j "
        done += "(with cross((w, v), (a, b)) = (w x a, w x b + v x a))."
    if power is not None:
        done += f" {r.store(('powers', 'works'), power).name} gets the sum of the dot products of "
        done += "what was moved, before it gained j, with j."
    return done
