"""Bits of a word: counts, parity, reversal, lowest and highest bits, Gray codes."""

from __future__ import annotations

from dataclasses import replace

from generators.arithmetic.tasks import ONE, Input, Task, perform
from generators.arithmetic.types import UINT8, UINT16, UINT32, UINT64
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.sites import launch
from generators.program.dtypes import INT32, scalar_of
from generators.program.expr import Expr, Var, literal

_PAIRS = 0x5555555555555555
_NIBBLES = 0x3333333333333333
_BYTES = 0x0F0F0F0F0F0F0F0F
_WORDS = 0x00FF00FF00FF00FF
_LONGS = 0x0000FFFF0000FFFF
_ONES = 0x0101010101010101


def _mask(x: Expr, pattern: int) -> int:
    return pattern & ((1 << scalar_of(x.type).bits) - 1)


def _exchanged(x: Expr, shift: int, pattern: int) -> Expr:
    """Neighbouring groups of bits exchanged."""
    kept = _mask(x, pattern)
    return ((x >> shift) & kept) | ((x & kept) << shift)


def count_by_clearing(body: BodyBuilder, x: Expr) -> Expr:
    rest = body.let("rest v bits_left", x)
    count = body.let("count ones pop", literal(0, INT32))
    with body.while_(fn("ne", rest, 0)):
        body.assign(rest, rest & (rest - 1))
        body.augment(count, "add", 1)
    return count


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


def fold_parity(body: BodyBuilder, x: Expr) -> Expr:
    return _folded(body, "v folded acc", x) & 1


def decode_gray(body: BodyBuilder, x: Expr) -> Expr:
    return _folded(body, "v plain decoded", x)


def reverse_by_swaps(body: BodyBuilder, x: Expr) -> Expr:
    half = scalar_of(x.type).bits // 2
    v = body.let("v swapped rev", _exchanged(x, 1, _PAIRS))
    for shift, pattern in ((2, _NIBBLES), (4, _BYTES), (8, _WORDS), (16, _LONGS)):
        if shift < half:
            body.assign(v, _exchanged(v, shift, pattern))
    return (v >> half) | (v << half)


def reverse_bits_one_by_one(body: BodyBuilder, x: Expr) -> Expr:
    rev = body.let("rev mirrored turned", literal(0, x.type))
    v = body.let("v rest", x)
    with body.for_("bit step q", scalar_of(x.type).bits):
        body.assign(rev, (rev << 1) | (v & 1))
        body.assign(v, v >> 1)
    return rev


def smear(body: BodyBuilder, x: Expr) -> Expr:
    v = body.let("v smeared filled", x)
    shift = 1
    while shift < scalar_of(x.type).bits:
        body.assign(v, v | (v >> shift))
        shift *= 2
    return v


def highest_bit(body: BodyBuilder, x: Expr) -> Expr:
    v = smear(body, x)
    return v - (v >> 1)


def width_of(body: BodyBuilder, x: Expr) -> Expr:
    return fn("bit_count", smear(body, x))


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


_WORDS_IN = Input("words keys codes", 1, 0, local="x word")
_FLAGS_IN = Input("flags bitmasks sets", 1, 0, local="x word")
_INDEX_IN = Input("indices counters", 1, 0, local="index counter")


def _pair(first: str, second: str) -> dict[str, Input]:
    return {"a": Input(first, 1, 0), "b": Input(second, 1, 0)}


def _shifts(names: str) -> Input:
    return Input(names, 1, 6, ONE)


def _hamming(a: Expr, b: Expr) -> Expr:
    return fn("bit_count", a ^ b)


def _field_of(body: BodyBuilder, x: Expr, at: Expr, width: Expr) -> Expr:
    mask = body.let("mask field_mask", (body.lift(1, x.type) << width) - 1)
    return (x >> at) & mask


def _with_field(body: BodyBuilder, x: Expr, value: Expr, at: Expr, width: Expr) -> Expr:
    mask = body.let("mask field_mask", ((body.lift(1, x.type) << width) - 1) << at)
    return (x & ~mask) | ((value << at) & mask)


