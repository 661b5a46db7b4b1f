"""What a row alone says of its adjoint: its arguments with gradients, and statuses that need no
run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from validate.row import dtypes
from validate.statuses import AdjointStatus


def status_without_run(row: Mapping[str, Any]) -> AdjointStatus | None:
    """The status of a row that has no adjoint to run, None for the others."""
    if row["cuda_backward"] is None:
        return AdjointStatus.OFF
    if not any(is_source(arg) for arg in row["args"]):
        return AdjointStatus.NO_FLOAT_INPUT
    return None if any(is_sink(arg) for arg in row["args"]) else AdjointStatus.NO_FLOAT_OUTPUT


def has_adjoint(row: Mapping[str, Any]) -> bool:
    """Whether the backward kernel of a row can be compared with anything."""
    return status_without_run(row) is None


def is_source(arg: Mapping[str, Any]) -> bool:
    """Whether an argument has a gradient to be compared: not scalars, which carry none in Warp,
    and not a reduction's start value, which is no input."""
    return has_gradient(arg) and arg["role"] != "out" and arg["init"] != "reduction_identity"


def is_sink(arg: Mapping[str, Any]) -> bool:
    """Whether cotangents come in at an argument."""
    return has_gradient(arg) and arg["role"] != "in"


def has_gradient(arg: Mapping[str, Any]) -> bool:
    """Whether an argument is an array with floats, which carry a gradient."""
    return arg["kind"] == "array" and dtypes.has_floats(arg)
