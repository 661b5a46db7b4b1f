"""Sums over a few points: means, second moments, cross-covariances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.kit.pieces import zero
from generators.matrix.small.grid import Grid, Names, say
from generators.program.dtypes import INT32, Mat, Scalar, Vec
from generators.program.expr import Const, Expr, Var, literal


@dataclass
class Cloud:
    """How a loop reads point ``j`` of this thread's set, and how many there are."""

    at: Callable[[Expr], Expr]
    count: Expr
    text: str
    arrays: tuple[Var, ...]


def point_cloud(k: KernelBuilder, g: Grid, vec: Vec, level: int) -> Cloud:
    """Points of each thread's own, or gathered by the numbers of its neighbours."""
    k.size("m", 3, 5, minimum=2)
    count = k.trip_count(("num_points", "neighbor_count", "count"), "m")
    if level >= 2 and k.draw.shape.chance(0.5):
        k.size("p", 24, 40)
        points = k.array(("points", "positions", "cloud"), vec, "p", low=-1.0, high=1.0)
        ids = k.array(("neighbors", "knn", "ids"), INT32, (*g.dims, "m"), init="index_of:p")
        text = f"the points of {points.name} numbered by {ids.name}[{g.place}]"
        return Cloud(lambda j: points[ids[g.at(j)]], count, text, (points, ids))
    points = k.array(("points", "samples", "patches"), vec, (*g.dims, "m"), low=-1.0, high=1.0)
    return Cloud(lambda j: points[g.at(j)], count, f"{points.name}[{g.place}]", (points,))


Weight = Callable[[KernelBuilder, Expr, Expr], Expr]


def weighting(
    k: KernelBuilder, g: Grid, cloud: Cloud, scalar: Scalar, level: int
) -> tuple[Weight | None, str]:
    """No weights, given ones, or ones that fall off with the distance to a centre."""
    way = k.draw.shape.weighted({"none": 3, "given": 2, "each": 2, "bell": 2 if level >= 3 else 0})
    if level < 2 or way == "none":
        return None, ""
    if way == "given":
        weights = k.array(("weights", "w"), scalar, "m", low=0.2, high=1.0)
        return lambda _, j, p: weights[j], f", weighted by {weights.name}"
    if way == "each":
        weights = k.array(("weights", "w"), scalar, (*g.dims, "m"), low=0.2, high=1.0)
        return lambda _, j, p: weights[g.at(j)], f", weighted by {weights.name}"
    center = g.supply(("center", "query"), ("centers", "queries"), _vec(cloud), -0.5, 0.5)
    width = g.supply(("inv_width", "sharpness"), ("sharpness",), scalar, 0.5, 2.0)

    def bell(body: KernelBuilder, j: Expr, p: Expr) -> Expr:
        away = body.let(("away", "r"), p - center)
        return fn("exp", -width * fn("dot", away, away))

    return bell, f", weighted by exp(-{say(width)} * |p - {say(center)}|^2)"


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
    total = k.let(("total", "w_sum"), zero(vec.scalar)) if weight else None
    with k.for_(("j", "s", "nb"), cloud.count) as j:
        if weight is None or total is None:
            k.augment(mean, "add", cloud.at(j))
        else:
            p = k.let(("p", "pt"), cloud.at(j))
            w = k.let(("w", "wj"), weight(k, j, p))
            k.augment(mean, "add", w * p)
            k.augment(total, "add", w)
            k.used -= {p.name, w.name}
    k.used.discard(j.name)
    k.assign(mean, mean / (total if total is not None else cast(cloud.count, vec.scalar)))
    return mean, total


