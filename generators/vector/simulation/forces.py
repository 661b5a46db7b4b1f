"""Forces between all particles or near ones: gravity, charges, Lennard-Jones, vortices."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import FOUR_PI, TWO_PI, dot, most, sqrt
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sources import zero
from generators.kit.text import written
from generators.program.expr import Expr, Var
from generators.vector.simulation.parts import Crowd, Points, crowd, others, softened


def _over_cube(c: Crowd, top: Expr, r2: Expr) -> Expr:
    """Something over the distance cubed, in one of the ways that people write it."""
    k = c.k
    way = c.shape.choice(("root", "inverse", "product"))
    if way == "root":
        inv = k.let("inv_r inv_dist rinv", 1.0 / sqrt(r2))
        return top * inv * inv * inv
    if way == "inverse":
        r = k.let("r dist", sqrt(r2))
        return top / (r2 * r)
    return top / sqrt(r2 * r2 * r2)


@idiom
def all_pairs_force(k: KernelBuilder, level: int) -> Title:
    """The softened inverse-square force of all others: gravity, or charges."""
    c = crowd(k, level, flat=0.25)
    law = c.shape.choice(("gravity", "charges"))
    p = c.points("positions pos x", -2.0, 2.0)
    names = "masses mass m" if law == "gravity" else "charges charge q"
    strength = c.array(names, c.scalar, 0.3 if law == "gravity" else -1.0, 1.0)
    mine = k.let("xi pos_i own_pos", p.at(*c.at))
    total = k.let("acc total a_i" if law == "gravity" else "force f fi", zero(c.vec))
    well = c.chance(0.45, 3)
    energy = k.let("potential phi energy", zero(c.scalar)) if well else None
    guard = c.chance(0.4)
    near = len(c.dims) == 1 and c.chance(0.3, 2)
    with others(c, p, guard, {"rows": 1} if near else {"all": 1}) as j:
        there = c.maybe("xj pj", p.at(*c.place(j)), 0.3)
        d = k.let("d delta r_vec", there - mine if law == "gravity" else mine - there)
        squared, soft = softened(c, d)
        r2 = k.let("r2 dist_sq d2", squared)
        pull = c.maybe("w s", _over_cube(c, strength[c.place(j)], r2), 0.6)
        k.augment(total, "add", pull * d)
        if energy is not None:
            k.augment(energy, "sub" if law == "gravity" else "add", strength[c.place(j)] / sqrt(r2))
    scale = c.number("G grav_const" if law == "gravity" else "coulomb k_e", 0.5, 2.0, 1.0)
    own = "" if law == "gravity" and c.shape.chance(0.7) else strength.name
    found = scale * strength[c.at] * total if own else scale * total
    done = "accelerations acc_out a_out" if not own else "forces force_out f_out"
    out = c.put(done, found)
    way = "from it to them" if law == "gravity" else "from them to it"
    text = (
        f"Compute the softened {'gravity' if law == 'gravity' else 'Coulomb force'} on each "
        f"particle: sum {strength.name} * d / r^3 over {c.told[0]}"
        f"{', itself left out' if guard else ''}, with d {way} in {p.name} and r^2 = |d|^2 + "
        f"{soft}. {out} gets the sum times {written(scale)}{f' and its own {own}' if own else ''}."
    )
    text += _NEAR_FIELD if near else ""
    if energy is not None:
        sign = "minus " if law == "gravity" else ""
        kept = c.put("potentials phi_out", scale * energy)
        text += f" {kept} gets {sign}{written(scale)} times the sum of {strength.name} / r."
    return Title(k.name(_NEAR_NAMES[law] if near else _PAIR_NAMES[law]), text)


_PAIR_NAMES = {
    "gravity": "nbody_forces gravity_forces nbody_gravity",
    "charges": "coulomb_forces charge_forces",
}
_NEAR_FIELD = (
    " This is the near field of a fast multipole method: the list holds the particles of a "
    "particle's own cell and of those beside it."
)
_NEAR_NAMES = {
    "gravity": "near_field_gravity p2p_gravity",
    "charges": "near_field_coulomb p2p_coulomb",
}


def _well(c: Crowd, r2: Expr, sigma: Expr | None, depth: Expr | None) -> tuple[Expr, Expr]:
    """The force over the distance, and half the energy of a pair, in reduced units or not."""
    k = c.k
    close = c.maybe("r2c safe_r2 r2_used", r2, 0.3 if sigma is None else 1.0)
    inv = k.let("inv2 s2 q", 1.0 / close if sigma is None else sigma * sigma / close)
    six = k.let("s6 inv6 sr6", inv * inv * inv)
    if c.shape.chance(0.5):
        strength: Expr = 48.0 * six * (six - 0.5)
    else:
        strength = 24.0 * (2.0 * six * six - six)
    energy = 2.0 * six * (six - 1.0)
    if depth is not None:
        strength, energy = depth * strength, depth * energy
    return strength * inv if sigma is None else strength / close, energy


@idiom
def lennard_jones(k: KernelBuilder, level: int) -> Title:
    """Lennard-Jones forces within a cut-off, of everyone or of a neighbour list."""
    c = crowd(k, level, flat=0.3)
    p = c.points("positions pos x", 0.0, 4.0)
    box = k.scalar("box box_length side", c.scalar, 4.0, 5.0) if c.chance(0.35, 2) else None
    reach = k.scalar("cutoff r_cut rc", c.scalar, 1.6, 2.2)
    units = c.shape.chance(0.7)
    sigma = k.scalar("sigma diameter", c.scalar, 0.8, 1.0) if units else None
    depth = k.scalar("epsilon well_depth", c.scalar, 0.5, 1.5) if units else None
    core = c.number("r2_min min_r2 core_sq", 0.6, 0.8) if c.shape.chance(0.85) else None
    mine = k.let("xi pos_i own_pos", p.at(*c.at))
    force = k.let("force f fi", zero(c.vec))
    energy = k.let("energy u pot", zero(c.scalar)) if c.chance(0.4, 3) else None
    with others(c, p, True) as j:
        d = k.let("d dr delta", mine - p.at(*c.place(j)))
        if box is not None:
            turns = [fn("rint", d[a] / box) for a in range(c.vec.size)]
            k.augment(d, "sub", box * make(c.vec, *turns))
        r2 = k.let("r2 dist_sq", dot(d, d))
        with k.if_(r2 < reach * reach):
            pull, half = _well(c, r2 if core is None else most(r2, core), sigma, depth)
            k.augment(force, "add", c.maybe("fr mag f_over_r", pull) * d)
            if energy is not None:
                k.augment(energy, "add", half)
    wrap = f", the nearest image in a periodic box whose sides are {box.name}" if box else ""
    floor = f"max(|d|^2, {written(core)})" if core is not None else "|d|^2"
    of = f"s = {sigma.name} and e = {depth.name}" if sigma and depth else "s = e = 1"
    text = (
        f"Sum the Lennard-Jones forces on each particle, of {c.told[0]} but itself where |d| < "
        f"{reach.name}. A pair's energy is 4 e * ((s / r)^12 - (s / r)^6) with {of}; d "
        f"leads from the other to it in {p.name}{wrap}, and r^2 is {floor}. "
    )
    text += f"{c.put('forces force_out f_out', force)} gets the sum."
    if energy is not None:
        text += f" {c.put('energies pot_energy u_out', energy)} gets half the sum of energies."
    return Title(k.name("lennard_jones lj_forces pair_forces_lj"), text)


def _kernel_of_vortex(c: Crowd, d: Expr, r2: Expr, spin: Expr) -> Expr:
    """The velocity that a vortex makes at an offset, without the factor of the sphere or circle."""
    if c.vec.size == 2:
        return spin / r2 * make(c.vec, -d[1], d[0])
    r = c.maybe("r dist", sqrt(r2))
    return fn("cross", spin, d) / (r2 * r)


@idiom
def vortex_velocity(k: KernelBuilder, level: int) -> Title:
    """Biot and Savart's law: velocities at points by vortex particles, mollified."""
    c = crowd(k, level, flat=0.5)
    own = c.shape.chance(0.5)
    p = c.points("targets probes points" if not own else "vortices vortex_pos", -1.5, 1.5)
    q = p
    if not own:
        dims = (*c.dims[:-1], k.size("num_vortices", 10, 16))
        q = c.points("vortices sources vortex_pos", -1.5, 1.5, dims)
    kind = c.scalar if c.vec.size == 2 else c.vec
    spins = k.array("strengths circulation gamma", kind, q.dims, low=-1.0, high=1.0)
    mine = k.let("x xi here", p.at(*c.at))
    v = k.let("v vel u", zero(c.vec))
    turn = k.let("stretch dgdt", zero(c.vec)) if c.vec.size == 3 and own and level > 3 else None
    wide = spins[c.at] if turn is not None else None
    gamma = k.let("g_i own_gamma", wide) if wide is not None else None
    with k.for_("j s", q.count) as j:
        d = k.let("d r_vec delta", mine - q.at(*c.place(j)))
        squared, soft = softened(c, d, 0.2, 0.5)
        r2 = k.let("r2 dist_sq", squared)
        spin = c.maybe("g gamma_j strength", spins[c.place(j)], 0.4)
        k.augment(v, "add", _kernel_of_vortex(c, d, r2, spin))
        if turn is not None and gamma is not None:
            k.augment(turn, "add", fn("cross", gamma, spin) / (r2 * sqrt(r2)))
    factor = TWO_PI if c.vec.size == 2 else FOUR_PI
    found: Expr = v / factor
    by = "2 * pi" if c.vec.size == 2 else "4 * pi"
    text = f"{_induced(c, p, q, spins)}r^2 = |d|^2 + {soft}. "
    if c.chance(0.4, 2):
        stream = k.scalar("u_inf free_stream background", c.vec, -1.0, 1.0)
        found = stream + found
        text += f"{c.put('velocities vel_out u_out', found)} gets {stream.name} plus "
        text += f"the sum over {by}."
    else:
        text += f"{c.put('velocities vel_out u_out', found)} gets the sum over {by}."
    return _vortex_velocity_stored(turn, text, c, k)


