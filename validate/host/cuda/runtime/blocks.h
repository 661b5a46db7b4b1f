// The blocks of a launch, one after the other, and the threads of each.

namespace pairsmith {

inline void resume(fiber_t& fiber)
{
    current = &fiber;
    me = fiber.mark;
    *stand.thread = fiber.index;
    steps = fiber.steps;
    const size_t number = &fiber - fibers;
    char* const stack = stacks + number * stack_bytes;
    stack_low = stack;
    stack_high = stack + stack_bytes;
    if (!_setjmp(scheduler)) {
        if (fiber.started)
            _longjmp(fiber.place, 1);
        fiber.started = true;
        // uc_link and uc_stack come first in a Linux ucontext_t, after its flags.
        getcontext(fresh_context);
        void** words = reinterpret_cast<void**>(fresh_context);
        words[1] = scheduler_context;
        words[2] = stack;
        // Not all at one distance from a page: they would be rivals for the same lines of the cache.
        *reinterpret_cast<size_t*>(&words[4]) = stack_bytes - number * 320 % 16384;
        makecontext(fresh_context, fiber_main, 0);
        swapcontext(scheduler_context, fresh_context);
    }
    all_steps += steps - fiber.steps;
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

inline bool any_warp(bool (*move)(unsigned int, unsigned int))
{
    bool moved = false;
    for (unsigned int w = 0; w < threads_of_block; w += 32)
        moved = move(w, threads_of_block - w < 32 ? threads_of_block - w : 32) || moved;
    return moved;
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
        if (any_warp(complete_warp) || ran || any_warp(count_lanes) || complete_barrier())
            continue;
        for (unsigned int t = 0; t < threads_of_block; ++t)
            if (fibers[t].waits != ended) {
                me = fibers[t].mark;
                give_up(deadlock, fibers[t].site);
            }
    }
}

// Only where accesses are watched.
inline void start_marks(launch_t& launch)
{
    of_arrays = make_shadow(watch->size);
    launch.shared.shadow = make_shadow(launch.shared.size);
    launch.shared.written = static_cast<unsigned char*>(calloc(launch.shared.size + 1, 1));
    for (unsigned int v = 0; v < most_variables; ++v)
        launch.variables[v].shadow = make_shadow(launch.variables[v].size);
}

inline void end_marks(launch_t& launch)
{
    end_shadow(of_arrays);
    end_shadow(launch.shared.shadow);
    free(launch.shared.written);
    for (unsigned int v = 0; v < most_variables; ++v)
        end_shadow(launch.variables[v].shadow);
}

// Kept from launch to launch: the system takes long over memory that is new.
inline void make_stacks()
{
    if (threads_of_block <= stack_count)
        return;
    free(stacks);
    stack_count = threads_of_block;
    stacks = static_cast<char*>(malloc(static_cast<size_t>(stack_count) * stack_bytes));
}

inline void prepare(launch_t& launch)
{
    threads_of_block = launch.block[0] * launch.block[1] * launch.block[2];
    block_threads = threads_of_block;
    *stand.of_block = dim3(launch.block[0], launch.block[1], launch.block[2]);
    *stand.of_grid = dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
    stopped = finished;
    current = nullptr;
    now = 0;
    all_steps = 0;
    const unsigned int blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
    start_fences(blocks * threads_of_block, blocks);
    if (watch != nullptr)
        start_marks(launch);
    if (!launch.meets) {
        // Of this process's own stack: what lies below here is the kernel's.
        stack_high = stacks_high = static_cast<char*>(__builtin_frame_address(0)) + 65536;
        stack_low = stacks_low = stack_high - (8 << 20);
        return;
    }
    fibers = static_cast<fiber_t*>(malloc(threads_of_block * sizeof(fiber_t)));
    make_stacks();
    stacks_low = stacks;
    stacks_high = stacks + static_cast<size_t>(threads_of_block) * stack_bytes;
    for (unsigned int t = 0; t < threads_of_block; ++t)
        fibers[t].started = false;
}

inline void release(launch_t& launch)
{
    end_fences();
    if (watch != nullptr)
        end_marks(launch);
    free(fibers);
    fibers = nullptr;
}

// Shared memory starts each block as poison, and as nobody's. What the launch has not asked for
// cannot have been touched.
inline void clear_shared(launch_t& launch)
{
    settle_read();
    const range_t& shared = launch.shared;
    const size_t before = launch.unasked ? launch.unasked - shared.first : shared.size;
    const size_t after = launch.unasked ? launch.unasked_end - shared.first : shared.size;
    memset(shared.first, 0xff, before);
    memset(shared.first + after, 0xff, shared.size - after);
    if (watch == nullptr)
        return;
    memset(shared.written, 0, shared.size);
    memset(shared.shadow.words, 0, words_in(before) * sizeof(word_t));
    const size_t left = after / word_bytes;
    memset(shared.shadow.words + left, 0, (shared.shadow.count - left) * sizeof(word_t));
}

inline void run_threads(unsigned int first, int order, bool meets)
{
    for (unsigned int t = 0; t < threads_of_block; ++t) {
        const unsigned int at = meets ? t : place_in_order(t, threads_of_block, order);
        const dim3 size = *stand.of_block;
        const uint3 index = { at % size.x, at / size.x % size.y, at / (size.x * size.y) };
        const mark_t mark = { first + at + 1, 0, 0, one, 0 };
        if (meets) {
            fiber_t& fiber = fibers[at];
            fiber.mark = mark;
            fiber.index = index;
            fiber.waits = ready;
            fiber.steps = 0;
            fiber.voted = false;
            continue;
        }
        *stand.thread = index;
        me = mark;
        steps = 0;
        thread_body(thread_values);
        all_steps += steps;
    }
    if (meets)
        run_block_of_fibers(order);
}

void run_blocks(void (*body)(void*), void* bound, const stand_t& stood, launch_t* launch, watch_t* watched)
{
    stand = stood;
    thread_body = body;
    thread_values = bound;
    launched = launch;
    watch = watched;
    read_count = 0;
    prepare(*launch);
    const dim3 size = *stand.of_grid;
    const unsigned int blocks = size.x * size.y * size.z;
    for (unsigned int b = 0; b < blocks && stopped == finished; ++b) {
        const unsigned int at = place_in_order(b, blocks, launch->order);
        *stand.block = { at % size.x, at / size.x % size.y, at / (size.x * size.y) };
        if (launch->shared.size != 0)
            clear_shared(*launch);
        forget_copies();
        forget_products();
        // A thread without fibers that is given up comes back here.
        if (launch->meets || !_setjmp(scheduler))
            run_threads(at * threads_of_block, launch->order, launch->meets != 0);
        if (launch->most_steps != 0 && all_steps > launch->most_steps && stopped == finished)
            stopped = too_costly;
    }
    if (watch != nullptr)
        settle_read();
    release(*launch);
    watch = nullptr;
    launched = nullptr;
    launch->steps = all_steps;
    launch->stopped = stopped;
    launch->stopped_thread = stopped_thread;
    launch->stopped_site = stopped_site;
}

}  // namespace pairsmith
