"""Distances of points from lines, rays, segments, planes and boxes; the nearest of several."""

from __future__ import annotations

from contextlib import nullcontext

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, Shelf
from generators.kit.functions import clamp, dot, exp, least, most, sqrt
from generators.kit.masks import Test
from generators.kit.naming import BY_LEVEL, evaluated, held, maybe, routine
from generators.kit.outputs import deliver, masked
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import INT32, Vec, scalar_of
from generators.program.expr import Expr, Var
from generators.vector.shelf import BOX_ENDS, VectorShelf, worked_out
from generators.vector.tables import Table

_POINTS = "points queries samples positions"

_CLOSEST = VectorShelf()
"""The point of a shape, which two vectors make up, that is closest to a point p."""


@_CLOSEST.formula("line", "{o} + dot(p - {o}, {d}) * {d}, {d} of unit length")
def line(body: BodyBuilder, p: Expr, o: Expr, d: Expr) -> Expr:
    return o + body.let("along t height", dot(p - o, d)) * d


@_CLOSEST.formula("ray", "{o} + max(dot(p - {o}, {d}), 0) * {d}, {d} of unit length")
def ray(body: BodyBuilder, p: Expr, o: Expr, d: Expr) -> Expr:
    return o + body.let("along t height", most(dot(p - o, d), 0.0)) * d


@_CLOSEST.formula("plane", "p - dot(p - {o}, {n}) * {n}, {n} of unit length")
def plane(body: BodyBuilder, p: Expr, o: Expr, n: Expr) -> Expr:
    return p - body.let("along t height", dot(p - o, n)) * n


@_CLOSEST.formula(
    "segment",
    "{a} + t * ({b} - {a}), t = dot(p - {a}, {b} - {a}) / |{b} - {a}|^2 clamped to [0, 1]",
)
def segment(body: BodyBuilder, p: Expr, a: Expr, b: Expr) -> Expr:
    edge = body.let("ab edge span", b - a)
    t = dot(p - a, edge) / dot(edge, edge)
    return a + body.let("t s param", clamp(t, 0.0, 1.0)) * edge


@_CLOSEST.formula("box", "p clamped componentwise to [{lo}, {hi}]")
def box(p: Expr, lo: Expr, hi: Expr) -> Expr:
    assert isinstance(p.type, Vec)
    return make(p.type, *(clamp(p[c], lo[c], hi[c]) for c in range(p.type.size)))


_ENDS = ("start end", "tail head", "corner_a corner_b")


def _parts(k: KernelBuilder, vec: Vec) -> dict[str, Part]:
    """What the shapes are made of."""
    a, b = k.draw.word.choice(_ENDS).split()
    (lower, upper), (lowers, uppers) = (p.split() for p in k.draw.word.choice(BOX_ENDS))
    return {
        "a": Part(a, vec, -1.5, 0.3),
        "b": Part(b, vec, 0.5, 1.6),
        "lo": Part(lower, vec, -1.2, -0.4, many=lowers),
        "hi": Part(upper, vec, 0.3, 1.2, many=uppers),
        "o": Part("origin anchor base", vec, -1.0, 1.0),
        "d": Part("direction dir axis", vec, init="unit"),
        "n": Part("normal nrm", vec, init="unit"),
    }


_MEASURES = VectorShelf()
_MEASURES.add("squared", "squares", lambda gap: fn("length_sq", gap), "|p - q|^2")
_MEASURES.add("distance", "lengths", lambda gap: fn("length", gap), "|p - q|")


@_MEASURES.formula("squares", "|p - q|^2")
def dotted(body: BodyBuilder, gap: Expr) -> Expr:
    diff = body.let("gap r diff", gap)
    return dot(diff, diff)


@_MEASURES.formula("lengths", "|p - q|")
def rooted(body: BodyBuilder, gap: Expr) -> Expr:
    diff = body.let("gap r diff", gap)
    return sqrt(dot(diff, diff))


_RATED = Shelf()
_RATED.add("thick", "rated", lambda d, size: d - size)
_RATED.add("falloff", "rated", lambda d, size: exp(-d / size))
_RATED.add("widths", "rated", lambda d, size: d / size)


