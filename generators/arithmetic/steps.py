"""Explicit steps of equations on grids: waves, heat, transport, reactions of one or two fields."""

from __future__ import annotations

from dataclasses import dataclass

from generators.arithmetic.grids import EDGES, Around, Equation, computed, space
from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.formulas import Build, Formula
from generators.kit.functions import where
from generators.kit.naming import routine
from generators.kit.sites import Site
from generators.kit.words import listed, say
from generators.program.dtypes import Scalar, scalar_of
from generators.program.expr import Expr

_EQUATIONS = (
    Equation(
        "wave_step leapfrog_wave",
        "u pressure",
        "{u}_next",
        lambda u, old, c2, lap: 2.0 * u - old + c2 * lap,
        "Leapfrog step of the wave equation: 2 * {u} - {old} + {c2} * L, {c2} being the squared "
        "Courant number",
    ),
    Equation(
        "poisson_jacobi relax_poisson",
        "phi potential",
        "{u}_next",
        lambda u, omega, lap, rhs, count: u + omega * (lap - rhs) / count,
        "Damped Jacobi step for the Poisson equation at spacing 1: {u} + {omega} * (L - {rhs}) / "
        "{count}",
    ),
    Equation(
        "advect_upwind upwind_transport",
        "q tracer",
        "{u}_next",
        lambda u, transport: u - transport,
        "",
    ),
    Equation(
        "damped_wave_step damped_leapfrog",
        "u displacement",
        "{u}_next",
        lambda u, old, c2, lap, damping: 2.0 * u - old + c2 * lap - damping * (u - old),
        "Leapfrog step of the damped wave equation: 2 * {u} - {old} + {c2} * L - {damping} * "
        "({u} - {old}), {c2} being the squared Courant number",
    ),
    Equation(
        "conduct_heat newton_cooling_step",
        "temperature",
        "{u}_next",
        lambda u, kappa, lap, loss, ambient: u + kappa * lap - loss * (u - ambient),
        "Explicit step of heat conduction with cooling to the surroundings: {u} + {kappa} * L - "
        "{loss} * ({u} - {ambient}), {kappa} being dt * diffusivity / dx^2 and {loss} dt times the "
        "rate of cooling",
    ),
    Equation(
        "fisher_step logistic_diffusion",
        "density population",
        "{u}_next",
        lambda u, kappa, lap, growth: u + kappa * lap + growth * u * (1.0 - u),
        "Explicit step of Fisher's equation for the spread of a population p in {u}: p + {kappa} "
        "* L + {growth} * p * (1 - p), {kappa} being dt * diffusivity / dx^2 and {growth} dt times "
        "the rate of growth",
    ),
    Equation(
        "burgers_step viscous_burgers",
        "u velocity",
        "{u}_next",
        lambda u, dt, nu, lap, slope: u + dt * (nu * lap - u * slope),
        "Explicit step of the viscous Burgers equation at spacing 1: {u} + {dt} * ({nu} * L - {u} "
        "* G)",
    ),
    Equation(
        "klein_gordon_step",
        "phi field",
        "{u}_next",
        lambda u, old, c2, lap, leak: 2.0 * u - old + c2 * lap - leak * u,
        "Leapfrog step of the Klein-Gordon equation: 2 * {u} - {old} + {c2} * L - {leak} * {u}, "
        "{c2} being the squared Courant number and {leak} the square of dt times the mass",
    ),
)


