"""Fluids on grids: lattice Boltzmann, shallow water, pressure projection, vorticity."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.arithmetic.common import total
from generators.arithmetic.solvers.cells import Cells, Field, cells, wide_type
from generators.build import BodyBuilder, KernelBuilder, make
from generators.build.registry import Title, idiom
from generators.kit.functions import where
from generators.kit.naming import maybe_all, routine
from generators.kit.words import listed, say
from generators.program.dtypes import INT32, Scalar, Type, Vec
from generators.program.expr import Expr, Var, op

_SETTING = {"shared": 1}


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
    called = "half_inv_dx inv_2h" if scheme == "central" else "inv_dx inv_h"
    scale = c.setting(called, type_, 0.3, 1.2, _SETTING)
    names = list("xyz"[: c.rank])
    if way == "subtract":
        return _subtract_gradient(c, type_, scheme, scale, names)
    a, b = (0, 1) if c.rank == 2 else shape.choice(((0, 1), (1, 2), (2, 0)))
    flow = _velocity(c, type_, True, (a, b) if way == "curl" else range(c.rank))
    solid = c.field("solid mask", INT32, 0, 1) if level > 1 and shape.chance(0.35) else None
    out = c.out("div divergence" if way == "divergence" else "vorticity curl_out", type_)
    c.rim(out, k.lift(0.0, type_))
    # Faces lie before their cells: a divergence is in a cell, a curl on the edge before it.
    forward = way == "divergence"
    kind = "central" if scheme == "central" else "forward" if forward else "backward"
    if way == "divergence":
        parts = [_difference(v, c.rank - 1 - n, kind) for n, v in enumerate(flow)]
        named = {f"d{v.name}": part for v, part in zip(flow, parts, strict=True)}
        parts = maybe_all(k, named)
        value: Expr = scale * total(parts)
        told = f"The divergence along {listed(names)} (x being the last axis)"
    else:
        terms = {
            f"d{flow[1].name}_d{'xyz'[a]}": _difference(flow[1], c.rank - 1 - a, kind),
            f"d{flow[0].name}_d{'xyz'[b]}": _difference(flow[0], c.rank - 1 - b, kind),
        }
        first, second = maybe_all(k, terms)
        value = scale * (first - second)
        told = (
            f"The curl's component made of the derivative of {flow[1].name} along {names[a]} less "
        )
        told += f"that of {flow[0].name} along {names[b]} (x being the last axis)"
    of = f" of {listed([v.name for v in flow])}" if way == "divergence" else ""
    text = f"{told}{of}: {say(k, scale)} times the "
    return _pressure_projection_stored(kind, solid, value, k, out, c, text, way)


def _subtract_gradient(
    c: Cells, type_: Scalar, scheme: str, scale: Expr, names: list[str]
) -> Title:
    """The gradient of a pressure taken from a velocity."""
    k = c.k
    p = c.field("p pressure phi", type_, -1.0, 1.0, near=True)
    flow = _velocity(c, type_, False, range(c.rank), "inout")
    if c.edge == "interior":
        with k.if_(c.on_rim()):
            k.return_()
    kind = "central" if scheme == "central" else "backward"
    for n, v in enumerate(flow):
        change = scale * _difference(p, c.rank - 1 - n, kind)
        k.store(v.array, c.index((), wide=False), change, "sub")
    text = f"Subtract the gradient of {p.name} from {listed([v.name for v in flow])} in "
    text += f"place: along {listed(names)} (x being the last axis) each loses {say(k, scale)} "
    text += "times the difference of "
    text += "both neighbours" if kind == "central" else "the cell and the one before"
    return Title(
        k.name("subtract_gradient project_velocity"),
        f"{text}.{c.said('are left alone', p.name)}{c.laid()}",
    )


def _pressure_projection_stored(
    kind: str,
    solid: Field | None,
    value: Expr,
    k: KernelBuilder,
    out: Field,
    c: Cells,
    text: str,
    way: str,
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    text += (
        "differences of both neighbours, next less previous"
        if kind == "central"
        else "differences of the next cell and the cell"
        if kind == "forward"
        else "differences of the cell and the one before"
    )
    if solid is not None:
        value = where(op("ne", solid(), k.lift(0, INT32)), 0.0, k.let("value amount", value))
        text += f", 0 where {solid.name} is not 0"
    k.store(out.array, c.index((), wide=False), value)
    text += f". {out.name} gets it.{c.said('get 0', 'Each velocity')}{c.laid()}{c.finish()}"
    return Title(
        k.name("velocity_divergence" if way == "divergence" else "velocity_curl", f"compute_{way}"),
        text,
    )


@idiom
def shallow_water_step(k: KernelBuilder, level: int) -> Title:
    """A step of the shallow-water equations: Lax-Friedrichs on depth and momentum."""
    shape = k.draw.shape
    c = cells(k, level, {1: 3, 2: 5})
    type_ = wide_type(k)
    packed = shape.chance(0.35)
    size = c.rank + 1
    gravity = k.scalar("g gravity", type_, 9.0, 10.0)
    lam = c.setting("dt_dx lam", type_, 0.02, 0.08, _SETTING)
    if packed:
        q = c.field("q state", Vec(size, type_), 0.5, 1.5, near=True)
        outs = [c.out("q_new next_state", Vec(size, type_))]
        c.rim(outs[0], q())
        depth = "h"
        told = f"{_told(depth, ['hu', 'hv'][: size - 1])} in {q.name}"
    else:
        names = k.draw.word.choice(("h hu hv", "depth momentum_x momentum_y")).split()[:size]
        fields = [c.field(names[n], type_, 0.5, 1.5, near=True) for n in range(size)]
        outs = [c.out(f"{f.name}_new", type_) for f in fields]
        place = c.index((), wide=False)
        if c.edge == "interior":
            with k.if_(c.on_rim()):
                for f, made in zip(fields, outs, strict=True):
                    k.store(made.array, place, f())
                k.return_()
        depth, *rest = [f.name for f in fields]
        told = _told(depth, rest)
    if packed:
        values = [_vector_step(c, q, lam, gravity)]
    else:
        values = _scalar_steps(c, fields, lam, gravity)
    for made, value in zip(outs, values, strict=True):
        k.store(made.array, c.index((), wide=False), value)
    got = f"{', '.join([made.name for made in outs])} {'gets' if packed else 'get'} them"
    text = f"A Lax-Friedrichs step of the shallow-water equations for {told}: the mean of the "
    text += f"{2 * c.rank} neighbours less {say(k, lam)} / 2 times the difference of their fluxes "
    text += f"along each axis, with the pressure {gravity.name} * {depth}^2 / 2. {got}."
    text += f"{c.said(haloed=q.name if packed else 'Each of them')}{c.laid()}"
    return Title(k.name("shallow_water_step swe_lax_friedrichs", "shallow_water"), text)


def _told(depth: str, momenta: Sequence[str]) -> str:
    return f"the depth {depth} and the moment{'a' if len(momenta) > 1 else 'um'} {listed(momenta)}"


def _vector_step(c: Cells, q: Field, lam: Expr, gravity: Var) -> Expr:
    """The new state as a vector, with a function for the flux along each axis."""
    k, vec = c.k, q.array.type.element  # type: ignore[union-attr]
    assert isinstance(vec, Vec)
    beside, changes = list[Expr](), list[Expr]()
    for axis in range(c.rank):
        own = c.rank - axis

        def build(body: BodyBuilder, q: Expr, g: Expr, own: int = own) -> Expr:
            return make(vec, *_flux([q[n] for n in range(vec.size)], own, g))

        name = "flux" if c.rank == 1 else f"flux_{'xy'[own - 1]}"
        params: dict[str, Type] = {"q": vec, gravity.name: vec.scalar}
        flux = routine(k, 1.0, [name], params, build)
        low, high = (k.let([f"q_{c.side(axis, by)}"], q.near(axis, by)) for by in (-1, 1))
        beside += [low, high]
        changes.append(flux(high, gravity) - flux(low, gravity))
    mean = (0.5 / c.rank) * total(beside)
    return mean - 0.5 * lam * (changes[0] if c.rank == 1 else total(changes))


def _scalar_steps(c: Cells, fields: list[Field], lam: Expr, gravity: Var) -> list[Expr]:
    """The new depth and momenta, each on its own."""
    k, type_ = c.k, gravity.type
    params: dict[str, Type] = {"h": type_, "momentum": type_, gravity.name: type_}
    normal = routine(k, 0.7, "momentum_flux", params, lambda b, *args: _normal_flux(*args))
    means: list[Expr] = []
    changes: list[list[Expr]] = [[] for _ in fields]
    for axis in range(c.rank):
        low, high = _separate(c, fields, axis, -1), _separate(c, fields, axis, 1)
        means += [total([a, b]) for a, b in zip(low, high, strict=True)]
        own = c.rank - axis
        sides = (_flux(state, own, gravity, normal) for state in (low, high))
        fluxes = zip(*sides, strict=True)
        for n, (a, b) in enumerate(fluxes):
            changes[n].append(b - a)
    share, size = 0.5 / c.rank, len(fields)
    return [share * total(means[n::size]) - 0.5 * lam * total(changes[n]) for n in range(size)]


def _separate(c: Cells, fields: list[Field], axis: int, by: int) -> list[Expr]:
    """Depth and momentum of a neighbour, of an array each."""
    named = zip(("h", "hu", "hv"), fields, strict=False)
    return [c.k.let([f"{name}_{c.side(axis, by)}"], f.near(axis, by)) for name, f in named]


def _normal_flux(h: Expr, momentum: Expr, gravity: Expr) -> Expr:
    """The flux of a momentum along its own axis."""
    return momentum * momentum / h + 0.5 * gravity * h * h


def _flux(
    state: list[Expr], own: int, gravity: Expr, normal: Callable[..., Expr] = _normal_flux
) -> list[Expr]:
    """The flux of depth and momentum along the axis whose momentum is number ``own``."""
    h, along = state[0], state[own]
    across: list[Expr] = [along * state[n] / h for n in range(1, len(state))]
    across[own - 1] = normal(h, along, gravity)
    return [along, *across]
