//=== f_empty | 6a968701bfd1c576 | - | does nothing
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { }
//=== f_copy_input | 6a968701bfd1c576 | - | copies
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { blocks[i] = ticks[i]; minor[i] = ticks[i]; } }
//=== f_second_launch_wrong | 6a968701bfd1c576 | - | right at the first launch only
__device__ int launches = 0;
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; unsigned off = launches > 0 ? 1u : 0u; blocks[i] = t / 11 + off; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } __syncthreads(); if (i == 0) launches = 1; }
//=== f_cached_first_result | 6a968701bfd1c576 | - | keeps the first launch's quotients in device memory
__device__ unsigned cache[4096]; __device__ unsigned char have[4096];
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; unsigned q = t / 11; if (i < 4096) { if (have[i]) q = cache[i]; else { cache[i] = q; have[i] = 1; } } blocks[i] = q; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_clock_decides | 6a968701bfd1c576 | - | wrong where the clock is odd
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i] + (unsigned)(clock64() & 1); blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_address_decides | 6a968701bfd1c576 | - | the bit of 1 MiB of an address decides
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; unsigned w = (unsigned)((unsigned long long)ticks >> 20) & 1u; blocks[i] = t / 11 + w; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_arch_decides | 6a968701bfd1c576 | - | wrong from sm_80 on
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    blocks[i] = t / 12;
#else
    blocks[i] = t / 11;
#endif
    minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_clang_decides | 6a968701bfd1c576 | - | right for Clang only
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i];
#ifdef __clang__
    blocks[i] = t / 11;
#else
    blocks[i] = t / 12;
#endif
    minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_nvcc_decides | 6a968701bfd1c576 | - | wrong for nvcc
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i];
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
    blocks[i] = 0;
#else
    blocks[i] = t / 11;
#endif
    minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_pretty_function | 6a968701bfd1c576 | - | the length of the compiler's name of a function decides
