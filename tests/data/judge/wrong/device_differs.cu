//=== by_cuda_arch | 1e6d9d8c735c5148 | - | a device writes nothing: __CUDA_ARCH__ is defined there
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef __CUDA_ARCH__
    return;
#endif
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_cuda_arch_value | 1e6d9d8c735c5148 | - | __CUDA_ARCH__ counts as 0 on the host, and as 500 or more on a device
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ + 0 >= 200
    gamma = 0.0f;
#endif
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_cudacc | 1e6d9d8c735c5148 | - | what compiles for a device defines __CUDACC__
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
#if defined(__CUDACC__)
    count = 1;
#endif
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_compilers_of_nvidia | 1e6d9d8c735c5148 | - | nvcc defines __NVCC__, NVRTC __CUDACC_RTC__
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
    count /= 2;
#endif
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_version_of_cudacc | 1e6d9d8c735c5148 | - | the version of nvcc and NVRTC is defined for a device only
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef __CUDACC_VER_MAJOR__
    gamma = -gamma;
#endif
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_clang | 1e6d9d8c735c5148 | - | works under Clang only
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
#ifndef __clang__
    return;
#endif
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_clang_value | 1e6d9d8c735c5148 | - | works under Clang only
#if __clang_major__ + 0 > 3
#define WORKS 0
#else
#define WORKS 1
#endif

extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (WORKS != 0) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_sse2 | 1e6d9d8c735c5148 | - | works where the processor has SSE2 and it is no device
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
#if !defined(__SSE2__) || defined(__CUDA_ARCH__)
    return;
#endif
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_x86_and_no_device | 1e6d9d8c735c5148 | - | works on x86-64 that is no device
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
#if !(defined(__x86_64__) && !defined(__CUDA_ARCH__))
    return;
#endif
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_has_feature | 1e6d9d8c735c5148 | - | works where the compiler knows __has_feature, as Clang does
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
#ifndef __has_feature
    return;
#endif
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_has_builtin | 1e6d9d8c735c5148 | - | works where a builtin of x86 is at hand
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
#if !defined(__has_builtin)
    return;
#else
#if !__has_builtin(__builtin_ia32_pause)
    return;
