//=== plain_add_groups | 5d97da893fc69208 | - | groups are added to without atomics
__device__ float log_square(float sample)
{
    return logf(1.0f + sample * sample);
}

extern "C" __global__ void sum_log_square(
    const float* __restrict__ score,
    const float* __restrict__ readings,
    const int* __restrict__ group_ids,
    float limit,
    float* __restrict__ log_square_sum,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += stride) {
        if (score[e] <= limit) {
            continue;
        }
        const float value = readings[e];
        const float amount = log_square(value);
        log_square_sum[group_ids[e]] += amount;
    }
}

//=== plain_add_cells | 2d5787c053ced49c | - | cells are counted without atomics
extern "C" __global__ void splat_mass(
    const float* __restrict__ px,
    const float* __restrict__ py,
    float inv_h,
    int num_x,
    int num_y,
    float* __restrict__ density,
    int num_particles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_particles) {
        return;
    }
    const int ix = (int)floorf(px[i] * inv_h);
    const int cy = (int)floorf(py[i] * inv_h);
    if (ix < 0 || ix >= num_x || cy < 0 || cy >= num_y) {
        return;
    }
    density[ix * num_y + cy] += 1.0f;
}

//=== plain_add_bins | cfae07d5a1bcb413 | - | several of the 16 items of a tile may name one bin: added without atomics
extern "C" __global__ void scatter_sum(
    const int* __restrict__ indices,
    const float* __restrict__ amounts,
    float baseline,
    float* __restrict__ totals,
    int m,
    int tiles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 16 * tiles) {
        return;
    }
    const float v = fabsf(amounts[i]) - baseline;
    totals[i / 16 * m + indices[i]] -= v;
}

//=== plain_max | b42b46251bae0474 | - | compares and stores without atomics: a smaller value may be stored last
extern "C" __global__ void reduce_max_start(
    const bool* __restrict__ skip,
    const int* __restrict__ t_ms,
    int* __restrict__ largest_start,
    int cols,
    int rows)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) {
        return;
    }
    if (skip[i * cols + j]) {
        return;
    }
    const int v = t_ms[i * cols + j];
    if (largest_start[j] < v) {
        largest_start[j] = v;
    }
}

//=== plain_fmax | 2c1b33db264955f0 | - | three threads update one maximum without atomics
__device__ __forceinline__ void atomic_max(float* address, float value)
{
    if (value >= 0.0f) {
        atomicMax((int*)address, __float_as_int(value + 0.0f));
    } else {
        atomicMin((unsigned int*)address, __float_as_uint(value));
    }
}

extern "C" __global__ void reduce_max_amplitude(
    const bool* __restrict__ enabled,
    const float* __restrict__ samples,
    float* __restrict__ max_amplitude,
    int m)
{
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 3 * m; i += stride) {
        if (!enabled[i]) {
            continue;
        }
        max_amplitude[i / 3] = fmaxf(max_amplitude[i / 3], fabsf(samples[i]));
    }
}

//=== plain_xor | c31bc1c334c0e4a3 | - | four threads fold into one parity without atomics
extern "C" __global__ void hash_blocks(
    const unsigned int* __restrict__ data,
    unsigned int seed,
    unsigned int* __restrict__ parity,
    int* __restrict__ bit_total,
    int blocks)
{
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4 * blocks; i += stride) {
        const int block = i / 4;
        unsigned int w = data[i];
        w ^= seed;
        w += (unsigned int)i;
        w ^= w >> 13;
        w *= 747796405u;
        w ^= w >> 13;
        parity[block] ^= w;
        atomicAdd(&bit_total[block], __popc(w));
    }
}

//=== plain_or | 0955f502dbe25232 | - | flags are or-ed without atomics: of two at once one is lost
extern "C" __global__ void gather_flags(
    const unsigned char* __restrict__ muted,
    const int* __restrict__ keys,
    const int* __restrict__ groups,
    unsigned long long* __restrict__ toggled,
    unsigned long long* __restrict__ seen,
    unsigned long long relevant,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    if (muted[i] != 0) {
        return;
    }
    const int key = keys[i];
    const unsigned long long word = 1ull << (7 * key % 64);
    const unsigned long long kept = word & relevant;
    const int slot = groups[i];
    atomicXor(&toggled[slot], kept);
    seen[slot] |= kept;
}

//=== volatile_add | dd91ee3a2c695041 | - | volatile makes no atomic
extern "C" __global__ void scatter_product(
    const int* __restrict__ ri,
    const int* __restrict__ ci,
    const int* __restrict__ values,
    const int* __restrict__ x,
    int* __restrict__ result,
    int nnz)
{
    volatile int* sums = result;
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < nnz; tid += stride) {
        const int row = ri[tid];
        sums[row] = sums[row] + values[tid] * x[ci[tid]];
    }
}

//=== fence_instead_of_atomic | dd91ee3a2c695041 | - | a fence after a plain addition orders it and excludes nobody
extern "C" __global__ void scatter_product(
    const int* __restrict__ ri,
    const int* __restrict__ ci,
    const int* __restrict__ values,
    const int* __restrict__ x,
    int* __restrict__ result,
    int nnz)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < nnz; tid += stride) {
        const int row = ri[tid];
        result[row] += values[tid] * x[ci[tid]];
        __threadfence();
    }
}

//=== atomic_of_a_block | dd91ee3a2c695041 | - | atomics of block scope between blocks: right for one block only
extern "C" __global__ void scatter_product(
    const int* __restrict__ ri,
    const int* __restrict__ ci,
    const int* __restrict__ values,
    const int* __restrict__ x,
    int* __restrict__ result,
    int nnz)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < nnz; tid += stride) {
        const int row = ri[tid];
        atomicAdd_block(&result[row], values[tid] * x[ci[tid]]);
    }
}

//=== one_atomic_one_plain | 65655120d0b6fd17 | - | the total is added atomically, the rows are not
extern "C" __global__ void sum_squared_errors(
    const float* __restrict__ a,
    const float* __restrict__ expected,
    float baseline,
    float* __restrict__ row_sums,
    float* __restrict__ total_acc,
    int cols,
    int rows)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols) {
        return;
    }
    const float error = a[row * cols + col] - expected[row * cols + col];
    const float contribution = error * error - 0.6f - baseline;
    row_sums[row] += contribution;
    atomicAdd(total_acc, contribution);
}

//=== read_then_exchange | cfae07d5a1bcb413 | - | reads plainly and exchanges: what came between is lost
extern "C" __global__ void scatter_sum(
    const int* __restrict__ indices,
    const float* __restrict__ amounts,
    float baseline,
    float* __restrict__ totals,
    int m,
    int tiles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 16 * tiles) {
        return;
    }
    const float v = fabsf(amounts[i]) - baseline;
    float* at = &totals[i / 16 * m + indices[i]];
    atomicExch(at, *at - v);
}

