"""The backward kernel of a row, run on the host, against derivatives of the row's reference.

With random cotangents for the float outputs the backward kernel gives the gradient g of
L = sum(cotangent * output). For one argument after the other, sum(g * d) along a random direction d
is compared with the derivative that `validate.oracle.derivative` measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from validate.host.launch import Endless
from validate.host.memory import Arena, arrays_of
from validate.oracle.derivative import (
    Loss,
    Values,
    derivative,
    direction_for,
    flat,
    float_parts,
    random_numbers,
)
from validate.oracle.reference import ReferenceFailed
from validate.row import dtypes
from validate.row.adjoint import has_gradient, is_sink, is_source
from validate.row.inputs import Array
from validate.row.while_index import read_past_while
from validate.statuses import AdjointStatus

TOLERANCES = {"float16": 1e-2, "float32": 1e-4, "float64": 5e-7}
"""Largest difference between adjoint and derivative, as a share of sum(abs(g * d)), by the
coarsest float dtype among the arrays. Right adjoints stay below a quarter of it."""

DIRECTIONS = 2
"""Directions tried for each argument: an error of few elements can hide along one."""


@dataclass(frozen=True)
class Adjoint:
    """What the check of a backward kernel showed: its status, why, and the largest difference as a
    share of its tolerance."""

    status: AdjointStatus
    reason: str = ""
    tolerance_used: float = 0.0


class Launcher(Protocol):
    """Runs one backward kernel, somewhere: what it is given lies in memory that it makes."""

    def arena(self, values: Mapping[str, Array]) -> Arena:
        """Memory for arrays that the kernel is to be given."""

    def launch(self, dim: Sequence[int], values: Sequence[Array], arenas: Sequence[Arena]) -> None:
        """Launch over `dim`; afterwards the arenas show what the kernel left in them."""


def check_adjoint(
    row: Mapping[str, Any],
    dim: Sequence[int],
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    launcher: Launcher,
    wanted: Mapping[str, Array] | None = None,
) -> Adjoint:
    """Run the backward kernel and compare it with central differences.

    `inputs` are the values before the forward launch, `outputs` the arrays after it, `wanted` what
    the reference makes of the inputs, where that is known. The row must have a backward kernel
    (`has_adjoint`). One that writes past an array at some shape (`read_past_while`) is not run.
    Raises what the launcher does, but for Endless.
    """
    if array := read_past_while(row):
        reason = f"a while loop reads {array} at the index that ends it"
        return Adjoint(AdjointStatus.WARP_DIFFERS, reason)
    sources = [a for a in row["args"] if is_source(a)]
    cotangents = draw_cotangents(row, inputs)
    try:
        gradients, trouble = run_backward(row, dim, {**inputs, **outputs}, cotangents, launcher)
    except Endless as endless:
        gradients, trouble = {}, f"in the backward kernel {endless}"
    if trouble:
        return Adjoint(AdjointStatus.WARP_DIFFERS, trouble)
    loss = Loss(row, dim, inputs, cotangents, wanted)
    tolerance = tolerance_of(row["args"])
    found = [
        compare_along(arg, loss, gradients[arg["name"]], tolerance, number)
        for arg in sources
        for number in range(DIRECTIONS)
    ]
    return overall(found)


def overall(found: Sequence[Adjoint]) -> Adjoint:
    """One status for all arguments: the worst; zero only when all are."""
    used = max(part.tolerance_used for part in found)
    for status in (AdjointStatus.WARP_DIFFERS, AdjointStatus.NOT_SMOOTH_HERE, AdjointStatus.AGREES):
        for part in found:
            if part.status == status:
                return Adjoint(status, part.reason, used)
    return Adjoint(AdjointStatus.ZERO_GRADIENT)


def tolerance_of(args: Sequence[Mapping[str, Any]]) -> float:
    """The tolerance of a row's arguments, as `TOLERANCES` has it."""
    texts = [
        text
        for arg in args
        if has_gradient(arg)
        for text in (arg["dtype"], *(field["dtype"] for field in arg["fields"]))
    ]
    scalars = {dtypes.parse(text).scalar for text in texts}
    return max(TOLERANCES[scalar] for scalar in scalars & TOLERANCES.keys())


