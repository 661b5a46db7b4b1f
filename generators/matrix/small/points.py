"""Second moments of small point sets: covariance, scatter, cross-covariance of two sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.naming import helper
from generators.kit.outputs import Extra, extras
from generators.kit.sites import Site, launch
from generators.kit.sources import given, zero
from generators.kit.words import say
from generators.matrix.large.core import Names
from generators.matrix.small.parts import gets, times_identity, voigt
from generators.program.dtypes import INT32, Mat, Scalar, Vec
from generators.program.expr import Const, Expr, Var, literal


@dataclass
class Cloud:
    """How a loop reads point ``j`` of this thread's set, and how many there are."""

    at: Callable[[Expr], Expr]
    count: Expr
    text: str
    arrays: tuple[Var, ...]


def point_cloud(k: KernelBuilder, g: Site, vec: Vec, level: int) -> Cloud:
    """Points of each thread's own, or gathered by the numbers of its neighbours."""
    k.size("m", 3, 5, minimum=2)
    count = k.trip_count("num_points neighbor_count count", "m")
    if level >= 2 and k.draw.shape.chance(0.5):
        k.size("p", 24, 40)
        points = k.array("points positions cloud", vec, "p", low=-1.0, high=1.0)
        ids = k.array("neighbors knn ids", INT32, (*g.dims, "m"), init="index_of:p")
        text = f"the points of {points.name} numbered by {ids.name}[{g.where}]"
        return Cloud(lambda j: points[ids[g.index(j)]], count, text, (points, ids))
    points = k.array("points samples patches", vec, (*g.dims, "m"), low=-1.0, high=1.0)
    return Cloud(lambda j: points[g.index(j)], count, f"{points.name}[{g.where}]", (points,))


Weight = Callable[[KernelBuilder, Expr, Expr], Expr]


def weighting(
    k: KernelBuilder, g: Site, cloud: Cloud, scalar: Scalar, level: int
) -> tuple[Weight | None, str]:
    """No weights, given ones, or ones that fall off with the distance to a centre."""
    way = k.draw.shape.weighted({"none": 3, "given": 2, "each": 2, "bell": 2 if level >= 3 else 0})
    if level < 2 or way == "none":
        return None, ""
    if way == "given":
        weights = k.array("weights w", scalar, "m", low=0.2, high=1.0)
        return lambda _, j, p: weights[j], f", weighted by {weights.name}"
    if way == "each":
        weights = k.array("weights w", scalar, (*g.dims, "m"), low=0.2, high=1.0)
        return lambda _, j, p: weights[g.index(j)], f", weighted by {weights.name}"
    center = given(g, "center query", _vec(cloud), -0.5, 0.5)
    width = given(g, "inv_width sharpness", scalar, 0.5, 2.0)

    def bell(body: KernelBuilder, j: Expr, p: Expr) -> Expr:
        away = body.let("away r", p - center)
        return fn("exp", -width * fn("dot", away, away))

    return bell, f", weighted by exp(-{say(k, width)} * |p - {say(k, center)}|^2)"


def _vec(cloud: Cloud) -> Vec:
    element = getattr(cloud.arrays[0].type, "element", None)
    assert isinstance(element, Vec)
    return element


def _divisor(
    k: KernelBuilder, cloud: Cloud, total: Expr | None, scalar: Scalar
) -> tuple[Expr, str]:
    if total is not None:
        return total, "the sum of the weights"
    if k.draw.shape.chance(0.3):
        return _less_one(cloud, scalar), "their number less one"
    return cast(cloud.count, scalar), "their number"


def _less_one(cloud: Cloud, scalar: Scalar) -> Expr:
    """One less than the number of points, a literal where that is one."""
    if isinstance(cloud.count, Const):
        return literal(int(cloud.count.value) - 1, scalar)
    return cast(cloud.count - 1, scalar)