@_RATED.formula("rated")
def hinge(body: BodyBuilder, d: Expr, size: Expr) -> Expr:
    return most(body.let("short penetration", size - d), 0.0)


def _rated(site: Site, value: Expr) -> tuple[Expr, str]:
    """What is made of a distance: from a thick shape, a falloff, or a count of widths."""
    ways = {"each": 2, "first": 1, "shared": 2}
    size = Part("radius thickness width", scalar_of(value.type), 0.4, 1.4, forms=ways)
    return worked_out(
        site, 0.0, site.k.draw.shape.choice(_RATED.cards), {"d": value}, {"size": size}
    )


def _from_plane(k: KernelBuilder, site: Site, vec: Vec) -> tuple[str, str]:
    """The distance from a plane, which needs no closest point."""
    shape = k.draw.shape
    source = site.read(_POINTS, vec, -2.0, 2.0)
    every = _parts(k, vec)
    parts = {key: every[key] for key in "on"}
    r = record(site, "Plane", parts, 0.5, shared=shape.chance(0.6))
    p = k.let("p point x", source)
    height = dot(p - r["o"], r["n"])
    form = shape.choice(("signed", "size", "square"))
    text = f"dot(p - {r.say('o')}, {r.say('n')})"
    if form != "signed":
        h = k.let("height signed_dist", height)
        height, text = (abs(h), f"|{text}|") if form == "size" else (h * h, f"{text}^2")
    kind = {"signed": "signed distance", "size": "distance", "square": "squared distance"}[form]
    done = f"Compute the {kind} of each point p of {say(k, source)} from a plane with a unit "
    done += f"normal: take {text}."
    outs = {"signed": "signed_dist heights", "size": "distances dists", "square": "dist_sq"}[form]
    return "plane", done.replace("normal: take", "normal. Take") + deliver(site, 1, outs, height)


