"""Products of tiles with more around them: distances, gates, outer products."""

from __future__ import annotations

from generators.build import KernelBuilder
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
from generators.kit.functions import sqrt
from generators.kit.naming import helper
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.tile.common import function_of, scaled

_SIDES = ((8, 8), (8, 16), (16, 8), (16, 16))


def _grid(k: KernelBuilder, names: str, rows: str, cols: str) -> Var:
    return k.array(names, FLOAT32, (rows, cols), low=-1.5, high=1.5)


_UPDATES = {
    1: ("outer",),
    2: ("add", "outer"),
    3: ("scaled", "descent"),
    4: ("decay", "scaled", "descent"),
    5: ("decay", "two"),
}
"""What is made of an outer product, by level."""


@idiom
def rank_one_update(k: KernelBuilder, level: int) -> Title:
    """Outer products, and matrices that they are added to: BLAS' ger, decayed sums, rank two."""
    form = k.draw.shape.choice(_UPDATES[level])
    rows, cols = k.size("mt", 2, 3), k.size("nt", 2, 4)
    th, tw = k.draw.shape.choice(_SIDES)
    u = k.array("u column left", FLOAT32, f"{th}*{rows}", low=-1.5, high=1.5)
    v = k.array("v row_values right", FLOAT32, f"{tw}*{cols}", low=-1.5, high=1.5)
    i, j = blocks(k, rows, cols, threads=64)
    like = filled(0.0, th, tw)

    def outer(p: Var, q: Var) -> Expr:
        left = k.let(f"{p.name}_tile {p.name}_t", load(p, i * th, th))
        right = k.let(f"{q.name}_tile {q.name}_t", load(q, j * tw, tw))
        return each("mul", spread(left, like, axis=0), spread(right, like, axis=1))

    product, said = outer(u, v), f"{u.name} {v.name}^T"
    if form == "two":
        w = k.array("w second", FLOAT32, f"{th}*{rows}", low=-1.5, high=1.5)
        z = k.array("z other", FLOAT32, f"{tw}*{cols}", low=-1.5, high=1.5)
        first = k.let("outer product", product)
        product, said = each("add", first, outer(w, z)), f"{said} + {w.name} {z.name}^T"
    if form in ("scaled", "descent"):
        names = "lr learning_rate" if form == "descent" else "alpha scale"
        product, factor = scaled(k, k.let("outer_uv product", product), names)
        said = f"{factor} * {said}"
    if form != "outer":
        a = _grid(k, "a matrix base", f"{th}*{rows}", f"{tw}*{cols}")
        held = k.let("tile at", load(a, (i * th, j * tw), th, tw))
        product, said = _added(k, form, (held, a.name), product, said)
    out = k.out("out updated", FLOAT32, (f"{th}*{rows}", f"{tw}*{cols}"))
    store(k, out, (i * th, j * tw), product)
    return Title(
        k.name(f"rank_{'two' if form == 'two' else 'one'}_update", "outer_tiles"),
        f"Compute {out.name} = {said}: block (i, j) has the {th} by {tw} tile at row {th} * i and "
        f"column {tw} * j.",
    )


def _added(
    k: KernelBuilder, form: str, before: tuple[Expr, str], product: Expr, said: str
) -> tuple[Expr, str]:
    """An outer product added to a tile of a matrix or taken from it, and that in words."""
    held, name = before
    if form == "decay":
        held, factor = scaled(k, held, "decay keep")
        held, name = k.let("faded kept", held), f"{factor} * {name}"
    step = k.let("update step", product)
    result = each("sub" if form == "descent" else "add", held, step)
    return result, f"{name} {'-' if form == 'descent' else '+'} {said}"


