"""Speech in 8 bits a sample: the mu-law and the A-law of ITU-T G.711, by their bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.arithmetic.types import INT16, UINT8, UINT32
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, least, most, where
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import Site, over
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

_SAMPLES = -32_768, 32_767
_FULL = 32_768.0


def _set(value: Expr) -> Expr:
    return fn("ne", value, 0)


def _mu_decoded(b: BodyBuilder, code: Expr) -> Expr:
    bits = b.let("bits u inverted", code ^ 255)
    size = b.let("mag t", (((bits & 15) << 3) + 132) << ((bits >> 4) & 7))
    return where(_set(bits & 128), 132 - size, size - 132)


def _a_decoded(b: BodyBuilder, code: Expr) -> Expr:
    bits = b.let("bits a toggled", code ^ 85)
    segment = b.let("seg chord", (bits >> 4) & 7)
    size = b.let("mag t", ((bits & 15) << 4) + 8)
    with b.if_(segment > 0):
        b.assign(size, (size + 256) << (segment - 1))
    return where(_set(bits & 128), size, -size)


def _by_loop(b: BodyBuilder, top: Expr) -> Expr:
    rest, segment = b.let("rest top", top), b.let("seg chord", b.lift(0, INT32))
    with b.while_(rest > 0):
        b.assign(rest, rest >> 1)
        b.augment(segment, "add", 1)
    return segment


def _by_halving(b: BodyBuilder, top: Expr) -> Expr:
    rest, segment = b.let("rest top", top), b.let("seg chord", b.lift(0, INT32))
    for bits in (4, 2, 1):
        with b.if_(rest >= 1 << bits):
            b.assign(rest, rest >> bits)
            b.augment(segment, "add", bits)
    return b.let("segment chord_number", segment + rest)


def _by_ends(b: BodyBuilder, top: Expr) -> Expr:
    rest, segment = b.let("rest top", top), b.let("seg chord", b.lift(0, INT32))
    with b.for_("s bit", 7) as s, b.if_(rest >= b.lift(1, INT32) << s):
        b.augment(segment, "add", 1)
    return segment


def _by_count(b: BodyBuilder, top: Expr) -> Expr:
    rest = b.let("filled smear", top)
    for shift in (1, 2, 4):
        b.assign(rest, rest | (rest >> shift))
    return b.let("seg chord", fn("bit_count", rest))


_SEARCHES = (_by_loop, _by_halving, _by_ends, _by_count)
"""How many bits a number below 128 has: the segment."""
Search = Callable[[BodyBuilder, Expr], Expr]


def _mu_encoded(b: BodyBuilder, sample: Expr, search: Search, quiet: bool) -> Expr:
    """The code; ``quiet`` samples are known to be no larger than the law's largest."""
    sign = b.let("sign sign_bit", where(sample < 0, b.lift(128, INT32), 0))
    kept = abs(sample) if quiet else least(abs(sample), 32_635)
    size = b.let("mag biased", kept + 132)
    segment = search(b, size >> 8)
    step = b.let("mantissa step_number", (size >> (segment + 3)) & 15)
    return (sign | (segment << 4) | step) ^ 255


def _a_encoded(b: BodyBuilder, sample: Expr, search: Search, _quiet: bool) -> Expr:
    mask = b.let("mask toggles", where(sample < 0, b.lift(85, INT32), 213))
    size = b.let("mag v", where(sample < 0, -sample - 1, sample) >> 3)
    segment = search(b, size >> 5)
    step = b.let("mantissa step_number", (size >> most(segment, 1)) & 15)
    return ((segment << 4) | step) ^ mask


@dataclass(frozen=True)
class Law:
    """A law of G.711: its name, names in a kernel, and both directions by int32."""

    said: str
    short: str
    decoded: Callable[[BodyBuilder, Expr], Expr]
    encoded: Callable[[BodyBuilder, Expr, Search, bool], Expr]
    told_decode: str
    told_encode: str


