// SIMD within a word: two lanes of 16 bits or four of 8.

namespace pairsmith {

template <int bits> inline int signed_lane(unsigned int word, int lane)
{
    return static_cast<int>(word << (32 - bits - lane * bits)) >> (32 - bits);
}

template <int bits> inline int unsigned_lane(unsigned int word, int lane)
{
    return static_cast<int>(word >> lane * bits & ((1u << bits) - 1u));
}

inline int clamped(int x, int least, int most) { return x < least ? least : x > most ? most : x; }

}  // namespace pairsmith

// `a`, `b` and `c` are a lane's values, `most` is the largest signed one.
#define PAIRSMITH_LANE_WORD(name, bits, kind, result, sum_of_lanes)                                    \
    inline unsigned int name(unsigned int x, unsigned int y = 0, unsigned int z = 0)                   \
    {                                                                                                  \
        unsigned int word = 0;                                                                         \
        for (int lane = 0; lane < 32 / bits; ++lane) {                                                 \
            const int a = pairsmith::kind##_lane<bits>(x, lane), b = pairsmith::kind##_lane<bits>(y, lane); \
            const int c = pairsmith::kind##_lane<bits>(z, lane), most = (1 << (bits - 1)) - 1;         \
            const unsigned int found = static_cast<unsigned int>(result);                              \
            word = sum_of_lanes ? word + found : word | (found & ((1u << bits) - 1u)) << lane * bits;  \
        }                                                                                              \
        return word;                                                                                   \
    }
