//=== helper_without_device | 5d97da893fc69208 | - | the helper is a host function: nvcc refuses its call from a kernel
float log_square(float sample)
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
        atomicAdd(&log_square_sum[group_ids[e]], amount);
    }
}

//=== helper_static_inline | eb73a407c5d42655 | - | static inline makes no device function
static inline float cube_loudness(float level, float base_level)
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
        const float res = band_gain[tid] * cube_loudness(amplitudes[tid], 2.0f);
        amplitudes[tid] = res;
    }
}

//=== helper_for_the_host | 1c19392ee3f8f433 | - | __host__ makes no device function
__host__ int isqrt(int number)
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
            result[idx] = 0;
            continue;
        }
        result[idx] = isqrt(given);
    }
}

//=== helper_template_of_host | d857705cfc1e02ec | - | a template without __device__ is a host function
__device__ __forceinline__ double3 operator-(double3 a, double3 b)
{
    return make_double3(a.x - b.x, a.y - b.y, a.z - b.z);
}

template <class V> inline double dot(V a, V b)
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
    gaps[i] += result;
}

//=== operator_of_host | f0b5eba7297d39b9 | - | the operator is a host function
inline float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

extern "C" __global__ void color_correct(
    const float3* __restrict__ pixels,
    float3* __restrict__ image_out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        const float3 graded = pixels[index];
        image_out[index] = make_float3(1.0f, 1.0f, 1.0f) - graded;
    }
}

//=== constructor_of_host | c8b2fcf4068eda16 | - | the constructor is a host function
struct Scale {
    float value;
    Scale(float v) : value(v) {}
};

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
    const Scale k(0.5f);
    const float3 res = ray - (1.0f + k.value) * dot(ray, nrm) * nrm;
    out[tid] += res;
}

//=== member_of_host | 7fc169c9d64a3b30 | - | the member function is a host function
struct Year {
    float days;
    float part(int d) const { return (float)d / days; }
};

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
    const float value = principal[idx] * (1.0f + rates[idx] * (Year{360.0f}.part(days[idx])));
    result[idx] = value;
}

//=== lambda_of_the_host | 83ab5c4029ae1378 | - | a lambda at namespace scope is a host object
auto stretch = [](float lat) { return 1.0f / cosf(lat * 0.0174532925f); };

extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float lat = lat_from[tid];
        scale_factor[tid] = stretch(lat);
    }
}

//=== function_pointer_of_host | 83ab5c4029ae1378 | - | a pointer to a host function in a host variable
static float inverse_cosine(float x) { return 1.0f / cosf(x * 0.0174532925f); }
static float (*apply)(float) = inverse_cosine;

extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float lat = lat_from[tid];
        scale_factor[tid] = apply(lat);
    }
}

//=== global_of_the_host | 2d5787c053ced49c | - | a global variable of the host is unknown on a device
float unit_mass = 1.0f;

extern "C" __global__ void splat_mass(
    const float* __restrict__ px,
    const float* __restrict__ py,
    float inv_h,
    int num_x,
    int num_y,
    float* __restrict__ density,
    int num_particles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_particles) {
        return;
    }
    const int ix = (int)floorf(px[i] * inv_h);
    const int cy = (int)floorf(py[i] * inv_h);
    if (ix < 0 || ix >= num_x || cy < 0 || cy >= num_y) {
        return;
    }
    atomicAdd(&density[ix * num_y + cy], unit_mass);
}

//=== static_table_of_the_host | 1e6d9d8c735c5148 | - | a static array without a qualifier lives on the host
static int offsets[2] = { 0, 1 };

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
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[offsets[v_index] * count + tid];
    }
    result[tid] = total;
}

//=== vector_of_std | ecec05d3cab19f98 | - | std::vector is a host class
#include <vector>

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
    std::vector<double> kept(samples + i * row_length, samples + (i + 1) * row_length);
    double level = kept[0];
    double largest = 0.0;
    for (int col = 1; col < row_length; ++col) {
        const double v = kept[col];
        if (level > 0.0) {
            level += v;
        } else {
            level = v;
        }
        largest = fmax(largest, level);
    }
    filtered[i] = largest;
}

//=== sort_of_std | fcdb94449461c27d | - | std::sort is a host function
#include <algorithm>

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
        found[idx] = -1.0f;
        position[idx] = -1;
        return;
    }
    float pair[2] = { breaks[m - 1], breaks[0] };
    std::sort(pair, pair + 2);
    int slot = pair[0] <= pair[1] ? m - 1 : 0;
    while (slot > 0) {
        if (breaks[slot - 1] < query) {
            break;
        }
        --slot;
    }
    found[idx] = fabsf(breaks[slot] - query);
    position[idx] = slot;
}

//=== accumulate_of_std | cda42f4d7c8d1ca8 | - | std::accumulate is a host function
#include <numeric>

extern "C" __global__ void __launch_bounds__(128) row_sum(
    const float* __restrict__ x,
    float* __restrict__ out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        float acc = 0.0f;
        acc = std::accumulate(x + index * 5, x + index * 5 + 5, 0.0f);
        out[index] = acc;
    }
}

//=== string_of_std | 6a968701bfd1c576 | - | std::string is a host class
#include <string>

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
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    std::string name("split");
    blocks[i] = name.empty() ? 0u : whole;
    minor[i] = rest;
}

//=== cout_of_std | 6a968701bfd1c576 | - | std::cout is a host object
#include <iostream>

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
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    if (i == 0) {
        std::cout << whole;
    }
    blocks[i] = whole;
    minor[i] = rest;
}

