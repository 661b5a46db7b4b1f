// What the runtime gives a kernel: its place in the grid, and the functions that its accesses and
// meetings come to. The runtime is compiled once (folder `runtime`); kernels are linked to it.

static const int warpSize = 32;

namespace pairsmith {

// A volatile read may meet atomics, as a relaxed load of one thread does; it waits for none of them.
enum access_t { none, plain_read, plain_write, atomic, block_atomic, volatile_read };

// Why a launch was given up. The first is none; `stop_reasons` of plain_launch.py says them.
enum stop_t {
    finished, endless, divergence, left_early, foreign_lane, deadlock, not_met, trapped,
    misaligned, past_an_array, wide_shift, wide_cast, zero_division, no_return, too_costly
};

// Marks of memory that is watched, by word, and by byte where a word has been touched in parts.
struct shadow_t {
    struct word_t* words;
    struct marks_t* parts;
    unsigned long long count;
};

// Memory of the loaded text: where it lies, which bytes are a variable's (1; others 0), which of
// shared memory have been written (1), and marks.
struct range_t {
    char* first;
    unsigned long long size;
    const unsigned char* inside;
    unsigned char* written;
    shadow_t shadow;
};

static const unsigned int most_variables = 3;

struct launch_t {
    unsigned int grid[3], block[3];
    int order, meets;  // meets: 0 calls, 1 fibers, 2 fibers that take turns at atomics as well
    unsigned long long asked;  // bytes of dynamic shared memory
    range_t shared, variables[most_variables];
    char *unasked, *unasked_end;  // shared memory that the launch has not asked for
    char *object, *object_end;    // all that is loaded of the text: constants are read there
    unsigned long long most_steps;
    unsigned long long steps;  // from here on, what the launch leaves
    unsigned int stopped, stopped_thread;
    int stopped_site;
    unsigned int branch_count;
    struct branch_t* branches;
};

struct watch_t;

// Where a thread stands: kept with the text, which only reads it, and set by the runtime.
struct stand_t {
    uint3 *thread, *block;
    dim3 *of_block, *of_grid;
};

void touch(const void* pointer, unsigned long long count, access_t access, bool swaps = false);
void turn(const void* place);  // before an atomic access: others may come first
void fence(bool device);
[[noreturn]] void give_up(stop_t why, int site);

// Meetings. A site is the place in the text; a mask says which lanes of the warp take part.
void barrier(int site);
int barrier_vote(int site, int kind, bool vote);  // 1 count, 2 and, 3 or
unsigned long long exchange_bits(int site, unsigned int mask, unsigned long long value, int from);
unsigned int ballot(int site, unsigned int mask, bool vote);
void warp_barrier(int site, unsigned int mask);

void run_blocks(void (*body)(void*), void* bound, const stand_t& stood, launch_t* launch, watch_t* watched);

}  // namespace pairsmith

#ifndef PAIRSMITH_RUNTIME
extern "C" {
uint3 pairsmith_thread, pairsmith_block;
dim3 pairsmith_of_block, pairsmith_of_grid;
extern const uint3 threadIdx __attribute__((alias("pairsmith_thread")));
extern const uint3 blockIdx __attribute__((alias("pairsmith_block")));
extern const dim3 blockDim __attribute__((alias("pairsmith_of_block")));
extern const dim3 gridDim __attribute__((alias("pairsmith_of_grid")));
}
#endif
