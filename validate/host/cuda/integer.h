// Whole numbers: bits, products, averages, dot products.

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned int>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
inline unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
inline unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
inline unsigned int __nv_bswap32(unsigned int x) { return __builtin_bswap32(x); }
inline unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }

namespace pairsmith {

inline long long low24(int x) { return static_cast<int>(static_cast<unsigned int>(x) << 8) >> 8; }
inline unsigned int distance(long long a, long long b) { return static_cast<unsigned int>(a > b ? a - b : b - a); }

}  // namespace pairsmith

inline int __mul24(int a, int b) { return static_cast<int>(pairsmith::low24(a) * pairsmith::low24(b)); }
inline unsigned int __umul24(unsigned int a, unsigned int b)
{
    return static_cast<unsigned int>((a & 0xffffffull) * (b & 0xffffffull));
}
inline unsigned int __umulhi(unsigned int a, unsigned int b)
{
    return static_cast<unsigned int>((static_cast<unsigned long long>(a) * b) >> 32);
}
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline long long __mul64hi(long long a, long long b)
{
    return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
inline unsigned int __sad(int a, int b, unsigned int c) { return pairsmith::distance(a, b) + c; }
inline unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return pairsmith::distance(a, b) + c; }
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
inline unsigned int __uhadd(unsigned int a, unsigned int b)
{
    return static_cast<unsigned int>((static_cast<unsigned long long>(a) + b) >> 1);
}
inline unsigned int __urhadd(unsigned int a, unsigned int b)
{
    return static_cast<unsigned int>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector)
{
    const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
    unsigned int found = 0;
    for (int i = 0; i < 4; ++i)
        found |= static_cast<unsigned int>(bytes >> (selector >> 4 * i & 7u) * 8 & 0xffu) << 8 * i;
    return found;
}
// 64 bits shifted, the count taken modulo 32 or up to 32.
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift)
{
    return static_cast<unsigned int>((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31u) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift)
{
    return static_cast<unsigned int>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31u));
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift >= 32u ? low : __funnelshift_l(low, high, shift);
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift >= 32u ? high : __funnelshift_r(low, high, shift);
}
// The place of the n-th bit set from `base` on, upwards or, with a negative count, downwards.
inline unsigned int __fns(unsigned int mask, unsigned int base, int offset)
{
    int left = offset < 0 ? -offset : offset;
    for (int at = static_cast<int>(base); at >= 0 && at < 32; at += offset < 0 ? -1 : 1) {
        const bool set = mask >> at & 1u;
        if (offset == 0)
            return set ? base : 0xffffffffu;
        if (set && --left == 0)
            return static_cast<unsigned int>(at);
    }
    return 0xffffffffu;
}

#define PAIRSMITH_DOTS(type, four, two)                                             \
    inline type __dp4a(four a, four b, type c)                                                         \
    {                                                                                                  \
        return static_cast<type>(static_cast<long long>(c) + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w); \
    }                                                                                                  \
    inline type __dp4a(type a, type b, type c)                                                         \
    {                                                                                                  \
        return __dp4a(pairsmith::bits_as<four>(a), pairsmith::bits_as<four>(b), c);                    \
    }                                                                                                  \
    inline type __dp2a_lo(two a, four b, type c)                                                       \
    {                                                                                                  \
        const long long x = a.x, y = a.y;                                                              \
        return static_cast<type>(c + x * b.x + y * b.y);                                               \
    }                                                                                                  \
    inline type __dp2a_hi(two a, four b, type c)                                                       \
    {                                                                                                  \
        const long long x = a.x, y = a.y;                                                              \
        return static_cast<type>(c + x * b.z + y * b.w);                                               \
    }                                                                                                  \
    inline type __dp2a_lo(type a, type b, type c)                                                      \
    {                                                                                                  \
        return __dp2a_lo(pairsmith::bits_as<two>(a), pairsmith::bits_as<four>(b), c);                  \
    }                                                                                                  \
    inline type __dp2a_hi(type a, type b, type c)                                                      \
    {                                                                                                  \
        return __dp2a_hi(pairsmith::bits_as<two>(a), pairsmith::bits_as<four>(b), c);                  \
    }
PAIRSMITH_DOTS(int, char4, short2)
PAIRSMITH_DOTS(unsigned int, uchar4, ushort2)

inline int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
inline int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
#define PAIRSMITH_THREE(suffix, type)                                                                  \
    inline type __vimax3_##suffix(type a, type b, type c) { return max(max(a, b), c); }                \
    inline type __vimin3_##suffix(type a, type b, type c) { return min(min(a, b), c); }                \
    inline type __viaddmax_##suffix(type a, type b, type c)                                            \
    {                                                                                                  \
        return max(static_cast<type>(static_cast<unsigned int>(a) + static_cast<unsigned int>(b)), c); \
    }                                                                                                  \
    inline type __viaddmin_##suffix(type a, type b, type c)                                            \
    {                                                                                                  \
        return min(static_cast<type>(static_cast<unsigned int>(a) + static_cast<unsigned int>(b)), c); \
    }                                                                                                  \
    inline type __vibmax_##suffix(type a, type b, bool* first)                                         \
    {                                                                                                  \
        pairsmith::store(first, a >= b);                                                               \
        return max(a, b);                                                                              \
    }                                                                                                  \
    inline type __vibmin_##suffix(type a, type b, bool* first)                                         \
    {                                                                                                  \
        pairsmith::store(first, a <= b);                                                               \
        return min(a, b);                                                                              \
    }
PAIRSMITH_THREE(s32, int) PAIRSMITH_THREE(u32, unsigned int)
#define PAIRSMITH_RELU(name)                                                                           \
    inline int name##_s32_relu(int a, int b, int c) { return max(name##_s32(a, b, c), 0); }
PAIRSMITH_RELU(__vimax3) PAIRSMITH_RELU(__vimin3) PAIRSMITH_RELU(__viaddmax) PAIRSMITH_RELU(__viaddmin)
