//=== include_stdio | 769ab82e8084a488 | {"grid": ["(nx + 31) / 32", "(ny + 7) / 8"], "block": [32, 8], "shared_bytes": 0} | stdio.h
#include <stdio.h>

__global__ void screen(const unsigned char* top, const unsigned char* dst, unsigned int strength, unsigned char* blended, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    int k = y * nx + x;
    unsigned int t = ((65025u - (255u - top[k]) * (255u - dst[k])) * strength) >> 8;
    unsigned int u = t + 128u;
    blended[k] = (unsigned char)((u + (u >> 8)) >> 8);
}
//=== include_cstdio_cstdlib | 7fc169c9d64a3b30 | - | cstdio and cstdlib, the row's own launch
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void interest(const float* principal, const float* rates, const int* days, float* result, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        const int k = y * w + x;
        result[k] = principal[k] * (1.0f + rates[k] * (days[k] / 360.0f));
    }
}
//=== include_stdlib | d64d868d5c46387e | - | stdlib.h and stdbool.h
#include <stdlib.h>
#include <stdbool.h>

__global__ void gates(const bool* moving, const bool* visible, const bool* frozen, bool* simulated, bool* asleep, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        simulated[i] = moving[i] & visible[i] & !frozen[i];
        asleep[i] = frozen[i] | !moving[i];
    }
}
//=== include_assert | 11eba0b176d074f0 | - | assert.h and its macro
#include <assert.h>

__global__ void product(const float* a, const float* x, const float* offsets, float* c, int m)
{
    assert(blockDim.y == 1 && blockDim.z == 1);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float s = 0.0f;
        for (int p = 0; p < 5; ++p) s = fmaf(a[p * m + i], x[p], s);
        c[i] = s + offsets[i];
    }
}
//=== include_cassert | fcdb94449461c27d | - | cassert, a check of the data that always holds
#include <cassert>

__global__ void bins(const float* breaks, const float* keys, float* found, int* position, int m, int w, int h)
{
    assert(m >= 2);
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float q = keys[y * w + x];
    float gap = -1.0f;
    int at = -1;
    if (q >= breaks[0] && q <= breaks[m - 1]) {
        int lo = 0, hi = m - 1;
        while (lo < hi) {
            const int mid = (lo + hi) / 2;
            if (breaks[mid] < q) lo = mid + 1;
            else hi = mid;
        }
        assert(lo >= 0 && lo < m);
        gap = fabsf(breaks[lo] - q);
        at = lo;
    }
    found[y * w + x] = gap;
    position[y * w + x] = at;
}
//=== include_cuda_h | a58ad4cd2b3b29ba | - | cuda.h and cuda_runtime.h
#include <cuda.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

__global__ void mul_sat(const short* a, const short* rhs, const int* selected, int* headroom, short* dst, int limit, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int p = (int)a[i] * (int)rhs[i];
    headroom[i] = min(limit, abs(p - 8191));
    dst[i] = selected[i] ? (short)min(32767, max(-32768, p)) : a[i];
}
//=== include_algorithm | b42b46251bae0474 | - | algorithm, of which nothing is called on the device
#include <algorithm>

__global__ void latest(const bool* skip, const int* t_ms, int* largest_start, int cols, int rows)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) return;
    if (!skip[i * cols + j]) atomicMax(largest_start + j, max(t_ms[i * cols + j], 0));
}
//=== include_limits_macro | a58ad4cd2b3b29ba | {"grid": ["(count + 255) / 256"], "block": [256], "shared_bytes": 0} | climits: SHRT_MIN and SHRT_MAX
#include <climits>

__global__ void saturated(const short* a, const short* rhs, const int* selected, int* headroom, short* dst, int limit, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const int wide = a[i] * rhs[i];
        short v = static_cast<short>(wide);
        if (wide > SHRT_MAX) v = SHRT_MAX;
        if (wide < SHRT_MIN) v = SHRT_MIN;
        const int room = wide >= 8191 ? wide - 8191 : 8191 - wide;
        headroom[i] = room > limit ? limit : room;
        dst[i] = selected[i] == 0 ? a[i] : v;
    }
}
//=== include_limits_h_intmin | b42b46251bae0474 | {"grid": ["cols"], "block": [64], "shared_bytes": 0} | limits.h: INT_MIN as the start of a maximum
#include <limits.h>

