// The threads of a block. Where a kernel's threads meet (barriers, shuffles), each is a fiber with a
// stack of its own, run until it meets the others or ends; without, they are calls, one by one.

extern "C" __attribute__((returns_twice)) int _setjmp(void* buffer);
extern "C" __attribute__((noreturn)) void _longjmp(void* buffer, int value);
extern "C" int getcontext(void* context);
extern "C" int swapcontext(void* from, const void* to);
extern "C" void makecontext(void* context, void (*function)(), int arguments, ...);
extern "C" void* malloc(size_t);
extern "C" void free(void*);
extern "C" void* memset(void*, int, size_t);

namespace pairsmith {

// Why a launch was given up. The first is none.
enum stop_t { finished, endless, divergence, left_early, foreign_lane, deadlock, not_met };

enum wait_t { ready, at_barrier, at_warp, ended };

static const unsigned int stack_bytes = 1 << 17;

struct fiber_t {
    alignas(16) unsigned char place[256];  // jmp_buf, below 256 bytes on every Linux
    mark_t mark;
    uint3 index;
    wait_t waits;
    bool started;
    int site;  // which meeting of the text
    int kind;
    unsigned int mask;
    int from;  // lane whose value is asked for; its own for none
    unsigned long long value, got;
    unsigned int steps;
    bool voted;
};

static const unsigned int most_steps = 4000000;
static unsigned int steps = 0;
static stop_t stopped = finished;
static int stopped_site = 0;
static unsigned int stopped_thread = 0;
static fiber_t* fibers = nullptr;
static char* stacks = nullptr;
static fiber_t* current = nullptr;
static unsigned int threads_of_block = 1;
alignas(16) static unsigned char scheduler[256];
alignas(16) static unsigned char scheduler_context[8192], fresh_context[8192];
static void (*thread_body)(void*) = nullptr;
static void* thread_values = nullptr;

__attribute__((noreturn)) inline void give_up(stop_t why, int site)
{
    if (stopped == finished) {
        stopped = why;
        stopped_site = site;
        stopped_thread = me.thread - 1;
    }
    _longjmp(scheduler, 1);
}

// Lets the scheduler go on; comes back when this thread may.
inline void yield()
{
    if (!_setjmp(current->place))
        _longjmp(scheduler, 1);
}

inline void resume(fiber_t& fiber);

inline void fiber_main()
{
    for (;;) {
        thread_body(thread_values);
        current->waits = ended;
        yield();
    }
}

inline void meet(wait_t waits, int kind, int site)
{
    if (current == nullptr)
        give_up(not_met, site);
    current->waits = waits;
    current->kind = kind;
    current->site = site;
    yield();
}

inline void barrier(int site)
{
    meet(at_barrier, 0, site);
}

// Meanings of a vote over a block: 1 count, 2 and, 3 or.
inline int barrier_vote(int site, int kind, bool vote)
{
    if (current != nullptr)
        current->voted = vote;
    meet(at_barrier, kind, site);
    return static_cast<int>(current->got);
}

// Kinds of meetings of a warp: 10 shuffle, 11 ballot, 12 wait.
template <class T> inline T exchange(int site, unsigned int mask, T value, int from)
{
    static_assert(sizeof(T) <= 8, "values of up to 8 bytes are shuffled");
    if (current != nullptr) {
        current->value = 0;
        __builtin_memcpy(&current->value, &value, sizeof(T));
        current->from = from;
        current->mask = mask;
    }
    meet(at_warp, 10, site);
    T got;
    __builtin_memcpy(&got, &current->got, sizeof(T));
    return got;
}

inline unsigned int ballot(int site, unsigned int mask, bool vote)
{
    if (current != nullptr) {
        current->mask = mask;
        current->voted = vote;
    }
    meet(at_warp, 11, site);
    return static_cast<unsigned int>(current->got);
}

inline void warp_barrier(int site, unsigned int mask)
{
    if (current != nullptr)
        current->mask = mask;
    meet(at_warp, 12, site);
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
    T result = value;
    const int at = lane();
    bool first = true;
    for (int k = 0; k < 32; ++k) {
        if (!(mask >> k & 1u))
            continue;
        const T other = exchange(site, mask, value, k);
        result = first ? other : join(result, other);
        first = false;
    }
    return result;
}

// Gives a warp's lanes what they wait for when all that take part are there.
inline bool complete_warp(unsigned int first, unsigned int count)
{
    bool moved = false;
    for (unsigned int l = 0; l < count; ++l) {
        fiber_t& leader = fibers[first + l];
        if (leader.waits != at_warp)
            continue;
        const unsigned int here = count == 32 ? 0xffffffffu : (1u << count) - 1u;
        const unsigned int mask = leader.mask & here;
        me = leader.mark;
        if (!(mask >> l & 1u))
            give_up(foreign_lane, leader.site);
        bool all = true;
        for (unsigned int k = 0; k < count; ++k) {
            const fiber_t& other = fibers[first + k];
            if (!(mask >> k & 1u))
                continue;
            if (other.waits == ended)
                give_up(left_early, leader.site);
            if (other.waits != at_warp) {
                all = false;
                break;
            }
            if (other.site != leader.site || other.kind != leader.kind || (other.mask & here) != mask)
                give_up(divergence, leader.site);
        }
        if (!all)
            continue;
        unsigned int votes = 0;
        for (unsigned int k = 0; k < count; ++k)
            votes |= (mask >> k & 1u) && fibers[first + k].voted ? 1u << k : 0u;
        unsigned int meetings = 0;
        for (unsigned int k = 0; k < count; ++k)
            if (mask >> k & 1u && fibers[first + k].mark.meetings > meetings)
                meetings = fibers[first + k].mark.meetings;
        for (unsigned int k = 0; k < count; ++k) {
            if (!(mask >> k & 1u))
                continue;
            fiber_t& lane = fibers[first + k];
            if (lane.kind == 10) {
                const int from = lane.from;
                if (from < 0 || from >= 32 || !(mask >> from & 1u)) {
                    me = lane.mark;
                    give_up(foreign_lane, lane.site);
                }
                lane.got = fibers[first + from].value;
            } else {
                lane.got = votes;
            }
            lane.mark.meetings = meetings + 1;
        }
        for (unsigned int k = 0; k < count; ++k)
            if (mask >> k & 1u)
                fibers[first + k].waits = ready;
        moved = true;
    }
    return moved;
}

// Opens the barrier when every thread of the block stands at the same one.
inline bool complete_barrier()
{
    unsigned int waiting = 0, gone = 0, votes = 0;
    const fiber_t* leader = nullptr;
    for (unsigned int t = 0; t < threads_of_block; ++t) {
        const fiber_t& fiber = fibers[t];
        gone += fiber.waits == ended;
        if (fiber.waits != at_barrier)
            continue;
        ++waiting;
        votes += fiber.voted;
        if (leader == nullptr)
            leader = &fiber;
        else if (fiber.site != leader->site) {
            me = fiber.mark;
            give_up(divergence, fiber.site);
        }
    }
    if (waiting == 0)
        return false;
    me = leader->mark;
    if (gone != 0)
        give_up(left_early, leader->site);
    if (waiting != threads_of_block)
        give_up(deadlock, leader->site);
    for (unsigned int t = 0; t < threads_of_block; ++t) {
        fiber_t& fiber = fibers[t];
        fiber.got = fiber.kind == 1 ? votes : fiber.kind == 2 ? votes == threads_of_block : votes != 0;
        ++fiber.mark.barriers;
        fiber.mark.meetings = 0;
        fiber.waits = ready;
    }
    return true;
}

inline void resume(fiber_t& fiber)
{
    current = &fiber;
    me = fiber.mark;
    threadIdx = fiber.index;
    steps = fiber.steps;
    if (!_setjmp(scheduler)) {
        if (fiber.started)
            _longjmp(fiber.place, 1);
        fiber.started = true;
        // uc_link and uc_stack come first in a Linux ucontext_t, after its flags.
        getcontext(fresh_context);
        void** words = reinterpret_cast<void**>(fresh_context);
        words[1] = scheduler_context;
        words[2] = stacks + (&fiber - fibers) * static_cast<size_t>(stack_bytes);
        *reinterpret_cast<size_t*>(&words[4]) = stack_bytes;
        makecontext(fresh_context, fiber_main, 0);
        swapcontext(scheduler_context, fresh_context);
    }
    fiber.steps = steps;
    current = nullptr;
}

// 0: in order; 1: from the last to the first; 2: mixed, by a fixed rule.
inline unsigned int place_in_order(unsigned int position, unsigned int count, int order)
{
    if (order == 1)
        return count - 1 - position;
    unsigned int step = 7;
    while (count % step == 0)
        step += 6;
    return order == 2 ? (position * step + 3) % count : position;
}

inline void run_block_of_fibers(int order)
{
    for (;;) {
        bool ran = false, left = false;
        for (unsigned int t = 0; t < threads_of_block; ++t) {
            fiber_t& fiber = fibers[place_in_order(t, threads_of_block, order)];
            if (fiber.waits == ready) {
                resume(fiber);
                ran = true;
            }
            if (stopped != finished)
                return;
            left = left || fiber.waits != ended;
        }
        if (!left)
            return;
        if (_setjmp(scheduler))
            return;
        bool moved = false;
        for (unsigned int w = 0; w < threads_of_block; w += 32)
            moved = complete_warp(w, threads_of_block - w < 32 ? threads_of_block - w : 32) || moved;
        if (!moved && !ran && !complete_barrier()) {
            for (unsigned int t = 0; t < threads_of_block; ++t)
                if (fibers[t].waits != ended) {
                    me = fibers[t].mark;
                    give_up(deadlock, fibers[t].site);
                }
        }
    }
}

}  // namespace pairsmith

extern "C" void __sanitizer_cov_trace_pc()
{
    if (++pairsmith::steps > pairsmith::most_steps)
        pairsmith::give_up(pairsmith::endless, 0);
}

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
#define __reduce_add_sync(mask, value) \
    pairsmith::reduce(__COUNTER__, mask, value, [](auto a, auto b) { return a + b; })
#define __reduce_min_sync(mask, value) \
    pairsmith::reduce(__COUNTER__, mask, value, [](auto a, auto b) { return a < b ? a : b; })
#define __reduce_max_sync(mask, value) \
    pairsmith::reduce(__COUNTER__, mask, value, [](auto a, auto b) { return a > b ? a : b; })

namespace pairsmith {

inline unsigned int mask_of(unsigned int mask = 0xffffffffu) { return mask; }

inline bool all_of(int site, unsigned int mask, bool vote)
{
    // Lanes that a short last warp does not have do not vote.
    return ballot(site, mask, !vote) == 0;
}

}  // namespace pairsmith
