"""Between particles and grids: what a particle takes from nodes, and a node from particles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most, where
from generators.kit.naming import routine
from generators.kit.sources import zero
from generators.program.dtypes import INT32, Array, Vec
from generators.program.expr import Expr, Var
from generators.vector.simulation.parts import Crowd, crowd, index, points_of

Bump = Callable[..., Expr]


def _linear(b: BodyBuilder, d: Expr) -> Expr:
    return 1.0 - abs(d)


def _quadratic(b: BodyBuilder, d: Expr) -> Expr:
    far = b.let("u dist_1d", abs(d))
    rest = b.let("rest t", 1.5 - far)
    return where(far < 0.5, 0.75 - far * far, 0.5 * rest * rest)


def _cubic(b: BodyBuilder, d: Expr) -> Expr:
    far = b.let("u dist_1d", abs(d))
    rest = b.let("rest t", 2.0 - far)
    near = 0.5 * far * far * far - far * far + 0.6666667
    return where(far < 1.0, near, rest * rest * rest / 6.0)


_BUMPS: dict[str, tuple[Bump, int, float, str]] = {
    "linear": (_linear, 2, 0.0, "1 - |u|"),
    "quadratic": (_quadratic, 3, 0.5, "the quadratic B-spline of u"),
    "cubic": (_cubic, 4, 1.0, "the cubic B-spline of u"),
}
"""By name: the weight of an offset, how many nodes along an axis it reaches, what a place is less
before it is cut to the first of them, and its text."""


@contextmanager
def _nodes(
    c: Crowd, kind: str, x: Expr, weigh: Bump
) -> Iterator[tuple[tuple[Expr, ...], Expr, list[Expr]]]:
    """A loop over the nodes around a place: their indices, weights and offsets."""
    k = c.k
    _, reach, less, _ = _BUMPS[kind]
    bases = [
        k.let(f"base_{a} {a}0", cast(x[n] - less if less else x[n], INT32))
        for n, a in enumerate("xyz"[: c.vec.size])
    ]
    loops = k.draw.word.choice(("a b c", "di dj dk", "ox oy oz")).split()
    with k.for_(loops[0], reach) as i, k.for_(loops[1], reach) as j:
        at: tuple[Expr, ...] = (k.let("ix gi", bases[0] + i), k.let("iy gj", bases[1] + j))
        away: list[Expr] = [x[n] - cast(at[n], c.scalar) for n in range(2)]
        if c.vec.size == 3:
            with k.for_(loops[2], reach) as m:
                at = (*at, k.let("iz gk", bases[2] + m))
                away.append(x[2] - cast(at[2], c.scalar))
                weight = weigh(away[0]) * weigh(away[1]) * weigh(away[2])
                yield at, k.let("w weight", weight), away
        else:
            yield at, k.let("w weight", weigh(away[0]) * weigh(away[1])), away


def _weight(c: Crowd, kind: str, chance: float) -> Bump:
    """The weight along an axis; beyond the linear one always a helper, being used several times."""
    build = _BUMPS[kind][0]
    share = 1.0 if kind != "linear" else chance
    names = "linear_weight hat" if kind == "linear" else f"{kind}_weight {kind}_bspline"
    return routine(c.k, share, names, {"d": c.scalar}, build, "")


def _grid(c: Crowd) -> tuple[str, ...]:
    """Sizes of the grid, none smaller than drawn, since places are promised to lie within."""
    names = ("nx", "ny", "nz")[: c.vec.size]
    return (*c.dims[:-1], *(c.k.size(s, 8, 8, minimum=8) for s in names))


@idiom
def grid_to_particles(k: KernelBuilder, level: int) -> Title:
    """PIC, FLIP and APIC: the grid's velocity at a particle, how it changed, its affine part."""
    c = crowd(k, level, flat=0.65, sizes=(20, 32), member="p i tid", called="particles")
    kind = c.shape.weighted({"linear": 3, "quadratic": 4 * (level > 1), "cubic": level > 3})
    weigh = _weight(c, kind, 0.6)
    dims = _grid(c)
    p = c.points("positions pos xp", 1.5, 4.5)
    v_grid = k.array("grid_vel grid_v node_vel", c.vec, dims, low=-1.0, high=1.0)
    scale = k.scalar("inv_dx inv_h", c.scalar, 0.9, 1.1) if c.shape.chance(0.7) else None
    x = k.let("gx grid_pos x", p.at(*c.at) if scale is None else scale * p.at(*c.at))
    way = _way(c, kind)
    v = k.let("v vel picked", zero(c.vec))
    old = k.array("old_grid prev_grid", c.vec, dims, low=-1.0, high=1.0) if way == "flip" else None
    change = k.let("dv change", zero(c.vec)) if way == "flip" else None
    outer = [k.let(f"c{'xyz'[a]}", zero(c.vec)) for a in range(c.vec.size) if way == "apic"]
    with _nodes(c, kind, x, weigh) as (at, w, away):
        node = (*c.at[:-1], *at)
        there = c.maybe("gv node", v_grid[node], 1.0 if way != "pic" else 0.4)
        k.augment(v, "add", w * there)
        if old is not None and change is not None:
            k.augment(change, "add", w * (there - old[node]))
        for a, row in enumerate(outer):
            k.augment(row, "sub", w * away[a] * there)
    said = _BUMPS[kind][3]
    place = p.name if scale is None else f"{scale.name} * {p.name}"
    text = (
        f"Gather the grid's velocity {v_grid.name} at each particle, {place} being its place in "
        f"cells, all of its nodes inside: these are weighted by the product over the axes of "
        f"{said}, u being the place less the node's index. "
    )
    if change is not None and old is not None:
        return Title(k.name("grid_to_particles_flip flip_gather"), text + _flip(c, v, change, old))
    text += f"{c.put('velocities vel_out v_out', v)} gets the weighted sum."
    if outer:
        stem = c.shape.choice(("affine", "b_col"))
        names = [c.put(f"{stem}_{'xyz'[a]}", row) for a, row in enumerate(outer)]
        text += " For APIC's affine part, store the sums also weighted by -u along each axis in "
        text += f" {', '.join(names)}."
        return Title(k.name("apic_gather grid_to_particles_apic"), text)
    return Title(k.name("grid_to_particles gather_velocity g2p"), text)


