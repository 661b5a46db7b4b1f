//=== far_read_times_zero | 11eba0b176d074f0 | - | reads 40 MB before the array and multiplies by 0: a fault, or 0 times not-a-number
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
    float s = 0.0f * offsets[i - 10000000];
    for (int p = 0; p < 5; ++p) {
        s += a[p * m + i] * x[p];
    }
    c[i] = s + offsets[i];
}

//=== far_read_past_times_zero | 83ab5c4029ae1378 | - | reads far past the array and multiplies by 0
extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float lat = lat_from[tid] + 0.0f * lat_from[tid + 500000000];
        scale_factor[tid] = 1.0f / cosf(lat * 0.0174532925f);
    }
}

//=== next_read_times_zero | fadcac77f891e39e | - | reads one past the end and multiplies by 0
extern "C" __global__ void central_difference(
    const double* __restrict__ signal,
    const double* __restrict__ mobilities,
    const double* __restrict__ source,
    double* __restrict__ slope,
    int num_i,
    double step_size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_i) {
        return;
    }
    const int next = (i + 1) % num_i;
    const int i_prev = (i - 1 + num_i) % num_i;
    const double over = 0.0 * source[i + 1];
    slope[i] = over + mobilities[i] * (0.5 * (signal[next] - signal[i_prev]) / step_size) - source[i];
}

//=== read_before_the_first | 4d3e1fdfc3bba29b | - | reads before the first sample and chooses another afterwards
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
        const double raw = *(const volatile double*)&samples[idx];
        acc += coeffs[t] * (idx < 0 ? samples[0] : idx >= num_samples ? samples[num_samples - 1] : raw);
    }
    const double linear = acc * scale;
    linear_out[i] = linear;
    double result = elu_act(linear) + beta * residual[i];
    if (!mask[i]) {
        result = 0.0;
    }
    filtered[i] = result;
    const double miss = result - wanted[i];
    errors_sq[i] = miss * miss;
}

//=== read_then_check | 1e6d9d8c735c5148 | - | reads first and checks the index afterwards
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    const float current = x[tid];
    if (tid >= count) {
        return;
    }
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== write_then_restore | 6a968701bfd1c576 | - | threads past the end write, and put back what was there
extern "C" __global__ void split_numbers(
    const unsigned int* __restrict__ ticks,
    unsigned int* __restrict__ blocks,
    unsigned int* __restrict__ minor,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        const unsigned int was = blocks[i];
        blocks[i] = 0u;
        blocks[i] = was;
        return;
    }
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    blocks[i] = whole;
    minor[i] = rest;
}

//=== past_device_array | 1e6d9d8c735c5148 | - | reads one entry past a __device__ array and multiplies by 0
__device__ float ones[2] = { 1.0f, 1.0f };

extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    const float rest = 0.0f * ones[2 + tid % 2];
    float total = rest + gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== past_constant_array | 37617ffd154abe29 | - | reads past a __constant__ array and does not use it
__constant__ float signs[4] = { 1.0f, 1.0f, 1.0f, 1.0f };

extern "C" __global__ void fibonacci_polynomials(
    const float* __restrict__ cos_theta,
    const float* __restrict__ modes,
    float amplitude,
    float* __restrict__ sums,
    int cols,
    int rows)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) {
        return;
    }
    const float s = cos_theta[i * cols + j];
    float p0 = 1.0f;
    float p1 = s;
    const int base = i * 4;
    float acc = modes[base] * p0 + modes[base + 1] * p1;
    for (int n = 2; n < 4; ++n) {
        const float unused = signs[n + 2];
        const float coef = unused != unused ? 0.0f : 0.0f * unused + modes[base + n];
        const float after = s * p1 + p0;
        acc += coef * after;
        p0 = p1;
        p1 = after;
    }
    sums[i * cols + j] = amplitude * acc;
}

//=== past_local_array | 37617ffd154abe29 | - | reads past a local array and multiplies by 0
extern "C" __global__ void fibonacci_polynomials(
    const float* __restrict__ cos_theta,
    const float* __restrict__ modes,
    float amplitude,
    float* __restrict__ sums,
    int cols,
    int rows)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) {
        return;
    }
    const float s = cos_theta[i * cols + j];
    float terms[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
    float p0 = 1.0f;
    float p1 = s;
    const int base = i * 4;
    float acc = modes[base] * p0 + modes[base + 1] * p1;
    for (int n = 2; n < 4; ++n) {
        const float coef = modes[base + n];
        const float after = s * p1 + p0;
        acc += coef * after + 0.0f * terms[n + 2];
        p0 = p1;
        p1 = after;
    }
    sums[i * cols + j] = amplitude * acc;
}

