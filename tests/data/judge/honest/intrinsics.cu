//=== fmaf_rn | 1e6d9d8c735c5148 | {"grid": ["(count + 255) / 256"], "block": [256], "shared_bytes": 0} | __fmaf_rn and __fmul_rn
__global__ void triad(const float* x, const float* y, const float* omegas, const float* basis, const float* coeffs, float gamma, float* result, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float r = __fmul_rn(gamma, y[i]);
        r = __fmaf_rn(omegas[i], x[i], r);
        r = __fmaf_rn(coeffs[0], basis[i], r);
        r = __fmaf_rn(coeffs[1], basis[count + i], r);
        result[i] = r;
    }
}
//=== fdiv_rn | 7fc169c9d64a3b30 | - | __fdiv_rn, __int2float_rn
__global__ void interest(const float* principal, const float* rates, const int* days, float* result, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        int k = y * w + x;
        float year = __fdiv_rn(__int2float_rn(days[k]), 360.0f);
        result[k] = principal[k] * __fmaf_rn(rates[k], year, 1.0f);
    }
}
//=== fsqrt_rn_frcp_rn | 732db1e0a835cd84 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | __fsqrt_rn, __frcp_rn, __fdividef, __int2float_rn; one thread a row
__global__ void measure(const float* red, const float* green, const float* blue, const signed char* feature, const float* weights,
                        float knee, int num_parts, float* rms_out, float* totals, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sq = 0.0f, sum = 0.0f, mass = 0.0f;
    for (int s = 0; s < num_parts; ++s) {
        const int k = i * num_parts + s;
        const float r = __ldg(&red[k]), g = __ldg(&green[k]), b = __ldg(&blue[k]), w = __ldg(&weights[k]);
        float f;
        switch (feature[k]) {
        case 0: f = atan2f(0.8660254f * (g - b), r - 0.5f * (g + b)) * 0.159154943f; break;
        case 1: {
            const float y = 0.2126f * r + 0.7152f * g + 0.0722f * b;
            f = fmaf(knee, r - y, y);
            break;
        }
        default: {
            const float high = fmaxf(fmaxf(r, g), b), low = fminf(fminf(r, g), b);
            f = __fdividef(high - low, high + 0.001f);
        }
        }
        sq += w * f * f;
        sum += w * f;
        mass += w;
    }
    rms_out[i] = __fsqrt_rn(sq * __frcp_rn(mass));
    totals[i] = sum;
}
//=== frsqrt_rn | d857705cfc1e02ec | - | __dsqrt_rn, __dadd_rn, __fma_rn of doubles
__global__ void plane(const double3* queries, const double3* bases, const double3* normals, double* gaps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double3 p = queries[i], b = bases[i], m = normals[i];
    double along = __fma_rn(p.x - b.x, m.x, __fma_rn(p.y - b.y, m.y, __dmul_rn(p.z - b.z, m.z)));
    double mm = m.x * m.x + m.y * m.y + m.z * m.z;
    gaps[i] = __dadd_rn(gaps[i], fabs(along) * __dsqrt_rn(mm));
}
//=== umul24_index | cda42f4d7c8d1ca8 | {"grid": ["(rows * cols + 127) / 128"], "block": [128], "shared_bytes": 0} | __umul24 and __mul24 for small products
__global__ void row_sum(const float* x, float* out, int cols, int rows)
{
    // blockIdx.x and blockDim.x are far below 2^24 for a launch of this size.
    const unsigned int i = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
    if (i >= (unsigned int)(rows * cols)) return;
    float s = 0.0f;
    for (int v = 0; v < 5; ++v) s += x[5u * i + __mul24(v, 1)];
    out[i] = s;
}
//=== umulhi_division | 6a968701bfd1c576 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | __umulhi in place of a division by 11
// floor(x / 11) = (x * 3123612579) >> 35 for all 32-bit x.
__device__ __forceinline__ unsigned int div11(unsigned int x)
{
    return __umulhi(x, 3123612579u) >> 3;
}

