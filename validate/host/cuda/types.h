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
// With what nvcc takes in device code only when it is told --expt-relaxed-constexpr.
#define PAIRSMITH_RELAXED
#define __align__(n) __attribute__((aligned(n)))
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
