// CUDA's mathematical functions, by the C library's and the compiler's own.

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
PAIRSMITH_BINARY(remainder) PAIRSMITH_BINARY(nextafter) PAIRSMITH_UNARY(logb)

inline double pow(double x, int n) { return __builtin_pow(x, n); }
inline double copysign(float x, double y) { return __builtin_copysign(x, y); }
inline double copysign(double x, float y) { return __builtin_copysign(x, y); }
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
inline float exp10(float x) { return exp10f(x); }
inline float rcbrt(float x) { return rcbrtf(x); }
inline float ldexp(float x, int n) { return __builtin_ldexpf(x, n); }
inline float sinpi(float x) { return sinpif(x); }
inline float cospi(float x) { return cospif(x); }
inline float fdividef(float x, float y) { return x / y; }
inline double fdivide(double x, double y) { return x / y; }
inline float rhypotf(float x, float y) { return static_cast<float>(1.0 / __builtin_hypot(x, y)); }
inline double rhypot(double x, double y) { return 1.0 / __builtin_hypot(x, y); }
inline float rhypot(float x, float y) { return rhypotf(x, y); }

#define PAIRSMITH_TO_WHOLE(name, result)                                                               \
    inline result name##f(float x) { return __builtin_##name##f(x); }                                  \
    inline result name(double x) { return __builtin_##name(x); }                                       \
    inline result name(float x) { return __builtin_##name##f(x); }
PAIRSMITH_TO_WHOLE(lround, long) PAIRSMITH_TO_WHOLE(llround, long long) PAIRSMITH_TO_WHOLE(ilogb, int)
PAIRSMITH_TO_WHOLE(lrint, long) PAIRSMITH_TO_WHOLE(llrint, long long)
#define PAIRSMITH_SCALED(name, type)                                                                   \
    inline float name##f(float x, type n) { return __builtin_##name##f(x, n); }                        \
    inline double name(double x, type n) { return __builtin_##name(x, n); }                            \
    inline float name(float x, type n) { return __builtin_##name##f(x, n); }
PAIRSMITH_SCALED(scalbn, int) PAIRSMITH_SCALED(scalbln, long)

// Results through pointers.
#define PAIRSMITH_PAIR(name, type, first, second)                                                      \
    inline void name(type x, type* s, type* c)                                                         \
    {                                                                                                  \
        const type a = first, b = second;                                                              \
        pairsmith::store(s, a);                                                                        \
        pairsmith::store(c, b);                                                                        \
    }
PAIRSMITH_PAIR(sincosf, float, __builtin_sinf(x), __builtin_cosf(x))
PAIRSMITH_PAIR(sincos, double, __builtin_sin(x), __builtin_cos(x))
PAIRSMITH_PAIR(sincos, float, __builtin_sinf(x), __builtin_cosf(x))
PAIRSMITH_PAIR(sincospif, float, sinpif(x), cospif(x))
PAIRSMITH_PAIR(sincospi, double, sinpi(x), cospi(x))
PAIRSMITH_PAIR(sincospi, float, sinpif(x), cospif(x))
PAIRSMITH_PAIR(__sincosf, float, __builtin_sinf(x), __builtin_cosf(x))
PAIRSMITH_PAIR(__sincos2pif, float, sinpif(2.0f * x), cospif(2.0f * x))
#define PAIRSMITH_PARTED(name, builtin, type, part)                                                    \
    inline type name(type x, part* place)                                                              \
    {                                                                                                  \
        part found;                                                                                    \
        const type rest = builtin(x, &found);                                                          \
        pairsmith::store(place, found);                                                                \
        return rest;                                                                                   \
    }
PAIRSMITH_PARTED(modff, __builtin_modff, float, float) PAIRSMITH_PARTED(modf, __builtin_modf, double, double)
PAIRSMITH_PARTED(modf, __builtin_modff, float, float) PAIRSMITH_PARTED(frexpf, __builtin_frexpf, float, int)
PAIRSMITH_PARTED(frexp, __builtin_frexp, double, int) PAIRSMITH_PARTED(frexp, __builtin_frexpf, float, int)
#define PAIRSMITH_QUOTIENT(name, builtin, type)                                                        \
    inline type name(type x, type y, int* place)                                                       \
    {                                                                                                  \
        int found;                                                                                     \
        const type rest = builtin(x, y, &found);                                                       \
        pairsmith::store(place, found);                                                                \
        return rest;                                                                                   \
    }
PAIRSMITH_QUOTIENT(remquof, __builtin_remquof, float) PAIRSMITH_QUOTIENT(remquo, __builtin_remquo, double)
PAIRSMITH_QUOTIENT(remquo, __builtin_remquof, float)

// Fast forms are as far off as a device's: their argument is scaled in float, and the instruction
// has a result of fixed or of relative precision (PTX ISA: sin.approx, ex2.approx, lg2.approx).
namespace pairsmith {
inline float fixed(double x, double steps) { return float(__builtin_rint(x * steps) / steps); }
inline float turns(float x) { return x * 0.15915494f; }
inline float fast_log2(float x)
{
    const double found = __builtin_log2(double(x));
    return found > -1.0 && found < 1.0 ? fixed(found, 0x1p23) : float(found);
}
inline float fast_exp2(float x) { return float(__builtin_exp2(double(x))); }
}  // namespace pairsmith
inline float __expf(float x) { return pairsmith::fast_exp2(x * 1.4426950f); }
inline float __exp10f(float x) { return pairsmith::fast_exp2(x * 3.3219281f); }
inline float __log2f(float x) { return pairsmith::fast_log2(x); }
inline float __logf(float x) { return pairsmith::fast_log2(x) * 0.69314718f; }
inline float __log10f(float x) { return pairsmith::fast_log2(x) * 0.30103000f; }
inline float __powf(float x, float y) { return pairsmith::fast_exp2(y * pairsmith::fast_log2(x)); }
inline float __sinf(float x) { return pairsmith::fixed(__builtin_sin(6.283185307179586 * pairsmith::turns(x)), 0x1p22); }
inline float __cosf(float x) { return pairsmith::fixed(__builtin_cos(6.283185307179586 * pairsmith::turns(x)), 0x1p22); }
inline float __tanf(float x) { return __sinf(x) * (1.0f / __cosf(x)); }
inline float __tanhf(float x)
{
    const unsigned bits = __builtin_bit_cast(unsigned, __builtin_tanhf(x));
    return __builtin_bit_cast(float, (bits + 0x800u) & 0xfffff000u);
}
inline float __fdividef(float x, float y) { return __builtin_fabsf(y) > 0x1p126f ? x * 0.0f : x * (1.0f / y); }
inline float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
inline float __sin2pif(float x) { return sinpif(2.0f * x); }
inline float __cos2pif(float x) { return cospif(2.0f * x); }
