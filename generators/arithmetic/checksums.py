"""Checksums of short rows of bytes: Adler, Fletcher, CRC, Internet, parity, weighted digits."""

from __future__ import annotations

from generators.arithmetic.parts import INT32, UINT8, UINT16, UINT32, Grid, grid, named
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import BOOL, Scalar
from generators.program.expr import Expr, Var, literal

_FORMS = {
    "adler": ("adler32", "adler_checksum"),
    "fletcher": ("fletcher16", "fletcher_checksum"),
    "crc8": ("crc8", "crc8_rows"),
    "crc16": ("crc16_ccitt", "crc16_rows"),
    "crc32": ("crc32", "crc32_rows"),
    "internet": ("internet_checksum", "ones_complement_sum"),
    "xor": ("xor_checksum", "longitudinal_parity"),
    "sum": ("byte_sum", "twos_complement_sum"),
    "luhn": ("luhn_digit", "luhn_checksum"),
    "isbn": ("isbn10_check", "weighted_digit_sum"),
}
_CRCS = {
    "crc8": (UINT8, 0x07, False),
    "crc16": (UINT16, 0x1021, False),
    "crc32": (UINT32, 0xEDB88320, True),
}


@idiom
def checksum(k: KernelBuilder, level: int) -> Title:
    """The checksum of each row of a few bytes, words or digits; checked against a stored one."""
    shape = k.draw.shape
    simple = ("xor", "sum", "fletcher", "adler")
    form = shape.choice(simple if level == 1 else sorted(_FORMS))
    g = grid(k, {1: 3, 2: 3})
    m = k.size("m", 3, 5)
    source = UINT16 if form == "internet" else UINT8
    high = 9 if form in ("luhn", "isbn") else source.int_range[1]
    first = shape.chance(0.4)
    sizes = (m, *g.sizes) if first else (*g.sizes, m)
    data = k.array("data packets rows digits", source, sizes, low=0, high=high)
    count = k.trip_count("m row_length num_bytes", m)
    result, text = _summed(k, level, form, data, first, g, count)
    assert isinstance(result.type, Scalar)
    out = k.out("checksums check crc", result.type, g.sizes)
    done = f"For each row of {data.name} (its {'first' if first else 'last'} axis), {text}."
    if level >= 3:
        result = k.let("check_value found", result)
        done += _compared(k, level, result, g)
    k.store(out, g.at, result)
    return Title(k.name(*_FORMS[form]), f"{done} Store it in {out.name}.")


def _summed(
    k: KernelBuilder, level: int, form: str, data: Var, first: bool, g: Grid, count: Expr
) -> tuple[Expr, str]:
    if form in _CRCS:
        return _crc(k, level, form, data, first, g, count)
    wide = k.draw.shape.choice((UINT32, INT32)) if form in ("luhn", "isbn") else UINT32
    if form == "xor":
        wide = UINT8
    start = 1 if form == "adler" else 0
    seed: Expr = literal(start, wide)
    said = f"a = {start}"
    if form in ("xor", "sum") and k.draw.shape.chance(0.5):
        given = k.scalar("seed header", wide, 1, 200)
        seed, said = given, f"a = {given.name}"
    a = k.let("a low_sum acc", seed)
    b = k.let("b high_sum", literal(0, wide)) if form in ("adler", "fletcher") else None
    late = level >= 2 and k.draw.shape.chance(0.5)
    with k.for_("pos q s", count) as s:
        place = (s, *g.at) if first else (*g.at, s)
        byte = named(k, "byte word d", cast(data[place], wide), 0.6)
        rule = _absorbed(k, form, a, b, byte, s, late)
    modulus = 65521 if form == "adler" else 255
    if b is None:
        return _closed(k, form, a, rule, said)
    if late:
        k.assign(a, a % modulus)
        k.assign(b, b % modulus)
    shift = 16 if form == "adler" else 8
    when = "after the loop" if late else "at each step"
    rule = f"from {said}, b = 0, for each byte d a += d, b += a, both modulo {modulus} {when}"
    return (b << shift) | a, f"{rule}; the result is (b << {shift}) | a"


def _absorbed(
    k: KernelBuilder, form: str, a: Var, b: Var | None, byte: Expr, s: Var, late: bool
) -> str:
    if b is not None:
        modulus = 65521 if form == "adler" else 255
        if late:
            k.augment(a, "add", byte)
            k.augment(b, "add", a)
        else:
            k.assign(a, (a + byte) % modulus)
            k.assign(b, (b + a) % modulus)
        return ""
    if form == "xor":
        k.assign(a, a ^ byte)
        return "a ^= d"
    if form == "luhn":
        doubled = k.let("doubled twice", byte * 2)
        with k.if_(fn("eq", s % 2, 1)):
            k.augment(a, "add", fn("where", doubled > 9, doubled - 9, doubled))
        with k.else_():
            k.augment(a, "add", byte)
        return "at odd positions a += 2 * d (minus 9 where that exceeds 9), at even ones a += d"
    if form == "isbn":
        assert isinstance(a.type, Scalar)
        k.augment(a, "add", (cast(s, a.type) + 1) * byte)
        return "a += (position + 1) * d"
    k.augment(a, "add", byte)
    return "a += d"


