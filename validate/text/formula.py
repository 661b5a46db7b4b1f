"""C expressions over a row's size symbols: how a launch is said.

Whole numbers behave as C's (division towards zero), but do not overflow; a cast to a type wraps as
that type does. `ceil(n / 256.0)` and `cdiv(n, 256)` are known, as are sizes of CUDA's types.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from validate.text.lexer import NUMBER, WORD, Token, Unreadable, lex, significant

MOST_CHARACTERS = 300
_MOST_DEPTH = 40
_MOST_SHIFT = 62
_MOST_BITS = 256

Number = int | float

_SCALARS = {
    **dict.fromkeys(("bool", "uint8_t", "uchar", "uint8"), (1, False)),
    **dict.fromkeys(("char", "int8_t", "int8"), (1, True)),
    **dict.fromkeys(("uint16_t", "ushort"), (2, False)),
    **dict.fromkeys(("short", "int16_t"), (2, True)),
    **dict.fromkeys(("unsigned", "uint", "uint32_t"), (4, False)),
    **dict.fromkeys(("int", "signed", "int32_t"), (4, True)),
    **dict.fromkeys(("size_t", "uint64_t", "uintptr_t", "ulong"), (8, False)),
    **dict.fromkeys(("long", "int64_t", "ptrdiff_t", "ssize_t", "intptr_t"), (8, True)),
}
_HALVES = {"half": 2, "__half": 2, "__nv_bfloat16": 2, "nv_bfloat16": 2, "bfloat16": 2}
_FLOATS = {"float": 4, "double": 8}
_VECTOR = re.compile(r"(u?)(char|short|int|long|longlong|float|double)([1-4])")
_VECTORS = {"char": 1, "short": 2, "int": 4, "long": 8, "longlong": 8, "float": 4, "double": 8}
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uU]?[lL]{0,2}|[lL]{1,2}[uU])")
_FLOAT = re.compile(r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fF]?")
_QUALIFIERS = frozenset({"const", "std", "cuda", "volatile"})
_ROUND_UP = frozenset(
    {"cdiv", "ceildiv", "divup", "divceil", "idivup", "divideup", "divideroundup", "divroundup"}
    | {"ceildivide", "ceildivision", "roundupdiv", "divideceil", "ceilingdiv", "ceilingdivide"}
)
_ONE: dict[str, Callable[[Number], Number]] = {
    **dict.fromkeys(("ceil", "ceilf"), lambda x: float(math.ceil(x))),
    **dict.fromkeys(("floor", "floorf"), lambda x: float(math.floor(x))),
    **dict.fromkeys(("abs",), abs),
}
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LEVEL = {mark: level for level, marks in enumerate(_LEVELS) for mark in marks}
KNOWN_WORDS = frozenset(
    {*_SCALARS, *_HALVES, *_FLOATS, *_QUALIFIERS, *_ONE, "min", "max", "sizeof"}
) | frozenset({"static_cast", "true", "false", "fmin", "fmax", "fminf", "fmaxf"})
"""Words that mean the same in every formula; so do `is_round_up` and `bytes_of`."""


def is_round_up(name: str) -> bool:
    """Whether a function of that name is a quotient rounded up, by its name."""
    return name.replace("_", "").lower() in _ROUND_UP


def bytes_of(words: tuple[str, ...]) -> int | None:
    """Bytes of a type of CUDA's, of its words; None of another."""
    names = [word for word in words if word not in _QUALIFIERS]
    if names and names[-1] == "*":
        return 8
    if len(names) == 1:
        (name,) = names
        if name in _HALVES or name in _FLOATS:
            return {**_HALVES, **_FLOATS}[name]
        if name in ("half2", "__half2", "__nv_bfloat162", "nv_bfloat162"):
            return 4
        if match := _VECTOR.fullmatch(name):
            return _VECTORS[match[2]] * int(match[3])
    found = _integer_type(names)
    return None if found is None else found[0]


def _integer_type(names: list[str]) -> tuple[int, bool] | None:
    """Bytes and whether it is signed."""
    if not names or any(name not in _SCALARS for name in names):
        return None
    if len(names) == 1:
        return _SCALARS[names[0]]
    signed = "unsigned" not in names
    for name in ("char", "short", "long"):
        if name in names:
            return _SCALARS[name][0], signed
    return 4, signed