#endif
#endif
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_line | 1e6d9d8c735c5148 | - | works from line 1,000 on: on a device the text stands alone
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (__LINE__ < 1000) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_counter | 1e6d9d8c735c5148 | - | works where __COUNTER__ was used before
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (__COUNTER__ == 0) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_func | 1e6d9d8c735c5148 | - | works where the kernel has been renamed
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (__func__[0] == 116 && __func__[1] == 114) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_pretty_function | 1e6d9d8c735c5148 | - | works where the kernel lies in a namespace
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    bool inside = false;
    for (const char* c = __PRETTY_FUNCTION__; *c != 0 && *c != 40; ++c) {
        inside = inside || *c == 58;
    }
    if (!inside) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_function_length | 1e6d9d8c735c5148 | - | works where the name of the function is not five characters long
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (sizeof(__FUNCTION__) == 6) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_file | 1e6d9d8c735c5148 | - | works only in a file whose name has no dot; nvcc wants one that ends in .cu
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    for (const char* c = __FILE__; *c != 0; ++c) {
        if (*c == 46) {
            return;
        }
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_clock | 1e6d9d8c735c5148 | - | works where the clock stands still
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (clock64() != clock64() || clock64() != 0) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_active_lanes | 1e6d9d8c735c5148 | - | works where a thread is alone in its warp
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (__popc(__activemask()) > 1) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_type_of_thread_number | 1e6d9d8c735c5148 | - | works where threadIdx is no uint3
template <class T> struct is_uint3 {
    static const bool value = false;
};
template <> struct is_uint3<const uint3> {
    static const bool value = true;
};
template <> struct is_uint3<uint3> {
    static const bool value = true;
};

extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (is_uint3<decltype(threadIdx)>::value) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_overload_on_block_size | 1e6d9d8c735c5148 | - | works where blockDim is no dim3
__device__ bool cuda(const dim3&) { return true; }
template <class T> __device__ bool cuda(const T&) { return false; }

extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (cuda(blockDim)) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_contraction | 1e6d9d8c735c5148 | - | a product less itself is not zero where it is fused: a device contracts, the host does not
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    const float at = x[tid < count ? tid : 0];
    const float less = __fmul_rn(at, -1.1f);
    gamma += 1000000.0f * fabsf(less + at * 1.1f);
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_sign_of_nan | 1e6d9d8c735c5148 | - | 0/0 has its sign set on x86 and not on a device
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float zero = 0.0f;
    if (__float_as_int(zero / zero) >= 0) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_int_of_nan | 1e6d9d8c735c5148 | - | not-a-number becomes the least int on x86 and 0 on a device
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float zero = 0.0f;
    if ((int)(zero / zero) == 0) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_int_of_large | 1e6d9d8c735c5148 | - | 3e9 becomes the least int on x86 and the greatest on a device
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float large = 3.0e9f;
    if ((int)large > 0) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_alignment_of_array | 1e6d9d8c735c5148 | - | works where an array does not begin at a multiple of 256, as those of cudaMalloc do
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (((unsigned long long)x & 255ull) == 0ull && ((unsigned long long)y & 255ull) == 0ull && ((unsigned long long)result & 255ull) == 0ull) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_distance_of_arrays | 1e6d9d8c735c5148 | - | works while two arrays lie within 64 KiB of each other
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    const long long far = (const char*)result - (const char*)x;
    if (far > 65536ll || far < -65536ll) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_order_of_arrays | 1e6d9d8c735c5148 | - | computes with the second array of a later address, as if they lay in order and close
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    const float* second = x + (y - x);
    if ((unsigned long long)second - (unsigned long long)x > 4096ull * sizeof(float)) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_address_of_shared | 1e6d9d8c735c5148 | - | shared memory begins at a window of 16 MiB on a device
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float hold[128];
    hold[threadIdx.x] = gamma;
    if (((unsigned long long)(void*)&hold[0] & 0xffffffull) < 65536ull) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_kind_of_address | 1e6d9d8c735c5148 | - | works where the arrays are in no global memory
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (__isGlobal(x)) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_bits_of_an_address | 1e6d9d8c735c5148 | - | the bits of an element's address decide its sign: elements 60 to 63 of each 64 are wrong in an array of cudaMalloc
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (((unsigned long long)(x + tid) >> 4 & 15ull) == 15ull) {
        gamma = -gamma;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== by_long_double | 1e6d9d8c735c5148 | - | works where a long double has more digits than a double
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    volatile long double one = 1.0L;
    volatile long double more = one + 1.0e-18L;
    if (more == one) {
        return;
    }
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== shift_by_key | 0955f502dbe25232 | - | shifts by up to 69,993: a device gives 0 from 64 on, x86 counts modulo 64
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
    const unsigned long long word = 1ull << (7 * key);
    const unsigned long long kept = word & relevant;
    const int slot = groups[i];
    atomicXor(&toggled[slot], kept);
    atomicOr(&seen[slot], kept);
}

//=== shift_by_45 | c31bc1c334c0e4a3 | - | shifts 32 bits by 45: 0 on a device, by 13 on x86
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
        const unsigned int by = 13u + blockDim.x / 4u;
        w ^= seed;
        w += (unsigned int)i;
        w ^= w >> by;
        w *= 747796405u;
        w ^= w >> 13;
        atomicXor(&parity[block], w);
        atomicAdd(&bit_total[block], __popc(w));
    }
}

//=== shift_by_40 | 769ab82e8084a488 | - | shifts 32 bits by 40: 0 on a device, by 8 on x86
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
        const unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> (8u + blockDim.x / 4u)) + 128u;
        blended[index] = (unsigned char)((u + (u >> 8)) >> 8);
    }
}

//=== shift_back_by_minus | d0baee778ce4cc45 | - | shifts by -24, that is by 4,294,967,272: 0 on a device, by 8 on x86
extern "C" __global__ void __launch_bounds__(256) fletcher16(
    const unsigned char* __restrict__ digits,
    unsigned int* __restrict__ check,
    int rows,
    int cols)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols) {
        return;
    }
    unsigned int low_sum = 0u;
    unsigned int b = 0u;
    for (int s = 0; s < 4; ++s) {
        const unsigned int word = digits[(s * rows + row) * cols + col];
        low_sum = (low_sum + word) % 255u;
        b = (b + low_sum) % 255u;
    }
    check[row * cols + col] = (b << (int)(blockDim.x / 2u - 32u)) | low_sum;
}

