"""Mutants of what plain CUDA computes: operators, operands, functions, constants, casts, indices.

A rule takes the body of a function and yields edits of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from validate.mutants.plain.tables import (
    ATOMICS,
    ATOMICS_SWAPPED,
    BITS_OF_FLOATS,
    COMPARISONS,
    EXTREMES,
    FUNCTIONS,
    LEFT_OUT,
    NARROWER,
    NOT_COMMUTING,
    OPPOSITE,
    ORDERED_ARGUMENTS,
    SWAPPED,
    WITH_TIE,
)
from validate.mutants.plain.text import Code


class Edit(NamedTuple):
    """Characters from `start` to before `end` become `text`."""

    start: int
    end: int
    text: str


Rule = Callable[[Code], Iterator[Edit]]

_COMPOUND = ("+=", "-=", "*=", "/=", "&=", "|=", "^=", "<<=", ">>=")
_COMPONENTS = {"x": "y", "y": "x", "z": "y", "w": "z"}


def replaced(code: Code, first: int, end: int, text: str) -> Edit:
    """The edit that puts a text in the place of tokens."""
    return Edit(code.tokens[first].start, code.tokens[end - 1].end, text)


def bracketed(code: Code, first: int, end: int) -> str:
    """The text of an operand, in brackets where it is more than a name."""
    text = code.text(first, end)
    return text if end - first == 1 else f"({text})"


def operators(code: Code) -> Iterator[tuple[int, int, int]]:
    """Each binary operator with the start of its left operand and the end of its right."""
    for at in range(len(code.tokens)):
        if code.is_binary(at):
            yield code.left_of(at), at, code.right_of(at)


def operator_swapped(code: Code) -> Iterator[Edit]:
    """`+` for `-`, `*` for `/` (whole numbers: `+`), `&` for `|`, `&&` for `||`, `+=` for `-=`."""
    for first, at, end in operators(code):
        sign = code.at(at)
        if sign in SWAPPED:
            yield replaced(code, at, at + 1, _other(code, sign, first, at, end))
    for at, token in enumerate(code.tokens):
        if token.text in _COMPOUND:
            sign = _other(code, token.text[:-1], *assigned(code, at))
            yield replaced(code, at, at + 1, f"{sign}=")
        elif token.text in ("++", "--"):
            yield replaced(code, at, at + 1, "--" if token.text == "++" else "++")
    for at, args in code.calls():
        if code.at(at) in ATOMICS_SWAPPED:
            yield replaced(code, at, at + 1, ATOMICS_SWAPPED[code.at(at)])
        elif code.at(at) == "atomicAdd" and len(args) == 2:
            yield replaced(code, *args[1], f"-({code.text(*args[1])})")


def _other(code: Code, sign: str, first: int, at: int, end: int) -> str:
    if sign == "*" and code.is_composite(first, at) and code.is_composite(at + 1, end):
        return "+"
    if sign == "*" and code.is_composite(at + 1, end):
        # There is no scalar divided by a vector.
        return "* 2 *"
    if sign == "*" and _is_sign(code.text(at + 1, end)):
        # Divided by a sign is multiplied by it.
        return "+"
    return "+" if sign == "*" and not code.is_float(first, end) else SWAPPED[sign]


def _is_sign(text: str) -> bool:
    return re.search(r"\? -1\.0f? : 1\.0f?\)?$", text) is not None


def operand_swapped(code: Code) -> Iterator[Edit]:
    """The two operands of an operator, of a function or of `? :` exchanged, where order matters."""
    for first, at, end in operators(code):
        sides = code.text(first, at), code.text(at + 1, end)
        mixed = code.is_composite(first, at) != code.is_composite(at + 1, end)
        if code.at(at) in NOT_COMMUTING and sides[0] != sides[1] and not mixed:
            left, right = bracketed(code, at + 1, end), bracketed(code, first, at)
            yield replaced(code, first, end, f"{left} {code.at(at)} {right}")
    for at, args in code.calls():
        if code.at(at) in ORDERED_ARGUMENTS and len(args) == 2:
            yield replaced(code, args[0][0], args[1][1], _exchanged(code, args, ", "))
    for at, token in enumerate(code.tokens):
        if token.text == "?":
            yes, no = code.choices(at)
            yield replaced(code, yes[0], no[1], _exchanged(code, [yes, no], " : "))


def _exchanged(code: Code, parts: list[tuple[int, int]], between: str) -> str:
    return f"{code.text(*parts[1])}{between}{code.text(*parts[0])}"


def assigned(code: Code, at: int) -> tuple[int, int, int]:
    """An assignment's sign with the start of its target and the end of its value."""
    first, end = at, at
    while code.at(first - 1) not in (";", "{", "}", "else", "(", ")"):
        first = code.pair[first - 1] if code.at(first - 1) == "]" else first - 1
    while code.at(end) not in (";", ")", ""):
        end = code.pair[end] + 1 if code.at(end) in ("(", "[") else end + 1
    return first, at, end


def function_swapped(code: Code) -> Iterator[Edit]:
    """A function's neighbour in its place: `cosf` for `sinf`; `fabsf` is left out."""
    for at, _ in code.calls():
        name = code.at(at)
        other = FUNCTIONS.get(name, "")
        own = name in code.kinds.returned
        if other and own == (other in code.kinds.returned):
            yield replaced(code, at, at + 1, other)
        elif name in LEFT_OUT:
            yield replaced(code, at, at + 1, "")


