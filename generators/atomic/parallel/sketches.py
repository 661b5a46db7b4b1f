"""Sketches of streams: small tables that answer how often, how many, how similar."""

from __future__ import annotations

from generators.atomic.parallel.hashing import Hash, hashed
from generators.atomic.parallel.parts import (
    INT64,
    UINT32,
    UINT64,
    Work,
    extent_of,
    work,
)
from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import trailing_zeros
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Const, Expr, Load, Var

_SPAN = (60, 90)
_MANY = (240, 320)
"""Items enough for the registers of a small HyperLogLog."""


def _key(w: Work, names: str) -> tuple[Expr, Load]:
    """A key of the stream, and where it lies."""
    shape = w.k.draw.shape
    type_: Scalar = shape.weighted({UINT32: 3, INT32: 3})
    load = w.read(names, type_, 0, 5000)
    return w.let("key item", cast(load, UINT32), 1.0), load


def _seeds(k: KernelBuilder, size: str) -> tuple[Var | None, str]:
    """Seeds of several hashes: an array, or made of the hash's number; in words."""
    if k.draw.shape.chance(0.6):
        seeds = k.array("seeds salts", UINT32, size, low=1, high=2**31)
        return seeds, f"with {seeds.name}[r] as the seed"
    return None, "with 0x9e3779b9 * (r + 1) as the seed"


def _seed(k: KernelBuilder, seeds: Var | None, r: Expr) -> Expr:
    if seeds is not None:
        return seeds[r]
    return cast(r + 1, UINT32) * k.lift(0x9E3779B9, UINT32)


def _column(w: Work, h: Expr, size: str) -> tuple[Expr, str]:
    """A hash as a place in a table: a remainder."""
    count = extent_of(w.k, size)
    slot = cast(h % cast(count, UINT32), INT32)
    return w.let("slot col c", slot, 0.7), f"the hash % {written(count)}"


@idiom(depth=3)
def count_min_sketch(k: KernelBuilder, level: int) -> Title:
    """Frequencies of a stream: each of several rows of counters takes a key by its own hash.

    G. Cormode, S. Muthukrishnan, J. Algorithms 55 (2005); with signs M. Charikar, K. Chen,
    M. Farach-Colton, ICALP 2002.
    """
    shape = k.draw.shape
    with work(k, level, "num_items", _SPAN, "i idx", "streams") as w:
        hash_of, how = hashed(k)
        key, load = _key(w, "keys items ids")
        signed = level > 2 and shape.chance(0.4)
        type_ = shape.weighted({INT32: 5, INT64: 1, FLOAT32: 2})
        value: Expr = k.lift(1, type_)
        if type_ == FLOAT32 or shape.chance(0.4):
            span = (0.5, 2.0) if type_ == FLOAT32 else (1, 9)
            value = w.let("amount", w.read("amounts weights increments", type_, *span), 1.0)
        width = k.size("sketch_width", 9, 14)
        k.size_param("width sketch_width", width)
        depth = k.size("sketch_depth", 3, 4)
        table = w.shared("sketch table counters", type_, (depth, width))
        seeds, seeded = _seeds(k, depth)
        rows = extent(seeds) if seeds is not None else k.size_param("num_rows depth", depth)
        with k.for_("r row_id", rows) as r:
            h = w.let("hashed code", hash_of(key, _seed(k, seeds, r)), 1.0)
            slot, place = _column(w, h, width)
            added = value
            if signed:
                odd = fn("eq", h >> k.lift(31, UINT32), k.lift(0, UINT32))
                added = w.let("signed vote", fn("where", odd, value, -value), 0.6)
            table.update("add", (r, slot), added)
    what = written(value) if isinstance(value, Const) else "its amount"
    text = (
        f"{'Count' if signed else 'Count-min'} sketch of a stream: for each key "
        f"{written(load)} and "
    )
    text += f"each row r, add {what} to {table.said('r', 'c')}, c being {place}"
    text += ", or subtract it where bit 31 of the hash is set" if signed else ""
    text += f". The key is hashed {seeded}. The hash is {how}."
    names = "count_sketch sketch_update" if signed else "count_min_update sketch_update"
    return Title(k.name(names), text)


