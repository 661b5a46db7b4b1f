"""Stress: hyperelastic laws of a deformation gradient, and what is read off a stress tensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, field, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper, times_identity
from generators.matrix.small.extras import Extra, extras
from generators.matrix.small.gradient import gradient
from generators.matrix.small.grid import (
    Grid,
    column,
    grid,
    identity,
    rows_of,
    say,
    square_type,
    voigt,
)
from generators.program import ir
from generators.program.dtypes import INT32, Mat, Scalar
from generators.program.expr import Expr, Var


@dataclass
class Lame:
    """The two elastic constants, and where a description finds them."""

    mu: Expr
    lam: Expr
    text: str


def materials(k: KernelBuilder, g: Grid, scalar: Scalar, level: int) -> Lame:
    """Given as such, from modulus and Poisson's ratio, or by the number of a material."""
    ways = {"lame": 3, "young": 3, "table": 0 if level < 3 else 2, "struct": 0 if level < 2 else 3}
    way = k.draw.shape.weighted(ways)
    if way == "struct":
        return _struct(k, g, scalar, level)
    if way == "young":
        young = g.supply(("young", "modulus"), ("youngs", "moduli"), scalar, 1.0, 4.0, False)
        nu = g.supply(("nu", "poisson"), ("nus", "poissons"), scalar, 0.1, 0.4, False)
        text = f"mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu) (1 - 2 nu)), E = {say(young)}"
        return _from_young(k, young, nu, f"{text}, nu = {say(nu)}")
    if way == "table":
        ids = g.array(("material", "material_id", "part_id"), INT32, init="index_of:m")
        k.size("m", 3, 6)
        which = k.let(("mat_id", "m"), ids[g.index])
        mus = k.array(("mus", "shear_moduli"), scalar, "m", low=0.5, high=2.0)
        lams = k.array(("lambdas", "lames"), scalar, "m", low=0.5, high=2.0)
        text = f"mu and lambda are those of {mus.name} and {lams.name} at {ids.name}"
        shear, lame = k.let(("mu", "shear"), mus[which]), k.let(("lam", "lame"), lams[which])
        return Lame(shear, lame, text)
    mu = g.supply(("mu", "shear_modulus"), ("mus", "shear_moduli"), scalar, 0.5, 2.0)
    lam = g.supply(("lam", "lame"), ("lambdas", "lames"), scalar, 0.5, 2.0)
    return Lame(mu, lam, f"mu = {say(mu)}, lambda = {say(lam)}")


def _from_young(k: KernelBuilder, young: Expr, nu: Expr, text: str) -> Lame:
    mu = k.let(("mu", "shear"), young / (2.0 * (1.0 + nu)))
    lam = k.let(("lam", "lame"), young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)))
    return Lame(mu, lam, text)


def _struct(k: KernelBuilder, g: Grid, scalar: Scalar, level: int) -> Lame:
    """A material by value, or one for each thread."""
    young = k.draw.shape.chance(0.5)
    names = (
        ("young", "poisson") if young else k.draw.word.choice((("mu", "lam"), ("shear", "bulk")))
    )
    bounds = (("1.0", "4.0"), ("0.1", "0.4")) if young else (("0.5", "2.0"), ("0.5", "2.0"))
    inits = [
        ir.FieldInit(name, scalar, "uniform", *bound)
        for name, bound in zip(names, bounds, strict=True)
    ]
    struct = k.struct(k.name("Material", "Elastic"), *((f.name, f.type) for f in inits))
    if k.draw.shape.chance(0.5):
        item: Var = k.scalar(("material", "params"), struct, fields=inits)
    else:
        items = g.structs(("materials", "props"), struct, inits)
        item = k.let(("material", "prop"), items[g.index])
    first, second = field(item, names[0]), field(item, names[1])
    if young:
        text = f"mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu) (1 - 2 nu)) of {item.name}'s"
        return _from_young(k, first, second, f"{text} young = E and poisson = nu")
    return Lame(first, second, f"mu is {item.name}.{names[0]}, lambda {item.name}.{names[1]}")


Law = Callable[[KernelBuilder, BodyBuilder, Expr, Expr, Expr], Expr]


def _mat(f: Expr) -> Mat:
    assert isinstance(f.type, Mat)
    return f.type


