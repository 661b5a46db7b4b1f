"""Products by the tensor cores of sm_90a: `wgmma` reads both tiles from swizzled shared memory.

Layouts of shared memory and of sums are those of the PTX ISA, "Asynchronous Warpgroup Level Matrix
Multiply-Accumulate Instructions".
"""

from __future__ import annotations

from synth.lower.gemm import parts
from synth.lower.gemm.plan import STORED, Gemm
from synth.lower.gemm.simt import part_range
from validate.text.helpers.tensor import helper_lines

_KINDS = {"float16": "f16", "bfloat16": "bf16"}

_TILES = """// Starts the copy of a tile of ROWS x COLUMNS elements, zeros beyond the edges. It has
// panels of 64 columns, whose rows of 128 bytes have their chunks of 16 swizzled by row.
template <bool ALIGNED, int ROWS, int COLUMNS>
__device__ __forceinline__ void start_tile(
    @real@* tile, const @real@* __restrict__ matrix, int rows, int columns,
    int first_row, int first_column)
{
    const int chunk = threadIdx.x % 8;
    const int own = threadIdx.x / 8;
    @real@* const own_place = tile + own * PANEL + (chunk ^ own % 8) * GROUP;
#pragma unroll
    for (int i = 0; i < ROWS * COLUMNS / GROUP / THREADS; ++i) {
        // Threads / 8 rows at a time, which no panel cuts.
        const int panel = i * (THREADS / 8) / ROWS;
        const int y = i * (THREADS / 8) % ROWS;
        const int row = first_row + own + y;
        const int column = first_column + panel * PANEL + chunk * GROUP;
        @real@* const to = own_place + (panel * ROWS + y) * PANEL;
        const @real@* const from = matrix + static_cast<size_t>(row) * columns + column;
        if (ALIGNED) {
            const bool inside = row < rows && column < columns;
            ptx_copy_async_16(to, inside ? from : matrix, inside);
        } else {
            for (int e = 0; e < GROUP; ++e) {
                const bool inside = row < rows && column + e < columns;
                to[e] = inside ? from[e] : @zero@;
            }
        }
    }
}
"""

_PRODUCT = """// One tile of c. Products of a tile run while the copies of a later one are started.
template <bool ALIGNED>
__device__ __forceinline__ void product(
    int first_row, int first_column, @real@* a_tiles, @real@* b_tiles,
@params@)
{
    const int lane = threadIdx.x % 32;
    const int group = threadIdx.x / 128;
    const int own_row = group / WARPS_N * GROUP_M;
    const int own_column = group % WARPS_N * WARP_N;
    float sums[GROUP_M / 64][WARP_N / 2] = {};
@range@#pragma unroll
    for (int s = 0; s < STAGES - 2; ++s) {
        const int next_k = @first@ + s * TILE_K;
        if (next_k < @end@) {
            start_tile<ALIGNED, @a_shape@>(a_tiles + s * A_TILE, a, @a_copy@);
            start_tile<ALIGNED, @b_shape@>(b_tiles + s * B_TILE, b, @b_copy@);
        }
        ptx_commit_copies();
    }
    int stage = 0;
    for (int first_k = @first@; first_k < @end@; first_k += TILE_K) {
        ptx_wait_copies_for_products<STAGES - 3>();
        __syncthreads();
        const @real@* const a_tile = a_tiles + stage * A_TILE + @a_own@;
        const @real@* const b_tile = b_tiles + stage * B_TILE + @b_own@;
#pragma unroll
        for (int i = 0; i < GROUP_M / 64; ++i) {
#pragma unroll
            for (int q = 0; q < TILE_K / 64; ++q) {
                @mma@<@a_across@, @b_across@>(
                    sums[i], ptx_matrix_at<TILE_K * 128>(a_tile + @a_step@),
                    ptx_matrix_at<TILE_K * 128>(b_tile + @b_step@));
            }
        }
        const int next_k = first_k + (STAGES - 2) * TILE_K;
        if (next_k < @end@) {
            const int free_stage = stage < 2 ? stage + STAGES - 2 : stage - 2;
            start_tile<ALIGNED, @a_shape@>(a_tiles + free_stage * A_TILE, a, @a_copy@);
            start_tile<ALIGNED, @b_shape@>(b_tiles + free_stage * B_TILE, b, @b_copy@);
        }
        ptx_commit_copies();
        // The products of the tile before: its stage is free once all threads are here again.
#pragma unroll
        for (int i = 0; i < GROUP_M / 64; ++i) {
            ptx_wait_products<GROUP_M / 64 * (TILE_K / 64)>(sums[i]);
        }
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
#pragma unroll
    for (int i = 0; i < GROUP_M / 64; ++i) {
        ptx_wait_products<0>(sums[i]);
    }
#pragma unroll
    for (int i = 0; i < GROUP_M / 32; ++i) {
        const int row =
            first_row + own_row + i / 2 * 64 + threadIdx.x / 32 % 4 * 16 + i % 2 * 8 + lane / 4;
#pragma unroll
        for (int j = 0; j < WARP_N / 8; ++j) {
            const int column = first_column + own_column + j * 8 + lane % 4 * 2;
            if (row < m && column < n) {
@store@
            }
        }
    }
}
"""


