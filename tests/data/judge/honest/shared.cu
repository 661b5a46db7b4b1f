//=== align16_static | f23f4e264fbca565 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | __shared__ __align__(16), read back as float4
__global__ void voices(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n)
{
    __shared__ __align__(16) float voice[32 * 4];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float t = i < n ? stamps[i] : 0.0f;
    float sum = 0.0f;
    for (int base = 0; base < num_parts; base += 32) {
        const int left = min(32, num_parts - base);
        __syncthreads();
        if (threadIdx.x < left) {
            voice[4 * threadIdx.x] = 6.2831853f * pitches[base + threadIdx.x];
            voice[4 * threadIdx.x + 1] = 2.0f * depths[base + threadIdx.x];
            voice[4 * threadIdx.x + 2] = gains[base + threadIdx.x];
            voice[4 * threadIdx.x + 3] = 0.0f;
        }
        __syncthreads();
        for (int v = 0; v < left; ++v) {
            const float4 q = *reinterpret_cast<const float4*>(&voice[4 * v]);
            sum += q.z * tanhf(q.y * sinf(q.x * t));
        }
    }
    if (i < n) totals[i] = sum;
}
//=== extern_volatile | ee22471f1a249349 | {"grid": ["(num_threads + 255) / 256"], "block": [256], "shared_bytes": "256 * sizeof(float)"} | extern volatile __shared__, a tree with a barrier at each level
__device__ unsigned int pcg(unsigned int s)
{
    s = s * 747796405u + 2891336453u;
    s = ((s >> ((s >> 28) + 4u)) ^ s) * 277803737u;
    return (s >> 22) ^ s;
}

extern volatile __shared__ float part[];

__global__ void integral_kernel(int rng_seed, int frame, float lower, float b, float* integral, int num_threads)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = 0.0f;
    if (i < num_threads) {
        unsigned int state = pcg((unsigned int)rng_seed + pcg((unsigned int)(i + 97 * frame)));
        for (int s = 0; s < 4; ++s) {
            state = pcg(state);
            const float x = (b - lower) * ((state >> 8) * (1.0f / 16777216.0f)) + lower;
            mine += x * expf(-x);
        }
        mine *= 0.25f * (b - lower);
    }
    part[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) part[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(integral, part[0]);
}
//=== dynamic_cut_in_three | 9ed31175e9df4682 | {"grid": ["(count + 31) / 32"], "block": [32], "shared_bytes": "32 * (36 + 4)"} | dynamic shared memory of bytes, cut into a struct's array and ints
struct Ray { float3 start, dir; };
struct Triangle { float3 a, b, c; };

__device__ float3 operator-(float3 p, float3 q) { return make_float3(p.x - q.x, p.y - q.y, p.z - q.z); }
__device__ float dot(float3 p, float3 q) { return p.x * q.x + p.y * q.y + p.z * q.z; }
__device__ float3 cross(float3 p, float3 q) { return make_float3(p.y * q.z - p.z * q.y, p.z * q.x - p.x * q.z, p.x * q.y - p.y * q.x); }