LAWS = {
    "mu": Law(
        "mu-law",
        "ulaw",
        _mu_decoded,
        _mu_encoded,
        "with u the code's bits inverted, m = u & 15 and s = (u >> 4) & 7 the magnitude is "
        "((8 * m + 132) << s) - 132, and bit 7 of u set says negative",
        "the magnitude, at most 32635, gets 132 added; s (3 bits) is such that the highest set bit "
        "of that is bit s + 7, m are the 4 bits below it, and the code is the sign bit (128 for "
        "negative), 16 * s and m, all 8 bits inverted",
    ),
    "a": Law(
        "A-law",
        "alaw",
        _a_decoded,
        _a_encoded,
        "with a = code ^ 85, m = a & 15 and s = (a >> 4) & 7 the magnitude is 16 * m + 8 for s = 0 "
        "and else (16 * m + 264) << (s - 1), and bit 7 of a set says positive",
        "with v = x >> 3, or (-x - 1) >> 3 for negative x, s is the number of bits of v >> 5 and m "
        "the lowest 4 bits of v >> max(s, 1); the code is 16 * s + m, by exclusive or with 213, "
        "for negative x with 85",
    ),
}


@dataclass(frozen=True)
class _Codec:
    """A law as used in a kernel, its formulas written in place or as helpers."""

    law: Law
    decode: Callable[[Expr], Expr]
    encode: Callable[[Expr], Expr]


def _codec(k: KernelBuilder, level: int, name: str, *used: str, quiet: bool = False) -> _Codec:
    law, search = LAWS[name], k.draw.shape.choice(_SEARCHES)
    chance = BY_LEVEL[level]
    done: dict[str, Callable[..., Expr]] = {}
    if "decode" in used:
        names = f"{law.short}_decode {law.short}_to_linear"
        done["decode"] = routine(k, chance, names, {"code": INT32}, law.decoded)
    if "encode" in used:

        def encoded(b: BodyBuilder, sample: Expr) -> Expr:
            return law.encoded(b, sample, search, quiet)

        names = f"{law.short}_encode linear_to_{law.short}"
        done["encode"] = routine(k, chance, names, {"sample": INT32}, encoded)
    return _Codec(law, done.get("decode", _unused), done.get("encode", _unused))


def _unused(_: Expr) -> Expr:
    raise AssertionError("this direction was not asked for")


def _sound(k: KernelBuilder) -> Site:
    """A thread for each sample, of one or several channels; enough that some are very loud."""
    if k.draw.shape.chance(0.5):
        return over(k, "num_samples", k.draw.word.choice(("i", "tid", "t")), ((800, 900),))
    names = k.draw.word.choice(("ch t", "c i"))
    return over(k, "channels samples", names, ((5, 6), (150, 165)))


def _codes(s: Site, law: Law) -> Var:
    return s.array(f"codes {law.short}_codes {law.short}_bytes", UINT8, 0, 255)


def _expand(k: KernelBuilder, level: int) -> Title:
    """Linear samples of codes: by the bits, or from a table of all 256."""
    shape = k.draw.shape
    c = _codec(k, level, shape.choice(sorted(LAWS)), "decode")
    s = _sound(k)
    codes = _codes(s, c.law)
    real = shape.chance(0.4)
    if shape.chance(0.25):
        kind: Scalar = FLOAT32 if real else INT16
        low, high = (-0.98, 0.98) if real else (-32_124, 32_124)
        table = k.array("expand_table decode_lut", kind, "256", low=low, high=high)
        out = s.out("pcm linear samples_out", kind)
        k.store(out, s.at, table[k.let("code c", cast(codes[s.at], INT32))])
        text = f"Expand 8-bit {c.law.said} codes by table: {out.name} gets {table.name}[code] for "
        return Title(k.name(f"{c.law.short}_lut expand_by_table"), f"{text}each of {codes.name}.")
    code = k.let("code c", cast(codes[s.at], INT32))
    linear = k.let("linear sample", c.decode(code))
    if real:
        out = s.out("audio samples_out waveform", FLOAT32)
        k.store(out, s.at, cast(linear, FLOAT32) / _FULL)
        what = "samples over 32768"
    else:
        out = s.out("pcm linear samples_out", INT16)
        k.store(out, s.at, cast(linear, INT16))
        what = "16-bit samples"
    text = f"Decode G.711 {c.law.said}: {out.name} gets the {what} of {codes.name}; "
    names = f"{c.law.short}_decode_samples expand_{c.law.short} decode_{c.law.short}"
    return Title(k.name(names), f"{text}{c.law.told_decode}.")


