"""Particles on grids, points in depth buffers, marks on nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul

from generators.atomic.parallel.parts import both
from generators.atomic.tally import INT64, UINT32, Tally, any_of, indices, threads
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import where
from generators.kit.sites import over
from generators.kit.sources import given
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Var

_QUANTITIES = (
    ("mass masses", "grid_mass cell_mass", "deposit_mass"),
    ("charge charges", "grid_charge cell_charge", "deposit_charge"),
    ("weight weights", "grid cell_weights", "deposit_weights"),
)
"""Names of what a particle has, of the grid that takes it, and of the kernel."""


class _Deposit(Tally):
    """Particles that give a quantity to the cells around them."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        shape = k.draw.shape
        self.real = k.draw.wide_float_type()
        axes = {1: (1, 2, 2), 2: (1, 2, 2), 3: (2, 2, 3)}.get(level, (2, 3, 3))
        self.axes = "xyz"[: shape.choice(axes)]
        self.shared = level >= 2 and (level > 2 or shape.chance(0.6))
        self.wrapped = level >= 3 and shape.chance(0.4)
        super().__init__(level, threads(k, "num_particles", 64, 90, "p i"), "Particles")
        span, self.high = (((8, 12), 13.5), ((5, 7), 8.0), ((3, 4), 4.8))[len(self.axes) - 1]
        self.grid = [k.size(f"n{a}", *span) for a in self.axes]
        self.parts, self.out, self.kernel = k.draw.value.choice(_QUANTITIES)

    def cells(self) -> tuple[list[Expr], list[Expr]]:
        """The cell of a particle, and how far into the cell it lies along each axis."""
        k, places = self.k, list[Expr]()
        if len(self.axes) > 1 and self.chance(0.7):
            vec = Vec(len(self.axes), self.real)
            point = self.let("pos pt", self.s.read("positions points", vec, 0.2, self.high))
            places = [point[c] for c in range(len(self.axes))]
        scale = k.scalar("inv_dx inv_h", self.real, 0.8, 0.95) if self.chance(0.6) else None
        cells, shares = [], list[Expr]()
        grid, share = k.draw.word.choice((("g", "f"), ("u", "w")))
        for c, axis in enumerate(self.axes):
            place = places[c] if places else self.s.read(f"pos_{axis}", self.real, 0.2, self.high)
            place = place if scale is None else place * scale
            place = self.let(f"{grid}{axis}", place, 1.0 if self.shared else 0.3)
            cell = self.let(f"i{axis}", cast(fn("floor", place), INT32))
            cells.append(self.define(f"i{axis}", cell))
            if self.shared:
                shares.append(self.let(f"{share}{axis}", place - cast(cell, self.real)))
        return cells, shares

    def amount(self) -> Expr:
        """What a particle gives."""
        if self.chance(0.25) and not self.shared:
            self.out, self.kernel = "counts cell_counts", "count_particles bin_particles"
            return self.k.lift(1, INT32)
        one = self.parts.split()[0]
        # Of particles that are all alike, cells that hold them whole have a number.
        alike = int(self.shared)
        value = given(self.s, one, self.real, 0.5, 2.0, each=4, shared=alike, many=self.parts)
        return self.let(f"{one}_p", value, 1.0)


@idiom(depth=4)
def particle_deposit(k: KernelBuilder, level: int) -> Title:
    """Particles on a grid: to the nearest cell, or shared linearly between neighbours."""
    d = _Deposit(k, level)
    cells, shares = d.cells()
    bounds = [k.size_param(f"num_{a}" if d.chance(0.3) else f"n{a}", f"n{a}") for a in d.axes]
    if not d.wrapped:
        ends = [bound - 1 if d.shared else bound for bound in bounds]
        pairs = zip(cells, ends, strict=True)
        d.skip(any_of([test for cell, end in pairs for test in (cell < 0, cell >= end)]))
    amount = d.amount()
    if not d.shared:
        d.into(d.out, d.grid, tuple(cells), amount)
        opening = "Deposit particles in the cells that hold them: for each particle "
    else:
        out = k.accumulator(d.out, d.real, d.grid)
        _share(d, out, cells, shares, amount, bounds)
        opening = "Cloud-in-cell deposit of particles on a grid: for each particle "
        if d.wrapped:
            d.notes.append(" The grid is periodic: cells wrap around. Positions are not negative.")
        if d.chance(0.3, 4):
            d.into("cell_counts", d.grid, tuple(_wrapped(d, cells, bounds)), 1)
    names = f"{d.kernel} cloud_in_cell" if d.shared else d.kernel
    return d.title(names, f"{opening}{d.s.where}, ")


def _wrapped(d: _Deposit, cells: Sequence[Expr], bounds: Sequence[Var]) -> list[Expr]:
    """Cells of a periodic grid; positions are not negative."""
    if not d.wrapped:
        return [*cells]
    return [c % n for c, n in zip(cells, bounds, strict=True)]


