"""Whole numbers: Euclid, powers modulo m, digits, divisors and bits."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import also, either, shown
from generators.control_flow.params import with_struct
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var

_NUMBERS: dict[str, str] = {
    "gcd": "the greatest common divisor of a and b by Euclid's algorithm",
    "modpow": "a to the power b modulo m by repeated squaring",
    "isqrt": "the whole part of the square root of a by Newton's method on integers",
    "digits": "the sum of the decimal digits of a",
    "reverse": "a with its decimal digits reversed",
    "prime": "1 if a is prime, else its smallest divisor above 1, by trial division",
    "bits": "the number of set bits of a, clearing the lowest set bit each time",
    "log2": "the position of the highest set bit of a",
    "steps": "how many halvings and decrements bring a to zero",
}


@idiom
@with_struct
def number_theory(k: KernelBuilder, level: int) -> Title:
    """Euclid, repeated squaring, trial division, digits and bits of whole numbers."""
    shape = k.draw.shape
    form = shape.choice(sorted(_NUMBERS))
    type_ = shape.choice((INT32, Scalar("int64"), Scalar("uint32"), Scalar("uint64")))
    pair = form in ("gcd", "modpow")
    two = level >= 2 and shape.chance(0.35)
    dims = (k.size("rows", 6, 9), k.size("cols", 6, 9)) if two else (k.size("n", 48, 80),)
    high = {"gcd": 900, "modpow": 60, "prime": 400, "isqrt": 9000}.get(form, 60000)
    a_in = k.array(("a", "numbers", "values"), type_, dims, low=2, high=high)
    b_in = None
    if pair:
        b_in = k.array(
            ("b", "others", "exponents"), type_, dims, low=1, high=900 if form == "gcd" else 40
        )
    modulus = k.draw.value.choice((97, 101, 251, 1009)) if form == "modpow" else 0
    m: Operand = modulus
    if modulus and shape.chance(0.5):
        m = k.scalar(("modulus", "m"), type_, modulus, modulus + 2)
    out = k.out(("out", "result", "found"), type_, dims)
    rounds = also(k, 0.0 if level < 2 else 0.4, ("rounds", "steps"), INT32, dims)
    skip = level >= 3 and shape.chance(0.6)
    place = k.thread(*dims, names=("i", "j") if two else (k.name("i", "tid"),))
    a = k.let(("a", "x", "num"), a_in[place])
    note = ""
    if skip:
        least = either(k, ("least", "lower"), type_, high // 5, high // 3)
        with k.if_(a < least):
            k.store(out, place, 0)
            if rounds is not None:
                k.store(rounds, place, 0)
            k.return_()
        note = f" Numbers below {shown(least)} give 0."
    if level >= 4:
        odd = k.draw.value.choice((3, 5, 7))
        with k.if_(fn("eq", a % odd, 0)):
            k.assign(a, a // odd)
        note += f" A number that {odd} divides is first divided by {odd} once."
    n = k.let(("count", "turns"), k.lift(0, INT32)) if rounds is not None else None
    helped = level >= 3 and n is None and shape.chance(0.5)
    if helped:
        params = [("a", type_), *([("b", type_)] if b_in is not None else [])]
        keep = isinstance(m, Var)
        if keep:
            params.append(("m", type_))

        def body(b: BodyBuilder, *given: Expr) -> Expr:
            mod: Operand = given[-1] if keep else m
            return _solve(b, form, given[0], given[1] if b_in is not None else None, mod, None)

        name = helper(
            k,
            (f"{form}_of", form if form not in ("digits", "bits") else f"{form}_sum"),
            params,
            body,
        )
        args: list[Expr] = [
            a,
            *([b_in[place]] if b_in is not None else []),
            *([m] if isinstance(m, Var) else []),
        ]
        value: Expr = k.call(name, *args)
    else:
        value = _solve(k, form, a, b_in[place] if b_in is not None else None, m, n)
    k.store(out, place, value)
    if rounds is not None and n is not None:
        k.store(rounds, place, n)
        note += f" The number of loop turns goes to {rounds.name}."
    text = f"Compute {_NUMBERS[form]} for a = {a_in.name}"
    text += f" and b = {b_in.name}" if b_in is not None else ""
    text += f", m = {shown(m)}" if modulus else ""
    return Title(k.name(f"{form}_kernel", f"compute_{form}", "whole_numbers"), f"{text}.{note}")


def _solve(
    b: BodyBuilder, form: str, a: Expr, other: Expr | None, m: Operand, n: Var | None
) -> Expr:
    """The loop of one method; ``n`` counts its turns."""
    type_ = a.type
    assert isinstance(type_, Scalar)

    def tick() -> None:
        if n is not None:
            b.augment(n, "add", 1)

    x = b.let(("x", "u", "rest"), a)
    if form == "gcd":
        assert other is not None
        y = b.let(("y", "v"), other)
        with b.while_(y > 0):
            r = b.let(("r", "remainder"), x % y)
            b.assign(x, y)
            b.assign(y, r)
            tick()
        return x
    if form == "modpow":
        assert other is not None
        e = b.let(("e", "exponent"), other)
        result = b.let(("result", "acc"), b.lift(1, type_))
        b.assign(x, x % b.lift(m, type_))
        with b.while_(e > 0):
            with b.if_(fn("eq", e % 2, 1)):
                b.assign(result, result * x % b.lift(m, type_))
            b.assign(x, x * x % b.lift(m, type_))
            b.assign(e, e // 2)
            tick()
        return result
    if form == "isqrt":
        guess = b.let(("guess", "g"), (x + 1) // 2)
        with b.while_(guess < x):
            b.assign(x, guess)
            b.assign(guess, (x + a // x) // 2)
            tick()
        return x
    if form == "prime":
        d = b.let(("d", "divisor"), b.lift(2, type_))
        with b.while_(d * d <= x):
            with b.if_(fn("eq", x % d, 0)):
                b.break_()
            b.augment(d, "add", 1)
            tick()
        return fn("where", d * d <= x, d, b.lift(1, type_))
    total = b.let(("total", "acc", "found_count"), b.lift(0, type_))
    with b.while_(x > (1 if form == "log2" else 0)):
        if form == "digits":
            b.augment(total, "add", x % 10)
            b.assign(x, x // 10)
        elif form == "reverse":
            b.assign(total, total * 10 + x % 10)
            b.assign(x, x // 10)
        elif form == "bits":
            b.assign(x, x & (x - 1))
            b.augment(total, "add", 1)
        elif form == "log2":
            b.assign(x, x >> 1)
            b.augment(total, "add", 1)
        else:
            with b.if_(fn("eq", x % 2, 0)):
                b.assign(x, x // 2)
            with b.else_():
                b.augment(x, "sub", 1)
            b.augment(total, "add", 1)
        tick()
    return total
