"""Particles on grids, points in depth buffers, marks on nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul

from generators.atomic.tally import INT64, UINT32, Tally, any_of, threads
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import where
from generators.kit.sources import given
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var


@idiom
def particle_deposit(k: KernelBuilder, level: int) -> Title:
    """Masses of particles on a grid: to the nearest cell, or shared between neighbours."""
    shape, real = k.draw.shape, k.draw.wide_float_type()
    axes = "xyz"[: shape.choice((1, 2)) if level < 4 else shape.choice((1, 2, 3))]
    t = Tally(level, threads(k, "num_particles", 64, 90, "p i"), "Particles")
    span, high = (((8, 12), 13.5), ((5, 7), 8.0), ((3, 4), 4.8))[len(axes) - 1]
    grid = [k.size(f"n{a}", *span) for a in axes]
    shared = t.chance(0.7, 2)
    cells, shares = _cells(t, axes, real, high, shared)
    bounds = [k.size_param(f"num_{a}", f"n{a}") for a in axes]
    ends = [bound - 1 if shared else bound for bound in bounds]
    pairs = zip(cells, ends, strict=True)
    t.skip(any_of([test for cell, end in pairs for test in (cell < 0, cell >= end)]))
    mass: Expr = k.lift(1, real)
    if t.chance(0.6):
        names = "mass charge weight"
        mass = given(t.s, names, real, 0.5, 2.0, each=3, shared=1, many=names)
        mass = t.let("m q", mass, 1.0 if shared else 0.0)
    if not shared:
        t.into("density grid rho", grid, cells, mass)
    else:
        _share(t, k.accumulator("density grid rho", real, grid), cells, shares, mass)
    if t.chance(0.5, 3):
        t.into("hits cell_counts", grid, cells)
    names = f"deposit_particles splat_mass {'cloud_in_cell' if shared else 'bin_particles'}"
    return t.title(names, "For each particle: ")


def _cells(
    t: Tally, axes: str, real: Scalar, high: float, shared: bool
) -> tuple[tuple[Expr, ...], list[Expr]]:
    """The cell of a particle, and how far into the cell it lies along each axis."""
    k, places, scale = t.k, [], None
    if len(axes) > 1 and t.chance(0.5):
        points = t.s.read("pos particles points", Vec(len(axes), real), 0.2, high)
        places = [points[c] for c in range(len(axes))]
    if t.chance(0.4):
        scale = k.scalar("inv_dx inv_h", real, 0.8, 0.95)
    cells, shares = [], []
    for c, axis in enumerate(axes):
        place: Expr = places[c] if places else t.s.read(f"p{axis}", real, 0.2, high)
        place = place if scale is None else place * scale
        place = t.let(f"g{axis} u{axis}", place, 1.0 if shared else 0.0)
        cell = t.let(f"i{axis} c{axis}", cast(fn("floor", place), INT32))
        cells.append(t.define(f"i{axis}", cell))
        if shared:
            rest = t.let(f"f{axis} w{axis}", place - cast(cell, real))
            shares.append(t.define(f"f{axis}", rest))
    return tuple(cells), shares


def _share(
    t: Tally, density: Var, cells: Sequence[Expr], shares: Sequence[Expr], mass: Expr
) -> None:
    """A particle's mass, linearly between its cell and the next along each axis."""
    text = f"add {t.say(mass)} to {density.name}, shared linearly between the cell "
    text += f"{t.place(density, tuple(cells))} and the next one along each axis"
    t.done.append(text)
    if len(cells) > 1 and t.chance(0.5):
        _share_in_loops(t, density, cells, shares, mass)
        return
    for corner in range(2 ** len(cells)):
        upper = [corner >> (len(cells) - 1 - axis) & 1 for axis in range(len(cells))]
        place = tuple(c + 1 if up else c for c, up in zip(cells, upper, strict=True))
        parts = [f if up else 1.0 - f for f, up in zip(shares, upper, strict=True)]
        parts = parts if mass == t.k.lift(1, mass.type) else [mass, *parts]
        t.k.atomic("add", density, place, reduce(mul, parts))


def _share_in_loops(
    t: Tally, density: Var, cells: Sequence[Expr], shares: Sequence[Expr], mass: Expr
) -> None:
    """The same by a loop over the two cells of the first two axes."""
    k = t.k
    with k.for_("di a", 2) as di:
        wx = where(fn("eq", di, 0), 1.0 - shares[0], shares[0])
        weight = k.let("w0 wi", mass * wx if isinstance(mass, Var) else wx)
        with k.for_("dj b", 2) as dj:
            wy = where(fn("eq", dj, 0), 1.0 - shares[1], shares[1])
            place = (cells[0] + di, cells[1] + dj)
            if len(cells) == 2:
                k.atomic("add", density, place, weight * wy)
                return
            inner = k.let("w1 wj", weight * wy)
            k.atomic("add", density, (*place, cells[2]), inner * (1.0 - shares[2]))
            k.atomic("add", density, (*place, cells[2] + 1), inner * shares[2])


