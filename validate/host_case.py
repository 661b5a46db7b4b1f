"""Launch one loaded kernel at every shape of its row and judge what it wrote."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from validate.compare import measure
from validate.inputs import FLOAT_POISON, Array, draw_inputs
from validate.reference import ReferenceFailed, run_reference
from validate.sizes import awkward_sizes, describe, evaluate_all

# Bytes before, between and after the arrays. Read as floats they are NaN, so a read outside an
# array shows as well; wide, so that a write a few rows off is still caught here.
GUARD_BYTES = 4096
_ALIGNMENT_BYTES = 64
_MAX_PARAMETERS = 128

_ARRAY = np.dtype(
    [
        ("data", np.uint64),
        ("grad", np.uint64),
        ("shape", np.int32, (4,)),
        ("strides", np.int32, (4,)),
        ("ndim", np.uint16),
        ("flags", np.uint16),
    ],
    align=True,
)


@dataclass
class Finding:
    """What running one row showed. `status` and the other fields are those of `RunResult`."""

    status: str = "agrees"
    reason: str = ""
    shapes: list[str] = field(default_factory=list)
    max_ulp: float = 0.0
    tolerance_used: float = 0.0


class Arena:
    """The arrays of one launch in a single block of memory, with guards around each."""

    def __init__(self, args: Sequence[Mapping[str, Any]], values: Mapping[str, Array]) -> None:
        self.args = [arg for arg in args if arg["kind"] == "array"]
        self.values = {arg["name"]: values[arg["name"]] for arg in self.args}
        self.start: dict[str, int] = {}
        end = GUARD_BYTES
        for name, value in self.values.items():
            self.start[name] = end
            end += -(-value.nbytes // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES + GUARD_BYTES
        block = np.empty(end + _ALIGNMENT_BYTES, np.uint8)
        self.memory = block[-block.ctypes.data % _ALIGNMENT_BYTES :][:end]
        self.memory.view(np.uint16)[:] = int.from_bytes(FLOAT_POISON, "little")
        for name, value in self.values.items():
            self.bytes_of(name)[:] = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
        self.before = self.memory.copy()

    def bytes_of(self, name: str) -> Array:
        """The bytes of one array in the block, as a view."""
        start = self.start[name]
        return self.memory[start : start + self.values[name].nbytes]

    def array(self, name: str) -> Array:
        """One array as it is now, as a copy."""
        value = self.values[name]
        return self.bytes_of(name).copy().view(value.dtype).reshape(value.shape)

    def header(self, arg: Mapping[str, Any]) -> Array:
        """`wp::array_t` of one array."""
        value = self.values[arg["name"]]
        ndim = len(arg["shape"])
        header = np.zeros((), _ARRAY)
        header["data"] = self.memory.ctypes.data + self.start[arg["name"]]
        header["shape"][:ndim] = value.shape[:ndim]
        header["strides"][:ndim] = value.strides[:ndim]
        header["ndim"] = ndim
        return header

    def damage(self) -> tuple[str, str] | None:
        """The status and reason for a changed guard or a changed input, if there is one."""
        changed = self.memory != self.before
        inputs = []
        for arg in self.args:
            start = self.start[arg["name"]]
            part = changed[start : start + self.values[arg["name"]].nbytes]
            if arg["role"] == "in" and part.any():
                inputs.append(arg["name"])
            part[:] = False
        if changed.any():
            return "wrote_out_of_bounds", self._nearest(int(np.argmax(changed)))
        return ("input_changed", f"wrote to {', '.join(inputs)}") if inputs else None

    def _nearest(self, offset: int) -> str:
        distances = []
        for name, start in self.start.items():
            after = offset - (start + self.values[name].nbytes)
            if offset < start:
                distances.append((start - offset, f"before the start of {name}"))
            elif after >= 0:
                distances.append((after, f"after the end of {name}"))
        distance, place = min(distances)
        return f"wrote {distance} bytes {place}"


class BadRow(ValueError):  # noqa: N818 - a result of a check, not an error of ours
    """The row contradicts itself: no inputs can be drawn, or its kernel takes other parameters."""


def run_case(row: Mapping[str, Any], call_address: int, signature_address: int) -> Finding:
    """Run a row at its shapes. The addresses are those of `host_unit`'s two functions.

    The kernel runs in this process: it may crash it or never return.
    """
    finding = Finding()
    try:
        for sizes in awkward_sizes(row["sizes"]):
            finding.shapes.append(describe(sizes))
            if not _run_shape(row, sizes, call_address, signature_address, finding):
                finding.reason += f" at {finding.shapes[-1]}"
                break
    except ReferenceFailed as failed:
        finding.status = "reference_error"
        finding.reason = f"{failed} at {finding.shapes[-1]}"
    except BadRow as failed:
        finding.status, finding.reason = "bad_row", str(failed)
    return finding


def _run_shape(
    row: Mapping[str, Any],
    sizes: Mapping[str, int],
    call_address: int,
    signature_address: int,
    finding: Finding,
) -> bool:
    args = row["args"]
    try:
        dim = evaluate_all(row["launch"]["dim"], sizes)
        inputs = draw_inputs(args, sizes, row["input_seed"])
    except ValueError as error:
        raise BadRow(f"inputs: {error}") from error
    arena = Arena(args, inputs)
    passed = [arena.header(arg) if arg["kind"] == "array" else inputs[arg["name"]] for arg in args]
    _check_signature(signature_address, len(dim), passed)
    values = [_bounds(dim), *passed]
    addresses = (ctypes.c_void_p * len(values))(*[value.ctypes.data for value in values])
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(call_address)(ctypes.addressof(addresses))
    damage = arena.damage()
    if damage is not None:
        finding.status, finding.reason = damage
        return False
    if row["reference"] is None:
        raise ReferenceFailed("the row has no reference")
    wanted = run_reference(row["reference"], row["kernel_name"], args, dim, inputs)
    return _judge(args, arena, wanted, finding)


def _judge(
    args: Sequence[Mapping[str, Any]],
    arena: Arena,
    wanted: Mapping[str, Array],
    finding: Finding,
) -> bool:
    for arg in args:
        if arg["name"] not in wanted:
            continue
        name = arg["name"]
        agreement = measure(arena.array(name), wanted[name], arg["rtol"], arg["atol"])
        finding.max_ulp = max(finding.max_ulp, agreement.max_ulp)
        finding.tolerance_used = max(finding.tolerance_used, agreement.tolerance_used)
        if agreement.mismatch is not None:
            finding.status, finding.reason = "wrong_value", f"{name}{agreement.mismatch}"
            return False
    return True


def _bounds(dim: Sequence[int]) -> Array:
    """`wp::launch_bounds_t<N>` for a launch dim."""
    described = [("shape", np.uint32, (len(dim),)), ("size", np.uint64), ("mult", np.uint64)]
    bounds = np.zeros((), np.dtype(described, align=True))
    bounds["shape"] = dim
    bounds["size"] = int(np.prod(dim, dtype=np.int64))
    bounds["mult"] = 1
    return bounds


def _check_signature(address: int, dimensions: int, values: Sequence[Array]) -> None:
    """Compare what the kernel takes with what it is about to be given. Raises BadRow."""
    signature = (ctypes.c_uint32 * (2 + _MAX_PARAMETERS))()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(signature))
    if signature[0] != dimensions:
        raise BadRow(
            f"the kernel has {signature[0]} launch dimensions, launch.dim has {dimensions}"
        )
    if signature[1] != len(values):
        raise BadRow(f"the kernel takes {signature[1]} parameters, args has {len(values)}")
    for position, value in enumerate(values):
        size = signature[2 + position]
        if size != value.nbytes:
            raise BadRow(
                f"parameter {position}: {size} bytes in the kernel, {value.nbytes} in args"
            )