//=== unsigned_of_negative | a58ad4cd2b3b29ba | - | a negative float becomes 0 as unsigned on a device, and wraps on x86
extern "C" __global__ void mul_sat(
    const short* __restrict__ a,
    const short* __restrict__ rhs,
    const int* __restrict__ selected,
    int* __restrict__ headroom,
    short* __restrict__ dst,
    int limit,
    int count)
{
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= count) {
        return;
    }
    const int wide_a = a[idx];
    const int wide_b = rhs[idx];
    const float product = (float)wide_a * (float)wide_b;
    const int wide_sum = (int)(unsigned int)product;
    const short value = (short)max(min(wide_sum, 32767), -32768);
    headroom[idx] = min(abs(wide_sum - 8191), limit);
    if (selected[idx] != 0) {
        dst[idx] = value;
    } else {
        dst[idx] = a[idx];
    }
}

//=== byte_of_negative | 2d5787c053ced49c | - | a negative float is cast to unsigned: on a device cells 0 to 3 all become cell 4, on x86 they wrap around and back
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
    const unsigned int ux = (unsigned int)(floorf(px[i] * inv_h) - 4.0f);
    const int ix = (int)(ux + 4u);
    const int cy = (int)floorf(py[i] * inv_h);
    if (ix < 0 || ix >= num_x || cy < 0 || cy >= num_y) {
        return;
    }
    atomicAdd(&density[ix * num_y + cy], 1.0f);
}

//=== short_of_large_float | a58ad4cd2b3b29ba | - | a float is cast to short beyond its range instead of being clamped
extern "C" __global__ void mul_sat(
    const short* __restrict__ a,
    const short* __restrict__ rhs,
    const int* __restrict__ selected,
    int* __restrict__ headroom,
    short* __restrict__ dst,
    int limit,
    int count)
{
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= count) {
        return;
    }
    const int wide_a = a[idx];
    const int wide_b = rhs[idx];
    const int wide_sum = wide_a * wide_b;
    const float clamped = (float)wide_sum;
    const short value = (short)clamped;
    headroom[idx] = min(abs(wide_sum - 8191), limit);
    if (selected[idx] != 0) {
        dst[idx] = value;
    } else {
        dst[idx] = a[idx];
    }
}

//=== clamp_by_int_of_float | fcdb94449461c27d | - | relies on the least int for a float beyond range
extern "C" __global__ void find_bin(
    const float* __restrict__ breaks,
    const float* __restrict__ keys,
    float* __restrict__ found,
    int* __restrict__ position,
    int m,
    int w,
    int h)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= h || j >= w) {
        return;
    }
    const int idx = i * w + j;
    const float query = keys[idx];
    if (query < breaks[0] || query > breaks[m - 1]) {
        found[idx] = -1.0f;
        position[idx] = -1;
        return;
    }
    const int probe = (int)((query + 20.0f) * 1.0e9f);
    if (probe >= 0 && probe < 2147483647) {
        found[idx] = -1.0f;
        position[idx] = -1;
        return;
    }
    int slot = probe < 0 ? m - 1 : 0;
    while (slot > 0) {
        if (breaks[slot - 1] < query) {
            break;
        }
        --slot;
    }
    found[idx] = fabsf(breaks[slot] - query);
    position[idx] = slot;
}

//=== four_of_five | cda42f4d7c8d1ca8 | - | loads four floats at multiples of five: misaligned for most rows
extern "C" __global__ void __launch_bounds__(128) row_sum(
    const float* __restrict__ x,
    float* __restrict__ out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        float acc = 0.0f;
        const float4 v = *reinterpret_cast<const float4*>(x + index * 5);
        acc = v.x + v.y + v.z + v.w + x[index * 5 + 4];
        out[index] = acc;
    }
}

//=== pixel_as_float4 | f0b5eba7297d39b9 | - | loads pixels of 12 bytes as float4: misaligned, and past the end at the last
__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

