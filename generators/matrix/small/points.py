"""Second moments of small point sets: covariance, scatter, cross-covariance of two sets."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper, times_identity
from generators.matrix.small.extras import Extra, extras
from generators.matrix.small.grid import Grid, grid, say, voigt
from generators.matrix.small.moments import (
    about_origin,
    chords,
    crossed,
    one_pass,
    point_cloud,
    two_passes,
    weighting,
)
from generators.program.dtypes import Mat, Vec
from generators.program.expr import Expr, Var


def _menu(k: KernelBuilder, g: Grid, cov: Var, mean: Var | None) -> dict[str, Extra]:
    mat = cov.type
    assert isinstance(mat, Mat)
    vec = Vec(mat.rows, mat.scalar)

    def along() -> Expr:
        axis = g.supply(("axis", "direction"), ("axes", "directions"), vec, -1.0, 1.0)
        return fn("dot", axis, cov * axis)

    def correlation() -> Expr:
        product = k.let(("var_product", "vp"), cov[0, 0] * cov[1, 1])
        return cov[0, 1] / fn("sqrt", product + 0.01)

    menu = {
        "trace": Extra(("traces", "total_variance"), lambda: fn("trace", cov), "trace(C)"),
        "det": Extra(("dets", "generalized_variance"), lambda: fn("determinant", cov), "det(C)"),
        "diag": Extra(("variances", "diagonals"), lambda: fn("get_diag", cov), "the diagonal of C"),
        "norm": Extra(
            ("norms", "sizes"), lambda: fn("sqrt", fn("ddot", cov, cov)), "sqrt(ddot(C, C))"
        ),
        "along": Extra(("spread", "along_axis"), along, "dot(a, C * a) of its axis a"),
        "packed": Extra(
            ("packed", "upper"),
            lambda: voigt(cov),
            "the diagonal of C and then"
            + (" C[0, 1]" if mat.rows == 2 else " C[1, 2], C[0, 2] and C[0, 1]"),
        ),
        "ratio": Extra(
            ("correlations", "rho"), correlation, "C[0, 1] / sqrt(C[0, 0] C[1, 1] + 0.01)"
        ),
    }
    if mean is not None:
        menu["mean"] = Extra(("means", "centroids"), lambda: mean, "the mean")
        menu["mean_sq"] = Extra(
            ("offcenter", "mean_sq"), lambda: fn("dot", mean, mean), "dot(mean, mean)"
        )
    return menu


@idiom
def point_covariance(k: KernelBuilder, level: int) -> Title:
    """Sums of outer products over a few points: covariance, scatter, cross-covariance."""
    shape = k.draw.shape
    g = grid(k, {1: 6, 2: 3}, "i", "tid", "query_id")
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
        ridge = g.supply(("ridge", "noise_floor"), ("ridges", "floors"), vec.scalar, 0.05, 0.3)
        k.augment(cov, "add", times_identity(Mat(vec.size, vec.size, vec.scalar), ridge))
        done += f" Add {say(ridge)} * I."
    if level >= 4:
        done += _whitened(k, g, cov, way == "cross")
    menu = _menu(k, g, cov, mean)
    if way != "cross" and shape.chance(0.25):
        packed = menu.pop("packed")
        done += f" {g.write(packed.names, packed.value()).name} gets {packed.text}."
    else:
        target = g.write(("covariances", "scatter_out", "moments"), cov)
        done += f" {target.name} gets C."
    few = 1 if mean is not None and shape.chance(0.4) else 0
    done += extras(g, menu, (few, 1, 1, 2, 3)[level - 1])
    return Title(k.name("point_covariance", "local_covariance", "scatter_matrix"), done)


def _squared(k: KernelBuilder, level: int, vec: Vec) -> str:
    """The outer product of a vector with itself, entry by entry in a helper."""
    if level < 3 or k.draw.shape.chance(0.5):
        return ""
    mat = Mat(vec.size, vec.size, vec.scalar)

    def build(_: BodyBuilder, d: Expr) -> Expr:
        cells = [(min(r, c), max(r, c)) for r in range(vec.size) for c in range(vec.size)]
        return make(mat, *(d[r] * d[c] for r, c in cells))

    return helper(k, ("self_outer", "square_of"), (("d", vec),), build)


def _whitened(k: KernelBuilder, g: Grid, cov: Var, crossed: bool) -> str:
    """How far a query lies in units of the spread, or the size that C is brought to."""
    mat = cov.type
    assert isinstance(mat, Mat)
    if crossed or k.draw.shape.chance(0.4):
        size = k.let(("size", "scale"), fn("sqrt", fn("ddot", cov, cov)) + 0.01)
        k.augment(cov, "div", size)
        return " Divide C by sqrt(ddot(C, C)) + 0.01."
    ridge = g.supply(("reg", "damping"), ("regs", "dampings"), mat.scalar, 0.2, 0.6)
    vec = Vec(mat.rows, mat.scalar)
    queries = g.array(("queries_x", "probes"), vec, -1.0, 1.0)
    x = k.let(("x", "probe"), queries[g.index])
    inv = k.let(("inv", "precision"), fn("inverse", cov + times_identity(mat, ridge)))
    target = g.write(("distances_sq", "probe_scores"), fn("dot", x, inv * x))
    return f" {target.name} gets dot(x, inverse(C + {say(ridge)} * I) * x), x being {queries.name}."
