"""Fluids on grids: lattice Boltzmann, shallow water, pressure projection, vorticity."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from generators.arithmetic.common import total
from generators.arithmetic.solvers.cells import Cells, Field, cells, wide_type
from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import where
from generators.kit.naming import BY_LEVEL, maybe, routine
from generators.kit.words import listed, say
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Operand, op

_SETTING = {"shared": 3, "literal": 1}
_D2Q9 = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
"""Steps (x, y) of the nine directions; 1 to 4 lie along the axes, 5 to 8 on diagonals."""
_OPPOSITE = (0, 3, 4, 1, 2, 7, 8, 5, 6)


class _Lattice:
    """Populations of a cell: directions first or last in one array."""

    def __init__(self, k: KernelBuilder, level: int, edge: str) -> None:
        self.k, shape = k, k.draw.shape
        self.c = Cells(k, 2, edge)
        self.type = wide_type(k)
        self.first = shape.chance(0.55)

    def array(self, names: str, role: str = "in") -> Field:
        c = self.c
        dims = ("9", *c.dims) if self.first else (*c.dims, "9")
        low, high = (None, None) if role == "out" else (0.05, 0.2)
        array = self.k.array(names, self.type, dims, role=role, low=low, high=high)
        return Field(c, array, wide=False)

    def at(self, f: Field, q: Operand, place: tuple[Operand, ...] | None = None) -> Expr:
        return f.array[self.place(q, place)]

    def place(self, q: Operand, place: tuple[Operand, ...] | None = None) -> tuple[Operand, ...]:
        here = self.c.at if place is None else place
        return (q, *here) if self.first else (*here, q)

    def said(self) -> str:
        order = "first" if self.first else "last"
        return (
            f"the nine directions are the {order} index: 0 at rest, 1 to 4 right, up, left, down, "
            "5 to 8 the "
            "diagonals from the upper right on, counterclockwise; up is the next row"
        )


@idiom
def lattice_boltzmann_collide(k: KernelBuilder, level: int) -> Title:
    """BGK collision on the D2Q9 lattice: moments, equilibrium, relaxation.

    Y. H. Qian, D. d'Humieres and P. Lallemand, Europhys. Lett. 17 (1992).
    """
    shape = k.draw.shape
    g = _Lattice(k, level, "clamp")
    c, type_ = g.c, g.type
    in_place = shape.chance(0.5)
    f = g.array("f populations dist", "inout" if in_place else "in")
    omega = c.setting("omega relax_rate", type_, 0.6, 1.7, {"shared": 4, "each": 2, "literal": 1})
    force = (
        k.scalar("force body_force", Vec(2, type_), -0.01, 0.01)
        if shape.chance(0.15 * level)
        else None
    )
    solid = c.field("solid is_wall", INT32, 0, 1) if level > 1 and shape.chance(0.4) else None
    out = f if in_place else g.array("f_post f_out post_collision", "out")
    if solid is not None:
        with k.if_(op("ne", solid(), k.lift(0, INT32))):
            if not in_place:
                for q in range(9):
                    k.store(out.array, g.place(q), g.at(f, q))
            k.return_()
    values = [k.let(f"f{q}", g.at(f, q)) for q in range(9)]
    rho = k.let("rho density", total(values))
    blended = shape.chance(0.4)
    kept = k.let("keep one_minus_omega", 1.0 - omega) if blended else None
    per_rho = k.let("inv_rho", 1.0 / rho) if shape.chance(0.5) else None
    flow = []
    for plus, minus in (((1, 5, 8), (3, 6, 7)), ((2, 5, 6), (4, 7, 8))):
        momentum = total([values[q] for q in plus]) - total([values[q] for q in minus])
        flow.append(momentum / rho if per_rho is None else momentum * per_rho)
    ux, uy = k.let("ux", flow[0]), k.let("uy", flow[1])
    if force is not None:
        ux, uy = k.let("ux_f vx", ux + force[0] / omega), k.let("uy_f vy", uy + force[1] / omega)
    still = k.let("usq base", 1.0 - 1.5 * (ux * ux + uy * uy))
    params = {"weight": type_, "rho": type_, "cu": type_, "base": type_}
    equilibrium = routine(
        k, 0.4 + 0.5 * BY_LEVEL[level], "equilibrium feq_of", params,
        lambda b, w, r, cu, base: w * r * (base + 3.0 * cu + 4.5 * cu * cu),
    )  # fmt: skip
    for q, (x, y) in enumerate(_D2Q9):
        weight = 0.4444444 if q == 0 else 0.1111111 if q < 5 else 0.02777778
        along = _along(x, y, ux, uy)
        if along is None:
            feq: Expr = weight * rho * still
        else:
            named = along if q < 3 else k.let(f"cu{q}", along)
            feq = equilibrium(k.lift(weight, type_), rho, named, still)
        new = values[q] + omega * (feq - values[q])
        if kept is not None:
            new = kept * values[q] + omega * feq
        k.store(out.array, g.place(q), new)
    text = f"BGK collision of the populations {f.name} on the D2Q9 lattice, where {g.said()}: "
    text += f"relax each with {say(k, omega)} towards its equilibrium (second order, weights 4/9, "
    text += "1/9, 1/36)"
    text += f", of the velocity plus {force.name} / {say(k, omega)}" if force is not None else ""
    text += f". Cells whose {solid.name} is not 0 stay as they are." if solid is not None else "."
    text += " It works in place." if in_place else f" {out.name} gets the result."
    return Title(k.name("lbm_collide bgk_collision", "collide_d2q9"), text)


def _along(x: int, y: int, ux: Expr, uy: Expr) -> Expr | None:
    """A direction's component of the velocity."""
    if not x and not y:
        return None
    if not y:
        return ux if x > 0 else -ux
    if not x:
        return uy if y > 0 else -uy
    if x > 0:
        return ux + uy if y > 0 else ux - uy
    return uy - ux if y > 0 else -ux - uy


