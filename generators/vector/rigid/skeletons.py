"""Trees of frames and skeletons: poses of nodes in the world, points that follow bones."""

from __future__ import annotations

from contextlib import nullcontext

from generators.build import BodyBuilder, KernelBuilder, fn, identity, make
from generators.build.registry import Title, idiom
from generators.kit.functions import where
from generators.kit.masks import flag
from generators.kit.naming import applied, local, maybe
from generators.kit.records import Part
from generators.kit.sources import given, zero
from generators.kit.words import listed, say
from generators.program.dtypes import BOOL, INT32, Mat
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    Items,
    Rig,
    by_matrix,
    product,
    quat_dot,
    renormalize,
    rig,
    shortened,
    unit,
)


def _nodes(r: Rig, scaled: bool, struct: float) -> Items:
    """The nodes of a tree: transforms, or places with rotations and scales."""
    whole = {"pose": Part("pose", r.pose, -1.0, 1.0, "unit", "local_poses node_xforms")}
    split = {
        "pos": Part("pos", r.vec, -1.0, 1.0, many="node_pos local_pos"),
        "rot": Part("rot", r.quat, init="unit", many="node_rots local_rots"),
        "scale": Part("scale", r.vec, 0.6, 1.4, many="node_scales local_scales"),
    }
    return Items(r.k, "Node Frame", split if scaled else whole, "c", struct if scaled else 0.0)


class Branch:
    """The result of the transforms along a path: a transform or a matrix."""

    def __init__(self, r: Rig, level: int, scaled: bool) -> None:
        k, self.r, self.scaled = r.k, r, scaled
        start: Expr = identity(Mat(4, 4, r.scalar)) if scaled else identity(r.pose)
        self.start = "identity"
        if level >= 2 and not scaled and k.draw.shape.chance(0.4):
            ways = {"each": 1, "first": 2, "shared": 2}
            start = given(r, "root base_pose", r.pose, -1.0, 1.0, init="unit", forms=ways)
            self.start = say(k, start)
        self.acc = k.let("world m model" if scaled else "pose xform acc", start)
        self.upward = k.draw.shape.chance(0.4)

    def append(self, parts: dict[str, Expr]) -> None:
        """One transform more, from the left or the right."""
        k, acc = self.r.k, self.acc
        if self.scaled:
            one = fn("transform_compose", parts["pos"], parts["rot"], parts["scale"])
            k.assign(acc, one * acc if self.upward else acc * one)
            return
        pose = parts["pose"]
        k.assign(acc, product(k, *((pose, acc) if self.upward else (acc, pose))))
        k.note("against drift of the rotation")
        renormalize(self.r, acc)


@idiom(depth=1)
def frame_tree(k: KernelBuilder, level: int) -> Title:
    """Pose of tree nodes in the world from those of their ancestors; points attached to them."""
    shape = k.draw.shape
    r = rig(k, "i tid leaf", list=4, batch=3)
    scaled = shape.chance(0.45)
    k.size("c", 6, 9)
    k.size("q", 2, 4)
    nodes = _nodes(r, scaled, 0.2 + 0.08 * level)
    paths = r.array("paths ancestors chains", INT32, more="q", init="index_of:c")
    count = k.trip_count("depth path_length", "q")
    branch = Branch(r, level, scaled)
    skip = None
    if level >= 3 and shape.chance(0.5):
        skip = r.array("hidden detached skip", BOOL, more="q")
    with k.for_("s d j", count) as s:
        index: Expr = paths[r.index(s)]
        if not nodes.whole or shape.chance(0.4):
            index = k.let("node_id at idx", index)
        parts = nodes.at(index)
        with k.if_(fn("not", skip[r.index(s)])) if skip is not None else nullcontext():
            branch.append(parts)
    done = (
        "Compose the transforms of each leaf's ancestors and place a point by them. Start with the "
    )
    done += f"{branch.start} and multiply by the "
    done += f"{'4x4 matrices' if scaled else 'transforms'} of the {say(k, count)} nodes in "
    done += f"{paths.name} ({listed(list(nodes.said.values()))}), which lists the "
    done += "leaf's own first: each is multiplied from the left" * branch.upward
    done += "root first: each is multiplied from the right" * (not branch.upward)
    done += f", leaving out those where {skip.name} is true" if skip is not None else ""
    done += "." if scaled else ", the rotation normalized each time."
    done += _attached(r, level, branch)
    return Title(k.name("frame_tree scene_graph_points compose_ancestors"), done)


