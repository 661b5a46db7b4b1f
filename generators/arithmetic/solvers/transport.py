"""Transport on grids: upwind, Lax-Wendroff, MacCormack and semi-Lagrangian steps."""

from __future__ import annotations

from collections.abc import Callable

from generators.arithmetic.common import total
from generators.arithmetic.solvers.cells import Cells, Field, cells, spot, wide_type
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, least, most, where
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.words import listed, say
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var

_SETTING = {"shared": 1}
_LETTER = ("z", "y", "x")


def _letter(c: Cells, axis: int) -> str:
    return _LETTER[3 - c.rank + axis]


@idiom
def upwind_advection(k: KernelBuilder, level: int) -> Title:
    """A first-order upwind step with a velocity of its own in each cell, or the same for all."""
    c = cells(k, level)
    type_ = wide_type(k)
    shape = c.draw
    u = c.field("u q tracer density", type_, -1.0, 1.0, near=True)
    each = shape.chance(0.5 + 0.08 * level)
    names = [f"v{_letter(c, axis)}" for axis in range(c.rank)]
    if each:
        speeds = [c.field(name, type_, -1.0, 1.0)() for name in names]
    else:
        speeds = [k.scalar(name, type_, 0.2, 1.0) for name in names]
    step = c.setting("dt_dx lam dt_over_dx", type_, 0.05, 0.3, _SETTING)
    decay = k.scalar("decay rate", type_, 0.01, 0.1) if shape.chance(0.08 * level) else None
    out = c.out(f"{u.name}_new {u.name}_next", type_)
    c.rim(out, u())
    here = k.let("uc here center", u())
    way = shape.choice(("where", "split", "if"))
    way, named = (way if each else "ahead"), shape.chance(0.5)
    change: Expr | None = None
    for axis, speed in enumerate(speeds):
        letter = _letter(c, axis)
        v = k.let(f"v_{letter}", speed) if each else speed
        back, ahead = here - u.near(axis, -1), u.near(axis, 1) - here
        if way == "ahead":
            term = k.let(f"adv_{letter}", v * back) if named else v * back
        elif way == "where":
            jump = k.let(f"diff_{letter}", where(v > 0.0, back, ahead))
            term = v * jump
        elif way == "split":
            plus, minus = most(v, 0.0), least(v, 0.0)
            term = plus * back + minus * ahead
            term = k.let(f"adv_{letter}", term) if named else term
        else:
            local = k.let(f"diff_{letter}", back)
            with k.if_(v < 0.0):
                k.assign(local, ahead)
            term = v * local
        change = term if change is None else change + term
    return _upwind_advection_stored(change, here, step, decay, k, out, c, names, each, u)


