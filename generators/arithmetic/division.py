"""Quotients and remainders of whole numbers: every way of rounding, digits, mixed radix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.arithmetic.common import stored
from generators.arithmetic.types import INT16, INT64, UINT8, UINT16, UINT32
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Shelf
from generators.kit.functions import least, most
from generators.kit.naming import evaluated, held
from generators.kit.sites import Names, Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, literal

_DIVISIONS = Shelf()
_DIVISIONS.add(
    "ceil_div", "ceil_div num_blocks chunks_needed", lambda v, unit: (v + unit - 1) // unit
)
_DIVISIONS.add(
    "round_div", "round_div round_half_up nearest_multiple", lambda v, unit: (v + unit // 2) // unit
)
_DIVISIONS.add(
    "align_up", "align_up round_up_to padded_size", lambda v, unit: (v + unit - 1) // unit * unit
)


@_DIVISIONS.formula(
    "round_half_even bankers_rounding", "{v} / {unit} rounded to nearest, halves to even"
)
def half_even(body: BodyBuilder, v: Expr, unit: Expr) -> Expr:
    q = body.let("q quotient", v // unit)
    twice = body.let("twice r2", 2 * (v - q * unit))
    up = fn("and", fn("eq", twice, unit), fn("eq", q % 2, 1))
    with body.if_(fn("or", twice > unit, up)):
        body.augment(q, "add", 1)
    return q


@_DIVISIONS.formula(
    "euclid_steps reduce_fraction",
    "{v} over the greatest common divisor of it and {unit} (Euclid's algorithm)",
)
def reduced(body: BodyBuilder, v: Expr, unit: Expr) -> Expr:
    a, c = body.let("a g", v), body.let("c rest", unit)
    with body.while_(fn("ne", c, 0)):
        r = body.let("r t", a % c)
        body.assign(a, c)
        body.assign(c, r)
    return v // a


_BASIC = ("align_up", "ceil_div", "round_div")


@idiom(depth=1)
def rounding_division(k: KernelBuilder, level: int) -> Title:
    """Integer division rounded up, to nearest, to even; alignment, wrapping, mixed radix."""
    shape = k.draw.shape
    type_ = shape.choice((INT32, INT32, INT64, UINT32, INT16, UINT16))
    s = launch(k, list=3, grid=3, cube=1)
    known = _BASIC if level < 3 else (*_BASIC, "half_even", "reduced")
    form = shape.choice((*known, "wrap", "split"))
    n: Expr = s.read("counts sizes amounts ticks", type_, 1, 900 if type_.bits > 16 else 200)
    unit, by = _divisor(s, type_)
    text, x = say(k, n), held(k, "value amount v", n)
    if level >= 2 and shape.chance(0.5):
        extra = k.scalar("extra header slack", type_, 1, 15)
        x, text = k.let("padded total", x + extra), f"{text} + {extra.name}"
    operand = f"({text})" if " " in text else text
    value: Expr
    if form == "wrap":
        back = k.draw.value.integer(2, 3)
        value = (x + unit * back - back) % unit
        names, rule = "wrap_index cyclic_offset", f"({text} + {back} * {by} - {back}) % {by}"
    elif form == "split":
        scale = k.draw.value.choice((100, 64, 32))
        value = x // unit * scale + x % unit
        names, rule = "divmod_parts mixed_radix", f"{operand} // {by} * {scale} + {operand} % {by}"
    else:
        formula = _DIVISIONS.card(form)
        value = evaluated(k, 0.15 * level, formula, {"v": x, "unit": unit})
        names, rule = formula.outs, formula.said({"v": text, "unit": by})
    done = f"Compute {rule}."
    if level >= 4 and shape.chance(0.6):
        value = held(k, "whole units", value)
        done += _leftover(s, x, unit, f"{operand} % {by}")
    done += stored(s, "out quotients result", value, None, 0.06 if level >= 3 else 0.0)
    return Title(k.name(names), done)


def _divisor(s: Site, type_: Scalar) -> tuple[Expr, str]:
    """What is divided by, under a name unless it is a number."""
    if s.k.draw.shape.chance(0.25):
        number = s.k.draw.value.choice((3, 4, 6, 8, 10, 12, 16))
        return literal(number, type_), str(number)
    names = "block divisor unit tile"
    found = given(s, names, type_, 3, 24, shared=1, each=1, axis=1)
    return held(s.k, "div unit_size q", found), say(s.k, found)


def _leftover(s: Site, x: Expr, d: Expr, text: str) -> str:
    """A second output: the remainder."""
    r = s.k.let("r tail", x % d)
    return f" {s.put('remainder leftover', r).name} gets {text}."


@dataclass
class Split:
    """A quotient ``q`` and a remainder ``r`` by ``base``, as locals that steps change."""

    k: KernelBuilder
    q: Var
    r: Var
    type: Scalar
    base: int

    def over_digits(self, names: Names, each: Callable[[Var, Expr], None]) -> None:
        """Replace the quotient by what ``each(result, digit)`` gathers, lowest digit first."""
        gathered = self.k.let(names, self.k.lift(0, self.type))
        with self.k.while_(self.q > 0):
            each(gathered, self.q % self.base)
            self.k.assign(self.q, self.q // self.base)
        self.q = gathered


def _carry_in(k: KernelBuilder, s: Split) -> str:
    modulus = k.draw.value.integer(3, 12)
    k.augment(s.r, "add", s.q % modulus)
    return f"r += q % {modulus}"


def _mirror(k: KernelBuilder, s: Split) -> str:
    with k.if_(fn("eq", s.q % 2, 1)):
        k.assign(s.r, s.base - 1 - s.r)
    return f"where q is odd, r = {s.base - 1} - r"


def _cycle(k: KernelBuilder, s: Split) -> str:
    factor = k.draw.value.integer(2, 5)
    k.assign(s.r, (factor * s.r + s.q % s.base) % s.base)
    return f"r = ({factor} * r + q % {s.base}) % {s.base}"


def _triangle(k: KernelBuilder, s: Split) -> str:
    k.assign(s.r, least(s.r, s.base - s.r))
    return f"r = min(r, {s.base} - r)"


def _digit_sum(k: KernelBuilder, s: Split) -> str:
    s.over_digits("digit_sum total", lambda t, d: k.augment(t, "add", d))
    return f"q becomes the sum of its digits in base {s.base}"


def _reverse(k: KernelBuilder, s: Split) -> str:
    s.over_digits("turned reverse", lambda t, d: k.assign(t, t * s.base + d))
    return f"the digits of q in base {s.base} are reversed"


def _largest(k: KernelBuilder, s: Split) -> str:
    s.over_digits("largest top_digit", lambda t, d: k.assign(t, most(t, d)))
    return f"q becomes its largest digit in base {s.base}"


def _small_digits(k: KernelBuilder, s: Split) -> str:
    below = k.draw.value.integer(2, s.base - 1)

    def each(count: Var, digit: Expr) -> None:
        with k.if_(digit < below):
            k.augment(count, "add", 1)

    s.over_digits("small hits", each)
    return f"q becomes how many of its digits in base {s.base} are below {below}"


def _checksum(k: KernelBuilder, s: Split) -> str:
    factor, modulus = k.draw.value.integer(2, 6), k.draw.value.integer(11, 23)
    s.over_digits("check checksum", lambda t, d: k.assign(t, (t * factor + d) % modulus))
    start = f"q becomes a checksum c: from c = 0, c = ({factor} * c + d) % {modulus}"
    return f"{start} for each digit d in base {s.base}, lowest first"


def _root(k: KernelBuilder, s: Split) -> str:
    with k.while_(s.q >= s.base):
        k.assign(s.q, s.q // s.base + s.q % s.base)
    return f"while q >= {s.base}, q = q // {s.base} + q % {s.base}"


def _round_up(k: KernelBuilder, s: Split) -> str:
    with k.if_(s.r >= s.base // 2):
        k.augment(s.q, "add", 1)
    return f"where r >= {s.base // 2}, q grows by 1"


def _exchange(k: KernelBuilder, s: Split) -> str:
    with k.if_(s.r > s.q):
        kept = k.let("held spare", s.q)
        k.assign(s.q, s.r)
        k.assign(s.r, kept)
    return "where r > q, the two are exchanged"


_QUOTIENT = (_digit_sum, _reverse, _largest, _small_digits, _checksum, _root)
_REMAINDER = (_carry_in, _mirror, _cycle, _triangle)
_LAST = (_round_up, _exchange)
"""Steps on the quotient, on the remainder, and at the end."""


@idiom(depth=1)
def integer_split(k: KernelBuilder, level: int) -> Title:
    """Quotient and remainder, at higher levels with digit loops, checksums and carries."""
    shape, value = k.draw.shape, k.draw.value
    type_ = shape.weighted({INT32: 4, INT64: 2, UINT32: 2, UINT8: 1})
    s = launch(k, list=3, grid=1)
    number = _number(s, type_, 120 if type_.bits == 8 else 50_000)
    text = say(k, number)
    text = f"({text})" if " " in text else text
    base = value.integer(3, 60 if level <= 2 and type_.bits > 8 else 12)
    if level == 1:
        return _single(s, number, text, base)
    t = k.let("t tick number", number)
    split = Split(k, k.let("q whole", t // base), k.let("r rest", t % base), type_, base)
    chosen = []
    if level >= 4 or (level == 3 and shape.chance(0.5)):
        chosen.append(shape.choice(_QUOTIENT))
    if level >= 3 or shape.chance(0.5):
        chosen.append(shape.choice(_REMAINDER))
    chosen = shape.sample(chosen, len(chosen))
    if level >= 5:
        chosen.append(shape.choice(_LAST))
    steps = [step(k, split) for step in chosen]
    whole = s.put("quotient major blocks", split.q)
    part = s.put("remainder minor offsets", split.r)
    done = f"Divide {text} by {base} into quotient q and remainder r"
    if steps:
        order = " in this order: " if len(steps) > 1 else " "
        done += f", then{order}{'; '.join(steps)}"
    done += f". Store q in {whole.name} and r in {part.name}."
    return Title(k.name("split_numbers split_counts divide_with_rest"), done)


def _number(s: Site, type_: Scalar, top: int) -> Expr:
    """The number that is split: an element, or a sum with another or a literal."""
    ticks = s.read("ticks counts numbers stamps", type_, 0, top)
    form = s.k.draw.shape.weighted({"plain": 3, "sum": 3, "late": 4})
    if form == "late":
        return ticks + s.k.draw.value.integer(1, 99)
    return ticks + s.read("increments elapsed added", type_, 0, top) if form == "sum" else ticks


def _single(s: Site, number: Expr, text: str, base: int) -> Title:
    """One division, or one field between two."""
    second = s.k.draw.value.integer(3, 9)
    names, value, what = s.k.draw.shape.choice(
        (
            ("whole_parts floor_divide", number // base, f"{text} // {base}"),
            ("remainders wrap_numbers", number % base, f"{text} % {base}"),
            (
                "middle_fields extract_field",
                number // base % second,
                f"the quotient of {text} by {base}, modulo {second}",
            ),
        )
    )
    out = s.put("out result parts", value)
    return Title(s.k.name(names), f"{out.name} gets {what}.")
