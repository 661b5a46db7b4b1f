"""Curves through control points: Bezier, Hermite, Catmull-Rom and B-splines, with tangents."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from generators.build import BodyBuilder, KernelBuilder, cast, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import BY_LEVEL, held, routine
from generators.kit.outputs import deliver
from generators.kit.pieces import float_vec
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import Type, Vec
from generators.program.expr import Expr, Var

Curve = Callable[[BodyBuilder, list[Expr], Expr], Expr]


def casteljau(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    """Repeated blends of neighbours."""
    level, stem = list(points), b.draw.word.choice(("q", "mix", "ab"))
    used = 0
    while len(level) > 1:
        blended: list[Expr] = []
        for p, q in pairwise(level):
            value: Expr = fn("lerp", p, q, t)
            blended.append(b.let(f"{stem}{used}", value) if len(level) > 2 else value)
            used += 1
        level = blended
    return level[0]


def _bernstein(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    s = b.let("s omt", 1.0 - t)
    if len(points) == 3:
        return s * s * points[0] + 2.0 * s * t * points[1] + t * t * points[2]
    head = s * s * s * points[0] + 3.0 * s * s * t * points[1]
    return head + 3.0 * s * t * t * points[2] + t * t * t * points[3]


def _bezier_slope(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    s = b.let("s1 one_minus_t", 1.0 - t)
    p = points
    if len(p) == 3:
        return 2.0 * (s * (p[1] - p[0]) + t * (p[2] - p[1]))
    middle = 2.0 * s * t * (p[2] - p[1])
    return 3.0 * (s * s * (p[1] - p[0]) + middle + t * t * (p[3] - p[2]))


def _hermite(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    t2 = b.let("t2 tt", t * t)
    t3 = b.let("t3 ttt", t2 * t)
    start = (2.0 * t3 - 3.0 * t2 + 1.0) * points[0] + (t3 - 2.0 * t2 + t) * points[1]
    return start + (3.0 * t2 - 2.0 * t3) * points[2] + (t3 - t2) * points[3]


def _hermite_slope(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    u = b.let("u2 tsq", t * t)
    start = 6.0 * (u - t) * (points[0] - points[2])
    return start + (3.0 * u - 4.0 * t + 1.0) * points[1] + (3.0 * u - 2.0 * t) * points[3]


def _catmull(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    p = points
    c1 = b.let("c1 lin", p[2] - p[0])
    c2 = b.let("c2 quad", 2.0 * p[0] - 5.0 * p[1] + 4.0 * p[2] - p[3])
    c3 = b.let("c3 cub", 3.0 * (p[1] - p[2]) + p[3] - p[0])
    return 0.5 * (2.0 * p[1] + t * (c1 + t * (c2 + t * c3)))


def _bspline(b: BodyBuilder, points: list[Expr], t: Expr) -> Expr:
    s = b.let("s omt", 1.0 - t)
    t2, t3 = b.let("t2 tt", t * t), b.let("t3 ttt", t * t * t)
    first = s * s * s * points[0] + (3.0 * t3 - 6.0 * t2 + 4.0) * points[1]
    return (first + (3.0 * (t2 + t - t3) + 1.0) * points[2] + t3 * points[3]) / 6.0


KINDS: dict[str, tuple[int, tuple[Curve, ...], Curve | None, str]] = {
    "quadratic": (
        3,
        (casteljau, _bernstein),
        _bezier_slope,
        "the quadratic Bezier curve (1-t)^2 {0} + 2 (1-t) t {1} + t^2 {2}",
    ),
    "cubic": (
        4,
        (casteljau, _bernstein),
        _bezier_slope,
        "the cubic Bezier curve (1-t)^3 {0} + 3 (1-t)^2 t {1} + 3 (1-t) t^2 {2} + t^3 {3}",
    ),
    "hermite": (
        4,
        (_hermite,),
        _hermite_slope,
        "the cubic Hermite curve from {0} (tangent {1}) to {2} (tangent {3})",
    ),
    "catmull_rom": (
        4,
        (_catmull,),
        None,
        "the Catmull-Rom segment from {1} to {2} (before it {0}, after it {3})",
    ),
    "bspline": (4, (_bspline,), None, "the uniform cubic B-spline segment of {0}, {1}, {2}, {3}"),
}


_COMMON = {"shared": 3, "literal": 2, "each": 1, "first": 1}


_LONG_NAMES = {
    "hermite": "start start_tan end end_tan",
    "cubic": "start start_handle end_handle end",
    "quadratic": "start handle end",
}
_SHORT_NAMES = {"hermite": "p0 m0 p1 m1", "cubic": "p0 p1 p2 p3", "quadratic": "p0 p1 p2"}


def _point_names(k: KernelBuilder, kind: str, arrays: bool) -> list[str]:
    """What people call the control points of a kind of curve; ``arrays`` are called in full."""
    long = _LONG_NAMES.get(kind, "prev_pt first_pt second_pt next_pt").split()
    short = _SHORT_NAMES.get(kind, k.draw.word.choice(("p0 p1 p2 p3", "c0 c1 c2 c3"))).split()
    return long if arrays or k.draw.word.chance(0.4) else short


def _control(k: KernelBuilder, site: Site, vec: Vec, kind: str) -> tuple[list[Expr], list[str]]:
    """The control points: of a struct or arrays of each thread, each curve or all threads."""
    count = KINDS[kind][0]
    form = k.draw.shape.weighted({"each": 3, "curve": 4, "shared": 2})
    by_curve = form == "curve" and site.form == "batch"
    as_struct = not by_curve and k.draw.shape.chance(0.5)
    shared = form == "shared"
    names = _point_names(k, kind, not (as_struct or by_curve or shared))
    parts = [Part((name,), vec, -2.0, 2.0) for name in names]
    if by_curve:
        if k.draw.shape.chance(0.6):
            struct, fields = struct_of(k, k.draw.word.choice(("Curve", "Segment", "Arc")), parts)
            curves = k.array("curves segments arcs", struct, site.dims[:1], fields=fields)
            curve = k.let("curve seg", curves[site.at[:1]])
            values: list[Expr] = [field(curve, f.name) for f in fields]
            return values, [f.name for f in fields]
        dims = (site.dims[0], str(count))
        points = k.array("control_points ctrl knots", vec, dims, low=-2.0, high=2.0)
        row = [points[site.at[0], n] for n in range(count)]
        held_row: list[Expr] = [k.let(name, p) for name, p in zip(names, row, strict=True)]
        return held_row, [f"{points.name}[{site.at[0].name}, {n}]" for n in range(count)]
    found = record(site, "Curve Segment Arc", parts, as_struct, shared)
    listed = [say(k, p) for p in found]
    return [held(k, name, p) for name, p in zip(names, found, strict=True)], listed


def _parameter(k: KernelBuilder, site: Site, vec: Vec) -> tuple[Expr, str]:
    """Where along the curve: from an array, by the index, or by time."""
    form = k.draw.shape.choice(
        ("array", "index", "eased") if site.form == "batch" else ("array", "eased")
    )
    if form == "index":
        last = site.at[-1]
        count = k.size_param("samples steps", site.dims[-1])
        t = cast(last, vec.scalar) / cast(count, vec.scalar)
        return k.let("t param", t), f"{last.name} / {count.name}"
    values = site.array("params times ts", vec.scalar, 0.05, 0.95)
    if form == "array":
        return k.let("t param", values[site.at]), values.name
    raw = k.let("raw u", values[site.at])
    return k.let("t eased", raw * raw * (3.0 - 2.0 * raw)), f"u^2 (3 - 2 u), u = {values.name}"


def _with_slope(k: KernelBuilder, level: int, site: Site, vec: Vec, place: Var, slope: Expr) -> str:
    """What is stored of the derivative."""
    forms = ["tangent", "slope", "speed", "ribbon"] + (["normal"] if vec.size == 2 else [])
    done = ""
    for form in k.draw.shape.sample(forms, 2 if level >= 5 else 1):
        if form == "tangent":
            out = site.put("tangents headings", fn("normalize", slope))
            done += f" {out.name} gets d / |d|."
        elif form == "slope":
            scale = given(site, "rate speed_scale", vec.scalar, 0.5, 2.0, forms=_COMMON)
            out = site.put("velocities slopes", scale * slope)
            done += f" {out.name} gets {say(k, scale)} * d."
        elif form == "speed":
            out = site.put("speeds arc_rates", fn("length", slope))
            done += f" {out.name} gets |d|."
        elif form == "normal":
            unit = k.let("unit tan_dir", fn("normalize", slope))
            out = site.put("normals sides", make(vec, -unit[1], unit[0]))
            done += f" {out.name} gets d / |d| turned by 90 degrees counterclockwise."
        else:
            width = given(site, "width half_width", vec.scalar, 0.1, 0.5, forms=_COMMON)
            shift = width * fn("normalize", slope)
            out = site.put("ahead lead_points", place + shift)
            done += f" {out.name} gets the point + {say(k, width)} * d / |d|."
    return done


def _moved(k: KernelBuilder, site: Site, vec: Vec, value: Expr) -> tuple[Expr, str]:
    """A change of the point that a caller may ask for."""
    form = k.draw.shape.choice(("offset", "scale", "blend", "none"))
    if form == "offset":
        shift = k.scalar("offset origin base", vec, -1.0, 1.0)
        return value + shift, f" It is moved by {shift.name}."
    if form == "scale":
        scale = given(site, "scale zoom", vec.scalar, 0.5, 2.0, forms=_COMMON)
        return scale * value, f" It is multiplied by {say(k, scale)}."
    if form == "blend":
        share = given(site, "smoothing follow", vec.scalar, 0.2, 0.8, forms=_COMMON)
        old = site.array("previous last_points", vec, -1.0, 1.0)
        text = f" Move from {old.name} toward it by the share {say(k, share)}."
        return fn("lerp", old[site.at], value, share), text
    return value, ""


@idiom
def curve_points(k: KernelBuilder, level: int) -> Title:
    """Points of Bezier, Hermite, Catmull-Rom and B-spline curves, with tangents."""
    shape = k.draw.shape
    site = launch(k, list=2, batch=4)
    vec = float_vec(k, {2: 4, 3: 4})
    kinds = sorted(KINDS) if level <= 3 else [s for s in sorted(KINDS) if KINDS[s][2]]
    kind = shape.choice(kinds)
    count, ways, slope_of, text = KINDS[kind]
    points, source = _control(k, site, vec, kind)
    t, where = _parameter(k, site, vec)
    way = shape.choice(ways)
    params: list[tuple[str, Type]] = [*((f"p{n}", vec) for n in range(count)), ("t", vec.scalar)]
    use = routine(
        k,
        BY_LEVEL[level],
        f"eval_{kind} {kind}_point",
        params,
        lambda b, *args: way(b, list(args[:-1]), args[-1]),
    )
    place: Expr = use(*points, t)
    done = f"At t = {where}, take {text.format(*source)}"
    done += " by repeated interpolation." if way is casteljau else "."
    if level >= 2:
        place, after = _moved(k, site, vec, place)
        done += after
    if level >= 4:
        place = k.let("place pt on_curve", place)
    done += deliver(site, level, "points curve_out samples_out", place)
    if level >= 4 and slope_of is not None:
        rate = slope_of
        derive = routine(
            k,
            0.5,
            f"{kind}_slope {kind}_derivative",
            params,
            lambda b, *args: rate(b, list(args[:-1]), args[-1]),
        )
        slope = k.let("slope deriv d_dt", derive(*points, t))
        assert isinstance(place, Var)
        done += " Let d be the curve's derivative by t."
        done += _with_slope(k, level, site, vec, place, slope)
    return Title(k.name(f"{kind}_curve sample_{kind} evaluate_curves"), done)
