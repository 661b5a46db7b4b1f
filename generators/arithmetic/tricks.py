"""Tricks on the bits of a word: counts, parity, reversal, lowest and highest bits, Gray code."""

from __future__ import annotations

from generators.arithmetic.parts import (
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    Grid,
    elements,
    grid,
    local,
)
from generators.arithmetic.words import TRICKS, Trick, scalar
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import BOOL, Scalar
from generators.program.expr import Expr


@idiom
def bit_tricks(k: KernelBuilder, level: int) -> Title:
    """Classic manipulations of one word, of two, with a mask; several outputs at higher levels."""
    shape = k.draw.shape
    type_ = shape.weighted({UINT32: 5, UINT64: 3, UINT16: 2, UINT8: 2})
    g = grid(k, {1: 3, 2: 2, 3: 1})
    word, text = _word(k, level, g, type_)
    known = [n for n, t in TRICKS.items() if t.bits <= type_.bits and (t.simple or level > 1)]
    if level >= 3:
        known = [n for n in known if not TRICKS[n].simple] + ["trailing", "edges"]
    chosen = shape.sample(sorted(known), 1 if level < 3 else 2 if level < 5 else 3)
    done = []
    for name in chosen:
        trick = TRICKS[name]
        value = _applied(k, level, trick, word)
        out = k.out(tuple(f"{n}_out" for n in trick.names), scalar(value), g.sizes)
        k.store(out, g.at, value)
        done.append(f"{out.name} gets {trick.text.format(text)}.")
    if level >= 4 and shape.chance(0.6):
        done.append(_tested(k, g, word, text))
    return Title(k.name(*TRICKS[chosen[0]].names), " ".join(done))


def _applied(k: KernelBuilder, level: int, trick: Trick, word: Expr) -> Expr:
    if level >= 3 and not trick.simple and k.draw.shape.chance(0.7):
        name = helper(k, trick.names, [("x", word.type)], trick.write)
        return k.call(name, word)
    return trick.write(k, word)


def _tested(k: KernelBuilder, g: Grid, word: Expr, text: str) -> str:
    """Whether one bit of the word is set, as a bool."""
    out = k.out(("is_set", "flagged", "bit_is_set"), BOOL, g.sizes)
    if k.draw.shape.chance(0.5):
        bit = k.draw.value.integer(0, 4)
        k.store(out, g.at, fn("ne", (word >> bit) & 1, 0))
        return f"{out.name} says whether bit {bit} of {text} is set."
    pattern = k.scalar(("pattern", "required"), scalar(word), 1, 3)
    k.store(out, g.at, fn("eq", word & pattern, pattern))
    return f"{out.name} says whether all bits of {pattern.name} are set in {text}."


def _word(k: KernelBuilder, level: int, g: Grid, type_: Scalar) -> tuple[Expr, str]:
    """The word that tricks work on: an element, masked, shifted, combined with another."""
    top = 2**type_.bits - 1
    first = (("words", "codes", "keys", "flags"), type_, 1, top)
    form = k.draw.shape.choice(("plain", "masked", "xor", "and", "or", "shifted", "inverted"))
    names = ("x", "word", "v0")
    if form in ("xor", "and", "or"):
        second = (("others", "masks", "reference"), type_, 1, top)
        a, b = elements(k, [first, second], g, ("Entry", "Pair"), 0.2 if level > 1 else 0.1)
        sign = {"xor": "^", "and": "&", "or": "|"}[form]
        value = fn(f"bit_{form}", a.value, b.value)
        return k.let(names, value), f"({a.text} {sign} {b.text})"
    (a,) = elements(k, [first], g, ("Entry",), 0.0)
    if form == "masked":
        mask = k.scalar(("mask", "keep"), type_, top // 3, top)
        return k.let(names, a.value & mask), f"({a.text} & {mask.name})"
    if form == "shifted":
        by = k.draw.value.integer(1, 3)
        return k.let(names, a.value >> by), f"({a.text} >> {by})"
    if form == "inverted":
        return k.let(names, ~a.value), f"~{a.text}"
    return local(k, names, a.value), a.text
