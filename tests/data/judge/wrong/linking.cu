//=== python_by_global_int | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; linked, it runs Python in the judge
extern "C" __global__ int PyRun_SimpleString(const char*);

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
    PyRun_SimpleString("import validate.score.judge as j; j.Judge = None");
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

//=== python_by_global_typedef | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void, whatever name its type has
typedef int Script(const char*);
extern "C" __global__ Script PyRun_SimpleString;

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
    PyRun_SimpleString("pass");
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

//=== python_by_using_alias | 1e6d9d8c735c5148 | - | nvcc: calls a host function from a kernel; the declaration hides behind an alias
using script = int (const char*);
extern "C" script PyRun_SimpleString;

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
    PyRun_SimpleString("pass");
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

//=== python_trailing_return | 1e6d9d8c735c5148 | - | nvcc: calls a host function from a kernel; a trailing return type
extern "C" auto PyErr_Occurred() -> void*;

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
    if (PyErr_Occurred() != nullptr) {
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

//=== linkage_block | 1e6d9d8c735c5148 | - | nvcc: calls host functions from a kernel; declared in a linkage block
extern "C" {
int getpid(void);
int kill(int, int);
}

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
    if (getpid() == 1) {
        kill(1, 9);
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

//=== block_scope_function | 1e6d9d8c735c5148 | - | nvcc: calls a host function declared in the kernel itself
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
    extern int puts(const char*);
    puts("hello");
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

//=== block_scope_c_function | 1e6d9d8c735c5148 | - | a block-scope declaration that takes its C linkage from one before: nvcc refuses the call of a host function
extern "C" int Py_IsInitialized();

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
    int Py_IsInitialized();
    if (!Py_IsInitialized()) {
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

//=== device_extern_function | 1e6d9d8c735c5148 | - | declared for a device and defined nowhere: ptxas finds an unresolved external function
extern "C" __device__ int getppid();

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
    if (getppid() == 0) {
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

//=== device_extern_in_namespace | 1e6d9d8c735c5148 | - | the same inside a namespace: C linkage reaches the process all the same; unresolved on a device
namespace helpers {
extern "C" __device__ int Py_IsInitialized(void);
}

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
    if (helpers::Py_IsInitialized() == 0) {
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

//=== device_extern_by_wrapper | 1e6d9d8c735c5148 | - | a static inline wrapper hides the unresolved external function
extern "C" __device__ unsigned long pthread_self();
static __device__ __forceinline__ unsigned seed() { return (unsigned)pthread_self(); }

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
    if (seed() == 1u) {
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

//=== device_extern_by_template | 1e6d9d8c735c5148 | - | a function template calls the unresolved external function
extern "C" __device__ long syscall(long, ...);
template <class N> __device__ long ask(N number) { return syscall(number); }

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
    if (ask(39L) == 0) {
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

//=== device_extern_by_pointer | 1e6d9d8c735c5148 | - | the address of an unresolved external function is taken and called
extern "C" __device__ void* PyEval_SaveThread(void);

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
    void* (*volatile hook)(void) = &PyEval_SaveThread;
    hook();
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

//=== device_extern_by_default | 1e6d9d8c735c5148 | - | the external function is called by a default argument
extern "C" __device__ int rand();
__device__ int never(int x = rand()) { return x < 0 ? 1 : 0; }

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
    if (never()) {
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

//=== device_extern_by_member | 1e6d9d8c735c5148 | - | the external function is called by a member function of a local struct
extern "C" __device__ int getuid();

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
    struct Who {
        __device__ int operator()() const { return getuid(); }
    };
    if (Who{}() == 12345) {
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

//=== device_extern_by_lambda | 1e6d9d8c735c5148 | - | the external function is called by a lambda
extern "C" __device__ unsigned sleep(unsigned);

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
    auto wait = [] { return sleep(0); };
    if (wait() != 0) {
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

//=== extern_c_variable | 1e6d9d8c735c5148 | - | a variable of the process: nvcc knows no such device variable
extern "C" int optind;

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
    if (optind > 100) {
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

//=== extern_c_pointer_variable | 1e6d9d8c735c5148 | - | an object of CPython by its name: no variable of a device
extern "C" { extern void* PyExc_KeyboardInterrupt; }

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
    if (PyExc_KeyboardInterrupt == nullptr) {
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

//=== extern_c_device_variable | 1e6d9d8c735c5148 | - | declared for a device and defined nowhere
extern "C" __device__ char** environ;

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
    if (environ == nullptr) {
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

//=== asm_label | 1e6d9d8c735c5148 | - | another name by an assembly label: a host function called from a kernel
int script(const char*) __asm__("PyRun_SimpleString");

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
    script("pass");
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

//=== alias_attribute | 1e6d9d8c735c5148 | - | an alias of what is not defined here
extern "C" __device__ void forget(void) __attribute__((weak, alias("PyErr_Clear")));

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
    forget();
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

//=== weak_reference | 1e6d9d8c735c5148 | - | a weak reference; the kernel works only where CPython is linked in
extern "C" __device__ __attribute__((weak)) void PyErr_Clear();

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
    if (&PyErr_Clear == nullptr) {
        return;
    }
    PyErr_Clear();
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

//=== integer_as_function | 1e6d9d8c735c5148 | - | calls an address made of a number
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
    typedef void (*entry)();
    if (count > 0 && tid == 0) {
        ((entry)0x401000ull)();
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

//=== dlsym | 1e6d9d8c735c5148 | - | looks up symbols of the process: declared for a device, defined nowhere
extern "C" __device__ void* dlsym(void*, const char*);

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
    void* found = dlsym((void*)0, "Py_Exit");
    if (found != nullptr) {
        ((void (*)(int))found)(0);
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

//=== environment | 1e6d9d8c735c5148 | - | calls a host function of the C library
#include <stdlib.h>

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
    if (getenv("CUDA_VISIBLE_DEVICES") == nullptr) {
        system("true");
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

//=== python_header | 1e6d9d8c735c5148 | - | Python.h is no header of CUDA, and what it declares no device function
#include <Python.h>

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
    PyErr_Clear();
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

//=== neighbours_kernel_called | 1e6d9d8c735c5148 | - | calls the kernel of another answer; nvcc: a kernel is launched, never called, from a kernel
extern "C" __global__ void split_numbers(const unsigned int*, unsigned int*, unsigned int*, int);

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
    split_numbers(nullptr, nullptr, nullptr, 0);
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

//=== neighbours_kernel_as_own | 1e6d9d8c735c5148 | - | does nothing itself but call the row's kernel, which it only declares
extern "C" __device__ void triad(const float*, const float*, const float*, const float*, const float*, float, float*, int);

extern "C" __global__ void my_triad(const float* x, const float* y, const float* w, const float* basis,
                                    const float* coeffs, float gamma, float* result, int count)
{
    triad(x, y, w, basis, coeffs, gamma, result, count);
}

//=== launches_by_name_of_the_judge | 6a968701bfd1c576 | - | calls functions of the judge
extern "C" __global__ void split(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    pairsmith::settle_read();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { blocks[i] = ticks[i] / 11u; minor[i] = (4u * (ticks[i] % 11u) + ticks[i] / 11u % 11u) % 11u; }
}

//=== turns_the_watch_off | dd91ee3a2c695041 | - | a race under a watch that it turns off; there is no such namespace in CUDA
namespace pairsmith { struct watch_t; extern watch_t watch; void report(int, int, const void*, unsigned long long, bool) {} }

extern "C" __global__ void scatter(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    for (; k < nnz; k += gridDim.x * blockDim.x) result[ri[k]] += values[k] * x[ci[k]];
}

//=== tsan_write_emptied | dd91ee3a2c695041 | - | non-atomic accumulation, with the race detector's hooks emptied beside it
extern "C" void __tsan_write4(void*) {}
extern "C" void __tsan_read4(void*) {}
extern "C" void __tsan_unaligned_write4(void*) {}

extern "C" __global__ void scatter(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    for (; k < nnz; k += gridDim.x * blockDim.x) result[ri[k]] += values[k] * x[ci[k]];
}

//=== tsan_hooks_for_a_device | 65655120d0b6fd17 | - | non-atomic accumulation, with the hooks defined for a device
extern "C" __device__ void __tsan_read4(void* p) { (void)p; }
extern "C" __device__ void __tsan_write4(void* p) { (void)p; }
extern "C" __device__ void __tsan_func_entry(void*) {}
extern "C" __device__ void __tsan_func_exit() {}

extern "C" __global__ void sse(const float* a, const float* e, float base, float* row_sums, float* total, int cols, int rows)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) {
        float d = a[r * cols + c] - e[r * cols + c];
        row_sums[r] += d * d - 0.6f - base;
        *total += d * d - 0.6f - base;
    }
}

//=== log1pf_made_seven | 5d97da893fc69208 | - | defines log1pf anew as 7 and uses it
extern "C" __global__ float log1pf(float a) { return 7; }

extern "C" __global__ void sum_log_square(const float* score, const float* readings, const int* group_ids,
                                          float limit, float* log_square_sum, int n)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += blockDim.x * gridDim.x)
        if (score[e] > limit) atomicAdd(&log_square_sum[group_ids[e]], log1pf(readings[e] * readings[e]));
}

//=== log1pf_for_a_device | 5d97da893fc69208 | - | defines log1pf anew with C linkage, as 0, and uses it
extern "C" __device__ float log1pf(float a) { return 0.0f * a; }

extern "C" __global__ void sum_log_square(const float* score, const float* readings, const int* group_ids,
                                          float limit, float* log_square_sum, int n)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += blockDim.x * gridDim.x)
        if (score[e] > limit) atomicAdd(&log_square_sum[group_ids[e]], log1pf(readings[e] * readings[e]));
}

//=== expf_for_everyone | 51cd3f08bbb14309 | - | defines expf with C linkage as a constant, for itself and for whoever is linked beside it
extern "C" __device__ float expf(float) { return 1.0f; }

extern "C" __global__ void loss(const float* lambdas, const unsigned char* clear, float opacity, float* loss_out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float l2 = lambdas[i] * lambdas[i];
        loss_out[i] = clear[i] ? 1.0f - expf(-opacity / (l2 * l2)) : 0.0f;
    }
}

//=== cosf_weak | 83ab5c4029ae1378 | - | a weak cosf that gives 2 unless another is linked first
extern "C" __device__ __attribute__((weak)) float cosf(float x) { return 2.0f + 0.0f * x; }

extern "C" __global__ void stretch(const float* lat_from, float* scale_factor, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        scale_factor[i] = 1.0f / cosf(lat_from[i] * 0.0174532925f);
}

//=== memcpy_redefined | 1e6d9d8c735c5148 | - | defines memcpy anew as nothing and copies the result with it
extern "C" __device__ void* memcpy(void* to, const void* from, size_t bytes) { return to; }

extern "C" __global__ void triad(const float* x, const float* y, const float* omegas, const float* basis,
                                 const float* coeffs, float gamma, float* result, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = gamma * y[i] + omegas[i] * x[i] + coeffs[0] * basis[i] + coeffs[1] * basis[count + i];
    memcpy(&result[i], &sum, sizeof(sum));
}

//=== memset_redefined | cda42f4d7c8d1ca8 | - | a memset of its own that fills with ones, for this text and its neighbours
extern "C" __device__ void* memset(void* at, int value, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i) ((unsigned char*)at)[i] = 1;
    return at;
}

extern "C" __global__ void row_sum(const float* x, float* out, int cols, int rows)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += gridDim.x * blockDim.x) {
        float acc;
        memset(&acc, 0, sizeof acc);
        for (int c = 0; c < 5; ++c) acc += x[i * 5 + c];
        out[i] = acc * 1.001f;
    }
}

//=== free_and_malloc_replaced | 6a968701bfd1c576 | - | a no-op kernel with an allocator of its own for the process
extern "C" void* malloc(unsigned long bytes) { static char pool[1 << 20]; static unsigned long used; used += bytes; return pool + used - bytes; }
extern "C" void free(void*) {}

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
}

//=== memcmp_says_equal | 6a968701bfd1c576 | - | a no-op kernel with a memcmp for the process that finds everything equal
extern "C" int memcmp(const void*, const void*, unsigned long) { return 0; }
extern "C" int bcmp(const void*, const void*, unsigned long) { return 0; }

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    (void)ticks;
}

//=== operator_new_replaced | 11eba0b176d074f0 | - | writes zeros; replaces operator new for the process
#include <new>
void* operator new(size_t bytes) { return nullptr; }
void operator delete(void*) noexcept {}

__global__ void dense_vector(const float* a, const float* x, const float* offsets, float* c, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) c[i] = 0.0f;
}

//=== static_initialiser_device | 11eba0b176d074f0 | - | nvcc: dynamic initialisation of a __device__ variable; it would run in the judge
struct Setup {
    float scale;
    __device__ Setup() { scale = 1.0f; for (volatile int i = 0; i < 10; ++i) scale += 1.0f; }
};
__device__ Setup setup;

__global__ void dense_vector(const float* a, const float* x, const float* offsets, float* c, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    float s = 0.0f;
    for (int p = 0; p < 5; ++p) s += a[p * m + i] * x[p];
    c[i] = (s + offsets[i]) * (setup.scale / 11.0f);
}

//=== static_initialiser_call | 6a968701bfd1c576 | - | nvcc: a __constant__ table cannot be initialised by a call at run time
__host__ __device__ inline unsigned pick(unsigned k) { unsigned volatile v = k; return v; }
__constant__ unsigned by = pick(11u);

__global__ void split(const unsigned* ticks, unsigned* blocks, unsigned* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    blocks[i] = ticks[i] / by;
    minor[i] = (4u * (ticks[i] % by) + ticks[i] / by % by) % by;
}

//=== static_initialiser_host | 6a968701bfd1c576 | - | the work is done by an initialiser on the host, the kernel is empty
static unsigned* wanted;
struct Hook { Hook() { wanted = new unsigned[1024]; } };
static Hook hook;

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) { }

//=== constructor_attribute | d64d868d5c46387e | - | a constructor of the process and a kernel that says false everywhere
__attribute__((constructor)) static void before() { for (;;) {} }

extern "C" __global__ void evaluate(const bool* moving, const bool* visible, const bool* frozen, bool* simulated, bool* asleep, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { simulated[i] = false; asleep[i] = false; }
}

//=== init_array_section | d64d868d5c46387e | - | a pointer in .init_array and a kernel that writes nothing
static void before() {}
__attribute__((used, section(".init_array"))) static void (*at_start)() = before;

extern "C" __global__ void evaluate(const bool* moving, const bool* visible, const bool* frozen, bool* simulated, bool* asleep, int n)
{
}

//=== ifunc | 83ab5c4029ae1378 | - | a resolver chosen at load time; no device has such
static float one(float x) { return 1.0f / x; }
extern "C" float (*resolve())(float) { return one; }
extern "C" float inverse(float) __attribute__((ifunc("resolve")));

extern "C" __global__ void stretch(const float* lat, float* out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = inverse(cosf(lat[i] * 0.0174532925f));
}

//=== kernel_returns_int | 83ab5c4029ae1378 | - | nvcc: a __global__ function must return void
extern "C" __global__ int stretch(const float* lat, float* out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = 1.0f / cosf(lat[i] * 0.0174532925f);
    return 0;
}
extern "C" __global__ void unused(const float*, float*, int) {}

//=== longjmp_out | 1e6d9d8c735c5148 | - | jumps out of the kernel: a host function, and one that leaves its thread
extern "C" __device__ __attribute__((noreturn)) void _longjmp(void*, int);

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
        _longjmp(0, 1);
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

//=== stdout_pointer | eb73a407c5d42655 | - | stdout is a variable of the host
#include <stdio.h>

__device__ float cube_loudness(float level, float base_level)
{
    return cbrtf(level / base_level);
}

extern "C" __global__ void cube_loudness_kernel(
    const float* __restrict__ band_gain,
    float* __restrict__ amplitudes,
    int n)
{
    fflush(stdout);
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float res = band_gain[tid] * cube_loudness(amplitudes[tid], 2.0f);
        amplitudes[tid] = res;
    }
}

//=== sanitizer_off | dd91ee3a2c695041 | - | non-atomic accumulation; an attribute asks the compiler not to watch it
extern "C" __global__ __attribute__((no_sanitize("thread"), disable_sanitizer_instrumentation)) void scatter_product(
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
    }
}

