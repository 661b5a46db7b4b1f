"""R * M * transpose(R): covariances, metrics and stiffness in another frame."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.masks import flag
from generators.kit.naming import applied, held
from generators.kit.outputs import Extra, extras
from generators.kit.pieces import times_identity
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.matrix.small.parts import symmetric, voigt
from generators.program.dtypes import Mat, Quat, Scalar, Vec
from generators.program.expr import Expr, Var

Frame = tuple[Expr, str]


def _by_quaternion(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    source = g.array("rotations orientations", Quat(scalar), init="unit")
    r = k.let("r rot", fn("quat_to_matrix", source[g.at]))
    return r, f"R the rotation {source.name}"


def _by_scales(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    scales = given(g, "scale extent", Vec(3, scalar), 0.3, 1.6, many="scales extents")
    turns = g.array("rotations orientations", Quat(scalar), init="unit")
    rot = k.let("rot q_mat", fn("quat_to_matrix", turns[g.at]))
    r = k.let("r rs", rot * fn("diag", scales))
    return r, f"R the rotation {turns.name} times diag({say(k, scales)})"


def _by_matrix(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    source = given(g, "transition jac", Mat(3, 3, scalar), -1.0, 1.0, many="transitions jacobians")
    return held(k, "r f", source), f"R = {say(k, source)}"


def _by_projection(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    """The derivative of a perspective projection, as splatting uses it."""
    points = g.array("centers view_points", Vec(3, scalar), 0.5, 1.5)
    p = k.let("p view", points[g.at])
    focal = given(g, "focal f_len", scalar, 0.8, 1.6, many="focals")
    inv = k.let("inv_z iz", 1.0 / p[2])
    nil = k.lift(0.0, scalar)
    entries = (
        focal * inv,
        nil,
        -focal * p[0] * inv * inv,
        nil,
        focal * inv,
        -focal * p[1] * inv * inv,
    )
    r = k.let("r proj", make(Mat(2, 3, scalar), *entries))
    text = f"R = ((f / z, 0, -f x / z^2), (0, f / z, -f y / z^2)), f = {say(k, focal)}"
    return r, f"{text}, (x, y, z) = {points.name}"


def _by_rows(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    source = g.array("observation h_mats", Mat(2, 3, scalar), -1.0, 1.0)
    return k.let("r h", source[g.at]), f"R = {source.name}"


def _by_basis(k: KernelBuilder, g: Site, scalar: Scalar) -> Frame:
    axes = g.array("tangents axes", Vec(3, scalar), init="unit")
    other = g.array("helpers hints", Vec(3, scalar), -1.0, 1.0)
    u, v = k.let("u tangent", axes[g.at]), k.let("v hint", other[g.at])
    w = k.let("w bitangent", fn("cross", u, v))
    order = k.draw.shape.choice(("matrix_from_rows", "matrix_from_cols"))
    r = k.let("r basis", fn(order, u, v, w))
    what = "rows" if order.endswith("rows") else "columns"
    return r, f"R with the {what} u, v, cross(u, v), u = {axes.name}, v = {other.name}"


FRAMES: dict[str, Callable[[KernelBuilder, Site, Scalar], Frame]] = {
    "quaternion": _by_quaternion,
    "scales": _by_scales,
    "matrix": _by_matrix,
    "projection": _by_projection,
    "rows": _by_rows,
    "basis": _by_basis,
}


def _tensor(k: KernelBuilder, g: Site, scalar: Scalar, level: int) -> tuple[Expr, str]:
    """The tensor: whole, packed, of principal values, or in a struct with its weight."""
    mat = Mat(3, 3, scalar)
    ways = ("whole", "symmetric", "packed", "principal", "struct" if level >= 2 else "whole")
    way = k.draw.shape.choice(ways)
    name = ("m", "cov", "tensor")
    if way == "packed":
        source = g.array("packed upper cov6", Vec(6, scalar), -1.0, 1.0)
        s = k.let("s c6", source[g.at])
        order = (0, 1, 2, 1, 3, 4, 2, 4, 5)
        m = k.let(name, make(mat, *(s[c] for c in order)))
        return m, f"M symmetric, its upper triangle row by row {source.name}"
    if way == "principal":
        source = g.array("principal variances", Vec(3, scalar), 0.2, 2.0)
        return fn("diag", source[g.at]), f"M = diag({source.name})"
    if way == "struct":
        parts = {"t": Part("tensor", mat, -1.0, 1.0), "w": Part("weight", scalar, 0.3, 1.5)}
        r = record(g, "Splat Anisotropy Element", parts, 1.0)
        m = k.let(name, r["w"] * r["t"])
        return m, f"M = {r.say('w')} * {r.say('t')}"
    source = g.array("tensors covariances metrics", mat, -1.0, 1.0)
    m = k.let(name, source[g.at])
    if way == "whole":
        return m, f"M = {source.name}"
    return k.let("sym m_sym", symmetric(m)), f"M the symmetric part of {source.name}"


def _framed(k: KernelBuilder, level: int, r: Expr, m: Expr) -> tuple[Var, str]:
    """R M R^T, or back; inline or in a helper."""
    assert isinstance(r.type, Mat)
    back = r.type.rows == 3 and k.draw.shape.chance(0.3)

    def build(_: BodyBuilder, f: Expr, t: Expr) -> Expr:
        ft = fn("transpose", f)
        return ft * t * f if back else f * t * ft

    name = ("c", "moved", "framed")
    text = "transpose(R) * M * R" if back else "R * M * transpose(R)"
    if k.draw.shape.chance(0.3) and not back:
        half = k.let("rm left", r * m)
        return k.let(name, half * fn("transpose", r)), text
    chance = 0.5 if level >= 3 else 0.0
    return k.let(name, applied(k, chance, "congruent to_frame", {"f": r, "t": m}, build)), text


def _changed(k: KernelBuilder, g: Site, c: Var, level: int) -> str:
    """A ridge, noise, forgetting, modes of a shared basis."""
    mat = c.type
    assert isinstance(mat, Mat)
    vec = Vec(mat.rows, mat.scalar)
    ways = ["ridge", "noise", "diagonal"] + (["modes", "modes", "forget"] if level >= 3 else [])
    way = k.draw.shape.choice(ways)
    if way == "ridge":
        ridge = given(g, "ridge blur", mat.scalar, 0.1, 0.6, many="ridges blurs")
        k.augment(c, "add", times_identity(mat, ridge))
        return f" Add {say(k, ridge)} * I."
    if way == "diagonal":
        noise = given(g, "noise_var floor", vec, 0.05, 0.5, many="noise_vars floors")
        k.augment(c, "add", fn("diag", noise))
        return f" Add diag({say(k, noise)})."
    if way == "noise":
        noise = given(g, "noise process", mat, -0.3, 0.3, many="noises processes")
        k.augment(c, "add", noise)
        return f" Add {say(k, noise)}."
    if way == "forget":
        keep = given(g, "keep forgetting", mat.scalar, 0.5, 0.95, many="keeps")
        old = g.array("previous running", mat, -1.0, 1.0)
        k.assign(c, c + keep * (old[g.at] - c))
        return f" Then C moves {say(k, keep)} of the way to {old.name}."
    k.size("m", 2, 4)
    count = k.trip_count("num_modes mode_count", "m")
    modes = k.array("modes factors loads", vec, (*g.dims, "m"), low=-1.0, high=1.0)
    weights = k.array("mode_weights eigenvalues", mat.scalar, "m", low=0.2, high=1.0)
    with k.for_("mode q", count) as q:
        u = k.let("u load", modes[g.index(q)])
        k.augment(c, "add", weights[q] * fn("outer", u, u))
    return f" Add {weights.name} * outer(u, u) for every u of {modes.name}."


def _menu(k: KernelBuilder, g: Site, c: Var) -> dict[str, Extra]:
    mat = c.type
    assert isinstance(mat, Mat)
    vec = Vec(mat.rows, mat.scalar)

    def form() -> Expr:
        x = k.let("x dir", g.array("probes dirs", vec, -1.0, 1.0)[g.at])
        return fn("dot", x, c * x)

    def correlation() -> Expr:
        product = k.let("prod_var vv", c[0, 0] * c[1, 1])
        return c[0, 1] / fn("sqrt", fn("abs", product) + 0.1)

    upper = "[0, 1]" if mat.rows == 2 else "[1, 2], [0, 2], [0, 1]"
    return {
        "det": Extra("dets areas", lambda: fn("determinant", c), "determinant(C)"),
        "norm": Extra("norms_sq energies", lambda: fn("ddot", c, c), "ddot(C, C)"),
        "diag": Extra("variances_out diagonals", lambda: fn("get_diag", c), "the diagonal of C"),
        "form": Extra("quadratic stretch", form, "dot(x, C * x) of its x"),
        "packed": Extra(
            "packed_out upper_out", lambda: voigt(c), f"diagonal and entries {upper} of C"
        ),
        "ratio": Extra(
            "correlations coupling", correlation, "C[0, 1] / sqrt(|C[0, 0] C[1, 1]| + 0.1)"
        ),
        "gap": Extra("gaps anisotropy", lambda: c[0, 0] - c[1, 1], "C[0, 0] - C[1, 1]"),
    }


@idiom
def congruence(k: KernelBuilder, level: int) -> Title:
    """Tensors in another frame, with what is added there."""
    shape = k.draw.shape
    g = launch(k, list=5, grid=4, cube=1, indices="i tid e")
    scalar = k.draw.wide_float_type()
    key = shape.choice(sorted(FRAMES))
    m, source = _tensor(k, g, scalar, level)
    r, frame = FRAMES[key](k, g, scalar)
    c, text = _framed(k, level, r, m)
    done = f"Let C = {text} with {source}, {frame}."
    if level >= 2:
        done += _changed(k, g, c, level)
    mat = c.type
    assert isinstance(mat, Mat)
    if level >= 4 and shape.chance(0.5):
        there = flag(g, "isotropic degenerate")
        with k.if_(there.value):
            mean = k.let("mean avg", fn("trace", c) / float(mat.rows))
            k.assign(c, times_identity(mat, mean))
        done += f" Where {there.on}, C becomes trace(C) / {mat.rows} * I."
    if level >= 4:
        done += _inverted(k, g, c)
    target = g.put("framed_out out world_tensors", c)
    done += f" {target.name} gets C."
    done += extras(g, _menu(k, g, c), (shape.integer(0, 1), 1, 1, 2, 3)[level - 1])
    names = ("transform_tensors", "rotate_tensors", f"{key}_congruence", "change_frame")
    return Title(k.name(*names), done)


def _inverted(k: KernelBuilder, g: Site, c: Var) -> str:
    """The weight of a point: exp of minus half its squared distance, and a cut."""
    mat = c.type
    assert isinstance(mat, Mat)
    vec = Vec(mat.rows, mat.scalar)
    offsets = g.array("offsets deltas", vec, -1.0, 1.0)
    d = k.let("d delta", offsets[g.at])
    reach = k.let("metric gram", c * fn("transpose", c) + times_identity(mat, 0.5))
    power = k.let("power dist_sq", fn("dot", d, fn("inverse", reach) * d))
    opacity = given(g, "opacity amplitude", mat.scalar, 0.3, 1.0, many="opacities")
    target = g.put("weights alphas", opacity * fn("exp", -0.5 * power))
    return (
        f" {target.name} gets {say(k, opacity)} * exp(-dot(d, inverse(C * transpose(C) + 0.5 * I)"
        f" * d) / 2), d = {offsets.name}."
    )
