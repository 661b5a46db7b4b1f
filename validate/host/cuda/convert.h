// Numbers to whole numbers, kept inside the type as a GPU does, and bits of one type as another.

namespace pairsmith {

template <class F> inline F whole(F x, rounding_t how)
{
    if (sizeof(F) == 4)
        return how == to_nearest ? __builtin_rintf(x)
            : how == to_zero     ? __builtin_truncf(x)
            : how == upwards     ? __builtin_ceilf(x)
                                 : __builtin_floorf(x);
    return how == to_nearest ? __builtin_rint(x)
        : how == to_zero     ? __builtin_trunc(x)
        : how == upwards     ? __builtin_ceil(x)
                             : __builtin_floor(x);
}

// NaN gives 0 where neither type has 64 bits, else the type's topmost bit alone.
template <class I, class F> inline I saturated(F x, rounding_t how)
{
    constexpr bool has_sign = static_cast<I>(-1) < static_cast<I>(0);
    constexpr I top = static_cast<I>(1ull << (sizeof(I) * 8 - 1));
    constexpr I least = has_sign ? top : static_cast<I>(0);
    if (__builtin_isnan(x))
        return sizeof(I) == 8 || sizeof(F) == 8 ? top : static_cast<I>(0);
    const F found = whole(x, how), half = static_cast<F>(1ull << (sizeof(I) * 8 - 1));
    if (found >= (has_sign ? half : 2 * half))
        return static_cast<I>(~least);
    return found <= static_cast<F>(least) ? least : static_cast<I>(found);
}

}  // namespace pairsmith

PAIRSMITH_ROUNDED(__float2int, int, (float a), saturated<int>, a)
PAIRSMITH_ROUNDED(__float2uint, unsigned int, (float a), saturated<unsigned int>, a)
PAIRSMITH_ROUNDED(__float2ll, long long, (float a), saturated<long long>, a)
PAIRSMITH_ROUNDED(__float2ull, unsigned long long, (float a), saturated<unsigned long long>, a)
PAIRSMITH_ROUNDED(__double2int, int, (double a), saturated<int>, a)
PAIRSMITH_ROUNDED(__double2uint, unsigned int, (double a), saturated<unsigned int>, a)
PAIRSMITH_ROUNDED(__double2ll, long long, (double a), saturated<long long>, a)
PAIRSMITH_ROUNDED(__double2ull, unsigned long long, (double a), saturated<unsigned long long>, a)

inline unsigned int __float_as_uint(float x) { return pairsmith::bits_as<unsigned int>(x); }
inline int __float_as_int(float x) { return pairsmith::bits_as<int>(x); }
inline float __uint_as_float(unsigned int x) { return pairsmith::bits_as<float>(x); }
inline float __int_as_float(int x) { return pairsmith::bits_as<float>(x); }
inline long long __double_as_longlong(double x) { return pairsmith::bits_as<long long>(x); }
inline double __longlong_as_double(long long x) { return pairsmith::bits_as<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(pairsmith::bits_as<unsigned long long>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(pairsmith::bits_as<unsigned long long>(x)); }
inline double __hiloint2double(int high, int low)
{
    const unsigned long long bits = static_cast<unsigned long long>(static_cast<unsigned int>(high)) << 32;
    return pairsmith::bits_as<double>(bits | static_cast<unsigned int>(low));
}

// How CUDA's first functions named a rounding mode.
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

#define PAIRSMITH_BY_MODE(name, type, parameters, call, ...)                                           \
    inline type name parameters { return pairsmith::call(__VA_ARGS__, static_cast<pairsmith::rounding_t>(mode)); }
PAIRSMITH_BY_MODE(dadd, double, (double a, double b, cudaRoundMode mode = cudaRoundNearest), add, a, b)
PAIRSMITH_BY_MODE(dsub, double, (double a, double b, cudaRoundMode mode = cudaRoundNearest), add, a, -b)
PAIRSMITH_BY_MODE(dmul, double, (double a, double b, cudaRoundMode mode = cudaRoundNearest), multiply, a, b)
PAIRSMITH_BY_MODE(fma, double, (double a, double b, double c, cudaRoundMode mode), fused, a, b, c)
PAIRSMITH_BY_MODE(double2int, int, (double a, cudaRoundMode mode = cudaRoundZero), saturated<int>, a)
PAIRSMITH_BY_MODE(double2uint, unsigned int, (double a, cudaRoundMode mode = cudaRoundZero),
                  saturated<unsigned int>, a)
PAIRSMITH_BY_MODE(double2ll, long long, (double a, cudaRoundMode mode = cudaRoundZero), saturated<long long>, a)
PAIRSMITH_BY_MODE(double2ull, unsigned long long, (double a, cudaRoundMode mode = cudaRoundZero),
                  saturated<unsigned long long>, a)
PAIRSMITH_BY_MODE(ll2double, double, (long long a, cudaRoundMode mode = cudaRoundNearest), of_whole<double>, a)
PAIRSMITH_BY_MODE(ull2double, double, (unsigned long long a, cudaRoundMode mode = cudaRoundNearest),
                  of_whole<double>, a)
inline double int2double(int a, cudaRoundMode = cudaRoundNearest) { return a; }
inline double uint2double(unsigned int a, cudaRoundMode = cudaRoundNearest) { return a; }
inline double float2double(float a, cudaRoundMode = cudaRoundNearest) { return a; }
