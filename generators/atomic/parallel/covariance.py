"""Scatter matrices: outer products of points, products of all features of samples."""

from __future__ import annotations

from generators.atomic.parallel.parts import work
from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.text import written
from generators.program.dtypes import INT32, Mat, Vec
from generators.program.expr import Expr, Var

_SPAN = (48, 72)


@idiom(depth=4)
def scatter_matrix(k: KernelBuilder, level: int) -> Title:
    """Scatter matrices of samples: of points by outer products, of features by tiles of samples."""
    if level <= 2 or k.draw.shape.chance(0.15):
        return _point_scatter(k, level)
    return _feature_scatter(k, level)


def _point_scatter(k: KernelBuilder, level: int) -> Title:
    """Outer products of points, all or by group: a small matrix each."""
    shape = k.draw.shape
    real, size = k.draw.wide_float_type(), shape.choice((2, 3))
    vec, mat = Vec(size, real), Mat(size, size, real)
    grouped = shape.chance(0.5)
    with work(k, level, "n", _SPAN, "i p", "clouds", "list lists") as w:
        load = w.read("points positions", vec, -2.0, 2.0)
        dims: tuple[str, ...] = w.dims[:-1]
        at: tuple[Expr, ...] = w.at[:-1]
        of, told = "each cloud" if dims else "a point cloud", ""
        if grouped and not dims:
            dims, of = (k.size("clusters", 3, 4),), "each cluster"
            group = w.read("labels cluster_ids", INT32, init="index_of:clusters")
            at = (w.let("c label", group, 1.0),)
            told = f", {written(at[0])} being {written(group)}"
        d: Expr = w.let("p x", load, 1.0)
        about, centred = f"d = {written(load)}", shape.chance(0.6)
        if centred:
            center = _center(k, vec, dims, at)
            d = w.let("d diff", d - center, 1.0)
            about = f"{about} - {written(center)}"
        outer = w.let("outer dd", fn("outer", d, d), 0.6)
        at = at or (k.lift(0, INT32),)
        out = k.accumulator("scatter" if centred else "second_moments", mat, dims or ("1",))
        k.atomic("add", out, at, outer)
    i = written(w.i)
    what = "Scatter matrix" if centred else "Second moments"
    text = f"{what} of {of}: for each point {i}, with {about}, add the outer product of d with "
    text += f"itself to {written(out[at])}{told}."
    names = "scatter_matrix accumulate_scatter" if centred else "second_moments sum_outer_products"
    return Title(k.name(names), text)


def _center(k: KernelBuilder, vec: Vec, dims: tuple[str, ...], at: tuple[Expr, ...]) -> Expr:
    """The mean that is subtracted: of all points, or of each group."""
    if not dims:
        return k.scalar("mean centroid", vec, -0.5, 0.5)
    return k.array("means centroids", vec, dims, low=-0.5, high=0.5)[at]


def _feature_scatter(k: KernelBuilder, level: int) -> Title:
    """A thread for each feature and chunk of samples, which goes through all other features."""
    shape = k.draw.shape
    real, width = k.draw.wide_float_type(), k.draw.value.choice((8, 16))
    k.size("features", 4, 5)
    k.size("chunks", 5, 6)
    p, chunk = k.thread("features", "chunks", names=("p", k.name("t chunk")))
    upper, weighted = shape.chance(0.5), level > 3 and shape.chance(0.5)
    samples = f"{width}*chunks"
    x = k.array("x samples data", real, (samples, "features"), low=-2.0, high=2.0)
    mean = k.array("mean", real, "features", low=-0.5, high=0.5) if shape.chance(0.67) else None
    weights = k.array("weights", real, samples, low=0.5, high=2.0) if weighted else None
    names = "gram" if mean is None else "scatter scatter_sums"
    out = k.accumulator(names, real, ("features", "features"))
    first = k.let("first start", chunk * width)

    mean_p = None if mean is None else k.let("mean_p", mean[p])

    def centred(i: Expr, n: Var, middle: Expr | None) -> Expr:
        return x[i, n] if middle is None else x[i, n] - middle

    with k.for_("q", extent(x, 1), start=p if upper else 0) as q:
        mean_q = None if mean is None else k.let("mean_q", mean[q])
        acc = k.let("acc total", k.lift(0.0, real))
        with k.for_("j step", width) as j:
            i = k.let("i s", first + j)
            value = centred(i, p, mean_p) * centred(i, q, mean_q)
            k.augment(acc, "add", value if weights is None else weights[i] * value)
        k.atomic("add", out, (p, q), acc)
    about = f"{x.name} less {mean.name}" if mean is not None else x.name
    text = (
        f"{'Gram' if mean is None else 'Scatter'} matrix of features: the thread of feature p and "
    )
    text += f"a chunk of {width} samples sums, for every feature q"
    text += " >= p" if upper else ""
    text += f", the products of features p and q of {about} over the chunk"
    text += f", times {weights.name}," if weights is not None else ""
    text += f" and adds the sum to {out.name}[p, q]."
    names = "gram_matrix" if mean is None else "scatter_matrix accumulate_scatter"
    return Title(k.name(names), text)
