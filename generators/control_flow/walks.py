"""Loops that use up an integer and give a result: divisors, digits, bits, powers, growth."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from generators.build import BodyBuilder, fn
from generators.control_flow.kit import both, counter, same
from generators.kit.functions import most, where
from generators.program.expr import Expr, Operand, Var

Go = Callable[[Expr], AbstractContextManager[None]]
"""Writes a while loop, whose turns may be counted."""

Number = tuple[str, tuple[int, ...]]
"""Names and usual values of a number that a loop needs."""


@dataclass(frozen=True)
class Walk:
    """A loop over one integer x."""

    titles: str
    text: str
    """What it gives; ``{0}`` and so on are the numbers it wants besides x."""
    wants: tuple[Number, ...]
    wide: bool
    """Whether its numbers may pass 16 bits."""
    run: Callable[..., Expr]


WALKS: dict[str, Walk] = {}

_BASE = ("base radix", (2, 3, 8, 10, 16))
_DIGITS = "the digits of x in base {0}"


def _walk(
    titles: str, text: str, *wants: Number, wide: bool = False
) -> Callable[[Callable[..., Expr]], Callable[..., Expr]]:
    """Add a loop, known by the name of its function."""

    def add(run: Callable[..., Expr]) -> Callable[..., Expr]:
        WALKS[run.__name__.lstrip("_")] = Walk(titles, text, wants, wide, run)
        return run

    return add


@_walk(
    "gcd common_divisor",
    "the greatest common divisor of x and {0}, by Euclid's algorithm",
    ("partner modulus period", (12, 24, 30, 36, 60, 90, 120)),
)
def _gcd(b: BodyBuilder, go: Go, x: Var, partner: Expr) -> Expr:
    y = b.let("y other divisor", partner)
    with go(y > 0):
        remainder = b.let("r rem", x % y)
        b.assign(x, y)
        b.assign(y, remainder)
    return x


@_walk(
    "collatz_steps hailstone_length",
    "how many steps the Collatz rule takes from x (even x to x // 2, odd x to 3 * x + 1) until "
    "x <= 1, at most {0}",
    ("max_steps cap", (8, 10, 12, 16, 20)),
    wide=True,
)
def _collatz(b: BodyBuilder, go: Go, x: Var, cap: Expr) -> Expr:
    steps = counter(b, "steps hops", x.type)
    with go(both(x > 1, steps < cap)):
        with b.if_(same(x % 2, 0)):
            b.assign(x, x // 2)
        with b.else_():
            b.assign(x, 3 * x + 1)
        b.augment(steps, "add", 1)
    return steps


@_walk("bit_count count_ones", "the number of one bits of x, clearing the lowest each time")
def _bits_cleared(b: BodyBuilder, go: Go, x: Var) -> Expr:
    ones = counter(b, "ones bits", x.type)
    with go(x > 0):
        b.assign(x, x & (x - 1))
        b.augment(ones, "add", 1)
    return ones


@_walk("bit_count popcount", "the number of one bits of x, shifting x right")
def _bits_shifted(b: BodyBuilder, go: Go, x: Var) -> Expr:
    ones = counter(b, "ones bits", x.type)
    with go(x > 0):
        b.augment(ones, "add", x & 1)
        b.assign(x, x >> 1)
    return ones


def _shifts(b: BodyBuilder, go: Go, x: Var, last: int) -> Expr:
    """How often x can be halved until it is the last number."""
    length = counter(b, "length num_bits", x.type)
    with go(x > last):
        b.assign(x, x >> 1)
        b.augment(length, "add", 1)
    return length


@_walk("bit_length num_bits_of", "the number of bits that x needs")
def _bit_length(b: BodyBuilder, go: Go, x: Var) -> Expr:
    return _shifts(b, go, x, 0)


@_walk("highest_bit whole_log2", "the position of the highest set bit of x")
def _highest_bit(b: BodyBuilder, go: Go, x: Var) -> Expr:
    return _shifts(b, go, x, 1)


@_walk("halvings steps_to_zero", "how many halvings (of even x) and decrements bring x to zero")
def _halvings(b: BodyBuilder, go: Go, x: Var) -> Expr:
    steps = counter(b, "steps moves", x.type)
    with go(x > 0):
        with b.if_(same(x % 2, 0)):
            b.assign(x, x // 2)
        with b.else_():
            b.augment(x, "sub", 1)
        b.augment(steps, "add", 1)
    return steps


def _digits(
    b: BodyBuilder, go: Go, x: Var, base: Operand, names: str, taken: Callable[[Var, Var], Expr]
) -> Expr:
    """A total that every digit of x changes."""
    total = counter(b, names, x.type)
    with go(x > 0):
        digit = b.let("digit d", x % base)
        b.assign(total, taken(total, digit))
        b.assign(x, x // base)
    return total


@_walk("digit_sum sum_digits", f"the sum of {_DIGITS}", _BASE)
def _digit_sum(b: BodyBuilder, go: Go, x: Var, base: Expr) -> Expr:
    return _digits(b, go, x, base, "digit_total total", lambda total, d: total + d)


@_walk("digit_squares happy_step", f"the sum of the squares of {_DIGITS}", _BASE)
def _digit_squares(b: BodyBuilder, go: Go, x: Var, base: Expr) -> Expr:
    return _digits(b, go, x, base, "square_total total", lambda total, d: total + d * d)


@_walk("largest_digit top_digit", f"the largest of {_DIGITS}", _BASE)
def _largest_digit(b: BodyBuilder, go: Go, x: Var, base: Expr) -> Expr:
    return _digits(b, go, x, base, "highest largest", most)


@_walk("reverse_digits mirror_number", f"the number that has {_DIGITS} in reverse order", _BASE)
def _reversed_digits(b: BodyBuilder, go: Go, x: Var, base: Expr) -> Expr:
    return _digits(b, go, x, base, "mirrored backwards", lambda total, d: total * base + d)


@_walk(
    "digital_root repeated_digit_sum",
    f"x after it is replaced by the sum of {_DIGITS} until it is below {{0}}",
    ("base radix", (8, 10, 16)),
)
def _digital_root(b: BodyBuilder, go: Go, x: Var, base: Expr) -> Expr:
    with go(x >= base):
        total = counter(b, "total digit_total", x.type)
        with b.while_(x > 0):
            b.augment(total, "add", x % base)
            b.assign(x, x // base)
        b.assign(x, total)
    return x


@_walk(
    "years_to_goal doubling_time",
    "how many times x becomes 2 * x + {0} until it is at least {1}",
    ("added deposit births", (5, 10, 20, 25)),
    ("goal target", (1000, 2000, 5000)),
    wide=True,
)
def _growth(b: BodyBuilder, go: Go, x: Var, added: Expr, goal: Expr) -> Expr:
    years = counter(b, "years rounds", x.type)
    with go(x < goal):
        b.assign(x, 2 * x + added)
        b.augment(years, "add", 1)
    return years


@_walk(
    "smallest_divisor trial_division",
    "the first integer from 2 on that divides x or whose square is above x",
)
def _smallest_divisor(b: BodyBuilder, go: Go, x: Var) -> Expr:
    divisor = b.let("d divisor factor", b.lift(2, x.type))
    with go(both(divisor * divisor <= x, fn("ne", x % divisor, 0))):
        b.augment(divisor, "add", 1)
    return divisor


@_walk("prime_or_divisor is_prime_or", "1 if x is prime or 1, else its smallest divisor above 1")
def _prime_or_divisor(b: BodyBuilder, go: Go, x: Var) -> Expr:
    d = b.let("d divisor", b.lift(2, x.type))
    with go(d * d <= x):
        with b.if_(same(x % d, 0)):
            b.break_()
        b.augment(d, "add", 1)
    return where(d * d <= x, d, b.lift(1, x.type))


@_walk(
    "largest_prime_factor factor_out",
    "what is left of x when, from p = 2 on while p * p <= x, x is divided by p where p divides "
    "it and else p rises by one",
)
def _largest_factor(b: BodyBuilder, go: Go, x: Var) -> Expr:
    p = b.let("p prime", b.lift(2, x.type))
    with go(p * p <= x):
        with b.if_(same(x % p, 0)):
            b.assign(x, x // p)
        with b.else_():
            b.augment(p, "add", 1)
    return x


@_walk(
    "multiplicity count_factor",
    "how many times x > 0 can be divided by {0} without remainder",
    ("prime factor", (2, 3)),
)
def _multiplicity(b: BodyBuilder, go: Go, x: Var, p: Expr) -> Expr:
    power = counter(b, "power exponent", x.type)
    with go(both(x > 0, same(x % p, 0))):
        b.assign(x, x // p)
        b.augment(power, "add", 1)
    return power


@_walk(
    "integer_root isqrt_odd",
    "how many of the odd numbers 1, 3, 5 and so on can be taken from x in turn (its root)",
)
def _root(b: BodyBuilder, go: Go, x: Var) -> Expr:
    root, odd = counter(b, "root side", x.type), b.let("odd step", b.lift(1, x.type))
    with go(x >= odd):
        b.assign(x, x - odd)
        b.augment(odd, "add", 2)
        b.augment(root, "add", 1)
    return root


@_walk("isqrt newton_root", "the whole part of the square root of x by Newton's method on integers")
def _newton_root(b: BodyBuilder, go: Go, x: Var) -> Expr:
    given, guess = b.let("start given_number", x), b.let("guess g", (x + 1) // 2)
    with go(guess < x):
        b.assign(x, guess)
        b.assign(guess, (x + given // x) // 2)
    return x


@_walk(
    "modpow power_modulo",
    "x to the power {0} modulo {1} by repeated squaring",
    ("exponent power", (7, 13, 20, 40)),
    ("modulus ring_size", (97, 101, 251, 1009)),
    wide=True,
)
def _modpow(b: BodyBuilder, go: Go, x: Var, power: Expr, modulus: Expr) -> Expr:
    e, result = b.let("e left", power), b.let("result acc", b.lift(1, x.type))
    b.assign(x, x % modulus)
    with go(e > 0):
        with b.if_(same(e % 2, 1)):
            b.assign(result, result * x % modulus)
        b.assign(x, x * x % modulus)
        b.assign(e, e // 2)
    return result


@_walk(
    "residue_steps steps_to_small",
    "how many times x becomes ({0} * x + 1) % {1} until it is below {2} (at most 20 times)",
    ("factor multiplier", (5, 9, 13, 21)),
    ("modulus ring_size", (64, 100, 128, 256)),
    ("lowest floor_value", (10, 15, 20)),
    wide=True,
)
def _residues(b: BodyBuilder, go: Go, x: Var, factor: Expr, modulus: Expr, low: Expr) -> Expr:
    tries = counter(b, "tries steps", x.type)
    with go(both(x >= low, tries < 20)):
        b.assign(x, (factor * x + 1) % modulus)
        b.augment(tries, "add", 1)
    return tries
