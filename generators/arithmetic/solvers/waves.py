"""Waves and heat: leapfrog with absorbing layers, Yee's fields, conduction through mixed matter."""

from __future__ import annotations

from generators.arithmetic.common import total
from generators.arithmetic.solvers.cells import Cells, Field, both_sides, cells, wide_type
from generators.build import KernelBuilder
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.words import listed, say
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Load, Var

_SETTING = {"shared": 1}


def _laplacian(u: Field, here: Expr, order: int) -> Expr:
    """The sum over the axes of second differences, of second or fourth order."""
    if order == 2:
        return total(both_sides(u)) - float(2 * u.cells.rank) * here
    near, far = total(both_sides(u)), total(both_sides(u, 2))
    share = 16.0 / 12.0
    return share * near - far / 12.0 - (2.5 * u.cells.rank) * here


def _told(k: KernelBuilder, value: Expr) -> str:
    """A setting in words, by its array alone where that is flat: it is of the cell itself."""
    return value.array.name if isinstance(value, Load) else say(k, value)


@idiom
def wave_leapfrog(k: KernelBuilder, level: int) -> Title:
    """A leapfrog step of the wave equation with a speed of each cell and an absorbing layer."""
    shape = k.draw.shape
    order = 4 if level > 2 and shape.chance(0.35) else 2
    c = cells(k, level, reach=order // 2)
    type_ = wide_type(k)
    u = c.field("u p pressure", type_, -1.0, 1.0, near=True)
    swapped = shape.chance(0.35)
    role = "inout" if swapped else "in"
    old = c.field(f"{u.name}_prev {u.name}_old", type_, -1.0, 1.0, role=role)
    speed = c.setting("c2", type_, 0.05, 0.3, {"each": 3, "shared": 2})
    damp = shape.weighted({"none": 2, "sponge": 2 + level, "sigma": level})
    out = old if swapped else c.out(f"{u.name}_next {u.name}_new", type_)
    c.rim(out, k.lift(0.0, type_))
    here = k.let("uc center here", u())
    lap = k.let("lap laplacian", _laplacian(u, here, order))
    value: Expr = 2.0 * here - old() + speed * lap
    courant = _told(k, speed)
    text = f"One leapfrog step of the wave equation, {courant} being the squared Courant "
    text += f"number: 2 * {u.name} - {old.name} + {courant} "
    text += f"times the {'fourth-order ' if order == 4 else ''}Laplacian of {u.name}"
    if damp == "sponge":
        sponge = c.field("sponge taper absorb", type_, 0.7, 1.0)
        before = shape.chance(0.4)
        value = sponge() * value
        if before:
            value = (2.0 * here - sponge() * old()) * sponge() + speed * lap
            text = text.replace(
                f"2 * {u.name} - {old.name} +",
                f"{sponge.name} * (2 * {u.name} - {sponge.name} * {old.name}) +",
            )
        else:
            text += f", all times {sponge.name}"
    if damp == "sigma":
        sigma = c.setting("damping", type_, 0.05, 0.5, {"each": 3, "shared": 2})
        half = k.let("half_sigma s", 0.5 * sigma)
        value = (2.0 * here - (1.0 - half) * old() + speed * lap) / (1.0 + half)
        text = text.replace(f"- {old.name} +", f"- (1 - s) * {old.name} +")
        text += f", all over 1 + s, where s is {_told(k, sigma)} / 2"
    return _wave_leapfrog_stored(level, type_, value, shape, c, k, out, swapped, u, text)


def _wave_leapfrog_stored(
    level: int,
    type_: Scalar,
    value: Expr,
    shape: Stream,
    c: Cells,
    k: KernelBuilder,
    out: Field,
    swapped: bool,
    u: Field,
    text: str,
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    if level > 1 and shape.chance(0.3):
        source = c.field("source forcing src", type_, -0.5, 0.5)
        value = value + source()
        text += f", plus {source.name}"
    k.store(out.array, c.index((), wide=False), value)
    text += f". {out.name} gets it" + (", in place." if swapped else ".")
    text += f"{c.said('get 0', u.name)}{c.laid()}{c.finish()}"
    return Title(k.name("wave_leapfrog wave_step", "acoustic_step"), text)


class _Yee:
    """The fields of Yee's grid: which component is updated, from which two or one others."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        shape = k.draw.shape
        self.k, self.type = k, wide_type(k)
        self.electric = shape.chance(0.5)
        self.rank = shape.weighted({1: 2, 2: 4, 3: 1 + level})
        edges = {"clamp": 2, "wrap": 3, "interior": 3}
        self.c = cells(k, level, {self.rank: 1}, edges)


@idiom
def fdtd_update(k: KernelBuilder, level: int) -> Title:
    """One update of an electric or magnetic component on Yee's grid.

    K. S. Yee, IEEE Trans. Antennas Propag. 14 (1966).
    """
    yee = _Yee(k, level)
    c, shape, electric = yee.c, k.draw.shape, yee.electric
    letter, other = ("e", "h") if electric else ("h", "e")
    axes = "xyz"
    target_axis = shape.integer(0, 2) if c.rank == 3 else 2
    u = c.field(f"{letter}{axes[target_axis]}", yee.type, -1.0, 1.0, role="inout")
    _skip_rim(c)
    # A component of the curl: the differences across the two other axes, of opposite signs.
    first, second = (target_axis + 1) % 3, (target_axis + 2) % 3
    across = [(first, second, 1), (second, first, -1)]
    if c.rank == 1:
        across = [(0, 1, 1)]
    parts, named = [], shape.chance(0.6)
    for along, component, sign in across:
        field = c.field(f"{other}{axes[component]}", yee.type, -1.0, 1.0)
        axis = {1: 0, 2: 1 - min(along, 1), 3: 2 - along}[c.rank]
        by = -1 if electric else 1
        ahead = field() if electric else field.near(axis, by)
        back = field.near(axis, by) if electric else field()
        difference: Expr = ahead - back
        if named and len(across) > 1:
            difference = k.let(f"d{other}{axes[component]}_d{axes[along]}", difference)
        parts.append((difference, sign, field.name, axes[along]))
    curl = parts[0][0] if len(parts) == 1 else parts[0][0] - parts[1][0]
    if shape.chance(0.5):
        curl = k.let("curl", curl)
    value, said = _material(c, level, yee.type, u, curl, electric)
    k.store(u.array, c.index((), wide=False), *value)
    near = "backward" if electric else "forward"
    told = " less ".join(f"the difference of {name} along {along}" for _, _, name, along in parts)
    text = f"One FDTD update of {u.name} on Yee's grid, in place: the curl is {told} ({near} "
    text += f"differences); {said}.{c.said('are left alone')}{c.laid()}{_letters(c)}"
    return Title(k.name(f"update_{letter}_field fdtd_{letter}_step", f"yee_{letter}_update"), text)


def _letters(c: Cells) -> str:
    """Which index runs along which axis."""
    if c.rank == 1:
        return ""
    names = [here.name for here in reversed(c.at) if isinstance(here, Var)]
    pairs = [
        f"{name} runs along {axis}"
        for name, axis in zip(names, "xyz", strict=False)
        if axis not in name
    ]
    return f" {listed(pairs)}." if pairs else ""


def _skip_rim(c: Cells) -> None:
    """In a grid of which only the interior moves: threads on the rim end."""
    if c.edge == "interior":
        with c.k.if_(c.on_rim()):
            c.k.return_()


def _material(
    c: Cells, level: int, type_: Scalar, u: Field, curl: Expr, electric: bool
) -> tuple[tuple[Expr, str] | tuple[Expr], str]:
    """The new value: a plain step, one with both coefficients of matter, or one with losses."""
    k, shape = c.k, c.draw
    sign = "raised" if electric else "lowered"
    way = shape.weighted({"plain": 3, "coefficients": 2 + level // 2, "lossy": level})
    if way == "plain":
        names = "dt_eps_dx coef_e" if electric else "dt_mu_dx coef_h"
        factor = c.setting(names, type_, 0.1, 0.6, {"shared": 2, "each": 2})
        return (factor * curl, "add" if electric else "sub"), (
            f"{u.name} is {sign} by {say(k, factor)} times it"
        )
    if way == "coefficients":
        ca = c.setting("ca" if electric else "da", type_, 0.7, 1.0, {"each": 3, "shared": 1})
        cb = c.setting("cb" if electric else "db", type_, 0.1, 0.6, {"each": 3, "shared": 1})
        value = ca * u() + cb * curl if electric else ca * u() - cb * curl
        return (value,), (
            f"{u.name} becomes {say(k, ca)} * {u.name} {'+' if electric else '-'} {say(k, cb)} * "
            "curl"
        )
    matter = "epsilon permittivity" if electric else "mu permeability"
    eps = c.setting(matter, type_, 1.0, 3.0, {"each": 3, "shared": 1})
    sigma = c.setting("sigma conductivity", type_, 0.05, 0.5, {"each": 2, "shared": 1})
    dt = k.scalar("dt", type_, 0.1, 0.5)
    loss = k.let("loss half_loss", 0.5 * sigma * dt / eps)
    dx = k.scalar("dx spacing", type_, 0.5, 1.5)
    gain = dt / (eps * dx) * curl
    old = (1.0 - loss) * u()
    value = (old + gain if electric else old - gain) / (1.0 + loss)
    return (value,), (
        f"with s = {say(k, sigma)} * {dt.name} / (2 * {say(k, eps)}), {u.name} becomes ((1 - s) * "
        f"{u.name} "
        f"{'+' if electric else '-'} {dt.name} / ({say(k, eps)} * {dx.name}) * curl) / (1 + s)"
    )


@idiom
def heat_conduction(k: KernelBuilder, level: int) -> Title:
    """An explicit step of heat through matter whose conductivity differs from cell to cell."""
    shape = k.draw.shape
    c = cells(k, level, {1: 2, 2: 4, 3: 1 + level})
    type_ = wide_type(k)
    t = c.field("t temp temperature", type_, 0.0, 2.0, near=True)
    stores = shape.chance(0.15 * level)
    # Without a heat capacity what conducts is a diffusivity, and sources are rates of temperature.
    names = "kappa conductivity cond" if stores else "kappa diffusivity alpha"
    kappa = c.field(names, type_, 0.3, 2.0, near=True)
    step = c.setting("dt_dx2 dt_over_dx2", type_, 0.01, 0.08, _SETTING)
    mean = shape.choice(("arithmetic", "harmonic", "harmonic"))
    capacity = c.field("rho_c heat_capacity", type_, 0.8, 2.0) if stores else None
    names = "heat_source power_density" if stores else "heating_rate heating"
    source = c.field(names, type_, -1.0, 1.0) if shape.chance(0.1 + 0.1 * level) else None
    out = c.out(f"{t.name}_new {t.name}_next", type_)
    c.rim(out, t())
    here = k.let("tc here t0", t())
    own = k.let("kc k_here", kappa())
    ways = {
        "arithmetic": lambda b, x, y: 0.5 * (x + y),
        "harmonic": lambda b, x, y: 2.0 * x * y / (x + y),
    }
    params = {"a": type_, "b": type_}
    short = mean == "arithmetic" and c.rank == 1
    share = BY_LEVEL[level] if short else 1.0
    face = routine(k, share, f"{mean}_mean face_mean", params, ways[mean])
    fluxes, named = list[Expr](), shape.chance(0.6)
    for axis in range(c.rank):
        for by in (-1, 1):
            conducts = face(own, kappa.near(axis, by))
            flux = conducts * (t.near(axis, by) - here)
            fluxes.append(k.let([f"q_{c.side(axis, by)}"], flux) if named else flux)
    return _heat_conduction_stored(
        fluxes, shape, k, step, capacity, here, t, kappa, mean, source, type_, out, c
    )


def _heat_conduction_stored(
    fluxes: list[Expr],
    shape: Stream,
    k: KernelBuilder,
    step: Expr,
    capacity: Field | None,
    here: Var,
    t: Field,
    kappa: Field,
    mean: str,
    source: Field | None,
    type_: Scalar,
    out: Field,
    c: Cells,
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    net = total(fluxes)
    if shape.chance(0.5):
        net = k.let("net flux_sum divergence", net)
    change = step * net
    text = f"An explicit step of heat conduction: each cell of {t.name} gains {say(k, step)} times "
    text += "the flow from its neighbours, for each the difference in temperature times the "
    text += f"{mean} mean of {kappa.name} of both cells"
    if source is not None:
        dt = k.scalar("dt", type_, 0.02, 0.2)
        change = change + dt * source()
        text += f", plus {dt.name} * {source.name}"
    if capacity is not None:
        change = change / capacity()
        text += f", {'both' if source is not None else 'all'} over {capacity.name}"
    value = here + change
    k.store(out.array, c.index((), wide=False), value)
    text += f". {out.name} gets it.{c.said(haloed=f'Each of {t.name} and {kappa.name}')}"
    return Title(
        k.name("heat_conduction conduct_heat", "heat_step_layered"), f"{text}{c.laid()}{c.finish()}"
    )
