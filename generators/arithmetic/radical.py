"""Radical inverses: Halton points, digits that are permuted, nets of two coordinates by bits.

H. Faure, C. Lemieux, ACM TOMACS 19 (2009); T. Kollig, A. Keller, Comput. Graph. Forum 21 (2002).
"""

from __future__ import annotations

from generators.arithmetic.sequences import (
    VEC2,
    WORD,
    Points,
    Word,
    points,
    reversal,
    unit,
    word,
)
from generators.arithmetic.types import UINT32
from generators.build import BodyBuilder, KernelBuilder, cast, fn, make
from generators.kit.naming import routine
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Type, Vec
from generators.program.expr import Expr, Var, literal


def _digits(
    b: BodyBuilder, n: Expr, base: Expr, change: Word | None = None, count: Expr | None = None
) -> Expr:
    """The digits of a number behind the point, the lowest first: by a weight that falls, or as a
    whole number that is scaled in the end."""
    whole = count is None and b.draw.shape.chance(0.5)
    left = b.let("rest a", n)
    inverse = b.let("inv_base inv_b", 1.0 / cast(base, FLOAT32))
    weight = b.let("weight f", literal(1.0, FLOAT32) if whole else inverse)
    total = b.let(
        "rev reversed_n" if whole else "value r",
        literal(0 if whole else 0.0, INT32 if whole else FLOAT32),
    )
    with b.while_(left > 0) if count is None else b.for_("j digit_at", count):
        digit: Expr = left % base
        if change is not None:
            digit = b.let("digit dg", change(digit))
        if whole:
            b.assign(total, total * base + digit)
        else:
            b.augment(total, "add", weight * cast(digit, FLOAT32))
        b.assign(left, left // base)
        b.assign(weight, weight * inverse)
    return cast(total, FLOAT32) * weight if whole else total


_PRIMES = (2, 3, 5, 7, 11, 13)


def _named(p: Points) -> Expr:
    """The number of a point as a local."""
    return p.index if isinstance(p.index, Var) else p.k.let("m index", p.index)


def radical(k: KernelBuilder, level: int) -> tuple[str, str]:
    """Halton points: radical inverses in the first primes, or one in any base."""
    size = k.draw.shape.choice((1, 2, 2, 3, 4, 5, 6))
    p = points(k, False)
    chance = 0.85 if size < 3 else 1.0
    called = "radical_inverse halton_digit_sum"
    types: dict[str, Type] = {"n": INT32, "base": INT32}
    inverse = routine(k, chance, called, types, lambda b, n, base: _digits(b, n, base))
    index = _named(p)
    told = "the digits of m in that base, in reverse order behind the point"
    if size == 1:
        base = k.scalar("base radix", INT32, 3, 7)
        value, more = _rotated(p, inverse(index, base))
        out = p.out("samples u_out", FLOAT32)
        k.store(out, p.s.at, value)
        text = f"Van der Corput's sequence: {out.name} gets the radical inverse of m = {p.said} in "
        return "radical_inverse_points van_der_corput", f"{text}base {base.name}: {told}{more}."
    parts = [inverse(index, prime) for prime in _PRIMES[:size]]
    bases = f"{', '.join(map(str, _PRIMES[:size]))}"
    if size > 3:
        out, more = _rows(p, parts)
        text = f"Halton points: {out.name} gets the radical inverses of m = {p.said}, coordinate "
        text += f"by coordinate in the bases {bases}: {told}{more}."
        return "halton_points halton_sequence", text
    kind = Vec(size, FLOAT32)
    out = p.out("samples points_out", kind)
    k.store(out, p.s.at, make(kind, *parts))
    text = f"Halton points: {out.name} gets the radical inverses of m = {p.said} in the bases "
    return f"halton_{size}d halton_points_{size}d", f"{text}{bases}: {told}."


def _rows(p: Points, parts: list[Expr]) -> tuple[Var, str]:
    """Coordinates stored one by one, points or coordinates first, some of them moved."""
    k, size, more = p.k, str(len(parts)), ""
    if k.draw.shape.chance(0.4):
        shifts = k.array("shifts rotations", FLOAT32, size, low=0.0, high=1.0)
        parts = [fn("frac", part + shifts[d]) for d, part in enumerate(parts)]
        more = f", plus that of {shifts.name}, modulo 1"
    last = k.draw.shape.chance(0.6)
    out = k.out("samples halton", FLOAT32, ("qmc_points", size) if last else (size, "qmc_points"))
    for d, part in enumerate(parts):
        k.store(out, (p.point, d) if last else (d, p.point), part)
    return out, more


def _rotated(p: Points, value: Expr) -> tuple[Expr, str]:
    """Points moved around by a random amount (Cranley and Patterson)."""
    k = p.k
    if not k.draw.shape.chance(0.4):
        return value, ""
    shift = k.scalar("shift rotation", FLOAT32, 0.1, 0.9)
    moved = k.let("moved u", value + shift)
    if k.draw.shape.chance(0.5):
        return fn("where", moved >= 1.0, moved - 1.0, moved), f", plus {shift.name}, modulo 1"
    return moved - fn("floor", moved), f", plus {shift.name}, modulo 1"


_BASES = ((5,), (7,), (11,), (3, 5), (5, 7), (3, 5, 7), (5, 7, 11))
_FACTORS = {3: (2,), 5: (2, 3), 7: (3, 4, 5), 11: (3, 7, 8)}
"""By which the digits in a base may be multiplied, so that their order is well mixed."""


def permuted(k: KernelBuilder, level: int) -> tuple[str, str]:
    """Radical inverses whose digits are permuted: by a table, by a factor, by a shift."""
    way = k.draw.shape.choice(("table", "factor", "shift", "mirror"))
    p = points(k, False)
    index = _named(p)
    if way == "table":
        parts, where, said = _by_table(p, index)
    else:
        parts, where, said = _by_rule(p, index, way)
    kind = FLOAT32 if len(parts) == 1 else Vec(len(parts), FLOAT32)
    out = p.out("samples scrambled", kind)
    k.store(out, p.s.at, parts[0] if len(parts) == 1 else make(kind, *parts))
    text = (
        f"Radical inverses with permuted digits: {out.name} gets the {where}, each as {said}, in "
    )
    text += "reverse order behind the point."
    return "scrambled_halton permuted_halton generalized_halton", text


def _by_table(p: Points, index: Expr) -> tuple[list[Expr], str, str]:
    k = p.k
    count = k.scalar("num_digits n_digits", INT32, 5, 8)
    k.size("base", 5, 7, minimum=2)
    radix = k.size_param("base radix", "base")
    table = k.array("perm digit_perm", INT32, "base", init="permutation")
    value = _digits(k, index, radix, lambda d: table[d], count)
    where = f"first {count.name} digits of m = {p.said} in base {radix.name}"
    return [value], where, f"{table.name}[digit]"


def _by_rule(p: Points, index: Expr, way: str) -> tuple[list[Expr], str, str]:
    """Coordinates in different primes, with a rule that permutes the digits of each."""
    k = p.k
    bases = k.draw.shape.choice(_BASES)
    types: dict[str, Type] = {"n": INT32, "base": INT32}
    more: list[list[Expr | int]] = [[] for _ in bases]
    which, said = "digits", "the base less it (0 stays 0)"
    if way == "factor":
        types["mult"] = INT32
        factors = [k.draw.shape.choice(_FACTORS[base]) for base in bases]
        more = [[factor] for factor in factors]
        said = f"{', '.join(map(str, factors))} times the digit, modulo the base"
    if way == "shift":
        types.update(offset=INT32, digits=INT32)
        count = k.scalar("num_digits n_digits", INT32, 5, 8)
        adds = k.array("digit_shifts shifts", INT32, str(len(bases)), low=1, high=10)
        more = [[adds[d], count] for d in range(len(bases))]
        which, said = (
            f"first {count.name} digits",
            f"the digit plus that of {adds.name}, modulo the base",
        )

    def build(b: BodyBuilder, n: Expr, base: Expr, *rest: Expr) -> Expr:
        rules: dict[str, Word] = {
            "factor": lambda d: d * rest[0] % base,
            "shift": lambda d: (d + rest[0]) % base,
            "mirror": lambda d: fn("where", d > 0, base - d, b.lift(0, INT32)),
        }
        return _digits(b, n, base, rules[way], rest[1] if way == "shift" else None)

    names = "permuted_inverse scrambled_inverse permuted_radical"
    inverse = routine(k, 0.4 if len(bases) == 1 else 1.0, names, types, build)
    parts = [inverse(index, base, *rest) for base, rest in zip(bases, more, strict=True)]
    told = f"base {bases[0]}" if len(bases) == 1 else f"the bases {', '.join(map(str, bases))}"
    return parts, f"{which} of m = {p.said} in {told}", said


def two_coordinates(k: KernelBuilder, level: int) -> tuple[str, str]:
    """The first two coordinates of Sobol's points, or Larcher's and Pillichshammer's, by bits."""
    sobol = k.draw.shape.chance(0.6)
    p = points(k, False, sobol)

    def build(b: BodyBuilder, n: Expr, scramble: Expr) -> Expr:
        left, column = b.let("bits i_bits", n), b.let("v column", word(2**31))
        x = b.let("x acc", scramble)
        with b.while_(fn("ne", left, 0)):
            with b.if_(fn("ne", left & 1, 0)):
                b.assign(x, x ^ column)
            b.assign(left, left >> 1)
            step = column >> 1
            b.assign(column, column ^ step if sobol else column | step)
        return x

    called = "sobol2 sobol_second" if sobol else "larcher_pillichshammer ri_lp"
    second = routine(k, 0.8, called, {"n": UINT32, "scramble": UINT32}, build)
    n = k.let("n_word m", cast(p.index, UINT32))
    seeds = [
        k.scalar(f"scramble_{axis} seed_{axis}", UINT32, 1, WORD) for axis in "xy"[not sobol :]
    ]
    y, told = unit(k, k.let("y_bits y", second(n, seeds[-1])))
    rule = f"y starts as {say(k, seeds[-1])} and takes the exclusive or with v for each bit of "
    rule += f"{p.said} that is set, from the lowest on, v being 2^31 for the first and then "
    rule += f"v {'^' if sobol else '|'} (v >> 1) for each next"
    out = p.out("samples points_out", VEC2)
    if sobol:
        flip = reversal(k, 0.9)
        x, both = unit(k, k.let("x_bits x", flip(n) ^ seeds[0]))
        k.store(out, p.s.at, make(VEC2, x, y))
        text = f"The first two coordinates of Sobol points: {out.name} gets ({both}, "
        text += f"{told.replace('x', 'y')}), where x is the 32 bits of {p.said} in reverse, "
        text += f"changed by exclusive or with {say(k, seeds[0])}, and {rule}."
        return "sobol_2d zero_two_sequence sobol02_points", text
    count = k.size_param("num_points n_points", "qmc_points")
    k.store(out, p.s.at, make(VEC2, cast(p.index, FLOAT32) / cast(count, FLOAT32), y))
    text = f"Points of Larcher and Pillichshammer: {out.name} gets ({p.said} / {count.name}, "
    return "larcher_points lp_net", f"{text}{told.replace('x', 'y')}), where {rule}."
