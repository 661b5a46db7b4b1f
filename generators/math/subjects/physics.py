"""Physics: energies of pairs, radiation, diffusion, and profiles by hyperbolic functions."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import erf, exp, log, most, sqrt
from generators.math.cards import Family, either, quantity
from generators.math.compose import DEPTH, compose
from generators.program.expr import Expr

_POTENTIAL = Family(
    inputs={"r": quantity("r dist", "distances separations", 0.8, 1.8)},
    params={
        "e": quantity("epsilon", "epsilons", 0.5, 1.5, 1.2, 0.5, 0.8),
        "s": quantity("sigma", "sigmas", 0.8, 1.2, 0.95, 0.9, 1.1),
        "a": quantity("alpha kappa", "alphas kappas", 0.8, 2.0, 1.25, 1.5, 2.0),
        "on": quantity("r_switch", "r_switches", 0.9, 1.2),
        "cut": quantity("r_cut", "r_cuts", 1.4, 1.7),
    },
    titles="pair_energy energy_by_kind pair_potential_by_type",
    kinds="bond_type pair_type species",
    struct="PairParams Bond ForceField",
    grids=("i|tid|p", "i j|row col", "frame i j|cell i j"),
    weights="weights scale_factors",
    masks="bonded active mask",
    reductions=("sum",),
    reduced="lennard_jones morse buckingham wca yukawa ewald_real harmonic_bond soft_sphere",
    groups="pair_types",
    varying="e s a",
    tabled=True,
    about={
        "lennard_jones": "Lennard-Jones energy of pairs at a distance",
        "lj_force": "Lennard-Jones force of pairs at a distance, positive where it repels",
        "morse": "Morse energy of bonds, 0 for separated atoms",
        "buckingham": "Buckingham energy of pairs (exp-6)",
        "wca": "Weeks-Chandler-Andersen energy of pairs",
        "yukawa": "screened Coulomb (Yukawa) energy of pairs",
        "ewald_real": "real-space part of the Ewald sum for pairs of charges",
        "gaussian_charge": "Coulomb energy of a point and a Gaussian charge",
        "harmonic_bond": "energy of harmonic bonds",
        "soft_sphere": "energy of soft spheres that overlap",
        "induced_dipole": "energy of an ion and the dipole that it induces, by the fourth power of "
        "the distance",
        "gaussian_shell": "energy of a Gaussian well about a distance",
        "switched_coulomb": "Coulomb energy that is switched off smoothly before a cutoff",
    },
)


@_POTENTIAL.formula("energy potential", "4 * {e} * (q^12 - q^6) with q = {s} / {r}")
def lennard_jones(body: BodyBuilder, r: Expr, e: Expr, s: Expr) -> Expr:
    q = body.let("q sr", s / r)
    if body.draw.shape.chance(0.5):
        s6 = body.let("s6 attract", q * q * q * q * q * q)
    else:
        s2 = body.let("s2 q2", q * q)
        s6 = body.let("s6 attract", s2 * s2 * s2)
    return 4.0 * e * s6 * (s6 - 1.0)


@_POTENTIAL.formula("force pair_force")
def lj_force(body: BodyBuilder, r: Expr, e: Expr, s: Expr) -> Expr:
    s6 = body.let("s6 attract", (s / r) ** 6.0)
    return 24.0 * e / r * s6 * (2.0 * s6 - 1.0)


@_POTENTIAL.formula(
    "energy potential", e="well_depth well_depths", s="r_eq r_eqs", a="stiffness stiffnesses"
)
def morse(body: BodyBuilder, r: Expr, e: Expr, s: Expr, a: Expr) -> Expr:
    decay = body.let("decay w", exp(-a * (r - s)))
    return either(body, e * (1.0 - decay) * (1.0 - decay) - e, e * decay * (decay - 2.0))


@_POTENTIAL.formula(
    "energy potential",
    e="repulsion repulsions",
    s="dispersion dispersions",
    a="falloff falloffs",
)
def buckingham(body: BodyBuilder, r: Expr, e: Expr, s: Expr, a: Expr) -> Expr:
    r2 = body.let("r2 r_sq", r * r)
    return e * exp(-a * r) - s / (r2 * r2 * r2)


@_POTENTIAL.formula(
    "energy repulsion",
    "{e} * (4 * (q^12 - q^6) + 1) where {r} < 1.122462 * {s}, else 0, with q = {s} / {r}",
)
def wca(body: BodyBuilder, r: Expr, e: Expr, s: Expr) -> Expr:
    q = body.let("q sr", s / r)
    energy = body.let("energy u", body.lift(0.0, r.type))
    with body.if_(r < 1.122462 * s):
        s6 = body.let("s6 core", q**6.0)
        body.assign(energy, e * (4.0 * s6 * (s6 - 1.0) + 1.0))
    return energy


_CHARGES = "charge_product charge_products"
_POTENTIAL.add(
    "yukawa",
    "energy screened_energy",
    lambda r, e, a: e * exp(-a * r) / r,
    e=_CHARGES,
    a="kappa kappas",
)
_POTENTIAL.add(
    "ewald_real",
    "energy coulomb_energy",
    lambda r, e, a: e * fn("erfc", a * r) / r,
    e=_CHARGES,
    a="alpha alphas",
)
_POTENTIAL.add(
    "gaussian_charge",
    "energy coulomb_energy",
    lambda r, e, a: e / r * erf(a * r),
    e=_CHARGES,
    a="inv_width inv_widths",
)
_POTENTIAL.add(
    "harmonic_bond",
    "energy bond_energy",
    lambda body, r, e, s: 0.5 * e * (x := body.let("stretch dr", r - s)) * x,
    e="stiffness stiffnesses",
    s="rest_length rest_lengths",
)
_POTENTIAL.add(
    "soft_sphere",
    "energy contact_energy",
    lambda body, r, e, s: 0.5 * e * (x := body.let("overlap depth", most(s - r, 0.0))) * x,
    e="stiffness stiffnesses",
    s="diameter diameters",
)


@_POTENTIAL.formula(
    "energy coulomb_energy",
    "{e} / {r} * (1 - smoothstep({on}, {cut}, {r}))",
    e=_CHARGES,
)
def switched_coulomb(body: BodyBuilder, r: Expr, e: Expr, on: Expr, cut: Expr) -> Expr:
    gate = body.let("gate switch", 1.0 - fn("smoothstep", on, cut, r))
    return e / r * gate


@_POTENTIAL.formula("energy attraction")
def induced_dipole(body: BodyBuilder, r: Expr, e: Expr, s: Expr) -> Expr:
    ratio = body.let("ratio q", s / r)
    ratio_sq = body.let("ratio_sq q_sq", ratio * ratio)
    return -e * ratio_sq * ratio_sq


@_POTENTIAL.formula(
    "energy well_out",
    e="well_depth well_depths",
    s="r_well r_wells",
    a="inv_width inv_widths",
)
def gaussian_shell(body: BodyBuilder, r: Expr, e: Expr, s: Expr, a: Expr) -> Expr:
    off = body.let("off delta", (r - s) * a)
    return -e * exp(-off * off)


@idiom(depth=DEPTH)
def pair_potential(k: KernelBuilder, level: int) -> Title:
    """Energies and forces of pairs at a distance."""
    return compose(k, level, _POTENTIAL)


_RADIATION = Family(
    inputs={
        "w": quantity("wavelength micron", "wavelengths microns", 1.5, 9.0),
        "t": quantity("temp kelvin", "temps kelvins", 800.0, 3000.0),
    },
    params={
        "a": quantity("tau optical_depth", "taus optical_depths", 0.8, 4.0, 1.5, 2.0, 3.0),
        "e": quantity("emissivity", "emissivities", 0.4, 0.95, 0.5, 0.9, 0.8),
    },
    titles="radiance_by_kind thermal_model emission",
    kinds="law kinds model",
    struct="Material Emitter Gas",
    records="Spectrum Sample Pixel",
    grids=("i|tid|band", "row col|y x|i j", "scene row col|b i j"),
    masks="clear valid mask",
    swept=("planck w", "wien w"),
    groups="material_ids surface_ids",
    varying="e",
    about={
        "planck": "Planck radiance at a wavelength in microns, in W / (m^2 sr micron)",
        "wien": "radiance by Wien's law at a wavelength in microns, in W / (m^2 sr micron)",
        "brightness_temperature": "brightness temperature of a grey body at a wavelength",
        "photon_number": "mean number of photons in a mode at a wavelength in microns",
        "grey_body": "radiance of a grey body at a wavelength in microns",
        "slab_emission": "radiance of a gas layer of an optical depth, by Wien's law",
        "outgoing_flux": "flux in W / m^2 that leaves through a grey atmosphere",
        "eddington_layer": "temperature at an optical depth in Eddington's grey atmosphere of an "
        "effective temperature",
        "haze_transmission": "transmission of haze with an Angstrom exponent of 1.3",
        "rayleigh_jeans": "radiance by the Rayleigh-Jeans law at a wavelength in microns",
        "rayleigh_loss": "share of light lost to Rayleigh scattering",
    },
)


@_RADIATION.formula("radiance spectrum")
def planck(body: BodyBuilder, w: Expr, t: Expr) -> Expr:
    x = body.let("x hv_kt", 14387.77 / (w * t))
    w5 = body.let("w5 lambda5", w * w * w * w * w)
    return 1.191043e8 / (w5 * (exp(x) - 1.0))


_RADIATION.add(
    "wien", "radiance spectrum", lambda w, t: 1.191043e8 * w**-5.0 * exp(-14387.77 / (w * t))
)


@_RADIATION.formula("brightness t_bright")
def brightness_temperature(body: BodyBuilder, w: Expr, t: Expr, e: Expr) -> Expr:
    x = body.let("x hv_kt", 14387.77 / (w * t))
    dim = body.let("dim grey", 1.0 + (exp(x) - 1.0) / e)
    return 14387.77 / (w * log(dim))


_RADIATION.add(
    "photon_number", "occupancy photons", lambda w, t: 1.0 / (exp(14387.77 / (w * t)) - 1.0)
)


@_RADIATION.formula("radiance spectrum")
def grey_body(body: BodyBuilder, w: Expr, t: Expr, e: Expr) -> Expr:
    w4 = body.let("w4 lambda4", w * w * w * w)
    grown = body.let("growth bose", exp(14387.77 / (w * t)) - 1.0)
    return either(body, 1.191043e8 * e / (w4 * w * grown), e * (1.191043e8 / (w4 * w)) / grown)


_RADIATION.add(
    "slab_emission",
    "radiance emitted",
    lambda w, t, a: 1.191043e8 * w**-5.0 * exp(-14387.77 / (w * t)) * (1.0 - exp(-a)),
)
_RADIATION.add(
    "outgoing_flux",
    "flux flux_out",
    lambda body, t, a, e: (
        5.670374e-8 * e * (t2 := body.let("t2 t_sq", t * t)) * t2 / (1.0 + 0.75 * a)
    ),
)
_RADIATION.add("eddington_layer", "layer_temps", lambda t, a: t * (0.75 * a + 0.5) ** 0.25)
_RADIATION.add("haze_transmission", "transmitted light", lambda w, a: exp(-a * w**-1.3))
_RADIATION.add(
    "rayleigh_jeans",
    "radiance spectrum",
    lambda body, w, t: 8278.0 * t / ((w2 := body.let("w2 lambda2", w * w)) * w2),
)
_RADIATION.add(
    "rayleigh_loss",
    "scattered loss_out",
    lambda body, w, a: 1.0 - exp(-a / ((w2 := body.let("w2 lambda2", w * w)) * w2)),
)


@idiom(depth=DEPTH)
def thermal_radiation(k: KernelBuilder, level: int) -> Title:
    """Planck's law, greybodies, occupation numbers, absorption and activation."""
    return compose(k, level, _RADIATION)


