"""Boxes and triangles: bounds and measures of them, what lies inside, interpolation."""

from __future__ import annotations

from dataclasses import replace

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import atan2, dot, least, most
from generators.kit.masks import Test
from generators.kit.naming import BY_LEVEL, applied, evaluated, maybe
from generators.kit.outputs import deliver, masked
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import filled, given, zero
from generators.kit.words import say, words
from generators.program.dtypes import INT32, Scalar, Type, Vec, scalar_of
from generators.program.expr import Expr, Var, op
from generators.vector.shelf import VectorShelf, read, summed
from generators.vector.tables import Table

_SCALARS = {"float32": 8, "float64": 3, "int32": 3, "int64": 1, "int16": 1, "int8": 1}
_SOURCES = {"each": 1, "first": 1, "shared": 3}

_SIMPLE = VectorShelf()
_SIMPLE.add("clamp_to_box", "clamped result", lambda p, lo, hi: least(most(p, lo), hi))
_SIMPLE.add("union_size", "extents result", lambda lo, hi, lo2, hi2: most(hi, hi2) - least(lo, lo2))
_SIMPLE.add("overlap_size", "overlaps out", lambda lo, hi, lo2, hi2: least(hi, hi2) - most(lo, lo2))
_SIMPLE.add("outside_part", "result excess", lambda p, lo, hi: p - least(most(p, lo), hi))
_SIMPLE.add("longest_side", "longest extents", lambda lo, hi: fn("max_element", hi - lo))
_SIMPLE.add("shortest_side", "shortest extents", lambda lo, hi: fn("min_element", hi - lo))
_SIMPLE.add("squared_diagonal", "diagonals extents", lambda lo, hi: fn("length_sq", hi - lo))
_SIMPLE.add("spread", "spreads out", lambda p: fn("max_element", p) - fn("min_element", p))
_SIMPLE.add(
    "size_spread", "spreads out", lambda p: fn("max_element", abs(p)) - fn("min_element", abs(p))
)
_ONLY_FLOATS = ("outside_part", "squared_diagonal")


def _part(names: str, vec: Vec, low: float, high: float, **ways: int) -> Part:
    """A vector, its bounds in tens for whole numbers."""
    if not vec.scalar.is_float:
        low, high = int(10 * low), int(10 * high)
    return Part(names, vec, low, high, forms=ways or None)


def _box(k: KernelBuilder, vec: Vec, reach: float = 1.2) -> dict[str, Part]:
    low, high = k.draw.word.choice(("lower upper", "box_min box_max", "lo hi")).split()
    return {"lo": _part(low, vec, -reach, -0.2), "hi": _part(high, vec, 0.2, reach)}


def _point(site: Site, vec: Vec) -> Var:
    return site.k.let("p point x", read(site, _part("point sample corner", vec, -2.0, 2.0, each=1)))


