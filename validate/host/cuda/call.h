// Calls a kernel over a grid: what it takes, and its arguments bound for each thread. What stands here
// is compiled for each text, so that as much as can be is data.

namespace pairsmith {

// What a kernel takes: bytes of each parameter and, of pointers, bytes and alignment of what they
// lead to, so that the caller can compare them with the row before it calls anything.
struct parameter_t {
    unsigned int bytes, pointed, alignment;
};

template <class T> struct pointed_t {
    static const unsigned int bytes = 0, alignment = 0;
};
template <class T> struct pointed_t<T*> {
    static const unsigned int bytes = sizeof(T), alignment = alignof(T);
};
template <> struct pointed_t<void*> : pointed_t<char*> { };
template <> struct pointed_t<const void*> : pointed_t<char*> { };

// With one more than there are: an array has at least one.
template <unsigned N> struct signature_t {
    unsigned int count;
    parameter_t parameters[N + 1];
};

// Only evaluated while a text is compiled: of it there is no code.
template <class... A> constexpr signature_t<sizeof...(A)> signature_of(void (*)(A...))
{
    static_assert(sizeof...(A) <= 128, "a kernel with more than 128 parameters");
    return { sizeof...(A), { { sizeof(A), pointed_t<A>::bytes, pointed_t<A>::alignment }..., {} } };
}

template <class, unsigned... I> struct indices { };

// An argument on the stack of its thread: where it comes from is no memory of the kernel's.
template <class T> struct argument_t {
    alignas(T) unsigned char bytes[sizeof(T)];
    explicit argument_t(const void* from) { __builtin_memcpy(bytes, from, sizeof(T)); }
    T& value() { return *reinterpret_cast<T*>(bytes); }
};

// A kernel, whatever it takes, and where its arguments lie.
struct bound_t {
    void (*kernel)();
    void** values;
};

// Calls a kernel of such a type for the thread whose turn it is.
template <class, class> struct caller_t;
template <class... A, unsigned... I> struct caller_t<void (*)(A...), indices<unsigned, I...>> {
    static void call(void* self)
    {
        const bound_t& bound = *static_cast<bound_t*>(self);
        const auto kernel = reinterpret_cast<void (*)(A...)>(bound.kernel);
        if constexpr ((__is_trivially_copyable(A) && ...))
            kernel(*static_cast<A*>(bound.values[I])...);
        else
            kernel(argument_t<A>(bound.values[I]).value()...);
    }
};

template <class... A> constexpr auto caller_of(void (*)(A...))
{
    return &caller_t<void (*)(A...), __make_integer_seq<indices, unsigned, sizeof...(A)>>::call;
}

// Where the variables of a text lie; of dynamic shared memory the most that there can be.
struct places_t {
    struct {
        char *first, *end;
    } shared, variables[most_variables];
    char* dynamic;
    unsigned int dynamic_bytes;
};

inline void run_grid(void (*call)(void*), void (*kernel)(), const places_t& places, void** values,
    launch_t* launch, watch_t* watched)
{
    launch->shared.first = places.shared.first;
    launch->shared.size = places.shared.end - places.shared.first;
    for (unsigned int v = 0; v < most_variables; ++v) {
        launch->variables[v].first = places.variables[v].first;
        launch->variables[v].size = places.variables[v].end - places.variables[v].first;
    }
    if (places.dynamic) {
        launch->unasked = places.dynamic + launch->asked;
        launch->unasked_end = places.dynamic + places.dynamic_bytes;
    }
    bound_t bound = { kernel, values };
    const stand_t stand = { &pairsmith_thread, &pairsmith_block, &pairsmith_of_block, &pairsmith_of_grid };
    run_blocks(call, &bound, stand, launch, watched);
}

}  // namespace pairsmith