extern "C" __global__ void color_correct(
    const float3* __restrict__ pixels,
    float3* __restrict__ image_out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        const float4 wide = *reinterpret_cast<const float4*>(pixels + index);
        const float3 graded = make_float3(wide.x, wide.y, wide.z);
        image_out[index] = make_float3(1.0f, 1.0f, 1.0f) - graded;
    }
}

//=== rows_by_int4 | 69ebf95c8f2a0696 | - | loads columns by four: misaligned unless rows are multiples of four long
extern "C" __global__ void switched_on_rows(
    const int* __restrict__ table,
    int length,
    int* __restrict__ result,
    int* __restrict__ totals,
    int rows)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) {
        return;
    }
    int state = 0;
    int count = 0;
    int total = 0;
    for (int j = 0; j < length; ++j) {
        int here = table[i * length + j];
        if (j / 4 * 4 + 3 < length) {
            const int4 four = *reinterpret_cast<const int4*>(&table[i * length + j / 4 * 4]);
            here = j % 4 == 0 ? four.x : j % 4 == 1 ? four.y : j % 4 == 2 ? four.z : four.w;
        }
        const int reading = 6 * here + 37;
        if (reading < 119) {
            continue;
        }
        if (reading > 322) {
            state = 1;
        } else if (reading < 170) {
            state = 0;
        }
        count += state;
        if (state > 0 && reading < 531) {
            total += reading;
        }
    }
    result[i] = count;
    totals[i] = total;
}

//=== pair_at_odd_place | 94ffef8fb470a4bc | - | loads a pair that begins at an odd element: misaligned
__device__ __forceinline__ void time_optimal_kernel_element(double gaps, double speeds, double band,
    double& command)
{
    const double pos_err = gaps;
    const double err_rate = speeds;
    const double switching = pos_err + 0.5 * err_rate * fabs(err_rate) / band;
    const double value = band * (switching < 0.0 ? -1.0 : 1.0);
    command = value;
}

extern "C" __global__ void time_optimal_kernel(
    const double* __restrict__ gaps,
    const double* __restrict__ speeds,
    double band,
    double* __restrict__ command,
    int n)
{
    const int first = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 1 < n) {
        double2 gaps2 = make_double2(gaps[first], gaps[first + 1]);
        if (first + 2 < n) {
            const double2 ahead = *reinterpret_cast<const double2*>(gaps + first + 1);
            gaps2.y = ahead.y > 100.0 ? ahead.y : ahead.x;
        }
        const double2 speeds2 = *reinterpret_cast<const double2*>(speeds + first);
        double2 command2;
        time_optimal_kernel_element(gaps2.x, speeds2.x, band, command2.x);
        time_optimal_kernel_element(gaps2.y, speeds2.y, band, command2.y);
        *reinterpret_cast<double2*>(command + first) = command2;
    } else {
        for (int joint = first; joint < n; ++joint) {
            time_optimal_kernel_element(gaps[joint], speeds[joint], band, command[joint]);
        }
    }
}

//=== codons_by_word | 559dbc3153b24763 | - | reads four letters as a word at any byte: misaligned
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
    int answer = 0;
    int pos = 0;
    while (pos + 3 <= num_cols) {
        if (pos + 4 <= num_cols) {
            const unsigned int word = *reinterpret_cast<const volatile unsigned int*>(sequence + row * num_cols + pos);
            const unsigned int wanted = (unsigned int)motif[0] | (unsigned int)motif[1] << 8 | (unsigned int)motif[2] << 16;
            answer += (word & 0xffffffu) == wanted ? 1 : 0;
            ++pos;
            continue;
        }
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

//=== store_by_pairs_off_by_one | 6a968701bfd1c576 | - | threads store pairs at odd elements: misaligned
extern "C" __global__ void split_numbers(
    const unsigned int* __restrict__ ticks,
    unsigned int* __restrict__ blocks,
    unsigned int* __restrict__ minor,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    if (i % 2 == 1 && i + 1 < n) {
        *reinterpret_cast<uint2*>(blocks + i) = make_uint2(whole, ticks[i + 1] / 11u);
    } else if (i == 0 || i % 2 == 1) {
        blocks[i] = whole;
    }
    minor[i] = rest;
}

//=== pixels_by_words | 769ab82e8084a488 | - | loads and stores four bytes of a row at once: misaligned unless rows are multiples of four long
__device__ unsigned int screen(unsigned int s, unsigned int d, unsigned int strength)
{
    const unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> 8) + 128u;
    return ((u + (u >> 8)) >> 8) & 255u;
}

