// Floating types of 16 bits: kept as bits, computed in wider types, rounded once.

namespace pairsmith {

// A number in `mantissa` and `exponent` bits behind a sign; NaN is all ones.
template <int mantissa, int exponent> inline unsigned short encode(double x, rounding_t how)
{
    const unsigned long long bits = bits_as<unsigned long long>(x);
    const unsigned int sign = static_cast<unsigned int>(bits >> 63), infinite = ((1u << exponent) - 1u) << mantissa;
    const int bias = (1 << (exponent - 1)) - 1;
    if (__builtin_isnan(x))
        return 0x7fff;
    const double size = __builtin_fabs(x);
    int power = static_cast<int>(bits >> 52 & 2047u) - 1023;
    const bool away = how == (sign ? downwards : upwards);
    if (power > bias)
        return static_cast<unsigned short>(
            sign << 15 | (how == to_nearest || away || __builtin_isinf(x) ? infinite : infinite - 1u));
    power = power < 1 - bias ? 1 - bias : power;
    const double scaled = size * bits_as<double>(static_cast<unsigned long long>(1023 + mantissa - power) << 52);
    const unsigned int kept = static_cast<unsigned int>(scaled);
    const double rest = scaled - kept;
    const bool up = how == to_nearest ? rest > 0.5 || (rest == 0.5 && (kept & 1u)) : away && rest > 0.0;
    const unsigned int found = (static_cast<unsigned int>(power + bias - 1) << mantissa) + kept + up;
    return static_cast<unsigned short>(sign << 15 | found);
}

// A double with its last bit set where `missed` says that it is not exact: it can be rounded again.
inline double sticky(double near, double missed)
{
    const unsigned long long bits = bits_as<unsigned long long>(near);
    if (!(missed != 0.0) || (bits & 1u) || !finite(near))
        return near;
    return bits_as<double>((missed > 0.0) == (near > 0.0) ? bits + 1u : bits - 1u);
}

inline double fused_to_odd(float a, float b, float c)
{
    const double product = static_cast<double>(a) * b, sum = product + c;
    return sticky(sum, missed_by_sum(product, c, sum));
}

template <class I> inline double whole_to_odd(I a)
{
    const double near = of_whole<double>(a, to_zero), next = of_whole<double>(a, a < 0 ? downwards : upwards);
    return near == next ? near : sticky(near, next - near);
}

inline float kept_in_unit(float x) { return x > 0.0f ? x < 1.0f ? x : 1.0f : 0.0f; }
inline float kept_positive(float x) { return x < 0.0f ? 0.0f : x; }

}  // namespace pairsmith

struct __half;
struct __half2;
struct __nv_bfloat16;
struct __nv_bfloat162;

#define PAIRSMITH_NARROW_FROM(narrow, type) narrow(type);
#define PAIRSMITH_NARROW_TO(narrow, type) operator type() const;
#define PAIRSMITH_WHOLE_TYPES(macro, narrow)                                                           \
    macro(narrow, short) macro(narrow, unsigned short) macro(narrow, int) macro(narrow, unsigned int)  \
    macro(narrow, long) macro(narrow, unsigned long) macro(narrow, long long)                          \
    macro(narrow, unsigned long long)