def _attached(r: Rig, level: int, branch: Branch) -> str:
    """What the pose of a leaf does: a point, a direction, a matrix, a distance."""
    k, shape, acc, scaled = r.k, r.k.draw.shape, branch.acc, branch.scaled
    p = given(r, "local_point", r.vec, -1.0, 1.0, many="markers local_points", each=3, shared=1)
    text = say(k, p)
    p = local(k, "p local_p", p) if scaled else p
    world = by_matrix(r, acc, p) if scaled else fn("transform_point", acc, p)
    x = k.let("x moved world_p", world)
    done = f" x is {text} moved by the result."
    if level >= 2 and shape.chance(0.6):
        wind = given(r, "sway wind", r.vec, -0.5, 0.5)
        k.augment(x, "add", wind)
        done += f" {say(k, wind)} is added."
    if level >= 4:
        floor = k.scalar("floor ground", r.scalar, -0.8, 0.2)
        up = shape.integer(0, 2)
        with k.if_(x[up] < floor):
            k.set(x, up, 2.0 * floor - x[up])
        done += f" Where x[{up}] is less than {floor.name} it is mirrored there."
    done += r.gets("world_points placed points_out", x, "x")
    names = ("distance", "clip") if scaled else ("distance", "pose", "direction", "local")
    for name in shape.sample(names, {3: 1, 4: 1, 5: 2}.get(level, 0)):
        done += _read(r, name, acc, x)
    if level >= 5 and shape.chance(0.15):
        test = flag(r, "selected tracked")
        eye = k.scalar("center pick_pos", r.vec, -1.0, 1.0)
        near = maybe(k, "gap away", fn("length", x - eye), 0.7)
        text = f"|x - {eye.name}|, negative where {test.off}"
        done += r.gets("scores picks", where(test.value, near, -near), text)
    return done


def _read(r: Rig, name: str, acc: Var, x: Var) -> str:
    k = r.k
    if name == "pose":
        return r.gets("world_poses poses_out", acc, "the result")
    if name == "clip":
        view = k.scalar("view_proj projection", Mat(4, 4, r.scalar), -1.0, 1.0)
        return r.gets("clip_mats mvps", view * acc, f"{view.name} times the result")
    if name == "distance":
        eye = given(r, "eye viewer", r.vec, -1.0, 1.0)
        return r.gets("distances depths", fn("length", x - eye), f"|x - {say(k, eye)}|")
    if name == "direction":
        axis = given(r, "axis normal", r.vec, init="unit")
        turned = fn("transform_vector", acc, axis)
        return r.gets("directions world_axes", turned, f"{say(k, axis)} rotated by the result")
    target = given(r, "target goal", r.vec, -1.0, 1.0)
    back = fn("transform_point", fn("transform_inverse", acc), target)
    text = f"{say(k, target)} moved by the inverse of the result"
    return r.gets("local_targets seen_targets", back, text)


class Bones:
    """The bones of a skeleton: their poses, with those of rest or not, or scale."""

    def __init__(self, r: Rig, level: int, dual: bool) -> None:
        shape, self.r = r.k.draw.shape, r
        self.rested = level >= 2 and shape.chance(0.5)
        self.scaled = not self.rested and not dual and shape.chance(0.3 if level == 1 else 0.6)
        many = "bone_poses bone_xforms skeleton"
        parts = {"pose": Part("pose", r.pose, -1.0, 1.0, "unit", many)}
        if self.rested:
            parts["rest"] = Part("rest", r.pose, -1.0, 1.0, "unit", "rest_poses bind_poses")
        if self.scaled:
            parts["stretch"] = Part("stretch", r.vec, 0.5, 1.5, many="bone_scales stretches")
        r.k.size("bones", 5, 8)
        self.animated = r.rank > 1
        dims = (r.dims[0], "bones") if self.animated else ("bones",)
        self.items = Items(r.k, "Bone BonePose", parts, dims, 0.45 + 0.06 * level)

    def at(self, index: Expr) -> dict[str, Expr]:
        return self.items.at(*((self.r.at[0], index) if self.animated else (index,)))

    def moving(self, parts: dict[str, Expr]) -> Expr:
        """The transform of a bone from its pose at rest to that of now."""
        if not self.rested:
            return parts["pose"]
        return product(self.r.k, parts["pose"], fn("transform_inverse", parts["rest"]), 0.8)

    @property
    def text(self) -> str:
        said = self.items.said
        if self.rested:
            return f"{said['pose']} * inverse({said['rest']})"
        if self.scaled:
            return f"{said['pose']}, p first scaled by {said['stretch']} along each axis"
        return said["pose"]