_DIFFUSION = Family(
    inputs={
        "x": quantity("x depth pos", "positions depths xs", 0.05, 2.2),
        "p": quantity("p conc level", "levels concs probs", 0.04, 0.96),
    },
    params={
        "d": quantity("diffusivity", "diffusivities", 0.3, 1.2, 0.5, 0.4, 0.8),
        "t": quantity("time age", "times ages", 0.4, 1.6, 0.5, 0.8, 1.5),
        "h": quantity("half_width drift margin", "half_widths drifts", 0.4, 1.4, 0.5, 1.2, 0.75),
    },
    titles="diffusion_by_kind front_profile error_function_model",
    kinds="model kinds setting",
    struct="Medium Process",
    records="Probe Sample Point",
    grids=("i|tid|node", "row col|i j|y x", "case row col|b i j"),
    masks="wet valid mask",
    groups="material_ids layer_ids",
    varying="d",
    grouped_only=True,
    about={
        "constant_source": "concentration below a surface that is kept at 1",
        "instant_source": "concentration of a unit amount released at once at a surface",
        "finite_slab": "concentration about a slab that held 1 at first",
        "tracer_front": "concentration behind a front that flow carries while it spreads",
        "integrated_erfc": "integral of erfc, the profile below a constant flux in units of its "
        "scale",
        "convective_surface": "temperature of a half-space that is heated by convection, from 0 to "
        "the 1 of the fluid",
        "junction_depth": "depth at which a diffused dopant has fallen to a ratio of its surface "
        "value",
        "front_time": "time at which a depth reaches a ratio of the surface concentration",
    },
)


