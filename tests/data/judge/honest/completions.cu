//=== think_then_cuda | 8564ff516394692f | - | thinking text with a wrong draft before the answer
<think>
The Warp kernel takes z = pre + shift, then gelu with erf. Let me draft:

```cuda
__global__ void gelu(const float* pre, float shift, float* out, int n) {
    int i = threadIdx.x;
    out[i] = pre[i];
}
```

No, that forgets the block index. blockIdx.x * blockDim.x + threadIdx.x. And it needs 0.5 * z * (1 + erf(z / sqrt(2))).
</think>

Here is the kernel:

```cuda
__global__ void gelu(const float* __restrict__ pre, float shift, float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float z = pre[i] + shift;
        out[i] = 0.5f * z * (1.0f + erff(z * 0.70710678118654752f));
    }
}
```

Launch it with the grid ((n + 255) / 256) and the block (256).
//=== think_unopened | 6a968701bfd1c576 | - | only the closing tag of the thinking is there, the row's own launch
Okay, I need quotient and remainder by 11. r = (4 * r + q % 11) % 11. All unsigned, so no trouble with signs.
</think>
```cuda
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int t = ticks[i];
        unsigned int q = t / 11u;
        unsigned int r = t - q * 11u;
        blocks[i] = q;
        minor[i] = (4u * r + q % 11u) % 11u;
    }
}
```
//=== two_blocks_last | 83ab5c4029ae1378 | - | a first version, then the final one
A direct translation would be

```cpp
__global__ void stretch(const float* lat_from, float* scale_factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    scale_factor[i] = 1.0f / cosf(lat_from[i]);
}
```

but this has no bounds check and forgets the conversion to radians. The final version:

```cpp
__global__ void stretch(const float* lat_from, float* scale_factor, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        scale_factor[i] = 1.0f / cosf(lat_from[i] * 0.017453292519943295f);
    }
}
```

The loop makes it right for any grid.
//=== three_blocks_helpers_repeated | 0f00417f9a81c6f2 | - | helper shown alone, then the whole
First the helper:

```cuda
__device__ float smooth(float e0, float e1, float x) {
    float t = fminf(fmaxf((x - e0) / (e1 - e0), 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}
```

Then the complete file:

```cuda
__device__ float smooth(float e0, float e1, float x) {
    float t = fminf(fmaxf((x - e0) / (e1 - e0), 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

__global__ void compute_smooth_edges(const float* progress, const float* edges, float* ramp, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float e = edges[i];
        ramp[i] = smooth(e, 1.0f - e, progress[i]);
    }
}
```

```json
{"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0}
```
//=== cplusplus_fence | eb73a407c5d42655 | - | a fence of the language c++, launch in a JSON block
```c++
__global__ void cube_loudness(const float* band_gain, float* amplitudes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    amplitudes[i] = band_gain[i] * cbrtf(amplitudes[i] * 0.5f);
}
```

```json
{
  "grid": ["(n + 63) / 64"],
  "block": [64],
  "shared_bytes": 0
}
```
//=== bare_fence | d64d868d5c46387e | - | a fence without a language
Sure! Here you go:

```
__global__ void gates(const bool* moving, const bool* visible, const bool* frozen,
                      bool* simulated, bool* asleep, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) {
        simulated[i] = moving[i] && visible[i] && !frozen[i];
        asleep[i] = frozen[i] || !moving[i];
    }
}
```

Hope this helps!
//=== unclosed_fence | dd91ee3a2c695041 | - | a fence that never closes
```cuda
__global__ void scatter_product(const int* ri, const int* ci, const int* values, const int* x, int* result, int nnz)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < nnz; k += gridDim.x * blockDim.x)
        atomicAdd(result + ri[k], values[k] * x[ci[k]]);
}
//=== unclosed_think_fence | c31bc1c334c0e4a3 | - | thinking, prose and a fence that never closes
<think>Four words a block, so block = i / 4. The hash includes + i.</think>
The kernel below uses one thread for each word and two atomics.

```cuda
__global__ void hash_blocks(const unsigned int* data, unsigned int seed, unsigned int* parity, int* bit_total, int blocks)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < blocks * 4; i += stride) {
        unsigned int w = (data[i] ^ seed) + (unsigned int)i;
        w = (w ^ (w >> 13)) * 747796405u;
        w ^= w >> 13;
        atomicXor(parity + i / 4, w);
        atomicAdd(bit_total + i / 4, __popc(w));
    }
}
//=== tilde_and_indent | 94ffef8fb470a4bc | - | a fence of tildes
~~~cuda
__global__ void time_optimal(const double* gaps, const double* speeds, double band, double* command, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double s = gaps[i] + 0.5 * speeds[i] * fabs(speeds[i]) / band;
        command[i] = s < 0.0 ? -band : band;
    }
}
~~~

