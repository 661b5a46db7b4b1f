"""The force and torque that several points exert on a body together."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.program.dtypes import FLOAT32, Scalar, Vec
from generators.program.expr import Expr, Var
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import (
    PROPERTY,
    SETTING,
    Names,
    Rig,
    inlined,
    rig,
    told,
)


class Loads:
    """Points with forces, and a factor of each or none: separate arrays, or structs."""

    def __init__(self, r: Rig, dims: Names, factor: str) -> None:
        k, shape = r.k, r.k.draw.shape
        low = -0.6 if factor == "depth" else 0.1
        kinds: list[tuple[str, Names, Names, Vec | Scalar, float, float]] = [
            ("p", ("point", "where"), ("points", "attach", "hit_points"), r.vec, -1.0, 1.0),
            ("f", ("force", "push"), ("forces", "loads", "pushes"), r.vec, -2.0, 2.0),
        ]
        if factor:
            singles, plurals = _FACTORS[factor]
            kinds.append(("g", singles, plurals, r.scalar, low, 1.5))
        self.as_struct = shape.chance(0.4)
        if not self.as_struct:
            arrays = [k.array(m, t, dims, low=lo, high=hi) for _, _, m, t, lo, hi in kinds]
            self.arrays = arrays
            self.told = [array.name for array in arrays]
            return
        fields = tuple(
            FieldInit(k.draw.word.choice(one), t, "uniform", str(lo), str(hi))
            for _, one, _, t, lo, hi in kinds
        )
        struct = k.struct(k.name("Load", "Push", "Thruster"), *((f.name, f.type) for f in fields))
        self.arrays = [k.array(("loads", "pushes", "thrusters"), struct, dims, fields=fields)]
        self.told = [f"{f.name} of {self.arrays[0].name}" for f in fields]
        self.fields = fields

    def at(self, k: KernelBuilder, at: tuple[Expr, ...]) -> list[Expr]:
        if not self.as_struct:
            return [array[at] for array in self.arrays]
        item = k.let(("item", "load", "one"), self.arrays[0][at])
        return [field(item, f.name) for f in self.fields]


_FACTORS: dict[str, tuple[Names, Names]] = {
    "weight": (("weight", "activation"), ("weights", "activations", "shares")),
    "depth": (("depth", "overlap"), ("depths", "overlaps")),
}


@idiom
def wrench_sum(k: KernelBuilder, level: int) -> Title:
    """The total force and torque on bodies of the forces at several points."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "body"), ("env", "row"), grids={1: 3, 2: 2},
            scalar=FLOAT32 if shape.chance(0.8) else None)  # fmt: skip
    spatial = r.scalar == FLOAT32 and shape.chance(0.75)
    k.size("q", 3, 5)
    dims = (*r.dims, "q")
    factor = shape.choice(("", "weight", "depth") if level < 4 else ("weight", "depth"))
    loads = Loads(r, dims, factor)
    pivot = r.given(("centers", "com"), ("center", "pivot"), r.vec, -0.5, 0.5, forms=PROPERTY)
    count = k.trip_count(("count", "num_points"), "q")
    c = k.let(("c", "com", "center"), pivot)
    total = Total(r, spatial)
    limit = None
    if level >= 3:
        limit = r.given(("limits",), ("max_force", "limit"), r.scalar, 1.2, 2.0, forms=SETTING)
    with k.for_(("s", "k", "slot"), count) as s:
        values = loads.at(k, (*r.at, s))
        arm: Expr = values[0] - c
        if shape.chance(0.7):
            arm = k.let(("arm", "lever", "offset"), arm)
        f = values[1]
        if factor or limit is not None or shape.chance(0.5):
            f = k.let(("f", "acting", "f_now"), f)
        if limit is not None and isinstance(f, Var):
            size = k.let(("size", "f_len"), fn("length", f))
            with k.if_(size > limit):
                k.augment(f, "mul", limit / size)
        if factor and isinstance(f, Var):
            k.augment(f, "mul", values[2] if factor == "weight" else fn("max", values[2], 0.0))
        total.add(arm, f, 0.5 * (level >= 3))
    done = f"For each body, over its {_count_text(count)} points p in {loads.told[0]} with the "
    done += f"force f in {loads.told[1]}"
    done += f", shortened to length {told(limit)} where it is longer" if limit is not None else ""
    if factor:
        name = loads.told[2]
        times = name if factor == "weight" else f"max({name}, 0)"
        done += f"{',' if limit is not None else ''} times {times}"
    done += f": sum the torque cross(p - c, f), c being {told(pivot)}, and the force f."
    done += _finish(r, level, total)
    return Title(k.name("sum_wrenches", "net_force_torque", "collect_loads", "total_wrench"), done)


