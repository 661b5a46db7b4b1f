// What Clang's instrumentation calls in a text: before accesses, at jumps, and where C++ leaves open
// what happens (a device does something else there than this machine).

namespace pairsmith {

void misplaced() { give_up(misaligned, 0); }

// An access whose type has its full alignment.
inline void aligned(const void* place, unsigned long long count, access_t access)
{
    if (reinterpret_cast<unsigned long long>(place) % count != 0)
        misplaced();
    touch(place, count, access);
}

}  // namespace pairsmith

#define PAIRSMITH_ACCESS(count)                                                                        \
    void __tsan_read##count(void* p) { pairsmith::aligned(p, count, pairsmith::plain_read); }          \
    void __tsan_write##count(void* p) { pairsmith::aligned(p, count, pairsmith::plain_write); }        \
    void __tsan_read_write##count(void* p) { pairsmith::aligned(p, count, pairsmith::plain_write); }   \
    void __tsan_unaligned_read##count(void* p) { pairsmith::touch(p, count, pairsmith::plain_read); }  \
    void __tsan_unaligned_write##count(void* p) { pairsmith::touch(p, count, pairsmith::plain_write); }\
    void __tsan_unaligned_read_write##count(void* p) { pairsmith::touch(p, count, pairsmith::plain_write); }\
    void __tsan_volatile_read##count(void* p) { pairsmith::aligned(p, count, pairsmith::volatile_read); }  \
    void __tsan_volatile_write##count(void* p) { pairsmith::aligned(p, count, pairsmith::plain_write); }   \
    void __tsan_unaligned_volatile_read##count(void* p) { pairsmith::touch(p, count, pairsmith::volatile_read); } \
    void __tsan_unaligned_volatile_write##count(void* p) { pairsmith::touch(p, count, pairsmith::plain_write); }

#define PAIRSMITH_UNDEFINED(check, reason)                                                             \
    void __ubsan_handle_##check##_minimal_abort() { pairsmith::give_up(pairsmith::reason, 0); }

extern "C" {
PAIRSMITH_ACCESS(1)
PAIRSMITH_ACCESS(2)
PAIRSMITH_ACCESS(4)
PAIRSMITH_ACCESS(8)
PAIRSMITH_ACCESS(16)
void __tsan_vptr_read(void*) {}
void __tsan_vptr_update(void*, void*) {}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void* __tsan_memcpy(void* to, const void* from, size_t count)
{
    pairsmith::touch(from, count, pairsmith::plain_read);
    pairsmith::touch(to, count, pairsmith::plain_write);
    return __builtin_memcpy(to, from, count);
}
void* __tsan_memmove(void* to, const void* from, size_t count)
{
    pairsmith::touch(from, count, pairsmith::plain_read);
    pairsmith::touch(to, count, pairsmith::plain_write);
    return __builtin_memmove(to, from, count);
}
void* __tsan_memset(void* to, int value, size_t count)
{
    pairsmith::touch(to, count, pairsmith::plain_write);
    return __builtin_memset(to, value, count);
}

void __sanitizer_cov_trace_pc()
{
    if (++pairsmith::steps > pairsmith::most_steps)
        pairsmith::give_up(pairsmith::endless, 0);
}

PAIRSMITH_UNDEFINED(out_of_bounds, past_an_array)
PAIRSMITH_UNDEFINED(shift_out_of_bounds, wide_shift)
PAIRSMITH_UNDEFINED(float_cast_overflow, wide_cast)
PAIRSMITH_UNDEFINED(divrem_overflow, zero_division)
void __ubsan_handle_missing_return_minimal() { pairsmith::give_up(pairsmith::no_return, 0); }
void __ubsan_handle_builtin_unreachable_minimal() { pairsmith::give_up(pairsmith::no_return, 0); }
PAIRSMITH_UNDEFINED(vla_bound_not_positive, past_an_array)
}
