"""Boxes and triangles: bounds and measures of them, what lies inside, interpolation."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import mul

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import atan2, dot, least, most
from generators.kit.masks import Test
from generators.kit.naming import BY_LEVEL, applied, evaluated
from generators.kit.outputs import deliver, masked
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import filled, given
from generators.kit.words import say, words
from generators.program.dtypes import INT32, Scalar, Type, Vec, scalar_of
from generators.program.expr import Expr, Var, op
from generators.vector.shelf import VectorShelf, read, summed

_SCALARS = {"float32": 9, "float64": 2, "int32": 2}

_SIMPLE = VectorShelf()
"""What is computed of a box lo, hi and of a point p or a second box lo2, hi2."""


@_SIMPLE.formula("clamped", "{p} clamped to the box from {lo} to {hi} by component")
def clamp_to_box(p: Expr, lo: Expr, hi: Expr) -> Expr:
    return least(most(p, lo), hi)


@_SIMPLE.formula(
    "dist_sq box_dist_sq", "the squared distance of {p} from the box from {lo} to {hi}, 0 inside"
)
def box_distance(body: BodyBuilder, p: Expr, lo: Expr, hi: Expr) -> Expr:
    return fn("length_sq", p - body.let("nearest closest", least(most(p, lo), hi)))


@_SIMPLE.formula(
    "sizes merged_sizes", "the size of the box around both, max({hi}, {hi2}) - min({lo}, {lo2})"
)
def union_size(lo: Expr, hi: Expr, lo2: Expr, hi2: Expr) -> Expr:
    return most(hi, hi2) - least(lo, lo2)


@_SIMPLE.formula(
    "overlaps", "the size of the overlap, max(min({hi}, {hi2}) - max({lo}, {lo2}), 0) by component"
)
def overlap_size(lo: Expr, hi: Expr, lo2: Expr, hi2: Expr) -> Expr:
    return most(least(hi, hi2) - most(lo, lo2), filled(lo.type, 0))


@_SIMPLE.formula("ious overlap_ratios", "the {measure} of the overlap over that of the union")
def box_iou(body: BodyBuilder, lo: Expr, hi: Expr, lo2: Expr, hi2: Expr) -> Expr:
    shared = body.let("shared inter", most(least(hi, hi2) - most(lo, lo2), filled(lo.type, 0)))
    both = body.let("inter_vol shared_vol", _product(shared))
    one = body.let("vol_a own_vol", _product(body.let("side_a own_side", hi - lo)))
    two = body.let("vol_b other_vol", _product(body.let("side_b other_side", hi2 - lo2)))
    return both / (one + two - both)


@_SIMPLE.formula("volumes", "the product of the sides {hi} - {lo}")
def box_volume(body: BodyBuilder, lo: Expr, hi: Expr) -> Expr:
    return _product(body.let("side extent", hi - lo))


@_SIMPLE.formula("centers", "the centre 0.5 * ({lo} + {hi})")
def box_center(lo: Expr, hi: Expr) -> Expr:
    return 0.5 * (lo + hi)


@_SIMPLE.formula("longest", "the longest side of the box, the largest component of {hi} - {lo}")
def longest_side(lo: Expr, hi: Expr) -> Expr:
    return fn("max_element", hi - lo)


@_SIMPLE.formula("split_axes", "the axis of the longest side of the box, the argmax of {hi} - {lo}")
def longest_axis(lo: Expr, hi: Expr) -> Expr:
    return cast(fn("argmax", hi - lo), INT32)


@_SIMPLE.formula("diagonals", "the length of the diagonal, |{hi} - {lo}|")
def box_diagonal(lo: Expr, hi: Expr) -> Expr:
    return fn("length", hi - lo)


def _product(v: Expr) -> Expr:
    """The product of the components of a vector."""
    assert isinstance(v.type, Vec)
    return reduce(mul, (v[n] for n in range(v.type.size)))


_FOR_ALL = ("clamp_to_box", "union_size", "overlap_size", "longest_side", "box_volume")
"""What makes sense for boxes of whole numbers too."""
_BOX_TASKS = {
    "clamp_to_box": ("Clamp points to boxes.", "clamp_to_box clamp_points"),
    "box_distance": ("Measure how far points are from boxes.", "box_distance point_box_distance"),
    "union_size": ("Measure the box around two boxes.", "merged_box_size union_extent"),
    "overlap_size": ("Measure how two boxes overlap.", "overlap_size box_overlap"),
    "box_iou": ("Compute the intersection over union of boxes.", "box_iou aabb_iou"),
    "box_volume": ("Compute the volumes of boxes (areas in 2-D).", "box_volume aabb_volumes"),
    "box_center": ("Compute the centres of boxes.", "box_centers aabb_center"),
    "longest_side": ("Find the longest side of boxes.", "longest_side aabb_longest_side"),
    "longest_axis": ("Choose the split axis of boxes.", "split_axis longest_axis"),
    "box_diagonal": ("Measure the diagonals of boxes.", "box_diagonal aabb_diagonals"),
}


def _part(names: str, vec: Vec, low: float, high: float, **ways: int) -> Part:
    """A vector, its bounds in tens for whole numbers."""
    if not vec.scalar.is_float:
        low, high = int(10 * low), int(10 * high)
    return Part(names, vec, low, high, forms=ways or None)


def _box(k: KernelBuilder, vec: Vec, reach: float = 1.2) -> dict[str, Part]:
    styles = ("lower upper lowers uppers", "box_lo box_hi box_lo box_hi", "lo hi lo hi")
    low, high, lows, highs = k.draw.word.choice(styles).split()
    return {
        "lo": replace(_part(low, vec, -reach, -0.2), many=lows),
        "hi": replace(_part(high, vec, 0.2, reach), many=highs),
    }


def _point(site: Site, vec: Vec) -> Var:
    return site.k.let("p point x", read(site, _part("point sample query", vec, -2.0, 2.0, each=1)))


def _simple(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """A point and a box, or two boxes."""
    shape, whole = k.draw.shape, not vec.scalar.is_float
    formula = shape.choice([c for c in _SIMPLE.cards if not whole or c.name in _FOR_ALL])
    alone = len(formula.keys) == 2
    shared = not alone and shape.chance(0.5)
    values = dict(record(site, "Box Bounds AABB", _box(k, vec), 0.5, shared=shared).values)
    if "p" in formula.keys:
        values["p"] = _point(site, vec)
    if "lo2" in formula.keys:
        stem = k.draw.word.choice(("other", "query"))
        other = {
            "lo2": replace(_part(f"{stem}_lo", vec, -0.9, 0.8), many=f"{stem}_lo"),
            "hi2": replace(_part(f"{stem}_hi", vec, 0.9, 1.5), many=f"{stem}_hi"),
        }
        values |= record(site, "Other Query", other, 0.0).values
    value = evaluated(k, BY_LEVEL[level], formula, values)
    task, names = _BOX_TASKS[formula.name]
    said = {key: say(k, v) for key, v in values.items()}
    said["measure"] = "area" if vec.size == 2 else "volume"
    done = f"{task} Take {formula.said(said)}."
    return done + deliver(site, level, formula.outs, value), names


@idiom(depth=1)
def bounding_boxes(k: KernelBuilder, level: int) -> Title:
    """Bounding boxes: their measures, points clamped to them, and how two overlap."""
    site = launch(k, list=5, batch=3 + level // 3)
    scalar = Scalar(k.draw.shape.weighted(_SCALARS))
    vec = Vec(k.draw.shape.weighted({3: 5, 2: 3}), scalar)
    done, names = _simple(k, level, site, vec)
    return Title(k.name(names), done)


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
    form = k.draw.shape.weighted({"struct": 4, "arrays": 4, "mesh": 1})
    if form == "mesh":
        k.size("nv", 24, 40)
        place = k.array(words("verts vertices mesh_points"), vec, "nv", low=-2.0, high=2.0)
        ids = Vec(3, INT32)
        faces = site.read("faces triangles elements", ids, init="index_of:nv")
        tri = k.let("face tri ids", faces)
        corners: list[Expr] = [place[tri[s]] for s in range(3)]
        texts = [f"{place.name}[f[{s}]]" for s in range(3)]
        done = f"With f = {say(k, faces)} and corners"
    else:
        styles = ("p0 p1 p2", "v0 v1 v2", "corner_a corner_b corner_c")
        style = k.draw.word.choice(styles).split()
        parts = {name: Part(name, vec, -2.0, 2.0, many=name) for name in style}
        r = record(site, "Triangle Tri Facet", parts, 1.0 if form == "struct" else 0.0)
        corners, texts = list(r.values.values()), [r.say(name) for name in style]
        done = "With corners"
    a, b, c = (k.let(name, corner) for name, corner in zip("abc", corners, strict=True))
    return (a, b, c), f"{done} a, b, c = {', '.join(texts)}"


_TOLD = {
    "centroid": "the centroid",
    "area": "the area",
    "perimeter": "the perimeter",
    "incentre": "the incentre",
    "circumcentre": "the circumcentre",
    "angle": "one angle",
    "normal": "the unit normal",
}


def _measured(k: KernelBuilder, level: int, site: Site, vec: Vec) -> tuple[str, str]:
    """One measure of each triangle; at level 3 a second one."""
    shape = k.draw.shape
    solid = ("normal", "circumcentre")
    usable = [card for card in _MEASURES.cards if vec.size == 3 or card.name not in solid]
    corners, done = _three(k, level, site, vec)
    picks = shape.sample(usable, 2 if level >= 3 else 1)
    done = f"Compute {_TOLD[picks[0].name]} of each triangle. {done}"
    for n, formula in enumerate(picks):
        values = dict(zip("pqr", corners, strict=True))
        value = evaluated(
            k, BY_LEVEL[level], replace(formula, name=f"triangle_{formula.name}"), values
        )
        done += f"{'. Take' if n else ', take'} {formula.prose}"
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
    k, ways = site.k, {"each": 1, "first": 1, "shared": 2}
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


@idiom(depth=2)
def triangle_geometry(k: KernelBuilder, level: int) -> Title:
    """Areas, normals and centres of triangles; barycentric coordinates and interpolation."""
    site = launch(k, list=5, batch=3 + level // 3)
    vec = Vec(k.draw.shape.weighted({3: 3, 2: 2}) if level <= 3 else 3, k.draw.wide_float_type())
    form, done = (_measured if level <= 3 else _interpolated)(k, level, site, vec)
    if form == "interpolate":
        return Title(k.name("interpolate_triangles barycentric_interpolate"), done)
    return Title(k.name(f"triangle_{form} {form}_of_triangles"), done)