def _closed(k: KernelBuilder, form: str, a: Var, rule: str, said: str) -> tuple[Expr, str]:
    text = f"from {said}, for each element d {rule}"
    if form == "internet":
        k.assign(a, (a & 0xFFFF) + (a >> 16))
        if k.draw.shape.chance(0.5):
            return ~a & 0xFFFF, f"{text}; fold the carry, a = (a & 65535) + (a >> 16); ~a & 65535"
        return cast(a ^ 0xFFFF, UINT16), (
            f"{text}; fold the carry, a = (a & 65535) + (a >> 16); the lowest 16 bits of a ^ 65535"
        )
    if form == "luhn":
        return (10 - a % 10) % 10, f"{text}; the result is (10 - a % 10) % 10"
    if form == "isbn":
        return a % 11, f"{text}; the result is a % 11"
    if form == "sum":
        if k.draw.shape.chance(0.5):
            return cast(a & 255, UINT8), f"{text}; the result is a & 255"
        return (~a + 1) & 255, f"{text}; the result is (~a + 1) & 255"
    return a, f"{text}; the result is a"


def _crc(
    k: KernelBuilder, level: int, form: str, data: Var, first: bool, g: Grid, count: Expr
) -> tuple[Expr, str]:
    type_, poly, reflected = _CRCS[form]
    top = type_.int_range[1]
    start = k.draw.value.choice((0, top))
    top_bit = 1 << (type_.bits - 1)
    by_mask = reflected and k.draw.shape.chance(0.5)

    def shifted(b: BodyBuilder, crc: Expr) -> Expr:
        if by_mask:
            return (crc >> 1) ^ (poly * (crc & 1))
        if reflected:
            return fn("where", fn("ne", crc & 1, 0), (crc >> 1) ^ poly, crc >> 1)
        return fn("where", fn("ne", crc & top_bit, 0), (crc << 1) ^ poly, crc << 1)

    helped = level >= 3 and k.draw.shape.chance(0.6)
    call = ""
    if helped:

        def absorb(body: BodyBuilder, before: Expr, byte: Expr) -> Expr:
            crc = body.let("crc reg", before ^ byte)
            with body.for_("bit t", 8):
                body.assign(crc, shifted(body, crc))
            return crc

        params = [("before", type_), ("byte", type_)]
        call = helper(k, f"{form}_byte crc_update", params, absorb)
    crc = k.let("crc reg remainder", literal(start, type_))
    with k.for_("pos q s", count) as s:
        place = (s, *g.at) if first else (*g.at, s)
        byte: Expr = cast(data[place], type_)
        if not reflected and type_.bits > 8:
            byte = byte << (type_.bits - 8)
        if call:
            k.assign(crc, k.call(call, crc, byte))
        else:
            k.assign(crc, crc ^ byte)
            with k.for_("bit t", 8):
                k.assign(crc, shifted(k, crc))
    way = "reflected, lowest bit first" if reflected else "highest bit first"
    text = f"compute the {form.upper()} with polynomial {poly} ({way}), starting at {start}"
    if k.draw.shape.chance(0.5):
        return crc ^ top, f"{text}, xored with {top} at the end"
    return crc, text


def _compared(k: KernelBuilder, level: int, result: Expr, g: Grid) -> str:
    """Whether the checksum is the stored one, or what must be added to it."""
    assert isinstance(result.type, Scalar)
    form = k.draw.shape.choice(("parity", "residue")) if level < 5 else "low"
    if form == "parity":
        flag = k.out("odd parity", BOOL, g.sizes)
        k.store(flag, g.at, fn("eq", fn("bit_count", result) % 2, 1))
        return f" {flag.name} says whether an odd number of its bits is set."
    if form == "residue":
        modulus = k.draw.value.integer(3, 7)
        residue = k.out("residues lanes", INT32, g.sizes)
        k.store(residue, g.at, cast(result % modulus, INT32))
        return f" {residue.name} gets it modulo {modulus}."
    stored = k.array("stored expected", result.type, g.sizes, low=0, high=3)
    status = k.out("status error_bits", INT32, g.sizes)
    kept = k.draw.value.choice((1, 3))
    gap = k.let("gap diff", (result ^ stored[g.at]) & kept)
    with k.if_(fn("eq", gap, 0)):
        k.store(status, g.at, 0)
    with k.else_():
        k.store(status, g.at, fn("bit_count", gap))
    return (
        f" Compare its bits in mask {kept} with those of {stored.name}: {status.name} counts "
        "those that differ."
    )