__global__ void split(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int t = ticks[i], q = div11(t);
    unsigned int r = 4u * (t - 11u * q) + (q - 11u * div11(q));
    blocks[i] = q;
    minor[i] = r - 11u * div11(r);
}
//=== sincosf_fast_voices | f23f4e264fbca565 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | sincospif and __ldg; the tolerance is 1e-4
__global__ void voices(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f, t = stamps[i];
    for (int v = 0; v < num_parts; ++v) {
        float s, c;
        sincospif(2.0f * __ldg(pitches + v) * t, &s, &c);
        sum += __ldg(gains + v) * tanhf(2.0f * __ldg(depths + v) * s);
    }
    totals[i] = sum;
}
//=== sincosf_euler | 61b89cb218175b90 | - | sincosf three times
struct Gimbal { float roll, pitch, yaw; };

__global__ void euler(const Gimbal* gimbal_list, float4* quats_out, int count);

struct Quat { float x, y, z, w; };

__global__ void euler_to_quat(const Gimbal* gimbal_list, Quat* quats, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sr, cr, sp, cp, sy, cy;
    sincosf(0.5f * gimbal_list[i].roll, &sr, &cr);
    sincosf(0.5f * gimbal_list[i].pitch, &sp, &cp);
    sincosf(0.5f * gimbal_list[i].yaw, &sy, &cy);
    Quat q;
    q.x = sr * cp * cy - cr * sp * sy;
    q.y = cr * sp * cy + sr * cp * sy;
    q.z = cr * cp * sy - sr * sp * cy;
    q.w = cr * cp * cy + sr * sp * sy;
    quats[i] = q;
}
//=== fast_sincos_euler | 61b89cb218175b90 | {"grid": ["(count + 127) / 128"], "block": [128], "shared_bytes": 0} | __sincosf on arguments below 1.3: errors of a few 1e-6, 2e-5 are allowed
struct Gimbal { float roll, pitch, yaw; };
struct Quat { float x, y, z, w; };

__global__ void euler(const Gimbal* g, Quat* quats, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const Gimbal a = g[i];
        float s0, c0, s1, c1, s2, c2;
        __sincosf(a.roll * 0.5f, &s0, &c0);
        __sincosf(a.pitch * 0.5f, &s1, &c1);
        __sincosf(a.yaw * 0.5f, &s2, &c2);
        quats[i] = Quat{s0 * c1 * c2 - c0 * s1 * s2, c0 * s1 * c2 + s0 * c1 * s2, c0 * c1 * s2 - s0 * s1 * c2, c0 * c1 * c2 + s0 * s1 * s2};
    }
}
//=== tan_identity | 83ab5c4029ae1378 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | sec from tan: sqrtf(1 + tan^2), hypotf
__global__ void stretch(const float* lat_from, float* scale_factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float t = tanf(lat_from[i] * 0.0174532925f);
        scale_factor[i] = hypotf(1.0f, t);
    }
}
//=== cospi_degrees | 83ab5c4029ae1378 | {"grid": ["(n + 511) / 512"], "block": [512], "shared_bytes": 0} | cospif of degrees / 180 and __frcp_rn
__global__ void stretch(const float* lat_from, float* scale_factor, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scale_factor[i] = __frcp_rn(cospif(lat_from[i] * (1.0f / 180.0f)));
}
//=== fast_tan_unused | 83ab5c4029ae1378 | {"grid": ["(n + 95) / 96"], "block": [96], "shared_bytes": 0} | __tanf in a helper that a constant switches off
static constexpr bool kFast = false;

__device__ float secant(float x)
{
    if (kFast) {
        float t = __tanf(x);
        return sqrtf(1.0f + t * t);
    }
    return 1.0f / cosf(x);
}

