// Arithmetic in a rounding mode of its own: the nearest value, moved by the sign of what it misses.

namespace pairsmith {

enum rounding_t { to_nearest, to_zero, upwards, downwards };

template <class T> inline bool finite(T x) { return __builtin_isfinite(x); }

// `nearest` is the exact value to nearest, `missed` has the sign of exact - nearest.
template <class T> inline T directed(T nearest, double missed, bool finite_inputs, rounding_t how)
{
    if (how == to_nearest || __builtin_isnan(nearest))
        return nearest;
    if (__builtin_isinf(nearest))
        missed = !finite_inputs ? 0.0 : nearest > 0 ? -1.0 : 1.0;
    if (missed > 0.0 && (how == upwards || (how == to_zero && nearest < 0)))
        return sizeof(T) == 4 ? __builtin_nextafterf(nearest, __builtin_inff())
                              : __builtin_nextafter(nearest, __builtin_inf());
    if (missed < 0.0 && (how == downwards || (how == to_zero && nearest > 0)))
        return sizeof(T) == 4 ? __builtin_nextafterf(nearest, -__builtin_inff())
                              : __builtin_nextafter(nearest, -__builtin_inf());
    return nearest;
}

// What a sum of two doubles, rounded to nearest, misses; exact.
inline double missed_by_sum(double a, double b, double sum)
{
    const double part = sum - a;
    return (a - (sum - part)) + (b - part);
}

// Zero as a sum of unlike zeros or of a number and its opposite is -0 downwards.
template <class T> inline T signed_zero(T result, bool unlike, rounding_t how)
{
    return how == downwards && result == 0 && unlike ? -__builtin_fabs(result) : result;
}

inline float add(float a, float b, rounding_t how)
{
    const float near = a + b;
    const double sum = static_cast<double>(a) + b;
    const double missed = (sum - near) + missed_by_sum(a, b, sum);
    const float found = directed(near, missed, finite(a) && finite(b), how);
    return signed_zero(found, __builtin_signbit(a) != __builtin_signbit(b), how);
}

inline double add(double a, double b, rounding_t how)
{
    const double near = a + b;
    const double found = directed(near, missed_by_sum(a, b, near), finite(a) && finite(b), how);
    return signed_zero(found, __builtin_signbit(a) != __builtin_signbit(b), how);
}

inline float multiply(float a, float b, rounding_t how)
{
    const double exact = static_cast<double>(a) * b;
    const float near = static_cast<float>(exact);
    return directed(near, exact - near, finite(a) && finite(b), how);
}

// Factors as numbers about 1, so that nothing is lost below the smallest double.
inline double multiply(double a, double b, rounding_t how)
{
    const double near = a * b;
    if (how == to_nearest || !finite(near) || a == 0.0 || b == 0.0)
        return directed(near, 0.0, finite(a) && finite(b), how);
    int p, q;
    const double f = __builtin_frexp(a, &p), g = __builtin_frexp(b, &q);
    const double missed = __builtin_fma(f, g, -__builtin_ldexp(near, -(p + q)));
    return directed(near, missed, true, how);
}

inline float fused(float a, float b, float c, rounding_t how)
{
    const float near = __builtin_fmaf(a, b, c);
    const double product = static_cast<double>(a) * b, sum = product + c;
    const double missed = (sum - near) + missed_by_sum(product, c, sum);
    const float found = directed(near, missed, finite(a) && finite(b) && finite(c), how);
    return signed_zero(found, __builtin_signbit(product) != __builtin_signbit(c), how);
}

// What a fused product and sum misses (after Boldo and Muller), with factors about 1.
inline double missed_by_fused(double a, double b, double c, double near)
{
    const double product = a * b, low = __builtin_fma(a, b, -product);
    const double first = c + low, rest = missed_by_sum(c, low, first);
    const double upper = product + first, lower = missed_by_sum(product, first, upper);
    return ((upper - near) + lower) + rest;
}

inline double fused(double a, double b, double c, rounding_t how)
{
    const double near = __builtin_fma(a, b, c);
    const bool unlike = (__builtin_signbit(a) != __builtin_signbit(b)) != __builtin_signbit(c);
    if (how == to_nearest || !finite(near))
        return directed(near, 0.0, finite(a) && finite(b) && finite(c), how);
    if (a == 0.0 || b == 0.0)
        return signed_zero(near, unlike, how);
    int p, q, r;
    const double f = __builtin_frexp(a, &p), g = __builtin_frexp(b, &q);
    __builtin_frexp(c, &r);
    double missed;
    if (c != 0.0 && r - (p + q) > 200)
        missed = f * g;  // the product lies far below the addend's last place
    else {
        double small = __builtin_ldexp(c, -(p + q));
        if (c != 0.0 && r - (p + q) < -900)
            small = __builtin_copysign(0x1p-900, c);
        missed = missed_by_fused(f, g, small, __builtin_ldexp(near, -(p + q)));
    }
    return signed_zero(directed(near, missed, true, how), unlike && missed == 0.0, how);
}

inline float divide(float a, float b, rounding_t how)
{
    const float near = a / b;
    const double left = a - static_cast<double>(near) * b;
    return directed(near, b < 0 ? -left : left, finite(a) && finite(b) && b != 0, how);
}

inline double divide(double a, double b, rounding_t how)
{
    const double near = a / b;
    if (how == to_nearest || !finite(near) || !finite(b) || a == 0.0)
        return directed(near, 0.0, finite(a) && finite(b) && b != 0.0, how);
    int p, q;
    const double f = __builtin_frexp(a, &p), g = __builtin_frexp(b, &q);
    const double left = __builtin_fma(-__builtin_ldexp(near, q - p), g, f);
    return directed(near, b < 0 ? -left : left, true, how);
}

inline float root(float a, rounding_t how)
{
    const float near = __builtin_sqrtf(a);
    return directed(near, a - static_cast<double>(near) * near, finite(a), how);
}

inline double root(double a, rounding_t how)
{
    const double near = __builtin_sqrt(a);
    const double scale = a < 0x1p-500 ? 0x1p300 : 1.0, scaled = near * scale;
    return directed(near, __builtin_fma(-scaled, scaled, a * scale * scale), finite(a), how);
}

inline float narrowed(double a, rounding_t how)
{
    const float near = static_cast<float>(a);
    return directed(near, a - near, finite(a), how);
}

// Whole numbers: what is missed is found without rounding.
template <class T, class I> inline T of_whole(I a, rounding_t how)
{
    const T near = static_cast<T>(a);
    const T over = static_cast<I>(-1) < 0 ? T(9223372036854775808.0) : T(18446744073709551616.0);
    double missed = -1.0;
    if (near < over) {
        const I back = static_cast<I>(near);
        missed = a > back ? 1.0 : a < back ? -1.0 : 0.0;
    }
    return directed(near, missed, true, how);
}

}  // namespace pairsmith

