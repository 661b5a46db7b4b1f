"""A block for each row: softmax, norms, similarities."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.build.tiles import applied, blocks, each, joined, load, spread, store
from generators.kit.functions import sqrt
from generators.kit.naming import helper
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.tile.common import function_of, row_of, row_source, scaled, threads, width


@idiom
def row_softmax(k: KernelBuilder, level: int) -> Title:
    """Softmax or its logarithm, of rows that may be scaled and biased before; its gradient."""
    if level >= 4 and k.draw.shape.chance(0.35):
        return _softmax_gradient(k)
    m, n = k.size("m", 5, 14), width(k)
    x = row_source(k, "logits scores x", m, n)
    (i,) = blocks(k, m, threads=threads(k, n))
    row, said = row_of(k, "row tile", x, i, n), ""
    if level > 1 and k.draw.shape.chance(0.7):
        value, factor = scaled(k, row, "scale inv_temperature")
        row, said = k.let("scaled z", value), f" times {factor}"
    if level > 2 and k.draw.shape.chance(0.7):
        bias = k.array("bias mask col_bias", FLOAT32, str(n), low=-1.0, high=1.0)
        added = k.let("shift b", load(bias, 0, n))
        row, said = k.let("biased h", each("add", row, added)), f"{said} plus {bias.name}"
    top = k.let("top row_max peak", joined("max", row))
    logs = level > 2 and k.draw.shape.chance(0.4)
    moved: Expr = each("sub", row, spread(top, row))
    if logs:
        moved = k.let("moved d", moved)
    e = k.let("e exps", each("exp", moved))
    total = k.let("total denom s", joined("sum", e))
    out = k.out("out log_probs" if logs else "out probs", FLOAT32, (m, str(n)))
    more = ""
    if logs:
        value = each("sub", moved, spread(k.let("lse log_sum", each("log", total)), moved))
    else:
        value = each("div", e, spread(total, e))
        if level > 3 and k.draw.shape.chance(0.6):
            kept = k.out("row_lse logsumexp", FLOAT32, (m,))
            store(k, kept, i, each("add", top, k.let("log_total lg", each("log", total))))
            more = f" {kept.name}[i] gets the row's log-sum-exp, for the backward pass."
    store(k, out, (i, 0), value)
    what = "log-softmax" if logs else "softmax"
    return Title(
        k.name("row_softmax", "tile_softmax") if not logs else k.name("row_log_softmax"),
        f"Block i stores the {what} of row i of {x.name}{said} in {out.name}[i]; the row's largest "
        f"element is subtracted first.{more}",
    )


def _softmax_gradient(k: KernelBuilder) -> Title:
    """The gradient of a softmax by its result."""
    m, n = k.size("m", 5, 14), width(k)
    p = k.array("probs softmax_out", FLOAT32, (m, str(n)), low=0.01, high=0.2)
    g = row_source(k, "grad_out dy", m, n)
    (i,) = blocks(k, m, threads=threads(k, n))
    row, grad = row_of(k, "p row", p, i, n), row_of(k, "g grad", g, i, n)
    inner = k.let("inner dot", joined("sum", each("mul", row, grad)))
    moved = k.let("moved centred", each("sub", grad, spread(inner, grad)))
    result: Expr = each("mul", row, moved)
    said = ""
    if k.draw.shape.chance(0.5):
        value, factor = scaled(k, k.let("plain dx_tile", result), "scale inv_temperature")
        result, said = value, f", times {factor}"
    out = k.out("grad_in dx", FLOAT32, (m, str(n)))
    store(k, out, (i, 0), result)
    return Title(
        k.name("softmax_backward", "row_softmax_grad"),
        f"Softmax backward: block i stores row i of {p.name} times (row i of {g.name} less the dot "
        f"product of both){said} in {out.name}[i].",
    )


@idiom
def row_norm(k: KernelBuilder, level: int) -> Title:
    """Layer norm or RMS norm with what follows it."""
    m, n = k.size("m", 5, 14), width(k)
    x = row_source(k, "x rows activations", m, n)
    (i,) = blocks(k, m, threads=threads(k, n))
    row, source = row_of(k, "row h", x, i, n), f"row i of {x.name}"
    if level > 2 and k.draw.shape.chance(0.5):
        other = row_source(k, "residual skip", m, n)
        row = k.let("summed r", each("add", row, row_of(k, "res extra", other, i, n)))
        source += f" + {other.name}"
        if k.draw.shape.chance(0.5):
            kept = k.out("summed_out new_residual", FLOAT32, (m, str(n)))
            store(k, kept, (i, 0), row)
            source += f" (which {kept.name}[i] gets)"
    centred = k.draw.shape.chance(0.55)
    if centred:
        mean = k.let("mean mu", each("div", joined("sum", row), float(n)))
        row = k.let("d centred", each("sub", row, spread(mean, row)))
    power = k.let("var ms", each("div", joined("sum", each("mul", row, row)), float(n)))
    eps = k.draw.value.choice(("1e-05", "1e-06"))
    inverse = helper(k, "rstd inv_root", [("v", FLOAT32)], lambda _, v: 1.0 / sqrt(v + float(eps)))
    factor = k.let("inv scale_by", applied(k, inverse, power))
    y: Var = k.let("y normed", each("mul", row, spread(factor, row)))
    after, said = _affine(k, level, y, n, centred)
    out = k.out("out normed_out", FLOAT32, (m, str(n)))
    store(k, out, (i, 0), after)
    if centred:
        kind, how = "Layer norm", "less its mean, over the root of its variance"
    else:
        kind, how = "RMS norm", "over the root of its mean of squares"
    return Title(
        k.name("layer_norm_rows", "tile_layer_norm") if centred else k.name("rms_norm_rows"),
        f"{kind}: block i takes {source}, {how} plus {eps}{said}, and stores it in {out.name}[i].",
    )


def _affine(k: KernelBuilder, level: int, y: Var, n: int, centred: bool) -> tuple[Expr, str]:
    """Gains, offsets and an activation; in words."""
    said = ""
    if level > 1:
        gamma = k.array("gamma weight", FLOAT32, str(n), low=0.5, high=1.5)
        y = k.let("g scaled", each("mul", y, k.let("w gains", load(gamma, 0, n))))
        said += f", times {gamma.name}"
        if centred and k.draw.shape.chance(0.6):
            beta = k.array("beta bias", FLOAT32, str(n), low=-0.5, high=0.5)
            y = k.let("shifted q", each("add", y, k.let("b shift", load(beta, 0, n))))
            said += f", plus {beta.name}"
    if level > 3 and k.draw.shape.chance(0.4):
        result, words = function_of(k, y, "relu silu gelu")
        return result, f"{said}, then each element v through {words}"
    return y, said


_SIMILAR = {
    1: ("dot", "distance", "manhattan"),
    2: ("dot", "distance", "manhattan", "weighted"),
    3: ("cosine", "weighted", "kernel"),
    4: ("cosine", "kernel", "weighted"),
    5: ("cosine", "kernel", "centred"),
}


@idiom
def row_similarity(k: KernelBuilder, level: int) -> Title:
    """Dot products, distances, cosines and correlations of the rows of two arrays."""
    m, n = k.size("m", 8, 16), width(k)
    a, b = row_source(k, "a queries left", m, n), row_source(k, "b keys right", m, n)
    (i,) = blocks(k, m, threads=threads(k, n))
    x, y = row_of(k, "x p", a, i, n), row_of(k, "y q", b, i, n)
    kind = k.draw.shape.choice(_SIMILAR[level])
    if kind in ("cosine", "centred"):
        value, words = _cosine(k, x, y, kind == "centred", n)
    elif kind == "dot":
        value, words = joined("sum", each("mul", x, y)), "dot product"
    else:
        value, words = _distance(k, kind, x, y, n)
    if kind == "kernel" or (kind == "cosine" and k.draw.shape.chance(0.5)):
        found = k.let("found value", value)
        factor = k.scalar(
            "gamma" if kind == "kernel" else "scale inv_tau", FLOAT32, low=0.5, high=2.0
        )
        value = each("mul", found, factor)
        words = f"{words} times {factor.name}"
        if kind == "kernel":
            thin = k.let("scaled w", each("mul", value, 1.0 / n))
            value = each("exp", each("neg", thin))
            words = f"Gaussian kernel exp(-{factor.name} * d / {n}), d being the squared distance"
    found = k.let("result score", value)
    out = k.out("out scores", FLOAT32, (m,))
    store(k, out, i, found)
    called = {
        "dot": "row_dots",
        "cosine": "row_cosines",
        "kernel": "row_kernels",
        "centred": "row_correlations",
    }.get(kind, "row_distances")
    return Title(
        k.name(called, "compare_rows"),
        f"Block i compares row i of {a.name} with row i of {b.name} and stores their {words} in "
        f"{out.name}[i].",
    )


def _distance(k: KernelBuilder, kind: str, x: Var, y: Var, n: int) -> tuple[Expr, str]:
    """A distance of two rows, and what it is called."""
    d = k.let("d gap", each("sub", x, y))
    if kind == "manhattan":
        return joined("sum", each("abs", d)), "sum of absolute differences"
    squares: Expr = each("mul", d, d)
    if kind == "weighted":
        weights = k.array("weights precisions", FLOAT32, str(n), low=0.2, high=1.5)
        held = k.let("w_tile w", load(weights, 0, n))
        squares = each("mul", k.let("sq squares", squares), held)
        return joined("sum", squares), f"squared distance, its columns weighted by {weights.name}"
    return joined("sum", squares), "squared distance"


def _cosine(k: KernelBuilder, x: Var, y: Var, centred: bool, n: int) -> tuple[Expr, str]:
    """A cosine, or that of the rows less their means: the correlation of Pearson."""
    if centred:
        mx = k.let("mean_x mx", each("div", joined("sum", x), float(n)))
        my = k.let("mean_y my", each("div", joined("sum", y), float(n)))
        x = k.let("dx x0", each("sub", x, spread(mx, x)))
        y = k.let("dy y0", each("sub", y, spread(my, y)))
    both = k.let("xy dot", joined("sum", each("mul", x, y)))
    xx = k.let("xx", joined("sum", each("mul", x, x)))
    yy = k.let("yy", joined("sum", each("mul", y, y)))
    value = each("div", both, each("sqrt", each("mul", xx, yy)))
    return value, "correlation" if centred else "cosine"


_STANDINGS = {
    1: ("minmax", "norm"),
    2: ("minmax", "norm", "shares"),
    3: ("minmax", "shares", "norm", "peak"),
    4: ("peak", "score", "norm", "spread"),
    5: ("score", "peak", "spread"),
}
_FRACTION = {"minmax": "min_max_rows", "shares": "row_shares", "norm": "unit_rows"}
_FRACTION |= {"peak": "absmax_rows", "score": "standard_scores", "spread": "min_max_rows"}


@idiom
def row_standing(k: KernelBuilder, level: int) -> Title:
    """Rows rescaled by their own extremes, sums, norms or deviations."""
    m, n = k.size("m", 5, 14), width(k)
    kind = k.draw.shape.choice(_STANDINGS[level])
    low = 0.1 if kind == "shares" else -2.0
    x = k.array("x rows samples", FLOAT32, (m, str(n)), low=low, high=2.0)
    (i,) = blocks(k, m, threads=threads(k, n))
    row = row_of(k, "row values", x, i, n)
    result, said = _rescaled(k, kind, row, n)
    if level > 2 and k.draw.shape.chance(0.25 * level - 0.5):
        gains = k.array("gains col_scale", FLOAT32, str(n), low=0.4, high=1.6)
        result = each("mul", k.let("unit scaled", result), k.let("g w", load(gains, 0, n)))
        said += f", times {gains.name} of its column"
    out = k.out("out scaled_rows", FLOAT32, (m, str(n)))
    store(k, out, (i, 0), result)
    return Title(
        k.name(_FRACTION[kind], "rescale_rows"),
        f"Block i stores row i of {x.name}, {said}, in {out.name}[i].",
    )


def _rescaled(k: KernelBuilder, kind: str, row: Var, n: int) -> tuple[Expr, str]:
    """A row rescaled, and how."""
    if kind == "shares":
        return each("div", row, spread(k.let("total s", joined("sum", row)), row)), "over its sum"
    if kind == "norm":
        sq = k.let("sq power", joined("sum", each("mul", row, row)))
        inverse = helper(k, "rnorm inv_norm", [("v", FLOAT32)], lambda _, v: 1.0 / sqrt(v + 1e-12))
        factor = k.let("inv factor", applied(k, inverse, sq))
        said = "over its length (the root of its sum of squares plus 1e-12)"
        return each("mul", row, spread(factor, row)), said
    if kind == "peak":
        top = k.let("peak absmax", joined("max", k.let("sizes mags", each("abs", row))))
        bound = helper(k, "inverse one_over", [("v", FLOAT32)], lambda _, v: 1.0 / (v + 1e-06))
        factor = k.let("scale s", applied(k, bound, top))
        return each("mul", row, spread(factor, row)), "over its largest magnitude plus 1e-6"
    if kind == "score":
        mean = k.let("mean mu", each("div", joined("sum", row), float(n)))
        d = k.let("d centred", each("sub", row, spread(mean, row)))
        var = k.let("var v2", each("div", joined("sum", each("mul", d, d)), float(n - 1)))
        dev = k.let("dev sigma", each("sqrt", var))
        said = f"less its mean, over its standard deviation (sums of squares over {n - 1})"
        return each("div", d, spread(dev, d)), said
    low, high = k.let("low least", joined("min", row)), k.let("high largest", joined("max", row))
    span = k.let("span extent_of", each("sub", high, low))
    share = each("div", each("sub", row, spread(low, row)), spread(span, row))
    if kind == "minmax":
        return share, "moved and scaled to run from 0 to 1"
    unit = k.let("share unit_row", share)
    halves = k.let("twice wide", each("mul", unit, 2.0))
    shift = helper(k, "less_one centre", [("v", FLOAT32)], lambda _, v: v - 1.0)
    return applied(k, shift, halves), "moved and scaled to run from -1 to 1"