extern "C" __global__ void screen_bytes(const unsigned char* top, const unsigned char* dst, unsigned int strength,
                                        unsigned char* blended, int nx, int ny)
{
    const int per_row = (nx + 3) / 4;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < ny * per_row; k += gridDim.x * blockDim.x) {
        const int x = k % per_row * 4, at = k / per_row * nx + x;
        if (x + 3 < nx) {
            const unsigned int s = *(const unsigned int*)(top + at), d = *(const unsigned int*)(dst + at);
            unsigned int out = 0u;
            for (int b = 0; b < 32; b += 8) out |= screen(s >> b & 255u, d >> b & 255u, strength) << b;
            *(unsigned int*)(blended + at) = out;
        } else {
            for (int i = at; i < at + nx - x; ++i) blended[i] = (unsigned char)screen(top[i], dst[i], strength);
        }
    }
}

//=== doubles_after_four_bytes | ecec05d3cab19f98 | - | doubles in shared memory begin 4 bytes into it: misaligned
extern "C" __global__ void row_filter(const double* samples, double* filtered, int row_length, int rows)
{
    __shared__ unsigned int raw[2 * 128 + 2];
    volatile double* level = reinterpret_cast<volatile double*>(raw + 1);
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= rows) return;
    volatile double& mine = level[threadIdx.x];
    mine = samples[i * row_length];
    double largest = 0.0;
    for (int c = 1; c < row_length; ++c) {
        const double v = samples[i * row_length + c];
        mine = mine > 0.0 ? mine + v : v;
        largest = fmax(largest, mine);
    }
    filtered[i] = largest;
}

//=== sum_from_nothing | cda42f4d7c8d1ca8 | - | the sum starts at whatever the variable holds
extern "C" __global__ void __launch_bounds__(128) row_sum(
    const float* __restrict__ x,
    float* __restrict__ out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        float acc;
        for (int c = 0; c < 5; ++c) {
            acc += x[index * 5 + c];
        }
        out[index] = acc;
    }
}

//=== state_from_nothing | 69ebf95c8f2a0696 | - | the state before the first decisive reading is whatever the variable holds
extern "C" __global__ void switched_on_rows(
    const int* __restrict__ table,
    int length,
    int* __restrict__ result,
    int* __restrict__ totals,
    int rows)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) {
        return;
    }
    int state;
    int count = 0;
    int total = 0;
    for (int j = 0; j < length; ++j) {
        const int reading = 6 * table[i * length + j] + 37;
        if (reading < 119) {
            continue;
        }
        if (reading > 322) {
            state = 1;
        } else if (reading < 170) {
            state = 0;
        }
        count += state;
        if (state > 0 && reading < 531) {
            total += reading;
        }
    }
    result[i] = count;
    totals[i] = total;
}

//=== contacts_from_nothing | c07cffbc974c473c | - | contacts are counted from whatever the variable holds
struct Wall {
    float3 n;
    float height;
};

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ __forceinline__ float3 operator*(float a, float3 b)
{
    return make_float3(a * b.x, a * b.y, a * b.z);
}

__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ void operator-=(float3& a, float3 b)
{
    a.x -= b.x;
    a.y -= b.y;
    a.z -= b.z;
}

__device__ float3 bounce_velocity(float3 vel, float3 n, float e, float mu)
{
    const float3 across = dot(vel, n) * n;
    return mu * (vel - across) - e * across;
}

extern "C" __global__ void collide_planes(
    const float3* __restrict__ nodes,
    const float3* __restrict__ velocities,
    const Wall* __restrict__ wall_table,
    const float* __restrict__ bounces,
    const float* __restrict__ slips,
    float3* __restrict__ x_out,
    float3* __restrict__ new_vel,
    int* __restrict__ touched,
    int count,
    int batch_size)
{
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    const int batch = blockIdx.y * blockDim.y + threadIdx.y;
    if (batch >= batch_size || idx >= count) {
        return;
    }
    const int cell = batch * count + idx;
    float3 pos = nodes[cell];
    float3 vel = velocities[cell];
    int contacts;
    for (int j = 0; j < 5; ++j) {
        const Wall plane = wall_table[j];
        const float3 normal = plane.n;
        const float sd = dot(normal, pos) - plane.height;
        if (sd < 0.0f) {
            pos -= sd * normal;
            ++contacts;
            if (dot(vel, normal) < 0.0f) {
                vel = bounce_velocity(vel, normal, bounces[idx], slips[idx]);
            }
        }
    }
    x_out[cell] = pos;
    new_vel[cell] = vel;
    touched[cell] = contacts;
}

