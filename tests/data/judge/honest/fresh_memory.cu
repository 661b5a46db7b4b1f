//=== f_block_tree_last | 65655120d0b6fd17 | {"grid": ["rows"], "block": [128], "shared_bytes": 512} | a block a row, a tree in dynamic shared memory
extern __shared__ float partial[];
__global__ void sum_squared_errors(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows)
{
    const int row = blockIdx.x;
    float acc = 0.f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float d = a[row * cols + c] - expected[row * cols + c];
        acc += d * d - 0.6f - baseline;
    }
    partial[threadIdx.x] = acc;
    __syncthreads();
    for (unsigned s = blockDim.x >> 1; s; s >>= 1) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (!threadIdx.x) {
        atomicAdd(row_sums + row, *partial);
        atomicAdd(total_acc, partial[0]);
    }
}
//=== f_warp_then_block | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | shuffles down, then the first warp over the sums of warps
__inline__ __device__ float warpReduceSum(float val) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    val += __shfl_down_sync(0xffffffff, val, offset);
  return val;
}
__inline__ __device__ float blockReduceSum(float val) {
  static __shared__ float shared[32];
  int lane = threadIdx.x % warpSize;
  int wid = threadIdx.x / warpSize;
  val = warpReduceSum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0;
  if (wid == 0) val = warpReduceSum(val);
  return val;
}
extern "C" __global__ void sum_squared_errors(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows) {
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    float e = a[blockIdx.x * cols + c] - expected[blockIdx.x * cols + c];
    s += e * e - 0.6f - baseline;
  }
  s = blockReduceSum(s);
  if (threadIdx.x == 0) { atomicAdd(&row_sums[blockIdx.x], s); atomicAdd(&total_acc[0], s); }
}
//=== f_template_unrolled | 65655120d0b6fd17 | {"grid": ["rows"], "block": [128], "shared_bytes": 0} | a tree unrolled by a template, with __syncwarp in the last warp
template <unsigned int BS>
__device__ void tail(volatile float* s, unsigned int t) {
    float v = s[t];
    if (BS >= 64) { v += s[t + 32]; __syncwarp(); s[t] = v; __syncwarp(); }
    v += s[t + 16]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 8]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 4]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 2]; __syncwarp(); s[t] = v; __syncwarp();
    v += s[t + 1]; __syncwarp(); s[t] = v; __syncwarp();
}
__global__ void sse(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows) {
    __shared__ float s[128 + 32];
    const unsigned t = threadIdx.x;
    float v = 0.0f;
    for (unsigned c = t; c < (unsigned)cols; c += 128u) {
        float e = a[blockIdx.x * cols + c] - expected[blockIdx.x * cols + c];
        v += e * e - 0.6f - baseline;
    }
    s[t] = v;
    if (t < 32) s[128 + t] = 0.0f;
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) tail<128>(s, t);
    if (t == 0) { atomicAdd(row_sums + blockIdx.x, s[0]); atomicAdd(total_acc, s[0]); }
}
//=== f_cg_block_reduce | 65655120d0b6fd17 | {"grid": ["rows"], "block": [64], "shared_bytes": 0} | cooperative groups: a tile of 32 and the block
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void sse(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    float v = 0;
    for (int c = block.thread_rank(); c < cols; c += block.size()) {
        float e = a[blockIdx.x * cols + c] - expected[blockIdx.x * cols + c];
        v += e * e - 0.6f - baseline;
    }
    v = cg::reduce(tile, v, cg::plus<float>());
    if (tile.thread_rank() == 0) { atomicAdd(&row_sums[blockIdx.x], v); atomicAdd(total_acc, v); }
}
//=== f_privatised_sums | 5d97da893fc69208 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | sums of groups in shared memory where they fit in a table
#define SLOTS 64
__global__ void sum_log_square(const float* score, const float* readings, const int* group_ids, float limit, float* log_square_sum, int n) {
    __shared__ float bins[SLOTS];
    for (int k = threadIdx.x; k < SLOTS; k += blockDim.x) bins[k] = 0.0f;
    __syncthreads();
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n && score[e] > limit) {
        float v = logf(1.0f + readings[e] * readings[e]);
        int g = group_ids[e];
        if (g < SLOTS) atomicAdd(&bins[g], v); else atomicAdd(&log_square_sum[g], v);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < SLOTS; k += blockDim.x)
        if (bins[k] != 0.0f) atomicAdd(&log_square_sum[k], bins[k]);
}
//=== f_match_any | 5d97da893fc69208 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | lanes of one group are gathered by __match_any_sync
__global__ void sum_log_square(const float* score, const float* readings, const int* group_ids, float limit, float* log_square_sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool on = i < n && score[min(i, n - 1)] > limit;
    unsigned act = __ballot_sync(0xffffffffu, on);
    if (!on) return;
    float v = log1pf(readings[i] * readings[i]);
    int g = group_ids[i];
    unsigned peers = __match_any_sync(act, g);
    int leader = __ffs(peers) - 1;
    float total = 0.f;
    for (unsigned rest = peers; rest; rest &= rest - 1) total += __shfl_sync(peers, v, __ffs(rest) - 1);
    if ((int)(threadIdx.x & 31) == leader) atomicAdd(log_square_sum + g, total);
}
//=== f_cas_add_double_style | 5d97da893fc69208 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | atomicCAS in a loop over unsigned bits
__device__ __forceinline__ float my_atomic_add(float* p, float v) {
    unsigned int* u = (unsigned int*)p;
    unsigned int old = *(volatile unsigned int*)u, seen;
    do {
        seen = old;
        old = atomicCAS(u, seen, __float_as_uint(v + __uint_as_float(seen)));
    } while (old != seen);
    return __uint_as_float(old);
}
__global__ void k(const float* score, const float* readings, const int* group_ids, float limit, float* log_square_sum, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int e = blockDim.x * blockIdx.x + threadIdx.x; e < n; e += stride)
        if (!(score[e] <= limit)) my_atomic_add(log_square_sum + group_ids[e], logf(fmaf(readings[e], readings[e], 1.0f)));
}
//=== f_lock_per_group | dd91ee3a2c695041 | {"grid": ["(nnz + 31) / 32"], "block": [32], "shared_bytes": 0} | a spin lock in device memory with fences, critical section inside the loop
__device__ int mutex_ = 0;
__global__ void scatter_product(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= nnz) return;
    bool done = false;
    while (!done) {
        if (atomicCAS(&mutex_, 0, 1) == 0) {
            __threadfence();
            volatile int* r = result;
            r[ri[t]] = r[ri[t]] + values[t] * x[ci[t]];
            __threadfence();
            atomicExch(&mutex_, 0);
            done = true;
        }
    }
}
//=== f_serial_thread | dd91ee3a2c695041 | {"grid": ["1"], "block": [1], "shared_bytes": 0} | a single thread does all of it
__global__ void scatter_product(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz) {
    for (int t = 0; t < nnz; ++t) result[ri[t]] += values[t] * x[ci[t]];
}
//=== f_owner_thread | 72e3a771e927cdf9 | {"grid": ["(num_nodes + 63) / 64"], "block": [64], "shared_bytes": 0} | one block strides over all the entries, the others do nothing
__global__ void mark(const int* nodes, int* status, int color, int n) {
    if (blockIdx.x != 0) return;
    for (int e = threadIdx.x; e < n; e += blockDim.x) atomicOr(&status[nodes[e]], color);
}
//=== f_or_by_cas | 72e3a771e927cdf9 | - | an or by atomicCAS, left early where the bits are there
__global__ void mark_visited(const int* nodes, int* status, int color, int n) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (tid >= n) return;
    int* p = &status[nodes[tid]];
    int old = atomicOr(p, 0);
    while ((old & color) != color) {
        int was = atomicCAS(p, old, old | color);
        if (was == old) break;
        old = was;
    }
}
//=== f_reduce_or_warp | 72e3a771e927cdf9 | - | __reduce_or_sync tells whether the warp has anything, else plain atomics
__global__ void mark_visited(const int* nodes, int* status, int color, int n) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    int c = tid < n ? color : 0;
    unsigned any = __reduce_or_sync(0xffffffffu, (unsigned)c);
    if (any == 0u) return;
    if (tid < n) atomicOr(&status[nodes[tid]], c);
}
//=== f_quad_shuffle | c31bc1c334c0e4a3 | {"grid": ["(4 * blocks + 127) / 128"], "block": [128], "shared_bytes": 0} | four lanes a block of words, by xor shuffles of width 4
__global__ void hash_blocks(const unsigned int* data, unsigned int seed, unsigned int* parity, int* bit_total, int blocks) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool in = i < 4u * blocks;
    unsigned w = in ? data[i] ^ seed : 0u;
    w += i; w ^= w >> 13; w *= 747796405u; w ^= w >> 13;
    int bits = in ? __popc(w) : 0;
    unsigned p = in ? w : 0u;
    p ^= __shfl_xor_sync(0xFFFFFFFF, p, 1, 4);
    p ^= __shfl_xor_sync(0xFFFFFFFF, p, 2, 4);
    bits += __shfl_xor_sync(0xFFFFFFFF, bits, 1, 4);
    bits += __shfl_xor_sync(0xFFFFFFFF, bits, 2, 4);
    if (in && (i & 3) == 0) { atomicXor(&parity[i >> 2], p); atomicAdd(&bit_total[i >> 2], bits); }
}
//=== f_thread_per_hash_block_uint4 | c31bc1c334c0e4a3 | {"grid": ["(blocks + 255) / 256"], "block": [256], "shared_bytes": 0} | a uint4 a thread, no atomics at all
__device__ static unsigned mix(unsigned w, unsigned s, unsigned i) {
    w ^= s; w += i; w ^= w >> 13; w *= 747796405u; return w ^ (w >> 13);
}
__global__ void hash_blocks(const unsigned int* data, unsigned int seed, unsigned int* parity, int* bit_total, int blocks) {
    unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks) return;
    uint4 v = ((const uint4*)data)[b];
    v.x = mix(v.x, seed, 4 * b); v.y = mix(v.y, seed, 4 * b + 1);
    v.z = mix(v.z, seed, 4 * b + 2); v.w = mix(v.w, seed, 4 * b + 3);
    parity[b] ^= v.x ^ v.y ^ v.z ^ v.w;
    bit_total[b] += __popc(v.x) + __popc(v.y) + __popc(v.z) + __popc(v.w);
}
//=== f_transposed_tile_soft | f23f4e264fbca565 | {"grid": ["(n + 31) / 32"], "block": [32], "shared_bytes": 0} | a tile of float4 with all of a voice, guarded by zero gains
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    __shared__ float4 tile[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    float t = i < n ? stamps[i] : 0.f, sum = 0.f;
    for (int b0 = 0; b0 < num_parts; b0 += 32) {
        int v = b0 + threadIdx.x;
        tile[threadIdx.x] = v < num_parts ? make_float4(pitches[v], depths[v], gains[v], 0.f) : make_float4(0.f, 0.f, 0.f, 0.f);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 32; ++k) sum += tile[k].z * tanhf(2.f * tile[k].y * sinf(6.28318531f * tile[k].x * t));
        __syncthreads();
    }
    if (i < n) totals[i] = sum;
}
//=== f_double_buffer | f23f4e264fbca565 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | two buffers and one barrier a turn
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    __shared__ float p[2][64], d[2][64], g[2][64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    const float t = stamps[i < n ? i : n - 1];
    float sum = 0.f;
    int buf = 0;
    for (int b0 = 0; b0 < num_parts; b0 += 64, buf ^= 1) {
        int v = b0 + threadIdx.x;
        if (v < num_parts) { p[buf][threadIdx.x] = pitches[v]; d[buf][threadIdx.x] = depths[v]; g[buf][threadIdx.x] = gains[v]; }
        __syncthreads();
        int m = min(64, num_parts - b0);
        for (int k = 0; k < m; ++k) sum += g[buf][k] * tanhf(2.f * d[buf][k] * sinf(6.28318531f * p[buf][k] * t));
    }
    if (i < n) totals[i] = sum;
}
//=== f_dynamic_three_arrays | f23f4e264fbca565 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": "3 * voices * 4"} | three arrays carved from dynamic shared memory of the size of the voices
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    extern __shared__ unsigned char raw[];
    float* p = reinterpret_cast<float*>(raw);
    float* d = p + num_parts;
    float* g = d + num_parts;
    for (int v = threadIdx.x; v < num_parts; v += blockDim.x) { p[v] = pitches[v]; d[v] = depths[v]; g[v] = gains[v]; }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float sum = 0.f;
        for (int v = 0; v < num_parts; ++v) sum += g[v] * tanhf(2.f * d[v] * sinf(6.28318531f * p[v] * stamps[i]));
        totals[i] = sum;
    }
}
//=== f_warp_shuffled_voices | f23f4e264fbca565 | {"grid": ["(n + 95) / 96"], "block": [96], "shared_bytes": 0} | voices are held by lanes and handed around by shuffles
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    const unsigned full = 0xffffffffu;
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    float t = i < n ? stamps[i] : 0.f, sum = 0.f;
    for (int b0 = 0; b0 < num_parts; b0 += 32) {
        int v = min(b0 + lane, num_parts - 1);
        float p = pitches[v], d = depths[v], g = gains[v];
        for (int k = 0; k < 32 && b0 + k < num_parts; ++k) {
            float pk = __shfl_sync(full, p, k), dk = __shfl_sync(full, d, k), gk = __shfl_sync(full, g, k);
            sum += gk * tanhf(2.f * dk * sinf(6.28318531f * pk * t));
        }
    }
    if (i < n) totals[i] = sum;
}
//=== f_naive_attention | e0857f2207e4ba38 | {"grid": ["(b * q * t + 255) / 256"], "block": [256], "shared_bytes": 0} | one flat index
__global__ void att(const float* q_in, const float* keys, const bool* allowed, float fill, int head_dim, float scale, float alpha, float* out, int q, int t, int b) {
    long long id = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= (long long)b * q * t) return;
    int col = id % t; int row = (id / t) % q; int bb = id / ((long long)q * t);
    float s = 0;
    for (int d = 0; d < head_dim; d++) s += q_in[(bb * q + row) * head_dim + d] * keys[col * head_dim + d];
    s *= scale;
    out[id] = alpha * (allowed[row * t + col] ? s : fill);
}
//=== f_tiled_16_padded | e0857f2207e4ba38 | {"grid": ["(t + 15) / 16", "(q + 15) / 16", "b"], "block": [16, 16], "shared_bytes": 0} | tiles of 16 by 16 with a padded column and zeros behind the ends
#define TILE 16
__global__ void __launch_bounds__(TILE * TILE) att(const float* q_in, const float* keys, const bool* allowed, float fill, int head_dim, float scale, float alpha, float* out, int q, int t, int b) {
    __shared__ float Q[TILE][TILE], K[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty, bb = blockIdx.z;
    int krow = blockIdx.x * TILE + ty;
    float s = 0.f;
    for (int k0 = 0; k0 < (head_dim + TILE - 1) / TILE; ++k0) {
        int d = k0 * TILE + tx;
        Q[ty][tx] = (row < q && d < head_dim) ? q_in[(bb * q + row) * head_dim + d] : 0.f;
        K[ty][tx] = (krow < t && d < head_dim) ? keys[krow * head_dim + d] : 0.f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) s += Q[ty][k] * K[tx][k];
        __syncthreads();
    }
    if (row < q && col < t) out[(bb * q + row) * t + col] = (allowed[row * t + col] ? s * scale : fill) * alpha;
}
//=== f_warp_per_score | e0857f2207e4ba38 | {"grid": ["t", "q", "b"], "block": [32], "shared_bytes": 0} | a warp a score, shuffled sum
__global__ void att(const float* q_in, const float* keys, const bool* allowed, float fill, int head_dim, float scale, float alpha, float* out, int q, int t, int b) {
    int col = blockIdx.x, row = blockIdx.y, z = blockIdx.z;
    float s = 0.f;
    for (int d = threadIdx.x; d < head_dim; d += 32) s = fmaf(q_in[(z * q + row) * head_dim + d], keys[col * head_dim + d], s);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x == 0) out[(z * q + row) * t + col] = alpha * (allowed[row * t + col] ? scale * s : fill);
}
//=== f_stencil_halo_tile | 4d3e1fdfc3bba29b | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | a tile with a halo of two on each side, clamped
__global__ void conv(const double* samples, const double* coeffs, const double* residual, const bool* mask, const double* wanted, int num_samples, double scale, double beta, double* linear_out, double* filtered, double* errors_sq) {
    __shared__ double s[128 + 4];
    const int g0 = blockIdx.x * blockDim.x;
    for (int k = threadIdx.x; k < 132; k += 128) s[k] = samples[max(0, min(g0 + k - 2, num_samples - 1))];
    __syncthreads();
    const int i = g0 + threadIdx.x;
    if (i >= num_samples) return;
    double acc = 0;
    #pragma unroll
    for (int t = 0; t < 5; ++t) acc += coeffs[t] * s[threadIdx.x + t];
    const double z = acc * scale;
    linear_out[i] = z;
    double r = (z > 0 ? z : expm1(z)) + beta * residual[i];
    r = mask[i] ? r : 0.0;
    filtered[i] = r;
    errors_sq[i] = (r - wanted[i]) * (r - wanted[i]);
}
//=== f_constant_memory_pattern | 559dbc3153b24763 | - | the pattern in registers, the row by a rolling window
__global__ void find(const signed char* sequence, const signed char* motif, int num_cols, int* hits, int rows) {
    int r = threadIdx.x + blockIdx.x * blockDim.x;
    if (r < rows) {
        const signed char *s = sequence + (size_t)r * num_cols;
        signed char m0 = motif[0], m1 = motif[1], m2 = motif[2];
        int h = 0;
        for (int c = 2; c < num_cols; c++) h += (s[c - 2] == m0) & (s[c - 1] == m1) & (s[c] == m2);
        hits[r] = h;
    }
}
//=== f_warp_ballot_pattern | 559dbc3153b24763 | {"grid": ["rows"], "block": [32], "shared_bytes": 0} | a warp a row, ballots counted
__global__ void find(const signed char* sequence, const signed char* motif, int num_cols, int* hits, int rows) {
    int n = 0;
    for (int p = 0; p < num_cols; p += 32) {
        int c = p + threadIdx.x;
        bool ok = c + 3 <= num_cols;
        for (int k = 0; k < 3; ++k) ok = ok && sequence[blockIdx.x * num_cols + c + k] == motif[k];
        n += __popc(__ballot_sync(0xffffffff, ok));
    }
    if (threadIdx.x == 0) hits[blockIdx.x] = n;
}
//=== f_syncthreads_count | 2f76ea422a113ed2 | {"grid": ["rows"], "block": [64], "shared_bytes": 0} | __syncthreads_count does the counting
__global__ void rank_(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    int lo = 0, hi = 0;
    for (int c0 = 0; c0 < width; c0 += blockDim.x) {
        int c = c0 + threadIdx.x;
        int v = c < width ? samples[blockIdx.x * width + c] : 0;
        int m = reference[blockIdx.x];
        lo += __syncthreads_count(c < width && v < m - 15);
        hi += __syncthreads_count(c < width && v > m + 15);
    }
    if (threadIdx.x == 0) { below[blockIdx.x] = lo; larger[blockIdx.x] = hi; }
}
//=== f_shared_counters | 2f76ea422a113ed2 | {"grid": ["rows"], "block": [128], "shared_bytes": 0} | counters in shared memory, atomically
__global__ void rank_(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    __shared__ int count[2];
    if (threadIdx.x < 2) count[threadIdx.x] = 0;
    __syncthreads();
    int m = reference[blockIdx.x];
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        int d = samples[blockIdx.x * width + c] - m;
        if (d < -15) atomicAdd(&count[0], 1);
        else if (d > 15) atomicAdd(&count[1], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) below[blockIdx.x] = count[0];
    if (threadIdx.x == 1) larger[blockIdx.x] = count[1];
}
//=== f_reduce_add_sync | 2f76ea422a113ed2 | - | __reduce_add_sync over a warp
__global__ void rank_(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    int w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (w >= rows) return;
    int lo = 0, hi = 0;
    for (int c = lane; c < width; c += 32) {
        int s = samples[w * width + c];
        lo += s + 15 < reference[w]; hi += s > reference[w] + 15;
    }
    lo = __reduce_add_sync(0xffffffff, lo);
    hi = __reduce_add_sync(0xffffffff, hi);
    if (lane == 0) below[w] = lo, larger[w] = hi;
}
//=== f_column_max_shared | b42b46251bae0474 | {"grid": ["(cols + 31) / 32"], "block": [32, 8], "shared_bytes": 0} | a block for 32 columns, a maximum over eight rows of threads in shared memory
__global__ void mx(const bool* skip, const int* t_ms, int* largest_start, int cols, int rows) {
    __shared__ int best[8][32];
    int j = blockIdx.x * 32 + threadIdx.x;
    int m = INT_MIN;
    if (j < cols)
        for (int i = threadIdx.y; i < rows; i += 8)
            if (!skip[i * cols + j]) m = max(m, t_ms[i * cols + j]);
    best[threadIdx.y][threadIdx.x] = m;
    __syncthreads();
    if (threadIdx.y == 0 && j < cols) {
        for (int k = 1; k < 8; ++k) m = max(m, best[k][threadIdx.x]);
        largest_start[j] = max(largest_start[j], m);
    }
}
//=== f_last_block_done | ee22471f1a249349 | {"grid": ["(num_threads + 63) / 64"], "block": [64], "shared_bytes": 0} | sums of blocks in device memory, the last block adds them (threadFenceReduction)
__device__ float partials[65536];
__device__ unsigned int retired = 0;
__device__ unsigned pcg(unsigned s) { unsigned m = s * 747796405u + 2891336453u; unsigned w = ((m >> ((m >> 28u) + 4u)) ^ m) * 277803737u; return (w >> 22u) ^ w; }
__global__ void mc(int rng_seed, int frame, float lower, float b, float* integral, int num_threads) {
    __shared__ float s[64];
    __shared__ bool last;
    int tid = blockIdx.x * 64 + threadIdx.x;
    float v = 0.f;
    if (tid < num_threads) {
        unsigned st = pcg((unsigned)rng_seed + pcg((unsigned)(tid + 97 * frame)));
        for (int k = 0; k < 4; ++k) { st = pcg(st); float x = (b - lower) * ((st >> 8) * (1.0f / 16777216.0f)) + lower; v += x * expf(-x); }
        v = (b - lower) * (v / 4.0f);
    }
    s[threadIdx.x] = v;
    __syncthreads();
    for (int o = 32; o > 0; o /= 2) { if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o]; __syncthreads(); }
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&retired, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float sum = 0.f;
        for (unsigned k = 0; k < gridDim.x; ++k) sum += ((volatile float*)partials)[k];
        *integral += sum;
    }
}
//=== f_max_via_cg_coalesced | 2c1b33db264955f0 | {"grid": ["(3*m + 95) / 96"], "block": [96], "shared_bytes": 0} | coalesced threads, each its own atomic
#include <cooperative_groups.h>
using namespace cooperative_groups;
__global__ void pk(const bool* enabled, const float* samples, float* max_amplitude, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 3 * m && enabled[i]) {
        coalesced_group g = coalesced_threads();
        float v = fabsf(samples[i]);
        if (g.size() > 0) atomicMax(reinterpret_cast<int*>(max_amplitude) + i / 3, __float_as_int(v));
    }
}
//=== f_thread_per_entry_of_three | 2c1b33db264955f0 | {"grid": ["(m + 127) / 128"], "block": [128], "shared_bytes": 0} | a thread owns an output, no atomics
__global__ void pk(const bool* enabled, const float* samples, float* max_amplitude, int m) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= m) return;
    float best = max_amplitude[g];
    for (int k = 0; k < 3; ++k) if (enabled[3 * g + k]) best = fmaxf(best, fabsf(samples[3 * g + k]));
    max_amplitude[g] = best;
}
//=== f_row_staged_in_shared | cda42f4d7c8d1ca8 | {"grid": ["(rows * cols + 63) / 64"], "block": [64], "shared_bytes": 1280} | coalesced loads into dynamic shared memory, five a thread
__global__ void rs(const float* x, float* out, int cols, int rows) {
    extern __shared__ float sh[];
    int total = rows * cols * 5, base = blockIdx.x * blockDim.x * 5;
    for (int k = threadIdx.x; k < 5 * (int)blockDim.x && base + k < total; k += blockDim.x) sh[k] = x[base + k];
    __syncthreads();
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    if (o < rows * cols) {
        float* p = sh + threadIdx.x * 5;
        out[o] = p[0] + p[1] + p[2] + p[3] + p[4];
    }
}
//=== f_tile_transpose_perm | 91b4300208ffdfb0 | {"grid": ["(rows + 7) / 8", "(cols + 7) / 8", "batch * channels"], "block": [8, 8], "shared_bytes": 0} | a transposition through a padded tile
__global__ void perm(const float* x, double* permuted, int batch, int channels, int rows, int cols) {
    __shared__ float tile[8][8 + 1];
    int bc = blockIdx.z, bb = bc / channels, cc = bc % channels;
    int r = blockIdx.x * 8 + threadIdx.x, c = blockIdx.y * 8 + threadIdx.y;
    if (r < rows && c < cols) tile[threadIdx.y][threadIdx.x] = x[((c * batch + bb) * channels + cc) * rows + r];
    __syncthreads();
    int c2 = blockIdx.y * 8 + threadIdx.x, r2 = blockIdx.x * 8 + threadIdx.y;
    if (r2 < rows && c2 < cols) permuted[(bc * rows + r2) * cols + c2] = (double)tile[threadIdx.x][threadIdx.y];
}