def _induced(c: Crowd, p: Points, q: Points, spins: Var) -> str:
    """What vortices induce at points, or at one another, in words."""
    own = p is q
    law = "g * (-d.y, d.x) / r^2" if c.vec.size == 2 else "cross(g, d) / r^3"
    whom = f"each point of {p.name} by the vortices at {q.name}"
    whom = f"each of the vortices at {p.name} by all of them" if own else whom
    ends = "the one that induces to the one that moves" if own else "the vortex to the point"
    text = f"Compute the velocity induced at {whom} (Biot-Savart): sum {law} over the vortices, "
    text += f"d leading from {ends}, "
    return f"{text}g {'the' if own else 'its'} {spins.name}{' of the former' * own}, "


def _vortex_velocity_stored(turn: Var | None, text: str, c: Crowd, k: KernelBuilder) -> Title:
    """What :func:`vortex_velocity` stores, and its text."""
    if turn is not None:
        text += f" {c.put('stretching dgamma', turn)} gets the sum of cross(its own g, g) / r^3."
    return Title(k.name("vortex_velocity biot_savart induced_velocity"), text)


def _erfc_pair(b: BodyBuilder, r: Expr, alpha: Expr) -> Expr:
    """The real-space force of Ewald's sum over the distance, without the charges."""
    ar = b.let("ar scaled", alpha * r)
    gauss = b.let("gauss e2", fn("exp", -(ar * ar)))
    return (fn("erfc", ar) / r + 1.128379 * alpha * gauss) / (r * r)


