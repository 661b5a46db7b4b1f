// Calls a kernel over a grid.

namespace pairsmith {

// What a kernel takes: bytes of each parameter and, of pointers, bytes and alignment of what they
// lead to, so that the caller can compare them with the row before it calls anything.
struct signature_t {
    unsigned int count;
    struct {
        unsigned int bytes, pointed, alignment;
    } parameters[128];
};

struct launch_t {
    unsigned int grid[3], block[3];
    int order, meets;
    char* shared_base;
    unsigned long long shared_size;
    unsigned int stopped, stopped_thread;
    int stopped_site;
};

template <class T> struct pointed_t {
    static const unsigned int bytes = 0, alignment = 0;
};
template <class T> struct pointed_t<T*> {
    static const unsigned int bytes = sizeof(T), alignment = alignof(T);
};

template <class... A> void describe(void (*)(A...), signature_t* signature)
{
    static_assert(sizeof...(A) <= 128, "a kernel with more than 128 parameters");
    signature->count = sizeof...(A);
    unsigned int at = 0;
    ((signature->parameters[at++] = { sizeof(A), pointed_t<A>::bytes, pointed_t<A>::alignment }), ...);
}

template <unsigned... I> struct indices { };
template <unsigned N, unsigned... I> struct make_indices : make_indices<N - 1, N - 1, I...> { };
template <unsigned... I> struct make_indices<0, I...> {
    using type = indices<I...>;
};

template <class... A, unsigned... I> void call_with(void (*kernel)(A...), void** values, indices<I...>)
{
    kernel(*static_cast<A*>(values[I])...);
}

template <class... A> struct bound_t {
    void (*kernel)(A...);
    void** values;
    static void run(void* self)
    {
        const bound_t& bound = *static_cast<bound_t*>(self);
        call_with(bound.kernel, bound.values, typename make_indices<sizeof...(A)>::type {});
    }
};

// Behind each variable in shared memory lies a gap, which its first bytes tell from what is held.
static const unsigned int gap_bytes = 512, most_gaps = 64;
static const unsigned char gap_start[16] = { 0xd1, 0x3c, 0x7e, 0x95, 0x2b, 0xe8, 0x46, 0xaf,
                                             0x1d, 0xc3, 0xe7, 0x59, 0xb2, 0x8e, 0x64, 0xfa };
static unsigned long long gaps[most_gaps];
static unsigned int gap_count = 0;

inline bool starts_gap(const char* place)
{
    for (unsigned int i = 0; i < sizeof gap_start; ++i)
        if (static_cast<unsigned char>(place[i]) != gap_start[i])
            return false;
    return true;
}

inline void find_gaps()
{
    gap_count = 0;
    for (unsigned long long at = 0; at + gap_bytes <= shared_size && gap_count < most_gaps; ++at) {
        if (!starts_gap(shared_base + at))
            continue;
        gaps[gap_count++] = at;
        at += gap_bytes - 1;
    }
}

inline void restore_gaps()
{
    for (unsigned int g = 0; g < gap_count; ++g)
        __builtin_memcpy(shared_base + gaps[g], gap_start, sizeof gap_start);
}

inline void prepare(launch_t& launch)
{
    threads_of_block = launch.block[0] * launch.block[1] * launch.block[2];
    block_threads = threads_of_block;
    blockDim = dim3(launch.block[0], launch.block[1], launch.block[2]);
    gridDim = dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
    stopped = finished;
    current = nullptr;
    shared_base = launch.shared_base;
    shared_size = launch.shared_size;
    shared_bytes = static_cast<byte_t*>(malloc(shared_size * sizeof(byte_t) + 1));
    find_gaps();
    if (!launch.meets)
        return;
    fibers = static_cast<fiber_t*>(malloc(threads_of_block * sizeof(fiber_t)));
    stacks = static_cast<char*>(malloc(static_cast<size_t>(threads_of_block) * stack_bytes));
    for (unsigned int t = 0; t < threads_of_block; ++t)
        fibers[t].started = false;
}

inline void release()
{
    restore_gaps();
    free(shared_bytes);
    free(fibers);
    free(stacks);
    shared_bytes = nullptr;
    fibers = nullptr;
    stacks = nullptr;
}

// Memory kept for `extern __shared__` that the launch has not asked for.
static char *unasked = nullptr, *unasked_end = nullptr;

// Shared memory starts each block as poison, and as nobody's.
inline void clear_shared()
{
    memset(shared_base, 0xff, shared_size);
    memset(shared_bytes, 0, shared_size * sizeof(byte_t));
    for (unsigned long long i = 0; i < shared_size; ++i)
        shared_bytes[i].inside = shared_base + i < unasked || shared_base + i >= unasked_end ? 2 : 0;
    restore_gaps();
    for (unsigned int g = 0; g < gap_count; ++g)
        for (unsigned int i = 0; i < gap_bytes; ++i)
            shared_bytes[gaps[g] + i].inside = 0;
}

inline void run_threads(unsigned int first, int order, bool meets)
{
    for (unsigned int t = 0; t < threads_of_block; ++t) {
        const unsigned int at = meets ? t : place_in_order(t, threads_of_block, order);
        const uint3 index = { at % blockDim.x, at / blockDim.x % blockDim.y, at / (blockDim.x * blockDim.y) };
        const mark_t mark = { first + at + 1, 0, 0, one };
        if (meets) {
            fiber_t& fiber = fibers[at];
            fiber.mark = mark;
            fiber.index = index;
            fiber.waits = ready;
            fiber.steps = 0;
            fiber.voted = false;
            continue;
        }
        threadIdx = index;
        me = mark;
        steps = 0;
        thread_body(thread_values);
    }
    if (meets)
        run_block_of_fibers(order);
}

template <class... A> void run_grid(void (*kernel)(A...), void** values, launch_t* launch, watch_t* watched)
{
    bound_t<A...> bound = { kernel, values };
    thread_body = bound_t<A...>::run;
    thread_values = &bound;
    watch = watched;
    read_count = 0;
    prepare(*launch);
    const unsigned int blocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
    for (unsigned int b = 0; b < blocks && stopped == finished; ++b) {
        const unsigned int at = place_in_order(b, blocks, launch->order);
        blockIdx = { at % gridDim.x, at / gridDim.x % gridDim.y, at / (gridDim.x * gridDim.y) };
        if (shared_size != 0)
            clear_shared();
        // A thread without fibers that is given up comes back here.
        if (launch->meets || !_setjmp(scheduler))
            run_threads(at * threads_of_block, launch->order, launch->meets != 0);
    }
    settle_read();
    release();
    watch = nullptr;
    launch->stopped = stopped;
    launch->stopped_thread = stopped_thread;
    launch->stopped_site = stopped_site;
}

}  // namespace pairsmith

// A kernel may read these and not write to them. Names of macros stand for themselves inside.
#define threadIdx (const_cast<const uint3&>(threadIdx))
#define blockIdx (const_cast<const uint3&>(blockIdx))
#define blockDim (const_cast<const dim3&>(blockDim))
#define gridDim (const_cast<const dim3&>(gridDim))