def _gained(k: KernelBuilder, sample: Expr, gain: Var, bits: int) -> Var:
    """A sample times a fixed-point gain, by its magnitude: a shift would round it down."""
    before = k.let("raw pcm_in", sample)
    size = k.let("scaled loudness", (abs(before) * gain) >> bits)
    return k.let("adjusted sample_in", where(before < 0, -size, size))


def _compress(k: KernelBuilder, level: int) -> Title:
    """Codes of linear samples, whose segment is searched."""
    c = _codec(k, level, k.draw.shape.choice(sorted(LAWS)), "encode")
    s = _sound(k)
    pcm = s.array("pcm linear samples_in", INT16, *_SAMPLES)
    own, said = cast(pcm[s.at], INT32), f"of the 16-bit samples in {pcm.name}"
    if k.draw.shape.chance(0.35):
        gain = k.scalar("gain_q8 volume_q8", INT32, 128, 1024)
        own = clamp(_gained(k, own, gain, 8), *_SAMPLES)
        said += f", times {gain.name} / 256, cut toward zero and clamped to 16 bits"
    sample = k.let("sample x", own)
    out = s.out(f"codes {c.law.short}_codes encoded", UINT8)
    k.store(out, s.at, cast(c.encode(sample), UINT8))
    text = f"Encode G.711 {c.law.said}: {out.name} gets the codes {said}; for a sample x, "
    names = f"{c.law.short}_encode_samples compress_{c.law.short} encode_{c.law.short}"
    return Title(k.name(names), f"{text}{c.law.told_encode}.")


def _transcode(k: KernelBuilder, level: int) -> Title:
    """Codes of one law to those of the other, with a digital pad on the way or without."""
    shape = k.draw.shape
    before, after = ("mu", "a") if shape.chance(0.5) else ("a", "mu")
    source = _codec(k, level, before, "decode")
    target = _codec(k, level, after, "encode", quiet=True)
    s = _sound(k)
    codes = _codes(s, source.law)
    sample = k.let("linear x", source.decode(k.let("code c", cast(codes[s.at], INT32))))
    padded = ""
    if shape.chance(0.5):
        gain = k.scalar("gain_q12 pad_q12", INT32, 1024, 4095)
        sample = _gained(k, sample, gain, 12)
        padded = f", times {gain.name} / 4096 and cut toward zero on the way"
    out = s.out(f"{target.law.short}_out recoded", UINT8)
    k.store(out, s.at, cast(target.encode(sample), UINT8))
    text = f"Transcode G.711 {source.law.said} to {target.law.said}: {out.name} gets the codes of "
    text += f"the samples of {codes.name}{padded}. Decoding, {source.law.told_decode}. Encoding "
    text += f"a sample x, {target.law.told_encode}."
    return Title(k.name(f"{source.law.short}_to_{target.law.short} transcode_g711"), text)


def _packed(k: KernelBuilder, level: int) -> Title:
    """Four codes a word, the first in the lowest byte."""
    c = _codec(k, max(level, 3), k.draw.shape.choice(sorted(LAWS)), "encode")
    k.size("words", 190, 220)
    (w,) = k.thread("words", names=(k.name("w tid"),))
    pcm = k.array("pcm linear", INT16, "4*words", low=_SAMPLES[0], high=_SAMPLES[1])
    word = k.let("word packed", k.lift(0, UINT32))
    with k.for_("j lane", 4) as j:
        sample = k.let("sample x", cast(pcm[4 * w + j], INT32))
        code = k.let("code", cast(c.encode(sample), UINT32))
        k.assign(word, word | (code << cast(8 * j, UINT32)))
    out = k.out("packed_codes payload", UINT32, "words")
    k.store(out, w, word)
    text = f"Encode G.711 {c.law.said}, four samples of {pcm.name} to a word of {out.name}, the "
    text += f"first in the lowest byte. Of a sample x, {c.law.told_encode}."
    return Title(k.name(f"pack_{c.law.short} {c.law.short}_encode_x4"), text)


