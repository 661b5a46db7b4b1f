//=== f_stepped_grid | 6a968701bfd1c576 | - | a count of blocks stepped under a condition
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
void go(const unsigned* t, unsigned* b, unsigned* m, int n) {
    int threads = 256;
    int grid = n / threads;
    if (n % threads != 0) { grid++; }
    split_numbers<<<grid, threads>>>(t, b, m, n);
}
//=== f_helper_with_local | 6a968701bfd1c576 | - | a helper with a constant and an early return
static unsigned blocks_for(size_t n) { constexpr unsigned t = 128; if (n == 0) return 1; return (unsigned)((n + t - 1) / t); }
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
void go(const unsigned* t, unsigned* b, unsigned* m, int n) { split_numbers<<<blocks_for(n), 128>>>(t, b, m, n); }
//=== f_struct_of_constants | 6a968701bfd1c576 | - | constants in a struct and in a namespace
struct Config { static constexpr int kThreads = 192; static constexpr int kItems = 2; };
namespace cfg { enum { kSpan = Config::kThreads * Config::kItems }; }
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    for (int k = 0; k < Config::kItems; ++k) {
        int i = blockIdx.x * cfg::kSpan + k * Config::kThreads + threadIdx.x;
        if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; }
    }
}
void go(const unsigned* t, unsigned* b, unsigned* m, int n) { split_numbers<<<(n + cfg::kSpan - 1) / cfg::kSpan, Config::kThreads>>>(t, b, m, n); }
//=== f_alias_in_shared_bytes | f23f4e264fbca565 | - | sizeof of an alias and of a struct of vectors
using real = float;
struct alignas(16) Unused { float4 v; };
struct Pair { float2 pd; real g; };
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    extern __shared__ float4 raw[];
    Pair* vs = reinterpret_cast<Pair*>(raw);
    real* extra = reinterpret_cast<real*>(vs + num_parts);
    for (int v = threadIdx.x; v < num_parts; v += blockDim.x) { vs[v].pd = make_float2(pitches[v], depths[v]); vs[v].g = gains[v]; extra[v] = 2.f * depths[v]; }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        real s = 0.f;
        for (int v = 0; v < num_parts; ++v) s += vs[v].g * tanhf(extra[v] * sinf(6.28318531f * vs[v].pd.x * stamps[i]));
        totals[i] = s;
    }
}
void go(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    const size_t bytes = num_parts * (sizeof(Pair) + sizeof(real));
    soft<<<(n + 63) / 64, 64, bytes>>>(stamps, pitches, depths, gains, totals, num_parts, n);
}
//=== f_markdown_list_launch | 7fc169c9d64a3b30 | - | a list in Markdown says the launch
```cuda
__global__ void simple_interest(const float* principal, const float* rates, const int* days, float* result, int w, int h) {
    int x = blockIdx.x * 64 + threadIdx.x;
    int y = blockIdx.y * 2 + threadIdx.y;
    if (x < w && y < h) { int k = y * w + x; result[k] = principal[k] * (1.0f + rates[k] * ((float)days[k] / 360.0f)); }
}
```

**Launch configuration**
- Grid: `((w + 63) / 64, (h + 1) / 2)`
- Block: `(64, 2)`
- Shared memory: `0`
//=== f_prose_ceil | 6a968701bfd1c576 | - | prose with ceil(n / 64)
```cuda
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
```
Use a 1D grid of `ceil(n / 64)` blocks with `64` threads each.
//=== f_labeled_partition | 5d97da893fc69208 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | lanes of a group by labeled_partition of coalesced threads
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(const float* score, const float* readings, const int* group_ids, float limit, float* log_square_sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && score[i] > limit) {
        cg::coalesced_group on = cg::coalesced_threads();
        auto same = cg::labeled_partition(on, group_ids[i]);
        float v = cg::reduce(same, log1pf(readings[i] * readings[i]), cg::plus<float>());
        if (same.thread_rank() == 0) atomicAdd(&log_square_sum[group_ids[i]], v);
    }
}
//=== f_binary_partition_of_coalesced | 2f76ea422a113ed2 | {"grid": ["rows"], "block": [64], "shared_bytes": 0} | binary_partition of a tile, counted by size
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void rk(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    auto block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ int lo, hi;
    if (block.thread_rank() == 0) lo = hi = 0;
    block.sync();
    for (int c0 = 0; c0 < width; c0 += 64) {
        int c = c0 + threadIdx.x;
        int v = c < width ? samples[blockIdx.x * width + c] : reference[blockIdx.x];
        bool is_low = v + 15 < reference[blockIdx.x];
        auto part = cg::binary_partition(warp, is_low);
        if (is_low && part.thread_rank() == 0) atomicAdd(&lo, (int)part.size());
        unsigned high = warp.ballot(v > reference[blockIdx.x] + 15);
        if (warp.thread_rank() == 0) atomicAdd(&hi, __popc(high));
    }
    cg::sync(block);
    if (block.thread_rank() == 0) { below[blockIdx.x] = lo; larger[blockIdx.x] = hi; }
}