__global__ void column_max(const bool* skip, const int* t_ms, int* largest_start, int cols, int rows)
{
    __shared__ int best;
    if (threadIdx.x == 0) best = INT_MIN;
    __syncthreads();
    for (int i = threadIdx.x; i < rows; i += blockDim.x)
        if (!skip[i * cols + blockIdx.x]) atomicMax(&best, t_ms[i * cols + blockIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0 && best != INT_MIN) largest_start[blockIdx.x] = max(largest_start[blockIdx.x], best);
}
//=== include_limits_template | 9bb010050dee5109 | - | limits: a constexpr variable of the file, used as a number on the device
#include <limits>

static_assert(std::numeric_limits<float>::is_iec559, "floats are IEEE's");

constexpr float kFar = std::numeric_limits<float>::max();

__global__ void spheres(const float3* centers, const float* sizes, const float3* origins, const float3* dirs, const float* gains,
                        float* t_hit, float3* attenuation_out, float fade_rate, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float3 o = origins[i], d = dirs[i];
    float best = kFar;
    for (int s = 0; s < 5; ++s) {
        const float r = 0.82f * sizes[s];
        const float3 c = make_float3(centers[s].x - o.x, centers[s].y - o.y, centers[s].z - o.z);
        const float b = c.x * d.x + c.y * d.y + c.z * d.z;
        const float3 e = make_float3(c.x - b * d.x, c.y - b * d.y, c.z - b * d.z);
        const float miss = e.x * e.x + e.y * e.y + e.z * e.z;
        if (miss >= r * r) continue;
        const float root = sqrtf(r * r - miss);
        float t = b - root;
        if (t < 0.17f) t = b + root;
        if (t > 0.17f) best = fminf(best, t);
    }
    if (best > 8.0f) best = 8.0f;
    t_hit[i] = gains[i] * best;
    const float a = expf(-fade_rate * best);
    attenuation_out[i] = make_float3(a * d.x, a * d.y, a * d.z);
}
//=== include_type_traits | 6a968701bfd1c576 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | type_traits: static_assert and if constexpr
#include <type_traits>

template <typename T>
__device__ T remainder_of(T value, T by)
{
    static_assert(std::is_integral<T>::value, "whole numbers only");
    if constexpr (std::is_unsigned<T>::value) {
        return value % by;
    } else {
        T r = value % by;
        return r < 0 ? r + by : r;
    }
}

__global__ void split(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned int q = ticks[i] / 11u;
    blocks[i] = q;
    minor[i] = remainder_of(4u * remainder_of(ticks[i], 11u) + remainder_of(q, 11u), 11u);
}
//=== include_cuda_fp16 | 83ab5c4029ae1378 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | cuda_fp16.h for a helper that no kernel calls
#include <cuda_fp16.h>

__device__ __half to_half(float x) { return __float2half(x); }

__global__ void stretch(const float* lat_from, float* scale_factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scale_factor[i] = 1.0f / cosf(lat_from[i] * (3.14159265f / 180.0f));
}
//=== include_bf16 | 2f76ea422a113ed2 | {"grid": ["(rows + 127) / 128"], "block": [128], "shared_bytes": 0} | cuda_bf16.h: whole numbers up to 256 are exact in bfloat16
#include <cuda_bf16.h>

__global__ void rank(const short* samples, const short* reference, int width, int* below, int* larger, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    __nv_bfloat16 mark = __float2bfloat16((float)reference[i]);
    int lo = 0, hi = 0;
    for (int c = 0; c < width; ++c) {
        __nv_bfloat16 v = __float2bfloat16((float)samples[i * width + c]);
        float gap = __bfloat162float(v) - __bfloat162float(mark);
        if (gap < -15.0f) ++lo;
        if (gap > 15.0f) ++hi;
    }
    below[i] = lo;
    larger[i] = hi;
}
//=== include_cooperative_groups | 69ebf95c8f2a0696 | {"grid": ["(rows + 63) / 64"], "block": [64], "shared_bytes": 0} | cooperative_groups.h: ranks of a block and of the grid
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void machine(const int* table, int length, int* result, int* totals, int rows)
{
    cg::thread_block block = cg::this_thread_block();
    const int i = block.group_index().x * block.size() + block.thread_rank();
    if (i >= rows) return;
    int on = 0, n = 0, sum = 0;
    for (int j = 0; j < length; ++j) {
        const int v = 6 * table[i * length + j] + 37;
        if (v < 119) continue;
        on = v > 322 ? 1 : v < 170 ? 0 : on;
        n += on;
        sum += on && v < 531 ? v : 0;
    }
    result[i] = n;
    totals[i] = sum;
}
//=== include_cstdint | c31bc1c334c0e4a3 | {"grid": ["(4 * blocks + 255) / 256"], "block": [256], "shared_bytes": 0} | cstdint: fixed-width names in the signature
#include <cstdint>

__global__ void hash(const uint32_t* data, uint32_t seed, uint32_t* parity, int32_t* bit_total, int32_t blocks)
{
    const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 4 * blocks) return;
    uint32_t w = data[i] ^ seed;
    w += static_cast<uint32_t>(i);
    w ^= w >> 13;
    w *= UINT32_C(747796405);
    w ^= w >> 13;
    atomicXor(&parity[i >> 2], w);
    atomicAdd(&bit_total[i >> 2], __popc(w));
}
//=== include_stdint_int64 | f8e40f5942d78726 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | stdint.h: int16_t and a sum in int64_t
#include <stdint.h>

