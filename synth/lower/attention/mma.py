"""Attention by tensor cores: queries, keys and values as fragments, scores in registers."""

from __future__ import annotations

from synth.lower.attention import softmax
from synth.lower.attention.plan import Attention
from synth.lower.gemm.mma import PLACES, fragment_load
from validate.text.helpers.tensor import helper_lines

STATE = f"""    float sums[WARP_M / 16][HEAD_DIM / 8][4] = {{}};
    float largest[WARP_M / 16][2], total[WARP_M / 16][2];
#pragma unroll
    for (int i = 0; i < WARP_M / 16; ++i) {{
        largest[i][0] = largest[i][1] = {softmax.NONE};
        total[i][0] = total[i][1] = 0.0f;
    }}"""

_SCORES = """        float scores[WARP_M / 16][TILE_N / 8][4] = {};
#pragma unroll
        for (int p = 0; p < HEAD_DIM / 16; ++p) {
            unsigned int q_parts[WARP_M / 16][4];
#pragma unroll
            for (int i = 0; i < WARP_M / 16; ++i) {
                load_q(q_parts[i], q_tile, own_row + i * 16, p, lane);
            }
#pragma unroll
            for (int j = 0; j < TILE_N / 16; ++j) {
                unsigned int k_parts[4];
                load_k(k_parts, k_tile, j * 16, p, lane);
#pragma unroll
                for (int i = 0; i < WARP_M / 16; ++i) {
                    ptx_mma_f16(scores[i][2 * j], q_parts[i], k_parts[0], k_parts[1]);
                    ptx_mma_f16(scores[i][2 * j + 1], q_parts[i], k_parts[2], k_parts[3]);
                }
            }
        }
"""

_MASK = """        if (@test@) {
#pragma unroll
            for (int i = 0; i < WARP_M / 16 * TILE_N / 2; ++i) {
                const int e = i % 4;
                const int j = i / 4 % (TILE_N / 8);
                const int part = i / (TILE_N / 2);
                const int key = first_key + j * 8 + lane % 4 * 2 + e % 2;
@row@                @hidden@
                    scores[part][j][e] = @none@;
                }
            }
        }
"""

_ROW = "                const int row = first_row + own_row + part * 16 + lane / 4 + e / 2 * 8;\n"

_WEIGHTS = """        unsigned int weights[WARP_M / 16][TILE_N / 8][2];
#pragma unroll
        for (int i = 0; i < WARP_M / 16; ++i) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                float most = largest[i][h];
#pragma unroll
                for (int j = 0; j < TILE_N / 8; ++j) {
                    most = fmaxf(most, fmaxf(scores[i][j][2 * h], scores[i][j][2 * h + 1]));
                }
                most = largest_of_lanes(most);
                const float shrunk = exp2f((largest[i][h] - most) * SCALE);
                largest[i][h] = most;
                total[i][h] *= shrunk;
#pragma unroll
                for (int j = 0; j < TILE_N / 8; ++j) {
                    const float left = exp2f((scores[i][j][2 * h] - most) * SCALE);
                    const float right = exp2f((scores[i][j][2 * h + 1] - most) * SCALE);
                    total[i][h] += left + right;
                    weights[i][j][h] = packed(left, right);
                }
#pragma unroll
                for (int j = 0; j < HEAD_DIM / 8; ++j) {
                    sums[i][j][2 * h] *= shrunk;
                    sums[i][j][2 * h + 1] *= shrunk;
                }
            }
        }"""

# Sums of a warp's scores lie as a fragment of its next product has them.
PRODUCTS = """#pragma unroll
        for (int p = 0; p < TILE_N / 16; ++p) {
            unsigned int w_parts[WARP_M / 16][4];
#pragma unroll
            for (int i = 0; i < WARP_M / 16; ++i) {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    w_parts[i][e] = weights[i][2 * p + e / 2][e % 2];
                }
            }
#pragma unroll
            for (int j = 0; j < HEAD_DIM / 16; ++j) {
                unsigned int v_parts[4];
                load_v(v_parts, v_tile, j * 16, p, lane);
#pragma unroll
                for (int i = 0; i < WARP_M / 16; ++i) {
                    ptx_mma_f16(sums[i][2 * j], w_parts[i], v_parts[0], v_parts[1]);
                    ptx_mma_f16(sums[i][2 * j + 1], w_parts[i], v_parts[2], v_parts[3]);
                }
            }
        }"""

STORE = """#pragma unroll
    for (int i = 0; i < WARP_M / 16; ++i) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const float share = 1.0f / sum_of_lanes(total[i][h]);
            const int row = first_row + own_row + i * 16 + lane / 4 + h * 8;
            if (row < m) {
                __half* const to = o + static_cast<size_t>(row) * HEAD_DIM + lane % 4 * 2;
#pragma unroll
                for (int j = 0; j < HEAD_DIM / 8; ++j) {
                    *reinterpret_cast<unsigned int*>(to + j * 8) =
                        packed(sums[i][j][2 * h] * share, sums[i][j][2 * h + 1] * share);
                }
            }
        }
    }"""

_PACKED = """// Two numbers as halves, in a word.
__device__ __forceinline__ unsigned int packed(float low, float high)
{
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned int*>(&pair);
}
"""

_HELPERS = (
    *("ptx_copy_async_16", "ptx_commit_copies", "ptx_wait_copies"),
    *("ptx_load_matrices", "ptx_load_transposed", "ptx_mma_f16"),
)


def constants(a: Attention) -> list[tuple[str, str]]:
    """Constants of this core."""
    return [("ROW", "HEAD_DIM"), ("MMA_K", "16"), ("LANES_N", "4")]


def functions(a: Attention) -> list[str]:
    """Device functions, a blank line after each."""
    loads = [
        fragment_load("q", "16 rows of q", "row", "a", "HEAD_DIM"),
        fragment_load("k", "16 keys", "key", "b transposed", "HEAD_DIM"),
        fragment_load("v", "16 columns of v", "column", "b", "HEAD_DIM"),
    ]
    texts = [PLACES, *(load.replace("@real@", "__half") for load in loads), softmax.LANES, _PACKED]
    return [*helper_lines(_HELPERS), *(line for text in texts for line in text.split("\n"))]


def scores(a: Attention) -> str:
    """Scores of a tile of keys, and what they weigh."""
    return _SCORES + softmax.masked(a, _MASK.replace("@row@", _ROW if a.causal else "")) + _WEIGHTS
