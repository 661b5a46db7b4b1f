"""Counts by class and by cluster: confusion matrices, nearest centroids."""

from __future__ import annotations

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
        return t.let("guess", pred), ""
    scores = k.array("logits scores", FLOAT32, (*s.dims, c), low=-2.0, high=2.0)
    best = k.let("best top", scores[s.index(k.lift(0, INT32))])
    guess = k.let("guess", k.lift(0, INT32))
    with k.for_("c j", extent(scores, s.rank), start=1) as j:
        score = k.let("score v", scores[s.index(j)])
        with k.if_(score > best):
            k.assign(best, score)
            k.assign(guess, j)
    t.known[guess] = "p"
    return guess, f"p is the first class with the largest of {scores.name}[{s.where}]"


@idiom(depth=4)
def confusion_counts(k: KernelBuilder, level: int) -> Title:
    """Confusion matrices, or the true and false positives and the misses of each class."""
    shape, c = k.draw.shape, k.size("classes", 3, 5)
    if level >= 2 and shape.chance(0.35):
        s = over(k, "folds n", "f i", ((2, 3), (24, 32)))
    else:
        s = threads(k, "n", 72, 96)
    t = Tally(level, s, "Samples")
    truth: Expr = s.read("truth labels y_true", INT32, init=f"index_of:{c}")
    truth = t.let("actual", truth)
    if t.chance(0.3, 2):
        t.skip(fn("eq", truth, k.scalar("ignore_label void_class", INT32, 0, 1)))
    guess, defined = _guess(t, s, c)
    t.defined += [defined] * bool(defined)
    type_ = shape.weighted(_COUNTS) if level < 4 or shape.chance(0.6) else FLOAT32
    value: Expr = k.lift(1, type_)
    if type_ == FLOAT32:
        value = t.let("w", s.read("sample_weights weights", type_, 0.5, 2.0))
    lead, dims = ((s.at[0],), ("folds",)) if s.rank == 2 and t.chance(0.7) else ((), ())
    matrix = t.chance(0.6)
    if matrix:
        t.into("confusion matrix", (*dims, c, c), (*lead, truth, guess), value)
    else:
        _class_counts(t, (truth, guess), (*dims, c), lead, value)
    about = "Confusion matrix" if matrix else "Counts for precision and recall"
    opening = f"{about}{', one row a true class' * matrix}: for each sample {s.where}, "
    if s.rank == 2:
        each = " of each fold" if dims else ", of all folds together"
        opening = f"{about}{each}{', one row a true class' * matrix}: "
        opening += f"for each sample ({s.where}), "
    names = "confusion_matrix count_confusions" if matrix else "class_outcomes count_outcomes"
    return t.title(names, opening)


def _class_counts(
    t: Tally, pair: tuple[Expr, Expr], dims: tuple[str, ...], lead: tuple[Expr, ...], value: Expr
) -> None:
    """What precision and recall are made of: hits, misses and false alarms of each class."""
    (truth, guess), names = pair, ("true_pos", "false_neg", "false_pos")
    if t.chance(0.4):
        names = ("tp", "fn", "fp")
    with t.when(fn("eq", truth, guess)):
        t.into(names[0], dims, (*lead, truth), value)
    with t.k.else_():
        t.into(names[1], dims, (*lead, truth), value)
        t.into(names[2], dims, (*lead, guess), value)
    t.done = [f"{t.done[0]}, else {' and '.join(t.done[1:])}"]


@idiom(depth=3)
def nearest_centroid(k: KernelBuilder, level: int) -> Title:
    """A step of k-means: points go to the nearest centroid and are summed up by cluster."""
    shape, real = k.draw.shape, k.draw.wide_float_type()
    dim, c = shape.choice((1, 2, 3, 3)), k.size("k_clusters", 3, 5)
    type_ = Vec(dim, real) if dim > 1 else real
    t = Tally(level, threads(k, "n", 56, 80, "i p"), "Points")
    turned = dim > 1 and t.chance(0.3)
    if turned:
        loaded = t.s.read("directions unit_vectors", type_, init="unit")
    else:
        loaded = t.s.read("points" if dim > 1 else "samples values", type_, -2.0, 2.0)
    point = t.let("x point", loaded)
    centers, best, winner = _nearest(t, point, turned, c)
    weight: Expr | None = None
    if t.chance(0.35):
        weight = t.let("w", t.s.read("weights", real, 0.5, 2.0))
    t.into("cluster_sums sums", c, winner, point if weight is None else weight * point)
    names = "cluster_sizes counts" if weight is None else "cluster_weights weight_sums"
    t.into(names, c, winner, 1 if weight is None else weight)
    if not turned and t.chance(0.5, 2):
        cost = best if weight is None else weight * best
        t.into("inertia distortion", "1", 0, cost)
    closing = ""
    if t.chance(0.7, 2):
        labels = t.s.put("labels assignment", winner)
        closing = f" {labels.name} gets c."
    opening = f"Step of {'spherical ' * turned}k-means: for each point {t.s.where}, find c, "
    if turned:
        opening += f"that of {centers.name} (unit vectors) with the largest dot product "
    else:
        opening += f"the nearest of {centers.name} "
    opening += "(the first of equal ones), and "
    names = "spherical_kmeans_step" if turned else "kmeans_step kmeans_accumulate"
    return t.title(names, opening, closing)


def _nearest(t: Tally, point: Expr, turned: bool, c: str) -> tuple[Var, Var, Var]:
    """The centroids, the smallest squared distance or largest product, and which one has it."""
    k, real = t.k, scalar_of(point.type)
    how = {"init": "unit"} if turned else {"low": -1.5, "high": 1.5}
    centers = k.array("centroids centers", point.type, c, **how)
    names = k.draw.word.choice((("best_d2", "d2"), ("best_dist_sq", "dist_sq")))
    best = k.let("best_dot" if turned else names[0], k.lift(-2.0 if turned else 1.0e30, real))
    winner = k.let("cluster label nearest", k.lift(0, INT32))
    with k.for_("j c", k.size_param("num_clusters num_centroids", c)) as j:
        if turned:
            here: Expr = k.let("dot_j similarity", dot(point, centers[j]))
        else:
            gap = k.let("diff gap", point - centers[j])
            square = gap * gap if isinstance(gap.type, Scalar) else dot(gap, gap)
            here = k.let(names[1], square)
        with k.if_(here > best if turned else here < best):
            k.assign(best, here)
            k.assign(winner, j)
    t.known.update({best: "the squared distance", winner: "c"})
    return centers, best, winner