def text(g: Gemm) -> list[str]:
    """The lines of a product's kernel and of what it calls."""
    values = {"real": STORED[g.dtype], "zero": parts.zero(g)}
    lines = helper_lines(_helpers(g))
    for function in (_TILES, _product(g)):
        lines += parts.filled(function, **values).split("\n")
    real = STORED[g.dtype]
    shared = [
        f"extern __shared__ __align__(1024) {real} tiles[];",
        f"{real}* const b_tiles = tiles + STAGES * A_TILE;",
    ]
    constants = [
        *(("PANEL", "64"), ("GROUP_M", "4 * WARP_M")),
        *(("A_TILE", "TILE_M * TILE_K"), ("B_TILE", "TILE_N * TILE_K")),
    ]
    head = [*(f"constexpr int {name} = {value};" for name, value in constants), ""]
    return [*head, *lines, *parts.kernel(g, shared, "tiles, b_tiles")]


def _mma(g: Gemm) -> str:
    return f"ptx_{_KINDS[g.dtype]}_products_{g.tiling.warp_n}"


def _helpers(g: Gemm) -> list[str]:
    copies = ["ptx_copy_async_16", "ptx_commit_copies", "ptx_wait_copies_for_products"]
    return [*copies, "ptx_matrix_at", _mma(g), "ptx_wait_products"]


def _product(g: Gemm) -> str:
    # Across: rows of the tile are along k, so that a panel has 64 of m or n and TILE_K rows.
    split = g.tiling.split_k > 1
    a_across, b_across = g.transpose_a, not g.transpose_b
    stored = parts.store(g, 2, "sums[i / 2][j * 4 + i % 2 * 2 + @e@]")
    return parts.filled(
        _PRODUCT,
        range=part_range(g),
        first="part_first" if split else "0",
        end="part_end" if split else "k",
        params=",\n".join(f"    {part}" for part in parts.parameters(g)),
        a_shape="TILE_K, TILE_M" if a_across else "TILE_M, TILE_K",
        b_shape="TILE_K, TILE_N" if b_across else "TILE_N, TILE_K",
        a_copy="k, m, next_k, first_row" if a_across else "m, k, first_row, next_k",
        b_copy="k, n, next_k, first_column" if b_across else "n, k, first_column, next_k",
        a_own="own_row * TILE_K" if a_across else "own_row * PANEL",
        b_own="own_column * TILE_K" if b_across else "own_column * PANEL",
        a_step="i * 64 * TILE_K + q * 64 * PANEL"
        if a_across
        else "i * 64 * PANEL + q * TILE_M * PANEL",
        b_step="q * 64 * PANEL" if b_across else "q * TILE_N * PANEL",
        a_across=str(int(a_across)),
        b_across=str(int(b_across)),
        mma=_mma(g),
        store="\n".join(
            line if line.startswith("#") else f"                {line}" for line in stored
        ),
    )