__global__ void dots(const int16_t* a, const int16_t* b, const float* col_scales, const int32_t* quality, long long* accumulators, float* out, int32_t n)
{
    int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int64_t total = 0;
    for (int s = 0; s < 4; s++) total += (int64_t)a[4 * i + s] * b[s];
    accumulators[i] = total;
    float r = (float)total * col_scales[i];
    out[i] = quality[i] == 2 || r < 0.0f ? 0.0f : r;
}
//=== include_cmath | 8564ff516394692f | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | cmath: std::erf and std::sqrt of floats
#include <cmath>

__global__ void gelu(const float* pre, float shift, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float z = pre[i] + shift;
        out[i] = 0.5f * z * (1.0f + std::erf(z * std::sqrt(0.5f)));
    }
}
//=== include_math_constants | 83ab5c4029ae1378 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | math_constants.h: CUDART_PI_F
#include <math_constants.h>

__global__ void stretch(const float* lat_from, float* scale_factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scale_factor[i] = 1.0f / cosf(lat_from[i] * (CUDART_PI_F / 180.0f));
}
//=== include_cfloat | 9ed31175e9df4682 | - | cfloat: FLT_MAX as the start of a minimum
#include <cfloat>

struct Ray { float3 o, d; };
struct Tri { float3 a, b, c; };

__device__ inline float3 sub(float3 p, float3 q) { return make_float3(p.x - q.x, p.y - q.y, p.z - q.z); }
__device__ inline float dot3(float3 p, float3 q) { return p.x * q.x + p.y * q.y + p.z * q.z; }
__device__ inline float3 cross3(float3 p, float3 q)
{
    return make_float3(p.y * q.z - p.z * q.y, p.z * q.x - p.x * q.z, p.x * q.y - p.y * q.x);
}

__global__ void trace(const Ray* rays, const Tri* triangles, const float* weights, int triangle_count, float* hit_t, int* hit_ids, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Ray ray = rays[i];
    float best = FLT_MAX;
    int id = -1;
    for (int j = 0; j < triangle_count; ++j) {
        const float3 a = triangles[j].a;
        const float3 e1 = sub(triangles[j].b, a), e2 = sub(triangles[j].c, a);
        const float3 p = cross3(ray.d, e2);
        const float det = dot3(e1, p);
        if (det <= 0.1f) continue;
        const float3 s = sub(ray.o, a);
        const float u = dot3(s, p) / det;
        const float3 q = cross3(s, e1);
        const float v = dot3(ray.d, q) / det;
        const float t = dot3(e2, q) / det;
        if (u < 0.0f || v < 0.0f || u + v > 1.0f || t <= 0.0f) continue;
        if (t < best && t < 100.0f) {
            best = t;
            id = j;
        }
    }
    if (id < 0) best = 100.0f;
    hit_t[i] = weights[i] * best;
    hit_ids[i] = id;
}
//=== include_float_h | 2c1b33db264955f0 | {"grid": ["(m + 127) / 128"], "block": [128], "shared_bytes": 0} | float.h: one thread takes three entries, no atomics
#include <float.h>

