"""Bitmaps in words: combined and counted, ranks, the place of the k-th set bit."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import branch
from generators.kit.functions import trailing_zeros
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

UINT32, UINT64 = Scalar("uint32"), Scalar("uint64")

_COMBINED = {
    "and": ("both {0} and {1} have", lambda a, b: a & b),
    "or": ("{0} or {1} has", lambda a, b: a | b),
    "xor": ("just one of {0} and {1} has", lambda a, b: a ^ b),
    "and_not": ("{0} has and {1} has not", lambda a, b: a & ~b),
}


def _words(k: KernelBuilder) -> Scalar:
    return k.draw.shape.weighted({UINT32: 3, UINT64: 2})


def _bitmap(k: KernelBuilder, names: str, type_: Scalar, dims: tuple[str, ...]) -> Var:
    return k.array(names, type_, dims, low=0, high=2**type_.bits - 1)


_FILTERED = (("bitmaps", "filter_bits"), ("row_bits", "query_bits"), ("bitmaps", "mask_bits"))
_PAIRED = (("left_bits", "right_bits"), ("bits_a", "bits_b"), ("bitmaps", "other_bitmaps"))
"""What bitmaps of rows and one for all of them are called, and what two of each row are."""


def _pairs(k: KernelBuilder, level: int) -> Title:
    """Two bitmaps combined word by word, or, of each row, how many bits that has."""
    shape = k.draw.shape
    type_, counted = _words(k), level > 1
    form = shape.choice(sorted(_COMBINED))
    said, code = _COMBINED[form]
    rows = counted or shape.chance(0.4)
    k.size("num_words", 4 if rows else 40, 7 if rows else 60)
    if rows:
        k.size("rows", 12, 18)
    dims = ("rows", "num_words") if rows else ("num_words",)
    launched = ("rows",) if counted else dims
    names = [k.name("row r")] if rows else []
    names += [] if counted else [k.name("w word")]
    at = k.thread(*launched, names=names)
    shared = rows and shape.chance(0.4)
    one, other = k.draw.word.choice(_FILTERED if shared else _PAIRED)
    first = _bitmap(k, one, type_, dims)
    second = _bitmap(k, other, type_, ("num_words",) if shared else dims)
    if not counted:
        word = k.let("bits combined", code(first[at], second[at[-1:] if shared else at]))
        out = k.out("result_bits combined_bits", type_, dims)
        k.store(out, at, word)
        text = f"{out.name} gets the bits that {said.format(first.name, second.name)}"
        return Title(k.name(f"bitmap_{form} combine_bitmaps"), f"{text}, word by word.")
    count = k.size_param("num_words words_per_row", "num_words")
    total = k.let("total bits_set", k.lift(0, INT32))
    with k.for_("w word", count) as w:
        place = (w,) if shared else (at[0], w)
        k.augment(total, "add", cast(fn("bit_count", code(first[at[0], w], second[place])), INT32))
    out = k.out("counts cardinalities", INT32, "rows")
    k.store(out, at, total)
    text = (
        f"Count for each row the bits that {said.format(first.name, second.name)}, in {out.name}."
    )
    return Title(k.name(f"count_{form} bitmap_{form}_count"), text)


def _rank(k: KernelBuilder, level: int) -> Title:
    """How many bits are set before a position, with the number before each word given."""
    type_ = _words(k)
    bits = type_.bits
    k.size("queries", 64, 90)
    k.size("num_words", 8, 12)
    (q,) = k.thread("queries", names=(k.name("q i"),))
    words = _bitmap(k, "bitmap words", type_, ("num_words",))
    before = k.array("word_ranks set_before", INT32, "num_words", init="sorted", low=0, high=400)
    asked = k.array("positions bit_positions", INT32, "queries", init=f"index_of:{bits}*num_words")
    place = k.let("pos p", asked[q])
    w = k.let("w word", place // bits)
    one = KernelBuilder.lift(1, type_)
    mask = k.let("mask below", (one << cast(place % bits, type_)) - 1)
    rank = before[w] + cast(fn("bit_count", words[w] & mask), INT32)
    out = k.out("ranks compact_index", INT32, "queries")
    text = f"Rank in {words.name}, {bits} bits a word, lowest first: {out.name} gets how many bits "
    text += (
        f"are set before each position of {asked.name}, where {before.name} counts those before "
    )
    text += "each word"
    if k.draw.shape.chance(0.5):
        value = k.let("rank found", k.lift(-1, INT32))
        with k.if_(fn("ne", (words[w] >> cast(place % bits, type_)) & 1, 0)):
            k.assign(value, rank)
        k.store(out, q, value)
        text += "; -1 where the bit at the position itself is not set"
    else:
        k.store(out, q, rank)
    return Title(k.name("bitmap_rank rank_queries"), f"{text}.")


def _select(k: KernelBuilder, level: int) -> Title:
    """The position of the k-th set bit: a walk or a search over words, then within one."""
    shape, type_ = k.draw.shape, _words(k)
    bits = type_.bits
    k.size("rows", 20, 30)
    k.size("num_words", 4, 6)
    (row,) = k.thread("rows", names=(k.name("row r"),))
    words = _bitmap(k, "bitmaps valid_bits", type_, ("rows", "num_words"))
    most = 4 * bits
    wanted = k.array("ordinals wanted", INT32, "rows", low=0, high=most)
    count = k.size_param("num_words words_per_row", "num_words")
    left = k.let("remaining left", wanted[row])
    w = k.let("w word", k.lift(0, INT32))
    with k.while_(w < count):
        here = k.let("ones here", cast(fn("bit_count", words[row, w]), INT32))
        with k.if_(left < here):
            k.break_()
        k.augment(left, "sub", here)
        k.augment(w, "add", 1)
    found = k.let("pos position", k.lift(-1, INT32))
    with k.if_(w < count):
        inside = _in_word(k, words[row, w], left, type_, shape.chance(0.5))
        k.assign(found, w * bits + inside)
    out = k.out("positions selected", INT32, "rows")
    k.store(out, row, found)
    text = f"Select in rows of {words.name}, {bits} bits a word, lowest first: {out.name} gets the "
    text += (
        f"position of the set bit before which {wanted.name} others are set, -1 if there is none."
    )
    return Title(k.name("bitmap_select select_bit kth_set_bit"), text)


def _in_word(k: KernelBuilder, word: Expr, left: Var, type_: Scalar, cleared: bool) -> Expr:
    """The place of a set bit in its word: lower ones cleared, or by halves of the word."""
    rest = k.let("rest bits_left", word)
    if cleared:
        with k.for_("b n", left):
            k.assign(rest, rest & (rest - 1))
        return cast(trailing_zeros(rest), INT32)
    place, width = (
        k.let("place bit", k.lift(0, INT32)),
        k.let("width half", k.lift(type_.bits // 2, INT32)),
    )
    with k.while_(width > 0):
        mask = (KernelBuilder.lift(1, type_) << cast(width, type_)) - 1
        low = k.let("low_ones low_count", cast(fn("bit_count", rest & mask), INT32))
        with k.if_(left >= low):
            k.augment(left, "sub", low)
            k.augment(place, "add", width)
            k.assign(rest, rest >> cast(width, type_))
        k.assign(width, width // 2)
    return place


def _by_search(k: KernelBuilder, level: int) -> Title:
    """The positions of set bits by their numbers: a search in ranks of words, then in the word."""
    shape, type_ = k.draw.shape, _words(k)
    bits = type_.bits
    k.size("queries", 64, 90)
    k.size("num_words", 9, 13)
    (q,) = k.thread("queries", names=(k.name("q i"),))
    words = _bitmap(k, "bitmap words", type_, ("num_words",))
    before = k.array("word_ranks set_before", INT32, "num_words", init="sorted", low=1, high=200)
    wanted = k.array("ordinals wanted", INT32, "queries", low=0, high=230)
    count = k.size_param("num_words word_count", "num_words")
    n = k.let("ordinal n_th", wanted[q])
    low, high = k.let("lo", k.lift(0, INT32)), k.let("hi", count)
    with k.while_(low < high):
        mid = k.let("mid middle", (low + high) // 2)
        branch(k, (before[mid] <= n, (low, mid + 1)), (None, (high, mid)))
    found = k.let("pos position", k.lift(-1, INT32))
    with k.if_(low > 0):
        w = k.let("w word", low - 1)
        left = k.let("remaining left", n - before[w])
        with k.if_(left < cast(fn("bit_count", words[w]), INT32)):
            inside = _in_word(k, words[w], left, type_, shape.chance(0.5))
            k.assign(found, w * bits + inside)
    out = k.out("positions selected", INT32, "queries")
    k.store(out, q, found)
    text = (
        f"Select in {words.name}, {bits} bits a word, lowest first: for each n of {wanted.name}, "
    )
    text += f"{out.name} gets the position of the set bit before which n others are set. "
    text += f"{before.name} (ascending) holds how many are set before each word; the bit lies in "
    text += "the last word for which that is at most n, and the rest of n are set before it there. "
    text += "Without such a word or bit it is -1."
    return Title(k.name("select_bits bitmap_select nth_set_bits"), text)


@idiom
def bitmap_index(k: KernelBuilder, level: int) -> Title:
    """Bitmaps: combined, counted, rank and select (Jacobson, FOCS 1989)."""
    forms = {
        1: (_pairs,),
        2: (_pairs, _rank),
        3: (_rank, _select),
        4: (_select, _by_search),
        5: (_select, _by_search),
    }
    return k.draw.shape.choice(forms[level])(k, level)
