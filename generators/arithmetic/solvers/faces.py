"""States and fluxes at faces: limited slopes, Riemann solvers, WENO reconstruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.arithmetic.solvers.cells import Cells, Field, cells, wide_type
from generators.build import KernelBuilder
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most, where
from generators.kit.naming import BY_LEVEL, maybe_all, routine
from generators.kit.words import say
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var

_SETTING = {"shared": 1}

_LIMITERS: dict[str, tuple[Callable[[Expr, Expr], Expr], str]] = {
    "minmod": (
        lambda a, b: where(a * b > 0.0, where(abs(a) < abs(b), a, b), 0.0),
        "the smaller of both in size where they agree in sign, else 0 (minmod)",
    ),
    "van_leer": (
        lambda a, b: where(a * b > 0.0, 2.0 * a * b / where(a * b > 0.0, a + b, 1.0), 0.0),
        "2 * a * b / (a + b) where they agree in sign, else 0 (van Leer)",
    ),
    "superbee": (
        lambda a, b: where(
            a * b > 0.0,
            where(
                abs(a) < abs(b),
                where(abs(2.0 * a) < abs(b), 2.0 * a, b),
                where(abs(2.0 * b) < abs(a), 2.0 * b, a),
            ),
            0.0,
        ),
        "superbee: the larger in size of minmod(2a, b) and minmod(a, 2b)",
    ),
}


def _limiter(k: KernelBuilder, level: int, type_: Scalar) -> tuple[Callable[..., Expr], str]:
    way = k.draw.shape.choice(("minmod", "van_leer", "superbee"))
    build, said = _LIMITERS[way]
    params = {"a": type_, "b": type_}
    return routine(k, 0.75, f"{way} {way}_limiter", params, lambda b, x, y: build(x, y)), said


def _along(c: Cells, axis: int) -> str:
    """Along which axis, where there are several; with a space before."""
    return f" along axis {axis}" if c.rank > 1 else ""


@idiom
def limited_slopes(k: KernelBuilder, level: int) -> Title:
    """Slopes of cells by a limiter, or the states at the faces that follow from them (MUSCL)."""
    shape = k.draw.shape
    c = cells(k, level, {1: 3, 2: 4, 3: level > 2})
    type_ = wide_type(k)
    limit, said = _limiter(k, level, type_)
    u = c.field("u q rho cell_avg", type_, -1.0, 1.0, near=True)
    axis = shape.integer(0, c.rank - 1)
    way = shape.choice(("slope", "faces", "hancock"))
    lam = c.setting("dt_dx lam", type_, 0.1, 0.4, _SETTING) if way == "hancock" else None
    speed = (
        c.setting("speed velocity", type_, 0.2, 0.9, {"shared": 2, "each": 1})
        if lam is not None
        else None
    )
    stem = "q" if u.name == "cell_avg" else u.name
    low, high = k.draw.word.choice((("left", "right"), ("minus", "plus")))
    first = c.out("slope d_limited" if way == "slope" else f"{stem}_{low}", type_)
    second = c.out(f"{stem}_{high}", type_) if way != "slope" else None
    if c.edge == "interior":
        place = c.index((), wide=False)
        with k.if_(c.on_rim(axis)):
            k.store(first.array, place, u() if way != "slope" else k.lift(0.0, type_))
            if second is not None:
                k.store(second.array, place, u())
            k.return_()
    here = k.let(f"{stem}_c {stem}0 here", u())
    before, after = k.draw.word.choice((("back", "ahead"), ("dm", "dp"), ("du_left", "du_right")))
    back = k.let([before], here - u.near(axis, -1))
    ahead = k.let([after], u.near(axis, 1) - here)
    slope = k.let("s sigma limited", limit(back, ahead))
    where_ = c.index((), wide=False)
    return _limited_slopes_title(
        u, c, axis, said, second, here, where_, slope, k, first, lam, speed, way
    )


def _limited_slopes_title(
    u: Field,
    c: Cells,
    axis: int,
    said: str,
    second: Field | None,
    here: Var,
    where_: tuple[Expr, ...],
    slope: Var,
    k: KernelBuilder,
    first: Field,
    lam: Expr | None,
    speed: Expr | None,
    way: str,
) -> Title:
    """What the kernel is called, and what it does in words."""
    text = f"Limited slopes of {u.name}{_along(c, axis)}, made of the differences a to the "
    text += f"cell before and b to the cell after: {said}. "
    if second is None:
        k.store(first.array, where_, slope)
        text += f"{first.name} gets it."
    else:
        centre: Expr = here
        if lam is not None and speed is not None:
            centre = k.let("mid half_time", here - 0.5 * lam * speed * slope)
            text += (
                f"The cell is moved by half a step, -{say(k, lam)} / 2 * {say(k, speed)} * slope. "
            )
        k.store(first.array, where_, centre - 0.5 * slope)
        k.store(second.array, where_, centre + 0.5 * slope)
        text += f"{first.name} and {second.name} get the states at both ends, half a slope away."
    kept = "get 0" if way == "slope" else "get their value for both"
    text += f"{c.said(kept, u.name, axis)}{c.laid()}{c.finish()}"
    names = "limited_slopes compute_slopes" if second is None else "muscl_states muscl_reconstruct"
    return Title(k.name(names), text)


@idiom
def riemann_flux(k: KernelBuilder, level: int) -> Title:
    """Fluxes at faces by Riemann solvers: Godunov's for scalar laws, Rusanov's, HLL's."""
    shape = k.draw.shape
    type_ = wide_type(k)
    way = shape.weighted({"godunov": 3, "rusanov": 3, "engquist": 1, "roe": 2})
    concave = way == "godunov" and shape.chance(0.35)
    rank = shape.weighted({1: 3, 2: 3 + (level > 1), 3: level > 2})
    given = shape.chance(0.4)
    names = ["nz", "ny", "nx"][-rank:] if rank > 1 else ["n"]
    for name in names:
        k.size(name, *{1: (40, 60), 2: (8, 10), 3: (5, 6)}[rank])
    at = k.thread(*names, names=k.draw.word.choice(("i j k", "z y x")).split()[-rank:])
    chance = 0.3 + 0.4 * BY_LEVEL[level]
    law = routine(
        k, chance, "flux f_of", {"u": type_}, lambda b, u: u * (1.0 - u) if concave else 0.5 * u * u
    )
    low, high = (0.0, 1.0) if concave else (-1.0, 1.0)
    if given:
        letter = k.draw.word.choice(("u", "q"))
        first = k.array(f"{letter}_left", type_, names, low=low, high=high)
        second = k.array(f"{letter}_right", type_, names, low=low, high=high)
        a: Expr = first[at]
        b: Expr = second[at]
        states = f"the states {first.name} (a) before it and {second.name} (b) after it"
        states = f"at each face between {states}"
    else:
        a, b, states = _beside(k, type_, names, at, (low, high))
    left, right = k.draw.word.choice((("ul", "ur"), ("left_state", "right_state")))
    ul, ur = k.let([left], a), k.let([right], b)
    value, said = _solver(k, law, way, concave, ul, ur, level)
    out = k.out("flux face_flux f", type_, names)
    if shape.chance(0.35):
        area = k.array("area face_area", type_, names, low=0.2, high=1.0)
        value, said = area[at] * value, f"{said}, times {area.name}"
    k.store(out, at, value)
    law_said = "u * (1 - u)" if concave else "u^2 / 2"
    return _riemann_flux_title(states, law_said, said, rank, shape, k, at, way, out)


