"""Kernels that do nothing of what a row asks for, and must not pass on what is drawn for it.

None is compiled: what they would leave behind is made here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from validate.oracle.compare import compare
from validate.row.inputs import Array

ONE_VALUE = "one value"
"""How an output is named that is the same everywhere."""

Arrays = Mapping[str, Array]
Trials = Sequence[tuple[Arrays, Arrays]]
"""Inputs and wanted outputs of each trial."""


def outputs_without_work(args: Sequence[Mapping[str, Any]], trials: Trials) -> list[str]:
    """Outputs that a kernel without work gets right in every trial, as `output: how`, sorted.

    It leaves what was there, fills with zeros or with the value that the first trial wants most
    often, or copies an input (an array of the same shape, one that is repeated along other axes, or
    a scalar).
    """
    found = set[str]()
    for arg in args:
        for field in _fields(arg):
            for how in _ways(arg, field, args, trials[0]):
                if all(_right(arg, field, how, *trial) for trial in trials):
                    found.add(f"{arg['name']}{field and '.' + field}: {how[0]}")
    return sorted(found)


Way = tuple[str, str, str, Any]
"""What it is called, the argument and the field that it copies, or the value that it fills with."""


def _fields(arg: Mapping[str, Any]) -> list[str]:
    if arg["role"] == "in":
        return []
    return [field["name"] for field in arg["fields"]] or [""]


def _ways(
    arg: Mapping[str, Any],
    field: str,
    args: Sequence[Mapping[str, Any]],
    first: tuple[Arrays, Arrays],
) -> Iterator[Way]:
    wanted = _leaf(first[1][arg["name"]], field)
    yield "zeros", "", "", wanted.dtype.type(0)
    if wanted.size:
        values, counts = np.unique(wanted, return_counts=True)
        yield ONE_VALUE, "", "", values[int(np.argmax(counts))]
    for other in args:
        if other["role"] == "out":
            continue
        for inner in [entry["name"] for entry in other["fields"]] or [""]:
            same = other["name"] == arg["name"] and inner == field
            name = "nothing" if same else f"copies {other['name']}{inner and '.' + inner}"
            yield name, other["name"], inner, None


def _leaf(array: Array, field: str) -> Array:
    return array[field] if field else array


def _right(arg: Mapping[str, Any], field: str, way: Way, inputs: Arrays, wanted: Arrays) -> bool:
    want = _leaf(wanted[arg["name"]], field)
    _, source, inner, value = way
    made = np.full(want.shape, value) if not source else _leaf(inputs[source], inner)
    dtype = _leaf(inputs[arg["name"]], field).dtype
    got = _spread(made, want.shape)
    if got is None or (got.dtype.kind == "b") != (dtype.kind == "b"):
        return False
    with np.errstate(all="ignore"):
        return compare(got.astype(dtype), want, arg["rtol"], arg["atol"]) is None


def _spread(source: Array, shape: tuple[int, ...]) -> Array | None:
    """A source repeated along the axes that it lacks, behind its own or before them."""
    behind = source.reshape(source.shape + (1,) * max(0, len(shape) - source.ndim))
    for tried in (source, behind):
        try:
            return np.broadcast_to(tried, shape)
        except ValueError:
            continue
    return None
