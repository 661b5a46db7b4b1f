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
    own_length,
    rows_of,
    same,
    some,
    some_type,
    take,
)
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most
from generators.kit.sites import Site, launch
from generators.kit.words import listed, plurals, say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class Scale:
    """What the thresholds of a machine are drawn from: readings from 0 to 99."""

    k: KernelBuilder
    type: Scalar

    def at(self, names: str, start: float, stop: float) -> Expr:
        """A parameter between two parts of the range."""
        low, high = 99.0 * start, 99.0 * stop
        if not self.type.is_float:
            low, high = round(low), round(high)
        return self.k.scalar(names, self.type, low, high)


def _nothing(scale: Scale, limit: Expr) -> tuple[Expr, ...]:
    return ()


@dataclass(frozen=True)
class Machine:
    """What it counts, names of its state, one step, and a condition on the state in words."""

    text: str
    names: str
    steps: Callable[..., Sequence[Step]]
    """Of the state, the count, the reading v, the limit t and further numbers."""
    numbers: Callable[[Scale, Expr], tuple[Expr, ...]] = _nothing
    filled: bool = False
    """Whether the state is a reading's sum that begins at the first further number."""


def _streak(side: str, held: Callable[[Var, Expr], Expr]) -> Machine:
    return Machine(
        f"the length of the longest run of readings {side} {{t}}",
        "streak run",
        lambda run, count, v, t: [
            [(held(v, t), (run, run + 1), (count, most(count, run))), (None, (run, 0))]
        ],
    )


MACHINES = {
    "longest_streak": _streak("above", lambda v, t: v > t),
    "longest_dip": _streak("below", lambda v, t: v < t),
    "upward_crossings": Machine(
        "how many runs of readings above {t} there are",
        "above inside",
        lambda run, count, v, t: [
            [(v > t, [(same(run, 0), (count, count + 1))], (run, 1)), (None, (run, 0))]
        ],
    ),
    "switched_on": Machine(
        "the number of readings at which a switch with hysteresis is on, which goes on above {t}, "
        "off below "
        "{0}, and is off at first",
        "state on",
        lambda run, count, v, t, low: [
            [(v > t, (run, 1)), (v < low, (run, 0))],
            (count, count + run),
        ],
        lambda scale, limit: (scale.at("off_threshold", 0.1, 0.2),),
    ),
    "cooldown": Machine(
        "the number of triggers, which are the readings above {t} save those among the {0} "
        "readings after the last trigger (dead time)",
        "wait pause",
        lambda run, count, v, t, length: [
            [(run > 0, (run, run - 1)), (v > t, (count, count + 1), (run, length))]
        ],
        lambda scale, limit: (scale.k.scalar("dead_time hold_off", INT32, 1, 3),),
    ),
    "sustained_alarms": Machine(
        "the number of alarms, one each time that {0} readings in a row have been above {t}",
        "streak held",
        lambda run, count, v, t, length: [
            [
                (v > t, (run, run + 1), [(same(run, length), (count, count + 1))]),
                (None, (run, 0)),
            ]
        ],
        lambda scale, limit: (scale.k.scalar("hold_samples min_length", INT32, 2, 4),),
    ),
    "band_entries": Machine(
        "the number of times that the readings enter the band from {0} to {t}, both inclusive (a "
        "row "
        "that begins within it enters it)",
        "inside in_band",
        lambda run, count, v, t, low: [
            [
                (both(v >= low, v <= t), [(same(run, 0), (count, count + 1))], (run, 1)),
                (None, (run, 0)),
            ]
        ],
        lambda scale, limit: (scale.at("band_low", 0.1, 0.25),),
    ),
    "leaky_bucket": Machine(
        "how often a leaky bucket overflows: with each reading its level, {0} at first, rises by "
        "it and falls by {1}, to 0 at least; above {t} it overflows and is reset to {0}",
        "level fill",
        lambda run, count, v, t, start, leak: [
            (run, most(run + v - leak, 0)),
            [(run > t, (count, count + 1), (run, start))],
        ],
        lambda scale, limit: (
            scale.at("reset_level start_level", 0.05, 0.3),
            scale.at("leak drain", 0.3, 0.5),
        ),
        filled=True,
    ),
}


