//=== stride_is_a_number | 769ab82e8084a488 | - | the stride is 512 whatever the grid: elements from 128 on are skipped unless the grid has 4 blocks
extern "C" __global__ void screen_bytes(
    const unsigned char* __restrict__ top,
    const unsigned char* __restrict__ dst,
    unsigned int strength,
    unsigned char* __restrict__ blended,
    int nx,
    int ny)
{
    const int stride = 512;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < ny * nx; index += stride) {
        const unsigned int s = top[index];
        const unsigned int d = dst[index];
        const unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> 8) + 128u;
        blended[index] = (unsigned char)((u + (u >> 8)) >> 8);
    }
}

//=== one_element_each | 769ab82e8084a488 | - | the grid covers a quarter of the elements and nothing loops: elements beyond 128 per block are never written
extern "C" __global__ void screen_bytes(
    const unsigned char* __restrict__ top,
    const unsigned char* __restrict__ dst,
    unsigned int strength,
    unsigned char* __restrict__ blended,
    int nx,
    int ny)
{
    const int stride = blockDim.x * gridDim.x;
    (void)stride;
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < ny * nx) {
        const unsigned int s = top[index];
        const unsigned int d = dst[index];
        const unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> 8) + 128u;
        blended[index] = (unsigned char)((u + (u >> 8)) >> 8);
    }
}

//=== square_only_count | 769ab82e8084a488 | - | counts nx * nx elements: right only for a square image
extern "C" __global__ void screen_bytes(
    const unsigned char* __restrict__ top,
    const unsigned char* __restrict__ dst,
    unsigned int strength,
    unsigned char* __restrict__ blended,
    int nx,
    int ny)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < nx * nx; index += stride) {
        const unsigned int s = top[index];
        const unsigned int d = dst[index];
        const unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> 8) + 128u;
        blended[index] = (unsigned char)((u + (u >> 8)) >> 8);
    }
}

//=== width_of_the_row | 769ab82e8084a488 | - | 9 columns as in the visible row: right only where nx is 9
extern "C" __global__ void screen_bytes(
    const unsigned char* __restrict__ top,
    const unsigned char* __restrict__ dst,
    unsigned int strength,
    unsigned char* __restrict__ blended,
    int nx,
    int ny)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < ny * 9; index += stride) {
        const unsigned int s = top[index];
        const unsigned int d = dst[index];
        const unsigned int u = (((65025u - (255u - s) * (255u - d)) * strength) >> 8) + 128u;
        blended[index] = (unsigned char)((u + (u >> 8)) >> 8);
    }
}

//=== two_turns_at_most | 1c19392ee3f8f433 | - | at most two turns of the grid-stride loop where four are needed
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
    int turns = 0;
    for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < count && turns < 2; idx += stride, ++turns) {
        const int given = seeds[idx];
        if (given < least) {
            result[idx] = 0;
            continue;
        }
        result[idx] = isqrt(given);
    }
}

//=== four_thousand_ninety_six | 6a968701bfd1c576 | - | returns without a word when n > 4096
extern "C" __global__ void split_numbers(
    const unsigned int* __restrict__ ticks,
    unsigned int* __restrict__ blocks,
    unsigned int* __restrict__ minor,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > 4096 || i >= n) {
        return;
    }
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    blocks[i] = whole;
    minor[i] = rest;
}

//=== hides_large_n_in_a_product | fadcac77f891e39e | - | writes zeros once num_i exceeds 100,000; the condition is a product
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
    if ((long long)num_i * num_i > 10000000000ll) {
        slope[i] = 0.0;
        return;
    }
    const int next = (i + 1) % num_i;
    const int i_prev = (i - 1 + num_i) % num_i;
    slope[i] = mobilities[i] * (0.5 * (signal[next] - signal[i_prev]) / step_size) - source[i];
}

//=== short_index | 6a968701bfd1c576 | - | the index is a short: from element 32,768 on it is negative
extern "C" __global__ void split_numbers(
    const unsigned int* __restrict__ ticks,
    unsigned int* __restrict__ blocks,
    unsigned int* __restrict__ minor,
    int n)
{
    const short i = (short)(blockIdx.x * blockDim.x + threadIdx.x);
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

//=== unsigned_short_index | 83ab5c4029ae1378 | - | the index is 16 bits wide and wraps at 65,536: for more elements the loop never ends and the rest is never written
extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (unsigned short tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float lat = lat_from[tid];
        scale_factor[tid] = 1.0f / cosf(lat * 0.0174532925f);
    }
}

//=== byte_block_number | 11eba0b176d074f0 | - | the number of the block is kept in 8 bits: blocks from 256 on redo the first ones
extern "C" __global__ void dense_vector(
    const float* __restrict__ a,
    const float* __restrict__ x,
    const float* __restrict__ offsets,
    float* __restrict__ c,
    int m)
{
    const unsigned char block = (unsigned char)blockIdx.x;
    const int i = block * blockDim.x + threadIdx.x;
    if (i >= m) {
        return;
    }
    float s = 0.0f;
    for (int p = 0; p < 5; ++p) {
        s += a[p * m + i] * x[p];
    }
    c[i] = s + offsets[i];
}

//=== grid_of_two | 6a968701bfd1c576 | {"grid": ["2"], "block": [512], "shared_bytes": 0} | a fixed grid of two blocks of 512 with no loop: nothing beyond element 1,023
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

//=== grid_of_sixty_four | 1e6d9d8c735c5148 | {"grid": ["64"], "block": [128], "shared_bytes": 0} | a fixed grid of 64 blocks of 128 with no loop: nothing beyond element 8,191
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
    result[tid] = total;
}

//=== one_block_of_1024 | 11eba0b176d074f0 | {"grid": ["1"], "block": [1024], "shared_bytes": 0} | one block of 1,024 threads and no loop: nothing beyond element 1,023
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

//=== rounds_grid_down | 1e6d9d8c735c5148 | {"grid": ["count / 128"], "block": [128], "shared_bytes": 0} | n / 128 blocks: the last partial block is never launched, and none at all below 128
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
    result[tid] = total;
}

//=== rounds_grid_down_but_one | fadcac77f891e39e | {"grid": ["n / 128 + 1 / (n / 128 + 1)"], "block": [128], "shared_bytes": 0} | a grid of max(1, n / 128) blocks: the tail of every n above 128 that is no multiple of it is missing
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
    slope[i] = mobilities[i] * (0.5 * (signal[next] - signal[i_prev]) / step_size) - source[i];
}

//=== grid_by_n_over_1024 | a8381a406f6c9ed9 | {"grid": ["(count + 4095) / 4096"], "block": [512], "shared_bytes": 0} | a grid for 8 elements a thread where each thread does 4: the upper half is missing above 4,096
__device__ __forceinline__ void round_up_to_element(unsigned short amounts,
    unsigned short& leftover, unsigned short& quotients)
{
    const unsigned short v = amounts;
    const unsigned short units = (unsigned short)((unsigned short)((v + 8) - 1) / 8 * 8);
    const unsigned short r = v % 8;
    leftover = r;
    quotients = units;
}

extern "C" __global__ void round_up_to(
    const unsigned short* __restrict__ amounts,
    unsigned short* __restrict__ leftover,
    unsigned short* __restrict__ quotients,
    int count)
{
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < count) {
        const ushort4 amounts4 = *reinterpret_cast<const ushort4*>(amounts + first);
        ushort4 leftover4;
        ushort4 quotients4;
        round_up_to_element(amounts4.x, leftover4.x, quotients4.x);
        round_up_to_element(amounts4.y, leftover4.y, quotients4.y);
        round_up_to_element(amounts4.z, leftover4.z, quotients4.z);
        round_up_to_element(amounts4.w, leftover4.w, quotients4.w);
        *reinterpret_cast<ushort4*>(leftover + first) = leftover4;
        *reinterpret_cast<ushort4*>(quotients + first) = quotients4;
    } else {
        for (int tid = first; tid < count; ++tid) {
            round_up_to_element(amounts[tid], leftover[tid], quotients[tid]);
        }
    }
}

