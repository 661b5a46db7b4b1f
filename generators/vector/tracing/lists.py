"""Rays through lists and trees: triangles, boxes, a hierarchy of boxes walked without a stack."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, least, most, sqrt
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var, op
from generators.vector.simulation.parts import Crowd, Points, index, points_of
from generators.vector.tracing.rays import VEC3, Ray, cast_rays


class _Mesh:
    """A list of triangles: three vertices in a row, or indices into vertices."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        self.k = k
        self.way = k.draw.shape.choice(("soup", "indexed", "vectors"))
        k.size("faces", 20, 26)
        if self.way == "soup":
            self.points = points_of(k, VEC3, "triangles tri_verts", -2.0, 2.0, ("faces", "3"), 1)
            self.count, self.said = extent(self.points.arrays[0], 0), self.points.name
            return
        # Few enough for faces without an area, hardly two alike but for the order of their corners.
        k.size("verts", 30, 36, minimum=28)
        self.points = points_of(k, VEC3, "vertices verts points", -2.0, 2.0, ("verts",), level)
        if self.way == "indexed":
            self.faces = k.array("indices faces tris", INT32, ("faces", "3"), init="index_of:verts")
        else:
            self.faces = k.array(
                "indices faces tris", Vec(3, INT32), "faces", init="index_of:verts"
            )
        self.count = extent(self.faces, 0)
        self.said = f"{self.points.name} by {self.faces.name}"

    def corners(self, f: Expr) -> tuple[Expr, Expr, Expr]:
        k = self.k
        if self.way == "soup":
            found = [self.points.at(f, n) for n in range(3)]
        elif self.way == "indexed":
            found = [self.points.at(self.faces[index(f, n)]) for n in range(3)]
        else:
            face = k.let("face tri", self.faces[f])
            found = [self.points.at(face[n]) for n in range(3)]
        names = k.draw.word.choice(("a b c", "v0 v1 v2", "p0 p1 p2")).split()
        a, b, c = (k.let(n, x) for n, x in zip(names, found, strict=True))
        return a, b, c


_EDGE_ON = 1.0e-4
"""Determinants up to this are those of triangles seen edge on."""


def _moeller(kind: str) -> Callable[..., Expr]:
    """Moeller and Trumbore's test: the distance, or -1 for a miss.

    ``kind`` says which triangles are left out before: those seen from behind (``culled``), those
    without an area (``guarded``), or none: an infinite or undefined distance is no hit.
    """

    def test(b: BodyBuilder, o: Expr, d: Expr, a: Expr, e1: Expr, e2: Expr) -> Expr:
        h = b.let("h pvec", fn("cross", d, e2))
        det = b.let("det a_det", dot(e1, h))
        t = b.let("t dist", b.lift(-1.0, FLOAT32))
        passed = det > _EDGE_ON if kind == "culled" else abs(det) > _EDGE_ON
        with nullcontext() if kind == "plain" else b.if_(passed):
            inv = b.let("inv_det f", 1.0 / det)
            s = b.let("s tvec", o - a)
            u = b.let("u bary_u", inv * dot(s, h))
            q = b.let("q qvec", fn("cross", s, e1))
            v = b.let("v bary_v", inv * dot(d, q))
            with b.if_(op("and", op("and", u >= 0.0, v >= 0.0), u + v <= 1.0)):
                b.assign(t, inv * dot(e2, q))
        return t

    return test


@idiom
def nearest_triangle(k: KernelBuilder, level: int) -> Title:
    """Rays against every triangle of a mesh: the nearest hit, or whether anything is hit."""
    r = cast_rays(k, level, camera=0.15)
    c, mesh = r.c, _Mesh(k, level)
    any_hit = c.shape.chance(0.3)
    culled = c.chance(0.35)
    kind = "culled" if culled else "plain" if mesh.way == "soup" else "guarded"
    clipped = c.shape.chance(0.3)
    reach = k.scalar("t_max max_dist far", FLOAT32, 1.0 if clipped else 0.4, 1.7)
    start: Expr = k.lift(0.0, FLOAT32)
    if clipped:
        start = k.scalar("t_min min_dist near", FLOAT32, 0.4, 0.7)
    called = routine(
        k,
        0.3 + 0.5 * BY_LEVEL[level],
        "intersect_triangle moller_trumbore hit_triangle",
        {"o": VEC3, "d": VEC3, "a": VEC3, "e1": VEC3, "e2": VEC3},
        _moeller(kind),
        "Distance along the ray, -1 for a miss.",
    )
    return _nearest_triangle_stored(any_hit, reach, k, called, mesh, r, start, kind, c)


