"""Small sorts in each row: medians, ranks, insertion, k-th entries."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.old import also, either, rows_of, shown
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op


@idiom
@with_struct
def small_sorts(k: KernelBuilder, level: int) -> Title:
    """The order of a few numbers in each row: medians, ranks, sorted rows, k-th entries."""
    shape = k.draw.shape
    whole = shape.chance(0.4)
    s = (
        Scalar(shape.choice(("int32", "int64", "int16", "uint8")))
        if whole
        else k.draw.wide_float_type()
    )
    form = shape.choice(
        ("median3", "sort", "rank", "kth") if level >= 2 else ("median3", "rank", "sort")
    )
    low, high = (0, 200) if whole else (-2.0, 2.0)
    rows = k.size("rows", 48, 72)
    if form == "median3":
        return _median(k, level, s, rows, (low, high))
    table, row, count = rows_of(k, ("values", "samples", "scores"), s, low, high)
    if form == "sort":
        return _sorted_row(k, level, s, table, row, count)
    if form == "rank":
        pivot = k.array(("pivot", "probe", "reference"), s, "rows", low=low, high=high)
        out = k.out(("rank", "below"), INT32, "rows")
        ties = also(k, 0.0 if level < 2 else 0.6, ("above", "larger"), INT32, "rows")
        p = k.let(("p", "pivot_value"), pivot[row])
        less, more = (
            k.let(("less", "n_below"), k.lift(0, INT32)),
            k.let(("more", "n_above"), k.lift(0, INT32)),
        )
        margin = (
            either(k, ("margin", "gap"), s, *((5, 20) if whole else (0.1, 0.3)))
            if level >= 3
            else None
        )
        with k.for_(("j", "c"), count) as j:
            v = k.let(("v", "x"), table[row, j])
            with k.if_(v + margin < p if margin is not None else v < p):
                k.augment(less, "add", 1)
            with k.elif_(v > p + margin if margin is not None else v > p):
                k.augment(more, "add", 1)
        k.store(out, row, less if ties is not None else less - more)
        if ties is not None:
            k.store(ties, row, more)
        far = f" by more than {shown(margin)}" if margin is not None else ""
        done = (
            f"Count in each row of {table.name} the entries "
            f"below{far} and above{far} its {pivot.name}: "
        )
        done += (
            f"{out.name} gets "
            f"{'the first' if ties is not None else 'the first less the second'} number"
        )
        done += f", {ties.name} the second" if ties is not None else ""
        return Title(k.name("rank_in_row", "count_order", "row_rank"), f"{done}.")
    order = k.scalar(("order", "k"), INT32, 1, 3)
    out = k.out(("kth", "selected"), s, "rows")
    index = also(k, 0.5, ("kth_index", "where_found"), INT32, "rows")
    value = k.let(("value", "picked"), table[row, 0])
    at = k.let(("at", "where_"), k.lift(0, INT32)) if index is not None else None
    with k.for_(("j", "c"), count) as j:
        v = k.let(("v", "candidate"), table[row, j])
        smaller = k.let(("smaller", "below"), k.lift(0, INT32))
        with k.for_(("m", "q"), count) as m:
            other = table[row, m]
            earlier = op("and", fn("eq", other, v), m < j) if whole else other < v
            with k.if_(op("or", other < v, earlier) if whole else other < v):
                k.augment(smaller, "add", 1)
        with k.if_(fn("eq", smaller, order % count)):
            k.assign(value, v)
            if at is not None:
                k.assign(at, j)
            k.break_()
    k.store(out, row, value)
    length = shown(count) if isinstance(count, Var) else "row length"
    done = f"Find in each row of {table.name} the entry that exactly {order.name} % {length} "
    done += "others are smaller than"
    done += " (equal ones count when they stand before)" if whole else ""
    done += f"; it goes to {out.name}"
    if index is not None and at is not None:
        k.store(index, row, at)
        done += f", its column to {index.name}"
    return Title(k.name("kth_smallest", "select_kth", "order_statistic"), f"{done}.")


def _median(
    k: KernelBuilder, level: int, s: Scalar, rows: str, bounds: tuple[float, float]
) -> Title:
    shape = k.draw.shape
    low, high = bounds
    names = k.draw.word.choice(
        (("a", "b", "c"), ("red", "green", "blue"), ("left", "center", "right"))
    )
    arrays = [k.array(name, s, rows, low=low, high=high) for name in names]
    out = k.out(("median", "middle_value", "out"), s, rows)
    spread = also(k, 0.0 if level < 2 else 0.6, ("spread", "range_out"), s, rows)
    swap_style = shape.choice(("network", "cases", "minmax"))
    (i,) = k.thread(rows, names=(k.name("i", "tid"),))
    a, b, c = (k.let((n[0], f"{n[0]}_v"), array[i]) for n, array in zip(names, arrays, strict=True))
    if level >= 3:
        weight = 2 if s.is_int else 1.5
        pick = k.draw.value.choice((0, 1, 2))
        flag = k.array(("boost", "emphasis"), INT32, rows, low=0, high=1)
        chosen = (a, b, c)[pick]
        if s.name not in ("uint8", "int16"):
            with k.if_(fn("eq", flag[i], 1)):
                k.augment(chosen, "mul", weight)
            note = f" Where {flag.name} is 1, {names[pick]} is first multiplied by {weight}."
        else:
            with k.if_(fn("eq", flag[i], 1)):
                k.assign(chosen, chosen // 2)
            note = f" Where {flag.name} is 1, {names[pick]} is first halved (whole part)."
    else:
        note = ""
    if swap_style == "cases":
        middle = k.let(("m", "mid"), c)
        with k.if_(op("or", op("and", a <= b, b <= c), op("and", c <= b, b <= a))):
            k.assign(middle, b)
        with k.elif_(op("or", op("and", b <= a, a <= c), op("and", c <= a, a <= b))):
            k.assign(middle, a)
        result: Expr = middle
        lo: Expr = fn("min", fn("min", a, b), c)
        hi: Expr = fn("max", fn("max", a, b), c)
    elif swap_style == "network":
        swap = k.name("tmp", "t", "held")
        for first, second in ((a, b), (b, c), (a, b)):
            with k.if_(first > second):
                kept = Var(swap, s)
                k.assign(kept, first)
                k.assign(first, second)
                k.assign(second, kept)
        result, lo, hi = b, a, c
    else:
        result = fn("max", fn("min", a, b), fn("min", fn("max", a, b), c))
        lo, hi = fn("min", fn("min", a, b), c), fn("max", fn("max", a, b), c)
    k.store(out, i, result)
    if spread is not None:
        k.store(spread, i, hi - lo)
        note += f" {spread.name} gets the largest less the smallest."
    done = f"The median of {', '.join(names)} goes to {out.name}."
    return Title(k.name("median_of_three", "median3", "middle_of_three"), f"{done}{note}")


def _sorted_row(
    k: KernelBuilder, level: int, s: Scalar, table: Var, row: Var, count: Expr
) -> Title:
    shape = k.draw.shape
    out = k.out(("ordered", "sorted_rows"), s, ("rows", "cols"))
    falling = shape.chance(0.4)
    moves = also(k, 0.0 if level < 2 else 0.6, ("moves", "swaps"), INT32, "rows")
    with k.for_(("j", "c"), count) as j:
        k.store(out, (row, j), table[row, j])
    moved = k.let(("moved", "total_moves"), k.lift(0, INT32)) if moves is not None else None
    with k.for_(("p", "a"), count, start=1) as p:
        key = k.let(("key", "v"), out[row, p])
        q = k.let(("q", "b"), p - 1)
        with k.while_(q >= 0):
            with k.if_(out[row, q] >= key if falling else out[row, q] <= key):
                k.break_()
            k.store(out, (row, q + 1), out[row, q])
            k.augment(q, "sub", 1)
            if moved is not None:
                k.augment(moved, "add", 1)
        k.store(out, (row, q + 1), key)
    done = (
        f"Sort each row of {table.name} "
        f"{'downward' if falling else 'upward'} into {out.name} by insertion."
    )
    if moves is not None and moved is not None:
        k.store(moves, row, moved)
        done += f" {moves.name} gets how many entries were moved."
    return Title(k.name("insertion_sort_rows", "sort_rows", "order_rows"), done)
