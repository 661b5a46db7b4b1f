"""Array parameters in lanes: one copy of each array for each variant, with access rules checked.

Reads and writes of the base variant are logged by element, so that a value that depends on the
order of threads is found: a plain store and another thread's access to the same element, a load
from an array that others update atomically, two kinds of atomics on one element.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from generators.build.draw import Reject
from generators.program.dtypes import Scalar, Struct, Type, scalar_of
from synth.gates.lanes.values import Lanes, Mask, Values, any_true, storage
from synth.reasons import GateReason

NOBODY, MANY = -1, -2


def component_first(values: Values, array_ndim: int, type_: Type) -> Values:
    """(dims..., components...) as (components..., elements) in the lanes' storage type."""
    components = values.shape[array_ndim:]
    flat = values.reshape(-1, *components)
    last = flat.transpose(*range(1, flat.ndim), 0) if components else flat
    return last.astype(storage(scalar_of(type_)))


def side_by_side(variants: list[Values], array_ndim: int, type_: Type) -> Values:
    """All variants one after the other, component first; most are one and the same."""
    made = {
        id(v): component_first(v, array_ndim, type_) for v in {id(v): v for v in variants}.values()
    }
    return np.concatenate([made[id(v)] for v in variants], axis=-1)


class ArrayMemory:
    """One array parameter: ``data`` is (components..., variant * elements), or a dict by field."""

    def __init__(
        self, name: str, type_: Type, shape: tuple[int, ...], role: str, lanes: Lanes
    ) -> None:
        self.name = name
        self.type = type_
        self.shape = shape
        self.elements = prod(shape)
        self.role = role
        self.lanes = lanes
        self.offset = lanes.variant_of_lane * self.elements
        self.data: Any = None
        self.owner = np.full(self.elements, NOBODY)
        self.reader = np.full(self.elements, NOBODY)
        self.atomic_op = ""

    def fill(self, variants: list[Values]) -> None:
        """Set the values of all variants, each an array of ``shape`` (plus components)."""
        if isinstance(self.type, Struct):
            distinct = {id(v): v for v in variants}
            self.data = {}
            for name, type_ in self.type.fields:
                parts = {key: v[name] for key, v in distinct.items()}
                fields = [parts[id(v)] for v in variants]
                self.data[name] = side_by_side(fields, len(self.shape), type_)
        else:
            self.data = side_by_side(variants, len(self.shape), self.type)

    def flat(self, indices: list[Values], mask: Mask) -> Values:
        """Element numbers in each lane; rejects an index out of bounds in an active lane."""
        position: Any = 0
        for index, extent in zip(indices, self.shape, strict=True):
            active = index if mask is None else np.where(mask, index, 0)
            if any_true((active < 0) | (active >= extent)):
                raise Reject(GateReason.OUT_OF_BOUNDS, self.name)
            position = position * extent + active
        return position + self.offset

    def load(self, indices: list[Values], mask: Mask) -> Any:
        at = self.flat(indices, mask)
        if self.role != "in":
            self._log_read(at, mask)
        if isinstance(self.data, dict):
            return {name: values.take(at, axis=-1) for name, values in self.data.items()}
        return self.data.take(at, axis=-1)

    def store(self, indices: list[Values], value: Any, mask: Mask) -> None:
        at = self.flat(indices, mask)
        self._log_write(at, mask)
        self._write(at, value, mask)

    def _write(self, at: Values, value: Any, mask: Mask) -> None:
        pairs = (
            [(self.data[name], value[name]) for name in self.data]
            if isinstance(self.data, dict)
            else [(self.data, value)]
        )
        for target, source in pairs:
            if mask is None:
                target[..., at] = source
            else:
                target[..., at[mask]] = np.broadcast_to(source, (*target.shape[:-1], at.size))[
                    ..., mask
                ]

    def atomic(self, op: str, indices: list[Values], value: Values, mask: Mask) -> None:
        # A difference is a sum of the negative: the two commute.
        kind = "add" if op == "sub" else op
        if self.atomic_op not in ("", kind):
            raise Reject(
                GateReason.ORDER_DEPENDENT, f"{self.name}: atomic {self.atomic_op} and {op}"
            )
        self.atomic_op = kind
        at = self.flat(indices, mask)
        self._log_atomic(at, mask)
        if mask is not None:
            at, value = at[mask], value[..., mask]
        if not at.size:
            return
        scalar = scalar_of(self.type)
        if scalar.name == "int64" and op in ("add", "sub"):
            # A sum of two such values would wrap around before it can be looked at.
            _check_signed(self.data[..., at], scalar, self.name)
            _check_signed(value, scalar, self.name)
        target: Any = (Ellipsis, at)
        _ATOMIC_UFUNCS[op].at(self.data, target, value)
        if scalar.is_float and op in ("add", "sub"):
            self.lanes.round_sums(
                self.data, scalar, self.elements, int(np.bincount(at.ravel()).max())
            )
        if scalar.is_unsigned and scalar.bits < 64:
            self.data &= (1 << scalar.bits) - 1
        elif scalar.is_int and not scalar.is_unsigned:
            _check_signed(self.data, scalar, self.name)

    def swap(
        self, op: str, indices: list[Values], compare: Values | None, value: Values, mask: Mask
    ) -> None:
        """Exchange, or compare-and-swap: defined where all threads agree on an element's values."""
        if self.atomic_op not in ("", op):
            raise Reject(
                GateReason.ORDER_DEPENDENT, f"{self.name}: atomic {self.atomic_op} and {op}"
            )
        self.atomic_op = op
        at = self.flat(indices, mask)
        self._log_atomic(at, mask)
        active: Any = slice(None) if mask is None else mask
        for agreed in (value,) if compare is None else (value, compare):
            # Noise differs from thread to thread, so only the base lanes are compared.
            where, threads = self._base(at, mask)
            last = np.zeros(self.elements, self.data.dtype)
            last[where] = agreed[threads]
            if (last[where] != agreed[threads]).any():
                raise Reject(GateReason.ORDER_DEPENDENT, f"{self.name}: threads disagree on {op}")
        chosen = active
        if compare is not None:
            equal = self.data[at] == compare
            chosen = equal if mask is None else equal & mask
        self.data[at[chosen]] = value[chosen]

    def _base(self, at: Values, mask: Mask) -> tuple[Values, Values]:
        threads = np.arange(self.lanes.threads)
        base = at[..., : self.lanes.threads]
        if mask is None:
            return base, threads
        active = mask[: self.lanes.threads]
        return base[active], threads[active]

    def _log_read(self, at: Values, mask: Mask) -> None:
        base, threads = self._base(at, mask)
        owner = self.owner[base]
        if ((owner != NOBODY) & (owner != threads)).any():
            raise Reject(
                GateReason.ORDER_DEPENDENT, f"{self.name}: reads what another thread writes"
            )
        if self.role == "out" and (owner == NOBODY).any():
            raise Reject(GateReason.READS_UNWRITTEN, self.name)
        before = self.reader[base]
        self.reader[base] = threads
        crowded = ((before != NOBODY) & (before != threads)) | (self.reader[base] != threads)
        self.reader[base[crowded]] = MANY

    def _log_write(self, at: Values, mask: Mask) -> None:
        base, threads = self._base(at, mask)
        owner, reader = self.owner[base], self.reader[base]
        self.owner[base] = threads
        collides = ((owner != NOBODY) & (owner != threads)) | (self.owner[base] != threads)
        if collides.any():
            raise Reject(GateReason.WRITE_COLLISION, self.name)
        if ((reader != NOBODY) & (reader != threads)).any():
            raise Reject(
                GateReason.ORDER_DEPENDENT, f"{self.name}: writes what another thread reads"
            )

    def _log_atomic(self, at: Values, mask: Mask) -> None:
        base, _ = self._base(at, mask)
        owner = self.owner[base]
        if ((owner != NOBODY) & (owner != MANY)).any() or (self.reader[base] != NOBODY).any():
            raise Reject(GateReason.ORDER_DEPENDENT, f"{self.name}: atomic and plain access")
        self.owner[base] = MANY

    def base_values(self) -> Any:
        return self.variant(0)

    def variant(self, k: int) -> Any:
        """The elements of variant ``k``: (components..., elements), or a dict by field."""
        block = slice(k * self.elements, (k + 1) * self.elements)
        if isinstance(self.data, dict):
            return {name: values[..., block] for name, values in self.data.items()}
        return self.data[..., block]


_ATOMIC_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _check_signed(values: Values, scalar: Scalar, where: str) -> None:
    low, high = scalar.int_range
    if scalar.bits < 64 and (values.min() < low or values.max() > high):
        raise Reject(GateReason.SIGNED_OVERFLOW, where)
    if scalar.bits == 64 and max(-int(values.min()), int(values.max())) > 2**62:
        raise Reject(GateReason.SIGNED_OVERFLOW, where)