def _beside(
    k: KernelBuilder,
    type_: Scalar,
    names: Sequence[str],
    at: tuple[Var, ...],
    bounds: tuple[float, float],
) -> tuple[Expr, Expr, str]:
    """The cells before and after a face along an axis, of an array with one cell more."""
    axis = k.draw.shape.integer(0, len(names) - 1)
    dims = [f"{name}+1" if n == axis else name for n, name in enumerate(names)]
    u = k.array("u q states", type_, dims, low=bounds[0], high=bounds[1])
    beyond = tuple(i + 1 if n == axis else i for n, i in enumerate(at))
    along = f" along axis {axis}" if len(names) > 1 else ""
    text = f"at each face{along}, between the cells of {u.name} before it (a) and after it (b)"
    return u[at], u[beyond], text


def _riemann_flux_title(
    states: str,
    law_said: str,
    said: str,
    rank: int,
    shape: Stream,
    k: KernelBuilder,
    at: tuple[Var, ...],
    way: str,
    out: Var,
) -> Title:
    """What the kernel is called, and what it does in words."""
    who, _, rule = said.partition(": ")
    text = f"{who} flux {states}, for the conservation law with f(u) = "
    text += f"{law_said}: {rule}. "
    row = ""
    if rank > 1 and shape.chance(0.2) and k.can_run_rows():
        k.along_row()
        row = f" One thread goes along {at[-1].name}."
    return Title(
        k.name(f"{way}_flux numerical_flux", "riemann_flux"), f"{text}{out.name} gets it.{row}"
    )


