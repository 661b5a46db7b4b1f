"""Strain of a deformed body: the measures of continuum mechanics from deformation gradients."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper, times_identity, zero
from generators.matrix.small.extras import Extra, extras, skipped
from generators.matrix.small.gradient import gradient
from generators.matrix.small.grid import (
    Grid,
    grid,
    identity,
    kept,
    say,
    square_type,
    symmetric,
    voigt,
)
from generators.program.dtypes import Mat, Vec
from generators.program.expr import Expr, Var

Measure = Callable[[KernelBuilder, BodyBuilder, Expr, Mat], Expr]


def _green(k: KernelBuilder, body: BodyBuilder, f: Expr, mat: Mat) -> Expr:
    if k.draw.shape.chance(0.5):
        c = body.let(("c", "right_cauchy"), fn("transpose", f) * f)
        return 0.5 * (c - identity(k, mat))
    return 0.5 * (fn("transpose", f) * f - identity(k, mat))


def _almansi(k: KernelBuilder, body: BodyBuilder, f: Expr, mat: Mat) -> Expr:
    if k.draw.shape.chance(0.5):
        f_inv = body.let(("f_inv", "inv_f"), fn("inverse", f))
        return 0.5 * (identity(k, mat) - fn("transpose", f_inv) * f_inv)
    b = body.let(("b", "left_cauchy"), f * fn("transpose", f))
    return 0.5 * (identity(k, mat) - fn("inverse", b))


def _small(k: KernelBuilder, body: BodyBuilder, f: Expr, mat: Mat) -> Expr:
    if k.draw.shape.chance(0.5):
        h = body.let(("h", "grad_u"), f - identity(k, mat))
        return symmetric(h)
    return symmetric(f) - identity(k, mat)


def _biot(k: KernelBuilder, body: BodyBuilder, f: Expr, mat: Mat) -> Expr:
    """A first-order stand-in for the root of C, which needs no eigenvalues."""
    c = body.let(("c", "stretch_sq"), fn("transpose", f) * f)
    d = body.let(("d", "excess"), c - identity(k, mat))
    return 0.5 * d - 0.125 * (d * d)


MEASURES: dict[str, tuple[Measure, str]] = {
    "green": (_green, "Green-Lagrange strain e = 0.5 * (transpose(F) * F - I)"),
    "almansi": (_almansi, "Euler-Almansi strain e = 0.5 * (I - inverse(F * transpose(F)))"),
    "small": (_small, "small strain e = 0.5 * (F + transpose(F)) - I"),
    "cauchy_right": (
        lambda k, body, f, mat: fn("transpose", f) * f,
        "right Cauchy-Green tensor e = transpose(F) * F",
    ),
    "cauchy_left": (
        lambda k, body, f, mat: f * fn("transpose", f),
        "left Cauchy-Green tensor e = F * transpose(F)",
    ),
    "biot": (
        _biot,
        "Biot strain to second order, e = d / 2 - d * d / 8 with d = transpose(F) * F - I",
    ),
}


def _menu(k: KernelBuilder, e: Var, f: Var) -> dict[str, Extra]:
    """What else is wanted of a strain."""
    mat = f.type
    assert isinstance(mat, Mat)
    shear = k.draw.shape.choice((1.0, 2.0))
    times = "" if shear == 1.0 else f" times {shear}"
    upper = "(0, 1)" if mat.rows == 2 else "(1, 2), (0, 2) and (0, 1)"
    third = float(mat.rows)
    return {
        "trace": Extra(("volumetric", "dilatation"), lambda: fn("trace", e), "the trace of e"),
        "norm": Extra(
            ("norms", "magnitudes"), lambda: fn("sqrt", fn("ddot", e, e)), "sqrt(ddot(e, e))"
        ),
        "density": Extra(("densities", "work"), lambda: 0.5 * fn("ddot", e, e), "ddot(e, e) / 2"),
        "jacobian": Extra(
            ("jacobians", "volume_ratio"), lambda: fn("determinant", f), "determinant(F)"
        ),
        "voigt": Extra(
            ("voigt", "packed", "engineering"),
            lambda: voigt(e, shear),
            f"the diagonal of e and then its entries {upper}{times}",
        ),
        "deviator": Extra(
            ("deviators", "distortion"),
            lambda: e - times_identity(mat, fn("trace", e) / third),
            f"e - (trace(e) / {third}) * I",
        ),
        "shear": Extra(("shear", "shears"), lambda: e[0, 1], "e[0, 1]"),
        "rotation": Extra(
            ("rotations", "turns"),
            lambda: _turning(f),
            "0.5 * (F[1, 0] - F[0, 1])" if mat.rows == 2 else AXIAL_TEXT,
        ),
        "shape_change": Extra(
            ("distortions", "j2"),
            lambda: _second_invariant(k, e, third),
            f"half of ddot(d, d) with d = e - (trace(e) / {third}) * I",
        ),
    }


AXIAL_TEXT = (
    "the axial vector (h[2, 1] - h[1, 2], h[0, 2] - h[2, 0], h[1, 0] - h[0, 1]) / 2 for h = F"
)


def _turning(f: Expr) -> Expr:
    """The rotation part of a gradient: a number in the plane, a vector in space."""
    assert isinstance(f.type, Mat)
    if f.type.rows == 2:
        return 0.5 * (f[1, 0] - f[0, 1])
    parts = [f[2, 1] - f[1, 2], f[0, 2] - f[2, 0], f[1, 0] - f[0, 1]]
    return 0.5 * make(Vec(3, f.type.scalar), *parts)


def _second_invariant(k: KernelBuilder, e: Expr, third: float) -> Expr:
    assert isinstance(e.type, Mat)
    mean = k.let(("mean", "e_vol"), fn("trace", e) / third)
    d = k.let(("dev", "e_dev"), e - times_identity(e.type, mean))
    return 0.5 * fn("ddot", d, d)


def _relieved(k: KernelBuilder, g: Grid, e: Var) -> str:
    """Take away the strain that causes no stress: of heat, of growth, or a given one."""
    mat = e.type
    assert isinstance(mat, Mat)
    way = k.draw.shape.choice(("heat", "given", "scaled"))
    if way == "heat":
        alpha = g.supply(("alpha", "expansion"), ("alphas",), mat.scalar, 0.05, 0.3)
        warm = g.array(("delta_t", "heating", "temperature_rise"), mat.scalar, -1.0, 1.0)
        k.augment(e, "sub", times_identity(mat, alpha * warm[g.index]))
        return f" Subtract the thermal strain {say(alpha)} * {warm.name} * I from e."
    if way == "given":
        rest = g.supply(("eigenstrain", "plastic"), ("eigenstrains", "plastic"), mat, -0.3, 0.3)
        k.augment(e, "sub", rest)
        return f" Subtract {say(rest)} from e."
    factor = g.supply(("damage", "gain"), ("damages", "gains"), mat.scalar, 0.2, 0.8)
    k.augment(e, "mul", 1.0 - factor)
    return f" Multiply e by 1 - {say(factor)}."


@idiom
def deformation_strain(k: KernelBuilder, level: int) -> Title:
    """A strain measure of each deformation gradient, and what is read off it."""
    shape = k.draw.shape
    g = grid(k, None, "elem", "e", "tid", "i")
    mat = square_type(k, {2: 1, 3: 1}, k.draw.wide_float_type())
    key = shape.choice(sorted(MEASURES) if level < 5 else ("almansi", "biot", "green", "small"))
    measure, formula = MEASURES[key]
    done = ""
    if level == 3 and shape.chance(0.35):
        target = g.out(("strains", "strain"), mat)
        done = skipped(g, ("active", "alive"), [(target, zero(mat))], f"{target.name} gets zeros")
        f, source = gradient(k, g, mat, level, key == "almansi")
        e = _measured(k, level, measure, f)
        late = _relieved(k, g, e) if shape.chance(0.6) else ""
        k.store(target, g.index, e)
        return Title(
            k.name("element_strain", f"{key}_strain"), f"The {formula} {source}.{late}{done}"
        )
    f, source = gradient(k, g, mat, level, key == "almansi")
    e = _measured(k, level, measure, f)
    if level >= 2 and shape.chance(0.6 if level < 5 else 0.9):
        done = _relieved(k, g, e)
    if level >= 5:
        done += _opened(k, g, e)
    menu = _menu(k, e, f)
    whole = level == 1 or " * I from e" in done or shape.chance(0.7)
    if whole:
        target = g.write(("strains", "strain", "out"), kept(k, ("e", "strain"), e, 0.0))
        done += f" {target.name} gets e."
    count = (0, 1, 2, 3, 5)[level - 1]
    done += extras(g, menu, count if whole else count + 1)
    names = ("compute_strain", "strain_measure", f"{key}_strain", "element_strain")
    return Title(k.name(*names), f"The {formula} {source}.{done}")


def _measured(k: KernelBuilder, level: int, measure: Measure, f: Var) -> Var:
    mat = f.type
    assert isinstance(mat, Mat)
    name = ("e", "strain", "eps")
    if level < 3 or k.draw.shape.chance(0.4):
        return k.let(name, measure(k, k, f, mat))
    made = helper(
        k,
        ("strain_of", "measure_strain"),
        (("grad", mat),),
        lambda body, grad: measure(k, body, grad, mat),
    )
    return k.let(name, k.call(made, f))


def _opened(k: KernelBuilder, g: Grid, e: Var) -> str:
    """Take part of the volume change away where the material opens, as damage models do."""
    mat = e.type
    assert isinstance(mat, Mat)
    damage = g.supply(("damage", "crack"), ("damages", "phase"), mat.scalar, 0.2, 0.8)
    opening = k.let(("opening", "tr"), fn("trace", e))
    parts = float(mat.rows)
    if k.draw.shape.chance(0.5):
        with k.if_(opening > 0.0):
            k.augment(e, "sub", times_identity(mat, damage * opening / parts))
    else:
        lost = fn("where", opening > 0.0, damage * opening, k.lift(0.0, mat.scalar))
        k.augment(e, "sub", times_identity(mat, lost / parts))
    return f" Where trace(e) > 0, subtract ({say(damage)} * trace(e) / {parts}) * I from e."