@idiom(depth=3)
def bloom_insert(k: KernelBuilder, level: int) -> Title:
    """Keys put into a Bloom filter: a few bits of each are set by atomic or.

    B. H. Bloom, CACM 13 (1970); two hashes for all bits: A. Kirsch, M. Mitzenmacher, ESA 2006.
    """
    shape = k.draw.shape
    form = shape.choice(("seeds", "double", "block") if level > 1 else ("seeds", "double"))
    count = shape.weighted({UINT32: 5, UINT64: 2})
    bits, shift = count.bits, count.bits.bit_length() - 1
    k.size("words", 4, 7)
    words = extent_of(k, "words")
    if form != "block":
        total = k.let("total_bits num_bits", cast(bits * words, UINT32))
    with work(k, level, "num_keys", (24, 36), "i idx", "filters") as w:
        hash_of, how = hashed(k)
        key, load = _key(w, "keys items ids")
        table = w.shared("words bloom filter_bits bitset", count, ("words",))
        first, second = (None, None) if form == "seeds" else _two_hashes(k, hash_of, key, form)
        tries = _tries(k, form)
        block = None
        if form == "block" and first is not None:
            block = k.let("word block_word", cast(first % cast(words, UINT32), INT32))
        with k.for_("r t", tries) as r:
            if block is not None and second is not None:
                at: Expr = second >> cast(shift * r, UINT32)
            else:
                h: Expr = hash_of(key, _seed(k, None, r)) if first is None else first
                h = h if second is None else h + cast(r, UINT32) * second
                at = k.let("bit position", h % total)
            bit = at & k.lift(bits - 1, UINT32)
            place = cast(at >> k.lift(shift, UINT32), INT32) if block is None else block
            mask = k.lift(1, count) << cast(bit, count)
            table.update("or", (w.let("slot word_id", place, 0.4),), w.let("mask flag", mask, 0.6))
    text = f"Bloom filter of {bits}-bit words: insert each key {written(load)} by {written(tries)} "
    where = "w" if form == "block" else f"b // {bits}"
    text += f"bits. {_told_bits(form, table.said(where), written(words), bits)}"
    return Title(k.name("bloom_insert bloom_add set_bloom_bits"), f"{text}The hash is {how}.")


def _two_hashes(k: KernelBuilder, hash_of: Hash, key: Expr, form: str) -> tuple[Var, Var]:
    """The hashes that all bits of a key are made of: a start, and an odd step, which never stays
    within a part of the filter; or a block, and the bits in it."""
    first = k.let("h1", hash_of(key, k.lift(17, UINT32)))
    step = hash_of(key, k.lift(101, UINT32))
    return first, k.let("h2", step if form == "block" else step | k.lift(1, UINT32))


def _tries(k: KernelBuilder, form: str) -> Expr:
    """How many bits a key sets; those of a block come from the 32 of one hash: at most five."""
    if form != "block" and k.draw.shape.chance(0.5):
        return k.scalar("num_hashes", INT32, 2, 4)
    return k.lift(k.draw.value.choice((3, 4, 5)), INT32)


def _told_bits(form: str, where: str, words: str, bits: int) -> str:
    """Which bits of a filter a key sets."""
    if form == "block":
        text = f"All of them lie in {where}, w = h1 % {words}: bit r is "
        text += f"(h2 >> ({bits.bit_length() - 1} * r)) & {bits - 1}, set "
    else:
        code = "the hash with the seed 0x9e3779b9 * (r + 1)"
        code = code if form == "seeds" else "h1 + r * h2, taken in 32 bits,"
        text = (
            f"For each r from 0 on, b is {code} modulo the number of bits, and bit b % {bits} of "
        )
        text += f"{where} is set "
    odd = ", h2 made odd by its lowest bit" * (form == "double")
    two = "" if form == "seeds" else f"h1 and h2 are hashes with the seeds 17 and 101{odd}. "
    return f"{text}by atomic or. {two}"


