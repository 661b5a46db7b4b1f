"""Trees of frames: the pose of a node through its ancestors, and points attached to it."""

from __future__ import annotations

from generators.build import KernelBuilder, field, fn, identity, make
from generators.build.registry import Title, idiom
from generators.program.dtypes import BOOL, INT32, Mat, Type, Vec
from generators.program.expr import Expr, Var
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import (
    PROPERTY,
    Rig,
    is_unset,
    mask,
    maybe_named,
    rig,
    told,
    unit,
)


class Nodes:
    """The nodes of a tree: transforms, or places with rotations and scales."""

    def __init__(self, r: Rig, scaled: bool, as_struct: bool) -> None:
        k = r.k
        self.r, self.scaled, self.as_struct = r, scaled, as_struct
        kinds: list[tuple[str, tuple[str, ...], Type, str, float, float]] = [
            ("pose", ("local_poses", "node_xforms"), r.pose, "unit", -1.0, 1.0)
        ]
        if scaled:
            kinds = [
                ("pos", ("node_pos", "local_pos"), r.vec, "uniform", -1.0, 1.0),
                ("rot", ("node_rots", "local_rots"), r.quat, "unit", -1.0, 1.0),
                ("scale", ("node_scales", "local_scales"), r.vec, "uniform", 0.6, 1.4),
            ]
        elif as_struct:
            kinds.append(("stretch", (), r.scalar, "uniform", 0.6, 1.4))
        k.size("c", 6, 9)
        if as_struct:
            fields = [FieldInit(n, t, i, str(lo), str(hi)) for n, _, t, i, lo, hi in kinds]
            struct = k.struct(k.name("Node", "Frame"), *((f.name, f.type) for f in fields))
            self.items = k.array(("nodes", "tree", "frames"), struct, "c", fields=fields)
            self.text = " and ".join(f"{f.name} of {self.items.name}" for f in fields)
            self.names = [f.name for f in fields]
        else:
            self.arrays = {
                n: k.array(m, t, "c", init=i, low=lo, high=hi) for n, m, t, i, lo, hi in kinds
            }
            self.text = " and ".join(array.name for array in self.arrays.values())

    def at(self, index: Expr) -> dict[str, Expr]:
        if not self.as_struct:
            return {name: array[index] for name, array in self.arrays.items()}
        node = self.r.k.let(("node", "frame"), self.items[index])
        return {name: field(node, name) for name in self.names}


