// CUDA's mathematical functions, by the C library's and the compiler's own.

namespace pairsmith {

template <class To, class From> inline To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "types of one size");
    To to;
    __builtin_memcpy(&to, &from, sizeof(To));
    return to;
}

}  // namespace pairsmith

#define PAIRSMITH_UNARY(name)                                                                          \
    inline float name##f(float x) { return __builtin_##name##f(x); }                                   \
    inline double name(double x) { return __builtin_##name(x); }                                       \
    inline float name(float x) { return __builtin_##name##f(x); }
#define PAIRSMITH_BINARY(name)                                                                         \
    inline float name##f(float x, float y) { return __builtin_##name##f(x, y); }                       \
    inline double name(double x, double y) { return __builtin_##name(x, y); }                          \
    inline float name(float x, float y) { return __builtin_##name##f(x, y); }

PAIRSMITH_UNARY(sin) PAIRSMITH_UNARY(cos) PAIRSMITH_UNARY(tan) PAIRSMITH_UNARY(asin)
PAIRSMITH_UNARY(acos) PAIRSMITH_UNARY(atan) PAIRSMITH_UNARY(sinh) PAIRSMITH_UNARY(cosh)
PAIRSMITH_UNARY(tanh) PAIRSMITH_UNARY(asinh) PAIRSMITH_UNARY(acosh) PAIRSMITH_UNARY(atanh)
PAIRSMITH_UNARY(exp) PAIRSMITH_UNARY(exp2) PAIRSMITH_UNARY(expm1) PAIRSMITH_UNARY(log)
PAIRSMITH_UNARY(log2) PAIRSMITH_UNARY(log10) PAIRSMITH_UNARY(log1p) PAIRSMITH_UNARY(sqrt)
PAIRSMITH_UNARY(cbrt) PAIRSMITH_UNARY(erf) PAIRSMITH_UNARY(erfc) PAIRSMITH_UNARY(tgamma)
PAIRSMITH_UNARY(lgamma) PAIRSMITH_UNARY(floor) PAIRSMITH_UNARY(ceil) PAIRSMITH_UNARY(trunc)
PAIRSMITH_UNARY(round) PAIRSMITH_UNARY(rint) PAIRSMITH_UNARY(nearbyint) PAIRSMITH_UNARY(fabs)
PAIRSMITH_BINARY(pow) PAIRSMITH_BINARY(atan2) PAIRSMITH_BINARY(fmod) PAIRSMITH_BINARY(fmax)
PAIRSMITH_BINARY(fmin) PAIRSMITH_BINARY(hypot) PAIRSMITH_BINARY(copysign) PAIRSMITH_BINARY(fdim)
PAIRSMITH_BINARY(remainder)

inline double pow(double x, int n) { return __builtin_pow(x, n); }
inline float exp10f(float x) { return __builtin_powf(10.0f, x); }
inline double exp10(double x) { return __builtin_pow(10.0, x); }
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / __builtin_cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / __builtin_cbrt(x); }
inline float ldexpf(float x, int n) { return __builtin_ldexpf(x, n); }
inline double ldexp(double x, int n) { return __builtin_ldexp(x, n); }
inline float sinpif(float x) { return static_cast<float>(__builtin_sin(CUDART_PI * x)); }
inline float cospif(float x) { return static_cast<float>(__builtin_cos(CUDART_PI * x)); }
inline double sinpi(double x) { return __builtin_sin(CUDART_PI * x); }
inline double cospi(double x) { return __builtin_cos(CUDART_PI * x); }
inline float norm3df(float x, float y, float z) { return __builtin_sqrtf(x * x + y * y + z * z); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline double norm3d(double x, double y, double z) { return __builtin_sqrt(x * x + y * y + z * z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline int __float2int_rn(float x) { return static_cast<int>(__builtin_rintf(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline int __float2int_rd(float x) { return static_cast<int>(__builtin_floorf(x)); }
inline int __float2int_ru(float x) { return static_cast<int>(__builtin_ceilf(x)); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }

inline void sincosf(float x, float* s, float* c)
{
    *s = __builtin_sinf(x);
    *c = __builtin_cosf(x);
}

inline void sincos(double x, double* s, double* c)
{
    *s = __builtin_sin(x);
    *c = __builtin_cos(x);
}

inline float modff(float x, float* whole) { return __builtin_modff(x, whole); }
inline double modf(double x, double* whole) { return __builtin_modf(x, whole); }
inline float frexpf(float x, int* e) { return __builtin_frexpf(x, e); }
inline double frexp(double x, int* e) { return __builtin_frexp(x, e); }

// Fast forms have the accurate ones' values here.
inline float __expf(float x) { return __builtin_expf(x); }
inline float __logf(float x) { return __builtin_logf(x); }
inline float __log2f(float x) { return __builtin_log2f(x); }
inline float __sinf(float x) { return __builtin_sinf(x); }
inline float __cosf(float x) { return __builtin_cosf(x); }
inline float __powf(float x, float y) { return __builtin_powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }

namespace pairsmith {

// y with erfc(y) = x, by Newton's method on log(erfc), which converges from a tail estimate.
inline double inverse_erfc(double x)
{
    if (!(x > 0.0 && x < 2.0))
        return x == 0.0 ? __builtin_inf() : x == 2.0 ? -__builtin_inf() : __builtin_nan("");
    const bool mirrored = x > 1.0;
    const double p = mirrored ? 2.0 - x : x;
    const double t = __builtin_sqrt(-2.0 * __builtin_log(0.5 * p));
    double y = 0.70710678118654752
        * (t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t)));
    for (int i = 0; i < 4; ++i) {
        const double error = __builtin_erfc(y) - p;
        const double slope = -1.1283791670955126 * __builtin_exp(-y * y);
        const double step = error / slope;
        y -= step / (1.0 + y * step);
    }
    return mirrored ? -y : y;
}

inline double inverse_erf(double x)
{
    if (__builtin_fabs(x) > 0.5)
        return x > 0.0 ? inverse_erfc(1.0 - x) : -inverse_erfc(1.0 + x);
    double y = 0.8862269254527580 * x;
    for (int i = 0; i < 6; ++i) {
        const double step = (__builtin_erf(y) - x) / (1.1283791670955126 * __builtin_exp(-y * y));
        y -= step / (1.0 + y * step);
    }
    return y;
}

}  // namespace pairsmith

inline double erfinv(double x) { return pairsmith::inverse_erf(x); }
inline float erfinvf(float x) { return static_cast<float>(pairsmith::inverse_erf(x)); }
inline double erfcinv(double x) { return pairsmith::inverse_erfc(x); }
inline float erfcinvf(float x) { return static_cast<float>(pairsmith::inverse_erfc(x)); }
inline double normcdf(double x) { return 0.5 * __builtin_erfc(-0.70710678118654752 * x); }
inline float normcdff(float x) { return static_cast<float>(normcdf(x)); }
inline double normcdfinv(double p) { return -1.4142135623730951 * pairsmith::inverse_erfc(2.0 * p); }
inline float normcdfinvf(float p) { return static_cast<float>(normcdfinv(p)); }
inline double erfcx(double x) { return __builtin_exp(x * x) * __builtin_erfc(x); }

inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }

#define PAIRSMITH_EXTREMES(type)                                                                       \
    inline type max(type a, type b) { return a > b ? a : b; }                                          \
    inline type min(type a, type b) { return a < b ? a : b; }
PAIRSMITH_EXTREMES(int) PAIRSMITH_EXTREMES(unsigned int) PAIRSMITH_EXTREMES(long)
PAIRSMITH_EXTREMES(unsigned long) PAIRSMITH_EXTREMES(long long) PAIRSMITH_EXTREMES(unsigned long long)
#define PAIRSMITH_MIXED(type, other, result)                                                           \
    inline result max(type a, other b) { return max(static_cast<result>(a), static_cast<result>(b)); } \
    inline result min(type a, other b) { return min(static_cast<result>(a), static_cast<result>(b)); }
PAIRSMITH_MIXED(int, unsigned int, unsigned int)
PAIRSMITH_MIXED(unsigned int, int, unsigned int)
PAIRSMITH_MIXED(long long, unsigned long long, unsigned long long)
PAIRSMITH_MIXED(unsigned long long, long long, unsigned long long)
inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
inline float min(float a, float b) { return __builtin_fminf(a, b); }
inline double max(double a, double b) { return __builtin_fmax(a, b); }
inline double min(double a, double b) { return __builtin_fmin(a, b); }
inline double max(float a, double b) { return __builtin_fmax(a, b); }
inline double max(double a, float b) { return __builtin_fmax(a, b); }
inline double min(float a, double b) { return __builtin_fmin(a, b); }
inline double min(double a, float b) { return __builtin_fmin(a, b); }

inline int abs(int x) { return x < 0 ? -x : x; }
inline long abs(long x) { return x < 0 ? -x : x; }
inline long long abs(long long x) { return x < 0 ? -x : x; }
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }
inline long labs(long x) { return x < 0 ? -x : x; }
inline long long llabs(long long x) { return x < 0 ? -x : x; }

inline unsigned int __float_as_uint(float x) { return pairsmith::bits_as<unsigned int>(x); }
inline int __float_as_int(float x) { return pairsmith::bits_as<int>(x); }
inline float __uint_as_float(unsigned int x) { return pairsmith::bits_as<float>(x); }
inline float __int_as_float(int x) { return pairsmith::bits_as<float>(x); }
inline long long __double_as_longlong(double x) { return pairsmith::bits_as<long long>(x); }
inline double __longlong_as_double(long long x) { return pairsmith::bits_as<double>(x); }
inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned int>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
inline unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
inline int __mul24(int a, int b) { return a * b; }
inline unsigned int __umulhi(unsigned int a, unsigned int b)
{
    return static_cast<unsigned int>((static_cast<unsigned long long>(a) * b) >> 32);
}
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }

template <class T> inline T __ldg(const T* place) { return *place; }
template <class T> inline T __ldcs(const T* place) { return *place; }
template <class T> inline void __stcs(T* place, T value) { *place = value; }