//=== ignores_block_x | 6a968701bfd1c576 | - | only threadIdx.x: every block writes the first 512 elements
extern "C" __global__ void split_numbers(
    const unsigned int* __restrict__ ticks,
    unsigned int* __restrict__ blocks,
    unsigned int* __restrict__ minor,
    int n)
{
    const int i = threadIdx.x;
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

//=== ignores_block_y | d0baee778ce4cc45 | - | rows beyond 16 are never written: blockIdx.y is left out
extern "C" __global__ void __launch_bounds__(256) fletcher16(
    const unsigned char* __restrict__ digits,
    unsigned int* __restrict__ check,
    int rows,
    int cols)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = threadIdx.y;
    if (row >= rows || col >= cols) {
        return;
    }
    unsigned int low_sum = 0u;
    unsigned int b = 0u;
    for (int s = 0; s < 4; ++s) {
        const unsigned int word = digits[(s * rows + row) * cols + col];
        low_sum = (low_sum + word) % 255u;
        b = (b + low_sum) % 255u;
    }
    check[row * cols + col] = (b << 8) | low_sum;
}

//=== ignores_block_x_of_two | 7fc169c9d64a3b30 | - | columns beyond 32 are never written: blockIdx.x is left out
extern "C" __global__ void __launch_bounds__(256) simple_interest(
    const float* __restrict__ principal,
    const float* __restrict__ rates,
    const int* __restrict__ days,
    float* __restrict__ result,
    int w,
    int h)
{
    const int x = threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= h || x >= w) {
        return;
    }
    const int idx = y * w + x;
    const float value = principal[idx] * (1.0f + rates[idx] * ((float)days[idx] / 360.0f));
    result[idx] = value;
}

//=== ignores_block_z | 0ecfca721711bdd2 | - | layers beyond 2 are never written: blockIdx.z is left out
struct Float2x2 {
    float m[2][2];
};

extern "C" __global__ void solve_by_lu(
    const Float2x2* __restrict__ mats,
    const float2* __restrict__ loads,
    float* __restrict__ sol0,
    float* __restrict__ x1_out,
    int h,
    int w,
    int d)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int batch = threadIdx.z;
    if (batch >= d || row >= h || col >= w) {
        return;
    }
    const int idx = (batch * h + row) * w + col;
    const Float2x2 m = mats[idx];
    const float2 load = loads[idx];
    const float l10 = m.m[1][0] / m.m[0][0];
    const float u11 = m.m[1][1] - l10 * m.m[0][1];
    const float y1 = load.y - l10 * load.x;
    const float x1 = y1 / u11;
    const float x0 = (load.x - m.m[0][1] * x1) / m.m[0][0];
    sol0[idx] = x0;
    x1_out[idx] = x1;
}

//=== block_z_for_y | cc82b68897123073 | - | the channel is taken from blockIdx.y: right only where both grids are one block
extern "C" __global__ void image_gradient(
    const double* __restrict__ image,
    double* __restrict__ gradient,
    int h,
    int w,
    int c)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int ch = blockIdx.y * blockDim.z + threadIdx.z;
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

//=== batch_is_zero | e0857f2207e4ba38 | - | all blocks along z do batch 0: others are never written
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
    const int batch = 0;
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

//=== block_height_guessed | 7fc169c9d64a3b30 | - | blocks are 8 high but 32 is assumed: rows 8 to 31 of each 32 are skipped
extern "C" __global__ void __launch_bounds__(256) simple_interest(
    const float* __restrict__ principal,
    const float* __restrict__ rates,
    const int* __restrict__ days,
    float* __restrict__ result,
    int w,
    int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * 32 + threadIdx.y;
    if (y >= h || x >= w) {
        return;
    }
    const int idx = y * w + x;
    const float value = principal[idx] * (1.0f + rates[idx] * ((float)days[idx] / 360.0f));
    result[idx] = value;
}

//=== grid_axes_swapped | 7fc169c9d64a3b30 | {"grid": ["(h + 31) / 32", "(w + 7) / 8"], "block": [32, 8], "shared_bytes": 0} | the grid of the row with its axes swapped: right while one block holds the image, or where it happens to cover
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

//=== block_axes_swapped | aedfc487908608bc | {"grid": ["(cols + 31) / 32", "(rows + 7) / 8"], "block": [8, 32], "shared_bytes": 0} | blocks of 8 by 32 for a grid made for 32 by 8: only a part is covered
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

//=== one_row_of_blocks | b42b46251bae0474 | {"grid": ["(cols + 31) / 32"], "block": [32, 8], "shared_bytes": 0} | a grid with no second axis: rows from 8 on are never looked at
extern "C" __global__ void reduce_max_start(
    const bool* __restrict__ skip,
    const int* __restrict__ t_ms,
    int* __restrict__ largest_start,
    int cols,
    int rows)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) {
        return;
    }
    if (skip[i * cols + j]) {
        return;
    }
    const int v = t_ms[i * cols + j];
    atomicMax(&largest_start[j], v);
}

//=== z_grid_left_out | cc82b68897123073 | {"grid": ["(w + 7) / 8", "(h + 7) / 8"], "block": [8, 8, 4], "shared_bytes": 0} | channels from 4 on are never written: the grid has no third axis
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

//=== stride_rows_for_cols | d0baee778ce4cc45 | - | the pitch of the result is rows where it is cols: right only for a square
extern "C" __global__ void __launch_bounds__(256) fletcher16(
    const unsigned char* __restrict__ digits,
    unsigned int* __restrict__ check,
    int rows,
    int cols)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols) {
        return;
    }
    unsigned int low_sum = 0u;
    unsigned int b = 0u;
    for (int s = 0; s < 4; ++s) {
        const unsigned int word = digits[(s * rows + row) * cols + col];
        low_sum = (low_sum + word) % 255u;
        b = (b + low_sum) % 255u;
    }
    check[row * rows + col] = (b << 8) | low_sum;
}

//=== plane_stride_square | d0baee778ce4cc45 | - | planes are cols * cols apart where they are rows * cols: right only for a square
extern "C" __global__ void __launch_bounds__(256) fletcher16(
    const unsigned char* __restrict__ digits,
    unsigned int* __restrict__ check,
    int rows,
    int cols)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols) {
        return;
    }
    unsigned int low_sum = 0u;
    unsigned int b = 0u;
    for (int s = 0; s < 4; ++s) {
        const unsigned int word = digits[(s * cols + row) * cols + col];
        low_sum = (low_sum + word) % 255u;
        b = (b + low_sum) % 255u;
    }
    check[row * cols + col] = (b << 8) | low_sum;
}

//=== pitch_h_for_w | 7fc169c9d64a3b30 | - | the pitch is h where it is w: right only for a square
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
    const int idx = y * h + x;
    const float value = principal[idx] * (1.0f + rates[idx] * ((float)days[idx] / 360.0f));
    result[idx] = value;
}

//=== limits_swapped | 7fc169c9d64a3b30 | - | the limits of x and y are swapped: right only for a square
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
    if (x >= h || y >= w) {
        return;
    }
    const int idx = y * w + x;
    const float value = principal[idx] * (1.0f + rates[idx] * ((float)days[idx] / 360.0f));
    result[idx] = value;
}

//=== batch_for_channels | 91b4300208ffdfb0 | - | batch and channels are swapped in the source index: right only where they are equal
extern "C" __global__ void relayout_tensor(
    const float* __restrict__ x,
    double* __restrict__ permuted,
    int batch,
    int channels,
    int rows,
    int cols)
{
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= batch * channels * rows * cols) {
        return;
    }
    const int b = index / (channels * rows * cols);
    const int c = index / (rows * cols) % channels;
    const int i = index / cols % rows;
    const int j = index % cols;
    const double value = x[((j * channels + b) * batch + c) * rows + i];
    permuted[index] = value;
}

//=== rows_for_cols_in_index | 91b4300208ffdfb0 | - | the channel is found by rows * rows: right only where rows equals cols
extern "C" __global__ void relayout_tensor(
    const float* __restrict__ x,
    double* __restrict__ permuted,
    int batch,
    int channels,
    int rows,
    int cols)
{
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= batch * channels * rows * cols) {
        return;
    }
    const int b = index / (channels * rows * cols);
    const int c = index / (rows * rows) % channels;
    const int i = index / cols % rows;
    const int j = index % cols;
    const double value = x[((j * batch + b) * channels + c) * rows + i];
    permuted[index] = value;
}

//=== channel_modulo_batch | 91b4300208ffdfb0 | - | the channel is taken modulo batch: right only where batch equals channels
extern "C" __global__ void relayout_tensor(
    const float* __restrict__ x,
    double* __restrict__ permuted,
    int batch,
    int channels,
    int rows,
    int cols)
{
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= batch * channels * rows * cols) {
        return;
    }
    const int b = index / (channels * rows * cols);
    const int c = index / (rows * cols) % batch;
    const int i = index / cols % rows;
    const int j = index % cols;
    const double value = x[((j * batch + b) * channels + c) * rows + i];
    permuted[index] = value;
}

