"""While loops on one integer: divisors, Collatz steps, digits and bits, growth, sequences."""

from __future__ import annotations

from generators._control_flow_walks import WALKS
from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var, op
from generators.registry import Title
from generators.touches import touch_int

_TYPES = {INT32: 4, Scalar("int64"): 2, Scalar("uint32"): 1, Scalar("int16"): 1}
_NAMES = {
    "gcd": ("gcd", "common_divisor"),
    "collatz": ("collatz_steps", "collatz"),
    "bit_count": ("bit_count", "count_ones"),
    "digit_sum": ("digit_sum", "sum_digits"),
    "growth": ("steps_to_limit", "growth_steps"),
    "smallest_divisor": ("smallest_divisor", "first_divisor"),
    "sequence": ("steps_in_sequence", "residue_steps"),
}
_WIDE = frozenset({"collatz", "growth", "sequence"})
"""Walks whose numbers may pass 16 bits."""


def integer_walk(k: KernelBuilder, level: int) -> Title:
    """A while loop on integers, at higher levels left early, repeated and its best kept."""
    shape = k.draw.shape
    form, type_ = shape.choice(sorted(WALKS)), shape.weighted(_TYPES)
    if form in _WIDE and type_.bits == 16:
        type_ = INT32
    n = k.size("n", 48, 64)
    numbers = k.array(("numbers", "values", "ids", "seeds"), type_, n, low=1, high=90)
    text = numbers.name
    (i,) = k.thread(n)
    start: Expr = numbers[i]
    if level >= 2 and shape.chance(0.5):
        added = k.array(("extra", "increments", "delta"), type_, n, low=0, high=40)
        start, text = start + added[i], f"{text} + {added.name}"
    letter = "x" if level < 4 else "s"
    given = f"For each {letter} of {text}, compute"
    if shape.chance(0.85 if level < 3 else 0.2):
        start, phrase = touch_int(k, start)
        given = f"For each v of {text}, let {letter} = {phrase} and compute"
    out = k.out(("out", "result", "answers"), type_, n)
    x = k.let(("x", "m", "num"), start)
    zero = _leave_early(k, x, out, i, letter) if level >= 3 else ""
    result, done = WALKS[form](k, x) if level < 4 else _window(k, level, form, x)
    k.store(out, i, result)
    names = _NAMES[form] if level < 4 else (f"{_NAMES[form][0]}_window", f"{form}_nearby")
    return Title(k.name(*names), f"{given} {done}.{zero}")


def _leave_early(k: KernelBuilder, x: Var, out: Var, i: Var, letter: str) -> str:
    """Store a constant for some numbers and end; says for which."""
    value = k.draw.value
    divisor, limit = value.integer(4, 7), value.integer(20, 30)
    mark = value.choice((0, 1, 99, 100, 999))
    special, clause = fn("eq", x % divisor, 0), f"is a multiple of {divisor}"
    if joint := k.draw.shape.choice(("", "or", "and")):
        special, clause = op(joint, special, x < limit), f"{clause} {joint} below {limit}"
    with k.if_(special):
        k.store(out, i, mark)
        k.return_()
    return f" Where {letter} {clause}, store {mark} instead."


def _window(k: KernelBuilder, level: int, form: str, x: Var) -> tuple[Var, str]:
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
        result, what = WALKS[form](k, near)
        if keep == "sum":
            k.augment(kept, "add", result)
        else:
            k.assign(kept, fn("max", kept, result))
    done = f"the {keep} of f(x) over the {span} consecutive integers x from s on{skipped}"
    return kept, f"{done}, where f(x) is {what}"