@idiom
def ewald_real(k: KernelBuilder, level: int) -> Title:
    """The part of an Ewald sum that is taken in real space: screened charges of a periodic box."""
    c = crowd(k, level, space=3)
    p = c.points("positions pos x", 0.0, 3.0)
    q = c.array("charges q", c.scalar, -1.0, 1.0)
    alpha = k.scalar("alpha ewald_coeff beta", c.scalar, 0.8, 1.4)
    reach = c.number("cutoff r_cut", 1.2, 1.5, 0.8)
    box = k.scalar("box box_length side", c.scalar, 3.0, 3.5)
    forces = c.shape.chance(0.6)
    law = routine(
        k,
        BY_LEVEL[level],
        "ewald_pair real_space",
        {"r": c.scalar, "alpha": c.scalar},
        _erfc_pair if forces else lambda b, r, a: fn("erfc", a * r) / r,
        "Of unit charges.",
    )
    return _ewald_real_stored(k, p, c, forces, box, reach, q, law, alpha)


def _nearest_image(c: Crowd, d: Var, box: Var) -> None:
    """An offset in a periodic box, of the nearest of all images."""
    if c.shape.chance(0.5):
        turns = make(c.vec, *(fn("rint", d[a] / box) for a in range(3)))
        c.k.augment(d, "sub", box * turns)
        return
    for a in range(3):
        c.k.set(d, a, d[a] - box * fn("rint", d[a] / box))


def _ewald_real_stored(
    k: KernelBuilder,
    p: Points,
    c: Crowd,
    forces: bool,
    box: Var,
    reach: Expr,
    q: Var,
    law: Callable[..., Expr],
    alpha: Var,
) -> Title:
    """What :func:`ewald_real` stores, and its text."""
    mine = k.let("xi pos_i own_pos", p.at(*c.at))
    start = zero(c.vec) if forces else zero(c.scalar)
    total = k.let("force f fi" if forces else "potential phi", start)
    with others(c, p, True) as j:
        d = k.let("d dr delta", mine - p.at(*c.place(j)))
        _nearest_image(c, d, box)
        r = k.let("r dist", fn("length", d))
        with k.if_(r < reach):
            term = q[c.place(j)] * law(r, alpha)
            k.augment(total, "add", term * d if forces else term)
    # Each pair is met twice, and its energy shared by both.
    value: Expr = q[c.at] * total if forces else 0.5 * q[c.at] * total
    value = value if forces or c.shape.chance(0.5) else total
    found = c.put(
        "forces f_out" if forces else "potentials phi_out" if value is total else "energies", value
    )
    what = (
        f"(erfc(a * r) / r + 2 / sqrt(pi) * a * exp(-(a * r)^2)) / r^2 * d with a = {alpha.name},"
    )
    what = what if forces else f"erfc({alpha.name} * r) / r"
    own = f" times {'' if forces else 'half '}its own {q.name}" if value is not total else ""
    text = (
        f"Compute the real-space part of an Ewald sum for each particle: sum {q.name} * {what} "
        f"over {c.told[0]} but itself with r < {written(reach)}. d is the offset from the other's "
        f"nearest image in {p.name} in a periodic box whose sides are {box.name}, r = |d|. {found} "
        f"gets the sum{own}."
    )
    return Title(k.name("ewald_real_space screened_coulomb real_space_ewald"), text)