def _upwind_advection_stored(
    change: Expr | None,
    here: Var,
    step: Expr,
    decay: Var | None,
    k: KernelBuilder,
    out: Field,
    c: Cells,
    names: list[str],
    each: bool,
    u: Field,
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    assert change is not None
    value = here - step * change
    value = value if decay is None else value - decay * here
    k.store(out.array, c.index((), wide=False), value)
    speed_names = " and ".join([", ".join(names[:-1]), names[-1]] if c.rank > 1 else names)
    speed = "of any sign" if each else "which are positive" if c.rank > 1 else "which is positive"
    text = (
        f"One upwind step of the advection of {u.name} with the velocity {speed_names}, {speed}: "
    )
    text += f"subtract {say(k, step)} times the velocity times the difference to the neighbour "
    text += f"upwind of it{', summed over the axes' if c.rank > 1 else ''}"
    text += f", and {decay.name} * {u.name}" if decay is not None else ""
    text += f". {out.name} gets it.{c.said(haloed=u.name)}{c.laid()}{c.finish()}"
    return Title(k.name("upwind_advection upwind_step", "advect_first_order"), text)


@idiom
def lax_wendroff_step(k: KernelBuilder, level: int) -> Title:
    """Second-order steps of a conservation law: Lax-Wendroff, Lax-Friedrichs, MacCormack."""
    shape = k.draw.shape
    way = shape.weighted({"wendroff": 3, "friedrichs": 2, "predictor": 2, "corrector": 2})
    # Without its cross term the method is unstable in the plane: there it is split by axes.
    c = cells(k, level, {1: 1} if way == "wendroff" else {1: 4, 2: 3})
    type_ = wide_type(k)
    law, flux_said = _law(k, level, type_)
    u = c.field("u q state", type_, -1.0, 1.0, near=True)
    lam = c.setting("dt_dx lam dt_over_dx", type_, 0.1, 0.4, _SETTING)
    predicted = (
        c.field("u_pred u_star predicted", type_, -1.0, 1.0, near=True)
        if way == "corrector"
        else None
    )
    out = c.out(f"{u.name}_new {u.name}_next", type_)
    c.rim(out, u())
    if way == "friedrichs":
        value = _friedrichs(c, u, lam, law)
    else:
        value = here = k.let("uc u0 here", u())
        if predicted is not None:
            star = k.let("star pred_here", predicted())
            value, here, lam = 0.5 * (here + star), star, 0.5 * lam
        for axis in range(c.rank):
            value = _axis_term(c, value, here, predicted or u, axis, way, lam, law)
    if way == "wendroff" and shape.chance(0.5):
        value = k.let("next_u advanced", value)
    k.store(out.array, c.index((), wide=False), value)
    lam_said = say(k, lam)
    return _lax_wendroff_step_title(way, lam_said, u, c, predicted, flux_said, out, k)


def _lax_wendroff_step_title(
    way: str,
    lam_said: str,
    u: Field,
    c: Cells,
    predicted: Field | None,
    flux_said: str,
    out: Field,
    k: KernelBuilder,
) -> Title:
    """What the kernel is called, and what it does in words."""
    told = {
        "wendroff": "the two-step Lax-Wendroff method: states at the faces are the mean of both "
        f"cells less {lam_said} / 2 times the difference of their fluxes, and a cell loses "
        f"{lam_said} times the difference of the fluxes of its faces' states",
        "friedrichs": f"the Lax-Friedrichs method: the mean of the {2 * c.rank} neighbours less "
        f"{lam_said} / 2 times the difference of their fluxes along each axis",
        "predictor": f"the predictor of MacCormack's method: a cell loses {lam_said} times the "
        "flux of the next cell less its own, along each axis",
        "corrector": f"the corrector of MacCormack's method: the mean of {u.name} and the "
        f"predicted state, less {lam_said} times the predicted state's flux less that of the "
        "cell before, along each axis",
    }[way]
    if predicted is not None:
        told = told.replace("the predicted state,", f"{predicted.name} (the predicted state),", 1)
    text = f"One step of a conservation law with the flux {flux_said} of the state u, "
    text += f"here {u.name}, by {told}. "
    text += f"{out.name} gets it."
    haloed = u.name if predicted is None else f"Each of {u.name} and {predicted.name}"
    text += f"{c.said(haloed=haloed)}{c.laid()}{c.finish()}"
    names = {
        "wendroff": "lax_wendroff_step richtmyer_step",
        "friedrichs": "lax_friedrichs_step",
        "predictor": "maccormack_predictor",
        "corrector": "maccormack_corrector",
    }[way]
    return Title(k.name(names), text)


def _friedrichs(c: Cells, u: Field, lam: Expr, law: Callable[..., Expr]) -> Expr:
    """The mean of the neighbours less the differences of their fluxes."""
    beside = [
        c.k.let([f"u_{c.side(axis, by)}"], u.near(axis, by))
        for axis in range(c.rank)
        for by in (-1, 1)
    ]
    value: Expr = c.k.let("average mean_nb", (0.5 / c.rank) * total(beside))
    for low, high in zip(beside[::2], beside[1::2], strict=True):
        value = value - 0.5 * lam * (law(high) - law(low))
    return value


def _law(k: KernelBuilder, level: int, type_: Scalar) -> tuple[Callable[..., Expr], str]:
    """A flux as a function of the state, in place or in a helper."""
    way = k.draw.shape.weighted(
        {"linear": 2, "burgers": 3, "traffic": 1, "cubic": 1, "leverett": level > 2}
    )
    chance = 0.5 + 0.3 * BY_LEVEL[level]
    if way == "linear":
        speed = k.scalar("speed c velocity", type_, -1.0, 1.0)
        return lambda u: speed * u, f"{speed.name} * u"
    if way == "leverett":
        build = lambda b, u: u * u / (u * u + 0.5 * (1.0 - u) * (1.0 - u))  # noqa: E731
        said = "u^2 / (u^2 + (1 - u)^2 / 2)"
    elif way == "burgers":
        build = lambda b, u: 0.5 * u * u  # noqa: E731
        said = "u^2 / 2"
    elif way == "traffic":
        build = lambda b, u: u * (1.0 - u)  # noqa: E731
        said = "u * (1 - u)"
    else:
        build = lambda b, u: u * u * u / 3.0  # noqa: E731
        said = "u^3 / 3"
    return routine(k, chance, f"{way}_flux flux", {"u": type_}, build), said


def _axis_term(
    c: Cells,
    value: Expr,
    here: Expr,
    u: Field,
    axis: int,
    way: str,
    lam: Expr,
    law: Callable[..., Expr],
) -> Expr:
    k, prev, following = c.k, c.side(axis, -1), c.side(axis, 1)
    if way == "predictor":
        return value - lam * (law(k.let([f"u_{following}"], u.near(axis, 1))) - law(here))
    if way == "corrector":
        return value - lam * (law(here) - law(k.let([f"pred_{prev}"], u.near(axis, -1))))
    low = k.let([f"u_{prev}"], u.near(axis, -1))
    high = k.let([f"u_{following}"], u.near(axis, 1))
    left = k.let([f"face_{prev}"], 0.5 * (low + here) - 0.5 * lam * (law(here) - law(low)))
    right = k.let([f"face_{following}"], 0.5 * (here + high) - 0.5 * lam * (law(high) - law(here)))
    return value - lam * (law(right) - law(left))


@idiom
def semi_lagrangian_advection(k: KernelBuilder, level: int) -> Title:
    """Values traced back along the velocity and interpolated where they come from."""
    shape = k.draw.shape
    rank = shape.weighted({1: 2, 2: 5, 3: 2 * (level > 2)})
    edge = shape.choice(("clamp", "wrap"))
    # A place on one long line would have no bits left for its fraction.
    batched = rank == 1 or (level > 1 and rank < 3 and shape.chance(0.25))
    c = Cells(k, rank, edge, batched=batched, minimum=2)
    type_ = wide_type(k)
    u = c.field("u dye density temperature", type_, -1.0, 1.0)
    names = [f"v{_letter(c, axis)}" for axis in range(rank)]
    if rank > 1 and shape.chance(0.35):
        flow = c.field("velocity flow wind", Vec(rank, type_), -2.0, 2.0)
        moved = k.let("v vel", flow())
        speeds: list[Expr] = [moved[rank - 1 - axis] for axis in range(rank)]
        names = [
            f"{flow.name} (along {'x, y and z' if rank == 3 else 'x and y'}, x being the last axis)"
        ]
    else:
        speeds = [c.field(name, type_, -2.0, 2.0)() for name in names]
    dt = c.setting("dt_dx dt_over_dx", type_, 0.3, 0.9, _SETTING)
    fade = k.scalar("dissipation fade", type_, 0.9, 0.99) if shape.chance(0.12 * level) else None
    corners = []
    for axis, (speed, here) in enumerate(zip(speeds, c.at, strict=True)):
        corners.append(_corner(c, axis, cast(here, type_) - dt * speed, type_))
    value = _blended(c, u, corners, (), "", shape.choice(("lerp", "step", "mix")))
    out = c.put(f"{u.name}_new advected", value if fade is None else fade * value).name
    text = f"Semi-Lagrangian advection: {u.name} at the place that each cell comes from, its index "
    text += f"less {say(k, dt)} times the velocity {listed(names)}, interpolated linearly"
    text += f", times {fade.name}" if fade is not None else ""
    text += f". {out} gets it."
    text += (
        " The grid is periodic."
        if edge == "wrap"
        else " Places are clamped to 0.5 and the length less 1.5 along each axis."
    )
    return Title(k.name("semi_lagrangian_advect advect_backward", "trace_back"), text + c.finish())


def _corner(c: Cells, axis: int, place: Expr, type_: Scalar) -> tuple[Expr, Expr, Expr]:
    """Both indices between which a place lies and how far it is from the first."""
    k, name, size = c.k, c.at[axis].name, c.size(axis)  # type: ignore[attr-defined]
    if c.edge == "clamp":
        source = k.let(f"src_{name}", clamp(place, 0.5, cast(size, type_) - 1.5))
        low = k.let(f"{name}0", cast(floor(source), INT32))
        high = k.let(f"{name}1", least(low + 1, size - 1))
        return low, high, k.let(f"f{name}", source - cast(low, type_))
    # What comes from beyond an end is taken into the grid first, from however far.
    source = k.let(f"src_{name}", place)
    k.assign(source, source - cast(size, type_) * floor(source / cast(size, type_)))
    base = k.let(f"base_{name}", floor(source))
    share = k.let(f"f{name}", source - base)
    low = k.let(f"{name}0", cast(base, INT32) % size)
    return low, k.let(f"{name}1", (low + 1) % size), share


def floor(x: Expr) -> Expr:
    return fn("floor", x)


def _blended(
    c: Cells,
    u: Field,
    corners: list[tuple[Expr, Expr, Expr]],
    at: tuple[Expr, ...],
    bits: str,
    way: str,
) -> Expr:
    """Interpolation axis by axis, the last axis innermost; ``bits`` says which corner it is."""
    if not corners:
        return u.array[spot(*c.site.at[: c.lead], *at)]
    (low, high, share), *rest = corners
    a = _blended(c, u, rest, (*at, low), f"{bits}0", way)
    b = _blended(c, u, rest, (*at, high), f"{bits}1", way)
    if rest:
        a, b = c.k.let([f"val{bits}0"], a), c.k.let([f"val{bits}1"], b)
    if way == "lerp":
        return fn("lerp", a, b, share)
    return a + share * (b - a) if way == "step" else (1.0 - share) * a + share * b
