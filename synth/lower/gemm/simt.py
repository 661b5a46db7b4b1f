"""Products by ordinary multiplications: sums in registers, tiles of a and b stored by columns."""

from __future__ import annotations

from synth.lower.gemm import parts
from synth.lower.gemm.plan import STORED, Gemm
from validate.text.helpers.tensor import helper_lines

_LANES = "xyzw"

_FETCH = """// Vectors of @what@ that a thread brings, zeros beyond the edges.
template <bool ALIGNED>
__device__ __forceinline__ void fetch_@side@(
    @real@ (&held)[@loads@][GROUP], const @real@* __restrict__ matrix,
    int rows, int columns, int first_row, int first_column)
{
#pragma unroll
    for (int i = 0; i < @loads@; ++i) {
        const int v = threadIdx.x + i * THREADS;
        const int row = first_row + v / (@width@ / GROUP);
        const int column = first_column + v % (@width@ / GROUP) * GROUP;
        const @real@* const from = matrix + static_cast<size_t>(row) * columns + column;
        if (ALIGNED) {
            @vector@ values = @zeros@;
            if (row < rows && column < columns) {
                values = *reinterpret_cast<const @vector@*>(from);
            }
@unpacked@
        } else {
#pragma unroll
            for (int e = 0; e < GROUP; ++e) {
                const bool inside = row < rows && column + e < columns;
                held[i][e] = inside ? from[e] : @zero@;
            }
        }
    }
}
"""

_PUT = """// Stores them.
__device__ __forceinline__ void put_@side@(
    @real@ (&tile)[TILE_K][@row@], const @real@ (&held)[@loads@][GROUP])
{
#pragma unroll
    for (int i = 0; i < @loads@; ++i) {
        const int v = threadIdx.x + i * THREADS;
        const int y = v / (@width@ / GROUP);
        const int x = v % (@width@ / GROUP) * GROUP;
@stored@
    }
}
"""

_START = """// Starts copies of @what@ to shared memory, zeros beyond the edges.
template <bool ALIGNED>
__device__ __forceinline__ void start_@side@(
    @real@ (&tile)[TILE_K][@row@], const @real@* __restrict__ matrix,
    int rows, int columns, int first_row, int first_column)
{
#pragma unroll
    for (int i = 0; i < @extent@ * TILE_K / GROUP / THREADS; ++i) {
        const int v = threadIdx.x + i * THREADS;
        const int y = v / (@width@ / GROUP);
        const int x = v % (@width@ / GROUP) * GROUP;
        const int row = first_row + y;
        const int column = first_column + x;
        const @real@* const from = matrix + static_cast<size_t>(row) * columns + column;
@started@
    }
}
"""

_GATHER = """// Elements of @what@ that a thread brings, zeros beyond the edges.
template <bool ALIGNED>
__device__ __forceinline__ void fetch_@side@(
    @real@ (&held)[@loads@][GROUP], const @real@* __restrict__ array,
    const Shape& shape, int rows, int columns, int first_row, int first_column)
{
#pragma unroll
    for (int i = 0; i < @loads@ * GROUP; ++i) {
        const int y = @own_y@;
        const int x = @own_x@;
        const int row = first_row + y;
        const int column = first_column + x;
        size_t place;
        const bool inside = find_@side@(shape, @found@, place) && row < rows && column < columns;
        held[i / GROUP][i % GROUP] = inside ? array[place] : @zero@;
    }
}

// Stores them.
__device__ __forceinline__ void put_@side@(
    @real@ (&tile)[TILE_K][@row@], const @real@ (&held)[@loads@][GROUP])
{
#pragma unroll
    for (int i = 0; i < @loads@ * GROUP; ++i) {
        const int y = @own_y@;
        const int x = @own_x@;
        tile[@place@] = held[i / GROUP][i % GROUP];
    }
}
"""

