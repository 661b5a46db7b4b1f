"""Plane geometry by cases: triangles, overlaps, quadrants; points against polygons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    Also,
    Case,
    both,
    branch,
    counter,
    leave,
    same,
    some,
    some_type,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import clamp, least, most, sqrt
from generators.kit.masks import as_flag, flag, flag_type
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import Site, launch
from generators.kit.words import listed, say
from generators.program.dtypes import INT32, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var

Made = tuple[str, Expr | None, str]
"""What a label says, in words; a measure where there is one, and that in words."""


def _triangle(k: KernelBuilder, level: int, label: Var, a: Var, b: Var, c: Var) -> Made:
    equal = some(same(a, b), same(b, c), same(a, c))
    branch(
        k,
        (some(a + b <= c, b + c <= a, c + a <= b), (label, 0)),
        (both(same(a, b), same(b, c)), (label, 3)),
        (equal, (label, 2)),
    )
    text = "0 for sides that make no triangle, 3 for three, 2 for two and 1 for no equal sides"
    if level >= 2 and k.draw.shape.chance(0.6):
        longest = k.let("longest m", most(a, b, c))
        right = both(label > 0, same(a * a + b * b + c * c, 2 * longest * longest))
        branch(k, (right, (label, label + 10)))
        text += ", plus 10 where a right angle is among them"
    return text, a + b + c, "the sum of the sides"


def _overlap(k: KernelBuilder, level: int, label: Var, a: Var, b: Var, la: Var, lb: Var) -> Made:
    a_end, b_end = k.let("a_hi end_a", a + la), k.let("b_hi end_b", b + lb)
    branch(
        k,
        (some(a_end <= b, b_end <= a), (label, 0)),
        (both(a <= b, b_end <= a_end), (label, 2)),
        (both(b <= a, a_end <= b_end), (label, 3)),
    )
    text = "0 where the intervals [lo, lo + len] are apart, 2 where the first holds the second, "
    text += "3 where the second holds the first, 1 where they overlap otherwise"
    common = most(least(a_end, b_end) - most(a, b), 0)
    return text, common, "the length that both have in common, 0 if none"


def _zone(k: KernelBuilder, level: int, label: Var, x: Var, y: Var) -> Made:
    type_ = scalar_of(x.type)
    whole = type_.is_int
    span = (20, 30) if whole else (-0.5, 0.5)
    cx, cy = k.scalar("cx", type_, *span), k.scalar("cy", type_, *span)
    dx, dy = k.let("dx", x - cx), k.let("dy", y - cy)
    upper, lower = [(dy >= 0, (label, 1)), (None, (label, 4))], [(dy >= 0, (label, 2))]
    branch(k, (dx >= 0, upper), (None, [*lower, (None, (label, 3))]))
    text = f"the quadrant, 1 to 4 counterclockwise, of the point about ({cx.name}, {cy.name})"
    if level >= 3 and k.draw.shape.chance(0.6):
        steep = both(abs(dy) > abs(dx), some(same(label, 1), same(label, 3)))
        flat = both(abs(dx) >= abs(dy), some(same(label, 2), same(label, 4)))
        branch(k, (some(steep, flat), (label, 2 * label)), (None, (label, 2 * label - 1)))
        text = f"the octant of the point about ({cx.name}, {cy.name}): with q the quadrant, 1 to "
        text += "4 counterclockwise, it is 2 * q where |dy| > |dx| in quadrants 1 and 3 or where "
        text += "|dx| >= |dy| in 2 and 4, else 2 * q - 1"
    return text, dx * dx + dy * dy, "the squared distance from there"


def _outcode(k: KernelBuilder, level: int, label: Var, x: Var, y: Var) -> Made:
    """The code of Cohen and Sutherland."""
    spans = ((8, 15), (35, 42)) if scalar_of(x.type).is_int else ((-1.4, -0.6), (0.6, 1.4))
    for value, axis, bit in ((x, "x", 1), (y, "y", 4)):
        low = k.scalar(f"{axis}_min", x.type, *spans[0])
        high = k.scalar(f"{axis}_max", x.type, *spans[1])
        above = (value > high, (label, label + 2 * bit))
        branch(k, (value < low, (label, label + bit)), above)
    text = "the outcode of the point for the box of x_min, x_max, y_min and y_max: 1 left of it, 2 "
    return f"{text}right, plus 4 below, 8 above", None, ""


def _circles(k: KernelBuilder, level: int, label: Var, between: Var, a: Var, b: Var) -> Made:
    branch(
        k,
        (between >= a + b, (label, 0)),
        (between + b <= a, (label, 2)),
        (between + a <= b, (label, 3)),
    )
    text = "0 where circles of these radii, their centers that far apart, do not meet, 2 where the "
    text += "first holds the second, 3 where the second holds the first, 1 where they cross"
    return text, between - a - b, "the distance less both radii"


def _turn(
    k: KernelBuilder, level: int, label: Var, ax: Var, ay: Var, bx: Var, by: Var, cx: Var, cy: Var
) -> Made:
    """Which way a path turns (two-dimensional orientation)."""
    cross = k.let("cross area2", (bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
    branch(k, (cross > 0, (label, 1)), (cross < 0, (label, 2)))
    text = "1 where the path from a over b to c turns left, 2 where it turns right, 0 where it is "
    text += "straight, by the sign of (b - a) x (c - a)"
    return text, abs(cross), "the size of that cross product, twice the area of the triangle"


def _boxes(
    k: KernelBuilder, level: int, label: Var, ax: Var, ay: Var, bx: Var, by: Var, w: Var, h: Var
) -> Made:
    """Two boxes of the same size."""
    dx, dy = k.let("dx", abs(bx - ax)), k.let("dy", abs(by - ay))
    apart: Case = (some(dx > w, dy > h), (label, 0))
    if scalar_of(w.type).is_int:
        branch(k, apart, (some(same(dx, w), same(dy, h)), (label, 2)))
        last = "2 where they only touch, 1 where they overlap"
    else:
        branch(k, apart)
        last = "1 where they meet"
    text = f"0 where boxes of that width and height at both places are apart, {last}"
    return text, most(w - dx, 0) * most(h - dy, 0), "the common area, 0 if none"


_FIRST = {"zone": 0, "outcode": 0, "turn": 0}
"""The label that a point has before anything is tested, where it is not the last case, 1."""
_KINDS: dict[str, tuple[tuple[str, ...], str, tuple[float, float], Callable[..., Made]]] = {
    "sides": (("a b c", "side_a side_b side_c"), "s1 s2 s3", (2, 6), _triangle),
    "overlap": (("a_lo b_lo", "start_a start_b"), "a0 b0 len_a len_b", (-2.0, 2.0), _overlap),
    "zone": (("x y", "px py"), "xi yi", (-2.0, 2.0), _zone),
    "outcode": (("x y", "px py"), "xi yi", (-2.0, 2.0), _outcode),
    "turn": (
        ("ax ay bx by cx cy", "a_x a_y b_x b_y c_x c_y"),
        "x0 y0 x1 y1 x2 y2",
        (-2.0, 2.0),
        _turn,
    ),
    "boxes": (
        ("ax ay bx by width height", "a_x a_y b_x b_y w h"),
        "x0 y0 x1 y1 w_i h_i",
        (0.2, 2.0),
        _boxes,
    ),
    "circles": (
        ("distance radius_a radius_b", "gap r_first r_second"),
        "between ra rb",
        (0.2, 2.0),
        _circles,
    ),
}
"""Names of the arrays, of their values, the range of those, and the branches."""


_MEASURES = {
    "sides": "perimeter perimeters",
    "overlap": "common_length overlap",
    "zone": "dist_sq distance_sq",
    "circles": "clearance separation",
    "turn": "area2 double_area",
    "boxes": "common_area overlap",
}
"""Names of the output of a measure."""
_SUBJECTS = {
    "sides": "Classify triangles by their sides",
    "overlap": "Classify pairs of intervals",
    "zone": "Find where points lie about a centre",
    "outcode": "Cohen-Sutherland codes of points",
    "circles": "Classify pairs of circles",
    "turn": "Which way paths of three points turn",
    "boxes": "Classify pairs of boxes",
}


@idiom(depth=3)
@with_struct
def geometry_cases(k: KernelBuilder, level: int) -> Title:
    """Cases of plane geometry: kinds of triangles, quadrants, overlaps of boxes and intervals."""
    shape = k.draw.shape
    form = shape.choice(sorted(_KINDS))
    names, short, ends, branches = _KINDS[form]
    type_ = some_type(k, 1.0 if form == "sides" else 0.3, "int32 int64 int16")
    s = launch(k, list=2, grid=1)
    if type_.is_int and form != "sides":
        ends = {"circles": (1, 20), "turn": (0, 9), "boxes": (1, 9)}.get(form, (0, 50))
    found: list[Expr] = [s.read(name, type_, *ends) for name in k.draw.word.choice(names).split()]
    if form == "overlap":
        widths = (5, 20) if type_.is_int else (0.3, 1.5)
        found += [s.read(name, type_, *widths) for name in ("a_len", "b_len")]
    given = ", ".join(say(k, value) for value in found)
    out = s.out("kind case label", INT32)
    share = 0.0 if form == "outcode" else 0.6 if level >= 2 else 0.3
    measure = Also(s, share, _MEASURES.get(form, ""), type_)
    note = ""
    if level >= 3 and shape.chance(0.1):
        test = flag(s, "active valid")
        leave(s, test.unless, (out, -1), (measure, 0))
        note = f" Entries where {test.off} give -1."
    values = [k.let(name, value) for name, value in zip(short.split(), found, strict=True)]
    label = k.let("label_id kind_id", k.lift(_FIRST.get(form, 1), INT32))
    text, amount, meaning = branches(k, level, label, *values)
    k.store(out, s.at, label)
    note += measure.told(meaning, amount)
    name = k.name(f"{form}_cases classify_{form} {form}_kind")
    return Title(name, f"{_SUBJECTS[form]} ({given}): {out.name} gets {text}.{note}")


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
        "the distance to the nearest edge",
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
    s, m = launch(k, list=1), k.size("m", 5, 7, minimum=3)
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
    offsets = None
    if planes:
        offsets = k.array(["offsets", "plane_offsets"], type_, dims, low=0.4, high=1.0)
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
    value, other = _half_planes(o, x, y, offsets) if offsets else _edges(level, form, o, x, y)
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
    found = k.let(names, k.lift(1.0e6, type_) if near else k.lift(0, INT32))
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


def _half_planes(o: Outline, x: Var, y: Var, offsets: Var) -> tuple[Expr, Expr]:
    outside = counter(o.k, "outside misses")
    with o.k.for_("j e", o.count) as j:
        nx, ny = o.point(j, "nx ny")
        place = (*o.row, j)
        branch(o.k, (nx * x + ny * y > offsets[place], (outside, outside + 1)))
    return same(outside, 0), outside


def _side(_: BodyBuilder, x: Expr, y: Expr, ax: Expr, ay: Expr, bx: Expr, by: Expr) -> Expr:
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax)


def _distance_sq(b: BodyBuilder, x: Expr, y: Expr, ax: Expr, ay: Expr, bx: Expr, by: Expr) -> Expr:
    ex, ey = b.let("ex", bx - ax), b.let("ey", by - ay)
    along = ((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey + 1.0e-6)
    t = b.let("t u", clamp(along, 0.0, 1.0))
    dx, dy = b.let("dx", x - ax - t * ex), b.let("dy", y - ay - t * ey)
    return dx * dx + dy * dy
