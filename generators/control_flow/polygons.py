"""Points against polygons: inside or outside, winding numbers, distances."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    STOP,
    Also,
    Case,
    Step,
    both,
    branch,
    counter,
    leave,
    same,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import clamp, least, sqrt
from generators.kit.masks import as_flag, flag_type
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import Site, launch
from generators.kit.words import listed, say
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var

_NAMES = {
    "crossings": "point_in_polygon even_odd_test",
    "winding": "winding_number winding_numbers",
    "nearest": "polygon_distance distance_to_outline",
    "half_planes": "inside_convex half_plane_test",
}
_AIMS = {
    "crossings": "Point in polygon by ray crossings",
    "winding": "Winding numbers of points",
    "nearest": "Distances of points to the outline of a polygon",
    "half_planes": "Points in a convex region",
}
_TESTS = {
    "crossings": (
        "whether a ray to the right crosses an odd number of edges",
        "inside hit",
        "the number of crossings",
        "num_crossings crossed",
    ),
    "winding": (
        "the winding number: edges that pass the point upward on its right count 1, those that "
        "pass it downward on its left count -1 (right and left by the sign of (b - a) x (p - a))",
        "winding turns",
        "how many edges counted 1",
        "num_upward upward",
    ),
    "nearest": (
        "the distance to the nearest edge (no edge has length 0)",
        "distance dist",
        "",
        "",
    ),
    "half_planes": (
        "whether the point lies in all half-planes",
        "inside hit",
        "in how many half-planes it does not lie",
        "num_outside violated",
    ),
}
"""What a test gives, in words and names; what a further output gets, in words and names."""


@dataclass(frozen=True)
class Outline:
    """Arrays of corners (or normals), one for each coordinate or one of vectors, and their row."""

    k: KernelBuilder
    type: Scalar
    arrays: tuple[Var, ...]
    row: tuple[Expr, ...]
    count: Var

    def point(self, j: Expr, names: str) -> tuple[Var, Var]:
        """Both coordinates of the corner j, in locals."""
        k, at, (first, second) = self.k, (*self.row, j), names.split()
        if len(self.arrays) == 2:
            x, y = (array[at] for array in self.arrays)
            return k.let(first, x), k.let(second, y)
        names = "normal nrm" if first == "nx" else f"{first[0]} corner v"
        corner = k.let(names, self.arrays[0][at])
        return k.let(first, corner[0]), k.let(second, corner[1])


def _arrays(
    k: KernelBuilder, split: bool, names: str, type_: Scalar, dims: tuple[str, ...], size: float
) -> tuple[Var, ...]:
    """Points in an array for each coordinate, or in one of vectors; unit ones if no size."""
    init = "uniform" if size else "unit"
    base = k.draw.word.choice(names.split())
    if split:
        both_axes = (f"{base}_x", f"{base}_y")
        return tuple(k.array(name, type_, dims, low=-size, high=size) for name in both_axes)
    low, high = (-size, size) if size else (None, None)
    return (k.array(names.split(), Vec(2, type_), dims, init=init, low=low, high=high),)


@idiom
@with_struct
def polygon_tests(k: KernelBuilder, level: int) -> Title:
    """Points against a polygon: inside by crossings, winding, nearest edge, or half-planes."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_TESTS))
    (text, outs, more_text, more_outs), planes = _TESTS[form], form == "half_planes"
    s, m = launch(k, list=1), k.size("planes" if planes else "m", 5, 7, minimum=3)
    split, many = shape.chance(0.4) and not planes, level >= 2 and shape.chance(0.35)
    what = "half-planes dot({}, p) <= {}" if planes else "the closed polygon of {}"
    row: tuple[Expr, ...] = ()
    if many:
        own = s.read("poly_id region", INT32, init=f"index_of:{k.size('polys', 3, 4)}")
        row, what = (own,), f"{what}, row {say(k, own)} of the arrays"
    points = _arrays(k, split, "points pts p", type_, s.dims, 1.0)
    dims = ("polys", m) if many else (m,)
    names = "normals plane_normals" if planes else "polygon verts outline"
    arrays = _arrays(k, split, names, type_, dims, 0.0 if planes else 1.5)
    names = "offsets plane_offsets"
    offsets = k.array(names, type_, dims, low=0.4, high=1.0) if planes else None
    count = k.size_param("num_planes" if planes else ["num_verts", "corners"], m)
    named = listed([array.name for array in arrays])
    what = what.format(named, offsets.name if offsets is not None else "")
    limited = level >= 3 and not planes and form != "nearest" and not many and shape.chance(0.4)
    far = k.scalar("radius max_radius", type_, 0.75, 1.05) if limited else None
    kind = {"nearest": type_, "winding": INT32}.get(form) or flag_type(k)
    out = s.out(outs, kind)
    share = 0.0 if form == "nearest" else {1: 0.0, 2: 0.3, 3: 0.5, 4: 0.6, 5: 0.8}[level]
    more = Also(s, share, more_outs)
    x, y = _point(s, points, type_)
    note = ""
    if far is not None:
        leave(s, x * x + y * y > far * far, (out, 0), (more, 0))
        note = f" Points farther than {far.name} from the origin are outside and give 0."
    o = Outline(k, type_, arrays, tuple(k.let("poly r", index) for index in row), count)
    inner = _half_planes(o, x, y, offsets, bool(more)) if offsets else None
    value, other = inner or _edges(level, form, o, x, y)
    k.store(out, s.at, as_flag(value, kind) if kind not in (type_, INT32) else cast(value, kind))
    done = f"{_AIMS[form]}: for each point of {listed([array.name for array in points])} and "
    done += f"{what}, {out.name} gets {text}."
    name = k.name(*_NAMES[form].split())
    return Title(name, f"{done}{more.told(more_text, other)}{note}")


