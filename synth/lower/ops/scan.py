"""y[i] = the sum of x up to i: sums of chunks, then each chunk from what stands before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from synth.lower.gemm.parts import filled
from synth.lower.op import Lowered, Op, Operand, one_of, whole

_STORED = {"float32": "float", "int32": "int"}

_TEXT = """// y[i] = the sum of x@upto@ i. A block takes a chunk of tiles, in turn.
// x and y start at multiples of 16 bytes.

constexpr int THREADS = @threads@;
constexpr int WARPS = THREADS / 32;
constexpr int ITEMS = @items@;
constexpr int TILE = THREADS * ITEMS * 4;

// The tiles of a block's chunk.
__device__ __forceinline__ void chunk_of(int n, int& first_tile, int& end_tile)
{
    const int tiles = (n - 1) / TILE + 1;
    const int each = (tiles - 1) / static_cast<int>(gridDim.x) + 1;
    first_tile = min(tiles, static_cast<int>(blockIdx.x) * each);
    end_tile = min(tiles, first_tile + each);
}

// Four values that lie side by side, zeros beyond the end.
__device__ __forceinline__ void read_four(
    @real@ (&values)[4], const @real@* __restrict__ x, size_t at, int n)
{
    if (at + 4 <= n) {
        const @real@4 found = *reinterpret_cast<const @real@4*>(x + at);
        values[0] = found.x;
        values[1] = found.y;
        values[2] = found.z;
        values[3] = found.w;
    } else {
        for (int e = 0; e < 4; ++e) {
            values[e] = at + e < n ? x[at + e] : 0;
        }
    }
}

// The sum over a block, whose threads all call it.
__device__ __forceinline__ @real@ sum_of_block(@real@ value, @real@* parts)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, step);
    }
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = value;
    }
    __syncthreads();
    @real@ sum = 0;