def _solver(
    k: KernelBuilder,
    law: Callable[..., Expr],
    way: str,
    concave: bool,
    ul: Expr,
    ur: Expr,
    level: int,
) -> tuple[Expr, str]:
    """The flux between two states a (before) and b (after)."""
    if way == "godunov" and concave:
        # The flux has its maximum at 1/2: what can leave on one side, what fits on the other.
        demand = k.let("demand sending", law(least(ul, 0.5)))
        supply = k.let("supply receiving", law(most(ur, 0.5)))
        return least(demand, supply), "Godunov's: the smaller of f(min(a, 1/2)) and f(max(b, 1/2))"
    return _averaged_flux(way, k, ul, ur, law)


def _averaged_flux(
    way: str, k: KernelBuilder, ul: Expr, ur: Expr, law: Callable[..., Expr]
) -> tuple[Expr, str]:
    """Fluxes by the mean of both sides less a jump, or by what leaves and what enters."""
    if way == "godunov":
        if k.draw.shape.chance(0.5):
            return most(law(most(ul, 0.0)), law(least(ur, 0.0))), (
                "Godunov's: the larger of f(max(a, 0)) and f(min(b, 0))"
            )
        found = k.let("f_star upwind", k.lift(0.0, ul.type))
        with k.if_(ul > ur):
            k.assign(found, most(law(ul), law(ur)))
        with k.elif_(ul > 0.0):
            k.assign(found, law(ul))
        with k.elif_(ur < 0.0):
            k.assign(found, law(ur))
        return found, (
            "Godunov's: the larger of f(a) and f(b) where a > b; else f(a) where a > 0, f(b) where "
            "b < 0, "
            "and 0 between"
        )
    if way == "engquist":
        plus, minus = law(most(ul, 0.0)), law(least(ur, 0.0))
        plus, minus = maybe_all(k, {"f_plus": plus, "f_minus": minus})
        return plus + minus, "Engquist and Osher's: f(max(a, 0)) + f(min(b, 0))"
    left, right = k.draw.word.choice((("fl", "fr"), ("f_left", "f_right")))
    fl, fr = maybe_all(k, {left: law(ul), right: law(ur)})
    if way == "rusanov":
        speed: Expr = k.let("smax wave_speed", most(abs(ul), abs(ur)))
        said = "Rusanov's: (f(a) + f(b)) / 2 - max(|a|, |b|) * (b - a) / 2"
    else:
        speed = abs(k.let("speed roe_avg", 0.5 * (ul + ur)))
        said = "Roe's: (f(a) + f(b)) / 2 - |(a + b) / 2| * (b - a) / 2"
    if k.draw.shape.chance(0.5):
        return 0.5 * (fl + fr) - 0.5 * speed * (ur - ul), said
    return 0.5 * (fl + fr - speed * (ur - ul)), said