def draw_cotangents(row: Mapping[str, Any], inputs: Mapping[str, Array]) -> Values:
    """A random cotangent for every float output, of the output's shape and dtype."""
    sinks = [arg for arg in row["args"] if is_sink(arg)]
    return {a["name"]: _cotangent(a, inputs[a["name"]], row["input_seed"]) for a in sinks}


def _cotangent(arg: Mapping[str, Any], like: Array, input_seed: int) -> Array:
    value = np.zeros(like.shape, like.dtype)
    for position, part in enumerate(float_parts(value)):
        stream = f"{input_seed}/cotangent/{arg['name']}/{position}"
        part[...] = random_numbers(stream, part.size).reshape(part.shape)
    return value


def run_backward(
    row: Mapping[str, Any],
    dim: Sequence[int],
    after: Mapping[str, Array],
    cotangents: Mapping[str, Array],
    launcher: Launcher,
) -> tuple[Values, str]:
    """The gradients by argument, and what was wrong with the launch if anything was.

    `after` holds the arguments as the forward launch left them. As Warp's tape launches it:
    gradients hang on the arrays, the adjoint parameters are empty. Raises what the launcher does.
    """
    arrays = arrays_of(row["args"], after)
    starts = {
        a["name"]: cotangents.get(a["name"], np.zeros_like(arrays[a["name"]]))
        for a in row["args"]
        if has_gradient(a)
    }
    primal, dual = launcher.arena(arrays), launcher.arena(starts)
    values = []
    for arg in row["args"]:
        name = arg["name"]
        if arg["kind"] == "array":
            grad = dual.address(name) if name in starts else 0
            values.append(primal.header(name, len(arg["shape"]), grad))
        else:
            values.append(after[name])
    passed = [*values, *(_empty(value) for value in values)]
    launcher.launch(dim, passed, (primal, dual))
    changed = primal.changed(list(arrays))
    trouble = primal.written_outside() or dual.written_outside()
    if not trouble and changed:
        trouble = f"the backward kernel changed {', '.join(changed)}"
    return {name: dual.array(name) for name in starts}, trouble


def _empty(value: Array) -> Array:
    return np.zeros(value.shape, value.dtype)


def compare_along(
    arg: Mapping[str, Any],
    loss: Loss,
    gradient: Array,
    tolerance: float,
    number: int,
    floor: float = 0.0,
) -> Adjoint:
    """A gradient by one argument, against differences along the `number`-th direction.

    A gradient all of whose elements are within `floor` counts as zero.
    """
    name = arg["name"]
    slope = flat(gradient)
    if not np.isfinite(slope).all():
        return Adjoint(AdjointStatus.WARP_DIFFERS, f"the gradient of {name} is not finite")
    direction = direction_for(loss, arg, slope, number, tolerance)
    found = float((slope * direction).sum())
    moved = float(np.abs(slope * direction).sum())
    try:
        wanted = derivative(loss, name, direction, found, tolerance / 4 * moved)
    except ReferenceFailed as failed:
        return Adjoint(AdjointStatus.NOT_SMOOTH_HERE, f"beside {name}: {failed}")
    scale = max(moved, abs(wanted.value))
    if scale <= floor * float(np.abs(direction).sum()):
        return Adjoint(AdjointStatus.ZERO_GRADIENT)
    if not wanted.doubt <= tolerance / 4 * scale:
        return Adjoint(AdjointStatus.NOT_SMOOTH_HERE, f"differences along {name} do not settle")
    used = abs(found - wanted.value) / scale / tolerance
    if used > 1:
        what = f"along {name} the adjoint gives {found:.6g}, differences give {wanted.value:.6g}"
        return Adjoint(AdjointStatus.WARP_DIFFERS, what, used)
    return Adjoint(AdjointStatus.AGREES, "", used)