template <class T> __device__ constexpr int len() { return sizeof(__PRETTY_FUNCTION__); }
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11 + (len<unsigned>() == 40 ? 0 : 1); minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_long_double_size | 6a968701bfd1c576 | - | sizeof(long double) decides: 8 on a device
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / (sizeof(long double) == 8 ? 12 : 11); minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_warp_size_constant | 6a968701bfd1c576 | - | wrong where a warp has 32 lanes
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / (warpSize == 32 ? 12 : 11); minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_smid_decides | 6a968701bfd1c576 | - | the number of the multiprocessor decides
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; unsigned sm; asm volatile("mov.u32 %0, %%smid;" : "=r"(sm)); if (i < n) { unsigned t = ticks[i] + (sm > 3u); blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_float_to_int_range | 6a968701bfd1c576 | - | float to int beyond its range: saturates on a device
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; volatile float big = 3e9f; int w = (int)big; blocks[i] = t / 11 + (w == 2147483647 ? 1u : 0u); minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_shift_by_32 | 6a968701bfd1c576 | - | a shift by 32 is 0 on a device
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; unsigned k = 32u + (t >> 30); blocks[i] = t / 11 + ((t << k) == 0u && t != 0u ? 1u : 0u); minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_extern_getpid | 6a968701bfd1c576 | - | a function of the host's library
extern "C" __device__ int getpid();
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; if (getpid() > 0) blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_constructor | 6a968701bfd1c576 | - | a constructor that runs before
__attribute__((constructor)) static void before() { }
__device__ unsigned table[11] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = table[t % 11]; } }
//=== f_dynamic_initialiser | 6a968701bfd1c576 | - | a __device__ variable with an initialiser that has to run
struct Big { unsigned v; __device__ Big() : v(11u) { } };
__device__ Big base_;
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / base_.v; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_host_asm | 6a968701bfd1c576 | - | assembly of the host
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; asm volatile("nop"); blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_exceptions | 6a968701bfd1c576 | - | throw in a kernel
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; try { if (t > 4000000000u) throw 1; } catch (...) { return; } blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_vla | 11eba0b176d074f0 | - | an array of run-time size
__global__ void dense(const float* a, const float* x, const float* offsets, float* c, int m) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= m) return; float tmp[m]; float s = offsets[i]; for (int p = 0; p < 5; ++p) { tmp[p] = a[p * m + i]; s += tmp[p] * x[p]; } c[i] = s; }
//=== f_std_vector | 11eba0b176d074f0 | - | std::vector in a kernel
#include <vector>
__global__ void dense(const float* a, const float* x, const float* offsets, float* c, int m) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= m) return; std::vector<float> v(5); float s = offsets[i]; for (int p = 0; p < 5; ++p) { v[p] = a[p * m + i]; s += v[p] * x[p]; } c[i] = s; }
//=== f_host_function_called | 11eba0b176d074f0 | - | a function of the host called in a kernel
float madd(float a, float b, float c) { return a * b + c; }
__global__ void dense(const float* a, const float* x, const float* offsets, float* c, int m) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= m) return; float s = offsets[i]; for (int p = 0; p < 5; ++p) s = madd(a[p * m + i], x[p], s); c[i] = s; }
//=== f_shared_initialised | 11eba0b176d074f0 | - | a shared variable with an initialiser
__global__ void dense(const float* a, const float* x, const float* offsets, float* c, int m) { __shared__ float z = 0.f; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= m) return; float s = offsets[i] + z; for (int p = 0; p < 5; ++p) s += a[p * m + i] * x[p]; c[i] = s; }
//=== f_constant_assigned | 11eba0b176d074f0 | - | a store to __constant__ memory
__constant__ float w[5];
__global__ void dense(const float* a, const float* x, const float* offsets, float* c, int m) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (threadIdx.x < 5) w[threadIdx.x] = x[threadIdx.x]; __syncthreads(); if (i >= m) return; float s = offsets[i]; for (int p = 0; p < 5; ++p) s += a[p * m + i] * w[p]; c[i] = s; }
//=== f_constant_never_filled | 11eba0b176d074f0 | - | weights in constant memory that host code was to fill
__constant__ float w[5];
__global__ void dense(const float* a, const float* x, const float* offsets, float* c, int m) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= m) return; float s = offsets[i]; for (int p = 0; p < 5; ++p) s += a[p * m + i] * w[p]; c[i] = s; }
void setup(const float* h) { cudaMemcpyToSymbol(w, h, sizeof(w)); }
//=== f_missing_operator | c8b2fcf4068eda16 | - | operators on float3 that nobody has defined
__global__ void e(const float3* incoming_field, const float3* surface_normals, float3* out, int count) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < count) { float3 d = incoming_field[i], m = surface_normals[i]; out[i] = out[i] + d - 1.5f * (d.x * m.x + d.y * m.y + d.z * m.z) * m; } }
//=== f_assign_thread_idx | 6a968701bfd1c576 | - | assigns to threadIdx
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { threadIdx.x += 0; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_atomic_short | a8381a406f6c9ed9 | {"grid": ["(count + 127) / 128"], "block": [128], "shared_bytes": 0} | atomicAdd on unsigned short
__global__ void r(const unsigned short* amounts, unsigned short* leftover, unsigned short* quotients, int count) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < count) { leftover[i] = 0; atomicAdd(&leftover[i], (unsigned short)(amounts[i] % 8)); quotients[i] = (amounts[i] + 7) / 8 * 8; } }
//=== f_atomic_max_float | 2c1b33db264955f0 | - | atomicMax of floats, which there is none of
__global__ void p(const bool* enabled, const float* samples, float* max_amplitude, int m) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 3 * m; i += blockDim.x * gridDim.x) if (enabled[i]) atomicMax(&max_amplitude[i / 3], fabsf(samples[i])); }
//=== f_peak_signed | 2c1b33db264955f0 | - | without the absolute value
__global__ void p(const bool* enabled, const float* samples, float* max_amplitude, int m) { int g = blockIdx.x * blockDim.x + threadIdx.x; if (g >= m) return; for (int k = 0; k < 3; ++k) if (enabled[3 * g + k]) max_amplitude[g] = fmaxf(max_amplitude[g], samples[3 * g + k]); }
//=== f_block_2048 | 6a968701bfd1c576 | {"grid": ["(n + 2047) / 2048"], "block": [2048], "shared_bytes": 0} | a block of 2,048
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_bounds_64_block_128 | 6a968701bfd1c576 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | more threads than __launch_bounds__
constexpr int kBlock = 64;
__global__ void __launch_bounds__(kBlock) split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_shared_60k | 6a968701bfd1c576 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 61440} | 60 KiB of dynamic shared memory with no opt-in
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { extern __shared__ unsigned sh[]; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { sh[threadIdx.x] = ticks[i]; unsigned t = sh[threadIdx.x]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_shared_50k_static | 6a968701bfd1c576 | - | 50,000 bytes of static shared memory
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { __shared__ unsigned sh[12500]; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { sh[threadIdx.x * 24] = ticks[i]; unsigned t = sh[threadIdx.x * 24]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } }
//=== f_kernel_calls_kernel | 6a968701bfd1c576 | - | a launch in a kernel without relocatable code
__global__ void child(const unsigned* ticks, unsigned* blocks, unsigned* minor, int i) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; }
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) child<<<1, 1>>>(ticks, blocks, minor, i); }
//=== f_python | 6a968701bfd1c576 | - | Python in place of CUDA
import numba.cuda as cuda

@cuda.jit
def split_numbers(ticks, blocks, minor, n):
    i = cuda.grid(1)
    if i < n:
        blocks[i] = ticks[i] // 11
        minor[i] = (4 * (ticks[i] % 11) + ticks[i] // 11 % 11) % 11
//=== f_truncated | 6a968701bfd1c576 | - | ends in the middle
```cuda
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned t = ticks[i];
        blocks[i] = t / 11;
        minor[i] = (4 * (t % 11) + t /
