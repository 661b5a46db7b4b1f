"""Products of tiles with more around them: distances, gates, outer products."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder
from generators.build.registry import Title, idiom
from generators.build.tiles import (
    applied,
    blocks,
    each,
    filled,
    joined,
    load,
    multiply,
    spread,
    store,
    transposed,
)
from generators.kit.functions import exp, sqrt
from generators.kit.naming import helper
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.tile.common import function_of, scaled

_SIDES = ((8, 8), (8, 16), (16, 8), (16, 16))


def _grid(k: KernelBuilder, names: str, rows: str, cols: str) -> Var:
    return k.array(names, FLOAT32, (rows, cols), low=-1.5, high=1.5)


@idiom
def rank_one_update(k: KernelBuilder, level: int) -> Title:
    """A tile of a matrix plus a column times a row."""
    rows, cols = k.size("mt", 2, 3), k.size("nt", 2, 4)
    th, tw = k.draw.shape.choice(_SIDES)
    u = k.array("u column left", FLOAT32, f"{th}*{rows}", low=-1.5, high=1.5)
    v = k.array("v row_values right", FLOAT32, f"{tw}*{cols}", low=-1.5, high=1.5)
    i, j = blocks(k, rows, cols, threads=64)
    ut, vt = k.let("ut u_tile", load(u, i * th, th)), k.let("vt v_tile", load(v, j * tw, tw))
    said_u = u.name
    if level > 1 and k.draw.shape.chance(0.6):
        value, words = function_of(k, ut)
        ut, said_u = k.let("fu bent", value), f"each element v of {u.name} as {words}"
    like = filled(0.0, th, tw)
    outer: Expr = each("mul", spread(ut, like, axis=0), spread(vt, like, axis=1))
    said = f"{said_u} times each element of {v.name}"
    if level > 2:
        factor, words = scaled(k, k.let("outer product", outer))
        outer, said = factor, f"{said}, times {words}"
    if level > 1:
        a = _grid(k, "a matrix base", f"{th}*{rows}", f"{tw}*{cols}")
        held = k.let("tile at", load(a, (i * th, j * tw), th, tw))
        outer = each("add", held, k.let("update step", outer))
        said += f", added to {a.name}"
    result = k.let("result moved", outer)
    if level > 3:
        value, words = function_of(k, result)
        result, said = k.let("after z", value), f"{said}, then v replaced by {words}"
    out = k.out("out updated", FLOAT32, (f"{th}*{rows}", f"{tw}*{cols}"))
    store(k, out, (i * th, j * tw), result)
    return Title(
        k.name("rank_one_update", "outer_tiles"),
        f"Block (i, j) computes the {th} by {tw} tile of {out.name} at row {th} * i and column "
        f"{tw} * j: {said}.",
    )


def _nearness(k: KernelBuilder, distances: Expr) -> tuple[Expr, str]:
    """A weight that falls off with squared distances, and that in words."""
    shape, words = k.draw.shape.choice((("bell", "exp(-{} v)"), ("falloff", "1 / (1 + {} v)")))
    rate = k.draw.value.choice(("0.05", "0.1", "0.02"))
    number = float(rate)

    def form(_: BodyBuilder, v: Var) -> Expr:
        return exp(-(number * v)) if shape == "bell" else 1.0 / (1.0 + number * v)

    name = helper(k, f"{shape} weight", [("v", FLOAT32)], form)
    return applied(k, name, distances), f"{words.format(rate)} of the squared distance v"


@idiom
def pairwise_distances(k: KernelBuilder, level: int) -> Title:
    """Squared distances, or kernels of them, of all rows of one matrix to all of another."""
    rows, cols, inner = k.size("mt", 2, 3), k.size("nt", 2, 4), k.size("kt", 2, 3)
    side, depth = k.draw.shape.choice((8, 16)), k.draw.shape.choice((4, 8))
    x = _grid(k, "x points a", f"{side}*{rows}", f"{depth}*{inner}")
    y = _grid(k, "y centres b", f"{side}*{cols}", f"{depth}*{inner}")
    turns = k.size_param("k_tiles count depth", inner)
    i, j = blocks(k, rows, cols, threads=64)
    dots = k.let("dots xy", filled(0.0, side, side))
    xx = k.let("xx x_norms", filled(0.0, side))
    yy = k.let("yy y_norms", filled(0.0, side))
    with k.for_("k step", turns) as step:
        xt = k.let("xt x_tile", load(x, (i * side, step * depth), side, depth))
        yt = k.let("yt y_tile", load(y, (j * side, step * depth), side, depth))
        multiply(k, dots, xt, k.let("turned y_t", transposed(yt)))
        k.augment(xx, "add", joined("sum", each("mul", xt, xt), 1))
        k.augment(yy, "add", joined("sum", each("mul", yt, yt), 1))
    sums = each("add", spread(xx, dots, axis=0), spread(yy, dots, axis=1))
    result: Expr = k.let("d2 gaps", each("sub", sums, each("mul", dots, 2.0)))
    said = "squared distance"
    if level > 1:
        result, said = _nearness(k, result)
    if level > 2:
        result, words = scaled(k, k.let("weights w", result))
        said += f", times {words},"
    if level > 3:
        row = k.array("masses amounts", FLOAT32, f"{side}*{cols}", low=0.2, high=1.5)
        shares = k.let("share m_tile", load(row, j * side, side))
        result = each("mul", k.let("scaled s", result), spread(shares, dots, axis=1))
        said += f" times {row.name} of the row of {y.name},"
    out = k.out("out distances", FLOAT32, (f"{side}*{rows}", f"{side}*{cols}"))
    store(k, out, (i * side, j * side), result)
    return Title(
        k.name("pairwise_distances", "compare_all_rows"),
        f"Block (i, j) computes the {side} by {side} tile of {out.name} at row {side} * i and "
        f"column {side} * j: the {said} of each row of {x.name} and each row of {y.name}, from "
        f"their squares and products, {depth} columns at a time.",
    )


@idiom
def gated_matmul(k: KernelBuilder, level: int) -> Title:
    """Two products of one matrix, one of which gates the other."""
    rows, cols, inner = k.size("mt", 2, 3), k.size("nt", 2, 3), k.size("kt", 2, 3)
    tm, tn = k.draw.shape.choice(_SIDES)
    tk = 8
    x = _grid(k, "x inputs a", f"{tm}*{rows}", f"{tk}*{inner}")
    w = _grid(k, "w up_weights", f"{tk}*{inner}", f"{tn}*{cols}")
    g = _grid(k, "g gate_weights", f"{tk}*{inner}", f"{tn}*{cols}")
    turns = k.size_param("k_tiles count depth", inner)
    i, j = blocks(k, rows, cols, threads=64)
    up = k.let("up main_acc", filled(0.0, tm, tn))
    gate = k.let("gate gate_acc", filled(0.0, tm, tn))
    with k.for_("k step", turns) as step:
        xt = k.let("xt x_tile", load(x, (i * tm, step * tk), tm, tk))
        multiply(k, up, xt, k.let("wt w_tile", load(w, (step * tk, j * tn), tk, tn)))
        multiply(k, gate, xt, k.let("gt g_tile", load(g, (step * tk, j * tn), tk, tn)))
    opened: Expr = gate
    if level > 2:
        bias = k.array("gate_bias offsets", FLOAT32, f"{tn}*{cols}", low=-0.5, high=0.5)
        row = k.let("b_row shift", load(bias, j * tn, tn))
        opened = k.let("biased z", each("add", gate, spread(row, gate, axis=1)))
    more = f" plus {bias.name} of its column" if level > 2 else ""
    value, words = function_of(k, opened, "sigmoid silu gelu relu")
    result: Expr = each("mul", up, k.let("opened open_gate", value))
    said = (
        f"{x.name} times {w.name}, times the gate, {words} of v, which is {x.name} times {g.name}"
    )
    said += more
    if level > 3:
        result, words = scaled(k, k.let("gated h", result))
        said += f"; all that times {words}"
    out = k.out("out hidden", FLOAT32, (f"{tm}*{rows}", f"{tn}*{cols}"))
    store(k, out, (i * tm, j * tn), result)
    return Title(
        k.name("gated_matmul", "gated_product"),
        f"Block (i, j) computes the {tm} by {tn} tile of {out.name} at row {tm} * i and column "
        f"{tn} * j: {said}.",
    )


@idiom
def column_norms(k: KernelBuilder, level: int) -> Title:
    """Norms of the columns of a matrix, whose rows come a tile at a time."""
    cols, inner = k.size("nt", 3, 6), k.size("kt", 2, 4)
    th, tw = k.draw.shape.choice(((8, 16), (8, 32), (16, 16)))
    x = _grid(k, "x table samples", f"{th}*{inner}", f"{tw}*{cols}")
    turns = k.size_param("k_tiles count height", inner)
    (j,) = blocks(k, cols, threads=64, names=("j",))
    total = k.let("total acc", filled(0.0, tw))
    kind = k.draw.shape.choice(("squares", "absolutes"))
    said = ""
    with k.for_("k step", turns) as step:
        tile: Var = k.let("tile part", load(x, (step * th, j * tw), th, tw))
        if level > 1 and k.draw.shape.chance(0.25 * level):
            value, words = function_of(k, tile)
            tile, said = k.let("f value", value), f", each element v as {words}"
        if level > 3:
            weights = k.array("weights w", FLOAT32, f"{th}*{inner}", low=0.2, high=1.5)
            held = k.let("w_tile wt", load(weights, step * th, th))
            tile = k.let("weighted p", each("mul", tile, spread(held, tile, axis=0)))
            said += f", times {weights.name} of its row"
        parts = each("mul", tile, tile) if kind == "squares" else each("abs", tile)
        k.augment(total, "add", joined("sum", parts, 0))
    result: Expr = total
    what = f"sum of {kind}"
    if kind == "squares" and (level < 3 or k.draw.shape.chance(0.5)):
        root = helper(k, "root norm_of", [("s", FLOAT32)], lambda _, s: sqrt(s + 1e-06))
        result, what = applied(k, root, total), "root of 1e-06 plus the sum of squares"
    if level > 2:
        norms = result if isinstance(result, Var) else k.let("norms n", result)
        result, words = scaled(k, norms)
        what += f", times {words},"
    out = k.out("out norms_out", FLOAT32, f"{tw}*{cols}")
    store(k, out, j * tw, result)
    return Title(
        k.name("column_norms", "sum_columns"),
        f"Block j stores the {what} of each of the columns {tw} * j to {tw} * j + {tw - 1} of "
        f"{x.name}, {th} rows at a time{said}, in {out.name}.",
    )
