"""Contacts and crowds: grains that touch, flocks, walks through the cells of a neighbour grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, least, most, sqrt
from generators.kit.sources import zero
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var, op
from generators.vector.simulation.parts import AXES, Crowd, Points, crowd, others, points_of


@idiom
def granular_contact(k: KernelBuilder, level: int) -> Title:
    """Grains that overlap: a spring and a damper along the normal, Coulomb friction across."""
    c = crowd(k, level, flat=0.6)
    p = c.points("positions pos x", 0.0, 2.5)
    v = c.points("velocities vel v", -1.0, 1.0)
    each = c.shape.chance(0.6)
    radii = c.array("radii radius r", c.scalar, 0.4, 0.7) if each else None
    size = None if each else k.scalar("diameter contact_dist d0", c.scalar, 0.8, 1.3)
    kn = k.scalar("k_n stiffness ke", c.scalar, 2.0, 6.0)
    kd = k.scalar("damping k_d gamma_n", c.scalar, 0.8, 2.0) if c.shape.chance(0.6) else None
    said = ""
    rub = kd is None or c.chance(0.8, 2)
    mine, speed = k.let("xi pos_i own_pos", p.at(*c.at)), k.let("vi own_vel", v.at(*c.at))
    force = k.let("force f fi", zero(c.vec))
    with others(c, p, True) as j:
        d = k.let("d delta n_vec", mine - p.at(*c.place(j)))
        dist = k.let("dist r_ij", fn("length", d))
        if radii is not None:
            depth = k.let("overlap depth", radii[c.at] + radii[c.place(j)] - dist)
        else:
            assert size is not None
            depth = k.let("overlap depth", size - dist)
        with k.if_(depth > 0.0):
            n = k.let("n normal", fn("normalize", d))
            rel = k.let("vij rel_vel dv", speed - v.at(*c.place(j)))
            vn = dot(rel, n)
            if kd is not None or c.shape.chance(0.4):
                vn = k.let("vn v_normal", vn)
            push = kn * depth if kd is None else kn * depth - kd * vn
            fnorm = k.let("f_n normal_force", push if kd is None else most(push, 0.0))
            k.augment(force, "add", fnorm * n)
            if rub:
                said = _friction(c, force, rel - vn * n, fnorm)
    touching = f"the sum of {radii.name}" if radii is not None else str(size and size.name)
    return _granular_contact_stored(kn, kd, v, touching, p, c, rub, said, force, k)


def _granular_contact_stored(
    kn: Var,
    kd: Var | None,
    v: Points,
    touching: str,
    p: Points,
    c: Crowd,
    rub: bool,
    said: str,
    force: Var,
    k: KernelBuilder,
) -> Title:
    """What :func:`granular_contact` stores, and its text."""
    law = f"{kn.name} * overlap"
    law = f"max({law} - {kd.name} * vn, 0)" if kd is not None else law
    vn_said = f", vn the normal part of their relative velocity by {v.name}" if kd else ""
    text = (
        f"Compute the contact forces of grains. For each grain, over {c.told[0]} but itself that "
        f"it overlaps ({touching} exceeds the distance in {p.name}), sum the force {law} * n, n "
        f"being the direction from the other to it{vn_said}. "
    )
    if rub:
        text += said.format(v.name)
    text += f"{c.put('forces force_out contact_forces', force)} gets the sum."
    return Title(k.name("granular_contact dem_contacts grain_forces"), text)


def _friction(c: Crowd, force: Var, across: Expr, load: Expr) -> str:
    """Friction against the sliding velocity, at most Coulomb's; its sentence."""
    k = c.k
    vt = k.let("vt v_tangent", across)
    mu = k.scalar("mu friction", c.scalar, 0.2, 0.6)
    rate = k.scalar("k_t shear_damping gamma_t", c.scalar, 0.5, 3.0)
    slide = k.let("slip vs vt_len", fn("length", vt))
    grip = c.maybe("ft f_t grip", least(rate * slide, mu * load))
    k.augment(force, "sub", grip * fn("normalize", vt))
    return (
        f"Coulomb friction subtracts min({rate.name} * |vt|, {mu.name} * the normal force) "
        f"along the direction of vt, the tangential relative velocity by {{}}. "
    )


