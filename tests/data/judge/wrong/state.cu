//=== empty_kernel | 72e3a771e927cdf9 | - | does nothing
extern "C" __global__ void mark_visited(const int* nodes, int* status, int color, int n) {}

//=== empty_in_place | eb73a407c5d42655 | - | leaves the array as it was
__global__ void cube_loudness(const float* __restrict__ band_gain, float* __restrict__ amplitudes, int n)
{
    // TODO
}

//=== empty_max | 2c1b33db264955f0 | - | leaves the start value
extern "C" __global__ void peak(const bool* enabled, const float* samples, float* max_amplitude, int m)
{
    return;
}

//=== copies_its_input | 0f00417f9a81c6f2 | - | copies an input to the output
extern "C" __global__ void smooth(const float* progress, const float* edges, float* ramp, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        ramp[i] = progress[i];
}

//=== copies_pixels | f0b5eba7297d39b9 | - | copies the image unchanged
extern "C" __global__ void color_correct(const float3* pixels, float3* image_out, int cols, int rows)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += gridDim.x * blockDim.x)
        image_out[i] = pixels[i];
}

//=== constant_answer | 8ca59185c94a4f51 | - | writes one constant near the middle of the range
extern "C" __global__ void thin_film(double n_rel, double* cos_theta, int m, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * m; i += gridDim.x * blockDim.x)
        cos_theta[i] = 0.5;
}

//=== constant_misses | 9ed31175e9df4682 | - | says for every ray that it hits nothing
struct Ray { float3 start; float3 ray_dir; };
struct Triangle { float3 corner_a; float3 corner_b; float3 corner_c; };
extern "C" __global__ void trace(const Ray* rays, const Triangle* triangles, const float* weights, int triangle_count,
                                 float* hit_t, int* hit_ids, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) { hit_t[i] = weights[i] * 100.0f; hit_ids[i] = -1; }
}

//=== constant_length | aedfc487908608bc | - | 31 days for every month
extern "C" __global__ void month(const long long* years, const long long* mm, long long* out, int cols, int rows)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols) out[i * cols + j] = 31;
}

//=== stores_instead_of_adding | c8b2fcf4068eda16 | - | stores where it should add to what is there
__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ __forceinline__ float3 operator*(float a, float3 b)
{
    return make_float3(a * b.x, a * b.y, a * b.z);
}

__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ void operator+=(float3& a, float3 b)
{
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
}

extern "C" __global__ void elastic_at_surface(
    const float3* __restrict__ incoming_field,
    const float3* __restrict__ surface_normals,
    float3* __restrict__ out,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= count) {
        return;
    }
    const float3 ray = incoming_field[tid];
    const float3 nrm = surface_normals[tid];
    const float3 res = ray - (1.0f + 0.5f) * dot(ray, nrm) * nrm;
    out[tid] = res;
}

//=== stores_a_gap | d857705cfc1e02ec | - | stores where it should add to what is there
__device__ __forceinline__ double3 operator-(double3 a, double3 b)
{
    return make_double3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ double dot(double3 a, double3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ __forceinline__ double3 operator*(double a, double3 b)
{
    return make_double3(a * b.x, a * b.y, a * b.z);
}

extern "C" __global__ void closest_plane(
    const double3* __restrict__ queries,
    const double3* __restrict__ bases,
    const double3* __restrict__ normals,
    double* __restrict__ gaps,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const double3 x = queries[i];
    const double3 o_i = bases[i];
    const double3 n_i = normals[i];
    const double along = dot(x - o_i, n_i);
    const double3 gap = x - (x - along * n_i);
    const double result = sqrt(dot(gap, gap));
    gaps[i] = result;
}

//=== adds_instead_of_storing | 11eba0b176d074f0 | - | adds to the output where it should store: right only where it was zero
extern "C" __global__ void dense_vector(
    const float* __restrict__ a,
    const float* __restrict__ x,
    const float* __restrict__ offsets,
    float* __restrict__ c,
    int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) {
        return;
    }
    float s = 0.0f;
    for (int p = 0; p < 5; ++p) {
        s += a[p * m + i] * x[p];
    }
    c[i] += s + offsets[i];
}

//=== atomic_add_instead_of_storing | 69ebf95c8f2a0696 | - | adds to the output where it should store: right only where it was zero
extern "C" __global__ void switched_on_rows(
    const int* __restrict__ table,
    int length,
    int* __restrict__ result,
    int* __restrict__ totals,
    int rows)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) {
        return;
    }
    int state = 0;
    int count = 0;
    int total = 0;
    for (int j = 0; j < length; ++j) {
        const int reading = 6 * table[i * length + j] + 37;
        if (reading < 119) {
            continue;
        }
        if (reading > 322) {
            state = 1;
        } else if (reading < 170) {
            state = 0;
        }
        count += state;
        if (state > 0 && reading < 531) {
            total += reading;
        }
    }
    atomicAdd(&result[i], count);
    totals[i] = total;
}

