"""A block for each row: softmax, norms, similarities."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.build.tiles import applied, blocks, each, joined, load, spread, store
from generators.kit.functions import sqrt
from generators.kit.naming import helper
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.tile.common import MONOTONE, function_of, row_of, row_source, scaled, threads, width


@idiom
def row_softmax(k: KernelBuilder, level: int) -> Title:
    """Softmax or its logarithm, of rows that may be scaled and biased before."""
    m, n = k.size("m", 5, 14), width(k)
    x = row_source(k, "logits scores x", m, n)
    (i,) = blocks(k, m, threads=threads(k, n))
    row, said = row_of(k, "row tile", x, i, n), ""
    if level > 1 and k.draw.shape.chance(0.7):
        value, factor = scaled(k, row)
        row, said = k.let("scaled z", value), f" times {factor}"
    if level > 2 and k.draw.shape.chance(0.7):
        bias = k.array("bias mask offsets", FLOAT32, str(n), low=-1.0, high=1.0)
        added = k.let("shift b", load(bias, 0, n))
        row, said = k.let("biased h", each("add", row, added)), f"{said} plus {bias.name}"
    top = k.let("top row_max peak", joined("max", row))
    logs = level > 2 and k.draw.shape.chance(0.4)
    moved: Expr = each("sub", row, spread(top, row))
    if logs:
        moved = k.let("moved d", moved)
    e = k.let("e weights", each("exp", moved))
    total = k.let("total denom s", joined("sum", e))
    out = k.out("out log_probs" if logs else "out probs", FLOAT32, (m, str(n)))
    if logs:
        value = each("sub", moved, spread(k.let("lse log_sum", each("log", total)), moved))
    else:
        value = each("div", e, spread(total, e))
    if level > 3 and k.draw.shape.chance(0.5):
        tops = k.out("tops row_tops", FLOAT32, (m,))
        store(k, tops, i, top)
        said += f" (its largest element goes to {tops.name}[i])"
    store(k, out, (i, 0), value)
    what = "log-softmax" if logs else "softmax"
    return Title(
        k.name("row_softmax", "tile_softmax") if not logs else k.name("row_log_softmax"),
        f"Block i stores the {what} of row i of {x.name}{said}, shifted by its largest element, in "
        f"{out.name}[i].",
    )


@idiom
def row_norm(k: KernelBuilder, level: int) -> Title:
    """Layer norm or RMS norm with what follows it."""
    m, n = k.size("m", 5, 14), width(k)
    x = row_source(k, "x rows activations", m, n)
    (i,) = blocks(k, m, threads=threads(k, n))
    row, said = row_of(k, "row h", x, i, n), f"row i of {x.name}"
    if level > 2 and k.draw.shape.chance(0.5):
        other = row_source(k, "residual skip", m, n)
        row = k.let("summed r", each("add", row, row_of(k, "res extra", other, i, n)))
        said += f" plus that of {other.name}"
    centred = k.draw.shape.chance(0.55)
    if centred:
        mean = k.let("mean mu", each("div", joined("sum", row), float(n)))
        row = k.let("d centred", each("sub", row, spread(mean, row)))
    power = k.let("var power ms", each("div", joined("sum", each("mul", row, row)), float(n)))
    eps = k.draw.value.choice(("1e-05", "0.001", "0.0001"))
    inverse = helper(k, "rstd inv_root", [("v", FLOAT32)], lambda _, v: 1.0 / sqrt(v + float(eps)))
    factor = k.let("inv scale_by", applied(k, inverse, power))
    y: Var = k.let("y normed", each("mul", row, spread(factor, row)))
    if level > 1:
        gamma = k.array("gamma weight", FLOAT32, str(n), low=0.5, high=1.5)
        y = k.let("g scaled", each("mul", y, k.let("w gains", load(gamma, 0, n))))
        said += f", times {gamma.name}"
        if centred and k.draw.shape.chance(0.6):
            beta = k.array("beta bias", FLOAT32, str(n), low=-0.5, high=0.5)
            y = k.let("shifted q", each("add", y, k.let("b shift", load(beta, 0, n))))
            said += f", plus {beta.name}"
    result: Expr = y
    if level > 3:
        result, words = function_of(k, y, "relu silu gelu sigmoid")
        said += f", then v replaced by {words}"
    out = k.out("out normed_out", FLOAT32, (m, str(n)))
    store(k, out, (i, 0), result)
    what = "less its mean and over its standard deviation" if centred else "over its RMS"
    return Title(
        k.name("layer_norm_rows", "tile_layer_norm") if centred else k.name("rms_norm_rows"),
        f"Block i stores {said}, in {out.name}[i]: first each row is taken {what}, with {eps} "
        "added to the mean of squares.",
    )


@idiom
def row_similarity(k: KernelBuilder, level: int) -> Title:
    """Dot products, distances and cosines of the rows of two arrays."""
    m, n = k.size("m", 8, 16), width(k)
    a, b = row_source(k, "a queries left", m, n), row_source(k, "b keys right", m, n)
    (i,) = blocks(k, m, threads=threads(k, n))
    x, y = row_of(k, "x p", a, i, n), row_of(k, "y q", b, i, n)
    kind = k.draw.shape.choice(("dot", "distance", "cosine")[: 2 if level < 3 else 3])
    before = ""
    if level > 1 and k.draw.shape.chance(0.3 * level - 0.3):
        value, words = function_of(k, x, "relu gelu silu soft_sign")
        x, before = k.let("fx u", value), f", each element v of a row of {a.name} as {words}"
    if kind == "dot":
        value = joined("sum", each("mul", x, y))
    elif kind == "distance":
        d = k.let("d gap", each("sub", x, y))
        inner = k.draw.shape.choice(("square", "abs"))
        value = joined("sum", each("mul", d, d) if inner == "square" else each("abs", d))
        kind = "squared distance" if inner == "square" else "sum of absolute differences"
    else:
        both = k.let("xy dot", joined("sum", each("mul", x, y)))
        xx = k.let("xx", joined("sum", each("mul", x, x)))
        yy = k.let("yy", joined("sum", each("mul", y, y)))
        value = each("div", both, each("sqrt", each("mul", xx, yy)))
    found, scale = k.let("found value", value), ""
    if level > 3:
        more, words = scaled(k, found)
        found, scale = k.let("weighted w", more), f", times {words}"
    out = k.out("out scores", FLOAT32, (m,))
    store(k, out, i, found)
    return Title(
        k.name("row_similarity", "compare_rows"),
        f"Block i stores the {kind} of row i of {a.name} and row i of {b.name}{before}{scale}, in "
        f"{out.name}[i].",
    )


@idiom
def row_standing(k: KernelBuilder, level: int) -> Title:
    """Rows between their own least and largest elements, or over their own sums."""
    m, n = k.size("m", 5, 14), width(k)
    x = row_source(k, "x rows samples", m, n)
    (i,) = blocks(k, m, threads=threads(k, n))
    row, said = row_of(k, "row values", x, i, n), ""
    if level > 1:
        value, words = function_of(k, row, MONOTONE)
        row, said = k.let("bent f", value), f", replaces each element v of it by {words}"
    if level > 3:
        other = row_source(k, "weights shares", m, n)
        row = k.let("weighted p", each("mul", row, row_of(k, "w share", other, i, n)))
        said += f", multiplies by row i of {other.name}"
    low, high = k.let("low least", joined("min", row)), k.let("high largest", joined("max", row))
    span = k.let("span extent_of", each("sub", high, low))
    base = each("sub", row, spread(low, row))
    out = k.out("out scaled_rows", FLOAT32, (m, str(n)))
    store(k, out, (i, 0), each("div", base, spread(span, row)))
    return Title(
        k.name("min_max_rows", "rescale_rows"),
        f"Block i takes row i of {x.name}{said}, and stores it, moved and scaled so that it goes "
        f"from 0 to 1, in {out.name}[i].",
    )
