"""Molecules: angles and torsions of bonds, shapes of chains, contacts, deviations of models."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, extent, fn
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.functions import atan2, cos, dot, exp, sin, sqrt
from generators.kit.masks import one_if
from generators.kit.naming import local
from generators.kit.sources import zero
from generators.kit.text import written
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Operand, Var
from generators.vector.simulation.parts import Crowd, Points, index, named, points_of


def _terms(k: KernelBuilder, level: int, count: int) -> tuple[Crowd, list[Expr], str]:
    """A thread for each term: its atoms follow one another in a chain, and a text.

    Terms are all there are, begin at atoms that are listed, or lie in residues of three atoms.
    """
    shape = k.draw.shape
    vec = Vec(3, k.draw.wide_float_type())
    many = level > 1 and shape.chance(0.35)
    if many:
        k.size("frames", 3, 4)
    way = shape.choice(("chain", "listed", "residues"))
    k.size("m", 8, 10) if many else k.size("m", 16, 20)
    dims = ("frames", "m") if many else ("m",)
    names = (k.name("f frame"), k.name("t tid")) if many else (k.name("t tid a"),)
    at = k.thread(*dims, names=names)
    c, me = Crowd(k, level, vec, dims, at), at[-1]
    lead: tuple[Expr, ...] = at[:-1]
    what = "positions pos coords"
    if way == "residues":
        residues = "m+1" if count > 3 else "m"
        p = points_of(k, vec, what, -1.5, 1.5, (*dims[:-1], residues, "3"), level)
        slots: list[tuple[Operand, ...]] = [(me, s) for s in range(3)]
        slots += [(me + 1, 0)] * (count > 3)
        said = f"atoms 0, 1 and 2 of each residue{' and 0 of the next' * (count > 3)}"
    else:
        first: Expr = me
        atoms = f"m+{count - 1}"
        said = f"every {count} atoms in a row"
        if way == "listed":
            starts = k.array("first_atoms starts heads", INT32, "m", init="index_of:m")
            first = k.let("i a0 head", starts[me])
            said = f"the {count} atoms in a row from each of {starts.name}"
        p = points_of(k, vec, what, -1.5, 1.5, (*dims[:-1], atoms), level)
        slots = [(first,), *((first + n,) for n in range(1, count))]
    letter = k.draw.word.choice(("r", "x", "p"))
    x = [k.let(f"{letter}{n}", p.at(*lead, *slot)) for n, slot in enumerate(slots)]
    return c, list(x), f"{said}, at {p.name}"


def _harmonic(c: Crowd, angle: Expr) -> tuple[Expr, Expr, str]:
    """A harmonic energy of an angle: its derivative, itself, and a text."""
    k = c.k
    each = c.shape.chance(0.5)
    only = (c.me,)
    if each:
        stiff: Expr = k.array("stiffness k_theta", c.scalar, "m", low=0.5, high=2.0)[only]
        rest: Expr = k.array("rest_angles theta0", c.scalar, "m", low=1.0, high=2.2)[only]
    else:
        stiff = k.scalar("stiffness k_theta", c.scalar, 0.5, 2.0)
        rest = k.scalar("rest_angle theta0", c.scalar, 1.0, 2.2)
    gap = k.let("gap dtheta", angle - rest)
    return stiff * gap, 0.5 * stiff * gap * gap, f"{named(stiff)} / 2 * (angle - {named(rest)})^2"


@idiom
def bond_angles(k: KernelBuilder, level: int) -> Title:
    """Angle bends: the forces on the three atoms of a harmonic angle, and its energy."""
    c, (xi, xj, xk), said = _terms(k, level, 3)
    styles = ("u v len_u len_v f_u f_v", "rij rkj len_ij len_kj f_i f_k", "u v lu lv fu fv")
    first, second, *sizes, f_first, f_last = k.draw.word.choice(styles).split()
    u, v = k.let(first, xi - xj), k.let(second, xk - xj)
    lu, lv = k.let(sizes[0], fn("length", u)), k.let(sizes[1], fn("length", v))
    cosine = k.let("cos_t c_theta", dot(u, v) / (lu * lv))
    law = c.shape.choice(("harmonic", "cosine"))
    if law == "harmonic":
        # By the cross product the angle is exact near 0 and pi; acos may leave its domain there.
        across = k.let("cross_len", fn("length", fn("cross", u, v)))
        slope, energy, text = _harmonic(c, k.let("theta angle", atan2(across, dot(u, v))))
        factor = k.let("f coef", slope * lu * lv / across)
    else:
        stiff = k.scalar("stiffness k_c", c.scalar, 0.5, 2.0)
        rest = c.number("cos0 rest_cos", -0.6, 0.2)
        gap = k.let("gap dcos", cosine - rest)
        factor = k.let("f coef", -(stiff * gap))
        energy, text = (
            0.5 * stiff * gap * gap,
            f"{stiff.name} / 2 * (cos(angle) - {written(rest)})^2",
        )
    only = c.chance(0.25)
    done = (
        f"Evaluate bond-angle terms: the angle at the middle one of {said}, has the energy {text}. "
    )
    if only:
        done += f"{c.put('energies u_angle', energy)} gets the energy."
        return Title(k.name("angle_energies bend_energy"), done)
    fi = k.let(f_first, factor / lu * (v / lv - cosine * (u / lu)))
    fk = k.let(f_last, factor / lv * (u / lu - cosine * (v / lv)))
    done += _three(c, fi, fk)
    if c.chance(0.4, 2):
        done += f" {c.put('energies u_angle', energy)} gets the energy."
    return Title(k.name("bond_angles angle_forces bend_forces"), done)


def _three(c: Crowd, first: Var, last: Var) -> str:
    """The forces on three atoms, which sum to zero, stored."""
    k = c.k
    middle = -(first + last) if c.shape.chance(0.5) else -first - last
    if c.shape.chance(0.5):
        out = k.out("forces f_out", c.vec, (*c.dims, "3"))
        for n, f in enumerate((first, middle, last)):
            k.store(out, (*c.at, n), f)
        return f"{out.name} gets the forces on its three atoms."
    stem = k.draw.word.choice(("force", "f_out"))
    outs = [k.out(f"{stem}_{a}", c.vec, c.dims) for a in "abc"]
    for o, f in zip(outs, (first, middle, last), strict=True):
        k.store(o, c.at, f)
    return f"{', '.join(o.name for o in outs)} get the forces on its three atoms."


@idiom
def dihedral_angles(k: KernelBuilder, level: int) -> Title:
    """Torsions: the dihedral angle of four atoms, the energy of a series, the outer forces."""
    c, x, said = _terms(k, level, 4)
    b1, b2, b3 = (k.let(f"b{n + 1}", x[n + 1] - x[n]) for n in range(3))
    normals = k.draw.word.choice(("n1 n2", "m_vec n_vec")).split()
    n1, n2 = k.let(normals[0], fn("cross", b1, b2)), k.let(normals[1], fn("cross", b2, b3))
    length = k.let("len_b b2_len", fn("length", b2))
    if c.shape.chance(0.6):
        y = k.let("y sin_part", length * dot(b1, n2))
        angle = k.let("phi dihedral", atan2(y, dot(n1, n2)))
    else:
        side = k.let("side m1", fn("cross", n1, b2 / length))
        angle = k.let("phi dihedral", -atan2(dot(side, n2), dot(n1, n2)))
    done = f"Evaluate torsion terms. phi is the dihedral angle of {said} (atan2, IUPAC's sign). "
    way = c.shape.choice(("angle", "energy", "energy"))
    if way == "angle":
        done += f"{c.put('angles dihedrals_out phi_out', angle)} gets phi in radians."
        if c.chance(0.5, 2):
            names = ("cos_out features_c", "sin_out features_s")
            put = [c.put(n, f) for n, f in zip(names, (cos(angle), sin(angle)), strict=True)]
            done += f" Store its cosine and sine in {put[0]} and {put[1]}."
        return Title(k.name("dihedral_angles torsion_angles backbone_torsions"), done)
    energy, torque, text = _series(c, angle)
    if c.chance(0.7, 2):
        done += f"Its energy is E = {text}. "
        done += _torsion_forces(c, torque, (b1, b2, b3), (n1, n2), length)
        if c.shape.chance(0.5):
            done += f" {c.put('energies u_torsion', energy)} gets E."
        return Title(k.name("torsion_forces dihedral_forces"), done)
    done += f"{c.put('energies u_torsion', energy)} gets {text}."
    return Title(k.name("dihedral_energy torsion_energies"), done)


def _torsion_forces(
    c: Crowd, torque: Expr, bonds: tuple[Var, Var, Var], normals: tuple[Var, Var], length: Var
) -> str:
    """The forces on the outer atoms of a torsion, or on all four, which sum to zero."""
    k, (b1, b2, b3), (n1, n2) = c.k, bonds, normals
    turn = local(k, "torque tau", torque)
    names = k.draw.word.choice(("f0 f3", "f_first f_last")).split()
    first = k.let(names[0], -turn * length / dot(n1, n1) * n1)
    last = k.let(names[1], turn * length / dot(n2, n2) * n2)
    text = "With the bonds b1, b2, b3, n1 = cross(b1, b2), n2 = cross(b2, b3) and t = "
    text += "-dE/dphi * |b2|, the force on the first atom is F1 = -t / |n1|^2 * n1 and that on the "
    text += "last F4 = t / |n2|^2 * n2"
    if c.shape.chance(0.3):
        outs = c.put("force_first force_i", first), c.put("force_last force_l", last)
        return f"{text}: store these two in {outs[0]} and {outs[1]}."
    inv = k.let("inv_b2_sq inv_len_sq", 1.0 / (length * length))
    shift = k.let("shift s_vec", dot(b1, b2) * inv * first - dot(b2, b3) * inv * last)
    out = k.out("forces f_out", c.vec, (*c.dims, "4"))
    for n, force in enumerate((first, -first - shift, shift - last, last)):
        k.store(out, (*c.at, n), force)
    text += ". With S = (dot(b1, b2) * F1 - dot(b2, b3) * F4) / |b2|^2 those between have "
    return f"{text}-F1 - S and S - F4. Store the four forces in order in a row of {out.name}."


def _series(c: Crowd, angle: Var) -> tuple[Expr, Expr, str]:
    """The energy of an angle as a cosine or a sum of them, its negative slope, and its text."""
    k = c.k
    if c.shape.chance(0.5):
        n = float(c.k.draw.value.choice((2, 3)))
        phase = k.scalar("phase delta", c.scalar, 0.2, 1.5)
        height = k.array("barriers k_phi", c.scalar, "m", low=0.5, high=2.0)[(c.me,)]
        turn = k.let("arg turned", n * angle - phase)
        text = f"{named(height)} * (1 + cos({int(n)} * phi - {phase.name}))"
        return height * (1.0 + cos(turn)), n * height * sin(turn), text
    k.size("terms", 3, 4)
    coef = k.array("coefficients fourier", c.scalar, ("m", "terms"), low=-1.0, high=1.0)
    energy, torque = k.let("e energy", zero(c.scalar)), k.let("torque tau", zero(c.scalar))
    with k.for_("n q", extent(coef, 1)) as m:
        order = k.let("order nf", cast(m + 1, c.scalar))
        k.augment(energy, "add", coef[index(c.me, m)] * cos(order * angle))
        k.augment(torque, "add", order * coef[index(c.me, m)] * sin(order * angle))
    return energy, torque, f"the sum of {coef.name}[n] * cos((n + 1) * phi)"


@idiom(depth=3)
def chain_shape(k: KernelBuilder, level: int) -> Title:
    """The size and shape of chains: radius of gyration, end-to-end distance, asphericity."""
    shape = k.draw.shape
    vec = Vec(3, k.draw.wide_float_type())
    timed = level > 1 and shape.chance(0.4)
    dims = ("frames", "chains") if timed else ("chains",)
    if timed:
        k.size("frames", 3, 4)
    k.size("chains", 14, 24)
    k.size("beads", 6, 10, minimum=2)
    names = [k.name("f frame t")] if timed else []
    at = k.thread(*dims, names=[*names, k.name("c chain i")])
    c = Crowd(k, level, vec, dims, at)
    p = points_of(k, vec, "positions coords beads_pos", -2.0, 2.0, (*dims, "beads"), level)
    weights = (
        k.array("masses weights", c.scalar, "beads", low=0.5, high=2.0)
        if shape.chance(0.5)
        else None
    )
    stop = (
        extent(p.arrays[0], len(dims))
        if shape.chance(0.6)
        else k.size_param("num_beads length", "beads")
    )
    return _chain_shape_stored(k, vec, weights, c, stop, p, at, shape)


def _chain_shape_stored(
    k: KernelBuilder,
    vec: Vec,
    weights: Var | None,
    c: Crowd,
    stop: Expr | Var,
    p: Points,
    at: tuple[Var, ...],
    shape: Stream,
) -> Title:
    """What :func:`chain_shape` stores, and its text."""
    center = k.let("center com mean", zero(vec))
    total = k.let("total mass_sum", zero(c.scalar)) if weights is not None else None
    with k.for_("j a", stop) as j:
        value = p.at(*at, j)
        k.augment(center, "add", value if weights is None else weights[j] * value)
        if total is not None and weights is not None:
            k.augment(total, "add", weights[j])
    size: Expr = total if total is not None else cast(stop, c.scalar)
    if total is None and shape.chance(0.5):
        size = k.let("num num_beads", size)
    k.assign(center, center / size)
    square = k.let("rg2 spread", zero(c.scalar))
    axes = k.let("second per_axis", zero(vec)) if c.chance(0.5, 3) else None
    with k.for_("m b", stop) as m:
        d = k.let("d dev", p.at(*at, m) - center)
        if axes is not None:
            part: Expr = fn("cw_mul", d, d)
            k.augment(axes, "add", part if weights is None else weights[m] * part)
        k.augment(square, "add", dot(d, d) if weights is None else weights[m] * dot(d, d))
    root = shape.chance(0.7)
    found = sqrt(square / size) if root else square / size
    by = f", weighted by {weights.name}" if weights is not None else ""
    names = "radii_of_gyration rg_out" if root else "rg_squared_out squared_radii"
    text = f"Compute the {'' if root else 'squared '}radius of gyration of each chain of {p.name}. "
    text += f"{c.put(names, found)} gets the {'root ' if root else ''}mean square distance of its "
    text += f"beads from their mean{by}."
    return _chain_shape_ended(axes, text, c, size, p, stop, k)


def _chain_shape_ended(
    axes: Var | None, text: str, c: Crowd, size: Expr, p: Points, stop: Expr | Var, k: KernelBuilder
) -> Title:
    """What :func:`chain_shape` stores at last, and its text."""
    if axes is not None:
        name = c.put("axis_spread second_moments", axes / size)
        text += f" {name} gets the mean square deviation along each axis."
    text += _ends(c, p, stop)
    return Title(k.name("chain_shape radius_of_gyration polymer_size"), text)


def _ends(c: Crowd, p: Points, stop: Expr) -> str:
    """Often: how far apart the ends are."""
    if not c.chance(0.6, 2):
        return ""
    gap = c.k.let("end_vec r_ee", p.at(*c.at, stop - 1) - p.at(*c.at, 0))
    if c.shape.chance(0.5):
        name = c.put("end_distances ree_out", fn("length", gap))
        return f" {name} gets the distance between its ends."
    return f" {c.put('end_vectors ree_vec', gap)} gets the vector from its first bead to its last."


@idiom
def contact_map(k: KernelBuilder, level: int) -> Title:
    """Which residues of two chains touch: by distances, or the least over several atoms each."""
    shape = k.draw.shape
    vec = Vec(3, k.draw.wide_float_type())
    models = level > 1 and shape.chance(0.35)
    dims: tuple[str, ...] = ("rows", "cols")
    names = [k.name("i row a"), k.name("j col b")]
    if models:
        k.size("models", 2, 3)
        dims, names = ("models", *dims), [k.name("m frame"), *names]
    return _contact_map_stored(dims, k, names, level, vec, shape)


def _contact_map_stored(
    dims: tuple[str, ...], k: KernelBuilder, names: list[str], level: int, vec: Vec, shape: Stream
) -> Title:
    """What :func:`contact_map` stores, and its text."""
    for size in dims[-2:]:
        k.size(size, 8, 14)
    *lead, row, col = k.thread(*dims, names=names)
    c = Crowd(k, level, vec, dims, (*lead, row, col))
    own = tuple(lead) if shape.chance(0.6) else ()
    fine = c.chance(0.6, 2)
    inner = (k.size("atoms", 3, 4),) if fine else ()
    pairs = (("receptor", "ligand"), ("chain_a", "chain_b"), ("first_pos", "second_pos"))
    first, second = k.draw.word.choice(pairs)
    p = points_of(k, vec, first, -1.5, 1.5, (*dims[:-2], "rows", *inner), level)
    q = points_of(k, vec, second, -1.5, 1.5, (*dims[: len(own)], "cols", *inner), level)
    if fine:
        best = k.let("best d2_min closest", k.lift(1.0e30, c.scalar))
        with k.for_("u atom_a", extent(p.arrays[0], len(dims) - 1)) as u:
            here = c.maybe("xa here", p.at(*lead, row, u))
            with k.for_("v atom_b", extent(q.arrays[0], len(own) + 1)) as v:
                d = k.let("d delta", here - q.at(*own, col, v))
                k.assign(best, fn("min", best, dot(d, d)))
        squared: Expr = best
    else:
        d = k.let("d delta", p.at(*lead, row) - q.at(*own, col))
        squared = c.maybe("d2 dist_sq", dot(d, d))
    what = "least distance of two of their atoms" if fine else "distance"
    text = f"Compare each residue of {p.name} with each of {q.name}, d being their {what}. "
    told, title = _touching(c, squared)
    return Title(k.name(title), text + told)


def _touching(c: Crowd, squared: Expr) -> tuple[str, str]:
    """A contact flag, a soft contact or a bin of the distance; and names of a kernel."""
    k = c.k
    way = c.shape.choice(("flag", "soft", "binned"))
    if way == "binned":
        return _binned(c, squared), "distogram residue_distogram distance_bins"
    reach = k.scalar("cutoff contact_dist", c.scalar, 0.7, 1.4)
    if way == "flag":
        near = squared < reach * reach
        found = one_if(near)
        text = f"{c.put('contacts contact_out', found)} gets 1 where d < {reach.name}, else 0."
        return text, "contact_map residue_contacts"
    dist = c.maybe("dist r", sqrt(squared))
    steep = k.scalar("beta steepness", c.scalar, 1.0, 4.0)
    name = c.put("contact_prob soft_contacts", 1.0 / (1.0 + exp(steep * (dist - reach))))
    text = f"{name} gets 1 / (1 + exp({steep.name} * (d - {reach.name})))."
    return text, "soft_contact_map soft_contacts contact_probability"


def _binned(c: Crowd, squared: Expr) -> str:
    """A distogram's bin."""
    dist = c.maybe("dist r", sqrt(squared))
    bins = c.k.scalar("num_bins", INT32, 4, 7)
    width = c.k.scalar("bin_width", c.scalar, 0.2, 0.4)
    name = c.put("distogram bins_out", fn("min", cast(dist / width, INT32), bins - 1))
    return f"{name} gets the bin int(d / {width.name}), at most {bins.name} - 1."
