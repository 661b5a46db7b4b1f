"""Checksums of short rows of bytes: Adler, Fletcher, CRC, Internet, parity, weighted digits."""

from __future__ import annotations

from collections.abc import Callable

from generators.arithmetic.common import short_rows
from generators.arithmetic.types import UINT8, UINT16, UINT32
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import where
from generators.kit.naming import maybe, routine
from generators.kit.sites import Site, launch
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar, scalar_of
from generators.program.expr import Expr, Operand, Var, literal

_NAMES = {
    "adler": "adler32 adler_checksum",
    "fletcher": "fletcher16 fletcher_checksum",
    "crc8": "crc8 crc8_rows",
    "crc16": "crc16_ccitt crc16_rows",
    "crc32": "crc32 crc32_rows",
    "internet": "internet_checksum ones_complement_sum",
    "xor": "xor_checksum longitudinal_parity",
    "sum": "byte_sum sum_checksum",
    "luhn": "luhn_digit luhn_checksum",
    "isbn": "isbn10_check weighted_digit_sum",
}
_TITLES = {
    "adler": "Adler-32 checksums",
    "fletcher": "Fletcher-16 checksums",
    "crc8": "CRC-8",
    "crc16": "CRC-16",
    "crc32": "CRC-32",
    "internet": "Internet checksums",
    "xor": "Exclusive-or checksums",
    "sum": "Byte sums",
    "luhn": "Luhn check digits",
    "isbn": "ISBN-10 check sums",
}
_CRCS = {
    "crc8": (UINT8, 0x07, False),
    "crc16": (UINT16, 0x1021, False),
    "crc32": (UINT32, 0xEDB88320, True),
}
_ROWS = {
    "luhn": "digits card_digits",
    "isbn": "digits isbn_digits",
    "internet": "words header_words",
}
"""What rows are called where they are no bytes."""
_DIGITS = {"luhn": (14, 15), "isbn": (9,)}
"""How many digits come before the check digit."""
_ENDS: dict[str, tuple[tuple[Callable[[Expr], Expr], str], ...]] = {
    "internet": (
        (lambda a: ~a & 0xFFFF, "~a & 65535"),
        (lambda a: cast(a ^ 0xFFFF, UINT16), "the lowest 16 bits of a ^ 65535"),
    ),
    "luhn": ((lambda a: (10 - a % 10) % 10, "(10 - a % 10) % 10"),),
    "isbn": ((lambda a: a % 11, "a % 11"),),
    "sum": (
        (lambda a: cast(a & 255, UINT8), "a & 255"),
        (lambda a: (~a + 1) & 255, "(~a + 1) & 255, its two's complement"),
    ),
}
"""What is made of the accumulator at the end."""

Entry = Callable[[Operand], Expr]


@idiom(depth=3)
def checksum(k: KernelBuilder, level: int) -> Title:
    """The checksum of each row of a few bytes, words or digits; checked against a stored one."""
    shape = k.draw.shape
    simple = ("xor", "sum", "fletcher", "adler")
    form = shape.choice(simple if level == 1 else sorted(_NAMES))
    s = launch(k, list=1)
    digits = shape.choice(_DIGITS[form]) if form in _DIGITS else 0
    m = str(digits) if digits else k.size("m", 3, 5)
    source = UINT16 if form == "internet" else UINT8
    top = 9 if digits else source.int_range[1]
    names = "imei_digits digits" if digits == 14 else _ROWS.get(form, "data packets blocks")
    data, entry, axis = short_rows(s, names, source, 0, top, m)
    count: Expr = k.lift(digits, INT32)
    if not digits:
        count = k.size_param("num_words" if form == "internet" else "num_bytes row_bytes", m)
    if form in _CRCS:
        result, text = _crc(k, level, form, entry, count)
    elif form in ("adler", "fletcher"):
        result, text = _two_sums(k, level, form, entry, count)
    else:
        result, text = _one_sum(k, form, entry, count, digits)
    kind, what = (f"{digits} digits", "numbers") if digits else ("bytes", "packets")
    kind = "words" if form == "internet" else kind
    done = (
        f"{_TITLES[form]} of {what} whose {kind} lie along the {axis} axis of {data.name}: {text}."
    )
    if level >= 4 and not digits:
        return Title(k.name(_NAMES[form]), done + _compared(s, k.let("check_value found", result)))
    names = "check_digits digits_out" if digits else "checksums check sums_out"
    out = s.put("checksums crc crc_out" if form in _CRCS else names, result)
    return Title(k.name(_NAMES[form]), f"{done} {out.name} gets the result.")


def _two_sums(
    k: KernelBuilder, level: int, form: str, entry: Entry, count: Expr
) -> tuple[Expr, str]:
    """A sum, and a sum of its values on the way, taken modulo a number at once or at the end."""
    start, modulus, shift = (1, 65521, 16) if form == "adler" else (0, 255, 8)
    a, b = k.let("a", literal(start, UINT32)), k.let("b", literal(0, UINT32))
    late = level >= 2 and k.draw.shape.chance(0.5)
    with k.for_("pos q s", count) as q:
        byte = maybe(k, "byte", cast(entry(q), UINT32), 0.6)
        if late:
            k.augment(a, "add", byte)
            k.augment(b, "add", a)
        else:
            k.assign(a, (a + byte) % modulus)
            k.assign(b, (b + a) % modulus)
    if late:
        k.assign(a, a % modulus)
        k.assign(b, b % modulus)
    when = "after the loop" if late else "at each step"
    # So many bytes of 255 at most that the second sum fits in 32 bits.
    longest = 5552 if form == "adler" else 5803
    when += f" (for packets of at most {longest} bytes)" if late else ""
    text = f"from a = {start}, b = 0, for each byte d a += d, b += a, both modulo {modulus} {when}"
    return (b << shift) | a, f"{text}; the result is (b << {shift}) | a"


