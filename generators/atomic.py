"""Atomics: histograms, scatters along edges, extremes of groups, reductions, flags."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var, op
from generators.registry import Category, Title
from generators.stages import refine

CATEGORY = Category("atomic", "sums, extremes and flags that many threads update together")

_INTS = {INT32: 6, Scalar("int64"): 2, Scalar("uint32"): 2, Scalar("uint64"): 1}
_LOCALS = ("value", "contribution", "term", "amount")
_GROUPS = ("groups", "labels", "owner", "segment", "cluster")


def _type(k: KernelBuilder) -> Scalar:
    draw = k.draw
    return draw.wide_float_type() if draw.shape.chance(0.6) else draw.shape.weighted(_INTS)


def _values(k: KernelBuilder, names: tuple[str, ...], type_: Scalar, *dims: str) -> Var:
    """An array of signed floats, or of integers of moderate size."""
    if type_.is_float:
        return k.array(names, type_, dims, low=-2.0, high=2.0)
    return k.array(names, type_, dims, low=0 if type_.is_unsigned else -20, high=50)


def _contribution(k: KernelBuilder, value: Expr, level: int) -> tuple[Var, str]:
    """A value on its way to accumulators, as a local, with a sentence on how it is made."""
    type_ = value.type
    assert isinstance(type_, Scalar)
    if type_.is_float:
        signal = refine(k, value, level, _LOCALS, scale=1.2)
        value, phrase = signal.value, f" Each amount is first {signal.phrase}."
        phrase = phrase if signal.phrase else ""
    elif level >= 2 and k.draw.shape.chance(0.6):
        factor, offset = k.draw.value.integer(2, 5), k.draw.value.integer(1, 9)
        form = k.draw.shape.choice(("scaled", "squared", "offset"))
        if form == "squared" and not isinstance(value, Var):
            value = k.let(("raw", "combined"), value)
        made = {"scaled": factor * value, "squared": value * value, "offset": value + offset}
        value = made[form]
        what = {
            "scaled": f"multiplied by {factor}",
            "squared": form,
            "offset": f"raised by {offset}",
        }
        phrase = f" Each amount is first {what[form]}."
    else:
        phrase = ""
    return value if isinstance(value, Var) else k.let(_LOCALS, value), phrase


def _skip_some(k: KernelBuilder, i: Var, n: str) -> str:
    """End threads early by a mask array; says which."""
    mask = k.array(("mask", "status", "flags", "kind"), INT32, n, low=0, high=4)
    test = k.draw.shape.choice(("eq", "ne", "lt", "or"))
    m = mask[i]
    joint = op("or", fn("eq", m, 0), fn("eq", m, 3))
    with k.if_(joint if test == "or" else m < 2 if test == "lt" else fn(test, m, 1)):
        k.return_()
    ends = {"eq": "1", "ne": "not 1", "lt": "below 2", "or": "0 or 3"}[test]
    return f"; do nothing where {mask.name} is {ends}"


@CATEGORY.idiom
def histogram(k: KernelBuilder, level: int) -> Title:
    """Counts or weights per bin, of codes or of binned measurements, in one or two dimensions."""
    shape = k.draw.shape
    n, bins = k.size("n", 72, 96), k.size("bins", 5, 8)
    form = shape.choice(("codes", "skip", "clamp"))
    plane = level >= 3 and shape.chance(0.5)
    weighted = level >= 2 and shape.chance(0.6)
    type_, real = _type(k) if weighted else shape.weighted(_INTS), k.draw.wide_float_type()
    if form == "codes":
        data = k.array(("codes", "symbols", "levels"), INT32, n, init=f"index_of:{bins}")
    else:
        data = k.array(("samples", "readings", "u"), real, n, low=-0.2, high=1.2)
    dims = (bins, k.size("classes", 2, 4)) if plane else (bins,)
    classes = k.array(_GROUPS, INT32, n, init=f"index_of:{dims[-1]}") if plane else data
    weights = _values(k, ("weights", "mass", "charge"), type_, n) if weighted else data
    hist = k.accumulator(("hist", "counts", "histogram"), type_, dims)
    hits = k.accumulator(("hits", "occupancy"), INT32, bins) if level >= 4 and weighted else None
    count = k.size_param(("num_bins", "bin_count"), bins) if form != "codes" else data
    (i,) = k.thread(n)
    done = (
        f"Add {f'its entry of {weights.name}' if weighted else 'one'} to {hist.name} for each of "
    )
    done += f"{data.name}, at its bin" + (f" and its class in {classes.name}" if plane else "")
    done += _skip_some(k, i, n) if level >= 4 or (level == 3 and shape.chance(0.5)) else ""
    if form == "codes":
        slot: Expr = k.let(("b", "slot", "bucket"), data[i])
    else:
        x = k.let(("x", "sample"), data[i])
        if form == "skip":
            with k.if_(op("or", x < 0.0, x >= 1.0)):
                k.return_()
        scaled = cast(fn("floor", x * cast(count, real)), INT32)
        clamped = fn("clamp", scaled, 0, count - 1) if form == "clamp" else scaled
        slot = k.let(("b", "slot", "bucket"), clamped)
        done += f"; the bins split [0, 1) evenly, and {form} what lies outside"
    amount, phrase = _contribution(k, weights[i], level) if weighted else (k.lift(1, type_), "")
    k.atomic("add", hist, (slot, classes[i]) if plane else slot, amount)
    if hits is not None:
        k.atomic("add", hits, slot, 1)
        done += f". Count the entries per bin in {hits.name}"
    name = "joint_histogram" if plane else "weighted_histogram" if weighted else "histogram"
    return Title(k.name(name, f"build_{name}"), f"{done}.{phrase}")


@CATEGORY.idiom
def scatter(k: KernelBuilder, level: int) -> Title:
    """Add values where an index array says, at higher levels along edges with two ends."""
    shape, type_ = k.draw.shape, _type(k)
    n, m = k.size("n", 64, 96), k.size("m", 6, 12)
    ends = k.array(("targets", "dst", "head"), INT32, n, init=f"index_of:{m}")
    values = _values(k, ("values", "flow", "amounts", "load"), type_, n)
    joined = level >= 2 and shape.chance(0.6)
    starts = k.array(("sources", "src", "tail"), INT32, n, init=f"index_of:{m}") if joined else ends
    second = level >= 2 and shape.chance(0.6)
    factors = _values(k, ("factors", "coefficients", "gain_of"), type_, n) if second else values
    sums = k.accumulator(("sums", "nodes", "totals", "balance"), type_, m)
    degree = k.accumulator(("degree", "touched"), INT32, m) if level >= 4 else None
    (i,) = k.thread(n)
    done = f"Add {values.name}{f' times {factors.name}' if second else ''} into {sums.name} at "
    done += f"{ends.name}"
    done += _skip_some(k, i, n) if level >= 4 else ""
    target: Expr = ends[i]
    source: Expr = starts[i]
    if joined and shape.chance(0.5):
        target, source = k.let(("t", "node"), target), k.let(("s", "origin"), source)
        with k.if_(fn("eq", source, target)):
            k.return_()
        done += "; entries with equal ends do nothing"
    amount, phrase = _contribution(k, values[i] * factors[i] if second else values[i], level)
    signed = not type_.is_unsigned
    kind = "add" if joined or not signed else shape.choice(("add", "sub"))
    done = done.replace("Add ", "Subtract ", 1) if kind == "sub" else done
    k.atomic(kind, sums, target, amount)
    if joined:
        k.atomic("add", sums, source, -amount if signed else amount)
        done += f"; at {starts.name} {'subtract' if signed else 'add'} the same amount"
    if degree is not None:
        k.atomic("add", degree, target, 1)
        done += f". Count the additions at {ends.name} in {degree.name}"
    name = ("accumulate_edges", "edge_flux") if joined else ("scatter_values", "scatter_sum")
    return Title(k.name(*name), f"{done}.{phrase}")


@CATEGORY.idiom
def group_extremes(k: KernelBuilder, level: int) -> Title:
    """Smallest and largest value of each group, at higher levels with sums and counts."""
    shape, type_ = k.draw.shape, _type(k)
    n, m = k.size("n", 72, 96), k.size("m", 5, 8)
    values = _values(k, ("values", "heights", "scores", "times"), type_, n)
    groups = k.array(_GROUPS, INT32, n, init=f"index_of:{m}")
    least = 0 if type_.is_unsigned else -100000
    kinds = shape.choice((("min",), ("max",), ("min", "max"))) if level < 3 else ("min", "max")
    names = {"min": ("lowest", "minima", "lows"), "max": ("highest", "maxima", "highs")}
    made = {}
    for kind in kinds:
        start = 100000 if kind == "min" else least
        made[kind] = k.accumulator(
            names[kind], type_, m, start=float(start) if type_.is_float else start
        )
    extra = shape.choice(("sum", "count")) if level >= 3 else ""
    if extra:
        total_type = type_ if extra == "sum" else INT32
        made[extra] = k.accumulator((f"{extra}s", f"group_{extra}"), total_type, m)
    (i,) = k.thread(n)
    done = " and ".join(f"{kind} in {array.name}" for kind, array in made.items())
    done = f"For each group of {groups.name} keep the {done} of {values.name}"
    done += _skip_some(k, i, n) if level >= 2 and shape.chance(0.2 * level) else ""
    value: Expr = values[i]
    if level >= 2 and shape.chance(0.5):
        other = _values(k, ("reference", "weights", "penalty"), type_, n)
        product = type_.is_unsigned or shape.chance(0.5)
        value = value * other[i] if product else value - other[i]
        done += f", each {'multiplied by' if product else 'less'} its {other.name}"
    amount, phrase = _contribution(k, value, level)
    group = k.let(("g", "group", "label"), groups[i])
    for kind, array in made.items():
        term: Expr | int = 1 if kind == "count" else amount
        k.atomic(kind if kind in ("min", "max") else "add", array, group, term)
    words = ("group_extremes", "segment_range") if len(kinds) == 2 else (f"group_{kinds[0]}",)
    return Title(k.name(*words), f"{done}.{phrase}")


_TERMS: dict[str, str] = {
    "product": "{0} * {1}",
    "square": "the square of {0} - {1}",
    "distance": "|{0} - {1}|",
    "larger": "the larger of {0} and {1}",
}


@CATEGORY.idiom
def reduction(k: KernelBuilder, level: int) -> Title:
    """Sums over all threads, rows or columns of a term of two arrays."""
    shape = k.draw.shape
    type_ = (
        k.draw.wide_float_type() if shape.chance(0.7) else shape.choice((INT32, Scalar("int64")))
    )
    dims = [k.size("n", 72, 96)]
    if plane := shape.chance(0.6):
        dims = [k.size("rows", 7, 10), k.size("cols", 7, 10)]
    a = _values(k, ("x", "a", "left", "predicted"), type_, *dims)
    b = _values(k, ("y", "b", "right", "expected"), type_, *dims)
    at = k.thread(*dims)
    places = {
        "total": ("1", k.lift(0, INT32)),
        "row": (dims[0], at[0]),
        "column": (dims[-1], at[-1]),
    }
    goals = shape.sample(sorted(places), min(1 + level // 2, 3)) if plane else ["total"]
    arrays = {}
    for goal in sorted(goals):
        names = (f"{goal}_sum", f"{goal}_acc", f"sum_per_{goal}")
        arrays[goal] = k.accumulator(names[: 2 + (goal != "total")], type_, places[goal][0])
    peak = None
    if level >= 3:
        start = -1000.0 if type_.is_float else -100000
        peak = k.accumulator(("peak", "largest"), type_, "1", start=start)
    p, q, form = a[at], b[at], shape.choice(sorted(_TERMS))
    gap = k.let(("gap", "diff"), p - q) if form in ("square", "distance") else p
    terms: dict[str, Expr] = {"product": p * q, "square": gap * gap}
    terms |= {"distance": fn("abs", gap), "larger": fn("max", p, q)}
    done = f"Sum {_TERMS[form].format(a.name, b.name)} over "
    done += " and ".join("everything" if g == "total" else f"each {g}" for g in arrays)
    value: Expr = terms[form]
    if type_.is_float and level >= 2:
        less = k.draw.value.integer(5, 9) / 10
        value, done = value - less, f"{done}, each less {less}"
    if peak is not None:
        value = value if isinstance(value, Var) else k.let(("raw", "gained"), value)
        k.atomic("max", peak, 0, value)
        done += f", and keep the largest such term in {peak.name}"
    amount, phrase = _contribution(k, value, level)
    for goal, array in arrays.items():
        k.atomic("add", array, places[goal][1], amount)
    phrase = phrase.replace("Each amount", "What is summed")
    return Title(k.name("reduce_pairs", "accumulate_terms", "pair_sums"), f"{done}.{phrase}")


@CATEGORY.idiom
def group_flags(k: KernelBuilder, level: int) -> Title:
    """Bitwise or, and, exclusive or of masks, gathered for each group."""
    shape, value = k.draw.shape, k.draw.value
    type_ = shape.weighted({Scalar("uint32"): 3, Scalar("uint64"): 1})
    n, m = k.size("n", 64, 96), k.size("m", 6, 9)
    groups = k.array(_GROUPS, INT32, n, init=f"index_of:{m}")
    bits = k.array(("bits", "events", "channel"), INT32, n, low=0, high=type_.bits - 1)
    pairs = level >= 2 and shape.chance(0.6)
    others = (
        k.array(("partner", "second_bit", "alternate"), INT32, n, low=0, high=7) if pairs else bits
    )
    kinds = shape.sample(("or", "and", "xor"), 1 + (level >= 3) + (level >= 5))
    names = {
        "or": ("seen", "any_set"),
        "and": ("allowed", "remaining"),
        "xor": ("parity", "toggled"),
    }
    made = {}
    for kind in kinds:
        start = 2**type_.bits - 1 if kind == "and" else 0
        made[kind] = k.accumulator(names[kind], type_, m, start=start)
    (i,) = k.thread(n)
    skipped = _skip_some(k, i, n) if level >= 3 else ""
    one = k.lift(1, type_)
    flag: Expr = one << cast(bits[i], type_)
    what = f"(1 << {bits.name})"
    if pairs:
        mix, second = shape.choice(("|", "^")), one << cast(others[i], type_)
        flag = flag | second if mix == "|" else flag ^ second
        what += f" {mix} (1 << {others.name})"
    mask = k.let(("flag", "word", "mask_bits"), flag)
    if level >= 4:
        turn, times = value.integer(1, 3), value.integer(2, 3)
        with k.for_(("step", "r"), times):
            k.assign(mask, mask ^ (mask << turn))
        what += f", {times} times xored with itself shifted left by {turn}"
    for kind, array in made.items():
        k.atomic(kind, array, groups[i], ~mask if kind == "and" else mask)
        what += f"; {kind} {'its complement' if kind == 'and' else 'it'} into {array.name}"
    done = f"For each group of {groups.name} form {what}{skipped}"
    return Title(k.name("gather_flags", "mark_groups", "combine_masks"), f"{done}.")
