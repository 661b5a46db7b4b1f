"""One instance of a shape: its pose and scale, and where they put a point."""

from __future__ import annotations

from generators.build import BodyBuilder, fn, make
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    Rig,
    inlined,
    maybe_named,
    told,
)
from generators.vector.rigid.record import Record, Slot


class Instance:
    """Pose and scale of an instance: a transform or its parts, in arrays or a struct."""

    def __init__(self, r: Rig, level: int) -> None:
        shape = r.k.draw.shape
        self.r, self.split = r, shape.chance(0.5)
        self.scaling = shape.choice(("none", "one", "three") if level == 1 else ("one", "three"))
        slots: dict[str, Slot] = {}
        if self.split:
            slots["x"] = Slot(("pos", "origin"), ("origins", "anchors"), r.vec, -2.0, 2.0)
            slots["q"] = Slot(("rot", "q"), ("rotations", "rots"), r.quat, init="unit")
        else:
            slots["pose"] = Slot(("pose", "xform"), ("poses", "xforms"), r.pose, -2.0, 2.0, "unit")
        if self.scaling != "none":
            type_ = r.vec if self.scaling == "three" else r.scalar
            slots["scale"] = Slot(("scale", "size"), ("scales", "sizes"), type_, 0.5, 1.5)
        self.form = "first" if len(r.dims) > 1 else "each"
        self.fields = Record(
            r, slots, as_struct=shape.chance(0.25 + 0.08 * level), struct=("Instance", "Placement"),
            arrays=("instances", "copies"), local=("inst", "placed", "copy"), form=self.form,
        )  # fmt: skip
        self.parented: Var | None = None
        self.scale = self.fields["scale"] if "scale" in slots else None
        self.text = " and ".join(self.fields.told(key) for key in slots)

    @property
    def rotation(self) -> Expr:
        if self.split:
            return self.fields["q"]
        return fn("transform_get_rotation", self.pose)

    @property
    def pose(self) -> Expr:
        return self.parented if self.parented is not None else self.fields["pose"]

    def attach(self) -> str:
        """The pose within that of a parent, whose index each instance may have."""
        r, k = self.r, self.r.k
        symbol = k.size("c", 3, 5)
        parents = k.array(("parents", "groups", "nodes"), r.pose, symbol, init="unit", low=-1.0,
                          high=1.0)  # fmt: skip
        ids = r.given(("parent_ids", "group_of"), (), INT32, init=f"index_of:{symbol}",
                      forms={self.form: 1})  # fmt: skip
        parent = parents[ids]
        if k.draw.shape.chance(0.5):
            parent = parents[k.let(("g", "parent_id", "node"), ids)]
        own = self.fields["pose"]
        multiply = k.draw.shape.chance(0.75)
        product = fn("transform_multiply", parent, own) if multiply else parent * own
        self.parented = k.let(("pose", "whole_pose", "to_root"), product)
        return (
            f" The pose of an instance is {parents.name}[{told(ids)}] * {self.fields.told('pose')}."
        )

    def place(self, level: int, p: Expr) -> Expr:
        """The point p in the world: scaled, rotated, moved."""
        r, shape = self.r, self.r.k.draw.shape
        form = shape.weighted({"matrix": 3, "builtin": 3})
        if form == "matrix" and (self.scale is None or self.split):
            return self._by_matrix(p)

        def build(b: BodyBuilder, p: Expr, *parts: Expr) -> Expr:
            local = p
            if self.scale is not None:
                scale = parts[-1]
                scaled = fn("cw_mul", scale, p) if self.scaling == "three" else scale * p
                local = maybe_named(b, ("local", "scaled"), scaled)
            if self.split:
                return parts[0] + fn("quat_rotate", parts[1], local)
            return fn("transform_point", parts[0], local)

        labels = {"x": "origin", "q": "rot", "pose": "pose", "scale": "scale"}
        values = {**self.fields.values, **({} if self.split else {"pose": self.pose})}
        args = [("p", p), *((labels[c], v) for c, v in values.items())]
        return inlined(r.k, 0.5 * (level >= 3), ("place_point", "to_world"), args, build)

    def _by_matrix(self, p: Expr) -> Expr:
        r, k = self.r, self.r.k
        if self.scale is None:
            pose = self.pose if not self.split else make(
                r.pose, self.fields["x"], self.fields["q"])  # fmt: skip
            matrix = fn("transform_to_matrix", pose)
        else:
            scale = self.scale
            if self.scaling == "one":
                scale = make(r.vec, scale, scale, scale)
            matrix = fn("transform_compose", self.fields["x"], self.fields["q"], scale)
        m = k.let(("m", "mat", "model"), matrix)
        h = make(Vec(4, r.scalar), *(p[c] for c in range(3)), r.real(1.0))
        placed = k.let(("h", "world_h", "hom"), m * h)
        return make(r.vec, placed[0], placed[1], placed[2])