Launch it with the grid ((n + 255) / 256) and the block (256).
//=== bare_text_no_fence | 72e3a771e927cdf9 | - | a bare text with comments before it
// Marks every node of a list with a colour.
/* status may be hit by several
   threads at once: hence the atomic. */
__global__ void mark(const int* nodes, int* status, int color, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n)
        atomicOr(&status[nodes[t]], color);
}
//=== wrapper_memcpy | 51cd3f08bbb14309 | - | a host wrapper with cudaMalloc, cudaMemcpy and a launch
```cuda
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void rayleigh(const float* lambdas, const unsigned char* clear, float opacity, float* loss_out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float l2 = lambdas[i] * lambdas[i];
        loss_out[i] = clear[i] ? 1.0f - expf(-opacity / (l2 * l2)) : 0.0f;
    }
}

void rayleigh_host(const float* h_lambdas, const unsigned char* h_clear, float opacity, float* h_loss, int n)
{
    float *d_lambdas, *d_loss;
    unsigned char* d_clear;
    cudaMalloc(&d_lambdas, n * sizeof(float));
    cudaMalloc(&d_clear, n);
    cudaMalloc(&d_loss, n * sizeof(float));
    cudaMemcpy(d_lambdas, h_lambdas, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_clear, h_clear, n, cudaMemcpyHostToDevice);

    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    rayleigh<<<blocks, threads>>>(d_lambdas, d_clear, opacity, d_loss, n);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        fprintf(stderr, "launch failed: %s\n", cudaGetErrorString(err));
    }

    cudaMemcpy(h_loss, d_loss, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_lambdas);
    cudaFree(d_clear);
    cudaFree(d_loss);
}
```
//=== wrapper_dim3 | 37617ffd154abe29 | - | dim3 variables whose extents are other names than the row's sizes
```cpp
#include <cuda_runtime.h>

#define TILE_X 32
#define TILE_Y 4

__global__ void fibonacci_sums(const float* cos_theta, const float* modes, float amplitude, float* sums, int cols, int rows)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) {
        float s = cos_theta[r * cols + c];
        const float* m = modes + r * 4;
        float t2 = s * s + 1.0f;
        float t3 = s * t2 + s;
        sums[r * cols + c] = amplitude * (m[0] + m[1] * s + m[2] * t2 + m[3] * t3);
    }
}

void launch_fibonacci(const float* cos_theta, const float* modes, float amplitude, float* sums, int width, int height, cudaStream_t stream)
{
    dim3 block(TILE_X, TILE_Y);
    dim3 grid((width + TILE_X - 1) / TILE_X, (height + TILE_Y - 1) / TILE_Y);
    fibonacci_sums<<<grid, block, 0, stream>>>(cos_theta, modes, amplitude, sums, width, height);
}
```
//=== wrapper_block_xy | d0baee778ce4cc45 | - | a grid of block.x and block.y, host function first declared
```cuda
#include <cuda_runtime.h>

__global__ void fletcher16(const unsigned char* digits, unsigned int* check, int rows, int cols);

extern "C" void run_fletcher16(const unsigned char* digits, unsigned int* check, int rows, int cols)
{
    const dim3 block(16, 8, 1);
    const dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y, 1);
    fletcher16<<<grid, block>>>(digits, check, rows, cols);
    cudaDeviceSynchronize();
}

__global__ void fletcher16(const unsigned char* digits, unsigned int* check, int rows, int cols)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols) return;
    unsigned int a = 0, b = 0;
    const int plane = rows * cols;
    for (int s = 0; s < 4; s++) {
        a = (a + digits[s * plane + row * cols + col]) % 255;
        b = (b + a) % 255;
    }
    check[row * cols + col] = (b << 8) | a;
}
```
//=== wrapper_check_macro | 1c19392ee3f8f433 | - | a CUDA_CHECK macro of several lines in the host part
```cuda
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                   \
    do {                                                                                   \
        cudaError_t e = (call);                                                            \
        if (e != cudaSuccess) {                                                            \
            std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
            std::exit(1);                                                                  \
        }                                                                                  \
    } while (0)

__global__ void isqrt_kernel(const int* __restrict__ seeds, int least, int* __restrict__ result, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int x = seeds[i];
    if (x < least) {
        result[i] = 0;
        return;
    }
    int r = x;
    int g = (r + 1) / 2;
    while (g < r) {
        r = g;
        g = (r + x / r) / 2;
    }
    result[i] = r;
}

int main()
{
    const int count = 1 << 20;
    int *seeds, *result;
    CUDA_CHECK(cudaMallocManaged(&seeds, count * sizeof(int)));
    CUDA_CHECK(cudaMallocManaged(&result, count * sizeof(int)));
    for (int i = 0; i < count; ++i) seeds[i] = 1 + i % 200;
    isqrt_kernel<<<(count + 255) / 256, 256>>>(seeds, 60, result, count);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    std::printf("%d\n", result[199]);
    CUDA_CHECK(cudaFree(seeds));
    CUDA_CHECK(cudaFree(result));
    return 0;
}
```
//=== torch_extension | 1e6d9d8c735c5148 | - | a PyTorch extension with torch::Tensor and a pybind module
```cpp
#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void triad_kernel(
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ omegas,
    const float* __restrict__ basis,
    const float* __restrict__ coeffs,
    float gamma,
    float* __restrict__ result,
    int count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < count) {
        float acc = gamma * y[tid] + omegas[tid] * x[tid];
        acc += coeffs[0] * basis[tid];
        acc += coeffs[1] * basis[count + tid];
        result[tid] = acc;
    }
}

torch::Tensor triad(torch::Tensor x, torch::Tensor y, torch::Tensor omegas, torch::Tensor basis,
                    torch::Tensor coeffs, double gamma)
{
    TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
    auto result = torch::empty_like(x);
    const int count = static_cast<int>(x.numel());
    const int threads = 256;
    const int blocks = (count + threads - 1) / threads;
    triad_kernel<<<blocks, threads>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), omegas.data_ptr<float>(), basis.data_ptr<float>(),
        coeffs.data_ptr<float>(), static_cast<float>(gamma), result.data_ptr<float>(), count);
    return result;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.def("triad", &triad, "gamma * y + omega * x + basis");
}
```
//=== torch_two_axes | 3ab0a0def3bb3638 | - | a PyTorch wrapper with float3 casts and the current stream
The CUDA source:

```cuda
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void cell_cube_kernel(const float3* positions, const unsigned char* valid, int* cell_ids, int side, int count)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= count) return;
    float3 p = positions[idx];
    int cx = (int)floorf(p.x / 0.41f);
    int cy = (int)floorf(p.y / 0.41f);
    int cz = (int)floorf(p.z / 0.41f);
    cell_ids[idx] = valid[idx] ? cx + side * cy + side * side * cz : 0;
}

void cell_cube(torch::Tensor positions, torch::Tensor valid, torch::Tensor cell_ids, int64_t side)
{
    const int count = positions.size(0);
    const dim3 block(128);
    const dim3 grid((count + 127) / 128);
    cell_cube_kernel<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        reinterpret_cast<const float3*>(positions.data_ptr<float>()), valid.data_ptr<unsigned char>(),
        cell_ids.data_ptr<int>(), (int)side, count);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}
```

Build it with `torch.utils.cpp_extension.load`.
//=== main_with_vector | 32546e18cab41b6e | - | a main() with std::vector and a literal launch of dim3(…)
```cuda
#include <cstdio>
#include <vector>

__global__ void digit_sums(const long long* a, long long* found, int* steps, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ny || j >= nx) return;
    int at = i * nx + j;
    long long x = a[at];
    long long sum = 0;
    int turns = 0;
    if (x >= 18625) {
        if (x % 3 == 0) x /= 3;
        for (; x > 0; x >>= 3, ++turns) sum += x & 7;
    }
    found[at] = sum;
    steps[at] = turns;
}

int main()
{
    const int nx = 11, ny = 7;
    std::vector<long long> a(nx * ny);
    for (size_t i = 0; i < a.size(); ++i) a[i] = 2 + 700 * (long long)i;
    long long *d_a, *d_found;
    int* d_steps;
    cudaMalloc((void**)&d_a, a.size() * sizeof(long long));
    cudaMalloc((void**)&d_found, a.size() * sizeof(long long));
    cudaMalloc((void**)&d_steps, a.size() * sizeof(int));
    cudaMemcpy(d_a, a.data(), a.size() * sizeof(long long), cudaMemcpyHostToDevice);
    digit_sums<<<dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16)>>>(d_a, d_found, d_steps, nx, ny);
    cudaDeviceSynchronize();
    cudaFree(d_a);
    cudaFree(d_found);
    cudaFree(d_steps);
    return 0;
}
```
//=== launch_comment_after | 559dbc3153b24763 | - | the launch only in a comment behind the kernel
```cuda
__global__ void find_pattern(const signed char* sequence, const signed char* motif, int num_cols, int* hits, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const signed char* s = sequence + row * num_cols;
    signed char m0 = motif[0], m1 = motif[1], m2 = motif[2];
    int n = 0;
    for (int c = 0; c + 2 < num_cols; ++c)
        n += s[c] == m0 && s[c + 1] == m1 && s[c + 2] == m2;
    hits[row] = n;
}
// Launch: find_pattern<<<(rows + 63) / 64, 64>>>(sequence, motif, num_cols, hits, rows);
```
//=== launch_comment_before | 69ebf95c8f2a0696 | - | the launch only in a comment above the kernel
```cuda
// Launch with: row_machine<<<(rows + 127) / 128, 128>>>(table, length, result, totals, rows)
__global__ void row_machine(const int* table, int length, int* result, int* totals, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    bool on = false;
    int n = 0, sum = 0;
    for (int j = 0; j < length; ++j) {
        int v = 6 * table[i * length + j] + 37;
        if (v < 119) continue;
        if (v > 322) on = true;
        else if (v < 170) on = false;
        if (on) {
            ++n;
            if (v < 531) sum += v;
        }
    }
    result[i] = n;
    totals[i] = sum;
}
```
//=== launch_sentence_backticks | ecec05d3cab19f98 | - | the launch as inline code in a sentence
Each thread runs Kadane's algorithm along its row. Note that the reference starts `largest` at zero, and does not compare the first entry alone with it.