#pragma unroll
    for (int warp = 0; warp < WARPS; ++warp) {
        sum += parts[warp];
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS) scan_sums(
    const @real@* __restrict__ x, @real@* __restrict__ sums, int n)
{
    __shared__ @real@ parts[WARPS];
    int first_tile, end_tile;
    chunk_of(n, first_tile, end_tile);
    @real@ own = 0;
    for (int tile = first_tile; tile < end_tile; ++tile) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            @real@ values[4];
            const size_t at = static_cast<size_t>(tile) * TILE + (i * THREADS + threadIdx.x) * 4;
            read_four(values, x, at, n);
            own += values[0] + values[1] + (values[2] + values[3]);
        }
    }
    const @real@ sum = sum_of_block(own, parts);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) scan(
    const @real@* __restrict__ x, const @real@* __restrict__ sums, @real@* __restrict__ y, int n)
{
    __shared__ @real@ parts[2][WARPS];
    int first_tile, end_tile;
    chunk_of(n, first_tile, end_tile);
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    @real@ before = 0;
    for (int block = threadIdx.x; block < blockIdx.x; block += THREADS) {
        before += sums[block];
    }
    before = sum_of_block(before, parts[1]);
    int turn = 0;
    for (int tile = first_tile; tile < end_tile; ++tile) {
        // A warp has ITEMS rows of 128 values, one after another.
        const size_t first =
            static_cast<size_t>(tile) * TILE + warp * (ITEMS * 128) + lane * 4;
        @real@ values[ITEMS][4], starts[ITEMS];
        @real@ of_warp = 0;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            read_four(values[i], x, first + i * 128, n);
        }
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            @real@ sum = values[i][0] + values[i][1] + (values[i][2] + values[i][3]);
#pragma unroll
            for (int step = 1; step < 32; step *= 2) {
                const @real@ other = __shfl_up_sync(0xffffffffu, sum, step);
                sum += lane >= step ? other : 0;
            }
            const @real@ left = __shfl_up_sync(0xffffffffu, sum, 1);
            starts[i] = of_warp + (lane > 0 ? left : 0);
            of_warp += __shfl_sync(0xffffffffu, sum, 31);
        }
        if (lane == 0) {
            parts[turn][warp] = of_warp;
        }
        __syncthreads();
        @real@ of_block = 0;
        @real@ start = before;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) {
            start += w < warp ? parts[turn][w] : 0;
            of_block += parts[turn][w];
        }
        turn ^= 1;
        before += of_block;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            @real@ sum = start + starts[i];
            @real@ results[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
@step@
            }
            const size_t at = first + i * 128;
            if (at + 4 <= n) {
                *reinterpret_cast<@real@4*>(y + at) =
                    make_@real@4(results[0], results[1], results[2], results[3]);
            } else {
                for (int e = 0; e < 4; ++e) {
                    if (at + e < n) {
                        y[at + e] = results[e];
                    }
                }
            }
        }
    }
}
"""

_INCLUSIVE = """                sum += values[i][e];
                results[e] = sum;"""
_EXCLUSIVE = """                results[e] = sum;
                sum += values[i][e];"""


@dataclass(frozen=True)
class Scan:
    """Sums of a prefix by up to `blocks` blocks of `threads`, each of which has `items` vectors of
    four elements of a tile."""

    dtype: str
    exclusive: bool
    threads: int
    items: int
    blocks: int


def _read(dtype: str, fields: Mapping[str, Any], said: Mapping[str, Any]) -> Scan:
    one_of("schedule.threads", said["threads"], (64, 128, 256, 512, 1024))
    one_of("schedule.items", said["items"], (1, 2, 4, 8))
    whole("schedule.blocks", said["blocks"], 1, 8192)
    return Scan(dtype, fields["exclusive"], **said)


def _lower(s: Scan) -> Lowered:
    real = _STORED[s.dtype]
    text = filled(
        _TEXT,
        upto=" before" if s.exclusive else " up to",
        threads=str(s.threads),
        items=str(s.items),
        step=_EXCLUSIVE if s.exclusive else _INCLUSIVE,
        real=real,
    )
    args: list[dict[str, str | None]] = [
        {"name": "x", "type": f"const {real}*", "size": None},
        {"name": "y", "type": f"{real}*", "size": None},
        {"name": "n", "type": "int", "size": "n"},
    ]
    launches = [
        {
            "kernel": kernel,
            "args": given,
            "grid": [f"min({s.blocks}, (n - 1) / {4 * s.threads * s.items} + 1)"],
            "block": [s.threads],
            "shared_bytes": 0,
        }
        for kernel, given in (
            ("scan_sums", ["x", "sums", "=n"]),
            ("scan", ["x", "sums", "y", "=n"]),
        )
    ]
    scratch = [{"name": "sums", "dtype": s.dtype, "count": str(s.blocks)}]
    return Lowered("scan", text, args, launches, scratch)


def _reference(s: Scan) -> str:
    step = ("        total = total + value\n", "        y[i] = total\n")
    first, last = step[::-1] if s.exclusive else step
    zero, kind = ("0", "int") if s.dtype == "int32" else ("0.0", "float")
    return (
        f"def scan(dim, x, y):\n    total = {zero}\n    for i in range(x.shape[0]):\n"
        f"        value = {kind}(x[i])\n{first}{last}"
    )


def _shapes(s: Scan) -> list[tuple[int, ...]]:
    tile = s.threads * s.items * 4
    return [(2 * tile,), (tile + 37,), (1,), (3,), (3 * tile + 130,)]


def _trials() -> Iterator[dict[str, Any]]:
    ways = ((64, 1, 2), (128, 2, 3), (64, 4, 1), (256, 1, 2))
    for dtype in _STORED:
        for exclusive in (False, True):
            for threads, items, blocks in ways[:3] if exclusive else ways:
                schedule = {"threads": threads, "items": items, "blocks": blocks}
                yield {"dtype": dtype, "exclusive": exclusive, "schedule": schedule}


OP = Op(
    name="scan",
    sizes=("n",),
    dtypes=tuple(_STORED),
    fields={"exclusive": False},
    schedule=lambda dtype: {"threads": 256, "items": 4, "blocks": 1056},
    read=_read,
    shared_bytes=lambda s: 3 * s.threads // 32 * 4,
    lower=_lower,
    operands=lambda s: [
        Operand("x", s.dtype, ("n",), low=-1 if s.dtype == "float32" else -1000, high=1),
        Operand("y", s.dtype, ("n",)),
    ],
    reference=_reference,
    tolerance=lambda s, sizes: (0.0, 4.0 * (sizes["n"] + 8) * 2.0**-24),
    shapes=_shapes,
    work=lambda s, sizes: 16 * sizes["n"],
    trials=_trials,
)
