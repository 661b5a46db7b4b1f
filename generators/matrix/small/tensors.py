"""Quadratic forms and their mixtures, and tensors in another frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, log, sqrt
from generators.kit.naming import applied, routine
from generators.kit.records import Part, record
from generators.kit.sources import zero
from generators.matrix.parts import (
    Entry,
    Place,
    mat_of,
    place,
    rows_of,
    square_type,
    times_identity,
    transpose,
)
from generators.program.dtypes import INT32, Mat, Quat, Scalar, Type, Vec
from generators.program.expr import Expr, Var

Form = Callable[[Expr, Expr], Expr]


def _metric(g: Place, mat: Mat, way: str) -> Expr:
    """A positive definite matrix: the same for all, or the inverse of each thread's covariance."""
    if way == "given":
        names = ("precision", "inv_cov")
        return g.k.scalar(names, mat, -0.5, 0.5, init="well_conditioned")
    ridge = times_identity(mat, g.one("ridge", mat.scalar, 0.2, 0.8))
    c = g.part("c cov_i", g.read("covs", mat, -0.5, 0.5, init="well_conditioned"))
    return g.let("w precision", fn("inverse", c + ridge))


def _whitened(g: Place, mat: Mat, way: str, d: Var) -> Var:
    """A difference in units of its spread: by a factor of the precision, or by deviations."""
    if way == "scales":
        s = g.one("stddevs sigma", rows_of(mat), 0.5, 1.6)
        return g.let("z scaled", fn("cw_div", d, s))
    factor = g.one("whitening precision_factor", mat, 0.2, 1.0)
    return g.let("z white", factor * d)


@dataclass
class Mixture:
    """Components, each with a mean, a matrix W and a weight, and a pass over them."""

    g: Place
    x: Var
    form: Form
    count: Expr
    text: str
    component: Callable[[Expr], tuple[Expr, Expr, Expr]]

    def measured(self, q: Expr) -> tuple[Expr, Expr, Var, Expr]:
        """The offset from a component, W and the weight of that, and the squared distance."""
        mean, w, weight = self.component(q)
        d = self.g.k.let("d off", self.x - mean)
        return d, w, self.g.k.let("sq dist", self.form(d, w)), weight


def _mixture(g: Place, x: Var, form: Form, vec: Vec) -> Mixture:
    """Components in structs, or in arrays of their own."""
    k, mat = g.k, Mat(vec.size, vec.size, vec.scalar)
    count = k.size_param("num_comps component_count", k.size("c", 3, 5))
    over_c = Place(k, "list", ("c",), ())
    parts = {
        "mean": Part("mean", vec, -1.0, 1.0, many="means centers"),
        "precision": Part("precision", mat, -0.4, 0.4, "well_conditioned", "precisions inv_covs"),
        "weight": Part("weight", vec.scalar, 0.3, 1.0, many="weights priors"),
    }
    if g.chance(0.5):
        fields = tuple(part.field(key) for key, part in parts.items())
        name = k.name("Component Gaussian Cluster")
        struct = k.struct(name, *((f.name, f.type) for f in fields))
        items = over_c.array("components mixture clusters", struct, fields=fields)

        def component(q: Expr) -> tuple[Expr, Expr, Expr]:
            one = k.let("gauss item", items[q])
            return field(one, "mean"), field(one, "precision"), field(one, "weight")

        text = f"mean, precision W and weight of {items.name}"
        return Mixture(g, x, form, count, text, component)
    means, mats, weights = (
        over_c.array(p.many, p.type, p.low, p.high, init=p.init) for p in parts.values()
    )
    text = f"mean, W and weight of {means.name}, {mats.name} and {weights.name}"
    return Mixture(g, x, form, count, text, lambda q: (means[q], mats[q], weights[q]))


