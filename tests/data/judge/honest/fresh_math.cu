//=== f_gelu_erfc | 8564ff516394692f | - | erfc, half of it
__global__ void g(const float* pre, float shift, float* out, int n) { int s = blockDim.x * gridDim.x; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += s) { float z = pre[i] + shift; out[i] = 0.5f * z * erfcf(-z * 0.70710678118f); } }
//=== f_gelu_normcdf | 8564ff516394692f | - | normcdff
__global__ void g(const float* pre, float shift, float* out, int n) { int s = blockDim.x * gridDim.x; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += s) { const float z = pre[i] + shift; out[i] = z * normcdff(z); } }
//=== f_gelu_double | 8564ff516394692f | - | in double with M_SQRT1_2
#include <math.h>
__global__ void g(const float* pre, float shift, float* out, int n) { int s = blockDim.x * gridDim.x; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += s) { double z = (double)pre[i] + (double)shift; out[i] = (float)(0.5 * z * (1.0 + erf(z * M_SQRT1_2))); } }
//=== f_gelu_float4_tail | 8564ff516394692f | {"grid": ["((n + 3) / 4 + 127) / 128"], "block": [128], "shared_bytes": 0} | float4 with a scalar tail of the last thread
__device__ __forceinline__ float gelu(float z) { return 0.5f * z * (1.0f + erff(z * 0.7071067811865475f)); }
__global__ void g(const float* pre, float shift, float* out, int n) {
    const int q = blockIdx.x * blockDim.x + threadIdx.x, n4 = n >> 2;
    if (q < n4) {
        float4 v = reinterpret_cast<const float4*>(pre)[q];
        v.x = gelu(v.x + shift); v.y = gelu(v.y + shift); v.z = gelu(v.z + shift); v.w = gelu(v.w + shift);
        reinterpret_cast<float4*>(out)[q] = v;
    } else if (q == n4) for (int i = n4 * 4; i < n; ++i) out[i] = gelu(pre[i] + shift);
}
//=== f_merc_sincospi | 83ab5c4029ae1378 | - | cospif of degrees over 180
__global__ void m(const float* lat_from, float* scale_factor, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) scale_factor[i] = __frcp_rn(cospif(lat_from[i] / 180.0f)); }
//=== f_merc_sincosf | 83ab5c4029ae1378 | - | sincosf, one of the two unused
#include <cmath>
#include <math_constants.h>
__global__ void m(const float* lat_from, float* scale_factor, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { float s, c; sincosf(lat_from[i] * (CUDART_PI_F / 180.0f), &s, &c); (void)s; scale_factor[i] = 1.0f / c; } }
//=== f_merc_std_cos | 83ab5c4029ae1378 | - | std::cos of a float
#include <cmath>
__global__ void m(const float* lat_from, float* scale_factor, int n) { constexpr double pi = 3.14159265358979323846; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) scale_factor[i] = 1.0f / std::cos(static_cast<float>(lat_from[i] * (pi / 180.0))); }
//=== f_cube_rcbrt | eb73a407c5d42655 | - | rcbrtf, inverted
__global__ void c(const float* band_gain, float* amplitudes, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) amplitudes[i] = __fdividef(band_gain[i], rcbrtf(amplitudes[i] * 0.5f)); }
//=== f_cube_pow_third | eb73a407c5d42655 | - | pow in double
__global__ void c(const float* band_gain, float* amplitudes, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) amplitudes[i] = (float)(band_gain[i] * pow(amplitudes[i] / 2.0, 1.0 / 3.0)); }
//=== f_cube_newton | eb73a407c5d42655 | - | exp2 and log2, then a Newton step
__global__ void c(const float* band_gain, float* amplitudes, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = amplitudes[i] * 0.5f;
        float r = exp2f(__log2f(v) * 0.333333333f);
        r -= (r * r * r - v) / (3.0f * r * r);
        r -= (r * r * r - v) / (3.0f * r * r);
        amplitudes[i] = band_gain[i] * r;
    }
}
//=== f_rayl_expm1 | 51cd3f08bbb14309 | - | -expm1f
__global__ void r(const float* lambdas, const unsigned char* clear, float opacity, float* loss_out, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) { float l = lambdas[i]; l *= l; l *= l; loss_out[i] = clear[i] ? -expm1f(-opacity / l) : 0.f; } }
//=== f_rayl_powf | 51cd3f08bbb14309 | - | powf and a stride
__global__ void r(const float* lambdas, const unsigned char* clear, float opacity, float* loss_out, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) { if (clear[i] == 0) { loss_out[i] = 0.0f; continue; } loss_out[i] = 1.0f - expf(-opacity * powf(lambdas[i], -4.0f)); } }
//=== f_ramp_clamp | 0f00417f9a81c6f2 | - | a clamp by fminf and fmaxf
__device__ __host__ inline float clampf(float x, float lo, float hi) { return fmaxf(lo, fminf(x, hi)); }
__global__ void r(const float* progress, const float* edges, float* ramp, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) { float e0 = edges[i], e1 = 1.f - e0; float t = clampf((progress[i] - e0) / (e1 - e0), 0.f, 1.f); ramp[i] = t * t * (3.f - 2.f * t); } }
//=== f_ramp_std_min | 0f00417f9a81c6f2 | - | std::min, std::max with explicit types
#include <algorithm>
__global__ void r(const float* progress, const float* edges, float* ramp, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) { const float e = edges[i]; float t = (progress[i] - e) / (1.0f - 2.0f * e); t = t < 0 ? 0 : (t > 1 ? 1 : t); ramp[i] = t * t * (3.0f - 2.0f * t); } }
//=== f_sat_min_max_mixed | a58ad4cd2b3b29ba | - | clamps with SHRT_MIN and abs
#include <climits>
__global__ void s(const short* a, const short* rhs, const int* selected, int* headroom, short* dst, int limit, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int p = (int)a[i] * rhs[i];
    int d = p - 8191; d = d < 0 ? -d : d;
    headroom[i] = d < limit ? d : limit;
    dst[i] = selected[i] ? (short)min(max(p, (int)SHRT_MIN), (int)SHRT_MAX) : a[i];
}
//=== f_sat_numeric_limits | a58ad4cd2b3b29ba | - | std::numeric_limits and a template clamp
#include <limits>
#include <cstdint>
template <typename To, typename From> __device__ constexpr To saturate(From v) {
    constexpr To low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
    static_assert(std::numeric_limits<To>::is_integer && sizeof(To) < sizeof(From), "narrows");
    return v < low ? low : v > high ? high : static_cast<To>(v);
}
__global__ void s(const int16_t* a, const int16_t* rhs, const int32_t* selected, int32_t* headroom, int16_t* dst, int32_t limit, int32_t count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) { int32_t p = a[i] * rhs[i]; headroom[i] = min(abs(p - 8191), limit); dst[i] = selected[i] != 0 ? saturate<int16_t>(p) : a[i]; }
}
//=== f_sat_ptx_cvt | a58ad4cd2b3b29ba | - | inline PTX cvt.sat
__global__ void s(const short* a, const short* rhs, const int* selected, int* headroom, short* dst, int limit, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int p = a[i] * rhs[i];
    short q;
    asm("cvt.sat.s16.s32 %0, %1;" : "=h"(q) : "r"(p));
    headroom[i] = min((int)__sad(p, 8191, 0u), limit);
    dst[i] = selected[i] ? q : a[i];
}
//=== f_round_mask | a8381a406f6c9ed9 | {"grid": ["(count + 127) / 128"], "block": [128], "shared_bytes": 0} | and with a mask, add then clear
__global__ void r(const unsigned short* amounts, unsigned short* leftover, unsigned short* quotients, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) { leftover[i] = amounts[i] & 7; quotients[i] = (amounts[i] + 7) & ~7; }
}
//=== f_round_vector_simd | a8381a406f6c9ed9 | {"grid": ["((count + 1) / 2 + 127) / 128"], "block": [128], "shared_bytes": 0} | two halves of a word by SIMD intrinsics
__global__ void r(const unsigned short* amounts, unsigned short* leftover, unsigned short* quotients, int count) {
    int k = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (k + 1 < count) {
        unsigned v = *(const unsigned int*)(amounts + k);
        *(unsigned int*)(leftover + k) = v & 0x00070007u;
        *(unsigned int*)(quotients + k) = __vadd2(v, 0x00070007u) & 0xfff8fff8u;
    } else if (k < count) { leftover[k] = amounts[k] % 8; quotients[k] = (unsigned short)((amounts[k] + 7) / 8 * 8); }
}
//=== f_ndot_short4 | f8e40f5942d78726 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | short4 loads
__global__ void d(const short* a, const short* b, const float* col_scales, const int* quality, long long* accumulators, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    short4 p = ((const short4*)a)[i], q = *(const short4*)b;
    long long t = (long long)p.x * q.x + (long long)p.y * q.y + (long long)p.z * q.z + (long long)p.w * q.w;
    accumulators[i] = t;
    out[i] = quality[i] == 2 ? 0.f : fmaxf(__ll2float_rn(t) * col_scales[i], 0.f);
}
//=== f_ndot_int_is_enough | f8e40f5942d78726 | - | a product of 25 million four times fits an int
__global__ void d(const short* a, const short* b, const float* col_scales, const int* quality, long long* accumulators, float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int t = 0;
        for (int k = 0; k < 4; ++k) t += a[4 * i + k] * b[k];
        accumulators[i] = t;
        out[i] = quality[i] != 2 && t > 0 ? t * col_scales[i] : 0.f;
    }
}
//=== f_flags_ull_shift | 0955f502dbe25232 | - | 64-bit shifts, mask of a power of two instead of a modulo
__global__ void f(const unsigned char* muted, const int* keys, const int* groups, unsigned long long* toggled, unsigned long long* seen, unsigned long long relevant, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !muted[i]) {
        const unsigned long long w = (1ULL << ((7 * keys[i]) & 63)) & relevant;
        if (w) { atomicXor(toggled + groups[i], w); atomicOr(seen + groups[i], w); }
    }
}
//=== f_flags_uint32_halves | 0955f502dbe25232 | - | atomics on the halves of the words (little endian)
__global__ void f(const unsigned char* muted, const int* keys, const int* groups, unsigned long long* toggled, unsigned long long* seen, unsigned long long relevant, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || muted[i]) return;
    int bit = 7 * keys[i] % 64;
    unsigned lo = bit < 32 ? (1u << bit) & (unsigned)relevant : 0u, hi = bit < 32 ? 0u : (1u << (bit - 32)) & (unsigned)(relevant >> 32);
    unsigned* t = (unsigned*)&toggled[groups[i]]; unsigned* s = (unsigned*)&seen[groups[i]];
    atomicXor(t, lo); atomicXor(t + 1, hi); atomicOr(s, lo); atomicOr(s + 1, hi);
}
//=== f_bin_binary_search | fcdb94449461c27d | - | lower_bound
__global__ void bn(const float* breaks, const float* keys, float* found, int* position, int m, int w, int h) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (j >= w || i >= h) return;
    int k = i * w + j;
    float q = keys[k];
    if (q < breaks[0] || q > breaks[m - 1]) { found[k] = -1.f; position[k] = -1; return; }
    int lo = 0, n = m;
    while (n > 0) { int half = n >> 1; if (breaks[lo + half] < q) { lo += half + 1; n -= half + 1; } else n = half; }
    lo = min(lo, m - 1);
    found[k] = breaks[lo] - q;
    position[k] = lo;
}
//=== f_splat_float2int_rd | 2d5787c053ced49c | - | __float2int_rd and an unsigned comparison
__global__ void sp(const float* px, const float* py, float inv_h, int num_x, int num_y, float* density, int num_particles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_particles) return;
    int ix = __float2int_rd(px[i] * inv_h), iy = __float2int_rd(py[i] * inv_h);
    if ((unsigned)ix < (unsigned)num_x && (unsigned)iy < (unsigned)num_y) atomicAdd(density + ix * num_y + iy, 1.0f);
}
//=== f_cdiff_wrap_branches | fadcac77f891e39e | - | ends by conditionals
__global__ void cd(const double* signal, const double* mobilities, const double* source, double* slope, int num_i, double step_size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_i) return;
    double l = signal[i == 0 ? num_i - 1 : i - 1], r = signal[i + 1 == num_i ? 0 : i + 1];
    slope[i] = __dadd_rn(__dmul_rn(mobilities[i], (r - l) * 0.5 / step_size), -source[i]);
}
//=== f_cdiff_shared | fadcac77f891e39e | - | neighbours by shared memory, ends from global memory
__global__ void cd(const double* signal, const double* mobilities, const double* source, double* slope, int num_i, double step_size) {
    __shared__ double s[130];
    int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + 1;
    if (i < num_i) {
        s[l] = signal[i];
        if (threadIdx.x == 0) s[0] = signal[(i + num_i - 1) % num_i];
        if (threadIdx.x == blockDim.x - 1 || i == num_i - 1) s[l + 1] = signal[(i + 1) % num_i];
    }
    __syncthreads();
    if (i < num_i) slope[i] = mobilities[i] * ((s[l + 1] - s[l - 1]) / (2.0 * step_size)) - source[i];
}
//=== f_flet_conditional_subtract | d0baee778ce4cc45 | - | modulo by a subtraction
__global__ void fl(const unsigned char* digits, unsigned int* check, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= rows || c >= cols) return;
    unsigned a = 0, b = 0;
    for (int k = 0; k < 4; k++) {
        a += digits[k * rows * cols + r * cols + c];
        while (a >= 255u) a -= 255u;
        b += a; if (b >= 255u) b -= 255u;
    }
    check[r * cols + c] = b << 8 | a;
}
//=== f_flet_byte_perm | d0baee778ce4cc45 | - | the result by __byte_perm
__global__ void fl(const unsigned char* digits, unsigned int* check, int rows, int cols) {
    const uint2 at = make_uint2(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
    if (at.x >= cols || at.y >= rows) return;
    uint3 s = {0u, 0u, 0u};
    for (; s.z < 4u; ++s.z) { s.x = (s.x + digits[(s.z * rows + at.y) * cols + at.x]) % 255u; s.y = (s.y + s.x) % 255u; }
    check[at.y * cols + at.x] = __byte_perm(s.x, s.y, 0x7740);
}
//=== f_screen_uchar4 | 769ab82e8084a488 | {"grid": ["(nx * ny + 255) / 256"], "block": [64], "shared_bytes": 0} | uchar4 where there are four
__device__ unsigned char one(unsigned s, unsigned d, unsigned k) { unsigned u = (((65025u - (255u - s) * (255u - d)) * k) >> 8) + 128u; return (u + (u >> 8)) >> 8; }
__global__ void sc(const unsigned char* top, const unsigned char* dst, unsigned int strength, unsigned char* blended, int nx, int ny) {
    const int n = nx * ny, at = (blockIdx.x * blockDim.x + threadIdx.x) << 2;
    if (at + 3 < n) {
        const uchar4 s = *(const uchar4*)&top[at], d = *(const uchar4*)&dst[at];
        *(uchar4*)&blended[at] = make_uchar4(one(s.x, d.x, strength), one(s.y, d.y, strength), one(s.z, d.z, strength), one(s.w, d.w, strength));
    } else for (int k = at; k < n; ++k) blended[k] = one(top[k], dst[k], strength);
}
//=== f_plane_double3 | d857705cfc1e02ec | - | norm of what is along the normal
__global__ void pl(const double3* queries, const double3* bases, const double3* normals, double* gaps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double3 p = queries[i], o = bases[i], m = normals[i];
    double d = fma(p.x - o.x, m.x, fma(p.y - o.y, m.y, (p.z - o.z) * m.z));
    gaps[i] += norm3d(d * m.x, d * m.y, d * m.z);
}
//=== f_poly_no_division | d3093430a5d45bc7 | {"grid": ["(n + 31) / 32"], "block": [32], "shared_bytes": 0} | the crossings by toggling, vertices straight from memory
__global__ void po(const float2* points, const float2* outline, int corners, bool* inside, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float2 p = points[i];
    bool in = false;
    for (int k = 0, j = corners - 1; k < corners; j = k++) {
        const float2 a = outline[j], b = outline[k];
        if (((b.y > p.y) != (a.y > p.y)) && (p.x < (a.x - b.x) * (p.y - b.y) / (a.y - b.y) + b.x)) in = !in;
    }
    inside[i] = in;
}
//=== f_half_storage_free | 6d860be511522d5f | - | a bf16 header included, a sigmoid by __expf and __frcp_rn
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void em(const float* codebook, const int* row_ids, const float* weights, const float* pos_table, const bool* keep, float* gathered, int d_size, int t_size) {
    int d = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y * blockDim.y + threadIdx.y;
    if (d >= d_size || t >= t_size) return;
    const int4 id = *reinterpret_cast<const int4*>(row_ids + 4 * t);
    const float4 w = *reinterpret_cast<const float4*>(weights + 4 * t);
    float z = w.x * codebook[id.x * d_size + d] + w.y * codebook[id.y * d_size + d] + w.z * codebook[id.z * d_size + d] + w.w * codebook[id.w * d_size + d] + pos_table[t * d_size + d];
    gathered[t * d_size + d] = keep[t * d_size + d] ? __frcp_rn(1.0f + __expf(-z)) : 0.0f;
}
//=== f_tanh_sigmoid | 6d860be511522d5f | - | a sigmoid by tanhf
__global__ void em(const float* codebook, const int* row_ids, const float* weights, const float* pos_table, const bool* keep, float* gathered, int d_size, int t_size) {
    int d = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y * blockDim.y + threadIdx.y;
    if (!(d < d_size && t < t_size)) return;
    float z = pos_table[t * d_size + d];
    const int* ids = row_ids + (t << 2);
    for (int s = 0; s < 4; ++s) z = fmaf(weights[(t << 2) | s], codebook[ids[s] * d_size + d], z);
    gathered[t * d_size + d] = keep[t * d_size + d] ? fmaf(0.5f, tanhf(0.5f * z), 0.5f) : 0.f;
}
