// CUDA's own types and words, for C++ on a CPU. No header of CUDA or of the C library is needed.

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __align__(n) alignas(n)
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef decltype(sizeof 0) size_t;
typedef decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr)) ptrdiff_t, ssize_t, intptr_t;
typedef size_t uintptr_t;
typedef long intmax_t, clock_t, time_t;
typedef unsigned long uintmax_t;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef uint8_t u_int8_t;
typedef uint16_t u_int16_t;
typedef uint32_t u_int32_t;
typedef uint64_t u_int64_t;
typedef int8_t int_fast8_t, int_least8_t;
typedef uint8_t uint_fast8_t, uint_least8_t;
typedef int16_t int_least16_t;
typedef uint16_t uint_least16_t;
typedef int32_t int_least32_t;
typedef uint32_t uint_least32_t;
typedef int64_t int_fast16_t, int_fast32_t, int_fast64_t, int_least64_t;
typedef uint64_t uint_fast16_t, uint_fast32_t, uint_fast64_t, uint_least64_t;

namespace pairsmith {

// Ends the kernel as a fault of its own.
[[noreturn]] void trap();

// Reads and writes of what a kernel names to a function of CUDA's: the watch sees them.
template <class T> T load(const T* place);
template <class T> void store(T* place, T value);

template <class To, class From> inline To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "types of one size");
    To to;
    __builtin_memcpy(&to, &from, sizeof(To));
    return to;
}

template <bool holds, class T> struct only_if {};
template <class T> struct only_if<true, T> {
    typedef T type;
};
// double where T is a whole number, as the C library's functions have it.
template <class T>
using if_whole = typename only_if<!__is_floating_point(T) && __is_arithmetic(T), double>::type;
// double where two arguments are of two arithmetic types.
template <class T, class U>
using if_mixed =
    typename only_if<__is_arithmetic(T) && __is_arithmetic(U) && (!__is_same(T, U) || !__is_floating_point(T)),
                     double>::type;

}  // namespace pairsmith

#define assert(...) ((__VA_ARGS__) ? static_cast<void>(0) : pairsmith::trap())
inline void __trap() { pairsmith::trap(); }
inline void __brkpt() { pairsmith::trap(); }
inline void __nanosleep(unsigned int) {}
inline void __prof_trigger(int) {}
#define __assume(condition) __builtin_assume(condition)

// CUDA aligns vectors of two and four to all their bytes, up to 16.
#define PAIRSMITH_VECTORS(name, type, two, four)                                                       \
    struct name##1 { type x; };                                                                        \
    struct alignas(two) name##2 { type x, y; };                                                        \
    struct name##3 { type x, y, z; };                                                                  \
    struct alignas(four) name##4 { type x, y, z, w; };                                                 \
    inline name##1 make_##name##1(type x) { return { x }; }                                            \
    inline name##2 make_##name##2(type x, type y) { return { x, y }; }                                 \
    inline name##3 make_##name##3(type x, type y, type z) { return { x, y, z }; }                      \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return { x, y, z, w }; }

PAIRSMITH_VECTORS(char, signed char, 2, 4)
PAIRSMITH_VECTORS(uchar, unsigned char, 2, 4)
PAIRSMITH_VECTORS(short, short, 4, 8)
PAIRSMITH_VECTORS(ushort, unsigned short, 4, 8)
PAIRSMITH_VECTORS(int, int, 8, 16)
PAIRSMITH_VECTORS(uint, unsigned int, 8, 16)
PAIRSMITH_VECTORS(long, long, 16, 16)
PAIRSMITH_VECTORS(ulong, unsigned long, 16, 16)
PAIRSMITH_VECTORS(longlong, long long, 16, 16)
PAIRSMITH_VECTORS(ulonglong, unsigned long long, 16, 16)
PAIRSMITH_VECTORS(float, float, 8, 16)
PAIRSMITH_VECTORS(double, double, 16, 16)
#define PAIRSMITH_WIDE_VECTOR(name, type, bytes)                                                       \
    struct alignas(bytes) name##4_##bytes##a { type x, y, z, w; };                                     \
    inline name##4_##bytes##a make_##name##4_##bytes##a(type x, type y, type z, type w)                \
    {                                                                                                  \
        return { x, y, z, w };                                                                         \
    }
#define PAIRSMITH_WIDE_VECTORS(name, type)                                                             \
    PAIRSMITH_WIDE_VECTOR(name, type, 16) PAIRSMITH_WIDE_VECTOR(name, type, 32)
PAIRSMITH_WIDE_VECTORS(long, long) PAIRSMITH_WIDE_VECTORS(ulong, unsigned long)
PAIRSMITH_WIDE_VECTORS(longlong, long long) PAIRSMITH_WIDE_VECTORS(ulonglong, unsigned long long)
PAIRSMITH_WIDE_VECTORS(double, double)

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return { x, y, z }; }
};

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static const int warpSize = 32;
