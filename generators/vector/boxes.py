"""Bounding boxes and componentwise extremes, of floats and of whole numbers."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most
from generators.kit.naming import BY_LEVEL, evaluated, maybe
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import filled, given, zero
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var, op
from generators.vector.shelf import VectorShelf, read
from generators.vector.tables import Table

_SCALARS = {"float32": 8, "float64": 3, "int32": 3, "int64": 1, "int16": 1, "int8": 1}
_SOURCES = {"each": 1, "first": 1, "shared": 3, "literal": 2}

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


@idiom
def bounding_boxes(k: KernelBuilder, level: int) -> Title:
    """Bounding boxes: clamped points, unions, boxes of groups, which boxes hold a point."""
    site = launch(k, list=5, batch=3 + level // 3)
    scalar = Scalar(k.draw.shape.weighted(_SCALARS))
    vec = Vec(k.draw.shape.weighted({3: 5, 2: 3, 4: 1}), scalar)
    build = _simple if level <= 2 else _group if k.draw.shape.chance(0.6) else _against_boxes
    done = build(k, level, site, vec)
    return Title(k.name("box_bounds aabb_update bounding_boxes"), done)
