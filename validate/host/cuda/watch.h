// Who reads and writes which byte. Clang's thread sanitizer puts a call before every access to
// memory that may be shared; the functions at the end are what it calls, in place of its library.

namespace pairsmith {

enum access_t { none, plain_read, plain_write, atomic };

// The last access of its kind to a byte. Accesses of several threads that nothing has put in order
// are kept as one, by all threads of a warp, a block or the grid.
struct mark_t {
    unsigned int thread;  // over the grid, plus 1; 0: nobody
    unsigned int barriers, meetings;
    unsigned int scope;
};

enum scope_t { one, warp, block, grid };

struct byte_t {
    mark_t reader, writer, updater;
    unsigned int inside;  // 1 in an array, 0 between arrays, 2 in shared memory that nobody has written
};

struct trouble_t {
    unsigned int access, thread, earlier, other, shared;
    unsigned long long offset;
};

struct watch_t {
    char* base;
    unsigned long long size;
    byte_t* bytes;
    trouble_t trouble;
};

static watch_t* watch = nullptr;
// The shared memory of the kernel that runs, and its marks.
static char* shared_base = nullptr;
static unsigned long long shared_size = 0;
static byte_t* shared_bytes = nullptr;

// The thread that runs: its number over the grid plus 1, and how often it has met others.
static mark_t me;
static unsigned int block_threads = 1;

inline unsigned int block_of(const mark_t& mark) { return (mark.thread - 1) / block_threads; }
inline unsigned int warp_of(const mark_t& mark) { return (mark.thread - 1) % block_threads / 32; }

// Whether an earlier access has come to its end before what `me` does now, in every order of threads.
inline bool before_me(const mark_t& mark)
{
    if (mark.thread == 0 || (mark.scope == one && mark.thread == me.thread))
        return true;
    if (mark.scope == grid || block_of(mark) != block_of(me))
        return false;
    if (mark.barriers < me.barriers)
        return true;
    return mark.scope <= warp && warp_of(mark) == warp_of(me) && mark.meetings < me.meetings;
}

inline void note(mark_t& mark)
{
    if (before_me(mark)) {
        mark = me;
        return;
    }
    const bool same_block = mark.scope != grid && block_of(mark) == block_of(me);
    const bool same_warp = same_block && mark.scope <= warp && warp_of(mark) == warp_of(me);
    mark.scope = same_warp ? warp : same_block ? block : grid;
    mark.barriers = mark.barriers > me.barriers ? mark.barriers : me.barriers;
    mark.meetings = mark.meetings > me.meetings ? mark.meetings : me.meetings;
}

inline void report(access_t access, access_t earlier, const mark_t* other, unsigned long long offset, bool shared)
{
    trouble_t& found = watch->trouble;
    if (found.access == none)
        found = { access, me.thread - 1, earlier, other && other->scope == one ? other->thread - 1 : 0xfffffffeu,
                  shared, offset };
}

inline void touch_byte(byte_t& byte, access_t access, unsigned long long offset, bool shared)
{
    if (!byte.inside)
        report(access, none, nullptr, offset, shared);
    else if (!before_me(byte.writer))
        report(access, plain_write, &byte.writer, offset, shared);
    else if (access != plain_read && !before_me(byte.reader))
        report(access, plain_read, &byte.reader, offset, shared);
    else if (access != atomic && !before_me(byte.updater))
        report(access, atomic, &byte.updater, offset, shared);
    if (access != plain_read && byte.inside)
        byte.inside = 1;
    note(access == plain_read ? byte.reader : access == plain_write ? byte.writer : byte.updater);
}

inline bool unwritten(unsigned long long offset, unsigned long long count)
{
    for (unsigned long long i = offset; i < offset + count; ++i)
        if (shared_bytes[i].inside != 2)
            return false;
    return true;
}

inline void mark_access(const char* first, unsigned long long count, access_t access)
{
    if (first >= watch->base && first + count <= watch->base + watch->size) {
        const unsigned long long offset = first - watch->base;
        for (unsigned long long i = offset; i < offset + count; ++i)
            touch_byte(watch->bytes[i], access, i, false);
    } else if (first >= shared_base && first + count <= shared_base + shared_size) {
        const unsigned long long offset = first - shared_base;
        // A struct may have bytes that nobody ever writes, but not all of it.
        if (access == plain_read && unwritten(offset, count))
            report(access, none, nullptr, offset, true);
        for (unsigned long long i = offset; i < offset + count; ++i)
            touch_byte(shared_bytes[i], access, i, true);
    }
}

// A plain read waits for what comes next: when that is a compare-and-swap of what was read, the swap
// has the last word on the value, as in every loop around atomicCAS, and the read was no race.
static const char* read_first = nullptr;
static unsigned long long read_count = 0;
static mark_t read_mark;

inline void settle_read()
{
    if (read_count == 0)
        return;
    const mark_t now = me;
    me = read_mark;
    mark_access(read_first, read_count, plain_read);
    me = now;
    read_count = 0;
}

inline void touch(const void* pointer, unsigned long long count, access_t access, bool swaps = false)
{
    const char* first = static_cast<const char*>(pointer);
    if (watch == nullptr)
        return;
    if (swaps && first == read_first && count == read_count && me.thread == read_mark.thread)
        read_count = 0;
    settle_read();
    if (access != plain_read) {
        mark_access(first, count, access);
        return;
    }
    read_first = first;
    read_count = count;
    read_mark = me;
}

}  // namespace pairsmith

#define PAIRSMITH_ACCESS(count)                                                                        \
    void __tsan_read##count(void* p) { pairsmith::touch(p, count, pairsmith::plain_read); }            \
    void __tsan_write##count(void* p) { pairsmith::touch(p, count, pairsmith::plain_write); }          \
    void __tsan_read_write##count(void* p) { pairsmith::touch(p, count, pairsmith::plain_write); }     \
    void __tsan_unaligned_read##count(void* p) { pairsmith::touch(p, count, pairsmith::plain_read); }  \
    void __tsan_unaligned_write##count(void* p) { pairsmith::touch(p, count, pairsmith::plain_write); }\
    void __tsan_unaligned_read_write##count(void* p) { pairsmith::touch(p, count, pairsmith::plain_write); }

extern "C" {
PAIRSMITH_ACCESS(1)
PAIRSMITH_ACCESS(2)
PAIRSMITH_ACCESS(4)
PAIRSMITH_ACCESS(8)
PAIRSMITH_ACCESS(16)
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void* __tsan_memcpy(void* to, const void* from, size_t count)
{
    pairsmith::touch(from, count, pairsmith::plain_read);
    pairsmith::touch(to, count, pairsmith::plain_write);
    return __builtin_memcpy(to, from, count);
}
void* __tsan_memmove(void* to, const void* from, size_t count)
{
    pairsmith::touch(from, count, pairsmith::plain_read);
    pairsmith::touch(to, count, pairsmith::plain_write);
    return __builtin_memmove(to, from, count);
}
void* __tsan_memset(void* to, int value, size_t count)
{
    pairsmith::touch(to, count, pairsmith::plain_write);
    return __builtin_memset(to, value, count);
}
}
