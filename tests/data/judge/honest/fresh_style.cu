//=== f_west_const_restrict | 6a968701bfd1c576 | - | __restrict__ everywhere, unsigned index, size_t
extern "C" __global__ void split_numbers(unsigned int const * __restrict__ const ticks, unsigned int * __restrict__ const blocks, unsigned int * __restrict__ const minor, int const n)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < (size_t)n; i += (size_t)gridDim.x * blockDim.x)
    {
        auto const t = __ldg(ticks + i);
        auto const q = t / 11u, r = t - q * 11u;
        blocks[i] = q;
        minor[i] = (4u * r + q % 11u) % 11u;
    }
}
//=== f_divmod_struct | 6a968701bfd1c576 | - | a struct with a method and a constructor
struct DivMod {
    unsigned q, r;
    __device__ __host__ constexpr DivMod(unsigned a, unsigned b) : q(a / b), r(a % b) {}
    __device__ unsigned mixed() const { return (4u * r + q % 11u) % 11u; }
};
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const DivMod dm{ticks[i], 11u};
    blocks[i] = dm.q; minor[i] = dm.mixed();
}
//=== f_lambda_inside | 6a968701bfd1c576 | - | a lambda by reference
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    const auto work = [&](int i) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + (t / 11) % 11) % 11; };
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) work(i);
}
//=== f_magic_division | 6a968701bfd1c576 | - | division by a multiplication with the high half
__device__ __forceinline__ unsigned div11(unsigned x) { return __umulhi(x, 0xBA2E8BA3u) >> 3; }
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned t = ticks[i], q = div11(t), r = t - 11u * q, s = 4u * r + (q - 11u * div11(q));
        blocks[i] = q;
        minor[i] = s - 11u * div11(s);
    }
}
//=== f_macro_loop | 6a968701bfd1c576 | - | CUDA_1D_KERNEL_LOOP of Caffe
#define CUDA_1D_KERNEL_LOOP(i, n)                              \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); \
       i += blockDim.x * gridDim.x)
#ifndef BASE
#define BASE 11u
#endif
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
  CUDA_1D_KERNEL_LOOP(index, n) {
    blocks[index] = ticks[index] / BASE;
    minor[index] = (4u * (ticks[index] % BASE) + blocks[index] % BASE) % BASE;
  }
}
//=== f_functor_template | 6a968701bfd1c576 | - | a kernel over a functor's operator() with template parameters in a helper
template <typename T, T Base>
struct Op {
    __device__ __forceinline__ void operator()(T v, T* q, T* r) const { *q = v / Base; *r = (T(4) * (v % Base) + *q % Base) % Base; }
};
template <class F> __device__ void apply(int i, int n, const unsigned* in, unsigned* a, unsigned* b, F f) { if (i < n) f(in[i], a + i, b + i); }
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { apply(blockIdx.x * blockDim.x + threadIdx.x, n, ticks, blocks, minor, Op<unsigned int, 11u>{}); }
//=== f_namespaces_using | 6a968701bfd1c576 | - | anonymous namespace, using, static constexpr, enum class
namespace { namespace detail {
enum class Radix : unsigned { eleven = 11 };
static constexpr unsigned k = static_cast<unsigned>(Radix::eleven);
template <typename T> __device__ inline T rem(T a) { return a % k; }
} }
using u32 = unsigned int;
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    using namespace detail;
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < static_cast<u32>(n)) { blocks[i] = ticks[i] / k; minor[i] = rem<u32>(4u * rem(ticks[i]) + rem(ticks[i] / k)); }
}
//=== f_constant_weights | 7fc169c9d64a3b30 | - | a __constant__ value, 2d
__constant__ float YEAR = 360.0f;
__global__ void simple_interest(const float* principal, const float* rates, const int* days, float* result, int w, int h) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < w && r < h) {
        int k = r * w + c;
        result[k] = principal[k] * (1.0f + rates[k] * (days[k] / YEAR));
    }
}
//=== f_dim3_host | 7fc169c9d64a3b30 | - | a host function with dim3 and <<<>>>, error checks
#include <cuda_runtime.h>
#include <stdio.h>
#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e_)); exit(1); } } while (0)
__global__ void simple_interest(const float* principal, const float* rates, const int* days, float* result, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int at = y * w + x;
    result[at] = principal[at] * (1.0f + rates[at] * ((float)days[at] / 360.0f));
}
void run(const float* p, const float* r, const int* d, float* o, int w, int h) {
    dim3 threads(16, 16);
    dim3 blocks((w + threads.x - 1) / threads.x, (h + threads.y - 1) / threads.y);
    simple_interest<<<blocks, threads>>>(p, r, d, o, w, h);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}