@idiom(depth=3)
@with_struct
def row_machine(k: KernelBuilder, level: int) -> Title:
    """A state machine over each row; at higher levels it skips, stops early, adds up."""
    shape, type_ = k.draw.shape, k.draw.shape.weighted({INT32: 3, Scalar("float32"): 2})
    counts = "width num_steps length"
    form = shape.choice(sorted(MACHINES))
    names = "inflow arrivals" if MACHINES[form].filled else "readings signal samples"
    s, table, width = rows_of(k, names, type_, 0, 99, counts, (48, 64))
    machine = MACHINES[form]
    given = shape.weighted({"scalar": 5, "array": 3 if level >= 2 else 0})
    scale = Scale(k, type_)
    limit = _limit(s, given, scale, form)
    out = s.out(_OUTS[form], INT32)
    summed = Also(s, 0.0 if level < 3 else 0.15 * level, "excess overshoot", type_)
    trace = Also(s, 0.0 if level < 2 else 0.1 * level, "states trace", INT32, "cols")
    trace = Also(s, 0.0, "") if machine.filled else trace
    limit = k.let("cut bound", limit) if given == "array" else limit
    ends = 0.5 if level >= 3 and not trace else 0.0
    stop, note = own_length(s, width, ends, "readings")
    numbers = machine.numbers(scale, limit)
    text = machine.text.format(*(say(k, n) for n in numbers), t=say(k, limit))
    state = k.let(machine.names, numbers[0] if machine.filled else k.lift(0, INT32))
    count = counter(k, "count tally")
    summed.start("total acc")
    with k.for_("j t col", stop) as j:
        v = k.let("v reading", table[s.index(j)])
        if level >= 2 and shape.chance(0.1):
            note += _passed_over(k, scale, v, trace, state, j)
        take(k, *machine.steps(state, count, v, limit, *numbers))
        trace.put(state, j)
        if summed:
            over = limit - v if form == "longest_dip" else v - limit
            summed.add(most(over, 0))
    k.store(out, s.at, count)
    done = f"For each row of {table.name}, {out.name} gets {text}."
    done += note
    if trace:
        done += trace.said(f"{_TRACED.get(form, 'the run so far')} after each reading")
    side = "below" if form == "longest_dip" else "above"
    done += summed.told(f"the sum of how far the readings lie {side} {say(k, limit)}")
    return Title(k.name(f"row_{form} {form}_per_row"), done)


_OUTS = {
    "longest_streak": "longest_runs longest_streak",
    "longest_dip": "longest_dips dip_lengths",
    "upward_crossings": "num_pulses run_counts",
    "switched_on": "time_on on_counts",
    "cooldown": "num_triggers trigger_counts",
    "sustained_alarms": "num_alarms alarm_counts",
    "band_entries": "num_entries entry_counts",
    "leaky_bucket": "num_overflows overflow_counts",
}
"""Names of the output of each machine."""
_TRACED = {
    "band_entries": "whether it is in the band (0 or 1)",
    "cooldown": "the number of readings still to wait",
    "upward_crossings": "whether it is above (0 or 1)",
    "switched_on": "whether the switch is on (0 or 1)",
}
"""What the state of a machine is, where it is not a run."""


_LIMITS = {"band_entries": "band_high", "switched_on": "on_threshold"}
"""What the threshold is called beside another one."""


def _limit(s: Site, given: str, scale: Scale, form: str) -> Expr:
    """The threshold: a parameter, or an array with one for each row."""
    names = _LIMITS.get(form, "threshold limit trigger_level")
    if given == "array":
        return s.read(plurals(names.split()), scale.type, 25, 75)
    return s.k.scalar(names, scale.type, 25, 75)


def _passed_over(k: KernelBuilder, scale: Scale, v: Var, trace: Also, state: Var, j: Expr) -> str:
    """Readings that are not valid; says so."""
    if k.draw.shape.chance(0.5) and not trace:
        bound = scale.at("trip_level saturation", 0.85, 0.94)
        with k.if_(v > bound):
            k.break_()
        return f" The first reading above {say(k, bound)} ends its row."
    bound = scale.at("min_valid dropout", 0.06, 0.15)
    with k.if_(v < bound):
        trace.put(state, j)
        k.continue_()
    return f" Readings below {say(k, bound)} are not valid and are skipped."


@idiom(depth=3)
@with_struct
def small_sorts(k: KernelBuilder, level: int) -> Title:
    """The order of a few numbers in each row: medians, ranks, sorted rows, k-th entries."""
    forms = {"median": _median, "rank": _rank, "sort": _sorted_row, "kth": _kth, "five": _five}
    if level < 3:
        forms.pop("five")
    easy, hard = ("median", "rank", "sort"), ("five", "kth", "sort", "sort", "median")
    form = k.draw.shape.choice(easy if level < 2 else sorted(forms) if level == 2 else hard)
    return forms[form](k, level, some_type(k, 0.4, "int32 int32 int16 uint8"))


def _bounds(type_: Scalar) -> tuple[float, float]:
    return (0, 200) if type_.is_int else (-2.0, 2.0)


