// The helpers of tensor.py, step by step: copies that arrive when they are waited for, fragments
// and products of tensor cores. A warp meets in them, but that puts no accesses in order.

namespace pairsmith {

void copy_later(void* to, const void* from, unsigned int count, bool inside);
void commit_copies();
void wait_for_copies(unsigned int pending);
void gather_apart(int site, unsigned long long value, unsigned long long* all);
void misplaced();

// Of a product of a warpgroup: reads what it reads, and adds to the thread's sums where there are any.
typedef void (*product_body_t)(unsigned long long a, unsigned long long b, float* sums);
void multiply_later(product_body_t body, unsigned long long a, unsigned long long b, float* sums, unsigned int count);
void wait_for_products(unsigned int pending);

// Places that no text can have.
enum tensor_site_t { at_matrices = -1, at_transposed = -2, at_product = -3, at_warpgroup = -4 };

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

// A matrix of a warpgroup is named by its address and, above, by KiB from 64 columns to the next.
static const int address_bits = 48;

// Element (at, k), or (k, at) where rows of the tile are along k; 64 of k.
inline const char* place_in(unsigned long long matrix, bool across, int at, int k)
{
    const unsigned long long leading = (matrix >> address_bits) * 1024;
    unsigned long long place = matrix & ((1ull << address_bits) - 1);
    if (across)
        place += at / 64 * leading + k * 128 + at % 64 * 2;
    else
        place += at * 128 + k * 2;
    return reinterpret_cast<const char*>(place ^ (place >> 7 & 7) << 4);
}

inline unsigned int bits_at(const char* place)
{
    unsigned short bits;
    __builtin_memcpy(&bits, place, 2);
    return bits;
}

// A warpgroup reads each 16 bytes in two threads, so that one of them is not who wrote them.
inline void touch_matrix(unsigned long long matrix, bool across, int extent)
{
    const int own = threadIdx.x % 128;
    for (int again = 0; again < 2; ++again)
        for (int chunk = (own + again) % 128; chunk < extent * 8; chunk += 128) {
            const int line = chunk / 8, part = chunk % 8 * 8;
            const char* const place = across ? place_in(matrix, true, line / 64 * 64 + part, line % 64)
                                             : place_in(matrix, false, line, part);
            touch(place, 16, plain_read);
        }
}

// Sum (row, column) of 64 x N is in thread (row / 16) 32 + row % 8 * 4 + column % 8 / 2 of its
// warpgroup, the (column / 8 * 4 + row / 8 % 2 * 2 + column % 2)-th of its own.
template <class Of, int N, bool A_ACROSS, bool B_ACROSS>
inline void of_warpgroup(unsigned long long a, unsigned long long b, float* sums)
{
    touch_matrix(a, A_ACROSS, 64);
    touch_matrix(b, B_ACROSS, N);
    if (sums == nullptr)
        return;
    const int own = threadIdx.x % 128;
    double left[2][64], right[64];
    for (int half = 0; half < 2; ++half)
        for (int k = 0; k < 64; ++k)
            left[half][k] = Of::value(bits_at(place_in(a, A_ACROSS, own / 32 * 16 + half * 8 + own % 32 / 4, k)), 0);
    for (int at = 0; at < N / 4; ++at) {
        for (int k = 0; k < 64; ++k)
            right[k] = Of::value(bits_at(place_in(b, B_ACROSS, at / 2 * 8 + own % 4 * 2 + at % 2, k)), 0);
        for (int half = 0; half < 2; ++half) {
            float& sum = sums[at / 2 * 4 + half * 2 + at % 2];
            double found = sum;
            for (int k = 0; k < 64; ++k)
                found += left[half][k] * right[k];
            sum = static_cast<float>(found);
        }
    }
}

template <class Of, int N, bool A_ACROSS, bool B_ACROSS>
inline void start_warpgroup(float (&sums)[N / 2], unsigned long long a, unsigned long long b)
{
    unsigned long long all_a[32], all_b[32];
    gather_apart(at_warpgroup, a, all_a);
    gather_apart(at_warpgroup, b, all_b);
    for (int other = 0; other < 32; ++other)
        if (all_a[other] != a || all_b[other] != b)
            misplaced();
    if ((a | b) % 1024 != 0)
        misplaced();
    multiply_later(of_warpgroup<Of, N, A_ACROSS, B_ACROSS>, a, b, sums, N / 2);
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

template <int PENDING> inline void ptx_wait_copies_for_products() { pairsmith::wait_for_copies(PENDING); }
template <int LEADING> inline unsigned long long ptx_matrix_at(const void* from)
{
    return reinterpret_cast<unsigned long long>(from) | LEADING / 1024ull << pairsmith::address_bits;
}
template <int PENDING, int COUNT> inline void ptx_wait_products(float (&)[COUNT])
{
    pairsmith::wait_for_products(PENDING);
}

#define PAIRSMITH_WARPGROUP(kind, of, columns)                                                         \
    template <int A_ACROSS, int B_ACROSS>                                                              \
    inline void ptx_##kind##_products_##columns(                                                       \
        float (&sums)[columns / 2], unsigned long long a, unsigned long long b)                        \
    {                                                                                                  \
        pairsmith::start_warpgroup<pairsmith::of, columns, A_ACROSS != 0, B_ACROSS != 0>(sums, a, b);  \
    }
PAIRSMITH_WARPGROUP(f16, of_half_t, 64)
PAIRSMITH_WARPGROUP(f16, of_half_t, 128)
PAIRSMITH_WARPGROUP(f16, of_half_t, 256)
PAIRSMITH_WARPGROUP(bf16, of_bfloat16_t, 64)
PAIRSMITH_WARPGROUP(bf16, of_bfloat16_t, 128)
PAIRSMITH_WARPGROUP(bf16, of_bfloat16_t, 256)