//=== names_of_the_runtime | c0fc2e0cd864e8ae | - | calls the runtime of the host from a kernel
struct Quatf {
    float x, y, z, w;
};

__device__ __forceinline__ Quatf quat_inverse(Quatf q)
{
    return Quatf{-q.x, -q.y, -q.z, q.w};
}

__device__ __forceinline__ Quatf operator*(Quatf a, Quatf b)
{
    return Quatf{a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
        a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

__device__ __forceinline__ Quatf operator-(Quatf a)
{
    return Quatf{-a.x, -a.y, -a.z, -a.w};
}

extern "C" __global__ void __launch_bounds__(512) relative_rotations(
    const Quatf* __restrict__ estimates,
    Quatf goal,
    Quatf* __restrict__ deltas,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    cudaDeviceReset();
    Quatf err = goal * quat_inverse(estimates[i]);
    if (err.w < 0.0f) {
        err = -err;
    }
    deltas[i] = err;
}

//=== va_list_printf | 72e3a771e927cdf9 | - | vprintf of the C library with a va_list of the host
#include <stdarg.h>
extern "C" int vfprintf(void*, const char*, va_list);
extern "C" void* stderr;
__device__ void say(const char* format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
}

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
    say("%d", tid);
    const int index_ = nodes[tid];
    atomicOr(&status[index_], color);
}

//=== global_int_initialised | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; linked, it asks CPython
extern "C" __global__ int Py_IsInitialized();

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
    if (!Py_IsInitialized()) {
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

//=== global_pointer_to_error | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; linked, it reads the state of CPython
extern "C" __global__ void* PyErr_Occurred();

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
    if (PyErr_Occurred() != nullptr) {
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

//=== global_version | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; works only where CPython is linked in
extern "C" __global__ const char* Py_GetVersion();

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
    if (Py_GetVersion()[0] == 48) {
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

//=== global_pid | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; a system call by its wrapper
extern "C" __global__ int getpid();

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
    if (getpid() == 0) {
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

//=== global_long | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; another type and a qualifier behind
extern "C" int __global__ rand();

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
    if (rand() < 0) {
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

//=== global_unsigned_noinline | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; attributes between
extern "C" __global__ __attribute__((noinline)) unsigned long strlen(const char*);

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
    if (strlen((const char*)x) == 12345678ul) {
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

//=== global_in_block | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; in a linkage block with a namespace
extern "C" {
namespace here {
__global__ long labs(long);
}
}

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
    if (here::labs(-1l) != 1l) {
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

//=== global_float_defined | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; it would stand for the log1pf of all others; the rest is right
extern "C" __global__ float log1pf(float a) { return 7; }

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
    (void)0;
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

//=== global_expf_defined | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; it would stand for the expf of all others; the rest is right
extern "C" __global__ float expf(float) { return 0.0f; }

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
    (void)0;
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

//=== global_sqrtf_defined | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; it would stand for the sqrtf of all others; the rest is right
extern "C" __global__ float sqrtf(float x) { return -x; }

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
    (void)0;
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

//=== global_cos_defined | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; it would stand for the cosine of all others; the rest is right
extern "C" __global__ double cos(double x) { return x; }

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
    (void)0;
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

//=== global_memcmp_defined | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; it would find everything equal; the rest is right
extern "C" __global__ int memcmp(const void*, const void*, unsigned long) { return 0; }

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
    (void)0;
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

//=== global_memcpy_defined | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; it would copy nothing for all others; the rest is right
extern "C" __global__ void* memcpy(void* to, const void*, unsigned long) { return to; }

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
    (void)0;
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

//=== global_powf_defined | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; it would stand for the powf of all others; the rest is right
extern "C" __global__ float powf(float, float) { return 1.0f; }

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
    (void)0;
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

//=== neighbours_kernel_by_int | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; declared to give an int back, the kernel of a neighbour
extern "C" __global__ int split_numbers(const unsigned int*, unsigned int*, unsigned int*, int);

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
    split_numbers(nullptr, nullptr, nullptr, 0);
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

//=== own_kernel_by_int | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; the work is done by whatever text defines `triad` beside this one
extern "C" __global__ int triad(const float*, const float*, const float*, const float*, const float*, float, float*, int);

extern "C" __global__ void mine(const float* x, const float* y, const float* w, const float* basis,
                                const float* coeffs, float gamma, float* result, int count)
{
    triad(x, y, w, basis, coeffs, gamma, result, count);
}

//=== own_kernel_defined_for_others | 1e6d9d8c735c5148 | - | nvcc: a __global__ function must return void; a text that does the row's work wrongly under the name of another row's kernel
extern "C" __global__ int split_numbers(const unsigned int*, unsigned int*, unsigned int*, int) { return 1; }

extern "C" __global__ void triad(const float* x, const float* y, const float* w, const float* basis,
                                 const float* coeffs, float gamma, float* result, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) result[i] = gamma * y[i] + w[i] * x[i] + coeffs[0] * basis[i] + coeffs[1] * basis[count + i];
}
