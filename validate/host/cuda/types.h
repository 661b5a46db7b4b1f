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
#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_PI 3.14159265358979323846
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_EPSILON __DBL_EPSILON__
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2u + 1u)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-__LONG_LONG_MAX__ - 1ll)

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef __INT64_TYPE__ int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef unsigned int uint;

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
PAIRSMITH_VECTORS(longlong, long long, 16, 16)
PAIRSMITH_VECTORS(ulonglong, unsigned long long, 16, 16)
PAIRSMITH_VECTORS(float, float, 8, 16)
PAIRSMITH_VECTORS(double, double, 16, 16)

struct dim3 {
    unsigned int x, y, z;
    dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
};
