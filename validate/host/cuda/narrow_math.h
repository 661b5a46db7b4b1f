// float16 and bfloat16, alone and in pairs: arithmetic, comparisons, functions.

namespace pairsmith {

template <class T> T fit(float x);
template <> inline __half fit<__half>(float x) { return __float2half(x); }
template <> inline __nv_bfloat16 fit<__nv_bfloat16>(float x) { return __float2bfloat16(x); }
template <class T> T fit(double x);
template <> inline __half fit<__half>(double x) { return __double2half(x); }
template <> inline __nv_bfloat16 fit<__nv_bfloat16>(double x) { return __double2bfloat16(x); }

template <class P, class R> struct pair_only {};
template <class R> struct pair_only<__half2, R> {
    typedef R type;
};
template <class R> struct pair_only<__nv_bfloat162, R> {
    typedef R type;
};
template <class P, class R = P> using if_pair = typename pair_only<P, R>::type;

}  // namespace pairsmith

// `function` for one value of each type, and with a 2 behind for pairs; `a`, `b`, `c` are floats.
#define PAIRSMITH_NARROW_ONE(function, narrow, result)                                                 \
    inline narrow function(narrow x)                                                                   \
    {                                                                                                  \
        const float a = pairsmith::decode(x);                                                          \
        return pairsmith::fit<narrow>(result);                                                         \
    }
#define PAIRSMITH_NARROW_TWO(function, narrow, result)                                                 \
    inline narrow function(narrow x, narrow y)                                                         \
    {                                                                                                  \
        const float a = pairsmith::decode(x), b = pairsmith::decode(y);                                \
        return pairsmith::fit<narrow>(result);                                                         \
    }
#define PAIRSMITH_NARROW_THREE(function, narrow, result)                                               \
    inline narrow function(narrow x, narrow y, narrow z)                                               \
    {                                                                                                  \
        const float a = pairsmith::decode(x), b = pairsmith::decode(y), c = pairsmith::decode(z);      \
        return pairsmith::fit<narrow>(result);                                                         \
    }
// Of either pair type, made when it is called for.
#define PAIRSMITH_PAIR_ONE(function, single)                                                           \
    template <class P> inline pairsmith::if_pair<P> function(P x) { return P(single(x.x), single(x.y)); }
#define PAIRSMITH_PAIR_TWO(function, single)                                                           \
    template <class P> inline pairsmith::if_pair<P> function(P x, P y)                                 \
    {                                                                                                  \
        return P(single(x.x, y.x), single(x.y, y.y));                                                  \
    }
#define PAIRSMITH_PAIR_THREE(function, single)                                                         \
    template <class P> inline pairsmith::if_pair<P> function(P x, P y, P z)                            \
    {                                                                                                  \
        return P(single(x.x, y.x, z.x), single(x.y, y.y, z.y));                                        \
    }
#define PAIRSMITH_BOTH(kind, function, paired, result)                                                 \
    PAIRSMITH_NARROW_##kind(function, __half, result) PAIRSMITH_NARROW_##kind(function, __nv_bfloat16, result) \
    PAIRSMITH_PAIR_##kind(paired, function)

