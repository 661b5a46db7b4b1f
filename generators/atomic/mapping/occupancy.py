"""Maps of robots from range measurements: occupied and free cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

from generators.atomic.mapping.beams import CELLS, Beams, DepthImage, Evidence, Map, Scan
from generators.atomic.mapping.surfaces import heights, signed_distances
from generators.atomic.parallel.parts import both, guarded, opposite
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least, most, where
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Operand, Var

_UINT32 = Scalar("uint32")


@idiom
def occupancy_update(k: KernelBuilder, level: int) -> Title:
    """Range measurements into a grid map, by the end of a beam and the cells along it.

    H. Moravec, A. Elfes, ICRA 1985; B. Curless, M. Levoy, SIGGRAPH 1996 (signed distances).
    """
    return k.draw.shape.weighted(_FORMS[level])(k, level)


def _beams(k: KernelBuilder, axes: int, level: int) -> Beams:
    """Beams of a scan, or of a depth image."""
    if axes == 3 and k.draw.shape.chance(0.4):
        return DepthImage(k, level != 3 or k.draw.shape.chance(0.4))
    return Scan(k, axes)


def _ends(k: KernelBuilder, level: int) -> Title:
    """Points of the map's own frame that mark their cells."""
    shape = k.draw.shape
    axes = shape.choice((2, 2, 3))
    lead = (k.size("scans", 3, 4),) if shape.chance(0.3) else ()
    k.size("num_points", *((22, 26) if lead else (70, 90)))
    at = k.thread(*lead, "num_points", names=[*(k.name("s scan") for _ in lead), k.name("i p")])
    dims, high = (*lead, "num_points"), CELLS[axes][1] + (0.8 if axes == 2 else -0.8)
    if shape.chance(0.6):
        points = k.array("points endpoints", Vec(axes, FLOAT32), dims, low=-0.8, high=high)
        point, about = k.let("pt end", points[at]), points.name
        parts: list[Expr] = [point[c] for c in range(axes)]
    else:
        arrays = [k.array(f"end_{a}", FLOAT32, dims, low=-0.8, high=high) for a in "xyz"[:axes]]
        parts, about = [a[at] for a in arrays], f"({', '.join(a.name for a in arrays)})"
    m = Map(k, axes)
    cells = m.cells(parts)
    with guarded(k, m.inside(cells), False):
        done = _marked(m, m.place(cells), at, dims)
    text = "Occupied cells of a map from the end points of beams: for each point of "
    text += f"{about}, {done}, at its cell.{m.said()}"
    return Title(k.name("mark_endpoints mark_occupied accumulate_hits"), text)


def _marked(m: Map, place: tuple[Operand, ...], at: tuple[Var, ...], dims: tuple[str, ...]) -> str:
    """What an end point leaves in its cell."""
    k, shape = m.k, m.k.draw.shape
    way = shape.choice(("count", "log_odds", "fixed", "seen", "intensity", "bits"))
    if way in ("log_odds", "fixed"):
        e = Evidence(m, way, passed=False)
        array, amount = e.changes["hit"]
        k.atomic("add", array, place, amount)
        return e.said("hit")
    if way == "bits":
        flag = k.scalar("sensor_bit source_bit", _UINT32, 1, 128)
        out = m.array("seen_by cell_flags", _UINT32)
        k.atomic("or", out, place, flag)
        return f"set the bits of {flag.name} in {out.name}"
    if way == "seen":
        stamp = k.array("stamps times_ms", INT32, dims, low=1, high=9999)[at]
        out = m.array("last_seen last_hit", INT32, -1)
        k.atomic("max", out, place, stamp)
        return f"raise {out.name} to the time stamp {written(stamp)}"
    hits = m.array("hits hit_counts", INT32)
    k.atomic("add", hits, place, 1)
    if way == "count":
        return f"add 1 to {hits.name}"
    light = k.array("intensity reflectivity", FLOAT32, dims, low=0.05, high=1.0)
    sums = m.array(f"{light.name}_sum", FLOAT32)
    k.atomic("add", sums, place, light[at])
    return f"add 1 to {hits.name} and {written(light[at])} to {sums.name}"


def _scan_ends(k: KernelBuilder, level: int) -> Title:
    """Ends of beams; those of no return are left out."""
    shape = k.draw.shape
    axes = shape.choice((2, 2, 3))
    b, m = _beams(k, axes, level), Map(k, axes)
    limit = b.limit(0.55) if shape.chance(0.7) else None
    note = "" if limit is None else f"; beams whose range is not below {limit.name} are left out"
    e = Evidence(m, shape.choice(("log_odds", "log_odds", "fixed", "counts")), passed=False)
    with nullcontext() if limit is None else guarded(k, b.range < limit, False):
        cells = m.cells(b.point(b.range))
        weighed = _weighed(e, b, limit)
        with guarded(k, m.inside(cells), False):
            e.give("hit", cells)
    text = f"Hits of range measurements in a map: for each {b.told}, {e.said('hit')} at "
    text += f"the cell where it ends{note}.{weighed}{m.said()}"
    return Title(k.name("insert_scan update_hits scan_to_map"), text)