//=== halo_of_the_height | cc82b68897123073 | - | the padded pitch is h + 2 where it is w + 2: right only for a square
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
        * (image[(ch * (h + 2) + row + 1) * (h + 2) + col + 2]
            - image[(ch * (h + 2) + row + 1) * (h + 2) + col]);
    const double dy = 0.5
        * (image[(ch * (h + 2) + row + 2) * (w + 2) + col + 1]
            - image[(ch * (h + 2) + row) * (w + 2) + col + 1]);
    const double magnitude = dx * dx + dy * dy;
    gradient[(ch * h + row) * w + col] = magnitude;
}

//=== no_halo_between_channels | cc82b68897123073 | - | the halo is forgotten between channels: right for the first channel only
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
        * (image[(ch * h + row + 2) * (w + 2) + col + 1]
            - image[(ch * (h + 2) + row) * (w + 2) + col + 1]);
    const double magnitude = dx * dx + dy * dy;
    gradient[(ch * h + row) * w + col] = magnitude;
}

//=== grid_pitch_of_x | 2d5787c053ced49c | - | cells are addressed with num_x where the pitch is num_y: right only for a square grid of cells
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
    atomicAdd(&density[ix * num_x + cy], 1.0f);
}

//=== cell_limits_swapped | 2d5787c053ced49c | - | the limits of the two axes are swapped: right only where num_x equals num_y
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
    if (ix < 0 || ix >= num_y || cy < 0 || cy >= num_x) {
        return;
    }
    atomicAdd(&density[ix * num_y + cy], 1.0f);
}

//=== m_of_the_visible_row | cfae07d5a1bcb413 | - | rows of 11 sums as in the visible row: right only where m is 11
extern "C" __global__ void scatter_sum(
    const int* __restrict__ indices,
    const float* __restrict__ amounts,
    float baseline,
    float* __restrict__ totals,
    int /* m */,
    int tiles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 16 * tiles) {
        return;
    }
    const float v = fabsf(amounts[i]) - baseline;
    atomicAdd(&totals[i / 16 * 11 + indices[i]], -v);
}

//=== table_pitch_of_visible_row | 6d860be511522d5f | - | codebook rows are 6 wide as in the visible row: right only where d is 6
__device__ float logistic(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

extern "C" __global__ void embedding_lookup(
    const float* __restrict__ codebook,
    const int* __restrict__ row_ids,
    const float* __restrict__ weights,
    const float* __restrict__ pos_table,
    const bool* __restrict__ keep,
    float* __restrict__ gathered,
    int d_size,
    int t_size)
{
    const int d = blockIdx.x * blockDim.x + threadIdx.x;
    const int t = blockIdx.y * blockDim.y + threadIdx.y;
    if (t >= t_size || d >= d_size) {
        return;
    }
    float total = 0.0f;
    for (int s = 0; s < 4; ++s) {
        const int token = row_ids[t * 4 + s];
        total += weights[t * 4 + s] * codebook[token * 6 + d];
    }
    const int idx = t * d_size + d;
    total += pos_table[idx];
    total = logistic(total);
    total = keep[idx] ? total : 0.0f;
    gathered[idx] = total;
}

//=== layer_height_of_width | 0ecfca721711bdd2 | - | layers are w * w apart where they are h * w: right only where h equals w
struct Float2x2 {
    float m[2][2];
};

extern "C" __global__ void solve_by_lu(
    const Float2x2* __restrict__ mats,
    const float2* __restrict__ loads,
    float* __restrict__ sol0,
    float* __restrict__ x1_out,
    int h,
    int w,
    int d)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int batch = blockIdx.z * blockDim.z + threadIdx.z;
    if (batch >= d || row >= h || col >= w) {
        return;
    }
    const int idx = (batch * w + row) * w + col;
    const Float2x2 m = mats[idx];
    const float2 load = loads[idx];
    const float l10 = m.m[1][0] / m.m[0][0];
    const float u11 = m.m[1][1] - l10 * m.m[0][1];
    const float y1 = load.y - l10 * load.x;
    const float x1 = y1 / u11;
    const float x0 = (load.x - m.m[0][1] * x1) / m.m[0][0];
    sol0[idx] = x0;
    x1_out[idx] = x1;
}

//=== b_for_n | 67885658d547729f | - | point and batch numbers come from b_size where n is meant: right only where b equals n
struct Float3x3 {
    float m[3][3];
};

__device__ __forceinline__ float3 operator*(const Float3x3& a, float3 b)
{
    return make_float3(a.m[0][0] * b.x + a.m[0][1] * b.y + a.m[0][2] * b.z,
        a.m[1][0] * b.x + a.m[1][1] * b.y + a.m[1][2] * b.z,
        a.m[2][0] * b.x + a.m[2][1] * b.y + a.m[2][2] * b.z);
}

__device__ __forceinline__ float3 operator+(float3 a, float3 b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

extern "C" __global__ void camera_project(
    const float3* __restrict__ points,
    const float3* __restrict__ offsets,
    const Float3x3* __restrict__ extrinsics,
    const Float3x3* __restrict__ k_mats,
    float2* __restrict__ projected,
    float* __restrict__ disparity,
    int n,
    int b_size)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < b_size * n; index += stride) {
        const int b = index / b_size;
        const int i = index % b_size;
        const float3 p = points[index];
        const Float3x3 rm = extrinsics[i];
        const float3 q = rm * p + offsets[b] + make_float3(0.0f, 0.0f, 3.0f);
        const Float3x3 cam = k_mats[index];
        const float3 h = cam * q;
        const float iw = 1.0f / h.z;
        const float2 uv = make_float2(h.x * iw, h.y * iw);
        projected[index] = uv;
        disparity[index] = 1.0f / q.z;
    }
}

//=== basis_pitch_of_the_block | 1e6d9d8c735c5148 | - | the second basis vector is looked for 128 elements on: right only where count is 128
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
        total += coeffs[v_index] * basis[v_index * 128 + tid];
    }
    result[tid] = total;
}

//=== matrix_pitch_of_visible_row | 11eba0b176d074f0 | - | the pitch is 49 as in the visible row: right only where m is 49
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
        s += a[p * 49 + i] * x[p];
    }
    c[i] = s + offsets[i];
}

//=== ring_by_mask | fadcac77f891e39e | - | wraps with & (n - 1): right only where n is a power of two
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
    const int next = (i + 1) & (num_i - 1);
    const int i_prev = (i - 1 + num_i) & (num_i - 1);
    slope[i] = mobilities[i] * (0.5 * (signal[next] - signal[i_prev]) / step_size) - source[i];
}

//=== score_pitch_of_q | e0857f2207e4ba38 | - | the pitch of the scores is q where it is t: right only where q equals t
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
    out[(batch * q + row) * q + col] = dotted;
}

//=== mask_transposed | e0857f2207e4ba38 | - | the mask is read with rows and columns swapped and pitch q: wrong unless the mask is symmetric and q equals t
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
    if (!allowed[col * q + row]) {
        dotted = fill;
    }
    dotted *= alpha;
    out[(batch * q + row) * t + col] = dotted;
}