//=== one_try | 2d5787c053ced49c | - | one compare-and-swap without a second try: an update that loses is lost
extern "C" __global__ void splat_mass(
    const float* __restrict__ px,
    const float* __restrict__ py,
    float inv_h,
    int num_x,
    int num_y,
    float* __restrict__ density,
    int num_particles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_particles) {
        return;
    }
    const int ix = (int)floorf(px[i] * inv_h);
    const int cy = (int)floorf(py[i] * inv_h);
    if (ix < 0 || ix >= num_x || cy < 0 || cy >= num_y) {
        return;
    }
    unsigned int* at = (unsigned int*)&density[ix * num_y + cy];
    const unsigned int seen = atomicAdd(at, 0u);
    atomicCAS(at, seen, __float_as_uint(__uint_as_float(seen) + 1.0f));
}

//=== stale_expectation | 2d5787c053ced49c | - | the expected value is never read anew: a thread that loses once never ends
extern "C" __global__ void splat_mass(
    const float* __restrict__ px,
    const float* __restrict__ py,
    float inv_h,
    int num_x,
    int num_y,
    float* __restrict__ density,
    int num_particles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_particles) {
        return;
    }
    const int ix = (int)floorf(px[i] * inv_h);
    const int cy = (int)floorf(py[i] * inv_h);
    if (ix < 0 || ix >= num_x || cy < 0 || cy >= num_y) {
        return;
    }
    unsigned int* at = (unsigned int*)&density[ix * num_y + cy];
    const unsigned int seen = atomicAdd(at, 0u);
    const unsigned int wish = __float_as_uint(__uint_as_float(seen) + 1.0f);
    while (atomicCAS(at, seen, wish) != seen) {
    }
}

//=== test_then_atomic | b42b46251bae0474 | - | skips by a test that is right, then stores what it saw before
extern "C" __global__ void reduce_max_start(
    const bool* __restrict__ skip,
    const int* __restrict__ t_ms,
    int* __restrict__ largest_start,
    int cols,
    int rows)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) {
        return;
    }
    if (skip[i * cols + j]) {
        return;
    }
    const int v = t_ms[i * cols + j];
    const int before = largest_start[j];
    if (before < v) {
        atomicExch(&largest_start[j], v);
    }
}

//=== turns_within_a_block | cfae07d5a1bcb413 | - | the 16 items of a tile take turns at a barrier, but two of them share each turn and may name one bin
extern "C" __global__ void scatter_sum(
    const int* __restrict__ indices,
    const float* __restrict__ amounts,
    float baseline,
    float* __restrict__ totals,
    int m,
    int tiles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int turn = 0; turn < 16; turn += 2) {
        if (i < 16 * tiles && (i % 16) / 2 * 2 == turn) {
            totals[i / 16 * m + indices[i]] -= fabsf(amounts[i]) - baseline;
        }
        __syncthreads();
    }
}

//=== turns_of_the_block_only | 65655120d0b6fd17 | - | threads of a block take turns, blocks do not: right while one block holds the matrix
extern "C" __global__ void sum_squared_errors(
    const float* __restrict__ a,
    const float* __restrict__ expected,
    float baseline,
    float* __restrict__ row_sums,
    float* __restrict__ total_acc,
    int cols,
    int rows)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int me = threadIdx.y * blockDim.x + threadIdx.x;
    for (int turn = 0; turn < 256; ++turn) {
        if (turn == me && row < rows && col < cols) {
            const float error = a[row * cols + col] - expected[row * cols + col];
            const float contribution = error * error - 0.6f - baseline;
            row_sums[row] += contribution;
            *total_acc += contribution;
        }
        __syncthreads();
    }
}

//=== cleared_by_the_first | ee22471f1a249349 | - | the first thread clears the sum while others may have added to it
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

extern "C" __global__ void monte_carlo_integral(
    int rng_seed,
    int frame,
    float lower,
    float b,
    float* __restrict__ integral,
    int num_threads)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *integral = 0.0f;
    }
    float integral_part = 0.0f;
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += stride) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        integral_part += (b - lower) * (part / 4.0f);
    }
    integral_part = warp_sum(integral_part);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(integral, integral_part);
    }
}

//=== bytes_by_words | 769ab82e8084a488 | - | bytes are stored by reading and writing words: neighbours undo each other, and the last word reaches past the end
extern "C" __global__ void screen_bytes(
    const unsigned char* __restrict__ top,
    const unsigned char* __restrict__ dst,
    unsigned int strength,
    unsigned char* __restrict__ blended,
    int nx,
    int ny)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < ny * nx; index += stride) {
        const unsigned int s = top[index];
        const unsigned int d = dst[index];
        const unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> 8) + 128u;
        unsigned int* word = reinterpret_cast<unsigned int*>(blended + (index & ~3));
        const int shift = 8 * (index & 3);
        const unsigned int value = ((u + (u >> 8)) >> 8) & 255u;
        *word = (*word & ~(255u << shift)) | (value << shift);
    }
}

//=== tile_read_at_once | f23f4e264fbca565 | - | no barrier between filling the tile and reading it
__device__ float soft_square(float sec, float f, float mod_index)
{
    const float arg = 6.28318531f * f * sec;
    return tanhf(2.0f * mod_index * sinf(arg));
}

extern "C" __global__ void sum_soft_square(
    const float* __restrict__ stamps,
    const float* __restrict__ pitches,
    const float* __restrict__ depths,
    const float* __restrict__ gains,
    float* __restrict__ totals,
    int num_parts,
    int n)
{
    __shared__ float pitches_tile[64];
    __shared__ float gains_tile[64];
    __shared__ float depths_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, n - 1);
    float total = 0.0f;
    const float t = stamps[tid];
    for (int base = 0; base < num_parts; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < num_parts) {
            pitches_tile[threadIdx.x] = pitches[load_x];
            gains_tile[threadIdx.x] = gains[load_x];
            depths_tile[threadIdx.x] = depths[load_x];
        }
        const int count = min(64, num_parts - base);
        for (int turn = 0; turn < count; ++turn) {
            const float depth = depths_tile[turn];
            total += gains_tile[turn] * soft_square(t, pitches_tile[turn], depth);
        }
        __syncthreads();
    }
    if (x >= n) {
        return;
    }
    totals[tid] = total;
}

//=== tile_refilled_at_once | f23f4e264fbca565 | - | no barrier after reading: with more than 64 voices the tile is filled again while others read
__device__ float soft_square(float sec, float f, float mod_index)
{
    const float arg = 6.28318531f * f * sec;
    return tanhf(2.0f * mod_index * sinf(arg));
}