def _scored(m: Mixture, level: int, vec: Vec) -> str:
    """Densities up to a factor, summed; and the nearest component."""
    g, k = m.g, m.g.k
    total = k.let("density likelihood", zero(vec.scalar))
    peak = k.let("peak top_term", zero(vec.scalar))
    label = k.let("label best", k.lift(0, INT32))
    with k.for_("comp q", m.count) as q:
        _, _, sq, weight = m.measured(q)
        term = k.let("term joint", weight * exp(-0.5 * sq))
        k.augment(total, "add", term)
        with k.if_(term > peak):
            k.assign(peak, term)
            k.assign(label, q)
    first, second = g.put("densities mixture_pdf", total), g.put("labels assignments", label)
    done = f"over the components ({m.text}; a weight holds the normalising factor as well), with"
    done += f" t = weight * exp(-r / 2), r = dot(x - mean, W * (x - mean)): {first.name}"
    done += f" gets the sum of t, {second.name} the first component of largest t"
    return f"{done}.{_shares(m, level, vec, total) if level >= 4 else ''}"


def _shares(m: Mixture, level: int, vec: Vec, total: Var) -> str:
    """A second pass: the share of each component, and the slope of the log density."""
    g, k = m.g, m.g.k
    ways = ["shares", "slope"] if level >= 5 else [g.shape.choice(("shares", "slope"))]
    k.used -= {"d", "off", "sq", "dist", "gauss", "item", "term", "joint"}
    slope = k.let("pull toward", zero(vec)) if "slope" in ways else None
    shares = None
    if "shares" in ways:
        shares = k.out("responsibilities shares", vec.scalar, (*g.dims, "c"))
    with k.for_("n j2", m.count) as n:
        d, w, sq, weight = m.measured(n)
        share = k.let("share resp", weight * exp(-0.5 * sq) / total)
        if shares is not None:
            k.store(shares, g.index(n), share)
        if slope is not None:
            k.augment(slope, "sub", share * (w * d))
    done = " The share of a component is its weight * exp(-r / 2) over that sum."
    done += f" {shares.name} gets all shares." if shares is not None else ""
    if slope is not None:
        done += g.gets("score_out log_slopes", slope, "minus the sum of share * W * (x - mean)")
    return done


@idiom(depth=2)
def quadratic_form(k: KernelBuilder, level: int) -> Title:
    """Distances that a matrix measures, alone or over the components of a mixture."""
    shape = k.draw.shape
    g = place(k, "i tid sample")
    mat = square_type(k, {2: 3, 3: 3, 4: 1}, k.draw.wide_float_type())
    vec = rows_of(mat)
    x = g.let("x xi p", g.read("points samples xs", vec, -1.5, 1.5))
    by_helper = level >= 2 and shape.chance(0.5)
    args: dict[str, Type] = {"d": vec, "w": mat}
    names = "quad_form weighted_sq_norm"
    form = routine(k, float(by_helper), names, args, lambda _, d, w: dot(d, w * d))
    if level >= 2 and shape.chance(0.4):
        done = _scored(_mixture(g, x, form, vec), level, vec)
        kind = "Scores of a Gaussian mixture"
        return Title(k.name("mixture_score gaussian_mixture"), f"{kind}: with {g.told(x)}, {done}")
    way = shape.choice(("given", "covariance", "factor", "scales"))
    own = way == "covariance"
    center = g.read("means", vec, -0.5, 0.5) if own else g.one("center mean", vec, -0.5, 0.5)
    d = g.let("d delta diff", x - center)
    if way in ("given", "covariance"):
        w = _metric(g, mat, way)
        r = g.let("r dist_sq", form(d, w) if by_helper else dot(d, w * d))
        text = f"{g.told(d, w)}, r = dot(d, {g.tell(w)} * d)"
    else:
        z = _whitened(g, mat, way, d)
        r = g.let("r dist_sq", dot(z, z))
        text = f"{g.told(d, z)}, r = dot(z, z)"
    done = f"{g.told(x)}, {text}."
    menu: dict[str, Entry] = {
        "form": ("sq_distances distances_sq", lambda: r),
        "root": ("distances dist", lambda: sqrt(r)),
        "bell": ("kernel_values gauss_out", lambda: exp(-0.5 * r)),
        "cauchy": ("robust weights_out", lambda: 1.0 / (1.0 + r)),
    }
    if own:
        menu["logdet"] = ("log_densities log_p", lambda: 0.5 * (log(fn("determinant", w)) - r))
    first = shape.choice(sorted(menu))
    done += g.offer(1, **{first: menu[first]})
    about, names = _READ[first]
    return Title(k.name(names), f"{about}, with {done}")