_START_GATHER = """// Starts copies of @what@ to shared memory, zeros beyond the edges.
template <bool ALIGNED>
__device__ __forceinline__ void start_@side@(
    @real@ (&tile)[TILE_K][@row@], const @real@* __restrict__ array,
    const Shape& shape, int rows, int columns, int first_row, int first_column)
{
#pragma unroll
    for (int i = 0; i < @extent@ * TILE_K / THREADS; ++i) {
        const int y = @own_y@;
        const int x = @own_x@;
        const int row = first_row + y;
        const int column = first_column + x;
        size_t place;
        const bool inside = find_@side@(shape, @found@, place) && row < rows && column < columns;
        ptx_copy_async<sizeof(@real@)>(&tile[@place@], array + (inside ? place : 0), inside);
    }
}
"""

_READ = """// The values of one row of a tile that a thread multiplies.
template <int COUNT, int STEP, int ROW>
__device__ __forceinline__ void read_values(
    @real@ (&values)[COUNT], const @real@ (&row)[ROW], int first)
{
#pragma unroll
    for (int i = 0; i < COUNT; i += GROUP) {
        const @vector@ found = *reinterpret_cast<const @vector@*>(&row[first + i / GROUP * STEP]);
@unpacked@
    }
}

// Adds the products of a tile to a thread's sums; the next values are read while these are used.
__device__ __forceinline__ void multiply(
    @real@ (&sums)[THREAD_M][THREAD_N], const @real@ (&a_tile)[TILE_K][A_ROW],
    const @real@ (&b_tile)[TILE_K][B_ROW], int row, int column)
{
    @real@ a_values[2][THREAD_M], b_values[2][THREAD_N];
    read_values<THREAD_M, STEP_M, A_ROW>(a_values[0], a_tile[0], row);
    read_values<THREAD_N, STEP_N, B_ROW>(b_values[0], b_tile[0], column);
#pragma unroll
    for (int p = 0; p < TILE_K; ++p) {
        if (p + 1 < TILE_K) {
            read_values<THREAD_M, STEP_M, A_ROW>(a_values[(p + 1) % 2], a_tile[p + 1], row);
            read_values<THREAD_N, STEP_N, B_ROW>(b_values[(p + 1) % 2], b_tile[p + 1], column);
        }
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) {
                sums[i][j] += a_values[p % 2][i] * b_values[p % 2][j];
            }
        }
    }
}
"""

_PRODUCT = """// One tile of c.
template <bool ALIGNED>
__device__ __forceinline__ void product(
    int first_row, int first_column, @real@ (&a_tiles)[STAGES][TILE_K][A_ROW],
    @real@ (&b_tiles)[STAGES][TILE_K][B_ROW],
@params@)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int own_row = warp / WARPS_N * WARP_M + lane / LANES_N * GROUP;
    const int own_column = warp % WARPS_N * WARP_N + lane % LANES_N * GROUP;
    @real@ sums[THREAD_M][THREAD_N] = {};
@range@@loop@
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
        const int row = first_row + own_row + i / GROUP * STEP_M + i % GROUP;
#pragma unroll
        for (int j = 0; j < THREAD_N; j += GROUP) {
            const int column = first_column + own_column + j / GROUP * STEP_N;
            if (row < m && column < n) {
@store@
            }
        }
    }
}
"""

_BY_REGISTERS = """
    @real@ a_held[A_LOADS][GROUP];
    @real@ b_held[B_LOADS][GROUP];
    fetch_a<ALIGNED>(a_held, a, @a_from@);
    fetch_b<ALIGNED>(b_held, b, @b_from@);
    put_a(a_tiles[0], a_held);
    put_b(b_tiles[0], b_held);
    __syncthreads();
    int stage = 0;
    for (int first_k = @first@; first_k < @end@; first_k += TILE_K) {
        const bool more = first_k + TILE_K < @end@;
        if (more) {
            fetch_a<ALIGNED>(a_held, a, @a_next@);
            fetch_b<ALIGNED>(b_held, b, @b_next@);
        }
        multiply(sums, a_tiles[stage], b_tiles[stage], own_row, own_column);
        stage ^= 1;
        if (more) {
            put_a(a_tiles[stage], a_held);
            put_b(b_tiles[stage], b_held);
        }
        __syncthreads();
    }
"""

