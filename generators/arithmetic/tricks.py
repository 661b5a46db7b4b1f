"""Tricks on the bits of a word: counts, parity, reversal, lowest and highest bits, Gray code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.arithmetic.parts import (
    INT32,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    Grid,
    elements,
    grid,
    local,
)
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import BOOL, Scalar
from generators.program.expr import Expr, literal

_PAIRS = 0x5555555555555555


_NIBBLES = 0x3333333333333333


_BYTES = 0x0F0F0F0F0F0F0F0F


def _mask(pattern: int, type_: Scalar) -> int:
    return pattern & ((1 << type_.bits) - 1)


def scalar(x: Expr) -> Scalar:
    assert isinstance(x.type, Scalar)
    return x.type


def _lowest(x: Expr) -> Expr:
    return x & (~x + 1)


def _kernighan(b: BodyBuilder, x: Expr) -> Expr:
    rest = b.let("rest v bits_left", x)
    count = b.let("count ones pop", literal(0, INT32))
    with b.while_(fn("ne", rest, 0)):
        b.assign(rest, rest & (rest - 1))
        b.augment(count, "add", 1)
    return count


def _count_by_halves(b: BodyBuilder, x: Expr) -> Expr:
    type_ = scalar(x)
    v = b.let("v pairs", x - ((x >> 1) & _mask(_PAIRS, type_)))
    b.assign(v, (v & _mask(_NIBBLES, type_)) + ((v >> 2) & _mask(_NIBBLES, type_)))
    b.assign(v, (v + (v >> 4)) & _mask(_BYTES, type_))
    if type_.bits == 16:
        b.assign(v, (v + (v >> 8)) & 31)
    elif type_.bits > 16:
        ones = 0x0101010101010101
        b.assign(v, (v * _mask(ones, type_)) >> (type_.bits - 8))
    return v


def _parity(b: BodyBuilder, x: Expr) -> Expr:
    v = b.let("v folded acc", x)
    shift = scalar(x).bits // 2
    while shift:
        b.assign(v, v ^ (v >> shift))
        shift //= 2
    return v & 1


def _reverse_by_swaps(b: BodyBuilder, x: Expr) -> Expr:
    type_ = scalar(x)
    v = b.let(
        "v swapped rev", ((x >> 1) & _mask(_PAIRS, type_)) | ((x & _mask(_PAIRS, type_)) << 1)
    )
    for shift, pattern in ((2, _NIBBLES), (4, _BYTES), (8, 0x00FF00FF00FF00FF)):
        if shift < type_.bits // 2:
            kept = _mask(pattern, type_)
            b.assign(v, ((v >> shift) & kept) | ((v & kept) << shift))
    half = type_.bits // 2
    if type_.bits == 64:
        kept = 0x0000FFFF0000FFFF
        b.assign(v, ((v >> 16) & kept) | ((v & kept) << 16))
    return (v >> half) | (v << half)


def _reverse_by_loop(b: BodyBuilder, x: Expr) -> Expr:
    type_ = scalar(x)
    rev = b.let("rev mirrored turned", literal(0, type_))
    v = b.let("v rest", x)
    with b.for_("bit step q", type_.bits):
        b.assign(rev, (rev << 1) | (v & 1))
        b.assign(v, v >> 1)
    return rev


def _smear(b: BodyBuilder, x: Expr) -> Expr:
    type_ = scalar(x)
    v = b.let("v smeared filled", x)
    shift = 1
    while shift < type_.bits:
        b.assign(v, v | (v >> shift))
        shift *= 2
    return v


def _highest(b: BodyBuilder, x: Expr) -> Expr:
    v = _smear(b, x)
    return v - (v >> 1)


def _gray_decode(b: BodyBuilder, x: Expr) -> Expr:
    v = b.let("v plain decoded", x)
    shift = scalar(x).bits // 2
    while shift:
        b.assign(v, v ^ (v >> shift))
        shift //= 2
    return v


def _swap_bytes(b: BodyBuilder, x: Expr) -> Expr:
    type_ = scalar(x)
    if type_.bits == 16:
        return (x << 8) | (x >> 8)
    if type_.bits == 32:
        low = b.let("low inner", ((x & 0xFF00) << 8) | ((x >> 8) & 0xFF00))
        return (x << 24) | low | (x >> 24)
    kept = 0x00FF00FF00FF00FF
    v = b.let("v swapped", ((x >> 8) & kept) | ((x & kept) << 8))
    b.assign(v, ((v >> 16) & 0x0000FFFF0000FFFF) | ((v & 0x0000FFFF0000FFFF) << 16))
    return (v >> 32) | (v << 32)


def _swap_nibbles(b: BodyBuilder, x: Expr) -> Expr:
    low = _mask(_BYTES, scalar(x))
    return ((x & low) << 4) | ((x >> 4) & low)


@dataclass(frozen=True)
class Trick:
    """What a trick is called, how it is written, what it gives, and from which width on."""

    names: tuple[str, ...]
    write: Callable[[BodyBuilder, Expr], Expr]
    text: str
    simple: bool = False
    bits: int = 8


TRICKS: dict[str, Trick] = {
    "builtin_count": Trick(
        ("count_bits", "popcount"),
        lambda b, x: fn("bit_count", x),
        "the number of set bits of {}",
        simple=True,
    ),
    "kernighan": Trick(
        ("count_ones", "kernighan_count"),
        _kernighan,
        "the number of set bits of {} (clear the lowest one until none is left)",
    ),
    "halves": Trick(
        ("popcount_swar", "bit_population"),
        _count_by_halves,
        "the number of set bits of {} (sums of pairs, nibbles, bytes)",
    ),
    "parity": Trick(
        ("parity_bit", "fold_parity"), _parity, "the parity of the set bits of {} by xor folding"
    ),
    "builtin_parity": Trick(
        ("odd_parity", "parity_of_word"),
        lambda b, x: fn("bit_count", x) & 1,
        "the parity of the number of set bits of {}",
        simple=True,
    ),
    "reverse": Trick(
        ("reverse_bits", "mirror_bits"), _reverse_by_swaps, "{} with its bits reversed"
    ),
    "reverse_loop": Trick(
        ("bit_reversal", "reversed_word"),
        _reverse_by_loop,
        "{} with its bits reversed, bit by bit",
        bits=32,
    ),
    "lowest": Trick(
        ("lowest_bit", "isolate_lowest"),
        lambda b, x: _lowest(x),
        "the lowest set bit of {}",
        simple=True,
    ),
    "clear": Trick(
        ("clear_lowest", "drop_lowest_bit"),
        lambda b, x: x & (x - 1),
        "{} without its lowest set bit",
        simple=True,
    ),
    "trailing": Trick(
        ("trailing_zeros", "count_trailing"),
        lambda b, x: fn("bit_count", _lowest(x) - 1),
        "the number of zero bits below the lowest set bit of {}",
        simple=True,
    ),
    "fill": Trick(
        ("fill_below", "set_trailing"),
        lambda b, x: x | (x - 1),
        "{} with the zeros below its lowest set bit set",
        simple=True,
    ),
    "highest": Trick(("highest_bit", "leading_power"), _highest, "the highest set bit of {}"),
    "smear": Trick(
        ("smear_right", "mask_of_width"), _smear, "{} with all bits below its highest one set"
    ),
    "width": Trick(
        ("bit_width", "bit_length"),
        lambda b, x: fn("bit_count", _smear(b, x)),
        "the number of bits that {} takes (zero for zero)",
    ),
    "gray": Trick(
        ("to_gray", "gray_encode"), lambda b, x: x ^ (x >> 1), "the Gray code of {}", simple=True
    ),
    "ungray": Trick(("from_gray", "gray_decode"), _gray_decode, "the number whose Gray code is {}"),
    "bytes": Trick(
        ("swap_bytes", "byteswap"), _swap_bytes, "{} with its bytes in reverse order", bits=16
    ),
    "nibbles": Trick(
        ("swap_nibbles", "exchange_nibbles"),
        lambda b, x: ((x & _mask(_BYTES, scalar(x))) << 4) | ((x >> 4) & _mask(_BYTES, scalar(x))),
        "{} with the two nibbles of each byte exchanged",
    ),
    "edges": Trick(
        ("bit_transitions", "count_runs"),
        lambda b, x: fn("bit_count", x ^ (x >> 1)),
        "the number of set bits of {0} ^ ({0} >> 1)",
        simple=True,
    ),
}


@idiom
def bit_tricks(k: KernelBuilder, level: int) -> Title:
    """Classic manipulations of one word, of two, with a mask; several outputs at higher levels."""
    shape = k.draw.shape
    type_ = shape.weighted({UINT32: 5, UINT64: 3, UINT16: 2, UINT8: 2})
    g = grid(k, {1: 3, 2: 2, 3: 1})
    word, text = _word(k, level, g, type_)
    known = [n for n, t in TRICKS.items() if t.bits <= type_.bits and (t.simple or level > 1)]
    if level >= 3:
        known = [n for n in known if not TRICKS[n].simple] + ["trailing", "edges"]
    chosen = shape.sample(sorted(known), 1 if level < 3 else 2 if level < 5 else 3)
    done = []
    for name in chosen:
        trick = TRICKS[name]
        value = _applied(k, level, trick, word)
        out = k.out(tuple(f"{n}_out" for n in trick.names), scalar(value), g.sizes)
        k.store(out, g.at, value)
        done.append(f"{out.name} gets {trick.text.format(text)}.")
    if level >= 4 and shape.chance(0.6):
        done.append(_tested(k, g, word, text))
    return Title(k.name(*TRICKS[chosen[0]].names), " ".join(done))


def _applied(k: KernelBuilder, level: int, trick: Trick, word: Expr) -> Expr:
    if level >= 3 and not trick.simple and k.draw.shape.chance(0.7):
        name = helper(k, trick.names, [("x", word.type)], trick.write)
        return k.call(name, word)
    return trick.write(k, word)


def _tested(k: KernelBuilder, g: Grid, word: Expr, text: str) -> str:
    """Whether one bit of the word is set, as a bool."""
    out = k.out("is_set flagged bit_is_set", BOOL, g.sizes)
    if k.draw.shape.chance(0.5):
        bit = k.draw.value.integer(0, 4)
        k.store(out, g.at, fn("ne", (word >> bit) & 1, 0))
        return f"{out.name} says whether bit {bit} of {text} is set."
    pattern = k.scalar("pattern required", scalar(word), 1, 3)
    k.store(out, g.at, fn("eq", word & pattern, pattern))
    return f"{out.name} says whether all bits of {pattern.name} are set in {text}."


def _word(k: KernelBuilder, level: int, g: Grid, type_: Scalar) -> tuple[Expr, str]:
    """The word that tricks work on: an element, masked, shifted, combined with another."""
    top = 2**type_.bits - 1
    first = (("words", "codes", "keys", "flags"), type_, 1, top)
    form = k.draw.shape.choice(("plain", "masked", "xor", "and", "or", "shifted", "inverted"))
    names = "x word v0"
    if form in ("xor", "and", "or"):
        second = (("others", "masks", "reference"), type_, 1, top)
        a, b = elements(k, [first, second], g, "Entry Pair", 0.2 if level > 1 else 0.1)
        sign = {"xor": "^", "and": "&", "or": "|"}[form]
        value = fn(f"bit_{form}", a.value, b.value)
        return k.let(names, value), f"({a.text} {sign} {b.text})"
    (a,) = elements(k, [first], g, "Entry", 0.0)
    if form == "masked":
        mask = k.scalar("mask keep", type_, top // 3, top)
        return k.let(names, a.value & mask), f"({a.text} & {mask.name})"
    if form == "shifted":
        by = k.draw.value.integer(1, 3)
        return k.let(names, a.value >> by), f"({a.text} >> {by})"
    if form == "inverted":
        return k.let(names, ~a.value), f"~{a.text}"
    return local(k, names, a.value), a.text