@idiom(depth=3)
def minhash_signatures(k: KernelBuilder, level: int) -> Title:
    """Signatures of sets: for each of several hashes the smallest over the set's members.

    A. Z. Broder, SEQUENCES 1997.
    """
    shape = k.draw.shape
    ways = "list lists blocks" if level > 1 else "list lists"
    with work(k, level, "num_tokens", (60, 84), "i t", "documents", ways, True) as w:
        key, load = _key(w, "tokens shingles members")
        slots = k.size("slots", 5, 8)
        place: list[Expr] = []
        said = []
        if len(w.dims) == 1 and w.block is None:
            sets = k.size("sets", 4, 6)
            owner = w.read("set_ids owners doc_of", INT32, init=f"index_of:{sets}")
            place, said = [w.let("doc set_id", owner, 1.0)], [written(owner)]
            out = w.shared("signatures minima sketch", UINT32, (sets, slots), 2**32 - 1)
        else:
            out = w.shared("signatures minima sketch", UINT32, (slots,), 2**32 - 1)
        linear = shape.chance(0.4)
        if linear:
            a = k.array("factors mul_a", UINT32, slots, low=1, high=2**31)
            b = k.array("shifts_b offsets add_b", UINT32, slots, low=1, high=2**31)
            how = f"{a.name}[h] * x + {b.name}[h] in 32 bits"
            turns: Expr = extent(a)
        else:
            hash_of, how = hashed(k)
            seeds, seeded = _seeds(k, slots)
            turns = extent(seeds) if seeds is not None else extent_of(k, slots)
            how = f"{how}, {seeded.replace('r', 'h') if 'r +' in seeded else seeded}"
        with k.for_("h slot", turns) as h:
            value = a[h] * key + b[h] if linear else hash_of(key, _seed(k, seeds, h))
            out.update("min", (*place, h), w.let("hashed value", value, 0.6))
    how = how.replace("[r]", "[h]").replace("(r + 1)", "(h + 1)")
    text = (
        f"MinHash signatures: lower {out.said(*said, 'h')} to the hash of x = {written(load)}, for "
    )
    return Title(
        k.name("minhash_signatures minhash_update"), f"{text}every h. The hash is {how}.{w.about}"
    )


def _leading(w: Work, rest: Expr, bits: int) -> tuple[Expr, str]:
    """The place of the first set bit, from 1 on: from above by a loop, or from below by a count."""
    k = w.k
    if k.draw.shape.chance(0.5):
        # The bits above choose the register: a bit there ends the zeros below.
        marked = w.let("marked low", rest | k.lift(1 << bits, UINT32), 1.0)
        ones = trailing_zeros(marked)
        told = f"one more than the trailing zeros of the low {bits} bits of x, at most {bits + 1}"
        return w.let("rank zeros rho", ones + 1, 0.7), told
    rank = k.let("rank rho", k.lift(1, INT32))
    x = k.let("rest y", rest << k.lift(32 - bits, UINT32))
    top = fn("eq", x >> k.lift(31, UINT32), k.lift(0, UINT32))
    with k.while_(fn("and", top, rank <= bits)):
        k.augment(rank, "add", 1)
        k.assign(x, x << k.lift(1, UINT32))
    return rank, f"one more than the leading zeros of the low {bits} bits of x, at most {bits + 1}"


@idiom(depth=3)
def distinct_registers(k: KernelBuilder, level: int) -> Title:
    """HyperLogLog: each register keeps the longest run of zeros in the hashes that choose it.

    P. Flajolet, E. Fusy, O. Gandouet, F. Meunier, AofA 2007.
    """
    shape = k.draw.shape
    with work(k, level, "num_items", _MANY, "i idx", "streams") as w:
        hash_of, how = hashed(k, 0.6)
        key, load = _key(w, "keys items visitors ids")
        bits = k.draw.value.choice((7, 8))
        seed: Expr = k.lift(0, UINT32)
        if shape.chance(0.5):
            seed = k.scalar("seed salt", UINT32, 1, 10**6)
        else:
            seed = k.lift(k.draw.value.choice((7, 42, 1337)), UINT32)
        type_ = shape.weighted({INT32: 5, UINT32: 2})
        grouped = len(w.dims) == 1 and w.block is None and shape.chance(0.4)
        dims, place, said = [str(1 << bits)], list[Expr](), list[str]()
        if grouped:
            dims = [k.size("groups", 3, 4), *dims]
            group = w.read("groups pages campaign", INT32, init="index_of:groups")
            place, said = [w.let("g group", group, 1.0)], [written(group)]
        regs = w.shared("registers regs sketch", type_, dims)
        h = k.let("h hashed", hash_of(key, seed))
        slot = w.let("slot reg", cast(h >> k.lift(32 - bits, UINT32), INT32), 0.7)
        rank, meant = _leading(w, h, 32 - bits)
        regs.update("max", (*place, slot), cast(rank, type_))
    text = (
        f"HyperLogLog: for each key {written(load)}, x being its hash with seed {written(seed)}, "
    )
    where = f"x >> {32 - bits}"
    where = f"({where})" if said and regs.layout == "flat" else where
    text += f"raise {regs.said(*said, where)} to {meant}. "
    return Title(k.name("hyperloglog_add hll_update update_registers"), f"{text}The hash is {how}.")