#define PAIRSMITH_ROUNDED(name, type, parameters, call, ...)                                           \
    inline type name##_rn parameters { return pairsmith::call(__VA_ARGS__, pairsmith::to_nearest); }   \
    inline type name##_rz parameters { return pairsmith::call(__VA_ARGS__, pairsmith::to_zero); }      \
    inline type name##_ru parameters { return pairsmith::call(__VA_ARGS__, pairsmith::upwards); }      \
    inline type name##_rd parameters { return pairsmith::call(__VA_ARGS__, pairsmith::downwards); }
PAIRSMITH_ROUNDED(__fadd, float, (float a, float b), add, a, b)
PAIRSMITH_ROUNDED(__fsub, float, (float a, float b), add, a, -b)
PAIRSMITH_ROUNDED(__fmul, float, (float a, float b), multiply, a, b)
PAIRSMITH_ROUNDED(__fdiv, float, (float a, float b), divide, a, b)
PAIRSMITH_ROUNDED(__frcp, float, (float a), divide, 1.0f, a)
PAIRSMITH_ROUNDED(__fsqrt, float, (float a), root, a)
PAIRSMITH_ROUNDED(__fmaf, float, (float a, float b, float c), fused, a, b, c)
PAIRSMITH_ROUNDED(__fmaf_ieee, float, (float a, float b, float c), fused, a, b, c)
PAIRSMITH_ROUNDED(__dadd, double, (double a, double b), add, a, b)
PAIRSMITH_ROUNDED(__dsub, double, (double a, double b), add, a, -b)
PAIRSMITH_ROUNDED(__dmul, double, (double a, double b), multiply, a, b)
PAIRSMITH_ROUNDED(__ddiv, double, (double a, double b), divide, a, b)
PAIRSMITH_ROUNDED(__drcp, double, (double a), divide, 1.0, a)
PAIRSMITH_ROUNDED(__dsqrt, double, (double a), root, a)
PAIRSMITH_ROUNDED(__fma, double, (double a, double b, double c), fused, a, b, c)
PAIRSMITH_ROUNDED(__double2float, float, (double a), narrowed, a)
PAIRSMITH_ROUNDED(__int2float, float, (int a), of_whole<float>, static_cast<long long>(a))
PAIRSMITH_ROUNDED(__uint2float, float, (unsigned int a), of_whole<float>, static_cast<long long>(a))
PAIRSMITH_ROUNDED(__ll2float, float, (long long a), of_whole<float>, a)
PAIRSMITH_ROUNDED(__ull2float, float, (unsigned long long a), of_whole<float>, a)
PAIRSMITH_ROUNDED(__ll2double, double, (long long a), of_whole<double>, a)
PAIRSMITH_ROUNDED(__ull2double, double, (unsigned long long a), of_whole<double>, a)

inline double __int2double_rn(int a) { return a; }
inline double __uint2double_rn(unsigned int a) { return a; }
inline float __frsqrt_rn(float a) { return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a))); }
