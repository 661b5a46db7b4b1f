"""Bytes as elements of the field GF(2^8): products, RAID-6, erasure codes, Reed-Solomon codes.

H. P. Anvin, The mathematics of RAID-6, 2004; J. S. Plank, Softw. Pract. Exper. 27 (1997).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.arithmetic.types import UINT8, UINT32, UINT64
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.sites import Site, over
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var

_STORAGE = 285
"""The polynomial x^8 + x^4 + x^3 + x^2 + 1 of RAID-6 and of most Reed-Solomon codes."""
_AES = 283
_POLYNOMIALS = {_STORAGE: "x^8 + x^4 + x^3 + x^2 + 1", _AES: "x^8 + x^4 + x^3 + x + 1"}


def _doubled(b: BodyBuilder, a: Expr, polynomial: int) -> Expr:
    """Twice a byte: a shift, and the polynomial where a bit went out."""
    return (a << 1) ^ ((a >> 7) * polynomial)


def _by_bits(b: BodyBuilder, x: Expr, y: Expr, polynomial: int, branches: bool) -> Expr:
    """A product by shift and exclusive or, bit by bit of y."""
    total = b.let("product acc", b.lift(0, INT32))
    power, rest = b.let("a shifted", x), b.let("rest bits", y)
    if branches:
        with b.while_(rest > 0):
            with b.if_(fn("ne", rest & 1, 0)):
                b.assign(total, total ^ power)
            b.assign(power, power << 1)
            with b.if_(power > 255):
                b.assign(power, power ^ polynomial)
            b.assign(rest, rest >> 1)
    else:
        with b.for_("bit step", 8):
            b.assign(total, total ^ ((rest & 1) * power))
            b.assign(power, _doubled(b, power, polynomial))
            b.assign(rest, rest >> 1)
    return total


@dataclass
class _Field:
    """Products of bytes held as int32, by their bits or by tables of logarithms."""

    k: KernelBuilder
    product: Callable[[Expr, Expr], Expr]
    said: str


def _field(k: KernelBuilder, level: int, polynomial: int = _STORAGE, way: str = "") -> _Field:
    """The field with one way to multiply; to be made after the arrays of data."""
    way = way or k.draw.shape.choice(("branches", "bits", "logs"))
    if way == "logs":
        return _by_logs(k)
    branches = way == "branches"

    def build(b: BodyBuilder, x: Expr, y: Expr) -> Expr:
        return _by_bits(b, x, y, polynomial, branches)

    names = "gf_mul gf256_mul galois_mul"
    made = routine(k, BY_LEVEL[max(level, 3)], names, {"x": INT32, "y": INT32}, build)
    return _Field(k, made, f"in GF(2^8) with {_POLYNOMIALS[polynomial]} ({polynomial})")


def _by_logs(k: KernelBuilder) -> _Field:
    word = k.draw.word.choice(("{}_table", "gf_{}"))
    logs = k.array(word.format("log"), UINT8, "256", low=0, high=254)
    powers = k.array(word.format("exp"), UINT8, "510", low=1, high=255)

    def product(x: Expr, y: Expr) -> Expr:
        total = k.let("product prod", k.lift(0, INT32))
        with k.if_(_both_set(x, y)):
            place = cast(logs[x], INT32) + cast(logs[y], INT32)
            k.assign(total, cast(powers[place], INT32))
        return total

    said = f"in GF(2^8) by tables (x * y = {powers.name}[{logs.name}[x] + {logs.name}[y]], 0 where "
    return _Field(k, product, f"{said}x or y is 0)")


def _both_set(x: Expr, y: Expr) -> Expr:
    return fn("and", fn("ne", x, 0), fn("ne", y, 0))


def _byte(k: KernelBuilder, names: str, value: Expr) -> Var:
    return k.let(names, cast(value, INT32))


def _bytes(k: KernelBuilder) -> Site:
    return over(k, "num_bytes", k.draw.word.choice(("i", "tid", "idx")), ((300, 400),))


def _word_type(k: KernelBuilder) -> Scalar:
    return k.draw.shape.weighted({UINT8: 2, UINT32: 3, UINT64: 2})


_DOUBLING = (
    "doubling a byte in GF(2^8) shifts it left by a bit and takes the exclusive or with 29 where "
    "its highest bit was set"
)


def _twice(k: KernelBuilder, type_: Scalar) -> Callable[[Expr], Expr]:
    """All bytes of a word doubled at once."""
    if type_ == UINT8:
        return lambda a: ((a << 1) & 255) ^ ((a >> 7) * 29)
    lanes = type_.bits // 8
    low, keep = int("01" * lanes, 16), int("fe" * lanes, 16)

    def build(b: BodyBuilder, v: Expr) -> Expr:
        carried = b.let("carry overflow", (v >> 7) & low)
        return ((v << 1) & keep) ^ (carried * 29)

    return routine(k, 0.5, "gf_double xtime mul2", {"v": type_}, build)


def _double(k: KernelBuilder, level: int) -> Title:
    """Each byte doubled, one by one or all bytes of a word at once."""
    type_ = k.draw.shape.choice((UINT8, UINT32, UINT64))
    packed = type_ != UINT8
    size = "num_words" if packed else "num_bytes"
    s = over(k, size, k.draw.word.choice(("i", "tid", "w")), ((100, 140),))
    data = s.array(
        "words packed_bytes" if packed else "data_in symbols", type_, 0, 2**type_.bits - 1
    )
    value = k.let(
        "v word" if packed else "a symbol", cast(data[s.at], INT32 if not packed else type_)
    )
    doubled = _twice(k, type_)(value)
    out = s.put("doubled", cast(doubled, type_))
    each = f"the {type_.bits // 8} bytes of each of {data.name}" if packed else data.name
    text = (
        f"Multiply {each} by 2 in GF(2^8) with {_POLYNOMIALS[_STORAGE]}; store them in {out.name}"
    )
    return Title(k.name("gf_double_bytes xtime_bytes double_symbols"), f"{text}: {_DOUBLING}.")


def _nibbles(k: KernelBuilder, level: int) -> Title:
    """Bytes times a constant, by a table for each half of a byte."""
    s = _bytes(k)
    data = s.array("source data_in", UINT8, 0, 255)
    word = k.draw.word.choice(("{}_table", "{}_nibble"))
    low, high = (
        k.array(word.format(half), UINT8, "16", low=0, high=255) for half in ("low", "high")
    )
    byte = _byte(k, "byte x", data[s.at])
    value = low[byte & 15] ^ high[byte >> 4]
    text = (
        "Multiply bytes by a constant of GF(2^8), whose products with the lower and the upper half "
    )
    text += f"of a byte are in {low.name} and {high.name}: "
    what = f"{low.name}[x & 15] ^ {high.name}[x >> 4] for each x of {data.name}"
    if k.draw.shape.chance(0.5):
        out = s.array("parity dest", UINT8, 0, 255, role="inout")
        k.store(out, s.at, out[s.at] ^ value)
        text += f"{out.name} becomes its exclusive or with {what}."
        return Title(k.name("gf_multiply_add region_mul_add", "gf_mac_nibbles"), text)
    out = s.put("scaled dest", value)
    return Title(k.name("gf_scale_bytes region_multiply"), f"{text}{out.name} gets {what}.")


def _pairs(k: KernelBuilder, level: int) -> Title:
    """Products of two lists of bytes."""
    s = _bytes(k)
    one, two = k.draw.word.choice((("lhs", "rhs"), ("a_bytes", "b_bytes"), ("symbols", "factors")))
    first, second = (s.array(name, UINT8, 0, 255) for name in (one, two))
    way = "logs" if level == 1 else k.draw.shape.choice(("branches", "bits"))
    f = _field(k, level, k.draw.shape.choice((_STORAGE, _AES)), way)
    x, y = _byte(k, "x", first[s.at]), _byte(k, "y", second[s.at])
    out = s.put("products", cast(f.product(x, y), UINT8))
    text = f"Multiply bytes {f.said}: {out.name} gets {first.name} times {second.name}."
    return Title(k.name("gf_multiply gf256_products galois_multiply"), text)


def _inverse(k: KernelBuilder, level: int) -> Title:
    """The inverse of each byte, its power of 254: seven squarings."""
    s = _bytes(k)
    data = s.array("symbols values_in", UINT8, 0, 255)
    f = _field(
        k, level, k.draw.shape.choice((_STORAGE, _AES)), k.draw.shape.choice(("branches", "bits"))
    )
    square = _byte(k, "square power", data[s.at])
    result = k.let("inverse result", k.lift(1, INT32))
    with k.for_("step s", 7):
        k.assign(square, f.product(square, square))
        k.assign(result, f.product(result, square))
    out = s.put("inverses", cast(result, UINT8))
    text = (
        f"Invert bytes {f.said}, 0 staying 0: {out.name} gets {data.name} to the power of 254, by "
    )
    return Title(k.name("gf_inverse invert_symbols"), f"{text}seven squarings.")


def _stripes(k: KernelBuilder, type_: Scalar) -> tuple[Site, Var, Expr, str]:
    """A thread for each word of a stripe of disks: the site, the data, how many disks."""
    unit = "num_bytes" if type_ == UINT8 else "words"
    k.size("disks", 4, 6, minimum=2)
    if k.draw.shape.chance(0.5):
        s = over(k, ("stripes", unit), k.draw.word.choice(("stripe w", "s j")), ((4, 6), (14, 20)))
    else:
        s = over(k, (unit,), k.draw.word.choice(("w", "i")), ((60, 90),))
    dims = (*s.dims[:-1], "disks", s.dims[-1])
    data = k.array("data blocks", type_, dims, low=0, high=2**type_.bits - 1)
    return s, data, k.size_param("disks num_disks", "disks"), "byte" if type_ == UINT8 else "word"


def _at(s: Site, disk: Operand) -> tuple[Operand, ...]:
    return (*s.at[:-1], disk, s.at[-1])


_Q = "with Q the sum of 2^d * data of disk d over GF(2^8), addition being exclusive or"


def _parity(k: KernelBuilder, level: int) -> Title:
    """P and Q of RAID-6, Q by Horner's rule from the last disk."""
    type_ = _word_type(k)
    s, data, disks, unit = _stripes(k, type_)
    inner = INT32 if type_ == UINT8 else type_
    twice = _twice(k, type_)
    p, q = k.let("p parity", k.lift(0, inner)), k.let("q syndrome", k.lift(0, inner))
    with k.for_("i step", disks) as i:
        block = k.let("block d", cast(data[_at(s, disks - 1 - i)], inner))
        k.assign(p, p ^ block)
        k.assign(q, twice(q) ^ block)
    names = k.draw.word.choice(("{}_blocks", "{}_parity", "parity_{}"))
    outs = [s.put(names.format(n), cast(v, type_)) for n, v in (("p", p), ("q", q))]
    text = f"RAID-6 parity of each {unit} of a stripe of {data.name}: {outs[0].name} gets the "
    text += "exclusive "
    text += (
        f"or over all disks, {outs[1].name} Q, {_Q} and the polynomial {_POLYNOMIALS[_STORAGE]}. "
    )
    text += f"By Horner's rule from the last disk on, {_DOUBLING}."
    return Title(k.name("raid6_parity raid6_pq gen_syndrome"), text)


