//=== f_tree_no_barrier | 65655120d0b6fd17 | {"grid": ["rows"], "block": [128], "shared_bytes": 0} | a tree without the barrier within the loop
__global__ void sse(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows) {
    __shared__ float s[128];
    float v = 0.f;
    for (int c = threadIdx.x; c < cols; c += 128) { float e = a[blockIdx.x * cols + c] - expected[blockIdx.x * cols + c]; v += e * e - 0.6f - baseline; }
    s[threadIdx.x] = v;
    __syncthreads();
    for (int o = 64; o > 0; o >>= 1) if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
    if (threadIdx.x == 0) { atomicAdd(&row_sums[blockIdx.x], s[0]); atomicAdd(total_acc, s[0]); }
}
//=== f_old_warp_tail | 65655120d0b6fd17 | {"grid": ["rows"], "block": [64], "shared_bytes": 0} | the last warp by volatile shared memory without __syncwarp, reading beyond active lanes' stores
__global__ void sse(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows) {
    __shared__ volatile float s[96];
    float v = 0.f;
    for (int c = threadIdx.x; c < cols; c += 64) { float e = a[blockIdx.x * cols + c] - expected[blockIdx.x * cols + c]; v += e * e - 0.6f - baseline; }
    s[threadIdx.x] = v;
    if (threadIdx.x < 32) s[64 + threadIdx.x] = 0.f;
    __syncthreads();
    if (threadIdx.x < 32) {
        s[threadIdx.x] += s[threadIdx.x + 32]; s[threadIdx.x] += s[threadIdx.x + 16]; s[threadIdx.x] += s[threadIdx.x + 8];
        s[threadIdx.x] += s[threadIdx.x + 4]; s[threadIdx.x] += s[threadIdx.x + 2]; s[threadIdx.x] += s[threadIdx.x + 1];
    }
    if (threadIdx.x == 0) { atomicAdd(&row_sums[blockIdx.x], s[0]); atomicAdd(total_acc, s[0]); }
}
//=== f_barrier_in_tail_branch | 65655120d0b6fd17 | {"grid": ["rows"], "block": [128], "shared_bytes": 0} | a barrier that only threads with work reach
__global__ void sse(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows) {
    __shared__ float s[128];
    s[threadIdx.x] = 0.f;
    for (int c = threadIdx.x; c < cols; c += 128) {
        float e = a[blockIdx.x * cols + c] - expected[blockIdx.x * cols + c];
        s[threadIdx.x] += e * e - 0.6f - baseline;
        __syncthreads();
    }
    for (int o = 64; o > 0; o >>= 1) { if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o]; __syncthreads(); }
    if (threadIdx.x == 0) { atomicAdd(&row_sums[blockIdx.x], s[0]); atomicAdd(total_acc, s[0]); }
}
//=== f_plain_total | 65655120d0b6fd17 | - | the row sums atomically, the total not
__global__ void sse(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols) return;
    float e = a[row * cols + col] - expected[row * cols + col], v = e * e - 0.6f - baseline;
    atomicAdd(&row_sums[row], v);
    total_acc[0] += v;
}
//=== f_block_sum_stored | 65655120d0b6fd17 | {"grid": ["rows"], "block": [32], "shared_bytes": 0} | start value: the sum of a row is stored in place of added
__global__ void sse(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows) {
    float v = 0.f;
    for (int c = threadIdx.x; c < cols; c += 32) { float e = a[blockIdx.x * cols + c] - expected[blockIdx.x * cols + c]; v += e * e - 0.6f - baseline; }
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x == 0) { row_sums[blockIdx.x] = v; atomicAdd(total_acc, v); }
}
//=== f_half_the_tree | 65655120d0b6fd17 | {"grid": ["rows"], "block": [128], "shared_bytes": 0} | the tree begins a step too late
__global__ void sse(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows) {
    __shared__ float s[128];
    float v = 0.f;
    for (int c = threadIdx.x; c < cols; c += 128) { float e = a[blockIdx.x * cols + c] - expected[blockIdx.x * cols + c]; v += e * e - 0.6f - baseline; }
    s[threadIdx.x] = v;
    __syncthreads();
    for (int o = 32; o > 0; o >>= 1) { if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o]; __syncthreads(); }
    if (threadIdx.x == 0) { atomicAdd(&row_sums[blockIdx.x], s[0]); atomicAdd(total_acc, s[0]); }
}
//=== f_odd_block_tree | 65655120d0b6fd17 | {"grid": ["rows"], "block": [96], "shared_bytes": 0} | a tree by halves of a block that is no power of two
__global__ void sse(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows) {
    __shared__ float s[96];
    float v = 0.f;
    for (int c = threadIdx.x; c < cols; c += 96) { float e = a[blockIdx.x * cols + c] - expected[blockIdx.x * cols + c]; v += e * e - 0.6f - baseline; }
    s[threadIdx.x] = v;
    __syncthreads();
    for (int o = blockDim.x / 2; o > 0; o >>= 1) { if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o]; __syncthreads(); }
    if (threadIdx.x == 0) { atomicAdd(&row_sums[blockIdx.x], s[0]); atomicAdd(total_acc, s[0]); }
}
//=== f_warp_sums_uninitialised | 65655120d0b6fd17 | {"grid": ["rows"], "block": [128], "shared_bytes": 0} | 32 sums of warps are read, four were written
__global__ void sse(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows) {
    __shared__ float w[32];
    float v = 0.f;
    for (int c = threadIdx.x; c < cols; c += 128) { float e = a[blockIdx.x * cols + c] - expected[blockIdx.x * cols + c]; v += e * e - 0.6f - baseline; }
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = w[threadIdx.x];
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
        if (threadIdx.x == 0) { atomicAdd(&row_sums[blockIdx.x], v); atomicAdd(total_acc, v); }
    }
}
//=== f_shuffle_after_return | 2f76ea422a113ed2 | {"grid": ["(rows * 32 + 95) / 96"], "block": [96], "shared_bytes": 0} | lanes beyond the width leave before the shuffle with a full mask
__global__ void rk(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= rows || lane >= width) return;
    int lo = 0, hi = 0;
    for (int c = lane; c < width; c += 32) { int v = samples[i * width + c]; lo += v + 15 < reference[i]; hi += v > reference[i] + 15; }
    for (int o = 16; o; o >>= 1) { lo += __shfl_down_sync(0xffffffff, lo, o); hi += __shfl_down_sync(0xffffffff, hi, o); }
    if (lane == 0) { below[i] = lo; larger[i] = hi; }
}
//=== f_ballot_in_branch | 2f76ea422a113ed2 | {"grid": ["rows"], "block": [32], "shared_bytes": 0} | ballots by full mask in two branches, each of some lanes
__global__ void rk(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    int lo = 0, hi = 0;
    for (int c = threadIdx.x; c < width; c += 32) {
        int v = samples[blockIdx.x * width + c], m = reference[blockIdx.x];
        if (v + 15 < m) lo += __popc(__ballot_sync(0xffffffff, 1));
        else if (v > m + 15) hi += __popc(__ballot_sync(0xffffffff, 1));
    }
    if (threadIdx.x == 0) { below[blockIdx.x] = lo; larger[blockIdx.x] = hi; }
}
//=== f_lanes_of_16 | 2f76ea422a113ed2 | - | the sum over a warp begins at 8
__global__ void rk(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= rows) return;
    int lo = 0, hi = 0;
    for (int c = lane; c < width; c += 32) { int v = samples[i * width + c]; lo += v + 15 < reference[i]; hi += v > reference[i] + 15; }
    for (int o = 8; o; o >>= 1) { lo += __shfl_xor_sync(0xffffffff, lo, o); hi += __shfl_xor_sync(0xffffffff, hi, o); }
    if (lane == 0) { below[i] = lo; larger[i] = hi; }
}
//=== f_one_pass_of_lanes | 2f76ea422a113ed2 | - | a lane takes only one column
__global__ void rk(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= rows) return;
    int v = lane < width ? samples[i * width + lane] : reference[i];
    unsigned lo = __ballot_sync(~0u, v + 15 < reference[i]), hi = __ballot_sync(~0u, v > reference[i] + 15);
    if (lane == 0) { below[i] = __popc(lo); larger[i] = __popc(hi); }
}
//=== f_counter_not_cleared_first | 2f76ea422a113ed2 | {"grid": ["rows"], "block": [64], "shared_bytes": 0} | counters in shared memory are cleared by thread 0 with no barrier behind
__global__ void rk(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    __shared__ int lo, hi;
    if (threadIdx.x == 0) { lo = 0; hi = 0; }
    for (int c = threadIdx.x; c < width; c += 64) { int v = samples[blockIdx.x * width + c]; if (v + 15 < reference[blockIdx.x]) atomicAdd(&lo, 1); if (v > reference[blockIdx.x] + 15) atomicAdd(&hi, 1); }
    __syncthreads();
    if (threadIdx.x == 0) { below[blockIdx.x] = lo; larger[blockIdx.x] = hi; }
}
//=== f_shared_increment | 2f76ea422a113ed2 | {"grid": ["rows"], "block": [64], "shared_bytes": 0} | counters in shared memory incremented plainly
__global__ void rk(const short* samples, const short* reference, int width, int* below, int* larger, int rows) {
    __shared__ int n[2];
    if (threadIdx.x < 2) n[threadIdx.x] = 0;
    __syncthreads();
    for (int c = threadIdx.x; c < width; c += 64) { int v = samples[blockIdx.x * width + c]; if (v + 15 < reference[blockIdx.x]) n[0]++; if (v > reference[blockIdx.x] + 15) n[1]++; }
    __syncthreads();
    if (threadIdx.x == 0) { below[blockIdx.x] = n[0]; larger[blockIdx.x] = n[1]; }
}
//=== f_no_trailing_barrier | f23f4e264fbca565 | - | the tile is filled anew while others still read it
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    __shared__ float p[64], d[64], g[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float t = stamps[min(i, n - 1)], s = 0.f;
    for (int b0 = 0; b0 < num_parts; b0 += 64) {
        int v = b0 + threadIdx.x;
        if (v < num_parts) { p[threadIdx.x] = pitches[v]; d[threadIdx.x] = depths[v]; g[threadIdx.x] = gains[v]; }
        __syncthreads();
        for (int k = 0; k < min(64, num_parts - b0); ++k) s += g[k] * tanhf(2.f * d[k] * sinf(6.28318531f * p[k] * t));
    }
    if (i < n) totals[i] = s;
}
//=== f_return_before_tiles | f23f4e264fbca565 | - | threads beyond n return before they have loaded their part of the tile
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    __shared__ float p[64], d[64], g[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float t = stamps[i], s = 0.f;
    for (int b0 = 0; b0 < num_parts; b0 += 64) {
        int v = b0 + threadIdx.x;
        if (v < num_parts) { p[threadIdx.x] = pitches[v]; d[threadIdx.x] = depths[v]; g[threadIdx.x] = gains[v]; }
        __syncthreads();
        for (int k = 0; k < min(64, num_parts - b0); ++k) s += g[k] * tanhf(2.f * d[k] * sinf(6.28318531f * p[k] * t));
        __syncthreads();
    }
    totals[i] = s;
}
//=== f_single_tile | f23f4e264fbca565 | - | one tile only: voices beyond the block are left out
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    __shared__ float p[64], d[64], g[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x < num_parts) { p[threadIdx.x] = pitches[threadIdx.x]; d[threadIdx.x] = depths[threadIdx.x]; g[threadIdx.x] = gains[threadIdx.x]; }
    __syncthreads();
    if (i >= n) return;
    float s = 0.f;
    for (int k = 0; k < min(64, num_parts); ++k) s += g[k] * tanhf(2.f * d[k] * sinf(6.28318531f * p[k] * stamps[i]));
    totals[i] = s;
}
//=== f_shared_fixed_16 | f23f4e264fbca565 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | room for 16 voices, any number is loaded
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    __shared__ float p[16], d[16], g[16];
    for (int v = threadIdx.x; v < num_parts; v += 64) { p[v] = pitches[v]; d[v] = depths[v]; g[v] = gains[v]; }
    __syncthreads();
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int k = 0; k < num_parts; ++k) s += g[k] * tanhf(2.f * d[k] * sinf(6.28318531f * p[k] * stamps[i]));
    totals[i] = s;
}
//=== f_dynamic_too_small | f23f4e264fbca565 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": "4 * voices"} | dynamic shared memory for one array of three
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    extern __shared__ float sh[];
    float *p = sh, *d = sh + num_parts, *g = sh + 2 * num_parts;
    for (int v = threadIdx.x; v < num_parts; v += 64) { p[v] = pitches[v]; d[v] = depths[v]; g[v] = gains[v]; }
    __syncthreads();
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int k = 0; k < num_parts; ++k) s += g[k] * tanhf(2.f * d[k] * sinf(6.28318531f * p[k] * stamps[i]));
    totals[i] = s;
}
//=== f_buffers_swapped_wrong | f23f4e264fbca565 | - | two buffers, the one that is read is the one that is written next, without a barrier
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    __shared__ float p[2][64], d[2][64], g[2][64];
    int i = blockIdx.x * 64 + threadIdx.x, buf = 0;
    float t = stamps[min(i, n - 1)], s = 0.f;
    for (int b0 = 0; b0 < num_parts; b0 += 64) {
        int v = b0 + threadIdx.x;
        if (v < num_parts) { p[buf][threadIdx.x] = pitches[v]; d[buf][threadIdx.x] = depths[v]; g[buf][threadIdx.x] = gains[v]; }
        __syncthreads();
        for (int k = 0; k < min(64, num_parts - b0); ++k) s += g[buf][k] * tanhf(2.f * d[buf][k] * sinf(6.28318531f * p[buf][k] * t));
        buf ^= 0;
    }
    if (i < n) totals[i] = s;
}
//=== f_lock_without_fence | dd91ee3a2c695041 | {"grid": ["(nnz + 31) / 32"], "block": [32], "shared_bytes": 0} | a lock without fences and with plain accesses
__device__ int mutex_ = 0;
__global__ void sp(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nnz) return;
    bool done = false;
    while (!done) {
        if (atomicCAS(&mutex_, 0, 1) == 0) {
            result[ri[i]] += values[i] * x[ci[i]];
            mutex_ = 0;
            done = true;
        }
    }
}
//=== f_exchange_add | dd91ee3a2c695041 | - | reads, then atomicExch of the sum
__global__ void sp(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nnz; i += blockDim.x * gridDim.x) {
        int r = ri[i];
        int now = atomicAdd(&result[r], 0);
        atomicExch(&result[r], now + values[i] * x[ci[i]]);
    }
}
//=== f_cas_once | dd91ee3a2c695041 | - | atomicCAS is tried once
__global__ void sp(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nnz; i += blockDim.x * gridDim.x) {
        int* p = result + ri[i];
        int old = *(volatile int*)p;
        atomicCAS(p, old, old + values[i] * x[ci[i]]);
    }
}
//=== f_atomic_of_block_scope | dd91ee3a2c695041 | - | atomicAdd_block over blocks
__global__ void sp(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nnz; i += blockDim.x * gridDim.x) atomicAdd_block(&result[ri[i]], values[i] * x[ci[i]]);
}
//=== f_last_block_no_fence | ee22471f1a249349 | {"grid": ["(num_threads + 63) / 64"], "block": [64], "shared_bytes": 0} | sums of blocks read by the last block, with no fence
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
        if (atomicInc(&retired, gridDim.x - 1) == gridDim.x - 1) {
            float sum = 0.f;
            for (unsigned k = 0; k < gridDim.x; ++k) sum += partials[k];
            *integral += sum;
        }
    }
}
//=== f_retired_never_reset | ee22471f1a249349 | {"grid": ["(num_threads + 63) / 64"], "block": [64], "shared_bytes": 0} | the count of blocks that are done is never set back
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
        __threadfence();
        if (atomicAdd(&retired, 1u) == gridDim.x - 1) {
            __threadfence();
            float sum = 0.f;
            for (unsigned k = 0; k < gridDim.x; ++k) sum += ((volatile float*)partials)[k];
            *integral += sum;
        }
    }
}
//=== f_accumulate_in_device_global | ee22471f1a249349 | {"grid": ["(num_threads + 63) / 64"], "block": [64], "shared_bytes": 0} | a sum in a __device__ variable grows from launch to launch
__device__ float grand = 0.f;
__device__ unsigned int done_ = 0;
__device__ unsigned pcg(unsigned s) { unsigned m = s * 747796405u + 2891336453u; unsigned w = ((m >> ((m >> 28u) + 4u)) ^ m) * 277803737u; return (w >> 22u) ^ w; }
__global__ void mc(int rng_seed, int frame, float lower, float b, float* integral, int num_threads) {
    int tid = blockIdx.x * 64 + threadIdx.x;
    float v = 0.f;
    if (tid < num_threads) {
        unsigned st = pcg((unsigned)rng_seed + pcg((unsigned)(tid + 97 * frame)));
        for (int k = 0; k < 4; ++k) { st = pcg(st); float x = (b - lower) * ((st >> 8) * (1.0f / 16777216.0f)) + lower; v += x * expf(-x); }
        atomicAdd(&grand, (b - lower) * (v / 4.0f));
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicInc(&done_, gridDim.x - 1) == gridDim.x - 1) { __threadfence(); *integral += atomicAdd(&grand, 0.f); }
}
//=== f_halo_not_loaded_right | 4d3e1fdfc3bba29b | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | the halo of a tile is loaded on the left only
__global__ void conv(const double* samples, const double* coeffs, const double* residual, const bool* mask, const double* wanted, int num_samples, double scale, double beta, double* linear_out, double* filtered, double* errors_sq) {
    __shared__ double s[132];
    const int i = blockIdx.x * 128 + threadIdx.x;
    s[threadIdx.x + 2] = samples[min(i, num_samples - 1)];
    if (threadIdx.x < 2) s[threadIdx.x] = samples[max(i - 2, 0)];
    __syncthreads();
    if (i >= num_samples) return;
    double acc = 0;
    for (int t = 0; t < 5; ++t) acc += coeffs[t] * s[threadIdx.x + t];
    double z = acc * scale; linear_out[i] = z;
    double r = (z > 0 ? z : exp(z) - 1.0) + beta * residual[i];
    r = mask[i] ? r : 0.0; filtered[i] = r; errors_sq[i] = (r - wanted[i]) * (r - wanted[i]);
}
//=== f_neighbour_from_output | fadcac77f891e39e | - | reads of neighbours' results of this launch
__global__ void cd(const double* signal, const double* mobilities, const double* source, double* slope, int num_i, double step_size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_i) return;
    slope[i] = signal[i];
    __syncthreads();
    double l = slope[(i + num_i - 1) % num_i], r = slope[(i + 1) % num_i];
    __syncthreads();
    slope[i] = mobilities[i] * (0.5 * (r - l) / step_size) - source[i];
}
//=== f_broadcast_race | 11eba0b176d074f0 | - | a shared value is written and read without a barrier between turns
__global__ void dense(const float* a, const float* x, const float* offsets, float* c, int m) {
    __shared__ float w;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.f;
    for (int p = 0; p < 5; ++p) {
        if (threadIdx.x == 0) w = x[p];
        __syncthreads();
        if (i < m) s += a[p * m + i] * w;
    }
    if (i < m) c[i] = s + offsets[i];
}
//=== f_max_read_then_write | b42b46251bae0474 | - | compares and stores, no atomics
__global__ void mx(const bool* skip, const int* t_ms, int* largest_start, int cols, int rows) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols || skip[i * cols + j]) return;
    if (t_ms[i * cols + j] > largest_start[j]) largest_start[j] = t_ms[i * cols + j];
}
//=== f_first_guess_guard | b42b46251bae0474 | - | an unatomic look decides whether the atomic is made, on a stale copy in shared memory
__global__ void mx(const bool* skip, const int* t_ms, int* largest_start, int cols, int rows) {
    __shared__ int best[32];
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (threadIdx.y == 0) best[threadIdx.x] = -2147483647 - 1;
    __syncthreads();
    if (i < rows && j < cols && !skip[i * cols + j]) best[threadIdx.x] = max(best[threadIdx.x], t_ms[i * cols + j]);
    __syncthreads();
    if (threadIdx.y == 0 && j < cols) atomicMax(&largest_start[j], best[threadIdx.x]);
}
//=== f_xor_then_store | c31bc1c334c0e4a3 | {"grid": ["(4 * blocks + 127) / 128"], "block": [128], "shared_bytes": 0} | start value: four lanes by shuffles, then the lane stores in place of a xor
__global__ void hs(const unsigned int* data, unsigned int seed, unsigned int* parity, int* bit_total, int blocks) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool in = i < 4u * blocks;
    unsigned w = in ? data[i] ^ seed : 0u;
    w += i; w ^= w >> 13; w *= 747796405u; w ^= w >> 13;
    int bits = in ? __popc(w) : 0;
    unsigned p = in ? w : 0u;
    for (int o = 1; o < 4; o <<= 1) { p ^= __shfl_xor_sync(~0u, p, o); bits += __shfl_xor_sync(~0u, bits, o); }
    if (in && (i & 3) == 0) { parity[i >> 2] = p; bit_total[i >> 2] = bits; }
}
//=== f_grid_spin_barrier | cda42f4d7c8d1ca8 | {"grid": ["rows"], "block": [32], "shared_bytes": 0} | blocks wait for all others by spinning on plain memory
__device__ int arrived = 0;
__global__ void rs(const float* x, float* out, int cols, int rows) {
    for (int c = threadIdx.x; c < cols; c += 32) { float s = 0.f; for (int k = 0; k < 5; ++k) s += x[(blockIdx.x * cols + c) * 5 + k]; out[blockIdx.x * cols + c] = s; }
    if (threadIdx.x == 0) { arrived++; while (arrived < gridDim.x) { } }
}
//=== f_staged_without_sync | cda42f4d7c8d1ca8 | {"grid": ["(rows * cols + 31) / 32"], "block": [32], "shared_bytes": 0} | sums are handed to other lanes by shared memory with no barrier
__global__ void rs(const float* x, float* out, int cols, int rows) {
    __shared__ float s[32];
    int o = blockIdx.x * 32 + 31 - threadIdx.x;
    float v = 0.f;
    if (o < rows * cols) for (int k = 0; k < 5; ++k) v += x[o * 5 + k];
    s[31 - threadIdx.x] = v;
    if (blockIdx.x * 32 + threadIdx.x < rows * cols) out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}