def _reach(body: BodyBuilder, d: Expr, t: Expr) -> Expr:
    return body.let("reach width length_d", 2.0 * sqrt(d * t))


def _erfc(x: Expr) -> Expr:
    return fn("erfc", x)


_DIFFUSION.add(
    "constant_source",
    "conc_out profile",
    lambda body, x, d, t: _erfc(x / _reach(body, d, t)),
    x="depth depths",
)


@_DIFFUSION.formula("conc_out profile", x="x xs")
def instant_source(body: BodyBuilder, x: Expr, d: Expr, t: Expr) -> Expr:
    reach = _reach(body, d, t)
    z = body.let("z rel", x / reach)
    return 1.1283792 / reach * exp(-z * z)


@_DIFFUSION.formula("conc_out profile", h="half_width half_widths", x="x xs")
def finite_slab(body: BodyBuilder, x: Expr, d: Expr, t: Expr, h: Expr) -> Expr:
    reach = _reach(body, d, t)
    return 0.5 * (erf((h - x) / reach) + erf((h + x) / reach))


_DIFFUSION.add(
    "tracer_front",
    "breakthrough front",
    lambda body, x, d, t, h: 0.5 * _erfc((x - h * t) / _reach(body, d, t)),
    h="velocity velocities",
    x="x xs",
)


