"""While loops on one integer: divisors, Collatz steps, digits and bits."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var, op
from generators.registry import Title

_TYPES = {INT32: 4, Scalar("int64"): 2, Scalar("uint32"): 1, Scalar("int16"): 1}
_NAMES = {
    "gcd": ("gcd", "common_divisor"),
    "collatz": ("collatz_steps", "collatz"),
    "bit_count": ("bit_count", "count_ones"),
    "digit_sum": ("digit_sum", "sum_digits"),
}


def integer_walk(k: KernelBuilder, level: int) -> Title:
    """A while loop on integers, at higher levels left early, repeated and its best kept."""
    shape = k.draw.shape
    type_ = shape.weighted(_TYPES)
    n = k.size("n", 48, 64)
    numbers = k.array(("numbers", "values", "ids", "seeds"), type_, n, low=1, high=90)
    form, text = shape.choice(sorted(_NAMES)), numbers.name
    (i,) = k.thread(n)
    start: Expr = numbers[i]
    if level >= 2 and shape.chance(0.5):
        added = k.array(("extra", "increments", "delta"), type_, n, low=0, high=40)
        start, text = start + added[i], f"{text} + {added.name}"
    out = k.out(("out", "result", "answers"), type_, n)
    x = k.let(("x", "m", "num"), start)
    zero = _leave_early(k, x, out, i) if level >= 3 else ""
    if level < 4:
        result, what = _walk(k, form, x)
        k.store(out, i, result)
        names, done = _NAMES[form], f"Compute {what} of each of {text}."
    else:
        result, done = _window(k, level, form, x, text)
        k.store(out, i, result)
        names = (f"{_NAMES[form][0]}_window", f"{form}_nearby")
    return Title(k.name(*names), done + zero)


def _leave_early(k: KernelBuilder, x: Var, out: Var, i: Var) -> str:
    """Store 0 for some numbers and end; says for which."""
    value = k.draw.value
    divisor, limit = value.integer(4, 7), value.integer(20, 30)
    special, clause = fn("eq", x % divisor, 0), f"is a multiple of {divisor}"
    if joint := k.draw.shape.choice(("", "or", "and")):
        special, clause = op(joint, special, x < limit), f"{clause} {joint} below {limit}"
    with k.if_(special):
        k.store(out, i, 0)
        k.return_()
    return f" Where the number {clause}, store 0 instead."


def _window(k: KernelBuilder, level: int, form: str, x: Var, text: str) -> tuple[Var, str]:
    """The sum or maximum of the results of a few consecutive integers, and what it is."""
    shape, type_ = k.draw.shape, x.type
    assert isinstance(type_, Scalar)
    span, skip = k.draw.value.integer(3, 4), k.draw.value.integer(2, 3)
    keep = shape.choice(("sum", "maximum"))
    kept = k.let(("total", "acc") if keep == "sum" else ("best", "largest"), k.lift(0, type_))
    skipped = ""
    with k.for_(("step", "offset", "shift"), span) as step:
        near = k.let(("near", "candidate"), x + cast(step, type_))
        if level == 5 or shape.chance(0.4):
            with k.if_(fn("eq", near % skip, 0)):
                k.continue_()
            skipped = f", leaving out {'even numbers' if skip == 2 else f'multiples of {skip}'}"
        result, what = _walk(k, form, near)
        if keep == "sum":
            k.augment(kept, "add", result)
        else:
            k.assign(kept, fn("max", kept, result))
    done = f"For each number of {text}, compute the {keep} of {what} over the {span} consecutive "
    return kept, f"{done}integers that start there{skipped}."


def _walk(k: KernelBuilder, form: str, x: Var) -> tuple[Var, str]:
    """A while loop that uses up an integer: its result, and what that is."""
    if form == "gcd":
        return _gcd(k, x)
    words = {"collatz": ("steps", "hops"), "bit_count": ("ones", "count")}
    count = k.let(words.get(form, ("digits", "digit_total")), k.lift(0, x.type))
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


def _gcd(k: KernelBuilder, x: Var) -> tuple[Var, str]:
    partner = k.draw.value.choice((12, 18, 24, 30, 36, 60))
    y = k.let(("y", "b", "other"), k.lift(partner, x.type))
    with k.while_(y > 0):
        remainder = k.let(("r", "rem"), x % y)
        k.assign(x, y)
        k.assign(y, remainder)
    return x, f"the greatest common divisor with {partner}"