__global__ void stretch(const float* lat_from, float* scale_factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scale_factor[i] = secant(lat_from[i] * 0.0174532925f);
}
//=== double2int_rn | 1c19392ee3f8f433 | {"grid": ["(count + 127) / 128"], "block": [128], "shared_bytes": 0} | __double2int_rd of a square root, exact below 2^52
__global__ void roots(const int* seeds, int least, int* result, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        int x = seeds[i];
        result[i] = x < least ? 0 : __double2int_rd(sqrt(__int2double_rn(x)));
    }
}
//=== float_isqrt_corrected | 1c19392ee3f8f433 | {"grid": ["(count + 63) / 64"], "block": [64], "shared_bytes": 0} | __float2int_rz of __fsqrt_rn, put right by a step up or down
__global__ void roots(const int* seeds, int least, int* result, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int x = seeds[i];
    int r = __float2int_rz(__fsqrt_rn((float)x));
    r -= r * r > x;
    r += (r + 1) * (r + 1) <= x;
    result[i] = x >= least ? r : 0;
}
//=== float2int_rd_cells | 3ab0a0def3bb3638 | - | __float2int_rd for floor and cast; __fdiv_rn keeps the division's rounding
__global__ void cells(const float3* positions, const unsigned char* valid, int* cell_ids, int side, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float3 p = positions[i];
    int x = __float2int_rd(__fdiv_rn(p.x, 0.41f));
    int y = __float2int_rd(__fdiv_rn(p.y, 0.41f));
    int z = __float2int_rd(__fdiv_rn(p.z, 0.41f));
    cell_ids[i] = valid[i] ? x + side * (y + side * z) : 0;
}
//=== byte_perm_blend | 769ab82e8084a488 | {"grid": ["(ny * nx + 1023) / 1024"], "block": [256], "shared_bytes": 0} | four bytes a thread, packed with __byte_perm
__device__ unsigned int blend(unsigned int s, unsigned int d, unsigned int strength)
{
    unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> 8) + 128u;
    return ((u + (u >> 8)) >> 8) & 255u;
}

