// Who reads and writes which byte: of the arrays, of shared memory and of a text's own variables.

namespace pairsmith {

// The last access of its kind to a byte. Accesses of several threads that nothing has put in order
// are kept as one, by all threads of a warp, a block or the grid.
struct mark_t {
    unsigned int thread;  // over the grid, plus 1; 0: nobody
    unsigned int barriers, meetings;
    unsigned int scope;
    unsigned int when;  // of the latest access, by a clock of the launch
};

enum scope_t { one, warp, block, grid };

struct marks_t {
    mark_t reader, writer, updater, looker;  // a looker reads volatile memory
};

// Four bytes that lie in a row: marked as one until some of them are touched without the others.
struct word_t {
    marks_t marks;
    unsigned int split;  // 1: its bytes have marks of their own
};

static const unsigned long long word_bytes = 4;
static const unsigned int word_inside = 0x01010101u;

enum region_t { arrays, shared_memory, variables, others_stack, nowhere };

struct trouble_t {
    unsigned int access, thread, earlier, other, region, unused;
    unsigned long long offset;
};

struct watch_t {
    char* base;
    unsigned long long size;
    const unsigned char* inside;  // by byte: 1 in an array, 0 between them
    unsigned char* unwritten;     // by byte: 1 where nothing is that may be read; null: nowhere
    trouble_t trouble;
};

static watch_t* watch = nullptr;
static shadow_t of_arrays;
static launch_t* launched = nullptr;

// The thread that runs: its number over the grid plus 1, and how often it has met others.
static mark_t me;
static unsigned int block_threads = 1;
static unsigned int now = 0;
// Between them lies the stack of the thread that runs; between the wide ones those of all.
static char *stack_low = nullptr, *stack_high = nullptr;
static char *stacks_low = nullptr, *stacks_high = nullptr;

inline unsigned int block_of(const mark_t& mark) { return (mark.thread - 1) / block_threads; }
inline unsigned int warp_of(const mark_t& mark) { return (mark.thread - 1) % block_threads / 32; }

inline bool published(const mark_t& mark);
inline bool all_known(const mark_t& mark, const void* place);

// Whether an earlier access has come to its end before what `me` does now, in every order of threads.
inline bool before_me(const mark_t& mark)
{
    if (mark.thread == 0 || (mark.scope == one && mark.thread == me.thread))
        return true;
    if (mark.scope == grid)
        return false;
    if (block_of(mark) == block_of(me)) {
        if (mark.barriers < me.barriers)
            return true;
        if (mark.scope <= warp && warp_of(mark) == warp_of(me) && mark.meetings < me.meetings)
            return true;
    }
    return published(mark);
}

inline void note(mark_t& mark)
{
    if (before_me(mark)) {
        mark = me;
        mark.when = now;
        return;
    }
    const bool same_block = mark.scope != grid && block_of(mark) == block_of(me);
    const bool same_warp = same_block && mark.scope <= warp && warp_of(mark) == warp_of(me);
    mark.scope = same_warp ? warp : same_block ? block : grid;
    mark.barriers = mark.barriers > me.barriers ? mark.barriers : me.barriers;
    mark.meetings = mark.meetings > me.meetings ? mark.meetings : me.meetings;
    mark.when = now;
}

inline void report(access_t access, access_t earlier, const mark_t* other, unsigned long long offset, region_t region)
{
    trouble_t& found = watch->trouble;
    if (access == volatile_read)
        access = plain_read;
    if (found.access == none)
        found = { access, me.thread - 1, earlier, other && other->scope == one ? other->thread - 1 : 0xfffffffeu,
                  region, 0, offset };
}

// Atomics of a block's scope are none to other blocks.
inline bool of_another_block(const mark_t& mark)
{
    return mark.thread != 0 && (mark.scope == grid || block_of(mark) != block_of(me));
}

inline mark_t& mark_of(marks_t& marks, access_t access)
{
    return access == plain_read ? marks.reader
        : access == plain_write ? marks.writer
        : access == volatile_read ? marks.looker : marks.updater;
}

inline bool reads(access_t access) { return access == plain_read || access == volatile_read; }

inline void touch_marks(marks_t& marks, access_t access, unsigned long long offset, region_t region, const char* place)
{
    if (!before_me(marks.writer))
        report(access, plain_write, &marks.writer, offset, region);
    else if (!reads(access) && !before_me(marks.reader))
        report(access, plain_read, &marks.reader, offset, region);
    else if (access == plain_write && !before_me(marks.looker))
        report(access, plain_read, &marks.looker, offset, region);
    else if (access < atomic && !before_me(marks.updater) && !all_known(marks.updater, place))
        report(access, atomic, &marks.updater, offset, region);
    else if (access == block_atomic && of_another_block(marks.updater))
        report(atomic, atomic, &marks.updater, offset, region);
    note(mark_of(marks, access));
}

inline unsigned long long words_in(unsigned long long bytes) { return bytes / word_bytes + 1; }

inline shadow_t make_shadow(unsigned long long bytes)
{
    return { static_cast<word_t*>(calloc(words_in(bytes), sizeof(word_t))), nullptr, words_in(bytes) };
}

inline void end_shadow(shadow_t& shadow)
{
    free(shadow.words);
    free(shadow.parts);
    shadow = { nullptr, nullptr, 0 };
}

inline marks_t* parts_of(shadow_t& shadow, unsigned long long number)
{
    if (shadow.parts == nullptr)
        shadow.parts = static_cast<marks_t*>(calloc(shadow.count * word_bytes, sizeof(marks_t)));
    marks_t* parts = shadow.parts + number * word_bytes;
    word_t& word = shadow.words[number];
    if (!word.split)
        for (unsigned int k = 0; k < word_bytes; ++k)
            parts[k] = word.marks;
    word.split = 1;
    return parts;
}

inline void touch_shadow(shadow_t& shadow, const unsigned char* inside, unsigned long long offset, unsigned long long count,
                         access_t access, region_t region, const char* place)
{
    const unsigned long long end = offset + count;
    for (unsigned long long i = offset; i < end;) {
        unsigned int in = 0;
        if (i % word_bytes == 0 && i + word_bytes <= end && !shadow.words[i / word_bytes].split) {
            __builtin_memcpy(&in, inside + i, word_bytes);
            if (in == word_inside) {
                touch_marks(shadow.words[i / word_bytes].marks, access, i, region, place);
                i += word_bytes;
                continue;
            }
        }
        if (!inside[i])
            report(access, none, nullptr, i, region);
        touch_marks(parts_of(shadow, i / word_bytes)[i % word_bytes], access, i, region, place);
        ++i;
    }
}

// Scratch memory of several launches: as of shared memory, not all that is read may be unwritten.
inline void touch_unwritten(unsigned long long offset, unsigned long long count, access_t access)
{
    unsigned char* const first = watch->unwritten + offset;
    if (reads(access) && __builtin_memchr(first, 0, count) == nullptr)
        report(access, none, nullptr, offset, arrays);
    if (!reads(access))
        __builtin_memset(first, 0, count);
}

inline bool any_written(const range_t& range, unsigned long long offset, unsigned long long count)
{
    for (unsigned long long i = offset; i < offset + count; ++i)
        if (range.written[i])
            return true;
    return false;
}

inline bool touch_range(range_t& range, region_t region, const char* first, unsigned long long count, access_t access)
{
    if (first < range.first || first + count > range.first + range.size)
        return false;
    const unsigned long long offset = first - range.first;
    if (region == shared_memory && first + count > launched->unasked && first < launched->unasked_end)
        report(access, none, nullptr, first < launched->unasked ? launched->unasked - range.first : offset, region);
    touch_shadow(range.shadow, range.inside, offset, count, access, region, first);
    if (region == variables)
        return true;
    // A struct may have bytes that nobody ever writes, but not all of it.
    if (reads(access) && !any_written(range, offset, count))
        report(access, none, nullptr, offset, region);
    if (!reads(access))
        __builtin_memset(range.written + offset, 1, count);
    return true;
}

inline void mark_access(const char* first, unsigned long long count, access_t access)
{
    if (first >= watch->base && first + count <= watch->base + watch->size) {
        const unsigned long long offset = first - watch->base;
        touch_shadow(of_arrays, watch->inside, offset, count, access, arrays, first);
        if (watch->unwritten != nullptr)
            touch_unwritten(offset, count, access);
        return;
    }
    if (touch_range(launched->shared, shared_memory, first, count, access))
        return;
    for (unsigned int v = 0; v < most_variables; ++v)
        if (touch_range(launched->variables[v], variables, first, count, access))
            return;
    if (reads(access) && first >= launched->object && first + count <= launched->object_end)
        return;
    report(access, none, nullptr, 0, first >= stacks_low && first < stacks_high ? others_stack : nowhere);
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
    const mark_t then = me;
    me = read_mark;
    mark_access(read_first, read_count, plain_read);
    me = then;
    read_count = 0;
}

static stand_t stand;

// Whether a place is one of the four that say where a thread stands.
inline bool is_stand(const char* place)
{
    const auto within = [place](const void* of, unsigned long long size) {
        return place >= static_cast<const char*>(of) && place < static_cast<const char*>(of) + size;
    };
    return within(stand.thread, sizeof(uint3)) || within(stand.block, sizeof(uint3))
        || within(stand.of_block, sizeof(dim3)) || within(stand.of_grid, sizeof(dim3));
}

inline void updated(const void* place);

void touch(const void* pointer, unsigned long long count, access_t access, bool swaps)
{
    const char* first = static_cast<const char*>(pointer);
    if (watch == nullptr || (first >= stack_low && first < stack_high) || is_stand(first))
        return;
    ++now;
    if (swaps && first == read_first && count == read_count && me.thread == read_mark.thread)
        read_count = 0;
    settle_read();
    if (access == atomic || access == block_atomic)
        updated(first);
    if (access != plain_read) {
        mark_access(first, count, access);
        return;
    }
    read_first = first;
    read_count = count;
    read_mark = me;
}

}  // namespace pairsmith
