"""Plane geometry by cases: overlaps, quadrants, outcodes, rays and boxes, turns."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    Also,
    Case,
    both,
    branch,
    same,
    some,
    some_type,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most, sqrt, where
from generators.kit.sites import launch
from generators.kit.words import say
from generators.program.dtypes import INT32, scalar_of
from generators.program.expr import Expr, Var

Made = tuple[str, Expr | None, str]
"""What a label says, in words; a measure where there is one, and that in words."""


def _slab(k: KernelBuilder, level: int, label: Var, ox: Var, oy: Var, dx: Var, dy: Var) -> Made:
    """A ray against a box, by slabs (Kay and Kajiya, SIGGRAPH 1986)."""
    near, far = k.lift(0.0, ox.type), None
    bounds = {}
    for axis in ("x", "y"):
        low = k.scalar(f"{axis}_min", ox.type, -1.5, -0.7)
        bounds[axis] = low, k.scalar(f"{axis}_max", ox.type, 0.7, 1.5)
    for axis, origin, way in (("x", ox, dx), ("y", oy, dy)):
        low, high = bounds[axis]
        first, last = (
            k.let(f"t{axis}{n}", (end - origin) / way) for n, end in ((1, low), (2, high))
        )
        near, away = most(near, least(first, last)), most(first, last)
        far = away if far is None else least(far, away)
    assert far is not None
    t_near, t_far = k.let("t_near t_enter", near), k.let("t_far t_exit", far)
    branch(k, (t_near > t_far, (label, 0)))
    text = "1 where the ray meets the box of x_min, x_max, y_min and y_max, 0 where it does not"
    return (
        text,
        where(t_near > t_far, k.lift(-1.0, ox.type), t_near),
        "where it enters, -1 if never",
    )


def _overlap(k: KernelBuilder, level: int, label: Var, a: Var, b: Var, la: Var, lb: Var) -> Made:
    a_end, b_end = k.let("hi_a", a + la), k.let("hi_b", b + lb)
    branch(
        k,
        (some(a_end <= b, b_end <= a), (label, 0)),
        (both(a <= b, b_end <= a_end), (label, 2)),
        (both(b <= a, a_end <= b_end), (label, 3)),
    )
    text = "0 where the intervals [lo, lo + len] have no more than an end in common, 2 where the "
    text += "first holds the second, else 3 where the second holds the first, 1 where they overlap "
    text += "otherwise"
    common = most(least(a_end, b_end) - most(a, b), 0)
    return text, common, "the length that both have in common, 0 if none"


def _zone(k: KernelBuilder, level: int, label: Var, x: Var, y: Var) -> Made:
    type_ = scalar_of(x.type)
    whole = type_.is_int
    span = (20, 30) if whole else (-0.5, 0.5)
    cx, cy = k.scalar("cx", type_, *span), k.scalar("cy", type_, *span)
    dx, dy = k.let("dx", x - cx), k.let("dy", y - cy)
    upper, lower = [(dy >= 0, (label, 1)), (None, (label, 4))], [(dy >= 0, (label, 2))]
    branch(k, (dx >= 0, upper), (None, [*lower, (None, (label, 3))]))
    text = f"the quadrant, 1 to 4 counterclockwise, of the point about ({cx.name}, {cy.name})"
    if level >= 3 and k.draw.shape.chance(0.6):
        steep = both(abs(dy) > abs(dx), some(same(label, 1), same(label, 3)))
        flat = both(abs(dx) >= abs(dy), some(same(label, 2), same(label, 4)))
        branch(k, (some(steep, flat), (label, 2 * label)), (None, (label, 2 * label - 1)))
        text = f"the octant of the point about ({cx.name}, {cy.name}): with q the quadrant, 1 to "
        text += "4 counterclockwise, it is 2 * q where |dy| > |dx| in quadrants 1 and 3 or where "
        text += "|dx| >= |dy| in 2 and 4, else 2 * q - 1"
    return text, dx * dx + dy * dy, "the squared distance from there"


def _outcode(k: KernelBuilder, level: int, label: Var, x: Var, y: Var) -> Made:
    """The code of Cohen and Sutherland."""
    spans = ((8, 15), (35, 42)) if scalar_of(x.type).is_int else ((-1.4, -0.6), (0.6, 1.4))
    for value, axis, bit in ((x, "x", 1), (y, "y", 4)):
        low = k.scalar(f"{axis}_min", x.type, *spans[0])
        high = k.scalar(f"{axis}_max", x.type, *spans[1])
        above = (value > high, (label, label + 2 * bit))
        branch(k, (value < low, (label, label + bit)), above)
    text = "the outcode of the point for the box of x_min, x_max, y_min and y_max: 1 left of it, 2 "
    return f"{text}right, plus 4 below, 8 above", None, ""


def _circles(
    k: KernelBuilder, level: int, label: Var, ax: Var, ay: Var, a: Var, bx: Var, by: Var, b: Var
) -> Made:
    dx, dy = k.let("dx", bx - ax), k.let("dy", by - ay)
    between = k.let("d dist", sqrt(dx * dx + dy * dy))
    branch(
        k,
        (between >= a + b, (label, 0)),
        (between + b <= a, (label, 2)),
        (between + a <= b, (label, 3)),
    )
    text = "0 where circles of these centers and radii lie outside each other, "
    text += "2 where the first holds the second, else 3 where the second holds the first, 1 where "
    text += "they cross"
    return text, between - a - b, "the distance of the centers less both radii"


def _turn(
    k: KernelBuilder, level: int, label: Var, ax: Var, ay: Var, bx: Var, by: Var, cx: Var, cy: Var
) -> Made:
    """Which way a path turns (two-dimensional orientation)."""
    cross = k.let("cross area2", (bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
    text = "1 where the path from a over b to c turns left, "
    if scalar_of(ax.type).is_int:
        branch(k, (cross > 0, (label, 1)), (cross < 0, (label, 2)))
        text += "2 where it turns right, 0 where it is straight, by the sign of (b - a) x (c - a)"
    else:
        branch(k, (cross > 0.0, (label, 1)))
        text += "else 0, by the sign of (b - a) x (c - a)"
    return text, abs(cross), "the size of that cross product, twice the area of the triangle"


def _boxes(k: KernelBuilder, level: int, label: Var, *box: Var) -> Made:
    """Two boxes by their lower corners and sizes: how far they overlap along each axis."""
    ax, ay, wa, ha, bx, by, wb, hb = box
    dx = k.let("dx overlap_x", least(ax + wa, bx + wb) - most(ax, bx))
    dy = k.let("dy overlap_y", least(ay + ha, by + hb) - most(ay, by))
    apart: Case = (some(dx < 0, dy < 0), (label, 0))
    if scalar_of(wa.type).is_int:
        branch(k, apart, (some(same(dx, 0), same(dy, 0)), (label, 2)))
        last = "2 where they only touch, 1 where they overlap"
    else:
        branch(k, apart)
        last = "1 where they meet or touch"
    text = f"0 where the boxes, given by lower corner, width and height, are apart, {last}"
    return text, most(dx, 0) * most(dy, 0), "the common area, 0 if none"


_FIRST = {"zone": 0, "outcode": 0, "turn": 0}
"""The label that a point has before anything is tested, where it is not the last case, 1."""
_KINDS: dict[str, tuple[tuple[str, ...], str, tuple[float, float], Callable[..., Made]]] = {
    "slab": (
        ("origin_x origin_y dir_x dir_y", "ox oy dx dy"),
        "o_x o_y d_x d_y",
        (-2.0, 2.0),
        _slab,
    ),
    "overlap": (
        ("a_lo b_lo a_len b_len", "start_a start_b len_a len_b"),
        "lo_a lo_b width_a width_b",
        (-2.0, 2.0),
        _overlap,
    ),
    "zone": (("x y", "px py"), "xi yi", (-2.0, 2.0), _zone),
    "outcode": (("x y", "px py"), "xi yi", (-2.0, 2.0), _outcode),
    "turn": (
        ("a_x a_y b_x b_y c_x c_y", "x_a y_a x_b y_b x_c y_c"),
        "ax ay bx by cx cy",
        (-2.0, 2.0),
        _turn,
    ),
    "boxes": (
        ("a_x a_y a_w a_h b_x b_y b_w b_h", "x_a y_a w_a h_a x_b y_b w_b h_b"),
        "ax ay wa ha bx by wb hb",
        (0.2, 2.0),
        _boxes,
    ),
    "circles": (
        ("x_a y_a r_a x_b y_b r_b", "a_x a_y radius_a b_x b_y radius_b"),
        "ax ay ra bx by rb",
        (-2.0, 2.0),
        _circles,
    ),
}
"""Names of the arrays, of their values, the range of those, and the branches."""


_MEASURES = {
    "slab": "t_enter_out entry_t",
    "overlap": "common_length overlap",
    "zone": "dist_sq distance_sq",
    "circles": "clearance separation",
    "turn": "area2 double_area",
    "boxes": "common_area overlap",
}
"""Names of the output of a measure."""
_SUBJECTS = {
    "slab": "Rays against a box",
    "overlap": "Classify pairs of intervals",
    "zone": "Find where points lie about a centre",
    "outcode": "Cohen-Sutherland codes of points",
    "circles": "Classify pairs of circles",
    "turn": "Which way paths of three points turn",
    "boxes": "Classify pairs of boxes",
}


_LABELS = {
    "slab": "hits hit_flags",
    "outcode": "outcodes codes",
    "turn": "turns orientations",
    "boxes": "overlap_kinds contact",
    "zone": "zones sectors",
}
_KERNELS = {
    "slab": "ray_box_test intersect_slabs",
    "overlap": "classify_intervals interval_overlap",
    "zone": "find_sector point_zones",
    "outcode": "clip_outcodes compute_outcodes",
    "turn": "orientation_test path_turns",
    "boxes": "box_overlap_test classify_boxes",
    "circles": "classify_circles circle_relation",
}


@idiom(depth=3)
@with_struct
def geometry_cases(k: KernelBuilder, level: int) -> Title:
    """Cases of plane geometry: quadrants, outcodes, rays and boxes, overlaps, turns."""
    shape = k.draw.shape
    form = shape.choice(sorted(_KINDS))
    names, short, ends, branches = _KINDS[form]
    whole = 0.3 if form in ("overlap", "zone", "outcode", "turn") else 0.0
    type_ = some_type(k, whole, "int32 int32 int16")
    s = launch(k, list=2, grid=1 if form in ("slab", "zone", "outcode") else 0)
    if type_.is_int:
        ends = {"circles": (1, 20), "turn": (0, 9), "boxes": (1, 9)}.get(form, (0, 50))
    spans = [ends] * 8
    if form == "overlap":
        spans[2:] = [(5, 20) if type_.is_int else (0.3, 1.5)] * 2
    if form == "circles":
        spans[2] = spans[5] = (0.3, 2.0)
    chosen = k.draw.word.choice(names).split()
    found: list[Expr] = [
        s.read(name, type_, *span) for name, span in zip(chosen, spans, strict=False)
    ]
    given = ", ".join(say(k, value) for value in found)
    out = s.out(_LABELS.get(form, "kinds labels"), INT32)
    share = {"outcode": 0.0, "slab": 1.0}.get(form, 0.6 if level >= 2 else 0.3)
    measure = Also(s, share, _MEASURES.get(form, ""), type_)
    values = [k.let(name, value) for name, value in zip(short.split(), found, strict=True)]
    label = k.let("code" if form == "outcode" else "kind case", k.lift(_FIRST.get(form, 1), INT32))
    text, amount, meaning = branches(k, level, label, *values)
    k.store(out, s.at, label)
    note = measure.told(meaning, amount)
    name = k.name(*_KERNELS[form].split())
    return Title(name, f"{_SUBJECTS[form]} ({given}): {out.name} gets {text}.{note}")