def _rotated(x: Expr, by: Expr) -> Expr:
    return (x << by) | (x >> (scalar_of(x.type).bits - by))


def _next_power(body: BodyBuilder, x: Expr) -> Expr:
    return smear(body, x - 1) + 1


def _same_count(body: BodyBuilder, x: Expr) -> Expr:
    low = body.let("lowest low", x & (~x + 1))
    ripple = body.let("ripple carried", x + low)
    return ripple | (((x ^ ripple) >> 2) // low)


_TASKS = (
    Task(
        "popcount count_set_bits",
        {"x": _FLAGS_IN},
        {"counts num_set": lambda x: fn("bit_count", x)},
        "Store in {out0} how many bits of each word of {x} are set.",
    ),
    Task(
        "count_ones kernighan_count",
        {"x": _FLAGS_IN},
        {"counts num_set": count_by_clearing},
        "Store in {out0} how many bits of each word of {x} are set, clearing the lowest set bit "
        "until none is left.",
    ),
    Task(
        "popcount_swar bit_population",
        {"x": _FLAGS_IN},
        {"counts num_set": count_by_halves},
        "Store in {out0} how many bits of each word of {x} are set, by adding neighbouring pairs, "
        "then nibbles, then bytes within the word.",
    ),
    Task(
        "fold_parity parity_bits",
        {"x": _WORDS_IN},
        {"parities parity": fold_parity},
        "Store in {out0} the parity of the set bits of each word of {x}, found by folding the "
        "word onto itself with exclusive or.",
    ),
    Task(
        "gray_encode to_gray",
        {"x": _INDEX_IN},
        {"gray gray_codes": lambda x: x ^ (x >> 1)},
        "Store in {out0} the Gray codes of the numbers {x}.",
    ),
    Task(
        "gray_decode from_gray",
        {"x": Input("gray_codes gray", 1, 0, local="code")},
        {"decoded numbers": decode_gray},
        "Store in {out0} the numbers whose Gray codes are {x}.",
    ),
    Task(
        "reverse_bits mirror_bits",
        {"x": _WORDS_IN},
        {"reversed_words mirrored": reverse_by_swaps},
        "Reverse the bits of each word of {x} by swapping neighbouring groups of 1, 2, 4 and more "
        "bits. Store it in {out0}.",
    ),
    Task(
        "reverse_bits bit_reversal",
        {"x": _WORDS_IN},
        {"reversed_words mirrored": reverse_bits_one_by_one},
        "Reverse the bits of each word of {x}, one bit after the other. Store it in {out0}.",
    ),
    Task(
        "isolate_lowest lowest_set_bit",
        {"x": _FLAGS_IN},
        {"lowest lowest_bits": lambda x: x & (~x + 1)},
        "Keep only the lowest set bit of each word of {x}. Store it in {out0}.",
    ),
    Task(
        "clear_lowest drop_lowest_bit",
        {"x": _FLAGS_IN},
        {"rest remaining": lambda x: x & (x - 1)},
        "Clear the lowest set bit of each word of {x}. Store it in {out0}.",
    ),
    Task(
        "trailing_zeros count_trailing_zeros",
        {"x": _FLAGS_IN},
        {"trailing num_trailing": lambda x: fn("bit_count", (x & (~x + 1)) - 1)},
        "Store in {out0} how many zero bits lie below the lowest set bit of each word of {x}.",
    ),
    Task(
        "leading_power highest_set_bit",
        {"x": _FLAGS_IN},
        {"highest highest_bits": highest_bit},
        "Keep only the highest set bit of each word of {x}. Store it in {out0}.",
    ),
    Task(
        "bit_length bit_width",
        {"x": Input("values numbers", 1, 0, local="x value")},
        {"bit_lengths widths": width_of},
        "Store in {out0} how many bits each of {x} takes without leading zeros.",
    ),
    Task(
        "next_power_of_two round_up_pow2",
        {"x": Input("sizes capacities", 1, 1)},
        {"rounded padded_sizes": _next_power},
        "Round each of {x} up to a power of two. Store it in {out0}.",
    ),
    Task(
        "is_power_of_two check_pow2",
        {"x": Input("sizes strides", 1, 12, local="x size")},
        {"is_pow2 power_flags": lambda x: fn("eq", x & (x - 1), 0)},
        "Store in {out0} whether each of {x} is a power of two; none of them is zero.",
    ),
    Task(
        "swap_bytes byteswap",
        {"x": _WORDS_IN},
        {"swapped byteswapped": swap_bytes},
        "Reverse the order of the bytes of each word of {x}. Store it in {out0}.",
    ),
    Task(
        "hamming_distance differing_bits",
        _pair("codes_a descriptors", "codes_b references"),
        {"distances": _hamming},
        "Store in {out0} in how many bits the words of {a} and {b} differ.",
    ),
    Task(
        "common_bits intersection_size",
        _pair("fingerprints_a sets_a", "fingerprints_b sets_b"),
        {"shared overlaps": lambda a, b: fn("bit_count", a & b)},
        "Store in {out0} how many bits are set in the words of both {a} and {b}.",
    ),
    Task(
        "covers_mask has_all_flags",
        {"x": Input("flags masks", 1, 0, local="x"), "need": Input("required", 1, 3, ONE)},
        {"matches allowed": lambda x, need: fn("eq", x & need, need)},
        "Store in {out0} whether each word of {x} has all the bits of {need} set.",
    ),
    Task(
        "extract_field unpack_field",
        {"x": _WORDS_IN, "at": _shifts("shift first_bit"), "width": _shifts("width num_bits")},
        {"fields extracted": _field_of},
        "Store in {out0} the field of {width} bits that begins at bit {at} of each word of {x}.",
    ),
    Task(
        "insert_field replace_field",
        {
            "x": _WORDS_IN,
            "value": Input("fields new_values", 1, 60, local="field new_value"),
            "at": _shifts("shift first_bit"),
            "width": _shifts("width num_bits"),
        },
        {"updated packed": _with_field},
        "Replace the field of {width} bits that begins at bit {at} of each word of {x} by the "
        "lowest bits of {value}. Store it in {out0}.",
    ),
    Task(
        "rotate_left rotl",
        {"x": _WORDS_IN, "by": _shifts("shift amount")},
        {"rotated": _rotated},
        "Rotate the bits of each word of {x} left by {by}, those that fall out coming back at the "
        "other end. Store it in {out0}.",
    ),
    Task(
        "next_combination gosper_step",
        {"x": Input("subsets masks", 1, 250, local="x subset")},
        {"next_subsets next_masks": _same_count},
        "Gosper's hack: store in {out0} the next larger word that has as many bits set as that of "
        "{x}, which is never zero.",
    ),
)

_LEAST_BITS = {
    "swap_bytes byteswap": 16,
    "reverse_bits bit_reversal": 32,
    "next_combination gosper_step": 16,
    "insert_field replace_field": 16,
    "extract_field unpack_field": 16,
}
"""From how many bits on a task is used, where not from 8 on."""


def _ranged(source: Input, top: int) -> Input:
    """An input with the range that its type leaves it, where it names none of its own: the whole,
    or half of it."""
    if source.high > 1:
        return source
    return replace(source, high=top if source.high == 0 else top // 2)


@idiom(depth=1)
def bit_tricks(k: KernelBuilder, level: int) -> Title:
    """Classic manipulations of one word, or of two: counts, codes, reversals, fields."""
    shape = k.draw.shape
    task = shape.choice(_TASKS)
    types = {UINT32: 5, UINT64: 3, UINT16: 2, UINT8: 2}
    types = {t: n for t, n in types.items() if t.bits >= _LEAST_BITS.get(task.title, 8)}
    type_ = shape.weighted(types)
    top = type_.int_range[1]
    inputs = {key: _ranged(source, top) for key, source in task.inputs.items()}
    return perform(launch(k, list=1), replace(task, inputs=inputs), type_)
