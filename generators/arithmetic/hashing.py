"""Hash functions of words and short keys: FNV, Murmur, Jenkins, Wang, SplitMix, Pearson tables."""

from __future__ import annotations

from collections.abc import Callable

from generators.arithmetic.parts import (
    FLOAT32,
    INT32,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    Grid,
    grid,
    named,
)
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var, literal

Mix = Callable[[BodyBuilder, Var], None]


def _shift_xor(b: BodyBuilder, h: Var, by: int) -> None:
    b.assign(h, h ^ (h >> by))


def _murmur3(b: BodyBuilder, h: Var) -> None:
    if h.type == UINT32:
        first, second, shifts = 0x85EBCA6B, 0xC2B2AE35, (16, 13, 16)
    else:
        first, second, shifts = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, (33, 33, 33)
    _shift_xor(b, h, shifts[0])
    b.augment(h, "mul", first)
    _shift_xor(b, h, shifts[1])
    b.augment(h, "mul", second)
    _shift_xor(b, h, shifts[2])


def _splitmix(b: BodyBuilder, h: Var) -> None:
    if h.type == UINT64:
        b.augment(h, "add", 0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            b.assign(h, (h ^ (h >> shift)) * factor)
        _shift_xor(b, h, 31)
        return
    b.augment(h, "add", 0x9E3779B9)
    for shift, factor in ((16, 0x21F0AAAD), (15, 0x735A2D97)):
        b.assign(h, (h ^ (h >> shift)) * factor)
    _shift_xor(b, h, 15)


def _wang(b: BodyBuilder, h: Var) -> None:
    b.assign(h, (h ^ 61) ^ (h >> 16))
    b.augment(h, "mul", 9)
    _shift_xor(b, h, 4)
    b.augment(h, "mul", 0x27D4EB2D)
    _shift_xor(b, h, 15)


def _lowbias(b: BodyBuilder, h: Var) -> None:
    _shift_xor(b, h, 16)
    b.augment(h, "mul", 0x7FEB352D)
    _shift_xor(b, h, 15)
    b.augment(h, "mul", 0x846CA68B)
    _shift_xor(b, h, 16)


def _jenkins(b: BodyBuilder, h: Var) -> None:
    b.augment(h, "add", h << 10)
    _shift_xor(b, h, 6)
    b.augment(h, "add", h << 3)
    _shift_xor(b, h, 11)
    b.augment(h, "add", h << 15)


def _knuth(b: BodyBuilder, h: Var) -> None:
    b.augment(h, "mul", 2654435761 if h.type == UINT32 else 0x9E3779B97F4A7C15)
    _shift_xor(b, h, 16 if h.type == UINT32 else 32)


FINISHERS: dict[str, tuple[Mix, str, tuple[str, ...]]] = {
    "murmur3": (_murmur3, "MurmurHash3's finaliser", ("murmur_mix", "fmix")),
    "splitmix": (
        _splitmix,
        "the SplitMix step (add the golden ratio, then two rounds)",
        ("splitmix", "split_mix_step"),
    ),
    "wang": (_wang, "Wang's integer hash", ("wang_hash", "hash_wang")),
    "lowbias": (_lowbias, "the lowbias32 hash", ("lowbias32", "mix32")),
    "jenkins": (_jenkins, "Jenkins' shifts and adds (10, 6, 3, 11, 15)", ("jenkins_mix", "jhash")),
    "knuth": (
        _knuth,
        "Knuth's multiplication and a xor of the upper half",
        ("knuth_hash", "golden_hash"),
    ),
}
_ONLY_32 = ("wang", "lowbias", "jenkins")
_STEPS = {
    "fnv1a": "h = (h ^ w) * prime (FNV-1a)",
    "fnv1": "h = (h * prime) ^ w (FNV-1)",
    "djb2": "h = 33 * h + w",
    "sdbm": "h = w + (h << 6) + (h << 16) - h",
    "java": "h = 31 * h + w",
    "boost": "h ^= w + 0x9E3779B9 + (h << 6) + (h >> 2)",
    "rotate": "h = rotate(h, 5) ^ w, times 0x9E3779B1",
}


@idiom
def hash_words(k: KernelBuilder, level: int) -> Title:
    """Hash keys of one word, of several fields, or of a short row of bytes or words."""
    shape = k.draw.shape
    type_ = shape.weighted({UINT32: 3, UINT64: 2})
    g = grid(k, {1: 3, 2: 3, 3: 1})
    known = [n for n in sorted(FINISHERS) if type_ == UINT32 or n not in _ONLY_32]
    finisher = shape.choice(known)
    out = k.out("hashes digest keys_out", type_, g.sizes)
    combine = shape.choice(sorted(_STEPS))
    if level >= 3 or (level == 2 and shape.chance(0.5)):
        h, done = _of_row(k, level, combine, g, type_)
    else:
        h, done = _of_word(k, level, g, type_)
    names: tuple[str, ...] = ("hash_keys", f"{combine}_hash", "hash_rows")
    if level != 3 or shape.chance(0.4):
        mix, text, names = FINISHERS[finisher]
        h = _finished(k, level, mix, names, h)
        done += f" Then apply {text}."
    else:
        h = h if shape.chance(0.5) else k.let("folded", h ^ (h >> (type_.bits // 2)))
        done += " Then h ^= h >> half its width." if h.name == "folded" else ""
    if level >= 4:
        done += _derived(k, level, h, g, type_)
    k.store(out, g.at, h)
    return Title(k.name(*names, "hash_kernel"), f"{done} Store h in {out.name}.")


def _finished(k: KernelBuilder, level: int, mix: Mix, names: tuple[str, ...], h: Var) -> Var:
    if level < 2 or k.draw.shape.chance(0.4):
        mix(k, h)
        return h
    assert isinstance(h.type, Scalar)

    def build(body: BodyBuilder, key: Expr) -> Expr:
        mixed = body.let("h x v", key)
        mix(body, mixed)
        return mixed

    return k.let("mixed final", k.call(helper(k, names, [("key", h.type)], build), h))


def _of_word(k: KernelBuilder, level: int, g: Grid, type_: Scalar) -> tuple[Var, str]:
    source = k.draw.shape.choice((type_, type_, INT32, UINT16))
    high = min(2**31 - 1, source.int_range[1]) if source == INT32 else source.int_range[1]
    keys = k.array("keys ids values", source, g.sizes, low=0, high=high)
    value: Expr = cast(keys[g.at], type_)
    said = f"Start with h = {keys.name}."
    form = k.draw.shape.choice(("plain", "seeded", "index", "pair"))
    if form == "seeded":
        seed = k.scalar("seed salt", type_, 1, 2**31)
        value, said = value ^ seed, f"Start with h = {keys.name} ^ {seed.name}."
    elif form == "index":
        at = g.at[-1]
        value, said = value + cast(at, type_), f"Start with h = {keys.name} + {at.name}."
    elif form == "pair":
        other = k.array("others tags salts", type_, g.sizes, low=0, high=2**type_.bits - 1)
        factor = k.draw.value.choice((31, 73856093, 19349663, 83492791))
        value = value * factor + other[g.at]
        said = f"Start with h = {keys.name} * {factor} + {other.name}."
    return k.let("h state x", value), said


def _of_row(k: KernelBuilder, level: int, combine: str, g: Grid, type_: Scalar) -> tuple[Var, str]:
    """Hash of the words along a short last axis."""
    shape = k.draw.shape
    m = k.size("m", 3, 5)
    source = shape.choice((UINT8, UINT8, UINT16, type_))
    first = shape.chance(0.4)
    sizes = (m, *g.sizes) if first else (*g.sizes, m)
    skip = level >= 4 and shape.chance(0.4)
    high = 9 if skip else source.int_range[1]
    rows = k.array("data keys tokens", source, sizes, low=0, high=high)
    count = k.trip_count("m key_length num_words", m)
    prime, basis = 16777619, 2166136261
    if type_ == UINT64:
        prime, basis = 1099511628211, 14695981039346656037
    start = {"fnv1a": basis, "fnv1": basis, "djb2": 5381}.get(combine, 0)
    seeded = start == 0 or shape.chance(0.3)
    seed = k.scalar("seed basis", type_, 1, 2**31) if seeded else literal(start, type_)
    h = k.let("h hash_value acc", seed)
    with k.for_("b pos s", count) as s:
        place = (s, *g.at) if first else (*g.at, s)
        w = named(k, "w word byte", cast(rows[place], type_), 0.6)
        if skip:
            with k.if_(fn("ne", w, 0)):
                _absorb(k, combine, h, w, prime)
        else:
            _absorb(k, combine, h, w, prime)
    start_text = seed.name if isinstance(seed, Var) else str(start)
    which = "each nonzero w" if skip else "each w"
    done = f"Start with h = {start_text}; for {which} of {rows.name} along the axis of "
    done += f"length m in order, {_STEPS[combine]}"
    return h, done + (f", prime = {prime}." if combine.startswith("fnv") else ".")


def _absorb(k: KernelBuilder, combine: str, h: Var, w: Expr, prime: int) -> None:
    if combine == "fnv1a":
        k.assign(h, (h ^ w) * prime)
    elif combine == "fnv1":
        k.assign(h, (h * prime) ^ w)
    elif combine in ("djb2", "java"):
        k.assign(h, (33 if combine == "djb2" else 31) * h + w)
    elif combine == "sdbm":
        k.assign(h, w + (h << 6) + (h << 16) - h)
    elif combine == "boost":
        k.assign(h, h ^ (w + 0x9E3779B9 + (h << 6) + (h >> 2)))
    else:
        assert isinstance(h.type, Scalar)
        k.assign(h, (((h << 5) | (h >> (h.type.bits - 5))) ^ w) * 0x9E3779B1)


def _derived(k: KernelBuilder, level: int, h: Var, g: Grid, type_: Scalar) -> str:
    """What hash tables and noise take from a hash: a bucket, a number in [0, 1), a sign, a tag."""
    forms = k.draw.shape.sample("bucket unit tag slot", 1 if level == 4 else 2)
    done = ""
    for form in forms:
        if form == "bucket":
            count = k.scalar("num_buckets table_size", type_, 7, 61)
            buckets = k.out("buckets bins", INT32, g.sizes)
            k.store(buckets, g.at, cast(h % count, INT32))
            done += f" {buckets.name} gets h % {count.name}."
        elif form == "unit":
            noise = k.out("noise uniform", FLOAT32, g.sizes)
            k.store(noise, g.at, cast(h >> (type_.bits - 24), FLOAT32) / 16777216.0)
            done += f" {noise.name} gets the upper 24 bits of h over 2^24."
        elif form == "tag":
            tags = k.out("tags fingerprints", UINT8, g.sizes)
            k.store(tags, g.at, cast(h >> (type_.bits - 8), UINT8))
            done += f" {tags.name} gets the upper 8 bits of h."
        else:
            bits = k.draw.value.integer(4, 10)
            slots = k.out("slots homes", UINT16, g.sizes)
            k.store(slots, g.at, cast(h & (2**bits - 1), UINT16))
            done += f" {slots.name} gets h & {2**bits - 1}."
    return done