def _weighed(e: Evidence, b: Beams, limit: Var | None) -> str:
    """A sensor model by range: what is far counts less."""
    k, shape = e.m.k, e.m.k.draw.shape
    amounts = [amount for _, amount in e.changes.values() if isinstance(amount, Var)]
    if not amounts or amounts[0].type != FLOAT32 or not shape.chance(0.6):
        return ""
    if limit is not None and shape.chance(0.5):
        value: Expr = 1.0 - b.range / limit
    else:
        value = exp(-b.range / k.scalar("decay range_scale", FLOAT32, 3.0, 6.0))
    e.weight = k.let("w weight", value)
    return f" The weight w of a beam is {written(value)}, {written(b.range)} being its range."


def _cut(k: KernelBuilder, b: Beams, e: Evidence) -> tuple[Expr, Var | None, str]:
    """How far a beam is followed, and from where on there was no return; its weight in words."""
    if k.draw.shape.chance(0.5):
        limit = b.limit()
        return k.let("reach length_i", least(b.range, limit)), limit, ""
    return b.range, None, _weighed(e, b, None)


def _hit(k: KernelBuilder, b: Beams, e: Evidence, end: Sequence[Expr], limit: Var | None) -> str:
    """The end of a beam, where it met something."""
    inside = e.m.inside(end)
    with k.if_(inside if limit is None else both(b.range < limit, inside)):
        e.give("hit", end)
    if limit is None:
        return f", and {e.said('hit')} there"
    text = f", and {e.said('hit')} there if its range is below {limit.name}; longer beams had no "
    return f"{text}return and are cut to {limit.name}"


def _differ(cells: Sequence[Expr], others: Sequence[Expr]) -> Expr:
    """Whether two cells are not the same."""
    return opposite(both(*(fn("eq", c, o) for c, o in zip(cells, others, strict=True))))


def _samples(k: KernelBuilder, level: int) -> Title:
    """Free cells at samples of a beam, the occupied one at its end."""
    shape = k.draw.shape
    axes = shape.choice((2, 2, 3))
    b, m = _beams(k, axes, level), Map(k, axes)
    e = Evidence(m, shape.choice(("log_odds", "log_odds", "fixed", "counts")))
    reach, limit, weighed = _cut(k, b, e)
    end = m.cells(b.point(reach), "e")
    told = _free_samples(b, e, reach, end)
    text = f"Occupancy grid of range measurements: for each {b.told}, {e.said('miss')} "
    text += f"at the cell of {told}, unless that is the cell where the beam ends"
    text += _hit(k, b, e, end, limit)
    names = "update_occupancy integrate_scan carve_and_hit"
    return Title(k.name(names), f"{text}.{weighed}{m.said()}")


def _free_samples(b: Beams, e: Evidence, reach: Expr, end: Sequence[Expr]) -> str:
    """Samples in the middle of equal parts of a beam, or a step apart."""
    k, m = e.m.k, e.m
    step = k.scalar("step step_len", FLOAT32, 0.45, 0.7) if k.draw.shape.chance(0.5) else None
    if step is not None:
        count: Expr = k.let("num_steps count", cast(reach / step, INT32))
        told = f"each place s * {step.name} along it, 0 <= s < int(its length / {step.name})"
    else:
        count = k.scalar("num_samples samples_per_ray", INT32, 5, 8)
        told = f"the middle of each of {written(count)} equal parts"
    with k.for_("s", count) as s:
        place = cast(s, FLOAT32)
        share = (place + 0.5) / cast(count, FLOAT32)
        t = k.let("t", reach * share if step is None else place * step)
        cells = m.cells(b.point(t))
        with guarded(k, both(_differ(cells, end), m.inside(cells)), True):
            e.give("miss", cells)
    return told