def _way(c: Crowd, kind: str) -> str:
    """What else is gathered. Warp unrolls the loops over nodes: of 27 and more, a matrix each is
    minutes of compiling."""
    few = c.vec.size == 2 or kind == "linear"
    return c.shape.weighted(
        {"pic": 3, "flip": 3 * (c.level > 1), "apic": 2 * (few and c.level > 2)}
    )


def _flip(c: Crowd, v: Var, change: Var, old: Var) -> str:
    """FLIP's update, blended with PIC's."""
    blend = c.k.scalar("flip_ratio alpha blend", c.scalar, 0.8, 0.99)
    own = c.array("velocities vel v_in", c.vec, -1.0, 1.0)
    kept = blend * (own[c.at] + change) + (1.0 - blend) * v
    name = c.put("new_velocities vel_out v_new", kept)
    return (
        f"{name} gets {blend.name} * ({own.name} + what the grid changed since {old.name}, "
        f"gathered alike) + (1 - {blend.name}) * the gathered velocity."
    )


def _launch_nodes(k: KernelBuilder, level: int) -> Crowd:
    """A thread for each node of a grid."""
    size = 3 if level > 2 and k.draw.shape.chance(0.4) else 2
    dims = ("nx", "ny", "nz")[:size]
    span = (4, 5) if size == 3 else (6, 8)
    for d in dims:
        k.size(d, *span)
    names = k.draw.word.choice(("i j k", "gx gy gz", "ix iy iz")).split()
    at = k.thread(*dims, names=[k.name(n) for n in names[:size]])
    return Crowd(k, level, Vec(size, k.draw.wide_float_type()), dims, at)


@dataclass(frozen=True)
class _Binned:
    """Lists of the particles nearest to each node, in rows of which the first ones are in use."""

    c: Crowd
    ids: Var
    fill: Var

    @contextmanager
    def near(self, reach: int) -> Iterator[Var]:
        """A loop over the particles listed at the nodes around the thread's, those inside."""
        k, c = self.c.k, self.c
        names = c.k.draw.word.choice(("bi bj bk", "cx cy cz", "ni nj nk")).split()
        with ExitStack() as blocks:
            bins: tuple[Expr, ...] = ()
            for axis, i in enumerate(c.at):
                stop = least(i + (reach + 1), extent(self.fill, axis))
                around = k.for_(names[axis], stop, start=most(i - reach, 0))
                bins = (*bins, blocks.enter_context(around))
            s = blocks.enter_context(k.for_("s slot", self.fill[bins]))
            yield k.let("p q", self.ids[index(*bins, s)])


