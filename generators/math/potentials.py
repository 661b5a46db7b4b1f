"""Pair potentials of molecular simulation, and rates by concentration or temperature."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.math.cards import Family, by_hand, either, quantity
from generators.math.compose import compose
from generators.program.expr import Expr


def _lennard_jones(b: BodyBuilder, r: Expr, e: Expr, s: Expr) -> Expr:
    q = b.let(("q", "sr"), s / r)
    if b.draw.shape.chance(0.5):
        s6 = b.let(("s6", "attract"), q * q * q * q * q * q)
    else:
        s2 = b.let(("s2", "q2"), q * q)
        s6 = b.let(("s6", "attract"), s2 * s2 * s2)
    return 4.0 * e * s6 * (s6 - 1.0)


def _lj_force(b: BodyBuilder, r: Expr, e: Expr, s: Expr) -> Expr:
    s6 = b.let(("s6", "attract"), fn("pow", s / r, b.lift(6.0, r.type)))
    return 24.0 * e / r * s6 * (2.0 * s6 - 1.0)


def _morse(b: BodyBuilder, r: Expr, e: Expr, s: Expr, a: Expr) -> Expr:
    decay = b.let(("decay", "w"), fn("exp", -a * (r - s)))
    return either(b, e * (1.0 - decay) * (1.0 - decay) - e, e * decay * (decay - 2.0))


def _buckingham(b: BodyBuilder, r: Expr, e: Expr, s: Expr, a: Expr) -> Expr:
    r2 = b.let(("r2", "r_sq"), r * r)
    return 8.0 * e * fn("exp", -2.0 * a * r / s) - e / (r2 * r2 * r2)


def _wca(b: BodyBuilder, r: Expr, e: Expr, s: Expr) -> Expr:
    q = b.let(("q", "sr"), s / r)
    energy = b.let(("energy", "u"), b.lift(0.0, r.type))
    with b.if_(r < 1.122462 * s):
        s6 = b.let(("s6", "core"), fn("pow", q, b.lift(6.0, r.type)))
        b.assign(energy, e * (4.0 * s6 * (s6 - 1.0) + 1.0))
    return energy


def _soft_sphere(b: BodyBuilder, r: Expr, e: Expr, s: Expr) -> Expr:
    overlap = b.let(("overlap", "depth"), fn("max", 1.2 * s - r, 0.0))
    return 0.5 * e * overlap * overlap


def _switched(b: BodyBuilder, r: Expr, e: Expr, s: Expr) -> Expr:
    b.note("switched off smoothly before the cutoff")
    gate = b.let(("gate", "switch"), 1.0 - fn("smoothstep", 1.1 * s, 1.6 * s, r))
    return e * s / r * gate


def _dipole(b: BodyBuilder, r: Expr, e: Expr, s: Expr) -> Expr:
    ratio = b.let(("ratio", "q"), s / r)
    return -e * ratio * ratio * ratio


def _shell(b: BodyBuilder, r: Expr, e: Expr, s: Expr, a: Expr) -> Expr:
    off = b.let(("off", "delta"), (r - s) * a)
    return -e * fn("exp", -off * off)


_SPLIT = "with q = {s} / {r}"
_POTENTIAL = Family(
    item="pair",
    inputs={"r": quantity("r dist sep", "distances radii separations", 0.8, 1.8)},
    params={
        "e": quantity("epsilon strength well", "epsilons strengths", 0.5, 1.5, 1.0, 0.5, 0.8),
        "s": quantity("sigma r0 size", "sigmas sizes", 0.8, 1.2, 1.0, 0.9, 1.1),
        "a": quantity("alpha stiff kappa", "alphas kappas", 0.8, 2.0, 1.0, 1.5, 2.0),
    },
    titles="pair_energy energy_by_kind pair_potential_by_type",
    kinds="bond_type pair_type species",
    struct="PairParams Bond ForceField",
    grids=("i|pair|tid", "i j|a_idx b_idx|row col", "frame i j|cell i j"),
    parts="neighbours nb j",
    weights="weights scale_factors",
    masks="bonded active mask",
    reductions=("sum", "mean", "largest", "smallest"),
    cards=(
        by_hand(
            "lennard_jones",
            "energy potential",
            f"4 * {{e}} * (q^12 - q^6) {_SPLIT}",
            "r e s",
            _lennard_jones,
        ),
        by_hand(
            "lj_force",
            "force push",
            f"24 * {{e}} / {{r}} * (2 * q^12 - q^6) {_SPLIT}",
            "r e s",
            _lj_force,
        ),
        by_hand(
            "morse",
            "energy potential",
            "{e} * ((1 - w)^2 - 1) with w = exp(-{a} * ({r} - {s}))",
            "r e s a",
            _morse,
        ),
        by_hand(
            "buckingham",
            "energy potential",
            "8 * {e} * exp(-2 * {a} * {r} / {s}) - {e} / {r}^6",
            "r e s a",
            _buckingham,
        ),
        by_hand(
            "wca",
            "energy repulsion",
            f"{{e}} * (4 * (q^12 - q^6) + 1) where {{r}} < 1.122462 * {{s}}, else 0, {_SPLIT}",
            "r e s",
            _wca,
        ),
        by_hand(
            "yukawa",
            "energy screened",
            "{e} * exp(-{a} * {r}) / {r}",
            "r e a",
            lambda b, r, e, a: e * fn("exp", -a * r) / r,
        ),
        by_hand(
            "ewald_real",
            "energy coulomb",
            "{e} * erfc({a} * {r}) / {r}",
            "r e a",
            lambda b, r, e, a: e * fn("erfc", a * r) / r,
        ),
        by_hand(
            "gaussian_charge",
            "energy coulomb",
            "{e} * erf({a} * {r}) / {r}",
            "r e a",
            lambda b, r, e, a: e / r * fn("erf", a * r),
        ),
        by_hand(
            "harmonic_bond",
            "energy strain",
            "{e} / 2 * ({r} - {s})^2",
            "r e s",
            lambda b, r, e, s: 0.5 * e * (x := b.let(("stretch", "dr"), r - s)) * x,
        ),
        by_hand(
            "soft_sphere",
            "energy contact",
            "{e} / 2 * max(1.2 * {s} - {r}, 0)^2",
            "r e s",
            _soft_sphere,
        ),
        by_hand(
            "switched_coulomb",
            "energy coulomb",
            "{e} * {s} / {r} * (1 - smoothstep(1.1 * {s}, 1.6 * {s}, {r}))",
            "r e s",
            _switched,
        ),
        by_hand("induced_dipole", "energy attraction", "-{e} * ({s} / {r})^3", "r e s", _dipole),
        by_hand(
            "gaussian_shell",
            "energy well_out",
            "-{e} * exp(-(({r} - {s}) * {a})^2)",
            "r e s a",
            _shell,
        ),
    ),
)


@idiom
def pair_potential(k: KernelBuilder, level: int) -> Title:
    """Energies and forces of pairs at a distance."""
    return compose(k, level, _POTENTIAL)
