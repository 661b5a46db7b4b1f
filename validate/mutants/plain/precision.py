"""Mutants of how precisely plain CUDA computes: narrow accumulators, fast functions, float for
double.

Another order of a sum is none of them: that is what whoever writes a reduction does.
"""

from __future__ import annotations

from collections.abc import Iterator

from validate.mutants.plain.tables import ASSIGNMENTS, FAST
from validate.mutants.plain.text import Code
from validate.mutants.plain.values import Edit, bracketed, replaced

_ELEVEN_BITS = "0xffffe000"
"""Of a float, the sign, the exponent and as many bits of the fraction as a half has."""


def accumulator_narrowed(code: Code) -> Iterator[Edit]:
    """What a loop adds up keeps, at each turn, no more bits than the next narrower type has."""
    inside = _inside_loops(code)
    for at, token in enumerate(code.tokens):
        name = code.at(at - 1)
        type_ = code.types.get(name, "")
        if token.text not in ("+=", "-=") or at not in inside or code.at(at - 2) in (".", "->"):
            continue
        first, end = code.statement(at)
        total = f"{name} {token.text[0]} {bracketed(code, at + 1, end - 1)}"
        if type_ == "double":
            yield replaced(code, first, end, f"{name} = (float)({total});")
        elif type_ == "float":
            bits = f"__float_as_int({total}) & {_ELEVEN_BITS}"
            yield replaced(code, first, end, f"{name} = __int_as_float({bits});")


def _inside_loops(code: Code) -> set[int]:
    """The tokens of all bodies of loops."""
    found: set[int] = set()
    for at, token in enumerate(code.tokens):
        if token.text in ("for", "while") and code.at(at + 1) == "(":
            body = code.pair[at + 1] + 1
            end = code.pair[body] if code.at(body) == "{" else code.statement(body)[1]
            found.update(range(body, end))
    return found


def fast_function(code: Code) -> Iterator[Edit]:
    """`__sinf` for `sinf`, and the like."""
    for at, _ in code.calls():
        if code.at(at) in FAST and code.at(at) not in code.kinds.returned:
            yield replaced(code, at, at + 1, FAST[code.at(at)])


def float_for_double(code: Code) -> Iterator[Edit]:
    """What a variable of double is set to goes through a float."""
    for at, token in enumerate(code.tokens):
        name = code.at(at - 1)
        if token.text not in ASSIGNMENTS or code.types.get(name) != "double":
            continue
        if code.around[at] == "{" and token.text == "=":
            end = code.statement(at)[1] - 1
            if end > at + 2:
                yield replaced(code, at + 1, end, f"(float)({code.text(at + 1, end)})")
