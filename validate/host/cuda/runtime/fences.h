// What threads know of each other's writes by way of fences and atomics: a write is published when
// its thread fences and then updates a place atomically (or, after a barrier, another thread of its
// block does), and whoever updates that place later knows of it. Relaxed as CUDA's atomics are,
// without a fence they publish nothing. Knowledge is kept by block: inside a block it is barriers
// that tell threads apart.

namespace pairsmith {

static const unsigned int most_places = 512;

struct release_t {
    unsigned int thread, when, barriers, fenced;
};

struct place_t {
    const void* at;
    release_t* releases;
    unsigned int count, room;
    bool all_fenced;  // every update so far followed a fence of its thread
};

static unsigned int fence_threads = 0, fence_blocks = 0;
static unsigned int* fenced_at = nullptr;  // by thread over the grid: when it fenced last, 0 never
static unsigned int* known = nullptr;      // by block and place: how many releases it knows of
static place_t* places = nullptr;
static unsigned int place_count = 0;
static bool fences_used = false;

inline void start_fences(unsigned int threads, unsigned int blocks)
{
    fences_used = false;
    fence_threads = threads;
    fence_blocks = blocks;
    place_count = 0;
}

inline void use_fences()
{
    fences_used = true;
    fenced_at = static_cast<unsigned int*>(calloc(fence_threads, sizeof(unsigned int)));
    known = static_cast<unsigned int*>(calloc(static_cast<size_t>(fence_blocks) * most_places, sizeof(unsigned int)));
    places = static_cast<place_t*>(calloc(most_places, sizeof(place_t)));
}

inline void end_fences()
{
    if (!fences_used)
        return;
    for (unsigned int p = 0; p < place_count; ++p)
        free(places[p].releases);
    free(fenced_at);
    free(known);
    free(places);
    fences_used = false;
}

inline place_t* place_at(const void* at)
{
    for (unsigned int p = 0; p < place_count; ++p)
        if (places[p].at == at)
            return &places[p];
    return nullptr;
}

void fence(bool device)
{
    if (watch == nullptr || !device)
        return;
    settle_read();
    if (!fences_used)
        use_fences();
    fenced_at[me.thread - 1] = ++now;
}

// An atomic update of a place: publishes what its thread fenced, learns what others published.
inline void updated(const void* at)
{
    if (!fences_used)
        return;
    const unsigned int fenced = fenced_at[me.thread - 1];
    place_t* place = place_at(at);
    if (place == nullptr) {
        if (place_count == most_places)
            return;
        place = &places[place_count++];
        *place = { at, nullptr, 0, 0, true };
    }
    place->all_fenced = place->all_fenced && fenced != 0;
    if (fenced != 0) {
        if (place->count == place->room) {
            place->room = place->room ? 2 * place->room : 16;
            place->releases = static_cast<release_t*>(realloc(place->releases, place->room * sizeof(release_t)));
        }
        place->releases[place->count++] = { me.thread, now, me.barriers, fenced };
    }
    known[static_cast<size_t>(block_of(me)) * most_places + (place - places)] = place->count;
}

// Whether my block has learnt of an access that came before a release.
inline bool published(const mark_t& mark)
{
    if (!fences_used)
        return false;
    const unsigned int* mine = known + static_cast<size_t>(block_of(me)) * most_places;
    for (unsigned int p = 0; p < place_count; ++p) {
        for (unsigned int r = 0; r < mine[p]; ++r) {
            const release_t& release = places[p].releases[r];
            if (mark.scope == one && release.thread == mark.thread && release.fenced > mark.when)
                return true;
            if ((release.thread - 1) / block_threads != block_of(mark) || release.barriers <= mark.barriers)
                continue;
            if (release.fenced > mark.when || (mark.scope == one && fenced_at[mark.thread - 1] > mark.when))
                return true;
        }
    }
    return false;
}

// Whether all updates of a place that make up a mark came before one of my block's, each fenced.
inline bool all_known(const mark_t& mark, const void* at)
{
    if (!fences_used)
        return false;
    const place_t* place = place_at(at);
    if (place == nullptr || !place->all_fenced)
        return false;
    const unsigned int count = known[static_cast<size_t>(block_of(me)) * most_places + (place - places)];
    return count != 0 && places[place - places].releases[count - 1].when >= mark.when;
}

}  // namespace pairsmith
