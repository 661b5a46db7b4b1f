"""Which edge inputs a program has: those on which its result is as sure as on drawn ones.

Candidates put values at the ends of what is promised, zeros, the program's own constants, values
of by-value parameters and ties into the inputs. They are evaluated as drawn inputs are, but not
nudged: a tie is exact, on every machine, where inputs are compared as they are. One is taken when
no gate objects and rounding moves no output beyond the tolerance that drawn inputs have given it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from generators.build.draw import Reject, Stream
from generators.program.dtypes import BOOL
from generators.program.expr import Const, Op
from generators.program.ir import Program
from generators.program.ops import OPS
from generators.program.serial import serial
from generators.program.walk import bodies, expressions
from synth.gates.cancel import CancellingEvaluation
from synth.gates.contract import Tolerance, args_of, sizes_of
from synth.gates.judge import is_sure, written_outputs
from synth.gates.lanes.values import Values
from synth.gates.variants import prepare
from validate.row import dtypes
from validate.row.edges import with_edges
from validate.row.inputs import DRAWN, draw_inputs
from validate.row.sizes import evaluate, own_sizes

Edge = dict[str, Any]
Entry = Mapping[str, Any]
Leaf = tuple[Entry, str, Entry]
"""An argument, the name of one of its fields (or ""), and what is said of how it is drawn."""


class Threshold(NamedTuple):
    """A number that values are compared with, and whether it is one of an integer type."""

    value: Fraction
    whole: bool


class Constants(NamedTuple):
    """Constants that a program compares with, numbers that it divides by, and how often it
    compares."""

    thresholds: list[Threshold]
    periods: list[int]
    comparisons: int


class Marks(NamedTuple):
    """Where a program does something else: thresholds, and numbers that it divides by."""

    thresholds: Sequence[Threshold]
    periods: Sequence[int]

    def between(self, low: Fraction, high: Fraction, whole: bool) -> list[Fraction]:
        """Thresholds between two bounds, those of the kind of number asked for first."""
        of_kind = sorted(self.thresholds, key=lambda t: t.whole != whole)
        return list(dict.fromkeys(t.value for t in of_kind if low < t.value < high))


SHARES = (1.0, 0.75, 0.5, 0.25)
"""Of the leaves that a candidate touches, from the first candidate to the last."""
NAME, OTHER_NAME = "edges", "edges 2"
MOST_THRESHOLDS = 6
"""Thresholds that one leaf takes; those of its own kind of number come first."""
JUST_BEYOND = Fraction(257, 256)
"""A value past a threshold by less than people get thresholds wrong."""
FIXED = ("size:", "reduction_identity", "permutation")


def choose_edges(program: Program, tolerances: Mapping[str, Tolerance]) -> list[Edge]:
    """The row's `edge_inputs`: the first candidate on which the program is sure, and another.

    Programs that compare more than once have another, of the same values in another order, so that
    other values meet.
    """
    sizes, constants = own_sizes(sizes_of(program)), _constants(serial(program))
    stream = Stream(f"{program.input_seed}/{NAME}")
    for share in SHARES:
        edge = _candidate(program, sizes, constants, stream, share)
        if edge["values"] and _is_sure(program, sizes, edge, tolerances):
            others = [_other(edge, stream)] if constants.comparisons > 1 else []
            return [edge, *(e for e in others if _is_sure(program, sizes, e, tolerances))]
    return []


def _other(edge: Edge, stream: Stream) -> Edge:
    values = [{**v, "among": stream.sample(v["among"], len(v["among"]))} for v in edge["values"]]
    return {"name": OTHER_NAME, "values": values}


def _candidate(
    program: Program,
    sizes: Mapping[str, int],
    constants: Constants,
    stream: Stream,
    share: float,
) -> Edge:
    """Values for a share of the leaves, half of whose elements stay as drawn.

    What is passed by value comes first: arrays take what it is at this edge for thresholds.
    """
    args = args_of(program)
    leaves = [leaf for leaf in _leaves(args) if stream.chance(share)]
    by_value = [leaf for leaf in leaves if leaf[0]["kind"] != "array"]
    values = list(_entries(by_value, sizes, Marks((), ())))
    given = with_edges([arg for arg in args if arg["kind"] != "array"], {"values": values})
    passed = _passed(draw_inputs(given, sizes, program.input_seed))
    marks = Marks([*constants.thresholds, *passed], constants.periods)
    arrays = [leaf for leaf in leaves if leaf[0]["kind"] == "array"]
    return {"name": NAME, "values": [*values, *_entries(arrays, sizes, marks)]}


def _entries(leaves: Sequence[Leaf], sizes: Mapping[str, int], marks: Marks) -> Iterator[Entry]:
    for arg, field, entry in leaves:
        found = _listed(entry, sizes, marks)
        if found:
            yield {"arg": arg["name"], "field": field, "among": [*found, *[DRAWN] * len(found)]}


def _leaves(args: Sequence[Entry]) -> Iterator[Leaf]:
    for arg in args:
        if arg["role"] == "out":
            continue
        for field in arg["fields"] or [arg]:
            if not field["init"].startswith(FIXED):
                yield arg, field["name"] if arg["fields"] else "", field


def _listed(entry: Entry, sizes: Mapping[str, int], marks: Marks) -> list[str]:
    """The values at the edges of a leaf, each once."""
    init, _, expression = entry["init"].partition(":")
    dtype = dtypes.parse(entry["dtype"])
    if init == "unit":
        return ["0", "-1", "1"]
    if init == "index_of":
        return list(dict.fromkeys(["0", str(evaluate(expression, sizes) - 1)]))
    if dtype.scalar == "bool":
        return ["0", "1"]
    low, high = Fraction(entry["low"]), Fraction(entry["high"])
    scalar = np.dtype(dtype.scalar)
    whole = init == "integers" or scalar.kind != "f"
    # Low entries beside a low diagonal would make a singular matrix.
    values = [Fraction(0), high] + ([low] if init != "well_conditioned" else [])
    values += (_whole if whole else _real)(marks, low, high, scalar)
    inside = [v for v in values if low <= v <= high and (not whole or v.denominator == 1)]
    return list(dict.fromkeys(str(v) if whole else repr(float(v)) for v in inside))


def _whole(marks: Marks, low: Fraction, high: Fraction, _: np.dtype[Any]) -> Iterator[Fraction]:
    """Thresholds and what lies beside them; multiples of periods and what lies before them."""
    whole = [v for v in marks.between(low, high, whole=True) if v.denominator == 1]
    for value in whole[:MOST_THRESHOLDS]:
        yield from (value, value + 1, value - 1)
    for period in marks.periods[:MOST_THRESHOLDS]:
        last = high // period * period
        yield from (Fraction(last), Fraction(last - 1))


def _real(marks: Marks, low: Fraction, high: Fraction, scalar: np.dtype[Any]) -> Iterator[Fraction]:
    """Thresholds and what lies just beyond them.

    A tie needs a number that the leaf's type has: what is written 0.1 is one number in float32 and
    another in the reference, and the two would take different sides.
    """
    for value in marks.between(low, high, whole=False)[:MOST_THRESHOLDS]:
        if Fraction(float(scalar.type(float(value)))) == value:
            yield value
        yield value * JUST_BEYOND


def _passed(given: Mapping[str, Values]) -> Iterator[Threshold]:
    """The numbers among what is passed by value."""
    for value in given.values():
        for part in [value[n] for n in value.dtype.names] if value.dtype.names else [value]:
            if part.ndim == 0 and part.dtype.kind in "iuf":
                yield Threshold(Fraction(part.item()), part.dtype.kind != "f")


def _constants(program: Program) -> Constants:
    """What a program compares with and divides by, in the order of its text."""
    thresholds, periods, comparisons = [], [], 0
    for node in (e for body in bodies(program) for e in expressions(body) if isinstance(e, Op)):
        compares = (OPS[node.op].jumps and node.type == BOOL) or node.op in ("eq", "ne")
        comparisons += compares
        numbers = [part for part in node.args if isinstance(part, Const) and part.type != BOOL]
        if compares or OPS[node.op].selects:
            thresholds += [Threshold(Fraction(str(c.value)), c.type.is_int) for c in numbers]
        elif node.op in ("mod", "floordiv"):
            periods += [int(c.value) for c in numbers if c is node.args[1] and int(c.value) > 1]
    return Constants(thresholds, sorted({*periods}, reverse=True), comparisons)


def _is_sure(
    program: Program, sizes: Mapping[str, int], edge: Edge, tolerances: Mapping[str, Tolerance]
) -> bool:
    """Whether no gate objects and rounding stays within the tolerances."""
    try:
        given = draw_inputs(with_edges(args_of(program), edge), sizes, program.input_seed)
        evaluation = prepare(program, sizes, False, False, given, CancellingEvaluation)
        evaluation.run()
        outputs = written_outputs(evaluation)
    except Reject:
        return False
    return all(is_sure(evaluation.lanes, memory, tolerances[memory.name]) for memory in outputs)