_BY_COPIES = """
#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) {
        const int next_k = @first@ + s * TILE_K;
        if (next_k < @end@) {
            start_a<ALIGNED>(a_tiles[s], a, @a_copy@);
            start_b<ALIGNED>(b_tiles[s], b, @b_copy@);
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
            start_a<ALIGNED>(a_tiles[free_stage], a, @a_copy@);
            start_b<ALIGNED>(b_tiles[free_stage], b, @b_copy@);
        }
        ptx_commit_copies();
        multiply(sums, a_tiles[stage], b_tiles[stage], own_row, own_column);
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
"""


def text(g: Gemm) -> list[str]:
    """The lines of a product's kernel and of what it calls."""
    values = _values(g)
    functions = [*_side(g, "a"), *_side(g, "b"), _READ.replace("@unpacked@", _unpacked(g, "found"))]
    helpers = ["ptx_copy_async", "ptx_copy_async_16", "ptx_commit_copies", "ptx_wait_copies"]
    lines = helper_lines(helpers) if g.tiling.copy == "async" else []
    for function in [*functions, _product(g)]:
        lines += parts.filled(function, **values).split("\n")
    shared = _shared(g)
    return [*_constants(g), *lines, *parts.kernel(g, shared, "a_tiles, b_tiles")]


def _values(g: Gemm) -> dict[str, str]:
    real = STORED[g.dtype]
    zeros = ", ".join([parts.zero(g)] * g.group)
    return {
        "real": real,
        "vector": f"{real}{g.group}",
        "zero": parts.zero(g),
        "zeros": f"make_{real}{g.group}({zeros})",
    }


def _constants(g: Gemm) -> list[str]:
    values = [("LANES_N", "WARP_N / THREAD_N"), ("STEP_N", "LANES_N * GROUP")]
    values += [("STEP_M", "WARP_M / THREAD_M * GROUP")]
    values += [("A_ROW", "TILE_M" if g.transpose_a else "TILE_M + GROUP")]
    values += [("B_ROW", "TILE_N + GROUP" if g.transpose_b else "TILE_N")]
    if g.tiling.copy == "registers":
        values += [(f"{s}_LOADS", f"TILE_{n} * TILE_K / GROUP / THREADS") for s, n in ("AM", "BN")]
    return [*(f"constexpr int {name} = {value};" for name, value in values), ""]


def _shared(g: Gemm) -> list[str]:
    real = STORED[g.dtype]
    if not g.dynamic:
        return [
            f"__shared__ __align__(16) {real} {side}_tiles[STAGES][TILE_K][{side.upper()}_ROW];"
            for side in "ab"
        ]
    return [
        f"extern __shared__ __align__(16) {real} tiles[];",
        f"auto& a_tiles = *reinterpret_cast<{real}(*)[STAGES][TILE_K][A_ROW]>(tiles);",
        f"{real}* const behind = tiles + STAGES * TILE_K * A_ROW;",
        f"auto& b_tiles = *reinterpret_cast<{real}(*)[STAGES][TILE_K][B_ROW]>(behind);",
    ]


def _unpacked(g: Gemm, source: str) -> str:
    """Elements of a vector to where a thread keeps them."""
    if source == "values":
        pairs = [f"            held[i][{e}] = values.{_LANES[e]};" for e in range(g.group)]
    else:
        pairs = [f"        values[i + {e}] = found.{_LANES[e]};" for e in range(g.group)]
    return "\n".join(pairs)


def _across(g: Gemm, side: str) -> bool:
    """Whether the matrix has k along its rows, so that the tile is its transpose."""
    return not g.transpose_a if side == "a" else g.transpose_b


