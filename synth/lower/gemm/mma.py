"""Products by tensor cores: `mma.sync` on fragments that `ldmatrix` takes from swizzled tiles."""

from __future__ import annotations

import re

from synth.lower.gemm import parts
from synth.lower.gemm.plan import MMA_K, STORED, SUMMED, Gemm
from synth.lower.gemm.simt import part_range
from validate.text.helpers.tensor import helper_lines

_PRODUCTS = {
    "float16": "ptx_mma_f16",
    "bfloat16": "ptx_mma_bf16",
    "tf32": "ptx_mma_tf32",
    "int8": "ptx_mma_s8",
}

PLACES = """// Where 16 bytes of a tile lie: neighbours in a column are in different banks.
template <int ROW>
__device__ __forceinline__ int place_of(int row, int chunk)
{
    constexpr int CHUNKS = ROW / GROUP;
    const int turn = CHUNKS % 8 == 0 ? row % 8 : CHUNKS % 4 == 0 ? row / 2 % 4 : row / 4 % 2;
    return (row * CHUNKS + (chunk ^ turn)) * GROUP;
}
"""

_TILES = """// Starts the copy of a tile of ROWS x ROW elements, zeros beyond the edges.
template <bool ALIGNED, int ROWS, int ROW>
__device__ __forceinline__ void start_tile(
    @real@* tile, const @real@* __restrict__ matrix, int rows, int columns,
    int first_row, int first_column)
{
#pragma unroll
    for (int i = 0; i < ROWS * ROW / GROUP / THREADS; ++i) {
        const int v = threadIdx.x + i * THREADS;
        const int y = v / (ROW / GROUP);
        const int chunk = v % (ROW / GROUP);
        const int row = first_row + y;
        const int column = first_column + chunk * GROUP;
        @real@* const to = tile + place_of<ROW>(y, chunk);
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

_GATHER = """// Brings a tile of ROWS x ROW elements of @side@, zeros beyond the edges.
template <int ROWS, int ROW>
__device__ __forceinline__ void bring_@side@(
    @real@* tile, const @real@* __restrict__ array, const Shape& shape, int rows, int columns,
    int first_row, int first_column)
{
#pragma unroll
    for (int i = 0; i < ROWS * ROW / THREADS; ++i) {
        const int v = threadIdx.x + i * THREADS;
        const int y = v / ROW;
        const int x = v % ROW;
        const int row = first_row + y;
        const int column = first_column + x;
        size_t place;
        const bool inside = find_@side@(shape, @found@, place) && row < rows && column < columns;
        tile[place_of<ROW>(y, x / GROUP) + x % GROUP] = inside ? array[place] : @zero@;
    }
}
"""

_PRODUCT = """// One tile of c.
template <bool ALIGNED>
__device__ __forceinline__ void product(
    int first_row, int first_column, @real@* a_tiles, @real@* b_tiles,
@params@)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int own_row = warp / WARPS_N * WARP_M;
    const int own_column = warp % WARPS_N * WARP_N;
    @sum@ sums[WARP_M / 16][WARP_N / 8][4] = {};