__global__ void screen(const unsigned char* top, const unsigned char* dst, unsigned int strength, unsigned char* blended, int nx, int ny)
{
    int total = nx * ny;
    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < total) {
        unsigned int s = *(const unsigned int*)(top + first), d = *(const unsigned int*)(dst + first);
        unsigned int r[4];
        for (int k = 0; k < 4; ++k) r[k] = blend((s >> (8 * k)) & 255u, (d >> (8 * k)) & 255u, strength);
        unsigned int low = __byte_perm(r[0], r[1], 0x0040);
        unsigned int high = __byte_perm(r[2], r[3], 0x0040);
        *(unsigned int*)(blended + first) = __byte_perm(low, high, 0x5410);
    } else {
        for (int i = first; i < total; ++i) blended[i] = (unsigned char)blend(top[i], dst[i], strength);
    }
}
//=== funnelshift | 0955f502dbe25232 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | __funnelshift_l makes a 64-bit one-hot word from two halves
__global__ void flags(const unsigned char* muted, const int* keys, const int* groups, unsigned long long* toggled,
                      unsigned long long* seen, unsigned long long relevant, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || muted[i] != 0) return;
    unsigned int bit = (7u * (unsigned int)keys[i]) & 63u;
    unsigned int one = __funnelshift_l(0u, 1u, bit);  // 1 << (bit & 31)
    unsigned int low = bit < 32u ? one : 0u, high = bit < 32u ? 0u : one;
    unsigned long long kept = (((unsigned long long)high << 32) | low) & relevant;
    atomicXor(toggled + groups[i], kept);
    atomicOr(seen + groups[i], kept);
}
//=== ldg_ldcg_ldcs_stcs | fadcac77f891e39e | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | cache hints on loads and stores
__global__ void diff(const double* signal, const double* mobilities, const double* source, double* slope, int num_i, double step_size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_i) return;
    double after = __ldg(signal + (i + 1 == num_i ? 0 : i + 1));
    double before = __ldg(&signal[i == 0 ? num_i - 1 : i - 1]);
    double r = __ldcg(mobilities + i) * (0.5 * (after - before) / step_size) - __ldcs(source + i);
    __stcs(slope + i, r);
}
//=== ldca_stcg | eb73a407c5d42655 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | __ldca, __stcg
__global__ void loud(const float* band_gain, float* amplitudes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) __stcg(amplitudes + i, __ldca(band_gain + i) * cbrtf(0.5f * amplitudes[i]));
}
//=== reduce_add_sync | 2f76ea422a113ed2 | {"grid": ["(rows + 3) / 4"], "block": [32, 4], "shared_bytes": 0} | __reduce_add_sync, one warp a row in a block of two axes
__global__ void rank(const short* samples, const short* reference, int width, int* below, int* larger, int rows)
{
    const int row = blockIdx.x * 4 + threadIdx.y;
    if (row >= rows) return;  // whole warps leave
    const int mark = reference[row];
    unsigned int lo = 0, hi = 0;
    for (int c = threadIdx.x; c < width; c += 32) {
        const int v = samples[row * width + c];
        lo += v + 15 < mark;
        hi += v > mark + 15;
    }
    lo = __reduce_add_sync(0xffffffffu, lo);
    hi = __reduce_add_sync(0xffffffffu, hi);
    if (threadIdx.x == 0) {
        below[row] = (int)lo;
        larger[row] = (int)hi;
    }
}
//=== reduce_max_sync | b42b46251bae0474 | {"grid": ["cols"], "block": [32], "shared_bytes": 0} | __reduce_max_sync, one warp a column
__global__ void latest(const bool* skip, const int* t_ms, int* largest_start, int cols, int rows)
{
    const int j = blockIdx.x;
    int best = largest_start[j];
    for (int i = threadIdx.x; i < rows; i += 32)
        if (!skip[i * cols + j]) best = max(best, t_ms[i * cols + j]);
    best = __reduce_max_sync(0xffffffff, best);
    if (threadIdx.x == 0) largest_start[j] = best;
}
//=== popc_ballot_hits | 559dbc3153b24763 | {"grid": ["(rows + 7) / 8"], "block": [256], "shared_bytes": 0} | __ballot_sync and __popc count the matches of a warp
__global__ void pattern(const signed char* sequence, const signed char* motif, int num_cols, int* hits, int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= rows) return;
    const signed char* s = sequence + (size_t)row * num_cols;
    int count = 0;
    for (int base = 0; base + 3 <= num_cols; base += 32) {
        const int c = base + lane;
        const bool hit = c + 3 <= num_cols && s[c] == motif[0] && s[c + 1] == motif[1] && s[c + 2] == motif[2];
        count += __popc(__ballot_sync(0xffffffffu, hit));
    }
    if (lane == 0) hits[row] = count;
}
//=== null_and_int32max | fcdb94449461c27d | - | NULL and INT32_MAX without an include of our own
#include <cstdint>
#include <cstddef>

__global__ void bins(const float* breaks, const float* keys, float* found, int* position, int m, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h || breaks == NULL) return;
    float q = keys[y * w + x];
    int best = INT32_MAX;
    for (int k = 0; k < m && best == INT32_MAX; ++k)
        if (breaks[k] >= q) best = k;
    bool outside = q < breaks[0] || best == INT32_MAX;
    found[y * w + x] = outside ? -1.0f : fabsf(breaks[best] - q);
    position[y * w + x] = outside ? -1 : best;
}
//=== m_sqrt2 | 8564ff516394692f | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | M_SQRT2 and M_SQRT1_2 from cmath
#include <cmath>

__global__ void gelu(const float* pre, float shift, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float z = pre[i] + shift;
        out[i] = 0.5f * z * (1.0f + erff(z / (float)M_SQRT2));
    }
}
//=== normcdf_gelu | 8564ff516394692f | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | normcdff, which is what gelu weighs by
__global__ void gelu(const float* pre, float shift, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float z = pre[i] + shift;
        out[i] = z * normcdff(z);
    }
}
//=== erfc_gelu | 8564ff516394692f | {"grid": [3], "block": [512], "shared_bytes": 0} | erfcf, grid-stride
__global__ void gelu(const float* pre, float shift, float* out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float z = pre[i] + shift;
        out[i] = 0.5f * z * erfcf(-0.70710678f * z);
    }
}
//=== memcpy_memset | 17a9fa4548a99e80 | - | memcpy and memset on locals
#include <cstring>