def _point(s: Site, points: tuple[Var, ...], type_: Scalar) -> tuple[Var, Var]:
    """Both coordinates of this thread's point."""
    k, (first, *rest) = s.k, points
    found = (first[s.at], rest[0][s.at]) if rest else (first[s.at][0], first[s.at][1])
    x, y = map(s.k.lift, found, (type_, type_))
    names = k.draw.word.choice(("x y", "qx qy", "xi yi")).split()
    return k.let(names[0], x), k.let(names[1], y)


def _edges(level: int, form: str, o: Outline, x: Var, y: Var) -> tuple[Expr, Expr]:
    """The loop over edges; what it found, and the other number."""
    k, type_, near = o.k, o.type, form == "nearest"
    names = {"crossings": "crossings flips", "winding": "wind turn"}.get(form, "best closest_sq")
    found = k.let(names, k.lift(1.0e30, type_) if near else k.lift(0, INT32))
    upward = counter(k, "up num_up") if form == "winding" else found
    measure = routine(
        k,
        0.0 if form == "crossings" else BY_LEVEL[level],
        "edge_distance_sq sq_to_edge" if near else "side_of_edge edge_side",
        dict.fromkeys(("x", "y", "ax", "ay", "bx", "by"), type_),
        _distance_sq if near else _side,
    )
    carried = k.draw.shape.chance(0.5)
    before = o.point(o.count - 1, "ax ay") if carried else (x, y)
    with k.for_("j e", o.count) as j:
        (ax, ay) = before if carried else o.point(j, "ax ay")
        bx, by = o.point(j if carried else (j + 1) % o.count, "bx by")
        if form == "crossings":
            reach = ax + (bx - ax) * (y - ay) / (by - ay)
            crossed: Case = (x < reach, (found, found + 1))
            branch(k, (fn("ne", ay > y, by > y), [crossed]))
        elif form == "winding":
            side = k.let("side cross", measure(x, y, ax, ay, bx, by))
            left = (both(ay <= y, by > y, side > 0.0), (found, found + 1), (upward, upward + 1))
            branch(k, left, (both(ay > y, by <= y, side < 0.0), (found, found - 1)))
        else:
            k.assign(found, least(found, k.let("d2 sq", measure(x, y, ax, ay, bx, by))))
        if carried:
            k.assign(ax, bx)
            k.assign(ay, by)
    if near:
        return sqrt(found), found
    return (same(found % 2, 1), found) if form == "crossings" else (found, upward)


def _half_planes(o: Outline, x: Var, y: Var, offsets: Var, counts: bool) -> tuple[Expr, Expr]:
    """In how many half-planes the point is not; without ``counts``, whether it is not in one."""
    outside = counter(o.k, "outside misses")
    ends: tuple[Step, ...] = () if counts else (STOP,)
    with o.k.for_("j e", o.count) as j:
        nx, ny = o.point(j, "nx ny")
        place = (*o.row, j)
        branch(o.k, (nx * x + ny * y > offsets[place], (outside, outside + 1), *ends))
    return same(outside, 0), outside


def _side(_: BodyBuilder, x: Expr, y: Expr, ax: Expr, ay: Expr, bx: Expr, by: Expr) -> Expr:
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax)


def _distance_sq(b: BodyBuilder, x: Expr, y: Expr, ax: Expr, ay: Expr, bx: Expr, by: Expr) -> Expr:
    ex, ey = b.let("ex", bx - ax), b.let("ey", by - ay)
    along = ((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey)
    t = b.let("t u", clamp(along, 0.0, 1.0))
    dx, dy = b.let("dx", x - ax - t * ex), b.let("dy", y - ay - t * ey)
    return dx * dx + dy * dy