@idiom
def flocking(k: KernelBuilder, level: int) -> Title:
    """Boids: keep apart, match the neighbours' velocity, move to their middle."""
    c = crowd(k, level, flat=0.5, sizes=(66, 80))
    p = c.points("positions pos x", -0.8, 0.8)
    v = c.points("velocities vel v", -1.0, 1.0)
    # Near enough that some see nobody.
    listed = len(c.dims) == 1 and c.shape.chance(0.25)
    wide = (0.155 if c.vec.size == 2 else 0.3) * (2.5 if listed else 1.0)
    wide *= 1.2 if len(c.dims) > 1 else 1.0
    reach = k.scalar("radius view_radius perception", c.scalar, wide, 1.6 * wide)
    near = k.scalar("min_dist avoid_radius personal", c.scalar, 0.75 * wide, 0.98 * wide)
    return _flocking_stored(k, (p, v), c, reach, near, listed)


def _flocking_stored(
    k: KernelBuilder, of: tuple[Points, Points], c: Crowd, reach: Var, near: Var, listed: bool
) -> Title:
    """What :func:`flocking` stores, and its text."""
    p, v = of
    mine, speed = k.let("xi pos_i own_pos", p.at(*c.at)), k.let("vi own_vel", v.at(*c.at))
    apart = k.let("apart separation", zero(c.vec))
    heading = k.let("heading vel_sum", zero(c.vec))
    middle = k.let("center_sum pos_sum", zero(c.vec))
    law, pushed = c.shape.choice(_PUSHES)
    count = k.let("seen num_seen", k.lift(0, INT32 if c.shape.chance(0.5) else c.scalar))
    with others(c, p, True, {"rows": 1} if listed else {"all": 1}) as j:
        there = k.let("xj pj", p.at(*c.place(j)))
        d = k.let("d away delta", mine - there)
        dist = k.let("dist r", fn("length", d))
        with k.if_(dist < reach):
            k.augment(heading, "add", v.at(*c.place(j)))
            k.augment(middle, "add", there)
            k.augment(count, "add", 1)
            with k.if_(dist < near):
                k.augment(apart, "add", pushed(d, dist))
    called = k.draw.word.choice(("{}_weight", "w_{}"))
    kinds = ("separate", "align", "cohere")
    weights = [k.scalar(called.format(kind), c.scalar, 0.2, 1.0) for kind in kinds]
    steer = k.let("steer accel a", weights[0] * apart)
    with k.if_(count > 0):
        share = k.let("inv_count inv_m", 1.0 / cast(count, c.scalar))
        k.augment(steer, "add", weights[1] * (share * heading - speed))
        k.augment(steer, "add", weights[2] * (share * middle - mine))
    whom = c.told[0].replace("all particles", "all boids")
    text = (
        f"Steer boids. For each boid, look at {whom} but itself with |d| < {reach.name}, d "
        f"leading from the other to it in {p.name}. Its steering is {weights[0].name} times "
        f"the sum of {law} over those of them nearer than {near.name}, plus, where it sees any, "
        f"{weights[1].name} times (their mean of {v.name} less its own) and {weights[2].name} "
        f"times (their mean position less its own). "
    )
    return Title(k.name("flocking boids_step boid_steering"), text + _steered(c, speed, steer))


_PUSHES: tuple[tuple[str, Callable[[Expr, Expr], Expr]], ...] = (
    ("d / |d|, 0 of those at its own place,", lambda d, _: fn("normalize", d)),
    ("d / (|d|^2 + 1e-4)", lambda d, dist: d / (dist * dist + 1.0e-4)),
)
"""How a boid is pushed away from one that is too near."""


def _steered(c: Crowd, speed: Var, steer: Var) -> str:
    """The steering, or the velocity that follows from it, no faster than allowed."""
    k = c.k
    if c.shape.chance(0.4):
        return f"Store the steering in {c.put('steering accel_out', steer)}."
    dt = k.scalar("dt time_step", c.scalar, 0.05, 0.2)
    found = k.let("v_new moved", speed + dt * steer)
    text = f"gets the velocity plus {dt.name} times the steering"
    if c.chance(0.6, 2):
        top = k.scalar("max_speed v_max", c.scalar, 0.5, 0.9)
        fast = k.let("speed v_len", fn("length", found))
        with k.if_(fast > top):
            k.augment(found, "mul", top / fast)
        text += f", shortened to length {top.name} where it is faster"
    return f"{c.put('new_velocities vel_out v_next', found)} {text}."