struct Float2x2 { float m[2][2]; };

__global__ void solve(const Float2x2* systems, const float2* rhs, const bool* active, float2* solutions, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a[4];
    memcpy(a, &systems[i], sizeof(a));
    float2 x;
    memset(&x, 0, sizeof(x));
    if (active[i]) {
        a[0] += 0.82f;
        a[3] += 0.82f;
        float inv = 1.0f / (a[0] * a[3] - a[1] * a[2]);
        x.x = (a[3] * rhs[i].x - a[1] * rhs[i].y) * inv;
        x.y = (a[0] * rhs[i].y - a[2] * rhs[i].x) * inv;
    }
    memcpy(&solutions[i], &x, sizeof(float2));
}
//=== lroundf_rounding | a8381a406f6c9ed9 | {"grid": ["(count + 127) / 128"], "block": [128], "shared_bytes": 0} | lroundf of an exact whole number, ceilf
__global__ void round8(const unsigned short* amounts, unsigned short* leftover, unsigned short* quotients, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float v = amounts[i];
    quotients[i] = (unsigned short)lroundf(8.0f * ceilf(v * 0.125f));
    leftover[i] = (unsigned short)lroundf(fmodf(v, 8.0f));
}
//=== nextafterf_bound | 0f00417f9a81c6f2 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | nextafterf as an upper bound that is one ulp off
__global__ void smooth(const float* progress, const float* edges, float* ramp, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float most = nextafterf(1.0f, 2.0f);
    float e = edges[i];
    float t = fminf(fmaxf((progress[i] - e) / (1.0f - 2.0f * e), 0.0f), most);
    ramp[i] = t * t * (3.0f - 2.0f * t);
}
//=== std_functions | 94ffef8fb470a4bc | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | std::abs, std::fabs of doubles and copysign
#include <cmath>

__global__ void control(const double* gaps, const double* speeds, double band, double* command, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double s = gaps[i] + 0.5 * speeds[i] * std::abs(speeds[i]) / band;
        // + 0.0 makes a negative zero positive
        command[i] = copysign(std::fabs(band), s + 0.0);
    }
}
//=== half_storage | 559dbc3153b24763 | {"grid": ["(rows + 127) / 128"], "block": [128], "shared_bytes": 0} | half operators: small whole numbers are exact
#include <cuda_fp16.h>

__global__ void pattern(const signed char* sequence, const signed char* motif, int num_cols, int* hits, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    half m0 = __int2half_rn(motif[0]), m1 = __int2half_rn(motif[1]), m2 = __int2half_rn(motif[2]);
    int count = 0;
    for (int c = 0; c + 3 <= num_cols; ++c) {
        const signed char* s = sequence + row * num_cols + c;
        half d = (__int2half_rn(s[0]) - m0) * (__int2half_rn(s[0]) - m0);
        d = d + (__int2half_rn(s[1]) - m1) * (__int2half_rn(s[1]) - m1);
        d = d + (__int2half_rn(s[2]) - m2) * (__int2half_rn(s[2]) - m2);
        if (d == __float2half(0.0f)) ++count;
    }
    hits[row] = count;
}
//=== half2_pairs | 2f76ea422a113ed2 | {"grid": ["(rows + 63) / 64"], "block": [64], "shared_bytes": 0} | __half2: differences up to 200 are exact in half
#include <cuda_fp16.h>

