//=== f_think_then_fence | 6a968701bfd1c576 | - | thinking with a draft before, then the answer
<think>
We need q = t/11 and so on. Draft:
```cuda
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks) { blocks[0] = 0; }
```
That's not complete. Let me write the full one.
</think>

Here is the CUDA translation:

```cuda
extern "C" __global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int q = ticks[i] / 11u;
        blocks[i] = q;
        minor[i] = (4u * (ticks[i] % 11u) + q % 11u) % 11u;
    }
}
```

Launch it with grid `((n + 255) / 256)`, block `(256)`.
//=== f_two_fences_host_after | 6a968701bfd1c576 | - | a fence with the kernel, a second one with the host code
The kernel:

```cpp
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned q = ticks[i] / 11;
    const unsigned r = ticks[i] % 11;
    blocks[i] = q;
    minor[i] = (4 * r + q % 11) % 11;
}
```

and how to launch it:

```cpp
int blockSize = 192;
int numBlocks = (n + blockSize - 1) / blockSize;
split_numbers<<<numBlocks, blockSize>>>(d_ticks, d_blocks, d_minor, n);
```

**Notes**: each thread handles one element.
//=== f_json_launch_fence | 65655120d0b6fd17 | - | a JSON launch in a fence of its own
```cuda
extern "C" __global__ void sum_squared_errors(const float* a, const float* expected, float baseline, float* row_sums, float* total_acc, int cols, int rows)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        float e = a[row * cols + col] - expected[row * cols + col];
        float v = e * e - 0.6f - baseline;
        atomicAdd(&row_sums[row], v);
        atomicAdd(&total_acc[0], v);
    }
}
```
```json
{"grid": ["(cols + 31) / 32", "(rows + 3) / 4"], "block": [32, 4], "shared_bytes": 0}
```
//=== f_numbered_explanation | 11eba0b176d074f0 | - | headings, lists, a kernel in the middle, inline code
# Solution

1. Each thread computes one `c[i]`.
2. `a` is stored as `[5][m]`, so that loads are coalesced.

```c++
__global__ void dense_vector(const float* a, const float* x, const float* offsets, float* c, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float s = 0.0f;
        for (int p = 0; p < 5; p++) {
            s += a[p * m + i] * x[p];
        }
        c[i] = s + offsets[i];
    }
}
```

## Why it works

* `blockIdx.x * blockDim.x + threadIdx.x` is the global index.
* The guard `if (i < m)` keeps the last block in bounds.
//=== f_comment_launch | 11eba0b176d074f0 | - | the launch in a comment at the top
// dense_vector<<<(m + 63) / 64, 64>>>(a, x, offsets, c, m);
__global__ void dense_vector(const float* a, const float* x, const float* offsets, float* c, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    float s = offsets[i];
    for (int p = 0; p < 5; ++p) s = fmaf(a[p * m + i], x[p], s);
    c[i] = s;
}
//=== f_ceil_div_helper | 6a968701bfd1c576 | - | host code with a cdiv helper and constexpr block
constexpr int kThreads = 320;
inline int cdiv(int a, int b) { return (a + b - 1) / b; }
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; }
}
void launch_split(const unsigned int* t, unsigned int* b, unsigned int* m, int n) {
    split_numbers<<<cdiv(n, kThreads), kThreads>>>(t, b, m, n);
}
//=== f_std_min_grid | 6a968701bfd1c576 | - | a grid capped by std::min
#include <algorithm>
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; }
}
void go(const unsigned* t, unsigned* b, unsigned* m, int n) {
    const int threads = 256;
    const int grid = std::min((n + threads - 1) / threads, 1024);
    split_numbers<<<grid, threads>>>(t, b, m, n);
}
//=== f_ceil_float_grid | 6a968701bfd1c576 | - | ceil of a float quotient
#include <math.h>
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; }
}
void go(const unsigned* t, unsigned* b, unsigned* m, int n) { split_numbers<<<(int)ceil((float)n / 128.0f), 128>>>(t, b, m, n); }
//=== f_torch_extension | 11eba0b176d074f0 | - | a PyTorch extension around the kernel
#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void dense_vector(const float* a, const float* x, const float* offsets, float* c, int m) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float s = 0.f;
        for (int p = 0; p < 5; ++p) s += a[p * m + i] * x[p];
        c[i] = s + offsets[i];
    }
}

