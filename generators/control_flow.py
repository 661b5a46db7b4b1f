"""Control flow: integer loops, row state machines, searches in sorted tables, tariffs."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var, op
from generators.registry import Category, Title
from generators.stages import refine

CATEGORY = Category("control_flow", "loops, searches, state machines and branching rules")


def _walk(k: KernelBuilder, form: str, start: Expr, type_: Scalar) -> tuple[Var, str]:
    """A while loop on one integer: its result, and what that is."""
    x = k.let(("x", "m", "rest"), start)
    if form == "gcd":
        partner = k.draw.value.choice((12, 18, 24, 30, 36, 60))
        y = k.let(("y", "b", "other"), k.lift(partner, type_))
        with k.while_(y > 0):
            remainder = k.let(("r", "rem"), x % y)
            k.assign(x, y)
            k.assign(y, remainder)
        return x, f"the greatest common divisor with {partner}"
    words = {"collatz": ("steps", "hops"), "bit_count": ("ones", "count")}
    count = k.let(words.get(form, ("digits", "digit_total")), k.lift(0, type_))
    if form == "collatz":
        cap = k.draw.value.integer(6, 10)
        with k.while_(op("and", x > 1, count < cap)):
            with k.if_(fn("eq", x % 2, 0)):
                k.assign(x, x // 2)
            with k.else_():
                k.assign(x, 3 * x + 1)
            k.augment(count, "add", 1)
        return count, f"the number of Collatz steps to 1 (at most {cap})"
    base = 2 if form == "bit_count" else k.draw.value.integer(3, 10)
    with k.while_(x > 0):
        k.augment(count, "add", x & 1 if base == 2 else x % base)
        k.assign(x, x >> 1 if base == 2 else x // base)
    return count, "the number of one bits" if base == 2 else f"the digit sum in base {base}"


@CATEGORY.idiom
def integer_walk(k: KernelBuilder, level: int) -> Title:
    """A while loop on integers, at higher levels left early, repeated and its best kept."""
    shape, value = k.draw.shape, k.draw.value
    type_ = shape.weighted({INT32: 4, Scalar("int64"): 2, Scalar("uint32"): 1, Scalar("int16"): 1})
    n = k.size("n", 48, 64)
    numbers = k.array(("numbers", "values", "ids", "seeds"), type_, n, low=1, high=90)
    form, phrase = shape.choice(("gcd", "collatz", "bit_count", "digit_sum")), numbers.name
    (i,) = k.thread(n)
    start: Expr = numbers[i]
    if level >= 2 and shape.chance(0.5):
        added = k.array(("extra", "increments", "delta"), type_, n, low=0, high=40)
        start, phrase = start + added[i], f"{phrase} plus {added.name}"
    out = k.out(("out", "result", "answers"), type_, n)
    if level >= 3:
        start = k.let(("v", "num", "current"), start)
        divisor, limit = value.integer(4, 7), value.integer(20, 30)
        special, clause = fn("eq", start % divisor, 0), f"is a multiple of {divisor}"
        if joint := shape.choice(("", "or", "and")):
            special, clause = op(joint, special, start < limit), f"{clause} {joint} below {limit}"
        with k.if_(special):
            k.store(out, i, 0)
            k.return_()
        phrase += f", or store 0 when that {clause}"
    if level < 4:
        result, what = _walk(k, form, start, type_)
        k.store(out, i, result)
        return Title(k.name(f"{form}_kernel", f"{form}_each"), f"Find {what} of each of {phrase}.")
    span, skip, keep = value.integer(3, 4), value.integer(2, 3), shape.choice(("sum", "maximum"))
    words = ("total", "acc") if keep == "sum" else ("best", "largest")
    best = k.let(words, k.lift(0, type_))
    done = f"of {span} consecutive integers from {phrase}"
    with k.for_(("step", "offset", "shift"), span) as step:
        near = k.let(("near", "candidate"), start + cast(step, type_))
        if level == 5 or shape.chance(0.4):
            with k.if_(fn("eq", near % skip, 0)):
                k.continue_()
            done += f"; pass over multiples of {skip}"
        result, what = _walk(k, form, near, type_)
        if keep == "sum":
            k.augment(best, "add", result)
        else:
            with k.if_(result > best):
                k.assign(best, result)
    k.store(out, i, best)
    return Title(k.name(f"{keep}_{form}", f"{form}_window"), f"Find the {keep} of {what} {done}.")


_MACHINES = {
    "longest_streak": "the longest run of values above {}",
    "upward_crossings": "how often the values rise above {}, from a start below",
    "switched_on": "the steps in which a switch is on (on above {0} + 1, off below {0} - 1)",
}


def _step(k: KernelBuilder, form: str, v: Var, limit: Expr, run: Var, count: Var) -> None:
    """One step of a state machine over a row, with its state and what it counts."""
    with k.if_(v > (limit + 1 if form == "switched_on" else limit)):
        if form == "upward_crossings":
            with k.if_(fn("eq", run, 0)):
                k.augment(count, "add", 1)
        k.assign(run, run + 1 if form == "longest_streak" else 1)
        if form == "longest_streak":
            k.assign(count, fn("max", count, run))
    with k.elif_(v < limit - 1) if form == "switched_on" else k.else_():
        k.assign(run, 0)
    if form == "switched_on":
        k.augment(count, "add", run)


@CATEGORY.idiom
def row_machine(k: KernelBuilder, level: int) -> Title:
    """A state machine over each row; at higher levels it skips, stops early, adds up."""
    shape, type_ = k.draw.shape, k.draw.shape.weighted({INT32: 3, Scalar("float32"): 2})
    rows, cols = k.size("rows", 48, 64), k.size("cols", 6, 8)
    table = k.array(("table", "readings", "signal"), type_, (rows, cols), low=0, high=9)
    form, names = shape.choice(sorted(_MACHINES)), ("threshold", "limit", "trigger")
    if per_row := level >= 2 and shape.chance(0.5):
        limits = k.array(names, type_, rows, low=2, high=7)
    else:
        limits = k.scalar(names, type_, 2, 7)
    width = k.size_param(("width", "num_steps", "length"), cols)
    out = k.out(("out", "counts", "result"), INT32, rows)
    summed = k.out(("sums", "excess", "totals"), type_, rows) if level >= 4 else None
    (r,) = k.thread(rows, names=(k.draw.word.choice(("row", "r", "i")),))
    limit: Expr = k.let(("cut", "bound"), limits[r]) if per_row else limits
    done = f"In each row of {table.name} find {_MACHINES[form].format(limits.name)}"
    if level >= 5 and summed is not None:
        with k.if_(table[r, 0] < 1):
            k.store(out, r, -1)
            k.store(summed, r, 0)
            k.return_()
        done += f"; a row that starts below 1 gives -1 (and 0 in {summed.name})"
    run, count = (k.let(name, k.lift(0, INT32)) for name in (("state", "run"), ("count", "tally")))
    total = k.let(("total", "acc"), k.lift(0, type_)) if summed is not None else count
    with k.for_(("j", "t", "col"), width) as j:
        v = k.let(("v", "reading"), table[r, j])
        if level >= 3:
            stops = shape.chance(0.5)
            with k.if_(v > 8 if stops else v < 1):
                k.break_() if stops else k.continue_()
            done += f"; {'stop at the first value above 8' if stops else 'skip values below 1'}"
        _step(k, form, v, limit, run, count)
        if summed is not None:
            joint = shape.choice(("and", "or"))
            with k.if_(op(joint, run > 0, v > limit - 2)):
                k.augment(total, "add", v)
            done += f"; {summed.name} adds up values for which {run.name} is positive {joint}"
            done += f" which exceed {limits.name} - 2"
    k.store(out, r, count)
    if summed is not None:
        k.store(summed, r, total)
    return Title(k.name(f"row_{form}", f"{form}_rows"), f"{done}.")


def _bisect(k: KernelBuilder, knots: Var, size: Var, q: Expr, strict: bool) -> Var:
    """Number of knots below ``q`` (or not above it), by binary search."""
    lo, hi = k.let(("lo", "left"), k.lift(0, INT32)), k.let(("hi", "right"), size)
    with k.while_(lo < hi):
        mid = k.let(("mid", "middle"), (lo + hi) // 2)
        with k.if_(knots[mid] < q if strict else knots[mid] <= q):
            k.assign(lo, mid + 1)
        with k.else_():
            k.assign(hi, mid)
    return lo


@CATEGORY.idiom
def sorted_search(k: KernelBuilder, level: int) -> Title:
    """Binary search in a sorted table; at higher levels it ends early or interpolates."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    n, m = k.size("n", 48, 64), k.size("m", 9, 15)
    knots = k.array(("knots", "edges", "breaks"), type_, m, init="sorted", low=0, high=100)
    queries = k.array(("queries", "x", "keys"), type_, n, low=-10, high=110)
    table = k.array(("heights", "table", "y"), type_, m, low=-2, high=2) if level >= 2 else knots
    size = k.size_param(("num_knots", "table_size"), m)
    out = k.out(("out", "result", "found"), INT32 if level == 1 else type_, n)
    (i,) = k.thread(n)
    q, last, search = k.let(("q", "query"), queries[i]), size - 1, "by binary search"
    if level == 1:
        strict, count_above = shape.chance(0.5), shape.chance(0.5)
        lo = _bisect(k, knots, size, q, strict)
        k.store(out, i, size - lo if count_above else lo)
        where = {(0, 0): "<=", (1, 0): "<", (0, 1): ">", (1, 1): ">="}[strict, count_above]
        name = k.name("bin_index", "count_knots")
        return Title(name, f"Count the {knots.name} {where} each of {queries.name}, {search}.")
    if early := shape.chance(0.5):
        for outside, end in ((q < knots[0], 0), (q >= knots[last], last)):
            with k.if_(outside):
                k.store(out, i, table[end])
                k.return_()
    lo = _bisect(k, knots, size, q, strict=False)
    form = shape.choice(sorted(_LOOKUPS))
    y: Expr = table[lo - 1]
    if form != "step":
        t: Expr = (q - knots[lo - 1]) / (knots[lo] - knots[lo - 1])
        y = fn("lerp", y, table[lo], t * t * (3.0 - 2.0 * t) if form == "smooth" else t)
    if not early:
        inside, y = y, (value := k.let(("value", "height"), table[0]))
        with k.if_(fn("eq", lo, size)):
            k.assign(value, table[last])
        with k.elif_(lo > 0):
            k.assign(value, inside)
    signal = refine(k, y, level, ("v", "level", "response"))
    k.store(out, i, signal.value)
    done = f"Look each of {queries.name} up in the sorted {knots.name} {search} and "
    done += f"{_LOOKUPS[form]} {table.name}; the end values extend outside."
    done += f" The value is {signal.phrase}." if signal.phrase else ""
    return Title(k.name(f"{form}_lookup", f"table_{form}"), done)


