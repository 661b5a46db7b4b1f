//=== cas_float_max | 2c1b33db264955f0 | {"grid": ["(3 * m + 127) / 128"], "block": [128], "shared_bytes": 0} | the programming guide's loop over atomicCAS, for a maximum
__device__ float atomicMaxFloat(float* address, float val)
{
    int* address_as_int = (int*)address;
    int old = *address_as_int, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_int, assumed, __float_as_int(fmaxf(val, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

__global__ void peaks(const bool* enabled, const float* samples, float* max_amplitude, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 3 * m && enabled[i]) atomicMaxFloat(&max_amplitude[i / 3], fabsf(samples[i]));
}
//=== cas_early_exit | 2c1b33db264955f0 | {"grid": ["(3 * m + 255) / 256"], "block": [256], "shared_bytes": 0} | the loop over atomicCAS ends as soon as the stored value is larger
__global__ void peaks(const bool* enabled, const float* samples, float* max_amplitude, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 3 * m || !enabled[i]) return;
    unsigned int* place = reinterpret_cast<unsigned int*>(max_amplitude + i / 3);
    const float v = fabsf(samples[i]);
    unsigned int seen = atomicCAS(place, 0u, 0u);
    while (__uint_as_float(seen) < v) {
        const unsigned int before = atomicCAS(place, seen, __float_as_uint(v));
        if (before == seen) break;
        seen = before;
    }
}
//=== int_bits_max | 2c1b33db264955f0 | {"grid": ["(3 * m + 511) / 512"], "block": [512], "shared_bytes": 0} | atomicMax on the bits: what is stored or added is below zero or a positive float
__global__ void peaks(const bool* enabled, const float* samples, float* max_amplitude, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 3 * m) return;
    // Bits of floats from 0 up are ordered as integers, those of negative ones are negative integers.
    if (enabled[i]) atomicMax((int*)&max_amplitude[i / 3], __float_as_int(fabsf(samples[i])));
}
//=== cas_float_add | 5d97da893fc69208 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | an addition of floats by atomicCAS
__device__ void add_by_cas(float* address, float val)
{
    unsigned int* bits = (unsigned int*)address;
    unsigned int old = *bits;
    unsigned int assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_uint(__uint_as_float(assumed) + val));
    } while (assumed != old);
}

__global__ void moments(const float* score, const float* readings, const int* group_ids, float limit, float* log_square_sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && score[i] > limit) add_by_cas(log_square_sum + group_ids[i], logf(1.0f + readings[i] * readings[i]));
}
//=== shared_then_global | 5d97da893fc69208 | {"grid": [8], "block": [128], "shared_bytes": 0} | sums of the first 64 groups in shared memory
__global__ void moments(const float* score, const float* readings, const int* group_ids, float limit, float* log_square_sum, int n)
{
    __shared__ float local[64];
    __shared__ int hit[64];
    if (threadIdx.x < 64) {
        local[threadIdx.x] = 0.0f;
        hit[threadIdx.x] = 0;
    }
    __syncthreads();
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += gridDim.x * blockDim.x) {
        if (score[e] <= limit) continue;
        const float v = log1pf(readings[e] * readings[e]);
        const int g = group_ids[e];
        if (g < 64) {
            atomicAdd(&local[g], v);
            atomicExch(&hit[g], 1);
        } else {
            atomicAdd(&log_square_sum[g], v);
        }
    }
    __syncthreads();
    if (threadIdx.x < 64 && hit[threadIdx.x] != 0) atomicAdd(&log_square_sum[threadIdx.x], local[threadIdx.x]);
}
//=== cas_64_bit_xor | 0955f502dbe25232 | - | 64-bit atomicCAS loops for xor and or
__device__ void xor_by_cas(unsigned long long* p, unsigned long long v)
{
    unsigned long long old = *p, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, assumed ^ v);
    } while (old != assumed);
}

__device__ void or_by_cas(unsigned long long* p, unsigned long long v)
{
    unsigned long long old = *p, assumed;
    do {
        assumed = old;
        old = atomicCAS(p, assumed, assumed | v);
    } while (old != assumed);
}