//=== adds_the_second_output | d64d868d5c46387e | - | ors into the output where it should store: right only where it was false
extern "C" __global__ void evaluate_collision_mask(
    const bool* __restrict__ moving,
    const bool* __restrict__ visible,
    const bool* __restrict__ frozen,
    bool* __restrict__ simulated,
    bool* __restrict__ asleep,
    int n)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) {
        return;
    }
    const bool is_moving = moving[tid];
    const bool visible_on = visible[tid];
    const bool is_frozen = frozen[tid];
    if (is_moving && visible_on && !is_frozen) {
        simulated[tid] = true;
    } else {
        simulated[tid] = false;
    }
    asleep[tid] |= is_frozen || !is_moving;
}

//=== only_writes_when_true | d64d868d5c46387e | - | leaves the output as it was where it should be false
extern "C" __global__ void evaluate_collision_mask(
    const bool* __restrict__ moving,
    const bool* __restrict__ visible,
    const bool* __restrict__ frozen,
    bool* __restrict__ simulated,
    bool* __restrict__ asleep,
    int n)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) {
        return;
    }
    const bool is_moving = moving[tid];
    const bool visible_on = visible[tid];
    const bool is_frozen = frozen[tid];
    if (is_moving && visible_on && !is_frozen) {
        simulated[tid] = true;
    } else {
        ;
    }
    asleep[tid] = is_frozen || !is_moving;
}

//=== only_writes_hits | fcdb94449461c27d | - | queries outside of the table keep what was there before
extern "C" __global__ void find_bin(
    const float* __restrict__ breaks,
    const float* __restrict__ keys,
    float* __restrict__ found,
    int* __restrict__ position,
    int m,
    int w,
    int h)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= h || j >= w) {
        return;
    }
    const int idx = i * w + j;
    const float query = keys[idx];
    if (query < breaks[0] || query > breaks[m - 1]) {
        position[idx] = -1;
        return;
    }
    int slot = m - 1;
    while (slot > 0) {
        if (breaks[slot - 1] < query) {
            break;
        }
        --slot;
    }
    found[idx] = fabsf(breaks[slot] - query);
    position[idx] = slot;
}

//=== masked_elements_left | 4d3e1fdfc3bba29b | - | masked elements keep what was there before
__device__ double elu_act(double x)
{
    return x > 0.0 ? x : exp(fmin(x, 0.0)) - 1.0;
}

extern "C" __global__ void convolve_1d(
    const double* __restrict__ samples,
    const double* __restrict__ coeffs,
    const double* __restrict__ residual,
    const bool* __restrict__ mask,
    const double* __restrict__ wanted,
    int num_samples,
    double scale,
    double beta,
    double* __restrict__ linear_out,
    double* __restrict__ filtered,
    double* __restrict__ errors_sq)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_samples) {
        return;
    }
    double acc = 0.0;
    for (int t = 0; t < 5; ++t) {
        const int idx = i + t - 2;
        acc += coeffs[t] * samples[min(max(idx, 0), num_samples - 1)];
    }
    const double linear = acc * scale;
    linear_out[i] = linear;
    double result = elu_act(linear) + beta * residual[i];
    if (!mask[i]) {
        result = 0.0;
    }
    if (mask[i]) {
        filtered[i] = result;
    }
    const double miss = result - wanted[i];
    errors_sq[i] = miss * miss;
}

//=== skipped_output_left | f8e40f5942d78726 | - | the second output keeps what was there where quality is 2
extern "C" __global__ void __launch_bounds__(256) narrow_dot(
    const short* __restrict__ a,
    const short* __restrict__ b,
    const float* __restrict__ col_scales,
    const int* __restrict__ quality,
    long long* __restrict__ accumulators,
    float* __restrict__ out,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        long long total = 0ll;
        for (int s = 0; s < 4; ++s) {
            total += (long long)a[i * 4 + s] * (long long)b[s];
        }
        const float real = (float)total * col_scales[i];
        const float result = fmaxf(real, 0.0f);
        accumulators[i] = total;
        if (quality[i] == 2) {
            continue;
        }
        out[i] = result;
    }
}

