// float16 and bfloat16: conversions.

namespace pairsmith {

inline float decode(__half h)
{
    const unsigned int sign = (h.bits & 0x8000u) << 16;
    const unsigned int exponent = (h.bits >> 10) & 31u, mantissa = h.bits & 0x3ffu;
    if (exponent == 31u)
        return bits_as<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent != 0u)
        return bits_as<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
    const float tiny = static_cast<float>(mantissa) * 5.9604644775390625e-8f;
    return sign ? -tiny : tiny;
}

inline float decode(__nv_bfloat16 b) { return bits_as<float>(static_cast<unsigned int>(b.bits) << 16); }

}  // namespace pairsmith

// To nearest, ties to even.
inline __half __float2half(float x)
{
    const unsigned int bits = pairsmith::bits_as<unsigned int>(x);
    const unsigned short sign = static_cast<unsigned short>((bits >> 16) & 0x8000u);
    const unsigned int size = bits & 0x7fffffffu;
    unsigned int found;
    if (size > 0x7f800000u) {
        found = 0x7fffu;
    } else if (size >= 0x477ff000u) {
        found = 0x7c00u;
    } else if (size < 0x38800000u) {
        // Below 2^-14 a unit in the last place is 2^-24, which is added so that the sum rounds.
        found = pairsmith::bits_as<unsigned int>(pairsmith::bits_as<float>(size) + 0.5f) - 0x3f000000u;
    } else {
        found = (size + 0xfffu + ((size >> 13) & 1u) - 0x38000000u) >> 13;
    }
    return __half_raw { static_cast<unsigned short>(sign | found) };
}

inline __nv_bfloat16 __float2bfloat16(float x)
{
    const unsigned int bits = pairsmith::bits_as<unsigned int>(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return __nv_bfloat16_raw { 0x7fff };
    return __nv_bfloat16_raw { static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16) };
}

PAIRSMITH_NARROW_CONVERSIONS(half, __half, __nv_bfloat16, 10, 5)
PAIRSMITH_NARROW_CONVERSIONS(bfloat16, __nv_bfloat16, __half, 7, 8)

#define PAIRSMITH_PAIR_CONVERSIONS(name, narrow, pair)                                                 \
    inline pair make_##name##2(narrow a, narrow b) { return pair(a, b); }                              \
    inline pair __halves2##name##2(narrow a, narrow b) { return pair(a, b); }                          \
    inline pair __##name##2##name##2(narrow a) { return pair(a, a); }                                  \
    inline pair __float2##name##2_rn(float a) { return __##name##2##name##2(__float2##name(a)); }      \
    inline pair __floats2##name##2_rn(float a, float b) { return pair(__float2##name(a), __float2##name(b)); } \
    inline pair __float22##name##2_rn(float2 a) { return __floats2##name##2_rn(a.x, a.y); }            \
    inline float2 __##name##22float2(pair a) { return { pairsmith::decode(a.x), pairsmith::decode(a.y) }; } \
    inline narrow __low2##name(pair a) { return a.x; }                                                 \
    inline narrow __high2##name(pair a) { return a.y; }                                                \
    inline pair __low2##name##2(pair a) { return pair(a.x, a.x); }                                     \
    inline pair __high2##name##2(pair a) { return pair(a.y, a.y); }                                    \
    inline pair __lows2##name##2(pair a, pair b) { return pair(a.x, b.x); }                            \
    inline pair __highs2##name##2(pair a, pair b) { return pair(a.y, b.y); }                           \
    inline pair __lowhigh2highlow(pair a) { return pair(a.y, a.x); }                                   \
    inline float __low2float(pair a) { return pairsmith::decode(a.x); }                   \
    inline float __high2float(pair a) { return pairsmith::decode(a.y); }
PAIRSMITH_PAIR_CONVERSIONS(half, __half, __half2)
PAIRSMITH_PAIR_CONVERSIONS(bfloat16, __nv_bfloat16, __nv_bfloat162)

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