@_DIFFUSION.formula("ierfc_out profile", x="depth depths")
def integrated_erfc(body: BodyBuilder, x: Expr, d: Expr, t: Expr) -> Expr:
    z = body.let("z rel", x / _reach(body, d, t))
    return 0.56418958 * exp(-z * z) - z * _erfc(z)


@_DIFFUSION.formula("temp_out warmth", x="depth depths", h="h_over_k h_over_ks")
def convective_surface(body: BodyBuilder, x: Expr, d: Expr, t: Expr, h: Expr) -> Expr:
    reach = _reach(body, d, t)
    film = body.let("film exp_term", exp(h * (x + h * d * t)))
    return _erfc(x / reach) - film * _erfc(x / reach + 0.5 * h * reach)


_DIFFUSION.add(
    "junction_depth",
    "depth_out junction",
    lambda body, p, d, t: _reach(body, d, t) * fn("erfcinv", p),
    "2 * sqrt({d} * {t}) * erfcinv({p})",
    p="conc_ratio conc_ratios",
)


@_DIFFUSION.formula(
    "arrival time_out",
    "z^2 / {d} with z = {x} / (2 * erfcinv({p}))",
    p="conc_ratio conc_ratios",
    x="depth depths",
)
def front_time(body: BodyBuilder, x: Expr, p: Expr, d: Expr) -> Expr:
    z = body.let("z rel", x / (2.0 * fn("erfcinv", p)))
    return z * z / d


@idiom(depth=DEPTH)
def diffusion_profile(k: KernelBuilder, level: int) -> Title:
    """Diffusion fronts, bit errors and normal scores by error functions and their inverses."""
    return compose(k, level, _DIFFUSION)