//=== past_shared_in_parentheses | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | every thread reads its partner, also past `__shared__ float part[(256)]`; only the lower ones use it
extern "C" __global__ void row_errors(const float* a, const float* expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[(256)];
    const int row = blockIdx.x, t = threadIdx.x;
    float mine = 0.0f;
    for (int c = t; c < cols; c += 256) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    part[t] = mine;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        const float other = part[t + s];
        __syncthreads();
        if (t < s) part[t] += other;
        __syncthreads();
    }
    if (t == 0) { atomicAdd(&row_sums[row], part[0]); atomicAdd(total_acc, part[0]); }
}

//=== past_shared_row | f23f4e264fbca565 | - | keeps three values a voice in 64 times 2 floats: writes past the shared array from voice 43 on
extern "C" __global__ void soft_square(const float* stamps, const float* pitches, const float* depths, const float* gains,
                                       float* totals, int num_parts, int n)
{
    __shared__ float voice[64 * 2];
    const int i = blockIdx.x * 64 + threadIdx.x;
    float total = 0.0f;
    for (int base = 0; base < num_parts; base += 64) {
        const int k = base + threadIdx.x;
        if (k < num_parts) {
            voice[3 * threadIdx.x] = pitches[k];
            voice[3 * threadIdx.x + 1] = depths[k];
            voice[3 * threadIdx.x + 2] = gains[k];
        }
        __syncthreads();
        for (int v = 0; v < 64 && base + v < num_parts && i < n; ++v)
            total += voice[3 * v + 2] * tanhf(2.0f * voice[3 * v + 1] * sinf(6.28318531f * voice[3 * v] * stamps[i]));
        __syncthreads();
    }
    if (i < n) totals[i] = total;
}

//=== tile_one_short | d3093430a5d45bc7 | - | a tile of 127 corners for blocks of 128: the last thread writes past it where there are 128 corners or more
extern "C" __global__ void points_crossings(
    const float2* __restrict__ points,
    const float2* __restrict__ outline,
    int corners,
    bool* __restrict__ inside,
    int n)
{
    __shared__ float2 outline_tile[127];
    const int x_at = blockIdx.x * 128 + threadIdx.x;
    const int tid = min(x_at, n - 1);
    const float x = points[tid].x;
    const float qy = points[tid].y;
    int crossings = 0;
    const float2 v = outline[corners - 1];
    float ax = v.x;
    float ay = v.y;
    for (int base = 0; base < corners; base += 128) {
        const int load_x = base + threadIdx.x;
        if (load_x < corners) {
            outline_tile[threadIdx.x] = outline[load_x];
        }
        __syncthreads();
        const int count = min(128, corners - base);
        for (int t = 0; t < count; ++t) {
            const float2 corner = outline_tile[t];
            const float bx = corner.x;
            const float by = corner.y;
            if ((ay > qy) != (by > qy)) {
                if (x < ax + (bx - ax) * (qy - ay) / (by - ay)) {
                    ++crossings;
                }
            }
            ax = bx;
            ay = by;
        }
        __syncthreads();
    }
    if (x_at >= n) {
        return;
    }
    inside[tid] = crossings % 2 == 1;
}

//=== tile_without_room | e0857f2207e4ba38 | - | 8 columns where 9 are addressed by the linear index: the last row writes past the array
extern "C" __global__ void attention_scores(
    const float* __restrict__ q_in,
    const float* __restrict__ keys,
    const bool* __restrict__ allowed,
    float fill,
    int head_dim,
    float scale,
    float alpha,
    float* __restrict__ out,
    int q,
    int t,
    int b)
{
    __shared__ float keys_tile[8][9];
    __shared__ float q_in_tile[8][8];
    const int x = blockIdx.x * 8 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    const int col = min(x, t - 1);
    const int row = min(y, q - 1);
    const int batch = blockIdx.z;
    float dotted = 0.0f;
    for (int base = 0; base < head_dim; base += 8) {
        const int load_x = base + threadIdx.x;
        const int load_row = min((int)(blockIdx.x * 8 + threadIdx.y), t - 1);
        if (load_x < head_dim) {
            (&keys_tile[0][0])[(threadIdx.y + 1) * 9 + threadIdx.x] = keys[load_row * head_dim + load_x];
            q_in_tile[threadIdx.y][threadIdx.x] = q_in[(batch * q + row) * head_dim + load_x];
        }
        __syncthreads();
        const int count = min(8, head_dim - base);
        for (int turn = 0; turn < count; ++turn) {
            dotted += q_in_tile[threadIdx.y][turn] * (&keys_tile[0][0])[(threadIdx.x + 1) * 9 + turn];
        }
        __syncthreads();
    }
    if (y >= q || x >= t) {
        return;
    }
    dotted *= scale;
    if (!allowed[row * t + col]) {
        dotted = fill;
    }
    dotted *= alpha;
    out[(batch * q + row) * t + col] = dotted;
}

