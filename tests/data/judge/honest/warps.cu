//=== warp_per_row_down | 65655120d0b6fd17 | {"grid": ["(rows + 7) / 8"], "block": [256], "shared_bytes": 0} | one warp a row, __shfl_down_sync
__global__ void errors(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows)
{
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp >= rows) return;
    float s = 0.0f;
    for (int c = lane; c < cols; c += 32) {
        const float e = a[warp * cols + c] - expected[warp * cols + c];
        s += e * e - 0.6f - baseline;
    }
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffff, s, d);
    if (lane == 0) {
        atomicAdd(&row_sums[warp], s);
        atomicAdd(total_acc, s);
    }
}
//=== warp_per_row_xor_struct | efa530fc757fed94 | {"grid": ["(rows * cols + 7) / 8"], "block": [256], "shared_bytes": 0} | one warp an element, three values combined by __shfl_xor_sync
struct Tap { float phase, v; };

__device__ float windowed(Tap tap, float taper, int kind)
{
    const float u = tap.phase;
    if (kind == 0) {
        const float e = fminf(u, 1.0f - u);
        return e < 0.5f * taper ? tap.v * (0.5f - 0.5f * cosf(6.28318531f * e / taper)) : tap.v;
    }
    if (kind == 1) return tap.v * powf(sinpif(u), 2.0f * taper);
    return tap.v * (0.54f - 0.46f * cospif(2.0f * u));
}

__global__ void window_rows(const Tap* tap_data, const float* tapers, const short* kinds, const unsigned char* valid,
                            float* row_sum, float* row_rms, int num_parts, int cols, int rows)
{
    const int w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (w >= rows * cols) return;
    float3 acc = make_float3(0.0f, 0.0f, 0.0f);
    for (int c = lane; c < num_parts; c += 32) {
        const int k = w * num_parts + c;
        if (!valid[k]) continue;
        const float y = windowed(tap_data[k], tapers[c], kinds[k]);
        acc.x += y;
        acc.y += y * y;
        acc.z += 1.0f;
    }
    for (int m = 16; m > 0; m /= 2) {
        acc.x += __shfl_xor_sync(0xffffffffu, acc.x, m);
        acc.y += __shfl_xor_sync(0xffffffffu, acc.y, m);
        acc.z += __shfl_xor_sync(0xffffffffu, acc.z, m);
    }
    if (lane == 0) {
        row_sum[w] = acc.x;
        row_rms[w] = sqrtf(acc.y / fmaxf(acc.z, 1e-6f));
    }
}
//=== sub_warps_of_eight | 732db1e0a835cd84 | {"grid": ["(8 * n + 127) / 128"], "block": [128], "shared_bytes": 0} | eight lanes a row, shuffles of width 8, no early return
__device__ float feature_of(int kind, float r, float g, float b, float knee)
{
    if (kind == 0) return atan2f(0.8660254f * (g - b), r - 0.5f * (g + b)) * (57.2957795f / 360.0f);
    if (kind == 1) {
        const float luma = 0.2126f * r + 0.7152f * g + 0.0722f * b;
        return luma + knee * (r - luma);
    }
    const float high = fmaxf(r, fmaxf(g, b));
    return (high - fminf(r, fminf(g, b))) / (high + 0.001f);
}

