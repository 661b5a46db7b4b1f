"""Histograms, confusion counts, clusters, and particles on grids."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add

from generators.atomic.tally import (
    GROUPS,
    INT64,
    INTS,
    UINT32,
    UINT64,
    Tally,
    amount,
    any_of,
    number_type,
    threads,
)
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, dot, least
from generators.kit.sites import over
from generators.program.dtypes import INT32, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var


@idiom(depth=3)
def histogram(k: KernelBuilder, level: int) -> Title:
    """Counts or weights per bin, of codes or of binned measurements, in one or two dimensions."""
    shape, form = k.draw.shape, k.draw.shape.choice(("codes", *_BINS, "skip"))
    weighted = shape.chance(0.3 if level == 1 else 0.6)
    s = threads(k, "n", 72, 96, "i e")
    k.size("bins", 5, 8)
    t = Tally(level, s)
    if t.chance({3: 0.4}.get(level, 0.8), 3):
        t.mask()
    slot = _slot(t, form, weighted and level >= 4)
    type_ = number_type(k) if weighted or form == "codes" else shape.weighted(INTS)
    value = _amount(t, form, weighted, type_)
    share = 0.4
    squares = weighted and t.chance(share, 4)
    value = t.let("w amount share", value, 1.0 if squares else 0.0)
    dims, at, name = ["bins"], [slot], "weighted_histogram" if weighted else "histogram"
    if t.chance(0.45, 3):
        k.size("classes", 2, 4)
        dims, name = [*dims, "classes"], "joint_histogram"
        at.append(s.read(GROUPS, INT32, init="index_of:classes"))
    t.into(f"hist histogram {'totals' if weighted else 'counts'}", dims, tuple(at), value)
    if weighted and t.chance(0.6, 4):
        t.into("hits occupancy", "bins", slot)
    if squares:
        t.into("squares sq_weights", "bins", slot, value * value)
    return t.title(f"{name} build_{name}", f"For each entry {s.where}: ")


def _amount(t: Tally, form: str, weighted: bool, type_: Scalar) -> Expr:
    """What an entry adds."""
    if weighted:
        return t.changed(amount(t.s, "weights mass charge", type_))
    return t.k.lift(1, type_)


def _hashed(t: Tally, count: Expr) -> Expr:
    """Knuth's multiplicative hash, or the remainder alone."""
    key = t.s.read("keys ids tokens", INT32, 0, 9999)
    if t.chance(0.3):
        return key % count
    return cast(cast(key, UINT32) * t.k.lift(2654435761, UINT32) % cast(count, UINT32), INT32)


