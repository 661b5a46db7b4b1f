"""What accumulators start at in hidden inputs, so that storing does not pass for adding.

A row starts them at an identity: 0 for sums, 1e6 for a minimum. Which arrays may start at other
values is not read from the row's texts but seen in what its reference does with them: every
element must come out as one and the same join (a sum, a minimum, ...) of its start and of what it
came out as from the identity, and no other output may change. So an array whose old values serve
as indices or locks starts as the row says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from validate.oracle.reference import ReferenceFailed
from validate.row.dtypes import parse
from validate.row.inputs import Array, draw_inputs, draw_trial_inputs
from validate.row.sizes import evaluate_all
from validate.score.wanted import wanted_outputs

Row = Mapping[str, Any]
Sizes = Mapping[str, int]
Starts = dict[str, tuple[str, str]]
Arrays = Mapping[str, Array]

_IDENTITY = "reduction_identity"
# Sums stay of the size for which tolerances were measured; whole numbers stay far from overflow.
_MOST_SUM = 64.0
_MOST_WHOLE = 1 << 16
_LEAST_WHOLE = 9


def accumulators(row: Row) -> list[str]:
    """Arrays of a row that start at an identity and to which its kernel adds what it finds."""
    return [
        arg["name"]
        for arg in row["args"]
        if arg["kind"] == "array" and arg["role"] == "inout" and arg["init"] == _IDENTITY
    ]


def choose_starts(row: Row, sizes: Sizes, input_seed: int) -> Starts:
    """Bounds of start values for those accumulators of a row that may have others.

    Judged by the reference on inputs of these sizes and this seed. Raises ReferenceFailed when it
    fails on them with every accumulator at its identity, ValueError when none can be drawn.
    """
    names = accumulators(row)
    if not names:
        return {}
    before = draw_inputs(row["args"], sizes, input_seed)
    plain = _run(row, sizes, before)
    wanted = {n: _bounds(_arg(row, n), plain[n], before[n]) for n in names}
    starts = {name: bounds for name, bounds in wanted.items() if bounds is not None}
    if not starts or _joins(row, sizes, input_seed, starts, before, plain):
        return starts
    alone = {
        name: bounds
        for name, bounds in starts.items()
        if _joins(row, sizes, input_seed, {name: bounds}, before, plain)
    }
    return alone if _joins(row, sizes, input_seed, alone, before, plain) else {}


def _arg(row: Row, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(arg for arg in row["args"] if arg["name"] == name)
    return found


def _run(row: Row, sizes: Sizes, inputs: Arrays) -> dict[str, Array]:
    dim = evaluate_all(row["launch"]["dim"], sizes)
    return wanted_outputs(row, dim, inputs)


def _bounds(arg: Mapping[str, Any], after: Array, before: Array) -> tuple[str, str] | None:
    """Start values of the size of what an accumulator comes out as; None where nobody adds."""
    touched = after[after != before]
    if parse(arg["dtype"]).scalar == "bool" or not touched.size:
        return None
    low, high = touched.min(), touched.max()
    if not (np.isfinite(float(low)) and np.isfinite(float(high))):
        return None
    if after.dtype.kind != "f":
        return _whole_bounds(int(low), int(high), float(arg["low"]) == 0)
    if float(arg["low"]) != 0:
        # Of a minimum, some starts lie below what is found and some above.
        return (repr(float(low)), repr(float(high))) if low < high else None
    size = min(_MOST_SUM, max(0.5, float(np.median(np.abs(touched)))))
    return repr(size / 8 if low >= 0 else -size), repr(size if high > 0 or low >= 0 else -size / 8)


def _whole_bounds(low: int, high: int, sums: bool) -> tuple[str, str] | None:
    if not sums:
        return (str(low), str(high)) if low < high else None
    most = min(_MOST_WHOLE, max(_LEAST_WHOLE, abs(low), abs(high)))
    return str(-most if low < 0 else 1), str(most)


_JOINS: tuple[Callable[[Array, Array], Array], ...] = (
    np.add,
    np.minimum,
    np.maximum,
    np.bitwise_or,
    np.bitwise_xor,
    np.bitwise_and,
)


def _joins(
    row: Row, sizes: Sizes, input_seed: int, starts: Starts, before: Arrays, plain: Arrays
) -> bool:
    """Whether the reference joins these starts to its results and changes nothing else."""
    inputs = draw_trial_inputs(row["args"], sizes, input_seed, starts)
    try:
        found = _run(row, sizes, inputs)
    except ReferenceFailed:
        return False
    return all(
        _joined(found[name], plain[name], inputs[name], before[name])
        if name in starts
        else np.array_equal(found[name], plain[name])
        for name in found
    )


def _joined(found: Array, plain: Array, start: Array, before: Array) -> bool:
    if found.dtype.kind == "f":
        first = start.astype(np.float64)
        tries = [join(plain, first) for join in _JOINS[:3]]
        return any(np.allclose(found, each, rtol=1e-9, atol=1e-9) for each in tries)
    stored = np.where(plain != before, plain, start)
    # Whole sums go round as the dtype does.
    tries = [*(join(plain, start.astype(plain.dtype)) for join in _JOINS), stored]
    return any(np.array_equal(found, each) for each in tries)
