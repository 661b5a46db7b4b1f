"""Bits and words: masks of groups, packed winners, checksums of blocks."""

from __future__ import annotations

from collections.abc import Callable

from generators.atomic.tally import GROUPS, INT64, UINT32, UINT64, Tally, threads
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.sites import over
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_FLAGS = {"or": "seen any_set", "and": "allowed remaining", "xor": "parity toggled"}


@idiom(depth=2)
def group_flags(k: KernelBuilder, level: int) -> Title:
    """Bitwise or, and, exclusive or of masks, gathered for each group."""
    shape, type_ = k.draw.shape, k.draw.shape.weighted({UINT32: 3, UINT64: 1})
    t = Tally(level, threads(k, "n", 64, 96, "i e"))
    m = k.size("m", 10, 14)
    if level >= 3:
        t.mask()
    kinds = shape.sample(sorted(_FLAGS), 2 if level >= 3 and shape.chance(0.5) else 1)
    counted, wide = t.chance(0.6, 4), t.chance(0.25)
    often = 1.0 if len(kinds) > 1 or level >= 4 else 0.3
    dims: tuple[str, ...] = (m,)
    slots: tuple[Expr, ...] = ()
    if wide:
        dims, bits = (m, k.size("num_words", 3, 4)), type_.bits
        item: Expr = t.s.read("elements items ids", INT32, init=f"index_of:{bits}*num_words")
        item = t.let("item x element", item)
        flag, slots = _bit(item % bits, type_), (item // bits,)
    else:
        flag = _word(t, type_)
    flag = t.let("flag word mask_bits", flag, often)
    if not wide and t.chance(0.3, 3):
        mask = k.scalar("relevant enabled_bits", type_, 2**24 + 12345, 2**31 - 1)
        flag = t.let("kept relevant_bits", flag & mask)
    if isinstance(flag, Var):
        t.define("w", flag)
    group: Expr = t.s.read(GROUPS, INT32, init=f"index_of:{m}")
    group = t.let("g group slot", group, 1.0 if len(kinds) > 1 or counted else 0.0)
    for kind in kinds:
        word = fn("invert", flag) if kind == "and" else flag
        t.into(_FLAGS[kind], dims, (group, *slots), word, kind)
    if counted:
        t.into("num_entries members", m, group)
    return t.title("gather_flags mark_groups combine_masks")


def _bit(place: Expr, type_: Scalar) -> Expr:
    return KernelBuilder.lift(1, type_) << cast(place, type_)


def _hour(t: Tally, type_: Scalar) -> Expr:
    minutes = t.s.read("minutes minute_of_day", INT32, 0, 1439)
    return _bit(minutes // t.k.draw.value.choice((60, 90)), type_)


def _day(t: Tally, type_: Scalar) -> Expr:
    days = t.s.read("days serials", INT32, 20, type_.bits + 10)
    return _bit(days - t.k.scalar("first_day start_day", INT32, 12, 20), type_)


def _bloom(t: Tally, type_: Scalar) -> Expr:
    """One or two bits of a Bloom filter."""
    key = t.let("key h", t.s.read("keys ids hashes", INT32, 0, 9999))
    first, second = t.k.draw.value.choice(((31, 17), (37, 101), (7, 13)))
    flag = _bit(first * key % type_.bits, type_)
    return flag | _bit((second * key + 5) % type_.bits, type_) if t.chance(0.6) else flag


def _grade(t: Tally, type_: Scalar) -> Expr:
    real = t.k.draw.wide_float_type()
    grade = t.s.read("readings depths delays", real, 0, 0.45 * type_.bits)
    return _bit(cast(grade / t.k.scalar("step level_height", real, 0.5, 0.55), INT32), type_)


def _field(t: Tally, type_: Scalar) -> Expr:
    """A small number in one of the fields of a word."""
    width = t.k.draw.value.choice((2, 4))
    slot = t.s.read("slots fields lanes", INT32, 0, type_.bits // width - 1)
    code = t.s.read("codes states", INT32, 1, 2**width - 1)
    return cast(code, type_) << cast(width * slot, type_)


_WORDS: tuple[Callable[[Tally, Scalar], Expr], ...] = (
    lambda t, type_: _bit(t.s.read("bits events channel", INT32, 0, type_.bits - 1), type_),
    _hour,
    _day,
    _bloom,
    _grade,
    _field,
)


def _word(t: Tally, type_: Scalar) -> Expr:
    """The word of an entry."""
    return t.k.draw.shape.choice(_WORDS)(t, type_)


@idiom(depth=2)
def packed_winner(k: KernelBuilder, level: int) -> Title:
    """The best entry of each group, its value and its number packed into one integer."""
    shape, key = k.draw.shape, k.draw.shape.choice((INT64, UINT64))
    t = Tally(level, threads(k, "n", 64, 90))
    (i,), m = t.s.at, k.size("groups", 6, 9)
    grouped, lowest = t.chance(0.75), t.chance(0.4)
    score = shape.choice((INT32, Scalar("uint16"), Scalar("int16")))
    value = cast(t.s.read("score priority votes", score, 0, 5000), INT32)
    if t.chance(0.5, 2):
        value = value + t.s.read("handicap penalty", INT32, 0, 60)
    if t.chance(0.4, 2):
        value = t.let("s value", value)
        if lowest:
            t.skip(value < k.scalar("min_score least", INT32, 400, 1500))
        else:
            t.skip(value > k.scalar("max_score ceiling", INT32, 3000, 4500))
    shifted, index = cast(value, key) << 32, cast(i, key)
    if not lowest and t.chance(0.4, 2):
        index = k.lift(2**32 - 1, key) - index
        t.notes.append(" Of equal values the first entry wins.")
    joined = fn("bit_or", shifted, index) if t.chance(0.6) else shifted + index
    joined = t.let("code packed_key entry", joined, 1.0 if level >= 3 else 0.5)
    at: Expr = k.lift(0, INT32)
    if grouped:
        at = t.let("g slot", t.s.read("group owner tile", INT32, init=f"index_of:{m}"), 0.3)
    how, start = ("min", 2**62) if lowest else ("max", 0)
    dims = m if grouped else "1"
    t.into("best winner packed", dims, at, joined, how, start)
    if t.chance(0.4, 3) and grouped:
        t.into("num_seen entries", dims, at)
    name = "packed_argmin" if lowest else "packed_argmax"
    return t.title(f"{name} best_entry pick_winner", f"For each entry {t.s.where}: ")


@idiom
def block_checksum(k: KernelBuilder, level: int) -> Title:
    """Hashed words of each block, joined by exclusive or, by a sum or by both."""
    shape, type_ = k.draw.shape, k.draw.shape.choice((UINT32, UINT64))
    if shape.chance(0.6):
        s = over(k, "blocks words", k.draw.word.choice(("b j", "row col")), ((8, 12), (6, 8)))
        block, where = s.at[0], "block (row)"
    else:
        size = 4
        s = threads(k, "blocks", 8, 12, dims=f"{size}*blocks")
        block, where = k.let("b block", s.at[0] // size), f"block of {size} words"
    t = Tally(level, s)
    word = k.let("h w x", s.read("words data payload", type_, 0, 2**31))
    text = t.say(word)
    t.known[word] = "w"
    t.known[block] = "b"
    steps = _mixed(t, word)
    kind = t.pick("xor", "add")
    t.into("checksum digest block_hash", "blocks", block, word, kind)
    if t.chance(0.4, 3):
        other = "add" if kind == "xor" else "xor"
        t.into("sum_hash" if other == "add" else "xor_hash", "blocks", block, word, other)
    opening = f"A digest of each {where} b, whose words w in {text} are hashed first: "
    closing = f" The hash is {', then '.join(steps)} (modulo 2^{type_.bits})."
    return t.title("block_checksum hash_blocks page_digest", opening, closing)


_MIXERS: dict[int, dict[str, tuple[tuple[int, int], ...]]] = {
    32: {
        "MurmurHash3's finaliser": ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 0)),
        "xxHash's avalanche": ((15, 2246822519), (13, 3266489917), (16, 0)),
        "lowbias32": ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 0)),
    },
    64: {
        "MurmurHash3's finaliser": ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53), (33, 0)),
        "xxHash's avalanche": ((33, 14029467366897019727), (29, 1609587929392839161), (32, 0)),
        "SplitMix64's": ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 0)),
    },
}
"""Known mixers of words by width: shifts of ``w ^= w >> s``, and the factor after each (0: none);
A. Appleby's MurmurHash3, Y. Collet's xxHash, C. Wellons' lowbias32, S. Vigna's SplitMix64."""


def _mixed(t: Tally, h: Var) -> list[str]:
    """Mix a word step by step; says how."""
    k, type_, steps = t.k, h.type, []
    assert isinstance(type_, Scalar)
    if t.chance(0.5):
        salt = k.scalar("salt seed", type_, 1, 10**6)
        k.assign(h, h ^ salt)
        steps.append(f"w ^= {salt.name}")
    if t.chance(0.6, 2):
        place = t.s.at[-1]
        if t.chance(0.5, 3):
            odd = k.lift(2654435769 if type_.bits == 32 else 0x9E3779B97F4A7C15, type_)
            k.augment(h, "add", cast(place, type_) * odd)
            steps.append(f"w += {t.say(place)} * {t.say(odd)}")
        else:
            k.augment(h, "add", cast(place, type_))
            steps.append(f"w += {t.say(place)}")
    for shift, factor in _MIXERS[type_.bits][t.pick(*_MIXERS[type_.bits])]:
        k.assign(h, h ^ (h >> shift))
        steps.append(f"w ^= w >> {shift}")
        if factor:
            k.augment(h, "mul", factor)
            steps.append(f"w *= {factor}")
    return steps
