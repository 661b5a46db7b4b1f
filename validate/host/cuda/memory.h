// Reads and writes by name: cache hints, copies; and what runs without a trace.

namespace pairsmith {

template <class T> inline T load(const T* place)
{
    touch(place, sizeof(T), plain_read);
    return *place;
}

template <class T> inline void store(T* place, T value)
{
    touch(place, sizeof(T), plain_write);
    *place = value;
}

// A type, but not one to deduce from.
template <class T> struct same_t {
    typedef T type;
};

static unsigned long long ticks = 0;

// The next look at the clock: a step that is now odd, now even, and never the same twice running.
inline unsigned long long tick()
{
    return ticks += 33 + (ticks * 0x9e3779b97f4a7c15ull >> 59);
}

}  // namespace pairsmith

#define PAIRSMITH_LOAD(name) template <class T> inline T name(const T* place) { return pairsmith::load(place); }
#define PAIRSMITH_STORE(name)                                                                          \
    template <class T> inline void name(T* place, typename pairsmith::same_t<T>::type value)           \
    {                                                                                                  \
        pairsmith::store(place, value);                                                                \
    }
PAIRSMITH_LOAD(__ldg) PAIRSMITH_LOAD(__ldca) PAIRSMITH_LOAD(__ldcg) PAIRSMITH_LOAD(__ldcs)
PAIRSMITH_LOAD(__ldlu) PAIRSMITH_LOAD(__ldcv)
PAIRSMITH_STORE(__stwb) PAIRSMITH_STORE(__stcg) PAIRSMITH_STORE(__stcs) PAIRSMITH_STORE(__stwt)

extern "C" {
void* memcpy(void*, const void*, size_t);
void* memset(void*, int, size_t);
}

// Prints nothing.
template <class... A> inline int printf(const char*, A...) { return sizeof...(A); }

// They grow with every look, by no clock of the machine.
inline long long clock64() { return static_cast<long long>(pairsmith::tick()); }
inline clock_t clock() { return static_cast<clock_t>(pairsmith::tick()); }