class Total:
    """The sum of force and torque: one spatial vector, or two vectors."""

    def __init__(self, r: Rig, spatial: bool) -> None:
        self.r, self.spatial = r, spatial
        k, nought = r.k, zero(r.vec)
        if spatial:
            self.sum = k.let(("total", "wrench", "net"), fn("spatial_vector", nought, nought))
        else:
            self.force = k.let(("force", "net_force"), nought)
            self.torque = k.let(("torque", "moment"), nought)

    def add(self, arm: Expr, f: Expr, chance: float) -> None:
        k = self.r.k
        args, doc = [("arm", arm), ("f", f)], "What a force at the end of an arm does."
        names = ("moment_of", "wrench_at", "lever_action")
        moment = inlined(k, chance, names, args, _moment(self.spatial), doc)
        if self.spatial:
            k.augment(self.sum, "add", moment)
        else:
            k.augment(self.force, "add", f)
            k.augment(self.torque, "add", moment)

    def weigh(self, weight: Expr) -> None:
        if self.spatial:
            self.r.k.augment(self.sum, "add", fn("spatial_vector", zero(self.r.vec), weight))
        else:
            self.r.k.augment(self.force, "add", weight)

    def power(self, twist: Expr) -> Expr:
        if self.spatial:
            return fn("spatial_dot", twist, self.sum)
        turning = fn("dot", fn("spatial_top", twist), self.torque)
        return turning + fn("dot", fn("spatial_bottom", twist), self.force)

    def slow(self, drag: Expr, twist: Expr) -> None:
        k = self.r.k
        if self.spatial:
            k.augment(self.sum, "sub", drag * twist)
        else:
            k.augment(self.torque, "sub", drag * fn("spatial_top", twist))
            k.augment(self.force, "sub", drag * fn("spatial_bottom", twist))

    def store(self) -> str:
        r, whole = self.r, self.r.k.draw.shape.chance(0.45)
        if self.spatial:
            push, turn = fn("spatial_bottom", self.sum), fn("spatial_top", self.sum)
            both: Expr = self.sum
        else:
            push, turn = self.force, self.torque
            both = make(Vec(6, r.scalar), *(v[c] for v in (turn, push) for c in range(3)))
        if whole:
            return f" {r.store(('wrenches', 'body_f', 'wrench_out'), both).name} gets (torque, " \
                "force)."  # fmt: skip
        done = f" {r.store(('net_forces', 'force_out'), push).name} gets the force"
        return f"{done} and {r.store(('torques', 'net_torques'), turn).name} the torque."


def _moment(spatial: bool) -> Callable[[BodyBuilder, Expr, Expr], Expr]:
    def build(b: BodyBuilder, arm: Expr, f: Expr) -> Expr:
        torque = fn("cross", arm, f)
        return fn("spatial_vector", torque, f) if spatial else torque

    return build


def _count_text(count: Expr) -> str:
    return str(getattr(count, "value", "")) or told(count)


def _finish(r: Rig, level: int, total: Total) -> str:
    """Add weight or drag, store the wrench or its parts, its power with a twist."""
    done = ""
    if level >= 2 and r.k.draw.shape.chance(0.6):
        mass = r.given(("masses",), ("mass",), r.scalar, 0.5, 2.0)
        g = r.given(("gs",), ("gravity", "g"), r.vec, -3.0, 3.0, forms={"shared": 1})
        total.weigh(mass * g)
        done += f" The weight {told(mass)} * {told(g)} is added to the force."
    if level >= 4:
        twists = r.k.array(("twists", "body_qd"), Vec(6, r.scalar), r.dims, low=-1.0, high=1.0)
        twist = r.k.let(("twist", "qd", "motion"), twists[r.at])
        out = r.store(("powers", "power_out"), total.power(twist))
        done += f" {out.name} gets the dot product of the twist (angular part first) in "
        done += f"{twists.name} with (torque, force)."
        if level >= 5:
            drag = r.given(("drags",), ("drag", "damping"), r.scalar, 0.1, 0.6)
            total.slow(drag, twist)
            done += f" Then {told(drag)} times the twist is subtracted from (torque, force)."
    return done + total.store()