def _mean(
    k: KernelBuilder, cloud: Cloud, weight: Weight | None, vec: Vec, names: Names
) -> tuple[Var, Var | None]:
    """A pass over the points for their mean; the sum of weights beside it."""
    mean = k.let(names, zero(vec))
    total = k.let("total w_sum", zero(vec.scalar)) if weight else None
    with k.for_("j s nb", cloud.count) as j:
        if weight is None or total is None:
            k.augment(mean, "add", cloud.at(j))
        else:
            p = k.let("p pt", cloud.at(j))
            w = k.let("w wj", weight(k, j, p))
            k.augment(mean, "add", w * p)
            k.augment(total, "add", w)
            k.used -= {p.name, w.name}
    k.used.discard(j.name)
    k.assign(mean, mean / (total if total is not None else cast(cloud.count, vec.scalar)))
    return mean, total


def two_passes(
    k: KernelBuilder, cloud: Cloud, weight: Weight | None, vec: Vec, square: str
) -> tuple[Var, Var, str]:
    mean, total = _mean(k, cloud, weight, vec, "mean centroid mu")
    cov = k.let("cov scatter c", zero(Mat(vec.size, vec.size, vec.scalar)))
    with k.for_("j s nb", cloud.count) as j:
        p = cloud.at(j)
        if weight is not None and weight.__name__ == "bell":
            p = k.let("p pt", p)
        d = k.let("d centered", p - mean)
        term = k.call(square, d) if square else fn("outer", d, d)
        k.augment(cov, "add", term if weight is None else weight(k, j, p) * term)
    divisor, text = _divisor(k, cloud, total, vec.scalar)
    if k.draw.shape.chance(0.7):
        k.augment(cov, "div", divisor)
        return cov, mean, f"the sum of outer(p - mean, p - mean) divided by {text}"
    return cov, mean, "the sum of outer(p - mean, p - mean)"


def one_pass(
    k: KernelBuilder, cloud: Cloud, weight: Weight | None, vec: Vec
) -> tuple[Var, Var, str]:
    """Sums of points and of their squares at once."""
    total = k.let("total first s1", zero(vec))
    square = k.let("square second s2", zero(Mat(vec.size, vec.size, vec.scalar)))
    norm = k.let("norm w_sum", zero(vec.scalar)) if weight else None
    with k.for_("j s nb", cloud.count) as j:
        p = k.let("p pt", cloud.at(j))
        if weight is None or norm is None:
            k.augment(total, "add", p)
            k.augment(square, "add", fn("outer", p, p))
        else:
            w = k.let("w wj", weight(k, j, p))
            k.augment(total, "add", w * p)
            k.augment(square, "add", w * fn("outer", p, p))
            k.augment(norm, "add", w)
    count = norm if norm is not None else cast(cloud.count, vec.scalar)
    mean = k.let("mean centroid", total / count)
    cov = k.let("cov scatter", square / count - fn("outer", mean, mean))
    return cov, mean, "the mean of outer(p, p) less outer(mean, mean)"


def chords(k: KernelBuilder, cloud: Cloud, vec: Vec) -> tuple[Var, None, str]:
    """Moments of the steps from point to point, or of the ways from the first one."""
    steps = k.draw.shape.chance(0.5)
    cov = k.let("cov scatter tensor", zero(Mat(vec.size, vec.size, vec.scalar)))
    first = None if steps else k.let("first base", cloud.at(k.lift(0, INT32)))
    with k.for_("j s", cloud.count, 1) as j:
        before = cloud.at(j - 1) if first is None else first
        d = k.let("d chord", cloud.at(j) - before)
        k.augment(cov, "add", fn("outer", d, d))
    way = "each point to the next" if steps else "the first point to each other"
    text = f"the sum of outer(d, d), d the way from {way}"
    if k.draw.shape.chance(0.5):
        k.augment(cov, "div", _less_one(cloud, vec.scalar))
        text += ", divided by their number less one"
    return cov, None, text


