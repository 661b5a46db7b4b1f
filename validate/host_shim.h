// Lets the CUDA text of a row run as plain C++ on one CPU thread.
//
// It follows the row's prologue. Warp's headers take their host path because __CUDACC__ is not
// defined; what is left of CUDA in a kernel text is named here. The grid is one block of one thread,
// so the grid-stride loop of a kernel walks through every launch index in order.

namespace pairsmith {

struct uint3_t {
    unsigned int x, y, z;
};

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

// Calls a kernel with each parameter read from the address in `values`, so that the compiler
// itself applies the calling convention, whatever the types are.
template <class... A> void call(void (*kernel)(A...), void** values)
{
    call_with(kernel, values, typename make_indices<sizeof...(A)>::type {});
}

template <int N, class... A> void describe(void (*)(wp::launch_bounds_t<N>, A...), signature_t* signature)
{
    const unsigned int sizes[] = { static_cast<unsigned int>(sizeof(A))..., 0 };
    static_assert(sizeof...(A) <= 128, "a kernel with more than 128 parameters");
    signature->dimensions = N;
    signature->count = sizeof...(A);
    for (unsigned int i = 0; i < sizeof...(A); ++i)
        signature->bytes[i] = sizes[i];
}

}  // namespace pairsmith

static const pairsmith::uint3_t threadIdx = { 0, 0, 0 };
static const pairsmith::uint3_t blockIdx = { 0, 0, 0 };
static const pairsmith::uint3_t blockDim = { 1, 1, 1 };
static const pairsmith::uint3_t gridDim = { 1, 1, 1 };

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
