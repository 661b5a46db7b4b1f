"""Checksums of blocks: words are mixed with their place and joined in any order."""

from __future__ import annotations

from generators.atomic.tally import UINT32, UINT64, Tally, indices, threads
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.naming import routine
from generators.kit.sites import over
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var

_MIXERS: dict[int, dict[str, tuple[tuple[int, int], ...]]] = {
    32: {
        "MurmurHash3's finaliser": ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 0)),
        "xxHash's avalanche": ((15, 2246822519), (13, 3266489917), (16, 0)),
        "lowbias32": ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 0)),
    },
    64: {
        "MurmurHash3's finaliser": ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53), (33, 0)),
        "xxHash's avalanche": ((33, 14029467366897019727), (29, 1609587929392839161), (32, 0)),
        "SplitMix64's mixer": ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 0)),
    },
}
"""Known mixers of words by width: shifts of ``w ^= w >> s``, and the factor after each (0: none);
A. Appleby's MurmurHash3, Y. Collet's xxHash, C. Wellons' lowbias32, S. Vigna's SplitMix64."""


class _Words(Tally):
    """Words of blocks: one a thread, or a segment of a block a thread."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        shape = k.draw.shape
        self.type = shape.choice((UINT32, UINT64))
        form = shape.choice(("grid", "grid", "list") if level < 3 else ("segments",))
        self.width = k.draw.value.choice((8, 16))
        self.form, self.count = form, Var("block_words", INT32)
        if form == "grid":
            s = over(k, "blocks block_words", indices(k, "b block", "j w"), ((8, 12), (6, 8)))
            super().__init__(level, s)
            self.block, self.within = s.at
        elif form == "list":
            k.size("block_words", 12, 16)
            super().__init__(level, threads(k, "blocks", 5, 6, dims="blocks*block_words"))
            self.count = k.size_param("block_words words_per_block", "block_words")
            self.block = k.let("b block", self.s.at[0] // self.count)
            self.within = self.s.at[0] % self.count
        else:
            s = over(k, "blocks segments", indices(k, "b block", "g segment"), ((8, 12), (3, 4)))
            super().__init__(level, s)
            self.block, self.within = s.at

    def mixer(self, named: str) -> object:
        """The mixing function, by a helper at times."""
        steps = _MIXERS[self.type.bits][named]

        def mix(b: KernelBuilder, word: Expr) -> Expr:
            h = b.let("h x", word)
            for shift, factor in steps[:-1]:
                b.assign(h, (h ^ (h >> b.lift(shift, self.type))) * b.lift(factor, self.type))
            return h ^ (h >> b.lift(steps[-1][0], self.type))

        return routine(self.k, 0.6, "mix mix_word", {"word": self.type}, mix)


@idiom(depth=4)
def block_checksum(k: KernelBuilder, level: int) -> Title:
    """Checksums of blocks: words that are mixed with their index, joined by xor or by sum; or, of
    sets, such that do not depend on the order."""
    shape = k.draw.shape
    t = _Words(k, level)
    named = shape.choice(sorted(_MIXERS[t.type.bits]))
    mix = t.mixer(named)
    kind = shape.choice(("xor", "add"))
    salt = k.scalar("seed salt", t.type, 1, 10**6) if shape.chance(0.4) else None
    placed = shape.chance(0.75)
    out_names = "checksums digests"

    def hashed(word: Expr, place: Expr) -> Expr:
        if placed:
            word = word + cast(place, t.type) * k.lift(_ODD[t.type.bits], t.type)
        word = word if salt is None else word ^ salt
        value = mix(word)  # type: ignore[operator]
        assert isinstance(value, Expr)
        return value

    if t.form == "segments":
        data = k.array("data payload", t.type, ("blocks", f"{t.width}*segments"), low=0, high=2**31)
        acc = k.let("acc partial", k.lift(0, t.type))
        first = k.let("first start", t.within * t.width)
        with k.for_("j step", t.width) as j:
            i = k.let("i w", first + j)
            value = k.let("mixed hashed", hashed(data[t.block, i], i))
            if kind == "add":
                k.augment(acc, "add", value)
            else:
                k.assign(acc, fn("bit_xor", acc, value))
        k.atomic(kind, k.accumulator(out_names, t.type, "blocks"), t.block, acc)
    else:
        data = t.s.array("data payload", t.type, 0, 2**31)
        value = k.let("mixed hashed", hashed(k.let("word w", data[t.s.at]), t.within))
        k.atomic(kind, k.accumulator(out_names, t.type, "blocks"), t.block, value)
    return _told(t, named, kind, salt, placed, data)


_ODD = {32: 2654435769, 64: 0x9E3779B97F4A7C15}
"""The golden ratio as a fraction of all words, made odd."""


def _told(t: _Words, named: str, kind: str, salt: Var | None, placed: bool, data: Var) -> Title:
    k = t.k
    out = next(p.name for p in k.params if p.role == "inout")
    joined = "xor" if kind == "xor" else "sum"
    blocks = f"block of {t.count.name} words" if t.form == "list" else "row"
    about = "Checksum" if placed else "Order-independent checksum"
    text = f"{about} of each {blocks} of {data.name}: the {joined} of its words, each mixed first "
    text += f"by {named} "
    steps = _MIXERS[t.type.bits][named]
    text += f"(shifts {', '.join(str(s) for s, _ in steps)}; "
    text += f"factors {', '.join(hex(f) for _, f in steps[:-1])}), in {out}."
    if placed:
        where = "block" if t.form == "list" else "row"
        text += (
            f" Its index in the {where} times {hex(_ODD[t.type.bits])} is added to a word before"
        )
        text += (
            f" it is xor-ed with {salt.name} and mixed." if salt is not None else " it is mixed."
        )
    elif salt is not None:
        text += f" A word is xor-ed with {salt.name} before it is mixed."
    if t.form == "segments":
        text += f" A thread joins {t.width} consecutive words and issues one atomic."
    return Title(k.name("block_checksum checksum_blocks hash_blocks"), text)