def _nearest_triangle_stored(
    any_hit: bool,
    reach: Var,
    k: KernelBuilder,
    called: Callable[..., Expr],
    mesh: _Mesh,
    r: Ray,
    start: Expr,
    kind: str,
    c: Crowd,
) -> Title:
    """What :func:`nearest_triangle` stores, and its text."""
    if any_hit:
        seen = k.let("blocked hit", k.lift(0, INT32))
    else:
        best = k.let("best t_best nearest", reach)
        who = k.let("face_id hit_face", k.lift(-1, INT32))
    with k.for_("f m face_i", mesh.count) as f:
        a, b, e = mesh.corners(f)
        e1, e2 = k.let("e1 edge1 ab", b - a), k.let("e2 edge2 ac", e - a)
        t = called(r.o, r.d, a, e1, e2)
        t = t if isinstance(t, Var) else k.let("t_tri t", t)
        if any_hit:
            with k.if_(op("and", t > start, t < reach)):
                k.assign(seen, 1)
                k.break_()
        else:
            with k.if_(op("and", t > start, t < best)):
                k.assign(best, t)
                k.assign(who, f)
    task = "Test whether rays hit a mesh" if any_hit else "Find the nearest triangle that rays hit"
    text = f"{task}. For {r.said}, test all triangles of {mesh.said} by the Moeller-Trumbore method"
    text += _LEFT_OUT[kind]
    low = written(start).removesuffix(".0")
    if any_hit:
        out = c.put("hits hit_flags", seen)
        text += f": {out} gets 1 if any is hit between {low} and {reach.name}, else 0."
        return Title(k.name("any_hit_mesh ray_hits_mesh"), text)
    out = c.put("face_ids hit_ids", who)
    return _nearest_triangle_ended(text, out, low, reach, c, best, k)


_LEFT_OUT = {
    "culled": " (without those whose determinant is 1e-4 at most: edge on, or facing away)",
    "guarded": " (without those edge on, whose determinant is 1e-4 at most in size)",
    "plain": "",
}


def _nearest_triangle_ended(
    text: str, out: str, low: str, reach: Var, c: Crowd, best: Var, k: KernelBuilder
) -> Title:
    """What :func:`nearest_triangle` stores at last, and its text."""
    text += f". Store the nearest one hit between {low} and {reach.name}, or -1, in {out}"
    if c.chance(0.8, 1):
        text += f" and its distance, or {reach.name}, in {c.put('distances t_out depth', best)}"
    return Title(k.name("nearest_triangle ray_mesh closest_hit"), f"{text}.")


def _slabs(b: BodyBuilder, r: Ray, inv: Expr, lo: Expr, hi: Expr) -> tuple[Var, Var]:
    """Where a ray enters and leaves a box."""
    t0 = b.let("t0 t_lo", fn("cw_mul", lo - r.o, inv))
    t1 = b.let("t1 t_hi", fn("cw_mul", hi - r.o, inv))
    # All rays of a camera may agree in the sign of a component, whose order is then known.
    if b.draw.shape.chance(0.5) or r.c.dims[0] == "img_h":
        enter = fn("max_element", least(t0, t1))
        leave = fn("min_element", most(t0, t1))
    else:
        enter = most(*(least(t0[c], t1[c]) for c in range(3)))
        leave = least(*(most(t0[c], t1[c]) for c in range(3)))
    return b.let("t_near enter", enter), b.let("t_far leave", leave)


def _inverse(r: Ray) -> Var:
    """One over each component of the direction."""
    k = r.c.k
    if r.c.shape.chance(0.5):
        return k.let("inv_d inv_dir", make(VEC3, *(1.0 / r.d[c] for c in range(3))))
    return k.let("inv_d inv_dir", fn("cw_div", make(VEC3, k.lift(1.0, FLOAT32)), r.d))


