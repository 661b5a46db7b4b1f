"""Triangles: areas, normals, centres, barycentric coordinates, and what meshes sum over them."""

from __future__ import annotations

from dataclasses import replace

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import atan2, dot, most
from generators.kit.masks import Test
from generators.kit.naming import BY_LEVEL, applied, evaluated
from generators.kit.outputs import deliver, masked
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say, words
from generators.program.dtypes import INT32, Scalar, Type, Vec, scalar_of
from generators.program.expr import Expr, op
from generators.vector.shelf import VectorShelf, summed

Corners = tuple[Expr, Expr, Expr]

_MEASURES = VectorShelf()
_MEASURES.add("centroid", "centroids", lambda p, q, r: (p + q + r) / 3.0, "the centroid")


def _cross(u: Expr, v: Expr) -> Expr:
    """The cross product; in the plane its one component."""
    flat = isinstance(u.type, Vec) and u.type.size == 2
    return u[0] * v[1] - u[1] * v[0] if flat else fn("cross", u, v)


def _size(value: Expr) -> Expr:
    return abs(value) if isinstance(value.type, Scalar) else fn("length", value)


@_MEASURES.formula("areas area_out", "the area |cross(b - a, c - a)| / 2")
def area(body: BodyBuilder, p: Expr, q: Expr, r: Expr) -> Expr:
    e1, e2 = body.let("e1 ab edge1", q - p), body.let("e2 ac edge2", r - p)
    return 0.5 * _size(_cross(e1, e2))


@_MEASURES.formula("perimeters perimeter_out", "the perimeter")
def perimeter(p: Expr, q: Expr, r: Expr) -> Expr:
    return fn("length", q - p) + fn("length", r - q) + fn("length", p - r)


def lengths(b: BodyBuilder, p: Expr, q: Expr, r: Expr) -> Corners:
    """Lengths of the sides opposite to each corner."""
    sides = {"la len_a": r - q, "lb len_b": p - r, "lc len_c": q - p}
    first, second, third = (b.let(names, fn("length", side)) for names, side in sides.items())
    return first, second, third


@_MEASURES.formula(
    "incentres incentre_out", "the incentre (corners weighted by the lengths of opposite sides)"
)
def incentre(body: BodyBuilder, p: Expr, q: Expr, r: Expr) -> Expr:
    x, y, z = lengths(body, p, q, r)
    return (x * p + y * q + z * r) / (x + y + z)


@_MEASURES.formula("circumcentres circumcentre_out", "the circumcentre")
def circumcentre(body: BodyBuilder, p: Expr, q: Expr, r: Expr) -> Expr:
    u, v = body.let("u ab", q - p), body.let("v ac", r - p)
    n = body.let("n axb", fn("cross", u, v))
    top = fn("length_sq", v) * fn("cross", n, u) + fn("length_sq", u) * fn("cross", v, n)
    return p + top / (2.0 * dot(n, n))


@_MEASURES.formula(
    "angles corner_angles", "the angle at a in radians, by atan2 (signed in the plane)"
)
def angle(body: BodyBuilder, p: Expr, q: Expr, r: Expr) -> Expr:
    u, v = body.let("u ab", q - p), body.let("v ac", r - p)
    turn = _cross(u, v)
    return atan2(turn if isinstance(turn.type, Scalar) else fn("length", turn), dot(u, v))


@_MEASURES.formula("normals normal_out", "the unit normal along cross(b - a, c - a)")
def normal(p: Expr, q: Expr, r: Expr) -> Expr:
    return fn("normalize", fn("cross", q - p, r - p))


def _weights(b: BodyBuilder, p: Expr, x: Expr, y: Expr, z: Expr) -> Expr:
    """Barycentric coordinates of ``p``, by Cramer's rule on its projection."""
    v0, v1 = b.let("v0 e0", y - x), b.let("v1 e1", z - x)
    v2 = b.let("v2 ep", p - x)
    d00, d01 = b.let("d00", dot(v0, v0)), b.let("d01", dot(v0, v1))
    d11 = b.let("d11", dot(v1, v1))
    d20, d21 = b.let("d20", dot(v2, v0)), b.let("d21", dot(v2, v1))
    denom = b.let("denom det", d00 * d11 - d01 * d01)
    v = b.let("bv lam1", (d11 * d20 - d01 * d21) / denom)
    w = b.let("bw lam2", (d00 * d21 - d01 * d20) / denom)
    return make(Vec(3, scalar_of(p.type)), 1.0 - v - w, v, w)