@idiom
def weno_reconstruction(k: KernelBuilder, level: int) -> Title:
    """The value at a face by weighted essentially non-oscillatory stencils, third or fifth order.

    G.-S. Jiang and C.-W. Shu, J. Comput. Phys. 126 (1996).
    """
    shape = k.draw.shape
    order = shape.choice((3, 5)) if level > 1 else 3
    edge = {"clamp": 3, "wrap": 3, "halo": 3, "interior": 2}
    c = cells(k, level, {1: 3, 2: 4}, edge, reach=order // 2)
    type_ = wide_type(k)
    # Of a size at which what is added to the indicators counts.
    u = c.field("u q cell_avg v", type_, -0.05, 0.05, near=True)
    axis = shape.integer(0, c.rank - 1)
    side = shape.choice((1, -1))
    eps: Expr = k.lift(1.0e-6, type_)
    if shape.chance(0.5):
        eps = k.scalar("eps epsilon", type_, 1.0e-6, 1.0e-5)
    out = c.out(f"face_value {u.name}_face reconstructed", type_)
    c.rim(out, u(), axis)
    reach = order // 2
    v = []
    for n in range(-reach, reach + 1):
        tag = {-2: "mm", -1: "m", 0: "c", 1: "p", 2: "pp"}[side * n]
        v.append(k.let(f"v{tag}", u.near(axis, side * n)))
    value = _third(k, v, eps) if order == 3 else _fifth(k, v, eps)
    k.store(out.array, c.index((), wide=False), value)
    bias, face = ("left", "right") if side > 0 else ("right", "left")
    text = (
        f"WENO reconstruction of order {order} (Jiang and Shu) of {u.name}{_along(c, axis)}: the "
    )
    text += f"{bias}-biased value at the {face} face of each cell, with {say(k, eps)} added to the "
    text += f"smoothness indicators. {out.name} gets it.{c.said(haloed=u.name, axis=axis)}"
    text += f"{c.laid()}{c.finish()}"
    return Title(k.name(f"weno{order}_reconstruct weno_face", f"weno{order}_interpolate"), text)


def _alphas(
    k: KernelBuilder, betas: Sequence[Expr], ideal: tuple[float, ...], eps: Expr
) -> list[Expr]:
    """Weights before they are made to add up to 1."""
    found: list[Expr] = []
    whole = k.draw.shape.chance(0.5)
    for n, (beta, share) in enumerate(zip(betas, ideal, strict=True)):
        base: Expr = eps + (beta if whole else k.let(f"beta{n}", beta))
        base = k.let(f"s{n}", base) if whole else base
        found.append(k.let(f"alpha{n}", share / (base * base)))
    return found


def _blend(k: KernelBuilder, alphas: list[Expr], values: list[Expr]) -> Expr:
    whole, top = alphas[0], alphas[0] * values[0]
    for alpha, value in zip(alphas[1:], values[1:], strict=True):
        whole, top = whole + alpha, top + alpha * value
    if k.draw.shape.chance(0.4):
        return top / k.let("weight_sum total", whole)
    return top / whole


def _third(k: KernelBuilder, v: Sequence[Expr], eps: Expr) -> Expr:
    before, here, behind = v
    stencils = {"p0": -0.5 * before + 1.5 * here, "p1": 0.5 * here + 0.5 * behind}
    p0, p1 = maybe_all(k, stencils)
    down, up = here - before, behind - here
    alphas = _alphas(k, [down * down, up * up], (1.0 / 3.0, 2.0 / 3.0), eps)
    return _blend(k, alphas, [p0, p1])


def _fifth(k: KernelBuilder, v: Sequence[Expr], eps: Expr) -> Expr:
    mm, m, c, p, pp = v
    stencils = {
        "p0": (2.0 * mm - 7.0 * m + 11.0 * c) / 6.0,
        "p1": (5.0 * c - m + 2.0 * p) / 6.0,
        "p2": (2.0 * c + 5.0 * p - pp) / 6.0,
    }
    q0, q1, q2 = maybe_all(k, stencils, 0.7)
    third = 13.0 / 12.0
    betas = []
    for n, (curve, slope) in enumerate(
        (
            (mm - 2.0 * m + c, mm - 4.0 * m + 3.0 * c),
            (m - 2.0 * c + p, m - p),
            (c - 2.0 * p + pp, 3.0 * c - 4.0 * p + pp),
        )
    ):
        bend, rise = k.let(f"bend{n}", curve), k.let(f"rise{n}", slope)
        betas.append(third * bend * bend + 0.25 * rise * rise)
    alphas = _alphas(k, betas, (0.1, 0.6, 0.3), eps)
    return _blend(k, alphas, [q0, q1, q2])