_READ = {
    "form": ("Squared Mahalanobis distance", "mahalanobis_sq"),
    "root": ("Mahalanobis distance", "mahalanobis mahalanobis_distance"),
    "bell": ("Gaussian kernel of the Mahalanobis distance", "gaussian_kernel"),
    "cauchy": ("Cauchy kernel of the Mahalanobis distance", "cauchy_kernel"),
    "logdet": ("Gaussian log density up to a constant", "gaussian_log_density"),
}
"""What is read off a quadratic form, and names of the kernel."""


def _turn(g: Place, scalar: Scalar) -> Expr:
    return fn("quat_to_matrix", g.read("rotations orientations", Quat(scalar), init="unit"))


def _by_scales(g: Place, scalar: Scalar) -> Expr:
    scales = g.read("scales extents", Vec(3, scalar), 0.3, 1.6)
    return g.part("rot q_mat", _turn(g, scalar)) * fn("diag", scales)


def _by_projection(g: Place, scalar: Scalar) -> Expr:
    """The derivative of a perspective projection, as splatting uses it."""
    p = g.k.let("p view", g.read("centers view_points", Vec(3, scalar), 0.5, 1.5))
    focal = g.one("focal", scalar, 0.8, 1.6)
    inv, nil = g.part("inv_z iz", 1.0 / p[2]), g.k.lift(0.0, scalar)
    first = (focal * inv, nil, -focal * p[0] * inv * inv)
    return make(Mat(2, 3, scalar), *first, nil, focal * inv, -focal * p[1] * inv * inv)


def _by_basis(g: Place, scalar: Scalar) -> Expr:
    u = g.k.let("u tangent", g.read("tangents axes", Vec(3, scalar), init="unit"))
    v = g.k.let("v hint", g.read("helpers hints", Vec(3, scalar), -1.0, 1.0))
    w = g.part("w normal", fn("normalize", fn("cross", u, v)))
    side = g.part("side bitangent", fn("cross", w, u))
    return fn(g.shape.choice(("matrix_from_rows", "matrix_from_cols")), u, side, w)


_FRAMES: dict[str, Callable[[Place, Scalar], Expr]] = {
    "quaternion": _turn,
    "scales": _by_scales,
    "matrix": lambda g, t: g.read("jacobians transforms", Mat(3, 3, t), -1.0, 1.0),
    "projection": _by_projection,
    "rows": lambda g, t: g.one("observation h_mat", Mat(2, 3, t), -1.0, 1.0),
    "basis": _by_basis,
}


_COVARIANCES = ("projection", "rows")
"""What is turned in these frames is a covariance, elsewhere any tensor."""


def _tensor(g: Place, scalar: Scalar, level: int, key: str) -> Expr:
    """The tensor: whole, packed, of principal values, or in a struct with its weight."""
    mat = Mat(3, 3, scalar)
    ways = ("whole", "packed", "principal", "struct" if level >= 2 else "whole")
    way = g.shape.choice(ways)
    value: Expr
    if way == "principal":
        names = "variances" if key in _COVARIANCES else "principal_values eigenvalues"
        return fn("diag", g.read(names, Vec(3, scalar), 0.2, 2.0))
    if way == "packed":
        packed = "packed_covs cov6" if key in _COVARIANCES else "packed upper_triangles"
        s = g.k.let("s c6", g.read(packed, Vec(6, scalar), -1.0, 1.0))
        value = make(mat, *(s[c] for c in (0, 1, 2, 1, 3, 4, 2, 4, 5)))
    elif way == "struct":
        parts = {"t": Part("tensor", mat, -1.0, 1.0), "w": Part("weight", scalar, 0.3, 1.5)}
        r = record(g, "Splat Anisotropy Element", parts, 1.0)
        value = r["w"] * r["t"]
    else:
        names = {"projection": "covariances covs_3d", "rows": "covariances state_covs"}.get(
            key, "tensors stresses"
        )
        value = g.read(names, mat, -1.0, 1.0)
    return g.let("p cov" if key in _COVARIANCES else "m tensor", value, "M")