torch::Tensor dense(torch::Tensor a, torch::Tensor x, torch::Tensor offsets) {
    auto c = torch::empty_like(offsets);
    const int m = offsets.size(0);
    const int threads = 256;
    dense_vector<<<(m + threads - 1) / threads, threads>>>(a.data_ptr<float>(), x.data_ptr<float>(), offsets.data_ptr<float>(), c.data_ptr<float>(), m);
    return c;
}
//=== f_tilde_fence | 6a968701bfd1c576 | - | a fence of tildes, uppercase CUDA
~~~CUDA
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    if (idx >= n) return;
    blocks[idx] = ticks[idx] / 11u;
    minor[idx] = (4u * (ticks[idx] % 11u) + (ticks[idx] / 11u) % 11u) % 11u;
}
~~~
//=== f_crlf_and_tabs | 6a968701bfd1c576 | - | ends of lines of DOS, tabs
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n)
{
	int idx = threadIdx.x + blockIdx.x * blockDim.x;
	if (idx >= n) return; /* done */
	blocks[idx] = ticks[idx] / 11u;
	minor[idx] = (4u * (ticks[idx] % 11u) + \
		(ticks[idx] / 11u) % 11u) % 11u;
}
//=== f_utf8_comments | 6a968701bfd1c576 | - | comments in other scripts
// Ядро: делит каждое число на 11 — 余りも計算する
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; // индекс → глобальный
    if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; } /* ≤ n */
}
//=== f_helper_kernel_zero | 6a968701bfd1c576 | - | a second kernel that nobody launches
__global__ void zero(unsigned int* p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = 0u; }
__global__ void split_numbers(const unsigned int* ticks, unsigned int* blocks, unsigned int* minor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { unsigned t = ticks[i]; blocks[i] = t / 11; minor[i] = (4 * (t % 11) + t / 11 % 11) % 11; }
}
//=== f_sentence_shared_formula | f23f4e264fbca565 | - | a sentence with a formula of shared bytes
```cuda
__global__ void sum_soft_square(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    extern __shared__ float2 pd[];
    for (int v = threadIdx.x; v < num_parts; v += blockDim.x) pd[v] = make_float2(pitches[v], depths[v]);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int v = 0; v < num_parts; ++v) s += gains[v] * tanhf(2.f * pd[v].y * sinf(6.28318531f * pd[v].x * stamps[i]));
    totals[i] = s;
}
```
Launch it with grid `(n + 127) / 128`, block `128` and `8 * voices` bytes of dynamic shared memory.
//=== f_sizeof_in_shared | f23f4e264fbca565 | - | host code with sizeof in the third argument
struct Voice { float p, d, g; };
__global__ void soft(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    extern __shared__ Voice vs[];
    for (int v = threadIdx.x; v < num_parts; v += blockDim.x) vs[v] = Voice{pitches[v], depths[v], gains[v]};
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float s = 0.f;
        for (int v = 0; v < num_parts; ++v) s += vs[v].g * tanhf(2.f * vs[v].d * sinf(6.28318531f * vs[v].p * stamps[i]));
        totals[i] = s;
    }
}
void go(const float* stamps, const float* pitches, const float* depths, const float* gains, float* totals, int num_parts, int n) {
    size_t smem = num_parts * sizeof(Voice);
    dim3 block(64);
    dim3 grid((n + block.x - 1) / block.x);
    soft<<<grid, block, smem>>>(stamps, pitches, depths, gains, totals, num_parts, n);
}