@idiom
def lattice_boltzmann_stream(k: KernelBuilder, level: int) -> Title:
    """Populations pulled from the cells that they come from, turned back at walls."""
    shape = k.draw.shape
    g = _Lattice(k, level, shape.choice(("wrap", "clamp", "wrap")))
    c = g.c
    f = g.array("f f_post populations")
    way = shape.choice(("none", "solid", "solid", "moving"))
    solid = c.field("solid is_wall", INT32, 0, 1) if way != "none" else None
    speed = k.scalar("wall_speed lid_speed", g.type, 0.01, 0.1) if way == "moving" else None
    table = shape.chance(0.4)
    out = g.array("f_new f_next streamed", "out")
    if table:
        _stream_loop(g, f, out, solid, speed)
    else:
        for q, (x, y) in enumerate(_D2Q9):
            _pull(g, f, out, q, c.moved(0, -y), c.moved(1, -x), solid, speed)
    text = f"Streaming on the D2Q9 lattice: each population of {f.name} comes from the cell that "
    text += f"its direction points away from; {g.said()}."
    if solid is not None:
        text += (
            f" Where that cell's {solid.name} is not 0, the cell's own population of the opposite "
        )
        text += "direction comes back (half-way bounce-back)"
        text += f", plus {speed.name} times the direction's x over 6" if speed is not None else ""
        text += "."
    return Title(
        k.name("lbm_stream stream_pull", "propagate_d2q9"),
        f"{text} {out.name} gets them.{c.said()}",
    )


def _pull(
    g: _Lattice,
    f: Field,
    out: Field,
    q: int,
    y: Expr,
    x: Expr,
    solid: Field | None,
    speed: Expr | None,
) -> None:
    k = g.k
    pulled = g.at(f, q, (y, x))
    if solid is None or q == 0:
        k.store(out.array, g.place(q), pulled)
        return
    back = g.at(f, _OPPOSITE[q])
    step = _D2Q9[q][0]
    if speed is not None and step:
        back = back + speed / 6.0 if step > 0 else back - speed / 6.0
    with k.if_(op("ne", solid.array[(y, x)], k.lift(0, INT32))):
        k.store(out.array, g.place(q), back)
    with k.else_():
        k.store(out.array, g.place(q), pulled)


def _stream_loop(
    g: _Lattice, f: Field, out: Field, solid: Field | None, speed: Expr | None
) -> None:
    """The same as a loop over tables of the directions."""
    k, c = g.k, g.c
    steps = [k.array(f"c{a} e{a}", INT32, "9", low=-1, high=1) for a in "xy"]
    opposite = k.array("opposite opp", INT32, "9", low=0, high=8) if solid is not None else None
    ny, nx = c.size(0), c.size(1)
    with k.for_("q d", 9) as q:
        sources = []
        for here, size, step in zip(c.at, (ny, nx), (steps[1], steps[0]), strict=True):
            name = f"src_{here.name}"  # type: ignore[attr-defined]
            if c.edge == "wrap":
                sources.append(k.let(name, (here - step[q] + size) % size))
            else:
                sources.append(k.let(name, fn("clamp", here - step[q], 0, size - 1)))
        pulled = g.at(f, q, tuple(sources))
        if solid is None or opposite is None:
            k.store(out.array, g.place(q), pulled)
        else:
            with k.if_(op("ne", solid.array[tuple(sources)], k.lift(0, INT32))):
                back = g.at(f, opposite[q])
                if speed is not None:
                    back = back + speed * cast(steps[0][q], g.type) / 6.0
                k.store(out.array, g.place(q), back)
            with k.else_():
                k.store(out.array, g.place(q), pulled)


