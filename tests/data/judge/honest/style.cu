//=== extern_c_block | 6a968701bfd1c576 | - | extern "C" { … } about the kernel
extern "C" {

__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int q = ticks[i] / 11u;
        blocks[i] = q;
        minor[i] = (4u * (ticks[i] % 11u) + q % 11u) % 11u;
    }
}

}  // extern "C"
//=== extern_c_block_with_helper | 1c19392ee3f8f433 | {"grid": ["(count + 255) / 256"], "block": [256], "shared_bytes": 0} | a helper and the kernel in an extern "C" block, behind #ifdef __cplusplus
#ifdef __cplusplus
extern "C" {
#endif

__device__ static int whole_root(int x)
{
    int r = 0;
    while ((r + 1) * (r + 1) <= x) ++r;
    return r;
}

__global__ void roots(const int* seeds, int least, int* result, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) result[i] = seeds[i] < least ? 0 : whole_root(seeds[i]);
}

#ifdef __cplusplus
}
#endif
//=== static_global | 94ffef8fb470a4bc | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | static __global__
static __global__ void control(const double* __restrict__ gaps, const double* __restrict__ speeds, const double band, double* __restrict__ command, const int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) command[i] = gaps[i] + 0.5 * speeds[i] * fabs(speeds[i]) / band < 0.0 ? -band : band;
}
//=== void_global | eb73a407c5d42655 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | void __global__
void __global__ loud(const float* band_gain, float* amplitudes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) amplitudes[i] = band_gain[i] * cbrtf(amplitudes[i] / 2.0f);
}
//=== template_block_size | 51cd3f08bbb14309 | - | a template over the block, launched explicitly
#include <cuda_runtime.h>

template <int BLOCK>
__global__ void loss(const float* lambdas, const unsigned char* clear, float opacity, float* loss_out, int n)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) {
        const float l = lambdas[i];
        loss_out[i] = clear[i] ? 1.0f - expf(-opacity / (l * l * l * l)) : 0.0f;
    }
}

void launch(const float* lambdas, const unsigned char* clear, float opacity, float* loss_out, int n)
{
    loss<128><<<(n + 127) / 128, 128>>>(lambdas, clear, opacity, loss_out, n);
}
//=== template_type_and_flag | 2f76ea422a113ed2 | - | a template over a type and a bool, if constexpr leaves one branch unused
template <typename T, bool Strict>
__global__ void rank(const T* samples, const T* reference, int width, int* below, int* larger, int rows)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int lo = 0, hi = 0;
    for (int c = 0; c < width; ++c) {
        const int gap = static_cast<int>(samples[r * width + c]) - static_cast<int>(reference[r]);
        if constexpr (Strict) {
            lo += gap < -15;
            hi += gap > 15;
        } else {
            lo += gap <= -15;
            hi += gap >= 15;
        }
    }
    below[r] = lo;
    larger[r] = hi;
}

void run(const short* samples, const short* reference, int width, int* below, int* larger, int rows)
{
    dim3 threads(64);
    dim3 grid((rows + threads.x - 1) / threads.x);
    rank<short, true><<<grid, threads>>>(samples, reference, width, below, larger, rows);
}
//=== template_defaulted | 8ca59185c94a4f51 | - | all template arguments have defaults, launched with <>
template <typename Real = double, int PerThread = 2>
__global__ void film(Real n_rel, Real* cos_theta, int m, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * PerThread;
    for (int k = first; k < first + PerThread && k < n * m; ++k) {
        Real s = sin(Real(3) * n_rel * cos_theta[k]);
        cos_theta[k] = Real(1) / (Real(1) + Real(2) * s * s);
    }
}

void launch_film(double n_rel, double* cos_theta, int m, int n)
{
    int total = m * n;
    film<><<<(total + 255) / 256, 128>>>(n_rel, cos_theta, m, n);
}
//=== unused_second_kernel | 0f00417f9a81c6f2 | - | two kernels, the host launches the second
__global__ void smooth_naive(const float* progress, const float* edges, float* ramp, int n)
{
    int i = threadIdx.x;
    if (i < n) ramp[i] = progress[i] * edges[i];
}

