"""Integer arithmetic in lanes: unsigned types wrap, signed ones must not overflow."""

from __future__ import annotations

import numpy as np

from generators.build.draw import Reject
from generators.program.dtypes import Scalar
from synth.gates.lanes.values import Mask, Values, any_active
from synth.reasons import GateReason

_SAFE_64 = 2.0**62
_SAFE_FACTOR = 2**30
_SUMS = frozenset({"dot", "ddot", "length_sq"})
_GROWING = frozenset({"add", "sub", "mul", "lshift", "neg", "abs"})


def wrap(op: str, values: Values, args: list[Values], scalar: Scalar, mask: Mask) -> Values:
    """Bring an op's integer results into the range of their type, or reject the draw."""
    if scalar.is_unsigned:
        return values if scalar.bits == 64 else values & ((1 << scalar.bits) - 1)
    if scalar.bits < 64:
        low, high = scalar.int_range
        if op in _SUMS and any(any_active(np.abs(a) > _SAFE_FACTOR, mask) for a in args):
            # A sum of products of such values could wrap around even in 64 bits.
            raise Reject(GateReason.SIGNED_OVERFLOW, op)
        if any_active((values < low) | (values > high), mask):
            raise Reject(GateReason.SIGNED_OVERFLOW, op)
    elif op in _GROWING and any_active(np.abs(_estimate(op, args)) > _SAFE_64, mask):
        raise Reject(GateReason.SIGNED_OVERFLOW, op)
    return values


def _estimate(op: str, args: list[Values]) -> Values:
    """The result in float64: close enough to tell a 64-bit overflow, with a wide guard band."""
    floats = [a.astype(np.float64) for a in args]
    if op == "mul":
        return floats[0] * floats[1]
    if op == "lshift":
        return floats[0] * np.exp2(floats[1])
    return sum((np.abs(f) for f in floats), np.zeros_like(floats[0]))


def convert(values: Values, source: Scalar, target: Scalar, mask: Mask) -> Values:
    """Cast to an integer type; rejects what does not fit (wide integers wrap to unsigned)."""
    if source.is_float:
        values = np.trunc(values)
        low, high = target.int_range
        bad = ~((values >= float(low)) & (values <= float(high)))
        if target.bits == 64:
            bad |= np.abs(values) > _SAFE_64
        if any_active(bad, mask):
            raise Reject(GateReason.BAD_CAST, f"{source} to {target}")
        values = np.where(bad, 0, values)
        return values.astype(np.uint64 if target.name == "uint64" else np.int64)
    if target.is_unsigned:
        wide = values.astype(np.uint64 if target.name == "uint64" else np.int64)
        if not source.is_unsigned and source.name != "bool" and any_active(values < 0, mask):
            raise Reject(GateReason.BAD_CAST, f"negative {source} to {target}")
        return wide if target.bits == 64 else wide & ((1 << target.bits) - 1)
    low, high = target.int_range
    if any_active((values < low) | (values > high), mask):
        raise Reject(GateReason.BAD_CAST, f"{source} to {target}")
    return values.astype(np.int64)