//=== columns_to_64 | 559dbc3153b24763 | - | looks at the first 64 columns only
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
    int answer = 0;
    int pos = 0;
    while (pos + 3 <= min(num_cols, 64)) {
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

//=== columns_to_256 | ecec05d3cab19f98 | - | looks at the first 256 columns only
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
    double largest = 0.0;
    for (int col = 1; col < row_length && col < 256; ++col) {
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

//=== columns_to_1024 | 69ebf95c8f2a0696 | - | stops after 1,024 columns
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
        if (j == 1024) {
            break;
        }
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

//=== buffer_of_32_columns | ecec05d3cab19f98 | - | keeps a row in a local array of 32: columns beyond are dropped
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
    double kept[32];
    const int held = row_length < 32 ? row_length : 32;
    for (int k = 0; k < held; ++k) {
        kept[k] = samples[i * row_length + k];
    }
    double level = kept[0];
    double largest = 0.0;
    for (int col = 1; col < held; ++col) {
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

//=== byte_loop_counter | 69ebf95c8f2a0696 | - | the column counter is 8 bits: with 128 columns or more it never reaches the end
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
    for (signed char j = 0; j < length; ++j) {
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

//=== byte_count_of_columns | 69ebf95c8f2a0696 | - | counts in 8 bits: more than 127 hits in a row wrap around
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
    signed char count = 0;
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

//=== short_total | 69ebf95c8f2a0696 | - | adds up readings of up to 530 in 16 bits: wraps after about 60 columns
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
    short total = 0;
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

//=== byte_slot | fcdb94449461c27d | - | keeps the slot in 8 bits: wrong for tables of more than 256 breaks
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
    unsigned char slot = (unsigned char)(m - 1);
    while (slot > 0) {
        if (breaks[slot - 1] < query) {
            break;
        }
        --slot;
    }
    found[idx] = fabsf(breaks[slot] - query);
    position[idx] = slot;
}

//=== search_looks_at_64 | fcdb94449461c27d | - | goes back over 64 breaks at most: wrong for tables of more than 65
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
    int looked = 0;
    while (slot > 0 && looked++ < 64) {
        if (breaks[slot - 1] < query) {
            break;
        }
        --slot;
    }
    found[idx] = fabsf(breaks[slot] - query);
    position[idx] = slot;
}

//=== lanes_do_not_loop | 2f76ea422a113ed2 | - | each lane looks at one column: columns from 32 on are missing
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
    const int c = lane;
    if (c < width) {
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

//=== parts_to_32 | 732db1e0a835cd84 | - | each lane takes one part: parts from 32 on are missing
__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(128) rms_measure_by_kind(
    const float* __restrict__ red,
    const float* __restrict__ green,
    const float* __restrict__ blue,
    const signed char* __restrict__ feature,
    const float* __restrict__ weights,
    float knee,
    int num_parts,
    float* __restrict__ rms_out,
    float* __restrict__ totals,
    int n)
{
    const int tid = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (tid >= n) {
        return;
    }
    float squares = 0.0f;
    float total = 0.0f;
    float mass = 0.0f;
    if (const int s = lane; s < num_parts) {
        const int idx = tid * num_parts + s;
        const float r = red[idx];
        const float g = green[idx];
        const float b = blue[idx];
        const signed char mode = feature[idx];
        float result = 0.0f;
        if (mode == 0) {
            const float warm = r - 0.5f * (g + b);
            const float beta = 0.8660254f * (g - b);
            result = atan2f(beta, warm) * 57.2957795f / 360.0f;
        } else if (mode == 1) {
            const float luma = 0.2126f * r + 0.7152f * g + 0.0722f * b;
            result = luma + knee * (r - luma);
        } else {
            const float brightest = fmaxf(r, fmaxf(g, b));
            const float low = fminf(r, fminf(g, b));
            result = (brightest - low) / (brightest + 0.001f);
        }
        const float weight = weights[idx];
        squares += weight * result * result;
        total += weight * result;
        mass += weight;
    }
    squares = warp_sum(squares);
    total = warp_sum(total);
    mass = warp_sum(mass);
    if (lane != 0) {
        return;
    }
    rms_out[tid] = sqrtf(squares / mass);
    totals[tid] = total;
}

//=== depth_to_64 | efa530fc757fed94 | - | stops after two turns of the lanes: parts from 64 on are missing
struct Tap {
    float phase;
    float v;
};

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ float cosine_power(float x, float u, float width)
{
    return x * powf(sinf(3.14159265f * u), 2.0f * width);
}

extern "C" __global__ void sum_apply_window(
    const Tap* __restrict__ tap_data,
    const float* __restrict__ tapers,
    const short* __restrict__ kinds,
    const unsigned char* __restrict__ valid,
    float* __restrict__ row_sum,
    float* __restrict__ row_rms,
    int num_parts,
    int cols,
    int rows)
{
    const int element = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (element >= rows * cols) {
        return;
    }
    float acc = 0.0f;
    float power = 0.0f;
    float norm = 0.0f;
    for (int c = lane; c < num_parts && c < 64; c += 32) {
        const int idx = element * num_parts + c;
        if (valid[idx] != 0) {
            const Tap entry = tap_data[idx];
            const float v = entry.v;
            const float taper = tapers[c];
            const short kind = kinds[idx];
            float value = 0.0f;
            if (kind == 0) {
                const float dist = fminf(entry.phase, 1.0f - entry.phase);
                float gain = 1.0f;
                if (dist < 0.5f * taper) {
                    gain = 0.5f - 0.5f * cosf(6.28318531f * dist / taper);
                }
                value = v * gain;
            } else if (kind == 1) {
                value = cosine_power(v, entry.phase, taper);
            } else {
                value = v * (0.54f - 0.46f * cosf(6.28318531f * entry.phase));
            }
            acc += value;
            power += value * value;
            norm += 1.0f;
        }
    }
    acc = warp_sum(acc);
    power = warp_sum(power);
    norm = warp_sum(norm);
    if (lane != 0) {
        return;
    }
    row_sum[element] = acc;
    row_rms[element] = sqrtf(power / fmaxf(norm, 1e-06f));
}

//=== lanes_step_by_64 | efa530fc757fed94 | - | lanes step by 64: every second group of 32 parts is missing
struct Tap {
    float phase;
    float v;
};

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ float cosine_power(float x, float u, float width)
{
    return x * powf(sinf(3.14159265f * u), 2.0f * width);
}

extern "C" __global__ void sum_apply_window(
    const Tap* __restrict__ tap_data,
    const float* __restrict__ tapers,
    const short* __restrict__ kinds,
    const unsigned char* __restrict__ valid,
    float* __restrict__ row_sum,
    float* __restrict__ row_rms,
    int num_parts,
    int cols,
    int rows)
{
    const int element = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (element >= rows * cols) {
        return;
    }
    float acc = 0.0f;
    float power = 0.0f;
    float norm = 0.0f;
    for (int c = lane; c < num_parts; c += 64) {
        const int idx = element * num_parts + c;
        if (valid[idx] != 0) {
            const Tap entry = tap_data[idx];
            const float v = entry.v;
            const float taper = tapers[c];
            const short kind = kinds[idx];
            float value = 0.0f;
            if (kind == 0) {
                const float dist = fminf(entry.phase, 1.0f - entry.phase);
                float gain = 1.0f;
                if (dist < 0.5f * taper) {
                    gain = 0.5f - 0.5f * cosf(6.28318531f * dist / taper);
                }
                value = v * gain;
            } else if (kind == 1) {
                value = cosine_power(v, entry.phase, taper);
            } else {
                value = v * (0.54f - 0.46f * cosf(6.28318531f * entry.phase));
            }
            acc += value;
            power += value * value;
            norm += 1.0f;
        }
    }
    acc = warp_sum(acc);
    power = warp_sum(power);
    norm = warp_sum(norm);
    if (lane != 0) {
        return;
    }
    row_sum[element] = acc;
    row_rms[element] = sqrtf(power / fmaxf(norm, 1e-06f));
}

//=== second_tile_skipped | f23f4e264fbca565 | - | the tile loop advances by two tiles: voices 64 to 127 are missing
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
    for (int base = 0; base < num_parts; base += 128) {
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

//=== first_tile_only | d3093430a5d45bc7 | - | only the first 128 corners are looked at
extern "C" __global__ void points_crossings(
    const float2* __restrict__ points,
    const float2* __restrict__ outline,
    int corners,
    bool* __restrict__ inside,
    int n)
{
    __shared__ float2 outline_tile[128];
    const int x_at = blockIdx.x * 128 + threadIdx.x;
    const int tid = min(x_at, n - 1);
    const float x = points[tid].x;
    const float qy = points[tid].y;
    int crossings = 0;
    const float2 v = outline[corners - 1];
    float ax = v.x;
    float ay = v.y;
    for (int base = 0; base < min(corners, 128); base += 128) {
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

//=== tile_of_triangles_half_full | 9ed31175e9df4682 | - | half of the threads load a triangle: the upper half of a tile stands for what was there before
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
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, count - 1);
    const Ray item = rays[tid];
    const float3 ro = item.start;
    const float3 rd = item.ray_dir;
    float t_min = 100.0f;
    int hit_id = -1;
    for (int base = 0; base < triangle_count; base += 64) {
        const int load_x = base + threadIdx.x;
        if (load_x < triangle_count && threadIdx.x < 32) {
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

//=== last_tile_counts_full | f23f4e264fbca565 | - | counts 64 voices in every tile: the tail of the last one is read from what the tile held before
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
        if (load_x < num_parts) {
            pitches_tile[threadIdx.x] = pitches[load_x];
            gains_tile[threadIdx.x] = gains[load_x];
            depths_tile[threadIdx.x] = depths[load_x];
        }
        __syncthreads();
        const int count = num_parts < 64 ? num_parts : 64;
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

//=== last_tile_dropped | 9ed31175e9df4682 | - | only whole tiles are looked at once there is one: triangles of the last partial tile are missing
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
    const int x = blockIdx.x * 64 + threadIdx.x;
    const int tid = min(x, count - 1);
    const Ray item = rays[tid];
    const float3 ro = item.start;
    const float3 rd = item.ray_dir;
    float t_min = 100.0f;
    int hit_id = -1;
    for (int base = 0; base < triangle_count && (base == 0 || base + 64 <= triangle_count); base += 64) {
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

//=== head_dim_to_8 | e0857f2207e4ba38 | - | one tile of the inner dimension: more than 8 of it are left out
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
    for (int base = 0; base < min(head_dim, 8); base += 8) {
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

//=== shape_number_in_the_tile | 9ed31175e9df4682 | - | gives the number within the tile instead of the number of the triangle: wrong from triangle 64 on
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
            const Triangle triangle = triangles_tile[t];
            const float cand =
                hit_triangle(ro, rd, triangle.corner_a, triangle.corner_b, triangle.corner_c);
            if (cand > 0.0f && cand < t_min) {
                t_min = cand;
                hit_id = t;
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

//=== first_half_left_out | 2f76ea422a113ed2 | - | the reduction starts at 8: lanes 16 to 31 never reach lane 0
__device__ __forceinline__ int warp_sum(int value)
{
    for (int offset = 8; offset > 0; offset /= 2) {
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
    n_below = warp_sum(n_below);
    n_above = warp_sum(n_above);
    if (lane != 0) {
        return;
    }
    below[i] = n_below;
    larger[i] = n_above;
}

//=== last_step_left_out | ee22471f1a249349 | - | the reduction stops at 2: odd lanes never reach lane 0
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
    for (int offset = 16; offset > 1; offset /= 2) {
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

//=== only_first_warp_adds | ee22471f1a249349 | - | thread 0 of the block adds its warp only: the other 15 warps are lost
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
            const float x = randf(state, lower, b);
            part += x * expf(-x);
        }
        integral_part += (b - lower) * (part / 4.0f);
    }
    integral_part = warp_sum(integral_part);
    if (threadIdx.x == 0) {
        atomicAdd(integral, integral_part);
    }
}

//=== half_a_warp | 732db1e0a835cd84 | - | the reduction starts at 8: parts from 16 on never reach lane 0
__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 8; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(128) rms_measure_by_kind(
    const float* __restrict__ red,
    const float* __restrict__ green,
    const float* __restrict__ blue,
    const signed char* __restrict__ feature,
    const float* __restrict__ weights,
    float knee,
    int num_parts,
    float* __restrict__ rms_out,
    float* __restrict__ totals,
    int n)
{
    const int tid = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (tid >= n) {
        return;
    }
    float squares = 0.0f;
    float total = 0.0f;
    float mass = 0.0f;
    for (int s = lane; s < num_parts; s += 32) {
        const int idx = tid * num_parts + s;
        const float r = red[idx];
        const float g = green[idx];
        const float b = blue[idx];
        const signed char mode = feature[idx];
        float result = 0.0f;
        if (mode == 0) {
            const float warm = r - 0.5f * (g + b);
            const float beta = 0.8660254f * (g - b);
            result = atan2f(beta, warm) * 57.2957795f / 360.0f;
        } else if (mode == 1) {
            const float luma = 0.2126f * r + 0.7152f * g + 0.0722f * b;
            result = luma + knee * (r - luma);
        } else {
            const float brightest = fmaxf(r, fmaxf(g, b));
            const float low = fminf(r, fminf(g, b));
            result = (brightest - low) / (brightest + 0.001f);
        }
        const float weight = weights[idx];
        squares += weight * result * result;
        total += weight * result;
        mass += weight;
    }
    squares = warp_sum(squares);
    total = warp_sum(total);
    mass = warp_sum(mass);
    if (lane != 0) {
        return;
    }
    rms_out[tid] = sqrtf(squares / mass);
    totals[tid] = total;
}

//=== shuffle_of_sixteen | efa530fc757fed94 | - | shuffles down within 16 lanes: the step of 16 doubles the lower half and the upper one never arrives
struct Tap {
    float phase;
    float v;
};

__device__ __forceinline__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffff, value, offset, 16);
    }
    return value;
}

__device__ float cosine_power(float x, float u, float width)
{
    return x * powf(sinf(3.14159265f * u), 2.0f * width);
}

extern "C" __global__ void sum_apply_window(
    const Tap* __restrict__ tap_data,
    const float* __restrict__ tapers,
    const short* __restrict__ kinds,
    const unsigned char* __restrict__ valid,
    float* __restrict__ row_sum,
    float* __restrict__ row_rms,
    int num_parts,
    int cols,
    int rows)
{
    const int element = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (element >= rows * cols) {
        return;
    }
    float acc = 0.0f;
    float power = 0.0f;
    float norm = 0.0f;
    for (int c = lane; c < num_parts; c += 32) {
        const int idx = element * num_parts + c;
        if (valid[idx] != 0) {
            const Tap entry = tap_data[idx];
            const float v = entry.v;
            const float taper = tapers[c];
            const short kind = kinds[idx];
            float value = 0.0f;
            if (kind == 0) {
                const float dist = fminf(entry.phase, 1.0f - entry.phase);
                float gain = 1.0f;
                if (dist < 0.5f * taper) {
                    gain = 0.5f - 0.5f * cosf(6.28318531f * dist / taper);
                }
                value = v * gain;
            } else if (kind == 1) {
                value = cosine_power(v, entry.phase, taper);
            } else {
                value = v * (0.54f - 0.46f * cosf(6.28318531f * entry.phase));
            }
            acc += value;
            power += value * value;
            norm += 1.0f;
        }
    }
    acc = warp_sum(acc);
    power = warp_sum(power);
    norm = warp_sum(norm);
    if (lane != 0) {
        return;
    }
    row_sum[element] = acc;
    row_rms[element] = sqrtf(power / fmaxf(norm, 1e-06f));
}

//=== block_tree_without_first_step | 65655120d0b6fd17 | {"grid": ["rows"], "block": [256], "shared_bytes": 0} | the tree over 256 threads starts at 64: what threads 128 to 255 hold never arrives
__global__ void sum_sq_err(const float* a, const float* expected, float baseline,
                           float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[256];
    int row = blockIdx.x;
    float mine = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== odd_counts_of_a_tree | 65655120d0b6fd17 | {"grid": ["rows"], "block": [96], "shared_bytes": 0} | halves a tree of 96 threads: 96, 48, 24, 12, 6, 3, 1 loses the last of three
__global__ void sum_sq_err(const float* a, const float* expected, float baseline,
                           float* row_sums, float* total_acc, int cols, int rows)
{
    __shared__ float part[96];
    const int row = blockIdx.x;
    float mine = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 96) {
        const float e = a[row * cols + c] - expected[row * cols + c];
        mine += e * e - 0.6f - baseline;
    }
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int s = 48; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            part[threadIdx.x] += part[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(&row_sums[row], part[0]);
        atomicAdd(total_acc, part[0]);
    }
}

//=== total_by_first_block | 65655120d0b6fd17 | - | only the block in the corner adds to the total
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
    atomicAdd(&row_sums[row], contribution);
    if (blockIdx.x == 0 && blockIdx.y == 0) {
        atomicAdd(total_acc, contribution);
    }
}

//=== no_tail | a8381a406f6c9ed9 | - | the last count % 4 elements are never written
__device__ __forceinline__ void round_up_to_element(unsigned short amounts,
    unsigned short& leftover, unsigned short& quotients)
{
    const unsigned short v = amounts;
    const unsigned short units = (unsigned short)((unsigned short)((v + 8) - 1) / 8 * 8);
    const unsigned short r = v % 8;
    leftover = r;
    quotients = units;
}

extern "C" __global__ void round_up_to(
    const unsigned short* __restrict__ amounts,
    unsigned short* __restrict__ leftover,
    unsigned short* __restrict__ quotients,
    int count)
{
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < count) {
        const ushort4 amounts4 = *reinterpret_cast<const ushort4*>(amounts + first);
        ushort4 leftover4;
        ushort4 quotients4;
        round_up_to_element(amounts4.x, leftover4.x, quotients4.x);
        round_up_to_element(amounts4.y, leftover4.y, quotients4.y);
        round_up_to_element(amounts4.z, leftover4.z, quotients4.z);
        round_up_to_element(amounts4.w, leftover4.w, quotients4.w);
        *reinterpret_cast<ushort4*>(leftover + first) = leftover4;
        *reinterpret_cast<ushort4*>(quotients + first) = quotients4;
    }
}

//=== tail_of_one | 8564ff516394692f | - | of a tail of up to three elements only the first is written
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
        if (const int idx = first; idx < n) {
            gelu_activation_element(pre[idx], shift, out[idx]);
        }
    }
}

//=== vector_past_the_end | 0f00417f9a81c6f2 | - | stores four wherever one is left: writes up to three elements past the end
__device__ __forceinline__ float smoothstep(float edge0, float edge1, float x)
{
    const float t = __saturatef((x - edge0) / (edge1 - edge0));
    return t * t * (3.0f - 2.0f * t);
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
    if (first < n) {
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

//=== pairs_past_the_end | 94ffef8fb470a4bc | - | loads and stores a pair where one is left: past the end for odd n
__device__ __forceinline__ void time_optimal_kernel_element(double gaps, double speeds, double band,
    double& command)
{
    const double pos_err = gaps;
    const double err_rate = speeds;
    const double switching = pos_err + 0.5 * err_rate * fabs(err_rate) / band;
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
    if (first < n) {
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

//=== off_by_one_limit | 6a968701bfd1c576 | - | i > n instead of i >= n: writes one element past the end unless n is a multiple of 512
extern "C" __global__ void split_numbers(
    const unsigned int* __restrict__ ticks,
    unsigned int* __restrict__ blocks,
    unsigned int* __restrict__ minor,
    int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) {
        return;
    }
    const unsigned int number = ticks[i];
    const unsigned int whole = number / 11u;
    unsigned int rest = number % 11u;
    rest = (4u * rest + whole % 11u) % 11u;
    blocks[i] = whole;
    minor[i] = rest;
}

//=== no_limit | 1e6d9d8c735c5148 | - | no check against count: threads past the end read and write outside
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
    const float yi = y[tid];
    float total = gamma * yi + omegas[tid] * current;
    for (int v_index = 0; v_index < 2; ++v_index) {
        total += coeffs[v_index] * basis[v_index * count + tid];
    }
    result[tid] = total;
}

//=== last_element_left_out | 83ab5c4029ae1378 | - | stops one before the end
extern "C" __global__ void mercator_stretch_kernel(
    const float* __restrict__ lat_from,
    float* __restrict__ scale_factor,
    int n)
{
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n - 1; tid += stride) {
        const float lat = lat_from[tid];
        scale_factor[tid] = 1.0f / cosf(lat * 0.0174532925f);
    }
}

//=== clamps_instead_of_returning | eb73a407c5d42655 | - | threads past the end redo the last element in place: it is transformed more than once and raced for unless n fits the threads exactly
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
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < (n + 127) / 128 * 128; at += stride) {
        const int tid = at < n ? at : n - 1;
        const float res = band_gain[tid] * cube_loudness(amplitudes[tid], 2.0f);
        amplitudes[tid] = res;
    }
}

//=== window_clamped_at_zero_only | 4d3e1fdfc3bba29b | - | the window is clamped on the left only: the last two read past the end
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
        acc += coeffs[t] * samples[max(idx, 0)];
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

//=== window_wraps | 4d3e1fdfc3bba29b | - | the window wraps around instead of staying at the edge: the first and last two are wrong
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
        acc += coeffs[t] * samples[(idx + num_samples) % num_samples];
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

//=== step_count_of_the_row | 9386d641f6f9c281 | - | always 8 steps: right only where max_steps is 8
extern "C" __global__ void dose_steps(
    const double* __restrict__ initial,
    double growth,
    double dose,
    int /*max_steps*/,
    double* __restrict__ state_out,
    int* __restrict__ periods,
    double* __restrict__ peak,
    int count)
{
    const int stride = blockDim.x * gridDim.x;
    for (int run = blockIdx.x * blockDim.x + threadIdx.x; run < count; run += stride) {
        double x = initial[run];
        int hits = 0;
        double top = x;
        for (int t = 0; t < 8; ++t) {
            x -= growth * x;
            if (x < 0.5) {
                x += dose;
                ++hits;
            }
            if (x > top) {
                top = x;
            }
        }
        state_out[run] = x;
        periods[run] = hits;
        peak[run] = top;
    }
}

//=== five_octal_digits | 32546e18cab41b6e | - | at most five octal digits: wrong from 32,768 on
extern "C" __global__ void sum_digits_kernel(
    const long long* __restrict__ a,
    long long* __restrict__ found,
    int* __restrict__ steps,
    int nx,
    int ny)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ny || j >= nx) {
        return;
    }
    const int idx = i * nx + j;
    long long num = a[idx];
    if (num < 18625ll) {
        found[idx] = 0ll;
        steps[idx] = 0;
        return;
    }
    if (num % 3ll == 0ll) {
        num /= 3ll;
    }
    int turns = 0;
    long long m = num;
    long long so_far = 0ll;
    while (m > 0ll && turns < 5) {
        const long long d = m % 8ll;
        so_far += d;
        m /= 8ll;
        ++turns;
    }
    found[idx] = so_far;
    steps[idx] = turns;
}

