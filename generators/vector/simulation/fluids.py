"""Fluids of particles: SPH density, pressure and viscosity."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, most, sqrt
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sources import zero
from generators.program.expr import Expr, Var, op
from generators.vector.simulation.parts import Crowd, Points, crowd, others

Smooth = Callable[[BodyBuilder, Expr, Expr], Expr]


def _poly6(b: BodyBuilder, r2: Expr, h: Expr) -> Expr:
    gap = b.let("gap w diff", h * h - r2)
    return gap * gap * gap


def _spiky(b: BodyBuilder, r2: Expr, h: Expr) -> Expr:
    gap = b.let("gap w diff", h - sqrt(r2))
    return gap * gap * gap


def _wendland(b: BodyBuilder, r2: Expr, h: Expr) -> Expr:
    q = b.let("q ratio", sqrt(r2) / h)
    rest = b.let("rest omq", 1.0 - q)
    sq = b.let("sq rest2", rest * rest)
    return sq * sq * (4.0 * q + 1.0)


_SMOOTH: dict[str, tuple[Smooth, str]] = {
    "poly6": (_poly6, "(h^2 - r^2)^3"),
    "spiky": (_spiky, "(h - r)^3"),
    "wendland": (_wendland, "(1 - r / h)^4 * (4 * r / h + 1)"),
}


@idiom
def sph_density(k: KernelBuilder, level: int) -> Title:
    """The density of a fluid particle by a smoothing kernel, and its pressure by a state law."""
    c = crowd(k, level)
    kind = c.shape.choice(sorted(_SMOOTH))
    p = c.points("positions pos x", 0.0, 2.0)
    masses = c.array("masses m", c.scalar, 0.5, 1.5) if c.shape.chance(0.35) else None
    h = k.scalar("h smoothing_length support", c.scalar, 0.9, 1.3)
    smooth, said = _SMOOTH[kind]
    weigh = routine(
        k, BY_LEVEL[level], f"{kind} w_{kind}", {"r2": c.scalar, "h": c.scalar}, smooth, ""
    )
    mine = k.let("xi pi own", p.at(*c.at))
    total = k.let("rho density acc", zero(c.scalar))
    with others(c, p, False) as j:
        d = c.maybe("d r_vec delta", mine - p.at(*c.place(j)), 0.6)
        r2 = k.let("r2 dist_sq", dot(d, d) if isinstance(d, Var) else fn("length_sq", d))
        with k.if_(r2 < h * h):
            value = weigh(r2, h)
            k.augment(total, "add", value if masses is None else masses[c.place(j)] * value)
    weight = "w" if masses is None else f"{masses.name} * w"
    norm = k.scalar("norm_factor kernel_scale w_scale", c.scalar, 0.3, 1.2)
    found: Expr = norm * total
    by = norm.name
    if masses is None:
        mass = k.scalar("mass particle_mass", c.scalar, 0.5, 2.0)
        found, by = mass * norm * total, f"{mass.name} * {norm.name}"
    rho = k.let("rho_i dens", found)
    text = (
        f"Compute the SPH density of each particle: sum {weight} over {c.told[0]} with r < h, "
        f"where r is the distance in {p.name}{_radius(h)} and w = {said}. "
        f"{c.put('densities rho_out', rho)} gets the density rho, the sum times {by}."
    )
    if c.chance(0.6, 2):
        text += _pressure(c, rho)
    return Title(k.name("sph_density compute_density density_summation"), text)


def _radius(h: Var) -> str:
    """What a description says of the radius h where it is called otherwise."""
    return f", h = {h.name}" if h.name != "h" else ""


def _pressure(c: Crowd, rho: Expr) -> str:
    """The pressure of a density, by one of the usual state laws."""
    stiff = c.k.scalar("stiffness gas_constant k_p", c.scalar, 0.5, 2.0)
    rest = c.k.scalar("rest_density rho0", c.scalar, 0.5, 1.0)
    way = c.shape.weighted({"linear": 4, "clamped": 4, "tait": 1})
    if way == "linear":
        name = c.put("pressures p_out", stiff * (rho - rest))
        return f" {name} gets {stiff.name} * (rho - {rest.name})."
    if way == "clamped":
        name = c.put("pressures p_out", most(stiff * (rho - rest), 0.0))
        return f" {name} gets {stiff.name} * (rho - {rest.name}), at least 0."
    ratio = c.k.let("ratio q_rho", rho / rest)
    name = c.put("pressures p_out", stiff * (ratio * ratio * ratio - 1.0))
    return f" {name} gets {stiff.name} * ((rho / {rest.name})^3 - 1)."


@idiom
def sph_forces(k: KernelBuilder, level: int) -> Title:
    """Pressure and viscosity of a fluid of particles: gradients of smoothing kernels summed."""
    c = crowd(k, level)
    p = c.points("positions pos x", 0.0, 2.0)
    v = c.points("velocities vel v", -1.0, 1.0) if c.chance(0.7, 2) else None
    rho = c.array("densities rho", c.scalar, 0.7, 1.4)
    press = c.array("pressures press", c.scalar, 0.0, 2.0)
    mass = k.scalar("mass particle_mass", c.scalar, 0.5, 1.5)
    h = k.scalar("h smoothing_length support", c.scalar, 0.9, 1.3)
    mu = k.scalar("viscosity mu", c.scalar, 0.2, 1.0) if v is not None else None
    return _sph_forces_stored(c, k, p, v, press, rho, h, mu, mass)


def _sph_forces_stored(
    c: Crowd,
    k: KernelBuilder,
    p: Points,
    v: Points | None,
    press: Var,
    rho: Var,
    h: Var,
    mu: Var | None,
    mass: Var,
) -> Title:
    """What :func:`sph_forces` stores, and its text."""
    halves = c.shape.chance(0.5)
    return _sph_forces_ended(k, p, c, v, halves, press, rho, h, mu, mass)


def _sph_forces_ended(
    k: KernelBuilder,
    p: Points,
    c: Crowd,
    v: Points | None,
    halves: bool,
    press: Var,
    rho: Var,
    h: Var,
    mu: Var | None,
    mass: Var,
) -> Title:
    """What :func:`sph_forces` stores at last, and its text."""
    mine = k.let("xi pi own", p.at(*c.at))
    speed = k.let("vi own_vel", v.at(*c.at)) if v is not None else None
    term = press[c.at] if not halves else press[c.at] / (rho[c.at] * rho[c.at])
    own = k.let("term_i own_term", term)
    force = k.let("force acc f", zero(c.vec))
    guard = c.shape.chance(0.5)
    with others(c, p, guard) as j:
        d = k.let("d r_vec delta", mine - p.at(*c.place(j)))
        r = k.let("r dist" if guard else "r2 dist_sq", fn("length", d) if guard else dot(d, d))
        with k.if_(op("and", r > 0.001, r < h) if guard else op("and", r > 0.000001, r < h * h)):
            r = r if guard else k.let("r dist", sqrt(r))
            gap = k.let("gap w", h - r)
            there = k.let("rho_j dens", rho[c.place(j)])
            if halves:
                push: Expr = own + press[c.place(j)] / (there * there)
            else:
                push = (own + press[c.place(j)]) / (2.0 * there)
            k.augment(force, "add", push * gap * gap / r * d)
            if v is not None and mu is not None and speed is not None:
                drag = mu * gap / (rho[c.at] * there) if halves else mu * gap / there
                k.augment(force, "add", drag * (v.at(*c.place(j)) - speed))
    return _sph_forces_kept(guard, halves, mu, v, h, p, press, rho, c, mass, force, k)


def _sph_forces_kept(
    guard: bool,
    halves: bool,
    mu: Var | None,
    v: Points | None,
    h: Var,
    p: Points,
    press: Var,
    rho: Var,
    c: Crowd,
    mass: Var,
    force: Var,
    k: KernelBuilder,
) -> Title:
    """What :func:`_sph_forces_ended` stores, and its text."""
    seen = " but itself" if guard else ", where |d|^2 exceeds 0.000001,"
    near = ", pairs closer than 0.001 left out" if guard else ""
    law = "p_i / rho_i^2 + p_j / rho_j^2" if halves else "(p_i + p_j) / (2 * rho_j)"
    thick = "(rho_i * rho_j)" if halves else "rho_j"
    drag = (
        f" and the viscous term {mu.name} * (h - r) / {thick} * (v_j - v_i)"
        if mu is not None
        else ""
    )
    of = f", the velocities v in {v.name}" if v is not None else ""
    text = (
        f"Compute the SPH forces of each particle i: sum the pressure term ({law}) * (h - r)^2 * "
        f"d / r{drag} over {c.told[0]}{seen} with r = |d| < h{_radius(h)}{near}. d leads from j to "
        f"i in {p.name}, the pressures p are in {press.name}, the densities rho in {rho.name}{of}. "
    )
    norm = k.scalar("kernel_scale grad_factor", c.scalar, 0.5, 1.5)
    found: Expr = mass * norm * force
    outs = "accelerations acc_out" if halves else "forces f_out force_density"
    text += f"{c.put(outs, found)} gets the sum times {mass.name} * {norm.name}."
    names = "sph_forces fluid_forces" if mu is not None else "pressure_force sph_pressure_force"
    return Title(k.name(names), text)
