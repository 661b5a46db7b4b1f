// CUDA's vectors. Those of two and four are aligned to all their bytes, up to 16, and a device faults
// where one lies elsewhere: an empty member, which lies where its vector does, looks at every copy.

namespace pairsmith {

void misplaced();

template <unsigned long long N> struct placed_t {
    constexpr placed_t() = default;
    constexpr placed_t(const placed_t& other)
    {
        if (!__builtin_is_constant_evaluated())
            check(&other);
    }
    constexpr placed_t& operator=(const placed_t& other)
    {
        if (!__builtin_is_constant_evaluated()) {
            check(&other);
            check(this);
        }
        return *this;
    }
    static void check(const void* place)
    {
        if (reinterpret_cast<unsigned long long>(place) % N != 0)
            misplaced();
    }
};

}  // namespace pairsmith

#define PAIRSMITH_PLACED(bytes) [[no_unique_address]] pairsmith::placed_t<bytes> placed_;

#define PAIRSMITH_VECTORS(name, type, two, four)                                                       \
    struct name##1 { type x; };                                                                        \
    struct alignas(two) name##2 { type x, y; PAIRSMITH_PLACED(two) };                                  \
    struct name##3 { type x, y, z; };                                                                  \
    struct alignas(four) name##4 { type x, y, z, w; PAIRSMITH_PLACED(four) };                          \
    inline name##1 make_##name##1(type x) { return { x }; }                                            \
    inline name##2 make_##name##2(type x, type y) { return { x, y }; }                                 \
    inline name##3 make_##name##3(type x, type y, type z) { return { x, y, z }; }                      \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return { x, y, z, w }; }

PAIRSMITH_VECTORS(char, signed char, 2, 4)
PAIRSMITH_VECTORS(uchar, unsigned char, 2, 4)
PAIRSMITH_VECTORS(short, short, 4, 8)
PAIRSMITH_VECTORS(ushort, unsigned short, 4, 8)
PAIRSMITH_VECTORS(int, int, 8, 16)
PAIRSMITH_VECTORS(uint, unsigned int, 8, 16)
PAIRSMITH_VECTORS(long, long, 16, 16)
PAIRSMITH_VECTORS(ulong, unsigned long, 16, 16)
PAIRSMITH_VECTORS(longlong, long long, 16, 16)
PAIRSMITH_VECTORS(ulonglong, unsigned long long, 16, 16)
PAIRSMITH_VECTORS(float, float, 8, 16)
PAIRSMITH_VECTORS(double, double, 16, 16)
#define PAIRSMITH_WIDE_VECTOR(name, type, bytes)                                                       \
    struct alignas(bytes) name##4_##bytes##a { type x, y, z, w; PAIRSMITH_PLACED(bytes) };             \
    inline name##4_##bytes##a make_##name##4_##bytes##a(type x, type y, type z, type w)                \
    {                                                                                                  \
        return { x, y, z, w };                                                                         \
    }
#define PAIRSMITH_WIDE_VECTORS(name, type)                                                             \
    PAIRSMITH_WIDE_VECTOR(name, type, 16) PAIRSMITH_WIDE_VECTOR(name, type, 32)
PAIRSMITH_WIDE_VECTORS(long, long) PAIRSMITH_WIDE_VECTORS(ulong, unsigned long)
PAIRSMITH_WIDE_VECTORS(longlong, long long) PAIRSMITH_WIDE_VECTORS(ulonglong, unsigned long long)
PAIRSMITH_WIDE_VECTORS(double, double)

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return { x, y, z }; }
};