#define PAIRSMITH_LANES(name, kind, result)                                                            \
    PAIRSMITH_LANE_WORD(name##2, 16, kind, result, false) PAIRSMITH_LANE_WORD(name##4, 8, kind, result, false)
#define PAIRSMITH_LANE_SUMS(name, kind, result)                                                        \
    PAIRSMITH_LANE_WORD(name##2, 16, kind, result, true) PAIRSMITH_LANE_WORD(name##4, 8, kind, result, true)
#define PAIRSMITH_LANE_TESTS(name, kind, result)                                                       \
    PAIRSMITH_LANES(__vcmp##name, kind, (result) ? -1 : 0) PAIRSMITH_LANES(__vset##name, kind, (result) ? 1 : 0)
#define PAIRSMITH_HALF_LANES(name, kind, result) PAIRSMITH_LANE_WORD(name, 16, kind, result, false)

PAIRSMITH_LANES(__vadd, unsigned, a + b)
PAIRSMITH_LANES(__vsub, unsigned, a - b)
PAIRSMITH_LANES(__vaddss, signed, pairsmith::clamped(a + b, -most - 1, most))
PAIRSMITH_LANES(__vsubss, signed, pairsmith::clamped(a - b, -most - 1, most))
PAIRSMITH_LANES(__vaddus, unsigned, pairsmith::clamped(a + b, 0, 2 * most + 1))
PAIRSMITH_LANES(__vsubus, unsigned, pairsmith::clamped(a - b, 0, 2 * most + 1))
PAIRSMITH_LANES(__vabs, signed, a < 0 ? -a : a)
PAIRSMITH_LANES(__vabsss, signed, pairsmith::clamped(a < 0 ? -a : a, 0, most))
PAIRSMITH_LANES(__vneg, signed, -a)
PAIRSMITH_LANES(__vnegss, signed, pairsmith::clamped(-a, -most - 1, most))
PAIRSMITH_LANES(__vabsdiffs, signed, a > b ? a - b : b - a)
PAIRSMITH_LANES(__vabsdiffu, unsigned, a > b ? a - b : b - a)
PAIRSMITH_LANES(__vavgs, signed, a + b < 0 ? (a + b) >> 1 : (a + b + 1) >> 1)
PAIRSMITH_LANES(__vavgu, unsigned, (a + b + 1) >> 1)
PAIRSMITH_LANES(__vhaddu, unsigned, (a + b) >> 1)
PAIRSMITH_LANES(__vmaxs, signed, a > b ? a : b)
PAIRSMITH_LANES(__vmaxu, unsigned, a > b ? a : b)
PAIRSMITH_LANES(__vmins, signed, a < b ? a : b)
PAIRSMITH_LANES(__vminu, unsigned, a < b ? a : b)
PAIRSMITH_LANE_SUMS(__vsads, signed, a > b ? a - b : b - a)
PAIRSMITH_LANE_SUMS(__vsadu, unsigned, a > b ? a - b : b - a)
PAIRSMITH_LANE_TESTS(eq, unsigned, a == b)
PAIRSMITH_LANE_TESTS(ne, unsigned, a != b)
PAIRSMITH_LANE_TESTS(ges, signed, a >= b)
PAIRSMITH_LANE_TESTS(geu, unsigned, a >= b)
PAIRSMITH_LANE_TESTS(gts, signed, a > b)
PAIRSMITH_LANE_TESTS(gtu, unsigned, a > b)
PAIRSMITH_LANE_TESTS(les, signed, a <= b)
PAIRSMITH_LANE_TESTS(leu, unsigned, a <= b)
PAIRSMITH_LANE_TESTS(lts, signed, a < b)
PAIRSMITH_LANE_TESTS(ltu, unsigned, a < b)

PAIRSMITH_HALF_LANES(__vimax_s16x2_relu, signed, max(max(a, b), 0))
PAIRSMITH_HALF_LANES(__vimin_s16x2_relu, signed, max(min(a, b), 0))
PAIRSMITH_HALF_LANES(__vimax3_s16x2, signed, max(max(a, b), c))
PAIRSMITH_HALF_LANES(__vimin3_s16x2, signed, min(min(a, b), c))
PAIRSMITH_HALF_LANES(__vimax3_u16x2, unsigned, max(max(a, b), c))
PAIRSMITH_HALF_LANES(__vimin3_u16x2, unsigned, min(min(a, b), c))
PAIRSMITH_HALF_LANES(__vimax3_s16x2_relu, signed, max(max(max(a, b), c), 0))
PAIRSMITH_HALF_LANES(__vimin3_s16x2_relu, signed, max(min(min(a, b), c), 0))
PAIRSMITH_HALF_LANES(__viaddmax_s16x2, signed, max(static_cast<int>(static_cast<short>(a + b)), c))
PAIRSMITH_HALF_LANES(__viaddmin_s16x2, signed, min(static_cast<int>(static_cast<short>(a + b)), c))
PAIRSMITH_HALF_LANES(__viaddmax_u16x2, unsigned, max((a + b) & 0xffff, c))
PAIRSMITH_HALF_LANES(__viaddmin_u16x2, unsigned, min((a + b) & 0xffff, c))
PAIRSMITH_HALF_LANES(__viaddmax_s16x2_relu, signed, max(max(static_cast<int>(static_cast<short>(a + b)), c), 0))
PAIRSMITH_HALF_LANES(__viaddmin_s16x2_relu, signed, max(min(static_cast<int>(static_cast<short>(a + b)), c), 0))

#define PAIRSMITH_CHOICE(name, chosen, kind, compared)                                                 \
    inline unsigned int name(unsigned int x, unsigned int y, bool* high, bool* low)                    \
    {                                                                                                  \
        pairsmith::store(high, pairsmith::kind##_lane<16>(x, 1) compared pairsmith::kind##_lane<16>(y, 1)); \
        pairsmith::store(low, pairsmith::kind##_lane<16>(x, 0) compared pairsmith::kind##_lane<16>(y, 0)); \
        return chosen(x, y);                                                                           \
    }
PAIRSMITH_CHOICE(__vibmax_s16x2, __vmaxs2, signed, >=) PAIRSMITH_CHOICE(__vibmax_u16x2, __vmaxu2, unsigned, >=)
PAIRSMITH_CHOICE(__vibmin_s16x2, __vmins2, signed, <=) PAIRSMITH_CHOICE(__vibmin_u16x2, __vminu2, unsigned, <=)
