"""The bones of a skeleton: their poses, with those of rest or with scales."""

from __future__ import annotations

from generators.build import field, fn
from generators.program.dtypes import Type
from generators.program.expr import Expr
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import (
    Rig,
)


class Bones:
    """The bones of a skeleton: their poses, with those of rest or not, or scale."""

    def __init__(self, r: Rig, level: int, dual: bool) -> None:
        k, shape = r.k, r.k.draw.shape
        self.r = r
        self.rested = level >= 2 and shape.chance(0.5)
        self.scaled = not self.rested and not dual and shape.chance(0.3 if level == 1 else 0.6)
        kinds: list[tuple[str, tuple[str, ...], Type, str]] = [
            ("pose", ("bone_poses", "bone_xforms", "skeleton"), r.pose, "unit")
        ]
        if self.rested:
            kinds.append(("rest", ("rest_poses", "bind_poses"), r.pose, "unit"))
        if self.scaled:
            kinds.append(("stretch", ("bone_scales", "stretches"), r.vec, "uniform"))
        self.animated = len(r.dims) > 1
        dims = (r.dims[0], "c") if self.animated else ("c",)
        k.size("c", 5, 8)
        self.as_struct = len(kinds) > 1 and shape.chance(0.45 + 0.06 * level)
        if self.as_struct:
            fields = [
                FieldInit(
                    name, t, init, *(("0.5", "1.5") if name == "stretch" else ("-1.0", "1.0"))
                )
                for name, _, t, init in kinds
            ]
            struct = k.struct(k.name("Bone", "BonePose"), *((f.name, f.type) for f in fields))
            self.items = k.array(("bones", "skeleton"), struct, dims, fields=fields)
            self.told = {f.name: f"{f.name} of {self.items.name}" for f in fields}
        else:
            self.arrays = {
                name: k.array(names, t, dims, init=init, low=0.5 if name == "stretch" else -1.0,
                              high=1.5 if name == "stretch" else 1.0)
                for name, names, t, init in kinds
            }  # fmt: skip
            self.told = {name: array.name for name, array in self.arrays.items()}

    def at(self, index: Expr) -> dict[str, Expr]:
        at = (self.r.at[0], index) if self.animated else (index,)
        if self.as_struct:
            bone = self.r.k.let(("bone", "bone_data"), self.items[at])
            return {name: field(bone, name) for name in self.told}
        return {name: array[at] for name, array in self.arrays.items()}

    def whole(self, parts: dict[str, Expr]) -> Expr:
        """The transform of a bone from its pose at rest to that of now."""
        if not self.rested:
            return parts["pose"]
        inverse = fn("transform_inverse", parts["rest"])
        if self.r.k.draw.shape.chance(0.8):
            return fn("transform_multiply", parts["pose"], inverse)
        return parts["pose"] * inverse

    @property
    def text(self) -> str:
        if self.rested:
            return f"{self.told['pose']} * inverse({self.told['rest']})"
        if self.scaled:
            return f"{self.told['pose']}, p first scaled by {self.told['stretch']} along each axis"
        return self.told["pose"]