def about_origin(
    k: KernelBuilder, g: Site, cloud: Cloud, weight: Weight | None, vec: Vec
) -> tuple[Var, None, str]:
    """Moments about a given centre, or about the origin."""
    center = None
    if k.draw.shape.chance(0.6):
        center = given(g, "origin anchor", vec, -0.5, 0.5)
    cov = k.let("cov scatter moment", zero(Mat(vec.size, vec.size, vec.scalar)))
    with k.for_("j s nb", cloud.count) as j:
        p = cloud.at(j)
        d = k.let("d arm", p if center is None else p - center)
        term = fn("outer", d, d)
        k.augment(cov, "add", weight(k, j, p) * term if weight else term)
    text = "the sum of outer(p, p)"
    if center is not None:
        text = f"the sum of outer(d, d), d = p - {say(k, center)}"
    if k.draw.shape.chance(0.5):
        k.augment(cov, "div", cast(cloud.count, vec.scalar))
        text += ", divided by their number"
    return cov, None, text


def crossed(k: KernelBuilder, g: Site, cloud: Cloud, vec: Vec, level: int) -> tuple[Var, Var, str]:
    """Cross-covariance of matched points, as for the best rotation between two sets."""
    other = k.array("targets matched other", vec, (*g.dims, "m"), low=-1.0, high=1.0)
    mean, _ = _mean(k, cloud, None, vec, "mean_p centroid_p")
    goal, _ = _mean(
        k, Cloud(lambda j: other[g.index(j)], cloud.count, "", ()), None, vec, "mean_q mu_q"
    )
    cov = k.let("h cross_cov", zero(Mat(vec.size, vec.size, vec.scalar)))
    with k.for_("c pair", cloud.count) as c:
        k.augment(cov, "add", fn("outer", cloud.at(c) - mean, other[g.index(c)] - goal))
    text = f"the sum of outer(p - mean, q - mean of q) with q of {other.name}"
    if level >= 4:
        target = g.put("offsets centroid_shifts", goal - mean)
        text += f" ({target.name} gets the mean of q minus that of p)"
    return cov, mean, text


def _menu(k: KernelBuilder, g: Site, cov: Var, mean: Var | None) -> dict[str, Extra]:
    mat = cov.type
    assert isinstance(mat, Mat)
    vec = Vec(mat.rows, mat.scalar)

    def along() -> Expr:
        axis = given(g, "axis direction", vec, -1.0, 1.0)
        return fn("dot", axis, cov * axis)

    def correlation() -> Expr:
        product = k.let("var_product vp", cov[0, 0] * cov[1, 1])
        return cov[0, 1] / fn("sqrt", product + 0.01)

    menu = {
        "trace": Extra("traces total_variance", lambda: fn("trace", cov), "trace(C)"),
        "det": Extra("dets generalized_variance", lambda: fn("determinant", cov), "det(C)"),
        "diag": Extra("variances diagonals", lambda: fn("get_diag", cov), "the diagonal of C"),
        "norm": Extra("norms sizes", lambda: fn("sqrt", fn("ddot", cov, cov)), "sqrt(ddot(C, C))"),
        "along": Extra("spread along_axis", along, "dot(a, C * a) of its axis a"),
        "packed": Extra(
            "packed upper",
            lambda: voigt(cov),
            "the diagonal of C and then"
            + (" C[0, 1]" if mat.rows == 2 else " C[1, 2], C[0, 2] and C[0, 1]"),
        ),
        "ratio": Extra("correlations rho", correlation, "C[0, 1] / sqrt(C[0, 0] C[1, 1] + 0.01)"),
    }
    if mean is not None:
        menu["mean"] = Extra("means centroids", lambda: mean, "the mean")
        menu["mean_sq"] = Extra(
            "offcenter mean_sq", lambda: fn("dot", mean, mean), "dot(mean, mean)"
        )
    return menu