def _velocity(
    c: Cells, type_: Scalar, near: bool, axes: Sequence[int], role: str = "in"
) -> list[Field]:
    """A field for each of some components of a velocity."""
    letters = "uvw"
    stems = c.k.draw.word.choice((letters, [f"v{a}" for a in "xyz"]))
    return [
        c.field(stem, type_, -1.0, 1.0, near=near, role=role) for stem in (stems[n] for n in axes)
    ]


def _difference(f: Field, axis: int, way: str) -> Expr:
    """A difference along an axis: central ones are not yet halved."""
    if way == "central":
        return f.near(axis, 1) - f.near(axis, -1)
    if way == "forward":
        return f.near(axis, 1) - f()
    return f() - f.near(axis, -1)


@idiom
def pressure_projection(k: KernelBuilder, level: int) -> Title:
    """The divergence of a velocity, the gradient of a pressure subtracted, or a curl."""
    shape = k.draw.shape
    c = cells(k, level, {2: 5, 3: 1 + level})
    type_ = wide_type(k)
    way = shape.choice(("divergence", "subtract", "curl"))
    scheme = shape.choice(("central", "staggered"))
    scale = c.setting("half_inv_dx scale inv_dx", type_, 0.3, 1.2, _SETTING)
    names = [here.name for here in reversed(c.at)]  # type: ignore[attr-defined]
    if way == "subtract":
        p = c.field("p pressure phi", type_, -1.0, 1.0, near=True)
        flow = _velocity(c, type_, False, range(c.rank), "inout")
        if c.edge == "interior":
            with k.if_(c.on_rim()):
                k.return_()
        kind = "central" if scheme == "central" else "backward"
        for n, v in enumerate(flow):
            change = scale * _difference(p, c.rank - 1 - n, kind)
            k.store(v.array, c.index((), wide=False), change, "sub")
        text = f"The gradient of {p.name} subtracted from {listed([v.name for v in flow])} in "
        text += f"place: along {listed(names)} each loses {say(k, scale)} times the difference of "
        text += "both neighbours" if kind == "central" else "the cell and the one before"
        return Title(
            k.name("subtract_gradient project_velocity"),
            f"{text}.{c.said('are left alone', p.name)}{c.laid()}",
        )
    a, b = (0, 1) if c.rank == 2 else shape.choice(((0, 1), (1, 2), (2, 0)))
    flow = _velocity(c, type_, True, (a, b) if way == "curl" else range(c.rank))
    solid = c.field("solid mask", INT32, 0, 1) if level > 1 and shape.chance(0.35) else None
    out = c.out("div divergence" if way == "divergence" else "vorticity curl_out", type_)
    c.rim(out, k.lift(0.0, type_))
    kind = "central" if scheme == "central" else "forward"
    if way == "divergence":
        parts = [_difference(v, c.rank - 1 - n, kind) for n, v in enumerate(flow)]
        parts = [maybe(k, f"d{v.name}", part, 0.5) for v, part in zip(flow, parts, strict=True)]
        value: Expr = scale * total(parts)
        told = f"The divergence along {listed(names)}"
    else:
        first = maybe(
            k, f"d{flow[1].name}_d{'xyz'[a]}", _difference(flow[1], c.rank - 1 - a, kind), 0.5
        )
        second = maybe(
            k, f"d{flow[0].name}_d{'xyz'[b]}", _difference(flow[0], c.rank - 1 - b, kind), 0.5
        )
        value = scale * (first - second)
        told = f"The component of the curl made of {flow[1].name} along {names[a]} less "
        told += f"{flow[0].name} along {names[b]},"
    text = f"{told} of {listed([v.name for v in flow])}: {say(k, scale)} times the "
    text += (
        "differences of both neighbours"
        if kind == "central"
        else "differences of the cell behind and the cell"
    )
    if solid is not None:
        value = where(op("ne", solid(), k.lift(0, INT32)), 0.0, k.let("value amount", value))
        text += f", 0 where {solid.name} is not 0"
    k.store(out.array, c.index((), wide=False), value)
    text += f". {out.name} gets it.{c.said('get 0', 'Each component')}{c.laid()}{c.finish()}"
    return Title(
        k.name("velocity_divergence" if way == "divergence" else "velocity_curl", f"compute_{way}"),
        text,
    )


