"""A block for each row of weights over elements: attention, losses."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.build.tiles import blocks, each, joined, load, spread, store
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr
from generators.tile.common import row_of, row_source, scaled, threads, width


@idiom
def attention_rows(k: KernelBuilder, level: int) -> Title:
    """Attention of each query to a few keys: softmax of products, and a mean of values by it."""
    m = k.size("m", 4, 9)
    keys, depth = k.draw.shape.choice((8, 16, 32)), k.draw.shape.choice((8, 16, 32))
    q = row_source(k, "q queries", m, depth)
    kt = k.array("k_rows keys", FLOAT32, (str(keys), str(depth)), low=-1.0, high=1.0)
    vt = k.array("v_rows values", FLOAT32, (str(keys), str(depth)), low=-1.0, high=1.0)
    (i,) = blocks(k, m, threads=64)
    query = row_of(k, "query qi", q, i, depth)
    held = k.let("key_tile kk", load(kt, (0, 0), keys, depth))
    dots = joined("sum", each("mul", held, spread(query, held, axis=1)), 1)
    scores, said = _scores(k, level, dots, keys, depth)
    top = k.let("top peak", joined("max", scores))
    e = k.let("e weights", each("exp", each("sub", scores, spread(top, scores))))
    total = k.let("total denom", joined("sum", e))
    share = k.let("p share", each("div", e, spread(total, e)))
    tile = k.let("value_tile vv", load(vt, (0, 0), keys, depth))
    mixed = k.let("mixed o", joined("sum", each("mul", tile, spread(share, tile, axis=0)), 0))
    result, after, more_out = mixed, "", ""
    if level > 3 and k.draw.shape.chance(0.5):
        lse = k.let("lse log_sum", each("add", top, k.let("log_total lg", each("log", total))))
        kept = k.out("row_lse logsumexp", FLOAT32, (m,))
        store(k, kept, i, lse)
        more_out = f" {kept.name}[i] gets the log-sum-exp of its scores."
    if level > 2 and k.draw.shape.chance(0.3):
        residual = k.array("residual skip", FLOAT32, (m, str(depth)), low=-1.0, high=1.0)
        result = k.let("summed h", each("add", result, row_of(k, "res r", residual, i, depth)))
        after = f", plus row i of {residual.name}"
    out = k.out("out attended", FLOAT32, (m, str(depth)))
    store(k, out, (i, 0), result)
    return Title(
        k.name("attention_rows", "attend"),
        f"Attention of many queries to {keys} shared keys: block i stores in {out.name}[i] the sum "
        f"of the rows of {vt.name}, each times its share in the softmax {said}{after}; the dot "
        f"products are those of row i of {q.name} with the rows of {kt.name}.{more_out}",
    )


def _scores(k: KernelBuilder, level: int, dots: Expr, keys: int, depth: int) -> tuple[Expr, str]:
    """Dot products scaled, and biased from level 3 on; in words."""
    products = k.let("dots products", dots)
    if k.draw.shape.chance(0.7):
        more, factor = scaled(k, products, "scale inv_sqrt_dim")
    else:
        factor = {8: "0.35355", 16: "0.25", 32: "0.17678"}[depth]
        more = each("mul", products, float(factor))
    scores = k.let("scores s", more)
    said = f"of their dot products times {factor}"
    if level <= 2:
        return scores, said
    bias = k.array("bias mask", FLOAT32, str(keys), low=-1.0, high=1.0)
    added = k.let("shift b", load(bias, 0, keys))
    return k.let("biased z", each("add", scores, added)), f"{said} plus {bias.name}"


@idiom
def soft_cross_entropy(k: KernelBuilder, level: int) -> Title:
    """Cross entropy of rows of logits with rows of weights."""
    m, n = k.size("m", 6, 14), width(k)
    x = row_source(k, "logits scores", m, n)
    y = k.array("targets labels", FLOAT32, (m, str(n)), low=0.1, high=1.0)
    (i,) = blocks(k, m, threads=threads(k, n))
    row, said = row_of(k, "row z", x, i, n), ""
    if level > 1 and k.draw.shape.chance(0.7):
        value, words = scaled(k, row, "scale inv_temperature")
        row, said = k.let("scaled s", value), f" times {words}"
    if k.draw.shape.chance(0.15 + 0.1 * level):
        bias = k.array("log_prior class_bias", FLOAT32, str(n), low=-1.0, high=1.0)
        row = k.let("biased h", each("add", row, k.let("shift b", load(bias, 0, n))))
        said += f" plus {bias.name}"
    goal = row_of(k, "goal t", y, i, n)
    top = k.let("top peak", joined("max", row))
    moved = k.let("moved d", each("sub", row, spread(top, row)))
    lse = k.let("lse log_sum", each("log", joined("sum", each("exp", moved))))
    logs: Expr = each("sub", moved, spread(lse, moved))
    loss: Expr = each("neg", joined("sum", each("mul", goal, k.let("logs log_p", logs))))
    what, after = "negative sum", ""
    if level > 2 and k.draw.shape.chance(0.5):
        loss = each("div", k.let("loss total", loss), k.let("mass t_sum", joined("sum", goal)))
        what = "negative weighted mean"
    if level > 3 and k.draw.shape.chance(0.6):
        weights = k.array("weights row_weights", FLOAT32, (m,), low=0.3, high=1.5)
        held = k.let("w weight", load(weights, i, 1))
        loss = each("mul", k.let("mean_loss l", loss), held)
        after = f", times {weights.name}[i]"
    out = k.out("losses out", FLOAT32, (m,))
    store(k, out, i, loss)
    return Title(
        k.name("soft_cross_entropy", "row_losses"),
        f"Cross entropy with soft targets: block i stores the {what} of the log-softmax of row i "
        f"of {x.name}{said}, weighted by row i of {y.name}{after}, in {out.name}[i].",
    )