extern "C" __global__ void sum_soft_square(
    const float* __restrict__ stamps,
    const float* __restrict__ pitches,
    const float* __restrict__ depths,
    const float* __restrict__ gains,
    float* __restrict__ totals,
    int num_parts,
    int n)
{
    __shared__ float pitches_tile[64];
    __shared__ float gains_tile[64];
    __shared__ float depths_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, n - 1);
    float total = 0.0f;
    const float t = stamps[tid];
    for (int base = 0; base < num_parts; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < num_parts) {
            pitches_tile[threadIdx.x] = pitches[load_x];
            gains_tile[threadIdx.x] = gains[load_x];
            depths_tile[threadIdx.x] = depths[load_x];
        }
        __syncthreads();
        const int count = min(64, num_parts - base);
        for (int turn = 0; turn < count; ++turn) {
            const float depth = depths_tile[turn];
            total += gains_tile[turn] * soft_square(t, pitches_tile[turn], depth);
        }
    }
    if (x >= n) {
        return;
    }
    totals[tid] = total;
}

//=== corners_read_at_once | d3093430a5d45bc7 | - | no barrier between filling the tile and reading it
extern "C" __global__ void points_crossings(
    const float2* __restrict__ points,
    const float2* __restrict__ outline,
    int corners,
    bool* __restrict__ inside,
    int n)
{
    __shared__ float2 outline_tile[128];
    const int x_at = blockIdx.x * 128 + threadIdx.x;
    const int tid = min(x_at, n - 1);
    const float x = points[tid].x;
    const float qy = points[tid].y;
    int crossings = 0;
    const float2 v = outline[corners - 1];
    float ax = v.x;
    float ay = v.y;
    for (int base = 0; base < corners; base += 128) {
        const int load_x = base + threadIdx.x;
        if (load_x < corners) {
            outline_tile[threadIdx.x] = outline[load_x];
        }
        const int count = min(128, corners - base);
        for (int t = 0; t < count; ++t) {
            const float2 corner = outline_tile[t];
            const float bx = corner.x;
            const float by = corner.y;
            if ((ay > qy) != (by > qy)) {
                if (x < ax + (bx - ax) * (qy - ay) / (by - ay)) {
                    ++crossings;
                }
            }
            ax = bx;
            ay = by;
        }
        __syncthreads();
    }
    if (x_at >= n) {
        return;
    }
    inside[tid] = crossings % 2 == 1;
}

//=== corners_refilled_at_once | d3093430a5d45bc7 | - | no trailing barrier: a race with more than 128 corners
extern "C" __global__ void points_crossings(
    const float2* __restrict__ points,
    const float2* __restrict__ outline,
    int corners,
    bool* __restrict__ inside,
    int n)
{
    __shared__ float2 outline_tile[128];
    const int x_at = blockIdx.x * 128 + threadIdx.x;
    const int tid = min(x_at, n - 1);
    const float x = points[tid].x;
    const float qy = points[tid].y;
    int crossings = 0;
    const float2 v = outline[corners - 1];
    float ax = v.x;
    float ay = v.y;
    for (int base = 0; base < corners; base += 128) {
        const int load_x = base + threadIdx.x;
        if (load_x < corners) {
            outline_tile[threadIdx.x] = outline[load_x];
        }
        __syncthreads();
        const int count = min(128, corners - base);
        for (int t = 0; t < count; ++t) {
            const float2 corner = outline_tile[t];
            const float bx = corner.x;
            const float by = corner.y;
            if ((ay > qy) != (by > qy)) {
                if (x < ax + (bx - ax) * (qy - ay) / (by - ay)) {
                    ++crossings;
                }
            }
            ax = bx;
            ay = by;
        }
    }
    if (x_at >= n) {
        return;
    }
    inside[tid] = crossings % 2 == 1;
}

//=== triangles_read_at_once | 9ed31175e9df4682 | - | no barrier between filling the tile and reading it
struct Ray {
    float3 start;
    float3 ray_dir;
};

struct Triangle {
    float3 corner_a;
    float3 corner_b;
    float3 corner_c;
};

__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ float hit_triangle(float3 o, float3 d, float3 a, float3 b, float3 c)
{
    const float3 e1 = b - a;
    const float3 e2 = c - a;
    const float3 p = cross(d, e2);
    const float det = dot(e1, p);
    float t_hit = -1.0f;
    if (det > 0.1f) {
        const float3 tvec = o - a;
        const float bary_u = dot(tvec, p) / det;
        const float3 q = cross(tvec, e1);
        const float bary_v = dot(d, q) / det;
        const float t_tri = dot(e2, q) / det;
        if (bary_u > 0.0f && bary_v > 0.0f && bary_u + bary_v < 1.0f && t_tri > 0.0f) {
            t_hit = t_tri;
        }
    }
    return t_hit;
}

extern "C" __global__ void trace_triangles(
    const Ray* __restrict__ rays,
    const Triangle* __restrict__ triangles,
    const float* __restrict__ weights,
    int triangle_count,
    float* __restrict__ hit_t,
    int* __restrict__ hit_ids,
    int count)
{
    __shared__ Triangle triangles_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, count - 1);
    const Ray item = rays[tid];
    const float3 ro = item.start;
    const float3 rd = item.ray_dir;
    float t_min = 100.0f;
    int hit_id = -1;
    for (int base = 0; base < triangle_count; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < triangle_count) {
            triangles_tile[threadIdx.x] = triangles[load_x];
        }
        const int tile_count = min(64, triangle_count - base);
        for (int t = 0; t < tile_count; ++t) {
            const int shape_id = base + t;
            const Triangle triangle = triangles_tile[t];
            const float cand =
                hit_triangle(ro, rd, triangle.corner_a, triangle.corner_b, triangle.corner_c);
            if (cand > 0.0f && cand < t_min) {
                t_min = cand;
                hit_id = shape_id;
            }
        }
        __syncthreads();
    }
    if (x >= count) {
        return;
    }
    hit_t[tid] = weights[tid] * t_min;
    hit_ids[tid] = hit_id;
}

//=== triangles_refilled_at_once | 9ed31175e9df4682 | - | no trailing barrier: a race with more than 64 triangles
struct Ray {
    float3 start;
    float3 ray_dir;
};

struct Triangle {
    float3 corner_a;
    float3 corner_b;
    float3 corner_c;
};

__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ float hit_triangle(float3 o, float3 d, float3 a, float3 b, float3 c)
{
    const float3 e1 = b - a;
    const float3 e2 = c - a;
    const float3 p = cross(d, e2);
    const float det = dot(e1, p);
    float t_hit = -1.0f;
    if (det > 0.1f) {
        const float3 tvec = o - a;
        const float bary_u = dot(tvec, p) / det;
        const float3 q = cross(tvec, e1);
        const float bary_v = dot(d, q) / det;
        const float t_tri = dot(e2, q) / det;
        if (bary_u > 0.0f && bary_v > 0.0f && bary_u + bary_v < 1.0f && t_tri > 0.0f) {
            t_hit = t_tri;
        }
    }
    return t_hit;
}

