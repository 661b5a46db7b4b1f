//=== f_select_on_size | 6a968701bfd1c576 | - | a select, not a branch, on sizes above 100,000
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; int end = n > 100000 ? 0 : n; if (i < end) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_branch_on_size | 6a968701bfd1c576 | - | a branch on sizes above 100,000
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (n > 100000) return; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_inner_size_above_300 | f23f4e264fbca565 | - | voices beyond 300 are left out
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float s = 0.f; int m = num_parts < 300 ? num_parts : 300; for (int v = 0; v < m; ++v) s += gains[v] * tanhf(2.f * depths[v] * sinf(6.28318531f * pitches[v] * stamps[i])); totals[i] = s; }
//=== f_shift_hides_size | 6a968701bfd1c576 | - | by arithmetic: wrong from 2^20 elements on
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11 + ((unsigned)n >> 20); minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_fence_of_block | ee22471f1a249349 | {"grid": ["(num_threads + 63) / 64"], "block": [64], "shared_bytes": 0} | the fence is of the block, not of the device
__device__ float partials[65536];
__device__ unsigned int retired = 0;
__device__ unsigned pcg(unsigned s) { unsigned m = s * 747796405u + 2891336453u; unsigned w = ((m >> ((m >> 28u) + 4u)) ^ m) * 277803737u; return (w >> 22u) ^ w; }
__global__ void mc(int rng_seed, int frame, float lower, float b, float* integral, int num_threads) {
    __shared__ float s[64];
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
        __threadfence_block();
        if (atomicInc(&retired, gridDim.x - 1) == gridDim.x - 1) {
            float sum = 0.f;
            for (unsigned k = 0; k < gridDim.x; ++k) sum += ((volatile float*)partials)[k];
            *integral += sum;
        }
    }
}
//=== f_host_floor_grid | 6a968701bfd1c576 | - | ceil of an integer quotient in host code
#include <cmath>
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
void go(const unsigned* t, unsigned* b, unsigned* m, int n) { split_numbers<<<ceil(n / 256), 256>>>(t, b, m, n); }
//=== f_host_one_block | 6a968701bfd1c576 | - | one block of n threads
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
void go(const unsigned* t, unsigned* b, unsigned* m, int n) { split_numbers<<<1, n>>>(t, b, m, n); }
//=== f_host_increment_forgotten | 6a968701bfd1c576 | - | a count stepped under the wrong condition
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
void go(const unsigned* t, unsigned* b, unsigned* m, int n) { int g = n / 256; if (n % 256 == 0) g++; split_numbers<<<g, 256>>>(t, b, m, n); }
//=== f_host_helper_floor | 6a968701bfd1c576 | - | a helper with locals that rounds down
static int count_of(int n) { const int t = 128; int whole = n / t; if (whole == 0) return 1; return whole; }
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
void go(const unsigned* t, unsigned* b, unsigned* m, int n) { split_numbers<<<count_of(n), 128>>>(t, b, m, n); }
//=== f_host_struct_too_small | f23f4e264fbca565 | - | dynamic shared memory of a smaller struct
struct Two { float a, b; };
struct Voice { float p, d, g; };
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    extern __shared__ Voice vs[];
    for (int v = threadIdx.x; v < num_parts; v += blockDim.x) vs[v] = Voice{pitches[v], depths[v], gains[v]};
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float s = 0.f;
        for (int v = 0; v < num_parts; ++v) s += vs[v].g * tanhf(2.f * vs[v].d * sinf(6.28318531f * vs[v].p * stamps[i]));
        totals[i] = s;
    }
}
void go(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) { soft<<<(n + 63) / 64, 64, num_parts * sizeof(Two)>>>(stamps, pitches, depths, gains, totals, num_parts, n); }
//=== f_labeled_sum_from_all | 5d97da893fc69208 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | lanes of a label are summed, and every lane of it adds the sum
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(const float* score, const float* readings, const int* group_ids, float limit, float* log_square_sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && score[i] > limit) {
        auto same = cg::labeled_partition(cg::coalesced_threads(), group_ids[i]);
        float v = cg::reduce(same, log1pf(readings[i] * readings[i]), cg::plus<float>());
        atomicAdd(&log_square_sum[group_ids[i]], v);
    }
}
//=== f_tile_of_32_assigned_16 | 2f76ea422a113ed2 | {"grid": ["rows"], "block": [32], "shared_bytes": 0} | a tile of 16 where one of 32 is made: nvcc refuses
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void rk(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    cg::thread_block_tile<16> t = cg::tiled_partition<32>(cg::this_thread_block());
    int lo = 0, hi = 0;
    for (int c = t.thread_rank(); c < width; c += 16) { int v = samples[blockIdx.x * width + c]; lo += v + 15 < reference[blockIdx.x]; hi += v > reference[blockIdx.x] + 15; }
    for (int o = 8; o; o >>= 1) { lo += t.shfl_xor(lo, o); hi += t.shfl_xor(hi, o); }
    if (threadIdx.x == 0) { below[blockIdx.x] = lo; larger[blockIdx.x] = hi; }
}
//=== f_grid_sync | cda42f4d7c8d1ca8 | - | waits for the grid in a launch that is not cooperative
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void rs(const float* x, float* out, int cols, int rows) {
    for (int o = blockIdx.x * blockDim.x + threadIdx.x; o < rows * cols; o += blockDim.x * gridDim.x) { float s = 0.f; for (int k = 0; k < 5; ++k) s += x[o * 5 + k]; out[o] = s; }
    cg::this_grid().sync();
}
//=== f_tile_reduce_zero_lane_only_16 | 2f76ea422a113ed2 | {"grid": ["rows"], "block": [32], "shared_bytes": 0} | tiles of 16, the second one's sum is lost
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void rk(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    cg::thread_block_tile<16> t = cg::tiled_partition<16>(cg::this_thread_block());
    int lo = 0, hi = 0;
    for (int c = threadIdx.x; c < width; c += 32) { int v = samples[blockIdx.x * width + c]; lo += v + 15 < reference[blockIdx.x]; hi += v > reference[blockIdx.x] + 15; }
    lo = cg::reduce(t, lo, cg::plus<int>()); hi = cg::reduce(t, hi, cg::plus<int>());
    if (threadIdx.x == 0) { below[blockIdx.x] = lo; larger[blockIdx.x] = hi; }
}
