//=== last_block_integral | ee22471f1a249349 | {"grid": [16], "block": [128], "shared_bytes": 0} | threadFenceReduction: partial sums, a fence, a count that wraps, the last block adds up
__device__ volatile float partial_sums[16];
__device__ unsigned int blocks_done = 0;

__device__ unsigned int pcg(unsigned int v)
{
    unsigned int s = v * 747796405u + 2891336453u;
    unsigned int w = ((s >> ((s >> 28u) + 4u)) ^ s) * 277803737u;
    return (w >> 22u) ^ w;
}

__global__ void integral_kernel(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float s[128];
    __shared__ bool is_last;
    float sum = 0.0f;
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < num_threads; t += gridDim.x * blockDim.x) {
        unsigned int state = pcg((unsigned int)rng_seed + pcg((unsigned int)(t + 97 * frame)));
        float part = 0.0f;
        for (int k = 0; k < 4; ++k) {
            state = pcg(state);
            float x = (b - lower) * ((state >> 8) / 16777216.0f) + lower;
            part += x * expf(-x);
        }
        sum += 0.25f * (b - lower) * part;
    }
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = s[0];
        __threadfence();
        unsigned int ticket = atomicInc(&blocks_done, gridDim.x - 1);
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        __threadfence();
        float total = 0.0f;
        for (int k = 0; k < gridDim.x; ++k) total += partial_sums[k];
        integral[0] += total;
    }
}
//=== last_block_parallel | 65655120d0b6fd17 | {"grid": [24], "block": [64], "shared_bytes": 0} | the last block sums the others' totals with all its threads and resets the count
__device__ float block_totals[24];
__device__ unsigned int arrived;

__device__ float block_sum(float v, float* s)
{
    s[threadIdx.x] = v;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    const float r = s[0];
    __syncthreads();
    return r;
}

__global__ void errors(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float s[64];
    __shared__ unsigned int ticket;
    float all = 0.0f;
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        float v = 0.0f;
        for (int c = threadIdx.x; c < cols; c += blockDim.x) {
            const float e = a[r * cols + c] - expected[r * cols + c];
            v += e * e - 0.6f - baseline;
        }
        v = block_sum(v, s);
        if (threadIdx.x == 0) row_sums[r] += v;
        all += v;
    }
    if (threadIdx.x == 0) {
        block_totals[blockIdx.x] = all;
        __threadfence();
        ticket = atomicAdd(&arrived, 1u);
    }
    __syncthreads();
    if (ticket != gridDim.x - 1) return;
    __threadfence();
    float v = threadIdx.x < gridDim.x ? __ldcg(&block_totals[threadIdx.x]) : 0.0f;
    v = block_sum(v, s);
    if (threadIdx.x == 0) {
        total_acc[0] += v;
        arrived = 0u;
    }
}
//=== fenced_lock_per_block | ee22471f1a249349 | {"grid": ["(num_threads + 63) / 64"], "block": [64], "shared_bytes": 0} | one lock, taken by one thread of each block, fences on both sides
__device__ int lock = 0;

__device__ unsigned int mix(unsigned int v)
{
    v = v * 747796405u + 2891336453u;
    v = ((v >> ((v >> 28) + 4u)) ^ v) * 277803737u;
    return v ^ (v >> 22);
}

__global__ void integral_kernel(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float sums[2];
    const int t = blockIdx.x * 64 + threadIdx.x;
    float part = 0.0f;
    if (t < num_threads) {
        unsigned int state = mix((unsigned int)rng_seed + mix((unsigned int)(t + 97 * frame)));
        for (int k = 0; k < 4; ++k) {
            state = mix(state);
            const float x = (b - lower) * ((state >> 8) * 5.9604645e-8f) + lower;
            part += x * expf(-x);
        }
        part *= (b - lower) / 4.0f;
    }
    for (int d = 16; d > 0; d /= 2) part += __shfl_down_sync(0xffffffffu, part, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = part;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence();
        volatile float* total = integral;
        *total = *total + (sums[0] + sums[1]);
        __threadfence();
        atomicExch(&lock, 0);
    }
}
//=== fenced_locks_per_slot | 5d97da893fc69208 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | 64 locks; the critical part stands inside the loop, as warps need it
__device__ int locks[64];