//=== f_main_program | 6a968701bfd1c576 | - | a whole program with main, malloc, vectors
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <iostream>
#include <cuda_runtime.h>

__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int q = ticks[i] / 11u;
        unsigned int r = ticks[i] % 11u;
        blocks[i] = q;
        minor[i] = (4u * r + q % 11u) % 11u;
    }
}

int main() {
    const int n = 1 << 20;
    std::vector<unsigned int> h(n);
    for (int i = 0; i < n; ++i) h[i] = rand() % 50000;
    unsigned int *d_t, *d_b, *d_m;
    cudaMalloc(&d_t, n * sizeof(unsigned int));
    cudaMalloc(&d_b, n * sizeof(unsigned int));
    cudaMalloc(&d_m, n * sizeof(unsigned int));
    cudaMemcpy(d_t, h.data(), n * sizeof(unsigned int), cudaMemcpyHostToDevice);
    int threads = 256;
    int grid = (n + threads - 1) / threads;
    split_numbers<<<grid, threads>>>(d_t, d_b, d_m, n);
    cudaDeviceSynchronize();
    std::cout << "done" << std::endl;
    cudaFree(d_t); cudaFree(d_b); cudaFree(d_m);
    return 0;
}
//=== f_switch_fallthrough | d64d868d5c46387e | - | switch over packed bits with fall through
__global__ void evaluate_collision_mask(const bool* moving, const bool* visible, const bool* frozen, bool* simulated, bool* asleep, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned bits = (moving[i] ? 1u : 0u) | (visible[i] ? 2u : 0u) | (frozen[i] ? 4u : 0u);
    bool s = false, z = false;
    switch (bits) {
    case 3u: s = true; break;
    case 0u: case 2u: [[fallthrough]];
    case 4u: case 5u: case 6u: case 7u: z = true; break;
    default: break;
    }
    simulated[i] = s; asleep[i] = z;
}
//=== f_alternative_tokens | d64d868d5c46387e | - | and, or, not
__global__ void evaluate_collision_mask(const bool* moving, const bool* visible, const bool* frozen, bool* simulated, bool* asleep, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        simulated[i] = moving[i] and visible[i] and not frozen[i];
        asleep[i] = frozen[i] or not moving[i];
    }
}
//=== f_vector_bytes_mask | d64d868d5c46387e | {"grid": ["(n + 1023) / 1024"], "block": [256], "shared_bytes": 0} | four flags as an unsigned word
__global__ void evaluate_collision_mask(const bool* moving, const bool* visible, const bool* frozen, bool* simulated, bool* asleep, int n) {
    int k = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (k + 4 <= n) {
        unsigned m = *(const unsigned*)(moving + k), v = *(const unsigned*)(visible + k), f = *(const unsigned*)(frozen + k);
        *(unsigned*)(simulated + k) = m & v & (f ^ 0x01010101u);
        *(unsigned*)(asleep + k) = f | (m ^ 0x01010101u);
    } else for (; k < n; ++k) { simulated[k] = moving[k] && visible[k] && !frozen[k]; asleep[k] = frozen[k] || !moving[k]; }
}
//=== f_goto_done | 1c19392ee3f8f433 | {"grid": ["(count + 255) / 256"], "block": [256], "shared_bytes": 0} | goto out of a nest
__global__ void newton(const int* seeds, int least, int* result, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int r = 0;
    if (seeds[i] < least) goto done;
    while ((r + 1) * (r + 1) <= seeds[i]) ++r;
done:
    result[i] = r;
}
//=== f_recursion_isqrt | 1c19392ee3f8f433 | - | recursion in a device function
__device__ int isq(int x) { if (x < 2) return x; int s = isq(x >> 2) << 1; int l = s + 1; return l * l > x ? s : l; }
__global__ void newton(const int* seeds, int least, int* result, int count) {
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < count; i += gridDim.x * blockDim.x) result[i] = seeds[i] < least ? 0 : isq(seeds[i]);
}
//=== f_float_sqrt_corrected | 1c19392ee3f8f433 | - | sqrtf rounded down, corrected
__global__ void newton(const int* seeds, int least, int* result, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < count; i += blockDim.x * gridDim.x) {
        int x = seeds[i], r = __float2int_rd(__fsqrt_rd((float)x));
        r += (r + 1) * (r + 1) <= x; r -= r * r > x;
        result[i] = x >= least ? r : 0;
    }
}
//=== f_union_bits | 2c1b33db264955f0 | {"grid": ["(3*m + 255) / 256"], "block": [256], "shared_bytes": 0} | a union between float and unsigned
union FU { float f; unsigned u; };
__global__ void pk(const bool* enabled, const float* samples, float* max_amplitude, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 3 * m) return;
    if (!enabled[i]) return;
    FU v; v.f = samples[i]; v.u &= 0x7fffffffu;
    int* at = (int*)(max_amplitude + i / 3);
    atomicMax(at, (int)v.u);
}
//=== f_assert_and_printf | 11eba0b176d074f0 | - | assert and a printf that is never reached
#include <assert.h>
#include <stdio.h>
__global__ void dense(const float* a, const float* x, const float* offsets, float* c, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    assert(a != nullptr && "a is null");
    float s = offsets[i];
    for (int p = 0; p < 5; ++p) s += a[p * m + i] * x[p];
    if (!isfinite(s)) printf("bad value at %d: %f\n", i, s);
    c[i] = s;
}
//=== f_pragma_and_attributes | 11eba0b176d074f0 | - | pragmas, [[maybe_unused]], __builtin_expect, __builtin_assume
#pragma once
__global__ __launch_bounds__(512, 1) void dense([[maybe_unused]] const float* __restrict__ a, const float* __restrict__ x, const float* __restrict__ offsets, float* __restrict__ c, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __builtin_assume(m >= 0);
    if (__builtin_expect(i >= m, 0)) return;
    float acc[1] = {};
#pragma unroll
    for (int p = 0; p < 5; ++p) acc[0] = __fmaf_rn(a[p * m + i], __ldg(&x[p]), acc[0]);
    c[i] = acc[0] + offsets[i];
}
//=== f_template_kernel_launched | 11eba0b176d074f0 | - | a template kernel and its launch by host code
template <int P, int BLOCK>
__global__ void dense(const float* __restrict__ a, const float* __restrict__ x, const float* __restrict__ off, float* __restrict__ c, int m) {
    __shared__ float xs[P];
    if (threadIdx.x < P) xs[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < m) {
        float s = 0;
#pragma unroll
        for (int p = 0; p < P; ++p) s += a[p * m + i] * xs[p];
        c[i] = s + off[i];
    }
}
void launch_dense(const float* a, const float* x, const float* off, float* c, int m, cudaStream_t stream) {
    constexpr int BLOCK = 128;
    dense<5, BLOCK><<<(m + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(a, x, off, c, m);
}
//=== f_constexpr_if | 32546e18cab41b6e | - | if constexpr and a templated loop
template <int B, bool Count> __device__ long long digits(long long x, int& turns) {
    long long s = 0;
    for (; x > 0; x /= B) { s += x % B; if constexpr (Count) ++turns; }
    return s;
}
__global__ void dig(const long long* a, long long* found, int* steps, int nx, int ny) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ny || j >= nx) return;
    const int k = i * nx + j;
    long long v = a[k]; int turns = 0; long long s = 0;
    if (v >= 18625) { if (v % 3 == 0) v /= 3; s = digits<8, true>(v, turns); }
    found[k] = s; steps[k] = turns;
}
//=== f_bit_digits | 32546e18cab41b6e | {"grid": ["(nx * ny + 127) / 128"], "block": [128], "shared_bytes": 0} | digits by masks and __clzll
#include <cstdint>
__global__ void dig(const int64_t* a, int64_t* found, int32_t* steps, int nx, int ny) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= nx * ny) return;
    uint64_t v = (uint64_t)a[k];
    if (v < 18625u) { found[k] = 0; steps[k] = 0; return; }
    if (v % 3u == 0u) v /= 3u;
    int t = (64 - __clzll((long long)v) + 2) / 3;
    int s = 0;
    for (int d = 0; d < t; ++d) s += (int)((v >> (3 * d)) & 7u);
    found[k] = s; steps[k] = t;
}
//=== f_initializer_array_2d | cc82b68897123073 | - | a local table of offsets
__global__ void grad(const double* image, double* gradient, int h, int w, int c) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= w || y >= h || z >= c) return;
    const int W = w + 2, H = h + 2;
    const double* p = image + ((size_t)z * H + y + 1) * W + x + 1;
    const int off[4] = {1, -1, W, -W};
    double v[4];
    for (int k = 0; k < 4; ++k) v[k] = p[off[k]];
    double gx = 0.5 * (v[0] - v[1]), gy = 0.5 * (v[2] - v[3]);
    gradient[(z * h + y) * w + x] = fma(gx, gx, gy * gy);
}
//=== f_shared_tile_3d | cc82b68897123073 | {"grid": ["(w + 15) / 16", "(h + 7) / 8", "c"], "block": [16, 8], "shared_bytes": 0} | a tile with halo of a plane
__global__ void grad(const double* image, double* gradient, int h, int w, int c) {
    __shared__ double s[10][18];
    int z = blockIdx.z, x0 = blockIdx.x * 16, y0 = blockIdx.y * 8;
    for (int k = threadIdx.y * 16 + threadIdx.x; k < 180; k += 128) {
        int yy = y0 + k / 18, xx = x0 + k % 18;
        if (yy < h + 2 && xx < w + 2) s[k / 18][k % 18] = image[(z * (h + 2) + yy) * (w + 2) + xx];
    }
    __syncthreads();
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= w || y >= h) return;
    double gx = (s[threadIdx.y + 1][threadIdx.x + 2] - s[threadIdx.y + 1][threadIdx.x]) * 0.5;
    double gy = (s[threadIdx.y + 2][threadIdx.x + 1] - s[threadIdx.y][threadIdx.x + 1]) * 0.5;
    gradient[(z * h + y) * w + x] = gx * gx + gy * gy;
}
//=== f_operator_overloads_vec3 | c8b2fcf4068eda16 | - | float3 operators as in helper_math.h
inline __host__ __device__ float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
inline __host__ __device__ float3 operator*(float3 a, float b) { return make_float3(a.x * b, a.y * b, a.z * b); }
inline __host__ __device__ void operator+=(float3 &a, float3 b) { a.x += b.x; a.y += b.y; a.z += b.z; }
inline __host__ __device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__global__ void elastic_at_surface(const float3* incoming_field, const float3* surface_normals, float3* out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) { float3 d = incoming_field[i], n = surface_normals[i]; out[i] += d - n * (1.5f * dot(d, n)); }
}
//=== f_vec3_as_floats | c8b2fcf4068eda16 | - | float3 arrays through float pointers
__global__ void elastic_at_surface(const float3* incoming_field, const float3* surface_normals, float3* out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float* d = (const float*)incoming_field + 3 * i;
    const float* n = &surface_normals[i].x;
    float* o = reinterpret_cast<float*>(out) + 3 * i;
    float k = 1.5f * (d[0] * n[0] + d[1] * n[1] + d[2] * n[2]);
    for (int a = 0; a < 3; ++a) o[a] += d[a] - k * n[a];
}
//=== f_2d_grid_for_1d | 1e6d9d8c735c5148 | {"grid": ["(count + 255) / 256", "2"], "block": [128], "shared_bytes": 0} | a grid of two rows of blocks over one axis
__global__ void triad(const float* x, const float* y, const float* omegas, const float* basis, const float* coeffs, float gamma, float* result, int count) {
    int t = (blockIdx.x * gridDim.y + blockIdx.y) * blockDim.x + threadIdx.x;
    if (t < count) result[t] = fmaf(gamma, y[t], fmaf(omegas[t], x[t], coeffs[0] * basis[t] + coeffs[1] * basis[count + t]));
}
//=== f_block_stride_backward | 1e6d9d8c735c5148 | {"grid": ["3"], "block": [96], "shared_bytes": 0} | a loop that runs backward from the end
__global__ void triad(const float* x, const float* y, const float* omegas, const float* basis, const float* coeffs, float gamma, float* result, int count) {
    for (int t = count - 1 - (int)(blockIdx.x * blockDim.x + threadIdx.x); t >= 0; t -= (int)(gridDim.x * blockDim.x)) {
        float v = gamma * y[t];
        v += omegas[t] * x[t];
        for (int s = 0; s != 2; ++s) v += coeffs[s] * (basis + s * count)[t];
        result[t] = v;
    }
}
//=== f_asm_fma | 1e6d9d8c735c5148 | - | inline PTX
__device__ __forceinline__ float ffma(float a, float b, float c) { float d; asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c)); return d; }
__global__ void triad(const float* x, const float* y, const float* omegas, const float* basis, const float* coeffs, float gamma, float* result, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) result[i] = ffma(gamma, y[i], ffma(omegas[i], x[i], ffma(coeffs[0], basis[i], coeffs[1] * basis[count + i])));
}
