// What a number is, and the larger and smaller of two.

inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }
inline bool isnan(float x) { return __builtin_isnan(x); }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool signbit(float x) { return __builtin_signbit(x); }
inline int __isnan(double x) { return __builtin_isnan(x); }
inline int __isnanf(float x) { return __builtin_isnan(x); }
inline int __isinf(double x) { return __builtin_isinf_sign(x); }
inline int __isinff(float x) { return __builtin_isinf_sign(x); }
inline int __finite(double x) { return __builtin_isfinite(x); }
inline int __finitef(float x) { return __builtin_isfinite(x); }
inline int __signbit(double x) { return __builtin_signbit(x); }
inline int __signbitf(float x) { return __builtin_signbit(x) != 0; }

#define PAIRSMITH_EXTREMES(type)                                                                       \
    inline type max(type a, type b) { return a > b ? a : b; }                                          \
    inline type min(type a, type b) { return a < b ? a : b; }
PAIRSMITH_EXTREMES(int) PAIRSMITH_EXTREMES(unsigned int) PAIRSMITH_EXTREMES(long)
PAIRSMITH_EXTREMES(unsigned long) PAIRSMITH_EXTREMES(long long) PAIRSMITH_EXTREMES(unsigned long long)
#define PAIRSMITH_MIXED(type, other, result)                                                           \
    inline result max(type a, other b) { return max(static_cast<result>(a), static_cast<result>(b)); } \
    inline result min(type a, other b) { return min(static_cast<result>(a), static_cast<result>(b)); }
PAIRSMITH_MIXED(long, unsigned long, unsigned long)
PAIRSMITH_MIXED(unsigned long, long, unsigned long)
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
inline unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
inline unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
inline long long llmax(long long a, long long b) { return a > b ? a : b; }
inline long long llmin(long long a, long long b) { return a < b ? a : b; }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