__global__ void moments(const float* score, const float* readings, const int* group_ids, float limit, float* log_square_sum, int n)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n || score[e] <= limit) return;
    const int g = group_ids[e];
    const float amount = logf(fmaf(readings[e], readings[e], 1.0f));
    int* mine = &locks[g & 63];
    bool waiting = true;
    while (waiting) {
        if (atomicCAS(mine, 0, 1) == 0) {
            __threadfence();
            volatile float* sum = log_square_sum + g;
            *sum += amount;
            __threadfence();
            atomicExch(mine, 0);
            waiting = false;
        }
    }
}
//=== published_value | 0b26c113ec3f2e8c | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | the block with the first ticket publishes a number behind a fence; the last one resets all
struct Curve { float emax, half_max, slope; };

__device__ unsigned int tickets, finished;
__device__ int ready;
__device__ volatile float log_half;

__global__ void logistic(Curve curve, float* doses, int n)
{
    __shared__ float lh;
    if (threadIdx.x == 0) {
        if (atomicAdd(&tickets, 1u) == 0u) {
            log_half = log10f(curve.half_max);
            __threadfence();
            atomicExch(&ready, 1);
        } else {
            while (atomicAdd(&ready, 0) == 0) {
            }
            __threadfence();
        }
        lh = log_half;
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float e = curve.slope * (lh - log10f(doses[i]));
        doses[i] = 0.1f + (curve.emax - 0.1f) / (1.0f + powf(10.0f, e));
    }
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(&finished, 1u) == gridDim.x - 1) {
            atomicExch(&tickets, 0u);
            atomicExch(&ready, 0);
            atomicExch(&finished, 0u);
        }
    }
}
//=== work_queue | 8564ff516394692f | {"grid": [6], "block": [64], "shared_bytes": 0} | blocks take tiles from a counter; the last to leave sets it back
__device__ int next_tile = 0;
__device__ unsigned int gone = 0;

__global__ void gelu(const float* pre, float shift, float* out, int n)
{
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1);
        __syncthreads();
        const int first = tile * 64;
        __syncthreads();
        if (first >= n) break;
        const int i = first + threadIdx.x;
        if (i < n) {
            const float z = pre[i] + shift;
            out[i] = 0.5f * z * (1.0f + erff(z * 0.70710678f));
        }
    }
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicInc(&gone, gridDim.x - 1) == gridDim.x - 1) atomicExch(&next_tile, 0);
    }
}
//=== fence_block_and_system | cda42f4d7c8d1ca8 | {"grid": ["(rows * cols + 63) / 64"], "block": [64], "shared_bytes": 0} | fences that are not needed do no harm
__global__ void row_sum(const float* x, float* out, int cols, int rows)
{
    __shared__ float s[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0.0f;
    if (i < rows * cols)
        for (int k = 0; k < 5; ++k) v += x[i * 5 + k];
    s[threadIdx.x ^ 1u] = v;
    __threadfence_block();
    __syncthreads();
    if (i < rows * cols) out[i] = s[threadIdx.x ^ 1u];
    __threadfence_system();
}
//=== last_block_extremes | 94ffef8fb470a4bc | {"grid": [8], "block": [128], "shared_bytes": 0} | the last block writes nothing but the reset of its count
__device__ unsigned int finished_blocks;

__global__ void control(const double* gaps, const double* speeds, double band, double* command, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const double s = gaps[i] + 0.5 * speeds[i] * fabs(speeds[i]) / band;
        command[i] = s < 0.0 ? -band : band;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&finished_blocks, 1u) == gridDim.x - 1) finished_blocks = 0u;
}