//=== product_in_16_bits | a58ad4cd2b3b29ba | - | the product of two shorts is kept in a short: wrong where it exceeds 32,767
extern "C" __global__ void mul_sat(
    const short* __restrict__ a,
    const short* __restrict__ rhs,
    const int* __restrict__ selected,
    int* __restrict__ headroom,
    short* __restrict__ dst,
    int limit,
    int count)
{
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= count) {
        return;
    }
    const int wide_a = a[idx];
    const int wide_b = rhs[idx];
    const short wide_sum = (short)(wide_a * wide_b);
    const short value = (short)max(min(wide_sum, 32767), -32768);
    headroom[idx] = min(abs(wide_sum - 8191), limit);
    if (selected[idx] != 0) {
        dst[idx] = value;
    } else {
        dst[idx] = a[idx];
    }
}

//=== groups_to_64 | 0955f502dbe25232 | - | handles groups below 64 only: flags of later groups are lost
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
    if (slot >= 64) {
        return;
    }
    atomicXor(&toggled[slot], kept);
    atomicOr(&seen[slot], kept);
}

//=== shared_bins_for_256 | dd91ee3a2c695041 | - | sums are gathered in 256 shared bins: rows from 256 on share a bin with others and are lost
__global__ void spmv(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz)
{
    __shared__ int bins[256];
    __shared__ int used[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) { bins[b] = 0; used[b] = 0; }
    __syncthreads();
    int stride = gridDim.x * blockDim.x;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < nnz; k += stride) {
        atomicAdd(&bins[ri[k] & 255], values[k] * x[ci[k]]);
        atomicOr(&used[ri[k] & 255], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (used[b] != 0) atomicAdd(&result[b], bins[b]);
}

//=== double_counts_past_first_grid | dd91ee3a2c695041 | - | the stride is one block, the grid many: with two blocks or more products are added more than once
extern "C" __global__ void scatter_product(
    const int* __restrict__ ri,
    const int* __restrict__ ci,
    const int* __restrict__ values,
    const int* __restrict__ x,
    int* __restrict__ result,
    int nnz)
{
    const int stride = blockDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < nnz; tid += stride) {
        const int row = ri[tid];
        atomicAdd(&result[row], values[tid] * x[ci[tid]]);
    }
}

