// The helpers of tensor.py, step by step: copies that arrive when they are waited for, fragments
// and products of tensor cores. A warp meets in them, but that puts no accesses in order.

namespace pairsmith {

void copy_later(void* to, const void* from, unsigned int count, bool inside);
void commit_copies();
void wait_for_copies(unsigned int pending);
void gather_apart(int site, unsigned long long value, unsigned long long* all);
void misplaced();

// Places that no text can have.
enum tensor_site_t { at_matrices = -1, at_transposed = -2, at_product = -3 };

inline void load_fragments(unsigned int (&to)[4], const void* from, bool transposed)
{
    unsigned long long rows[32];
    if (reinterpret_cast<unsigned long long>(from) % 16 != 0)
        misplaced();
    gather_apart(transposed ? at_transposed : at_matrices, reinterpret_cast<unsigned long long>(from), rows);
    const int own = lane();
    for (int matrix = 0; matrix < 4; ++matrix) {
        const unsigned long long* const of = rows + 8 * matrix;
        if (!transposed) {
            const char* const place = reinterpret_cast<const char*>(of[own / 4]) + own % 4 * 4;
            touch(place, 4, plain_read);
            __builtin_memcpy(&to[matrix], place, 4);
            continue;
        }
        unsigned short parts[2];
        for (int k = 0; k < 2; ++k) {
            const char* const place = reinterpret_cast<const char*>(of[own % 4 * 2 + k]) + own / 4 * 2;
            touch(place, 2, plain_read);
            __builtin_memcpy(&parts[k], place, 2);
        }
        to[matrix] = parts[0] | static_cast<unsigned int>(parts[1]) << 16;
    }
}

struct of_half_t {
    enum { each = 2 };
    static double value(unsigned int word, int k)
    {
        return decode(__half(__half_raw { static_cast<unsigned short>(word >> 16 * k) }));
    }
};
struct of_bfloat16_t {
    enum { each = 2 };
    static double value(unsigned int word, int k) { return bits_as<float>(word >> 16 * k << 16); }
};
// The last 13 bits of a float are none of its tf32.
struct of_tf32_t {
    enum { each = 1 };
    static double value(unsigned int word, int) { return bits_as<float>(word & 0xffffe000u); }
};
struct of_int8_t {
    enum { each = 4 };
    static double value(unsigned int word, int k) { return static_cast<signed char>(word >> 8 * k); }
};

// Element (row, k) of a is in word (row / 8) + 2 (k / 4e) of lane (row % 8) 4 + k % 4e / e, where e
// elements make a word; of b, element (k, n) is in word k / 4e of lane 4 n + k % 4e / e.
template <class Of, class T>
inline void multiply(T (&sums)[4], const unsigned int (&a)[4], unsigned int b0, unsigned int b1)
{
    unsigned long long low[32], high[32], right[32];
    gather_apart(at_product, a[0] | static_cast<unsigned long long>(a[1]) << 32, low);
    gather_apart(at_product, a[2] | static_cast<unsigned long long>(a[3]) << 32, high);
    gather_apart(at_product, b0 | static_cast<unsigned long long>(b1) << 32, right);
    const int own = lane();
    for (int at = 0; at < 4; ++at) {
        const int row = own / 4 + at / 2 * 8, column = own % 4 * 2 + at % 2;
        double sum = sums[at];
        for (int k = 0; k < 8 * Of::each; ++k) {
            const int half = k / (4 * Of::each), from = k % (4 * Of::each) / Of::each;
            const unsigned long long left = (half ? high : low)[row % 8 * 4 + from];
            const unsigned int word = static_cast<unsigned int>(left >> (row / 8 * 32));
            const unsigned int other = static_cast<unsigned int>(right[column * 4 + from] >> half * 32);
            sum += Of::value(word, k % Of::each) * Of::value(other, k % Of::each);
        }
        sums[at] = static_cast<T>(sum);
    }
}

}  // namespace pairsmith

template <int BYTES> inline void ptx_copy_async(void* to, const void* from, bool inside)
{
    pairsmith::copy_later(to, from, BYTES, inside);
}
inline void ptx_copy_async_16(void* to, const void* from, bool inside) { pairsmith::copy_later(to, from, 16, inside); }
inline void ptx_commit_copies() { pairsmith::commit_copies(); }
template <int PENDING> inline void ptx_wait_copies() { pairsmith::wait_for_copies(PENDING); }

inline void ptx_load_matrices(unsigned int (&to)[4], const void* from) { pairsmith::load_fragments(to, from, false); }
inline void ptx_load_transposed(unsigned int (&to)[4], const void* from) { pairsmith::load_fragments(to, from, true); }

#define PAIRSMITH_MMA(name, real, of)                                                                  \
    inline void name(real (&sums)[4], const unsigned int (&a)[4], unsigned int b0, unsigned int b1)    \
    {                                                                                                  \
        pairsmith::multiply<pairsmith::of>(sums, a, b0, b1);                                           \
    }
PAIRSMITH_MMA(ptx_mma_f16, float, of_half_t)
PAIRSMITH_MMA(ptx_mma_bf16, float, of_bfloat16_t)
PAIRSMITH_MMA(ptx_mma_tf32, float, of_tf32_t)
PAIRSMITH_MMA(ptx_mma_s8, int, of_int8_t)