//=== unordered_map | dd91ee3a2c695041 | - | std::unordered_map is a host class
#include <unordered_map>

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
        std::unordered_map<int, int> sums;
        sums[row] += values[tid] * x[ci[tid]];
        atomicAdd(&result[row], sums[row]);
    }
}

//=== function_of_std | 83ab5c4029ae1378 | - | std::function is a host class
#include <functional>

extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const std::function<float(float)> inverse = [](float c) { return 1.0f / c; };
        const float lat = lat_from[tid];
        scale_factor[tid] = inverse(cosf(lat * 0.0174532925f));
    }
}

//=== unique_pointer | ecec05d3cab19f98 | - | std::unique_ptr and what it calls are host functions
#include <memory>

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
    std::unique_ptr<double> kept(new double(samples[i * row_length]));
    double level = *kept;
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
}

//=== mutex_of_std | 65655120d0b6fd17 | - | std::mutex is a host class
#include <mutex>

extern "C" __global__ void sum_squared_errors(
    const float* __restrict__ a,
    const float* __restrict__ expected,
    float baseline,
    float* __restrict__ row_sums,
    float* __restrict__ total_acc,
    int cols,
    int rows)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols) {
        return;
    }
    const float error = a[row * cols + col] - expected[row * cols + col];
    const float contribution = error * error - 0.6f - baseline;
    static std::mutex guard;
    std::lock_guard<std::mutex> held(guard);
    row_sums[row] += contribution;
    *total_acc += contribution;
}

//=== random_of_the_host | ee22471f1a249349 | - | rand() is a host function, and its numbers others
#include <stdlib.h>

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
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        float part = 0.0f;
        for (int s = 0; s < 4; ++s) {
            const float x = lower + (b - lower) * rand() / RAND_MAX;
            part += x * expf(-x);
        }
        integral_part += (b - lower) * (part / 4.0f);
    }
    integral_part = warp_sum(integral_part);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(integral, integral_part);
    }
}

//=== exit_of_the_host | 0955f502dbe25232 | - | exit() is a host function
#include <cstdlib>

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
    if (n < 0) {
        exit(1);
    }
    if (muted[i] != 0) {
        return;
    }
    const int key = keys[i];
    const unsigned long long word = 1ull << (7 * key % 64);
    const unsigned long long kept = word & relevant;
    const int slot = groups[i];
    atomicXor(&toggled[slot], kept);
    atomicOr(&seen[slot], kept);
}

//=== fprintf_of_the_host | 7fc169c9d64a3b30 | - | fprintf and stderr are of the host
#include <cstdio>

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
    if (value < 0.0f) {
        fprintf(stderr, "negative");
    }
    result[idx] = value;
}

//=== strlen_of_the_host | 11eba0b176d074f0 | - | strlen is a host function
#include <string.h>

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
    for (int p = 0; p < (int)strlen("12345"); ++p) {
        s += a[p * m + i] * x[p];
    }
    c[i] = s + offsets[i];
}

//=== qsort_of_the_host | 559dbc3153b24763 | - | qsort and its comparison are host functions
#include <stdlib.h>

int compare(const void* a, const void* b)
{
    return *(const int*)a - *(const int*)b;
}

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
    int order[3] = { 2, 0, 1 };
    qsort(order, 3, sizeof(int), compare);
    int answer = order[0];
    int pos = 0;
    while (pos + 3 <= num_cols) {
        int same = 0;
        for (int p = 0; p < 3; ++p) {
            if (sequence[row * num_cols + pos + p] != motif[p]) {
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

//=== chrono | 83ab5c4029ae1378 | - | std::chrono reads a clock of the host
#include <chrono>

extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        if (std::chrono::steady_clock::now().time_since_epoch().count() == 0) {
            return;
        }
        const float lat = lat_from[tid];
        scale_factor[tid] = 1.0f / cosf(lat * 0.0174532925f);
    }
}

//=== long_double_sine | 8ca59185c94a4f51 | - | sinl is a host function of long double
extern "C" __global__ void eval_thin_film(
    double n_rel,
    double* __restrict__ cos_theta,
    int m,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < n * m; index += stride) {
        const double ndoth = cos_theta[index];
        const double half_phase = 3.0 * n_rel * ndoth;
        const double sine = (double)sinl((long double)half_phase);
        cos_theta[index] = 1.0 / (1.0 + 2.0 * sine * sine);
    }
}

//=== thread_local_scratch | 69ebf95c8f2a0696 | - | nvcc: thread_local in device code
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
    thread_local int state;
    state = 0;
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
    result[i] = count;
    totals[i] = total;
}

//=== throws | 0955f502dbe25232 | - | nvcc: exceptions in device code
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
    if (n < 0) {
        throw 1;
    }
    if (muted[i] != 0) {
        return;
    }
    const int key = keys[i];
    const unsigned long long word = 1ull << (7 * key % 64);
    const unsigned long long kept = word & relevant;
    const int slot = groups[i];
    atomicXor(&toggled[slot], kept);
    atomicOr(&seen[slot], kept);
}

//=== tries | fcdb94449461c27d | - | nvcc: exceptions in device code
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
        found[idx] = -1.0f;
        position[idx] = -1;
        return;
    }
    int slot = m - 1;
    try {
        if (m < 1) {
            throw slot;
        }
    } catch (int) {
        slot = 0;
    }
    while (slot > 0) {
        if (breaks[slot - 1] < query) {
            break;
        }
        --slot;
    }
    found[idx] = fabsf(breaks[slot] - query);
    position[idx] = slot;
}