def _rewrite(k: KernelBuilder, level: int) -> Title:
    """Both parities after one disk's blocks have changed."""
    s = over(
        k, ("stripes", "num_bytes"), k.draw.word.choice(("stripe j", "s b")), ((12, 14), (60, 70))
    )
    old = s.array("old_data", UINT8, 0, 255)
    new = s.array("new_data", UINT8, 0, 255)
    p = s.array("p_blocks p_parity", UINT8, 0, 255, role="inout")
    q = s.array("q_blocks q_parity", UINT8, 0, 255, role="inout")
    factor = k.array("disk_coeffs q_coeffs", UINT8, "stripes", low=1, high=255)
    f = _field(k, level)
    change = k.let("delta change", cast(old[s.at], INT32) ^ cast(new[s.at], INT32))
    weight = _byte(k, "coeff g", factor[s.at[0]])
    scaled = f.product(change, weight)
    k.store(p, s.at, cast(cast(p[s.at], INT32) ^ change, UINT8))
    k.store(q, s.at, cast(cast(q[s.at], INT32) ^ scaled, UINT8))
    text = "RAID-6 read-modify-write: with d the exclusive or of old_data and new_data, "
    text += f"{p.name} becomes its exclusive or with d and {q.name} its exclusive or with d times "
    text += f"{factor.name} of the stripe, {f.said}."
    return Title(k.name("raid6_update parity_update raid6_rmw"), text)


