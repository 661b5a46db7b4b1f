// Watches what each thread of a kernel reads and writes, so that a serial run still shows races.
//
// It follows shim.h. Kernel texts reach arrays through the functions of Warp named at the end;
// macros send those calls here first. Memory between `base` and `base + size` is watched, byte by
// byte; pointers elsewhere lead to a thread's own variables.

namespace pairsmith {

enum access_t { none, plain_read, plain_write, atomic };

// Who touched a byte: 0 nobody, `several` more than one thread, else the launch index plus 1.
struct byte_t {
    unsigned int reader, writer, updater;
    unsigned int inside;  // 1 in an array, 0 between arrays
};

static const unsigned int several = 0xffffffffu;

// The first trouble: a byte outside every array, or one that two threads used in a way whose
// result depends on their order. `access` and `thread` came second, `earlier` and `other` first.
struct trouble_t {
    unsigned int access, thread, earlier, other;
    unsigned long long offset;
};

struct watch_t {
    char* base;
    unsigned long long size;
    byte_t* bytes;
    trouble_t trouble;
};


inline void report(access_t access, access_t earlier, unsigned int other, unsigned long long offset)
{
    trouble_t& trouble = now->watch->trouble;
    if (trouble.access == none)
        trouble = { access, static_cast<unsigned int>(now->thread), earlier, other - 1, offset };
}

inline bool by_another(unsigned int mark, unsigned int me) { return mark != 0 && mark != me; }

// Two accesses by different threads are in order only when both read or both are atomic.
inline void touch_byte(byte_t& byte, access_t access, unsigned int me, unsigned long long offset)
{
    if (!byte.inside)
        report(access, none, 0, offset);
    else if (by_another(byte.writer, me))
        report(access, plain_write, byte.writer, offset);
    else if (access != plain_read && by_another(byte.reader, me))
        report(access, plain_read, byte.reader, offset);
    else if (access != atomic && by_another(byte.updater, me))
        report(access, atomic, byte.updater, offset);
    unsigned int& mark = access == plain_read ? byte.reader : access == plain_write ? byte.writer : byte.updater;
    mark = mark == 0 || mark == me ? me : several;
}

inline void touch(const void* pointer, unsigned long long count, access_t access)
{
    const watch_t* watch = now->watch;
    if (watch == nullptr)
        return;
    const char* first = static_cast<const char*>(pointer);
    if (first < watch->base || first + count > watch->base + watch->size)
        return;
    const unsigned long long offset = first - watch->base;
    for (unsigned long long i = offset; i < offset + count; ++i)
        touch_byte(watch->bytes[i], access, static_cast<unsigned int>(now->thread) + 1, i);
}

template <typename T> void touch_element(const T* element, access_t access) { touch(element, sizeof(T), access); }

template <unsigned N> struct count_t { };

// The address of the element that the first N of the arguments after the array name.
template <class A, class... R> auto element(count_t<1>, const A& a, int i, const R&...) { return wp::address(a, i); }

template <class A, class... R> auto element(count_t<2>, const A& a, int i, int j, const R&...)
{
    return wp::address(a, i, j);
}

template <class A, class... R> auto element(count_t<3>, const A& a, int i, int j, int k, const R&...)
{
    return wp::address(a, i, j, k);
}

template <class A, class... R> auto element(count_t<4>, const A& a, int i, int j, int k, int l, const R&...)
{
    return wp::address(a, i, j, k, l);
}

}  // namespace pairsmith

// `values` is the number of arguments after the indices.
#define PAIRSMITH_WATCH(function, values, access)                                                           \
    template <template <typename> class A, typename T, typename... R>                                       \
    inline auto watched_##function(const A<T>& a, R... rest)                                                \
    {                                                                                                       \
        using namespace pairsmith;                                                                          \
        touch_element(element(count_t<sizeof...(R) - values> {}, a, rest...), access);                      \
        return function(a, rest...);                                                                        \
    }                                                                                                       \
    template <typename T, typename... R> inline auto watched_##function(T* pointer, R... rest)              \
    {                                                                                                       \
        pairsmith::touch_element(pointer, access);                                                          \
        return function(pointer, rest...);                                                                  \
    }

namespace wp {

template <typename T> inline T watched_load(T* pointer)
{
    pairsmith::touch_element(pointer, pairsmith::plain_read);
    return load(pointer);
}

template <typename T> inline void watched_store(T* pointer, T value)
{
    pairsmith::touch_element(pointer, pairsmith::plain_write);
    store(pointer, value);
}

PAIRSMITH_WATCH(array_store, 1, pairsmith::plain_write)
PAIRSMITH_WATCH(atomic_add, 1, pairsmith::atomic)
PAIRSMITH_WATCH(atomic_sub, 1, pairsmith::atomic)
PAIRSMITH_WATCH(atomic_min, 1, pairsmith::atomic)
PAIRSMITH_WATCH(atomic_max, 1, pairsmith::atomic)
PAIRSMITH_WATCH(atomic_and, 1, pairsmith::atomic)
PAIRSMITH_WATCH(atomic_or, 1, pairsmith::atomic)
PAIRSMITH_WATCH(atomic_xor, 1, pairsmith::atomic)
PAIRSMITH_WATCH(atomic_exch, 1, pairsmith::atomic)
PAIRSMITH_WATCH(atomic_cas, 2, pairsmith::atomic)

}  // namespace wp

#define load(...) watched_load(__VA_ARGS__)
#define store(...) watched_store(__VA_ARGS__)
#define array_store(...) watched_array_store(__VA_ARGS__)
#define atomic_add(...) watched_atomic_add(__VA_ARGS__)
#define atomic_sub(...) watched_atomic_sub(__VA_ARGS__)
#define atomic_min(...) watched_atomic_min(__VA_ARGS__)
#define atomic_max(...) watched_atomic_max(__VA_ARGS__)
#define atomic_and(...) watched_atomic_and(__VA_ARGS__)
#define atomic_or(...) watched_atomic_or(__VA_ARGS__)
#define atomic_xor(...) watched_atomic_xor(__VA_ARGS__)
#define atomic_exch(...) watched_atomic_exch(__VA_ARGS__)
#define atomic_cas(...) watched_atomic_cas(__VA_ARGS__)
