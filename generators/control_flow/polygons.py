"""Points against polygons: crossings, winding numbers, nearest edges, half-planes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import also, as_flag, either, flag_type, function_of, shown
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var, op

_WORDS = {
    "crossings": "whether a ray to the right crosses an odd number of edges",
    "winding": "the winding number: edges that pass the point upward on its right count 1, those "
    "that pass it downward on its left count -1 (right and left by the sign of (b - a) x (p - a))",
    "nearest": "the distance to the nearest edge",
    "half_planes": "whether the point lies in all half-planes",
}


@dataclass
class Outline:
    """Where corners (or normals and offsets of half-planes) stand, and how they are read."""

    k: KernelBuilder
    s: Scalar
    split: bool
    own: Var | None
    arrays: list[Var] = field(default_factory=list)
    row: tuple[Expr, ...] = ()

    def declare(self, names: tuple[str, ...], low: float, high: float, init: str) -> None:
        k, dims = self.k, (("polys", "m") if self.own is not None else ("m",))
        if self.split:
            base = k.draw.word.choice(names)
            made = [k.array(f"{base}_{a}", self.s, dims, low=low, high=high) for a in "xy"]
        else:
            made = [k.array(names, Vec(2, self.s), dims, init=init, low=low, high=high)]
        self.arrays += made

    def point(self, j: Expr | int, names: tuple[str, str]) -> tuple[Var, Var]:
        """Both coordinates of the corner j, in locals."""
        k = self.k
        at = (*self.row, j)
        if self.split:
            x, y = (array[at] for array in self.arrays)
            return k.let(names[0], x), k.let(names[1], y)
        corner = k.let((f"{names[0][0]}", "corner", "v"), self.arrays[0][at])
        return k.let(names[0], corner[0]), k.let(names[1], corner[1])


@idiom
@with_struct
def polygon_tests(k: KernelBuilder, level: int) -> Title:
    """Points against a polygon: inside by crossings, winding, nearest edge, or half-planes."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_WORDS))
    n, m = k.size("n", 56, 80), k.size("m", 5, 7, minimum=3)
    split = shape.chance(0.4) and form != "half_planes"
    many = level >= 2 and shape.chance(0.35)
    if many:
        k.size("polys", 3, 4)
    own = k.array(("poly_id", "region"), INT32, n, init="index_of:polys") if many else None
    o = Outline(k, s, split, own)
    if split:
        points = [k.array(f"p{a}", s, n, low=-1.0, high=1.0) for a in "xy"]
    else:
        points = [k.array(("points", "pts"), Vec(2, s), n, low=-1.0, high=1.0)]
    offsets = None
    if form == "half_planes":
        o.declare(("normals", "plane_normals"), -1.0, 1.0, "unit")
        dims = ("polys", m) if many else (m,)
        offsets = k.array(("offsets", "plane_offsets"), s, dims, low=0.4, high=1.0)
    else:
        o.declare(("polygon", "verts", "outline"), -1.5, 1.5, "uniform")
    count = k.size_param(("num_verts", "corners") if offsets is None else ("num_planes",), m)
    far = None
    if level >= 3 and shape.chance(0.7):
        far = k.scalar(("radius", "max_radius"), s, 0.75, 1.05)
    scaled = level >= 2 and far is None and shape.chance(0.5)
    scale = either(k, ("scale", "zoom"), s, 0.6, 0.9) if scaled else None
    type_ = {"nearest": s, "winding": INT32}.get(form) or flag_type(k)
    names = {"nearest": ("distance", "dist"), "winding": ("winding", "turns")}
    out = k.out(names.get(form, ("inside", "hit")), type_, n)
    which = also(k, _SHARES.get(level, 0.0), _MORE[form], INT32, n)
    (i,) = k.thread(n, names=(k.name("i", "tid"),))
    p = (points[0][i], points[1][i]) if split else k.let(("p", "pt"), points[0][i])
    first, second = p if isinstance(p, tuple) else (p[0], p[1])
    x = k.let(("x", "qx"), scale * first if scale is not None else first)
    y = k.let(("y", "qy"), scale * second if scale is not None else second)
    note = _too_far(k, (x, y), far, (out, which), i) if far is not None else ""
    if own is not None:
        o.row = (k.let(("poly", "r"), own[i]),)
    value, more = _tested(k, level, form, (x, y), o, (count, offsets))
    k.store(out, i, as_flag(value, type_) if form in ("crossings", "half_planes") else value)
    what = "one of several polygons" if many else "the closed polygon"
    if form == "half_planes":
        what = "half-planes dot(normal, p) <= offset"
    if own is not None:
        what += f", row {own.name}[i]" if form == "half_planes" else f" (row {own.name}[i])"
    done = f"For each point p{f' times {shown(scale)}' if scale is not None else ''} and {what}: "
    done += f"{out.name} gets {_WORDS[form]}."
    if which is not None:
        k.store(which, i, more)
        done += f" {which.name} gets {_MORE_TEXT[form]}."
    titles: tuple[str, ...] = (f"polygon_{form}", f"{form}_test", f"points_{form}")
    if form in ("crossings", "winding"):
        titles = (*titles, "point_in_polygon")
    return Title(k.name(*titles), done + note)