```cuda
__global__ void row_filter(const double* samples, double* filtered, int row_length, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    const double* row = samples + (size_t)i * row_length;
    double here = row[0], best = 0.0;
    for (int c = 1; c < row_length; ++c) {
        here = here > 0.0 ? here + row[c] : row[c];
        best = fmax(best, here);
    }
    filtered[i] = best;
}
```

Call it as `row_filter<<<(rows + 255) / 256, 256>>>(samples, filtered, row_length, rows)`.
//=== launch_in_second_block | 9386d641f6f9c281 | - | the launch in a code block of its own after the kernel's
```cuda
__global__ void dose_steps(const double* initial, double growth, double dose, int max_steps,
                           double* state_out, int* periods, double* peak, int count)
{
    int run = blockIdx.x * blockDim.x + threadIdx.x;
    if (run >= count) return;
    double x = initial[run], top = x;
    int hits = 0;
    for (int t = 0; t < max_steps; ++t) {
        x -= growth * x;
        if (x < 0.5) { x += dose; ++hits; }
        top = fmax(top, x);
    }
    state_out[run] = x;
    periods[run] = hits;
    peak[run] = top;
}
```

And it is launched like this:

```cpp
dim3 block(128);
dim3 grid((count + block.x - 1) / block.x);
dose_steps<<<grid, block>>>(initial, growth, dose, max_steps, state_out, periods, peak, count);
```
//=== python_block_after | b42b46251bae0474 | - | a Python block with CuPy follows the kernel's; the row's own launch
```cuda
extern "C" __global__ void reduce_max_start(const bool* skip, const int* t_ms, int* largest_start, int cols, int rows)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols && !skip[i * cols + j]) {
        atomicMax(&largest_start[j], t_ms[i * cols + j]);
    }
}
```

To try it from Python:

```python
import cupy as cp
kernel = cp.RawKernel(source, "reduce_max_start")
```
//=== markdown_rich | 91b4300208ffdfb0 | - | headings, lists, a table and inline code around the block
## Plan

1. Decompose the flat index into `b`, `c`, `i`, `j`.
2. Read `x[j, b, c, i]` and widen it.