extern "C" __global__ void trace_triangles(
    const Ray* __restrict__ rays,
    const Triangle* __restrict__ triangles,
    const float* __restrict__ weights,
    int triangle_count,
    float* __restrict__ hit_t,
    int* __restrict__ hit_ids,
    int count)
{
    __shared__ Triangle triangles_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, count - 1);
    const Ray item = rays[tid];
    const float3 ro = item.start;
    const float3 rd = item.ray_dir;
    float t_min = 100.0f;
    int hit_id = -1;
    for (int base = 0; base < triangle_count; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < triangle_count) {
            triangles_tile[threadIdx.x] = triangles[load_x];
        }
        __syncthreads();
        const int tile_count = min(64, triangle_count - base);
        for (int t = 0; t < tile_count; ++t) {
            const int shape_id = base + t;
            const Triangle triangle = triangles_tile[t];
            const float cand =
                hit_triangle(ro, rd, triangle.corner_a, triangle.corner_b, triangle.corner_c);
            if (cand > 0.0f && cand < t_min) {
                t_min = cand;
                hit_id = shape_id;
            }
        }
    }
    if (x >= count) {
        return;
    }
    hit_t[tid] = weights[tid] * t_min;
    hit_ids[tid] = hit_id;
}

//=== keys_read_at_once | e0857f2207e4ba38 | - | no barrier between filling the tiles and reading them
extern "C" __global__ void attention_scores(
    const float* __restrict__ q_in,
    const float* __restrict__ keys,
    const bool* __restrict__ allowed,
    float fill,
    int head_dim,
    float scale,
    float alpha,
    float* __restrict__ out,
    int q,
    int t,
    int b)
{
    __shared__ float keys_tile[8][9];
    __shared__ float q_in_tile[8][8];
    const int x = blockIdx.x * 8 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    const int col = min(x, t - 1);
    const int row = min(y, q - 1);
    const int batch = blockIdx.z;
    float dotted = 0.0f;
    for (int base = 0; base < head_dim; base += 8) {
        const int load_x = base + threadIdx.x;
        const int load_row = min((int)(blockIdx.x * 8 + threadIdx.y), t - 1);
        if (load_x < head_dim) {
            keys_tile[threadIdx.y][threadIdx.x] = keys[load_row * head_dim + load_x];
            q_in_tile[threadIdx.y][threadIdx.x] = q_in[(batch * q + row) * head_dim + load_x];
        }
        const int count = min(8, head_dim - base);
        for (int turn = 0; turn < count; ++turn) {
            dotted += q_in_tile[threadIdx.y][turn] * keys_tile[threadIdx.x][turn];
        }
        __syncthreads();
    }
    if (y >= q || x >= t) {
        return;
    }
    dotted *= scale;
    if (!allowed[row * t + col]) {
        dotted = fill;
    }
    dotted *= alpha;
    out[(batch * q + row) * t + col] = dotted;
}

//=== keys_refilled_at_once | e0857f2207e4ba38 | - | no trailing barrier: a race where head_dim is above 8
extern "C" __global__ void attention_scores(
    const float* __restrict__ q_in,
    const float* __restrict__ keys,
    const bool* __restrict__ allowed,
    float fill,
    int head_dim,
    float scale,
    float alpha,
    float* __restrict__ out,
    int q,
    int t,
    int b)
{
    __shared__ float keys_tile[8][9];
    __shared__ float q_in_tile[8][8];
    const int x = blockIdx.x * 8 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    const int col = min(x, t - 1);
    const int row = min(y, q - 1);
    const int batch = blockIdx.z;
    float dotted = 0.0f;
    for (int base = 0; base < head_dim; base += 8) {
        const int load_x = base + threadIdx.x;
        const int load_row = min((int)(blockIdx.x * 8 + threadIdx.y), t - 1);
        if (load_x < head_dim) {
            keys_tile[threadIdx.y][threadIdx.x] = keys[load_row * head_dim + load_x];
            q_in_tile[threadIdx.y][threadIdx.x] = q_in[(batch * q + row) * head_dim + load_x];
        }
        __syncthreads();
        const int count = min(8, head_dim - base);
        for (int turn = 0; turn < count; ++turn) {
            dotted += q_in_tile[threadIdx.y][turn] * keys_tile[threadIdx.x][turn];
        }
    }
    if (y >= q || x >= t) {
        return;
    }
    dotted *= scale;
    if (!allowed[row * t + col]) {
        dotted = fill;
    }
    dotted *= alpha;
    out[(batch * q + row) * t + col] = dotted;
}

//=== tile_barrier_of_a_warp | f23f4e264fbca565 | - | __syncwarp where two warps share the tile
__device__ float soft_square(float sec, float f, float mod_index)
{
    const float arg = 6.28318531f * f * sec;
    return tanhf(2.0f * mod_index * sinf(arg));
}

extern "C" __global__ void sum_soft_square(
    const float* __restrict__ stamps,
    const float* __restrict__ pitches,
    const float* __restrict__ depths,
    const float* __restrict__ gains,
    float* __restrict__ totals,
    int num_parts,
    int n)
{
    __shared__ float pitches_tile[64];
    __shared__ float gains_tile[64];
    __shared__ float depths_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, n - 1);
    float total = 0.0f;
    const float t = stamps[tid];
    for (int base = 0; base < num_parts; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < num_parts) {
            pitches_tile[threadIdx.x] = pitches[load_x];
            gains_tile[threadIdx.x] = gains[load_x];
            depths_tile[threadIdx.x] = depths[load_x];
        }
        __syncwarp();
        const int count = min(64, num_parts - base);
        for (int turn = 0; turn < count; ++turn) {
            const float depth = depths_tile[turn];
            total += gains_tile[turn] * soft_square(t, pitches_tile[turn], depth);
        }
        __syncthreads();
    }
    if (x >= n) {
        return;
    }
    totals[tid] = total;
}

//=== tile_fence_for_barrier | d3093430a5d45bc7 | - | a fence is no barrier
extern "C" __global__ void points_crossings(
    const float2* __restrict__ points,
    const float2* __restrict__ outline,
    int corners,
    bool* __restrict__ inside,
    int n)
{
    __shared__ float2 outline_tile[128];
    const int x_at = blockIdx.x * 128 + threadIdx.x;
    const int tid = min(x_at, n - 1);
    const float x = points[tid].x;
    const float qy = points[tid].y;
    int crossings = 0;
    const float2 v = outline[corners - 1];
    float ax = v.x;
    float ay = v.y;
    for (int base = 0; base < corners; base += 128) {
        const int load_x = base + threadIdx.x;
        if (load_x < corners) {
            outline_tile[threadIdx.x] = outline[load_x];
        }
        __threadfence_block();
        const int count = min(128, corners - base);
        for (int t = 0; t < count; ++t) {
            const float2 corner = outline_tile[t];
            const float bx = corner.x;
            const float by = corner.y;
            if ((ay > qy) != (by > qy)) {
                if (x < ax + (bx - ax) * (qy - ay) / (by - ay)) {
                    ++crossings;
                }
            }
            ax = bx;
            ay = by;
        }
        __syncthreads();
    }
    if (x_at >= n) {
        return;
    }
    inside[tid] = crossings % 2 == 1;
}

