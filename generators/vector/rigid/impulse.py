"""Velocities of bodies at their contacts, and the impulses that follow from them."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.program.dtypes import FLOAT32, INT32, Struct, Vec
from generators.program.expr import Expr, Var, op
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import (
    MOSTLY_ARRAY,
    PROPERTY,
    SETTING,
    Names,
    Rig,
    inlined,
    maybe_named,
    rig,
    told,
)


@dataclass(frozen=True)
class Body:
    """One body: its centre, its velocity (a spatial vector, or angular and linear parts)."""

    x: Expr
    parts: tuple[Expr, ...]


class Bodies:
    """Bodies that contacts refer to by an index, or one for each contact."""

    spatial: bool
    builtin: bool
    as_struct: bool
    struct: Struct
    fields: tuple[FieldInit, ...]
    arrays: list[Var]

    def __init__(self, r: Rig, symbol: str = "", like: Bodies | None = None) -> None:
        self.r, self.indexed, self.like = r, bool(symbol), like
        shape = r.k.draw.shape
        self.spatial = like.spatial if like else shape.chance(0.65)
        wants_builtin = shape.chance(0.75)
        self.builtin = like.builtin if like else r.scalar == FLOAT32 and wants_builtin
        self.as_struct = like.as_struct if like else shape.chance(0.5)
        self.vec6 = Vec(6, r.scalar)
        self.dims: Names = (r.k.size(symbol, 6, 10),) if symbol else r.dims
        self.helper_name: str | None = like.helper_name if like else None
        self.text = self._declare()

    def _declare(self) -> str:
        r, known = self.r, self.like is not None
        kinds = [("x", r.vec)]
        kinds += [("twist", self.vec6)] if self.spatial else [("w", r.vec), ("v", r.vec)]
        if self.as_struct:
            called = self._structs(kinds, known)
        else:
            names = r.k.draw.word.choice(_OTHER_NAMES) if known else _ARRAY_NAMES
            self.arrays = [r.k.array(names[n], t, self.dims, low=-1.0, high=1.0) for n, t in kinds]
            called = [a.name for a in self.arrays]
        if self.spatial:
            return f"centre x in {called[0]} and twist (w, v), angular part first, in {called[1]}"
        text = f"centre x in {called[0]}, angular velocity w in {called[1]} and linear velocity "
        return f"{text}v in {called[2]}"

    def _structs(self, kinds: list[tuple[str, Vec]], known: bool) -> list[str]:
        k = self.r.k
        if self.like is not None:
            self.struct, self.fields = self.like.struct, self.like.fields
        else:
            self.fields = tuple(
                FieldInit(k.draw.word.choice(_FIELD_NAMES[n]), t, "uniform", "-1.0", "1.0")
                for n, t in kinds
            )
            name = k.name("Body", "RigidBody", "Rigid")
            self.struct = k.struct(name, *((f.name, f.type) for f in self.fields))
        names = ("obstacles", "platforms") if known else ("bodies", "body_states", "rigids")
        self.arrays = [k.array(names, self.struct, self.dims, fields=self.fields)]
        return [f"{f.name} of {self.arrays[0].name}" for f in self.fields]

    def at(self, index: Expr | None, *names: str) -> Body:
        at = self.r.at if index is None else (index,)
        values = [array[at] for array in self.arrays]
        if not self.as_struct:
            return Body(values[0], tuple(values[1:]))
        body = self.r.k.let(names, values[0])
        parts = [field(body, f.name) for f in self.fields]
        return Body(parts[0], tuple(parts[1:]))

    def velocity(self, b: BodyBuilder, parts: tuple[Expr, ...], arm: Expr) -> Expr:
        """v + cross(w, arm)."""
        if not self.spatial:
            return parts[1] + fn("cross", parts[0], arm)
        if self.builtin:
            return fn("velocity_at_point", parts[0], arm)
        w = maybe_named(b, ("w", "omega"), fn("spatial_top", parts[0]), 0.5)
        return fn("spatial_bottom", parts[0]) + fn("cross", w, arm)

    def point_velocity(self, level: int, body: Body, p: Expr, *names: str) -> Var:
        """The velocity of a body's point p, in a helper or inline."""
        labels = ("twist",) if self.spatial else ("w", "v")

        def build(b: BodyBuilder, x: Expr, point: Expr, *parts: Expr) -> Expr:
            arm = maybe_named(b, ("arm", "lever", "offset"), point - x)
            return self.velocity(b, parts, arm)

        if self.helper_name is None:
            args = [("x", body.x), ("point", p), *zip(labels, body.parts, strict=True)]
            value = inlined(self.r.k, 0.6 * (level > 2), ("point_velocity", "velocity_at"), args,
                            build, "Velocity of a body's point.")  # fmt: skip
            self.helper_name = getattr(value, "function", "")
        elif self.helper_name:
            value = self.r.k.call(self.helper_name, body.x, p, *body.parts)
        else:
            value = build(self.r.k, body.x, p, *body.parts)
        return self.r.k.let(names, value)


