"""Mutants of what a statement computes: operators, operands, functions, constants, casts, indices.

A rule takes one stripped line and the function it stands in and yields the lines that may stand in
its place; a line it does not apply to yields nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from validate.mutants.warp.tables import (
    COMMUTING,
    EXTREMES,
    FUNCTIONS,
    INDEXED,
    MACROS,
    NARROWER,
    OPERATORS,
    OPPOSITE,
    ORDERED,
    STORING,
    WITH_TIE,
)
from validate.mutants.warp.text import (
    REAL,
    WHOLE,
    Call,
    Function,
    extents,
    family,
    is_float,
    parse_call,
)
from validate.mutants.warp.text import scalar_of as scalar

Rule = Callable[[str, Function], Iterator[str]]

_LOGIC = re.compile(r"(var_\w+) = (var_\w+) (&&|\|\|) (var_\w+);")
_COMPARISON = re.compile(r"(var_\w+) = \((\w+) (<|>|<=|>=|==|!=) (\w+)\);")
_CONSTANT = re.compile(r"(?:const [\w:]+ )?(var_\w+) = ([^();]+);")


def operator_swapped(line: str, function: Function) -> Iterator[str]:
    """`add` for `sub`, `mul` for `div`, `bit_and` for `bit_or`, `&&` for `||` and so on."""
    logic = _LOGIC.fullmatch(line)
    if logic:
        other = "||" if logic[3] == "&&" else "&&"
        yield f"{logic[1]} = {logic[2]} {other} {logic[4]};"
    call = parse_call(line)
    if call is None or call.name not in OPERATORS:
        return
    name, args = OPERATORS[call.name], call.args
    shapes = [extents(function.type_of(arg)) for arg in args]
    if call.name == "mul":
        if all(shapes):
            # No quotient of two composites exists.
            if function.same_type(call.target, *args):
                yield call.text(name="add")
            return
        if shapes[1]:
            args = (args[1], args[0])
    yield call.text(name=name, args=args)


def operand_swapped(line: str, function: Function) -> Iterator[str]:
    """Two operands exchanged; where that changes nothing, one taken in the other's place."""
    call = parse_call(line)
    if call is None or len(call.args) < 2 or _indices(call) or call.name == "range":
        return
    args = list(call.args)
    ordered = call.name == "mul" and family(function.type_of(args[0])) in ORDERED
    if call.name in COMMUTING and function.same_type(*args) and not ordered:
        yield call.text(args=[args[0], args[0]])
        return
    # clamp(x, a, b) is min(max(a, x), b): the first two may be exchanged.
    for left in range(call.name == "clamp", len(args) - 1):
        if args[left] != args[left + 1] and function.same_type(args[left], args[left + 1]):
            args[left], args[left + 1] = args[left + 1], args[left]
            yield call.text(args=args)
            return


def function_swapped(line: str, function: Function) -> Iterator[str]:
    """A function's neighbour in its place (`sin` for `cos`, `floor` for `ceil`), or none at all."""
    call = parse_call(line)
    if call is None:
        return
    if call.name in FUNCTIONS:
        yield call.text(name=FUNCTIONS[call.name])
    alone = len(call.args) == 1 and function.same_type(call.target, *call.args)
    if alone and call.name in (FUNCTIONS.keys() | {"transpose"}):
        yield f"{call.target} = {call.args[0]};"


def min_for_max(line: str, function: Function) -> Iterator[str]:
    """`min` for `max` and the other way round, atomic ones as well."""
    call = parse_call(line)
    if call is not None and call.name in EXTREMES:
        yield call.text(name=EXTREMES[call.name])


def constant_nudged(line: str, function: Function) -> Iterator[str]:
    """A float constant 1 % larger (zero becomes 1), a whole one larger and smaller by 1."""
    match = _CONSTANT.fullmatch(line)
    if match is None or not _is_read(match[1], function):
        return
    text, type_name = match[2], function.type_of(match[1])
    start = line[: match.start(2)]
    whole = WHOLE.fullmatch(text)
    if text in ("true", "false"):
        yield f"{start}{'false' if text == 'true' else 'true'};"
    elif whole and is_float(type_name):
        yield f"{start}{_nudged_real(float(whole[1]))};"
    elif whole:
        for value in (int(whole[1]) + 1, int(whole[1]) - 1):
            if value >= 0 or not scalar(type_name).startswith("uint"):
                yield f"{start}{value}{whole[2]};"
    elif REAL.fullmatch(text):
        yield f"{start}{_nudged_real(float(text))};"


