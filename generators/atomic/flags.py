"""Bitwise or, and, exclusive or of the words of each group."""

from __future__ import annotations

from collections.abc import Callable

from generators.atomic.parts import GROUPS, skip_some
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import listed
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

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


@idiom
def group_flags(k: KernelBuilder, level: int) -> Title:
    """Bitwise or, and, exclusive or of masks, gathered for each group."""
    shape = k.draw.shape
    type_ = shape.weighted({Scalar("uint32"): 3, Scalar("uint64"): 1})
    n, m = k.size("n", 64, 96), k.size("m", 10, 14)
    groups = k.array(GROUPS, INT32, n, init=f"index_of:{m}")
    wide = shape.chance(0.25)
    dims = (m, k.size("num_words", 3, 4)) if wide else (m,)
    kinds = shape.sample(sorted(_FLAGS), 1 + (level >= 3) + (level >= 5))
    made = {}
    for kind in kinds:
        start = 2**type_.bits - 1 if kind == "and" else 0
        made[kind] = k.accumulator(_FLAGS[kind], type_, dims, start=start)
    counts = None
    if level >= 4 and shape.chance(0.6):
        counts = k.accumulator(("num_entries", "members"), INT32, m)
    (i,) = k.thread(n, names=(k.name("i", "tid", "e"),))
    skipped = skip_some(k, i, n) if level >= 3 else ""
    if wide:
        flag, text, slot = _long(k, type_, i)
    else:
        flag, text = _flag(k, level, type_, i)
    if len(made) > 1 or level >= 4:
        flag = k.let(("flag", "word", "mask_bits"), flag)
    if not wide:
        flag, more = _more(k, level, type_, flag)
        text += more
    group: Expr = groups[i]
    if len(made) > 1 or counts is not None:
        group = k.let(("g", "group", "slot"), group)
    for kind, array in made.items():
        at = (group, slot) if wide else (group,)
        k.atomic(kind, array, at, fn("invert", flag) if kind == "and" else flag)
    into = listed([_INTO[kind].format(array.name) for kind, array in made.items()])
    where = f"its group in {groups.name}" + (" and that word" if wide else "")
    done = f"For each entry take the word {text}, and at {where} {into}."
    if counts is not None:
        k.atomic("add", counts, group, 1)
        done += f" Count the entries of each group in {counts.name}."
    return Title(k.name("gather_flags", "mark_groups", "combine_masks"), f"{done}{skipped}")


Made = tuple[Expr, str]
"""A word, and what it is."""


def _one_bit(place: Expr, type_: Scalar, k: KernelBuilder) -> Expr:
    return k.lift(1, type_) << cast(place, type_)


def _long(k: KernelBuilder, type_: Scalar, i: Var) -> tuple[Expr, str, Expr]:
    """A bit of a set of several words: which bit, what it is, and which word."""
    size = type_.bits
    members = k.array(("elements", "items", "ids"), INT32, "n", init=f"index_of:{size}*num_words")
    item = k.let(("item", "x", "element"), members[i])
    text = f"1 << ({members.name} % {size}), which belongs into word {members.name} // {size}"
    return _one_bit(item % size, type_, k), text, item // size


def _event(k: KernelBuilder, type_: Scalar, i: Var) -> Made:
    bits = k.array(("bits", "events", "channel"), INT32, "n", low=0, high=type_.bits - 1)
    return _one_bit(bits[i], type_, k), f"1 << {bits.name}"


def _hour(k: KernelBuilder, type_: Scalar, i: Var) -> Made:
    width = k.draw.value.choice((60, 90))
    minutes = k.array(("minutes", "minute_of_day"), INT32, "n", low=0, high=1439)
    return _one_bit(minutes[i] // width, type_, k), f"1 << ({minutes.name} // {width})"


def _day(k: KernelBuilder, type_: Scalar, i: Var) -> Made:
    days = k.array(("days", "serials"), INT32, "n", low=20, high=type_.bits + 10)
    first = k.scalar(("first_day", "start_day"), INT32, 12, 20)
    return _one_bit(days[i] - first, type_, k), f"1 << ({days.name} - {first.name})"


def _bloom(k: KernelBuilder, type_: Scalar, i: Var) -> Made:
    """One or two bits of a Bloom filter."""
    keys = k.array(("keys", "ids", "hashes"), INT32, "n", low=0, high=9999)
    size = type_.bits
    key = k.let(("key", "h"), keys[i])
    factors = k.draw.value.choice(((31, 17), (37, 101), (7, 13)))
    flag = _one_bit(factors[0] * key % size, type_, k)
    text = f"1 << ({factors[0]} * key % {size})"
    if k.draw.shape.chance(0.6):
        flag = flag | _one_bit((factors[1] * key + 5) % size, type_, k)
        text = f"({text}) | (1 << (({factors[1]} * key + 5) % {size}))"
    return flag, f"{text} with key = {keys.name}"


def _grade(k: KernelBuilder, type_: Scalar, i: Var) -> Made:
    s = k.draw.wide_float_type()
    step = k.scalar(("step", "level_height"), s, 0.5, 0.55)
    names = ("readings", "depths", "delays")
    levels = k.array(names, s, "n", low=0, high=0.45 * type_.bits)
    place = cast(levels[i] / step, INT32)
    return _one_bit(place, type_, k), f"1 << int({levels.name} / {step.name})"


def _field(k: KernelBuilder, type_: Scalar, i: Var) -> Made:
    """A small number in one of the fields of a word."""
    width = k.draw.value.choice((2, 4))
    room = type_.bits // width
    slots = k.array(("slots", "fields", "lanes"), INT32, "n", low=0, high=room - 1)
    codes = k.array(("codes", "states"), INT32, "n", low=1, high=2**width - 1)
    flag = cast(codes[i], type_) << cast(width * slots[i], type_)
    return flag, f"{codes.name} << ({width} * {slots.name})"


_FORMS: dict[str, Callable[[KernelBuilder, Scalar, Var], Made]] = {
    "event": _event,
    "hour": _hour,
    "day": _day,
    "bloom": _bloom,
    "grade": _grade,
    "field": _field,
}


def _flag(k: KernelBuilder, level: int, type_: Scalar, i: Var) -> Made:
    """The word of an entry, from level 2 on sometimes with a second bit."""
    flag, text = _FORMS[k.draw.shape.choice(sorted(_FORMS))](k, type_, i)
    if level < 2 or k.draw.shape.chance(0.5):
        return flag, text
    others = k.array(("partner", "second_bit", "alternate"), INT32, "n", low=0, high=7)
    return flag | _one_bit(others[i], type_, k), f"({text}) | (1 << {others.name})"


def _more(k: KernelBuilder, level: int, type_: Scalar, flag: Expr) -> Made:
    """At higher levels words are spread to neighbouring bits, or limited by a mask."""
    text = ""
    if level >= 4 and k.draw.shape.chance(0.5):
        flag = k.let(("spread", "dilated"), flag | (flag << 1) | (flag >> 1))
        text += ", its bits spread to both neighbours (w | w << 1 | w >> 1)"
    if level >= 3 and k.draw.shape.chance(0.5):
        mask = k.scalar(("relevant", "enabled_bits"), type_, 2**24 + 12345, 2**31 - 1)
        flag = k.let(("kept", "relevant_bits"), flag & mask)
        text += f", bitwise-and {mask.name}"
    return flag, text