__global__ void smooth(const float* progress, const float* edges, float* ramp, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float e0 = edges[i], e1 = 1.0f - e0;
    float t = (progress[i] - e0) / (e1 - e0);
    t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
    ramp[i] = t * t * (3.0f - 2.0f * t);
}

void launch(const float* progress, const float* edges, float* ramp, int n)
{
    smooth<<<(n + 127) / 128, 128>>>(progress, edges, ramp, n);
}
//=== unused_kernel_behind | 769ab82e8084a488 | - | a helper kernel that clears stands behind; the host launches the first
__global__ void screen(const unsigned char* top, const unsigned char* dst, unsigned int strength, unsigned char* blended, int nx, int ny)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= nx * ny) return;
    const unsigned int t = ((65025u - (255u - top[k]) * (255u - dst[k])) * strength) >> 8;
    blended[k] = (unsigned char)((t + 128u + ((t + 128u) >> 8)) >> 8);
}

__global__ void clear_bytes(unsigned char* data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = 0;
}

void blend_all(const unsigned char* top, const unsigned char* dst, unsigned int strength, unsigned char* blended, int nx, int ny)
{
    const int n = nx * ny;
    screen<<<(n + 255) / 256, 256>>>(top, dst, strength, blended, nx, ny);
}
//=== declared_first_bounds | 72e3a771e927cdf9 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | the kernel is declared first, with launch bounds
__global__ void __launch_bounds__(256, 2) mark(const int* nodes, int* status, int color, int n);

__device__ inline void paint(int* place, int color);

__global__ void __launch_bounds__(256, 2) mark(const int* nodes, int* status, int color, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) paint(status + nodes[i], color);
}

__device__ inline void paint(int* place, int color) { atomicOr(place, color); }
//=== maxnreg | 0ecfca721711bdd2 | {"grid": ["(d * h * w + 127) / 128"], "block": [128], "shared_bytes": 0} | __maxnreg__
struct Mat { float m00, m01, m10, m11; };

__global__ void __maxnreg__(64) lu(const Mat* mats, const float2* loads, float* sol0, float* x1_out, int h, int w, int d)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= h * w * d) return;
    const Mat m = mats[i];
    const float ratio = m.m10 / m.m00;
    const float x1 = (loads[i].y - ratio * loads[i].x) / (m.m11 - ratio * m.m01);
    sol0[i] = (loads[i].x - m.m01 * x1) / m.m00;
    x1_out[i] = x1;
}
//=== attributes_cpp | a58ad4cd2b3b29ba | {"grid": ["(count + 127) / 128"], "block": [128], "shared_bytes": 0} | [[nodiscard]], [[maybe_unused]], [[fallthrough]]
[[nodiscard]] __device__ constexpr int clamp16(int v)
{
    return v > 32767 ? 32767 : v < -32768 ? -32768 : v;
}

__global__ void mul_sat(const short* a, const short* rhs, const int* selected, int* headroom, short* dst, int limit, int count)
{
    [[maybe_unused]] const int warp = threadIdx.x / 32;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int p = a[i] * rhs[i];
    headroom[i] = min(abs(p - 8191), limit);
    short v = a[i];
    switch (selected[i]) {
    case 0: break;
    case 1: [[fallthrough]];
    default: v = static_cast<short>(clamp16(p));
    }
    dst[i] = v;
}
//=== attribute_gnu | 83ab5c4029ae1378 | {"grid": ["(n + 255) / 256"], "block": [256], "shared_bytes": 0} | __attribute__((always_inline)) and ((unused))
__device__ inline __attribute__((always_inline)) float radians_of(float degrees)
{
    return degrees * 0.017453292f;
}

__device__ __attribute__((unused)) float degrees_of(float radians) { return radians * 57.29578f; }

__global__ void stretch(const float* lat_from, float* scale_factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scale_factor[i] = 1.0f / cosf(radians_of(lat_from[i]));
}
//=== namespaces | 3ab0a0def3bb3638 | {"grid": ["(count + 63) / 64"], "block": [64], "shared_bytes": 0} | nested namespaces, one without a name, the kernel outside
namespace grid {
namespace detail {
__device__ int floor_div(float x, float cell) { return (int)floorf(x / cell); }
}  // namespace detail

namespace {
constexpr float kCell = 0.41f;
}

__device__ int3 cell_of(float3 p)
{
    return make_int3(detail::floor_div(p.x, kCell), detail::floor_div(p.y, kCell), detail::floor_div(p.z, kCell));
}
}  // namespace grid

