"""Rows with plain CUDA written by hand: one for each way in which threads work together."""

from __future__ import annotations

from textwrap import dedent

from hand_rows import Row, arg, output, scalar, size_of, sizes


def plain_row(
    text: str, reference: str, args: list[Row], grid: list[str], block: list[int], **size: int
) -> Row:
    """What the host run needs of a row; a kernel takes those of the sizes that its text names."""
    name = reference.split("(", 1)[0].split()[-1]
    taken = [symbol for symbol in size if f"int {symbol})" in text]
    extra = [{"name": symbol, "type": "int", "size": symbol} for symbol in taken]
    own = [{"name": a["name"], "type": "", "size": None} for a in args]
    return {
        "id": name,
        "kernel_name": name,
        "category": "arithmetic",
        "schedule": None,
        "reference": dedent(reference).strip() + "\n",
        "cuda_plain": dedent(text).lstrip(),
        "plain_args": own + extra,
        "plain_launch": {"grid": grid, "block": block, "shared_bytes": 0},
        "args": args,
        "sizes": sizes(**size),
        "launch": {"dim": [next(iter(size))], "block_dim": 256},
        "input_seed": 12345,
    }


def guarded() -> Row:
    return plain_row(
        """
        extern "C" __global__ void mix(
            const int* __restrict__ x,
            const float* __restrict__ a,
            float* __restrict__ out,
            int* __restrict__ total,
            int n)
        {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) {
                return;
            }
            const float u = a[i];
            const float v = fmaxf(u, 0.25f);
            float s = fmaf(u, 2.0f, 3.0f - v) - sinf(v);
            for (int k = 1; k < 4; ++k) {
                s += u / (float)k;
            }
            const float w = (float)(x[i] % 5);
            out[i] = w < 2.0f ? s : s + (float)(x[i] * 1000);
            atomicAdd(total, x[i] & 3);
        }
        """,
        """
        import math

        def mix(dim, x, a, out, total):
            for i in range(dim[0]):
                u, whole = float(a[i]), int(x[i])
                v = max(u, 0.25)
                s = u * 2.0 + 3.0 - v - math.sin(v)
                for k in range(1, 4):
                    s += u / k
                out[i] = s if whole % 5 < 2 else s + whole * 1000
                total[0] += whole & 3
        """,
        [
            arg("x", "int32", low="0", high="99"),
            arg("a", "float32", low="-2.0", high="2.0"),
            output("out", "float32"),
            output(
                "total",
                "int32",
                role="inout",
                shape=("1",),
                init="reduction_identity",
                low="0",
                high="0",
            ),
        ],
        ["(n + 127) / 128"],
        [128],
        n=64,
    )


SUMS = """
    def sums(dim, a, k_count, out):
        for i in range(dim[0]):
            out[i] = sum(float(a[i, j]) for j in range(k_count))
"""


def _sums_args() -> list[Row]:
    return [
        arg("a", "float32", shape=("n", "k"), low="0.1", high="1.0"),
        size_of("k_count", "k"),
        output("out", "float32", rtol=1e-4),
    ]


def block_reduce() -> Row:
    return plain_row(
        """
        __device__ __forceinline__ float block_sum(float value)
        {
            __shared__ float partial[64];
            partial[threadIdx.x] = value;
            __syncthreads();
            for (int half = 32; half > 0; half /= 2) {
                if (threadIdx.x < half) {
                    partial[threadIdx.x] += partial[threadIdx.x + half];
                }
                __syncthreads();
            }
            return partial[0];
        }

        extern "C" __global__ void sums(
            const float* __restrict__ a, int k_count, float* __restrict__ out, int n)
        {
            const int i = blockIdx.x;
            float total = 0.0f;
            for (int j = threadIdx.x; j < k_count; j += blockDim.x) {
                total += a[i * k_count + j];
            }
            total = block_sum(total);
            if (threadIdx.x != 0) {
                return;
            }
            out[i] = total;
        }
        """,
        SUMS,
        _sums_args(),
        ["n"],
        [64],
        n=7,
        k=9,
    ) | {"id": "block_sums"}


def warp_shuffle() -> Row:
    return plain_row(
        """
        __device__ __forceinline__ float warp_sum(float value)
        {
            for (int offset = 16; offset > 0; offset /= 2) {
                value += __shfl_xor_sync(0xffffffff, value, offset);
            }
            return value;
        }

        extern "C" __global__ void sums(
            const float* __restrict__ a, int k_count, float* __restrict__ out, int n)
        {
            const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
            const int lane = threadIdx.x % 32;
            if (i >= n) {
                return;
            }
            float total = 0.0f;
            for (int j = lane; j < k_count; j += 32) {
                total += a[i * k_count + j];
            }
            total = warp_sum(total);
            if (lane != 0) {
                return;
            }
            out[i] = total;
        }
        """,
        SUMS,
        _sums_args(),
        ["(n + 3) / 4"],
        [128],
        n=7,
        k=9,
    ) | {"id": "warp_sums"}


def tiled() -> Row:
    return plain_row(
        """
        extern "C" __global__ void weigh(
            const float* __restrict__ points,
            const float* __restrict__ centers,
            float gain,
            int k_count,
            float* __restrict__ out,
            int n)
        {
            __shared__ float centers_tile[64];
            const int x = blockIdx.x * 64 + threadIdx.x;
            const int i = min(x, n - 1);
            const float point = points[i];
            float total = 0.0f;
            for (int base = 0; base < k_count; base += 64) {
                const int load_x = base + threadIdx.x;
                if (load_x < k_count) {
                    centers_tile[threadIdx.x] = centers[load_x];
                }
                __syncthreads();
                const int count = min(64, k_count - base);
                for (int t = 0; t < count; ++t) {
                    total += gain * point * centers_tile[t];
                }
                __syncthreads();
            }
            if (x >= n) {
                return;
            }
            out[i] = total;
        }
        """,
        """
        def weigh(dim, points, centers, gain, k_count, out):
            for i in range(dim[0]):
                out[i] = sum(
                    float(gain) * float(points[i]) * float(centers[j]) for j in range(k_count)
                )
        """,
        [
            arg("points", "float32", low="0.5", high="2.0"),
            arg("centers", "float32", shape=("k",), low="0.5", high="2.0"),
            scalar("gain", "float32", low="0.5", high="1.0"),
            size_of("k_count", "k"),
            output("out", "float32", rtol=1e-4),
        ],
        ["(n + 63) / 64"],
        [64],
        n=60,
        k=9,
    )


def doubled() -> Row:
    return plain_row(
        """
        extern "C" __global__ void drift(
            const double* __restrict__ x, double* __restrict__ out, int n)
        {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) {
                const double u = x[i] * 0.7;
                double total = 0.0;
                for (int k = 0; k < 3; ++k) {
                    total += u * (k + 1.5);
                }
                out[i] = total;
            }
        }
        """,
        """
        def drift(dim, x, out):
            for i in range(dim[0]):
                u = float(x[i]) * 0.7
                out[i] = u * 1.5 + u * 2.5 + u * 3.5
        """,
        [
            arg("x", "float64", low="-2.0", high="2.0"),
            output("out", "float64", rtol=1e-15, atol=1e-15),
        ],
        ["(n + 63) / 64"],
        [64],
        n=200,
    )