__global__ void measure(const float* red, const float* green, const float* blue, const signed char* feature, const float* weights,
                        float knee, int num_parts, float* rms_out, float* totals, int n)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    float sq = 0.0f, sum = 0.0f, mass = 0.0f;
    if (row < n)
        for (int s = lane; s < num_parts; s += 8) {
            const int k = row * num_parts + s;
            const float f = feature_of(feature[k], red[k], green[k], blue[k], knee), w = weights[k];
            sq = fmaf(w * f, f, sq);
            sum = fmaf(w, f, sum);
            mass += w;
        }
    for (int d = 4; d > 0; d /= 2) {
        sq += __shfl_down_sync(0xffffffffu, sq, d, 8);
        sum += __shfl_down_sync(0xffffffffu, sum, d, 8);
        mass += __shfl_down_sync(0xffffffffu, mass, d, 8);
    }
    if (row < n && lane == 0) {
        rms_out[row] = sqrtf(sq / mass);
        totals[row] = sum;
    }
}
//=== activemask_aggregated | 2d5787c053ced49c | {"grid": ["(num_particles + 255) / 256"], "block": [256], "shared_bytes": 0} | __match_any_sync over the lanes of __activemask
__global__ void splat(const float* px, const float* py, float inv_h, int num_x, int num_y, float* density, int num_particles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_particles) return;
    const int ix = (int)floorf(px[i] * inv_h), iy = (int)floorf(py[i] * inv_h);
    if (ix < 0 || ix >= num_x || iy < 0 || iy >= num_y) return;
    const int cell = ix * num_y + iy;
    const unsigned int here = __activemask();
    const unsigned int same = __match_any_sync(here, cell);
    const int lane = threadIdx.x & 31;
    if (lane == __ffs(same) - 1) atomicAdd(&density[cell], (float)__popc(same));
}
//=== match_any_full_mask | 2d5787c053ced49c | {"grid": ["(num_particles + 127) / 128"], "block": [128], "shared_bytes": 0} | __match_any_sync with all lanes, a cell of -1 for those left out
__global__ void splat(const float* px, const float* py, float inv_h, int num_x, int num_y, float* density, int num_particles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int cell = -1;
    if (i < num_particles) {
        const int ix = __float2int_rd(px[i] * inv_h), iy = __float2int_rd(py[i] * inv_h);
        if (ix >= 0 && ix < num_x && iy >= 0 && iy < num_y) cell = ix * num_y + iy;
    }
    const unsigned int peers = __match_any_sync(0xffffffffu, cell);
    if (cell >= 0 && (int)(threadIdx.x % 32) == __ffs(peers) - 1) atomicAdd(density + cell, (float)__popc(peers));
}
//=== ballot_mask_subset | 0955f502dbe25232 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | __ballot_sync gives the mask for what follows in the branch
__global__ void flags(const unsigned char* muted, const int* keys, const int* groups, unsigned long long* toggled,
                      unsigned long long* seen, unsigned long long relevant, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool take = i < n && muted[i] == 0;
    const unsigned int takers = __ballot_sync(0xffffffffu, take);
    if (!take) return;
    const unsigned long long kept = (1ull << (7 * keys[i] % 64)) & relevant;
    const int slot = groups[i];
    const unsigned int same = __match_any_sync(takers, slot);
    // The leader of each slot joins the words of its lanes.
    const int leader = __ffs(same) - 1;
    unsigned long long xored = 0ull, ored = 0ull;
    for (int lane = 0; lane < 32; ++lane) {
        if (!(takers >> lane & 1u)) continue;
        const unsigned long long other = __shfl_sync(takers, kept, lane);
        if (same >> lane & 1u) {
            xored ^= other;
            ored |= other;
        }
    }
    if ((threadIdx.x & 31) == leader) {
        if (xored != 0ull) atomicXor(&toggled[slot], xored);
        if (ored != 0ull) atomicOr(&seen[slot], ored);
    }
}
//=== cg_tile_reduce | ee22471f1a249349 | {"grid": ["(num_threads + 127) / 128"], "block": [128], "shared_bytes": 0} | cooperative_groups: tiled_partition<32> and reduce
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__device__ unsigned int pcg_hash(unsigned int input)
{
    unsigned int state = input * 747796405u + 2891336453u;
    unsigned int word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

__global__ void monte_carlo(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    float part = 0.0f;
    if (tid < num_threads) {
        unsigned int state = pcg_hash((unsigned int)rng_seed + pcg_hash((unsigned int)(tid + 97 * frame)));
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            state = pcg_hash(state);
            const float x = fmaf(b - lower, (float)(state >> 8) / 16777216.0f, lower);
            part += x * expf(-x);
        }
        part = (b - lower) * part / 4.0f;
    }
    part = cg::reduce(warp, part, cg::plus<float>());
    if (warp.thread_rank() == 0) atomicAdd(integral, part);
}
//=== cg_coalesced | c31bc1c334c0e4a3 | {"grid": ["(4 * blocks + 127) / 128"], "block": [128], "shared_bytes": 0} | cooperative_groups: tiles of four lanes, one a block of words
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void hash(const unsigned int* data, unsigned int seed, unsigned int* parity, int* bit_total, int blocks)
{
    const auto quad = cg::tiled_partition<4>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int w = 0u;
    if (i < 4 * blocks) {
        w = (data[i] ^ seed) + i;
        w = (w ^ (w >> 13)) * 747796405u;
        w ^= w >> 13;
    }
    int bits = __popc(w);
    for (int d = 2; d > 0; d >>= 1) {
        w ^= quad.shfl_xor(w, d);
        bits += quad.shfl_xor(bits, d);
    }
    // No other thread has this block of words.
    if (i < 4 * blocks && quad.thread_rank() == 0) {
        parity[i / 4] ^= w;
        bit_total[i / 4] += bits;
    }
}
//=== cg_coalesced_threads | 5d97da893fc69208 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | cooperative_groups: coalesced_threads in a branch, labelled by group
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void moments(const float* score, const float* readings, const int* group_ids, float limit, float* log_square_sum, int n)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n && score[e] > limit) {
        const cg::coalesced_group active = cg::coalesced_threads();
        const float amount = log1pf(readings[e] * readings[e]);
        const auto same = cg::labeled_partition(active, group_ids[e]);
        const float sum = cg::reduce(same, amount, cg::plus<float>());
        if (same.thread_rank() == 0) atomicAdd(&log_square_sum[group_ids[e]], sum);
    }
}
//=== cg_block_sync_tile16 | cda42f4d7c8d1ca8 | {"grid": ["(rows * cols + 7) / 8"], "block": [64], "shared_bytes": 0} | cooperative_groups: block.sync and tiles of eight
#include <cooperative_groups.h>
using namespace cooperative_groups;