def evaluate(formula: str | int, symbols: Mapping[str, int]) -> int:
    """The value of a formula at these sizes.

    Raises ValueError, with one line, for what is no formula, has names that are no symbols, divides
    by zero, is no whole number at its end, or is too long or too large.
    """
    if type(formula) is int:
        return formula
    if not isinstance(formula, str):
        raise ValueError(f"formula {ascii(formula)[:40]}: is neither text nor a whole number")
    if len(formula) > MOST_CHARACTERS:
        raise ValueError(f"a formula of more than {MOST_CHARACTERS} characters")
    try:
        found = _Reader(significant(lex(formula)), symbols).whole()
        if isinstance(found, float) and not found.is_integer():
            raise ValueError(f"{found:g} is no whole number")
        return int(found)
    except Unreadable as error:
        raise ValueError(f"formula {formula!a}: {error} cannot stand there") from None
    except (ValueError, OverflowError) as error:
        raise ValueError(f"formula {formula!a}: {error}") from None


class _Reader:
    """Reads and computes at once; what is not chosen (`live` is 0) may divide by zero."""

    def __init__(self, tokens: list[Token], symbols: Mapping[str, int]) -> None:
        self.tokens = tokens
        self.symbols = symbols
        self.at = 0
        self.depth = 0
        self.idle = 0

    def whole(self) -> Number:
        found = self.choice()
        if self.at < len(self.tokens):
            raise ValueError(f"{self.peek()!r} is not expected")
        return found

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.tokens[place].text if place < len(self.tokens) else ""

    def take(self, text: str) -> None:
        if self.peek() != text:
            raise ValueError(
                f"{text!r} is missing" + (f" before {self.peek()!r}" * bool(self.peek()))
            )
        self.at += 1

    def choice(self) -> Number:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise ValueError("is nested too deep")
        found = self.binary(0)
        if self.peek() == "?":
            self.at += 1
            first = self.unless(not found, self.choice)
            self.take(":")
            second = self.unless(bool(found), self.choice)
            found = first if found else second
        self.depth -= 1
        return found

    def unless(self, idle: bool, read: Callable[[], Number]) -> Number:
        self.idle += idle
        found = read()
        self.idle -= idle
        return found

    def binary(self, level: int) -> Number:
        """Operators that bind at least as strongly as `level`."""
        left = self.unary()
        while (mine := _LEVEL.get(self.peek(), -1)) >= level:
            mark = self.peek()
            self.at += 1
            short = (mark == "&&" and not left) or (mark == "||" and bool(left))
            right = self.unless(short, lambda: self.binary(mine + 1))
            left = _small(self.combined(mark, left, right))
        return left

    def combined(self, mark: str, left: Number, right: Number) -> Number:
        if mark in _COMPARE:
            return int(_COMPARE[mark](left, right))
        if mark in ("/", "%") and not right:
            if self.idle:
                return 0
            raise ValueError("division by zero")
        if isinstance(left, int) and isinstance(right, int):
            if mark in ("<<", ">>") and not 0 <= right <= _MOST_SHIFT:
                if self.idle:
                    return 0
                raise ValueError(f"a shift by {right}")
            return _WHOLE[mark](left, right)
        if mark not in _REAL:
            raise ValueError(f"{mark!r} of a number with a point")
        return _REAL[mark](left, right)

    def unary(self) -> Number:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise ValueError("is nested too deep")
        found = self.signed()
        self.depth -= 1
        return found

    def signed(self) -> Number:
        mark = self.peek()
        if mark in ("-", "+", "!", "~"):
            self.at += 1
            value = self.unary()
            if mark == "~" and isinstance(value, float):
                raise ValueError("'~' of a number with a point")
            if mark == "~":
                return ~int(value)
            return {"-": -value, "+": value, "!": int(not value)}[mark]
        if mark == "(":
            self.at += 1
            if (words := self.type_until(")")) is not None:
                return _cast(words, self.unary())
            found = self.choice()
            self.take(")")
            return found
        return self.primary()

    def type_until(self, end: str) -> tuple[str, ...] | None:
        """The words of a type up to a mark, which is taken too; None when there is no type."""
        place, words = self.at, []
        while place < len(self.tokens) and (text := self.tokens[place].text) != end:
            if text != "::":
                words.append(text)
            place += 1
            if text in self.symbols or len(words) > 6:
                return None
        if place == len(self.tokens) or bytes_of(tuple(words)) is None:
            return None
        self.at = place + 1
        return tuple(words)

    def primary(self) -> Number:
        if self.at == len(self.tokens):
            raise ValueError("ends too early")
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == NUMBER:
            return _number(text)
        if kind != WORD:
            raise ValueError(f"{text!r} is not expected")
        if text in self.symbols:
            return self.symbols[text]
        if text in ("std", "cuda") and self.peek() == "::":
            self.at += 1
            return self.primary()
        if text in ("true", "false"):
            return int(text == "true")
        return self.call(text)

    def call(self, name: str) -> Number:
        if name == "sizeof":
            self.take("(")
            if (words := self.type_until(")")) is None:
                raise ValueError("sizeof of something else than a type of CUDA's")
            return bytes_of(words) or 0
        explicit: tuple[str, ...] | None = None
        if self.peek() == "<":
            self.at += 1
            if (explicit := self.type_until(">")) is None:
                raise ValueError(f"{name}<> of something else than a type of CUDA's")
        if self.peek() != "(":
            raise ValueError(f"{name!r} is no size")
        given = self.arguments()
        if name == "static_cast" and explicit is not None and len(given) == 1:
            return _cast(explicit, given[0])
        if explicit is not None:
            given = [_cast(explicit, value) for value in given]
        return self.function(name, given)

    def arguments(self) -> list[Number]:
        self.take("(")
        given = [self.choice()]
        while self.peek() == ",":
            self.at += 1
            given.append(self.choice())
        self.take(")")
        return given

    def function(self, name: str, given: list[Number]) -> Number:
        if len(given) == 1 and name in _ONE:
            return _ONE[name](given[0])
        if len(given) == 1 and bytes_of((name,)) is not None:
            return _cast((name,), given[0])
        if len(given) == 2 and name in ("min", "fmin", "fminf"):
            return min(given)
        if len(given) == 2 and name in ("max", "fmax", "fmaxf"):
            return max(given)
        if len(given) == 2 and is_round_up(name):
            above, below = given
            return self.combined(
                "/", self.combined("+", above, self.combined("-", below, 1)), below
            )
        raise ValueError(f"{name!r} is no function of a formula")


_COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}
_REAL: dict[str, Callable[[Number, Number], Number]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


def _quotient(left: int, right: int) -> int:
    found = abs(left) // abs(right)
    return found if (left < 0) == (right < 0) else -found


_WHOLE: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b),
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def _small(value: Number) -> Number:
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError("becomes too large")
    return value


def _cast(words: tuple[str, ...], value: Number) -> Number:
    names = [word for word in words if word not in _QUALIFIERS]
    if names == ["bool"]:
        return int(bool(value))
    found = _integer_type(names)
    if found is None:
        if len(names) == 1 and names[0] in _FLOATS:
            return float(value)
        raise ValueError(f"a cast to {' '.join(words)}")
    bits, signed = 8 * found[0], found[1]
    wrapped = int(value) & ((1 << bits) - 1)
    return wrapped - (1 << bits) if signed and wrapped >> (bits - 1) else wrapped


def _number(text: str) -> Number:
    text = text.replace("'", "")
    if match := _INTEGER.fullmatch(text):
        digits = match[1]
        if digits[:2].lower() in ("0x", "0b"):
            return int(_small(int(digits, 0)))
        if len(digits) > 80:
            raise ValueError("becomes too large")
        if digits[0] != "0":
            return int(digits)
        if not set(digits) & {"8", "9"}:
            return int(digits, 8)
    elif match := _FLOAT.fullmatch(text):
        return float(match[1])
    raise ValueError(f"{text!r} is no number")