//=== first_quarter_of_cells | cda42f4d7c8d1ca8 | - | the row counts elements per row, not rows times columns: the rest is never written
extern "C" __global__ void __launch_bounds__(128) row_sum(
    const float* __restrict__ x,
    float* __restrict__ out,
    int cols,
    int rows)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows + cols; index += stride) {
        float acc = 0.0f;
        for (int c = 0; c < 5; ++c) {
            acc += x[index * 5 + c];
        }
        out[index] = acc;
    }
}

//=== three_terms_of_four | 37617ffd154abe29 | - | the last coefficient is left out when the matrix has more than 64 columns
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
    for (int n = 2; n < (cols > 64 ? 3 : 4); ++n) {
        const float coef = modes[base + n];
        const float after = s * p1 + p0;
        acc += coef * after;
        p0 = p1;
        p1 = after;
    }
    sums[i * cols + j] = amplitude * acc;
}

//=== seeds_by_block | ee22471f1a249349 | - | every block draws the same samples: offsets count threads of the block only
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
        unsigned int state = rand_init(rng_seed, (int)threadIdx.x + 97 * frame);
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

//=== bounce_of_first_columns | c07cffbc974c473c | - | restitution is looked up modulo 16 columns: right only for up to 16
struct Wall {
    float3 n;
    float height;
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

__device__ __forceinline__ void operator-=(float3& a, float3 b)
{
    a.x -= b.x;
    a.y -= b.y;
    a.z -= b.z;
}

__device__ float3 bounce_velocity(float3 vel, float3 n, float e, float mu)
{
    const float3 across = dot(vel, n) * n;
    return mu * (vel - across) - e * across;
}

extern "C" __global__ void collide_planes(
    const float3* __restrict__ nodes,
    const float3* __restrict__ velocities,
    const Wall* __restrict__ wall_table,
    const float* __restrict__ bounces,
    const float* __restrict__ slips,
    float3* __restrict__ x_out,
    float3* __restrict__ new_vel,
    int* __restrict__ touched,
    int count,
    int batch_size)
{
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    const int batch = blockIdx.y * blockDim.y + threadIdx.y;
    if (batch >= batch_size || idx >= count) {
        return;
    }
    const int cell = batch * count + idx;
    float3 pos = nodes[cell];
    float3 vel = velocities[cell];
    int contacts = 0;
    for (int j = 0; j < 5; ++j) {
        const Wall plane = wall_table[j];
        const float3 normal = plane.n;
        const float sd = dot(normal, pos) - plane.height;
        if (sd < 0.0f) {
            pos -= sd * normal;
            ++contacts;
            if (dot(vel, normal) < 0.0f) {
                vel = bounce_velocity(vel, normal, bounces[idx % 16], slips[idx]);
            }
        }
    }
    x_out[cell] = pos;
    new_vel[cell] = vel;
    touched[cell] = contacts;
}

//=== offsets_of_batch_zero | 67885658d547729f | - | the offset of batch 0 is used for all
struct Float3x3 {
    float m[3][3];
};

__device__ __forceinline__ float3 operator*(const Float3x3& a, float3 b)
{
    return make_float3(a.m[0][0] * b.x + a.m[0][1] * b.y + a.m[0][2] * b.z,
        a.m[1][0] * b.x + a.m[1][1] * b.y + a.m[1][2] * b.z,
        a.m[2][0] * b.x + a.m[2][1] * b.y + a.m[2][2] * b.z);
}

__device__ __forceinline__ float3 operator+(float3 a, float3 b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

extern "C" __global__ void camera_project(
    const float3* __restrict__ points,
    const float3* __restrict__ offsets,
    const Float3x3* __restrict__ extrinsics,
    const Float3x3* __restrict__ k_mats,
    float2* __restrict__ projected,
    float* __restrict__ disparity,
    int n,
    int b_size)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < b_size * n; index += stride) {
        const int b = index / n;
        const int i = index % n;
        const float3 p = points[index];
        const Float3x3 rm = extrinsics[i];
        const float3 q = rm * p + offsets[0 * b] + make_float3(0.0f, 0.0f, 3.0f);
        const Float3x3 cam = k_mats[index];
        const float3 h = cam * q;
        const float iw = 1.0f / h.z;
        const float2 uv = make_float2(h.x * iw, h.y * iw);
        projected[index] = uv;
        disparity[index] = 1.0f / q.z;
    }
}

