"""Columns of whole numbers in few bits each: frames of reference, deltas, dictionaries, nulls.

J. Goldstein, R. Ramakrishnan, U. Shaft, ICDE 1998; exceptions: M. Zukowski, S. Heman, N. Nes,
P. Boncz, ICDE 2006; lists of ids: D. Lemire, L. Boytsov, Softw. Pract. Exper. 45 (2015).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import same
from generators.kit.functions import where
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT32, INT64 = Scalar("uint32"), Scalar("int64")
WORD = 32
"""Values of a block, so that a block of values of w bits is w words long."""


@dataclass
class _Column:
    """A packed column: blocks of 32 values, a thread for each value or each block."""

    k: KernelBuilder
    words: Var
    block: Var
    width: Expr
    start: Expr
    """The first word of the block."""
    bits: int | None
    """How many bits a value has, where all have as many."""
    told: list[str] = field(default_factory=list)

    def value(self, lane: Expr) -> Var:
        """The bits of a value, which may lie in two words."""
        k = self.k
        bit = k.let("bit bit_pos", lane * self.width)
        word = k.let("w word_idx", self.start + (bit >> 5))
        shift = k.let("shift off", bit & 31)
        raw = k.let("raw packed_value", self.words[word] >> cast(shift, UINT32))
        with k.if_(shift + self.width > WORD):
            rest = cast(k.lift(WORD, INT32) - shift, UINT32)
            k.assign(raw, raw | (self.words[word + 1] << rest))
        if self.bits is None:
            mask: Expr = (k.lift(1, UINT32) << cast(self.width, UINT32)) - 1
        else:
            mask = k.lift(2**self.bits - 1, UINT32)
        return k.let("code", raw & mask)


def _column(k: KernelBuilder, level: int, block: Var) -> _Column:
    """Words and widths: one width for a column, or a width and a first word for each block."""
    shape = k.draw.shape
    names = "packed_words bit_stream"
    if shape.chance(0.75 - 0.15 * level):
        width = k.draw.value.choice((5, 7, 10, 11, 12, 13, 17, 20))
        words = k.array(names, UINT32, f"column_blocks*{width}", low=0, high=2**32 - 1)
        c = _Column(k, words, block, k.lift(width, INT32), block * width, width)
        c.told.append(f"Each value has {width} bits, and a block of 32 values {width} words")
        return c
    # No block has more than 17 words, and the last of the starts is low enough for that.
    words = k.array(names, UINT32, "column_blocks*17", low=0, high=2**32 - 1)
    widths = k.array("widths bit_widths", INT32, "column_blocks", low=3, high=17)
    starts = k.array(
        "word_starts block_starts", INT32, "column_blocks", init="sorted", low=0, high=_LAST
    )
    c = _Column(k, words, block, k.let("width nbits", widths[block]), starts[block], None)
    at = block.name
    c.told.append(
        f"Values of block {at} have {widths.name}[{at}] bits each (1 to 17), 32 of them in words "
        f"{starts.name}[{at}] on"
    )
    return c


_LAST, _BLOCKS = 100, 8
"""Where the last block may begin, and the fewest blocks: 8 * 17 words hold 17 from word 100 on."""


def _signed(k: KernelBuilder, code: Var) -> Expr:
    """Zigzag: even codes are halves, odd ones negative."""
    half = k.let("half mag", cast(code >> 1, INT32))
    return where(same(code & 1, 0), half, -half - 1)


_ZIGZAG = "a code c stands for c / 2 where it is even and for -(c + 1) / 2 where it is odd"


def _values(k: KernelBuilder, level: int) -> tuple[Var, Var, tuple[Var, ...], str]:
    """A thread for each of a list of row numbers.

    Gives the block, the place within it, the place of the result and that in words.
    """
    k.size("column_blocks", _BLOCKS, 12, minimum=_BLOCKS)
    k.size("lookups", 60, 80)
    (q,) = k.thread("lookups", names=(k.name("q tid"),))
    rows = k.array("row_ids rows_wanted", INT32, "lookups", init=f"index_of:column_blocks*{WORD}")
    i = k.let("i row", rows[q])
    at, said = (q,), f"the value of row i for each i in {rows.name}"
    block = k.let("blk b", i >> 5)
    lane = k.let("lane slot", i & 31)
    return block, lane, at, f"{said} (place i % 32 of block i / 32, rounded down)"


@idiom
def unpack_frames(k: KernelBuilder, level: int) -> Title:
    """Values of a packed column: the base of their block and what they are above it."""
    shape = k.draw.shape
    if level > 2 and shape.chance(0.35):
        return _running(k, level)
    block, lane, at, said = _values(k, level)
    c = _column(k, level, block)
    nulls = _nulls(c, lane, level) if level > 1 and shape.chance(0.4) else None
    code = c.value(lane if nulls is None else nulls[1])
    value, rule, name = _restored(c, code, level)
    if level > 2 and nulls is None and value.type != FLOAT32 and shape.chance(0.45):
        value, text = _patched(c, lane, value)
        rule += text
    out = k.out("decoded fetched", value.type, "lookups")
    if nulls is None:
        k.store(out, at, value)
        tail = ""
    else:
        fill = k.scalar("null_value fill", value.type, -9, -1)
        k.store(out, at, where(nulls[0], value, fill))
        tail = nulls[2].format(out=out.name, fill=fill.name)
    text = f"Fetch {said}, from a packed column. {c.told[0]}, the first in the lowest bits and "
    text += "values running on from "
    text += f"one word of {c.words.name} to the next; {out.name} gets {rule}.{tail}"
    return Title(k.name(*name.split()), text)


_Nulls = tuple[Expr, Expr, str]
"""Whether a value is there, its place among those that are packed, and a sentence."""


def _nulls(c: _Column, lane: Var, level: int) -> _Nulls:
    """A validity bitmap; values that are null take no place, or take one that is not looked at."""
    k = c.k
    maps = k.array("validity valid_bits", UINT32, "column_blocks", low=0, high=2**32 - 1)
    bits = k.let("bits valid", maps[c.block])
    there = same((bits >> cast(lane, UINT32)) & 1, 1)
    text = f" Where bit i % 32 of {maps.name}[i / 32] is 0 the value is null and {{out}} gets "
    text += "{fill}"
    if level < 3 or k.draw.shape.chance(0.4):
        return there, lane, f"{text} (it has its place among the packed ones all the same)."
    below = k.let("below mask", (k.lift(1, UINT32) << cast(lane, UINT32)) - 1)
    place = k.let("place rank", fn("bit_count", bits & below))
    return (
        there,
        place,
        (
            f"{text}. Only values that are not null are packed, one after the other from the start "
            "of their block."
        ),
    )


def _restored(c: _Column, code: Var, level: int) -> tuple[Expr, str, str]:
    """The value that a code stands for, in words, and names of such a kernel."""
    k, shape = c.k, c.k.draw.shape
    low = shape.weighted({"frame": 3, "decimal": 1, "zigzag": int(level > 1), "words": level > 1})
    shared = shape.chance(0.2)
    at = c.block.name
    if low == "words" and c.bits is not None and c.bits < 12:
        table = k.array("dictionary distinct_values", FLOAT32, str(2**c.bits), low=0.5, high=9.5)
        names = "dictionary_decode decode_dictionary"
        return table[cast(code, INT32)], f"{table.name}[its code]", names
    kind = INT64 if shape.chance(0.3) else INT32
    names = "base_value frame_base" if shared else "bases references block_min"
    if shared:
        base: Expr = k.scalar(names, kind, -5000, 5000)
        said = str(getattr(base, "name", ""))
    else:
        bases = k.array(names, kind, "column_blocks", low=-5000, high=5000)
        base, said = bases[c.block], f"{bases.name}[{at}]"
    if low == "zigzag":
        offset = _signed(k, code)
        value = base + cast(offset, kind)
        return value, f"{said} plus what its code says: {_ZIGZAG}", "unpack_zigzag decode_zigzag"
    value = base + cast(code, kind)
    if low == "decimal":
        scale = k.scalar("unit decimal_scale", FLOAT32, 0.01, 0.1)
        value = scale * cast(value, FLOAT32)
        return value, f"{scale.name} * ({said} + its code), in float32", "decode_decimals"
    return value, f"{said} + its code", "frame_of_reference_decode unpack_frames"


def _patched(c: _Column, lane: Var, value: Expr) -> tuple[Expr, str]:
    """Values that do not fit their bits: a list of exceptions for each block."""
    k = c.k
    k.size("exceptions", _PATCHES, 60, minimum=_PATCHES)
    word = k.draw.word.choice(("exc", "patch"))
    starts = k.array(
        f"{word}_starts", INT32, "column_blocks+1", init="sorted", low=0, high=_PATCHES
    )
    places = k.array(f"{word}_places {word}_lanes", INT32, "exceptions", low=0, high=WORD - 1)
    kept = k.array(f"{word}_values", value.type, "exceptions", low=10**6, high=2 * 10**6)
    found = k.let("v value", value)
    last = starts[c.block + 1]
    with k.for_("e p", last, start=starts[c.block]) as e, k.if_(same(places[e], lane)):
        k.assign(found, kept[e])
        k.break_()
    at = c.block.name
    return found, (
        f". Where {places.name}[e] is the value's place in its block for an e from "
        f"{starts.name}[{at}] up to {starts.name}[{at} + 1] (exclusive), it is {kept.name}[e] of "
        "the first such e instead"
    )


_PATCHES = 48
"""How many exceptions offsets may reach to."""


def _running(k: KernelBuilder, level: int) -> Title:
    """Deltas: a thread sums those of its block from the block's first value on."""
    shape = k.draw.shape
    k.size("column_blocks", 24, 30, minimum=_BLOCKS)
    (block,) = k.thread("column_blocks", names=(k.name("b blk"),))
    c = _column(k, level, block)
    kind = INT64 if shape.chance(0.3) else INT32
    firsts = k.array("first_values block_first", kind, "column_blocks", low=0, high=5000)
    signed, twice = shape.chance(0.5), shape.chance(0.25)
    dims = ("column_blocks", str(WORD)) if shape.chance(0.4) else (f"column_blocks*{WORD}",)
    out = k.out("decoded ids", kind, dims)
    total = k.let("value running", firsts[block])
    step = k.let("step slope", k.lift(0, kind)) if twice else None
    with k.for_("j lane", WORD) as lane:
        code = c.value(lane)
        delta = cast(_signed(k, code) if signed else code, kind)
        if step is not None:
            k.augment(step, "add", delta)
            delta = step
        k.augment(total, "add", delta)
        k.store(out, (block, lane) if len(dims) == 2 else (block * WORD + lane,), total)
    what = (
        "the difference of the difference to the value before"
        if twice
        else ("the difference to the value before")
    )
    text = f"Decode deltas, each block by itself. {c.told[0]}, the first in the lowest bits and "
    text += f"running on from one word of {c.words.name} to the next. They are {what}"
    text += f"; {_ZIGZAG}" * signed
    text += f". Before the first value of a block comes {firsts.name}[{block.name}]"
    text += ", and before its first difference 0" * twice + f". {out.name} gets the values."
    return Title(k.name("delta_decode decode_deltas", "unpack_deltas"), text)