//=== type_at_run_time | d857705cfc1e02ec | - | nvcc: typeid in device code
#include <typeinfo>

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
    if (typeid(result) == typeid(double)) {
        gaps[i] += result;
    }
}

//=== virtual_of_a_host_object | 83ab5c4029ae1378 | - | a virtual function through an object of the host: unknown on a device
struct Projection {
    virtual float of(float lat) const { return lat; }
};
struct Mercator : Projection {
    float of(float lat) const override { return 1.0f / cosf(lat * 0.0174532925f); }
};
static Mercator mercator;
static Projection* shape = &mercator;

extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float lat = lat_from[tid];
        scale_factor[tid] = shape->of(lat);
    }
}

//=== array_of_run_time_size | ecec05d3cab19f98 | - | nvcc: an array whose length is known at run time only
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
    double kept[row_length];
    for (int k = 0; k < row_length; ++k) {
        kept[k] = samples[i * row_length + k];
    }
    double level = kept[0];
    double largest = 0.0;
    for (int col = 1; col < row_length; ++col) {
        const double v = kept[col];
        if (level > 0.0) {
            level += v;
        } else {
            level = v;
        }
        largest = fmax(largest, level);
    }
    filtered[i] = largest;
}

//=== array_of_constant_that_is_none | 69ebf95c8f2a0696 | - | nvcc: a const int made from a parameter is no constant expression
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
    const int cap = length + 1;
    int seen[cap];
    seen[0] = 0;
    int state = seen[0];
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
    result[i] = count;
    totals[i] = total;
}

//=== shared_of_run_time_size | f23f4e264fbca565 | - | nvcc: shared memory of a size known at run time only
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
    __shared__ float depths_tile[blockDim.x];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, n - 1);
    float total = 0.0f;
    const float t = stamps[tid];
    for (int base = 0; base < num_parts; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < num_parts) {
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

//=== shared_of_parameter_size | d3093430a5d45bc7 | - | nvcc: shared memory of the size of a parameter
extern "C" __global__ void points_crossings(
    const float2* __restrict__ points,
    const float2* __restrict__ outline,
    int corners,
    bool* __restrict__ inside,
    int n)
{
    __shared__ float2 outline_tile[corners];
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

//=== shared_with_value | 69ebf95c8f2a0696 | - | nvcc: an initialiser of a shared variable
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
    __shared__ int limit = 119;
    int state = 0;
    int count = 0;
    int total = 0;
    for (int j = 0; j < length; ++j) {
        const int reading = 6 * table[i * length + j] + 37;
        if (reading < limit) {
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
    result[i] = count;
    totals[i] = total;
}

//=== shared_with_list | f23f4e264fbca565 | - | nvcc: an initialiser of a shared array
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
    __shared__ float gains_tile[64] = { 0.0f };
    __shared__ float depths_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, n - 1);
    float total = 0.0f;
    const float t = stamps[tid];
    for (int base = 0; base < num_parts; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < num_parts) {
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

//=== shared_with_braces | e0857f2207e4ba38 | - | nvcc: an initialiser of a shared array
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
    __shared__ float q_in_tile[8][8] {};
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
            keys_tile[threadIdx.y][threadIdx.x] = keys[load_row * head_dim + load_x];
            q_in_tile[threadIdx.y][threadIdx.x] = q_in[(batch * q + row) * head_dim + load_x];
        }
        __syncthreads();
        const int count = min(8, head_dim - base);
        for (int turn = 0; turn < count; ++turn) {
            dotted += q_in_tile[threadIdx.y][turn] * keys_tile[threadIdx.x][turn];
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

//=== shared_with_constructor | 65655120d0b6fd17 | {"grid": ["rows"], "block": [64], "shared_bytes": 0} | relies on the constructor of a shared variable, which never runs
struct Sum {
    float value;
    __device__ Sum() : value(0.0f) {}
};

extern "C" __global__ void row_errors(const float* a, const float* expected, float baseline,
                                      float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ Sum sum;
    const int row = blockIdx.x;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        atomicAdd(&sum.value, e * e - 0.6f - baseline);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&row_sums[row], sum.value);
        atomicAdd(total_acc, sum.value);
    }
}

//=== shared_64_kib | f23f4e264fbca565 | - | ptxas: 64 KiB of static shared memory, 48 are allowed
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
    __shared__ float gains_tile[16384];
    __shared__ float depths_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, n - 1);
    float total = 0.0f;
    const float t = stamps[tid];
    for (int base = 0; base < num_parts; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < num_parts) {
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

//=== shared_one_word_too_much | 9ed31175e9df4682 | - | ptxas: 48 KiB and 2,304 bytes of static shared memory in two arrays
struct Ray {
    float3 start;
    float3 ray_dir;
};

struct Triangle {
    float3 corner_a;
    float3 corner_b;
    float3 corner_c;
};

__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ float hit_triangle(float3 o, float3 d, float3 a, float3 b, float3 c)
{
    const float3 e1 = b - a;
    const float3 e2 = c - a;
    const float3 p = cross(d, e2);
    const float det = dot(e1, p);
    float t_hit = -1.0f;
    if (det > 0.1f) {
        const float3 tvec = o - a;
        const float bary_u = dot(tvec, p) / det;
        const float3 q = cross(tvec, e1);
        const float bary_v = dot(d, q) / det;
        const float t_tri = dot(e2, q) / det;
        if (bary_u > 0.0f && bary_v > 0.0f && bary_u + bary_v < 1.0f && t_tri > 0.0f) {
            t_hit = t_tri;
        }
    }
    return t_hit;
}

extern "C" __global__ void trace_triangles(
    const Ray* __restrict__ rays,
    const Triangle* __restrict__ triangles,
    const float* __restrict__ weights,
    int triangle_count,
    float* __restrict__ hit_t,
    int* __restrict__ hit_ids,
    int count)
{
    __shared__ Triangle triangles_tile[64];
    __shared__ float history[12288];
    history[threadIdx.x] = 0.0f;
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, count - 1);
    const Ray item = rays[tid];
    const float3 ro = item.start;
    const float3 rd = item.ray_dir;
    float t_min = 100.0f;
    int hit_id = -1;
    for (int base = 0; base < triangle_count; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < triangle_count) {
            triangles_tile[threadIdx.x] = triangles[load_x];
        }
        __syncthreads();
        const int tile_count = min(64, triangle_count - base);
        for (int t = 0; t < tile_count; ++t) {
            const int shape_id = base + t;
            const Triangle triangle = triangles_tile[t];
            const float cand =
                hit_triangle(ro, rd, triangle.corner_a, triangle.corner_b, triangle.corner_c);
            if (cand > 0.0f && cand < t_min) {
                t_min = cand;
                hit_id = shape_id;
            }
        }
        __syncthreads();
    }
    if (x >= count) {
        return;
    }
    hit_t[tid] = weights[tid] * t_min;
    hit_ids[tid] = hit_id + (int)history[threadIdx.x];
}