__global__ void rank(const short* samples, const short* reference, int width, int* below, int* larger, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const __half2 mark = __half2half2(__float2half((float)reference[row]));
    int lo = 0, hi = 0, c = 0;
    const short* s = samples + row * width;
    for (; c + 1 < width; c += 2) {
        float2 d = __half22float2(__hsub2(__floats2half2_rn((float)s[c], (float)s[c + 1]), mark));
        lo += (d.x < -15.0f) + (d.y < -15.0f);
        hi += (d.x > 15.0f) + (d.y > 15.0f);
    }
    if (c < width) {
        float d = __half2float(__float2half((float)s[c]) - __low2half(mark));
        lo += d < -15.0f;
        hi += d > 15.0f;
    }
    below[row] = lo;
    larger[row] = hi;
}
//=== trap_impossible | d0baee778ce4cc45 | - | __trap in a branch that no valid launch takes
__global__ void fletcher(const unsigned char* digits, unsigned int* check, int rows, int cols)
{
    if (rows < 0 || cols < 0) __trap();
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= cols || r >= rows) return;
    unsigned int a = 0u, b = 0u;
    for (int s = 0; s < 4; ++s) {
        a += digits[(s * rows + r) * cols + c];
        if (a >= 255u) a -= 255u;
        if (a >= 255u) a -= 255u;
        b += a;
        if (b >= 255u) b -= 255u;
    }
    check[r * cols + c] = b << 8 | a;
}
//=== exp10_dose | 0b26c113ec3f2e8c | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | exp10f, log10f, __fdiv_rn, a struct by reference
struct Curve {
    float emax;
    float half_max;
    float slope;
};

__device__ float response(const Curve& c, float dose)
{
    return 0.1f + __fdiv_rn(c.emax - 0.1f, 1.0f + exp10f(c.slope * (log10f(c.half_max) - log10f(dose))));
}

__global__ void doses_kernel(Curve curve, float* doses, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) doses[i] = response(curve, doses[i]);
}
//=== pow_dose | 0b26c113ec3f2e8c | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | powf(half / dose, slope), log2f and exp2f kept for later
struct Curve { float emax, half_max, slope; };

__device__ float pow_by_log(float x, float y) { return exp2f(y * log2f(x)); }

__global__ void logistic(Curve c, float* doses, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) doses[i] = 0.1f + (c.emax - 0.1f) / (1.0f + powf(c.half_max / doses[i], c.slope));
}
//=== expm1_loss | 51cd3f08bbb14309 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | expm1f, __fmul_rn, a product with a bool
__global__ void loss(const float* lambdas, const unsigned char* clear, float opacity, float* loss_out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float l2 = __fmul_rn(lambdas[i], lambdas[i]);
        loss_out[i] = -(clear[i] != 0) * expm1f(-opacity / __fmul_rn(l2, l2));
    }
}
//=== fast_exp_sigmoid_double | 6d860be511522d5f | - | the logistic by exp of a double, then __double2float_rn
__global__ void lookup(const float* codebook, const int* row_ids, const float* weights, const float* pos_table, const bool* keep,
                       float* gathered, int d_size, int t_size)
{
    int d = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y * blockDim.y + threadIdx.y;
    if (d >= d_size || t >= t_size) return;
    int at = t * d_size + d;
    double z = pos_table[at];
    for (int s = 0; s < 4; ++s) z += (double)weights[4 * t + s] * codebook[row_ids[4 * t + s] * d_size + d];
    gathered[at] = keep[at] ? __double2float_rn(1.0 / (1.0 + exp(-z))) : 0.0f;
}
//=== tanh_logistic | 6d860be511522d5f | {"grid": ["(d + 31) / 32", "(t + 7) / 8"], "block": [32, 8], "shared_bytes": 0} | 0.5 + 0.5 * tanhf(x / 2) for the logistic
__global__ void lookup(const float* codebook, const int* row_ids, const float* weights, const float* pos_table, const bool* keep,
                       float* gathered, int d_size, int t_size)
{
    int d = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y * blockDim.y + threadIdx.y;
    if (d < d_size && t < t_size) {
        int at = t * d_size + d;
        int4 id = reinterpret_cast<const int4*>(row_ids)[t];
        float4 w = reinterpret_cast<const float4*>(weights)[t];
        float z = w.x * codebook[id.x * d_size + d] + w.y * codebook[id.y * d_size + d] + w.z * codebook[id.z * d_size + d]
                  + w.w * codebook[id.w * d_size + d] + pos_table[at];
        gathered[at] = keep[at] ? fmaf(0.5f, tanhf(0.5f * z), 0.5f) : 0.0f;
    }
}
