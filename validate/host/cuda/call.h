// Calls a kernel over a grid: what it takes, and its arguments bound for each thread.

namespace pairsmith {

// What a kernel takes: bytes of each parameter and, of pointers, bytes and alignment of what they
// lead to, so that the caller can compare them with the row before it calls anything.
struct parameter_t {
    unsigned int bytes, pointed, alignment;
};
struct signature_t {
    unsigned int count;
    parameter_t parameters[128];
};

template <class T> struct pointed_t {
    static const unsigned int bytes = 0, alignment = 0;
};
template <class T> struct pointed_t<T*> {
    static const unsigned int bytes = sizeof(T), alignment = alignof(T);
};
template <> struct pointed_t<void*> : pointed_t<char*> { };
template <> struct pointed_t<const void*> : pointed_t<char*> { };

template <class... A> void describe(void (*)(A...), signature_t* signature)
{
    static_assert(sizeof...(A) <= 128, "a kernel with more than 128 parameters");
    static const parameter_t of[] = { { sizeof(A), pointed_t<A>::bytes, pointed_t<A>::alignment }..., {} };
    signature->count = sizeof...(A);
    __builtin_memcpy(signature->parameters, of, sizeof(of) - sizeof(parameter_t));
}

template <class, unsigned... I> struct indices { };

// An argument on the stack of its thread: where it comes from is no memory of the kernel's.
template <class T> struct argument_t {
    alignas(T) unsigned char bytes[sizeof(T)];
    explicit argument_t(const void* from) { __builtin_memcpy(bytes, from, sizeof(T)); }
    T& value() { return *reinterpret_cast<T*>(bytes); }
};

template <class... A, unsigned... I> void call_with(void (*kernel)(A...), void** values, indices<unsigned, I...>)
{
    if constexpr ((__is_trivially_copyable(A) && ...))
        kernel(*static_cast<A*>(values[I])...);
    else
        kernel(argument_t<A>(values[I]).value()...);
}

template <class... A> struct bound_t {
    void (*kernel)(A...);
    void** values;
    static void run(void* self)
    {
        const bound_t& bound = *static_cast<bound_t*>(self);
        call_with(bound.kernel, bound.values, __make_integer_seq<indices, unsigned, sizeof...(A)> {});
    }
};

template <class... A> void run_grid(void (*kernel)(A...), void** values, launch_t* launch, watch_t* watched)
{
    bound_t<A...> bound = { kernel, values };
    const stand_t stand = { &pairsmith_thread, &pairsmith_block, &pairsmith_of_block, &pairsmith_of_grid };
    run_blocks(bound_t<A...>::run, &bound, stand, launch, watched);
}

}  // namespace pairsmith
