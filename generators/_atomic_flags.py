"""Bitwise or, and, exclusive or of the words of each group."""

from __future__ import annotations

from collections.abc import Callable

from generators._atomic_parts import GROUPS, skip_some
from generators.build import KernelBuilder, cast
from generators.dtypes import INT32, Scalar
from generators.expr import Expr, Var
from generators.pieces import listed
from generators.registry import Title

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
    for kind in kinds:
        start = 2**type_.bits - 1 if kind == "and" else 0
        made[kind] = k.accumulator(_FLAGS[kind], type_, m, start=start)
    (i,) = k.thread(n)
    skipped = skip_some(k, i, n) if level >= 3 else ""
    flag, text = _flag(k, level, type_, i)
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


def _flag(k: KernelBuilder, level: int, type_: Scalar, i: Var) -> tuple[Expr, str]:
    """A word with one bit set, a shifted pattern, or two of them joined; and what it is."""
    form = k.draw.shape.choice(sorted(_PLACES))
    pattern, room = 1, type_.bits
    if form == "pattern":
        pattern, room = k.draw.value.integer(3, 63), type_.bits - 6
    place, shown = _PLACES[form](k, room, i)
    flag: Expr = k.lift(pattern, type_) << cast(place, type_)
    text = f"{pattern} << {shown}"
    if level < 2 or k.draw.shape.chance(0.4):
        return flag, text
    others = k.array(("partner", "second_bit", "alternate"), INT32, "n", low=0, high=7)
    mix, second = k.draw.shape.choice(("|", "^")), k.lift(1, type_) << cast(others[i], type_)
    return flag | second if mix == "|" else flag ^ second, f"({text}) {mix} (1 << {others.name})"


def _named(k: KernelBuilder, room: int, i: Var) -> tuple[Expr, str]:
    bits = k.array(("bits", "events", "channel"), INT32, "n", low=0, high=room - 1)
    return bits[i], bits.name


def _offset(k: KernelBuilder, room: int, i: Var) -> tuple[Expr, str]:
    first = k.draw.value.integer(3, 2000)
    names = ("events", "days", "serials")
    keys = k.array(names, INT32, "n", low=first, high=first + room - 1)
    return keys[i] - first, f"({keys.name} - {first})"


def _coarse(k: KernelBuilder, room: int, i: Var) -> tuple[Expr, str]:
    width = k.draw.value.integer(3, 90)
    keys = k.array(("ticks", "minutes", "offsets"), INT32, "n", low=0, high=width * room - 1)
    return keys[i] // width, f"({keys.name} // {width})"


def _hashed(k: KernelBuilder, room: int, i: Var) -> tuple[Expr, str]:
    factor, shift = 2 * k.draw.value.integer(1, 60) + 1, k.draw.value.integer(1, 99)
    keys = k.array(("keys", "ids", "hashes"), INT32, "n", low=0, high=9999)
    place = (factor * keys[i] + shift) % room
    return place, f"(({factor} * {keys.name} + {shift}) % {room})"


def _salted(k: KernelBuilder, room: int, i: Var) -> tuple[Expr, str]:
    salt = k.draw.value.integer(3, 999)
    keys = k.array(("keys", "ids", "hashes"), INT32, "n", low=0, high=9999)
    return (keys[i] ^ salt) % room, f"(({keys.name} ^ {salt}) % {room})"


def _graded(k: KernelBuilder, room: int, i: Var) -> tuple[Expr, str]:
    width = float(k.draw.value.constant(0.1, 9.0))
    type_ = k.draw.wide_float_type()
    names = ("readings", "depths", "delays")
    levels = k.array(names, type_, "n", low=0, high=round(width * (room - 0.5), 3))
    return cast(levels[i] / width, INT32), f"int({levels.name} / {width})"


_PLACES: dict[str, Callable[[KernelBuilder, int, Var], tuple[Expr, str]]] = {
    "pattern": _named,
    "offset": _offset,
    "coarse": _coarse,
    "hashed": _hashed,
    "salted": _salted,
    "graded": _graded,
}


def _smear(k: KernelBuilder, word: Var) -> str:
    turn, times = k.draw.value.integer(1, 3), k.draw.value.integer(2, 3)
    with k.for_(("step", "r"), times):
        k.assign(word, word ^ (word << turn))
    return f", xored {times} times in a row with itself shifted left by {turn}"