__global__ void trace(const Ray* rays, const Triangle* triangles, const float* weights, int triangle_count, float* hit_t, int* hit_ids, int count)
{
    extern __shared__ __align__(16) unsigned char raw[];
    Triangle* tile = reinterpret_cast<Triangle*>(raw);
    int* ids = reinterpret_cast<int*>(raw + 32 * sizeof(Triangle));
    const int i = blockIdx.x * 32 + threadIdx.x;
    const Ray ray = rays[min(i, count - 1)];
    float best = 100.0f;
    int id = -1;
    for (int base = 0; base < triangle_count; base += 32) {
        const int at = base + threadIdx.x;
        if (at < triangle_count) {
            tile[threadIdx.x] = triangles[at];
            ids[threadIdx.x] = at;
        }
        __syncthreads();
        const int m = min(32, triangle_count - base);
        for (int k = 0; k < m; ++k) {
            const float3 e1 = tile[k].b - tile[k].a, e2 = tile[k].c - tile[k].a;
            const float3 p = cross(ray.dir, e2);
            const float det = dot(e1, p);
            if (det > 0.1f) {
                const float3 s = ray.start - tile[k].a;
                const float3 q = cross(s, e1);
                const float u = dot(s, p) / det, v = dot(ray.dir, q) / det, t = dot(e2, q) / det;
                if (u > 0.0f && v > 0.0f && u + v < 1.0f && t > 0.0f && t < best) {
                    best = t;
                    id = ids[k];
                }
            }
        }
        __syncthreads();
    }
    if (i < count) {
        hit_t[i] = weights[i] * best;
        hit_ids[i] = id;
    }
}
//=== dynamic_after_static | 11eba0b176d074f0 | {"grid": ["(m + 127) / 128"], "block": [128], "shared_bytes": 512} | static and dynamic shared memory together
__global__ void product(const float* a, const float* x, const float* offsets, float* c, int m)
{
    __shared__ float xs[5];
    extern __shared__ float offs[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 5) xs[threadIdx.x] = x[threadIdx.x];
    offs[threadIdx.x] = i < m ? offsets[i] : 0.0f;
    __syncthreads();
    if (i >= m) return;
    float s = 0.0f;
    for (int p = 0; p < 5; ++p) s += a[p * m + i] * xs[p];
    c[i] = s + offs[threadIdx.x];
}
//=== transpose_32x33 | 91b4300208ffdfb0 | {"grid": ["(batch * channels * rows + 31) / 32", "(cols + 31) / 32"], "block": [32, 8], "shared_bytes": 0} | a padded tile [32][33] turns the axes
#define TILE 32
#define ROWS_PER_STEP 8

__global__ void relayout(const float* x, double* permuted, int batch, int channels, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    const int inner = batch * channels * rows;  // x is [cols][inner], permuted is [inner][cols]
    const int p = blockIdx.x * TILE + threadIdx.x;
    for (int k = threadIdx.y; k < TILE; k += ROWS_PER_STEP) {
        const int j = blockIdx.y * TILE + k;
        if (p < inner && j < cols) tile[k][threadIdx.x] = x[j * inner + p];
    }
    __syncthreads();
    const int j = blockIdx.y * TILE + threadIdx.x;
    for (int k = threadIdx.y; k < TILE; k += ROWS_PER_STEP) {
        const int q = blockIdx.x * TILE + k;
        if (q < inner && j < cols) permuted[q * cols + j] = tile[threadIdx.x][k];
    }
}
//=== tiled_matmul_16 | e0857f2207e4ba38 | {"grid": ["(t + 15) / 16", "(q + 15) / 16", "b"], "block": [16, 16], "shared_bytes": 0} | the tiled product of a textbook, zeros beyond the edges
#define TILE 16

