"""A block for each tile of a matrix: products, transposes, sums along rows and columns."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.build.tiles import (
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
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.tile.common import function_of, scaled, steps

_PRODUCTS = ((8, 8), (8, 16), (16, 8), (16, 16))
_SIDES = ((8, 16), (16, 8), (8, 32), (16, 16))


def _grid(k: KernelBuilder, names: str, rows: str, cols: str) -> Var:
    return k.array(names, FLOAT32, (rows, cols), low=-1.5, high=1.5)


def _threads(k: KernelBuilder) -> int:
    return k.draw.shape.choice((64, 128))


def _finished(
    k: KernelBuilder, level: int, acc: Var, j: Var, cols: str, side: int
) -> tuple[Expr, str]:
    """What libraries do with a product before they store it, and that in words."""
    result: Expr = acc
    said = ""
    if level > 1 and k.draw.shape.chance(0.6):
        result, words = scaled(k, acc)
        result, said = k.let("scaled s", result), f", times {words}"
    if level > 2:
        bias = k.array("bias offsets", FLOAT32, cols, low=-0.5, high=0.5)
        row = k.let("b_row shift", load(bias, j * side, side))
        result = k.let("biased z", each("add", result, spread(row, acc, axis=1)))
        said += f", plus {bias.name} of its column"
    if level > 3:
        result, words = function_of(k, result, "relu leaky_relu silu gelu sigmoid elu")
        said += f", then v replaced by {words}"
    return result, said


@idiom
def tiled_matmul(k: KernelBuilder, level: int) -> Title:
    """A product of matrices with what follows it."""
    rows, cols, inner = k.size("mt", 2, 3), k.size("nt", 2, 4), k.size("kt", 2, 4)
    tm, tn = k.draw.shape.choice(_PRODUCTS)
    tk = 8
    a = _grid(k, "a left", f"{tm}*{rows}", f"{tk}*{inner}")
    b = _grid(k, "b right", f"{tk}*{inner}", f"{tn}*{cols}")
    turns = k.size_param("k_tiles count depth", inner)
    i, j = blocks(k, rows, cols, threads=_threads(k))
    acc = k.let("acc total c_tile", filled(0.0, tm, tn))
    shared = k.draw.shape.chance(0.4)
    with k.for_("k step", turns) as step:
        at = k.let("a_tile at", load(a, (i * tm, step * tk), tm, tk, shared=shared))
        bt = k.let("b_tile bt", load(b, (step * tk, j * tn), tk, tn, shared=shared))
        multiply(k, acc, at, bt)
    result, said = _finished(k, level, acc, j, f"{tn}*{cols}", tn)
    out = k.out("c out", FLOAT32, (f"{tm}*{rows}", f"{tn}*{cols}"))
    store(k, out, (i * tm, j * tn), result)
    return Title(
        k.name("tiled_matmul", "tile_gemm", "matmul_tiles"),
        f"Block (i, j) computes the {tm} by {tn} tile of {a.name} times {b.name} at row {tm} * i "
        f"and column {tn} * j, {tk} of the inner dimension at a time{said}, and stores it in "
        f"{out.name}.",
    )


@idiom
def tiled_row_products(k: KernelBuilder, level: int) -> Title:
    """A product of a matrix with the transpose of another: rows of one with rows of the other."""
    rows, cols, inner = k.size("mt", 2, 3), k.size("nt", 2, 4), k.size("kt", 2, 3)
    side, tk = k.draw.shape.choice((8, 16)), k.draw.shape.choice((4, 8))
    a = _grid(k, "a queries x", f"{side}*{rows}", f"{tk}*{inner}")
    b = _grid(k, "b keys y", f"{side}*{cols}", f"{tk}*{inner}")
    turns = k.size_param("k_tiles count depth", inner)
    i, j = blocks(k, rows, cols, threads=64)
    acc = k.let("acc products", filled(0.0, side, side))
    with k.for_("k step", turns) as step:
        left = k.let("left at", load(a, (i * side, step * tk), side, tk))
        right = k.let("right bt", load(b, (j * side, step * tk), side, tk))
        turned = k.let("right_t turned", transposed(right))
        multiply(k, acc, left, turned)
    result, said = _finished(k, level, acc, j, f"{side}*{cols}", side)
    out = k.out("out scores", FLOAT32, (f"{side}*{rows}", f"{side}*{cols}"))
    store(k, out, (i * side, j * side), result)
    return Title(
        k.name("tiled_row_products", "matmul_transposed"),
        f"Block (i, j) computes the {side} by {side} tile of {a.name} times the transpose of "
        f"{b.name} at row {side} * i and column {side} * j, {tk} of the inner dimension at a time"
        f"{said}, and stores it in {out.name}.",
    )


@idiom
def tiled_transpose(k: KernelBuilder, level: int) -> Title:
    """A transpose, with functions of each element on the way."""
    rows, cols = k.size("mt", 2, 3), k.size("nt", 2, 4)
    th, tw = k.draw.shape.choice(_SIDES)
    x = _grid(k, "x image a", f"{th}*{rows}", f"{tw}*{cols}")
    i, j = blocks(k, rows, cols, threads=_threads(k))
    shared = k.draw.shape.chance(0.4)
    held = k.let("tile patch", load(x, (i * th, j * tw), th, tw, shared=shared))
    tile, said = steps(k, level, held)
    if level > 3:
        y = _grid(k, "y other", f"{th}*{rows}", f"{tw}*{cols}")
        other = k.let("second q", load(y, (i * th, j * tw), th, tw))
        tile = k.let("both p", each("mul", tile, other))
        said += f", multiplies by the same tile of {y.name}"
    turned = k.let("turned flipped", transposed(tile))
    out = k.out("out xt", FLOAT32, (f"{tw}*{cols}", f"{th}*{rows}"))
    store(k, out, (j * tw, i * th), turned)
    return Title(
        k.name("tiled_transpose", "transpose_tiles"),
        f"Block (i, j) takes the {th} by {tw} tile of {x.name} at row {th} * i and column "
        f"{tw} * j{said}, and stores its transpose in {out.name} at row {tw} * j and column "
        f"{th} * i.",
    )


_WORDS = {"sum": "sum", "max": "largest element", "min": "least element"}


@idiom
def axis_sums(k: KernelBuilder, level: int) -> Title:
    """Sums or extremes of the rows or columns of a tile, and the tile less or over them."""
    rows, cols = k.size("mt", 2, 3), k.size("nt", 2, 4)
    th, tw = k.draw.shape.choice(_SIDES)
    x = _grid(k, "x table values", f"{th}*{rows}", f"{tw}*{cols}")
    i, j = blocks(k, rows, cols, threads=_threads(k))
    held = k.let("tile patch", load(x, (i * th, j * tw), th, tw))
    tile, said = steps(k, max(1, level - 1), held)
    axis = k.draw.shape.integer(0, 1)
    how = k.draw.shape.choice(("sum", "sum", "max", "min"))
    found = k.let("found along", joined(how, tile, axis))
    words, part = _WORDS[how], ("columns", "rows")[axis]
    if how == "sum" and level > 1:
        found, words = k.let("mean average", each("div", found, float((th, tw)[axis]))), "mean"
    what = f"the {words} of each of its {part}"
    if level > 2:
        like = spread(found, tile, axis=1 - axis)
        moved = k.let("moved d", each("sub", tile, like))
        if level > 3:
            moved = k.let("squared d2", each("mul", moved, moved))
        out = k.out("out centred", FLOAT32, (f"{th}*{rows}", f"{tw}*{cols}"))
        store(k, out, (i * th, j * tw), moved)
        last = f"subtracts {what}{', squares that' if level > 3 else ''}, and stores the tile in "
        last += f"the same place of {out.name}"
    elif axis == 0:
        out = k.out("out sums", FLOAT32, (rows, f"{tw}*{cols}"))
        store(k, out, (i, j * tw), found)
        last = f"stores {what} in {out.name} at row i, from column {tw} * j on"
    else:
        out = k.out("out sums", FLOAT32, (cols, f"{th}*{rows}"))
        store(k, out, (j, i * th), found)
        last = f"stores {what} in {out.name} at row j, from column {th} * i on"
    return Title(
        k.name("axis_sums", "tile_axis"),
        f"Block (i, j) takes the {th} by {tw} tile of {x.name} at row {th} * i and column "
        f"{tw} * j{said}, and {last}.",
    )
