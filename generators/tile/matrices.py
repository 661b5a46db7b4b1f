"""A block for each tile of a matrix: products, transposes, sums along rows and columns."""

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
    shaped,
    spread,
    store,
    transposed,
)
from generators.kit.functions import sqrt
from generators.kit.naming import helper
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.tile.common import function_of, scaled

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
        result, words = scaled(k, acc, "alpha scale")
        result, said = k.let("scaled s", result), f", times {words}"
    if level > 2:
        bias = k.array("bias offsets", FLOAT32, cols, low=-0.5, high=0.5)
        row = k.let("b_row shift", load(bias, j * side, side))
        result = k.let("biased z", each("add", result, spread(row, acc, axis=1)))
        said += f", plus {bias.name} of its column"
    if level > 3 and k.draw.shape.chance(0.6):
        result, words = function_of(k, result, "relu leaky_relu silu gelu elu")
        said += f", then each element v through {words}"
    return result, said


def _kept(
    k: KernelBuilder, value: Expr, dims: tuple[str, str], at: tuple[Expr, Expr]
) -> tuple[Expr, str]:
    """A product beside what stood there before: BLAS' beta, or a residual; in words."""
    side = shaped(value).shape
    before = k.array("c_in residual", FLOAT32, dims, low=-1.5, high=1.5)
    held = k.let("c_old held", load(before, at, *side))
    value = value if isinstance(value, Var) else k.let("product ab", value)
    if before.name == "residual":
        return each("add", value, held), ", plus residual"
    more, factor = scaled(k, held, "beta")
    return each("add", value, k.let("kept", more)), f", plus {factor} * {before.name}"


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
    if level > 2 and k.draw.shape.chance(0.15 * level - 0.2):
        result, more = _kept(k, result, (f"{tm}*{rows}", f"{tn}*{cols}"), (i * tm, j * tn))
        said += more
    out = k.out("c out", FLOAT32, (f"{tm}*{rows}", f"{tn}*{cols}"))
    store(k, out, (i * tm, j * tn), result)
    return Title(
        k.name("tiled_matmul", "tile_gemm", "matmul_tiles"),
        f"Compute {out.name} = {a.name} times {b.name}{said}: block (i, j) has the {tm} by {tn} "
        f"tile at row {tm} * i and column {tn} * j, {tk} of the inner dimension at a time.",
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
    if level > 2 and k.draw.shape.chance(0.15 * level - 0.2):
        result, more = _kept(k, result, (f"{side}*{rows}", f"{side}*{cols}"), (i * side, j * side))
        said += more
    out = k.out("out scores", FLOAT32, (f"{side}*{rows}", f"{side}*{cols}"))
    store(k, out, (i * side, j * side), result)
    return Title(
        k.name("tiled_row_products", "matmul_transposed"),
        f"Compute {out.name} = {a.name} times the transpose of {b.name}{said}: block (i, j) has "
        f"the {side} by {side} tile at row {side} * i and column {side} * j, {tk} of the inner "
        "dimension at a time.",
    )


@idiom
def tiled_transpose(k: KernelBuilder, level: int) -> Title:
    """A transpose, scaled, masked or added to another matrix on the way."""
    rows, cols = k.size("mt", 2, 3), k.size("nt", 2, 4)
    th, tw = k.draw.shape.choice(_SIDES)
    x = _grid(k, "x image a", f"{th}*{rows}", f"{tw}*{cols}")
    i, j = blocks(k, rows, cols, threads=_threads(k))
    shared = k.draw.shape.chance(0.4)
    held = k.let("tile patch", load(x, (i * th, j * tw), th, tw, shared=shared))
    form = k.draw.shape.choice(_TURNS[level])
    tile, said = held, x.name
    if "scale" in form:
        more, factor = scaled(k, held, "alpha scale")
        tile, said = k.let("scaled s", more), f"{factor} * {x.name}"
    if "mask" in form:
        y = k.array("mask keep", FLOAT32, (f"{th}*{rows}", f"{tw}*{cols}"), low=0.0, high=1.0)
        other = k.let("mask_tile m", load(y, (i * th, j * tw), th, tw))
        tile = k.let("masked p", each("mul", tile, other))
        said += f" times {y.name}, element by element"
    turned: Expr = k.let("turned flipped", transposed(tile))
    dims, at = (f"{tw}*{cols}", f"{th}*{rows}"), (j * tw, i * th)
    if "add" in form:
        z = _grid(k, "b addend", *dims)
        second = k.let("b_tile second", load(z, at, tw, th))
        after = f", plus {z.name}"
        if "beta" in form:
            more, factor = scaled(k, second, "beta")
            second, after = k.let("b_scaled kept", more), f", plus {factor} * {z.name}"
        turned = each("add", turned, second)
        said += after if "mask" not in form else ""
    out = k.out("out xt", FLOAT32, dims)
    store(k, out, at, turned)
    plain = after.removeprefix(", plus ") if "add" in form else ""
    what = f"the transpose of {said.split(', plus')[0]}{f', plus {plain}' if plain else ''}"
    return Title(
        k.name("tiled_transpose", "transpose_tiles"),
        f"Store in {out.name} {what}: block (i, j) takes the {th} by {tw} tile at row {th} * i and "
        f"column {tw} * j, and stores that tile's at row {tw} * j and column {th} * i.",
    )


_TURNS = {
    1: ("plain",),
    2: ("scale", "plain"),
    3: ("scale", "add", "mask"),
    4: ("scale add", "mask scale", "add"),
    5: ("scale add beta", "mask add", "mask scale add"),
}
"""What is done on the way of a transpose, by level."""


_WORDS = {"sum": "sum", "max": "largest element", "min": "least element"}
_TILE_FORMS = {
    1: ("sum", "max", "min"),
    2: ("mean", "sum", "absmax"),
    3: ("centre", "absmax", "mean"),
    4: ("centre", "scale", "share"),
    5: ("standardise", "scale", "share"),
}
"""What is made of the rows or columns of a tile, by level."""


@idiom
def axis_sums(k: KernelBuilder, level: int) -> Title:
    """Statistics of the rows or columns of a tile, and tiles normalised by them."""
    rows, cols = k.size("mt", 2, 3), k.size("nt", 2, 4)
    th, tw = k.draw.shape.choice(_SIDES)
    form, axis = k.draw.shape.choice(_TILE_FORMS[level]), k.draw.shape.integer(0, 1)
    low = 0.1 if form == "share" else -1.5
    x = k.array("x table values", FLOAT32, (f"{th}*{rows}", f"{tw}*{cols}"), low=low, high=1.5)
    i, j = blocks(k, rows, cols, threads=_threads(k))
    tile = k.let("tile patch", load(x, (i * th, j * tw), th, tw))
    part, length = ("column", "row")[axis], (th, tw)[axis]
    opening = f"Block (i, j) takes the {th} by {tw} tile of {x.name} at row {th} * i and column "
    opening += f"{tw} * j and stores "
    if form in ("centre", "scale", "share", "standardise"):
        result, said = _normalised(k, form, tile, axis, length)
        out = k.out("out normed", FLOAT32, (f"{th}*{rows}", f"{tw}*{cols}"))
        store(k, out, (i * th, j * tw), result)
        names = f"{form}_tiles {form}_tile_{part}s"
        return Title(k.name(names), f"{opening}it in {out.name}, each {part} {said}.")
    value: Expr = tile
    words = _WORDS.get(form, "largest magnitude" if form == "absmax" else form)
    if form == "absmax":
        value = k.let("sizes mags", each("abs", tile))
    how = {"absmax": "max", "mean": "sum"}.get(form, form)
    found = k.let("found along", joined(how, value, axis))
    if form == "mean":
        found = k.let("mean average", each("div", found, float(length)))
    side, first, second = (tw, "i", "j") if axis == 0 else (th, "j", "i")
    dims = (rows, f"{tw}*{cols}") if axis == 0 else (cols, f"{th}*{rows}")
    out = k.out(f"{form}s tile_{form}", FLOAT32, dims)
    store(k, out, (i, j * tw) if axis == 0 else (j, i * th), found)
    return Title(
        k.name(f"tile_{part}_{form} {part}_{form}s_of_tiles"),
        f"{opening}the {words} of each of its {part}s in row {first} of {out.name}, from column "
        f"{side} * {second} on.",
    )


def _normalised(k: KernelBuilder, form: str, tile: Var, axis: int, length: int) -> tuple[Expr, str]:
    """A tile normalised along an axis, and how."""

    def like(value: Expr) -> Expr:
        return spread(value, tile, axis=1 - axis)

    if form == "scale":
        sizes = k.let("sizes mags", each("abs", tile))
        top = k.let("absmax peak", joined("max", sizes, axis))
        bound = helper(k, "inverse one_over", [("v", FLOAT32)], lambda _, v: 1.0 / (v + 1e-06))
        factor = k.let("scale inv_scale", applied(k, bound, top))
        return each("mul", tile, like(factor)), "over its largest magnitude plus 1e-6"
    total = k.let("total along", joined("sum", tile, axis))
    if form == "share":
        return each("div", tile, like(total)), "over its sum"
    mean = k.let("mean average", each("div", total, float(length)))
    d = k.let("d centred", each("sub", tile, like(mean)))
    if form == "centre":
        return d, "less its mean"
    var = k.let("var power", each("div", joined("sum", each("mul", d, d), axis), float(length)))
    rstd = helper(k, "rstd inv_root", [("v", FLOAT32)], lambda _, v: 1.0 / sqrt(v + 1e-05))
    factor = k.let("inv inv_std", applied(k, rstd, var))
    return each("mul", d, like(factor)), "less its mean, over the root of its variance plus 1e-05"