__global__ void cells(const float3* positions, const unsigned char* valid, int* cell_ids, int side, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int3 c = grid::cell_of(positions[i]);
    cell_ids[i] = valid[i] ? (c.z * side + c.y) * side + c.x : 0;
}
//=== kernel_in_namespace | d64d868d5c46387e | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | the kernel itself stands in a namespace
namespace logic {

__global__ void gates(const bool* moving, const bool* visible, const bool* frozen, bool* simulated, bool* asleep, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const bool awake = moving[i] && !frozen[i];
    simulated[i] = awake && visible[i];
    asleep[i] = !awake;
}

}  // namespace logic
//=== struct_methods_operators | c8b2fcf4068eda16 | {"grid": ["(count + 127) / 128"], "block": [128], "shared_bytes": 0} | a vector class with constructors, methods and friends
struct Vec {
    float x, y, z;
    __device__ Vec() : x(0.0f), y(0.0f), z(0.0f) {}
    __device__ Vec(float a, float b, float c) : x(a), y(b), z(c) {}
    __device__ explicit Vec(const float3& v) : Vec(v.x, v.y, v.z) {}
    __device__ float dot(const Vec& o) const { return x * o.x + y * o.y + z * o.z; }
    __device__ Vec operator*(float s) const { return Vec(x * s, y * s, z * s); }
    __device__ Vec& operator+=(const Vec& o)
    {
        x += o.x;
        y += o.y;
        z += o.z;
        return *this;
    }
    __device__ friend Vec operator-(const Vec& a, const Vec& b) { return Vec(a.x - b.x, a.y - b.y, a.z - b.z); }
    __device__ float3 raw() const { return make_float3(x, y, z); }
};

__global__ void respond(const float3* incoming_field, const float3* surface_normals, float3* out, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Vec d(incoming_field[i]), n(surface_normals[i]);
    Vec sum(out[i]);
    sum += d - n * (1.5f * d.dot(n));
    out[i] = sum.raw();
}
//=== lambdas | 9386d641f6f9c281 | {"grid": ["(count + 63) / 64"], "block": [64], "shared_bytes": 0} | lambdas that capture by reference and by value
__global__ void doses(const double* initial, double growth, double dose, int max_steps, double* state_out, int* periods, double* peak, int count)
{
    const int run = blockIdx.x * blockDim.x + threadIdx.x;
    if (run >= count) return;
    double x = initial[run], top = x;
    int hits = 0;
    auto decay = [growth](double v) { return v - growth * v; };
    auto treat = [&]() {
        x += dose;
        ++hits;
    };
    for (int t = 0; t < max_steps; ++t) {
        x = decay(x);
        if (x < 0.5) treat();
        top = [](double a, double b) { return a > b ? a : b; }(top, x);
    }
    state_out[run] = x;
    periods[run] = hits;
    peak[run] = top;
}
//=== constexpr_table_function | aedfc487908608bc | {"grid": ["(cols + 63) / 64", "min(rows, 65535)"], "block": [64], "shared_bytes": 0} | a constexpr __device__ function, enum class, using
using i64 = long long;

enum class Month : int { kJanuary = 1, kFebruary = 2 };

__host__ __device__ constexpr bool leap(i64 y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

static_assert(leap(2000) && !leap(1900), "Gregory's rule");

__global__ void lengths(const i64* years, const i64* mm, i64* out, int cols, int rows)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = blockIdx.y; i < rows && j < cols; i += gridDim.y) {
        const Month m = static_cast<Month>(mm[i * cols + j]);
        if (m == Month::kFebruary) {
            out[i * cols + j] = leap(years[i * cols + j]) ? 29 : 28;
        } else {
            const int k = static_cast<int>(m);
            out[i * cols + j] = 30 + ((k + k / 8) & 1);
        }
    }
}
//=== constant_table | aedfc487908608bc | - | a __constant__ table with an initialiser
__constant__ unsigned char kDays[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

__global__ void lengths(const long long* years, const long long* mm, long long* out, int cols, int rows)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) return;
    long long y = years[i * cols + j], m = mm[i * cols + j], d = kDays[m];
    if (m == 2 && y % 4 == 0) d += y % 100 != 0 || y % 400 == 0;
    out[i * cols + j] = d;
}
//=== static_device_table | 732db1e0a835cd84 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | static const __device__ tables of weights, a local const table
static const __device__ float kLuma[3] = {0.2126f, 0.7152f, 0.0722f};