#define PAIRSMITH_NARROW_TYPE(narrow, other)                                                           \
    struct narrow##_raw { unsigned short x; };                                                         \
    struct narrow {                                                                                    \
        unsigned short bits;                                                                           \
        narrow() = default;                                                                            \
        constexpr narrow(narrow##_raw raw) : bits(raw.x) {}                                            \
        explicit narrow(other);                                                                        \
        narrow(float);                                                                                 \
        narrow(double);                                                                                \
        PAIRSMITH_WHOLE_TYPES(PAIRSMITH_NARROW_FROM, narrow)                                           \
        operator narrow##_raw() const { return { bits }; }                                             \
        operator float() const;                                                                        \
        operator char() const;                                                                         \
        operator signed char() const;                                                                  \
        operator unsigned char() const;                                                                \
        PAIRSMITH_WHOLE_TYPES(PAIRSMITH_NARROW_TO, narrow)                                             \
        operator bool() const { return (bits & 0x7fffu) != 0u; }                                       \
    };
#define PAIRSMITH_NARROW_PAIR(pair, narrow)                                                            \
    struct pair##_raw { unsigned short x, y; };                                                        \
    struct alignas(4) pair {                                                                           \
        narrow x, y;                                                                                   \
        pair() = default;                                                                              \
        constexpr pair(const narrow& a, const narrow& b) : x(a), y(b) {}                               \
        pair(pair##_raw raw) : x(narrow##_raw { raw.x }), y(narrow##_raw { raw.y }) {}                 \
        operator pair##_raw() const { return { x.bits, y.bits }; }                                     \
    };
PAIRSMITH_NARROW_TYPE(__half, __nv_bfloat16)
PAIRSMITH_NARROW_TYPE(__nv_bfloat16, __half)
PAIRSMITH_NARROW_PAIR(__half2, __half)
PAIRSMITH_NARROW_PAIR(__nv_bfloat162, __nv_bfloat16)
typedef __half half, __nv_half;
typedef __half2 half2, __nv_half2;
typedef __nv_bfloat16 nv_bfloat16, __nv_bfloat16_t;
typedef __nv_bfloat162 nv_bfloat162, __nv_bfloat162_t;

// Conversions; `name` is what functions call the type, `fits` are its bits.
#define PAIRSMITH_TO_NARROW(function, narrow, type, value, how, ...)                                   \
    inline narrow function(type x)                                                                     \
    {                                                                                                  \
        return narrow##_raw { pairsmith::encode<__VA_ARGS__>(value, pairsmith::how) };                 \
    }
#define PAIRSMITH_TO_NARROW_BY_MODE(function, narrow, type, value, ...)                                \
    PAIRSMITH_TO_NARROW(function##_rz, narrow, type, value, to_zero, __VA_ARGS__)                      \
    PAIRSMITH_TO_NARROW(function##_ru, narrow, type, value, upwards, __VA_ARGS__)                      \
    PAIRSMITH_TO_NARROW(function##_rd, narrow, type, value, downwards, __VA_ARGS__)
#define PAIRSMITH_WHOLE_TO_NARROW(short_name, name, narrow, type, value, ...)                          \
    PAIRSMITH_TO_NARROW(__##short_name##2##name##_rn, narrow, type, value, to_nearest, __VA_ARGS__)    \
    PAIRSMITH_TO_NARROW_BY_MODE(__##short_name##2##name, narrow, type, value, __VA_ARGS__)
#define PAIRSMITH_NARROW_TO_WHOLE(short_name, name, narrow, type)                                      \
    PAIRSMITH_ROUNDED(__##name##2##short_name, type, (narrow x), saturated<type>, pairsmith::decode(x)) \
    inline narrow::operator type() const { return __##name##2##short_name##_rz(*this); }               \
    inline narrow::narrow(type x) : narrow(__##short_name##2##name##_rn(x)) {}
#define PAIRSMITH_NARROW_CONVERSIONS(name, narrow, other, ...)                                         \
    PAIRSMITH_TO_NARROW_BY_MODE(__float2##name, narrow, float, x, __VA_ARGS__)                         \
    PAIRSMITH_TO_NARROW(__double2##name, narrow, double, x, to_nearest, __VA_ARGS__)                   \
    PAIRSMITH_WHOLE_TO_NARROW(short, name, narrow, short, x, __VA_ARGS__)                              \
    PAIRSMITH_WHOLE_TO_NARROW(ushort, name, narrow, unsigned short, x, __VA_ARGS__)                    \
    PAIRSMITH_WHOLE_TO_NARROW(int, name, narrow, int, x, __VA_ARGS__)                                  \
    PAIRSMITH_WHOLE_TO_NARROW(uint, name, narrow, unsigned int, x, __VA_ARGS__)                        \
    PAIRSMITH_WHOLE_TO_NARROW(ll, name, narrow, long long, pairsmith::whole_to_odd(x), __VA_ARGS__)    \
    PAIRSMITH_WHOLE_TO_NARROW(ull, name, narrow, unsigned long long, pairsmith::whole_to_odd(x), __VA_ARGS__) \
    inline float __##name##2float(narrow x) { return pairsmith::decode(x); }                           \
    inline narrow __float2##name##_rn(float x) { return __float2##name(x); }                           \
    inline narrow::narrow(float x) : narrow(__float2##name(x)) {}                                      \
    inline narrow::narrow(double x) : narrow(__double2##name(x)) {}                                    \
    inline narrow::narrow(other x) : narrow(static_cast<float>(x)) {}                                  \
    inline narrow::operator float() const { return pairsmith::decode(*this); }                         \
    PAIRSMITH_NARROW_TO_WHOLE(short, name, narrow, short)                                              \
    PAIRSMITH_NARROW_TO_WHOLE(ushort, name, narrow, unsigned short)                                    \
    PAIRSMITH_NARROW_TO_WHOLE(int, name, narrow, int)                                                  \
    PAIRSMITH_NARROW_TO_WHOLE(uint, name, narrow, unsigned int)                                        \
    PAIRSMITH_NARROW_TO_WHOLE(ll, name, narrow, long long)                                             \
    PAIRSMITH_NARROW_TO_WHOLE(ull, name, narrow, unsigned long long)                                   \
    inline narrow::narrow(long x) : narrow(static_cast<long long>(x)) {}                               \
    inline narrow::narrow(unsigned long x) : narrow(static_cast<unsigned long long>(x)) {}             \
    inline narrow::operator long() const { return __##name##2ll_rz(*this); }                           \
    inline narrow::operator unsigned long() const { return __##name##2ull_rz(*this); }                 \
    inline signed char __##name##2char_rz(narrow x)                                                    \
    {                                                                                                  \
        return pairsmith::saturated<signed char>(pairsmith::decode(x), pairsmith::to_zero);           \
    }                                                                                                  \
    inline unsigned char __##name##2uchar_rz(narrow x)                                                 \
    {                                                                                                  \
        return pairsmith::saturated<unsigned char>(pairsmith::decode(x), pairsmith::to_zero);         \
    }                                                                                                  \
    inline narrow::operator char() const { return __##name##2char_rz(*this); }                         \
    inline narrow::operator signed char() const { return __##name##2char_rz(*this); }                  \
    inline narrow::operator unsigned char() const { return __##name##2uchar_rz(*this); }               \
    inline narrow __short_as_##name(short x) { return narrow##_raw { static_cast<unsigned short>(x) }; } \
    inline narrow __ushort_as_##name(unsigned short x) { return narrow##_raw { x }; }                  \
    inline short __##name##_as_short(narrow x) { return static_cast<short>(x.bits); }                  \
    inline unsigned short __##name##_as_ushort(narrow x) { return x.bits; }
