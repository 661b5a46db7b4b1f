"""Particles on grids and samples in classes: deposition, clusters, confusion counts."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar, Vec
from generators.expr import Expr, Var, op
from generators.registry import Title

_AXES = ("x", "y", "z")


def particle_deposit(k: KernelBuilder, level: int) -> Title:
    """Masses of particles on a grid: to the nearest cell, or shared between neighbours."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    ndim = shape.choice((1, 2)) if level < 4 else shape.choice((1, 2, 3))
    shared = level >= 2 and shape.chance(0.7)
    n = k.size("num_particles", 64, 90)
    grid = [k.size(f"n{a}", *((8, 12), (5, 7), (3, 4))[ndim - 1]) for a in _AXES[:ndim]]
    packed = ndim > 1 and shape.chance(0.5)
    high = {1: 13.5, 2: 8.0, 3: 4.8}[ndim]
    if packed:
        vec = Vec(ndim, s)
        points = k.array(("pos", "particles", "points"), vec, n, low=0.2, high=high)
    arrays = [] if packed else [k.array(f"p{a}", s, n, low=0.2, high=high) for a in _AXES[:ndim]]
    weighted = shape.chance(0.6)
    mass = k.array(("mass", "charge", "weight"), s, n, low=0.5, high=2.0) if weighted else None
    scaled = shape.chance(0.4)
    inv = k.scalar(("inv_dx", "inv_h"), s, 0.8, 0.95) if scaled else None
    bounds = [k.size_param(f"num_{a}", g) for a, g in zip(_AXES, grid, strict=False)]
    density = k.accumulator(("density", "grid", "rho"), s, grid)
    hits = (
        k.accumulator(("hits", "cell_counts"), INT32, grid)
        if level >= 3 and shape.chance(0.5)
        else None
    )
    (p,) = k.thread(n, names=(k.name("p", "tid", "i"),))
    cells: list[Var] = []
    fractions: list[Var] = []
    for axis in range(ndim):
        coordinate: Expr = points[p][axis] if packed else arrays[axis][p]
        if inv is not None:
            coordinate = coordinate * inv
        if shared:
            coordinate = k.let((f"g{_AXES[axis]}", f"u{_AXES[axis]}"), coordinate)
        cell = cast(fn("floor", coordinate), INT32)
        cells.append(k.let((f"i{_AXES[axis]}", f"c{_AXES[axis]}"), cell))
        if shared:
            left = coordinate - cast(cells[-1], s)
            fractions.append(k.let((f"f{_AXES[axis]}", f"w{_AXES[axis]}"), left))
    inside = _outside(cells, bounds, shared)
    with k.if_(inside):
        k.return_()
    amount: Expr = mass[p] if mass is not None else k.lift(1.0, s)
    if shared and mass is not None:
        amount = k.let(("m", "q"), amount)
    _spread(k, density, cells, fractions, amount, shared)
    if hits is not None:
        k.atomic("add", hits, tuple(cells), 1)
    where = points.name if packed else ", ".join(a.name for a in arrays)
    done = f"Each particle at {where}{f' times {inv.name}' if inv is not None else ''} lies in the "
    done += f"cell of its floor. Add {mass.name if mass is not None else 'one'} to {density.name} "
    done += "shared linearly between that cell and the next along each axis" if shared else "there"
    done += f"; particles {'without a next cell' if shared else 'outside'} or below 0 are left out"
    done += f"; count particles by cell in {hits.name}" if hits is not None else ""
    name = k.name("deposit_particles", "splat_mass", "cloud_in_cell" if shared else "bin_particles")
    return Title(name, f"{done}.")


def _outside(cells: list[Var], bounds: list[Var], shared: bool) -> Expr:
    test: Expr | None = None
    for cell, bound in zip(cells, bounds, strict=True):
        last = cell >= (bound - 1 if shared else bound)
        one = op("or", cell < 0, last)
        test = one if test is None else op("or", test, one)
    assert test is not None
    return test


def _spread(
    k: KernelBuilder,
    density: Var,
    cells: list[Var],
    fractions: list[Var],
    amount: Expr,
    shared: bool,
) -> None:
    if not shared:
        k.atomic("add", density, tuple(cells), amount)
        return
    loops = len(cells) > 1 and k.draw.shape.chance(0.5)
    if loops:
        _spread_in_loops(k, density, cells, fractions, amount)
        return
    for corner in range(2 ** len(cells)):
        place: list[Expr] = []
        weight = amount
        for axis, (cell, f) in enumerate(zip(cells, fractions, strict=True)):
            upper = corner >> (len(cells) - 1 - axis) & 1
            place.append(cell + 1 if upper else cell)
            weight = weight * (f if upper else 1.0 - f)
        k.atomic("add", density, tuple(place), weight)


def _spread_in_loops(
    k: KernelBuilder, density: Var, cells: list[Var], fractions: list[Var], amount: Expr
) -> None:
    """A loop over the two cells of each axis."""
    weight, place = amount, []
    with k.for_(("di", "a"), 2) as di:
        wx = fn("where", fn("eq", di, 0), 1.0 - fractions[0], fractions[0])
        weight = k.let(("w0", "wi"), amount * wx)
        with k.for_(("dj", "b"), 2) as dj:
            wy = fn("where", fn("eq", dj, 0), 1.0 - fractions[1], fractions[1])
            place = [cells[0] + di, cells[1] + dj]
            if len(cells) == 2:
                k.atomic("add", density, tuple(place), weight * wy)
            else:
                inner = k.let(("w1", "wj"), weight * wy)
                k.atomic("add", density, (*place, cells[2]), inner * (1.0 - fractions[2]))
                k.atomic("add", density, (*place, cells[2] + 1), inner * fractions[2])


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