def min_for_max(code: Code) -> Iterator[Edit]:
    """`min` for `max`, of floats, of vectors and of atomics."""
    for at, _ in code.calls():
        other = EXTREMES.get(code.at(at), "")
        if other and (code.at(at) not in code.kinds.returned or other in code.kinds.returned):
            yield replaced(code, at, at + 1, other)


def constant_nudged(code: Code) -> Iterator[Edit]:
    """A float constant 1 % larger (zero becomes 1), a whole one larger by 1."""
    for at, token in enumerate(code.tokens):
        if token.kind != "number" or code.at(at - 2) in BITS_OF_FLOATS:
            continue
        # An index alone is `index_shifted`'s.
        alone = code.at(at - 1) == "[" and code.at(at + 1) == "]"
        if alone or "__shared__" in code.text(*code.statement(at)):
            continue
        digits = token.text.rstrip("f" if token.is_real else "ul")
        suffix = token.text[len(digits) :]
        if token.is_real:
            nudged = repr(float(digits) * 1.01) if float(digits) else "1.0"
        elif digits.startswith("0x"):
            nudged = hex(int(digits, 16) ^ 1)
        else:
            nudged = str(int(digits) + 1)
        yield replaced(code, at, at + 1, f"{nudged}{suffix}")


def index_shifted(code: Code) -> Iterator[Edit]:
    """An index larger by 1 (a literal one smaller, where it can be); `.x` for `.y` and so on."""
    for at, token in enumerate(code.tokens):
        if token.text == "[" and "__shared__" not in code.text(*code.statement(at)):
            first, end = at + 1, code.pair[at]
            if end - first == 1 and code.tokens[first].kind == "number":
                value = int(code.at(first).rstrip("u"))
                yield replaced(code, first, end, str(value - 1 if value else 1))
            else:
                yield replaced(code, first, end, f"{code.text(first, end)} + 1")
        elif token.text in _COMPONENTS and code.at(at - 1) in (".", "->"):
            yield replaced(code, at, at + 1, _COMPONENTS[token.text])


def comparison_flipped(code: Code) -> Iterator[Edit]:
    """`<` to `>`, `==` to `!=`; of whole numbers also with or without the tie."""
    for first, at, end in operators(code):
        sign = code.at(at)
        if sign in COMPARISONS:
            yield replaced(code, at, at + 1, OPPOSITE[sign])
            if sign in WITH_TIE and not code.is_float(first, end):
                yield replaced(code, at, at + 1, WITH_TIE[sign])


def float_tie_moved(code: Code) -> Iterator[Edit]:
    """`<` for `<=` and so on between floats: only equal operands tell."""
    for first, at, end in operators(code):
        if code.at(at) in WITH_TIE and code.is_float(first, end):
            yield replaced(code, at, at + 1, WITH_TIE[code.at(at)])


def term_dropped(code: Code) -> Iterator[Edit]:
    """One operand alone; one argument of a minimum; a compound assignment left out."""
    for first, at, end in operators(code):
        if code.at(at) in COMPARISONS:
            continue
        left, right = code.is_composite(first, at), code.is_composite(at + 1, end)
        if left >= right:
            yield replaced(code, first, end, bracketed(code, first, at))
        if right >= left:
            yield replaced(code, first, end, bracketed(code, at + 1, end))
    for at, args in code.calls():
        if code.at(at) in EXTREMES and code.at(at) not in ATOMICS and len(args) == 2:
            for part in args:
                yield replaced(code, at, code.pair[at + 1] + 1, bracketed(code, *part))
    for at, token in enumerate(code.tokens):
        if token.text in _COMPOUND and code.around[at] == "{":
            yield replaced(code, *code.statement(at), ";")


def fma_operand(code: Code) -> Iterator[Edit]:
    """Of `fmaf(a, b, c)` the second and the third exchanged, or the third left out."""
    for at, args in code.calls():
        if code.at(at) in ("fma", "fmaf", "__fmaf_rn") and len(args) == 3:
            a, b, c = (code.text(*part) for part in args)
            whole = at, code.pair[at + 1] + 1
            yield replaced(code, *whole, f"{code.at(at)}({a}, {c}, {b})")
            yield replaced(code, *whole, f"{code.at(at)}({a}, {b}, 0)")


def cast_narrowed(code: Code) -> Iterator[Edit]:
    """A cast's value goes through the next narrower type; a float made of whole numbers: short."""
    for at, token in enumerate(code.tokens):
        name = token.text[1:-1]
        if token.kind != "cast" or not token.text.startswith("("):
            continue
        narrow = NARROWER.get(name, "")
        if name == "float" and not code.is_float(at + 1, operand_end(code, at + 1)):
            narrow = "short"
        if narrow:
            yield replaced(code, at, at + 1, f"{token.text}({narrow})")


def operand_end(code: Code, at: int) -> int:
    """Where the operand of a unary operator or a cast has ended."""
    while code.at(at) in ("-", "~", "!", "*") or code.tokens[at].kind == "cast":
        at += 1
    at = code.pair[at] + 1 if code.at(at) == "(" else at + 1
    while code.at(at) in ("(", "[", ".", "->"):
        at = code.pair[at] + 1 if code.at(at) in ("(", "[") else at + 2
    return at