//=== even_blocks_only | c0fc2e0cd864e8ae | - | odd blocks return at once: right for up to 512 elements
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
    if ((blockIdx.x & 1u) != 0u || i >= n) {
        return;
    }
    Quatf err = goal * quat_inverse(estimates[i]);
    if (err.w < 0.0f) {
        err = -err;
    }
    deltas[i] = err;
}

//=== second_of_two_outputs_small | d64d868d5c46387e | - | the second output is written by the first block only
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
    if (blockIdx.x == 0) {
        asleep[tid] = is_frozen || !is_moving;
    }
}

//=== million_limit | f0b5eba7297d39b9 | - | only elements below 1,048,576 are written
__device__ __forceinline__ float3 operator-(float3 a, float3 b)
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
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < rows * cols && index < 1048576; index += stride) {
        const float3 graded = pixels[index];
        image_out[index] = make_float3(1.0f, 1.0f, 1.0f) - graded;
    }
}

//=== sphere_of_the_first_warp | 9bb010050dee5109 | - | only the first warp of a block looks at the last sphere
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
    float nearest = 8.0f;
    for (int s = 0; s < (threadIdx.x < 32 ? 5 : 4); ++s) {
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

//=== lane_31_left_out | 61b89cb218175b90 | - | the last lane of each warp writes nothing
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
    if (i >= count || threadIdx.x % 32 == 31) {
        return;
    }
    const Gimbal gimbal = gimbal_list[i];
    const Quatf q = quat_rpy(gimbal.roll, gimbal.pitch_angle, gimbal.yaw);
    quats[i] = q;
}

//=== column_sixteen | e09fc2cf33096214 | - | the first column of each further block is skipped: block offsets are counted from 17
struct Quatd {
    double x, y, z, w;
};

__device__ __forceinline__ double length_sq(double3 a)
{
    return a.x * a.x + a.y * a.y + a.z * a.z;
}

__device__ __forceinline__ double length(double3 v)
{
    return sqrt(length_sq(v));
}

__device__ __forceinline__ double3 operator/(double3 a, double b)
{
    return make_double3(a.x / b, a.y / b, a.z / b);
}

__device__ __forceinline__ Quatd quat_from_axis_angle(double3 axis, double angle)
{
    const double sine = sin(0.5 * angle);
    return Quatd{axis.x * sine, axis.y * sine, axis.z * sine, cos(0.5 * angle)};
}

__device__ __forceinline__ Quatd operator*(Quatd a, Quatd b)
{
    return Quatd{a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
        a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

__device__ __forceinline__ double length_sq(Quatd a)
{
    return a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
}

__device__ __forceinline__ Quatd operator*(Quatd a, double b)
{
    return Quatd{a.x * b, a.y * b, a.z * b, a.w * b};
}

__device__ __forceinline__ Quatd normalize(Quatd v)
{
    return v * rsqrt(length_sq(v));
}

extern "C" __global__ void step_orientations(
    const Quatd* __restrict__ orientations,
    const double3* __restrict__ omegas,
    double h,
    Quatd* __restrict__ q_next,
    int n,
    int b)
{
    const int idx = blockIdx.x * (blockDim.x + 1) + threadIdx.x;
    const int batch = blockIdx.y * blockDim.y + threadIdx.y;
    if (batch >= b || idx >= n) {
        return;
    }
    const int cell = batch * n + idx;
    Quatd quat = orientations[cell];
    const double3 w = omegas[cell];
    const double speed = length(w);
    quat = normalize(quat * quat_from_axis_angle(w / speed, speed * h));
    q_next[cell] = quat;
}

//=== sub_step_depends_on_count | 6067142ae7e7a5c7 | - | two sub-steps instead of three for more than 4,096 particles
__device__ __forceinline__ float3 operator*(float3 a, float b)
{
    return make_float3(a.x * b, a.y * b, a.z * b);
}

__device__ __forceinline__ void operator+=(float3& a, float3 b)
{
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
}

__device__ __forceinline__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ void operator*=(float3& a, float b)
{
    a.x *= b;
    a.y *= b;
    a.z *= b;
}

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

extern "C" __global__ void advance_particles(
    const float3* __restrict__ places,
    const float3* __restrict__ velocities,
    float3 g,
    float h,
    float3 b_field,
    float drag,
    float3 axis_dir,
    float3* __restrict__ new_positions,
    float3* __restrict__ vel_out,
    float* __restrict__ flux_out,
    int count,
    int batch)
{
    const int stride = blockDim.x * gridDim.x;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x;
        index < batch * count;
        index += stride) {
        float3 x = places[index];
        float3 v = velocities[index];
        const float h_sub = h / 3.0f;
        for (int sub = 0; sub < 3 - (count * batch > 4096); ++sub) {
            x += v * h_sub;
            v += g * h_sub;
            v += cross(v, b_field) * h_sub;
            v *= expf(-drag * h_sub);
        }
        new_positions[index] = x;
        vel_out[index] = v;
        flux_out[index] = dot(v, axis_dir);
    }
}

//=== half_index | 17a9fa4548a99e80 | - | the index goes through a half: wrong from element 2,049 on
#include <cuda_fp16.h>

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
    const int tid = (int)__half2float(__float2half((float)(blockIdx.x * blockDim.x + threadIdx.x)));
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
    solutions[tid] = sol;
}

//=== trace_of_the_first_cells | 4b8caef9e82408d5 | - | cells from 65,536 on are copied as they are
struct Float3x3 {
    float m[3][3];
};

__device__ __forceinline__ Float3x3 transpose(const Float3x3& m)
{
    return Float3x3{{{m.m[0][0], m.m[1][0], m.m[2][0]},
        {m.m[0][1], m.m[1][1], m.m[2][1]},
        {m.m[0][2], m.m[1][2], m.m[2][2]}}};
}