def _cells(k: KernelBuilder, size: int) -> tuple[list[str], Var, Var]:
    """The grid of cells: its sides, where each cell's particles start, and their ids."""
    names = ("nx", "ny", "nz")[:size]
    sides = [k.size(s, 4, 5) if size == 2 else k.size(s, 3, 3) for s in names]
    count = k.draw.value.integer(90, 120)
    total = k.size("m", count, count, minimum=count)
    cells = "*".join(sides)
    starts = k.array("cell_start cell_begin", INT32, f"{cells}+1", init="sorted", low=0, high=count)
    ids = k.array("sorted_ids particle_ids cell_items", INT32, total, init="permutation")
    return sides, starts, ids


@idiom
def cell_walk(k: KernelBuilder, level: int) -> Title:
    """The 9 or 27 cells around a query of a grid of cells with starts and counts."""
    shape = k.draw.shape
    size = 3 if shape.chance(0.35) else 2
    vec = Vec(size, FLOAT32)
    k.size("q", 30, 44)
    at = k.thread("q", names=(k.name("i tid qi"),))
    c = Crowd(k, level, vec, ("q",), at)
    sides, starts, ids = _cells(k, size)
    probes = c.points("queries probes points", 0.0, float(3 + (size == 2)))
    p = points_of(k, vec, "positions pos x", 0.0, float(3 + (size == 2)), ("m",), level)
    width = k.scalar("inv_cell inv_width", FLOAT32, 0.8, 1.25) if shape.chance(0.5) else None
    here = k.let("x xi here", probes.at(*at))
    cells = _home(c, here, width)
    way = shape.choice(("count", "nearest", "sum"))
    # No farther than the width of a cell: the cells around hold all that is so near.
    reach = k.scalar("radius reach h", FLOAT32, 0.6, 0.8)
    start = {"count": k.lift(0, INT32), "nearest": reach * reach, "sum": k.lift(0.0, FLOAT32)}
    best = k.let(
        {"count": "seen hits", "nearest": "best d2_min", "sum": "total acc"}[way], start[way]
    )
    who = k.let("best_id nearest", k.lift(-1, INT32)) if way == "nearest" else None
    bounds = [k.size_param(f"n{AXES[a]} dim_{AXES[a]}", s) for a, s in enumerate(sides)]
    _around(c, cells, bounds, (starts, ids), (p, here, reach), (best, who, way))
    return _found(c, (p, probes, reach), (starts, ids), (best, who, way), width)


def _home(c: Crowd, here: Expr, width: Expr | None) -> list[Var]:
    """The cell of a place."""
    scaled = [here[a] if width is None else width * here[a] for a in range(c.vec.size)]
    if width is not None and c.shape.chance(0.5):
        whole = c.k.let("s scaled", width * here)
        scaled = [whole[a] for a in range(c.vec.size)]
    return [c.k.let(f"c{AXES[a]} cell_{AXES[a]}", cast(s, INT32)) for a, s in enumerate(scaled)]


def _around(
    c: Crowd,
    cells: list[Var],
    bounds: list[Var],
    lists: tuple[Var, Var],
    near: tuple[Points, Var, Expr],
    found: tuple[Var, Var | None, str],
) -> None:
    """The loops over the cells around one, as far as they lie within the grid."""
    k = c.k
    clipped = c.shape.chance(0.5)
    if not clipped:
        _offsets(c, cells, bounds, lists, near, found)
        return
    ranges = [
        (most(cell - 1, 0), least(cell + 2, bound))
        for cell, bound in zip(cells, bounds, strict=True)
    ]
    spans = list(zip(("gx", "gy", "gz"), ranges, strict=False))[::-1]
    with ExitStack() as stack:
        at = [stack.enter_context(k.for_(n, stop, start=first)) for n, (first, stop) in spans]
        flat: Expr = at[0]
        for a, inner in enumerate(at[1:], 2):
            flat = flat * bounds[len(at) - a] + inner
        _cell(c, flat, lists, near, found)