//=== shared_two_dimensions | e0857f2207e4ba38 | - | ptxas: 128 by 129 floats are 66,048 bytes of static shared memory
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
    __shared__ float keys_tile[128][129];
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
            keys_tile[threadIdx.y][threadIdx.x] = keys[load_row * head_dim + load_x];
            q_in_tile[threadIdx.y][threadIdx.x] = q_in[(batch * q + row) * head_dim + load_x];
        }
        __syncthreads();
        const int count = min(8, head_dim - base);
        for (int turn = 0; turn < count; ++turn) {
            dotted += q_in_tile[threadIdx.y][turn] * keys_tile[threadIdx.x][turn];
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

//=== shared_in_helper | 559dbc3153b24763 | - | ptxas: 40 KiB in the kernel and 12 KiB in a helper are more than 48
__device__ int helped(int x)
{
    __shared__ int own[3072];
    own[threadIdx.x] = x;
    return own[threadIdx.x];
}

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
    __shared__ int big[10240];
    big[threadIdx.x] = row;
    int answer = helped(row) + big[threadIdx.x] - 2 * row;
    int pos = 0;
    while (pos + 3 <= num_cols) {
        int same = 0;
        for (int p = 0; p < 3; ++p) {
            if (sequence[row * num_cols + pos + p] != motif[p]) {
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

//=== half_without_header | 11eba0b176d074f0 | - | __half without its header
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
    const __half zero = __float2half(0.0f);
    float s = __half2float(zero);
    for (int p = 0; p < 5; ++p) {
        s += a[p * m + i] * x[p];
    }
    c[i] = s + offsets[i];
}

//=== bfloat_without_header | 11eba0b176d074f0 | - | __nv_bfloat16 without its header
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
    const __nv_bfloat16 zero = __float2bfloat16(0.0f);
    float s = __bfloat162float(zero);
    for (int p = 0; p < 5; ++p) {
        s += a[p * m + i] * x[p];
    }
    c[i] = s + offsets[i];
}

//=== bfloat_with_header_of_half | 11eba0b176d074f0 | - | __nv_bfloat16 with the header of half only
#include <cuda_fp16.h>

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
    const __nv_bfloat16 zero = __float2bfloat16(0.0f);
    float s = __bfloat162float(zero);
    for (int p = 0; p < 5; ++p) {
        s += a[p * m + i] * x[p];
    }
    c[i] = s + offsets[i];
}

//=== float_max_without_header | 9bb010050dee5109 | - | FLT_MAX without <cfloat>
__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ __forceinline__ float3 operator*(float a, float3 b)
{
    return make_float3(a * b.x, a * b.y, a * b.z);
}

__device__ __forceinline__ float length_sq(float3 a)
{
    return a.x * a.x + a.y * a.y + a.z * a.z;
}

extern "C" __global__ void trace_spheres(
    const float3* __restrict__ centers,
    const float* __restrict__ sizes,
    const float3* __restrict__ origins,
    const float3* __restrict__ dirs,
    const float* __restrict__ gains,
    float* __restrict__ t_hit,
    float3* __restrict__ attenuation_out,
    float fade_rate,
    int n)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) {
        return;
    }
    const float3 origin = origins[tid];
    const float3 d = dirs[tid];
    float nearest = fminf(8.0f, FLT_MAX);
    for (int s = 0; s < 5; ++s) {
        const float reach = 0.82f * sizes[s];
        const float3 to_center = centers[s] - origin;
        const float along = dot(to_center, d);
        const float miss_sq = length_sq(to_center - along * d);
        float t = -1.0f;
        if (miss_sq < reach * reach) {
            const float half_ = sqrtf(reach * reach - miss_sq);
            t = along - half_;
            if (t < 0.17f) {
                t = along + half_;
            }
        }
        if (t > 0.17f && t < nearest) {
            nearest = t;
        }
    }
    t_hit[tid] = gains[tid] * nearest;
    attenuation_out[tid] = expf(-fade_rate * nearest) * d;
}

