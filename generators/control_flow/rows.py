"""Rows of a table: state machines along them, and small sorts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.control_flow.kit import (
    Also,
    Step,
    both,
    branch,
    counter,
    leave,
    rows_of,
    same,
    some,
    some_type,
    take,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import Site, launch
from generators.kit.sources import setting
from generators.kit.text import written
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Const, Expr, Var, op


@dataclass(frozen=True)
class Scale:
    """How readings come from raw entries, and the range in which they then lie."""

    k: KernelBuilder
    type: Scalar
    applied: Callable[[Expr], Expr] = lambda e: e
    low: float = 0
    high: float = 99

    def at(self, start: float, stop: float) -> Expr:
        """A literal between two parts of the range."""
        span = self.high - self.low
        return self.number(self.low + start * span, self.low + stop * span)

    def width(self, start: float, stop: float) -> Expr:
        """A literal of the size of a part of the range."""
        return self.number(start * (self.high - self.low), stop * (self.high - self.low))

    def number(self, low: float, high: float) -> Expr:
        ends = (low, high) if self.type.is_float else (round(low), round(high))
        return setting(self.k, "", self.type, ends[0], ends[1], share=0.0)

    def under(self, limit: Expr) -> Expr:
        """A second threshold under the first."""
        gap = self.width(0.05, 0.2)
        if not (isinstance(limit, Const) and isinstance(gap, Const)):
            return limit - gap
        return self.number(*(float(limit.value) - part * float(gap.value) for part in (2, 1)))


def _nothing(scale: Scale, limit: Expr) -> tuple[Expr, ...]:
    return ()


@dataclass(frozen=True)
class Machine:
    """What it counts, names of its state, one step, and a condition on the state in words."""

    text: str
    names: str
    steps: Callable[..., Sequence[Step]]
    """Of the state, the count, the reading v, the limit t and further numbers."""
    when: str
    state: Callable[[Var, Var], Expr] = lambda run, count: count > 0
    numbers: Callable[[Scale, Expr], tuple[Expr, ...]] = _nothing
    filled: bool = False
    """Whether the state is a reading's sum that begins at the first further number."""


def _streak(side: str, held: Callable[[Var, Expr], Expr]) -> Machine:
    return Machine(
        f"the length of the longest run of v {side} {{t}}",
        "streak run",
        lambda run, count, v, t: [
            [(held(v, t), (run, run + 1), (count, most(count, run))), (None, (run, 0))]
        ],
        "that continue a run",
        lambda run, count: run > 1,
    )


MACHINES = {
    "longest_streak": _streak("above", lambda v, t: v > t),
    "longest_dip": _streak("below", lambda v, t: v < t),
    "upward_crossings": Machine(
        "how many runs of v above {t} begin",
        "above inside",
        lambda run, count, v, t: [
            [(v > t, [(same(run, 0), (count, count + 1))], (run, 1)), (None, (run, 0))]
        ],
        "that come from the first run on",
    ),
    "switched_on": Machine(
        "how many v leave a switch on that is off at first, goes on above {t} and off below {0}",
        "state on",
        lambda run, count, v, t, low: [
            [(v > t, (run, 1)), (v < low, (run, 0))],
            (count, count + run),
        ],
        "that leave the switch on",
        lambda run, count: run > 0,
        lambda scale, limit: (scale.under(limit),),
    ),
    "cooldown": Machine(
        "how many v above {t} count, the next {0} after each that counts being passed over",
        "wait pause",
        lambda run, count, v, t, length: [
            [(run > 0, (run, run - 1)), (v > t, (count, count + 1), (run, length))]
        ],
        "that come from the first one counted on",
        numbers=lambda scale, limit: (setting(scale.k, "", INT32, 1, 3, share=0.0),),
    ),
    "leaky_bucket": Machine(
        "how often a bucket overflows: it holds {0} at first and max(held + v - {1}, 0) after each "
        "v; where that is above {t}, it overflows and holds {0}",
        "filled stock",
        lambda run, count, v, t, start, leak: [
            (run, most(run + v - leak, 0)),
            [(run > t, (count, count + 1), (run, start))],
        ],
        "that come from the first overflow on",
        numbers=lambda scale, limit: (scale.width(0.05, 0.3), scale.at(0.3, 0.5)),
        filled=True,
    ),
}