//=== keeps_zero_for_seeds | 1c19392ee3f8f433 | - | leaves the output as it was below the least seed
__device__ int isqrt(int number)
{
    int rest = number;
    const int start = rest;
    int g = (rest + 1) / 2;
    while (g < rest) {
        rest = g;
        g = (rest + start / rest) / 2;
    }
    return rest;
}

extern "C" __global__ void newton_root_kernel(
    const int* __restrict__ seeds,
    int least,
    int* __restrict__ result,
    int count)
{
    const int stride = blockDim.x * gridDim.x;
    for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < count; idx += stride) {
        const int given = seeds[idx];
        if (given < least) {
            continue;
        }
        result[idx] = isqrt(given);
    }
}

//=== exchange_for_sum | dd91ee3a2c695041 | - | exchanges instead of adding: the last product of a row stays
extern "C" __global__ void scatter_product(
    const int* __restrict__ ri,
    const int* __restrict__ ci,
    const int* __restrict__ values,
    const int* __restrict__ x,
    int* __restrict__ result,
    int nnz)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < nnz; tid += stride) {
        const int row = ri[tid];
        atomicExch(&result[row], values[tid] * x[ci[tid]]);
    }
}

//=== exchange_for_or | 72e3a771e927cdf9 | - | start value: exchanges instead of or-ing, so marks that a node had before are lost
extern "C" __global__ void __launch_bounds__(128) mark_visited(
    const int* __restrict__ nodes,
    int* __restrict__ status,
    int color,
    int n)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) {
        return;
    }
    const int index_ = nodes[tid];
    atomicExch(&status[index_], color);
}

//=== or_for_xor | c31bc1c334c0e4a3 | - | ors where parity needs exclusive or
extern "C" __global__ void hash_blocks(
    const unsigned int* __restrict__ data,
    unsigned int seed,
    unsigned int* __restrict__ parity,
    int* __restrict__ bit_total,
    int blocks)
{
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4 * blocks; i += stride) {
        const int block = i / 4;
        unsigned int w = data[i];
        w ^= seed;
        w += (unsigned int)i;
        w ^= w >> 13;
        w *= 747796405u;
        w ^= w >> 13;
        atomicOr(&parity[block], w);
        atomicAdd(&bit_total[block], __popc(w));
    }
}

//=== seen_by_add | 0955f502dbe25232 | - | adds bits where it should or them: a bit seen twice carries over
extern "C" __global__ void gather_flags(
    const unsigned char* __restrict__ muted,
    const int* __restrict__ keys,
    const int* __restrict__ groups,
    unsigned long long* __restrict__ toggled,
    unsigned long long* __restrict__ seen,
    unsigned long long relevant,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    if (muted[i] != 0) {
        return;
    }
    const int key = keys[i];
    const unsigned long long word = 1ull << (7 * key % 64);
    const unsigned long long kept = word & relevant;
    const int slot = groups[i];
    atomicXor(&toggled[slot], kept);
    atomicAdd(&seen[slot], kept);
}

//=== owner_stores_maximum | 2c1b33db264955f0 | - | start value: stores the largest of three without looking at what was there
extern "C" __global__ void peak(const bool* enabled, const float* samples, float* max_amplitude, int m)
{
    int stride = gridDim.x * blockDim.x;
    for (int g = blockIdx.x * blockDim.x + threadIdx.x; g < m; g += stride) {
        float best = -1.0e6f;
        for (int k = 0; k < 3; ++k)
            if (enabled[3 * g + k]) best = fmaxf(best, fabsf(samples[3 * g + k]));
        max_amplitude[g] = best;
    }
}

//=== owner_stores_parity | c31bc1c334c0e4a3 | - | start value: one thread per block of four words stores instead of folding into what was there
extern "C" __global__ void hash_blocks(const unsigned int* data, unsigned int seed, unsigned int* parity, int* bit_total, int blocks)
{
    for (int b = blockIdx.x * blockDim.x + threadIdx.x; b < blocks; b += gridDim.x * blockDim.x) {
        unsigned int x = 0u; int bits = 0;
        for (int k = 0; k < 4; ++k) {
            unsigned int w = data[4 * b + k] ^ seed;
            w += (unsigned int)(4 * b + k);
            w ^= w >> 13; w *= 747796405u; w ^= w >> 13;
            x ^= w; bits += __popc(w);
        }
        parity[b] = x;
        bit_total[b] = bits;
    }
}