class _Boxes:
    """Boxes as a centre and half the sides, or as the low corner and the sides."""

    def __init__(self, r: Ray, count: str, size: float) -> None:
        self.k, k = r.c.k, r.c.k
        self.centred = r.c.shape.chance(0.5)
        if self.centred:
            self.a = points_of(k, VEC3, "centers box_centers", -1.8, 1.8, (count,))
            self.b = k.array("half_sizes extents", VEC3, count, low=0.25, high=size)
        else:
            self.a = points_of(k, VEC3, "lowers box_lo", -2.0, 1.0, (count,))
            self.b = k.array("box_sizes sides", VEC3, count, low=0.5, high=2.0 * size)
        ends = ("-", "+") if self.centred else ("", "+")
        low, high = (f"{self.a.name} {s} {self.b.name}" if s else self.a.name for s in ends)
        self.said = f"from {low} to {high}"

    def ends(self, j: Expr) -> tuple[Expr, Expr]:
        if not self.centred:
            low = self.k.let("lo corner", self.a.at(j))
            return low, low + self.b[j]
        mid, half = self.k.let("mid c_box", self.a.at(j)), self.k.let("half h_box", self.b[j])
        return mid - half, mid + half


@idiom
def ray_boxes(k: KernelBuilder, level: int) -> Title:
    """Rays through a list of boxes by slabs: the nearest, how many, or the length inside."""
    r = cast_rays(k, level, -2.0, 2.0)
    c = r.c
    k.size("boxes", 14, 20)
    boxes = _Boxes(r, "boxes", 0.9)
    way = c.shape.choice(("nearest", "count", "length"))
    inv = _inverse(r)
    reach = k.scalar("t_max max_dist", FLOAT32, 1.0, 2.5)
    dense = who = None
    if way == "length" and c.shape.chance(0.6):
        dense = k.array("densities sigma", FLOAT32, "boxes", low=0.1, high=1.0)
    if way == "nearest":
        best, who = k.let("best t_best", reach), k.let("box_id hit", k.lift(-1, INT32))
    elif way == "count":
        best = k.let("count hits", k.lift(0, INT32))
    else:
        best = k.let("total path", k.lift(0.0, FLOAT32))
    with k.for_("b m box_i", extent(boxes.b)) as j:
        lo, hi = boxes.ends(j)
        near, far = _slabs(k, r, inv, lo, hi)
        if way == "nearest":
            near = k.let("t_in t_start", most(near, 0.0))
            assert who is not None
            with k.if_(op("and", near <= far, near < best)):
                k.assign(best, near)
                k.assign(who, j)
        else:
            first, last = most(near, 0.0), least(far, reach)
            if way == "count":
                with k.if_(first < last):
                    k.augment(best, "add", 1)
            else:
                inside = k.let("inside seg", last - first)
                with k.if_(inside > 0.0):
                    k.augment(best, "add", inside if dense is None else dense[j] * inside)
    text = f"Intersect {r.said} with the boxes {boxes.said} by the slab test. "
    return _ray_boxes_stored(who, text, reach, best, k, c, way, dense)


def _ray_boxes_stored(
    who: Var | None,
    text: str,
    reach: Var,
    best: Var,
    k: KernelBuilder,
    c: Crowd,
    way: str,
    dense: Var | None,
) -> Title:
    """What :func:`ray_boxes` stores, and its text."""
    if who is not None:
        text += f"Store the one that is entered first before {reach.name}, or -1, in "
        text += f"{c.put('box_ids hit_ids', who)} and the distance there (0 from inside), or "
        text += f"{reach.name}, in {c.put('entry_t distances', best)}."
        return Title(k.name("nearest_box first_box_hit ray_boxes_nearest"), text)
    if way == "count":
        name = c.put("counts boxes_hit", best)
        text += f"{name} gets the number that the ray meets between 0 and {reach.name}."
        return Title(k.name("count_boxes boxes_along_ray"), text)
    by = f", each weighted by {dense.name}" if dense is not None else ""
    name = c.put("optical_depth" if dense is not None else "path_lengths", best)
    text += f"{name} gets the total length inside them between 0 and {reach.name}{by}."
    names = "box_absorption optical_depth_boxes" if dense is not None else "path_through_boxes"
    return Title(k.name(names), text)