__global__ void scores(const float* q_in, const float* keys, const bool* allowed, float fill, int head_dim, float scale, float alpha,
                       float* out, int q, int t, int b)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE + 1];
    const int col = blockIdx.x * TILE + threadIdx.x;
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int key = blockIdx.x * TILE + threadIdx.y;
    const float* A = q_in + blockIdx.z * q * head_dim;
    float acc = 0.0f;
    for (int k0 = 0; k0 < head_dim; k0 += TILE) {
        const int k = k0 + threadIdx.x;
        As[threadIdx.y][threadIdx.x] = row < q && k < head_dim ? A[row * head_dim + k] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = key < t && k < head_dim ? keys[key * head_dim + k] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int e = 0; e < TILE; ++e) acc += As[threadIdx.y][e] * Bs[threadIdx.x][e];
        __syncthreads();
    }
    if (row < q && col < t)
        out[(blockIdx.z * q + row) * t + col] = alpha * (allowed[row * t + col] ? scale * acc : fill);
}
//=== register_tile_matmul | e0857f2207e4ba38 | {"grid": ["(t + 31) / 32", "(q + 31) / 32", "b"], "block": [8, 8], "shared_bytes": 0} | 4 x 4 sums a thread in registers, tiles in shared memory
__global__ void __launch_bounds__(64) scores(const float* __restrict__ q_in, const float* __restrict__ keys, const bool* __restrict__ allowed,
                                            float fill, int head_dim, float scale, float alpha, float* __restrict__ out, int q, int t, int b)
{
    constexpr int BM = 32, BN = 32, BK = 8, TM = 4, TN = 4;
    __shared__ float a_tile[BK][BM + 1];
    __shared__ float b_tile[BK][BN + 1];
    const int tid = threadIdx.y * 8 + threadIdx.x;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN, z = blockIdx.z;
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < head_dim; k0 += BK) {
        for (int e = tid; e < BM * BK; e += 64) {
            const int r = e / BK, k = e % BK;
            const bool in_k = k0 + k < head_dim;
            a_tile[k][r] = in_k && row0 + r < q ? q_in[(z * q + row0 + r) * head_dim + k0 + k] : 0.0f;
            b_tile[k][r] = in_k && col0 + r < t ? keys[(col0 + r) * head_dim + k0 + k] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            float ra[TM], rb[TN];
            for (int m = 0; m < TM; ++m) ra[m] = a_tile[k][threadIdx.y * TM + m];
            for (int n = 0; n < TN; ++n) rb[n] = b_tile[k][threadIdx.x * TN + n];
            for (int m = 0; m < TM; ++m)
                for (int n = 0; n < TN; ++n) acc[m][n] = fmaf(ra[m], rb[n], acc[m][n]);
        }
        __syncthreads();
    }
    for (int m = 0; m < TM; ++m) {
        const int r = row0 + threadIdx.y * TM + m;
        for (int n = 0; n < TN; ++n) {
            const int c = col0 + threadIdx.x * TN + n;
            if (r < q && c < t) out[(z * q + r) * t + c] = alpha * (allowed[r * t + c] ? acc[m][n] * scale : fill);
        }
    }
}
//=== double_buffer | e0857f2207e4ba38 | {"grid": ["(t + 7) / 8", "(q + 7) / 8", "b"], "block": [8, 8], "shared_bytes": 0} | two tiles by turns, one barrier a step
__global__ void scores(const float* q_in, const float* keys, const bool* allowed, float fill, int head_dim, float scale, float alpha,
                       float* out, int q, int t, int b)
{
    __shared__ float qa[2][8][9], ka[2][8][9];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int col = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty, kr = blockIdx.x * 8 + ty;
    const float* mine = q_in + (size_t)blockIdx.z * q * head_dim;
    int now = 0;
    qa[0][ty][tx] = row < q && tx < head_dim ? mine[row * head_dim + tx] : 0.0f;
    ka[0][ty][tx] = kr < t && tx < head_dim ? keys[kr * head_dim + tx] : 0.0f;
    __syncthreads();
    float acc = 0.0f;
    for (int base = 0; base < head_dim; base += 8) {
        const int next = base + 8 + tx;
        if (base + 8 < head_dim) {
            qa[now ^ 1][ty][tx] = row < q && next < head_dim ? mine[row * head_dim + next] : 0.0f;
            ka[now ^ 1][ty][tx] = kr < t && next < head_dim ? keys[kr * head_dim + next] : 0.0f;
        }
        for (int k = 0; k < 8; ++k) acc += qa[now][ty][k] * ka[now][tx][k];
        __syncthreads();
        now ^= 1;
    }
    if (row < q && col < t) {
        const float s = allowed[row * t + col] ? acc * scale : fill;
        out[((size_t)blockIdx.z * q + row) * t + col] = s * alpha;
    }
}
//=== block_tree_row_sums | 65655120d0b6fd17 | {"grid": ["rows"], "block": [128], "shared_bytes": 0} | one block a row, a tree in shared memory, two atomics a block
__global__ void errors(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float s[128];
    const int row = blockIdx.x;
    float mine = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    s[threadIdx.x] = mine;
    __syncthreads();
    for (int k = 64; k >= 1; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        row_sums[row] += s[0];
        atomicAdd(total_acc, s[0]);
    }
}
//=== two_level_reduction | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | shuffles in a warp, shared memory between warps
__device__ float warp_sum(float v)
{
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

__global__ void errors(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float partial[32];
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    const float* x = a + (long long)blockIdx.x * cols;
    const float* y = expected + (long long)blockIdx.x * cols;
    float v = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float d = x[c] - y[c];
        v += d * d - (0.6f + baseline);
    }
    v = warp_sum(v);
    if (lane == 0) partial[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < blockDim.x / warpSize ? partial[lane] : 0.0f;
        v = warp_sum(v);
        if (lane == 0) {
            atomicAdd(&row_sums[blockIdx.x], v);
            atomicAdd(total_acc, v);
        }
    }
}
//=== scan_hillis_steele | 69ebf95c8f2a0696 | {"grid": ["rows"], "block": [64], "shared_bytes": 0} | a scan of switch states in shared memory, tile by tile
// A reading maps the switch to on (1), to off (0) or leaves it (2); the maps are composed by a scan.
__global__ void machine(const int* table, int length, int* result, int* totals, int rows)
{
    __shared__ int last[2][64];
    __shared__ int carry, n, sum;
    const int t = threadIdx.x;
    if (t == 0) carry = n = sum = 0;
    __syncthreads();
    for (int base = 0; base < length; base += 64) {
        const int j = base + t;
        const int v = j < length ? 6 * table[blockIdx.x * length + j] + 37 : 0;
        int from = 0;
        last[0][t] = v > 322 ? 1 : (v >= 119 && v < 170 ? 0 : 2);
        __syncthreads();
        for (int step = 1; step < 64; step *= 2) {
            const int own = last[from][t];
            last[1 - from][t] = own == 2 && t >= step ? last[from][t - step] : own;
            from = 1 - from;
            __syncthreads();
        }
        const int own = last[from][t];
        const int state = own == 2 ? carry : own;
        if (v >= 119 && state == 1) {
            atomicAdd(&n, 1);
            if (v < 531) atomicAdd(&sum, v);
        }
        __syncthreads();
        if (t == 63) carry = state;
        __syncthreads();
    }
    if (t == 0) {
        result[blockIdx.x] = n;
        totals[blockIdx.x] = sum;
    }
}
//=== private_histogram | 72e3a771e927cdf9 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | a table in shared memory: the first thread to claim a node in the block writes it
__global__ void mark(const int* nodes, int* status, int color, int n)
{
    __shared__ int claimed[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) claimed[k] = -1;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int node = nodes[i];
        // Who finds the node there already can leave the work to the one that put it there.
        if (atomicExch(&claimed[node & 255], node) != node) atomicOr(&status[node], color);
    }
}
//=== private_rows | dd91ee3a2c695041 | {"grid": [4], "block": [128], "shared_bytes": 0} | privatised sums for the first 256 rows, global atomics for the others
#define KEPT 256