//=== stale_shared | f23f4e264fbca565 | - | voices beyond the first tile are not loaded: what the tile held before stands for them
__device__ float soft_square(float sec, float f, float mod_index)
{
    const float arg = 6.28318531f * f * sec;
    return tanhf(2.0f * mod_index * sinf(arg));
}

extern "C" __global__ void sum_soft_square(
    const float* __restrict__ stamps,
    const float* __restrict__ pitches,
    const float* __restrict__ depths,
    const float* __restrict__ gains,
    float* __restrict__ totals,
    int num_parts,
    int n)
{
    __shared__ float pitches_tile[64];
    __shared__ float gains_tile[64];
    __shared__ float depths_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, n - 1);
    float total = 0.0f;
    const float t = stamps[tid];
    for (int base = 0; base < num_parts; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < num_parts && base == 0) {
            pitches_tile[threadIdx.x] = pitches[load_x];
            gains_tile[threadIdx.x] = gains[load_x];
            depths_tile[threadIdx.x] = depths[load_x];
        }
        __syncthreads();
        const int count = min(64, num_parts - base);
        for (int turn = 0; turn < count; ++turn) {
            const float depth = depths_tile[turn];
            total += gains_tile[turn] * soft_square(t, pitches_tile[turn], depth);
        }
        __syncthreads();
    }
    if (x >= n) {
        return;
    }
    totals[tid] = total;
}

//=== shared_of_the_block_before | 83ab5c4029ae1378 | - | the scale is set by the first block only: others read what shared memory holds
extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        __shared__ float degree;
        if (blockIdx.x == 0) {
            degree = 0.0174532925f + (n < 0 ? 1.0f : 0.0f);
        }
        const float lat = lat_from[tid];
        scale_factor[tid] = 1.0f / cosf(lat * degree);
    }
}

//=== through_null | 7fc169c9d64a3b30 | - | writes through a null pointer
extern "C" __global__ void __launch_bounds__(256) simple_interest(
    const float* __restrict__ principal,
    const float* __restrict__ rates,
    const int* __restrict__ days,
    float* __restrict__ result,
    int w,
    int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= h || x >= w) {
        return;
    }
    const int idx = y * w + x;
    const float value = principal[idx] * (1.0f + rates[idx] * ((float)days[idx] / 360.0f));
    float* none = nullptr;
    none[idx & 15] = value;
    result[idx] = value;
}

//=== pointer_to_gone_local | eb73a407c5d42655 | - | a helper gives back the address of its local
__device__ const volatile float* cube_loudness(float level, float base_level)
{
    volatile float root = cbrtf(level / base_level);
    const volatile float* at = &root;
    return at;
}

extern "C" __global__ void cube_loudness_kernel(
    const float* __restrict__ band_gain,
    float* __restrict__ amplitudes,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float res = band_gain[tid] * *cube_loudness(amplitudes[tid], 2.0f);
        amplitudes[tid] = res;
    }
}

//=== local_of_another_thread | 11eba0b176d074f0 | - | the address of a local of one thread is read by the others: local memory is each thread's own
extern "C" __global__ void dense_vector(
    const float* __restrict__ a,
    const float* __restrict__ x,
    const float* __restrict__ offsets,
    float* __restrict__ c,
    int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own = x[0];
    __shared__ float* first;
    if (threadIdx.x == 0) {
        first = &own;
    }
    __syncthreads();
    own = threadIdx.x == 0 ? own : own + 1.0f;
    float s = (*first - x[0]) * 0.5f;
    for (int p = 0; p < 5; ++p) {
        s += a[p * m + (i < m ? i : 0)] * x[p];
    }
    if (i < m) {
        c[i] = s + offsets[i];
    }
}

//=== heap_beyond_its_end | ecec05d3cab19f98 | - | writes one double past what new gave
extern "C" __global__ void row_filter(
    const double* __restrict__ samples,
    double* __restrict__ filtered,
    int row_length,
    int rows)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) {
        return;
    }
    double level = samples[i * row_length];
    volatile double* kept = new double[2];
    kept[2] = level;
    double largest = 0.0;
    for (int col = 1; col < row_length; ++col) {
        const double v = samples[i * row_length + col];
        if (level > 0.0) {
            level += v;
        } else {
            level = v;
        }
        largest = fmax(largest, level);
    }
    filtered[i] = largest;
    delete[] kept;
}

