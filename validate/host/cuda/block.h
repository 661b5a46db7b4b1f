// Barriers, shuffles and votes. The place in the text names the meeting.

namespace pairsmith {

void trap();
unsigned int gather_bits(int site, unsigned int mask, unsigned long long value, unsigned long long* all);
unsigned int active_lanes(int site);

template <class T> inline unsigned long long bits_of(T value)
{
    static_assert(sizeof(T) <= 8, "values of up to 8 bytes are shuffled");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <class T> inline T value_of(unsigned long long bits)
{
    T value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

template <class T> inline T exchange(int site, unsigned int mask, T value, int from)
{
    return value_of<T>(exchange_bits(site, mask, bits_of(value), from));
}

inline int lane()
{
    return static_cast<int>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32);
}

template <class T> inline T shuffle_down(int site, unsigned int mask, T value, int delta, int width = 32)
{
    const int at = lane();
    return exchange(site, mask, value, at % width + delta < width ? at + delta : at);
}

template <class T> inline T shuffle_up(int site, unsigned int mask, T value, int delta, int width = 32)
{
    const int at = lane();
    return exchange(site, mask, value, at % width >= delta ? at - delta : at);
}

template <class T> inline T shuffle_xor(int site, unsigned int mask, T value, int bits, int width = 32)
{
    const int at = lane();
    return exchange(site, mask, value, (at % width ^ bits) < width ? at ^ bits : at);
}

template <class T> inline T shuffle(int site, unsigned int mask, T value, int source, int width = 32)
{
    const int at = lane();
    return exchange(site, mask, value, at / width * width + (source & (width - 1)));
}

template <class T, class F> inline T reduce(int site, unsigned int mask, T value, F join)
{
    unsigned long long all[32];
    const unsigned int lanes = gather_bits(site, mask, bits_of(value), all);
    T result = value;
    bool first = true;
    for (int k = 0; k < 32; ++k) {
        if (!(lanes >> k & 1u))
            continue;
        const T other = value_of<T>(all[k]);
        result = first ? other : join(result, other);
        first = false;
    }
    return result;
}

template <class T> inline unsigned int match_any(int site, unsigned int mask, T value)
{
    unsigned long long all[32];
    const unsigned int lanes = gather_bits(site, mask, bits_of(value), all);
    unsigned int equal = 0;
    for (int k = 0; k < 32; ++k)
        equal |= (lanes >> k & 1u) && all[k] == bits_of(value) ? 1u << k : 0u;
    return equal;
}

template <class T> inline unsigned int match_all(int site, unsigned int mask, T value, int* same)
{
    unsigned long long all[32];
    const unsigned int lanes = gather_bits(site, mask, bits_of(value), all);
    *same = 1;
    for (int k = 0; k < 32; ++k)
        if ((lanes >> k & 1u) && all[k] != bits_of(value))
            *same = 0;
    return *same ? lanes : 0u;
}

inline unsigned int mask_of(unsigned int mask = 0xffffffffu) { return mask; }

inline bool all_of(int site, unsigned int mask, bool vote)
{
    // Lanes that a short last warp does not have do not vote.
    return ballot(site, mask, !vote) == 0;
}

struct sum_t { template <class T> T operator()(T a, T b) const { return a + b; } };
struct least_t { template <class T> T operator()(T a, T b) const { return a < b ? a : b; } };
struct most_t { template <class T> T operator()(T a, T b) const { return a > b ? a : b; } };
struct and_t { template <class T> T operator()(T a, T b) const { return a & b; } };
struct or_t { template <class T> T operator()(T a, T b) const { return a | b; } };
struct xor_t { template <class T> T operator()(T a, T b) const { return a ^ b; } };

}  // namespace pairsmith

#define __syncthreads() pairsmith::barrier(__COUNTER__)
#define __syncthreads_count(vote) pairsmith::barrier_vote(__COUNTER__, 1, vote)
#define __syncthreads_and(vote) pairsmith::barrier_vote(__COUNTER__, 2, vote)
#define __syncthreads_or(vote) pairsmith::barrier_vote(__COUNTER__, 3, vote)
#define __syncwarp(...) pairsmith::warp_barrier(__COUNTER__, pairsmith::mask_of(__VA_ARGS__))
#define __shfl_sync(...) pairsmith::shuffle(__COUNTER__, __VA_ARGS__)
#define __shfl_down_sync(...) pairsmith::shuffle_down(__COUNTER__, __VA_ARGS__)
#define __shfl_up_sync(...) pairsmith::shuffle_up(__COUNTER__, __VA_ARGS__)
#define __shfl_xor_sync(...) pairsmith::shuffle_xor(__COUNTER__, __VA_ARGS__)
#define __ballot_sync(mask, vote) pairsmith::ballot(__COUNTER__, mask, vote)
#define __any_sync(mask, vote) (pairsmith::ballot(__COUNTER__, mask, vote) != 0)
#define __all_sync(mask, vote) pairsmith::all_of(__COUNTER__, mask, vote)
#define __match_any_sync(mask, value) pairsmith::match_any(__COUNTER__, mask, value)
#define __match_all_sync(mask, value, same) pairsmith::match_all(__COUNTER__, mask, value, same)
#define __activemask() pairsmith::active_lanes(__COUNTER__)
#define __reduce_add_sync(mask, value) pairsmith::reduce(__COUNTER__, mask, value, pairsmith::sum_t())
#define __reduce_min_sync(mask, value) pairsmith::reduce(__COUNTER__, mask, value, pairsmith::least_t())
#define __reduce_max_sync(mask, value) pairsmith::reduce(__COUNTER__, mask, value, pairsmith::most_t())
#define __reduce_and_sync(mask, value) pairsmith::reduce(__COUNTER__, mask, value, pairsmith::and_t())
#define __reduce_or_sync(mask, value) pairsmith::reduce(__COUNTER__, mask, value, pairsmith::or_t())
#define __reduce_xor_sync(mask, value) pairsmith::reduce(__COUNTER__, mask, value, pairsmith::xor_t())

inline void __threadfence() { pairsmith::fence(true); }
inline void __threadfence_system() { pairsmith::fence(true); }
inline void __threadfence_block() { pairsmith::fence(false); }
