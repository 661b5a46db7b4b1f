"""Contacts between bodies: velocities there, normal and tangential parts, impulses, wrenches."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, field, fn
from generators.program.dtypes import FLOAT32, Struct, Vec
from generators.program.expr import Expr, Var
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import (
    Names,
    Rig,
    inlined,
    maybe_named,
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
