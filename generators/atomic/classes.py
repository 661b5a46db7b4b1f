"""Counts by class and by cluster: confusion matrices, nearest centroids."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add

from generators.atomic.tally import INT64, UINT32, UINT64, Tally, threads
from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot
from generators.kit.sites import Site, over
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var

_COUNTS = {INT32: 5, INT64: 2, UINT32: 2, UINT64: 1}


def _guess(t: Tally, s: Site, c: str) -> tuple[Expr, str]:
    """The class that a model finds: given, or the first of the largest score; in words."""
    k = t.k
    if t.level < 3 or t.chance(0.2):
        pred = s.read("pred predicted y_pred", INT32, init=f"index_of:{c}")
        return t.let("guess p", pred), ""
    scores = k.array("logits scores", FLOAT32, (*s.dims, c), low=-2.0, high=2.0)
    best = k.let("best top", scores[s.index(k.lift(0, INT32))])
    guess = k.let("guess pred", k.lift(0, INT32))
    with k.for_("c j", extent(scores, s.rank), start=1) as j:
        score = k.let("score v", scores[s.index(j)])
        with k.if_(score > best):
            k.assign(best, score)
            k.assign(guess, j)
    t.known[guess] = "p"
    return guess, f"p is the first class with the largest of {scores.name}[{s.where}]"


@idiom(depth=4)
def confusion_counts(k: KernelBuilder, level: int) -> Title:
    """Confusion matrices, and the true positives and misses of each class."""
    shape, c = k.draw.shape, k.size("classes", 3, 5)
    if level >= 2 and shape.chance(0.35):
        s = over(k, "folds n", "f i", ((2, 3), (24, 32)))
    else:
        s = threads(k, "n", 72, 96)
    t = Tally(level, s, "Samples")
    truth: Expr = s.read("truth labels y_true", INT32, init=f"index_of:{c}")
    truth = t.let("t actual", truth)
    if t.chance(0.3, 2):
        t.skip(fn("eq", truth, k.scalar("ignore_label void_class", INT32, 0, 1)))
    guess, defined = _guess(t, s, c)
    t.defined += [defined] * bool(defined)
    type_ = shape.weighted(_COUNTS) if level < 4 or shape.chance(0.6) else FLOAT32
    value: Expr = k.lift(1, type_)
    if type_ == FLOAT32:
        value = t.let("w", s.read("sample_weights weights", type_, 0.5, 2.0))
    lead, dims = ((s.at[0],), ("folds",)) if s.rank == 2 and t.chance(0.7) else ((), ())
    t.into("confusion matrix", (*dims, c, c), (*lead, truth, guess), value)
    extra = t.pick("hits", "both", "none") if level >= 2 else t.pick("none", "none", "hits")
    if extra != "none":
        with t.when(fn("eq", truth, guess)):
            t.into("true_pos correct", (*dims, c), (*lead, truth), value)
    if extra == "both":
        with k.else_():
            t.into("false_neg missed", (*dims, c), (*lead, truth), value)
            t.into("false_pos alarms", (*dims, c), (*lead, guess), value)
        t.done[-2:] = [f"else {' and '.join(t.done[-2:])}"]
    opening = f"Confusion matrix, one row a true class: for each sample {s.where}, "
    if s.rank == 2:
        each = " of each fold" if dims else ", of all folds together"
        opening = f"Confusion matrix{each}, one row a true class: for each sample ({s.where}), "
    return t.title("confusion_matrix count_confusions tally_predictions", opening)


_NORMS: dict[str, Callable[[Tally, Expr], Expr]] = {
    "square": lambda t, d: d * d if isinstance(d.type, Scalar) else dot(d, d),
    "size": lambda t, d: abs(d),
    "manhattan": lambda t, d: reduce(add, [abs(d[a]) for a in range(_size(d))]),
}
_CALLED = {"square": "squared Euclidean", "size": "absolute", "manhattan": "Manhattan"}


def _size(value: Expr) -> int:
    return value.type.size if isinstance(value.type, Vec) else 1


@idiom(depth=3)
def nearest_centroid(k: KernelBuilder, level: int) -> Title:
    """A step of k-means: points go to the nearest centroid and are summed up by cluster."""
    shape, real = k.draw.shape, k.draw.wide_float_type()
    dim, c = shape.choice((1, 2, 3, 3)), k.size("k_clusters", 3, 5)
    type_ = Vec(dim, real) if dim > 1 else real
    t = Tally(level, threads(k, "n", 56, 80, "i p"), "Points")
    loaded = t.s.read("points" if dim > 1 else "samples values", type_, -2.0, 2.0)
    point = t.let("x point", loaded)
    norm = t.pick("square", "square", "manhattan" if dim > 1 else "size")
    centers, best, winner = _nearest(t, point, norm, c)
    weight: Expr | None = None
    if t.chance(0.35):
        weight = t.let("w", t.s.read("weights", real, 0.5, 2.0))
    t.into("cluster_sums sums", c, winner, point if weight is None else weight * point)
    names = "cluster_sizes counts" if weight is None else "cluster_weights weight_sums"
    t.into(names, c, winner, 1 if weight is None else weight)
    if t.chance(0.5, 2):
        cost = best if weight is None else weight * best
        t.into("inertia distortion", "1", 0, cost)
    closing = ""
    if t.chance(0.7, 2):
        labels = t.s.put("labels assignment", winner)
        closing = f" {labels.name} gets c."
    opening = (
        f"Step of k-means: for each point {t.s.where}, find c, the nearest of {centers.name} by "
    )
    opening += f"{_CALLED[norm]} distance (the first of equal ones), and "
    return t.title("kmeans_step kmeans_accumulate assign_clusters", opening, closing)


def _nearest(t: Tally, point: Expr, norm: str, c: str) -> tuple[Var, Var, Var]:
    """The centroids, the smallest distance to one, and which one that is."""
    k, real = t.k, scalar_of(point.type)
    centers = k.array("centroids centers", point.type, c, low=-1.5, high=1.5)

    def distance(j: Expr) -> Expr:
        return _NORMS[norm](t, t.let("diff gap", point - centers[j]))

    best = k.let("best_dist best", k.lift(1.0e30, real))
    winner = k.let("cluster label nearest", k.lift(0, INT32))
    with k.for_("j c", k.size_param("num_clusters num_centroids", c)) as j:
        here = t.let("dist d", distance(j))
        with k.if_(here < best):
            k.assign(best, here)
            k.assign(winner, j)
    t.known.update({best: "that distance", winner: "c"})
    return centers, best, winner