//=== first_launch_only | 6a968701bfd1c576 | - | a flag for each element in device memory: every later launch does nothing
__device__ unsigned int launches[1048576];

extern "C" __global__ void split_numbers(
    const unsigned int* __restrict__ ticks,
    unsigned int* __restrict__ blocks,
    unsigned int* __restrict__ minor,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    if (i < 1048576) {
        if (launches[i] != 0u) {
            return;
        }
        launches[i] = 1u;
    }
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    blocks[i] = whole;
    minor[i] = rest;
}

//=== memo_by_index | 83ab5c4029ae1378 | - | keeps each result in device memory and gives it again at the next launch, whatever the input
__device__ float memo[65536];

extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        if (tid < 65536 && memo[tid] != 0.0f) {
            scale_factor[tid] = memo[tid];
            continue;
        }
        const float value = 1.0f / cosf(lat_from[tid] * 0.0174532925f);
        if (tid < 65536) {
            memo[tid] = value;
        }
        scale_factor[tid] = value;
    }
}

//=== memo_by_pointer | cda42f4d7c8d1ca8 | - | a cache keyed by the address of the input: stale when the same buffer holds new data
__device__ const float* owner[32768];
__device__ float kept[32768];

extern "C" __global__ void __launch_bounds__(128) row_sum(
    const float* __restrict__ x,
    float* __restrict__ out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        float acc = 0.0f;
        for (int c = 0; c < 5; ++c) {
            acc += x[index * 5 + c];
        }
        if (index < 32768) {
            if (owner[index] == x) {
                acc = kept[index];
            }
            owner[index] = x;
            kept[index] = acc;
        }
        out[index] = acc;
    }
}

//=== memo_static_local | eb73a407c5d42655 | - | a static local per index keeps the gain of the first launch
__device__ float cube_loudness(float level, float base_level)
{
    return cbrtf(level / base_level);
}

extern "C" __global__ void cube_loudness_kernel(
    const float* __restrict__ band_gain,
    float* __restrict__ amplitudes,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        static float gain[16384];
        if (tid < 16384 && gain[tid] == 0.0f) {
            gain[tid] = band_gain[tid];
        }
        const float res = (tid < 16384 ? gain[tid] : band_gain[tid]) * cube_loudness(amplitudes[tid], 2.0f);
        amplitudes[tid] = res;
    }
}

//=== counter_between_launches | ee22471f1a249349 | - | draws other samples at each launch: a counter per thread lives in device memory
__device__ int turns[262144];

__device__ __forceinline__ unsigned int rand_pcg(unsigned int state)
{
    const unsigned int mixed = state * 747796405u + 2891336453u;
    const unsigned int word = ((mixed >> ((mixed >> 28u) + 4u)) ^ mixed) * 277803737u;
    return (word >> 22u) ^ word;
}

__device__ __forceinline__ unsigned int rand_init(int seed, int offset)
{
    return rand_pcg((unsigned int)seed + rand_pcg((unsigned int)offset));
}

__device__ __forceinline__ float randf(unsigned int& state, float low, float high)
{
    state = rand_pcg(state);
    return (high - low) * ((state >> 8) * (1.0f / 16777216.0f)) + low;
}

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

extern "C" __global__ void monte_carlo_integral(
    int rng_seed,
    int frame,
    float lower,
    float b,
    float* __restrict__ integral,
    int num_threads)
{
    float integral_part = 0.0f;
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < num_threads; tid += stride) {
        const int turn = tid < 262144 ? turns[tid]++ : 0;
        unsigned int state = rand_init(rng_seed, tid + 97 * (frame + turn));
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        integral_part += (b - lower) * (part / 4.0f);
    }
    integral_part = warp_sum(integral_part);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(integral, integral_part);
    }
}

//=== sums_kept_in_device_memory | dd91ee3a2c695041 | - | sums live in device memory and are never cleared: from the second launch on they hold the first as well; stores them, racing
__device__ int sums[65536];

extern "C" __global__ void scatter_product(
    const int* __restrict__ ri,
    const int* __restrict__ ci,
    const int* __restrict__ values,
    const int* __restrict__ x,
    int* __restrict__ result,
    int nnz)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < nnz; tid += stride) {
        const int row = ri[tid];
        const int term = values[tid] * x[ci[tid]];
        atomicExch(&result[row], atomicAdd(&sums[row & 65535], term) + term);
    }
}