@idiom
def grid_step(k: KernelBuilder, level: int) -> Title:
    """One explicit step of an equation on a grid of one to three dimensions."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    s = space(k, 0.4 if level < 3 else 0.0, 0.3 if level >= 3 else 0.0)
    if level >= 3 and shape.chance({3: 0.3, 4: 0.5}.get(level, 0.7)):
        return _coupled(s, shape.choice(_SYSTEMS), f)
    known = [e for e in _EQUATIONS if s.rank == 1 or "burgers" not in e.title]
    equation = shape.choice(known[:4] if level == 1 else known)
    u = s.array(equation.field, f, -1.0, 1.0)
    edge = shape.choice(("clamped", "periodic", "fixed"))
    around = Around(s, u, edge)
    out = s.out(equation.out.format(u=u.name), f)
    if edge == "fixed":
        with k.if_(around.on_border()):
            k.store(out, s.at, u[s.at])
            k.return_()
    around.look()
    if equation.said:
        value, text = computed(around, equation, f)
    else:
        value, text = _advected(around, level, f)
    if level >= 3 and shape.chance(0.4):
        value, more = _driven(s, value, "wave" in equation.title)
        text += more
    k.store(out, s.at, value)
    return Title(k.name(equation.title), f"{text}. Store it in {out.name}. {EDGES[edge]}")


@dataclass(frozen=True)
class System:
    """Two fields that react and diffuse: kernel names, names of the fields, parameters with ranges,
    what each gains besides diffusion by code of both, and its text."""

    title: str
    fields: tuple[str, str]
    low: float
    params: dict[str, tuple[str, float, float]]
    gains: tuple[Build, Build]
    said: str


_SYSTEMS = (
    System(
        "gray_scott_step gray_scott",
        ("u", "v"),
        0.0,
        {"feed": ("feed", 0.02, 0.06), "kill": ("kill", 0.04, 0.07)},
        (
            lambda u, v, feed: feed * (1.0 - u) - u * v * v,
            lambda u, v, feed, kill: u * v * v - (feed + kill) * v,
        ),
        "Explicit step of the Gray-Scott system: u gains {feed} * (1 - u) - u * v^2 and v gains "
        "u * v^2 - ({feed} + {kill}) * v",
    ),
    System(
        "fitzhugh_nagumo_step excitable_medium",
        ("v", "w"),
        -1.0,
        {
            "stimulus": ("stimulus current", 0.1, 0.5),
            "rate": ("epsilon", 0.05, 0.1),
            "a": ("a", 0.6, 0.8),
            "b": ("b", 0.7, 0.9),
        },
        (
            lambda v, w, stimulus: v - v * v * v / 3.0 - w + stimulus,
            lambda v, w, rate, a, b: rate * (v + a - b * w),
        ),
        "Explicit step of the FitzHugh-Nagumo system: v gains v - v^3 / 3 - w + {stimulus} and w "
        "gains {rate} * (v + {a} - {b} * w)",
    ),
    System(
        "predator_prey_step lotka_volterra_diffusion",
        ("prey", "predators"),
        0.1,
        {
            "birth": ("birth", 0.4, 0.9),
            "hunt": ("hunting", 0.4, 0.9),
            "gain": ("conversion", 0.2, 0.6),
            "death": ("death", 0.2, 0.5),
        },
        (
            lambda prey, predators, birth, hunt: birth * prey - hunt * prey * predators,
            lambda prey, predators, hunt, gain, death: (
                gain * hunt * prey * predators - death * predators
            ),
        ),
        "Explicit step of prey and predators that diffuse: prey gains {birth} * prey - {hunt} * "
        "prey * predators, and predators gain {gain} * {hunt} * prey * predators - {death} * "
        "predators",
    ),
    System(
        "brusselator_step reacting_mixture",
        ("u", "v"),
        0.1,
        {"a": ("a", 0.8, 1.2), "b": ("b", 1.5, 2.5)},
        (
            lambda u, v, a, b: a - (b + 1.0) * u + u * u * v,
            lambda u, v, b: b * u - u * u * v,
        ),
        "Explicit step of the Brusselator: u gains {a} - ({b} + 1) * u + u^2 * v and v gains {b} * "
        "u - u^2 * v",
    ),
)


def _coupled(s: Site, system: System, f: Scalar) -> Title:
    """A step of two fields, each of which diffuses at its own rate."""
    k = s.k
    first, second = system.fields
    edge = k.draw.shape.choice(("clamped", "periodic", "fixed"))
    fields = [s.array([name], f, system.low, 1.0) for name in system.fields]
    dt = k.scalar("dt", f, 0.01, 0.1)
    rates = [k.scalar([f"diff_{name}"], f, 0.1, 0.5) for name in system.fields]
    params = {key: k.scalar(n, f, low, high) for key, (n, low, high) in system.params.items()}
    outs = [s.out([f"{name}_next"], f) for name in system.fields]
    arounds = [Around(s, field, edge, True) for field in fields]
    if edge == "fixed":
        with k.if_(arounds[0].on_border()):
            for out, field in zip(outs, fields, strict=True):
                k.store(out, s.at, field[s.at])
            k.return_()
    arounds[0].look()
    arounds[1].look(arounds[0])
    values = params | {first: arounds[0].here, second: arounds[1].here}
    for around, rate, gain, out in zip(arounds, rates, system.gains, outs, strict=True):
        lap = around.term("lap")
        change = Formula("", "", gain, "-").of(k, values)
        k.store(out, s.at, around.here + dt * (rate * lap + change))
    texts = {key: value.name for key, value in params.items()}
    done = f"{system.said.format(**texts)}, plus their Laplacians times {rates[0].name} and "
    done += f"{rates[1].name}, all times {dt.name}. A Laplacian is the sum over the axes of "
    done += f"previous - 2 * here + next. Store them in {outs[0].name} and {outs[1].name}. "
    return Title(k.name(system.title), done + EDGES[edge])


def _advected(around: Around, level: int, f: Scalar) -> tuple[Expr, str]:
    """First-order upwind transport by a velocity along each axis."""
    s, k, here = around.s, around.k, around.here
    letters = ("z", "y", "x")[-s.rank :]
    value: Expr = here
    start = f"Upwind step of advection: {around.u.name} less, for each axis, the Courant number"
    if level < 3 and k.draw.shape.chance(0.5):
        rates = [k.scalar([f"courant_{n}"], f, 0.1, 0.3) for n in letters]
        for rate, (before, _) in zip(rates, around.sides, strict=True):
            value = value - rate * (here - before)
        names = listed([rate.name for rate in rates])
        return value, f"{start} ({names}, not negative) times (here - previous)"
    speeds = [s.read([f"courant_{n}"], f, -0.3, 0.3) for n in letters]
    upwind = routine(
        k,
        0.6 if level >= 3 else 0.0,
        "upwind_difference upwind_term",
        dict.fromkeys(("c", "left", "mid", "right"), f),
        lambda b, c, left, mid, right: where(c > 0.0, c * (mid - left), c * (right - mid)),
    )
    for n, speed, (before, after) in zip(letters, speeds, around.sides, strict=True):
        value = value - upwind(k.let(f"c_{n}", speed), before, here, after)
    names = listed([say(k, speed) for speed in speeds])
    return value, (
        f"{start} in {names} times (here - previous) where that number is positive, else times "
        "(next - here)"
    )


def _driven(s: Site, value: Expr, absorbs: bool) -> tuple[Expr, str]:
    """A source, or for waves a layer at the edges that absorbs them."""
    k, f = s.k, scalar_of(value.type)
    if absorbs and k.draw.shape.chance(0.5):
        sponge = s.read("sponge absorption", f, 0.7, 1.0)
        text = f". The result is multiplied by {say(k, sponge)}, which damps waves near the edges"
        return value * sponge, text
    source = s.read("forcing injection", f, -0.5, 0.5)
    scale = k.scalar("source_scale amplitude", f, 0.1, 0.5)
    return value + scale * source, f". {say(k, scale * source)} is added as a source"
