"""Fluids of particles: SPH density, pressure and viscosity."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

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
    mine = k.let("xi pos_i", p.at(*c.at))
    total = k.let("rho density acc", zero(c.scalar))
    with others(c, p, False) as j:
        d = c.maybe("d r_vec delta", mine - p.at(*c.place(j)), 0.6)
        r2 = k.let("r2 dist_sq", dot(d, d) if isinstance(d, Var) else fn("length_sq", d))
        # The root has no derivative where the distance is zero.
        apart = kind != "poly6"
        with k.if_(op("and", r2 > 0.0, r2 < h * h) if apart else r2 < h * h):
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
        f"Compute the SPH density of each particle: sum {weight} over {c.told[0]} with "
        f"{'0 < r < h' if apart else 'r < h'}, "
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
    fluid = _Fluid(
        c,
        c.points("positions pos x", 0.0, 2.0),
        c.points("velocities vel v", -1.0, 1.0) if c.chance(0.7, 2) else None,
        c.array("densities rho", c.scalar, 0.7, 1.4),
        c.array("pressures press", c.scalar, 0.0, 2.0),
        k.scalar("h smoothing_length support", c.scalar, 0.9, 1.3),
        c.shape.chance(0.5),
        c.shape.chance(0.5),
    )
    mass = k.scalar("mass particle_mass", c.scalar, 0.5, 1.5)
    mu = k.scalar("viscosity mu", c.scalar, 0.2, 1.0) if fluid.v is not None else None
    force = fluid.summed(mu)
    text = fluid.told(mu)
    norm = k.scalar("kernel_scale grad_factor", c.scalar, 0.5, 1.5)
    outs = "accelerations acc_out" if fluid.halves else "force_densities f_out force_density"
    found: Expr = mass * norm * force
    text += f"{c.put(outs, found)} gets the sum times {mass.name} * {norm.name}."
    names = "sph_forces fluid_forces" if mu is not None else "pressure_force sph_pressure_force"
    return Title(k.name(names), text)


@dataclass(frozen=True)
class _Fluid:
    """The particles of a fluid, and how the forces between them are written."""

    c: Crowd
    p: Points
    v: Points | None
    rho: Var
    press: Var
    h: Var
    halves: bool
    """Whether each pressure is over the square of its own density, or their mean over one."""
    by_length: bool
    """Whether the distance is tested, or its square."""

    def summed(self, mu: Var | None) -> Var:
        """The sum over the others of a particle."""
        c, k, halves = self.c, self.c.k, self.halves
        xi = k.let("xi pos_i", self.p.at(*c.at))
        vi = k.let("vi vel_i", self.v.at(*c.at)) if self.v is not None else None
        rho_i = k.let("rho_i dens_i", self.rho[c.at]) if halves else None
        p_i = k.let("p_i press_i", self.press[c.at])
        own: Expr = p_i if rho_i is None else k.let("a_i term_i", p_i / (rho_i * rho_i))
        force = k.let("force acc f", zero(c.vec))
        with others(c, self.p, self.by_length) as j:
            d = k.let("d r_vec delta", xi - self.p.at(*c.place(j)))
            with ExitStack() as blocks:
                gap, r = self._near(d, blocks)
                rho_j = k.let("rho_j dens_j", self.rho[c.place(j)])
                p_j = k.let("p_j press_j", self.press[c.place(j)])
                push = own + p_j / (rho_j * rho_j) if halves else (own + p_j) / (2.0 * rho_j)
                k.augment(force, "add", push * gap * gap / r * d)
                if self.v is not None and mu is not None and vi is not None:
                    drag = mu * gap / (rho_j if rho_i is None else rho_i * rho_j)
                    k.augment(force, "add", drag * (self.v.at(*c.place(j)) - vi))
        return force

    def _near(self, d: Var, blocks: ExitStack) -> tuple[Var, Var]:
        """Go on for those within h that lie apart: h less the distance, and the distance."""
        k, h, tiny = self.c.k, self.h, 1.0e-6
        if self.by_length:
            r = k.let("r dist", fn("length", d))
            blocks.enter_context(k.if_(op("and", r > tiny * h, r < h)))
        else:
            r2 = k.let("r2 dist_sq", dot(d, d))
            blocks.enter_context(k.if_(op("and", r2 > tiny * h * h, r2 < h * h)))
            r = k.let("r dist", sqrt(r2))
        return k.let("gap w", h - r), r

    def told(self, mu: Var | None) -> str:
        """What the sum is of."""
        halves = self.halves
        seen = " but itself" if self.by_length else ""
        near = "r > 1e-6 * h" if self.by_length else "r^2 > 1e-6 * h^2"
        law = "p_i / rho_i^2 + p_j / rho_j^2" if halves else "(p_i + p_j) / (2 * rho_j)"
        thick = "(rho_i * rho_j)" if halves else "rho_j"
        drag = of = ""
        if mu is not None and self.v is not None:
            drag = f" and the viscous term {mu.name} * (h - r) / {thick} * (v_j - v_i)"
            of = f", the velocities v in {self.v.name}"
        what = "accelerations" if halves else "force densities"
        return (
            f"Compute the SPH {what} of each particle i: sum the pressure term ({law}) * (h - r)^2 "
            f"* d / r{drag} over {self.c.told[0]}{seen} with r = |d| < h{_radius(self.h)} and "
            f"{near}. d leads from j to i in {self.p.name}, the pressures p are in "
            f"{self.press.name}, the densities rho in {self.rho.name}{of}. "
        )
