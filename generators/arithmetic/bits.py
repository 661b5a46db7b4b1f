"""Bits of a word: counts, parity, reversal, lowest and highest bits, Gray codes."""

from __future__ import annotations

from generators.arithmetic.common import alike
from generators.arithmetic.types import UINT8, UINT16, UINT32, UINT64
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Shelf
from generators.kit.naming import evaluated, held
from generators.kit.records import record
from generators.kit.sites import Site, launch
from generators.program.dtypes import INT32, Scalar, scalar_of
from generators.program.expr import Expr, Var, literal

_PAIRS = 0x5555555555555555
_NIBBLES = 0x3333333333333333
_BYTES = 0x0F0F0F0F0F0F0F0F
_WORDS = 0x00FF00FF00FF00FF
_LONGS = 0x0000FFFF0000FFFF
_ONES = 0x0101010101010101

_SIMPLE, _LONG = Shelf(), Shelf()
"""Tricks of one expression, and of several statements or constants."""

_WIDTHS = {"swap_bytes": 16, "reverse_bits_one_by_one": 32}
"""From how many bits on a trick is used."""


def _mask(x: Expr, pattern: int) -> int:
    return pattern & ((1 << scalar_of(x.type).bits) - 1)


def _exchanged(x: Expr, shift: int, pattern: int) -> Expr:
    """Neighbouring groups of bits exchanged."""
    kept = _mask(x, pattern)
    return ((x >> shift) & kept) | ((x & kept) << shift)


_SIMPLE.add(
    "bits", "count_bits popcount", lambda x: fn("bit_count", x), "the number of set bits of {x}"
)
_SIMPLE.add(
    "odd",
    "odd_parity parity_of_word",
    lambda x: fn("bit_count", x) & 1,
    "the parity of the number of set bits of {x}",
)
_SIMPLE.add(
    "lowest", "lowest_bit isolate_lowest", lambda x: x & (~x + 1), "the lowest set bit of {x}"
)
_SIMPLE.add(
    "cleared",
    "clear_lowest drop_lowest_bit",
    lambda x: x & (x - 1),
    "{x} without its lowest set bit",
)
_SIMPLE.add(
    "trailing",
    "trailing_zeros count_trailing",
    lambda x: fn("bit_count", (x & (~x + 1)) - 1),
    "the number of zero bits below the lowest set bit of {x}",
)
_SIMPLE.add(
    "filled",
    "fill_below set_trailing",
    lambda x: x | (x - 1),
    "{x} with the zeros below its lowest set bit set",
)
_SIMPLE.add("gray", "to_gray gray_encode", lambda x: x ^ (x >> 1), "the Gray code of {x}")
_SIMPLE.add(
    "edges",
    "bit_transitions count_runs",
    lambda x: fn("bit_count", x ^ (x >> 1)),
    "the number of set bits of {x} ^ ({x} >> 1)",
)
_LONG.add(
    "swap_nibbles",
    "swap_nibbles exchange_nibbles",
    lambda x: ((x & _mask(x, _BYTES)) << 4) | ((x >> 4) & _mask(x, _BYTES)),
    "{x} with the two nibbles of each byte exchanged",
)


@_LONG.formula(
    "count_ones kernighan_count",
    "the number of set bits of {x} (clear the lowest one until none is left)",
)
def count_by_clearing(body: BodyBuilder, x: Expr) -> Expr:
    rest = body.let("rest v bits_left", x)
    count = body.let("count ones pop", literal(0, INT32))
    with body.while_(fn("ne", rest, 0)):
        body.assign(rest, rest & (rest - 1))
        body.augment(count, "add", 1)
    return count


@_LONG.formula(
    "popcount_swar bit_population", "the number of set bits of {x} (sums of pairs, nibbles, bytes)"
)
def count_by_halves(body: BodyBuilder, x: Expr) -> Expr:
    width, nibbles = scalar_of(x.type).bits, _mask(x, _NIBBLES)
    v = body.let("v pairs", x - ((x >> 1) & _mask(x, _PAIRS)))
    body.assign(v, (v & nibbles) + ((v >> 2) & nibbles))
    body.assign(v, (v + (v >> 4)) & _mask(x, _BYTES))
    if width == 16:
        body.assign(v, (v + (v >> 8)) & 31)
    elif width > 16:
        body.assign(v, (v * _mask(x, _ONES)) >> (width - 8))
    return v


def _folded(body: BodyBuilder, names: str, x: Expr) -> Var:
    """A word xored with itself shifted right by half its width, a quarter, and so on."""
    v = body.let(names, x)
    shift = scalar_of(x.type).bits // 2
    while shift:
        body.assign(v, v ^ (v >> shift))
        shift //= 2
    return v


@_LONG.formula("parity_bit fold_parity", "the parity of the set bits of {x} by xor folding")
def fold_parity(body: BodyBuilder, x: Expr) -> Expr:
    return _folded(body, "v folded acc", x) & 1


@_LONG.formula("from_gray gray_decode", "the number whose Gray code is {x}")
def decode_gray(body: BodyBuilder, x: Expr) -> Expr:
    return _folded(body, "v plain decoded", x)