PAIRSMITH_BOTH(TWO, __hadd, __hadd2, a + b)
PAIRSMITH_BOTH(TWO, __hsub, __hsub2, a - b)
PAIRSMITH_BOTH(TWO, __hmul, __hmul2, a * b)
PAIRSMITH_BOTH(TWO, __hdiv, __h2div, a / b)
PAIRSMITH_BOTH(TWO, __hadd_rn, __hadd2_rn, a + b)
PAIRSMITH_BOTH(TWO, __hsub_rn, __hsub2_rn, a - b)
PAIRSMITH_BOTH(TWO, __hmul_rn, __hmul2_rn, a * b)
PAIRSMITH_BOTH(TWO, __hadd_sat, __hadd2_sat, pairsmith::kept_in_unit(a + b))
PAIRSMITH_BOTH(TWO, __hsub_sat, __hsub2_sat, pairsmith::kept_in_unit(a - b))
PAIRSMITH_BOTH(TWO, __hmul_sat, __hmul2_sat, pairsmith::kept_in_unit(a * b))
PAIRSMITH_BOTH(THREE, __hfma, __hfma2, pairsmith::fused_to_odd(a, b, c))
PAIRSMITH_BOTH(THREE, __hfma_sat, __hfma2_sat, pairsmith::kept_in_unit(pairsmith::decode(__hfma(x, y, z))))
PAIRSMITH_BOTH(THREE, __hfma_relu, __hfma2_relu, pairsmith::kept_positive(pairsmith::decode(__hfma(x, y, z))))
PAIRSMITH_BOTH(TWO, __hmax, __hmax2, __builtin_fmaxf(a, b))
PAIRSMITH_BOTH(TWO, __hmin, __hmin2, __builtin_fminf(a, b))
PAIRSMITH_BOTH(TWO, __hmax_nan, __hmax2_nan, a != a ? a : b != b ? b : __builtin_fmaxf(a, b))
PAIRSMITH_BOTH(TWO, __hmin_nan, __hmin2_nan, a != a ? a : b != b ? b : __builtin_fminf(a, b))
PAIRSMITH_BOTH(ONE, hsqrt, h2sqrt, __builtin_sqrtf(a))
PAIRSMITH_BOTH(ONE, hrsqrt, h2rsqrt, 1.0 / __builtin_sqrt(static_cast<double>(a)))
PAIRSMITH_BOTH(ONE, hrcp, h2rcp, 1.0f / a)
PAIRSMITH_BOTH(ONE, hexp, h2exp, __builtin_expf(a))
PAIRSMITH_BOTH(ONE, hexp2, h2exp2, __builtin_exp2f(a))
PAIRSMITH_BOTH(ONE, hexp10, h2exp10, __builtin_powf(10.0f, a))
PAIRSMITH_BOTH(ONE, hlog, h2log, __builtin_logf(a))
PAIRSMITH_BOTH(ONE, hlog2, h2log2, __builtin_log2f(a))
PAIRSMITH_BOTH(ONE, hlog10, h2log10, __builtin_log10f(a))
PAIRSMITH_BOTH(ONE, hsin, h2sin, __builtin_sinf(a))
PAIRSMITH_BOTH(ONE, hcos, h2cos, __builtin_cosf(a))
PAIRSMITH_BOTH(ONE, htanh, h2tanh, __builtin_tanhf(a))
PAIRSMITH_BOTH(ONE, htanh_approx, h2tanh_approx, __builtin_tanhf(a))
PAIRSMITH_BOTH(ONE, hceil, h2ceil, __builtin_ceilf(a))
PAIRSMITH_BOTH(ONE, hfloor, h2floor, __builtin_floorf(a))
PAIRSMITH_BOTH(ONE, hrint, h2rint, __builtin_rintf(a))
PAIRSMITH_BOTH(ONE, htrunc, h2trunc, __builtin_truncf(a))

#define PAIRSMITH_NARROW_BITS(narrow, raw, infinite)                                                   \
    inline narrow __habs(narrow x) { return raw { static_cast<unsigned short>(x.bits & 0x7fffu) }; }   \
    inline narrow __hneg(narrow x) { return raw { static_cast<unsigned short>(x.bits ^ 0x8000u) }; }   \
    inline bool __hisnan(narrow x) { return (x.bits & 0x7fffu) > infinite; }                           \
    inline int __hisinf(narrow x) { return (x.bits & 0x7fffu) != infinite ? 0 : x.bits >> 15 ? -1 : 1; }
PAIRSMITH_NARROW_BITS(__half, __half_raw, 0x7c00u)
PAIRSMITH_NARROW_BITS(__nv_bfloat16, __nv_bfloat16_raw, 0x7f80u)
PAIRSMITH_PAIR_ONE(__habs2, __habs) PAIRSMITH_PAIR_ONE(__hneg2, __hneg)
template <class P> inline pairsmith::if_pair<P> __hisnan2(P x)
{
    return P(__hisnan(x.x) ? 1.0f : 0.0f, __hisnan(x.y) ? 1.0f : 0.0f);
}
// A product of complex numbers, added to a third: fused in this order.
template <class P> inline pairsmith::if_pair<P> __hcmadd(P a, P b, P c)
{
    const auto x = __hfma(a.x, b.x, c.x), y = __hfma(a.x, b.y, c.y);
    return P(__hfma(__hneg(a.y), b.y, x), __hfma(a.y, b.x, y));
}

// Comparisons; those with a u hold where a value is NaN.
#define PAIRSMITH_COMPARED(name, narrow, result)                                                       \
    inline bool __h##name(narrow x, narrow y)                                                          \
    {                                                                                                  \
        const float a = pairsmith::decode(x), b = pairsmith::decode(y);                                \
        return result;                                                                                 \
    }