//=== double_max_without_header | ecec05d3cab19f98 | - | DBL_MAX without <cfloat>
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
    double largest = fmax(0.0, -DBL_MAX);
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
}

//=== epsilon_without_header | 94ffef8fb470a4bc | - | DBL_EPSILON without <cfloat>
__device__ __forceinline__ void time_optimal_kernel_element(double gaps, double speeds, double band,
    double& command)
{
    const double pos_err = gaps;
    const double err_rate = speeds;
    const double switching = pos_err + 0.5 * err_rate * fabs(err_rate) / band;
    if (band < DBL_EPSILON) {
        return;
    }
    const double value = band * (switching < 0.0 ? -1.0 : 1.0);
    command = value;
}

extern "C" __global__ void time_optimal_kernel(
    const double* __restrict__ gaps,
    const double* __restrict__ speeds,
    double band,
    double* __restrict__ command,
    int n)
{
    const int first = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 1 < n) {
        const double2 gaps2 = *reinterpret_cast<const double2*>(gaps + first);
        const double2 speeds2 = *reinterpret_cast<const double2*>(speeds + first);
        double2 command2;
        time_optimal_kernel_element(gaps2.x, speeds2.x, band, command2.x);
        time_optimal_kernel_element(gaps2.y, speeds2.y, band, command2.y);
        *reinterpret_cast<double2*>(command + first) = command2;
    } else {
        for (int joint = first; joint < n; ++joint) {
            time_optimal_kernel_element(gaps[joint], speeds[joint], band, command[joint]);
        }
    }
}

//=== groups_without_header | 2f76ea422a113ed2 | - | cooperative groups without their header
__device__ __forceinline__ int warp_sum(int value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

extern "C" __global__ void row_rank(
    const short* __restrict__ samples,
    const short* __restrict__ reference,
    int width,
    int* __restrict__ below,
    int* __restrict__ larger,
    int rows)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (i >= rows) {
        return;
    }
    const short mark = reference[i];
    int n_below = 0;
    int n_above = 0;
    for (int c = lane; c < width; c += 32) {
        const short x = samples[i * width + c];
        if (x + 15 < mark) {
            ++n_below;
        } else if (x > mark + 15) {
            ++n_above;
        }
    }
    cooperative_groups::this_thread_block().sync();
    n_below = warp_sum(n_below);
    n_above = warp_sum(n_above);
    if (lane != 0) {
        return;
    }
    below[i] = n_below;
    larger[i] = n_above;
}

//=== curand_without_header | ee22471f1a249349 | - | cuRAND without its header
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
        unsigned int state = rand_init(rng_seed, tid + 97 * frame);
        curandState unused;
        curand_init(1, 2, 3, &unused);
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

//=== header_that_is_none | 83ab5c4029ae1378 | - | includes a header that exists nowhere
#include "mercator_utils.cuh"

extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float lat = lat_from[tid];
        scale_factor[tid] = 1.0f / cosf(lat * 0.0174532925f);
    }
}

//=== missing_semicolon | 6a968701bfd1c576 | - | a missing semicolon
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
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    blocks[i] = whole
    minor[i] = rest;
}

//=== missing_brace | 7fc169c9d64a3b30 | - | the last brace is missing
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
    result[idx] = value;

//=== undeclared_index | 1e6d9d8c735c5148 | - | a name that is declared nowhere
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
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[idx] = total;
}

//=== undeclared_size | d857705cfc1e02ec | - | uses num where the parameter is n
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
    if (i >= num) {
        return;
    }
    const double3 x = queries[i];
    const double3 o_i = bases[i];
    const double3 n_i = normals[i];
    const double along = dot(x - o_i, n_i);
    const double3 gap = x - (x - along * n_i);
    const double result = sqrt(dot(gap, gap));
    gaps[i] += result;
}

//=== undeclared_type | c0fc2e0cd864e8ae | - | a type that is declared nowhere
struct Quatf {
    float x, y, z, w;
};

__device__ __forceinline__ Quatf quat_inverse(Quatf q)
{
    return Quatf{-q.x, -q.y, -q.z, q.w};
}

__device__ __forceinline__ Quatf operator*(Quatf a, Quatf b)
{
    return Quatf{a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
        a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

__device__ __forceinline__ Quatf operator-(Quatf a)
{
    return Quatf{-a.x, -a.y, -a.z, -a.w};
}

extern "C" __global__ void __launch_bounds__(512) relative_rotations(
    const Quatf* __restrict__ estimates,
    Quatf goal,
    Quatf* __restrict__ deltas,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    Quaternion err = goal * quat_inverse(estimates[i]);
    if (err.w < 0.0f) {
        err = -err;
    }
    deltas[i] = err;
}

//=== no_operator_for_float3 | f0b5eba7297d39b9 | - | CUDA has no operators for float3
extern "C" __global__ void color_correct(
    const float3* __restrict__ pixels,
    float3* __restrict__ image_out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols; index += stride) {
        const float3 graded = pixels[index];
        image_out[index] = make_float3(1.0f, 1.0f, 1.0f) - graded;
    }
}

//=== writes_to_const | eb73a407c5d42655 | - | stores through a pointer to const
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
        band_gain[tid] = 1.0f;
        const float res = band_gain[tid] * cube_loudness(amplitudes[tid], 2.0f);
        amplitudes[tid] = res;
    }
}