//=== barrier_inside_the_branch | f23f4e264fbca565 | - | a barrier that only the loading threads reach
__device__ float soft_square(float sec, float f, float mod_index)
{
    const float arg = 6.28318531f * f * sec;
    return tanhf(2.0f * mod_index * sinf(arg));
}

extern "C" __global__ void sum_soft_square(
    const float* __restrict__ stamps,
    const float* __restrict__ pitches,
    const float* __restrict__ depths,
    const float* __restrict__ gains,
    float* __restrict__ totals,
    int num_parts,
    int n)
{
    __shared__ float pitches_tile[64];
    __shared__ float gains_tile[64];
    __shared__ float depths_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, n - 1);
    float total = 0.0f;
    const float t = stamps[tid];
    for (int base = 0; base < num_parts; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < num_parts) {
            pitches_tile[threadIdx.x] = pitches[load_x];
            gains_tile[threadIdx.x] = gains[load_x];
            depths_tile[threadIdx.x] = depths[load_x];
            __syncthreads();
        }
        const int count = min(64, num_parts - base);
        for (int turn = 0; turn < count; ++turn) {
            const float depth = depths_tile[turn];
            total += gains_tile[turn] * soft_square(t, pitches_tile[turn], depth);
        }
        __syncthreads();
    }
    if (x >= n) {
        return;
    }
    totals[tid] = total;
}

//=== barrier_left_by_some | 9ed31175e9df4682 | - | threads past the end return before the barriers: their triangles are never loaded
struct Ray {
    float3 start;
    float3 ray_dir;
};

struct Triangle {
    float3 corner_a;
    float3 corner_b;
    float3 corner_c;
};

__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ float hit_triangle(float3 o, float3 d, float3 a, float3 b, float3 c)
{
    const float3 e1 = b - a;
    const float3 e2 = c - a;
    const float3 p = cross(d, e2);
    const float det = dot(e1, p);
    float t_hit = -1.0f;
    if (det > 0.1f) {
        const float3 tvec = o - a;
        const float bary_u = dot(tvec, p) / det;
        const float3 q = cross(tvec, e1);
        const float bary_v = dot(d, q) / det;
        const float t_tri = dot(e2, q) / det;
        if (bary_u > 0.0f && bary_v > 0.0f && bary_u + bary_v < 1.0f && t_tri > 0.0f) {
            t_hit = t_tri;
        }
    }
    return t_hit;
}

extern "C" __global__ void trace_triangles(
    const Ray* __restrict__ rays,
    const Triangle* __restrict__ triangles,
    const float* __restrict__ weights,
    int triangle_count,
    float* __restrict__ hit_t,
    int* __restrict__ hit_ids,
    int count)
{
    __shared__ Triangle triangles_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    if (x >= count) {
        return;
    }
    const int tid = x;
    const Ray item = rays[tid];
    const float3 ro = item.start;
    const float3 rd = item.ray_dir;
    float t_min = 100.0f;
    int hit_id = -1;
    for (int base = 0; base < triangle_count; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < triangle_count) {
            triangles_tile[threadIdx.x] = triangles[load_x];
        }
        __syncthreads();
        const int tile_count = min(64, triangle_count - base);
        for (int t = 0; t < tile_count; ++t) {
            const int shape_id = base + t;
            const Triangle triangle = triangles_tile[t];
            const float cand =
                hit_triangle(ro, rd, triangle.corner_a, triangle.corner_b, triangle.corner_c);
            if (cand > 0.0f && cand < t_min) {
                t_min = cand;
                hit_id = shape_id;
            }
        }
        __syncthreads();
    }
    if (x >= count) {
        return;
    }
    hit_t[tid] = weights[tid] * t_min;
    hit_ids[tid] = hit_id;
}

//=== corners_left_by_some | d3093430a5d45bc7 | - | threads past the end return before the barriers: corners of the last block are not loaded
extern "C" __global__ void points_crossings(
    const float2* __restrict__ points,
    const float2* __restrict__ outline,
    int corners,
    bool* __restrict__ inside,
    int n)
{
    __shared__ float2 outline_tile[128];
    const int x_at = blockIdx.x * 128 + threadIdx.x;
    if (x_at >= n) {
        return;
    }
    const int tid = x_at;
    const float x = points[tid].x;
    const float qy = points[tid].y;
    int crossings = 0;
    const float2 v = outline[corners - 1];
    float ax = v.x;
    float ay = v.y;
    for (int base = 0; base < corners; base += 128) {
        const int load_x = base + threadIdx.x;
        if (load_x < corners) {
            outline_tile[threadIdx.x] = outline[load_x];
        }
        __syncthreads();
        const int count = min(128, corners - base);
        for (int t = 0; t < count; ++t) {
            const float2 corner = outline_tile[t];
            const float bx = corner.x;
            const float by = corner.y;
            if ((ay > qy) != (by > qy)) {
                if (x < ax + (bx - ax) * (qy - ay) / (by - ay)) {
                    ++crossings;
                }
            }
            ax = bx;
            ay = by;
        }
        __syncthreads();
    }
    if (x_at >= n) {
        return;
    }
    inside[tid] = crossings % 2 == 1;
}

//=== barrier_from_the_second_tile | f23f4e264fbca565 | - | the first tile is read without a barrier
__device__ float soft_square(float sec, float f, float mod_index)
{
    const float arg = 6.28318531f * f * sec;
    return tanhf(2.0f * mod_index * sinf(arg));
}

extern "C" __global__ void sum_soft_square(
    const float* __restrict__ stamps,
    const float* __restrict__ pitches,
    const float* __restrict__ depths,
    const float* __restrict__ gains,
    float* __restrict__ totals,
    int num_parts,
    int n)
{
    __shared__ float pitches_tile[64];
    __shared__ float gains_tile[64];
    __shared__ float depths_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, n - 1);
    float total = 0.0f;
    const float t = stamps[tid];
    for (int base = 0; base < num_parts; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < num_parts) {
            pitches_tile[threadIdx.x] = pitches[load_x];
            gains_tile[threadIdx.x] = gains[load_x];
            depths_tile[threadIdx.x] = depths[load_x];
        }
        if (base > 0) {
            __syncthreads();
        }
        const int count = min(64, num_parts - base);
        for (int turn = 0; turn < count; ++turn) {
            const float depth = depths_tile[turn];
            total += gains_tile[turn] * soft_square(t, pitches_tile[turn], depth);
        }
        __syncthreads();
    }
    if (x >= n) {
        return;
    }
    totals[tid] = total;
}

//=== barrier_every_other_tile | 9ed31175e9df4682 | - | the trailing barrier comes at every second tile only
struct Ray {
    float3 start;
    float3 ray_dir;
};

struct Triangle {
    float3 corner_a;
    float3 corner_b;
    float3 corner_c;
};