def _venant(k: KernelBuilder, body: BodyBuilder, f: Expr, mu: Expr, lam: Expr) -> Expr:
    e = body.let(("e", "green"), 0.5 * (fn("transpose", f) * f - identity(k, _mat(f))))
    s = 2.0 * mu * e + times_identity(_mat(f), lam * fn("trace", e))
    if k.draw.shape.chance(0.5):
        return f * body.let(("s", "pk2"), s)
    return f * s


def _neo_hooke(k: KernelBuilder, body: BodyBuilder, f: Expr, mu: Expr, lam: Expr) -> Expr:
    jac = body.let(("jac", "det_f"), fn("determinant", f))
    f_inv = body.let(("f_inv", "inv_f"), fn("inverse", f))
    f_it = body.let(("f_inv_t", "f_it"), fn("transpose", f_inv))
    if k.draw.shape.chance(0.5):
        log_j = body.let(("log_j", "ln_j"), fn("log", jac))
        return mu * (f - f_it) + lam * log_j * f_it
    return mu * f + (lam * fn("log", jac) - mu) * f_it


def _linear(k: KernelBuilder, body: BodyBuilder, f: Expr, mu: Expr, lam: Expr) -> Expr:
    h = body.let(("h", "grad_u"), f - identity(k, _mat(f)))
    eps = body.let(("eps", "strain"), 0.5 * (h + fn("transpose", h)))
    return 2.0 * mu * eps + times_identity(_mat(f), lam * fn("trace", eps))


def _quadratic_volume(k: KernelBuilder, body: BodyBuilder, f: Expr, mu: Expr, lam: Expr) -> Expr:
    jac = body.let(("jac", "det_f"), fn("determinant", f))
    f_it = body.let(("f_inv_t", "f_it"), fn("inverse", fn("transpose", f)))
    return mu * (f - f_it) + (lam * (jac - 1.0) * jac) * f_it


def _cauchy(k: KernelBuilder, body: BodyBuilder, f: Expr, mu: Expr, lam: Expr) -> Expr:
    jac = body.let(("jac", "det_f"), fn("determinant", f))
    b = body.let(("b", "left_cauchy"), f * fn("transpose", f))
    pressure = lam * (jac - 1.0)
    return (mu / jac) * (b - identity(k, _mat(f))) + times_identity(_mat(f), pressure)


LAWS: dict[str, tuple[Law, bool, str]] = {
    "stvk": (
        _venant,
        False,
        "P = F * (2 mu E + lambda trace(E) I), E = (transpose(F) * F - I) / 2",
    ),
    "neo_hookean": (_neo_hooke, True, "P = mu (F - G) + lambda log(det F) G, G = inverse(F)^T"),
    "linear": (_linear, False, "P = 2 mu e + lambda trace(e) I, e = (F + transpose(F)) / 2 - I"),
    "volumetric": (
        _quadratic_volume,
        True,
        "P = mu (F - G) + lambda (det F - 1) det F G, G = inverse(F)^T",
    ),
    "cauchy": (
        _cauchy,
        True,
        "P = mu / det F (F * transpose(F) - I) + lambda (det F - 1) I",
    ),
}


@idiom
def hyperelastic_stress(k: KernelBuilder, level: int) -> Title:
    """The stress of an elastic law for each deformation gradient."""
    shape = k.draw.shape
    g = grid(k, None, "elem", "e", "tid", "i")
    mat = square_type(k, {2: 1, 3: 1}, k.draw.wide_float_type())
    key = shape.choice(sorted(LAWS))
    law, invertible, formula = LAWS[key]
    f, source = gradient(k, g, mat, level, invertible)
    lame = materials(k, g, mat.scalar, level)
    if level >= 3 and shape.chance(0.6):
        made = helper(
            k,
            (f"{key}_stress", "stress_of", "piola"),
            (("grad", mat), ("shear_mod", mat.scalar), ("lame_mod", mat.scalar)),
            lambda body, grad, mu, lam: law(k, body, grad, mu, lam),
        )
        value: Expr = k.call(made, f, lame.mu, lame.lam)
    else:
        value = law(k, k, f, lame.mu, lame.lam)
    p = k.let(("p", "stress", "piola_stress"), value)
    done = f"Stress {formula}, {source}; {lame.text}."
    if level >= 2 and shape.chance(0.5):
        done += _viscous(k, g, p)
    menu = _menu(k, g, p, f)
    if level >= 5 or (level >= 3 and shape.chance(0.3)):
        done += _forces(k, g, p)
    elif level < 4 or shape.chance(0.7):
        target = g.write(("stresses", "stress_out", "pk1"), p)
        done += f" {target.name} gets P."
    done += extras(g, menu, (0, 1, 1, 3, 4)[level - 1])
    return Title(k.name("elastic_stress", f"{key}_law", "element_stress", "compute_stress"), done)