def _simple(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """A point and a box, or two boxes, componentwise."""
    shape, whole = k.draw.shape, not vec.scalar.is_float
    formula = shape.choice([c for c in _SIMPLE.cards if not (whole and c.name in _ONLY_FLOATS)])
    values: dict[str, Expr] = {}
    if "lo" in formula.keys:
        values = record(site, "Box Bounds AABB", _box(k, vec), 0.5, shared=shape.chance(0.4)).values
    if "p" in formula.keys:
        values["p"] = _point(site, vec)
    if "lo2" in formula.keys:
        stem = k.draw.word.choice(("other", "query"))
        other = {
            "lo2": _part(f"{stem}_min", vec, -1.5, -0.1),
            "hi2": _part(f"{stem}_max", vec, 0.1, 1.5),
        }
        values |= record(site, "Other Query", other, 0.0, shared=shape.chance(0.4)).values
    value = evaluated(k, BY_LEVEL[level], formula, values)
    done = f"Take {formula.said({key: say(k, v) for key, v in values.items()})}"
    done += ", by component" if isinstance(value.type, Vec) else ""
    if level >= 2 and not whole and shape.chance(0.5):
        scale = given(site, "scale cell_scale", vec.scalar, 0.5, 2.0, forms=_SOURCES)
        value, done = scale * value, f"{done}, times {say(k, scale)}"
    return f"{done}." + deliver(site, level, formula.outs, value)


def _inside_test(vec: Vec, p: Expr, lo: Expr, hi: Expr) -> Expr:
    test = op("and", p[0] >= lo[0], p[0] <= hi[0])
    for c in range(1, vec.size):
        test = op("and", test, op("and", p[c] >= lo[c], p[c] <= hi[c]))
    return test


def _group(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """The box around a few points of each thread, and what is asked of it."""
    shape, real = k.draw.shape, vec.scalar.is_float
    k.size("m", 3, 5, minimum=2)
    low, high = (-2.0, 2.0) if real else (-20, 20)
    points = site.array("clusters groups polygons", vec, low, high, more="m")
    count = k.trip_count("point_count num_corners", "m")
    first = k.let("first p0", points[site.index(0)])
    lo, hi = k.let("lo box_lo", first), k.let("hi box_hi", first)
    total = k.let("total sum_p", first) if real else None
    with k.for_("j c corner", count, start=1) as j:
        p = k.let("p point", points[site.index(j)])
        k.assign(lo, least(lo, p))
        k.assign(hi, most(hi, p))
        if total is not None:
            k.augment(total, "add", p)
    done = f"Let lo and hi be the componentwise extremes of the points in each row of {points.name}"
    if real:
        pad = given(site, "padding margin", vec.scalar, 0.05, 0.3, forms=_SOURCES)
        k.augment(lo, "sub", filled(vec, pad))
        k.augment(hi, "add", filled(vec, pad))
        done += f", widened by {say(k, pad)} on every side"
    done += f". {site.put('box_min lower_out', lo).name} gets lo."
    done += _asked(site, level, (lo, hi), total, count)
    if level >= 5:
        up = shape.chance(0.7)
        size = k.let("size extent", hi - lo)
        out = site.put("split_axes axes", cast(fn("argmax" if up else "argmin", size), INT32))
        side = "largest" if up else "smallest"
        done += f" {out.name} gets the axis along which hi - lo is {side}."
    return done


def _asked(site: Site, level: int, box: tuple[Var, Var], total: Var | None, count: Expr) -> str:
    """The upper end with the mean, how skewed the points are, or how far a probe is outside."""
    (lo, hi), k, shape, vec = box, site.k, site.k.draw.shape, box[0].type
    assert isinstance(vec, Vec)
    form = shape.choice(("hi", "center", "probe"))
    if form == "hi":
        done = " Take hi." + deliver(site, level, "box_max upper_out", hi)
        if total is not None:
            out = site.put("means centroids", total / cast(count, vec.scalar))
            done += f" {out.name} gets the mean of the points."
        return done
    if form == "center" and total is not None:
        done = " Take the sum of the points less (lo + hi) / 2."
        return done + deliver(site, level, "center_shift skew_out", total - 0.5 * (lo + hi))
    probe = read(site, _part("probe query", vec, -1.0, 1.0, each=1, first=2, shared=3))
    q = k.let("q probe_pt", probe)
    gap = most(most(lo - q, q - hi), zero(vec))
    square = vec.scalar.is_float and shape.chance(0.5)
    done = f" With q = {say(k, probe)}, let g be max(lo - q, q - hi, 0) by component. "
    done += "Take its squared length." if square else "Take its largest component."
    value = fn("length_sq" if square else "max_element", gap)
    return done + deliver(site, level, "gaps outside_by", value)


def _against_boxes(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """In how many boxes a point lies, which is the last, and how these overlap."""
    boxes = Table(k, "Box Region Bounds", _box(k, vec, 1.8), 0.8)
    p = _point(site, vec)
    hits = k.let("hits covered", k.lift(0, INT32))
    last = k.let("last which", k.lift(-1, INT32))
    both = level >= 5
    margin = None
    if not both and k.draw.shape.chance(0.5):
        margin = k.let("margin inset", zero(vec.scalar))
    wide = 3.0 if vec.scalar.is_float else 30
    ends: list[Var] = []
    if both:
        ends = [k.let("in_lo l_all", filled(vec, -wide)), k.let("in_hi h_all", filled(vec, wide))]
    with boxes.each("j b_id box_id") as (j, sides):
        lo, hi = maybe(k, "lo low_end", sides[0], 0.7), maybe(k, "hi high_end", sides[1], 0.7)
        with k.if_(_inside_test(vec, p, lo, hi)):
            k.augment(hits, "add", 1)
            k.assign(last, j)
            if margin is not None:
                k.assign(margin, most(margin, fn("min_element", least(p - lo, hi - p))))
            if both:
                k.assign(ends[0], most(ends[0], lo))
                k.assign(ends[1], least(ends[1], hi))
    low, high = boxes.said("lo"), boxes.said("hi")
    done = f"Over the boxes j that hold p = {say(k, p)} ({low} <= p <= {high} in each component), "
    done += f"count them and note the last j (-1 for none): {site.put('hit_counts', hits).name} "
    done += f"and {site.put('last_ids region_ids', last).name}."
    if both:
        done += f" Let l be the componentwise largest {low} and h the smallest {high} of these, "
        done += f"starting at -{wide} and {wide}. Take h - l."
        return done + deliver(site, level, "overlaps shared_size", ends[1] - ends[0])
    if margin is None:
        return done
    done += " Take the largest distance to the nearest face of one of these, 0 for none."
    return done + deliver(site, level, "margins insets", margin)


@idiom(depth=1)
def bounding_boxes(k: KernelBuilder, level: int) -> Title:
    """Bounding boxes: clamped points, unions, boxes of groups, which boxes hold a point."""
    site = launch(k, list=5, batch=3 + level // 3)
    scalar = Scalar(k.draw.shape.weighted(_SCALARS))
    vec = Vec(k.draw.shape.weighted({3: 5, 2: 3, 4: 1}), scalar)
    build = _simple if level <= 2 else _group if k.draw.shape.chance(0.6) else _against_boxes
    done = build(k, level, site, vec)
    return Title(k.name("box_bounds aabb_update bounding_boxes"), done)


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
        place = k.array(words("verts vertices mesh_points"), vec, "nv", low=-2.0, high=2.0)
        ids = Vec(3, INT32)
        faces = site.read("faces triangles elements", ids, init="index_of:nv")
        tri = k.let("face tri ids", faces)
        corners: list[Expr] = [place[tri[s]] for s in range(3)]
        texts = [f"{place.name}[f[{s}]]" for s in range(3)]
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
        if level >= 2 and n == 0 and shape.chance(0.1):
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
    return Title(k.name(f"triangle_{form} {form}_triangles mesh_{form}"), done)
