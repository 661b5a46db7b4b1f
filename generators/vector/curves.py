"""Curves through control points: Bezier, Hermite, Catmull-Rom and B-splines, with tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import BY_LEVEL, held, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.program.dtypes import Scalar, Vec
from generators.program.expr import Expr
from generators.vector.shelf import VectorShelf, further, settings, worked_out

Curve = Callable[[BodyBuilder, Sequence[Expr], Expr], Expr]


def casteljau(b: BodyBuilder, points: Sequence[Expr], t: Expr) -> Expr:
    """Repeated blends of neighbours."""
    level, stem, used = list(points), b.draw.word.choice(("q", "mix", "ab")), 0
    while len(level) > 1:
        blends: list[Expr] = [fn("lerp", p, q, t) for p, q in pairwise(level)]
        if len(blends) > 1:
            blends = [b.let(f"{stem}{used + n}", blend) for n, blend in enumerate(blends)]
        used, level = used + len(blends), blends
    return level[0]


def _bernstein(b: BodyBuilder, points: Sequence[Expr], t: Expr) -> Expr:
    s = b.let("s omt", 1.0 - t)
    if len(points) == 3:
        return s * s * points[0] + 2.0 * s * t * points[1] + t * t * points[2]
    head = s * s * s * points[0] + 3.0 * s * s * t * points[1]
    return head + 3.0 * s * t * t * points[2] + t * t * t * points[3]


def _bezier_slope(b: BodyBuilder, p: Sequence[Expr], t: Expr) -> Expr:
    s = b.let("s1 one_minus_t", 1.0 - t)
    if len(p) == 3:
        return 2.0 * (s * (p[1] - p[0]) + t * (p[2] - p[1]))
    middle = 2.0 * s * t * (p[2] - p[1])
    return 3.0 * (s * s * (p[1] - p[0]) + middle + t * t * (p[3] - p[2]))


def _hermite(b: BodyBuilder, points: Sequence[Expr], t: Expr) -> Expr:
    t2 = b.let("t2 tt", t * t)
    t3 = b.let("t3 ttt", t2 * t)
    start = (2.0 * t3 - 3.0 * t2 + 1.0) * points[0] + (t3 - 2.0 * t2 + t) * points[1]
    return start + (3.0 * t2 - 2.0 * t3) * points[2] + (t3 - t2) * points[3]


def _hermite_slope(b: BodyBuilder, points: Sequence[Expr], t: Expr) -> Expr:
    u = b.let("u2 tsq", t * t)
    start = 6.0 * (u - t) * (points[0] - points[2])
    return start + (3.0 * u - 4.0 * t + 1.0) * points[1] + (3.0 * u - 2.0 * t) * points[3]


def _catmull(b: BodyBuilder, p: Sequence[Expr], t: Expr) -> Expr:
    names = b.draw.word.choice(("lin quad cub", "k1 k2 k3")).split()
    c1 = b.let(names[0], p[2] - p[0])
    c2 = b.let(names[1], 2.0 * p[0] - 5.0 * p[1] + 4.0 * p[2] - p[3])
    c3 = b.let(names[2], 3.0 * (p[1] - p[2]) + p[3] - p[0])
    return 0.5 * (2.0 * p[1] + t * (c1 + t * (c2 + t * c3)))


def _bspline(b: BodyBuilder, points: Sequence[Expr], t: Expr) -> Expr:
    s = b.let("s omt", 1.0 - t)
    t2, t3 = b.let("t2 tt", t * t), b.let("t3 ttt", t * t * t)
    first = s * s * s * points[0] + (3.0 * t3 - 6.0 * t2 + 4.0) * points[1]
    return (first + (3.0 * (t2 + t - t3) + 1.0) * points[2] + t3 * points[3]) / 6.0


class Kind(NamedTuple):
    """Ways to write a kind of curve, its derivative, long names of its points, and its text."""

    ways: tuple[Curve, ...]
    slope: Curve | None
    points: str
    text: str


_FOUR = "prev_pt first_pt second_pt next_pt"
_QUADRATIC = "the quadratic Bezier curve (1-t)^2 {0} + 2 (1-t) t {1} + t^2 {2}"
_CUBIC = "the cubic Bezier curve (1-t)^3 {0} + 3 (1-t)^2 t {1} + 3 (1-t) t^2 {2} + t^3 {3}"
_HERMITE = "the cubic Hermite curve from {0} (tangent {1}) to {2} (tangent {3})"
_CATMULL = "the Catmull-Rom segment from {1} to {2} (before it {0}, after it {3})"
_BSPLINE = "the uniform cubic B-spline segment of {0}, {1}, {2}, {3}"
_BEZIER = (casteljau, _bernstein)
KINDS = {
    "quadratic": Kind(_BEZIER, _bezier_slope, "start handle end", _QUADRATIC),
    "cubic": Kind(_BEZIER, _bezier_slope, "start start_handle end_handle end", _CUBIC),
    "hermite": Kind((_hermite,), _hermite_slope, "start start_tan end end_tan", _HERMITE),
    "catmull_rom": Kind((_catmull,), None, _FOUR, _CATMULL),
    "bspline": Kind((_bspline,), None, _FOUR, _BSPLINE),
}
_COMMON = {"shared": 3, "each": 1, "first": 1}


def _control(site: Site, vec: Vec, kind: str) -> tuple[list[Expr], list[str]]:
    """The control points: of a struct or arrays of each thread, each curve or all threads."""
    k, long = site.k, KINDS[kind].points.split()
    styles = ("p0 m0 p1 m1",) if kind == "hermite" else ("p0 p1 p2 p3", "c0 c1 c2 c3")
    short = k.draw.word.choice(styles).split()[: len(long)]
    often = {"each": 1, "curve": 5, "shared": 2} if site.rank > 1 else {"each": 2, "shared": 3}
    form = k.draw.shape.weighted(often)
    if form == "curve" and site.form == "batch" and k.draw.shape.chance(0.4):
        names = "control_points ctrl"
        points = site.array(names, vec, -2.0, 2.0, axes=(0,), more=str(len(long)))
        row: list[Expr] = [points[site.at[0], n] for n in range(len(long))]
    else:
        parts = {key: Part(key, vec, -2.0, 2.0) for key in long}
        axes = (0,) if form == "curve" else None
        titles = "Curve Segment Arc"
        r = record(site, titles, parts, 0.5, shared=form == "shared", axes=axes)
        row = list(r.values.values())
    texts = [say(k, p) for p in row]
    return [held(k, name, p) for name, p in zip(short, row, strict=True)], texts


def _parameter(site: Site, scalar: Scalar) -> tuple[Expr, str]:
    """Where along the curve: from an array, by the index, or by time."""
    k, last = site.k, site.at[-1]
    forms = ("array", "index") if site.form == "batch" else ("array",)
    form = k.draw.shape.choice(forms)
    if form == "index":
        count = k.size_param("samples steps", site.dims[-1])
        value: Expr = cast(last, scalar) / cast(count, scalar)
        return k.let("t param", value), say(k, value)
    value = site.read("params times ts", scalar, 0.05, 0.95)
    return k.let("t param", value), say(k, value)


_SLOPES = VectorShelf(scalars="scale width")
_SLOPES.add("tangent", "tangents headings", lambda d: fn("normalize", d))
_SLOPES.add("slope", "velocities slopes", lambda d, scale: scale * d)
_SLOPES.add("speed", "speeds arc_rates", lambda d: fn("length", d))
_SLOPES.add("ribbon", "ahead lead_points", lambda d, x, width: x + width * fn("normalize", d))


@_SLOPES.formula("normals sides", "d / |d| turned by 90 degrees counterclockwise")
def normal(body: BodyBuilder, d: Expr) -> Expr:
    unit = body.let("unit tan_dir", fn("normalize", d))
    return make(d.type, -unit[1], unit[0])


_MOVES = VectorShelf(scalars="zoom share")
_MOVES.add("offset", "moved", lambda x, shift: x + shift)
_MOVES.add("scale", "moved", lambda x, zoom: zoom * x)
_MOVES.add("blend", "moved", lambda x, old, share: fn("lerp", old, x, share))


def _parts(vec: Vec) -> dict[str, Part]:
    """What formulas of the curve's point or derivative read besides these."""
    return settings(vec.scalar, _COMMON, _RANGES) | {
        "shift": Part("offset origin base", vec, -1.0, 1.0, forms={"shared": 1}),
        "old": Part("previous last_point", vec, -1.0, 1.0, forms={"each": 1}),
    }


