// CUDA's own types and words, for C++ on a CPU. No header of CUDA or of the C library is needed.

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __maxnreg__(...)
// With what nvcc takes in device code only when it is told --expt-relaxed-constexpr.
#define PAIRSMITH_RELAXED
#define __align__(n) __attribute__((aligned(n)))
namespace pairsmith {

// Ends the kernel as a fault of its own.
[[noreturn]] void trap();

// Reads and writes of what a kernel names to a function of CUDA's: the watch sees them.
template <class T> T load(const T* place);
template <class T> void store(T* place, T value);

template <class To, class From> inline To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "types of one size");
    To to;
    __builtin_memcpy(&to, &from, sizeof(To));
    return to;
}

}  // namespace pairsmith

#define assert(...) ((__VA_ARGS__) ? static_cast<void>(0) : pairsmith::trap())
inline void __trap() { pairsmith::trap(); }
inline void __brkpt() { pairsmith::trap(); }
inline void __nanosleep(unsigned int) {}
inline void __prof_trigger(int) {}
#define __assume(condition) __builtin_assume(condition)
