"""The loops of ``integer_walk``: each uses up an integer and gives a result with what it is."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, fn
from generators.expr import Var, op


def _count(k: KernelBuilder, x: Var, *names: str) -> Var:
    return k.let(names, k.lift(0, x.type))


def _gcd(k: KernelBuilder, x: Var) -> tuple[Var, str]:
    partner = k.draw.value.choice((2, 3, 4, 5)) * 6 * k.draw.value.integer(1, 9)
    y = k.let(("y", "b", "other"), k.lift(partner, x.type))
    with k.while_(y > 0):
        remainder = k.let(("r", "rem"), x % y)
        k.assign(x, y)
        k.assign(y, remainder)
    return x, f"the greatest common divisor of x and {partner}"


def _collatz(k: KernelBuilder, x: Var) -> tuple[Var, str]:
    cap, added = k.draw.value.integer(6, 20), k.draw.value.choice((1, 1, 1, 5, 7, 11))
    steps = _count(k, x, "steps", "hops")
    with k.while_(op("and", x > 1, steps < cap)):
        with k.if_(fn("eq", x % 2, 0)):
            k.assign(x, x // 2)
        with k.else_():
            k.assign(x, 3 * x + added)
        k.augment(steps, "add", 1)
    rule = f"even x become x // 2 and odd x become 3 * x + {added}"
    return steps, f"the number of steps until x <= 1 (at most {cap}) if {rule}"


def _bit_count(k: KernelBuilder, x: Var) -> tuple[Var, str]:
    ones = _count(k, x, "ones", "count")
    clears = k.draw.shape.chance(0.4)
    with k.while_(x > 0):
        if clears:
            k.assign(x, x & (x - 1))
            k.augment(ones, "add", 1)
        else:
            k.augment(ones, "add", x & 1)
            k.assign(x, x >> 1)
    how = "clearing the lowest one each time" if clears else "shifting them out"
    return ones, f"the number of one bits of x by {how}"


def _digit_sum(k: KernelBuilder, x: Var) -> tuple[Var, str]:
    base = k.draw.value.integer(3, 20)
    total = _count(k, x, "digits", "digit_total")
    form = k.draw.shape.choice(("sum", "squares", "largest"))
    with k.while_(x > 0):
        if form == "largest":
            k.assign(total, fn("max", total, x % base))
        elif form == "sum":
            k.augment(total, "add", x % base)
        else:
            digit = k.let(("digit", "last"), x % base)
            k.augment(total, "add", digit * digit)
        k.assign(x, x // base)
    what = {"sum": "sum", "squares": "sum of the squares", "largest": "largest"}[form]
    return total, f"the {what} of the digits of x in base {base}"


def _growth(k: KernelBuilder, x: Var) -> tuple[Var, str]:
    factor, added = k.draw.value.integer(2, 4), k.draw.value.integer(1, 60)
    goal = k.draw.value.integer(20, 99) * 100
    steps = _count(k, x, "years", "rounds", "steps")
    with k.while_(x < goal):
        k.assign(x, factor * x + added)
        k.augment(steps, "add", 1)
    return steps, f"how many times x becomes {factor} * x + {added} until it is at least {goal}"


def _smallest_divisor(k: KernelBuilder, x: Var) -> tuple[Var, str]:
    first = k.draw.value.integer(2, 9)
    divisor = k.let(("d", "divisor", "factor"), k.lift(first, x.type))
    with k.while_(op("and", divisor * divisor <= x, fn("ne", x % divisor, 0))):
        k.augment(divisor, "add", 1)
    which = f"the first integer from {first} on that divides x or whose square is above x"
    return divisor, which


def _sequence(k: KernelBuilder, x: Var) -> tuple[Var, str]:
    value = k.draw.value
    factor, added, modulus = value.integer(3, 30), value.integer(1, 60), value.integer(61, 250)
    cap, low = value.integer(8, 20), value.integer(8, 25)
    steps = _count(k, x, "steps", "tries")
    with k.while_(op("and", x >= low, steps < cap)):
        k.assign(x, (factor * x + added) % modulus)
        k.augment(steps, "add", 1)
    rule = f"({factor} * x + {added}) % {modulus}"
    return steps, f"how many times x becomes {rule} until it is below {low} (at most {cap} times)"


WALKS: dict[str, Callable[[KernelBuilder, Var], tuple[Var, str]]] = {
    "gcd": _gcd,
    "collatz": _collatz,
    "bit_count": _bit_count,
    "digit_sum": _digit_sum,
    "growth": _growth,
    "smallest_divisor": _smallest_divisor,
    "sequence": _sequence,
}
