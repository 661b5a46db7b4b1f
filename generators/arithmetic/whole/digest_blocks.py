"""Blocks of SHA-2, SHA-1 and MD5 compressed by one thread each; messages of several; nonces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.arithmetic.types import UINT32
from generators.arithmetic.whole.digests import (
    LENGTHS,
    LETTERS,
    MD5,
    SHA1,
    SHA2,
    TURNS,
    Digest,
    Words,
    digest_of,
    md5_round,
    next_word,
    one_round,
    schedule,
    schedule_text,
    sha1_round,
    sha2_round,
    sums_text,
    tables_of,
)
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import where
from generators.kit.sources import filled
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Var


@dataclass
class Source:
    """Where the words of a block come from, and where those that follow from them are kept."""

    d: Digest
    block: Callable[[Expr], Expr]
    tables: Words
    given: bool = False
    """Whether ``block`` gives the schedule."""
    ring: Var | None = None

    def turn(self, x: Words, t: Expr) -> None:
        """One round."""
        if self.d.kind == "MD5":
            md5_round(self.d, x, self.block, t, self.tables)
            return
        word = self.block(t) if self.given else self._kept(t)
        if self.d.kind == "SHA-1":
            sha1_round(self.d, x, word, t)
        else:
            sha2_round(self.d, x, self.tables[0][t] + word)

    def _kept(self, t: Expr) -> Expr:
        d, k, ring = self.d, self.d.k, self.ring
        assert ring is not None
        local = isinstance(ring.type, Vec)

        def word_at(place: Expr) -> Expr:
            return ring[place] if local else ring[d.place(place)]

        word = k.let("w_t word", k.lift(0, d.type))
        with k.if_(t < 16):
            k.assign(word, self.block(t))
        with k.else_():
            k.assign(word, next_word(d, lambda back: word_at((t - back) % 16)))
        if local:
            k.set(ring, t % 16, word)
        else:
            k.store(ring, d.place(t % 16), word)
        return word

    @property
    def said(self) -> str:
        """The rounds, in words, and what w is."""
        d = self.d
        if d.kind in TURNS:
            text = SHA2.format(key=f"{self.tables[0].name}[t]", word="w[t]", sums=sums_text(d.kind))
        elif d.kind == "SHA-1":
            text = SHA1
        else:
            text = MD5.format(key=self.tables[0].name, shift=self.tables[1].name)
        if d.kind not in TURNS:
            text += "; rotl rotates left"
        return text

    @property
    def kept(self) -> str:
        """What the schedule is and where it is kept, as a sentence."""
        if self.d.kind == "MD5" or self.given:
            return ""
        text = f" The schedule w of a block has {schedule_text(self.d.kind)}"
        if self.ring is not None and not isinstance(self.ring.type, Vec):
            return f"{text}; {self.ring.name} keeps w[t] at t % 16."
        return f"{text}."


def _ring(d: Digest) -> Var | None:
    """The last 16 words of a schedule: a row in memory, or a local vector."""
    if d.kind == "MD5":
        return None
    if d.bits == 32 and d.k.draw.shape.chance(0.5):
        return d.k.let("w recent", filled(Vec(16, UINT32), 0))
    return d.array("ring w_ring recent", "16", "out")


def _rounds(source: Source, start: list[Expr]) -> Words:
    """All rounds from these words on."""
    d, k = source.d, source.d.k
    x = tuple(k.let(c, h) for c, h in zip(LETTERS[d.kind], start, strict=True))
    with k.for_("t", LENGTHS[d.kind]) as t:
        source.turn(x, t)
    return x


def _compress(k: KernelBuilder, level: int) -> Title:
    """All rounds of a block, whose schedule is given or, at level 4, made beside them."""
    given = level == 3
    d = digest_of(k, level, *(("SHA-256", "SHA-512", "SHA-1", "MD5") if given else _LONG))
    size = len(LETTERS[d.kind])
    tables = tables_of(d)
    state = d.array("state chaining", str(size))
    whole = d.kind == "MD5" or not given
    words = d.array(
        "blocks message_words" if whole else "schedule expanded_words",
        "16" if whole else str(LENGTHS[d.kind]),
    )
    source = Source(d, lambda t: words[d.place(t)], tables, given, None if given else _ring(d))
    out = d.array("digests new_state", str(size), "out")
    x = _rounds(source, [state[d.place(n)] for n in range(size)])
    for n, value in enumerate(x):
        k.store(out, d.place(n), state[d.place(n)] + value)
    what = "16 words M" if d.kind == "MD5" else "16 words" if whole else "schedule w"
    text = f"{d.kind} compression of one block of each message, words as [{d.layout}], from its "
    text += f"{what} in {words.name}. The words of {state.name} are {LETTERS[d.kind][0]} to "
    text += f"{LETTERS[d.kind][-1]} at first; rounds t from 0 to {LENGTHS[d.kind] - 1}: "
    text += f"{source.said}. {out.name} gets {state.name} plus the new words.{source.kept}"
    return Title(k.name(f"{d.short}_compress {d.short}_block"), text)


_LONG = ("SHA-256", "SHA-512", "SHA-1")
"""Digests whose schedule is more than the block."""


def _chained(k: KernelBuilder) -> Title:
    """Several blocks of each message, one after the other."""
    d = digest_of(k, 5, *_LONG, "MD5")
    size = len(LETTERS[d.kind])
    tables = tables_of(d)
    k.size("max_blocks", 2, 4, minimum=2)
    start = k.array("initial iv", d.type, str(size), low=0, high=2**d.bits - 1)
    blocks = d.array("blocks message_words", "16*max_blocks")
    counts = None
    if k.draw.shape.chance(0.6):
        counts = k.array("num_blocks block_counts", INT32, "messages", low=1, high=2)
    turns: Expr = k.size_param("max_blocks", "max_blocks") if counts is None else counts[d.at]
    out = d.array("digests hashes", str(size), "out")
    ring = _ring(d)
    held = [k.let(f"h{n}", start[n]) for n in range(size)]
    with k.for_("block blk", turns) as block:
        base = k.let("base first_word", block * 16)
        source = Source(d, lambda t: blocks[d.place(base + t)], tables, ring=ring)
        x = _rounds(source, list(held))
        for h, value in zip(held, x, strict=True):
            k.augment(h, "add", value)
    for n, value in enumerate(held):
        k.store(out, d.place(n), value)
    which = "all of its blocks" if counts is None else f"its first {counts.name} blocks"
    text = f"{d.kind} of each message over {which} of 16 words, already padded; {blocks.name} and "
    text += (
        f"{out.name} are [{d.layout}]. The hash, h0 to h{size - 1}, starts as {start.name}. For "
    )
    text += (
        f"each block, {LETTERS[d.kind][0]} to {LETTERS[d.kind][-1]} start as the hash; rounds t "
    )
    text += f"from 0 to {LENGTHS[d.kind] - 1}: {source.said}; then they are added to the hash. "
    text += "M is the block. " * (d.kind == "MD5")
    text += f"{out.name} gets the hash.{source.kept}"
    return Title(k.name(f"{d.short}_messages {d.short}_digest"), text)


def _nonces(k: KernelBuilder) -> Title:
    """A block whose last word but some is a nonce, tried by a thread each."""
    d = digest_of(k, 4, "SHA-256", "SHA-1", "MD5", size="nonces")
    d.columns = False
    size = len(LETTERS[d.kind])
    tables = tables_of(d)
    mid = k.array("midstate chaining", UINT32, str(size), low=0, high=2**32 - 1)
    words = k.array("block_words template", UINT32, "16", low=0, high=2**32 - 1)
    first = k.scalar("first_nonce nonce_base", UINT32, 0, 2**32 - 1)
    place = k.scalar("nonce_word nonce_index", INT32, 0, 15)
    out = k.out("hash_words leading_words", UINT32, "nonces")
    ring = None if d.kind == "MD5" else k.let("w recent", filled(Vec(16, UINT32), 0))
    nonce = k.let("nonce", first + cast(d.at, UINT32))

    def word(t: Expr) -> Expr:
        return where(fn("eq", t, place), nonce, words[t])

    source = Source(d, word, tables, ring=ring)
    x = _rounds(source, [mid[n] for n in range(size)])
    chosen = 0 if d.kind != "SHA-256" else 7
    k.store(out, d.at, mid[chosen] + x[chosen])
    text = f"Try nonces: the block of thread i is {words.name} with word {place.name} replaced by "
    text += f"{first.name} + i (modulo 2^32). One {d.kind} compression: {LETTERS[d.kind][0]} to "
    text += f"{LETTERS[d.kind][-1]} start as {mid.name}; rounds t from 0 to {LENGTHS[d.kind] - 1}: "
    text += f"{source.said}. {'M is the block. ' * (d.kind == 'MD5')}{out.name} gets "
    text += f"{LETTERS[d.kind][chosen]} in the end plus {mid.name}[{chosen}].{source.kept}"
    return Title(k.name(f"{d.short}_nonces try_nonces search_{d.short}"), text)


@idiom
def digest_rounds(k: KernelBuilder, level: int) -> Title:
    """SHA-2, SHA-1 and MD5 (FIPS 180-4, RFC 1321): a round, a schedule, a block, a message."""
    if level == 1:
        return one_round(k) if k.draw.shape.chance(0.4) else schedule(k, level)
    if level == 2:
        return schedule(k, level)
    if level == 4 and k.draw.shape.chance(0.4):
        return _nonces(k)
    return _compress(k, level) if level < 5 else _chained(k)