def _carve(k: KernelBuilder, level: int) -> Title:
    """A thread for each beam and sample: free space alone."""
    shape = k.draw.shape
    axes = shape.choice((2, 3))
    k.size("ray_samples", 5, 8)
    b = Scan(k, axes, "ray_samples")
    m = Map(k, axes)
    e = Evidence(m, shape.choice(("log_odds", "fixed", "counts")), hit=False)
    reach, limit, weighed = _cut(k, b, e)
    count = k.size_param("num_samples samples_per_ray", "ray_samples")
    j = cast(b.sample, FLOAT32)
    share = (j + 0.5 if shape.chance(0.5) else j) / cast(count, FLOAT32)
    cells = m.cells(b.point(k.let("t dist_j", reach * share)))
    with guarded(k, m.inside(cells), False):
        e.give("miss", cells)
    text = f"Free space along beams: for each {b.told}, and each sample {written(b.sample)}, "
    text += f"{e.said('miss')} at the cell of the place at {written(share)} of its length"
    text += "" if limit is None else f", which is cut to {limit.name}"
    return Title(k.name("carve_free_space clear_along_beams"), f"{text}.{weighed}{m.said()}")


def _lines(k: KernelBuilder, level: int) -> Title:
    """Cells of the line between the cells of the sensor and of the end."""
    shape = k.draw.shape
    axes = 3 if level > 4 else 2
    b, m = _beams(k, axes, level), Map(k, axes)
    e = Evidence(m, shape.choice(("log_odds", "log_odds", "fixed", "counts")))
    reach, limit, weighed = _cut(k, b, e)
    start, end = m.cells(b.origin), m.cells(b.point(reach), "e")
    how = (_bresenham if axes == 2 and shape.chance(0.6) else _driven)(e, start, end)
    text = f"Occupancy grid by lines: for each {b.told}, {e.said('miss')} at each cell "
    text += "of the line from its start's cell to its end's, but the last"
    text += _hit(k, b, e, end, limit)
    names = "trace_beams raycast_update integrate_beams"
    return Title(k.name(names), f"{text}. {how}{weighed}{m.said()}")


def _bresenham(e: Evidence, start: Sequence[Var], end: Sequence[Expr]) -> str:
    """Lines of the plane by the error of both axes."""
    k, m = e.m.k, e.m
    x, y = start
    dx, dy = k.let("dx", fn("abs", end[0] - x)), k.let("dy", fn("abs", end[1] - y))
    sx, sy = (
        k.let(f"step_{a}", where(p < q, k.lift(1, INT32), -1))
        for a, p, q in zip("xy", (x, y), end, strict=True)
    )
    err = k.let("err", dx - dy)
    with k.while_(_differ((x, y), end)):
        with k.if_(m.inside((x, y))):
            e.give("miss", (x, y))
        twice = k.let("e2 twice", 2 * err)
        with k.if_(twice > -dy):
            k.augment(err, "sub", dy)
            k.augment(x, "add", sx)
        with k.if_(twice < dx):
            k.augment(err, "add", dx)
            k.augment(y, "add", sy)
    text = (
        "The line is Bresenham's: err starts as |dx| - |dy|, dx and dy leading to the last cell; "
    )
    text += "with e2 = 2 * err, each turn steps along x and subtracts |dy| from err if e2 > -|dy|, "
    return text + "and steps along y and adds |dx| to err if e2 < |dx|."


def _driven(e: Evidence, cells: Sequence[Var], end: Sequence[Expr]) -> str:
    """Lines along the longest axis, by an error of each axis."""
    k, m, axes = e.m.k, e.m, e.m.axes
    gaps = [k.let(f"d{a}", fn("abs", q - p)) for a, p, q in zip(axes, cells, end, strict=True)]
    turns = [
        k.let(f"step_{a}", where(p < q, k.lift(1, INT32), -1))
        for a, p, q in zip(axes, cells, end, strict=True)
    ]
    count = k.let("n longest", most(*gaps))
    errors = [k.let(f"err_{a}", count // 2) for a in axes]
    with k.for_("s step", count):
        with k.if_(m.inside(cells)):
            e.give("miss", cells)
        for cell, err, gap, turn in zip(cells, errors, gaps, turns, strict=True):
            k.augment(err, "sub", gap)
            with k.if_(err < 0):
                k.augment(err, "add", count)
                k.augment(cell, "add", turn)
    text = "The line takes n steps, n being its longest extent along an axis: each axis has an "
    text += (
        "error, n // 2 at first; a step subtracts the axis' extent from it and, if it is negative "
    )
    return text + "then, adds n and moves one cell along the axis."


_Form = Callable[[KernelBuilder, int], Title]
_FORMS: Mapping[int, Mapping[_Form, int]] = {
    1: {_ends: 3, heights: 2},
    2: {_scan_ends: 3, heights: 2},
    3: {_samples: 3, _carve: 2, heights: 1},
    4: {_lines: 3, _samples: 1, signed_distances: 3},
    5: {_lines: 3, signed_distances: 4},
}
"""What kernels of a level do, and how often."""
