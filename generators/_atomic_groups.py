"""What the entries of each group have in common: extremes, sums, counts and bits."""

from __future__ import annotations

from generators._atomic_parts import GROUPS, amounts, contribution, number_type, skip_some
from generators._vector_parts import listed
from generators.build import KernelBuilder, cast
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var
from generators.registry import Title

_EXTREMES = {
    "min": ("lowest", "minima", "lows"),
    "max": ("highest", "maxima", "highs"),
}
_KEPT = {
    "min": "the smallest in {}",
    "max": "the largest in {}",
    "sum": "the sum in {}",
    "count": "how many there are in {}",
}


def group_extremes(k: KernelBuilder, level: int) -> Title:
    """Smallest and largest value of each group, at higher levels with sums and counts."""
    shape, type_ = k.draw.shape, number_type(k)
    n, m = k.size("n", 72, 96), k.size("m", 5, 8)
    values = amounts(k, ("values", "heights", "scores", "times"), type_, n)
    groups = k.array(GROUPS, INT32, n, init=f"index_of:{m}")
    kinds = shape.choice((("min",), ("max",), ("min", "max"))) if level < 3 else ("min", "max")
    made = _gathered(k, type_, kinds, shape.choice(("sum", "count")) if level >= 3 else "")
    (i,) = k.thread(n)
    skipped = skip_some(k, i, n) if level >= 2 and shape.chance(0.2 * level) else ""
    value: Expr = values[i]
    text = values.name
    if level >= 2 and shape.chance(0.5):
        other = amounts(k, ("reference", "weights", "penalty"), type_, n)
        product = type_.is_unsigned or shape.chance(0.5)
        value = value * other[i] if product else value - other[i]
        text = f"{text} {'*' if product else '-'} {other.name}"
    uses = sum(kind != "count" for kind in made)
    amount, phrase = contribution(k, value, level, uses, "Each value")
    group: Expr = groups[i]
    if len(made) > 1:
        group = k.let(("g", "group", "label"), group)
    for kind, array in made.items():
        term: Expr | int = 1 if kind == "count" else amount
        k.atomic(kind if kind in ("min", "max") else "add", array, group, term)
    kept = listed([_KEPT[kind].format(array.name) for kind, array in made.items()])
    words = ("group_extremes", "segment_range") if len(kinds) == 2 else (f"group_{kinds[0]}",)
    done = f"Group {text} by {groups.name} and keep, for each group, {kept}."
    return Title(k.name(*words), f"{done}{phrase}{skipped}")


def _gathered(
    k: KernelBuilder, type_: Scalar, kinds: tuple[str, ...], extra: str
) -> dict[str, Var]:
    """An accumulator for each kind, and one for sums or counts."""
    least = 0 if type_.is_unsigned else -100000
    made = {}
    for kind in kinds:
        start = 100000 if kind == "min" else least
        begin = float(start) if type_.is_float else start
        made[kind] = k.accumulator(_EXTREMES[kind], type_, "m", start=begin)
    if extra:
        total_type = type_ if extra == "sum" else INT32
        made[extra] = k.accumulator((f"{extra}s", f"group_{extra}s"), total_type, "m")
    return made


_FLAGS = {
    "or": ("seen", "any_set"),
    "and": ("allowed", "remaining"),
    "xor": ("parity", "toggled"),
}
_INTO = {
    "or": "bitwise-or it into {}",
    "and": "bitwise-and its complement into {}",
    "xor": "bitwise-xor it into {}",
}


def group_flags(k: KernelBuilder, level: int) -> Title:
    """Bitwise or, and, exclusive or of masks, gathered for each group."""
    shape = k.draw.shape
    type_ = shape.weighted({Scalar("uint32"): 3, Scalar("uint64"): 1})
    n, m = k.size("n", 64, 96), k.size("m", 6, 9)
    groups = k.array(GROUPS, INT32, n, init=f"index_of:{m}")
    kinds = shape.sample(sorted(_FLAGS), 1 + (level >= 3) + (level >= 5))
    made = {}
    bits = k.array(("bits", "events", "channel"), INT32, n, low=0, high=type_.bits - 1)
    for kind in kinds:
        start = 2**type_.bits - 1 if kind == "and" else 0
        made[kind] = k.accumulator(_FLAGS[kind], type_, m, start=start)
    (i,) = k.thread(n)
    skipped = skip_some(k, i, n) if level >= 3 else ""
    flag, text = _flag(k, level, bits, type_, i)
    often = len(made) > 1 or level >= 4
    word: Expr = k.let(("flag", "word", "mask_bits"), flag) if often else flag
    if level >= 4 and isinstance(word, Var):
        text += _smear(k, word)
    group = k.let(("g", "group", "slot"), groups[i]) if len(made) > 1 else groups[i]
    for kind, array in made.items():
        k.atomic(kind, array, group, ~word if kind == "and" else word)
    into = listed([_INTO[kind].format(array.name) for kind, array in made.items()])
    done = f"For each entry, form the word {text}, and at its group in {groups.name} {into}."
    return Title(k.name("gather_flags", "mark_groups", "combine_masks"), f"{done}{skipped}")


def _flag(k: KernelBuilder, level: int, bits: Var, type_: Scalar, i: Var) -> tuple[Expr, str]:
    """A word with one bit set, or two joined, and what it is."""
    one = k.lift(1, type_)
    flag: Expr = one << cast(bits[i], type_)
    text = f"1 << {bits.name}"
    if level < 2 or k.draw.shape.chance(0.4):
        return flag, text
    others = k.array(("partner", "second_bit", "alternate"), INT32, "n", low=0, high=7)
    mix, second = k.draw.shape.choice(("|", "^")), one << cast(others[i], type_)
    return flag | second if mix == "|" else flag ^ second, f"({text}) {mix} (1 << {others.name})"


def _smear(k: KernelBuilder, word: Var) -> str:
    turn, times = k.draw.value.integer(1, 3), k.draw.value.integer(2, 3)
    with k.for_(("step", "r"), times):
        k.assign(word, word ^ (word << turn))
    return f", xored {times} times in a row with itself shifted left by {turn}"
