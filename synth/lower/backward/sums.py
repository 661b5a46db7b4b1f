"""Sums of bias."""

from __future__ import annotations

from synth.lower.gemm.parts import filled
from synth.lower.gemm.plan import STORED, SUMMED

_SUM_ROWS = """
// @to@[i] = the sum of @from@ over all but i: row j has `inner` values for each i.
extern "C" __global__ void __launch_bounds__(256) @name@(
    const @real@* __restrict__ @from@, @real@* __restrict__ @to@,
    int rows, int columns, int inner)
{
    __shared__ @sum@ parts[8][32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int column = blockIdx.x@wide@;
    @sum@ sum = 0;
    for (int row = @first@; row < rows@edge@; row += @step@) {
        const @real@* const at = @from@ + (static_cast<size_t>(row) * columns + column) * inner;
        for (int i = @inner@; i < inner; i += @inner_step@) {
            sum += @value@;
        }
    }
    parts[warp][lane] = sum;
    __syncthreads();
    if (warp == 0@edge@) {
        for (int w = 1; w < 8; ++w) {
            sum += parts[w][lane];
        }
@store@    }
}
"""

_OF_LANES = """#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        }
"""


def sum_kernel(name: str, source: str, target: str, dtype: str, *, inner: bool) -> str:
    """A kernel that sums all but one axis: of [rows, columns] with a column a lane, else of
    [rows, columns, inner] with a column a block."""
    narrow = dtype == "float16"
    stored = f"{target}[column] = {'__float2half(sum)' if narrow else 'sum'};"
    plain = f"        {stored}\n"
    by_lanes = f"{_OF_LANES}        if (lane == 0) {{\n            {stored}\n        }}\n"
    return filled(
        _SUM_ROWS,
        name=name,
        to=target,
        **{"from": source},
        edge="" if inner else " && column < columns",
        wide="" if inner else " * 32 + lane",
        first="0" if inner else "warp",
        step="1" if inner else "8",
        inner="threadIdx.x" if inner else "0",
        inner_step="256" if inner else "1",
        value="__half2float(at[i])" if narrow else "at[i]",
        store=by_lanes if inner else plain,
        real=STORED[dtype],
        sum=SUMMED[dtype],
    )