__global__ void spmv(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz)
{
    __shared__ int sums[KEPT];
    __shared__ unsigned int used[KEPT / 32];
    for (int k = threadIdx.x; k < KEPT; k += blockDim.x) sums[k] = 0;
    if (threadIdx.x < KEPT / 32) used[threadIdx.x] = 0u;
    __syncthreads();
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < nnz; e += blockDim.x * gridDim.x) {
        const int row = ri[e], v = values[e] * x[ci[e]];
        if (row < KEPT) {
            atomicAdd(&sums[row], v);
            atomicOr(&used[row / 32], 1u << (row % 32));
        } else {
            atomicAdd(&result[row], v);
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < KEPT; k += blockDim.x)
        if (used[k / 32] >> (k % 32) & 1u) atomicAdd(&result[k], sums[k]);
}
//=== halo_tile_2d | cc82b68897123073 | {"grid": ["(w + 15) / 16", "(h + 7) / 8", "c"], "block": [16, 8], "shared_bytes": 0} | a tile with a halo on all sides
__global__ void gradient_kernel(const double* image, double* gradient, int h, int w, int c)
{
    __shared__ double t[10][18];
    const double* plane = image + (size_t)blockIdx.z * (h + 2) * (w + 2);
    const int x0 = blockIdx.x * 16, y0 = blockIdx.y * 8;
    for (int k = threadIdx.y * 16 + threadIdx.x; k < 10 * 18; k += 128) {
        const int y = k / 18, x = k % 18;
        if (y0 + y < h + 2 && x0 + x < w + 2) t[y][x] = plane[(y0 + y) * (w + 2) + x0 + x];
    }
    __syncthreads();
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= w || y >= h) return;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const double gx = 0.5 * (t[ty][tx + 1] - t[ty][tx - 1]);
    const double gy = 0.5 * (t[ty + 1][tx] - t[ty - 1][tx]);
    gradient[((size_t)blockIdx.z * h + y) * w + x] = gx * gx + gy * gy;
}
//=== shared_struct_array | c07cffbc974c473c | {"grid": ["(batch * count + 127) / 128"], "block": [128], "shared_bytes": 0} | structs with float3 in shared memory, copied word by word
struct Wall { float3 n; float height; };