@idiom
def point_covariance(k: KernelBuilder, level: int) -> Title:
    """Sums of outer products over a few points: covariance, scatter, cross-covariance."""
    shape = k.draw.shape
    g = launch(k, {"list": 6, "grid": 3}, "i tid query_id")
    vec = Vec(shape.choice((2, 3)), k.draw.wide_float_type())
    cloud = point_cloud(k, g, vec, level)
    weight, weighted = weighting(k, g, cloud, vec.scalar, level)
    ways = {"one": 3, "origin": 3 if level < 4 else 1, "two": 3 if level >= 2 else 1}
    ways["chords"] = 2 if weight is None else 0
    way = shape.weighted(ways | {"cross": 2 if level >= 3 and weight is None else 0})
    mean: Var | None
    if way == "one":
        cov, mean, text = one_pass(k, cloud, weight, vec)
    elif way == "origin":
        cov, mean, text = about_origin(k, g, cloud, weight, vec)
    elif way == "chords":
        cov, mean, text = chords(k, cloud, vec)
    elif way == "cross":
        cov, mean, text = crossed(k, g, cloud, vec, level)
    else:
        cov, mean, text = two_passes(k, cloud, weight, vec, _squared(k, level, vec))
    over = "Of" if way == "chords" else "Over p of"
    done = f"{over} {cloud.text}{weighted}, let C be {text}."
    if level >= 3 and shape.chance(0.6):
        ridge = given(g, "ridge noise_floor", vec.scalar, 0.05, 0.3)
        k.augment(cov, "add", times_identity(Mat(vec.size, vec.size, vec.scalar), ridge))
        done += f" Add {say(k, ridge)} * I."
    if level >= 4:
        done += _whitened(k, g, cov, way == "cross")
    menu = _menu(k, g, cov, mean)
    if way != "cross" and shape.chance(0.25):
        packed = menu.pop("packed")
        done += f" {g.put(packed.names, packed.value()).name} gets {packed.text}."
    else:
        done += gets(g, "covariances scatter_out moments", cov, "C")
    few = 1 if mean is not None and shape.chance(0.4) else 0
    done += extras(g, menu, (few, 1, 1, 2, 3)[level - 1])
    return Title(k.name("point_covariance local_covariance scatter_matrix"), done)


def _squared(k: KernelBuilder, level: int, vec: Vec) -> str:
    """The outer product of a vector with itself, entry by entry in a helper."""
    if level < 3 or k.draw.shape.chance(0.5):
        return ""
    mat = Mat(vec.size, vec.size, vec.scalar)

    def build(_: BodyBuilder, d: Expr) -> Expr:
        cells = [(min(r, c), max(r, c)) for r in range(vec.size) for c in range(vec.size)]
        return make(mat, *(d[r] * d[c] for r, c in cells))

    return helper(k, "self_outer square_of", (("d", vec),), build)


def _whitened(k: KernelBuilder, g: Site, cov: Var, crossed: bool) -> str:
    """How far a query lies in units of the spread, or the size that C is brought to."""
    mat = cov.type
    assert isinstance(mat, Mat)
    if crossed or k.draw.shape.chance(0.4):
        size = k.let("size scale", fn("sqrt", fn("ddot", cov, cov)) + 0.01)
        k.augment(cov, "div", size)
        return " Divide C by sqrt(ddot(C, C)) + 0.01."
    ridge = given(g, "reg damping", mat.scalar, 0.2, 0.6)
    vec = Vec(mat.rows, mat.scalar)
    queries = g.array("queries_x probes", vec, -1.0, 1.0)
    x = k.let("x probe", queries[g.at])
    inv = k.let("inv precision", fn("inverse", cov + times_identity(mat, ridge)))
    return gets(
        g,
        "distances_sq probe_scores",
        fn("dot", x, inv * x),
        f"dot(x, inverse(C + {say(k, ridge)} * I) * x), x being {queries.name}",
    )