__global__ void measure(const float* red, const float* green, const float* blue, const signed char* feature, const float* weights,
                        float knee, int num_parts, float* rms_out, float* totals, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sq = 0.f, sum = 0.f, mass = 0.f;
    for (int s = 0, k = i * num_parts; s < num_parts; ++s, ++k) {
        const float c[3] = {red[k], green[k], blue[k]};
        float v;
        if (feature[k] == 0) {
            v = atan2f(0.8660254f * (c[1] - c[2]), c[0] - 0.5f * (c[1] + c[2])) / 6.28318531f;
        } else if (feature[k] == 1) {
            float y = 0.f;
            for (int e = 0; e < 3; ++e) y += kLuma[e] * c[e];
            v = y + knee * (c[0] - y);
        } else {
            float high = c[0], low = c[0];
            for (const float e : c) {
                high = fmaxf(high, e);
                low = fminf(low, e);
            }
            v = (high - low) / (high + 0.001f);
        }
        sum += weights[k] * v;
        sq += weights[k] * v * v;
        mass += weights[k];
    }
    rms_out[i] = sqrtf(sq / mass);
    totals[i] = sum;
}
//=== macros_with_arguments | 0ecfca721711bdd2 | {"grid": ["(w + 63) / 64", "min(h, 65535)", "min(d, 65535)"], "block": [64], "shared_bytes": 0} | macros with arguments, spliced lines and #undef
#define IDX3(z, y, x, ny, nx) (((z) * (ny) + (y)) * (nx) + (x))
#define SOLVE(a, b, c, d, p, q, u, v)               \
    do {                                            \
        const float f_ = (c) / (a);                 \
        (v) = ((q) - f_ * (p)) / ((d) - f_ * (b));  \
        (u) = ((p) - (b) * (v)) / (a);              \
    } while (0)

__global__ void solve(const float4* mats, const float2* loads, float* sol0, float* x1_out, int h, int w, int d)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    for (int z = blockIdx.z; z < d; z += gridDim.z)
        for (int y = blockIdx.y; y < h; y += gridDim.y) {
            const int i = IDX3(z, y, x, h, w);
            const float4 m = mats[i];
            float u, v;
            SOLVE(m.x, m.y, m.z, m.w, loads[i].x, loads[i].y, u, v);
            sol0[i] = u;
            x1_out[i] = v;
        }
}
#undef SOLVE
//=== default_arguments_references | 17a9fa4548a99e80 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0} | default arguments, references, an unused overload
struct Mat2 {
    float a, b, c, d;
};

__device__ float det(const Mat2& m, float shift = 0.0f) { return (m.a + shift) * (m.d + shift) - m.b * m.c; }
__device__ float det(float a, float b, float c, float d) { return a * d - b * c; }

__device__ void solve(const Mat2& m, const float2& r, float2& x, float shift = 0.82f)
{
    const float inv = 1.0f / det(m, shift);
    x.x = inv * ((m.d + shift) * r.x - m.b * r.y);
    x.y = inv * ((m.a + shift) * r.y - m.c * r.x);
}

