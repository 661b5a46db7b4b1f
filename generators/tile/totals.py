"""Rows of several tiles: sums along them, statistics in passes, sums shared by blocks."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.build.tiles import applied, blocks, each, filled, joined, load, spread, store
from generators.kit.functions import sqrt
from generators.kit.naming import helper
from generators.program.dtypes import FLOAT32
from generators.program.expr import Var
from generators.tile.common import threads
from generators.tile.terms import term


@idiom
def long_rows(k: KernelBuilder, level: int) -> Title:
    """Sums along rows of several tiles, a tile at a time; variances and norms in passes."""
    m, n = k.size("m", 6, 12), k.draw.shape.choice((64, 128))
    chunks = k.size("chunks", 2, 4)
    dims = (m, f"{n}*{chunks}")
    x = k.array("x rows table", FLOAT32, dims, low=-2.0, high=2.0)
    turns = k.size_param("chunks_a_row num_chunks count", chunks)
    (i,) = blocks(k, m, threads=threads(k, n))
    if level >= 3 and k.draw.shape.chance(0.25 * level - 0.4):
        return _in_passes(k, x, (dims, n), i, turns)
    acc = k.let("acc total", filled(0.0, n))
    shared = k.draw.shape.chance(0.3)
    with k.for_("c step", turns) as c:

        def other(names: str, low: float, high: float) -> tuple[Var, str]:
            array = k.array(names, FLOAT32, dims[1:] if shared else dims, low=low, high=high)
            place = c * n if shared else (i, c * n)
            name = array.name
            return k.let(f"{name}_part {name}_chunk", load(array, place, n)), name

        part = term(k, level, k.let("part chunk", load(x, (i, c * n), n)), x.name, other)
        k.augment(acc, "add", part.tile)
    result: Var = k.let("s row_sum", joined("sum", acc))
    what = "sum"
    if part.squared and k.draw.shape.chance(0.4):
        result, what = k.let("norm root", each("sqrt", result)), "root of the sum"
    out = k.out("sums row_sums" if what == "sum" else "norms row_norms", FLOAT32, (m,))
    store(k, out, i, result)
    return Title(
        k.name(f"row_{part.called}", f"long_row_{part.called}"),
        f"Block i goes along row i, {n} columns at a time, and stores the {what} of {part.words} "
        f"over the row in {out.name}[i]{_along(shared, part.words, x)}.",
    )


def _along(shared: bool, words: str, x: Var) -> str:
    """What a list beside a table is, in words."""
    plain = words in (x.name, f"{x.name}^2", f"|{x.name}|") or words.startswith("exp(")
    return (
        "; what stands beside the table has an element for each column"
        if shared and not plain
        else ""
    )


def _in_passes(
    k: KernelBuilder, x: Var, of: tuple[tuple[str, str], int], i: Var, turns: Var
) -> Title:
    """A mean, then a variance about it, then the row standardised; or the row over its norm."""
    (m, _), n = of
    form = k.draw.shape.choice(("variance", "standardise", "normalise"))
    size = k.scalar("inv_length inv_width", FLOAT32, low=0.004, high=0.008)
    acc = k.let("acc total", filled(0.0, n))
    mean: Var | None = None
    if form != "normalise":
        with k.for_("c step", turns) as c:
            k.augment(acc, "add", k.let("part chunk", load(x, (i, c * n), n)))
        mean = k.let("mean mu", each("mul", joined("sum", acc), size))
    squares = k.let("sq_acc squares", filled(0.0, n))
    with k.for_("q turn", turns) as q:
        tile: Var = k.let("again x_tile", load(x, (i, q * n), n))
        if mean is not None:
            tile = k.let("d centred", each("sub", tile, spread(mean, tile)))
        k.augment(squares, "add", each("mul", tile, tile))
    power = k.let("var power", each("mul", joined("sum", squares), size))
    first = f"the mean of row i of {x.name}, {size.name} times its sum"
    second = f"the variance about it, {size.name} times the sum of squares"
    if form == "variance":
        out = k.out("variances row_var", FLOAT32, (m,))
        store(k, out, i, power)
        text = f"Row variances in two passes of {n} columns at a time: block i finds {first}, and "
        return Title(
            k.name("row_variance two_pass_variance"), f"{text}stores {second}, in {out.name}[i]."
        )
    if mean is None:
        first = f"{size.name} times the sum of squares of row i of {x.name}"
    else:
        first += f", and {second}"
    return _rewritten(k, x, of, (i, turns), (power, mean), first)


def _rewritten(
    k: KernelBuilder,
    x: Var,
    of: tuple[tuple[str, str], int],
    at: tuple[Var, Var],
    found: tuple[Var, Var | None],
    said: str,
) -> Title:
    """The last pass: each row less its mean, if there is one, over a root."""
    (dims, n), (i, turns), (power, mean) = of, at, found
    rstd = helper(k, "rstd inv_root", [("v", FLOAT32)], lambda _, v: 1.0 / sqrt(v + 1e-05))
    factor = k.let("inv scale_by", applied(k, rstd, power))
    out = k.out("out normed", FLOAT32, dims)
    with k.for_("w write", turns) as w:
        last: Var = k.let("last x_last", load(x, (i, w * n), n))
        if mean is not None:
            last = k.let("moved shifted", each("sub", last, spread(mean, last)))
        store(k, out, (i, w * n), each("mul", last, spread(factor, last)))
    passes, less = ("three", "less the mean, ") if mean is not None else ("two", "")
    text = (
        f"Normalise long rows in {passes} passes of {n} columns at a time: block i finds {said}; "
    )
    text += f"{out.name} gets the row {less}over the root of that plus 1e-05."
    names = "standardise_long_rows" if mean is not None else "rms_norm_long_rows"
    return Title(k.name(names, "normalise_rows"), text)


@idiom
def row_totals(k: KernelBuilder, level: int) -> Title:
    """A sum of each row, to which every block of a row adds its own atomically."""
    m, n = k.size("m", 5, 8), k.draw.shape.choice((64, 128))
    chunks = k.size("chunks", 2, 3)
    dims = (m, f"{n}*{chunks}")
    x = k.array("x table samples", FLOAT32, dims, low=-2.0, high=2.0)
    i, j = blocks(k, m, chunks, threads=threads(k, n))
    shared = k.draw.shape.chance(0.6)

    def other(names: str, low: float, high: float) -> tuple[Var, str]:
        array = k.array(names, FLOAT32, dims[1:] if shared else dims, low=low, high=high)
        name = array.name
        place = j * n if shared else (i, j * n)
        return k.let(f"{name}_part {name}_tile", load(array, place, n)), name

    part = term(k, level, k.let("tile part", load(x, (i, j * n), n)), x.name, other)
    total = k.let("total s", joined("sum", part.tile))
    out = k.accumulator("sums totals", FLOAT32, (m,))
    store(k, out, i, total, "add")
    names = {"dot": "split_matvec matvec_tiles"} if shared else {}
    return Title(
        k.name(names.get(part.called, f"row_{part.called} add_row_{part.called}")),
        f"Row sums by several blocks each: block (i, j) takes columns {n} * j to {n} * j + {n - 1} "
        f"of row i and adds the sum of {part.words} over them to {out.name}[i] atomically"
        f"{_along(shared, part.words, x)}.",
    )