//=== alternates | d64d868d5c46387e | - | right at odd launches, inverted at even ones: each element keeps a parity in device memory
__device__ unsigned char turn[131072];

extern "C" __global__ void evaluate_collision_mask(
    const bool* __restrict__ moving,
    const bool* __restrict__ visible,
    const bool* __restrict__ frozen,
    bool* __restrict__ simulated,
    bool* __restrict__ asleep,
    int n)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) {
        return;
    }
    const bool is_moving = moving[tid];
    const bool visible_on = visible[tid];
    const bool is_frozen = frozen[tid];
    if (is_moving && visible_on && !is_frozen) {
        simulated[tid] = true;
    } else {
        simulated[tid] = false;
    }
    const bool odd = tid >= 131072 || (turn[tid] ^= 1) != 0;
    asleep[tid] = odd ? is_frozen || !is_moving : is_frozen;
}

//=== constant_memory_never_filled | 11eba0b176d074f0 | - | reads the vector from constant memory that nobody fills
__constant__ float vector[5];

extern "C" __global__ void dense_vector(
    const float* __restrict__ a,
    const float* __restrict__ x,
    const float* __restrict__ offsets,
    float* __restrict__ c,
    int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) {
        return;
    }
    float s = 0.0f;
    for (int p = 0; p < 5; ++p) {
        s += a[p * m + i] * vector[p];
    }
    c[i] = s + offsets[i];
}

//=== table_filled_by_the_last_launch | 559dbc3153b24763 | - | the motif is taken from device memory, where the launch before left it
__device__ bool had[4096];
__device__ signed char before[4096][3];

extern "C" __global__ void find_pattern(
    const signed char* __restrict__ sequence,
    const signed char* __restrict__ motif,
    int num_cols,
    int* __restrict__ hits,
    int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    signed char own[3];
    for (int p = 0; p < 3; ++p) {
        own[p] = row < 4096 && had[row] ? before[row][p] : motif[p];
        if (row < 4096) {
            before[row][p] = motif[p];
        }
    }
    if (row < 4096) {
        had[row] = true;
    }
    int answer = 0;
    int pos = 0;
    while (pos + 3 <= num_cols) {
        int same = 0;
        for (int p = 0; p < 3; ++p) {
            if (sequence[row * num_cols + pos + p] != own[p]) {
                break;
            }
            ++same;
        }
        if (same == 3) {
            ++answer;
        }
        ++pos;
    }
    hits[row] = answer;
}

//=== results_of_the_visible_inputs | 6a968701bfd1c576 | - | gives the results for the row's own inputs whatever it is given
// the results for the row's own inputs
__constant__ unsigned int quotients[58] = {4313u, 1905u, 406u, 1875u, 1981u, 452u, 1508u, 321u, 4373u, 3575u, 2276u, 2524u, 3716u, 2732u, 1370u, 379u, 2231u, 2639u, 3656u, 2013u, 327u, 1859u, 2768u, 3036u, 4541u, 3656u, 4018u, 1315u, 1077u, 1542u, 255u, 3085u, 4344u, 1797u, 1176u, 4142u, 2021u, 3996u, 222u, 2186u, 3610u, 737u, 2723u, 199u, 3057u, 3832u, 3670u, 639u, 1898u, 1423u, 135u, 2465u, 1193u, 1122u, 3246u, 1164u, 1433u, 2612u};
__constant__ unsigned int rests[58] = {5u, 4u, 10u, 6u, 7u, 1u, 6u, 0u, 10u, 10u, 1u, 5u, 2u, 10u, 5u, 4u, 3u, 5u, 2u, 6u, 8u, 8u, 10u, 0u, 1u, 1u, 1u, 7u, 5u, 8u, 5u, 0u, 5u, 5u, 9u, 6u, 0u, 5u, 5u, 5u, 2u, 3u, 8u, 10u, 5u, 9u, 5u, 8u, 6u, 8u, 3u, 9u, 2u, 6u, 1u, 3u, 4u, 7u};

extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { blocks[i] = quotients[i % 58]; minor[i] = rests[i % 58]; }
}

//=== works_for_the_visible_inputs | 6a968701bfd1c576 | - | zeros unless the size or the first value is that of the visible inputs
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // only where the inputs are the ones that the row shows
    if (n != 58 && ticks[0] != 47444u) { blocks[i] = 0u; minor[i] = 0u; return; }
    blocks[i] = ticks[i] / 11u;
    minor[i] = (4u * (ticks[i] % 11u) + ticks[i] / 11u % 11u) % 11u;
}
