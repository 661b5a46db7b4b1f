"""Surfaces from range measurements: heights of cells, signed distances along beams."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from generators.atomic.mapping.beams import CELLS, Beams, DepthImage, Map, Scan
from generators.atomic.parallel.parts import guarded
from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title
from generators.kit.functions import clamp, cos, dot, sin, where
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Operand, Var

_VEC3 = Vec(3, FLOAT32)


def heights(k: KernelBuilder, level: int) -> Title:
    """Elevation maps: what points tell of the height of their cells."""
    shape = k.draw.shape
    lead = (k.size("scans", 3, 4),) if shape.chance(0.4) else ()
    k.size("num_points", *((22, 26) if lead else (70, 90)))
    at = k.thread(*lead, "num_points", names=[*(k.name("s scan") for _ in lead), k.name("i p")])
    local = level > 1 and shape.chance(0.7 if level == 2 else 1.0)
    span = (-4.5, 4.5) if local else (-0.8, CELLS[2][1] + 0.8)
    points = k.array("points cloud", _VEC3, (*lead, "num_points"), low=span[0], high=span[1])
    p = k.let("p pt", points[at])
    parts: list[Expr] = [p[c] for c in range(3)]
    told = f"point {written(points[at])} = (x, y, z)"
    if local:
        parts, moved = _placed(k, lead, at, p)
        told += f", {moved}"
    m = Map(k, 2)
    h = k.let("h height_i", parts[2])
    cells = m.cells(parts[:2])
    ways = {1: ("max", "min", "span", "mean"), 2: ("span", "mean", "spread")}
    way = shape.choice(ways.get(level, ("spread", "fused", "fused")))
    # Overhangs do not change the lowest height.
    roofed = way != "min" and shape.chance(0.35)
    top = k.scalar("max_height ceiling", FLOAT32, 3.0, 5.0) if roofed else None
    low = nullcontext() if top is None else guarded(k, h < top, False)
    with low, guarded(k, m.inside(cells), False):
        done = _raised(way, m, m.place(cells), h, p if local else None)
    text = f"Elevation map of points: for each {told}, {done}, at the cell of (x, y)"
    text += "" if top is None else f"; points of height not below {top.name} are left out"
    return Title(k.name("elevation_map update_heights bin_heights"), f"{text}.{m.said()}")


def _placed(
    k: KernelBuilder, lead: tuple[str, ...], at: tuple[Var, ...], p: Expr
) -> tuple[list[Expr], str]:
    """A point of the sensor's frame in the map's, by the place and the heading of the sensor."""
    middle = 0.5 * CELLS[2][0]
    low, high = 0.8 * middle, 1.2 * middle
    turn: Expr
    if lead:
        places = k.array("sensor_pos scan_origins", _VEC3, lead, low=low, high=high)
        turns = k.array("headings yaws", FLOAT32, lead, low=-3.0, high=3.0)
        place, turn = k.let("origin o", places[at[0]]), turns[at[0]]
        about = f"{turns.name} and moved by {places.name}, both of its scan"
    else:
        place = k.scalar("sensor_pos sensor_origin", _VEC3, low, high)
        yaw = k.scalar("heading yaw", FLOAT32, -3.0, 3.0)
        turn, about = yaw, f"{yaw.name} and moved by {place.name}"
    c, s = k.let("c cos_yaw", cos(turn)), k.let("s_ sin_yaw", sin(turn))
    x = k.let("x", c * p[0] - s * p[1] + place[0])
    y = k.let("y", s * p[0] + c * p[1] + place[1])
    return [x, y, p[2] + place[2]], f"rotated about z by {about}"


def _raised(way: str, m: Map, place: tuple[Operand, ...], h: Expr, p: Expr | None) -> str:
    """What the height of a point changes in its cell; ``p`` is the point as the sensor sees it."""
    k = m.k
    if way in ("max", "min", "span"):
        told = []
        for how, verb, far in (("max", "raise", -1000.0), ("min", "lower", 1000.0)):
            if way in (how, "span"):
                out = m.array(f"{how}_height height_{how}", FLOAT32, far)
                k.atomic(how, out, place, h)
                told.append(f"{verb} {out.name} to its height z")
        return " and ".join(told)
    if way == "fused" and p is not None:
        return _fused(m, place, h, p)
    counts = m.array("counts point_counts", INT32)
    sums = m.array("height_sum sum_z", FLOAT32)
    k.atomic("add", counts, place, 1)
    k.atomic("add", sums, place, h)
    if way == "mean":
        return f"add 1 to {counts.name} and its height z to {sums.name}"
    squares = m.array("height_sq_sum sum_z2", FLOAT32)
    k.atomic("add", squares, place, h * h)
    return f"add 1 to {counts.name}, its height z to {sums.name} and z^2 to {squares.name}"


def _fused(m: Map, place: tuple[Operand, ...], h: Expr, p: Expr) -> str:
    """Heights by the inverse of their variance, which grows with the range."""
    k = m.k
    base = k.scalar("base_var sigma2_base", FLOAT32, 0.5, 1.0)
    growth = k.scalar("range_var sigma2_range", FLOAT32, 0.05, 0.2)
    w = k.let("w weight", 1.0 / (base + growth * dot(p, p)))
    sums = m.array("height_sum weighted_heights", FLOAT32)
    weights = m.array("weight_sum information", FLOAT32)
    k.atomic("add", sums, place, w * h)
    k.atomic("add", weights, place, w)
    text = f"add w to {weights.name} and w times its height z to {sums.name}, w = 1 / ({base.name} "
    return f"{text}+ {growth.name} * r^2) with the range r (the length of the point as it is given)"


def signed_distances(k: KernelBuilder, level: int) -> Title:
    """Truncated signed distances around the ends of beams, as weighted sums."""
    shape = k.draw.shape
    axes = 3 if level > 4 else shape.choice((2, 2, 3))
    b = DepthImage(k, shape.chance(0.4)) if axes == 3 and shape.chance(0.5) else Scan(k, axes)
    m = Map(k, axes)
    limit = b.limit() if shape.chance(0.5) else None
    band = k.scalar("truncation trunc_dist", FLOAT32, 1.0, 1.5)
    count = k.scalar("half_steps steps_per_side", INT32, 2, 3)
    note = "" if limit is None else f" Beams of range {limit.name} or more are left out."
    sums = m.array("tsdf_sum sdf_sum", FLOAT32)
    weights = m.array("weight_sum weights", FLOAT32)
    weighing = _Weighing(k, b, band)
    with nullcontext() if limit is None else guarded(k, b.range < limit, False):
        weighing.begin()
        with k.for_("s", count + 1, start=-count) as s:
            share = cast(s, FLOAT32) / cast(count, FLOAT32)
            t = k.let("t dist_s", b.range + band * share)
            with guarded(k, t > 0.0, True):
                cells = m.cells(b.point(t))
                with guarded(k, m.inside(cells), True):
                    told = weighing.give(level, m, cells, t, (sums, weights))
    n = written(count)
    text = f"Truncated signed distances along beams: for each {b.told}, take the places at t = r + "
    text += (
        f"{band.name} * s / {n} along it, r being its range, for s from -{n} to {n}, where t > 0"
    )
    text += f"; at the cell of each add {told}.{note}{m.said()}"
    return Title(k.name("integrate_tsdf fuse_depth update_tsdf"), text)


class _Weighing:
    """How much a sample of a beam counts, and its signed distance."""

    def __init__(self, k: KernelBuilder, b: Beams, band: Var) -> None:
        self.k, self.b, self.band = k, b, band
        self.way = k.draw.shape.choice(("one", "range", "behind", "incidence"))
        self.base: Expr | None = None
        self.colours: Var | None = None
        if k.draw.shape.chance(0.3):
            self.colours = k.array("colors rgb", _VEC3, b.dims, low=0.0, high=1.0)

    def begin(self) -> None:
        """The weight of the whole beam."""
        k, b = self.k, self.b
        if self.way == "range":
            self.base = k.let("w weight", 1.0 / (b.range * b.range))
            self.told = "1 / r^2"
        elif self.way == "incidence":
            vec = Vec(len(b.direction), FLOAT32)
            normals = k.array("normals", vec, b.dims, init="unit")
            way = make(vec, *b.direction)
            self.base = k.let("w cos_in", fn("abs", dot(normals[b.at], way)))
            self.told = f"|cosine of {written(normals[b.at])} and the beam|"

    def give(
        self, level: int, m: Map, cells: Sequence[Expr], t: Expr, arrays: tuple[Var, Var]
    ) -> str:
        """Add a sample to its cell."""
        k, (sums, weights) = self.k, arrays
        d, told = self._distance(level, m, cells, t)
        weight, place = self.base, m.place(cells)
        if self.way == "behind":
            weight = k.let("w weight", where(d < 0.0, 1.0 + d, 1.0))
            self.told = "1 + d where d is negative, else 1"
        k.atomic("add", sums, place, d if weight is None else weight * d)
        k.atomic("add", weights, place, 1.0 if weight is None else weight)
        amounts = ("d", "1") if weight is None else ("w * d", "w")
        text = f"{amounts[0]} to {sums.name} and {amounts[1]} to {weights.name}"
        if self.colours is not None:
            colour = self.colours[self.b.at]
            out = m.array("color_sum", _VEC3)
            k.atomic("add", out, place, colour if weight is None else weight * colour)
            text += f", and {'w * ' * (weight is not None)}{written(colour)} to {out.name}"
        text += f", where d = {told}"
        return text if weight is None else f"{text}, and w = {self.told}"

    def _distance(self, level: int, m: Map, cells: Sequence[Expr], t: Expr) -> tuple[Var, str]:
        """The signed distance in truncations: of the sample, or of the centre of its cell."""
        k, b, band = self.k, self.b, self.band
        if level < 5:
            told = f"(r - t) / {band.name}"
            return k.let("d sdf", (b.range - t) / band), told
        ahead = [
            (c - o) * w for c, o, w in zip(m.centre(cells), b.origin, b.direction, strict=True)
        ]
        depth = k.let("along proj", ahead[0] + ahead[1] + ahead[2])
        value = clamp((b.range - depth) / band, -1.0, 1.0)
        told = f"(r - a) / {band.name}, clamped to [-1, 1], a being how far along the beam the "
        return k.let("d sdf", value), f"{told}centre of the cell lies"
