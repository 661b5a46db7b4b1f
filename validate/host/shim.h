// Lets the CUDA text of a row run as plain C++ on one CPU thread.
//
// It follows the row's prologue. Warp's headers take their host path because __CUDACC__ is not
// defined; what is left of CUDA in a kernel text is named here. The grid is as wide as can be and
// its blocks have one thread, so that a call of a kernel is one launch index and no more.

namespace pairsmith {

struct uint3_t {
    unsigned int x, y, z;
};

}  // namespace pairsmith

// The C library's own; the compiler's builtins of that purpose exist for few processors.
extern "C" __attribute__((returns_twice)) int _setjmp(void* buffer);
extern "C" __attribute__((noreturn)) void _longjmp(void* buffer, int value);

static const pairsmith::uint3_t threadIdx = { 0, 0, 0 };
static pairsmith::uint3_t blockIdx = { 0, 0, 0 };
static const pairsmith::uint3_t blockDim = { 1, 1, 1 };
static const pairsmith::uint3_t gridDim = { 0xffffffffu, 1, 1 };

namespace pairsmith {

// What a kernel takes: its launch dimensions, and the number and bytes of the parameters after the
// bounds, so that the caller can compare them with the row before it calls anything.
struct signature_t {
    unsigned int dimensions;
    unsigned int count;
    unsigned int bytes[128];
};

template <unsigned... I> struct indices { };
template <unsigned N, unsigned... I> struct make_indices : make_indices<N - 1, N - 1, I...> { };
template <unsigned... I> struct make_indices<0, I...> {
    using type = indices<I...>;
};

template <class... A, unsigned... I> void call_with(void (*kernel)(A...), void** values, indices<I...>)
{
    kernel(*static_cast<A*>(values[I])...);
}

// All loops of Warp's text are made of goto. A thread that jumps this often will hardly ever end,
// and a count, unlike a clock, says the same on every machine.
static const unsigned int most_jumps = 1000000;
static unsigned int jumps = 0;
alignas(16) static unsigned char jumped_too_often[1024];

inline bool jump()
{
    if (++jumps > most_jumps)
        _longjmp(jumped_too_often, 1);
    return true;
}

// What the objects that take part in a launch share: who watches it, and which thread has its turn.
// Functions that several kernels call lie in objects of their own.
struct watch_t;

struct launched_t {
    watch_t* watch;
    unsigned long long thread;
};

static launched_t launched_here = {};
static launched_t* now = &launched_here;

// Runs `once` for each of `threads` launch indices. Gives 1 when a thread did not come to its end,
// which `blockIdx` then names.
template <class Once> int each_of(unsigned long long threads, Once once)
{
    if (_setjmp(jumped_too_often))
        return 1;
    for (unsigned long long thread = 0; thread < threads; ++thread) {
        now->thread = thread;
        blockIdx.x = static_cast<unsigned int>(thread);
        jumps = 0;
        once();
    }
    return 0;
}

inline int call_each(void (*once)(void**), void** values, unsigned long long threads)
{
    return each_of(threads, [=] { once(values); });
}

// The same for a kernel itself, every parameter read from the address in `values`, so that the
// compiler applies the calling convention, whatever the types are.
template <class... A> int call(void (*kernel)(A...), void** values, unsigned long long threads)
{
    return each_of(threads, [=] { call_with(kernel, values, typename make_indices<sizeof...(A)>::type {}); });
}

inline void describe_as(unsigned int dimensions, unsigned int count, const unsigned int* sizes, signature_t* signature)
{
    signature->dimensions = dimensions;
    signature->count = count;
    for (unsigned int i = 0; i < count && i < 128; ++i)
        signature->bytes[i] = sizes[i];
}

template <int N, class... A> void describe(void (*)(wp::launch_bounds_t<N>, A...), signature_t* signature)
{
    const unsigned int sizes[] = { static_cast<unsigned int>(sizeof(A))..., 0 };
    static_assert(sizeof...(A) <= 128, "a kernel with more than 128 parameters");
    describe_as(N, sizeof...(A), sizes, signature);
}

}  // namespace pairsmith

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
// The condition is always true; without an `else` of its own it cannot take one from the kernel.
#define goto if (!pairsmith::jump()) { } else goto
