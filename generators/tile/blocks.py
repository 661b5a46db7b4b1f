"""A block for each stretch of a list: elementwise kernels, sums, extremes, scans."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.build.tiles import blocks, each, filled, joined, load, scanned, store
from generators.program.dtypes import FLOAT32
from generators.program.expr import Var
from generators.tile.common import MONOTONE, function_of, scaled, steps, threads, width


def _list(k: KernelBuilder, names: str, count: str, size: int) -> Var:
    return k.array(names, FLOAT32, f"{size}*{count}", low=-2.0, high=2.0)


@idiom
def tiled_axpy(k: KernelBuilder, level: int) -> Title:
    """A sum of lists, each scaled, an element at a time."""
    count, n = k.size("tiles", 3, 9), width(k)
    names = ("x", "y", "z", "w")[: 2 + (level > 2 and k.draw.shape.chance(0.6))]
    lists = [_list(k, name, count, n) for name in names]
    (i,) = blocks(k, count, threads=threads(k, n))
    total, said = None, []
    for array in lists:
        tile: Var = k.let(f"{array.name}_tile t{array.name}", load(array, i * n, n))
        words = array.name
        if array is not lists[-1] or level > 3:
            more, factor = scaled(k, tile)
            tile, words = k.let(f"{array.name}_scaled s{array.name}", more), f"{factor} * {words}"
        said.append(words)
        total = tile if total is None else k.let("total acc sum", each("add", total, tile))
    assert total is not None
    result, after = steps(k, level - 1 or 1, total)
    out = k.out("out result", FLOAT32, f"{n}*{count}")
    store(k, out, i * n, result)
    return Title(
        k.name("tiled_axpy", "add_lists"),
        f"Block i takes elements {n} * i to {n} * i + {n - 1} of {' + '.join(said)}{after}, and "
        f"stores them in the same places of {out.name}.",
    )


@idiom
def block_total(k: KernelBuilder, level: int) -> Title:
    """A sum of each stretch of a list."""
    count, n = k.size("tiles", 6, 14), width(k)
    x = _list(k, "x data samples", count, n)
    (i,) = blocks(k, count, threads=threads(k, n))
    tile, said = steps(k, level, k.let("tile t", load(x, i * n, n)))
    if level > 2 and k.draw.shape.chance(0.6):
        weights = _list(k, "weights w", count, n)
        held = k.let("w_tile wt", load(weights, i * n, n))
        tile = k.let("weighted p", each("mul", tile, held))
        said += f", multiplies by the same elements of {weights.name}"
    total, what = k.let("total s", joined("sum", tile)), "sum"
    if level > 1 and k.draw.shape.chance(0.4):
        total = k.let("mean average", each("div", total, float(n)))
        what = "mean"
    out = k.out("sums partial", FLOAT32, (count,))
    store(k, out, i, total)
    return Title(
        k.name("block_sum", "tile_total"),
        f"Block i takes the {n} elements of {x.name} from {n} * i on{said}, and stores their "
        f"{what} in {out.name}[i].",
    )


@idiom
def block_extremes(k: KernelBuilder, level: int) -> Title:
    """The least and the largest element of each stretch of a list."""
    count, n = k.size("tiles", 9, 17), width(k)
    x = _list(k, "x data heights", count, n)
    (i,) = blocks(k, count, threads=threads(k, n))
    # Elsewhere all stretches would have the same extremes, those of the function.
    tile, said = steps(k, level, k.let("tile t", load(x, i * n, n)), MONOTONE)
    kind = k.draw.shape.choice(("max", "min", "range", "both"))
    found = {}
    if kind != "min":
        found["largest"] = k.let("top largest", joined("max", tile))
    if kind != "max":
        found["least"] = k.let("bottom least", joined("min", tile))
    if kind == "range":
        value = k.let("spread_of gap", each("sub", found["largest"], found["least"]))
        found = {"difference of the largest and the least": value}
    told = []
    for words, value in found.items():
        out = k.out(f"{value.name}_out {value.name}s", FLOAT32, (count,))
        store(k, out, i, value)
        told.append(f"the {words} of them in {out.name}[i]")
    return Title(
        k.name("block_extremes", "tile_range"),
        f"Block i takes the {n} elements of {x.name} from {n} * i on{said}, and stores "
        f"{' and '.join(told)}.",
    )


@idiom
def block_scan(k: KernelBuilder, level: int) -> Title:
    """Inclusive prefix sums within each stretch of a list."""
    count, n = k.size("tiles", 3, 9), k.draw.shape.choice((64, 128))
    x = _list(k, "x counts data", count, n)
    (i,) = blocks(k, count, threads=n)
    tile, said = steps(k, level, k.let("tile t", load(x, i * n, n)))
    sums = k.let("sums prefix running", scanned(tile))
    value, after = sums, ""
    if level > 2:
        form = k.draw.shape.choice(("exclusive", "residual"))
        if form == "exclusive":
            value = k.let("before exclusive", each("sub", sums, tile))
            after = ", less the element itself"
        else:
            value = k.let("blend mixed", each("add", sums, tile))
            after = ", plus the element itself"
    if level > 3:
        more, words = scaled(k, value)
        value, after = k.let("scaled_sums r", more), f"{after}, times {words}"
    out = k.out("out scanned", FLOAT32, f"{n}*{count}")
    store(k, out, i * n, value)
    if level > 4 or (level > 1 and k.draw.shape.chance(0.3)):
        whole = k.let("whole total", joined("sum", tile))
        totals = k.out("totals block_sums", FLOAT32, (count,))
        store(k, totals, i, whole)
        after += f"; the sum of all goes to {totals.name}[i]"
    return Title(
        k.name("block_scan", "tile_prefix_sum"),
        f"Block i takes the {n} elements of {x.name} from {n} * i on{said}, and stores the sum of "
        f"each and those before it among them in the same place of {out.name}{after}.",
    )


@idiom
def long_rows(k: KernelBuilder, level: int) -> Title:
    """Sums along rows of several tiles, a tile at a time."""
    m, n = k.size("m", 6, 12), k.draw.shape.choice((64, 128))
    chunks = k.size("chunks", 2, 4)
    x = k.array("x rows table", FLOAT32, (m, f"{n}*{chunks}"), low=-2.0, high=2.0)
    turns = k.size_param("chunks_a_row tiles_a_row count", chunks)
    (i,) = blocks(k, m, threads=threads(k, n))
    acc = k.let("acc total", filled(0.0, n))
    said = ""
    with k.for_("c step", turns) as c:
        part = k.let("part chunk", load(x, (i, c * n), n))
        if level > 1:
            value, words = function_of(k, part)
            part, said = k.let("f value", value), f", each v as {words}"
        if level > 3:
            y = k.array("y others", FLOAT32, (m, f"{n}*{chunks}"), low=-2.0, high=2.0)
            other = k.let("other q", load(y, (i, c * n), n))
            part, said = k.let("both", each("mul", part, other)), f"{said}, times that of {y.name}"
        k.augment(acc, "add", part)
    result: Var = k.let("s row_sum", joined("sum", acc))
    if level > 2:
        more, words = scaled(k, result)
        result, said = k.let("weighted", more), f"{said}, the sum times {words}"
    out = k.out("out sums", FLOAT32, (m,))
    store(k, out, i, result)
    return Title(
        k.name("long_row_sums", "sum_row_tiles"),
        f"Block i sums the elements of row i of {x.name}, {n} at a time{said}, and stores the sum "
        f"in {out.name}[i].",
    )


@idiom
def row_totals(k: KernelBuilder, level: int) -> Title:
    """A sum of each row, to which every block of a row adds its own atomically."""
    m, n = k.size("m", 5, 8), k.draw.shape.choice((64, 128))
    chunks = k.size("chunks", 2, 3)
    x = k.array("x table samples", FLOAT32, (m, f"{n}*{chunks}"), low=-2.0, high=2.0)
    i, j = blocks(k, m, chunks, threads=threads(k, n))
    tile, said = steps(k, level, k.let("tile part", load(x, (i, j * n), n)))
    if level > 2 and k.draw.shape.chance(0.6):
        weights = k.array("weights w", FLOAT32, f"{n}*{chunks}", low=0.2, high=1.5)
        held = k.let("w_tile wt", load(weights, j * n, n))
        tile = k.let("weighted p", each("mul", tile, held))
        said += f", multiplies by the same columns of {weights.name}"
    total = k.let("total s", joined("sum", tile))
    out = k.accumulator("sums totals", FLOAT32, (m,))
    store(k, out, i, total, "add")
    return Title(
        k.name("row_totals", "add_row_tiles"),
        f"Block (i, j) takes the {n} elements of row i of {x.name} from column {n} * j on{said}, "
        f"and adds their sum to {out.name}[i] atomically.",
    )