def _rank(k: KernelBuilder, level: int, type_: Scalar) -> Title:
    s, table, count = rows_of(k, "values samples scores", type_, *_bounds(type_))
    pivot = s.read("pivot probe reference", type_, *_bounds(type_))
    pairs = (("num_below", "num_above"), ("smaller_counts", "larger_counts"))
    below, above = k.draw.word.choice(pairs)
    out, ties = s.out(below, INT32), Also(s, 0.6, above)
    done = f"Rank each row's {say(k, pivot)} among {table.name}: {out.name} gets the number of "
    done += "entries below it"
    p, less = k.let("p mark", pivot), counter(k, "less n_below")
    more = counter(k, "more n_above") if ties else less
    with k.for_("j c", count) as j:
        v = k.let("v x", table[s.index(j)])
        branch(k, (v < p, (less, less + 1)), *[(v > p, (more, more + 1))] * bool(ties))
    k.store(out, s.at, less)
    done += f".{ties.told('the number of entries above it', more)}"
    return Title(k.name("rank_in_row rank_probe row_rank"), done)


def _kth(k: KernelBuilder, level: int, type_: Scalar) -> Title:
    s, table, count = rows_of(
        k, "values samples scores", type_, *_bounds(type_), fewest=4, cols="window"
    )
    order = k.scalar(["order", "k"], INT32, 1, 3)
    side = k.draw.shape.choice(("smaller", "smaller", "larger"))
    out, index = s.out("kth selected", type_), Also(s, 0.5, "kth_index where_found")
    value = k.let("value picked", table[s.index(0)])
    index.start("at column")
    with k.for_("j c", count) as j:
        v, passed = k.let("v candidate", table[s.index(j)]), counter(k, "passed before")
        with k.for_("m q", count) as m:
            other = table[s.index(m)]
            first = other < v if side == "smaller" else other > v
            before = some(first, both(other <= v if side == "smaller" else other >= v, m < j))
            branch(k, (before, (passed, passed + 1)))
        with k.if_(same(passed, order)):
            k.assign(value, v)
            if index.value is not None:
                k.assign(index.value, j)
            k.break_()
    k.store(out, s.at, value)
    done = f"Select from each row of {table.name} the entry that exactly {order.name} others are "
    done += f"{side} than (equal ones count when they stand before); {out.name} gets it. Where "
    done += f"{order.name} is not below {count.name}, the first entry is selected."
    done += index.told("its column")
    return Title(k.name("kth_entry select_kth order_statistic"), done)


def _median(k: KernelBuilder, level: int, type_: Scalar) -> Title:
    s, shape = launch(k, list=1), k.draw.shape
    names = k.draw.word.choice(
        ("a b c", "sensor_a sensor_b sensor_c", "first second third")
    ).split()
    given = [s.read(name, type_, *_bounds(type_)) for name in names]
    out = s.out("median middle_value medians", type_)
    spread = Also(s, 0.0 if level < 2 else 0.6, "spread range_out", type_)
    done = f"Vote by median among three values: {out.name} gets the median of {listed(names)}."
    a, b, c = (k.let(n, v) for n, v in zip(("x0", "x1", "x2"), given, strict=True))
    middle, low, high = _ordered(k, shape.choice(("network", "cases", "minmax")), a, b, c)
    k.store(out, s.at, middle)
    done += spread.told("the largest less the smallest", high - low)
    return Title(k.name("median_of_three median3 middle_of_three"), done)


def _five(k: KernelBuilder, level: int, type_: Scalar) -> Title:
    """The median of five samples about each place of a list, ends repeated."""
    n = k.size("n", 60, 90)
    low_end, high_end = _bounds(type_)
    x = k.array("signal samples trace", type_, n, low=low_end, high=high_end)
    last = k.size_param("num_samples n_samples", n)
    (i,) = k.thread(n, names=(k.draw.word.choice(("i", "idx")),))
    out = k.out("median filtered smoothed", type_, n)
    names = ["a", "b", "c", "d", "e"]
    before = [x[most(i - by, 0)] for by in (2, 1)]
    after = [x[least(i + by, last - 1)] for by in (1, 2)]
    found = [*before, x[i], *after]
    a, b, c, d, e = (k.let(name, v) for name, v in zip(names, found, strict=True))
    low = k.let("f low", most(least(a, b), least(c, d)))
    high = k.let("g high", least(most(a, b), most(c, d)))
    k.store(out, i, most(least(low, high), least(most(low, high), e)))
    done = f"Median filter of width 5: {out.name} gets the median of the five values of {x.name} "
    done += "from two places before to two after each, the first and last value repeated beyond "
    return Title(k.name("median_filter5 median_of_five"), f"{done}the ends.")


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
    s, table, count = rows_of(k, "values samples scores", type_, *_bounds(type_), cols="window")
    falling = k.draw.shape.chance(0.4)
    out = s.array("ordered sorted_rows", type_, more="window", role="out")
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
