"""Classes of samples: nearest centroids and confusion counts."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr


@idiom
def nearest_centroid(k: KernelBuilder, level: int) -> Title:
    """Assign points to the nearest of a few centroids and sum them up by cluster."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    n, c = k.size("n", 56, 80), k.size("k_clusters", 3, 5)
    dim = shape.choice((1, 2, 3))
    type_ = Vec(dim, s) if dim > 1 else s
    x = k.array(("points", "samples", "x"), type_, n, low=-2.0, high=2.0)
    centers = k.array(("centroids", "centers", "means"), type_, c, low=-1.5, high=1.5)
    biased = level >= 2 and shape.chance(0.5)
    bias = k.array(("bias", "penalty"), s, c, low=0.0, high=0.4) if biased else None
    weights = k.array(("weights", "w"), s, n, low=0.5, high=2.0) if shape.chance(0.5) else None
    sums = k.accumulator(("sums", "cluster_sum", "totals"), type_, c) if shape.chance(0.7) else None
    counts = k.accumulator(("counts", "sizes", "members"), INT32 if weights is None else s, c)
    error = (
        k.accumulator(("inertia", "cost", "distortion"), s, "1")
        if level >= 3 and shape.chance(0.7)
        else None
    )
    labels = (
        k.out(("labels", "assignment", "nearest"), INT32, n)
        if level >= 2 and shape.chance(0.6)
        else None
    )
    norm = shape.choice(("square", "length", "manhattan") if dim > 1 else ("square", "size"))
    count = k.trip_count(("num_clusters", "num_centroids"), c)
    (i,) = k.thread(n, names=(k.name("i", "tid", "p"),))
    point = k.let(("p", "xi", "point"), x[i])

    def distance(j: Expr) -> Expr:
        gap: Expr = point - centers[j]
        if norm != "length":
            gap = k.let(("d", "diff"), gap)
        value = _gap(norm, gap, dim)
        return value if bias is None else value + bias[j]

    from_first = shape.chance(0.5)
    if from_first:
        best = k.let(("best", "best_dist"), distance(k.lift(0, INT32)))
    else:
        best = k.let(("best", "best_dist"), k.lift(1.0e6, s))
    winner = k.let(("winner", "nearest_id", "label"), k.lift(0, INT32))
    with k.for_(("j", "c"), count, start=1 if from_first else 0) as j:
        here = k.let(("dist", "score"), distance(j))
        with k.if_(here < best):
            k.assign(best, here)
            k.assign(winner, j)
    weight = weights[i] if weights is not None else None
    if sums is not None:
        k.atomic("add", sums, winner, point if weight is None else weight * point)
    k.atomic("add", counts, winner, 1 if weight is None else weight)
    if error is not None:
        k.atomic("add", error, 0, best)
    if labels is not None:
        k.store(labels, i, winner)
    texts = {
        "square": "squared distance",
        "length": "distance",
        "manhattan": "sum of absolute differences",
    }
    done = f"Find for each of {x.name} the row of {centers.name} of the smallest "
    done += texts.get(norm, "absolute difference")
    done += f" plus {bias.name}" if bias is not None else ""
    done += (
        f" (the first of equals); add {'one' if weights is None else weights.name} to {counts.name}"
    )
    done += (
        f" and the point{' times its weight' if weights is not None else ''} to {sums.name}"
        if sums
        else ""
    )
    done += " at that row"
    done += f"; add that smallest value to {error.name}[0]" if error is not None else ""
    done += f"; store the row in {labels.name}" if labels is not None else ""
    return Title(k.name("assign_clusters", "kmeans_step", "nearest_centroid"), f"{done}.")


def _gap(norm: str, d: Expr, dim: int) -> Expr:
    if dim == 1:
        return d * d if norm == "square" else fn("abs", d)
    if norm == "square":
        return fn("dot", d, d)
    if norm == "length":
        return fn("length", d)
    total: Expr = fn("abs", d[0])
    for axis in range(1, dim):
        total = total + fn("abs", d[axis])
    return total