@idiom(depth=3)
def skinning(k: KernelBuilder, level: int) -> Title:
    """Points moved by the weighted transforms of a few bones, or by their blended rotation."""
    shape = k.draw.shape
    r = rig(k, "v i tid", list=4, batch=4)
    normalized = level <= 2 and shape.chance(0.5)
    points = given(r, "point rest_point vertex", r.vec, -1.5, 1.5, last=1)
    dual = level >= 2 and shape.chance(0.35)
    bones = Bones(r, level, dual)
    k.size("max_influences", 2, 4)
    how = {"axes": (last := r.axes("last")), "more": "max_influences"}
    ids = r.array("bone_ids joints influences", INT32, init="index_of:bones", **how)
    weights = r.array("weights skin_weights", r.scalar, 0.1, 1.0, **how)
    p: Expr = points
    if level > 1 or shape.chance(0.6):
        p = k.let("p rest_p vertex", points)
    normals = None
    if level >= 3 and not dual and shape.chance(0.6):
        normals = given(r, "normal", r.vec, init="unit", last=1)
    done = f"Skin a mesh by the blended {'rotations and positions' if dual else 'transforms'} of "
    done += f"its bones. For each point p in {say(k, points)}"
    if level >= 3 and isinstance(p, Var) and shape.chance(0.5):
        shift = given(r, "morph shape_delta", r.vec, -0.4, 0.4, last=1)
        share = given(r, "morph_weight shape_weight", r.scalar, 0.2, 1.0, first=2, shared=2)
        k.augment(p, "add", share * shift)
        done += f", moved by {say(k, share * shift)} first"
    state = Blend(r, p, dual, normals, normalized)
    count = k.trip_count("num_influences max_bones", "max_influences")
    with k.for_("s j slot", count) as s:
        spot = (*(r.at[axis] for axis in last), s)
        w: Expr = weights[spot]
        if not normalized or normals is not None or dual or shape.chance(0.5):
            w = k.let("w weight", w)
        index: Expr = ids[spot]
        if shape.chance(0.6) or not bones.items.whole:
            index = k.let("bone_id b joint", index)
        state.add(level, bones, bones.at(index), w)
    done += f", over its {say(k, count)} bones (numbers in {ids.name}, weights w in {weights.name})"
    done += state.text(bones) + _skinned(r, level, state)
    names = "skin_points blend_rotations_skin" if dual else "linear_blend_skinning skin_points"
    return Title(k.name(names, "skin_vertices"), done)


