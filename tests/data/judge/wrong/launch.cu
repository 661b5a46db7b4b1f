//=== more_than_launch_bounds | 7fc169c9d64a3b30 | {"grid": ["(w + 31) / 32", "(h + 31) / 32"], "block": [32, 32], "shared_bytes": 0} | 256 threads a block are promised, 1,024 are launched: the launch fails
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
}

//=== more_than_bounds_in_one_axis | 8564ff516394692f | {"grid": ["(n + 511) / 512"], "block": [256], "shared_bytes": 0} | 128 threads a block are promised, 256 are launched
__device__ __forceinline__ void gelu_activation_element(float pre, float shift, float& out)
{
    const float u = pre + shift;
    out = 0.5f * u * (1.0f + erff(u * 0.70710678f));
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

//=== bounds_of_64 | 1e6d9d8c735c5148 | - | 64 threads a block are promised, the row launches 128
extern "C" __global__ void __launch_bounds__(64) triad(
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
    result[tid] = total;
}

//=== bounds_by_attribute | 83ab5c4029ae1378 | - | the same by the attribute that the macro stands for
extern "C" __global__ __attribute__((launch_bounds(128))) void mercator_stretch_kernel(
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

//=== bounds_by_constant | 6a968701bfd1c576 | - | the same through a constant expression
constexpr int kThreads = 512 / 4;

extern "C" __global__ void __launch_bounds__(kThreads * 2, 1) split_numbers(
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== block_of_2048 | 11eba0b176d074f0 | {"grid": ["(m + 2047) / 2048"], "block": [2048], "shared_bytes": 0} | 2,048 threads a block
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
    c[i] = s + offsets[i];
}

//=== block_of_64_by_32 | aedfc487908608bc | {"grid": ["(cols + 63) / 64", "(rows + 31) / 32"], "block": [64, 32], "shared_bytes": 0} | 64 times 32 threads a block are 2,048
extern "C" __global__ void month_length_rule(
    const long long* __restrict__ years,
    const long long* __restrict__ mm,
    long long* __restrict__ out,
    int cols,
    int rows)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) {
        return;
    }
    const int idx = i * cols + j;
    const long long yr = years[idx];
    const long long m = mm[idx];
    long long length = 31ll;
    if (m == 2ll) {
        length = yr % 4ll == 0ll && (yr % 100ll != 0ll || yr % 400ll == 0ll) ? 29ll : 28ll;
    } else if (m == 4ll || m == 6ll || m == 9ll || m == 11ll) {
        length = 30ll;
    }
    out[idx] = length;
}

//=== block_of_three_axes | cc82b68897123073 | {"grid": ["(w + 15) / 16", "(h + 15) / 16", "(c + 7) / 8"], "block": [16, 16, 8], "shared_bytes": 0} | 16 times 16 times 8 threads a block are 2,048
extern "C" __global__ void image_gradient(
    const double* __restrict__ image,
    double* __restrict__ gradient,
    int h,
    int w,
    int c)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int ch = blockIdx.z * blockDim.z + threadIdx.z;
    if (ch >= c || row >= h || col >= w) {
        return;
    }
    const double dx = 0.5
        * (image[(ch * (h + 2) + row + 1) * (w + 2) + col + 2]
            - image[(ch * (h + 2) + row + 1) * (w + 2) + col]);
    const double dy = 0.5
        * (image[(ch * (h + 2) + row + 2) * (w + 2) + col + 1]
            - image[(ch * (h + 2) + row) * (w + 2) + col + 1]);
    const double magnitude = dx * dx + dy * dy;
    gradient[(ch * h + row) * w + col] = magnitude;
}

//=== block_of_zero | 6a968701bfd1c576 | {"grid": ["(n + 511) / 512"], "block": [0], "shared_bytes": 0} | no threads in a block
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== block_z_of_256 | 6a968701bfd1c576 | {"grid": ["(n + 255) / 256"], "block": [1, 1, 256], "shared_bytes": 0} | 256 threads along z: 64 are allowed
extern "C" __global__ void split_numbers(
    const unsigned int* __restrict__ ticks,
    unsigned int* __restrict__ blocks,
    unsigned int* __restrict__ minor,
    int n)
{
    const int i = blockIdx.x * blockDim.z + threadIdx.z;
    if (i >= n) {
        return;
    }
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    blocks[i] = whole;
    minor[i] = rest;
}

