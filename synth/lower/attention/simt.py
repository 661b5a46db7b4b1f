"""Attention by ordinary multiplications: a warp's weights go through shared memory."""

from __future__ import annotations

from synth.lower.attention import softmax
from synth.lower.attention.plan import Attention
from validate.text.helpers.tensor import helper_lines

_PLACES = """// Where 16 bytes of a tile lie: rows are padded.
template <int COLUMNS>
__device__ __forceinline__ int place_of(int row, int chunk)
{
    return row * (COLUMNS + GROUP) + chunk * GROUP;
}

__device__ __forceinline__ float4 vector_at(const float* place)
{
    return *reinterpret_cast<const float4*>(place);
}
"""

STATE = f"""    // Lanes that share a query lie side by side; a thread's queries are LANES_M apart.
    float* const weights = v_tile + TILE_N * ROW;
    const int x = lane % LANES_N;
    const int y = own_row + lane / LANES_N;
    float sums[THREAD_M][HEAD_DIM / LANES_N] = {{}};
    float largest[THREAD_M], total[THREAD_M] = {{}};
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {{
        largest[i] = {softmax.NONE};
    }}"""

_SCORES = """        float scores[THREAD_M][THREAD_N] = {};
#pragma unroll 2
        for (int chunk = 0; chunk < HEAD_DIM / 4; ++chunk) {
            float4 keys[THREAD_N];
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) {
                keys[j] = vector_at(k_tile + place_of<HEAD_DIM>(j * LANES_N + x, chunk));
            }
#pragma unroll
            for (int i = 0; i < THREAD_M; ++i) {
                const float4 query = vector_at(q_tile + place_of<HEAD_DIM>(y + i * LANES_M, chunk));
#pragma unroll
                for (int j = 0; j < THREAD_N; ++j) {
                    scores[i][j] += query.x * keys[j].x;
                    scores[i][j] += query.y * keys[j].y;
                    scores[i][j] += query.z * keys[j].z;
                    scores[i][j] += query.w * keys[j].w;
                }
            }
        }
"""

_MASK = """        if (@test@) {
#pragma unroll
            for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
                for (int j = 0; j < THREAD_N; ++j) {
                    const int key = first_key + j * LANES_N + x;
@row@                    @hidden@
                        scores[i][j] = @none@;
                    }
                }
            }
        }
"""

_ROW = "                    const int row = first_row + y + i * LANES_M;\n"

_WEIGHTS = """#pragma unroll
        for (int i = 0; i < THREAD_M; ++i) {
            float most = largest[i];
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) {
                most = fmaxf(most, scores[i][j]);
            }
            most = largest_of_lanes(most);
            const float shrunk = exp2f((largest[i] - most) * SCALE);
            largest[i] = most;
            total[i] *= shrunk;
            float* const to = weights + (y + i * LANES_M) * WEIGHT_ROW + x;
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) {
                const float weight = exp2f((scores[i][j] - most) * SCALE);
                total[i] += weight;
                to[j * LANES_N] = weight;
            }
#pragma unroll
            for (int c = 0; c < HEAD_DIM / LANES_N; ++c) {
                sums[i][c] *= shrunk;
            }
        }"""

PRODUCTS = """#pragma unroll 2
        for (int key = 0; key < TILE_N; key += 4) {
            float own[THREAD_M][4];
#pragma unroll
            for (int i = 0; i < THREAD_M; ++i) {
                const float4 found = vector_at(weights + (y + i * LANES_M) * WEIGHT_ROW + key);
                own[i][0] = found.x;
                own[i][1] = found.y;
                own[i][2] = found.z;
                own[i][3] = found.w;
            }
#pragma unroll
            for (int e = 0; e < 4; ++e) {
#pragma unroll
                for (int c = 0; c < HEAD_DIM / LANES_N; c += 4) {
                    const int chunk = c / 4 * LANES_N + x;
                    const float4 value = vector_at(v_tile + place_of<HEAD_DIM>(key + e, chunk));
#pragma unroll
                    for (int i = 0; i < THREAD_M; ++i) {
                        sums[i][c] += own[i][e] * value.x;
                        sums[i][c + 1] += own[i][e] * value.y;
                        sums[i][c + 2] += own[i][e] * value.z;
                        sums[i][c + 3] += own[i][e] * value.w;
                    }
                }
            }
        }"""

STORE = """#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
        const float share = 1.0f / sum_of_lanes(total[i]);
        const int row = first_row + y + i * LANES_M;
        if (row < m) {
            float* const to = o + static_cast<size_t>(row) * HEAD_DIM;
#pragma unroll
            for (int c = 0; c < HEAD_DIM / LANES_N; c += 4) {
                const int column = (c / 4 * LANES_N + x) * 4;
                *reinterpret_cast<float4*>(to + column) = make_float4(
                    sums[i][c] * share, sums[i][c + 1] * share,
                    sums[i][c + 2] * share, sums[i][c + 3] * share);
            }
        }
    }"""

_HELPERS = ("ptx_copy_async_16", "ptx_commit_copies", "ptx_wait_copies")


def constants(a: Attention) -> list[tuple[str, str]]:
    """Constants of this core."""
    return [
        ("ROW", "HEAD_DIM + GROUP"),
        ("WEIGHT_ROW", "TILE_N + GROUP"),
        ("THREAD_N", str(a.tiling.thread_n)),
        ("LANES_N", "TILE_N / THREAD_N"),
        ("LANES_M", "32 / LANES_N"),
        ("THREAD_M", "WARP_M / LANES_M"),
    ]


def functions(a: Attention) -> list[str]:
    """Device functions, a blank line after each."""
    texts = [_PLACES, softmax.LANES]
    return [*helper_lines(_HELPERS), *(line for text in texts for line in text.split("\n"))]


def scores(a: Attention) -> str:
    """Scores of a tile of keys, and what they weigh."""
    return _SCORES + softmax.masked(a, _MASK.replace("@row@", _ROW if a.causal else "")) + _WEIGHTS