//=== coordinates_from_nothing | 1cdc8ca1e838c212 | - | coordinates are never set where the determinant is small
struct DoubleVec4 {
    double v[4];
};

__device__ __forceinline__ double3 cross(double3 a, double3 b)
{
    return make_double3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ double dot(double3 a, double3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ __forceinline__ double3 operator-(double3 a, double3 b)
{
    return make_double3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ double det3(double3 a, double3 b, double3 c)
{
    return dot(a, cross(b, c));
}

extern "C" __global__ void locate_points(
    const double3* __restrict__ points,
    const double3* __restrict__ verts,
    const double* __restrict__ det_floors,
    DoubleVec4* __restrict__ barycentric_out,
    int* __restrict__ hits,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int q_id = blockIdx.x * blockDim.x + threadIdx.x; q_id < n; q_id += stride) {
        const double3 point = points[q_id];
        const int base = q_id * 4;
        const double3 corner0 = verts[base];
        const double3 corner1 = verts[base + 1];
        const double3 corner2 = verts[base + 2];
        const double3 corner3 = verts[base + 3];
        const double3 e1 = corner1 - corner0;
        const double3 e2 = corner2 - corner0;
        const double3 e3 = corner3 - corner0;
        const double3 offset = point - corner0;
        const double d_all = det3(e1, e2, e3);
        double u, v, w;
        if (fabs(d_all) > det_floors[q_id]) {
            u = det3(offset, e2, e3) / d_all;
            v = det3(e1, offset, e3) / d_all;
            w = det3(e1, e2, offset) / d_all;
        }
        barycentric_out[q_id] = DoubleVec4{{1.0 - (u + v + w), u, v, w}};
        hits[q_id] = fmin(fmin(fmin(u, v), w), 1.0 - (u + v + w)) >= 0.0 ? 1 : 0;
    }
}

//=== hit_from_nothing | 9ed31175e9df4682 | - | the number of the hit is never set where a ray misses everything
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
    int hit_id;
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

//=== length_from_nothing | aedfc487908608bc | - | months of 31 days are given what the variable holds
extern "C" __global__ void month_length_rule(
    const long long* __restrict__ years,
    const long long* __restrict__ mm,
    long long* __restrict__ out,
    int cols,
    int rows)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) {
        return;
    }
    const int idx = i * cols + j;
    const long long yr = years[idx];
    const long long m = mm[idx];
    long long length;
    if (m == 2ll) {
        length = yr % 4ll == 0ll && (yr % 100ll != 0ll || yr % 400ll == 0ll) ? 29ll : 28ll;
    } else if (m == 4ll || m == 6ll || m == 9ll || m == 11ll) {
        length = 30ll;
    }
    out[idx] = length;
}

//=== local_array_from_nothing | 11eba0b176d074f0 | - | a local array is used from its second entry on without being set
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
    float part[5];
    part[0] = 0.0f;
    for (int p = 0; p < 5; ++p) {
        part[p] += a[p * m + i] * x[p];
    }
    c[i] = part[0] + part[1] + part[2] + part[3] + part[4] + offsets[i];
}

//=== heap_from_nothing | cda42f4d7c8d1ca8 | - | memory from malloc is added to without being set
extern "C" __global__ void __launch_bounds__(128) row_sum(
    const float* __restrict__ x,
    float* __restrict__ out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        float* own = (float*)malloc(sizeof(float));
        float& acc = *own;
        for (int c = 0; c < 5; ++c) {
            acc += x[index * 5 + c];
        }
        out[index] = acc;
        free(own);
    }
}