def _viscous(k: KernelBuilder, g: Grid, p: Var) -> str:
    """Add a viscous or an initial stress, or scale with what damage has left."""
    mat = p.type
    assert isinstance(mat, Mat)
    way = k.draw.shape.choice(("viscous", "initial", "damage"))
    if way == "viscous":
        rate = g.array(("rates", "f_dot", "velocity_grads"), mat, -1.0, 1.0)
        eta = g.supply(("eta", "viscosity"), ("etas", "viscosities"), mat.scalar, 0.1, 0.6)
        k.augment(p, "add", eta * rate[g.index])
        return f" Add {say(eta)} * {rate.name}."
    if way == "initial":
        start = g.array(("prestress", "residual"), mat, -0.5, 0.5)
        k.augment(p, "add", start[g.index])
        return f" Add {start.name}."
    lost = g.supply(("damage", "d"), ("damages", "phase"), mat.scalar, 0.1, 0.8)
    left = k.let(("left", "degradation"), (1.0 - lost) * (1.0 - lost))
    k.augment(p, "mul", left)
    return f" Multiply by (1 - {say(lost)}) squared."


def _forces(k: KernelBuilder, g: Grid, p: Var) -> str:
    """The forces on an element's corners: minus volume times P times the rest shape's inverse."""
    mat = p.type
    assert isinstance(mat, Mat)
    rest = g.array(("rest_inv_t", "dm_inv_t"), mat, -1.0, 1.0)
    volume = g.supply(("rest_volume", "area"), ("volumes", "rest_areas"), mat.scalar, 0.2, 1.5)
    h = k.let(("h", "nodal"), -volume * (p * rest[g.index]))
    size, stem = mat.rows, k.draw.word.choice(("f", "force", "col"))
    target = k.out(("forces", "corner_forces"), rows_of(mat), (*g.dims, str(size + 1)))
    columns = [k.let(f"{stem}{c + 1}", column(h, c)) for c in range(size)]
    total = columns[0] + columns[1] if size == 2 else columns[0] + columns[1] + columns[2]
    k.note("the first corner balances the others")
    k.store(target, g.at(0), -total)
    for c, force in enumerate(columns, 1):
        k.store(target, g.at(c), force)
    text = f" With h = -{say(volume)} * P * {rest.name}, {target.name} gets at corner c >= 1"
    return f"{text} column c - 1 of h and at corner 0 minus the sum of the columns."


def _menu(k: KernelBuilder, g: Grid, p: Var, f: Var) -> dict[str, Extra]:
    mat = _mat(p)
    part = float(mat.rows)

    def mises() -> Expr:
        d = k.let(("dev", "s_dev"), p - times_identity(mat, fn("trace", p) / part))
        return fn("sqrt", 1.5 * fn("ddot", d, d))

    def kirchhoff() -> Expr:
        return voigt(k.let(("tau", "kirchhoff"), p * fn("transpose", f)))

    upper = "(0, 1)" if mat.rows == 2 else "(1, 2), (0, 2) and (0, 1)"
    return {
        "pressure": Extra(
            ("pressures", "mean_stress"), lambda: -fn("trace", p) / part, f"-trace(P) / {part}"
        ),
        "mises": Extra(
            ("von_mises", "mises"), mises, f"sqrt(1.5 ddot(d, d)), d = P - (trace(P) / {part}) * I"
        ),
        "power": Extra(("work", "power"), lambda: fn("ddot", p, f), "ddot(P, F)"),
        "norm": Extra(
            ("norms", "stress_norm"), lambda: fn("sqrt", fn("ddot", p, p)), "sqrt(ddot(P, P))"
        ),
        "kirchhoff": Extra(
            ("kirchhoff_stress", "taus"),
            kirchhoff,
            f"of P * transpose(F) the diagonal and entries {upper}",
        ),
        "traction": Extra(
            ("tractions", "face_forces"),
            lambda: p * g.array(("normals", "areas_n"), rows_of(mat), init="unit")[g.index],
            "P times its normal",
        ),
    }