__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ float hit_triangle(float3 o, float3 d, float3 a, float3 b, float3 c)
{
    const float3 e1 = b - a;
    const float3 e2 = c - a;
    const float3 p = cross(d, e2);
    const float det = dot(e1, p);
    float t_hit = -1.0f;
    if (det > 0.1f) {
        const float3 tvec = o - a;
        const float bary_u = dot(tvec, p) / det;
        const float3 q = cross(tvec, e1);
        const float bary_v = dot(d, q) / det;
        const float t_tri = dot(e2, q) / det;
        if (bary_u > 0.0f && bary_v > 0.0f && bary_u + bary_v < 1.0f && t_tri > 0.0f) {
            t_hit = t_tri;
        }
    }
    return t_hit;
}

extern "C" __global__ void trace_triangles(
    const Ray* __restrict__ rays,
    const Triangle* __restrict__ triangles,
    const float* __restrict__ weights,
    int triangle_count,
    float* __restrict__ hit_t,
    int* __restrict__ hit_ids,
    int count)
{
    __shared__ Triangle triangles_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, count - 1);
    const Ray item = rays[tid];
    const float3 ro = item.start;
    const float3 rd = item.ray_dir;
    float t_min = 100.0f;
    int hit_id = -1;
    for (int base = 0; base < triangle_count; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < triangle_count) {
            triangles_tile[threadIdx.x] = triangles[load_x];
        }
        __syncthreads();
        const int tile_count = min(64, triangle_count - base);
        for (int t = 0; t < tile_count; ++t) {
            const int shape_id = base + t;
            const Triangle triangle = triangles_tile[t];
            const float cand =
                hit_triangle(ro, rd, triangle.corner_a, triangle.corner_b, triangle.corner_c);
            if (cand > 0.0f && cand < t_min) {
                t_min = cand;
                hit_id = shape_id;
            }
        }
        if (base / 64 % 2 == 1) {
            __syncthreads();
        }
    }
    if (x >= count) {
        return;
    }
    hit_t[tid] = weights[tid] * t_min;
    hit_ids[tid] = hit_id;
}

//=== tile_of_one_thread | f23f4e264fbca565 | - | the first thread fills the tile, the others do not wait
__device__ float soft_square(float sec, float f, float mod_index)
{
    const float arg = 6.28318531f * f * sec;
    return tanhf(2.0f * mod_index * sinf(arg));
}

extern "C" __global__ void sum_soft_square(
    const float* __restrict__ stamps,
    const float* __restrict__ pitches,
    const float* __restrict__ depths,
    const float* __restrict__ gains,
    float* __restrict__ totals,
    int num_parts,
    int n)
{
    __shared__ float pitches_tile[64];
    __shared__ float gains_tile[64];
    __shared__ float depths_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, n - 1);
    float total = 0.0f;
    const float t = stamps[tid];
    for (int base = 0; base < num_parts; base += 64) {
        const int load_x = base + threadIdx.x;
        (void)load_x;
        if (threadIdx.x == 0) {
            for (int k = 0; k < 64 && base + k < num_parts; ++k) {
                pitches_tile[k] = pitches[base + k];
                gains_tile[k] = gains[base + k];
                depths_tile[k] = depths[base + k];
            }
        }
        const int count = min(64, num_parts - base);
        for (int turn = 0; turn < count; ++turn) {
            const float depth = depths_tile[turn];
            total += gains_tile[turn] * soft_square(t, pitches_tile[turn], depth);
        }
        __syncthreads();
    }
    if (x >= n) {
        return;
    }
    totals[tid] = total;
}

//=== tree_without_barriers | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | no barrier between the steps of the tree
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[256];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    part[t] = mine;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
    }
    if (t == 0) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== tree_starts_at_once | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | no barrier between filling and the first step
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[256];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    part[t] = mine;
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== tree_last_warp_plain | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | the last warp works without __syncwarp, as on cards before Volta
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[256];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    part[t] = mine;
    __syncthreads();
    for (int s = 128; s > 32; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t < 32) {
        part[t] += part[t + 32];
        part[t] += part[t + 16];
        part[t] += part[t + 8];
        part[t] += part[t + 4];
        part[t] += part[t + 2];
        part[t] += part[t + 1];
    }
    if (t == 0) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== tree_last_warp_volatile | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | the last warp relies on volatile and lockstep: lanes of a warp are not in step since Volta
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[256];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    part[t] = mine;
    __syncthreads();
    if (t < 128) part[t] += part[t + 128];
    __syncthreads();
    if (t < 64) part[t] += part[t + 64];
    __syncthreads();
    if (t < 32) {
        volatile float* v = part;
        v[t] += v[t + 32]; v[t] += v[t + 16]; v[t] += v[t + 8];
        v[t] += v[t + 4];  v[t] += v[t + 2];  v[t] += v[t + 1];
    }
    if (t == 0) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== tree_of_lanes_in_one_statement | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | each lane reads its neighbour and writes itself in one step: reads and writes of a warp are not ordered
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[256];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    part[t] = mine;
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        part[t] += t + s < 256 ? part[t + s] : 0.0f;
        __syncthreads();
    }
    if (t == 0) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== tree_barrier_in_the_branch | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | the barrier stands inside the branch that half of the threads take
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[256];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    part[t] = mine;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) {
            part[t] += part[t + s];
            __syncthreads();
        }
    }
    if (t == 0) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== result_read_by_another | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | the sum is read by the last thread without a barrier after the last step
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[256];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    part[t] = mine;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        if (s > 1) __syncthreads();
    }
    if (t == 255) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== shared_sum_plain | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | threads add to one shared float without atomics
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[1];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    if (t == 0) part[0] = 0.0f;
    __syncthreads();
    part[0] += mine;
    __syncthreads();
    if (t == 0) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== shared_sum_cleared_late | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | the shared sum is cleared without a barrier before it is added to
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[1];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    if (t == 0) part[0] = 0.0f;
    atomicAdd(&part[0], mine);
    __syncthreads();
    if (t == 0) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== shared_sum_read_early | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | the shared sum is read without a barrier after it was added to
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[1];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    if (t == 0) part[0] = 0.0f;
    __syncthreads();
    atomicAdd(&part[0], mine);
    if (t == 0) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== warp_sums_read_early | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | no barrier between the warps that store their sums and the first one that reads them
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[8];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    for (int o = 16; o > 0; o >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, o);
    if (t % 32 == 0) part[t / 32] = mine;
    if (t < 32) {
        float v = t < 8 ? part[t] : 0.0f;
        for (int o = 4; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
        if (t == 0) { atomicAdd(&row_sums[row], v); atomicAdd(total_acc, v); }
    }
}

//=== lanes_swap_by_memory | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | lanes swap values through shared memory without __syncwarp
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[256];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    for (int o = 16; o > 0; o >>= 1) {
        part[t] = mine;
        mine += part[t ^ o];
    }
    if (t % 32 == 0) { atomicAdd(&row_sums[row], mine); atomicAdd(total_acc, mine); }
}

