"""One shape of an op where candidates run: its arrays, and what they must compute in float64.

The references of ops are plain Python over NumPy; here NumPy may be CuPy, on large arrays.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from synth.lower.op import Operand, OpSpec
from synth.lower.spec import read_spec
from validate.text.formula import evaluate

MOST_ROWS = 1 << 17
"""Most turns of a reference's loop over rows, each some calls of the device."""

_NARROW = "bfloat16"
_SEED = 2025


@dataclass(frozen=True)
class Errors:
    """What an output is off by: `norm` of it by that of what is wanted, and the largest error as a
    share of what is allowed. NaN counts as infinite."""

    norm: float
    share: float


class Case:
    """Arrays of an op at sizes, by name, the output last; `xp` is NumPy or CuPy."""

    def __init__(self, spec: OpSpec, sizes: Mapping[str, int], xp: Any) -> None:
        self.xp, self.sizes = xp, dict(sizes)
        self.narrow = spec.dtype == _NARROW
        *given, self.out = spec.kind.operands(spec.plan)
        drawn = np.random.default_rng(_SEED)
        host = {one.name: _drawn(one, self.sizes, drawn) for one in given}
        self.arrays = {name: xp.asarray(values) for name, values in host.items()}
        self.arrays[self.out.name] = xp.zeros(_extents(self.out, self.sizes), self.out.dtype)
        self.bytes_moved = sum(int(array.nbytes) for array in self.arrays.values())
        self.wanted = self._wanted(spec) if computable(spec, self.sizes) else None

    def clear(self) -> None:
        """Have no result of another candidate stand in the output."""
        self.arrays[self.out.name].view(np.uint8).fill(0xFF)

    def errors(self, spec: OpSpec) -> Errors:
        """How far the output is off. Only where there is something `wanted`."""
        xp, found = self.xp, self.arrays[self.out.name]
        rtol, atol = spec.kind.tolerance(spec.plan, self.sizes)
        wanted: Any = self.wanted
        if self.narrow:
            found, wanted = _decoded(xp, found), _rounded(xp, wanted)
        off = xp.abs(found.astype(np.float64) - wanted)
        allowed = atol + rtol * xp.abs(wanted)
        share = xp.where(off == 0.0, 0.0, off / xp.where(allowed > 0.0, allowed, 1e-300))
        scale = float(xp.sqrt(xp.sum(wanted * wanted)))
        norm = float(xp.sqrt(xp.sum(off * off))) / (scale or 1.0)
        return Errors(_known(norm), _known(float(xp.max(share))))

    def _wanted(self, spec: OpSpec) -> Any:
        """The result in float64, from the op's own reference."""
        same = spec
        arrays = dict(self.arrays)
        if self.narrow:
            # Of bfloat16 the reference decodes one element at a time.
            plain = {n: v for n, v in spec.as_dict().items() if n not in ("schedule", "dtype")}
            wide = read_spec({**plain, "dtype": "float32"})
            assert isinstance(wide, OpSpec)
            same = wide
            del arrays[self.out.name]
            arrays = {name: _decoded(self.xp, values) for name, values in arrays.items()}
        shape = self.arrays[self.out.name].shape
        arrays[self.out.name] = self.xp.zeros(shape, np.float64)
        scope: dict[str, Any] = {"np": self.xp}
        source = same.kind.reference(same.plan).replace("import numpy as np\n", "")
        # The text is ours, and CuPy stands for NumPy in it.
        exec(compile(source, "<reference>", "exec"), scope)
        scope[same.op](None, **arrays)
        return arrays[self.out.name]


def computable(spec: OpSpec, sizes: Mapping[str, int]) -> bool:
    """Whether a reference is of whole arrays, but for one loop over rows."""
    if spec.dtype == _NARROW:
        return "activation" not in dict(spec.fields) or dict(spec.fields)["activation"] != "gelu"
    tree = ast.parse(spec.kind.reference(spec.plan))
    walked = list(ast.walk(tree))
    loops = [node for node in walked if isinstance(node, ast.For)]
    inner = [node for loop in loops for node in ast.walk(loop) if isinstance(node, ast.For)]
    many = (ast.While, ast.ListComp, ast.GeneratorExp)
    if any(isinstance(node, many) for node in walked) or len(inner) > 1:
        return False
    return not loops or max(sizes.values()) <= MOST_ROWS


def _extents(one: Operand, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(int(evaluate(extent, sizes)) for extent in one.shape)


def _drawn(one: Operand, sizes: Mapping[str, int], drawn: np.random.Generator) -> Any:
    shape = _extents(one, sizes)
    if one.bfloat16:
        whole = drawn.integers(-4, 5, shape, np.int32).astype(np.float32)
        return (whole.view(np.uint32) >> 16).astype(np.uint16)
    if one.dtype == "int8":
        return drawn.integers(-128, 128, shape, np.int32).astype(one.dtype)
    if np.dtype(one.dtype).kind in "iu":
        return drawn.integers(one.low, one.high + 1, shape, np.int32).astype(one.dtype)
    wide = np.float64 if one.dtype == "float64" else np.float32
    return (drawn.random(shape, wide) * 2 - 1).astype(one.dtype)


def _decoded(xp: Any, bits: Any) -> Any:
    """bfloat16 as float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _rounded(xp: Any, values: Any) -> Any:
    """float64 to the nearest bfloat16, ties to even; sums of whole numbers are exact in float32."""
    bits = values.astype(np.float32).view(np.uint32)
    nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return (nearest << 16).astype(np.uint32).view(np.float32).astype(np.float64)


def _known(value: float) -> float:
    return value if value == value else float("inf")
