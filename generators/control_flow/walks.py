"""Loops that use up an integer and give a result: divisors, digits, bits, powers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from generators.build import BodyBuilder
from generators.control_flow.kit import STOP, Step, both, branch, counter, same, some, take
from generators.kit.functions import most, where
from generators.program.expr import Expr, Var

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
    run: Callable[..., Expr]
    wants: tuple[Number, ...] = ()
    wide: bool = False
    """Whether it multiplies numbers, so that 32 bits may not hold what it comes to."""
    again: bool = False
    """Whether it needs its last number more than once."""
    signed: bool = False
    """Whether it takes numbers below zero on the way."""


def _loop(
    names: str,
    test: Callable[..., Expr],
    steps: Callable[..., Sequence[Step]],
    start: int = 0,
    result: Callable[[Var, Var], Expr] = lambda x, n: n,
) -> Callable[..., Expr]:
    """While a test of x, a second local n and the numbers holds, steps are taken; n is given."""

    def run(b: BodyBuilder, go: Go, x: Var, *numbers: Expr) -> Expr:
        n = b.let(names, b.lift(start, x.type))
        with go(test(x, n, *numbers)):
            take(b, *steps(x, n, *numbers))
        return result(x, n)

    return run


def _gcd(b: BodyBuilder, go: Go, x: Var, partner: Expr) -> Expr:
    y = b.let("y other divisor", partner)
    with go(y > 0):
        remainder = b.let("r rem", x % y)
        take(b, (x, y), (y, remainder))
    return x


def _digits(taken: Callable[[Var, Var, Expr], Expr]) -> Callable[..., Expr]:
    """A total that every digit of x changes."""

    def run(b: BodyBuilder, go: Go, x: Var, base: Expr) -> Expr:
        total = counter(b, "total so_far", x.type)
        with go(x > 0):
            digit = b.let("digit d", x % base)
            take(b, (total, taken(total, digit, base)), (x, x // base))
        return total

    return run


def _digital_root(b: BodyBuilder, go: Go, x: Var, base: Expr) -> Expr:
    with go(x >= base):
        total = counter(b, "total digit_total", x.type)
        with b.while_(x > 0):
            take(b, (total, total + x % base), (x, x // base))
        b.assign(x, total)
    return x


def _root_by_odds(b: BodyBuilder, go: Go, x: Var) -> Expr:
    root, odd = counter(b, "root side", x.type), b.let("odd step", b.lift(1, x.type))
    with go(x >= odd):
        take(b, (x, x - odd), (odd, odd + 2), (root, root + 1))
    return root


def _root_by_newton(b: BodyBuilder, go: Go, x: Var) -> Expr:
    given, guess = b.let("start given_number", x), b.let("guess g", (x + 1) // 2)
    with go(guess < x):
        take(b, (x, guess), (guess, (x + given // x) // 2))
    return x


def _modpow(b: BodyBuilder, go: Go, x: Var, power: Expr, modulus: Expr) -> Expr:
    e, result = b.let("e", power), b.let("result", b.lift(1, x.type))
    b.assign(x, x % modulus)
    with go(e > 0):
        branch(b, (same(e % 2, 1), (result, result * x % modulus)))
        take(b, (x, x * x % modulus), (e, e // 2))
    return result


def _modular_inverse(b: BodyBuilder, go: Go, x: Var, modulus: Expr) -> Expr:
    """Extended Euclid; zero where there is none."""
    r, s = b.let("r_old r0", modulus), counter(b, "t_old t0", x.type)
    t = b.let("t_new t1", b.lift(1, x.type))
    b.assign(x, x % modulus)
    with go(x > 0):
        q, rest = b.let("q quotient", r // x), b.let("rest r_next", r % x)
        after = b.let("t_next", s - q * t)
        take(b, (r, x), (x, rest), (s, t), (t, after))
    return where(same(r, 1), (s + modulus) % modulus, b.lift(0, x.type))


def _jacobi(b: BodyBuilder, go: Go, x: Var, odd: Expr) -> Expr:
    n, sign = b.let("n m", odd), b.let("sign symbol", b.lift(1, x.type))
    b.assign(x, x % n)
    with go(x > 0):
        with b.while_(same(x % 2, 0)):
            b.assign(x, x // 2)
            branch(b, (some(same(n % 8, 3), same(n % 8, 5)), (sign, -sign)))
        swapped = b.let("tmp held", x)
        branch(b, (both(same(x % 4, 3), same(n % 4, 3)), (sign, -sign)))
        take(b, (x, n % swapped), (n, swapped))
    return where(same(n, 1), sign, b.lift(0, x.type))


def _totient(b: BodyBuilder, go: Go, x: Var) -> Expr:
    phi, p = b.let("phi count", x), b.let("p prime", b.lift(2, x.type))
    with go(p * p <= x):
        with b.if_(same(x % p, 0)):
            with b.while_(same(x % p, 0)):
                b.assign(x, x // p)
            b.augment(phi, "sub", phi // p)
        b.augment(p, "add", 1)
    branch(b, (x > 1, (phi, phi - phi // x)))
    return phi


def _binary_gcd(b: BodyBuilder, go: Go, x: Var, other: Expr) -> Expr:
    y, twos = b.let("y b", other), counter(b, "shift twos", x.type)
    with b.while_(same((x | y) & 1, 0)):
        take(b, (x, x >> 1), (y, y >> 1), (twos, twos + 1))
    with b.while_(same(x & 1, 0)):
        b.assign(x, x >> 1)
    with go(y > 0):
        with b.while_(same(y & 1, 0)):
            b.assign(y, y >> 1)
        low = b.let("low smaller", where(x < y, x, y))
        take(b, (y, where(x < y, y, x) - low), (x, low))
    return x << twos


_BASE = (("base number_base", (8, 10, 10, 10, 16)),)
_DIGITS = "the digits of x in base {0}"

_OF_DIGITS: dict[str, tuple[str, str, Callable[[Var, Var, Expr], Expr]]] = {
    "digit_sum": ("digit_total", "the sum of {}", lambda n, d, base: n + d),
    "digit_squares": (
        "sum_squared_digits",
        "the sum of the squares of {}",
        lambda n, d, base: n + d * d,
    ),
    "largest_digit": ("max_digit", "the largest of {}", lambda n, d, base: most(n, d)),
    "reversed_digits": (
        "reverse_digits",
        "the number with {} reversed",
        lambda n, d, base: n * base + d,
    ),
}

WALKS = {
    **{
        name: Walk(
            f"{name} {other}",
            text.format(_DIGITS),
            _digits(taken),
            _BASE,
            wide=name == "reversed_digits",
        )
        for name, (other, text, taken) in _OF_DIGITS.items()
    },
    "gcd": Walk(
        "gcd common_divisor",
        "the greatest common divisor of x and {0}, by Euclid's algorithm",
        _gcd,
        (("partner other", (12, 24, 30, 36, 60, 90, 120)),),
    ),
    "binary_gcd": Walk(
        "binary_gcd stein_gcd",
        "the greatest common divisor of x and {0}, both above 0, by Stein's binary algorithm "
        "(common factors of two are counted, then only odd numbers are subtracted)",
        _binary_gcd,
        (("partner other", (12, 24, 30, 36, 60, 90, 120)),),
    ),
    "modular_inverse": Walk(
        "modular_inverse inverse_mod",
        "the inverse of x modulo {0} by the extended Euclidean algorithm, 0 if there is none",
        _modular_inverse,
        (("modulus field_size", (91, 97, 101, 255, 1009)),),
        signed=True,
        again=True,
    ),
    "jacobi": Walk(
        "jacobi_symbol legendre_jacobi",
        "the Jacobi symbol of x over the odd number {0}: 1, -1, or 0 where they share a factor",
        _jacobi,
        (("modulus odd_number", (15, 21, 33, 35, 45, 77)),),
        signed=True,
    ),
    "totient": Walk(
        "totient euler_phi",
        "Euler's totient of x, by trial division",
        _totient,
        wide=True,
    ),
    "collatz": Walk(
        "collatz_steps hailstone_length",
        "how many steps the Collatz rule takes from x (even x to x // 2, odd x to 3 * x + 1) until "
        "x <= 1, at most {0}",
        _loop(
            "steps hops",
            lambda x, n, cap: both(x > 1, n < cap),
            lambda x, n, cap: [[(same(x % 2, 0), (x, x // 2)), (None, (x, 3 * x + 1))], (n, n + 1)],
        ),
        (("max_steps cap", (8, 10, 12, 16, 20)),),
        wide=True,
    ),
    "bits_cleared": Walk(
        "bit_count count_ones",
        "the number of one bits of x, clearing the lowest each time",
        _loop("ones bits", lambda x, n: x > 0, lambda x, n: [(x, x & (x - 1)), (n, n + 1)]),
    ),
    "bits_shifted": Walk(
        "bit_count popcount",
        "the number of one bits of x, shifting x right",
        _loop("ones bits", lambda x, n: x > 0, lambda x, n: [(n, n + (x & 1)), (x, x >> 1)]),
    ),
    "bit_length": Walk(
        "bit_length num_bits_of",
        "the number of bits that x needs",
        _loop("length num_bits", lambda x, n: x > 0, lambda x, n: [(x, x >> 1), (n, n + 1)]),
    ),
    "highest_bit": Walk(
        "highest_bit whole_log2",
        "the position of the highest set bit of x",
        _loop("place position", lambda x, n: x > 1, lambda x, n: [(x, x >> 1), (n, n + 1)]),
    ),
    "gray_decode": Walk(
        "gray_decode binary_from_gray",
        "the number whose Gray code is x",
        _loop("binary decoded", lambda x, n: x > 0, lambda x, n: [(n, n ^ x), (x, x >> 1)]),
    ),
    "trailing_zeros": Walk(
        "trailing_zeros count_low_zeros",
        "the number of zero bits below the lowest one bit of x > 0",
        _loop(
            "zeros count",
            lambda x, n: both(x > 0, same(x & 1, 0)),
            lambda x, n: [(x, x >> 1), (n, n + 1)],
        ),
    ),
    "parity": Walk(
        "bit_parity odd_parity",
        "1 where the number of one bits of x is odd, else 0",
        _loop("parity odd", lambda x, n: x > 0, lambda x, n: [(n, 1 - n), (x, x & (x - 1))]),
    ),
    "digital_root": Walk(
        "digital_root repeated_digit_sum",
        f"x after it is replaced by the sum of {_DIGITS} until it is below {{0}}",
        _digital_root,
        (("base radix", (8, 10, 16)),),
    ),
    "prime_or_divisor": Walk(
        "proper_factor smallest_proper_factor",
        "1 if x is prime or 1, else its smallest divisor above 1",
        _loop(
            "d divisor",
            lambda x, n: n * n <= x,
            lambda x, n: [[(same(x % n, 0), STOP)], (n, n + 1)],
            start=2,
            result=lambda x, n: where(n * n <= x, n, BodyBuilder.lift(1, x.type)),
        ),
        wide=True,
    ),
    "largest_factor": Walk(
        "largest_prime_factor largest_factor",
        "the largest prime factor of x (1 of x = 1), by trial division of what is left of x",
        _loop(
            "p prime",
            lambda x, n: n * n <= x,
            lambda x, n: [[(same(x % n, 0), (x, x // n)), (None, (n, n + 1))]],
            start=2,
            result=lambda x, n: x,
        ),
        wide=True,
    ),
    "multiplicity": Walk(
        "multiplicity factor_power",
        "how many times x > 0 can be divided by {0} without remainder",
        _loop(
            "power exponent",
            lambda x, n, p: both(x > 0, same(x % p, 0)),
            lambda x, n, p: [(x, x // p), (n, n + 1)],
        ),
        (("prime factor", (2, 3)),),
        again=True,
    ),
    "root_by_odds": Walk(
        "integer_root isqrt_odd",
        "how many of the odd numbers 1, 3, 5 and so on can be taken from x in turn (its root)",
        _root_by_odds,
    ),
    "root_by_newton": Walk(
        "isqrt newton_root",
        "the whole part of the square root of x by Newton's method on integers",
        _root_by_newton,
    ),
    "modpow": Walk(
        "modpow power_modulo",
        "x to the power {0} modulo {1} by repeated squaring (the modulus is below 2^31, so that "
        "products fit)",
        _modpow,
        (("exponent", (7, 13, 20, 40)), ("modulus", (97, 101, 251, 1009))),
        wide=True,
        again=True,
    ),
}
