"""Lowered texts compiled by NVRTC, and run on the host against a float64 reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from synth.lower.op import Lowered, Operand, OpSpec
from synth.lower.spec import Spec
from validate.host.runner import HostRunner
from validate.nvrtc.compiler import CompileRunner
from validate.row.sizes import evaluate
from validate.text import formula
from validate.text.launches import FORMULA, listed

Shape = tuple[int, ...]
AnySpec = Spec | OpSpec

MOST_PRODUCTS = 1 << 22
"""Most products of a shape, in whole tiles: more take a minute on the host."""

MOST_STEPS = 32_000
"""Most tiles along k: the host run counts up to 65,535 barriers, two a tile."""

INPUT_SEED = 2025
_TIMEOUT_S = 120.0
# Bits of the whole numbers from -4 to 4.
_BFLOAT16 = ("49280", "49216", "49152", "49024", "0", "16256", "16384", "16448", "16512")
_UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}


@dataclass(frozen=True)
class Check:
    """What the host run at one shape showed.

    `shape` has m, n and k. `status` is a `validate.statuses.RunStatus`, "agrees" when every
    element is within `atol` of the reference; `error` is the largest error as a share of `atol`.
    """

    shape: dict[str, int]
    status: str
    reason: str
    atol: float
    error: float

    def as_dict(self) -> dict[str, Any]:
        """The check as JSON has it."""
        return asdict(self)


@dataclass(frozen=True)
class Compiled:
    """What NVRTC said of a text for an architecture; `status` of `validate.nvrtc.compiler`."""

    arch: str
    status: str
    log: str


def default_shapes(spec: AnySpec) -> list[Shape]:
    """Whole tiles; ragged edges; one element; tall and wide, of whole vectors."""
    if isinstance(spec, OpSpec):
        return spec.kind.shapes(spec.plan)
    s = spec.schedule
    whole = (s.tile_m, 2 * s.tile_n, 2 * s.tile_k)
    return [whole, (37, 41, 2 * s.tile_k + 3), (1, 1, 1), (131, 4, 20), (5, 132, 12)]


def fits_host(spec: AnySpec, shape: Shape) -> bool:
    """Whether a shape (m, n, k) is small enough for a run on the host."""
    if isinstance(spec, OpSpec):
        return spec.fits_host(shape)
    if min(shape) < 1:
        return False
    if spec.op == "relu":
        return shape[0] * shape[1] <= MOST_PRODUCTS
    tiles = (spec.schedule.tile_m, spec.schedule.tile_n, spec.schedule.tile_k)
    counts = [-(-size // tile) for size, tile in zip(shape, tiles, strict=True)]
    return counts[2] <= MOST_STEPS and prod(counts) * prod(tiles) <= MOST_PRODUCTS


def tolerance(spec: Spec, k: int) -> float:
    """The most an element may be off when the elements of a and b are uniform in [-1, 1].

    4 * k * u, with u 2**-24 for float32 and 2**-53 for float64: up to k = 5 the kernel's roundings
    do not exceed it; beyond, errors walk at random and have a standard deviation of about
    0.14 * k * u. A product too many or too few is off by 0.25 on average. relu rounds nothing, and
    must be exact.
    """
    return 0.0 if spec.op == "relu" else 4.0 * k * _UNIT[spec.dtype]


def symbolic_row(spec: AnySpec, lowered: Lowered, sizes: Mapping[str, int]) -> dict[str, Any]:
    """What a row says of a text and its op, in formulas of the op's sizes; ``sizes`` are those for
    which tolerances are told."""
    return {
        "kernel_name": lowered.kernel_name,
        "reference": spec.kind.reference(spec.plan)
        if isinstance(spec, OpSpec)
        else _reference(spec),
        "args": _operands(spec, sizes) if isinstance(spec, OpSpec) else _args(spec, sizes),
        "cuda_plain": lowered.text,
        "plain_args": lowered.args,
        "plain_launch": list(listed(lowered.launch)),
        "plain_scratch": list(lowered.scratch),
    }


def row_of(spec: AnySpec, lowered: Lowered, shape: Shape) -> dict[str, Any]:
    """A row, as far as `HostRunner.run_plain` and `CompileRunner.compile_plain` read it.

    Its sizes are numbers, so that it is run at this shape and no other.
    """
    sizes = dict(zip(spec.sizes, shape, strict=True))
    row = symbolic_row(spec, lowered, sizes)
    scratch = row.pop("plain_scratch")
    row |= {
        "id": f"{spec.key()[:16]}-{'x'.join(map(str, shape))}",
        "args": [
            {**arg, "shape": [str(formula.evaluate(extent, sizes)) for extent in arg["shape"]]}
            for arg in row["args"]
        ],
        "sizes": [],
        "launch": {"dim": ["1"]},
        "input_seed": INPUT_SEED,
        "plain_args": [
            {**arg, "size": str(evaluate(arg["size"], sizes)) if arg["size"] else None}
            for arg in lowered.args
        ],
        "plain_launch": [_evaluated(launch, sizes) for launch in row["plain_launch"]],
    }
    if scratch:
        row["plain_scratch"] = [
            {**one, "count": str(formula.evaluate(one["count"], sizes))} for one in scratch
        ]
    return row


def _evaluated(launch: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """A launch whose formulas are numbers."""
    found = {**launch, "grid": [str(formula.evaluate(extent, sizes)) for extent in launch["grid"]]}
    if "args" in launch:
        found["args"] = [
            f"={formula.evaluate(name[1:], sizes)}" if name.startswith(FORMULA) else name
            for name in launch["args"]
        ]
    return found


def run_shapes(spec: AnySpec, lowered: Lowered, shapes: Sequence[Shape]) -> list[Check]:
    """Run a text on the host at each shape (m, n, k), in a child process.

    Raises HostRunUnavailable when there is no compiler for it.
    """
    rows = [row_of(spec, lowered, shape) for shape in shapes]
    with HostRunner(timeout_s=_TIMEOUT_S) as runner:
        results = runner.run_plain(rows)
    return [
        Check(
            dict(zip(spec.sizes, shape, strict=True)),
            result.status,
            result.reason.strip().removesuffix(" at"),
            atol_at(spec, shape),
            result.tolerance_used,
        )
        for shape, result in zip(shapes, results, strict=True)
    ]


def compile_archs(spec: AnySpec, lowered: Lowered, archs: Sequence[str]) -> list[Compiled]:
    """Compile a text with NVRTC for each architecture, in a child process.

    Raises CompileUnavailable without NVRTC, ValueError for an unknown architecture.
    """
    found = []
    for arch in archs:
        with CompileRunner(archs=[arch]) as compiler:
            (result,) = compiler.compile_plain([row_of(spec, lowered, (1,) * len(spec.sizes))])
        found.append(Compiled(arch, result.status, result.log))
    return found


def _reference(spec: Spec) -> str:
    """Plain Python that computes the op in float64."""
    if spec.op == "relu":
        return (
            "import numpy as np\n\n\ndef relu(dim, x, y):\n"
            "    y[:] = np.maximum(np.array(x, np.float64), 0.0)\n"
        )
    b = "np.transpose(b)" if spec.transpose_b else "b"
    product = f"np.matmul(np.array(a, np.float64), np.array({b}, np.float64))"
    value = f"np.maximum({product}, 0.0)" if spec.op == "matmul_relu" else product
    return f"import numpy as np\n\n\ndef {spec.op}(dim, a, b, c):\n    c[:, :] = {value}\n"


def atol_at(spec: AnySpec, shape: Shape) -> float:
    """The absolute tolerance of an output at a shape."""
    if isinstance(spec, OpSpec):
        return spec.kind.tolerance(spec.plan, dict(zip(spec.sizes, shape, strict=True)))[1]
    return tolerance(spec, shape[2])


def _operands(spec: OpSpec, sizes: Mapping[str, int]) -> list[dict[str, Any]]:
    listed = spec.kind.operands(spec.plan)
    rtol, atol = spec.kind.tolerance(spec.plan, sizes)
    found = []
    for one in listed:
        made = one.out or one is listed[-1]
        compared = made and one.dtype.startswith("float")
        found.append(
            {
                "name": one.name,
                "kind": "array",
                "dtype": one.dtype,
                "role": "out" if made else "in",
                "shape": list(one.shape),
                **_drawn(one),
                "fields": [],
                "rtol": rtol if compared else None,
                "atol": atol if compared else None,
            }
        )
    return found


def _drawn(operand: Operand) -> dict[str, Any]:
    if operand.bfloat16:
        return {"init": "uniform", "low": "0", "high": "0", "among": list(_BFLOAT16)}
    low, high = (-128, 127) if operand.dtype == "int8" else (operand.low, operand.high)
    return {"init": "uniform", "low": str(low), "high": str(high)}


def _args(spec: Spec, sizes: Mapping[str, int]) -> list[dict[str, Any]]:
    if spec.op == "relu":
        shapes = {"x": "mn", "y": "mn"}
    else:
        shapes = {"a": "mk", "b": "nk" if spec.transpose_b else "kn", "c": "mn"}
    last = list(shapes)[-1]
    return [
        {
            "name": name,
            "kind": "array",
            "dtype": spec.dtype,
            "role": "out" if name == last else "in",
            "shape": list(symbols),
            "init": "uniform",
            "low": "-1",
            "high": "1",
            "fields": [],
            "rtol": 0.0 if name == last else None,
            "atol": tolerance(spec, sizes["k"]) if name == last else None,
        }
        for name, symbols in shapes.items()
    ]