class Blend:
    """What is summed over bones: moved points, or rotations with positions."""

    def __init__(self, r: Rig, p: Expr, dual: bool, normals: Expr | None, normalized: bool) -> None:
        k, self.r, self.p, self.dual, self.normals = r.k, r, p, dual, normals
        self.place = k.let("moved acc skinned", zero(r.vec))
        if dual:
            start = make(r.quat, *[r.real(0.0)] * 4)
            self.rot = k.let("rot q_sum turn", start)
        if normals is not None:
            self.n = k.let("n normal n_sum", zero(r.vec))
        self.total = None if normalized else k.let("total w_sum", zero(r.scalar))

    def add(self, level: int, bones: Bones, parts: dict[str, Expr], w: Expr) -> None:
        """What one bone contributes."""
        k, normal, whole = self.r.k, self.normals, parts["pose"]
        at_rest: Expr = fn("cw_mul", parts["stretch"], self.p) if bones.scaled else self.p
        if self.dual:
            whole = bones.moving(parts)
        elif bones.rested:
            back = k.let("to_bone unbind", fn("transform_inverse", parts["rest"]))
            at_rest = k.let("local bone_p", fn("transform_point", back, self.p))
            normal = fn("transform_vector", back, normal) if normal is not None else None
        if self.dual or k.draw.shape.chance(0.5):
            whole = k.let("xf skin_xf bone_xf", whole)
        if self.dual:
            self._turn(whole, w)
        else:

            def moved(b: BodyBuilder, xf: Expr, p: Expr, w: Expr) -> Expr:
                return w * fn("transform_point", xf, p)

            args = {"xf": whole, "p": at_rest, "w": w}
            pull = applied(k, 0.5 * (level >= 3), "weighted_point pull", args, moved)
            k.augment(self.place, "add", pull)
        if normal is not None:
            # Normals shrink where a shape is stretched.
            normal = fn("cw_div", normal, parts["stretch"]) if bones.scaled else normal
            k.augment(self.n, "add", w * fn("transform_vector", whole, normal))
        if self.total is not None:
            k.augment(self.total, "add", w)

    def _turn(self, whole: Expr, w: Expr) -> None:
        """Add the rotation of a bone, on the side of those before, and its position."""
        k = self.r.k
        q = k.let("q bone_q", fn("transform_get_rotation", whole))
        if k.draw.shape.chance(0.5):
            with k.if_(quat_dot(self.rot, q) < 0.0):
                k.assign(q, -q)
        else:
            k.assign(q, where(quat_dot(self.rot, q) < 0.0, -q, q))
        k.augment(self.rot, "add", w * q)
        k.augment(self.place, "add", w * fn("transform_get_translation", whole))

    def text(self, bones: Bones) -> str:
        """What the sums are."""
        whole = ", t the sum of w." if self.total is not None else "."
        if not self.dual:
            done = f": x is the sum of w times p moved by {bones.text}"
            if self.normals is not None:
                shrunk = " divided by this scale and" if bones.scaled else ""
                normals = say(self.r.k, self.normals)
                done += f", and n the sum of w times {normals}{shrunk} rotated by it"
            return done + whole
        done = f": q is the sum of w times the rotation of {bones.text}, negated where its dot "
        done += "product with the sum so far is negative; x is the sum of w times its "
        return f"{done}position{whole}"


def _skinned(r: Rig, level: int, state: Blend) -> str:
    """The skinned point, with a rotation of all of it and a normal where there is one."""
    k, shape = r.k, r.k.draw.shape
    done, text = "", "x"
    if state.total is not None:
        k.augment(state.place, "div", state.total)
        text = "x / t"
    start = text
    place: Expr = state.place
    if state.dual:
        q = k.let("q_all blended", unit(state.rot))
        place, text = (
            place + fn("quat_rotate", q, state.p),
            f"{text} plus p rotated by normalize(q)",
        )
        if level >= 3 and shape.chance(0.6):
            done += r.gets("rots_out blend_rots", q, "normalize(q)")
    if shape.chance(0.7 if level > 1 else 0.4):
        if shape.chance(0.6):
            ways = {"first": 2, "shared": 2}
            root = given(r, "root object_pose", r.pose, -1.0, 1.0, init="unit", forms=ways)
            place, text = fn("transform_point", root, place), f"{text}, moved by {say(k, root)}"
        else:
            shift = given(r, "root_offset", r.vec, -1.0, 1.0, first=2, shared=2)
            place, text = place + shift, f"{text} + {say(k, shift)}"
        place = k.let("world final", place)
    if level >= 4:
        place, more = _limited(r, place, state.place)
        text += more
    done += r.gets("skinned_points points_out deformed", place, text)
    if state.normals is not None:
        done += r.gets("skinned_normals normals_out", unit(state.n), "normalize(n)")
    if level >= 5:
        size = fn("length", place - state.place) if state.dual else fn("length", state.place)
        text = f"the length of {f'that minus {start}' if state.dual else start}"
        done += r.gets("lengths travel", size, text)
    return done


def _limited(r: Rig, place: Expr, kept: Var) -> tuple[Var, str]:
    """Raise what has sunk under a floor, or pull in what is too far."""
    k = r.k
    x = place if isinstance(place, Var) and place != kept else k.let("x out_p", place)
    if k.draw.shape.chance(0.5):
        floor = k.scalar("floor ground", r.scalar, -0.6, 0.0)
        with k.if_(x[2] < floor):
            k.set(x, 2, floor)
        return x, f"; its z is raised to {say(k, floor)} where it is less"
    return x, f"; that is {shortened(k, x, k.scalar('reach max_len', r.scalar, 1.2, 2.0))}"
