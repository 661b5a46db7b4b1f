"""Quotients, remainders and digits of whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import INT32, Array, Scalar
from generators.program.expr import Expr, Var

_TYPES = {INT32: 4, Scalar("int64"): 2, Scalar("uint32"): 2, Scalar("uint8"): 1}


@dataclass
class Split:
    """A quotient ``q`` and a remainder ``r`` by ``base``, as locals that steps change."""

    q: Var
    r: Var
    type: Scalar
    base: int


Step = Callable[[KernelBuilder, Split], str]


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
    k.assign(s.r, fn("min", s.r, s.base - s.r))
    return f"r = min(r, {s.base} - r)"


REMAINDER_STEPS: dict[str, Step] = {
    "carry_in": _carry_in,
    "mirror": _mirror,
    "cycle": _cycle,
    "triangle": _triangle,
}


def _over_digits(
    k: KernelBuilder, s: Split, names: tuple[str, ...], each: Callable[[Var, Expr], None]
) -> None:
    """Replace the quotient by what ``each(result, digit)`` gathers, lowest digit first."""
    gathered = k.let(names, k.lift(0, s.type))
    with k.while_(s.q > 0):
        each(gathered, s.q % s.base)
        k.assign(s.q, s.q // s.base)
    s.q = gathered


def _digit_sum(k: KernelBuilder, s: Split) -> str:
    _over_digits(k, s, ("digit_sum", "total"), lambda t, d: k.augment(t, "add", d))
    return f"q becomes the sum of its digits in base {s.base}"


def _reverse(k: KernelBuilder, s: Split) -> str:
    names = "turned reverse"
    _over_digits(k, s, names, lambda t, d: k.assign(t, t * s.base + d))
    return f"the digits of q in base {s.base} are reversed"


def _largest(k: KernelBuilder, s: Split) -> str:
    names = "largest top_digit"
    _over_digits(k, s, names, lambda t, d: k.assign(t, fn("max", t, d)))
    return f"q becomes its largest digit in base {s.base}"


def _small_digits(k: KernelBuilder, s: Split) -> str:
    below = k.draw.value.integer(2, s.base - 1)

    def each(total: Var, digit: Expr) -> None:
        with k.if_(digit < below):
            k.augment(total, "add", 1)

    _over_digits(k, s, ("small", "hits"), each)
    return f"q becomes how many of its digits in base {s.base} are below {below}"


def _checksum(k: KernelBuilder, s: Split) -> str:
    factor, modulus = k.draw.value.integer(2, 6), k.draw.value.integer(11, 23)
    names = "check checksum"
    _over_digits(k, s, names, lambda t, d: k.assign(t, (t * factor + d) % modulus))
    start = f"q becomes a checksum c: from c = 0, c = ({factor} * c + d) % {modulus}"
    return f"{start} for each digit d in base {s.base}, lowest first"


def _root(k: KernelBuilder, s: Split) -> str:
    with k.while_(s.q >= s.base):
        k.assign(s.q, s.q // s.base + s.q % s.base)
    return f"while q >= {s.base}, q = q // {s.base} + q % {s.base}"


QUOTIENT_STEPS: dict[str, Step] = {
    "digit_sum": _digit_sum,
    "reverse": _reverse,
    "largest": _largest,
    "small_digits": _small_digits,
    "checksum": _checksum,
    "root": _root,
}


def _round_up(k: KernelBuilder, s: Split) -> str:
    half = s.base // 2
    with k.if_(s.r >= half):
        k.augment(s.q, "add", 1)
    return f"where r >= {half}, q grows by 1"


def _exchange(k: KernelBuilder, s: Split) -> str:
    with k.if_(s.r > s.q):
        held = k.let("held spare", s.q)
        k.assign(s.q, s.r)
        k.assign(s.r, held)
    return "where r > q, the two are exchanged"


LAST_STEPS: dict[str, Step] = {"round_up": _round_up, "exchange": _exchange}


@idiom
def integer_split(k: KernelBuilder, level: int) -> Title:
    """Quotient and remainder, at higher levels with digit loops, checksums and carries."""
    shape, value = k.draw.shape, k.draw.value
    type_ = shape.weighted(_TYPES)
    n, top = k.size("n", 48, 96), 120 if type_.bits == 8 else 50_000
    ticks = k.array("ticks counts numbers stamps", type_, n, low=0, high=top)
    number, text = _number(k, ticks, n, top)
    (i,) = k.thread(n)
    base = value.integer(3, 60 if level <= 2 and type_.bits > 8 else 12)
    if level == 1:
        return _single(k, type_, number(i), text, base, i)
    whole = k.out("quotient major blocks", type_, n)
    part = k.out("remainder minor offsets", type_, n)
    t = k.let("t tick number", number(i))
    quotient = k.let("q whole", t // base)
    split = Split(quotient, k.let("r rest", t % base), type_, base)
    steps = [step(k, split) for step in _chosen(k, level)]
    k.store(whole, i, split.q)
    k.store(part, i, split.r)
    done = f"Divide {text} by {base} into quotient q and remainder r"
    if steps:
        order = " in this order: " if len(steps) > 1 else " "
        done += f", then{order}{'; '.join(steps)}"
    done += f". Store q in {whole.name} and r in {part.name}."
    return Title(k.name(f"split_numbers split_{ticks.name} divide_with_rest"), done)


def _number(k: KernelBuilder, ticks: Var, n: str, top: int) -> tuple[Callable[[Var], Expr], str]:
    """The number that is split, by thread index: an element, or a sum with another or a literal."""
    form = k.draw.shape.weighted({"plain": 3, "sum": 3, "late": 4})
    if form == "plain":
        return lambda i: ticks[i], ticks.name
    if form == "late":
        offset = k.draw.value.integer(1, 99)
        return lambda i: ticks[i] + offset, f"({ticks.name} + {offset})"
    assert isinstance(ticks.type, Array)
    more = k.array("increments elapsed added", ticks.type.element, n, low=0, high=top)
    return lambda i: ticks[i] + more[i], f"({ticks.name} + {more.name})"


def _chosen(k: KernelBuilder, level: int) -> list[Step]:
    """The steps of a level, in the order in which they are done."""
    shape = k.draw.shape
    chosen = []
    if level >= 4 or (level == 3 and shape.chance(0.5)):
        chosen.append(QUOTIENT_STEPS[shape.choice(sorted(QUOTIENT_STEPS))])
    if level >= 3 or shape.chance(0.5):
        chosen.append(REMAINDER_STEPS[shape.choice(sorted(REMAINDER_STEPS))])
    chosen = shape.sample(chosen, len(chosen))
    if level >= 5:
        chosen.append(LAST_STEPS[shape.choice(sorted(LAST_STEPS))])
    return chosen


def _single(k: KernelBuilder, type_: Scalar, number: Expr, text: str, base: int, i: Var) -> Title:
    """One division, or one field between two."""
    out = k.out("out result parts", type_, "n")
    second = k.draw.value.integer(3, 9)
    form = k.draw.shape.choice(("quotient", "remainder", "field"))
    values = {
        "quotient": number // base,
        "remainder": number % base,
        "field": number // base % second,
    }
    what = {
        "quotient": f"{text} divided by {base}, rounded down",
        "remainder": f"the remainder of {text} divided by {base}",
        "field": f"the quotient of {text} by {base}, modulo {second}",
    }
    k.store(out, i, values[form])
    names = {
        "quotient": ("whole_parts", "floor_divide"),
        "remainder": ("remainders", "wrap_numbers"),
        "field": ("middle_fields", "extract_field"),
    }
    return Title(k.name(*names[form]), f"Compute {what[form]}.")