def _offsets(
    c: Crowd,
    cells: list[Var],
    bounds: list[Var],
    lists: tuple[Var, Var],
    near: tuple[Points, Var, Expr],
    found: tuple[Var, Var | None, str],
) -> None:
    """The same by offsets of -1 to 1 and a test of bounds."""
    k = c.k
    with k.for_("dy oy", 2, start=-1) as oy, k.for_("dx ox", 2, start=-1) as ox:
        x, y = k.let("gx", cells[0] + ox), k.let("gy", cells[1] + oy)
        tests = [x >= 0, x < bounds[0], y >= 0, y < bounds[1]]
        if len(cells) == 2:
            with k.if_(_all(tests)):
                _cell(c, y * bounds[0] + x, lists, near, found)
            return
        with k.for_("dz oz", 2, start=-1) as oz:
            z = k.let("gz", cells[2] + oz)
            with k.if_(_all([*tests, z >= 0, z < bounds[2]])):
                _cell(c, (z * bounds[1] + y) * bounds[0] + x, lists, near, found)


def _all(tests: Sequence[Expr]) -> Expr:
    whole = tests[0]
    for test in tests[1:]:
        whole = op("and", whole, test)
    return whole


def _cell(
    c: Crowd,
    cell: Expr,
    lists: tuple[Var, Var],
    near: tuple[Points, Var, Expr],
    found: tuple[Var, Var | None, str],
) -> None:
    """The particles of one cell."""
    k, (starts, ids), (p, here, reach), (best, who, way) = c.k, lists, near, found
    at = k.let("cell c_id", cell)
    first: Expr = starts[at]
    stop: Expr = starts[at + 1]
    if c.shape.chance(0.5):
        first, stop = k.let("begin first", first), k.let("end last", stop)
    with k.for_("s slot m_i", stop, start=first) as s:
        j = k.let("j other", ids[s])
        d = c.maybe("d delta", p.at(j) - here, 0.6)
        d2 = k.let("d2 dist_sq", dot(d, d) if isinstance(d, Var) else fn("length_sq", d))
        if who is not None:
            with k.if_(d2 < best):
                k.assign(best, d2)
                k.assign(who, j)
        else:
            with k.if_(d2 < reach * reach):
                k.augment(best, "add", 1 if way == "count" else reach * reach - d2)


def _found(
    c: Crowd,
    near: tuple[Points, Points, Expr],
    lists: tuple[Var, Var],
    found: tuple[Var, Var | None, str],
    width: Expr | None,
) -> Title:
    (p, probes, reach), (starts, ids), (best, who, way) = near, lists, found
    assert isinstance(reach, Var)
    scale = f"{width.name} * " if isinstance(width, Var) else ""
    text = (
        f"Search a cell grid around each query point of {probes.name}. Walk the {3**c.vec.size} "
        f"cells around its own, int({scale}point), as far as they lie in the grid (x runs "
        f"fastest; cells are {reach.name} wide at least); a cell's particles are "
        f"those in {ids.name} from its {starts.name} up to the next one's. "
    )
    if who is not None:
        text += f"Store the index of the nearest in {p.name} within {reach.name}, or -1, in "
        text += c.put("nearest_ids nearest_out", who)
        if c.chance(0.6, 2):
            text += f", and its distance, or {reach.name}, in "
            text += c.put("nearest_dist dist_out", sqrt(best))
        return Title(c.k.name("nearest_in_cells grid_nearest"), f"{text}.")
    what, outs = "the number", "counts_out neighbor_counts num_found"
    names = "count_neighbors grid_neighbor_count neighbor_counts_grid"
    if way == "sum":
        what, outs = f"the sum of {reach.name}^2 - d^2", "weights_out kernel_sums"
        names = "kernel_sums grid_kernel_sum"
    text += f"{c.put(outs, best)} gets {what} of those within {reach.name} in {p.name}."
    return Title(c.k.name(names), text)
