// What of the C++ library device code can use.

namespace std {

typedef ::size_t size_t;
typedef ::ptrdiff_t ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
using ::clock_t;
using ::time_t;
using ::int8_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::uint8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::intptr_t;
using ::uintptr_t;
using ::intmax_t;
using ::uintmax_t;
using ::printf;
using ::memcpy;
using ::memmove;
using ::memset;
using ::memcmp;

#define PAIRSMITH_STD(a, b, c, d) using ::a; using ::b; using ::c; using ::d;
PAIRSMITH_STD(sin, cos, tan, asin) PAIRSMITH_STD(acos, atan, atan2, sinh) PAIRSMITH_STD(cosh, tanh, asinh, acosh)
PAIRSMITH_STD(atanh, exp, exp2, expm1) PAIRSMITH_STD(log, log2, log10, log1p) PAIRSMITH_STD(sqrt, cbrt, pow, hypot)
PAIRSMITH_STD(erf, erfc, tgamma, lgamma) PAIRSMITH_STD(floor, ceil, trunc, round) PAIRSMITH_STD(rint, nearbyint, fabs, abs)
PAIRSMITH_STD(fmod, remainder, remquo, fma) PAIRSMITH_STD(fmax, fmin, fdim, copysign)
PAIRSMITH_STD(nextafter, logb, ilogb, scalbn) PAIRSMITH_STD(scalbln, ldexp, frexp, modf)
PAIRSMITH_STD(lround, llround, lrint, llrint) PAIRSMITH_STD(isnan, isinf, isfinite, labs)
PAIRSMITH_STD(signbit, nan, nanf, llabs) using ::clock;

template <class T, T v> struct integral_constant {
    static constexpr T value = v;
    typedef T value_type;
    typedef integral_constant type;
    constexpr operator T() const noexcept { return v; }
    constexpr T operator()() const noexcept { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

#define PAIRSMITH_TRAIT(name, ...)                                                                     \
    template <class T> struct name : bool_constant<__VA_ARGS__> {};                                    \
    template <class T> inline constexpr bool name##_v = __VA_ARGS__;
#define PAIRSMITH_TRAIT_OF_TWO(name, ...)                                                              \
    template <class T, class U> struct name : bool_constant<__VA_ARGS__> {};                           \
    template <class T, class U> inline constexpr bool name##_v = __VA_ARGS__;
PAIRSMITH_TRAIT(is_integral, __is_integral(T))
PAIRSMITH_TRAIT(is_floating_point, __is_floating_point(T))
PAIRSMITH_TRAIT(is_arithmetic, __is_arithmetic(T))
PAIRSMITH_TRAIT(is_signed, __is_signed(T))
PAIRSMITH_TRAIT(is_unsigned, __is_unsigned(T))
PAIRSMITH_TRAIT(is_void, __is_void(T))
PAIRSMITH_TRAIT(is_pointer, __is_pointer(T))
PAIRSMITH_TRAIT(is_reference, __is_reference(T))
PAIRSMITH_TRAIT(is_const, __is_const(T))
PAIRSMITH_TRAIT(is_class, __is_class(T))
PAIRSMITH_TRAIT(is_enum, __is_enum(T))
PAIRSMITH_TRAIT(is_array, __is_array(T))
PAIRSMITH_TRAIT(is_empty, __is_empty(T))
PAIRSMITH_TRAIT(is_pod, __is_pod(T))
PAIRSMITH_TRAIT(is_trivial, __is_trivial(T))
PAIRSMITH_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
PAIRSMITH_TRAIT(is_standard_layout, __is_standard_layout(T))
PAIRSMITH_TRAIT_OF_TWO(is_same, __is_same(T, U))
PAIRSMITH_TRAIT_OF_TWO(is_base_of, __is_base_of(T, U))
PAIRSMITH_TRAIT_OF_TWO(is_convertible, __is_convertible_to(T, U))

#define PAIRSMITH_TYPE(name, ...)                                                                      \
    template <class T> struct name { typedef __VA_ARGS__ type; };                                      \
    template <class T> using name##_t = typename name<T>::type;
PAIRSMITH_TYPE(remove_reference, __remove_reference_t(T))
PAIRSMITH_TYPE(remove_cv, __remove_cv(T))
PAIRSMITH_TYPE(remove_const, __remove_const(T))
PAIRSMITH_TYPE(remove_volatile, __remove_volatile(T))
PAIRSMITH_TYPE(remove_pointer, __remove_pointer(T))
PAIRSMITH_TYPE(remove_extent, __remove_extent(T))
PAIRSMITH_TYPE(remove_cvref, __remove_cvref(T))
PAIRSMITH_TYPE(decay, __decay(T))
PAIRSMITH_TYPE(add_const, const T)
PAIRSMITH_TYPE(add_pointer, __add_pointer(T))
PAIRSMITH_TYPE(add_lvalue_reference, __add_lvalue_reference(T))
PAIRSMITH_TYPE(add_rvalue_reference, __add_rvalue_reference(T))
PAIRSMITH_TYPE(make_signed, __make_signed(T))
PAIRSMITH_TYPE(make_unsigned, __make_unsigned(T))
PAIRSMITH_TYPE(underlying_type, __underlying_type(T))

template <bool b, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> {
    typedef T type;
};
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool b, class T, class U> struct conditional {
    typedef T type;
};
template <class T, class U> struct conditional<false, T, U> {
    typedef U type;
};
template <bool b, class T, class U> using conditional_t = typename conditional<b, T, U>::type;
template <class...> using void_t = void;

template <class T> constexpr __remove_reference_t(T) && move(T&& x) noexcept
{
    return static_cast<__remove_reference_t(T)&&>(x);
}
template <class T> constexpr T&& forward(__remove_reference_t(T) & x) noexcept { return static_cast<T&&>(x); }
template <class T> constexpr T&& forward(__remove_reference_t(T) && x) noexcept { return static_cast<T&&>(x); }
template <class T> T&& declval() noexcept;
template <class T> inline void swap(T& a, T& b)
{
    T kept = static_cast<T&&>(a);
    a = static_cast<T&&>(b);
    b = static_cast<T&&>(kept);
}
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr const T& clamp(const T& x, const T& a, const T& b) { return x < a ? a : b < x ? b : x; }

template <class T, class U> struct pair {
    T first;
    U second;
};
template <class T, size_t n> struct array {
    T parts[n];
    constexpr T& operator[](size_t i) { return parts[i]; }
    constexpr const T& operator[](size_t i) const { return parts[i]; }
    constexpr size_t size() const { return n; }
    constexpr T* data() { return parts; }
    constexpr const T* data() const { return parts; }
    constexpr T* begin() { return parts; }
    constexpr T* end() { return parts + n; }
    constexpr const T* begin() const { return parts; }
    constexpr const T* end() const { return parts + n; }
};

template <class T> struct numeric_limits {
    static constexpr bool is_specialized = false;
};
#define PAIRSMITH_LIMITS(t, whole, has_sign, bits, tens, least, lowest_one, most)                      \
    template <> struct numeric_limits<t> {                                                             \
        static constexpr bool is_specialized = true, is_integer = whole, is_signed = has_sign;         \
        static constexpr bool is_exact = whole, has_infinity = !whole, has_quiet_NaN = !whole;         \
        static constexpr int digits = bits, digits10 = tens, radix = 2;                                \
        static constexpr t min() noexcept { return least; }                                            \
        static constexpr t lowest() noexcept { return lowest_one; }                                    \
        static constexpr t max() noexcept { return most; }                                             \
        static constexpr t epsilon() noexcept { return whole ? 0 : sizeof(t) == 4 ? FLT_EPSILON : DBL_EPSILON; } \
        static constexpr t infinity() noexcept { return whole ? 0 : static_cast<t>(__builtin_inf()); } \
        static constexpr t quiet_NaN() noexcept { return whole ? 0 : static_cast<t>(__builtin_nan("")); } \
        static constexpr t denorm_min() noexcept { return whole ? 0 : sizeof(t) == 4 ? FLT_TRUE_MIN : DBL_TRUE_MIN; } \
    };
#define PAIRSMITH_WHOLE_LIMITS(t, has_sign, bits, tens, least, most)                                   \
    PAIRSMITH_LIMITS(t, true, has_sign, bits, tens, least, least, most)
PAIRSMITH_LIMITS(float, false, true, 24, 6, FLT_MIN, -FLT_MAX, FLT_MAX)
PAIRSMITH_LIMITS(double, false, true, 53, 15, DBL_MIN, -DBL_MAX, DBL_MAX)
PAIRSMITH_WHOLE_LIMITS(bool, false, 1, 0, false, true)
PAIRSMITH_WHOLE_LIMITS(char, true, 7, 2, CHAR_MIN, CHAR_MAX)
PAIRSMITH_WHOLE_LIMITS(signed char, true, 7, 2, SCHAR_MIN, SCHAR_MAX)
PAIRSMITH_WHOLE_LIMITS(unsigned char, false, 8, 2, 0, UCHAR_MAX)
PAIRSMITH_WHOLE_LIMITS(short, true, 15, 4, SHRT_MIN, SHRT_MAX)
PAIRSMITH_WHOLE_LIMITS(unsigned short, false, 16, 4, 0, USHRT_MAX)
PAIRSMITH_WHOLE_LIMITS(int, true, 31, 9, INT_MIN, INT_MAX)
PAIRSMITH_WHOLE_LIMITS(unsigned int, false, 32, 9, 0, UINT_MAX)
PAIRSMITH_WHOLE_LIMITS(long, true, 63, 18, LONG_MIN, LONG_MAX)
PAIRSMITH_WHOLE_LIMITS(unsigned long, false, 64, 19, 0, ULONG_MAX)
PAIRSMITH_WHOLE_LIMITS(long long, true, 63, 18, LLONG_MIN, LLONG_MAX)
PAIRSMITH_WHOLE_LIMITS(unsigned long long, false, 64, 19, 0, ULLONG_MAX)

}  // namespace std