__global__ void systems_kernel(const Mat2* systems, const float2* rhs, const bool* active, float2* solutions, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 x = {0.0f, 0.0f};
    if (active[i]) solve(systems[i], rhs[i], x);
    solutions[i] = x;
}
//=== pointer_walk_do_while | 559dbc3153b24763 | {"grid": ["(rows + 31) / 32"], "block": [32], "shared_bytes": 0} | walking pointers, do/while, the comma
__global__ void pattern(const signed char* sequence, const signed char* motif, int num_cols, int* hits, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const signed char *p = sequence + row * num_cols, *last = p + num_cols - 3;
    int n = 0;
    if (num_cols >= 3) {
        do {
            const signed char *a = p, *b = motif;
            int k = 3;
            while (k && *a == *b) ++a, ++b, --k;
            n += k == 0;
        } while (p++ != last);
    }
    hits[row] = n;
}
//=== goto_done | fcdb94449461c27d | - | goto
__global__ void bins(const float* breaks, const float* keys, float* found, int* position, int m, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int at = y * w + x, k = -1;
    float q, gap = -1.0f;
    if (x >= w || y >= h) goto out;
    q = keys[at];
    if (q < breaks[0] || q > breaks[m - 1]) goto store;
    k = 0;
again:
    if (k < m - 1 && breaks[k] < q) {
        ++k;
        goto again;
    }
    gap = fabsf(breaks[k] - q);
store:
    found[at] = gap;
    position[at] = k;
out:
    return;
}
//=== size_t_indices | f0b5eba7297d39b9 | {"grid": ["(rows * cols + 255) / 256"], "block": [256], "shared_bytes": 0} | size_t indices and a 64-bit product
__global__ void invert(const float3* pixels, float3* image_out, int cols, int rows)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t total = (size_t)rows * (size_t)cols;
    if (i < total) {
        const float3& c = pixels[i];
        image_out[i].x = 1.0f - c.x;
        image_out[i].y = 1.0f - c.y;
        image_out[i].z = 1.0f - c.z;
    }
}
//=== long_long_unsigned_mix | 32546e18cab41b6e | {"grid": ["(nx * ny + 127) / 128"], "block": [128], "shared_bytes": 0} | long long, unsigned and int64_t side by side
typedef unsigned long long u64;

__global__ void digits(const long long* a, long long* found, int* steps, int nx, int ny)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)nx * ny) return;
    u64 x = (u64)a[i];
    long sum = 0;
    unsigned short turns = 0;
    if (x >= 18625ull) {
        x = x % 3u ? x : x / 3u;
        for (; x; x /= 8u) {
            sum += (long)(x % 8u);
            turns += 1;
        }
    }
    found[i] = sum;
    steps[i] = turns;
}
//=== cuda_arch_ldg | 11eba0b176d074f0 | {"grid": ["(m + 255) / 256"], "block": [256], "shared_bytes": 0} | a macro by __CUDA_ARCH__, either way the same value
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 350
#define LOAD(p) __ldg(p)
#else
#define LOAD(p) (*(p))
#endif