__global__ void flags(const unsigned char* muted, const int* keys, const int* groups, unsigned long long* toggled,
                      unsigned long long* seen, unsigned long long relevant, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !muted[i]) {
        const unsigned long long kept = relevant & (1ULL << ((7 * keys[i]) % 64));
        xor_by_cas(&toggled[groups[i]], kept);
        or_by_cas(&seen[groups[i]], kept);
    }
}
//=== halves_32_bit | 0955f502dbe25232 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | a 64-bit word as two of 32 bits, little end first
__global__ void flags(const unsigned char* muted, const int* keys, const int* groups, unsigned long long* toggled,
                      unsigned long long* seen, unsigned long long relevant, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || muted[i]) return;
    int bit = 7 * keys[i] % 64;
    int half = bit / 32;
    unsigned int word = (1u << (bit % 32)) & (unsigned int)(relevant >> (32 * half));
    if (word == 0u) return;
    atomicXor((unsigned int*)(toggled + groups[i]) + half, word);
    atomicOr((unsigned int*)(seen + groups[i]) + half, word);
}
//=== atomic_sub | c31bc1c334c0e4a3 | {"grid": [16], "block": [64], "shared_bytes": 0} | atomicSub of a negative count
__global__ void hash(const unsigned int* data, unsigned int seed, unsigned int* parity, int* bit_total, int blocks)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4 * blocks; i += gridDim.x * blockDim.x) {
        unsigned int w = data[i];
        w ^= seed;
        w += i;
        w ^= w >> 13;
        w *= 747796405u;
        w ^= w >> 13;
        atomicXor(&parity[i / 4], w);
        atomicSub(&bit_total[i / 4], -__popc(w));
    }
}
//=== thread_per_group | c31bc1c334c0e4a3 | {"grid": ["(blocks + 127) / 128"], "block": [128], "shared_bytes": 0} | a thread takes all four words: no atomics are needed
__global__ void hash(const unsigned int* data, unsigned int seed, unsigned int* parity, int* bit_total, int blocks)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks) return;
    uint4 words = reinterpret_cast<const uint4*>(data)[b];
    unsigned int w[4] = {words.x, words.y, words.z, words.w};
    unsigned int x = 0u;
    int bits = 0;
    for (int k = 0; k < 4; ++k) {
        unsigned int h = (w[k] ^ seed) + 4u * b + k;
        h = (h ^ h >> 13) * 747796405u;
        h ^= h >> 13;
        x ^= h;
        bits += __popc(h);
    }
    parity[b] ^= x;
    bit_total[b] += bits;
}
//=== runs_merged | dd91ee3a2c695041 | {"grid": ["(nnz + 511) / 512"], "block": [64], "shared_bytes": 0} | a thread walks eight entries and adds once for each run of a row
__global__ void spmv(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz)
{
    const int first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int end = min(first + 8, nnz);
    if (first >= end) return;
    int row = ri[first], sum = 0;
    for (int k = first; k < end; ++k) {
        if (ri[k] != row) {
            atomicAdd(&result[row], sum);
            row = ri[k];
            sum = 0;
        }
        sum += values[k] * x[ci[k]];
    }
    atomicAdd(&result[row], sum);
}
//=== kahan_partial | 65655120d0b6fd17 | {"grid": ["(rows + 63) / 64"], "block": [64], "shared_bytes": 0} | a thread sums its row after Kahan
__global__ void errors(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f, lost = 0.0f;
    for (int c = 0; c < cols; ++c) {
        const float e = a[r * cols + c] - expected[r * cols + c];
        const float y = (e * e - 0.6f - baseline) - lost;
        const float t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    row_sums[r] += sum;
    atomicAdd(&total_acc[0], sum);
}
//=== column_walk_one_atomic | b42b46251bae0474 | {"grid": ["(cols + 31) / 32", "(rows + 63) / 64"], "block": [32, 8], "shared_bytes": 0} | eight rows a thread before one atomicMax
__global__ void latest(const bool* skip, const int* t_ms, int* largest_start, int cols, int rows)
{
    const int j = blockIdx.x * 32 + threadIdx.x;
    if (j >= cols) return;
    int best = -2147483647 - 1;
    bool any = false;
    for (int k = 0; k < 8; ++k) {
        const int i = blockIdx.y * 64 + k * 8 + threadIdx.y;
        if (i >= rows) break;
        if (skip[i * cols + j]) continue;
        best = max(best, t_ms[i * cols + j]);
        any = true;
    }
    if (any) atomicMax(&largest_start[j], best);
}
//=== cas_int_max | b42b46251bae0474 | - | an integer maximum by atomicCAS
__global__ void latest(const bool* skip, const int* t_ms, int* largest_start, int cols, int rows)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) return;
    if (skip[i * cols + j]) return;
    int v = t_ms[i * cols + j];
    int seen = atomicCAS(&largest_start[j], v, v);
    while (v > seen) {
        int was = atomicCAS(&largest_start[j], seen, v);
        if (was == seen) return;
        seen = was;
    }
}
//=== double_in_shared | ee22471f1a249349 | {"grid": ["(num_threads + 127) / 128"], "block": [128], "shared_bytes": 0} | atomicAdd of doubles in shared memory, one of floats a block
__device__ __forceinline__ unsigned int pcg(unsigned int s)
{
    const unsigned int m = s * 747796405u + 2891336453u;
    const unsigned int w = ((m >> ((m >> 28) + 4u)) ^ m) * 277803737u;
    return (w >> 22) ^ w;
}