@dataclass(frozen=True)
class _Tree:
    """A hierarchy of boxes, the spheres of its nodes, and the best hit so far."""

    r: Ray
    leaf: Var
    flag: Var
    centers: Points
    radii: Var
    best: Var
    who: Var
    reach: Var

    def visit(self, node: Var) -> None:
        """Test the sphere of a node that has one."""
        k = self.r.c.k
        with k.if_(fn("eq", self.flag[node], 1)):
            self._test(k.let("p prim", self.leaf[node]))

    def _test(self, p: Var) -> None:
        k, r = self.r.c.k, self.r
        oc = k.let("oc rel", r.o - self.centers.at(p))
        along = k.let("b_half along", dot(oc, r.d))
        disc = k.let("disc root_arg", along * along - dot(oc, oc) + self.radii[p] * self.radii[p])
        with k.if_(disc > 0.0):
            t = k.let("t t_sphere", -along - sqrt(disc))
            with k.if_(op("and", t > 0.0, t < self.best)):
                k.assign(self.best, t)
                k.assign(self.who, p)

    @property
    def said(self) -> str:
        return (
            f"A node with {self.flag.name} 1 holds the sphere {self.leaf.name}, of "
            f"{self.centers.name} and {self.radii.name}. "
        )


def _tree(k: KernelBuilder, r: Ray) -> _Tree:
    leaf = k.array("leaf_prim prim_id item", INT32, "bvh_nodes", init="permutation")
    flag = k.array("is_leaf leaf_flag", INT32, "bvh_nodes", low=0, high=1)
    centers = points_of(k, VEC3, "centers sphere_pos", -2.0, 2.0, ("bvh_nodes",))
    radii = k.array("radii sphere_radius", FLOAT32, "bvh_nodes", low=0.6, high=1.2)
    reach = k.scalar("t_max max_dist", FLOAT32, 2.0, 4.0)
    best = k.let("best t_best", reach)
    return _Tree(
        r, leaf, flag, centers, radii, best, k.let("hit best_id", k.lift(-1, INT32)), reach
    )


@idiom
def tree_walk(k: KernelBuilder, level: int) -> Title:
    """A hierarchy of boxes in depth-first order, walked by skips and without a stack."""
    shape = k.draw.shape
    k.size("bvh_nodes", 32, 44)
    r = cast_rays(k, level, -1.5, 1.5, 0.15)
    c, boxes = r.c, _Boxes(r, "bvh_nodes", 1.8)
    skip = k.array("subtree_size skip_count node_span", INT32, "bvh_nodes", low=2, high=4)
    inv, tree = _inverse(r), _tree(k, r)
    visits = k.let("visits steps", k.lift(0, INT32)) if c.chance(0.4, 3) else None
    node = k.let("node at_node cur", k.lift(0, INT32))
    with k.while_(node < extent(boxes.b)):
        if visits is not None:
            k.augment(visits, "add", 1)
        near, far = _slabs(k, r, inv, *boxes.ends(node))
        reached = op("and", near <= far, op("and", far > 0.0, near < tree.best))
        if shape.chance(0.5):
            with k.if_(reached):
                tree.visit(node)
                k.augment(node, "add", 1)
            with k.else_():
                k.augment(node, "add", skip[node])
        else:
            with k.if_(op("not", reached)):
                k.augment(node, "add", skip[node])
                k.continue_()
            tree.visit(node)
            k.augment(node, "add", 1)
    text = (
        f"Find the sphere that {r.said} enters first by a walk without a stack through a tree of "
        f"boxes in depth-first order ({boxes.said}): from a node whose box is met before the best "
        f"hit go to the next one, else skip {skip.name} nodes. {tree.said}"
    )
    text += f"Store the sphere, or -1, in {c.put('hit_ids prim_hits nearest_ids', tree.who)} and "
    text += f"its distance, or {tree.reach.name}, in {c.put('distances t_out', tree.best)}."
    if visits is not None:
        text += f" {c.put('node_visits visited', visits)} gets the number of nodes visited."
    return Title(k.name("tree_walk bvh_skip_walk stackless_bvh"), text)
