"""Voxels: the cells of a grid that a ray passes, one after another."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, extent, fn
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.functions import least
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Var, op
from generators.vector.simulation.parts import Crowd
from generators.vector.tracing.rays import Ray, cast_rays, side


@idiom
def voxel_walk(k: KernelBuilder, level: int) -> Title:
    """Amanatides and Woo's walk through the cells of a grid that a ray passes, in order."""
    shape = k.draw.shape
    flat = False
    n = 2 if flat else 3
    sides = tuple(side(k, s, 7 if flat else 5) for s in ("nx", "ny", "nz")[:n])
    top = 7.0 if flat else 5.0
    r = cast_rays(k, level, 1.0, top - 1.0, 0.0 if flat else 0.1)
    c = r.c
    way = shape.choice(("first", "sum", "count"))
    solid = way != "sum"
    names = {"first": "labels materials", "count": "voxels levels", "sum": "density extinction"}
    cells = k.array(
        names[way],
        INT32 if solid else FLOAT32,
        sides,
        low=0,
        high=4 if solid else 1.0,
    )
    stop = k.scalar("max_cells max_steps", INT32, 3, 6)
    at = [k.let(f"{'xyz'[a]}i {'xyz'[a]}_cell", cast(r.o[a], INT32)) for a in range(n)]
    steps, times, spans = [], [], []
    for a in range(n):
        up = r.d[a] > 0.0
        one = (k.lift(1, INT32), k.lift(-1, INT32))
        steps.append(k.let(f"step_{'xyz'[a]}", fn("where", up, *one)))
        wall = cast(at[a], FLOAT32) + fn("where", up, k.lift(1.0, FLOAT32), 0.0)
        times.append(k.let(f"t_{'xyz'[a]}", (wall - r.o[a]) / r.d[a]))
        spans.append(k.let(f"dt_{'xyz'[a]}", 1.0 / abs(r.d[a])))
    return _voxel_walk_stored(k, way, stop, cells, at, steps, times, spans, r, c, n, shape)


def _voxel_walk_stored(
    k: KernelBuilder,
    way: str,
    stop: Var,
    cells: Var,
    at: list[Var],
    steps: list[Var],
    times: list[Var],
    spans: list[Var],
    r: Ray,
    c: Crowd,
    n: int,
    shape: Stream,
) -> Title:
    """What :func:`voxel_walk` stores, and its text."""
    t = k.let("t travelled", k.lift(0.0, FLOAT32))
    start = {"sum": k.lift(0.0, FLOAT32), "first": k.lift(-1, INT32), "count": k.lift(0, INT32)}
    found = k.let({"first": "found", "count": "seen", "sum": "total"}[way], start[way])
    names = {"first": "target_label material_id", "count": "threshold min_level"}
    bound = k.scalar(names[way], INT32, 1, 3) if way != "sum" else found
    with k.for_("s step_i", stop) as s:
        if way == "first":
            with k.if_(fn("eq", cells[tuple(at)], bound)):
                k.assign(found, s)
                k.break_()
        elif way == "count":
            k.augment(found, "add", fn("where", cells[tuple(at)] > bound, k.lift(1, INT32), 0))
        _next_cell(k, (at, steps, times, spans), (t, found), cells, way)
        outs = [op("or", x < 0, x >= extent(cells, a)) for a, x in enumerate(at)]
        gone = outs[0]
        for o in outs[1:]:
            gone = op("or", gone, o)
        with k.if_(gone):
            k.break_()
    return _voxel_walk_ended(way, stop, r, cells, found, c, n, shape, t, k, bound)


def _voxel_walk_ended(
    way: str,
    stop: Var,
    r: Ray,
    cells: Var,
    found: Var,
    c: Crowd,
    n: int,
    shape: Stream,
    t: Var,
    k: KernelBuilder,
    bound: Var,
) -> Title:
    """What :func:`voxel_walk` stores at last, and its text."""
    said, outs, names = {
        "first": (
            f"the number of cells before the first one of {bound.name}, or -1,",
            "steps_out hit_steps",
            "voxel_raycast dda_first_hit",
        ),
        "count": (
            f"the number of cells above {bound.name}",
            "counts counts_out",
            "count_voxels_along_ray dda_count",
        ),
        "sum": (
            "the sum of the cells' values times the length in each",
            "optical_depth line_integrals",
            "voxel_line_integral dda_integrate",
        ),
    }[way]
    text = (
        f"Walk {r.said}, which starts in the grid, through the unit cells {cells.name} (axes x, y, "
        f"z), at most {stop.name}, until it leaves: always across the nearest wall (no direction "
        f"has a component of zero). Store {said} in {c.put(outs, found)}"
    )
    if way == "first" and shape.chance(0.6):
        text += f" and the distance to the last wall in {c.put('distances t_out', t)}"
    return Title(k.name(names), f"{text}.")


def _next_cell(
    k: KernelBuilder,
    walk: tuple[list[Var], list[Var], list[Var], list[Var]],
    kept: tuple[Var, Var],
    cells: Var,
    way: str,
) -> None:
    """Cross the nearest wall."""
    (at, steps, times, spans), (t, found) = walk, kept
    if way == "sum":
        soon = k.let("t_next t_wall", least(*times))
        k.augment(found, "add", cells[tuple(at)] * (soon - t))

    def cross(a: int) -> None:
        k.assign(t, times[a])
        k.augment(at[a], "add", steps[a])
        k.augment(times[a], "add", spans[a])

    if len(at) == 2:
        with k.if_(times[0] < times[1]):
            cross(0)
        with k.else_():
            cross(1)
        return
    with k.if_(op("and", times[0] < times[1], times[0] < times[2])):
        cross(0)
    with k.elif_(times[1] < times[2]):
        cross(1)
    with k.else_():
        cross(2)