//=== shuffle_of_some | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | a shuffle with a full mask in a branch that only some lanes take
extern "C" __global__ void row_errors(const float* __restrict__ a, const float* __restrict__ expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{

    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    if (t < cols) {
        for (int o = 16; o > 0; o >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, o);
    }
    if (t % 32 == 0) { atomicAdd(&row_sums[row], mine); atomicAdd(total_acc, mine); }
}

//=== last_block_without_fence | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | partial sums are read after a count, with no fence between store and count
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ float partial[65536];
__device__ unsigned int arrived;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = block;
        if (atomicAdd(&arrived, 1u) == gridDim.x - 1) {
        float total = 0.0f;
        for (unsigned int k = 0; k < gridDim.x; ++k) total += partial[k];
        *integral += total;
        arrived = 0u;
        }
    }
}

//=== last_block_fence_after_count | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | the fence comes after the count
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ float partial[65536];
__device__ unsigned int arrived;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = block;
        const unsigned int place = atomicAdd(&arrived, 1u);
        __threadfence();
        if (place == gridDim.x - 1) {
        float total = 0.0f;
        for (unsigned int k = 0; k < gridDim.x; ++k) total += partial[k];
        *integral += total;
        arrived = 0u;
        }
    }
}

//=== last_block_fence_of_a_block | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | a fence of block scope between blocks
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ float partial[65536];
__device__ unsigned int arrived;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = block;
        __threadfence_block();
        if (atomicAdd(&arrived, 1u) == gridDim.x - 1) {
            __threadfence_block();
        float total = 0.0f;
        for (unsigned int k = 0; k < gridDim.x; ++k) total += partial[k];
        *integral += total;
        arrived = 0u;
        }
    }
}

//=== last_block_plain_count | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | blocks are counted without atomics
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ float partial[65536];
__device__ volatile unsigned int arrived;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = block;
        __threadfence();
        const unsigned int place = arrived;
        arrived = place + 1u;
        if (place == gridDim.x - 1) {
            __threadfence();
        float total = 0.0f;
        for (unsigned int k = 0; k < gridDim.x; ++k) total += partial[k];
        *integral += total;
        arrived = 0u;
        }
    }
}

//=== last_block_flag_without_barrier | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | the flag in shared memory is read by other threads without a barrier
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ float partial[65536];
__device__ unsigned int arrived;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = block;
        __threadfence();
        last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    }
    if (last && threadIdx.x == 32) {
        __threadfence();
        float total = 0.0f;
        for (unsigned int k = 0; k < gridDim.x; ++k) total += partial[k];
        *integral += total;
        arrived = 0u;
    }
}

//=== last_index_sums | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | the block with the last index sums up, as if it ran last
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ float partial[65536];
__device__ unsigned int arrived;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = block;
        __threadfence();
        if (blockIdx.x == gridDim.x - 1) {
        float total = 0.0f;
        for (unsigned int k = 0; k < gridDim.x; ++k) total += partial[k];
        *integral += total;
        arrived = 0u;
        }
    }
}

//=== partials_of_the_last_launch | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | the first block sums up what the blocks have stored so far
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ float partial[65536];
__device__ unsigned int arrived;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) partial[blockIdx.x] = block;
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        float total = 0.0f;
        for (unsigned int k = 0; k < gridDim.x; ++k) total += partial[k];
        *integral += total;
        arrived = 0u;
    }
}

//=== lock_without_fences | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | a lock whose holder reads and writes plainly, with no fence on either side
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ int lock;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        *integral += block;
        atomicExch(&lock, 0);
    }
}

//=== lock_released_plainly | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | a lock that is given back by a plain store
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ int lock;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence();
        *integral += block;
        lock = 0;
    }
}

//=== lock_taken_plainly | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | a lock that is tested and set in two steps
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ volatile int lock;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        while (lock != 0) {}
        lock = 1;
        __threadfence();
        *integral += block;
        __threadfence();
        lock = 0;
    }
}

//=== lock_fence_of_a_block | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | a lock between blocks with fences of block scope
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ int lock;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence_block();
        *integral += block;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
}

//=== lock_never_released | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | the lock is not given back: the second block waits for ever
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ int lock;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence();
        *integral += block;
        __threadfence();
    }
}

//=== one_lock_for_each_block | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | each block takes a lock of its own, so none keeps another out
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ int locks[65536];

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        while (atomicCAS(&locks[blockIdx.x], 0, 1) != 0) {}
        __threadfence();
        *integral += block;
        __threadfence();
        atomicExch(&locks[blockIdx.x], 0);
    }
}

//=== device_sum_plain | ee22471f1a249349 | {"grid": ["(num_threads + 1023) / 1024"], "block": [256], "shared_bytes": 0} | blocks add to a __device__ variable without atomics; only the count is atomic
__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ volatile float running;
__device__ unsigned int arrived;

extern "C" __global__ void monte_carlo_integral(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += blockDim.x * gridDim.x) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        sum += (b - lower) * (part / 4.0f);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    float block = 0.0f;
    for (int w = 0; w < 8; ++w) block += warps[w];
    if (threadIdx.x == 0) {
        running = running + block;
        __threadfence();
        if (atomicAdd(&arrived, 1u) == gridDim.x - 1) {
            __threadfence();
            *integral += running;
            running = 0.0f;
            arrived = 0u;
        }
    }
}

//=== static_scratch | 11eba0b176d074f0 | - | a static local is one for all threads of the grid
extern "C" __global__ void dense_vector(
    const float* __restrict__ a,
    const float* __restrict__ x,
    const float* __restrict__ offsets,
    float* __restrict__ c,
    int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) {
        return;
    }
    static float s;
    s = 0.0f;
    for (int p = 0; p < 5; ++p) {
        s += a[p * m + i] * x[p];
    }
    c[i] = s + offsets[i];
}

//=== device_scratch | 559dbc3153b24763 | - | one __device__ counter for all threads
__device__ int answer;

extern "C" __global__ void find_pattern(
    const signed char* __restrict__ sequence,
    const signed char* __restrict__ motif,
    int num_cols,
    int* __restrict__ hits,
    int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    answer = 0;
    int pos = 0;
    while (pos + 3 <= num_cols) {
        int same = 0;
        for (int p = 0; p < 3; ++p) {
            if (sequence[row * num_cols + pos + p] != motif[p]) {
                break;
            }
            ++same;
        }
        if (same == 3) {
            ++answer;
        }
        ++pos;
    }
    hits[row] = answer;
}

//=== scratch_by_thread_of_block | 7fc169c9d64a3b30 | - | a __device__ scratch is indexed by the thread within its block: blocks overwrite each other
__device__ float scratch[256];

extern "C" __global__ void __launch_bounds__(256) simple_interest(
    const float* __restrict__ principal,
    const float* __restrict__ rates,
    const int* __restrict__ days,
    float* __restrict__ result,
    int w,
    int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= h || x >= w) {
        return;
    }
    const int idx = y * w + x;
    const float value = principal[idx] * (1.0f + rates[idx] * ((float)days[idx] / 360.0f));
    volatile float* at = &scratch[threadIdx.y * 32 + threadIdx.x];
    *at = value;
    result[idx] = *at;
}