@idiom
def shallow_water_step(k: KernelBuilder, level: int) -> Title:
    """A step of the shallow-water equations: Lax-Friedrichs on conserved values, or linear."""
    shape = k.draw.shape
    c = cells(k, level, {1: 3, 2: 5})
    type_ = wide_type(k)
    packed = shape.chance(0.35)
    size = c.rank + 1
    gravity: Expr = (
        k.lift(9.81, type_) if shape.chance(0.5) else k.scalar("g gravity", type_, 1.0, 9.81)
    )
    lam = c.setting("dt_dx lam", type_, 0.02, 0.08, _SETTING)
    if packed:
        q = c.field("q state", Vec(size, type_), 0.5, 1.5, near=True)
        out = c.out("q_new next_state", Vec(size, type_))
        c.rim(out, q())
        states = partial(_unpacked, c, q, size)
    else:
        names = [["h", "depth"], ["hu", "momentum_x"], ["hv", "momentum_y"]][:size]
        fields = [c.field(names[n], type_, 0.5, 1.5, near=True) for n in range(size)]
        outs = [c.out(f"{f.name}_new", type_) for f in fields]
        place = c.index((), wide=False)
        if c.edge == "interior":
            with k.if_(c.on_rim()):
                for f, made in zip(fields, outs, strict=True):
                    k.store(made.array, place, f())
                k.return_()
        states = partial(_separate, c, fields)
    means: list[Expr] = []
    changes: list[list[Expr]] = [[] for _ in range(size)]
    for axis in range(c.rank):
        low, high = states(axis, -1), states(axis, 1)
        means += [total([a, b]) for a, b in zip(low, high, strict=True)]
        own = c.rank - axis
        for n, (a, b) in enumerate(
            zip(_flux(low, own, gravity), _flux(high, own, gravity), strict=True)
        ):
            changes[n].append(b - a)
    share = 0.5 / c.rank
    values = []
    for n in range(size):
        mean = share * total(means[n::size])
        values.append(mean - 0.5 * lam * total(changes[n]))
    where_ = c.index((), wide=False)
    if packed:
        k.store(out.array, where_, make(Vec(size, type_), *values))
        told, got = f"{q.name} = (h, hu{', hv' if size > 2 else ''})", f"{out.name} gets them"
    else:
        for made, value in zip(outs, values, strict=True):
            k.store(made.array, where_, value)
        told = listed([f.name for f in fields])
        got = f"{listed([made.name for made in outs])} get them"
    text = f"A Lax-Friedrichs step of the shallow-water equations with depth and momentum {told}: "
    text += f"the mean of the {2 * c.rank} neighbours less {say(k, lam)} / 2 times the difference "
    text += f"of their fluxes along each axis, with the pressure {say(k, gravity)} * h^2 / 2"
    haloed = q.name if packed else f"Each of {told}"
    text += f". {got}.{c.said(haloed=haloed)}{c.laid()}"
    return Title(k.name("shallow_water_step swe_lax_friedrichs", "shallow_water"), text)


def _tag(c: Cells, axis: int, by: int) -> str:
    return f"{'x' if axis == c.rank - 1 else 'y'}{'m' if by < 0 else 'p'}"


def _unpacked(c: Cells, q: Field, size: int, axis: int, by: int) -> list[Expr]:
    """Depth and momentum of a neighbour, of one vector."""
    state = c.k.let(f"q_{_tag(c, axis, by)}", q.near(axis, by))
    return [state[n] for n in range(size)]


def _separate(c: Cells, fields: list[Field], axis: int, by: int) -> list[Expr]:
    """Depth and momentum of a neighbour, of an array each."""
    named = zip(("h", "hu", "hv"), fields, strict=False)
    return [c.k.let(f"{name}_{_tag(c, axis, by)}", f.near(axis, by)) for name, f in named]


def _flux(state: list[Expr], own: int, gravity: Expr) -> list[Expr]:
    """The flux of depth and momentum along the axis whose momentum is number ``own``."""
    h = state[0]
    found: list[Expr] = [state[own]]
    for n in range(1, len(state)):
        carried = state[own] * state[n] / h
        found.append(carried + 0.5 * gravity * h * h if n == own else carried)
    return found
