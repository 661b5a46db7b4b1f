"""Hashes of words and short keys: FNV, Murmur, Jenkins, Wang, SplitMix; bits mixed at random."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from generators.arithmetic.common import short_rows
from generators.arithmetic.types import UINT8, UINT16, UINT32, UINT64
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Build, Formula
from generators.kit.naming import helper, maybe
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Scalar, scalar_of
from generators.program.expr import Expr, Operand, Var, literal

_STEPS: dict[str, tuple[str, Callable[[Expr, int], Operand], str]] = {
    "right": ("", lambda h, n: h ^ (h >> n), "h ^= h >> {}"),
    "left": ("", lambda h, n: h ^ (h << n), "h ^= h << {}"),
    "times": ("mul", lambda h, n: n, "h *= {}"),
    "plus": ("add", lambda h, n: n, "h += {}"),
    "grow": ("add", lambda h, n: h << n, "h += h << {}"),
    "rotate": (
        "",
        lambda h, n: (h << n) | (h >> (scalar_of(h.type).bits - n)),
        "rotate h left by {}",
    ),
    "fold": ("", lambda h, n: (h ^ n) ^ (h >> 16), "h ^= {} ^ (h >> 16)"),
}
"""Steps that scramble a word ``h`` by a number: the augmented operator, if any, value and text."""

Steps = tuple[tuple[str, int], ...]


def _step(b: BodyBuilder, h: Var, name: str, number: int) -> str:
    op, value, text = _STEPS[name]
    if op:
        b.augment(h, op, value(h, number))
    else:
        b.assign(h, value(h, number))
    return text.format(number)


def _rounds(golden: int, first: int, a: int, second: int, b: int, last: int) -> Steps:
    """Two rounds of a shift and a product, and a last shift."""
    start = (("plus", golden),) if golden else ()
    return (
        *start,
        ("right", first),
        ("times", a),
        ("right", second),
        ("times", b),
        ("right", last),
    )


_JENKINS = (("grow", 10), ("right", 6), ("grow", 3), ("right", 11), ("grow", 15))
_WANG = (("fold", 61), ("times", 9), ("right", 4), ("times", 0x27D4EB2D), ("right", 15))
FINISHERS: dict[str, tuple[str, dict[Scalar, Steps]]] = {
    "MurmurHash3's finaliser": (
        "murmur_mix fmix",
        {
            UINT32: _rounds(0, 16, 0x85EBCA6B, 13, 0xC2B2AE35, 16),
            UINT64: _rounds(0, 33, 0xFF51AFD7ED558CCD, 33, 0xC4CEB9FE1A85EC53, 33),
        },
    ),
    "the SplitMix step": (
        "splitmix split_mix_step",
        {
            UINT32: _rounds(0x9E3779B9, 16, 0x21F0AAAD, 15, 0x735A2D97, 15),
            UINT64: _rounds(0x9E3779B97F4A7C15, 30, 0xBF58476D1CE4E5B9, 27, 0x94D049BB133111EB, 31),
        },
    ),
    "Knuth's multiplication": (
        "knuth_hash golden_hash",
        {
            UINT32: (("times", 2654435761), ("right", 16)),
            UINT64: (("times", 0x9E3779B97F4A7C15), ("right", 32)),
        },
    ),
    "Wang's integer hash": ("wang_hash hash_wang", {UINT32: _WANG}),
    "the lowbias32 hash": (
        "lowbias32 mix32",
        {UINT32: _rounds(0, 16, 0x7FEB352D, 15, 0x846CA68B, 16)},
    ),
    "Jenkins' shifts and adds": ("jenkins_mix jhash", {UINT32: _JENKINS}),
}

_FX = {UINT32: 0x9E3779B9, UINT64: 0x517CC1B727220A95}
"""Factors of FxHash, of Firefox and of the compiler of Rust, by type."""


def _combining(type_: Scalar) -> list[Formula]:
    """Ways to take a word ``w`` into a hash ``h``."""
    codes: dict[str, Build] = {
        "fnv1a": lambda h, w, prime: (h ^ w) * prime,
        "fnv1": lambda h, w, prime: (h * prime) ^ w,
        "djb2": lambda h, w: 33 * h + w,
        "sdbm": lambda h, w: w + (h << 6) + (h << 16) - h,
        "java": lambda h, w: 31 * h + w,
        "boost": lambda h, w: h ^ (w + 0x9E3779B9 + (h << 6) + (h >> 2)),
        "rotate": lambda h, w: (((h << 5) | (h >> (type_.bits - 5))) ^ w) * _FX[type_],
    }
    return [Formula(name, "", code, types=(type_,) * 3) for name, code in codes.items()]


@idiom(depth=3)
def hash_words(k: KernelBuilder, level: int) -> Title:
    """Hash keys of one word, of several fields, or of a short row of bytes or words."""
    shape = k.draw.shape
    type_ = shape.weighted({UINT32: 3, UINT64: 2})
    s = launch(k, list=1)
    names = "hash_keys"
    if level >= 3 or (level == 2 and shape.chance(0.5)):
        combine = shape.choice(_combining(type_))
        names += f" {combine.name}_hash"
        h, done = _of_row(s, level, combine, type_)
    else:
        h, done = _of_word(s, type_)
    if level != 3 or shape.chance(0.4):
        known = [name for name, (_, steps) in FINISHERS.items() if type_ in steps]
        title = shape.choice(known)
        finisher, steps = FINISHERS[title]
        names = names if "_hash" in names else finisher
        h, text = _finished(k, level, finisher, steps[type_], h)
        done += f" Then apply {title}: {text}."
    if level >= 4:
        done += _derived(s, level, h, type_)
    out = s.put("hashes digests", h)
    return Title(k.name(names), f"{done} Store h in {out.name}.")


def _finished(k: KernelBuilder, level: int, names: str, steps: Steps, h: Var) -> tuple[Var, str]:
    """The last scrambling, in place or in a helper."""
    if level < 2 or k.draw.shape.chance(0.4):
        return h, ", ".join([_step(k, h, *step) for step in steps])
    texts: list[str] = []

    def build(body: BodyBuilder, key: Expr) -> Expr:
        mixed = body.let("h x v", key)
        texts.extend(_step(body, mixed, *step) for step in steps)
        return mixed

    call = helper(k, names, [("key", h.type)], build)
    return k.let("mixed final", k.call(call, h)), ", ".join(texts)


def _of_word(s: Site, type_: Scalar) -> tuple[Var, str]:
    """The start from a word of the thread, alone or with something else."""
    k, shape = s.k, s.k.draw.shape
    source = shape.choice((type_, type_, INT32, UINT32))
    keys = s.read("keys ids", source, 0, source.int_range[1])
    value: Expr = cast(keys, type_)
    form = shape.choice(("plain", "seeded", "pair"))
    if form == "seeded":
        value = value ^ k.scalar("seed salt", type_, 1, 2**31)
    elif form == "pair":
        other = s.read("tags second_keys", type_, 0, type_.int_range[1])
        value = value * k.draw.value.choice((31, 73856093, 19349663, 83492791)) + other
    return k.let("h state x", value), f"Hash each key: start with h = {say(k, value)}.".replace(
        "^^", "^"
    )


def _of_row(s: Site, level: int, combine: Formula, type_: Scalar) -> tuple[Var, str]:
    """Hash of the words along a short axis."""
    k, shape = s.k, s.k.draw.shape
    m = k.size("m", 3, 5)
    source = shape.choice((UINT8, UINT8, UINT32, type_))
    skip = level >= 4 and shape.chance(0.4)
    top = 9 if skip else source.int_range[1]
    rows, entry, axis = short_rows(
        s, "keys strings" if source == UINT8 else "keys records", source, 0, top
    )
    count = k.size_param("key_length", m)
    prime, basis = 16777619, 2166136261
    if type_ == UINT64:
        prime, basis = 1099511628211, 14695981039346656037
    start = {"fnv1a": basis, "fnv1": basis, "djb2": 5381}.get(combine.name, 0)
    seed: Expr = literal(start, type_)
    if start == 0 or shape.chance(0.3):
        seed = k.scalar("seed basis", type_, 1, 2**31)
    h = k.let("h hash_value acc", seed)
    values: dict[str, Expr] = {"h": h, "prime": literal(prime, type_)}
    with k.for_("b pos s", count) as q:
        w = cast(entry(q), type_)
        word = "byte" if source == UINT8 else "word"
        values["w"] = k.let(word, w) if skip else maybe(k, word, w, 0.6)
        with k.if_(fn("ne", values["w"], 0)) if skip else nullcontext():
            k.assign(h, combine.of(k, values))
    done = f"Hash each key, whose words w lie along the {axis} axis of {rows.name}: start with h = "
    done += f"{say(k, seed)}; for each {'nonzero ' if skip else ''}w in order, h = "
    rule = combine.said({"h": "h", "w": "w", "prime": str(prime)}).replace("^^", "^")
    return h, f"{done}{rule}."


def _derived(s: Site, level: int, h: Var, type_: Scalar) -> str:
    """What hash tables and noise take from a hash: a bucket, a number in [0, 1), a tag, a slot."""
    k, done = s.k, ""
    for form in k.draw.shape.sample(("bucket", "unit", "tag", "slot"), 1 if level == 4 else 2):
        if form == "bucket":
            count = k.scalar("num_buckets table_size", type_, 7, 61)
            out, text = s.put("buckets bins", cast(h % count, INT32)), f"h % {count.name}"
        elif form == "unit":
            unit = cast(h >> (type_.bits - 24), FLOAT32) / 16777216.0
            out, text = s.put("noise uniform", unit), "the upper 24 bits of h over 2^24"
        elif form == "tag":
            tag = cast(h >> (type_.bits - 8), UINT8)
            out, text = s.put("tags fingerprints", tag), "the upper 8 bits of h"
        else:
            mask = 2 ** k.draw.value.integer(4, 10) - 1
            out, text = s.put("slots homes", cast(h & mask, UINT16)), f"h & {mask}"
        done += f" {out.name} gets {text}."
    return done


_MIXERS: dict[Scalar, dict[str, Steps]] = {
    UINT32: {
        "fmix32 murmur_finalizer": _rounds(0, 16, 0x85EBCA6B, 13, 0xC2B2AE35, 16),
        "xxhash_avalanche": _rounds(0, 15, 0x85EBCA77, 13, 0xC2B2AE3D, 16),
        "lowbias32": _rounds(0, 16, 0x7FEB352D, 15, 0x846CA68B, 16),
        "xorshift32": (("left", 13), ("right", 17), ("left", 5)),
        "triple32": (
            ("right", 17),
            ("times", 0xED5AD4BB),
            ("right", 11),
            ("times", 0xAC4C1B51),
            ("right", 15),
            ("times", 0x31848BAB),
            ("right", 14),
        ),
        "fibonacci_hash": (("times", 0x9E3779B1),),
    },
    UINT64: {
        "fmix64 murmur_finalizer": _rounds(0, 33, 0xFF51AFD7ED558CCD, 33, 0xC4CEB9FE1A85EC53, 33),
        "xxhash_avalanche": _rounds(0, 33, 0xC2B2AE3D27D4EB4F, 29, 0x165667B19E3779F9, 32),
        "moremur": _rounds(0, 27, 0x3C79AC492BA7B653, 33, 0x1C69B3F74AC4AE35, 27),
        "xorshift64": (("left", 13), ("right", 7), ("left", 17)),
        "fibonacci_hash": (("times", 0x9E3779B97F4A7C15),),
        "xorshift64_star": (
            ("right", 12),
            ("left", 25),
            ("right", 27),
            ("times", 0x2545F4914F6CDD1D),
        ),
    },
    UINT16: {
        "hash16_xm2": _rounds(0, 8, 0x88B5, 7, 0xDB2D, 9),
        "xorshift16": (("left", 7), ("right", 9), ("left", 8)),
    },
}
"""Mixers by type: MurmurHash3 and xxHash (finishing steps), lowbias32, triple32 and hash16 of
C. Wellons' hash prospector, moremur of P. Evensen, xorshift of G. Marsaglia."""