def two_passes(
    k: KernelBuilder, cloud: Cloud, weight: Weight | None, vec: Vec, square: str
) -> tuple[Var, Var, str]:
    mean, total = _mean(k, cloud, weight, vec, ("mean", "centroid", "mu"))
    cov = k.let(("cov", "scatter", "c"), zero(Mat(vec.size, vec.size, vec.scalar)))
    with k.for_(("j", "s", "nb"), cloud.count) as j:
        p = cloud.at(j)
        if weight is not None and weight.__name__ == "bell":
            p = k.let(("p", "pt"), p)
        d = k.let(("d", "centered"), p - mean)
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
    total = k.let(("total", "first", "s1"), zero(vec))
    square = k.let(("square", "second", "s2"), zero(Mat(vec.size, vec.size, vec.scalar)))
    norm = k.let(("norm", "w_sum"), zero(vec.scalar)) if weight else None
    with k.for_(("j", "s", "nb"), cloud.count) as j:
        p = k.let(("p", "pt"), cloud.at(j))
        if weight is None or norm is None:
            k.augment(total, "add", p)
            k.augment(square, "add", fn("outer", p, p))
        else:
            w = k.let(("w", "wj"), weight(k, j, p))
            k.augment(total, "add", w * p)
            k.augment(square, "add", w * fn("outer", p, p))
            k.augment(norm, "add", w)
    count = norm if norm is not None else cast(cloud.count, vec.scalar)
    mean = k.let(("mean", "centroid"), total / count)
    cov = k.let(("cov", "scatter"), square / count - fn("outer", mean, mean))
    return cov, mean, "the mean of outer(p, p) less outer(mean, mean)"


def chords(k: KernelBuilder, cloud: Cloud, vec: Vec) -> tuple[Var, None, str]:
    """Moments of the steps from point to point, or of the ways from the first one."""
    steps = k.draw.shape.chance(0.5)
    cov = k.let(("cov", "scatter", "tensor"), zero(Mat(vec.size, vec.size, vec.scalar)))
    first = None if steps else k.let(("first", "base"), cloud.at(k.lift(0, INT32)))
    with k.for_(("j", "s"), cloud.count, 1) as j:
        before = cloud.at(j - 1) if first is None else first
        d = k.let(("d", "chord"), cloud.at(j) - before)
        k.augment(cov, "add", fn("outer", d, d))
    way = "each point to the next" if steps else "the first point to each other"
    text = f"the sum of outer(d, d), d the way from {way}"
    if k.draw.shape.chance(0.5):
        k.augment(cov, "div", _less_one(cloud, vec.scalar))
        text += ", divided by their number less one"
    return cov, None, text


def about_origin(
    k: KernelBuilder, g: Grid, cloud: Cloud, weight: Weight | None, vec: Vec
) -> tuple[Var, None, str]:
    """Moments about a given centre, or about the origin."""
    center = None
    if k.draw.shape.chance(0.6):
        center = g.supply(("origin", "anchor"), ("origins", "anchors"), vec, -0.5, 0.5)
    cov = k.let(("cov", "scatter", "moment"), zero(Mat(vec.size, vec.size, vec.scalar)))
    with k.for_(("j", "s", "nb"), cloud.count) as j:
        p = cloud.at(j)
        d = k.let(("d", "arm"), p if center is None else p - center)
        term = fn("outer", d, d)
        k.augment(cov, "add", weight(k, j, p) * term if weight else term)
    text = "the sum of outer(p, p)"
    if center is not None:
        text = f"the sum of outer(d, d), d = p - {say(center)}"
    if k.draw.shape.chance(0.5):
        k.augment(cov, "div", cast(cloud.count, vec.scalar))
        text += ", divided by their number"
    return cov, None, text


def crossed(k: KernelBuilder, g: Grid, cloud: Cloud, vec: Vec, level: int) -> tuple[Var, Var, str]:
    """Cross-covariance of matched points, as for the best rotation between two sets."""
    other = k.array(("targets", "matched", "other"), vec, (*g.dims, "m"), low=-1.0, high=1.0)
    mean, _ = _mean(k, cloud, None, vec, ("mean_p", "centroid_p"))
    goal, _ = _mean(
        k, Cloud(lambda j: other[g.at(j)], cloud.count, "", ()), None, vec, ("mean_q", "mu_q")
    )
    cov = k.let(("h", "cross_cov"), zero(Mat(vec.size, vec.size, vec.scalar)))
    with k.for_(("c", "pair"), cloud.count) as c:
        k.augment(cov, "add", fn("outer", cloud.at(c) - mean, other[g.at(c)] - goal))
    text = f"the sum of outer(p - mean, q - mean of q) with q of {other.name}"
    if level >= 4:
        target = g.write(("offsets", "centroid_shifts"), goal - mean)
        text += f" ({target.name} gets the mean of q minus that of p)"
    return cov, mean, text
