// Functions that the C library has not, or only in part: inverse errors, Bessel, norms.

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
inline float erfcxf(float x) { return static_cast<float>(erfcx(x)); }
inline float erfinv(float x) { return erfinvf(x); }
inline float erfcinv(float x) { return erfcinvf(x); }
inline float normcdf(float x) { return normcdff(x); }
inline float normcdfinv(float p) { return normcdfinvf(p); }
inline float erfcx(float x) { return erfcxf(x); }

extern "C" {
double j0(double);
double j1(double);
double jn(int, double);
double y0(double);
double y1(double);
double yn(int, double);
}
#define PAIRSMITH_BESSEL(name)                                                                         \
    inline float name##f(float x) { return static_cast<float>(name(static_cast<double>(x))); }         \
    inline float name(float x) { return name##f(x); }
PAIRSMITH_BESSEL(j0) PAIRSMITH_BESSEL(j1) PAIRSMITH_BESSEL(y0) PAIRSMITH_BESSEL(y1)
#define PAIRSMITH_BESSEL_OF_ORDER(name)                                                                \
    inline float name##f(int n, float x) { return static_cast<float>(name(n, static_cast<double>(x))); } \
    inline float name(int n, float x) { return name##f(n, x); }
PAIRSMITH_BESSEL_OF_ORDER(jn) PAIRSMITH_BESSEL_OF_ORDER(yn)

namespace pairsmith {

// The modified Bessel function of order 0 or 1: its power series, all of whose terms have one sign.
inline double modified_bessel(int order, double x)
{
    double term = order ? 0.5 * x : 1.0, sum = term;
    const double square = 0.25 * x * x;
    for (int k = 1; k < 2000 && term != 0.0 && sum + term != sum; ++k) {
        term *= square / (static_cast<double>(k) * (k + order));
        sum += term;
    }
    return sum;
}

// The length of a vector, without overflow on the way.
inline double length(double a, double b, double c, double d = 0.0)
{
    return __builtin_hypot(__builtin_hypot(a, b), __builtin_hypot(c, d));
}

template <class T> inline double length(int count, const T* values)
{
    double found = 0.0;
    for (int i = 0; i < count; ++i)
        found = __builtin_hypot(found, static_cast<double>(load(values + i)));
    return found;
}

}  // namespace pairsmith

inline double cyl_bessel_i0(double x) { return pairsmith::modified_bessel(0, x); }
inline double cyl_bessel_i1(double x) { return pairsmith::modified_bessel(1, x); }
inline float cyl_bessel_i0f(float x) { return static_cast<float>(pairsmith::modified_bessel(0, x)); }
inline float cyl_bessel_i1f(float x) { return static_cast<float>(pairsmith::modified_bessel(1, x)); }
inline float cyl_bessel_i0(float x) { return cyl_bessel_i0f(x); }
inline float cyl_bessel_i1(float x) { return cyl_bessel_i1f(x); }
inline double norm4d(double a, double b, double c, double d) { return pairsmith::length(a, b, c, d); }
inline double rnorm4d(double a, double b, double c, double d) { return 1.0 / pairsmith::length(a, b, c, d); }
inline float norm4df(float a, float b, float c, float d)
{
    return static_cast<float>(pairsmith::length(a, b, c, d));
}
inline float rnorm4df(float a, float b, float c, float d)
{
    return static_cast<float>(1.0 / pairsmith::length(a, b, c, d));
}
inline double norm(int count, const double* values) { return pairsmith::length(count, values); }
inline double rnorm(int count, const double* values) { return 1.0 / pairsmith::length(count, values); }
inline float normf(int count, const float* values)
{
    return static_cast<float>(pairsmith::length(count, values));
}
inline float rnormf(int count, const float* values)
{
    return static_cast<float>(1.0 / pairsmith::length(count, values));
}
inline double nan(const char*) { return __builtin_nan(""); }
inline float nanf(const char*) { return __builtin_nanf(""); }