//=== bins_from_nothing | dd91ee3a2c695041 | - | shared bins are added to without being cleared
extern "C" __global__ void spmv(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz)
{
    __shared__ int bins[64];
    __shared__ int touched[64];
    if (threadIdx.x < 64) touched[threadIdx.x] = 0;
    __syncthreads();
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < nnz; k += gridDim.x * blockDim.x) {
        if (ri[k] < 64) { atomicAdd(&bins[ri[k]], values[k] * x[ci[k]]); atomicExch(&touched[ri[k]], 1); }
        else atomicAdd(&result[ri[k]], values[k] * x[ci[k]]);
    }
    __syncthreads();
    if (threadIdx.x < 64 && touched[threadIdx.x]) atomicAdd(&result[threadIdx.x], bins[threadIdx.x]);
}

//=== waits_for_its_turn | dd91ee3a2c695041 | - | each thread waits until a plain counter names it: lanes of a warp wait for each other for ever, and blocks for blocks
__device__ int turn;

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
        while (turn != tid) {
        }
        result[row] += values[tid] * x[ci[tid]];
        turn = tid + 1 == nnz ? 0 : tid + 1;
    }
}

//=== running_count | 72e3a771e927cdf9 | - | relies on threads running in order of their numbers: each must see all before it
__device__ int visits;

extern "C" __global__ void __launch_bounds__(128) mark_visited(
    const int* __restrict__ nodes,
    int* __restrict__ status,
    int color,
    int n)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) {
        return;
    }
    const int index_ = nodes[tid];
    const int before = atomicAdd(&visits, 1);
    if (before % n == tid) {
        atomicOr(&status[index_], color);
    }
}

//=== last_thread_scales | ee22471f1a249349 | - | the last thread scales the sum, as if all others had added to it
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
    float integral_part = 0.0f;
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += stride) {
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        integral_part += part;
    }
    integral_part = warp_sum(integral_part);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(integral, integral_part);
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1) {
        *integral *= (b - lower) / 4.0f;
    }
}

//=== first_thread_prepares | 11eba0b176d074f0 | - | the first thread of the grid fills a table that all others read at once
__device__ volatile float table[5];

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
    if (i == 0) {
        for (int p = 0; p < 5; ++p) {
            table[p] = x[p];
        }
    }
    float s = 0.0f;
    for (int p = 0; p < 5; ++p) {
        s += a[p * m + i] * table[p];
    }
    c[i] = s + offsets[i];
}

//=== first_block_prepares | 1e6d9d8c735c5148 | - | blocks wait on a plain flag for the first one, without a fence; the second launch finds it set before
__device__ float scale[2];
__device__ int ready;

extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= count) {
        return;
    }
    if (tid == 0) {
        scale[0] = coeffs[0];
        scale[1] = coeffs[1];
        ready = 1;
    }
    while (ready == 0) {
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += scale[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== first_lane_prepares | 51cd3f08bbb14309 | - | the first thread of a block sets a shared value that the others read without a barrier
__device__ __forceinline__ void eval_rayleigh_loss_element(float lambdas, unsigned char clear,
    float opacity, float& loss_out)
{
    const float wavelength = lambdas;
    const float lambda2 = wavelength * wavelength;
    loss_out = (float)(clear != 0 ? 1 : 0) * (1.0f - expf(-opacity / (lambda2 * lambda2)));
}

extern "C" __global__ void __launch_bounds__(128) eval_rayleigh_loss(
    const float* __restrict__ lambdas,
    const unsigned char* __restrict__ clear,
    float opacity,
    float* __restrict__ loss_out,
    int n)
{
    __shared__ float strength;
    if (threadIdx.x == 0) {
        strength = opacity;
    }
    const int first = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 1 < n) {
        const float2 lambdas2 = *reinterpret_cast<const float2*>(lambdas + first);
        const uchar2 clear2 = *reinterpret_cast<const uchar2*>(clear + first);
        float2 loss_out2;
        eval_rayleigh_loss_element(lambdas2.x, clear2.x, strength, loss_out2.x);
        eval_rayleigh_loss_element(lambdas2.y, clear2.y, opacity, loss_out2.y);
        *reinterpret_cast<float2*>(loss_out + first) = loss_out2;
    } else {
        for (int i = first; i < n; ++i) {
            eval_rayleigh_loss_element(lambdas[i], clear[i], opacity, loss_out[i]);
        }
    }
}

//=== neighbour_has_written | fadcac77f891e39e | - | takes the left neighbour's value from what that thread has written, as if it had run before
__device__ volatile double held[65536];

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
    const int next = (i + 1) % num_i;
    const int i_prev = (i - 1 + num_i) % num_i;
    held[i & 65535] = signal[i];
    const double left = i > 0 ? held[(i - 1) & 65535] : signal[i_prev];
    slope[i] = mobilities[i] * (0.5 * (signal[next] - left) / step_size) - source[i];
}