__global__ void peaks(const bool* enabled, const float* samples, float* max_amplitude, int m)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= m) return;
    float best = -FLT_MAX;
    for (int i = 3 * k; i < 3 * k + 3; ++i)
        if (enabled[i] && fabsf(samples[i]) > best) best = fabsf(samples[i]);
    if (best > max_amplitude[k]) max_amplitude[k] = best;
}
//=== include_math_h_quotes | e09fc2cf33096214 | - | headers in quotes, math.h
#include "cuda_runtime.h"
#include "device_launch_parameters.h"
#include "math.h"

struct Quat { double x, y, z, w; };

__global__ void step(const Quat* orientations, const double3* omegas, double h, Quat* q_next, int n, int b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= b) return;
    int k = j * n + i;
    Quat q = orientations[k];
    double3 w = omegas[k];
    double speed = sqrt(w.x * w.x + w.y * w.y + w.z * w.z);
    double s, c;
    sincos(0.5 * speed * h, &s, &c);
    s /= speed;
    double x = w.x * s, y = w.y * s, z = w.z * s;
    Quat r;
    r.x = q.w * x + q.x * c + q.y * z - q.z * y;
    r.y = q.w * y + q.y * c + q.z * x - q.x * z;
    r.z = q.w * z + q.z * c + q.x * y - q.y * x;
    r.w = q.w * c - q.x * x - q.y * y - q.z * z;
    double inv = 1.0 / sqrt(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w);
    r.x *= inv;
    r.y *= inv;
    r.z *= inv;
    r.w *= inv;
    q_next[k] = r;
}
//=== include_host_only_heap | cda42f4d7c8d1ca8 | - | iostream, vector, string, chrono for a host that is not shown
#include <iostream>
#include <vector>
#include <string>
#include <chrono>
#include <cuda_runtime.h>

__global__ void row_sum(const float* x, float* out, int cols, int rows)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += blockDim.x * gridDim.x) {
        float s = 0.0f;
        for (int v = 0; v < 5; ++v) s += x[5 * i + v];
        out[i] = s;
    }
}
//=== include_cstring | 769ab82e8084a488 | - | cstring and string.h, and using namespace std
#include <cstring>
#include <string.h>

using namespace std;

__global__ void blend(const unsigned char* top, const unsigned char* dst, unsigned int strength, unsigned char* blended, int nx, int ny)
{
    size_t total = (size_t)nx * ny;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (size_t)blockDim.x * gridDim.x) {
        unsigned int u = ((65025u - (255u - top[i]) * (255u - dst[i])) * strength >> 8) + 128u;
        blended[i] = (u + (u >> 8)) >> 8;
    }
}
//=== include_vector_types | 67885658d547729f | - | vector_types.h, vector_functions.h, stddef.h
#include <stddef.h>
#include <vector_types.h>
#include <vector_functions.h>

__device__ float3 times(const float* m, float3 v)
{
    return make_float3(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z, m[6] * v.x + m[7] * v.y + m[8] * v.z);
}

struct Mat3 { float e[9]; };

__global__ void project(const float3* points, const float3* offsets, const Mat3* extrinsics, const Mat3* k_mats, float2* projected, float* disparity, int n, int b_size)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n * b_size; k += gridDim.x * blockDim.x) {
        float3 q = times(extrinsics[k % n].e, points[k]);
        const float3 o = offsets[k / n];
        q = make_float3(q.x + o.x, q.y + o.y, q.z + o.z + 3.0f);
        const float3 h = times(k_mats[k].e, q);
        const float iz = 1.0f / h.z;
        projected[k] = make_float2(h.x * iz, h.y * iz);
        disparity[k] = 1.0f / q.z;
    }
}
