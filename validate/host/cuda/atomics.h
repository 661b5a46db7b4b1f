// Atomic functions. Threads take turns here, so that they are plain steps that the watch knows of.

namespace pairsmith {

template <class T, class F> inline T update(T* place, F change, bool swaps = false)
{
    touch(place, sizeof(T), atomic, swaps);
    const T old = *place;
    *place = change(old);
    return old;
}

}  // namespace pairsmith

#define PAIRSMITH_ATOMIC(name, type, result)                                                           \
    inline type name(type* place, type value)                                                          \
    {                                                                                                  \
        return pairsmith::update(place, [=](type old) -> type { return result; });                     \
    }
#define PAIRSMITH_ATOMICS_OF(type)                                                                     \
    PAIRSMITH_ATOMIC(atomicMin, type, old < value ? old : value)                                       \
    PAIRSMITH_ATOMIC(atomicMax, type, old > value ? old : value)                                       \
    PAIRSMITH_ATOMIC(atomicAnd, type, old & value)                                                     \
    PAIRSMITH_ATOMIC(atomicOr, type, old | value)                                                      \
    PAIRSMITH_ATOMIC(atomicXor, type, old ^ value)                                                     \
    PAIRSMITH_ATOMIC(atomicExch, type, value)                                                          \
    inline type atomicCAS(type* place, type compare, type value)                                       \
    {                                                                                                  \
        return pairsmith::update(                                                                      \
            place, [=](type old) -> type { return old == compare ? value : old; }, true);              \
    }
PAIRSMITH_ATOMICS_OF(int)
PAIRSMITH_ATOMICS_OF(unsigned int)
PAIRSMITH_ATOMICS_OF(unsigned long long)
PAIRSMITH_ATOMIC(atomicMin, long long, old < value ? old : value)
PAIRSMITH_ATOMIC(atomicMax, long long, old > value ? old : value)
PAIRSMITH_ATOMIC(atomicExch, float, value)
PAIRSMITH_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned int>(old) + static_cast<unsigned int>(value)))
PAIRSMITH_ATOMIC(atomicAdd, unsigned int, old + value)
PAIRSMITH_ATOMIC(atomicAdd, unsigned long long, old + value)
PAIRSMITH_ATOMIC(atomicAdd, float, old + value)
PAIRSMITH_ATOMIC(atomicAdd, double, old + value)
PAIRSMITH_ATOMIC(atomicSub, int, static_cast<int>(static_cast<unsigned int>(old) - static_cast<unsigned int>(value)))
PAIRSMITH_ATOMIC(atomicSub, unsigned int, old - value)
PAIRSMITH_ATOMIC(atomicInc, unsigned int, old >= value ? 0u : old + 1u)
PAIRSMITH_ATOMIC(atomicDec, unsigned int, old == 0u || old > value ? value : old - 1u)