| axis | extent |
|---|---|
| 0 | `batch` |
| 1 | `channels` |

## Kernel

```cuda
__global__ void relayout(const float* __restrict__ x, double* __restrict__ permuted,
                         int batch, int channels, int rows, int cols)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    const int planes = batch * channels * rows;
    if (k >= planes * cols) return;
    const int j = k % cols;
    const int plane = k / cols;  // (b * channels + c) * rows + i
    permuted[k] = (double)x[j * planes + plane];
}
```

## Notes

* Reads are **not** coalesced; a tile in shared memory would help.
* Launch it with the grid ((batch * channels * rows * cols + 255) / 256) and the block (256).
//=== nested_think_code | aedfc487908608bc | - | thinking that mentions fences, braces and a kernel that does nothing
<think>
Days of the month. February: leap year rule. I might write
__global__ void f() { }
and then ``` is the fence. "{" need not match here: {{{
</think>

```cuda
__global__ void month_length(const long long* years, const long long* mm, long long* out, int cols, int rows)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= cols) return;
    long long y = years[i * cols + j];
    int m = (int)mm[i * cols + j];
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    long long d;
    switch (m) {
    case 2: d = leap ? 29 : 28; break;
    case 4: case 6: case 9: case 11: d = 30; break;
    default: d = 31;
    }
    out[i * cols + j] = d;
}
```
//=== windows_lines | 11eba0b176d074f0 | {"grid": ["(m + 127) / 128"], "block": [128], "shared_bytes": 0} | tabs, and blanks before the fence
Here:

  ```cuda
	__global__ void dense_vector(const float* a, const float* x, const float* offsets, float* c, int m)
	{
		int i = blockIdx.x * blockDim.x + threadIdx.x;
		if (i >= m)
			return;
		float s = offsets[i];
		for (int p = 0; p < 5; ++p)
			s += a[p * m + i] * x[p];
		c[i] = s;
	}
  ```
//=== uppercase_fence | f0b5eba7297d39b9 | - | a fence of the language CUDA in capitals, a title after it
```CUDA kernel.cu
__global__ void invert(const float3* pixels, float3* image_out, int cols, int rows)
{
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cols * rows; i += stride) {
        float3 p = pixels[i];
        image_out[i] = make_float3(1.0f - p.x, 1.0f - p.y, 1.0f - p.z);
    }
}
```
//=== c_fence_hidden_unicode | 2d5787c053ced49c | - | a fence of the language c, letters beyond ASCII in comments and prose
Voilà — jedes Teilchen zählt für die Zelle ⌊p·h⁻¹⌋:

```c
// Dichte: ein Teilchen → eine Zelle, Überläufer werden übergangen
__global__ void splat(const float* px, const float* py, float inv_h, int num_x, int num_y, float* density, int num_particles)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < num_particles) {
        int ix = (int)floorf(px[i] * inv_h);
        int iy = (int)floorf(py[i] * inv_h);
        if (ix >= 0 && ix < num_x && iy >= 0 && iy < num_y)
            atomicAdd(density + ix * num_y + iy, 1.0f);
    }
}
```
//=== wrapper_constexpr_block | 17a9fa4548a99e80 | - | constexpr block size, static_cast and size_t in the launch
```cuda
#include <cuda_runtime.h>
#include <cstddef>

namespace {
constexpr int kThreads = 192;
}

struct Mat2 { float a, b, c, d; };

__global__ void solve2x2(const Mat2* systems, const float2* rhs, const bool* active, float2* solutions, int n)
{
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    float2 x = make_float2(0.0f, 0.0f);
    if (active[i]) {
        Mat2 m = systems[i];
        m.a += 0.82f;
        m.d += 0.82f;
        const float inv = 1.0f / (m.a * m.d - m.b * m.c);
        const float2 r = rhs[i];
        x.x = inv * (m.d * r.x - m.b * r.y);
        x.y = inv * (m.a * r.y - m.c * r.x);
    }
    solutions[i] = x;
}

void solve(const Mat2* systems, const float2* rhs, const bool* active, float2* solutions, std::size_t n)
{
    if (n == 0) return;
    const auto blocks = static_cast<unsigned int>((n + kThreads - 1) / kThreads);
    solve2x2<<<blocks, kThreads>>>(systems, rhs, active, solutions, static_cast<int>(n));
}
```