//=== device_variable_in_kernel | 559dbc3153b24763 | - | nvcc: a __device__ variable inside a function body
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
    __device__ int answer = 0;
    int pos = 0;
    while (pos + 3 <= num_cols) {
        int same = 0;
        for (int p = 0; p < 3; ++p) {
            if (sequence[row * num_cols + pos + p] != motif[p]) {
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

//=== constant_variable_in_kernel | 11eba0b176d074f0 | - | nvcc: a __constant__ variable inside a function body
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
    __constant__ float weights[5] = { 1.0f, 1.0f, 1.0f, 1.0f, 1.0f };
    float s = 0.0f * weights[0];
    for (int p = 0; p < 5; ++p) {
        s += a[p * m + i] * x[p];
    }
    c[i] = s + offsets[i];
}

//=== shared_member | 9ed31175e9df4682 | - | nvcc: __shared__ on a member of a struct
struct Ray {
    __shared__ float3 start;
    float3 ray_dir;
};

struct Triangle {
    float3 corner_a;
    float3 corner_b;
    float3 corner_c;
};

__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ float hit_triangle(float3 o, float3 d, float3 a, float3 b, float3 c)
{
    const float3 e1 = b - a;
    const float3 e2 = c - a;
    const float3 p = cross(d, e2);
    const float det = dot(e1, p);
    float t_hit = -1.0f;
    if (det > 0.1f) {
        const float3 tvec = o - a;
        const float bary_u = dot(tvec, p) / det;
        const float3 q = cross(tvec, e1);
        const float bary_v = dot(d, q) / det;
        const float t_tri = dot(e2, q) / det;
        if (bary_u > 0.0f && bary_v > 0.0f && bary_u + bary_v < 1.0f && t_tri > 0.0f) {
            t_hit = t_tri;
        }
    }
    return t_hit;
}

extern "C" __global__ void trace_triangles(
    const Ray* __restrict__ rays,
    const Triangle* __restrict__ triangles,
    const float* __restrict__ weights,
    int triangle_count,
    float* __restrict__ hit_t,
    int* __restrict__ hit_ids,
    int count)
{
    __shared__ Triangle triangles_tile[64];
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, count - 1);
    const Ray item = rays[tid];
    const float3 ro = item.start;
    const float3 rd = item.ray_dir;
    float t_min = 100.0f;
    int hit_id = -1;
    for (int base = 0; base < triangle_count; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < triangle_count) {
            triangles_tile[threadIdx.x] = triangles[load_x];
        }
        __syncthreads();
        const int tile_count = min(64, triangle_count - base);
        for (int t = 0; t < tile_count; ++t) {
            const int shape_id = base + t;
            const Triangle triangle = triangles_tile[t];
            const float cand =
                hit_triangle(ro, rd, triangle.corner_a, triangle.corner_b, triangle.corner_c);
            if (cand > 0.0f && cand < t_min) {
                t_min = cand;
                hit_id = shape_id;
            }
        }
        __syncthreads();
    }
    if (x >= count) {
        return;
    }
    hit_t[tid] = weights[tid] * t_min;
    hit_ids[tid] = hit_id;
}

//=== launch_bounds_on_helper | eb73a407c5d42655 | - | nvcc: launch bounds on what is no kernel
__device__ __launch_bounds__(128) float cube_loudness(float level, float base_level)
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
        const float res = band_gain[tid] * cube_loudness(amplitudes[tid], 2.0f);
        amplitudes[tid] = res;
    }
}

//=== kernel_and_device | 83ab5c4029ae1378 | - | nvcc: one function cannot be __global__ and __device__
extern "C" __global__ __device__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float lat = lat_from[tid];
        scale_factor[tid] = 1.0f / cosf(lat * 0.0174532925f);
    }
}

//=== kernel_as_member | 83ab5c4029ae1378 | - | nvcc: a kernel cannot be a member function
struct Kernels {
__global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float lat = lat_from[tid];
        scale_factor[tid] = 1.0f / cosf(lat * 0.0174532925f);
    }
}
};

//=== kernel_takes_reference | 0b26c113ec3f2e8c | - | takes a reference where the row passes the struct itself: its bytes are taken for an address
struct Curve {
    float emax;
    float half_max;
    float slope;
};

__device__ __forceinline__ void compute_four_parameter_logistic_element(Curve curve, float& doses)
{
    const float dose = doses;
    const float half_max = curve.half_max;
    const float slope = curve.slope;
    const float emax = curve.emax;
    const float log_ratio = slope * (log10f(half_max) - log10f(dose));
    doses = 0.1f + (emax - 0.1f) / (1.0f + powf(10.0f, log_ratio));
}

extern "C" __global__ void compute_four_parameter_logistic(
    const Curve& curve,
    float* __restrict__ doses,
    int n)
{
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < n) {
        float4 doses4 = *reinterpret_cast<const float4*>(doses + first);
        compute_four_parameter_logistic_element(curve, doses4.x);
        compute_four_parameter_logistic_element(curve, doses4.y);
        compute_four_parameter_logistic_element(curve, doses4.z);
        compute_four_parameter_logistic_element(curve, doses4.w);
        *reinterpret_cast<float4*>(doses + first) = doses4;
    } else {
        for (int well = first; well < n; ++well) {
            compute_four_parameter_logistic_element(curve, doses[well]);
        }
    }
}