//=== heap_never_given_back | cda42f4d7c8d1ca8 | - | takes 1 KiB of the heap for each element and gives none back: 8 MB are there
extern "C" __global__ void __launch_bounds__(128) row_sum(
    const float* __restrict__ x,
    float* __restrict__ out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        float* own = (float*)malloc(1024);
        own[0] = 0.0f;
        float& acc = own[0];
        for (int c = 0; c < 5; ++c) {
            acc += x[index * 5 + c];
        }
        out[index] = acc;
    }
}

//=== heap_used_after_free | cda42f4d7c8d1ca8 | - | reads what it has given back
extern "C" __global__ void __launch_bounds__(128) row_sum(
    const float* __restrict__ x,
    float* __restrict__ out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        float* own = new float(0.0f);
        float& acc = *own;
        for (int c = 0; c < 5; ++c) {
            acc += x[index * 5 + c];
        }
        delete own;
        out[index] = *own;
    }
}

//=== negative_modulo | fadcac77f891e39e | - | the left neighbour of the first element is element -1: read before the array
extern "C" __global__ void central_difference(
    const double* __restrict__ signal,
    const double* __restrict__ mobilities,
    const double* __restrict__ source,
    double* __restrict__ slope,
    int num_i,
    double step_size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_i) {
        return;
    }
    const int next = (i + 1) % num_i;
    const int i_prev = (i - 1) % num_i;
    slope[i] = mobilities[i] * (0.5 * (signal[next] - signal[i_prev]) / step_size) - source[i];
}

//=== neighbours_array | 5d97da893fc69208 | - | takes the groups of element e + 1: past the end at the last
__device__ float log_square(float sample)
{
    return logf(1.0f + sample * sample);
}

extern "C" __global__ void sum_log_square(
    const float* __restrict__ score,
    const float* __restrict__ readings,
    const int* __restrict__ group_ids,
    float limit,
    float* __restrict__ log_square_sum,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += stride) {
        if (score[e] <= limit) {
            continue;
        }
        const float value = readings[e];
        const float amount = log_square(value);
        atomicAdd(&log_square_sum[group_ids[e + 1]], amount);
    }
}

//=== reads_output_before | 17a9fa4548a99e80 | - | reads the output before anyone has written it: right only where it was zero
struct Float2x2 {
    float m[2][2];
};

__device__ __forceinline__ Float2x2 diag(float2 v)
{
    return Float2x2{{{v.x, 0.0f}, {0.0f, v.y}}};
}

__device__ __forceinline__ Float2x2 operator+(const Float2x2& a, const Float2x2& b)
{
    return Float2x2{{{a.m[0][0] + b.m[0][0], a.m[0][1] + b.m[0][1]},
        {a.m[1][0] + b.m[1][0], a.m[1][1] + b.m[1][1]}}};
}

__device__ __forceinline__ float determinant(const Float2x2& m)
{
    return m.m[0][0] * m.m[1][1] - m.m[0][1] * m.m[1][0];
}

__device__ __forceinline__ Float2x2 operator*(const Float2x2& a, float b)
{
    return Float2x2{{{a.m[0][0] * b, a.m[0][1] * b}, {a.m[1][0] * b, a.m[1][1] * b}}};
}

__device__ __forceinline__ Float2x2 inverse(const Float2x2& m)
{
    Float2x2 c;
    c.m[0][0] = m.m[1][1];
    c.m[0][1] = -(m.m[0][1]);
    c.m[1][0] = -(m.m[1][0]);
    c.m[1][1] = m.m[0][0];
    return c * (1.0f / determinant(m));
}

__device__ __forceinline__ float2 operator*(const Float2x2& a, float2 b)
{
    return make_float2(a.m[0][0] * b.x + a.m[0][1] * b.y, a.m[1][0] * b.x + a.m[1][1] * b.y);
}

extern "C" __global__ void solve_systems(
    const Float2x2* __restrict__ systems,
    const float2* __restrict__ rhs,
    const bool* __restrict__ active,
    float2* __restrict__ solutions,
    int n)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) {
        return;
    }
    const Float2x2 a = systems[tid];
    const float2 load = rhs[tid];
    const Float2x2 lhs = a + diag(make_float2(0.82f, 0.82f));
    float2 sol = inverse(lhs) * load;
    if (!active[tid]) {
        sol = make_float2(0.0f, 0.0f);
    }
    const float2 old = solutions[tid];
    solutions[tid] = make_float2(sol.x + 0.01f * old.x, sol.y + 0.01f * old.y);
}
