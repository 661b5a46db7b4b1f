"""Directional derivatives of a row's reference, by central differences in float64.

With a cotangent w for each float output, L = sum(w * output) is a function of one argument's float
components x, and its derivative along a direction d is (L(x + h d) - L(x - h d)) / (2 h).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from validate.oracle.effort import Budget
from validate.oracle.reference import run_reference
from validate.row import dtypes
from validate.row.inputs import Array, raw_numbers

STEPS = (1e-5, 1e-6)
"""Step sizes h, as a share of the spread of the argument's values."""

Values = dict[str, Array]


def float_parts(value: Array) -> list[Array]:
    """Views of the float components of an array: itself, or those fields of a struct."""
    if value.dtype.names is None:
        return [value]
    return [value[name] for name in value.dtype.names if value[name].dtype.kind == "f"]


def flat(value: Array) -> Array:
    """The float components of an array in one float64 vector."""
    return np.concatenate([part.astype(np.float64).ravel() for part in float_parts(value)])


def random_numbers(stream: str, count: int) -> Array:
    """Numbers of either sign with sizes from 0.5 to 1, multiples of 1/128."""
    raw = raw_numbers(stream, count)
    size = ((raw >> np.uint64(58)) + np.uint64(65)).astype(np.float64) / 128.0
    signed: Array = np.where(raw & np.uint64(1), size, -size)
    return signed


class Loss:
    """L as a function of one argument's float components, the others as drawn."""

    def __init__(
        self,
        row: Mapping[str, Any],
        dim: Sequence[int],
        inputs: Mapping[str, Array],
        cotangents: Mapping[str, Array],
        wanted: Mapping[str, Array] | None = None,
        budget: Budget | None = None,
    ) -> None:
        """`wanted` is what the reference makes of the inputs, where that is known; otherwise it is
        run once, within `budget`."""
        self.row, self.dim, self.inputs = row, dim, inputs
        self.weights = {name: flat(value) for name, value in cotangents.items()}
        self.outputs = self._outputs(inputs, budget) if wanted is None else self._flat(wanted)
        self.size = sum(
            float(np.abs(self.weights[name] * self.outputs[name]).sum()) for name in self.weights
        )

    def _outputs(self, inputs: Mapping[str, Array], budget: Budget | None = None) -> Values:
        text, name, args = (self.row[key] for key in ("reference", "kernel_name", "args"))
        return self._flat(run_reference(text, name, args, self.dim, inputs, budget=budget))

    def _flat(self, found: Mapping[str, Array]) -> Values:
        return {name: flat(found[name]) for name in self.weights}

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
    for part in float_parts(moved):
        part += step[start : start + part.size].reshape(part.shape)
        start += part.size
    return moved


@dataclass(frozen=True)
class Slope:
    """The derivative of L along a direction, and by how much it may be off."""

    value: float
    doubt: float


def derivative(loss: Loss, name: str, direction: Array, found: float, enough: float) -> Slope:
    """The derivative of L along a direction; `doubt` is at most `enough` where it can be trusted.

    The doubt covers the difference between the two step sizes, a kink at the point itself (the
    slopes to both sides differ), and rounding. The smaller step is taken only where the larger one
    does not settle it: where its difference is within `enough` of `found`, the slope that is to be
    judged, and the slopes to both sides are as close to each other. A kink between the two steps
    would show in the first of these, for `found` is the slope at the point itself.

    Raises ReferenceFailed where the reference is not defined a step away.
    """
    rounding = 4 * float(np.finfo(np.float64).eps) * loss.size / STEPS[1]
    large, bend = _central(loss, name, direction, STEPS[0])
    settled = max(abs(found - large), abs(bend), rounding)
    if settled <= enough:
        return Slope(large, settled)
    small, small_bend = _central(loss, name, direction, STEPS[1])
    # What does not shrink with the step is a kink; a curve's bend shrinks as the step does.
    ratio = STEPS[0] / STEPS[1]
    kink = abs(ratio * small_bend - bend) / (ratio - 1)
    return Slope(large, max(abs(large - small), kink, rounding))


def _central(loss: Loss, name: str, direction: Array, step: float) -> tuple[float, float]:
    """The central difference, and the slope upwards less the slope downwards."""
    up, down = (loss.change(name, sign * step * direction) for sign in (1, -1))
    return (up - down) / (2 * step), (up + down) / step


def direction_for(
    loss: Loss, arg: Mapping[str, Any], slope: Array, number: int, noise: float
) -> Array:
    """The `number`-th random direction, in units of the values' spread.

    Elements with steep slopes are moved less, so that a wrong gradient of a gentle one shows: those
    steeper than the median. `noise` is a share of the steepest slope; a gentler one is no part of
    the median, for it may be a zero that rounding moved, on one machine and not on the next.
    Vectors and quaternions of length 1 are moved along the sphere: what a kernel gives for other
    lengths is not said.
    """
    name = arg["name"]
    values = flat(loss.inputs[name])
    spread = float(np.ptp(values)) / 2 or float(np.abs(values).max(initial=0.0)) or 1.0
    steep = np.abs(slope)
    middle = float(np.median(steep[steep > noise * steep.max()])) if steep.any() else 1.0
    with np.errstate(divide="ignore"):
        weight = np.clip(middle / steep, 1 / 1024, 1.0)
    stream = f"{loss.row['input_seed']}/direction/{name}/{number}"
    direction: Array = random_numbers(stream, values.size) * spread * weight
    start = 0
    for entry, part in zip(_float_entries(arg), float_parts(loss.inputs[name]), strict=True):
        if entry["init"] == "unit":
            moved = direction[start : start + part.size].reshape(part.shape)
            _keep_length(moved, part.astype(np.float64), dtypes.parse(entry["dtype"]).kind)
        start += part.size
    return direction


def _float_entries(arg: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What describes each of `_float_parts`: the argument itself, or its float fields."""
    if not arg["fields"]:
        return [arg]
    return [field for field in arg["fields"] if dtypes.parse(field["dtype"]).is_float]


def _keep_length(direction: Array, value: Array, kind: str) -> None:
    """Take out of `direction` what would change the length of unit vectors, in place."""
    first = 3 if kind == "transform" else 0
    unit, along = value[..., first:], direction[..., first:]
    along -= (along * unit).sum(axis=-1, keepdims=True) * unit