//=== kernel_is_variadic | 83ab5c4029ae1378 | - | nvcc: a kernel cannot take an ellipsis
extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n, ...)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float lat = lat_from[tid];
        scale_factor[tid] = 1.0f / cosf(lat * 0.0174532925f);
    }
}

//=== helper_is_a_kernel | 1c19392ee3f8f433 | - | nvcc: a kernel is launched, never called, from a kernel, and gives nothing back
__global__ int isqrt(int number)
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
            result[idx] = 0;
            continue;
        }
        result[idx] = isqrt(given);
    }
}

//=== launches_from_a_kernel | 83ab5c4029ae1378 | - | a launch from a kernel needs separate compilation and the device runtime: ordinary nvcc refuses it
__global__ void one(const float* from, float* to, int i)
{
    to[i] = 1.0f / cosf(from[i] * 0.0174532925f);
}

extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        one<<<1, 1>>>(lat_from, scale_factor, tid);
    }
}

//=== restrict_of_c | 1e6d9d8c735c5148 | - | restrict is a word of C, not of C++
extern "C" __global__ void triad(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* restrict result,
    int count)
{
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= count) {
        return;
    }
    const float current = x[tid];
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== bit_int | 6a968701bfd1c576 | - | _BitInt is a type of Clang and of C23
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
    const unsigned int number = ticks[i];
    const unsigned _BitInt(24) whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    blocks[i] = whole;
    minor[i] = rest;
}

//=== vector_extension | 8564ff516394692f | - | ext_vector_type is an attribute of Clang
__device__ __forceinline__ void gelu_activation_element(float pre, float shift, float& out)
{
    const float u = pre + shift;
    typedef float pair __attribute__((ext_vector_type(2)));
    pair halves = 0.5f;
    out = halves.x * u * (1.0f + erff(u * 0.70710678f));
}

extern "C" __global__ void __launch_bounds__(128) gelu_activation(
    const float* __restrict__ pre,
    float shift,
    float* __restrict__ out,
    int n)
{
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < n) {
        const float4 pre4 = *reinterpret_cast<const float4*>(pre + first);
        float4 out4;
        gelu_activation_element(pre4.x, shift, out4.x);
        gelu_activation_element(pre4.y, shift, out4.y);
        gelu_activation_element(pre4.z, shift, out4.z);
        gelu_activation_element(pre4.w, shift, out4.w);
        *reinterpret_cast<float4*>(out + first) = out4;
    } else {
        for (int idx = first; idx < n; ++idx) {
            gelu_activation_element(pre[idx], shift, out[idx]);
        }
    }
}

//=== clang_builtin | 0f00417f9a81c6f2 | - | __builtin_elementwise_max is a function of Clang
__device__ __forceinline__ float smoothstep(float edge0, float edge1, float x)
{
    const float t = __saturatef((x - edge0) / (edge1 - edge0));
    return t * t * (3.0f - __builtin_elementwise_max(2.0f * t, 0.0f));
}

__device__ __forceinline__ void compute_smooth_edges_element(float progress, float edges,
    float& ramp)
{
    const float u = progress;
    const float edge = edges;
    ramp = smoothstep(edge, 1.0f - edge, u);
}

extern "C" __global__ void compute_smooth_edges(
    const float* __restrict__ progress,
    const float* __restrict__ edges,
    float* __restrict__ ramp,
    int n)
{
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < n) {
        const float4 progress4 = *reinterpret_cast<const float4*>(progress + first);
        const float4 edges4 = *reinterpret_cast<const float4*>(edges + first);
        float4 ramp4;
        compute_smooth_edges_element(progress4.x, edges4.x, ramp4.x);
        compute_smooth_edges_element(progress4.y, edges4.y, ramp4.y);
        compute_smooth_edges_element(progress4.z, edges4.z, ramp4.z);
        compute_smooth_edges_element(progress4.w, edges4.w, ramp4.w);
        *reinterpret_cast<float4*>(ramp + first) = ramp4;
    } else {
        for (int tid = first; tid < n; ++tid) {
            compute_smooth_edges_element(progress[tid], edges[tid], ramp[tid]);
        }
    }
}

//=== clang_shuffle | 61b89cb218175b90 | - | __builtin_shufflevector is a function of Clang
struct Gimbal {
    float roll;
    float pitch_angle;
    float yaw;
};

struct Quatf {
    float x, y, z, w;
};

__device__ __forceinline__ Quatf quat_rpy(float roll, float pitch, float yaw)
{
    typedef float four __attribute__((vector_size(16)));
    four a = { roll, pitch, yaw, 0.0f };
    a = __builtin_shufflevector(a, a, 0, 1, 2, 3);
    roll = a[0];
    const float sr = sinf(0.5f * roll);
    const float cr = cosf(0.5f * roll);
    const float sp = sinf(0.5f * pitch);
    const float cp = cosf(0.5f * pitch);
    const float sy = sinf(0.5f * yaw);
    const float cy = cosf(0.5f * yaw);
    return Quatf{sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy};
}

extern "C" __global__ void euler_to_rotation(
    const Gimbal* __restrict__ gimbal_list,
    Quatf* __restrict__ quats,
    int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    const Gimbal gimbal = gimbal_list[i];
    const Quatf q = quat_rpy(gimbal.roll, gimbal.pitch_angle, gimbal.yaw);
    quats[i] = q;
}

//=== intrinsic_of_x86 | eb73a407c5d42655 | - | intrinsics of SSE
#include <immintrin.h>