@idiom(depth=3)
def depth_buffer(k: KernelBuilder, level: int) -> Title:
    """Points or fragments into a depth buffer that keeps the nearest, by cell or by pixel."""
    real, image = k.draw.wide_float_type(), (k.size("height", 4, 6), k.size("width", 5, 7))
    t = Tally(level, threads(k, "num_points", 64, 90, "i p"), "Points")
    flat, far = t.chance(0.4), t.chance(0.25)
    z = t.let("d zi", t.s.read("depth z distance", real, 0.5, 9.0), 0.5)
    row, column, columns = _pixel(t, real, flat)
    counted = t.chance(0.6 if level >= 3 else 0.25)
    if t.chance(0.6 if level >= 2 else 0.3):
        tests = []
        if not far or counted:
            tests.append(z < k.scalar("near_plane z_near", real, 2.0, 4.5))
        if far or (counted and t.chance(0.5)):
            tests.append(z > k.scalar("far_plane z_far", real, 4.5, 7.0))
        t.skip(any_of(tests))
    how, start = ("max", "-1.0") if far else ("min", "100.0")
    dims = "height*width" if flat else image
    place = (row * columns + column,) if columns is not None else (row, column)
    t.into("zbuffer depth_map nearest", dims, place, z, how, start)
    if counted:
        t.into("fragments overdraw", image, (row, column))
    return t.title("depth_test zbuffer_points splat_depth", "For each point: ")


def _pixel(t: Tally, real: Scalar, flat: bool) -> tuple[Expr, Expr, Var | None]:
    """Row and column of a point, and how many columns a flat image has; others are left out."""
    k, columns = t.k, None
    if not t.chance(0.6, 2):
        columns = k.size_param("num_cols", "width") if flat else None
        x: Expr = t.s.read("pixel_x col", INT32, init="index_of:width")
        y: Expr = t.s.read("pixel_y row", INT32, init="index_of:height")
        share = 1.0 if t.chance(0.5) else 0.0
        return t.let("v", y, share), t.let("u", x, share), columns
    columns, rows = k.size_param("num_cols", "width"), k.size_param("num_rows", "height")
    snap = t.pick("floor", "rint")
    x, y = t.s.read("px x", real, -0.6, 6.2), t.s.read("py y", real, -0.6, 5.2)
    u = t.define("u", t.let("u col", cast(fn(snap, x), INT32)))
    v = t.define("v", t.let("v row", cast(fn(snap, y), INT32)))
    t.skip(any_of([u < 0, u >= columns, v < 0, v >= rows]))
    return v, u, columns if flat else None


@idiom(depth=2)
def visit_marks(k: KernelBuilder, level: int) -> Title:
    """Mark the nodes that entries refer to: by exchange, by compare-and-swap or by bits."""
    t = Tally(level, threads(k, "n", 36, 56))
    nodes = k.size("num_nodes", 70, 95)
    if t.chance(0.2 * level - 0.2, 3):
        t.mask()
    index = f"index_of:{nodes}"
    at: Expr = t.s.read("nodes targets frontier", INT32, init=index)
    fixed, mapped, counted = t.chance(0.5), t.chance(0.6, 3), t.chance(0.6, 2)
    at = t.let("node v", at, 1.0 if counted or mapped else 0.4)
    type_ = k.draw.shape.choice((INT32, UINT32, INT64))
    mark: Expr = k.lift(k.draw.value.choice((2, 4)), type_)
    ranks = k.array("rank depth_of layer", type_, nodes, low=2, high=40) if mapped else None
    if ranks is None and not (fixed and t.level == 1):
        mark = k.scalar("stamp iteration color", type_, 2, 60)
    how = t.pick("exch", "cas", "or", "max")
    start = 1 if how == "cas" else 0
    first = mark if ranks is None else ranks[at]
    marks = t.into("visited marks status", nodes, at, first, how, start)
    if t.chance(0.3 * level - 0.6, 4):
        end = t.let("other far_end", t.s.read("partners far_ends children", INT32, init=index))
        t.update(how, marks, end, mark if ranks is None else ranks[end])
    if counted:
        t.into("touch_count visits", nodes, at)
    return t.title("mark_visited flag_nodes stamp_frontier")
