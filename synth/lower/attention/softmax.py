"""Steps of an online softmax that both cores take: which keys are seen, and sums by lanes."""

from __future__ import annotations

from synth.lower.attention.plan import Attention
from synth.lower.gemm.parts import filled

LANES = """// The largest, and the sum, over the lanes that share a query.
__device__ __forceinline__ float largest_of_lanes(float value)
{
#pragma unroll
    for (int step = 1; step < LANES_N; step *= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
    }
    return value;
}

__device__ __forceinline__ float sum_of_lanes(float value)
{
#pragma unroll
    for (int step = 1; step < LANES_N; step *= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, step);
    }
    return value;
}
"""

NONE = "-__int_as_float(0x7f800000)"
"""The score of a key that is not seen, and the largest of none."""


def masked(a: Attention, each: str) -> str:
    """Scores of keys that are not seen become `NONE`, in tiles that have such keys. `each` loops
    over a thread's scores: names `row` and `key`, and has @score@ where it takes one."""
    test = "first_key + TILE_N > n"
    if a.causal:
        test += " || first_key + TILE_N - 1 > first_row + own_row"
    seen = "key < n && key <= row" if a.causal else "key < n"
    hidden = f"if (!({seen})) {{"
    return filled(each, test=test, hidden=hidden, none=NONE)
