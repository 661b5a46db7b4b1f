// Asynchronous copies to shared memory. Until its group is waited for, the place holds poison: who
// reads it too early reads NaN, and who reads it without a barrier races with one of its two writes.

namespace pairsmith {

struct copy_t {
    char* to;
    const char* from;  // null: zeros
    unsigned int count, group;
};

struct copies_t {
    copy_t* started;
    unsigned int count, room, groups;
};

static copies_t copies[1024];

inline void forget_copies()
{
    for (copies_t& own : copies)
        own.count = own.groups = 0;
}

inline copies_t& own_copies() { return copies[(me.thread - 1) % block_threads]; }

void copy_later(void* to, const void* from, unsigned int count, bool inside)
{
    const unsigned long long places
        = reinterpret_cast<unsigned long long>(to) | (inside ? reinterpret_cast<unsigned long long>(from) : 0);
    if (places % count != 0)
        misplaced();
    copies_t& own = own_copies();
    if (own.count == own.room) {
        own.room = own.room ? 2 * own.room : 64;
        own.started = static_cast<copy_t*>(realloc(own.started, own.room * sizeof(copy_t)));
    }
    if (inside)
        touch(from, count, plain_read);
    touch(to, count, plain_write);
    memset(to, 0xff, count);
    own.started[own.count++] = { static_cast<char*>(to), inside ? static_cast<const char*>(from) : nullptr, count,
                                 own.groups };
}

void commit_copies() { ++own_copies().groups; }

void wait_for_copies(unsigned int pending)
{
    copies_t& own = own_copies();
    unsigned int left = 0;
    for (unsigned int c = 0; c < own.count; ++c) {
        const copy_t copy = own.started[c];
        if (copy.group + pending >= own.groups) {
            own.started[left++] = copy;
            continue;
        }
        touch(copy.to, copy.count, plain_write);
        if (copy.from == nullptr)
            memset(copy.to, 0, copy.count);
        else
            __builtin_memcpy(copy.to, copy.from, copy.count);
    }
    own.count = left;
}

// As a gathering of a warp, after which no access is in order that was not before.
void gather_apart(int site, unsigned long long value, unsigned long long* all)
{
    const unsigned int meetings = me.meetings;
    gather_bits(site, 0xffffffffu, value, all);
    me.meetings = current->mark.meetings = meetings;
}

}  // namespace pairsmith
