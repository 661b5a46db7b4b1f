"""Triangles: areas, normals, centres, barycentric coordinates, and what meshes sum over them."""

from __future__ import annotations

from generators.build import KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import most
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Type, Vec
from generators.program.expr import Expr, op
from generators.vector.triangle_measures import MEASURES, area, lengths, weights

Corners = tuple[Expr, Expr, Expr]


_STYLES = ("p0 p1 p2", "v0 v1 v2", "corner_a corner_b corner_c")


def _corners(k: KernelBuilder, vec: Vec, arrays: bool) -> list[Part]:
    """The corners under names of one style; arrays are not called by one letter."""
    style = k.draw.word.choice(_STYLES if arrays else (*_STYLES, "a b c"))
    return [Part((name,), vec, -2.0, 2.0) for name in style.split()]


def _three(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[Corners, str]:
    """The corners of a thread's triangle: a struct, three arrays, or looked up in a mesh."""
    forms = {"struct": 4, "arrays": 3, "mesh": 3 if level > 1 else 1}
    form = k.draw.shape.weighted(forms)
    if form != "mesh":
        parts = _corners(k, vec, form == "arrays")
        found = record(site, "Triangle Tri Facet", parts, form == "struct")
        names = [say(k, c) for c in found]
        a, b, c = (k.let(n, v) for n, v in zip((("a",), ("b",), ("c",)), found, strict=True))
        return (a, b, c), f"With corners a, b, c = {', '.join(names)}"
    k.size("nv", 24, 40, minimum=1)
    places = [
        k.array(f"vertices_{x} {x}_points", vec, "nv", low=p.low, high=p.high)
        for x, p in zip("abc", _corners(k, vec, True), strict=True)
    ]
    faces = site.array("faces triangles elements", Vec(3, INT32), init="index_of:nv")
    tri = k.let("face tri ids", faces[site.at])
    a, b, c = (k.let(x, places[s][tri[s]]) for s, x in enumerate("abc"))
    listed = ", ".join(f"{p.name}[f[{s}]]" for s, p in enumerate(places))
    return (a, b, c), f"With f = {faces.name} and corners a, b, c = {listed}"


def _measured(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """One measure of each triangle; at level 3 a second one."""
    shape = k.draw.shape
    forms = sorted(f for f in MEASURES if f != "normal" or vec.size == 3)
    forms = [f for f in forms if f != "circumcentre" or vec.size == 3]
    corners, done = _three(k, level, site, vec)
    picks = shape.sample(forms, 2 if level >= 3 else 1)
    outs = {"area": ("areas", "area_out"), "angle": ("angles", "corner_angles")}
    for n, form in enumerate(picks):
        build, text = MEASURES[form]
        use = routine(
            k, BY_LEVEL[level], f"triangle_{form} {form}_of", {"p": vec, "q": vec, "r": vec}, build
        )
        value: Expr = use(*corners)
        if level >= 2 and n == 0 and shape.chance(0.6):
            scale = given(site, "density scale weight", vec.scalar, 0.5, 2.0)
            value, text = scale * value, f"{text}, times {say(k, scale)}"
        names = outs.get(form, (f"{form}s", f"{form}_out"))
        done += (". Take " if n else ", take ") + text + "."
        done += deliver(site, level if n == 0 else 1, names, value)
        done = done[:-1] if n + 1 < len(picks) else done
    return picks[0], done


def _interpolated(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """Barycentric coordinates of points, and corner values interpolated with them."""
    shape, scalar = k.draw.shape, vec.scalar
    (a, b, c), done = _three(k, level, site, vec)
    points = site.array("points samples queries", vec, -0.8, 0.8)
    kinds: tuple[Type, ...] = (scalar, Vec(2, scalar), Vec(3, scalar))
    kind = shape.choice(kinds)
    parts = [Part(f"f{n} val_{n}", kind, -1.0, 1.0) for n in range(3)]
    p = k.let("p point x", points[site.at])
    weigh = routine(
        k, 0.7, "barycentric bary_coords", {"p": vec, "x": vec, "y": vec, "z": vec}, weights
    )
    bary = k.let("bary w lam", weigh(p, a, b, c))
    values = record(site, "Attributes Corner", parts, 0.5, 0.4)
    inside = op("and", op("and", bary[0] > 0.0, bary[1] > 0.0), bary[2] > 0.0)
    if level >= 5 and shape.chance(0.5):
        bary = k.let("clamped w_pos", _made_positive(bary))
        after = ", each at least 0, then over their sum"
        lam = k.let("norm_w lam_n", bary / _total(bary))
    else:
        after, lam = "", bary
    total = lam[0] * values[0] + lam[1] * values[1] + lam[2] * values[2]
    mixed = k.let("value mixed attr", total)
    done += f" and p = {points.name}, let w be the barycentric coordinates of p (of its projection "
    done += f"in 3-D){after}. Take w[0] * {say(k, values[0])} + w[1] * {say(k, values[1])} + "
    done += f"w[2] * {say(k, values[2])}."
    outside = shape.choice(("keep", "where", "flag", "branch"))
    names = ("interpolated", "values", "sampled")
    if outside == "keep" or after:
        done += deliver(site, level, names, mixed)
    elif outside == "flag":
        done += deliver(site, level, names, mixed)
        one, none = k.lift(1, INT32), k.lift(0, INT32)
        done += f" {site.put('inside hit', fn('where', inside, one, none)).name} gets 1 "
        done += "where all w > 0, else 0."
    else:
        out = site.out(names, kind)
        if outside == "where":
            k.store(out, site.at, fn("where", inside, mixed, zero(kind)))
        else:
            k.store(out, site.at, zero(kind))
            with k.if_(inside):
                k.store(out, site.at, mixed)
        done += f" {out.name} gets it where all w > 0 before any clamping, else zero."
    if level >= 5:
        done += _extras(k, site, vec, (a, b, c), p)
    return "interpolate", done


def _total(w: Expr) -> Expr:
    return w[0] + w[1] + w[2]


def _made_positive(bary: Expr) -> Expr:
    return make(bary.type, *(most(bary[c], 0.0) for c in range(3)))


def _extras(k: KernelBuilder, site: Site, vec: Vec, corners: Corners, p: Expr) -> str:
    """A second output: how far the point is, or a quality of the triangle."""
    sources = {"each": 1, "first": 1, "shared": 2, "literal": 2}
    scale = given(site, "scale cell_size spacing", vec.scalar, 0.5, 2.0, forms=sources)
    form = k.draw.shape.choice(("area", "perimeter", "centroid", "quality"))
    if form == "centroid":
        value = fn("length", p - (corners[0] + corners[1] + corners[2]) / 3.0) / scale
        text = "the distance of p from the centroid over"
    elif form == "quality":
        x, y, z = lengths(k, *corners)
        value = area(k, *corners) / (x * x + y * y + z * z) * scale
        text = "the area over the sum of the squared sides, times"
    else:
        value = MEASURES[form][0](k, *corners) / scale
        text = f"{MEASURES[form][1]} over"
    out = site.put("quality measure size_out", value)
    return f" {out.name} gets {text} {say(k, scale)}."


@idiom
def triangle_geometry(k: KernelBuilder, level: int) -> Title:
    """Areas, normals and centres of triangles; barycentric coordinates and interpolation."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({3: 3, 2: 2}) if level <= 3 else 3, k.draw.wide_float_type())
    form, done = (_measured if level <= 3 else _interpolated)(k, level, site, vec)
    return Title(k.name(f"triangle_{form} {form}_triangles mesh_{form}"), done)
