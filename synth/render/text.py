"""Literals, docstrings, signatures and bodies: what a renderer asks about text and trees."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import lru_cache

from generators.program import expr, ir
from synth.render.breaks import TAB, WIDTH
from synth.render.doc import Doc, Prec, binary


@lru_cache(maxsize=4096)
def number(text: str) -> Doc:
    """A number as a person writes it; a negative one binds like a minus sign."""
    return Doc(text, Prec.UNARY if text.startswith("-") else Prec.TIGHT)


_ROUND = re.compile(r"(-?)(\d{1,2}?)(0{6,})\.0")
"""A float of so many zeros that people give their count."""
_POWER = re.compile(r"e([+-]?)0*(\d+)$")


@lru_cache(maxsize=4096)
def float_text(value: str) -> str:
    """A decimal text as Python and C++ read a float and people write it: ``0.5``, ``1e-6``,
    ``1e9``."""
    if found := _ROUND.fullmatch(value):
        sign, digits, zeros = found.groups()
        value = f"{sign}{'.'.join(digits)}e{len(digits) - 1 + len(zeros)}"
    if "e" in value:
        return _POWER.sub(lambda m: f"e{'-' * (m[1] == '-')}{m[2]}", value)
    return value if "." in value or "n" in value else f"{value}.0"


def constant_text(value: bool | int | str, *, unsigned: bool = False, bits: bool = False) -> str:
    """A literal's text. ``unsigned`` and ``bits`` as :func:`int_text` has them."""
    if isinstance(value, bool):
        return str(value)
    return float_text(value) if isinstance(value, str) else int_text(value, unsigned, bits)


_MASK = re.compile(r"[137]?F+|F[0F]+|A+|C+|5+|3+")
"""Hexadecimal digits of what people read as a pattern of bits."""
_SPREAD = frozenset(
    ("30000FF", "300F00F", "30C30C3", "9249249", "100F", "10C3", "1249", "FF00FF", "F0F0F0F")
)
"""Masks of numbers whose bits are spread over two or three axes."""
_DIGIT, _BYTE, _MIXER, _ROUND_DECIMAL = 9, 255, 1 << 30, 1000


def int_text(value: int, unsigned: bool = False, bits: bool = False) -> str:
    """An integer in decimals, or in hexadecimal where its bits are what matters.

    That is so of an operand of a bitwise op (``bits``), of a pattern, and of what hashes multiply
    with: large unsigned numbers that are not round. Both languages of a row ask here, so that no
    reader has to convert.
    """
    digits = f"{value:X}"
    pattern = value > _BYTE and (_MASK.fullmatch(digits) or digits in _SPREAD)
    mixer = unsigned and value >= _MIXER and value % _ROUND_DECIMAL
    return f"0x{digits}" if pattern or mixer or (bits and value > _DIGIT) else str(value)


_PI_MULTIPLES = {repr(factor * math.pi): factor for factor in (0.5, 1.0, 2.0, 4.0)}
"""Only powers of two: their product with a rounded pi is the rounded multiple, bit for bit."""


def pi_text(value: bool | int | str, module: str) -> Doc | None:
    """``module.pi``, or ``2.0 * module.pi``, for a literal with all the digits of a multiple."""
    factor = _PI_MULTIPLES.get(value) if isinstance(value, str) else None
    if factor is None:
        return None
    pi = Doc(f"{module}.pi")
    return pi if factor == 1.0 else binary("*", Prec.MUL, Doc(repr(factor)), pi)


def is_literal(value: expr.Expr) -> bool:
    """Whether the value is a bare literal, with or without a minus sign."""
    if isinstance(value, expr.Op) and value.op == "neg":
        value = value.args[0]
    return isinstance(value, expr.Const)


def docstring(doc: str, depth: int) -> list[str]:
    """The lines of a docstring; none for an empty one."""
    if not doc:
        return []
    pad = " " * (depth * TAB)
    if "\n" not in doc and len(pad) + len(doc) + 6 <= WIDTH:
        return [f'{pad}"""{doc}"""']
    first, *rest = [
        line
        for part in doc.strip().split("\n")
        for line in textwrap.wrap(part, WIDTH - len(pad) - 6) or [""]
    ]
    return [f'{pad}"""{first}', *[f"{pad}{line}".rstrip() for line in rest], f'{pad}"""']


def signature(head: str, params: Sequence[str], end: str) -> list[str]:
    """``head(params)end`` on one line if it fits, else with one parameter a line."""
    line = f"{head}({', '.join(params)}){end}"
    if len(line) <= WIDTH:
        return [line]
    pad = " " * (len(head) - len(head.lstrip()))
    return [f"{head}(", *[f"{pad}    {p}," for p in params], f"{pad}){end}"]


def nested(body: ir.Body) -> Iterator[ir.Body]:
    """The bodies directly inside the statements of a body."""
    for statement in body:
        if isinstance(statement, ir.If):
            for _, branch in statement.branches:
                yield branch
            yield statement.orelse
        elif isinstance(statement, ir.For | ir.While):
            yield statement.body


def statements(body: ir.Body) -> Iterator[ir.Statement]:
    """All statements of a body, those in nested bodies too."""
    yield from body
    for inner in nested(body):
        yield from statements(inner)


def changed(body: ir.Body) -> set[str]:
    """Variables that a body assigns."""
    found: set[str] = set()
    for s in statements(body):
        if isinstance(s, ir.Assign | ir.AugAssign | ir.Sample):
            found.add(s.name)
        if isinstance(s, ir.Sample):
            found.add(s.state.name)
    return found


def names_of(program: ir.Program) -> set[str]:
    """What a program names itself; ``ValueError`` where that hides what the text needs."""
    kernel, functions = program.kernel, program.functions
    names = {kernel.name, *(f.name for f in functions), *(p.name for p in kernel.params)}
    names |= changed(kernel.body).union(*(changed(f.body) for f in functions))
    names.update(p.name for f in functions for p in f.params)
    if hidden := names & ir.RESERVED:
        raise ValueError(f"a program must not name anything {', '.join(sorted(hidden))}")
    return names
