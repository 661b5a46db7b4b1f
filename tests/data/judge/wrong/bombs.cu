//=== endless_loop | 6a968701bfd1c576 | - | never ends
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    for (;;) {
    }
}

//=== endless_while_volatile | 6a968701bfd1c576 | - | never ends, and touches memory
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile unsigned int* at = blocks;
    while (n > 0) {
        at[i < n ? i : 0] = 1u;
    }
}

//=== endless_goto | 6a968701bfd1c576 | - | never ends
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
again:
    goto again;
}

//=== endless_recursion | 6a968701bfd1c576 | - | calls itself without end: the stack of a thread is finite
__device__ __noinline__ unsigned int deep(unsigned int x) { volatile unsigned int kept[16]; kept[x & 15u] = x; return deep(x + 1u) + kept[x & 15u]; }
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        blocks[i] = deep(ticks[i]);
    }
}

//=== recursion_too_deep | 6a968701bfd1c576 | - | quotients by counting, one level a step: up to 4,546 levels of 256 bytes and more, where a thread has 1,024
__device__ __noinline__ unsigned int quotient(unsigned int x) { volatile unsigned int kept[64]; kept[x & 63u] = x; if (x < 11u) { return 0u; } const unsigned int less = quotient(x - 11u); return less + 1u + (kept[x & 63u] - x); }
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const unsigned int whole = quotient(ticks[i]);
    blocks[i] = whole;
    minor[i] = (4u * (ticks[i] % 11u) + whole % 11u) % 11u;
}

//=== work_of_hours | 6a968701bfd1c576 | - | counts to 1e15 before it writes
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile unsigned long long k = 0ull;
    while (k < 1000000000000000ull) {
        k = k + 1ull;
    }
    if (i < n) {
        blocks[i] = ticks[i] / 11u;
    }
}

//=== loop_by_empty_statement | 6a968701bfd1c576 | - | a stray semicolon: the loop has no body and the index never moves
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n);
    {
        blocks[i] = ticks[i] / 11u;
    }
}

//=== giant_local | 6a968701bfd1c576 | - | 800 kB of locals a thread: 512 KiB are allowed
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned int table[200000];
    for (int k = 0; k < 200000; ++k) {
        table[k] = k / 11u;
    }
    blocks[i] = table[ticks[i]];
    minor[i] = (4u * (ticks[i] % 11u) + table[ticks[i]] % 11u) % 11u;
}

//=== giant_local_of_a_gigabyte | 6a968701bfd1c576 | - | a gigabyte of locals a thread
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile char table[1 << 30];
    table[n] = 1;
    if (i < n) {
        blocks[i] = table[n];
    }
}

//=== giant_global | 6a968701bfd1c576 | - | a terabyte of device memory
__device__ unsigned char everything[1ull << 40];
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    everything[i] = 1;
    if (i < n) {
        blocks[i] = everything[i];
    }
}

//=== giant_initialiser | 6a968701bfd1c576 | - | a table of 2^28 entries with an initialiser: a gigabyte of machine code, and the values are not the answer
__device__ unsigned int table[1 << 28] = { 1u, [1 << 27] = 2u };
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        blocks[i] = table[i];
    }
}

//=== template_tree | 6a968701bfd1c576 | - | 2^24 template instances
template <int D, unsigned long long N> struct tree {
    static constexpr unsigned long long value = tree<D - 1, 2 * N>::value + tree<D - 1, 2 * N + 1>::value;
};
template <unsigned long long N> struct tree<0, N> {
    static constexpr unsigned long long value = N;
};
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        blocks[i] = (unsigned int)tree<24, 1>::value;
    }
}

//=== template_depth | 6a968701bfd1c576 | - | templates nested 1,000,000 deep
template <int N> struct down {
    static constexpr int value = down<N - 1>::value + 1;
};
template <> struct down<0> {
    static constexpr int value = 0;
};
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        blocks[i] = ticks[i] / 11u + down<1000000>::value;
    }
}

//=== template_without_end | 6a968701bfd1c576 | - | templates that never end
template <class T> struct wrap {
    typename wrap<wrap<T>>::type inner;
    using type = int;
};
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    wrap<int> endless;
    if (i < n) {
        blocks[i] = sizeof(endless);
    }
}

