// The threads of a block. Where a kernel's threads meet (barriers, shuffles), each is a fiber with a
// stack of its own, run until it meets the others or ends; without, they are calls, one by one.

extern "C" __attribute__((returns_twice)) int _setjmp(void* buffer);
extern "C" __attribute__((noreturn)) void _longjmp(void* buffer, int value);
extern "C" int getcontext(void* context);
extern "C" int swapcontext(void* from, const void* to);
extern "C" void makecontext(void* context, void (*function)(), int arguments, ...);

namespace pairsmith {

enum wait_t { ready, at_barrier, at_warp, ended };

// Kinds of meetings of a warp; votes over a block have the kinds 1 to 3.
enum meeting_t { shuffled = 10, balloted, waited, gathered, counted };

static const unsigned int stack_bytes = 1 << 18;

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
    unsigned long long* all;  // where the values of all lanes go
    unsigned int steps;
    bool voted;
};

static const unsigned int most_steps = 4000000;
static unsigned int steps = 0;
static unsigned long long all_steps = 0;
static stop_t stopped = finished;
static int stopped_site = 0;
static unsigned int stopped_thread = 0;
static fiber_t* fibers = nullptr;
static char* stacks = nullptr;
static unsigned int stack_count = 0;
static fiber_t* current = nullptr;
static unsigned int threads_of_block = 1;
alignas(16) static unsigned char scheduler[256];
alignas(16) static unsigned char scheduler_context[8192], fresh_context[8192];
static void (*thread_body)(void*) = nullptr;
static void* thread_values = nullptr;

void give_up(stop_t why, int site)
{
    if (stopped == finished) {
        stopped = why;
        stopped_site = site;
        stopped_thread = me.thread - 1;
    }
    _longjmp(scheduler, 1);
}

void trap() { give_up(trapped, 0); }

// Lets the scheduler go on; comes back when this thread may.
inline void yield()
{
    if (!_setjmp(current->place))
        _longjmp(scheduler, 1);
}

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

// A read of the place that waits for this very access is one step with it, as in loops around
// compare-and-swap.
void turn(const void* place)
{
    if (current == nullptr || launched == nullptr || launched->meets < 2)
        return;
    if (read_count != 0 && read_first == place && read_mark.thread == me.thread)
        return;
    current->waits = ready;
    yield();
}

void barrier(int site) { meet(at_barrier, 0, site); }

int barrier_vote(int site, int kind, bool vote)
{
    if (current != nullptr)
        current->voted = vote;
    meet(at_barrier, kind, site);
    return static_cast<int>(current->got);
}

inline unsigned long long meet_warp(int kind, int site, unsigned int mask, unsigned long long value, int from)
{
    if (current != nullptr) {
        current->value = value;
        current->from = from;
        current->mask = mask;
    }
    meet(at_warp, kind, site);
    return current->got;
}

unsigned long long exchange_bits(int site, unsigned int mask, unsigned long long value, int from)
{
    return meet_warp(shuffled, site, mask, value, from);
}

unsigned int gather_bits(int site, unsigned int mask, unsigned long long value, unsigned long long* all)
{
    if (current != nullptr)
        current->all = all;
    return static_cast<unsigned int>(meet_warp(gathered, site, mask, value, 0));
}

unsigned int ballot(int site, unsigned int mask, bool vote)
{
    if (current != nullptr)
        current->voted = vote;
    return static_cast<unsigned int>(meet_warp(balloted, site, mask, 0, 0));
}

void warp_barrier(int site, unsigned int mask) { meet_warp(waited, site, mask, 0, 0); }

unsigned int active_lanes(int site) { return static_cast<unsigned int>(meet_warp(counted, site, 0, 0, 0)); }

// Whether all lanes that the one at a place of the warp waits for stand where it stands; gives up
// where they cannot.
inline bool all_there(unsigned int first, unsigned int count, unsigned int at, unsigned int here)
{
    const fiber_t& leader = fibers[first + at];
    const unsigned int mask = leader.mask & here;
    for (unsigned int k = 0; k < count; ++k) {
        const fiber_t& other = fibers[first + k];
        if (!(mask >> k & 1u))
            continue;
        // Lanes that have left need not come.
        if (other.waits == ended)
            continue;
        if (other.waits != at_warp || other.kind == counted)
            return false;
        // One that meets others without the leader may come when they are done.
        if (!(other.mask >> at & 1u) && other.mask >> k & 1u)
            return false;
        if (other.site != leader.site || other.kind != leader.kind || (other.mask & here) != mask)
            give_up(divergence, leader.site);
    }
    return true;
}

inline void hand_out(unsigned int first, unsigned int count, unsigned int mask)
{
    unsigned int votes = 0, meetings = 0;
    unsigned long long values[32];
    for (unsigned int k = 0; k < count; ++k) {
        const fiber_t& lane = fibers[first + k];
        values[k] = lane.value;
        mask &= lane.waits == ended ? ~(1u << k) : 0xffffffffu;
        if (!(mask >> k & 1u))
            continue;
        votes |= lane.voted ? 1u << k : 0u;
        meetings = lane.mark.meetings > meetings ? lane.mark.meetings : meetings;
    }
    for (unsigned int k = 0; k < count; ++k) {
        if (!(mask >> k & 1u))
            continue;
        fiber_t& lane = fibers[first + k];
        lane.got = lane.kind == balloted ? votes : mask;
        if (lane.kind == shuffled) {
            const int from = lane.from;
            if (from < 0 || from >= 32 || !(mask >> from & 1u)) {
                me = lane.mark;
                give_up(foreign_lane, lane.site);
            }
            lane.got = values[from];
        }
        if (lane.kind == gathered)
            for (unsigned int j = 0; j < 32; ++j)
                lane.all[j] = j < count ? values[j] : 0;
        lane.mark.meetings = meetings + 1;
        lane.waits = ready;
    }
}

// Gives a warp's lanes what they wait for when all that take part are there.
inline bool complete_warp(unsigned int first, unsigned int count)
{
    bool moved = false;
    const unsigned int here = count == 32 ? 0xffffffffu : (1u << count) - 1u;
    for (unsigned int l = 0; l < count; ++l) {
        fiber_t& leader = fibers[first + l];
        if (leader.waits != at_warp || leader.kind == counted)
            continue;
        me = leader.mark;
        if (!(leader.mask >> l & 1u))
            give_up(foreign_lane, leader.site);
        if (!all_there(first, count, l, here))
            continue;
        hand_out(first, count, leader.mask & here);
        moved = true;
    }
    return moved;
}

// `__activemask()`: those who ask at one place when nobody of the warp can go on otherwise.
inline bool count_lanes(unsigned int first, unsigned int count)
{
    for (unsigned int l = 0; l < count; ++l) {
        const fiber_t& leader = fibers[first + l];
        if (leader.waits != at_warp || leader.kind != counted)
            continue;
        unsigned int mask = 0;
        for (unsigned int k = 0; k < count; ++k) {
            const fiber_t& other = fibers[first + k];
            if (other.waits == at_warp && other.kind == counted && other.site == leader.site)
                mask |= 1u << k;
        }
        for (unsigned int k = 0; k < count; ++k)
            if (mask >> k & 1u) {
                fibers[first + k].got = mask;
                fibers[first + k].waits = ready;
            }
        return true;
    }
    return false;
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

}  // namespace pairsmith