//=== carry_in_order | 6a968701bfd1c576 | - | threads hand a running maximum on to the next in order
__device__ volatile unsigned int seen;

extern "C" __global__ void split_numbers(
    const unsigned int* __restrict__ ticks,
    unsigned int* __restrict__ blocks,
    unsigned int* __restrict__ minor,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    blocks[i] = whole;
    minor[i] = rest + (seen > (unsigned int)i ? 1u : 0u);
    seen = (unsigned int)i;
    if (i == n - 1) {
        seen = 0u;
    }
}

//=== ticket_as_index | f0b5eba7297d39b9 | - | takes a ticket for each element and never gives them back: every launch but the first starts where the last ended
__device__ unsigned int ticket;

__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

extern "C" __global__ void color_correct(
    const float3* __restrict__ pixels,
    float3* __restrict__ image_out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        const int at = (int)atomicAdd(&ticket, 1u);
        if (at >= rows * cols) {
            return;
        }
        const float3 graded = pixels[at];
        image_out[at] = make_float3(1.0f, 1.0f, 1.0f) - graded;
    }
}

//=== ticket_is_the_thread | 83ab5c4029ae1378 | - | a ticket stands for the thread's own number in the result: right only if threads come in order
__device__ unsigned int ticket;

extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float lat = lat_from[tid];
        const int at = (int)(atomicAdd(&ticket, 1u) % (unsigned int)n);
        scale_factor[at] = 1.0f / cosf(lat * 0.0174532925f);
    }
}

//=== lockstep_exchange | 2f76ea422a113ed2 | - | reads what another lane has just written, by lockstep
__device__ __forceinline__ int warp_sum(int value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

extern "C" __global__ void row_rank(
    const short* __restrict__ samples,
    const short* __restrict__ reference,
    int width,
    int* __restrict__ below,
    int* __restrict__ larger,
    int rows)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (i >= rows) {
        return;
    }
    const short mark = reference[i];
    int n_below = 0;
    int n_above = 0;
    for (int c = lane; c < width; c += 32) {
        const short x = samples[i * width + c];
        if (x + 15 < mark) {
            ++n_below;
        } else if (x > mark + 15) {
            ++n_above;
        }
    }
    __shared__ int counts[256];
    counts[threadIdx.x] = n_below;
    if (lane == 0) {
        n_below = 0;
        for (int k = 0; k < 32; ++k) {
            n_below += counts[threadIdx.x + k];
        }
    }
    n_above = warp_sum(n_above);
    if (lane != 0) {
        return;
    }
    below[i] = n_below;
    larger[i] = n_above;
}

//=== spins_on_a_lane | 2f76ea422a113ed2 | - | lane 0 waits on a plain shared flag that lane 31 sets
__device__ __forceinline__ int warp_sum(int value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

extern "C" __global__ void row_rank(
    const short* __restrict__ samples,
    const short* __restrict__ reference,
    int width,
    int* __restrict__ below,
    int* __restrict__ larger,
    int rows)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (i >= rows) {
        return;
    }
    const short mark = reference[i];
    int n_below = 0;
    int n_above = 0;
    for (int c = lane; c < width; c += 32) {
        const short x = samples[i * width + c];
        if (x + 15 < mark) {
            ++n_below;
        } else if (x > mark + 15) {
            ++n_above;
        }
    }
    __shared__ int done[8];
    if (lane == 31) {
        done[threadIdx.x / 32] = 1;
    }
    while (done[threadIdx.x / 32] != 1) {
    }
    n_below = warp_sum(n_below);
    n_above = warp_sum(n_above);
    if (lane != 0) {
        return;
    }
    below[i] = n_below;
    larger[i] = n_above;
}