@range@#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) {
        const int next_k = @first@ + s * TILE_K;
        if (next_k < @end@) {
            @a_start@<@a_shape@>(a_tiles + s * A_TILE, a, @a_copy@);
            @b_start@<@b_shape@>(b_tiles + s * B_TILE, b, @b_copy@);
        }
        ptx_commit_copies();
    }
    int stage = 0;
    for (int first_k = @first@; first_k < @end@; first_k += TILE_K) {
        ptx_wait_copies<STAGES - 2>();
        __syncthreads();
        const int next_k = first_k + (STAGES - 1) * TILE_K;
        const int free_stage = stage == 0 ? STAGES - 1 : stage - 1;
        if (next_k < @end@) {
            @a_start@<@a_shape@>(a_tiles + free_stage * A_TILE, a, @a_copy@);
            @b_start@<@b_shape@>(b_tiles + free_stage * B_TILE, b, @b_copy@);
        }
        ptx_commit_copies();
        const @real@* const a_tile = a_tiles + stage * A_TILE;
        const @real@* const b_tile = b_tiles + stage * B_TILE;
#pragma unroll
        for (int p = 0; p < TILE_K / MMA_K; ++p) {
            unsigned int a_parts[WARP_M / 16][4], b_parts[WARP_N / 16][4];
#pragma unroll
            for (int i = 0; i < WARP_M / 16; ++i) {
                load_a(a_parts[i], a_tile, own_row + i * 16, p, lane);
            }
#pragma unroll
            for (int j = 0; j < WARP_N / 16; ++j) {
                load_b(b_parts[j], b_tile, own_column + j * 16, p, lane);
            }
#pragma unroll
            for (int i = 0; i < WARP_M / 16; ++i) {
#pragma unroll
                for (int j = 0; j < WARP_N / 8; ++j) {
                    @mma@(sums[i][j], a_parts[i], b_parts[j / 2][j % 2 * 2],
                          b_parts[j / 2][j % 2 * 2 + 1]);
                }
            }
        }
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
#pragma unroll
    for (int i = 0; i < WARP_M / 8; ++i) {
        const int row = first_row + own_row + i * 8 + lane / 4;
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

# The four matrices of a are, of 16 rows and 16 of k, (0, 0), (8, 0), (0, 8) and (8, 8).
_LOAD = """// The fragment of @what@ whose first @side@ is `first`, of the p-th products of a tile.
__device__ __forceinline__ void load_@name@(
    unsigned int (&to)[4], const @real@* tile, int first, int p, int lane)
{
@body@
}
"""

_BODIES = {
    # Rows of 16 elements along m, k in chunks.
    "a": """    const int row = first + lane % 16;
    ptx_load_matrices(to, tile + place_of<@row@>(row, p * 2 + lane / 16));""",
    "a transposed": """    const int row = p * MMA_K + lane % 8 + lane / 16 * 8;
    ptx_load_transposed(to, tile + place_of<@row@>(row, first / GROUP + lane / 8 % 2));""",
    "b": """    const int row = p * MMA_K + lane % 16;
    ptx_load_transposed(to, tile + place_of<@row@>(row, first / GROUP + lane / 16));""",
    "b transposed": """    const int row = first + lane % 8 + lane / 16 * 8;
    ptx_load_matrices(to, tile + place_of<@row@>(row, p * 2 + lane / 8 % 2));""",
    # No instruction transposes words of 32 bits.
    "b of tf32": """#pragma unroll
    for (int e = 0; e < 4; ++e) {
        const int row = p * MMA_K + lane % 4 + e % 2 * 4;
        const int column = first + lane / 4 + e / 2 * 8;
        const int place = place_of<@row@>(row, column / GROUP) + column % GROUP;
        to[e] = __float_as_uint(tile[place]);
    }""",
}


def text(g: Gemm) -> list[str]:
    """The lines of a product's kernel and of what it calls."""
    values = {"real": STORED[g.dtype], "zero": parts.zero(g), "sum": SUMMED[g.dtype]}
    lines = helper_lines(_helpers(g))
    gathers = [
        parts.filled(_GATHER, side=side, found=_found(g, side)) for side in "ab" if g.gathered(side)
    ]
    tiles = [] if _waits(g) else [_TILES]
    for function in [PLACES, *tiles, *gathers, _load(g, "a"), _load(g, "b"), _product(g)]:
        lines += parts.filled(function, **values).split("\n")
    real = STORED[g.dtype]
    shared = [
        f"extern __shared__ __align__(16) {real} tiles[];",
        f"{real}* const b_tiles = tiles + STAGES * A_TILE;",
    ]
    return [*_constants(g), *lines, *parts.kernel(g, shared, "tiles, b_tiles")]


def _helpers(g: Gemm) -> list[str]:
    loads = ["ptx_load_matrices", "ptx_load_transposed"]
    used = {_body(g, side) for side in "ab"}
    loads = [name for name in loads if any(name in _BODIES[body] for body in used)]
    copies = ["ptx_copy_async_16", "ptx_commit_copies", "ptx_wait_copies"]
    copies = [] if _waits(g) else copies
    return [*copies, *loads, _PRODUCTS[g.dtype]]


def _waits(g: Gemm) -> bool:
    """Whether both tiles are brought by threads that wait for what they load."""
    return g.gathered("a") and g.gathered("b")


def _constants(g: Gemm) -> list[str]:
    values = [("MMA_K", str(MMA_K[g.dtype]))]
    values += [("A_TILE", "TILE_M * TILE_K"), ("B_TILE", "TILE_N * TILE_K")]
    return [*(f"constexpr int {name} = {value};" for name, value in values), ""]


def _body(g: Gemm, side: str) -> str:
    if side == "b" and g.dtype == "tf32" and not g.transpose_b:
        return "b of tf32"
    transposed = g.transpose_a if side == "a" else g.transpose_b
    return f"{side} transposed" if transposed else side


def _load(g: Gemm, side: str) -> str:
    extent, transposed = ("M", g.transpose_a) if side == "a" else ("N", not g.transpose_b)
    return fragment_load(
        side,
        f"16 {'rows of a' if side == 'a' else 'columns of b'}",
        "row" if side == "a" else "column",
        _body(g, side),
        f"TILE_{extent if transposed else 'K'}",
    )


def fragment_load(name: str, what: str, side: str, body: str, row: str) -> str:
    """The function load_NAME of fragments of 16 rows (of a) or columns (of b), by one of `_BODIES`,
    from a tile whose rows have `row` elements."""
    return parts.filled(_LOAD, name=name, what=what, side=side, body=_BODIES[body], row=row)


def _product(g: Gemm) -> str:
    split = g.tiling.split_k > 1
    shown = parts.parameters(g)
    stored = parts.store(g, 2, "sums[i / 2][j][i % 2 * 2 + @e@]")
    along_a, along_b = "m, k, first_row, next_k", "k, n, next_k, first_column"
    product = _PRODUCT
    if _waits(g):
        product = re.sub(r" *ptx_(?:commit|wait)_copies[^\n]*\n", "", product)
    return parts.filled(
        product,
        params=",\n".join(f"    {part}" for part in shown),
        range=part_range(g),
        first="part_first" if split else "0",
        end="part_end" if split else "k",
        a_start="bring_a" if g.gathered("a") else "start_tile",
        b_start="bring_b" if g.gathered("b") else "start_tile",
        a_shape=_shape(g, "a", "TILE_K, TILE_M" if g.transpose_a else "TILE_M, TILE_K"),
        b_shape=_shape(g, "b", "TILE_N, TILE_K" if g.transpose_b else "TILE_K, TILE_N"),
        a_copy=_copied(g, "a", "k, m, next_k, first_row" if g.transpose_a else along_a),
        b_copy=_copied(g, "b", "n, k, first_column, next_k" if g.transpose_b else along_b),
        mma=_PRODUCTS[g.dtype],
        store="\n".join(
            line if line.startswith("#") else f"                {line}" for line in stored
        ),
    )


def _found(g: Gemm, side: str) -> str:
    turned = g.transpose_a if side == "a" else g.transpose_b
    return "column, row" if turned else "row, column"


def _shape(g: Gemm, side: str, shape: str) -> str:
    return shape if g.gathered(side) else f"ALIGNED, {shape}"


def _copied(g: Gemm, side: str, given: str) -> str:
    return f"shape, {given}" if g.gathered(side) else given