@idiom
def frame_tree(k: KernelBuilder, level: int) -> Title:
    """Pose of tree nodes in the world from those of their ancestors; points attached to them."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "leaf"), ("env", "scene"), grids={1: 4, 2: 3})
    scaled = shape.chance(0.45)
    nodes = Nodes(r, scaled, shape.chance(0.2 + 0.08 * level))
    k.size("q", 2, 4)
    paths = k.array(("paths", "ancestors", "chains"), INT32, (*r.dims, "q"), init="index_of:c")
    count = k.trip_count(("depth", "path_length"), "q")
    start: Expr = identity(Mat(4, 4, r.scalar)) if scaled else identity(r.pose)
    start_text = "identity"
    if level >= 2 and shape.chance(0.4) and not scaled:
        start = r.given(("roots", "base_poses"), ("root", "base_pose"), r.pose, -1.0, 1.0,
                        init="unit", forms={"each": 1, "first": 2, "shared": 2})  # fmt: skip
        start_text = told(start)
    acc = k.let(("world", "m", "model") if scaled else ("pose", "xform", "acc"), start)
    upward = shape.chance(0.4)
    skipping = level >= 3 and shape.chance(0.5)
    skip = k.array(("hidden", "detached", "skip"), BOOL, (*r.dims, "q")) \
        if skipping else None  # fmt: skip
    sized = nodes.as_struct and not scaled
    size = k.let(("size", "total_scale"), r.real(1.0)) if sized else None
    with k.for_(("s", "d", "j"), count) as s:
        spot = (*r.at, s)
        index: Expr = paths[spot]
        if not nodes.as_struct or shape.chance(0.4):
            index = k.let(("node_id", "at", "idx"), index)
        parts = nodes.at(index)
        local = fn("transform_compose", parts["pos"], parts["rot"], parts["scale"]) if scaled \
            else parts["pose"]  # fmt: skip
        if skip is None:
            _append(r, acc, local, upward, scaled)
        else:
            with k.if_(fn("not", skip[spot])):
                _append(r, acc, local, upward, scaled)
        if size is not None:
            k.augment(size, "mul", parts["stretch"])
    kind = "4x4 matrices" if scaled else "transforms"
    done = f"For each leaf start with the {start_text} and multiply by the {kind} of the "
    done += f"{getattr(count, 'value', '') or told(count)} nodes in {paths.name} ({nodes.text}) "
    done += f"from the {'left' if upward else 'right'}, one after another"
    done += f", leaving out those where {skip.name} is true" if skip is not None else ""
    done += "." if scaled else ", the rotation normalized each time."
    done += _attached(r, level, acc, scaled, size)
    return Title(k.name("frame_tree", "scene_graph", "world_transforms", "node_chain"), done)


def _append(r: Rig, acc: Var, local: Expr, upward: bool, scaled: bool) -> None:
    k = r.k
    if scaled:
        k.assign(acc, local * acc if upward else acc * local)
        return
    pair = (local, acc) if upward else (acc, local)
    product = fn("transform_multiply", *pair) if k.draw.shape.chance(0.75) else pair[0] * pair[1]
    k.assign(acc, product)
    k.note("against drift of the rotation")
    place = fn("transform_get_translation", acc)
    k.assign(acc, make(r.pose, place, unit(fn("transform_get_rotation", acc))))


def _attached(r: Rig, level: int, acc: Var, scaled: bool, size: Var | None) -> str:
    """What the pose of a leaf does: a point, a direction, a matrix, a distance."""
    k, shape = r.k, r.k.draw.shape
    done = ""
    point = r.given(("points", "markers", "offsets"), ("marker", "point"), r.vec, -1.0, 1.0)
    p: Expr = point
    text = told(point)
    if size is not None:
        p, text = size * point, f"{text} times the product of their stretch"
    by_matrix = scaled or shape.chance(0.55)
    if by_matrix:
        p = k.let(("p", "local_p"), p)
        m: Expr = acc if scaled else fn("transform_to_matrix", acc)
        m = m if scaled else k.let(("mat", "model_mat"), m)
        h = k.let(("h", "hom"), m * make(Vec(4, r.scalar), p[0], p[1], p[2], r.real(1.0)))
        world: Expr = make(r.vec, h[0], h[1], h[2])
    else:
        world = fn("transform_point", acc, p)
    x = k.let(("x", "moved", "world_p"), world)
    done += f" x is {text} moved by the result."
    if level >= 2 and shape.chance(0.6):
        wind = r.given(("sways", "winds"), ("sway", "wind"), r.vec, -0.5, 0.5, forms=PROPERTY)
        k.augment(x, "add", wind)
        done += f" {told(wind)} is added."
    if level >= 4:
        floor = r.given((), ("floor", "ground"), r.scalar, -0.8, 0.2, forms={"shared": 1})
        up = shape.integer(0, 2)
        with k.if_(x[up] < floor):
            k.set(x, up, 2.0 * floor - x[up])
        done += f" Where x[{up}] is less than {told(floor)} it is mirrored there."
    done += f" {r.store(('world_points', 'placed', 'points_out'), x).name} gets x."
    names = ["distance", "pose", "direction", "local"] if not scaled else ["distance", "clip"]
    wanted = {1: 0, 2: 0, 3: 1, 4: 1, 5: 2}[level]
    for name in shape.sample(names, wanted):
        done += _read(r, name, acc, x)
    if level >= 5:
        flag = mask(r, ("selected", "tracked"), ("selected",))
        eye = r.given((), ("center", "pick_pos"), r.vec, -1.0, 1.0, forms={"shared": 1})
        near = maybe_named(k, ("gap", "away"), fn("length", x - eye), 0.7)
        out = r.store(("scores", "picks"), fn("where", flag, near, -near))
        done += f" {out.name} gets |x - {told(eye)}|, negative where {is_unset(flag)}."
    return done


def _read(r: Rig, name: str, acc: Var, x: Var) -> str:
    k = r.k
    if name == "pose":
        return f" {r.store(('world_poses', 'poses_out'), acc).name} gets the result."
    if name == "clip":
        view = k.scalar(("view_proj", "projection"), Mat(4, 4, r.scalar), -1.0, 1.0)
        out = r.store(("clip_mats", "mvps"), view * acc)
        return f" {out.name} gets {view.name} times the result."
    if name == "distance":
        eye = r.given(("eyes",), ("eye", "viewer"), r.vec, -1.0, 1.0)
        out = r.store(("distances", "depths"), fn("length", x - eye))
        return f" {out.name} gets |x - {told(eye)}|."
    if name == "direction":
        axis = r.given(("axes", "normals"), ("axis", "normal"), r.vec, init="unit")
        out = r.store(("directions", "world_axes"), fn("transform_vector", acc, axis))
        return f" {out.name} gets {told(axis)} rotated by the result."
    target = r.given(("targets", "goals"), ("target", "goal"), r.vec, -1.0, 1.0)
    back = fn("transform_point", fn("transform_inverse", acc), target)
    out = r.store(("local_targets", "seen_targets"), back)
    return f" {out.name} gets {told(target)} moved by the inverse of the result."