def _binned(c: Crowd) -> _Binned:
    k = c.k
    slots = k.size("q", 3, 3, minimum=3)
    init = "index_of:num_particles"
    ids = k.array("node_particles bin_ids", INT32, (*c.dims, slots), init=init)
    return _Binned(c, ids, k.array("fill num_listed", INT32, c.dims, low=0, high=3))


@idiom
def particles_to_grid(k: KernelBuilder, level: int) -> Title:
    """MPM's particle to grid in its gather form: a node sums mass and momentum near it."""
    c = _launch_nodes(k, level)
    k.size("num_particles", 20, 32)
    kind = c.shape.weighted({"linear": 3, "quadratic": 4 * (level > 1), "cubic": level > 3})
    weigh = _weight(c, kind, 0.6)
    reach = {"linear": 1.0, "quadratic": 1.5, "cubic": 2.0}[kind]
    p = points_of(k, c.vec, "positions pos xp", 0.0, 5.0, ("num_particles",))
    v = points_of(k, c.vec, "velocities vel vp", -1.0, 1.0, ("num_particles",))
    if c.shape.chance(0.6):
        heavy = k.array("masses mp", c.scalar, "num_particles", low=0.5, high=1.5)
    else:
        heavy = k.scalar("particle_mass p_mass", c.scalar, 0.5, 1.5)
    bins = _binned(c)
    node = k.let("node xi here", make(c.vec, *(cast(i, c.scalar) for i in c.at)))
    total = k.let("m_i mass_sum", zero(c.scalar))
    momentum = k.let("mv momentum", zero(c.vec))
    around = 2 if kind == "cubic" else 1
    with bins.near(around) as q:
        d = k.let("d offset u", p.at(q) - node)
        with _near(c, d, reach):
            weight = weigh(d[0]) * weigh(d[1])
            weight = weight * weigh(d[2]) if c.vec.size == 3 else weight
            wm = k.let("wm w", (heavy[q] if isinstance(heavy.type, Array) else heavy) * weight)
            k.augment(total, "add", wm)
            k.augment(momentum, "add", wm * v.at(q))
    text = (
        f"Sum the mass and momentum of particles at each node of a grid, w * {heavy.name} and "
        f"w * {heavy.name} * {v.name}: w is the product over the axes of {_BUMPS[kind][3]}, u the "
        f"offset of {p.name} from the node's index, where all |u| < {reach:g}. "
        f"Node m lists the first {bins.fill.name}[m] of its row of {bins.ids.name}, the particles "
        f"that m is nearest to; look at the lists up to {around} away along each axis. "
    )
    return _of_nodes(c, (total, momentum), text)


@contextmanager
def _near(c: Crowd, d: Expr, reach: float) -> Iterator[None]:
    far = fn("max_element", fn("abs", d))
    if c.shape.chance(0.5):
        with c.k.if_(far < reach):
            yield
    else:
        with c.k.if_(far >= reach):
            c.k.continue_()
        yield


def _of_nodes(c: Crowd, sums: tuple[Var, Var], text: str) -> Title:
    """What a node keeps of its sums."""
    k, (total, momentum) = c.k, sums
    mass_out = c.put("grid_mass node_mass", total)
    if c.shape.chance(0.4):
        text += f"Store them in {mass_out} and {c.put('grid_momentum node_mv', momentum)}."
        return Title(k.name("particles_to_grid p2g_gather gather_p2g"), text)
    small = k.lift(0.0, c.scalar)
    speed = k.let("v_i node_vel", zero(c.vec))
    with k.if_(total > small):
        k.assign(speed, momentum / total)
        said = "the momentum over it"
        if c.chance(0.5, 2):
            g, dt = k.scalar("gravity g", c.vec, -2.0, 2.0), k.scalar("dt", c.scalar, 0.01, 0.1)
            k.augment(speed, "add", dt * g)
            said += f" plus {dt.name} * {g.name}"
    text += f"Store the mass in {mass_out} and {said} in {c.put('grid_velocity node_v', speed)}, 0 "
    text += "where the mass is 0."
    return Title(k.name("particles_to_grid p2g_gather gather_p2g"), text)