def _share(
    d: _Deposit,
    out: Var,
    cells: Sequence[Expr],
    shares: Sequence[Expr],
    amount: Expr,
    bounds: Sequence[Var],
) -> None:
    """A particle's amount, linearly between its cell and the next along each axis."""
    text = f"share {d.say(amount)} linearly, by how far into its cell the particle lies, between "
    own, few = d.place(out, tuple(cells)), len(cells) < 2
    around = (
        f"the {2 ** len(cells)} cells of {out.name} from {own[len(out.name) :]} on along all axes"
    )
    d.done.append(text + (f"{own} and the next cell" if few else around))
    if len(cells) > 1 and d.chance(0.6):
        _share_in_loops(d, out, cells, shares, amount, bounds)
        return
    k = d.k
    low, high = list[Expr](cells), list[Expr](c + 1 for c in cells)
    if d.wrapped:
        low = [k.let(f"{a}0", c) for a, c in zip(d.axes, _wrapped(d, low, bounds), strict=True)]
        high = [k.let(f"{a}1", c) for a, c in zip(d.axes, _wrapped(d, high, bounds), strict=True)]
    for corner in range(2 ** len(cells)):
        upper = [corner >> (len(cells) - 1 - axis) & 1 for axis in range(len(cells))]
        at = tuple(b if up else a for a, b, up in zip(low, high, upper, strict=True))
        parts = [f if up else 1.0 - f for f, up in zip(shares, upper, strict=True)]
        k.atomic("add", out, at, reduce(mul, [amount, *parts]))


def _share_in_loops(
    d: _Deposit,
    out: Var,
    cells: Sequence[Expr],
    shares: Sequence[Expr],
    amount: Expr,
    bounds: Sequence[Var],
) -> None:
    """The same by loops over the two cells of each axis."""
    k = d.k

    def axis(n: int, weight: Expr, at: list[Expr]) -> None:
        name = d.axes[n]
        with k.for_(f"d{name}", 2) as step:
            part = where(fn("eq", step, 0), 1.0 - shares[n], shares[n])
            cell = cells[n] + step
            cell = cell % bounds[n] if d.wrapped else cell
            if n + 1 < len(cells):
                inner = k.let(f"part_{name}", weight * part)
                axis(n + 1, inner, [*at, cell])
            else:
                k.atomic("add", out, (*at, cell), weight * part)

    axis(0, amount, [])


