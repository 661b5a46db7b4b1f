"""Marks, keys and samples: depth buffers, packed winners, checksums, visits, random tallies."""

from __future__ import annotations

from generators.atomic.parts import skip_some
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op

INT64, UINT32, UINT64 = Scalar("int64"), Scalar("uint32"), Scalar("uint64")


@idiom
def depth_buffer(k: KernelBuilder, level: int) -> Title:
    """Points or fragments into a depth buffer that keeps the nearest, by cell or by pixel."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    n = k.size("num_points", 64, 90)
    w, h = k.size("width", 5, 7), k.size("height", 4, 6)
    flat = shape.chance(0.4)
    z = k.array(("depth", "z", "distance"), s, n, low=0.5, high=9.0)
    projected = level >= 2 and shape.chance(0.6)
    if projected:
        x = k.array(("px", "x"), s, n, low=-2.0, high=8.0)
        y = k.array(("py", "y"), s, n, low=-1.5, high=6.5)
    else:
        x = k.array(("pixel_x", "col"), INT32, n, init=f"index_of:{w}")
        y = k.array(("pixel_y", "row"), INT32, n, init=f"index_of:{h}")
    far = shape.chance(0.25)
    kind = "max" if far else "min"
    start = "-1.0" if far else "100.0"
    buffer = k.accumulator(
        ("zbuffer", "depth_map", "nearest"), s, f"{h}*{w}" if flat else (h, w), start
    )
    count = (
        k.accumulator(("fragments", "overdraw"), INT32, (h, w))
        if shape.chance(0.6 if level >= 3 else 0.25)
        else None
    )
    wp_, hp = k.size_param("num_cols", w), k.size_param("num_rows", h)
    (i,) = k.thread(n, names=(k.name("i", "tid", "p"),))
    note, value = "", z[i] if shape.chance(0.5) else k.let(("d", "zi"), z[i])
    if projected:
        snap = shape.choice(("floor", "rint"))
        u = k.let(("u", "col"), cast(fn(snap, x[i]), INT32))
        v = k.let(("v", "row"), cast(fn(snap, y[i]), INT32))
        outside = op("or", op("or", u < 0, u >= wp_), op("or", v < 0, v >= hp))
        with k.if_(outside):
            k.return_()
        how = "rounded down" if snap == "floor" else "rounded to the nearest"
        note = f" Pixels are {x.name} and {y.name} {how}; those outside the image are left out."
        px: Expr = u
        py: Expr = v
    else:
        keep = shape.chance(0.5)
        px, py = (k.let("u", x[i]), k.let("v", y[i])) if keep else (x[i], y[i])
        k.params = [p for p in k.params if p.name != hp.name and (flat or p.name != wp_.name)]
    if shape.chance(0.6 if level >= 2 else 0.3):
        tests, texts = [], []
        if not far or count is not None:
            near = k.scalar(("near_plane", "z_near"), s, 1.5, 4.0)
            tests.append(value < near)
            texts.append(f"below {near.name}")
        if far or (count is not None and shape.chance(0.5)):
            last = k.scalar(("far_plane", "z_far"), s, 5.0, 7.5)
            tests.append(value > last)
            texts.append(f"above {last.name}")
        clip = tests[0] if len(tests) == 1 else op("or", *tests)
        text = " or ".join(texts)
        with k.if_(clip):
            k.return_()
        note += f" Points {text} are clipped."
    if level >= 4:
        offset = k.scalar(("bias", "depth_bias"), s, 0.01, 0.2)
        sloped = shape.chance(0.5)
        what = f"{offset.name} times the depth" if sloped else offset.name
        value = k.let(("biased", "zb"), value + (offset * value if sloped else offset))
        note += f" {what} is added to the depth first."
    place = (py * wp_ + px,) if flat else (py, px)
    k.atomic(kind, buffer, place, value)
    if count is not None:
        k.atomic("add", count, (py, px), 1)
        note += f" Points of each pixel are counted in {count.name}."
    done = f"Keep the {'largest' if far else 'smallest'} {z.name} of the points of each pixel "
    done += f"in {buffer.name}"
    done += f" (element row * {wp_.name} + column)" if flat else " (row, column)"
    return Title(k.name("depth_test", "zbuffer_points", "splat_depth"), f"{done}.{note}")


@idiom
def visit_marks(k: KernelBuilder, level: int) -> Title:
    """Mark the nodes that entries refer to: by exchange, by compare-and-swap or by bits."""
    shape = k.draw.shape
    n, m = k.size("n", 24, 40), k.size("num_nodes", 90, 120)
    type_ = shape.choice((INT32, UINT32, INT64))
    nodes = k.array(("nodes", "targets", "frontier"), INT32, n, init=f"index_of:{m}")
    how = shape.choice(("exch", "cas", "or", "max"))
    fixed = shape.chance(0.5)
    mapped = level >= 3 and shape.chance(0.6)
    free = not fixed and not mapped
    stamp = k.scalar(("stamp", "iteration", "color"), type_, 2, 60) if free else None
    start = 1 if how == "cas" else 0
    marks = k.accumulator(("visited", "marks", "status"), type_, m, start)
    second = (
        k.accumulator(("touch_count", "visits"), INT32, m)
        if level >= 2 and shape.chance(0.6)
        else None
    )
    level_map = k.array(("rank", "depth_of", "layer"), type_, m, low=2, high=40) if mapped else None
    offset = (
        k.array(("offset", "step"), INT32, n, low=0, high=20)
        if level >= 2 and shape.chance(0.5)
        else None
    )
    size = k.size_param(("num_marks", "limit"), m) if offset is not None else None
    ends = None
    if level >= 4 and shape.chance(0.3 * level - 0.6):
        ends = k.array(("partners", "far_ends", "children"), INT32, n, init=f"index_of:{m}")
    (i,) = k.thread(n, names=(k.name("i", "tid"),))
    skipped = ""
    if level >= 3 and shape.chance(0.2 * level - 0.2):
        skipped = skip_some(k, i, n)
    at: Expr = nodes[i]
    text = f"{nodes.name}[i]"
    if offset is not None and size is not None:
        at, text = at + offset[i], f"{text} + {offset.name}[i]"
        if shape.chance(0.5):
            at, text = at % size, f"({text}) mod {size.name}"
            at = k.let(("node", "v"), at)
        else:
            at = k.let(("node", "v"), at)
            with k.if_(at >= size):
                k.return_()
            text += f" (skipped where it reaches {size.name})"
    elif second is not None or level_map is not None or shape.chance(0.4):
        at = k.let(("node", "v"), at)
    fixed_mark = k.draw.value.integer(2, 9)

    def mark_of(node: Expr) -> Expr:
        if level_map is not None:
            return level_map[node]
        return stamp if stamp is not None else k.lift(fixed_mark, type_)

    shown = str(fixed_mark) if stamp is None else stamp.name
    shown = f"{level_map.name} of that node" if level_map is not None else shown
    done = _MARKING[how].format(shown, marks.name, f"node {text}")
    _mark(k, how, marks, at, mark_of(at))
    if ends is not None:
        other = k.let(("other", "far_end"), ends[i])
        _mark(k, how, marks, other, mark_of(other))
        done += f", and in the same way at {ends.name}[i]"
    if second is not None:
        k.atomic("add", second, at, 1)
        done += f"; count visits of the first node in {second.name}"
    done = f"{done}, for each entry i.{skipped}"
    return Title(k.name("mark_visited", "flag_nodes", "stamp_frontier"), done)


_MARKING = {
    "cas": "Set {1} at {2} to {0} where it is 1 (compare-and-swap)",
    "exch": "Exchange {1} at {2} for {0}",
    "or": "Bitwise-or {0} into {1} at {2}",
    "max": "Raise {1} at {2} to {0} where that is larger",
}


def _mark(k: KernelBuilder, how: str, marks: Var, node: Expr, mark: Expr) -> None:
    if how == "cas":
        k.compare_and_swap(marks, node, 1, mark)
    else:
        k.atomic(how, marks, node, mark)