_RANGES = {
    "scale": ("rate speed_scale", 0.5, 2.0),
    "width": ("width half_width", 0.1, 0.5),
    "zoom": ("scale zoom", 0.5, 2.0),
    "share": ("smoothing follow", 0.2, 0.8),
}


_CALLED = {
    "quadratic": "quadratic Bezier",
    "cubic": "cubic Bezier",
    "hermite": "cubic Hermite",
    "catmull_rom": "Catmull-Rom",
    "bspline": "uniform cubic B-spline",
}


@idiom(depth=1)
def curve_points(k: KernelBuilder, level: int) -> Title:
    """Points of Bezier, Hermite, Catmull-Rom and B-spline curves, with tangents."""
    shape = k.draw.shape
    site = launch(k, list=2, batch=4)
    vec = Vec(k.draw.shape.weighted({2: 4, 3: 4}), k.draw.wide_float_type())
    name = shape.choice([kind for kind in sorted(KINDS) if level <= 3 or KINDS[kind].slope])
    kind = KINDS[name]
    points, source = _control(site, vec, name)
    t, where = _parameter(site, vec.scalar)
    way = shape.choice(kind.ways)
    kinds = {f"p{n}": vec for n in range(len(points))} | {"t": vec.scalar}

    def used(curve: Curve, chance: float, names: str) -> Expr:
        build = routine(k, chance, names, kinds, lambda b, *args: curve(b, args[:-1], args[-1]))
        return build(*points, t)

    place = used(way, BY_LEVEL[level], f"eval_{name} {name}_point")
    done = f"Sample {_CALLED[name]} curves. At t = {where}, take {kind.text.format(*source)}"
    done += " by repeated interpolation." if way is casteljau else "."
    if level >= 2 and shape.chance(0.2):
        move = shape.choice(_MOVES.cards)
        place, moved = worked_out(site, 0.0, move, {"x": place}, _parts(vec))
        done += f" Call that x and take {moved}."
    if level >= 4:
        place = k.let("place pt on_curve", place)
    done += deliver(site, level, "points curve_out samples_out", place)
    title = f"{name}_curve sample_{name} evaluate_curves"
    if level < 4 or kind.slope is None:
        return Title(k.name(title), done)
    d = k.let("slope deriv d_dt", used(kind.slope, 0.5, f"{name}_slope {name}_derivative"))
    done += " Let p be that point and d the curve's derivative by t."
    usable = _SLOPES.cards if vec.size == 2 else _SLOPES.cards[:-1]
    known = {"d": d, "x": place}
    done += further(site, usable, 2 if level >= 5 else 1, known, _parts(vec), {"x": "p"})
    return Title(k.name(title), done)