#define PAIRSMITH_BOTH_COMPARED(name, result)                                                          \
    PAIRSMITH_COMPARED(name, __half, result) PAIRSMITH_COMPARED(name, __nv_bfloat16, result)           \
    template <class P> inline pairsmith::if_pair<P> __h##name##2(P x, P y)                             \
    {                                                                                                  \
        return P(__h##name(x.x, y.x) ? 1.0f : 0.0f, __h##name(x.y, y.y) ? 1.0f : 0.0f);                \
    }                                                                                                  \
    template <class P> inline pairsmith::if_pair<P, bool> __hb##name##2(P x, P y)                      \
    {                                                                                                  \
        return __h##name(x.x, y.x) && __h##name(x.y, y.y);                                             \
    }                                                                                                  \
    template <class P> inline pairsmith::if_pair<P, unsigned int> __h##name##2_mask(P x, P y)          \
    {                                                                                                  \
        return (__h##name(x.x, y.x) ? 0xffffu : 0u) | (__h##name(x.y, y.y) ? 0xffff0000u : 0u);        \
    }
PAIRSMITH_BOTH_COMPARED(eq, a == b)
PAIRSMITH_BOTH_COMPARED(ne, a < b || a > b)
PAIRSMITH_BOTH_COMPARED(lt, a < b)
PAIRSMITH_BOTH_COMPARED(le, a <= b)
PAIRSMITH_BOTH_COMPARED(gt, a > b)
PAIRSMITH_BOTH_COMPARED(ge, a >= b)
PAIRSMITH_BOTH_COMPARED(equ, !(a < b || a > b))
PAIRSMITH_BOTH_COMPARED(neu, !(a == b))
PAIRSMITH_BOTH_COMPARED(ltu, !(a >= b))
PAIRSMITH_BOTH_COMPARED(leu, !(a > b))
PAIRSMITH_BOTH_COMPARED(gtu, !(a <= b))
PAIRSMITH_BOTH_COMPARED(geu, !(a < b))

#define PAIRSMITH_OPERATOR(type, sign, function)                                                       \
    inline type operator sign(const type& x, const type& y) { return function(x, y); }                 \
    inline type& operator sign##=(type& x, const type& y) { return x = function(x, y); }
#define PAIRSMITH_STEP(type, sign, function, one)                                                      \
    inline type& operator sign(type& x) { return x = function(x, one); }                               \
    inline type operator sign(type& x, int)                                                            \
    {                                                                                                  \
        const type old = x;                                                                            \
        x = function(x, one);                                                                          \
        return old;                                                                                    \
    }
#define PAIRSMITH_TEST(type, sign, function)                                                           \
    inline bool operator sign(const type& x, const type& y) { return function(x, y); }
#define PAIRSMITH_NARROW_OPERATORS(type, two, divide, prefix, unequal, one)                            \
    PAIRSMITH_OPERATOR(type, +, __hadd##two) PAIRSMITH_OPERATOR(type, -, __hsub##two)                  \
    PAIRSMITH_OPERATOR(type, *, __hmul##two) PAIRSMITH_OPERATOR(type, /, divide)                       \
    PAIRSMITH_STEP(type, ++, __hadd##two, one) PAIRSMITH_STEP(type, --, __hsub##two, one)              \
    inline type operator+(const type& x) { return x; }                                                 \
    inline type operator-(const type& x) { return __hneg##two(x); }                                    \
    PAIRSMITH_TEST(type, ==, prefix##eq##two) PAIRSMITH_TEST(type, !=, unequal)                        \
    PAIRSMITH_TEST(type, <, prefix##lt##two) PAIRSMITH_TEST(type, <=, prefix##le##two)                 \
    PAIRSMITH_TEST(type, >, prefix##gt##two) PAIRSMITH_TEST(type, >=, prefix##ge##two)
PAIRSMITH_NARROW_OPERATORS(__half, , __hdiv, __h, __hneu, __half(1))
PAIRSMITH_NARROW_OPERATORS(__nv_bfloat16, , __hdiv, __h, __hneu, __nv_bfloat16(1))
PAIRSMITH_NARROW_OPERATORS(__half2, 2, __h2div, __hb, __hbneu2, __half2(__half(1), __half(1)))
PAIRSMITH_NARROW_OPERATORS(__nv_bfloat162, 2, __h2div, __hb, __hbneu2,
                           __nv_bfloat162(__nv_bfloat16(1), __nv_bfloat16(1)))