def _side(g: Gemm, side: str) -> list[str]:
    across = _across(g, side)
    extent = "TILE_M" if side == "a" else "TILE_N"
    words = {
        "side": side,
        "what": side,
        "extent": extent,
        "row": f"{side.upper()}_ROW",
        "loads": f"{side.upper()}_LOADS",
        "width": "TILE_K" if across else extent,
    }
    if g.gathered(side):
        # Rows and columns are of what threads read along, find_* takes them in the product's order.
        turned = across == (side == "b")
        words["found"] = "column, row" if turned else "row, column"
        words["place"] = "x][y" if across else "y][x"
        words["own_y"], words["own_x"] = parts.own_place(g, words["width"])
        return [parts.filled(_START_GATHER if g.tiling.copy == "async" else _GATHER, **words)]
    if g.tiling.copy == "async":
        return [parts.filled(_START, started=_started(g, across), **words)]
    stored = "        *reinterpret_cast<@vector@*>(&tile[y][x]) = " + (
        f"make_@vector@({', '.join(f'held[i][{e}]' for e in range(g.group))});"
    )
    if across:
        stored = "\n".join(f"        tile[x + {e}][y] = held[i][{e}];" for e in range(g.group))
    fetch = parts.filled(_FETCH, unpacked=_unpacked(g, "values"), **words)
    return [fetch, parts.filled(_PUT, stored=stored, **words)]


def _started(g: Gemm, across: bool) -> str:
    place = "tile[x + e][y]" if across else "tile[y][x + e]"
    single = [
        "#pragma unroll",
        "for (int e = 0; e < GROUP; ++e) {",
        "    const bool inside = row < rows && column + e < columns;",
        f"    ptx_copy_async<sizeof(@real@)>(&{place}, inside ? from + e : matrix, inside);",
        "}",
    ]
    if not across:
        single = [
            "if (ALIGNED) {",
            "    const bool inside = row < rows && column < columns;",
            "    ptx_copy_async_16(&tile[y][x], inside ? from : matrix, inside);",
            "} else {",
            *(line if line.startswith("#") else f"    {line}" for line in single),
            "}",
        ]
    return "\n".join(line if line.startswith("#") else f"        {line}" for line in single)


def _product(g: Gemm) -> str:
    split = g.tiling.split_k > 1
    first, end = ("part_first", "part_end") if split else ("0", "k")
    loop = _BY_COPIES if g.tiling.copy == "async" else _BY_REGISTERS
    for name, at in (("from", first), ("next", "first_k + TILE_K"), ("copy", "next_k")):
        for side, count, place in (("a", "m", "first_row"), ("b", "n", "first_column")):
            inside = f"{count}, k, {place}, {at}"
            if not _across(g, side):
                inside = f"k, {count}, {at}, {place}"
            if g.gathered(side):
                inside = f"shape, {inside}"
            loop = loop.replace(f"@{side}_{name}@", inside)
    loop = parts.filled(loop, first=first, end=end)
    shown = parts.parameters(g)
    value = "sums[i][j + @e@]"
    stored = parts.store(g, g.group, value)
    return parts.filled(
        _PRODUCT,
        params=",\n".join(f"    {part}" for part in shown),
        loop=loop.rstrip("\n"),
        range=part_range(g),
        store="\n".join(
            line if line.startswith("#") else f"                {line}" for line in stored
        ),
    )


def part_range(g: Gemm) -> str:
    """The part of the inner dimension that a block sums, in whole tiles, and where it goes."""
    if g.tiling.split_k == 1:
        return ""
    return (
        "    const int steps = (k - 1) / TILE_K + 1;\n"
        "    const int part_steps = (steps - 1) / SPLIT_K + 1;\n"
        "    const int part_first = blockIdx.y * part_steps * TILE_K;\n"
        "    const int part_end = min(k, part_first + part_steps * TILE_K);\n"
        "    parts += static_cast<size_t>(blockIdx.y) * m * n;\n"
    )
