"""Ranks by counting: of each score in its row, and what is made of it."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var


@idiom
def rank_by_counting(k: KernelBuilder, level: int) -> Title:
    """The rank of each score in its row: how many come before; and what is made of it."""
    shape = k.draw.shape
    dims = shape.choice((("items",), ("rows", "items"), ("batch", "rows", "items")))
    for symbol in dims:
        items = (24, 36) if len(dims) == 1 else (9, 13)
        k.size(symbol, *{"batch": (2, 3), "rows": (4, 6), "items": items}[symbol])
    words = {"batch": "b", "rows": "row r", "items": "i item"}
    at = k.thread(*dims, names=[k.name(words[d]) for d in dims])
    whole = shape.chance(0.7)
    x = k.array(
        "scores values keys", INT32 if whole else FLOAT32, dims, low=0, high=9 if whole else 1
    )
    own = k.let("own value", x[at])
    way = shape.choice(("order", "percent", "scatter", *("average",) * whole))
    falling = way != "percent" and shape.chance(0.5)
    stop: Expr = extent(x, len(dims) - 1)
    if shape.chance(0.35):
        stop = k.size_param("num_items n_items", "items")
    rank = k.let("rank before position", k.lift(0, INT32))
    equal = k.let("ties equal_count", k.lift(0, INT32)) if way == "average" else None
    with k.for_("j c", stop) as j:
        other = k.let("other_value u", x[at[:-1] + (j,)])
        _compared(k, falling, (other, own), j < at[-1], rank, equal)
    order = "larger" if falling else "smaller"
    where_ = " in its row" if len(dims) > 1 else ""
    count = f"how many of {x.name}{where_} are {order}, or equal and before it"
    return _ranked(k, way, dims, at, (x, own, stop), (rank, equal), (count, order, where_))


def _compared(
    k: KernelBuilder,
    falling: bool,
    pair: tuple[Var, Var],
    before: Expr,
    rank: Var,
    equal: Var | None,
) -> None:
    """Count another element that comes first; of equal ones, that before, or all apart."""
    other, own = pair
    first = other > own if falling else other < own
    if equal is not None:
        with k.if_(first):
            k.augment(rank, "add", 1)
        with k.elif_(fn("eq", other, own)):
            k.augment(equal, "add", 1)
    elif other.type != INT32:
        with k.if_(before), k.if_(other >= own if falling else other <= own):
            k.augment(rank, "add", 1)
        with k.elif_(first):
            k.augment(rank, "add", 1)
    elif k.draw.shape.chance(0.5):
        with k.if_(first):
            k.augment(rank, "add", 1)
        with k.elif_(fn("and", fn("eq", other, own), before)):
            k.augment(rank, "add", 1)
    else:
        with k.if_(fn("or", first, fn("and", fn("eq", other, own), before))):
            k.augment(rank, "add", 1)


def _ranked(
    k: KernelBuilder,
    way: str,
    dims: tuple[str, ...],
    at: tuple[Var, ...],
    given: tuple[Var, Var, Expr],
    counts: tuple[Var, Var | None],
    said: tuple[str, str, str],
) -> Title:
    """What is stored of a rank: itself, a share, a mean over ties, or the value in its place."""
    (x, own, stop), (rank, equal), (count, order, where_) = given, counts, said
    if way == "scatter":
        out = k.out("sorted_out ordered", own.type, dims)
        k.store(out, (*at[:-1], rank), own)
        text = f"Sort by counting: each element goes to the place in {out.name} that is {count}."
        if k.draw.shape.chance(0.4):
            order_out = k.out("order source_ids", INT32, dims)
            k.store(order_out, (*at[:-1], rank), at[-1])
            text += f" {order_out.name} gets where it came from."
        rows = "rank_sort_rows sort_rows_by_rank"
        return Title(k.name("rank_sort scatter_by_rank" if len(dims) == 1 else rows), text)
    if way == "average" and equal is not None:
        value: Expr = cast(rank, FLOAT32) + 0.5 * cast(equal - 1, FLOAT32)
        out = k.out("ranks mean_ranks", FLOAT32, dims)
        text = f"{out.name} gets the rank of each element of {x.name}{where_}, from 0 by how many "
        text += f"are {order}; equal ones share the mean of their ranks."
        k.store(out, at, value)
        return Title(k.name("average_ranks spearman_ranks"), text)
    if way == "percent":
        out = k.out("percentile_ranks rank_shares", FLOAT32, dims)
        k.store(out, at, (cast(rank, FLOAT32) + 0.5) / cast(stop, FLOAT32))
        text = f"Percentile ranks as shares of 1: {out.name} gets (r + 0.5) / n for each of the n "
        text += f"elements{where_}, r being {count}."
        return Title(k.name("rank_percentiles hazen_ranks"), text)
    out = k.out("ranks ranks_out", INT32, dims)
    k.store(out, at, rank)
    names = "rank_by_counting count_ranks" if len(dims) == 1 else "rank_rows ranks_per_row"
    text = f"Rank by counting: {out.name} gets, for each element, {count}."
    return Title(k.name(names), text)