@idiom
@with_struct
def row_machine(k: KernelBuilder, level: int) -> Title:
    """A state machine over each row; at higher levels it skips, stops early, adds up."""
    shape, type_ = k.draw.shape, k.draw.shape.weighted({INT32: 3, Scalar("float32"): 2})
    counts = "width num_steps length"
    s, table, width = rows_of(k, "table readings signal", type_, 0, 99, counts, (48, 64))
    form = shape.choice(sorted(MACHINES))
    machine = MACHINES[form]
    given = shape.weighted({"literal": 5, "scalar": 3, "array": 3 if level >= 2 else 0})
    scale = _calibration(k, type_, often=given != "literal" and level < 4)
    limit = _limit(s, given, scale)
    out = s.out("out counts result", INT32)
    summed = Also(s, 1.0 if level >= 4 else 0.0, "sums excess totals", type_)
    limit = k.let("cut bound", limit) if given == "array" else limit
    refuses = level >= 5 and k.draw.shape.chance(0.15)
    rules = [_refused(s, table, out, summed)] if refuses else []
    numbers = machine.numbers(scale, limit)
    text = machine.text.format(*(say(k, n) for n in numbers), t=say(k, limit))
    state = k.let(machine.names, numbers[0] if machine.filled else k.lift(0, INT32))
    count = counter(k, "count tally")
    phrase = written(scale.applied(Var("e", type_)))
    chance = BY_LEVEL[level] if phrase != "e" else 0.0
    names = "calibrated reading_of decoded"
    reading = routine(k, chance, names, {"entry": type_}, lambda _, e: scale.applied(e))
    summed.start("total acc")
    with k.for_("j t col", width) as j:
        v = k.let("v reading", reading(table[s.index(j)]))
        if level >= 3:
            rules.append(_passed_over(k, scale, v))
        take(k, *machine.steps(state, count, v, limit, *numbers))
        added = _added(k, machine, scale, v, summed, (state, count)) if summed else ""
    k.store(out, s.at, count)
    values = f"reading v = {phrase} for each entry e" if phrase != "e" else "reading each v"
    done = f"Go along each row of {table.name}, {values}, and store in {out.name} {text}."
    done += "".join(f" {rule[0].upper()}{rule[1:]}." for rule in rules)
    return Title(k.name(f"row_{form} {form}_rows"), done + summed.told(f"the sum of the v {added}"))


def _calibration(k: KernelBuilder, type_: Scalar, often: bool) -> Scale:
    """How a raw entry e in [0, 99] becomes a reading."""
    if not k.draw.shape.chance(0.6 if often else 0.2):
        return Scale(k, type_)
    value, floats = k.draw.value, type_.is_float
    up = k.draw.shape.chance(0.5)
    factor = float(value.constant(0.2, 4.0)) if floats else value.integer(2, 9)
    largest = 15 * factor
    shift = float(value.constant(0.5, largest)) if floats else value.integer(1, int(largest))
    if up:
        return Scale(k, type_, lambda e: factor * e + shift, shift, 99 * factor + shift)
    return Scale(k, type_, lambda e: factor * e - shift, -shift, 99 * factor - shift)


def _limit(s: Site, given: str, scale: Scale) -> Expr:
    """The threshold: a literal, a parameter, or an array with one for each row."""
    if given == "literal":
        return scale.at(0.25, 0.75)
    low, high = (int(scale.low + part * (scale.high - scale.low)) for part in (0.25, 0.75))
    if given == "array":
        return s.read("thresholds limits triggers", scale.type, low, high)
    return s.k.scalar("threshold limit trigger", scale.type, low, high)


def _refused(s: Site, table: Var, out: Var, summed: Also) -> str:
    least, mark = s.k.draw.value.integer(5, 15), -s.k.draw.value.integer(1, 9)
    leave(s, table[s.index(0)] < least, (out, mark), (summed, 0))
    assert summed.out is not None
    text = f"rows whose first entry is below {least} get {mark} in {out.name}"
    return f"{text} and 0 in {summed.out.name}"


def _passed_over(k: KernelBuilder, scale: Scale, v: Var) -> str:
    if k.draw.shape.chance(0.5):
        bound = scale.at(0.85, 0.94)
        with k.if_(v > bound):
            k.break_()
        return f"the first v above {say(k, bound)} ends its row"
    bound = scale.at(0.06, 0.15)
    with k.if_(v < bound):
        k.continue_()
    return f"each v below {say(k, bound)} is ignored"


def _added(
    k: KernelBuilder, machine: Machine, scale: Scale, v: Var, total: Also, state: tuple[Var, Var]
) -> str:
    """Add up some values; says which."""
    joint = k.draw.shape.choice(("and", "or"))
    below = scale.at(0.78, 0.85) if joint == "and" else scale.at(0.16, 0.24)
    with k.if_(op(joint, machine.state(*state), v < below)):
        total.add(v)
    return f"{machine.when} {joint} are below {say(k, below)}"


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
    side = k.draw.shape.choice(("smaller", "smaller", "larger"))
    out, index = s.out("kth selected", type_), Also(s, 0.5, "kth_index where_found")
    value = k.let("value picked", table[s.index(0)])
    index.start("at column")
    with k.for_("j c", count) as j:
        v, passed = k.let("v candidate", table[s.index(j)]), counter(k, "passed before")
        with k.for_("m q", count) as m:
            other = table[s.index(m)]
            first = other < v if side == "smaller" else other > v
            before = some(first, both(same(other, v), m < j)) if whole else first
            branch(k, (before, (passed, passed + 1)))
        with k.if_(same(passed, order % count)):
            k.assign(value, v)
            if index.value is not None:
                k.assign(index.value, j)
            k.break_()
    k.store(out, s.at, value)
    equal = " (equal ones count when they stand before)" if whole else ""
    done = f"Find in each row of {table.name} the entry that exactly {order.name} % {count.name} "
    done += f"others are {side} than{equal}; it goes to {out.name}.{index.told('its column')}"
    return Title(k.name("kth_entry select_kth order_statistic"), done)


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
