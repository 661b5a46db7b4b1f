"""Invariants of stress tensors, the split in volume and shape, and yield criteria."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper, times_identity, zero
from generators.matrix.small.extras import Extra, extras
from generators.matrix.small.grid import Grid, grid, say, symmetric
from generators.program import ir
from generators.program.dtypes import Mat, Scalar, Type, Vec
from generators.program.expr import Expr, Var

ARRAYS = ("stresses", "sigma", "cauchy_stress", "tensors")


def _tensor(k: KernelBuilder, g: Grid, mat: Mat, level: int) -> tuple[Var, str]:
    """A symmetric tensor: from six numbers, made symmetric, or averaged over points."""
    ways = {"symmetrized": 3, "voigt": 3, "plain": 1, "points": 4 if level >= 3 else 0}
    way = k.draw.shape.weighted(ways)
    name = ("s", "sig", "sigma_i", "t")
    if way == "plain":
        source = g.array(ARRAYS, mat, -2.0, 2.0)
        return k.let(name, source[g.index]), f"For s = {source.name}[{g.place}]"
    if way == "symmetrized":
        source = g.array(ARRAYS, mat, -2.0, 2.0)
        raw = k.let(("raw", "m"), source[g.index])
        return k.let(name, symmetric(raw)), f"For s, the symmetric part of {source.name}[{g.place}]"
    if way == "voigt":
        return _unpacked(k, g, mat, name)
    k.size("q", 2, 4)
    count = k.trip_count(("num_points", "point_count"), "q")
    source = k.array(("point_stress", "qp_stress"), mat, (*g.dims, "q"), low=-2.0, high=2.0)
    weights = k.array(("weights", "qp_weights"), mat.scalar, "q", low=0.2, high=1.0)
    s = k.let(name, zero(mat))
    with k.for_(("p", "qp"), count) as p:
        k.augment(s, "add", weights[p] * symmetric(source[g.at(p)]))
    text = f"For s, the sum over the points of {weights.name} times the symmetric part of"
    return s, f"{text} {source.name}"


def _unpacked(k: KernelBuilder, g: Grid, mat: Mat, name: tuple[str, ...]) -> tuple[Var, str]:
    count = 3 if mat.rows == 2 else 6
    packed = g.array(("voigt", "packed", "components"), Vec(count, mat.scalar), -2.0, 2.0)
    v = k.let(("v", "c"), packed[g.index])
    if mat.rows == 2:
        order: tuple[int, ...]
        order, text = (0, 2, 2, 1), "xx, yy, xy"
    elif k.draw.shape.chance(0.5):
        order, text = (0, 5, 4, 5, 1, 3, 4, 3, 2), "xx, yy, zz, yz, xz, xy"
    else:
        order, text = (0, 3, 5, 3, 1, 4, 5, 4, 2), "xx, yy, zz, xy, yz, xz"
    s = k.let(name, make(mat, *(v[c] for c in order)))
    return s, f"For symmetric s with entries {text} = {packed.name}[{g.place}]"


def _deviator(k: KernelBuilder, body: BodyBuilder, s: Expr) -> Expr:
    mat = s.type
    assert isinstance(mat, Mat)
    if k.draw.shape.chance(0.5):
        mean = body.let(("mean", "hydro"), fn("trace", s) / float(mat.rows))
        return s - times_identity(mat, mean)
    return s - times_identity(mat, fn("trace", s) / float(mat.rows))


def _menu(k: KernelBuilder, g: Grid, s: Var, d: Var) -> dict[str, Extra]:
    mat = s.type
    assert isinstance(mat, Mat)
    size = float(mat.rows)

    def second() -> Expr:
        tr = k.let(("tr", "first"), fn("trace", s))
        return 0.5 * (tr * tr - fn("ddot", s, s))

    def tresca() -> Expr:
        half = k.let(("half", "half_gap"), 0.5 * (s[0, 0] - s[1, 1]))
        return fn("sqrt", half * half + s[0, 1] * s[0, 1])

    def traction() -> Expr:
        normals = g.array(("normals", "facets"), Vec(mat.rows, mat.scalar), init="unit")
        nrm = k.let(("nrm", "direction"), normals[g.index])
        return fn("dot", nrm, s * nrm)

    def prager() -> Expr:
        alpha = g.supply(("alpha", "friction"), ("alphas", "frictions"), mat.scalar, 0.1, 0.4)
        return fn("sqrt", 0.5 * fn("ddot", d, d)) + alpha * fn("trace", s)

    return {
        "i1": Extra(("i1", "first_invariant"), lambda: fn("trace", s), "trace(s)"),
        "i2": Extra(("i2", "second_invariant"), second, "(trace(s)^2 - ddot(s, s)) / 2"),
        "i3": Extra(("i3", "third_invariant"), lambda: fn("determinant", s), "determinant(s)"),
        "j2": Extra(("j2", "shear_energy"), lambda: 0.5 * fn("ddot", d, d), "ddot(d, d) / 2"),
        "j3": Extra(("j3", "lode_j3"), lambda: fn("determinant", s + d), "determinant(s + d)")
        if mat.rows == 2
        else Extra(("j3", "lode_j3"), lambda: fn("determinant", d), "determinant(d)"),
        "pressure": Extra(
            ("pressure", "pressures"), lambda: -fn("trace", s) / size, f"-trace(s) / {size}"
        ),
        "mises": Extra(
            ("von_mises", "mises", "equivalent"),
            lambda: fn("sqrt", 1.5 * fn("ddot", d, d)),
            "sqrt(1.5 * ddot(d, d))",
        ),
        "octahedral": Extra(
            ("octahedral", "tau_oct"),
            lambda: fn("sqrt", fn("ddot", d, d) / 3.0),
            "sqrt(ddot(d, d) / 3)",
        ),
        "in_plane": Extra(
            ("max_shear", "in_plane_shear"),
            tresca,
            "sqrt((s00 - s11)^2 / 4 + s01^2)",
        ),
        "traction": Extra(
            ("normal_stress", "tractions"), traction, "dot(n, s * n) of its normal n"
        ),
        "prager": Extra(
            ("drucker_prager", "yield_value"),
            prager,
            "sqrt(ddot(d, d) / 2) + friction * trace(s)",
        ),
    }


@idiom
def tensor_invariants(k: KernelBuilder, level: int) -> Title:
    """Invariants of stress tensors, their deviators, and a return to a yield surface."""
    shape = k.draw.shape
    g = grid(k, None, "e", "cell", "tid", "i")
    size = shape.choice((2, 3, 3))
    mat = Mat(size, size, k.draw.wide_float_type())
    s, done = _tensor(k, g, mat, level)
    if level >= 2 and shape.chance(0.5):
        done += _effective(k, g, s, level >= 4)
    menu_keys_need = {"j2", "j3", "mises", "octahedral", "prager"}
    count = (1, 2, 2, 3, 3)[level - 1]
    split = level >= 4 or shape.chance(0.6)
    d = s
    if split:
        if level >= 3 and shape.chance(0.6):
            made = helper(
                k,
                ("deviator", "dev_part"),
                (("stress", mat),),
                lambda body, stress: _deviator(k, body, stress),
            )
            d = k.let(("d", "dev"), k.call(made, s))
        else:
            d = k.let(("d", "dev"), _deviator(k, k, s))
        done += f" and its deviator d = s - (trace(s) / {float(size)}) * I"
    menu = _menu(k, g, s, d)
    if level >= 4:
        done += _returned(k, g, level, s, d)
        return _title(k, done + extras(g, menu, count))
    if split:
        menu = {key: menu[key] for key in menu if key in menu_keys_need}
        target = g.write(("deviators", "dev_out"), d)
        done += f": {target.name} gets d."
        return _title(k, done + extras(g, menu, count - 1))
    menu = {key: menu[key] for key in menu if key not in menu_keys_need}
    return _title(k, f"{done}:{extras(g, menu, count)}")


def _title(k: KernelBuilder, done: str) -> Title:
    names = ("stress_invariants", "tensor_invariants", "stress_measures", "yield_measures")
    return Title(k.name(*names), done)


def _effective(k: KernelBuilder, g: Grid, s: Var, whole: bool) -> str:
    """Stress that the skeleton carries, or a part that was there before."""
    mat = s.type
    assert isinstance(mat, Mat)
    if whole and k.draw.shape.chance(0.6):
        pore = g.array(("pore_pressure", "fluid_p"), mat.scalar, -1.0, 1.0)
        biot = g.supply(("biot", "coupling"), ("biots", "couplings"), mat.scalar, 0.4, 0.9)
        k.augment(s, "add", times_identity(mat, biot * pore[g.index]))
        return f", plus {say(biot)} * {pore.name} * I"
    share = g.supply(("gain", "load_factor"), ("gains", "load_factors"), mat.scalar, 0.5, 2.0)
    k.augment(s, "mul", share)
    return f", multiplied by {say(share)}"


def _limit(k: KernelBuilder, g: Grid, scalar: Scalar, level: int) -> tuple[Expr, Expr, str]:
    """Yield stress with hardening by what has accumulated, and the hardening modulus."""
    past = g.array(("plastic", "eq_plastic", "history"), scalar, 0.0, 2.0)
    if level >= 5 or k.draw.shape.chance(0.4):
        inits = [
            ir.FieldInit("yield_stress", scalar, "uniform", "0.5", "1.0"),
            ir.FieldInit("hardening", scalar, "uniform", "0.6", "1.5"),
        ]
        fields: tuple[tuple[str, Type], ...] = tuple((f.name, f.type) for f in inits)
        struct = k.struct(k.name("Plasticity", "Material", "Metal"), *fields)
        metal = k.scalar(("metal", "material", "params"), struct, fields=inits)
        start: Expr = field(metal, "yield_stress")
        slope: Expr = field(metal, "hardening")
        text = f"{metal.name}.yield_stress + {metal.name}.hardening * {past.name}"
    else:
        start = g.supply(("yield0", "sigma_y"), ("yields", "strengths"), scalar, 0.5, 1.0)
        slope = g.supply(("hardening", "slope"), ("slopes", "moduli"), scalar, 0.6, 1.5)
        text = f"{say(start)} + {say(slope)} * {past.name}"
    return k.let(("limit", "flow_stress"), start + slope * past[g.index]), slope, text


def _returned(k: KernelBuilder, g: Grid, level: int, s: Var, d: Var) -> str:
    """Radial return: deviators beyond the yield surface are scaled back to it."""
    mat = s.type
    assert isinstance(mat, Mat)
    limit, slope, text = _limit(k, g, mat.scalar, level)
    size = k.let(("equivalent", "mises_now", "q"), fn("sqrt", 1.5 * fn("ddot", d, d)))
    mu = g.supply(("mu", "shear_mod"), ("mus", "shear_mods"), mat.scalar, 0.8, 2.0, False)
    flow = k.let(("flow", "dgamma"), zero(mat.scalar))
    with k.if_(size > limit):
        k.note("back to the surface along the deviator")
        k.assign(flow, (size - limit) / (3.0 * mu + slope))
        k.augment(d, "mul", 1.0 - 3.0 * mu * flow / size)
        if k.draw.shape.chance(0.5):
            mean = k.let(("p_mean", "sph"), fn("trace", s) / float(mat.rows))
            k.assign(s, d + times_identity(mat, mean))
        else:
            sph = fn("trace", s) / float(mat.rows)
            k.assign(s, times_identity(mat, sph) + d)
    target = g.write(("stress_out", "returned", "new_stress"), s)
    step = g.write(("plastic_step", "flow_out"), flow)
    size_text = float(mat.rows)
    return (
        f". With q = sqrt(1.5 ddot(d, d)), H the hardening, limit = {text}: where q > limit, flow ="
        f" (q - limit) / (3 {say(mu)} + H), d = (1 - 3 {say(mu)} flow / q) d and s = d + trace(s) /"
        f" {size_text} I, else flow = 0. {target.name} gets s, {step.name} flow."
    )