//=== type_of_exponential_size | 6a968701bfd1c576 | - | a type whose name doubles 40 times
template <class A, class B> struct pair {
};
using t0 = pair<int, float>;
using t1 = pair<t0, t0>;
using t2 = pair<t1, t1>;
using t3 = pair<t2, t2>;
using t4 = pair<t3, t3>;
using t5 = pair<t4, t4>;
using t6 = pair<t5, t5>;
using t7 = pair<t6, t6>;
using t8 = pair<t7, t7>;
using t9 = pair<t8, t8>;
using t10 = pair<t9, t9>;
using t11 = pair<t10, t10>;
using t12 = pair<t11, t11>;
using t13 = pair<t12, t12>;
using t14 = pair<t13, t13>;
using t15 = pair<t14, t14>;
using t16 = pair<t15, t15>;
using t17 = pair<t16, t16>;
using t18 = pair<t17, t17>;
using t19 = pair<t18, t18>;
using t20 = pair<t19, t19>;
using t21 = pair<t20, t20>;
using t22 = pair<t21, t21>;
using t23 = pair<t22, t22>;
using t24 = pair<t23, t23>;
using t25 = pair<t24, t24>;
using t26 = pair<t25, t25>;
using t27 = pair<t26, t26>;
using t28 = pair<t27, t27>;
using t29 = pair<t28, t28>;
using t30 = pair<t29, t29>;
using t31 = pair<t30, t30>;
using t32 = pair<t31, t31>;
using t33 = pair<t32, t32>;
using t34 = pair<t33, t33>;
using t35 = pair<t34, t34>;
using t36 = pair<t35, t35>;
using t37 = pair<t36, t36>;
using t38 = pair<t37, t37>;
using t39 = pair<t38, t38>;
using t40 = pair<t39, t39>;

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        blocks[i] = sizeof(t40) + sizeof(__PRETTY_FUNCTION__);
    }
    auto named = [](auto x) { return sizeof(__PRETTY_FUNCTION__); };
    minor[0] = named(t40{});
}

//=== constexpr_loop | 6a968701bfd1c576 | - | a constant that takes 1e12 steps to compute
constexpr unsigned long long slow(unsigned long long n)
{
    unsigned long long sum = 0;
    for (unsigned long long k = 0; k < n; ++k) {
        sum += k * k;
    }
    return sum;
}
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    constexpr unsigned long long value = slow(1000000000000ull);
    if (i < n) {
        blocks[i] = (unsigned int)value;
    }
}

//=== constexpr_fibonacci | 6a968701bfd1c576 | - | a constant by doubly recursive calls
constexpr unsigned long long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    static_assert(fib(60) > 0, "");
    if (i < n) {
        blocks[i] = fib(60);
    }
}

//=== macro_doubling | 6a968701bfd1c576 | - | a macro that doubles 30 times
#define M0 x +
#define M1 M0 M0
#define M2 M1 M1
#define M3 M2 M2
#define M4 M3 M3
#define M5 M4 M4
#define M6 M5 M5
#define M7 M6 M6
#define M8 M7 M7
#define M9 M8 M8
#define M10 M9 M9
#define M11 M10 M10
#define M12 M11 M11
#define M13 M12 M12
#define M14 M13 M13
#define M15 M14 M14
#define M16 M15 M15
#define M17 M16 M16
#define M18 M17 M17
#define M19 M18 M18
#define M20 M19 M19
#define M21 M20 M20
#define M22 M21 M21
#define M23 M22 M22
#define M24 M23 M23
#define M25 M24 M24
#define M26 M25 M25
#define M27 M26 M26
#define M28 M27 M27
#define M29 M28 M28
#define M30 M29 M29

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int x = 1u;
    if (i < n) {
        blocks[i] = M30 0u;
    }
}

//=== unrolled_cube | 6a968701bfd1c576 | - | an unrolled loop in an unrolled loop in an unrolled loop, 1,000 each
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int x = (unsigned int)i;
#pragma unroll
    for (int a = 0; a < 1000; ++a) {
#pragma unroll
        for (int b = 0; b < 1000; ++b) {
#pragma unroll
            for (int c = 0; c < 1000; ++c) {
                x = x * 1664525u + (unsigned int)(a ^ b ^ c);
            }
        }
    }
    if (i < n) {
        blocks[i] = x;
    }
}

//=== includes_itself | 6a968701bfd1c576 | - | includes its own file without end
#include __FILE__
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        blocks[i] = ticks[i] / 11u;
    }
}

//=== includes_a_device | 6a968701bfd1c576 | - | includes a file that never ends
#include "/dev/zero"
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        blocks[i] = ticks[i] / 11u;
    }
}

//=== includes_a_secret | 6a968701bfd1c576 | - | includes a file of the machine
#include "/etc/passwd"
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        blocks[i] = ticks[i] / 11u;
    }
}

//=== embeds_a_file | 6a968701bfd1c576 | - | embeds a file of the machine by the assembler
asm(".incbin \"/etc/hostname\"");
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        blocks[i] = ticks[i] / 11u;
    }
}

//=== prints_without_end | 6a968701bfd1c576 | - | prints without end
#include <cstdio>

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    while (true) {
        printf("%d", n);
    }
}

//=== waits_for_nobody | 6a968701bfd1c576 | - | waits at a barrier that one warp never reaches, after a loop without end
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    if (threadIdx.x < 32) {
        while (n > 0) {
            __nanosleep(1000);
        }
    }
    __syncthreads();
}

//=== raw_string | 6a968701bfd1c576 | - | a raw string that hides the kernel's end
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const char* text = R"(}
__global__ void other() {)";
    if (i < n) {
        blocks[i] = text[0];
    }
}

//=== trigraph_and_splice | 6a968701bfd1c576 | - | a comment that a splice extends over the store
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // the answer follows \
    blocks[i] = ticks[i] / 11u;
    if (i < n) {
        minor[i] = (4u * (ticks[i] % 11u) + ticks[i] / 11u % 11u) % 11u;
    }
}

//=== comment_never_closed | 6a968701bfd1c576 | - | a comment that is never closed
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    /* the answer follows
    if (i < n) {
        blocks[i] = ticks[i] / 11u;
    }
}