@idiom
def confusion_counts(k: KernelBuilder, level: int) -> Title:
    """Counts by truth and prediction, and the marginals that a report needs."""
    shape = k.draw.shape
    n, c = k.size("n", 72, 96), k.size("classes", 3, 5)
    batched = level >= 2 and shape.chance(0.4)
    b = k.size("batch", 2, 3) if batched else ""
    if batched:
        n = k.size("items", 24, 32)
        k.sizes.pop("n")
    dims = (b, n) if batched else (n,)
    truth = k.array(("truth", "labels", "y_true"), INT32, dims, init=f"index_of:{c}")
    scored = level >= 3 and shape.chance(0.5)
    s = k.draw.wide_float_type()
    score = (
        k.array(("scores", "prob", "confidence"), s, dims, low=0.0, high=1.0) if scored else None
    )
    pred = k.array(("pred", "predicted", "y_pred"), INT32, dims, init=f"index_of:{c}")
    type_ = shape.choice((INT32, Scalar("uint32"), Scalar("int64"), s))
    weights = (
        k.array(("weights", "sample_weight"), s, dims, low=0.5, high=2.0) if type_ == s else None
    )
    out_dims = (b, c, c) if batched and shape.chance(0.6) else (c, c)
    matrix = k.accumulator(("confusion", "matrix", "table"), type_, out_dims)
    hits = k.accumulator(("correct", "hits", "true_pos"), type_, c) if shape.chance(0.5) else None
    misses = (
        k.accumulator(("missed", "false_neg"), type_, c)
        if level >= 3 and shape.chance(0.6)
        else None
    )
    swapped, ignore = shape.chance(0.3), shape.chance(0.3 + 0.1 * level)
    place = k.thread(*dims, names=("b", "i") if batched else (k.name("i", "tid"),))
    t = k.let(("t", "label", "actual"), truth[place])
    note = ""
    if ignore:
        skipped = k.scalar(("ignore_label", "void_class"), INT32, 0, 1)
        with k.if_(fn("eq", t, skipped)):
            k.return_()
        note += f" Entries whose truth is {skipped.name} are left out."
    if score is not None:
        least = k.scalar(("min_score", "threshold"), s, 0.2, 0.5)
        with k.if_(score[place] < least):
            k.return_()
        note += f" Entries whose {score.name} is below {least.name} are left out."
    inline = shape.chance(0.3) and hits is None and misses is None
    q: Expr = pred[place] if inline else k.let(("q", "guess", "p"), pred[place])
    amount: Expr = weights[place] if weights is not None else k.lift(1, type_)
    if weights is not None and (hits is not None or misses is not None):
        amount = k.let(("w", "weight"), amount)
    pair = (q, t) if swapped else (t, q)
    k.atomic("add", matrix, (place[0], *pair) if len(out_dims) == 3 else pair, amount)
    done = (
        f"Add {weights.name if weights is not None else 'one'} for each entry to {matrix.name} at "
    )
    done += "its batch, " if len(out_dims) == 3 else ""
    done += f"{pred.name} and {truth.name}" if swapped else f"{truth.name} and {pred.name}"
    if hits is not None:
        with k.if_(fn("eq", t, q)):
            k.atomic("add", hits, t, amount)
        done += f"; add it to {hits.name} at the truth where the two are equal"
        if misses is not None:
            with k.else_():
                k.atomic("add", misses, t, amount)
            done += f", else to {misses.name}"
    elif misses is not None:
        with k.if_(fn("ne", t, q)):
            k.atomic("add", misses, t, amount)
        done += f"; add it to {misses.name} at the truth where the two differ"
    return Title(k.name("confusion_matrix", "count_outcomes", "cross_tabulate"), f"{done}.{note}")
