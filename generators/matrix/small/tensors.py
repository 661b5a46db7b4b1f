"""R * M * transpose(R): covariances, metrics and stiffness in another frame."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, sqrt
from generators.kit.masks import flag
from generators.kit.naming import applied
from generators.kit.records import Part, record
from generators.kit.sources import given
from generators.matrix.place import Place, place
from generators.matrix.small.parts import (
    mat_of,
    rows_of,
    symmetric,
    times_identity,
    transpose,
    voigt,
)
from generators.program.dtypes import Mat, Quat, Scalar, Vec
from generators.program.expr import Expr, Var


def _turn(g: Place, scalar: Scalar) -> Expr:
    return fn("quat_to_matrix", g.read("rotations orientations", Quat(scalar), init="unit"))


def _by_quaternion(g: Place, scalar: Scalar) -> Expr:
    return _turn(g, scalar)


def _by_scales(g: Place, scalar: Scalar) -> Expr:
    scales = given(g, "scale extent", Vec(3, scalar), 0.3, 1.6)
    return g.part("rot q_mat", _turn(g, scalar)) * fn("diag", scales)


def _by_matrix(g: Place, scalar: Scalar) -> Expr:
    return given(g, "transition jac", Mat(3, 3, scalar), -1.0, 1.0)


def _by_projection(g: Place, scalar: Scalar) -> Expr:
    """The derivative of a perspective projection, as splatting uses it."""
    p = g.k.let("p view", g.read("centers view_points", Vec(3, scalar), 0.5, 1.5))
    focal = given(g, "focal f_len", scalar, 0.8, 1.6)
    inv, nil = g.part("inv_z iz", 1.0 / p[2]), g.k.lift(0.0, scalar)
    first = (focal * inv, nil, -focal * p[0] * inv * inv)
    return make(Mat(2, 3, scalar), *first, nil, focal * inv, -focal * p[1] * inv * inv)


def _by_rows(g: Place, scalar: Scalar) -> Expr:
    return g.read("observation h_mats", Mat(2, 3, scalar), -1.0, 1.0)


def _by_basis(g: Place, scalar: Scalar) -> Expr:
    u = g.k.let("u tangent", g.read("tangents axes", Vec(3, scalar), init="unit"))
    v = g.k.let("v hint", g.read("helpers hints", Vec(3, scalar), -1.0, 1.0))
    w = g.part("w bitangent", fn("cross", u, v))
    return fn(g.shape.choice(("matrix_from_rows", "matrix_from_cols")), u, v, w)


_FRAMES = {
    "quaternion": _by_quaternion,
    "scales": _by_scales,
    "matrix": _by_matrix,
    "projection": _by_projection,
    "rows": _by_rows,
    "basis": _by_basis,
}


def _tensor(g: Place, scalar: Scalar, level: int) -> Expr:
    """The tensor: whole, packed, of principal values, or in a struct with its weight."""
    mat = Mat(3, 3, scalar)
    ways = ("whole", "symmetric", "packed", "principal", "struct" if level >= 2 else "whole")
    way = g.shape.choice(ways)
    value: Expr
    if way == "principal":
        return fn("diag", g.read("principal variances", Vec(3, scalar), 0.2, 2.0))
    if way == "packed":
        s = g.k.let("s c6", g.read("packed upper cov6", Vec(6, scalar), -1.0, 1.0))
        value = make(mat, *(s[c] for c in (0, 1, 2, 1, 3, 4, 2, 4, 5)))
    elif way == "struct":
        parts = {"t": Part("tensor", mat, -1.0, 1.0), "w": Part("weight", scalar, 0.3, 1.5)}
        r = record(g, "Splat Anisotropy Element", parts, 1.0)
        value = r["w"] * r["t"]
    else:
        value = g.read("tensors covariances metrics", mat, -1.0, 1.0)
        value = value if way == "whole" else symmetric(g.part("sym m_sym", value))
    return g.let("m cov tensor", value)


def _framed(g: Place, level: int, r: Expr, m: Expr) -> Var:
    """R M R^T, or back; inline or in a helper."""
    back = mat_of(r).rows == 3 and g.chance(0.3)
    names = "c moved framed"
    text = g.tell(transpose(r) * m * r if back else r * m * transpose(r))

    def build(_: BodyBuilder, f: Expr, t: Expr) -> Expr:
        return transpose(f) * t * f if back else f * t * transpose(f)

    if not back and g.chance(0.3):
        value: Expr = g.k.let("rm left", r * m) * transpose(r)
    else:
        chance = 0.5 if level >= 3 else 0.0
        value = applied(g.k, chance, "congruent to_frame", {"f": r, "t": m}, build)
    c = g.k.let(names, value)
    g.spoken[c.name] = "C", text
    return c


def _changed(g: Place, c: Var, level: int) -> str:
    """A ridge, noise, forgetting, modes of a shared basis."""
    k, mat, vec = g.k, mat_of(c), rows_of(mat_of(c))
    ways = ["ridge", "noise", "diagonal"] + (["modes", "modes", "forget"] if level >= 3 else [])
    way = g.shape.choice(ways)
    if way == "modes":
        count = k.trip_count("num_modes mode_count", k.size("m", 2, 4))
        modes = g.array("modes factors loads", vec, -1.0, 1.0, more="m")
        weights = k.array("mode_weights eigenvalues", mat.scalar, "m", low=0.2, high=1.0)
        with k.for_("mode q", count) as q:
            u = k.let("u load", modes[g.index(q)])
            k.augment(c, "add", weights[q] * fn("outer", u, u))
        return f" Add {weights.name} * outer(u, u) for every u of {modes.name}."
    if way == "forget":
        keep = given(g, "keep forgetting", mat.scalar, 0.5, 0.95)
        value = c + keep * (g.read("previous running", mat, -1.0, 1.0) - c)
        k.assign(c, value)
        return f" Then C = {g.tell(value)}."
    if way == "ridge":
        more = times_identity(mat, given(g, "ridge blur", mat.scalar, 0.1, 0.6))
    elif way == "diagonal":
        more = fn("diag", given(g, "noise_var floor", vec, 0.05, 0.5))
    else:
        more = given(g, "noise process", mat, -0.3, 0.3)
    k.augment(c, "add", more)
    return f" Add {g.tell(more)}."


@idiom
def congruence(k: KernelBuilder, level: int) -> Title:
    """Tensors in another frame, with what is added there."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    g = place(k, "i tid e", list=5, grid=4, cube=1)
    key = shape.choice(sorted(_FRAMES))
    m = _tensor(g, scalar, level)
    r = g.let("r rot jac_r", _FRAMES[key](g, scalar))
    c = _framed(g, level, r, m)
    mat, vec = mat_of(c), rows_of(mat_of(c))
    done = f"Let {g.told(c, m, r)}."
    if level >= 2:
        done += _changed(g, c, level)
    if level >= 4 and shape.chance(0.5):
        there = flag(g, "isotropic degenerate")
        with k.if_(there.value):
            mean = k.let("mean avg", fn("trace", c) / float(mat.rows))
            k.assign(c, times_identity(mat, mean))
        done += f" Where {there.on}, C becomes trace(C) / {mat.rows} * I."
    if level >= 4:
        done += _weighed(g, c)
    done += g.gets("framed_out out world_tensors", c)

    def form() -> Expr:
        x = k.let("x dir", g.read("probes dirs", vec, -1.0, 1.0))
        return dot(x, c * x)

    def correlation() -> Expr:
        return c[0, 1] / sqrt(abs(g.part("prod_var vv", c[0, 0] * c[1, 1])) + 0.1)

    done += g.offer(
        (shape.integer(0, 1), 1, 1, 2, 3)[level - 1],
        det=("dets areas", lambda: fn("determinant", c)),
        norm=("norms_sq energies", lambda: fn("ddot", c, c)),
        diag=("variances_out diagonals", lambda: fn("get_diag", c)),
        form=("quadratic stretch", form),
        packed=("packed_out upper_out", lambda: voigt(c)),
        ratio=("correlations coupling", correlation),
        gap=("gaps anisotropy", lambda: c[0, 0] - c[1, 1]),
    )
    return Title(k.name(f"transform_tensors rotate_tensors {key}_congruence change_frame"), done)


def _weighed(g: Place, c: Var) -> str:
    """The weight of a point: exp of minus half its squared distance, and a cut."""
    mat = mat_of(c)
    d = g.let("d delta", g.read("offsets deltas", rows_of(mat), -1.0, 1.0))
    reach = g.part("metric gram", c * transpose(c) + times_identity(mat, 0.5))
    power = g.part("power dist_sq", dot(d, fn("inverse", reach) * d))
    value = given(g, "opacity amplitude", mat.scalar, 0.3, 1.0) * exp(-0.5 * power)
    return g.gets("weights alphas", value, f"{g.tell(value)}, {g.told(d)}")
