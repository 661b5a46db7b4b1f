"""Compare outputs with the reference: tolerances, the worst element, errors in ulps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from validate.row.inputs import Array
from validate.statuses import AdjointStatus, RunStatus

# One element in so many may be decided by an ulp at a shape that no gate has seen.
_LANES = 500
_AT_ONCE = 1 << 14
_MOST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Mismatch:
    """The element that is furthest outside its tolerance.

    `index` counts array axes, then component axes; `field` is the struct field, if any; `error` is
    the absolute error (inf when a value is NaN or infinite on one side only).
    """

    index: tuple[int, ...]
    got: float | int | bool
    want: float | int | bool
    error: float
    bad: int
    total: int
    field: str | None = None

    def __str__(self) -> str:
        place = f"[{', '.join(map(str, self.index))}]" + (f".{self.field}" if self.field else "")
        return f"{place} is {self.got!r}, not {self.want!r} ({self.bad} of {self.total} differ)"


@dataclass(frozen=True)
class Agreement:
    """How well one output agrees.

    `tolerance_used` is the largest error as a share of the tolerance there (above 1 is a
    mismatch); `max_ulp` the largest error in units of the last place of the output's dtype.
    """

    mismatch: Mismatch | None
    tolerance_used: float
    max_ulp: float


def compare(got: Array, want: Array, rtol: float | None, atol: float | None) -> Mismatch | None:
    """The worst disagreement of an output with its reference, or None when every element passes.

    Floats pass when `abs(got - want) <= atol + rtol * abs(want)` and neither is NaN (equal
    infinities pass); integers and bools must be equal, and a bool must be stored as 0 or 1;
    structs are compared field by field. Raises ValueError when the shapes differ or a float
    output has no tolerance.
    """
    if _agrees(got, want, rtol, atol):
        return None
    return measure(got, want, rtol, atol).mismatch


def compare_widely(
    got: Array,
    want: Array,
    rtol: float | None,
    atol: float | None,
    times: float,
    jumps: bool = True,
) -> Mismatch | None:
    """As `compare`, at a shape whose tolerances were not measured and whose jumps nobody has seen.

    Tolerances are so many times the given ones and, with `jumps`, one element in 500 may be decided
    by a jump: where there are floats.
    """
    wide = [None if of is None else times * of for of in (rtol, atol)]
    found = compare(got, want, *wide)
    few = jumps and found is not None and found.bad * _LANES <= found.total
    return None if few else found


def _agrees(got: Array, want: Array, rtol: float | None, atol: float | None) -> bool:
    """Whether every element surely passes; in pieces, because large arrays do not fit a cache."""
    if got.shape != want.shape:
        return False
    if got.dtype.names is not None:
        return all(_agrees(got[name], want[name], rtol, atol) for name in got.dtype.names)
    if got.dtype.kind != "f":
        return _measure_exact(got, want).mismatch is None
    if rtol is None or atol is None:
        return False
    got, want = got.reshape(-1), want.reshape(-1)
    with np.errstate(all="ignore"):
        for start in range(0, got.size, _AT_ONCE):
            wanted = want[start : start + _AT_ONCE].astype(np.float64)
            error = np.abs(got[start : start + _AT_ONCE].astype(np.float64) - wanted)
            tolerance = np.minimum(atol + rtol * np.abs(wanted), _MOST)
            if not (error <= tolerance).all():
                return False
    return True


def measure(got: Array, want: Array, rtol: float | None, atol: float | None) -> Agreement:
    """As `compare`, with the share of the tolerance used and the error in ulps."""
    if got.shape != want.shape:
        raise ValueError(f"shapes differ: got {got.shape}, want {want.shape}")
    if got.dtype.names is not None:
        return _measure_fields(got, want, rtol, atol)
    if got.dtype.kind != "f":
        return _measure_exact(got, want)
    if rtol is None or atol is None:
        raise ValueError("a float output needs rtol and atol")
    return _measure_floats(got, want, rtol, atol)


def max_ulp(got: Array, want: Array, rtol: float, atol: float) -> float:
    """The largest error of a float array in ulps of its dtype at the size of `want`.

    Where `want` is below `atol / rtol`, absolute error is what counts, so the ulp is taken there:
    an exact zero does not make an error of 1e-9 look like 1e36 ulps.
    """
    return _measure_floats(got, want, rtol, atol).max_ulp


def round_up_125(value: float) -> float:
    """Round up to the next 1, 2 or 5 times a power of ten, so that CPUs agree on what is stored."""
    if not value > 0.0 or math.isinf(value):
        return value
    exponent = math.floor(math.log10(value)) - 1
    while True:
        for step in (1, 2, 5):
            # Through text, because 5 * 10.0**-3 is not the double nearest to 0.005.
            rounded = float(f"{step}e{exponent}")
            if rounded >= value:
                return rounded
        exponent += 1


def _measure_fields(got: Array, want: Array, rtol: float | None, atol: float | None) -> Agreement:
    names = got.dtype.names or ()
    parts = {name: measure(got[name], want[name], rtol, atol) for name in names}
    worst = max(parts, key=lambda name: parts[name].tolerance_used)
    found = parts[worst].mismatch
    if found is not None:
        found = Mismatch(
            found.index, found.got, found.want, found.error, found.bad, found.total, worst
        )
    return Agreement(
        found, parts[worst].tolerance_used, max(part.max_ulp for part in parts.values())
    )


def _measure_exact(got: Array, want: Array) -> Agreement:
    if got.dtype.kind == "b":
        got, want = got.view(np.uint8), want.astype(np.uint8)
    wrong = got != want
    bad = int(np.count_nonzero(wrong))
    if not bad:
        return Agreement(None, 0.0, 0.0)
    index = _unravel(int(np.argmax(wrong)), got.shape)
    difference = abs(int(got[index]) - int(want[index]))
    mismatch = Mismatch(
        index, got[index].item(), want[index].item(), float(difference), bad, got.size
    )
    return Agreement(mismatch, math.inf, 0.0)


def _measure_floats(got: Array, want: Array, rtol: float, atol: float) -> Agreement:
    if not got.size:
        return Agreement(None, 0.0, 0.0)
    with np.errstate(all="ignore"):
        wide = got.astype(np.float64)
        error = np.abs(wide - want)
        error = np.where(wide == want, 0.0, np.where(np.isfinite(error), error, np.inf))
        tolerance = atol + rtol * np.abs(want)
        # NaN means 0 / 0 or inf / inf: the first is exact, the second has inf as its error.
        share = np.where(error == 0.0, 0.0, error / tolerance)
        share = np.where(np.isnan(share), np.inf, share)
        passes = (error == 0.0) | ((error <= tolerance) & np.isfinite(error))
        ulps = error / _spacing(np.maximum(np.abs(want), _crossover(rtol, atol)), got.dtype)
    index = _unravel(int(np.argmax(share)), got.shape)
    used, ulp = float(share.max()), float(np.nanmax(ulps, initial=0.0))
    bad = int(got.size - np.count_nonzero(passes))
    if not bad:
        return Agreement(None, used, ulp)
    mismatch = Mismatch(
        index, got[index].item(), want[index].item(), float(error[index]), bad, got.size
    )
    return Agreement(mismatch, used, ulp)


def _crossover(rtol: float, atol: float) -> float:
    return atol / rtol if rtol > 0.0 else atol


def _spacing(size: Array, dtype: np.dtype[Any]) -> Array:
    limits = np.finfo(dtype)
    clipped = np.clip(np.nan_to_num(size), float(limits.tiny), float(limits.max))
    rounded = np.minimum(clipped.astype(dtype), limits.max)
    # The spacing of the largest number would be infinite seen upwards: look downwards.
    spacing: Array = (rounded - np.nextafter(rounded, dtype.type(0))).astype(np.float64)
    return spacing


def _unravel(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape))


@dataclass
class Finding:
    """`status` and the other fields are those of `RunResult` in `validate.host.runner`."""

    status: str = RunStatus.AGREES
    reason: str = ""
    shapes: list[str] = field(default_factory=list)
    max_ulp: float = 0.0
    tolerance_used: float = 0.0
    adjoint: str = AdjointStatus.OFF
    adjoint_reason: str = ""
    adjoint_tolerance_used: float = 0.0
    array: str = ""
    array_reason: str = ""


def compare_outputs(
    args: Sequence[Mapping[str, Any]],
    outputs: Mapping[str, Array],
    wanted: Mapping[str, Array],
    finding: Finding,
    against: str = "",
) -> bool:
    """Whether outputs agree; `finding` is told how well, and where they do not."""
    for arg in args:
        name = arg["name"]
        if name not in wanted:
            continue
        agreement = measure(outputs[name], wanted[name], arg["rtol"], arg["atol"])
        finding.max_ulp = max(finding.max_ulp, agreement.max_ulp)
        finding.tolerance_used = max(finding.tolerance_used, agreement.tolerance_used)
        if agreement.mismatch is not None:
            finding.status = RunStatus.WRONG_VALUE
            finding.reason = f"{against}{name}{agreement.mismatch}"
            return False
    return True