//=== block_z_of_65 | 6a968701bfd1c576 | {"grid": ["(n + 64) / 65"], "block": [1, 1, 65], "shared_bytes": 0} | 65 threads along z: 64 are allowed
extern "C" __global__ void split_numbers(
    const unsigned int* __restrict__ ticks,
    unsigned int* __restrict__ blocks,
    unsigned int* __restrict__ minor,
    int n)
{
    const int i = blockIdx.x * 65 + threadIdx.z;
    if (i >= n) {
        return;
    }
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_y_of_rows | 69ebf95c8f2a0696 | {"grid": ["1", "rows"], "block": [1], "shared_bytes": 0} | one block along y for each row: 65,535 are allowed
extern "C" __global__ void switched_on_rows(
    const int* __restrict__ table,
    int length,
    int* __restrict__ result,
    int* __restrict__ totals,
    int rows)
{
    const int i = blockIdx.y;
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
    result[i] = count;
    totals[i] = total;
}

//=== grid_y_of_elements | 6a968701bfd1c576 | {"grid": ["1", "(n + 7) / 8"], "block": [8], "shared_bytes": 0} | blocks of 8 along y: the grid is above 65,535 from 524,281 elements on
extern "C" __global__ void split_numbers(
    const unsigned int* __restrict__ ticks,
    unsigned int* __restrict__ blocks,
    unsigned int* __restrict__ minor,
    int n)
{
    const int i = blockIdx.y * 8 + threadIdx.x;
    if (i >= n) {
        return;
    }
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_z_of_batches | 2f76ea422a113ed2 | {"grid": ["1", "1", "rows"], "block": [32], "shared_bytes": 0} | one block along z for each row: 65,535 are allowed
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
    const int i = blockIdx.z;
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
    n_below = warp_sum(n_below);
    n_above = warp_sum(n_above);
    if (lane != 0) {
        return;
    }
    below[i] = n_below;
    larger[i] = n_above;
}

//=== grid_beyond_two_billion | 6a968701bfd1c576 | {"grid": ["n * 100000000"], "block": [512], "shared_bytes": 0} | more than 2,147,483,647 blocks along x wherever n is above 21
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_of_nothing | 6a968701bfd1c576 | {"grid": ["n - n"], "block": [512], "shared_bytes": 0} | no block at all
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_of_n_less_one | 6a968701bfd1c576 | {"grid": ["n - 1"], "block": [512], "shared_bytes": 0} | n - 1 blocks: none at all where n is 1
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_of_whole_blocks | 6a968701bfd1c576 | {"grid": ["n / 512"], "block": [512], "shared_bytes": 0} | n / 512 blocks: none at all below 512 elements
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_below_zero | 11eba0b176d074f0 | {"grid": ["m - 1000"], "block": [512], "shared_bytes": 0} | a grid below zero where m is under 1,000
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
    c[i] = s + offsets[i];
}

//=== grid_by_zero | 6a968701bfd1c576 | {"grid": ["n / (n - n)"], "block": [512], "shared_bytes": 0} | a grid that is divided by zero
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_of_unknown_name | 6a968701bfd1c576 | {"grid": ["(num_elements + 511) / 512"], "block": [512], "shared_bytes": 0} | a grid of a size that the row does not have
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_of_four_axes | 6a968701bfd1c576 | {"grid": ["(n + 511) / 512", "1", "1", "1"], "block": [512], "shared_bytes": 0} | a grid of four axes
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_of_no_axis | 6a968701bfd1c576 | {"grid": [], "block": [512], "shared_bytes": 0} | a grid without axes
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_of_python | 6a968701bfd1c576 | {"grid": ["__import__('os').getpid()"], "block": [512], "shared_bytes": 0} | a grid that asks Python
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_power | 6a968701bfd1c576 | {"grid": ["n ** n ** n"], "block": [512], "shared_bytes": 0} | a grid of two stars: no expression of C, and astronomic where it is one
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_shift_bomb | 6a968701bfd1c576 | {"grid": ["1 << (n << 30)"], "block": [512], "shared_bytes": 0} | a grid shifted by millions of bits
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
    blocks[i] = whole;
    minor[i] = rest;
}

//=== grid_of_the_smaller_axis | d0baee778ce4cc45 | {"grid": ["(cols + 15) / 16", "(cols + 15) / 16"], "block": [16, 16], "shared_bytes": 0} | both axes of the grid follow cols: rows beyond are never written
extern "C" __global__ void fletcher16(const unsigned char* digits, unsigned int* check, int rows, int cols)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= rows || col >= cols) return;
    unsigned int a = 0, b = 0;
    for (int s = 0; s < 4; ++s) {
        a = (a + digits[(s * rows + row) * cols + col]) % 255u;
        b = (b + a) % 255u;
    }
    check[row * cols + col] = (b << 8) | a;
}

