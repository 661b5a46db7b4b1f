// Atomic functions. Threads take turns here, so that they are plain steps that the watch knows of.

namespace pairsmith {

template <access_t A = atomic, class T, class F> inline T update(T* place, F change, bool swaps = false)
{
    turn(place);
    touch(place, sizeof(T), A, swaps);
    const T old = *place;
    *place = change(old);
    return old;
}

}  // namespace pairsmith

#define PAIRSMITH_SCOPED_ATOMIC(name, type, result, scope)                                             \
    inline type name(type* place, type value)                                                          \
    {                                                                                                  \
        return pairsmith::update<pairsmith::scope>(place, [=](type old) -> type { return result; });   \
    }
#define PAIRSMITH_ONE_ATOMIC(name, type, result) PAIRSMITH_SCOPED_ATOMIC(name, type, result, atomic)
#define PAIRSMITH_ATOMIC(name, type, result)                                                           \
    PAIRSMITH_ONE_ATOMIC(name, type, result)                                                           \
    PAIRSMITH_SCOPED_ATOMIC(name##_block, type, result, block_atomic)                                  \
    PAIRSMITH_ONE_ATOMIC(name##_system, type, result)
#define PAIRSMITH_ONE_SWAP(name, type, scope)                                                          \
    inline type name(type* place, type compare, type value)                                            \
    {                                                                                                  \
        return pairsmith::update<pairsmith::scope>(                                                    \
            place, [=](type old) -> type { return old == compare ? value : old; }, true);              \
    }
#define PAIRSMITH_SWAP(name, type)                                                                     \
    PAIRSMITH_ONE_SWAP(name, type, atomic) PAIRSMITH_ONE_SWAP(name##_block, type, block_atomic)        \
    PAIRSMITH_ONE_SWAP(name##_system, type, atomic)
#define PAIRSMITH_WHOLE_ATOMIC(name, result)                                                           \
    PAIRSMITH_ATOMIC(name, int, result) PAIRSMITH_ATOMIC(name, unsigned int, result)                   \
    PAIRSMITH_ATOMIC(name, long long, result) PAIRSMITH_ATOMIC(name, unsigned long long, result)
PAIRSMITH_WHOLE_ATOMIC(atomicMin, old < value ? old : value)
PAIRSMITH_WHOLE_ATOMIC(atomicMax, old > value ? old : value)
PAIRSMITH_WHOLE_ATOMIC(atomicAnd, old & value)
PAIRSMITH_WHOLE_ATOMIC(atomicOr, old | value)
PAIRSMITH_WHOLE_ATOMIC(atomicXor, old ^ value)
PAIRSMITH_SWAP(atomicCAS, int)
PAIRSMITH_SWAP(atomicCAS, unsigned int)
PAIRSMITH_SWAP(atomicCAS, unsigned long long)
PAIRSMITH_SWAP(atomicCAS, unsigned short)
PAIRSMITH_ATOMIC(atomicExch, int, value)
PAIRSMITH_ATOMIC(atomicExch, unsigned int, value)
PAIRSMITH_ATOMIC(atomicExch, unsigned long long, value)
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
PAIRSMITH_ONE_ATOMIC(atomicAdd, __half, old + value)
PAIRSMITH_ONE_ATOMIC(atomicAdd, __half2, old + value)
PAIRSMITH_ONE_ATOMIC(atomicAdd, __nv_bfloat16, old + value)
PAIRSMITH_ONE_ATOMIC(atomicAdd, __nv_bfloat162, old + value)

// Vectors are updated part by part, each part atomically.
#define PAIRSMITH_ATOMIC_PARTS(name, type, ...)                                                        \
    inline type name(type* place, type value)                                                          \
    {                                                                                                  \
        return { __VA_ARGS__ };                                                                        \
    }
#define PAIRSMITH_VECTOR_ADDS(name)                                                                    \
    PAIRSMITH_ATOMIC_PARTS(name, float2, atomicAdd(&place->x, value.x), atomicAdd(&place->y, value.y)) \
    PAIRSMITH_ATOMIC_PARTS(name, float4, atomicAdd(&place->x, value.x), atomicAdd(&place->y, value.y), \
                           atomicAdd(&place->z, value.z), atomicAdd(&place->w, value.w))
PAIRSMITH_VECTOR_ADDS(atomicAdd) PAIRSMITH_VECTOR_ADDS(atomicAdd_block) PAIRSMITH_VECTOR_ADDS(atomicAdd_system)