_FIELD_NAMES = {
    "x": ("center", "x", "com"),
    "twist": ("twist", "qd"),
    "w": ("w", "omega"),
    "v": ("v", "vel"),
}
_ARRAY_NAMES = {
    "x": ("centers", "positions", "com"),
    "twist": ("twists", "body_qd", "velocities"),
    "w": ("omegas", "ang_vels"),
    "v": ("lin_vels", "speeds"),
}
_OTHER_NAMES = tuple(
    {
        "x": (f"{who}_positions",),
        "twist": (f"{who}_twists",),
        "w": (f"{who}_omegas",),
        "v": (f"{who}_vels",),
    }
    for who in ("obstacle", "platform", "ground")
)


@idiom
def contact_velocity(k: KernelBuilder, level: int) -> Title:
    """Velocity of bodies at their contacts: relative, normal, tangential, and the impulse."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "contact"), ("env", "row", "pair"),
            scalar=FLOAT32 if shape.chance(0.8) else None)  # fmt: skip
    two = level >= 4 or (level == 3 and shape.chance(0.6)) or (level == 2 and shape.chance(0.3))
    indexed = two or shape.chance(0.4)
    points = r.given(("points", "contact_points", "hits"), ("point",), r.vec, -1.5, 1.5,
                     forms={"each": 1})  # fmt: skip
    bodies = Bodies(r, "c" if indexed else "")
    p = k.let(("p", "point", "contact_pos"), points)
    done = f"For each contact point p in {told(points)}, a body having its {bodies.text}"
    v, text = _relative(r, bodies, level, p, two)
    done += text
    if level == 1 and shape.chance(0.5):
        wind = r.given(("surface_vels", "belt_speeds"), ("surface_vel", "belt"), r.vec, -0.5, 0.5)
        k.augment(v, "sub", wind)
        done += f", less {told(wind)}"
    if level == 1:
        out = r.store(("contact_vels", "slip", "point_vels"), v)
        return Title(
            k.name("contact_velocities", "point_velocities"), f"{done}. {out.name} gets u."
        )
    normal = r.given(("normals", "contact_normals"), ("normal", "up"), r.vec, init="unit",
                     forms=MOSTLY_ARRAY)  # fmt: skip
    n = k.let(("n", "normal", "nrm"), normal)
    vn = k.let(("vn", "approach", "normal_speed"), fn("dot", v, n))
    done += f". With the normal n in {told(normal)}, vn = dot(u, n)"
    if level <= 3 and shape.chance(0.6):
        slip = k.let(("vt", "slip", "tangential"), v - vn * n)
        done += f" and t = u - vn * n. {r.store(('slip_out', 'tangents', 'sliding'), slip).name} "
        done += "gets t"
        if level == 3 or shape.chance(0.4):
            done += f", {r.store(('approach_out', 'normal_speeds'), vn).name} gets vn"
        title = k.name("contact_slip", "sliding_velocities", "tangential_motion")
        return Title(title, f"{done}.")
    done += _impulse(r, level, v, n, vn)
    return Title(k.name("contact_impulses", "resolve_contacts", "collision_response"), done)


def _relative(r: Rig, bodies: Bodies, level: int, p: Var, two: bool) -> tuple[Var, str]:
    k = r.k
    if not bodies.indexed:
        body = bodies.at(None, "body", "state")
        v = bodies.point_velocity(level, body, p, "u", "v_point", "vel")
        return v, ": u = v + cross(w, p - x)"
    names = (("body_ids", "ids_a", "movers"), ("obstacle_ids", "ids_b", "grounds"))
    first = r.k.array(names[0] if two else ("owners", "body_ids", "body_of"), INT32, r.dims,
                      init="index_of:c")  # fmt: skip
    a = bodies.at(k.let(("a", "ia", "id_a"), first[r.at]), "body_a", "state_a")
    text = f", the body being number {first.name}"
    v = bodies.point_velocity(level, a, p, "va", "u_a", "vel_a") if two else (
        bodies.point_velocity(level, a, p, "u", "v_point", "vel"))  # fmt: skip
    if not two:
        return v, f"{text}: u = v + cross(w, p - x)"
    others = Bodies(r, "d", bodies)
    second = k.array(names[1], INT32, r.dims, init="index_of:d")
    b = others.at(k.let(("b", "ib", "id_b"), second[r.at]), "body_b", "state_b")
    vb = others.point_velocity(level, b, p, "vb", "u_b", "vel_b")
    u = k.let(("u", "rel", "v_rel"), v - vb)
    text += f": u = v + cross(w, p - x), less the same of number {second.name} of the other bodies"
    return u, f"{text}, which have their {others.text}"


def _impulse(r: Rig, level: int, v: Var, n: Var, vn: Var) -> str:
    """An impulse along the normal against approach, and Coulomb friction."""
    k, shape = r.k, r.k.draw.shape
    bounce = r.given(("restitutions",), ("restitution", "bounce"), r.scalar, 0.2, 0.8)
    mass = r.given(("masses", "eff_mass"), ("mass", "eff_mass"), r.scalar, 0.5, 2.0)
    pull = -(1.0 + bounce) * vn * mass
    done = f". The normal impulse j = max(-(1 + {told(bounce)}) * vn * {told(mass)}, 0)"
    if shape.chance(0.5):
        jn = k.let(("jn", "push", "normal_imp"), fn("max", pull, 0.0))
    else:
        jn = k.let(("jn", "push", "normal_imp"), zero(r.scalar))
        with k.if_(vn < 0.0):
            k.assign(jn, pull)
    impulse = k.let(("impulse", "j", "total"), jn * n)
    if level >= 3:
        mu = r.given(("frictions", "mus"), ("mu", "friction"), r.scalar, 0.2, 0.8)
        slip = k.let(("vt", "slip", "tangential"), v - vn * n)
        speed = k.let(("slip_speed", "vt_len"), fn("length", slip))
        if shape.chance(0.5):
            size = k.let(("jt", "friction_imp"), fn("min", mu * jn, mass * speed))
            k.augment(impulse, "sub", size / speed * slip)
        else:
            with k.if_(mass * speed > mu * jn):
                k.augment(impulse, "sub", mu * jn / speed * slip)
            with k.else_():
                k.augment(impulse, "sub", mass * slip)
        done += f", friction is f = min({told(mu)} * j, {told(mass)} * |t|) against t = u - vn * n"
    out = r.store(("impulses", "impulse_out", "reactions"), impulse)
    done += f". {out.name} gets " + ("j * n - f * t / |t|" if level >= 3 else "j * n")
    if level >= 4:
        done += _more(r, level, v, n, jn, impulse)
    return f"{done}."


def _more(r: Rig, level: int, v: Var, n: Var, jn: Var, impulse: Var) -> str:
    k, shape = r.k, r.k.draw.shape
    done = ""
    if shape.chance(0.6):
        lost = maybe_named(k, ("work", "lost", "dissipated"), fn("dot", impulse, v))
        done += f", {r.store(('works', 'energy_out', 'dissipation'), lost).name} gets the dot "
        done += "product of that with u"
    if level >= 5:
        gap = r.given(("depths", "gaps"), ("slop",), r.scalar, -0.3, 0.6, forms={"each": 1})
        slop = r.given(("slops",), ("slop", "allowed"), r.scalar, 0.02, 0.1, forms=SETTING)
        rate = r.given(("rates",), ("baumgarte", "beta"), r.scalar, 0.1, 0.4, forms=PROPERTY)
        bias = k.let(("bias", "push_out"), rate * fn("max", gap - slop, 0.0))
        done += f", {r.store(('corrections', 'shifts'), bias * n).name} gets {told(rate)} * "
        done += f"max({told(gap)} - {told(slop)}, 0) * n"
        touching = op("and", gap > slop, jn > 0.0)
        out = k.out(("active", "resting", "touching"), INT32, r.dims)
        if shape.chance(0.5):
            k.store(out, r.at, fn("where", touching, k.lift(1, INT32), k.lift(0, INT32)))
        else:
            k.store(out, r.at, 0)
            with k.if_(touching):
                k.store(out, r.at, 1)
        done += f", {out.name} gets 1 where {told(gap)} > {told(slop)} and j > 0, else 0"
    return done