_LOOKUPS = {
    "step": "take the entry of the last knot at or below it from",
    "linear": "interpolate linearly in",
    "smooth": "interpolate with weight t * t * (3 - 2 * t) in",
}


@CATEGORY.idiom
def tariff(k: KernelBuilder, level: int) -> Title:
    """A charge by brackets; at higher levels exemptions, surcharges, rebates, instalments."""
    shape, value, type_ = k.draw.shape, k.draw.value, k.draw.wide_float_type()
    n = k.size("n", 64, 96)
    usage = k.array(("usage", "income", "weight", "distance"), type_, n, low=0, high=100)
    zone = k.array(("zone", "tier", "category"), INT32, n, low=0, high=3) if level >= 2 else usage
    out = k.out(("charge", "cost", "fee", "due"), type_, n)
    (i,) = k.thread(n)
    u = k.let(("u", "amount", "quantity"), usage[i])
    done = f"Charge each {usage.name} u"
    if level >= 3:
        joint = shape.choice(("and", "or"))
        bound = value.integer(2, 6) if joint == "or" else value.integer(30, 60)
        with k.if_(op(joint, fn("eq", zone[i], 0), u < bound)):
            k.store(out, i, 0)
            k.return_()
        done += f" (nothing if {zone.name} is 0 {joint} u < {bound})"
    edges = [value.integer(22 * j + 10, 22 * j + 25) for j in range(shape.integer(1, 3))]
    rates = [rate / 100 for rate in value.sample(range(5, 60), 4)]
    bill = k.let(("bill", "total", "price"), rates[0] * u)
    marginal, base, done = shape.chance(0.5), 0.0, f"{done}: {rates[0]} u"
    charges: list[Expr] = []
    for j, edge in enumerate(edges):
        base = round(base + rates[j] * (edge - (edges[j - 1] if j else 0)), 2)
        charges.append(base + rates[j + 1] * (u - edge) if marginal else rates[j + 1] * u)
        price = f"{base} + {rates[j + 1]} (u - {edge})" if marginal else f"{rates[j + 1]} u"
        done += f", above {edge} {price}"
    for j in reversed(range(len(edges))):
        with k.elif_(u > edges[j]) if j < len(edges) - 1 else k.if_(u > edges[j]):
            k.assign(bill, charges[j])
    if level >= 2:
        peak, factor = value.integer(30, 70), value.integer(11, 18) / 10
        joint, test = shape.choice(("and", "or")), shape.choice(sorted(_TESTS))
        with k.if_(op(joint, fn(test, zone[i], 2), u > peak)):
            k.augment(bill, "mul", factor)
        done += f"; times {factor} if {zone.name} is {_TESTS[test]}2 {joint} u > {peak}"
    if level >= 4:
        cut, share, most = value.integer(30, 60), value.integer(2, 9) / 100, value.integer(2, 6)
        body = BodyBuilder(k.draw)
        args = (Var(body.name("quantity", "units"), type_), Var(body.name("kind", "group"), INT32))
        with body.if_(fn("eq", args[1], 1)):
            body.return_(share * args[0])
        done += f"; less a rebate of {share} u if {zone.name} is 1, "
        if shape.chance(0.6):
            with body.if_(args[0] > cut):
                body.return_(k.lift(most, type_))
            done += f"else {most} if u > {cut}, "
        body.return_(k.lift(0.5, type_))
        helper = k.function(k.name("rebate", "discount"), args, body, type_)
        k.augment(bill, "sub", k.call(helper, u, zone[i]))
        done += "else 0.5"
    if level >= 5:
        floor, part, terms = value.integer(2, 5), value.integer(15, 45) / 100, value.integer(4, 6)
        with k.for_(("month", "term"), terms):
            with k.if_(bill < floor):
                k.break_()
            k.augment(bill, "sub", part * bill)
        done += f"; then up to {terms} times take off {part} of the rest, until below {floor}"
    k.store(out, i, bill)
    return Title(k.name("bracket_tariff", "apply_tariff", "tiered_price"), f"{done}.")


_TESTS = {"eq": "", "ge": "at least ", "ne": "not "}