_SHARES = {2: 0.3, 3: 0.5, 4: 0.6, 5: 0.8}
_MORE = {
    "crossings": ("num_crossings", "crossed"),
    "winding": ("num_upward", "upward"),
    "nearest": ("is_near", "within"),
    "half_planes": ("num_outside", "violated"),
}
_MORE_TEXT = {
    "crossings": "the number of crossings",
    "winding": "how many edges counted 1",
    "nearest": "1 where that is below 0.2, else 0",
    "half_planes": "in how many half-planes it does not lie",
}


def _too_far(
    k: KernelBuilder, p: tuple[Var, Var], far: Var, outs: tuple[Var, Var | None], i: Var
) -> str:
    """Points beyond a radius are done at once; says so."""
    x, y = p
    with k.if_(x * x + y * y > far * far):
        for out in outs:
            if out is not None:
                k.store(out, i, 0)
        k.return_()
    names = " and ".join(out.name for out in outs if out is not None)
    return f" Points beyond {far.name} from the origin give 0 in {names}."


def _tested(
    k: KernelBuilder,
    level: int,
    form: str,
    p: tuple[Var, Var],
    o: Outline,
    by: tuple[Var, Var | None],
) -> tuple[Expr, Expr]:
    """The loop over edges or half-planes; what it found, and the other number."""
    count, offsets = by
    if offsets is not None:
        return _half_planes(k, p, o, count, offsets)
    found = k.let(_FOUND[form], k.lift(100.0, o.s) if form == "nearest" else k.lift(0, INT32))
    upward = k.let(("up", "num_up"), k.lift(0, INT32)) if form == "winding" else found
    params = [(n, o.s) for n in ("x", "y", "ax", "ay", "bx", "by")]
    near = form == "nearest"
    names = ("edge_distance_sq", "sq_to_edge") if near else ("side_of_edge", "edge_side")
    build: Callable[..., Expr] = _distance_sq if near else _side
    measure = function_of(k, level, names, params, build, 0.0 if form == "crossings" else 0.6)
    carried = k.draw.shape.chance(0.5)
    if carried:
        ax, ay = o.point(count - 1, ("ax", "ay"))
    with k.for_(("j", "e"), count) as j:
        if carried:
            bx, by_ = o.point(j, ("bx", "by"))
        else:
            ax, ay = o.point(j, ("ax", "ay"))
            bx, by_ = o.point((j + 1) % count, ("bx", "by"))
        edge = (*p, ax, ay, bx, by_)
        if form == "crossings":
            _crossed(k, edge, found)
        elif form == "winding":
            _wound(k, edge, measure(*edge), found, upward)
        else:
            d2 = k.let(("d2", "sq"), measure(*edge))
            k.assign(found, fn("min", found, d2))
        if carried:
            k.assign(ax, bx)
            k.assign(ay, by_)
    if form == "crossings":
        return fn("eq", found % 2, 1), found
    if form == "winding":
        return found, upward
    distance = k.let(("nearest", "closest"), fn("sqrt", found))
    return distance, cast(distance < 0.2, INT32)


_FOUND = {
    "crossings": ("crossings", "flips"),
    "winding": ("wind", "turn"),
    "nearest": ("best", "least"),
}


def _half_planes(
    k: KernelBuilder, p: tuple[Var, Var], o: Outline, count: Var, offsets: Var
) -> tuple[Expr, Expr]:
    outside = k.let(("outside", "misses"), k.lift(0, INT32))
    with k.for_(("j", "e"), count) as j:
        nx, ny = o.point(j, ("nx", "ny"))
        place = (*o.row, j)
        with k.if_(nx * p[0] + ny * p[1] > offsets[place]):
            k.augment(outside, "add", 1)
    return fn("eq", outside, 0), outside


def _crossed(k: KernelBuilder, edge: tuple[Expr, ...], found: Var) -> None:
    x, y, ax, ay, bx, by = edge
    with k.if_(fn("ne", ay > y, by > y)), k.if_(x < ax + (bx - ax) * (y - ay) / (by - ay)):
        k.augment(found, "add", 1)


def _wound(k: KernelBuilder, edge: tuple[Expr, ...], side: Expr, found: Var, up: Var) -> None:
    _, y, _, ay, _, by = edge
    side = k.let(("side", "cross"), side)
    with k.if_(op("and", op("and", ay <= y, by > y), side > 0.0)):
        k.augment(found, "add", 1)
        k.augment(up, "add", 1)
    with k.elif_(op("and", op("and", ay > y, by <= y), side < 0.0)):
        k.augment(found, "sub", 1)


def _side(_: BodyBuilder, x: Expr, y: Expr, ax: Expr, ay: Expr, bx: Expr, by: Expr) -> Expr:
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax)


def _distance_sq(b: BodyBuilder, x: Expr, y: Expr, ax: Expr, ay: Expr, bx: Expr, by: Expr) -> Expr:
    ex, ey = b.let("ex", bx - ax), b.let("ey", by - ay)
    along = ((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey + 1.0e-6)
    t = b.let(("t", "u"), fn("clamp", along, 0.0, 1.0))
    dx, dy = b.let("dx", x - ax - t * ex), b.let("dy", y - ay - t * ey)
    return dx * dx + dy * dy
