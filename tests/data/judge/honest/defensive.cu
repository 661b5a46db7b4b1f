//=== guard_n_zero | 8564ff516394692f | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | if (n <= 0) return;
__global__ void gelu(const float* pre, float shift, float* out, int n)
{
    if (n <= 0) return;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float z = pre[i] + shift;
    out[i] = 0.5f * z * (1.0f + erff(z * 0.7071067811865475f));
}
//=== null_checks | 11eba0b176d074f0 | {"grid": ["(m + 63) / 64"], "block": [64], "shared_bytes": 0} | null checks with nullptr
__global__ void product(const float* a, const float* x, const float* offsets, float* c, int m)
{
    if (a == nullptr || x == nullptr || c == nullptr) return;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float s = offsets ? offsets[i] : 0.0f;
        for (int p = 4; p >= 0; --p) s += a[p * m + i] * x[p];
        c[i] = s;
    }
}
//=== asserts_everywhere | fcdb94449461c27d | - | asserts on sizes, indices and results
#include <assert.h>

__global__ void bins(const float* breaks, const float* keys, float* found, int* position, int m, int w, int h)
{
    assert(m > 0 && "there must be breaks");
    assert(w > 0 && h > 0);
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int at = y * w + x;
    assert(at >= 0 && at < w * h);
    float q = keys[at];
    if (q < breaks[0] || breaks[m - 1] < q) {
        found[at] = -1.0f;
        position[at] = -1;
        return;
    }
    int k = 0;
    while (breaks[k] < q) {
        ++k;
        assert(k < m);
    }
    found[at] = breaks[k] - q;
    position[at] = k;
}
//=== printf_debug_branch | 6a968701bfd1c576 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | printf in a branch that never runs
#include <cstdio>

#define DEBUG 0

__global__ void split(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int q = ticks[i] / 11u, r = (4u * (ticks[i] % 11u) + q % 11u) % 11u;
    if (r >= 11u) printf("thread %d: remainder %u is too large\n", i, r);
    if (DEBUG && i == 0) printf("n = %d, first = %u\n", n, ticks[0]);
    blocks[i] = q;
    minor[i] = r;
}
//=== printf_runs | ecec05d3cab19f98 | {"grid": ["(rows + 127) / 128"], "block": [128], "shared_bytes": 0} | printf that runs, once
#include <stdio.h>

__global__ void kadane(const double* samples, double* filtered, int row_length, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) printf("row_filter: %d rows of %d, %s, %5.2f%%\n", rows, row_length, "doubles", 100.0);
    if (i >= rows) return;
    double level = samples[i * row_length], best = 0.0;
    for (int c = 1; c < row_length; ++c) {
        double v = samples[i * row_length + c];
        level = level > 0.0 ? level + v : v;
        if (level > best) best = level;
    }
    filtered[i] = best;
}
//=== overflow_guard_64 | 91b4300208ffdfb0 | {"grid": ["min((batch * channels * rows * cols + 255) / 256, 65536)"], "block": [256], "shared_bytes": 0} | 64-bit counts and indices against overflow
__global__ void permute(const float* x, double* permuted, int batch, int channels, int rows, int cols)
{
    const long long planes = (long long)batch * channels * rows;
    const long long total = planes * cols;
    if (total <= 0 || total / cols != planes) return;
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x; k < total; k += step)
        permuted[k] = x[(k % cols) * planes + k / cols];
}
//=== unused_helpers | c0fc2e0cd864e8ae | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | a small library of which little is used
struct Quat { float x, y, z, w; };