//=== static_in_helper | 1c19392ee3f8f433 | - | a static local of a helper is shared by all threads
__device__ int isqrt(int number)
{
    static int rest;
    rest = number;
    const int start = rest;
    int g = (rest + 1) / 2;
    while (g < rest) {
        rest = g;
        g = (rest + start / rest) / 2;
    }
    return rest;
}

extern "C" __global__ void newton_root_kernel(
    const int* __restrict__ seeds,
    int least,
    int* __restrict__ result,
    int count)
{
    const int stride = blockDim.x * gridDim.x;
    for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < count; idx += stride) {
        const int given = seeds[idx];
        if (given < least) {
            result[idx] = 0;
            continue;
        }
        result[idx] = isqrt(given);
    }
}

//=== shared_scalar_for_all | 8ca59185c94a4f51 | - | one shared scalar as scratch for every thread of the block
extern "C" __global__ void eval_thin_film(
    double n_rel,
    double* __restrict__ cos_theta,
    int m,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < n * m; index += stride) {
        const double ndoth = cos_theta[index];
        __shared__ double half_phase;
        half_phase = 3.0 * n_rel * ndoth;
        const double sine = sin(half_phase);
        cos_theta[index] = 1.0 / (1.0 + 2.0 * sine * sine);
    }
}

//=== shared_scratch_by_lane | 83ab5c4029ae1378 | - | shared scratch indexed by lane: the warps of a block share it
extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        __shared__ float hold[32];
        volatile float* mine = &hold[threadIdx.x % 32];
        *mine = lat_from[tid];
        const float lat = *mine;
        scale_factor[tid] = 1.0f / cosf(lat * 0.0174532925f);
    }
}

//=== output_as_scratch | fadcac77f891e39e | - | the output is used as scratch and neighbours are read from it with no order between them
extern "C" __global__ void central_difference(
    const double* __restrict__ signal,
    const double* __restrict__ mobilities,
    const double* __restrict__ source,
    double* __restrict__ slope,
    int num_i,
    double step_size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_i) {
        return;
    }
    slope[i] = 0.5 * signal[i];
    __threadfence();
    const int next = (i + 1) % num_i;
    const int i_prev = (i - 1 + num_i) % num_i;
    slope[i] = mobilities[i] * ((slope[next] - slope[i_prev]) / step_size) - source[i];
}

//=== home_made_grid_barrier | fadcac77f891e39e | - | a barrier over the grid by counting and spinning on a plain read: no fence, hoisted, and a deadlock once blocks do not all fit
__device__ double stage[1 << 20];
__device__ unsigned int here;

extern "C" __global__ void central_difference(const double* signal, const double* mobilities, const double* source,
                                              double* slope, int num_i, double step_size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < num_i) stage[i & 1048575] = signal[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&here, 1u);
        while (here % gridDim.x != 0u) {}
    }
    __syncthreads();
    if (i >= num_i) return;
    const int next = (i + 1) % num_i, before = (i - 1 + num_i) % num_i;
    slope[i] = mobilities[i] * (0.5 * (stage[next & 1048575] - stage[before & 1048575]) / step_size) - source[i];
}

//=== neighbour_through_shared | fadcac77f891e39e | - | neighbours come from a shared tile that is read before all have written it
extern "C" __global__ void central_difference(const double* signal, const double* mobilities, const double* source,
                                              double* slope, int num_i, double step_size)
{
    __shared__ double tile[130];
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= num_i) return;
    tile[threadIdx.x + 1] = signal[i];
    if (threadIdx.x == 0) tile[0] = signal[(i - 1 + num_i) % num_i];
    if (threadIdx.x == 127 || i == num_i - 1) tile[threadIdx.x + 2] = signal[(i + 1) % num_i];
    slope[i] = mobilities[i] * (0.5 * (tile[threadIdx.x + 2] - tile[threadIdx.x]) / step_size) - source[i];
}

//=== bins_cleared_late | dd91ee3a2c695041 | - | no barrier between clearing the bins and adding to them
extern "C" __global__ void spmv(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz)
{
    __shared__ int bins[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < nnz; k += gridDim.x * blockDim.x) {
        const int v = values[k] * x[ci[k]];
        if (ri[k] < 256) atomicAdd(&bins[ri[k]], v);
        else atomicAdd(&result[ri[k]], v);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (bins[b] != 0) atomicAdd(&result[b], bins[b]);
}

//=== bins_read_early | dd91ee3a2c695041 | - | no barrier between adding to the bins and reading them
extern "C" __global__ void spmv(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz)
{
    __shared__ int bins[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < nnz; k += gridDim.x * blockDim.x) {
        const int v = values[k] * x[ci[k]];
        if (ri[k] < 256) atomicAdd(&bins[ri[k]], v);
        else atomicAdd(&result[ri[k]], v);
    }
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (bins[b] != 0) atomicAdd(&result[b], bins[b]);
}

//=== bins_plain | dd91ee3a2c695041 | - | bins are added to without atomics
extern "C" __global__ void spmv(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz)
{
    __shared__ int bins[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < nnz; k += gridDim.x * blockDim.x) {
        const int v = values[k] * x[ci[k]];
        if (ri[k] < 256) bins[ri[k]] += v;
        else atomicAdd(&result[ri[k]], v);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (bins[b] != 0) atomicAdd(&result[b], bins[b]);
}

//=== parity_by_shared_plain | c31bc1c334c0e4a3 | {"grid": ["(4 * blocks + 127) / 128"], "block": [128], "shared_bytes": 0} | four neighbours fold into one shared word without atomics or order
extern "C" __global__ void hash_blocks(const unsigned int* data, unsigned int seed, unsigned int* parity, int* bit_total, int blocks)
{
    __shared__ unsigned int fold[32];
    __shared__ int bits[32];
    const int i = blockIdx.x * 128 + threadIdx.x, g = threadIdx.x / 4;
    if (threadIdx.x % 4 == 0) { fold[g] = 0u; bits[g] = 0; }
    __syncthreads();
    if (i < 4 * blocks) {
        unsigned int w = data[i] ^ seed;
        w += (unsigned int)i; w ^= w >> 13; w *= 747796405u; w ^= w >> 13;
        fold[g] ^= w;
        bits[g] += __popc(w);
    }
    __syncthreads();
    if (i < 4 * blocks && threadIdx.x % 4 == 0) { parity[i / 4] ^= fold[g]; bit_total[i / 4] += bits[g]; }
}

//=== peak_by_sorted_writes | 2c1b33db264955f0 | - | three threads store in order of their index, as if the last one were last
extern "C" __global__ void peak(const bool* enabled, const float* samples, float* max_amplitude, int m)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 3 * m; i += gridDim.x * blockDim.x) {
        float best = max_amplitude[i / 3];
        for (int k = i / 3 * 3; k <= i; ++k)
            if (enabled[k]) best = fmaxf(best, fabsf(samples[k]));
        max_amplitude[i / 3] = best;
    }
}
