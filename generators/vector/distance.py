"""Distances of points from lines, rays, segments, planes and boxes; the nearest of several."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, dot, exp, least, most, sqrt
from generators.kit.naming import BY_LEVEL, held, maybe, routine
from generators.kit.outputs import deliver
from generators.kit.pieces import float_vec
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import plurals, say
from generators.program.dtypes import FLOAT32, INT32, Scalar, Struct, Vec
from generators.program.expr import Expr, Var
from generators.program.ir import FieldInit

_POINTS = ("point", "query", "sample", "position")
_SHAPES = {
    "line": ("Line", "o + dot(p - o, d) * d, d being a unit vector"),
    "ray": ("Ray", "o + max(dot(p - o, d), 0) * d, d being a unit vector"),
    "segment": ("Segment", "a + t * (b - a), t = dot(p - a, b - a) / |b - a|^2 clamped to [0, 1]"),
    "plane": ("Plane", "p - dot(p - o, n) * n, n being a unit vector"),
    "box": ("Box", "p clamped componentwise to [lo, hi]"),
}


def _parts(form: str, vec: Vec) -> list[Part]:
    """What the shape is made of: two vectors."""
    if form == "segment":
        return [Part("a start tail", vec, -1.5, 0.3), Part("b end head", vec, 0.5, 1.6)]
    if form == "box":
        return [Part("lower lo box_min", vec, -1.2, -0.4), Part("upper hi box_max", vec, 0.3, 1.2)]
    axis = ("normal", "nrm") if form == "plane" else ("direction", "dir", "axis")
    return [Part("origin anchor base", vec, -1.0, 1.0), Part(axis, vec, init="unit")]


def _closest(b: BodyBuilder, form: str, p: Expr, u: Expr, w: Expr) -> Expr:
    """The point of the shape that is closest to ``p``."""
    assert isinstance(p.type, Vec)
    if form == "box":
        sides = [clamp(p[c], u[c], w[c]) for c in range(p.type.size)]
        return make(p.type, *sides)
    if form == "segment":
        edge = b.let("ab edge span", w - u)
        t: Expr = dot(p - u, edge) / dot(edge, edge)
        t = b.let("t s param", clamp(t, 0.0, 1.0))
        return u + t * edge
    along: Expr = dot(p - u, w)
    if form == "ray":
        along = most(along, 0.0)
    along = b.let("along t height", along)
    return p - along * w if form == "plane" else u + along * w


def _measure(k: KernelBuilder, form: str, gap: Expr) -> tuple[Expr, str]:
    """How far a point is, by the vector from the shape to it."""
    kinds = {"squared": 1} if form == "box" else {"length": 3, "squared": 2, "dot": 1, "root": 1}
    if isinstance(gap.type, Vec) and gap.type.scalar == FLOAT32:
        kinds = {**kinds, "taxicab": 1}
    kind = k.draw.shape.weighted(kinds)
    if kind == "squared":
        return fn("length_sq", gap), "the squared distance |p - q|^2"
    if kind == "length":
        return fn("length", gap), "the distance |p - q|"
    if kind == "taxicab":
        return fn("norm_l1", gap), "norm_l1(p - q)"
    gap = k.let("gap r diff", gap)
    if kind == "dot":
        return dot(gap, gap), "the squared distance |p - q|^2"
    return sqrt(dot(gap, gap)), "the distance |p - q|"


def _one_shape(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """The distance from one shape, of each thread or shared."""
    shape = k.draw.shape
    form = shape.choice(sorted(_SHAPES))
    title, formula = _SHAPES[form]
    points = site.array(plurals(_POINTS), vec, -2.0, 2.0)
    struct, shared = shape.chance(0.5), shape.chance(0.5)
    u, w = record(site, (title,), _parts(form, vec), struct, shared)
    p = k.let("p point x", points[site.at])
    names = [say(k, u), say(k, w)]
    u, w = held(k, "u start_pt", u), held(k, "w other_pt", w)
    find = routine(
        k,
        BY_LEVEL[level],
        f"closest_on_{form} nearest_{form}_point",
        {"p": vec, "u": vec, "w": vec},
        lambda b, *args: _closest(b, form, *args),
        f"Closest point of the {form}.",
    )
    q = maybe(k, "closest foot q", find(p, u, w), 0.7 if level < 3 else 1.0)
    value, text = _measure(k, form, p - q)
    done = f"For p = {points.name} and the {form} of {names[0]} and {names[1]} "
    letters = {"segment": "a, b", "box": "lo, hi", "plane": "o, n"}.get(form, "o, d")
    done += f"({letters}), with closest point q = {formula}, take {text}"
    if level >= 2 and shape.chance(0.7):
        value, after = _rated(k, site, value)
        done += after
    done += "." + deliver(site, level, "distances dist gaps", value)
    if level >= 3:
        done += f" {site.put('closest_points feet nearest', q).name} gets q."
    return form, done


def _rated(k: KernelBuilder, site: Site, value: Expr) -> tuple[Expr, str]:
    """What is made of a distance: from a thick shape, a falloff, or a count of widths."""
    scalar = value.type
    assert isinstance(scalar, Scalar)
    form = k.draw.shape.choice(("thick", "falloff", "widths", "hinge"))
    sources = {"each": 2, "first": 1, "shared": 2, "literal": 1}
    size = given(site, "radius thickness width", scalar, 0.4, 1.4, forms=sources)
    name = say(k, size)
    if form == "thick":
        return value - size, f" minus {name}"
    if form == "widths":
        return value / size, f" divided by {name}"
    if form == "hinge":
        short = k.let("short penetration", size - value)
        return most(short, 0.0), f" d, then max({name} - d, 0)"
    return exp(-value / size), f" d, then exp(-d / {name})"


def _many(k: KernelBuilder, form: str, vec: Vec) -> tuple[Struct, tuple[FieldInit, ...], Var]:
    """An array of shapes with a radius."""
    parts = [*_parts(form, vec), Part("radius thickness", vec.scalar, 0.05, 0.4)]
    title = {"segment": "Capsule", "box": "RoundBox"}.get(form, _SHAPES[form][0])
    struct, fields = struct_of(k, title, parts)
    return struct, fields, k.array(plurals((title.lower(), "shape")), struct, "m", fields=fields)


def _nearest(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """The nearest of several shapes."""
    shape, scalar = k.draw.shape, vec.scalar
    form = shape.choice(("line", "ray", "segment", "segment"))
    chain = form == "segment" and level == 4 and shape.chance(0.5)
    k.size("m", 3, 5)
    points = site.array(plurals(_POINTS), vec, -2.0, 2.0)
    fields: tuple[FieldInit, ...] = ()
    if chain:
        shapes = k.array("polyline path curve_points", vec, "m + 1", low=-1.5, high=1.5)
    else:
        _, fields, shapes = _many(k, form, vec)
    count = k.trip_count("shape_count num_segments", "m")
    p = k.let("p point x", points[site.at])
    best = k.let("best nearest d_min", k.lift(1.0e6, scalar))
    which = None
    if not chain and (level >= 5 or shape.chance(0.7)):
        which = k.let("which index best_id", k.lift(-1, INT32))
    foot = k.let("foot closest q_best", p) if level >= 5 else None
    find = routine(
        k,
        0.7,
        f"closest_on_{form} nearest_{form}_point",
        {"p": vec, "u": vec, "w": vec},
        lambda b, *args: _closest(b, form, *args),
    )
    with k.for_("j s seg", count) as j:
        if chain:
            q = k.let("q cand", find(p, shapes[j], shapes[j + 1]))
            dist = k.let("d dist", fn("length", p - q))
        else:
            item = k.let("item piece", shapes[j])
            ends = [field(item, f.name) for f in fields]
            q = k.let("q cand", find(p, ends[0], ends[1]))
            dist = k.let("d dist", fn("length", p - q) - ends[2])
        if chain:
            k.assign(best, least(best, dist))
        else:
            _keep(k, dist < best, [(best, dist), (which, j), (foot, q)])
    minus = "" if chain else f" - {fields[2].name}"
    letters = {"segment": "a, b"}.get(form, "o, d")
    ends_text = "its points j and j + 1" if chain else f"{fields[0].name}, {fields[1].name}"
    done = (
        f"For p = {points.name}, over the {form}s of {shapes.name} ({letters} being {ends_text}), "
        f"with q = {_SHAPES[form][1]}, find the smallest |p - q|{minus}, starting at 1.0e6."
    )
    value: Expr = best
    if chain or shape.chance(0.3):
        value, after = _rated(k, site, best)
        done += f" Take it{after}."
    done += deliver(site, level, "distances dist_out", value)
    if which is not None:
        ids = site.put("nearest_ids owners", cast(which, INT32))
        done += f" {ids.name} gets the index j of the smallest one."
    if foot is not None:
        done += _response(k, site, p, foot, best)
    return form, done


def _keep(k: KernelBuilder, better: Expr, kept: list[tuple[Var | None, Expr]]) -> None:
    """Note what belongs to the best so far."""
    with k.if_(better):
        for var, value in kept:
            if var is not None:
                k.assign(var, value)


def _response(k: KernelBuilder, site: Site, p: Var, foot: Var, best: Var) -> str:
    """Where the point is put, or how it is pushed, by the nearest shape."""
    scalar = best.type
    assert isinstance(scalar, Scalar)
    sources = {"shared": 2, "first": 1, "literal": 1}
    band = given(site, "band margin reach", scalar, 0.3, 0.8, forms=sources)
    out = site.out("pushes forces corrections", foot.type)
    stiff = given(site, "stiffness strength", scalar, 0.5, 3.0)
    text = f"({say(k, band)} - d) * (p - q) / |p - q| where the distance d < {say(k, band)}"
    with k.if_(best < band):
        away = k.let("away push_dir", fn("normalize", p - foot))
        k.store(out, site.at, stiff * (band - best) * away)
    with k.else_():
        k.store(out, site.at, make(foot.type, k.lift(0.0, scalar)))
    places = site.put("closest_points feet", foot)
    return f" {places.name} gets its q, {out.name} {say(k, stiff)} * {text}, else zero."


@idiom
def point_distance(k: KernelBuilder, level: int) -> Title:
    """Distances of points from lines, segments, planes and boxes."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = float_vec(k, {3: 5, 2: 3})
    build = _one_shape if level <= 3 else _nearest
    form, done = build(k, level, site, vec)
    return Title(k.name(f"{form}_distance point_{form}_distance closest_{form}"), done)