def _energy(k: KernelBuilder, level: int) -> Title:
    """Mean square of each frame of codes, which tells speech from silence."""
    c = _codec(k, level, k.draw.shape.choice(sorted(LAWS)), "decode")
    names = k.draw.word.choice(("call f", "ch frame"))
    s = over(k, "channels frames", names, ((3, 5), (9, 14)))
    k.size("frame_size", 16, 24)
    size = k.size_param("frame_size frame_len", "frame_size")
    codes = s.array(f"codes {c.law.short}_frames", UINT8, 0, 255, more="frame_size")
    total = k.let("energy acc", k.lift(0.0, FLOAT32))
    with k.for_("i n", size) as i:
        code = k.let("code c", cast(codes[s.index(i)], INT32))
        x = k.let("x sample", cast(c.decode(code), FLOAT32) / _FULL)
        k.augment(total, "add", x * x)
    mean = k.let("power mean_square", total / cast(size, FLOAT32))
    out = s.put("frame_power levels", mean)
    text = f"Power of frames of G.711 {c.law.said} speech: {out.name} gets the mean of the squares "
    text += f"of a frame's samples over 32768, decoded from {codes.name}; {c.law.told_decode}."
    return Title(k.name(f"{c.law.short}_frame_power frame_power"), text)


def _conference(k: KernelBuilder, level: int) -> Title:
    """Each member of a call hears the others: the sum of all samples less their own."""
    shape = k.draw.shape
    c = _codec(k, level, shape.choice(sorted(LAWS)), "decode", "encode")
    for size, low, high in (("rooms", 4, 6), ("members", 3, 5), ("samples", 8, 12)):
        k.size(size, low, high)
    dims = ("rooms", "members", "samples")
    codes = k.array("codes member_codes", UINT8, dims, low=0, high=255)
    out = k.out("mixed_codes heard", UINT8, dims)
    count = k.size_param("members num_members", "members")
    own = shape.chance(0.5)
    used = dims if own else ("rooms", "samples")
    names = ("room r", "member p", "t") if own else ("room r", "t")
    at = k.thread(*used, names=[k.name(n) for n in names])
    room, t = at[0], at[-1]

    def linear(m: Expr) -> Expr:
        return c.decode(k.let("code c", cast(codes[room, m, t], INT32)))

    def store(m: Expr, value: Expr) -> None:
        mixed = k.let("mix others", clamp(value, *_SAMPLES))
        k.store(out, (room, m, t), cast(c.encode(mixed), UINT8))

    total = k.let("total acc", k.lift(0, INT32))
    if own:
        me = at[1]
        with k.for_("m other", count) as m, k.if_(fn("ne", m, me)):
            k.augment(total, "add", linear(m))
        store(me, total)
    else:
        before = set(k.used)
        with k.for_("m speaker", count) as m:
            k.augment(total, "add", linear(m))
        k.again(before)
        with k.for_("m speaker", count) as m:
            mine = k.let("own mine", linear(m))
            store(m, total - mine)
    return Title(k.name("conference_mix mix_minus bridge_mix"), _told(c.law, codes, out))


def _told(law: Law, codes: Var, out: Var) -> str:
    text = f"Conference bridge: each member of a room hears the others. {out.name} gets the "
    text += f"{law.said} code of the sum of the other members' samples in {codes.name}, clamped "
    text += f"to 16 bits. G.711 {law.said}: decoding, {law.told_decode}; encoding a sample x, "
    return f"{text}{law.told_encode}."


_FORMS = {1: (_expand,), 2: (_compress,), 3: (_transcode, _packed, _energy), 4: (_conference,)}


@idiom(depth=4)
def companding(k: KernelBuilder, level: int) -> Title:
    """Mu-law and A-law speech (G.711): expand, compress, transcode, mix."""
    return k.draw.shape.choice(_FORMS[min(level, 4)])(k, level)