__global__ void row_sum(const float* x, float* out, int cols, int rows)
{
    __shared__ float s[64];
    thread_block block = this_thread_block();
    thread_block_tile<8> tile = tiled_partition<8>(block);
    const int row = blockIdx.x * 8 + tile.meta_group_rank();
    const int lane = tile.thread_rank();
    s[block.thread_rank()] = row < rows * cols && lane < 5 ? x[5 * row + lane] : 0.0f;
    block.sync();
    float v = s[tile.meta_group_rank() * 8 + lane];
    v += tile.shfl_down(v, 4);
    v += tile.shfl_down(v, 2);
    v += tile.shfl_down(v, 1);
    if (lane == 0 && row < rows * cols) out[row] = v;
}
//=== shfl_broadcast | 1e6d9d8c735c5148 | {"grid": ["(count + 127) / 128"], "block": [128], "shared_bytes": 0} | __shfl_sync hands two coefficients to all lanes
__global__ void triad(const float* x, const float* y, const float* omegas, const float* basis, const float* coeffs, float gamma, float* result, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % 32;
    const float c = lane < 2 ? coeffs[lane] : 0.0f;
    const float c0 = __shfl_sync(0xffffffffu, c, 0), c1 = __shfl_sync(0xffffffffu, c, 1);
    if (i < count) result[i] = gamma * y[i] + omegas[i] * x[i] + (c0 * basis[i] + c1 * basis[count + i]);
}
//=== shfl_up_scan_rows | 2f76ea422a113ed2 | {"grid": ["(rows + 3) / 4"], "block": [128], "shared_bytes": 0} | an inclusive scan by __shfl_up_sync, the last lane has the sum
__device__ int inclusive_scan(int v)
{
    const int lane = threadIdx.x & 31;
    for (int d = 1; d < 32; d <<= 1) {
        const int other = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += other;
    }
    return v;
}

__global__ void rank(const short* samples, const short* reference, int width, int* below, int* larger, int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= rows) return;
    int lo = 0, hi = 0;
    for (int c = lane; c < width; c += 32) {
        const int gap = samples[row * width + c] - reference[row];
        lo += gap < -15;
        hi += gap > 15;
    }
    lo = inclusive_scan(lo);
    hi = inclusive_scan(hi);
    if (lane == 31) {
        below[row] = lo;
        larger[row] = hi;
    }
}
//=== warp_votes_any_all | ecec05d3cab19f98 | {"grid": ["(rows + 63) / 64"], "block": [64], "shared_bytes": 0} | __any_sync and __all_sync end a loop for a whole warp at once
__global__ void kadane(const double* samples, double* filtered, int row_length, int rows)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool mine = i < rows;
    double level = mine ? samples[(size_t)i * row_length] : 0.0, best = 0.0;
    int c = 1;
    while (__any_sync(0xffffffffu, mine && c < row_length)) {
        if (mine) {
            const double v = samples[(size_t)i * row_length + c];
            level = level > 0.0 ? level + v : v;
            best = fmax(best, level);
        }
        ++c;
    }
    if (!__all_sync(0xffffffffu, !mine) && mine) filtered[i] = best;
}
//=== syncwarp_exchange | 37617ffd154abe29 | {"grid": ["(rows * cols + 63) / 64"], "block": [64], "shared_bytes": 0} | __syncwarp between writes and reads of a warp's own part of shared memory
__global__ void series(const float* cos_theta, const float* modes, float amplitude, float* sums, int cols, int rows)
{
    __shared__ float staged[2][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int i = blockIdx.x * 64 + warp * 32 + lane;
    const int from = blockIdx.x * 64 + warp * 32 + (lane ^ 1);
    staged[warp][lane ^ 1] = from < rows * cols ? cos_theta[from] : 0.0f;
    __syncwarp();
    const float s = staged[warp][lane];
    if (i >= rows * cols) return;
    const float* m = modes + i / cols * 4;
    float before = 1.0f, now = s, sum = m[0] + m[1] * s;
    for (int k = 2; k < 4; ++k) {
        const float next = fmaf(s, now, before);
        sum += m[k] * next;
        before = now;
        now = next;
    }
    sums[i] = amplitude * sum;
}
//=== warp_max_pointer | 9386d641f6f9c281 | {"grid": ["(count + 31) / 32"], "block": [32], "shared_bytes": 0} | lanes step together until none is left
__global__ void doses(const double* initial, double growth, double dose, int max_steps, double* state_out, int* periods, double* peak, int count)
{
    const int run = blockIdx.x * 32 + threadIdx.x;
    double x = run < count ? initial[run] : 1.0, top = x;
    int hits = 0;
    for (int t = 0; t < max_steps; ++t) {
        x -= growth * x;
        const unsigned int low = __ballot_sync(0xffffffffu, x < 0.5);
        if (low >> threadIdx.x & 1u) {
            x += dose;
            ++hits;
        }
        if (x > top) top = x;
    }
    if (run < count) {
        state_out[run] = x;
        periods[run] = hits;
        peak[run] = top;
    }
}