@idiom(depth=1)
def bit_mixing(k: KernelBuilder, level: int) -> Title:
    """Rounds of shifts, exclusive ors and multiplications, as integer hashes have them."""
    shape = k.draw.shape
    type_ = shape.weighted({UINT32: 4, UINT64: 2, UINT16: 1})
    top = type_.int_range[1]
    s = launch(k, list=1)
    keys = s.read("keys ids codes words", type_, 0, top)
    h = k.let("h state word", keys)
    done = []
    if shape.chance(0.4):
        salt = k.scalar("salt seed", type_, 0, top)
        k.assign(h, h ^ salt)
        done.append(f"h ^= {salt.name}")
    name = shape.choice(sorted(_MIXERS[type_]))
    done += [_step(k, h, *step) for step in _MIXERS[type_][name]]
    value: Expr = h
    if name == "fibonacci_hash":
        # The upper bits of the product are the mixed ones: a table of 2^n has so many.
        shift = k.scalar("shift hash_shift", type_, type_.bits - 16, type_.bits - 6)
        value = h >> shift
        done.append(f"h >>= {shift.name}")
    elif shape.chance(0.4):
        slots = k.scalar("num_buckets num_slots table_size", type_, 97, 1021)
        value = h % slots
        done.append(f"h %= {slots.name}")
    out = s.put("buckets slots" if value is not h else "hashes mixed digest", value)
    text = f"Mix the bits of each {type_} word h of {say(k, keys)} into {out.name}: "
    return Title(k.name(name), f"{text}{'; '.join(done)}.")