//=== dynamic_shared_by_columns | ecec05d3cab19f98 | {"grid": ["rows"], "block": [64], "shared_bytes": "8 * cols"} | 8 bytes of dynamic shared memory a column: more than 48 KiB, without opting in, from 6,145 columns on
extern "C" __global__ void row_filter(const double* samples, double* filtered, int row_length, int rows)
{
    extern __shared__ double kept[];
    const int i = blockIdx.x;
    for (int c = threadIdx.x; c < row_length; c += blockDim.x) kept[c] = samples[i * row_length + c];
    __syncthreads();
    if (threadIdx.x != 0) return;
    double level = kept[0], largest = 0.0;
    for (int c = 1; c < row_length; ++c) {
        level = level > 0.0 ? level + kept[c] : kept[c];
        largest = fmax(largest, level);
    }
    filtered[i] = largest;
}

//=== dynamic_shared_too_much | ecec05d3cab19f98 | {"grid": ["rows"], "block": [64], "shared_bytes": 65536} | 64 KiB of dynamic shared memory without opting in
extern "C" __global__ void row_filter(const double* samples, double* filtered, int row_length, int rows)
{
    extern __shared__ double kept[];
    const int i = blockIdx.x;
    for (int c = threadIdx.x; c < row_length; c += blockDim.x) kept[c] = samples[i * row_length + c];
    __syncthreads();
    if (threadIdx.x != 0) return;
    double level = kept[0], largest = 0.0;
    for (int c = 1; c < row_length; ++c) {
        level = level > 0.0 ? level + kept[c] : kept[c];
        largest = fmax(largest, level);
    }
    filtered[i] = largest;
}

//=== dynamic_shared_gigabyte | ecec05d3cab19f98 | {"grid": ["rows"], "block": [64], "shared_bytes": 1073741824} | a gigabyte of dynamic shared memory
extern "C" __global__ void row_filter(const double* samples, double* filtered, int row_length, int rows)
{
    extern __shared__ double kept[];
    const int i = blockIdx.x;
    for (int c = threadIdx.x; c < row_length; c += blockDim.x) kept[c] = samples[i * row_length + c];
    __syncthreads();
    if (threadIdx.x != 0) return;
    double level = kept[0], largest = 0.0;
    for (int c = 1; c < row_length; ++c) {
        level = level > 0.0 ? level + kept[c] : kept[c];
        largest = fmax(largest, level);
    }
    filtered[i] = largest;
}

//=== dynamic_shared_forgotten | ecec05d3cab19f98 | {"grid": ["rows"], "block": [64], "shared_bytes": 0} | no dynamic shared memory asked for, a row of it used
extern "C" __global__ void row_filter(const double* samples, double* filtered, int row_length, int rows)
{
    extern __shared__ double kept[];
    const int i = blockIdx.x;
    for (int c = threadIdx.x; c < row_length; c += blockDim.x) kept[c] = samples[i * row_length + c];
    __syncthreads();
    if (threadIdx.x != 0) return;
    double level = kept[0], largest = 0.0;
    for (int c = 1; c < row_length; ++c) {
        level = level > 0.0 ? level + kept[c] : kept[c];
        largest = fmax(largest, level);
    }
    filtered[i] = largest;
}

//=== dynamic_shared_as_floats | ecec05d3cab19f98 | {"grid": ["rows"], "block": [64], "shared_bytes": "4 * cols"} | 4 bytes a column asked for, 8 used
extern "C" __global__ void row_filter(const double* samples, double* filtered, int row_length, int rows)
{
    extern __shared__ double kept[];
    const int i = blockIdx.x;
    for (int c = threadIdx.x; c < row_length; c += blockDim.x) kept[c] = samples[i * row_length + c];
    __syncthreads();
    if (threadIdx.x != 0) return;
    double level = kept[0], largest = 0.0;
    for (int c = 1; c < row_length; ++c) {
        level = level > 0.0 ? level + kept[c] : kept[c];
        largest = fmax(largest, level);
    }
    filtered[i] = largest;
}