def _three(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[Corners, str]:
    """The corners of a thread's triangle: a struct, three arrays, or looked up in a mesh."""
    form = k.draw.shape.weighted({"struct": 4, "arrays": 3, "mesh": 3 if level > 1 else 1})
    if form == "mesh":
        k.size("nv", 24, 40)
        names = (f"vertices_{x} {x}_points" for x in "abc")
        places = [k.array(words(name), vec, "nv", low=-2.0, high=2.0) for name in names]
        ids = Vec(3, INT32)
        faces = site.read("faces triangles elements", ids, init="index_of:nv")
        tri = k.let("face tri ids", faces)
        corners: list[Expr] = [place[tri[s]] for s, place in enumerate(places)]
        texts = [f"{place.name}[f[{s}]]" for s, place in enumerate(places)]
        done = f"With f = {say(k, faces)} and corners"
    else:
        styles = ("p0 p1 p2", "v0 v1 v2", "corner_a corner_b corner_c", "a b c")
        style = k.draw.word.choice(styles[: 3 if form == "arrays" else 4]).split()
        parts = {name: Part(name, vec, -2.0, 2.0) for name in style}
        r = record(site, "Triangle Tri Facet", parts, 1.0 if form == "struct" else 0.0)
        corners, texts = list(r.values.values()), [r.say(name) for name in style]
        done = "With corners"
    a, b, c = (k.let(name, corner) for name, corner in zip("abc", corners, strict=True))
    return (a, b, c), f"{done} a, b, c = {', '.join(texts)}"


def _measured(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """One measure of each triangle; at level 3 a second one."""
    shape = k.draw.shape
    solid = ("normal", "circumcentre")
    usable = [card for card in _MEASURES.cards if vec.size == 3 or card.name not in solid]
    corners, done = _three(k, level, site, vec)
    picks = shape.sample(usable, 2 if level >= 3 else 1)
    for n, formula in enumerate(picks):
        values = dict(zip("pqr", corners, strict=True))
        value = evaluated(
            k, BY_LEVEL[level], replace(formula, name=f"triangle_{formula.name}"), values
        )
        done += f"{'. Take' if n else ', take'} {formula.prose}"
        if level >= 2 and n == 0 and shape.chance(0.6):
            scale = given(site, "density scale weight", vec.scalar, 0.5, 2.0)
            value, done = scale * value, f"{done}, times {say(k, scale)}"
        done += f".{deliver(site, 1 if n else level, formula.outs, value)}"
        done = done[:-1] if n + 1 < len(picks) else done
    return picks[0].name, done


def _interpolated(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """Barycentric coordinates of points, and corner values interpolated with them."""
    shape, scalar = k.draw.shape, vec.scalar
    (a, b, c), done = _three(k, level, site, vec)
    source = site.read("points samples queries", vec, -0.8, 0.8)
    kinds: tuple[Type, ...] = (scalar, Vec(2, scalar), Vec(3, scalar))
    kind = shape.choice(kinds)
    stem = k.draw.word.choice(("f", "val_", "attr"))
    parts = {f"f{n}": Part(f"{stem}{n}", kind, -1.0, 1.0) for n in range(3)}
    p = k.let("p point x", source)
    values = {"p": p, "x": a, "y": b, "z": c}
    found = applied(k, 0.7, "barycentric bary_coords", values, _weights)
    w = k.let("bary w lam", found)
    corners = record(site, "Attributes Corner", parts, 0.5, shared=shape.chance(0.4))
    inside = op("and", op("and", w[0] > 0.0, w[1] > 0.0), w[2] > 0.0)
    after = ""
    if level >= 5 and shape.chance(0.5):
        kept = k.let("clamped w_pos", make(w.type, *(most(w[n], 0.0) for n in range(3))))
        w = k.let("norm_w lam_n", kept / (kept[0] + kept[1] + kept[2]))
        after = ", each at least 0, then over their sum"
    total = summed(w[n] * corners[f"f{n}"] for n in range(3))
    text = " + ".join(f"w[{n}] * {corners.say(f'f{n}')}" for n in range(3))
    mixed = k.let("value mixed attr", total)
    done += f" and p = {say(k, source)}, let w be the barycentric coordinates of p (of its "
    done += f"projection in 3-D){after}. Take {text}."
    outside = "keep" if after else shape.choice(("keep", "masked", "masked", "flag"))
    names = "interpolated values sampled"
    if outside == "masked":
        out = site.out(names, kind)
        rest = masked(site, out, mixed, test=Test(inside, "all w > 0", "any w <= 0"))
        done += f" {out.name} gets it{rest}."
    else:
        done += deliver(site, level, names, mixed)
    if outside == "flag":
        done += f" {site.put('inside hit', cast(inside, INT32)).name} gets 1 where all w > 0, else "
        done += "0."
    return "interpolate", done + (_quality(site, (a, b, c), p) if level >= 5 else "")


def _quality(site: Site, corners: Corners, p: Expr) -> str:
    """A second output: how far the point is, or a quality of the triangle."""
    k, ways = site.k, {"each": 1, "first": 1, "shared": 2, "literal": 2}
    scale = given(site, "scale cell_size spacing", scalar_of(p.type), 0.5, 2.0, forms=ways)
    form = k.draw.shape.choice(("area", "perimeter", "centroid", "quality"))
    if form == "quality":
        x, y, z = lengths(k, *corners)
        value: Expr = area(k, *corners) / (x * x + y * y + z * z) * scale
        text = "the area over the sum of the squared sides, times"
    else:
        formula = _MEASURES.card(form)
        value, text = formula.build(k, *corners), f"{formula.prose} over"
        if form == "centroid":
            value, text = fn("length", p - value), f"the distance of p from {text}"
        value = value / scale
    return f" {site.put('quality measure size_out', value).name} gets {text} {say(k, scale)}."


@idiom
def triangle_geometry(k: KernelBuilder, level: int) -> Title:
    """Areas, normals and centres of triangles; barycentric coordinates and interpolation."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({3: 3, 2: 2}) if level <= 3 else 3, k.draw.wide_float_type())
    form, done = (_measured if level <= 3 else _interpolated)(k, level, site, vec)
    return Title(k.name(f"triangle_{form} {form}_triangles mesh_{form}"), done)
