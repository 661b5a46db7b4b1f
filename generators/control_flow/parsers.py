"""Small parsers over rows of codes."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import also, function_of
from generators.control_flow.params import with_struct
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op

_PARSERS = {
    "depth": "the largest nesting depth of opening (1) and closing (2) codes; -1, and the "
    "end of the row, at a closing code where nothing is open",
    "numbers": "how many groups of neighbouring digit codes (1 to 5) there are",
    "sum_fields": "the sum over fields, which codes above 7 separate, of field length squared",
    "words": "the length of the longest word of letter codes (1 to 5)",
    "escape": "how many codes count, where 9 escapes the next code and 0 ends the row",
    "commands": "a register: 1-3 add the code, 4 doubles, 5 clears, 6 stops, others do nothing",
    "checksum": "the sum of codes with every second one doubled (less 9 where above 9), modulo 10",
    "vowels": "the position after the third code of 3 or less, or where the row ends",
}


_NAMES = {
    "depth": (("depth", "open_count"), ("deepest", "max_depth")),
    "numbers": (("in_number", "inside"), ("groups", "num_groups")),
    "sum_fields": (("field_length", "width"), ("total", "acc")),
    "words": (("length", "word_length"), ("longest", "best")),
    "escape": (("escaped", "pending"), ("counted", "num_codes")),
    "commands": (("clears", "num_clears"), ("register", "accum")),
    "checksum": (("unused", "parity"), ("total", "checksum")),
    "vowels": (("low_codes", "seen"), ("position", "place")),
}
"""What the running state and the result of a parser are called."""


@idiom
@with_struct
def token_parser(k: KernelBuilder, level: int) -> Title:
    """Small parsers over rows of codes: nesting, fields, escapes, checksums, commands."""
    shape = k.draw.shape
    form = shape.choice(sorted(_PARSERS))
    type_ = Scalar(shape.weighted({"int32": 4, "uint8": 4, "int8": 2, "int16": 1, "uint16": 1}))
    rows, cols = k.size("rows", 40, 64), k.size("cols", 9, 14)
    codes = k.array(("codes", "tokens", "text", "bytes_in"), type_, (rows, cols), low=0, high=9)
    count: Expr = k.size_param(("num_cols", "max_length"), cols)
    lengths = (
        k.array(("lengths", "used"), INT32, rows, low=1, high=17) if shape.chance(0.5) else None
    )
    out = k.out(("out", "parsed", "result"), INT32, rows)
    share = 0.0 if level < 3 or lengths is None else 0.6
    other = also(k, share, ("consumed", "stopped_at"), INT32, rows)
    kinds = k.array(("row_kind", "encoding"), INT32, rows, low=0, high=3) if level >= 4 else None
    (row,) = k.thread(rows, names=(k.name("row", "r", "i"),))
    stop: Expr = count
    note = ""
    if kinds is not None:
        wanted = k.draw.value.integer(0, 2)
        skip = shape.choice(("eq", "ne"))
        with k.if_(fn(skip, kinds[row], wanted)):
            k.store(out, row, -1)
            if other is not None:
                k.store(other, row, 0)
            k.return_()
        is_ = "is" if skip == "eq" else "is not"
        note = f" Rows whose {kinds.name} {is_} {wanted} give -1."
    if lengths is not None:
        stop = k.let(("end", "stop"), fn("min", lengths[row], count))
        note += f" A row ends after {lengths.name} of its codes."
    running, kept = _NAMES[form]
    state = k.let(running, k.lift(0, INT32))
    best = k.let(kept, k.lift(0, INT32))
    pos = k.let(("pos", "j"), k.lift(0, INT32))
    ignored = (
        k.draw.value.choice((7, 8))
        if level >= 2 and form in ("depth", "numbers", "words", "commands")
        else None
    )
    tests = function_of(
        k,
        level,
        ("is_digit", "is_digit_code") if form == "numbers" else ("is_letter", "is_letter_code"),
        [("code", INT32)],
        lambda _, code: op("and", code >= 1, code <= 5),
        0.6 if form in ("numbers", "words") else 0.0,
    )
    with k.while_(pos < stop):
        code = k.let(("c", "code", "tok"), cast(codes[row, pos], INT32))
        k.augment(pos, "add", 1)
        if ignored is not None:
            with k.if_(fn("eq", code, ignored)):
                k.continue_()
            note = f" Code {ignored} is skipped.{note}" if "skipped" not in note else note
        _parse(k, form, code, (state, best, pos), tests)
    result: Expr = {"sum_fields": best + state * state, "checksum": best % 10}.get(form, best)
    k.store(out, row, result)
    if other is not None:
        k.store(other, row, pos)
        note += f" {other.name} gets how many codes were read."
    return Title(
        k.name(f"parse_{form}", f"{form}_of_rows", "parse_tokens"),
        f"For each row of {codes.name}: {_PARSERS[form]}.{note}",
    )


def _parse(
    k: KernelBuilder,
    form: str,
    c: Var,
    state: tuple[Var, Var, Var],
    in_range: Callable[..., Expr],
) -> None:
    value, best, pos = state
    if form == "depth":
        with k.if_(fn("eq", c, 1)):
            k.augment(value, "add", 1)
            k.assign(best, fn("max", best, value))
        with k.elif_(fn("eq", c, 2)):
            k.augment(value, "sub", 1)
            with k.if_(value < 0):
                k.assign(best, -1)
                k.break_()
    elif form == "numbers":
        with k.if_(in_range(c)):
            with k.if_(fn("eq", value, 0)):
                k.augment(best, "add", 1)
            k.assign(value, 1)
        with k.else_():
            k.assign(value, 0)
    elif form == "sum_fields":
        with k.if_(c > 7):
            k.augment(best, "add", value * value)
            k.assign(value, 0)
        with k.else_():
            k.augment(value, "add", 1)
    elif form == "words":
        with k.if_(op("not", in_range(c))):
            k.assign(value, 0)
            k.continue_()
        k.augment(value, "add", 1)
        with k.if_(value > best):
            k.assign(best, value)
    elif form == "escape":
        with k.if_(fn("eq", value, 1)):
            k.assign(value, 0)
            k.augment(best, "add", 1)
        with k.elif_(fn("eq", c, 9)):
            k.assign(value, 1)
        with k.elif_(fn("eq", c, 0)):
            k.break_()
        with k.else_():
            k.augment(best, "add", 1)
    elif form == "commands":
        with k.if_(op("and", c >= 1, c <= 3)):
            k.augment(best, "add", c)
        with k.elif_(fn("eq", c, 4)):
            k.augment(best, "mul", 2)
        with k.elif_(fn("eq", c, 5)):
            k.assign(best, 0)
            k.augment(value, "add", 1)
        with k.elif_(fn("eq", c, 6)):
            k.break_()
    elif form == "checksum":
        with k.if_(fn("eq", pos % 2, 0)):
            doubled = k.let(("doubled", "d"), 2 * c)
            with k.if_(doubled > 9):
                k.augment(doubled, "sub", 9)
            k.augment(best, "add", doubled)
        with k.else_():
            k.augment(best, "add", c)
    else:
        with k.if_(c <= 3):
            k.augment(value, "add", 1)
        k.assign(best, pos)
        with k.if_(fn("eq", value, 3)):
            k.break_()