def _erasure(k: KernelBuilder, level: int) -> Title:
    """Blocks of parity as sums of data blocks times the entries of a matrix."""
    k.size("disks", 4, 6)
    s = over(k, ("parities", "num_bytes"), ("r", "j"), ((3, 4), (24, 32)))
    data = k.array("data blocks", UINT8, ("disks", "num_bytes"), low=0, high=255)
    matrix = k.array("coding_matrix coeffs", UINT8, ("parities", "disks"), low=0, high=255)
    disks = k.size_param("disks num_disks", "disks")
    f = _field(k, level)
    total = k.let("acc parity_byte", k.lift(0, INT32))
    with k.for_("d disk", disks) as d:
        x, y = _byte(k, "byte x", data[d, s.at[1]]), _byte(k, "coeff c", matrix[s.at[0], d])
        k.assign(total, total ^ f.product(x, y))
    out = s.put("parity coded", cast(total, UINT8))
    text = (
        f"Erasure code: {out.name}[r, j] gets the exclusive or over disks d of {matrix.name}[r, d] "
    )
    text += f"times {data.name}[d, j], {f.said}."
    return Title(k.name("erasure_encode encode_parity"), text)


def _codewords(
    k: KernelBuilder, symbols: str, names: str
) -> tuple[Var, Callable[[Expr, Expr], Expr], str]:
    """Codewords in rows, or interleaved: symbol i of all of them, then symbol i + 1."""
    if k.draw.shape.chance(0.3):
        data = k.array(names, UINT8, (symbols, "codewords"), low=0, high=255)
        return data, lambda c, i: data[i, c], f"symbol i of codeword c being {data.name}[i, c]"
    data = k.array(names, UINT8, ("codewords", symbols), low=0, high=255)
    return data, lambda c, i: data[c, i], f"codeword c being row c of {data.name}"


