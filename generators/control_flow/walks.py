"""The loops of ``integer_walk``: each uses up an integer and gives a result with what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, fn
from generators.program.expr import Operand, Var, op


@dataclass(frozen=True)
class Walk:
    """A loop over one integer x."""

    titles: tuple[str, ...]
    text: str
    """What it gives; ``{0}`` and so on are the numbers it wants besides x."""
    run: Callable[..., Var]
    wants: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = ()
    wide: bool = False
    """Whether its numbers may pass 16 bits."""


def _count(b: BodyBuilder, x: Var, *names: str) -> Var:
    return b.let(names, b.lift(0, x.type))


def _gcd(b: BodyBuilder, x: Var, partner: Operand) -> Var:
    y = b.let(("y", "other", "divisor"), b.lift(partner, x.type))
    with b.while_(y > 0):
        remainder = b.let(("r", "rem"), x % y)
        b.assign(x, y)
        b.assign(y, remainder)
    return x


def _collatz(b: BodyBuilder, x: Var, cap: Operand) -> Var:
    steps = _count(b, x, "steps", "hops")
    with b.while_(op("and", x > 1, steps < cap)):
        with b.if_(fn("eq", x % 2, 0)):
            b.assign(x, x // 2)
        with b.else_():
            b.assign(x, 3 * x + 1)
        b.augment(steps, "add", 1)
    return steps


def _bits_cleared(b: BodyBuilder, x: Var) -> Var:
    ones = _count(b, x, "ones", "bits")
    with b.while_(x > 0):
        b.assign(x, x & (x - 1))
        b.augment(ones, "add", 1)
    return ones


def _bits_shifted(b: BodyBuilder, x: Var) -> Var:
    ones = _count(b, x, "ones", "bits")
    with b.while_(x > 0):
        b.augment(ones, "add", x & 1)
        b.assign(x, x >> 1)
    return ones


def _bit_length(b: BodyBuilder, x: Var) -> Var:
    length = _count(b, x, "length", "num_bits")
    with b.while_(x > 0):
        b.assign(x, x >> 1)
        b.augment(length, "add", 1)
    return length


def _digits(how: str) -> Callable[..., Var]:
    def run(b: BodyBuilder, x: Var, base: Operand) -> Var:
        total = _count(b, x, *_DIGIT_NAMES[how])
        with b.while_(x > 0):
            digit = b.let(("digit", "d"), x % base)
            if how == "largest":
                b.assign(total, fn("max", total, digit))
            elif how == "reversed":
                b.assign(total, total * base + digit)
            else:
                b.augment(total, "add", digit if how == "sum" else digit * digit)
            b.assign(x, x // base)
        return total

    return run


_DIGIT_NAMES = {
    "sum": ("digit_total", "total"),
    "squares": ("square_total", "total"),
    "largest": ("top_digit", "largest"),
    "reversed": ("mirrored", "backwards"),
}


def _digital_root(b: BodyBuilder, x: Var, base: Operand) -> Var:
    with b.while_(x >= base):
        total = b.let(("total", "digit_total"), b.lift(0, x.type))
        with b.while_(x > 0):
            b.augment(total, "add", x % base)
            b.assign(x, x // base)
        b.assign(x, total)
    return x


def _growth(b: BodyBuilder, x: Var, added: Operand, goal: Operand) -> Var:
    years = _count(b, x, "years", "rounds")
    with b.while_(x < goal):
        b.assign(x, 2 * x + added)
        b.augment(years, "add", 1)
    return years


def _smallest_divisor(b: BodyBuilder, x: Var) -> Var:
    divisor = b.let(("d", "divisor", "factor"), b.lift(2, x.type))
    with b.while_(op("and", divisor * divisor <= x, fn("ne", x % divisor, 0))):
        b.augment(divisor, "add", 1)
    return divisor


def _largest_factor(b: BodyBuilder, x: Var) -> Var:
    p = b.let(("p", "prime"), b.lift(2, x.type))
    with b.while_(p * p <= x):
        with b.if_(fn("eq", x % p, 0)):
            b.assign(x, x // p)
        with b.else_():
            b.augment(p, "add", 1)
    return x


def _multiplicity(b: BodyBuilder, x: Var, p: Operand) -> Var:
    power = _count(b, x, "power", "exponent")
    with b.while_(op("and", x > 0, fn("eq", x % p, 0))):
        b.assign(x, x // p)
        b.augment(power, "add", 1)
    return power


def _root(b: BodyBuilder, x: Var) -> Var:
    root, odd = _count(b, x, "root", "side"), b.let(("odd", "step"), b.lift(1, x.type))
    with b.while_(x >= odd):
        b.assign(x, x - odd)
        b.augment(odd, "add", 2)
        b.augment(root, "add", 1)
    return root


def _residues(b: BodyBuilder, x: Var, factor: Operand, modulus: Operand, low: Operand) -> Var:
    tries = _count(b, x, "tries", "steps")
    with b.while_(op("and", x >= low, tries < 20)):
        b.assign(x, (factor * x + 1) % modulus)
        b.augment(tries, "add", 1)
    return tries


_BASE = (("base", "radix"), (2, 3, 8, 10, 16))
_DIGITS = "the digits of x in base {0}"

WALKS: dict[str, Walk] = {
    "gcd": Walk(
        ("gcd", "common_divisor"),
        "the greatest common divisor of x and {0}, by Euclid's algorithm",
        _gcd,
        ((("partner", "modulus", "period"), (12, 24, 30, 36, 60, 90, 120)),),
    ),
    "collatz": Walk(
        ("collatz_steps", "hailstone_length"),
        "how many steps the Collatz rule takes from x (even x to x // 2, odd x to 3 * x + 1) until "
        "x <= 1, at most {0}",
        _collatz,
        ((("max_steps", "cap"), (8, 10, 12, 16, 20)),),
        wide=True,
    ),
    "bits_cleared": Walk(
        ("bit_count", "count_ones"),
        "the number of one bits of x, clearing the lowest each time",
        _bits_cleared,
    ),
    "bits_shifted": Walk(
        ("bit_count", "popcount"), "the number of one bits of x, shifting x right", _bits_shifted
    ),
    "bit_length": Walk(
        ("bit_length", "num_bits_of"), "the number of bits that x needs", _bit_length
    ),
    "digit_sum": Walk(
        ("digit_sum", "sum_digits"), f"the sum of {_DIGITS}", _digits("sum"), (_BASE,)
    ),
    "digit_squares": Walk(
        ("digit_squares", "happy_step"),
        f"the sum of the squares of {_DIGITS}",
        _digits("squares"),
        (_BASE,),
    ),
    "largest_digit": Walk(
        ("largest_digit", "top_digit"), f"the largest of {_DIGITS}", _digits("largest"), (_BASE,)
    ),
    "reversed_digits": Walk(
        ("reverse_digits", "mirror_number"),
        f"the number that has {_DIGITS} in reverse order",
        _digits("reversed"),
        (_BASE,),
    ),
    "digital_root": Walk(
        ("digital_root", "repeated_digit_sum"),
        f"x after it is replaced by the sum of {_DIGITS} until it is below {{0}}",
        _digital_root,
        ((("base", "radix"), (8, 10, 16)),),
    ),
    "growth": Walk(
        ("years_to_goal", "doubling_time"),
        "how many times x becomes 2 * x + {0} until it is at least {1}",
        _growth,
        (
            (("added", "deposit", "births"), (5, 10, 20, 25)),
            (("goal", "target"), (1000, 2000, 5000)),
        ),
        wide=True,
    ),
    "smallest_divisor": Walk(
        ("smallest_divisor", "trial_division"),
        "the first integer from 2 on that divides x or whose square is above x",
        _smallest_divisor,
    ),
    "largest_factor": Walk(
        ("largest_prime_factor", "factor_out"),
        "what is left of x when, from p = 2 on while p * p <= x, x is divided by p where p divides "
        "it and else p rises by one",
        _largest_factor,
    ),
    "multiplicity": Walk(
        ("multiplicity", "count_factor"),
        "how many times x > 0 can be divided by {0} without remainder",
        _multiplicity,
        ((("prime", "factor"), (2, 3)),),
    ),
    "root": Walk(
        ("integer_root", "isqrt_odd"),
        "how many of the odd numbers 1, 3, 5 and so on can be taken from x in turn (its root)",
        _root,
    ),
    "residues": Walk(
        ("residue_steps", "steps_to_small"),
        "how many times x becomes ({0} * x + 1) % {1} until it is below {2} (at most 20 times)",
        _residues,
        (
            (("factor", "multiplier"), (5, 9, 13, 21)),
            (("modulus", "ring_size"), (64, 100, 128, 256)),
            (("lowest", "floor_value"), (10, 15, 20)),
        ),
        wide=True,
    ),
}