def _one_sum(
    k: KernelBuilder, form: str, entry: Entry, count: Expr, digits: int
) -> tuple[Expr, str]:
    """One accumulator, and what is made of it at the end."""
    chance = k.draw.shape.chance
    type_ = {"xor": UINT8, "luhn": INT32, "isbn": INT32}.get(form, UINT32)
    if type_ == INT32 and chance(0.5):
        type_ = UINT32
    start: Expr = literal(0, type_)
    if form in ("xor", "sum") and chance(0.5):
        start = k.scalar("seed header", type_, 1, 200)
    a = k.let("parity" if form == "xor" else "acc total", start)
    with k.for_("pos q s", count) as q:
        byte = maybe(
            k,
            {"luhn": "digit", "isbn": "digit", "internet": "word"}.get(form, "byte"),
            cast(entry(q), type_),
            0.6,
        )
        rule = _absorbed(k, form, a, byte, q, digits)
    if form == "internet":
        for _ in range(2):
            k.assign(a, (a & 0xFFFF) + (a >> 16))
        rule += "; fold the carry twice, a = (a & 65535) + (a >> 16)"
    end, text = k.draw.shape.choice(_ENDS.get(form, ((lambda a: a, "a"),)))
    first = start.name if isinstance(start, Var) else "0"
    return end(a), f"from a = {first}, for each element d {rule}; the result is {text}"


def _absorbed(k: KernelBuilder, form: str, a: Var, byte: Expr, position: Expr, digits: int) -> str:
    """Take one element into the accumulator."""
    if form == "xor":
        k.assign(a, a ^ byte)
        return "a ^= d"
    if form == "luhn":
        doubled = k.let("doubled twice", byte * 2)
        # Every second digit is doubled, the last one of those before the check digit too.
        odd = (digits - 1) % 2
        with k.if_(fn("eq", position % 2, odd)):
            k.augment(a, "add", where(doubled > 9, doubled - 9, doubled))
        with k.else_():
            k.augment(a, "add", byte)
        one, other = ("odd", "even") if odd else ("even", "odd")
        return (
            f"at {one} positions (from 0 on) a += 2 * d (minus 9 where that exceeds 9), at {other} "
            "ones a += d"
        )
    if form == "isbn":
        k.augment(a, "add", (cast(position, scalar_of(a.type)) + 1) * byte)
        return "a += (position + 1) * d"
    k.augment(a, "add", byte)
    return "a += d"


def _crc(k: KernelBuilder, level: int, form: str, entry: Entry, count: Expr) -> tuple[Expr, str]:
    """A remainder by a polynomial, bit by bit."""
    type_, poly, reflected = _CRCS[form]
    shape, top = k.draw.shape, type_.int_range[1]
    start = k.draw.value.choice((0, top))
    top_bit = 1 << (type_.bits - 1)
    by_mask = reflected and shape.chance(0.5)

    def shifted(crc: Expr) -> Expr:
        if by_mask:
            return (crc >> 1) ^ (poly * (crc & 1))
        if reflected:
            return where(fn("ne", crc & 1, 0), (crc >> 1) ^ poly, crc >> 1)
        return where(fn("ne", crc & top_bit, 0), (crc << 1) ^ poly, crc << 1)

    def absorbed(body: BodyBuilder, before: Expr, byte: Expr) -> Expr:
        crc = body.let("crc reg", before ^ byte)
        with body.for_("bit t", 8):
            body.assign(crc, shifted(crc))
        return crc

    chance = 0.6 if level >= 3 else 0.0
    params = {"before": type_, "byte": type_}
    absorb = routine(k, chance, f"{form}_byte crc_update", params, absorbed)
    crc = k.let("crc reg remainder", literal(start, type_))
    with k.for_("pos q s", count) as q:
        byte: Expr = cast(entry(q), type_)
        if not reflected and type_.bits > 8:
            byte = byte << (type_.bits - 8)
        k.assign(crc, absorb(crc, byte))
    way = "reflected, lowest bit first" if reflected else "highest bit first"
    text = f"the remainder by the polynomial {poly:#x} ({way}), starting at {start:#x}"
    if shape.chance(0.5):
        return crc ^ top, f"{text}, xored with {top:#x} at the end"
    return crc, text


def _compared(s: Site, result: Expr) -> str:
    """Whether a checksum is the one that came with the row: their difference, 0 where it is."""
    k, type_ = s.k, result.type
    assert isinstance(type_, Scalar)
    stored = s.read("stored expected received", type_, 0, type_.int_range[1])
    gap = k.let("diff syndrome_value", result ^ stored)
    if k.draw.shape.chance(0.5):
        out = s.put("syndromes mismatch", gap)
        return f" {out.name} gets the result ^ {say(k, stored)}, 0 where the row is intact."
    out = s.put("error_bits bits_off", cast(fn("bit_count", gap), INT32))
    return f" {out.name} counts the bits in which the result and {say(k, stored)} differ."
