"""Whether a backward kernel rounds as its type does: tolerances from what rounding does to the
reference of the very same row.

The reference is run again in the arithmetic of float32, at inputs that are moved by a few units of
the last place: how far that is from float64 is what any order of operations may be off by, times a
margin. A text that keeps fewer bits is off by more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from validate.oracle.compare import compare
from validate.oracle.derivative import Values, flat, random_numbers
from validate.oracle.reference import ReferenceFailed, run_reference
from validate.row import dtypes
from validate.row.inputs import Array

Row = Mapping[str, Any]


class _Kind(NamedTuple):
    """Shares of an element and of the largest that pass at once, and how far inputs are moved."""

    rtol: float
    atol: float
    moved: float


_KINDS = {"float32": _Kind(1e-5, 1e-6, 2.0**-22), "float64": _Kind(1e-9, 1e-10, 1e-12)}
_DRAWS = 3
_MARGIN = 32.0
"""Times what rounding was seen to do: other orders of a sum, functions that are off by ulps."""


def rounds_worse(
    backward: Row, dim: Sequence[int], passed: Values, outputs: Values, wanted: Values
) -> str:
    """What of a backward kernel's outputs is further from the reference than rounding explains;
    empty: nothing, or the row has halves. ``wanted`` is what the reference gives."""
    kind = _KINDS.get(_coarsest(backward["args"]))
    if kind is None:
        return ""
    suspect = {name for name in wanted if not _is_close(outputs[name], wanted[name], kind, None)}
    if not suspect:
        return ""
    noise = _noise(backward, dim, passed, kind)
    for name in sorted(suspect):
        if noise is not None and not _is_close(outputs[name], wanted[name], kind, noise[name]):
            found = compare(outputs[name], wanted[name], kind.rtol, 0.0)
            return f"{name}{found}, more than rounding explains"
    return ""


def _coarsest(args: Sequence[Row]) -> str:
    texts = [a["dtype"] for a in args if not a["fields"]]
    texts += [field["dtype"] for a in args for field in a["fields"]]
    floats = {dtypes.parse(text).scalar for text in texts if dtypes.parse(text).is_float}
    return min(floats, key=lambda name: np.dtype(name).itemsize, default="")


def _is_close(got: Array, want: Array, kind: _Kind, noise: Array | None) -> bool:
    ours, right = flat(got), flat(want)
    most = kind.rtol * np.abs(right) + kind.atol * float(np.abs(right).max(initial=0.0))
    if noise is not None:
        most += _MARGIN * (noise + 0.25 * float(noise.max(initial=0.0)))
    with np.errstate(invalid="ignore"):
        return bool(((np.abs(ours - right) <= most) | (ours == right)).all())


def _noise(
    backward: Row, dim: Sequence[int], passed: Values, kind: _Kind
) -> dict[str, Array] | None:
    """Of each element the most that rounding was seen to change; None where it cannot be seen."""
    worst: dict[str, Array] = {}
    single = kind is _KINDS["float32"]
    for draw in range(_DRAWS):
        inputs = {name: _moved(v, kind.moved, f"{draw}/{name}") for name, v in passed.items()}
        try:
            one = _reference(backward, dim, inputs, single)
            other = _reference(backward, dim, inputs if single else passed, False)
        except ReferenceFailed:
            return None
        for name, value in one.items():
            with np.errstate(invalid="ignore"):
                off = np.nan_to_num(np.abs(flat(value) - flat(other[name])), nan=np.inf)
            worst[name] = np.maximum(worst.get(name, 0.0), off)
    return worst


def _reference(backward: Row, dim: Sequence[int], inputs: Values, single: bool) -> Values:
    name = backward["kernel_name"]
    return run_reference(backward["reference"], name, backward["args"], dim, inputs, single=single)


def _moved(value: Array, by: float, stream: str) -> Array:
    """An array whose floats are moved by a share of themselves; what is no float stays."""
    if value.dtype.kind != "f" or not value.ndim:
        return value
    signs = random_numbers(f"rounding/{stream}", value.size).reshape(value.shape)
    moved: Array = (value * (1.0 + by * signs)).astype(value.dtype)
    return moved
