"""Small sorts in each row: medians, ranks, insertion, k-th entries."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.kit import Also, both, branch, counter, rows_of, same, some, some_type
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most
from generators.kit.sites import launch
from generators.kit.sources import setting
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var


@idiom
@with_struct
def small_sorts(k: KernelBuilder, level: int) -> Title:
    """The order of a few numbers in each row: medians, ranks, sorted rows, k-th entries."""
    forms = {"median": _median, "rank": _rank, "sort": _sorted_row, "kth": _kth}
    form = k.draw.shape.choice(sorted(forms) if level >= 2 else ("median", "rank", "sort"))
    return forms[form](k, level, some_type(k, 0.4, "int32 int64 int16 uint8"))


def _bounds(type_: Scalar) -> tuple[float, float]:
    return (0, 200) if type_.is_int else (-2.0, 2.0)


def _rank(k: KernelBuilder, level: int, type_: Scalar) -> Title:
    s, table, count = rows_of(k, "values samples scores", type_, *_bounds(type_))
    pivot = s.read("pivot probe reference", type_, *_bounds(type_))
    out, ties = s.out("rank below", INT32), Also(s, 0.0 if level < 2 else 0.6, "above larger")
    far, margin = "", None
    if level >= 3:
        margin = setting(k, "margin gap", type_, *((5, 20) if type_.is_int else (0.1, 0.3)))
        far = f" by more than {say(k, margin)}"
    done = f"Count in each row of {table.name} the entries below{far} and above{far} its "
    done += f"{say(k, pivot)}: {out.name} gets the first{'' if ties else ' less the second'} number"
    p, less, more = k.let("p mark", pivot), counter(k, "less n_below"), counter(k, "more n_above")
    with k.for_("j c", count) as j:
        v = k.let("v x", table[s.index(j)])
        below = v < p if margin is None else v + margin < p
        above = v > p if margin is None else v > p + margin
        branch(k, (below, (less, less + 1)), (above, (more, more + 1)))
    k.store(out, s.at, less if ties else less - more)
    done += f".{ties.told('the second', more)}"
    return Title(k.name("rank_in_row count_order row_rank"), done)


def _kth(k: KernelBuilder, level: int, type_: Scalar) -> Title:
    s, table, count = rows_of(k, "values samples scores", type_, *_bounds(type_))
    order, whole = k.scalar(["order", "k"], INT32, 1, 3), type_.is_int
    out, index = s.out("kth selected", type_), Also(s, 0.5, "kth_index where_found")
    value = k.let("value picked", table[s.index(0)])
    index.start("at column")
    with k.for_("j c", count) as j:
        v, smaller = k.let("v candidate", table[s.index(j)]), counter(k, "smaller below")
        with k.for_("m q", count) as m:
            other = table[s.index(m)]
            before = some(other < v, both(same(other, v), m < j)) if whole else other < v
            branch(k, (before, (smaller, smaller + 1)))
        with k.if_(same(smaller, order % count)):
            k.assign(value, v)
            if index.value is not None:
                k.assign(index.value, j)
            k.break_()
    k.store(out, s.at, value)
    equal = " (equal ones count when they stand before)" if whole else ""
    done = f"Find in each row of {table.name} the entry that exactly {order.name} % {count.name} "
    done += f"others are smaller than{equal}; it goes to {out.name}.{index.told('its column')}"
    return Title(k.name("kth_smallest select_kth order_statistic"), done)


def _median(k: KernelBuilder, level: int, type_: Scalar) -> Title:
    s, shape = launch(k, list=1), k.draw.shape
    names = k.draw.word.choice(("a b c", "red green blue", "left center right")).split()
    given = [s.read(name, type_, *_bounds(type_)) for name in names]
    out = s.out("median middle_value out", type_)
    spread = Also(s, 0.0 if level < 2 else 0.6, "spread range_out", type_)
    done = f"The median of {', '.join(names)} goes to {out.name}."
    a, b, c = (k.let(f"{n[0]} {n[0]}_v", v) for n, v in zip(names, given, strict=True))
    if level >= 3:
        mark, pick = s.read("boost emphasis", INT32, 0, 1), k.draw.value.choice((0, 1, 2))
        chosen, small = (a, b, c)[pick], type_.bits < 32
        weight, how = 2 if type_.is_int else 1.5, "halved (whole part)"
        changed = chosen // 2 if small else chosen * weight
        branch(k, (same(mark, 1), (chosen, changed)))
        how = how if small else f"multiplied by {weight}"
        done += f" Where {say(k, mark)} is 1, {names[pick]} is first {how}."
    middle, low, high = _ordered(k, shape.choice(("network", "cases", "minmax")), a, b, c)
    k.store(out, s.at, middle)
    done += spread.told("the largest less the smallest", high - low)
    return Title(k.name("median_of_three median3 middle_of_three"), done)


def _ordered(k: KernelBuilder, style: str, a: Var, b: Var, c: Var) -> tuple[Expr, Expr, Expr]:
    """The middle, the least and the largest of three: sorted, by cases, or of min and max."""
    if style == "network":
        swap = k.name("tmp t held")
        for first, second in ((a, b), (b, c), (a, b)):
            kept = Var(swap, a.type)
            branch(k, (first > second, (kept, first), (first, second), (second, kept)))
        return b, a, c
    low, high = least(a, b, c), most(a, b, c)
    if style == "minmax":
        return most(least(a, b), least(most(a, b), c)), low, high
    middle = k.let("m mid", c)
    b_inside = some(both(a <= b, b <= c), both(c <= b, b <= a))
    a_inside = some(both(b <= a, a <= c), both(c <= a, a <= b))
    branch(k, (b_inside, (middle, b)), (a_inside, (middle, a)))
    return middle, low, high


def _sorted_row(k: KernelBuilder, level: int, type_: Scalar) -> Title:
    s, table, count = rows_of(k, "values samples scores", type_, *_bounds(type_))
    falling = k.draw.shape.chance(0.4)
    out = s.array("ordered sorted_rows", type_, more="cols", role="out")
    moves = Also(s, 0.0 if level < 2 else 0.6, "moves swaps")
    with k.for_("j c", count) as j:
        k.store(out, s.index(j), table[s.index(j)])
    moves.start("moved total_moves")
    with k.for_("p a", count, start=1) as p:
        key, q = k.let("key v", out[s.index(p)]), k.let("q b", p - 1)
        with k.while_(q >= 0):
            before = out[s.index(q)]
            with k.if_(before >= key if falling else before <= key):
                k.break_()
            k.store(out, s.index(q + 1), before)
            k.augment(q, "sub", 1)
            moves.add()
        k.store(out, s.index(q + 1), key)
    way = "downward" if falling else "upward"
    done = f"Sort each row of {table.name} {way} into {out.name} by insertion."
    done += moves.told("how many entries were moved")
    return Title(k.name("insertion_sort_rows sort_rows order_rows"), done)