def _syndromes(k: KernelBuilder, level: int) -> Title:
    """Values of each received codeword at the roots of the code."""
    k.size("codewords", 8, 12)
    k.size("checks", 4, 6)
    k.size("code_len", 12, 18)
    c, j = k.thread("codewords", "checks", names=(k.name("c cw"), k.name("j root_id")))
    _, symbol, said = _codewords(k, "code_len", "received codeword_symbols")
    roots = k.array("roots alpha_powers", UINT8, "checks", low=1, high=255)
    length = k.size_param("code_len n_symbols", "code_len")
    f = _field(k, level)
    root = _byte(k, "root alpha", roots[j])
    value = k.let("s syndrome", k.lift(0, INT32))
    with k.for_("i pos", length) as i:
        k.assign(value, f.product(value, root) ^ cast(symbol(c, i), INT32))
    out = k.out("syndromes", UINT8, ("codewords", "checks"))
    k.store(out, (c, j), cast(value, UINT8))
    text = f"Syndromes of a Reed-Solomon code: {out.name}[{c.name}, {j.name}] gets the value at "
    text += (
        f"{roots.name}[{j.name}] of the polynomial whose coefficients are the symbols of codeword "
    )
    text += f"{c.name}, the highest power first, by Horner's rule {f.said}; {said}."
    return Title(k.name("rs_syndromes compute_syndromes"), text)