@_LONG.formula("reverse_bits mirror_bits", "{x} with its bits reversed")
def reverse_by_swaps(body: BodyBuilder, x: Expr) -> Expr:
    half = scalar_of(x.type).bits // 2
    v = body.let("v swapped rev", _exchanged(x, 1, _PAIRS))
    for shift, pattern in ((2, _NIBBLES), (4, _BYTES), (8, _WORDS), (16, _LONGS)):
        if shift < half:
            body.assign(v, _exchanged(v, shift, pattern))
    return (v >> half) | (v << half)


@_LONG.formula("bit_reversal reversed_word", "{x} with its bits reversed, bit by bit")
def reverse_bits_one_by_one(body: BodyBuilder, x: Expr) -> Expr:
    rev = body.let("rev mirrored turned", literal(0, x.type))
    v = body.let("v rest", x)
    with body.for_("bit step q", scalar_of(x.type).bits):
        body.assign(rev, (rev << 1) | (v & 1))
        body.assign(v, v >> 1)
    return rev


@_LONG.formula("smear_right mask_of_width", "{x} with all bits below its highest one set")
def smear(body: BodyBuilder, x: Expr) -> Expr:
    v = body.let("v smeared filled", x)
    shift = 1
    while shift < scalar_of(x.type).bits:
        body.assign(v, v | (v >> shift))
        shift *= 2
    return v


@_LONG.formula("highest_bit leading_power", "the highest set bit of {x}")
def highest_bit(body: BodyBuilder, x: Expr) -> Expr:
    v = smear(body, x)
    return v - (v >> 1)


@_LONG.formula("bit_width bit_length", "the number of bits that {x} takes (zero for zero)")
def width_of(body: BodyBuilder, x: Expr) -> Expr:
    return fn("bit_count", smear(body, x))


@_LONG.formula("swap_bytes byteswap", "{x} with its bytes in reverse order")
def swap_bytes(body: BodyBuilder, x: Expr) -> Expr:
    width = scalar_of(x.type).bits
    if width == 16:
        return (x << 8) | (x >> 8)
    if width == 32:
        low = body.let("low inner", ((x & 0xFF00) << 8) | ((x >> 8) & 0xFF00))
        return (x << 24) | low | (x >> 24)
    v = body.let("v swapped", _exchanged(x, 8, _WORDS))
    body.assign(v, _exchanged(v, 16, _LONGS))
    return (v >> 32) | (v << 32)


@idiom(depth=1)
def bit_tricks(k: KernelBuilder, level: int) -> Title:
    """Classic manipulations of one word, of two, with a mask; several outputs at higher levels."""
    shape = k.draw.shape
    type_ = shape.weighted({UINT32: 5, UINT64: 3, UINT16: 2, UINT8: 2})
    s = launch(k, list=3, grid=2, cube=1)
    word, text = _word(s, level, type_)
    simple = _SIMPLE.cards if level < 3 else (_SIMPLE.card("trailing"), _SIMPLE.card("edges"))
    known = [*simple, *(_LONG.cards if level > 1 else ())]
    known = [trick for trick in known if _WIDTHS.get(trick.name, 8) <= type_.bits]
    chosen = shape.sample(known, 1 if level < 4 else 2)
    done = []
    for trick in chosen:
        chance = 0.7 if level >= 3 and trick in _LONG.cards else 0.0
        value = evaluated(k, chance, trick, {"x": word})
        out = s.put([f"{name}_out" for name in trick.outs.split()], value)
        done.append(f"{out.name} gets {trick.said({'x': text})}.")
    if level >= 4 and shape.chance(0.15):
        done.append(_tested(s, word, text))
    return Title(k.name(chosen[0].outs), f"Bit tricks on words: {' '.join(done)}")


def _tested(s: Site, word: Expr, text: str) -> str:
    """Whether some bits of the word are set, as a bool."""
    names = "is_set flagged bit_is_set"
    if s.k.draw.shape.chance(0.5):
        bit = s.k.draw.value.integer(0, 4)
        out = s.put(names, fn("ne", (word >> bit) & 1 if bit else word & 1, 0))
        return f"{out.name} says whether bit {bit} of {text} is set."
    pattern = s.k.scalar("pattern required", word.type, 1, 3)
    out = s.put(names, fn("eq", word & pattern, pattern))
    return f"{out.name} says whether all bits of {pattern.name} are set in {text}."


def _word(s: Site, level: int, type_: Scalar) -> tuple[Expr, str]:
    """The word that tricks work on: an element, masked, shifted, combined with another."""
    k, shape, top = s.k, s.k.draw.shape, type_.int_range[1]
    form = shape.choice(("plain", "masked", "bit_xor", "bit_and", "bit_or", "shifted", "inverted"))
    parts = alike(type_, 1, top, a="words codes keys flags", b="others masks reference")
    if not form.startswith("bit_"):
        parts.pop("b")
    r = record(s, "Entry Pair", parts, 0.2 if level > 1 else 0.1)
    a, text = r["a"], r.say("a")
    if "b" in parts:
        sign = {"bit_xor": "^", "bit_and": "&", "bit_or": "|"}[form]
        return k.let("x word v0", fn(form, a, r["b"])), f"({text} {sign} {r.say('b')})"
    if form == "masked":
        mask = k.scalar("mask keep", type_, top // 3, top)
        return k.let("x word v0", a & mask), f"({text} & {mask.name})"
    if form == "shifted":
        by = k.draw.value.integer(1, 3)
        return k.let("x word v0", a >> by), f"({text} >> {by})"
    if form == "inverted":
        return k.let("x word v0", ~a), f"~{text}"
    return held(k, "x word v0", a), text
