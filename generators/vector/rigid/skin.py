"""Skinning: points that follow several bones by their weights."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, field, fn, identity, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.program.dtypes import INT32, Type
from generators.program.expr import Expr, Var
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import PROPERTY, SETTING, Rig, inlined, quat_dot, rig, told, unit


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


@idiom
def skinning(k: KernelBuilder, level: int) -> Title:
    """Points moved by the weighted transforms of a few bones, or by their blended rotation."""
    shape = k.draw.shape
    r = rig(k, ("v", "i", "tid"), ("frame", "char"), grids={1: 4, 2: 4})
    one = len(r.dims) == 1
    home = {"each": 1} if one else {"last": 1}
    normalized = level <= 2 and shape.chance(0.5)
    points = r.given(("points", "rest_points", "vertices"), (), r.vec, -1.5, 1.5, forms=home)
    dual = level >= 2 and shape.chance(0.35)
    bones = Bones(r, level, dual)
    k.size("q", 2, 4)
    dims, at = r.place("each" if one else "last")
    ids = k.array(("bone_ids", "joints", "influences"), INT32, (*dims, "q"), init="index_of:c")
    weights = k.array(("weights", "skin_weights"), r.scalar, (*dims, "q"), low=0.1, high=1.0)
    p: Expr = points
    if level > 1 or shape.chance(0.6):
        p = k.let(("p", "rest_p", "vertex"), points)
    normals = None
    if level >= 3 and not dual and shape.chance(0.6):
        normals = r.given(("normals",), (), r.vec, init="unit", forms=home)
    done = f"For each point p in {told(points)}"
    if level >= 3 and isinstance(p, Var) and shape.chance(0.5):
        done += _morphed(r, home, p)
    state = Blend(r, p, dual, normals, normalized)
    count = k.trip_count(("influences_n", "max_bones"), "q")
    with k.for_(("s", "j", "slot"), count) as s:
        spot = (*at, s)
        w: Expr = weights[spot]
        if not normalized or normals is not None or dual or shape.chance(0.5):
            w = k.let(("w", "weight"), w)
        index: Expr = ids[spot]
        if shape.chance(0.6) or not bones.as_struct:
            index = k.let(("bone_id", "b", "joint"), index)
        state.add(level, bones, bones.at(index), p, w)
    shown = getattr(count, "value", "") or told(count)
    done += f", over its {shown} bones (numbers in {ids.name}, weights w in {weights.name})"
    done += state.text(bones)
    done += _outputs(r, level, state)
    return Title(k.name("skin_points", "linear_blend_skinning", "deform_mesh", "skin"), done)


def _morphed(r: Rig, home: dict[str, int], p: Var) -> str:
    shift = r.given(("morphs", "shape_deltas"), (), r.vec, -0.4, 0.4, forms=home)
    share = r.given(("morph_weights",), ("morph", "shape_weight"), r.scalar, 0.2, 1.0,
                    forms={"first": 2, "shared": 2})  # fmt: skip
    r.k.augment(p, "add", share * shift)
    return f", moved by {told(share)} * {told(shift)} first"


class Blend:
    """What is summed over bones: moved points, or rotations with positions."""

    def __init__(self, r: Rig, p: Expr, dual: bool, normals: Expr | None,
                 normalized: bool) -> None:  # fmt: skip
        k, self.p = r.k, p
        self.r, self.dual, self.normals = r, dual, normals
        self.place = k.let(("moved", "acc", "skinned"), zero(r.vec))
        if dual:
            nought = r.real(0.0)
            self.first = k.draw.shape.chance(0.8)
            start = identity(r.quat) if self.first else make(r.quat, *([nought] * 4))
            self.rot = k.let(("rot", "q_sum", "turn"), start)
        if normals is not None:
            self.n = k.let(("n", "normal", "n_sum"), zero(r.vec))
        self.total = None if normalized else k.let(("total", "w_sum"), zero(r.scalar))

    def add(self, level: int, bones: Bones, parts: dict[str, Expr], p: Expr, w: Expr) -> None:
        k = self.r.k
        local: Expr = fn("cw_mul", parts["stretch"], p) if bones.scaled else p
        whole = bones.whole(parts) if self.dual else parts["pose"]
        normal = self.normals
        if bones.rested and not self.dual:
            back = k.let(("to_bone", "unbind"), fn("transform_inverse", parts["rest"]))
            local = k.let(("local", "bone_p"), fn("transform_point", back, p))
            if normal is not None:
                normal = fn("transform_vector", back, normal)
        if self.dual or k.draw.shape.chance(0.5):
            whole = k.let(("xf", "skin_xf", "bone_xf"), whole)
        if self.dual:
            q = k.let(("q", "bone_q"), fn("transform_get_rotation", whole))
            if k.draw.shape.chance(0.5):
                with k.if_(quat_dot(self.rot, q) < 0.0):
                    k.assign(q, -q)
            else:
                k.assign(q, fn("where", quat_dot(self.rot, q) < 0.0, -q, q))
            k.augment(self.rot, "add", w * q)
            shift = fn("transform_get_translation", whole)
            k.augment(self.place, "add", w * shift)
        else:

            def moved(b: BodyBuilder, xf: Expr, p: Expr, w: Expr) -> Expr:
                return w * fn("transform_point", xf, p)

            args = [("xf", whole), ("p", local), ("w", w)]
            chance = 0.5 * (level >= 3)
            k.augment(self.place, "add", inlined(k, chance, ("weighted_point", "pull"), args,
                                                 moved))  # fmt: skip
        if normal is not None:
            k.augment(self.n, "add", w * fn("transform_vector", whole, normal))
        if self.total is not None:
            k.augment(self.total, "add", w)

    def text(self, bones: Bones) -> str:
        """What the sums are."""
        whole = ", t the sum of w." if self.total is not None else "."
        if not self.dual:
            normal = f", and n the sum of w times {told(self.normals)} rotated by it" if \
                self.normals is not None else ""  # fmt: skip
            return f": x is the sum of w times p moved by {bones.text}{normal}{whole}"
        start = "the identity" if self.first else "0"
        return f": q starts as {start} and gains w times the rotation of {bones.told['pose']}" + (
            f" * inverse({bones.told['rest']})" if bones.rested else ""
        ) + (", negated where its 4-component dot product with q so far is negative; x is the sum "
             f"of w times its position{whole}")  # fmt: skip


def _outputs(r: Rig, level: int, state: Blend) -> str:
    """The skinned point, with a rotation of all of it and a normal where there is one."""
    k, shape = r.k, r.k.draw.shape
    done, text = "", "x"
    if state.total is not None:
        k.augment(state.place, "div", state.total)
        text = "x / t"
    place: Expr = state.place
    if state.dual:
        q = k.let(("q_all", "blended"), unit(state.rot))
        place = place + fn("quat_rotate", q, state.p)
        text = f"{text} plus p rotated by normalize(q)"
        if level >= 3 and shape.chance(0.6):
            done += f" {r.store(('rots_out', 'blend_rots'), q).name} gets normalize(q)."
    if shape.chance(0.7 if level > 1 else 0.4):
        change, more = _carried(r)
        place = k.let(("world", "final"), change(place))
        text = more.format(text)
    if level >= 4:
        place, more = _limited(r, place, state.place)
        text += more
    out = r.store(("skinned_points", "points_out", "deformed"), place)
    done += f" {out.name} gets {text}."
    if state.normals is not None:
        out = r.store(("skinned_normals", "normals_out"), unit(state.n))
        done += f" {out.name} gets normalize(n)."
    if level >= 5:
        size = fn("length", place - state.place) if state.dual else fn("length", state.place)
        what = "of that minus x / t" if state.dual else "of x / t"
        out = r.store(("lengths", "travel"), size)
        done += f" {out.name} gets the length {what}."
    return done


def _carried(r: Rig) -> tuple[Callable[[Expr], Expr], str]:
    """The body as a whole moves, or is moved by an offset."""
    if r.k.draw.shape.chance(0.6):
        root = r.given(("root_poses", "roots"), ("root", "object_pose"), r.pose, -1.0, 1.0,
                       init="unit", forms={"first": 2, "shared": 2})  # fmt: skip
        return lambda x: fn("transform_point", root, x), f"{{}}, moved by {told(root)}"
    shift = r.given(("offsets", "winds"), ("offset",), r.vec, -1.0, 1.0, forms=PROPERTY)
    return lambda x: x + shift, f"{{}} + {told(shift)}"


def _limited(r: Rig, place: Expr, kept: Var) -> tuple[Expr, str]:
    """Raise what has sunk under a floor, or pull in what is too far."""
    k, shape = r.k, r.k.draw.shape
    own = isinstance(place, Var) and place != kept
    x = place if isinstance(place, Var) and own else k.let(("x", "out_p"), place)
    if shape.chance(0.5):
        floor = r.given((), ("floor", "ground"), r.scalar, -0.6, 0.0, forms=SETTING)
        with k.if_(x[2] < floor):
            k.set(x, 2, floor)
        return x, f"; its z is raised to {told(floor)} where it is less"
    reach = r.given((), ("reach", "max_len"), r.scalar, 1.2, 2.0, forms=SETTING)
    size = k.let(("x_len", "dist"), fn("length", x))
    with k.if_(size > reach):
        k.augment(x, "mul", reach / size)
    return x, f"; that is shortened to length {told(reach)} where longer"