def _remainder(k: KernelBuilder, level: int) -> Title:
    """Check symbols of each message: the remainder by the generator polynomial."""
    k.size("codewords", 100, 120)
    k.size("checks", 3, 5)
    k.size("message_len", 6, 9)
    (c,) = k.thread("codewords", names=(k.name("c cw"),))
    _, symbol, said = _codewords(k, "message_len", "messages data_symbols")
    taps = k.array("generator gen_poly", UINT8, "checks", low=1, high=255)
    length = k.size_param("message_len k_symbols", "message_len")
    checks = k.size_param("checks num_checks", "checks")
    f = _field(k, level)
    out = k.out("check_symbols parity", UINT8, ("codewords", "checks"))
    with k.for_("j", checks) as j:
        k.store(out, (c, j), k.lift(0, UINT8))
    with k.for_("i pos", length) as i:
        first = cast(out[c, 0], INT32)
        back = k.let("feedback fb", cast(symbol(c, i), INT32) ^ first)
        with k.for_("t tap", checks - 1) as t:
            scaled = f.product(back, _byte(k, "g coeff", taps[t]))
            k.store(out, (c, t), cast(scaled ^ cast(out[c, t + 1], INT32), UINT8))
        last = f.product(back, _byte(k, "g_last g_end", taps[checks - 1]))
        k.store(out, (c, checks - 1), cast(last, UINT8))
    text = (
        f"Reed-Solomon encoder, a shift register for each codeword: {out.name} gets the remainder "
    )
    text += "of the message times x^r by the generator x^r + g[0] * x^(r-1) + ... + g[r-1], "
    text += f"r being {checks.name} and g {taps.name}, "
    text += f"highest powers first, {f.said}; {said.replace('codeword', 'message')}."
    return Title(k.name("rs_encode reed_solomon_parity"), text)


def _two_lost(k: KernelBuilder, level: int) -> Title:
    """Two lost disks of RAID-6 from the others, P and Q."""
    s, data, disks, _ = _stripes(k, UINT8)
    names = k.draw.word.choice(("{}_blocks", "{}_parity"))
    p, q = (s.array(names.format(n), UINT8, 0, 255) for n in "pq")
    x = k.scalar("lost_x first_lost", INT32, 0, 1)
    y = k.scalar("lost_y second_lost", INT32, 2, 3)
    a, b = (k.scalar(f"coeff_{n}", INT32, 2, 255) for n in "ab")
    f = _field(k, level, way=k.draw.shape.choice(("branches", "bits")))
    dp, dq = _byte(k, "dp p_delta", p[s.at]), k.let("q_rest q_sum", k.lift(0, INT32))
    with k.for_("i step", disks) as i:
        d = k.let("d disk", disks - 1 - i)
        k.assign(dq, _doubled(k, dq, _STORAGE))
        with k.if_(fn("and", fn("ne", d, x), fn("ne", d, y))):
            block = _byte(k, "block byte", data[_at(s, d)])
            k.assign(dp, dp ^ block)
            k.assign(dq, dq ^ block)
    k.assign(dq, dq ^ cast(q[s.at], INT32))
    first = k.let("value_x restored_x", f.product(dp, a) ^ f.product(dq, b))
    outs = [
        s.put(f"block_{n} recovered_{n}", cast(v, UINT8))
        for n, v in (("x", first), ("y", first ^ dp))
    ]
    text = f"RAID-6 recovery of the disks {x.name} and {y.name}: with dp the "
    text += f"exclusive or of {p.name} and "
    text += (
        f"all other disks of {data.name}, and dq that of {q.name} and 2^d times each other disk d, "
    )
    text += f"{outs[0].name} gets {a.name} * dp ^ {b.name} * dq, and "
    text += f"{outs[1].name} its exclusive or with "
    text += f"dp. Products are {f.said}; powers of 2 by Horner's rule with {_STORAGE}."
    return Title(k.name("raid6_recover_two raid6_2data_recover"), text)


_FORMS = {
    1: (_double, _nibbles, _pairs),
    2: (_pairs, _inverse, _nibbles),
    3: (_parity, _rewrite, _erasure, _syndromes),
    4: (_remainder, _two_lost),
}


@idiom(depth=4)
def galois_bytes(k: KernelBuilder, level: int) -> Title:
    """GF(2^8): products, inverses, RAID-6 parity and recovery, erasure and Reed-Solomon codes."""
    return k.draw.shape.choice(_FORMS[min(level, 4)])(k, level)
