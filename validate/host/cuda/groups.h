// Cooperative groups, for the host and for NVRTC: the block, tiles of a warp, and the lanes that run together.

namespace cooperative_groups {

class thread_block {
public:
    __device__ void sync() const { __syncthreads(); }
    __device__ static void barrier_sync() { __syncthreads(); }
    __device__ unsigned int thread_rank() const
    {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    __device__ unsigned int size() const { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ unsigned int num_threads() const { return size(); }
    __device__ dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    __device__ dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    __device__ dim3 group_dim() const { return blockDim; }
    __device__ dim3 dim_threads() const { return blockDim; }
};

__device__ inline thread_block this_thread_block() { return thread_block(); }

// Without `sync`, which needs a launch of its own kind.
class grid_group {
public:
    __device__ unsigned long long block_rank() const
    {
        return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    }
    __device__ unsigned long long num_blocks() const { return gridDim.x * gridDim.y * gridDim.z; }
    __device__ unsigned long long thread_rank() const
    {
        return block_rank() * this_thread_block().size() + this_thread_block().thread_rank();
    }
    __device__ unsigned long long size() const { return num_blocks() * this_thread_block().size(); }
    __device__ unsigned long long num_threads() const { return size(); }
    __device__ dim3 group_dim() const { return gridDim; }
    __device__ dim3 dim_blocks() const { return gridDim; }
    __device__ dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};

__device__ inline grid_group this_grid() { return grid_group(); }

// Lanes of a warp, all of those in `lanes`: the n-th of them has rank n.
class lanes_t {
protected:
    unsigned int lanes;
    __device__ unsigned int lane() const { return this_thread_block().thread_rank() % 32u; }
    // The lane of a rank, or this lane where there is none.
    __device__ int lane_of(int rank) const
    {
        const unsigned int found = rank < 0 ? 0xffffffffu : __fns(lanes, 0, rank + 1);
        return static_cast<int>(found < 32u ? found : lane());
    }
    // Of a mask of lanes, by rank.
    __device__ unsigned int by_rank(unsigned int mask) const
    {
        unsigned int found = 0, rank = 0;
        for (unsigned int at = 0; at < 32u; ++at)
            if (lanes >> at & 1u)
                found |= (mask >> at & 1u) << rank++;
        return found;
    }
    template <class T> __device__ T from(T value, int rank) const
    {
        return __shfl_sync(lanes, value, lane_of(rank));
    }

public:
    __device__ explicit lanes_t(unsigned int mask) : lanes(mask) {}
    __device__ void sync() const { __syncwarp(lanes); }
    __device__ unsigned int size() const { return static_cast<unsigned int>(__popc(lanes)); }
    __device__ unsigned int num_threads() const { return size(); }
    __device__ unsigned int thread_rank() const
    {
        return static_cast<unsigned int>(__popc(lanes & ((1u << lane()) - 1u)));
    }
    __device__ unsigned int ballot(int vote) const { return by_rank(__ballot_sync(lanes, vote)); }
    __device__ int any(int vote) const { return __ballot_sync(lanes, vote) != 0u; }
    __device__ int all(int vote) const { return __ballot_sync(lanes, !vote) == 0u; }
    template <class T> __device__ T shfl(T value, int rank) const
    {
        return from(value, rank % static_cast<int>(size()));
    }
    template <class T> __device__ T shfl_down(T value, unsigned int by) const
    {
        return from(value, static_cast<int>(thread_rank() + by));
    }
    template <class T> __device__ T shfl_up(T value, int by) const
    {
        return from(value, static_cast<int>(thread_rank()) - by);
    }
    template <class T> __device__ unsigned int match_any(T value) const
    {
        unsigned int found = 0;
        for (unsigned int rank = 0; rank < size(); ++rank)
            found |= from(value, static_cast<int>(rank)) == value ? 1u << rank : 0u;
        return found;
    }
    template <class T> __device__ unsigned int match_all(T value, int& same) const
    {
        const unsigned int equal = match_any(value);
        same = equal == (size() == 32u ? 0xffffffffu : (1u << size()) - 1u);
        return same ? equal : 0u;
    }
    // Those of these lanes that have the same value.
    template <class T> __device__ unsigned int alike(T value) const { return __match_any_sync(lanes, value); }
    __device__ unsigned int voting(bool vote) const { return __ballot_sync(lanes, vote); }
    // What every lane gets: all values joined by rank.
    template <class T, class F> __device__ T joined(T value, F join) const
    {
        T found = from(value, 0);
        for (unsigned int rank = 1; rank < size(); ++rank)
            found = join(found, from(value, static_cast<int>(rank)));
        return found;
    }
    template <class T, class F> __device__ T joined_before(T value, F join, bool own, T start) const
    {
        T found = start;
        const unsigned int mine = thread_rank();
        for (unsigned int rank = 0; rank < size(); ++rank) {
            const T other = from(value, static_cast<int>(rank));
            if (rank < mine || (own && rank == mine))
                found = rank == 0 ? other : join(found, other);
        }
        return found;
    }
};

class coalesced_group : public lanes_t {
    unsigned int rank, count;

public:
    __device__ explicit coalesced_group(unsigned int mask, unsigned int rank = 0, unsigned int count = 1)
        : lanes_t(mask), rank(rank), count(count)
    {
    }
    __device__ unsigned int meta_group_rank() const { return rank; }
    __device__ unsigned int meta_group_size() const { return count; }
};

template <class T> struct only_void {};
template <> struct only_void<void> {
    typedef void type;
};

template <unsigned int N, class Parent = void> class thread_block_tile : public lanes_t {
    static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "tiles of up to a warp, a power of two");
    unsigned int groups;

    __device__ static unsigned int mask()
    {
        const unsigned int rank = this_thread_block().thread_rank();
        return (N == 32u ? 0xffffffffu : (1u << N % 32u) - 1u) << (rank % 32u / N * N);
    }

public:
    __device__ explicit thread_block_tile(unsigned int parent) : lanes_t(mask()), groups((parent + N - 1) / N) {}
    // A tile that forgets what it is part of.
    template <class P, class Q = Parent, class = typename only_void<Q>::type>
    __device__ thread_block_tile(const thread_block_tile<N, P>& tile) : lanes_t(mask()), groups(tile.meta_group_size())
    {
    }
    __device__ static constexpr unsigned int size() { return N; }
    __device__ static constexpr unsigned int num_threads() { return N; }
    __device__ unsigned int thread_rank() const { return this_thread_block().thread_rank() % N; }
    __device__ unsigned int meta_group_size() const { return groups; }
    __device__ unsigned int meta_group_rank() const { return this_thread_block().thread_rank() / N % groups; }
    template <class T> __device__ T shfl(T value, int rank) const
    {
        return __shfl_sync(lanes, value, rank, static_cast<int>(N));
    }
    template <class T> __device__ T shfl_down(T value, unsigned int by) const
    {
        return __shfl_down_sync(lanes, value, static_cast<int>(by), static_cast<int>(N));
    }
    template <class T> __device__ T shfl_up(T value, unsigned int by) const
    {
        return __shfl_up_sync(lanes, value, static_cast<int>(by), static_cast<int>(N));
    }
    template <class T> __device__ T shfl_xor(T value, unsigned int bits) const
    {
        return __shfl_xor_sync(lanes, value, static_cast<int>(bits), static_cast<int>(N));
    }
};

template <unsigned int N>
__device__ inline thread_block_tile<N, thread_block> tiled_partition(const thread_block& block)
{
    return thread_block_tile<N, thread_block>(block.size());
}
template <unsigned int N, unsigned int M, class P>
__device__ inline thread_block_tile<N, thread_block_tile<M, P>> tiled_partition(const thread_block_tile<M, P>&)
{
    static_assert(N <= M, "a tile is no larger than what it is part of");
    return thread_block_tile<N, thread_block_tile<M, P>>(M);
}
#if defined(__activemask) || defined(__CUDACC_RTC__)
__device__ inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }
#endif
// Lanes by what they hold; groups are numbered by their first lanes.
template <class G, class T> __device__ inline coalesced_group labeled_partition(const G& group, T label)
{
    const unsigned int same = group.alike(label), first = same & (0u - same);
    const unsigned int lane = this_thread_block().thread_rank() % 32u;
    const unsigned int leaders = group.voting(first == 1u << lane);
    return coalesced_group(same, static_cast<unsigned int>(__popc(leaders & (first - 1u))),
                           static_cast<unsigned int>(__popc(leaders)));
}
template <class G> __device__ inline coalesced_group binary_partition(const G& group, bool in)
{
    const unsigned int votes = group.voting(in), others = group.voting(!in);
    return coalesced_group(in ? votes : others, in ? 1u : 0u, 2u);
}

// Any of the above, known by what it is at run time.
class thread_group {
    bool whole;
    lanes_t part;

public:
    __device__ thread_group(const thread_block&) : whole(true), part(0) {}
    __device__ thread_group(const lanes_t& lanes) : whole(false), part(lanes) {}
    __device__ void sync() const
    {
        if (whole)
            __syncthreads();
        else
            part.sync();
    }
    __device__ unsigned int size() const { return whole ? this_thread_block().size() : part.size(); }
    __device__ unsigned int num_threads() const { return size(); }
    __device__ unsigned int thread_rank() const
    {
        return whole ? this_thread_block().thread_rank() : part.thread_rank();
    }
};

// Tiles whose size is known at run time alone.
__device__ inline thread_group tiled_partition(const thread_group&, unsigned int size)
{
    const unsigned int first = this_thread_block().thread_rank() % 32u / size * size;
    return lanes_t((size == 32u ? 0xffffffffu : (1u << size % 32u) - 1u) << first);
}

template <class G> __device__ inline void sync(const G& group) { group.sync(); }
template <class G> __device__ inline unsigned int thread_rank(const G& group) { return group.thread_rank(); }
template <class G> __device__ inline unsigned int group_size(const G& group) { return group.size(); }

template <class T = void> struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T = void> struct less {
    __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T = void> struct greater {
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T = void> struct bit_and {
    __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T = void> struct bit_or {
    __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T = void> struct bit_xor {
    __device__ T operator()(T a, T b) const { return a ^ b; }
};

template <class G, class T, class F> __device__ inline T reduce(const G& group, T value, F join)
{
    return group.joined(value, join);
}
template <class G, class T, class F = plus<T>> __device__ inline T inclusive_scan(const G& group, T value, F join = F())
{
    return group.joined_before(value, join, true, value);
}
template <class G, class T, class F = plus<T>> __device__ inline T exclusive_scan(const G& group, T value, F join = F())
{
    return group.joined_before(value, join, false, T());
}

}  // namespace cooperative_groups