def _one_shape(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """The distance from one shape, of each thread or shared."""
    shape = k.draw.shape
    formula = shape.choice(_CLOSEST.cards)
    if formula.name == "plane" and level < 3:
        return _from_plane(k, site, vec)
    form, (_, *keys) = formula.name, formula.keys
    source = site.read(_POINTS, vec, -2.0, 2.0)
    every = _parts(k, vec)
    parts = {key: every[key] for key in keys}
    shared = shape.chance(0.5)
    r = record(site, form.capitalize(), parts, 0.5, shared=shared)
    values: dict[str, Expr] = {"p": k.let("p point x", source)}
    values |= {key: held(k, f"{key}_i {key}_here", r[key]) for key in keys}
    found = evaluated(k, BY_LEVEL[level], formula, values)
    q = maybe(k, "closest foot q", found, 0.7 if level < 3 else 1.0)
    measure = shape.choice(_MEASURES.cards[:1] if form == "box" else _MEASURES.cards)
    value = measure.build(k, values["p"] - q)
    squared = "squared " if measure.outs == "squares" else ""
    whose = "the" if shared else "its own"
    done = f"Compute the {squared}distance of each point from {whose} {form}. For p = "
    done += f"{say(k, source)}, with the closest point q = "
    done += f"{formula.said({'p': 'p'} | {key: r.say(key) for key in keys})}, take {measure.prose}"
    if level >= 2 and shape.chance(0.7):
        value, text = _rated(site, value)
        done += f" as d, then {text}"
    outs = "dist_sq squared_distances" if squared else "distances dists"
    done += "." + deliver(site, level, outs, value)
    if level >= 3:
        done += f" {site.put('closest_points feet nearest', q).name} gets q."
    return form, done


class Polyline(Table):
    """The segments between points that follow each other."""

    def __init__(self, site: Site, vec: Vec) -> None:
        self.k = k = site.k
        self.thick = given(site, "radius thickness", vec.scalar, 0.05, 0.4)
        k.size("m", 3, 5)
        self.line = k.array("polyline path curve_points", vec, "m + 1", low=-1.5, high=1.5)
        self.count = k.trip_count("segment_count num_segments", "m")

    def said(self, key: str, index: str = "j") -> str:
        if key == "r":
            return say(self.k, self.thick)
        return f"{self.line.name}[{index}{' + 1' if key == 'b' else ''}]"

    def at(self, index: int | Expr) -> list[Expr]:
        return [self.line[index], self.line[index + 1], self.thick]


def _table(k: KernelBuilder, formula: Formula, vec: Vec) -> Table:
    """Shapes of one kind, each of a thickness."""
    parts = {key: _parts(k, vec)[key] for key in formula.keys[1:]}
    parts["r"] = Part("radius thickness", vec.scalar, 0.05, 0.4)
    title = "Capsule" if formula.name == "segment" else formula.name.capitalize()
    return Table(k, f"{title} Shape", parts, 0.8)


def _nearest(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """The nearest of several shapes."""
    shape, scalar = k.draw.shape, vec.scalar
    formula = _CLOSEST.card(shape.choice(("line", "ray", "segment", "segment")))
    form, (_, *keys) = formula.name, formula.keys
    source = site.read(_POINTS, vec, -2.0, 2.0)
    chain = form == "segment" and level == 4 and shape.chance(0.5)
    shapes = Polyline(site, vec) if chain else _table(k, formula, vec)
    p = k.let("p point x", source)
    best = k.let("best nearest d_min", k.lift(1.0e6, scalar))
    # Neighbours in a chain share an end: which of them is the nearest may be chance.
    which = None
    if not chain and (level >= 5 or shape.chance(0.7)):
        which = k.let("which index best_id", k.lift(-1, INT32))
    foot = k.let("foot closest q_best", p) if level >= 5 else None
    kinds = dict.fromkeys(formula.keys, vec)
    names = f"closest_on_{form} nearest_{form}_point"
    find = routine(k, 0.7, names, kinds, formula.build)
    with shapes.each("j s seg") as (j, (first, second, radius)):
        q = k.let("q cand", find(p, first, second))
        dist = k.let("d dist", fn("length", p - q) - radius)
        with k.if_(dist < best) if not chain else nullcontext():
            k.assign(best, dist if not chain else least(best, dist))
            if which is not None:
                k.assign(which, j)
            if foot is not None:
                k.assign(foot, q)
    texts = {key: shapes.said(key) for key in keys}
    done = f"For p = {say(k, source)}, over all j with q = {formula.said(texts | {'p': 'p'})}, "
    done += f"find the smallest |p - q| - {shapes.said('r')}, starting at 1.0e6."
    value: Expr = best
    if shape.chance(0.1):
        value, text = _rated(site, best)
        done += f" With that as d, take {text}."
    done += deliver(site, level, "distances dist_out", value)
    if which is not None:
        done += f" {site.put('nearest_ids owners', which).name} gets the index j of the smallest."
    return form, done + (_response(site, p, foot, best) if foot is not None else "")


def _response(site: Site, p: Var, foot: Var, best: Var) -> str:
    """Where the point is put, or how it is pushed, by the nearest shape."""
    k, scalar = site.k, scalar_of(best.type)
    band = given(site, "band margin reach", scalar, 0.3, 0.8, shared=2, first=1, literal=1)
    stiff = given(site, "stiffness strength", scalar, 0.5, 3.0)
    push = stiff * (band - best) * fn("normalize", p - foot)
    out = site.out("pushes forces corrections", foot.type)
    name = say(k, band)
    close = Test(best < band, f"d < {name}", f"the distance d >= {name}")
    rest = masked(site, out, push, test=close)
    places = site.put("closest_points feet", foot)
    return (
        f" {places.name} gets its q, {out.name} {say(k, stiff)} * ({name} - d) * (p - q) / |p - q|"
        f"{rest}."
    )


@idiom(depth=1)
def point_distance(k: KernelBuilder, level: int) -> Title:
    """Distances of points from lines, segments, planes and boxes."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({3: 5, 2: 3}), k.draw.wide_float_type())
    form, done = (_one_shape if level <= 3 else _nearest)(k, level, site, vec)
    return Title(k.name(f"{form}_distance point_{form}_distance distance_to_{form}"), done)