class _Depth(Tally):
    """Points that are drawn into a depth buffer."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        self.real = k.draw.wide_float_type()
        span = (5, 7) if level < 3 else (12, 15)
        self.image = (k.size("height", *span), k.size("width", *span))
        super().__init__(level, threads(k, "num_points", 140, 170, "i p"), "Points")

    def given_pixel(self) -> tuple[Expr, Expr, Expr]:
        """Depth, row and column as they are."""
        z = self.let("z", self.s.read("depth depths", self.real, 0.5, 9.0), 1.0)
        names = self.k.draw.word.choice((("pixel_x", "pixel_y"), ("px", "py")))
        x, y = (
            self.s.read(name, INT32, init=f"index_of:{size}")
            for name, size in zip(names, ("width", "height"), strict=True)
        )
        return z, self.let("v", y), self.let("u", x)

    def projected(self) -> tuple[Expr, Expr, Expr, list[Expr]]:
        """Depth, row and column of a point in camera space, by a pinhole camera; its bounds."""
        k = self.k
        if self.level < 3:
            z = self.let("z", self.s.read("depth depths", self.real, 0.5, 9.0), 0.6)
            x = self.s.read("x", self.real, -0.6, 6.2)
            y = self.s.read("y", self.real, -0.6, 5.2)
            about: tuple[Expr, Expr] = (x, y)
        else:
            points = self.s.read("points cam_points", Vec(3, self.real), -2.0, 4.0)
            p = self.let("point cam_point", points)
            z = self.let("z", p[2])
            near = k.scalar("near z_near", self.real, 0.8, 2.0)
            self.skip(z < near, f"{self.say(z)} < {near.name}")
            fx, fy = (k.scalar(f"f{a}", self.real, 3.0, 9.0) for a in "xy")
            cx, cy = (k.scalar(f"c{a}", self.real, 2.0, 7.0) for a in "xy")
            about = (fx * p[0] / z + cx, fy * p[1] / z + cy)
        snap = self.pick("floor", "rint")
        u = self.define("u", self.let("u", cast(fn(snap, about[0]), INT32)))
        v = self.define("v", self.let("v", cast(fn(snap, about[1]), INT32)))
        ends = [k.size_param("width", "width"), k.size_param("height", "height")]
        return z, v, u, [*ends]


@idiom(depth=4)
def depth_buffer(k: KernelBuilder, level: int) -> Title:
    """Points into a depth buffer that keeps the nearest: given pixels, projected ones, disks."""
    t = _Depth(k, level)
    counted, flat, ends = t.chance(0.3), t.chance(0.3), list[Expr]()
    if level == 1 or (level == 2 and t.chance(0.4)):
        z, v, u = t.given_pixel()
        if t.chance(0.3, 2):
            t.skip(z < k.scalar("near z_near", t.real, 2.0, 4.5))
        if flat:
            ends = [k.size_param("width", "width")]
    else:
        z, v, u, ends = t.projected()
    opening = f"Depth buffer of points, of which the nearest wins: for each point {t.s.where}, "
    if level >= 4 and t.chance(0.7):
        return _splats(t, (z, v, u), ends, opening)
    if len(ends) > 1:
        t.skip(any_of([u < 0, u >= ends[0], v < 0, v >= ends[1]]), "u or v lies outside")
    dims = "height*width" if flat else t.image
    place = (v * ends[0] + u,) if flat else (v, u)
    t.into("zbuffer depth_map depth_buffer", dims, place, z, "min", "100.0")
    if counted:
        t.into("overdraw num_points_seen", dims, place, 1)
    return t.title("render_depth splat_points depth_test", opening)


def _splats(t: _Depth, at: tuple[Expr, Expr, Expr], ends: list[Expr], opening: str) -> Title:
    """A square or a disk of pixels for each point."""
    k, (z, v, u) = t.k, at
    r = k.scalar("radius splat_radius", INT32, 1, 2)
    out = k.accumulator("zbuffer depth_map depth_buffer", t.real, t.image, "100.0")
    disk = t.chance(0.5)
    with k.for_("dy", r + 1, start=-r) as dy, k.for_("dx", r + 1, start=-r) as dx:
        row, col = k.let("row y", v + dy), k.let("col x", u + dx)
        tests: list[Expr] = [row >= 0, row < ends[1], col >= 0, col < ends[0]]
        if disk:
            tests.append(fn("le", dx * dx + dy * dy, r * r))
        with k.if_(both(*tests)):
            k.atomic("min", out, (row, col), z)
    where_ = "disk" if disk else "square"
    t.done.append(
        f"lower {out.name} to z at all pixels inside of the image in a {where_} of {r.name} pixels "
        "around row v and column u"
    )
    t.defined.append(f"z = {t.say(z)}")
    return t.title("splat_disks splat_points" if disk else "splat_squares splat_points", opening)


_MARKS = {
    "last": ("max", "last_seen last_visit", "mark_last_seen"),
    "first": ("min", "first_seen first_visit", "mark_first_seen"),
    "owner": ("cas", "owner claimed_by", "claim_nodes"),
    "lowest": ("min", "claimed_by lowest_agent", "claim_by_lowest"),
    "or": ("or", "node_flags marks", "flag_nodes"),
    "count": ("add", "visit_counts visits", "count_visits"),
}


@idiom(depth=2)
def visit_marks(k: KernelBuilder, level: int) -> Title:
    """Marks on the nodes that entries visit: claims, flags, first and last times, counts."""
    shape = k.draw.shape
    paths = level >= 2 and shape.chance(0.5)
    if paths:
        s = over(k, "num_walks walk_length", indices(k, "w walk", "i step"), ((6, 8), (7, 9)))
    else:
        s = threads(k, "num_visits", 36, 56)
    t = Tally(level, s, "Visits")
    k.size("num_nodes", 70, 95)
    array = "walks paths" if paths else "visited_nodes node_ids"
    node = t.let("node v", s.read(array, INT32, init="index_of:num_nodes"))
    what = shape.choice(("last", "first", "lowest", "owner", "or", "count"))
    how, outs, name = _MARKS[what]
    value, start = _mark(t, what)
    t.into(outs, "num_nodes", node, value, how, start)
    if what != "count" and t.chance(0.4):
        t.into("visit_counts visits", "num_nodes", node)
    each = f"({s.where})" if paths else s.where
    where_ = "step of a walk" if paths else "visit"
    where_ = "step of an agent's walk" if paths and what == "lowest" else where_
    about = {
        "last": "Last time at which each node was visited",
        "first": "First time at which each node was visited",
        "owner": "Claim the free nodes among those that are visited",
        "lowest": "Claim each node for the agent of the lowest number that visits it",
        "or": "Set a flag on all nodes that are visited",
        "count": "Count the visits of each node",
    }[what]
    return t.title(name, f"{about}: for each {where_} {each}, ")


def _mark(t: Tally, what: str) -> tuple[Expr, object]:
    """What a visit writes, and what nodes hold before."""
    k, s = t.k, t.s
    if what == "count":
        return k.lift(1, t.k.draw.shape.choice((INT32, UINT32, INT64))), 0
    if what == "or":
        return k.scalar("flag color_bit", UINT32, 1, 128), 0
    if what == "owner":
        return k.scalar("agent_id color", INT32, 1, 99), 0
    if what == "lowest":
        agent = s.at[0] if s.rank == 2 else s.read("agent_ids agents", INT32, 0, 99)
        return agent, 10**9
    if s.rank == 2:
        return s.at[1], -1 if what == "last" else 10**9
    times = s.read("times visit_times", INT32, 1, 9999)
    return t.let("time", times, 0.5), -1 if what == "last" else 10**9
