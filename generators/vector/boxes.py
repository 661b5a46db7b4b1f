"""Bounding boxes and componentwise extremes, of floats and of whole numbers."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, field, fn, make
from generators.build.registry import Title, idiom
from generators.program.dtypes import INT32, Scalar, Type, Vec
from generators.program.expr import Expr, op
from generators.vector.kit import (
    EACH,
    LITERAL,
    ROW,
    SHARED,
    Part,
    Site,
    maybe,
    named_helper,
    over_points,
    quantity,
    record,
    routine,
    said,
    struct_of,
    vector,
)
from generators.vector.output import deliver, put

_SCALARS = {"float32": 8, "float64": 3, "int32": 3, "int64": 1, "int16": 1, "int8": 1}
_SOURCES = {EACH: 1, ROW: 1, SHARED: 3, LITERAL: 2}


def _bounds(vec: Vec, low: float, high: float) -> tuple[float, float]:
    """Bounds in tens for whole numbers."""
    return (low, high) if vec.scalar.is_float else (int(10 * low), int(10 * high))


def _box(k: KernelBuilder, site: Site, vec: Vec, shared: bool) -> tuple[Expr, Expr]:
    parts = [
        Part(("lower", "box_min", "lo"), vec, *_bounds(vec, -1.2, -0.2)),
        Part(("upper", "box_max", "hi"), vec, *_bounds(vec, 0.2, 1.2)),
    ]
    as_struct = k.draw.shape.chance(0.5)
    lower, upper = record(k, site, ("Box", "Bounds", "AABB"), parts, as_struct, shared)
    return lower, upper


def _points(k: KernelBuilder, site: Site, vec: Vec) -> Expr:
    names = ("points", "samples", "corners_in")
    low, high = _bounds(vec, -2.0, 2.0)
    return k.array(names, vec, site.dims, low=low, high=high)[site.at]


def _clamped(b: BodyBuilder, p: Expr, lo: Expr, hi: Expr) -> Expr:
    return fn("min", fn("max", p, lo), hi)


def _simple(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """A point and a box, or two boxes, componentwise."""
    shape = k.draw.shape
    forms = ["clamp", "union", "overlap", "extent", "outside", "spread"]
    form = shape.choice(forms if vec.scalar.is_float else [f for f in forms if f != "outside"])
    if form in ("clamp", "outside"):
        lo, hi = _box(k, site, vec, shape.chance(0.6))
        source = _points(k, site, vec)
        p = k.let(("p", "point", "x"), source)
        kinds: list[tuple[str, Type]] = [("p", vec), ("lo", vec), ("hi", vec)]
        names = ("clamp_to_box", "closest_in_box")
        value = routine(k, named_helper(k, level), names, kinds, _clamped)(p, lo, hi)
        done = f"Clamp p = {said(k, source)} componentwise to [{said(k, lo)}, {said(k, hi)}]"
        if form == "outside":
            value, done = p - value, f"{done} as q and take p - q"
    elif form in ("union", "overlap"):
        lo, hi = _box(k, site, vec, False)
        least, most = ("min", "max") if form == "union" else ("max", "min")
        other = record(
            k,
            site,
            ("Other", "Query"),
            [
                Part(("other_min", "query_min"), vec, *_bounds(vec, -1.5, -0.1)),
                Part(("other_max", "query_max"), vec, *_bounds(vec, 0.1, 1.5)),
            ],
            False,
            shape.chance(0.4),
        )
        first = maybe(k, ("new_lo", "lo_both"), fn(least, lo, other[0]))
        value = fn(most, hi, other[1]) - first
        done = f"Take {most}({said(k, hi)}, {said(k, other[1])}) - {least}({said(k, lo)}, "
        done += f"{said(k, other[0])}), componentwise"
    elif form == "extent":
        lo, hi = _box(k, site, vec, False)
        size = maybe(k, ("size", "extent", "diag"), hi - lo)
        picks = ["max_element", "min_element", *(["length_sq"] if vec.scalar.is_float else [])]
        pick = shape.choice(picks)
        value = fn(pick, size)
        side = {"max_element": "largest component", "min_element": "smallest component"}
        done = f"Take the {side.get(pick, 'squared length')} of {said(k, hi)} - {said(k, lo)}"
    else:
        source = _points(k, site, vec)
        p = k.let(("p", "point", "x"), source)
        size = fn("abs", p) if shape.chance(0.5) else p
        done = f"Take the largest less the smallest component of {said(k, source)}"
        done += ", each without its sign" if size is not p else ""
        value = fn("max_element", size) - fn("min_element", size)
    if level >= 2 and vec.scalar.is_float and shape.chance(0.5):
        scale = quantity(k, site, ("scale", "cell_scale"), vec.scalar, 0.5, 2.0, _SOURCES)
        value, done = scale * value, f"{done}, times {said(k, scale)}"
    return done + "." + deliver(k, site, level, ("result", "out", "extents"), value)


def _inside_test(vec: Vec, p: Expr, lo: Expr, hi: Expr) -> Expr:
    test: Expr | None = None
    for c in range(vec.size):
        within = op("and", p[c] >= lo[c], p[c] <= hi[c])
        test = within if test is None else op("and", test, within)
    assert test is not None
    return test


def _group(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """The box around a few points of each thread, and what is asked of it."""
    shape = k.draw.shape
    k.size("m", 3, 5, minimum=2)
    low, high = _bounds(vec, -2.0, 2.0)
    dims = (*site.dims, "m")
    points = k.array(("clusters", "groups", "polygons"), vec, dims, low=low, high=high)
    count = k.trip_count(("point_count", "num_corners"), "m")
    start = (*site.at, k.lift(0, INT32))
    first = k.let(("first", "p0"), points[start])
    lo, hi = k.let(("lo", "box_lo"), first), k.let(("hi", "box_hi"), first)
    summed = k.let(("total", "sum_p"), first) if vec.scalar.is_float else None
    with k.for_(("j", "c", "corner"), count, start=1) as j:
        at = (*site.at, j)
        p = k.let(("p", "point"), points[at])
        k.assign(lo, fn("min", lo, p))
        k.assign(hi, fn("max", hi, p))
        if summed is not None:
            k.augment(summed, "add", p)
    done = f"Let lo and hi be the componentwise extremes of the points in each row of {points.name}"
    if vec.scalar.is_float:
        pad = quantity(k, site, ("padding", "margin"), vec.scalar, 0.05, 0.3, _SOURCES)
        wide = make(vec, pad)
        k.augment(lo, "sub", wide)
        k.augment(hi, "add", wide)
        done += f", widened by {said(k, pad)} on every side"
    done += f". {put(k, site, ('box_min', 'lower_out'), lo).name} gets lo."
    form = shape.choice(("hi", "center", "probe"))
    if form == "hi":
        done += " Take hi." + deliver(k, site, level, ("box_max", "upper_out"), hi)
    elif form == "center" and summed is not None:
        half = 0.5 * (lo + hi)
        done += " Take the sum of the points less (lo + hi) / 2."
        done += deliver(k, site, level, ("center_shift", "skew_out"), summed - half)
    else:
        sources = {EACH: 1, ROW: 2, SHARED: 3}
        probe = vector(k, site, ("probe", "query"), vec, sources, *_bounds(vec, -1.0, 1.0))
        q = k.let(("q", "probe_pt"), probe)
        gap = fn("max", fn("max", lo - q, q - hi), make(vec, k.lift(0, vec.scalar)))
        done += f" With q = {said(k, probe)}, let g be max(lo - q, q - hi, 0) by component. "
        square = vec.scalar.is_float and shape.chance(0.5)
        done += "Take its squared length." if square else "Take its largest component."
        value = fn("length_sq" if square else "max_element", gap)
        done += deliver(k, site, level, ("gaps", "outside_by"), value)
    if form == "hi" and summed is not None and vec.scalar.is_float:
        out = put(k, site, ("means", "centroids"), summed / cast(count, vec.scalar))
        done += f" {out.name} gets the mean of the points."
    if level >= 5:
        size = k.let(("size", "extent"), hi - lo)
        axis = cast(fn("argmax" if shape.chance(0.7) else "argmin", size), INT32)
        pick = "largest" if "argmax" in str(axis) else "smallest"
        out = put(k, site, ("split_axes", "axes"), axis)
        done += f" {out.name} gets the axis along which hi - lo is {pick}."
    return done


def _against_boxes(k: KernelBuilder, level: int, site: Site, vec: Vec) -> str:
    """In how many boxes a point or box lies, and the first of them."""
    shape = k.draw.shape
    k.size("m", 3, 5)
    parts = [
        Part(("lower", "box_min", "lo"), vec, *_bounds(vec, -1.8, -0.2)),
        Part(("upper", "box_max", "hi"), vec, *_bounds(vec, 0.2, 1.8)),
    ]
    struct, fields = struct_of(k, k.draw.word.choice(("Box", "Bounds", "Region")), parts)
    boxes = k.array(("boxes", "regions", "bounds"), struct, "m", fields=fields)
    source = _points(k, site, vec)
    count = k.trip_count(("box_count", "num_boxes"), "m")
    p = k.let(("p", "point", "x"), source)
    hits = k.let(("hits", "covered"), k.lift(0, INT32))
    last = k.let(("last", "which"), k.lift(-1, INT32))
    both = level >= 5
    nought = k.lift(0, vec.scalar)
    margin = k.let(("margin", "inset"), nought) if not both and shape.chance(0.5) else None
    wide = _bounds(vec, 0.0, 3.0)[1]
    ends = (
        [
            k.let(n, make(vec, k.lift(v, vec.scalar)))
            for n, v in ((("in_lo", "l_all"), -wide), (("in_hi", "h_all"), wide))
        ]
        if both
        else []
    )
    with k.for_(("j", "b_id", "box_id"), count) as j:
        box = k.let(("box", "region"), boxes[j])
        lo = maybe(k, ("lo", "low_end"), field(box, fields[0].name), 0.7)
        hi = maybe(k, ("hi", "high_end"), field(box, fields[1].name), 0.7)
        with k.if_(_inside_test(vec, p, lo, hi)):
            k.augment(hits, "add", 1)
            k.assign(last, j)
            if margin is not None:
                inner = fn("min_element", fn("min", p - lo, hi - p))
                k.assign(margin, fn("max", margin, inner))
            for end, pick, side in zip(ends, ("max", "min"), (lo, hi), strict=False):
                k.assign(end, fn(pick, end, side))
    done = f"Over the {boxes.name} that hold p = {said(k, source)} ({fields[0].name} <= p <= "
    done += f"{fields[1].name} in each component), count them and note the index of the last (-1 "
    done += f"for none): {put(k, site, ('hit_counts', 'covered_by'), hits).name} and "
    done += f"{put(k, site, ('last_ids', 'region_ids'), last).name}."
    if both:
        done += f" Let l and h be the componentwise largest {fields[0].name} and smallest "
        done += f"{fields[1].name} of these, starting at -{wide} and {wide}. Take h - l."
        return done + deliver(k, site, level, ("overlaps", "shared_size"), ends[1] - ends[0])
    if margin is None:
        return done
    done += " Take the largest distance to the nearest face of one of these, 0 for none."
    return done + deliver(k, site, level, ("margins", "insets"), margin)


@idiom
def bounding_boxes(k: KernelBuilder, level: int) -> Title:
    """Bounding boxes: clamped points, unions, boxes of groups, which boxes hold a point."""
    site = over_points(k, level)
    scalar = Scalar(k.draw.shape.weighted(_SCALARS))
    vec = Vec(k.draw.shape.weighted({3: 5, 2: 3, 4: 1}), scalar)
    build = _simple if level <= 2 else _group if k.draw.shape.chance(0.6) else _against_boxes
    done = build(k, level, site, vec)
    return Title(k.name("box_bounds", "aabb_update", "bounding_boxes"), done)
