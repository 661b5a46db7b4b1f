"""The backward kernel of a row, run on the host, against derivatives of the row's reference.

With a random cotangent w for the float outputs, L = sum(w * output). The backward kernel gives the
gradient g of L; the directional derivative of L along a random direction d of one argument is
measured by central differences of the float64 reference, (L(x + h d) - L(x - h d)) / (2 h), at two
step sizes that must agree, and compared with sum(g * d).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from validate import dtypes
from validate.host_launch import Endless, Entry, launch
from validate.host_memory import Arena
from validate.inputs import Array, raw_numbers
from validate.reference import ReferenceFailed, run_reference

ADJOINT_STATUSES = (
    "agrees",
    "no_float_input",
    "no_float_output",
    "zero_gradient",
    "not_smooth_here",
    "warp_differs",
    "off",
)

TOLERANCES = {"float16": 3e-2, "float32": 1e-3, "float64": 1e-6}
"""Largest difference between adjoint and derivative, as a share of sum(abs(g * d)), by the
coarsest float dtype among the arrays."""

STEPS = (1e-5, 1e-6)
"""Step sizes h, as a share of the spread of the argument's values."""

Values = dict[str, Array]


@dataclass(frozen=True)
class Adjoint:
    """What the check of a backward kernel showed: one of ADJOINT_STATUSES, why, and the largest
    difference as a share of its tolerance."""

    status: str
    reason: str = ""
    tolerance_used: float = 0.0


def check_adjoint(
    row: Mapping[str, Any],
    dim: Sequence[int],
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    entry: Entry,
) -> Adjoint:
    """Run the backward kernel and compare it with central differences.

    `inputs` are the values before the forward launch, `outputs` the arrays after it. The kernel
    runs in this process: it may crash it. The row must have one (`has_adjoint`). Raises BadRow
    when the kernel takes other parameters than `args` says.
    """
    sources = [a for a in row["args"] if _is_source(a)]
    cotangents = draw_cotangents(row, inputs)
    try:
        gradients, trouble = run_backward(row, dim, {**inputs, **outputs}, cotangents, entry)
    except Endless as endless:
        gradients, trouble = {}, f"in the backward kernel {endless}"
    if trouble:
        return Adjoint("warp_differs", trouble)
    loss = _Loss(row, dim, inputs, cotangents)
    found = [_compare(a, loss, gradients[a["name"]], _tolerance(row["args"])) for a in sources]
    return _overall(found)


def status_without_run(row: Mapping[str, Any]) -> str | None:
    """The status of a row that has no adjoint to run, None for the others."""
    if row["cuda_backward"] is None:
        return "off"
    if not any(_is_source(arg) for arg in row["args"]):
        return "no_float_input"
    return None if any(_is_sink(arg) for arg in row["args"]) else "no_float_output"


def has_adjoint(row: Mapping[str, Any]) -> bool:
    """Whether the backward kernel of a row can be compared with anything."""
    return status_without_run(row) is None


def _is_source(arg: Mapping[str, Any]) -> bool:
    # Scalars carry no gradient in Warp, and a reduction's start value is no input.
    return _has_gradient(arg) and arg["role"] != "out" and arg["init"] != "reduction_identity"


def _is_sink(arg: Mapping[str, Any]) -> bool:
    return _has_gradient(arg) and arg["role"] != "in"


def _has_gradient(arg: Mapping[str, Any]) -> bool:
    return arg["kind"] == "array" and dtypes.has_floats(arg)


def _overall(found: Sequence[Adjoint]) -> Adjoint:
    """One status for all arguments: the worst; zero only when all are."""
    used = max(part.tolerance_used for part in found)
    for status in ("warp_differs", "not_smooth_here", "agrees"):
        for part in found:
            if part.status == status:
                return Adjoint(status, part.reason, used)
    return Adjoint("zero_gradient")


def _tolerance(args: Sequence[Mapping[str, Any]]) -> float:
    texts = [
        text
        for arg in args
        if _has_gradient(arg)
        for text in (arg["dtype"], *(field["dtype"] for field in arg["fields"]))
    ]
    scalars = {dtypes.parse(text).scalar for text in texts}
    return max(TOLERANCES[scalar] for scalar in scalars & TOLERANCES.keys())


def _float_parts(value: Array) -> list[Array]:
    """Views of the float components of an array: itself, or those fields of a struct."""
    if value.dtype.names is None:
        return [value]
    return [value[name] for name in value.dtype.names if value[name].dtype.kind == "f"]


def _flat(value: Array) -> Array:
    """The float components of an array in one float64 vector."""
    return np.concatenate([part.astype(np.float64).ravel() for part in _float_parts(value)])


def _random(stream: str, count: int) -> Array:
    """Numbers of either sign with sizes from 0.5 to 1, multiples of 1/128."""
    raw = raw_numbers(stream, count)
    size = ((raw >> np.uint64(58)) + np.uint64(65)).astype(np.float64) / 128.0
    signed: Array = np.where(raw & np.uint64(1), size, -size)
    return signed


def draw_cotangents(row: Mapping[str, Any], inputs: Mapping[str, Array]) -> Values:
    """A random cotangent for every float output, of the output's shape and dtype."""
    sinks = [arg for arg in row["args"] if _is_sink(arg)]
    return {a["name"]: _cotangent(a, inputs[a["name"]], row["input_seed"]) for a in sinks}


def _cotangent(arg: Mapping[str, Any], like: Array, input_seed: int) -> Array:
    value = np.zeros(like.shape, like.dtype)
    for position, part in enumerate(_float_parts(value)):
        stream = f"{input_seed}/cotangent/{arg['name']}/{position}"
        part[...] = _random(stream, part.size).reshape(part.shape)
    return value