__global__ void integral_kernel(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ double sum;
    if (threadIdx.x == 0) sum = 0.0;
    __syncthreads();
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < num_threads) {
        unsigned int s = pcg((unsigned int)rng_seed + pcg((unsigned int)(t + 97 * frame)));
        double part = 0.0;
        for (int k = 0; k < 4; ++k) {
            s = pcg(s);
            const float x = (b - lower) * ((float)(s >> 8) * 5.9604644775390625e-8f) + lower;
            part += x * exp(-(double)x);
        }
        atomicAdd(&sum, (double)(b - lower) * part * 0.25);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(integral, (float)sum);
}
//=== scoped_atomics | 559dbc3153b24763 | {"grid": ["rows"], "block": [32], "shared_bytes": 0} | atomicAdd_block on a counter in shared memory
__global__ void pattern(const signed char* sequence, const signed char* motif, int num_cols, int* hits, int rows)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const signed char* s = sequence + (size_t)blockIdx.x * num_cols;
    for (int c = threadIdx.x; c < num_cols - 2; c += blockDim.x)
        if (s[c] == motif[0] && s[c + 1] == motif[1] && s[c + 2] == motif[2]) atomicAdd_block(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) hits[blockIdx.x] = count;
}
//=== density_as_counts | 2d5787c053ced49c | {"grid": [12], "block": [96], "shared_bytes": 0} | counts of cells below 512 in shared memory, as whole numbers
__global__ void splat(const float* px, const float* py, float inv_h, int num_x, int num_y, float* density, int num_particles)
{
    __shared__ unsigned int counts[512];
    for (unsigned int c = threadIdx.x; c < 512u; c += blockDim.x) counts[c] = 0u;
    __syncthreads();
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < num_particles; p += gridDim.x * blockDim.x) {
        const float fx = floorf(px[p] * inv_h), fy = floorf(py[p] * inv_h);
        const bool inside = fx >= 0.0f && fy >= 0.0f && fx < (float)num_x && fy < (float)num_y;
        if (!inside) continue;
        const int cell = (int)fx * num_y + (int)fy;
        if (cell < 512) atomicAdd(&counts[cell], 1u);
        else atomicAdd(&density[cell], 1.0f);
    }
    __syncthreads();
    for (unsigned int c = threadIdx.x; c < 512u; c += blockDim.x)
        if (counts[c]) atomicAdd(&density[c], (float)counts[c]);
}
//=== atomic_or_return_value | 72e3a771e927cdf9 | {"grid": [5], "block": [64], "shared_bytes": 0} | what atomicOr returns is used, in a count that nobody reads
__global__ void mark(const int* nodes, int* status, int color, int n)
{
    int fresh = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int old = atomicOr(&status[nodes[i]], color);
        fresh += (old & color) == 0;
    }
    (void)fresh;
}
//=== scatter_vector_reads | cfae07d5a1bcb413 | {"grid": ["(4 * tiles + 127) / 128"], "block": [128], "shared_bytes": 0} | int4 and float4 reads before the atomics
__global__ void scatter(const int* indices, const float* amounts, float baseline, float* totals, int m, int tiles)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= 4 * tiles) return;
    const int4 at = reinterpret_cast<const int4*>(indices)[k];
    const float4 v = reinterpret_cast<const float4*>(amounts)[k];
    float* row = totals + (k / 4) * m;
    atomicAdd(row + at.x, baseline - fabsf(v.x));
    atomicAdd(row + at.y, baseline - fabsf(v.y));
    atomicAdd(row + at.z, baseline - fabsf(v.z));
    atomicAdd(row + at.w, baseline - fabsf(v.w));
}