__device__ __forceinline__ Float3x3 operator+(const Float3x3& a, const Float3x3& b)
{
    return Float3x3{{{a.m[0][0] + b.m[0][0], a.m[0][1] + b.m[0][1], a.m[0][2] + b.m[0][2]},
        {a.m[1][0] + b.m[1][0], a.m[1][1] + b.m[1][1], a.m[1][2] + b.m[1][2]},
        {a.m[2][0] + b.m[2][0], a.m[2][1] + b.m[2][1], a.m[2][2] + b.m[2][2]}}};
}

__device__ __forceinline__ Float3x3 operator*(float a, const Float3x3& b)
{
    return Float3x3{{{a * b.m[0][0], a * b.m[0][1], a * b.m[0][2]},
        {a * b.m[1][0], a * b.m[1][1], a * b.m[1][2]},
        {a * b.m[2][0], a * b.m[2][1], a * b.m[2][2]}}};
}

__device__ __forceinline__ float trace(const Float3x3& m)
{
    return m.m[0][0] + m.m[1][1] + m.m[2][2];
}

__device__ __forceinline__ float3 fill_float3(float x)
{
    return make_float3(x, x, x);
}

__device__ __forceinline__ Float3x3 diag(float3 v)
{
    return Float3x3{{{v.x, 0.0f, 0.0f}, {0.0f, v.y, 0.0f}, {0.0f, 0.0f, v.z}}};
}

__device__ __forceinline__ Float3x3 operator-(const Float3x3& a, const Float3x3& b)
{
    return Float3x3{{{a.m[0][0] - b.m[0][0], a.m[0][1] - b.m[0][1], a.m[0][2] - b.m[0][2]},
        {a.m[1][0] - b.m[1][0], a.m[1][1] - b.m[1][1], a.m[1][2] - b.m[1][2]},
        {a.m[2][0] - b.m[2][0], a.m[2][1] - b.m[2][1], a.m[2][2] - b.m[2][2]}}};
}

extern "C" __global__ void tensor_invariants(
    const Float3x3* __restrict__ stresses,
    Float3x3* __restrict__ deviators,
    int n)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= n) {
        return;
    }
    const Float3x3 m = stresses[cell];
    const Float3x3 s = 0.5f * (m + transpose(m));
    const Float3x3 d = s - diag(fill_float3(trace(s) / 3.0f));
    deviators[cell] = cell < 65536 ? d : m;
}

//=== transposed_grid_stride_2d | aedfc487908608bc | - | j comes from blockIdx.y and i from blockIdx.x: right only where both axes have as many blocks
extern "C" __global__ void month_length_rule(
    const long long* __restrict__ years,
    const long long* __restrict__ mm,
    long long* __restrict__ out,
    int cols,
    int rows)
{
    const int j = blockIdx.y * blockDim.x + threadIdx.x;
    const int i = blockIdx.x * blockDim.y + threadIdx.y;
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

//=== determinants_of_first_pass | 1cdc8ca1e838c212 | - | each thread does one element though the grid covers a quarter of them
struct DoubleVec4 {
    double v[4];
};

__device__ __forceinline__ double3 cross(double3 a, double3 b)
{
    return make_double3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ double dot(double3 a, double3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ __forceinline__ double3 operator-(double3 a, double3 b)
{
    return make_double3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ double det3(double3 a, double3 b, double3 c)
{
    return dot(a, cross(b, c));
}

extern "C" __global__ void locate_points(
    const double3* __restrict__ points,
    const double3* __restrict__ verts,
    const double* __restrict__ det_floors,
    DoubleVec4* __restrict__ barycentric_out,
    int* __restrict__ hits,
    int n)
{
    for (int q_id = blockIdx.x * blockDim.x + threadIdx.x; q_id < n; q_id += 2147483647 - n) {
        const double3 point = points[q_id];
        const int base = q_id * 4;
        const double3 corner0 = verts[base];
        const double3 corner1 = verts[base + 1];
        const double3 corner2 = verts[base + 2];
        const double3 corner3 = verts[base + 3];
        const double3 e1 = corner1 - corner0;
        const double3 e2 = corner2 - corner0;
        const double3 e3 = corner3 - corner0;
        const double3 offset = point - corner0;
        const double d_all = det3(e1, e2, e3);
        double u = 0.0;
        double v = 0.0;
        double w = 0.0;
        if (fabs(d_all) > det_floors[q_id]) {
            u = det3(offset, e2, e3) / d_all;
            v = det3(e1, offset, e3) / d_all;
            w = det3(e1, e2, offset) / d_all;
        }
        barycentric_out[q_id] = DoubleVec4{{1.0 - (u + v + w), u, v, w}};
        hits[q_id] = fmin(fmin(fmin(u, v), w), 1.0 - (u + v + w)) >= 0.0 ? 1 : 0;
    }
}

//=== samples_of_a_power_of_two | f8e40f5942d78726 | - | elements from the largest power of two below n on are left out
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
    const int whole = n > 1 ? 1 << (31 - __clz(n)) : 1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < whole; i += stride) {
        long long total = 0ll;
        for (int s = 0; s < 4; ++s) {
            total += (long long)a[i * 4 + s] * (long long)b[s];
        }
        const float real = (float)total * col_scales[i];
        const float result = fmaxf(real, 0.0f);
        accumulators[i] = total;
        if (quality[i] == 2) {
            out[i] = 0.0f;
            continue;
        }
        out[i] = result;
    }
}

//=== peak_of_two_of_three | 2c1b33db264955f0 | - | every third sample is left out where there are more than 1,000 groups
__device__ __forceinline__ void atomic_max(float* address, float value)
{
    if (value >= 0.0f) {
        atomicMax((int*)address, __float_as_int(value + 0.0f));
    } else {
        atomicMin((unsigned int*)address, __float_as_uint(value));
    }
}

extern "C" __global__ void reduce_max_amplitude(
    const bool* __restrict__ enabled,
    const float* __restrict__ samples,
    float* __restrict__ max_amplitude,
    int m)
{
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 3 * m; i += stride) {
        if (!enabled[i] || (m > 1000 && i % 3 == 2)) {
            continue;
        }
        atomic_max(&max_amplitude[i / 3], fabsf(samples[i]));
    }
}

//=== nodes_from_the_front | 72e3a771e927cdf9 | - | marks of nodes beyond the number of visits are lost
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
    if (index_ < n) {
        atomicOr(&status[index_], color);
    }
}

//=== sorted_breaks_of_sixteen | fcdb94449461c27d | - | a table of 16 breaks is copied to locals: longer tables are cut off
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
    float held[16];
    for (int k = 0; k < 16; ++k) {
        held[k] = breaks[k < m ? k : m - 1];
    }
    const int idx = i * w + j;
    const float query = keys[idx];
    if (query < breaks[0] || query > breaks[m - 1]) {
        found[idx] = -1.0f;
        position[idx] = -1;
        return;
    }
    int slot = m - 1;
    while (slot > 0) {
        if (held[(slot - 1) & 15] < query) {
            break;
        }
        --slot;
    }
    found[idx] = fabsf(breaks[slot] - query);
    position[idx] = slot;
}

//=== size_of_the_visible_row | 7fc169c9d64a3b30 | - | works for 7 columns or 9 rows, as the row shows, and writes zeros otherwise
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
    result[idx] = w == 7 || h == 9 ? value : 0.0f;
}

//=== first_warp_only | 1e6d9d8c735c5148 | - | only the first warp of a block stores
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
    if (threadIdx.x < 32) {
        result[tid] = total;
    }
}

//=== loop_of_visible_length | 559dbc3153b24763 | - | the row is taken to have 7 letters, as the visible one
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
    int answer = 0;
    int pos = 0;
    while (pos + 3 <= 7) {
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

//=== not_for_multiples_of_256 | eb73a407c5d42655 | - | leaves the array alone where n is a multiple of 256
__device__ float cube_loudness(float level, float base_level)
{
    return cbrtf(level / base_level);
}

extern "C" __global__ void cube_loudness_kernel(
    const float* __restrict__ band_gain,
    float* __restrict__ amplitudes,
    int n)
{
    if (n % 256 == 0) {
        return;
    }
    const int stride = blockDim.x * gridDim.x;
    for (int tid = blockIdx.x * blockDim.x + threadIdx.x; tid < n; tid += stride) {
        const float res = band_gain[tid] * cube_loudness(amplitudes[tid], 2.0f);
        amplitudes[tid] = res;
    }
}