def run_backward(
    row: Mapping[str, Any],
    dim: Sequence[int],
    after: Mapping[str, Array],
    cotangents: Mapping[str, Array],
    entry: Entry,
) -> tuple[Values, str]:
    """The gradients by argument, and what was wrong with the launch if anything was.

    `after` holds the arguments as the forward launch left them. As Warp's tape launches it:
    gradients hang on the arrays, the adjoint parameters are empty. Raises BadRow and Endless.
    """
    arrays = {a["name"]: after[a["name"]] for a in row["args"] if a["kind"] == "array"}
    starts = {
        a["name"]: cotangents.get(a["name"], np.zeros_like(arrays[a["name"]]))
        for a in row["args"]
        if _has_gradient(a)
    }
    primal, dual = Arena(arrays), Arena(starts)
    values = []
    for arg in row["args"]:
        name = arg["name"]
        if arg["kind"] == "array":
            grad = dual.address(name) if name in starts else 0
            values.append(primal.header(name, len(arg["shape"]), grad))
        else:
            values.append(after[name])
    launch(entry, dim, [*values, *(_empty(value) for value in values)])
    changed = primal.changed(list(arrays))
    trouble = primal.written_outside() or dual.written_outside()
    if not trouble and changed:
        trouble = f"the backward kernel changed {', '.join(changed)}"
    return {name: dual.array(name) for name in starts}, trouble


def _empty(value: Array) -> Array:
    return np.zeros(value.shape, value.dtype)


class _Loss:
    """L as a function of one argument's float components, the others as drawn."""

    def __init__(
        self,
        row: Mapping[str, Any],
        dim: Sequence[int],
        inputs: Mapping[str, Array],
        cotangents: Mapping[str, Array],
    ) -> None:
        self.row, self.dim, self.inputs = row, dim, inputs
        self.weights = {name: _flat(value) for name, value in cotangents.items()}
        self.outputs = self._outputs(inputs)
        self.size = sum(
            float(np.abs(self.weights[name] * self.outputs[name]).sum()) for name in self.weights
        )

    def _outputs(self, inputs: Mapping[str, Array]) -> Values:
        row = self.row
        found = run_reference(row["reference"], row["kernel_name"], row["args"], self.dim, inputs)
        return {name: _flat(found[name]) for name in self.weights}

    def change(self, name: str, step: Array) -> float:
        """L after adding `step` (a flat vector) to argument `name`, less L as it is."""
        moved = self._outputs({**self.inputs, name: _moved(self.inputs[name], step)})
        return sum(
            float((self.weights[key] * (moved[key] - self.outputs[key])).sum()) for key in moved
        )


def _moved(value: Array, step: Array) -> Array:
    """A float64 copy of an array, with `step` added to its float components."""
    if value.dtype.names is None:
        return value.astype(np.float64) + step.reshape(value.shape)
    wide = [
        (name, np.float64 if value.dtype[name].base.kind == "f" else value.dtype[name].base)
        + (value.dtype[name].shape,)
        for name in value.dtype.names
    ]
    moved = value.astype(np.dtype(wide))
    start = 0
    for part in _float_parts(moved):
        part += step[start : start + part.size].reshape(part.shape)
        start += part.size
    return moved


def _compare(arg: Mapping[str, Any], loss: _Loss, gradient: Array, tolerance: float) -> Adjoint:
    name = arg["name"]
    slope = _flat(gradient)
    if not np.isfinite(slope).all():
        return Adjoint("warp_differs", f"the gradient of {name} is not finite")
    direction = _direction(loss, name, slope)
    try:
        ups = [loss.change(name, step * direction) for step in STEPS]
        downs = [loss.change(name, -step * direction) for step in STEPS]
    except ReferenceFailed as failed:
        return Adjoint("not_smooth_here", f"beside {name}: {failed}")
    central = [(u - d) / (2 * s) for u, d, s in zip(ups, downs, STEPS, strict=True)]
    bends = [(u + d) / s for u, d, s in zip(ups, downs, STEPS, strict=True)]
    adjoint = float((slope * direction).sum())
    scale = max(float(np.abs(slope * direction).sum()), *(abs(c) for c in central))
    if scale == 0.0:
        return Adjoint("zero_gradient")
    # What does not shrink with the step is a kink; a curve's bend shrinks as the step does.
    ratio = STEPS[0] / STEPS[1]
    kink = abs(ratio * bends[1] - bends[0]) / (ratio - 1)
    noise = 4 * np.finfo(np.float64).eps * loss.size / STEPS[1]
    doubt = max(abs(central[0] - central[1]), kink, noise)
    if not doubt <= tolerance / 4 * scale:
        return Adjoint("not_smooth_here", f"differences along {name} do not settle")
    used = abs(adjoint - central[0]) / scale / tolerance
    if used > 1:
        what = f"along {name} the adjoint gives {adjoint:.6g}, differences {central[0]:.6g}"
        return Adjoint("warp_differs", what, used)
    return Adjoint("agrees", "", used)


def _direction(loss: _Loss, name: str, slope: Array) -> Array:
    """A random direction in units of the values' spread, along which no element dwarfs the rest.

    Elements with steep slopes are moved less, so that a wrong gradient of a gentle one shows.
    """
    flat = _flat(loss.inputs[name])
    spread = float(np.ptp(flat)) / 2 or float(np.abs(flat).max(initial=0.0)) or 1.0
    steep = np.abs(slope)
    middle = float(np.median(steep[steep > 0])) if steep.any() else 1.0
    with np.errstate(divide="ignore"):
        weight = np.clip(middle / steep, 1 / 1024, 1.0)
    stream = f"{loss.row['input_seed']}/direction/{name}"
    direction: Array = _random(stream, flat.size) * spread * weight
    return direction
