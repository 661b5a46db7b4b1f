// float16 as storage: kept as bits, computed in float.

struct __half {
    unsigned short bits;
};
typedef __half half;

inline float __half2float(__half h)
{
    const unsigned int sign = (h.bits & 0x8000u) << 16;
    const unsigned int exponent = (h.bits >> 10) & 31u, mantissa = h.bits & 0x3ffu;
    if (exponent == 31u)
        return pairsmith::bits_as<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent != 0u)
        return pairsmith::bits_as<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
    const float tiny = static_cast<float>(mantissa) * 5.9604644775390625e-8f;
    return sign ? -tiny : tiny;
}

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
    return { static_cast<unsigned short>(sign | found) };
}

inline __half __float2half_rn(float x) { return __float2half(x); }
