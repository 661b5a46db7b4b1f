"""Words hashed and joined by block, and the best entry of each group in one integer."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

INT64 = Scalar("int64")
UINT32 = Scalar("uint32")
UINT64 = Scalar("uint64")


@idiom
def packed_winner(k: KernelBuilder, level: int) -> Title:
    """The best entry of each group, its value and its number packed into one integer."""
    shape = k.draw.shape
    key = shape.choice((INT64, UINT64, INT32, UINT32))
    bits = 12 if key.bits == 64 else 8
    n, m = k.size("n", 64, 90), k.size("groups", 6, 9)
    score_type = shape.choice((INT32, Scalar("uint16"), Scalar("int16")))
    score = k.array(("score", "priority", "votes"), score_type, n, low=0, high=5000)
    grouped = shape.chance(0.75)
    group = k.array(("group", "owner", "tile"), INT32, n, init=f"index_of:{m}") if grouped else None
    lowest = shape.chance(0.4)
    start = 0 if not lowest else 2**30
    best = k.accumulator(("best", "winner", "packed"), key, m if grouped else "1", start)
    penalty = (
        k.array(("handicap", "penalty"), INT32, n, low=0, high=60)
        if level >= 2 and shape.chance(0.5)
        else None
    )
    (i,) = k.thread(n, names=(k.name("i", "tid"),))
    value: Expr = cast(score[i], INT32)
    text = score.name
    if penalty is not None:
        value, text = (value + penalty[i], f"{text} + {penalty.name}")
    note = ""
    if level >= 2:
        names, bounds = (("min_score", "least"), (400, 1500))
        if not lowest:
            names, bounds = (("max_score", "ceiling"), (3000, 4500))
        limit = k.scalar(names, INT32, *bounds)
        if not isinstance(value, Var):
            value = k.let(("s", "value"), value)
        with k.if_(value < limit if lowest else value > limit):
            k.return_()
        note = f" Entries {'below' if lowest else 'above'} {limit.name} are left out."
    if level >= 3 and shape.chance(0.6):
        cap = k.draw.value.choice((3000, 4000, 4095) if lowest else (1500, 2000, 2500))
        value = k.let(("capped", "level"), fn("min", value, cap))
        text = f"min({text}, {cap})"
    wide = cast(value, key)
    shifted = wide << bits
    index = cast(i, key)
    joined = fn("bit_or", shifted, index) if shape.chance(0.6) else shifted + index
    if level >= 3 or shape.chance(0.5):
        joined = k.let(("code", "packed_key", "entry"), joined)
    at = group[i] if group is not None else k.lift(0, INT32)
    k.atomic("min" if lowest else "max", best, at, joined)
    if level >= 4:
        seen = k.accumulator(("seen", "entries"), INT32, m if grouped else "1")
        k.atomic("add", seen, at, 1)
        note += f" Entries are counted in {seen.name}."
    where = f"at its {group.name}" if group is not None else "at element 0"
    done = f"Keep in {best.name} {where} the {'smallest' if lowest else 'largest'} key "
    done += f"({text} << {bits}) | i over the entries i."
    return Title(
        k.name("packed_argmin" if lowest else "packed_argmax", "best_entry", "pick_winner"),
        f"{done}{note}",
    )


@idiom
def block_checksum(k: KernelBuilder, level: int) -> Title:
    """Hashed words of each block, joined by exclusive or, by a sum or by both."""
    shape = k.draw.shape
    type_ = shape.choice((UINT32, UINT64))
    rows, cols = k.size("blocks", 8, 12), k.size("words", 6, 8)
    two = shape.chance(0.6)
    word = k.array(
        ("words", "data", "payload"), type_, (rows, cols) if two else f"6*{rows}", low=0, high=2**31
    )
    salt = k.scalar(("salt", "seed"), type_, 1, 10**6) if shape.chance(0.5) else None
    kind = shape.choice(("xor", "add"))
    crc = k.accumulator(("checksum", "digest", "parity"), type_, rows)
    other = (
        k.accumulator(("sum_words", "second"), type_, rows)
        if level >= 2 and shape.chance(0.5)
        else None
    )
    ones = (
        k.accumulator(("bit_total", "ones"), INT32, rows)
        if level >= 2 and shape.chance(0.4)
        else None
    )
    if two:
        b, j = k.thread(rows, cols, names=k.draw.word.choice((("b", "j"), ("row", "col"))))
        loaded: Expr = word[b, j]
        position: Expr = j
    else:
        (i,) = k.thread(f"6*{rows}", names=(k.name("i", "tid"),))
        b = k.let(("b", "block"), i // 6)
        loaded, position = word[i], i
    h = k.let(("h", "w", "x"), loaded)
    text, note = _mixed(k, h, salt, level, position)
    k.atomic(kind, crc, b, h)
    if other is not None:
        k.atomic("add" if kind == "xor" else "xor", other, b, h)
        note += (
            f" {other.name} takes the same words by {'sum' if kind == 'xor' else 'exclusive or'}."
        )
    if ones is not None:
        k.atomic("add", ones, b, fn("bit_count", h))
        note += f" The set bits are counted in {ones.name}."
    verb = "Exclusive-or" if kind == "xor" else "Add"
    where = "of each block (row)" if two else "of each block of 6 words"
    done = f"{verb} the hashed words {where} into {crc.name}; "
    done += f"a word w of {word.name} is hashed by {text}."
    return Title(k.name("block_checksum", "hash_blocks", "page_digest"), f"{done}{note}")


_FACTORS = {
    32: (2654435761, 2246822519, 3266489917, 747796405),
    64: (11400714785074694791, 14029467366897019727, 6364136223846793005),
}
"""Odd multipliers of known hashes: Knuth's, xxHash's, PCG's, by the width of a word."""


def _mixed(
    k: KernelBuilder, h: Var, salt: Var | None, level: int, position: Expr
) -> tuple[str, str]:
    """Mix a word step by step; says how."""
    shape, steps = k.draw.shape, []
    type_ = h.type
    assert isinstance(type_, Scalar)
    if salt is not None:
        k.assign(h, h ^ salt)
        steps.append(f"w ^= {salt.name}")
    if level >= 2 and shape.chance(0.6):
        k.augment(h, "add", cast(position, type_))
        steps.append("w += its position")
    factors = _FACTORS[type_.bits]
    last = ""
    for _ in range(2 + level // 2):
        factor, shift = k.draw.value.choice(factors), k.draw.value.choice((7, 11, 13, 15, 16))
        how = shape.choice([h for h in ("multiply", "fold", "rotate") if h != last])
        last = how
        if how == "multiply":
            k.augment(h, "mul", factor)
            steps.append(f"w *= {factor}")
        elif how == "fold":
            k.assign(h, h ^ (h >> shift))
            steps.append(f"w ^= w >> {shift}")
        else:
            k.assign(h, fn("bit_or", h << shift, h >> (type_.bits - shift)))
            steps.append(f"w = rotate left by {shift}")
    return ", then ".join(steps) + f" (modulo 2^{type_.bits})", ""
