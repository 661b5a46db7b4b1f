"""The CUDA C++ of an attention: what both cores share."""

from __future__ import annotations

from typing import Any

from synth.lower.attention import mma, simt
from synth.lower.attention.plan import STORED, Attention
from synth.lower.gemm.parts import filled
from synth.lower.op import Lowered

_COPY = """// Starts the copy of ROWS rows to a tile, zeros beyond the last.
template <int ROWS>
__device__ __forceinline__ void start_tile(
    @real@* tile, const @real@* __restrict__ matrix, int rows, int first_row)
{
#pragma unroll
    for (int i = 0; i < ROWS * HEAD_DIM / GROUP / THREADS; ++i) {
        const int v = threadIdx.x + i * THREADS;
        const int y = v / (HEAD_DIM / GROUP);
        const int chunk = v % (HEAD_DIM / GROUP);
        const int row = first_row + y;
        const @real@* const from = matrix + static_cast<size_t>(row) * HEAD_DIM + chunk * GROUP;
        const bool inside = row < rows;
        ptx_copy_async_16(tile + place_of<HEAD_DIM>(y, chunk), inside ? from : matrix, inside);
    }
}
"""

_KERNEL = """extern "C" __global__ void __launch_bounds__(@bounds@) attention(
    const @real@* __restrict__ q, const @real@* __restrict__ k, const @real@* __restrict__ v,
    @real@* __restrict__ o, int m, int n)
{
    extern __shared__ __align__(16) @real@ tiles[];
    @real@* const q_tile = tiles;
    @real@* const k_tile = q_tile + TILE_M * ROW;
    @real@* const v_tile = k_tile + TILE_N * ROW;
    const int row_tiles = (m - 1) / TILE_M + 1;
    const size_t head = blockIdx.x / row_tiles;
@order@
    q += head * m * HEAD_DIM;
    o += head * m * HEAD_DIM;
    k += head * n * HEAD_DIM;
    v += head * n * HEAD_DIM;
    const int lane = threadIdx.x % 32;
    const int own_row = threadIdx.x / 32 * WARP_M;
@state@
    start_tile<TILE_M>(q_tile, q, m, first_row);
    start_tile<TILE_N>(k_tile, k, n, 0);
    ptx_commit_copies();
@end@    for (int first_key = 0; first_key < @key_end@; first_key += TILE_N) {
        // The keys are here, and the values of the tile before are used up.
        ptx_wait_copies<0>();
        __syncthreads();
        start_tile<TILE_N>(v_tile, v, n, first_key);
        ptx_commit_copies();
@scores@
        // The values are here, and the keys are used up.
        ptx_wait_copies<0>();
        __syncthreads();
        if (first_key + TILE_N < @key_end@) {
            start_tile<TILE_N>(k_tile, k, n, first_key + TILE_N);
        }
        ptx_commit_copies();
@products@
    }
@store@
}
"""


def lowered(a: Attention) -> Lowered:
    """The text of an attention, and its launch."""
    real = STORED[a.dtype]
    args: list[dict[str, str | None]] = [
        {"name": name, "type": f"{'' if name == 'o' else 'const '}{real}*", "size": None}
        for name in "qkvo"
    ]
    args += [{"name": name, "type": "int", "size": name} for name in "mn"]
    launch: dict[str, Any] = {
        "grid": [f"((m - 1) / {a.tiling.tile_m} + 1) * batch * heads"],
        "block": [a.tiling.threads],
        "shared_bytes": a.shared_bytes,
    }
    if a.dynamic:
        launch["opt_in"] = True
    return Lowered("attention", _text(a), args, launch, [])


def _text(a: Attention) -> str:
    core = mma if a.core == "mma" else simt
    seen = "; query i sees keys up to i" if a.causal else ""
    lines = [f"// o = softmax(q k^T / sqrt({a.head_dim})) v for each head{seen}."]
    lines += ["// q and o are [batch, heads, m, HEAD_DIM], k and v [batch, heads, n, HEAD_DIM];"]
    lines += ["// all start at multiples of 16 bytes.", ""]
    lines += ["#include <cuda_fp16.h>", ""] if a.dtype == "float16" else []
    lines += _constants(a, core.constants(a))
    real = STORED[a.dtype]
    order = "    const int first_row = static_cast<int>(blockIdx.x % row_tiles) * TILE_M;"
    if a.causal:
        order = (
            "    // Blocks with most keys begin first.\n"
            "    const int tile_row = row_tiles - 1 - static_cast<int>(blockIdx.x % row_tiles);\n"
            "    const int first_row = tile_row * TILE_M;"
        )
    t = a.tiling
    kernel = filled(
        _KERNEL,
        bounds="THREADS" + (f", {t.blocks}" if t.blocks else ""),
        order=order,
        state=core.STATE,
        end="    const int key_end = min(n, first_row + TILE_M);\n" if a.causal else "",
        key_end="key_end" if a.causal else "n",
        scores=core.scores(a),
        products=core.PRODUCTS,
        store=core.STORE,
    )
    lines += core.functions(a) + filled(_COPY, real=real).split("\n")
    return "\n".join([*lines, filled(kernel, real=real)])


def _constants(a: Attention, more: list[tuple[str, str]]) -> list[str]:
    t = a.tiling
    # Of 2^x instead of e^x.
    scale = f"{a.head_dim**-0.5 * 1.4426950408889634:.9g}f"
    values = [("HEAD_DIM", str(a.head_dim)), ("TILE_M", str(t.tile_m)), ("TILE_N", str(t.tile_n))]
    values += [("WARP_M", str(t.warp_m)), ("THREADS", "TILE_M / WARP_M * 32")]
    values += [("GROUP", str(a.group)), *more]
    found = [f"constexpr int {name} = {value};" for name, value in values]
    about = "// log2(e) / sqrt(HEAD_DIM): scores are exponents of 2."
    return [*found, about, f"constexpr float SCALE = {scale};", ""]