def _nearness(k: KernelBuilder, distances: Expr) -> tuple[Expr, str]:
    """A kernel of squared distances d, and that in words."""
    form = k.draw.shape.choice(("gauss", "student", "root"))
    if form == "gauss":
        more, gamma = scaled(k, distances, "gamma")
        thin = k.let("scaled_d exponent", each("mul", more, 0.05))
        value = each("exp", each("neg", thin))
        return value, f"Gaussian kernel exp(-0.05 * {gamma} * d) of the squared distance d"
    if form == "student":
        name = helper(k, "student_t tsne_kernel", [("v", FLOAT32)], lambda _, v: 1.0 / (1.0 + v))
        return applied(k, name, distances), "Student t kernel 1 / (1 + d) of the squared distance d"
    name = helper(k, "safe_root length_of", [("v", FLOAT32)], lambda _, v: sqrt(v + 1e-04))
    return applied(k, name, distances), "root of d + 1e-4, d being the squared distance,"


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
    if level > 1 and k.draw.shape.chance(0.25 * level):
        result, said = _nearness(k, result)
    if level > 3 and k.draw.shape.chance(0.6):
        row = k.array("masses amounts", FLOAT32, f"{side}*{cols}", low=0.2, high=1.5)
        shares = k.let("share m_tile", load(row, j * side, side))
        near = result if isinstance(result, Var) else k.let("near kernel_tile", result)
        result = each("mul", near, spread(shares, dots, axis=1))
        said += f" times {row.name} of the row of {y.name},"
    out = k.out("out distances", FLOAT32, (f"{side}*{rows}", f"{side}*{cols}"))
    store(k, out, (i * side, j * side), result)
    return Title(
        k.name("pairwise_distances", "compare_all_rows"),
        f"Store in {out.name} the {said} of each row of {x.name} and each row of {y.name}, as "
        f"|x|^2 + |y|^2 - 2 x.y: block (i, j) has the {side} by {side} tile at row {side} * i and "
        f"column {side} * j, {depth} columns at a time.",
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
    more = f" + {bias.name}" if level > 2 else ""
    value, words = function_of(k, opened, "sigmoid silu gelu relu")
    result: Expr = each("mul", up, k.let("opened open_gate", value))
    said = f"({x.name} {w.name}) * act({x.name} {g.name}{more}), act being {words}"
    out = k.out("out hidden", FLOAT32, (f"{tm}*{rows}", f"{tn}*{cols}"))
    store(k, out, (i * tm, j * tn), result)
    return Title(
        k.name("gated_matmul", "gated_product"),
        f"A gated linear unit, {out.name} = {said}: block (i, j) computes the {tm} by {tn} tile at "
        f"row {tm} * i and column {tn} * j, {tk} of the inner dimension at a time.",
    )


@idiom
def column_norms(k: KernelBuilder, level: int) -> Title:
    """Norms and spreads of the columns of a matrix, whose rows come a tile at a time."""
    cols, inner = k.size("nt", 3, 6), k.size("kt", 2, 4)
    th, tw = k.draw.shape.choice(((8, 16), (8, 32), (16, 16)))
    x = _grid(k, "x table samples", f"{th}*{inner}", f"{tw}*{cols}")
    turns = k.size_param("k_tiles num_tiles count", inner)
    (j,) = blocks(k, cols, threads=64, names=("j",))
    total, said = k.let("total acc", filled(0.0, tw)), x.name
    kind = k.draw.shape.choice(("sums", "squares", "absolutes")[1 if level > 2 else 0 :])
    centre = None
    if level > 2 and k.draw.shape.chance(0.5):
        means = k.array("means centers", FLOAT32, f"{tw}*{cols}", low=-0.5, high=0.5)
        centre = k.let("mean_tile mu", load(means, j * tw, tw))
        said = f"({said} - {means.name})"
    weighted = level > 3 and k.draw.shape.chance(0.6)
    with k.for_("k step", turns) as step:
        tile: Var = k.let("tile part", load(x, (step * th, j * tw), th, tw))
        if centre is not None:
            tile = k.let("d centred", each("sub", tile, spread(centre, tile, axis=1)))
        parts: Expr = each("mul", tile, tile) if kind == "squares" else tile
        parts = each("abs", tile) if kind == "absolutes" else parts
        if weighted:
            weights = k.array("weights w", FLOAT32, f"{th}*{inner}", low=0.2, high=1.5)
            held = k.let("w_tile wt", load(weights, step * th, th))
            parts = each("mul", k.let("parts p", parts), spread(held, tile, axis=0))
        k.augment(total, "add", joined("sum", parts, 0))
    said = {"squares": f"{said}^2", "absolutes": f"|{said}|"}.get(kind, said)
    said = f"{weights.name} * {said}" if weighted else said
    result, what = total, f"sum of {said}"
    if kind == "squares" and k.draw.shape.chance(0.5):
        root = helper(k, "root norm_of", [("s", FLOAT32)], lambda _, s: sqrt(s + 1e-06))
        result, what = k.let("norms n", applied(k, root, total)), f"root of 1e-06 + the {what}"
    out = k.out("out col_results", FLOAT32, f"{tw}*{cols}")
    store(k, out, j * tw, result)
    return Title(
        k.name(f"column_{kind}", "reduce_columns"),
        f"Store in {out.name} for each column the {what} over the rows"
        f"{' (weights by row)' * weighted}: block j takes columns {tw} * j to {tw} * j + {tw - 1}, "
        f"{th} rows at a time.",
    )
