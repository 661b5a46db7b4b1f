"""Stress: hyperelastic laws, invariants of stress tensors, the return to a yield surface."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, log, sqrt
from generators.kit.naming import applied, maybe
from generators.kit.records import Part, record
from generators.kit.sources import zero
from generators.matrix.parts import (
    Entry,
    Place,
    column,
    identity,
    mat_of,
    place,
    rows_of,
    square_type,
    symmetric,
    times_identity,
    transpose,
    voigt,
)
from generators.matrix.small.strain import gradient
from generators.program.dtypes import INT32, Mat, Scalar, Vec
from generators.program.expr import Expr, Var


def _material(g: Place, scalar: Scalar, level: int) -> tuple[Expr, Expr, str]:
    """The elastic constants: given, of modulus and Poisson's ratio, or by a material's number."""
    k = g.k
    ways = {"lame": 3, "young": 3, "table": 0 if level < 3 else 2, "struct": 0 if level < 2 else 3}
    way = g.shape.weighted(ways)
    if way == "table":
        k.size("parts", 3, 6)
        ids = g.read("material material_id part_id", INT32, init="index_of:parts")
        which = k.let("mat_id m", ids)
        mus = k.array("mus shear_moduli", scalar, "parts", low=0.5, high=2.0)
        lams = k.array("lambdas lames", scalar, "parts", low=0.5, high=2.0)
        text = f"mu and lambda are those of {mus.name} and {lams.name} at {g.tell(ids)}"
        return k.let("mu shear", mus[which]), k.let("lam lame", lams[which]), text
    same = "each" if way == "young" else g.shape.choice(("each", "shared", "shared"))
    forms: dict[str, int] = {same: 1}
    young = way == "young" or (way == "struct" and g.chance(0.5))
    if young:
        parts = {
            "first": Part("young young_mod", scalar, 1.0, 4.0, forms=forms),
            "second": Part("poisson poisson_ratio", scalar, 0.1, 0.4, forms=forms),
        }
    else:
        parts = {
            "first": Part("mu shear_mod", scalar, 0.5, 2.0, forms=forms),
            "second": Part("lam lame", scalar, 0.5, 2.0, forms=forms),
        }
    shared = way == "struct" and g.chance(0.5)
    r = record(g, "Material Elastic", parts, float(way == "struct"), shared=shared)
    first, second = r["first"], r["second"]
    if not young:
        named = (("mu", r.say("first")), ("lambda", r.say("second")))
        return first, second, ", ".join(f"{one} = {of}" for one, of in named if one != of)
    mu = k.let("mu shear", first / (2.0 * (1.0 + second)))
    lam = k.let("lam lame", first * second / ((1.0 + second) * (1.0 - 2.0 * second)))
    text = "mu = Y / (2 (1 + nu)), lambda = Y nu / ((1 + nu) (1 - 2 nu))"
    return mu, lam, f"{text}, Y = {r.say('first')}, nu = {r.say('second')}"


def _venant(body: BodyBuilder, f: Expr, mu: Expr, lam: Expr) -> Expr:
    e = body.let("e green", 0.5 * (transpose(f) * f - identity(body, mat_of(f))))
    s = 2.0 * mu * e + times_identity(mat_of(f), lam * fn("trace", e))
    return f * (body.let("s pk2", s) if body.draw.shape.chance(0.5) else s)


def _neo_hooke(body: BodyBuilder, f: Expr, mu: Expr, lam: Expr) -> Expr:
    jac = body.let("jac det_f", fn("determinant", f))
    f_inv = body.let("f_inv inv_f", fn("inverse", f))
    f_it = body.let("f_inv_t f_it", transpose(f_inv))
    if body.draw.shape.chance(0.5):
        return mu * (f - f_it) + lam * body.let("log_j ln_j", log(jac)) * f_it
    return mu * f + (lam * log(jac) - mu) * f_it


def _linear(body: BodyBuilder, h: Expr, mu: Expr, lam: Expr) -> Expr:
    eps = body.let("eps strain", symmetric(h))
    return 2.0 * mu * eps + times_identity(mat_of(h), lam * fn("trace", eps))


def _volumetric(body: BodyBuilder, f: Expr, mu: Expr, lam: Expr) -> Expr:
    jac = body.let("jac det_f", fn("determinant", f))
    f_it = body.let("f_inv_t f_it", fn("inverse", transpose(f)))
    return mu * (f - f_it) + (lam * (jac - 1.0) * jac) * f_it


def _cauchy(body: BodyBuilder, f: Expr, mu: Expr, lam: Expr) -> Expr:
    jac = body.let("jac det_f", fn("determinant", f))
    b = body.let("b left_cauchy", f * transpose(f))
    pressure = times_identity(mat_of(f), lam * (jac - 1.0))
    return (mu / jac) * (b - identity(body, mat_of(f))) + pressure


_Law = Callable[[BodyBuilder, Expr, Expr, Expr], Expr]
_PIOLA = "First Piola-Kirchhoff stress of"
_LAWS: dict[str, tuple[_Law, str, str]] = {
    "stvk": (
        _venant,
        f"{_PIOLA} a Saint Venant-Kirchhoff solid: P = F * (2 mu E + lambda trace(E) I), "
        "E = (transpose(F) * F - I) / 2",
        "stvk_stress piola_stress",
    ),
    "neo_hookean": (
        _neo_hooke,
        f"{_PIOLA} a neo-Hookean solid: P = mu (F - G) + lambda log(det F) G, G = inverse(F)^T",
        "neo_hookean_stress piola_stress",
    ),
    "linear": (
        _linear,
        "Stress of linear elasticity: S = 2 mu e + lambda trace(e) I, e = (H + transpose(H)) / 2",
        "linear_elastic_stress hooke_stress",
    ),
    "volumetric": (
        _volumetric,
        f"{_PIOLA} a neo-Hookean solid with a quadratic volume term: P = mu (F - G) + lambda "
        "(det F - 1) det F G, G = inverse(F)^T",
        "neo_hookean_stress piola_stress",
    ),
    "cauchy": (
        _cauchy,
        "Cauchy stress of a neo-Hookean solid: S = mu / det F (F * transpose(F) - I) + lambda "
        "(det F - 1) I",
        "cauchy_stress neo_hookean_cauchy",
    ),
}


@idiom(depth=3)
def hyperelastic_stress(k: KernelBuilder, level: int) -> Title:
    """The stress of an elastic law for each deformation gradient."""
    shape, mat = k.draw.shape, square_type(k, {2: 1, 3: 1}, k.draw.wide_float_type())
    g = place(k, "elem e tid i")
    key = shape.choice(sorted(_LAWS))
    law, formula, titles = _LAWS[key]
    if key == "linear":
        grad = g.read("grad_u displacement_grads", mat, -0.4, 0.4)
        f = g.let("h du_dx", grad, "H")
        source = f"with the displacement gradient {g.told(f)}"
    else:
        f, source = gradient(g, mat, level, key != "stvk")
    piola = key not in ("linear", "cauchy")
    mu, lam, constants = _material(g, mat.scalar, level)
    args = {"grad": f, "shear_mod": mu, "lame_mod": lam}
    p = g.let(
        "p pk1" if piola else "s stress",
        applied(k, 0.6 * (level >= 3), f"{key}_stress stress_of", args, law),
        "P" if piola else "S",
    )
    done = f"{formula}, {source}{'; ' * bool(constants)}{constants}."
    if level >= 2 and shape.chance(0.35):
        done += _viscous(g, p, "f_dot deformation_rates" if piola else "strain_rates")
    if piola and level >= 2 and shape.chance(0.3):
        done += _forces(g, p)
        titles = "elastic_forces corner_forces"
    else:
        done += g.gets("pk1 stresses" if piola else "stresses stress_out", p)
    upper = "(0, 1)" if mat.rows == 2 else "(1, 2), (0, 2) and (0, 1)"
    done += g.offer(
        int(level >= 2 and piola and "pk1" in done),
        kirchhoff=(
            "kirchhoff_stress taus",
            lambda: voigt(k.let("tau kirchhoff", p * transpose(f))),
            f"the diagonal, then the entries {upper}, of P * transpose(F)",
        ),
    )
    return Title(k.name(titles), done)


def _mises(d: Expr) -> Expr:
    return sqrt(1.5 * fn("ddot", d, d))


def _viscous(g: Place, p: Var, rates: str) -> str:
    """Add a viscous or an initial stress, or scale with what damage has left."""
    k, mat = g.k, mat_of(p)
    way = g.shape.choice(("viscous", "initial", "damage"))
    if way == "damage":
        lost = g.read("damage", mat.scalar, 0.1, 0.8)
        k.augment(p, "mul", k.let("left degradation", (1.0 - lost) * (1.0 - lost)))
        return f" Multiply {g.tell(p)} by (1 - {g.tell(lost)}) squared."
    viscous = way == "viscous"
    more: Expr = g.read(rates if viscous else "prestress", mat, -0.5, 0.5)
    if viscous:
        more = g.one("eta viscosity", mat.scalar, 0.1, 0.6) * more
    k.augment(p, "add", more)
    return f" Add the {'viscous stress ' if viscous else 'initial stress '}{g.tell(more)}."


def _forces(g: Place, p: Var) -> str:
    """The forces on an element's corners: minus volume times P times the rest shape's inverse."""
    k, mat = g.k, mat_of(p)
    rest = g.read("rest_inv_t dm_inv_t", mat, -1.0, 1.0)
    volume = g.read("rest_areas" if mat.rows == 2 else "rest_volumes", mat.scalar, 0.2, 1.5)
    h = g.let("h nodal", -volume * (p * rest), "h")
    size, stem = mat.rows, k.draw.word.choice(("f", "force", "col"))
    target = k.out("forces corner_forces", rows_of(mat), (*g.dims, str(size + 1)))
    columns = [k.let(f"{stem}{c + 1}", column(h, c)) for c in range(size)]
    total = columns[0] + columns[1] if size == 2 else columns[0] + columns[1] + columns[2]
    k.note("the first corner balances the others")
    k.store(target, g.index(0), -total)
    for c, force in enumerate(columns, 1):
        k.store(target, g.index(c), force)
    text = (
        f" With {g.told(h)}, the force of corner c >= 1 is column c - 1 of h and that of corner 0"
    )
    return f"{text} balances them; {target.name} gets the forces of all corners."


_ARRAYS = "stresses sigma cauchy_stress"
_ORDERS = {
    "xx, yy, xy": (0, 2, 2, 1),
    "xx, yy, zz, yz, xz, xy": (0, 5, 4, 5, 1, 3, 4, 3, 2),
    "xx, yy, zz, xy, yz, xz": (0, 3, 5, 3, 1, 4, 5, 4, 2),
}


def _tensor(g: Place, mat: Mat, level: int) -> tuple[Var, str]:
    """A symmetric tensor: from six numbers, made symmetric, or averaged over points."""
    k, names = g.k, "s sig sigma_i t"
    way = g.shape.weighted({"voigt": 3, "plain": 3, "points": 2})
    if way == "plain":
        s = g.let(names, g.read(_ARRAYS, mat, -2.0, 2.0), "s")
        return s, f"For each stress tensor {g.told(s)}"
    if way == "voigt":
        packed = g.read("stress_voigt packed_stress", Vec(3 * mat.rows - 3, mat.scalar), -2.0, 2.0)
        v = k.let("v c", packed)
        text = list(_ORDERS)[0 if mat.rows == 2 else g.shape.integer(1, 2)]
        s = g.let(names, make(mat, *(v[c] for c in _ORDERS[text])), "s")
        return s, f"For each symmetric stress s with entries {text} = {g.tell(packed)}"
    count = k.size_param("num_points point_count", k.size("q", 2, 4))
    points = g.array("point_stress qp_stress", mat, -2.0, 2.0, more="q")
    weights = k.array("weights qp_weights", mat.scalar, "q", low=0.2, high=1.0)
    s = g.let(names, zero(mat), "s")
    with k.for_("p qp", count) as p:
        k.augment(s, "add", weights[p] * points[g.index(p)])
    text = f"For each element's stress s, the sum over its points of {weights.name}"
    return s, f"{text} times {points.name}"


@idiom(depth=1)
def tensor_invariants(k: KernelBuilder, level: int) -> Title:
    """Invariants of stress tensors, their deviators, and a return to a yield surface."""
    shape = k.draw.shape
    g = place(k, "e cell tid i")
    size = shape.choice((2, 3, 3, 3))
    mat = Mat(size, size, k.draw.wide_float_type())
    s, done = _tensor(g, mat, level)
    if shape.chance(0.1):
        done += _effective(g, s)
    # A deviator is one of three axes: plane stress has its own formulas.
    if size == 2 or shape.chance(0.45):
        key, entry = shape.choice(sorted(_invariants(g, s).items()))
        return Title(k.name(_READ[key]), f"{done}:{g.offer(1, **{key: entry})}")

    def build(body: BodyBuilder, stress: Expr) -> Expr:
        mean = maybe(body, "mean hydro", fn("trace", stress) / float(size))
        return stress - times_identity(mat, mean)

    d = g.let(
        "d dev", applied(k, 0.6 * (level >= 3), "deviator dev_part", {"stress": s}, build), "d"
    )
    done += f" and its deviator d = s - trace(s) / {size} * I"
    if shape.chance(0.25):
        done = f"Radial return to a hardening yield surface: {done[0].lower()}{done[1:]}"
        return Title(k.name("radial_return return_map"), done + _returned(g, level, s, d))
    if shape.chance(0.35):
        done += f": {g.put('deviators dev_out', d).name} gets d."
        return Title(k.name("stress_deviator deviatoric_stress"), done)
    key, entry = shape.choice(sorted(_of_shape(g, s, d).items()))
    return Title(k.name(_READ[key]), f"{done}:{g.offer(1, **{key: entry})}")


_READ = {
    "i1": "first_invariant",
    "i2": "second_invariant",
    "i3": "third_invariant",
    "pressure": "stress_pressure mean_pressure",
    "in_plane": "max_in_plane_shear",
    "traction": "normal_traction normal_stress",
    "j2": "second_deviatoric_invariant",
    "j3": "third_deviatoric_invariant",
    "mises": "von_mises_stress",
    "plane": "plane_stress_mises",
    "octahedral": "octahedral_shear",
    "prager": "drucker_prager_yield",
}
"""What a kernel is called by what it reads off."""


def _of_shape(g: Place, s: Var, d: Var) -> dict[str, Entry]:
    """Results that need the deviator."""

    def prager() -> Expr:
        alpha = g.one("alpha friction", mat_of(s).scalar, 0.1, 0.4)
        return sqrt(0.5 * fn("ddot", d, d)) + alpha * fn("trace", s)

    third = s + d if mat_of(s).rows == 2 else d
    return {
        "j2": ("j2 j2_out", lambda: 0.5 * fn("ddot", d, d)),
        "j3": ("j3 j3_out", lambda: fn("determinant", third)),
        "mises": ("von_mises mises equivalent", lambda: _mises(d)),
        "octahedral": ("octahedral tau_oct", lambda: sqrt(fn("ddot", d, d) / 3.0)),
        "prager": ("drucker_prager yield_value", prager),
    }


def _invariants(g: Place, s: Var) -> dict[str, Entry]:
    """Results that the tensor alone gives."""
    mat = mat_of(s)

    def second() -> Expr:
        tr = g.part("tr first", fn("trace", s))
        return 0.5 * (tr * tr - fn("ddot", s, s))

    def tresca() -> Expr:
        half = g.k.let("half half_gap", 0.5 * (s[0, 0] - s[1, 1]))
        return sqrt(half * half + s[0, 1] * s[0, 1])

    def plane() -> Expr:
        x, y, xy = s[0, 0], s[1, 1], s[0, 1]
        return sqrt(x * x - x * y + y * y + 3.0 * xy * xy)

    def traction() -> Expr:
        normal = g.let("n nrm", g.read("normals facet_normals", rows_of(mat), init="unit"))
        return dot(normal, s * normal)

    shear = "sqrt(((s[0, 0] - s[1, 1]) / 2)^2 + s[0, 1]^2)"
    found: dict[str, Entry] = {
        "i1": ("i1 first_invariant", lambda: fn("trace", s)),
        "i2": ("i2 second_invariant", second),
        "i3": ("i3 third_invariant", lambda: fn("determinant", s)),
        "traction": ("normal_stress normal_tractions", traction),
    }
    if mat.rows == 2:
        found["in_plane"] = ("max_shear in_plane_shear", tresca, shear)
        return found | {"plane": ("mises von_mises", plane)}
    return found | {"pressure": ("pressure pressures", lambda: -fn("trace", s) / 3.0)}


def _effective(g: Place, s: Var) -> str:
    """The stress that the skeleton of a porous solid carries."""
    mat = mat_of(s)
    pore = g.read("pore_pressures", mat.scalar, -1.0, 1.0)
    more = times_identity(mat, g.one("biot_coeff", mat.scalar, 0.4, 0.9) * pore)
    g.k.augment(s, "add", more)
    return f", plus {g.tell(more)} for the effective stress (tension is positive)"


def _returned(g: Place, level: int, s: Var, d: Var) -> str:
    """Radial return: deviators beyond the yield surface, which hardens, are scaled back to it."""
    k, mat = g.k, mat_of(s)
    past = g.read("eq_plastic", mat.scalar, 0.0, 2.0)
    parts = {
        "start": Part("yield_stress sigma_y", mat.scalar, 0.5, 1.0, forms={"shared": 1}),
        "slope": Part("hardening", mat.scalar, 0.6, 1.5, forms={"shared": 1}),
    }
    struct = 1.0 if level >= 5 else 0.4
    metal = record(g, "Plasticity Material Metal", parts, struct, shared=True)
    limit = g.let("limit flow_stress", metal["start"] + metal["slope"] * past)
    size = k.let("equivalent mises_now q", _mises(d))
    mu = g.one("mu shear_mod", mat.scalar, 0.8, 2.0)
    flow = k.let("flow dgamma", zero(mat.scalar))
    with k.if_(size > limit):
        k.note("back to the surface along the deviator")
        k.assign(flow, (size - limit) / (3.0 * mu + metal["slope"]))
        k.augment(d, "mul", 1.0 - 3.0 * mu * flow / size)
        mean = fn("trace", s) / float(mat.rows)
        if g.chance(0.5):
            k.assign(s, d + times_identity(mat, k.let("p_mean sph", mean)))
        else:
            k.assign(s, times_identity(mat, mean) + d)
    target = g.put("stress_out returned new_stress", s)
    step = g.put("plastic_step flow_out", flow)
    m = g.tell(mu)
    return (
        f". With q = sqrt(1.5 * ddot(d, d)), {g.told(limit)}: where q > limit, flow = (q - limit) /"
        f" (3 * {m} + {metal.say('slope')}), d = (1 - 3 * {m} * flow / q) * d and s = d +"
        f" trace(s) / {mat.rows} * I, else flow = 0. {target.name} gets s, {step.name} flow."
    )