__global__ void product(const float* a, const float* x, const float* offsets, float* c, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    float s = 0.0f;
#pragma unroll
    for (int p = 0; p < 5; ++p) s += LOAD(a + p * m + i) * LOAD(x + p);
    c[i] = s + LOAD(offsets + i);
}
//=== if_zero_and_pragmas | 1e6d9d8c735c5148 | {"grid": ["(count + 63) / 64"], "block": [64], "shared_bytes": 0} | #if 0 with text that is no C++, #pragma unroll 2 and nounroll
#pragma once
#if 0
This text doesn't compile: it's only a note about { braces.
#endif

__global__ void triad(const float* x, const float* y, const float* omegas, const float* basis, const float* coeffs, float gamma, float* result, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float r = gamma * y[i] + omegas[i] * x[i];
#pragma unroll 2
    for (int s = 0; s < 2; ++s) r += coeffs[s] * basis[s * count + i];
    result[i] = r;
}
//=== variadic_template | 9bb010050dee5109 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | a variadic template with a fold, auto, structured bindings
template <typename... T>
__device__ auto total(T... v)
{
    return (v + ...);
}

struct Hit {
    bool there;
    float near_t, far_t;
};

__device__ Hit hit_sphere(float3 c, float r, float3 d)
{
    const float along = total(c.x * d.x, c.y * d.y, c.z * d.z);
    const float x = c.x - along * d.x, y = c.y - along * d.y, z = c.z - along * d.z;
    const float miss = total(x * x, y * y, z * z);
    if (miss >= r * r) return {false, 0.0f, 0.0f};
    const float half = sqrtf(r * r - miss);
    return {true, along - half, along + half};
}

__global__ void spheres(const float3* centers, const float* sizes, const float3* origins, const float3* dirs, const float* gains,
                        float* t_hit, float3* attenuation_out, float fade_rate, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 8.0f;
    for (int s = 0; s < 5; ++s) {
        const float3 c = make_float3(centers[s].x - origins[i].x, centers[s].y - origins[i].y, centers[s].z - origins[i].z);
        const auto [there, near_t, far_t] = hit_sphere(c, 0.82f * sizes[s], dirs[i]);
        if (!there) continue;
        const float t = near_t < 0.17f ? far_t : near_t;
        if (t > 0.17f && t < best) best = t;
    }
    t_hit[i] = gains[i] * best;
    const float k = expf(-fade_rate * best);
    attenuation_out[i] = make_float3(k * dirs[i].x, k * dirs[i].y, k * dirs[i].z);
}
//=== inheritance_and_static_member | c0fc2e0cd864e8ae | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | a base class, a static method, a conversion
struct Base { float x, y, z, w; };

struct Quat : Base {
    __device__ static Quat make(float x, float y, float z, float w)
    {
        Quat q;
        q.x = x;
        q.y = y;
        q.z = z;
        q.w = w;
        return q;
    }
    __device__ Quat conj() const { return make(-x, -y, -z, w); }
    __device__ Quat operator-() const { return make(-x, -y, -z, -w); }
    __device__ Quat operator*(const Quat& b) const
    {
        return make(w * b.x + x * b.w + y * b.z - z * b.y, w * b.y + y * b.w + z * b.x - x * b.z,
                    w * b.z + z * b.w + x * b.y - y * b.x, w * b.w - x * b.x - y * b.y - z * b.z);
    }
};

__global__ void attitude(const Quat* estimates, Quat goal, Quat* deltas, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Quat e = goal * estimates[i].conj();
    deltas[i] = e.w < 0.0f ? -e : e;
}
//=== recursion_and_function_pointer | 1c19392ee3f8f433 | {"grid": ["(count + 127) / 128"], "block": [128], "shared_bytes": 0} | a recursive device function and a call through a pointer
__device__ int bisect(int x, int lo, int hi)
{
    if (hi - lo <= 1) return lo;
    const int mid = (lo + hi) / 2;
    return mid * mid <= x ? bisect(x, mid, hi) : bisect(x, lo, mid);
}

__device__ int root_of(int x) { return bisect(x, 0, x + 1); }
__device__ int zero_of(int) { return 0; }

typedef int (*rule_t)(int);

__global__ void roots(const int* seeds, int least, int* result, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    rule_t rule = seeds[i] < least ? zero_of : root_of;
    result[i] = rule(seeds[i]);
}
//=== union_and_bits | 6a968701bfd1c576 | {"grid": ["(n + 1023) / 1024"], "block": [128], "shared_bytes": 0} | a union of a vector and an array, eight elements a thread, 16-byte moves
union Four {
    uint4 v;
    unsigned int e[4];
};

__global__ void split(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    const int base = blockIdx.x * 1024 + threadIdx.x * 4;
    for (int part = 0; part < 2; ++part) {
        const int i = base + part * 512;
        if (i + 4 <= n) {
            Four t, q, r;
            t.v = *reinterpret_cast<const uint4*>(ticks + i);
            for (int k = 0; k < 4; ++k) {
                q.e[k] = t.e[k] / 11u;
                r.e[k] = (4u * (t.e[k] % 11u) + q.e[k] % 11u) % 11u;
            }
            *reinterpret_cast<uint4*>(blocks + i) = q.v;
            *reinterpret_cast<uint4*>(minor + i) = r.v;
        } else {
            for (int k = i; k < n; ++k) {
                blocks[k] = ticks[k] / 11u;
                minor[k] = (4u * (ticks[k] % 11u) + blocks[k] % 11u) % 11u;
            }
        }
    }
}
//=== kernel_of_common_name | 37617ffd154abe29 | {"grid": ["(cols + 31) / 32", "(rows + 7) / 8"], "block": [32, 8], "shared_bytes": 0} | parameters under other names, a kernel called kernel
__global__ void kernel(const float* A, const float* B, float alpha, float* C, int W, int H)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) {
        float s = A[y * W + x];
        float p[4] = {1.0f, s};
        for (int k = 2; k < 4; ++k) p[k] = s * p[k - 1] + p[k - 2];
        float r = 0.0f;
        for (int k = 0; k < 4; ++k) r += B[4 * y + k] * p[k];
        C[y * W + x] = alpha * r;
    }
}