//=== dynamic_shared_one_less | ecec05d3cab19f98 | {"grid": ["rows"], "block": [64], "shared_bytes": "8 * (cols - 1)"} | a column too little
extern "C" __global__ void row_filter(const double* samples, double* filtered, int row_length, int rows)
{
    extern __shared__ double kept[];
    const int i = blockIdx.x;
    for (int c = threadIdx.x; c < row_length; c += blockDim.x) kept[c] = samples[i * row_length + c];
    __syncthreads();
    if (threadIdx.x != 0) return;
    double level = kept[0], largest = 0.0;
    for (int c = 1; c < row_length; ++c) {
        level = level > 0.0 ? level + kept[c] : kept[c];
        largest = fmax(largest, level);
    }
    filtered[i] = largest;
}

//=== dynamic_shared_of_visible_row | ecec05d3cab19f98 | {"grid": ["rows"], "block": [64], "shared_bytes": 96} | 96 bytes as the visible row needs: right only for up to 12 columns
extern "C" __global__ void row_filter(const double* samples, double* filtered, int row_length, int rows)
{
    extern __shared__ double kept[];
    const int i = blockIdx.x;
    for (int c = threadIdx.x; c < row_length; c += blockDim.x) kept[c] = samples[i * row_length + c];
    __syncthreads();
    if (threadIdx.x != 0) return;
    double level = kept[0], largest = 0.0;
    for (int c = 1; c < row_length; ++c) {
        level = level > 0.0 ? level + kept[c] : kept[c];
        largest = fmax(largest, level);
    }
    filtered[i] = largest;
}

//=== dynamic_shared_negative | ecec05d3cab19f98 | {"grid": ["rows"], "block": [64], "shared_bytes": -8} | less than no dynamic shared memory
extern "C" __global__ void row_filter(const double* samples, double* filtered, int row_length, int rows)
{
    extern __shared__ double kept[];
    const int i = blockIdx.x;
    for (int c = threadIdx.x; c < row_length; c += blockDim.x) kept[c] = samples[i * row_length + c];
    __syncthreads();
    if (threadIdx.x != 0) return;
    double level = kept[0], largest = 0.0;
    for (int c = 1; c < row_length; ++c) {
        level = level > 0.0 ? level + kept[c] : kept[c];
        largest = fmax(largest, level);
    }
    filtered[i] = largest;
}

//=== static_and_dynamic_shared | f23f4e264fbca565 | {"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 12288} | 40 KiB static and 12 KiB dynamic shared memory are more than 48
extern "C" __global__ void sum_soft_square(const float* stamps, const float* pitches, const float* depths, const float* gains,
                                           float* totals, int num_parts, int n)
{
    __shared__ float hold[10240];
    extern __shared__ float more[];
    const int x = blockIdx.x * 64 + threadIdx.x;
    hold[threadIdx.x] = x < n ? stamps[x] : 0.0f;
    more[threadIdx.x] = 0.0f;
    if (x >= n) return;
    for (int k = 0; k < num_parts; ++k) {
        const float arg = 6.28318531f * pitches[k] * hold[threadIdx.x];
        more[threadIdx.x] += gains[k] * tanhf(2.0f * depths[k] * sinf(arg));
    }
    totals[x] = more[threadIdx.x];
}

//=== cluster_of_three | 1e6d9d8c735c5148 | - | clusters of three blocks: the launch fails wherever the grid is no multiple of three
extern "C" __global__ void __cluster_dims__(3, 1, 1) triad(
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
    result[tid] = total;
}

//=== cluster_of_64 | 1e6d9d8c735c5148 | {"grid": ["(count + 8191) / 8192 * 64"], "block": [128], "shared_bytes": 0} | clusters of 64 blocks: 8 are allowed
extern "C" __global__ void __cluster_dims__(64, 1, 1) triad(
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
    result[tid] = total;
}

//=== too_many_registers | 11eba0b176d074f0 | {"grid": ["(m + 1023) / 1024"], "block": [1024], "shared_bytes": 0} | 160 doubles a thread are alive over a barrier: 1,024 threads of over 64 registers cannot be launched
extern "C" __global__ void dense_vector(
    const float* __restrict__ a,
    const float* __restrict__ x,
    const float* __restrict__ offsets,
    float* __restrict__ c,
    int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[160];
#pragma unroll
    for (int k = 0; k < 160; ++k) {
        v[k] = *(const volatile float*)(x + k % 5);
    }
    __syncthreads();
    float zero = 0.0f;
#pragma unroll
    for (int k = 0; k < 160; ++k) {
        zero += v[159 - k] * v[k] - v[k] * v[159 - k];
    }
    float s = zero;
    for (int p = 0; p < 5; ++p) {
        s += i < m ? a[p * m + i] * x[p] : 0.0f;
    }
    if (i < m) {
        c[i] = s + offsets[i];
    }
}
