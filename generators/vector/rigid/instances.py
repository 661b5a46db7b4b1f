"""Copies of a shape: its points placed by the pose and scale of each instance."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.program.dtypes import BOOL, INT32, Vec
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    PROPERTY,
    SETTING,
    Rig,
    inlined,
    is_set,
    mask,
    maybe_named,
    rig,
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


def oriented(r: Rig, level: int, instance: Instance) -> str:
    """Normals turn with the instance, divided by its scale along each axis; and light on them."""
    k, shape = r.k, r.k.draw.shape
    if level == 3 and shape.chance(0.4):
        return ""
    one = len(r.dims) == 1
    normals = r.given(("normals",), (), r.vec, init="unit",
                      forms={"each": 1} if one else {"last": 1})  # fmt: skip
    n: Expr = normals
    text = told(normals)
    if instance.scaling == "three":
        assert instance.scale is not None
        n = k.let(("stretched", "unscaled"), fn("normalize", fn("cw_div", n, instance.scale)))
        text = f"normalize({text} / scale, by components)"
    turned = k.let(("n", "normal"), fn("quat_rotate", instance.rotation, n))
    done = f" n is {text}, rotated by the instance."
    if level == 3 or shape.chance(0.5):
        done += f" {r.store(('world_normals', 'normals_out'), turned).name} gets n."
        if level < 5:
            return done
    return done + _lit(r, turned)


def _lit(r: Rig, n: Var) -> str:
    """Light from one direction, and the colour of the instance."""
    k, shape = r.k, r.k.draw.shape
    light = k.scalar(("light", "sun"), r.vec, init="unit")
    ambient = r.given((), ("ambient", "base_light"), r.scalar, 0.1, 0.4, forms=SETTING)
    form = shape.choice(("lambert", "half", "two_sided"))
    facing = fn("dot", n, light)
    if form == "lambert":
        facing, text = fn("max", facing, 0.0), f"max(dot(n, {light.name}), 0)"
    elif form == "half":
        facing, text = 0.5 * facing + 0.5, f"(0.5 * dot(n, {light.name}) + 0.5)"
    else:
        facing, text = fn("abs", facing), f"|dot(n, {light.name})|"
    shade = k.let(("shade", "diffuse", "lit"), ambient + (1.0 - ambient) * facing)
    text = f"{told(ambient)} + (1 - {told(ambient)}) * {text}"
    if shape.chance(0.7):
        tint = r.given(("tints", "colors"), ("tint", "color"), r.vec, 0.1, 1.0,
                       forms={"first": 3, "shared": 1})  # fmt: skip
        out = r.store(("shaded", "rgb", "vertex_colors"), shade * tint)
        return f" {out.name} gets {told(tint)} * ({text})."
    return f" {r.store(('shades', 'brightness'), shade).name} gets {text}."


def culled(r: Rig, level: int, world: Var) -> str:
    """Which points lie within a radius, or before a plane."""
    k, shape = r.k, r.k.draw.shape
    inside: Expr
    near = shape.chance(0.5)
    if near:
        eye = r.given((), ("eye", "camera", "center"), r.vec, -1.0, 1.0, forms={"shared": 1})
        reach = r.given(("ranges",), ("reach", "max_dist"), r.scalar, 2.2, 3.0, forms={"fixed": 1})
        inside = fn("length", world - eye) < reach
        text = f"|w - {told(eye)}| < {told(reach)}"
    else:
        normal = r.given((), ("plane_n", "clip_n"), r.vec, init="unit", forms=SETTING)
        inside = fn("dot", normal, world) > 0.0
        text = f"dot({told(normal)}, w) > 0"
    if level >= 5 and not near and shape.chance(0.6):
        shown = mask(r, ("visible", "enabled"), ("visible",))
        inside, text = fn("and", shown, inside), f"{is_set(shown)} and {text}"
    if shape.chance(0.5):
        out = r.store(("kept", "inside", "flags"), inside)
        assert out.type.element == BOOL  # type: ignore[union-attr]
        return f" {out.name} gets whether {text}."
    one, nought = k.lift(1, INT32), k.lift(0, INT32)
    out = r.store(("codes", "marks", "flags"), fn("where", inside, one, nought))
    return f" {out.name} gets 1 where {text}, else 0."


Placed = tuple[Var, Expr | None, str]


@idiom
def instanced_points(k: KernelBuilder, level: int) -> Title:
    """Points of a shape, scaled, rotated and moved for each of its instances."""
    shape = k.draw.shape
    r = rig(k, ("v", "p", "j"), ("inst", "i", "copy_id"), grids={1: 1, 2: 6, 3: 1})
    one = len(r.dims) == 1
    points = r.given(("points", "vertices", "template"), (), r.vec, -1.0, 1.0,
                     forms={"each": 1} if one else {"last": 1})  # fmt: skip
    instance = Instance(r, level)
    p: Expr = points
    if level > 1 or shape.chance(0.6):
        p = k.let(("p", "local_p", "corner"), points)
    done = f"For each instance ({instance.text}) and point p in {told(points)}"
    if level >= 3 and not instance.split and (level == 5 or shape.chance(0.6)):
        parent_text = instance.attach()
    else:
        parent_text = ""
    if level >= 3 and isinstance(p, Var):
        done += _deformed(r, p)
    world = k.let(("world", "x", "placed_p"), instance.place(level, p))
    scale = f" scaled by {instance.fields.told('scale')}" if instance.scale is not None else ""
    done += f": w = p{scale}, then rotated, then moved by the instance.{parent_text}"
    if level >= 2:
        forms = shape.sample(("wind", "view", "ground"), 2 if level >= 4 else 1)
        done += "".join(_after(r, form, world) for form in forms)
    done += f" {r.store(('world_points', 'placed', 'points_out'), world).name} gets w."
    if level >= 3:
        done += oriented(r, level, instance)
    if level >= 4:
        done += culled(r, level, world)
    names = ("place_instances", "instance_points", "expand_instances", "stamp_shape")
    return Title(k.name(*names), done)


def _deformed(r: Rig, p: Var) -> str:
    """A bend or taper of the shape before it is placed."""
    k, form = r.k, r.k.draw.shape.choice(("taper", "bend", "flip"))
    rate = r.given((f"{form}s",), (form, f"{form}_rate"), r.scalar, 0.2, 0.7,
                   forms={"first": 2, "shared": 2, "fixed": 1})  # fmt: skip
    up = k.draw.shape.integer(0, 2)
    if form == "taper":
        k.augment(p, "mul", 1.0 - rate * p[up])
        return f", p first multiplied by 1 - {told(rate)} * p[{up}]"
    if form == "bend":
        side = (up + 1) % 3
        k.set(p, side, p[side] + rate * p[up] * p[up])
        return f", {told(rate)} * p[{up}]^2 first added to p[{side}]"
    with k.if_(p[up] < 0.0):
        k.augment(p, "mul", rate)
    return f", p first multiplied by {told(rate)} where p[{up}] < 0"


def _after(r: Rig, form: str, world: Var) -> str:
    k = r.k
    if form == "wind":
        wind = r.given(("winds", "offsets"), ("wind", "offset"), r.vec, -0.5, 0.5, forms=PROPERTY)
        k.augment(world, "add", wind)
        return f" {told(wind)} is added."
    if form == "view":
        view = k.scalar(("view", "world_to_cam"), r.pose, -1.0, 1.0, init="unit")
        k.assign(world, fn("transform_point", view, world))
        return f" Then w goes through the transform {view.name}."
    level_ = r.given((), ("ground", "floor_z"), r.scalar, -0.6, -0.1, forms={"shared": 1})
    up = k.draw.shape.integer(0, 2)
    k.set(world, up, fn("max", world[up], level_))
    return f" w[{up}] is raised to {told(level_)} where it is lower."