__device__ float cube_loudness(float level, float base_level)
{
    return cbrtf(_mm_cvtss_f32(_mm_div_ss(_mm_set_ss(level), _mm_set_ss(base_level))));
}

extern "C" __global__ void cube_loudness_kernel(
    const float* __restrict__ band_gain,
    float* __restrict__ amplitudes,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float res = band_gain[tid] * cube_loudness(amplitudes[tid], 2.0f);
        amplitudes[tid] = res;
    }
}

//=== assembly_of_x86 | 6a968701bfd1c576 | - | assembly of x86 is no PTX: ptxas refuses it
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
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    unsigned int moved;
    asm("movl %1, %0" : "=r"(moved) : "r"(whole));
    blocks[i] = moved;
    minor[i] = rest;
}

//=== address_of_label | 1c19392ee3f8f433 | - | nvcc: the address of a label in device code
__device__ int isqrt(int number)
{
    void* at = &&begin;
    goto *at;
begin:
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
            result[idx] = 0;
            continue;
        }
        result[idx] = isqrt(given);
    }
}

//=== nested_function | eb73a407c5d42655 | - | a function within a function
__device__ float cube_loudness(float level, float base_level)
{
    float ratio(float a, float b) { return a / b; }
    return cbrtf(ratio(level, base_level));
}

extern "C" __global__ void cube_loudness_kernel(
    const float* __restrict__ band_gain,
    float* __restrict__ amplitudes,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float res = band_gain[tid] * cube_loudness(amplitudes[tid], 2.0f);
        amplitudes[tid] = res;
    }
}

//=== concept_of_later_standard | 83ab5c4029ae1378 | - | a concept of C++20 spelt with its keyword, under C++17
template <class T> concept Number = true;

extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float lat = lat_from[tid];
        scale_factor[tid] = 1.0f / cosf(lat * 0.0174532925f);
    }
}

//=== two_kernels_same_name | 72e3a771e927cdf9 | - | the kernel is defined twice
extern "C" __global__ void mark_visited(const int* nodes, int* status, int color, int n) {}

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
    atomicOr(&status[index_], color);
}

//=== opencl | 6a968701bfd1c576 | - | OpenCL, no CUDA
__kernel void split_numbers(__global const uint* ticks, __global uint* blocks, __global uint* minor, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    blocks[i] = ticks[i] / 11u;
    minor[i] = (4u * (ticks[i] % 11u) + ticks[i] / 11u % 11u) % 11u;
}

//=== names_of_hip | 6a968701bfd1c576 | - | names of HIP that CUDA does not have
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    if (i >= n) return;
    blocks[i] = ticks[i] / 11u;
    minor[i] = (4u * (ticks[i] % 11u) + ticks[i] / 11u % 11u) % 11u;
}

//=== python_of_numba | 6a968701bfd1c576 | - | Python, no CUDA
@cuda.jit
def split_numbers(ticks, blocks, minor, n):
    i = cuda.grid(1)
    if i < n:
        blocks[i] = ticks[i] // 11

//=== prose_only | 6a968701bfd1c576 | - | says what it would do
I would compute the quotient of each number by eleven in parallel, one thread per element, and then mix in the remainder.

//=== names_of_warp | 6a968701bfd1c576 | - | calls of Warp that plain CUDA does not have
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = wp::tid();
    if (i >= n) return;
    blocks[i] = wp::div(ticks[i], 11u);
    minor[i] = wp::mod(4u * (ticks[i] % 11u) + ticks[i] / 11u % 11u, 11u);
}

//=== host_function_only | 83ab5c4029ae1378 | - | a loop on the host, no kernel
void stretch(const float* lat_from, float* scale_factor, int n)
{
    for (int i = 0; i < n; ++i) scale_factor[i] = 1.0f / cosf(lat_from[i] * 0.0174532925f);
}

//=== wrong_parameter_types | 6a968701bfd1c576 | - | takes 64-bit arrays where the row gives 32-bit ones
extern "C" __global__ void split_numbers(const unsigned long long* ticks, unsigned long long* blocks, unsigned long long* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    blocks[i] = ticks[i] / 11u;
    minor[i] = (4u * (ticks[i] % 11u) + ticks[i] / 11u % 11u) % 11u;
}

//=== parameters_in_other_order | 6a968701bfd1c576 | - | takes its two outputs in the other order
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* minor, unsigned int* blocks, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    blocks[i] = ticks[i] / 11u;
    minor[i] = (4u * (ticks[i] % 11u) + ticks[i] / 11u % 11u) % 11u;
}

//=== signed_for_unsigned_bytes | 769ab82e8084a488 | - | takes the bytes as signed: wrong from 128 on
extern "C" __global__ void screen_bytes(const signed char* top, const signed char* dst, unsigned int strength, unsigned char* blended, int nx, int ny)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < ny * nx; k += gridDim.x * blockDim.x) {
        unsigned int s = top[k], d = dst[k];
        unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> 8) + 128u;
        blended[k] = (unsigned char)((u + (u >> 8)) >> 8);
    }
}

//=== int_for_float_scalar | 1e6d9d8c735c5148 | - | takes the scalar as an int: 4 bytes as well, another meaning
extern "C" __global__ void triad(const float* x, const float* y, const float* omegas, const float* basis,
                                 const float* coeffs, int gamma, float* result, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    result[i] = gamma * y[i] + omegas[i] * x[i] + coeffs[0] * basis[i] + coeffs[1] * basis[count + i];
}