__global__ void collide(const float3* nodes, const float3* velocities, const Wall* wall_table, const float* bounces, const float* slips,
                        float3* x_out, float3* new_vel, int* touched, int count, int batch_size)
{
    __shared__ Wall walls[5];
    if (threadIdx.x < 5 * sizeof(Wall) / sizeof(float))
        reinterpret_cast<float*>(walls)[threadIdx.x] = reinterpret_cast<const float*>(wall_table)[threadIdx.x];
    __syncthreads();
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= batch_size * count) return;
    float3 x = nodes[k], v = velocities[k];
    const float e = bounces[k % count], mu = slips[k % count];
    int hits = 0;
    for (const Wall& w : walls) {
        const float depth = w.n.x * x.x + w.n.y * x.y + w.n.z * x.z - w.height;
        if (depth >= 0.0f) continue;
        x.x -= depth * w.n.x;
        x.y -= depth * w.n.y;
        x.z -= depth * w.n.z;
        ++hits;
        const float into = v.x * w.n.x + v.y * w.n.y + v.z * w.n.z;
        if (into < 0.0f) {
            const float3 q = make_float3(into * w.n.x, into * w.n.y, into * w.n.z);
            v = make_float3(mu * (v.x - q.x) - e * q.x, mu * (v.y - q.y) - e * q.y, mu * (v.z - q.z) - e * q.z);
        }
    }
    x_out[k] = x;
    new_vel[k] = v;
    touched[k] = hits;
}
//=== shared_scalar_broadcast | cfae07d5a1bcb413 | {"grid": ["tiles"], "block": [16], "shared_bytes": 0} | one block of sixteen threads a tile; a shared scalar
__global__ void scatter(const int* indices, const float* amounts, float baseline, float* totals, int m, int tiles)
{
    __shared__ float* row;
    __shared__ float base;
    if (threadIdx.x == 0) {
        row = totals + (size_t)blockIdx.x * m;
        base = baseline;
    }
    __syncthreads();
    const int i = blockIdx.x * 16 + threadIdx.x;
    atomicAdd(row + indices[i], base - fabsf(amounts[i]));
}
//=== shared_ends_on_read | ecec05d3cab19f98 | {"grid": ["(rows + 63) / 64"], "block": [64], "shared_bytes": 0} | the block ends on a read of shared memory
__global__ void kadane(const double* samples, double* filtered, int row_length, int rows)
{
    __shared__ double best[64];
    const int first = blockIdx.x * 64;
    const int i = first + threadIdx.x;
    best[threadIdx.x] = 0.0;
    if (i < rows) {
        double level = samples[i * row_length], top = 0.0;
        for (int c = 1; c < row_length; ++c) {
            level = samples[i * row_length + c] + (level > 0.0 ? level : 0.0);
            top = level > top ? level : top;
        }
        best[threadIdx.x] = top;
    }
    __syncthreads();
    // Written backwards, so that every thread reads another's.
    const int other = 63 - threadIdx.x;
    if (first + other < rows) filtered[first + other] = best[other];
}
//=== sync_count_votes | d3093430a5d45bc7 | {"grid": ["n"], "block": [64], "shared_bytes": 0} | one block a point, __syncthreads_count over the edges
__global__ void crossings(const float2* points, const float2* outline, int corners, bool* inside, int n)
{
    const float2 p = points[blockIdx.x];
    int total = 0;
    for (int base = 0; base < corners; base += blockDim.x) {
        const int k = base + threadIdx.x;
        int hit = 0;
        if (k < corners) {
            const float2 a = outline[k == 0 ? corners - 1 : k - 1], b = outline[k];
            if ((a.y > p.y) != (b.y > p.y)) hit = p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y);
        }
        total += __syncthreads_count(hit);
    }
    if (threadIdx.x == 0) inside[blockIdx.x] = total & 1;
}
//=== syncthreads_or_flag | d64d868d5c46387e | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | __syncthreads_or lets a block without frozen entries go a shorter way
__global__ void gates(const bool* moving, const bool* visible, const bool* frozen, bool* simulated, bool* asleep, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool f = i < n && frozen[i];
    const int any = __syncthreads_or(f);
    if (i >= n) return;
    if (any) {
        simulated[i] = moving[i] && visible[i] && !f;
        asleep[i] = f || !moving[i];
    } else {
        simulated[i] = moving[i] && visible[i];
        asleep[i] = !moving[i];
    }
}
