// What of the C++ library device code can use, for the host and for NVRTC.

namespace std {

typedef ::size_t size_t;
typedef ::ptrdiff_t ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
using ::clock_t;
using ::time_t;

template <class T, T v> struct integral_constant {
    static constexpr T value = v;
    typedef T value_type;
    typedef integral_constant type;
    __device__ constexpr operator T() const noexcept { return v; }
    __device__ constexpr T operator()() const noexcept { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

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
template <class T, class U> struct common_type {
    typedef decltype(false ? T() : U()) type;
};
template <class T, class U> using common_type_t = typename common_type<T, U>::type;

// A type made of another: what it is for most, and for those of one form.
#define PAIRSMITH_TYPE(name, form, result)                                                             \
    template <class T> struct name {                                                                   \
        typedef T type;                                                                                \
    };                                                                                                 \
    template <class T> struct name<form> {                                                             \
        typedef result type;                                                                           \
    };                                                                                                 \
    template <class T> using name##_t = typename name<T>::type;
PAIRSMITH_TYPE(remove_const, const T, T)
PAIRSMITH_TYPE(remove_volatile, volatile T, T)
PAIRSMITH_TYPE(remove_reference, T&, T)
template <class T> struct remove_reference<T&&> {
    typedef T type;
};
PAIRSMITH_TYPE(remove_pointer, T*, T)
template <class T> struct remove_pointer<T* const> {
    typedef T type;
};
PAIRSMITH_TYPE(remove_extent, T[], T)
template <class T, size_t n> struct remove_extent<T[n]> {
    typedef T type;
};
#define PAIRSMITH_MADE_TYPE(name, ...)                                                                 \
    template <class T> struct name {                                                                   \
        typedef __VA_ARGS__ type;                                                                      \
    };                                                                                                 \
    template <class T> using name##_t = typename name<T>::type;
PAIRSMITH_MADE_TYPE(remove_cv, remove_const_t<remove_volatile_t<T>>)
PAIRSMITH_MADE_TYPE(remove_cvref, remove_cv_t<remove_reference_t<T>>)
PAIRSMITH_MADE_TYPE(decay, remove_cv_t<remove_reference_t<T>>)
PAIRSMITH_MADE_TYPE(add_const, const T)
PAIRSMITH_MADE_TYPE(add_pointer, remove_reference_t<T>*)
PAIRSMITH_MADE_TYPE(add_lvalue_reference, T&)
PAIRSMITH_MADE_TYPE(add_rvalue_reference, T&&)
PAIRSMITH_MADE_TYPE(underlying_type, __underlying_type(T))
template <class T> struct make_signed;
template <class T> struct make_unsigned;
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;

#define PAIRSMITH_TRAIT(name, ...)                                                                     \
    template <class T> struct name : bool_constant<__VA_ARGS__> {};                                    \
    template <class T> inline constexpr bool name##_v = name<T>::value;
#define PAIRSMITH_TRAIT_OF_TWO(name, ...)                                                              \
    template <class T, class U> struct name : bool_constant<__VA_ARGS__> {};                           \
    template <class T, class U> inline constexpr bool name##_v = name<T, U>::value;
PAIRSMITH_TRAIT_OF_TWO(is_same, false)
template <class T> struct is_same<T, T> : true_type {};
PAIRSMITH_TRAIT_OF_TWO(is_base_of, __is_base_of(T, U))
PAIRSMITH_TRAIT_OF_TWO(is_convertible, __is_convertible_to(T, U))
PAIRSMITH_TRAIT(is_integral, false)
PAIRSMITH_TRAIT(is_void, is_same_v<remove_cv_t<T>, void>)
PAIRSMITH_TRAIT(is_floating_point, is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>)
PAIRSMITH_TRAIT(is_arithmetic, is_integral_v<T> || is_floating_point_v<T>)
PAIRSMITH_TRAIT(is_pointer, !is_same_v<remove_cv_t<T>, remove_pointer_t<remove_cv_t<T>>>)
PAIRSMITH_TRAIT(is_reference, !is_same_v<T, remove_reference_t<T>>)
PAIRSMITH_TRAIT(is_array, !is_same_v<T, remove_extent_t<T>>)
PAIRSMITH_TRAIT(is_const, !is_same_v<T, remove_const_t<T>>)
PAIRSMITH_TRAIT(is_class, __is_class(T))
PAIRSMITH_TRAIT(is_enum, __is_enum(T))
PAIRSMITH_TRAIT(is_empty, __is_empty(T))
PAIRSMITH_TRAIT(is_pod, __is_pod(T))
PAIRSMITH_TRAIT(is_trivial, __is_trivial(T))
PAIRSMITH_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
PAIRSMITH_TRAIT(is_standard_layout, __is_standard_layout(T))
PAIRSMITH_TRAIT(is_signed, is_arithmetic_v<T> && static_cast<T>(-1) < static_cast<T>(0))
PAIRSMITH_TRAIT(is_unsigned, is_integral_v<T> && !is_signed_v<T>)
template <class T> struct is_integral<const T> : is_integral<T> {};
template <class T> struct is_integral<volatile T> : is_integral<T> {};
#define PAIRSMITH_WHOLE(with_sign, without)                                                            \
    template <> struct is_integral<with_sign> : true_type {};                                          \
    template <> struct is_integral<without> : true_type {};                                            \
    template <> struct make_signed<with_sign> {                                                        \
        typedef with_sign type;                                                                        \
    };                                                                                                 \
    template <> struct make_signed<without> {                                                          \
        typedef with_sign type;                                                                        \
    };                                                                                                 \
    template <> struct make_unsigned<with_sign> {                                                      \
        typedef without type;                                                                          \
    };                                                                                                 \
    template <> struct make_unsigned<without> {                                                        \
        typedef without type;                                                                          \
    };
PAIRSMITH_WHOLE(signed char, unsigned char) PAIRSMITH_WHOLE(short, unsigned short) PAIRSMITH_WHOLE(int, unsigned int)
PAIRSMITH_WHOLE(long, unsigned long) PAIRSMITH_WHOLE(long long, unsigned long long)
template <> struct is_integral<bool> : true_type {};
template <> struct is_integral<char> : true_type {};

#ifndef __CUDACC_RTC__  // which has them
template <class T> constexpr remove_reference_t<T>&& move(T&& x) noexcept
{
    return static_cast<remove_reference_t<T>&&>(x);
}
template <class T> constexpr T&& forward(remove_reference_t<T>& x) noexcept { return static_cast<T&&>(x); }
template <class T> constexpr T&& forward(remove_reference_t<T>&& x) noexcept { return static_cast<T&&>(x); }
#endif
template <class T> __device__ T&& declval() noexcept;

#ifdef PAIRSMITH_RELAXED
template <class T> __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __device__ constexpr const T& clamp(const T& x, const T& a, const T& b)
{
    return x < a ? a : b < x ? b : x;
}
template <class T> __device__ inline void swap(T& a, T& b)
{
    T kept = static_cast<T&&>(a);
    a = static_cast<T&&>(b);
    b = static_cast<T&&>(kept);
}
template <class T, size_t n> struct array {
    T parts[n];
    __device__ constexpr T& operator[](size_t i) { return parts[i]; }
    __device__ constexpr const T& operator[](size_t i) const { return parts[i]; }
    __device__ constexpr size_t size() const { return n; }
    __device__ constexpr T* data() { return parts; }
    __device__ constexpr const T* data() const { return parts; }
    __device__ constexpr T* begin() { return parts; }
    __device__ constexpr T* end() { return parts + n; }
    __device__ constexpr const T* begin() const { return parts; }
    __device__ constexpr const T* end() const { return parts + n; }
};

#endif

template <class T, class U> struct pair {
    T first;
    U second;
};

template <class T> struct numeric_limits {
    static constexpr bool is_specialized = false;
};
#define PAIRSMITH_LIMITS(t, whole, has_sign, bits, tens, least, lowest_one, most)                      \
    template <> struct numeric_limits<t> {                                                             \
        static constexpr bool is_specialized = true, is_integer = whole, is_signed = has_sign;         \
        static constexpr bool is_exact = whole, has_infinity = !whole, has_quiet_NaN = !whole;         \
        static constexpr bool is_iec559 = !whole, has_signaling_NaN = !whole, is_bounded = true;       \
        static constexpr bool is_modulo = whole && !has_sign, tinyness_before = false;                 \
        static constexpr int digits = bits, digits10 = tens, radix = 2;                                \
        static constexpr int max_digits10 = whole ? 0 : bits == 24 ? 9 : 17;                           \
        static constexpr int max_exponent = whole ? 0 : bits == 24 ? 128 : 1024;                       \
        static constexpr int min_exponent = whole ? 0 : bits == 24 ? -125 : -1021;                     \
        static constexpr int max_exponent10 = whole ? 0 : bits == 24 ? 38 : 308;                       \
        static constexpr int min_exponent10 = whole ? 0 : bits == 24 ? -37 : -307;                     \
        __device__ static constexpr t min() noexcept { return least; }                                            \
        __device__ static constexpr t lowest() noexcept { return lowest_one; }                                    \
        __device__ static constexpr t max() noexcept { return most; }                                             \
        __device__ static constexpr t epsilon() noexcept { return whole ? 0 : sizeof(t) == 4 ? 0x1p-23f : 0x1p-52; } \
        __device__ static constexpr t infinity() noexcept { return static_cast<t>(whole ? 0.0f : INFINITY); } \
        __device__ static constexpr t round_error() noexcept { return static_cast<t>(whole ? 0.0f : 0.5f); } \
        __device__ static constexpr t signaling_NaN() noexcept { return static_cast<t>(whole ? 0.0f : NAN); } \
        __device__ static constexpr t quiet_NaN() noexcept { return static_cast<t>(whole ? 0.0f : NAN); } \
        __device__ static constexpr t denorm_min() noexcept                                            \
        {                                                                                              \
            return whole ? 0 : sizeof(t) == 4 ? 0x1p-149f : 0x1p-1074;                                 \
        }                                                                                              \
    };
#define PAIRSMITH_WHOLE_LIMITS(t, has_sign, bits, tens, least, most)                                   \
    PAIRSMITH_LIMITS(t, true, has_sign, bits, tens, least, least, most)
PAIRSMITH_LIMITS(float, false, true, 24, 6, 0x1p-126f, -0x1.fffffep127f, 0x1.fffffep127f)
PAIRSMITH_LIMITS(double, false, true, 53, 15, 0x1p-1022, -0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023)
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

template <class T, class U>
__device__ inline std::enable_if_t<
    std::is_arithmetic_v<T> && std::is_arithmetic_v<U>
        && !(std::is_same_v<T, U> && std::is_floating_point_v<T>),
    double>
pow(T x, U y)
{
    return pow(static_cast<double>(x), static_cast<double>(y));
}

namespace std {

using ::printf;
using ::memcpy;
using ::memset;

#define PAIRSMITH_STD(a, b, c, d) using ::a; using ::b; using ::c; using ::d;
PAIRSMITH_STD(sin, cos, tan, asin) PAIRSMITH_STD(acos, atan, atan2, sinh) PAIRSMITH_STD(cosh, tanh, asinh, acosh)
PAIRSMITH_STD(atanh, exp, exp2, expm1) PAIRSMITH_STD(log, log2, log10, log1p) PAIRSMITH_STD(sqrt, cbrt, pow, hypot)
PAIRSMITH_STD(erf, erfc, tgamma, lgamma) PAIRSMITH_STD(floor, ceil, trunc, round)
PAIRSMITH_STD(rint, nearbyint, fabs, abs)
PAIRSMITH_STD(fmod, remainder, remquo, fma) PAIRSMITH_STD(fmax, fmin, fdim, copysign)
PAIRSMITH_STD(nextafter, logb, ilogb, scalbn) PAIRSMITH_STD(scalbln, ldexp, frexp, modf)
PAIRSMITH_STD(lround, llround, lrint, llrint) PAIRSMITH_STD(isnan, isinf, isfinite, labs)
PAIRSMITH_STD(signbit, nan, nanf, llabs) using ::clock;

}  // namespace std
