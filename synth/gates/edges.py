"""Which edge inputs a program has: those on which its result is as sure as on drawn ones.

Candidates put values at the ends of what is promised, zeros, the program's own constants, values
of by-value parameters and ties into the inputs. They are evaluated as drawn inputs are, but not
nudged: a tie is exact, on every machine, where inputs are compared as they are. One is taken when
no gate objects and rounding moves no output beyond the tolerance that drawn inputs have given it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from generators.build.draw import Reject, Stream
from generators.program.dtypes import BOOL
from generators.program.expr import Const, Op
from generators.program.ir import Program
from generators.program.ops import OPS
from generators.program.walk import bodies, expressions
from synth.gates.contract import Tolerance, args_of, sizes_of
from synth.gates.judge import is_sure, written_outputs
from synth.gates.variants import prepare
from validate.row import dtypes
from validate.row.edges import with_edges
from validate.row.inputs import DRAWN, draw_inputs
from validate.row.sizes import evaluate, own_sizes

Edge = dict[str, Any]
Entry = Mapping[str, Any]
Leaf = tuple[Entry, str, Entry]
"""An argument, the name of one of its fields (or ""), and what is said of how it is drawn."""

SHARES = (1.0, 0.75, 0.5, 0.25)
"""Of the leaves that a candidate touches, from the first candidate to the last."""
NAME = "edges"
MOST_CONSTANTS = 3
JUST_ABOVE = 1.0 + 2.0**-8
"""A value past a threshold by less than people get thresholds wrong."""
FIXED = ("size:", "reduction_identity", "permutation")


def choose_edges(program: Program, tolerances: Mapping[str, Tolerance]) -> list[Edge]:
    """The row's `edge_inputs`: the first candidate on which the program is sure."""
    args, sizes = args_of(program), own_sizes(sizes_of(program))
    thresholds = _thresholds(program, args, sizes)
    listed = [(leaf, _listed(leaf, sizes, thresholds)) for leaf in _leaves(args)]
    listed = [(leaf, values) for leaf, values in listed if values]
    stream = Stream(f"{program.input_seed}/{NAME}")
    for share in SHARES:
        edge = _candidate(listed, stream, share)
        if edge["values"] and _is_sure(program, sizes, edge, tolerances):
            return [edge]
    return []


def _leaves(args: Sequence[Entry]) -> Iterator[Leaf]:
    for arg in args:
        if arg["role"] == "out":
            continue
        for field in arg["fields"] or [arg]:
            if not field["init"].startswith(FIXED):
                yield arg, field["name"] if arg["fields"] else "", field


def _listed(leaf: Leaf, sizes: Mapping[str, int], thresholds: Sequence[Fraction]) -> list[str]:
    """The values at the edges of a leaf, each once."""
    arg, _, entry = leaf
    init, _, expression = entry["init"].partition(":")
    dtype = dtypes.parse(entry["dtype"])
    if init == "unit":
        return ["0", "-1", "1"]
    if init == "index_of":
        return list(dict.fromkeys(["0", str(evaluate(expression, sizes) - 1)]))
    if dtype.scalar == "bool":
        return ["0", "1"]
    low, high = Fraction(entry["low"]), Fraction(entry["high"])
    # Low entries beside a low diagonal would make a singular matrix.
    values = [Fraction(0), high] + ([low] if init != "well_conditioned" else [])
    if arg["kind"] == "array":
        between = [v for v in thresholds if low < v < high][:MOST_CONSTANTS]
        values += between + [v * Fraction(JUST_ABOVE) for v in between if v > 0]
    whole = init == "integers" or np.dtype(dtype.scalar).kind != "f"
    inside = [v for v in values if low <= v <= high and (not whole or v.denominator == 1)]
    return list(dict.fromkeys(str(v) if whole else repr(float(v)) for v in inside))


def _thresholds(
    program: Program, args: Sequence[Entry], sizes: Mapping[str, int]
) -> list[Fraction]:
    """Constants that the program compares with, and by-value numbers."""
    found = [Fraction(str(c.value)) for c in _compared(program)]
    drawn = draw_inputs([a for a in args if a["kind"] == "scalar"], sizes, program.input_seed)
    found += [Fraction(v.item()) for v in drawn.values() if v.ndim == 0 and v.dtype.kind in "iuf"]
    return list(dict.fromkeys(found))


def _compared(program: Program) -> Iterator[Const]:
    for body in bodies(program):
        for node in expressions(body):
            if isinstance(node, Op) and (node.type == BOOL or OPS[node.op].selects):
                for part in node.args:
                    if isinstance(part, Const) and part.type != BOOL:
                        yield part


def _candidate(listed: Sequence[tuple[Leaf, list[str]]], stream: Stream, share: float) -> Edge:
    """Values for a share of the leaves, half of whose elements stay as drawn."""
    values = [
        {"arg": arg["name"], "field": field, "among": [*found, *[DRAWN] * len(found)]}
        for (arg, field, _), found in listed
        if stream.chance(share)
    ]
    return {"name": NAME, "values": values}


def _is_sure(
    program: Program, sizes: Mapping[str, int], edge: Edge, tolerances: Mapping[str, Tolerance]
) -> bool:
    """Whether no gate objects and rounding stays within the tolerances."""
    try:
        given = draw_inputs(with_edges(args_of(program), edge), sizes, program.input_seed)
        evaluation = prepare(program, sizes, redraw=False, nudge=False, given=given)
        evaluation.run()
        outputs = written_outputs(evaluation)
    except Reject:
        return False
    return all(is_sure(evaluation.lanes, memory, tolerances[memory.name]) for memory in outputs)