def _framed(g: Place, level: int, r: Expr, m: Expr, names: str, back: bool) -> Var:
    """R M R^T, or back; inline or in a helper."""
    text = g.tell(transpose(r) * m * r if back else r * m * transpose(r))

    def build(_: BodyBuilder, f: Expr, t: Expr) -> Expr:
        return transpose(f) * t * f if back else f * t * transpose(f)

    if not back and g.chance(0.3):
        value: Expr = g.k.let("rm left", r * m) * transpose(r)
    else:
        value = applied(g.k, 0.5 * (level >= 3), "congruent to_frame", {"f": r, "t": m}, build)
    c = g.k.let(names, value)
    g.spoken[c.name] = "C", text
    return c


def _changed(g: Place, c: Var, key: str) -> str:
    """The blur of a splat, or the noise of a measurement."""
    mat = mat_of(c)
    if key == "projection":
        more = times_identity(mat, g.one("blur low_pass", mat.scalar, 0.1, 0.6))
    elif g.chance(0.5):
        more = fn("diag", g.one("noise_var", rows_of(mat), 0.05, 0.5))
    else:
        more = g.one("noise_cov", mat, -0.3, 0.3)
    g.k.augment(c, "add", more)
    return f" Add {g.tell(more)}."


@idiom(depth=1)
def congruence(k: KernelBuilder, level: int) -> Title:
    """Tensors in another frame, with what is added there."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    g = place(k, "i tid e")
    key = shape.choice(sorted(_FRAMES))
    m = _tensor(g, scalar, level, key)
    called = {"projection": "jac j_mat", "matrix": "a jac"}
    frame = _FRAMES[key](g, scalar)
    if key == "rows" and isinstance(frame, Var):
        g.spoken[frame.name] = "R", frame.name
    r = frame if key == "rows" else g.let(called.get(key, "r rot"), frame, "R")
    back = key in ("quaternion", "basis", "matrix") and shape.chance(0.35)
    c = _framed(g, level, r, m, "c cov_out" if key in _COVARIANCES else "c turned", back)
    local = back != ("from_rows" in g.told(r))
    about = _CONGRUENCES[key].format(way="into" if local else "out of")
    done = f"{about}: {g.told(c, m, r)}."
    changed = key in _COVARIANCES and shape.chance(0.5)
    if changed:
        done += _changed(g, c, key)
    turned = "local_tensors rotated" if local else "world_tensors rotated"
    names = _CONGRUENT.get(key, turned)
    done += g.gets("innovation_covs" if key == "rows" and changed else names, c)

    titles = {"quaternion": "rotate_tensors", "matrix": "transform_tensors"}
    titles |= {"projection": "project_covariances", "rows": "measurement_covariance"}
    return Title(k.name(titles.get(key, "change_frame transform_tensors")), done)


_CONGRUENCES = {
    "quaternion": "Rotate tensors into another frame",
    "scales": "Scale and rotate tensors",
    "matrix": "Transform tensors by a matrix",
    "projection": "Project 3D covariances to the image plane by a camera's Jacobian",
    "rows": "Covariance of a linear measurement of each state",
    "basis": "Turn tensors {way} the orthonormal frame of a unit direction and a hint",
}
_CONGRUENT = {
    "scales": "transformed world_tensors",
    "matrix": "transformed tensors_out",
    "projection": "covs_2d projected",
    "rows": "measurement_covs predicted_covs",
}
