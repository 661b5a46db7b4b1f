//=== sentence_threads_and_blocks | 8564ff516394692f | - | the launch in words; the loop is right under the row's own launch too
Use 256 threads per block and (n + 255) / 256 blocks.

```cuda
__global__ void gelu(const float* pre, float shift, float* out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float z = pre[i] + shift;
        out[i] = 0.5f * z * (1.0f + erff(z * 0.70710678f));
    }
}
```
//=== sentence_any_launch | f8e40f5942d78726 | - | prose that leaves the launch open
The kernel works with any one-dimensional grid and block; something like 4 blocks per SM with 256 threads each is a good start.

```cuda
__global__ void dots(const short* a, const short* b, const float* col_scales, const int* quality,
                     long long* accumulators, float* out, int n)
{
    long long b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const short* r = a + 4 * i;
        long long t = r[0] * b0 + r[1] * b1 + r[2] * b2 + r[3] * b3;
        accumulators[i] = t;
        float f = (float)t * col_scales[i];
        out[i] = quality[i] == 2 ? 0.0f : (f > 0.0f ? f : 0.0f);
    }
}
```
//=== json_launch_first | 4b8caef9e82408d5 | - | the JSON launch stands before the code
```json
{"grid": ["(n + 63) / 64"], "block": [64], "shared_bytes": 0}
```

```cuda
struct T3 { float m[3][3]; };

__global__ void deviators_kernel(const T3* stresses, T3* deviators, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    T3 s = stresses[i], d;
    float p = (s.m[0][0] + s.m[1][1] + s.m[2][2]) / 3.0f;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            d.m[r][c] = 0.5f * (s.m[r][c] + s.m[c][r]) - (r == c ? p : 0.0f);
    deviators[i] = d;
}
```
//=== answer_tags | c8b2fcf4068eda16 | - | the block stands in answer tags
<answer>
```cuda
__global__ void respond(const float3* incoming_field, const float3* surface_normals, float3* out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float3 d = incoming_field[i], n = surface_normals[i], o = out[i];
        float k = 1.5f * (d.x * n.x + d.y * n.y + d.z * n.z);
        out[i] = make_float3(o.x + d.x - k * n.x, o.y + d.y - k * n.y, o.z + d.z - k * n.z);
    }
}
```

Launch it with the grid ((count + 127) / 128) and the block (128).
</answer>
//=== wrapper_shared_bytes | 11eba0b176d074f0 | - | <<<grid, block, bytes, stream>>> with the bytes in a size_t variable
```cuda
#include <cuda_runtime.h>

__global__ void product(const float* a, const float* x, const float* offsets, float* c, int m)
{
    extern __shared__ float xs[];
    for (int k = threadIdx.x; k < 5; k += blockDim.x) xs[k] = x[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float s = offsets[i];
        for (int p = 0; p < 5; ++p) s += a[p * m + i] * xs[p];
        c[i] = s;
    }
}

void product_host(const float* a, const float* x, const float* offsets, float* c, int m, cudaStream_t stream = 0)
{
    const int block = 64;
    const int grid = (m + block - 1) / block;
    const size_t shared = 5 * sizeof(float);
    product<<<grid, block, shared, stream>>>(a, x, offsets, c, m);
}
```
//=== rhypot_normalised | 83ab5c4029ae1378 | {"grid": ["(n + 127) / 128"], "block": [128], "shared_bytes": 0} | rhypotf of cosine and zero, fabsf
__global__ void stretch(const float* lat_from, float* scale_factor, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // The cosine is above zero for every latitude.
    if (i < n) scale_factor[i] = rhypotf(cosf(lat_from[i] * 0.017453293f), 0.0f);
}
//=== wrapper_helper_div_up | 0ecfca721711bdd2 | - | a host function divUp in the launch, dim3 of three axes
```cuda
#include <cuda_runtime.h>

static inline int divUp(int a, int b) { return (a + b - 1) / b; }

__global__ void solve(const float4* mats, const float2* loads, float* sol0, float* x1_out, int h, int w, int d)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= w || y >= h || z >= d) return;
    int i = (z * h + y) * w + x;
    float4 m = mats[i];
    float2 b = loads[i];
    float l = m.z / m.x;
    float x1 = (b.y - l * b.x) / (m.w - l * m.y);
    sol0[i] = (b.x - m.y * x1) / m.x;
    x1_out[i] = x1;
}

void solve_host(const float4* mats, const float2* loads, float* sol0, float* x1_out, int h, int w, int d)
{
    dim3 block(32, 4, 1);
    dim3 grid(divUp(w, block.x), divUp(h, block.y), divUp(d, block.z));
    solve<<<grid, block>>>(mats, loads, sol0, x1_out, h, w, d);
}
```
