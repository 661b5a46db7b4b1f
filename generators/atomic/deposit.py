"""Particles on grids: masses in the nearest cell, or shared between neighbours."""

from __future__ import annotations

from functools import reduce
from operator import mul

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Var, op

_AXES = ("x", "y", "z")


@idiom
def particle_deposit(k: KernelBuilder, level: int) -> Title:
    """Masses of particles on a grid: to the nearest cell, or shared between neighbours."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    ndim = shape.choice((1, 2)) if level < 4 else shape.choice((1, 2, 3))
    shared = level >= 2 and shape.chance(0.7)
    n = k.size("num_particles", 64, 90)
    grid = [k.size(f"n{a}", *((8, 12), (5, 7), (3, 4))[ndim - 1]) for a in _AXES[:ndim]]
    packed = ndim > 1 and shape.chance(0.5)
    high = {1: 13.5, 2: 8.0, 3: 4.8}[ndim]
    if packed:
        vec = Vec(ndim, s)
        points = k.array(("pos", "particles", "points"), vec, n, low=0.2, high=high)
    arrays = [] if packed else [k.array(f"p{a}", s, n, low=0.2, high=high) for a in _AXES[:ndim]]
    weighted = shape.chance(0.6)
    mass = k.array(("mass", "charge", "weight"), s, n, low=0.5, high=2.0) if weighted else None
    scaled = shape.chance(0.4)
    inv = k.scalar(("inv_dx", "inv_h"), s, 0.8, 0.95) if scaled else None
    bounds = [k.size_param(f"num_{a}", g) for a, g in zip(_AXES, grid, strict=False)]
    density = k.accumulator(("density", "grid", "rho"), s, grid)
    hits = (
        k.accumulator(("hits", "cell_counts"), INT32, grid)
        if level >= 3 and shape.chance(0.5)
        else None
    )
    (p,) = k.thread(n, names=(k.name("p", "tid", "i"),))
    cells: list[Var] = []
    fractions: list[Var] = []
    for axis in range(ndim):
        coordinate: Expr = points[p][axis] if packed else arrays[axis][p]
        if inv is not None:
            coordinate = coordinate * inv
        if shared:
            coordinate = k.let((f"g{_AXES[axis]}", f"u{_AXES[axis]}"), coordinate)
        cell = cast(fn("floor", coordinate), INT32)
        cells.append(k.let((f"i{_AXES[axis]}", f"c{_AXES[axis]}"), cell))
        if shared:
            left = coordinate - cast(cells[-1], s)
            fractions.append(k.let((f"f{_AXES[axis]}", f"w{_AXES[axis]}"), left))
    inside = _outside(cells, bounds, shared)
    with k.if_(inside):
        k.return_()
    amount: Expr | None = mass[p] if mass is not None else None
    if shared and amount is not None:
        amount = k.let(("m", "q"), amount)
    _spread(k, density, cells, fractions, amount, shared)
    if hits is not None:
        k.atomic("add", hits, tuple(cells), 1)
    where = points.name if packed else ", ".join(a.name for a in arrays)
    done = f"Each particle at {where}{f' times {inv.name}' if inv is not None else ''} lies in the "
    done += "cell whose index along each axis is the floor of that. "
    done += f"Add {mass.name if mass is not None else 'one'} to {density.name} "
    done += "shared linearly between that cell and the next along each axis" if shared else "there"
    done += f"; particles {'without a next cell' if shared else 'outside'} or below 0 are left out"
    done += f"; count particles by cell in {hits.name}" if hits is not None else ""
    name = k.name("deposit_particles", "splat_mass", "cloud_in_cell" if shared else "bin_particles")
    return Title(name, f"{done}.")


def _outside(cells: list[Var], bounds: list[Var], shared: bool) -> Expr:
    test: Expr | None = None
    for cell, bound in zip(cells, bounds, strict=True):
        last = cell >= (bound - 1 if shared else bound)
        one = op("or", cell < 0, last)
        test = one if test is None else op("or", test, one)
    assert test is not None
    return test


def _spread(
    k: KernelBuilder,
    density: Var,
    cells: list[Var],
    fractions: list[Var],
    amount: Expr | None,
    shared: bool,
) -> None:
    if not shared:
        k.atomic("add", density, tuple(cells), 1.0 if amount is None else amount)
        return
    loops = len(cells) > 1 and k.draw.shape.chance(0.5)
    if loops:
        _spread_in_loops(k, density, cells, fractions, amount)
        return
    for corner in range(2 ** len(cells)):
        place: list[Expr] = []
        factors = [] if amount is None else [amount]
        for axis, (cell, f) in enumerate(zip(cells, fractions, strict=True)):
            upper = corner >> (len(cells) - 1 - axis) & 1
            place.append(cell + 1 if upper else cell)
            factors.append(f if upper else 1.0 - f)
        k.atomic("add", density, tuple(place), reduce(mul, factors))


def _spread_in_loops(
    k: KernelBuilder,
    density: Var,
    cells: list[Var],
    fractions: list[Var],
    amount: Expr | None,
) -> None:
    """A loop over the two cells of each axis."""
    with k.for_(("di", "a"), 2) as di:
        wx = fn("where", fn("eq", di, 0), 1.0 - fractions[0], fractions[0])
        weight = k.let(("w0", "wi"), wx if amount is None else amount * wx)
        with k.for_(("dj", "b"), 2) as dj:
            wy = fn("where", fn("eq", dj, 0), 1.0 - fractions[1], fractions[1])
            place = (cells[0] + di, cells[1] + dj)
            if len(cells) == 2:
                k.atomic("add", density, place, weight * wy)
            else:
                inner = k.let(("w1", "wj"), weight * wy)
                k.atomic("add", density, (*place, cells[2]), inner * (1.0 - fractions[2]))
                k.atomic("add", density, (*place, cells[2] + 1), inner * fractions[2])
