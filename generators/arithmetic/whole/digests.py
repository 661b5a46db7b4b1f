"""Cryptographic digests: rounds, message schedules and blocks of SHA-256, SHA-1 and MD5."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.arithmetic.types import UINT8, UINT32, UINT64
from generators.build import KernelBuilder, cast
from generators.build.registry import Title
from generators.kit.functions import either
from generators.kit.naming import routine
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Operand, Var

Words = tuple[Var, ...]
Rotate = Callable[[Expr, int], Expr]

TURNS = {
    "SHA-256": ((2, 13, 22), (6, 11, 25), (7, 18, 3), (17, 19, 10)),
    "SHA-512": ((28, 34, 39), (14, 18, 41), (1, 8, 7), (19, 61, 6)),
}
"""Of S0, S1, s0 and s1: rotations; the last of s0 and s1 is a shift."""
LENGTHS = {"SHA-256": 64, "SHA-512": 80, "SHA-1": 80, "MD5": 64}
LETTERS = {"SHA-256": "abcdefgh", "SHA-512": "abcdefgh", "SHA-1": "abcde", "MD5": "abcd"}


def schedule_text(kind: str) -> str:
    """What the schedule of a digest is."""
    said = "the first 16 words as they are, then w[t] = "
    if kind == "SHA-1":
        said += "w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], rotated left by one, for t from 16 to"
        return f"{said} 79"
    _, _, s0, s1 = TURNS[kind]
    said += "s1(w[t - 2]) + w[t - 7] + s0(w[t - 15]) + w[t - 16] for t from 16 to "
    said += (
        f"{LENGTHS[kind] - 1} with s0(x) = rotr(x, {s0[0]}) ^ rotr(x, {s0[1]}) ^ (x >> {s0[2]}) "
    )
    said += f"and s1(x) = rotr(x, {s1[0]}) ^ rotr(x, {s1[1]}) ^ (x >> {s1[2]}), rotr rotating right"
    return said


def sums_text(kind: str) -> str:
    big = [" ^ ".join(f"rotr(x, {n})" for n in turns) for turns in TURNS[kind][:2]]
    return f"S0(x) = {big[0]}, S1(x) = {big[1]}, rotr rotating right"


@dataclass
class Digest:
    """A digest of many messages, a thread each; how their words lie in memory."""

    k: KernelBuilder
    kind: str
    rotate: Rotate
    at: Var
    columns: bool

    @property
    def type(self) -> Scalar:
        return UINT64 if self.kind == "SHA-512" else UINT32

    @property
    def bits(self) -> int:
        return self.type.bits

    @property
    def short(self) -> str:
        return self.kind.lower().replace("-", "")

    def array(self, names: str, size: str, role: str = "in") -> Var:
        dims = (size, "messages") if self.columns else ("messages", size)
        bounds = {} if role == "out" else {"low": 0, "high": 2**self.bits - 1}
        return self.k.array(names, self.type, dims, role=role, **bounds)

    def place(self, t: Operand) -> tuple[Operand, ...]:
        return (t, self.at) if self.columns else (self.at, t)

    @property
    def layout(self) -> str:
        return "word, message" if self.columns else "message, word"


def digest_of(k: KernelBuilder, level: int, *kinds: str, size: str = "messages") -> Digest:
    shape = k.draw.shape
    kind = shape.choice(kinds)
    left, type_ = kind in ("SHA-1", "MD5"), UINT64 if kind == "SHA-512" else UINT32

    def turned(_: object, x: Expr, n: Expr) -> Expr:
        back = type_.bits - n
        return (x << n) | (x >> back) if left else (x >> n) | (x << back)

    called = routine(
        k,
        0.3 if level == 1 else 0.65,
        "rotl rotate_left" if left else "rotr rotate_right",
        {"x": type_, "n": type_},
        turned,
    )
    inline = not k.functions

    def rotate(x: Expr, n: int) -> Expr:
        if not inline:
            return called(x, n)
        back = type_.bits - n
        return (x << n) | (x >> back) if left else (x >> n) | (x << back)

    k.size(size, 18, 28)
    (at,) = k.thread(size, names=(k.name("m msg tid"),))
    return Digest(k, kind, rotate, at, shape.chance(0.4))


def _small(d: Digest, x: Expr, way: int) -> Expr:
    """s0 and s1 of SHA-2."""
    first, second, shift = TURNS[d.kind][2 + way]
    return d.rotate(x, first) ^ d.rotate(x, second) ^ (x >> shift)


def _large(d: Digest, x: Expr, way: int) -> Expr:
    """S0 and S1 of SHA-2."""
    turns = TURNS[d.kind][way]
    first, second, third = (d.rotate(x, n) for n in turns)
    return first ^ second ^ third


def next_word(d: Digest, word: Callable[[int], Expr]) -> Expr:
    """The next word of a schedule; ``word`` gives the one so many words before it."""
    k = d.k
    if d.kind == "SHA-1":
        x = k.let("x mixed", word(3) ^ word(8) ^ word(14) ^ word(16))
        return d.rotate(x, 1)
    w15, w2 = k.let("w15", word(15)), k.let("w2", word(2))
    s0 = k.let("s0 small_sigma0", _small(d, w15, 0))
    s1 = k.let("s1 small_sigma1", _small(d, w2, 1))
    return word(16) + s0 + word(7) + s1


def sha2_round(d: Digest, x: Words, word: Expr) -> None:
    """One round; ``word`` is the word of the schedule and the constant of the round, added."""
    k = d.k
    a, b, c, d4, e, f, g, h = x
    choose = either(k, (e & f) ^ (~e & g), g ^ (e & (f ^ g)))
    majority = either(k, (a & b) ^ (a & c) ^ (b & c), (a & b) | (c & (a | b)))
    s1 = k.let("big_sigma1 sum1", _large(d, e, 1))
    t1 = k.let("t1 temp1", h + s1 + k.let("ch", choose) + word)
    s0 = k.let("big_sigma0 sum0", _large(d, a, 0))
    t2 = k.let("t2 temp2", s0 + k.let("maj", majority))
    for to, value in ((h, g), (g, f), (f, e), (e, d4 + t1), (d4, c), (c, b), (b, a), (a, t1 + t2)):
        k.assign(to, value)


def sha1_round(d: Digest, x: Words, word: Expr, t: Expr) -> None:
    k = d.k
    a, b, c, d4, e = x
    choose = either(k, (b & c) | (~b & d4), d4 ^ (b & (c ^ d4)))
    f, key = k.let("f mix", b ^ c ^ d4), k.let("key rk", k.lift(0xCA62C1D6, UINT32))
    with k.if_(t < 20):
        k.assign(f, choose)
        k.assign(key, 0x5A827999)
    with k.elif_(t < 40):
        k.assign(key, 0x6ED9EBA1)
    with k.elif_(t < 60):
        k.assign(f, (b & c) | (b & d4) | (c & d4))
        k.assign(key, 0x8F1BBCDC)
    new = k.let("temp new_a", d.rotate(a, 5) + f + e + key + word)
    for to, value in ((e, d4), (d4, c), (c, d.rotate(b, 30)), (b, a), (a, new)):
        k.assign(to, value)


SHA1 = (
    "T = rotl(a, 5) + f + e + K + w[t], then (a, b, c, d, e) = (T, a, rotl(b, 30), c, d), with f = "
    "(b & c) | (~b & d) and K = 0x5A827999 for t < 20, f = b ^ c ^ d and K = 0x6ED9EBA1 for t < "
    "40, f = (b & c) | (b & d) | (c & d) and K = 0x8F1BBCDC for t < 60, else f = b ^ c ^ d and K = "
    "0xCA62C1D6"
)
MD5 = (
    "(a, b, c, d) = (d, b + rotl(a + f + {key}[t] + M[g], {shift}[t]), b, c), with f = (b & c) | "
    "(~b & d) and g = t for t < 16, f = (d & b) | (~d & c) and g = (5 * t + 1) % 16 for t < 32, f "
    "= b ^ c ^ d and g = (3 * t + 5) % 16 for t < 48, else f = c ^ (b | ~d) and g = 7 * t % 16"
)
SHA2 = (
    "T1 = h + S1(e) + ((e & f) ^ (~e & g)) + {key} + {word} and T2 = S0(a) + ((a & b) ^ (a & c) ^ "
    "(b & c)), then (a, b, c, d, e, f, g, h) = (T1 + T2, a, b, c, d + T1, e, f, g), with {sums}"
)


def md5_round(d: Digest, x: Words, block: Callable[[Expr], Expr], t: Expr, tables: Words) -> None:
    k = d.k
    a, b, c, d4 = x
    f, g = k.let("f mix", c ^ (b | ~d4)), k.let("g word_at", 7 * t % 16)
    with k.if_(t < 16):
        k.assign(f, either(k, (b & c) | (~b & d4), d4 ^ (b & (c ^ d4))))
        k.assign(g, t)
    with k.elif_(t < 32):
        k.assign(f, either(k, (d4 & b) | (~d4 & c), c ^ (d4 & (b ^ c))))
        k.assign(g, (5 * t + 1) % 16)
    with k.elif_(t < 48):
        k.assign(f, b ^ c ^ d4)
        k.assign(g, (3 * t + 5) % 16)
    total = k.let("total sum_f", a + f + tables[0][t] + block(g))
    turn: Expr = tables[1][t]
    if not k.functions:
        turn = k.let("s turn", turn)
    moved = k.call(k.functions[0].name, total, turn) if k.functions else None
    k.assign(a, d4)
    k.assign(d4, c)
    k.assign(c, b)
    k.augment(b, "add", moved or ((total << turn) | (total >> 32 - turn)))


def tables_of(d: Digest) -> Words:
    """What a digest takes besides a message: the constants of rounds, and rotations."""
    k = d.k
    if d.kind == "SHA-1":
        return ()
    count = str(LENGTHS[d.kind])
    keys = k.array("round_constants k_table", d.type, count, low=0, high=2**d.bits - 1)
    if d.kind in TURNS:
        return (keys,)
    return (keys, k.array("shifts rotations", UINT32, "64", low=4, high=23))


def one_round(k: KernelBuilder) -> Title:
    d = digest_of(k, 1, "SHA-256", "SHA-512")
    state = d.array("state states", "8")
    top = 2**d.bits - 1
    words = k.array("round_words w_t", d.type, "messages", low=0, high=top)
    key = k.scalar("k_t round_constant", d.type, 0, top)
    out = d.array("new_state next_state", "8", "out")
    x = tuple(k.let(letter, state[d.place(n)]) for n, letter in enumerate("abcdefgh"))
    sha2_round(d, x, key + words[d.at])
    for n, value in enumerate(x):
        k.store(out, d.place(n), value)
    rule = SHA2.format(key=key.name, word=words.name, sums=sums_text(d.kind))
    text = f"One {d.kind} round of each message: a to h are the words 0 to 7 of {state.name} "
    text += f"[{d.layout}], and those of {out.name} after it: {rule}."
    return Title(k.name(f"{d.short}_round {d.short}_step"), text)


def schedule(k: KernelBuilder, level: int) -> Title:
    d = digest_of(k, level, "SHA-256", "SHA-512", "SHA-1")
    count, size = LENGTHS[d.kind], d.bits // 8
    in_bytes = k.draw.shape.chance(0.2 if level == 1 else 0.6)
    if in_bytes:
        rows = k.array(
            "block_bytes messages_in", UINT8, ("messages", str(16 * size)), low=0, high=255
        )
    else:
        rows = d.array("blocks message_words", "16")
    out = d.array("schedule w", str(count), "out")
    with k.for_("j word", 16) as j:
        word = _big_endian(d, rows, j, size) if in_bytes else rows[d.place(j)]
        k.store(out, d.place(j), word)
    with k.for_("t", count, start=16) as t:
        k.store(out, d.place(t), next_word(d, lambda back: out[d.place(t - back)]))
    source = f"{rows.name} [message, byte], {size} bytes a word, highest first"
    source = source if in_bytes else f"{rows.name} [{d.layout}]"
    text = f"Expand the block of each message ({source}) to the {d.kind} message schedule w in "
    text += f"{out.name} [{d.layout}]: {schedule_text(d.kind)}."
    return Title(k.name(f"{d.short}_schedule expand_{d.short}"), text)


def _big_endian(d: Digest, rows: Var, j: Expr, size: int) -> Expr:
    """A word of bytes, the highest first: in a loop, or all in one expression."""
    k = d.k
    if size == 8 or k.draw.shape.chance(0.5):
        word = k.let("packed value", k.lift(0, d.type))
        with k.for_("byte p", size) as p:
            k.assign(word, (word << 8) | cast(rows[d.at, j * size + p], d.type))
        return word
    first = k.let("first base", j * size)
    parts = [cast(rows[d.at, first + p if p else first], d.type) for p in range(size)]
    return (parts[0] << 24) | (parts[1] << 16) | (parts[2] << 8) | parts[3]
