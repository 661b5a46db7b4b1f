"""counts[b] = how many x are b: counted by blocks in shared memory, then added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from synth.errors import SettingsError
from synth.lower.gemm.parts import filled
from synth.lower.op import Lowered, Op, Operand, one_of, whole
from validate.row.archs import MOST_OPT_IN_SHARED_BYTES, MOST_SHARED_BYTES

CLEAR_THREADS = 256
"""Of a block that sets bins to zero."""

_TEXT = """// counts[b] = how many x are b; those below 0 and from BINS on are left out.
// x starts at a multiple of 16 bytes.

constexpr int BINS = @bins@;
constexpr int THREADS = @threads@;
constexpr int COPIES = @copies@;

extern "C" __global__ void __launch_bounds__(@clear_threads@) histogram_clear(
    int* __restrict__ counts)
{
    const int bin = blockIdx.x * @clear_threads@ + threadIdx.x;
@clear@
}

__device__ __forceinline__ void count(int* own, int value)
{
    if (value >= 0 && value < BINS) {
        atomicAdd(&own[value], 1);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) histogram(
    const int* __restrict__ x, int* __restrict__ counts, int n)
{
    // Warps take copies in turn, so that fewer of them meet at a bin.
    extern __shared__ __align__(16) int copies[];
    for (int i = threadIdx.x; i < COPIES * BINS; i += THREADS) {
        copies[i] = 0;
    }
    __syncthreads();
    int* const own = copies + threadIdx.x / 32 % COPIES * BINS;
    const int step = gridDim.x * THREADS;
    const int first = blockIdx.x * THREADS + threadIdx.x;
    for (int v = first; v < n / 4; v += step) {
        const int4 values = reinterpret_cast<const int4*>(x)[v];
        count(own, values.x);
        count(own, values.y);
        count(own, values.z);
        count(own, values.w);
    }
    if (first < n % 4) {
        count(own, x[n - 1 - first]);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += THREADS) {
        int sum = 0;
        for (int copy = 0; copy < COPIES; ++copy) {
            sum += copies[copy * BINS + bin];
        }
        if (sum > 0) {
            atomicAdd(&counts[bin], sum);
        }
    }
}
"""


@dataclass(frozen=True)
class Histogram:
    """Counts of `bins` values by `blocks` blocks of `threads`, in `copies` of each block."""

    bins: int
    threads: int
    copies: int
    blocks: int

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory of a block."""
        return 4 * self.copies * self.bins


def _read(dtype: str, fields: Mapping[str, Any], said: Mapping[str, Any]) -> Histogram:
    whole("bins", fields["bins"], 1, MOST_OPT_IN_SHARED_BYTES // 4)
    one_of("schedule.threads", said["threads"], (64, 128, 256, 512, 1024))
    one_of("schedule.copies", said["copies"], (1, 2, 4, 8, 16, 32))
    whole("schedule.blocks", said["blocks"], 1, 65535)
    plan = Histogram(fields["bins"], **said)
    if plan.copies > plan.threads // 32:
        most = plan.threads // 32
        raise SettingsError(f"schedule.copies: {plan.copies} for {most} warps; a warp has one")
    if plan.shared_bytes > MOST_OPT_IN_SHARED_BYTES:
        raise SettingsError(
            f"bins, schedule.copies: {plan.shared_bytes} bytes of shared memory; "
            f"allowed are up to {MOST_OPT_IN_SHARED_BYTES}"
        )
    return plan


def _clear(h: Histogram) -> str:
    """A bin set to zero; where blocks end with the bins, no thread is beyond them."""
    if h.bins % CLEAR_THREADS == 0:
        return "    counts[bin] = 0;"
    return "    if (bin < BINS) {\n        counts[bin] = 0;\n    }"


def _lower(h: Histogram) -> Lowered:
    values = {
        "bins": h.bins,
        "threads": h.threads,
        "copies": h.copies,
        "clear_threads": CLEAR_THREADS,
    }
    text = filled(_TEXT, clear=_clear(h), **{name: str(value) for name, value in values.items()})
    args: list[dict[str, str | None]] = [
        {"name": "x", "type": "const int*", "size": None},
        {"name": "counts", "type": "int*", "size": None},
        {"name": "n", "type": "int", "size": "n"},
    ]
    clear: dict[str, Any] = {
        "kernel": "histogram_clear",
        "args": ["counts"],
        "grid": [f"({h.bins} - 1) / {CLEAR_THREADS} + 1"],
        "block": [CLEAR_THREADS],
        "shared_bytes": 0,
    }
    counted: dict[str, Any] = {
        "kernel": "histogram",
        "args": ["x", "counts", "=n"],
        "grid": [f"min({h.blocks}, (n - 1) / {4 * h.threads} + 1)"],
        "block": [h.threads],
        "shared_bytes": h.shared_bytes,
    }
    if h.shared_bytes > MOST_SHARED_BYTES:
        counted["opt_in"] = True
    return Lowered("histogram", text, args, [clear, counted], [])


def _trials() -> Iterator[dict[str, Any]]:
    for bins, threads, copies, blocks in (
        *((256, 256, 4, 8), (10, 128, 4, 3), (1, 64, 1, 2), (1000, 64, 2, 5)),
        *((7, 512, 16, 2), (13000, 128, 1, 2)),
    ):
        schedule = {"threads": threads, "copies": copies, "blocks": blocks}
        yield {"bins": bins, "schedule": schedule}


OP = Op(
    name="histogram",
    sizes=("n",),
    dtypes=("int32",),
    fields={"bins": 256},
    schedule=lambda dtype: {"threads": 256, "copies": 4, "blocks": 528},
    read=_read,
    shared_bytes=lambda h: h.shared_bytes,
    lower=_lower,
    operands=lambda h: [
        Operand("x", "int32", ("n",), low=-1 - h.bins // 4, high=h.bins + h.bins // 4),
        Operand("counts", "int32", (str(h.bins),)),
    ],
    reference=lambda h: (
        "import numpy as np\n\n\ndef histogram(dim, x, counts):\n"
        "    counts[:] = 0\n"
        "    for value in x:\n"
        "        if 0 <= value < counts.shape[0]:\n"
        "            counts[value] += 1\n"
    ),
    tolerance=lambda h, sizes: (0.0, 0.0),
    shapes=lambda h: [(8 * h.threads,), (5 * h.threads + 7,), (1,), (3,), (1001,)],
    work=lambda h, sizes: 4 * sizes["n"] + 64 * h.copies * h.bins,
    trials=_trials,
)
