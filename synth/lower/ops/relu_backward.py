"""grad_x = grad_y where y > 0, else 0: the gradient of relu, as autograd has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from synth.lower.gemm.parts import filled
from synth.lower.gemm.plan import BYTES, STORED
from synth.lower.op import Lowered, Op, Operand, one_of

_TEXT = """// grad_x[i] = y[i] <= 0 ? 0 : grad_y[i], where y = max(x, 0) or x itself.
// All arrays start at multiples of 16 bytes.

@include@constexpr int THREADS = @threads@;
constexpr int ITEMS = @items@;
constexpr int GROUP = @group@;

struct __align__(16) Pack { @real@ values[GROUP]; };

extern "C" __global__ void __launch_bounds__(THREADS) relu_backward(
    const @real@* __restrict__ grad_y, const @real@* __restrict__ y, @real@* __restrict__ grad_x,
    int n)
{
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const size_t vector = (static_cast<size_t>(blockIdx.x) * ITEMS + item) * THREADS;
        const size_t first = (vector + threadIdx.x) * GROUP;
        if (first + GROUP <= n) {
            Pack grads = *reinterpret_cast<const Pack*>(grad_y + first);
            const Pack values = *reinterpret_cast<const Pack*>(y + first);
#pragma unroll
            for (int e = 0; e < GROUP; ++e) {
                grads.values[e] = @up_value@ <= @zero@ ? @none@ : grads.values[e];
            }
            *reinterpret_cast<Pack*>(grad_x + first) = grads;
        } else {
            for (size_t i = first; i < n; ++i) {
                grad_x[i] = @up@ <= @zero@ ? @none@ : grad_y[i];
            }
        }
    }
}
"""


@dataclass(frozen=True)
class ReluBackward:
    """Blocks of `threads`, each of which takes `items` vectors of 16 bytes."""

    dtype: str
    threads: int
    items: int

    @property
    def group(self) -> int:
        """Elements of a vector of 16 bytes."""
        return 16 // BYTES[self.dtype]

    @property
    def block(self) -> int:
        """Elements of a block."""
        return self.threads * self.items * self.group


def _read(dtype: str, fields: Mapping[str, Any], said: Mapping[str, Any]) -> ReluBackward:
    one_of("schedule.threads", said["threads"], (64, 128, 256, 512, 1024))
    one_of("schedule.items", said["items"], (1, 2, 4, 8))
    return ReluBackward(dtype, **said)


def _lower(r: ReluBackward) -> Lowered:
    real, narrow = STORED[r.dtype], r.dtype == "float16"
    zero = "0.0" if r.dtype == "float64" else "0.0f"
    text = filled(
        _TEXT,
        include="#include <cuda_fp16.h>\n\n" if narrow else "",
        threads=str(r.threads),
        items=str(r.items),
        group=str(r.group),
        up_value="__half2float(values.values[e])" if narrow else "values.values[e]",
        up="__half2float(y[i])" if narrow else "y[i]",
        none="__float2half(0.0f)" if narrow else zero,
        zero=zero,
        real=real,
    )
    args: list[dict[str, str | None]] = [
        {"name": "grad_y", "type": f"const {real}*", "size": None},
        {"name": "y", "type": f"const {real}*", "size": None},
        {"name": "grad_x", "type": f"{real}*", "size": None},
        {"name": "n", "type": "int", "size": "n"},
    ]
    launch = {"grid": [f"(n - 1) / {r.block} + 1"], "block": [r.threads], "shared_bytes": 0}
    return Lowered("relu_backward", text, args, launch, [])


OP = Op(
    name="relu_backward",
    sizes=("n",),
    dtypes=("float32", "float64", "float16"),
    fields={},
    schedule=lambda dtype: {"threads": 256, "items": 4},
    read=_read,
    shared_bytes=lambda r: 0,
    lower=_lower,
    operands=lambda r: [Operand(name, r.dtype, ("n",)) for name in ("grad_y", "y", "grad_x")],
    reference=lambda r: (
        "import numpy as np\n\n\ndef relu_backward(dim, grad_y, y, grad_x):\n"
        "    passed = np.array(y, np.float64) > 0.0\n"
        "    grad_x[:] = np.where(passed, np.array(grad_y, np.float64), 0.0)\n"
    ),
    tolerance=lambda r, sizes: (0.0, 0.0),
    shapes=lambda r: [(2 * r.block,), (r.block + 37,), (1,), (7,), (1001,)],
    work=lambda r, sizes: 2 * sizes["n"],
    trials=lambda: [
        {"dtype": dtype, "schedule": {"threads": threads, "items": items}}
        for dtype in ("float32", "float64", "float16")
        for threads, items in ((64, 1), (128, 4), (256, 2))
    ],
)