__device__ __forceinline__ Quat conjugate(Quat q) { return {-q.x, -q.y, -q.z, q.w}; }
__device__ __forceinline__ float norm(Quat q) { return sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w); }
__device__ __forceinline__ Quat scale(Quat q, float s) { return {q.x * s, q.y * s, q.z * s, q.w * s}; }
__device__ Quat normalized(Quat q) { return scale(q, 1.0f / norm(q)); }
__device__ Quat slerp(Quat a, Quat b, float t)
{
    float c = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    float th = acosf(fminf(fmaxf(c, -1.0f), 1.0f)), s = sinf(th);
    float u = sinf((1.0f - t) * th) / s, v = sinf(t * th) / s;
    return {u * a.x + v * b.x, u * a.y + v * b.y, u * a.z + v * b.z, u * a.w + v * b.w};
}
__device__ Quat multiply(Quat a, Quat b)
{
    return {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

__global__ void attitude(const Quat* estimates, Quat goal, Quat* deltas, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Quat e = multiply(goal, conjugate(estimates[i]));
    if (e.w < 0.0f) e = scale(e, -1.0f);
    deltas[i] = e;
}
//=== generic_if_constexpr | cda42f4d7c8d1ca8 | - | a generic reduction whose other operations nobody asks for
#include <type_traits>

enum class Op { Sum, Max, Mean };

template <Op kOp, typename T>
__device__ T combine(T a, T b)
{
    if constexpr (kOp == Op::Max) {
        return a > b ? a : b;
    } else {
        return a + b;
    }
}

template <Op kOp, int kLength, typename T>
__global__ void reduce_rows(const T* __restrict__ x, T* __restrict__ out, int cols, int rows)
{
    static_assert(kLength > 0, "no empty rows");
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    T acc = x[i * kLength];
#pragma unroll
    for (int k = 1; k < kLength; ++k) acc = combine<kOp>(acc, x[i * kLength + k]);
    if constexpr (kOp == Op::Mean) {
        static_assert(std::is_floating_point<T>::value || kLength == 1, "means are real");
        acc /= kLength;
    }
    out[i] = acc;
}

void launch(const float* x, float* out, int cols, int rows)
{
    const int threads = 256;
    const int blocks = (rows * cols + threads - 1) / threads;
    reduce_rows<Op::Sum, 5, float><<<blocks, threads>>>(x, out, cols, rows);
}
//=== clamp_indices | 6d860be511522d5f | - | indices are clamped although they are always right
__device__ int clamp_index(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

__global__ void lookup(const float* codebook, const int* row_ids, const float* weights, const float* pos_table, const bool* keep,
                       float* gathered, int d_size, int t_size)
{
    int d = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y * blockDim.y + threadIdx.y;
    if (d >= d_size || t >= t_size) return;
    float z = pos_table[t * d_size + clamp_index(d, d_size)];
    for (int s = 0; s < 4; ++s) {
        int id = row_ids[clamp_index(t, t_size) * 4 + s];
        if (id < 0) continue;
        z += weights[t * 4 + s] * codebook[(size_t)id * d_size + d];
    }
    float y;
    if (z >= 0.0f) {
        y = 1.0f / (1.0f + expf(-z));
    } else {
        float e = expf(z);
        y = e / (1.0f + e);
    }
    gathered[t * d_size + d] = keep[t * d_size + d] ? y : 0.0f;
}
//=== nan_checks | 7fc169c9d64a3b30 | {"grid": ["(w + 15) / 16", "(h + 15) / 16"], "block": [16, 16], "shared_bytes": 0} | isnan and isfinite on what is always finite
#include <cmath>

__global__ void interest(const float* principal, const float* rates, const int* days, float* result, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float r = rates[y * w + x];
    if (isnan(r)) r = 0.0f;
    float v = principal[y * w + x] * (1.0f + r * ((float)days[y * w + x] / 360.0f));
    if (!isfinite(v)) v = 0.0f;
    result[y * w + x] = v;
}
//=== trap_on_bad_index | 72e3a771e927cdf9 | {"grid": ["(n + 31) / 32"], "block": [32], "shared_bytes": 0} | __trap and printf for an index below zero
#include <stdio.h>

__global__ void mark(const int* nodes, int* status, int color, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int node = nodes[i];
    if (node < 0) {
        printf("bad node %d\n", node);
        __trap();
    }
    atomicOr(&status[node], color);
}
//=== zero_division_guard | 1cdc8ca1e838c212 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | a guard against a division by zero beyond the row's own
struct Vec4d { double v[4]; };

__device__ double det(const double3& a, const double3& b, const double3& c)
{
    return a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x);
}

__device__ double3 minus(const double3& a, const double3& b) { return make_double3(a.x - b.x, a.y - b.y, a.z - b.z); }

__global__ void locate(const double3* points, const double3* verts, const double* det_floors, Vec4d* barycentric_out, int* hits, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double3 o = verts[4 * i];
    const double3 a = minus(verts[4 * i + 1], o), b = minus(verts[4 * i + 2], o), c = minus(verts[4 * i + 3], o);
    const double3 p = minus(points[i], o);
    const double d = det(a, b, c);
    double u = 0.0, v = 0.0, w = 0.0;
    if (fabs(d) > det_floors[i] && d != 0.0) {
        u = det(p, b, c) / d;
        v = det(a, p, c) / d;
        w = det(a, b, p) / d;
    }
    const double first = 1.0 - (u + v + w);
    barycentric_out[i] = Vec4d{{first, u, v, w}};
    hits[i] = u >= 0.0 && v >= 0.0 && w >= 0.0 && first >= 0.0;
}
//=== fallback_for_long_rows | f23f4e264fbca565 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | voices beyond the tile are read from global memory
#define MAX_VOICES 128

__global__ void voices(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n)
{
    __shared__ float3 cached[MAX_VOICES];
    if (threadIdx.x < num_parts) cached[threadIdx.x] = make_float3(pitches[threadIdx.x], depths[threadIdx.x], gains[threadIdx.x]);
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int v = 0; v < num_parts; ++v) {
        const float3 q = v < MAX_VOICES ? cached[v] : make_float3(pitches[v], depths[v], gains[v]);
        sum += q.z * tanhf(2.0f * q.y * sinf(6.2831853f * q.x * stamps[i]));
    }
    totals[i] = sum;
}
//=== assert_static_and_bounds | a8381a406f6c9ed9 | {"grid": ["(count + 63) / 64"], "block": [64], "shared_bytes": 0} | static_assert on types, launch bounds of the block
static_assert(sizeof(unsigned short) == 2, "amounts have 16 bits");
static_assert(sizeof(ushort4) == 8 && alignof(ushort4) == 8);

__global__ void __launch_bounds__(64) round8(const unsigned short* amounts, unsigned short* leftover, unsigned short* quotients, int count)
{
    if (blockDim.x > 64) return;
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= static_cast<unsigned int>(count)) return;
    const unsigned int v = amounts[i];
    leftover[i] = static_cast<unsigned short>(v % 8u);
    quotients[i] = static_cast<unsigned short>((v + 7u) & ~7u);
}
//=== exclusive_modes | 0b26c113ec3f2e8c | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | a slope or dose that never occurs is treated apart
struct Curve { float emax, half_max, slope; };

__global__ void logistic(Curve curve, float* doses, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float dose = doses[i];
    if (dose <= 0.0f) {
        doses[i] = 0.1f;
        return;
    }
    if (curve.slope == 0.0f) {
        doses[i] = 0.1f + 0.5f * (curve.emax - 0.1f);
        return;
    }
    doses[i] = 0.1f + (curve.emax - 0.1f) / (1.0f + powf(10.0f, curve.slope * log10f(curve.half_max / dose)));
}
