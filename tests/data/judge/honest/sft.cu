//=== sft_interest | 7fc169c9d64a3b30 | - | our own sft form, 2-D grid
```cuda
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
    const int at = y * w + x;
    result[at] = principal[at] * (1.0f + rates[at] * ((float)days[at] / 360.0f));
}
```

Launch it with the grid ((w + 31) / 32, (h + 7) / 8) and the block (32, 8).
//=== sft_central | fadcac77f891e39e | - | our own sft form, the size under its parameter's name
```cuda
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
    const int after = i + 1 == num_i ? 0 : i + 1;
    const int before = i == 0 ? num_i - 1 : i - 1;
    slope[i] = mobilities[i] * ((signal[after] - signal[before]) * 0.5 / step_size) - source[i];
}
```

Launch it with the grid ((num_i + 127) / 128) and the block (128).
//=== sft_gather | 6d860be511522d5f | - | our own sft form, both sizes under their parameters' names
```cuda
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
    const int idx = t * d_size + d;
    float total = 0.0f;
    for (int s = 0; s < 4; ++s) {
        total += weights[t * 4 + s] * codebook[row_ids[t * 4 + s] * d_size + d];
    }
    total = logistic(total + pos_table[idx]);
    gathered[idx] = keep[idx] ? total : 0.0f;
}
```

Launch it with the grid ((d_size + 15) / 16, (t_size + 15) / 16) and the block (16, 16).
//=== sft_gradient | cc82b68897123073 | - | our own sft form, three axes
```cuda
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
    const int pitch = w + 2;
    const double* centre = image + (ch * (h + 2) + row + 1) * pitch + col + 1;
    const double gx = 0.5 * (centre[1] - centre[-1]);
    const double gy = 0.5 * (centre[pitch] - centre[-pitch]);
    gradient[(ch * h + row) * w + col] = gx * gx + gy * gy;
}
```

Launch it with the grid ((w + 7) / 8, (h + 7) / 8, (c + 3) / 4) and the block (8, 8, 4).
//=== sft_stride_mixed_dot | f8e40f5942d78726 | - | our own sft form, a grid-stride loop
```cuda
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
            total += (long long)a[4 * i + s] * b[s];
        }
        accumulators[i] = total;
        out[i] = quality[i] == 2 ? 0.0f : fmaxf((float)total * col_scales[i], 0.0f);
    }
}
```

Launch it with the grid ((n + 1023) / 1024) and the block (256).
//=== sft_dynamic_shared | f23f4e264fbca565 | - | our own sft form with bytes of dynamic shared memory
```cuda
extern "C" __global__ void sum_soft_square(
    const float* __restrict__ stamps,
    const float* __restrict__ pitches,
    const float* __restrict__ depths,
    const float* __restrict__ gains,
    float* __restrict__ totals,
    int num_parts,
    int n)
{
    extern __shared__ float tile[];
    float* pitch_tile = tile;
    float* depth_tile = tile + 64;
    float* gain_tile = tile + 128;
    const int x = blockIdx.x * 64 + threadIdx.x;
    const float t = x < n ? stamps[x] : 0.0f;
    float total = 0.0f;
    for (int base = 0; base < num_parts; base += 64) {
        const int from = base + threadIdx.x;
        if (from < num_parts) {
            pitch_tile[threadIdx.x] = pitches[from];
            depth_tile[threadIdx.x] = depths[from];
            gain_tile[threadIdx.x] = gains[from];
        }
        __syncthreads();
        const int count = min(64, num_parts - base);
        for (int v = 0; v < count; ++v) {
            total += gain_tile[v] * tanhf(2.0f * depth_tile[v] * sinf(6.28318531f * pitch_tile[v] * t));
        }
        __syncthreads();
    }
    if (x < n) {
        totals[x] = total;
    }
}
```

Launch it with the grid ((n + 63) / 64) and the block (64), 768 bytes of dynamic shared memory.
//=== sft_scatter | cfae07d5a1bcb413 | - | our own sft form, a factor before the size
```cuda
extern "C" __global__ void scatter_sum(
    const int* __restrict__ indices,
    const float* __restrict__ amounts,
    float baseline,
    float* __restrict__ totals,
    int m,
    int tiles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 16 * tiles) {
        return;
    }
    atomicAdd(&totals[i / 16 * m + indices[i]], baseline - fabsf(amounts[i]));
}
```

Launch it with the grid ((16 * tiles + 511) / 512) and the block (512).
//=== sft_mask_scores | e0857f2207e4ba38 | - | our own sft form, a bare size as the third extent
```cuda
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
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int batch = blockIdx.z;
    if (row >= q || col >= t) {
        return;
    }
    float score = 0.0f;
    for (int d = 0; d < head_dim; ++d) {
        score += q_in[(batch * q + row) * head_dim + d] * keys[col * head_dim + d];
    }
    score = allowed[row * t + col] ? score * scale : fill;
    out[(batch * q + row) * t + col] = score * alpha;
}
```

Launch it with the grid ((t + 7) / 8, (q + 7) / 8, b) and the block (8, 8, 1).
//=== sft_vectorized | a8381a406f6c9ed9 | - | our own sft form, four elements a thread
```cuda
__device__ __forceinline__ void one(unsigned short v, unsigned short& rest, unsigned short& rounded)
{
    rest = v & 7;
    rounded = (unsigned short)((v + 7) / 8 * 8);
}

extern "C" __global__ void round_up_to(
    const unsigned short* __restrict__ amounts,
    unsigned short* __restrict__ leftover,
    unsigned short* __restrict__ quotients,
    int count)
{
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < count) {
        const ushort4 in = *reinterpret_cast<const ushort4*>(amounts + first);
        ushort4 rest, rounded;
        one(in.x, rest.x, rounded.x);
        one(in.y, rest.y, rounded.y);
        one(in.z, rest.z, rounded.z);
        one(in.w, rest.w, rounded.w);
        *reinterpret_cast<ushort4*>(leftover + first) = rest;
        *reinterpret_cast<ushort4*>(quotients + first) = rounded;
    } else {
        for (int i = first; i < count; ++i) {
            one(amounts[i], leftover[i], quotients[i]);
        }
    }
}
```

Launch it with the grid ((count + 2047) / 2048) and the block (512).
//=== sft_flux_batch | 6067142ae7e7a5c7 | - | our own sft form, a product of two sizes, operators
```cuda
__device__ __forceinline__ float3 operator*(float3 a, float b)
{
    return make_float3(a.x * b, a.y * b, a.z * b);
}

__device__ __forceinline__ float3 operator+(float3 a, float3 b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

__device__ __forceinline__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
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
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < batch * count; index += stride) {
        float3 x = places[index];
        float3 v = velocities[index];
        const float s = h / 3.0f;
        const float keep = expf(-drag * s);
        for (int sub = 0; sub < 3; ++sub) {
            x = x + v * s;
            v = v + g * s;
            v = (v + cross(v, b_field) * s) * keep;
        }
        new_positions[index] = x;
        vel_out[index] = v;
        flux_out[index] = v.x * axis_dir.x + v.y * axis_dir.y + v.z * axis_dir.z;
    }
}
```

Launch it with the grid ((batch * count + 1023) / 1024) and the block (256).