def index_shifted(line: str, function: Function) -> Iterator[str]:
    """One index of an array or a composite larger by 1; the last component becomes the one before.

    Of an array's index this may lead outside it.
    """
    call = parse_call(line)
    if call is None:
        return
    lengths = extents(function.type_of(call.args[0])) if call.args else ()
    for axis, position in enumerate(_indices(call)):
        step = "+ 1"
        if lengths:
            value = function.literal(call.args[position])
            if lengths[axis] < 2:
                continue
            if value == lengths[axis] - 1:
                step = "- 1"
        args = list(call.args)
        args[position] = f"{args[position]} {step}"
        yield call.text(args=args)


def comparison_flipped(line: str, function: Function) -> Iterator[str]:
    """A comparison turned into its opposite; of whole numbers also with or without the tie."""
    match = _COMPARISON.fullmatch(line)
    if match is None:
        return
    yield _compared(match, OPPOSITE[match[3]])
    if match[3] in WITH_TIE and not is_float(function.type_of(match[2])):
        yield _compared(match, WITH_TIE[match[3]])


def float_tie_moved(line: str, function: Function) -> Iterator[str]:
    """`<` for `<=` and so on between floats: only equal operands tell."""
    match = _COMPARISON.fullmatch(line)
    if match and match[3] in WITH_TIE and is_float(function.type_of(match[2])):
        yield _compared(match, WITH_TIE[match[3]])


def term_dropped(line: str, function: Function) -> Iterator[str]:
    """One operand of several kept; an accumulation or a bound of a clamp left out."""
    logic = _LOGIC.fullmatch(line)
    if logic:
        yield f"{logic[1]} = {logic[4]};"
    call = parse_call(line)
    if call is None:
        return
    if call.name == "assign":
        yield ";"
    elif call.name == "clamp":
        value, low, high = call.args
        yield call.text(name="max", args=(value, low))
        yield call.text(name="min", args=(value, high))
    elif call.name in (OPERATORS.keys() | EXTREMES.keys()) and len(call.args) == 2:
        for arg in dict.fromkeys(call.args):
            if function.same_type(call.target, arg):
                yield f"{call.target} = {arg};"


def cast_narrowed(line: str, function: Function) -> Iterator[str]:
    """A cast's value goes through the next narrower type of its kind."""
    call = parse_call(line)
    if call is None or not call.prefix or len(call.args) != 1:
        return
    wide = MACROS.get(call.name, call.name)
    source = scalar(function.type_of(call.args[0]))
    # The narrower of the two types is what the value has passed through already.
    if _kind(source) == _kind(wide) and _bits(source) < _bits(wide):
        wide = source
    if wide not in NARROWER:
        return
    value = function.literal(call.args[0])
    if value is None or not _fits(value, NARROWER[wide]):
        yield call.text(args=[f"wp::{NARROWER[wide]}({call.args[0]})"])


def _compared(match: re.Match[str], operator: str) -> str:
    return f"{match[1]} = ({match[2]} {operator} {match[4]});"


def _indices(call: Call) -> range:
    """Positions of the arguments that are indices."""
    if call.name in INDEXED:
        return range(1, len(call.args))
    if call.name in STORING or call.name.startswith("atomic_"):
        return range(1, len(call.args) - 1)
    return range(0)


def _is_read(name: str, function: Function) -> bool:
    """Whether a constant is used: loops that Warp unrolls leave many that are not."""
    return function.occurrences(name) > (1 if name in function.constants else 2)


def _nudged_real(value: float) -> str:
    return repr(value * 1.01 if value else 1.0)


def _fits(value: float, type_name: str) -> bool:
    if type_name.startswith("float"):
        return bool(np.dtype(type_name).type(value) == value)
    bits = _bits(type_name)
    low, high = (0, 2**bits) if type_name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return low <= value < high


def _kind(name: str) -> str:
    return name.rstrip("0123456789").removeprefix("u")


def _bits(name: str) -> int:
    return int(name.lstrip("abcdefghijklmnopqrstuvwxyz") or 0)


VALUE_RULES: dict[str, Rule] = {
    "operator_swapped": operator_swapped,
    "operand_swapped": operand_swapped,
    "function_swapped": function_swapped,
    "min_for_max": min_for_max,
    "constant_nudged": constant_nudged,
    "index_shifted": index_shifted,
    "comparison_flipped": comparison_flipped,
    "float_tie_moved": float_tie_moved,
    "term_dropped": term_dropped,
    "cast_narrowed": cast_narrowed,
}