def _coarse(t: Tally, count: Expr) -> Expr:
    choice = t.k.draw.value.choice
    names, width, first = choice((("ages", 10, 18), ("minutes", 15, 0), ("sizes", 20, 0)))
    data: Expr = t.s.read(names, INT32, first, first + 9 * width)
    step: Expr = t.k.lift(width, INT32)
    if t.chance(0.6):
        step = t.k.scalar("bin_width width", INT32, width, width + 2)
    return least((data - first if first else data) // step, count - 1)


def _measured(t: Tally) -> Expr:
    """The bin of a measurement: bins of one width from an origin on."""
    k, type_, value = t.k, t.k.draw.wide_float_type(), t.k.draw.value
    width, first = value.choice((0.1, 0.25, 0.5, 2.0, 2.5)), value.choice((0.0, 1.0, 5.0, 10.0))
    data = t.s.read(
        "samples readings u", type_, round(first - 2 * width, 2), round(first + 9 * width, 2)
    )
    step, origin = k.lift(width, type_), k.lift(first, type_)
    if t.chance(0.5):
        step = k.scalar("bin_width step", type_, round(0.9 * width, 3), round(1.1 * width, 3))
        span = (round(first - 0.2 * width, 3), round(first + 0.2 * width, 3))
        origin = k.scalar("origin lowest start", type_, *span)
    elif not first:
        return cast(fn("floor", data / step), INT32)
    share = 0.4 if t.level >= 3 else 0.0
    names = "bin_of bin_index slot_of"
    return t.helped(share, names, _bin_of, value=data, first=origin, step=step)


def _bin_of(value: Expr, first: Expr, step: Expr) -> Expr:
    return cast(fn("floor", (value - first) / step), INT32)


_BINS: dict[str, Callable[[Tally, Expr], Expr]] = {
    "hash": _hashed,
    "coarse": _coarse,
    "clamp": lambda t, count: clamp(_measured(t), 0, count - 1),
}


def _slot(t: Tally, form: str, often: bool) -> Expr:
    """The bin of an entry; entries outside of all bins are left out, and counted from level 4."""
    names = "b slot bucket"
    if form == "codes":
        code = t.s.read("codes symbols levels", INT32, init="index_of:bins")
        return t.let(names, code, 1.0 if often else 0.0)
    count = t.k.size_param("num_bins bin_count", "bins")
    found = _BINS[form](t, count) if form in _BINS else _measured(t)
    slot = t.define("b", t.let(names, found))
    if form == "skip":
        counted = "dropped num_outside" if t.level >= 4 else ()
        t.skip(any_of([slot < 0, slot >= count]), counted=counted)
    return slot


@idiom(depth=3)
def confusion_counts(k: KernelBuilder, level: int) -> Title:
    """Counts by truth and prediction, and the marginals that a report needs."""
    shape, c = k.draw.shape, k.size("classes", 3, 5)
    if level >= 2 and shape.chance(0.4):
        s = over(k, "batch items", "b i", ((2, 3), (24, 32)))
    else:
        s = threads(k, "n", 72, 96)
    t = Tally(level, s)
    score_type = k.draw.wide_float_type()
    truth: Expr = s.read("truth labels y_true", INT32, init=f"index_of:{c}")
    pred: Expr = s.read("pred predicted y_pred", INT32, init=f"index_of:{c}")
    truth = t.let("t label actual", truth)
    if t.chance(0.08 * level):
        t.skip(fn("eq", truth, k.scalar("ignore_label void_class", INT32, 0, 1)))
    if t.chance(0.1, 3):
        least_score = k.scalar("min_score threshold", score_type, 0.2, 0.5)
        t.skip(s.read("scores prob confidence", score_type, 0.0, 1.0) < least_score)
    hits, misses = t.chance(0.5), t.chance(0.6, 3)
    pred = t.let("q guess p", pred, 1.0 if hits or misses else 0.7)
    type_ = shape.choice((INT32, UINT32, INT64, UINT64, score_type))
    value: Expr = k.lift(1, type_)
    if type_ == score_type:
        value = s.read("weights sample_weight", type_, 0.5, 2.0)
        value = t.let("w weight", value, 1.0 if hits or misses else 0.4)
    dims: tuple[str, ...] = (c, c)
    place: tuple[Expr, ...] = (pred, truth) if t.chance(0.3) else (truth, pred)
    if s.rank == 2 and t.chance(0.6):
        dims, place = ("batch", *dims), (s.at[0], *place)
    t.into("confusion matrix table", dims, place, value)
    if hits:
        with t.when(fn("eq", truth, pred)):
            t.into("correct hits true_pos", c, truth, value)
    if misses:
        with k.else_() if hits else t.when(fn("ne", truth, pred)):
            t.into("missed false_neg", c, truth, value)
        t.done[-1] = f"else {t.done[-1]}" if hits else t.done[-1]
    return t.title("confusion_matrix count_outcomes cross_tabulate", f"For each entry {s.where}: ")


_NORMS: dict[str, Callable[[Tally, Expr], Expr]] = {
    "square": lambda t, d: d * d if isinstance(d.type, Scalar) else dot(d, d),
    "length": lambda t, d: fn("length", d),
    "size": lambda t, d: abs(d),
    "manhattan": lambda t, d: reduce(add, [abs(d[a]) for a in range(_size(d))]),
}


def _size(value: Expr) -> int:
    return value.type.size if isinstance(value.type, Vec) else 1


@idiom
def nearest_centroid(k: KernelBuilder, level: int) -> Title:
    """Assign points to the nearest of a few centroids and sum them up by cluster."""
    shape, real = k.draw.shape, k.draw.wide_float_type()
    dim, c = shape.choice((1, 2, 3)), k.size("k_clusters", 3, 5)
    type_ = Vec(dim, real) if dim > 1 else real
    t = Tally(level, threads(k, "n", 56, 80, "i p"), "Points")
    loaded = t.s.read("points samples x", type_, -2.0, 2.0)
    point = t.let("p xi point", loaded)
    norm = t.pick("square", *(("length", "manhattan") if dim > 1 else ("size",)))
    best, winner = _nearest(t, point, norm, c)
    weight: Expr | None = None
    if t.chance(0.5):
        weight = t.s.read("weights w", real, 0.5, 2.0)
    t.into("sums cluster_sums", c, winner, point if weight is None else weight * point)
    t.into("counts sizes", c, winner, 1 if weight is None else weight)
    t.done[-2:] = [" and ".join(t.done[-2:])]
    if t.chance(0.7, 3):
        t.into("inertia cost distortion", "1", 0, best)
    closing = ""
    if t.chance(0.6, 2):
        labels = t.s.put("labels assignment nearest", winner)
        closing = f" {labels.name} gets c."
    names = "assign_clusters kmeans_step nearest_centroid"
    return t.title(names, f"For each point of {loaded.array.name}: ", closing)


def _nearest(t: Tally, point: Expr, norm: str, c: str) -> tuple[Var, Var]:
    """The smallest distance, and of which centroid."""
    k, real = t.k, scalar_of(point.type)
    centers = k.array("centroids centers means", point.type, c, low=-1.5, high=1.5)
    named = norm != "length"

    def distance(j: Expr) -> Expr:
        gap = t.let("d diff", point - centers[j], 1.0 if named else 0.0)
        return _NORMS[norm](t, gap)

    from_first = t.chance(0.5)
    first = distance(k.lift(0, INT32)) if from_first else k.lift(1.0e30, real)
    best = k.let("best best_dist", first)
    winner = k.let("winner nearest_id label", k.lift(0, INT32))
    count = k.trip_count("num_clusters num_centroids", c)
    with k.for_("j r", count, start=1 if from_first else 0) as j:
        here = t.let("dist score", distance(j))
        shown = t.say(here)
        with k.if_(here < best):
            k.assign(best, here)
            k.assign(winner, j)
    t.known.update({best: "that smallest value", winner: "c"})
    t.defined.append(f"c = the first {j.name} of the smallest {shown}")
    return best, winner
